"""Laws of the tasks: what scores mean, what losses are, which targets are refused, and what must not matter."""

from __future__ import annotations

import datetime
import decimal
import itertools
import math
import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from river import dummy, linear_model, naive_bayes, stats

from river_pufe import PUFEClassifier, PUFERegressor
from river_pufe.tasks import Classification, MarginClassification, PlainRegression, Regression
from river_pufe.tasks.target_scaling import TargetScaler

LABELS = ["a", 2, (3, "c"), frozenset([4]), 5.5]
CLASSIFICATIONS = [Classification(), MarginClassification()]
REGRESSIONS = [Regression(), PlainRegression()]
any_classification = pytest.mark.parametrize("prototype", CLASSIFICATIONS, ids=lambda task: type(task).__name__)
any_regression = pytest.mark.parametrize("prototype", REGRESSIONS, ids=lambda task: type(task).__name__)
# Those that differ do so by a millionth at least.
targets = st.floats(-1e6, 1e6).map(lambda y: round(y, 6))


def knowing(prototype, labels):
    task = prototype.clone()
    for label in labels:
        task.register(label)
        task.learn(label, np.zeros(task.n_columns))
    return task


@st.composite
def scored(draw, largest=1e3):
    """The number of classes, and scores of some experts, shape (n, classes - 1)."""
    n_classes = draw(st.integers(2, 5))
    shape = (draw(st.integers(1, 4)), n_classes - 1)
    return n_classes, draw(arrays(float, shape, elements=st.floats(-largest, largest)))


def softmax(scores):
    """Probabilities of all classes, from the scores of all but the first."""
    whole = np.concatenate([[0.0], scores])
    odds = np.exp(whole - whole.max())
    return odds / odds.sum()


# Classification.


@settings(deadline=None, max_examples=60)
@given(scored())
def test_probabilities_are_the_softmax_of_the_scores(case):
    """The first class has score 0; with two classes it is the sigmoid."""
    n_classes, scores = case
    predictions = knowing(Classification(), LABELS[:n_classes]).predictions(scores)
    expected = np.array([softmax(row) for row in scores])
    np.testing.assert_allclose(predictions, expected[:, 1:], rtol=1e-9, atol=1e-300)
    assert (predictions >= 0).all()
    assert (predictions.sum(1) <= 1 + 1e-12).all()


@any_classification
@settings(deadline=None, max_examples=40)
@given(scored())
def test_two_classes_are_the_case_of_many_in_which_the_others_are_hopeless(prototype, case):
    _, scores = case
    two, three = knowing(prototype, LABELS[:2]), knowing(prototype, LABELS[:3])
    scores = scores[:, :1].clip(-30, 30)
    hopeless = np.hstack([scores, np.full_like(scores, -400.0)])
    for label in LABELS[:2]:
        a, b = two.predictions(scores), three.predictions(hopeless)
        np.testing.assert_allclose(two.losses(a, two.target(label)), three.losses(b, three.target(label)), atol=1e-12)
    for p, q in zip(a, b):
        assert three.answer(q)[LABELS[0]] == pytest.approx(two.answer(p)[LABELS[0]], abs=1e-12)


@any_classification
@settings(deadline=None, max_examples=60)
@given(scored())
def test_losses_of_classes_lie_in_the_unit_interval(prototype, case):
    n_classes, scores = case
    task = knowing(prototype, LABELS[:n_classes])
    predictions = task.predictions(scores)
    before = predictions.copy()
    for label in LABELS[:n_classes]:
        losses = task.losses(predictions, task.target(label))
        assert losses.shape == (len(scores),)
        assert ((losses >= 0) & (losses <= 1)).all()
    assert (predictions == before).all()


@settings(deadline=None, max_examples=40)
@given(scored())
def test_brier_loss_is_half_the_squared_distance(case):
    """Over all classes, the first included: 0 when certain and right, 1 when certain and wrong."""
    n_classes, scores = case
    task = knowing(Classification(), LABELS[:n_classes])
    predictions = task.predictions(scores)
    for i, label in enumerate(LABELS[:n_classes]):
        whole = np.array([softmax(row) for row in scores]) - np.eye(n_classes)[i]
        expected = 0.5 * np.sum(whole**2, 1)
        np.testing.assert_allclose(task.losses(predictions, task.target(label)), expected, atol=1e-12)
        for j, other in enumerate(LABELS[:n_classes]):
            certain = task.target(other)[None]
            assert task.losses(certain, task.target(label)).tolist() == [float(i != j)]


