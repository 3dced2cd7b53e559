"""What does a score mean, and what does it cost to be wrong?

The only module that knows whether a target is a class or a number. A task turns the scores of experts into predictions
that can be averaged, says how wrong they are (a loss in [0, 1] for the aggregator, an error for the learners), and
turns their weighted mean into an answer. Scores have one column per class but the first, or one for a number.
"""

from __future__ import annotations

import abc
import math
import statistics
import typing

import numpy as np
from river import base
from scipy import special

from .scaling import COLLAPSED, ROUNDING, WINSOR
from .sketch import Array
from .values import LARGEST, is_there

Label = typing.Hashable
#: Scores of River models are cut at ± this: what is more certain is lost in the rounding of the other probabilities.
_CERTAIN = 20.0
#: Number of targets by which mean and deviation are judged at first, and again after a constant, as a whole.
_FIRST = 10
#: Number of targets in a row by which it is judged whether they have another unit.
_CALM = 64
#: How much of an answer is shown in a table: classes, letters of each, and numbers up to which all digits are.
_SHOWN, _WIDTH, _LONG = 8, 12, 1e9
#: Of NumPy's scalars, those that stay as they are: in plain Python one of nanoseconds would be an int.
_TIMES = (np.datetime64, np.timedelta64)


class Task(base.Base, abc.ABC):
    """Scores to predictions, predictions to losses, their mean to an answer."""

    @property
    @abc.abstractmethod
    def n_columns(self) -> int:
        """Number of columns of scores."""

    @abc.abstractmethod
    def check(self, y: typing.Any) -> typing.Any:
        """The target as the task keeps it; ValueError if it is none."""

    @abc.abstractmethod
    def admit(self, y: typing.Any) -> None:
        """Get to know a target, before anything is predicted for it."""

    @abc.abstractmethod
    def learn(self, y: typing.Any) -> None:
        """Learn from a target, after everything was predicted for it."""

    @abc.abstractmethod
    def target(self, y: typing.Any) -> Array:
        """What the predictions should have been, shape (columns,)."""

    @abc.abstractmethod
    def predictions(self, scores: Array) -> Array:
        """What is averaged over the experts, from their scores; both of shape (n, columns)."""

    @abc.abstractmethod
    def errors(self, predictions: Array, target: Array) -> Array:
        """How each score should move: minus the gradient of the learners' loss, shape (n, columns)."""

    @abc.abstractmethod
    def losses(self, predictions: Array, target: Array) -> Array:
        """Losses in [0, 1], shape (n,)."""

    @abc.abstractmethod
    def curvature(self, mixture: Array) -> float:
        """Second derivative of the learners' loss by the score, at the mixture of shape (columns,)."""

    @abc.abstractmethod
    def scores(self, model: typing.Any, x: dict[typing.Hashable, typing.Any]) -> Array:
        """Scores that stand for what a River model answers, shape (columns,)."""

    @abc.abstractmethod
    def answer(self, mixture: Array) -> typing.Any:
        """What the user gets, from the mixture of shape (columns,)."""

    @abc.abstractmethod
    def readable(self, mixtures: Array, decimals: int) -> list[tuple[str, list[str]]]:
        """A table of answers to mixtures of shape (n, columns): headers, and the n cells below each."""

    def __str__(self) -> str:
        return repr(self)


