"""How do the experts see a sample?"""

from __future__ import annotations

import dataclasses
import functools
import math
import typing
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from .. import kernels
from ..values import LARGEST, Array, Key, Mask
from .linear_map import Affine
from .scaling import FARTHEST, Scaler

#: Views of a sample, the rows of `Reading.views`.
PRESENT, COMPLETED, FRESH = range(3)


class Expected(typing.NamedTuple):
    """What a feature should read given the rest of a sample.

    Parameters
    ----------
    value
        The expected value, in the feature's own unit.
    deviation
        The standard deviation of what it reads around that value; NaN where it is not known.

    """

    value: float
    deviation: float


@dataclasses.dataclass
class Retired:
    """Vanished keys of a retired space, and how they follow from the slots that are left.

    Parameters
    ----------
    keys
        The keys, in the order of the outputs of `recover`.
    statistics
        What the scaler knew of them, shape (4, keys).
    conversions
        Factor and offset that lead from what they read at last to the units of all the rest, shape (2, keys).
    recover
        The map from standardized rows over the slots to standardized values of the keys; None where it is not known.

    """

    keys: tuple[Key, ...]
    statistics: Array
    conversions: Array
    recover: Affine | None


@dataclasses.dataclass
class Reading:
    """A sample as the experts see it.

    Parameters
    ----------
    row
        Values by slot that are believed, NaN where there is none, shape (d,).
    given
        All values by slot, NaN where absent, shape (d,).
    views
        Three ways to see the row, standardized, behind a leading 1: what is *present* (absent entries are the mean),
        *completed*, and the *fresh* part, in which the previous space is left out. Shape (3, d + 1), or (1, d + 1)
        where all three are the same.
    absent
        Which entries of the row are absent, shape (d,); None where none is.
    filled
        The completed row in the units of the scaler, of which nothing is clipped that was computed, shape (d,); None
        where nothing was absent.
    residuals
        How far each entry of the row is from what it should be given all others, in deviations of that, NaN where it is
        absent, shape (d,); None where it is not known.
    too_far
        The slot whose residual is too large to be believed, or -1.
    n_strange
        0 if all residuals are about as small as they have been; otherwise how many rounds of late were unlike any
        before, this one included.
    usable
        Whether the map may learn from it: in an overlap, whether the previous part could be completed.
    keys
        Keys by slot.
    n_previous
        Number of slots of the previous space, 0 outside overlaps.
    scaler
        What standardized the row.
    retired
        The retired spaces, oldest first.

    """

    row: Array
    given: Array
    views: Array
    absent: Mask | None
    filled: Array | None
    residuals: Array | None
    too_far: int
    n_strange: int
    usable: bool
    keys: Sequence[Key]
    n_previous: int
    scaler: Scaler
    retired: Iterable[Retired]

    @property
    def as_usual(self) -> bool:
        """Whether all residuals are about as small as they have been."""
        return not self.n_strange

    @property
    def completed(self) -> Array:
        """The completed view, shape (d + 1,)."""
        completed: Array = self.views[min(COMPLETED, len(self.views) - 1)]
        return completed

    @property
    def sees_previous(self) -> bool:
        """Whether an overlap is on, and previous keys are observed."""
        previous = self.row[: self.n_previous]
        return len(previous) > 0 and not bool(np.isnan(previous).all())

    @property
    def standardized(self) -> Array:
        """The completed row in the units of the scaler, of which less is clipped than of the views, shape (d,)."""
        if self.filled is None:
            return self.scaler.standardize(self.row)
        # What is computed may be as large as what is observed, and no larger.
        return kernels.clip(self.filled, FARTHEST)

    @functools.cached_property
    def present(self) -> dict[Key, float]:
        """The known features that are there, by key, in their own units."""
        return {key: value for key, value in zip(self.keys, self.row.tolist()) if not math.isnan(value)}

    @functools.cached_property
    def known(self) -> dict[Key, float]:
        """All features by key, in their own units: absent ones completed, those of retired spaces recovered."""
        row = self.standardized
        completed = np.where(np.isnan(self.row), np.clip(self.scaler.unscale(row), -LARGEST, LARGEST), self.row)
        known: dict[Key, float] = {}
        for retired in self.retired:
            if retired.recover is not None:
                _, mean, deviation, _ = retired.statistics
                with np.errstate(over="ignore"):
                    recovered = np.clip(mean + retired.recover(row) * deviation, -LARGEST, LARGEST)
                known.update(zip(retired.keys, recovered.tolist()))
        known.update(zip(self.keys, completed.tolist()))
        return known


@dataclasses.dataclass
class Readings:
    """Complete samples that follow each other, in none of which anything is unlike before.

    Parameters
    ----------
    rows
        Values by slot, shape (n, d).
    views
        The one way to see each row, standardized, behind a leading 1; shape (n, d + 1).
    residuals
        As in `Reading`, shape (n, d); None where they are not known.
    keys
        Keys by slot.
    scaler
        What standardized the rows.
    retired
        The retired spaces, oldest first.

    """

    rows: Array
    views: Array
    residuals: Array | None
    keys: Sequence[Key]
    scaler: Scaler
    retired: Iterable[Retired]

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, i: int) -> Reading:
        row, view = self.rows[i], self.views[i : i + 1]
        residuals = self.residuals[i] if self.residuals is not None else None
        return Reading(row, row, view, None, None, residuals, -1, 0, True, self.keys, 0, self.scaler, self.retired)

    def __iter__(self) -> Iterator[Reading]:
        return map(self.__getitem__, range(len(self)))

    def head(self, n: int) -> Readings:
        """The first n of them."""
        residuals = self.residuals[:n] if self.residuals is not None else None
        return Readings(self.rows[:n], self.views[:n], residuals, self.keys, self.scaler, self.retired)
