"""In what units is a value expressed?"""

from __future__ import annotations

import abc
import dataclasses
import math
import typing

import numpy as np

from .. import kernels
from ..part import Part
from ..state.parts import Stored
from ..values import Array, Mask

#: Entries are clipped here at the latest, so that their products with one another and with weights stay finite.
FARTHEST = 1e50
#: Units are renewed once a quarter more rows have been seen, and after this many rows at the latest.
_GROWTH, _LATEST = 1.25, 64


@dataclasses.dataclass(frozen=True)
class NewUnits:
    """Units in place of former ones: what was z is now factor · z + shift.

    Parameters
    ----------
    factor
        Shape (d,).
    shift
        Shape (d,).
    seen
        Number of values that the former unit rests on, shape (d,).

    """

    factor: Array
    shift: Array
    seen: Array


class Scaler(Part, abc.ABC):
    """Expresses the entries of a row in units, slot by slot.

    Attributes
    ----------
    remaining
        Number of rows up to the next change of units, the one that changes them included.

    """

    @property
    @abc.abstractmethod
    def remaining(self) -> int: ...

    @abc.abstractmethod
    def scale(self, row: Array, out: Array) -> Array:
        """Scaled row, written to `out`; both of shape (d,), or (n, d) for several rows."""

    @abc.abstractmethod
    def view(self, row: Array) -> tuple[Array, bool]:
        """Scaled row behind a leading 1, shape (1, d + 1); and whether nothing is absent from it."""

    @abc.abstractmethod
    def standardize(self, rows: Array) -> Array:
        """Rows in the same units as statistics may take them: no entry counts for too much. Shape (d,) or (n, d)."""

    @abc.abstractmethod
    def unscale(self, scaled: Array) -> Array:
        """The row whose scaled form is `scaled`, shape (d,)."""

    @abc.abstractmethod
    def update(self, row: Array) -> NewUnits | None:
        """Learn from one more row, and from time to time renew the units."""

    def update_many(self, rows: Array) -> NewUnits | None:
        """Learn from rows, no more of them than remain, as `update` does one after another."""
        units = None
        for row in rows:
            units = self.update(row)
        return units

    @abc.abstractmethod
    def extend(self, n: int) -> None:
        """Append n slots of which nothing is known."""

    @abc.abstractmethod
    def keep(self, slots: Mask) -> None:
        """Drop all other slots."""

    @abc.abstractmethod
    def statistics(self, slots: Mask) -> Array:
        """What is known of some slots, shape (4, slots), for `restore`: count, mean, deviation, variance."""

    @abc.abstractmethod
    def restore(self, slot: int, statistics: Array) -> None:
        """Take up what was known of a slot, shape (4,)."""


