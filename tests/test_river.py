"""Does it work with the rest of River: with whatever is in front of it, around it, and beside it?

Each test takes another way to the same answer, a loop by hand most often, or asks for more than what a model that knows
nothing could do. What River itself cannot do with any model is left out: `compose.Select` and `compose.Grouper` of keys
that may be absent, `ensemble.SRPClassifier` on other keys than those of the first sample, numbers in
`stream.iter_arff(sparse=True)`, `multioutput.MultiClassEncoder` before the first label, and
`model_selection.BanditRegressor` with a metric that is better when it is smaller.
"""

from __future__ import annotations

import collections
import datetime
import functools
import html.parser
import itertools
import math
import pickle
import random
import statistics

import numpy as np
import pandas as pd
import polars as pl
import pytest
from river import (
    active,
    anomaly,
    bandit,
    base,
    compat,
    compose,
    conf,
    drift,
    dummy,
    ensemble,
    evaluate,
    feature_extraction,
    feature_selection,
    imblearn,
    linear_model,
    metrics,
    model_selection,
    multiclass,
    multioutput,
    preprocessing,
    stats,
    stream,
    time_series,
    utils,
)

from river_pufe import FeatureRecovery, PUFEClassifier, PUFERegressor, datasets
from river_pufe.aggregation import AdaNormalHedge
from river_pufe.experts import LinearExperts
from river_pufe.recovery.spaces import FeatureSpaces
from river_pufe.tasks import MarginClassification

# Sensors read two things, are replaced by others that overlap with them, and fail now and then.
N = 300
EVOLVING = datasets.HiddenFactors(
    datasets.Cycle(period=100, overlap=20), n_factors=2, width=4, noise=0.1, regression=True, n_samples=N, seed=1
)
NUMBERS = list(datasets.CapriciousStream(EVOLVING, missing=0.05, seed=1))
BOOLS = [(x, y > 0) for x, y in NUMBERS]
WORDS = [(x, "low" if y < -0.6 else "high" if y > 0.6 else "middle") for x, y in NUMBERS]
SEVERAL = [(x, {"positive": y > 0, "large": y > 0.6}) for x, y in NUMBERS]
NOON = datetime.datetime(2020, 1, 1, 12)
MINUTE = datetime.timedelta(minutes=1)


def answer(model, x):
    return model.predict_proba_one(x) if isinstance(model, base.Classifier) else model.predict_one(x)


def played(model, samples):
    """Answers to one sample after another, each before it is learned from."""
    answers = []
    for x, y in samples:
        answers.append(answer(model, x))
        model.learn_one(x, y)
    return answers


def accuracy(model, samples):
    return evaluate.progressive_val_score(samples, model, metrics.Accuracy()).get()


def error(model, samples=NUMBERS):
    return evaluate.progressive_val_score(samples, model, metrics.MAE()).get()


def majority(samples):
    return max(collections.Counter(y for _, y in samples).values()) / len(samples)


def know_much_more_than_nothing(model, samples=BOOLS):
    """Of what is wrong when the most frequent class is guessed, more than a half is right."""
    assert 1 - accuracy(model, samples) < 0.5 * (1 - majority(samples))


def know_numbers(model):
    """The error is less than half of that of the mean."""
    assert error(model) < 0.5 * error(dummy.StatisticRegressor(stats.Mean()))


# Parameters, grids, and the choice of a model.


GRID = {"aggregator": [AdaNormalHedge(), AdaNormalHedge(forgetting=0.9)], "absent": ["missing", "zero"]}
# Those that look at no feature come first, because `GreedyRegressor` cannot name its first model as the best.
CLASSIFIERS = {"model": [dummy.PriorClassifier(), LinearExperts()]}
REGRESSORS = {"model": [dummy.StatisticRegressor(stats.Mean()), LinearExperts()]}


@pytest.mark.parametrize(
    ("cls", "change"),
    [
        (PUFEClassifier, {"absent": "zero"}),
        (PUFEClassifier, {"model": linear_model.LogisticRegression()}),
        (PUFEClassifier, {"recovery": FeatureRecovery(FeatureSpaces(absent="zero"))}),
        (PUFEClassifier, {"aggregator": AdaNormalHedge(forgetting=0.9), "task": MarginClassification()}),
        (PUFERegressor, {"absent": "zero"}),
        (PUFERegressor, {"model": linear_model.LinearRegression()}),
    ],
    ids=lambda value: " and ".join(value) if isinstance(value, dict) else value.__name__,
)
def test_a_clone_that_is_told_otherwise_is_the_model_that_was_told_so(cls, change):
    samples = (BOOLS if cls is PUFEClassifier else NUMBERS)[:150]
    default = {name: "missing" if name == "absent" else None for name in change}
    told, untold = played(cls(**change), samples), played(cls(), samples)
    assert told != untold
    assert played(cls().clone(change), samples) == told
    assert played(cls(**change).clone(default), samples) == untold


