"""What does a user train on features that come and go? A classifier and a regressor."""

from __future__ import annotations

import math
import typing

import numpy as np
from river import base
from river.utils import dataframe

from .aggregation import AdaNormalHedge, Aggregator
from .base import FeatureEvolving
from .completion import RowSpace
from .experts import Experts
from .frames import Batch
from .learners import OnlineGradientDescent
from .linear_map import LinearMap
from .recovery import FeatureRecovery
from .scaling import NoScaler
from .space_experts import SpaceExperts
from .spaces import FeatureSpaces, Sample
from .tasks import Classification, MarginClassification, PlainRegression, Regression, Task

#: Rows of the sketches of the paper's method: more than the columns of any of its data sets, so that nothing is lost.
_LOSSLESS = 1024


def paper_recovery() -> FeatureRecovery:
    """Algorithms 2 and 3 of the paper: rows as they are, completed on the row space, and mapped by a pseudo-inverse.

    The paper assumes that nothing is missing but for good and that all new keys come at once, so a key has vanished in
    the first round in which it is absent, the first unknown key opens a space, and an overlap ends when all previous
    keys are gone.
    """
    return FeatureRecovery(
        feature_spaces=FeatureSpaces(significance=1.0, grace=0, patience=math.inf),
        scaler=NoScaler(),
        completion=RowSpace(),
        linear_map=LinearMap(ridge=0.0, intercept=False, size=_LOSSLESS),
    )


def paper_experts(c: float, radius: float | None) -> SpaceExperts:
    """Algorithms 1 and 4 of the paper: online gradient descent on each space, at rest during overlaps."""
    return SpaceExperts(OnlineGradientDescent(c, radius), in_overlap=False)


