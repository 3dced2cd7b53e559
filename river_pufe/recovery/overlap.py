"""How do two feature spaces follow from each other that were seen together for a while?"""

from __future__ import annotations

import dataclasses
import typing

import numpy as np

from .. import kernels
from ..state.parts import Stored
from ..values import Array, Indices, Mask
from . import monotone
from .gaussian import Gaussian, packed, solve, unpacked
from .monotone import order_of_loss
from .row_law import GROWTH, WINDOW, OverlapLaw
from .scatter import typical

#: EM steps at the end, and where expectations are settled, at most; one is enough while the overlap goes on.
_LAST_STEPS, _SETTLING_STEPS = 20, 3
#: How often penalties are estimated at most where EM begins anew, and in each step after that; and where it goes on.
_FIRST_PENALTY_STEPS, _PENALTY_STEPS, _MORE_PENALTY_STEPS = 8, 3, 1
#: EM has converged where its latest step moved what was expected by less than this, in deviations of an entry.
_CONVERGED = 3e-3
#: No entry is expected to be so many deviations from its mean; an estimate that says so is not one to go on from.
_LARGEST = 100.0
#: Rows below which nothing is said about how the current features follow from the previous ones.
FEWEST = 3
#: How often the uncertainty of the coefficients counts where absent entries are expected.
_CAUTION = 2.0


@dataclasses.dataclass
class Moments(Stored):
    """Number of rows, their mean, and their scatter around it; shapes (d,) and (d, d)."""

    n: float
    mean: Array
    scatter: Array

    def stored(self) -> dict[str, typing.Any]:
        return {**super().stored(), "scatter": packed(self.scatter)}

    def rebuild(self) -> None:
        self.scatter = unpacked(self.scatter)

    def pooled(self, other: Moments) -> Moments:
        """The moments of both sets of rows."""
        n = self.n + other.n
        if not other.n:
            return self
        apart = other.mean - self.mean
        between = self.n * other.n / n * np.outer(apart, apart)
        return Moments(n, self.mean + other.n / n * apart, self.scatter + other.scatter + between)

    def uncertain(self, spread: Array) -> Moments:
        """The moments where rows are expected, given the sum of the covariances of what is absent from them."""
        return Moments(self.n, self.mean, self.scatter + spread)

    def first(self, p: int) -> Moments:
        """The moments of the first p entries alone."""
        return Moments(self.n, self.mean[:p], self.scatter[:p, :p])

    @classmethod
    def none(cls, d: int) -> Moments:
        """The moments of no rows."""
        return cls(0.0, np.zeros(d), np.zeros((d, d)))

    def extend(self, n: int) -> Moments:
        """Append n entries that were 0."""
        d = len(self.mean)
        scatter = np.zeros((d + n, d + n))
        scatter[:d, :d] = self.scatter
        return Moments(self.n, np.append(self.mean, np.zeros(n)), scatter)

    def keep(self, slots: Mask) -> Moments:
        """The moments of some entries alone."""
        return Moments(self.n, self.mean[slots], self.scatter[np.ix_(slots, slots)])

    def rescale(self, factor: Array, shift: Array) -> Moments:
        """The moments of factor · row + shift."""
        mean = factor * self.mean + shift if self.n else self.mean
        return Moments(self.n, mean, self.scatter * np.outer(factor, factor))


@dataclasses.dataclass
class Relation:
    """How current features follow from previous ones: $x_C = c + \\beta^T (x_P - m_P) + \\varepsilon$.

    Parameters
    ----------
    previous
        The law of the previous features, with mean m_P.
    coefficients
        β, shape (p, c).
    centre
        c, shape (c,).
    noise
        Variances of ε, shape (c,).

    """

    previous: Gaussian
    coefficients: Array
    centre: Array
    noise: Array

    def joint(self) -> Gaussian:
        """The law of both, the previous features first."""
        p, d = len(self.coefficients), sum(self.coefficients.shape)
        across = self.previous.covariance @ self.coefficients
        current = self.coefficients.T @ across
        covariance = np.empty((d, d))
        covariance[:p, :p] = self.previous.covariance
        covariance[:p, p:] = across
        covariance[p:, :p] = across.T
        covariance[p:, p:] = (current + current.T) / 2.0
        covariance.flat[p * (d + 1) :: d + 1] += self.noise
        return Gaussian(np.append(self.previous.mean, self.centre), covariance)

    def extend(self, n: int) -> Relation:
        """With n more current features of mean 0 and variance 1, which do not follow from anything."""
        coefficients = np.hstack([self.coefficients, np.zeros((len(self.coefficients), n))])
        centre, noise = np.append(self.centre, np.zeros(n)), np.append(self.noise, np.ones(n))
        return Relation(self.previous, coefficients, centre, noise)

    def keep(self, slots: Mask) -> Relation:
        """With some of the current features alone."""
        slots = slots[len(self.coefficients) :]
        return Relation(self.previous, self.coefficients[:, slots], self.centre[slots], self.noise[slots])

    def rescale(self, factor: Array, shift: Array) -> Relation:
        """For factor · row + shift in place of the row."""
        p = len(self.coefficients)
        return Relation(
            self.previous.rescale(factor[:p], shift[:p]),
            self.coefficients / factor[:p, None] * factor[p:],
            factor[p:] * self.centre + shift[p:],
            np.square(factor[p:]) * self.noise,
        )


