"""Laws of the learning rules: what their steps add up to, and that they never come apart."""

from __future__ import annotations

import copy
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from river_pufe import kernels
from river_pufe.experts.rules import ImplicitGradient, Newton
from river_pufe.kernels.plain import directions
from river_pufe.recovery.scaling import NewUnits

seeds = st.integers(0, 2**32 - 1)
dimensions = st.integers(1, 6)
RULES = [Newton(), Newton(forgetting=0.97), Newton(max_size=2), Newton(forgetting=0.97, max_size=2), ImplicitGradient()]
every_rule = pytest.mark.parametrize("prototype", RULES, ids=repr)


def begin(prototype, d):
    rule = prototype.clone()
    rule.rearrange(np.full(d, -1))
    return rule


def gains(rule, views, curvature=1.0, main=0):
    """Gains of some views, shape (v, d); the rule learns from the main one."""
    directions, forms = rule.step(np.atleast_2d(views).astype(float), curvature, main)
    return directions / (rule.forgetting + curvature * forms)[:, None]


def inverse(rule, d):
    """P, from the gains of the unit vectors at a curvature of 0, on a copy."""
    return gains(copy.deepcopy(rule), np.eye(d), curvature=0.0) * rule.forgetting


def precision(rule, d):
    return rule.prior * math.sqrt(d) * np.eye(d)


def close(actual, expected, rtol=1e-8):
    np.testing.assert_allclose(actual, expected, rtol=0, atol=rtol * np.abs(expected).max(initial=0))


# Newton.


@settings(deadline=None, max_examples=60)
@given(seeds, dimensions, st.integers(1, 60), st.floats(0.01, 10), st.booleans())
def test_newton_is_batch_ridge_regression(seed, d, n, prior, weighted):
    """Without forgetting, after every row: (δ√d I + Σ h x xᵀ)⁻¹ Σ h x y, h the weights of the rows."""
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(n, d)), rng.normal(size=n)
    h = rng.uniform(0, 2, size=n) if weighted else np.ones(n)
    rule, w = begin(Newton(prior=prior), d), np.zeros(d)
    total, moment = precision(rule, d), np.zeros(d)
    for row, target, weight in zip(X, y, h):
        w += gains(rule, row, weight)[0] * weight * (target - w @ row)
        total += weight * np.outer(row, row)
        moment += weight * target * row
        close(w, np.linalg.solve(total, moment), rtol=1e-9 * np.linalg.cond(total))


@settings(deadline=None, max_examples=60)
@given(seeds, dimensions, st.integers(0, 60), st.sampled_from([1.0, 0.99, 0.9]))
def test_newton_keeps_the_inverse_of_what_was_seen(seed, d, n, forgetting):
    """λᵀ δ√d I + Σ λᵀ⁻ᵗ h x xᵀ, as long as every direction is seen often enough."""
    rng = np.random.default_rng(seed)
    rule = begin(Newton(forgetting=forgetting, prior=0.5), d)
    total = precision(rule, d)
    for _ in range(n):
        # Rows in all directions at once, so that no direction is forgotten.
        for row in np.linalg.qr(rng.normal(size=(d, d)))[0] * 3:
            h = rng.uniform(0.5, 2)
            gains(rule, row, h)
            total = forgetting * total + h * np.outer(row, row)
    close(inverse(rule, d), np.linalg.inv(total), rtol=1e-7)


@pytest.mark.parametrize("max_size", [0, 600])
def test_nothing_fades_once_newton_is_as_uncertain_as_at_first(max_size):
    rule = begin(Newton(forgetting=0.9, max_size=max_size), 2)
    at_first, faded = np.trace(inverse(rule, 2)), []
    for _ in range(60):
        row = np.array([1.0, 0.0])
        expected = np.linalg.inv(inverse(rule, 2)) + np.outer(row, row) / 0.9
        gains(rule, row)
        faded.append(np.trace(np.linalg.inv(expected)) < at_first)
        close(np.linalg.inv(inverse(rule, 2)), expected * (0.9 if faded[-1] else 1.0))
    assert set(faded) == {True, False}


