"""What if sensors were only ever added?"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

from river.base.typing import FeatureName

from .evolving import Features, Source, StreamWrapper, is_count, require
from .lives import steps


class TrapezoidalStream(StreamWrapper):
    """Keys are only ever added, one by one or in a few steps.

    The stream begins with one key, and the share of the keys that are seen rises linearly, or as `shares` say. None
    ever goes. The data matrix grows in both directions, hence the name[^1].

    **When to use it.** To see that a model learns from new sensors without losing what it knows of the old
    ones: there is nothing to recover, so it should be no worse than a model that takes keys as they come.

    It concerns the keys of the first sample. Others are seen as soon as they are there.

    Parameters
    ----------
    dataset
        Any data set of River, or anything else that yields pairs `(x, y)` each time it is iterated.
    period
        Rounds in which all keys arrive, by default the length of the stream.
    seed
        Random seed. Without one, it is drawn when the stream is made.
    shares
        Shares of the keys that are seen in equal parts of the period, none smaller than the one before; one key is seen
        at least. Those of the paper are .1, .2 and so on, and .5, .6 and so on. None: one key after another.
    shuffle
        Whether the order in which they arrive is drawn. Otherwise it is that of the first sample.

    Attributes
    ----------
    changes
        Those of the data set, if it is an evolving stream itself.

    Examples
    --------
    >>> from river.datasets import TrumpApproval
    >>> from river_pufe import datasets

    >>> dataset = datasets.TrapezoidalStream(TrumpApproval(), seed=42)
    >>> for t, (x, _) in enumerate(dataset):
    ...     if t % 250 == 0:
    ...         print(t, *x)
    0 ipsos
    250 ipsos rasmussen
    500 gallup ipsos rasmussen
    750 ordinal_date gallup ipsos morning_consult rasmussen
    1000 ordinal_date gallup ipsos morning_consult rasmussen you_gov

    >>> dataset = datasets.TrapezoidalStream(TrumpApproval(), shares=(0.5, 1.0), shuffle=False)
    >>> for t, (x, _) in enumerate(dataset):
    ...     if t % 500 == 0:
    ...         print(t, *x)
    0 ordinal_date gallup ipsos
    500 ordinal_date gallup ipsos
    1000 ordinal_date gallup ipsos morning_consult rasmussen you_gov

    References
    ----------
    [^1]: [Zhang, Q., Zhang, P., Long, G., Ding, W., Zhang, C. and Wu, X., 2016. Online learning from
        trapezoidal data streams. IEEE Transactions on Knowledge and Data Engineering,
        28(10).](https://doi.org/10.1109/TKDE.2016.2563424)

    """

    def __init__(
        self,
        dataset: Source,
        period: int | None = None,
        seed: int | None = None,
        shares: Sequence[float] | None = None,
        shuffle: bool = True,
    ) -> None:
        super().__init__(dataset, seed)
        if period is None:
            if self.n_samples is None:
                raise ValueError("period must be given, because the length of the data set is unknown")
            period = max(1, self.n_samples)
        require(is_count(period, 1), "period", "a whole number, 1 or more", period)
        if shares is not None:
            rises = len(shares) > 0 and all(0 <= a <= b <= 1 for a, b in zip((0, *shares), shares))
            require(rises, "shares", "numbers from 0 to 1 that do not fall", shares)
        self.period = period
        self.shares = shares
        self.shuffle = shuffle

    def __iter__(self) -> Iterator[tuple[Features, Any]]:
        arrivals: dict[FeatureName, float] = {}
        for t, (x, y) in enumerate(self.dataset):
            if t == 0:
                keys = list(x)
                if self.shuffle:
                    self._rng("lives").shuffle(keys)
                arrivals = dict(zip(keys, self._arrivals(len(keys))))
            yield {key: value for key, value in x.items() if arrivals.get(key, t) <= t}, y

    def _arrivals(self, n: int) -> Iterator[float]:
        """The rounds in which n keys arrive."""
        if self.shares is None:
            yield from ([0, *steps(n, self.period - 1)[1:]] if n else [])
            return
        parts = len(self.shares)
        seen = [max(1, round(share * n)) for share in self.shares]
        for i in range(n):
            part = next((part for part, count in enumerate(seen) if count > i), None)
            yield math.inf if part is None else math.ceil(part * self.period / parts)
