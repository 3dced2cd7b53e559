"""PUFE for River."""

from __future__ import annotations

from importlib.metadata import version

from .pufe import PUFEClassifier, PUFERegressor
from .recovery import FeatureRecovery

__all__ = ["FeatureRecovery", "PUFEClassifier", "PUFERegressor"]

__version__ = version("river-pufe")
