"""How is the law of rows learned where there are too many features for a covariance matrix?"""

from __future__ import annotations

import typing

import numpy as np

from ..kernels import LEAST_NOISE, PENALTIES
from ..sketch import FrequentDirections
from ..values import Array, Mask
from .low_rank import LowRankGaussian
from .overlap import FEWEST
from .row_law import OverlapLaw, RowLaw
from .scatter import NOISE, PRIOR

#: Rows of the sketches.
SIZE = 32
#: A row of an overlap is used if less than this share of the variance of the previous features is missing.
_MISSING = 0.6


class WideScatter(RowLaw):
    """Mean, factors and noise of rows, from a sketch of them.

    The factors are the rows of a Frequent Directions sketch, which is exact in few directions and never overstates any.
    What they leave of the variance of an entry is its noise. A row with absent entries enters as its conditional mean
    plus one of the deviations that make up the conditional covariance, one after the other, so that completed rows do
    not confirm the estimate that completed them (as `Scatter` does in full).

    A row costs O(ℓd), and O(ℓ²d) if entries are absent, with ℓ = 32 rows of the sketch. Memory is O(ℓd).

    Parameters
    ----------
    belief
        What is believed before the first row.
    counts
        On how many rows the belief rests, as the attribute of this name.

    Attributes
    ----------
    law
        The present estimate.

    """

    DERIVED = ("law",)
    block = 16

    def __init__(self, belief: LowRankGaussian | None = None, counts: Array | None = None) -> None:
        self.counts: Array = counts if counts is not None else np.zeros((2, 0))
        # The belief, until the first row is learned.
        self._belief = belief
        self._sketch = FrequentDirections(SIZE, centered=True)
        self._sketch.extend(self.counts.shape[1])
        self._n = 0.0
        # Variance of the entries around their means.
        self._variance: Array = np.ones(self.counts.shape[1])
        self.rebuild()

    def rebuild(self) -> None:
        if self._belief is not None:
            self.law: LowRankGaussian = self._belief
            return
        n, d = max(self._sketch.n, 1), len(self._variance)
        factors = self._sketch.rows / n**0.5
        noise = np.maximum(self._variance - np.square(factors).sum(0), NOISE / (n + PRIOR))
        mean = np.array(self._sketch.mean) if self._sketch.n else np.zeros(d)
        self.law = LowRankGaussian(mean, factors, noise)

    def _believe(self, belief: LowRankGaussian) -> None:
        """Learn pairs of rows that have the mean and the factors of the belief."""
        self._belief = None
        for factor in belief.factors * len(belief.factors) ** 0.5:
            self._sketch.update(belief.mean + factor)
            self._sketch.update(belief.mean - factor)
        self._n = float(self._sketch.n)
        self._variance = belief.noise + np.square(belief.factors).sum(0)

    def learn(self, rows: Array, n_new: int) -> None:
        if self._belief is not None:
            self._believe(self._belief)
        new = rows[len(rows) - n_new :]
        seen = ~np.isnan(new)
        self.counts = self.counts + np.stack([seen.sum(0), np.full(new.shape[1], n_new)])
        for row, observed in zip(new, seen):
            apart = variance = np.zeros_like(row)
            if not observed.all():
                row, apart, variance = self._expect(row, ~observed)
            self._n += 1.0
            step = 1.0 / (self._n + PRIOR)
            self._variance = (1.0 - step) * (self._variance + step * np.square(row - self.law.mean))
            self._variance += step * variance
            self._sketch.update(row + apart)
        self.rebuild()

    def _expect(self, row: Array, absent: Mask) -> tuple[Array, Array, Array]:
        """A completed row, one of its deviations, and the variances of its entries; shapes (d,)."""
        apart, variance = np.zeros_like(row), np.zeros_like(row)
        deviations = self.law.deviations(absent)
        if k := len(deviations):
            # Each in its turn, up and down.
            turn, pick = divmod(int(self._n), k)
            apart[absent] = (-1.0) ** turn * k**0.5 * deviations[pick]
        variance[absent] = self.law.noise[absent] + np.square(deviations).sum(0)
        return self.law.complete(row, absent), apart, variance

    def settle(self, rows: Array, n: int) -> None:
        pass

    def extend(self, n: int) -> None:
        self.counts = np.hstack([self.counts, np.zeros((2, n))])
        self._belief = None if self._belief is None else self._belief.extend(n)
        self._sketch.extend(n)
        self._variance = np.append(self._variance, np.ones(n))
        self.rebuild()

    def keep(self, slots: Mask) -> None:
        self.counts = self.counts[:, slots]
        self._belief = None if self._belief is None else self._belief.keep(slots)
        self._sketch.keep(slots)
        self._variance = self._variance[slots]
        self.rebuild()

    def rescale(self, factor: Array, shift: Array) -> None:
        self._belief = None if self._belief is None else self._belief.rescale(factor, shift)
        self._sketch.rescale(factor, shift)
        self._variance = factor * factor * self._variance
        self.rebuild()


