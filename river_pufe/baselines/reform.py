"""Which of the new keys are like those that vanished, and so deserve their weights?"""

from __future__ import annotations

import math
import typing
import warnings

import numpy as np
import numpy.typing as npt
import scipy.linalg

from ..values import Array, Mask
from .keyed import Keyed, KeyedClassifier, KeyedRegressor

#: Sinkhorn's iterations end after so many, or when the sums are right to this share.
_N_SWEEPS, _BALANCED = 100, 1e-12


class _REFORM(Keyed):
    """Gradient descent that shrinks towards weights that were carried over from keys that have vanished."""

    def __init__(
        self,
        c: float = 1.0,
        shrinkage: float = 0.01,
        wait: int = 10,
        ridge: float = 0.1,
        entropy: float = 0.1,
        max_keys: int | None = None,
    ) -> None:
        for name, value in (("c", c), ("ridge", ridge), ("entropy", entropy)):
            if not value > 0:
                raise ValueError(f"{name} is a number above 0, not {value!r}")
        if not shrinkage >= 0:
            raise ValueError(f"shrinkage is a number, 0 or more, not {shrinkage!r}")
        if not wait >= 1:
            raise ValueError(f"wait is a number of rounds, 1 or more, not {wait!r}")
        super().__init__(max_keys)
        self.c = c
        self.shrinkage = shrinkage
        self.wait = wait
        self.ridge = ridge
        self.entropy = entropy
        # What the weights shrink to.
        self._prior: Array = np.zeros(0)
        # Sums of products of values, and the numbers of rounds in which both keys were there.
        self._moments: Array = np.zeros((0, 0))
        self._counts: Array = np.zeros((0, 0))
        self._born: npt.NDArray[np.int64] = np.zeros(0, dtype=np.int64)
        # The rounds in which this period and the one before began, and whether weights are to be carried over yet.
        self._began = self._began_before = 0
        self._waiting = False
        self._warned = False

    def _score(self, row: Array, present: Mask) -> float:
        return float(self._weights.dot(row))

    def _learn(self, row: Array, present: Mask, n_new: int, y: typing.Any) -> None:
        if 0 < n_new < len(row) and not self._waiting:
            self._began, self._began_before, self._waiting = self._rounds, self._began, True
        step = 1.0 / (self.c * math.sqrt(self._rounds - self._began + 1))
        error = self._error(float(self._weights.dot(row)), y)
        pull = min(step * self.shrinkage, 1.0)
        self._weights += step * error * row - pull * (self._weights - self._prior)
        self._moments += np.outer(row, row)
        self._counts += np.outer(present, present)
        if self._waiting and self._rounds - self._began + 1 >= self.wait:
            self._waiting = False
            self._carry_over()

    def _carry_over(self) -> None:
        """Move the weights of keys that have vanished to new ones that have as much to do with the survivors."""
        is_new, alive = self._born >= self._began, self._seen >= self._began
        survivors = np.flatnonzero(~is_new & alive)
        vanished = np.flatnonzero(~is_new & ~alive & (self._seen >= self._began_before))
        new = np.flatnonzero(is_new)
        if len(vanished) == 0:
            return
        if len(survivors) == 0:
            self._warn()
            return
        moments = self._moments / np.maximum(self._counts, 1.0)
        own = moments[np.ix_(survivors, survivors)]
        own[np.diag_indices_from(own)] += self.ridge
        others = np.append(vanished, new)
        # What is told of each key by the survivors stands for it.
        meanings = scipy.linalg.lstsq(own, moments[np.ix_(survivors, others)])[0].T
        plan = transport(meanings[len(vanished) :], meanings[: len(vanished)], self.entropy)
        carried = len(new) * plan @ self._weights[vanished]
        self._prior[new] = carried
        self._weights[new] += carried

    def _warn(self) -> None:
        if not self._warned:
            self._warned = True
            warnings.warn(
                "REFORM needs features that survive when others vanish; here there are none, so it starts anew.",
                stacklevel=6,
            )

    def _extend(self, n: int) -> None:
        super()._extend(n)
        self._prior = np.append(self._prior, np.zeros(n))
        self._moments, self._counts = np.pad(self._moments, (0, n)), np.pad(self._counts, (0, n))
        self._born = np.append(self._born, np.full(n, self._rounds))

    def _keep(self, mask: Mask) -> None:
        super()._keep(mask)
        both = np.ix_(mask, mask)
        self._prior, self._born = self._prior[mask], self._born[mask]
        self._moments, self._counts = self._moments[both], self._counts[both]


def transport(rows: Array, columns: Array, entropy: float) -> Array:
    """The plan that carries equal masses from columns to equal masses of rows at the least cost, and is not too sharp.

    Minimizes $\\langle S, Q \\rangle - \\epsilon H(S)$ by Sinkhorn's iterations, with Q the squared distances and H the
    entropy.

    Parameters
    ----------
    rows
        Points, shape (n, d).
    columns
        Points, shape (m, d).
    entropy
        ε as a share of the mean cost: towards 0 each point goes to its nearest ones, large values mix all.

    Returns
    -------
    Shape (n, m), with sums of 1/n in rows and 1/m in columns.

    """
    costs = np.square(rows[:, None] - columns).sum(2)
    logs = -costs / ((entropy * costs.mean()) or 1.0)
    for _ in range(_N_SWEEPS):
        logs -= _log_sums(logs, 0) + math.log(len(columns))
        excess = _log_sums(logs, 1) + math.log(len(rows))
        logs -= excess
        if np.abs(excess).max() < _BALANCED:
            break
    plan: Array = np.exp(logs)
    return plan


