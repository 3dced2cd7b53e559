"""Do linear models keep what they have learned when inputs come and go?"""

from __future__ import annotations

import numpy as np
import pytest

from river_pufe import PUFEClassifier, PUFERegressor, kernels
from river_pufe.experts import Identity, LinearExperts, Neighbours, Newton, RandomFourier
from river_pufe.recovery.evolution import Evolution

MAPS = {"row": (Identity(),), "row and features": (Identity(), RandomFourier(n_features=4))}


def taught(maps, n=60):
    """Experts that have learned from two keys, and the inverse of the rule of the row."""
    model = PUFERegressor(LinearExperts(maps=maps, rules=(Newton(),)))
    rng = np.random.default_rng(1)
    for _ in range(n):
        a, b = rng.normal(size=2).tolist()
        model.learn_one({"a": a, "b": b}, a - b)
    return model._experts


def uncertainty(experts):
    rule = experts._rules[0][0]
    upper = np.triu(rule.form.inverse * rule.form.numbers[kernels.SCALE])
    return upper + np.triu(upper, 1).T


@pytest.mark.parametrize("maps", MAPS)
def test_rules_are_as_certain_as_before_of_what_stays(maps):
    experts = taught(MAPS[maps])
    before, shares = uncertainty(experts), np.ones(len(experts.names)) / len(experts.names)
    experts.follow(Evolution(opened=1, origins=(None,)), shares)
    after = uncertainty(experts)
    np.testing.assert_allclose(after[:3, :3], before, rtol=1e-12)
    assert not after[:3, 3].any()
    assert after[3, 3] > 10 * before.diagonal().max()
    experts.follow(Evolution(keep=np.array([False, True, True])), shares)
    np.testing.assert_allclose(uncertainty(experts), after[np.ix_([0, 2, 3], [0, 2, 3])], rtol=1e-12)


@pytest.mark.parametrize("maps", MAPS)
def test_models_keep_the_weights_of_what_stays(maps):
    experts = taught(MAPS[maps])
    before, shares = experts._weights.copy(), np.ones(len(experts.names)) / len(experts.names)
    experts.follow(Evolution(opened=1, origins=(None,)), shares)
    np.testing.assert_array_equal(experts._weights[:3], before[:3])
    assert not experts._weights[3].any()


def test_what_is_compiled_reads_the_rules_as_they_are():
    """Also after a new class, which starts the rules of some maps anew."""
    model = PUFEClassifier(LinearExperts(maps=(Identity(), Neighbours(window=5)), rules=(Newton(),)))
    for label in "abacb":
        model.learn_one({"x": 1.0}, label)
        experts = model._experts
        for forms, rules in zip(experts._forms, experts._rules, strict=True):
            assert all(form.inverse is rule.form.inverse for form, rule in zip(forms, rules, strict=True))


def played(target, n=600, model=None, start=0):
    """A model of two keys, how many heads played each round, and what rested did not change in a round."""
    model = model if model is not None else PUFEClassifier()
    rng = np.random.default_rng(3)
    rows, playing = rng.normal(size=(start + n, 3)), []
    for a, b, noise in rows[start:].tolist():
        experts = model._experts
        before, heads = experts._weights.copy(), len(experts._playing.heads)
        rules = [[rule.form for rule in rules] for rules in experts._rules[heads:]]
        before_rules = [[np.copy(form.inverse) for form in forms if hasattr(form, "inverse")] for forms in rules]
        model.learn_one({"a": a, "b": b}, bool(target(a, b, noise)))
        if playing and experts._weights.shape == before.shape:
            n_groups = heads * len(experts.rules)
            np.testing.assert_array_equal(experts._weights[:, n_groups:], before[:, n_groups:])
            for forms, inverses in zip(rules, before_rules, strict=True):
                for form, inverse in zip([form for form in forms if hasattr(form, "inverse")], inverses, strict=True):
                    np.testing.assert_array_equal(form.inverse, inverse)
        playing.append(heads)
    return model, playing


def linear(a, b, noise):
    return a + b + noise > 0


def product(a, b, noise):
    return a * b + 0.1 * noise > 0


def test_models_that_are_of_no_use_rest_and_are_asked_every_ninth_round():
    model, playing = played(linear)
    assert playing[:200] == [3] * 200
    later = playing[200:]
    assert later.count(3) == pytest.approx(len(later) / 9, abs=1)
    assert all(heads == 1 for heads, at in zip(later, range(200, 600)) if at % 9)
    shown = model.debug_one({"a": 1.0, "b": 1.0})
    assert "asleep" in next(line for line in shown.splitlines() if "fourier" in line)
    assert sum(model.expert_weights.values()) == pytest.approx(1.0)


def test_models_that_help_do_not_rest():
    _, playing = played(product)
    assert playing == [3] * 600


def test_models_that_rest_wake_when_they_help():
    model, _ = played(linear)
    _, playing = played(product, 1500, model, start=600)
    assert 1 not in playing[-200:]


def test_all_models_play_after_a_change_of_the_features():
    model, playing = played(linear, 400)
    assert playing[-1] == 1
    model.learn_one({"a": 0.5, "b": -1.0, "c": 2.0}, True)
    assert len(model._experts._playing.heads) == 3


@pytest.mark.parametrize("target", [lambda a, b: a + b > 0, lambda a, b: a * b > 0])
def test_merits_are_what_each_map_takes_off_the_loss(target):
    """Against a transcription from what is predicted."""
    model = PUFEClassifier(LinearExperts(maps=(Identity(), RandomFourier(n_features=4)), rules=(Newton(),)))
    rng, merits = np.random.default_rng(0), np.zeros((2, 2))
    for a, b in rng.normal(size=(300, 2)).tolist():
        x, y = {"a": a, "b": b}, bool(target(a, b))
        if model.rounds:
            asked, heads = model._ask(x), len(model._experts._playing.heads)
            losses = [0.0]
            for end in (3, 6)[:heads]:
                weights = asked.weights[:end] if asked.weights[:end].sum() > 0 else asked.awake[:end]
                mixture = weights @ asked.predictions[:end] / weights.sum()
                losses.append(float((mixture[0] - y) ** 2))
            for h in range(heads):
                merits[:, h] = 0.998 * merits[:, h] + (losses[h] - losses[h + 1], losses[h])
        model.learn_one(x, y)
        if model.rounds == 1:
            merits = model._experts._merits.copy()
        np.testing.assert_allclose(model._experts._merits, merits, rtol=1e-9, atol=1e-12)
