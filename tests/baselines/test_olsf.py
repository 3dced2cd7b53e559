"""OLSF is what its paper says it is."""

from __future__ import annotations

import numpy as np
import pytest
from plain import haphazard, scores, stream

from river_pufe import baselines


def transcription(X, y, variant, C, B, radius):
    """Algorithms 1 to 3 of the paper, key by key."""
    w, said = {}, []
    for row, target in zip(X, y):
        x = {j: v for j, v in enumerate(row) if not np.isnan(v)}
        f = sum(w[j] * v for j, v in x.items() if j in w)
        said.append(f)
        loss, square = max(0.0, 1 - target * f), sum(v * v for v in x.values())
        if square == 0:
            continue
        tau = {"": loss / square, "I": min(C, loss / square), "II": loss / (square + 1 / (2 * C))}[variant]
        for j, v in x.items():
            w[j] = w.get(j, 0.0) + tau * target * v
        norm = sum(map(abs, w.values()))
        w = {j: min(1.0, radius / norm) * v if norm else v for j, v in w.items()}
        if sum(v != 0 for v in w.values()) >= B * len(w):
            stay = sorted(w, key=lambda j: abs(w[j]), reverse=True)[: max(1, int(B * len(w)))]
            w = {j: v if j in stay else 0.0 for j, v in w.items()}
    return np.array(said), w


@pytest.mark.parametrize("variant", ["", "I", "II"])
@pytest.mark.parametrize(("B", "radius"), [(1.0, 30.0), (0.5, 0.4), (0.01, 1.0)])
def test_equals_its_transcription(variant, B, radius):
    X, y = haphazard()
    model = baselines.OLSFClassifier(variant, C=0.2, B=B, radius=radius)
    expected, weights = transcription(X, y, variant, 0.2, B, radius)
    np.testing.assert_allclose(scores(model, X, y), expected, rtol=0, atol=1e-9)
    assert model.weights == pytest.approx({f"f{j}": w for j, w in weights.items()}, abs=1e-12)


def test_the_plain_variant_makes_each_sample_right():
    X, y = haphazard(p=1.0)
    model = baselines.OLSFClassifier(radius=1e9)
    for x, target in stream(X, y):
        model.learn_one(x, target)
        margin = (1.0 if target else -1.0) * sum(model.weights[key] * value for key, value in x.items())
        assert margin >= 1.0 - 1e-9


def test_weights_of_opposite_signs_are_cut_alike():
    X, y = haphazard(p=1.0)
    models = baselines.OLSFClassifier(B=0.5), baselines.OLSFClassifier(B=0.5)
    for x, target in stream(X, y):
        models[0].learn_one(x, target)
        models[1].learn_one(x, not target)
    assert models[0].weights == pytest.approx({key: -w for key, w in models[1].weights.items()})
    assert 0.0 in models[0].weights.values()


@pytest.mark.parametrize("parameters", [{"variant": "III"}, {"C": 0}, {"B": 0}, {"B": 1.1}, {"radius": 0}])
def test_parameters_are_checked(parameters):
    with pytest.raises(ValueError, match=str(next(iter(parameters)))):
        baselines.OLSFClassifier(**parameters)
