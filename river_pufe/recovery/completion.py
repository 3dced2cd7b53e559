"""What do the absent entries of a row read, given the observed ones?

`RowSpace` is the paper's way, from what a sketch says about the rows of the same space; the default is that of
`GaussianRows`. `incoherence` and `sample_bound` are the
quantities of Theorem 1 of the paper, which says how many observed entries suffice.
"""

from __future__ import annotations

import abc
import math

import numpy as np

from ..part import Part
from ..sketch import FrequentDirections
from ..values import Array, Mask

#: A share of a direction that is no larger than this is rounding.
_ROUNDING = 1e-12


class Completion(Part, abc.ABC):
    """A way to fill the absent entries of a row."""

    @abc.abstractmethod
    def complete(self, row: Array, absent: Mask, sketch: FrequentDirections) -> Array | None:
        """Complete a row.

        Parameters
        ----------
        row
            Shape (d,); what stands at absent positions is not read.
        absent
            Which entries are absent, shape (d,).
        sketch
            Sketch of earlier rows of the same space.

        Returns
        -------
        A new row of shape (d,), or None if too few entries are observed.

        """


class RowSpace(Completion):
    """Least squares on the row space of the earlier rows: Algorithm 3 of the paper.

    **When to use it.** To have the paper's method to the letter, or when the rows are known to have low rank.

    With V the r right singular vectors of the earlier rows it is $V (V_o^T V_o)^{-1} V_o^T x_o$, observed entries
    included; a pseudo-inverse stands in where $V_o^T V_o$ is singular. Costs O(ℓ²d).

    Parameters
    ----------
    min_observed
        Rows with fewer observed entries are not completed. None is the rank r, with fewer the solution is not unique.
    tolerance
        Singular values below this share of the largest one do not count, neither for the rank nor in the least squares.

    Examples
    --------
    >>> import numpy as np
    >>> from river_pufe.recovery.completion import RowSpace
    >>> from river_pufe.sketch import FrequentDirections
    >>> sketch = FrequentDirections(size=4)
    >>> for t in range(1, 9):
    ...     sketch.update(np.array([t, 2.0 * t, 3.0 * t]))
    >>> row, absent = np.array([1.0, np.nan, np.nan]), np.array([False, True, True])
    >>> RowSpace().complete(row, absent, sketch)
    array([1., 2., 3.])

    References
    ----------
    [^1]: Hou, B.J., Zhang, L. and Zhou, Z.H., 2021. Prediction with Unpredictable Feature Evolution. IEEE TNNLS.

    """

    def __init__(self, min_observed: int | None = None, tolerance: float = 1e-7) -> None:
        if min_observed is not None and not min_observed >= 1:
            raise ValueError(f"min_observed is a number of entries, 1 or more, or None, not {min_observed!r}")
        if not 0 <= tolerance < 1:
            raise ValueError(f"tolerance is a share in [0, 1), not {tolerance!r}")
        self.min_observed = min_observed
        self.tolerance = tolerance

    def complete(self, row: Array, absent: Mask, sketch: FrequentDirections) -> Array | None:
        directions, _ = sketch.row_space(self.tolerance)
        observed = ~absent
        needed = directions.shape[1] if self.min_observed is None else self.min_observed
        if np.count_nonzero(observed) < needed:
            return None
        mean = sketch.mean
        left, shown, right = np.linalg.svd(directions[observed], full_matrices=False)
        # Of what the observed entries show only by rounding they say nothing.
        enough = shown > max(self.tolerance, _ROUNDING)
        coordinates = (left.T @ (row[observed] - mean[observed]))[enough] / shown[enough]
        completed: Array = mean + directions @ (right[enough].T @ coordinates)
        return completed


def incoherence(rows: Array, rank: int | None = None) -> float:
    """Incoherence μ(r) of a matrix, the largest over both factors of its singular value decomposition.

    $$\\mu(r) = \\max\\left(\\max_i \\frac{n}{r} \\lVert U_{(i)} \\rVert^2,
    \\max_i \\frac{d}{r} \\lVert V_{(i)} \\rVert^2\\right)$$

    It is 1 where every row and column weighs alike, and max(n, d)/r where one stands alone: such an entry cannot be
    inferred from the others.

    Parameters
    ----------
    rows
        The matrix, shape (n, d).
    rank
        Number of directions r. None is the numerical rank.

    Examples
    --------
    >>> import numpy as np
    >>> from river_pufe.recovery.completion import incoherence
    >>> incoherence(np.ones((4, 6)))
    1.0
    >>> incoherence(np.eye(5)[:1])
    5.0

    """
    left, strengths, right = np.linalg.svd(np.asarray(rows, dtype=float), full_matrices=False)
    numerical = int(np.sum(strengths > strengths[0] * max(left.shape[0], right.shape[1]) * np.finfo(float).eps))
    r = numerical if rank is None else rank
    if not 1 <= r <= len(strengths):
        raise ValueError(f"rank is a number of directions between 1 and {len(strengths)}, not {r!r}")
    n, d = left.shape[0], right.shape[1]
    return float(max(n / r * np.max(np.sum(left[:, :r] ** 2, 1)), d / r * np.max(np.sum(right[:r] ** 2, 0))))


def sample_bound(rank: int, overlap: int, incoherence: float, delta: float = 0.05) -> float:
    """Observed entries per row that suffice for exact completion: Theorem 1 of the paper.

    With $s \\ge 7 \\mu(r) r \\ln(r b / \\delta)$ entries observed at random in each of the b rows of the overlap, all
    of them are completed exactly with probability 1 - δ, if the rows have rank r. The bound is loose: r entries in
    general position are enough in practice.

    Parameters
    ----------
    rank
        Rank r of the earlier rows.
    overlap
        Number b of rows in the overlap.
    incoherence
        Incoherence μ(r) of the earlier rows.
    delta
        Probability δ with which it may fail.

    Examples
    --------
    >>> from river_pufe.recovery.completion import sample_bound
    >>> round(sample_bound(rank=2, overlap=20, incoherence=1.2), 1)
    112.3

    """
    if not rank >= 1 or not overlap >= 1:
        raise ValueError(f"rank and overlap are 1 or more, not {rank!r} and {overlap!r}")
    if not 0 < delta < 1:
        raise ValueError(f"delta is a probability in (0, 1), not {delta!r}")
    return 7 * incoherence * rank * math.log(rank * overlap / delta)