@settings(deadline=None, max_examples=40)
@given(scored(largest=20))
def test_margins_cost_the_logistic_loss_cut_at_one(case):
    n_classes, scores = case
    task = knowing(MarginClassification(), LABELS[:n_classes])
    for i, label in enumerate(LABELS[:n_classes]):
        expected = [min(-math.log(softmax(row)[i]), 1.0) for row in scores]
        np.testing.assert_allclose(task.losses(task.predictions(scores), task.target(label)), expected, atol=1e-12)


@any_classification
@settings(deadline=None, max_examples=40)
@given(scored(largest=30), st.randoms(use_true_random=False))
def test_order_of_the_classes_changes_neither_losses_nor_answers_nor_curvature(prototype, case, random):
    n_classes, scores = case
    order = random.sample(range(n_classes), n_classes)
    labels = LABELS[:n_classes]
    one, other = knowing(prototype, labels), knowing(prototype, [labels[i] for i in order])
    whole = np.hstack([np.zeros((len(scores), 1)), scores])[:, order]
    p, q = one.predictions(scores), other.predictions(whole[:, 1:] - whole[:, :1])
    for label in labels:
        np.testing.assert_allclose(
            other.losses(q, other.target(label)), one.losses(p, one.target(label)), rtol=1e-9, atol=1e-12
        )
    for a, b in zip(p, q):
        assert other.answer(b) == pytest.approx(one.answer(a), abs=1e-9)
        assert other.curvature(b, other.target(label)) == pytest.approx(one.curvature(a, one.target(label)), abs=1e-9)


@any_classification
@settings(deadline=None, max_examples=40)
@given(scored(largest=30))
def test_errors_treat_all_classes_alike(prototype, case):
    """(e_c − e_0)(C − 1)/C with e the distances of target and probability, for each class c but the first."""
    n_classes, scores = case
    task = knowing(prototype, LABELS[:n_classes])
    for i, label in enumerate(LABELS[:n_classes]):
        e = np.eye(n_classes)[i] - np.array([softmax(row) for row in scores])
        expected = e[:, 1:] if n_classes == 2 else (e[:, 1:] - e[:, :1]) * (n_classes - 1) / n_classes
        np.testing.assert_allclose(task.errors(task.predictions(scores), task.target(label)), expected, atol=1e-12)


@any_classification
@settings(deadline=None, max_examples=40)
@given(scored())
def test_answers_are_distributions_over_the_classes(prototype, case):
    n_classes, scores = case
    task = knowing(prototype, LABELS[:n_classes])
    for weights in np.vstack([np.eye(len(scores)), np.full(len(scores), 1 / len(scores))]):
        answer = task.answer(weights @ task.predictions(scores))
        assert list(answer) == LABELS[:n_classes]
        assert sum(answer.values()) == pytest.approx(1)
        assert min(answer.values()) >= 0


@pytest.mark.parametrize("mixture", [[1 + 2**-52], [0.6, 0.4 + 2**-52], [0.0, 1.0 + 1e-15]])
def test_rounding_makes_no_answer_of_more_than_1(mixture):
    answer = knowing(Classification(), LABELS[: len(mixture) + 1]).answer(np.array(mixture))
    assert max(answer.values()) <= 1.0
    assert sum(answer.values()) <= 1.0
    assert list(answer.values())[1:] == pytest.approx(mixture)


@any_classification
@settings(deadline=None, max_examples=40)
@given(scored())
def test_curvature_is_the_mean_variance_of_the_classes(prototype, case):
    """p(1 − p) for two classes: above 0 but where all is certain."""
    n_classes, scores = case
    task = knowing(prototype, LABELS[:n_classes])
    for row in scores:
        p = softmax(row)
        curvature = task.curvature(task.predictions(row[None])[0], task.target(LABELS[0]))
        assert curvature == pytest.approx((1 - p @ p) / n_classes, abs=1e-12)
        assert -1e-12 <= curvature <= 0.25


