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


def test_parts_of_the_package_are_known_to_the_kernels():
    """Whole rounds are one call then; a rule of another make is asked for its steps."""

    class Own(Newton):
        form = None

    assert LinearExperts().form is not None
    assert LinearExperts(rules=(Newton(), Own())).form is None


def test_numbers_are_remembered_for_longer_than_classes():
    """2,000 rounds instead of 500, as the docstring of the default of regressors says."""
    for experts, rounds in ((LinearExperts(), 500), (LinearExperts.for_numbers(), 2000)):
        assert [round(1 / (1 - rule.forgetting)) for rule in experts.rules if rule.forgetting < 1] == [rounds]


@pytest.mark.parametrize(
    ("evolution", "born"),
    [
        (Evolution(opened=1, origins=(None,)), [False, False, False]),
        (Evolution(opened=1, origins=(None,), overlap=True), [False, False, True]),
        (Evolution(keep=np.array([False, True]), settled=True), [False, False, False]),
        (Evolution(keep=np.array([False, True]), settled=True, replaced=True), [True, True, True]),
    ],
)
def test_experts_are_new_in_a_new_space_and_all_of_them_once_it_is_alone(evolution, born):
    experts = taught((Identity(),))
    assert experts.follow(evolution, np.ones(3) / 3).tolist() == born
