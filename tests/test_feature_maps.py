"""Laws of the feature maps: what they compute, and that it stays what it was through all changes of the slots."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from river_pufe.experts.feature_maps import Identity, Neighbours, RandomFourier
from river_pufe.recovery.linear_map import Affine
from river_pufe.recovery.scaling import NewUnits

seeds = st.integers(0, 2**32 - 1)
dimensions = st.integers(1, 5)
MAPS = [Identity(), RandomFourier(n_features=7, n_rows=4), Neighbours(window=5)]
every_map = pytest.mark.parametrize("prototype", MAPS, ids=lambda each: type(each).__name__)


def begin(prototype, rows, outcomes=None, overlap=False):
    """A map that has seen some rows."""
    feature_map = prototype.clone()
    feature_map.make_room(1)
    feature_map.open(rows.shape[1], 0, np.zeros(feature_map.n), overlap)
    for row, outcome in zip(rows, rows[:, :1] if outcomes is None else outcomes):
        feature_map.learn(row, outcome, 1.0)
    return feature_map


def close(actual, expected):
    np.testing.assert_allclose(actual, expected, rtol=1e-9, atol=1e-9)


# Every map.


@every_map
@settings(deadline=None, max_examples=30)
@given(seeds, dimensions, st.integers(0, 12))
def test_features_have_the_shape_they_say(prototype, seed, d, n):
    rows = np.random.default_rng(seed).normal(size=(n, d))
    feature_map = begin(prototype, rows)
    assert feature_map(np.ones((3, d))).shape == (3, feature_map.n)
    assert np.isfinite(feature_map(np.ones((3, d)))).all()


@every_map
@settings(deadline=None, max_examples=30)
@given(seeds, dimensions, st.integers(0, 12))
def test_the_order_of_the_slots_changes_nothing(prototype, seed, d, n):
    rng = np.random.default_rng(seed)
    rows, order, asked = rng.normal(size=(n, d)), rng.permutation(d), rng.normal(size=(3, d))
    one, other = (
        begin(prototype, rows, rows.sum(1, keepdims=True)),
        begin(prototype, rows[:, order], rows.sum(1, keepdims=True)),
    )
    features = other(asked[:, order])
    close(features, one(asked)[:, order] if isinstance(prototype, Identity) else one(asked))


@every_map
@settings(deadline=None, max_examples=30)
@given(seeds, dimensions, st.integers(0, 12))
def test_features_are_followed_through_new_units(prototype, seed, d, n):
    """Unless they are told to have new units themselves, features are what they were; but nearness has units."""
    rng = np.random.default_rng(seed)
    rows, asked = rng.normal(size=(n, d)), rng.normal(size=(3, d))
    scale = rng.uniform(0.5, 2) if isinstance(prototype, Neighbours) else rng.uniform(0.5, 2, size=d)
    units = NewUnits(np.full(d, scale) if np.isscalar(scale) else scale, rng.normal(size=d), np.full(d, 100.0))
    feature_map = begin(prototype, rows)
    before = feature_map(asked)
    told = feature_map.rescale(units)
    factor, shift = (1.0, 0.0) if told is None else (told.factor, told.shift)
    close(feature_map(units.factor * asked + units.shift), factor * before + shift)


@every_map
@settings(deadline=None, max_examples=30)
@given(seeds, dimensions, st.integers(0, 12))
def test_looking_changes_nothing_and_rows_stay_as_they_are(prototype, seed, d, n):
    rng = np.random.default_rng(seed)
    feature_map, asked = begin(prototype, rng.normal(size=(n, d))), rng.normal(size=(2, d))
    copy = asked.copy()
    first = feature_map(asked)
    assert np.array_equal(feature_map(asked), first)
    assert np.array_equal(asked, copy)


@every_map
def test_every_feature_of_later_is_new_or_one_of_before(prototype):
    feature_map = begin(prototype, np.random.default_rng(0).normal(size=(12, 4)))
    for n_known, n_slots, overlap in ((4, 2, True), (6, 1, False)):
        before = feature_map.n
        origins = feature_map.open(n_slots, n_known, np.arange(float(before)), overlap)
        assert len(origins) == feature_map.n
        assert set(origins[origins >= 0]) <= set(range(before))
    before = feature_map.n
    kept = feature_map.keep(np.array([True, False, True, True, False, True, True]), None)
    assert len(kept) == feature_map.n
    assert set(kept) <= set(range(before))


# The row itself.


def test_weights_on_what_is_dropped_move_through_the_map():
    rng = np.random.default_rng(0)
    identity, rows = begin(Identity(), np.zeros((0, 5))), rng.normal(size=(6, 2))
    recover = Affine(rng.normal(size=(3, 2)), np.eye(2), rng.normal(size=3), np.zeros(3))
    whole = np.array([[*(recover(row)), *row] for row in rows])
    weights = rng.normal(size=(5, 4))
    kept = identity.keep(np.array([False, False, False, True, True]), recover)
    moved, constant = identity.pull_back(weights[:3], recover)
    close(identity(rows) @ (weights[kept] + moved) + constant, whole @ weights)


# Random Fourier features.


def test_products_of_features_are_gaussian_kernels():
    """Rahimi and Recht: the mean of φ(x)·φ(y) over many features is exp(−|Σ^½ (x − y)|² / 2)."""
    rng = np.random.default_rng(0)
    rows, asked = rng.normal(size=(8, 3)), rng.normal(size=(20, 3))
    fourier = begin(RandomFourier(n_features=100_000, bandwidth=1.0, n_rows=8, seed=3), rows)
    features = fourier(asked)
    apart = asked[:, None] - asked[None]
    # A frequency is Σ_t ε_t x_t, with a deviation of 1 along it on average over the frequencies.
    directions = rng.normal(size=(100_000, 8)) @ rows
    covariance = rows.T @ rows / (rows @ directions.T).std(0).mean() ** 2
    expected = np.exp(-0.5 * np.einsum("abi,ij,abj->ab", apart, covariance, apart))
    np.testing.assert_allclose(features @ features.T / 100_000, expected, atol=0.03)


def test_rows_differ_by_the_bandwidth_along_the_frequencies():
    """Small shifts along a row move all features by as much as its frequency says."""
    rows = np.random.default_rng(0).normal(size=(50, 4)) * [1.0, 10.0, 0.1, 3.0]
    for bandwidth in (0.2, 5.0):
        fourier = begin(RandomFourier(n_features=500, bandwidth=bandwidth, n_rows=50), rows)
        step = 1e-6
        slopes = np.array(
            [(fourier(np.eye(4)[[i]] * step) - fourier(-np.eye(4)[[i]] * step))[0] / (2 * step) for i in range(4)]
        )
        # cos′ = −√2 sin(b) w: the mean of 2 sin² is 1.
        along = np.sqrt(np.mean((rows - rows.mean(0)) @ slopes) ** 2 + np.mean(np.var(rows @ slopes, axis=0)))
        assert along * bandwidth == pytest.approx(1.0, rel=0.2)


@settings(deadline=None, max_examples=30)
@given(seeds, dimensions, dimensions)
def test_random_features_survive_a_change_exactly(seed, gone, left):
    rng = np.random.default_rng(seed)
    fourier = begin(RandomFourier(n_features=9, n_rows=3), rng.normal(size=(3, gone + left)))
    recover = Affine(rng.normal(size=(gone, left)), np.eye(left), rng.normal(size=gone), np.zeros(gone))
    rows = rng.normal(size=(4, left))
    before = fourier(np.array([[*recover(row), *row] for row in rows]))
    assert fourier.keep(np.arange(gone + left) >= gone, recover).tolist() == list(range(9))
    close(fourier(rows), before)


@pytest.mark.parametrize("known", [1, 3])
def test_units_may_change_while_features_wait(known):
    """Rows that have come are in the new units as well."""
    rows, units = np.random.default_rng(0).normal(size=(4, 2)), NewUnits(np.array([2.0, 0.5]), np.ones(2), np.ones(2))
    moved, told = begin(RandomFourier(n_features=6, n_rows=4), rows[:known]), units.factor * rows + units.shift
    moved.rescale(units)
    for row in told[known:]:
        moved.learn(row, np.zeros(1), 1.0)
    close(moved(told), begin(RandomFourier(n_features=6, n_rows=4), told)(told))


def test_features_wait_for_their_rows():
    fourier = begin(RandomFourier(n_features=6, n_rows=3), np.eye(4)[:2])
    assert not fourier(np.ones((1, 4))).any()
    fourier.learn(np.ones(4), np.zeros(1), 1.0)
    assert fourier(np.ones((1, 4))).all()


@pytest.mark.parametrize("value", [0.0, 1.0, 1 / 3])
def test_features_wait_until_rows_differ(value):
    fourier = begin(RandomFourier(n_features=6, n_rows=3), np.full((20, 2), value))
    assert not fourier(np.ones((1, 2))).any()
    for row in np.random.default_rng(0).normal(size=(3, 2)):
        fourier.learn(row, np.zeros(1), 1.0)
    assert fourier(np.ones((1, 2))).any()


def test_the_weaker_half_is_drawn_anew_for_another_space():
    rng = np.random.default_rng(0)
    fourier, asked = begin(RandomFourier(n_features=6, n_rows=3), rng.normal(size=(3, 2))), rng.normal(size=(5, 2))
    before = fourier(asked)
    origins = fourier.open(2, 2, np.array([5.0, 1.0, 3.0, 0.0, 4.0, 2.0]), overlap=True)
    assert origins.tolist() == [0, -1, 2, -1, 4, -1]
    wide = np.hstack([asked, rng.normal(size=(5, 2))])
    close(fourier(wide), np.where(origins >= 0, before, 0.0))
    for row in rng.normal(size=(3, 4)):
        fourier.learn(row, np.zeros(1), 1.0)
    close(fourier(wide)[:, origins >= 0], before[:, origins >= 0])
    assert fourier(wide).all()
    # They read the new slots.
    assert (np.abs(fourier(wide) - fourier(wide + np.array([0, 0, 1, 1])))[:, origins < 0] > 1e-6).all()


def test_new_slots_of_the_same_space_change_no_feature():
    rng = np.random.default_rng(0)
    fourier, asked = begin(RandomFourier(n_features=6, n_rows=3), rng.normal(size=(3, 2))), rng.normal(size=(5, 2))
    before = fourier(asked)
    assert fourier.open(3, 2, np.zeros(6), overlap=False).tolist() == list(range(6))
    close(fourier(np.hstack([asked, rng.normal(size=(5, 3))])), before)


def test_draws_follow_the_seed():
    rows = np.random.default_rng(0).normal(size=(4, 2))
    one, same, other = (begin(RandomFourier(n_rows=4, seed=seed), rows)(rows) for seed in (1, 1, 2))
    assert np.array_equal(one, same)
    assert not np.allclose(one, other)


# Neighbours.


def mean_of_neighbours(rows, outcomes, weights, asked):
    squares = [sum((a - b) ** 2 for a, b in zip(row, asked)) for row in rows]
    shares = [w / s**2 for w, s in zip(weights, squares)]
    return sum(share * outcome for share, outcome in zip(shares, outcomes)) / sum(shares)


@settings(deadline=None, max_examples=40)
@given(seeds, dimensions, st.integers(1, 20), st.integers(1, 8), st.integers(1, 3))
def test_near_rows_of_the_window_count_most(seed, d, n, window, n_outcomes):
    rng = np.random.default_rng(seed)
    rows, outcomes, weights = rng.normal(size=(n, d)), rng.normal(size=(n, n_outcomes)), rng.uniform(0.5, 2, size=n)
    neighbours = Neighbours(window)
    neighbours.make_room(n_outcomes)
    neighbours.open(d, 0, np.zeros(n_outcomes), overlap=False)
    for row, outcome, w in zip(rows, outcomes, weights):
        neighbours.learn(row, outcome, w)
    asked = rng.normal(size=(3, d))
    latest = slice(max(n - window, 0), n)
    expected = [mean_of_neighbours(rows[latest], outcomes[latest], weights[latest], row) for row in asked]
    np.testing.assert_allclose(neighbours(asked), expected, rtol=1e-5, atol=1e-7)


def test_a_row_that_came_before_is_told_what_came_of_it():
    rng = np.random.default_rng(0)
    rows, outcomes = rng.normal(size=(50, 3)), rng.normal(size=(50, 1))
    np.testing.assert_allclose(begin(Neighbours(), rows, outcomes)(rows), outcomes, atol=1e-6)


def test_rows_that_are_all_the_same_count_alike():
    neighbours = begin(Neighbours(), np.full((4, 2), 0.1), np.array([[0.0], [1.0], [1.0], [1.0]]))
    assert neighbours(np.full((1, 2), 0.1)).tolist() == [[0.75]]


def test_a_sample_without_weight_is_no_neighbour():
    neighbours = begin(Neighbours(), np.zeros((1, 2)), np.ones((1, 1)))
    neighbours.learn(np.ones(2), np.zeros(1), 0.0)
    assert neighbours(np.ones((1, 2))).tolist() == [[1.0]]


@pytest.mark.parametrize("n", [3, 5, 8])
def test_rows_of_an_earlier_space_are_forgotten_when_it_is_gone(n):
    rng = np.random.default_rng(0)
    neighbours = begin(Neighbours(window=5), rng.normal(size=(n, 2)), np.full((n, 1), 7.0))
    neighbours.open(1, 2, np.zeros(1), overlap=True)
    for row in rng.normal(size=(2, 3)):
        neighbours.learn(row, np.ones(1), 1.0)
    assert neighbours(np.zeros((1, 3)))[0, 0] > 1.0
    neighbours.keep(np.array([False, False, True]), None)
    assert neighbours(np.zeros((1, 1))).tolist() == [[1.0]]


def test_rows_stay_where_single_slots_are_dropped():
    rows, outcomes = np.random.default_rng(0).normal(size=(4, 3)), np.arange(4.0)[:, None]
    neighbours = begin(Neighbours(), rows, outcomes)
    neighbours.keep(np.array([True, False, True]), None)
    np.testing.assert_allclose(neighbours(rows[:, [0, 2]]), outcomes, atol=1e-6)


@pytest.mark.parametrize("n", [4, 5, 7, 11])
@pytest.mark.parametrize("later", [0, 1, 3])
def test_after_a_change_the_oldest_rows_are_still_the_next_to_go(n, later):
    rows, outcomes = np.random.default_rng(0).normal(size=(n + later, 3)), np.arange(float(n + later))[:, None]
    neighbours = begin(Neighbours(window=5), rows[:n], outcomes[:n])
    neighbours.keep(np.array([True, False, True]), None)
    rows = rows[:, [0, 2]]
    for row, outcome in zip(rows[n:], outcomes[n:]):
        neighbours.learn(row, outcome, 1.0)
    latest, asked = slice(max(n + later - 5, 0), None), np.ones((1, 2))
    expected = mean_of_neighbours(rows[latest], outcomes[latest], np.ones(5), asked[0])
    np.testing.assert_allclose(neighbours(asked)[0], expected, rtol=1e-5)


def test_outcomes_have_the_unit_of_scores():
    rows = np.random.default_rng(0).normal(size=(4, 3))
    neighbours = begin(Neighbours(), rows)
    before = neighbours(rows + 0.1)
    neighbours.rescale_scores(2.0, -1.0)
    close(neighbours(rows + 0.1), 2.0 * before - 1.0)


def test_memory_has_a_bound():
    neighbours = begin(Neighbours(window=7), np.random.default_rng(0).normal(size=(100, 3)))
    assert max(len(value) for value in vars(neighbours).values() if isinstance(value, np.ndarray)) == 7


@pytest.mark.parametrize(
    ("kind", "parameters"),
    [
        (RandomFourier, {"n_features": 0}),
        (RandomFourier, {"bandwidth": 0.0}),
        (RandomFourier, {"bandwidth": math.nan}),
        (RandomFourier, {"n_rows": 0}),
        (RandomFourier, {"trust": -1.0}),
        (Neighbours, {"window": 0}),
        (Neighbours, {"trust": math.nan}),
        (Identity, {"trust": -1.0}),
    ],
)
def test_parameters_are_checked(kind, parameters):
    with pytest.raises(ValueError, match=next(iter(parameters))):
        kind(**parameters)


def test_rows_of_far_smaller_units_are_bounded():
    neighbours = begin(Neighbours(), np.random.default_rng(0).normal(size=(4, 2)))
    neighbours.rescale(NewUnits(np.array([1e200, 1.0]), np.zeros(2), np.full(2, 4.0)))
    assert all(np.isfinite(value).all() for value in vars(neighbours).values() if isinstance(value, np.ndarray))
    assert np.isfinite(neighbours(np.ones((1, 2)))).all()
