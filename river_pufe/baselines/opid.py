"""What if the features that survive stand in for those that vanish?"""

from __future__ import annotations

import math
import typing
import warnings

import numpy as np
import scipy.linalg

from ..aggregation import Hedge
from ..values import Array, Mask
from .keyed import Keyed, KeyedClassifier, KeyedRegressor

#: Weights are cut to this, so that what is computed from them stays finite.
_FARTHEST = 1e50


class _OPID(Keyed):
    """Ridge regression on keys and on what is left of the model of the stage before."""

    def __init__(
        self,
        ensemble: bool = False,
        alpha: float = 1.0,
        beta: float = 1.0,
        rho: float = 1.0,
        max_keys: int | None = None,
    ) -> None:
        for name, value in (("alpha", alpha), ("beta", beta)):
            if not value >= 0:
                raise ValueError(f"{name} is a number, 0 or more, not {value!r}")
        if not rho > 0:
            raise ValueError(f"rho is a number above 0, not {rho!r}")
        super().__init__(max_keys)
        self.ensemble = ensemble
        self.alpha = alpha
        self.beta = beta
        self.rho = rho
        # The model of the stage before on the keys that survived it, and which those are; None in the first stage.
        self._old_weights: Array = np.zeros(0)
        self._survivors: Mask | None = None
        # What that model says is a feature like others; it stands before them, its weight by itself.
        self._old_weight = 0.0
        self._moments: Array = np.zeros((1, 1))
        self._products: Array = np.zeros(1)
        # A root S of the gain: S Sᵀ is the inverse of the moments plus rho.
        self._root: Array = np.eye(1) / math.sqrt(rho)
        self._hedge = Hedge()
        self._hedge.reset(np.ones(2, dtype=bool), np.ones(2))
        self._warned = False

    def _scores(self, row: Array) -> Array:
        """Scores of the model of this stage and of the one before."""
        old = float(self._old_weights.dot(row))
        return np.array([self._old_weight * old + float(self._weights.dot(row)), old])

    @property
    def _awake(self) -> Array:
        """1 for the models that answer."""
        return np.array([1.0, float(self.ensemble and self._survivors is not None and bool(self._survivors.any()))])

    def _score(self, row: Array, present: Mask) -> float:
        return float(self._hedge.weights(self._awake).dot(self._scores(row)))

    def _learn(self, row: Array, present: Mask, n_new: int, y: typing.Any) -> None:
        if 0 < n_new < len(row):
            self._compress(present[: len(row) - n_new])
        self._warn(present)
        scores, awake = self._scores(row), self._awake
        losses = self._losses(np.append(scores, self._hedge.weights(awake).dot(scores)), y)
        self._hedge.update(losses[:-1], float(losses[-1]), awake)
        self._learn_stage(np.append(scores[1], row), self._signal(y), float(scores[0]))

    def _learn_stage(self, features: Array, target: float, score: float) -> None:
        """Recursive least squares, in the form of Potter, in which the gain cannot become negative by rounding."""
        self._moments += np.outer(features, features)
        self._products += target * features
        inner = features @ self._root
        direction = self._root @ inner
        share = 1.0 / (1.0 + float(inner.dot(inner)))
        self._root -= (share / (1.0 + math.sqrt(share))) * np.outer(direction, inner)
        step = share * (target - score) * direction
        self._old_weight = min(max(self._old_weight + float(step[0]), -_FARTHEST), _FARTHEST)
        self._weights += step[1:]

    def _compress(self, present: Mask) -> None:
        """A stage ends: its model lives on as one of the known keys that are present, and all else starts anew."""
        # Of the features that were there in this stage; there is nothing to know of others.
        used = np.flatnonzero(np.diagonal(self._moments))
        kept = np.flatnonzero(np.append(False, present)[used])
        moments, products = self._moments[np.ix_(used, used)], self._products[used]
        cross, own = moments[:, kept], moments[np.ix_(kept, kept)]
        system = np.block(
            [
                [(1.0 + self.alpha) * moments, -self.alpha * cross],
                [-self.alpha * cross.T, (self.alpha + self.beta) * own],
            ]
        )
        system[np.diag_indices_from(system)] += self.rho
        solution = _solve(system, np.append(products, self.beta * products[kept]))
        d = len(self._weights)
        self._old_weights, self._survivors = np.zeros(d), np.zeros(d, dtype=bool)
        self._old_weights[used[kept] - 1] = solution[len(used) :]
        self._survivors[: len(present)] = present
        self._old_weight, self._weights = 0.0, np.zeros(d)
        self._moments, self._products = np.zeros((1 + d, 1 + d)), np.zeros(1 + d)
        self._root = np.eye(1 + d) / math.sqrt(self.rho)
        self._hedge.reset(np.ones(2, dtype=bool), np.ones(2))

    def _warn(self, present: Mask) -> None:
        """Tell the user, once, that nothing of what was learned before is of use."""
        stranded = self._survivors is not None and present.any() and not self._survivors[present].any()
        if stranded and not self._warned:
            self._warned = True
            warnings.warn(
                "OPID needs features that survive when others vanish; here none of those that it knew before is left, "
                "so it starts anew.",
                stacklevel=5,
            )

    def _extend(self, n: int) -> None:
        super()._extend(n)
        self._old_weights = np.append(self._old_weights, np.zeros(n))
        if self._survivors is not None:
            self._survivors = np.append(self._survivors, np.zeros(n, dtype=bool))
        self._moments = np.pad(self._moments, (0, n))
        self._products = np.append(self._products, np.zeros(n))
        root = np.eye(len(self._products)) / math.sqrt(self.rho)
        root[:-n, :-n] = self._root
        self._root = root

    def _keep(self, mask: Mask) -> None:
        super()._keep(mask)
        self._old_weights = self._old_weights[mask]
        if self._survivors is not None:
            self._survivors = self._survivors[mask]
        kept = np.append(True, mask)
        # Keys are only forgotten when a stage has just begun, so there is nothing of them in its sums.
        self._moments, self._products = self._moments[np.ix_(kept, kept)], self._products[kept]
        self._root = self._root[np.ix_(kept, kept)]


