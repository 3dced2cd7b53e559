"""Are answers, and weights of experts, what they should be?"""

from __future__ import annotations

import fractions
import math
import random
import typing

import numpy as np
from river import base

from .playing import Sample, ask, fresh, is_classifier, is_transformer, samples_for, teach

_EXTREMES = (0.0, 1e308, -1e308, 1e-308, 5e-324, 10**400, fractions.Fraction(-(10**400), 3), True, np.int64(2**62))


def check_answers_are_plain(model: typing.Any) -> None:
    """Answers are `float`, `bool`, dicts of them, or labels as they were given; probabilities sum to 1."""
    model = fresh(model)
    labels: set[typing.Any] = set()
    for x, y in samples_for(model):
        _assert_plain(model, ask(model, dict(x)), labels)
        if is_classifier(model) and labels:
            label = model.predict_one(dict(x))
            assert (type(label), label) in {(type(seen), seen) for seen in labels}, f"no label was {label!r}"
        assert _learn_returns_none(model, dict(x), y), "learn_one returns something"
        labels |= {False, True} if isinstance(y, bool) else {y}


def _learn_returns_none(model: typing.Any, x: Sample, y: typing.Any) -> bool:
    return (model.learn_one(x, y) if model._supervised else model.learn_one(x)) is None


def _assert_plain(model: typing.Any, answer: typing.Any, labels: set[typing.Any] | None = None) -> None:
    if is_classifier(model):
        if not isinstance(answer, dict):
            return  # It knows no probabilities; labels are looked at elsewhere.
        for label, probability in answer.items():
            assert labels is None or label in (labels or {False, True}), f"no label was {label!r}"
            assert type(probability) is float, f"a probability is of type {type(probability).__name__}"
            assert 0.0 <= probability <= 1.0, f"a probability is {probability!r}"
        assert not answer or math.isclose(sum(answer.values()), 1.0), f"{answer} does not sum to 1"
    elif isinstance(model, base.Regressor):
        assert type(answer) is float, f"the answer is of type {type(answer).__name__}"
        assert math.isfinite(answer), f"the answer is {answer!r}"
    else:
        assert type(answer) is dict, f"the answer is of type {type(answer).__name__}"
        for key, value in answer.items():
            assert type(value) in (float, int, bool), f"{key!r} is answered with a {type(value).__name__}"
            assert math.isfinite(value), f"{key!r} is answered with {value!r}"


def check_answers_are_finite(model: typing.Any) -> None:
    """No dict of numbers, however large, small or empty, leads to an error or to an answer that is not finite."""
    transforms = is_transformer(model)
    rng = random.Random(7)
    model = fresh(model)
    for t, (x, y) in enumerate(samples_for(model)):
        extreme: Sample = {}
        if t % 5 < 3 and t > 3:
            extreme = {key: rng.choice(_EXTREMES) if rng.random() < 0.5 else value for key, value in x.items()}
        target = rng.choice((1e308, -1e308, 0.0)) if isinstance(y, float) and t % 7 == 0 else y
        for sample, label in [(x, y), (extreme, target)]:
            answer = ask(model, dict(sample))
            if transforms:
                # What was given is handed on as it is.
                answer = {key: value for key, value in answer.items() if key not in sample}
            _assert_plain(model, answer)
            teach(model, dict(sample), label)


def check_expert_weights(model: typing.Any) -> None:
    """The weights of the experts are floats from 0 on, and sum to 1, whatever the losses were."""
    model = fresh(model)
    for t, (x, y) in enumerate(samples_for(model)):
        weights = model.expert_weights
        assert all(type(name) is str for name in weights), f"the experts are called {list(weights)}"
        assert all(type(weight) is float for weight in weights.values()), f"weights are not floats: {weights}"
        assert all(0.0 <= weight < math.inf for weight in weights.values()), f"weights are {weights}"
        assert math.isclose(sum(weights.values()), 1.0, rel_tol=1e-9), f"in round {t} the weights sum to {weights}"
        scale = (1.0, 1.0, 1.0, 0.0, 1e9)[t % 5]
        target = y * scale if isinstance(y, float) else y
        teach(model, {key: value * scale for key, value in x.items()}, target)