@any_classification
def test_before_any_label(prototype):
    task = prototype.clone()
    assert task.n_columns == 0
    assert task.answer(np.zeros(0)) == {False: 0.5, True: 0.5}
    task.register("a")
    assert task.n_columns == 0
    predictions = task.predictions(np.zeros((3, 0)))
    assert task.losses(predictions, task.target("a")).tolist() == [0.0] * 3
    assert task.errors(predictions, task.target("a")).shape == (3, 0)
    assert task.curvature(predictions[0], task.target("a")) == 0.0
    assert task.answer(predictions[0]) == {"a": 1.0}


@any_classification
@pytest.mark.parametrize("first", [True, False])
def test_a_bool_has_a_counterpart(prototype, first):
    task = knowing(prototype, [first])
    assert task.answer(task.predictions(np.zeros((1, 1)))[0]) == {False: 0.5, True: 0.5}


@any_classification
@pytest.mark.parametrize("labels", [[True, "unknown"], [True, False, "unknown"], [False, 7, 8, True]])
def test_a_bool_that_never_came_is_no_class(prototype, labels):
    task = knowing(prototype, labels)
    for score in (3.0, -1e3):
        answer = task.answer(task.predictions(np.full((1, task.n_columns), score))[0])
        assert set(answer) == set(labels)
        assert sum(answer.values()) == pytest.approx(1)


def test_what_a_river_model_answers_is_what_its_scores_stand_for():
    """For any number of classes, with floors where a probability is 0."""
    rng = np.random.default_rng(0)
    for n_classes, first in itertools.product([2, 3], [0, 1]):
        labels = [*"abc"[:n_classes]]
        task, model = knowing(Classification(), labels[first:] + labels[:first]), naive_bayes.GaussianNB()
        for t in range(60):
            x = dict(enumerate(rng.normal(size=2) + t % n_classes))
            expected = model.predict_proba_one(x)
            answer = task.answer(task.predictions(task.scores(model, x)[None])[0])
            for label in labels:
                assert answer[label] == pytest.approx(
                    expected.get(label, 1 / n_classes if not expected else 0), abs=1e-8
                )
            model.learn_one(x, labels[t % n_classes])


# Which labels there are.


@any_classification
@pytest.mark.parametrize(
    "label",
    [
        None,
        math.nan,
        np.float32("nan"),
        np.datetime64("NaT", "s"),
        np.timedelta64("NaT", "ns"),
        decimal.Decimal("nan"),
        decimal.Decimal("sNaN"),
        pd.NA,
        pd.NaT,
        complex("nan"),
    ],
    ids=repr,
)
def test_missing_labels_are_refused(prototype, label):
    with pytest.raises(ValueError, match="observe_one"):
        prototype.clone().validate(label)


@any_classification
@pytest.mark.parametrize("label", [[1], {1}, {"a": 1}, np.array([1, 2]), np.array(1), bytearray(b"a"), ([],)], ids=repr)
def test_labels_that_are_not_hashable_are_refused(prototype, label):
    with pytest.raises(ValueError, match="not hashable"):
        prototype.clone().validate(label)


@any_classification
@pytest.mark.parametrize(
    ("label", "plain"),
    [
        (np.bool_(True), True),
        (np.int8(-3), -3),
        (np.uint64(7), 7),
        (np.float64(0.5), 0.5),
        (np.str_("a"), "a"),
        (np.bytes_(b"a"), b"a"),
    ],
    ids=repr,
)
def test_numpy_labels_are_those_of_python(prototype, label, plain):
    checked = prototype.clone().validate(label)
    assert checked == plain
    assert type(checked) is type(plain)


@any_classification
@pytest.mark.parametrize("unit", ["D", "s", "us", "ns"])
@pytest.mark.parametrize("kind", [np.datetime64, np.timedelta64], ids=lambda kind: kind.__name__)
def test_times_stay_what_they_are(prototype, kind, unit):
    """The plain Python of some of them is an int, which says less."""
    label = kind(7, unit)
    assert prototype.clone().validate(label) is label
    model = PUFEClassifier(task=prototype)
    for t in range(6):
        model.learn_one({"a": (-1.0) ** t}, [label, kind(8, unit)][t % 2])
    answer = model.predict_one({"a": 1.0})
    assert answer == label
    assert type(answer) is kind