class RowScaler(Stored, Scaler):
    """Standardize the entries of a row.

    **When to use it.** As a part of `FeatureRecovery`, so that raw values work and one spike changes little.

    An entry is expressed as the number of standard deviations from its mean; without `centered`, as a multiple of the
    root mean square of the entries that are not 0. The statistics are updated with each row; the
    units are renewed from them from time to time, so that sketches and maps of earlier rows can be expressed in the
    new units exactly. The statistics count a value as at most ten deviations away, so a spike of 1e9 does not blind
    them, and a lasting change of scale is followed. Absent entries (NaN) stay absent and do not count. A slot without
    a valid unit is expressed as 0: one that never varied except for rounding or, without `centered`, one that was
    always 0. Costs O(d).

    Parameters
    ----------
    clip
        Largest standardized value from which is learned how features hang together. Small values bend linear relations;
        at infinity a spike counts in full. (What experts see is clipped by the task.)
    memory
        Number of samples that the statistics remember. Small values follow a drifting scale closely, and make standard
        deviations noisy; at infinity they are those of all samples.
    centered
        Whether the mean is taken out. Not where absence means zero: an absent entry is 0 then, before and after.

    """

    def __init__(self, clip: float = 6.0, memory: float = 1000.0, centered: bool = True) -> None:
        if not clip > 0:
            raise ValueError(f"clip is a number of standard deviations above 0, not {clip!r}")
        if not memory >= 1:
            raise ValueError(f"memory is a number of samples, 1 or more, not {memory!r}")
        self.clip = clip
        self.memory = memory
        self.centered = centered
        self._limit = min(clip, FARTHEST)
        # The units in use.
        self.mean: Array = np.zeros(0)
        self.deviation: Array = np.zeros(0)
        self._inverse: Array = np.zeros(0)
        # Statistics up to the latest renewal of the units, and the rows since.
        self._n: Array = np.zeros(0)
        self._variance: Array = np.zeros(0)
        self._latest: Array = np.zeros((_LATEST, 0))
        self._n_latest = 0
        self._age = 0
        self._next = 1

    def stored(self) -> dict[str, typing.Any]:
        return {**super().stored(), "_latest": self._latest[: self._n_latest]}

    def rebuild(self) -> None:
        room = np.zeros((_LATEST - len(self._latest), self._latest.shape[1]))
        self._latest = np.concatenate([self._latest, room])

    def check_state(self) -> None:
        # Where nothing varies the inverse of the deviation is 0.
        units = self._inverse * self.deviation
        known = (self._variance >= 0.0) & ((self._inverse == 0.0) | np.isclose(units, 1.0))
        if not (known.all() and np.allclose(self.deviation, np.sqrt(self._variance), atol=0.0)):
            raise ValueError("the state has units that are not standard deviations")

    @property
    def remaining(self) -> int:
        return self._next - self._age

    def scale(self, row: Array, out: Array) -> Array:
        out[:] = kernels.standardize(row, self.mean, self._inverse, FARTHEST)
        return out

    def view(self, row: Array) -> tuple[Array, bool]:
        return kernels.view(row, self.mean, self._inverse, FARTHEST)

    def standardize(self, rows: Array) -> Array:
        return kernels.standardize(rows, self.mean, self._inverse, self._limit)

    def unscale(self, scaled: Array) -> Array:
        return self.mean + scaled * self.deviation

    def update(self, row: Array) -> NewUnits | None:
        self._latest[self._n_latest] = row
        self._n_latest += 1
        self._age += 1
        return self._renew() if self._age >= self._next else None

    def update_many(self, rows: Array) -> NewUnits | None:
        self._latest[self._n_latest : self._n_latest + len(rows)] = rows
        self._n_latest += len(rows)
        self._age += len(rows)
        return self._renew() if self._age >= self._next else None

    def _renew(self) -> NewUnits:
        self._next = self._age + math.ceil(min(self._age * (_GROWTH - 1.0), _LATEST))
        mean, deviation, inverse, seen = self.mean, self.deviation, self._inverse, self._n
        self._n, self.mean, self._variance, collapsed = kernels.moments(
            self._latest[: self._n_latest], seen, mean, deviation, self._variance, self.memory, self.centered
        )
        self._n_latest = 0
        self.deviation = np.sqrt(self._variance)
        varies = self.deviation > np.maximum(kernels.CONSTANT, kernels.ROUNDING * np.abs(self.mean))
        self._inverse = np.divide(1.0, self.deviation, out=np.zeros_like(deviation), where=varies)
        # Without a valid scale before and after, the scaled value was constantly 0, so nothing needs rescaling;
        # likewise after a scale that a spike had inflated was reset.
        known = varies & (inverse > 0) & ~collapsed
        factor = np.where(known, deviation * self._inverse, 1.0)
        return NewUnits(factor, np.where(known, (mean - self.mean) * self._inverse, 0.0), seen)

    def extend(self, n: int) -> None:
        for name in ("mean", "deviation", "_inverse", "_n", "_variance"):
            setattr(self, name, np.append(getattr(self, name), np.zeros(n)))
        self._latest = np.hstack([self._latest, np.full((_LATEST, n), math.nan)])
        self._age, self._next = 0, 1

    def statistics(self, slots: Mask) -> Array:
        return np.stack([self._n, self.mean, self.deviation, self._variance])[:, slots]

    def restore(self, slot: int, statistics: Array) -> None:
        self._n[slot], self.mean[slot], self.deviation[slot], self._variance[slot] = statistics
        self._inverse[slot] = 1.0 / self.deviation[slot] if self.deviation[slot] > kernels.CONSTANT else 0.0

    def keep(self, slots: Mask) -> None:
        for name in ("mean", "deviation", "_inverse", "_n", "_variance"):
            setattr(self, name, getattr(self, name)[slots])
        self._latest = np.ascontiguousarray(self._latest[:, slots])


class NoScaler(Scaler):
    """Rows as they are.

    **When to use it.** Where the features are scaled already, and in the paper's method.
    """

    @property
    def remaining(self) -> int:
        return _LATEST

    def scale(self, row: Array, out: Array) -> Array:
        out[:] = kernels.clip(row, FARTHEST)
        return out

    def view(self, row: Array) -> tuple[Array, bool]:
        return kernels.view(row, np.zeros(len(row)), np.ones(len(row)), FARTHEST)

    def standardize(self, rows: Array) -> Array:
        return kernels.clip(rows, FARTHEST)

    def unscale(self, scaled: Array) -> Array:
        return scaled

    def update(self, row: Array) -> None:
        pass

    def extend(self, n: int) -> None:
        pass

    def keep(self, slots: Mask) -> None:
        pass

    def statistics(self, slots: Mask) -> Array:
        return np.repeat([[0.0], [0.0], [1.0], [1.0]], int(np.count_nonzero(slots)), axis=1)

    def restore(self, slot: int, statistics: Array) -> None:
        pass
