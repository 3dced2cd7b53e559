"""The rule that decides when a feature space opens, when it ends, and when a key has vanished: on keys alone."""

from __future__ import annotations

import collections
import decimal
import fractions
import itertools
import math
import pickle
import random
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from river_pufe.recovery.evolution import UNCHANGED
from river_pufe.recovery.spaces import FeatureSpaces

SEEDS = range(4)


def names(prefix, n):
    return [f"{prefix}{i}" for i in range(n)]


def sample(keys):
    return dict.fromkeys(keys, 1.0)


def stream(lives, n, missing=0.0, seed=0):
    """Samples in which each key is there from one round to another, and missing now and then in between."""
    rng = random.Random(seed)
    for t in range(n):
        yield sample([k for k, (start, stop) in lives.items() if start <= t < stop and rng.random() >= missing])


def watch(samples, **params):
    spaces = FeatureSpaces(**params)
    for x in samples:
        spaces.advance(x)
    return spaces


def told(spaces):
    """State, keys and round of opening of each space."""
    return [(space.state, set(space.keys), space.opened_at) for space in spaces.spaces]


def rounds(spaces, kind):
    return [event.round for event in spaces.events if event.kind == kind]


def count(spaces, kind):
    """How many keys something happened to."""
    return sum(len(event.keys) for event in spaces.events if event.kind == kind)


# The rows of the table of streams.


@pytest.mark.parametrize("grace", [0, 1, 5, 20, 50])
def test_first_space_collects_keys_during_the_grace_period(grace):
    keys = names("a", grace + 1)
    spaces = FeatureSpaces(grace=grace)
    for t in range(max(grace, 1)):
        spaces.advance(sample(keys[: t + 1]))
    assert told(spaces) == [("current", set(keys[: max(grace, 1)]), 0)]
    evolution, _ = spaces.advance(sample([*keys, "late"]))
    assert evolution.overlap
    assert [space.state for space in spaces.spaces] == ["previous", "current"]
    assert spaces.spaces[1].opened_at == max(grace, 1)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("missing", [0.1, 0.3, 0.5])
@pytest.mark.parametrize("d", [1, 2, 6, 50])
def test_keys_missing_now_and_then_open_no_space(d, missing, seed):
    keys = names("a", d)
    spaces = FeatureSpaces()
    for x in stream(dict.fromkeys(keys, (0, 600)), 600, missing, seed):
        evolution, _ = spaces.advance(x)
        assert evolution.keep is None
        assert not evolution.overlap
    assert told(spaces) == [("current", set(keys), 0)]


