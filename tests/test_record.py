"""Are the records of a stream bounded, and do they lose nothing but detail?"""

from __future__ import annotations

import decimal
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from river_pufe.plot.record import Presence, Series, Timeline
from river_pufe.recovery.evolution import Event
from river_pufe.values import is_there


@given(st.integers(2, 20), st.integers(0, 200))
def test_series_keeps_ends_and_order_within_its_limit(limit, n):
    series = Series(limit)
    for t in range(n):
        series.add(t, 10 * t)
    notes = list(series)
    assert len(series) == len(notes) <= limit + 1
    assert notes == sorted(set(notes))
    assert all(value == 10 * t for t, value in notes)
    if n:
        assert (notes[0][0], notes[-1][0]) == (0, n - 1)


@given(st.integers(2, 20), st.integers(50, 400))
def test_series_is_thinned_evenly(limit, n):
    series = Series(limit)
    for t in range(n):
        series.add(t, None)
    gaps = np.diff([t for t, _ in series])
    assert len(set(gaps[:-1])) <= 1
    assert len(series) > min(limit, n) // 2


@given(st.lists(st.sets(st.sampled_from("abcd")), max_size=100), st.integers(0, 50))
def test_presence_counts_every_round_of_every_key(stream, start):
    record = Presence(n_buckets=8, start=start)
    for keys in stream:
        record.update(dict.fromkeys(keys, 1.0))
    counts = record.shares() * np.diff(record.edges)
    assert record.rounds == start + len(stream)
    assert set(record.keys) == set().union(*stream)
    assert len(record.edges) <= 9
    for key, row in zip(record.keys, counts):
        rounds = [t for t, keys in enumerate(stream, start) if key in keys]
        assert record.seen(key) == (rounds[0], rounds[-1], len(rounds))
        binned, _ = np.histogram(rounds, np.append(record.edges[:-1], math.inf))
        np.testing.assert_allclose(row, binned)


@given(st.lists(st.sets(st.integers(0, 30), max_size=8), max_size=120), st.integers(1, 6))
def test_presence_loses_no_count_when_rows_are_given_up(stream, max_keys):
    record = Presence(n_buckets=16, max_keys=max_keys)
    for keys in stream:
        record.update(dict.fromkeys(keys, 1.0))
        assert len(record.keys) <= max_keys
    widths = np.diff(record.edges)
    total = (record.shares() * widths).sum() + (record.others() * widths).sum()
    assert total == pytest.approx(sum(map(len, stream)))


def test_presence_gives_up_the_keys_seen_least():
    record = Presence(max_keys=10)
    for t in range(1000):
        record.update({"always": 1.0, "often" if t % 2 else "also often": 1.0, ("once", t): 1.0})
    assert {"always", "often", "also often"} <= set(record.keys)
    assert record.seen("always") == (0, 999, 1000)
    assert len(record.keys) + record.n_others == 1003
    assert record._counts.nbytes < 100_000


def test_what_is_there():
    absent = (None, math.nan, np.nan, np.float32("nan"), decimal.Decimal("sNaN"), pd.NA, pd.NaT)
    there = (0, 0.0, False, "", "nan", math.inf, [], np.array([1.0, 2.0]), np.float64(1))
    assert not any(map(is_there, absent))
    assert all(map(is_there, there))


@pytest.mark.parametrize("wrong", [{"n_buckets": 7}, {"n_buckets": 0}, {"max_keys": 0}])
def test_presence_refuses_sizes_by_name(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        Presence(**wrong)


def test_series_refuses_a_limit_by_name():
    with pytest.raises(ValueError, match="limit"):
        Series(1)


@given(st.lists(st.tuples(st.integers(0, 300), st.sampled_from(["opened", "vanished", "returned"])), max_size=60))
def test_timelines_keep_all_events_but_for_their_rounds(notes):
    notes.sort(key=lambda note: note[0])
    timeline = Timeline(limit=8)
    for round_, kind in notes:
        timeline.add(Event(round_, kind, ("a",)))
    for kind in ("opened", "vanished", "returned"):
        rounds = [round_ for round_, its_kind in notes if its_kind == kind]
        kept = timeline.rounds(kind)
        assert len(kept) <= 8
        assert all(any(round_ - 64 < k <= round_ for k in kept) for round_ in rounds)
        if len(set(rounds)) <= 8:
            assert kept == sorted(set(rounds))


def test_timelines_merge_overlaps_but_keep_their_ends():
    timeline = Timeline(limit=10)
    for start in range(0, 10_000, 100):
        timeline.add(Event(start, "overlap began", ("a",)))
        timeline.add(Event(start + 60, "overlap ended", ("a",)))
    overlaps = timeline.overlaps
    assert len(overlaps) <= 10
    assert (overlaps[0][0], overlaps[-1][1]) == (0, 9960)
    timeline.add(Event(20_000, "overlap began", ("a",)))
    assert timeline.overlaps[-1] == (20_000, None)


def test_a_series_can_say_that_a_value_is_not_needed():
    plain, frugal = Series(limit=8), Series(limit=8)
    for t in range(100):
        plain.add(t, t)
        frugal.add(t, t) if frugal.due else frugal.skip()
    assert [t for t, _ in frugal] == [t for t, _ in plain if t != 99]
