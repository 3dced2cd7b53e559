"""What do some entries of a row say about the others, if rows are Gaussian?"""

from __future__ import annotations

import dataclasses
import functools
import typing

import numpy as np
from scipy.linalg import lapack

from ..values import Array, Mask
from .linear_map import Affine


@dataclasses.dataclass(frozen=True)
class Gaussian:
    """A normal law of rows: conditional means, and the covariance of what they leave open.

    With mean m, covariance Σ and K = Σ⁻¹, the absent entries a of a row have, given the observed ones o, the mean and
    the covariance

    $$m_a - K_{aa}^{-1} K_{ao} (x_o - m_o) = m_a + \\Sigma_{ao} \\Sigma_{oo}^{-1} (x_o - m_o), \\qquad
    K_{aa}^{-1} = \\Sigma_{aa} - \\Sigma_{ao} \\Sigma_{oo}^{-1} \\Sigma_{oa}.$$

    The first form is a system of as many equations as entries are absent, the second one of as many as are observed.
    The smaller one is solved; K costs O(d³) once, when it is first needed.

    Parameters
    ----------
    mean
        Shape (d,).
    covariance
        Shape (d, d), positive definite.

    Examples
    --------
    >>> import numpy as np
    >>> from river_pufe.recovery.gaussian import Gaussian
    >>> gaussian = Gaussian(mean=np.array([0.0, 1.0]), covariance=np.array([[1.0, 0.8], [0.8, 1.0]]))
    >>> values, covariance = gaussian.condition(np.array([2.0, np.nan]), absent=np.array([False, True]))
    >>> values.round(2), covariance.round(2)
    (array([2.6]), array([[0.36]]))

    References
    ----------
    [^1]: Rue, H. and Held, L., 2005. Gaussian Markov Random Fields. Chapman and Hall, section 2.2.

    """

    mean: Array
    covariance: Array

    def __getstate__(self) -> dict[str, typing.Any]:
        # The precision follows from the covariance, and asking for it must not change the state.
        return {"mean": self.mean, "covariance": self.covariance}

    @functools.cached_property
    def precision(self) -> Array:
        """K = Σ⁻¹, shape (d, d)."""
        return inverse(self.covariance)

    def complete(self, row: Array, absent: Mask) -> Array:
        """A new row in which the absent entries are their conditional means; shape (d,), as the row."""
        completed = row.copy()
        a, o = np.flatnonzero(absent), np.flatnonzero(~absent)
        if 2 * len(a) <= len(row):
            apart = row - self.mean
            apart[a] = 0.0
            across = self.precision[a]
            completed[a] = self.mean[a] - _solve(across[:, a], across @ apart)
        else:
            across = self.covariance[o]
            completed[a] = self.mean[a] + across[:, a].T @ _solve(across[:, o], row[o] - self.mean[o])
        return completed

    def condition(self, row: Array, absent: Mask) -> tuple[Array, Array]:
        """Mean and covariance of the absent entries given the others, shapes (a,) and (a, a)."""
        return self.complete(row, absent)[absent], self.conditional_covariance(absent)

    def conditional_covariance(self, absent: Mask) -> Array:
        """Covariance of the absent entries given the others, whatever these are; shape (a, a)."""
        a, o = np.flatnonzero(absent), np.flatnonzero(~absent)
        if 2 * len(a) <= len(absent):
            return inverse(self.precision[np.ix_(a, a)])
        across = self.covariance[o]
        left = across[:, a]
        covariance: Array = self.covariance[np.ix_(a, a)] - left.T @ _solve(across[:, o], left)
        return covariance

    def predict(self, outputs: Mask) -> Affine:
        """The map from all other entries to `outputs`, and the covariance of what it leaves open."""
        a, o = np.flatnonzero(outputs), np.flatnonzero(~outputs)
        across = self.covariance[np.ix_(o, a)]
        matrix = _solve(self.covariance[np.ix_(o, o)], across).T
        covariance = self.covariance[np.ix_(a, a)] - matrix @ across
        return Affine.from_matrix(matrix, self.mean[a] - matrix @ self.mean[o], covariance)

    def residuals(self, row: Array) -> tuple[Array, Array]:
        """How far each entry is from its conditional mean given all others, and the variance of that; shapes (d,).

        $r_j = (K (x - m))_j / K_{jj}$, whose variance is $1 / K_{jj}$.
        """
        variance = 1.0 / self.precision.diagonal()
        return variance * (self.precision @ (row - self.mean)), variance

    def keep(self, slots: Mask) -> Gaussian:
        """The law of some entries alone."""
        return Gaussian(self.mean[slots], self.covariance[np.ix_(slots, slots)])

    def rescale(self, factor: Array, shift: Array) -> Gaussian:
        """The law of factor · row + shift."""
        return Gaussian(factor * self.mean + shift, self.covariance * factor[:, None] * factor)

    def extend(self, n: int) -> Gaussian:
        """The law with n more entries of mean 0 and variance 1, independent of all others."""
        d = len(self.mean)
        covariance = np.eye(d + n)
        covariance[:d, :d] = self.covariance
        return Gaussian(np.append(self.mean, np.zeros(n)), covariance)


def _solve(matrix: Array, right: Array) -> Array:
    """Solution of a positive definite system."""
    if not right.size or not len(matrix):
        return np.zeros_like(right)
    _, solution, failed = lapack.dposv(matrix, right)
    return np.linalg.lstsq(matrix, right, rcond=None)[0] if failed else solution


def inverse(matrix: Array) -> Array:
    """Inverse of a positive definite matrix."""
    if not len(matrix):
        return np.zeros_like(matrix)
    factor, failed = lapack.dpotrf(matrix, lower=1)
    if failed:
        return np.linalg.pinv(matrix, hermitian=True)
    result, _ = lapack.dpotri(factor, lower=1, overwrite_c=1)
    below = np.tril(result, -1)
    below += below.T
    below.flat[:: len(below) + 1] = result.diagonal()
    return below
