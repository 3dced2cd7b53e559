"""Which keys form which feature space, decided from the keys alone?

This is the only module that looks into a dict. It answers three questions: what row does a sample make, has a key
vanished, and has a feature space opened or ended.
"""

from __future__ import annotations

import collections
import dataclasses
import math
import operator
import struct
import typing
import warnings

import numpy as np
import numpy.typing as npt
from river import base
from scipy.linalg import blas

from .values import LARGEST, number

Key = typing.Hashable
Sample = typing.Mapping[Key, object]
Row = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]

#: How strongly the share of rounds in which a key is present speaks for how long its gaps last, in rounds.
_SPELL_PRIOR = 10.0
#: Number of keys seen once or twice and never again at which the user is told, once.
_FLEETING = 100
_N_EVENTS = 500
#: Types of sums to which only numbers add up.
_PLAIN = frozenset({float, np.float64, np.float32})
#: Small NumPy types overflow without harm: only the type of the sum is of interest.
_sum = np.errstate(over="ignore", invalid="ignore")(sum)


@dataclasses.dataclass(frozen=True)
class FeatureSpace:
    """An ordered set of keys with one life.

    Parameters
    ----------
    number
        Which space of the stream it is, counted from 0.
    keys
        The keys, in the order in which they were first seen.
    state
        ``"current"``, ``"previous"`` (during an overlap) or ``"retired"``.
    opened_at
        Round in which its first new key came, counted from 0.
    vanished
        The keys that are regarded as gone.

    """

    number: int
    keys: tuple[Key, ...]
    state: str
    opened_at: int
    vanished: tuple[Key, ...]


@dataclasses.dataclass(frozen=True)
class Event:
    """Something that happened to the keys of a stream.

    Parameters
    ----------
    round
        When it was noticed, counted from 0.
    kind
        ``"opened"`` (new keys), ``"vanished"``, ``"returned"``, ``"overlap began"`` or ``"overlap ended"``.
    keys
        The keys it happened to. When an overlap begins these are the keys of the previous space, and when it ends
        those of the space that goes on.

    """

    round: int
    kind: str
    keys: tuple[Key, ...]

    def __str__(self) -> str:
        shown = ", ".join(map(str, self.keys[:6])) + (f", … ({len(self.keys)} keys)" if len(self.keys) > 6 else "")
        return f"round {self.round}: {self.kind} {shown}"


@dataclasses.dataclass
class Evolution:
    """What one sample changed, in the order in which the other parts must follow.

    Parameters
    ----------
    opened
        Number of slots appended for new keys.
    overlap
        Whether an overlap began: all slots before the new ones are those of the previous space.
    origins
        For each new slot the retired slot ``(space, position)`` it has been before, or None.
    keep
        Which slots (new ones included) go on, or None if all do; the others are dropped, once they are recoverable.
        In an overlap that goes on these are slots of the current space only.
    settled
        Whether an overlap ended with this sample.
    replaced
        Whether it ended because all keys of the previous space are gone.
    retired
        Number of the retired space under which the dropped slots are remembered, or None.
    forgotten
        Numbers of retired spaces that are no longer remembered.
    spaces
        All spaces after the change.

    """

    opened: int = 0
    overlap: bool = False
    origins: tuple[tuple[int, int] | None, ...] = ()
    keep: Mask | None = None
    settled: bool = False
    replaced: bool = False
    retired: int | None = None
    forgotten: tuple[int, ...] = ()
    spaces: tuple[FeatureSpace, ...] = ()

    def __bool__(self) -> bool:
        return self.opened > 0 or self.settled or self.keep is not None


_UNCHANGED = Evolution()


@dataclasses.dataclass
class _Retired:
    space: FeatureSpace
    usefulness: int


