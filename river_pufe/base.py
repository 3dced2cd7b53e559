"""How do recovery, experts and aggregation work together, one sample after another?"""

from __future__ import annotations

import math
import typing

import numpy as np
from river import base
from river.utils import pretty

from .aggregation import AdaNormalHedge, Aggregator
from .experts import LinearExperts
from .frames import Batch
from .recovery import FeatureRecovery, Reading
from .sketch import Array, Mask
from .space_experts import as_experts
from .spaces import Event, FeatureSpace, FeatureSpaces, Key, Sample
from .tasks import Task


class FeatureEvolving(base.Estimator):
    """The one learning loop: the same for every task, method and phase of a stream.

    Parameters
    ----------
    model
        Who predicts: experts, or a River model of which each space gets a clone.
    recovery
        What makes rows of samples.
    aggregator
        What weighs the experts.
    task
        What scores mean.
    absent
        What absence means, where `recovery` does not say it.

    """

    def __init__(
        self,
        model: base.Base | None,
        recovery: FeatureRecovery | None,
        aggregator: Aggregator | None,
        task: Task,
        absent: str,
    ) -> None:
        if recovery is not None and absent == "zero" != recovery.feature_spaces.absent:
            raise ValueError(
                "absent='zero' contradicts the recovery that was given: say it there, "
                "FeatureRecovery(FeatureSpaces(absent='zero'))"
            )
        self.model = model if model is not None else LinearExperts()
        # None stays None: a clone may be told another `absent`.
        self.recovery = recovery
        self.aggregator = aggregator if aggregator is not None else AdaNormalHedge(forgetting=0.99)
        self.task = task
        self.absent = absent
        self._experts = as_experts(self.model)
        self._recovery = recovery.clone() if recovery is not None else FeatureRecovery(FeatureSpaces(absent=absent))
        self._aggregator = self.aggregator.clone()
        self._task = self.task.clone()
        self._experts.grow(self._task.n_columns)
        everybody = np.ones(len(self._experts.names))
        self._reset(everybody > 0)
        self._weights: Array = self._aggregator.weights(everybody)

    def learn_one(self, x: Sample, y: typing.Any, w: float = 1.0) -> None:
        """Learn from a sample with its target.

        Parameters
        ----------
        x
            Features by key; a key that is absent, None or NaN is not there.
        y
            The target.
        w
            Weight of the sample, 0 or more.

        Raises
        ------
        ValueError
            If a value is not a finite number, or the target is none. The model is as it was then.

        """
        w = self._check_weight(w)
        y = self._task.check(y)
        self._learn(self._follow(x), y, w)

    def _learn(self, reading: Reading, y: typing.Any, w: float) -> None:
        task = self._task
        task.admit(y)
        self._experts.grow(task.n_columns)
        predictions, awake = self._experts.predict(reading, task)
        weights = self._aggregator.weights(awake)
        mixture = weights.dot(predictions)
        target = task.target(y)
        losses = task.losses(np.concatenate((predictions, mixture[None])), target)
        self._aggregator.update(losses[:-1], losses[-1], awake)
        self._weights = weights
        self._experts.learn(reading, predictions, mixture, y, w, task)
        self._recovery.update(reading)
        task.learn(y)

    def learn_many(self, X: typing.Any, y: typing.Any, w: typing.Any = None) -> None:
        """Learn from the rows of a frame, as `learn_one` does one after another.

        Parameters
        ----------
        X
            A pandas, polars or other eager frame; a missing cell is an absent feature.
        y
            Targets, a series or list of the same length.
        w
            Weights of the rows; None: each counts 1.

        Raises
        ------
        ValueError
            If a cell is not a finite number, a target is none, or a weight is below 0. Nothing is learned of the frame
            then.

        """
        batch = Batch(X)
        targets = [self._task.check(target) for target in y]
        weights = [1.0] * len(targets) if w is None else [self._check_weight(weight) for weight in w]
        if not len(batch) == len(targets) == len(weights):
            raise ValueError(
                f"X has {len(batch)} rows, y {len(targets)} and w {len(weights)}: they must be of one length"
            )
        start = 0
        while start < len(batch):
            # Following one sample may change what becomes of the next, so it is asked again and again.
            readings = self._recovery.pass_by(batch.keys, batch.rows[start:]) if batch.rows is not None else []
            readings = readings or [self._follow(batch[start])]
            for n, reading in enumerate(readings, start):
                self._learn(reading, targets[n], weights[n])
            start += len(readings)

    def _check_weight(self, w: typing.Any) -> float:
        if not 0 <= w < math.inf:
            raise ValueError(f"the sample weight w is {w!r}, it must be a finite number, 0 or more")
        if w not in (0, 1) and not self._experts.takes_weights:
            raise ValueError(
                f"the sample weight w is {w!r}, but {type(self.model).__name__} takes none: learn without w"
            )
        # Other types would take the weights of the model with them: np.float32 has half of the digits.
        return float(w)

    def observe_one(self, x: Sample) -> None:
        """Learn from the features of a sample whose target is not known.

        The feature spaces are followed, and completion and map learned; so the old model is recovered as well where
        labels are rare.

        Raises
        ------
        ValueError
            If a value is not a finite number. The model is as it was then.

        """
        self._recovery.update(self._follow(x))

    def _follow(self, x: Sample) -> Reading:
        evolution, recover, reading = self._recovery.evolve(x)
        if evolution:
            self._reset(self._experts.follow(evolution, recover, self._weights))
        return reading

    def _reset(self, born: Mask) -> None:
        self._aggregator.reset(born, self._experts.priors)

    def _mixture(self, x: Sample) -> Array:
        predictions, awake = self._experts.predict(self._recovery.look(x), self._task)
        mixture: Array = self._aggregator.weights(awake).dot(predictions)
        return mixture

    def _mixtures(self, batch: Batch) -> Array:
        """Mixtures for all rows of a batch, shape (rows, columns)."""
        views = self._recovery.look_many(batch.keys, batch.rows) if batch.rows is not None else None
        predicted = self._experts.predict_many(views, self._task) if views is not None else None
        if predicted is None:
            return np.array([self._mixture(x) for x in batch]).reshape(len(batch), self._task.n_columns)
        predictions, awake = predicted
        mixtures: Array = np.einsum("nec,e->nc", predictions, self._aggregator.weights(awake))
        return mixtures

    # What a user looks at.

    @property
    def spaces(self) -> tuple[FeatureSpace, ...]:
        """The feature spaces, oldest first: keys, state, when they opened, and which keys have vanished."""
        return self._recovery.spaces

    @property
    def overlapping(self) -> bool:
        """Whether the previous and the current space are both alive."""
        return self._recovery.overlapping

    @property
    def vanished(self) -> tuple[Key, ...]:
        """The keys that are regarded as gone."""
        return self._recovery.vanished

    @property
    def events(self) -> tuple[Event, ...]:
        """What happened to the keys lately, oldest first."""
        return self._recovery.events

    @property
    def rounds(self) -> int:
        """Number of samples seen, with and without a target."""
        return self._recovery.rounds

    @property
    def expert_weights(self) -> dict[str, float]:
        """Weights of the experts in the latest round, by name."""
        return dict(zip(self._experts.names, self._weights.tolist()))

    def recover_one(self, x: Sample) -> dict[Key, float]:
        """What the vanished features would have read, by key, as far as that is known."""
        return self._recovery.recover_one(x)

    def debug_one(self, x: Sample, decimals: int = 3) -> str:
        """A table of the experts: how much each counts, and what it would answer.

        Parameters
        ----------
        x
            Features by key.
        decimals
            Number of decimals of each number.

        """
        predictions, awake = self._experts.predict(self._recovery.look(x), self._task)
        weights = self._aggregator.weights(awake)
        mixtures = np.concatenate((predictions, weights.dot(predictions)[None]))
        answers = self._task.readable(mixtures, decimals)
        return pretty.print_table(
            headers=["Expert", "Weight", *(header for header, _ in answers)],
            columns=[
                [*self._experts.names, "mixture"],
                [f"{weight:.{decimals}f}" for weight in (*weights, 1.0)],
                *([cell if up else "asleep" for cell, up in zip(cells, (*awake, 1.0))] for _, cells in answers),
            ],
        )
