"""Do all estimators keep River's checks and the laws of this package, in all settings that matter?"""

from __future__ import annotations

import functools
import inspect
import itertools
import math
import pickle
import statistics

import numpy as np
import pytest
from river import base, checks, linear_model, preprocessing, tree

import river_pufe
from river_pufe import FeatureRecovery, PUFEClassifier, PUFERegressor, baselines
from river_pufe import checks as laws

OURS = {
    "classifier": PUFEClassifier(),
    "classifier, absent is zero": PUFEClassifier(absent="zero"),
    "classifier of the paper": PUFEClassifier.paper(),
    "regressor": PUFERegressor(),
    "regressor of the paper": PUFERegressor.paper(c=10),
    "recovery": FeatureRecovery(),
    "NOGD classifier": baselines.NOGDClassifier(),
    "NOGD regressor": baselines.NOGDRegressor(c=10, radius=1.0),
    "ROGD-u classifier": baselines.ROGDClassifier(radius=1.0),
    "ROGD-f regressor": baselines.ROGDRegressor(updating=False, c=10),
    "FESL-c classifier": baselines.FESLClassifier(),
    "FESL-s regressor": baselines.FESLRegressor(strategy="selection", c=10),
    "SF2EL classifier": baselines.SF2ELClassifier(),
    "SF2EL regressor": baselines.SF2ELRegressor(c=10, budget=20),
    "OLSF-II classifier": baselines.OLSFClassifier("II", B=0.5),
    "OLVF classifier": baselines.OLVFClassifier(C_bar=1.0, B=0.5),
    "OCDS classifier": baselines.OCDSClassifier(),
    "OPIDe classifier": baselines.OPIDClassifier(ensemble=True),
    "OPID regressor": baselines.OPIDRegressor(),
    "REFORM classifier": baselines.REFORMClassifier(),
    "REFORM regressor": baselines.REFORMRegressor(c=10),
}

TREE = tree.HoeffdingTreeRegressor(leaf_prediction="mean", splitter=tree.splitter.QOSplitter())
SCALED = preprocessing.StandardScaler() | linear_model.LinearRegression()
WITH_RIVER = {
    "classifier of a logistic regression": PUFEClassifier(linear_model.LogisticRegression()),
    "classifier of a softmax regression": PUFEClassifier(linear_model.SoftmaxRegression()),
    "regressor of a tree": PUFERegressor(TREE),
    "regressor of a pipeline": PUFERegressor(SCALED),
    "recovery in a pipeline": FeatureRecovery() | linear_model.LogisticRegression(),
    "regressor in a pipeline": preprocessing.StandardScaler() | PUFERegressor(),
}
#: What is not asked, because a part of River does not keep it when it is alone; this part is seen to break it below.
UP_TO_RIVER = {
    # It holds on to every key that it has ever seen.
    ("classifier of a logistic regression", "check_memory_is_bounded"): linear_model.LogisticRegression(),
    ("classifier of a softmax regression", "check_memory_is_bounded"): linear_model.SoftmaxRegression(),
    ("regressor of a tree", "check_memory_is_bounded"): TREE,
    ("regressor of a pipeline", "check_memory_is_bounded"): SCALED[-1],
    # It cannot count the squares of large numbers.
    ("regressor of a tree", "check_answers_are_finite"): TREE,
    # It makes an entry for a key that it is asked about.
    ("regressor of a pipeline", "check_looking_changes_nothing"): SCALED[0],
    # The scaler learns from a whole batch before the model sees the first of its rows.
    ("regressor in a pipeline", "check_learn_many_matches_learn_one"): (
        preprocessing.StandardScaler() | linear_model.BayesianLinearRegression()
    ),
}


def asked_of(name):
    """The checks of an estimator; what River asks of a class alone is asked of each class once, not of each setting."""
    model = (OURS | WITH_RIVER)[name]
    rivers = [check for check in checks.yield_checks(model) if name in OURS or isinstance(check, functools.partial)]
    return [*rivers, *laws.yield_checks(model)]