@settings(deadline=None, max_examples=40)
@given(seeds, dimensions, st.integers(1, 30), st.sampled_from([1.0, 0.99, 0.9]))
def test_errors_of_the_inverse_fade_as_the_samples_do(seed, d, n, forgetting):
    """What is wrong in P⁻¹ is wrong by a factor λ less after each round, and never more."""
    rng = np.random.default_rng(seed)
    right, wrong = begin(Newton(forgetting=forgetting), d), begin(Newton(forgetting=forgetting), d)
    wrong.form.inverse[:] *= 1.0 + 0.01 * rng.uniform(size=(d, d))
    before = np.linalg.inv(inverse(wrong, d)) - np.linalg.inv(inverse(right, d))
    for _ in range(n):
        for row in np.linalg.qr(rng.normal(size=(d, d)))[0] * 3:
            gains(right, row)
            gains(wrong, row)
    after = np.linalg.inv(inverse(wrong, d)) - np.linalg.inv(inverse(right, d))
    size = np.abs(np.linalg.inv(inverse(right, d))).max()
    np.testing.assert_allclose(after, forgetting ** (n * d) * before, rtol=0, atol=1e-11 * size)


@pytest.mark.parametrize("plain", [False, True])
@pytest.mark.parametrize("max_size", [0, 600])
@pytest.mark.parametrize("forgetting", [0.99, 1.0])
def test_where_nothing_fades_newton_comes_to_rest(forgetting, max_size, plain, monkeypatch):
    """Else rounding errors would add up without end; and it rests only where it is as good as certain."""
    if plain:
        monkeypatch.setattr(kernels, "directions", directions)
    rule, row = begin(Newton(forgetting=forgetting, max_size=max_size), 2), np.array([0.1, 0.0])
    at_first = inverse(rule, 2)[0, 0]
    # Nearly all that it takes, at once.
    gains(rule, row, 90.0 / at_first * 1e9)
    before = inverse(rule, 2)
    for _ in range(1000):
        gains(rule, row, 0.1 / at_first * 1e9)
        after = inverse(rule, 2)
        if np.array_equal(after, before):
            break
        before = after
    else:
        pytest.fail("it never rests")
    assert 0.99e-9 <= after[0, 0] / at_first <= 1e-9
    # Of another direction it learns as ever, and then something fades again.
    gains(rule, [0.1, 1.0], 10.0)
    close(inverse(rule, 2)[1, 1], 1.0 / (forgetting / after[1, 1] + 10.0), rtol=1e-4)


@every_rule
@settings(deadline=None, max_examples=60)
@given(seeds, dimensions, st.integers(0, 20), st.floats(0, 100))
def test_a_gain_never_overshoots(prototype, seed, d, n, curvature):
    """P x / (λ + h xᵀ P x): along the row it is below 1/h, and it is not against it."""
    rng = np.random.default_rng(seed)
    rule = begin(prototype, d)
    for row in rng.normal(size=(n, d)):
        gains(rule, row, curvature)
    row = rng.normal(size=d) * 10
    if isinstance(rule, Newton):
        P = inverse(rule, d)
        expected = P @ row / (rule.forgetting + curvature * row @ P @ row)
    else:
        expected = row * rule.rate / (1 + curvature * rule.rate * row @ row)
    gain = gains(rule, row, curvature)[0]
    close(gain, expected)
    assert 0 <= curvature * (gain @ row) <= 1 + 1e-9


@settings(deadline=None, max_examples=60)
@given(seeds, st.integers(3, 6), st.integers(1, 40), st.sampled_from([1.0, 0.97]))
def test_above_max_size_newton_keeps_the_diagonal(seed, d, n, forgetting):
    rng = np.random.default_rng(seed)
    rule = begin(Newton(forgetting=forgetting, max_size=2), d)
    diagonal = np.diag(precision(rule, d)).copy()
    for _ in range(n):
        row, h = rng.choice([-1, 1], size=d) * rng.uniform(1, 3, size=d), rng.uniform(0.5, 2)
        gains(rule, row, h)
        diagonal = forgetting * diagonal + h * row**2
    close(inverse(rule, d), np.diag(1 / diagonal))


@settings(deadline=None, max_examples=60)
@given(seeds, dimensions, st.integers(0, 20), st.integers(0, 4), st.sampled_from([1.0, 0.97]), st.integers(1, 8))
def test_appended_inputs_start_with_the_prior(seed, d, n, more, forgetting, max_size):
    """The others are as certain as before; across `max_size` only their variances are."""
    rng = np.random.default_rng(seed)
    rule = begin(Newton(forgetting=forgetting, max_size=max_size), d)
    for row in rng.normal(size=(n, d)):
        gains(rule, row)
    expected = np.zeros((d + more, d + more))
    expected[:d, :d] = inverse(rule, d)
    expected[d:, d:] = np.eye(more) / (rule.prior * math.sqrt(d + more))
    rule.rearrange(np.append(np.arange(d), np.full(more, -1)))
    if d + more > max_size:
        expected = np.diag(np.diag(expected))
    close(inverse(rule, d + more), expected)


