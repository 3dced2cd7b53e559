"""OPID minimizes what is recalled of its paper."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from plain import haphazard, replaced, scores, stream

from river_pufe import baselines

BOTH_TASKS = pytest.mark.parametrize("regression", [False, True], ids=["classification", "regression"])


def ridge(Z, y, rho):
    return np.linalg.solve(Z.T @ Z + rho * np.eye(Z.shape[1]), Z.T @ y)


def compress(Z, survivors, y, alpha, beta, rho):
    """The r that minimizes, over u and r, what the docstring says: as one regression on stacked rows."""
    S = Z[:, survivors]
    zeros = np.zeros_like
    rows = np.block([[Z, zeros(S)], [np.sqrt(alpha) * Z, -np.sqrt(alpha) * S], [zeros(Z), np.sqrt(beta) * S]])
    targets = np.concatenate([y, np.zeros(len(y)), np.sqrt(beta) * y])
    return ridge(rows, targets, rho)[Z.shape[1] :]


def transcription(X, y, ensemble, regression, alpha, beta, rho):
    """Each round solves the whole stage anew."""
    d = X.shape[1]
    known, r, has_old = np.zeros(d, dtype=bool), np.zeros(d), False
    Z, targets, said = np.zeros((0, d + 1)), np.zeros(0), []
    logs, rounds, seen = np.zeros(2), 0, []
    for row, target in zip(X, y):
        present = ~np.isnan(row)
        x = np.where(present, row, 0.0)

        def predictions():
            q = r @ x  # noqa: B023
            both = np.array([ridge(Z, targets, rho) @ np.append(x, q) if len(Z) else 0.0, q])  # noqa: B023
            weights = np.exp(logs) / np.exp(logs).sum() if ensemble and has_old else np.array([1.0, 0.0])  # noqa: B023
            return both, weights

        both, weights = predictions()
        said.append(weights @ both)
        if (present & ~known).any() and known.any():
            survivors = np.flatnonzero(present & known)
            new_r = np.zeros(d)
            new_r[survivors] = compress(Z, survivors, targets, alpha, beta, rho)
            r, has_old = new_r, len(survivors) > 0
            Z, targets, logs, rounds = Z[:0], targets[:0], np.zeros(2), 0
        known |= present
        both, weights = predictions()
        seen.append(target)
        if regression:
            losses = np.minimum(np.abs(both - target) / ((max(seen) - min(seen)) or 1.0), 1.0) ** 2
        else:
            losses = np.minimum(np.log(1 + np.exp(-target * both)), 1.0)
        rounds += 1
        losses = losses * np.array([1.0, float(ensemble and has_old)])
        logs = logs - np.sqrt(8 * np.log(2) / rounds) * losses
        Z, targets = np.vstack([Z, np.append(x, r @ x)]), np.append(targets, target)
    return np.array(said)


@BOTH_TASKS
@pytest.mark.parametrize("ensemble", [False, True], ids=["OPID", "OPIDe"])
@pytest.mark.parametrize("make", [replaced, haphazard])
@pytest.mark.filterwarnings("ignore:OPID needs features that survive")
def test_equals_its_transcription(make, ensemble, regression):
    X, y = make(seed=4, regression=regression)
    model = (baselines.OPIDRegressor if regression else baselines.OPIDClassifier)(ensemble, 0.7, 1.3, 0.5)
    expected = transcription(X, y, ensemble, regression, 0.7, 1.3, 0.5)
    np.testing.assert_allclose(scores(model, X, y, regression), expected, rtol=0, atol=1e-8)


def test_survivors_stand_in_for_what_vanishes():
    """Among many new keys that say nothing, what the survivors say of the target is at hand at once."""
    X, y = replaced(seed=5, n=400, regression=True, new=40)
    X[200:, 7:] = np.random.default_rng(5).normal(size=(200, 40))
    alone = X.copy()
    alone[200:, :3] = np.nan
    errors = []
    for kept in (X, alone):
        model = baselines.OPIDRegressor(ensemble=True)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            errors.append(np.abs(scores(model, kept, y, True) - y)[201:206].mean())
    assert errors[0] < 0.5 * errors[1]


def test_it_says_once_that_nothing_survives():
    X, y = replaced(survivors=0)
    model = baselines.OPIDClassifier()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for x, target in stream(X, y):
            model.predict_one(x)
            model.learn_one(x, target)
    (warning,) = caught
    assert "OPID needs features that survive" in str(warning.message)
    assert warning.filename == __file__


def test_it_is_silent_where_some_survive():
    X, y = replaced()
    model = baselines.OPIDClassifier()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for x, target in stream(X, y):
            model.learn_one(x, target)


@pytest.mark.parametrize("parameters", [{"alpha": -1}, {"beta": -1}, {"rho": 0}])
def test_parameters_are_checked(parameters):
    with pytest.raises(ValueError, match=next(iter(parameters))):
        baselines.OPIDClassifier(**parameters)
