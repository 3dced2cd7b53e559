"""How does an object become plain data, and plain data an object?"""

from __future__ import annotations

import collections
import contextlib
import datetime
import decimal
import fractions
import operator
import pickle
import random
import re
import typing
import uuid
from collections.abc import Iterator

import numpy as np

from ..values import brief
from .parts import Stored, attributes_of, name_of, restore

Plain = typing.Any
#: Number of the format that is written. It rises when a release could not read the states of the next one.
FORMAT = 1
#: Letters of a message.
_LETTERS = 300
#: Types that stand for themselves. Longer integers than this are not read by every JSON parser.
_ATOMS = frozenset({type(None), bool, float, bytes})
_LONG = 2**63
#: Types of arrays: no objects, no records.
_DTYPE = re.compile(r"[<>|=]?[biufcSUmM]\d+(\[\d*\w+\])?")


def to_plain(value: typing.Any, pickles: bool = False) -> Plain:
    """An object as plain data.

    Parameters
    ----------
    value
        A model or a part of this package, or a container of them.
    pickles
        Whether objects of other packages are stored as pickles. They contain code: load such a state only if you
        trust its source.

    Raises
    ------
    ValueError
        If an object is not of this package, and pickles are not allowed.

    """
    kind = type(value)
    if kind in _ATOMS:
        return value
    if kind is str:
        return value if value.isascii() or _is_encodable(value) else {"text": value.encode("utf-8", "surrogatepass")}
    if kind is int:
        return value if -_LONG < value < _LONG else {"int": hex(value)}
    if kind is list:
        return [to_plain(each, pickles) for each in value]
    if kind is np.ndarray:
        check_dtype(value.dtype.str)
        return value.copy(order="K")
    if isinstance(value, np.generic):
        check_dtype(value.dtype.str)
        return {"scalar": np.array(value)}
    if (name := name_of(kind)) is not None:
        with value.still() if isinstance(value, Stored) else contextlib.nullcontext():
            attributes = {key: to_plain(each, pickles) for key, each in attributes_of(value).items()}
        return {"part": name, **attributes}
    if kind in _TO_PLAIN:
        word, convert = _TO_PLAIN[kind]
        return {word: to_plain(convert(value), pickles)}
    if not pickles:
        raise ValueError(
            f"{brief(value)} is of type {kind.__module__}.{kind.__qualname__}, which cannot be represented without its "
            "code: register the class with river_pufe.state.register, or allow pickles with pickles=True"
        )
    return {"pickle": pickle.dumps(value)}


def from_plain(plain: Plain, trusted: bool = False) -> typing.Any:
    """The object that plain data stand for.

    Parameters
    ----------
    plain
        What `to_plain` returned; it stays as it is.
    trusted
        Whether the source is trusted: pickles, which can run any code, are loaded then, and nothing is checked.

    Raises
    ------
    ValueError
        If it is not the state of anything.

    """
    with explained():
        return checked(_from_plain(plain, trusted), trusted)


@contextlib.contextmanager
def explained() -> Iterator[None]:
    """Whatever a state is made of, what is wrong with it is a ValueError with a message that is not too long."""
    try:
        with np.errstate(all="ignore"):
            yield
    except RecursionError:
        raise ValueError("the state is nested too deeply") from None
    except Exception as error:
        # What NumPy or a decoder says does not tell what it is about.
        is_clear = isinstance(error, ValueError) and "state" in str(error)
        message = str(error) if is_clear else f"the state is not valid: {error!r}"
        raise ValueError(message if len(message) <= _LETTERS else message[: _LETTERS - 1] + "…") from None


def _from_plain(plain: Plain, trusted: bool) -> typing.Any:
    if isinstance(plain, list):
        return [_from_plain(each, trusted) for each in plain]
    if isinstance(plain, np.ndarray):
        check_dtype(plain.dtype.str)
        return plain.copy(order="K")
    if isinstance(plain, dict):
        return build({key: _from_plain(each, trusted) for key, each in plain.items()}, trusted)
    return plain