class WideOverlap(OverlapLaw):
    """The law of a previous and a current space, from rows in which both are seen.

    As `Overlap`, with what the factors say: where the previous rows are $m_P + F_P^T u$ and noise, the current ones are
    $c_0 + \\beta^T F_P^T u$ and noise, with the ridge regression $\\beta = G^T (G G^T + \\rho I)^{-1} H$ on the rows of
    the overlap. Rows from which most is absent do not count, and what is absent from the others is completed.

    A row costs O(ℓd), and what absent entries cost in a `LowRankGaussian`. Memory is O(ℓd).

    Parameters
    ----------
    previous
        The law of the previous space.
    counts
        In how many rows each of its features was seen, and could have been, shape (2, p).
    n_current
        Number of current features.

    Attributes
    ----------
    law
        The present estimate, of the previous features first.

    """

    def __init__(self, previous: LowRankGaussian, counts: Array, n_current: int) -> None:
        self.counts = np.hstack([counts, np.zeros((2, n_current))])
        self.law: LowRankGaussian = previous.extend(n_current)
        self._previous = previous
        self._settled = FrequentDirections(SIZE, centered=True)
        self._settled.extend(self.counts.shape[1])
        self._n = 0
        self._next = 1.0

    @classmethod
    def _unit_test_params(cls) -> typing.Iterator[dict[str, typing.Any]]:
        previous = LowRankGaussian(np.zeros(1), np.ones((1, 1)), np.ones(1))
        yield {"previous": previous, "counts": np.ones((2, 1)), "n_current": 1}

    @property
    def n_previous(self) -> int:
        return len(self._previous.mean)

    def renew(self, rows: Array) -> None:
        self.finish(rows)

    def settle(self, rows: Array, n: int) -> None:
        for row in self._expect(rows[:n]):
            self._settled.update(row)

    def _expect(self, rows: Array) -> Array:
        """The rows that count, each part completed from itself: across the map they would confirm what the map says."""
        p, seen = self.n_previous, ~np.isnan(rows)
        expected = []
        for row, observed in zip(rows, seen):
            if not observed[p:].any():
                continue
            previous, missing = self._previous.complete_with_variance(row[:p], ~observed[:p])
            if missing < _MISSING * self._previous.total:
                expected.append(np.where(observed, row, np.append(previous, self.law.mean[p:])))
        return np.array(expected).reshape(-1, rows.shape[1])

    def finish(self, rows: Array) -> None:
        latest = self._expect(rows)
        n = self._settled.n + len(latest)
        if n < FEWEST:
            return
        # All rows around their common mean.
        between = latest.mean(0) - self._settled.mean if len(latest) else np.zeros(rows.shape[1])
        mean = self._settled.mean + len(latest) / n * between
        between *= (self._settled.n * len(latest) / n) ** 0.5
        around = latest - latest.mean(0) if len(latest) else latest
        self._fit(np.vstack([self._settled.rows.reshape(-1, rows.shape[1]), around, between]), mean, n)

    def _fit(self, rows: Array, mean: Array, n: float) -> None:
        before, p = self._previous, self.n_previous
        given, asked = rows[:, :p], rows[:, p:]
        # The rows are turned so that they are independent; the penalty is that of the largest marginal likelihood.
        strengths, turn = np.linalg.eigh(given @ given.T)
        given, asked, freedom = turn.T @ given, turn.T @ asked, n - 1.0
        left = 1.0 / (1.0 + np.maximum(strengths, 0.0)[:, None] / PENALTIES)
        rest = np.maximum(np.square(asked).T @ left / freedom, LEAST_NOISE)
        evidence = asked.shape[1] * np.log(left).sum(0) - freedom * np.log(rest).sum(0)
        best = evidence.argmax()
        # β = coefficientsᵀ asked.
        coefficients = given * (left[:, best, None] / PENALTIES[best])
        factors = before.factors @ coefficients.T
        # The expected leverage of a row, ρ⁻¹ tr(Σ (I - Gᵀ (G Gᵀ + ρ I)⁻¹ G)).
        leverage = before.total - ((before.factors @ given.T) * factors).sum()
        leverage -= (given * coefficients).sum(0) @ before.noise
        noise = rest[:, best] * (1.0 + 1.0 / n + max(leverage, 0.0) / PENALTIES[best])
        # The squares of β, summed over the previous features with their noise, without β itself, which is too large.
        through = (coefficients * before.noise) @ coefficients.T
        noise += np.maximum((asked * (through @ asked)).sum(0), 0.0)
        self.law = LowRankGaussian(
            np.append(before.mean, mean[p:] + (before.mean - mean[:p]) @ coefficients.T @ asked),
            np.hstack([before.factors, factors @ asked]),
            np.append(before.noise, noise),
        )

    def extend(self, n: int) -> None:
        self.counts = np.hstack([self.counts, np.zeros((2, n))])
        self.law = self.law.extend(n)
        self._settled.extend(n)

    def keep(self, slots: Mask) -> None:
        self.counts = self.counts[:, slots]
        self.law = self.law.keep(slots)
        self._previous = self._previous.keep(slots[: self.n_previous])
        self._settled.keep(slots)

    def rescale(self, factor: Array, shift: Array) -> None:
        p = self.n_previous
        self.law = self.law.rescale(factor, shift)
        self._previous = self._previous.rescale(factor[:p], shift[:p])
        self._settled.rescale(factor, shift)
