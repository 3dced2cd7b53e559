"""What is recovered is what the sensors would have read, as far as that can be known."""

from __future__ import annotations

import itertools
import math
import pickle
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from river import linear_model, optim, preprocessing

from river_pufe import FeatureRecovery, datasets
from river_pufe.pufe import paper_recovery
from river_pufe.recovery import GaussianRows, LeastSquaresRows
from river_pufe.recovery.reading import Readings
from river_pufe.recovery.row_model import RowModel
from river_pufe.recovery.scaling import NoScaler
from river_pufe.recovery.spaces import FeatureSpaces
from river_pufe.values import LARGEST

SEEDS = range(3)


def replaced(seed, overlap=20, n_spaces=2, width=8, period=200, **params):
    cycle = datasets.Cycle(n_spaces=n_spaces, overlap=overlap, period=period)
    return datasets.HiddenFactors(cycle, width=width, n_samples=period * n_spaces, seed=seed, **params)


def lasting(seed, width=8, n=600, **params):
    """A stream without any change."""
    return datasets.HiddenFactors(datasets.Cycle(period=10 * n), width=width, n_samples=n, seed=seed, **params)


def error(stream, start, recovery=None, pick=lambda key: True, answer=FeatureRecovery.recover_one):
    """Squared error of what is recovered from `start` on, in units of what the answer 0, the mean, would cost."""
    recovery = recovery if recovery is not None else FeatureRecovery()
    error = cost = 0.0
    for t, ((x, _), truth) in enumerate(zip(stream, stream.truth())):
        if t >= start:
            for key, value in answer(recovery, x).items():
                if key not in x and pick(key):
                    error += (value - truth[key]) ** 2
                    cost += truth[key] ** 2
        recovery.learn_one(x)
    assert cost > 0, "nothing was recovered"
    return error / cost


def train(recovery, samples):
    for x in samples:
        recovery.learn_one(x)
    return recovery


# A space that was replaced.


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("unpredictable", [True, False])
@pytest.mark.parametrize(("n_spaces", "width"), [(2, 4), (2, 15), (3, 6), (6, 6)])
def test_recovery_is_exact_where_the_new_space_determines_the_old_one(n_spaces, width, unpredictable, seed):
    cycle = datasets.Cycle(n_spaces, overlap=2 * width + 4, period=60, unpredictable=unpredictable)
    stream = datasets.HiddenFactors(cycle, width=width, n_samples=60 * n_spaces, seed=seed)
    recovery = paper_recovery()
    for t, ((x, _), truth) in enumerate(zip(stream, stream.truth())):
        if t > stream.changes[-1]:
            # All spaces that have gone, through all maps in between.
            recovered = recovery.recover_one(x)
            assert recovered.keys() == {key for key in truth if key not in x}
            for key, value in recovered.items():
                assert value == pytest.approx(truth[key], abs=1e-9)
        recovery.learn_one(x)


@pytest.mark.parametrize("noise", [0.0, 0.3])
@pytest.mark.parametrize("seed", SEEDS)
def test_longer_overlaps_recover_more(seed, noise):
    errors = [error(replaced(seed, overlap, noise=noise), 205) for overlap in (10, 40, 150)]
    # Where there is no noise nearly everything is known after a few rows already.
    assert all(later < earlier + 0.05 for earlier, later in itertools.pairwise(errors))
    assert errors[0] < 0.4
    # Noise of 0.3 in what is recovered is 9 %, and there is noise in what it is recovered from as well.
    assert errors[-1] < (0.05 if noise == 0 else 0.25)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("survivors", [0.2, 0.6])
def test_what_vanished_beside_survivors_is_recovered(survivors, seed):
    cycle = datasets.Cycle(overlap=40, period=250, survivors=survivors)
    stream, recovery = datasets.HiddenFactors(cycle, width=10, n_samples=900, seed=seed), FeatureRecovery()
    assert error(stream, 300, recovery) < 0.05
    assert len(recovery.vanished) == round(10 * (1 - survivors))
    assert len(recovery.spaces[-1].keys) == 10 + round(10 * survivors)


@pytest.mark.parametrize(("n_spaces", "limit"), [(3, 0.2), (5, 0.35)])
def test_maps_compose_over_many_changes(n_spaces, limit):
    for seed in SEEDS:
        stream = replaced(seed, overlap=40, n_spaces=n_spaces)
        assert error(stream, 200 * n_spaces - 150, pick=lambda key: key.startswith("s0_")) < limit


