"""What number is the value of a feature, and is there one at all?"""

from __future__ import annotations

import decimal
import math
import numbers
import re
import reprlib
import typing

import numpy as np
import numpy.typing as npt

Key = typing.Hashable
Sample = typing.Mapping[Key, object]
Array = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]
Indices = npt.NDArray[np.intp]

_DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+")

#: Characters of a key or a value in a message.
_MOST = 100
_REPR = reprlib.Repr()
_REPR.maxstring = _REPR.maxother = _REPR.maxlong = _MOST

#: Larger values are cut to this, so that squares and sums of them stay finite.
LARGEST = 1e150


def number(key: typing.Hashable, value: object) -> float:
    """Value of a feature as a float; NaN if the feature is absent.

    Raises
    ------
    ValueError
        If the value is not a finite real number; the message names the key and the cure.

    """
    # Nearly all values are plain floats, and the questions below take a hundred times as long as this one.
    if type(value) is float and -LARGEST <= value <= LARGEST:
        return value
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    if _is_missing(value):
        return math.nan
    # NumPy regards a span of time as an integer.
    if not isinstance(value, numbers.Real | decimal.Decimal | np.bool_) or isinstance(value, np.timedelta64):
        raise ValueError(f"feature {brief(key)} has the value {brief(value)}, which is not a number: {_cure(value)}")
    try:
        result = float(value)
    except OverflowError:  # an int or a fraction beyond the range of floats
        return LARGEST if value > 0 else -LARGEST  # type: ignore[operator]
    except ValueError:  # a signalling NaN
        return math.nan
    if math.isinf(result):
        raise ValueError(
            f"feature {brief(key)} has the value {brief(value)}, which is not finite: drop the key or clip it first"
        )
    return min(max(result, -LARGEST), LARGEST) if result == result else result


def _cure(value: object) -> str:
    if isinstance(value, str) and not value.strip():
        return "leave the key out where there is no value"
    if isinstance(value, str):
        return conversion(value) or (
            "encode strings and pass numbers on, with (compose.SelectType(str) | preprocessing.OneHotEncoder()) + "
            "compose.SelectType(numbers.Number) in front of the model"
        )
    return "turn it into numbers first, one key each"


def conversion(text: str) -> str | None:
    """How to make a number of a string that is written as one; None if it is not."""
    if _DECIMAL_COMMA.fullmatch(text.strip()):
        return "make a number of it with float(value.replace(',', '.'))"
    try:
        float(text)
    except ValueError:
        return None
    return "make a number of it with float(…)"


def is_there(value: object) -> bool:
    """Whether there is a value; None, NaN and the missing values of pandas stand for an absent key."""
    if _is_missing(value):
        return False
    try:
        return bool(value == value)
    except ArithmeticError:  # a signalling NaN
        return False
    except (TypeError, ValueError):
        return True


def _is_missing(value: object) -> bool:
    if isinstance(value, np.datetime64 | np.timedelta64):
        return bool(np.isnat(value))
    # By name: pandas need not be installed.
    return value is None or type(value).__name__ in ("NAType", "NaTType")


def brief(value: object) -> str:
    """A key or a value for a message: its `repr`, cut if it is long."""
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= 10**_MOST:
        # Python refuses to write very long integers.
        return f"an integer of {value.bit_length():,} bits"
    try:
        shown = _REPR.repr(value)
    except Exception:
        shown = f"<{type(value).__name__}>"
    return shown if len(shown) <= _MOST else shown[: _MOST - 1] + "…"
