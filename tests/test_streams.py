"""Streams as they come: what a whole model does on each kind of them, side by side with River's linear models."""

from __future__ import annotations

import io
import itertools
import math
import pickle
import random
import warnings

import numpy as np
import pandas as pd
import pytest
from river import evaluate, linear_model, metrics, preprocessing

from river_pufe import FeatureRecovery, PUFEClassifier, PUFERegressor, datasets
from river_pufe.experts import LinearExperts
from river_pufe.experts.learners import RiverModel
from river_pufe.experts.per_space import SpaceExperts
from river_pufe.recovery.spaces import FeatureSpaces
from river_pufe.undo import Undo

SEEDS = range(3)
TASKS = pytest.mark.parametrize("regression", [False, True], ids=["classifier", "regressor"])


def pufe(regression, model=None, absent="missing", **params):
    recovery = FeatureRecovery(FeatureSpaces(absent=absent, **params)) if params else None
    return (PUFERegressor if regression else PUFEClassifier)(
        model, recovery, absent=absent if not params else "missing"
    )


def river(regression):
    model = linear_model.LinearRegression() if regression else linear_model.LogisticRegression()
    return preprocessing.StandardScaler() | model


def loss(model, x, y):
    """Squared error, of the probability where the target is a class."""
    answer = model.predict_proba_one(x).get(True, 0.5) if isinstance(y, bool) else model.predict_one(x)
    return (answer - y) ** 2


def losses(model, stream):
    result = []
    for x, y in stream:
        result.append(loss(model, x, y))
        model.learn_one(x, y)
    assert np.isfinite(result).all()
    return np.array(result)


# Streams, as lists of samples with targets.


def factors(seed, regression, cycle=None, n=400, noise=0.3, **params):
    cycle = cycle if cycle is not None else datasets.Cycle(period=10 * n)
    return datasets.HiddenFactors(cycle, noise=noise, regression=regression, n_samples=n, seed=seed, **params)


def independent(seed, regression, n=400, d=8):
    """Features that tell nothing about each other."""
    rng = np.random.default_rng(seed)
    w, X = rng.normal(size=d) / math.sqrt(d), rng.normal(size=(n, d))
    y = X @ w + 0.1 * rng.normal(size=n)
    y = y.tolist() if regression else (y > 0).tolist()
    return [({f"k{i}": value for i, value in enumerate(row)}, target) for row, target in zip(X.tolist(), y)]


def sparse(seed, regression, n=600, d=30, active=6, counts=False):
    rng = random.Random(seed)
    w, stream = [rng.gauss(0, 1) for _ in range(d)], []
    for _ in range(n):
        keys = rng.sample(range(d), active)
        x = {f"word {k}": float(rng.randint(1, 4)) if counts else rng.gauss(0, 1) for k in keys}
        score = sum(w[k] * value for k, value in zip(keys, x.values())) / math.sqrt(active) + 0.1 * rng.gauss(0, 1)
        stream.append((x, score if regression else score > 0))
    return stream


def outages(stream, keys, *windows):
    for start, stop in windows:
        stream = datasets.SensorOutage(stream, start, stop, keys)
    return stream