@pytest.mark.parametrize("model", [PUFEClassifier(), PUFERegressor(), PUFEClassifier.paper()])
def test_a_clone_with_all_attributes_goes_on_alike(model):
    """Also where a question was just asked, and past a change of the features."""
    samples = [({"a": math.sin(t), "b" if t < 40 else "c": math.cos(t)}, t % 3 == 0) for t in range(60)]
    for x, y in samples[:30]:
        model.learn_one(x, y)
    model.predict_one(samples[30][0])
    clone = model.clone(include_attributes=True)
    assert played(clone, samples[30:]) == played(model, samples[30:])
    assert clone.debug_one({"a": 0.5}) == model.debug_one({"a": 0.5})


def test_a_clone_of_a_recovery_is_told_what_absence_means():
    """Where it is zero, the rows are not centered."""
    zero = {"feature_spaces": FeatureSpaces(absent="zero")}
    recoveries = [FeatureRecovery(**zero), FeatureRecovery().clone(zero), FeatureRecovery()]
    for x, _ in NUMBERS:
        for recovery in recoveries:
            recovery.learn_one(x)
    answers = [recovery.recover_one(NUMBERS[-1][0]) for recovery in recoveries]
    assert answers[0] == answers[1] != answers[2]


@pytest.mark.parametrize("cls", [PUFEClassifier, PUFERegressor])
def test_a_grid_has_all_combinations_and_none_shares_anything(cls):
    models = utils.expand_param_grid(cls(), GRID)
    combinations = [(model.aggregator.forgetting, model.absent) for model in models]
    assert sorted(combinations) == sorted(itertools.product([1.0, 0.9], ["missing", "zero"]))
    before = [pickle.dumps(model) for model in models[1:]]
    played(models[0], BOOLS[:50] if cls is PUFEClassifier else NUMBERS[:50])
    assert [pickle.dumps(model) for model in models[1:]] == before


def test_a_grid_reaches_into_parts():
    spaces = {"feature_spaces": [FeatureSpaces(grace=grace) for grace in (5, 20)]}
    models = utils.expand_param_grid(PUFERegressor(), {"recovery": [(FeatureRecovery, spaces)]})
    assert [model.recovery.feature_spaces.grace for model in models] == [5, 20]


def test_a_grid_reaches_into_a_pipeline():
    pipeline = preprocessing.StandardScaler() | PUFERegressor()
    models = utils.expand_param_grid(pipeline, {"PUFERegressor": {"absent": ["missing", "zero"]}})
    for model, absent in zip(models, ["missing", "zero"], strict=True):
        by_hand = preprocessing.StandardScaler() | PUFERegressor(absent=absent)
        assert played(model, NUMBERS[:150]) == played(by_hand, NUMBERS[:150])


def test_the_greedy_choice_is_the_model_that_does_best_alone():
    models = utils.expand_param_grid(PUFERegressor(), GRID)
    alone = {(model.aggregator.forgetting, model.absent): error(model.clone()) for model in models}
    ignorant = PUFERegressor(dummy.StatisticRegressor(stats.Mean()))
    greedy = model_selection.GreedyRegressor([ignorant, *models], metrics.MAE())
    assert error(greedy) < 1.1 * min(alone.values())
    best = greedy.best_model
    assert alone[best.aggregator.forgetting, best.absent] == min(alone.values())


@pytest.mark.parametrize(
    "select",
    [
        lambda models: model_selection.SuccessiveHalvingClassifier(models, metrics.Accuracy(), budget=N),
        lambda models: model_selection.BanditClassifier(
            models, metric=metrics.Accuracy(), policy=bandit.EpsilonGreedy(0.2, seed=1)
        ),
    ],
    ids=["successive halving", "bandit"],
)
def test_a_classifier_that_learns_is_chosen(select):
    models = utils.expand_param_grid(PUFEClassifier(), CLASSIFIERS)
    selection = select(models)
    assert accuracy(selection, BOOLS) > majority(BOOLS)
    assert isinstance(selection.best_model.model, LinearExperts)


@pytest.mark.parametrize(
    "select",
    [
        lambda models: model_selection.GreedyRegressor(models, metrics.MAE()),
        lambda models: model_selection.SuccessiveHalvingRegressor(models, metrics.MAE(), budget=N),
        lambda models: model_selection.BanditRegressor(
            models, metric=metrics.R2(), policy=bandit.EpsilonGreedy(0.2, seed=1)
        ),
    ],
    ids=["greedy", "successive halving", "bandit"],
)
def test_a_regressor_that_learns_is_chosen(select):
    models = utils.expand_param_grid(PUFERegressor(), REGRESSORS)
    selection = select(models)
    assert error(selection) < error(dummy.StatisticRegressor(stats.Mean()))
    assert isinstance(selection.best_model.model, LinearExperts)


# Models made of models.


@pytest.mark.parametrize(
    "make",
    [
        ensemble.BaggingClassifier,
        ensemble.ADWINBaggingClassifier,
        ensemble.LeveragingBaggingClassifier,
        ensemble.AdaBoostClassifier,
        ensemble.ADWINBoostingClassifier,
        ensemble.BOLEClassifier,
    ],
    ids=lambda make: make.__name__,
)
def test_ensembles_of_classifiers(make):
    know_much_more_than_nothing(make(PUFEClassifier(), n_models=3, seed=1))


