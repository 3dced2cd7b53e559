"""How do the rows of one space follow from those of another?"""

from __future__ import annotations

import dataclasses

import numpy as np
from river import base

from .sketch import Array, FrequentDirections, Mask


@dataclasses.dataclass
class Affine:
    """The map x ↦ offset + left (right x), of low rank and kept as factors.

    Parameters
    ----------
    left
        Shape (outputs, k).
    right
        Shape (k, inputs).
    offset
        Shape (outputs,).

    """

    left: Array
    right: Array
    offset: Array

    def __call__(self, row: Array) -> Array:
        return self.offset + self.left @ (self.right @ row)

    def pull_back(self, weights: Array) -> tuple[Array, Array]:
        """Weights on the inputs, and the constant, that equal given weights on the outputs.

        A linear model on mapped rows is linear in the rows themselves: w·(offset + F G x) = w·offset + (Gᵀ Fᵀ w)·x.
        """
        return self.right.T @ (self.left.T @ weights), self.offset @ weights

    def after(self, kept: Mask, dropped: Affine) -> Affine:
        """This map behind another one: some of its inputs are kept, the others computed from those."""
        through = self.right[:, ~kept]
        return Affine(
            self.left,
            self.right[:, kept] + (through @ dropped.left) @ dropped.right,
            self.offset + self.left @ (through @ dropped.offset),
        )

    def rescale(self, factor: Array, shift: Array) -> None:
        """Take inputs in other units, factor · x + shift for x."""
        self.right = self.right / factor
        self.offset = self.offset - self.left @ (self.right @ shift)

    def extend(self, n: int) -> None:
        """Append n inputs that count for nothing."""
        self.right = np.hstack([self.right, np.zeros((len(self.right), n))])


class LinearMap(base.Base):
    """Least squares from some entries of a row to the others, learned from one row after another.

    **When to use it.** Where two feature spaces are seen together for a while, to compute the one from the other
    later. Which entries are given and which are asked may be decided at the end.

    The solution is $P = (X^T X + \\rho I)^{-1} X^T Y$ for centered inputs X and outputs Y, computed from a
    Frequent Directions sketch of both: exact while at most ℓ rows were seen, and O(ℓd) in memory and time per row.

    Parameters
    ----------
    ridge
        Penalty ρ on squared coefficients, in units of one row. At 0 the pseudo-inverse is used (the paper's map),
        which needs more rows than inputs; towards infinity the map forgets its inputs and answers the mean.
    intercept
        Whether the mean of the rows is taken out first.
    size
        Rows of the sketch, ℓ.

    Examples
    --------
    >>> import numpy as np
    >>> from river_pufe.linear_map import LinearMap
    >>> rng = np.random.default_rng(0)
    >>> linear_map = LinearMap(ridge=0)
    >>> for x in rng.normal(size=(20, 2)):
    ...     linear_map.update(np.array([x[0], x[1], 1 + x[0] - 2 * x[1]]))
    >>> recover = linear_map.solve(np.array([False, False, True]))
    >>> recover(np.array([3.0, 1.0]))
    array([2.])

    """

    def __init__(self, ridge: float = 1.0, intercept: bool = True, size: int = 32) -> None:
        if not ridge >= 0:
            raise ValueError(f"ridge is a penalty, 0 or more, not {ridge!r}")
        self.ridge = ridge
        self.intercept = intercept
        self.size = size
        self.sketch = FrequentDirections(size, centered=intercept)

    def update(self, row: Array) -> None:
        """Learn from one complete row of shape (d,), inputs and outputs in any order."""
        self.sketch.update(row)

    def solve(self, outputs: Mask) -> Affine:
        """The map from all other entries to `outputs`, a mask of shape (d,)."""
        inputs = ~outputs
        left, right = self.sketch.regression(inputs, outputs, self.ridge)
        mean = self.sketch.mean
        return Affine(left, right, mean[outputs] - left @ (right @ mean[inputs]))

    def __str__(self) -> str:
        return repr(self)