@settings(deadline=None, max_examples=60)
@given(seeds, dimensions, st.integers(0, 20), st.sampled_from([1.0, 0.97]), st.integers(1, 8), st.booleans())
def test_dropped_inputs_leave_the_others_as_certain_as_they_were(seed, d, n, forgetting, max_size, later):
    """Those that are kept have the covariance they had, not that of a model without the others."""
    rng = np.random.default_rng(seed)
    rule, inputs = (
        begin(Newton(forgetting=forgetting, max_size=max_size), d),
        rng.permutation(d) < rng.integers(1, d + 1),
    )
    for row in rng.normal(size=(n, d)):
        gains(rule, row)
    P = inverse(rule, d)[np.ix_(inputs, inputs)]
    rule.rearrange(np.flatnonzero(inputs))
    kept = int(inputs.sum())
    close(inverse(rule, kept), P)
    if later:
        row = rng.normal(size=kept)
        close(gains(rule, row)[0], P @ row / (forgetting + row @ P @ row))


@settings(deadline=None, max_examples=40)
@given(seeds, st.integers(2, 6), st.integers(0, 20), st.sampled_from([1.0, 0.97]))
def test_what_is_rearranged_moves_with_its_input(seed, d, n, forgetting):
    """The law of the two above, in any order: inputs that are new know nothing, and nothing of the others."""
    rng = np.random.default_rng(seed)
    rule = begin(Newton(forgetting=forgetting), d)
    for row in rng.normal(size=(n, d)):
        gains(rule, row)
    before, origins = inverse(rule, d), rng.permutation(np.append(np.arange(1, d), [-1, -1]))
    rule.rearrange(origins)
    expected = np.where((origins >= 0) & (origins >= 0)[:, None], before[np.ix_(origins, origins)], 0.0)
    expected += np.diag((origins < 0) / (rule.prior * math.sqrt(d + 1)))
    close(inverse(rule, d + 1), expected)


# New units.


def in_units(rows, factor, shift):
    """Rows behind a leading 1."""
    return np.hstack([np.ones((len(rows), 1)), factor * rows + shift])


def units_of(factor, shift, seen):
    return NewUnits(np.append(1.0, factor), np.append(0.0, shift), np.append(math.inf, np.full(len(factor), seen)))


@settings(deadline=None, max_examples=60)
@given(seeds, dimensions, st.integers(1, 30), st.integers(0, 30), st.floats(0.2, 5.0))
def test_newton_in_new_units_is_what_it_were_had_they_been_known_before(seed, d, early, late, scale):
    """Ridge regression in the new units, whatever the units were when the rows came."""
    rng = np.random.default_rng(seed)
    rows, y = rng.normal(size=(early + late, d)), rng.normal(size=early + late)
    factor, shift = scale * rng.uniform(0.8, 1.25, size=d), rng.normal(size=d)
    rule, knowing = begin(Newton(), d + 1), begin(Newton(), d + 1)
    w, v = np.zeros(d + 1), np.zeros(d + 1)
    for t, (old, new) in enumerate(zip(in_units(rows, 1.0, 0.0), in_units(rows, factor, shift))):
        if t == early:
            w = rule.rescale(units_of(factor, shift, 100), w)
        w += gains(rule, old if t < early else new)[0] * (y[t] - w @ (old if t < early else new))
        v += gains(knowing, new)[0] * (y[t] - v @ new)
    if late == 0:
        w = rule.rescale(units_of(factor, shift, 100), w)
    if np.any(np.abs(np.log(factor)) > 0.1):
        close(w, v, rtol=1e-6)
        close(inverse(rule, d + 1), inverse(knowing, d + 1), rtol=1e-6)


@pytest.mark.parametrize("rule", [Newton(max_size=2), ImplicitGradient()], ids=repr)
@pytest.mark.parametrize("columns", [(), (2, 3)])
def test_scores_stay_as_they_are_in_new_units(rule, columns):
    rng = np.random.default_rng(0)
    rule, rows, w = begin(rule, 4), rng.normal(size=(5, 3)), rng.normal(size=(4, *columns))
    factor, shift = rng.uniform(0.5, 2, size=3), rng.normal(size=3)
    moved = rule.rescale(units_of(factor, shift, 100), w)
    before, after = in_units(rows, 1.0, 0.0), in_units(rows, factor, shift)
    close(np.tensordot(after, moved, 1), np.tensordot(before, w, 1))


