"""How does a method that knows keys, but no feature spaces, see a sample?"""

from __future__ import annotations

import abc
import typing

import numpy as np
import numpy.typing as npt
from river import base
from scipy import special

from ..guard import guarded
from ..recovery.rows import RowReader
from ..state.stateful import Stateful
from ..tasks.classification import MarginClassification
from ..tasks.regression import PlainRegression
from ..tasks.task import Task
from ..values import Array, Key, Mask, Sample, brief

#: How many times as many keys as the widest sample had are remembered, unless the user says otherwise.
_SPARE = 8
#: Larger values, and weights, are cut to this, so that what is computed from them stays finite.
_LARGEST = 1e50
#: No key is known to have vanished.
_NONE: Mask = np.zeros(0, dtype=bool)


class Keyed(Stateful, base.Estimator, abc.ABC):
    """A linear model with a weight for each key, in arrays that grow with the keys.

    A subclass answers a score, learns from a row, and gives new keys a place in its arrays, in which the keys that were
    not seen for longest are forgotten once there are more than `max_keys`. Rows have 0 where a key is absent.

    Parameters
    ----------
    max_keys
        Number of keys that are remembered.

    """

    #: What a score means.
    _task_type: typing.ClassVar[type[Task]]

    def __init__(self, max_keys: int | None) -> None:
        if max_keys is not None and not max_keys >= 1:
            raise ValueError(f"max_keys is a number of keys, 1 or more, or None, not {max_keys!r}")
        self.max_keys = max_keys
        self._task = self._task_type()
        self._reader = RowReader("missing")
        self._weights: Array = np.zeros(0)
        self._rounds = 0
        self._widest = 0
        # The round in which each key was seen last.
        self._seen: npt.NDArray[np.int64] = np.zeros(0, dtype=np.int64)

    @property
    @guarded
    def weights(self) -> dict[Key, float]:
        """Weights by key."""
        return dict(zip(self._reader.keys, self._weights.tolist()))

    @property
    @guarded
    def living_keys(self) -> tuple[Key, ...]:
        """The keys that are remembered."""
        return tuple(self._reader.keys)

    def rehearse(self, x: Sample) -> list[float]:
        model: typing.Any = self
        score, answer = self._score_one(x), model.predict_one(x)
        model.learn_one(x, answer if answer is not None else True)
        return [score]

    @guarded
    def learn_one(self, x: Sample, y: typing.Any) -> None:
        """Learn from a sample with its target.

        Parameters
        ----------
        x
            Features by key; a key that is absent, None or NaN is not there.
        y
            The target.

        Raises
        ------
        ValueError
            If a value is not a finite number, or the target is not valid. The model is as it was then.

        """
        y = self._validate(y)
        values, _, unknown = self._reader.read(x, _NONE)
        self._task.register(y)
        if unknown:
            self._reader.extend(list(unknown))
            self._seen = np.append(self._seen, np.zeros(len(unknown), dtype=np.int64))
            self._extend(len(unknown))
            values = np.append(values, list(unknown.values()))
        present = ~np.isnan(values)
        self._seen[present] = self._rounds
        self._learn(_row(values, present), present, len(unknown), y)
        np.clip(self._weights, -_LARGEST, _LARGEST, out=self._weights)
        if unknown:
            self._forget(int(present.sum()))
        self._rounds += 1

    def _forget(self, width: int) -> None:
        """Keep what `max_keys` allows, and the keys of the latest sample."""
        self._widest = max(self._widest, width)
        surplus = len(self._seen) - (self.max_keys or _SPARE * self._widest)
        if surplus > 0:
            # Keys that were last seen in the same round go together: which came first in a dict must not matter.
            limit = np.partition(self._seen, surplus - 1)[surplus - 1]
            mask = (self._seen > limit) | (self._seen == self._rounds)
            self._reader.keep(mask)
            self._seen = self._seen[mask]
            self._keep(mask)

    def _score_one(self, x: Sample) -> float:
        values, _, _ = self._reader.read(x, _NONE)
        present = ~np.isnan(values)
        score = self._score(_row(values, present), present)
        return min(max(score, -_LARGEST), _LARGEST)

    def _validate(self, y: typing.Any) -> typing.Any:
        return self._task.validate(y)

    @abc.abstractmethod
    def _signal(self, y: typing.Any) -> float:
        """What the score should have been."""

    @abc.abstractmethod
    def _error(self, score: float, y: typing.Any) -> float:
        """How a score should move: minus the slope of the logistic or squared loss."""

    @abc.abstractmethod
    def _losses(self, scores: Array, y: typing.Any) -> Array:
        """Losses in [0, 1] of several scores, shape (n,)."""

    @abc.abstractmethod
    def _score(self, row: Array, present: Mask) -> float:
        """The score of a row, shape (keys,)."""

    @abc.abstractmethod
    def _learn(self, row: Array, present: Mask, n_new: int, y: typing.Any) -> None:
        """Learn from a row, of which the last n_new keys are new, and the target as the task keeps it."""

    def _extend(self, n: int) -> None:
        """Append n keys; their weights are 0."""
        self._weights = np.append(self._weights, np.zeros(n))

    def _keep(self, mask: Mask) -> None:
        """Forget all other keys."""
        self._weights = self._weights[mask]


