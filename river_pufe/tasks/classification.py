"""What do scores mean where the target is a class?"""

from __future__ import annotations

import itertools
import math
import typing
from collections.abc import Sequence

import numpy as np

from .. import kernels
from ..state.parts import Stored
from ..values import Array, Key, brief, is_there
from .task import Task

Label = typing.Hashable
_PROBABILITIES = kernels.Probabilities()
#: Scores of River models are clipped at ± this: beyond it, rounding loses the other probabilities.
_CERTAIN = 20.0
#: Types of labels that are there, and hashable.
_PLAIN = frozenset({str, bool, int})
#: NumPy scalars that stay as they are: in plain Python one of nanoseconds would be an int.
_TIMES = (np.datetime64, np.timedelta64)


#: What is left of 1 may be rounding up to here.
_ROUNDING = 1e-15


class Classification(Stored, Task):
    """Probabilities are averaged; the Brier loss, halved to lie in [0, 1], judges them.

    The learners' loss is the logistic one, with softmax over more than two classes. The errors are the Newton direction
    at even odds, $(e_c - e_0)(C - 1)/C$ with e the difference of target and probability, which treats all classes
    alike although the first has no column.

    Attributes
    ----------
    classes
        The classes in the order of their columns. False and True come first where the first label is a bool.

    """

    DERIVED = ("_outcomes", "_targets")
    form = _PROBABILITIES
    _outcomes: dict[Label, Array]
    _targets: dict[Label, Array]

    def __init__(self) -> None:
        self.classes: list[Label] = []
        self.rebuild()
        self._unseen: set[Label] = set()

    @property
    def n_columns(self) -> int:
        return max(len(self.classes) - 1, 0)

    def validate(self, y: typing.Any) -> Label:
        # Nearly all labels are, and the questions below take ten times as long as this one.
        if type(y) in _PLAIN:
            return typing.cast(Label, y)
        label: Label = y.item() if isinstance(y, np.generic) and not isinstance(y, _TIMES) else y
        if not is_there(label):
            raise ValueError(
                f"the label is {brief(y)}: leave the sample out, or learn from its features with observe_one(x)"
            )
        try:
            hash(label)
        except (TypeError, ValueError):
            raise ValueError(
                f"the label is {brief(y)}, which is not hashable: use a str, a number or a tuple"
            ) from None
        return label

    def register(self, y: Label) -> bool:
        is_new = y not in self._targets
        if is_new and not self.classes and isinstance(y, bool):
            self._add(False)
            self._add(True)
            self._unseen = {False, True}
        elif is_new:
            self._add(y)
        if self._unseen:
            self._unseen.discard(y)
        return is_new

    def _add(self, label: Label) -> None:
        self.classes.append(label)
        self.rebuild()

    def rebuild(self) -> None:
        outcomes = np.eye(len(self.classes))
        self._outcomes = dict(zip(self.classes, outcomes))
        self._targets = dict(zip(self.classes, outcomes[:, 1:]))

    def learn(self, y: Label, mixture: Array) -> None:
        pass

    def target(self, y: Label) -> Array:
        return self._targets[y]

    @property
    def n_outcomes(self) -> int:
        return len(self.classes)

    def outcome(self, y: Label) -> Array:
        return self._outcomes[y]

    def batch(self, targets: Sequence[Label]) -> tuple[Array, Array]:
        known = list(itertools.takewhile(self._targets.__contains__, targets))
        shape = len(known), len(self.classes)
        outcomes = np.array([self._outcomes[y] for y in known]).reshape(shape)
        return outcomes[:, 1:], outcomes

    def predictions(self, scores: Array) -> Array:
        return kernels.predictions(scores, _PROBABILITIES)

    def errors(self, predictions: Array, target: Array) -> Array:
        return kernels.errors(predictions, target, _PROBABILITIES)

    def losses(self, predictions: Array, target: Array) -> Array:
        return kernels.losses(predictions, target, _PROBABILITIES)

    def curvature(self, mixture: Array, target: Array) -> float:
        return kernels.curvature(mixture, target, _PROBABILITIES)

    def scores(self, model: typing.Any, x: dict[Key, typing.Any]) -> Array:
        answer = model.predict_proba_one(x)
        floor = math.exp(-_CERTAIN)
        logs = [math.log(max(answer.get(label, 0.0), floor)) for label in self.classes]
        return np.array([log - logs[0] for log in logs[1:]])

    def answer(self, mixture: Array) -> dict[Label, float]:
        if not self.classes:
            return {False: 0.5, True: 0.5}
        p = mixture.tolist()
        if (total := sum(p)) > 1.0:
            # Rounding.
            p = [value / total for value in p]
            total = sum(p)
        left = 1.0 - total
        answer = dict(zip(self.classes, (left if left > _ROUNDING else 0.0, *p)))
        if self._unseen and len(answer) > 2:
            # Bools gave way to other labels: a bool that never came is not a class.
            answer = {label: value for label, value in answer.items() if label not in self._unseen}
            total = sum(answer.values())
            answer = {label: value / total if total else 1 / len(answer) for label, value in answer.items()}
        return answer


class MarginClassification(Classification):
    """Margins are averaged; the logistic loss, cut at 1, judges them: the paper's choice.

    Theorem 2 asks for losses in [0, 1]; the paper's logistic loss has no bound, so it is cut.
    """

    def predictions(self, scores: Array) -> Array:
        return scores

    def errors(self, predictions: Array, target: Array) -> Array:
        return super().errors(super().predictions(predictions), target)

    def losses(self, predictions: Array, target: Array) -> Array:
        top = np.maximum(predictions.max(1, initial=0.0), 0.0)
        total = top + np.log(np.exp(-top) + np.exp(predictions - top[:, None]).sum(1))
        losses: Array = np.minimum(total - predictions @ target, 1.0)
        return losses

    def curvature(self, mixture: Array, target: Array) -> float:
        return super().curvature(super().predictions(mixture[None])[0], target)

    def answer(self, mixture: Array) -> dict[Label, float]:
        return super().answer(super().predictions(mixture[None])[0])
