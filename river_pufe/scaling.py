"""What is usual for a slot, so that its values can be told in units of their own?"""

from __future__ import annotations

import math

import numpy as np
from river import base

from .sketch import Array, Mask

#: A value counts for the statistics as at most this many standard deviations away from the mean.
_WINSOR = 10.0
#: Values of a slot from which on its statistics are robust to a single spike.
_SETTLED = 10


class RowScaler(base.Base):
    """Standardize the entries of a row with running statistics, and clip them.

    **When to use it.** As a part of `FeatureRecovery`, so that raw values work and one spike moves little.

    An entry is told in standard deviations from its mean, cut at ± `clip`. The statistics take a value for at most ten
    deviations, so a spike of 1e9 does not blind them; a lasting change of scale is followed, the deviation growing with
    each such value. Absent entries (NaN) stay absent and do not count. A slot that never varied is 0. Costs O(d).

    Parameters
    ----------
    clip
        Largest standardized value. Small values lose what is special about a row, at infinity a spike counts in full.
    memory
        Number of samples that the statistics remember. Small values follow a drifting scale closely, and make standard
        deviations noisy; at infinity they are those of all samples.
    centered
        Whether the mean is taken out. Not where absence means zero: an absent entry is 0 then, before and after.

    """

    def __init__(self, clip: float = 3.0, memory: float = 1000.0, centered: bool = True) -> None:
        if not clip > 0:
            raise ValueError(f"clip is a number of standard deviations above 0, not {clip!r}")
        if not memory >= 1:
            raise ValueError(f"memory is a number of samples, 1 or more, not {memory!r}")
        self.clip = clip
        self.memory = memory
        self.centered = centered
        self.mean: Array = np.zeros(0)
        self.deviation: Array = np.zeros(0)
        self._n: Array = np.zeros(0)
        self._variance: Array = np.zeros(0)
        self._inverse: Array = np.zeros(0)

    def scale(self, row: Array) -> Array:
        """Standardized row, shape (d,)."""
        scaled = row - self.mean
        scaled *= self._inverse
        return scaled.clip(-self.clip, self.clip, out=scaled)

    def unscale(self, scaled: Array) -> Array:
        """The row that is standardized to `scaled`."""
        return self.mean + scaled * self.deviation

    def update(self, row: Array) -> None:
        """Take one more row into account."""
        shift = row - self.mean
        seen = shift == shift
        if not seen.all():
            shift[~seen] = 0.0
            self._n += seen
            rate = seen / np.minimum(np.maximum(self._n, 1.0), self.memory)
        else:
            self._n += 1.0
            rate = 1.0 / np.minimum(self._n, self.memory)
        limit = _WINSOR * self.deviation
        limit[(self._n <= _SETTLED) | (limit == 0.0)] = np.inf
        np.clip(shift, -limit, limit, out=shift)
        if self.centered:
            self.mean = self.mean + rate * shift
            self._variance = (1.0 - rate) * (self._variance + rate * shift * shift)
        else:
            self._variance = (1.0 - rate) * self._variance + rate * shift * shift
        self._refresh()

    def _refresh(self) -> None:
        self.deviation = np.sqrt(self._variance)
        self._inverse = np.divide(1.0, self.deviation, out=np.zeros_like(self.deviation), where=self.deviation > 1e-150)

    def extend(self, n: int) -> None:
        """Append n slots of which nothing is known."""
        for name in ("mean", "deviation", "_n", "_variance", "_inverse"):
            setattr(self, name, np.append(getattr(self, name), np.zeros(n)))

    def keep(self, slots: Mask) -> None:
        """Drop all other slots."""
        for name in ("mean", "deviation", "_n", "_variance", "_inverse"):
            setattr(self, name, getattr(self, name)[slots])

    def __str__(self) -> str:
        return repr(self)


class NoScaler(RowScaler):
    """Rows as they are.

    **When to use it.** Where the features are scaled already, and in the paper's method.
    """

    def __init__(self) -> None:
        super().__init__(clip=math.inf, memory=math.inf, centered=False)

    def scale(self, row: Array) -> Array:
        return row.copy()

    def unscale(self, scaled: Array) -> Array:
        return scaled

    def update(self, row: Array) -> None:
        pass
