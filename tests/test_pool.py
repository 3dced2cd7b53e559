"""Pools: several models under one hedge."""

from __future__ import annotations

import copy
import math
import pickle

import numpy as np
import pytest
from river import base, linear_model, naive_bayes, preprocessing, tree

from river_pufe import PUFEClassifier, PUFERegressor, datasets
from river_pufe.experts import Identity, LinearExperts, Pool, as_experts
from river_pufe.experts.learners import RiverModel
from river_pufe.experts.per_space import SpaceExperts
from river_pufe.tasks import PlainRegression, Regression

LINEAR = LinearExperts(maps=(Identity(),))


def evolving(regression=False, n=300):
    return list(datasets.HiddenFactors(regression=regression, n_samples=n, seed=3))


def taught(model, samples):
    for x, y in samples:
        model.learn_one(x, y)
    return model


def right(model, samples):
    answers = []
    for x, y in samples:
        answers.append(model.predict_one(x) == y)
        model.learn_one(x, y)
    return np.array(answers)


def test_a_pool_of_one_is_that_one():
    alone, pooled = PUFEClassifier(LINEAR), PUFEClassifier([LINEAR])
    for x, y in evolving():
        assert pooled.predict_proba_one(x) == pytest.approx(alone.predict_proba_one(x), abs=1e-12)
        alone.learn_one(x, y)
        pooled.learn_one(x, y)
    assert list(pooled.expert_weights) == [f"LinearExperts: {name}" for name in alone.expert_weights]


@pytest.mark.parametrize("regression", [False, True])
def test_the_order_of_the_members_changes_nothing(regression):
    other = linear_model.LinearRegression() if regression else naive_bayes.GaussianNB()
    make = PUFERegressor if regression else PUFEClassifier
    one, turned = make([LINEAR, other]), make([other, LINEAR])
    for x, y in evolving(regression):
        asked = [m.predict_one(x) if regression else m.predict_proba_one(x)[True] for m in (one, turned)]
        assert asked[0] == pytest.approx(asked[1], abs=1e-9)
        one.learn_one(x, y)
        turned.learn_one(x, y)
    assert one.expert_weights == pytest.approx(turned.expert_weights, abs=1e-9)


def test_members_count_alike_at_first():
    weights = PUFEClassifier([LINEAR, naive_bayes.GaussianNB(), tree.HoeffdingTreeClassifier()]).expert_weights
    for title in ("LinearExperts", "GaussianNB", "HoeffdingTreeClassifier"):
        assert sum(w for name, w in weights.items() if name.startswith(title)) == pytest.approx(1 / 3)


def test_an_expert_keeps_its_position_whoever_comes_later():
    """The aggregator knows experts by their positions."""
    model, known = PUFEClassifier([naive_bayes.GaussianNB(), LINEAR]), []
    for x, y in evolving():
        model.learn_one(x, y)
        names = list(model.expert_weights)
        assert [name for name in names if "vacant" not in name][: len(known)] == known or names[: len(known)] == known
        known = names
    assert any("space 1" in name for name in known)


def test_the_best_member_leads():
    """A class that no line can tell, but naive Bayes can."""
    rng = np.random.default_rng(0)
    samples = [({"a": z, "b": rng.normal()}, abs(z) > 0.7) for z in rng.normal(size=800).tolist()]
    alone = right(PUFEClassifier(LINEAR), samples)[400:].mean()
    model = PUFEClassifier([LINEAR, naive_bayes.GaussianNB()])
    assert right(model, samples)[400:].mean() > alone + 0.15
    assert sum(w for name, w in model.expert_weights.items() if name.startswith("GaussianNB")) > 0.9


def test_a_clone_of_a_trained_pool_forgets_and_its_members_stay_untrained():
    members = [LINEAR.clone(), naive_bayes.GaussianNB()]
    model = taught(PUFEClassifier(members), evolving())
    fresh = model.clone()
    x, y = evolving()[0]
    assert fresh.predict_proba_one(x) == {False: 0.5, True: 0.5}
    assert members[1].predict_proba_one(x) == {}
    again = taught(fresh, evolving())
    assert again.expert_weights == taught(PUFEClassifier(members), evolving()).expert_weights
    assert y in (True, False)


def test_members_that_were_trained_are_taken_as_prototypes():
    trained = naive_bayes.GaussianNB()
    for x, y in evolving():
        trained.learn_one({"a": x[next(iter(x))]}, y)
    assert PUFEClassifier([trained, LINEAR]).predict_proba_one({"a": 1.0}) == {False: 0.5, True: 0.5}


def test_a_pool_is_remembered():
    samples = evolving()
    model = taught(PUFEClassifier([LINEAR, naive_bayes.GaussianNB()]), samples[:200])
    for other in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        mine = copy.deepcopy(model)
        for x, y in samples[200:]:
            assert other.predict_proba_one(x) == mine.predict_proba_one(x)
            mine.learn_one(x, y)
            other.learn_one(x, y)


