"""Do linear models keep what they have learned when inputs come and go?"""

from __future__ import annotations

import numpy as np
import pytest

from river_pufe import PUFEClassifier, PUFERegressor, kernels
from river_pufe.experts import FeatureMap, Identity, ImplicitGradient, LinearExperts, Neighbours, Newton, RandomFourier
from river_pufe.recovery.evolution import Evolution
from river_pufe.recovery.linear_map import Affine
from river_pufe.recovery.scaling import NewUnits
from river_pufe.tasks import Classification, Regression


class Own(Newton):
    """A rule that the kernels do not know."""

    form = None


class OwnMap(RandomFourier):
    """A map that they do not know."""

    form = None


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


def test_all_models_play_where_the_loss_grows():
    rng, model = np.random.default_rng(0), PUFEClassifier()
    rows, playing = rng.normal(size=(1000, 4)), []
    for t, row in enumerate(rows):
        side = row.sum() + rng.normal() if t < 800 else row[0] * row[1]
        model.learn_one(dict(zip("abcd", row.tolist())), bool(side > 0))
        playing.append(len(model._experts._playing.heads))
    assert playing[700:800].count(1) > 80
    assert playing[-140:] == [3] * 140


def test_models_do_not_rest_if_that_is_not_wanted():
    _, playing = played(linear, model=PUFEClassifier(LinearExperts(min_gain=None)))
    assert playing == [3] * 600
    with pytest.raises(ValueError, match="min_gain is a share of the loss, 0 or more, or None, not -1"):
        LinearExperts(min_gain=-1)


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


def test_parts_of_the_package_are_known_to_the_kernels():
    """Whole rounds are one call then; a rule of another make is asked for its steps."""

    assert LinearExperts().form is not None
    assert LinearExperts(rules=(Newton(), Own())).form is None
    assert LinearExperts(maps=(Identity(), OwnMap())).form is None


@pytest.mark.parametrize("parts", [{"rules": (Newton(), Own())}, {"maps": (Identity(), OwnMap(n_features=4))}])
def test_parts_that_kernels_do_not_know_learn_as_those_they_know(parts):
    known = {"rules": (Newton(), Newton()), "maps": (Identity(), RandomFourier(n_features=4))}
    models = [PUFEClassifier(LinearExperts(**{name: each[name] for name in parts})) for each in (parts, known)]
    for t, row in enumerate(some_rows(6, 120).tolist()):
        keys = "abc" if t < 60 else "abcdef" if t < 80 else "def"
        x, y = dict(zip(keys, row)), t % 3 if t % 5 else int(row[0] > 0)
        one, other = (model.predict_proba_one(x) for model in models)
        assert one == pytest.approx(other, abs=1e-9)
        for model in models:
            model.learn_one(x, y, w=1.0 if t % 2 else 2.0)


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


# Scores, by view and through all that happens to the slots.

THREE = (Identity(), Neighbours(window=20), RandomFourier(n_features=6, n_rows=5))
TASK = Regression()


def of_three_keys(maps=THREE, n=60):
    model = PUFERegressor(LinearExperts(maps=maps, rules=(Newton(forgetting=0.99), ImplicitGradient())))
    rng = np.random.default_rng(2)
    for row in rng.normal(size=(n, 3)).tolist():
        model.learn_one(dict(zip("abc", row)), row[0] - row[1] + np.sin(3 * row[2]))
    return model._experts


def scores(experts, rows):
    """Shape (rows, maps, rules, views)."""
    predictions, _ = experts.predict_many(np.hstack([np.ones((len(rows), 1)), rows]), TASK)
    return predictions.reshape(len(rows), -1, 2, 3)


def some_rows(d, n=7):
    return np.random.default_rng(3).normal(size=(n, d))


def test_recovered_models_start_from_the_mixture_and_fresh_ones_from_its_constant():
    experts, rows = of_three_keys(), some_rows(3)
    # What the features that are drawn anew have contributed is lost with them, so the last map is left out.
    before = scores(experts, rows)[:, :2]
    shares = np.random.default_rng(4).uniform(size=len(experts.names))
    experts.follow(Evolution(opened=2, overlap=True, origins=(None, None)), shares)
    after = scores(experts, np.hstack([rows, np.zeros((7, 2))]))
    present, recovered, fresh = np.moveaxis(after[:, :2], 3, 0)
    weights = shares.reshape(3, 2, 3)[:2] / shares.reshape(3, 2, 3)[:2].sum((1, 2), keepdims=True)
    mixture = (before * weights).sum((2, 3))
    np.testing.assert_allclose(present, before[..., 0])
    np.testing.assert_allclose(recovered, np.stack([mixture, mixture], 2))
    # A fresh model says the same of all rows: what the recovered one says of a row without features.
    nothing = of_three_keys(maps=(Identity(),))
    nothing.follow(Evolution(opened=1, overlap=True, origins=(None,)), np.zeros(6))
    alone = scores(nothing, np.zeros((1, 4)))
    np.testing.assert_allclose(alone[..., 2], alone[..., 1])
    assert np.ptp(scores(nothing, some_rows(4))[..., 2]) == 0.0
    assert np.ptp(fresh, axis=0).max() < 1e-12


