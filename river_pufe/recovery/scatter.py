"""What mean and covariance do rows have, when some of their entries are absent?"""

from __future__ import annotations

import typing

import numpy as np

from ..values import Array, Mask
from .gaussian import Gaussian
from .row_law import RowLaw

#: The belief before any row counts as so many rows, of mean 0 and variance 1 and independent entries.
PRIOR = 3.0
#: While so few rows are known of the absent entries, the latest rows count more than those before them.
_FEW = 32.0
#: Variance of the noise, in units of one row: how many rows it takes to trust a faint direction.
NOISE = 3.0
#: Expectations of the latest rows are renewed each time that so many times as many rows were seen, so often.
_GROWTH, _PASSES = 1.5, 2


class Scatter(RowLaw):
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
        On how many rows the belief rests, as the attribute of this name.

    Attributes
    ----------
    law
        The present estimate, with a little noise.

    References
    ----------
    [^1]: Dempster, A.P., Laird, N.M. and Rubin, D.B., 1977. Maximum likelihood from incomplete data via the EM
        algorithm. Journal of the Royal Statistical Society B.
    [^2]: Neal, R.M. and Hinton, G.E., 1998. A view of the EM algorithm that justifies incremental, sparse, and other
        variants. In: Learning in Graphical Models.
    [^3]: [Cappé, O. and Moulines, E., 2009. On-line expectation-maximization algorithm for latent data models. Journal
        of the Royal Statistical Society B.](https://arxiv.org/abs/0712.4273)

    """

    DERIVED = ("law",)
    block = 64

    def __init__(self, belief: Gaussian | None = None, counts: Array | None = None) -> None:
        self.counts: Array = counts if counts is not None else np.zeros((2, 0))
        # Number of rows, and the sum of what they count.
        self._n = self._count = typical(self.counts)
        # The estimate from all rows, and the one from those whose expectations are settled (None: it is the same).
        self._estimate = belief if belief is not None else Gaussian.standard(0)
        self._settled: Gaussian | None = None
        # The share of the belief in the estimate.
        self._believed = 1.0
        # Shares by which the rows moved the estimate whose expectations are not settled.
        self._steps: Array = np.zeros(0)
        self._next = self._n + 1.0
        self.rebuild()

    def rebuild(self) -> None:
        self.law: Gaussian = self._estimate.noisier(NOISE * (1.0 - self._believed) / (self._n + PRIOR))

    def learn(self, rows: Array, n_new: int) -> None:
        new = rows[len(rows) - n_new :]
        if self._settled is None:
            self._settled = self._estimate
        steps = self._sizes(new)
        self._steps = np.concatenate((self._steps, steps))
        self._believed *= float((1.0 - steps).prod())
        self._estimate = self._move(self._estimate, new, steps)
        self.rebuild()
        if self._n >= self._next:
            self._next = _GROWTH * self._n
            if np.isnan(rows).any():
                for _ in range(_PASSES):
                    self._estimate = self._move(self._settled, rows, self._steps)
                    self.rebuild()

    def renews_within(self, n: int) -> bool:
        return self._n + n > self._next

    def _sizes(self, rows: Array) -> Array:
        """By which shares rows move the estimate."""
        absent, counts = np.isnan(rows), np.arange(1.0, len(rows) + 1.0)
        complete, least = not np.count_nonzero(absent), np.minimum(self._n + counts, _FEW)
        counts = self._count + (counts if complete else np.cumsum(self._pairs(~absent)))
        sizes: Array = 1.0 / (PRIOR + np.maximum(counts, least))
        self.counts = self.counts + len(rows)
        if not complete:
            self.counts[0] -= absent.sum(0)
        self._n, self._count = self._n + len(rows), float(counts[-1])
        return sizes

    def _pairs(self, observed: Mask) -> Array:
        """How often the pairs of an absent and an observed entry of each row were observed; 1 where none is absent."""
        ordinals = np.arange(1.0, len(observed) + 1.0)
        often = (self.counts[0] + np.cumsum(observed, 0)) / (self.counts[1] + ordinals[:, None])
        n_observed = observed.sum(1)
        n_absent = observed.shape[1] - n_observed
        seen, unseen = (often * observed).sum(1), (often * ~observed).sum(1)
        return np.where(n_absent > 0, seen * unseen / np.maximum(n_observed * n_absent, 1), 1.0)

    def _move(self, start: Gaussian, rows: Array, sizes: Array) -> Gaussian:
        """An estimate moved by some rows, as they are expected at present."""
        # What is left of each row after those behind it, and of the start after all of them.
        left = np.ones(len(rows) + 1)
        (1.0 - sizes[::-1]).cumprod(out=left[1:])
        weights = sizes * left[-2::-1]
        expected, spread = self.law.expect(rows, weights)
        mean = left[-1] * start.mean + weights @ expected
        apart, away = expected - mean, start.mean - mean
        apart *= np.sqrt(weights)[:, None]
        covariance = left[-1] * (start.covariance + away[:, None] * away) + apart.T @ apart + spread
        return Gaussian(mean, covariance)

    def settle(self, rows: Array, n: int) -> None:
        if n == len(self._steps):
            self._settled = None
        elif self._settled is not None:
            self._settled = self._move(self._settled, rows[:n], self._steps[:n])
        self._steps = self._steps[n:]

    def extend(self, n: int) -> None:
        self.counts = np.hstack([self.counts, np.zeros((2, n))])
        self._change(lambda law: law.extend(n))

    def keep(self, slots: Mask) -> None:
        self.counts = self.counts[:, slots]
        self._n, self._count = (min(n, typical(self.counts)) for n in (self._n, self._count))
        self._change(lambda law: law.keep(slots))

    def rescale(self, factor: Array, shift: Array) -> None:
        self._change(lambda law: law.rescale(factor, shift))

    def _change(self, change: typing.Callable[[Gaussian], Gaussian]) -> None:
        self._estimate = change(self._estimate)
        self._settled = None if self._settled is None else change(self._settled)
        self.rebuild()


def typical(counts: Array) -> float:
    """The number of rows from which every entry is known as well as the entries are on average."""
    return float(1.0 / np.mean(1.0 / (counts[0] + 1.0)) - 1.0) if counts.size else 0.0