STREAMS = {
    "each key missing now and then": lambda s, r: datasets.CapriciousStream(factors(s, r), 0.3, seed=s),
    "each key missing half of the time": lambda s, r: datasets.CapriciousStream(factors(s, r), 0.5, seed=s),
    "keys only ever added": lambda s, r: datasets.TrapezoidalStream(factors(s, r), 250, seed=s),
    "unrelated keys only ever added": lambda s, r: datasets.TrapezoidalStream(independent(s, r), 250, seed=s),
    "a few of many keys": sparse,
    "abrupt": lambda s, r: factors(s, r, datasets.Cycle(overlap=0)),
    "abrupt, nothing in common": lambda s, r: factors(s, r, datasets.Cycle(overlap=0), unrelated=True),
    "replaced": lambda s, r: factors(s, r, datasets.Cycle(overlap=20)),
    "replaced, nothing in common": lambda s, r: factors(s, r, datasets.Cycle(overlap=20), unrelated=True),
    "replaced one by one": lambda s, r: factors(s, r, datasets.Cycle(overlap=60, emergence=50)),
    "replaced five times": lambda s, r: factors(s, r, datasets.Cycle(6, overlap=20), n=900),
    "taking turns": lambda s, r: factors(s, r, datasets.Cycle(overlap=20, n_changes=5), n=900),
    "one sensor lost": lambda s, r: datasets.SensorOutage(factors(s, r), 200, seed=s),
    "one sensor added": lambda s, r: datasets.SensorOutage(factors(s, r), 0, 200, seed=s),
    "one sensor away": lambda s, r: datasets.SensorOutage(factors(s, r), 150, 280, seed=s),
    "most sensors away for a while": lambda s, r: datasets.SensorOutage(factors(s, r), 200, 230, 5, seed=s),
}
#: Where the features that are there tell what those would read that are not.
RECOVERABLE = {
    "each key missing now and then",
    "replaced",
    "replaced one by one",
    "replaced five times",
    "one sensor lost",
}
#: Keys that return after they were dropped.
RETURNING = {
    "taking turns without overlap": lambda s, r: factors(s, r, datasets.Cycle(overlap=0, n_changes=5), n=900),
    "taking turns without overlap, nothing in common": lambda s, r: factors(
        s, r, datasets.Cycle(overlap=0, n_changes=5), n=900, unrelated=True
    ),
    "each half in turn": lambda s, r: [
        ({k: v for k, v in x.items() if int(k[-1]) % 2 == t // 60 % 2}, y)
        for t, (x, y) in enumerate(factors(s, r, n=700))
    ],
    "most sensors away again and again": lambda s, r: outages(
        independent(s, r, n=800), [f"k{i}" for i in range(5)], *((200 + 120 * i, 230 + 120 * i) for i in range(5))
    ),
}


def against_river(make, regression):
    ours, theirs = [], []
    for seed in SEEDS:
        stream = list(make(seed, regression))
        ours.append(losses(pufe(regression), stream).mean())
        theirs.append(losses(river(regression), stream).mean())
    return np.mean(ours) / np.mean(theirs)


@TASKS
@pytest.mark.parametrize("name", STREAMS)
def test_never_far_behind_river(name, regression):
    ratio = against_river(STREAMS[name], regression)
    assert ratio <= 1.05
    if name in RECOVERABLE:
        assert ratio <= 0.95


@TASKS
@pytest.mark.parametrize("name", RETURNING)
def test_never_far_behind_river_where_keys_return(name, regression):
    assert against_river(RETURNING[name], regression) <= 1.05


def on_counts_of_words(regression):
    """Our loss, River's on the counts as they are, which suits them, and the variance of the target."""
    ours, theirs, variances = [], [], []
    for seed in SEEDS:
        stream = sparse(seed, regression, counts=True)
        plain = linear_model.LinearRegression() if regression else linear_model.LogisticRegression()
        ours.append(losses(pufe(regression, absent="zero"), stream)[300:].mean())
        theirs.append(losses(plain, stream)[300:].mean())
        variances.append(np.var([y for _, y in stream]))
    return np.mean(ours), np.mean(theirs), np.mean(variances)


@TASKS
def test_never_far_behind_river_on_counts_of_words(regression):
    ours, theirs, _ = on_counts_of_words(regression)
    assert ours <= 1.2 * theirs


@TASKS
def test_behind_river_on_counts_of_words_by_a_small_share_of_the_variance(regression):
    ours, theirs, variance = on_counts_of_words(regression)
    assert ours <= theirs + 0.005 * variance


# A space is replaced.


@TASKS
@pytest.mark.parametrize("width", [4, 10])
def test_a_replaced_space_costs_little(width, regression):
    after = {"pufe": [], "river": [], "no change": []}
    for seed in SEEDS:
        stream = factors(seed, regression, datasets.Cycle(overlap=30, period=250), noise=0.1, width=width)
        (change,) = stream.changes
        window = slice(change, change + 100)
        after["pufe"].append(losses(pufe(regression), stream)[window].mean())
        after["river"].append(losses(river(regression), stream)[window].mean())
        still = [(x, y) for x, (_, y) in zip(stream.truth(), stream)]
        still = [({k: v for k, v in x.items() if k.startswith("s0")}, y) for x, y in still]
        after["no change"].append(losses(pufe(regression), still)[window].mean())
    mean = {name: np.mean(values) for name, values in after.items()}
    assert mean["pufe"] <= 0.6 * mean["river"]
    assert mean["pufe"] <= mean["no change"] + 0.06


@TASKS
def test_old_knowledge_that_does_harm_is_dropped(regression):
    after = {True: [], False: []}
    for seed in SEEDS:
        stream = factors(seed, regression, datasets.Cycle(overlap=20), n=800, reverse_labels=True)
        late = losses(pufe(regression), stream)[500:].mean()
        fresh = losses(pufe(regression), list(stream)[400:])[100:].mean()
        after[True].append(late)
        after[False].append(fresh)
    assert np.mean(after[True]) <= 1.3 * np.mean(after[False])


@TASKS
def test_spaces_and_events_tell_the_story(regression):
    stream = factors(1, regression, datasets.Cycle(overlap=15), n=300, width=5)
    model = pufe(regression)
    for t, (x, y) in enumerate(stream):
        model.learn_one(x, y)
        assert model.overlapping == (135 <= t < 150 or (model.overlapping and t < 155))
    old, new = {f"s0_{j}" for j in range(5)}, {f"s1_{j}" for j in range(5)}
    assert [(s.number, s.state, s.opened_at, set(s.keys), set(s.vanished)) for s in model.spaces] == [
        (0, "retired", 0, old, old),
        (1, "current", 135, new, set()),
    ]
    assert set(model.vanished) == old
    assert model.recover_one(x).keys() == old
    kinds = [event.kind for event in model.events]
    assert kinds == ["opened", "opened", "overlap began", *["vanished"] * kinds.count("vanished"), "overlap ended"]
    assert sum(len(event.keys) for event in model.events if event.kind == "vanished") == 5
    assert math.isclose(sum(model.expert_weights.values()), 1)


# Single sensors.


@TASKS
def test_one_key_more_costs_nothing(regression):
    # A sensor that tells nothing: with it the model is as good as without.
    ratios = []
    for seed in range(5):
        rng = random.Random(seed)
        stream = list(factors(seed, regression, n=500, noise=0.3))
        more = [(x | {"new": rng.gauss(7, 3)} if t >= 250 else x, y) for t, (x, y) in enumerate(stream)]
        ratios.append(losses(pufe(regression), more)[250:].mean() / losses(pufe(regression), stream)[250:].mean())
    assert np.mean(ratios) <= 1.1


@TASKS
def test_one_key_more_leaves_the_trust_in_the_experts_as_it_was(regression):
    jumps = []
    for seed in SEEDS:
        # What the old labels taught is wrong from round 100 on, so trust is far from where it began.
        stream = [
            (x, y if t < 100 else -y if regression else not y) for t, (x, y) in enumerate(factors(seed, regression))
        ]
        model, weights = pufe(regression), []
        for t, (x, y) in enumerate(stream):
            model.learn_one(x | {"new": float(t % 7)} if t >= 160 else x, y)
            weights.append(np.array(list(model.expert_weights.values())))
            if weights[1:] and model.events[-1].kind == "overlap ended" and t > model.events[-1].round:
                jumps.append(np.abs(weights[-1] - weights[-2]).sum())
                break
    assert len(jumps) == len(SEEDS)
    assert np.mean(jumps) < 0.1


@TASKS
def test_one_key_lost_is_completed(regression):
    ratios = []
    for seed in range(5):
        stream = list(factors(seed, regression, noise=0.1))
        model = pufe(regression)
        lost = [({k: v for k, v in x.items() if k != "s0_0" or t < 200}, y) for t, (x, y) in enumerate(stream)]
        ratios.append(losses(model, lost)[200:].mean() / losses(pufe(regression), stream)[200:].mean())
        assert [space.state for space in model.spaces] == ["current"]
        assert model.vanished == ("s0_0",)
    assert np.mean(ratios) <= 1.25


@TASKS
@pytest.mark.parametrize("away", [5, 200])
def test_a_key_that_comes_back_counts_as_before(away, regression):
    before, during, after = [], [], []
    for seed in range(6):
        stream = independent(seed, regression, n=400 + away, d=4)
        targets = [float(y) for _, y in stream]
        strongest = max(stream[0][0], key=lambda k: abs(np.corrcoef([x[k] for x, _ in stream], targets)[0, 1]))
        result = losses(pufe(regression), datasets.SensorOutage(stream, 300, 300 + away, [strongest]))
        before.append(result[200:300].mean())
        during.append(result[300 : 300 + away].mean())
        after.append(result[300 + away : 340 + away].mean())
    assert np.mean(during) > 1.5 * np.mean(before)
    assert np.mean(after) < np.mean(before) + 0.25 * (np.mean(during) - np.mean(before))


# Spaces that come back, and many changes.


@TASKS
def test_a_space_that_comes_back_wakes_with_what_it_knew(regression):
    with_memory, without, first_time = [], [], []
    for seed in range(5):
        cycle = datasets.Cycle(overlap=0, n_changes=2, period=250)
        stream = list(factors(seed, regression, cycle, n=540, noise=0.1, unrelated=True))
        with_memory.append(losses(pufe(regression), stream)[500:].mean())
        without.append(losses(pufe(regression, max_spaces=0), stream)[500:].mean())
        first_time.append(losses(pufe(regression), stream[:40]).mean())
    assert np.mean(with_memory) < 0.8 * np.mean(without)
    assert np.mean(with_memory) < 0.8 * np.mean(first_time)


def turns(seed, regression):
    """Two spaces with nothing in common take turns; the first one has a long life, a short one, and another one."""
    rng = np.random.default_rng(seed)
    weights = {space: rng.normal(size=5) / math.sqrt(5) for space in "ab"}
    for space, n in (("a", 400), ("b", 150), ("a", 30), ("b", 150), ("a", 40)):
        for row in rng.normal(size=(n, 5)):
            target = float(weights[space] @ row) + 0.05 * rng.normal()
            yield {f"{space}{i}": value for i, value in enumerate(row.tolist())}, target if regression else target > 0


@TASKS
def test_the_view_of_what_is_present_never_forgets(regression):
    at_first, come_back = [], []
    for seed in range(4):
        only_present = LinearExperts(prior=(1.0, 1e-200, 1e-200))
        result = losses(pufe(regression, only_present), turns(seed, regression))
        at_first.append(result[:30].mean())
        come_back.append(result[550:580].mean())
    assert np.mean(come_back) < 0.3 * np.mean(at_first)


@TASKS
def test_a_space_that_comes_back_again_still_knows(regression):
    with_memory, without = [], []
    for seed in range(4):
        stream = list(turns(seed, regression))
        with_memory.append(losses(pufe(regression), stream)[730:].mean())
        without.append(losses(pufe(regression, max_spaces=0), stream)[730:].mean())
    assert np.mean(with_memory) < 0.7 * np.mean(without)


@TASKS
def test_a_learner_that_comes_back_again_still_knows(regression):
    second, third = [], []
    for seed in range(4):
        result = losses(pufe(regression, SpaceExperts(RiverModel(river(regression)))), turns(seed, regression))
        # A few rounds after its return it is clear that the other space is gone.
        second.append(result[555:580].mean())
        third.append(result[735:760].mean())
    assert np.mean(third) <= 1.3 * np.mean(second)


@TASKS
def test_who_starts_from_scratch_does_so_also_where_keys_return(regression):
    first, third = [], []
    for seed in range(4):
        naive = SpaceExperts(RiverModel(river(regression)), roles=("current",))
        result = losses(pufe(regression, naive), turns(seed, regression))
        first.append(result[5:30].mean())
        third.append(result[735:760].mean())
    assert np.mean(third) > 0.5 * np.mean(first)


def arrays(model):
    """Number of arrays in a model."""

    class Counter(pickle.Pickler):
        n = 0

        def reducer_override(self, thing):
            self.n += isinstance(thing, np.ndarray)
            return NotImplemented

    counter = Counter(io.BytesIO())
    counter.dump(model)
    return counter.n


@TASKS
@pytest.mark.parametrize(("learner", "n_changes"), [(None, 200), ("river", 60)])
def test_many_changes_leave_memory_flat(learner, n_changes, regression):
    rng, period = random.Random(1), 20
    learner = learner and (linear_model.LinearRegression() if regression else linear_model.LogisticRegression())
    model, memory, counts = pufe(regression, learner, max_spaces=3), [], []
    for t in range(period * n_changes):
        a, b, space = rng.gauss(0, 1), rng.gauss(0, 1), t // period
        x = {(space, 0): a, (space, 1): b, (space, 2): a + b}
        if t % period >= period - 8:
            x |= {(space + 1, 0): b, (space + 1, 1): a - b, (space + 1, 2): a}
        if t % period == 10 and space > 10:
            assert math.isfinite(loss(model, x, a if regression else a > 0))
            assert [(s.state, set(s.keys)) for s in model.spaces[-2:]] == [
                ("retired", {(space - 1, i) for i in range(3)}),
                ("current", {(space, i) for i in range(3)}),
            ]
            model._recovery._spaces.events.clear()  # It grows until there are five hundred.
            model._undo = Undo()  # It keeps up to five hundred samples.
            memory.append(model._raw_memory_usage)
            counts.append(arrays(model))
            assert len(model.spaces) == 4
        model.learn_one(x, a if regression else a > 0)
    assert max(counts[1:]) == min(counts[1:])
    assert max(memory[1:]) <= 1.05 * min(memory[1:])


# Labels late, and rare.


@TASKS
@pytest.mark.parametrize("delay", [30, 100])
def test_labels_may_come_later_than_the_overlap_lasts(delay, regression):
    ours, theirs = [], []
    for seed in SEEDS:
        stream = factors(seed, regression, datasets.Cycle(overlap=20), noise=0.1)
        for make, scores in ((pufe, ours), (river, theirs)):
            metric = metrics.MAE() if regression else metrics.Accuracy()
            scores.append(evaluate.progressive_val_score(stream, make(regression), metric, delay=delay).get())
    assert np.mean(ours) < np.mean(theirs) if regression else np.mean(ours) > np.mean(theirs)


@TASKS
def test_features_may_be_observed_before_the_label_comes(regression):
    # The label comes thirty rounds late, later than the overlap lasts; the features can be looked at in time.
    delay, after = 30, {True: [], False: []}
    for seed in SEEDS:
        stream = list(factors(seed, regression, datasets.Cycle(overlap=20), n=500, noise=0.1))
        for observed, result in after.items():
            model = pufe(regression)
            for t, (x, y) in enumerate(stream):
                if 250 <= t < 330:
                    result.append(loss(model, x, y))
                if observed:
                    model.observe_one(x)
                if t >= delay:
                    model.learn_one(*stream[t - delay])
            assert [space.state for space in model.spaces] == ["retired", "current"]
    assert np.mean(after[True]) < 0.8 * np.mean(after[False])


@TASKS
@pytest.mark.parametrize("every", [4, 10])
def test_samples_without_labels_help_where_labels_are_rare(every, regression):
    ratios = []
    for seed in range(5):
        stream = list(factors(seed, regression, datasets.Cycle(overlap=20), n=800, noise=0.1))
        after = {}
        for observed in (True, False):
            model, result = pufe(regression), []
            for t, (x, y) in enumerate(stream):
                if 400 <= t < 550:
                    result.append(loss(model, x, y))
                if t % every == 0:
                    model.learn_one(x, y)
                elif observed:
                    model.observe_one(x)
            after[observed] = np.mean(result)
        ratios.append(after[True] / after[False])
    assert sorted(ratios)[-2] < 1
    assert max(ratios) < 1.05
    assert np.mean(ratios) < 0.9


@TASKS
def test_samples_without_labels_are_enough_to_follow_a_change(regression):
    model = pufe(regression)
    stream = list(factors(1, regression, datasets.Cycle(overlap=40), n=600, noise=0.1))
    for x, y in stream[:250]:
        model.learn_one(x, y)
    for x, _ in stream[250:400]:
        model.observe_one(x)
    assert model.rounds == 400
    assert [space.state for space in model.spaces] == ["retired", "current"]
    blind = np.mean([loss(model, x, y) for x, y in stream[400:]])
    assert blind < 0.6 * np.var([y for _, y in stream])


# Keys that are there now and then.


@TASKS
@pytest.mark.parametrize("spell", [5, 40])
def test_a_sensor_that_reports_in_spells(spell, regression):
    ratios = []
    for seed in SEEDS:
        rng, on, stream = random.Random(seed), True, []
        for x, y in factors(seed, regression):
            on = on != (rng.random() < 1 / spell)
            stream.append(({k: v for k, v in x.items() if on or k != "s0_0"}, y))
        model = pufe(regression)
        ratios.append(losses(model, stream).mean() / losses(river(regression), stream).mean())
        assert len(model.spaces) == 1
        assert len(model.spaces[0].keys) == 8
    assert np.mean(ratios) <= 0.95


@TASKS
def test_a_key_heard_once_in_ten_rounds(regression):
    ratios = []
    for seed in SEEDS:
        stream = [
            ({k: v for k, v in x.items() if k != "s0_0" or t % 10 == 0}, y)
            for t, (x, y) in enumerate(factors(seed, regression))
        ]
        model = pufe(regression)
        ratios.append(losses(model, stream).mean() / losses(river(regression), stream).mean())
        assert len(model.spaces) == 1
        assert model.vanished == ()
    assert np.mean(ratios) <= 1


# What absence means.


@TASKS
@pytest.mark.parametrize("nothing", [None, math.nan, pd.NA])
def test_nothing_is_absent(nothing, regression):
    bare, explicit = pufe(regression), pufe(regression)
    stream = list(datasets.CapriciousStream(factors(1, regression, datasets.Cycle(overlap=20), n=200), 0.2, seed=1))
    everything = dict.fromkeys(itertools.chain.from_iterable(x for x, _ in stream), nothing)
    for x, y in stream:
        full = everything | x
        assert loss(bare, x, y) == loss(explicit, full, y)
        bare.learn_one(x, y)
        explicit.learn_one(full, y)
    assert bare.spaces[-1].state == "current"
    assert [set(space.keys) for space in bare.spaces] == [set(space.keys) for space in explicit.spaces]


@TASKS
def test_absent_as_zero(regression):
    # A word that is not in the text counts 0: to say so or not is the same, and what is there is all there is to know.
    ratios = []
    for seed in SEEDS:
        stream = sparse(seed, regression, n=400, d=20)
        everything = {f"word {k}": 0.0 for k in range(20)}
        tacit, explicit = pufe(regression, absent="zero"), pufe(regression, absent="zero")
        tacit.learn_one(everything, stream[0][1])
        explicit.learn_one(everything, stream[0][1])
        ours = losses(tacit, stream)
        np.testing.assert_allclose(ours, losses(explicit, [(everything | x, y) for x, y in stream]))
        ratios.append(ours.mean() / losses(pufe(regression), stream).mean())
        assert tacit.events == explicit.events
    assert np.mean(ratios) < 1.05


# Junk.


@TASKS
@pytest.mark.parametrize("d", [0, 2])
def test_a_fresh_key_in_every_sample(d, regression):
    rng, model, memory, errors = random.Random(1), pufe(regression), [], []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for t in range(600):
            x = {i: rng.gauss(0, 1) for i in range(d)} | {("id", t): 1.0}
            y = x.get(0, 0.0) if regression else x.get(0, rng.gauss(0, 1)) > 0
            errors.append(loss(model, x, y) if t % 5 == 0 else 0.0)
            model.learn_one(x, y)
            if t % 30 == 29:
                memory.append(model._raw_memory_usage)
    assert len(caught) == 1
    assert np.isfinite(errors).all()
    # The slots of an overlap come and go.
    assert max(memory[10:]) <= 1.6 * max(memory[:10])
    if d:
        assert 5 * np.mean(errors[300:]) < 0.15


@TASKS
@pytest.mark.filterwarnings("ignore:.*never again")
def test_a_fresh_key_in_every_sample_is_not_kept_for_a_learner(regression):
    model, n_keys = pufe(regression, river(regression), patience=math.inf, max_spaces=1), []
    for t, (x, y) in enumerate(independent(1, regression, n=1000, d=2)):
        model.learn_one(x | {("id", t): 1.0}, y)
        n_keys.append(len(model._experts._keys.get(1, ())))
    assert max(n_keys[700:]) <= max(n_keys[:700])


@TASKS
def test_a_warning_that_is_made_an_error_breaks_nothing(regression):
    model, caught = pufe(regression), 0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for t in range(400):
            try:
                model.learn_one({"a": t % 7, f"id {t}": 1.0}, 1.0 if regression else t % 2 == 0)
            except UserWarning:
                caught += 1
    assert caught == 1
    assert math.isfinite(loss(model, {"a": 1.0}, 0.0 if regression else True))


@TASKS
@pytest.mark.parametrize("before", [0, 50])
def test_ten_thousand_keys_at_once(before, regression):
    rng, model = random.Random(1), pufe(regression)
    crowd = {f"k{i}": float(i) for i in range(10_000)}
    for t in range(before + 10 + 200):
        x = crowd if before <= t < before + 10 else {"a": rng.gauss(0, 1), "b": 1.0}
        y = x.get("a", 0.0) if regression else x.get("a", 0.0) > 0
        assert math.isfinite(loss(model, x, y))
        model.learn_one(x, y)
    assert set(model.spaces[-1].keys) == {"a", "b"}
    assert np.mean([loss(model, {"a": a, "b": 1.0}, a if regression else a > 0) for a in (-1.0, -0.5, 0.5, 1.0)]) < 0.15


@TASKS
def test_keys_of_mixed_types(regression):
    kinds = ["a", 1, 2.5, ("a", 1), None, frozenset("a"), b"a", float("nan")]
    names, kinded = pufe(regression), pufe(regression)
    stream = list(datasets.CapriciousStream(factors(1, regression, n=200), 0.2, seed=1))
    kind = dict(zip((f"s0_{j}" for j in range(8)), kinds))
    for x, y in stream:
        odd = {kind[key]: value for key, value in x.items()}
        assert loss(names, x, y) == loss(kinded, odd, y)
        names.learn_one(x, y)
        kinded.learn_one(odd, y)


@TASKS
@pytest.mark.parametrize("every", [1, 2, 60])
def test_flipping_between_two_sets_of_keys(every, regression):
    memory, model = [], pufe(regression)
    for t, (x, y) in enumerate(factors(1, regression, n=900)):
        x = {k: v for k, v in x.items() if int(k[-1]) % 2 == t // every % 2}
        if t % 60 == 59:
            assert math.isfinite(loss(model, x, y))
            memory.append(model._raw_memory_usage)
        model.learn_one(x, y)
        assert len(model.spaces[-1].keys) <= 8
    assert max(memory[8:]) <= 1.5 * max(memory[:8])


# Any River model in place of the linear experts.


@TASKS
def test_the_current_expert_is_awake(regression):
    learner = linear_model.LinearRegression() if regression else linear_model.LogisticRegression()
    model = pufe(regression, learner, max_spaces=0)
    for t, (x, y) in enumerate(independent(1, regression, n=400, d=6)):
        model.learn_one(x if t < 200 else dict(itertools.islice(x.items(), 2)), y)
    assert model.expert_weights["space 0"] > 0


@TASKS
@pytest.mark.parametrize("name", ["abrupt", "replaced", "one sensor lost"])
def test_a_river_model_inside_is_not_far_behind_itself(name, regression):
    ratios = []
    for seed in SEEDS:
        stream = list(STREAMS[name](seed, regression))
        ours = losses(pufe(regression, river(regression)), stream).mean()
        ratios.append(ours / losses(river(regression), stream).mean())
    assert np.mean(ratios) <= 1.05
