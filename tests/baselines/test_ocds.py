"""OCDS descends on the objective that is recalled of its paper."""

from __future__ import annotations

import numpy as np
import pytest
from plain import haphazard, scores

from river_pufe import baselines


def objective(w, G, x, observed, y, alpha, beta_2):
    """Without the part for sparsity, which has no slope at 0."""
    psi = G[observed].T @ x[observed] / observed.sum()
    L = np.diag(G.sum(1)) - G
    rest = x[observed] - psi[observed]
    return (y - w @ psi) ** 2 + alpha * rest @ rest + beta_2 * w @ L @ w


def slope(function, at):
    """By central differences."""
    result = np.zeros_like(at)
    for index in np.ndindex(at.shape):
        off = np.zeros_like(at)
        off[index] = 1e-5
        result[index] = (function(at + off) - function(at - off)) / 2e-5
    return result


def transcription(X, y, alpha, beta_1, beta_2, block, max_weights):
    """With slopes by differences; keys have their columns from the start, and no weight before they come."""
    d = X.shape[1]
    w, G, known = np.zeros(d), np.eye(d), np.zeros(d, dtype=bool)
    p, losses, said = 0.5, np.zeros(2), []
    for t, (row, target) in enumerate(zip(X, y), start=1):
        observed = ~np.isnan(row)
        x = np.where(observed, row, 0.0)
        seen = observed & known
        psi = np.where(known, G[seen].T @ x[seen] / max(seen.sum(), 1), 0.0)
        said.append(p * w[seen] @ x[seen] + (1 - p) * w[~observed] @ psi[~observed])
        known |= observed
        if not observed.any():
            parts = np.zeros(2)
        else:
            psi = G[observed].T @ x[observed] / observed.sum()
            parts = np.array([w[observed] @ x[observed], w[~observed] @ psi[~observed]])
        losses += np.log2(1 + np.exp(-target * parts))
        if t % block == 0:
            hedge = np.exp(-8 * np.sqrt(1 / np.log(block)) * losses)
            p, losses = hedge[0] / hedge.sum(), np.zeros(2)
        if observed.any():
            of_w = slope(lambda w: objective(w, G, x, observed, target, alpha, 0.0), w)  # noqa: B023
            of_w += slope(lambda w: objective(w, G, x, observed, 0.0, 0.0, beta_2), w)  # noqa: B023
            of_w -= slope(lambda w: objective(w, G, x, observed, 0.0, 0.0, 0.0), w)  # noqa: B023
            of_G = slope(lambda G: objective(w, G, x, observed, target, alpha, 0.0), G)  # noqa: B023
            w = w - (of_w + beta_1 * np.sign(w)) / np.sqrt(t)
            G = G - of_G * (observed[:, None] & known[None, :]) / np.sqrt(t)
            w, G = np.where(known, w, 0.0), np.where(known[:, None] & known[None, :], G, np.eye(d))
        stay = np.argsort(-np.abs(w))[:max_weights]
        w = np.where(np.isin(np.arange(d), stay), w, 0.0)
    return np.array(said)


@pytest.mark.parametrize("max_weights", [150, 4])
@pytest.mark.parametrize(("alpha", "beta_1", "beta_2"), [(0.1, 0.01, 0.02), (0.01, 1e-4, 1e-4)])
def test_equals_its_transcription(alpha, beta_1, beta_2, max_weights):
    X, y = haphazard(seed=3, n=60)
    # Its steps are too long for larger values.
    X *= 0.3
    X[np.isnan(X).all(1), 0] = 0.5
    model = baselines.OCDSClassifier(alpha, beta_1, beta_2, block=8, max_weights=max_weights)
    expected = transcription(X, y, alpha, beta_1, beta_2, 8, max_weights)
    np.testing.assert_allclose(scores(model, X, y), expected, rtol=0, atol=1e-6)


def test_absent_keys_are_told_by_present_ones():
    """Of two equal keys one is always there: what is learned of the other must not be lost without it."""
    rng = np.random.default_rng(0)
    model = baselines.OCDSClassifier(alpha=0.1)
    right = []
    for t in range(1500):
        value = float(rng.normal())
        x = {"a": value, "b": value}
        if t % 2:
            del x["b"]
        right.append(model.predict_one(x) is (value > 0))
        model.learn_one(x, value > 0)
    assert np.mean(right[500:]) > 0.9


@pytest.mark.parametrize(
    "parameters", [{"alpha": -1}, {"beta_1": -1}, {"beta_2": -1}, {"block": 1}, {"max_weights": 0}]
)
def test_parameters_are_checked(parameters):
    with pytest.raises(ValueError, match=next(iter(parameters))):
        baselines.OCDSClassifier(**parameters)
