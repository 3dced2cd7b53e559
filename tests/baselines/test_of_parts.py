"""The baselines are what the paper says they are."""

from __future__ import annotations

import math
import random
import warnings

import numpy as np
import pytest
from river import base

from river_pufe import PUFEClassifier, PUFERegressor, baselines, datasets
from river_pufe.sketch import FrequentDirections

METHODS = {
    "NOGD": (baselines.NOGDClassifier, baselines.NOGDRegressor, {}),
    "ROGD-f": (baselines.ROGDClassifier, baselines.ROGDRegressor, {"updating": False}),
    "ROGD-u": (baselines.ROGDClassifier, baselines.ROGDRegressor, {"updating": True}),
    "FESL-c": (baselines.FESLClassifier, baselines.FESLRegressor, {"strategy": "combination"}),
    "FESL-s": (baselines.FESLClassifier, baselines.FESLRegressor, {"strategy": "selection", "seed": 3}),
}

T1, T2, B = 60, 50, 12


class Rounds:
    """A stream in arrays: previous rows (NaN once vanished), current rows (NaN before they are seen), and targets."""

    def __init__(self, regression: bool, unpredictable: bool, seed: int = 0) -> None:
        rng = np.random.default_rng(seed)
        self.previous = rng.uniform(size=(T1 + T2, 7))
        self.current = self.previous @ rng.normal(size=(7, 5)) + 0.1 * rng.normal(size=(T1 + T2, 5))
        scores = (self.previous - 0.5) @ rng.normal(size=7)
        self.y = scores if regression else np.where(scores + 0.1 * rng.normal(size=T1 + T2) > 0, 1.0, -1.0)
        self.previous[T1:] = np.nan
        self.current[: T1 - B] = np.nan
        if unpredictable:
            for j, start in enumerate(rng.integers(T1 - B, T1, size=6)):
                self.previous[start:, j] = np.nan

    def stream(self, regression: bool):
        for p, q, y in zip(self.previous, self.current, self.y):
            x = {f"p{j}": value for j, value in enumerate(p.tolist()) if not math.isnan(value)}
            x |= {f"q{j}": value for j, value in enumerate(q.tolist()) if not math.isnan(value)}
            yield x, float(y) if regression else bool(y > 0)


def transcription(rounds: Rounds, method: str, regression: bool, c: float, radius: float, horizon=None):
    """The paper's section IV-B, on arrays: the predictions of all rounds."""

    def gradient(p, y):
        return -2 * (y - p) if regression else -y / (1 + math.exp(y * p))

    def loss(p, y, seen):
        if regression:
            return min(((p - y) / (max(seen) - min(seen))) ** 2, 1.0)
        return min(math.log(1 + math.exp(-y * p)), 1.0)

    def descend(w, x, y, t):
        w = w - gradient(w @ x, y) / (c * math.sqrt(t)) * x
        return w * min(1.0, radius / np.linalg.norm(w))

    predictions, seen = [], []
    old, new = np.zeros(7), np.zeros(5)
    P1, P2 = np.zeros((5, 5)), np.zeros((5, 7))
    alpha = np.array([0.5, 0.5])  # of the old and the new model
    draws = random.Random(3)
    draw = draws.random()
    for t, (p, q, y) in enumerate(zip(rounds.previous, rounds.current, rounds.y), start=1):
        seen.append(y)
        if t <= T1 - B:
            predictions.append(old @ p)
            old = descend(old, p, y, t)
            draw = draws.random()
        elif t <= T1:
            p = np.where(np.isnan(p), 0.0, p)
            predictions.append(old @ p)
            P1 += np.outer(q, q)
            P2 += np.outer(q, p)
            draw = draws.random()
        else:
            k = t - T1
            psi = np.linalg.solve(P1, P2).T @ q
            both = np.array([old @ psi, new @ q])
            if method == "NOGD":
                predictions.append(both[1])
            elif method in ("ROGD-f", "ROGD-u"):
                predictions.append(both[0])
            elif method == "FESL-c":
                predictions.append(alpha @ both)
            else:
                predictions.append(both[0] if draw <= alpha[0] else both[1])
            losses = np.array([loss(b, y, seen) for b in both])
            T = horizon or k
            if method == "FESL-c":
                alpha = alpha * np.exp(-math.sqrt(8 * math.log(2) / T) * losses)
                alpha /= alpha.sum()
            elif method == "FESL-s":
                T = max(T, 3)
                delta = 1 / (T - 1)
                entropy = -delta * math.log(delta) - (1 - delta) * math.log(1 - delta)
                v = alpha * np.exp(-math.sqrt(8 / T * (2 * math.log(2) + (T - 1) * entropy)) * losses)
                alpha = delta * v.sum() / 2 + (1 - delta) * v
                alpha /= alpha.sum()
                draw = draws.random()
            new = descend(new, q, y, k)
            if method != "ROGD-f":
                old = descend(old, psi, y, k)
    return np.array(predictions)


