"""What predicts: linear models in several views of a sample, or a learner for each feature space."""

from __future__ import annotations

from .experts import Experts, Round
from .learners import Learner, OnlineGradientDescent, RiverModel
from .linear import LinearExperts
from .per_space import SpaceExperts, as_experts
from .rules import ImplicitGradient, Newton, UpdateRule

__all__ = [
    "Experts",
    "ImplicitGradient",
    "Learner",
    "LinearExperts",
    "Newton",
    "OnlineGradientDescent",
    "RiverModel",
    "Round",
    "SpaceExperts",
    "UpdateRule",
    "as_experts",
]