def _solve(system: Array, values: Array) -> Array:
    """Solution of a symmetric system, shape (n,), also where its rows differ much in scale."""
    scales = np.sqrt(np.diagonal(system))
    solution: Array = scipy.linalg.lstsq(system / scales / scales[:, None], values / scales)[0] / scales
    return np.clip(solution, -_FARTHEST, _FARTHEST)


class OPIDClassifier(_OPID, KeyedClassifier):
    """One-pass learning with incremental and decremental features: survivors stand in for what vanishes.

    **When to use it.** To compare with it where the new features come without an overlap, but some of the old ones
    survive: its setting, `Cycle(overlap=0, survivors=0.5)`.

    A stage ends with the first sample that has new keys. Those known keys that it has are the survivors, s; all others
    are taken to have vanished. From sums over the stage, in closed form, a model u of all its features x and a model r
    of the survivors that says the same are learned together:

    $\\min_{u, r} \\sum (u x - y)^2 + \\alpha (u x - r s)^2 + \\beta (r s - y)^2 + \\rho (|u|^2 + |r|^2)$

    In the next stage $r s$ is one more feature, and the model is ridge regression on it, the survivors and the new
    keys, by recursive least squares, with targets of ±1. OPIDe (`ensemble`) mixes it with $r s$ itself, by exponential
    weights as in `Hedge`. An absent key counts as 0.

    The objective is recalled: the paper was not at hand. What it leaves open: during a stage, whose survivors are not
    known yet, the model is plain ridge regression; further stages are like the second one, where what stood in for
    features has vanished as well. Without survivors it starts anew, and says so once. There is no intercept, and
    features should be scaled. Costs O(d²) for d keys, and O(d³) when a stage ends.

    Parameters
    ----------
    ensemble
        Whether the model of the stage before goes on answering beside the new one (OPIDe).
    alpha
        Weight of the agreement of u and r.
    beta
        Weight of the errors of r.
    rho
        Weight of the squared norms. Towards 0 the first rounds of a stage fit noise; large values learn slowly.
    max_keys
        Number of keys that are remembered, if samples have no more; those not seen for longest are forgotten first.
        None: eight times as many as the widest sample had.

    Attributes
    ----------
    weights
        Weights by key in this stage.

    Examples
    --------
    >>> from river import evaluate, metrics, preprocessing
    >>> from river.datasets import Phishing
    >>> from river_pufe import baselines, datasets
    >>> stream = datasets.MappedSpaces(Phishing(), datasets.Cycle(overlap=0, survivors=0.5), seed=1)
    >>> for ensemble in (False, True):
    ...     model = preprocessing.StandardScaler() | baselines.OPIDClassifier(ensemble)
    ...     print(evaluate.progressive_val_score(stream, model, metrics.Accuracy()))
    Accuracy: 89.44%
    Accuracy: 89.52%

    References
    ----------
    [^1]: [Hou, C. and Zhou, Z.H., 2018. One-pass learning with incremental and decremental features. IEEE
        Transactions on Pattern Analysis and Machine Intelligence, 40(11).](https://arxiv.org/abs/1605.09082)

    """


class OPIDRegressor(_OPID, KeyedRegressor):
    """One-pass learning with incremental and decremental features: survivors stand in for what vanishes.

    **When to use it.** As `OPIDClassifier`, for numbers. There is no intercept, so the target should be centered.

    Parameters
    ----------
    ensemble
        Whether the model of the stage before goes on answering beside the new one (OPIDe).
    alpha
        Weight of the agreement of the model of all features and that of the survivors.
    beta
        Weight of the errors of the model of the survivors.
    rho
        Weight of the squared norms. Towards 0 the first rounds of a stage fit noise; large values learn slowly.
    max_keys
        Number of keys that are remembered, if samples have no more; those not seen for longest are forgotten first.
        None: eight times as many as the widest sample had.

    Attributes
    ----------
    weights
        Weights by key in this stage.

    Examples
    --------
    >>> from river import evaluate, metrics
    >>> from river_pufe import baselines, datasets
    >>> cycle = datasets.Cycle(overlap=0, survivors=0.5)
    >>> stream = datasets.HiddenFactors(cycle, regression=True, n_samples=600, seed=1)
    >>> evaluate.progressive_val_score(stream, baselines.OPIDRegressor(), metrics.MAE())
    MAE: 0.02

    References
    ----------
    [^1]: [Hou, C. and Zhou, Z.H., 2018. One-pass learning with incremental and decremental features. IEEE
        Transactions on Pattern Analysis and Machine Intelligence, 40(11).](https://arxiv.org/abs/1605.09082)

    """