def test_where_no_model_counts_the_priors_mix():
    one, other = of_three_keys(), of_three_keys()
    change, rows = Evolution(opened=1, overlap=True, origins=(None,)), some_rows(4)
    one.follow(change, np.zeros(len(one.names)))
    other.follow(change, other.priors)
    np.testing.assert_allclose(scores(one, rows), scores(other, rows))


def test_what_is_dropped_is_read_from_what_is_left():
    experts = of_three_keys(maps=(Identity(), RandomFourier(n_features=6, n_rows=5)))
    rng, rows = np.random.default_rng(5), some_rows(2)
    recover = Affine(rng.normal(size=(1, 2)), np.eye(2), rng.normal(size=1), np.zeros(1))
    whole = np.array([np.insert(row, 1, recover(row)) for row in rows])
    before, nothing = scores(experts, whole), scores(experts, whole * [1, 0, 1])
    experts.follow(Evolution(keep=np.array([True, False, True]), recover=recover), np.ones(12) / 12)
    after = scores(experts, rows)
    np.testing.assert_allclose(after[..., 1], before[..., 1])
    # The others lose its weight.
    np.testing.assert_allclose(after[:, 0, :, ::2], nothing[:, 0, :, ::2])


@pytest.mark.parametrize("forgotten", [(), (8,)])
def test_what_returns_has_the_weights_that_it_had(forgotten):
    """Present models go on with their own, fresh ones start from that of the recovered one, in the present unit."""
    experts = of_three_keys(maps=(Identity(),))
    step = np.array([[0.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    weights = np.diff(scores(experts, step), axis=0)[0, 0]
    shares = np.ones(6) / 6
    experts.follow(Evolution(keep=np.array([True, False, True]), retired=7), shares)
    experts.rescale_scores(2.0, 1.0)
    experts.follow(Evolution(keep=np.array([False, True]), retired=8), shares)
    experts.follow(Evolution(opened=2, origins=(None, (7, 0)), forgotten=forgotten), shares)
    returned = np.diff(scores(experts, step), axis=0)[0, 0]
    assert not returned.any()
    returned = np.diff(scores(experts, step[:, [0, 2, 1]]), axis=0)[0, 0]
    np.testing.assert_allclose(returned, 2.0 * weights[:, [0, 1, 1]] * [1, 0, 1])


@pytest.mark.parametrize("first", [Identity(), Neighbours(window=20), RandomFourier(n_features=6)], ids=repr)
@pytest.mark.parametrize("more", [(), (Identity(),)], ids=["alone", "before another one"])
def test_any_map_may_come_first(first, more):
    rng, regressor = np.random.default_rng(0), PUFERegressor(LinearExperts(maps=(first, *more)))
    classifier = PUFEClassifier(LinearExperts(maps=(first, *more)))
    for t, row in enumerate(rng.uniform(0, 1, size=(300, 2)).tolist()):
        x = dict(zip("ab", row))
        regressor.learn_one(x, sum(row))
        # A class that comes late.
        classifier.learn_one(x, "c" if t > 100 and row[0] > 0.8 else "ab"[row[1] > 0.5])
    assert regressor.predict_one({"a": 0.5, "b": 0.4}) == pytest.approx(0.9, abs=0.15)
    assert [classifier.predict_one({"a": a, "b": b}) for a, b in ((0.2, 0.1), (0.2, 0.9), (0.95, 0.1))] == list("abc")


@pytest.mark.parametrize("first", [0, 1, 2])
def test_scores_follow_their_unit(first):
    maps = [Identity(), Neighbours(window=20), RandomFourier(n_features=6)]
    experts, rows = of_three_keys(maps=(*maps[first:], *maps[:first])), some_rows(3)
    before = scores(experts, rows)
    experts.rescale_scores(2.5, -1.5)
    np.testing.assert_allclose(scores(experts, rows), 2.5 * before - 1.5)


def test_a_new_class_scores_as_the_mean_of_the_others():
    model = PUFEClassifier(LinearExperts(maps=(Identity(),)))
    for t, row in enumerate(some_rows(2, 60).tolist()):
        model.learn_one(dict(zip("ab", row)), t % 3)
    experts, task = model._experts, model._task
    views = np.hstack([np.ones((7, 1)), some_rows(2)])
    odds, _ = experts.predict_many(views, task)
    task.register("new")
    experts.make_room(task)
    after, _ = experts.predict_many(views, task)
    # As log odds to the first class.
    ratio, ratios = (np.log(each / (1 - each.sum(-1, keepdims=True))) for each in (odds, after))
    np.testing.assert_allclose(ratios[..., :2], ratio, atol=1e-9)
    np.testing.assert_allclose(ratios[..., 2], ratio.sum(-1) / 3, atol=1e-9)


def test_which_features_are_drawn_anew_does_not_depend_on_which_class_is_the_first():
    drawn = []
    for columns in np.random.default_rng(6).normal(size=(20, 6, 3)):
        for first in range(4):
            scores = np.insert(columns, 0, 0.0, axis=1)
            experts = LinearExperts(maps=(Identity(), RandomFourier(n_features=6, n_rows=2)), rules=(Newton(),))
            task = Classification()
            for label in "wxyz":
                task.register(label)
            experts.make_room(task)
            experts.follow(Evolution(opened=1, origins=(None,)), np.ones(6) / 6)
            for row in some_rows(1, 3):
                experts._maps[1].learn(row, np.zeros(4), 1.0)
            # What the models of all views and maps say, of which the mixture is one more.
            experts._weights[2:] = np.delete(scores - scores[:, [first]], first, axis=1)[:, None, None]
            experts.follow(Evolution(opened=1, origins=(None,), overlap=True), np.ones(6) / 6)
            drawn.append((experts._maps[1].form.heights == 0.0).tolist())
            assert drawn[-1] == drawn[-1 - first]


def test_weights_of_any_size_leave_what_they_were_when_a_space_opens():
    experts = of_three_keys()
    experts._weights *= 1e200
    with np.errstate(all="raise"):
        experts.follow(Evolution(opened=1, origins=(None,), overlap=True), np.ones(18) / 18)
    assert np.isfinite(experts._weights).all()


class Squares(Identity):
    """A map of another make: squares of the row, which do not follow from other squares."""

    name, per_slot = "squares", False
    form = None
    pull_back = FeatureMap.pull_back

    def __call__(self, rows):
        return np.square(rows)

    def rescale(self, units):
        return None


def test_what_features_that_are_lost_have_said_is_lost_where_it_does_not_follow_from_others():
    experts, rows = of_three_keys(maps=(Identity(trust=0.0), Squares())), some_rows(2)
    recover = Affine(np.ones((1, 1)), np.array([[1.0, -1.0]]), np.zeros(1), np.zeros(1))
    whole = np.array([np.insert(row, 1, recover(row)) for row in rows])
    weights = experts._weights[5, 0, 1, 0]
    before = scores(experts, whole)[..., 1] - weights * np.square(whole[:, 1])[:, None, None] * [1.0, 0.0]
    experts.follow(Evolution(keep=np.array([True, False, True]), recover=recover), np.ones(6) / 6)
    np.testing.assert_allclose(scores(experts, rows)[..., 0, 1], before[..., 0])


def test_scores_are_what_they_were_in_new_units_of_the_rows():
    """Of numbers; what is learned of classes is not followed."""
    experts, rows, shift = of_three_keys(), some_rows(3), np.array([0.3, -0.2, 0.1])
    # Nearness has the same unit for all slots; the second-order rule assumes something else in units that differ more.
    units = NewUnits(np.full(3, 1.05), shift, np.full(3, 100.0))
    before = scores(experts, rows)
    experts.rescale(units, Classification())
    np.testing.assert_array_equal(scores(experts, rows), before)
    experts.rescale(units, TASK)
    np.testing.assert_allclose(scores(experts, 1.05 * rows + shift), before, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("beside", [Neighbours(), RandomFourier()], ids=["neighbours", "fourier"])
def test_features_beside_the_row_learn_what_is_not_linear(beside):
    """The product of two signs, of which no linear model knows anything, also of the keys that come later."""
    errors = {}
    for maps in ((Identity(),), (Identity(), beside)):
        model, rng, wrong = PUFEClassifier(LinearExperts(maps=maps)), np.random.default_rng(0), []
        for t in range(900):
            a, b = rng.choice([-1.0, 1.0], size=2) + 0.3 * rng.normal(size=2)
            old, new = {"a": a, "b": b}, {"c": a + b, "d": a - 2 * b}
            x = old if t < 400 else {**old, **new} if t < 430 else new
            wrong.append(model.predict_one(x) != (a * b > 0))
            model.learn_one(x, bool(a * b > 0))
        errors[len(maps)] = np.mean(wrong[200:400]), np.mean(wrong[700:])
    assert max(errors[2]) < 0.15
    assert min(errors[1]) > 0.35


def test_names_tell_the_view_the_features_and_the_rule():
    names = LinearExperts(maps=(Identity(), RandomFourier()), rules=(Newton(forgetting=0.9),)).names
    views = "present", "recovered", "fresh"
    assert names == (*(f"{view} newton 0.9" for view in views), *(f"{view} fourier newton 0.9" for view in views))