class FeatureSpaces(base.Base):
    """Feature spaces of a stream of dicts, found from their keys.

    Every known key has a slot, its position in a row. The first space collects keys for `grace` samples. After that
    the first sample with unknown keys opens a space: its keys are the *current* ones, the older ones the *previous*
    ones, and an overlap begins. Further new keys join it. The overlap ends when the last previous key has vanished
    (the new keys replaced the old ones), or when no previous key has vanished for so long that none is expected to
    (those that are left are part of the current space: the new keys joined them). Until then no previous key is
    dropped. Apart from that, keys that have vanished are dropped once they are more than half of all.

    A key has vanished when a gap as long as its present one would be improbable, given the rounds in which it was
    present and absent before. With n present and m absent rounds, a key that comes and goes at random stays away for g
    rounds with probability B(n + 1, m + 1 + g) / B(n + 1, m + 1), B the beta function. A key that stays away in spells
    is judged by how long its gaps used to last. The larger of both probabilities counts. Any key that is seen again
    is alive again.

    Reading costs O(d), the decision O(number of absent keys).

    Parameters
    ----------
    significance
        Probability below which a gap means that the key has vanished. Towards 0 no key ever vanishes, so that no
        overlap ends before the patience does, and memory grows with the number of keys of the stream; at 1 a key has
        vanished in the first round in which it is absent (the assumption of the paper, where nothing is missing but
        for good).
    grace
        Number of samples during which new keys belong to the first space. At 0 every key that is not in the first
        sample opens a new space; large values take a real change for a slow start.
    patience
        Rounds of overlap without a vanishing key after which the previous keys that are left are taken to stay. Fewer
        are enough where keys went fast: with k of them gone, the last one after t rounds, an overlap of
        $\\min(t + p, (1 + t) p^{1/(k+1)})$ rounds is needed, p the patience. At 1 new keys join at once; at infinity
        an overlap ends only when all keys of one space are gone.
    max_spaces
        How many retired spaces are remembered; the one that was seen least is forgotten first.
    absent
        ``"missing"``: an absent key has a value that was not reported (NaN in a row). ``"zero"``: it is 0, as long as
        the key is alive; what has vanished is missing, so that it can be recovered.

    Attributes
    ----------
    keys
        Keys by slot; those of the previous space come first.
    n_previous
        Number of slots of the previous space, 0 outside overlaps.
    rounds
        Number of samples seen.
    events
        The latest events, oldest first.

    Examples
    --------
    >>> from river_pufe.spaces import FeatureSpaces
    >>> spaces = FeatureSpaces(grace=1)
    >>> for _ in range(100):
    ...     _ = spaces.observe({"a": 1.0, "b": 2.0})
    >>> for _ in range(4):
    ...     _ = spaces.observe({"b": 2.0, "c": 3.0})
    >>> spaces.vanished
    ('a',)
    >>> [(space.keys, space.state) for space in spaces.spaces]
    [(('a', 'b'), 'previous'), (('c',), 'current')]

    """

    def __init__(
        self,
        significance: float = 1e-4,
        grace: int = 20,
        patience: float = 100,
        max_spaces: int = 8,
        absent: str = "missing",
    ) -> None:
        if not 0 <= significance <= 1:
            raise ValueError(f"significance is a probability in [0, 1], not {significance!r}")
        if not grace >= 0:
            raise ValueError(f"grace is a number of samples, 0 or more, not {grace!r}")
        if not patience >= 1:
            raise ValueError(f"patience is a number of rounds, 1 or more, not {patience!r}")
        if not max_spaces >= 0:
            raise ValueError(f"max_spaces is a number of spaces, 0 or more, not {max_spaces!r}")
        if absent not in ("missing", "zero"):
            raise ValueError(f"absent is 'missing' or 'zero', not {absent!r}")
        self.significance = significance
        self.grace = grace
        self.patience = patience
        self.max_spaces = max_spaces
        self.absent = absent

        self.keys: list[Key] = []
        self.n_previous = 0
        self.rounds = 0
        self.events: collections.deque[Event] = collections.deque(maxlen=_N_EVENTS)
        self._slots: dict[Key, int] = {}
        self._opened_at = self._previous_opened_at = 0
        self._number = self._previous_number = 0
        self._n_spaces = 1
        self._retired: dict[int, _Retired] = {}
        self._returnable: dict[Key, tuple[int, int]] = {}
        self._n_fleeting = 0
        self._warned = False
        self._silent = False
        self._presence = _Presence()
        self._expect()

    # Reading is pure.

    def read(self, x: Sample) -> Row:
        """Row of a sample over the known slots, shape (d,), NaN where a key is absent (0 if it means that).

        Raises
        ------
        ValueError
            If a value is not a finite number, also under a key that is not known.

        """
        row = self._read_expected(x)
        return self._read_each(x) if row is None else row

    def _read_expected(self, x: Sample) -> Row | None:
        """Row of a sample that has just the keys that are alive, without a look at each of them."""
        # Other mappings may make up values of keys that are not there.
        if len(x) != len(self._alive) or self._values_of is None or type(x) is not dict:
            return None
        try:
            values = self._values_of(x)
            # The type of their sum tells whether all are numbers, much faster than a look at each.
            if type(_sum(values, 0.0)) not in _PLAIN:
                return None
            row = np.frombuffer(struct.pack(self._format, *values))
        except (KeyError, TypeError, ValueError, ArithmeticError, struct.error):
            return None
        if not blas.dnrm2(row) < LARGEST:
            return None
        if len(row) == len(self.keys):
            return row
        wide = np.full(len(self.keys), math.nan)
        wide[self._alive] = row
        return self._fill(wide)

    def _read_each(self, x: Sample) -> Row:
        row = np.full(len(self.keys), math.nan)
        for key, value in x.items():
            reading = number(key, value)
            slot = self._slots.get(key)
            if slot is not None:
                row[slot] = reading
        return self._fill(row)

    def _fill(self, row: Row) -> Row:
        if self.absent == "zero":
            # What has vanished would not read zero, and nothing must learn that it does.
            row[np.isnan(row) & ~self._presence.gone] = 0.0
        return row

    def expects(self, keys: list[Key]) -> bool:
        """Whether a sample of these keys changes nothing, if each slot is among them and has a value."""
        return not (self.n_previous or self._presence.any_open) and len(keys) == len(self._alive) == len(self.keys)

    def columns(self, keys: list[Key]) -> list[int] | None:
        """Columns of the slots in samples of some keys; None if one of the slots has none."""
        columns = {key: column for column, key in enumerate(keys)}
        found = [columns.get(key, -1) for key in self.keys]
        return None if -1 in found else found

    # Observing moves the state.

    def pass_by(self, n: int) -> None:
        """Account for n samples that change nothing."""
        self.rounds += n

    def observe(self, x: Sample) -> tuple[Evolution, Row]:
        """Take the keys of a sample into account.

        Returns
        -------
        What changed, and the row of the sample over the slots as they are before any is dropped.

        Raises
        ------
        ValueError
            As `read`; nothing has changed then.

        """
        row = self._read_expected(x)
        if row is not None and not self.n_previous and not self._presence.any_open:
            self.rounds += 1
            return _UNCHANGED, row
        evolution = Evolution()
        if row is None:
            row = self._read_each(x)
            self._warn()
            present = np.zeros(len(self.keys), dtype=bool)
            unknown = []
            for key, value in x.items():
                if math.isnan(number(key, value)):
                    continue
                slot = self._slots.get(key)
                if slot is None:
                    unknown.append(key)
                else:
                    present[slot] = True
            if unknown:
                self._open(unknown, evolution)
                present = np.append(present, np.ones(len(unknown), dtype=bool))
                row = np.append(row, [number(key, x[key]) for key in unknown])
            self._weigh(present)
        else:
            present = np.zeros(len(self.keys), dtype=bool)
            present[self._alive] = True
            self._weigh(present)
        self._settle(evolution)
        self.rounds += 1
        if evolution:
            evolution.spaces = self.spaces
        return evolution, row

    def _warn(self) -> None:
        """Tell the user, once, what the keys should not be like: before a sample, so that nothing is half done."""
        if self._n_fleeting >= _FLEETING and not self._warned:
            self._warned = True
            warnings.warn(
                f"{self._n_fleeting} keys were seen once or twice and never again. Feature spaces are made of keys "
                "that live for a while: select or hash one-off keys (ids, rare words) first.",
                stacklevel=3,
            )

    def _open(self, unknown: list[Key], evolution: Evolution) -> None:
        evolution.opened = len(unknown)
        evolution.origins = tuple(self._returnable.get(key) for key in unknown)
        for kind, returned in (("opened", False), ("returned", True)):
            self._log(kind, tuple(k for k, origin in zip(unknown, evolution.origins) if bool(origin) is returned))
        if self.n_previous == 0 and self.keys and self.rounds >= self.grace:
            evolution.overlap = True
            self.n_previous = len(self.keys)
            self._previous_opened_at, self._opened_at = self._opened_at, self.rounds
            self._previous_number, self._number = self._number, self._new_number()
            self._log("overlap began", tuple(self.keys))
        for key in unknown:
            self._slots[key] = len(self.keys)
            self.keys.append(key)
        self._presence.extend(len(unknown), self.rounds)
        self._expect()

    def _weigh(self, present: Mask) -> None:
        # A sample without features does not tell which of them will be back.
        self._silent = not present.any()
        returned, vanished = self._presence.weigh(present, self.rounds, self.significance)
        if returned is not None:
            self._log("returned", self._named(returned))
        if vanished is not None:
            self._log("vanished", self._named(vanished))
        if returned is not None or vanished is not None:
            self._expect()

    def _settle(self, evolution: Evolution) -> None:
        """End an overlap when the evidence is in, and drop what is gone for good."""
        gone, p = self._presence.gone, self.n_previous
        if p and (gone[:p].all() or gone[p:].all() or not self._may_more_vanish(p)):
            evolution.settled = True
            evolution.replaced = bool(gone[:p].all())
            # A space that is gone whole, with nobody to recover it from, is kept: its keys may come back.
            if not gone.all():
                self._merge(gone, p, evolution)
            self.n_previous = 0
            self._log("overlap ended", tuple(self.keys))
            return
        # What is previous has its slots until the overlap ends, however long that takes.
        gone[:p] = False
        if 2 * np.count_nonzero(gone) > len(gone) and not self._silent:
            dropped = self._named(gone)
            space = FeatureSpace(self._new_number(), dropped, "retired", self._opened_at, dropped)
            self._retire(space, gone, evolution)

    def _may_more_vanish(self, p: int) -> bool:
        """Whether the overlap has not lasted long enough to take what is left of the previous keys to stay."""
        times = self._presence.vanished_at[:p] - self._opened_at
        times = times[times >= 0]
        active = int(times.max(initial=0))
        quick = (1 + active) * self.patience ** (1 / (len(times) + 1))
        return bool(self.rounds + 1 - self._opened_at < min(quick, active + self.patience))

    def _merge(self, gone: Mask, p: int, evolution: Evolution) -> None:
        """Retire what has vanished; all that is alive is the current space."""
        dropped = self._named(gone)
        if gone[:p].any():
            fleeting = tuple(key for key, away in zip(self.keys[p:], gone[p:]) if away)
            keys, opened_at = (*self.keys[:p], *fleeting), self._previous_opened_at
            retired = FeatureSpace(self._previous_number, keys, "retired", opened_at, dropped)
        else:
            retired = FeatureSpace(self._number, tuple(self.keys[p:]), "retired", self._opened_at, dropped)
            self._number, self._opened_at = self._previous_number, self._previous_opened_at
        if dropped:
            self._retire(retired, gone, evolution)

    def _new_number(self) -> int:
        self._n_spaces += 1
        return self._n_spaces - 1

    def _retire(self, space: FeatureSpace, gone: Mask, evolution: Evolution) -> None:
        """Drop slots, and remember their keys as a retired space."""
        evolution.keep = ~gone
        seen = self._presence.seen(self.rounds + 1)[gone]
        usefulness = int(seen.sum())
        forgotten = []
        for earlier in {self._returnable[key][0] for key in space.vanished if key in self._returnable}:
            # The same keys in an earlier life: what is remembered now stands for both.
            if set(self._retired[earlier].space.vanished) <= set(space.vanished):
                usefulness += self._forget(earlier)
                forgotten.append(earlier)
        self._retired[space.number] = _Retired(space, usefulness)
        self._returnable.update((key, (space.number, i)) for i, key in enumerate(space.vanished))
        evolution.retired = space.number
        if len(self._retired) > self.max_spaces:
            least = min(self._retired, key=lambda number: self._retired[number].usefulness)
            self._forget(least)
            if least == space.number:
                evolution.retired = None
            else:
                forgotten.append(least)
        evolution.forgotten = tuple(forgotten)
        self._n_fleeting += int(np.count_nonzero(seen <= 2))
        self.keys = [self.keys[slot] for slot in np.flatnonzero(evolution.keep)]
        self._slots = {key: slot for slot, key in enumerate(self.keys)}
        self._presence.keep(evolution.keep)
        self._expect()

    def _forget(self, number: int) -> int:
        """Forget a retired space; how useful it was."""
        retired = self._retired.pop(number)
        for key in retired.space.vanished:
            if self._returnable.get(key, (None, 0))[0] == number:
                del self._returnable[key]
        return retired.usefulness

    def _expect(self) -> None:
        """Prepare for a sample that has just the keys that are alive."""
        self._alive = np.flatnonzero(~self._presence.gone)
        alive = [self.keys[slot] for slot in self._alive]
        self._values_of = operator.itemgetter(*alive) if len(alive) > 1 else None
        self._format = f"{len(alive)}d"

    # What a user looks at.

    @property
    def spaces(self) -> tuple[FeatureSpace, ...]:
        """The feature spaces, oldest first."""
        gone, p = self._presence.gone, self.n_previous
        spaces = [retired.space for retired in self._retired.values()]
        if p:
            spaces.append(
                FeatureSpace(
                    self._previous_number,
                    tuple(self.keys[:p]),
                    "previous",
                    self._previous_opened_at,
                    self._named(gone[:p]),
                )
            )
        if self.keys:
            vanished = tuple(key for key, away in zip(self.keys[p:], gone[p:]) if away)
            spaces.append(FeatureSpace(self._number, tuple(self.keys[p:]), "current", self._opened_at, vanished))
        return tuple(spaces)

    def retired(self, number: int) -> FeatureSpace:
        """The retired space of a number."""
        return self._retired[number].space

    @property
    def vanished(self) -> tuple[Key, ...]:
        """The keys that are regarded as gone: those of retired spaces first."""
        retired = [key for retired in self._retired.values() for key in retired.space.vanished]
        return (*(k for k in dict.fromkeys(retired) if k not in self._slots), *self._named(self._presence.gone))

    def _named(self, mask: Mask) -> tuple[Key, ...]:
        return tuple(self.keys[slot] for slot in np.flatnonzero(mask))

    def _log(self, kind: str, keys: tuple[Key, ...]) -> None:
        if keys:
            self.events.append(Event(self.rounds, kind, keys))


