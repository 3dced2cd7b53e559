"""How do the checks make any model learn and answer?"""

from __future__ import annotations

import functools
import math
import typing
from collections.abc import Callable, Iterator

from river import base
from river.checks.utils import seed_params

from ..datasets import CapriciousStream, Cycle, HiddenFactors

Sample = dict[typing.Any, typing.Any]
Samples = tuple[tuple[Sample, typing.Any], ...]
Look = Callable[..., typing.Any]

_LOOKS = ("predict_one", "predict_proba_one", "transform_one", "recover_one", "debug_one")
#: No sample of any check has this key, unless it says so.
STRANGER = "a key that nobody has seen"


def fresh(model: typing.Any) -> typing.Any:
    """A clone that has learned nothing, with all seeds set, so that two of them are equal."""
    return model.clone(seed_params(model._get_params(), seed=42))


def teach(model: typing.Any, x: Sample, y: typing.Any) -> None:
    """Learn from a sample, and from its target if the model wants one."""
    if model._supervised:
        model.learn_one(x, y)
    else:
        model.learn_one(x)


def ask(model: typing.Any, x: Sample) -> typing.Any:
    """Probabilities if the model knows some, or a prediction, or the sample transformed."""
    if is_classifier(model):
        try:
            return model.predict_proba_one(x)
        except NotImplementedError:
            return model.predict_one(x)
    return model.predict_one(x) if isinstance(model, base.Regressor) else model.transform_one(x)


def play(model: typing.Any, samples: Samples) -> list[typing.Any]:
    """Answers to one sample after another, each before it is learned from."""
    answers = []
    for x, y in samples:
        answers.append(ask(model, dict(x)))
        teach(model, dict(x), y)
    return answers


def is_classifier(model: typing.Any) -> bool:
    return isinstance(model, base.Classifier)


def is_transformer(model: typing.Any) -> bool:
    return isinstance(model, base.Transformer | base.SupervisedTransformer)


def looks_of(model: typing.Any) -> Iterator[tuple[str, Look]]:
    """All that reads a sample and must not learn from it."""
    for name in _LOOKS:
        look = getattr(model, name, None)
        # A classifier need not know probabilities.
        if look is not None and getattr(look, "__func__", None) is not base.Classifier.predict_proba_one:
            yield name, look


def samples_for(model: typing.Any, n: int = 150) -> Samples:
    """Three spaces that follow each other, keys missing now and then, and targets that suit the model."""
    if is_classifier(model):
        return _draw("classes" if model._multiclass else "bools", n)
    return _draw("numbers", n)


@functools.cache
def _draw(targets: str, n: int) -> Samples:
    cycle = Cycle(n_spaces=3, period=n // 3, overlap=n // 12)
    stream = HiddenFactors(cycle, n_factors=2, width=4, noise=0.1, regression=True, n_samples=n, seed=1)
    turn: dict[str, Callable[[int, float], typing.Any]] = {
        "numbers": lambda t, y: y,
        "bools": lambda t, y: y > 0,
        # The third class comes late.
        "classes": lambda t, y: "c" if t > n // 2 and abs(y) < 0.3 else "ab"[y > 0],
    }
    return tuple((x, turn[targets](t, y)) for t, (x, y) in enumerate(CapriciousStream(stream, missing=0.1, seed=1)))


def assert_same(a: typing.Any, b: typing.Any, exact: bool, why: str) -> None:
    """Assert that two answers agree: to the bit, types included, or but for rounding."""
    if isinstance(a, dict) and isinstance(b, dict):
        assert {(type(key), key) for key in a} == {(type(key), key) for key in b}, f"{why}: {a} against {b}"
        for key in a:
            assert_same(a[key], b[key], exact, why)
    else:
        rounded = not exact and isinstance(a, float) and isinstance(b, float)
        same = math.isclose(a, b, rel_tol=1e-6, abs_tol=1e-9) if rounded else a == b and type(a) is type(b)
        assert same, f"{why}: {a!r} against {b!r}"


def pandas_na() -> list[typing.Any]:
    try:
        import pandas as pd
    except ImportError:
        return []
    return [pd.NA, pd.NaT]
