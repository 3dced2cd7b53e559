"""The factored likelihood of two spaces, held against formulas and plain transcriptions."""

from __future__ import annotations

import dataclasses
import itertools
import tracemalloc

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import stats

from river_pufe.kernels import LEAST_NOISE, PENALTIES, plain
from river_pufe.recovery import monotone
from river_pufe.recovery.gaussian import Gaussian
from river_pufe.recovery.low_rank import LowRankGaussian
from river_pufe.recovery.overlap import _CAUTION as CAUTION
from river_pufe.recovery.overlap import _CONVERGED as CONVERGED
from river_pufe.recovery.overlap import FEWEST, Moments, Overlap, best_penalty, regress
from river_pufe.recovery.wide import WideOverlap

seeds = st.integers(0, 2**32 - 1)


def moments(rows):
    mean = rows.mean(0)
    return Moments(float(len(rows)), mean, (rows - mean).T @ (rows - mean))


def world(rng, p, w, noise=0.3):
    """The law of p previous features, and how w current ones follow from them."""
    factors = rng.normal(size=(p, p)) / p**0.5
    return Gaussian(rng.normal(size=p), factors @ factors.T + 0.2 * np.eye(p)), rng.normal(size=(p, w)), noise


def both(rng, law, coefficients, noise, n):
    previous = rng.multivariate_normal(law.mean, law.covariance, size=n)
    return np.hstack([previous, previous @ coefficients + noise * rng.normal(size=(n, coefficients.shape[1]))])


def vanishing(rng, rows, p):
    """Rows of which the previous entries vanish one by one."""
    rows, n = rows.copy(), len(rows)
    for slot, last in enumerate(rng.permutation(np.linspace(1, n, p)).round().astype(int)):
        rows[last:, slot] = np.nan
    return rows


def learned(law, rows, n_known=1000, wide=False, finish=True):
    p, d = len(law.mean), rows.shape[1]
    counts = np.full((2, p), float(n_known))
    overlap = WideOverlap(LowRankGaussian.from_full(law, p), counts, d - p) if wide else Overlap(law, counts, d - p)
    start = 0
    for end in range(1, len(rows) + 1):
        overlap.learn(rows[start:end], 1)
        if end - start == 64:
            overlap.settle(rows[start:end], 32)
            start += 32
    if finish:
        overlap.finish(rows[start:])
    return overlap.law


@given(seeds, st.integers(1, 5), st.integers(0, 9), st.integers(0, 9))
def test_moments_of_parts_make_those_of_all(seed, d, n, m):
    rows = np.random.default_rng(seed).normal(size=(n + m, d)) + 3
    parts = [moments(part) if len(part) else Moments.none(d) for part in (rows[:n], rows[n:])]
    pooled = parts[0].pooled(parts[1])
    assert pooled.n == n + m
    if n + m:
        np.testing.assert_allclose(pooled.mean, rows.mean(0), rtol=1e-9)
        np.testing.assert_allclose(pooled.scatter, moments(rows).scatter, rtol=1e-7, atol=1e-9)


@settings(deadline=None, max_examples=60)
@given(seeds, st.integers(1, 6), st.integers(1, 8))
def test_rows_that_lose_entries_one_after_another_are_expected_as_any_rows(seed, d, n):
    rng = np.random.default_rng(seed)
    factors = rng.normal(size=(d, d))
    precision = factors @ factors.T + np.eye(d)
    rows, mean = rng.normal(size=(n, d)), rng.normal(size=d)
    # Several entries may go at once, some at the start, and some never.
    rows[np.arange(n)[:, None] >= rng.integers(0, n + 2, size=d)] = np.nan
    order = monotone.order_of_loss(np.isnan(rows))
    assert order is not None
    expected, spread = monotone.expect(rows, order, mean, precision)
    one_by_one, covariances = plain.expect(rows, mean, None, precision, np.ones(n))
    np.testing.assert_allclose(expected, one_by_one, atol=1e-9)
    np.testing.assert_allclose(spread, covariances, atol=1e-9)


def test_entries_that_come_back_have_no_order_of_loss():
    missing = np.array([[True, False], [False, True]])
    assert monotone.order_of_loss(missing) is None
    assert monotone.order_of_loss(missing[:1]).tolist() == [0]
    assert monotone.order_of_loss(np.zeros((2, 2), dtype=bool)).tolist() == []


