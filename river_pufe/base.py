"""The one learning loop."""

from __future__ import annotations

from river import base

from .aggregation import AdaNormalHedge
from .experts import LinearExperts
from .recovery import FeatureRecovery
from .spaces import FeatureSpaces


class Base(base.Estimator):
    def __init__(self, task, recovery=None, aggregator=None, experts=None, absent="missing"):
        self.recovery = recovery if recovery is not None else FeatureRecovery(FeatureSpaces(absent=absent))
        self.aggregator = aggregator if aggregator is not None else AdaNormalHedge()
        self.experts = experts if experts is not None else LinearExperts()
        self.absent = absent
        self._recovery = self.recovery.clone()
        self._aggregator = self.aggregator.clone()
        self._experts = self.experts.clone()
        self._task = task
        import numpy as np
        self._experts.grow(task.n_columns)
        self._aggregator.reset(np.ones(len(self._experts.names), dtype=bool))

    def _mixture(self, x):
        views = self._recovery.views(self._recovery.read(x))
        predictions = self._task.predictions(self._experts.scores(views))
        return self._aggregator.weights(self._experts.awake) @ predictions

    def learn_one(self, x, y, w=1.0):
        y = self._task.check(y)
        evolution, recover, row = self._recovery.evolve(x)
        if evolution:
            self._aggregator.reset(
                self._experts.follow(evolution, recover, self._aggregator.weights(self._experts.awake)))
        self._task.register(y)
        if self._task.n_columns != self._experts._n_columns:
            self._experts.grow(self._task.n_columns)
        views = self._recovery.views(row)
        predictions = self._task.predictions(self._experts.scores(views))
        awake = self._experts.awake
        mixture = self._aggregator.weights(awake) @ predictions
        target = self._task.target(y)
        losses = self._task.losses(predictions, target)
        self._aggregator.update(losses, float(self._task.losses(mixture, target)), awake)
        self._experts.learn(views, w * self._task.errors(predictions, target), w * self._task.curvature(mixture))
        self._recovery.update(row, views)
        self._task.learn(y)