class Demanding(base.Classifier):
    """Takes rows of the keys of the first one only."""

    def __init__(self):
        self.keys = None

    def learn_one(self, x, y):
        self.predict_proba_one(x)
        self.keys = x.keys()

    def predict_proba_one(self, x):
        assert self.keys in (None, x.keys())
        return {False: 0.5, True: 0.5}


def test_a_model_that_takes_complete_rows_only_gets_those():
    assert not RiverModel(Demanding()).reads_incomplete
    rng, model = np.random.default_rng(0), PUFEClassifier([LINEAR, Demanding()])
    for a, b in rng.normal(size=(200, 2)).tolist():
        x = {"a": a, "b": b} if rng.random() < 0.7 or not model.rounds else {"a": a}
        model.predict_proba_one(x)
        model.learn_one(x, a > b)
    assert "Demanding: present" not in model.expert_weights


@pytest.mark.parametrize(
    "model",
    [
        linear_model.LinearRegression(),
        naive_bayes.GaussianNB(),
        tree.HoeffdingTreeClassifier(),
        preprocessing.StandardScaler() | linear_model.LogisticRegression(),
    ],
    ids=lambda model: type(model).__name__,
)
def test_most_models_take_incomplete_rows(model):
    assert RiverModel(model).reads_incomplete


class Strict(base.Regressor):
    """Takes rows of two features, and targets that are floats."""

    def learn_one(self, x, y):
        assert len(x) == 2
        assert type(y) is float

    def predict_one(self, x):
        return 0.0


def test_a_model_is_tried_with_targets_of_its_kind():
    assert not RiverModel(Strict()).reads_incomplete


class Anything(linear_model.LinearRegression):
    def learn_one(self, x, y, **params):
        super().learn_one(x, y, **params)


@pytest.mark.parametrize(
    ("model", "takes"),
    [
        (linear_model.LogisticRegression(), True),
        (Anything(), True),
        (preprocessing.StandardScaler() | linear_model.LogisticRegression(), True),
        (naive_bayes.GaussianNB(), False),
        (preprocessing.StandardScaler() | naive_bayes.GaussianNB(), False),
    ],
    ids=["w", "any", "a pipeline", "none", "a pipeline of none"],
)
def test_samples_have_weights_where_all_members_take_them(model, takes):
    assert RiverModel(model).takes_weights is takes
    assert as_experts([LINEAR, model]).takes_weights is takes
    assert as_experts([LINEAR, LINEAR]).takes_weights


def test_titles_tell_members_apart():
    names = Pool([LINEAR, LINEAR]).names
    assert len(set(names)) == len(names)
    assert {name.split(":")[0] for name in names} == {"LinearExperts 1", "LinearExperts 2"}


def test_members_are_checked():
    with pytest.raises(ValueError, match="must be a classifier, not LinearRegression"):
        PUFEClassifier([LINEAR, linear_model.LinearRegression()])
    with pytest.raises(ValueError, match="must be a regressor, not GaussianNB"):
        PUFERegressor([naive_bayes.GaussianNB()])
    with pytest.raises(ValueError, match="pool"):
        PUFEClassifier([])


class Diverged(base.Regressor):
    """Answers what a model answers that has diverged."""

    def __init__(self, answer):
        self.answer = answer

    def learn_one(self, x, y):
        pass

    def predict_one(self, x):
        return self.answer


@pytest.mark.parametrize(("answer", "sign"), [(math.inf, 1), (-math.inf, -1), (math.nan, 0), (1e300, 1), (-1e300, -1)])
@pytest.mark.parametrize("task", [Regression, PlainRegression])
def test_a_model_that_has_diverged_keeps_its_sign(answer, sign, task):
    learner, task = RiverModel(Diverged(answer)), task()
    for y in (1.0, 2.0):
        task.learn(y, np.zeros(1))
        learner.learn({"a": 1.0}, y, 1.0, task)
    (score,) = learner.scores({"a": 1.0}, task)
    assert math.isfinite(score)
    assert score == 0 if sign == 0 else score * sign > 1e3


def test_a_model_is_told_the_weight_of_a_sample_if_it_is_not_one():
    class Noting(linear_model.LinearRegression):
        def learn_one(self, x, y, w=None):
            told.append(w)

    told, learner = [], RiverModel(Noting())
    for w in (1.0, 2.5, 0.0, 0.5):
        learner.learn({"a": 1.0}, 1.0, w, PlainRegression())
    assert told == [None, 2.5, 0.5]


def test_what_was_asked_is_not_asked_again_when_the_sample_is_learned():
    class Counting(linear_model.LinearRegression):
        def predict_one(self, x):
            asked.append(x)
            return super().predict_one(x)

    asked, model = [], PUFERegressor(SpaceExperts(RiverModel(Counting()), roles=("current",)))
    for t in range(40):
        x = {"a": t % 3, "b": t % 5}
        model.predict_one(x)
        before = len(asked)
        model.learn_one(x, float(t % 3))
        assert len(asked) == before
