"""What do scores mean where the target is a number?"""

from __future__ import annotations

import math
import typing

import numpy as np

from ..values import LARGEST, Array, Key
from .target_scaling import TargetScaler
from .task import Task


class _Numbers(Task):
    """What all tasks with numbers have in common: one column, and predictions that are the scores."""

    @property
    def n_columns(self) -> int:
        return 1

    def validate(self, y: typing.Any) -> float:
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

    def predictions(self, scores: Array) -> Array:
        return scores

    def scores(self, model: typing.Any, x: dict[Key, typing.Any]) -> Array:
        return self.target(model.predict_one(x))


class Regression(_Numbers):
    """Standardized numbers are averaged; the squared error, in units of two standard deviations, judges them.

    The mean and the deviation of the target are those of a `TargetScaler`. The loss of a prediction z for a target y,
    both standardized, is $\\min(1, (z - y)^2 / 4)$; an error moves the learners as one of at most four deviations, so
    an outlier destroys nothing.

    Parameters
    ----------
    memory
        Number of samples that mean and deviation remember.

    """

    def __init__(self, memory: float = 1000.0) -> None:
        self.memory = memory
        self._scaler = TargetScaler(memory)

    def register(self, y: float) -> None:
        pass

    def learn(self, y: float) -> None:
        self._scaler.learn(y)

    def target(self, y: float) -> Array:
        return np.array([self._scaler.scale(y)])

    def errors(self, predictions: Array, target: Array) -> Array:
        return np.minimum(np.maximum(target - predictions, -4.0), 4.0)

    def losses(self, predictions: Array, target: Array) -> Array:
        off = 0.5 * (predictions[:, 0] - target[0])
        losses: Array = np.minimum(off * off, 1.0)
        return losses

    def curvature(self, mixture: Array) -> float:
        return 1.0

    def answer(self, mixture: Array) -> float:
        return self._scaler.unscale(float(mixture[0]))


class PlainRegression(_Numbers):
    """Numbers as they are; the squared error, in units of the range of targets seen, judges them: the paper's choice.

    The learners move along the gradient of $(y - w x)^2$, which is twice the error.
    """

    def __init__(self) -> None:
        self._low = math.inf
        self._high = -math.inf

    def register(self, y: float) -> None:
        self._low, self._high = min(self._low, y), max(self._high, y)

    def learn(self, y: float) -> None:
        pass

    def target(self, y: float) -> Array:
        return np.array([y])

    def errors(self, predictions: Array, target: Array) -> Array:
        return 2.0 * (target - predictions)

    def losses(self, predictions: Array, target: Array) -> Array:
        off = (predictions[:, 0] - target[0]) / ((self._high - self._low) or 1.0)
        losses: Array = np.square(np.minimum(np.abs(off), 1.0))
        return losses

    def curvature(self, mixture: Array) -> float:
        return 2.0

    def answer(self, mixture: Array) -> float:
        return float(mixture[0])
