"""What do some entries of a row say about the others, where there are too many for a covariance matrix?"""

from __future__ import annotations

import dataclasses

import numpy as np
from scipy import linalg

from ..values import Array, Mask
from .gaussian import Gaussian, solve
from .linear_map import Affine


@dataclasses.dataclass
class LowRankGaussian:
    """A normal law of rows with the covariance of a factor model, $F^T F + \\mathrm{diag}(\\psi)$. It is never changed.

    With k factors, the absent entries a given the observed ones o are

    $$m_a + F_a^T M^{-1} F_o \\mathrm{diag}(\\psi_o)^{-1} (x_o - m_o), \\qquad
    M = I + F_o \\mathrm{diag}(\\psi_o)^{-1} F_o^T,$$

    with the covariance $F_a^T M^{-1} F_a + \\mathrm{diag}(\\psi_a)$. Costs O(k²d), and O(kd) in memory.

    Parameters
    ----------
    mean
        Shape (d,).
    factors
        F, shape (k, d).
    noise
        ψ, shape (d,), above 0.

    """

    mean: Array
    factors: Array
    noise: Array

    def _given(self, observed: Mask) -> tuple[Array, Array]:
        """M, and F_o divided by the noise."""
        factors = self.factors[:, observed]
        weighted = factors / self.noise[observed]
        return weighted @ factors.T + np.eye(len(factors)), weighted

    def complete(self, row: Array, absent: Mask) -> Array:
        """A new row in which the absent entries are their means given the others; shape (d,), as the row."""
        observed = ~absent
        matrix, weighted = self._given(observed)
        completed = row.copy()
        hidden = solve(matrix, weighted @ (row[observed] - self.mean[observed]))
        completed[absent] = self.mean[absent] + self.factors[:, absent].T @ hidden
        return completed

    def complete_with_variance(self, row: Array, absent: Mask) -> tuple[Array, float]:
        """As `complete`, and the sum of the variances of the absent entries, in one go."""
        observed = ~absent
        matrix, weighted = self._given(observed)
        factors, completed = self.factors[:, absent], row.copy()
        apart = weighted @ (row[observed] - self.mean[observed])
        # M⁻¹ of both; the trace of M⁻¹ F_a F_aᵀ is that of F_aᵀ M⁻¹ F_a.
        solved = solve(matrix, np.column_stack([apart, factors @ factors.T]))
        completed[absent] = self.mean[absent] + factors.T @ solved[:, 0]
        return completed, float(self.noise[absent].sum() + solved[:, 1:].trace())

    def variance(self, absent: Mask) -> Array:
        """Variances of the absent entries given the others, whatever these are; shape (a,)."""
        variance: Array = self.noise[absent] + np.square(self.deviations(absent)).sum(0)
        return variance

    def deviations(self, absent: Mask) -> Array:
        """Deviations of the absent entries, whose squares add up to their covariance without noise; shape (k, a)."""
        matrix, _ = self._given(~absent)
        factors = self.factors[:, absent]
        try:
            root = np.linalg.cholesky(matrix)
        except np.linalg.LinAlgError:
            # Rounding, where factors are far larger than the noise. But for that no eigenvalue is below 1.
            sizes, directions = np.linalg.eigh(matrix)
            scaled: Array = directions.T @ factors / np.sqrt(np.maximum(sizes, 1.0))[:, None]
            return scaled
        # With M = L Lᵀ they are L⁻¹ F_a.
        deviations: Array = linalg.solve_triangular(root, factors, lower=True)
        return deviations

    def given_others(self, row: Array) -> tuple[Array, Array]:
        """What each entry should be given all others that are there, and the variance of that; shapes (d,)."""
        absent = np.isnan(row)
        observed = ~absent
        matrix, weighted = self._given(observed)
        means, variances = self.complete(row, absent), np.zeros(len(row))
        variances[absent] = self.variance(absent)
        # K = diag(1 / ψ) - Wᵀ M⁻¹ W for what is there, with W the factors divided by the noise.
        noise, apart = self.noise[observed], row[observed] - self.mean[observed]
        solved = solve(matrix, weighted)
        own = 1.0 / (1.0 / noise - (weighted * solved).sum(0))
        variances[observed] = own
        means[observed] -= own * (apart / noise - weighted.T @ (solved @ apart))
        return means, variances

    def predict(self, outputs: Mask) -> Affine:
        """The map from all other entries to `outputs`, and the variances of what it leaves open."""
        inputs = ~outputs
        matrix, weighted = self._given(inputs)
        left, right = self.factors[:, outputs].T, solve(matrix, weighted)
        offset = self.mean[outputs] - left @ (right @ self.mean[inputs])
        return Affine(left, right, offset, self.variance(outputs))

    def keep(self, slots: Mask) -> LowRankGaussian:
        """The law of some entries alone."""
        return LowRankGaussian(self.mean[slots], self.factors[:, slots], self.noise[slots])

    def rescale(self, factor: Array, shift: Array) -> LowRankGaussian:
        """The law of factor · row + shift."""
        return LowRankGaussian(factor * self.mean + shift, factor * self.factors, factor * factor * self.noise)

    def extend(self, n: int) -> LowRankGaussian:
        """The law with n more entries of mean 0 and variance 1, independent of all others."""
        factors = np.hstack([self.factors, np.zeros((len(self.factors), n))])
        return LowRankGaussian(np.append(self.mean, np.zeros(n)), factors, np.append(self.noise, np.ones(n)))

    @property
    def total(self) -> float:
        """The sum of all variances."""
        return float(self.noise.sum() + np.square(self.factors).sum())

    @classmethod
    def from_full(cls, gaussian: Gaussian, k: int) -> LowRankGaussian:
        """The law with the k strongest factors of a covariance, and the same variances."""
        strengths, directions = np.linalg.eigh(gaussian.covariance)
        factors = np.sqrt(np.maximum(strengths[-k:], 0.0))[:, None] * directions[:, -k:].T
        left = gaussian.covariance.diagonal() - np.square(factors).sum(0)
        return cls(gaussian.mean, factors, np.maximum(left, 1e-3 * gaussian.covariance.diagonal()))

    def full(self) -> Gaussian:
        """The same law with its covariance in full."""
        covariance = self.factors.T @ self.factors
        covariance.flat[:: len(covariance) + 1] += self.noise
        return Gaussian(self.mean, covariance)
