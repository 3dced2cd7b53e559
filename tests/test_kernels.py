"""Both versions of what is computed in every round answer alike, and read each other's state.

This file is also the program that plays streams with the plain version, beside the test that plays them compiled.
"""

from __future__ import annotations

import math
import os
import pickle
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from river_pufe import PUFEClassifier, PUFERegressor, kernels
from river_pufe.kernels import plain

compiled = pytest.importorskip("river_pufe.kernels._compiled", reason="it was installed without a compiler")

KEYS = ["a", "b", 3, ("c", 1), "d"]
VALUES = (0.5, -0.0, 7, True, None, 1e151, -(10**200), np.nan, np.float64(2.5), np.float32(0.1), np.int16(-3))


@given(st.dictionaries(st.sampled_from([*KEYS, "new"]), st.sampled_from(VALUES) | st.floats(-1e3, 1e3)))
def test_samples_are_read_alike(x):
    slots = {key: slot for slot, key in enumerate(KEYS)}
    one, other = (version.read(x, KEYS, slots) for version in (plain, compiled))
    assert one[0].tobytes() == other[0].tobytes()
    assert list(one[1].items()) == list(other[1].items())


@pytest.mark.parametrize("limit", [-np.inf, -9.2, -1.3, -1e-9])
@pytest.mark.parametrize("share", [0.1, 0.7, 0.97])
def test_keys_vanish_alike(share, limit):
    rng = np.random.default_rng(3)
    d = 6
    states = [
        [np.ones(d, bool), np.zeros(d, bool), *(np.full(d, fill) for fill in (-1, 0, 0, 0, -1)), np.full(d, np.inf)]
        for _ in range(2)
    ]
    for round_ in range(1, 400):
        present = (rng.random(d) < share) & (np.arange(d) + round_ < 300)
        values = np.where(present, 1.0, np.nan)
        one, other = (
            version.account(values, round_, limit, *state) for version, state in zip((plain, compiled), states)
        )
        assert one == other
        assert all(np.array_equal(a, b) for a, b in zip(*states))


@given(st.integers(0, 2**32 - 1), st.integers(1, 7), st.sampled_from([0.0, 0.3, 0.7, 1.0]), st.booleans())
def test_rows_are_expected_alike(seed, d, missing, both):
    rng = np.random.default_rng(seed)
    factors = rng.normal(size=(d, 2 * d))
    mean, covariance = rng.normal(size=d), factors @ factors.T + 0.1 * np.eye(d)
    rows = np.where(rng.random((8, d)) < missing, np.nan, rng.normal(size=(8, d)))
    rows[1::2] = np.where(np.isnan(rows[::2]), np.nan, rows[1::2])
    law = mean, covariance if both else None, np.linalg.inv(covariance)
    weights = np.linspace(0.1, 1.0, 8)
    (one, spread), (other, same) = (version.expect(rows, *law, weights) for version in (plain, compiled))
    np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(spread, same, rtol=1e-9, atol=1e-9)
    for row in rows:
        absent = np.isnan(row)
        filled = plain.complete(row, absent, *law)
        np.testing.assert_allclose(filled, compiled.complete(row, absent, *law), rtol=1e-9, atol=1e-9)


@given(st.integers(0, 2**32 - 1), st.integers(0, 6), st.integers(0, 6), st.sampled_from([0.0, 0.5, 1.0]))
def test_rows_are_seen_alike(seed, d, n_previous, missing):
    rng = np.random.default_rng(seed)
    row = np.where(rng.random(d) < missing, np.nan, 10.0 * rng.normal(size=d))
    mean, inverse, filled = rng.normal(size=d), rng.exponential(size=d), 10.0 * rng.normal(size=d)
    (one, complete), (other, same) = (version.view(row, mean, inverse, 5.0) for version in (plain, compiled))
    assert complete is same is not bool(np.isnan(row).any())
    assert one.shape == (1, d + 1)
    np.testing.assert_array_equal(one, other)
    views = [version.views(one, filled, 5.0, min(n_previous, d)) for version in (plain, compiled)]
    np.testing.assert_array_equal(*views)
    assert not np.isnan(views[0]).any()