class Classification(Task):
    """Probabilities are averaged; the Brier loss, halved to lie in [0, 1], judges them.

    The learners' loss is the logistic one, with softmax over more than two classes. The errors are the Newton direction
    at even odds, $(e_c - e_0)(C - 1)/C$ with e the difference of target and probability, which treats all classes
    alike although the first has no column.

    Attributes
    ----------
    classes
        The classes in the order of their columns. False and True come first where the first label is a bool.

    """

    def __init__(self) -> None:
        self.classes: list[Label] = []
        self._targets: dict[Label, Array] = {}
        self._unseen: set[Label] = set()

    @property
    def n_columns(self) -> int:
        return max(len(self.classes) - 1, 0)

    def check(self, y: typing.Any) -> Label:
        label: Label = y.item() if isinstance(y, np.generic) and not isinstance(y, _TIMES) else y
        if not is_there(label):
            raise ValueError(
                f"the label is {y!r}: leave the sample out, or learn from its features with observe_one(x)"
            )
        try:
            hash(label)
        except (TypeError, ValueError):
            raise ValueError(f"the label is {y!r}, which is not hashable: use a str, a number or a tuple") from None
        return label

    def admit(self, y: Label) -> None:
        if not self.classes and isinstance(y, bool):
            self._add(False)
            self._add(True)
            self._unseen = {False, True}
        elif y not in self._targets:
            self._add(y)
        if self._unseen:
            self._unseen.discard(y)

    def _add(self, label: Label) -> None:
        self.classes.append(label)
        columns = np.eye(len(self.classes))[:, 1:]
        self._targets = dict(zip(self.classes, columns))

    def learn(self, y: Label) -> None:
        pass

    def target(self, y: Label) -> Array:
        return self._targets[y]

    def predictions(self, scores: Array) -> Array:
        odds: Array
        if scores.shape[1] == 1:
            odds = special.expit(scores)
            return odds
        top = np.maximum(scores.max(1, initial=0.0, keepdims=True), 0.0)
        odds = np.exp(scores - top)
        odds /= odds.sum(1, keepdims=True) + np.exp(-top)
        return odds

    def errors(self, predictions: Array, target: Array) -> Array:
        off = target - predictions
        n = off.shape[1]
        return off if n == 1 else (off + off.sum(1, keepdims=True)) * (n / (n + 1))

    def losses(self, predictions: Array, target: Array) -> Array:
        off = predictions - target
        squares = off * off
        losses: Array = squares[:, 0] if off.shape[1] == 1 else 0.5 * (squares.sum(1) + np.square(off.sum(1)))
        return losses

    def curvature(self, mixture: Array) -> float:
        probabilities: list[float] = mixture.tolist()
        first = 1.0 - sum(probabilities)
        return (1.0 - first * first - sum(p * p for p in probabilities)) / (len(probabilities) + 1)

    def scores(self, model: typing.Any, x: dict[typing.Hashable, typing.Any]) -> Array:
        answer = model.predict_proba_one(x)
        floor = math.exp(-_CERTAIN)
        logs = [math.log(max(answer.get(label, 0.0), floor)) for label in self.classes]
        return np.array([log - logs[0] for log in logs[1:]])

    def answer(self, mixture: Array) -> dict[Label, float]:
        if not self.classes:
            return {False: 0.5, True: 0.5}
        p = mixture.tolist()
        answer = dict(zip(self.classes, [max(1.0 - sum(p), 0.0), *p]))
        if self._unseen and len(answer) > 2:
            # Bools gave way to other labels: a bool that never came is not a class.
            answer = {label: value for label, value in answer.items() if label not in self._unseen}
            total = sum(answer.values())
            answer = {label: value / total if total else 1 / len(answer) for label, value in answer.items()}
        return answer

    def readable(self, mixtures: Array, decimals: int) -> list[tuple[str, list[str]]]:
        answers = [self.answer(mixture) for mixture in mixtures]
        shown = list(answers[-1])
        if len(shown) > _SHOWN:
            # Those that are most probable in the end; the rest is told as one.
            likely = set(sorted(shown, key=answers[-1].__getitem__, reverse=True)[: _SHOWN - 1])
            shown = [label for label in shown if label in likely]
        columns = [(str(label)[:_WIDTH], [f"{p[label]:.{decimals}f}" for p in answers]) for label in shown]
        if len(answers[-1]) > len(shown):
            rest = [max(1.0 - sum(p[label] for label in shown), 0.0) for p in answers]
            columns.append((f"{len(answers[-1]) - len(shown)} others", [f"{p:.{decimals}f}" for p in rest]))
        return columns


class MarginClassification(Classification):
    """Margins are averaged; the logistic loss, cut at 1, judges them: the paper's choice.

    Theorem 2 asks for losses in [0, 1]; the paper's logistic loss has no bound, so it is cut.
    """

    def predictions(self, scores: Array) -> Array:
        return scores

    def errors(self, predictions: Array, target: Array) -> Array:
        return super().errors(super().predictions(predictions), target)

    def losses(self, predictions: Array, target: Array) -> Array:
        top = np.maximum(predictions.max(1, initial=0.0), 0.0)
        total = top + np.log(np.exp(-top) + np.exp(predictions - top[:, None]).sum(1))
        losses: Array = np.minimum(total - predictions @ target, 1.0)
        return losses

    def curvature(self, mixture: Array) -> float:
        return super().curvature(super().predictions(mixture[None])[0])

    def answer(self, mixture: Array) -> dict[Label, float]:
        return super().answer(super().predictions(mixture[None])[0])


