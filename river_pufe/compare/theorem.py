"""How far is PUFE from its best base model, and how far may it be? Theorem 2 of the paper."""

from __future__ import annotations

import dataclasses
import typing

import numpy as np

from ..aggregation import AdaNormalHedge
from ..datasets.evolving import EvolvingStream
from ..pufe import PUFEClassifier, PUFERegressor
from .experiment import Floats


@dataclasses.dataclass
class Regret:
    """Regrets and bounds over the rounds of the current space.

    Parameters
    ----------
    regrets
        Cumulative loss of PUFE less that of each base model, shape (rounds, models).
    bounds
        What Theorem 2 allows them, shape (rounds, models).

    """

    regrets: Floats
    bounds: Floats

    def against_best(self) -> tuple[Floats, Floats]:
        """Regret against the base model that is best in the end, and its bound, both of shape (rounds,)."""
        best = int(self.regrets[-1].argmax())
        return self.regrets[:, best], self.bounds[:, best]

    @property
    def holds(self) -> bool:
        """Whether each regret is within its bound in each round."""
        return bool((self.regrets <= self.bounds + 1e-9).all())


def regret(stream: EvolvingStream, c: float = 1.0, regression: bool = False) -> Regret:
    """Let PUFE with the paper's parts play a stream, and compare its regret with Theorem 2.

    The regret against base model i is at most $\\sqrt{3 S_i (\\ln N + \\ln B + \\ln(1 + \\ln N))}$, with N base models,
    $S_i$ the sum of the absolute differences of its losses to those of PUFE, and
    $B = 1 + \\frac{3}{2N} \\sum_i (1 + \\ln(1 + S_i))$.

    The theorem is about losses in [0, 1] that are convex in the prediction. The losses of the paper have no bound: the
    logistic one is cut at 1, the squared one is in units of the range of the targets. Where the loss is cut it is not
    convex, and the theorem is silent, so it is worth a look.

    Parameters
    ----------
    stream
        A stream with one change, such as `datasets.FESL` or `datasets.MappedSpaces`; its features should be scaled.
    c
        Step sizes are 1/(c√t).
    regression
        Whether its targets are numbers.

    Examples
    --------
    >>> from river_pufe import compare, datasets
    >>> result = compare.regret(datasets.HiddenFactors(n_samples=400, seed=1))
    >>> result.holds
    True
    >>> regret, bound = result.against_best()
    >>> print(f"{regret[-1]:.2f} of {bound[-1]:.2f}")
    0.17 of 1.35

    """
    model: typing.Any = (PUFERegressor if regression else PUFEClassifier).paper(c)
    regrets, magnitudes = [], []
    for t, (x, y) in enumerate(stream):
        model.learn_one(x, y)
        if t >= stream.changes[-1]:
            hedge: AdaNormalHedge = model.hedge
            regrets.append(hedge.regrets.copy())
            magnitudes.append(hedge.magnitudes.copy())
    S = np.array(magnitudes)
    N = S.shape[1]
    B = 1 + 1.5 * (1 + np.log1p(S)).mean(1, keepdims=True)
    return Regret(np.array(regrets), np.sqrt(3 * S * (np.log(N) + np.log(B) + np.log(1 + np.log(N)))))
