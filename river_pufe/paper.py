"""Which parts make the method of the paper?"""

from __future__ import annotations

import math

from .experts.learners import OnlineGradientDescent
from .experts.per_space import SpaceExperts
from .recovery.completion import Completion, RowSpace
from .recovery.feature_recovery import FeatureRecovery
from .recovery.least_squares_rows import LeastSquaresRows
from .recovery.linear_map import LinearMap
from .recovery.scaling import NoScaler
from .recovery.spaces import FeatureSpaces
from .sketch import FrequentDirections

#: Rows of the sketches of the paper's method: more than the columns of any of its data sets, so that nothing is lost.
_LOSSLESS = 1024


def paper_recovery(completion: Completion | None = None) -> FeatureRecovery:
    """Algorithms 2 and 3 of the paper: rows as they are, completed on the row space, and mapped by a pseudo-inverse.

    The paper assumes that nothing is missing but for good and that all new keys come at once, so a key has vanished in
    the first round in which it is absent, the first unknown key opens a space, and an overlap ends when all previous
    keys are gone.

    Parameters
    ----------
    completion
        What completes rows, where it is not the paper's way.

    """
    return FeatureRecovery(
        feature_spaces=FeatureSpaces(significance=1.0, grace=0, patience=math.inf),
        scaler=NoScaler(),
        row_model=LeastSquaresRows(
            completion if completion is not None else RowSpace(),
            LinearMap(ridge=0.0),
            FrequentDirections(size=_LOSSLESS, centered=False),
        ),
        false_alarms=0.0,
    )


def paper_experts(c: float, radius: float | None) -> SpaceExperts:
    """Algorithms 1 and 4 of the paper: online gradient descent on each space, at rest during overlaps."""
    return SpaceExperts(OnlineGradientDescent(c, radius), in_overlap=False)
