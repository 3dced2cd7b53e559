"""OLVF is what is recalled of its paper."""

from __future__ import annotations

import math

import numpy as np
import pytest
from plain import haphazard, scores, stream

from river_pufe import baselines


def transcription(X, y, C, C_bar, B, radius):
    """Key by key: w classifies samples, v the sets of keys that they have."""
    w, v, said = {}, {}, []
    for row, target in zip(X, y):
        x = {j: value for j, value in enumerate(row) if not np.isnan(value)}
        f = sum(w[j] * value for j, value in x.items() if j in w)
        said.append(f)
        own = sum(v.get(j, 0.0) for j in x)
        p_w, p_x = (1 / (1 + math.exp(-s)) for s in (sum(v.values()), own))
        right = 1.0 if target * f > 0 else -1.0
        slopes = {j: -right / (1 + math.exp(right * own)) for j in x}
        square = sum(g * g for g in slopes.values())
        if square:
            size = min(C_bar, math.log(1 + math.exp(-right * own)) / square)
            new_v = v | {j: v.get(j, 0.0) - size * g for j, g in slopes.items()}
        else:
            new_v = v
        square = sum(value * value for value in x.values())
        if square:
            tau = min(C, max(0.0, 1 - target * f) / square)
            w = w | {j: w.get(j, 0.0) + (p_w if j in w else p_x) * tau * target * value for j, value in x.items()}
        v = new_v
        norm = sum(abs(v[j] * w[j]) for j in w)
        w = {j: value * (min(1.0, radius / norm) if norm else 1.0) for j, value in w.items()}
        stay = sorted(w, key=lambda j: abs(w[j]), reverse=True)[: max(1, int(B * len(w)))]
        w = {j: value if j in stay else 0.0 for j, value in w.items()}
    return np.array(said)


@pytest.mark.parametrize(("C", "C_bar"), [(0.1, 0.01), (1.0, 1.0), (0.5, 0.0)])
@pytest.mark.parametrize(("B", "radius"), [(1.0, 30.0), (0.5, 0.05)])
def test_equals_its_transcription(C, C_bar, B, radius):
    X, y = haphazard(seed=1)
    model = baselines.OLVFClassifier(C, C_bar, B, radius)
    np.testing.assert_allclose(scores(model, X, y), transcription(X, y, C, C_bar, B, radius), rtol=0, atol=1e-9)


def test_without_confidence_it_is_olsf_at_half_the_pace():
    X, y = haphazard(seed=2)
    models = baselines.OLVFClassifier(C=1e9, C_bar=0.0), baselines.OLSFClassifier()
    for x, target in list(stream(X, y))[:1]:
        for model in models:
            model.learn_one(x, target)
    assert models[0].weights == pytest.approx({key: 0.5 * w for key, w in models[1].weights.items()})


@pytest.mark.parametrize("parameters", [{"C": 0}, {"C_bar": -1}, {"B": 0}, {"radius": 0}])
def test_parameters_are_checked(parameters):
    with pytest.raises(ValueError, match=next(iter(parameters))):
        baselines.OLVFClassifier(**parameters)
