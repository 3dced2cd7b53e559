"""Does a sample mean the same in another form?"""

from __future__ import annotations

import decimal
import fractions
import math
import random
import typing
from collections.abc import Callable

import numpy as np

from .playing import STRANGER, Sample, Samples, ask, assert_same, fresh, is_transformer, pandas_na, samples_for, teach

_ABSENT_VALUES: list[typing.Any] = [None, math.nan, np.float32("nan"), decimal.Decimal("NaN")]


def _assert_twins(
    model: typing.Any,
    twin: typing.Any,
    why: str,
    change: Callable[[Sample, typing.Any], tuple[Sample, typing.Any]],
    back: Callable[[typing.Any], typing.Any] = lambda answer: answer,
    samples: Samples | None = None,
    exact: bool = True,
) -> None:
    """Assert that two models give the same answers where one of them gets each sample in another form."""
    for x, y in samples or samples_for(model):
        changed, target = change(x, y)
        assert_same(ask(model, dict(x)), back(ask(twin, dict(changed))), exact, why)
        teach(model, dict(x), y)
        teach(twin, changed, target)


def check_key_order_changes_nothing(model: typing.Any) -> None:
    """The order of the keys in a sample changes no answer, but for rounding."""
    rng = random.Random(7)

    def shuffle(x: Sample, y: typing.Any) -> tuple[typing.Any, typing.Any]:
        return {key: x[key] for key in rng.sample(list(x), len(x))}, y

    _assert_twins(fresh(model), fresh(model), "the order of the keys counts", shuffle, exact=False)


def check_key_names_change_nothing(model: typing.Any) -> None:
    """The names and types of the keys change no answer, but for rounding, not even if no order is defined on them."""
    names: dict[typing.Hashable, typing.Hashable] = {}
    # Some of these look alike as strings, others are equal to nothing else, and few can be compared.
    forms: tuple[Callable[[int], typing.Hashable], ...] = (int, str, lambda i: (i,), lambda i: frozenset({i}))

    def rename(x: Sample, y: typing.Any) -> tuple[typing.Any, typing.Any]:
        for key in x:
            i = len(names)
            names.setdefault(key, forms[i % len(forms)](i // len(forms)))
        return {names[key]: value for key, value in x.items()}, y

    def back(answer: typing.Any) -> typing.Any:
        if is_transformer(model):
            keys = {name: key for key, name in names.items()}
            return {keys.get(name, name): value for name, value in answer.items()}
        return answer

    _assert_twins(fresh(model), fresh(model), "the names of the keys count", rename, back, exact=False)


def check_number_types_change_nothing(model: typing.Any) -> None:
    """Bools, ints, `Decimal`, `Fraction`, NumPy scalars and labels mean what the plain number or label means."""
    rng = random.Random(7)

    def quarters(value: typing.Any) -> typing.Any:
        return round(4 * value) / 4 if isinstance(value, float) else value

    def retype(value: typing.Any) -> typing.Any:
        if isinstance(value, bool | str):
            return np.array(value)[()]
        forms: list[Callable[[float], typing.Any]] = [np.float64, np.float32, fractions.Fraction, decimal.Decimal]
        if value.is_integer():
            forms += [int, np.int32, *([bool, np.bool_] if value in (0, 1) else [])]
        return rng.choice(forms)(value)

    def change(x: Sample, y: typing.Any) -> tuple[typing.Any, typing.Any]:
        return {key: retype(value) for key, value in x.items()}, retype(y)

    samples = tuple(({key: quarters(v) for key, v in x.items()}, quarters(y)) for x, y in samples_for(model))
    transforms = is_transformer(model)

    def back(answer: typing.Any) -> typing.Any:
        # A transformer may hand on what it was given.
        return {key: float(value) for key, value in answer.items()} if transforms else answer

    _assert_twins(fresh(model), fresh(model), "the types of numbers count", change, back, samples)


def check_absent_values_change_nothing(model: typing.Any) -> None:
    """`None`, NaN and `pandas.NA` mean what the absence of the key means, and none of them sticks."""
    rng = random.Random(7)
    absent_values = [*_ABSENT_VALUES, *pandas_na()]
    known: dict[typing.Hashable, None] = {STRANGER: None}

    def write(x: Sample, y: typing.Any) -> tuple[typing.Any, typing.Any]:
        known.update(dict.fromkeys(x))
        return {**x, **{key: rng.choice(absent_values) for key in known if key not in x}}, y

    _assert_twins(fresh(model), fresh(model), "it counts how absence is written", write)
