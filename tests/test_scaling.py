"""Laws of the scaler: the statistics that it keeps, and the units that it tells rows in."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from river_pufe.recovery.scaling import NoScaler, RowScaler

seeds = st.integers(0, 2**32 - 1)


def made(n, **parameters):
    scaler = RowScaler(**parameters)
    scaler.extend(n)
    return scaler


def fed(scaler, rows):
    """Update with rows; how many there were when the units were taken for the last time."""
    latest = 0
    for t, row in enumerate(rows, 1):
        if scaler.update(row) is not None:
            latest = t
    return latest


def scaled(scaler, row):
    row = np.asarray(row, dtype=float)
    return scaler.scale(row, out=np.empty_like(row))


@st.composite
def streams(draw, max_rows=120):
    """Rows without outliers, some entries absent, some slots constant."""
    shape = draw(st.tuples(st.integers(1, max_rows), st.integers(1, 3)))
    rng = np.random.default_rng(draw(seeds))
    units = np.array(draw(st.sampled_from([[1, 1, 1], [1, 0, 2]]))) * 10.0 ** draw(st.floats(-6, 6))
    rows = rng.uniform(-1, 1, size=shape) * units[: shape[1]]
    rows += draw(st.sampled_from([0.0, -3.0, 1e3]))
    rows[rng.random(shape) < draw(st.sampled_from([0, 0.1, 0.9]))] = math.nan
    return rows


def assert_units_of(scaler, rows):
    """Mean and deviation of the rows in each slot, as far as seen."""
    for mean, deviation, values in zip(scaler.mean, scaler.deviation, rows.T):
        values = values[~np.isnan(values)]
        rounding = 1e-12 * np.abs(values).max(initial=0)
        expected = (values.mean(), values.std()) if len(values) else (0, 0)
        assert mean == pytest.approx(expected[0], abs=rounding)
        assert deviation == pytest.approx(expected[1], rel=1e-6, abs=1e4 * rounding)


# Statistics.


@settings(deadline=None, max_examples=60)
@given(streams(max_rows=400))
def test_units_are_mean_and_deviation_of_what_was_seen(rows):
    """In each slot by itself: where one is absent says nothing of another."""
    scaler = made(rows.shape[1])
    assert_units_of(scaler, rows[: fed(scaler, rows)])


@settings(deadline=None, max_examples=30)
@given(seeds, st.integers(1, 400))
def test_without_centering_zero_stays_zero(seed, n):
    """The unit is the root of the mean square then."""
    rows = np.random.default_rng(seed).uniform(-1, 1, size=(n, 2)) + 0.5
    scaler = made(2, centered=False, clip=math.inf)
    seen = rows[: fed(scaler, rows)]
    np.testing.assert_allclose(scaler.deviation, np.sqrt((seen**2).mean(0)))
    assert scaler.mean.tolist() == scaled(scaler, [0.0, 0.0]).tolist() == [0.0, 0.0]
    np.testing.assert_allclose(scaled(scaler, rows[0]), rows[0] / scaler.deviation)


@settings(deadline=None, max_examples=30)
@given(seeds, st.floats(0.05, 1), st.integers(100, 400))
def test_without_centering_what_is_rare_has_the_unit_of_what_is_there(seed, presence, n):
    rng = np.random.default_rng(seed)
    rows = rng.uniform(1, 2, size=(n, 1)) * (rng.random((n, 1)) < presence)
    rows[0] = 1.5
    scaler = made(1, centered=False)
    seen = rows[: fed(scaler, rows)]
    assert scaler.deviation == pytest.approx(np.sqrt((seen[seen > 0] ** 2).mean()))


@pytest.mark.parametrize(("memory", "expected"), [(math.inf, 2.5), (1e4, 2.5), (100.0, 5.0)])
def test_memory_is_what_counts(memory, expected):
    rows = np.random.default_rng(0).uniform(-1, 1, size=(2000, 1))
    rows[1000:] += 5
    scaler = made(1, memory=memory)
    latest = fed(scaler, rows)
    assert latest > 1900
    assert scaler.mean == pytest.approx(expected, abs=0.15)


# Outliers and changes.


@settings(deadline=None, max_examples=30)
@given(seeds, st.integers(100, 500), st.sampled_from([1e9, -1e9, 1e150]), st.floats(-6, 6))
def test_a_spike_is_forgotten_within_a_hundred_rounds(seed, when, spike, exponent):
    rows = np.random.default_rng(seed).normal(size=(when + 165, 1)) * 10.0**exponent
    calm, shaken = made(1), made(1)
    fed(calm, rows)
    rows[when] = spike
    fed(shaken, rows)
    assert abs(shaken.mean - calm.mean) < 0.3 * calm.deviation
    assert 0.9 * calm.deviation < shaken.deviation < 1.4 * calm.deviation


def shaken_by(when, new_slot=None, presence=1.0, constant=0):
    """Deviation of a slot with standard normal values, long after a spike."""
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(3000, 1))
    rows[rng.random(rows.shape) > presence] = math.nan
    rows[:constant] = 0
    rows[when] = 1e9
    scaler = made(1)
    for t, row in enumerate(rows):
        if t == new_slot:
            scaler.extend(1)
        scaler.update(np.resize(row, scaler.mean.shape))
    return scaler.deviation[0]


def test_a_spike_is_a_spike_right_after_a_new_slot():
    assert max(shaken_by(when, new_slot=500) for when in range(500, 510)) < 10


def test_a_spike_is_a_spike_in_a_slot_that_is_seldom_seen():
    assert max(shaken_by(when, presence=0.02) for when in range(1500, 1600, 20)) < 10


@pytest.mark.parametrize("case", [{"when": 5}, {"when": 200, "constant": 200}])
def test_a_spike_is_a_spike_before_anything_is_known(case):
    assert shaken_by(**case) < 10


@pytest.mark.parametrize("value", [0.1, 1e9, -3e-7])
def test_a_slot_that_stopped_varying_keeps_its_unit(value):
    """The rounding of its mean is no new scale."""
    scaler = made(1)
    fed(scaler, [*np.random.default_rng(0).normal(size=(200, 1)), *np.full((200, 1), value)])
    before = scaler.deviation[0]
    fed(scaler, np.full((64, 1), value))
    assert scaler.deviation[0] > before / 2


@pytest.mark.parametrize("change", [1e6, 1e-6])
@pytest.mark.parametrize("memory", [50.0, 200.0])
def test_a_change_of_scale_is_followed(change, memory):
    rows = np.random.default_rng(0).normal(size=(int(memory) * 50, 1)) + 3
    rows[500:] *= change
    scaler = made(1, memory=memory)
    fed(scaler, rows)
    assert scaler.mean == pytest.approx(3 * change, rel=0.3)
    assert scaler.deviation == pytest.approx(change, rel=0.3)


def test_a_slot_that_was_constant_for_long_comes_back():
    switching = np.arange(20.0)[:, None] % 2
    scaler = made(1, memory=2)
    fed(scaler, [*switching, *np.zeros((1200, 1)), *np.tile(switching, (20, 1))])
    assert scaler.deviation > 0.1


@settings(deadline=None, max_examples=40)
@given(seeds, st.integers(20, 200), st.booleans(), st.floats(-5, 5), st.floats(-10, 10))
def test_the_unit_of_the_values_changes_nothing(seed, n, negative, exponent, shift):
    rows = np.random.default_rng(seed).normal(size=(n, 2))
    rows[n // 2, 0] = 1e3
    factor, shift = (-1) ** negative * 10.0**exponent, shift * 10.0**exponent
    one, other = made(2), made(2)
    fed(one, rows)
    fed(other, factor * rows + shift)
    expected = (-1) ** negative * scaled(one, rows[0])
    np.testing.assert_allclose(scaled(other, factor * rows[0] + shift), expected, atol=1e-6)


# Units.


@settings(deadline=None, max_examples=40)
@given(streams())
def test_what_was_told_in_old_units_can_be_told_in_new_ones(rows):
    """z becomes factor · z + shift, exactly, where a slot had a unit before and has one now."""
    scaler = made(rows.shape[1], clip=math.inf)
    row = np.ones(rows.shape[1])
    for update in rows:
        before, known = scaled(scaler, row), scaler.deviation > 0
        units = scaler.update(update)
        if units is None:
            assert np.array_equal(scaled(scaler, row), before)
            continue
        factor, shift = units.factor, units.shift
        assert (factor > 0).all()
        known &= scaler.deviation > 0
        size = np.abs(factor * before) + np.abs(shift)
        error = np.abs(factor * before + shift - scaled(scaler, row))
        assert (error <= 1e-9 * size + 1e-12)[known].all()
        assert (factor[~known] == 1).all()
        assert (shift[~known] == 0).all()


def test_units_are_renewed_for_ever_and_at_once_for_new_slots():
    rng = np.random.default_rng(0)
    scaler = made(1)
    renewed = [t for t, row in enumerate(rng.normal(size=(2000, 1))) if scaler.update(row) is not None]
    assert renewed[:3] == [0, 1, 2]
    assert max(np.diff([*renewed, 2000])) <= 64
    scaler.extend(1)
    assert scaler.update(np.ones(2)) is not None


@settings(deadline=None, max_examples=40)
@given(streams(), st.floats(0.1, 10), arrays(float, 3, elements=st.floats(-1e150, 1e150) | st.just(math.nan)))
def test_scaled_values_are_cut_and_absent_ones_stay_absent(rows, clip, row):
    scaler = made(rows.shape[1], clip=clip)
    row = row[: rows.shape[1]]
    for update in rows:
        scaler.update(update)
        told = scaler.standardize(row)
        assert (np.isnan(told) == np.isnan(row)).all()
        assert np.abs(told[~np.isnan(row)]).max(initial=0) <= clip


@settings(deadline=None, max_examples=40)
@given(seeds, st.integers(2, 100), st.booleans(), st.floats(-5, 5))
def test_unscaling_takes_scaling_back(seed, n, centered, exponent):
    rows = np.random.default_rng(seed).normal(size=(n, 3)) * 10.0**exponent + 2
    scaler = made(3, clip=math.inf, centered=centered)
    fed(scaler, rows)
    np.testing.assert_allclose(scaler.unscale(scaled(scaler, rows[0])), rows[0], rtol=1e-9)


@pytest.mark.parametrize("value", [0.0, 0.1, -1e150, 12345.678])
def test_a_slot_that_never_varied_is_zero(value):
    scaler = made(1)
    fed(scaler, np.full((100, 1), value))
    assert scaled(scaler, [value]).tolist() == scaled(scaler, [value + 1e3]).tolist() == [0.0]
    assert scaler.unscale(np.zeros(1)).tolist() == [value]


def first_seen(late, deviation, value):
    """A scaler of a slot that is absent at first, and what was seen of it."""
    rows = np.random.default_rng(0).normal(size=(400, 1)) * deviation + value
    rows[:late] = math.nan
    scaler = made(1)
    return scaler, rows[late : fed(scaler, rows)]


def test_a_slot_that_is_first_seen_late_is_measured_as_well():
    for late in range(50, 150, 10):
        scaler, seen = first_seen(late, deviation=1.0, value=1.7e9)
        assert scaler.deviation == pytest.approx(seen.std(), rel=1e-3)


def test_a_slot_that_is_first_seen_late_and_never_varied_is_zero():
    for late in range(50, 150, 10):
        scaler, _ = first_seen(late, deviation=0.0, value=0.1)
        assert scaled(scaler, [0.1]).tolist() == [0.0]


# Slots that come and go.


@settings(deadline=None, max_examples=40)
@given(streams(), streams(), st.data())
def test_dropped_slots_leave_the_others_as_they_are(rows, later, data):
    d = rows.shape[1]
    slots = np.array(data.draw(st.lists(st.booleans(), min_size=d, max_size=d)))
    later = np.resize(later, (len(later), d))[:, slots]
    one, other = made(d), made(int(slots.sum()))
    fed(one, rows)
    one.keep(slots)
    fed(other, rows[:, slots])
    for row in later:
        assert (one.update(row) is None) == (other.update(row) is None)
        np.testing.assert_allclose(scaled(one, row), scaled(other, row), rtol=1e-6, atol=1e-6)


@settings(deadline=None, max_examples=40)
@given(streams(), streams())
def test_new_slots_start_anew_and_old_ones_go_on(rows, later):
    d, more = rows.shape[1], later.shape[1]
    scaler = made(d)
    fed(scaler, rows)
    scaler.extend(more)
    together = np.hstack([np.resize(rows, (len(later), d)), later])
    latest = fed(scaler, together)
    assert_units_of(scaler, np.vstack([np.hstack([rows, np.full((len(rows), more), math.nan)]), together[:latest]]))


def test_entries_that_are_not_cut_are_finite_when_squared():
    scaler = RowScaler(clip=math.inf)
    scaler.extend(1)
    fed(scaler, np.array([[0.0], [1e-9]] * 20))
    with np.errstate(all="raise"):
        assert np.isfinite(np.square(scaled(scaler, np.array([1e150])))).all()


# Rows as they are.


def test_no_scaler_changes_nothing():
    scaler = NoScaler()
    scaler.extend(2)
    row = np.array([1e40, math.nan])
    before = pickle.dumps(scaler)
    assert scaler.update(row) is None
    assert pickle.dumps(scaler) == before
    assert np.array_equal(scaled(scaler, row), row, equal_nan=True)
    assert np.array_equal(scaler.unscale(row), row, equal_nan=True)
    scaler.extend(1)
    scaler.keep(np.array([True, False, True]))
    assert scaler.unscale(np.array([2.0, 3.0])).tolist() == [2.0, 3.0]


@pytest.mark.parametrize(
    "parameters", [{"clip": 0.0}, {"clip": -1.0}, {"clip": math.nan}, {"memory": 0.5}, {"memory": math.nan}]
)
def test_parameters_are_checked(parameters):
    with pytest.raises(ValueError, match=next(iter(parameters))):
        RowScaler(**parameters)


def test_a_slot_that_returns_has_the_units_that_it_had():
    rows = np.random.default_rng(1).normal(5.0, 3.0, size=(200, 2))
    scaler = made(2)
    fed(scaler, rows)
    known = scaler.statistics(np.array([True, False]))[:, 0]
    row = scaler.scale(rows[0], out=np.empty(2))
    again = made(1)
    again.restore(0, known)
    assert scaled(again, rows[0, :1]) == row[:1]
    assert again.statistics(np.array([True]))[:, 0].tolist() == known.tolist()
    assert again.unscale(scaled(again, rows[0, :1])) == pytest.approx(rows[0, :1])
