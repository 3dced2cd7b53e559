"""How does a model predict and learn, one sample after another, and its rival beside it?"""

from __future__ import annotations

import itertools
import typing
from collections.abc import Mapping

from river import base, compose

from .. import files
from ..fleet import Fleet
from ..learning import FeatureEvolving
from ..recovery.evolution import Event
from ..values import is_there
from . import advice
from .judge import ClassJudge, Judge, NumberJudge
from .kinds import Kinds
from .notes import Notes
from .rival import NAME, Rival, RivalClassifier, RivalRegressor
from .settings import Settings
from .show import UsageError

#: What our model is called in tables and figures.
OURS = "PUFE"


class Answer(typing.NamedTuple):
    """What was predicted for a sample before it was learned.

    Parameters
    ----------
    prediction
        Probabilities, or a number.
    decided
        The class that is decided on, or the number.

    """

    prediction: typing.Any
    decided: typing.Any


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

    Attributes
    ----------
    model
        The model, or the fleet, without what is in front of it.
    latest
        The model of the latest sample, to look at.
    judge
        What it decides on, and how good that is.
    notes
        What is kept for pictures.
    seen, expected
        The latest sample as the model saw it, and what each feature should have read, if that is wanted.
    rounds, n_learned
        Number of samples, and of those with a target.

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
        steps = list(pipeline.steps.values()) if isinstance(pipeline, compose.Pipeline) else [pipeline]
        self.transformers: list[typing.Any] = steps[:-1]
        self.model: typing.Any = steps[-1]
        self.fleet = self.model if isinstance(self.model, Fleet) else None
        self.latest: typing.Any = self.model if self.fleet is None else self.fleet.factory()
        if not isinstance(self.latest, FeatureEvolving):
            raise UsageError(f"{type(self.model).__name__} is not a model of river_pufe")
        self.classifies = isinstance(self.model, base.Classifier)
        kind = ClassJudge if self.classifies else NumberJudge
        self.kinds = Kinds(shares or {})
        self.judge: Judge = kind(settings)
        self._judges: dict[str, Judge] = {OURS: self.judge}
        self._rival: Rival | None = None
        if settings.rival:
            self._rival = RivalClassifier(n_classes) if self.classifies else RivalRegressor()
            self._judges[NAME] = kind(settings)
        start = self.latest.rounds
        self._experienced = start > 0
        self.notes = Notes({name: judge.scores for name, judge in self._judges.items()}, start)
        self._expecting = settings.recovered
        self.seen: dict[typing.Any, typing.Any] = {}
        self.expected: dict[typing.Any, tuple[float, float]] = {}
        self.rounds = self.n_learned = 0
        self._event: Event | None = None
        self._news: list[Event] = []

    def step(
        self, x: dict[typing.Any, typing.Any], y: typing.Any, at: float | None = None, key: typing.Any = None
    ) -> Answer | None:
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
        What was predicted; None before anything was learned.

        Raises
        ------
        ValueError
            If the sample is a bad one; the message has the cure, and the model is as it was.

        """
        prediction = self._predict(x, key)
        if y is not None:
            y = self._validated(files.whole(y) if self.classifies else y)
        for transformer in self.transformers:
            transformer.learn_one(x, y) if transformer._supervised else transformer.learn_one(x)
            x = transformer.transform_one(x)
        # The first answer of all is not worth a judgement: nothing was known.
        knows = self._knows(key)
        decided = self.judge.decide(prediction)
        if y is None:
            self.model.observe_one(self._addressed(x, key))
        else:
            if knows:
                self.judge.judge(y, prediction, decided)
            self.model.learn_one(self._addressed(x, key), y)
            self.n_learned += 1
        self.judge.note(prediction, at)
        if self._rival is not None:
            self._step_rival(self._rival, x, y, at, knows)
        self.rounds += 1
        # In files what is absent is left out; what transformers make of it is theirs.
        there = [name for name, value in x.items() if is_there(value)] if self.transformers else list(x)
        # The rounds of a fleet's models are not those of the stream, and their experts are many.
        self.notes.note(there, self.model if self.fleet is None else None)
        if self.fleet is not None:
            self.latest = self.fleet.model(key)
        self._look_for_news()
        return Answer(prediction, decided) if knows else None

    def _predict(self, x: dict[typing.Any, typing.Any], key: typing.Any) -> typing.Any:
        seen = x
        try:
            for transformer in self.transformers:
                seen = transformer.transform_one(seen)
            if self._expecting:
                self.seen, self.expected = seen, self.model.expected_one(seen)
            seen = self._addressed(seen, key)
            return self.model.predict_proba_one(seen) if self.classifies else self.model.predict_one(seen)
        except ValueError:
            raise ValueError(self.kinds.complaint(x, self.notes.record)) from None

    def _validated(self, y: typing.Any) -> typing.Any:
        try:
            return self.latest.task.validate(y)
        except ValueError:
            raise ValueError(advice.bad_target(self.target, y, self.classifies)) from None

    def _addressed(self, x: dict[typing.Any, typing.Any], key: typing.Any) -> dict[typing.Any, typing.Any]:
        return x if self.fleet is None else {**x, self.fleet.key: key}

    def _knows(self, key: typing.Any) -> bool:
        """Whether the model has learned anything."""
        if self.fleet is None:
            return self._experienced or self.n_learned > 0
        try:
            return bool(self.fleet.model(key).rounds > 0)
        except KeyError:
            return False

    def _step_rival(
        self, rival: Rival, x: dict[typing.Any, typing.Any], y: typing.Any, at: float | None, judged: bool
    ) -> None:
        judge = self._judges[NAME]
        prediction: typing.Any = rival.predict(x)
        if y is not None:
            if judged:
                judge.judge(y, prediction, judge.decide(prediction))
            rival.learn(x, y)
        judge.note(prediction, at)

    def _look_for_news(self) -> None:
        events = self.latest.events
        if not events or events[-1] is self._event:
            return
        self._event = events[-1]
        round_ = self.latest.rounds - 1
        news = list(itertools.takewhile(lambda event: event.round == round_, reversed(events)))[::-1]
        self._news += news
        if self.fleet is None:
            self.notes.happened(news)

    def news(self) -> list[Event]:
        """What happened to the keys since the last call, oldest first."""
        news, self._news = self._news, []
        return news

    @property
    def tables(self) -> dict[str, dict[str, str]]:
        """Metrics of ours and, if there is one, of the rival, by model and metric."""
        return {name: judge.scores.table() for name, judge in self._judges.items() if judge.scores.n}
