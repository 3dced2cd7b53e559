"""Are absent and vanished features recovered as they would have read?"""

from __future__ import annotations

import random
import typing

import numpy as np

from .playing import Sample, fresh, is_classifier, teach


def check_recovery(model: typing.Any) -> None:
    """Where the current features determine the gone ones linearly, `recover_one` tells what those would have read.

    To within 5 % of their standard deviation, after an overlap of 60 rounds without gaps, and without noise.
    """
    model = fresh(model)
    samples = _two_readings(n=270)
    for t, (old, new, y) in enumerate(samples):
        teach(model, {**(old if t < 210 else {}), **(new if t >= 150 else {})}, y > 0 if is_classifier(model) else y)
    recovered = [model.recover_one(dict(new)) for _, new, _ in samples]
    _assert_near(recovered, [old for old, _, _ in samples], "recovered")


def check_completion(model: typing.Any) -> None:
    """Where the present features determine the absent ones linearly, `transform_one` tells what those would have read.

    To within 5 % of their standard deviation, after 300 rounds without gaps, and without noise.
    """
    model = fresh(model)
    samples = _two_readings(n=300)
    for old, new, y in samples:
        teach(model, {**old, **new}, y)
    for absent in samples[0][0]:
        present = [{key: value for key, value in {**old, **new}.items() if key != absent} for old, new, _ in samples]
        completed = [model.transform_one(x) for x in present]
        assert all(absent in x for x in completed), f"{absent!r} is not completed"
        truth = [{absent: old[absent]} for old, _, _ in samples]
        _assert_near([{absent: x[absent]} for x in completed], truth, "completed")


def _two_readings(n: int) -> list[tuple[Sample, Sample, float]]:
    """Old and new sensors that read the same two things, and a target."""
    rng = random.Random(7)
    readings = []
    for _ in range(n):
        a, b = rng.uniform(-1, 1), rng.uniform(-1, 1)
        old = {"old 1": a + b, "old 2": a - b, "old 3": a}
        readings.append((old, {"new 1": 2 * a, "new 2": b, "new 3": b - a}, a + 2 * b))
    return readings


def _assert_near(known: list[Sample], truth: list[Sample], how: str) -> None:
    keys = truth[0].keys()
    assert all(x.keys() == keys for x in known), f"{list(known[0])} are {how} instead of {list(keys)}"
    for key in keys:
        values = np.array([x[key] for x in truth])
        error = np.sqrt(np.mean((np.array([x[key] for x in known]) - values) ** 2)) / np.std(values)
        assert error < 0.05, f"{key!r} is {how} with an error of {error:.3f} standard deviations"
