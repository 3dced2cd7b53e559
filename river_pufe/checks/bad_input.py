"""Is invalid input refused, with a message that names it, and is the model unchanged afterwards?"""

from __future__ import annotations

import decimal
import functools
import math
import pickle
import typing
from collections.abc import Iterator

import numpy as np
from river import base

from .playing import STRANGER, Look, Sample, fresh, looks_of, pandas_na, samples_for, teach

_BAD_VALUES = (
    "text",
    b"bytes",
    [1.0],
    {"nested": 1.0},
    (1.0, 2.0),
    1j,
    np.array([1.0, 2.0]),
    np.timedelta64(1, "s"),
    math.inf,
    -math.inf,
    np.float64("inf"),
    decimal.Decimal("Infinity"),
)


def check_bad_values_are_rejected(model: typing.Any) -> None:
    """A value that is not a finite number raises an error that names key and value, before anything has changed."""
    model = fresh(model)
    seen: set[typing.Hashable] = set()
    for t, (x, y) in enumerate(samples_for(model)):
        if t % 20 == 0 or not seen.issuperset(x):
            before = pickle.dumps(model)
            for i, value in enumerate(_BAD_VALUES):
                key = STRANGER if i % 3 == 2 else list(x)[i % len(x)]
                learn: Look = functools.partial(teach, model, y=y)
                for name, method in [("learn_one", learn), *looks_of(model), *_observes(model)]:
                    refused = _refused(method, {**x, key: value}, repr(key), repr(value))
                    why = f"{name} accepts {value!r} under the key {key!r}, or does not say what is wrong with it"
                    assert refused, why
                    assert pickle.dumps(model) == before, f"{name} has changed the model, and then rejected {value!r}"
        seen.update(x)
        teach(model, dict(x), y)


def _observes(model: typing.Any) -> Iterator[tuple[str, Look]]:
    if hasattr(model, "observe_one"):
        yield "observe_one", model.observe_one


def _refused(method: Look, x: Sample, *named: str) -> bool:
    """Whether a call fails with a message that names what it should."""
    try:
        method(x)
    except (ValueError, TypeError) as error:
        return all(name in str(error) for name in named)
    return False


def check_bad_targets_are_rejected(model: typing.Any) -> None:
    """A target that is not valid raises an error that names it, before anything has changed."""
    bad: list[typing.Any] = [None, math.nan, np.float64("nan"), [1.0], *pandas_na()[:1]]
    if isinstance(model, base.Regressor):
        bad += [math.inf, -math.inf, "text", decimal.Decimal("Infinity")]
    model = fresh(model)
    for t, (x, y) in enumerate(samples_for(model)):
        if t % 10 == 0:
            before = pickle.dumps(model)
            for target in bad:
                refused = _refused(functools.partial(teach, model, y=target), {**x, STRANGER: 1.0}, repr(target))
                assert refused, f"learn_one accepts {target!r} as a target, or does not say what is wrong with it"
                assert pickle.dumps(model) == before, f"learn_one has changed the model, and then rejected {target!r}"
        teach(model, dict(x), y)


def check_bad_weights_are_rejected(model: typing.Any) -> None:
    """A sample weight that is below 0 or not finite raises an error that names it, before anything has changed."""
    model = fresh(model)
    for t, (x, y) in enumerate(samples_for(model)):
        if t % 10 == 0:
            before = pickle.dumps(model)
            for w in (-1.0, math.nan, math.inf):
                weigh = functools.partial(model.learn_one, y=y, w=w) if model._supervised else None
                refused = _refused(weigh or functools.partial(model.learn_one, w=w), {**x, STRANGER: 1.0}, repr(w))
                assert refused, f"learn_one accepts {w!r} as a weight, or does not say what is wrong with it"
                assert pickle.dumps(model) == before, f"learn_one has changed the model, and then rejected {w!r}"
        teach(model, dict(x), y)
