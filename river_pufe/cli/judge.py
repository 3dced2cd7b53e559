"""What does a model decide on, and how good is that?"""

from __future__ import annotations

import math
import typing
from collections.abc import Collection

from .alarms import Budget
from .scores import Classes, Numbers
from .settings import Settings


class NumberJudge:
    """Judges the numbers that a model predicts.

    Parameters
    ----------
    settings
        What the user wants to know.

    """

    alarming = False
    positive = None
    classes: Collection[typing.Any] = ()

    def __init__(self, settings: Settings) -> None:
        settings.check_regression()
        self.scores = Numbers(settings.metric, settings.window)

    def decide(self, prediction: float) -> float:
        """The number itself."""
        return prediction

    def judge(self, y: float, prediction: float, decided: float) -> None:
        """Take a prediction into account, given the target; one of a model that diverged is left out."""
        if math.isfinite(prediction):
            self.scores.update(y, prediction)

    def note(self, prediction: float, at: float | None) -> None:
        """Nothing depends on earlier predictions."""


class ClassJudge:
    """Judges the probabilities that a model predicts, and the classes that are decided on.

    That is the most probable class, unless the user set a threshold for the one that matters, or said how many alarms
    there are to be.

    Parameters
    ----------
    settings
        What the user wants to know.

    Attributes
    ----------
    alarming
        Whether the user asked for alarms.

    """

    def __init__(self, settings: Settings) -> None:
        self.scores = Classes(settings.metric, settings.positive, settings.window)
        self._budget = Budget(settings.alarms) if settings.alarms is not None else None
        self._threshold = settings.threshold
        self.alarming = self._threshold is not None or self._budget is not None

    @property
    def positive(self) -> typing.Any:
        """The class that matters, None if there is none."""
        return self.scores.positive

    @property
    def classes(self) -> Collection[typing.Any]:
        """The classes that were judged so far."""
        return self.scores.seen

    def decide(self, prediction: dict[typing.Any, float]) -> typing.Any:
        """The class that is decided on; None without any."""
        positive = self.positive if self.alarming else None
        if positive is None:
            return max(prediction, key=prediction.__getitem__) if prediction else None
        threshold = self._budget.threshold if self._budget is not None else self._threshold or 0.0
        if prediction.get(positive, 0.0) >= threshold:
            return positive
        others = [label for label in prediction if label != positive]
        return max(others, key=prediction.__getitem__, default=None)

    def judge(self, y: typing.Any, prediction: dict[typing.Any, float], decided: typing.Any) -> None:
        """Take a prediction into account, given the class; one from before anything was learned is left out."""
        if prediction:
            self.scores.update(y, prediction, decided)

    def note(self, prediction: dict[typing.Any, float], at: float | None) -> None:
        """Take a prediction and its time into account, where the number of alarms sets the threshold."""
        if self._budget is not None and at is not None and (positive := self.positive) is not None:
            self._budget.update(prediction.get(positive, 0.0), at)


Judge = ClassJudge | NumberJudge