class _Presence:
    """When each slot was present and absent, and which ones are gone."""

    def __init__(self) -> None:
        self.any_open = False
        # The round in which it was clear that a key has vanished (-1: it is alive).
        self.vanished_at = np.zeros(0, dtype=np.int64)
        self._born = np.zeros(0, dtype=np.int64)
        # Rounds and number of the gaps that are over, and the round in which the open gap began (-1: none is open).
        self._absences = np.zeros(0, dtype=np.int64)
        self._gaps = np.zeros(0, dtype=np.int64)
        self._since = np.zeros(0, dtype=np.int64)
        # Log-probability of a gap as long as the open one, for a key that is absent at random and for one in spells.
        self._random = np.zeros(0)
        self._spell = np.zeros(0)

    @property
    def gone(self) -> Mask:
        gone: Mask = self.vanished_at >= 0
        return gone

    def extend(self, n: int, round_: int) -> None:
        for name, value in vars(self).items():
            if isinstance(value, np.ndarray):
                born = {"_born": round_, "_since": -1, "vanished_at": -1}.get(name, 0)
                setattr(self, name, np.append(value, np.full(n, born, dtype=value.dtype)))

    def keep(self, mask: Mask) -> None:
        for name, value in vars(self).items():
            if isinstance(value, np.ndarray):
                setattr(self, name, value[mask])

    def seen(self, round_: int) -> npt.NDArray[np.int64]:
        open_gap = np.where(self._since >= 0, round_ - self._since, 0)
        return round_ - self._born - self._absences - open_gap

    def weigh(self, present: Mask, round_: int, significance: float) -> tuple[Mask | None, Mask | None]:
        """Account for one round; which slots returned from the gone, and which have vanished (None: none)."""
        returned = vanished = None
        back = present & (self._since >= 0)
        if back.any():
            self._absences[back] += round_ - self._since[back]
            self._gaps[back] += 1
            self._since[back] = -1
            self._random[back] = self._spell[back] = 0.0
            if (back & self.gone).any():
                returned = back & self.gone
                self.vanished_at[back] = -1
        away = np.flatnonzero(~present & ~self.gone)
        self.any_open = len(away) > 0
        if self.any_open:
            since, absences, gaps = self._since[away], self._absences[away], self._gaps[away]
            since = self._since[away] = np.where(since < 0, round_, since)
            gap = round_ - since
            age = since - self._born[away]
            share = (absences + 1) / (age + 2)
            goes_on = (_SPELL_PRIOR * share + absences - gaps + gap - 1) / (_SPELL_PRIOR + absences + gap - 1)
            self._random[away] += np.log((absences + 1 + gap) / (age + 2 + gap))
            self._spell[away] += np.log(np.where(gap == 0, share, goes_on))
            limit = math.log(significance) if significance else -math.inf
            lost = away[np.maximum(self._random[away], self._spell[away]) < limit]
            if len(lost):
                vanished = np.zeros(len(present), dtype=bool)
                vanished[lost] = True
                self.vanished_at[lost] = round_
        return returned, vanished
