"""When a key has vanished: against a plain transcription that judges every absent key in every round."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from river_pufe import kernels
from river_pufe.kernels import plain
from river_pufe.recovery.presence import Presence


class Plain:
    """One key, round by round: the two probabilities as products of their factors."""

    def __init__(self, round_):
        self.born, self.absences, self.gaps, self.since, self.vanished_at = round_, 0, 0, None, -1

    def update(self, present, round_, significance):
        """What happened to the key in a round."""
        if present:
            if self.since is not None:
                self.absences, self.gaps, self.since = self.absences + round_ - self.since, self.gaps + 1, None
            returned, self.vanished_at = self.vanished_at >= 0, -1
            return "returned" if returned else None
        if self.vanished_at >= 0:
            return None
        if self.since is None:
            self.since, self.at_random, self.in_spells = round_, 0.0, 0.0
        gap, age, m = round_ - self.since, self.since - self.born, self.absences
        share = (m + 1) / (age + 2)
        self.at_random += math.log((m + 1 + gap) / (age + 2 + gap))
        self.in_spells += math.log((10 * share + m - self.gaps + gap - 1) / (10 + m + gap - 1) if gap else share)
        limit = math.log(significance) if significance else -math.inf
        if max(self.at_random, self.in_spells) < limit - 1e-9:
            self.vanished_at = round_
            return "vanished"
        return None


def values_of(present):
    return np.where(present, 1.0, math.nan)


def compare(masks, significance, born):
    """Both follow the same masks; slots that are born late are appended then."""
    presence, plain = Presence(), []
    for round_, mask in enumerate(masks):
        n_new = sum(birth == round_ for birth in born)
        presence.extend(n_new, round_)
        plain += [Plain(round_) for _ in range(n_new)]
        present = np.array(mask[: len(plain)], dtype=bool)
        # A slot is born in a round in which it is present.
        present[len(plain) - n_new :] = True
        happened = [key.update(here, round_, significance) for key, here in zip(plain, present.tolist())]
        expected = [[i for i, kind in enumerate(happened) if kind == name] for name in ("returned", "vanished")]
        assert [*presence.update(values_of(present), round_, significance)] == expected
        assert presence.vanished_at.tolist() == [key.vanished_at for key in plain]
        assert presence.gone.tolist() == [key.vanished_at >= 0 for key in plain]
        assert presence.all_present == bool(present.all())
    end = len(masks)
    seen = [end - key.born - key.absences - (end - key.since if key.since is not None else 0) for key in plain]
    assert presence.seen(end).tolist() == seen


SIGNIFICANCE = st.sampled_from([0.0, 1e-8, 1e-4, 1e-2, 0.3, 1.0])


@given(st.lists(st.lists(st.booleans(), min_size=4, max_size=4), max_size=60), SIGNIFICANCE)
def test_it_decides_as_a_plain_transcription(masks, significance):
    compare(masks, significance, born=[0, 0, 3, 10])


@pytest.mark.parametrize("significance", [1e-4, 0.3])
@pytest.mark.parametrize("stays", [0.0, 0.9])
@pytest.mark.parametrize("share", [0.05, 0.5, 0.95])
def test_it_decides_so_over_long_streams(significance, stays, share):
    """Each key goes on as it is with one probability, and is drawn anew otherwise; some go for good."""
    rng = np.random.default_rng(7)
    n, d = 800, 8
    state, masks = np.ones(d, dtype=bool), []
    for t in range(n):
        state = np.where(rng.random(d) < stays, state, rng.random(d) < share)
        masks.append((state & ((np.arange(d) % 3 > 0) | (t < 500))).tolist())
    compare(masks, significance, born=[0] * 5 + [40, 300, 301])


def test_slots_that_are_kept_go_on_as_they_were():
    rng = np.random.default_rng(1)
    masks = rng.random((120, 6)) < 0.7
    masks[80:, :2] = False
    whole, part = Presence(), Presence()
    keep = np.array([True, False, True, True, False, True])
    for presence in (whole, part):
        presence.extend(6, 0)
    for round_, mask in enumerate(masks):
        whole.update(values_of(mask), round_, 1e-4)
        if round_ == 60:
            part.keep(keep)
        part.update(values_of(mask[keep] if round_ >= 60 else mask), round_, 1e-4)
    assert whole.vanished_at[keep].tolist() == part.vanished_at.tolist()
    assert whole.gone.any()


def test_an_open_gap_is_not_judged_before_it_can_matter(monkeypatch):
    """A key that is mostly away is looked at a few times only."""
    looks = []
    betaln = plain.special.betaln
    monkeypatch.setattr(plain.special, "betaln", lambda a, b: looks.append(len(a)) or betaln(a, b))
    monkeypatch.setattr(kernels, "account", plain.account)
    presence = Presence()
    presence.extend(1, 0)
    rng = np.random.default_rng(3)
    for round_ in range(2000):
        presence.update(values_of(rng.random(1) < 0.05 if round_ else np.ones(1, dtype=bool)), round_, 1e-4)
    assert not presence.gone.any()
    assert sum(looks) < 200


def test_an_unchanged_round_changes_nothing():
    presence = Presence()
    presence.extend(3, 0)
    mask = np.array([True, False, True])
    for round_ in range(3):
        presence.update(values_of(mask), round_, 1e-12)
    before = pickle.dumps(presence)
    assert presence.update(values_of(mask), 3, 1e-12) == ([], [])
    assert pickle.dumps(presence) == before
