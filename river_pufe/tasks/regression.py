"""What do scores mean where the target is a number?"""

from __future__ import annotations

import abc
import math
import typing

import numpy as np

from .. import kernels
from ..values import LARGEST, Array, Key, brief, conversion
from .target_scaling import TargetScaler
from .task import Task

#: An error counts for as many deviations of the target at most.
_FARTHEST = 4.0
#: Of the usual error, the share of the latest round; and the least of it, next to the deviation: smaller is rounding.
_SHARE, _LEAST = 0.01, 1e-20
#: The target may have another unit after so many rounds in which it was so many usual errors, and so many of its
#: deviations, away from what was predicted; once so many rounds have told what is usual.
_SURPRISES, _SURPRISING, _CLEARLY, _KNOWN = 16, 6.0, 4.0, 100
#: So many usual errors may be left in the new unit, which may be uncertain by this share.
_LEFT, _UNCERTAIN = 3.0, 0.2


class _Numbers(Task):
    """What all tasks with numbers have in common: one column, and predictions that are the scores."""

    clip = 20.0
    exact = True

    @property
    def n_columns(self) -> int:
        return 1

    def validate(self, y: typing.Any) -> float:
        try:
            number = float(y) if not isinstance(y, str | bytes) else math.nan
        except (TypeError, ValueError, OverflowError):
            number = math.nan
        if not math.isfinite(number):
            cure = conversion(y) if isinstance(y, str) else None
            cure = cure or "leave the sample out, or learn from its features with observe_one(x)"
            raise ValueError(f"the target is {brief(y)}, which is not a finite number: {cure}")
        return min(max(number, -LARGEST), LARGEST)

    @property
    def n_outcomes(self) -> int:
        return 1

    @abc.abstractmethod
    def standardized(self, y: float) -> float:
        """The target in the unit of scores."""

    def target(self, y: float) -> Array:
        return np.array([self.standardized(y)])

    def outcome(self, y: float) -> Array:
        return np.array([min(max(self.standardized(y), -self.clip), self.clip)])

    def predictions(self, scores: Array) -> Array:
        return scores

    def scores(self, model: typing.Any, x: dict[Key, typing.Any]) -> Array:
        return self.target(model.predict_one(x))


class Regression(_Numbers):
    """Standardized numbers are averaged; the squared error, in units of what is usual for it, judges them.

    The mean and the deviation of the target are those of a `TargetScaler`. The loss of a prediction z for a target y,
    both standardized, is $\\min(1, (z - y)^2 / 4 s^2)$, with $s^2$ the mean squared error of the mixture in the last
    hundred rounds or so: where there is little noise, small differences count. An error counts for it, and moves the
    learners, as one of at most four deviations, so an outlier destroys nothing.

    Of a sample with a feature unlike any before it is not clear what that feature reads. So its answer stays within the
    range of the targets seen (the first time within a quarter of it beyond), and its error moves learners as one of
    size s at most.

    A target may change its unit, as where meters report watts after kilowatts. If it is more than 6 s and four
    deviations away from what was predicted, hardly anything is learned before 16 such rounds in succession have come.
    If the target follows the predictions of these rounds along a clearly rising line, from which it is no farther than
    3 s on average, that line is the new unit, and what was learned stays. Otherwise it is learned as a real change.

    Parameters
    ----------
    memory
        Number of samples that mean and deviation remember.

    """

    def __init__(self, memory: float = 1000.0) -> None:
        self.memory = memory
        self._scaler = TargetScaler(memory)
        # Mean squared error of the mixture, and the number of rounds it is the mean of.
        self._usual, self._n = 0.0, 0
        # Predictions and targets of the latest rounds, if all of them were surprises.
        self._surprises: list[tuple[float, float]] = []

    def register(self, y: float) -> bool:
        self._scaler.see(y)
        return False

    def learn(self, y: float, mixture: Array) -> tuple[float, float] | None:
        predicted = float(mixture[0])
        off = predicted - self._scaler.scale(y)
        if self._n < _KNOWN or abs(off) <= max(_SURPRISING * math.sqrt(self._usual), _CLEARLY):
            self._surprises = []
        elif len(self._surprises) < _SURPRISES:
            self._surprises.append((predicted, y))
            if len(self._surprises) == _SURPRISES:
                self._follow_unit()
            return None
        off = min(max(off, -_FARTHEST), _FARTHEST)
        self._n += 1
        self._usual += max(1.0 / self._n, _SHARE) * (off * off - self._usual)
        units = self._scaler.learn(y)
        if units is not None:
            self._usual *= units[0] * units[0]
        return units

    def _follow_unit(self) -> None:
        """Take another unit, if that is what explains the surprises."""
        predicted, targets = np.array(self._surprises).T
        apart = predicted - predicted.mean()
        varied = float(apart @ apart)
        deviation = float(apart @ targets) / varied if varied > 0.0 else 0.0
        mean = float(targets.mean()) - deviation * float(predicted.mean())
        off = targets - (mean + deviation * predicted)
        left = math.sqrt(off @ off / (_SURPRISES - 2))
        most = deviation * min(_LEFT * math.sqrt(self._usual), _UNCERTAIN * math.sqrt(varied))
        if deviation > 0.0 and left <= most:
            self._scaler.renew(mean, deviation)
            self._surprises = []

    def standardized(self, y: float) -> float:
        return self._scaler.scale(y)

    @property
    def form(self) -> kernels.Numbers:
        return self._form()

    def _form(self) -> kernels.Numbers:
        most = 2.0 * math.sqrt(max(self._usual, _LEAST)) if self._n else 2.0
        # Little is learned until it is clear whether a unit has changed.
        waits = self.is_cautious or 0 < len(self._surprises) < _SURPRISES
        farthest = math.sqrt(max(self._usual, _LEAST)) if waits else _FARTHEST
        # What has no unit teaches nothing, and a sample whose error is clipped as much less: learners must not be
        # certain of what they have not learned.
        return kernels.Numbers(farthest, most, self._scaler.has_unit)

    def errors(self, predictions: Array, target: Array) -> Array:
        return kernels.errors(predictions, target, self._form())

    def losses(self, predictions: Array, target: Array) -> Array:
        return kernels.losses(predictions, target, self._form())

    def curvature(self, mixture: Array, target: Array) -> float:
        return kernels.curvature(mixture, target, self._form())

    def bounded(self, mixture: Array, margin: float) -> Array:
        return self._scaler.bound(mixture, margin)

    def answer(self, mixture: Array) -> float:
        return self._scaler.unscale(float(mixture[0]))


class PlainRegression(_Numbers):
    """Numbers as they are; the squared error, in units of the range of targets seen, judges them: the paper's choice.

    The learners move along the gradient of $(y - w x)^2$, which is twice the error.
    """

    def __init__(self) -> None:
        self._low = math.inf
        self._high = -math.inf

    def register(self, y: float) -> bool:
        self._low, self._high = min(self._low, y), max(self._high, y)
        return False

    def learn(self, y: float, mixture: Array) -> None:
        pass

    def standardized(self, y: float) -> float:
        return y

    def errors(self, predictions: Array, target: Array) -> Array:
        return 2.0 * (target - predictions)

    def losses(self, predictions: Array, target: Array) -> Array:
        off = (predictions[:, 0] - target[0]) / ((self._high - self._low) or 1.0)
        losses: Array = np.square(np.minimum(np.abs(off), 1.0))
        return losses

    def curvature(self, mixture: Array, target: Array) -> float:
        return 2.0

    def answer(self, mixture: Array) -> float:
        return float(mixture[0])