def test_a_vote_of_equals_is_that_of_each():
    vote = ensemble.VotingClassifier([PUFEClassifier() for _ in range(3)])
    expected = [max(p, key=p.__getitem__) for p in played(PUFEClassifier(), BOOLS)]
    voted = []
    for x, y in BOOLS:
        voted.append(vote.predict_one(x))
        vote.learn_one(x, y)
    # Before any label nobody votes.
    assert voted[1:] == expected[1:]


def test_a_stack():
    parts = [PUFEClassifier(), PUFEClassifier(absent="zero"), linear_model.LogisticRegression()]
    know_much_more_than_nothing(ensemble.StackingClassifier(parts, PUFEClassifier()))


@pytest.mark.parametrize(
    "model",
    [
        ensemble.BaggingRegressor(PUFERegressor(), n_models=3, seed=1),
        ensemble.EWARegressor([PUFERegressor(), PUFERegressor(absent="zero")]),
        preprocessing.TargetStandardScaler(PUFERegressor()),
        preprocessing.TargetMinMaxScaler(PUFERegressor()),
        preprocessing.PredClipper(PUFERegressor(), -3, 3),
        compose.TargetTransformRegressor(PUFERegressor(), math.asinh, math.sinh),
        imblearn.ChebyshevOverSampler(PUFERegressor()),
        imblearn.ChebyshevUnderSampler(PUFERegressor(), seed=1),
        imblearn.HardSamplingRegressor(PUFERegressor(), size=30, p=0.2, seed=1),
        conf.RegressionJackknife(PUFERegressor()),
    ],
    ids=lambda model: type(model).__name__,
)
def test_regressors_around_ours(model):
    know_numbers(model)


def test_a_target_in_other_units():
    """By hand: what goes in is transformed, what comes out is transformed back."""
    transform, back = (lambda y: 100 * y + 7), (lambda y: (y - 7) / 100)
    wrapped = played(compose.TargetTransformRegressor(PUFERegressor(), transform, back), NUMBERS)
    by_hand = played(PUFERegressor(), [(x, transform(y)) for x, y in NUMBERS])
    assert wrapped == [back(y) for y in by_hand]


def test_an_interval_covers_most_of_what_comes():
    model, covered = conf.RegressionJackknife(PUFERegressor(), confidence_level=0.9), []
    for x, y in NUMBERS:
        covered.append(y in model.predict_one(x, with_interval=True))
        model.learn_one(x, y)
    assert 0.8 < statistics.mean(covered[50:]) < 1


def test_one_against_the_rest_is_a_classifier_for_each_class():
    model = multiclass.OneVsRestClassifier(PUFEClassifier())
    by_hand: dict = {}
    for x, y in WORDS:
        scores = {label: each.predict_proba_one(x)[True] for label, each in by_hand.items()}
        total = sum(scores.values())
        assert model.predict_proba_one(x) == pytest.approx({label: score / total for label, score in scores.items()})
        by_hand.setdefault(y, PUFEClassifier())
        for label, each in by_hand.items():
            each.learn_one(x, label == y)
        model.learn_one(x, y)


@pytest.mark.parametrize(
    "model",
    [
        PUFEClassifier(),
        multiclass.OneVsRestClassifier(PUFEClassifier()),
        multiclass.OneVsOneClassifier(PUFEClassifier()),
        multiclass.OutputCodeClassifier(PUFEClassifier(), code_size=10, coding_method="random", seed=1),
    ],
    ids=lambda model: type(model).__name__,
)
def test_several_classes(model):
    know_much_more_than_nothing(model, WORDS)


@pytest.mark.parametrize(
    "model",
    [
        multioutput.ClassifierChain(PUFEClassifier(), order=["positive", "large"]),
        multioutput.MonteCarloClassifierChain(PUFEClassifier(), m=3, seed=1),
        multioutput.ProbabilisticClassifierChain(PUFEClassifier()),
        multioutput.PerOutputClassifier(PUFEClassifier()),
    ],
    ids=lambda model: type(model).__name__,
)
def test_several_labels_at_once(model):
    metric = metrics.multioutput.PerOutput(metrics.Accuracy())
    evaluate.progressive_val_score(SEVERAL, model, metric)
    assert 1 - metric.metrics["positive"].get() < 0.5 * (1 - majority(BOOLS))


def test_several_labels_as_one():
    model = multioutput.MultiClassEncoder(PUFEClassifier())
    right = []
    for t, (x, y) in enumerate(SEVERAL):
        if t:
            right.append(model.predict_one(x) == y)
        model.learn_one(x, y)
    labels = [tuple(y.values()) for _, y in SEVERAL]
    assert statistics.mean(right) > majority(list(enumerate(labels))) + 0.1


@pytest.mark.parametrize("make", [multioutput.RegressorChain, multioutput.PerOutputRegressor])
def test_several_numbers_at_once(make):
    samples = [(x, {"one": y, "other": 3 - 2 * y}) for x, y in NUMBERS]
    model = make(PUFERegressor())
    metric = metrics.multioutput.PerOutput(metrics.MAE())
    evaluate.progressive_val_score(samples, model, metric)
    of_the_mean = error(dummy.StatisticRegressor(stats.Mean()))
    assert metric.metrics["one"].get() < 0.5 * of_the_mean
    assert metric.metrics["other"].get() < of_the_mean


