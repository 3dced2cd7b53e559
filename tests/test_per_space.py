"""Whose learners predict and learn, on which rows, and where they stand among the experts?"""

from __future__ import annotations

import types

import numpy as np
import pytest

from river_pufe.experts.experts import Predicted, Round
from river_pufe.experts.learners import Learner
from river_pufe.experts.per_space import SpaceExperts
from river_pufe.recovery.evolution import Evolution, FeatureSpace
from river_pufe.tasks import PlainRegression

TASK = PlainRegression()


class Noting(Learner):
    """Scores the sum of a row, and keeps what it was told."""

    def __init__(self):
        self.rows, self.restarts = [], 0

    def scores(self, x, task):
        return np.array([sum(x.values())])

    def learn(self, x, y, w, task):
        self.rows.append((x, y, w))

    def restart(self):
        self.restarts += 1


def space(number, keys, state):
    return FeatureSpace(number, tuple(keys), state, 0, ())


def reading(known, previous=False, present=None):
    return types.SimpleNamespace(known=known, present=present or known, sees_previous=previous)


def experts(**params):
    made = SpaceExperts(Noting(), **params)
    made.make_room(TASK)
    return made


def follow(made, *spaces, **change):
    change.setdefault("origins", (None,) * change.get("opened", 0))
    return made.follow(Evolution(spaces=spaces, **change), np.zeros(0)).tolist()


def play(made, asked):
    """What those that are awake predict, by name, and who learns what."""
    predictions, awake, _ = predicted = made.predict(asked, TASK)
    before = {number: len(learner.rows) for number, learner in made._learners.items()}
    weights = np.ones(len(predictions))
    made.learn(asked, Round(Predicted(*predicted), weights, predictions[0], np.zeros(1), 7.0, 2.0), TASK)
    learned = {}
    for number, name in zip(made._numbers, made.names):
        for x, y, w in made._learners[number].rows[before[number] :]:
            assert (y, w) == (7.0, 2.0)
            learned[name] = x
    return {name: p[0] for name, p, on in zip(made.names, predictions, awake) if on}, learned


def three_spaces(**params):
    """Experts that know two retired spaces, ab and cd, and the current one, ef."""
    made = experts(**params)
    follow(made, space(0, "ab", "current"), opened=2)
    follow(made, space(0, "ab", "previous"), space(1, "cd", "current"), opened=2, overlap=True)
    follow(made, space(0, "ab", "retired"), space(1, "cd", "current"), settled=True, replaced=True)
    follow(made, space(0, "ab", "retired"), space(1, "cd", "previous"), space(2, "ef", "current"), opened=2)
    follow(made, space(0, "ab", "retired"), space(1, "cd", "retired"), space(2, "ef", "current"), settled=True)
    return made


ALL = {key: 2.0**i for i, key in enumerate("abcdef")}
SUMS = {"space 0": 3.0, "space 1": 12.0, "space 2": 48.0}
ROWS = {"space 0": {"a": 1.0, "b": 2.0}, "space 1": {"c": 4.0, "d": 8.0}, "space 2": {"e": 16.0, "f": 32.0}}


def those(table, *numbers):
    return {f"space {number}": table[f"space {number}"] for number in numbers}


@pytest.mark.parametrize("present", [False, True])
def test_before_anything_is_known_of_keys_there_is_one_space(present):
    made = experts(present=present)
    nobody = {"present": 0.0} if present else {}
    assert play(made, reading({})) == ({**nobody, "space 0": 0.0}, {**{name: {} for name in nobody}, "space 0": {}})


@pytest.mark.parametrize(
    ("roles", "numbers"),
    [
        (("current",), [2]),
        (("previous",), [1]),
        (("older",), [0]),
        (("current", "previous"), [1, 2]),
        (("current", "previous", "older"), [0, 1, 2]),
    ],
)
@pytest.mark.parametrize("frozen", [False, True])
def test_each_space_that_has_a_role_reads_its_own_row(roles, numbers, frozen):
    made = three_spaces(roles=roles, frozen=frozen)
    predicted, learned = play(made, reading(ALL))
    assert predicted == those(SUMS, *numbers)
    assert learned == those(ROWS, *({2} if frozen else {2, *numbers}))


def test_experts_sleep_where_their_row_is_not_known_and_the_current_one_never_does():
    predicted, learned = play(three_spaces(), reading({"a": 1.0, "c": 4.0, "d": 8.0, "f": 32.0}))
    assert predicted == {"space 1": 12.0, "space 2": 32.0}
    assert learned == {"space 1": ROWS["space 1"], "space 2": {"f": 32.0}}
    predicted, learned = play(three_spaces(roles=("older",)), reading({"e": 16.0, "f": 32.0}))
    assert predicted == those(SUMS, 2)
    assert learned == those(ROWS, 2)


