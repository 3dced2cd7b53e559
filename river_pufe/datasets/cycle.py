"""How does one feature space take the place of another?"""

from __future__ import annotations

import abc
import bisect
import collections
import dataclasses
from collections.abc import Iterator
from typing import Any, Protocol

from .evolving import EvolvingStream, Features, is_count, require
from .lives import Lives


@dataclasses.dataclass(frozen=True)
class Cycle:
    """Feature spaces one after another, each change announced by an overlap.

    This is the schedule of the paper, without any data: the streams of this package that go through feature
    spaces take one as a parameter. A space opens `overlap` rounds before the one before it has gone. In these
    rounds both are seen, though of the old one less and less: its keys vanish one by one, in random order.

    **When to use it.** With different parameters it is each setting of the literature that knows of feature
    spaces: PUFE[^1] as it stands; FESL[^2], whose streams are called feature evolvable, with
    `unpredictable=False`; OPID[^3], in which the new space shares features with the old one instead of
    rounds, with `overlap=0, survivors=0.5`; and a change without warning with `overlap=0`.

    Parameters
    ----------
    n_spaces
        Number of feature spaces.
    period
        Rounds from one change to the next. The last space lives on. By default the length of the stream is
        shared evenly.
    overlap
        Rounds before each change in which keys of both spaces are seen.
    unpredictable
        Whether the old keys vanish one by one during the overlap, so that the share which is left falls
        linearly, down to one key. Otherwise they all last until the change.
    survivors
        Share of the keys of a space that outlive it. They go with the next space.
    emergence
        Rounds in which the keys of a new space arrive, one by one. With 1 they all arrive at once.
    n_changes
        Number of changes. By default each space is seen once; with more changes the first space comes back
        after the last one, and so on.

    Examples
    --------
    >>> from river_pufe import datasets

    >>> cycle = datasets.Cycle(n_spaces=2, n_changes=3, period=400)
    >>> cycle.changes()
    (400, 800, 1200)

    >>> datasets.Cycle(n_spaces=3).changes(n_samples=1_500)
    (500, 1000)

    References
    ----------
    [^1]: [Hou, B.J., Zhang, L. and Zhou, Z.H., 2021. Prediction with unpredictable feature evolution. IEEE
        Transactions on Neural Networks and Learning Systems.](https://arxiv.org/abs/1904.12171)
    [^2]: [Hou, B.J., Zhang, L. and Zhou, Z.H., 2017. Learning with feature evolvable streams. Advances in
        Neural Information Processing Systems,
        30.](https://papers.neurips.cc/paper/2017/hash/7634ea65a4e6d9041cfd3f7de18e334a-Abstract.html)
    [^3]: [Hou, C. and Zhou, Z.H., 2018. One-pass learning with incremental and decremental features. IEEE
        Transactions on Pattern Analysis and Machine Intelligence, 40(11).](https://arxiv.org/abs/1605.09082)

    """

    n_spaces: int = 2
    period: int | None = None
    overlap: int = 20
    unpredictable: bool = True
    survivors: float = 0.0
    emergence: int = 1
    n_changes: int | None = None

    def __post_init__(self) -> None:
        require(is_count(self.n_spaces, 2), "n_spaces", "a whole number, 2 or more", self.n_spaces)
        require(is_count(self.overlap, 0), "overlap", "a whole number, 0 or more", self.overlap)
        require(0 <= self.survivors <= 1, "survivors", "between 0 and 1", self.survivors)
        require(is_count(self.emergence, 1), "emergence", "a whole number, 1 or more", self.emergence)
        if self.n_changes is not None:
            least = self.n_spaces - 1
            require(is_count(self.n_changes, least), "n_changes", f"{least} or more", self.n_changes)
        if self.period is not None:
            require(is_count(self.period, 1), "period", "a whole number, 1 or more", self.period)
            self.changes()

    def changes(self, n_samples: int | None = None) -> tuple[int, ...]:
        """Rounds from which on a space has gone.

        Parameters
        ----------
        n_samples
            Length of the stream, only needed without a period.

        """
        n_changes = self.n_changes or self.n_spaces - 1
        period = self.period
        if period is None:
            if n_samples is None:
                raise ValueError("period must be given, because the length of the data set is unknown")
            period = n_samples // (n_changes + 1)
        require(self.overlap < period, "overlap", f"less than the period, {period}", self.overlap)
        require(self.emergence <= period, "emergence", f"at most the period, {period}", self.emergence)
        return tuple(period * i for i in range(1, n_changes + 1))


def feature_names(space: int, n: int) -> list[str]:
    """Names for the features of a made-up space, which no two spaces share."""
    return [f"s{space}_{j}" for j in range(n)]


class Readings(Protocol):
    """What each space reads in one round."""

    def __getitem__(self, space: int, /) -> Features: ...


class CycleStream(EvolvingStream):
    """A stream that goes through feature spaces; where their readings come from is for a subclass to say."""

    cycle: Cycle

    @abc.abstractmethod
    def _rounds(self) -> Iterator[tuple[Readings, Features, Any]]:
        """What the spaces read, the features that no change touches, and the label of each round.

        A space is read for the first time in the round in which it opens.

        """

    @property
    def _openings(self) -> list[int]:
        return [change - self.cycle.overlap for change in self.changes]

    def __iter__(self) -> Iterator[tuple[Features, Any]]:
        cycle, rng = self.cycle, self._rng("lives")
        phases = {t: phase for phase, t in enumerate(self._openings, start=1)}
        lives: dict[int, Lives] = collections.defaultdict(lambda: Lives(rng))
        spaces = [0]  # those that still have keys, the newest one last
        for t, (readings, untouched, y) in enumerate(self._rounds()):
            if phase := phases.get(t):
                change = t + cycle.overlap
                opening = phase % cycle.n_spaces
                closing = [space for space in spaces if space != opening]
                for space in closing:
                    stay = cycle.survivors if space == spaces[-1] else 0.0
                    lives[space].leave(readings[space], t, change, stay, one_by_one=cycle.unpredictable)
                lives[opening].arrive(readings[opening], t, cycle.emergence)
                spaces = [*closing, opening]
            spaces = [space for space in spaces if lives[space].end > t]
            x = dict(untouched)
            for space in spaces:
                x.update(lives[space].present(readings[space], t))
            yield x, y

    def truth(self) -> Iterator[Features]:
        for t, (readings, untouched, _) in enumerate(self._rounds()):
            opened = min(1 + bisect.bisect_right(self._openings, t), self.cycle.n_spaces)
            x = dict(untouched)
            for space in range(opened):
                x.update(readings[space])
            yield x
