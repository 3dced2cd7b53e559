"""What does a score mean, and what does it cost to be wrong?

A task turns the scores of experts into predictions that can be averaged, measures how wrong they are (a loss in [0, 1]
for the aggregator, an error for the learners), and turns their weighted mean into an answer. Scores have one column for
each class but the first, or a single column for a number. Tasks are the only place that distinguishes classes from
numbers.
"""

from __future__ import annotations

import abc
import copy
import typing
from collections.abc import Sequence

from ..part import Part
from ..values import Array, Key


class Task(Part, abc.ABC):
    """Scores to predictions, predictions to losses, their mean to an answer.

    Attributes
    ----------
    clip
        Largest standardized value of a feature that a linear learner should read. A class is as certain as it can be a
        few deviations away from the mean; a number goes on growing along a line.
    exact
        Whether learners should express what they know in new units where units change. Classes are learned as well
        from weights that belong to the standardized features, whatever those are; a number is off by what they miss.
    is_cautious
        Whether it is the copy for a sample unlike any before.

    """

    clip: float = 3.0
    exact: bool = False
    is_cautious: bool = False

    @property
    @abc.abstractmethod
    def n_columns(self) -> int:
        """Number of columns of scores."""

    @abc.abstractmethod
    def validate(self, y: typing.Any) -> typing.Any:
        """The target as the task keeps it; ValueError if it is not a valid target."""

    @abc.abstractmethod
    def register(self, y: typing.Any) -> bool:
        """Make room for a target, before anything is predicted for it; whether that takes more columns."""

    @abc.abstractmethod
    def learn(self, y: typing.Any, mixture: Array) -> tuple[float, float] | None:
        """Learn from a target, after `mixture` was predicted for it.

        Returns
        -------
        Where scores have another unit after that, factor and shift: what was s is now factor · s + shift.

        """

    @abc.abstractmethod
    def target(self, y: typing.Any) -> Array:
        """What the predictions should have been, shape (columns,)."""

    @property
    @abc.abstractmethod
    def n_outcomes(self) -> int:
        """Number of entries of an outcome."""

    @abc.abstractmethod
    def outcome(self, y: typing.Any) -> Array:
        """A target as something to learn from: an entry for each class, or the number, so far as it is no outlier."""

    def batch(self, targets: Sequence[typing.Any]) -> tuple[Array, Array] | None:
        """Targets and outcomes of many samples at once.

        Returns
        -------
        Shapes (n, columns) and (n, outcomes), for the first n samples that the task has made room for; None where a
        sample changes what the targets of the next ones mean.

        """
        return None

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
    def curvature(self, mixture: Array, target: Array) -> float:
        """Second derivative of the learners' loss by the score, at the mixture; both of shape (columns,)."""

    @abc.abstractmethod
    def scores(self, model: typing.Any, x: dict[Key, typing.Any]) -> Array:
        """Scores that stand for the answer of a River model, shape (columns,)."""

    def bounded(self, mixture: Array, margin: float) -> Array:
        """The mixture, within the range of the targets seen or a margin, a share of it; both of shape (columns,)."""
        return mixture

    def cautious(self) -> typing.Self:
        """A copy for a sample unlike any before, from which learners should not learn too much."""
        cautious = copy.copy(self)
        cautious.is_cautious = True
        return cautious

    @abc.abstractmethod
    def answer(self, mixture: Array) -> typing.Any:
        """The answer to the user, from the mixture of shape (columns,)."""
