"""How much does each expert count?

An aggregator knows its experts by their position and nothing of them but their losses: weights go out, losses come in.
Experts may sleep: one that is not awake in a round has weight 0 and learns nothing from it. New aggregators need three
methods; see `Aggregator`.
"""

from __future__ import annotations

import abc
import math
import random

import numpy as np

from . import kernels
from .part import Part
from .state.parts import Stored
from .values import Array, Mask


class Aggregator(Part, abc.ABC):
    """Weights of experts, some of them asleep, from their losses.

    A subclass answers `strengths` (how much each expert would count if all were awake, not normalized), and moves its
    state in `update` and `reset`.
    """

    @abc.abstractmethod
    def strengths(self) -> Array:
        """Unnormalized weights, shape (n,), all ≥ 0."""

    @abc.abstractmethod
    def update(self, losses: Array, loss: float, awake: Array) -> None:
        """Learn from one round.

        Parameters
        ----------
        losses
            Loss of each expert, shape (n,); what stands at sleeping experts is not read.
        loss
            Loss of the weighted mixture.
        awake
            1 for experts that took part, 0 for those that slept, shape (n,).

        """

    @abc.abstractmethod
    def reset(self, born: Mask, prior: Array) -> None:
        """Forget the past of some experts: they are new, or another model stands in their place.

        Parameters
        ----------
        born
            Which experts start anew, shape (n,); a longer mask than before brings new experts.
        prior
            How much each expert counts before any loss, shape (n,), all > 0; only ratios matter.

        """

    def weights(self, awake: Array) -> Array:
        """Weights of all experts, shape (n,): ≥ 0, 0 where asleep, with sum 1 (0 if none is awake)."""
        return kernels.weigh(self.strengths(), awake)


class AdaNormalHedge(Stored, Aggregator):
    """A hedge without a parameter: AdaNormalHedge, with sleeping experts.

    **When to use it.** By default. Its regret against any expert, or mixture of them, is below
    $\\sqrt{3 S (\\ln N + \\ln B + \\ln(1 + \\ln N))}$ with S the expert's cumulative absolute regret and
    $B = 1 + \\frac{3}{2N} \\sum_i (1 + \\ln(1 + S_i))$, for losses in [0, 1] that are convex in the prediction (the
    paper's Theorem 2), with no learning rate to set.

    With R the cumulative regret of an expert, S the sum of its absolute values and
    $\\Phi(R, S) = \\exp(\\max(0, R)^2 / 3S)$, an expert that is awake counts as
    $\\frac{1}{2}(\\Phi(R + 1, S + 1) - \\Phi(R - 1, S + 1))$. If that is 0 for all, all awake count alike.
    A prior multiplies that. Costs O(n) a round.

    Parameters
    ----------
    forgetting
        Factor by which R and S fade in a round. At 1 nothing fades, and the bound above holds; below, the hedge follows
        the best expert of the last 1 / (1 - forgetting) rounds or so, and its regret is bounded over those.

    Attributes
    ----------
    regrets
        Cumulative regrets R, shape (n,).
    magnitudes
        Sums S of absolute regrets, shape (n,).
    form
        The state as the kernels know it.

    Examples
    --------
    >>> import numpy as np
    >>> from river_pufe.aggregation import AdaNormalHedge
    >>> hedge, awake = AdaNormalHedge(), np.ones(2)
    >>> hedge.reset(np.array([True, True]), prior=np.ones(2))
    >>> for _ in range(20):
    ...     weights = hedge.weights(awake)
    ...     losses = np.array([0.2, 0.6])
    ...     hedge.update(losses, weights @ losses, awake)
    >>> hedge.weights(awake).round(3)
    array([1., 0.])

    References
    ----------
    [^1]: [Luo, H. and Schapire, R.E., 2015. Achieving all with no parameters: AdaNormalHedge.
        COLT.](https://arxiv.org/abs/1502.05934)

    """

    DERIVED = ("_form",)

    def __init__(self, forgetting: float = 1.0) -> None:
        if not 0 < forgetting <= 1:
            raise ValueError(f"forgetting is a factor in (0, 1], not {forgetting!r}")
        self.forgetting = forgetting
        self.regrets: Array = np.zeros(0)
        self.magnitudes: Array = np.zeros(0)
        self._prior: Array = np.zeros(0)
        self.rebuild()

    @property
    def n(self) -> int:
        """Number of experts."""
        return len(self.regrets)

    @property
    def form(self) -> kernels.Hedge:
        return self._form

    def strengths(self) -> Array:
        return self._form.strengths

    def update(self, losses: Array, loss: float, awake: Array) -> None:
        kernels.regret(losses, loss, awake, self._form)

    def reset(self, born: Mask, prior: Array) -> None:
        more = np.zeros(len(born) - self.n)
        self.regrets = np.where(born, 0.0, np.append(self.regrets, more))
        self.magnitudes = np.where(born, 0.0, np.append(self.magnitudes, more))
        self._prior = np.array(prior, dtype=float)
        self.rebuild()

    def rebuild(self) -> None:
        self._form = kernels.Hedge(self.forgetting, self.regrets, self.magnitudes, self._prior, np.empty(self.n))
        kernels.strengthen(self._form)


