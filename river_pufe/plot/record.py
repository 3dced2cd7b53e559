"""What is kept of a stream that flows by, so that it can be looked at afterwards?

Records of bounded size, whatever the length of the stream and the number of its keys.
"""

from __future__ import annotations

import typing
from collections.abc import Iterator

import numpy as np

from ..recovery.evolution import Event
from ..values import Array, Key, Sample, is_there


class Series:
    """Rounds and what was noted in them, thinned out so that no more than `limit` are kept.

    **When to use it.** To note something about a model while a stream flows, and draw it afterwards with `metric` or
    `weights`, without the steps of `river.evaluate.iter_progressive_val_score`.

    Adding costs O(1). Once the limit is reached every other note is dropped, and from then on every other one ignored.

    Parameters
    ----------
    limit
        How many notes are kept.

    Examples
    --------
    >>> from river_pufe import plot
    >>> series = plot.Series(limit=4)
    >>> for t in range(10):
    ...     series.add(t, t**2)
    >>> list(series)
    [(0, 0), (4, 16), (8, 64), (9, 81)]

    """

    def __init__(self, limit: int = 1000) -> None:
        if limit < 2:
            raise ValueError(f"limit is a number of notes, 2 or more, not {limit!r}")
        self.limit = limit
        self._notes: list[tuple[int, typing.Any]] = []
        self._stride = 1
        self._n = 0
        self._latest: tuple[int, typing.Any] | None = None

    @property
    def due(self) -> bool:
        """Whether the next note will be kept; a value that is costly need not be computed otherwise."""
        return self._n % self._stride == 0

    def skip(self) -> None:
        """Leave a round out that is not due."""
        self._n += 1

    def add(self, round_: int, value: typing.Any) -> None:
        """Note a value in a round."""
        self._latest = (round_, value)
        if self._n % self._stride == 0:
            if len(self._notes) == self.limit:
                del self._notes[1::2]
                self._stride *= 2
            if self._n % self._stride == 0:
                self._notes.append(self._latest)
        self._n += 1

    def __iter__(self) -> Iterator[tuple[int, typing.Any]]:
        yield from self._notes
        if self._latest is not None and self._notes[-1] is not self._latest:
            yield self._latest

    def __len__(self) -> int:
        return sum(1 for _ in self)