@pytest.mark.parametrize(
    "wrap",
    [
        imblearn.RandomUnderSampler,
        imblearn.RandomOverSampler,
        functools.partial(imblearn.RandomSampler, sampling_rate=0.5),
    ],
    ids=["under", "over", "both"],
)
def test_a_rare_class_is_found(wrap):
    rare = [(x, y > 0.8) for x, y in NUMBERS]
    model = wrap(PUFEClassifier(), desired_dist={False: 0.5, True: 0.5}, seed=1)
    # Who always says the same scores one half.
    assert evaluate.progressive_val_score(rare, model, metrics.BalancedAccuracy()).get() > 0.75


def test_hard_samples():
    know_much_more_than_nothing(imblearn.HardSamplingClassifier(PUFEClassifier(), size=30, p=0.2, seed=1))


def test_a_change_of_the_concept_starts_the_model_anew():
    turned = [(x, y if t < 150 else not y) for t, (x, y) in enumerate(BOOLS * 2)]
    model = drift.DriftRetrainingClassifier(
        PUFEClassifier(), drift.binary.DDM(warm_start=20), train_in_background=False
    )
    first = model.model
    right = []
    for x, y in turned:
        right.append(model.predict_one(x) == y)
        model.learn_one(x, y)
    assert model.model is not first
    assert statistics.mean(right[-100:]) > 0.8


def test_labels_are_asked_for_where_they_are_worth_it():
    model = active.EntropySampler(PUFEClassifier(), discount_factor=1, seed=1)
    asked, right = [], []
    for x, y in BOOLS:
        guess, ask = model.predict_one(x)
        asked.append(ask)
        right.append(guess == y)
        if ask:
            model.learn_one(x, y)
    assert 0 < sum(asked) < N
    assert statistics.mean(right) > majority(BOOLS) + 0.1


# What stands in front.


@pytest.mark.parametrize(
    ("transformer", "by_hand"),
    [
        (compose.Prefixer("p "), lambda x: {f"p {key}": value for key, value in x.items()}),
        (compose.Suffixer(" s"), lambda x: {f"{key} s": value for key, value in x.items()}),
        (compose.Renamer({"s0_0": "new"}), lambda x: {"new" if key == "s0_0" else key: x[key] for key in x}),
        (compose.Discard("s0_0", "s1_1"), lambda x: {key: x[key] for key in x if key not in ("s0_0", "s1_1")}),
        (compose.SelectType(float), dict),
        (compose.FuncTransformer(lambda x: {key: x[key] ** 2 for key in x}), lambda x: {key: x[key] ** 2 for key in x}),
        (preprocessing.Binarizer(), lambda x: {key: value > 0 for key, value in x.items()}),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, base.Base) else "",
)
def test_transformers_that_learn_nothing(transformer, by_hand):
    assert played(transformer | PUFERegressor(), NUMBERS) == played(
        PUFERegressor(), [(by_hand(x), y) for x, y in NUMBERS]
    )


UNSUPERVISED = [
    preprocessing.StandardScaler(),
    preprocessing.AdaptiveStandardScaler(),
    preprocessing.MinMaxScaler(),
    preprocessing.MaxAbsScaler(),
    preprocessing.RobustScaler(),
    preprocessing.Normalizer(),
    preprocessing.FeatureHasher(n_features=20, seed=1),
    preprocessing.GaussianRandomProjector(n_components=6, seed=1),
    preprocessing.StatImputer(),
    feature_selection.VarianceThreshold(0.1),
    FeatureRecovery(),
]


@pytest.mark.parametrize("transformer", UNSUPERVISED, ids=lambda transformer: type(transformer).__name__)
def test_transformers_that_learn(transformer):
    """By hand: predict on what is transformed; then learn to transform, transform anew, and learn."""
    step, model, by_hand = transformer.clone(), PUFERegressor(), []
    for x, y in NUMBERS:
        by_hand.append(model.predict_one(step.transform_one(x)))
        step.learn_one(x)
        model.learn_one(step.transform_one(x), y)
    assert played(transformer.clone() | PUFERegressor(), NUMBERS) == by_hand
    # Some of them throw away what the target depends on, but not all of it.
    assert error(transformer.clone() | PUFERegressor()) < 0.8 * error(dummy.StatisticRegressor(stats.Mean()))


def test_features_that_are_selected_come_and_go():
    """The best ones by the data so far are others now and then, so keys appear and disappear."""
    pipeline = feature_selection.SelectKBest(stats.PearsonCorr(), k=3, use_abs=True) | PUFEClassifier()
    keys = set()
    for x, y in BOOLS:
        keys.add(frozenset(pipeline["SelectKBest"].transform_one(x)))
        pipeline.learn_one(x, y)
    assert len(keys) > 5
    assert accuracy(pipeline.clone(), BOOLS) > majority(BOOLS) + 0.1


