"""Rows by least squares: completed from the sketch of their own space, and mapped from it to the other one."""

from __future__ import annotations

import types

import numpy as np
import pytest

from river_pufe.recovery import LeastSquaresRows
from river_pufe.recovery.scaling import NoScaler

#: Features of the previous space, and those that come with an overlap.
PREVIOUS, MORE = 4, 3


def readings(rows):
    return [types.SimpleNamespace(standardized=row, usable=True, filled=None) for row in rows]


def rows_of_rank(rank, n, d, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, rank)) @ rng.normal(size=(rank, d))


def taught(before, overlap=None):
    """What is known after rows of one space, and rows of an overlap with another one."""
    model = LeastSquaresRows()
    model.extend(PREVIOUS, False, NoScaler())
    for reading in readings(before):
        model.update(reading)
    if overlap is not None:
        model.extend(MORE, True, NoScaler())
        for reading in readings(overlap):
            model.update(reading)
    return model


@pytest.mark.parametrize("overlapping", [False, True], ids=["one space", "an overlap"])
def test_rows_told_in_other_units(overlapping):
    rng = np.random.default_rng(1)
    d = PREVIOUS + MORE * overlapping
    factor, shift = rng.uniform(0.5, 2.0, size=d), rng.normal(size=d)
    # All of one law, so that rows of the overlap are in the row space of those before.
    rows = rows_of_rank(2, 60, PREVIOUS + MORE)
    before, overlap = rows[:40, :PREVIOUS], rows[40:] if overlapping else None
    model = taught(before, overlap)
    model.rescale(factor, shift)
    told = taught(before * factor[:PREVIOUS] + shift[:PREVIOUS], overlap * factor + shift if overlapping else None)
    for absent in np.eye(d, dtype=bool):
        row = np.where(absent, np.nan, rng.normal(size=d))
        completed, usable = model.complete(row, absent)
        expected, is_usable = told.complete(row, absent)
        assert usable is is_usable is True
        assert completed == pytest.approx(expected, rel=1e-6, abs=1e-9)
        left = row[~absent]
        assert model.predict(absent)(left) == pytest.approx(told.predict(absent)(left), rel=1e-6, abs=1e-9)


def test_in_an_overlap_a_row_of_the_previous_space_is_completed_by_what_was_known_before():
    before = rows_of_rank(2, 40, PREVIOUS)
    model, alone = taught(before, rows_of_rank(2, 20, PREVIOUS + MORE, seed=5)), taught(before)
    row, absent = np.array([1.0, np.nan, -1.0, 0.5, np.nan, 0.3, 0.2]), np.arange(PREVIOUS + MORE) % 3 == 1
    row[absent] = np.nan
    completed, usable = model.complete(row, absent)
    expected, _ = alone.complete(row[:PREVIOUS], absent[:PREVIOUS])
    assert usable
    assert completed[:PREVIOUS] == pytest.approx(expected)
    # What is absent of the current space follows from all that was observed.
    known = model.predict(absent)(row[~absent])
    assert completed[PREVIOUS:][absent[PREVIOUS:]] == pytest.approx(known[1:])
    model.end_overlap(NoScaler())
    assert not np.allclose(model.complete(row, absent)[0][:PREVIOUS], completed[:PREVIOUS])


def test_before_any_row_entries_are_at_their_mean_and_nothing_follows():
    model = taught(np.zeros((0, PREVIOUS)))
    row, absent = np.array([1.0, np.nan, 2.0, np.nan]), np.array([False, True, False, True])
    completed, usable = model.complete(row, absent)
    assert completed.tolist() == [1.0, 0.0, 2.0, 0.0]
    assert not usable
    assert model.predict(absent) is None
    assert np.isnan(model.variance(absent)).tolist() == [True, True]


def test_slots_that_are_dropped_are_unknown_to_what_is_left():
    slots = np.array([True, False, True, True])
    before = rows_of_rank(3, 40, PREVIOUS)
    model = taught(before)
    model.keep(slots)
    row, absent = np.array([1.0, np.nan, 0.5]), np.array([False, True, False])
    assert model.complete(row, absent)[0].shape == (3,)
    assert model.predict(absent)(row[~absent]).shape == (1,)
    # With the slot that was dropped at hand as well, no more is said than by those that are left.
    expected = taught(before).predict(np.array([False, True, True, False]))(row[~absent])
    assert model.predict(absent)(row[~absent]) == pytest.approx(expected[1:], rel=0.2)


@pytest.mark.parametrize("overlapping", [False, True], ids=["one space", "an overlap"])
def test_a_row_in_which_nothing_is_observed_is_all_at_its_mean(overlapping):
    """Rows are standardized, so that is 0, whatever the latest rows were."""
    rows = 1.0 + rows_of_rank(2, 60, PREVIOUS + MORE)
    model = taught(rows[:40, :PREVIOUS], rows[40:] if overlapping else None)
    d = PREVIOUS + MORE * overlapping
    completed, usable = model.complete(np.full(d, np.nan), np.ones(d, dtype=bool))
    assert completed.tolist() == [0.0] * d
    assert not usable