def make(method: str, regression: bool, **parameters):
    classifier, regressor, choice = METHODS[method]
    return (regressor if regression else classifier)(**choice, **parameters)


def both_ways(method: str, regression: bool, unpredictable: bool, **horizon):
    """Predictions of the model and of the transcription, in all rounds."""
    c, radius = (10.0, 0.8) if regression else (1.0, 1.5)
    model = make(method, regression, c=c, radius=radius, **horizon)
    rounds = Rounds(regression, unpredictable)
    answers = []
    for x, y in rounds.stream(regression):
        answers.append(model.predict_one(x) if regression else model.predict_proba_one(x).get(True, 0.5))
        model.learn_one(x, y)
    expected = transcription(rounds, method, regression, c, radius, **horizon)
    return np.array(answers), expected if regression else 1 / (1 + np.exp(-expected))


BOTH_TASKS = pytest.mark.parametrize("regression", [False, True], ids=["classification", "regression"])
BOTH_SETTINGS = pytest.mark.parametrize("unpredictable", [False, True], ids=["predictable", "unpredictable"])


@BOTH_TASKS
@BOTH_SETTINGS
@pytest.mark.parametrize("method", ["NOGD", "ROGD-f", "ROGD-u"])
def test_equals_its_transcription(method, unpredictable, regression):
    answers, expected = both_ways(method, regression, unpredictable)
    np.testing.assert_allclose(answers, expected, rtol=0, atol=1e-9)


@BOTH_TASKS
@BOTH_SETTINGS
@pytest.mark.parametrize("method", ["FESL-c", "FESL-s"])
@pytest.mark.parametrize("horizon", [None, T2])
@pytest.mark.filterwarnings("ignore:FESL needs an intact overlap")
def test_fesl_equals_its_transcription(method, unpredictable, regression, horizon):
    answers, expected = both_ways(method, regression, unpredictable, horizon=horizon)
    np.testing.assert_allclose(answers, expected, rtol=0, atol=1e-9)


@pytest.mark.parametrize(
    ("model", "successor"),
    [(baselines.FESLClassifier(), PUFEClassifier), (baselines.FESLRegressor(), PUFERegressor)],
)
def test_fesl_warns_once_when_the_overlap_has_gaps(model, successor):
    regression = isinstance(model, base.Regressor)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for x, y in Rounds(regression, unpredictable=True).stream(regression):
            so_far = len(caught)
            model.predict_one(x)
            assert len(caught) == so_far
            model.learn_one(x, y)
    (warning,) = caught
    assert f"{successor.__name__}()" in str(warning.message)
    assert warning.filename == __file__


@pytest.mark.parametrize("model", [baselines.FESLClassifier(), baselines.FESLRegressor()])
def test_fesl_is_silent_when_the_overlap_is_intact(model):
    regression = isinstance(model, base.Regressor)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for x, y in Rounds(regression, unpredictable=False).stream(regression):
            model.learn_one(x, y)


def test_pufe_mixes_the_base_models():
    """Without gaps in the overlap nothing depends on what would fill them."""
    rounds = Rounds(regression=False, unpredictable=False)
    pufe, old, new = PUFEClassifier.paper(), baselines.ROGDClassifier(), baselines.NOGDClassifier()
    for t, (x, y) in enumerate(rounds.stream(regression=False)):
        if t > T1:
            mixture = pufe.predict_proba_one(x)[True]
            low, high = sorted(model.predict_proba_one(x)[True] for model in (old, new))
            assert low - 1e-12 <= mixture <= high + 1e-12
        for model in (pufe, old, new):
            model.learn_one(x, y)


@pytest.mark.parametrize("method", METHODS)
def test_several_classes(method):
    stream = [(x, "abc"[int(t % 3)]) for t, (x, _) in enumerate(datasets.HiddenFactors(n_samples=90, seed=1))]
    model = make(method, regression=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for x, y in stream:
            model.learn_one(x, y)
    answer = model.predict_proba_one(x)
    assert set(answer) == {"a", "b", "c"}
    assert sum(answer.values()) == pytest.approx(1)


def test_zeros_leave_what_was_observed():
    row, absent = np.array([3.0, np.nan, -1.0]), np.array([False, True, False])
    completed = baselines.Zeros().complete(row, absent, FrequentDirections())
    np.testing.assert_array_equal(completed, [3.0, 0.0, -1.0])
    assert np.isnan(row[1])


def test_unknown_strategy():
    with pytest.raises(ValueError, match="'combination' or 'selection'"):
        baselines.FESLClassifier(strategy="both")
