"""Does an estimator keep what it promises on streams whose features come and go?

River's own checks, `river.checks`, say what holds for every estimator of River. The checks here say what must hold
beside them where keys come and go, for the estimators of this package and for any other classifier, regressor or
transformer. They are used alike:

    from river_pufe import checks

    for check in checks.yield_checks(model):
        check(model)

Each check is a law, and says how it was broken:

- looking changes nothing (`check_looking_changes_nothing`), and neither does what others do with what went in and came
  out (`check_nothing_is_shared`);
- nor do the order of the keys (`check_key_order_changes_nothing`), their names and types
  (`check_key_names_change_nothing`), the types of numbers (`check_number_types_change_nothing`), or how absence is
  written (`check_absent_values_change_nothing`);
- the weights of experts are a distribution (`check_expert_weights`);
- what is rejected is named, and leaves no trace (`check_bad_values_are_rejected`, `check_bad_targets_are_rejected`,
  `check_bad_weights_are_rejected`);
- memory is bounded, however often the features change (`check_memory_is_bounded`);
- what is gone is recovered where it follows from what is there (`check_recovery`), and what is absent is completed
  (`check_completion`);
- a clone forgets (`check_clone_forgets`), copies remember (`check_copies_remember`);
- answers are plain Python (`check_answers_are_plain`), and finite whatever comes (`check_answers_are_finite`);
- nothing is excused (`check_no_check_is_skipped`).

A check trains clones, so the model that it is given stays as it is.
"""

from __future__ import annotations

import copy
import decimal
import fractions
import functools
import inspect
import itertools
import math
import pickle
import random
import typing
from collections.abc import Callable, Iterator

import numpy as np
from river import base, compose
from river.checks.utils import seed_params

from .datasets import CapriciousStream, Cycle, HiddenFactors

Check = Callable[[typing.Any], None]
Sample = dict[typing.Any, typing.Any]
Samples = tuple[tuple[Sample, typing.Any], ...]
Look = Callable[..., typing.Any]

_LOOKS = ("predict_one", "predict_proba_one", "transform_one", "recover_one", "debug_one")
_VIEWS = ("spaces", "overlapping", "vanished", "events", "expert_weights")
#: No sample of any check has this key, unless it says so.
_STRANGER = "a key that nobody has seen"
_BAD_VALUES = (
    "text",
    b"bytes",
    [1.0],
    {"nested": 1.0},
    (1.0, 2.0),
    1j,
    np.array([1.0, 2.0]),
    math.inf,
    -math.inf,
    np.float64("inf"),
    decimal.Decimal("Infinity"),
)
_ABSENT_VALUES: list[typing.Any] = [None, math.nan, np.float32("nan"), decimal.Decimal("NaN")]
_EXTREMES = (0.0, 1e308, -1e308, 1e-308, 5e-324, 10**400, fractions.Fraction(-(10**400), 3), True, np.int64(2**62))


def yield_checks(model: base.Estimator) -> Iterator[Check]:
    """The checks that apply to a model.

    A pipeline is only asked for what does not depend on one of its steps alone: what it makes of bad values is up to
    the first one, say, and it keeps a plan of its own once it was used.

    Parameters
    ----------
    model
        A classifier, regressor or transformer.

    Examples
    --------
    >>> from river import linear_model
    >>> from river_pufe import FeatureRecovery, checks
    >>> for check in checks.yield_checks(FeatureRecovery() | linear_model.LinearRegression()):
    ...     print(check.__name__)
    check_key_order_changes_nothing
    check_key_names_change_nothing
    check_clone_forgets
    check_copies_remember
    check_answers_are_plain
    >>> checks.check_bad_values_are_rejected(linear_model.LinearRegression())
    Traceback (most recent call last):
    ...
    AssertionError: learn_one accepts 'text' under the key 's0_0', or does not say what is wrong with it...

    """
    yield check_key_order_changes_nothing
    yield check_key_names_change_nothing
    yield check_clone_forgets
    yield check_copies_remember
    yield check_answers_are_plain
    if isinstance(model, compose.Pipeline):
        return
    yield check_looking_changes_nothing
    yield check_nothing_is_shared
    yield check_number_types_change_nothing
    yield check_absent_values_change_nothing
    yield check_answers_are_finite
    yield check_bad_values_are_rejected
    if model._supervised:
        yield check_bad_targets_are_rejected
    if "w" in inspect.signature(model.learn_one).parameters:  # type: ignore[attr-defined]
        yield check_bad_weights_are_rejected
    yield check_memory_is_bounded
    yield check_no_check_is_skipped
    if hasattr(model, "expert_weights"):
        yield check_expert_weights
    if hasattr(model, "recover_one"):
        yield check_recovery
        if _transforms(model):
            yield check_completion