def test_values_that_are_none_are_imputed_or_absent():
    written = [({key: x.get(key) for key in ("s0_0", "s0_1", "s0_2", "s0_3")}, y) for x, y in NUMBERS[:80]]
    assert any(None in x.values() for x, _ in written)
    imputed = preprocessing.StatImputer(*((key, stats.Mean()) for key in written[0][0])) | PUFERegressor()
    for x, y in written:
        assert math.isfinite(imputed.predict_one(x))
        imputed.learn_one(x, y)
    assert all(None not in imputed["StatImputer"].transform_one(x).values() for x, _ in written)
    dropped = [({key: value for key, value in x.items() if value is not None}, y) for x, y in written]
    assert played(PUFERegressor(), written) == played(PUFERegressor(), dropped)


def test_words_and_numbers_side_by_side():
    rng = random.Random(1)
    rows = [{"colour": rng.choice(["red", "green", "blue"]), "size": rng.gauss(0, 1)} for _ in range(N)]
    samples = [(x, (x["colour"] == "red") == (x["size"] > -0.5)) for x in rows]
    encoded = compose.SelectType(str) | preprocessing.OneHotEncoder()
    crossed = encoded.clone() * compose.SelectType(float)
    model = (compose.SelectType(float) + encoded + crossed) | PUFEClassifier(absent="zero")
    know_much_more_than_nothing(model, samples)


def test_products_of_features():
    rng = random.Random(1)
    rows = [{"a": rng.gauss(0, 1), "b": rng.gauss(0, 1)} for _ in range(N)]
    samples = [(x, x["a"] * x["b"]) for x in rows]
    product = (compose.Select("a") * compose.Select("b")) | PUFERegressor()
    by_hand = [({"a*b": x["a"] * x["b"]}, y) for x, y in samples]
    assert played(product, samples) == played(PUFERegressor(), by_hand)
    assert error(product.clone(), samples) < 0.2 * error(PUFERegressor(), samples)


@pytest.mark.parametrize("make", [feature_extraction.BagOfWords, feature_extraction.TFIDF])
def test_words_of_texts(make):
    rng = random.Random(1)
    topics = {"sport": ["ball", "goal", "team", "run"], "food": ["bread", "soup", "salt", "ball"]}
    texts = [(" ".join(rng.choices(topics[topic], k=4)), topic) for topic in rng.choices(list(topics), k=N)]
    know_much_more_than_nothing(make() | PUFEClassifier(absent="zero"), texts)


def test_means_of_the_target():
    samples = [({"who": "abc"[t % 3], "t": float(t % 7)}, float(t % 3)) for t in range(N)]
    means = feature_extraction.TargetAgg(by="who", how=stats.Mean())
    model = (compose.Select("t") + means) | PUFERegressor()
    assert error(model, samples) < 0.2 * error(compose.Select("t") | PUFERegressor(), samples)


def test_a_recovery_in_a_union():
    """By hand: what both make of a sample, in one dict."""
    model = (FeatureRecovery() + (compose.Prefixer("raw ") | preprocessing.StandardScaler())) | PUFERegressor()
    recovery, scaler, ours, by_hand = FeatureRecovery(), preprocessing.StandardScaler(), PUFERegressor(), []

    def both(x):
        return scaler.transform_one({f"raw {key}": value for key, value in x.items()}) | recovery.transform_one(x)

    for x, y in NUMBERS:
        by_hand.append(ours.predict_one(both(x)))
        recovery.learn_one(x)
        scaler.learn_one({f"raw {key}": value for key, value in x.items()})
        ours.learn_one(both(x), y)
    assert played(model, NUMBERS) == pytest.approx(by_hand, rel=1e-6)


def test_a_recovery_keeps_a_river_model_alive():
    model = (FeatureRecovery() + compose.Prefixer("raw ")) | linear_model.LogisticRegression()
    assert accuracy(model, BOOLS) > accuracy(linear_model.LogisticRegression(), BOOLS)


def test_learning_while_predicting_is_observing():
    """What River calls a warm-up: transformers learn from samples without a label."""
    pipeline, recovery = FeatureRecovery() | linear_model.LinearRegression(), FeatureRecovery()
    with compose.learn_during_predict():
        for x, _ in NUMBERS:
            pipeline.predict_one(x)
            recovery.learn_one(x)
    assert recovery.vanished
    assert pipeline["FeatureRecovery"].vanished == recovery.vanished
    assert pipeline["FeatureRecovery"].recover_one(x) == recovery.recover_one(x)


@pytest.mark.parametrize(
    "anomalies",
    [
        anomaly.QuantileFilter(anomaly.HalfSpaceTrees(seed=1), q=0.95),
        anomaly.QuantileFilter(anomaly.OneClassSVM(), q=0.95),
        anomaly.ThresholdFilter(anomaly.GaussianScorer(), threshold=0.99),
    ],
    ids=lambda filter: type(filter.anomaly_detector).__name__,
)
def test_anomalies_are_left_out(anomalies):
    """By hand: the filter learns, and then the model, but from nothing that is an anomaly."""
    pipeline, step, model = anomalies.clone() | PUFERegressor(), anomalies.clone(), PUFERegressor()
    n_anomalies = 0
    for t, (x, y) in enumerate(NUMBERS):
        if t % 30 == 29:
            x, y = {key: 1e3 * value for key, value in x.items()}, 1e3
        seen = (x, y) if step._supervised else (x,)
        step.learn_one(*seen)
        if step.classify(step.score_one(*seen)):
            n_anomalies += 1
        else:
            model.learn_one(x, y)
        pipeline.learn_one(x, y)
        assert pipeline.predict_one(x) == model.predict_one(x)
    assert 0 < n_anomalies < N / 2