@settings(deadline=None, max_examples=40)
@given(seeds, st.integers(1, 5), st.integers(1, 4), st.integers(3, 30))
def test_the_regression_is_a_ridge_with_a_penalty_for_each_input(seed, p, w, n):
    rng = np.random.default_rng(seed)
    rows, penalties = rng.normal(size=(n, p + w)), np.exp(rng.normal(size=p))
    X, Y = (rows - rows.mean(0))[:, :p], (rows - rows.mean(0))[:, p:]
    fit = regress(moments(rows), penalties, steps=0)
    # The gradient of |Y - Xβ|² + Σ ρ_i β_i² is 0.
    np.testing.assert_allclose(X.T @ (Y - X @ fit.coefficients), penalties[:, None] * fit.coefficients, atol=1e-8)
    np.testing.assert_allclose(fit.uncertainty @ (X.T @ X + np.diag(penalties)), np.eye(p), atol=1e-8)
    # The noise of the marginal likelihood.
    marginal = np.linalg.inv(np.eye(n) + X / penalties @ X.T)
    np.testing.assert_allclose(fit.noise, np.maximum((Y * (marginal @ Y)).sum(0) / (n - 1), LEAST_NOISE), rtol=1e-6)


@settings(deadline=None, max_examples=30)
@given(seeds, st.integers(1, 4), st.integers(1, 3), st.integers(4, 30), st.integers(0, 30))
def test_the_penalties_come_from_em_and_stay_on_the_grid(seed, p, w, n, steps):
    """MacKay's update, with as much belief in a common penalty as five outputs have, until nothing moves by 2 %."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) * rng.choice([0.0, 1.0, 1e3], size=p)
    own = moments(np.hstack([X, X @ rng.normal(size=(p, w)) * rng.integers(2) + rng.normal(size=(n, w))]))
    penalties = np.ones(p)
    for _ in range(steps):
        fit = regress(own, penalties, 0)
        found = (fit.coefficients**2 / fit.noise).sum(1) + w * fit.uncertainty.diagonal()
        better = np.clip((w + 5) / (found + 5 * found.sum() / (p * w)), PENALTIES.min(), PENALTIES.max())
        if np.abs(np.log(better / penalties)).max() < 0.02:
            break
        penalties = better
    np.testing.assert_allclose(regress(own, np.ones(p), steps).penalties, penalties)


@pytest.mark.parametrize("n", [12, 40, 150])
@pytest.mark.parametrize("noise", [0.0, 0.1, 1.0])
@pytest.mark.parametrize("size", [1.0, 0.1, 0.01])
def test_the_common_penalty_is_that_of_a_noise_that_is_not_below_the_least(n, noise, size):
    """As in `regress`: where nothing is left to explain, the noise is a share of each row."""
    rng, p, w = np.random.default_rng(n), 3, 2
    X = rng.normal(size=(n, p))
    rows = np.hstack([X, size * (X @ rng.normal(size=(p, w)) + noise * rng.normal(size=(n, w)))])
    centered = rows - rows.mean(0)
    X, Y = centered[:, :p], centered[:, p:]

    def evidence(penalty):
        shape = np.eye(n) + X @ X.T / penalty
        left = (Y * np.linalg.solve(shape, Y)).sum(0) / (n - 1)
        return -w * np.linalg.slogdet(shape)[1] - (n - 1) * np.log(np.maximum(left, LEAST_NOISE)).sum()

    assert evidence(best_penalty(moments(rows), p)) == pytest.approx(max(map(evidence, PENALTIES)), rel=1e-4)


@settings(deadline=None, max_examples=20)
@given(seeds, st.integers(1, 4), st.integers(1, 3), st.integers(4, 12))
def test_the_common_penalty_has_the_largest_marginal_likelihood(seed, p, w, n):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    rows = np.hstack([X, X @ rng.normal(size=(p, w)) + rng.normal(size=(n, w))])
    rows -= rows.mean(0)
    # In coordinates in which centered rows are independent.
    turn = np.linalg.svd(np.eye(n) - 1 / n)[0][:, : n - 1]
    X, Y = turn.T @ rows[:, :p], turn.T @ rows[:, p:]

    def evidence(penalty):
        shape = np.eye(n - 1) + X @ X.T / penalty
        sizes = (Y * np.linalg.solve(shape, Y)).sum(0) / (n - 1)
        return sum(stats.multivariate_normal(np.zeros(n - 1), size * shape).logpdf(y) for size, y in zip(sizes, Y.T))

    best = max(map(evidence, PENALTIES))
    assert evidence(best_penalty(moments(rows), p)) == pytest.approx(best, rel=1e-6, abs=1e-6)


def expectations(mean, precision, rows):
    """Rows as they are expected, and the sum of the covariances of what is absent, one row after the other."""
    covariance, expected, spread = np.linalg.inv(precision), rows.copy(), np.zeros_like(precision)
    for row in expected:
        gone = np.isnan(row)
        gain = covariance[np.ix_(gone, ~gone)] @ np.linalg.inv(covariance[np.ix_(~gone, ~gone)])
        row[gone] = mean[gone] + gain @ (row - mean)[~gone]
        spread[np.ix_(gone, gone)] += covariance[np.ix_(gone, gone)] - gain @ covariance[np.ix_(~gone, gone)]
    return expected, spread


def transcription(law, rows, known):
    """Variational EM, and the factored likelihood at its end, as the docstrings say it; mean and covariance."""
    p, w = len(law.mean), rows.shape[1] - len(law.mean)
    rows = rows[~np.isnan(rows[:, :p]).all(1) & ~np.isnan(rows[:, p:]).all(1)]
    n, n_absent = len(rows), np.isnan(rows).sum()
    mean, precision = np.append(law.mean, np.nanmean(rows[:, p:], axis=0)), np.eye(p + w)
    precision[:p, :p] = np.linalg.inv(law.covariance)
    expected, spread = expectations(mean, precision, rows)
    own, fit = moments(expected), None
    penalties, steps = np.full(p, best_penalty(own, p)), 8
    for step in range(20):
        own = moments(expected)
        own.scatter += spread
        fit = regress(own, penalties, steps)
        if not n_absent or step == 19:
            break
        # The density of the docstring of `Overlap._given`: its quadratic form, and where it is least.
        (beta, uncertainty, noise, penalties), steps, before = fit, 3, expected
        alone = np.linalg.inv(law.covariance) + CAUTION * w * uncertainty
        through = np.vstack([-beta, np.eye(w)])
        precision = through / noise @ through.T
        precision[:p, :p] += alone
        away = np.linalg.solve(alone, np.linalg.inv(law.covariance) @ (law.mean - own.mean[:p]))
        expected, spread = expectations(own.mean + np.append(away, beta.T @ away), precision, rows)
        if np.square(expected - before).sum() < n_absent * CONVERGED**2:
            break
    mean = (known * law.mean + n * own.mean[:p]) / (known + n)
    covariance = known * (law.covariance + np.outer(law.mean - mean, law.mean - mean))
    covariance += own.scatter[:p, :p] + n * np.outer(own.mean[:p] - mean, own.mean[:p] - mean)
    covariance /= known + n
    apart, away = (expected - own.mean)[:, :p], mean - own.mean[:p]
    leverage = np.trace(covariance @ fit.uncertainty) + away @ fit.uncertainty @ away
    used = np.array([row @ fit.uncertainty @ row for row in apart]) + np.trace(spread[:p, :p] @ fit.uncertainty) / n
    leverage = (leverage + min(leverage, (used / np.maximum(1 - used - 1 / n, 1e-3)).mean())) / 2
    beta = fit.coefficients
    across = covariance @ beta
    spread = beta.T @ across + np.diag(fit.noise * (1 + 1 / n + leverage))
    return np.append(mean, own.mean[p:] + away @ beta), np.block([[covariance, across], [across.T, spread]])


@pytest.mark.parametrize("gaps", ["none", "vanishing", "anywhere"])
@settings(deadline=None, max_examples=15)
@given(seeds, st.integers(1, 5), st.integers(1, 4), st.integers(5, 40))
def test_it_is_the_factored_likelihood(gaps, seed, p, w, n):
    rng = np.random.default_rng(seed)
    law, coefficients, noise = world(rng, p, w)
    rows, known = both(rng, law, coefficients, noise, n), 500.0
    if gaps == "vanishing":
        rows = vanishing(rng, rows, p)
    elif gaps == "anywhere":
        rows[3:][rng.random((n - 3, p + w)) < 0.3] = np.nan
    assume((~np.isnan(rows[:, :p]).all(1)).sum() >= FEWEST)
    overlap = Overlap(law, np.full((2, p), known), w)
    overlap.finish(rows)
    mean, covariance = transcription(law, rows, known)
    np.testing.assert_allclose(overlap.law.mean, mean, rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(overlap.law.covariance, covariance, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("wide", [False, True])
def test_recovery_is_exact_where_the_relation_is_linear(wide):
    """Without noise, with as many current as previous features and more rows than both."""
    for seed in range(3):
        rng = np.random.default_rng(seed)
        law, coefficients, _ = world(rng, 4, 4)
        rows = both(rng, law, coefficients, 0.0, 30)
        affine = learned(law, rows, wide=wide).predict(np.arange(8) < 4)
        row = both(rng, law, coefficients, 0.0, 1)[0]
        np.testing.assert_allclose(affine(row[4:]), row[:4], atol=0.3 if wide else 0.05)


def explained(rng, affine, law, coefficients, noise):
    """Share of the variance of the previous features that a map explains, and how often a 90 % interval holds."""
    p, rows = len(law.mean), both(rng, law, coefficients, noise, 500)
    errors = np.array([affine(row[p:]) for row in rows]) - rows[:, :p]
    held = np.abs(errors) <= 1.645 * np.sqrt(affine.variance)
    return 1 - np.square(errors).sum() / np.square(rows[:, :p] - law.mean).sum(), held.mean()


@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize("n", [15, 40, 120])
def test_intervals_hold_what_they_say(n, wide, gaps):
    shares, coverages = [], []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        law, coefficients, noise = world(rng, 8, 5)
        rows = both(rng, law, coefficients, noise, n)
        rows = vanishing(rng, rows, 8) if gaps else rows
        affine = learned(law, rows, wide=wide).predict(np.arange(13) < 8)
        share, coverage = explained(rng, affine, law, coefficients, noise)
        shares.append(share)
        coverages.append(coverage)
    assert 0.82 < np.mean(coverages) < 0.97
    assert np.mean(shares) > (0.3 if gaps or n == 15 else 0.5)


def test_rows_with_gaps_help():
    """With the rows in which previous features vanish more is recovered than with the intact ones alone."""
    gains = []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        law, coefficients, noise = world(rng, 8, 6)
        rows = vanishing(rng, both(rng, law, coefficients, noise, 40), 8)
        intact = rows[~np.isnan(rows).any(1)]
        shares = [
            explained(rng, learned(law, part).predict(np.arange(14) < 8), law, coefficients, noise)[0]
            for part in (rows, intact)
        ]
        gains.append(shares[0] - shares[1])
    assert np.mean(gains) > 0.1


def test_gaps_in_current_features_are_expected_as_well():
    shares = []
    for seed in range(5):
        rng = np.random.default_rng(seed)
        law, coefficients, noise = world(rng, 5, 6)
        rows = both(rng, law, coefficients, noise, 60)
        rows[rng.random(rows.shape) < 0.3] = np.nan
        shares.append(explained(rng, learned(law, rows).predict(np.arange(11) < 5), law, coefficients, noise)[0])
    assert np.mean(shares) > 0.6


def test_more_rows_with_gaps_say_more_about_what_is_absent():
    """EM goes on from the present estimate, so it converges although each time it takes one step."""
    shares = []
    for seed in range(5):
        rng = np.random.default_rng(seed)
        law, coefficients, noise = world(rng, 5, 6, noise=0.1)
        truth = both(rng, law, coefficients, noise, 300)
        absent = rng.random(truth.shape) < 0.3
        rows, share = np.where(absent, np.nan, truth), []
        for n in (30, 60, 300):
            estimate = learned(law, rows[:n], finish=False)
            completed = np.array([estimate.complete(row, gone) for row, gone in zip(rows, absent)])
            error = np.square(completed - truth)[absent].sum() / np.square(truth - truth.mean(0))[absent].sum()
            share.append(1 - error)
        shares.append(share)
    few, more, many = np.mean(shares, 0)
    assert few < more < many
    assert more > 0.75


@pytest.mark.parametrize("size", [1e3, 1e120])
def test_an_estimate_that_expects_what_no_row_reads_is_not_gone_on_from(size):
    rng = np.random.default_rng(0)
    law, coefficients, noise = world(rng, 4, 3)
    rows = both(rng, law, coefficients, noise, 40)
    rows[rng.random(rows.shape) < 0.3] = np.nan
    fresh, wild = (Overlap(law, np.full((2, 4), 1000.0), 3) for _ in range(2))
    wild._relation = dataclasses.replace(wild._relation, coefficients=np.full((4, 3), size))
    wild.rebuild()
    for overlap in (fresh, wild):
        overlap.finish(rows)
    np.testing.assert_array_equal(wild.law.covariance, fresh.law.covariance)


@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("wide", [False, True])
def test_the_order_of_the_entries_changes_nothing(wide, gaps):
    rng = np.random.default_rng(0)
    law, coefficients, noise = world(rng, 5, 4)
    rows = both(rng, law, coefficients, noise, 80)
    rows = vanishing(rng, rows, 5) if gaps else rows
    before, after = rng.permutation(5), rng.permutation(4)
    order = np.append(before, 5 + after)
    turned = Gaussian(law.mean[before], law.covariance[np.ix_(before, before)])
    row, outputs = rng.normal(size=9), np.arange(9) < 5
    one, other = (learned(*each, wide=wide) for each in ((law, rows), (turned, rows[:, order])))
    np.testing.assert_allclose(
        one.complete(row, outputs)[:5][before], other.complete(row[order], outputs)[:5], rtol=1e-5, atol=1e-6
    )


@pytest.mark.parametrize("wide", [False, True])
def test_current_units_matter_little(wide):
    """The units of the current features are those of the few rows so far."""
    rng = np.random.default_rng(3)
    law, coefficients, noise = world(rng, 5, 4)
    rows = both(rng, law, coefficients, noise, 30)
    factor, shift = rng.uniform(0.5, 2.0, size=4), rng.normal(size=4)
    changed = np.hstack([rows[:, :5], factor * rows[:, 5:] + shift])
    row, outputs = rng.normal(size=9), np.arange(9) < 5
    one, other = learned(law, rows, wide=wide), learned(law, changed, wide=wide)
    told = np.append(row[:5], factor * row[5:] + shift)
    np.testing.assert_allclose(one.complete(row, outputs)[:5], other.complete(told, outputs)[:5], atol=0.1)


@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize("n", [0, 1, 2])
def test_nothing_is_said_of_the_relation_before_a_few_rows(n, wide):
    law, coefficients, noise = world(np.random.default_rng(0), 4, 3)
    rows = both(np.random.default_rng(1), law, coefficients, noise, n).reshape(n, 7)
    answer = learned(law, rows, wide=wide)
    completed = answer.complete(np.ones(7), np.arange(7) < 4)
    np.testing.assert_allclose(completed[:4], law.mean, atol=0.05)


def test_rows_without_either_space_do_not_count():
    law, coefficients, noise = world(np.random.default_rng(0), 4, 3)
    rows = both(np.random.default_rng(1), law, coefficients, noise, 20)
    halves = np.full((10, 7), np.nan)
    halves[::2, :4], halves[1::2, 4:] = 1.0, 1.0
    one, other = Overlap(law, np.ones((2, 4)), 3), Overlap(law, np.ones((2, 4)), 3)
    one.finish(rows)
    other.finish(np.vstack([rows, halves]))
    np.testing.assert_allclose(one.law.covariance, other.law.covariance)


def test_memory_is_linear_in_the_number_of_features():
    """From 3,000 features to 3,000 others; all coefficients between them would be 72 MB."""
    d, rng = 3000, np.random.default_rng(0)
    previous = LowRankGaussian(np.zeros(d), rng.normal(size=(32, d)), np.ones(d))
    overlap, rows = WideOverlap(previous, np.full((2, d), 100.0), d), rng.normal(size=(8, 2 * d))
    tracemalloc.start()
    for n in range(1, 9):
        overlap.learn(rows[:n], 1)
    overlap.finish(rows)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 36e6


@pytest.mark.parametrize("n", [12, 60])
def test_the_noise_of_an_exact_relation_is_the_least_there_is(n):
    rng = np.random.default_rng(n)
    given = rng.normal(size=(n, 2))
    rows = np.hstack([given, given @ np.array([[1.0], [-2.0]])])
    around = rows - rows.mean(0)
    moments = Moments(float(n), rows.mean(0), around.T @ around)
    found = regress(moments, np.full(2, 1e-12), 0)
    np.testing.assert_allclose(found.noise, LEAST_NOISE)


def test_wide_rows_from_which_most_is_absent_do_not_count():
    law, coefficients, noise = world(np.random.default_rng(0), 5, 3)
    rows = both(np.random.default_rng(1), law, coefficients, noise, 20)
    faint, unseen = rows[:5].copy(), rows[5:10].copy()
    faint[:, :4], unseen[:, 5:] = np.nan, np.nan
    wide = LowRankGaussian(law.mean, np.zeros((0, 5)), law.covariance.diagonal())
    laws = []
    for these in (rows, np.vstack([rows, faint, unseen])):
        overlap = WideOverlap(wide, np.ones((2, 5)), 3)
        overlap.finish(these)
        laws.append(overlap.law.full())
    np.testing.assert_allclose(laws[0].mean, laws[1].mean)
    np.testing.assert_allclose(laws[0].covariance, laws[1].covariance)


@pytest.mark.parametrize("wide", [False, True])
@settings(deadline=None, max_examples=15)
@given(seeds, st.integers(1, 4), st.integers(2, 4), st.integers(0, 64))
def test_a_law_of_two_spaces_follows_what_becomes_of_the_slots(wide, seed, p, w, n):
    """New entries are independent, what is kept has its law, and other units are other units: also of settled rows."""
    rng = np.random.default_rng(seed)
    law, coefficients, noise = world(rng, p, w)
    rows, counts = both(rng, law, coefficients, noise, n).reshape(n, p + w), np.full((2, p), 50.0)
    overlap = WideOverlap(LowRankGaussian.from_full(law, p), counts, w) if wide else Overlap(law, counts, w)
    for end in range(1, n + 1):
        overlap.learn(rows[:end], 1)
    overlap.settle(rows, n)
    overlap.finish(rows[n:])

    def whole():
        return overlap.law.full() if wide else overlap.law

    before = whole()
    overlap.extend(1)
    np.testing.assert_allclose(whole().mean, np.append(before.mean, 0.0))
    np.testing.assert_allclose(whole().covariance, before.extend(1).covariance, atol=1e-12)
    np.testing.assert_array_equal(overlap.counts, np.hstack([counts + n, np.full((2, w), n), np.zeros((2, 1))]))
    slots = np.append(np.ones(p, dtype=bool), rng.permutation(w + 1) < w)
    overlap.keep(slots)
    before = before.extend(1).keep(slots)
    np.testing.assert_allclose(whole().covariance, before.covariance, atol=1e-12)
    factor, shift = np.exp(0.3 * rng.normal(size=p + w)), rng.normal(size=p + w)
    overlap.rescale(factor, shift)
    np.testing.assert_allclose(whole().mean, before.rescale(factor, shift).mean)
    np.testing.assert_allclose(whole().covariance, before.rescale(factor, shift).covariance)
    # The settled rows are in the new units as well.
    overlap.finish(np.empty((0, p + w)))
    np.testing.assert_allclose(whole().mean[:p], factor[:p] * before.mean[:p] + shift[:p], atol=1e-9)
    assert overlap.counts.shape == (2, p + w)


@settings(deadline=None, max_examples=25)
@given(seeds, st.integers(1, 6), st.integers(1, 5), st.integers(3, 40), st.integers(0, 20), st.booleans())
def test_wide_spaces_follow_from_each_other_as_the_docstring_says(seed, p, w, n, n_settled, gaps):
    """A plain transcription, with whole matrices and without a sketch; also where some of the rows are settled."""
    rng = np.random.default_rng(seed)
    law, coefficients, noise = world(rng, p, w)
    rows, before = both(rng, law, coefficients, noise, n), LowRankGaussian.from_full(law, max(p // 2, 1))
    overlap, n_settled = WideOverlap(before, np.ones((2, p)), w), min(n_settled, n)
    if gaps:
        rows[rng.random(rows.shape) < 0.3] = np.nan
    overlap.settle(rows, n_settled)
    overlap.finish(rows[n_settled:])
    # What is absent is completed from its own space, and is at its mean where nothing is known of that.
    absent = np.isnan(rows[:, :p])
    missing = np.array([before.variance(gone).sum() for gone in absent]) / before.total
    rows = rows[(missing < 0.6) & ~np.isnan(rows[:, p:]).all(1)]
    rows[:, :p] = [before.complete(row, np.isnan(row)) for row in rows[:, :p]]
    rows[np.isnan(rows)] = 0.0
    n = len(rows)
    assume(n >= FEWEST)
    mean, shared, own = rows.mean(0), before.factors.T @ before.factors, np.diag(before.noise)
    G, H = np.hsplit(rows - mean, [p])
    evidence = []
    for penalty in PENALTIES:
        marginal = np.eye(n) + G @ G.T / penalty
        rest = np.maximum((H * np.linalg.solve(marginal, H)).sum(0) / (n - 1), LEAST_NOISE)
        evidence.append(-w * np.linalg.slogdet(marginal)[1] - (n - 1) * np.log(rest).sum())
    penalty = PENALTIES[np.argmax(evidence)]
    beta = np.linalg.solve(G.T @ G + penalty * np.eye(p), G.T @ H)
    rest = np.maximum((H * np.linalg.solve(np.eye(n) + G @ G.T / penalty, H)).sum(0) / (n - 1), LEAST_NOISE)
    leverage = np.trace((shared + own) @ np.linalg.inv(G.T @ G + penalty * np.eye(p)))
    noise = rest * (1 + 1 / n + leverage) + (beta.T @ own @ beta).diagonal()
    np.testing.assert_allclose(overlap.law.mean, np.append(before.mean, mean[p:] + (before.mean - mean[:p]) @ beta))
    covariance = overlap.law.full().covariance
    np.testing.assert_allclose(covariance[:p, :p], shared + own, atol=1e-7)
    np.testing.assert_allclose(covariance[:p, p:], shared @ beta, atol=1e-7)
    np.testing.assert_allclose(covariance[p:, p:], beta.T @ shared @ beta + np.diag(noise), rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("wide", [False, True])
def test_a_law_of_two_spaces_is_learned_less_and_less_often(wide, monkeypatch):
    """Each time that there are a quarter more rows."""
    law, coefficients, noise = world(np.random.default_rng(0), 3, 2)
    rows = both(np.random.default_rng(1), law, coefficients, noise, 60)
    kind, name = (WideOverlap, "finish") if wide else (Overlap, "_fit")
    fit, fitted = getattr(kind, name), []
    monkeypatch.setattr(kind, name, lambda self, rows, *steps: fitted.append(len(rows)) or fit(self, rows, *steps))
    overlap = kind(LowRankGaussian.from_full(law, 1) if wide else law, np.ones((2, 3)), 2)
    for n in range(1, 61):
        overlap.learn(rows[:n], 1)
    assert all(later >= 1.25 * earlier for earlier, later in itertools.pairwise(fitted))
    assert fitted[-1] >= 60 / 1.25 - 1


@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize("change", ["rescale", "keep", "extend"])
def test_a_change_that_is_none_loses_nothing_of_rows_that_are_settled(wide, change):
    rng, p, w = np.random.default_rng(0), 4, 3
    law, coefficients, noise = world(rng, p, w)
    rows = both(rng, law, coefficients, noise, 100)
    rows[rng.random(rows.shape) < 0.1] = np.nan
    counts, previous = np.full((2, p), 1000.0), LowRankGaussian.from_full(law, p)
    overlap, untouched = (WideOverlap(previous, counts, w) if wide else Overlap(law, counts, w) for _ in range(2))
    for each in (overlap, untouched):
        each.learn(rows[:64], 64)
        each.settle(rows[:64], 32)
    if change == "rescale":
        overlap.rescale(np.ones(p + w), np.zeros(p + w))
    elif change == "keep":
        overlap.keep(np.ones(p + w, dtype=bool))
    else:
        overlap.extend(0)
    for each in (overlap, untouched):
        each.learn(rows[32:], 36)
        each.finish(rows[32:])
    absent = np.arange(p + w) < 2
    row = np.where(absent, np.nan, 0.5)
    np.testing.assert_allclose(overlap.law.complete(row, absent), untouched.law.complete(row, absent), rtol=1e-6)
    np.testing.assert_allclose(overlap.counts, untouched.counts)
