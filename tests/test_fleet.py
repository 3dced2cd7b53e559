"""Does a fleet learn each event once, in bounded memory, and go on after a crash as if it had never stopped?"""

from __future__ import annotations

import functools
import os
import pathlib
import pickle
import random
import signal
import subprocess
import sys

import numpy as np
import pytest
from river import base, linear_model
from river import checks as rivers_checks

from river_pufe import PUFEClassifier, PUFERegressor, checks, state
from river_pufe.datasets import CapriciousStream, Cycle, HiddenFactors
from river_pufe.fleet import Event, Fleet, MemoryStore, SQLiteStore, step

PARENT = pathlib.Path(__file__).parent


def events(n_keys=5, n=60, regression=False):
    """Events of some keys in turn, (key, number, x, y), the numbers rising over all of them."""
    cycle = Cycle(n_spaces=2, period=n // 2, overlap=n // 6)
    streams = [
        iter(CapriciousStream(HiddenFactors(cycle, width=3, regression=regression, seed=key), missing=0.1, seed=key))
        for key in range(n_keys)
    ]
    return [(t % n_keys, t, *next(streams[t % n_keys])) for t in range(n * n_keys)]


def samples(stream):
    return [({**x, "site": key, "offset": number}, y) for key, number, x, y in stream]


def alone(stream, factory=PUFEClassifier):
    """What a plain loop predicts and knows, by key and number."""
    models, answers = {}, {}
    for key, number, x, y in stream:
        model = models.setdefault(key, factory())
        regresses = isinstance(model, base.Regressor)
        answers[key, number] = model.predict_one(x) if regresses else model.predict_proba_one(x)
        model.learn_one(x, y)
    return models, answers


# One key: step.


@pytest.mark.parametrize("factory", [PUFEClassifier, PUFERegressor], ids=lambda cls: cls.__name__)
@pytest.mark.parametrize("size", [1, 7, 1000])
def test_steps_equal_the_plain_loop(factory, size):
    stream = events(1, regression=factory is PUFERegressor)
    models, answers = alone(stream, factory)
    data, told = None, []
    for start in range(0, len(stream), size):
        batch = [(number, x, y) for _, number, x, y in stream[start : start + size]]
        data, predicted = step(data, batch, factory)
        told += predicted
    assert {(0, number): prediction for number, prediction in told} == answers
    assert data == state.dumps((stream[-1][1], models[0]))


def test_the_order_of_a_batch_and_what_comes_twice_change_nothing():
    batch = [Event(number, x, y) for _, number, x, y in events(1)]
    shuffled = random.Random(1).sample(batch, len(batch))
    right = step(None, batch)
    assert step(None, shuffled) == right
    assert step(None, [*shuffled, *batch]) == right
    data, answers = step(step(None, batch[:30])[0], batch)
    assert data == right[0]
    assert answers == right[1][30:]


def test_events_without_a_target_are_observed():
    batch = [(number, x) for _, number, x, _ in events(1, 20)]
    data, answers = step(None, batch)
    assert len(answers) == 20
    _, model = state.loads(data)
    assert model.rounds == 20
    step(None, batch, linear_model.LogisticRegression)


def test_a_bad_event_is_named_or_skipped():
    batch = [(1, {"a": 1.0}, True), (2, {"a": "x"}, True), (3, {"a": -1.0}, False)]
    with pytest.raises(ValueError, match="event 2: feature 'a' has the value 'x'"):
        step(None, batch)
    data, answers = step(None, batch, on_error="skip")
    assert [answer.prediction is None for answer in answers] == [False, True, False]
    assert data == step(None, [batch[0], batch[2]])[0]
    with pytest.raises(ValueError, match="on_error is 'stop' or 'skip', not 'never'"):
        step(None, batch, on_error="never")


def test_a_state_of_another_thing_is_rejected():
    with pytest.raises(ValueError, match="not the state of a key"):
        step(state.dumps(PUFEClassifier()), [])
    wrapped, _ = step(None, [(1, {"a": 1.0}, True)], functools.partial(PUFEClassifier, linear_model.Perceptron()))
    with pytest.raises(ValueError, match="trusted=True"):
        step(wrapped, [], trusted=False)


# Many keys: Fleet.

FLEETS = {
    "classifier": Fleet(PUFEClassifier),
    "regressor, one in memory": Fleet(PUFERegressor, live=1),
    "of River": Fleet(linear_model.LogisticRegression),
}


def test_a_fleet_of_one_key_keeps_all_laws():
    for check in checks.yield_checks(FLEETS["regressor, one in memory"]):
        check(FLEETS["regressor, one in memory"].clone())
    for check in rivers_checks.yield_checks(FLEETS["classifier"]):
        check(FLEETS["classifier"].clone())


def test_a_fleet_is_what_its_models_are():
    assert isinstance(FLEETS["classifier"], base.Classifier)
    assert isinstance(FLEETS["of River"], base.Classifier)
    assert isinstance(FLEETS["regressor, one in memory"], base.Regressor)
    assert not hasattr(FLEETS["regressor, one in memory"], "predict_proba_one")


@pytest.mark.parametrize("live", [1, 2, 100])
@pytest.mark.parametrize("lasting", [False, True], ids=["memory", "file"])
def test_a_fleet_equals_the_plain_loop(live, lasting, tmp_path):
    stream = events()
    models, answers = alone(stream)
    store = SQLiteStore(tmp_path / "fleet.db") if lasting else None
    with Fleet(PUFEClassifier, "site", "offset", store, live=live, commit_every=17) as fleet:
        for (x, y), (key, number, *_) in zip(samples(stream), stream):
            assert fleet.predict_proba_one(x) == answers[key, number]
            fleet.learn_one(x, y)
        assert {key: state.dumps(fleet.model(key)) for key in fleet.keys} == {
            key: state.dumps(model) for key, model in models.items()
        }


def test_an_event_that_is_known_is_passed_over():
    stream = samples(events())
    fleet = Fleet(PUFEClassifier, "site", "offset")
    for x, y in stream[:150]:
        fleet.learn_one(x, y)
    before = pickle.dumps(fleet)
    for x, y in stream[:150]:
        fleet.learn_one(x, y)
        fleet.observe_one(x)
    assert pickle.dumps(fleet) == before


def test_equal_keys_have_one_model():
    fleet = Fleet(PUFEClassifier, "site", live=1)
    for key in (1, "a", True, 1.0, np.int64(1), np.str_("a"), ("a", 1), ("a", 1.0), None, float("nan")):
        fleet.learn_one({"x": 1.0, "site": key}, True)
    assert sorted(map(repr, fleet.keys)) == ["'a'", "('a', 1)", "1", "None"]
    assert [fleet.model(key).rounds for key in (1, "a", ("a", 1), None)] == [4, 2, 2, 2]
    with pytest.raises(KeyError):
        fleet.model(2)
    with pytest.raises(ValueError, match="cannot be the key of a model"):
        fleet.predict_one({"x": 1.0, "site": b"a"})


def test_a_bad_event_leaves_no_trace():
    fleet = Fleet(PUFEClassifier, "site", "offset")
    fleet.learn_one({"x": 1.0, "site": 1, "offset": 1}, True)
    before = pickle.dumps(fleet)
    for x, y, why in (
        ({"x": "bad", "site": 1, "offset": 2}, True, "feature 'x'"),
        ({"x": "bad", "site": 2, "offset": 2}, True, "feature 'x'"),
        ({"x": 1.0, "site": 2, "offset": 2}, None, "label is None"),
        ({"x": 1.0, "site": 2}, True, "no number under 'offset'"),
    ):
        with pytest.raises(ValueError, match=why):
            fleet.learn_one(x, y)
        assert pickle.dumps(fleet) == before


@pytest.mark.parametrize(
    ("parameters", "why"),
    [
        ({"factory": 3}, "cannot be called"),
        ({"factory": PUFEClassifier, "live": 0}, "live is a number of models"),
        ({"factory": PUFEClassifier, "commit_every": 0}, "commit_every is a number of events"),
    ],
)
def test_parameters_are_checked(parameters, why):
    with pytest.raises(ValueError, match=why):
        Fleet(**parameters)


def test_memory_is_bounded_for_any_number_of_keys(tmp_path):
    """Some thousand keys here; `benchmarks/fleet.py` measures a hundred thousand."""
    fleet = Fleet(PUFEClassifier, "site", store=SQLiteStore(tmp_path / "fleet.db"), live=10, commit_every=50)
    sizes = []
    for key in range(150):
        fleet.learn_one({"a": 1.0, "b": -1.0, "site": f"site {key:04}"}, key % 2 == 0)
        sizes.append(len(pickle.dumps(fleet)))
    assert max(sizes[75:]) <= 1.01 * max(sizes[:75])
    assert len(fleet.keys) == 150
    fleet.close()


def test_notes_last_with_the_models_and_what_is_not_committed_is_lost(tmp_path):
    def fleet():
        return Fleet(PUFEClassifier, "site", store=SQLiteStore(tmp_path / "fleet.db"), live=1)

    first = fleet()
    for site in ("a", "b"):
        first.learn_one({"x": 1.0, "site": site}, True)
    first.commit({"offset": b"2"})
    for site in ("a", "b", "c"):
        first.learn_one({"x": 1.0, "site": site}, True)
    first.close(commit=False)
    with fleet() as second:
        assert second.note("offset") == b"2"
        assert second.note("other") is None
        assert [second.model(site).rounds for site in second.keys] == [1, 1]
    with fleet() as third:
        third.learn_one({"x": 1.0, "site": "a"}, True)
    with fleet() as last:
        assert last.model("a").rounds == 2


# New keys that inherit.


def test_a_new_key_starts_from_the_founder_that_knows_its_features():
    fleet = Fleet(PUFEClassifier, "site", inherit=True)
    heat, light = (
        [({f"{kind} {j}": float(j * (-1) ** t) for j in range(3)}, t % 2 == 0) for t in range(40)]
        for kind in ("heat", "light")
    )
    for x, y in heat:
        fleet.learn_one({**x, "site": "a"}, y)
    for x, y in light:
        fleet.learn_one({**x, "site": "b"}, y)
    for kind, founder in ((heat, "a"), (light, "b")):
        x = kind[0][0]
        assert fleet.predict_proba_one({**x, "site": "new"}) == fleet.model(founder).predict_proba_one(x)
        fleet.learn_one({**x, "site": f"child of {founder}"}, True)
        assert fleet.model(f"child of {founder}").rounds == 41
    assert [fleet.model(founder).rounds for founder in "ab"] == [40, 40]
    assert fleet.predict_one({"other": 1.0, "site": "new"}) is PUFEClassifier().predict_one({"other": 1.0})


def test_a_child_is_the_same_after_a_crash(tmp_path):
    """Its founder may know more when the stream is fed again, but the child was stored when it was born."""
    stream = samples(events(3, 40))
    stream = [(x, y) for x, y in stream if x["site"] == 0 or x["offset"] > 30]

    def fleet(name):
        return Fleet(PUFEClassifier, "site", "offset", SQLiteStore(tmp_path / name), live=1, inherit=True)

    with fleet("whole") as whole:
        for x, y in stream:
            whole.learn_one(x, y)
        right = {key: state.dumps(whole.model(key)) for key in whole.keys}
    for n in (20, 33, 35, 60):
        lost = fleet(f"lost {n}")
        for x, y in stream[:n]:
            lost.learn_one(x, y)
        lost._store.close()
        with fleet(f"lost {n}") as again:
            for x, y in stream:
                again.learn_one(x, y)
            assert {key: state.dumps(again.model(key)) for key in again.keys} == right


# Stores.


@pytest.mark.parametrize("lasting", [False, True], ids=["memory", "file"])
def test_a_store_keeps_what_was_put(lasting, tmp_path):
    store = SQLiteStore(tmp_path / "store.db") if lasting else MemoryStore()
    assert store.get("a") is None
    store.put("a", b"1")
    store.put("b", b"2")
    store.put("a", b"3")
    assert (store.get("a"), store.get("b"), store.names()) == (b"3", b"2", ["a", "b"])
    store.commit()
    store.put("a", b"4")
    store.close()
    assert store.get("a") == (b"3" if lasting else b"4")
    store.close()


def test_one_fleet_uses_a_file_at_a_time(tmp_path):
    one, other = SQLiteStore(tmp_path / "store.db"), SQLiteStore(tmp_path / "store.db")
    one.put("a", b"1")
    with pytest.raises(OSError, match="another fleet uses it"):
        other.get("a")
    one.commit()
    one.close()
    assert other.get("a") == b"1"
    other.close()


def test_a_file_that_is_not_a_store_is_rejected(tmp_path):
    (tmp_path / "text").write_text("This is not a database, and long enough to be sure of that." * 20)
    with pytest.raises(OSError, match="cannot be used as a store"):
        SQLiteStore(tmp_path / "text").get("a")


# A crash.

CHILD = """
import sys
sys.path.insert(0, sys.argv[1])
from test_fleet import PUFEClassifier, SQLiteStore, Fleet, events, samples
fleet = Fleet(PUFEClassifier, "site", "offset", SQLiteStore(sys.argv[2]), live=3, commit_every=20)
for x, y in samples(events()):
    fleet.learn_one(x, y)
    print(x["offset"], flush=True)
fleet.close()
"""


def test_a_fleet_that_is_killed_goes_on_as_if_never_stopped(tmp_path):
    """Again and again the process is killed without warning, and another one is fed the stream from the start."""
    models, _ = alone(events())
    file = tmp_path / "fleet.db"
    command = [sys.executable, "-W", "ignore", "-c", CHILD, str(PARENT), str(file)]
    for stop in (35, 160):
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            for line in process.stdout:
                if int(line) >= stop:
                    os.kill(process.pid, signal.SIGKILL)
                    break
        assert process.returncode == -signal.SIGKILL
    with Fleet(PUFEClassifier, "site", "offset", SQLiteStore(file)) as fleet:
        known = sum(fleet.model(key).rounds for key in fleet.keys)
        assert 100 <= known < 300
        for x, y in samples(events()):
            fleet.learn_one(x, y)
        assert {key: state.dumps(fleet.model(key)) for key in fleet.keys} == {
            key: state.dumps(model) for key, model in models.items()
        }
