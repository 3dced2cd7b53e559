"""What do the baselines make of an overlap with gaps? Zeros."""

from __future__ import annotations

import numpy as np

from ..recovery.completion import Completion
from ..sketch import FrequentDirections
from ..values import Array, Mask


class Zeros(Completion):
    """Zeros for what is absent, as long as anything is observed.

    **When to use it.** To reproduce the baselines of the paper. Where absence means zero, say so with
    `FeatureSpaces(absent="zero")` instead.

    Costs O(d).

    Examples
    --------
    >>> import numpy as np
    >>> from river_pufe.baselines import Zeros
    >>> from river_pufe.sketch import FrequentDirections
    >>> Zeros().complete(np.array([1.0, np.nan]), np.array([False, True]), FrequentDirections())
    array([1., 0.])

    """

    def complete(self, row: Array, absent: Mask, sketch: FrequentDirections) -> Array | None:
        return None if absent.all() else np.where(absent, 0.0, row)
