"""Which methods are compared, and what do they need?"""

from __future__ import annotations

import dataclasses
import functools
import typing
from collections.abc import Callable

from river import linear_model, multiclass, optim, preprocessing

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
from ..pufe import PUFEClassifier, PUFERegressor
from .data import Data

#: The values among which the paper searches c.
C_GRID = (0.1, 1.0, 10.0, 100.0)

#: What makes a classifier, and a regressor if there is one.
Pair = tuple[Callable[..., typing.Any], Callable[..., typing.Any] | None]


@dataclasses.dataclass(frozen=True)
class Method:
    """A method of the comparison: one of `METHODS`, or one of your own.

    Parameters
    ----------
    models
        What makes the classifier and what makes the regressor, from the parameters by name. With several processes
        they must be found by `pickle`: classes and functions of a module, not lambdas. The second is None where a
        method is for classes alone.
    parameters
        Its parameters.
    has_c
        Whether its step size is 1/(c√t); all such methods are searched alike.
    needs_scale
        Whether features, and numbers that are targets, have to be standardized for it.
    needs_overlap
        Whether it cannot run with an unpredictable overlap. Such a method is given the number of rounds of the current
        space as `horizon`, and a `seed`.
    is_base
        Whether it is one of the base models, the best of which the others should be no worse than.
    is_rival
        Whether it is a method for other settings than the paper's, which is played only when asked for.

    Examples
    --------
    >>> from river import linear_model, naive_bayes
    >>> from river_pufe import compare
    >>> models = (naive_bayes.GaussianNB, linear_model.BayesianLinearRegression)
    >>> mine = compare.Method(models, has_c=False, needs_scale=False)
    >>> data = compare.load("Phishing")
    >>> comparison = compare.run(data, {"naive Bayes": mine, "PUFE": compare.METHODS["PUFE"]}, "U", runs=2)
    >>> print(compare.to_markdown([comparison]).splitlines()[2])
    | Phishing-U | .7440 ± .0407 | **.8272 ± .0181** |

    """

    models: Pair
    parameters: dict[str, typing.Any] = dataclasses.field(default_factory=dict)
    has_c: bool = True
    needs_scale: bool = True
    needs_overlap: bool = False
    is_base: bool = False
    is_rival: bool = False

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


def _river(optimizer: type[typing.Any], rate: float) -> Method:
    models = (linear_model.LogisticRegression, linear_model.LinearRegression)
    pair = tuple(functools.partial(_linear, model, optimizer, rate) for model in models)
    return Method(typing.cast(Pair, pair), has_c=False)


def _linear(model: type[typing.Any], optimizer: type[typing.Any], rate: float) -> typing.Any:
    return model(optimizer=optimizer(rate))


def _rival(
    classifier: Callable[..., typing.Any], regressor: Callable[..., typing.Any] | None = None, **parameters: typing.Any
) -> Method:
    return Method((classifier, regressor), parameters, has_c=False, is_rival=True)


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
    "River SGD": _river(optim.SGD, 0.01),
    "River AdaGrad": _river(optim.AdaGrad, 0.1),
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
