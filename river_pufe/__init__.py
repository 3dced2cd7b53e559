"""Prediction with Unpredictable Feature Evolution: models for River that survive when features come and go.

In real streams sensors die and new ones are installed, stations open and close, currencies are replaced. A model keyed
on the old features is worth nothing then, and a new one starts from nothing. The estimators of this package find the
feature spaces from the keys of the samples, complete what is missing, recover what is gone from what is left, and weigh
what they know of old and new spaces by how well it predicts.

- `PUFEClassifier`, `PUFERegressor`: River estimators that eat dicts whose keys come and go.
- `FeatureRecovery`: a River transformer that keeps any model alive when its features vanish.
- `baselines`: the methods that the paper compares with. `aggregation`, `sketch`: parts that are useful alone.
- `datasets`: streams whose features evolve, from any data set. `plot`: pictures of them. `checks`: laws for estimators.

"""

from __future__ import annotations

from importlib.metadata import version

from . import aggregation, baselines, checks, datasets, plot, sketch
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
]

__version__ = version("river-pufe")