all_checks = {name: asked_of(name) for name in OURS | WITH_RIVER}
# River's linear models ask to be excused from some checks, and a pipeline asks for its last step.
excused = {name: model._unit_test_skips() for name, model in WITH_RIVER.items()}


@pytest.mark.filterwarnings(
    "ignore:.* needs an intact overlap",
    "ignore:.* needs features that survive",
    "ignore:.* keys were seen once or twice",
)
@pytest.mark.parametrize(
    ("model", "check"),
    [
        pytest.param((OURS | WITH_RIVER)[name], check, id=f"{name}:{check.__name__}")
        for name, asked in all_checks.items()
        for check in asked
        if (name, check.__name__) not in UP_TO_RIVER and check.__name__ not in excused.get(name, ())
    ],
)
def test_estimator(model, check):
    check(model.clone())


@pytest.mark.parametrize(("case", "part"), UP_TO_RIVER.items(), ids=[f"{name}:{check}" for name, check in UP_TO_RIVER])
def test_what_is_up_to_river_is_not_kept_by_river(case, part):
    name, check_name = case
    assert check_name in {check.__name__ for check in all_checks[name]}
    check = getattr(laws, check_name, None) or next(
        check for check in checks.yield_checks(part) if check.__name__ == check_name
    )
    with pytest.raises((AssertionError, ArithmeticError)):
        check(part.clone())


def test_nothing_is_left_out():
    exported = [getattr(module, name) for module in (river_pufe, baselines) for name in module.__all__]
    estimators = {thing for thing in exported if inspect.isclass(thing) and issubclass(thing, base.Estimator)}
    assert {type(model) for model in OURS.values()} == estimators
    for model in OURS.values():
        assert model._unit_test_skips() == set()


def test_checks_are_asked_of_each():
    """A check that is asked of nobody says nothing."""
    asked = {check.__name__ for check in itertools.chain.from_iterable(all_checks.values())}
    assert {name for name in vars(laws) if name.startswith("check_")} - {"check_estimator"} <= asked


@pytest.mark.parametrize(
    "model",
    [
        pytest.param(OURS[name], id=name)
        for name in ("classifier", "classifier, absent is zero", "regressor", "regressor of the paper", "recovery")
    ],
)
def test_a_key_that_is_lost_is_recovered_though_its_space_lives_on(model):
    model = model.clone()
    samples = [({"a": a, "b": 2 * a, "c": -a}, a) for a in (math.sin(t) for t in range(400))]
    for t, (x, a) in enumerate(samples):
        given = x if t < 300 else {"a": x["a"], "b": x["b"]}
        target = a > 0 if isinstance(model, base.Classifier) else a
        model.learn_one(given, target) if model._supervised else model.learn_one(given)
    assert model.vanished == ("c",)
    for x, _ in samples[:20]:
        assert model.recover_one({"a": x["a"], "b": x["b"]}) == pytest.approx({"c": x["c"]}, abs=0.05)


@pytest.mark.parametrize("kind", [np.float32, np.float16, np.int64])
def test_weights_of_any_type_are_numbers(kind):
    models = PUFERegressor(), PUFERegressor()
    for t in range(50):
        for model, w in zip(models, (2.0, kind(2))):
            model.learn_one({"a": math.sin(t), "b": math.cos(t)}, math.sin(t + 1), w=w)
    assert pickle.dumps(models[0]) == pickle.dumps(models[1])


@pytest.mark.parametrize("model", [tree.HoeffdingTreeRegressor(), linear_model.LinearRegression()])
def test_a_river_model_learns_nothing_from_what_does_not_count(model):
    """Some divide by the sum of the weights."""
    ours = PUFERegressor(model)
    for t in range(20):
        ours.learn_one({"a": math.sin(t)}, math.cos(t), w=0.0)
    assert ours.predict_one({"a": 1.0}) == pytest.approx(statistics.mean(math.cos(t) for t in range(20)))
