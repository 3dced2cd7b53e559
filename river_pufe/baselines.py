"""What is PUFE compared with? The base models and the rivals of the paper.

All of them are made of PUFE's parts. They differ in what predicts once a feature space has gone, in what goes on
learning, and in what weighs the experts:

| method | what predicts | what learns | an overlap with gaps | weights |
|---|---|---|---|---|
| NOGD | the current model | the current model | is of no use | - |
| ROGD | the old model, on recovered rows | both (ROGD-u), or the current one (ROGD-f) | is filled with zeros | - |
| FESL | both | both | is filled with zeros, with a warning | hedge (FESL-c), fixed share (FESL-s) |
| PUFE | both | both | is completed | AdaNormalHedge |

They assume what the paper assumes: features that are scaled already, keys that are absent only once they are gone, and
new keys that come all at once. During an overlap the old model predicts, on what is left of its features, and all
models rest.

"""

from __future__ import annotations

import typing
import warnings

import numpy as np
from river import base

from .aggregation import AdaNormalHedge, Aggregator, FixedShare, Hedge
from .answers import EvolvingClassifier, EvolvingRegressor
from .experts.learners import OnlineGradientDescent
from .experts.per_space import SpaceExperts
from .learning import FeatureEvolving
from .paper import paper_recovery
from .recovery.completion import Completion
from .recovery.reading import Reading
from .sketch import FrequentDirections
from .tasks.classification import MarginClassification
from .tasks.regression import PlainRegression
from .tasks.task import Task
from .values import Array, Mask, Sample

__all__ = [
    "FESLClassifier",
    "FESLRegressor",
    "NOGDClassifier",
    "NOGDRegressor",
    "ROGDClassifier",
    "ROGDRegressor",
    "Zeros",
]


class Zeros(Completion):
    """Zeros for what is absent, as long as anything is observed.

    **When to use it.** To reproduce the baselines of the paper. Where absence means zero, say so with
    `FeatureSpaces(absent="zero")` instead.

    Costs O(d).

    Examples
    --------
    >>> import numpy as np
    >>> from river_pufe.baselines import Zeros
    >>> from river_pufe.sketch import FrequentDirections
    >>> Zeros().complete(np.array([1.0, np.nan]), np.array([False, True]), FrequentDirections())
    array([1., 0.])

    """

    def complete(self, row: Array, absent: Mask, sketch: FrequentDirections) -> Array | None:
        return None if absent.all() else np.where(absent, 0.0, row)


class _Baseline(FeatureEvolving):
    """PUFE's parts, chosen differently."""

    #: What judges predictions, for classes or for numbers.
    _task_of_the_paper: typing.ClassVar[type[Task]]

    def __init__(
        self,
        c: float,
        radius: float | None,
        roles: tuple[str, ...],
        frozen: bool = False,
        aggregator: Aggregator | None = None,
    ) -> None:
        self.c = c
        self.radius = radius
        super().__init__(
            SpaceExperts(OnlineGradientDescent(c, radius), roles, in_overlap=False, frozen=frozen),
            paper_recovery(Zeros()),
            aggregator or AdaNormalHedge(),
            self._task_of_the_paper(),
            "missing",
        )


class _Classifier(_Baseline, EvolvingClassifier):
    _task_of_the_paper = MarginClassification


class _Regressor(_Baseline, EvolvingRegressor):
    _task_of_the_paper = PlainRegression


class _NOGD(_Baseline):
    def __init__(self, c: float = 1.0, radius: float | None = None) -> None:
        super().__init__(c, radius, roles=("current",))


class NOGDClassifier(_NOGD, _Classifier):
    """Naive online gradient descent: start from scratch in each feature space.

    **When to use it.** To see what old knowledge is worth: this is a linear classifier without any.

    Costs O(d) and the recovery that it does not use, see `FeatureRecovery`.

    Parameters
    ----------
    c
        Step sizes are $1 / (c \\sqrt t)$, as for `OnlineGradientDescent`.
    radius
        Radius of the ball on which weights are projected; None leaves them free.

    Examples
    --------
    >>> from river import evaluate, metrics
    >>> from river_pufe import baselines, datasets
    >>> stream = datasets.HiddenFactors(n_samples=600, seed=1)
    >>> evaluate.progressive_val_score(stream, baselines.NOGDClassifier(), metrics.Accuracy())
    Accuracy: 94.33%

    References
    ----------
    [^1]: [Hou, B.J., Zhang, L. and Zhou, Z.H., 2017. Learning with feature evolvable streams.
        NeurIPS.](https://papers.neurips.cc/paper/2017/hash/7634ea65a4e6d9041cfd3f7de18e334a-Abstract.html)

    """