@every_rule
def test_units_of_hardly_any_values_are_not_followed(prototype):
    """What was learned in them is a guess in the new ones."""
    rule, w = begin(prototype, 3), np.arange(3.0)
    gains(rule, [1.0, 2.0, -1.0])
    moved = rule.rescale(units_of(np.array([4.0, 0.1]), np.array([1.0, -2.0]), 1), w)
    assert moved.tolist() == w.tolist()
    if isinstance(rule, Newton):
        close(inverse(rule, 3), np.linalg.inv(precision(rule, 3)))


@pytest.mark.parametrize("rough", [[1], [2], [1, 3], [1, 2, 3]])
def test_of_inputs_in_rough_units_nothing_is_known_in_the_new_ones(rough):
    """And of the constant where all others are rough; what is known of the others stays as it is."""
    rule, rng = begin(Newton(), 4), np.random.default_rng(0)
    for row in in_units(rng.normal(size=(20, 3)), 1.0, 0.0):
        gains(rule, row)
    before, seen = inverse(rule, 4), np.where(np.isin(np.arange(1, 4), rough), 1.0, 100.0)
    rule.rescale(NewUnits(np.array([1.0, 1.05, 0.98, 1.02]), np.zeros(4), np.append(math.inf, seen)), np.zeros(4))
    after, new = inverse(rule, 4), np.isin(np.arange(4), rough if len(rough) < 3 else [0, *rough])
    close(after[new], np.eye(4)[new] / (rule.prior * 2.0))
    kept = np.ix_(~new, ~new)
    factor = np.array([1.0, 1.05, 0.98, 1.02])
    close(after[kept], (before / factor / factor[:, None])[kept])


STREAMS = ["normal", "constant", "one at a time", "collinear", "certain", "widening", "cut"]