def _log_sums(logs: Array, axis: int) -> Array:
    """Logs of sums of what the logs are of; much faster for small arrays than SciPy's."""
    top = logs.max(axis, keepdims=True)
    sums: Array = np.log(np.exp(logs - top).sum(axis, keepdims=True)) + top
    return sums


class REFORMClassifier(_REFORM, KeyedClassifier):
    """Rectify via heterogeneous predictor mapping: new keys take over the weights of old ones that meant the same.

    **When to use it.** To compare with it where features are replaced without an overlap, and some survive.

    The paper's method is for batches; this is its idea on a stream. A linear model learns by gradient descent on the
    logistic loss, with steps of $1 / (c \\sqrt t)$, t counted from the latest change: the first sample with new keys.
    Once `wait` samples have come since, keys that were not seen in them have vanished, and the others that were known
    are survivors. What a key means is told by the coefficients of the ridge regression that predicts it from the
    survivors. Optimal transport carries the weights of the vanished keys to new ones that mean the same,
    $w_1 = n S w_0$ with n the number of new keys and S the plan of `transport`, so that each new key gets a weighted
    mean of old weights. From there on the weights shrink to $w_1$, as by $\\frac{\\lambda}{2} |w - w_1|^2$ in the loss.

    The formulas are recalled: the paper was not at hand. Left open are costs, here squared distances, and ε, a share of
    the mean cost. The weights of survivors stay, and shrink to 0. Without survivors nothing is carried over, which is
    said once. There is no intercept, and features should be scaled. Costs O(d²) for d keys, in time and memory, and
    O(d³) after a change.

    Parameters
    ----------
    c
        Steps are $1 / (c \\sqrt t)$. Towards 0 they explode; large values learn nothing.
    shrinkage
        λ: how strongly weights shrink to those that were carried over.
    wait
        Number of samples from which the meaning of new keys is told.
    ridge
        Ridge of that regression, added to mean squares of the survivors.
    entropy
        ε of the transport, as a share of the mean cost.
    max_keys
        Number of keys that are remembered, if samples have no more; those not seen for longest are forgotten first.
        None: eight times as many as the widest sample had.

    Attributes
    ----------
    weights
        Weights by key.

    Examples
    --------
    >>> from river import evaluate, metrics, preprocessing
    >>> from river.datasets import Phishing
    >>> from river_pufe import baselines, datasets
    >>> stream = datasets.MappedSpaces(Phishing(), datasets.Cycle(overlap=0, survivors=0.5), seed=1)
    >>> model = preprocessing.StandardScaler() | baselines.REFORMClassifier()
    >>> evaluate.progressive_val_score(stream, model, metrics.Accuracy())
    Accuracy: 87.84%

    References
    ----------
    [^1]: [Ye, H.J., Zhan, D.C., Jiang, Y. and Zhou, Z.H., 2018. Rectify heterogeneous models with semantic mapping.
        ICML.](https://proceedings.mlr.press/v80/ye18c.html)

    """


class REFORMRegressor(_REFORM, KeyedRegressor):
    """Rectify via heterogeneous predictor mapping: new keys take over the weights of old ones that meant the same.

    **When to use it.** As `REFORMClassifier`, for numbers, with the squared loss. There is no intercept, so the target
    should be centered.

    Parameters
    ----------
    c
        Steps are $1 / (c \\sqrt t)$; large targets need a large c.
    shrinkage
        λ: how strongly weights shrink to those that were carried over.
    wait
        Number of samples from which the meaning of new keys is told.
    ridge
        Ridge of the regression that tells it, added to mean squares of the survivors.
    entropy
        ε of the transport, as a share of the mean cost.
    max_keys
        Number of keys that are remembered, if samples have no more; those not seen for longest are forgotten first.
        None: eight times as many as the widest sample had.

    Attributes
    ----------
    weights
        Weights by key.

    Examples
    --------
    >>> from river import evaluate, metrics
    >>> from river_pufe import baselines, datasets
    >>> cycle = datasets.Cycle(overlap=0, survivors=0.5)
    >>> stream = datasets.HiddenFactors(cycle, regression=True, n_samples=600, seed=1)
    >>> evaluate.progressive_val_score(stream, baselines.REFORMRegressor(c=10), metrics.MAE())
    MAE: 0.06

    References
    ----------
    [^1]: [Ye, H.J., Zhan, D.C., Jiang, Y. and Zhou, Z.H., 2018. Rectify heterogeneous models with semantic mapping.
        ICML.](https://proceedings.mlr.press/v80/ye18c.html)

    """
