"""How does a model predict and learn, and what is noted about it meanwhile?"""

from __future__ import annotations

import itertools
import typing
from collections.abc import Sequence

from river import base, compose, metrics, utils

from .. import files
from ..learning import FeatureEvolving
from ..plot.record import Presence, Series
from ..recovery.evolution import Event
from .show import UsageError

#: The metric of a few samples is all over the place, and would squeeze the rest of the figure.
_SETTLED = 20
_METRICS = {True: ("Accuracy", "MacroF1"), False: ("MAE", "RMSE", "R2")}


class Session:
    """A model at work, by progressive validation.

    Parameters
    ----------
    pipeline
        A model of this package, alone or as the last step of a pipeline.
    names
        Names of metrics of River; a few usual ones if there are none.
    window
        How many samples the first metric looks back at, for the figure.

    """

    def __init__(self, pipeline: typing.Any, names: Sequence[str], window: int) -> None:
        self.pipeline = pipeline
        steps = list(pipeline.steps.values()) if isinstance(pipeline, compose.Pipeline) else [pipeline]
        self.transformers: list[typing.Any] = steps[:-1]
        self.model: typing.Any = steps[-1]
        if not isinstance(self.model, FeatureEvolving):
            raise UsageError(f"{type(self.model).__name__} is not a model of river_pufe")
        self.classifies = isinstance(self.model, base.Classifier)
        kinds = [_metric(name) for name in names or _METRICS[self.classifies]]
        self.metrics = [kind() for kind in kinds]
        for metric in self.metrics:
            if not metric.works_with(self.model):
                task = "classification" if self.classifies else "regression"
                raise UsageError(f"the metric {type(metric).__name__} is not made for {task}")
        self.rolling: typing.Any = utils.Rolling(kinds[0], window_size=window)
        self.rounds = self.n_learned = self.n_scored = 0
        start = self.model.rounds
        self.experienced = start > 0
        self.record, self.scores, self.weights = Presence(start=start), Series(), Series()
        self._event = self.model.events[-1] if self.model.events else None

    def step(self, x: dict[typing.Any, typing.Any], y: typing.Any) -> typing.Any:
        """Predict, then learn; from the features alone where there is no target.

        Returns
        -------
        Probabilities or a number.

        Raises
        ------
        ValueError
            If the sample is a bad one; the model is as it was.

        """
        seen = x
        for transformer in self.transformers:
            seen = transformer.transform_one(seen)
        prediction = self.model.predict_proba_one(seen) if self.classifies else self.model.predict_one(seen)
        if y is not None:
            y = self._check(files.whole(y) if self.classifies else y)
        for transformer in self.transformers:
            transformer.learn_one(x, y) if transformer._supervised else transformer.learn_one(x)
            x = transformer.transform_one(x)
        if y is None:
            self.model.observe_one(x)
        else:
            self.model.learn_one(x, y)
            # Before any label the classes are False and True, which are no classes among texts and numbers.
            if self.knows or not self.classifies or isinstance(y, bool):
                self._score(y, prediction)
            self.n_learned += 1
        self.record.update(x)
        self.weights.add(self.record.rounds - 1, self.model.expert_weights)
        self.rounds += 1
        return prediction

    def _check(self, y: typing.Any) -> typing.Any:
        try:
            return self.model.task.validate(y)
        except ValueError:
            kind = "class" if self.classifies else "finite number"
            raise ValueError(f"the target is {y!r}, which is no {kind} (see --task)") from None

    def _score(self, y: typing.Any, prediction: typing.Any) -> None:
        label = self.label(prediction)
        for metric in (*self.metrics, self.rolling):
            metric.update(y, prediction if self.classifies and not metric.requires_labels else label)
        self.n_scored += 1
        if self.n_scored >= _SETTLED:
            self.scores.add(self.record.rounds, self.rolling.get())

    def label(self, prediction: typing.Any) -> typing.Any:
        """The most probable class, or the number."""
        return max(prediction, key=prediction.get) if self.classifies else prediction

    @property
    def knows(self) -> bool:
        """Whether anything was learned from a target."""
        return self.experienced or self.n_learned > 0

    def news(self) -> list[Event]:
        """What happened to the keys since the last call, oldest first."""
        fresh = list(itertools.takewhile(lambda event: event is not self._event, reversed(self.model.events)))
        self._event = fresh[0] if fresh else self._event
        return fresh[::-1]


def _metric(name: str) -> typing.Any:
    found = getattr(metrics, name, None)
    names = "use a name like Accuracy, LogLoss, ROCAUC, MAE or R2"
    if not (isinstance(found, type) and issubclass(found, metrics.base.Metric)):
        raise UsageError(f"River has no metric {name!r}: {names}")
    try:
        found().get()
    except (TypeError, NotImplementedError):
        raise UsageError(f"the metric {name} is a table, or has parameters of its own: {names}") from None
    return found
