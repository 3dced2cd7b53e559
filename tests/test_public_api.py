"""Does what a user imports say what it is, refuse what it cannot do, and answer as promised?"""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.resources
import inspect
import itertools
import math
import pkgutil
import re

import numpy as np
import pytest
from river import base, linear_model

import river_pufe
from river_pufe import FeatureRecovery, PUFEClassifier, PUFERegressor
from river_pufe.aggregation import AdaNormalHedge, Hedge
from river_pufe.baselines import (
    FESLClassifier,
    FESLRegressor,
    NOGDClassifier,
    NOGDRegressor,
    ROGDClassifier,
    ROGDRegressor,
)
from river_pufe.experts import LinearExperts
from river_pufe.experts.learners import OnlineGradientDescent
from river_pufe.experts.per_space import SpaceExperts
from river_pufe.recovery.completion import RowSpace
from river_pufe.recovery.gaussian_rows import GaussianRows
from river_pufe.recovery.linear_map import LinearMap
from river_pufe.recovery.scaling import RowScaler
from river_pufe.recovery.spaces import FeatureSpaces
from river_pufe.sketch import FrequentDirections

MODULES = ("aggregation", "baselines", "checks", "datasets", "plot", "sketch", "state")
SECTIONS = ("**When to use it.**", "Parameters", "Attributes", "Returns", "Raises", "Examples", "References")


def of_module(name):
    """What a public module offers."""
    module = importlib.import_module(f"river_pufe.{name}")
    offered = getattr(module, "__all__", None) or [
        name
        for name, thing in vars(module).items()
        if not name.startswith("_") and callable(thing) and getattr(thing, "__module__", "") == module.__name__
    ]
    return [pytest.param(getattr(module, thing), id=f"{name}.{thing}") for thing in offered if thing[0] != "_"]


TOP = [PUFEClassifier, PUFERegressor, FeatureRecovery]
PUBLIC = [*(pytest.param(thing, id=thing.__name__) for thing in TOP), *itertools.chain(*map(of_module, MODULES))]
CLASSES = [case for case in PUBLIC if inspect.isclass(case.values[0])]


def sections(thing):
    """Sections of a docstring, in the order in which they stand."""
    lines = (inspect.getdoc(thing) or "").splitlines()
    for line, below in itertools.pairwise([*lines, ""]):
        if line.startswith(SECTIONS[0]):
            yield SECTIONS[0]
        elif re.fullmatch("-{3,}", below):
            yield line


def entries(thing, section):
    """Names that a section of a docstring describes."""
    text = re.search(rf"^{section}\n-+\n(.*?)(?=^\S+\n---|\Z)", inspect.getdoc(thing) or "", re.M | re.S)
    return re.findall(r"^(\w+)$", text[1], re.M) if text else []


def test_top_level():
    assert sorted(river_pufe.__all__) == sorted([*MODULES, *(thing.__name__ for thing in TOP)])
    for name in river_pufe.__all__:
        assert getattr(river_pufe, name).__doc__


def test_version_is_that_of_the_metadata():
    assert river_pufe.__version__ == importlib.metadata.version("river-pufe")


def test_types_are_shipped():
    assert importlib.resources.files(river_pufe).joinpath("py.typed").is_file()


@pytest.mark.parametrize("thing", PUBLIC)
def test_docstring_has_the_sections_of_river_in_their_order(thing):
    assert inspect.getdoc(thing).splitlines()[0][-1] in ".?"
    found = list(sections(thing))
    assert found == [section for section in SECTIONS if section in found]


@pytest.mark.parametrize("thing", PUBLIC)
def test_each_parameter_is_documented_once(thing):
    documented = entries(thing, "Parameters")
    expected = list(inspect.signature(thing).parameters)
    # What all checks are given is said in `yield_checks`.
    assert documented == expected or (thing.__name__.startswith("check_") and expected == ["model"])


