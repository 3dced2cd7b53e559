"""Find the feature spaces of a stream, complete what is absent, and recover what is gone. No part sees a label."""

from __future__ import annotations

from .completion import Completion, RowSpace, incoherence, sample_bound
from .evolution import Event, Evolution, FeatureSpace
from .feature_recovery import FeatureRecovery
from .gaussian import Gaussian
from .gaussian_rows import GaussianRows
from .least_squares_rows import LeastSquaresRows
from .linear_map import Affine, LinearMap
from .reading import Expected, Reading
from .row_model import RowModel
from .scaling import NoScaler, RowScaler, Scaler
from .spaces import FeatureSpaces

__all__ = [
    "Affine",
    "Completion",
    "Event",
    "Evolution",
    "Expected",
    "FeatureRecovery",
    "FeatureSpace",
    "FeatureSpaces",
    "Gaussian",
    "GaussianRows",
    "LeastSquaresRows",
    "LinearMap",
    "NoScaler",
    "Reading",
    "RowModel",
    "RowScaler",
    "RowSpace",
    "Scaler",
    "incoherence",
    "sample_bound",
]
