"""Prediction with Unpredictable Feature Evolution: models for River that survive when features come and go.

In real streams sensors die and new ones are installed, stations open and close, currencies are replaced. A model keyed
on the old features is worth nothing then, and a new one starts from nothing. The estimators of this package find the
feature spaces from the keys of the samples, complete what is missing, recover what is gone from what is left, and weigh
what they know of old and new spaces by how well it predicts.

- `PUFEClassifier`, `PUFERegressor`: River estimators that eat dicts whose keys come and go.
- `FeatureRecovery`: a River transformer that keeps any model alive when its features vanish.
- `baselines`: the methods that the paper compares with. `aggregation`, `sketch`: parts that are useful alone.
- `state`: what a model knows, as plain data without code.
- `compiled`: whether the compiled version of what is computed in every round runs, or the plain one.
- `datasets`: streams whose features evolve, from any data set. `plot`: pictures of them. `checks`: laws for estimators.

"""

from __future__ import annotations

import importlib
import typing
from importlib.metadata import version

from . import aggregation, sketch, state
from .kernels import compiled as compiled
from .pufe import PUFEClassifier, PUFERegressor
from .recovery import FeatureRecovery

__all__ = [
    "FeatureRecovery",
    "PUFEClassifier",
    "PUFERegressor",
    "aggregation",
    "baselines",
    "checks",
    "datasets",
    "plot",
    "sketch",
    "state",
]

__version__ = version("river-pufe")

#: Imported on first use: they need what takes long to import, and most programs do without.
_LAZY = frozenset({"baselines", "checks", "datasets", "plot"})


def __getattr__(name: str) -> typing.Any:
    if name in _LAZY:
        return importlib.import_module(f".{name}", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, "__version__", "compiled"]
