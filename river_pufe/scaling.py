"""What is usual for a slot, so that its values can be told in units of their own?"""

from __future__ import annotations

import math

import numpy as np
from river import base

from .sketch import Array, Mask

#: A value counts for the statistics as at most this many standard deviations away from the mean.
WINSOR = 10.0
#: Values of a slot from which on its statistics are robust to a single spike.
_SETTLED = 10
#: A slot that deviates by less than this share of what was usual has another scale now, or what was usual was a spike.
COLLAPSED = 1e-4
#: A slot that deviates less than this is constant.
_CONSTANT = 1e-150
#: So is one that deviates by this share of its mean: it is rounding.
ROUNDING = 1e-13
#: Entries that nothing else cuts are cut here, so that their products with one another and with weights stay finite.
_FARTHEST = 1e50
#: Units are taken anew when a quarter more rows were seen since, and after this many rows at the latest.
_GROWTH, _LATEST = 1.25, 64


class RowScaler(base.Base):
    """Standardize the entries of a row, and cut them.

    **When to use it.** As a part of `FeatureRecovery`, so that raw values work and one spike moves little.

    An entry is told in standard deviations from its mean, cut at ± `clip`; where nothing is centered, in units of the
    root mean square of the entries that are not 0. The statistics run on with each row; the units in which rows are
    told are taken from them from time to time, so that sketches and maps of earlier rows can be told in the new units
    exactly. The statistics take a value for at most ten deviations, so a spike of 1e9 does not blind them, and a
    lasting change of scale is followed. Absent entries (NaN) stay absent and do not count. A slot without a unit is
    told as 0: one that never varied but for rounding or, where nothing is centered, one that was always 0. Costs O(d).

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
        self._limit = min(clip, _FARTHEST)
        #: Units in which rows are told.
        self.mean: Array = np.zeros(0)
        self.deviation: Array = np.zeros(0)
        self._inverse: Array = np.zeros(0)
        # Statistics up to the latest units, and the rows since.
        self._n: Array = np.zeros(0)
        self._variance: Array = np.zeros(0)
        self._latest: Array = np.zeros((_LATEST, 0))
        self._n_latest = 0
        self._age = 0
        self._next = 1

    def scale(self, row: Array, out: Array) -> Array:
        """Standardized row, written to `out`; both of shape (d,)."""
        np.subtract(row, self.mean, out=out)
        out *= self._inverse
        return self._cut(out, out)

    def _cut(self, row: Array, out: Array) -> Array:
        np.minimum(row, self._limit, out=out)
        return np.maximum(out, -self._limit, out=out)

    def unscale(self, scaled: Array) -> Array:
        """The row that is standardized to `scaled`."""
        return self.mean + scaled * self.deviation

    @property
    def remaining(self) -> int:
        """Number of rows up to the next change of units, the one that changes them included."""
        return self._next - self._age

    def update(self, row: Array) -> tuple[Array, Array] | None:
        """Take one more row into account, and from time to time new units.

        Returns
        -------
        Where there are new units, factor and shift, both of shape (d,): what was z is factor · z + shift now.

        """
        self._latest[self._n_latest] = row
        self._n_latest += 1
        self._age += 1
        return self._renew() if self._age >= self._next else None

    def _renew(self) -> tuple[Array, Array]:
        self._next = self._age + math.ceil(min(self._age * (_GROWTH - 1.0), _LATEST))
        mean, deviation, inverse = self.mean, self.deviation, self._inverse
        collapsed = self._learn(self._latest[: self._n_latest] - mean)
        self._n_latest = 0
        self.deviation = np.sqrt(self._variance)
        varies = self.deviation > np.maximum(_CONSTANT, ROUNDING * np.abs(self.mean))
        self._inverse = np.divide(1.0, self.deviation, out=np.zeros_like(deviation), where=varies)
        # A slot without a unit, before or after, was or is 0: nothing was learned of it that had to be told anew. Nor
        # was there, where a spike was the unit.
        known = varies & (inverse > 0) & ~collapsed
        factor = np.where(known, deviation * self._inverse, 1.0)
        return factor, np.where(known, (mean - self.mean) * self._inverse, 0.0)

    def _learn(self, shifts: Array) -> Mask:
        """Learn from a block of rows, shape (k, d), given as distances from the mean; which slots start anew."""
        seen = ~np.isnan(shifts)
        if not self.centered:
            # What is absent says nothing about the size of what is there.
            seen &= shifts != 0
        shifts[~seen] = 0.0
        n = seen.sum(0)
        # A spike is cut. What most of the rows say is no spike.
        limit = WINSOR * self.deviation
        far = np.abs(shifts) > limit
        free = (self._n <= _SETTLED) | (limit < _CONSTANT) | ((2 * far.sum(0) > n) & (n > _SETTLED))
        shifts = np.where(far & ~free, np.copysign(limit, shifts), shifts)
        self._n += n
        total = np.minimum(self._n, np.maximum(self.memory, n))
        share = np.divide(n, total, out=np.zeros_like(total), where=n > 0)
        average = np.divide(shifts.sum(0), n, out=np.zeros_like(total), where=n > 0)
        apart = np.where(seen, shifts - average, 0.0)
        within = np.divide((apart * apart).sum(0), n, out=np.zeros_like(total), where=n > 0)
        calm = (n >= _SETTLED) & (within < COLLAPSED**2 * self._variance)
        collapsed: Mask = calm & (within > np.square(ROUNDING * (np.abs(self.mean) + np.abs(average))))
        self._n[collapsed], share[collapsed] = n[collapsed], 1.0
        # Two parts: what each varies around its own mean, and how far the means are apart (or the origin, uncentered).
        between = (1.0 - share if self.centered else 1.0) * average * average
        self._variance = (1.0 - share) * self._variance + share * (within + between)
        if self.centered:
            self.mean = self.mean + share * average
        return collapsed

    def extend(self, n: int) -> None:
        """Append n slots of which nothing is known."""
        for name in ("mean", "deviation", "_inverse", "_n", "_variance"):
            setattr(self, name, np.append(getattr(self, name), np.zeros(n)))
        self._latest = np.hstack([self._latest, np.full((_LATEST, n), math.nan)])
        self._age, self._next = 0, 1

    def statistics(self, slots: Mask) -> Array:
        """What is known of some slots, shape (4, slots), for `restore`."""
        return np.stack([self._n, self.mean, self.deviation, self._variance])[:, slots]

    def restore(self, slot: int, statistics: Array) -> None:
        """Take up what was known of a slot, shape (4,)."""
        self._n[slot], self.mean[slot], self.deviation[slot], self._variance[slot] = statistics
        self._inverse[slot] = 1.0 / self.deviation[slot] if self.deviation[slot] > _CONSTANT else 0.0

    def keep(self, slots: Mask) -> None:
        """Drop all other slots."""
        for name in ("mean", "deviation", "_inverse", "_n", "_variance"):
            setattr(self, name, getattr(self, name)[slots])
        self._latest = self._latest[:, slots]

    def __str__(self) -> str:
        return repr(self)


class NoScaler(RowScaler):
    """Rows as they are.

    **When to use it.** Where the features are scaled already, and in the paper's method.
    """

    def __init__(self) -> None:
        super().__init__(clip=math.inf, memory=math.inf, centered=False)

    def scale(self, row: Array, out: Array) -> Array:
        return self._cut(row, out)

    def update(self, row: Array) -> None:
        pass

    @property
    def remaining(self) -> int:
        return _LATEST

    def extend(self, n: int) -> None:
        super().extend(n)
        self.deviation = np.ones_like(self.deviation)
