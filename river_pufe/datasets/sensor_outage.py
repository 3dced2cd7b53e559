"""What if a few sensors were added, lost, or out of order for a while?"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from river.base.typing import FeatureName

from .evolving import Features, Source, StreamWrapper, is_count, require


class SensorOutage(StreamWrapper):
    """A few keys are away for a while, or for good; the others stay.

    With `start=0` sensors are added at the end of the outage, without a `stop` they are lost for good, and
    else they come back. No feature space is replaced: it is one that loses or wins a few features, as in an
    evolvable stream[^1] with many survivors.

    **When to use it.** To see that a model does not give up what it knows because of one sensor.

    Parameters
    ----------
    dataset
        Any data set of River, or anything else that yields pairs `(x, y)` each time it is iterated.
    start
        First round, counted from 0, of the outage.
    stop
        First round after the outage. Without one the keys never come back.
    keys
        The keys that are away, or how many of them to draw from those seen until the outage starts.
    seed
        Random seed of the draw. Without one, it is drawn when the stream is made.

    Attributes
    ----------
    changes
        The rounds in which keys go or come back, and those of the data set, if it is an evolving stream
        itself.

    Examples
    --------
    >>> from river.datasets import TrumpApproval
    >>> from river_pufe import datasets

    >>> dataset = datasets.SensorOutage(TrumpApproval(), start=1, stop=3, keys=["gallup", "ipsos"])
    >>> for x, _ in dataset.take(4):
    ...     print(*x)
    ordinal_date gallup ipsos morning_consult rasmussen you_gov
    ordinal_date morning_consult rasmussen you_gov
    ordinal_date morning_consult rasmussen you_gov
    ordinal_date gallup ipsos morning_consult rasmussen you_gov

    Outages add up.

    >>> datasets.SensorOutage(dataset, start=500).changes
    (1, 3, 500)

    References
    ----------
    [^1]: [Hou, C. and Zhou, Z.H., 2018. One-pass learning with incremental and decremental features. IEEE
        Transactions on Pattern Analysis and Machine Intelligence, 40(11).](https://arxiv.org/abs/1605.09082)

    """

    def __init__(
        self,
        dataset: Source,
        start: int = 0,
        stop: int | None = None,
        keys: int | Collection[FeatureName] = 1,
        seed: int | None = None,
    ) -> None:
        super().__init__(dataset, seed)
        require(is_count(start, 0), "start", "a whole number, 0 or more", start)
        if stop is not None:
            require(is_count(stop, start + 1), "stop", f"a whole number after start, {start}", stop)
        rule = "a number of keys, 1 or more, or a collection of them"
        require(
            is_count(keys, 1) or (isinstance(keys, Collection) and not isinstance(keys, str)),
            "keys",
            rule,
            keys,
        )
        self.start = start
        self.stop = stop
        self.keys = keys
        self.changes = tuple(sorted({*self.changes, *filter(None, (start, stop))}))

    def __iter__(self) -> Iterator[tuple[Features, Any]]:
        known: Features = {}
        away: Collection[FeatureName] = ()
        for t, (x, y) in enumerate(self.dataset):
            if t <= self.start:
                known.update(x)
            if t == self.start:
                away = self._draw(list(known))
            elif t == self.stop:
                away = ()
            yield {name: value for name, value in x.items() if name not in away}, y

    def _draw(self, known: list[FeatureName]) -> frozenset[FeatureName]:
        if isinstance(self.keys, Collection):
            return frozenset(self.keys)
        require(self.keys < len(known), "keys", f"less than the {len(known)} seen so far", self.keys)
        return frozenset(self._rng("keys").sample(known, self.keys))