class Hedge(Aggregator):
    """Exponential weights: the combination of FESL-c.

    **When to use it.** To reproduce FESL-c. `AdaNormalHedge` needs no horizon and knows sleeping experts.

    An expert with loss ℓ is multiplied by $\\exp(-\\eta \\ell)$, with $\\eta = \\sqrt{8 \\ln n / T}$.

    Parameters
    ----------
    horizon
        Number of rounds T that will be played. None: the number played so far stands in for it.

    Examples
    --------
    >>> import numpy as np
    >>> from river_pufe.aggregation import Hedge
    >>> hedge = Hedge(horizon=100)
    >>> hedge.reset(np.array([True, True]), prior=np.ones(2))
    >>> hedge.update(np.array([0.0, 1.0]), 0.5, np.ones(2))
    >>> hedge.weights(np.ones(2)).round(3)
    array([0.559, 0.441])

    References
    ----------
    [^1]: Hou, B.J., Zhang, L. and Zhou, Z.H., 2017. Learning with feature evolvable streams. NeurIPS.

    """

    def __init__(self, horizon: int | None = None) -> None:
        if horizon is not None and not horizon >= 1:
            raise ValueError(f"horizon is a number of rounds, 1 or more, or None, not {horizon!r}")
        self.horizon = horizon
        self.rounds = 0
        self._logs: Array = np.zeros(0)

    @property
    def n(self) -> int:
        """Number of experts."""
        return len(self._logs)

    def strengths(self) -> Array:
        return np.exp(self._logs)

    def update(self, losses: Array, loss: float, awake: Array) -> None:
        self.rounds += 1
        rate = math.sqrt(8 * math.log(max(self.n, 2)) / (self.horizon or self.rounds))
        self._logs = self._logs - rate * awake * np.where(awake > 0, losses, 0.0)
        self._logs -= self._logs.max()

    def reset(self, born: Mask, prior: Array) -> None:
        if born.any():
            self.rounds = 0
        self._logs = np.where(born, np.log(prior), np.append(self._logs, np.zeros(len(born) - self.n)))


class FixedShare(Aggregator):
    """Fixed share, and one expert drawn by its weight: the selection of FESL-s.

    **When to use it.** To reproduce FESL-s, or when the best expert changes often.

    With $v_i = \\alpha_i \\exp(-\\eta \\ell_i)$ the new weights are $\\delta \\sum_j v_j / n + (1 - \\delta) v_i$,
    $\\delta = 1 / (T - 1)$ and $\\eta = \\sqrt{8 / T \\cdot (2 \\ln n + (T - 1) H(\\delta))}$, H the binary entropy.
    The next round's expert is drawn at the end of `update`, so that asking for weights changes nothing.

    Parameters
    ----------
    horizon
        Number of rounds T that will be played. None: the number played so far stands in for it.
    seed
        Seed of the draws.

    Examples
    --------
    >>> import numpy as np
    >>> from river_pufe.aggregation import FixedShare
    >>> hedge = FixedShare(horizon=100, seed=1)
    >>> hedge.reset(np.array([True, True]), prior=np.ones(2))
    >>> hedge.weights(np.ones(2))
    array([1., 0.])

    References
    ----------
    [^1]: Hou, B.J., Zhang, L. and Zhou, Z.H., 2017. Learning with feature evolvable streams. NeurIPS.

    """

    def __init__(self, horizon: int | None = None, seed: int | None = None) -> None:
        if horizon is not None and not horizon >= 1:
            raise ValueError(f"horizon is a number of rounds, 1 or more, or None, not {horizon!r}")
        self.horizon = horizon
        self.seed = seed
        self.rounds = 0
        self._rng = random.Random(seed)
        self._draw = self._rng.random()
        self._shares: Array = np.zeros(0)

    @property
    def n(self) -> int:
        """Number of experts."""
        return len(self._shares)

    def strengths(self) -> Array:
        return self._shares

    def weights(self, awake: Array) -> Array:
        """One expert has weight 1: the one drawn among those awake."""
        shares = super().weights(awake)
        drawn = np.zeros_like(shares)
        if len(among := np.flatnonzero(awake)):
            position = int(np.searchsorted(np.cumsum(shares[among]), self._draw))
            drawn[among[min(position, len(among) - 1)]] = 1.0
        return drawn

    def update(self, losses: Array, loss: float, awake: Array) -> None:
        self.rounds += 1
        T = max(self.horizon or self.rounds, 3)
        share = 1.0 / (T - 1)
        entropy = -share * math.log(share) - (1 - share) * math.log(1 - share)
        rate = math.sqrt(8 / T * (2 * math.log(max(self.n, 2)) + (T - 1) * entropy))
        shrunk = self._shares * np.exp(-rate * awake * np.where(awake > 0, losses, 0.0))
        total = shrunk.sum()
        mixed = share * total / max(self.n, 1) + (1 - share) * shrunk
        self._shares = mixed / total if total > 0 else np.full(self.n, 1.0 / max(self.n, 1))
        self._draw = self._rng.random()

    def reset(self, born: Mask, prior: Array) -> None:
        if born.any():
            self.rounds = 0
        shares = np.where(born, prior / prior.sum(), np.append(self._shares, np.zeros(len(born) - self.n)))
        self._shares = shares / shares.sum()
