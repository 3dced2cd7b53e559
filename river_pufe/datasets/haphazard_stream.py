"""What if each value were only there by chance, in the streams of the review?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..values import is_there
from .evolving import Features, Source, StreamWrapper, require


class HaphazardStream(StreamWrapper):
    """Rows in random order, of which each value is there with the same probability.

    These are the streams of a review of learning under haphazard inputs[^1], to the last value: with its seed, and a
    data set in the order of its file, the same rows come in the same order with the same keys.

    **When to use it.** To compare with the figures of the review. `CapriciousStream` leaves values out in the same way
    without shuffling, so it needs no memory, and can be put around an evolving stream.

    All rows are held in memory while the stream is iterated.

    Parameters
    ----------
    dataset
        Any data set of River, or anything else that yields pairs `(x, y)` each time it is iterated.
    keep
        Probability that a value is kept. A sample of which none is keeps one that is drawn at random.
    seed
        Random seed; that of the review is 2023. Without one, it is drawn when the stream is made.

    Attributes
    ----------
    changes
        None: no key is ever gone for good.

    Examples
    --------
    >>> from river.datasets import TrumpApproval
    >>> from river_pufe import datasets

    >>> dataset = datasets.HaphazardStream(TrumpApproval(), keep=0.5, seed=2023)
    >>> for x, _ in dataset.take(3):
    ...     print(*x)
    ordinal_date ipsos morning_consult you_gov
    gallup ipsos morning_consult
    ordinal_date gallup ipsos rasmussen you_gov

    References
    ----------
    [^1]: [Agarwal, R., Das, A., Horsch, A., Agarwal, K. and Prasad, D.K., 2024. Online learning under haphazard input
        conditions: a comprehensive review and analysis.](https://arxiv.org/abs/2404.04903)

    """

    def __init__(self, dataset: Source, keep: float = 0.5, seed: int | None = None) -> None:
        super().__init__(dataset, seed)
        require(0 <= keep <= 1, "keep", "between 0 and 1", keep)
        self.keep = keep
        # Those of the data set mean nothing once its rows are shuffled.
        self.changes = ()

    def __iter__(self) -> Iterator[tuple[Features, Any]]:
        rows = list(self.dataset)
        columns = {key: column for column, key in enumerate(dict.fromkeys(key for x, _ in rows for key in x))}
        # The generator of the review, which NumPy keeps as it is. What is drawn first is the order of the rows.
        rng = np.random.RandomState(self._seed)
        order = rng.permutation(len(rows))
        kept = rng.random_sample((len(rows), len(columns))) < self.keep
        for row, mask in zip(order, kept):
            mask &= np.array([is_there(rows[row][0].get(key)) for key in columns], dtype=bool)
        empty = np.flatnonzero(~kept.any(1))
        kept[empty, rng.randint(len(columns) or 1, size=len(empty))] = True
        for row, mask in zip(order, kept):
            x, y = rows[row]
            yield {key: value for key, value in x.items() if mask[columns[key]] and is_there(value)}, y

    def truth(self) -> Iterator[Features]:
        rows = list(self.dataset)
        order = np.random.RandomState(self._seed).permutation(len(rows))
        return (dict(rows[row][0]) for row in order)