class NOGDRegressor(_NOGD, _Regressor):
    """Naive online gradient descent: start from scratch in each feature space.

    **When to use it.** As `NOGDClassifier`, for numbers. There is no intercept, so the target should be centered.

    Parameters
    ----------
    c
        Step sizes are $1 / (c \\sqrt t)$, as for `OnlineGradientDescent`; large targets need a large c.
    radius
        Radius of the ball on which weights are projected; None leaves them free.

    Examples
    --------
    >>> from river import evaluate, metrics
    >>> from river_pufe import baselines, datasets
    >>> stream = datasets.HiddenFactors(regression=True, n_samples=600, seed=1)
    >>> evaluate.progressive_val_score(stream, baselines.NOGDRegressor(c=10), metrics.MAE())
    MAE: 0.07

    """


class _ROGD(_Baseline):
    def __init__(self, updating: bool = True, c: float = 1.0, radius: float | None = None) -> None:
        super().__init__(c, radius, roles=("previous",), frozen=not updating)
        self.updating = updating


class ROGDClassifier(_ROGD, _Classifier):
    """Recovered online gradient descent: go on with the model of the old features, on what they would have read.

    **When to use it.** To see how good recovered rows are, with nothing else to help.

    An overlap that is not complete is filled with zeros before the map is learned. Where nothing can be recovered the
    current model predicts. Costs as much as `FeatureRecovery`.

    Parameters
    ----------
    updating
        Whether the old model goes on learning, on recovered rows (ROGD-u), or is left as it is (ROGD-f).
    c
        Step sizes are $1 / (c \\sqrt t)$, as for `OnlineGradientDescent`.
    radius
        Radius of the ball on which weights are projected; None leaves them free.

    Examples
    --------
    >>> from river import evaluate, metrics
    >>> from river_pufe import baselines, datasets
    >>> stream = datasets.HiddenFactors(n_samples=600, seed=1)
    >>> evaluate.progressive_val_score(stream, baselines.ROGDClassifier(), metrics.Accuracy())
    Accuracy: 92.83%

    References
    ----------
    [^1]: [Hou, B.J., Zhang, L. and Zhou, Z.H., 2017. Learning with feature evolvable streams.
        NeurIPS.](https://papers.neurips.cc/paper/2017/hash/7634ea65a4e6d9041cfd3f7de18e334a-Abstract.html)

    """


class ROGDRegressor(_ROGD, _Regressor):
    """Recovered online gradient descent: go on with the model of the old features, on what they would have read.

    **When to use it.** As `ROGDClassifier`, for numbers. There is no intercept, so the target should be centered.

    Parameters
    ----------
    updating
        Whether the old model goes on learning, on recovered rows (ROGD-u), or is left as it is (ROGD-f).
    c
        Step sizes are $1 / (c \\sqrt t)$, as for `OnlineGradientDescent`; large targets need a large c.
    radius
        Radius of the ball on which weights are projected; None leaves them free.

    Examples
    --------
    >>> from river import evaluate, metrics
    >>> from river_pufe import baselines, datasets
    >>> stream = datasets.HiddenFactors(regression=True, n_samples=600, seed=1)
    >>> evaluate.progressive_val_score(stream, baselines.ROGDRegressor(c=10), metrics.MAE())
    MAE: 0.16

    """


