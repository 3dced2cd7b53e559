"""Laws of the aggregators: weights are weights, the formulas are those of the papers, and the regret is bounded."""

from __future__ import annotations

import copy
import math
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from river_pufe.aggregation import AdaNormalHedge, FixedShare, Hedge

AGGREGATORS = [
    AdaNormalHedge(),
    AdaNormalHedge(forgetting=0.9),
    Hedge(),
    Hedge(horizon=20),
    FixedShare(seed=1),
    FixedShare(horizon=20, seed=1),
]
everyone = pytest.mark.parametrize("prototype", AGGREGATORS, ids=repr)


shares = st.floats(0, 1)


@st.composite
def games(draw, losses=shares, asleep=True, max_rounds=40, n=None):
    """Losses and waking of some experts in each round, both of shape (rounds, n)."""
    shape = draw(st.tuples(st.integers(1, max_rounds), st.integers(1, 6) if n is None else st.just(n)))
    played = draw(arrays(float, shape, elements=losses))
    awake = draw(arrays(float, shape, elements=st.sampled_from([0.0, 1.0]))) if asleep else np.ones(shape)
    return played, awake


def begin(aggregator, n, prior=None):
    aggregator = aggregator.clone()
    aggregator.reset(np.ones(n, dtype=bool), np.ones(n) if prior is None else np.asarray(prior, dtype=float))
    return aggregator


def play(aggregator, losses, awake):
    """One round in which the mixture costs what its experts cost on average; the weights that were played."""
    weights = aggregator.weights(awake)
    aggregator.update(losses, float(weights @ losses), awake)
    return weights


def assert_weights(weights, awake):
    assert np.isfinite(weights).all()
    assert (weights >= 0).all()
    assert (weights[awake == 0] == 0).all()
    assert weights.sum() == pytest.approx(1.0 if awake.any() else 0.0)


# Laws of all of them.


@everyone
@settings(deadline=None, max_examples=40)
@given(games(losses=shares | st.sampled_from([0.0, 1.0, 1e9])), st.data())
def test_weights_are_weights(prototype, game, data):
    """≥ 0, finite, 0 where asleep, with sum 1: also after losses of 1e9, and where nobody is awake."""
    prior = data.draw(arrays(float, game[0].shape[1], elements=st.floats(1e-6, 1e6)))
    aggregator = begin(prototype, game[0].shape[1], prior)
    for losses, awake in zip(*game):
        assert_weights(play(aggregator, losses, awake), awake)
    assert_weights(aggregator.weights(np.ones(len(prior))), np.ones(len(prior)))


@everyone
@settings(deadline=None, max_examples=30)
@given(games())
def test_asking_for_weights_changes_nothing(prototype, game):
    aggregator = begin(prototype, game[0].shape[1])
    for losses, awake in zip(*game):
        before, asked = pickle.dumps(aggregator), awake.copy()
        first, second = aggregator.weights(awake), aggregator.weights(awake)
        assert pickle.dumps(aggregator) == before
        assert (first == second).all()
        first += 1  # what is handed out is the caller's
        assert (aggregator.weights(awake) == second).all()
        given_losses = losses.copy()
        play(aggregator, losses, awake)
        assert (losses == given_losses).all()
        assert (awake == asked).all()


def assert_sleepers_are_not_read(prototype, game, anything):
    one, other = begin(prototype, game[0].shape[1]), begin(prototype, game[0].shape[1])
    everybody = np.ones(one.n)
    for losses, awake in zip(*game):
        weights = play(one, losses, awake)
        other.update(np.where(awake, losses, anything), float(weights @ losses), awake)
        assert (one.weights(awake) == other.weights(awake)).all()
        assert (one.weights(everybody) == other.weights(everybody)).all()


@everyone
@settings(deadline=None, max_examples=30)
@given(games(), st.sampled_from([0.0, 1.0, 1e9]))
def test_losses_of_sleepers_are_not_read(prototype, game, anything):
    assert_sleepers_are_not_read(prototype, game, anything)


