"""What do all rows so far look like, in a fixed amount of memory?"""

from __future__ import annotations

import math
import typing

import numpy as np

from .part import Part
from .state.parts import Stored
from .values import Array, Mask

#: Share of a Gram matrix that is lost in rounding.
_ROUNDING = 1e-14
#: Share of the largest singular value below which another one is rounding, per row or column, whichever are more.
_EPS = float(np.finfo(np.float64).eps)
#: So small a singular value is none: one can be divided by all others, and what comes out stays finite.
_SMALLEST = 1e-70


class FrequentDirections(Stored, Part):
    """Frequent Directions: a small matrix B with BᵀB close to AᵀA, where A holds all rows seen.

    $$0 \\preceq A^T A - B^T B \\preceq \\frac{\\lVert A \\rVert_F^2}{\\ell} I$$

    with $\\ell$ rows, and B is exact as long as A has fewer than $\\ell$ independent rows. With `centered` the rows
    are taken relative to their mean, and AᵀA becomes the scatter matrix.

    **When to use it.** When the row space or the covariance of a wide stream is needed, and d × d numbers are too many.

    Rows are gathered in a buffer of $2\\ell$ rows that is shrunk when full (Ghashami et al., section 3), so a row
    costs O(ℓd) amortized. Memory is O(ℓd).

    Parameters
    ----------
    size
        Number of rows kept, ℓ. At d or above nothing is ever lost; small values keep only the strongest directions.
    centered
        Whether the mean of the rows is taken out.

    Attributes
    ----------
    n
        Number of rows seen.
    mean
        Mean of the rows seen, shape (d,); zeros unless `centered`.

    Examples
    --------
    >>> import numpy as np
    >>> from river_pufe.sketch import FrequentDirections
    >>> rng = np.random.default_rng(0)
    >>> A = rng.normal(size=(500, 3)) @ rng.normal(size=(3, 20))
    >>> sketch = FrequentDirections(size=8)
    >>> for row in A:
    ...     sketch.update(row)
    >>> directions, strengths = sketch.row_space()
    >>> directions.shape
    (20, 3)
    >>> bool(np.allclose(A.T @ A, sketch.rows.T @ sketch.rows))
    True

    References
    ----------
    [^1]: [Liberty, E., 2013. Simple and deterministic matrix sketching. KDD.](https://arxiv.org/abs/1206.0594)
    [^2]: [Ghashami, M., Liberty, E., Phillips, J.M. and Woodruff, D.P., 2016. Frequent Directions: simple and
        deterministic matrix sketching. SIAM Journal on Computing.](https://arxiv.org/abs/1501.01711)

    """

    def __init__(self, size: int = 32, centered: bool = False) -> None:
        if not size >= 1:
            raise ValueError(f"size is a number of rows, 1 or more, not {size!r}")
        self.size = size
        self.centered = centered
        # The buffer holds the sketch of all rows up to the latest shrinking, and behind it the rows since as they came.
        self._buffer: Array = np.zeros((0, 0))
        self._n_sketched = 0
        self._n_filled = 0
        self._n_before = 0
        self._mean_before: Array = np.zeros(0)

    def stored(self) -> dict[str, typing.Any]:
        # What is behind the filled rows is not read, and how much room there is changes nothing.
        return {**super().stored(), "_buffer": self._buffer[: self._n_filled]}

    @property
    def n(self) -> int:
        return self._n_before + self._n_filled - self._n_sketched

    @property
    def mean(self) -> Array:
        latest = self._buffer[self._n_sketched : self._n_filled]
        if not self.centered or not len(latest):
            return self._mean_before
        mean: Array = self._mean_before + (len(latest) / self.n) * (latest.mean(0) - self._mean_before)
        return mean

    @property
    def rows(self) -> Array:
        """The matrix B, at most 2ℓ + 1 rows, shape (k, d)."""
        latest = self._buffer[self._n_sketched : self._n_filled]
        if not self.centered or not len(latest):
            return self._buffer[: self._n_filled]
        # The scatter around the common mean: both parts around their own, and the distance of the two.
        mean = latest.mean(0)
        between = math.sqrt(self._n_before * len(latest) / self.n) * (mean - self._mean_before)
        return np.vstack([self._buffer[: self._n_sketched], latest - mean, between])

    def update(self, row: Array) -> None:
        """Take one more row of shape (d,) into account; its entries must be finite."""
        if self._n_filled == len(self._buffer):
            self._make_room(len(row))
        self._buffer[self._n_filled] = row
        self._n_filled += 1

    def _make_room(self, d: int) -> None:
        if d > len(self._mean_before):
            self.extend(d - len(self._mean_before))
        if len(self._buffer) < 2 * self.size:
            grown = np.zeros((min(2 * self.size, max(8, 2 * len(self._buffer))), d))
            grown[: self._n_filled] = self._buffer[: self._n_filled]
            self._buffer = grown
            return
        rows = self.rows
        if d <= self.size:
            # Fewer columns than rows kept: a triangular factor holds all there is to know.
            shrunk = np.linalg.qr(rows, mode="r")
        else:
            # The eigenvectors of the small Gram matrix are the left singular vectors of the rows.
            squares, left = np.linalg.eigh(rows @ rows.T)
            top = squares[-self.size :]
            rest = np.maximum(top - max(squares[-self.size - 1], 0.0), 0.0)
            scale = np.sqrt(np.divide(rest, top, out=np.zeros_like(top), where=top > 0))
            shrunk = (left[:, -self.size :] * scale).T @ rows
        self._mean_before, self._n_before = self.mean, self.n
        self._n_sketched = self._n_filled = len(shrunk)
        self._buffer[: len(shrunk)] = shrunk

    def row_space(self, tolerance: float = 1e-7) -> tuple[Array, Array]:
        """Right singular vectors of B and their singular values, shapes (d, r) and (r,).

        The rank r is the number of singular values above `tolerance` times the largest one; below 1e-8 the sketch
        cannot tell a direction from rounding. Costs O(ℓ²d).
        """
        _, strengths, directions = np.linalg.svd(self.rows, full_matrices=False)
        r = _rank(strengths, tolerance)
        return directions[:r].T, strengths[:r]

    def regression(self, inputs: Mask, outputs: Mask, ridge: float) -> tuple[Array, Array]:
        """Ridge regression of some columns on others, from the sketch alone.

        Returns
        -------
        Factors F of shape (outputs, k) and G of shape (k, inputs) with outputs ≈ F G inputs, both relative to the
        mean. With $B_i$ and $B_o$ the columns of inputs and outputs, it is
        $F = B_o^T$ and $G = (B_i B_i^T + \\rho I)^{-1} B_i$, which equals the ridge solution
        $B_o^T B_i (B_i^T B_i + \\rho I)^{-1}$, and the conditional mean of a Gaussian whose covariance is BᵀB plus
        noise of variance ρ. At ρ = 0 it is the least squares solution of smallest norm. Costs O(ℓ²d).

        """
        given: Array = self.rows[:, inputs]
        asked: Array = self.rows[:, outputs]
        if ridge == 0:
            left, strengths, right = np.linalg.svd(given, full_matrices=False)
            r = _rank(strengths, _EPS * max(given.shape))
            return asked.T, (left[:, :r] / strengths[:r]) @ right[:r]
        narrow = given.shape[1] < given.shape[0]
        gram = given.T @ given if narrow else given @ given.T
        # Beside entries so large that the ridge is lost in rounding, a share of them takes its place.
        gram.flat[:: len(gram) + 1] += ridge + _ROUNDING * float(gram.trace())
        solution = np.asarray(np.linalg.solve(gram, given.T @ asked if narrow else given), dtype=np.float64)
        return (solution.T, np.eye(len(gram))) if narrow else (asked.T, solution)

    def extend(self, n: int) -> None:
        """Append n columns that were 0 in all rows so far."""
        self._mean_before = np.append(self._mean_before, np.zeros(n))
        self._buffer = np.hstack([self._buffer, np.zeros((len(self._buffer), n))])

    def rescale(self, factor: Array, shift: Array) -> None:
        """Tell all rows in other units, factor · row + shift; without `centered` there is no shift."""
        self._mean_before = factor * self._mean_before + shift
        self._buffer *= factor
        self._buffer[self._n_sketched : self._n_filled] += shift

    def keep(self, columns: Mask) -> None:
        """Drop all other columns."""
        self._mean_before = self._mean_before[columns]
        self._buffer = np.ascontiguousarray(self._buffer[:, columns])


def _rank(strengths: Array, tolerance: float) -> int:
    """How many singular values are more than rounding."""
    largest = strengths[0] if strengths.size else 0.0
    return int(np.count_nonzero(strengths > max(tolerance * largest, _SMALLEST)))
