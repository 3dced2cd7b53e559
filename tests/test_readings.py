"""Are readings gathered into the samples that they were taken of?"""

from __future__ import annotations

import datetime
import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from river_pufe import files
from river_pufe.files.readings import Gathered, Waiting
from river_pufe.files.times import isoformat, seconds, timestamp

READINGS = st.lists(st.tuples(st.integers(0, 500).map(float), st.sampled_from("abc"), st.integers(0, 9)), max_size=40)


def plain(readings, every, aggregate="last"):
    """The samples of readings that are all at hand."""
    intervals = {}
    for when, sensor, value in sorted(readings, key=lambda reading: reading[0]):
        intervals.setdefault(math.floor(when / every), {}).setdefault(sensor, []).append(value)
    take = {"last": lambda values: values[-1], "mean": lambda values: sum(values) / len(values)}[aggregate]
    return [{sensor: take(values) for sensor, values in intervals[n].items()} for n in sorted(intervals)]


def gathered(readings, every, **parameters):
    return [x for x, _ in files.gather(readings, every, **parameters)]


@given(READINGS)
def test_in_order_nothing_is_lost(readings):
    readings = sorted(set(readings), key=lambda reading: reading[0])
    assert gathered(readings, 60) == plain(readings, 60)


@given(READINGS, st.randoms(use_true_random=False))
def test_within_the_allowance_the_order_changes_nothing(readings, rng):
    # One reading of a sensor at a time: which of two at once is the latest nobody knows.
    readings = list({reading[:2]: reading for reading in readings}.values())
    readings.sort(key=lambda reading: reading[0] + rng.uniform(0, 100))
    for aggregate in files.readings.AGGREGATES:
        found = gathered(readings, 60, lateness=100, aggregate=aggregate)
        expected = plain(readings, 60, aggregate)
        assert [x.keys() for x in found] == [x.keys() for x in expected]
        assert all(x[key] == pytest.approx(y[key]) for x, y in zip(found, expected) for key in x)


def test_what_comes_too_late_is_counted_and_left_out():
    gathering = files.Gathering(60, lateness=30)
    samples = [s for when in (10, 70, 95, 20, 130, 65) for s in gathering.add(float(when), "a", when)]
    samples += gathering.flush()
    assert [(sample.start, sample.x) for sample in samples] == [(0, {"a": 10}), (60, {"a": 95}), (120, {"a": 130})]
    assert gathering.n_late == 1


def test_duplicates_count_once():
    gathering = files.Gathering(60, aggregate="mean")
    for when, value in ((1.0, 10.0), (1.0, 10.0), (2.0, 20.0)):
        gathering.add(when, "a", value)
    assert gathering.flush()[0].x == {"a": 15.0}
    assert gathering.n_duplicates == 1


def test_values_hold_for_a_while():
    readings = [(5.0, "a", 1.0), (10.0, "b", 7.0), (200.0, "b", 8.0), (1000.0, "b", 9.0)]
    assert gathered(readings, 60, hold=150) == [
        {"a": 1.0, "b": 7.0},
        {"a": 1.0, "b": 7.0},
        {"b": 8.0},
        {"b": 8.0},
        {"b": 9.0},
    ]
    assert gathered(readings, 60) == [{"a": 1.0, "b": 7.0}, {"b": 8.0}, {"b": 9.0}]


def test_the_target_is_one_of_the_sensors():
    readings = [(0, "a", 1), (1, "y", 10), (60, "a", 2), (121, "y", 30), (120, "a", 3)]
    assert list(files.gather(readings, 60, target="y")) == [({"a": 1}, 10), ({"a": 2}, None), ({"a": 3}, 30)]


@pytest.mark.parametrize(("wait", "targets"), [(None, [None, None, None, 4]), ("2min", [1, None, 3, 4])])
def test_the_target_may_come_later(wait, targets):
    readings = [(0, "a", 1), (60, "a", 2), (130, "a", 3), (10, "y", 1), (190, "a", 4), (121, "y", 3), (185, "y", 4)]
    assert [y for _, y in files.gather(readings, 60, target="y", wait=wait)] == targets


def test_memory_is_bounded():
    rng = random.Random(1)
    gathering = files.Gathering("1min", hold="5min", lateness="30s")
    for t in range(20_000):
        gathering.add(t + rng.uniform(-20, 20), f"sensor {t // 1000 + rng.randrange(5)}", 1.0)
        assert len(gathering._open) <= 4
        assert len(gathering._held) <= 10


def test_targets_without_samples_are_bounded(monkeypatch):
    monkeypatch.setattr("river_pufe.files.readings._MOST", 10)
    waiting = Waiting(60.0, "y", None)
    for t in range(100):
        waiting.learn(60.0 * t, t)
    waiting.push([Gathered(60.0 * t, {"a": 1.0}) for t in (5, 95)])
    assert [y for _, y in waiting.ready(math.inf)] == [None, 95]


def test_times_and_spans():
    when = datetime.datetime(2024, 3, 1, 12, tzinfo=datetime.UTC)
    for written in (
        when,
        when.replace(tzinfo=None),
        "2024-03-01T12:00:00Z",
        "2024-03-01T13:00:00.000+01:00",
        "2024-03-01 12:00:00",
        "2024-03-01 12:00:00 UTC",
        "1709294400",
        1709294400,
        1709294400000,
        1709294400000000000,
    ):
        assert timestamp(written) == when.timestamp()
    assert isoformat(when.timestamp()) == "2024-03-01T12:00:00Z"
    assert isoformat(0.25) == "1970-01-01T00:00:00.250Z"
    for wrong in ("yesterday", None, True, [1], math.nan):
        with pytest.raises(ValueError, match="the time is"):
            timestamp(wrong)
    assert [seconds(span) for span in ("250ms", "30 s", "1min", "2 hours", "1d", 5)] == [0.25, 30, 60, 7200, 86400, 5]
    for wrong in ("1 fortnight", "min", "0s", "-5s", ""):
        with pytest.raises(ValueError, match="is not a span of time"):
            seconds(wrong)
    with pytest.raises(ValueError, match="aggregate is one of last, mean"):
        files.Gathering(60, aggregate="first")
