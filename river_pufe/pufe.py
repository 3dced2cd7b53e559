from __future__ import annotations

from river import base

from .base import Base
from .tasks import Classification, Regression


class PUFEClassifier(Base, base.Classifier):
    def __init__(self, recovery=None, aggregator=None, experts=None, absent="missing"):
        super().__init__(Classification(), recovery, aggregator, experts, absent)

    def predict_proba_one(self, x):
        return self._task.answer(self._mixture(x))

    @property
    def _multiclass(self): return True


class PUFERegressor(Base, base.Regressor):
    def __init__(self, recovery=None, aggregator=None, experts=None, absent="missing"):
        super().__init__(Regression(), recovery, aggregator, experts, absent)

    def predict_one(self, x):
        return self._task.answer(self._mixture(x))
