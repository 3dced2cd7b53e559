"""SF2EL is what is recalled of its paper."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest

from river_pufe import baselines

T1, B, T2 = 50, 10, 40
LABELLED = 3


class Model:
    """The online manifold regularization of a linear model, on arrays."""

    def __init__(self, d, c, ridge, smoothness, budget, regression):
        self.w, self.buffer, self.rng = np.zeros(d), [], random.Random(7)
        self.c, self.ridge, self.smoothness, self.budget, self.regression = c, ridge, smoothness, budget, regression
        self.t = self.seen = self.labels = 0

    def learn(self, x, y=None):
        self.t, self.seen = self.t + 1, self.seen + 1
        slope = self.ridge * self.w
        for other in self.buffer:
            k = math.exp(-np.sum((other - x) ** 2) / (2 * len(x)))
            apart = self.w @ other - self.w @ x
            slope = slope + self.smoothness * (self.seen - 1) / len(self.buffer) * k * apart * (other - x)
        if y is not None:
            self.labels += 1
            f = self.w @ x
            of_loss = -2 * (y - f) * x if self.regression else -y / (1 + math.exp(y * f)) * x
            slope = slope + self.seen / self.labels * of_loss
        self.w = self.w - slope / (self.c * math.sqrt(self.t))
        if len(self.buffer) < self.budget:
            self.buffer.append(x)
        elif (place := self.rng.randrange(self.seen)) < self.budget:
            self.buffer[place] = x


def transcription(previous, current, y, regression, **parameters):
    old, new = Model(previous.shape[1], regression=regression, **parameters), None
    new = Model(current.shape[1], regression=regression, **parameters)
    P1, P2 = np.zeros((new.w.size, new.w.size)), np.zeros((new.w.size, old.w.size))
    logs, rounds, seen, said = np.zeros(2), 0, [], []
    for t, (p, q, target) in enumerate(zip(previous, current, y)):
        label = target if t % LABELLED == 0 else None
        if label is not None:
            seen.append(label)
        if t < T1 - B:
            said.append(old.w @ p)
            old.learn(p, label)
        elif t < T1:
            said.append(old.w @ p)
            P1, P2 = P1 + np.outer(q, q), P2 + np.outer(q, p)
        else:
            if t == T1:
                old.t = new.t = 0
            psi = np.linalg.solve(P1, P2).T @ q
            both = np.array([old.w @ psi, new.w @ q])
            alpha = np.exp(logs) / np.exp(logs).sum()
            said.append(alpha @ both)
            if label is not None:
                rounds += 1
                if regression:
                    losses = np.minimum(np.abs(both - label) / ((max(seen) - min(seen)) or 1.0), 1.0) ** 2
                else:
                    losses = np.minimum(np.log(1 + np.exp(-label * both)), 1.0)
                logs = logs - math.sqrt(8 * math.log(2) / rounds) * losses
            new.learn(q, label)
            old.learn(psi, label)
    return np.array(said)


@pytest.mark.parametrize("regression", [False, True], ids=["classification", "regression"])
def test_equals_its_transcription(regression):
    rng = np.random.default_rng(2)
    previous = rng.normal(size=(T1 + T2, 4))
    current = previous @ rng.normal(size=(4, 3)) + 0.1 * rng.normal(size=(T1 + T2, 3))
    y = previous @ rng.normal(size=4)
    y = y if regression else np.where(y > 0, 1.0, -1.0)
    parameters = {"c": 10.0, "ridge": 0.02, "smoothness": 1e-2, "budget": 15}
    model = (baselines.SF2ELRegressor if regression else baselines.SF2ELClassifier)(**parameters, seed=7)
    said = []
    for t in range(T1 + T2):
        x = {f"p{j}": v for j, v in enumerate(previous[t].tolist())} if t < T1 else {}
        x |= {f"q{j}": v for j, v in enumerate(current[t].tolist())} if t >= T1 - B else {}
        answer = model.predict_one(x) if regression else model.predict_proba_one(x).get(True, 0.5)
        said.append(answer if regression else math.log(answer / (1 - answer)))
        if t % LABELLED:
            model.observe_one(x)
        else:
            model.learn_one(x, float(y[t]) if regression else bool(y[t] > 0))
    expected = transcription(previous, current, y, regression, **parameters)
    np.testing.assert_allclose(said, expected, rtol=0, atol=1e-8)


def test_samples_without_a_label_teach_to_answer_alike():
    """What two labels say of a feature that differs among similar samples is unlearned from samples without labels."""
    answers = []
    for smoothness in (0.0, 0.01):
        rng = np.random.default_rng(3)
        model = baselines.SF2ELClassifier(smoothness=smoothness, ridge=0.0, width=3.0, seed=1)
        for label in (False, True):
            side = 1.0 if label else -1.0
            model.learn_one({"group": 20.0 * side, "noise": side}, label)
        for _ in range(200):
            model.observe_one({"group": 20.0 * float(rng.choice([-1, 1])), "noise": float(rng.normal())})
        answers.append([model.predict_proba_one(x)[True] for x in ({"group": 20.0}, {"noise": 100.0})])
    (group, noise), (smooth_group, smooth_noise) = answers
    assert smooth_group == pytest.approx(group, abs=0.01)
    assert 0.5 < smooth_noise < noise - 0.1


@pytest.mark.parametrize(
    "parameters", [{"c": 0}, {"ridge": -1}, {"smoothness": -1}, {"width": 0}, {"budget": 0}, {"horizon": 0}]
)
def test_parameters_are_checked(parameters):
    with pytest.raises(ValueError, match=next(iter(parameters))):
        baselines.SF2ELClassifier(**parameters)
