"""Laws of the map from one space to another, and of the affine maps that it answers with."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from river_pufe.recovery.linear_map import Affine, LinearMap
from river_pufe.sketch import FrequentDirections

seeds = st.integers(0, 2**32 - 1)
few = st.integers(1, 5)


def solve(rows, outputs, ridge=1.0, intercept=True, size=32):
    return LinearMap(ridge).solve(sketched(rows, intercept, size), outputs)


def sketched(rows, intercept=True, size=32):
    sketch = FrequentDirections(size, centered=intercept)
    for row in rows:
        sketch.update(row)
    return sketch


def split(rng, d, n_outputs):
    """Which of d entries are outputs: any n of them."""
    return rng.permutation(d) < n_outputs


def dense(affine):
    """The matrix and the constant of a map, from what it answers."""
    inputs = affine.right.shape[1]
    constant = affine(np.zeros(inputs))
    return np.array([affine(row) - constant for row in np.eye(inputs)]).reshape(inputs, -1).T, constant


def close(actual, expected, rtol=1e-8):
    np.testing.assert_allclose(actual, expected, rtol=0, atol=rtol * (1 + np.abs(expected).max(initial=0)))


# The solution.


@settings(deadline=None, max_examples=60)
@given(seeds, few, few, st.integers(5, 50))
def test_it_is_the_papers_map(seed, n_inputs, n_outputs, n):
    """P* = (Σ x xᵀ)⁻¹ Σ x yᵀ, for more rows than inputs."""
    rng = np.random.default_rng(seed)
    rows, outputs = rng.normal(size=(n_inputs + n, n_inputs + n_outputs)), split(rng, n_inputs + n_outputs, n_outputs)
    X, Y = rows[:, ~outputs], rows[:, outputs]
    matrix, constant = dense(solve(rows, outputs, ridge=0, intercept=False, size=64))
    condition = np.linalg.cond(X) ** 2
    close(matrix, np.linalg.solve(X.T @ X, X.T @ Y).T, rtol=1e-13 * condition)
    close(constant, np.zeros(n_outputs))


@settings(deadline=None, max_examples=60)
@given(seeds, few, few, st.integers(1, 30), st.floats(1e-2, 1e2))
def test_it_is_ridge_regression_with_a_free_intercept(seed, n_inputs, n_outputs, n, ridge):
    """The minimum of Σ |y − Px − c|² + ρ|P|²: its gradient is 0."""
    rng = np.random.default_rng(seed)
    rows, outputs = rng.normal(size=(n, n_inputs + n_outputs)) + 3, split(rng, n_inputs + n_outputs, n_outputs)
    X, Y = rows[:, ~outputs], rows[:, outputs]
    matrix, constant = dense(solve(rows, outputs, ridge=ridge))
    residuals = Y - X @ matrix.T - constant
    close(residuals.sum(0), np.zeros(n_outputs))
    close(residuals.T @ X, ridge * matrix)


@settings(deadline=None, max_examples=60)
@given(seeds, st.integers(2, 6), few, st.booleans())
def test_with_few_rows_it_is_the_smallest_map_that_fits(seed, n_inputs, n_outputs, intercept):
    rng = np.random.default_rng(seed)
    n = n_inputs - 1 + intercept
    rows, outputs = rng.normal(size=(n, n_inputs + n_outputs)), split(rng, n_inputs + n_outputs, n_outputs)
    matrix, constant = dense(solve(rows, outputs, ridge=0, intercept=intercept))
    X, Y = rows[:, ~outputs], rows[:, outputs]
    centered = X - X.mean(0) * intercept
    strengths, directions = np.linalg.svd(centered)[1:]
    within = directions[: n - intercept]
    rounding = 1e-13 * (strengths[0] / strengths[n - intercept - 1]) ** 2
    close(X @ matrix.T + constant, Y, rtol=rounding)
    close(matrix @ within.T @ within, matrix, rtol=rounding)


@settings(deadline=None, max_examples=60)
@given(seeds, few, few, st.integers(1, 40), st.booleans())
def test_recovery_is_exact_where_the_inputs_determine_the_outputs(seed, n_inputs, n_outputs, more, intercept):
    """Law 6, once there are more rows than inputs; beyond the size of the sketch as well."""
    rng = np.random.default_rng(seed)
    outputs = split(rng, n_inputs + n_outputs, n_outputs)
    P, c = rng.normal(size=(n_inputs, n_outputs)), rng.normal(size=n_outputs) * intercept
    rows = np.empty((n_inputs + intercept + more, len(outputs)))
    X = rows[:, ~outputs] = rng.normal(size=(len(rows), n_inputs))
    rows[:, outputs] = X @ P + c
    matrix, constant = dense(solve(rows, outputs, ridge=0, intercept=intercept, size=n_inputs + 1))
    condition = np.linalg.cond(X - X.mean(0) * intercept) ** 2
    close(matrix, P.T, rtol=1e-13 * condition)
    close(constant, c, rtol=1e-13 * condition)


@settings(deadline=None, max_examples=60)
@given(seeds, st.integers(2, 8), st.integers(1, 30), st.booleans(), st.sampled_from([0.5, 5.0]))
def test_neither_order_of_rows_nor_of_entries_matters(seed, d, n, intercept, ridge):
    rng = np.random.default_rng(seed)
    rows, row, outputs = rng.normal(size=(n, d)), rng.normal(size=d), rng.random(d) < 0.5
    order = rng.permutation(d)
    one = solve(rows, outputs, ridge=ridge, intercept=intercept)
    other = solve(rng.permutation(rows)[:, order], outputs[order], ridge=ridge, intercept=intercept)
    whole, shuffled = np.zeros(d), np.zeros(d)
    whole[outputs] = one(row[~outputs])
    shuffled[outputs[order]] = other(row[order][~outputs[order]])
    close(shuffled, whole[order])


@settings(deadline=None, max_examples=30)
@given(seeds, few, few, st.integers(1, 80))
def test_a_large_ridge_answers_the_mean(seed, n_inputs, n_outputs, n):
    rng = np.random.default_rng(seed)
    rows, outputs = rng.normal(size=(n, n_inputs + n_outputs)) + 2, split(rng, n_inputs + n_outputs, n_outputs)
    recover = solve(rows, outputs, ridge=1e15)
    close(recover(rng.normal(size=n_inputs)), rows[:, outputs].mean(0))


def test_solving_changes_nothing_and_what_is_solved_stays():
    rng = np.random.default_rng(0)
    sketch = sketched(rng.normal(size=(10, 4)))
    outputs = np.array([False, True, False, True])
    before = pickle.dumps(sketch)
    recover = LinearMap().solve(sketch, outputs)
    assert pickle.dumps(sketch) == before
    answer = recover(np.ones(2))
    for row in rng.normal(size=(100, 4)):
        sketch.update(row)
    assert (recover(np.ones(2)) == answer).all()


@pytest.mark.parametrize("ridge", [-1.0, float("nan")])
def test_ridge_is_checked(ridge):
    with pytest.raises(ValueError, match="ridge"):
        LinearMap(ridge=ridge)


# Affine maps.


@st.composite
def affines(draw, n_inputs=few):
    rng = np.random.default_rng(draw(seeds))
    k, inputs, outputs = draw(few), draw(n_inputs), draw(few)
    return affine(rng, outputs, k, inputs), rng


def affine(rng, outputs, k, inputs):
    errors = rng.normal(size=(outputs, outputs))
    return Affine(
        rng.normal(size=(outputs, k)), rng.normal(size=(k, inputs)), rng.normal(size=outputs), errors @ errors.T
    )


@settings(deadline=None, max_examples=60)
@given(affines(), st.one_of(st.none(), few))
def test_weights_pulled_back_answer_as_on_the_mapped_row(case, columns):
    """For one model, and for one a column."""
    first, rng = case
    matrix, offset = dense(first)
    weights = rng.normal(size=len(offset) if columns is None else (len(offset), columns))
    moved, constant = first.pull_back(weights)
    close(moved, matrix.T @ weights)
    close(constant, offset @ weights)
    row = rng.normal(size=matrix.shape[1])
    close(moved.T @ row + constant, weights.T @ first(row))


@settings(deadline=None, max_examples=60)
@given(affines(), few, few)
def test_a_map_behind_another_one(case, n_kept, rank):
    """Some inputs are kept, the others come from them: dense matrices say the same."""
    first, rng = case
    inputs = first.right.shape[1] + n_kept
    first.extend(n_kept)
    first.right = first.right + rng.normal(size=first.right.shape)
    kept = split(rng, inputs, n_kept)
    dropped = affine(rng, inputs - n_kept, rank, n_kept)
    P, c = dense(first)
    Q, e = dense(dropped)
    matrix, constant = dense(first.compose(kept, dropped))
    close(matrix, P[:, kept] + P[:, ~kept] @ Q)
    close(constant, c + P[:, ~kept] @ e)
    # What both leave open adds up, and of the answer the variances are known.
    carried = first.covariance + P[:, ~kept] @ dropped.covariance @ P[:, ~kept].T
    close(first.compose(kept, dropped).variance, carried.diagonal())
    row = np.empty(inputs)
    row[kept] = rng.normal(size=n_kept)
    row[~kept] = dropped(row[kept])
    close(first.compose(kept, dropped)(row[kept]), first(row))


@settings(deadline=None, max_examples=30)
@given(affines(), st.integers(1, 30))
def test_maps_compose_without_growing(case, changes):
    """The number of factors of a map does not depend on how many others it was put behind."""
    first, rng = case
    rank = len(first.right)
    for _ in range(changes):
        before, row = copy.deepcopy(first), rng.normal(size=2)
        n_old = first.right.shape[1]
        first.extend(2)
        kept = np.arange(n_old + 2) >= n_old
        dropped = affine(rng, n_old, 2, 2)
        first = first.compose(kept, dropped)
        close(first(row), before(dropped(row)))
    assert first.right.shape == (rank, 2)


@settings(deadline=None, max_examples=30)
@given(affines(), st.integers(0, 4))
def test_appended_inputs_count_for_nothing(case, n):
    first, rng = case
    row, more = rng.normal(size=first.right.shape[1]), rng.normal(size=n)
    expected = first(row)
    first.extend(n)
    close(first(np.append(row, more)), expected)


@settings(deadline=None, max_examples=30)
@given(affines())
def test_inputs_in_other_units(case):
    first, rng = case
    row = rng.normal(size=first.right.shape[1])
    factor, shift = rng.uniform(0.1, 10, size=row.shape), rng.normal(size=row.shape)
    expected = first(row)
    first.rescale(factor, shift)
    close(first(factor * row + shift), expected)


# Numbers at the ends of their range.


@pytest.mark.parametrize("ridge", [0.0, 1e-300, 1.0])
@pytest.mark.parametrize("row", [[1e-309, 1.5], [5e-324, 1e50], [1e50, 1e-309], [1e-160, 1e50], [0.0, 1.0]])
def test_a_map_from_next_to_nothing_is_finite(row, ridge):
    sketch = FrequentDirections(size=4)
    sketch.update(np.array(row))
    map_ = LinearMap(ridge).solve(sketch, outputs=np.array([False, True]))
    for x in (row[0], -29.0, 1e50):
        assert np.isfinite(map_(np.array([x]))).all()


def test_maps_of_large_maps_are_finite():
    steep = Affine(np.full((2, 1), 1e200), np.full((1, 2), -1e200), np.full(2, 1e300), np.full(2, np.nan))
    chained = steep.compose(
        np.array([True, False]),
        Affine(*(part[:1] for part in (steep.left, steep.right[:, :1], steep.offset, steep.covariance))),
    )
    assert np.isfinite(chained(np.array([1e50]))).all()
    weights, constant = chained.pull_back(np.full(2, 1e100))
    assert np.isfinite(weights).all()
    assert np.isfinite(constant)


def test_directions_that_are_rounding_do_not_count():
    """The order of the entries must not decide what is left of a direction that is not there."""
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(12, 2)) @ rng.normal(size=(2, 6)) * 10.0 ** np.array([0, 4, -3, 2, 0, 1])
    answers = []
    for order in (np.arange(6), np.array([3, 1, 4, 0, 2, 5])):
        sketch = FrequentDirections(size=32)
        for row in rows[:, order]:
            sketch.update(row)
        map_ = LinearMap(0.0).solve(sketch, outputs=order == 5)
        answers.append(map_(rows[0, order[order != 5]]) if order[-1] == 5 else None)
    assert answers[0] == pytest.approx(answers[1], rel=1e-6)
    assert answers[0] == pytest.approx(rows[0, 5], rel=1e-6)


def test_units_that_floats_cannot_relate_are_followed_without_a_warning():
    affine = Affine.from_matrix(np.array([[1e30, 1.0]]), np.array([2.0]), np.eye(1))
    affine.rescale(np.array([1e-300, 1.0]), np.array([1e10, 0.0]))
    assert np.isfinite(affine.right).all()
    assert np.isfinite(affine.offset).all()