def test_debugging_a_pipeline():
    pipeline = preprocessing.StandardScaler() | PUFEClassifier()
    played(pipeline, WORDS)
    x = WORDS[-1][0]
    before = pickle.dumps(pipeline)
    told = pipeline.debug_one(x)
    assert pickle.dumps(pipeline) == before
    assert told.index("0. Input") < told.index("1. StandardScaler") < told.index("2. PUFEClassifier")
    rows = {line.split()[0]: line.split() for line in told.splitlines() if line.strip()}
    headers = rows["Expert"][2:]
    assert sorted(headers) == ["high", "low", "middle"]
    for label, probability in pipeline.predict_proba_one(x).items():
        assert rows["mixture"][2 + headers.index(label)] == f"{probability:.3f}"
        assert f"{label}: {probability:.5f}" in told
    assert max(map(len, told.splitlines())) < 80


# Evaluation and metrics.


def test_steps_of_an_evaluation_are_those_of_a_loop():
    model, right, by_hand = PUFEClassifier(), [], []
    for t, (x, y) in enumerate(BOOLS):
        right.append(model.predict_one(x) == y)
        model.learn_one(x, y)
        if (t + 1) % 50 == 0:
            by_hand.append((t + 1, statistics.mean(right)))
    steps = evaluate.iter_progressive_val_score(
        BOOLS, PUFEClassifier(), metrics.Accuracy(), step=50, measure_time=True, measure_memory=True
    )
    seen = []
    for step in steps:
        seen.append((step["Step"], step["Accuracy"].get()))
        assert step["Memory"] > 0
    assert [round_ for round_, _ in seen] == [round_ for round_, _ in by_hand]
    assert [value for _, value in seen] == pytest.approx([value for _, value in by_hand])


def test_predictions_of_an_evaluation_are_those_of_a_loop():
    steps = evaluate.iter_progressive_val_score(NUMBERS, PUFERegressor(), metrics.MAE(), yield_predictions=True)
    assert [step["Prediction"] for step in steps] == played(PUFERegressor(), NUMBERS)


@pytest.mark.parametrize("delay", [0, 1, 25])
def test_labels_that_come_late(delay):
    """By hand: a label is there after so many rounds, and before the next sample."""
    samples = [({**x, "moment": NOON + t * MINUTE}, y) for t, (x, y) in enumerate(NUMBERS)]
    evaluated = evaluate.progressive_val_score(
        samples,
        compose.Discard("moment") | PUFERegressor(),
        metrics.MAE(),
        moment="moment",
        delay=delay * MINUTE,
    )
    model, waiting, errors = PUFERegressor(), collections.deque(), []
    for x, y in NUMBERS:
        while len(waiting) >= max(delay, 1):
            model.learn_one(*waiting.popleft())
        errors.append(abs(model.predict_one(x) - y))
        waiting.append((x, y))
    assert evaluated.get() == pytest.approx(statistics.mean(errors), rel=1e-9)


