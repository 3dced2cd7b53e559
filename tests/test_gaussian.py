"""Laws of Gaussian rows: conditionals and marginals, in full and by factors."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from river_pufe.recovery.gaussian import Gaussian
from river_pufe.recovery.low_rank import LowRankGaussian

seeds = st.integers(0, 2**32 - 1)
sizes = st.integers(2, 9)


def full(rng, d):
    factors = rng.normal(size=(d, d))
    return Gaussian(rng.normal(size=d), factors @ factors.T + 0.1 * np.eye(d))


def low_rank(rng, d, k=2):
    return LowRankGaussian(rng.normal(size=d), rng.normal(size=(k, d)), rng.uniform(0.1, 2.0, size=d))


def some(rng, d):
    """A mask with at least one entry on either side."""
    return rng.permutation(d) < rng.integers(1, d)


def by_hand(law, row, absent):
    """Mean and covariance of the absent entries given the observed ones, by the textbook."""
    observed, covariance = ~absent, law.covariance
    gain = covariance[np.ix_(absent, observed)] @ np.linalg.inv(covariance[np.ix_(observed, observed)])
    mean = law.mean[absent] + gain @ (row - law.mean)[observed]
    return mean, covariance[np.ix_(absent, absent)] - gain @ covariance[np.ix_(observed, absent)]


@settings(deadline=None, max_examples=60)
@given(seeds, sizes)
def test_conditional_mean_and_covariance(seed, d):
    rng = np.random.default_rng(seed)
    law, row, absent = full(rng, d), rng.normal(size=d), some(rng, d)
    mean, covariance = by_hand(law, row, absent)
    completed = law.complete(np.where(absent, np.nan, row), absent)
    np.testing.assert_allclose(completed[absent], mean, rtol=1e-6, atol=1e-8)
    assert (completed[~absent] == row[~absent]).all()
    np.testing.assert_allclose(law.conditional_covariance(absent), covariance, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(law.variance(absent), covariance.diagonal(), rtol=1e-6, atol=1e-8)


@settings(deadline=None, max_examples=60)
@given(seeds, sizes, st.sampled_from([full, low_rank]))
def test_a_map_is_the_completion_of_all_rows(seed, d, law):
    rng = np.random.default_rng(seed)
    law, row, outputs = law(rng, d), rng.normal(size=d), some(rng, d)
    affine = law.predict(outputs)
    np.testing.assert_allclose(affine(row[~outputs]), law.complete(row, outputs)[outputs], rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(affine.variance, law.variance(outputs), rtol=1e-6, atol=1e-8)


@settings(deadline=None, max_examples=60)
@given(seeds, sizes)
def test_factors_are_a_covariance_written_otherwise(seed, d):
    rng = np.random.default_rng(seed)
    law, row, absent = low_rank(rng, d), rng.normal(size=d), some(rng, d)
    same = law.full()
    np.testing.assert_allclose(same.covariance, law.factors.T @ law.factors + np.diag(law.noise))
    np.testing.assert_allclose(law.complete(row, absent), same.complete(row, absent), rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(law.variance(absent), same.variance(absent), rtol=1e-6, atol=1e-8)
    completed, variance = law.complete_with_variance(row, absent)
    np.testing.assert_allclose(completed, same.complete(row, absent), rtol=1e-6, atol=1e-8)
    assert variance == pytest.approx(same.variance(absent).sum())
    deviations = law.deviations(absent)
    covariance = deviations.T @ deviations + np.diag(law.noise[absent])
    np.testing.assert_allclose(covariance, same.conditional_covariance(absent), rtol=1e-6, atol=1e-8)
    assert law.total == pytest.approx(same.covariance.trace())


@given(seeds, st.integers(1, 4))
def test_factors_of_a_covariance_keep_its_variances(seed, k):
    law = full(np.random.default_rng(seed), 4)
    factored = LowRankGaussian.from_full(law, k)
    np.testing.assert_allclose(factored.full().covariance.diagonal(), law.covariance.diagonal(), rtol=2e-3)
    assert len(factored.factors) == k


@settings(deadline=None, max_examples=60)
@given(seeds, sizes, st.sampled_from([full, low_rank]), st.sampled_from([0.0, 0.4]))
def test_what_is_expected_of_an_entry_does_not_depend_on_it(seed, d, make, missing):
    rng = np.random.default_rng(seed)
    law, absent = make(rng, d), rng.random(d) < missing
    row = np.where(absent, np.nan, rng.normal(size=d))
    means, variances = law.given_others(row)
    for slot in range(d):
        without = absent | (np.arange(d) == slot)
        assert means[slot] == pytest.approx(law.complete(row, without)[slot], rel=1e-6, abs=1e-8)
        assert variances[slot] == pytest.approx(law.variance(without)[without[:slot].sum()], rel=1e-6)


@settings(deadline=None, max_examples=60)
@given(seeds, st.integers(3, 9), st.sampled_from([full, low_rank]))
def test_what_is_left_out_of_a_law_is_what_is_absent_from_all_rows(seed, d, law):
    rng = np.random.default_rng(seed)
    law, row, kept = law(rng, d), rng.normal(size=d), some(rng, d)
    asked = kept & (rng.random(d) < 0.5)
    absent = asked | ~kept
    part = law.keep(kept)
    np.testing.assert_allclose(
        part.complete(row[kept], asked[kept]), law.complete(row, absent)[kept], rtol=1e-6, atol=1e-8
    )
    np.testing.assert_allclose(part.variance(asked[kept]), law.variance(absent)[kept[absent]], rtol=1e-6, atol=1e-8)


@settings(deadline=None, max_examples=60)
@given(seeds, sizes, st.sampled_from([full, low_rank]))
def test_units_change_the_units_of_the_answer_alone(seed, d, law):
    rng = np.random.default_rng(seed)
    law, row, absent = law(rng, d), rng.normal(size=d), some(rng, d)
    factor, shift = np.exp(rng.normal(size=d)), rng.normal(size=d)
    rescaled = law.rescale(factor, shift)
    np.testing.assert_allclose(
        rescaled.complete(factor * row + shift, absent),
        factor * law.complete(row, absent) + shift,
        rtol=1e-6,
        atol=1e-7,
    )
    np.testing.assert_allclose(rescaled.variance(absent), factor[absent] ** 2 * law.variance(absent), rtol=1e-6)


@settings(deadline=None, max_examples=60)
@given(seeds, sizes, st.integers(1, 3), st.sampled_from([full, low_rank]))
def test_new_entries_know_nothing_of_the_others(seed, d, n, law):
    rng = np.random.default_rng(seed)
    law, row, absent = law(rng, d), rng.normal(size=d + n), some(rng, d)
    wider, alone = law.extend(n), np.append(absent, np.ones(n, dtype=bool))
    completed = wider.complete(row, alone)
    np.testing.assert_allclose(completed[:d], law.complete(row[:d], absent), rtol=1e-6, atol=1e-8)
    assert (completed[d:] == 0).all()
    np.testing.assert_allclose(wider.variance(alone), np.append(law.variance(absent), np.ones(n)), rtol=1e-6)


def test_the_precision_is_the_inverse_and_asking_for_it_changes_nothing():
    law = full(np.random.default_rng(0), 30)
    before = pickle.dumps(law)
    np.testing.assert_allclose(law.precision @ law.covariance, np.eye(30), atol=1e-9)
    assert pickle.dumps(law) == before
    assert len(before) < 8 * 30 * 30 + 1000


def test_entries_that_are_nearly_the_same_complete_each_other():
    law = Gaussian(np.zeros(3), np.ones((3, 3)) + 1e-6 * np.eye(3))
    completed = law.complete(np.array([2.0, 2.0, np.nan]), np.array([False, False, True]))
    np.testing.assert_allclose(completed, [2.0, 2.0, 2.0], atol=1e-5)


@pytest.mark.parametrize("everything", [True, False])
def test_all_or_nothing_absent(everything):
    law, row = full(np.random.default_rng(0), 4), np.arange(4.0)
    completed = law.complete(row, np.full(4, everything))
    np.testing.assert_allclose(completed, law.mean if everything else row)


@pytest.mark.parametrize("variance", [0.0, 1e-320, 1e-200, 1e200])
@pytest.mark.parametrize("correlation", [0.0, 1.0])
def test_what_is_expected_is_finite_whatever_the_units(variance, correlation):
    across = correlation * variance**0.5
    law = Gaussian(np.zeros(2), np.array([[1.0, across], [across, variance]]))
    with np.errstate(divide="raise", invalid="raise", over="raise"):
        means, variances = law.given_others(np.array([1.0, 0.0]))
    assert np.isfinite(means).all()
    assert (variances >= 0).all()


def test_the_precision_is_computed_once():
    law = full(np.random.default_rng(0), 3)
    np.testing.assert_allclose(law.precision @ law.covariance, np.eye(3), atol=1e-9)
    assert law.precision is law.precision


@pytest.mark.parametrize("size", [1e6, 1e9, 1e12])
def test_factors_may_be_far_larger_than_the_noise(size):
    """Of two equal features, one with noise 1 tells the other up to that noise; rounding hides the second factor."""
    law = LowRankGaussian(np.zeros(2), np.full((2, 2), size), np.ones(2))
    assert law.variance(np.array([False, True])) == pytest.approx(2.0, rel=1e-3)
