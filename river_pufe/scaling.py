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
#: A slot that deviates less than this is constant.
_CONSTANT = 1e-150


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
        self._n: Array = np.zeros(0)
        self._variance: Array = np.zeros(0)
        self._all_vary = False
        self._refresh()

    def scale(self, row: Array, out: Array) -> Array:
        """Standardized row, written to `out`; both of shape (d,)."""
        np.subtract(row, self.mean, out=out)
        out *= self._inverse
        np.minimum(out, self.clip, out=out)
        return np.maximum(out, -self.clip, out=out)

    def unscale(self, scaled: Array) -> Array:
        """The row that is standardized to `scaled`."""
        return self.mean + scaled * self.deviation

    def update(self, row: Array) -> None:
        """Take one more row into account."""
        shift = row - self.mean
        if not shift.dot(shift) < math.inf:
            seen = ~np.isnan(shift)
            shift[~seen] = 0.0
            self._n += seen
            rate = seen / np.clip(self._n, 1.0, self.memory)
        else:
            self._n += 1.0
            rate = 1.0 / np.minimum(self._n, self.memory)
        np.minimum(shift, self._limit, out=shift)
        np.maximum(shift, -self._limit, out=shift)
        growth = rate * shift
        fade = 1.0 - rate
        if self.centered:
            self.mean += growth
            growth *= fade
        growth *= shift
        self._variance *= fade
        self._variance += growth
        self._refresh()

    def _refresh(self) -> None:
        deviation = self.deviation = np.sqrt(self._variance)
        self._limit = _WINSOR * deviation
        if self._all_vary:
            self._inverse = 1.0 / deviation
            return
        unsettled = (self._n <= _SETTLED) | (deviation < _CONSTANT)
        self._limit[unsettled] = np.inf
        self._inverse = np.divide(1.0, deviation, out=np.zeros_like(deviation), where=deviation >= _CONSTANT)
        self._all_vary = not unsettled.any()

    def extend(self, n: int) -> None:
        """Append n slots of which nothing is known."""
        for name in ("mean", "_n", "_variance"):
            setattr(self, name, np.append(getattr(self, name), np.zeros(n)))
        self._all_vary = False
        self._refresh()

    def keep(self, slots: Mask) -> None:
        """Drop all other slots."""
        for name in ("mean", "_n", "_variance"):
            setattr(self, name, getattr(self, name)[slots])
        self._refresh()

    def __str__(self) -> str:
        return repr(self)


class NoScaler(RowScaler):
    """Rows as they are.

    **When to use it.** Where the features are scaled already, and in the paper's method.
    """

    def __init__(self) -> None:
        super().__init__(clip=math.inf, memory=math.inf, centered=False)

    def scale(self, row: Array, out: Array) -> Array:
        out[:] = row
        return out

    def unscale(self, scaled: Array) -> Array:
        return scaled

    def update(self, row: Array) -> None:
        pass
