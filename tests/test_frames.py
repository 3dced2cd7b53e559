"""Are frames read as their rows are?"""

from __future__ import annotations

import datetime
import math
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from river import linear_model

from river_pufe import FeatureRecovery, PUFEClassifier, PUFERegressor
from river_pufe.experts import Identity, LinearExperts
from river_pufe.frames import Batch
from river_pufe.recovery.spaces import FeatureSpaces
from river_pufe.values import brief

FRAMES = [pd.DataFrame, pl.DataFrame]
ROWS = [{"a": math.sin(t), "b": math.cos(t)} for t in range(40)]


def known(model):
    """All that a model knows, but not how often it has moved."""
    state = model.state_dict(pickles=True)["model"]
    del state["_version"]
    return state


def taught(scale=1.0):
    model = PUFERegressor()
    for x in ROWS:
        model.learn_one({key: scale * value for key, value in x.items()}, x["a"] + 2 * x["b"])
    return model


@pytest.mark.parametrize("frame", FRAMES)
@pytest.mark.parametrize(
    "values",
    [["1", "2"], [datetime.datetime(2020, 1, 1)] * 2, [datetime.timedelta(1)] * 2],
    ids=["texts", "dates", "spans"],
)
def test_what_is_no_number_in_a_sample_is_none_in_a_frame(frame, values):
    with pytest.raises(ValueError, match=r"feature 'b' has the value .*, which is not a number"):
        Batch(frame({"a": [1.0, 2.0], "b": values}))


@pytest.mark.parametrize(
    "column",
    [
        pd.array([1, None, 3], dtype="Int64"),
        pd.array([True, None, False], dtype="boolean"),
        pd.array([1, None, 3], dtype="object"),
        np.array([1, 2, 3], dtype=np.uint8),
        np.array([1, math.nan, 3], dtype=np.float16),
    ],
    ids=lambda column: str(column.dtype),
)
def test_numbers_of_any_type(column):
    samples = [{"a": value} for value in column]
    assert taught().predict_many(pd.DataFrame({"a": column})).tolist() == pytest.approx(
        [taught().predict_one(x) for x in samples]
    )


@pytest.mark.parametrize("frame", FRAMES)
def test_large_values_are_cut_as_in_a_sample(frame):
    model, xs = taught(scale=1e-12), [{"a": 1e300, "b": 0.0}, {"a": -1e308, "b": 1.0}]
    with np.errstate(over="raise"):
        answers = list(model.predict_many(frame(xs)))
    assert answers == pytest.approx([model.predict_one(x) for x in xs])


def test_a_bad_weight_is_refused_before_anything_is_learned():
    model = taught()
    before = pickle.dumps(model)
    for w in (-1.0, math.nan, math.inf, None, "2", 10**400):
        with pytest.raises(ValueError, match=f"the sample weight w is {brief(w)}"):
            model.learn_many(pd.DataFrame(ROWS), [0.0] * len(ROWS), w=[1.0] * (len(ROWS) - 1) + [w])
        assert pickle.dumps(model) == before


@pytest.mark.parametrize("experts", [LinearExperts(), LinearExperts(maps=(Identity(),))], ids=["all", "rows alone"])
def test_one_frame_is_learned_as_its_rows(experts):
    """Past the row from which on values are judged by what is known of the rows before it."""
    many, single = PUFEClassifier(experts), PUFEClassifier(experts)
    rows = np.random.default_rng(0).normal(size=(64, 2))
    many.learn_many(pd.DataFrame(rows, columns=["a", "b"]), rows[:, 0] > 0)
    for a, b in rows.tolist():
        single.learn_one({"a": a, "b": b}, a > 0)
    np.testing.assert_equal(known(many), known(single))


def test_a_warning_comes_with_the_sample_with_which_it_is_due():
    model = PUFEClassifier(recovery=FeatureRecovery(FeatureSpaces(significance=1, grace=0)))
    for i in range(50):
        model.learn_one({"a": 1.0, f"b {i}": 1.0, f"c {i}": 1.0}, True)
        model.learn_one({"a": 1.0}, True)
    with pytest.warns(UserWarning, match="100 keys were seen once or twice"):
        model.learn_many(pd.DataFrame({"a": [1.0]}), [True])


