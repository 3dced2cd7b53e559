"""What predicts, when each feature space has a model of its own?"""

from __future__ import annotations

import collections
import copy
import typing

import numpy as np

from ..recovery.evolution import Evolution
from ..recovery.reading import Reading
from ..tasks.task import Task
from ..values import Array, Key, Mask
from .experts import Experts, Predicted, Round
from .learners import Learner, OnlineGradientDescent

#: The expert on what is present stands beside those of the spaces, under a number that no space has.
_PRESENT = -1
_VACANT = -2


class SpaceExperts(Experts):
    """One learner for each feature space, on rows that are observed, completed or recovered.

    **When to use it.** With learners that are not linear, and for the methods of the paper: all of them are a choice of
    which learners take part.

    An expert sleeps in a round in which its row cannot be made. Once a space has retired, its learner reads recovered
    rows. Where its keys return and open a space, the learner of that one starts as a copy, if older ones take part.
    Costs as much as the learners of all spaces that are remembered, and O(ℓd) for recovering their rows.

    Parameters
    ----------
    learner
        What learns on the rows of a space. Each space gets a clone.
    roles
        Whose learners predict when no overlap is on: ``"current"``, ``"previous"`` (the latest retired space) and
        ``"older"`` ones. Where none of them can, the current one does.
    present
        Whether one more clone, for all of the stream, reads whatever keys are present.
    in_overlap
        Whether the learners of both spaces predict and learn during an overlap. Otherwise the previous one predicts and
        both rest, as in the paper; a sample without previous keys is not taken for one of the overlap.
    frozen
        Whether learners of retired spaces have stopped learning.

    """

    def __init__(
        self,
        learner: Learner,
        roles: tuple[str, ...] = ("current", "previous", "older"),
        present: bool = False,
        in_overlap: bool = True,
        frozen: bool = False,
    ) -> None:
        if unknown := set(roles) - {"current", "previous", "older"}:
            raise ValueError(f"roles are 'current', 'previous' and 'older', not {unknown.pop()!r}")
        self.learner = learner
        self.roles = roles
        self.present = present
        self.in_overlap = in_overlap
        self.frozen = frozen
        # Positions never move: the aggregator knows experts by them. One that is free again is taken by the next space.
        self._numbers: list[int] = [_PRESENT, 0] if present else [0]
        self._learners: dict[int, Learner] = {number: learner.clone() for number in self._numbers}
        self._keys: dict[int, tuple[Key, ...]] = {0: ()}
        self._retired: list[int] = []
        self._previous: int | None = None
        self._current = 0

    @classmethod
    def _unit_test_params(cls) -> typing.Iterator[dict[str, typing.Any]]:
        yield {"learner": OnlineGradientDescent()}

    @property
    def title(self) -> str:
        return self.learner.title

    @property
    def takes_weights(self) -> bool:
        return self.learner.takes_weights

    @property
    def may_fail(self) -> bool:
        return self.learner.may_fail

    @property
    def names(self) -> tuple[str, ...]:
        special = {_PRESENT: "present", _VACANT: "vacant"}
        return tuple(special.get(number, f"space {number}") for number in self._numbers)

    @property
    def priors(self) -> Array:
        return np.ones(len(self._numbers))

    def follow(self, evolution: Evolution, weights: Array) -> Mask:
        born = set()
        remembered = {key for space in evolution.spaces for key in space.keys}
        self._retired = []
        self._previous = None
        for space in evolution.spaces:
            if space.state == "retired":
                self._retired.append(space.number)
            elif space.state == "previous":
                self._previous = space.number
            else:
                self._current = space.number
            if space.state != "retired" and space.number not in self._learners:
                self._learners[space.number] = self._beginner(evolution)
                self._place(space.number)
                born.add(space.number)
            if space.number in self._learners:
                known = (key for key in self._keys.get(space.number, ()) if key in remembered)
                self._keys[space.number] = tuple(dict.fromkeys((*known, *space.keys)))
        numbers = {space.number for space in evolution.spaces} | {_PRESENT}
        for number in [number for number in self._learners if number not in numbers]:
            del self._learners[number], self._keys[number]
            self._numbers[self._numbers.index(number)] = _VACANT
        if evolution.settled:
            for learner in self._learners.values():
                learner.restart()
        if evolution.replaced:
            born.update(self._numbers)
        return np.array([number in born for number in self._numbers])

    def _beginner(self, evolution: Evolution) -> Learner:
        """A learner for new keys: it knows what the one knew whose space most of them have been in."""
        if "older" not in self.roles:
            return self.learner.clone()
        homes = collections.Counter(origin[0] if origin is not None else _VACANT for origin in evolution.origins)
        # The latest of several: the order of the keys must not matter.
        home = max(homes, key=lambda number: (homes[number], number))
        return copy.deepcopy(self._learners[home]) if home in self._learners else self.learner.clone()

    def _place(self, number: int) -> None:
        if _VACANT in self._numbers:
            self._numbers[self._numbers.index(_VACANT)] = number
        else:
            self._numbers.append(number)

    def _rows(self, reading: Reading) -> dict[int, dict[Key, float]]:
        """The features of each space that can be known now."""
        known = reading.known
        rows = {
            number: {key: known[key] for key in keys if key in known}
            for number, keys in self._keys.items()
            if number == self._current or all(key in known for key in keys)
        }
        if self.present:
            rows[_PRESENT] = reading.present
        return rows

    def _roles_now(self, reading: Reading, rows: dict[int, dict[Key, float]]) -> tuple[set[int], set[int]]:
        """The numbers of the learners that predict and of those that learn."""
        if self._previous is not None and (self.in_overlap or reading.sees_previous):
            both = {self._previous, self._current} if self.in_overlap else {self._previous}
            predicting, learning = both, both if self.in_overlap else set()
        else:
            retired = self._retired if self._previous is None else [*self._retired, self._previous]
            parts = {"current": {self._current}, "previous": set(retired[-1:]), "older": set(retired[:-1])}
            predicting = set().union(*(parts[role] for role in self.roles)) & rows.keys()
            predicting = predicting or {self._current}
            learning = {self._current} | (set() if self.frozen else predicting)
        if self.present:
            predicting, learning = predicting | {_PRESENT}, learning | {_PRESENT}
        return predicting & rows.keys(), learning & rows.keys()

    def predict(self, reading: Reading, task: Task) -> Predicted:
        rows = self._rows(reading)
        predicting, _ = self._roles_now(reading, rows)
        scores = np.zeros((len(self._numbers), task.n_columns))
        awake = np.zeros(len(self._numbers))
        for position, number in enumerate(self._numbers):
            if number in predicting:
                scores[position] = self._learners[number].scores(rows[number], task)
                awake[position] = 1.0
        return Predicted(task.predictions(scores), awake)

    def learn(self, reading: Reading, round_: Round, task: Task) -> None:
        rows = self._rows(reading)
        _, learning = self._roles_now(reading, rows)
        for number in learning:
            self._learners[number].learn(rows[number], round_.y, round_.w, task)