@settings(deadline=None, max_examples=30)
@given(st.text() | st.integers() | st.booleans() | st.tuples(st.integers(), st.text()) | st.dates() | st.binary())
def test_all_other_labels_are_taken_as_they_are(label):
    assert Classification().validate(label) is label


# Which class comes first.


def stream_of_classes(n_rounds=230, late=1000):
    """Features come and go and return, and a fourth class turns up late."""
    rng = np.random.default_rng(0)
    directions = rng.normal(size=(4, 3))
    for t, z in enumerate(rng.normal(size=(n_rounds, 3)).tolist()):
        old = {"old 1": z[0], "old 2": z[1] + z[2]}
        new = {"new 1": z[1], "new 2": z[2] - z[0], "new 3": z[0]}
        x = old if t < 60 or t >= 160 else new if 80 <= t < 140 else old | new
        yield x, "abcd"[int(np.argmax(directions[: 3 + (t >= late)] @ z))]


def probabilities(order, late, model):
    samples = list(stream_of_classes(late=late))
    for label in order:
        # Without weight a sample tells that its class exists, and nothing else.
        model.learn_one(samples[0][0], label, w=0.0)
    answers = []
    for x, y in samples:
        answer = model.predict_proba_one(x)
        answers.append([answer.get(label, 0.0) for label in "abcd"])
        model.learn_one(x, y)
    return np.array(answers)


@pytest.mark.parametrize("late", [1000, 30, 70, 200])
def test_which_class_comes_first_changes_nothing(late):
    one, other = (probabilities(order, late, PUFEClassifier()) for order in ("abc", "cab"))
    np.testing.assert_allclose(one, other, atol=1e-9)


def test_which_class_comes_first_changes_nothing_where_one_comes_while_features_are_gone():
    one, other = (probabilities(order, 100, PUFEClassifier()) for order in ("abc", "cab"))
    np.testing.assert_allclose(one, other, atol=1e-9)


@pytest.mark.parametrize("task", CLASSIFICATIONS, ids=lambda task: type(task).__name__)
def test_late_classes_are_learned(task):
    answers = probabilities("a", 100, PUFEClassifier(task=task))
    np.testing.assert_allclose(answers.sum(1), 1)
    labels = ["abcd".index(y) for _, y in stream_of_classes(late=100)]
    assert np.mean(answers[-50:].argmax(1) == labels[-50:]) > 0.7
    assert (answers[:100, 3] == 0).all()


# Regression.


@settings(deadline=None, max_examples=60)
@given(st.lists(targets, min_size=1, max_size=10).filter(lambda ys: np.std(ys) > 1e-3 or len(set(ys)) == 1))
def test_the_first_targets_are_judged_as_a_whole(ys):
    """Mean and deviation of all, each taken for at most ten median deviations away from the median."""
    task = knowing(Regression(), ys)
    median = np.median(ys)
    limit = 10 * np.median(np.abs(ys - median))
    cut = np.clip(ys, median - limit, median + limit) if limit > 0 else np.array(ys)
    assert task.answer(np.zeros(1)) == pytest.approx(cut.mean(), rel=1e-6, abs=1e-9)
    assert task.answer(np.ones(1)) - task.answer(np.zeros(1)) == pytest.approx(cut.std(), rel=1e-6, abs=1e-9)


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 2**32 - 1), st.integers(1, 500), st.floats(-6, 6))
def test_later_targets_are_standardized_by_all_that_were_learned(seed, n, exponent):
    # On both sides of their median alike, so that none of the first is an outlier.
    signs = np.where(np.arange(10 + n) % 2, 1, -1)
    ys = (1 + signs * np.random.default_rng(seed).uniform(0.5, 1, size=10 + n)) * 10.0**exponent
    task = knowing(Regression(), ys.tolist())
    assert task.target(5.0).tolist() == pytest.approx([(5.0 - ys.mean()) / ys.std()], rel=1e-6)