class PUFEClassifier(FeatureEvolving, base.MiniBatchClassifier):
    """Classifier for streams whose features come and go.

    It finds from the keys of the samples which feature space is current, completes what is missing, recovers what is
    gone from what is left, and weighs what it has learned in old and new spaces by how well it predicts.

    **When to use it.** When sensors die and new ones are installed, when stations open and close, when keys are missing
    now and then: whenever samples do not all have the same keys, and those that have gone can be told, roughly, from
    those that have come. On a stream whose keys never change it is a well-regularized linear classifier. It is not made
    for keys that are seen once and never again (ids, rare words), nor for targets that no linear model can learn; for
    those give it another `model`.

    Nothing needs to be scaled, ordered, or told. With d features and ℓ = 32 rows of the sketch a round costs O(d² + ℓd)
    for d up to 600 and O(ℓd) above, memory O(ℓd) per feature space (and d² numbers below 600); neither depends on how
    often the features have changed.

    Parameters
    ----------
    model
        Who predicts. None: linear experts in three views of a sample (`experts.LinearExperts`). Any River classifier,
        pipelines included: each feature space gets a clone, and so do the samples as they come.
    recovery
        What finds the spaces, completes and recovers rows; `FeatureRecovery` by default.
    aggregator
        What weighs the experts. `AdaNormalHedge` by default, with a memory of about a hundred rounds.
    task
        How predictions are mixed and judged. By default probabilities by the Brier loss.
    absent
        What it means that a key is not in a sample. ``"missing"``: a value that was not reported; it is completed from
        the others. ``"zero"``: the value is 0 (a radio out of range, a word not in the text). Where `recovery` is
        given, its `feature_spaces` say it.

    Attributes
    ----------
    spaces
        The feature spaces, oldest first, each with `keys`, `state`, `opened_at` and `vanished`.
    overlapping
        Whether the previous and the current space are both alive.
    vanished
        The keys that are regarded as gone.
    events
        What happened to the keys lately.
    expert_weights
        Weights of the experts in the latest round, by name.

    Examples
    --------
    Two sensors are replaced, one after the other, while the new ones are up already.

    >>> import random
    >>> from river import evaluate, metrics
    >>> from river_pufe import PUFEClassifier
    >>> def stream(n=400, seed=42):
    ...     rng = random.Random(seed)
    ...     for t in range(n):
    ...         a, b = rng.gauss(0, 1), rng.gauss(0, 1)
    ...         x = {"old a": a, "old b": b, "new a": a + b, "new b": a - b}
    ...         if t < 180: del x["new a"], x["new b"]
    ...         if t >= 195: del x["old a"]
    ...         if t >= 200: del x["old b"]
    ...         yield x, a > b
    >>> model = PUFEClassifier()
    >>> evaluate.progressive_val_score(stream(), model, metrics.Accuracy())
    Accuracy: 96.25%

    >>> [(space.keys, space.state) for space in model.spaces]
    [(('old a', 'old b'), 'retired'), (('new a', 'new b'), 'current')]
    >>> model.recover_one({"new a": 1.0, "new b": 3.0})
    {'old a': 1.9, 'old b': -1.0}

    References
    ----------
    [^1]: Hou, B.J., Zhang, L. and Zhou, Z.H., 2021. Prediction with Unpredictable Feature Evolution. IEEE Transactions
        on Neural Networks and Learning Systems.

    """

    def __init__(
        self,
        model: Experts | base.Classifier | None = None,
        recovery: FeatureRecovery | None = None,
        aggregator: Aggregator | None = None,
        task: Task | None = None,
        absent: str = "missing",
    ) -> None:
        if not (model is None or isinstance(model, Experts | base.Classifier)):
            raise ValueError(f"model is {model!r}, which is no classifier: for numbers there is PUFERegressor")
        super().__init__(model, recovery, aggregator, task if task is not None else Classification(), absent)

    @classmethod
    def paper(cls, c: float = 1.0, radius: float | None = None) -> PUFEClassifier:
        """The method of the paper to the letter: Algorithms 1 to 4.

        **When to use it.** To reproduce or study the paper. It assumes what the paper assumes: features that are scaled
        already, keys that are absent only once they are gone, and new keys that come all at once.

        Parameters
        ----------
        c
            Step sizes are $1 / (c \\sqrt t)$, t counted from the start of each period.
        radius
            Radius of the ball on which weights are projected; None leaves them free.

        Examples
        --------
        >>> from river_pufe import PUFEClassifier
        >>> model = PUFEClassifier.paper(c=10)
        >>> model.learn_one({"a": 1.0}, True)
        >>> model.predict_proba_one({"a": 1.0})
        {False: 0.49, True: 0.51}

        """
        return cls(paper_experts(c, radius), paper_recovery(), AdaNormalHedge(), MarginClassification())

    @property
    def _multiclass(self) -> bool:
        return bool(getattr(self.model, "_multiclass", True))

    def predict_proba_one(self, x: Sample, **kwargs: typing.Any) -> dict[typing.Any, float]:
        """Probabilities of the classes seen so far.

        Raises
        ------
        ValueError
            If a value is not a finite number.

        """
        answer: dict[typing.Any, float] = self._task.answer(self._mixture(x))
        return answer

    def predict_proba_many(self, X: typing.Any) -> typing.Any:
        """Probabilities of the classes for the rows of a frame: a frame of the same kind, one column per class.

        Raises
        ------
        ValueError
            If a cell is not a finite number.

        """
        batch = Batch(X)
        answers = [self._task.answer(mixture) for mixture in self._mixtures(batch)]
        labels = self._task.answer(np.zeros(self._task.n_columns))
        columns = {label: [answer[label] for answer in answers] for label in labels}
        return dataframe.to_native_frame(columns, like=batch.frame)

    def predict_many(self, X: typing.Any) -> typing.Any:
        """The most probable classes for the rows of a frame: a series of the same kind.

        Raises
        ------
        ValueError
            If a cell is not a finite number.

        """
        batch = Batch(X)
        answers = [self._task.answer(mixture) for mixture in self._mixtures(batch)]
        labels = [max(answer, key=answer.__getitem__) for answer in answers]
        return dataframe.to_native_series(labels, name=None, like=batch.frame)


