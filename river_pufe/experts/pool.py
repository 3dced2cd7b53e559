"""What predicts, when several models share one hedge?"""

from __future__ import annotations

import collections
import dataclasses
import typing

import numpy as np

from ..recovery.evolution import Evolution
from ..recovery.reading import Reading
from ..recovery.scaling import NewUnits
from ..tasks.task import Task
from ..values import Array, Mask
from .experts import Experts, Predicted, Round
from .learners import RiverModel
from .linear import LinearExperts
from .per_space import SpaceExperts

_Part = typing.TypeVar("_Part", Array, Mask)


class Pool(Experts):
    """Several kinds of experts under one hedge.

    **When to use it.** Where it is not known which model suits a stream, and the cost of all of them can be paid. A
    list that is given as `model` becomes a pool.

    At first all members count alike, and the experts of a member share what it counts by their own priors. Costs as
    much as all members together.

    Parameters
    ----------
    members
        The experts; each is cloned.

    """

    def __init__(self, members: typing.Sequence[Experts]) -> None:
        if not members:
            raise ValueError("a pool has one member or more, not none")
        self.members = members
        self._members = [member.clone() for member in members]
        self._titles = _titles([member.title for member in self._members])
        # Positions never move, although members grow: where each expert is among those of all members.
        self._sizes = [0] * len(self._members)
        self._owners: list[tuple[int, int]] = []
        self._seat()

    @classmethod
    def _unit_test_params(cls) -> typing.Iterator[dict[str, typing.Any]]:
        yield {"members": [LinearExperts(), LinearExperts()]}

    @property
    def takes_weights(self) -> bool:
        return all(member.takes_weights for member in self._members)

    @property
    def may_fail(self) -> bool:
        return any(member.may_fail for member in self._members)

    @property
    def names(self) -> tuple[str, ...]:
        names = [member.names for member in self._members]
        return tuple(f"{self._titles[k]}: {names[k][j]}" for k, j in self._owners)

    @property
    def priors(self) -> Array:
        priors = [member.priors for member in self._members]
        return self._in_order([prior / prior.sum() for prior in priors])

    def make_room(self, task: Task) -> None:
        for member in self._members:
            member.make_room(task)

    def follow(self, evolution: Evolution, weights: Array) -> Mask:
        born = [member.follow(evolution, part) for member, part in zip(self._members, self._of_members(weights))]
        self._seat()
        return self._in_order(born)

    def predict(self, reading: Reading, task: Task) -> Predicted:
        predicted = [member.predict(reading, task) for member in self._members]
        predictions = self._in_order([each.predictions for each in predicted])
        return Predicted(predictions, self._in_order([each.awake for each in predicted]), predicted)

    def learn(self, reading: Reading, round_: Round, task: Task) -> None:
        for member, predicted, weights in zip(self._members, round_.predicted.inputs, self._of_members(round_.weights)):
            member.learn(reading, dataclasses.replace(round_, predicted=predicted, weights=weights), task)

    def remember(self, reading: Reading, y: typing.Any, w: float, task: Task) -> None:
        for member in self._members:
            member.remember(reading, y, w, task)

    def rescale(self, units: NewUnits, task: Task) -> None:
        for member in self._members:
            member.rescale(units, task)

    def rescale_scores(self, factor: float, shift: float) -> None:
        for member in self._members:
            member.rescale_scores(factor, shift)

    def check_state(self) -> None:
        sizes = [len(member.names) for member in self._members]
        if self._sizes != sizes:
            raise ValueError(f"the state has members of {sizes} experts, but _sizes={self._sizes!r}")

    def _seat(self) -> None:
        """Experts that have come get the next positions."""
        for k, member in enumerate(self._members):
            size = len(member.names)
            self._owners += [(k, j) for j in range(self._sizes[k], size)]
            self._sizes[k] = size
        starts = np.cumsum([0, *self._sizes])
        self._order = np.array([starts[k] + j for k, j in self._owners])

    def _of_members(self, values: Array) -> list[Array]:
        """What there is of each expert, by member."""
        parts = [np.zeros(size) for size in self._sizes]
        for (k, j), value in zip(self._owners, values):
            parts[k][j] = value
        return parts

    def _in_order(self, parts: list[_Part]) -> _Part:
        """What there is of each expert of each member, by position."""
        return typing.cast(_Part, np.concatenate(parts)[self._order])


def _titles(titles: list[str]) -> list[str]:
    """Titles that differ: where several members have the same, they are numbered."""
    counts, seen = collections.Counter(titles), collections.Counter[str]()
    numbered = []
    for title in titles:
        seen[title] += 1
        numbered.append(title if counts[title] == 1 else f"{title} {seen[title]}")
    return numbered


def members_of(model: typing.Any) -> list[typing.Any]:
    """The models of a list; one that stands alone is the only one, and None is none."""
    return [] if model is None else list(model) if isinstance(model, list | tuple) else [model]


def as_experts(model: typing.Any) -> Experts:
    """Experts, from experts, from any River model, or from a list of those."""
    if isinstance(model, list | tuple):
        return Pool([as_experts(member) for member in model])
    if isinstance(model, Experts):
        return model.clone()
    learner = RiverModel(model)
    return SpaceExperts(learner, present=learner.reads_incomplete)