@pytest.mark.parametrize("cls", [case for case in CLASSES if not inspect.isabstract(case.values[0])])
def test_classes_say_when_to_use_them_and_show_it(cls):
    assert {SECTIONS[0], "Examples"} <= set(sections(cls))
    assert ">>> " in inspect.getdoc(cls)


@pytest.mark.parametrize("cls", CLASSES)
def test_members_are_documented(cls):
    known = {*entries(cls, "Attributes"), *entries(cls, "Parameters")}
    members = [(name, member) for name, member in inspect.getmembers(cls) if not name.startswith("_")]
    silent = {name for name, member in members if callable(member) and not inspect.getdoc(member)}
    silent |= {name for name, member in members if isinstance(member, property) and not inspect.getdoc(member)}
    assert silent <= known


# Parameters out of range.


#: Modules of parts that users make.
OF_PARTS = r"river_pufe\.((recovery|experts|tasks|baselines|datasets)\.)?[a-z]\w*$"


def numbers_of_parts():
    """Each class with each of its parameters that is a number and has a default."""
    modules = (info.name for info in pkgutil.walk_packages(river_pufe.__path__, "river_pufe."))
    for module in map(importlib.import_module, filter(re.compile(OF_PARTS).match, modules)):
        for cls in vars(module).values():
            if not inspect.isclass(cls) or cls.__module__ != module.__name__ or not issubclass(cls, base.Base):
                continue
            if cls.__name__.startswith("_") or inspect.isabstract(cls):
                continue
            for parameter in inspect.signature(cls).parameters.values():
                number = re.match(r"(float|int)\b", str(parameter.annotation))
                if number and parameter.name != "seed" and parameter.default is not parameter.empty:
                    yield pytest.param(cls, parameter.name, id=f"{cls.__name__}:{parameter.name}")


@pytest.mark.parametrize("value", [math.nan, -1, -math.inf])
@pytest.mark.parametrize(("cls", "name"), list(numbers_of_parts()))
def test_numbers_out_of_range_are_refused_by_name(cls, name, value):
    with pytest.raises(ValueError, match=name) as refusal:
        cls(**{name: value})
    assert repr(value) in str(refusal.value)


@pytest.mark.parametrize(("cls", "name"), list(numbers_of_parts()))
def test_the_range_is_the_one_that_the_message_tells(cls, name):
    with pytest.raises(ValueError, match=name) as refusal:
        cls(**{name: -1})
    message = str(refusal.value)
    if interval := re.search(r"in ([\[(])(\d+), (\d+)([\])])", message):
        opening, *ends, closing = interval.groups()
        low, high = map(int, ends)
        inside, outside = [1e-9 + low, high - 1e-9], [low - 1e-9, high + 1e-9]
        (inside if opening == "[" else outside).append(low)
        (inside if closing == "]" else outside).append(high)
    elif least := re.search(r"(\d+) or more", message):
        inside, outside = [int(least[1]), int(least[1]) + 1], [int(least[1]) - 1e-9]
    else:
        above = int(re.search(r"above (\d+)", message)[1])
        inside, outside = [above + 1e-9, above + 1], [above]
    for value in inside:
        cls(**{name: value})
    for value in outside:
        with pytest.raises(ValueError, match=name):
            cls(**{name: value})


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda: PUFEClassifier(absent="gone"), "absent"),
        (lambda: PUFERegressor(absent="gone"), "absent"),
        (lambda: PUFEClassifier(recovery=FeatureRecovery(), absent="zero"), "absent"),
        (lambda: PUFEClassifier.paper(c=0), "c is"),
        (lambda: PUFERegressor.paper(radius=0), "radius"),
        (lambda: NOGDClassifier(c=0), "c is"),
        (lambda: FESLClassifier(strategy="both"), "strategy"),
        (lambda: FESLClassifier(horizon=0), "horizon"),
        (lambda: FeatureSpaces(absent="gone"), "absent"),
        (lambda: FeatureSpaces(significance=1.1), "significance"),
        (lambda: FeatureSpaces(patience=0.5), "patience"),
        (lambda: LinearExperts(prior=(1.0, 1.0, 0.0)), "prior"),
        (lambda: LinearExperts(min_gain=-0.5), "min_gain"),
        (lambda: SpaceExperts(OnlineGradientDescent(), roles=("future",)), "future"),
    ],
)
def test_other_settings_out_of_range_are_refused_by_name(make, name):
    with pytest.raises(ValueError, match=name):
        make()


