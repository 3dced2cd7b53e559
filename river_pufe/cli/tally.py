"""How often was which class predicted for which, and how did the probabilities rank them?"""

from __future__ import annotations

import collections
import typing
from collections.abc import Mapping, Sequence

import numpy as np
from river import metrics

from .ranking import Ranking

_FULL = 1024


#: The class of a sample, the one that was decided on, and the probability of the first class.
Judged = tuple[typing.Any, typing.Any, float]


class Counts:
    """Samples, counted: from these counts River computes its metrics when it is asked, not at each sample.

    Parameters
    ----------
    first
        The class whose probabilities are ranked.

    """

    def __init__(self, first: typing.Any) -> None:
        self._first = first
        self._pairs: collections.Counter[tuple[typing.Any, typing.Any]] = collections.Counter()
        self.ranking = Ranking()

    def add(self, samples: Sequence[Judged], n: int = 1) -> None:
        """Count samples; with n = -1 take them back."""
        for pair, times in collections.Counter((y, label) for y, label, _ in samples).items():
            self._pairs[pair] += n * times
        are_first = np.array([y == self._first for y, _, _ in samples], dtype=bool)
        self.ranking.add(are_first, np.array([p for _, _, p in samples], dtype=float), n)

    @property
    def confusion(self) -> metrics.ConfusionMatrix:
        """The confusion matrix, as River's metrics take it."""
        matrix = metrics.ConfusionMatrix()
        for (y, label), n in self._pairs.items():
            if n:
                matrix.update(y, label, w=float(n))
        matrix.n_samples = int(matrix.total_weight)
        return matrix


class Tally:
    """The counts of all samples and of the latest ones.

    A sample costs O(1): it is put aside, and counted together with others, at the latest when somebody asks.

    Parameters
    ----------
    window
        How many samples are the latest ones.
    first
        The class whose probabilities are ranked; None: that of the first sample.

    Examples
    --------
    >>> from river_pufe.cli.tally import Tally
    >>> tally = Tally(window=2)
    >>> for y, label, p in (("ok", "ok", 0.9), ("fault", "ok", 0.8), ("fault", "fault", 0.2)):
    ...     tally.add(y, label, {"ok": p, "fault": 1 - p})
    >>> tally.all.confusion["fault"]["ok"], tally.latest.confusion["ok"]["ok"]
    (1.0, 0.0)
    >>> tally.all.ranking.n, tally.latest.ranking.n
    (3, 2)

    """

    def __init__(self, window: int, first: typing.Any = None) -> None:
        self._window, self._first = window, first
        self._waiting: list[Judged] = []
        self._queue: collections.deque[Judged] = collections.deque()
        self._all, self._latest = Counts(first), Counts(first)

    def add(self, y: typing.Any, label: typing.Any, probabilities: Mapping[typing.Any, float]) -> None:
        """Take a sample into account: its class, the class decided on, and the probabilities of classes."""
        if self._first is None:
            self._first = y
            self._all, self._latest = Counts(y), Counts(y)
        self._waiting.append((y, label, probabilities.get(self._first, 0.0)))
        if len(self._waiting) == _FULL:
            self._count()

    def _count(self) -> None:
        if not self._waiting:
            return
        samples, self._waiting = self._waiting, []
        self._all.add(samples)
        if len(samples) >= self._window:
            # None of those before is among the latest ones any more.
            samples = samples[-self._window :]
            self._queue.clear()
            self._latest = Counts(self._first)
        self._latest.add(samples)
        self._queue.extend(samples)
        if len(self._queue) > self._window:
            self._latest.add([self._queue.popleft() for _ in range(len(self._queue) - self._window)], n=-1)

    @property
    def first(self) -> typing.Any:
        """The class whose probabilities are ranked; None as long as it is not known."""
        return self._first

    @property
    def all(self) -> Counts:
        """Counts of all samples."""
        self._count()
        return self._all

    @property
    def latest(self) -> Counts:
        """Counts of the latest samples."""
        self._count()
        return self._latest
