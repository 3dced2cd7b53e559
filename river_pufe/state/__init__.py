"""What is a model without its code?

The state of a model as plain data: dicts, lists, numbers, strings, bytes and arrays. Unlike a pickle it contains no
code, so that loading a state from an untrusted source cannot run any, and it does not depend on the layout of the
package or on the versions of Python, NumPy and River.

**What it looks like.** Numbers, strings, `None`, lists and arrays stand for themselves; an object of this package is a
dict of its attributes. The keys of features and the labels of classes come back with their exact types, whatever they
are: strings, numbers, `None`, tuples, NumPy scalars, decimals, fractions, dates, UUIDs. Attributes that follow from
others are not stored, but computed anew. In bytes a state is a header, JSON and the contents of the arrays. The page
of the API on states describes the format in full.

**What is checked.** Names of parts are looked up in a fixed list (`parts`), attributes and their types are compared
with those of a new object, sizes with the arrays that are there, before memory is asked for, numbers must be finite,
and the model must be able to read and learn a sample of its own keys; otherwise a `ValueError` says what is wrong. A
number that is replaced by another one cannot be noticed: such a model is harmless, but predicts something else.

**Versions.** A state that was written by an earlier release is read; attributes that it does not have are those of a
new object. A state of a later format is rejected.
"""

from __future__ import annotations

from .binary import dumps, loads
from .objects import from_plain, to_plain
from .parts import Stored, register

__all__ = ["Stored", "dumps", "from_plain", "loads", "register", "to_plain"]
