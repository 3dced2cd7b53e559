"""Is a model right while several threads use it?"""

from __future__ import annotations

import copy
import inspect
import itertools
import os
import pickle
import sys
import threading

import pytest

from river_pufe import FeatureRecovery, PUFEClassifier, PUFERegressor, baselines, guard, state
from river_pufe.datasets import Cycle, HiddenFactors
from river_pufe.fleet import Fleet


@pytest.fixture(autouse=True)
def many_switches():
    """Threads take turns a thousand times as often as usual."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(5e-6)
    yield
    sys.setswitchinterval(before)


def changing(regression=False, fresh_keys=False):
    """Samples in which the keys change every thirty rounds, or also in each of them."""
    cycle = Cycle(n_spaces=20, period=30, overlap=10)
    n = 150 if fresh_keys else 300
    stream = HiddenFactors(cycle, width=5, regression=regression, n_samples=n, seed=1)
    return [({**x, ("fresh", t): 1.0} if fresh_keys else x, y) for t, (x, y) in enumerate(stream)]


def looks(model, x):
    """All that a user can ask a model, by name."""
    yield "predict", lambda: model.predict_proba_one(x) if hasattr(model, "predict_proba_one") else model.predict_one(x)
    yield "recover", lambda: model.recover_one(x)
    yield "debug", lambda: model.debug_one(x)
    yield "spaces", lambda: (model.spaces, model.vanished, model.overlapping, model.events, model.expert_weights)
    yield "pickle", lambda: pickle.loads(pickle.dumps(model))
    yield "copy", lambda: copy.deepcopy(model)
    yield "state", lambda: model.state_dict()
    yield "bytes", lambda: state.loads(state.dumps(model), trusted=True)


def together(learn, ask):
    """Learn in this thread while another one asks; how often it did. Its errors are raised here."""
    done, asked, errors = threading.Event(), 0, []

    def other():
        nonlocal asked
        try:
            while not done.is_set():
                ask()
                asked += 1
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=other)
    thread.start()
    try:
        learn()
    finally:
        done.set()
        thread.join()
    if errors:
        raise errors[0]
    return asked


@pytest.mark.filterwarnings("ignore:.*seen once or twice")
@pytest.mark.parametrize("fresh_keys", [False, True], ids=["changes", "a fresh key in every sample"])
@pytest.mark.parametrize("look", ["predict", "recover", "debug", "spaces", "pickle", "copy", "state", "bytes"])
def test_asking_while_another_thread_learns(look, fresh_keys):
    samples = changing(fresh_keys=fresh_keys)
    model = PUFEClassifier()
    asked = itertools.cycle(samples[::7])

    def learn():
        for x, y in samples:
            model.learn_one(x, y)

    assert together(learn, lambda: dict(looks(model, next(asked)[0]))[look]()) > 0
    alone = PUFEClassifier()
    for x, y in samples:
        alone.learn_one(x, y)
    assert state.dumps(alone) == state.dumps(model)


def test_answers_are_those_between_two_updates():
    """Each answer is one that the model gives after some sample, and never one from the middle of an update."""
    samples = changing(regression=True)[:150]
    x, _ = samples[100]
    alone, right = PUFERegressor(), {0.0}
    for sample in samples:
        alone.learn_one(*sample)
        right.add(alone.predict_one(x))
    model, answers = PUFERegressor(), set()

    def learn():
        for sample in samples:
            model.learn_one(*sample)

    together(learn, lambda: answers.add(model.predict_one(x)))
    assert answers <= right
    assert len(answers) > 0


@pytest.mark.parametrize("how", [pickle.dumps, state.dumps], ids=["pickle", "state"])
def test_what_is_stored_is_a_model_between_two_updates(how):
    samples = changing()[:120]
    model, stored = PUFEClassifier(), []

    def learn():
        for x, y in samples:
            model.learn_one(x, y)

    together(learn, lambda: stored.append(how(model)))
    for data in stored[:: max(len(stored) // 10, 1)]:
        twin = pickle.loads(data) if how is pickle.dumps else state.loads(data)
        alone = PUFEClassifier()
        for x, y in samples[: twin.rounds]:
            alone.learn_one(x, y)
        assert state.dumps(twin) == state.dumps(alone)


@pytest.mark.filterwarnings("ignore:FESL needs")
@pytest.mark.parametrize(
    "model", [baselines.FESLClassifier(), PUFEClassifier.paper(), Fleet(PUFEClassifier)], ids=lambda m: type(m).__name__
)
def test_other_models_as_well(model):
    samples = changing()

    def learn():
        for x, y in samples:
            model.learn_one(x, y)

    assert together(learn, lambda: (model.predict_proba_one(samples[50][0]), pickle.dumps(model))) > 0


def test_a_recovery_as_well():
    samples, recovery = changing(), FeatureRecovery()

    def learn():
        for x, _ in samples:
            recovery.learn_one(x)

    assert together(learn, lambda: (recovery.transform_one(samples[50][0]), recovery.spaces)) > 0


def test_frames_as_well():
    pd = pytest.importorskip("pandas")
    samples = changing()
    X, y = pd.DataFrame([x for x, _ in samples]), pd.Series([y for _, y in samples])
    model = PUFEClassifier()

    def learn():
        for start in range(0, len(X), 20):
            model.learn_many(X[start : start + 20], y[start : start + 20])

    assert together(learn, lambda: (model.predict_proba_many(X[:5]), model.predict_many(X[-5:]))) > 3


#: What only the loop and the state use, which hold the lock already.
INNER = {"read", "read_ahead", "read_many", "advance", "skip", "update", "follow_many"}
INNER |= {"rehearse", "rebuild", "stored", "still", "verify"}


BASELINES = [vars(baselines)[name] for name in baselines.__all__ if name != "Zeros"]
ESTIMATORS = [PUFEClassifier, PUFERegressor, FeatureRecovery, Fleet, *BASELINES]


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda estimator: estimator.__name__)
def test_every_public_method_is_guarded(estimator):
    """What is neither guarded nor for the inside is River's, and ends in a method that is."""
    for cls in estimator.__mro__:
        if not cls.__module__.startswith("river_pufe."):
            continue
        for name, member in vars(cls).items():
            method = member.fget if isinstance(member, property) else member
            if not inspect.isfunction(method) or getattr(method, "__isabstractmethod__", False):
                continue
            # A fleet's predict_proba_one is a property that hands out the method.
            if not name.startswith("_") and name not in {*INNER, *(["predict_proba_one"] if cls is Fleet else [])}:
                assert hasattr(method, "__wrapped__"), f"{cls.__name__}.{name}"