def test_what_is_recovered_from_follows_the_world():
    # The level rises by three deviations once the old sensor has gone; what it would have read rises as well.
    for seed in SEEDS:
        rng, recovery, errors = random.Random(seed), FeatureRecovery(), []
        for t in range(2000):
            heat = rng.gauss(20, 5) + 15 * (t >= 500)
            x = {"old": heat, "older": heat + 3, "new": 1.8 * heat + 32, "newer": -heat}
            x = {k: v for k, v in x.items() if (t < 250 if k.startswith("old") else t >= 200)}
            if t >= 700:
                errors.append(abs(recovery.recover_one(x)["old"] - heat))
            recovery.learn_one(x)
        assert np.mean(errors) < 1.0
        assert np.mean(errors[-100:]) < 1.0


def test_maps_compose_also_where_the_level_moved_in_between():
    for seed in SEEDS:
        rng, recovery, errors = random.Random(seed), FeatureRecovery(), []
        for t in range(1000):
            heat = rng.gauss(20, 5) + 20 * (t >= 450)
            x = {"a": heat, "a2": heat + 3, "b": 1.8 * heat + 32, "b2": -heat, "c": heat / 3, "c2": 7 - heat}
            lives = {"a": (0, 250), "b": (200, 650), "c": (600, 1000)}
            x = {key: value for key, value in x.items() if lives[key[0]][0] <= t < lives[key[0]][1]}
            if t >= 660:
                errors.append(abs(recovery.recover_one(x)["a"] - heat))
            recovery.learn_one(x)
        assert np.mean(errors) < 1.5


@pytest.mark.parametrize("seed", SEEDS)
def test_missing_values_in_the_overlap_are_completed_for_the_map(seed):
    for missing, limit in ((0.1, 0.1), (0.3, 0.3)):
        stream = datasets.CapriciousStream(replaced(seed, overlap=40, width=10), missing, seed=seed)
        assert error(stream, 210, pick=lambda key: key.startswith("s0")) < limit


