"""What do absent entries read, and lost ones, if the rows are Gaussian?"""

from __future__ import annotations

import math
import typing

import numpy as np

from ..state.packing import packed, unpacked
from ..state.parts import Stored
from ..values import Array, Mask
from .gaussian import Gaussian
from .linear_map import Affine
from .low_rank import LowRankGaussian
from .overlap import Overlap
from .reading import Reading, Readings
from .row_law import WINDOW, OverlapLaw, RowLaw
from .row_model import RowModel
from .scaling import Scaler
from .scatter import Scatter, typical
from .wide import SIZE, WideOverlap, WideScatter

#: So many rows for each entry tell a covariance of which the inverse is about right: from fewer, residuals of new rows
#: are much larger.
_ROWS_PER_ENTRY = 4
#: Rows wait to be learned in blocks, until they are one in so many or a block is full.
_WAITING = 8


class GaussianRows(Stored, RowModel):
    """Rows are Gaussian: each entry is what it should be on average given all others, and known how precisely.

    **When to use it.** By default. On real data the rows have full rank, so that no entry follows exactly from the
    others; here each other entry counts for what it tells.

    Mean and covariance of the rows are learned by online EM (`Scatter`). In an overlap, what was known of the previous
    space stays, and the law of the current features given the previous ones is learned (`Overlap`). So completing a row
    and recovering lost features are one question, for some entries given all others.

    Rows wait and are learned in blocks: a row without gaps costs O(d²) flops, most of them in products of matrices. One
    with a absent entries costs O(a³ + ad), or O(o³ + od) with o observed ones where these are fewer. Memory is O(d²).
    Above `max_size` features factors take the place of the covariance (`WideScatter`, `WideOverlap`), and d becomes
    O(ℓ) in these costs, with ℓ = 32 factors. At most 64 rows are kept as they came, and none once an overlap is over.

    Parameters
    ----------
    max_size
        Number of features up to which the covariance is kept in full. Small values save time and memory on wide
        streams, and see only what many features have in common.

    Examples
    --------
    >>> import numpy as np
    >>> from river_pufe import FeatureRecovery
    >>> from river_pufe.recovery import GaussianRows
    >>> rng = np.random.default_rng(0)
    >>> recovery = FeatureRecovery(row_model=GaussianRows())
    >>> for _ in range(200):
    ...     heat = rng.normal(20, 5)
    ...     recovery.learn_one({"attic": heat + rng.normal(), "cellar": heat / 2 + rng.normal()})
    >>> recovery.transform_one({"attic": 30.0})
    {'attic': 30.0, 'cellar': 14.58}

    """

    def __init__(self, max_size: int = 256) -> None:
        if not max_size >= 0:
            raise ValueError(f"max_size is a number of features, 0 or more, not {max_size!r}")
        self.max_size = max_size
        self._law: RowLaw = Scatter()
        # The latest rows as they came; those at the end wait to be learned.
        self._rows: list[Array] = []
        self._n_waiting = 0
        # Rows that say how the slots hang together.
        self._n = 0

    def stored(self) -> dict[str, typing.Any]:
        # Of a row only what is there is stored.
        rows = np.array(self._rows).reshape(len(self._rows), self._law.counts.shape[1])
        return {**super().stored(), "_rows": packed(rows, ~np.isnan(rows))}

    def rebuild(self) -> None:
        self._rows = list(unpacked(vars(self)["_rows"], math.nan))

    def complete(self, row: Array, absent: Mask) -> tuple[Array, bool]:
        return self._law.law.complete(row, absent), True

    def variance(self, absent: Mask) -> Array:
        return self._law.law.variance(absent)

    def given_others(self, row: Array) -> tuple[Array, Array]:
        return self._law.law.given_others(row)

    def precision(self) -> tuple[Array, Array, Array] | None:
        law = self._law.law
        if not isinstance(law, Gaussian) or typical(self._law.counts) < _ROWS_PER_ENTRY * max(len(law.mean), 1):
            return None
        return law.mean, law.precision, law.covariance.diagonal().copy()

    def predict(self, outputs: Mask) -> Affine | None:
        return self._law.law.predict(outputs) if self._n else None

    def update(self, reading: Reading) -> None:
        absent, p = reading.absent, reading.n_previous
        if not len(reading.row) or (absent is not None and not _says_something(absent, p)):
            return
        self._take([reading.row], reading.scaler)

    def update_many(self, readings: Readings) -> None:
        rows = list(readings.rows) if readings.rows.size else []
        while rows:
            # Up to the next row at which something is due.
            share = -((_WAITING * self._n_waiting - self._n) // (_WAITING - 1))
            n = max(min(share, self._law.block - self._n_waiting, WINDOW - len(self._rows)), 1)
            self._take(rows[:n], readings.scaler)
            del rows[:n]

    def _take(self, rows: list[Array], scaler: Scaler) -> None:
        self._rows += rows
        self._n_waiting += len(rows)
        self._n += len(rows)
        if self._n_waiting >= min(self._n / _WAITING, self._law.block):
            self._learn(scaler)
        if len(self._rows) >= WINDOW:
            self._learn(scaler)
            if self._rows:
                self._settle(self._window(scaler), WINDOW // 2)

    def _window(self, scaler: Scaler) -> Array:
        return scaler.standardize(np.array(self._rows))

    def _learn(self, scaler: Scaler) -> None:
        if not self._n_waiting:
            return
        window = self._window(scaler)
        self._law.learn(window, self._n_waiting)
        self._n_waiting = 0
        # Expectations are settled where nothing was absent, and where the row is gone before they would be renewed.
        if not (isinstance(self._law, OverlapLaw) or (self._law.renews_within(WINDOW) and np.isnan(window).any())):
            self._settle(window, len(window))

    def _settle(self, window: Array, n: int) -> None:
        """Let go of the oldest rows."""
        self._law.settle(window, n)
        del self._rows[:n]

    def extend(self, n: int, overlap: bool, scaler: Scaler) -> None:
        self._learn(scaler)
        wide = self._law.counts.shape[1] + n > self.max_size
        if overlap:
            self._begin_overlap(n, wide)
            return
        if wide:
            self._widen(scaler)
        self._law.extend(n)
        self._rows = [np.append(row, np.full(n, math.nan)) for row in self._rows]

    def _begin_overlap(self, n: int, wide: bool) -> None:
        law, counts = self._law.law, self._law.counts
        self._rows, self._n = [], 0
        if isinstance(law, Gaussian) and not wide:
            self._law = Overlap(law, counts, n)
        else:
            self._law = WideOverlap(_low_rank(law), counts, n)

    def _widen(self, scaler: Scaler) -> None:
        """Take factors for the covariance."""
        if isinstance(self._law, Scatter):
            self._law = WideScatter(_low_rank(self._law.law), self._law.counts)
        elif isinstance(self._law, Overlap):
            p = self._law.n_previous
            counts = self._law.counts
            self._law = WideOverlap(_low_rank(self._law.previous), counts[:, :p], counts.shape[1] - p)
            if self._rows:
                self._law.learn(self._window(scaler), len(self._rows))

    def end_overlap(self, scaler: Scaler) -> None:
        if not isinstance(self._law, OverlapLaw):
            return
        self._learn(scaler)
        if self._rows:
            self._law.finish(self._window(scaler))
        if isinstance(self._law, Overlap):
            self._law = Scatter(self._law.law, self._law.counts)
        else:
            self._law = WideScatter(_low_rank(self._law.law), self._law.counts)
        self._rows = []

    def keep(self, slots: Mask) -> None:
        self._law.keep(slots)
        self._rows = [row[slots] for row in self._rows]
        law = self._law.law
        if isinstance(self._law, WideScatter) and isinstance(law, LowRankGaussian) and len(law.mean) <= self.max_size:
            self._law = Scatter(law.full(), self._law.counts)
            # Those that wait are yet to be learned.
            del self._rows[: len(self._rows) - self._n_waiting]

    def rescale(self, factor: Array, shift: Array) -> None:
        self._law.rescale(factor, shift)


def _says_something(absent: Mask, n_previous: int) -> bool:
    """Whether something is there of a row, and in an overlap of both spaces."""
    if n_previous and np.count_nonzero(absent[:n_previous]) == n_previous:
        return False
    return bool(np.count_nonzero(absent[n_previous:]) < len(absent) - n_previous)


def _low_rank(law: object) -> LowRankGaussian:
    if isinstance(law, Gaussian):
        return LowRankGaussian.from_full(law, SIZE)
    assert isinstance(law, LowRankGaussian)
    return law
