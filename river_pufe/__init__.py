"""PUFE for River."""

from __future__ import annotations

from importlib.metadata import version

from . import datasets
from .pufe import PUFEClassifier, PUFERegressor
from .recovery import FeatureRecovery

__all__ = ["FeatureRecovery", "PUFEClassifier", "PUFERegressor", "datasets"]

__version__ = version("river-pufe")
