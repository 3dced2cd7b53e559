"""How well do probabilities tell a class from the rest?"""

from __future__ import annotations

import array
import math

import numpy as np

from ..values import Array

#: Probabilities are counted by their log-odds, in buckets of this width, since those of a rare class are small.
_N, _WIDTH = 1024, 0.05


class Ranking:
    """Average precision of the probabilities of a class, from a histogram of bounded size.

    The average precision is the mean of the precision over all thresholds, weighted by the recall that is gained at
    each: 1 if all samples of the class are ahead of all others, and the base rate if the order is left to chance.
    Unlike the area under the ROC curve it does not look good where most alarms are false.

    An update costs O(1), the average precision O(1024). Probabilities whose log-odds differ by less than 0.05 count as
    equal.

    Examples
    --------
    >>> from river_pufe.cli.ranking import Ranking
    >>> ranking = Ranking()
    >>> for is_positive, p in ((False, 0.1), (False, 0.4), (True, 0.35), (True, 0.8)):
    ...     ranking.update(is_positive, p)
    >>> print(f"{ranking.average_precision():.4f}")
    0.8333

    References
    ----------
    [^1]: [Davis, J. and Goadrich, M., 2006. The relationship between Precision-Recall and ROC curves. ICML.](https://doi.org/10.1145/1143844.1143874)

    """

    def __init__(self) -> None:
        self._counts = (array.array("q", bytes(8 * _N)), array.array("q", bytes(8 * _N)))
        self.n = 0

    def update(self, is_positive: bool, p: float) -> None:
        """Count a sample with its probability of being positive."""
        self.count(is_positive, bucket(p))

    def count(self, is_positive: bool, number: int, n: int = 1) -> None:
        """Count a sample whose probability is in a bucket; with n = -1 take it back."""
        self._counts[is_positive][number] += n
        self.n += n

    @property
    def base_rate(self) -> float:
        """Share of the positive samples."""
        return sum(self._counts[True]) / self.n if self.n else 0.0

    def average_precision(self, reverse: bool = False) -> float:
        """Average precision; of the other class if `reverse`. NaN without a sample of the class."""
        counts = [np.frombuffer(self._counts[kind], dtype=np.int64).astype(float) for kind in (not reverse, reverse)]
        positive, negative = counts
        if not reverse:
            positive, negative = positive[::-1], negative[::-1]
        found: Array = positive.cumsum()
        if not found[-1]:
            return math.nan
        precision = found / np.maximum(found + negative.cumsum(), 1.0)
        return float(positive @ precision / found[-1])


def bucket(p: float) -> int:
    """Number of the bucket of a probability, ascending."""
    if p <= 0.0 or p >= 1.0:
        return 0 if p <= 0.0 else _N - 1
    return min(max(math.floor(math.log(p / (1.0 - p)) / _WIDTH) + _N // 2, 0), _N - 1)


def least(number: int) -> float:
    """The smallest probability in a bucket."""
    return 1.0 / (1.0 + math.exp(-(number - _N // 2) * _WIDTH)) if number > 0 else 0.0
