"""Which keys form which feature space, decided from the keys alone?"""

from __future__ import annotations

import collections
import dataclasses
import math
import warnings
from collections.abc import Iterable

import numpy as np

from ..part import Part
from ..values import Array, Key, Mask, Sample
from .evolution import UNCHANGED, Event, Evolution, FeatureSpace
from .presence import Presence
from .rows import RowReader

#: Number of keys seen once or twice and never again at which the user is warned, once.
_FLEETING = 100
_N_EVENTS = 500


@dataclasses.dataclass
class _Retired:
    space: FeatureSpace
    usefulness: int


class FeatureSpaces(Part):
    """Feature spaces of a stream of dicts, found from their keys.

    Every known key has a slot, its position in a row. The first space collects keys for `grace` samples. After that
    the first sample with unknown keys opens a space: its keys are the *current* ones, the older ones the *previous*
    ones, and an overlap begins. Further new keys join it. The overlap ends when the last previous key has vanished
    (the new keys replaced the old ones), or when no previous key has vanished for so long that none is expected to
    (those that are left are part of the current space: the new keys joined them). Until then no previous key is
    dropped. Apart from that, keys that have vanished are dropped once they are more than half of all.

    `Presence` decides when a key has vanished; a key that is seen again is alive again.

    Reading costs O(d), the decision O(number of keys that come, go or have to be judged).

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
    >>> from river_pufe.recovery.spaces import FeatureSpaces
    >>> spaces = FeatureSpaces(grace=1)
    >>> for _ in range(100):
    ...     _ = spaces.advance({"a": 1.0, "b": 2.0})
    >>> for _ in range(4):
    ...     _ = spaces.advance({"b": 2.0, "c": 3.0})
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

        self.n_previous = 0
        self.rounds = 0
        self.events: collections.deque[Event] = collections.deque(maxlen=_N_EVENTS)
        self._opened_at = self._previous_opened_at = 0
        self._number = self._previous_number = 0
        self._n_spaces = 1
        self._retired: dict[int, _Retired] = {}
        self._returnable: dict[Key, tuple[int, int]] = {}
        # Keys that are those of other sensors now.
        self._replaced: list[Key] = []
        self._n_fleeting = 0
        self._warned = False
        # The round from which on an overlap may end, or slots be dropped, though no key vanishes.
        self._settles_at = math.inf
        self._presence = Presence()
        self._reader = RowReader(absent)

    @property
    def keys(self) -> list[Key]:
        return self._reader.keys

    # Reading is pure.

    def read(self, x: Sample) -> Array:
        """Row of a sample over the known slots, shape (d,), NaN where a key is absent (0 if it means that).

        Raises
        ------
        ValueError
            If a value is not a finite number, also under a key that is not known.

        """
        return self._reader.read(x, self._presence.gone)[0]

    def expects(self, keys: list[Key]) -> bool:
        """Whether a sample of these keys changes nothing, if each slot is among them and has a value."""
        same = not self.n_previous and self._presence.all_present and len(keys) == len(self.keys)
        return same and not self._must_warn

    def columns(self, keys: list[Key]) -> list[int] | None:
        """Columns of the slots in samples of some keys; None if one of the slots has none."""
        return self._reader.columns(keys)

    # Observing moves the state.

    def advance_many(self, n: int) -> None:
        """Account for n samples that change nothing."""
        self.rounds += n

    def advance(self, x: Sample) -> tuple[Evolution, Array]:
        """Account for the keys of a sample.

        Returns
        -------
        What changed, and the row of the sample over the slots as they are before any is dropped.

        Raises
        ------
        ValueError
            As `read`; nothing has changed then.

        """
        row, values, unknown = self._reader.read(x, self._presence.gone)
        if self._must_warn:
            self._warn()
        evolution = UNCHANGED
        if unknown:
            evolution = self._open(list(unknown))
            new = list(unknown.values())
            row, values = np.append(row, new), np.append(values, new)
        if self._account(values) or unknown or self.rounds >= self._settles_at:
            evolution = self._settle(evolution)
        if self._replaced and evolution.keep is None:
            evolution = self._begin_anew(evolution)
        self.rounds += 1
        return dataclasses.replace(evolution, spaces=self.spaces) if evolution is not UNCHANGED else UNCHANGED, row

    @property
    def _must_warn(self) -> bool:
        return self._n_fleeting >= _FLEETING and not self._warned

    def _warn(self) -> None:
        """Tell the user, once, what the keys should not be like: before a sample, so that nothing is half done."""
        self._warned = True
        warnings.warn(
            f"{self._n_fleeting} keys were seen once or twice and never again. Feature spaces are made of keys "
            "that live for a while: select or hash one-off keys (ids, rare words) first.",
            stacklevel=3,
        )

    def _open(self, unknown: list[Key]) -> Evolution:
        origins = tuple(self._returnable.get(key) for key in unknown)
        for kind, returned in (("opened", False), ("returned", True)):
            self._log(kind, tuple(k for k, origin in zip(unknown, origins) if bool(origin) is returned))
        overlap = self.n_previous == 0 and bool(self.keys) and self.rounds >= self.grace
        if overlap:
            self.n_previous = len(self.keys)
            self._previous_opened_at, self._opened_at = self._opened_at, self.rounds
            self._previous_number, self._number = self._number, self._new_number()
            self._log("overlap began", tuple(self.keys))
        self._reader.extend(unknown)
        self._presence.extend(len(unknown), self.rounds)
        return Evolution(opened=len(unknown), overlap=overlap, origins=origins)

    def _account(self, values: Array) -> bool:
        """Whether a key has vanished or returned."""
        returned, vanished = self._presence.update(values, self.rounds, self.significance)
        if not (returned or vanished):
            return False
        self._log("returned", self._named(returned))
        self._log("vanished", self._named(vanished))
        return True

    def _settle(self, evolution: Evolution) -> Evolution:
        """End an overlap when the evidence is in, and drop what is gone for good."""
        gone, p = self._presence.gone, self.n_previous
        self._settles_at = self._ends_at(p) if p else math.inf
        if p and (gone[:p].all() or gone[p:].all() or self.rounds >= self._settles_at):
            evolution = dataclasses.replace(evolution, settled=True, replaced=bool(gone[:p].all()))
            # If every key is gone, keep the space: nothing is left to recover it from.
            if not gone.all():
                evolution = self._merge(gone, p, evolution)
            self.n_previous = 0
            self._settles_at = math.inf
            self._log("overlap ended", tuple(self.keys))
            return evolution
        # What is previous has its slots until the overlap ends, however long that takes.
        droppable = gone.copy()
        droppable[:p] = False
        if 2 * np.count_nonzero(droppable) > len(gone):
            if not self._presence.present.any():
                # A sample without features does not tell which of them will be back.
                self._settles_at = self.rounds
                return evolution
            dropped = self._named(np.flatnonzero(droppable))
            space = FeatureSpace(self._new_number(), dropped, "retired", self._opened_at, dropped)
            evolution = self._retire(space, droppable, evolution)
        return evolution

    def replace(self, key: Key) -> None:
        """Another sensor has taken a key: its slot retires with the next sample, and the one after opens a new one."""
        self._replaced.append(key)

    def _begin_anew(self, evolution: Evolution) -> Evolution:
        """Retire the slots of keys that other sensors have taken."""
        keys = tuple(key for key in self._replaced if key in self._reader.slots)
        self._replaced = []
        gone = np.isin(np.arange(len(self.keys)), [self._reader.slots[key] for key in keys])
        # Nothing is dropped during an overlap, and what is left must be able to recover it.
        if self.n_previous or not keys or gone.all():
            return evolution
        space = FeatureSpace(self._new_number(), keys, "retired", self._opened_at, keys)
        evolution = self._retire(space, gone, evolution)
        for key in keys:
            self._returnable.pop(key, None)
        self._log("replaced", keys)
        return evolution

    def _ends_at(self, p: int) -> float:
        """The round in which an overlap has lasted long enough to take what is left of the previous keys to stay."""
        times = self._presence.vanished_at[:p] - self._opened_at
        times = times[times >= 0]
        active = int(times.max(initial=0))
        quick = (1 + active) * self.patience ** (1 / (len(times) + 1))
        return float(self._opened_at + min(quick, active + self.patience) - 1)

    def _merge(self, gone: Mask, p: int, evolution: Evolution) -> Evolution:
        """Retire what has vanished; all that is alive is the current space."""
        dropped = self._named(np.flatnonzero(gone))
        if gone[:p].any():
            fleeting = tuple(key for key, away in zip(self.keys[p:], gone[p:]) if away)
            keys, opened_at = (*self.keys[:p], *fleeting), self._previous_opened_at
            retired = FeatureSpace(self._previous_number, keys, "retired", opened_at, dropped)
        else:
            retired = FeatureSpace(self._number, tuple(self.keys[p:]), "retired", self._opened_at, dropped)
            self._number, self._opened_at = self._previous_number, self._previous_opened_at
        return self._retire(retired, gone, evolution) if dropped else evolution

    def _new_number(self) -> int:
        self._n_spaces += 1
        return self._n_spaces - 1

    def _retire(self, space: FeatureSpace, gone: Mask, evolution: Evolution) -> Evolution:
        """Drop slots, and remember their keys as a retired space."""
        remembered: int | None = space.number
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
        if len(self._retired) > self.max_spaces:
            least = min(self._retired, key=lambda number: self._retired[number].usefulness)
            self._forget(least)
            if least == space.number:
                remembered = None
            else:
                forgotten.append(least)
        self._n_fleeting += int(np.count_nonzero(seen <= 2))
        self._reader.keep(~gone)
        self._presence.keep(~gone)
        return dataclasses.replace(evolution, keep=~gone, retired=remembered, forgotten=tuple(forgotten))

    def _forget(self, number: int) -> int:
        """Forget a retired space; how useful it was."""
        retired = self._retired.pop(number)
        for key in retired.space.vanished:
            if self._returnable.get(key, (None, 0))[0] == number:
                del self._returnable[key]
        return retired.usefulness

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
                    self._named(np.flatnonzero(gone[:p])),
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
        return (
            *(k for k in dict.fromkeys(retired) if k not in self._reader.slots),
            *self._named(np.flatnonzero(self._presence.gone)),
        )

    def _named(self, slots: Iterable[int]) -> tuple[Key, ...]:
        return tuple(self.keys[slot] for slot in slots)

    def _log(self, kind: str, keys: tuple[Key, ...]) -> None:
        if keys:
            self.events.append(Event(self.rounds, kind, keys))
