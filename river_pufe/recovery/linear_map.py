"""How do the rows of one space follow from those of another?"""

from __future__ import annotations

import dataclasses

import numpy as np

from .. import kernels
from ..part import Part
from ..sketch import FrequentDirections
from ..values import Array, Mask

#: Coefficients are cut to this, so that maps of maps, and squares of them, stay finite.
_FARTHEST = 1e70


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
    covariance
        Covariance of what the map leaves open, shape (outputs, outputs), or its diagonal; NaN where it is not known.

    """

    left: Array
    right: Array
    offset: Array
    covariance: Array

    def __post_init__(self) -> None:
        self.left, self.right, self.offset = _bounded(self.left), _bounded(self.right), _bounded(self.offset)

    @classmethod
    def from_matrix(cls, matrix: Array, offset: Array, covariance: Array) -> Affine:
        """The map x ↦ offset + matrix x."""
        outputs, inputs = matrix.shape
        if outputs <= inputs:
            return cls(np.eye(outputs), matrix, offset, covariance)
        return cls(matrix, np.eye(inputs), offset, covariance)

    @property
    def variance(self) -> Array:
        """The diagonal of the covariance, shape (outputs,)."""
        return self.covariance if self.covariance.ndim == 1 else self.covariance.diagonal().copy()

    def __call__(self, row: Array) -> Array:
        return self.offset + self.left @ (self.right @ row)

    def pull_back(self, weights: Array) -> tuple[Array, Array]:
        """Weights on the inputs, and the constant, that equal given weights on the outputs.

        A linear model on mapped rows is linear in the rows themselves: w·(offset + F G x) = w·offset + (Gᵀ Fᵀ w)·x.
        """
        return self.right.T @ (self.left.T @ weights), self.offset @ weights

    def uncorrelated(self) -> Affine:
        """The same map, of whose covariance only the diagonal is kept."""
        return dataclasses.replace(self, covariance=self.variance)

    def compose(self, kept: Mask, dropped: Affine) -> Affine:
        """This map after another one: some of its inputs are kept, the others computed from those by `dropped`.

        What either leaves open adds up; of the covariance the diagonal is kept.
        """
        through = self.right[:, ~kept]
        error = self.left @ through
        if dropped.covariance.ndim == 1:
            carried = np.square(error) @ dropped.covariance
        else:
            carried = np.einsum("oi,ij,oj->o", error, dropped.covariance, error)
        return Affine(
            self.left,
            self.right[:, kept] + (through @ dropped.left) @ dropped.right,
            self.offset + self.left @ (through @ dropped.offset),
            self.variance + carried,
        )

    def rescale(self, factor: Array, shift: Array) -> None:
        """Take inputs in other units, factor · x + shift for x."""
        # What is beyond all floats is bounded as well.
        with np.errstate(over="ignore"):
            self.right = _bounded(self.right / factor)
            self.offset = _bounded(self.offset - self.left @ (self.right @ shift))

    def extend(self, n: int) -> None:
        """Append n inputs that count for nothing."""
        self.right = np.hstack([self.right, np.zeros((len(self.right), n))])


def _bounded(coefficients: Array) -> Array:
    return kernels.clip(coefficients, _FARTHEST)


class LinearMap(Part):
    """Least squares from some entries of a row to the others, from a sketch of earlier rows.

    **When to use it.** Where two feature spaces are seen together for a while, to compute the one from the other
    later. Which entries are given and which are asked may be decided at the end.

    The solution is $P = (X^T X + \\rho I)^{-1} X^T Y$ for centered inputs X and outputs Y, exact while the sketch has
    lost nothing. Costs O(ℓ²d) with ℓ rows of the sketch.

    Parameters
    ----------
    ridge
        Penalty ρ on squared coefficients, in units of one row. At 0 the pseudo-inverse is used (the paper's map),
        which needs more rows than inputs; towards infinity the map forgets its inputs and answers the mean.

    Examples
    --------
    >>> import numpy as np
    >>> from river_pufe.recovery.linear_map import LinearMap
    >>> from river_pufe.sketch import FrequentDirections
    >>> rng = np.random.default_rng(0)
    >>> sketch = FrequentDirections(centered=True)
    >>> for x in rng.normal(size=(20, 2)):
    ...     sketch.update(np.array([x[0], x[1], 1 + x[0] - 2 * x[1]]))
    >>> recover = LinearMap(ridge=0).solve(sketch, outputs=np.array([False, False, True]))
    >>> recover(np.array([3.0, 1.0]))
    array([2.])

    """

    def __init__(self, ridge: float = 1.0) -> None:
        if not ridge >= 0:
            raise ValueError(f"ridge is a penalty, 0 or more, not {ridge!r}")
        self.ridge = ridge

    def solve(self, sketch: FrequentDirections, outputs: Mask) -> Affine:
        """The map from all other entries of a row to `outputs`, a mask of shape (d,)."""
        inputs = ~outputs
        left, right = sketch.regression(inputs, outputs, self.ridge)
        mean = sketch.mean
        unknown = np.full(len(left), np.nan)
        return Affine(left, right, mean[outputs] - left @ (right @ mean[inputs]), unknown)