def check_estimator(model: base.Estimator) -> None:
    """Check a model against all laws that apply to it.

    Parameters
    ----------
    model
        A classifier, regressor or transformer.

    Examples
    --------
    >>> from river import linear_model
    >>> from river_pufe import FeatureRecovery, checks
    >>> checks.check_estimator(FeatureRecovery() | linear_model.LinearRegression())

    """
    for check in yield_checks(model):
        check(model)


# What the checks do with a model, whatever it is.


def _fresh(model: typing.Any) -> typing.Any:
    """A clone that has learned nothing, with all seeds set, so that two of them are equal."""
    return model.clone(seed_params(model._get_params(), seed=42))


def _learn(model: typing.Any, x: Sample, y: typing.Any) -> None:
    if model._supervised:
        model.learn_one(x, y)
    else:
        model.learn_one(x)


def _answer(model: typing.Any, x: Sample) -> typing.Any:
    if _classifies(model):
        try:
            return model.predict_proba_one(x)
        except NotImplementedError:
            return model.predict_one(x)
    return model.predict_one(x) if isinstance(model, base.Regressor) else model.transform_one(x)


def _play(model: typing.Any, samples: Samples) -> list[typing.Any]:
    """Answers to one sample after another, each before it is learned from."""
    answers = []
    for x, y in samples:
        answers.append(_answer(model, dict(x)))
        _learn(model, dict(x), y)
    return answers


def _classifies(model: typing.Any) -> bool:
    return isinstance(model, base.Classifier)


def _transforms(model: typing.Any) -> bool:
    return isinstance(model, base.Transformer | base.SupervisedTransformer)


def _looks(model: typing.Any) -> Iterator[tuple[str, Look]]:
    """All that reads a sample and must not learn from it."""
    for name in _LOOKS:
        look = getattr(model, name, None)
        # A classifier need not know probabilities.
        if look is not None and getattr(look, "__func__", None) is not base.Classifier.predict_proba_one:
            yield name, look


def _samples(model: typing.Any, n: int = 150) -> Samples:
    """Three spaces that follow each other, keys missing now and then, and targets that suit the model."""
    if _classifies(model):
        return _draw("classes" if model._multiclass else "bools", n)
    return _draw("numbers", n)