@given(
    st.integers(0, 2**32 - 1),
    st.integers(0, 5),
    st.integers(1, 30),
    st.sampled_from([0.0, 0.5, 1.0]),
    st.sampled_from([1e-9, 1.0, 1e3]),
    st.sampled_from([1.0, 20.0, np.inf]),
    st.booleans(),
)
def test_moments_are_alike(seed, d, k, missing, spread, memory, centered):
    rng = np.random.default_rng(seed)
    rows = np.where(
        rng.random((k, d)) < missing, np.nan, rng.integers(-3, 3, (k, d)) + spread * rng.normal(size=(k, d))
    )
    rows[rng.random((k, d)) < 0.1] *= 1e4
    n = rng.integers(0, 40, d).astype(float)
    deviation = np.where(n > 1, rng.exponential(size=d), 0.0)
    state = n, np.where(n > 0, rng.normal(size=d), 0.0) * centered, deviation, deviation**2
    one, other = (version.moments(rows, *state, memory, centered) for version in (plain, compiled))
    for a, b in zip(one, other):
        assert a.dtype == b.dtype
        np.testing.assert_allclose(a, b, rtol=1e-11, atol=1e-300)


@given(st.integers(0, 2**32 - 1), st.integers(0, 5), st.integers(1, 40), st.sampled_from([0.0, 0.5, 1.0]))
def test_extremes_are_alike(seed, d, n, missing):
    rng = np.random.default_rng(seed)
    residuals = np.where(rng.random((n, d)) < missing, np.nan, rng.standard_cauchy((n, d)))
    limits = np.where(rng.random(d) < 0.3, np.inf, rng.exponential(size=d))
    for one, other in zip(*(version.extremes(residuals, limits) for version in (plain, compiled))):
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(one, other)


def test_arrays_of_other_sizes_are_refused():
    with pytest.raises(ValueError, match="entries was expected, not one of 3"):
        compiled.account(np.ones(1), 1, -9.0, *[np.zeros(3, bool)] * 8)


ROWS = np.random.default_rng(5).normal(size=(6, 3))


@pytest.mark.parametrize(
    "kind", [np.ma.array, lambda array: pickle.loads(pickle.dumps(array))], ids=["masked", "pickled"]
)
def test_numbers_of_any_array_are_read(kind):
    for one, other in zip(compiled.extremes(kind(ROWS), np.ones(3)), plain.extremes(ROWS, np.ones(3))):
        assert one.tolist() == other.tolist()


def test_arrays_in_another_order_are_refused():
    with pytest.raises(ValueError, match="not C-contiguous"):
        compiled.extremes(np.asfortranarray(ROWS), np.ones(3))


@pytest.mark.parametrize("entries", [">f8", "i8", "O", "M8[s]", "f4"])
def test_arrays_of_other_entries_are_refused(entries):
    """As many bytes may be something else, even addresses of objects."""
    others = np.ones((3, 3)).astype("i8").astype(entries)
    for call in (
        lambda: compiled.extremes(others, np.ones(3)),
        lambda: compiled.residuals(np.ones(3), np.ones(3), np.ones(3), others, np.ones(3), np.ones(3)),
        lambda: compiled.linear_scores(np.ones((1, 1)), others.reshape(1, 9, 1, 1), 1),
        lambda: compiled.judge(ROWS, np.ones(3), 0.5, np.ones((3, kernels.BINS)), np.zeros((4, 3)), others[0]),
        lambda: compiled.directions(ROWS, 0.5, 0, kernels.SecondOrder(0.9, np.asfortranarray(others), np.ones(4))),
    ):
        with pytest.raises(ValueError, match=r"array of .* expected|cannot include dtype"):
            call()


