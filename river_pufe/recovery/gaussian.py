"""What do some entries of a row say about the others, if rows are Gaussian?"""

from __future__ import annotations

import dataclasses
import typing

import numpy as np
from scipy.linalg import lapack

from .. import kernels
from ..state.parts import Stored
from ..values import Array, Mask
from .linear_map import Affine

#: Share of a variance that may be rounding.
_ROUNDING = 1e-12


@dataclasses.dataclass
class Gaussian(Stored):
    """A normal law of rows, of which the covariance is kept in full. It is never changed.

    With mean m, covariance Σ and K = Σ⁻¹, the absent entries a of a row have, given the observed ones o, the mean and
    the covariance

    $$m_a - K_{aa}^{-1} K_{ao} (x_o - m_o) = m_a + \\Sigma_{ao} \\Sigma_{oo}^{-1} (x_o - m_o), \\qquad
    K_{aa}^{-1} = \\Sigma_{aa} - \\Sigma_{ao} \\Sigma_{oo}^{-1} \\Sigma_{oa}.$$

    On the left is a system of as many equations as entries are absent, on the right one of as many as are observed;
    the smaller one is solved. K costs O(d³), once, when it is first needed.

    Parameters
    ----------
    mean
        Shape (d,).
    covariance
        Shape (d, d), positive definite.

    Attributes
    ----------
    precision
        K, shape (d, d).

    Examples
    --------
    >>> import numpy as np
    >>> from river_pufe.recovery.gaussian import Gaussian
    >>> gaussian = Gaussian(mean=np.array([0.0, 1.0]), covariance=np.array([[1.0, 0.8], [0.8, 1.0]]))
    >>> absent = np.array([False, True])
    >>> gaussian.complete(np.array([2.0, np.nan]), absent)
    array([2. , 2.6])
    >>> gaussian.conditional_covariance(absent).round(2)
    array([[0.36]])

    References
    ----------
    [^1]: Rue, H. and Held, L., 2005. Gaussian Markov Random Fields. Chapman and Hall, section 2.2.

    """

    DERIVED: typing.ClassVar[tuple[str, ...]] = ("_precision",)

    mean: Array
    covariance: Array

    def __post_init__(self) -> None:
        self._precision: Array | None = None

    def stored(self) -> dict[str, typing.Any]:
        return {"mean": self.mean, "covariance": packed(self.covariance)}

    def rebuild(self) -> None:
        self.covariance = unpacked(self.covariance)
        self.__post_init__()

    @property
    def precision(self) -> Array:
        if self._precision is None:
            self._precision = kernels.inverse(self.covariance)
        return self._precision

    @classmethod
    def standard(cls, d: int) -> Gaussian:
        """Independent entries of mean 0 and variance 1."""
        return cls(np.zeros(d), np.eye(d))

    def complete(self, row: Array, absent: Mask) -> Array:
        """A new row in which the absent entries are their means given the others; shape (d,), as the row."""
        return kernels.complete(row, absent, self.mean, self.covariance, self.precision)

    def expect(self, rows: Array, weights: Array) -> tuple[Array, Array]:
        """Rows as they are expected, and the weighted sum of the covariances of what is absent.

        Parameters
        ----------
        rows
            Shape (n, d), NaN where absent.
        weights
            How much each row counts, shape (n,).

        Returns
        -------
        Shapes (n, d) and (d, d).

        """
        if not np.count_nonzero(np.isnan(rows)):
            return rows, np.zeros(self.covariance.shape)
        return kernels.expect(rows, self.mean, self.covariance, self.precision, weights)

    def conditional_covariance(self, absent: Mask) -> Array:
        """Covariance of the absent entries given the others, whatever these are; shape (a, a)."""
        _, spread = self.expect(np.where(absent, np.nan, self.mean)[None], np.ones(1))
        return spread[np.ix_(absent, absent)]

    def variance(self, absent: Mask) -> Array:
        """The diagonal of the conditional covariance, shape (a,)."""
        return self.conditional_covariance(absent).diagonal()

    def predict(self, outputs: Mask) -> Affine:
        """The map from all other entries to `outputs`, and the covariance of what it leaves open."""
        a, o = np.flatnonzero(outputs), np.flatnonzero(~outputs)
        given = self.covariance[o[:, None], a]
        matrix = solve(self.covariance[o[:, None], o], given).T
        covariance = self.covariance[a[:, None], a] - matrix @ given
        return Affine.from_matrix(matrix, self.mean[a] - matrix @ self.mean[o], covariance)

    def given_others(self, row: Array) -> tuple[Array, Array]:
        """What each entry should be given all others that are there, and the variance of that; shapes (d,).

        With K the inverse of the covariance of what is there, an entry is $r_j = (K (x - m))_j / K_{jj}$ away from its
        mean given the others, with the variance $1 / K_{jj}$.

        Parameters
        ----------
        row
            Shape (d,), NaN where absent.

        """
        absent = np.isnan(row)
        o = np.flatnonzero(~absent)
        means, variances = self.complete(row, absent), np.zeros(len(row))
        variances[absent] = self.variance(absent)
        # In units of their deviations, so that no entry is lost beside another one.
        units = np.sqrt(self.covariance.diagonal()[o])
        units[units == 0.0] = 1.0
        precision = kernels.inverse(
            self.covariance[o[:, None], o] / units / units[:, None] + _ROUNDING * np.eye(len(o))
        )
        own = 1.0 / np.maximum(precision.diagonal(), 1.0)
        variances[o] = np.square(units) * own
        means[o] = row[o] - units * own * (precision @ ((row[o] - self.mean[o]) / units))
        return means, variances

    def keep(self, slots: Mask) -> Gaussian:
        """The law of some entries alone."""
        return Gaussian(self.mean[slots], self.covariance[np.ix_(slots, slots)])

    def rescale(self, factor: Array, shift: Array) -> Gaussian:
        """The law of factor · row + shift."""
        return Gaussian(factor * self.mean + shift, self.covariance * np.outer(factor, factor))

    def extend(self, n: int) -> Gaussian:
        """The law with n more entries of mean 0 and variance 1, independent of all others."""
        d = len(self.mean)
        covariance = np.eye(d + n)
        covariance[:d, :d] = self.covariance
        return Gaussian(np.append(self.mean, np.zeros(n)), covariance)

    def noisier(self, variance: float) -> Gaussian:
        """The law of rows with as much independent noise on top."""
        covariance = self.covariance.copy()
        covariance.flat[:: len(covariance) + 1] += variance
        return Gaussian(self.mean, covariance)


def solve(matrix: Array, right: Array) -> Array:
    """Solution of a positive definite system."""
    if not right.size:
        return np.zeros_like(right)
    _, solution, failed = lapack.dposv(matrix, right)
    return np.asarray(np.linalg.lstsq(matrix, right, rcond=None)[0] if failed else solution, dtype=np.float64)


def packed(symmetric: Array) -> Array:
    """The entries of a symmetric matrix on and below the diagonal, row by row; shape (d (d + 1) / 2,)."""
    return symmetric[np.tril_indices(len(symmetric))]


def unpacked(entries: Array) -> Array:
    """The symmetric matrix with these entries."""
    d = int((2 * len(entries)) ** 0.5)
    lower = np.zeros((d, d))
    lower[np.tril_indices(d)] = entries
    return lower + np.tril(lower, -1).T
