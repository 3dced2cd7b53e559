"""In which rounds does each key of a feature space exist?"""

from __future__ import annotations

import math
import random
from collections.abc import Iterable

from river.base.typing import FeatureName

from .evolving import Features


def steps(n: int, rounds: int) -> list[int]:
    """The steps, from 0 to `rounds`, at which n things move one by one, at an even pace.

    Examples
    --------
    >>> steps(4, rounds=7)
    [0, 2, 4, 6]

    >>> steps(4, rounds=1)
    [0, 0, 1, 1]

    """
    return [math.ceil((rank + 0.5) * (rounds + 1) / n) - 1 for rank in range(n)]


class Lives:
    """The life of each key of one feature space: from which round to which it exists.

    It decides about the keys that are known when the space opens and when it closes. A key
    that shows up later exists from that round on, and goes with the space.

    Parameters
    ----------
    rng
        Draws the order in which keys come and go.

    Attributes
    ----------
    end
        Round from which on no key exists, infinity as long as none is known.

    Examples
    --------
    >>> lives = Lives(random.Random(42))
    >>> x = {"a": 1, "b": 2, "c": 3}
    >>> lives.leave(x, start=5, end=7)
    >>> for t in range(5, 8):
    ...     print(t, lives.present(x, t))
    5 {'a': 1, 'c': 3}
    6 {'c': 3}
    7 {}

    >>> lives.arrive(x, start=9, rounds=2)
    >>> for t in range(8, 11):
    ...     print(t, lives.present(x, t))
    8 {}
    9 {'b': 2, 'c': 3}
    10 {'a': 1, 'b': 2, 'c': 3}

    """

    def __init__(self, rng: random.Random) -> None:
        self.end = math.inf
        self._rng = rng
        self._births: dict[FeatureName, int] = {}
        self._deaths: dict[FeatureName, float] = {}
        self._closing = math.inf

    def arrive(self, keys: Iterable[FeatureName], start: int, rounds: int) -> None:
        """Let keys that do not exist come one by one: the first at `start`, all within `rounds` rounds."""
        away = [key for key in {**self._births, **dict.fromkeys(keys)} if not self._exists(key, start)]
        self._rng.shuffle(away)
        self._deaths.clear()
        self._closing = self.end = math.inf
        for key, step in zip(away, steps(len(away), rounds - 1)):
            self._births[key] = start + step
        if away:
            self._births[away[0]] = start

    def leave(
        self,
        keys: Iterable[FeatureName],
        start: int,
        end: int,
        stay: float = 0.0,
        one_by_one: bool = True,
    ) -> None:
        """Let keys go, one by one from `start` on or all at `end`; a share of them may stay."""
        for key in keys:
            self._births.setdefault(key, start)
        leaving = [key for key in self._births if self._exists(key, start)]
        self._rng.shuffle(leaving)
        staying = [leaving.pop() for _ in range(round(stay * len(leaving)))]
        self._closing = end
        self.end = math.inf if staying else end
        self._deaths.update(dict.fromkeys(staying, math.inf))
        self._deaths.update(dict.fromkeys(leaving, end))
        if one_by_one:
            for key, step in zip(leaving[:-1], steps(len(leaving), end - start)):
                self._deaths[key] = start + step

    def present(self, x: Features, t: int) -> Features:
        """The part of a sample that exists in round `t`."""
        for key in x:
            self._births.setdefault(key, t)
        return {key: value for key, value in x.items() if self._exists(key, t)}

    def _exists(self, key: FeatureName, t: int) -> bool:
        return self._births.get(key, math.inf) <= t < self._deaths.get(key, self._closing)