class Regression(typing.NamedTuple):
    """Coefficients of outputs on inputs with Gaussian priors, and what is not known of them.

    Parameters
    ----------
    coefficients
        β, shape (inputs, outputs).
    uncertainty
        Covariance S⁻¹ of the coefficients of each output, in units of its noise; shape (inputs, inputs).
    noise
        Variance of the noise of each output, shape (outputs,).
    penalties
        Precision ρ of each input's coefficients before any row, in units of the noise; shape (inputs,).

    """

    coefficients: Array
    uncertainty: Array
    noise: Array
    penalties: Array


def regress(moments: Moments, penalties: Array, steps: int) -> Regression:
    """Bayesian regression of the last entries of rows on the first p.

    With G and H the centered inputs and outputs, $\\beta = S^{-1} G^T H$ with $S = G^T G + \\mathrm{diag}(\\rho)$ is
    the posterior mean under independent priors $\\beta_{ij} \\sim N(0, \\sigma_j^2 / \\rho_i)$, and
    $\\sigma_j^2 S^{-1}$ the covariance. The penalty ρ of each input is estimated by EM and shrunk towards a common one:
    an input that says nothing of any output is left out.

    Parameters
    ----------
    moments
        Of the rows, as they are expected where entries are absent.
    penalties
        Where to start from, shape (p,).
    steps
        Number of EM steps, at most.

    References
    ----------
    [^1]: MacKay, D.J.C., 1992. Bayesian interpolation. Neural Computation.
    [^2]: Tipping, M.E., 2001. Sparse Bayesian learning and the relevance vector machine. Journal of Machine Learning
        Research.

    """
    return Regression(*kernels.regress(moments.scatter, moments.n, penalties, steps))


def best_penalty(moments: Moments, p: int) -> float:
    """The common penalty of the largest marginal likelihood, from a grid."""
    return kernels.best_penalty(moments.scatter, moments.n, p)


class _Expected(typing.NamedTuple):
    """Rows as they are expected.

    Parameters
    ----------
    rows
        Shape (n, d).
    spread
        The sum of the covariances of what is absent from them, shape (d, d).
    oldest
        The same of the oldest rows alone.

    """

    rows: Array
    spread: Array
    oldest: Array


class _Conditional(typing.NamedTuple):
    """A normal law, given by its mean and the inverse of its covariance; shapes (d,) and (d, d)."""

    mean: Array
    precision: Array

    def expect(self, rows: Array, order: Indices | None, oldest: int) -> _Expected:
        """Rows as they are expected; if there is an order in which they lose their entries, that is cheaper."""
        if not oldest:
            expected, spread = self._expect(rows, order)
            return _Expected(expected, spread, np.zeros_like(spread))
        first, spread = self._expect(rows[:oldest], order)
        others, more = self._expect(rows[oldest:], order)
        return _Expected(np.concatenate((first, others)), spread + more, spread)

    def _expect(self, rows: Array, order: Indices | None) -> tuple[Array, Array]:
        if order is not None and (done := monotone.expect(rows, order, self.mean, self.precision)) is not None:
            return done
        return kernels.expect(rows, self.mean, None, self.precision, np.ones(len(rows)))


def _are_plausible(expected: _Expected) -> bool:
    """Whether rows are expected to be of a size that rows have, and not to be less certain than that."""
    most, spread = np.abs(expected.rows).max(initial=0.0), np.abs(expected.spread).max(initial=0.0)
    return bool(most <= _LARGEST and spread <= len(expected.rows) * _LARGEST**2)


def _moments(rows: Array) -> Moments:
    """The moments of complete rows."""
    n = len(rows)
    if not n:
        return Moments.none(rows.shape[1])
    mean = rows.sum(0) / n
    apart = rows - mean
    return Moments(float(n), mean, apart.T @ apart)