@pytest.mark.parametrize(
    ("forgetting", "max_size", "stream"),
    [
        *[(0.99, 600, stream) for stream in STREAMS],
        *[(1.0, 600, stream) for stream in STREAMS[1:4]],
        *[(0.99, 3, stream) for stream in STREAMS[1:4]],
    ],
)
def test_newton_stays_positive_definite(forgetting, max_size, stream):
    """Over 20,000 rows, whatever they are like; and no direction gets more uncertain than it was at first."""
    d, rng = 5, np.random.default_rng(0)
    rows = np.clip(rng.normal(size=(20_000, d)), -3, 3)
    curvature = 0.25
    match stream:
        case "constant":
            rows[:] = rows[0]
        case "one at a time":
            rows *= np.eye(d)[np.arange(len(rows)) // 4000 % d]
        case "collinear":
            rows[:, 1:] = rows[:, :1] * [1, -1, 1 + 1e-9, 1e-9]
        case "certain":
            curvature = 1e-13
        case "widening":
            rows *= np.geomspace(1e-3, 3, len(rows))[:, None]
        case "cut":
            rows = np.sign(rows) * 3
    rule = begin(Newton(forgetting=forgetting, max_size=max_size), d)
    at_first = np.trace(inverse(rule, d))
    for t, row in enumerate(rows):
        gain = rule.step(row[None], curvature, 0)
        if t % 1000 == 999:
            P = inverse(rule, d)
            assert np.isfinite(gain[0][0]).all()
            assert np.linalg.eigvalsh((P + P.T) / 2).min() > 0
            close(P, P.T)
            assert np.trace(P) <= at_first / forgetting * (1 + 1e-6)


@pytest.mark.parametrize("max_size", [600, 2])
def test_with_forgetting_newton_follows_drift(max_size):
    rng = np.random.default_rng(0)
    errors = {}
    for forgetting in (1.0, 0.95):
        rule, w, late = begin(Newton(forgetting=forgetting, max_size=max_size), 3), np.zeros(3), []
        for t in range(2000):
            row = rng.normal(size=3)
            error = (row.sum() if t < 1500 else -row.sum()) - w @ row
            w += gains(rule, row)[0] * error
            if t >= 1900:
                late.append(abs(error))
        errors[forgetting] = np.mean(late)
    assert errors[0.95] < 0.1 * errors[1.0]


# All rules.


@every_rule
@settings(deadline=None, max_examples=40)
@given(seeds, dimensions, st.integers(1, 4), st.data())
def test_views_share_what_is_known_and_the_main_one_teaches(prototype, seed, d, n_views, data):
    rng = np.random.default_rng(seed)
    main = data.draw(st.integers(0, n_views - 1))
    together, alone = begin(prototype, d), begin(prototype, d)
    for views in rng.normal(size=(5, n_views, d)):
        separate = [gains(copy.deepcopy(alone), view)[0] for view in views]
        close(gains(together, views, main=main), separate)
        gains(alone, views[main])
    row = rng.normal(size=d)
    close(gains(together, row), gains(alone, row))


@every_rule
@settings(deadline=None, max_examples=40)
@given(seeds, dimensions, st.integers(1, 20))
def test_order_of_the_inputs_changes_nothing(prototype, seed, d, n):
    rng = np.random.default_rng(seed)
    order = rng.permutation(d)
    one, other = begin(prototype, d), begin(prototype, d)
    for row in rng.normal(size=(n, d)):
        close(gains(other, row[order])[0], gains(one, row)[0][order])


@every_rule
def test_rows_are_not_changed(prototype):
    rule, views = begin(prototype, 3), np.arange(6.0).reshape(2, 3)
    gains(rule, views, main=1)
    assert views.tolist() == [[0, 1, 2], [3, 4, 5]]


@every_rule
def test_a_sample_without_weight_teaches_nothing(prototype):
    rule = begin(prototype, 2)
    gains(rule, [1.0, 2.0])
    before = inverse(rule, 2) if isinstance(rule, Newton) else None
    gains(rule, [3.0, -1.0], curvature=0.0)
    if before is not None:
        # All that may change is the forgetting of a round.
        after = inverse(rule, 2)
        close(after, before * (after[0, 0] / before[0, 0]))
        assert 1 <= after[0, 0] / before[0, 0] <= 1 / rule.forgetting + 1e-9


@pytest.mark.parametrize("factor", [1e-6, 1e6])
def test_the_unit_of_a_spike_is_not_followed(factor):
    """A spike among the first values of a new input, long after the prior has faded."""
    rule, rng = Newton(forgetting=0.99), np.random.default_rng(1)
    rule.rearrange(np.full(2, -1))
    for _ in range(5000):
        rule.step(np.array([[1.0, rng.normal()]]), 1.0, 0)
    rule.rearrange(np.array([0, 1, -1]))
    fresh = rule.form.inverse[2, 2] * rule.form.numbers[kernels.SCALE]
    for _ in range(11):
        rule.step(np.array([[1.0, *rng.normal(size=2)]]), 1.0, 0)
    units = NewUnits(np.array([1.0, 1.0, factor]), np.array([0.0, 0.0, 0.3]), np.array([math.inf, 5000.0, 11.0]))
    weights = rule.rescale(units, np.array([0.5, 1.0, 2.0]))
    assert np.abs(weights).max() <= 2.0
    assert (rule.form.inverse.diagonal() * rule.form.numbers[kernels.SCALE]).max() <= 1.01 * fresh


def test_few_of_very_many_inputs_are_kept_without_a_matrix_of_them_all():
    rule = Newton()
    rule.rearrange(np.full(200_000, -1))
    rule.step(np.ones((1, 200_000)), 1.0, 0)
    uncertainty = rule._inverse[7]
    rule.rearrange(np.array([7, -1]))
    assert rule._inverse[0, 0] == uncertainty


def test_names_tell_rules_apart():
    assert (
        len({rule.name for rule in (Newton(), Newton(forgetting=0.9), Newton(forgetting=0.99), ImplicitGradient())})
        == 4
    )


@pytest.mark.parametrize(
    ("rule", "parameters"),
    [
        (Newton, {"forgetting": 0.0}),
        (Newton, {"forgetting": 1.5}),
        (Newton, {"forgetting": math.nan}),
        (Newton, {"prior": 0.0}),
        (Newton, {"prior": math.nan}),
        (Newton, {"max_size": -1}),
        (ImplicitGradient, {"rate": 0.0}),
        (ImplicitGradient, {"rate": math.nan}),
    ],
)
def test_parameters_are_checked(rule, parameters):
    with pytest.raises(ValueError, match=next(iter(parameters))):
        rule(**parameters)