# What `predict_proba_one` and `predict_one` promise.


CLASSIFIERS = [
    pytest.param(PUFEClassifier(), id="default"),
    pytest.param(PUFEClassifier(absent="zero"), id="zero"),
    pytest.param(PUFEClassifier.paper(), id="paper"),
    pytest.param(PUFEClassifier(linear_model.SoftmaxRegression()), id="softmax"),
    pytest.param(NOGDClassifier(), id="NOGD"),
    pytest.param(ROGDClassifier(), id="ROGD"),
    pytest.param(FESLClassifier(strategy="selection", seed=1), id="FESL-s"),
]


def assert_distribution(answer, labels):
    assert {(type(label), label) for label in answer} == {(type(label), label) for label in labels}
    assert all(type(probability) is float and 0 <= probability <= 1 for probability in answer.values())
    assert math.fsum(answer.values()) == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("model", CLASSIFIERS)
@pytest.mark.parametrize("x", [{}, {"a": 1.0}, {("b", 2): -1e300}])
def test_bools_have_one_half_each_before_any_learning(model, x):
    model = model.clone()
    assert model.predict_proba_one(x) == {False: 0.5, True: 0.5}
    model.observe_one({"a": 1.0})
    assert model.predict_proba_one(x) == {False: 0.5, True: 0.5}


@pytest.mark.parametrize("model", CLASSIFIERS)
@pytest.mark.parametrize("y", [True, np.True_, False, np.False_])
def test_one_bool_is_enough_to_know_both(model, y):
    model = model.clone()
    model.learn_one({"a": 1.0}, y)
    answer = model.predict_proba_one({"a": 1.0})
    assert_distribution(answer, [False, True])
    assert answer[bool(y)] > 0.5
    assert model.predict_one({"a": 1.0}) is bool(y)
    assert list(answer) == [False, True]


@pytest.mark.parametrize("model", CLASSIFIERS)
@pytest.mark.parametrize(
    "labels",
    [["x", "y", "late"], [1, 0, 2], [("a", 1), ("b", 2), "c"], [1.5, -2.0, 0.0], [frozenset({1}), "x", 3]],
    ids=repr,
)
def test_labels_of_any_kind_and_a_late_one(model, labels):
    model = model.clone()
    for t in range(40):
        model.learn_one({"a": (-1.0) ** t, "b": 1.0}, labels[t % 2])
        assert_distribution(model.predict_proba_one({"a": 1.0, "b": 1.0}), labels[: min(t + 1, 2)])
    for _ in range(40):
        model.learn_one({"a": 0.0, "b": -1.0}, labels[2])
        assert_distribution(model.predict_proba_one({"a": 0.0, "b": -1.0}), labels)
    assert model.predict_one({"a": 0.0, "b": -1.0}) == labels[2]


@pytest.mark.parametrize("model", CLASSIFIERS)
def test_a_bool_that_never_came_is_no_class_beside_others(model):
    model = model.clone()
    model.learn_one({"a": 1.0}, True)
    model.learn_one({"a": -1.0}, "other")
    assert_distribution(model.predict_proba_one({"a": 1.0}), [True, "other"])
    model.learn_one({"a": 0.0}, False)
    assert_distribution(model.predict_proba_one({"a": 1.0}), [True, "other", False])


