"""What do absent entries read, and lost ones, if the rows are Gaussian?"""

from __future__ import annotations

import math

import numpy as np

from ..values import Array, Mask
from .gaussian import Gaussian
from .linear_map import Affine
from .overlap import Overlap
from .reading import Reading
from .row_model import RowModel
from .scaling import Scaler
from .scatter import Scatter

#: Rows whose expectations are not settled, at most.
_WINDOW = 64
#: Rows that wait until they are learned, at most: while values are missing, and while none are.
_WITH_GAPS, _WITHOUT = 16, 32


class GaussianRows(RowModel):
    """Rows are Gaussian: conditional means, and the covariance of what they leave open.

    **When to use it.** By default. On real data the rows have full rank, and no entry follows exactly from the others.
    Here each counts as much as it tells.

    Mean and covariance of the rows are learned by online EM (`Scatter`). In an overlap, what was known of the previous
    space stays, and the law of the current features given the previous ones is learned (`Overlap`). Completing a row
    and recovering a lost space are then the same question, for some entries given all others.

    Rows wait in a buffer and are learned in blocks, so a stream without gaps pays no more than O(d²) a row; a row with
    a absent entries costs O(a³ + ad), or O(o³ + od) with o observed ones where these are fewer. Memory is O(d²). At
    most 64 rows are kept as they came, and none is left when an overlap is over.

    Examples
    --------
    >>> import numpy as np
    >>> from river_pufe import FeatureRecovery
    >>> from river_pufe.recovery import GaussianRows
    >>> rng = np.random.default_rng(0)
    >>> recovery = FeatureRecovery(row_model=GaussianRows())
    >>> for _ in range(200):
    ...     heat = rng.normal(20, 5)
    ...     x = {"attic": heat + rng.normal(), "cellar": heat / 2 + rng.normal()}
    ...     recovery.learn_one(x)
    >>> recovery.transform_one({"attic": 30.0})
    {'attic': 30.0, 'cellar': 14.66}

    """

    def __init__(self) -> None:
        nothing = Gaussian(np.zeros(0), np.zeros((0, 0)))
        self._law: Scatter | Overlap = Scatter(nothing, np.zeros((2, 0)))
        # The latest rows as they came; the first of them have been learned.
        self._rows: Array = np.zeros((0, 0))
        self._n_rows = 0
        self._n_learned = 0
        self._n_seen = 0
        self._latest_gap = -_WINDOW

    def start(self, scaler: Scaler) -> None:
        self._scaler = scaler

    def complete(self, row: Array, absent: Mask) -> tuple[Array, bool]:
        return self._law.gaussian.complete(row, absent), True

    def variance(self, absent: Mask) -> Array:
        return self._law.gaussian.conditional_covariance(absent).diagonal()

    def predict(self, outputs: Mask) -> Affine | None:
        return self._law.gaussian.predict(outputs) if self._n_seen else None

    def update(self, reading: Reading) -> None:
        row = reading.row
        absent = np.isnan(row)
        if absent.all():
            return
        if self._n_rows == len(self._rows):
            self._make_room(len(row))
        self._rows[self._n_rows] = row
        self._n_rows += 1
        self._n_seen += 1
        if absent.any():
            self._latest_gap = self._n_seen
        most = _WITH_GAPS if self._n_seen - self._latest_gap < _WINDOW else _WITHOUT
        if isinstance(self._law, Overlap):
            most = 1
        if 8 * (self._n_rows - self._n_learned) >= min(self._n_seen, 8 * most):
            self._learn()
        if self._n_rows == _WINDOW:
            self._settle(_WINDOW // 2)

    def _make_room(self, d: int) -> None:
        grown = np.empty((min(_WINDOW, max(8, 2 * len(self._rows))), d))
        if self._n_rows:
            grown[: self._n_rows] = self._rows[: self._n_rows]
        self._rows = grown

    def _window(self) -> Array:
        return self._scaler.standardize(self._rows[: self._n_rows])

    def _learn(self) -> None:
        if self._n_learned < self._n_rows:
            self._law.learn(self._window(), self._n_rows - self._n_learned)
            self._n_learned = self._n_rows

    def _settle(self, n: int) -> None:
        """Let go of the oldest rows."""
        self._learn()
        self._law.settle(self._window()[:n])
        self._n_rows -= n
        self._n_learned = self._n_rows
        self._rows[: self._n_rows] = self._rows[n : n + self._n_rows].copy()

    def extend(self, n: int, overlap: bool) -> None:
        if overlap:
            self._learn()
            self._law = Overlap(self._law.gaussian, self._law.counts, n)
            self._forget()
        else:
            self._law.extend(n)
            self._rows = np.hstack([self._rows, np.full((len(self._rows), n), math.nan)])

    def end_overlap(self) -> None:
        if isinstance(self._law, Overlap):
            self._learn()
            self._law = self._law.finish(self._window())
            self._forget()

    def _forget(self) -> None:
        self._rows = np.zeros((0, 0))
        self._n_rows = self._n_learned = 0

    def keep(self, slots: Mask) -> None:
        self._law.keep(slots)
        self._rows = self._rows[:, slots] if len(self._rows) else self._rows

    def rescale(self, factor: Array, shift: Array) -> None:
        self._law.rescale(factor, shift)