class Overlap(OverlapLaw):
    """The law of a previous and a current space, from rows in which both are seen.

    The previous space was seen in many rows before, so its mean $m_P$ and covariance $\\Sigma_P$ are known well; only
    the law of the current features given the previous ones comes from the overlap. This is the factored likelihood of
    monotone missing data:

    $$x_C = c_0 + \\beta^T (x_P - m_P) + \\varepsilon, \\qquad \\Sigma_{PC} = \\Sigma_P \\beta, \\qquad
    \\Sigma_C = \\beta^T \\Sigma_P \\beta + D.$$

    β comes from a Bayesian regression (`regress`). The diagonal D is what it leaves open, the noise $\\sigma_j^2$ and
    the uncertainty of the coefficients: $\\sigma_j^2 (1 + 1/b + \\ell)$ after b rows. ℓ is the leverage of a new row:
    its expectation $\\mathrm{tr}(\\Sigma_P S^{-1})$, averaged with the leverage that rows of the overlap have when they
    are left out where that is smaller. With heavy tails the first is too large for most rows.

    Where entries are absent from the rows, EM steps alternate between the regression and the expectation of the rows,
    in which the uncertainty of the coefficients counts as well (variational Bayes). Where rows lose their entries one
    after another they start from what is known of the previous space alone; elsewhere they go on from the present
    estimate.

    An EM step costs O(p³) for p previous features, and O(a³) for each set of a absent entries. It is done when the
    number of rows has grown by a quarter, where rows are settled, and at the end. Memory is O(d²).

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
    previous
        The law of the previous space.

    References
    ----------
    [^1]: Anderson, T.W., 1957. Maximum likelihood estimates for a multivariate normal distribution when some
        observations are missing. Journal of the American Statistical Association.
    [^2]: Little, R.J.A. and Rubin, D.B., 2019. Statistical Analysis with Missing Data, section 7. Wiley.

    """

    DERIVED = ("law",)

    def __init__(self, previous: Gaussian, counts: Array, n_current: int) -> None:
        self.counts = np.hstack([counts, np.zeros((2, n_current))])
        self.previous = previous
        self._relation = Relation(previous, np.zeros((len(previous.mean), 0)), np.zeros(0), np.zeros(0))
        self._relation = self._relation.extend(n_current)
        self._n_before = typical(counts)
        self._settled: Moments | None = None
        self._n = 0
        self._next = float(FEWEST)
        self.rebuild()

    def rebuild(self) -> None:
        self.law: Gaussian = self._relation.joint()

    @classmethod
    def _unit_test_params(cls) -> typing.Iterator[dict[str, typing.Any]]:
        yield {"previous": Gaussian.standard(1), "counts": np.ones((2, 1)), "n_current": 1}

    @property
    def n_previous(self) -> int:
        return len(self.previous.mean)

    def renew(self, rows: Array) -> None:
        # Of a full window, rows are settled at once, which learns anew as well.
        if len(rows) < WINDOW:
            self._fit(rows, 1, 0)

    def finish(self, rows: Array) -> None:
        self._fit(rows, _LAST_STEPS, 0)

    def settle(self, rows: Array, n: int) -> None:
        self._settled = self._pooled(self._fit(rows, _SETTLING_STEPS, n))
        self._next = GROWTH * self._n

    def _pooled(self, moments: Moments) -> Moments:
        """Moments together with those of the settled rows."""
        return moments if self._settled is None else self._settled.pooled(moments)

    def extend(self, n: int) -> None:
        self.counts = np.hstack([self.counts, np.zeros((2, n))])
        self._relation = self._relation.extend(n)
        self.rebuild()
        self._settled = None if self._settled is None else self._settled.extend(n)

    def keep(self, slots: Mask) -> None:
        self.counts = self.counts[:, slots]
        self._relation = self._relation.keep(slots)
        self.rebuild()
        self._settled = None if self._settled is None else self._settled.keep(slots)

    def rescale(self, factor: Array, shift: Array) -> None:
        p = len(self.previous.mean)
        self._relation = self._relation.rescale(factor, shift)
        self.rebuild()
        self.previous = self.previous.rescale(factor[:p], shift[:p])
        self._settled = None if self._settled is None else self._settled.rescale(factor, shift)

    def _fit(self, rows: Array, steps: int, oldest: int) -> Moments:
        """Learn from these rows and the settled ones; moments of the oldest rows, as they are expected in the end.

        Where rows lose their entries one after another, EM starts from what is known of the previous space alone, and
        is soon done. Elsewhere it takes many steps, so it goes on from the present estimate.
        """
        p = self.n_previous
        seen = ~np.isnan(rows)
        usable: Mask = np.logical_and(seen[:, :p].any(1), seen[:, p:].any(1))
        rows, oldest = rows[usable], int(np.count_nonzero(usable[:oldest]))
        missing = ~seen[usable]
        order, n_absent = order_of_loss(missing), np.count_nonzero(missing)
        anew = order is not None or not self._relation.coefficients.any()
        law = self._before(rows) if anew else _Conditional(self.law.mean, self.law.precision)
        expected = law.expect(rows, order, oldest)
        if not anew and not _are_plausible(expected):
            anew, law = True, self._before(rows)
            expected = law.expect(rows, order, oldest)
        # Covariances would hide what the rows say of each other, before anything is known of it.
        known = self._pooled(_moments(expected.rows))
        total = known.uncertain(expected.spread)
        first, others = (_FIRST_PENALTY_STEPS, _PENALTY_STEPS) if anew else (_MORE_PENALTY_STEPS, _MORE_PENALTY_STEPS)
        fit = regress(total, np.full(p, best_penalty(known, p)), first)
        for _ in range(steps - 1 if n_absent else 0):
            law, before = self._given(total.mean, fit), expected.rows
            expected = law.expect(rows, order, oldest)
            if np.square(expected.rows - before).sum() < n_absent * _CONVERGED**2:
                break
            total = self._pooled(_moments(expected.rows)).uncertain(expected.spread)
            fit = regress(total, fit.penalties, others)
        self._relate(expected, total, fit)
        return _moments(expected.rows[:oldest]).uncertain(expected.oldest)

    def _before(self, rows: Array) -> _Conditional:
        """What is expected before anything is known of how the spaces follow from each other."""
        p, c = self.n_previous, rows.shape[1] - self.n_previous
        seen = ~np.isnan(rows[:, p:])
        average = np.where(seen, rows[:, p:], 0.0).sum(0) / np.maximum(seen.sum(0), 1)
        precision = np.eye(p + c)
        precision[:p, :p] = self.previous.precision
        return _Conditional(np.append(self.previous.mean, average), precision)

    def _given(self, mean: Array, fit: Regression) -> _Conditional:
        """What is expected given a regression of rows with this mean.

        With deviations u and v of previous and current features from that mean, the density is $\\exp(-q / 2)$ with
        $q = (u - \\delta)^T K (u - \\delta) + (v - \\beta^T u)^T D^{-1} (v - \\beta^T u) + u^T U u$, where U is the
        uncertainty of the coefficients, once for each current feature.
        """
        p = self.n_previous
        ratio = fit.coefficients / fit.noise
        alone = self.previous.precision + _CAUTION * len(fit.noise) * fit.uncertainty
        precision = np.zeros((len(mean), len(mean)))
        precision[:p, :p] = alone + ratio @ fit.coefficients.T
        precision[:p, p:] = -ratio
        precision[p:, :p] = -ratio.T
        precision.flat[p * (len(mean) + 1) :: len(mean) + 1] = 1.0 / fit.noise
        away = solve(alone, self.previous.precision @ (self.previous.mean - mean[:p]))
        return _Conditional(mean + np.append(away, away @ fit.coefficients), precision)

    def _relate(self, expected: _Expected, total: Moments, fit: Regression) -> None:
        p, n = self.n_previous, max(total.n, 1.0)
        if total.n < FEWEST:
            return
        # The previous space was also seen in the overlap.
        alone = Moments(self._n_before, self.previous.mean, self._n_before * self.previous.covariance)
        ever = alone.pooled(total.first(p))
        before = Gaussian(ever.mean, ever.scatter / ever.n)
        coefficients, uncertainty, noise, _ = fit
        # The leverage of a row of the whole history, and that of the rows of the overlap, each left out.
        away = before.mean - total.mean[:p]
        leverage = float((before.covariance * uncertainty).sum() + away @ uncertainty @ away)
        if len(expected.rows):
            apart, spread = expected.rows[:, :p] - total.mean[:p], expected.spread[:p, :p]
            own = (apart @ uncertainty * apart).sum(1) + (spread * uncertainty).sum() / len(apart)
            left_out = float((own / np.maximum(1.0 - own - 1.0 / n, 1e-3)).mean())
            leverage = (leverage + min(leverage, left_out)) / 2.0
        centre = total.mean[p:] + away @ coefficients
        self._relation = Relation(before, coefficients, centre, noise * (1.0 + 1.0 / n + leverage))
        self.rebuild()
