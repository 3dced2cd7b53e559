"""What mean and covariance do rows have, when some of their entries are absent?"""

from __future__ import annotations

import typing

import numpy as np

from ..values import Array, Mask
from .gaussian import Gaussian

#: The belief before any row counts as so many rows, of mean 0 and variance 1 and independent entries.
_PRIOR = 3.0
#: While so few rows are known of the absent entries, the latest rows count more than those before them.
_FEW = 32.0
#: Variance of the noise, in units of one row: how many rows it takes to trust a faint direction.
_NOISE = 3.0
#: Expectations of the latest rows are renewed each time that so many times as many rows were seen, so often.
_GROWTH, _PASSES = 1.2, 3


class Pattern(typing.NamedTuple):
    """Rows of which the same entries are absent.

    Parameters
    ----------
    rows
        Which rows, shape (n,).
    absent
        Which entries, shape (d,).
    covariance
        Of the absent entries given the others, shape (a, a).

    """

    rows: list[int]
    absent: Mask
    covariance: Array


def expect(gaussian: Gaussian, rows: Array) -> tuple[Array, list[Pattern]]:
    """Rows as they are expected under a law, shape (n, d), and the covariance of what was absent (NaN) from them."""
    missing = np.isnan(rows)
    members: dict[bytes, list[int]] = {}
    for n in np.flatnonzero(missing.any(1)).tolist():
        members.setdefault(missing[n].tobytes(), []).append(n)
    expected, patterns = rows.copy(), []
    for alike in members.values():
        absent = missing[alike[0]]
        for n in alike:
            expected[n] = gaussian.complete(rows[n], absent)
        patterns.append(Pattern(alike, absent, gaussian.conditional_covariance(absent)))
    return expected, patterns