@pytest.mark.parametrize("y", [0.1, -1e9, 0.0])
@pytest.mark.parametrize("n", [1, 9, 10, 11, 300])
def test_there_is_no_unit_while_all_targets_are_the_same(y, n):
    task = knowing(Regression(), [y] * n)
    assert task.target(y + 5).tolist() == [0.0]
    assert task.answer(np.ones(1)) == y


@any_regression
@settings(deadline=None, max_examples=40)
@given(st.lists(targets, max_size=30), targets)
def test_an_answer_takes_standardizing_back(prototype, ys, y):
    task = knowing(prototype, [*ys, 1.0, 2.0])
    assert task.answer(task.target(y)) == pytest.approx(y, rel=1e-9, abs=1e-6)


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 2**32 - 1), st.integers(2, 60), st.floats(-6, 6), st.booleans(), st.floats(-10, 10))
def test_unit_of_the_target_changes_nothing_once_two_targets_differ(seed, n, exponent, negative, shift):
    rng = np.random.default_rng(seed)
    ys, scores = rng.normal(size=n), rng.normal(size=(4, 1)) * 3
    sign = (-1) ** negative
    factor, shift = sign * 10.0**exponent, shift * 10.0**exponent
    one, other = knowing(Regression(), ys.tolist()), knowing(Regression(), (factor * ys + shift).tolist())
    y = float(ys[0])
    np.testing.assert_allclose(other.target(factor * y + shift), sign * one.target(y), atol=1e-6)
    np.testing.assert_allclose(
        other.losses(sign * scores, other.target(factor * y + shift)), one.losses(scores, one.target(y)), atol=1e-6
    )
    assert other.answer(sign * scores[0]) == pytest.approx(
        factor * one.answer(scores[0]) + shift, rel=1e-6, abs=1e-6 * abs(factor)
    )


def answers_in_units(factor, shift):
    rng = np.random.default_rng(0)
    model, answers = PUFERegressor(), []
    for z in rng.normal(size=(100, 3)):
        x, y = dict(enumerate(z.tolist())), z @ [1.0, 2.0, -1.0]
        answers.append((model.predict_one(x) - shift) / factor)
        model.learn_one(x, factor * y + shift)
    return np.array(answers[1:])


@pytest.mark.parametrize(("factor", "shift"), [(1000.0, 0.0), (0.001, 0.0), (0.001, 1000.0)])
def test_unit_of_the_target_changes_nothing(factor, shift):
    np.testing.assert_allclose(answers_in_units(factor, shift), answers_in_units(1.0, 0.0), atol=1e-3)


@any_regression
@settings(deadline=None, max_examples=60)
@given(st.lists(targets, max_size=30), targets, arrays(float, (4, 1), elements=st.floats(-1e12, 1e12)))
def test_losses_of_numbers_lie_in_the_unit_interval(prototype, ys, y, scores):
    task = knowing(prototype, ys)
    task.register(y)
    target = task.target(y)
    losses = task.losses(task.predictions(scores), target)
    assert losses.shape == (4,)
    assert ((losses >= 0) & (losses <= 1)).all()
    assert task.losses(target[None], target).tolist() == [0.0]


@settings(deadline=None, max_examples=40)
@given(st.lists(targets, min_size=1, max_size=30), arrays(float, (4, 1), elements=targets))
def test_plain_losses_are_squared_errors_in_units_of_the_range(ys, scores):
    task = knowing(PlainRegression(), ys)
    expected = (np.minimum(np.abs(scores[:, 0] - ys[-1]) / ((max(ys) - min(ys)) or 1), 1)) ** 2
    np.testing.assert_allclose(task.losses(scores, task.target(ys[-1])), expected)
    np.testing.assert_allclose(task.errors(scores, task.target(ys[-1])), 2 * (ys[-1] - scores))


