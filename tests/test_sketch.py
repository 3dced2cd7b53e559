"""Laws of the sketch: what it keeps of the rows, and what it says about them."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from river_pufe.sketch import FrequentDirections

sizes = st.integers(1, 6)
seeds = st.integers(0, 2**32 - 1)


@st.composite
def matrices(draw, max_rows=60, max_columns=8):
    shape = draw(st.tuples(st.integers(1, max_rows), st.integers(1, max_columns)))
    return draw(arrays(float, shape, elements=st.floats(-100, 100)))


@st.composite
def problems(draw):
    """A lossless sketch of a random matrix, and which of its columns are inputs and outputs."""
    d = draw(st.integers(2, 8))
    rng = np.random.default_rng(draw(seeds))
    A = rng.normal(size=(draw(st.integers(1, 25)), d)) + 3
    split = draw(st.lists(st.booleans(), min_size=d, max_size=d).filter(lambda mask: 0 < sum(mask) < d))
    return A, np.array(split), draw(st.booleans())


def sketched(A, size, centered=False):
    sketch = FrequentDirections(size, centered=centered)
    for row in A:
        sketch.update(row)
    return sketch


def gram(A):
    return A.T @ A


def scatter(A):
    return gram(A - A.mean(0))


def close(actual, expected, scale=None):
    """Equal up to rounding, relative to the largest number involved."""
    scale = np.abs(expected).max(initial=0) if scale is None else scale
    np.testing.assert_allclose(actual, expected, rtol=0, atol=1e-9 * scale + 1e-12)


@settings(deadline=None, max_examples=60)
@given(matrices(), sizes, st.booleans())
def test_error_is_below_the_bound_for_every_rank(A, size, centered):
    """The bound of Ghashami et al., Theorem 1.1; at k = 0 it is the one of the docstring."""
    sketch = sketched(A, size, centered)
    true = scatter(A) if centered else gram(A)
    errors = np.linalg.eigvalsh(true - gram(sketch.rows))
    spectrum = np.maximum(np.linalg.eigvalsh(true)[::-1], 0)
    rounding = 1e-9 * np.sum(A**2) + 1e-12
    assert errors[0] >= -rounding
    for k in range(min(size, len(spectrum) + 1)):
        assert errors[-1] <= spectrum[k:].sum() / (size - k) + rounding


@settings(deadline=None, max_examples=40)
@given(seeds, st.integers(1, 5), st.integers(1, 100), st.integers(6, 12), st.booleans())
def test_exact_below_size_independent_rows(seed, rank, n, d, centered):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(n, rank)) @ rng.normal(size=(rank, d)) + (5 if centered else 0)
    sketch = sketched(A, rank + 1, centered)
    close(gram(sketch.rows), scatter(A) if centered else gram(A), scale=np.sum(A**2))


@settings(deadline=None, max_examples=40)
@given(matrices(), st.integers(0, 3), st.booleans())
def test_nothing_is_lost_with_as_many_rows_as_columns(A, more, centered):
    sketch = sketched(A, A.shape[1] + more, centered)
    close(gram(sketch.rows), scatter(A) if centered else gram(A), scale=np.sum(A**2))


@settings(deadline=None, max_examples=40)
@given(matrices(), sizes)
def test_mean_is_that_of_the_rows(A, size):
    close(sketched(A, size, centered=True).mean, A.mean(0), scale=np.abs(A).max())
    assert sketched(A, size).mean.tolist() == [0.0] * A.shape[1]


@settings(deadline=None, max_examples=40)
@given(seeds, sizes, st.integers(1, 60), st.integers(1, 8), st.booleans())
def test_order_of_the_columns_changes_nothing(seed, size, n, d, centered):
    rng = np.random.default_rng(seed)
    A, order = rng.normal(size=(n, d)), rng.permutation(d)
    expected = gram(sketched(A, size, centered).rows)[np.ix_(order, order)]
    close(gram(sketched(A[:, order], size, centered).rows), expected, scale=np.sum(A**2))


@settings(deadline=None, max_examples=40)
@given(seeds, sizes, st.integers(1, 60), st.integers(1, 8), st.floats(-140, 140))
def test_unit_of_the_rows_changes_nothing(seed, size, n, d, exponent):
    A, unit = np.random.default_rng(seed).normal(size=(n, d)), 10.0**exponent
    close(gram(sketched(A * unit, size).rows / unit), gram(sketched(A, size).rows), scale=np.sum(A**2))


@settings(deadline=None, max_examples=40)
@given(seeds, st.integers(1, 30), st.integers(1, 30), st.integers(1, 6), st.integers(0, 3), sizes, st.booleans())
def test_appended_columns_were_zero(seed, n, m, d, more, size, centered):
    rng = np.random.default_rng(seed)
    A, later = rng.normal(size=(n, d)), rng.normal(size=(m, d + more))
    whole = np.vstack([np.hstack([A, np.zeros((n, more))]), later])
    true = scatter(whole) if centered else gram(whole)
    for kept in (size, d + more):
        sketch = sketched(A, kept, centered)
        sketch.extend(more)
        for row in later:
            sketch.update(row)
        assert sketch.n == n + m
        close(sketch.mean, whole.mean(0) if centered else np.zeros(d + more))
        errors = np.linalg.eigvalsh(true - gram(sketch.rows))
        assert errors[0] >= -1e-9 * np.trace(true)
        assert errors[-1] <= np.trace(true) * (1e-9 if kept == d + more else 1 / kept)


def test_columns_may_be_appended_before_the_first_row():
    sketch = FrequentDirections(3)
    sketch.extend(2)
    sketch.update(np.array([1.0, 2.0]))
    assert sketch.rows.tolist() == [[1.0, 2.0]]


@settings(deadline=None, max_examples=40)
@given(seeds, st.integers(1, 40), st.integers(1, 40), st.integers(1, 8), sizes, st.booleans())
def test_dropped_columns_leave_the_bound_as_it_is(seed, n, m, d, size, centered):
    rng = np.random.default_rng(seed)
    A, later, columns = rng.normal(size=(n, d)), rng.normal(size=(m, d)), rng.random(d) < 0.5
    square = scatter if centered else gram
    sketch = sketched(A, size, centered)
    before = gram(sketch.rows)
    sketch.keep(columns)
    close(gram(sketch.rows), before[np.ix_(columns, columns)], scale=np.sum(A**2))
    for row in later[:, columns]:
        sketch.update(row)
    whole = np.vstack([A, later])[:, columns]
    errors = np.linalg.eigvalsh(square(whole) - gram(sketch.rows))
    # The rows before the change count with all their columns.
    budget = np.trace(square(whole)) + np.trace(square(A)[np.ix_(~columns, ~columns)])
    assert errors.min(initial=0) >= -1e-9 * budget
    assert errors.max(initial=0) <= budget / size + 1e-9 * budget


@settings(deadline=None, max_examples=40)
@given(seeds, st.integers(1, 30), st.integers(1, 30), st.integers(1, 8), st.booleans())
def test_dropping_columns_is_exact_where_nothing_is_lost(seed, n, m, d, centered):
    rng = np.random.default_rng(seed)
    A, later, columns = rng.normal(size=(n, d)), rng.normal(size=(m, d)), rng.random(d) < 0.5
    sketch = sketched(A, d, centered)
    sketch.keep(columns)
    for row in later[:, columns]:
        sketch.update(row)
    whole = np.vstack([A, later])[:, columns]
    close(gram(sketch.rows), scatter(whole) if centered else gram(whole), scale=np.sum(A**2) + np.sum(later**2))


@settings(deadline=None, max_examples=40)
@given(seeds, st.integers(1, 4), st.integers(1, 20), st.booleans(), st.booleans())
def test_rows_told_in_other_units(seed, rank, n, centered, later):
    """A sketch that is told in new units goes on as if it had been told in them from the start."""
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(n, rank)) @ rng.normal(size=(rank, 6)) + 1
    factor = rng.uniform(0.1, 10, size=6)
    shift = rng.normal(size=6) if centered else np.zeros(6)
    sketch = sketched(A, 8, centered)
    sketch.rescale(factor, shift)
    whole = A * factor + shift
    if later:
        sketch.update(whole[0])
        whole = np.vstack([whole, whole[:1]])
    close(sketch.mean, whole.mean(0) if centered else np.zeros(6), scale=np.abs(whole).max())
    close(gram(sketch.rows), scatter(whole) if centered else gram(whole), scale=np.sum(whole**2))


@pytest.mark.parametrize("d", [3, 50])
def test_memory_is_bounded(d):
    rng = np.random.default_rng(0)
    sketch = sketched(rng.normal(size=(100, d)), 4)
    size = len(pickle.dumps(sketch))
    for row in rng.normal(size=(1000, d)):
        sketch.update(row)
        assert len(sketch.rows) <= 8
    assert len(pickle.dumps(sketch)) <= size + 8


def test_a_row_is_neither_changed_nor_kept():
    row = np.array([1.0, 2.0])
    for centered in (False, True):
        sketch = sketched([row, row + 1], 4, centered)
        before = sketch.rows.copy()
        row += 5
        assert (sketch.rows == before).all()
        row -= 5
        assert row.tolist() == [1.0, 2.0]


@pytest.mark.parametrize("size", [0, -1, float("nan")])
def test_size_is_checked(size):
    with pytest.raises(ValueError, match="size"):
        FrequentDirections(size)


# What it says: the row space.


@settings(deadline=None, max_examples=40)
@given(seeds, st.integers(1, 5), st.integers(5, 300))
def test_row_space_of_rows_of_low_rank(seed, rank, n):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(n, rank)) @ rng.normal(size=(rank, 12))
    directions, strengths = sketched(A, 6).row_space()
    assert directions.shape == (12, rank)
    close(gram(directions), np.eye(rank))
    close(directions @ (directions.T @ A.T), A.T)
    close(strengths, np.linalg.svd(A, compute_uv=False)[:rank])


def test_rank_survives_a_long_stream():
    """Rounding adds up over the shrinks; it must not be taken for a direction."""
    rng = np.random.default_rng(0)
    sketch = sketched(rng.normal(size=(20_000, 3)) * [100, 1, 0.01] @ rng.normal(size=(3, 10)), 4)
    assert sketch.row_space()[0].shape == (10, 3)


def test_tolerance_cuts_weak_directions():
    sketch = sketched(np.diag([1.0, 1e-3, 1e-5]), 4)
    assert [sketch.row_space(tolerance)[1].size for tolerance in (0.5, 1e-2, 1e-4, 1e-6)] == [1, 1, 2, 3]


@pytest.mark.parametrize("rows", [[], np.zeros((9, 3))])
def test_nothing_has_rank_zero(rows):
    directions, strengths = sketched(rows, 4).row_space()
    assert directions.shape[1] == strengths.size == 0


# What it says: the regression of some columns on others.


@settings(deadline=None, max_examples=60)
@given(problems(), st.floats(1e-3, 1e3))
def test_regression_is_ridge_regression(problem, ridge):
    """The same with more inputs than rows, and with fewer."""
    A, outputs, centered = problem
    left, right = sketched(A, 32, centered).regression(~outputs, outputs, ridge)
    A = A - A.mean(0) if centered else A
    X, Y = A[:, ~outputs], A[:, outputs]
    close(left @ right, np.linalg.solve(gram(X) + ridge * np.eye(X.shape[1]), X.T @ Y).T, scale=10)


@settings(deadline=None, max_examples=60)
@given(problems(), st.integers(1, 3))
def test_regression_without_ridge_is_the_pseudo_inverse(problem, copies):
    """The solution of smallest norm, where inputs repeat each other as well."""
    A, outputs, centered = problem
    A = np.hstack([A, *[A[:, :1] * 2] * (copies - 1)])
    outputs = np.append(outputs, np.zeros(copies - 1, dtype=bool))
    left, right = sketched(A, 32, centered).regression(~outputs, outputs, 0.0)
    A = A - A.mean(0) if centered else A
    X, Y = A[:, ~outputs], A[:, outputs]
    expected = (np.linalg.pinv(X, rtol=1e-10) @ Y).T
    np.testing.assert_allclose(left @ right, expected, rtol=0, atol=1e-6 * (1 + np.abs(expected).max()))


@settings(deadline=None, max_examples=40)
@given(seeds, st.integers(1, 3), st.integers(8, 300), st.booleans())
def test_regression_without_ridge_is_not_fooled_by_rounding(seed, rank, n, centered):
    """After many shrinks the inputs of a stream of low rank have faint directions that are rounding only."""
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(n, rank)) @ rng.normal(size=(rank, 10)) + centered
    outputs = np.arange(10) >= 6
    left, right = sketched(A, 5, centered).regression(~outputs, outputs, 0.0)
    A = A - A.mean(0) if centered else A
    expected = (np.linalg.pinv(A[:, ~outputs], rtol=1e-10) @ A[:, outputs]).T
    np.testing.assert_allclose(left @ right, expected, rtol=0, atol=1e-6 * (1 + np.abs(expected).max()))


@settings(deadline=None, max_examples=60)
@given(problems(), st.floats(1e-2, 1e2))
def test_regression_is_the_conditional_mean_of_a_gaussian(problem, noise):
    A, outputs, _ = problem
    covariance = scatter(A) + noise * np.eye(A.shape[1])
    given_given = covariance[np.ix_(~outputs, ~outputs)]
    given_asked = covariance[np.ix_(~outputs, outputs)]
    left, right = sketched(A, 32, centered=True).regression(~outputs, outputs, noise)
    close(left @ right, np.linalg.solve(given_given, given_asked).T, scale=10)


@pytest.mark.parametrize("size", [1e8, 1e12, 1e100])
@pytest.mark.parametrize("shape", [(3, 6), (20, 6)])
def test_regression_beside_entries_so_large_that_the_ridge_is_lost(size, shape):
    rows = np.ones(shape) * np.arange(1, 7)
    rows[1] *= size
    left, right = sketched(rows, 32).regression(np.arange(6) > 0, np.arange(6) == 0, 1.0)
    assert left @ (right @ np.arange(2.0, 7)) == pytest.approx(1)


@settings(deadline=None, max_examples=40)
@given(problems(), st.sampled_from([0.0, 1.0]))
def test_factors_are_no_larger_than_the_sketch(problem, ridge):
    A, outputs, centered = problem
    sketch = sketched(A, 3, centered)
    left, right = sketch.regression(~outputs, outputs, ridge)
    assert left.shape == (outputs.sum(), len(right))
    assert right.shape == (len(right), (~outputs).sum())
    assert len(right) <= max(len(sketch.rows), 3)


@pytest.mark.parametrize("ridge", [0.0, 1.0])
@pytest.mark.parametrize("inputs", [[False, False, False], [True, True, True], [True, False, True]])
@pytest.mark.parametrize("n", [0, 1, 5])
def test_regression_on_nothing_answers_nothing(ridge, inputs, n):
    sketch = FrequentDirections(4)
    sketch.extend(3)
    for row in np.zeros((n, 3)):
        sketch.update(row)
    inputs = np.array(inputs)
    left, right = sketch.regression(inputs, ~inputs, ridge)
    assert (left @ (right @ np.ones(inputs.sum()))).tolist() == [0.0] * (~inputs).sum()
