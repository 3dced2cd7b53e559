"""Which methods are compared, and what do they need?"""

from __future__ import annotations

import dataclasses
import typing
from collections.abc import Callable

import numpy as np
from river import linear_model, multiclass, optim, preprocessing
from scipy import special

from ..aggregation import AdaNormalHedge
from ..baselines import (
    FESLClassifier,
    FESLRegressor,
    NOGDClassifier,
    NOGDRegressor,
    OCDSClassifier,
    OLSFClassifier,
    OLVFClassifier,
    OPIDClassifier,
    OPIDRegressor,
    REFORMClassifier,
    REFORMRegressor,
    ROGDClassifier,
    ROGDRegressor,
    SF2ELClassifier,
    SF2ELRegressor,
)
from ..experts.per_space import SpaceExperts
from ..paper import paper_experts, paper_recovery
from ..pufe import PUFEClassifier, PUFERegressor
from ..recovery.completion import RowSpace
from ..recovery.feature_recovery import FeatureRecovery
from ..tasks.classification import MarginClassification
from ..tasks.regression import PlainRegression
from ..values import Array
from .data import Data

#: The values among which the paper searches c.
C_GRID = (0.1, 1.0, 10.0, 100.0)

#: What makes a classifier, and a regressor if there is one.
Pair = tuple[Callable[..., typing.Any], Callable[..., typing.Any] | None]


@dataclasses.dataclass(frozen=True)
class Method:
    """A method of the comparison.

    Parameters
    ----------
    models
        What makes the classifier and the regressor; None where a method is for classes alone.
    parameters
        Its parameters.
    has_c
        Whether its step size is 1/(c√t); all such methods are searched alike.
    needs_scale
        Whether features, and numbers that are targets, have to be standardized for it.
    needs_overlap
        Whether it cannot run with an unpredictable overlap. Such a method is told how long the current space lasts.
    is_base
        Whether it is one of the base models, the best of which the others should be no worse than.
    is_reading
        Whether it is another reading of the paper, which is played only when asked for.
    is_rival
        Whether it is a method for other settings than the paper's, which is played only when asked for.

    """

    models: Pair
    parameters: dict[str, typing.Any] = dataclasses.field(default_factory=dict)
    has_c: bool = True
    needs_scale: bool = True
    needs_overlap: bool = False
    is_base: bool = False
    is_reading: bool = False
    is_rival: bool = False

    @property
    def is_usual(self) -> bool:
        """Whether it is played unless other methods are asked for."""
        return not (self.is_reading or self.is_rival)

    def can_play(self, data: Data, unpredictable: bool) -> bool:
        """Whether it knows what to do with a data set in a setting."""
        return self.models[data.regression] is not None and not (unpredictable and self.needs_overlap)

    def make(self, data: Data, c: float | None, horizon: int, seed: int) -> typing.Any:
        """A model that has seen nothing yet."""
        parameters = dict(self.parameters)
        if self.has_c:
            parameters["c"] = c
        if self.needs_overlap:
            parameters |= {"horizon": horizon, "seed": seed}
        factory = self.models[data.regression]
        assert factory is not None
        model = factory(**parameters)
        if data.n_classes > 2 and not model._multiclass:
            model = multiclass.OneVsRestClassifier(model)
        if data.scaled or not self.needs_scale:
            return model
        model = preprocessing.StandardScaler() | model
        return preprocessing.TargetStandardScaler(model) if data.regression else model


def _river(rate: Callable[[], typing.Any]) -> Method:
    return Method(
        (
            lambda: linear_model.LogisticRegression(optimizer=rate()),
            lambda: linear_model.LinearRegression(optimizer=rate()),
        ),
        has_c=False,
    )


def _rival(
    classifier: Callable[..., typing.Any], regressor: Callable[..., typing.Any] | None = None, **parameters: typing.Any
) -> Method:
    return Method((classifier, regressor), parameters, has_c=False, is_rival=True)


class UncutMargins(MarginClassification):
    """Margins are averaged; the logistic loss judges them as it is, with no upper end.

    **When to use it.** To see what the cut of `MarginClassification` does. Theorem 2 says nothing about such losses.
    """

    def losses(self, predictions: Array, target: Array) -> Array:
        scores = np.pad(predictions, ((0, 0), (1, 0)))
        losses: Array = special.logsumexp(scores, axis=1) - predictions @ target
        return losses


def _reading(uncut: bool, all_rows: bool) -> Method:
    """PUFE with the paper's parts, where the paper can be read in more than one way."""

    def parts(c: float) -> tuple[SpaceExperts, FeatureRecovery, AdaNormalHedge]:
        completion = RowSpace(min_observed=1 if all_rows else None)
        return paper_experts(c, None), paper_recovery(completion), AdaNormalHedge()

    return Method(
        (
            lambda c: PUFEClassifier(*parts(c), UncutMargins() if uncut else MarginClassification()),
            lambda c: PUFERegressor(*parts(c), PlainRegression()),
        ),
        is_reading=True,
    )


_ROGD: Pair = (ROGDClassifier, ROGDRegressor)
_FESL: Pair = (FESLClassifier, FESLRegressor)

METHODS = {
    "NOGD": Method((NOGDClassifier, NOGDRegressor), is_base=True),
    "ROGD-f": Method(_ROGD, {"updating": False}, is_base=True),
    "ROGD-u": Method(_ROGD, {"updating": True}, is_base=True),
    "FESL-c": Method(_FESL, {"strategy": "combination"}, needs_overlap=True),
    "FESL-s": Method(_FESL, {"strategy": "selection"}, needs_overlap=True),
    "PUFE (paper)": Method((PUFEClassifier.paper, PUFERegressor.paper)),
    "PUFE": Method((PUFEClassifier, PUFERegressor), has_c=False, needs_scale=False),
    "River SGD": _river(lambda: optim.SGD(0.01)),
    "River AdaGrad": _river(lambda: optim.AdaGrad(0.1)),
    "PUFE (uncut)": _reading(uncut=True, all_rows=False),
    "PUFE (all rows)": _reading(uncut=False, all_rows=True),
    "PUFE (uncut, all rows)": _reading(uncut=True, all_rows=True),
    "OLSF": _rival(OLSFClassifier, variant=""),
    "OLSF-I": _rival(OLSFClassifier, variant="I"),
    "OLSF-II": _rival(OLSFClassifier, variant="II"),
    "OLVF": _rival(OLVFClassifier),
    "OCDS": _rival(OCDSClassifier),
    "OPID": _rival(OPIDClassifier, OPIDRegressor, ensemble=False),
    "OPIDe": _rival(OPIDClassifier, OPIDRegressor, ensemble=True),
    "REFORM": Method((REFORMClassifier, REFORMRegressor), is_rival=True),
    "SF2EL": Method((SF2ELClassifier, SF2ELRegressor), needs_overlap=True, is_rival=True),
}
