"""How do recovery, experts and aggregation work together, one sample after another?"""

from __future__ import annotations

import functools
import math
import typing

import numpy as np
from river import base

from .aggregation import AdaNormalHedge, Aggregator
from .experts.linear import LinearExperts
from .experts.pool import as_experts
from .frames import Batch, column
from .guard import guarded
from .part import shown
from .recovery.evolution import UNCHANGED, Event, FeatureSpace
from .recovery.feature_recovery import FeatureRecovery
from .recovery.reading import Expected, Reading, Readings
from .recovery.spaces import FeatureSpaces
from .rounds import Asked, Game
from .state.stateful import Stateful
from .tasks.task import Task
from .undo import Step, Undo
from .values import Array, Key, Mask, Sample, brief


class _Asked(typing.NamedTuple):
    """What was predicted for a sample, to be used again if the sample is learned next."""

    version: int
    reading: Reading
    answer: Asked


class FeatureEvolving(Stateful, base.Estimator):
    """The one learning loop: the same for every task, method and phase of a stream.

    Parameters
    ----------
    model
        What predicts: experts, a River model of which each space gets a clone, or a list of both.
    recovery
        What turns samples into rows.
    aggregator
        What weighs the experts.
    task
        What scores mean.
    absent
        What absence means, where `recovery` does not say it.

    """

    DERIVED = (*Stateful.DERIVED, "_asked", "_game", "_undo")

    def __init__(
        self,
        model: typing.Any,
        recovery: FeatureRecovery | None,
        aggregator: Aggregator | None,
        task: Task,
        absent: str,
    ) -> None:
        if recovery is not None and absent == "zero" != recovery.feature_spaces.absent:
            raise ValueError(
                "absent='zero' contradicts the recovery that was given: set it there, "
                "FeatureRecovery(FeatureSpaces(absent='zero'))"
            )
        self.model = model if model is not None else LinearExperts()
        # None stays None: a clone may be given another `absent`.
        self.recovery = recovery
        self.aggregator = aggregator if aggregator is not None else AdaNormalHedge(forgetting=0.99)
        self.task = task
        self.absent = absent
        self._experts = as_experts(self.model)
        self._recovery = recovery.clone() if recovery is not None else FeatureRecovery(FeatureSpaces(absent=absent))
        self._aggregator = self.aggregator.clone()
        self._task = self.task.clone()
        self._experts.make_room(self._task)
        awake = np.ones(len(self._experts.names))
        self._reset(awake > 0)
        self._weights: Array = self._aggregator.weights(awake)
        # How often the state has moved.
        self._version = 0
        self.rebuild()

    def rebuild(self) -> None:
        # The latest prediction.
        self._asked: _Asked | None = None
        self._undo = Undo()
        self._game = Game(self._experts, self._aggregator, self._task)

    def __repr__(self) -> str:
        return shown(self)

    @guarded
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
            If a value is not a finite number, or the target is not valid. The model is as it was then, as it is
            where a wrapped model raises an error of its own.

        """
        w = self._validate_weight(w)
        y = self._task.validate(y)
        if self._experts.may_fail:
            self._all_or_nothing(functools.partial(self._follow_and_learn, dict(x), y, w))
        else:
            # Called from here, because warnings count the frames up to the caller.
            self._learn(*self._follow(x), y, w)

    def _follow_and_learn(self, x: Sample, y: typing.Any, w: float) -> None:
        self._learn(*self._follow(x), y, w)

    def _all_or_nothing(self, step: Step) -> None:
        """Learn from a sample, in a way that is taken back where a wrapped model raises."""
        self._undo.prepare(self)
        version = self._version
        try:
            step()
        except BaseException:
            if self._version != version:
                self._undo.take_back(self)
            raise
        self._undo.note(step)

    def _learn(self, reading: Reading, asked: Asked | None, y: typing.Any, w: float) -> None:
        """Learn from a sample; `asked` is what was predicted for it, if already known."""
        task, experts = self._task, self._experts
        if task.register(y):
            experts.make_room(task)
            asked = None
        if asked is None:
            asked = self._game.ask(reading)
        self._game.play(reading, asked, y, w)
        if asked.weights.dot(asked.awake) > 0.0:
            self._weights = asked.weights
        if (units := self._recovery.update(reading)) is not None:
            experts.rescale(units, task)
        # What is unlike any sample before says nothing of the unit of the target, or of the errors that are usual.
        if reading.as_usual and (unit := task.learn(y, asked.mixture)) is not None:
            experts.rescale_scores(*unit)

    @guarded
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
            If a cell is not a finite number, a target is not valid, a weight is below 0, or y or w is not a series or
            list of one value for each row. Nothing is learned from the frame then.

        """
        batch = Batch(X)
        targets = [self._task.validate(target) for target in column("y", y)]
        weights = [1.0] * len(targets) if w is None else [self._validate_weight(weight) for weight in column("w", w)]
        if not len(batch) == len(targets) == len(weights):
            raise ValueError(
                f"X has {len(batch)} rows, y {len(targets)} and w {len(weights)}: they must be of one length"
            )
        if not self._experts.may_fail:
            self._learn_batch(batch, targets, weights)
            return
        self._undo.renew(self)
        try:
            self._learn_batch(batch, targets, weights)
        except BaseException:
            self._undo.take_back(self)
            raise
        # The batch is not kept, so the next sample needs a copy of its own.
        self._undo = Undo()

    def _learn_batch(self, batch: Batch, targets: list[typing.Any], weights: list[float]) -> None:
        start = 0
        while start < len(batch):
            # Learning from one sample may change what becomes of the next, so it is asked again and again.
            readings = self._recovery.read_ahead(batch.keys, batch.rows[start:]) if batch.rows is not None else None
            if readings is None:
                self._learn(*self._follow(batch[start]), targets[start], weights[start])
                start += 1
            else:
                stop = start + len(readings)
                start += self._learn_ahead(readings, targets[start:stop], weights[start:stop])

    def _learn_ahead(self, readings: Readings, targets: list[typing.Any], weights: list[float]) -> int:
        """Learn from samples that were read ahead, or the first of them; how many they are."""
        self._version, self._asked = self._version + 1, None
        played, shares = self._game.play_many(readings, targets, weights)
        if shares is None:
            self._recovery.skip(len(readings))
            for reading, y, w in zip(readings, targets, weights):
                self._learn(reading, None, y, w)
            return len(readings)
        if shares.any():
            self._weights = shares
        for y in dict.fromkeys(targets[:played]):
            self._task.register(y)
        units = self._recovery.follow_many(readings if played == len(readings) else readings.head(played))
        if units is not None:
            self._experts.rescale(units, self._task)
        return played

    def _validate_weight(self, w: typing.Any) -> float:
        try:
            # Other types would change the type of the weights: np.float32 has half the digits.
            weight = float(w) if 0 <= w < math.inf else math.nan
        except (TypeError, ValueError, OverflowError):
            weight = math.nan
        if math.isnan(weight):
            raise ValueError(f"the sample weight w is {brief(w)}, it must be a finite number, 0 or more")
        if weight not in (0, 1) and not self._experts.takes_weights:
            model = type(self.model).__name__
            raise ValueError(f"the sample weight w is {w!r}, but {model} does not support weights: learn without w")
        return weight

    @guarded
    def observe_one(self, x: Sample) -> None:
        """Learn from the features of a sample whose target is not known.

        The feature spaces are followed, and completion and map learned; so the old model is recovered as well where
        labels are rare.

        Raises
        ------
        ValueError
            If a value is not a finite number. The model is as it was then.

        """
        if self._experts.may_fail:
            self._all_or_nothing(functools.partial(self._follow_and_observe, dict(x)))
        else:
            self._follow_and_observe(x)

    def _follow_and_observe(self, x: Sample) -> None:
        reading, _ = self._follow(x)
        if (units := self._recovery.update(reading)) is not None:
            self._experts.rescale(units, self._task)

    def _follow(self, x: Sample) -> tuple[Reading, Asked | None]:
        """Follow the keys of a sample; its reading, and what was predicted for it if it was asked about last."""
        asked = self._asked if self._asked is not None and self._asked.version == self._version else None
        evolution, reading = self._recovery.advance(x, asked.reading if asked is not None else None)
        self._version, self._asked = self._version + 1, None
        if evolution is not UNCHANGED:
            self._reset(self._experts.follow(evolution, self._weights))
            self._weights = np.append(self._weights, np.zeros(len(self._experts.names) - len(self._weights)))
        elif asked is not None and reading is asked.reading:
            return reading, asked.answer
        return reading, None

    def _reset(self, born: Mask) -> None:
        self._aggregator.reset(born, self._experts.priors)

    def _ask(self, x: Sample) -> Asked:
        """What is predicted for a sample."""
        version = self._version
        reading = self._recovery.read(x)
        answer = self._game.ask(reading)
        self._asked = _Asked(version, reading, answer)
        return answer

    def _mixtures(self, batch: Batch) -> Array:
        """Mixtures for all rows of a batch, shape (rows, columns)."""
        mixtures, alone = np.empty((len(batch), self._task.n_columns)), np.ones(len(batch), dtype=bool)
        read = self._recovery.read_many(batch.keys, batch.rows) if batch.rows is not None else None
        if read is not None:
            views, together = read
            if (predicted := self._experts.predict_many(views, self._task)) is not None:
                predictions, awake = predicted
                mixtures[together] = np.einsum("nec,e->nc", predictions, self._aggregator.weights(awake))
                alone = ~together
        for n in np.flatnonzero(alone).tolist():
            mixtures[n] = self._ask(batch[n]).mixture
        return mixtures

    # What a user asks for.

    @property
    @guarded
    def spaces(self) -> tuple[FeatureSpace, ...]:
        """The feature spaces, oldest first: keys, state, when they opened, and which keys have vanished."""
        return self._recovery.spaces

    @property
    @guarded
    def living_keys(self) -> tuple[Key, ...]:
        """The keys of the living spaces."""
        return self._recovery.living_keys

    @property
    @guarded
    def overlapping(self) -> bool:
        """Whether the previous and the current space are both alive."""
        return self._recovery.overlapping

    @property
    @guarded
    def vanished(self) -> tuple[Key, ...]:
        """The keys that are regarded as gone."""
        return self._recovery.vanished

    @property
    @guarded
    def events(self) -> tuple[Event, ...]:
        """What happened to the keys lately, oldest first."""
        return self._recovery.events

    @property
    @guarded
    def rounds(self) -> int:
        """Number of samples seen, with and without a target."""
        return self._recovery.rounds

    @property
    @guarded
    def hedge(self) -> Aggregator:
        """The aggregator at work; `aggregator` is its prototype."""
        return self._aggregator

    @property
    @guarded
    def expert_weights(self) -> dict[str, float]:
        """Weights of the experts in the latest round in which one of them was awake, by name; their sum is 1.

        What experts had that are gone since is called vacant.
        """
        weights: dict[str, float] = {}
        for name, weight in zip(self._experts.names, self._weights.tolist()):
            # Several places may be vacant.
            weights[name] = weights.get(name, 0.0) + weight
        return weights

    @guarded
    def expected_one(self, x: Sample) -> dict[Key, Expected]:
        """What each known feature should read given the rest of the sample, and how far it may be from that.

        As [FeatureRecovery.expected_one][river_pufe.FeatureRecovery.expected_one].

        Raises
        ------
        ValueError
            If a value is not a finite number.

        """
        return self._recovery.expected_one(x)

    @guarded
    def recover_one(self, x: Sample) -> dict[Key, float]:
        """What the vanished features would have read, by key, as far as that is known."""
        return self._recovery.recover_one(x)