class _FESL(_Baseline):
    def __init__(
        self,
        strategy: str = "combination",
        horizon: int | None = None,
        c: float = 1.0,
        radius: float | None = None,
        seed: int | None = None,
    ) -> None:
        aggregator: Aggregator
        if strategy == "combination":
            aggregator = Hedge(horizon)
        elif strategy == "selection":
            aggregator = FixedShare(horizon, seed)
        else:
            raise ValueError(f"strategy is 'combination' or 'selection', not {strategy!r}")
        super().__init__(c, radius, roles=("current", "previous"), aggregator=aggregator)
        self.strategy = strategy
        self.horizon = horizon
        self.seed = seed
        self._warned = False

    def _learn(self, reading: Reading, predicted: tuple[Array, Array] | None, y: typing.Any, w: float) -> None:
        super()._learn(reading, predicted, y, w)
        if self.overlapping:
            # The old model is alone in an overlap, which is no reason to trust it less once it is over.
            self._reset(np.ones(len(self._experts.names), dtype=bool))

    def _follow(self, x: Sample) -> tuple[Reading, tuple[Array, Array] | None]:
        reading, predicted = super()._follow(x)
        if not self._warned and reading.sees_previous and np.isnan(reading.row).any():
            self._warned = True
            successor = "PUFEClassifier" if isinstance(self, base.Classifier) else "PUFERegressor"
            warnings.warn(
                "FESL needs an intact overlap, in which each sample has all features of the old and of the new space; "
                f"here some are absent, and 0 stands in for them. Use {successor}() instead: it completes them.",
                stacklevel=4,
            )
        return reading, predicted


class FESLClassifier(_FESL, _Classifier):
    """Feature evolvable streaming learning: the recovered old model and the current one, weighed by losses.

    **When to use it.** To compare with FESL. It needs an overlap in which all features of both spaces are there; where
    they are not, it warns, and fills in zeros.

    Costs as much as `FeatureRecovery`.

    Parameters
    ----------
    strategy
        ``"combination"``: predictions are averaged, with exponential weights (FESL-c, `Hedge`). ``"selection"``: one of
        them is drawn, with weights of which a part is shared in each round (FESL-s, `FixedShare`).
    horizon
        Number of rounds in each period, from which the learning rate of the weights follows. None: the number of rounds
        so far stands in for it.
    c
        Step sizes are $1 / (c \\sqrt t)$, as for `OnlineGradientDescent`.
    radius
        Radius of the ball on which weights are projected; None leaves them free.
    seed
        Seed of the draws of the selection.

    Examples
    --------
    >>> from river import evaluate, metrics
    >>> from river_pufe import baselines, datasets
    >>> stream = datasets.HiddenFactors(datasets.Cycle(unpredictable=False), n_samples=600, seed=1)
    >>> evaluate.progressive_val_score(stream, baselines.FESLClassifier(), metrics.Accuracy())
    Accuracy: 96.50%
    >>> model = baselines.FESLClassifier(strategy="selection", seed=1)
    >>> evaluate.progressive_val_score(stream, model, metrics.Accuracy())
    Accuracy: 96.17%

    References
    ----------
    [^1]: [Hou, B.J., Zhang, L. and Zhou, Z.H., 2017. Learning with feature evolvable streams.
        NeurIPS.](https://papers.neurips.cc/paper/2017/hash/7634ea65a4e6d9041cfd3f7de18e334a-Abstract.html)

    """


class FESLRegressor(_FESL, _Regressor):
    """Feature evolvable streaming learning: the recovered old model and the current one, weighed by losses.

    **When to use it.** As `FESLClassifier`, for numbers. There is no intercept, so the target should be centered.

    Parameters
    ----------
    strategy
        ``"combination"`` (FESL-c) or ``"selection"`` (FESL-s), as for `FESLClassifier`.
    horizon
        Number of rounds in each period. None: the number of rounds so far stands in for it.
    c
        Step sizes are $1 / (c \\sqrt t)$, as for `OnlineGradientDescent`; large targets need a large c.
    radius
        Radius of the ball on which weights are projected; None leaves them free.
    seed
        Seed of the draws of the selection.

    Examples
    --------
    >>> from river import evaluate, metrics
    >>> from river_pufe import baselines, datasets
    >>> cycle = datasets.Cycle(unpredictable=False)
    >>> stream = datasets.HiddenFactors(cycle, regression=True, n_samples=600, seed=1)
    >>> evaluate.progressive_val_score(stream, baselines.FESLRegressor(c=10), metrics.MAE())
    MAE: 0.05

    """