@pytest.mark.parametrize("model", CLASSIFIERS)
@pytest.mark.parametrize(
    ("given", "plain"),
    [
        ([np.str_("x"), np.str_("y")], ["x", "y"]),
        ([np.int64(3), np.uint8(4)], [3, 4]),
        ([np.float64(0.5), np.float32(1.5)], [0.5, 1.5]),
        ([np.bool_(True), np.bool_(False)], [False, True]),
    ],
    ids=repr,
)
def test_labels_of_numpy_come_back_plain(model, given, plain):
    model = model.clone()
    for t in range(6):
        model.learn_one({"a": (-1.0) ** t}, given[t % 2])
    assert_distribution(model.predict_proba_one({"a": 1.0}), plain)
    assert model.predict_one({"a": 1.0}) == given[0]
    assert type(model.predict_one({"a": 1.0})) is type(plain[0])


@pytest.mark.parametrize(
    "model", [PUFERegressor(), PUFERegressor.paper(), NOGDRegressor()], ids=["default", "paper", "NOGD"]
)
def test_regressors_answer_zero_before_any_learning(model):
    for x in [{}, {"a": 1.0}, {("b", 2): -1e300}]:
        assert model.predict_one(x) == 0.0
        assert type(model.predict_one(x)) is float


def test_a_table_of_experts_tells_who_sleeps():
    """Who starts anew with each space has nothing to say before the second one opens."""
    model = PUFERegressor()
    for t in range(40):
        model.learn_one({"a": math.sin(t), "b": math.cos(t)}, math.sin(t))
    x = {"a": 0.5, "b": 0.5}
    header, *rows = (line.split() for line in model.debug_one(x, decimals=1).splitlines())
    assert header == ["Expert", "Weight", "Answer"]
    assert [" ".join(row[:-2]) for row in rows] == [*model.expert_weights, "mixture"]
    assert rows[-1][-2:] == ["1.0", f"{model.predict_one(x):.1f}"]
    for row in rows:
        assert (row[-1] == "asleep") == (row[0] == "fresh")


def cells(table):
    """The rows of a table as lists of cells, the header first."""
    return [line.split() for line in table.splitlines()]


def test_debug_one_shows_the_most_probable_of_many_classes():
    model = PUFEClassifier()
    for t in range(300):
        model.learn_one({"a": float(t % 100), "b": 1.0 if t % 100 < 50 else -1.0}, t % 100)
    x = {"a": 3.0, "b": 1.0}
    answer = model.predict_proba_one(x)
    header, *_, mixture = cells(model.debug_one(x))
    likely = sorted(answer, key=answer.get, reverse=True)[:7]
    assert set(header[2:-2]) == set(map(str, likely))
    assert header[-2:] == ["93", "others"]
    assert float(mixture[-1]) == pytest.approx(1 - sum(answer[label] for label in likely), abs=1e-3)


def test_debug_one_shows_large_numbers_in_scientific_notation():
    model = PUFERegressor()
    for t in range(30):
        model.learn_one({"a": t % 3 - 1.0}, 1e12 * (t % 3))
    assert cells(model.debug_one({"a": 1.0}, decimals=1))[-1][-1].endswith("e+12")


@pytest.mark.parametrize("model", [PUFEClassifier(), PUFERegressor()])
def test_debug_one_before_any_target(model):
    assert "mixture" in model.debug_one({"a": 1.0})


# Defaults that docs and figures rest on.


@pytest.mark.parametrize(
    ("cls", "defaults"),
    [
        (
            FeatureSpaces,
            {"significance": 1e-4, "grace": 20, "patience": 100, "max_spaces": 8, "absent": "missing"},
        ),
        (RowScaler, {"clip": 6.0, "memory": 1000.0, "centered": True}),
        (GaussianRows, {"max_size": 256}),
        (RowSpace, {"min_observed": None, "tolerance": 1e-7}),
        (LinearMap, {"ridge": 1.0}),
        (FrequentDirections, {"size": 32, "centered": False}),
        (AdaNormalHedge, {"forgetting": 1.0}),
        (Hedge, {"horizon": None}),
        (LinearExperts, {"maps": None, "rules": None, "prior": (3.0, 8.0, 1.0), "min_gain": 0.01}),
        (OnlineGradientDescent, {"c": 1.0, "radius": None}),
    ],
)
def test_defaults_are_those_of_the_documentation(cls, defaults):
    parameters = inspect.signature(cls).parameters.values()
    assert {parameter.name: parameter.default for parameter in parameters} == defaults