@settings(deadline=None, max_examples=40)
@given(st.lists(targets, max_size=30), targets, arrays(float, (4, 1), elements=st.floats(-1e12, 1e12)))
def test_errors_and_losses_are_told_in_deviations_and_cut(ys, y, scores):
    """A loss of 1 is twice the usual error; the learners see one of up to four deviations."""
    task, usual = Regression(), 0.0
    for n, known in enumerate(ys, start=1):
        usual += (min(float(task.target(known)[0] ** 2), 16.0) - usual) / n
        if (units := task.learn(known, np.zeros(1))) is not None:
            usual *= units[0] ** 2
    target = task.target(y)
    np.testing.assert_allclose(task.errors(scores, target), np.clip(target - scores, -4, 4))
    expected = np.clip((target - scores)[:, 0] / (2 * max(math.sqrt(usual), 1e-10) if ys else 2.0), -1, 1) ** 2
    np.testing.assert_allclose(task.losses(scores, target), expected, rtol=1e-6)


@pytest.mark.parametrize("when", [20, 100, 1000])
@pytest.mark.parametrize("outlier", [1e9, -1e150])
def test_an_outlier_among_the_targets_destroys_nothing(when, outlier):
    rng = np.random.default_rng(0)
    task = Regression()
    for t, y in enumerate(rng.normal(size=when + 200).tolist()):
        task.learn(outlier if t == when else y, np.zeros(task.n_columns))
    assert abs(task.answer(np.zeros(1))) < 0.5
    assert task.answer(np.ones(1)) - task.answer(np.zeros(1)) < 2


@pytest.mark.parametrize(("constant", "when"), [(0, 0), (0, 9), (50, 50)])
def test_an_outlier_among_the_targets_destroys_nothing_wherever_it_comes(constant, when):
    rng = np.random.default_rng(0)
    task = Regression()
    for t, y in enumerate(rng.normal(size=1000).tolist()):
        task.learn(1e9 if t == when else 0.0 if t < constant else y, np.zeros(task.n_columns))
    assert abs(task.answer(np.zeros(1))) < 10


def test_a_lasting_change_of_the_target_is_followed():
    rng = np.random.default_rng(0)
    task = Regression(memory=100)
    for t, y in enumerate(rng.normal(size=3000).tolist()):
        task.learn(y if t < 1000 else 1e6 + 1e3 * y, np.zeros(task.n_columns))
    assert task.answer(np.zeros(1)) == pytest.approx(1e6, rel=0.01)
    assert task.answer(np.ones(1)) - task.answer(np.zeros(1)) == pytest.approx(1e3, rel=0.5)


@pytest.mark.parametrize("factor", [1e-5, 1e-9])
def test_a_target_in_a_smaller_unit_is_followed(factor):
    """An old model in the new unit is right at once: what it knows is told in deviations."""
    rng = np.random.default_rng(0)
    model, errors = PUFERegressor(), []
    for t, z in enumerate(rng.normal(size=(1500, 3))):
        x, y = dict(enumerate(z.tolist())), float(z @ [1.0, 2.0, -1.0] + 5) * (1 if t < 1000 else factor)
        errors.append(abs(model.predict_one(x) - y))
        model.learn_one(x, y)
    assert np.mean(errors[-300:]) < 0.1 * factor


@pytest.mark.parametrize("rest", [0.0, 0.3])
def test_a_target_that_rests_for_long_keeps_its_unit(rest):
    rng = np.random.default_rng(0)
    task = knowing(Regression(), [*rng.normal(size=500).tolist(), *([rest, 0.1 + 0.2] if rest else [rest]) * 400])
    assert task.answer(np.ones(1)) - task.answer(np.zeros(1)) > 0.1


@pytest.mark.parametrize(("n", "collapsed"), [(2, False), (63, False), (64 + 63, True)])
def test_a_unit_is_given_up_only_after_a_whole_block_of_targets_that_vary_far_less(n, collapsed):
    rng = np.random.default_rng(0)
    before, close = rng.normal(size=640).tolist(), (1.0 + 1e-8 * rng.random(n)).tolist()
    task = knowing(Regression(), before + close)
    deviation = float(task.answer(np.ones(1)) - task.answer(np.zeros(1)))
    assert (deviation < 1e-6) is collapsed
    assert deviation < 1e-6 or deviation > 0.8


