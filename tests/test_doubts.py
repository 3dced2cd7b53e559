"""A sensor that is replaced under its name: its values are converted, or it starts anew."""

from __future__ import annotations

import copy
import itertools
import pickle

import numpy as np
import pytest

from river_pufe import FeatureRecovery, PUFEClassifier, PUFERegressor, state
from river_pufe.recovery import GaussianRows
from river_pufe.recovery.evolution import Event, Rescaled
from river_pufe.recovery.fit import Fit
from river_pufe.recovery.spaces import FeatureSpaces

CHANGED_AT = 600
CHANGES = {
    "milli": lambda v: 1000 * v,
    "celsius": lambda v: (v - 32) / 1.8,
    "kilo": lambda v: v / 1000,
    "from zero": lambda v: v - 90,
    "at rest": lambda v: np.full_like(v, v[0]),
    "noise": lambda v: np.random.default_rng(9).permutation(v),
}


def thermometers(change=None, d=6, explained=True, n=900, seed=1, keys=None):
    """Samples of some thermometers in °F, the first of which changes; and what it would read, shape (n,)."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    if explained:
        ways = rng.normal(size=(2, d))
        X = 0.97 * rng.normal(size=(n, 2)) @ (ways / np.sqrt(np.square(ways).sum(0))) + 0.24 * X
    X = 68 + 10 * X
    truth = X[:, 0].copy()
    if change is not None:
        X[CHANGED_AT:, 0] = CHANGES[change](X[CHANGED_AT:, 0])
    keys = keys if keys is not None else [f"room {i}" for i in range(d)]
    return [dict(zip(keys, row)) for row in X.tolist()], truth


def train(model, samples):
    for x in samples:
        model.learn_one(x)
    return model


def news(model):
    return [(event.kind, event.keys) for event in model.events if event.kind in ("rescaled", "replaced")]


def doubted(recovery, x):
    """Keys that are present, but not believed."""
    row = recovery.read(x).row
    return [key for key, value in zip(recovery.living_keys, row) if key in x and np.isnan(value)]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("change", ["celsius", "kilo", "from zero"])
def test_another_unit_is_converted(change, seed):
    samples, truth = thermometers(change, seed=seed)
    recovery = train(FeatureRecovery(), samples)
    assert news(recovery) == [("rescaled", ("room 0",))]
    (event,) = [event for event in recovery.events if event.kind == "rescaled"]
    assert CHANGED_AT < event.round < CHANGED_AT + 100
    read = samples[-1]["room 0"]
    assert event.factor * read + event.offset == pytest.approx(truth[-1], abs=1.0)
    assert recovery.transform_one(samples[-1]) == {**samples[-1], "room 0": pytest.approx(truth[-1], abs=1.0)}
    assert "factor" in str(event)


def test_what_is_expected_is_in_the_unit_that_is_read():
    samples, _ = thermometers("kilo")
    recovery = train(FeatureRecovery(), samples)
    value, deviation = recovery.expected_one(samples[-1])["room 0"]
    assert abs(samples[-1]["room 0"] - value) < 4 * deviation < 0.03


def test_a_key_that_returns_is_in_the_unit_that_it_had_at_last():
    samples, truth = thermometers("kilo", n=1300)
    others, _ = thermometers(n=1300, keys=[f"hall {i}" for i in range(6)])
    both = [{**x, **other} for x, other in zip(samples, others)]
    recovery = train(FeatureRecovery(), samples[:700] + both[700:760] + others[760:1200])
    assert [space.keys for space in recovery.spaces if space.state == "retired"] == [tuple(samples[0])]
    assert "room 0" in recovery.vanished
    assert recovery.expected_one(others[1250])["room 0"].value == pytest.approx(truth[1250] / 1000, abs=0.03)
    train(recovery, both[1200:1201])
    assert recovery.transform_one(both[1250])["room 0"] == pytest.approx(truth[1250])
    reading = recovery.read(both[1250])
    assert reading.scaler.mean == pytest.approx([68] * 12, abs=3)
    assert reading.scaler.deviation == pytest.approx([10] * 12, abs=3)


@pytest.mark.parametrize("seed", range(5))
def test_a_key_is_converted_where_others_are_often_absent(seed):
    samples, _ = thermometers("milli", d=16, seed=seed)
    rng = np.random.default_rng(seed)
    recovery = FeatureRecovery()
    for x in samples[: CHANGED_AT + 100]:
        recovery.learn_one({key: value for key, value in x.items() if rng.random() > 0.3})
    assert news(recovery) == [("rescaled", ("room 0",))]


@pytest.mark.parametrize("seed", range(6))
def test_a_key_is_converted_where_a_few_residuals_are_far_larger_than_most(seed):
    rng = np.random.default_rng(seed)
    rows = (68 + 10 * rng.normal(size=900))[:, None] + rng.standard_t(3, size=(900, 5))
    rows[CHANGED_AT:, 0] = CHANGES["celsius"](rows[CHANGED_AT:, 0])
    recovery = train(FeatureRecovery(), [{f"room {i}": value for i, value in enumerate(row)} for row in rows.tolist()])
    assert news(recovery) == [("rescaled", ("room 0",))]


def test_one_spike_does_not_make_others_usual():
    samples, _ = thermometers("celsius")
    samples[500] = {**samples[500], "room 0": 1e9}
    recovery = train(FeatureRecovery(), samples[: CHANGED_AT + 100])
    assert news(recovery) == [("rescaled", ("room 0",))]


def test_a_change_unlike_anything_before_is_doubted_before_a_block_is_full():
    samples, _ = thermometers()
    for x in samples[CHANGED_AT:]:
        x["room 0"] += 25
    recovery = train(FeatureRecovery(), samples[: CHANGED_AT + 20])
    assert np.isnan(recovery.read(samples[CHANGED_AT + 20]).row[0])
    train(recovery, samples[CHANGED_AT + 20 :])
    (event,) = [event for event in recovery.events if event.kind == "rescaled"]
    assert event.factor * 93 + event.offset == pytest.approx(68, abs=1.0)


@pytest.mark.parametrize(("change", "expected"), [("noise", []), ("off", [("replaced", ("room 0",))])])
def test_of_two_keys_that_explain_each_other_one_is_replaced_where_it_is_unlike_itself(change, expected):
    rng = np.random.default_rng(3)
    heat = 68 + 10 * rng.normal(size=900)
    rows = heat[:, None] + 2 * rng.normal(size=(900, 2))
    rows[CHANGED_AT:, 0] = rng.normal(68, 10, size=300) if change == "noise" else rng.normal(0, 0.1, size=300)
    recovery = train(FeatureRecovery(), [{"room 0": a, "room 1": b} for a, b in rows.tolist()])
    assert news(recovery) == expected


@pytest.mark.parametrize("seed", range(3))
def test_a_sensor_at_rest_is_blamed_before_one_whose_residuals_rest_on_it(seed):
    """At rest near its mean the other one, which goes on as ever, has the larger residuals of the two."""
    rng = np.random.default_rng(seed)
    heat = 68 + 10 * rng.normal(size=760)
    rows = heat[:, None] + 2 * rng.normal(size=(760, 2))
    rows[CHANGED_AT:, 0] = 68.0
    recovery = train(FeatureRecovery(), [{"room 0": a, "room 1": b} for a, b in rows.tolist()])
    assert news(recovery) == [("replaced", ("room 0",))]


def test_two_keys_that_explain_each_other_may_change_together():
    samples, _ = thermometers(explained=False)
    rng = np.random.default_rng(0)
    for t, x in enumerate(samples):
        x["room 1"] = x["room 0"] + rng.normal(0, 2)
        if t >= CHANGED_AT:
            x["room 0"], x["room 1"] = x["room 0"] + 120, x["room 1"] - 100
    recovery = train(FeatureRecovery(), samples[: CHANGED_AT + 20])
    assert doubted(recovery, samples[CHANGED_AT + 20]) == ["room 0", "room 1"]
    train(recovery, samples[CHANGED_AT + 20 : CHANGED_AT + 80])
    assert news(recovery) == []
    assert doubted(recovery, samples[-1]) == []


def test_before_it_is_known_what_is_usual_all_is_believed():
    samples, _ = thermometers()
    recovery = train(FeatureRecovery(), samples[:20])
    reading = recovery.read({**samples[20], "room 0": 1e9})
    assert (reading.residuals, reading.too_far, reading.n_strange) == (None, -1, 0)
    assert not np.isnan(reading.row).any()


def test_rounds_are_not_strange_because_a_key_is_doubted():
    samples, _ = thermometers("milli")
    recovery = train(FeatureRecovery(), samples[: CHANGED_AT + 16])
    numbers = []
    for x in samples[CHANGED_AT + 16 : CHANGED_AT + 28]:
        assert doubted(recovery, x) == ["room 0"]
        numbers.append(recovery.read(dict.fromkeys(x, 500.0)).n_strange)
        recovery.learn_one(x)
    # The one that is asked about, and those that ended the block before.
    assert numbers == [2] * 12


def test_strange_rounds_of_a_law_that_is_gone_do_not_count():
    samples, _ = thermometers(explained=False)
    strange = {**samples[0], "room 0": 200.0}
    recovery = train(FeatureRecovery(), samples[:500])
    for n in range(1, 9):
        assert recovery.read(strange).n_strange == n
        recovery.learn_one(strange)
    recovery._doubts.reset()
    # After the rows that a new law needs.
    train(recovery, samples[500:540])
    assert recovery.read(strange).n_strange == 1


@pytest.mark.parametrize("change", ["kilo", "milli"])
@pytest.mark.parametrize("explained", [True, False])
def test_no_answer_leaves_the_targets_seen_on_the_way(change, explained):
    samples, truth = thermometers(change, d=2, explained=explained)
    targets = 3 * truth + np.random.default_rng(0).normal(size=len(truth))
    answers = np.array(play(PUFERegressor(), samples[: CHANGED_AT + 30], targets))[CHANGED_AT:]
    seen, noise = targets[: CHANGED_AT + 30], 3.0
    low, high = seen.min() - noise, seen.max() + noise
    assert low <= answers[1:].min() <= answers[1:].max() <= high
    # The first strange row may be a rare event.
    room = 0.25 * np.ptp(seen)
    assert low - room <= answers[0] <= high + room


@pytest.mark.parametrize("change", ["at rest", "noise"])
def test_another_sensor_starts_anew_and_the_old_one_is_recovered(change):
    samples, truth = thermometers(change)
    recovery = train(FeatureRecovery(), samples[:720])
    assert news(recovery) == [("replaced", ("room 0",))]
    assert [space.keys for space in recovery.spaces if space.state == "retired"] == [("room 0",)]
    assert "room 0" in recovery.living_keys
    reading = recovery.read(samples[720])
    (retired,) = reading.retired
    _, mean, deviation, _ = retired.statistics
    assert mean + retired.recover(reading.standardized) * deviation == pytest.approx(truth[720], abs=8.0)


@pytest.mark.parametrize("explained", [True, False])
def test_nothing_happens_where_nothing_changes(explained):
    recovery = train(FeatureRecovery(), thermometers(explained=explained)[0])
    assert news(recovery) == []


def test_a_lone_key_is_converted_only_where_its_level_tells():
    for change, expected in (("kilo", [("rescaled", ("room 0",))]), ("from zero", []), ("at rest", [])):
        samples, _ = thermometers(change, explained=False)
        recovery = train(FeatureRecovery(), samples)
        assert news(recovery) == expected
        # It is not doubted for ever.
        assert doubted(recovery, samples[-1]) == []


def test_where_all_keys_change_the_world_has():
    samples, _ = thermometers()
    other = [{key: value + 40 for key, value in x.items()} for x in samples]
    recovery = train(FeatureRecovery(), samples[:500] + other[:300])
    assert news(recovery) == []
    assert recovery.transform_one(other[-1]) == other[-1]


@pytest.mark.parametrize("explained", [True, False])
def test_all_keys_may_change_their_unit_at_once(explained):
    samples, _ = thermometers(explained=explained)
    other = [{key: value / 1000 for key, value in x.items()} for x in samples]
    recovery = train(FeatureRecovery(), samples[:500] + other[500:])
    assert sorted(news(recovery)) == [("rescaled", (key,)) for key in samples[0]]
    assert recovery.transform_one(other[-1]) == pytest.approx(samples[-1])


@pytest.mark.parametrize("seed", range(3))
def test_a_key_that_falls_silent_does_not_hold_up_the_verdicts_on_the_others(seed, monkeypatch):
    """The verdicts begin another block, and none is judged that is empty."""
    update = Fit.update

    def checked(fit, residuals, limits):
        assert residuals.ndim == 2
        return update(fit, residuals, limits)

    monkeypatch.setattr(Fit, "update", checked)
    samples, _ = thermometers(explained=False, seed=seed)
    changed = [f"room {i}" for i in range(3)]
    for t, x in enumerate(samples[CHANGED_AT:]):
        x.update({key: x[key] / 1000 for key in changed})
        if t >= 20:
            del x["room 2"]
    recovery = train(FeatureRecovery(FeatureSpaces(significance=0.0)), samples[: CHANGED_AT + 100])
    assert {("rescaled", ("room 0",)), ("rescaled", ("room 1",))} <= set(news(recovery))


def test_several_keys_are_converted_at_once():
    samples, _ = thermometers(d=12)
    changed = {f"room {i}": 1 / 1000 for i in range(3)}
    other = [{key: changed.get(key, 1) * value for key, value in x.items()} for x in samples]
    recovery = train(FeatureRecovery(), samples[:CHANGED_AT] + other[CHANGED_AT : CHANGED_AT + 60])
    assert sorted(news(recovery)) == [("rescaled", (key,)) for key in changed]


def test_a_sensor_that_was_out_of_order_is_believed_again():
    samples, _ = thermometers()
    for x in samples[CHANGED_AT : CHANGED_AT + 50]:
        x["room 0"] = 0.0
    recovery = train(FeatureRecovery(), samples)
    assert news(recovery) == []
    assert recovery.transform_one(samples[-1]) == samples[-1]


def test_a_spike_is_no_change():
    samples, _ = thermometers()
    samples[500] = {**samples[500], "room 0": 1e9}
    recovery = train(FeatureRecovery(), samples[:500])
    # It stays in the sample, but nothing is made of it.
    assert recovery.transform_one(samples[500])["room 0"] == 1e9
    reading = recovery.read(samples[500])
    assert np.isnan(reading.row[0])
    assert reading.completed[1] == pytest.approx(0, abs=4)
    assert news(train(recovery, samples[500:])) == []


@pytest.mark.parametrize(
    "recovery",
    [FeatureRecovery(false_alarms=0.0), FeatureRecovery(FeatureSpaces(absent="zero"))],
    ids=["switched off", "absent is zero"],
)
def test_where_it_is_off_nothing_is_doubted(recovery):
    samples, _ = thermometers("kilo")
    train(recovery, samples)
    assert news(recovery) == []
    assert recovery.transform_one(samples[-1]) == samples[-1]


@pytest.mark.parametrize("rate", [-1e-9, 1.0, float("nan")])
def test_a_rate_is_a_rate(rate):
    with pytest.raises(ValueError, match="false_alarms is a rate"):
        FeatureRecovery(false_alarms=rate)


def play(model, samples, targets):
    answers = []
    for x, y in zip(samples, targets):
        answers.append(model.predict_one(x))
        model.learn_one(x, y)
    return answers


@pytest.mark.parametrize("change", ["celsius", "noise"])
def test_the_order_and_the_names_of_keys_change_nothing(change):
    samples, truth = thermometers(change)
    names = [("a", 1), 7, "x", 2.5, None, "room 0"]
    one, other = PUFERegressor(), PUFERegressor()
    renamed = [dict(reversed([*zip(names, x.values())])) for x in samples]
    assert play(one, samples, truth) == pytest.approx(play(other, renamed, truth), rel=1e-6)
    assert [event.round for event in one.events] == [event.round for event in other.events]


@pytest.mark.parametrize("change", ["celsius", "noise"])
@pytest.mark.parametrize("stop", [CHANGED_AT + 5, CHANGED_AT + 45, CHANGED_AT + 120])
def test_a_model_goes_on_exactly_from_its_state(change, stop):
    samples, truth = thermometers(change)
    model = PUFERegressor()
    play(model, samples[:stop], truth[:stop])
    twins = pickle.loads(pickle.dumps(model)), copy.deepcopy(model), state.loads(state.dumps(model))
    answers = play(model, samples[stop:], truth[stop:])
    for twin in twins:
        assert play(twin, samples[stop:], truth[stop:]) == answers
        assert twin.events == model.events


@pytest.mark.parametrize("change", ["celsius", "noise"])
def test_asking_changes_nothing(change):
    samples, truth = thermometers(change)
    model = PUFERegressor()
    for t, (x, y) in enumerate(zip(samples, truth)):
        if t > CHANGED_AT and t % 10 == 0:
            before = pickle.dumps(model)
            model.predict_one(x), model.expected_one(x), model.recover_one(x)
            assert pickle.dumps(model) == before
        model.learn_one(x, y)


@pytest.mark.parametrize("change", ["celsius", "noise"])
def test_many_at_once_are_as_one_after_the_other(change):
    pd = pytest.importorskip("pandas")
    samples, truth = thermometers(change)
    labels = (truth > 68).tolist()
    one, many = PUFEClassifier(), PUFEClassifier()
    for x, y in zip(samples, labels):
        one.learn_one(x, y)
    for start, stop in itertools.pairwise([0, 300, 620, 641, 650, 700, 900]):
        many.learn_many(pd.DataFrame(samples[start:stop]), pd.Series(labels[start:stop]))
    assert one.events == many.events
    assert one.predict_proba_one(samples[-1]) == pytest.approx(many.predict_proba_one(samples[-1]))
    frame = pd.DataFrame(samples[-20:])
    expected = [one.predict_proba_one(x)[True] for x in samples[-20:]]
    assert many.predict_proba_many(frame)[True].tolist() == pytest.approx(expected)


def error(samples, targets, start):
    answers = play(PUFERegressor(), samples, targets)
    return np.abs(np.array(answers[start:]) - targets[start:]).mean()


@pytest.mark.parametrize("change", ["celsius", "kilo"])
def test_what_was_learned_stays_valid(change):
    rng = np.random.default_rng(0)
    (before, truth), (after, _) = thermometers(), thermometers(change)
    targets = truth + np.array([sum(x.values()) for x in before]) + rng.normal(size=len(truth))
    start = CHANGED_AT + 100
    assert error(after, targets, start) <= 1.5 * error(before, targets, start)


def test_memory_is_bounded_over_any_number_of_replacements():
    samples, _ = thermometers(n=600)
    rng = np.random.default_rng(0)
    recovery, sizes = train(FeatureRecovery(FeatureSpaces(patience=20, max_spaces=2)), samples), []
    for turn in range(8):
        again, _ = thermometers(n=500, seed=1)
        broken = [{**x, "room 0": 1e4 * turn + rng.normal()} for x in again]
        train(recovery, broken if turn % 2 else again)
        sizes.append(len(pickle.dumps(recovery)))
    assert max(sizes[4:]) <= 1.2 * max(sizes[:4])


def test_the_law_to_judge_by_is_renewed_less_and_less_often(monkeypatch):
    """Each time that there are half as many rows more, and each 256 rows in the end: the inverse costs O(d³)."""
    renewed, precision = [], GaussianRows.precision

    def counting(row_model):
        renewed.append(recovery.rounds)
        return precision(row_model)

    monkeypatch.setattr(GaussianRows, "precision", counting)
    recovery = FeatureRecovery()
    for x in thermometers(d=3, n=2000)[0]:
        recovery.learn_one(x)
    gaps = np.diff([0, *renewed])
    assert (gaps >= np.minimum(np.array([0, *renewed])[:-1] * 0.5, 256) - 32).all()
    assert gaps.max() <= 256 + 32


def test_an_event_tells_what_is_known_of_it():
    assert str(Rescaled(7, "rescaled", ("a", 1), 1.8, 32.0)) == "round 7: rescaled a, 1 (factor 1.8, offset 32)"
    assert str(Event(8, "opened", tuple("abcdefg"))) == "round 8: opened a, b, c, d, e, f, … (7 keys)"


@pytest.mark.parametrize("n", [40, 120])
def test_a_restored_model_goes_on_to_the_last_bit(n):
    samples, _ = thermometers(d=3)
    recovery = FeatureRecovery()
    for x in samples[:n]:
        recovery.learn_one(x)
    restored = pickle.loads(pickle.dumps(recovery))
    for model in (recovery, restored):
        for x in samples[n : n + 20]:
            model.learn_one(x)
    np.testing.assert_equal(restored.state_dict(), recovery.state_dict())
