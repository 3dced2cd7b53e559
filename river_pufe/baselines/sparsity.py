"""Which weights stay, where a model must be sparse?"""

from __future__ import annotations

import math

import numpy as np

from ..values import Array

#: Weights that differ by less, relatively, are alike.
_TIE = 1e-9


def project(weights: Array, radius: float, importance: Array | None = None) -> None:
    """Shrink weights, in place, to an L1 norm of at most `radius`.

    Parameters
    ----------
    weights
        Shape (n,).
    radius
        The largest norm.
    importance
        Factors of the weights in that norm, shape (n,); None: all are 1.

    """
    norm = float(np.abs(weights if importance is None else importance * weights).sum())
    if norm > radius:
        weights *= radius / norm


def truncate(weights: Array, share: float) -> None:
    """Set all but the largest weights, by absolute value, to 0, in place.

    At least one stays. Weights that are as large as the smallest one that stays do so as well, so that the order of the
    keys does not matter.

    Parameters
    ----------
    weights
        Shape (n,).
    share
        The share of the weights that stays.

    """
    n = max(1, math.floor(share * len(weights)))
    if n < len(weights) and np.count_nonzero(weights) > n:
        sizes = np.abs(weights)
        least = np.partition(sizes, -n)[-n]
        weights[sizes < least * (1.0 - _TIE)] = 0.0