def _row(values: Array, present: Mask) -> Array:
    """A row with zeros for what is absent."""
    return np.where(present, np.minimum(np.maximum(values, -_LARGEST), _LARGEST), 0.0)


class KeyedClassifier(Keyed, base.Classifier):
    """A keyed model that tells two classes apart by the sign of its score."""

    _task_type = MarginClassification

    @guarded
    def predict_proba_one(self, x: Sample, **kwargs: typing.Any) -> dict[typing.Any, float]:
        """Probabilities of the classes seen so far: the logistic function of the score, to rank by.

        Raises
        ------
        ValueError
            If a value is not a finite number.

        """
        answer: dict[typing.Any, float] = self._task.answer(np.array([self._score_one(x)])[: self._task.n_columns])
        return answer

    def _validate(self, y: typing.Any) -> typing.Any:
        y = super()._validate(y)
        classes = typing.cast(MarginClassification, self._task).classes
        if len(classes) == 2 and y not in classes:
            raise ValueError(
                f"the label is {brief(y)}, a third class after {classes[0]!r} and {classes[1]!r}: "
                f"use multiclass.OneVsRestClassifier({type(self).__name__}())"
            )
        return y

    def _signal(self, y: typing.Any) -> float:
        target = self._task.target(y)
        return 2.0 * float(target[0]) - 1.0 if len(target) else -1.0

    def _error(self, score: float, y: typing.Any) -> float:
        signal = self._signal(y)
        return signal * float(special.expit(-signal * score))

    def _losses(self, scores: Array, y: typing.Any) -> Array:
        losses: Array = np.minimum(np.logaddexp(0.0, -self._signal(y) * scores), 1.0)
        return losses


class KeyedRegressor(Keyed, base.Regressor):
    """A keyed model whose score is the answer."""

    _task_type = PlainRegression

    @guarded
    def predict_one(self, x: Sample, **kwargs: typing.Any) -> float:
        """The expected target; 0.0 before anything was learned.

        Raises
        ------
        ValueError
            If a value is not a finite number.

        """
        answer: float = self._task.answer(np.array([self._score_one(x)]))
        return answer

    def _signal(self, y: typing.Any) -> float:
        return min(max(float(y), -_LARGEST), _LARGEST)

    def _error(self, score: float, y: typing.Any) -> float:
        return 2.0 * (self._signal(y) - score)

    def _losses(self, scores: Array, y: typing.Any) -> Array:
        return self._task.losses(scores[:, None], self._task.target(y))
