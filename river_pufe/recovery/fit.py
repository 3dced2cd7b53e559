"""Do the values of a key still fit what they used to be?"""

from __future__ import annotations

import math
import typing

import numpy as np

from .. import kernels
from ..state.packing import packed, unpacked
from ..state.parts import Stored
from ..values import Array, Mask

#: Half of the sizes of a normal law are below so many deviations.
_MIDDLE = 0.6745
#: Arrays of which much is 0.
_SPARSE = ("_statistic", "_histogram", "_scores")


class Fit(Stored):
    """A sequential test for each key: are its residuals of the size that they used to be?

    The size of a residual is compared with all those before it, in a histogram that forgets slowly. Let p be the share
    of those at least as large and q of those at most as large, the present one included. If residuals are
    exchangeable, then whatever their distribution,

    $$e = \\tfrac12 f(p) + \\tfrac12 f(q), \\qquad f(p) = \\int_0^1 \\kappa p^{\\kappa - 1} d\\kappa =
    \\frac{1 - p + p \\ln p}{p \\ln^2 p}$$

    is 1 or less on average, and the Shiryaev-Roberts statistic $R \\leftarrow e^{1/\\tau} (1 + R)$ with τ = 1 needs
    1/α rounds or more on average to reach 1/α. Residuals that come in spells are not exchangeable; there
    τ = (1 + ρ) / (1 - ρ), with ρ the autocorrelation of ln e, makes a score count for less.

    Rounds come in blocks, in which a key costs O(1) for each round, and once what its histogram does.

    Parameters
    ----------
    false_alarms
        α, the rate of false alarms that is aimed at, for a key and round; 0: no alarm ever.

    References
    ----------
    [^1]: Vovk, V., Petej, I., Nouretdinov, I., Ahlberg, E., Carlsson, L. and Gammerman, A., 2021. Retrain or not
        retrain: conformal test martingales for change-point detection. PMLR 152.
    [^2]: Shin, J., Ramdas, A. and Rinaldo, A., 2024. E-detectors: a nonparametric framework for sequential change
        detection. New England Journal of Statistics in Data Science.

    """

    def __init__(self, false_alarms: float = 1e-7) -> None:
        self.false_alarms = false_alarms
        self._statistic: Array = np.zeros(0)
        self._histogram: Array = np.zeros((0, kernels.BINS))
        # Of ln e: sums of squares and of products of neighbours, mean, and the latest one.
        self._scores: Array = np.zeros((4, 0))

    def stored(self) -> dict[str, typing.Any]:
        # Most bins are empty, and of new keys nothing is known.
        return super().stored() | {name: packed(known := getattr(self, name), known != 0.0) for name in _SPARSE}

    def rebuild(self) -> None:
        for name in _SPARSE:
            setattr(self, name, unpacked(vars(self)[name], 0.0))

    def update(self, residuals: Array, limits: Array) -> Array:
        """Judge the residuals of a block of rounds, and learn from them.

        Parameters
        ----------
        residuals
            In units of their deviations, shape (n, d); NaN where absent.
        limits
            Sizes above which nothing is learned from a residual, shape (d,).

        Returns
        -------
        The evidence against each key, shape (d,), at its largest in the block: the key does not fit where it is 1 or
        more.

        """
        level = 1.0 / self.false_alarms if self.false_alarms else math.inf
        return kernels.judge(residuals, limits, level, self._histogram, self._scores, self._statistic) / level

    @property
    def judged(self) -> Mask:
        """Of which keys enough is known to judge them, shape (d,)."""
        judged: Mask = self._histogram.sum(1) >= kernels.LEAST
        return judged

    @property
    def typical(self) -> Array:
        """The deviation of a normal law that has the median of each key's residuals, shape (d,); 0 where most are 0."""
        up_to = self._histogram.cumsum(1)
        half, slots = up_to[:, -1] / 2.0, np.arange(len(up_to))
        middle = (up_to >= half[:, None]).argmax(1)
        # Where in its bin the median is.
        inside = (up_to[slots, middle] - half) / np.maximum(self._histogram[slots, middle], 1e-9)
        sizes = np.exp2((middle - inside) / 2.0 + kernels.SMALLEST - 0.5)
        return np.where(middle > 0, sizes / _MIDDLE, 0.0)

    def acquit(self, slots: Mask) -> None:
        """Forget the evidence against some keys."""
        self._statistic[slots] = 0.0

    def restart(self, slots: Mask) -> None:
        """Forget what some keys used to be."""
        self._statistic[slots], self._histogram[slots], self._scores[:, slots] = 0.0, 0.0, 0.0

    def extend(self, n: int) -> None:
        """Append n keys of which nothing is known."""
        self._statistic = np.append(self._statistic, np.zeros(n))
        self._histogram = np.vstack([self._histogram, np.zeros((n, kernels.BINS))])
        self._scores = np.hstack([self._scores, np.zeros((4, n))])

    def keep(self, slots: Mask) -> None:
        """Drop all other keys."""
        self._statistic, self._histogram = self._statistic[slots], self._histogram[slots]
        self._scores = np.ascontiguousarray(self._scores[:, slots])