@pytest.mark.parametrize("seen", [0, 20, 63])
def test_a_new_unit_is_given_up_only_after_a_whole_block_in_it(seen):
    """Targets of another unit say nothing of how much those of this one vary."""
    scaler, rng = TargetScaler(), np.random.default_rng(0)
    for y in rng.normal(size=640 + seen):
        scaler.learn(y)
    scaler.renew(1000.0, 100.0)
    assert (scaler.scale(1000.0), scaler.scale(1100.0)) == pytest.approx((0.0, 1.0))
    close = 1000.0 + 1e-6 * rng.random(64)
    followed = [scaler.learn(y) is not None for y in close]
    assert followed == [True] * 63 + [False]
    assert not scaler.has_unit
    assert scaler.unscale(1.0) == close[-1]


@pytest.mark.parametrize("memory", [0.0, 0.5, -1.0, math.nan])
def test_memory_is_checked(memory):
    with pytest.raises(ValueError, match="memory"):
        Regression(memory)


@any_regression
def test_before_any_number(prototype):
    task = prototype.clone()
    assert task.n_columns == 1
    assert task.answer(np.zeros(1)) == 0.0


@any_regression
def test_what_a_river_model_answers_is_its_score(prototype):
    task = knowing(prototype, [1.0, 5.0, 4.0])
    for model in (dummy.StatisticRegressor(stats.Mean()), linear_model.LinearRegression()):
        model.learn_one({"a": 1.0}, 7.0)
        assert task.answer(task.scores(model, {"a": 1.0})) == pytest.approx(model.predict_one({"a": 1.0}))


@any_regression
@pytest.mark.parametrize(
    "y",
    [None, math.nan, math.inf, "1", b"1", np.str_("1"), [1.0], 1j, 10**400, pd.NA, datetime.date(2020, 1, 1)],
    ids=repr,
)
def test_targets_that_are_no_numbers_are_refused(prototype, y):
    with pytest.raises(ValueError, match="not a finite number"):
        prototype.clone().validate(y)


@any_regression
@pytest.mark.parametrize(
    ("y", "cure"),
    [("21.1", r"float\(…\)"), ("21,1", r"replace\(',', '.'\)"), ("warm", "observe_one"), ("", "observe_one")],
)
def test_a_target_that_is_written_as_a_number_has_another_cure(prototype, y, cure):
    with pytest.raises(ValueError, match=cure):
        prototype.clone().validate(y)


@any_regression
@pytest.mark.parametrize(
    "y", [2, 2.0, np.int8(2), np.float32(2), np.array(2.0), decimal.Decimal(2), np.longdouble(2)], ids=repr
)
def test_numbers_of_all_kinds_are_floats(prototype, y):
    checked = prototype.clone().validate(y)
    assert checked == 2.0
    assert type(checked) is float


@any_regression
@pytest.mark.parametrize("y", [1e200, -1e308])
def test_huge_targets_are_cut_so_that_their_squares_are_finite(prototype, y):
    task = knowing(prototype, [0.0, 1.0])
    checked = task.validate(y)
    task.register(checked)
    losses = task.losses(np.zeros((1, 1)), task.target(checked))
    assert losses.tolist() == [1.0]
    task.learn(checked, np.zeros(task.n_columns))
    assert math.isfinite(task.answer(np.zeros(1)))


@pytest.mark.parametrize("unit", [1e-9, 1e-100])
def test_losses_of_huge_targets_are_finite_in_small_units(unit):
    task = knowing(Regression(), [0.0, unit] * 10)
    with np.errstate(all="raise", under="ignore"):
        losses = task.losses(np.zeros((1, 1)), task.target(task.validate(1e300)))
    assert losses.tolist() == [1.0]


@pytest.mark.parametrize("prototype", [*CLASSIFICATIONS, *REGRESSIONS], ids=lambda task: type(task).__name__)
def test_asking_changes_nothing(prototype):
    ys = ["a", "b", "c"] if isinstance(prototype, Classification) else [1.0, 2.0, 4.0]
    task = knowing(prototype, ys)
    before = pickle.dumps(task)
    predictions = task.predictions(np.ones((2, task.n_columns)))
    target = task.target(ys[0])
    kept = predictions.copy(), target.copy()
    task.losses(predictions, target)
    task.errors(predictions, target)
    task.curvature(predictions[0], target)
    task.answer(predictions[0])
    task.validate(ys[0])
    assert pickle.dumps(task) == before
    assert (predictions == kept[0]).all()
    assert (target == kept[1]).all()