@given(st.integers(0, 2**32 - 1), st.integers(1, 5))
def test_residuals_are_judged_alike(seed, d):
    rng = np.random.default_rng(seed)
    factors = rng.normal(size=(d, 2 * d))
    precision, usual = np.linalg.inv(factors @ factors.T + np.eye(d)), rng.uniform(0.1, 2.0, size=d)
    scaled, mean = rng.normal(size=d), rng.normal(size=d)
    row = np.where(rng.random(d) < 0.3, np.nan, scaled)
    (one, *found), (other, *same) = (
        version.residuals(scaled, row, mean, precision, usual, 2 * usual) for version in (plain, compiled)
    )
    np.testing.assert_allclose(one, other, rtol=1e-10)
    # What is absent is no evidence, though what is expected of it may be unlike any value before.
    np.testing.assert_array_equal(np.isnan(other), np.isnan(row))
    assert found == same
    states = [[np.zeros((d, plain.BINS)), np.zeros((4, d)), np.zeros(d)] for _ in range(2)]
    for scale in [1.0] * 20 + [5.0] * 4:
        block = scale * rng.standard_t(3, size=(17, d))
        block[rng.random(block.shape) < 0.1] = np.nan
        block[0] = 0.0
        one, other = (
            version.judge(block, np.full(d, 9.0), 1e7, *kept) for version, kept in zip((plain, compiled), states)
        )
        np.testing.assert_allclose(one, other, rtol=1e-9)
    for first, second in zip(*states):
        np.testing.assert_allclose(first, second, rtol=1e-9, atol=1e-12)


@given(st.integers(0, 2**32 - 1), st.integers(1, 5), st.sampled_from([1e300, 2.0, 1.0]))
def test_scores_get_another_unit_alike(seed, n, factor):
    rng = np.random.default_rng(seed)
    of_outcomes = rng.random(n) < 0.3
    of_outcomes[0] = False
    first, second = rng.normal(size=(n, 2, 3, 1)), 10.0 ** rng.uniform(0, 20, size=(n, 1))
    weights, outcomes = (first, first.copy()), (second, second.copy())
    for version, w, y in zip((plain, compiled), weights, outcomes):
        version.rescale_scores(w, of_outcomes, factor, -1.5)
        version.rescale_outcomes(y, factor, -1.5, 1e50)
    np.testing.assert_allclose(*weights, rtol=1e-12)
    np.testing.assert_allclose(*outcomes, rtol=1e-12)


def samples(seed, n=700):
    """Two spaces with an overlap, gaps, a sensor in another unit, a class that comes late, and a nonlinear target."""
    rng = np.random.default_rng(seed)
    for t in range(n):
        hidden = rng.normal(size=3)
        row = np.append(hidden, hidden[[1, 2, 0]] - 0.5 * hidden) + 0.1 * rng.normal(size=6)
        there = np.repeat([t < 340, t >= 300], 3) & (rng.random(6) > (0.2 if 150 < t < 500 else 0.0))
        row[4] *= 1000.0 if t >= 580 else 1.0
        x = {key: value for key, value, here in zip("abcdef", row.tolist(), there) if here}
        yield (
            x,
            float(hidden[0] * hidden[1] + hidden[2]),
            int(hidden[0] * hidden[1] > 0) + int(t > 400 and hidden[2] > 1),
        )


def answers():
    """What models answer that learn one by one, and in frames."""
    said = []
    stream = list(samples(1))
    classifier, regressor, batches = PUFEClassifier(), PUFERegressor(), PUFEClassifier()
    for t, (x, number, label) in enumerate(stream):
        said += [regressor.predict_one(x), *classifier.predict_proba_one(x).values()]
        regressor.learn_one(x, number)
        classifier.learn_one(x, label)
        if t % 70 == 69:
            xs, _, labels = zip(*stream[t - 69 : t + 1])
            batches.learn_many(pd.DataFrame(list(xs)), list(labels))
            said += batches.predict_proba_one(x).values()
    return said, classifier.events, regressor.events, batches.events


def test_whole_streams_are_answered_alike():
    environment = os.environ | {"RIVER_PUFE_PLAIN": "1"}
    done = subprocess.run([sys.executable, __file__], env=environment, capture_output=True, check=True)
    (one, *events), (other, *same) = answers(), pickle.loads(done.stdout)
    np.testing.assert_allclose(one, other, rtol=1e-10, atol=1e-10)
    assert events == same
    assert math.isfinite(sum(one))