def test_copies_clones_and_pickles_have_locks_of_their_own():
    model = PUFEClassifier()
    model.learn_one({"a": 1.0}, True)
    twins = [
        copy.deepcopy(model),
        model.clone(),
        model.clone(include_attributes=True),
        pickle.loads(pickle.dumps(model)),
        state.loads(state.dumps(model)),
    ]
    with model.still():
        answers = []
        thread = threading.Thread(target=lambda: answers.extend(twin.predict_one({"a": 1.0}) for twin in twins))
        thread.start()
        thread.join(20)
    assert answers == [True, False, True, True, True]


forks = pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork on this system")
and_threads = pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork:DeprecationWarning")


def in_child(check):
    """Whether a check, in the child of a fork, finds that all is well."""
    child = os.fork()
    if child == 0:
        try:
            os._exit(0 if check() else 1)
        finally:
            os._exit(2)
    _, status = os.waitpid(child, 0)
    return status == 0


@forks
@and_threads
def test_the_child_of_a_fork_has_a_model_between_two_updates():
    samples, model, done = changing()[:120], PUFEClassifier(), threading.Event()

    def is_whole():
        alone = PUFEClassifier()
        for x, y in samples[: model.rounds]:
            alone.learn_one(x, y)
        return state.dumps(alone) == state.dumps(model)

    def learn():
        for x, y in samples:
            model.learn_one(x, y)
        done.set()

    thread = threading.Thread(target=learn)
    thread.start()
    answers = []
    while not done.is_set():
        answers.append(in_child(is_whole))
    thread.join()
    assert answers
    assert all(answers)


@forks
@and_threads
def test_a_model_that_is_busy_for_long_cannot_be_used_in_the_child_of_a_fork(monkeypatch):
    monkeypatch.setattr(guard, "_PATIENCE", 0.05)
    busy, other = PUFEClassifier(), PUFEClassifier()
    for model in (busy, other):
        model.learn_one({"a": 1.0}, True)
    held, release = threading.Event(), threading.Event()

    def hold():
        with busy.still():
            held.set()
            release.wait(20)

    def says_so():
        for use in (lambda: busy.predict_one({"a": 1.0}), lambda: pickle.dumps(busy), lambda: busy.state_dict()):
            with pytest.raises(RuntimeError, match="half-made here: fork between two updates"):
                use()
        return other.predict_one({"a": 1.0}) and PUFEClassifier().predict_one({"a": 1.0}) is False

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait(20)
    try:
        assert in_child(says_so)
    finally:
        release.set()
        thread.join()
    # In this process nothing has changed.
    assert busy.predict_one({"a": 1.0})
    assert in_child(lambda: busy.predict_one({"a": 1.0}))


@forks
def test_a_thread_may_fork_in_the_middle_of_an_update_of_its_own():
    model = PUFEClassifier()
    model.learn_one({"a": 1.0}, True)
    with model.still():
        assert in_child(lambda: model.predict_one({"a": 1.0}))
        assert model.predict_one({"a": 1.0})
