"""Which conversion turns what a key reads now into what it should read?"""

from __future__ import annotations

import math
import typing

import numpy as np

from ..values import Array


class Conversion(typing.NamedTuple):
    """An affine change of unit: factor · value + offset is the value in the former unit.

    Parameters
    ----------
    factor
        Units of before in one unit of now.
    offset
        What 0 of now was before.

    """

    factor: float
    offset: float

    def after(self, other: Conversion) -> Conversion:
        """The conversion that does the other one first."""
        return Conversion(self.factor * other.factor, self.factor * other.offset + self.offset)

    def inverse(self) -> Conversion:
        """The way back."""
        return Conversion(1.0 / self.factor, -self.offset / self.factor)


NONE = Conversion(1.0, 0.0)
_CELSIUS_FROM = {"fahrenheit": Conversion(5 / 9, -160 / 9), "kelvin": Conversion(1.0, -273.15)}
_TEMPERATURES = (
    *_CELSIUS_FROM.values(),
    *(each.inverse() for each in _CELSIUS_FROM.values()),
    _CELSIUS_FROM["fahrenheit"].inverse().after(_CELSIUS_FROM["kelvin"]),
    _CELSIUS_FROM["kelvin"].inverse().after(_CELSIUS_FROM["fahrenheit"]),
)
#: Temperatures are smaller.
_HOTTEST = 1000.0
#: Prefixes of units.
_PREFIXES = tuple(Conversion(10.0**n, 0.0) for n in range(-9, 10) if n)
#: Seconds in a minute and an hour, km/h, calories, and the common units of length, mass and volume in English ones.
_RARE = tuple(
    Conversion(factor, 0.0)
    for unit in (60.0, 3600.0, 3.6, 4.184, 2.54, 0.3048, 1.609344, 0.45359237, 3.785411784)
    for factor in (unit, 1.0 / unit)
)
#: A residual counts as at most so many deviations.
_FARTHEST = 3.0
#: Of residuals in their deviations: bounds of the mean square, where values near the mean say that they fit and where
#: they may be those of a sensor at rest; and how many standard errors the mean may be from 0.
_LEAST, _MOST, _OFF = 0.25, 2.0, 4.0
#: A lone key has changed its unit only if its level has, by so many deviations of before and of now.
_GROSS = 3.0
#: How many standard errors a slope must be from 0.
_SIGNIFICANT = 5.0


def find_conversion(
    values: Array, expected: Array, deviation: Array | float, explained: bool, final: bool
) -> Conversion | None:
    """The conversion of some values that makes them what they should be.

    No conversion at all comes first, then the exact conversions of common units, which need no estimate. Where others
    explain the key, the values tell an unknown conversion as well: an offset, a factor or both. The residuals of what
    is expected are independent of it, so the values are regressed on it, and not the other way round. The conversion
    that is best by the Bayesian information criterion is taken.

    Parameters
    ----------
    values
        What the key reads, shape (n,).
    expected
        What it should read, shape (n,).
    deviation
        Deviation of what it used to read from what it should, shape (n,) or a number for all.
    explained
        Whether other keys explain this one. Otherwise only a gross change of its level by the conversion of a common
        unit counts: other changes may be real ones.
    final
        Whether there are values enough to estimate a conversion. Otherwise, if an estimate is best, there is none yet.

    Returns
    -------
    None if there is none.

    Examples
    --------
    >>> import numpy as np
    >>> from river_pufe.recovery.conversion import find_conversion
    >>> rng = np.random.default_rng(0)
    >>> fahrenheit = rng.normal(68, 10, size=30)
    >>> expected = fahrenheit + rng.normal(0, 1, size=30)
    >>> find_conversion((fahrenheit - 32) / 1.8, expected, 1.0, True, False)
    Conversion(factor=1.8, offset=32.0)

    """
    if not np.all(deviation > 0.0):
        return None

    def cost(conversion: Conversion) -> float:
        return _cost((conversion.factor * values + conversion.offset - expected) / deviation, _least(explained))

    if fits(values, expected, deviation, explained):
        return NONE
    estimated = _estimates(values, expected) if explained else {}
    # Values that do not follow what is expected are those of another sensor, or of a spell of unrest; and where the
    # level of a lone key stays, it may be in such a spell as well.
    moved = abs(float(np.mean(values - expected))) / max(float(np.median(deviation)), float(values.std()))
    if (explained and not estimated) or (not explained and moved < _GROSS):
        return None
    may_be_heat = max(np.abs(values).max(), np.abs(expected).max()) < _HOTTEST
    exact = (*_PREFIXES, *(_TEMPERATURES if may_be_heat else ()), *(_RARE if explained else ()))
    freedoms, n = estimated | dict.fromkeys(exact, 0), len(values)
    # Minus twice the log likelihood of the values, not of what they are converted into, and the penalty.
    penalized = {
        each: n * (cost(each) - 2.0 * math.log(abs(each.factor))) + freedom * math.log(n)
        for each, freedom in freedoms.items()
    }
    best = min(penalized, key=penalized.__getitem__)
    return best if penalized[best] < math.inf and (final or not freedoms[best]) else None


def fits(values: Array, expected: Array, deviation: Array | float, explained: bool) -> bool:
    """Whether a key reads what it should; the parameters are those of `find_conversion`."""
    return bool(np.all(deviation > 0.0)) and _cost((values - expected) / deviation, _least(explained)) < math.inf


def follows(values: Array, expected: Array) -> bool:
    """Whether the values of a key go up and down with what they should be, however far they are from it."""
    return bool(_estimates(values, expected))


def _least(explained: bool) -> float:
    """What the mean square of residuals must be at least: a lone key that hardly varies may be at rest."""
    return 0.0 if explained else _LEAST


def _cost(residuals: Array, least: float) -> float:
    """Mean square of residuals in their deviations; infinity if they are not as they should be."""
    clipped = np.clip(residuals, -_FARTHEST, _FARTHEST)
    square = float(np.mean(clipped * clipped))
    centred = abs(float(np.mean(clipped))) <= _OFF / math.sqrt(len(clipped))
    return square if centred and least <= square <= _MOST else math.inf


def _estimates(values: Array, expected: Array) -> dict[Conversion, int]:
    """Conversions that the values themselves suggest, and how many numbers are estimated for each."""
    apart, away = values - values.mean(), expected - expected.mean()
    size = float(away @ away)
    if not size > 0.0:
        return {}
    slope = float(apart @ away) / size
    rest = apart - slope * away
    error = math.sqrt(float(rest @ rest) / len(values) / size)
    if not abs(slope) > _SIGNIFICANT * error or not math.isfinite(1.0 / slope):
        return {}
    through = float(values @ expected) / float(expected @ expected)
    both = Conversion(1.0 / slope, float(expected.mean() - values.mean() / slope))
    found = {both: 2, Conversion(1.0, float(np.median(expected - values))): 1}
    if through and math.isfinite(1.0 / through):
        found[Conversion(1.0 / through, 0.0)] = 1
    return found