if __name__ == "__main__":
    assert not kernels.compiled
    pickle.dump(answers(), sys.stdout.buffer)


@given(
    st.integers(0, 2**32 - 1), st.integers(1, 6), st.integers(1, 5), st.integers(3, 30), st.sampled_from([0.01, 1.0])
)
def test_outputs_are_regressed_on_inputs_alike(seed, p, w, n, noise):
    rng = np.random.default_rng(seed)
    inputs = rng.normal(size=(n, p)) * rng.choice([0.0, 0.1, 1.0, 3.0], size=p)
    rows = np.hstack([inputs, inputs @ rng.normal(size=(p, w)) * rng.integers(2) + noise * rng.normal(size=(n, w))])
    scatter = n * np.cov(rows.T)
    penalties = 10.0 ** rng.uniform(-4, 3, size=p)
    kept = penalties.copy()
    for steps in (0, 1, 8):
        fits = [version.regress(scatter, float(n), penalties, steps) for version in (plain, compiled)]
        for one, other in zip(*fits):
            assert one.shape == other.shape
            np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-7 * np.abs(one).max())
    np.testing.assert_array_equal(penalties, kept)
    said = [version.best_penalty(scatter, float(n), p) for version in (plain, compiled)]
    # Of penalties that are equally likely, rounding may prefer either.
    evidence = [_evidence(scatter, n, p, penalty) for penalty in said]
    assert evidence[0] == pytest.approx(evidence[1], rel=1e-9, abs=1e-6)


def test_without_inputs_nothing_is_regressed_alike():
    for version in (plain, compiled):
        coefficients, uncertainty, noise, penalties = version.regress(np.diag([3.0, 8.0]), 3.0, np.zeros(0), 2)
        assert [coefficients.shape, uncertainty.shape, penalties.shape] == [(0, 2), (0, 0), (0,)]
        assert noise.tolist() == [1.5, 4.0]


def _evidence(scatter, n, p, penalty):
    stiff = scatter[:p, :p] + penalty * np.eye(p)
    rest = scatter[p:, p:] - scatter[p:, :p] @ np.linalg.solve(stiff, scatter[:p, p:])
    rest = np.maximum(rest.diagonal(), kernels.LEAST_NOISE * (n - 1))
    logdet = np.linalg.slogdet(stiff / penalty)[1]
    return -len(rest) * logdet - (n - 1) * np.log(rest).sum()


def test_a_matrix_that_is_not_positive_definite_is_regressed_on_alike():
    scatter = np.array([[-1.0, 0.5, 0.2], [0.5, 1.0, 0.1], [0.2, 0.1, 2.0]])
    fits = [version.regress(scatter, 5.0, np.full(2, 0.1), 0) for version in (plain, compiled)]
    for one, other in zip(*fits):
        np.testing.assert_allclose(one, other, rtol=1e-10)


@given(st.integers(0, 2**32 - 1), st.integers(0, 70))
def test_matrices_are_inverted_alike(seed, d):
    """Large ones by halves."""
    rng = np.random.default_rng(seed)
    factors = rng.normal(size=(d, d + 5))
    matrix = factors @ factors.T + 0.1 * np.eye(d)
    one, other = (version.inverse(matrix) for version in (plain, compiled))
    np.testing.assert_allclose(one, other, rtol=1e-8, atol=1e-10)
    np.testing.assert_array_equal(other, other.T)
    np.testing.assert_allclose(matrix @ other, np.eye(d), atol=1e-8)


def test_a_singular_matrix_has_its_pseudo_inverse():
    matrix = np.diag([2.0, 0.0])
    for version in (plain, compiled):
        np.testing.assert_allclose(version.inverse(matrix), np.diag([0.5, 0.0]))


def test_penalties_and_rows_must_fit_together():
    for call in (
        lambda: compiled.regress(np.eye(2), 5.0, np.ones(3), 0),
        lambda: compiled.best_penalty(np.eye(2), 5.0, 3),
        lambda: compiled.best_penalty(np.ones((2, 3)), 5.0, 1),
    ):
        with pytest.raises(ValueError, match=r"there are 3|3 inputs|was expected"):
            call()
