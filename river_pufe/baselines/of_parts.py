"""How do PUFE's parts, chosen differently, make another method?"""

from __future__ import annotations

import typing
import warnings

import numpy as np
from river import base

from ..aggregation import AdaNormalHedge, Aggregator
from ..answers import EvolvingClassifier, EvolvingRegressor
from ..experts.learners import OnlineGradientDescent
from ..experts.per_space import SpaceExperts
from ..learning import FeatureEvolving
from ..paper import paper_recovery
from ..recovery.reading import Reading
from ..rounds import Asked
from ..tasks.classification import MarginClassification
from ..tasks.regression import PlainRegression
from ..tasks.task import Task
from ..values import Sample
from .zeros import Zeros


class OfParts(FeatureEvolving):
    """The loop and the recovery of PUFE's paper, with zeros for what is absent in an overlap.

    Parameters
    ----------
    experts
        What predicts, and what goes on learning.
    aggregator
        What weighs the experts.

    """

    #: What judges predictions, for classes or for numbers.
    _task_of_the_paper: typing.ClassVar[type[Task]]

    def __init__(self, experts: SpaceExperts, aggregator: Aggregator | None = None) -> None:
        super().__init__(
            experts,
            paper_recovery(Zeros()),
            aggregator if aggregator is not None else AdaNormalHedge(),
            self._task_of_the_paper(),
            "missing",
        )


class Pair(OfParts):
    """The old model, on recovered rows, and the current one: both predict and learn, and a hedge weighs them."""

    #: What users know the method as.
    _name: typing.ClassVar[str]

    def __init__(self, experts: SpaceExperts, aggregator: Aggregator) -> None:
        super().__init__(experts, aggregator)
        self._warned = False

    def _learn(self, reading: Reading, asked: Asked | None, y: typing.Any, w: float) -> None:
        super()._learn(reading, asked, y, w)
        if self.overlapping:
            # The old model is alone in an overlap, which is no reason to trust it less once it is over.
            self._reset(np.ones(len(self._experts.names), dtype=bool))

    def _follow(self, x: Sample) -> tuple[Reading, Asked | None]:
        reading, asked = super()._follow(x)
        if not self._warned and reading.sees_previous and np.isnan(reading.row).any():
            self._warned = True
            successor = "PUFEClassifier" if isinstance(self, base.Classifier) else "PUFERegressor"
            warnings.warn(
                f"{self._name} needs an intact overlap, in which each sample has all features of the old and of the "
                f"new space; here some are absent, and 0 stands in for them. Use {successor}() instead: it completes "
                "them.",
                stacklevel=4,
            )
        return reading, asked


class OfPartsClassifier(OfParts, EvolvingClassifier):
    """A method made of parts, for classes."""

    _task_of_the_paper = MarginClassification


class OfPartsRegressor(OfParts, EvolvingRegressor):
    """A method made of parts, for numbers."""

    _task_of_the_paper = PlainRegression


def descent(c: float, radius: float | None, roles: tuple[str, ...], frozen: bool = False) -> SpaceExperts:
    """Online gradient descent in each space, at rest during overlaps.

    Parameters
    ----------
    c
        Step sizes are $1 / (c \\sqrt t)$.
    radius
        Radius of the ball on which weights are projected; None leaves them free.
    roles
        Whose learners predict, as for `SpaceExperts`.
    frozen
        Whether learners of retired spaces have stopped learning.

    """
    return SpaceExperts(OnlineGradientDescent(c, radius), roles, in_overlap=False, frozen=frozen)
