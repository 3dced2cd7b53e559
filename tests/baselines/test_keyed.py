"""Do models that know keys, but no spaces, remember what they should and forget the rest?"""

from __future__ import annotations

import warnings

import pytest
from river import datasets, metrics, multiclass, preprocessing

from river_pufe import baselines

MODELS = (
    baselines.OLSFClassifier,
    baselines.OLVFClassifier,
    baselines.OCDSClassifier,
    baselines.OPIDClassifier,
    baselines.REFORMClassifier,
    baselines.OPIDRegressor,
    baselines.REFORMRegressor,
)
ALL = pytest.mark.parametrize("make", MODELS, ids=lambda make: make.__name__)


def learn(model, *samples):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for keys in samples:
            model.learn_one(dict.fromkeys(keys, 1.0), True)


@ALL
def test_keys_not_seen_for_longest_are_forgotten(make):
    model = make(max_keys=3)
    learn(model, "ab", "bc")
    assert set(model.weights) == {"a", "b", "c"}
    learn(model, "bd")
    assert set(model.weights) == {"b", "c", "d"}
    # Keys last seen together go together.
    learn(model, "ef")
    assert set(model.weights) == {"e", "f"}


@ALL
def test_keys_of_the_latest_sample_are_kept(make):
    model = make(max_keys=1)
    learn(model, "ab", "abc")
    assert set(model.weights) == {"a", "b", "c"}


@ALL
def test_by_default_eight_times_the_widest_sample_is_kept(make):
    model = make()
    learn(model, "ab", *"cdefghijklmnop")
    assert len(model.weights) == 16
    learn(model, "q")
    assert set(model.weights) == set("cdefghijklmnopq")


@ALL
def test_max_keys_is_checked(make):
    with pytest.raises(ValueError, match="max_keys"):
        make(max_keys=0)


@pytest.mark.parametrize("make", MODELS[:5], ids=lambda make: make.__name__)
def test_a_third_class_is_refused(make):
    model = make()
    for label in ("a", "b", "a"):
        model.learn_one({"x": 1.0}, label)
    with pytest.raises(ValueError, match=rf"'c', a third class after 'a' and 'b': .*\({make.__name__}\(\)\)"):
        model.learn_one({"x": 1.0}, "c")


def test_many_classes_by_one_against_the_rest():
    model = preprocessing.StandardScaler() | multiclass.OneVsRestClassifier(baselines.OLSFClassifier("I"))
    accuracy = metrics.Accuracy()
    for x, y in datasets.ImageSegments().take(600):
        accuracy.update(y, model.predict_one(x))
        model.learn_one(x, y)
    assert accuracy.get() > 0.5


@pytest.mark.parametrize("make", MODELS[:5], ids=lambda make: make.__name__)
def test_labels_need_not_be_bools(make):
    models = make(), make()
    for t in range(30):
        x, y = {"a": float(t % 7 - 3), "b": 1.0}, t % 7 > 3
        answers = [model.predict_proba_one(x) for model in models]
        if t > 5:
            assert answers[0][True] == answers[1]["yes"]
        models[0].learn_one(x, y)
        models[1].learn_one(x, "yes" if y else "no")
