"""What is a model without its code?

The state of a model as plain data: dicts, lists, numbers, strings, bytes and arrays. Unlike a pickle it contains no
code, so that loading a state from an untrusted source cannot run any, and it does not depend on the layout of the
package or on the versions of Python, NumPy and River.

**What it looks like.** Numbers, strings, bytes, `None`, lists and arrays stand for themselves. Anything else is a dict
whose first key says what it is: `{"tuple": [...]}`, `{"dict": [[key, value], ...]}`, `{"scalar": array}` for a NumPy
scalar, and `{"part": name, attribute: value, ...}` for an object of this package. So the keys of features and the
labels of classes come back with their exact types, whatever they are: strings, numbers, `None`, tuples, NumPy scalars,
decimals, fractions, dates, UUIDs. Attributes that follow from others are not stored, but computed anew.

**In bytes.** `dumps` writes a header of 24 bytes (8 bytes of signature, the number of the format and a checksum of
what follows, the length of the text), then the plain data as JSON, then the contents of the arrays. In the text an
array is `{"array": [type, shape, order, offset]}`.

**What is checked.** Names of parts are looked up in a fixed list (`parts`), attributes and their types are compared
with those of a new object, and the model must be able to read and learn a sample of its own keys; otherwise a
`ValueError` says what is wrong. A number that is replaced by another one cannot be noticed: such a model is harmless,
but predicts something else.

**Versions.** A state that was written by an earlier release is read; attributes that it does not have are those of a
new object. A state of a later format is rejected.
"""

from __future__ import annotations

from .binary import dumps, loads
from .objects import from_plain, to_plain
from .parts import Stored, register

__all__ = ["Stored", "dumps", "from_plain", "loads", "register", "to_plain"]