@settings(deadline=None, max_examples=25)
@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from(
        [
            PUFEClassifier(),
            PUFERegressor(),
            PUFERegressor(absent="zero"),
            PUFEClassifier.paper(),
            PUFEClassifier(LinearExperts(maps=(Identity(),))),
            PUFERegressor(linear_model.LinearRegression()),
        ]
    ),
)
def test_many_samples_are_learned_as_one_after_another(seed, prototype):
    """Through gaps, changes of units and of feature spaces, and whatever the order of the columns."""
    rng = np.random.default_rng(seed)
    many, single, columns = prototype.clone(), prototype.clone(), ["a", "b", "c"]
    for batch in range(5):
        rows = rng.normal(size=(rng.integers(1, 80), len(columns)))
        if batch % 2:
            rows[rng.random(rows.shape) < 0.1] = math.nan
        frame = pd.DataFrame(rows, columns=columns)
        targets = [bool(t % 2) if isinstance(many, PUFEClassifier) else t % 7.0 for t in range(len(rows))]
        many.learn_many(frame, targets)
        for row, target in zip(rows.tolist(), targets):
            single.learn_one(dict(zip(columns, row)), target)
        assert (many.rounds, many.spaces, many.events) == (single.rounds, single.spaces, single.events)
        asked = dict.fromkeys(columns, 0.5)
        assert many.predict_one(asked) == single.predict_one(asked)
        assert many.expert_weights == single.expert_weights
        np.testing.assert_equal(known(many), known(single))
        columns = [*columns[1:], f"new {batch}"] if rng.random() < 0.5 else columns[::-1]


@settings(deadline=None, max_examples=8)
@given(st.integers(0, 2**32 - 1), st.sampled_from([0.01, None]))
def test_long_batches_are_learned_as_one_sample_after_another(seed, min_gain):
    """Past the end of trials and windows, with classes and keys that come late, another concept, and weights."""
    rng = np.random.default_rng(seed)
    experts = LinearExperts(min_gain=min_gain)
    many, single, start = PUFEClassifier(experts), PUFEClassifier(experts), 0
    rows = rng.normal(size=(900, 3))
    targets = np.where(rows[:, 0] * rows[:, 1] > 0, "b", "a").astype(object)
    targets[:400] = np.where(rows[:400, 2] > 0, "b", "a")
    targets[700:] = np.where(rows[700:, 2] > 1, "c", targets[700:])
    rows[800:, 1] = 1e3 * rows[800:, 1]
    weights = rng.choice([0.0, 0.5, 1.0, 2.0], size=900)
    weights[:250] = 1.0
    for stop in [*sorted(rng.choice(900, 5, replace=False).tolist()), 900]:
        frame = pd.DataFrame(rows[start:stop], columns=["u", "v", "w"])
        many.learn_many(frame, targets[start:stop], weights[start:stop])
        for row, target, weight in zip(rows[start:stop].tolist(), targets[start:stop], weights[start:stop]):
            single.learn_one(dict(zip("uvw", row)), target, weight)
        asked = dict(zip("uvw", rng.normal(size=3).tolist()))
        assert many.predict_proba_one(asked) == single.predict_proba_one(asked)
        assert many.debug_one(asked) == single.debug_one(asked)
        assert (many.rounds, many.events, many.expert_weights) == (single.rounds, single.events, single.expert_weights)
        start = stop


@pytest.mark.parametrize("values", [5, None, "ab", {0: 1.0}, np.array(5.0), pd.DataFrame({"y": [1.0, 2.0]})], ids=str)
@pytest.mark.parametrize("name", ["y", "w"])
def test_targets_and_weights_are_a_series_or_list(name, values):
    if name == "w" and values is None:
        return
    model, X = PUFERegressor(), pd.DataFrame({"a": [1.0, 2.0]})
    arguments = {"y": [1.0, 2.0], "w": [1.0, 1.0], name: values}
    before = pickle.dumps(model)
    with pytest.raises(ValueError, match=f"^{name} is .*, it must be a series or list, with one value for each row"):
        model.learn_many(X, **arguments)
    assert pickle.dumps(model) == before


@pytest.mark.parametrize("kind", [list, tuple, iter, np.array, pd.Series])
def test_targets_and_weights_come_in_any_order_that_is_kept(kind):
    model, X = PUFERegressor(), pd.DataFrame({"a": [1.0, 2.0]})
    model.learn_many(X, kind([1.0, 2.0]), kind([1.0, 1.0]))
    assert model.rounds == 2


def test_many_samples_are_answered_before_any_label():
    model, xs = PUFEClassifier(), [{"a": 1.0, "b": float(t)} for t in range(30)]
    for x in xs:
        model.observe_one(x)
    assert model.predict_proba_many(pd.DataFrame(xs)).to_dict("records") == [model.predict_proba_one(x) for x in xs]