def test_questions_and_answers():
    model, asked, errors = PUFERegressor(), {}, []
    n_waiting = 0
    for i, x, y in stream.simulate_qa(NUMBERS, moment=None, delay=lambda x, y: 10):
        if y is None:
            asked[i] = model.predict_one(x)
        else:
            errors.append(abs(asked.pop(i) - y))
            model.learn_one(x, y)
        n_waiting = max(n_waiting, len(asked))
    assert len(errors) == N
    assert n_waiting == 10
    assert statistics.mean(errors[N // 2 :]) < 0.5 * statistics.mean(abs(y) for _, y in NUMBERS[N // 2 :])


def test_weights_of_samples_are_refused_where_the_model_takes_none():
    model = PUFERegressor(preprocessing.StandardScaler() | linear_model.PARegressor())
    model.learn_one({"a": 1.0}, 1.0)
    before = pickle.dumps(model)
    with pytest.raises(ValueError, match=r"w is 2\.0, but Pipeline does not support weights"):
        model.learn_one({"a": 2.0, "b": 1.0}, 1.0, w=2.0)
    assert pickle.dumps(model) == before


def test_weights_of_samples_reach_the_model():
    weights = [1.0 + t % 3 for t in range(N)]
    model, errors = PUFERegressor(), []
    for (x, y), w in zip(NUMBERS, weights):
        errors.append(abs(model.predict_one(x) - y))
        model.learn_one(x, y, w=w)
    weighted = error(PUFERegressor(), [(x, y, {"w": w}) for (x, y), w in zip(NUMBERS, weights)])
    assert weighted == pytest.approx(statistics.mean(errors))
    assert weighted != error(PUFERegressor())


def test_time_and_memory_are_shown(capsys):
    evaluate.progressive_val_score(
        BOOLS, PUFEClassifier(), metrics.Accuracy(), print_every=100, show_time=True, show_memory=True
    )
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == ["[100]", "[200]", "[300]"]
    assert all("Accuracy" in line and line.endswith("iB") and "00:00:" in line for line in lines)


def test_a_sum_of_metrics_is_each_of_them():
    together = metrics.Accuracy() + metrics.LogLoss() + metrics.ROCAUC()
    evaluate.progressive_val_score(BOOLS, PUFEClassifier(), together)
    parts = metrics.Accuracy(), metrics.LogLoss(), metrics.ROCAUC()
    alone = [evaluate.progressive_val_score(BOOLS, PUFEClassifier(), part).get() for part in parts]
    assert [part.get() for part in together] == alone
    accurate, lost, area = alone
    assert accurate > majority(BOOLS)
    assert lost < 0.5 * math.log(2)
    assert area > 0.9


@pytest.mark.parametrize("samples", [BOOLS, WORDS], ids=["bools", "words"])
def test_a_report_of_all_classes(samples):
    """The first sample is learned before: until there is a label the classes are False and True, also among words."""
    model = PUFEClassifier()
    model.learn_one(*samples[0])
    report = evaluate.progressive_val_score(samples[1:], model, metrics.ClassificationReport())
    rows = [line.split() for line in str(report).splitlines()]
    for label, n in collections.Counter(y for _, y in samples[1:]).items():
        assert [row[-1] for row in rows if row[:1] == [str(label)]] == [str(n)]


def test_metrics_of_words_from_the_first_sample_on():
    """None of these has a part of its own for the class False of the first answer."""
    together = metrics.Accuracy() + metrics.WeightedF1() + metrics.CohenKappa() + metrics.CrossEntropy()
    evaluate.progressive_val_score(WORDS, PUFEClassifier(), together)
    accurate, weighted, kappa, lost = (part.get() for part in together)
    assert accurate > majority(WORDS)
    assert weighted == pytest.approx(accurate, abs=0.05)
    assert kappa > 0.5
    assert lost < 0.8 * math.log(3)


@pytest.mark.parametrize("window", [20, 100])
def test_metrics_that_forget(window):
    """Of the latest rounds, or of the latest minutes, one of which a round takes."""
    rolling = utils.Rolling(metrics.Accuracy, window_size=window)
    evaluate.progressive_val_score(BOOLS, PUFEClassifier(), rolling)
    timed = utils.TimeRolling(metrics.Accuracy, period=window * MINUTE)
    model, right = PUFEClassifier(), []
    for t, (x, y) in enumerate(BOOLS):
        guess = model.predict_one(x)
        right.append(guess == y)
        timed.update(y, guess, t=NOON + t * MINUTE)
        model.learn_one(x, y)
    assert rolling.get() == pytest.approx(statistics.mean(right[-window:]))
    assert timed.get() == pytest.approx(statistics.mean(right[-window:]))


def test_a_track():
    track = evaluate.Track("evolving", [EVOLVING], metrics.MAE())
    last = [*track.run(PUFERegressor(), EVOLVING, n_checkpoints=3)][-1]
    assert last["Step"] == N
    assert last["MAE"].get() == pytest.approx(error(PUFERegressor(), EVOLVING))


# Data from elsewhere.


@functools.cache
def keys_of_all():
    return tuple(dict.fromkeys(key for x, _ in NUMBERS for key in x))


def write_csv(path):
    lines = [",".join((*keys_of_all(), "y"))]
    lines += [",".join((*(repr(x[key]) if key in x else "" for key in keys_of_all()), repr(y))) for x, y in NUMBERS]
    path.write_text("\n".join(lines) + "\n")


def from_csv(path, **kwargs):
    write_csv(path)
    converters = dict.fromkeys((*keys_of_all(), "y"), lambda cell: float(cell) if cell else None)
    return stream.iter_csv(path, target="y", converters=converters, **kwargs)


def from_arff(path):
    header = [f"@attribute {key} numeric" for key in (*keys_of_all(), "y")]
    rows = [",".join((*(repr(x[key]) if key in x else "?" for key in keys_of_all()), repr(y))) for x, y in NUMBERS]
    path.write_text("\n".join(["@relation sensors", *header, "@data", *rows]) + "\n")
    return stream.iter_arff(path, target="y")


def from_libsvm(path):
    """Keys are numbers there."""
    numbers = {key: i for i, key in enumerate(keys_of_all())}
    rows = [" ".join((repr(y), *(f"{numbers[key]}:{value!r}" for key, value in x.items()))) for x, y in NUMBERS]
    path.write_text("\n".join(rows) + "\n")
    return stream.iter_libsvm(path, target_type=float)


def from_pandas(path):
    X, y = pd.DataFrame([x for x, _ in NUMBERS], columns=list(keys_of_all())), pd.Series([y for _, y in NUMBERS])
    return stream.iter_frame(X, y)


def from_polars(path):
    rows = [{key: x.get(key) for key in keys_of_all()} for x, _ in NUMBERS]
    return stream.iter_frame(pl.DataFrame(rows, infer_schema_length=None), pl.Series([y for _, y in NUMBERS]))


def from_cache(path):
    cache = stream.Cache(path.parent)
    list(cache(iter(NUMBERS), key="sensors"))
    return cache["sensors"]


@pytest.mark.parametrize(
    "read",
    [
        from_csv,
        functools.partial(from_csv, drop_nones=True),
        from_arff,
        from_libsvm,
        from_pandas,
        from_polars,
        from_cache,
    ],
    ids=["csv", "csv without nones", "arff", "libsvm", "pandas", "polars", "cache"],
)
def test_streams_of_files_and_frames(read, tmp_path):
    """However absence is written, it is absence, and the answers are those of the samples themselves."""
    assert played(PUFERegressor(), read(tmp_path / "data")) == pytest.approx(played(PUFERegressor(), NUMBERS), rel=1e-6)


def test_a_shuffled_stream_has_its_samples_in_another_order():
    shuffled = list(stream.shuffle(iter(BOOLS), buffer_size=20, seed=1))
    assert shuffled != BOOLS
    assert sorted(map(repr, shuffled)) == sorted(map(repr, BOOLS))
    know_much_more_than_nothing(PUFEClassifier(), shuffled)


def test_data_of_scikit_learn_and_models_for_it():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, 3))
    X_test = rng.normal(size=(N, 3))
    weights = np.array([1.0, -2.0, 0.5])
    classifier = compat.convert_river_to_sklearn(PUFEClassifier()).fit(X, X @ weights > 0)
    assert classifier.score(X_test, X_test @ weights > 0) > 0.9
    regressor = compat.convert_river_to_sklearn(PUFERegressor()).fit(X, X @ weights)
    assert regressor.score(X_test, X_test @ weights) > 0.9