class Presence:
    """When each key of a stream was there, in a raster of bounded size.

    **When to use it.** To fill the raster while a stream flows by, and draw it afterwards with `presence`. For a stream
    that can be iterated `presence` does both.

    A sample costs O(number of its keys), memory is O(`max_keys` · `n_buckets`). A column of the raster stands for one
    round at first; whenever it is full, pairs of columns become one. When there are too many keys, the half of them
    that was seen least is counted together from then on.

    Parameters
    ----------
    n_buckets
        Number of columns.
    max_keys
        Largest number of keys that have a row of their own.
    start
        Number of the first round, for a model that has seen samples before.

    Attributes
    ----------
    rounds
        Number of samples seen, those before the start included.
    width
        Rounds per column.

    Examples
    --------
    >>> from river_pufe import plot
    >>> record = plot.Presence()
    >>> for t in range(8):
    ...     record.update({"a": 1.0} if t < 4 else {"a": None, "b": 2.0})
    >>> record.keys
    ('a', 'b')
    >>> record.shares()
    array([[1., 1., 1., 1., 0., 0., 0., 0.],
           [0., 0., 0., 0., 1., 1., 1., 1.]])
    >>> record.seen("b")
    (4, 7, 4)

    """

    def __init__(self, n_buckets: int = 512, max_keys: int = 256, start: int = 0) -> None:
        if n_buckets < 2 or n_buckets % 2:
            raise ValueError(f"n_buckets is an even number of columns, 2 or more, not {n_buckets!r}")
        if max_keys < 1:
            raise ValueError(f"max_keys is a number of rows, 1 or more, not {max_keys!r}")
        self.n_buckets = n_buckets
        self.max_keys = max_keys
        self.start = start
        self.rounds = start
        self.width = 1
        self._n_others = 0
        # The keys of the latest sample, the first round that is not entered yet, and the end of the column it is in.
        self._there: list[Key] = []
        self._flushed, self._full = start, start + 1
        self._rows: dict[Key, int] = {}
        self._counts = np.zeros((16, n_buckets))
        self._others = np.zeros(n_buckets)
        # First and last round of each row, and the number of rounds in which its key was there.
        self._lives = np.zeros((16, 3), dtype=np.int64)

    def update(self, x: Sample) -> None:
        """Take the keys of a sample into account; those whose value is None or NaN are not there."""
        # Most values are floats.
        self.note([key for key, value in x.items() if (value == value if type(value) is float else is_there(value))])

    def note(self, there: list[Key]) -> None:
        """Take a sample into account of which the keys that are there are known."""
        # Most samples have the keys of the one before: those are only counted.
        if there != self._there:
            self._flush()
            self._there = there
        elif self.rounds == self._full:
            self._flush()
        self.rounds += 1

    def _flush(self) -> None:
        """Enter the samples with equal keys that were only counted so far."""
        start, end = self._flushed, self.rounds
        self._flushed = end
        self._full = self.start + ((end - self.start) // self.width + 1) * self.width
        if start == end:
            return
        if start - self.start == self.n_buckets * self.width:
            self._widen()
        column = (start - self.start) // self.width
        self._full = self.start + ((end - self.start) // self.width + 1) * self.width
        rows = [self._rows[key] if key in self._rows else self._add(key, start) for key in self._there]
        self._counts[rows, column] += end - start
        self._lives[rows, 1] = end - 1
        self._lives[rows, 2] += end - start
        if len(self._rows) > self.max_keys:
            self._drop()

    def _add(self, key: Key, round_: int) -> int:
        row = self._rows[key] = len(self._rows)
        if row == len(self._counts):
            self._counts = np.concatenate((self._counts, np.zeros_like(self._counts)))
            self._lives = np.concatenate((self._lives, np.zeros_like(self._lives)))
        self._lives[row, 0] = round_
        return row

    def _widen(self) -> None:
        self.width *= 2
        half = self.n_buckets // 2
        for counts in (self._counts, self._others):
            counts[..., :half] = counts[..., ::2] + counts[..., 1::2]
            counts[..., half:] = 0

    def _drop(self) -> None:
        """Give up rows, so that there is room for a while: the keys seen least, of these those seen longest ago."""
        n = len(self._rows)
        order = np.lexsort((self._lives[:n, 1], self._lives[:n, 2]))
        keep = np.sort(order[n - (self.max_keys + 1) // 2 :])
        self._others += self._counts[:n].sum(0) - self._counts[keep].sum(0)
        self._n_others += n - len(keep)
        keys = list(self._rows)
        self._rows = {keys[row]: i for i, row in enumerate(keep)}
        self._counts[: len(keep)], self._lives[: len(keep)] = self._counts[keep], self._lives[keep]
        self._counts[len(keep) :], self._lives[len(keep) :] = 0, 0

    @property
    def n_others(self) -> int:
        """Number of keys, possibly counted several times, that have no row of their own."""
        self._flush()
        return self._n_others

    @property
    def keys(self) -> tuple[Key, ...]:
        """The keys that have a row, in the order in which they were first seen."""
        self._flush()
        return tuple(self._rows)

    @property
    def edges(self) -> Array:
        """Rounds between which each column lies, shape (columns + 1,)."""
        edges: Array = np.append(np.arange(float(self.start), self.rounds, self.width), self.rounds)
        return edges

    def shares(self) -> Array:
        """Share of the rounds of each column in which each key was there, shape (keys, columns)."""
        n = len(self.keys)
        return self._counts[:n, : len(self.edges) - 1] / np.diff(self.edges)

    def others(self) -> Array:
        """Number of keys per round that have no row of their own, shape (columns,)."""
        self._flush()
        return self._others[: len(self.edges) - 1] / np.diff(self.edges)

    def seen(self, key: Key) -> tuple[int, int, int]:
        """First round, last round, and number of rounds in which a key was there."""
        self._flush()
        first, last, n = self._lives[self._rows[key]].tolist()
        return first, last, n


class Timeline:
    """All events of a stream, in memory of bounded size.

    **When to use it.** On long streams: a model remembers its latest events only.

    An event costs O(1) amortized. When more than `limit` rounds have events of a kind, those in neighbouring rounds
    become one, then those of four rounds, and so on: a picture does not show the difference.

    Parameters
    ----------
    limit
        Largest number of rounds that are kept for each kind of event.
    start
        Number of the first round.

    Examples
    --------
    >>> from river_pufe import plot
    >>> from river_pufe.recovery.evolution import Event
    >>> timeline = plot.Timeline(limit=4)
    >>> for t in range(100, 110):
    ...     timeline.add(Event(t, "returned", ("a",)))
    >>> timeline.rounds("returned")
    [100, 104, 108]

    """

    def __init__(self, limit: int = 512, start: int = 0) -> None:
        if limit < 2:
            raise ValueError(f"limit is a number of rounds, 2 or more, not {limit!r}")
        self.limit = limit
        self.start = start
        self._rounds: dict[str, list[int]] = {}
        self._widths: dict[str, int] = {}
        self._overlaps: list[tuple[int, int | None]] = []
        self._gap = 1

    def add(self, event: Event) -> None:
        """Take an event into account."""
        if event.kind == "overlap began":
            self._overlaps.append((event.round, None))
            self._merge()
        elif event.kind == "overlap ended":
            if self._overlaps:  # The beginning may have been before the start.
                self._overlaps[-1] = (self._overlaps[-1][0], event.round)
        else:
            self._add(event.kind, event.round)

    def _add(self, kind: str, round_: int) -> None:
        rounds, width = self._rounds.setdefault(kind, []), self._widths.setdefault(kind, 1)
        round_ = round_ // width * width
        if not rounds or round_ > rounds[-1]:
            rounds.append(round_)
        while len(rounds) > self.limit:
            width = self._widths[kind] = 2 * width
            rounds[:] = sorted({round_ // width * width for round_ in rounds})

    def _merge(self) -> None:
        """Make one of overlaps with little between them, if there are too many."""
        while len(self._overlaps) > self.limit:
            merged = self._overlaps[:1]
            for start, end in self._overlaps[1:]:
                before = merged[-1][1]
                if before is not None and start - before < self._gap:
                    merged[-1] = (merged[-1][0], end)
                else:
                    merged.append((start, end))
            self._gap *= 1 + (len(merged) > self.limit)
            self._overlaps = merged

    def rounds(self, kind: str) -> list[int]:
        """Rounds in which there were events of a kind, ascending."""
        return list(self._rounds.get(kind, ()))

    @property
    def overlaps(self) -> list[tuple[int, int | None]]:
        """Rounds between which keys of two spaces were alive, None for the end of one that goes on."""
        return list(self._overlaps)