@pytest.mark.parametrize("significance", [1e-4, 1e-2])
@pytest.mark.parametrize("missing", [0.1, 0.3, 0.5, 0.8])
def test_significance_is_how_often_a_gap_is_taken_for_an_end(missing, significance):
    keys, n = names("a", 30), 400
    vanishings = 0
    for seed in SEEDS:
        samples = stream(dict.fromkeys(keys, (0, n)), n, missing, seed)
        vanishings += count(watch(samples, significance=significance, grace=n), "vanished")
    expected = significance * len(keys) * n * len(SEEDS)
    assert vanishings <= expected + 4 * math.sqrt(expected)
    if significance == 1e-2:  # A gap is a whole number of rounds, so it may be rather less, but not nothing.
        assert vanishings >= 0.03 * expected


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("b", [5, 20, 50])
@pytest.mark.parametrize("d", [2, 5, 20])
def test_new_keys_while_old_ones_vanish_one_by_one_are_one_space(d, b, seed):
    old, new = names("a", d), names("b", d + 1)
    order = random.Random(seed).sample(old, d)
    lives = {k: (0, 200 + (i + 1) * b // d) for i, k in enumerate(order)} | dict.fromkeys(new, (200, 900))
    gone = max(stop for _, stop in lives.values() if stop < 900)
    spaces = FeatureSpaces()
    for t, x in enumerate(stream(lives, 400)):
        overlapping = spaces.n_previous > 0
        evolution, row = spaces.advance(x)
        assert evolution.overlap == (t == 200)
        assert len(row) == d + (d + 1) * (t >= 200) or not overlapping
        if evolution.settled:
            assert evolution.replaced
            # A key that was in every sample is gone after a few rounds, and no round before it is.
            assert 0 <= t - gone <= 4
            assert evolution.keep.tolist() == [False] * d + [True] * (d + 1)
    assert told(spaces) == [("retired", set(old), 0), ("current", set(new), 200)]
    assert [space.number for space in spaces.spaces] == [0, 1]
    assert set(spaces.vanished) == set(old)


@pytest.mark.parametrize(("d", "b"), [(5, 30), (20, 20), (40, 60)])
def test_keys_that_vanish_at_any_time_seldom_end_an_overlap_early(d, b):
    # A pause of the length that ends an overlap comes with a chance of 1 in 100, but at each of many rounds.
    early = 0
    for seed in range(20):
        rng = random.Random(seed)
        lives = {k: (0, 200 + rng.randint(1, b)) for k in names("a", d)} | dict.fromkeys(names("b", d), (200, 900))
        spaces = FeatureSpaces()
        settled = [evolution for x in stream(lives, 230 + b) if (evolution := spaces.advance(x)[0]).settled]
        early += not settled[0].replaced
        # Where it does, nothing is lost: the rest of the old keys go on, and go one after another.
        assert set(spaces.vanished) == set(names("a", d))
    assert early <= 5


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("missing", [0.2, 0.5])
@pytest.mark.parametrize("d", [5, 20])
def test_spaces_are_told_apart_where_keys_are_missing_as_well(d, missing, seed):
    old, new = names("a", d), names("b", d)
    lives = dict.fromkeys(old, (0, 300)) | dict.fromkeys(new, (270, 900))
    spaces = watch(stream(lives, 500, missing, seed))
    (_, gone, _), (state, alive, opened_at) = told(spaces)
    assert (gone, state, alive) == (set(old), "current", set(new))
    assert opened_at == next(t for t, x in enumerate(stream(lives, 500, missing, seed)) if x.keys() & new)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_a_space_that_some_old_keys_live_on_in_opened_with_its_new_keys(missing, seed):
    gone, old, new = names("a", 3), names("b", 5), names("c", 4)
    lives = dict.fromkeys(gone, (0, 230)) | dict.fromkeys(old, (0, 900)) | dict.fromkeys(new, (200, 900))
    spaces = watch(stream(lives, 700, missing, seed))
    opened_at = next(t for t, x in enumerate(stream(lives, 700, missing, seed)) if x.keys() & set(new))
    assert told(spaces) == [("retired", {*gone, *old}, 0), ("current", {*old, *new}, opened_at)]


@pytest.mark.parametrize("missing", [0.0, 0.3])
@pytest.mark.parametrize("gap", [1, 3, 7])
@pytest.mark.parametrize("d", [2, 5, 12])
def test_keys_that_come_in_over_several_samples_are_one_space(d, gap, missing):
    for seed in SEEDS:
        old, new = names("a", d), names("b", d)
        lives = {k: (0, 200 + (d + i) * gap) for i, k in enumerate(old)}
        lives |= {k: (200 + i * gap, 900) for i, k in enumerate(new)}
        spaces = FeatureSpaces()
        overlaps = sum(spaces.advance(x)[0].overlap for x in stream(lives, 500, missing, seed))
        assert overlaps == 1
        assert [(state, keys) for state, keys, _ in told(spaces)] == [("retired", set(old)), ("current", set(new))]


@pytest.mark.parametrize("missing", [0.0, 0.3])
@pytest.mark.parametrize("patience", [10, 30, 100])
@pytest.mark.parametrize("d", [2, 15])
def test_one_key_more_joins_the_current_space(d, patience, missing):
    for seed in SEEDS:
        lives = dict.fromkeys(names("a", d), (0, 9000)) | {"new": (200, 9000)}
        spaces, ended = FeatureSpaces(patience=patience), []
        # A gap that is taken for an end, rare as that is, makes the overlap last longer until the key is back.
        n = 210 + patience if missing == 0 else 210 + 2 * patience
        for t, x in enumerate(stream(lives, n, missing, seed)):
            evolution, _ = spaces.advance(x)
            assert evolution.keep is None
            if evolution.settled:
                assert not evolution.replaced
                ended.append(t)
        assert told(spaces) == [("current", {*names("a", d), "new"}, 0)]
        assert spaces.spaces[0].number == 0
        if missing == 0:
            assert ended == [200 + patience - 1]


@pytest.mark.parametrize("missing", [0.0, 0.3])
@pytest.mark.parametrize("d", [3, 5, 30])
def test_one_key_gone_for_good_opens_no_space(d, missing):
    for seed in SEEDS:
        lives = dict.fromkeys(names("a", d), (0, 900)) | {"a1": (0, 200)}
        spaces = FeatureSpaces()
        for x in stream(lives, 500, missing, seed):
            evolution, row = spaces.advance(x)
            assert evolution.keep is None
            assert not evolution.overlap
        assert told(spaces) == [("current", set(names("a", d)), 0)]
        assert spaces.vanished == spaces.spaces[0].vanished == ("a1",)
        assert np.isnan(row[spaces.keys.index("a1")])


@pytest.mark.parametrize("away", [5, 50, 500])
@pytest.mark.parametrize("d", [2, 5, 30])
def test_a_key_that_comes_back_takes_its_old_place(d, away):
    keys = names("a", d)
    spaces = watch(stream(dict.fromkeys(keys, (0, 200)), 200))
    watched = [sample(keys[1:])] * away + [sample(keys)]
    for x in watched:
        _, row = spaces.advance(x)
    assert spaces.keys == keys
    assert not np.isnan(row).any()
    assert spaces.vanished == ()
    assert [(e.round, e.kind, e.keys) for e in spaces.events if e.kind == "returned"] == [
        (200 + away, "returned", ("a0",))
    ]


@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize("survivors", [1, 3])
@pytest.mark.parametrize("d", [4, 10])
def test_old_keys_that_never_vanish_become_part_of_the_current_space(d, survivors, missing):
    for seed in SEEDS:
        old, new = names("a", d), names("b", d)
        lives = {k: (0, 900 if i < survivors else 205 + 2 * i) for i, k in enumerate(old)}
        lives |= dict.fromkeys(new, (200, 900))
        spaces, settled = FeatureSpaces(), []
        for x in stream(lives, 600, missing, seed):
            evolution, _ = spaces.advance(x)
            settled += [evolution] if evolution.settled else []
        (_, _, _), (_, alive, _) = told(spaces)
        assert alive == {*old[:survivors], *new}
        assert set(spaces.vanished) == set(old[survivors:])
        assert [evolution.replaced for evolution in settled] == [False]


@pytest.mark.parametrize("every", [1, 7, 40])
def test_keys_only_ever_added_are_all_kept(every):
    n = 1200
    lives = {f"a{i}": (i * every, n) for i in range(n // every if every > 1 else 60)}
    spaces = FeatureSpaces()
    for x in stream(lives, n):
        evolution, _ = spaces.advance(x)
        assert evolution.keep is None
    assert spaces.keys == list(lives)
    assert not any(space.state == "retired" for space in spaces.spaces)
    assert not spaces.vanished


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("missing", [0.0, 0.4])
@pytest.mark.parametrize("d", [1, 2, 10])
def test_abrupt_change_without_overlap(d, missing, seed):
    old, new = names("a", d), names("b", d)
    lives = dict.fromkeys(old, (0, 200)) | dict.fromkeys(new, (200, 900))
    spaces = FeatureSpaces()
    settled = [evolution for x in stream(lives, 600, missing, seed) if (evolution := spaces.advance(x)[0]).settled]
    assert [(state, keys) for state, keys, _ in told(spaces)] == [("retired", set(old)), ("current", set(new))]
    assert [evolution.replaced for evolution in settled] == [True]


@pytest.mark.parametrize("overlap", [0, 10])
@pytest.mark.parametrize("d", [2, 5, 20])
def test_keys_of_a_retired_space_are_recognized(d, overlap):
    old, new = names("a", d), names("b", d)
    spaces = watch(stream(dict.fromkeys(old, (0, 200)) | dict.fromkeys(new, (200 - overlap, 400)), 400))
    (retired, _) = spaces.spaces
    evolution, _ = spaces.advance(sample([*old[::-1], "never seen"]))
    assert evolution.overlap
    for key, origin in zip([*old[::-1], "never seen"], evolution.origins, strict=True):
        assert origin == (None if key == "never seen" else (retired.number, retired.vanished.index(key)))
    assert [event.keys for event in spaces.events if event.kind == "returned"] == [tuple(old[::-1])]
    assert not set(old) & set(spaces.vanished)


def test_many_changes_leave_memory_flat():
    period, d, most = 40, 4, 3
    spaces, sizes = FeatureSpaces(max_spaces=most), []
    for t in range(200 * period):
        g = t // period
        x = sample(names(f"{g} ", d) + (names(f"{g + 1} ", d) if t % period >= period - 12 else []))
        spaces.advance(x)
        assert len(spaces.keys) <= 2 * d
        if t % period == 20:
            spaces.events.clear()
            sizes.append(len(pickle.dumps(spaces)))
    retired = [space for space in spaces.spaces if space.state == "retired"]
    assert [set(space.keys) for space in retired] == [set(names(f"{g} ", d)) for g in (196, 197, 198)]
    assert spaces.spaces[-1].number == 200
    # Names and numbers of later spaces have more digits, that is all.
    assert max(sizes[-50:]) <= 1.1 * max(sizes[10:60])


# What absence means.


@pytest.mark.parametrize(
    "nothing", [None, math.nan, np.float64("nan"), pd.NA, pd.NaT, *map(decimal.Decimal, ("NaN", "sNaN"))]
)
@pytest.mark.parametrize("absent", ["missing", "zero"])
def test_nothing_is_absent(absent, nothing):
    spaces, other = FeatureSpaces(absent=absent), FeatureSpaces(absent=absent)
    for t in range(300):
        full, gap = {"a": 1.0, "b": 2.0}, {"a": 1.0, "b": nothing} if t % 3 == 1 or t > 200 else {"a": 1.0, "b": 2.0}
        bare = {k: v for k, v in gap.items() if v is not nothing}
        assert gap.keys() == full.keys()
        np.testing.assert_array_equal(spaces.read(gap), other.read(bare))
        np.testing.assert_array_equal(spaces.advance(gap)[1], other.advance(bare)[1])
    assert spaces.advance({"a": 1.0, "b": nothing, "c": nothing})[0].opened == 0
    assert spaces.keys == ["a", "b"]
    assert list(spaces.events) == list(other.events)
    assert spaces.vanished == ("b",)


def test_zero_is_a_value():
    spaces = watch([{"a": 0.0, "b": 0}] * 300)
    assert spaces.vanished == ()
    assert spaces.read({"a": 0.0, "b": False}).tolist() == [0.0, 0.0]
    assert np.isnan(spaces.read({"a": 0.0})).tolist() == [False, True]


@pytest.mark.parametrize("seed", SEEDS)
def test_absent_as_zero_fills_rows_and_judges_each_key_by_its_own_presence(seed):
    rng = random.Random(seed)
    often, now_and_then = names("often", 6), names("rare", 6)
    spaces = FeatureSpaces(absent="zero", grace=100)
    for t in range(1200):
        x = sample([k for k in often if rng.random() < 0.9] + [k for k in now_and_then if rng.random() < 0.15])
        if t >= 1000:
            x = {k: v for k, v in x.items() if k not in ("often0", "rare0")}
        _, row = spaces.advance(x)
        gone = [spaces.keys.index(key) for key in spaces.vanished]
        living = np.delete(row, gone)
        assert set(living) <= {0.0, 1.0}
        assert living.sum() == len(x)
        if t == 1015:
            # Fifteen rounds of silence are proof for the one and nothing special for the other.
            assert "often0" in spaces.vanished
            assert "rare0" not in spaces.vanished
    assert {"often0", "rare0"} <= set(spaces.vanished)


# When a key has vanished.


def silence(spaces, present, key):
    """Rounds of absence after which a key has vanished."""
    for gap in itertools.count(1):
        spaces.advance(present)
        if key in spaces.vanished:
            return gap


def test_gap_follows_from_how_often_a_key_was_present():
    for n in (30, 300, 3000):
        spaces = watch([sample("ab")] * n)
        # The next g rounds are all without a key that was in n of n rounds: 1 / (n + 2) · 2 / (n + 3) · …
        expected = next(g for g in itertools.count(1) if math.prod((k + 1) / (n + k + 2) for k in range(g)) < 1e-4)
        assert silence(spaces, {"b": 1.0}, "a") == expected <= 4


@pytest.mark.parametrize("k", [15, 50, 400])
def test_gap_is_judged_by_rounds_with_and_without_the_key(k):
    # Present in every second round, so n = m = k, and that in no spells.
    spaces = watch([sample("ab"), sample("b")] * k)
    spaces.advance(sample("ab"))
    expected = next(
        g for g in itertools.count(1) if math.prod((k + i) / (2 * k + 2 + i) for i in range(1, g + 1)) < 1e-4
    )
    assert silence(spaces, {"b": 1.0}, "a") == expected


@pytest.mark.parametrize("random_", [False, True])
def test_a_key_heard_once_in_ten_rounds_is_waited_for(random_):
    gaps = collections.defaultdict(list)
    for seed in SEEDS:
        rng = random.Random(seed)
        spaces = FeatureSpaces()
        for t in range(1000):
            rare = rng.random() < 0.1 if random_ else t % 10 == 0
            spaces.advance(sample(["often", "always", *(["rare"] if rare or t == 0 else [])]))
            assert not spaces.vanished
        spaces.advance(sample(["often", "always", "rare"]))
        for key in ("often", "rare"):
            gaps[key].append(silence(pickle.loads(pickle.dumps(spaces)), {"always": 1.0}, key))
    assert max(gaps["often"]) <= 3
    # 0.9 ** 87 = 1e-4
    assert all(60 <= gap <= 130 for gap in gaps["rare"])


@pytest.mark.parametrize("spell", [10, 40])
def test_a_key_in_spells_is_judged_by_its_spells(spell):
    false_alarms = []
    for seed in range(10):
        rng, spaces, on = random.Random(seed), FeatureSpaces(), True
        for t in range(60 * spell):
            on = on != (rng.random() < 1 / spell)
            spaces.advance(sample(["always", "other"] + (["spells"] if on or t < 20 else [])))
        while not on:
            on = rng.random() < 1 / spell
        spaces.advance(sample(["always", "other", "spells"]))
        early, late = (rounds(spaces, "vanished"), [t for t in rounds(spaces, "vanished") if t > 30 * spell])
        # The first spell is news, the twentieth is not.
        assert early
        false_alarms.append(len(late))
        # A gap that no spell explains is one all the same, and as long as the spells used to be it is none.
        assert 2 * spell < silence(spaces, sample(["always", "other"]), "spells") < 40 * spell
    assert sum(false_alarms) <= 2


def test_seen_again_is_alive_again():
    spaces = watch([sample("abc")] * 100 + [sample("bc")] * 20)
    assert spaces.vanished == ("a",)
    evolution, row = spaces.advance(sample("abc"))
    assert evolution is UNCHANGED
    assert row.tolist() == [1.0, 1.0, 1.0]
    assert spaces.vanished == ()


# What each parameter does at its extremes.


def test_significance_at_its_extremes():
    nobody = watch([sample("ab")] * 100 + [sample("bc")] * 1000, significance=0.0, patience=math.inf)
    assert nobody.vanished == ()
    assert [space.state for space in nobody.spaces] == ["previous", "current"]
    at_once = watch([sample("abc")] * 100 + [sample("bc")], significance=1.0)
    assert at_once.vanished == ("a",)
    gaps = [silence(watch([sample("ab")] * 50, significance=s), {"b": 1.0}, "a") for s in (1e-2, 1e-4, 1e-8, 1e-16)]
    assert gaps == sorted(set(gaps))


def test_patience_at_its_extremes():
    lives = dict.fromkeys("abc", (0, 2000)) | {"new": (100, 2000)}
    at_once = FeatureSpaces(patience=1)
    assert not any(at_once.advance(x) and at_once.n_previous for x in stream(lives, 300))
    assert told(at_once) == [("current", {*"abc", "new"}, 0)]
    never = watch(stream(lives, 2000), patience=math.inf)
    assert [space.state for space in never.spaces] == ["previous", "current"]
    replaced = watch(stream({"a": (0, 120), "b": (0, 150), "c": (100, 900)}, 300), patience=math.inf)
    assert told(replaced) == [("retired", {"a", "b"}, 0), ("current", {"c"}, 100)]


@pytest.mark.parametrize("k", [1, 2, 5])
def test_patience_grows_with_the_time_in_which_keys_vanished(k):
    # After k keys have vanished within t rounds an overlap of (1 + t) p^(1 / (k + 1)) rounds is needed.
    old = names("a", 8)
    lives = {key: (0, 205 + 3 * i if i < k else 9000) for i, key in enumerate(old)} | {"new": (200, 9000)}
    spaces = watch(stream(lives, 200))
    length = 1
    for x in itertools.islice(stream(lives, 900), 200, None):
        evolution, _ = spaces.advance(x)
        if evolution.settled:
            break
        length += 1
    last = max(rounds(spaces, "vanished"))
    assert length == math.ceil((1 + last - 200) * 100 ** (1 / (k + 1)))


@pytest.mark.parametrize("patience", [10, 100])
@pytest.mark.parametrize("every", [40, 90, 300])
def test_keys_that_vanish_now_and_then_keep_no_overlap_open(every, patience):
    # A key goes and another one comes, again and again: the wait is for the next one to go, not for all of them.
    lives = {f"a{i}": (0, 205 + i * every if i < 12 else 9000) for i in range(16)}
    lives |= {f"b{i}": (200 + 7 * i * every, 9000) for i in range(3)}
    spaces, waited, n_overlaps = FeatureSpaces(patience=patience), [], 0
    for t, x in enumerate(stream(lives, 200 + 20 * every)):
        evolution, _ = spaces.advance(x)
        n_overlaps += evolution.overlap
        if spaces.n_previous:
            gone = [event.round for event in spaces.events if event.kind in ("overlap began", "vanished")]
            waited.append(t + 1 - max(gone))
    assert max(waited) < patience
    assert n_overlaps >= 2
    assert spaces.n_previous == 0


@pytest.mark.parametrize("away", [10, 40])
def test_a_key_that_returns_has_not_vanished(away):
    keys = names("a", 4)
    lives = dict.fromkeys(keys, (0, 9000)) | {"new": (200, 9000)}
    spaces = watch(stream(lives, 220))
    for t in range(220, 400):
        evolution, _ = spaces.advance(sample([*keys[220 <= t < 220 + away :], "new"]))
        if evolution.settled:
            break
    assert count(spaces, "vanished") == count(spaces, "returned") == 1
    assert t == 200 + 100 - 1


def test_new_keys_that_vanish_again_end_the_overlap():
    spaces = watch(stream(dict.fromkeys("abc", (0, 900)) | {"flash": (200, 205)}, 400))
    assert told(spaces) == [("retired", {"flash"}, 200), ("current", set("abc"), 0)]
    assert spaces.spaces[-1].number == 0


@pytest.mark.parametrize("most", [0, 1, 3])
def test_the_space_that_was_seen_least_is_forgotten(most):
    lengths = {"a": 300, "b": 80, "c": 500, "d": 60, "e": 200, "f": 100}
    spaces = FeatureSpaces(max_spaces=most)
    for key, n in lengths.items():
        for _ in range(n):
            spaces.advance({f"{key}1": 1.0, f"{key}2": 2.0})
    retired = [space for space in spaces.spaces if space.state == "retired"]
    assert len(retired) == most
    kept = {space.keys[0][0] for space in retired}
    # The last one to retire is e; each time the least seen of those known goes.
    assert kept == {0: set(), 1: {"c"}, 3: {"c", "a", "e"}}[most]
    evolution, _ = spaces.advance({"b1": 1.0, "c1": 1.0})
    assert [origin is not None for origin in evolution.origins] == [False, most > 0]


def test_more_than_half_of_the_keys_gone_are_retired():
    spaces = watch([sample(names("a", 9))] * 100)
    spaces_half, spaces_more = (pickle.loads(pickle.dumps(spaces)) for _ in range(2))
    for _ in range(50):
        spaces_half.advance(sample(names("a", 5)))
        spaces_more.advance(sample(names("a", 4)))
    assert spaces_half.keys == names("a", 9)
    assert spaces_more.keys == names("a", 4)
    assert set(spaces_half.vanished) == set(names("a", 9)[5:])
    assert set(spaces_more.vanished) == set(names("a", 9)[4:])
    assert spaces_more.spaces[-1].opened_at == 0


@pytest.mark.parametrize("d", [5, 30])
def test_a_stream_that_falls_silent_keeps_what_it_knows_also_where_keys_were_missing(d):
    for seed in SEEDS:
        spaces = watch([*stream(dict.fromkeys(names("a", d), (0, 200)), 200, 0.3, seed), *[{}] * 100])
        assert set(spaces.keys) == set(names("a", d))


def test_a_stream_that_falls_silent_keeps_what_it_knows():
    spaces = watch([sample("abc")] * 100 + [{}] * 100)
    assert told(spaces) == [("current", set("abc"), 0)]
    assert set(spaces.vanished) == set("abc")
    spaces.advance(sample("abc"))
    assert spaces.vanished == ()
    assert spaces.keys == list("abc")


def test_a_key_that_another_sensor_has_taken_begins_anew_with_the_next_sample():
    spaces = watch([sample("abc")] * 100)
    spaces.replace("a")
    evolution, row = spaces.advance(sample("abc"))
    assert len(row) == 3
    assert evolution.keep.tolist() == [False, True, True]
    assert told(spaces) == [("retired", {"a"}, 0), ("current", {"b", "c"}, 0)]
    spaces.advance(sample("abc"))
    # Another sensor is nothing that returns, and is told only once.
    assert told(spaces)[1:] == [("previous", {"b", "c"}, 0), ("current", {"a"}, 101)]
    assert count(spaces, "replaced") == 1
    assert count(spaces, "returned") == 0


@pytest.mark.parametrize("when", ["before", "during"])
def test_no_slot_is_replaced_in_an_overlap(when):
    spaces = watch([sample("abc")] * 100 + [sample("abcd")] * (when == "during"))
    spaces.replace("a")
    evolution, _ = spaces.advance(sample("abcd"))
    assert evolution.keep is None
    assert told(spaces) == [("previous", set("abc"), 0), ("current", {"d"}, 100)]
    assert count(spaces, "replaced") == 0


def test_what_is_left_must_be_able_to_recover_what_is_replaced():
    spaces = watch([sample("ab")] * 100)
    for key in ("a", "b", "never seen"):
        spaces.replace(key)
    evolution, _ = spaces.advance(sample("ab"))
    assert evolution.keep is None
    assert spaces.keys == ["a", "b"]


# What a user looks at.


def test_events_tell_the_story():
    lives = dict.fromkeys("ab", (0, 210)) | dict.fromkeys("cd", (200, 900)) | {"a": (0, 205)}
    spaces = watch([*stream(lives, 300), *[sample("dab")] * 20])
    told = [(event.kind, set(event.keys)) for event in spaces.events]
    assert told == [
        ("opened", {"a", "b"}),
        ("opened", {"c", "d"}),
        ("overlap began", {"a", "b"}),
        ("vanished", {"a"}),
        ("vanished", {"b"}),
        ("overlap ended", {"c", "d"}),
        ("returned", {"a", "b"}),
        ("overlap began", {"c", "d"}),
        ("vanished", {"c"}),
    ]
    opened, _, _, a, b, _, returned, _, _ = (event.round for event in spaces.events)
    assert (opened, returned) == (0, 300)
    assert 205 <= a < 210 <= b < 215
    assert str(spaces.events[1]) == "round 200: opened c, d"


def test_events_of_one_sample_are_of_one_round():
    spaces = watch([sample("ab")] * 100 + [sample("abc")] * 5)
    for t in range(105, 120):
        before = len(spaces.events)
        spaces.advance(sample("c"))
        assert {event.round for event in list(spaces.events)[before:]} <= {t}


@pytest.mark.filterwarnings("ignore:.*never again")
def test_events_are_bounded_and_short():
    spaces = watch([sample([f"{t} {i}" for i in range(10)]) for t in range(1200)], grace=0)
    assert 100 <= len(spaces.events) == spaces.events.maxlen <= 1000
    assert rounds(spaces, "opened")[-1] == 1199
    assert all(len(str(event)) < 200 for event in spaces.events)


def test_what_vanished_was_among_the_keys():
    spaces = watch(stream(dict.fromkeys("ab", (0, 900)) | {"b": (0, 220), "c": (200, 900), "d": (200, 210)}, 600))
    for space in spaces.spaces:
        assert set(space.vanished) <= set(space.keys)


# What a sample may be.


@pytest.mark.parametrize(
    "value",
    [
        True,
        np.bool_(True),
        1,
        np.int64(1),
        np.float64(1),
        np.float32(1),
        np.uint8(200),
        fractions.Fraction(1),
        decimal.Decimal(1),
        np.array(1.0),
    ],
)
def test_any_real_number_is_a_value(value):
    spaces = watch([{"a": value, "b": value}] * 3)
    for x in ({"a": value, "b": value}, {"b": value}, {"c": value, "b": value}):
        assert spaces.read(x)[1] == value


@pytest.mark.parametrize(
    "value",
    [
        "1",
        b"1",
        [1.0],
        {},
        1j,
        math.inf,
        -math.inf,
        decimal.Decimal("inf"),
        np.array([1.0]),
        np.ones(2),
        np.timedelta64(1, "s"),
    ],
)
@pytest.mark.parametrize("key", ["a", "unknown"])
def test_other_values_are_refused_and_change_nothing(value, key):
    spaces = watch([sample("ab")] * 30 + [sample("abc")] * 3)
    before = pickle.dumps(spaces)
    for x in ({**sample("abc"), key: value}, {key: value}, {"new": 1.0, key: value}):
        for take in (spaces.read, spaces.advance):
            with pytest.raises(ValueError, match=repr(key)):
                take(x)
            assert pickle.dumps(spaces) == before


def test_large_values_are_cut_so_that_squares_stay_finite():
    spaces = watch([sample("ab")] * 5)
    for x in ({"a": 1e300, "b": 1.0}, {"a": decimal.Decimal("-1e200"), "b": 10**300}, {"a": -1e200}):
        row = spaces.read(x)
        assert np.isfinite(row[~np.isnan(row)] ** 2).all()


@pytest.mark.parametrize("value", [10**400, fractions.Fraction(-(10**400))], ids=["int", "fraction"])
def test_numbers_beyond_the_range_of_floats_are_cut(value):
    assert abs(watch([{"a": 1.0}]).read({"a": value})[0]) <= 1e150


def test_large_values_of_opposite_signs_are_cut():
    spaces = watch([sample("ab")] * 5)
    assert np.abs(spaces.read({"a": 1e200, "b": -1e200})).max() <= 1e150


@pytest.mark.parametrize("make", [collections.Counter, lambda x: collections.defaultdict(float, x)])
def test_mappings_that_answer_for_any_key(make):
    # Who counts words has a Counter.
    spaces = watch([sample("ab")] * 30)
    x = make({"a": 1, "c": 1})
    np.testing.assert_array_equal(spaces.read(x), [1.0, math.nan])
    assert x.keys() == {"a", "c"}
    spaces.advance(x)
    assert spaces.keys == ["a", "b", "c"]


def test_keys_of_any_kind():
    keys = ["a", 1, 2.5, ("a", 1), None, frozenset("a"), b"a", pd.Timestamp("2020-01-01"), float("nan")]
    spaces = watch([sample(keys)] * 30 + [sample(keys[::-1])] * 10)
    assert spaces.keys == keys
    assert len(spaces.spaces) == 1
    spaces.advance(sample([*keys, (1, 2)]))
    assert spaces.spaces[-1].keys == ((1, 2),)


# Junk: bounded, silent, alive.


@pytest.mark.parametrize("d", [0, 1, 5])
def test_a_fresh_key_in_every_sample(d):
    spaces, peak = FeatureSpaces(), []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for t in range(3000):
            spaces.advance(sample([*names("a", d), f"id {t}"]))
            peak.append(len(spaces.keys) + sum(len(space.keys) for space in spaces.spaces))
    assert len(caught) == 1
    assert "select or hash" in str(caught[0].message)
    assert caught[0].filename == __file__
    assert max(peak[1500:]) <= 1.1 * max(peak[:1500])
    assert max(peak) < 3000
    assert set(names("a", d)) <= set(spaces.keys)
    assert not set(names("a", d)) & set(spaces.vanished)


@pytest.mark.parametrize(("n", "warned"), [(99, False), (100, True)])
def test_a_hundred_keys_that_were_seen_once_are_too_many(n, warned):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        spaces = watch([sample(["a", *names("id", n)])] + [sample("a")] * 300)
    assert spaces.keys == ["a"]
    assert [str(warning.message)[:8] for warning in caught] == ["100 keys"] * warned


@pytest.mark.filterwarnings("ignore:.*never again")
@pytest.mark.parametrize("params", [{"patience": math.inf}, {"patience": math.inf, "significance": 1.0, "grace": 0}])
def test_a_fresh_key_in_every_sample_of_an_overlap_without_end(params):
    spaces, peak = FeatureSpaces(**params), []
    for t in range(1500):
        evolution, _ = spaces.advance(sample(["a", "b", f"id {t}"]))
        assert not evolution.settled
        peak.append(len(spaces.keys))
    assert max(peak[750:]) <= max(peak[:750]) < 500
    previous, current = spaces.spaces[-2:]
    assert {"a", "b"} <= set(previous.keys)
    assert (previous.state, current.keys[-1]) == ("previous", "id 1499")


def test_a_warning_that_is_made_an_error_comes_before_anything_has_changed():
    spaces, caught = FeatureSpaces(), []
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for t in range(600):
            before = spaces.rounds, list(spaces.keys), spaces.spaces, len(spaces.events)
            try:
                spaces.advance(sample(["a", f"id {t}"]))
            except UserWarning as warning:
                caught.append(warning)
                assert (spaces.rounds, spaces.keys, spaces.spaces, len(spaces.events)) == before
    assert len(caught) == 1
    assert spaces.rounds == 599


def test_flipping_between_two_sets_of_keys():
    spaces = FeatureSpaces()
    for t in range(1000):
        spaces.advance(sample(names("a" if t % 2 else "b", 5)))
        assert len(spaces.keys) <= 10
    assert len(spaces.spaces) == 1
    late = watch(sample(names("a" if t % 2 or t < 300 else "b", 5)) for t in range(1000))
    assert len(late.spaces) == 1
    assert len(late.keys) == 10


def test_ten_thousand_keys_at_once():
    spaces = watch([sample(names("a", 3))] * 50 + [sample(names("b", 10_000))] * 10 + [sample(names("a", 3))] * 300)
    assert set(spaces.keys) == set(names("a", 3))
    assert len(spaces.events) < 20


def test_spaces_that_take_turns_do_not_push_each_other_out():
    spaces = FeatureSpaces(max_spaces=8)
    for turn in range(30):
        for _ in range(50):
            spaces.advance(sample(names("ab"[turn % 2], 5)))
    assert len(spaces.keys) == 5
    evolution, _ = spaces.advance(sample(names("a", 5)))
    assert None not in evolution.origins


def test_a_space_that_retires_again_is_remembered_once():
    spaces = watch([sample("xy")] * 90, max_spaces=3)
    for _ in range(5):
        for keys in ("ab", "cd"):
            for _ in range(100):
                spaces.advance(sample(keys))
    retired = [space.keys for space in spaces.spaces if space.state == "retired"]
    assert len(set(retired)) == len(retired)
    assert ("x", "y") in retired


def test_a_short_return_does_not_cost_the_memory_of_a_long_life():
    spaces = FeatureSpaces(max_spaces=1)
    for keys, n in (("ab", 500), ("cd", 300), ("ab", 40), ("ef", 200)):
        for _ in range(n):
            spaces.advance(sample(keys))
    evolution, _ = spaces.advance(sample("ab"))
    assert None not in evolution.origins


# Whatever the presence pattern.

PARAMS = st.fixed_dictionaries(
    {
        "significance": st.sampled_from([0.0, 1e-4, 0.05, 0.3, 1.0]),
        "grace": st.sampled_from([0, 1, 5]),
        "patience": st.sampled_from([1, 3, 20, math.inf]),
        "max_spaces": st.sampled_from([0, 1, 2, 8]),
        "absent": st.sampled_from(["missing", "zero"]),
    }
)
PHASES = st.lists(
    st.tuples(st.sets(st.integers(0, 7)), st.integers(1, 12), st.sampled_from([0.0, 0.3, 0.7])), min_size=1, max_size=10
)


@settings(deadline=None, max_examples=80)
@given(PARAMS, PHASES)
def test_books_are_kept_whatever_comes(params, phases):
    spaces, rng, n = FeatureSpaces(**params), random.Random(0), 0
    for keys, length, missing in phases:
        for _ in range(length):
            x = {f"k{k}": rng.gauss(0, 1) for k in keys if rng.random() >= missing}
            before, frozen = list(spaces.keys), pickle.dumps(spaces)
            spaces.read(x)
            assert pickle.dumps(spaces) == frozen
            evolution, row = spaces.advance(x)
            n += 1
            assert spaces.rounds == n
            wide = len(before) + evolution.opened
            assert len(row) == len(evolution.origins) + len(before) == wide
            now = [*before, *(k for k in x if k not in before)]
            if evolution.keep is not None:
                assert evolution.keep.shape == (wide,)
                now = [key for key, kept in zip(now, evolution.keep) if kept]
            assert spaces.keys == now
            assert evolution.keep is None or 0 < len(now) < wide
            assert len(set(spaces.keys)) == len(spaces.keys)
            assert 0 <= spaces.n_previous <= len(spaces.keys)
            assert not (spaces.n_previous and evolution.settled)
            told = spaces.spaces
            assert [k for space in told if space.state != "retired" for k in space.keys] == spaces.keys
            assert sum(space.state == "retired" for space in told) <= params["max_spaces"]
            assert len({space.number for space in told}) == len(told)
            assert not set(spaces.vanished) & x.keys()
            assert len(set(spaces.vanished)) == len(spaces.vanished)
            # What has vanished is not taken for zero, whatever absence means.
            filler = 0.0 if params["absent"] == "zero" else math.nan
            expected = [x.get(k, math.nan if k in spaces.vanished else filler) for k in spaces.keys]
            np.testing.assert_array_equal(spaces.read(x), expected)


@pytest.mark.parametrize(
    "params",
    [
        {"significance": -0.1},
        {"significance": 1.1},
        {"significance": math.nan},
        {"grace": -1},
        {"patience": 0.5},
        {"patience": math.nan},
        {"max_spaces": -1},
        {"absent": "none"},
    ],
)
def test_parameters_without_a_meaning_are_refused(params):
    with pytest.raises(ValueError, match=next(iter(params))):
        FeatureSpaces(**params)
