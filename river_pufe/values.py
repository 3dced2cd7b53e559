"""Is there a value, and what number is that of a feature?"""

from __future__ import annotations

import decimal
import math
import numbers
import typing

import numpy as np

#: Larger values are cut to this, so that squares and sums of them stay finite.
LARGEST = 1e150


def number(key: typing.Hashable, value: object) -> float:
    """Value of a feature as a float; NaN if the feature is absent.

    Raises
    ------
    ValueError
        If the value is not a finite real number; the message names the key and the cure.

    """
    if value is None or type(value).__name__ == "NAType":
        return math.nan
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    if type(value).__name__ == "NaTType":
        return math.nan
    # NumPy takes a span of time for an integer.
    if not isinstance(value, numbers.Real | decimal.Decimal | np.bool_) or isinstance(value, np.timedelta64):
        cure = (
            "encode it first, e.g. with preprocessing.OneHotEncoder() | …"
            if isinstance(value, str | bytes)
            else "turn it into numbers first, one key each"
        )
        raise ValueError(f"feature {key!r} has the value {value!r}, which is not a number: {cure}")
    try:
        result = float(value)
    except OverflowError:  # an int or a fraction beyond the range of floats
        return LARGEST if value > 0 else -LARGEST  # type: ignore[operator]
    except ValueError:  # a signalling NaN
        return math.nan
    if math.isinf(result):
        raise ValueError(f"feature {key!r} has the value {value!r}, which is not finite: drop the key or clip it first")
    return min(max(result, -LARGEST), LARGEST) if result == result else result


def is_there(value: object) -> bool:
    """Whether a value is one; None, NaN and their like stand for an absent key."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return False
    try:
        return bool(value == value)
    except ArithmeticError:  # a signalling NaN
        return False
    except (TypeError, ValueError):
        return True