class Regression(Task):
    """Standardized numbers are averaged; the squared error, in units of two standard deviations, judges them.

    Mean and deviation of the target are running ones, over the last `memory` samples or so; a single target counts for
    them as at most ten deviations, and an error moves the learners as one of at most four, so an outlier destroys
    nothing. Where targets vary far less than they used to for long, mean and deviation start anew. As long as all
    targets are the same there is no unit to tell an error in, and nothing is learned.

    Parameters
    ----------
    memory
        Number of samples that mean and deviation remember.

    """

    def __init__(self, memory: float = 1000.0) -> None:
        if not memory >= 1:
            raise ValueError(f"memory is a number of samples, 1 or more, not {memory!r}")
        self.memory = memory
        self._n = 0
        self._mean = 0.0
        self._deviation = 0.0
        self._first: list[float] = []
        # Least, largest and number of the latest targets.
        self._latest = math.inf, -math.inf, 0

    @property
    def n_columns(self) -> int:
        return 1

    def check(self, y: typing.Any) -> float:
        try:
            number = float(y) if not isinstance(y, str | bytes) else math.nan
        except (TypeError, ValueError, OverflowError):
            number = math.nan
        if not math.isfinite(number):
            raise ValueError(
                f"the target is {y!r}, which is not a finite number: leave the sample out, or learn from its features "
                "with observe_one(x)"
            )
        return min(max(number, -LARGEST), LARGEST)

    def admit(self, y: float) -> None:
        pass

    def learn(self, y: float) -> None:
        self._n += 1
        if self._deviation == 0.0 and len(self._first) == _FIRST:
            self._n, self._first = 2, [self._mean]
        if self._has_collapsed(y):
            self._n, self._first = 1, []
        if len(self._first) < _FIRST:
            self._first.append(y)
            self._judge()
            return
        rate = 1.0 / min(self._n, self.memory)
        limit = WINSOR * self._deviation
        shift = min(max(y - self._mean, -limit), limit)
        self._mean += rate * shift
        self._deviation = math.sqrt((1.0 - rate) * (self._deviation**2 + rate * shift * shift))

    def _has_collapsed(self, y: float) -> bool:
        low, high, n = self._latest
        low, high, n = min(low, y), max(high, y), n + 1
        self._latest = (low, high, n) if n < _CALM else (math.inf, -math.inf, 0)
        return n == _CALM and ROUNDING * max(-low, high) < high - low < COLLAPSED * self._deviation

    def _judge(self) -> None:
        """Mean and deviation of the first targets, without those that most of the others call outliers."""
        middle = statistics.median(self._first)
        away = np.array(self._first) - middle
        limit = WINSOR * float(np.median(np.abs(away)))
        if limit > 0:
            away = np.minimum(np.maximum(away, -limit), limit)
        self._mean, self._deviation = middle + float(away.mean()), float(away.std())

    def target(self, y: float) -> Array:
        off = (y - self._mean) / self._deviation if self._deviation else 0.0
        return np.array([min(max(off, -LARGEST), LARGEST)])

    def predictions(self, scores: Array) -> Array:
        return scores

    def errors(self, predictions: Array, target: Array) -> Array:
        return np.minimum(np.maximum(target - predictions, -4.0), 4.0)

    def losses(self, predictions: Array, target: Array) -> Array:
        off = 0.5 * (predictions[:, 0] - target[0])
        losses: Array = np.minimum(off * off, 1.0)
        return losses

    def curvature(self, mixture: Array) -> float:
        return 1.0

    def scores(self, model: typing.Any, x: dict[typing.Hashable, typing.Any]) -> Array:
        return self.target(model.predict_one(x))

    def answer(self, mixture: Array) -> float:
        return self._mean + self._deviation * float(mixture[0]) if self._n else 0.0

    def readable(self, mixtures: Array, decimals: int) -> list[tuple[str, list[str]]]:
        answers = [self.answer(mixture) for mixture in mixtures]
        return [("Answer", [f"{y:,.{decimals}{'f' if abs(y) < _LONG else 'e'}}" for y in answers])]


class PlainRegression(Regression):
    """Numbers as they are; the squared error, in units of the range of targets seen, judges them: the paper's choice.

    The learners move along the gradient of $(y - w x)^2$, which is twice the error.
    """

    def __init__(self) -> None:
        super().__init__()
        self._deviation = 1.0
        self._low = math.inf
        self._high = -math.inf

    def admit(self, y: float) -> None:
        self._low, self._high = min(self._low, y), max(self._high, y)

    def learn(self, y: float) -> None:
        self._n += 1

    def errors(self, predictions: Array, target: Array) -> Array:
        return 2.0 * (target - predictions)

    def losses(self, predictions: Array, target: Array) -> Array:
        off = (predictions[:, 0] - target[0]) / ((self._high - self._low) or 1.0)
        losses: Array = np.square(np.minimum(np.abs(off), 1.0))
        return losses

    def curvature(self, mixture: Array) -> float:
        return 2.0
