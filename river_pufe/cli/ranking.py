"""How well do probabilities tell a class from the rest?"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from ..values import Array, Mask

IntArray = npt.NDArray[np.int64]

#: Probabilities are counted by their log-odds, in buckets of this width, since those of a rare class are small.
_N, _WIDTH = 1024, 0.05


class Ranking:
    """Average precision of the probabilities of a class, from a histogram of bounded size.

    The average precision is the mean of the precision over all thresholds, weighted by the recall that is gained at
    each: 1 if all samples of the class are ahead of all others, and the base rate if the order is left to chance.
    Unlike the area under the ROC curve it does not look good where most alarms are false.

    Adding n samples costs O(n), the average precision O(1024). Probabilities whose log-odds differ by less than 0.05
    count as equal.

    Attributes
    ----------
    n
        Number of samples.

    Examples
    --------
    >>> import numpy as np
    >>> from river_pufe.cli.ranking import Ranking
    >>> ranking = Ranking()
    >>> ranking.add(np.array([False, False, True, True]), np.array([0.1, 0.4, 0.35, 0.8]))
    >>> print(f"{ranking.average_precision():.4f}")
    0.8333

    References
    ----------
    [^1]: [Davis, J. and Goadrich, M., 2006. The relationship between Precision-Recall and ROC curves. ICML.](https://doi.org/10.1145/1143844.1143874)

    """

    def __init__(self) -> None:
        self._counts = np.zeros((2, _N), dtype=np.int64)
        self.n = 0

    def add(self, are_positive: Mask, probabilities: Array, n: int = 1) -> None:
        """Count samples with their probabilities of being positive; with n = -1 take them back."""
        np.add.at(self._counts, (are_positive.astype(np.intp), buckets(probabilities)), n)
        self.n += n * len(probabilities)

    def average_precision(self, reverse: bool = False) -> float:
        """Average precision; of the other class if `reverse`. NaN without a sample of the class."""
        positive, negative = (self._counts[int(kind)].astype(float) for kind in (not reverse, reverse))
        if not reverse:
            positive, negative = positive[::-1], negative[::-1]
        found: Array = positive.cumsum()
        if not found[-1]:
            return math.nan
        precision = found / np.maximum(found + negative.cumsum(), 1.0)
        return float(positive @ precision / found[-1])


def buckets(probabilities: Array) -> IntArray:
    """Numbers of the buckets of probabilities, ascending."""
    p = np.minimum(np.maximum(probabilities, 0.0), 1.0)
    with np.errstate(divide="ignore"):
        odds = np.log(p) - np.log1p(-p)
    numbers: IntArray = np.minimum(np.maximum(np.floor(odds / _WIDTH) + _N // 2, 0), _N - 1).astype(np.int64)
    return numbers


def bucket(p: float) -> int:
    """Number of the bucket of one probability."""
    if p <= 0.0 or p >= 1.0:
        return 0 if p <= 0.0 else _N - 1
    return min(max(math.floor((math.log(p) - math.log1p(-p)) / _WIDTH) + _N // 2, 0), _N - 1)


def least(number: int) -> float:
    """The smallest probability in a bucket."""
    return 1.0 / (1.0 + math.exp(-(number - _N // 2) * _WIDTH)) if number > 0 else 0.0
