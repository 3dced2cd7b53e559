"""Find the feature spaces of a stream, complete what is absent, and recover what is gone. No part sees a label."""

from __future__ import annotations

from .completion import Completion, ConditionalMean, RowSpace, incoherence, sample_bound
from .evolution import Event, Evolution, FeatureSpace
from .feature_recovery import FeatureRecovery
from .linear_map import Affine, LinearMap
from .reading import Reading
from .scaling import NoScaler, RowScaler, Scaler
from .spaces import FeatureSpaces

__all__ = [
    "Affine",
    "Completion",
    "ConditionalMean",
    "Event",
    "Evolution",
    "FeatureRecovery",
    "FeatureSpace",
    "FeatureSpaces",
    "LinearMap",
    "NoScaler",
    "Reading",
    "RowScaler",
    "RowSpace",
    "Scaler",
    "incoherence",
    "sample_bound",
]