# Time series.


def test_a_regressor_of_the_past():
    """A wave, forecast by a linear model of its last values."""
    wave = [math.sin(2 * math.pi * t / 12) for t in range(N + 12)]
    model = time_series.SNARIMAX(p=12, d=0, q=0, regressor=PUFERegressor())
    for y in wave[:N]:
        model.learn_one(y)
    forecast = model.forecast(horizon=12)
    assert statistics.mean(abs(a - b) for a, b in zip(forecast, wave[N:])) < 0.2


def test_a_regressor_of_the_past_with_features_that_come_and_go():
    model, errors = time_series.SNARIMAX(p=2, d=0, q=0, regressor=PUFERegressor()), []
    for t, (x, y) in enumerate(NUMBERS):
        if t >= 2:
            errors.append(abs(model.forecast(horizon=1, xs=[x])[0] - y))
        model.learn_one(y, x)
    assert statistics.mean(errors) < 0.5 * error(dummy.StatisticRegressor(stats.Mean()))


# What every object of River has.


OURS = [PUFEClassifier(), PUFERegressor(), FeatureRecovery()]
each_of_ours = pytest.mark.parametrize("model", OURS, ids=lambda model: type(model).__name__)


@each_of_ours
def test_nothing_can_be_mutated_by_mistake(model):
    """Parts are prototypes: to change one later would change nothing, so it is refused."""
    model = model.clone()
    before = pickle.dumps(model)
    for name in model._get_params():
        with pytest.raises(ValueError, match=f"'{name}' is not a mutable attribute"):
            model.mutate({name: None})
    assert pickle.dumps(model) == before


class Text(html.parser.HTMLParser):
    """What is open, and what is written."""

    def __init__(self):
        super().__init__()
        self.open, self.text = [], ""

    def handle_starttag(self, tag, attrs):
        if tag not in ("br", "path", "circle"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


@each_of_ours
def test_pictures_of_pipelines_name_each_part(model):
    pipeline = preprocessing.StandardScaler() | model.clone()
    parsed = Text()
    parsed.feed(pipeline._repr_html_())
    assert parsed.open == []
    assert "StandardScaler" in parsed.text
    assert type(model).__name__ in parsed.text
    for name in model._get_params():
        assert name in repr(model)
        assert name in parsed.text


def test_memory_is_that_of_arrays_and_keys():
    sizes = []
    for width in (10, 100):
        model = PUFEClassifier()
        for t in range(50):
            model.learn_one({key: math.sin(t * (key + 1)) for key in range(width)}, t % 2 == 0)
        sizes.append(model._raw_memory_usage)
        assert sizes[-1] > 0.5 * len(pickle.dumps(model))
    # Two matrices of second-order rules, of twice eight bytes an entry.
    assert sizes[1] - sizes[0] > 2 * 8 * (100**2 - 10**2)
    assert PUFEClassifier()._memory_usage.endswith("iB")


def test_calls_can_be_logged(caplog):
    with caplog.at_level("DEBUG"), utils.log_method_calls(lambda model: isinstance(model, FeatureRecovery)):
        played(FeatureRecovery() | linear_model.LinearRegression(), NUMBERS[:3])
    assert "FeatureRecovery.learn_one" in caplog.text
