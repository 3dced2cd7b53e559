"""Online EM: what is learned of rows with gaps, held against plain transcriptions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from river_pufe.recovery.gaussian import Gaussian
from river_pufe.recovery.low_rank import LowRankGaussian
from river_pufe.recovery.scatter import NOISE, PRIOR, Scatter
from river_pufe.recovery.wide import WideScatter

seeds = st.integers(0, 2**32 - 1)


def rows_with_gaps(rng, n, d, missing, k=2, noise=0.4):
    loadings = rng.normal(size=(k, d))
    rows = rng.normal(size=(n, k)) @ loadings + noise * rng.normal(size=(n, d))
    rows /= np.sqrt(np.square(loadings).sum(0) + noise**2)
    gaps = rng.random(rows.shape) < missing
    gaps[np.arange(n), rng.integers(d, size=n)] = False
    return rows, np.where(gaps, np.nan, rows)


def scatter(d):
    return Scatter(Gaussian.standard(d), np.zeros((2, d)))


def learned(rows, law, blocks=(1,), window=64):
    """A law that has learned rows in blocks, of which the oldest are settled."""
    start = end = 0
    while end < len(rows):
        block = min(blocks[end % len(blocks)], len(rows) - end)
        end += block
        law.learn(rows[start:end], block)
        if end - start >= window:
            law.settle(rows[start:end], window // 2)
            start += window // 2
    return law


@settings(deadline=None, max_examples=40)
@given(seeds, st.integers(1, 6), st.integers(1, 90), st.lists(st.integers(1, 20), min_size=1, max_size=4))
def test_without_gaps_it_is_the_scatter_of_all_rows(seed, d, n, blocks):
    """And of a belief that counts as a few rows, whatever the blocks."""
    rows = np.random.default_rng(seed).normal(size=(n, d)) + 2
    law = learned(rows, scatter(d), blocks).law
    mean = rows.sum(0) / (n + PRIOR)
    covariance = (PRIOR * np.eye(d) + rows.T @ rows) / (n + PRIOR) - np.outer(mean, mean)
    covariance += NOISE / (n + PRIOR) * n / (n + PRIOR) * np.eye(d)
    np.testing.assert_allclose(law.mean, mean, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(law.covariance, covariance, rtol=1e-8, atol=1e-10)


def transcription(rows, d):
    """Online EM row by row, with the expectations of the latest rows renewed, as the docstring says it."""
    mean, covariance, believed = np.zeros(d), np.eye(d), 1.0
    seen, n, count, following = np.zeros(d), 0.0, 0.0, 1.0
    start, steps, window = (mean, covariance), [], []

    def expectation(row, law):
        gone = np.isnan(row)
        expected, spread = row.copy(), np.zeros((d, d))
        if gone.any():
            gain = law.covariance[np.ix_(gone, ~gone)] @ np.linalg.inv(law.covariance[np.ix_(~gone, ~gone)])
            expected[gone] = law.mean[gone] + gain @ (row - law.mean)[~gone]
            spread[np.ix_(gone, gone)] = law.covariance[np.ix_(gone, gone)]
            spread[np.ix_(gone, gone)] -= gain @ law.covariance[np.ix_(~gone, gone)]
        return expected, spread

    def moved(mean, covariance, row, law, step):
        expected, spread = expectation(row, law)
        apart = expected - mean
        covariance = (1 - step) * (covariance + step * np.outer(apart, apart)) + step * spread
        return mean + step * apart, covariance

    def noisy():
        return Gaussian(mean, covariance + NOISE * (1 - believed) / (n + PRIOR) * np.eye(d))

    law = noisy()
    for row in rows:
        gone = np.isnan(row)
        seen, n = seen + ~gone, n + 1
        count += (seen / n)[~gone].mean() * (seen / n)[gone].mean() if gone.any() else 1.0
        steps.append(1 / (PRIOR + max(count, min(n, 32))))
        window.append(row)
        mean, covariance = moved(mean, covariance, row, law, steps[-1])
        believed *= 1 - steps[-1]
        law = noisy()
        if n >= following:
            following = 1.5 * n
            if np.isnan(window).any():
                for _ in range(2):
                    mean, covariance = start
                    for earlier, step in zip(window, steps):
                        mean, covariance = moved(mean, covariance, earlier, law, step)
                    law = noisy()
        if len(window) == 64:
            for earlier, step in zip(window[:32], steps[:32]):
                start = moved(*start, earlier, law, step)
            del window[:32], steps[:32]
    return law


@settings(deadline=None, max_examples=10)
@given(seeds, st.integers(2, 5), st.integers(1, 120), st.sampled_from([0.2, 0.6]))
def test_it_is_online_em(seed, d, n, missing):
    _, rows = rows_with_gaps(np.random.default_rng(seed), n, d, missing)
    law, expected = learned(rows, scatter(d)).law, transcription(rows, d)
    np.testing.assert_allclose(law.mean, expected.mean, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(law.covariance, expected.covariance, rtol=1e-6, atol=1e-8)


def log_likelihood(law, rows):
    """Of the observed entries of rows."""
    total = 0.0
    for row in rows:
        seen = ~np.isnan(row)
        covariance, apart = law.covariance[np.ix_(seen, seen)], (row - law.mean)[seen]
        total -= np.linalg.slogdet(covariance)[1] + apart @ np.linalg.solve(covariance, apart)
    return total / 2


@settings(deadline=None, max_examples=15)
@given(seeds, st.integers(2, 5), st.sampled_from([0.2, 0.5]))
def test_em_steps_never_lower_the_likelihood(seed, d, missing):
    _, rows = rows_with_gaps(np.random.default_rng(seed), 60, d, missing)
    law, likelihoods = Gaussian.standard(d), []
    for _ in range(12):
        likelihoods.append(log_likelihood(law, rows))
        expected, spread = law.expect(rows, np.full(len(rows), 1.0 / len(rows)))
        law = Gaussian(expected.mean(0), np.cov(expected.T, bias=True) + spread)
    assert (np.diff(likelihoods) > -1e-8).all()


@settings(deadline=None, max_examples=20)
@given(seeds, st.integers(2, 6), st.sampled_from([0.0, 0.4]), st.booleans())
def test_the_order_of_the_entries_changes_nothing(seed, d, missing, wide):
    rng = np.random.default_rng(seed)
    _, rows = rows_with_gaps(rng, 50, d, missing)
    order, absent = rng.permutation(d), rng.permutation(d) < d // 2
    make = (lambda: WideScatter(counts=np.zeros((2, d)))) if wide else (lambda: scatter(d))
    one, other = learned(rows, make()).law, learned(rows[:, order], make()).law
    row = rng.normal(size=d)
    np.testing.assert_allclose(
        one.complete(row, absent)[order], other.complete(row[order], absent[order]), rtol=1e-6, atol=1e-6
    )


@pytest.mark.parametrize("missing", [0.0, 0.5])
def test_units_may_change_on_the_way(missing):
    rng = np.random.default_rng(1)
    _, rows = rows_with_gaps(rng, 300, 6, missing)
    factor, shift = np.exp(rng.normal(size=6)), rng.normal(size=6)
    plain, changed = scatter(6), scatter(6)
    for law in (plain, changed):
        learned(rows[:32], law)
        law.settle(rows[:32], 32)
    changed.rescale(factor, shift)
    learned(rows[32:], plain)
    learned(factor * rows[32:] + shift, changed)
    # The noise is in the units as they are, so it differs a little.
    np.testing.assert_allclose(changed.law.mean, factor * plain.law.mean + shift, atol=0.05)
    np.testing.assert_allclose(changed.law.covariance, plain.law.covariance * np.outer(factor, factor), atol=0.3)


def r2(rows, hidden, law):
    """Share of the squared deviation of the hidden values that is explained."""
    errors = total = 0.0
    for truth, row in zip(rows, hidden):
        absent = np.isnan(row)
        errors += np.square(law.complete(row, absent) - truth)[absent].sum()
        total += np.square(truth)[absent].sum()
    return 1 - errors / total


@pytest.mark.parametrize(("missing", "lost"), [(0.1, 0.015), (0.5, 0.02), (0.75, 0.05)])
def test_most_of_what_can_be_completed_is(missing, lost):
    for seed in range(3):
        rows, hidden = rows_with_gaps(np.random.default_rng(seed), 1500, 16, missing)
        law = learned(hidden[:1000], scatter(16), blocks=(16,))
        truth = Gaussian(np.zeros(16), np.cov(rows.T))
        assert r2(rows[1000:], hidden[1000:], law.law) > r2(rows[1000:], hidden[1000:], truth) - lost


def test_entries_that_are_seldom_seen_are_learned_as_well():
    """A step of one over the number of rows would hardly ever get there."""
    rng = np.random.default_rng(0)
    rows, _ = rows_with_gaps(rng, 1500, 12, 0.0, k=3)
    seldom = np.arange(12) % 4 == 0
    hidden = np.where(seldom & (rng.random(rows.shape) < 0.93), np.nan, rows)
    law = learned(hidden[:1000], scatter(12), blocks=(16,))
    truth = Gaussian(np.zeros(12), np.cov(rows.T))
    assert r2(rows[1000:], hidden[1000:], law.law) > r2(rows[1000:], hidden[1000:], truth) - 0.1


def test_completed_rows_do_not_confirm_what_completed_them():
    """Variances stay near 1; with completed rows alone they would fall towards the observed share."""
    for seed in range(3):
        _, hidden = rows_with_gaps(np.random.default_rng(seed), 1500, 16, 0.75)
        for law in (scatter(16), WideScatter(counts=np.zeros((2, 16)))):
            row = np.full(16, np.nan)
            variances = learned(hidden, law, blocks=(16,)).law.variance(np.isnan(row))
            assert variances.mean() == pytest.approx(1.0, abs=0.2)


@settings(deadline=None, max_examples=25)
@given(seeds, st.integers(2, 6), st.integers(1, 60), st.sampled_from([0.0, 0.3]), st.integers(1, 16))
def test_wide_rows_are_summed_up_as_the_docstring_says(seed, d, n, missing, block):
    """Written down without a sketch, which is exact where there are few directions."""
    _, rows = rows_with_gaps(np.random.default_rng(seed), n, d, missing)
    learning, law = WideScatter(counts=np.zeros((2, d))), Gaussian.standard(d)
    mean, variance, entered = np.zeros(d), np.ones(d), []
    for start in range(0, n, block):
        before = learning.law
        for row in rows[start : start + block]:
            gone, spread, apart = np.isnan(row), np.zeros(d), np.zeros(d)
            spread[gone] = law.variance(gone)
            if gone.any() and len(deviations := before.deviations(gone)):
                # Each of the deviations in its turn, up and then down.
                turn, pick = divmod(len(entered), len(deviations))
                apart[gone] = (-1) ** turn * np.sqrt(len(deviations)) * deviations[pick]
            expected, step = law.complete(row, gone), 1 / (len(entered) + 1 + PRIOR)
            variance = (1 - step) * (variance + step * (expected - mean) ** 2) + step * spread
            entered.append(expected + apart)
        learning.learn(rows[start : start + block], len(rows[start : start + block]))
        mean, covariance = np.mean(entered, 0), np.cov(np.transpose(entered), bias=True)
        noise = np.maximum(variance - covariance.diagonal(), NOISE / (len(entered) + PRIOR))
        law = Gaussian(mean, covariance + np.diag(noise))
        np.testing.assert_allclose(learning.law.mean, mean, atol=1e-9)
        np.testing.assert_allclose(learning.law.full().covariance, law.covariance, atol=1e-8)
    assert learning.counts.tolist() == [(~np.isnan(rows)).sum(0).tolist(), [n] * d]


def wide(d):
    return WideScatter(counts=np.zeros((2, d)))


def full(law):
    return law if isinstance(law, Gaussian) else law.full()


every_scatter = pytest.mark.parametrize("make", [scatter, wide], ids=["full", "wide"])


@every_scatter
@settings(deadline=None, max_examples=20)
@given(seeds, st.integers(2, 5), st.integers(0, 30), st.integers(1, 3), st.booleans())
def test_new_entries_are_independent_of_all_others(make, seed, d, n, more, believed):
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(n, d)) + 1
    learning = believing(make, rng, d) if believed else make(d)
    before = full(learned(rows, learning).law)
    learning.extend(more)
    after, counts = full(learning.law), learning.counts
    np.testing.assert_allclose(after.covariance[:d, :d], before.covariance, atol=1e-9)
    np.testing.assert_allclose(after.mean[:d], before.mean, atol=1e-9)
    assert not after.covariance[:d, d:].any()
    assert not after.mean[d:].any()
    variances = after.covariance.diagonal()[d:]
    assert (np.abs(after.covariance[d:, d:] - np.diag(variances)) == 0).all()
    assert (variances >= 1.0).all()
    assert counts.shape == (2, d + more)
    assert not counts[:, d:].any()
    # And it goes on.
    learning.settle(np.hstack([rows, np.full((n, more), np.nan)]), n)
    learned(rng.normal(size=(5, d + more)), learning)
    assert np.isfinite(full(learning.law).covariance).all()


@every_scatter
@settings(deadline=None, max_examples=20)
@given(seeds, st.integers(2, 5), st.integers(0, 30), st.booleans(), st.integers(0, 5))
def test_what_is_kept_is_as_if_nothing_else_had_been_seen(make, seed, d, n, believed, later):
    rng = np.random.default_rng(seed)
    rows, slots = rng.normal(size=(n + later, d)) + 1, rng.permutation(d) < rng.integers(1, d)
    learning, alone = (
        (believing(make, np.random.default_rng(seed), d) for _ in range(2)) if believed else (make(d), make(d))
    )
    if not believed:
        alone = make(int(slots.sum()))
    else:
        alone.keep(slots)
    learned(rows[:n], learning)
    learning.settle(rows[:n], n)
    learned(rows[:n, slots], alone)
    alone.settle(rows[:n, slots], n)
    learning.keep(slots)
    for law in (learning, alone):
        learned(rows[n:, slots], law)
    np.testing.assert_allclose(full(learning.law).mean, full(alone.law).mean, atol=1e-7)
    np.testing.assert_allclose(full(learning.law).covariance, full(alone.law).covariance, atol=1e-7)
    np.testing.assert_array_equal(learning.counts, alone.counts)


@every_scatter
@settings(deadline=None, max_examples=20)
@given(seeds, st.integers(2, 5), st.booleans())
def test_a_belief_is_one_in_any_units(make, seed, d, moved):
    rng = np.random.default_rng(seed)
    learning = believing(make, rng, d)
    believed = full(learning.law)
    factor, shift = np.exp(rng.normal(size=d)), rng.normal(size=d)
    if moved:
        learning.rescale(factor, shift)
        believed = believed.rescale(factor, shift)
    np.testing.assert_allclose(full(learning.law).mean, believed.mean)
    np.testing.assert_allclose(full(learning.law).covariance, believed.covariance)
    learned(believed.mean[None], learning)
    # One more row in the middle changes the law by the share of a row, and by some noise.
    np.testing.assert_allclose(full(learning.law).mean, believed.mean, atol=1e-9)
    share = 1.0 if make is wide else 1.0 / (20.0 + PRIOR + 1.0)
    apart = full(learning.law).covariance - believed.covariance
    off = apart - np.diag(apart.diagonal())
    assert (np.abs(off) <= share * np.abs(believed.covariance) + 1e-9).all()


def believing(make, rng, d):
    """A law with a belief that rests on twenty rows."""
    counts = np.full((2, d), 20.0)
    if make is wide:
        belief = LowRankGaussian(rng.normal(size=d), rng.normal(size=(1, d)), rng.uniform(0.5, 2.0, size=d))
        return WideScatter(belief, counts)
    factors = rng.normal(size=(d, d))
    return Scatter(Gaussian(rng.normal(size=d), factors @ factors.T + np.eye(d)), counts)


def test_a_law_may_begin_without_entries():
    rows = np.random.default_rng(0).normal(size=(20, 3))
    law = Scatter()
    law.extend(3)
    expected = learned(rows, scatter(3)).law
    np.testing.assert_array_equal(learned(rows, law).law.covariance, expected.covariance)


def test_a_wide_law_grows_from_nothing():
    law = WideScatter()
    law.extend(3)
    assert law.counts.shape == (2, 3)
    assert law.law.mean.tolist() == [0.0] * 3
    assert law.law.noise.tolist() == wide(3).law.noise.tolist()