class PUFERegressor(FeatureEvolving, base.MiniBatchRegressor):
    """Regressor for streams whose features come and go.

    As `PUFEClassifier`, for numbers: the target is standardized inside, an error counts for at most four deviations, so
    that an outlier destroys nothing, and a change of the target's scale or unit is followed.

    **When to use it.** As `PUFEClassifier`. The costs are the same.

    Parameters
    ----------
    model
        Who predicts. None: linear experts in three views of a sample (`experts.LinearExperts`). Any River regressor,
        pipelines included: each feature space gets a clone, and so do the samples as they come.
    recovery
        What finds the spaces, completes and recovers rows; `FeatureRecovery` by default.
    aggregator
        What weighs the experts. `AdaNormalHedge` by default, with a memory of about a hundred rounds.
    task
        How predictions are mixed and judged. By default standardized numbers by the squared error.
    absent
        What it means that a key is not in a sample: ``"missing"`` or ``"zero"``, as for `PUFEClassifier`.

    Attributes
    ----------
    spaces
        The feature spaces, oldest first, each with `keys`, `state`, `opened_at` and `vanished`.
    overlapping
        Whether the previous and the current space are both alive.
    vanished
        The keys that are regarded as gone.
    events
        What happened to the keys lately.
    expert_weights
        Weights of the experts in the latest round, by name.

    Examples
    --------
    >>> from river import evaluate, metrics
    >>> from river_pufe import PUFERegressor, datasets
    >>> stream = datasets.HiddenFactors(regression=True, noise=0.1, n_samples=600, seed=1)
    >>> evaluate.progressive_val_score(stream, PUFERegressor(), metrics.MAE())
    MAE: 0.12

    References
    ----------
    [^1]: Hou, B.J., Zhang, L. and Zhou, Z.H., 2021. Prediction with Unpredictable Feature Evolution. IEEE Transactions
        on Neural Networks and Learning Systems.

    """

    def __init__(
        self,
        model: Experts | base.Regressor | None = None,
        recovery: FeatureRecovery | None = None,
        aggregator: Aggregator | None = None,
        task: Task | None = None,
        absent: str = "missing",
    ) -> None:
        if not (model is None or isinstance(model, Experts | base.Regressor)):
            raise ValueError(f"model is {model!r}, which is no regressor: for classes there is PUFEClassifier")
        super().__init__(model, recovery, aggregator, task if task is not None else Regression(), absent)

    @classmethod
    def paper(cls, c: float = 1.0, radius: float | None = None) -> PUFERegressor:
        """The method of the paper to the letter: Algorithms 1 to 4, with the squared loss.

        **When to use it.** As `PUFEClassifier.paper`, with the same parameters.

        Parameters
        ----------
        c
            Step sizes are $1 / (c \\sqrt t)$, t counted from the start of each period.
        radius
            Radius of the ball on which weights are projected; None leaves them free.

        Examples
        --------
        >>> from river_pufe import PUFERegressor
        >>> model = PUFERegressor.paper(c=10)
        >>> model.learn_one({"a": 1.0}, 2.0)
        >>> model.predict_one({"a": 1.0})
        0.4

        """
        return cls(paper_experts(c, radius), paper_recovery(), AdaNormalHedge(), PlainRegression())

    def predict_one(self, x: Sample, **kwargs: typing.Any) -> float:
        """The expected target; 0.0 before anything was learned.

        Raises
        ------
        ValueError
            If a value is not a finite number.

        """
        answer: float = self._task.answer(self._mixture(x))
        return answer

    def predict_many(self, X: typing.Any) -> typing.Any:
        """The expected targets for the rows of a frame: a series of the same kind.

        Raises
        ------
        ValueError
            If a cell is not a finite number.

        """
        batch = Batch(X)
        answers = [self._task.answer(mixture) for mixture in self._mixtures(batch)]
        return dataframe.to_native_series(answers, name=None, like=batch.frame)
