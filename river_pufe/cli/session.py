"""How does a model predict and learn, and what is noted about it meanwhile?"""

from __future__ import annotations

import itertools
import math
import typing
from collections.abc import Mapping, Sequence

from river import base, compose

from .. import files
from ..fleet import Fleet
from ..learning import FeatureEvolving
from ..plot.record import Presence, Series, Timeline
from ..recovery.evolution import Event
from . import advice
from .alarms import Budget
from .figures import Picture
from .rival import NAME, Rival, RivalClassifier, RivalRegressor
from .scores import Classes, Numbers, Scores
from .show import UsageError

#: The metric of a few samples is all over the place, and would squeeze the rest of the figure.
_SETTLED = 20
#: How many points the curves of the figure have.
_NOTES = 500
#: What our model is called in tables and figures.
OURS = "PUFE"


class Settings(typing.NamedTuple):
    """What the user wants to know of a model.

    Parameters
    ----------
    metric
        Names of metrics of River.
    positive
        The class that matters.
    window
        How many samples the metric of the figure looks back at.
    threshold
        Probability from which a sample is taken for the class that matters; None: where it is the most probable one.
    alarms
        How many alarms a day are wanted, instead of a threshold.
    rival
        Whether River's linear model learns beside ours.
    recovered
        Whether to tell what each feature should read.

    """

    metric: Sequence[str] = ()
    positive: typing.Any = None
    window: int = 200
    threshold: float | None = None
    alarms: float | None = None
    rival: bool = False
    recovered: bool = False