@pytest.mark.parametrize("in_overlap", [True, False])
@pytest.mark.parametrize("previous", [True, False])
def test_in_an_overlap_both_take_part_or_the_previous_one_alone(in_overlap, previous):
    made = experts(in_overlap=in_overlap, roles=("current",))
    follow(made, space(0, "ab", "current"), opened=2)
    follow(made, space(0, "ab", "previous"), space(1, "cd", "current"), opened=2, overlap=True)
    predicted, learned = play(made, reading(ALL, previous))
    if in_overlap:
        assert (predicted, learned) == (those(SUMS, 0, 1), those(ROWS, 0, 1))
    elif previous:
        assert (predicted, learned) == (those(SUMS, 0), {})
    else:
        # It is a round like those after the overlap.
        assert (predicted, learned) == (those(SUMS, 1), those(ROWS, 1))


def test_slots_that_were_dropped_have_no_learner():
    made = three_spaces()
    retired = space(0, "ab", "retired"), space(1, "cd", "retired"), space(9, "f", "retired")
    follow(made, *retired, space(2, "e", "current"))
    assert play(made, reading(ALL)) == (SUMS, ROWS)


def test_one_more_learner_reads_what_is_present():
    made = three_spaces(present=True, roles=("current",))
    predicted, learned = play(made, reading(ALL, present={"e": 5.0, "x": 6.0}))
    assert made.names == ("present", "space 0", "space 1", "space 2")
    assert predicted == {"present": 11.0, **those(SUMS, 2)}
    assert learned == {"present": {"e": 5.0, "x": 6.0}, **those(ROWS, 2)}
    assert made.priors.tolist() == [1.0] * 4


def test_a_new_learner_is_born_with_its_space_and_all_are_once_it_is_alone():
    made = experts()
    assert follow(made, space(0, "ab", "current"), opened=2) == [False]
    both = space(0, "ab", "previous"), space(1, "cd", "current")
    assert follow(made, *both, opened=2, overlap=True) == [False, True]
    assert made._learners[0].restarts == 0
    assert follow(made, space(0, "ab", "retired"), space(1, "cd", "current"), settled=True) == [False, False]
    assert [learner.restarts for learner in made._learners.values()] == [1, 1]
    assert follow(made, space(0, "ab", "retired"), space(1, "cd", "current"), replaced=True) == [True, True]


def test_the_place_of_a_space_that_is_forgotten_is_taken_by_the_next_one():
    made = three_spaces()
    follow(made, space(1, "cd", "retired"), space(2, "ef", "current"), forgotten=(0,))
    assert made.names == ("vacant", "space 1", "space 2")
    assert made.predict(reading(ALL), TASK).awake.tolist() == [0.0, 1.0, 1.0]
    known = space(1, "cd", "retired"), space(2, "ef", "previous")
    assert follow(made, *known, space(3, "g", "current"), opened=1, overlap=True) == [True, False, False]
    assert made.names == ("space 3", "space 1", "space 2")


@pytest.mark.parametrize("roles", [("current", "previous", "older"), ("current", "previous")])
def test_a_space_of_keys_that_return_starts_from_what_was_known_of_most_of_them(roles):
    made = three_spaces(roles=roles)
    for number in (0, 1):
        made._learners[number].rows.append(({}, number, 1.0))
    retired = space(0, "ab", "retired"), space(1, "cd", "retired"), space(2, "ef", "previous")
    origins = (0, 0), None, (1, 1), (1, 0)
    follow(made, *retired, space(3, "acdx", "current"), opened=4, overlap=True, origins=origins)
    learner = made._learners[3]
    assert learner.rows == ([({}, 1, 1.0)] if "older" in roles else [])
    learner.rows.append("more")
    assert "more" not in made._learners[1].rows
    # Where as many have been in two spaces it is the later one, and none where most are new.
    tied, turned, new = ((0, 0), (1, 1)), ((1, 1), (0, 0)), (None, None, (0, 0))
    for number, origins, expected in ((4, tied, 1), (5, turned, 1), (6, new, None)):
        opened = len(origins)
        follow(made, *retired, space(number, "xyz"[:opened], "current"), opened=opened, overlap=True, origins=origins)
        known = [({}, expected, 1.0)] if expected is not None and "older" in roles else []
        assert made._learners[number].rows == known


def test_keys_that_join_a_space_are_read_with_it_and_those_that_nobody_remembers_are_not():
    made = experts(roles=("current",))
    follow(made, space(0, "ab", "current"), opened=2)
    follow(made, space(0, "bc", "current"), space(1, "a", "retired"), opened=1)
    assert play(made, reading(ALL))[0] == {"space 0": 7.0}
    follow(made, space(0, "bc", "current"), forgotten=(1,))
    assert play(made, reading(ALL))[0] == {"space 0": 6.0}
