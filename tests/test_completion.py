"""Laws of completion: what is exact, what is refused, and the quantities of Theorem 1."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from river_pufe.recovery.completion import RowSpace, incoherence, sample_bound
from river_pufe.sketch import FrequentDirections

seeds = st.integers(0, 2**32 - 1)
completions = st.sampled_from([RowSpace(), RowSpace(min_observed=1)])


def sketched(A, size=16, centered=True):
    sketch = FrequentDirections(size, centered=centered)
    for row in A:
        sketch.update(row)
    return sketch


def low_rank(rng, n, d, rank, constant=0.0):
    return rng.normal(size=(n, rank)) @ rng.normal(size=(rank, d)) + constant * rng.normal(size=d)


@st.composite
def gaps(draw, max_rank=4, n_observed=None):
    """Rows of low rank, one more row of their space, and a mask of what is absent from it."""
    rng = np.random.default_rng(draw(seeds))
    rank = draw(st.integers(1, max_rank))
    d = rank + draw(st.integers(1, 8))
    centered = draw(st.booleans())
    A = low_rank(rng, draw(st.integers(rank + 2, 60)), d, rank, constant=5 * centered)
    observed = rank if n_observed is None else draw(n_observed(rank, d))
    absent = rng.permutation(d) >= observed
    return sketched(A[:-1], centered=centered), A[-1], absent, rank


def close(actual, expected, rtol=1e-6):
    np.testing.assert_allclose(actual, expected, rtol=0, atol=rtol * (1 + np.abs(expected).max(initial=0)))


@settings(deadline=None, max_examples=100)
@given(gaps())
def test_row_space_is_exact_from_as_many_entries_as_directions(gap):
    """Law 6; how far off rounding may be depends on how well the observed entries tell the directions apart."""
    sketch, row, absent, rank = gap
    directions, _ = sketch.row_space()
    assert directions.shape[1] == rank
    apart = np.linalg.svd(directions[~absent], compute_uv=False)[-1]
    completed = RowSpace().complete(np.where(absent, np.nan, row), absent, sketch)
    close(completed, row, rtol=1e-10 / apart)


@settings(deadline=None, max_examples=60)
@given(gaps(n_observed=lambda rank, d: st.integers(rank, d)))
def test_row_space_is_the_papers_formula(gap):
    sketch, row, absent, _ = gap
    V, _ = sketch.row_space()
    seen = V[~absent]
    row = row + np.random.default_rng(0).normal(size=row.shape)  # off the row space, so that least squares matters
    expected = sketch.mean + V @ np.linalg.solve(seen.T @ seen, seen.T @ (row - sketch.mean)[~absent])
    condition = np.linalg.cond(seen) ** 2
    close(RowSpace().complete(row, absent, sketch), expected, rtol=1e-12 * condition)


@settings(deadline=None, max_examples=60)
@given(gaps(n_observed=lambda rank, d: st.integers(0, rank - 1)))
def test_row_space_refuses_rows_with_fewer_entries_than_directions(gap):
    sketch, row, absent, _ = gap
    assert RowSpace().complete(row, absent, sketch) is None


@settings(deadline=None, max_examples=60)
@given(gaps(n_observed=lambda rank, d: st.integers(0, d)), st.integers(1, 12))
def test_row_space_refuses_rows_below_min_observed(gap, needed):
    sketch, row, absent, _ = gap
    completed = RowSpace(min_observed=needed).complete(row, absent, sketch)
    assert (completed is None) == (np.sum(~absent) < needed)


def test_row_space_where_the_observed_entries_repeat_each_other():
    """Two directions, and two proportional entries: of all rows that agree with them it is the one nearest the mean."""
    sketch = sketched([[1.0, 2.0, 0.0], [2.0, 4.0, 0.0], [0.0, 0.0, 3.0]], centered=False)
    completed = RowSpace().complete(np.array([1.0, 2.0, 9.0]), np.array([False, False, True]), sketch)
    close(completed, [1.0, 2.0, 0.0])


@given(seed=seeds, rank=st.integers(1, 4), completion=completions)
def test_what_the_observed_entries_do_not_show_stays_at_its_mean(seed, rank, completion):
    """A direction that is in the absent entry alone is shown to the others by rounding at most."""
    rng = np.random.default_rng(seed)
    A = np.column_stack([low_rank(rng, 40, 5, rank), np.zeros(40)])
    A[::2, :5], A[::2, 5] = 0.0, rng.normal(size=20)
    row = np.append(A[1, :5], np.nan)
    completed = completion.complete(row, np.isnan(row), sketched(A, centered=False))
    assert abs(completed[5]) < 1e-6


def test_rows_that_never_varied_are_completed_with_their_mean():
    sketch = sketched([[1.0, 2.0, 3.0]] * 3)
    absent = np.array([False, True, True])
    assert RowSpace().complete(np.array([1.0, 0.0, 0.0]), absent, sketch).tolist() == [1.0, 2.0, 3.0]


@settings(deadline=None, max_examples=100)
@given(completions, gaps(n_observed=lambda rank, d: st.integers(0, d)), st.floats(-1e9, 1e9))
def test_absent_entries_are_not_read_and_the_row_stays_as_it_was(completion, gap, anything):
    sketch, row, absent, _ = gap
    hidden, arbitrary = np.where(absent, np.nan, row), np.where(absent, anything, row)
    first, second = (completion.complete(given, absent, sketch) for given in (hidden, arbitrary))
    assert np.array_equal(hidden, np.where(absent, np.nan, row), equal_nan=True)
    if first is None:
        assert second is None
    else:
        assert np.isfinite(first).all()
        assert np.array_equal(first, second)


@settings(deadline=None, max_examples=60)
@given(completions, seeds, st.integers(1, 4), st.integers(1, 8), st.booleans())
def test_order_of_the_entries_changes_nothing(completion, seed, rank, more, centered):
    rng = np.random.default_rng(seed)
    d = rank + more
    A, row, order = low_rank(rng, 20, d, rank, constant=5 * centered), rng.normal(size=d), rng.permutation(d)
    absent = rng.permutation(d) >= rng.integers(rank, d + 1)
    one, other = sketched(A, centered=centered), sketched(A[:, order], centered=centered)
    expected = completion.complete(row, absent, one)[order]
    condition = np.linalg.cond(one.row_space()[0][~absent]) ** 2
    close(completion.complete(row[order], absent[order], other), expected, rtol=1e-12 * condition + 1e-8)


@pytest.mark.parametrize(
    ("completion", "parameters", "message"),
    [
        (RowSpace, {"min_observed": 0}, "min_observed"),
        (RowSpace, {"tolerance": 1.0}, "tolerance"),
        (RowSpace, {"tolerance": -0.1}, "tolerance"),
        (RowSpace, {"tolerance": math.nan}, "tolerance"),
    ],
)
def test_parameters_are_checked(completion, parameters, message):
    with pytest.raises(ValueError, match=message):
        completion(**parameters)


# Theorem 1.


@settings(deadline=None, max_examples=100)
@given(seeds, st.integers(1, 12), st.integers(1, 12), st.data())
def test_incoherence_lies_between_one_and_the_larger_side_by_the_rank(seed, n, d, data):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(n, d))
    rank = data.draw(st.integers(1, min(n, d)))
    mu = incoherence(A, rank)
    assert 1 - 1e-9 <= mu <= max(n, d) / rank + 1e-9
    same = (A.T, -3.5 * A, A[rng.permutation(n)], A[:, rng.permutation(d)])
    assert [incoherence(other, rank) for other in same] == pytest.approx([mu] * 4)


@pytest.mark.parametrize(
    ("rows", "rank", "expected"),
    [
        (np.ones((3, 7)), None, 1.0),
        (np.eye(6), None, 1.0),
        (np.eye(6)[:2], None, 3.0),
        # Right singular vectors (1, 1)/√2 and (1, −1)/√2 and left ones e₁ and e₂: flat columns, then spiked rows.
        ([[2.0, 2.0], [1.0, -1.0]], 1, 2.0),
        ([[2.0, 2.0], [1.0, -1.0]], 2, 1.0),
        # One direction (3, 4)/5: its larger entry weighs 16/25, times d = 2.
        ([[3.0, 4.0]] * 2, None, 32 / 25),
        # The columns of a Hadamard matrix are as flat as it gets.
        ([[1, 1, 1, 1], [1, -1, 1, -1], [1, 1, -1, -1], [1, -1, -1, 1]], None, 1.0),
    ],
)
def test_incoherence_by_hand(rows, rank, expected):
    assert incoherence(np.array(rows), rank) == pytest.approx(expected)


def test_incoherence_takes_the_numerical_rank():
    A = low_rank(np.random.default_rng(0), 30, 20, 3)
    assert incoherence(A) == pytest.approx(incoherence(A, 3))


@pytest.mark.parametrize(("rows", "rank"), [(np.ones((2, 3)), 0), (np.ones((2, 3)), 3), (np.zeros((2, 3)), None)])
def test_incoherence_needs_a_direction(rows, rank):
    with pytest.raises(ValueError, match="rank"):
        incoherence(rows, rank)


@given(st.integers(1, 50), st.integers(1, 1000), st.floats(1, 50), st.floats(1e-9, 0.5))
def test_sample_bound_is_the_formula(rank, overlap, mu, delta):
    assert sample_bound(rank, overlap, mu, delta) == pytest.approx(7 * mu * rank * math.log(rank * overlap / delta))
    assert sample_bound(rank, overlap, mu, delta / 2) > sample_bound(rank, overlap, mu, delta)


@pytest.mark.parametrize(
    ("rank", "overlap", "delta", "wrong"),
    [
        (0, 1, 0.1, "rank"),
        (1, 0, 0.1, "overlap"),
        (1, 1, 0.0, "delta"),
        (1, 1, 1.0, "delta"),
        (1, 1, math.nan, "delta"),
    ],
)
def test_sample_bound_checks_its_arguments(rank, overlap, delta, wrong):
    with pytest.raises(ValueError, match=wrong):
        sample_bound(rank, overlap, 1.0, delta)


@settings(deadline=None, max_examples=8)
@given(seeds, st.integers(1, 2))
def test_as_many_entries_as_theorem_1_asks_for_suffice(seed, rank):
    rng = np.random.default_rng(seed)
    d, overlap = 600, 10
    # Factors of ±1 keep the incoherence near 1, else the bound asks for more entries than there are.
    A = rng.choice([-1.0, 1.0], size=(100, rank)) @ rng.choice([-1.0, 1.0], size=(rank, d))
    needed = math.ceil(sample_bound(rank, overlap, incoherence(A[:-overlap], rank), delta=1e-6))
    assert needed < d
    sketch = sketched(A[:-overlap], size=rank + 1, centered=False)
    for row in A[-overlap:]:
        absent = rng.permutation(d) >= needed
        close(RowSpace().complete(row, absent, sketch), row)
