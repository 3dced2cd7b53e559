"""What scores mean and what it costs to be wrong, for classes and for numbers."""

from __future__ import annotations

from .classification import Classification, MarginClassification
from .regression import PlainRegression, Regression
from .target_scaling import TargetScaler
from .task import Task

__all__ = ["Classification", "MarginClassification", "PlainRegression", "Regression", "TargetScaler", "Task"]
