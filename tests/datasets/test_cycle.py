"""Laws of the schedule by which one feature space takes the place of another."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from river_pufe import datasets
from river_pufe.datasets.lives import steps


@st.composite
def cycles(draw, **fixed):
    n_spaces = draw(st.integers(2, 4))
    period = draw(st.integers(2, 30))
    given = {
        "n_spaces": n_spaces,
        "period": period,
        "overlap": draw(st.integers(0, period - 1)),
        "unpredictable": draw(st.booleans()),
        "survivors": draw(st.floats(0, 1)),
        "emergence": draw(st.integers(1, period)),
    }
    return datasets.Cycle(**{**given, **fixed})


def seen(cycle, width=6, n=None, seed=1):
    """The numbers of the features of each space that are seen in each round, as a list of dicts of sets."""
    n = n or cycle.period * (len(cycle.changes()) + 1)
    rounds = []
    for x, _ in datasets.HiddenFactors(cycle, width=width, n_samples=n, seed=seed):
        spaces = {space: set() for space in range(cycle.n_spaces)}
        for key in x:
            space, j = key[1:].split("_")
            spaces[int(space)].add(int(j))
        rounds.append(spaces)
    return rounds


@given(st.integers(0, 40), st.integers(0, 40))
def test_steps_are_even(n, rounds):
    pace = steps(n, rounds)
    for step in range(rounds + 1):
        moved = sum(s <= step for s in pace)
        assert moved == math.floor(n * (step + 1) / (rounds + 1) + 0.5)
    assert pace == sorted(pace)


@settings(deadline=None, max_examples=60)
@given(cycles(), st.integers(1, 12))
def test_one_space_takes_the_place_of_the_other(cycle, width):
    rounds = seen(cycle, width)
    everything = set(range(width))
    n_survivors = round(cycle.survivors * width)
    for space, change in enumerate(cycle.changes()):
        opening = change - cycle.overlap
        for t in range(opening):
            assert not rounds[t][space + 1]  # no key is there before its space opens
        for t in range(opening, change):
            old, before = rounds[t][space], rounds[t - 1][space] if t else everything
            assert old
            assert old <= before
            left = 1 - (t - opening + 1) / (cycle.overlap + 1)
            expected = n_survivors + left * (width - n_survivors) if cycle.unpredictable else width
            assert abs(len(old) - max(1, expected)) <= 1
        for step in range(cycle.emergence):
            new = rounds[opening + step][space + 1]
            assert new
            assert abs(len(new) - max(1, width * (step + 1) / cycle.emergence)) <= 0.5
            assert new >= rounds[opening + step - 1][space + 1] if opening + step else True
        outlived = rounds[change][space]
        assert len(outlived) == n_survivors
        for t in range(change, min(change + cycle.period - cycle.overlap, len(rounds))):
            assert rounds[t][space] == outlived  # survivors stay until the next change...
        for t in range(change + cycle.period, len(rounds)):
            assert not rounds[t][space]  # ... and go with it


@settings(deadline=None, max_examples=30)
@given(cycles(unpredictable=False, n_spaces=2))
def test_a_predictable_overlap_is_intact(cycle):
    rounds = seen(cycle)
    for t in range(cycle.period):
        assert rounds[t][0] == set(range(6))


@settings(deadline=None, max_examples=30)
@given(cycles(n_spaces=2, n_changes=5))
def test_spaces_come_back(cycle):
    rounds = seen(cycle)
    for phase, change in enumerate(cycle.changes(), start=1):
        arrived = change - cycle.overlap + cycle.emergence - 1
        for t in range(arrived, change + cycle.period - cycle.overlap):
            assert rounds[t][phase % 2] == set(range(6))


def test_the_order_of_vanishing_is_drawn():
    cycle = datasets.Cycle(period=10, overlap=8)
    last = {tuple(seen(cycle, seed=seed)[9][0]) for seed in range(60)}
    assert last == {(j,) for j in range(6)}


def test_splits_into_groups():
    source = [(dict.fromkeys(range(10), t), None) for t in range(90)]
    dataset = datasets.SplitSpaces(source, datasets.Cycle(n_spaces=3, overlap=0), seed=1)
    spaces = [set(x) for t, (x, _) in enumerate(dataset) if t % 30 == 29]
    assert sorted(map(len, spaces)) == [3, 3, 4]
    assert set.union(*spaces) == set(range(10))


@settings(deadline=None, max_examples=30)
@given(cycles(n_spaces=2, n_changes=3))
def test_what_is_in_no_group_is_always_there(cycle):
    source = [({"old": 1, "new": 2, "always": 3}, None)] * 4 * cycle.period
    dataset = datasets.SplitSpaces(source, cycle, groups=[["old"], ["new"]], seed=1)
    assert all("always" in x for x, _ in dataset)


def test_a_key_that_is_seen_late_goes_with_its_space():
    source = [({"old": 1, "new": 2} | ({"late": 3} if t >= 16 else {}), None) for t in range(30)]
    cycle = datasets.Cycle(period=20, overlap=5)
    dataset = datasets.SplitSpaces(source, cycle, groups=[["old", "late"], ["new"]], seed=1)
    assert [t for t, (x, _) in enumerate(dataset) if "late" in x] == [16, 17, 18, 19]


def test_a_gap_is_not_the_end():
    """A key that is missing when its space begins to close still is there for all of the overlap."""
    cycle = datasets.Cycle(period=20, overlap=10, unpredictable=False)
    source = [({"old": 1, "new": 2} if t != 10 else {"new": 2}, None) for t in range(30)]
    dataset = datasets.SplitSpaces(source, cycle, groups=[["old"], ["new"]], seed=1)
    assert [t for t, (x, _) in enumerate(dataset) if "old" in x] == [*range(10), *range(11, 20)]


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_spaces": 1}, "n_spaces must be a whole number, 2 or more, got 1"),
        ({"overlap": -1}, "overlap must be a whole number, 0 or more, got -1"),
        ({"overlap": 2.5}, "overlap must be a whole number"),
        ({"overlap": 10, "period": 10}, "overlap must be less than the period, 10, got 10"),
        ({"emergence": 0}, "emergence must be a whole number, 1 or more, got 0"),
        ({"emergence": 51, "period": 50}, "emergence must be at most the period"),
        ({"survivors": 1.5}, "survivors must be between 0 and 1, got 1.5"),
        ({"survivors": math.nan}, "survivors"),
        ({"period": 0}, "period must be a whole number, 1 or more, got 0"),
        ({"n_spaces": 4, "n_changes": 2}, "n_changes must be 3 or more, got 2"),
    ],
)
def test_rejects_parameters_out_of_range(parameters, message):
    with pytest.raises(ValueError, match=message):
        datasets.Cycle(**parameters)


def test_shares_the_stream_evenly():
    assert datasets.Cycle(n_spaces=4).changes(1_000) == (250, 500, 750)
    assert datasets.Cycle().changes(101) == (50,)
    with pytest.raises(ValueError, match="overlap must be less than the period"):
        datasets.Cycle().changes(40)
    with pytest.raises(ValueError, match="period must be given"):
        datasets.Cycle().changes()