@pytest.mark.parametrize("cls", [PUFEClassifier, PUFERegressor])
def test_the_hedge_of_the_estimators_forgets_slowly(cls):
    assert cls().hedge.forgetting == 0.99


# What users see.


def test_what_experts_had_that_are_gone_counts_as_well():
    model = FESLClassifier()
    for _ in range(3):
        model.learn_one({"a": 0.0, "b": 0.0}, True)
    # Two spaces go at once, and leave two vacant places.
    for x in [{"c": 0.0}, {"a": 0.0}, {"a": 0.0, "b": 0.0, "c": 0.0}, {"e": 0.0}]:
        model.observe_one(x)
    assert model.expert_weights == {"vacant": 1.0, "space 2": 0.0, "space 3": 0.0}


def test_fresh_views_sleep_until_the_first_overlap():
    model = PUFEClassifier()
    model.learn_one({"a": 1.0}, True)
    weights = model.expert_weights
    assert sum(weights.values()) == pytest.approx(1)
    assert {name: weight > 0 for name, weight in weights.items()} == {
        name: not name.startswith("fresh") for name in weights
    }


@pytest.mark.parametrize(
    "absent", [np.datetime64("NaT", "s"), np.timedelta64("NaT", "s"), np.array(np.datetime64("NaT", "ns"))]
)
def test_times_that_are_missing_are_absent(absent):
    model = PUFEClassifier()
    model.learn_one({"a": 1.0, "b": absent}, True)
    assert model.living_keys == ("a",)


@pytest.mark.parametrize("model", [PUFEClassifier(), PUFERegressor(), NOGDClassifier()])
@pytest.mark.parametrize(
    ("x", "y", "w"),
    [
        ({"a": "x" * 10**6}, 1, 1.0),
        ({"k" * 10**6: "x"}, 1, 1.0),
        ({"a": [1.0] * 10**6}, 1, 1.0),
        ({"a": {"b": {"c": ["d"] * 10**6}}}, 1, 1.0),
        ({"a": 1.0}, ["y" * 10**6], 1.0),
        ({"a": 1.0}, 1, -(10**5000)),
    ],
    ids=["string", "key", "list", "nested", "label", "weight"],
)
def test_messages_are_short_whatever_they_are_about(model, x, y, w):
    with pytest.raises(ValueError, match=r".") as told:
        model.clone().learn_one(x, y, w)
    assert len(str(told.value)) < 500


def test_probabilities_are_none_above_one():
    model = PUFEClassifier()
    for t in range(80):
        x = {"a": math.sin(t), "b": 1.0}
        model.learn_one(x, t % 3, w=1e12)
        p = model.predict_proba_one(x)
        assert max(p.values()) <= 1.0
        assert sum(p.values()) == pytest.approx(1.0, abs=1e-15)


# Numbers at the ends of their range, with the parts of the paper.


@pytest.mark.parametrize("model", [PUFERegressor.paper(), ROGDRegressor(), FESLRegressor()])
def test_one_subnormal_value_leaves_answers_finite(model):
    model = model.clone()
    model.learn_one({"a": 0.0, "b": 5e-324, "c": 1.5}, 1.0)
    for t in range(200):
        model.learn_one({"b": -29.0 if t == 0 else float(t % 7)}, 1.0)
        assert math.isfinite(model.predict_one({"b": 1.0}))
    assert all(map(math.isfinite, model.recover_one({"b": 1.0}).values()))


def test_finite_samples_have_finite_answers():
    model = PUFERegressor.paper(c=10)
    model.learn_one({"a": 54.0, "f": 1.0}, 1.0)
    model.learn_one({"a": 1e150, "c": 1e-300}, 1.0)
    assert math.isfinite(model.predict_one({"c": -5e5}))
    assert all(map(math.isfinite, model.recover_one({"c": -5e5}).values()))
