"""What if sensors were only ever added?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .evolving import Features, Source, StreamWrapper, is_count, require
from .lives import Lives


class TrapezoidalStream(StreamWrapper):
    """Keys are only ever added, one by one.

    The stream begins with one key, and the share of the keys that are seen rises linearly. None ever goes.
    The data matrix grows in both directions, hence the name[^1].

    **When to use it.** To see that a model learns from new sensors without losing what it knows of the old
    ones: there is nothing to recover, so it should be no worse than a model that takes keys as they come.

    The order is drawn among the keys of the first sample. Others are seen as soon as they are there.

    Parameters
    ----------
    dataset
        Any data set of River, or anything else that yields pairs `(x, y)` each time it is iterated.
    period
        Rounds in which all keys arrive, by default the length of the stream.
    seed
        Random seed. Without one, it is drawn when the stream is made.

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

    References
    ----------
    [^1]: [Zhang, Q., Zhang, P., Long, G., Ding, W., Zhang, C. and Wu, X., 2016. Online learning from
        trapezoidal data streams. IEEE Transactions on Knowledge and Data Engineering,
        28(10).](https://doi.org/10.1109/TKDE.2016.2563424)

    """

    def __init__(self, dataset: Source, period: int | None = None, seed: int | None = None) -> None:
        super().__init__(dataset, seed)
        if period is None:
            if self.n_samples is None:
                raise ValueError("period must be given, because the length of the data set is unknown")
            period = max(1, self.n_samples)
        require(is_count(period, 1), "period", "a whole number, 1 or more", period)
        self.period = period

    def __iter__(self) -> Iterator[tuple[Features, Any]]:
        lives = Lives(self._rng("lives"))
        for t, (x, y) in enumerate(self.dataset):
            if t == 0:
                lives.arrive(x, 0, self.period)
            yield lives.present(x, t), y
