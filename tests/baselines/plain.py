"""Streams in arrays, for plain transcriptions of methods that know keys but no spaces."""

from __future__ import annotations

import numpy as np


def haphazard(seed=0, n=120, d=6, p=0.6, regression=False):
    """Rows with NaN where a value is absent, and targets; the last keys come only after a third of the rounds."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = X @ rng.normal(size=d) + 0.1 * rng.normal(size=n)
    X[rng.random((n, d)) > p] = np.nan
    X[: n // 3, d - 2 :] = np.nan
    return X, y if regression else np.where(y > 0, 1.0, -1.0)


def replaced(seed=0, n=120, regression=False, survivors=3, old=4, new=5):
    """Halfway through all old keys but the survivors vanish, and new ones come, all made of the same two factors."""
    rng = np.random.default_rng(seed)
    factors = rng.normal(size=(n, 2))
    X = factors @ rng.normal(size=(2, survivors + old + new)) + 0.1 * rng.normal(size=(n, survivors + old + new))
    y = factors @ np.array([1.0, -0.5])
    X[n // 2 :, survivors : survivors + old] = np.nan
    X[: n // 2, survivors + old :] = np.nan
    return X, y if regression else np.where(y > 0, 1.0, -1.0)


def stream(X, y, regression=False):
    """The same as samples."""
    for row, target in zip(X.tolist(), y.tolist()):
        x = {f"f{j}": value for j, value in enumerate(row) if value == value}
        yield x, target if regression else target > 0


def scores(model, X, y, regression=False):
    """What a model answers in each round: its score, taken back from a probability."""
    answers = []
    for x, target in stream(X, y, regression):
        if regression:
            answers.append(model.predict_one(x))
        else:
            p = model.predict_proba_one(x).get(True, 0.5)
            answers.append(np.log(p / (1.0 - p)))
        model.learn_one(x, target)
    return np.array(answers)
