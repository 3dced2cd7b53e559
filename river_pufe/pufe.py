"""What does a user train on features that come and go? A classifier and a regressor."""

from __future__ import annotations

from collections.abc import Sequence

from river import base

from .aggregation import AdaNormalHedge, Aggregator
from .answers import EvolvingClassifier, EvolvingRegressor
from .experts.experts import Experts
from .experts.linear import LinearExperts
from .experts.pool import members_of
from .paper import paper_experts, paper_recovery
from .recovery.feature_recovery import FeatureRecovery
from .tasks.classification import Classification, MarginClassification
from .tasks.regression import PlainRegression, Regression
from .tasks.task import Task


class PUFEClassifier(EvolvingClassifier):
    """Classifier for streams whose features come and go.

    It finds from the keys of the samples which feature space is current, completes what is missing, recovers what is
    gone from what is left, and weighs what it has learned in old and new spaces by how well it predicts.

    **When to use it.** When sensors die and new ones are installed, when stations open and close, when keys are missing
    now and then: whenever samples do not all have the same keys, and those that have gone follow, roughly, from those
    that have come. On a stream whose keys never change it is a careful mixture of linear models of the features, of
    their neighbours, and of random Fourier features. It is not made for keys that are seen once and never again (ids,
    rare words).

    Nothing needs to be scaled, ordered or announced. With d features and 300 neighbours a round costs O(d² + 300d), and
    O(300d) above some hundreds of features; with a absent features O(a³ + ad) comes on top, or O(o³ + od) where only o
    are there. Memory is O(d² + 300d), and O(300d) above. Neither depends on how often the features have changed.

    Parameters
    ----------
    model
        What predicts. None: linear models of several features in three views of a sample (`experts.LinearExperts`).
        Any River classifier, pipelines included: each feature space gets a clone, and so do the samples as they come.
        A list of those is a pool under one hedge, and costs as much as all of them.
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
    Accuracy: 96.00%

    >>> [(space.keys, space.state) for space in model.spaces]
    [(('old a', 'old b'), 'retired'), (('new a', 'new b'), 'current')]
    >>> model.recover_one({"new a": 1.0, "new b": 3.0})
    {'old a': 2.00, 'old b': -1.00}

    References
    ----------
    [^1]: Hou, B.J., Zhang, L. and Zhou, Z.H., 2021. Prediction with Unpredictable Feature Evolution. IEEE Transactions
        on Neural Networks and Learning Systems.

    """

    def __init__(
        self,
        model: Experts | base.Classifier | Sequence[Experts | base.Classifier] | None = None,
        recovery: FeatureRecovery | None = None,
        aggregator: Aggregator | None = None,
        task: Task | None = None,
        absent: str = "missing",
    ) -> None:
        for member in members_of(model):
            if not isinstance(member, Experts | base.Classifier):
                raise ValueError(
                    f"model must be a classifier, not {type(member).__name__}; use PUFERegressor for numeric targets"
                )
        super().__init__(model, recovery, aggregator, task if task is not None else Classification(), absent)

    @classmethod
    def paper(cls, c: float = 1.0, radius: float | None = None) -> PUFEClassifier:
        """The method of the paper: its Algorithms 1 to 4.

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


class PUFERegressor(EvolvingRegressor):
    """Regressor for streams whose features come and go.

    As `PUFEClassifier`, for numbers: the target is standardized inside, an error counts for at most four deviations, so
    that an outlier destroys nothing, and a change of the target's scale or unit is followed.

    **When to use it.** As `PUFEClassifier`. The costs are the same.

    Parameters
    ----------
    model
        What predicts. None: linear models of several features in three views of a sample (`experts.LinearExperts`).
        Any River regressor, pipelines included: each feature space gets a clone, and so do the samples as they come.
        A list of those is a pool under one hedge, and costs as much as all of them.
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
    MAE: 0.08

    References
    ----------
    [^1]: Hou, B.J., Zhang, L. and Zhou, Z.H., 2021. Prediction with Unpredictable Feature Evolution. IEEE Transactions
        on Neural Networks and Learning Systems.

    """

    def __init__(
        self,
        model: Experts | base.Regressor | Sequence[Experts | base.Regressor] | None = None,
        recovery: FeatureRecovery | None = None,
        aggregator: Aggregator | None = None,
        task: Task | None = None,
        absent: str = "missing",
    ) -> None:
        for member in members_of(model):
            if not isinstance(member, Experts | base.Regressor):
                raise ValueError(
                    f"model must be a regressor, not {type(member).__name__}; use PUFEClassifier for classes"
                )
        model = model if model is not None else LinearExperts.for_numbers()
        super().__init__(model, recovery, aggregator, task if task is not None else Regression(), absent)

    @classmethod
    def paper(cls, c: float = 1.0, radius: float | None = None) -> PUFERegressor:
        """The method of the paper: its Algorithms 1 to 4, with the squared loss.

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
