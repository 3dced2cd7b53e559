"""REFORM carries weights over as its docstring says."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from plain import replaced, scores, stream

from river_pufe import baselines
from river_pufe.baselines.reform import transport

BOTH_TASKS = pytest.mark.parametrize("regression", [False, True], ids=["classification", "regression"])


def plan(costs, epsilon):
    """Sinkhorn's iterations as they are usually written."""
    n, m = costs.shape
    K = np.exp(-costs / epsilon)
    u = np.ones(n)
    for _ in range(100):
        v = 1 / m / (K.T @ u)
        u = 1 / n / (K @ v)
    return u[:, None] * K * v


def transcription(X, y, regression, c, shrinkage, wait, ridge, entropy):
    """For a stream with one change of the keys, halfway through."""
    change = len(X) // 2
    vanished, new = (np.flatnonzero(np.isnan(X[t]) & ~np.isnan(X[change - 1 - t])) for t in (change, 0)), None
    vanished = np.flatnonzero(np.isnan(X[change]))
    new = np.flatnonzero(np.isnan(X[0]))
    survivors = np.flatnonzero(~np.isnan(X).any(0))
    Z = np.nan_to_num(X)
    w, prior, said = np.zeros(X.shape[1]), np.zeros(X.shape[1]), []
    for t, (x, target) in enumerate(zip(Z, y)):
        f = w @ x
        said.append(f)
        error = 2 * (target - f) if regression else target / (1 + np.exp(target * f))
        step = 1 / (c * np.sqrt(t + 1 if t < change else t - change + 1))
        w = w + step * (error * x - shrinkage * (w - prior))
        if t == change + wait - 1:
            own = Z[: t + 1, survivors].T @ Z[: t + 1, survivors] / (t + 1) + ridge * np.eye(len(survivors))
            old = np.linalg.solve(own, Z[:change, survivors].T @ Z[:change, vanished] / change)
            now = np.linalg.solve(own, Z[change : t + 1, survivors].T @ Z[change : t + 1, new] / wait)
            costs = np.array([[np.sum((a - b) ** 2) for b in old.T] for a in now.T])
            prior[new] = len(new) * plan(costs, entropy * costs.mean()) @ w[vanished]
            w[new] += prior[new]
    return np.array(said)


@BOTH_TASKS
def test_equals_its_transcription(regression):
    X, y = replaced(seed=1, regression=regression)
    parameters = {"c": 5.0, "shrinkage": 0.05, "wait": 8, "ridge": 0.2, "entropy": 0.3}
    model = (baselines.REFORMRegressor if regression else baselines.REFORMClassifier)(**parameters)
    expected = transcription(X, y, regression, **parameters)
    np.testing.assert_allclose(scores(model, X, y, regression), expected, rtol=0, atol=1e-8)


def test_a_plan_has_equal_masses_and_prefers_what_is_near():
    rng = np.random.default_rng(0)
    columns = rng.normal(size=(6, 3))
    order = rng.permutation(6)
    S = transport(columns[order], columns, entropy=0.01)
    np.testing.assert_allclose(S.sum(0), 1 / 6, atol=1e-6)
    np.testing.assert_allclose(S.sum(1), 1 / 6, atol=1e-12)
    np.testing.assert_array_equal(S.argmax(1), order)
    np.testing.assert_allclose(transport(columns[:2], columns, entropy=1e9), 1 / 12, rtol=1e-6)
    np.testing.assert_allclose(transport(np.zeros((2, 3)), np.zeros((4, 3)), entropy=0.1), 1 / 8)


def test_weights_go_to_keys_that_mean_the_same():
    """Each new key reads what one of the old ones read: it ends up with the weight of that one."""
    rng = np.random.default_rng(1)
    s = rng.normal(size=(400, 4))
    old = s @ rng.normal(size=(4, 5)) + 0.1 * rng.normal(size=(400, 5))
    order = rng.permutation(5)
    y = old @ rng.normal(size=5)
    X = np.hstack([s, old, old[:, order]])
    X[300:, 4:9] = np.nan
    X[:300, 9:] = np.nan
    model = baselines.REFORMRegressor(c=30, wait=100, ridge=1e-3, entropy=1e-3, shrinkage=0.0)
    samples = list(stream(X, y, True))
    for x, target in samples[:300]:
        model.learn_one(x, target)
    learned = np.array([model.weights[f"f{4 + j}"] for j in order])
    # Nothing is learned but what the keys mean.
    for x, _ in samples[300:]:
        model.learn_one(x, model.predict_one(x))
    carried = np.array([model.weights[f"f{9 + j}"] for j in range(5)])
    np.testing.assert_allclose(carried, learned, atol=1e-3)


def test_it_says_once_that_nothing_survives():
    X, y = replaced(survivors=0)
    model = baselines.REFORMClassifier()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for x, target in stream(X, y):
            model.predict_one(x)
            model.learn_one(x, target)
    (warning,) = caught
    assert "REFORM needs features that survive" in str(warning.message)
    assert warning.filename == __file__


def test_nothing_is_carried_over_where_nothing_has_vanished():
    X, y = replaced(old=0)
    models = baselines.REFORMClassifier(), baselines.REFORMClassifier(entropy=1e3, ridge=1e3)
    np.testing.assert_array_equal(*(scores(model, X, y) for model in models))


@pytest.mark.parametrize("parameters", [{"c": 0}, {"shrinkage": -1}, {"wait": 0}, {"ridge": 0}, {"entropy": 0}])
def test_parameters_are_checked(parameters):
    with pytest.raises(ValueError, match=next(iter(parameters))):
        baselines.REFORMClassifier(**parameters)
