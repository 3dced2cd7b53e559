"""In what unit is a target expressed?"""

from __future__ import annotations

import math
import statistics

import numpy as np

from .. import kernels
from ..part import Part
from ..values import LARGEST, Array

#: Number of initial targets used for a robust mean and deviation, also after a constant.
_FIRST = 10
#: Block length for detecting a change of unit.
_CALM = 64


class TargetScaler(Part):
    """Standardize a target by a running mean and deviation that outliers do not disturb.

    The statistics are running ones, over the last `memory` samples or so, in which a single target counts as at most
    ten deviations away from the mean; those of the first ten targets are robust ones, by medians. Where targets vary
    far less than before for a whole block of 64, the statistics start anew. As long as all targets are equal there is
    no unit for an error, and every target is standardized to 0. Costs O(1).

    Parameters
    ----------
    memory
        Number of samples that mean and deviation remember.

    """

    def __init__(self, memory: float = 1000.0) -> None:
        if not memory >= 1:
            raise ValueError(f"memory is a number of samples, 1 or more, not {memory!r}")
        self.memory = memory
        self._n = 0
        self._mean = 0.0
        self._deviation = 0.0
        self._first: list[float] = []
        # The range of all targets seen; least, largest and number of the latest ones.
        self._range = math.inf, -math.inf
        self._latest = math.inf, -math.inf, 0

    @property
    def has_unit(self) -> bool:
        """Whether targets have differed."""
        return self._deviation > 0.0

    def scale(self, y: float) -> float:
        """A target, standardized."""
        off = (y - self._mean) / self._deviation if self._deviation else 0.0
        # NaN, which a model may have answered, stays.
        return off if -LARGEST <= off <= LARGEST else min(max(off, -LARGEST), LARGEST)

    def unscale(self, scaled: float) -> float:
        """The target whose standardized value is `scaled`; 0.0 before the first target."""
        return self._mean + self._deviation * scaled if self._n else 0.0

    def bound(self, scaled: Array, margin: float) -> Array:
        """Standardized values, none of which is beyond the range of the targets so far by more than a share of it."""
        low, high = map(self.scale, self._range)
        room = margin * (high - low)
        return np.clip(scaled, low - room, high + room)

    def see(self, y: float) -> None:
        """Take note that there is such a target."""
        low, high = self._range
        if not low <= y <= high:
            self._range = min(low, y), max(high, y)

    def renew(self, mean: float, deviation: float) -> None:
        """Go on in another unit, in which the targets so far would have had this mean and this deviation."""
        if self._deviation:
            low, high = ((y - self._mean) / self._deviation * deviation + mean for y in self._range)
            self._range = min(low, high), max(low, high)
        self._mean, self._deviation, self._first = mean, deviation, [mean] * _FIRST
        self._latest = math.inf, -math.inf, 0

    def learn(self, y: float) -> tuple[float, float] | None:
        """Update mean and deviation.

        Returns
        -------
        Factor and shift: what was z is now factor · z + shift. None where there was no unit, or there is a new one
        that has nothing to do with the one before.

        """
        mean, deviation = self._mean, self._deviation
        if self._update(y) or not deviation or not self._deviation:
            return None
        return deviation / self._deviation, (mean - self._mean) / self._deviation

    def _update(self, y: float) -> bool:
        """Whether the statistics start anew."""
        self._n += 1
        if self._deviation == 0.0 and len(self._first) == _FIRST:
            self._n, self._first = 2, [self._mean]
        collapsed = self._has_collapsed(y)
        if collapsed:
            self._n, self._first = 1, []
        if len(self._first) < _FIRST:
            self._first.append(y)
            self._start()
            return collapsed
        rate = 1.0 / min(self._n, self.memory)
        limit = kernels.WINSOR * self._deviation
        shift = min(max(y - self._mean, -limit), limit)
        self._mean += rate * shift
        self._deviation = math.sqrt((1.0 - rate) * (self._deviation**2 + rate * shift * shift))
        return collapsed

    def _has_collapsed(self, y: float) -> bool:
        low, high, n = self._latest
        low, high, n = min(low, y), max(high, y), n + 1
        self._latest = (low, high, n) if n < _CALM else (math.inf, -math.inf, 0)
        return n == _CALM and kernels.ROUNDING * max(-low, high) < high - low < kernels.COLLAPSED * self._deviation

    def _start(self) -> None:
        """Mean and deviation of the first targets, with outliers among them clipped."""
        middle = statistics.median(self._first)
        away = np.array(self._first) - middle
        limit = kernels.WINSOR * float(np.median(np.abs(away)))
        if limit > 0:
            away = np.minimum(np.maximum(away, -limit), limit)
        self._mean, self._deviation = middle + float(away.mean()), float(away.std())
