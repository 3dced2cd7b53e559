"""Is a model what it was after a model that it wraps has raised an error?"""

from __future__ import annotations

import random

import pandas as pd
import pytest
from river import linear_model

from river_pufe import PUFEClassifier, PUFERegressor
from river_pufe.experts import LinearExperts
from river_pufe.undo import Undo


class FragileClassifier(linear_model.LogisticRegression):
    copies = 0

    def __deepcopy__(self, memo):
        FragileClassifier.copies += 1
        twin = type(self)()
        vars(twin).update(vars(linear_model.LogisticRegression.clone(self, include_attributes=True)))
        return twin

    def learn_one(self, x, y, w=1.0):
        super().learn_one(x, y, w)
        if any(value > 100 for value in x.values()):
            raise RuntimeError("too large")


class FragileRegressor(linear_model.LinearRegression):
    def learn_one(self, x, y, w=1.0):
        super().learn_one(x, y, w)
        if any(value > 100 for value in x.values()):
            raise RuntimeError("too large")


def stream(n):
    rng = random.Random(1)
    for t in range(n):
        keys = "ab" if t < n // 2 - 5 else "abcd" if t < n // 2 + 5 else "cd"
        yield {key: rng.random() for key in keys}, rng.random() < 0.5


def assert_same(model, twin, x):
    assert model.predict_one(x) == twin.predict_one(x)
    assert model.expert_weights == twin.expert_weights
    assert (model.rounds, model.spaces, model.events) == (twin.rounds, twin.spaces, twin.events)


MAKERS = [
    pytest.param(lambda: PUFEClassifier(FragileClassifier()), id="classifier"),
    pytest.param(lambda: PUFERegressor([LinearExperts(), FragileRegressor(), FragileRegressor()]), id="pool"),
]


@pytest.mark.parametrize("make", MAKERS)
def test_all_that_a_sample_changed_is_taken_back(make):
    model, twin = make(), make()
    for t, (x, y) in enumerate(stream(150)):
        if t in (0, 1, 63, 64, 65, 76, 149):
            for bad in ({**x, "new": 1e3}, {**x, next(iter(x)): 101.0}):
                with pytest.raises(RuntimeError, match="too large"):
                    model.learn_one(bad, not y)
                assert_same(model, twin, x)
        if t % 5 == 0:
            model.observe_one(x)
            twin.observe_one(x)
        model.learn_one(x, y)
        twin.learn_one(x, y)
        assert_same(model, twin, x)


@pytest.mark.parametrize("make", MAKERS)
def test_nothing_is_learned_from_a_frame_with_such_a_row(make):
    model, twin = make(), make()
    rows, targets = zip(*stream(20))
    for one in (model, twin):
        one.learn_many(pd.DataFrame(rows[:10]), pd.Series(targets[:10]))
    with pytest.raises(RuntimeError, match="too large"):
        model.learn_many(pd.DataFrame([*rows[10:], {"c": 1e3, "d": 1.0}]), pd.Series([*targets[10:], True]))
    assert_same(model, twin, rows[10])


def test_copies_are_rare_where_all_goes_well():
    model = PUFEClassifier(FragileClassifier())
    FragileClassifier.copies = 0
    for _ in range(2):
        for x, y in stream(600):
            model.learn_one(x, y)
    assert FragileClassifier.copies < 60


def test_a_model_in_which_nothing_can_raise_is_never_copied(monkeypatch):
    def refuse(*_):
        raise AssertionError

    for name in ("prepare", "renew", "note", "take_back"):
        monkeypatch.setattr(Undo, name, refuse)
    model = PUFEClassifier()
    for x, y in stream(20):
        model.learn_one(x, y)
        model.observe_one(x)
    model.learn_many(pd.DataFrame([x for x, _ in stream(10)]), [y for _, y in stream(10)])
    assert model.rounds == 50
