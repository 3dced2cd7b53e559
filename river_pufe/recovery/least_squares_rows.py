"""What do absent entries read, and lost ones, by the least squares of the paper?"""

from __future__ import annotations

import numpy as np

from ..sketch import FrequentDirections
from ..values import Array, Mask
from .completion import Completion, RowSpace
from .linear_map import Affine, LinearMap
from .reading import Reading
from .row_model import RowModel
from .scaling import Scaler


class LeastSquaresRows(RowModel):
    """Rows are completed on the row space of their own feature space, and mapped from one space to another.

    In an overlap the previous part of every row is completed, observed entries included, before the map learns from
    it, also where nothing is absent: Algorithm 3 of the paper.

    **When to use it.** To have the paper's method, or a variant of its parts.

    Costs O(ℓ²d) for a row with absent entries and O(ℓd) for any other, with ℓ the rows of the sketch. Memory is O(ℓd).

    Parameters
    ----------
    completion
        What fills the absent entries of a row from its observed ones.
    linear_map
        What computes the map from the current to the previous space.
    sketch
        What summarizes the rows seen. Its size ℓ bounds memory, and the rank of completions and maps.

    """

    def __init__(
        self,
        completion: Completion | None = None,
        linear_map: LinearMap | None = None,
        sketch: FrequentDirections | None = None,
    ) -> None:
        self.completion = completion if completion is not None else RowSpace()
        self.linear_map = linear_map if linear_map is not None else LinearMap()
        self.sketch = sketch if sketch is not None else FrequentDirections(centered=True)
        # Of the rows of the living spaces and, in an overlap, of the rows of the previous space before it.
        self._sketch = self.sketch.clone()
        self._previous: FrequentDirections | None = None
        self._n_previous = 0

    def complete(self, row: Array, absent: Mask) -> tuple[Array, bool]:
        own = self._n_previous or len(row)
        sketch = self._sketch if self._previous is None else self._previous
        filled, missing, usable = row.copy(), absent.copy(), True
        if absent[:own].any() or self._previous is not None:
            completed = self.completion.complete(row[:own], absent[:own], sketch) if sketch.n else None
            usable = completed is not None
            if completed is not None:
                filled[:own], missing[:own] = completed, False
        if missing.any():
            filled[missing] = self._map_to(absent, row)[missing]
        return filled, usable

    def _map_to(self, asked: Mask, row: Array) -> Array:
        """A row whose asked entries follow from the others by the map; the mean where it knows nothing."""
        mapped = row.copy()
        known = None if asked.all() else self.predict(asked)
        mapped[asked] = 0.0 if known is None else known(row[~asked])
        return mapped

    def variance(self, absent: Mask) -> Array:
        return np.full(np.count_nonzero(absent), np.nan)

    def predict(self, outputs: Mask) -> Affine | None:
        return self.linear_map.solve(self._sketch, outputs) if self._sketch.n else None

    def update(self, reading: Reading) -> None:
        row, usable = reading.standardized, reading.usable
        if self._previous is not None and reading.filled is None:
            row, usable = self.complete(row, np.zeros(len(row), dtype=bool))
        if usable:
            self._sketch.update(row)

    def extend(self, n: int, overlap: bool, scaler: Scaler) -> None:
        if overlap:
            self._n_previous = len(self._sketch.mean)
            self._previous, self._sketch = self._sketch, self.sketch.clone()
            self._sketch.extend(self._n_previous)
        self._sketch.extend(n)

    def end_overlap(self, scaler: Scaler) -> None:
        self._previous, self._n_previous = None, 0

    def keep(self, slots: Mask) -> None:
        self._sketch.keep(slots)

    def rescale(self, factor: Array, shift: Array) -> None:
        self._sketch.rescale(factor, shift)
        if self._previous is not None:
            own = self._n_previous
            self._previous.rescale(factor[:own], shift[:own])