def test_sleepers_may_not_know_their_losses():
    for prototype in AGGREGATORS:
        game = np.array([[0.0, 1.0, 0.5]] * 9), np.array([[1.0, 1.0, 0.0]] * 8 + [[1.0, 1.0, 1.0]])
        assert_sleepers_are_not_read(prototype, game, math.nan)


@pytest.mark.parametrize("prototype", AGGREGATORS[:4], ids=repr)
@settings(deadline=None, max_examples=30)
@given(games(), st.randoms(use_true_random=False))
def test_order_of_the_experts_changes_nothing(prototype, game, random):
    n = game[0].shape[1]
    order = random.sample(range(n), n)
    prior = np.arange(1.0, n + 1)
    one, other = begin(prototype, n, prior), begin(prototype, n, prior[order])
    for losses, awake in zip(*game):
        expected = play(one, losses, awake)[order]
        np.testing.assert_allclose(play(other, losses[order], awake[order]), expected, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("prototype", AGGREGATORS[:4], ids=repr)
@pytest.mark.parametrize("prior", [[1.0, 1.0, 1.0], [1.0, 4.0, 2.0]])
def test_the_prior_is_what_counts_before_any_loss(prototype, prior):
    aggregator = begin(prototype, 3, prior)
    np.testing.assert_allclose(aggregator.weights(np.ones(3)), np.array(prior) / sum(prior))
    np.testing.assert_allclose(
        begin(prototype, 3, np.array(prior) * 1e3).weights(np.ones(3)), aggregator.weights(np.ones(3))
    )
    awake = np.array([1.0, 0.0, 1.0])
    np.testing.assert_allclose(aggregator.weights(awake), awake * prior / (awake @ prior))


@everyone
def test_experts_that_are_born_know_nothing_and_the_others_all_they_knew(prototype):
    everybody, pair = np.ones(3), np.array([1.0, 1.0, 0.0])
    aggregator = begin(prototype, 2)
    for _ in range(10):
        aggregator.update(np.array([0.0, 1.0]), 0.5, np.ones(2))
    before = copy.deepcopy(aggregator).weights(np.ones(2))
    aggregator.reset(np.array([False, False, True]), np.ones(3))
    assert aggregator.n == 3
    np.testing.assert_allclose(aggregator.weights(pair), [*before, 0.0])
    assert_weights(aggregator.weights(everybody), everybody)
    aggregator.reset(np.ones(3, dtype=bool), np.ones(3))
    alone = begin(prototype, 3)
    if not isinstance(prototype, FixedShare):
        np.testing.assert_allclose(aggregator.weights(everybody), alone.weights(everybody))


@everyone
@settings(deadline=None, max_examples=20)
@given(games())
def test_where_nobody_is_born_all_goes_on(prototype, game):
    n = game[0].shape[1]
    aggregator, untouched = begin(prototype, n), begin(prototype, n)
    for losses, awake in zip(*game):
        np.testing.assert_allclose(play(aggregator, losses, awake), play(untouched, losses, awake))
        aggregator.reset(np.zeros(n, dtype=bool), np.ones(n))
        np.testing.assert_allclose(aggregator.strengths(), untouched.strengths())


@everyone
@settings(deadline=None, max_examples=20)
@given(games())
def test_a_copy_goes_on_like_the_original(prototype, game):
    aggregator = begin(prototype, game[0].shape[1])
    half = len(game[0]) // 2
    for losses, awake in zip(game[0][:half], game[1][:half]):
        play(aggregator, losses, awake)
    copies = [copy.deepcopy(aggregator), pickle.loads(pickle.dumps(aggregator))]
    for losses, awake in zip(game[0][half:], game[1][half:]):
        expected = play(aggregator, losses, awake)
        for other in copies:
            assert (play(other, losses, awake) == expected).all()


@everyone
def test_nobody_is_fine_too(prototype):
    aggregator = begin(prototype, 0)
    assert aggregator.n == 0
    assert aggregator.weights(np.zeros(0)).tolist() == []


# AdaNormalHedge.


def potential(R, S):
    return 1.0 if R <= 0 else math.exp(R**2 / (3 * S))


def weight(R, S):
    return (potential(R + 1, S + 1) - potential(R - 1, S + 1)) / 2


@settings(deadline=None, max_examples=60)
@given(games(), st.booleans(), st.sampled_from([1.0, 0.99, 0.5]), st.data())
def test_ada_normal_hedge_is_the_papers(game, equal, forgetting, data):
    """Algorithm 4 and equation (alpha), expert by expert, with a prior and forgetting as factors."""
    n = game[0].shape[1]
    prior = [1.0] * n if equal else data.draw(st.lists(st.floats(0.01, 100), min_size=n, max_size=n))
    hedge = begin(AdaNormalHedge(forgetting), n, prior)
    R, S = [0.0] * n, [0.0] * n
    for losses, awake in zip(*game):
        strengths = [float(a) * q * weight(r, s) for a, q, r, s in zip(awake, prior, R, S)]
        total = sum(strengths)
        weights = hedge.weights(awake)
        if total > 0:
            # The difference of two potentials is as exact as the potentials are.
            rounding = 1e-12 * max(map(potential, (r + 1 for r in R), (s + 1 for s in S))) * max(prior)
            assert np.abs(weights * total - strengths).max() <= rounding * n + 1e-9 * total
        elif awake.any():
            assert weights.tolist() == (awake / awake.sum()).tolist()
        loss = float(weights @ losses)
        hedge.update(losses, loss, awake)
        for i in range(n):
            r = float(awake[i]) * (loss - losses[i])
            R[i], S[i] = forgetting * R[i] + r, forgetting * S[i] + abs(r)


def assert_regret_below_theorem_2(regrets, magnitudes, prior, rounding=1e-9):
    """For each expert and for one mixture of them; with a prior q, ln N gives way to the relative entropy to q."""
    n, q = len(prior), np.asarray(prior) / np.sum(prior)
    B = 1 + 1.5 * q @ (1 + np.log1p(magnitudes))
    for u in (*np.eye(n), np.full(n, 1 / n)):
        entropy = np.sum(u[u > 0] * np.log(u[u > 0] / q[u > 0]))
        bound = math.sqrt(3 * (u @ magnitudes) * (entropy + math.log(B) + math.log(1 + math.log(n))))
        assert u @ regrets <= bound + rounding


@settings(deadline=None, max_examples=200)
@given(games(), st.booleans(), st.floats(0, 1), st.data())
def test_regret_is_below_theorem_2(game, equal, gap, data):
    """Law 7: on any losses in [0, 1], with sleepers and priors, and a convex loss that is below the average one."""
    n = game[0].shape[1]
    prior = np.ones(n) if equal else data.draw(arrays(float, n, elements=st.floats(0.01, 1)))
    hedge = begin(AdaNormalHedge(), n, prior)
    regrets, magnitudes = np.zeros(n), np.zeros(n)
    for losses, awake in zip(*game):
        loss = float(hedge.weights(awake) @ losses)
        if awake.any():
            lowest = losses[awake > 0].min()
            loss = lowest + (loss - lowest) * gap
        hedge.update(losses, loss, awake)
        regrets += awake * (loss - losses)
        magnitudes += awake * np.abs(loss - losses)
        assert_regret_below_theorem_2(regrets, magnitudes, prior)


ADVERSARIES = {
    "against the heaviest": lambda t, weights: weights == weights.max(),
    "against the lightest": lambda t, weights: weights == weights.min(),
    "for the lightest": lambda t, weights: weights > weights.min(),
    "against more than its share": lambda t, weights: weights > 1 / len(weights),
    "one is good": lambda t, weights: np.arange(len(weights)) > 0,
    "in turns": lambda t, weights: np.arange(len(weights)) == t % len(weights),
    "in phases": lambda t, weights: np.arange(len(weights)) != t // 100 % len(weights),
}


@pytest.mark.parametrize("n", [2, 9])
@pytest.mark.parametrize("adversary", ADVERSARIES)
@pytest.mark.parametrize("sleepy", [False, True])
def test_regret_is_below_theorem_2_against_an_adversary(n, adversary, sleepy):
    rng = np.random.default_rng(0)
    hedge = begin(AdaNormalHedge(), n)
    regrets, magnitudes = np.zeros(n), np.zeros(n)
    for t in range(800):
        awake = (rng.random(n) < 0.6).astype(float) if sleepy else np.ones(n)
        weights = hedge.weights(awake)
        losses = ADVERSARIES[adversary](t, weights).astype(float)
        loss = float(play(hedge, losses, awake) @ losses)
        regrets += awake * (loss - losses)
        magnitudes += awake * np.abs(loss - losses)
        if t % 50 == 49:
            assert_regret_below_theorem_2(regrets, magnitudes, np.ones(n))


def test_with_forgetting_it_follows_the_best_of_late():
    """Long after the best expert has changed, only a hedge that forgets has noticed."""
    weights = {}
    for forgetting in (1.0, 0.95):
        hedge = begin(AdaNormalHedge(forgetting), 2)
        for t in range(1100):
            play(hedge, np.array([0.0, 1.0]) if t < 1000 else np.array([1.0, 0.0]), np.ones(2))
        weights[forgetting] = hedge.weights(np.ones(2))[1]
    assert weights[0.95] > 0.99


# Hedge and fixed share.


@pytest.mark.parametrize("n", [1, 2, 3, 6])
@settings(deadline=None, max_examples=15)
@given(st.data(), st.none() | st.integers(1, 50))
def test_hedge_is_that_of_fesl_c(n, data, horizon):
    """α ∝ α · exp(−η ℓ) with η = √(8 ln n / T), and t for T where no horizon is given."""
    game = data.draw(games(asleep=False, n=n))
    hedge, alpha = begin(Hedge(horizon), n), np.full(n, 1 / n)
    for t, (losses, awake) in enumerate(zip(*game), 1):
        np.testing.assert_allclose(play(hedge, losses, awake), alpha, rtol=1e-9)
        if n > 1:
            alpha = alpha * np.exp(-math.sqrt(8 * math.log(n) / (horizon or t)) * losses)
            alpha /= alpha.sum()


def test_hedge_leaves_sleepers_as_they_are():
    hedge = begin(Hedge(horizon=8), 2)
    hedge.update(np.array([1.0, 1.0]), 1.0, np.array([1.0, 0.0]))
    expected = np.array([math.exp(-math.sqrt(math.log(2))), 1])
    np.testing.assert_allclose(hedge.weights(np.ones(2)), expected / expected.sum())


def test_horizon_of_hedge_bounds_its_regret():
    """√(T ln n / 2) for any losses in [0, 1]: Cesa-Bianchi and Lugosi, Theorem 2.2."""
    rng = np.random.default_rng(0)
    for adversary in ADVERSARIES.values():
        hedge, T, total, each = begin(Hedge(horizon=500), 4), 500, 0.0, np.zeros(4)
        for t in range(T):
            losses = adversary(t, hedge.weights(np.ones(4))) * rng.random()
            total += play(hedge, losses, np.ones(4)) @ losses
            each += losses
        assert total - each.min() <= math.sqrt(T * math.log(4) / 2)


@pytest.mark.parametrize("n", [1, 2, 3, 6])
@settings(deadline=None, max_examples=15)
@given(st.data(), st.none() | st.integers(1, 50))
def test_fixed_share_has_the_shares_of_fesl_s(n, data, horizon):
    """v = α · exp(−η ℓ), α ∝ δ Σ v / n + (1 − δ) v, with no loss for those asleep."""
    game = data.draw(games(n=n))
    fixed_share, alpha = begin(FixedShare(horizon), n), np.full(n, 1 / n)
    for t, (losses, awake) in enumerate(zip(*game), 1):
        np.testing.assert_allclose(fixed_share.strengths(), alpha, rtol=1e-9)
        fixed_share.update(losses, 0.0, awake)
        T = max(horizon or t, 3)
        delta = 1 / (T - 1)
        entropy = -delta * math.log(delta) - (1 - delta) * math.log(1 - delta)
        v = alpha * np.exp(-math.sqrt(8 / T * (2 * math.log(n) + (T - 1) * entropy)) * losses * awake)
        mixed = delta * v.sum() / n + (1 - delta) * v
        alpha = mixed / mixed.sum()


def test_shares_sum_to_one_also_where_all_lose_beyond_measure():
    fixed_share = begin(FixedShare(horizon=20), 3)
    for losses in ([1e9, 1e9, 1e9], [0.0, 1.0, 1e9], [1e9, 0.0, 1e9]):
        fixed_share.update(np.array(losses), 0.0, np.ones(3))
        assert fixed_share.strengths().sum() == pytest.approx(1.0)


def test_fixed_share_draws_each_expert_as_often_as_its_share():
    """Over many seeds, in the first round and after losses, also where one expert is asleep."""
    n_seeds, drawn, asleep = 2000, np.zeros((2, 3)), np.zeros(3)
    for seed in range(n_seeds):
        fixed_share = begin(FixedShare(30, seed), 3)
        drawn[0] += play(fixed_share, np.array([0.0, 1.0, 0.5]), np.ones(3))
        drawn[1] += fixed_share.weights(np.ones(3))
        asleep += fixed_share.weights(np.array([1.0, 0.0, 1.0]))
    shares = fixed_share.strengths()
    awake = shares * [1.0, 0.0, 1.0] / (shares[0] + shares[2])
    for counted, expected in ((drawn[0], np.full(3, 1 / 3)), (drawn[1], shares), (asleep, awake)):
        assert (np.abs(counted / n_seeds - expected) <= 4.5 * np.sqrt(expected * (1 - expected) / n_seeds)).all()


@settings(deadline=None, max_examples=40)
@given(games(), st.integers(0, 100))
def test_fixed_share_plays_one_expert_that_is_awake(game, seed):
    """And the same one with the same seed."""
    one, other = begin(FixedShare(seed=seed), game[0].shape[1]), begin(FixedShare(seed=seed), game[0].shape[1])
    for losses, awake in zip(*game):
        weights = play(one, losses, awake)
        assert sorted(weights)[-1] == awake.max()
        assert weights.sum() == awake.max()
        assert (play(other, losses, awake) == weights).all()


def test_fixed_share_follows_the_best_expert_where_hedge_does_not():
    followed = {}
    for prototype in (FixedShare(horizon=400, seed=0), Hedge(horizon=400)):
        aggregator = begin(prototype, 2)
        for t in range(400):
            play(aggregator, np.array([0.0, 1.0]) if t < 200 else np.array([1.0, 0.0]), np.ones(2))
            if t == 240:
                followed[type(prototype)] = np.mean(
                    [play(aggregator, np.array([1.0, 0.0]), np.ones(2))[1] for _ in range(60)]
                )
    assert followed[FixedShare] > 0.8 > 0.2 > followed[Hedge]


@pytest.mark.parametrize(
    ("aggregator", "parameters", "message"),
    [
        (AdaNormalHedge, {"forgetting": 0.0}, "forgetting"),
        (AdaNormalHedge, {"forgetting": 1.1}, "forgetting"),
        (AdaNormalHedge, {"forgetting": math.nan}, "forgetting"),
        (Hedge, {"horizon": 0}, "horizon"),
        (FixedShare, {"horizon": 0}, "horizon"),
    ],
)
def test_parameters_are_checked(aggregator, parameters, message):
    with pytest.raises(ValueError, match=message):
        aggregator(**parameters)


def test_hedge_is_certain_after_thousands_of_rounds():
    hedge = Hedge(horizon=1)
    hedge.reset(np.array([True, True]), prior=np.ones(2))
    for _ in range(5000):
        hedge.update(np.array([0.0, 1.0]), 0.5, np.ones(2))
    assert hedge.weights(np.ones(2)).tolist() == [1.0, 0.0]