class Session:
    """A model at work, by progressive validation.

    Parameters
    ----------
    pipeline
        A model of this package, or a fleet of them, alone or as the last step of a pipeline.
    settings
        What the user wants to know.
    target
        Name of the target, for messages.
    n_classes
        How many classes there will be, as far as that is known.
    shares
        Share of numbers among the first values of each column, as far as that is known.

    """

    def __init__(
        self,
        pipeline: typing.Any,
        settings: Settings,
        target: str = "target",
        n_classes: int = 2,
        shares: Mapping[typing.Any, float] | None = None,
    ) -> None:
        self.pipeline, self.target = pipeline, target
        self._first_shares = shares or {}
        steps = list(pipeline.steps.values()) if isinstance(pipeline, compose.Pipeline) else [pipeline]
        self.transformers: list[typing.Any] = steps[:-1]
        self._expecting = settings.recovered
        #: The latest sample as the model saw it, and what each feature should have read, if that is wanted.
        self.seen: dict[typing.Any, typing.Any] = {}
        self.expected: dict[typing.Any, tuple[float, float]] = {}
        self.model: typing.Any = steps[-1]
        self.fleet = self.model if isinstance(self.model, Fleet) else None
        #: The model of the latest sample, to look at.
        self.latest: typing.Any = self.model if self.fleet is None else self.fleet.factory()
        if not isinstance(self.latest, FeatureEvolving):
            raise UsageError(f"{type(self.model).__name__} is not a model of river_pufe")
        self.classifies = isinstance(self.model, base.Classifier)
        if not self.classifies:
            for name in ("positive", "threshold", "alarms"):
                if getattr(settings, name) is not None:
                    raise UsageError(f"--{name} is about classes, but the target is a number")
        self._threshold = settings.threshold
        self._budget = Budget(settings.alarms) if settings.alarms is not None else None
        self.scores = self._make_scores(settings)
        self.rival: Rival | None = None
        self.rival_scores: Scores | None = None
        if settings.rival:
            self.rival = RivalClassifier(n_classes) if self.classifies else RivalRegressor()
            self.rival_scores = self._make_scores(settings)
        self._models = {OURS: self.scores} | ({NAME: self.rival_scores} if self.rival_scores is not None else {})
        self.rounds = self.n_learned = self.n_alarms = 0
        start = self.latest.rounds
        self.experienced = start > 0
        self.record, self.weights, self.timeline = Presence(start=start), Series(_NOTES), Timeline(start=start)
        self.curves = {name: Series(_NOTES) for name in self._models}
        self._event: Event | None = None
        self._news: list[Event] = []

    def _make_scores(self, settings: Settings) -> Scores:
        if self.classifies:
            return Classes(settings.metric, settings.positive, settings.window)
        return Numbers(settings.metric, settings.window)

    def step(
        self, x: dict[typing.Any, typing.Any], y: typing.Any, at: float | None = None, key: typing.Any = None
    ) -> typing.Any:
        """Predict, then learn; from the features alone where there is no target.

        Parameters
        ----------
        x
            Features by name.
        y
            The target; None if it is not known.
        at
            When it was, in seconds since 1970.
        key
            Which model of a fleet it is for.

        Returns
        -------
        Probabilities or a number; None before anything was learned from a target.

        Raises
        ------
        ValueError
            If the sample is a bad one; the message has the cure, and the model is as it was.

        """
        original = x
        try:
            seen = x
            for transformer in self.transformers:
                seen = transformer.transform_one(seen)
            if self._expecting:
                self.seen, self.expected = seen, self.model.expected_one(seen)
            seen = self._addressed(seen, key)
            prediction = self.model.predict_proba_one(seen) if self.classifies else self.model.predict_one(seen)
        except ValueError:
            raise ValueError(advice.bad_feature(original, self._shares()) or "it cannot be read") from None
        if y is not None:
            y = self._validated(files.whole(y) if self.classifies else y)
        for transformer in self.transformers:
            transformer.learn_one(x, y) if transformer._supervised else transformer.learn_one(x)
            x = transformer.transform_one(x)
        # The first answer of all is not worth a judgement: nothing was known.
        knows = self._knows(key)
        if y is None:
            self.model.observe_one(self._addressed(x, key))
        else:
            if knows:
                self.scores.update(y, prediction, self.decide(prediction))
                self._judge_rival(x, y)
            if self.rival is not None:
                self.rival.learn(x, y)
            self.model.learn_one(self._addressed(x, key), y)
            self.n_learned += 1
        if self._budget is not None and (p := self._p(prediction)) is not None and at is not None:
            self._budget.update(p, at)
        self._note(x)
        if self.fleet is not None:
            self.latest = self.fleet.model(key)
        self._look_for_news()
        return prediction if knows else None

    def _look_for_news(self) -> None:
        events = self.latest.events
        if not events or events[-1] is self._event:
            return
        self._event = events[-1]
        round_ = self.latest.rounds - 1
        self._news += reversed(list(itertools.takewhile(lambda event: event.round == round_, reversed(events))))

    def _addressed(self, x: dict[typing.Any, typing.Any], key: typing.Any) -> dict[typing.Any, typing.Any]:
        return x if self.fleet is None else {**x, self.fleet.key: key}

    def _knows(self, key: typing.Any) -> bool:
        """Whether the model has learned anything."""
        if self.fleet is None:
            return self.experienced or self.n_learned > 0
        try:
            return bool(self.fleet.model(key).rounds > 0)
        except KeyError:
            return False

    def _judge_rival(self, x: dict[typing.Any, typing.Any], y: typing.Any) -> None:
        if self.rival is None or self.rival_scores is None:
            return
        prediction: typing.Any = self.rival.predict(x)
        if self.classifies:
            if prediction:
                self.rival_scores.update(y, prediction, max(prediction, key=prediction.get))
        elif math.isfinite(prediction):
            self.rival_scores.update(y, prediction, prediction)

    def _note(self, x: dict[typing.Any, typing.Any]) -> None:
        if self.transformers:
            self.record.update(x)
        else:
            # In files what is absent is left out.
            self.record.note(list(x))
        self.rounds += 1
        round_ = self.record.rounds - 1
        if self.fleet is not None:
            return
        if self.weights.due:
            self.weights.add(round_, self.model.expert_weights)
        else:
            self.weights.skip()
        if self.scores.n < _SETTLED:
            return
        for name, scores in self._models.items():
            curve = self.curves[name]
            if curve.due:
                curve.add(round_, {label: value() for label, value in scores.curves.items()})
            else:
                curve.skip()

    def _shares(self) -> dict[typing.Any, float]:
        """Share of numbers among the values of each column: all that was learned were numbers."""
        n = max(self.record.rounds - self.record.start, 1)
        return {key: self.record.seen(key)[2] / n for key in self.record.keys} | dict(self._first_shares)

    def checked(self, x: dict[typing.Any, typing.Any]) -> dict[typing.Any, typing.Any]:
        """A sample that is to be encoded: a number in a column of strings is a string.

        Raises
        ------
        ValueError
            If there is a string in a column of numbers.

        """
        checked = {}
        for name, value in x.items():
            share = self._first_shares.get(name)
            if share is not None and share > 0.5 and isinstance(value, str):
                raise ValueError(advice.bad_feature({name: value}, self._first_shares) or "it cannot be read")
            is_string = share is not None and share < 0.5 and not isinstance(value, str | bool)
            checked[name] = str(files.whole(value)) if is_string else value
        return checked

    def _validated(self, y: typing.Any) -> typing.Any:
        try:
            return self.latest.task.validate(y)
        except ValueError:
            raise ValueError(advice.bad_target(self.target, y, self.classifies)) from None

    def decide(self, prediction: typing.Any) -> typing.Any:
        """The number, or the class that is decided on: the most probable one, unless there is a threshold."""
        if not self.classifies:
            return prediction
        p = self._p(prediction) if self.alarming else None
        if p is None:
            return max(prediction, key=prediction.get) if prediction else None
        positive = self.positive
        if p >= (self._budget.threshold if self._budget is not None else self._threshold or 0.0):
            return positive
        return max((label for label in prediction if label != positive), key=prediction.get, default=None)

    def _p(self, prediction: typing.Any) -> float | None:
        """Probability of the class that matters; None if it is not clear which that is."""
        positive = self.positive
        return prediction.get(positive, 0.0) if positive is not None else None

    @property
    def positive(self) -> typing.Any:
        """The class that matters, None if there is none."""
        return self.scores.positive if isinstance(self.scores, Classes) else None

    @property
    def classes(self) -> list[typing.Any]:
        """The classes that were scored so far."""
        return list(self.scores.seen) if isinstance(self.scores, Classes) else []

    @property
    def lacks_positive(self) -> bool:
        """Whether the class that is said to matter has not come so far."""
        return self.positive is not None and bool(self.classes) and self.positive not in self.classes

    @property
    def alarming(self) -> bool:
        """Whether the user asked for alarms."""
        return self._threshold is not None or self._budget is not None

    @property
    def tables(self) -> dict[str, dict[str, str]]:
        """Metrics of ours and, if there is one, of the rival, by model and metric."""
        return {name: scores.table() for name, scores in self._models.items() if scores.n}

    def picture(self, times: Series) -> Picture:
        """All that a figure shows.

        Parameters
        ----------
        times
            Times of some rounds, for the axis.

        """
        # With the rarer class in view the second curve says more, where there is one.
        labels = list(self.scores.curves)
        label = labels[-1] if self.scores.is_rare else labels[0]
        curves = {name: [(t, values[label]) for t, values in curve] for name, curve in self.curves.items()}
        curves = {name: [(t, v) for t, v in curve if math.isfinite(v)] for name, curve in curves.items()}
        weights = self.weights if self.scores.n else None
        return Picture(self.record, self.model, curves, label, weights, (), times, self.timeline)

    def news(self) -> list[Event]:
        """What happened to the keys since the last call, oldest first."""
        news, self._news = self._news, []
        # The rounds of a fleet's models are not those of the stream.
        for event in news if self.fleet is None else ():
            self.timeline.add(event)
        return news