# A target in another unit.


def after_a_change(change, n=400, at=250):
    """Errors of a precise regression whose target changes, in deviations of the target at the time."""
    rng = np.random.default_rng(1)
    model, errors = PUFERegressor(), []
    for t in range(n):
        row = rng.normal(size=3)
        y = 200.0 + 8.0 * (row.sum() + 0.1 * rng.normal())
        unit = abs(change(1.0) - change(0.0)) if t >= at else 1.0
        x, y = dict(enumerate(row.tolist())), change(y) if t >= at else y
        errors.append(abs(model.predict_one(x) - y) / (8.0 * unit))
        model.learn_one(x, y)
    return np.array(errors)


@pytest.mark.parametrize(
    "change",
    [lambda y: (y - 32) / 1.8, lambda y: y + 273.15, lambda y: 1000 * y, lambda y: y / 1000, lambda y: y],
    ids=["°F to °C", "°C to K", "W to mW", "W to kW", "none"],
)
def test_a_target_in_another_unit_is_followed(change):
    errors = after_a_change(change)
    assert errors[270:].mean() <= 1.5 * errors[150:250].mean()


def test_a_target_that_has_become_something_else_is_learned_anew():
    """A falling line is no unit: the scores must turn around."""
    errors = after_a_change(lambda y: 2e3 - 5.0 * y)
    assert errors[266:270].min() > 1.0
    assert errors[380:].mean() < 0.3


@pytest.mark.parametrize("n", [1, 15])
def test_surprises_that_end_change_no_unit(n):
    task = Regression()
    rng = np.random.default_rng(2)
    for t in range(300 + n):
        y = rng.normal()
        task.learn(1e6 + 1e3 * y if t >= 300 else y, np.array([y]) if t else np.zeros(1))
    before = task.answer(np.ones(1))
    task.learn(1.0, np.ones(1))
    assert task.answer(np.ones(1)) == pytest.approx(before, rel=0.01)
    assert before == pytest.approx(1.0, abs=0.3)


def regression(seed=0, n=300):
    """A task that knows some targets, those targets, and how large its errors are, in its own unit."""
    rng = np.random.default_rng(seed)
    task, targets = Regression(), rng.normal(50, 8, size=n)
    for y in targets:
        task.register(y)
        task.learn(y, task.target(y + rng.normal(0, 0.4)))
    return task, targets, 0.4 / 8


def test_a_bounded_answer_is_within_the_targets_seen():
    task, targets, _ = regression()
    for y in (-1e6, targets.min(), 50.0, targets.max(), 1e6):
        assert task.answer(task.bounded(task.target(y), 0.0)) == pytest.approx(np.clip(y, targets.min(), targets.max()))
        room = 0.25 * np.ptp(targets)
        bounded = task.bounded(task.target(y), 0.25)
        assert task.answer(bounded) == pytest.approx(np.clip(y, targets.min() - room, targets.max() + room))


def test_bounds_are_in_the_new_unit_of_a_target():
    task, targets, _ = regression()
    rng = np.random.default_rng(1)
    for y in rng.normal(50, 8, size=20):
        task.learn(1000 * y, task.target(y + rng.normal(0, 0.4)))
    assert task.answer(task.bounded(np.array([1e9]), 0.0)) == pytest.approx(1000 * targets.max(), rel=0.05)
    assert task.answer(task.bounded(np.array([-1e9]), 0.0)) == pytest.approx(1000 * targets.min(), rel=0.05)


def test_a_cautious_task_has_errors_of_the_usual_size_at_most():
    task, _, size = regression()
    predictions, target = np.array([[0.0], [0.01], [3.0]]), np.array([0.0])
    plain, cautious = task.errors(predictions, target), task.cautious().errors(predictions, target)
    assert cautious[:2] == pytest.approx(plain[:2])
    assert abs(cautious[2, 0]) == pytest.approx(size, rel=0.3)
    assert not task.is_cautious
    assert task.errors(predictions, target) == pytest.approx(plain)
