"""Which estimators does a user need? A classifier and a regressor for features that come and go."""

from __future__ import annotations

from river import base

from .base import FeatureEvolving
from .tasks import Classification, Regression


class PUFEClassifier(FeatureEvolving, base.Classifier):
    def __init__(self, model=None, recovery=None, aggregator=None, task=None, absent="missing"):
        super().__init__(task if task is not None else Classification(), model, recovery, aggregator, absent)

    def predict_proba_one(self, x):
        return self._task.answer(self._mixture(x))

    @property
    def _multiclass(self): return True


class PUFERegressor(FeatureEvolving, base.Regressor):
    def __init__(self, model=None, recovery=None, aggregator=None, task=None, absent="missing"):
        super().__init__(task if task is not None else Regression(), model, recovery, aggregator, absent)

    def predict_one(self, x):
        return self._task.answer(self._mixture(x))
