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
#: Units are taken anew when a quarter more rows were seen since, and after this many rows at the latest.
_GROWTH, _LATEST = 1.25, 64


class RowScaler(base.Base):
    """Standardize the entries of a row, and cut them.

    **When to use it.** As a part of `FeatureRecovery`, so that raw values work and one spike moves little.

    An entry is told in standard deviations from its mean, cut at ± `clip`. The statistics run on with each row; the
    units in which rows are told are taken from them from time to time, so that sketches and maps of earlier rows can be
    told in the new units exactly. The statistics take a value for at most ten deviations, so a spike of 1e9 does
    not blind them, and a lasting change of scale is followed. Absent entries (NaN) stay absent and do not count. A slot
    that never varied is 0. Costs O(d).

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
        #: Units in which rows are told.
        self.mean: Array = np.zeros(0)
        self.deviation: Array = np.zeros(0)
        self._inverse: Array = np.zeros(0)
        # Statistics, which run on.
        self._n: Array = np.zeros(0)
        self._running_mean: Array = np.zeros(0)
        self._variance: Array = np.zeros(0)
        self._all_settled = False
        self._age = 0
        self._next = 1

    def scale(self, row: Array, out: Array) -> Array:
        """Standardized row, written to `out`; both of shape (d,)."""
        np.subtract(row, self.mean, out=out)
        out *= self._inverse
        np.minimum(out, self.clip, out=out)
        return np.maximum(out, -self.clip, out=out)

    def unscale(self, scaled: Array) -> Array:
        """The row that is standardized to `scaled`."""
        return self.mean + scaled * self.deviation

    def update(self, row: Array) -> tuple[Array, Array] | None:
        """Take one more row into account, and from time to time new units.

        Returns
        -------
        Where there are new units, factor and shift, both of shape (d,): what was z is factor · z + shift now.

        """
        shift = row - self._running_mean
        if not shift.dot(shift) < math.inf:
            seen = ~np.isnan(shift)
            shift[~seen] = 0.0
            self._n += seen
            rate = seen / np.clip(self._n, 1.0, self.memory)
        else:
            self._n += 1.0
            rate = 1.0 / np.minimum(self._n, self.memory)
        limit = _WINSOR * np.sqrt(self._variance)
        if not self._all_settled:
            unsettled = (self._n <= _SETTLED) | (limit < _CONSTANT)
            limit[unsettled] = np.inf
            self._all_settled = not unsettled.any()
        np.minimum(shift, limit, out=shift)
        np.maximum(shift, -limit, out=shift)
        growth = rate * shift
        fade = 1.0 - rate
        if self.centered:
            self._running_mean += growth
            growth *= fade
        growth *= shift
        self._variance *= fade
        self._variance += growth
        self._age += 1
        return self._renew() if self._age >= self._next else None

    def _renew(self) -> tuple[Array, Array]:
        self._next = math.ceil(self._age + min(self._age * (_GROWTH - 1.0), _LATEST))
        mean, deviation, inverse = self.mean, self.deviation, self._inverse
        self.mean = self._running_mean.copy()
        self.deviation = np.sqrt(self._variance)
        varies = self.deviation >= _CONSTANT
        self._inverse = np.divide(1.0, self.deviation, out=np.zeros_like(deviation), where=varies)
        # A slot without a unit, before or after, was or is 0: nothing was learned of it that had to be told anew.
        known = varies & (inverse > 0)
        factor = np.where(known, deviation * self._inverse, 1.0)
        return factor, np.where(known, (mean - self.mean) * self._inverse, 0.0)

    def extend(self, n: int) -> None:
        """Append n slots of which nothing is known."""
        for name in ("mean", "deviation", "_inverse", "_n", "_running_mean", "_variance"):
            setattr(self, name, np.append(getattr(self, name), np.zeros(n)))
        self._all_settled = False
        self._age, self._next = 0, 1

    def keep(self, slots: Mask) -> None:
        """Drop all other slots."""
        for name in ("mean", "deviation", "_inverse", "_n", "_running_mean", "_variance"):
            setattr(self, name, getattr(self, name)[slots])

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

    def update(self, row: Array) -> None:
        return None

    def extend(self, n: int) -> None:
        super().extend(n)
        self.deviation = np.ones_like(self.deviation)
