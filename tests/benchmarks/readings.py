"""Where can the paper be read in more than one way, and what comes of it?"""

from __future__ import annotations

import numpy as np
from scipy import special

from river_pufe import PUFEClassifier, PUFERegressor, compare
from river_pufe.aggregation import AdaNormalHedge
from river_pufe.paper import paper_experts, paper_recovery
from river_pufe.recovery.completion import RowSpace
from river_pufe.tasks import MarginClassification, PlainRegression


class UncutMargins(MarginClassification):
    """Margins are averaged; the logistic loss judges them as it is, with no upper end.

    It shows what the cut of `MarginClassification` does. Theorem 2 says nothing about such losses.
    """

    def losses(self, predictions, target):
        scores = np.pad(predictions, ((0, 0), (1, 0)))
        return special.logsumexp(scores, axis=1) - predictions @ target


class Reading:
    """Makes PUFE with the paper's parts, read in one way or another."""

    def __init__(self, regression, uncut, all_rows):
        self.regression, self.uncut, self.all_rows = regression, uncut, all_rows

    def __call__(self, c):
        recovery = paper_recovery(RowSpace(min_observed=1 if self.all_rows else None))
        parts = paper_experts(c, None), recovery, AdaNormalHedge()
        if self.regression:
            return PUFERegressor(*parts, PlainRegression())
        return PUFEClassifier(*parts, UncutMargins() if self.uncut else MarginClassification())


def reading(uncut, all_rows):
    """A method of the comparison."""
    return compare.Method(tuple(Reading(regression, uncut, all_rows) for regression in (False, True)))


READINGS = {
    "PUFE (uncut)": reading(uncut=True, all_rows=False),
    "PUFE (all rows)": reading(uncut=False, all_rows=True),
    "PUFE (uncut, all rows)": reading(uncut=True, all_rows=True),
}