class Scatter:
    """Mean and covariance of rows with absent entries, by online EM.

    In the expectation step a row x becomes its conditional mean $\\hat x$ under the present estimate, and V is the
    conditional covariance of what is absent from it. The maximization step moves the estimate by a share γ:

    $$m' = (1 - \\gamma) m + \\gamma \\hat x, \\qquad
    \\Sigma' = (1 - \\gamma) (\\Sigma + \\gamma (\\hat x - m)(\\hat x - m)^T) + \\gamma V.$$

    Without V, completed rows would confirm the estimate that completed them. Expectations under early estimates are
    poor and must fade, the sooner the more is absent. So a row counts 1/γ as the share of pairs of an absent and an
    observed entry that used to be observed, on average over the pairs of the row; one without absent entries counts
    1, and if all do, mean and covariance are those of all rows. While rows are few, the expectations of the latest ones
    are computed again under later estimates.

    A row costs O(d²), and O(a³) with a entries absent, once for all rows that lack the same. Memory is O(d²).

    Parameters
    ----------
    belief
        What is believed before the first row.
    counts
        On how many rows the belief rests: those in which each entry was observed, and those in which it could have
        been, shape (2, d).

    Attributes
    ----------
    gaussian
        The present estimate and a little noise.
    counts
        As above, now.

    References
    ----------
    [^1]: Dempster, A.P., Laird, N.M. and Rubin, D.B., 1977. Maximum likelihood from incomplete data via the EM
        algorithm. Journal of the Royal Statistical Society B.
    [^2]: Neal, R.M. and Hinton, G.E., 1998. A view of the EM algorithm that justifies incremental, sparse, and other
        variants. In: Learning in Graphical Models.
    [^3]: [Cappé, O. and Moulines, E., 2009. On-line expectation-maximization algorithm for latent data models. Journal
        of the Royal Statistical Society B.](https://arxiv.org/abs/0712.4273)

    """

    def __init__(self, belief: Gaussian, counts: Array) -> None:
        self.counts = counts
        # Number of rows, and the sum of what they count.
        self._n = self._count = _typical(counts)
        # The estimate from all rows, and the one from those whose expectations are settled.
        self._estimate = self._settled = belief
        # The share of the belief in the estimate.
        self._believed = 1.0
        # Shares by which the rows moved the estimate whose expectations are not settled.
        self._steps: Array = np.zeros(0)
        self._next = self._n + 1.0
        self._add_noise()

    def _add_noise(self) -> None:
        estimate = self._estimate
        covariance = estimate.covariance.copy()
        covariance.flat[:: len(covariance) + 1] += _NOISE * (1.0 - self._believed) / (self._n + _PRIOR)
        self.gaussian = Gaussian(estimate.mean, covariance)

    def learn(self, rows: Array, n_new: int) -> None:
        """Learn from new rows.

        Parameters
        ----------
        rows
            All rows whose expectations are not settled, in units as they are now, shape (n, d); NaN where absent.
        n_new
            How many of them, at the end, have not been learned.

        """
        new = rows[len(rows) - n_new :]
        self._steps = np.append(self._steps, self._sizes(new))
        steps = self._steps[len(rows) - n_new :]
        self._believed *= float(np.prod(1.0 - steps))
        self._estimate = self._move(self._estimate, new, steps)
        self._add_noise()
        if self._n >= self._next:
            self._next = _GROWTH * self._n
            if np.isnan(rows).any():
                for _ in range(_PASSES):
                    self._estimate = self._move(self._settled, rows, self._steps)
                    self._add_noise()

    def _sizes(self, rows: Array) -> Array:
        """By which shares rows move the estimate."""
        steps = np.empty(len(rows))
        counts = self.counts.copy()
        for i, observed in enumerate(~np.isnan(rows)):
            counts[0] += observed
            counts[1] += 1.0
            self._n += 1.0
            if observed.all():
                self._count += 1.0
            else:
                often = counts[0] / counts[1]
                self._count += float(often[observed].mean() * often[~observed].mean())
            steps[i] = 1.0 / (_PRIOR + max(self._count, min(self._n, _FEW)))
        self.counts = counts
        return steps

    def _move(self, start: Gaussian, rows: Array, steps: Array) -> Gaussian:
        """An estimate moved by some rows, as they are expected at present."""
        expected, patterns = expect(self.gaussian, rows)
        left = np.cumprod((1.0 - steps)[::-1])[::-1]
        weights = steps * np.append(left[1:], 1.0)
        rest = left[0]
        mean = rest * start.mean + weights @ expected
        apart = expected - mean
        covariance = rest * (start.covariance + np.outer(start.mean - mean, start.mean - mean))
        covariance += apart.T @ (weights[:, None] * apart)
        for pattern in patterns:
            a = np.flatnonzero(pattern.absent)
            covariance[a[:, None], a] += weights[pattern.rows].sum() * pattern.covariance
        return Gaussian(mean, covariance)

    def settle(self, rows: Array) -> None:
        """Settle the expectations of the oldest rows, shape (n, d)."""
        n = len(rows)
        if n == len(self._steps) and not np.isnan(rows).any():
            self._settled = self._estimate
        else:
            self._settled = self._move(self._settled, rows, self._steps[:n])
        self._steps = self._steps[n:]

    def extend(self, n: int) -> None:
        """Append n entries of which nothing is known."""
        self.counts = np.hstack([self.counts, np.zeros((2, n))])
        self._change(lambda law: law.extend(n))

    def rescale(self, factor: Array, shift: Array) -> None:
        """Express all rows in other units, factor · row + shift."""
        self._change(lambda law: law.rescale(factor, shift))

    def keep(self, slots: Mask) -> None:
        """Drop all other entries."""
        self.counts = self.counts[:, slots]
        self._n, self._count = np.minimum([self._n, self._count], _typical(self.counts)).tolist()
        self._change(lambda law: law.keep(slots))

    def _change(self, change: typing.Callable[[Gaussian], Gaussian]) -> None:
        both = self._settled is self._estimate
        self._estimate = change(self._estimate)
        self._settled = self._estimate if both else change(self._settled)
        self._add_noise()


def _typical(counts: Array) -> float:
    """The number of rows that estimates every entry as well as they are estimated on average."""
    return float(1.0 / np.mean(1.0 / (counts[0] + 1.0)) - 1.0) if counts.size else 0.0