def checked(value: typing.Any, trusted: bool) -> typing.Any:
    """What was built, once it is clear that the parts of each model fit together."""
    if not trusted:
        if isinstance(value, Stored):
            value.verify()
        elif isinstance(value, list | tuple | dict):
            for each in value.values() if isinstance(value, dict) else value:
                checked(each, trusted)
    return value


def build(node: dict[str, typing.Any], trusted: bool) -> typing.Any:
    """The object that a dict stands for, whose contents are built already.

    Raises
    ------
    ValueError
        If it does not stand for anything.

    """
    word = next(iter(node), None)
    try:
        content = node[typing.cast(str, word)]
        if word == "part":
            attributes = {key: value for key, value in node.items() if key != "part"}
            return restore(content, attributes, trusted)
        if word == "pickle":
            if not trusted:
                raise ValueError("the state has pickles, which can run any code: allow them with trusted=True")
            return pickle.loads(content)
        return _FROM_PLAIN[typing.cast(str, word)](content)
    except ValueError:
        raise
    except Exception as error:
        raise ValueError(f"the state is not valid at {word!r}: {error!r}") from None


def _is_encodable(value: str) -> bool:
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def check_dtype(name: str) -> str:
    """The name of a type of arrays; ValueError if it is one of objects or records, which may contain code."""
    if not _DTYPE.fullmatch(name):
        raise ValueError(f"an array of the type {name} cannot be represented without code")
    return name


def _random(state: typing.Any) -> random.Random:
    rng = random.Random()
    rng.setstate(state)
    return rng


def _scalar(array: typing.Any) -> typing.Any:
    check_dtype(array.dtype.str)
    return array[()]


#: The types that are stored as something plainer: the word that says so, and both ways.
_CONVERSIONS: tuple[tuple[type, str, typing.Callable[..., typing.Any], typing.Callable[..., typing.Any]], ...] = (
    (tuple, "tuple", list, tuple),
    (dict, "dict", lambda value: [[k, v] for k, v in value.items()], dict),
    (set, "set", list, set),
    (frozenset, "frozenset", list, frozenset),
    (collections.deque, "deque", lambda value: [value.maxlen, *value], lambda c: collections.deque(c[1:], c[0])),
    (complex, "complex", lambda value: [value.real, value.imag], lambda content: complex(*content)),
    (decimal.Decimal, "decimal", str, decimal.Decimal),
    (
        fractions.Fraction,
        "fraction",
        lambda value: [value.numerator, value.denominator],
        lambda c: fractions.Fraction(*map(operator.index, c)),
    ),
    (uuid.UUID, "uuid", str, uuid.UUID),
    (datetime.date, "date", str, datetime.date.fromisoformat),
    (datetime.timedelta, "timedelta", lambda v: [v.days, v.seconds, v.microseconds], lambda c: datetime.timedelta(*c)),
    (
        datetime.timezone,
        "timezone",
        lambda value: value.utcoffset(None),
        lambda offset: datetime.timezone(offset) if offset else datetime.UTC,
    ),
    (
        datetime.datetime,
        "datetime",
        lambda v: [v.year, v.month, v.day, v.hour, v.minute, v.second, v.microsecond, v.tzinfo, v.fold],
        lambda c: datetime.datetime(*c[:8], fold=c[8]),
    ),
    (random.Random, "random", random.Random.getstate, _random),
)
_TO_PLAIN = {kind: (word, to) for kind, word, to, _ in _CONVERSIONS}
_FROM_PLAIN: dict[str, typing.Callable[[typing.Any], typing.Any]] = {
    **{word: build for _, word, _, build in _CONVERSIONS},
    "scalar": _scalar,
    "text": lambda content: content.decode("utf-8", "surrogatepass"),
    "int": lambda content: int(content, 16),
}
