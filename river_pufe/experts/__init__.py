"""What predicts: linear models on features of a sample, a learner for each feature space, or a pool of both."""

from __future__ import annotations

from .experts import Experts, Predicted, Round
from .feature_maps import FeatureMap, Identity, Neighbours, RandomFourier
from .learners import Learner, OnlineGradientDescent, RiverModel
from .linear import LinearExperts
from .per_space import SpaceExperts
from .pool import Pool, as_experts
from .rules import ImplicitGradient, Newton, UpdateRule

__all__ = [
    "Experts",
    "FeatureMap",
    "Identity",
    "ImplicitGradient",
    "Learner",
    "LinearExperts",
    "Neighbours",
    "Newton",
    "OnlineGradientDescent",
    "Pool",
    "Predicted",
    "RandomFourier",
    "RiverModel",
    "Round",
    "SpaceExperts",
    "UpdateRule",
    "as_experts",
]
