"""What does a score mean, and what does it cost to be wrong?"""

from __future__ import annotations

import math
import typing

import numpy as np
from river import base

from .sketch import Array


class Classification(base.Base):
    """Probabilities of classes, mixed, under the Brier loss. One column of scores per class but the first."""

    def __init__(self) -> None:
        self.classes: list[typing.Hashable] = []
        self._index: dict[typing.Hashable, int] = {}
        self._seen: set[int] = set()

    @property
    def n_columns(self) -> int:
        return max(len(self.classes) - 1, 0)

    def check(self, y: typing.Hashable) -> typing.Hashable:
        if isinstance(y, np.generic):
            y = y.item()
        if y is None or y != y:
            raise ValueError(f"the label is {y!r}: skip the sample, or use observe_one(x) to learn from its features")
        return y

    def register(self, y: typing.Hashable) -> None:
        if isinstance(y, bool) and not self.classes:
            self._add(False)
            self._add(True)
        if y not in self._index:
            self._add(y)
        self._seen.add(self._index[y])

    def _add(self, y: typing.Hashable) -> None:
        self._index[y] = len(self.classes)
        self.classes.append(y)

    def target(self, y: typing.Hashable) -> Array:
        target = np.zeros(self.n_columns)
        if i := self._index[y]:
            target[i - 1] = 1.0
        return target

    def predictions(self, scores: Array) -> Array:
        """Probabilities of all classes but the first."""
        if scores.shape[1] == 1:
            return 1.0 / (1.0 + np.exp(-scores.clip(-30, 30)))
        e = np.exp(scores - np.maximum(scores.max(1, initial=0.0), 0.0)[:, None])
        rest = np.exp(-np.maximum(scores.max(1, initial=0.0), 0.0))
        return e / (rest + e.sum(1))[:, None]

    def losses(self, predictions: Array, target: Array) -> Array:
        off = predictions - target
        if predictions.shape[-1] == 1:
            return (off * off)[..., 0]
        return 0.5 * ((off * off).sum(-1) + off.sum(-1) ** 2)

    def errors(self, predictions, target):
        return target - predictions

    def curvature(self, mixture: Array) -> float:
        if len(mixture) == 1:
            p = float(mixture[0])
            return p * (1.0 - p)
        return 0.5 * float(1.0 - (mixture**2).sum() - (1.0 - mixture.sum()) ** 2)

    def answer(self, mixture: Array) -> dict:
        if not self.classes:
            return {False: 0.5, True: 0.5}
        p = mixture.tolist()
        out = dict(zip(self.classes, [max(0.0, 1.0 - sum(p)), *p]))
        if len(self._seen) < len(out) and len(out) > 2:
            out = {c: v for i, (c, v) in enumerate(out.items()) if i in self._seen}
            total = sum(out.values())
            out = {c: v / total for c, v in out.items()}
        return out

    def learn(self, y) -> None:
        pass


class Regression(base.Base):
    def __init__(self) -> None:
        self.n = 0
        self.mean = 0.0
        self.variance = 0.0
        self.top = 1e-12

    n_columns = 1

    def check(self, y):
        try:
            v = float(y)
        except (TypeError, ValueError):
            raise ValueError(f"the target is {y!r}, which is not a number") from None
        if not math.isfinite(v):
            raise ValueError(f"the target is {y!r}, which is not finite: skip the sample")
        return v

    def register(self, y): pass

    @property
    def deviation(self):
        return math.sqrt(self.variance) or 1.0

    def target(self, y):
        return np.array([(y - self.mean) / self.deviation])

    def predictions(self, scores):
        return scores

    def losses(self, predictions, target):
        return np.minimum((predictions - target)[..., 0] ** 2 / self.top, 1.0)

    def errors(self, predictions, target):
        return (target - predictions).clip(-4, 4)

    def curvature(self, mixture):
        return 1.0

    def answer(self, mixture):
        return self.mean + self.deviation * float(mixture[0]) if self.n else 0.0

    def learn(self, y):
        self.n += 1
        shift = y - self.mean
        if self.n > 10:
            shift = max(min(shift, 10 * self.deviation), -10 * self.deviation)
        rate = 1 / min(self.n, 1000)
        self.mean += rate * shift
        self.variance = (1 - rate) * (self.variance + rate * shift * shift)
        self.top = 4.0
