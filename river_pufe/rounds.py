"""How is a round played: part by part, or in one go where all parts are of a form that is compiled?"""

from __future__ import annotations

import typing
from collections.abc import Sequence

import numpy as np

from . import kernels
from .aggregation import Aggregator
from .experts.experts import Experts, Predicted, Round
from .recovery.reading import COMPLETED, Reading, Readings
from .tasks.task import Task
from .values import Array

#: In the first of some strange rounds, by how much an answer may go beyond the targets seen, as a share of their range.
_MARGIN = 0.25

Forms = tuple[kernels.Linear, kernels.Hedge, kernels.TaskForm]


class Asked(typing.NamedTuple):
    """What was predicted for a sample.

    Parameters
    ----------
    forms
        The forms of all parts, if it was computed in one go.
    predictions, awake, inputs
        What the experts predict, as in `Predicted`.
    weights
        How much each of them counts, shape (n,).
    mixture
        Weighted mean of their predictions, shape (columns,); within bounds where the sample is unlike any before.

    """

    forms: Forms | None
    predictions: Array
    awake: Array
    inputs: typing.Any
    weights: Array
    mixture: Array


class Game(typing.NamedTuple):
    """The parts of a round: experts predict, a hedge weighs them, and a task judges."""

    experts: Experts
    hedge: Aggregator
    task: Task

    def forms(self) -> Forms | None:
        """The forms of all parts; None if one of them has none."""
        linear, hedge, task = self.experts.form, self.hedge.form, self.task.form
        return (linear, hedge, task) if linear is not None and hedge is not None and task is not None else None

    def ask(self, reading: Reading) -> Asked:
        """What is predicted for a sample; nothing changes."""
        experts, hedge, task = self
        forms = self.forms()
        if forms is not None:
            asked = Asked(forms, *kernels.ask(reading.views, task.clip, *forms))
        else:
            predictions, awake, inputs = experts.predict(reading, task)
            weights = hedge.weights(awake)
            asked = Asked(None, predictions, awake, inputs, weights, weights.dot(predictions))
        if reading.as_usual:
            return asked
        # One strange round may be a rare event, and its target a record.
        return Asked(*asked[:-1], task.bounded(asked.mixture, _MARGIN if reading.n_strange == 1 else 0.0))

    def play(self, reading: Reading, asked: Asked, y: typing.Any, w: float) -> None:
        """Learn from a sample of weight w with target y, given what was predicted for it."""
        experts, hedge, task = self
        forms, predictions, awake, inputs, weights, mixture = asked
        target = task.target(y)
        if not reading.as_usual:
            task = task.cautious()
            forms = (*forms[:2], task.form) if forms is not None else None
        if forms is not None:
            learn_from = min(COMPLETED, len(inputs) - 1)
            kernels.play(inputs, learn_from, predictions, weights, mixture, target, w, *forms)
        else:
            losses, loss = task.losses(predictions, target), task.losses(mixture[None], target)
            hedge.update(losses, loss[0], awake)
            experts.learn(reading, Round(Predicted(predictions, awake, inputs), weights, mixture, target, y, w), task)
        experts.remember(reading, y, w, task)

    def play_many(
        self, readings: Readings, targets: Sequence[typing.Any], weights: Sequence[float]
    ) -> tuple[int, Array | None]:
        """Learn from the first of some samples, in as few goes as possible; `targets` and `weights` are as many.

        Returns
        -------
        From how many; none, if they have to be learned one by one. And how much each expert counted for the latest.

        """
        shares, played, batch = None, 0, self.task.batch(targets)
        if batch is None:
            return 0, None
        wanted, outcomes = batch
        samples = np.array(weights[: len(wanted)], dtype=float)
        while played < len(wanted):
            forms, ahead = self.forms(), self.experts.ahead(len(wanted) - played)
            if forms is None or ahead is None:
                break
            rest = slice(played, len(wanted))
            n, shares, playing = kernels.play_many(
                readings.views[rest], self.task.clip, wanted[rest], outcomes[rest], samples[rest], ahead, *forms[1:]
            )
            self.experts.go_on(n, playing)
            played += n
        return played, shares