@functools.cache
def _draw(targets: str, n: int) -> Samples:
    cycle = Cycle(n_spaces=3, period=n // 3, overlap=n // 12)
    stream = HiddenFactors(cycle, n_factors=2, width=4, noise=0.1, regression=True, n_samples=n, seed=1)
    turn: dict[str, Callable[[int, float], typing.Any]] = {
        "numbers": lambda t, y: y,
        "bools": lambda t, y: y > 0,
        # The third class comes late.
        "classes": lambda t, y: "c" if t > n // 2 and abs(y) < 0.3 else "ab"[y > 0],
    }
    return tuple((x, turn[targets](t, y)) for t, (x, y) in enumerate(CapriciousStream(stream, missing=0.1, seed=1)))


def _assert_same(a: typing.Any, b: typing.Any, exact: bool, why: str) -> None:
    """That two answers agree: to the bit, types included, or but for rounding."""
    if isinstance(a, dict) and isinstance(b, dict):
        assert {(type(key), key) for key in a} == {(type(key), key) for key in b}, f"{why}: {a} against {b}"
        for key in a:
            _assert_same(a[key], b[key], exact, why)
    else:
        rounded = not exact and isinstance(a, float) and isinstance(b, float)
        same = math.isclose(a, b, rel_tol=1e-6, abs_tol=1e-9) if rounded else a == b and type(a) is type(b)
        assert same, f"{why}: {a!r} against {b!r}"


def _assert_twins(
    model: typing.Any,
    twin: typing.Any,
    why: str,
    change: Callable[[Sample, typing.Any], tuple[Sample, typing.Any]],
    back: Callable[[typing.Any], typing.Any] = lambda answer: answer,
    samples: Samples | None = None,
    exact: bool = True,
) -> None:
    """That two models give the same answers where one of them gets each sample in another form."""
    for x, y in samples or _samples(model):
        changed, target = change(x, y)
        _assert_same(_answer(model, dict(x)), back(_answer(twin, dict(changed))), exact, why)
        _learn(model, dict(x), y)
        _learn(twin, changed, target)


# The laws.


def check_looking_changes_nothing(model: typing.Any) -> None:
    """Predicting, transforming, recovering, debugging, and reading attributes leave a model as it was, to the byte."""
    model = _fresh(model)
    for t, (x, y) in enumerate(_samples(model)):
        if t % 10 == 0:
            before = pickle.dumps(model)
            halved = dict(itertools.islice(x.items(), len(x) // 2))
            for name, look in _looks(model):
                for view in (x, halved, {**x, _STRANGER: 1.0}, {}):
                    look(dict(view))
                    assert pickle.dumps(model) == before, f"{name}({view}) has changed the model, in round {t}"
            for name in _VIEWS:
                getattr(model, name, None)
                assert pickle.dumps(model) == before, f"reading {name} has changed the model, in round {t}"
        _learn(model, dict(x), y)


def check_nothing_is_shared(model: typing.Any) -> None:
    """What happens later to a dict that a model was given, or has answered, leaves the model as it was."""
    model = _fresh(model)
    for t, (x, y) in enumerate(_samples(model)):
        given = dict(x)
        _learn(model, given, y)
        if t % 10 == 0:
            before = pickle.dumps(model)
            given.clear()
            assert pickle.dumps(model) == before, "learn_one keeps the dict that it was given"
            for name, look in _looks(model):
                answer = look(dict(x))
                if isinstance(answer, dict):
                    answer.clear()
                    assert pickle.dumps(model) == before, f"{name} answers with a dict that the model still uses"
            for name in _VIEWS:
                view = getattr(model, name, None)
                if isinstance(view, dict | list):
                    view.clear()
                    assert pickle.dumps(model) == before, f"{name} is a {type(view).__name__} that the model still uses"


def check_key_order_changes_nothing(model: typing.Any) -> None:
    """The order of the keys in a sample changes no answer, but for rounding."""
    rng = random.Random(7)

    def shuffle(x: Sample, y: typing.Any) -> tuple[typing.Any, typing.Any]:
        return {key: x[key] for key in rng.sample(list(x), len(x))}, y

    _assert_twins(_fresh(model), _fresh(model), "the order of the keys counts", shuffle, exact=False)


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
        if _transforms(model):
            keys = {name: key for key, name in names.items()}
            return {keys.get(name, name): value for name, value in answer.items()}
        return answer

    _assert_twins(_fresh(model), _fresh(model), "the names of the keys count", rename, back, exact=False)


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

    samples = tuple(({key: quarters(v) for key, v in x.items()}, quarters(y)) for x, y in _samples(model))
    transforms = _transforms(model)

    def back(answer: typing.Any) -> typing.Any:
        # A transformer may hand on what it was given.
        return {key: float(value) for key, value in answer.items()} if transforms else answer

    _assert_twins(_fresh(model), _fresh(model), "the types of numbers count", change, back, samples)


def check_absent_values_change_nothing(model: typing.Any) -> None:
    """`None`, NaN and `pandas.NA` mean what the absence of the key means, and none of them sticks."""
    rng = random.Random(7)
    absent_values = [*_ABSENT_VALUES, *_pandas_na()]
    known: dict[typing.Hashable, None] = {_STRANGER: None}

    def write(x: Sample, y: typing.Any) -> tuple[typing.Any, typing.Any]:
        known.update(dict.fromkeys(x))
        return {**x, **{key: rng.choice(absent_values) for key in known if key not in x}}, y

    _assert_twins(_fresh(model), _fresh(model), "it counts how absence is written", write)


def _pandas_na() -> list[typing.Any]:
    try:
        import pandas as pd
    except ImportError:
        return []
    return [pd.NA, pd.NaT]


def check_answers_are_plain(model: typing.Any) -> None:
    """Answers are `float`, `bool`, dicts of them, or labels as they were given; probabilities sum to 1."""
    model = _fresh(model)
    labels: set[typing.Any] = set()
    for x, y in _samples(model):
        _assert_plain(model, _answer(model, dict(x)), labels)
        if _classifies(model) and labels:
            label = model.predict_one(dict(x))
            assert (type(label), label) in {(type(seen), seen) for seen in labels}, f"no label was {label!r}"
        assert _learn_returns_none(model, dict(x), y), "learn_one returns something"
        labels |= {False, True} if isinstance(y, bool) else {y}


def _learn_returns_none(model: typing.Any, x: Sample, y: typing.Any) -> bool:
    return (model.learn_one(x, y) if model._supervised else model.learn_one(x)) is None


def _assert_plain(model: typing.Any, answer: typing.Any, labels: set[typing.Any] | None = None) -> None:
    if _classifies(model):
        if not isinstance(answer, dict):
            return  # It knows no probabilities; labels are looked at elsewhere.
        for label, probability in answer.items():
            assert labels is None or label in (labels or {False, True}), f"no label was {label!r}"
            assert type(probability) is float, f"a probability is of type {type(probability).__name__}"
            assert 0.0 <= probability <= 1.0, f"a probability is {probability!r}"
        assert not answer or math.isclose(sum(answer.values()), 1.0), f"{answer} does not sum to 1"
    elif isinstance(model, base.Regressor):
        assert type(answer) is float, f"the answer is of type {type(answer).__name__}"
        assert math.isfinite(answer), f"the answer is {answer!r}"
    else:
        assert type(answer) is dict, f"the answer is of type {type(answer).__name__}"
        for key, value in answer.items():
            assert type(value) in (float, int, bool), f"{key!r} is answered with a {type(value).__name__}"
            assert math.isfinite(value), f"{key!r} is answered with {value!r}"


def check_answers_are_finite(model: typing.Any) -> None:
    """No dict of numbers, however large, small or empty, leads to an error or to an answer that is not finite."""
    transforms = _transforms(model)
    rng = random.Random(7)
    model = _fresh(model)
    for t, (x, y) in enumerate(_samples(model)):
        extreme: Sample = {}
        if t % 5 < 3 and t > 3:
            extreme = {key: rng.choice(_EXTREMES) if rng.random() < 0.5 else value for key, value in x.items()}
        target = rng.choice((1e308, -1e308, 0.0)) if isinstance(y, float) and t % 7 == 0 else y
        for sample, label in [(x, y), (extreme, target)]:
            answer = _answer(model, dict(sample))
            if transforms:
                # What was given is handed on as it is.
                answer = {key: value for key, value in answer.items() if key not in sample}
            _assert_plain(model, answer)
            _learn(model, dict(sample), label)


def check_expert_weights(model: typing.Any) -> None:
    """The weights of the experts are floats from 0 on, and sum to 1, whatever the losses were."""
    model = _fresh(model)
    for t, (x, y) in enumerate(_samples(model)):
        weights = model.expert_weights
        assert all(type(name) is str for name in weights), f"the experts are called {list(weights)}"
        assert all(type(weight) is float for weight in weights.values()), f"weights are not floats: {weights}"
        assert all(0.0 <= weight < math.inf for weight in weights.values()), f"weights are {weights}"
        assert math.isclose(sum(weights.values()), 1.0, rel_tol=1e-9), f"in round {t} the weights sum to {weights}"
        scale = (1.0, 1.0, 1.0, 0.0, 1e9)[t % 5]
        target = y * scale if isinstance(y, float) else y
        _learn(model, {key: value * scale for key, value in x.items()}, target)


def check_bad_values_are_rejected(model: typing.Any) -> None:
    """A value that is no finite number raises an error that names key and value, before anything has changed."""
    model = _fresh(model)
    seen: set[typing.Hashable] = set()
    for t, (x, y) in enumerate(_samples(model)):
        if t % 20 == 0 or not seen.issuperset(x):
            before = pickle.dumps(model)
            for i, value in enumerate(_BAD_VALUES):
                key = _STRANGER if i % 3 == 2 else list(x)[i % len(x)]
                learn: Look = functools.partial(_learn, model, y=y)
                for name, method in [("learn_one", learn), *_looks(model), *_observes(model)]:
                    refused = _refused(method, {**x, key: value}, repr(key), repr(value))
                    why = f"{name} accepts {value!r} under the key {key!r}, or does not say what is wrong with it"
                    assert refused, why
                    assert pickle.dumps(model) == before, f"{name} has changed the model, and then rejected {value!r}"
        seen.update(x)
        _learn(model, dict(x), y)


def _observes(model: typing.Any) -> Iterator[tuple[str, Look]]:
    if hasattr(model, "observe_one"):
        yield "observe_one", model.observe_one


def _refused(method: Look, x: Sample, *named: str) -> bool:
    """Whether a call fails with a message that names what it should."""
    try:
        method(x)
    except (ValueError, TypeError) as error:
        return all(name in str(error) for name in named)
    return False


def check_bad_targets_are_rejected(model: typing.Any) -> None:
    """A target that is none raises an error that names it, before anything has changed."""
    bad: list[typing.Any] = [None, math.nan, np.float64("nan"), [1.0], *_pandas_na()[:1]]
    if isinstance(model, base.Regressor):
        bad += [math.inf, -math.inf, "text", decimal.Decimal("Infinity")]
    model = _fresh(model)
    for t, (x, y) in enumerate(_samples(model)):
        if t % 10 == 0:
            before = pickle.dumps(model)
            for target in bad:
                refused = _refused(functools.partial(_learn, model, y=target), {**x, _STRANGER: 1.0}, repr(target))
                assert refused, f"learn_one accepts {target!r} as a target, or does not say what is wrong with it"
                assert pickle.dumps(model) == before, f"learn_one has changed the model, and then rejected {target!r}"
        _learn(model, dict(x), y)


def check_bad_weights_are_rejected(model: typing.Any) -> None:
    """A sample weight that is below 0 or not finite raises an error that names it, before anything has changed."""
    model = _fresh(model)
    for t, (x, y) in enumerate(_samples(model)):
        if t % 10 == 0:
            before = pickle.dumps(model)
            for w in (-1.0, math.nan, math.inf):
                weigh = functools.partial(model.learn_one, y=y, w=w) if model._supervised else None
                refused = _refused(weigh or functools.partial(model.learn_one, w=w), {**x, _STRANGER: 1.0}, repr(w))
                assert refused, f"learn_one accepts {w!r} as a weight, or does not say what is wrong with it"
                assert pickle.dumps(model) == before, f"learn_one has changed the model, and then rejected {w!r}"
        _learn(model, dict(x), y)


def check_memory_is_bounded(model: typing.Any) -> None:
    """A model does not grow with the number of times that the features have changed."""
    model = _fresh(model)
    # Keys come and go one by one, so that logs of a fixed length are full after two thirds of the stream.
    cycle = Cycle(n_spaces=68, period=22, overlap=10, emergence=10)
    sizes = []
    stream = HiddenFactors(cycle, width=10, regression=not _classifies(model), n_samples=68 * 22, seed=1)
    for t, (x, y) in enumerate(stream):
        _learn(model, dict(x), y)
        if t % 22 == 11:
            sizes.append(len(pickle.dumps(model)))
    before, after = max(sizes[48:58]), max(sizes[58:])
    assert after <= 1.01 * before, f"{before} bytes after 57 changes of the features, {after} bytes after 67"


def check_recovery(model: typing.Any) -> None:
    """Where the current features determine the gone ones linearly, `recover_one` tells what those would have read.

    To within 5 % of their standard deviation, after an overlap of 60 rounds without gaps, and without noise.
    """
    model = _fresh(model)
    samples = _two_readings(n=270)
    for t, (old, new, y) in enumerate(samples):
        _learn(model, {**(old if t < 210 else {}), **(new if t >= 150 else {})}, y > 0 if _classifies(model) else y)
    recovered = [model.recover_one(dict(new)) for _, new, _ in samples]
    _assert_near(recovered, [old for old, _, _ in samples], "recovered")


def check_completion(model: typing.Any) -> None:
    """Where the present features determine the absent ones linearly, `transform_one` tells what those would have read.

    To within 5 % of their standard deviation, after 300 rounds without gaps, and without noise.
    """
    model = _fresh(model)
    samples = _two_readings(n=300)
    for old, new, y in samples:
        _learn(model, {**old, **new}, y)
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


def check_clone_forgets(model: typing.Any) -> None:
    """A clone of a trained model answers like one that has never learned, and shares nothing with the trained one."""
    samples = _samples(model)[:75]
    never_learned = _play(_fresh(model), samples)
    trained = _fresh(model)
    _play(trained, samples)
    before = pickle.dumps(trained)
    for a, b in zip(never_learned, _play(trained.clone(), samples)):
        _assert_same(a, b, True, "a clone remembers")
    assert pickle.dumps(trained) == before, "training a clone has changed the model"


def check_copies_remember(model: typing.Any) -> None:
    """A model that was pickled or deep-copied goes on exactly like the original, and shares nothing with it."""
    model = _fresh(model)
    samples = _samples(model)
    _play(model, samples[:75])
    before = pickle.dumps(model)
    copies = {"pickled": pickle.loads(before), "deep-copied": copy.deepcopy(model)}
    played = {how: _play(twin, samples[75:]) for how, twin in copies.items()}
    assert pickle.dumps(model) == before, "training a copy has changed the model"
    original = _play(model, samples[75:])
    for how, answers in played.items():
        for a, b in zip(original, answers):
            _assert_same(a, b, True, f"a {how} model goes on differently")


def check_no_check_is_skipped(model: typing.Any) -> None:
    """A model asks to be excused from no check of River."""
    skips = model._unit_test_skips()
    assert not skips, f"{sorted(skips)} are skipped"
