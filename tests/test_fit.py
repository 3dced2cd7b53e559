"""Whether values still fit is told by their sizes: rarely by mistake, and soon."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from river_pufe import kernels
from river_pufe.recovery.fit import Fit

D = 100


def judge(fit, residuals):
    """Alarms, one block of 32 rounds after the other, shape (blocks, d)."""
    alarms = []
    for start in range(0, len(residuals) - 31, 32):
        alarm = fit.update(residuals[start : start + 32], np.full(residuals.shape[1], np.inf)) >= 1.0
        fit.acquit(alarm)
        alarms.append(alarm)
    return np.array(alarms)


def fitted(residuals):
    fit = Fit()
    fit.extend(residuals.shape[1])
    judge(fit, residuals)
    return fit


def persistent(rng, n, share):
    x = np.zeros((n, D))
    for t in range(1, n):
        x[t] = share * x[t - 1] + (1 - share**2) ** 0.5 * rng.normal(size=D)
    return x


STATIONARY = {
    "normal": lambda rng, n: rng.normal(size=(n, D)),
    "heavy tails": lambda rng, n: rng.standard_t(2, size=(n, D)),
    "the heaviest tails": lambda rng, n: rng.standard_cauchy(size=(n, D)),
    "counts": lambda rng, n: rng.poisson(0.5, size=(n, D)) - 0.5,
    "binary": lambda rng, n: (rng.random((n, D)) < 0.05) - 0.05,
    "seasons": lambda rng, n: 2 * np.sin(np.arange(n) / 50)[:, None] + rng.normal(size=(n, D)) / 2,
    "persistent": lambda rng, n: persistent(rng, n, 0.9),
}


@pytest.mark.parametrize("kind", STATIONARY)
def test_alarms_are_rare_on_stationary_streams(kind):
    residuals = STATIONARY[kind](np.random.default_rng(0), 2000)
    alarms = judge(fitted(residuals[:1000]), residuals[1000:])
    assert alarms.sum() <= residuals[1000:].size / 100_000


@pytest.mark.parametrize("change", [lambda u: u + 5, lambda u: 5 * u, lambda u: 100 + 0.001 * u])
def test_changes_are_noticed(change):
    rng = np.random.default_rng(0)
    alarms = judge(fitted(rng.normal(size=(1000, D))), change(rng.normal(size=(64, D))))
    assert alarms.any(0).mean() > 0.95


def test_what_is_unknown_is_not_judged():
    rng = np.random.default_rng(0)
    fit = fitted(rng.normal(size=(160, D)))
    assert not fit.judged.any()
    assert not (fit.update(1e6 * rng.normal(size=(32, D)), np.full(D, np.inf)) >= 1.0).any()


def test_without_false_alarms_there_are_none():
    fit = Fit(false_alarms=0.0)
    fit.extend(1)
    rng = np.random.default_rng(0)
    for scale in (1.0, 1e6):
        for _ in range(20):
            assert fit.update(scale * rng.normal(size=(32, 1)), np.full(1, np.inf)) == [0.0]


@given(st.integers(0, 2**32 - 1))
def test_e_values_are_no_more_than_1_on_average(seed):
    """The test rests on this, for ranks in any history of distinct sizes."""
    n = np.random.default_rng(seed).integers(1, 200)
    share = np.arange(1, n + 1) / n
    e = (kernels.plain._mixture(share) + kernels.plain._mixture(share[::-1])) / 2
    assert e.mean() <= 1.0


def test_the_typical_size_is_that_of_the_deviation():
    rng = np.random.default_rng(0)
    scales = np.array([0.3, 1.0, 1.3, 10.0])
    assert fitted(scales * rng.normal(size=(1600, 4))).typical == pytest.approx(scales, rel=0.1)


def test_keys_are_judged_by_themselves():
    rng = np.random.default_rng(0)
    residuals = rng.normal(size=(640, 3))
    residuals[rng.random(residuals.shape) < 0.2] = np.nan
    fit, one = fitted(residuals), fitted(residuals[:, [1]])
    fit.keep(np.array([False, True, False]))
    one.extend(0)
    latest = np.full((32, 1), 5.0)
    assert fit.update(latest, np.ones(1)) == one.update(latest, np.ones(1))


def test_the_evidence_against_a_key_that_is_acquitted_begins_with_nothing():
    """The score of a residual in the middle is less than 1, and so is the statistic that consists of it alone."""
    fit = fitted(np.random.default_rng(0).normal(size=(320, D)))
    fit.update(np.full((32, D), 9.0), np.full(D, np.inf))
    fit.acquit(np.ones(D, dtype=bool))
    statistic = fit.update(np.full((1, D), 0.67), np.full(D, np.inf)) / fit.false_alarms
    assert (statistic < 1.0).all()
