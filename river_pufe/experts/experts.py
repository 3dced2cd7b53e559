"""What is an expert?

An expert is a learner together with the rows that it reads.
"""

from __future__ import annotations

import abc
import dataclasses
import typing

from .. import kernels
from ..part import Part
from ..recovery.evolution import Evolution
from ..recovery.reading import Reading
from ..recovery.scaling import NewUnits
from ..tasks.task import Task
from ..values import Array, Mask


class Predicted(typing.NamedTuple):
    """What experts predict for a sample.

    Parameters
    ----------
    predictions
        Predictions of all experts, shape (n, columns).
    awake
        1 for experts that are awake, 0 for those asleep, shape (n,).
    inputs
        What the experts computed from the sample and want to have back when they learn from it.

    """

    predictions: Array
    awake: Array
    inputs: typing.Any = None


@dataclasses.dataclass(slots=True)
class Round:
    """What was predicted for a sample, and what should have been.

    Parameters
    ----------
    predicted
        What the experts predicted.
    weights
        How much each of them counted, shape (n,).
    mixture
        Weighted mean of their predictions, shape (columns,).
    target
        What the predictions should have been, shape (columns,).
    y
        The target as the user gave it.
    w
        Weight of the sample.

    """

    predicted: Predicted
    weights: Array
    mixture: Array
    target: Array
    y: typing.Any
    w: float


class Experts(Part, abc.ABC):
    """Experts that predict from a reading, learn from it, and follow the feature spaces."""

    @property
    def title(self) -> str:
        """What these experts are called among others."""
        return type(self).__name__

    @property
    def takes_weights(self) -> bool:
        """Whether samples may have weights."""
        return True

    @property
    def may_fail(self) -> bool:
        """Whether learning may raise half-way, because there is a model of another package inside."""
        return False

    @property
    @abc.abstractmethod
    def names(self) -> tuple[str, ...]:
        """Names of the experts, in the order of their predictions."""

    @property
    @abc.abstractmethod
    def priors(self) -> Array:
        """How much each expert counts before any loss, shape (n,)."""

    def make_room(self, task: Task) -> None:
        """Append columns of scores for new classes, as many as the task has now; there are none by default."""

    @abc.abstractmethod
    def follow(self, evolution: Evolution, weights: Array) -> Mask:
        """Follow a change of the slots.

        Parameters
        ----------
        evolution
            What changed.
        weights
            Weights of the experts before the change, shape (n,).

        Returns
        -------
        Which experts are new, or hold another model than before; shape (n,) for the experts after the change.

        """

    @abc.abstractmethod
    def predict(self, reading: Reading, task: Task) -> Predicted:
        """What all experts predict for a sample; nothing changes."""

    def predict_many(self, views: Array, task: Task) -> tuple[Array, Array] | None:
        """Predictions for many samples of one view, shapes (samples, n, columns) and (n,); None: ask one by one."""
        return None

    @abc.abstractmethod
    def learn(self, reading: Reading, round_: Round, task: Task) -> None:
        """Learn from a sample, given what was predicted for it."""

    def remember(self, reading: Reading, y: typing.Any, w: float, task: Task) -> None:
        """Learn from a sample and its target what does not depend on predictions."""

    def ahead(self, n: int) -> kernels.Ahead | None:
        """How many of the next n rounds can be played in one go, each with one view; None: one by one."""
        return None

    def go_on(self, n: int, playing: int) -> None:
        """Take note that n rounds were played in one go, and how many heads play the next one, as in `kernels`."""

    def rescale(self, units: NewUnits, task: Task) -> None:
        """Rows come in new units from now on. Experts that read features in their own units need not care."""

    def rescale_scores(self, factor: float, shift: float) -> None:
        """Scores have a new unit from now on: what was s is factor · s + shift."""