@pytest.mark.parametrize("seed", SEEDS)
def test_units_of_the_features_do_not_matter(seed):
    stream = list(replaced(seed))
    scales = {f"s{s}_{j}": 2.0 ** (11 * j - 40) for s in (0, 1) for j in range(8)}
    plain, scaled = FeatureRecovery(), FeatureRecovery()
    for x, _ in stream:
        plain.learn_one(x)
        scaled.learn_one({k: v * scales[k] for k, v in x.items()})
    ours = plain.recover_one(x)
    theirs = scaled.recover_one({k: v * scales[k] for k, v in x.items()})
    assert ours.keys() == theirs.keys() == {f"s0_{j}" for j in range(8)}
    for key, value in ours.items():
        assert theirs[key] / scales[key] == pytest.approx(value, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("absent", ["missing", "zero"])
def test_a_vanished_key_is_not_taken_for_zero(absent):
    # Where absence means zero, a key that has vanished would have read something all the same.
    for seed in SEEDS:
        stream = replaced(seed, overlap=50)
        recovery = FeatureRecovery(FeatureSpaces(absent=absent))
        errors, costs = [], []
        for t, ((x, _), truth) in enumerate(zip(stream, stream.truth())):
            x = {key: value + 5 for key, value in x.items()}
            if t > 210:
                for key, value in recovery.recover_one(x).items():
                    errors.append((value - truth[key] - 5) ** 2)
                    costs.append(truth[key] ** 2)
            recovery.learn_one(x)
        assert np.mean(errors) < np.mean(costs)


# Keys that are missing, or lost, while others of their space stay.


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("width", [6, 20])
def test_a_lost_sensor_is_completed_from_the_others(width, seed):
    stream = datasets.SensorOutage(lasting(seed, width, n=400), start=200, seed=seed)
    recovery = FeatureRecovery()
    assert error(stream, 205, recovery) < 0.05
    assert [space.state for space in recovery.spaces] == ["current"]
    assert len(recovery.vanished) == 1


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("missing", [0.1, 0.3, 0.5])
def test_missing_values_are_completed_from_the_others(missing, seed):
    stream = datasets.CapriciousStream(lasting(seed, 10, n=500), missing, seed=seed)
    assert error(stream, 100, answer=FeatureRecovery.transform_one) < 0.35


@pytest.mark.parametrize("absent", ["missing", "zero"])
def test_what_absence_means(absent):
    recovery = FeatureRecovery(FeatureSpaces(absent=absent))
    rng = random.Random(1)
    for _ in range(200):
        a = rng.gauss(5, 1)
        recovery.learn_one({"a": a, "b": 2 * a} if rng.random() < 0.7 else {"a": a})
    completed = recovery.transform_one({"a": 6.0})
    assert completed["a"] == 6.0
    if absent == "zero":
        assert completed["b"] == 0.0
    else:
        assert completed["b"] == pytest.approx(12, abs=0.3)


# What a user sees.


def test_a_sample_is_returned_with_all_it_had():
    recovery = train(FeatureRecovery(), [{"a": t % 7, "b": t % 5, "c": t % 3} for t in range(100)])
    x = {"a": 1e6, "c": None, "unknown": 3}
    transformed = recovery.transform_one(x)
    assert transformed["a"] == 1e6
    assert transformed["unknown"] == 3
    assert transformed.keys() == {"a", "b", "c", "unknown"}
    assert all(math.isfinite(value) for value in transformed.values())
    assert x == {"a": 1e6, "c": None, "unknown": 3}


@pytest.mark.parametrize("nothing", [None, math.nan])
def test_nothing_is_handed_on_as_nothing(nothing):
    recovery = train(FeatureRecovery(), [{"a": 1.0, "b": t % 5} for t in range(100)])
    assert "unknown" not in recovery.transform_one({"a": 1.0, "unknown": nothing})


def test_what_is_recovered_is_a_float_also_where_a_vanished_key_is_there():
    recovery = FeatureRecovery(FeatureSpaces(significance=1.0))
    recovery.learn_one({"a": 1.0})
    recovery.learn_one({"b": 2.0})
    assert recovery.vanished == ("a",)
    for value, expected in ((10**400, LARGEST), (True, 1.0), (3, 3.0)):
        assert repr(recovery.recover_one({"a": value})) == repr({"a": expected})


def test_what_is_not_known_is_left_out():
    assert FeatureRecovery().transform_one({"a": 1.0}) == {"a": 1.0}
    # Without an overlap there is nothing to learn a map from.
    samples = [{"old": t % 5, "older": t % 3} for t in range(100)] + [{"new": t % 7, "newer": t} for t in range(100)]
    recovery = train(FeatureRecovery(), samples)
    assert set(recovery.vanished) == {"old", "older"}
    assert recovery.recover_one({"new": 1.0, "newer": 2.0}) == {}
    assert recovery.transform_one({"new": 1.0, "newer": 2.0}) == {"new": 1.0, "newer": 2.0}


def test_a_change_without_overlap_cuts_the_chain_of_maps():
    def reads(prefix, t):
        return {f"{prefix}{i}": math.sin(t * (i + 1)) for i in range(3)}

    recovery = FeatureRecovery()
    for t in range(400):
        x = reads("c", t) if t >= 300 else reads("b", t) if t >= 100 else {}
        x |= reads("a", t) if t < 140 else {}
        recovery.learn_one(x)
        known = recovery.recover_one(x).keys()
        if 150 < t < 300:
            assert known == {"a0", "a1", "a2"}
    assert known == set()
    assert set(recovery.vanished) == {f"{p}{i}" for p in "ab" for i in range(3)}


@pytest.mark.parametrize("most", [0, 1, 2])
def test_what_is_forgotten_is_not_recovered(most):
    recovery = FeatureRecovery(FeatureSpaces(max_spaces=most))
    stream = replaced(1, overlap=40, n_spaces=4)
    for x, _ in stream:
        recovery.learn_one(x)
    assert len(recovery.recover_one(x)) == 8 * most
    assert len(recovery.spaces) == most + 1
    assert recovery.recover_one(x).keys() == set(recovery.vanished)


def test_keys_that_come_back_read_what_they_read():
    cycle = datasets.Cycle(n_spaces=2, overlap=30, period=150, n_changes=3)
    stream = datasets.HiddenFactors(cycle, n_samples=600, seed=1)
    recovery = FeatureRecovery()
    for x, _ in stream:
        recovery.learn_one(x)
        transformed = recovery.transform_one(x)
        assert {key: transformed[key] for key in x} == x
        assert not recovery.recover_one(x).keys() & x.keys()


@pytest.mark.parametrize("seed", SEEDS)
def test_a_model_that_was_trained_on_dead_sensors_goes_on_working(seed):
    stream = list(replaced(seed, overlap=40, regression=True))

    def model():
        return linear_model.LinearRegression(optim.SGD(0.05))

    alone, rescued = (
        preprocessing.StandardScaler() | model(),
        FeatureRecovery() | preprocessing.StandardScaler() | model(),
    )
    losses = {alone: [], rescued: []}
    for t, (x, y) in enumerate(stream):
        for pipeline, loss in losses.items():
            if t > 205:
                loss.append((pipeline.predict_one(x) - y) ** 2)
            if t < 150:  # It never learns from a sample with new sensors.
                pipeline.learn_one(x, y)
            elif pipeline is rescued:
                pipeline["FeatureRecovery"].learn_one(x)
    assert np.mean(losses[rescued]) < 0.25 * np.mean(losses[alone])


def test_labels_make_no_difference():
    recoveries = []
    for label in (True, False):
        pipeline = FeatureRecovery() | linear_model.LogisticRegression()
        for x, _ in replaced(1):
            pipeline.predict_one(x)
            pipeline.learn_one(x, label)
        recoveries.append(pipeline["FeatureRecovery"])
    assert pickle.dumps(recoveries[0]) == pickle.dumps(recoveries[1])


# Books.


def test_memory_is_flat_over_many_changes():
    cycle = datasets.Cycle(n_spaces=60, overlap=12, period=40)
    stream = datasets.HiddenFactors(cycle, width=6, n_samples=60 * 40, seed=1)
    recovery, sizes = FeatureRecovery(FeatureSpaces(max_spaces=3)), []
    for t, (x, _) in enumerate(stream):
        recovery.learn_one(x)
        if t % 40 == 20:
            sizes.append(len(pickle.dumps(recovery)) - len(pickle.dumps(recovery.events)))
    assert max(sizes[-20:]) <= 1.02 * max(sizes[5:25])


PARAMS = st.fixed_dictionaries(
    {
        "significance": st.sampled_from([1e-4, 0.3, 1.0]),
        "grace": st.sampled_from([0, 5]),
        "patience": st.sampled_from([1, 5, math.inf]),
        "max_spaces": st.sampled_from([0, 2]),
        "absent": st.sampled_from(["missing", "zero"]),
    }
)
PHASES = st.lists(
    st.tuples(st.sets(st.integers(0, 6)), st.integers(1, 10), st.sampled_from([0.0, 0.3, 0.7])), min_size=1, max_size=8
)


@settings(deadline=None, max_examples=60)
@given(PARAMS, PHASES, st.booleans())
def test_it_answers_whatever_comes(params, phases, paper):
    spaces = FeatureSpaces(**params)
    recovery = FeatureRecovery(spaces)
    if paper:
        like = paper_recovery()
        recovery = FeatureRecovery(spaces, like.scaler, like.row_model)
    rng = random.Random(0)
    for keys, length, missing in phases:
        for _ in range(length):
            x = {f"k{k}": rng.gauss(0, 1) for k in keys if rng.random() >= missing}
            frozen = pickle.dumps(recovery)
            before, recovered = recovery.transform_one(x), recovery.recover_one(x)
            assert pickle.dumps(recovery) == frozen
            assert {key: before[key] for key in x} == x
            assert all(map(math.isfinite, itertools.chain(before.values(), recovered.values())))
            assert recovered.keys() <= set(recovery.vanished)
            recovery.learn_one(x)


@pytest.mark.parametrize(("decades", "expected"), [(30, 1e110), (60, 0.0)])
def test_what_is_recovered_over_several_changes_is_finite(decades, expected):
    """The factors of maps multiply over several changes; of features next to nothing no map is learned."""
    recovery = paper_recovery()
    for t in range(90):
        a, space = math.sin(t), t // 30
        x = {f"{space} a": a * 10.0 ** (-decades * space)}
        if t % 30 > 20:
            x[f"{space + 1} a"] = a * 10.0 ** (-decades * (space + 1))
        recovery.learn_one(x)
    recovered = recovery.recover_one({"2 a": 1e50})
    assert recovered.keys() == {"0 a", "1 a"}
    assert recovered["0 a"] == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("survivors", [0.3, 0.6])
def test_what_vanished_without_an_overlap_is_recovered_from_the_survivors(survivors, seed):
    """No round shows old and new features together: what was known of the survivors before the change must do."""
    cycle = datasets.Cycle(overlap=0, period=250, survivors=survivors)
    stream = datasets.HiddenFactors(cycle, width=12, n_samples=500, seed=seed)
    assert error(stream, start=250 + 20) < 0.1


# How far a value can be trusted.


def coverage(cells):
    """Share of the true values within the stated 90 % intervals, of pairs of an expectation and a truth."""
    return np.mean([abs(truth - value) <= 1.645 * deviation for (value, deviation), truth in cells])


@pytest.mark.parametrize("missing", [0.0, 0.4])
@pytest.mark.parametrize("max_size", [256, 0])
def test_nine_of_ten_values_are_within_the_stated_ninety_percent(missing, max_size):
    """What is there, and what is absent."""
    inside = {True: [], False: []}
    for seed in SEEDS:
        rng = np.random.default_rng(seed)
        mixing = rng.normal(size=(3, 8))
        recovery = FeatureRecovery(row_model=GaussianRows(max_size=max_size))
        for t in range(900):
            row = rng.normal(size=3) @ mixing + 0.5 * rng.normal(size=8)
            x = {f"k{i}": value for i, value in enumerate(row.tolist()) if rng.random() >= missing}
            if t >= 600 and x:
                expected = recovery.expected_one(x)
                for i, value in enumerate(row.tolist()):
                    inside[f"k{i}" in x].append((expected[f"k{i}"], value))
            recovery.learn_one(x)
    for cells in inside.values():
        assert not cells or 0.87 <= coverage(cells) <= 0.93


@pytest.mark.parametrize("overlap", [20, 60])
def test_what_is_recovered_is_within_the_stated_interval_as_well(overlap):
    cells = []
    for seed in range(6):
        stream = datasets.HiddenFactors(datasets.Cycle(overlap=overlap), noise=0.3, n_samples=600, seed=seed)
        recovery = FeatureRecovery()
        for t, ((x, _), truth) in enumerate(zip(stream, stream.truth())):
            if t >= 400:
                expected = recovery.expected_one(x)
                cells += [(expected[key], truth[key]) for key in recovery.vanished]
            recovery.learn_one(x)
    assert 0.85 <= coverage(cells) <= 0.95


def test_a_sensor_that_lies_stands_out():
    rng = np.random.default_rng(0)
    recovery = FeatureRecovery()
    for _ in range(400):
        heat = rng.normal(20, 5)
        recovery.learn_one({f"k{i}": heat + rng.normal() for i in range(5)})
    x = {"k0": 25.0, "k1": 24.0, "k2": 12.0, "k3": 26.0, "k4": 25.5}
    before = pickle.dumps(recovery)
    apart = {key: (x[key] - value) / deviation for key, (value, deviation) in recovery.expected_one(x).items()}
    assert pickle.dumps(recovery) == before
    assert max(apart, key=lambda key: abs(apart[key])) == "k2"
    assert apart["k2"] < -5


def test_nothing_is_known_of_deviations_by_least_squares():
    recovery = FeatureRecovery(row_model=LeastSquaresRows())
    for t in range(50):
        recovery.learn_one({"a": t % 7, "b": 2.0 * (t % 7)})
    value, deviation = recovery.expected_one({"a": 3.0, "b": 0.0})["b"]
    assert value == pytest.approx(6.0, abs=0.2)
    assert math.isnan(deviation)


def test_least_squares_find_an_offset_by_default():
    rng = np.random.default_rng(0)
    recovery = FeatureRecovery(scaler=NoScaler(), row_model=LeastSquaresRows())
    for t, z in enumerate(rng.normal(size=300).tolist()):
        recovery.learn_one({**({"a": 2 * z + 100} if t < 250 else {}), **({"b": z} if t >= 200 else {})})
    assert recovery.recover_one({"b": 1.5})["a"] == pytest.approx(103, abs=1)


@pytest.mark.parametrize("width", [1, 2])
def test_a_reading_tells_whether_the_previous_space_is_seen(width):
    recovery = FeatureRecovery()
    previous = {f"a{i}": float(i) for i in range(width)}
    train(recovery, [previous] * 40)
    assert not recovery.read(previous).sees_previous
    train(recovery, [{**previous, "b": 1.0, "c": 2.0}])
    assert recovery.overlapping
    assert recovery.read({**previous, "b": 1.0}).sees_previous
    assert recovery.read({"a0": 1.0}).sees_previous
    assert not recovery.read({"b": 1.0, "c": 2.0}).sees_previous


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_what_is_given_by_the_others_is_what_would_be_completed(missing):
    """All entries at once, and one after another as for any model of rows."""
    recovery = FeatureRecovery()
    rng = random.Random(1)
    samples = [{key: value for key, value in x.items() if rng.random() >= missing} for x, _ in lasting(1, n=120)]
    train(recovery, samples)
    row = recovery._scaler.standardize(recovery.read(samples[-1]).row)
    at_once = recovery._row_model.given_others(row)
    for found, expected in zip(at_once, RowModel.given_others(recovery._row_model, row), strict=True):
        assert not np.isnan(found).any()
        np.testing.assert_allclose(found, expected, rtol=1e-9)


def test_many_samples_are_read_at_once_where_each_has_one_view():
    recovery, rng = FeatureRecovery(), np.random.default_rng(0)
    rows = rng.normal(size=(60, 2))
    for a, b in rows.tolist():
        recovery.learn_one({"a": a, "b": b})
    views, which = recovery.read_many(["b", "a"], rows[:, ::-1])
    readings = [recovery.read({"a": a, "b": b}) for a, b in rows.tolist()]
    assert {len(reading.views) for reading in readings} == {1}
    assert which.all()
    np.testing.assert_array_equal(views, [reading.views[0] for reading in readings])
    gaps = np.where(np.arange(60)[:, None] == 7, np.nan, rows)
    views, which = recovery.read_many(["a", "b"], gaps)
    assert np.flatnonzero(~which).tolist() == [7]
    np.testing.assert_array_equal(views, [reading.views[0] for t, reading in enumerate(readings) if t != 7])
    assert recovery.read_many(["a"], rows[:, :1]) is None
    recovery.learn_one({"a": 1.0, "b": 2.0, "c": 3.0})
    assert recovery.overlapping
    assert recovery.read_many(["a", "b", "c"], rng.normal(size=(5, 3))) is None


def test_values_unlike_any_before_are_read_alone():
    recovery, rng = FeatureRecovery(), np.random.default_rng(0)
    rows = rng.normal(size=(500, 2)) @ np.array([[1.0, 1.0], [0.1, -0.1]])
    for a, b in rows.tolist():
        recovery.learn_one({"a": a, "b": b})
    rows = rows[:20]
    rows[3, 0] += 50.0
    rows[8] = np.nan
    views, which = recovery.read_many(["a", "b"], rows)
    assert np.flatnonzero(~which).tolist() == [3, 8]
    assert views.shape == (18, 3)
    assert math.isnan(recovery.read({"a": rows[3, 0], "b": rows[3, 1]}).row[0])


def test_it_says_when_rows_have_new_units():
    """What has learned from rows can go on, because the new values follow from the former ones."""
    recovery, rng, n_renewed = FeatureRecovery(), np.random.default_rng(0), 0
    for t in range(200):
        x = dict(zip("ab", rng.normal(3.0, 1.0 + t / 50, size=2).tolist()))
        _, reading = recovery.advance(x)
        before = reading.views[0, 1:]
        if (units := recovery.update(reading)) is not None:
            n_renewed += 1
            if t > 10:
                np.testing.assert_allclose(recovery.read(x).views[0, 1:], units.factor * before + units.shift)
        else:
            np.testing.assert_array_equal(recovery.read(x).views[0, 1:], before)
    assert 10 < n_renewed < 60


def test_rows_that_wait_are_learned_once_the_row_is_no_longer_wide():
    scaler, rows = NoScaler(), np.random.default_rng(0).normal(size=(60, 3))
    known = []
    for row_model in (GaussianRows(max_size=2), GaussianRows()):
        row_model.extend(3, False, scaler)
        for t, row in enumerate(rows):
            if t == 17:
                row_model.keep(np.array([True, True, False]))
            row = row if t < 17 else row[:2]
            row_model.update_many(Readings(row[None], row[None], None, [], scaler, ()))
        known.append(row_model.complete(np.array([1.0, math.nan]), np.array([False, True]))[0])
    np.testing.assert_allclose(*known, atol=0.02)
