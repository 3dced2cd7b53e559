"""What learns on the features of one space, where it is not the default?

`OnlineGradientDescent` is the paper's learner, `RiverModel` lets any River model be one. Both see a dict of features.
"""

from __future__ import annotations

import abc
import inspect
import math
import typing

import numpy as np
from river import base, compose

from ..part import Part
from ..tasks.task import Task
from ..values import Array, Key

Features = dict[Key, float]
_LARGE = 1e12
#: Weights beyond this would make scores infinite.
_FARTHEST = 1e100
#: Made-up rows, to see what a model takes.
_COMPLETE: tuple[Features, ...] = ({"a": 0.0, "b": 1.0}, {"a": 1.0, "b": 0.0}, {"a": 0.5, "b": 2.0})
_INCOMPLETE: tuple[Features, ...] = ({"a": 0.0, "b": 1.0}, {"a": 1.0}, {"b": 2.0})


class Learner(Part, abc.ABC):
    """A model of the features of one space.

    Attributes
    ----------
    takes_weights
        Whether samples may have weights.
    may_fail
        Whether learning may raise half-way, so that the model around it has to be made what it was.

    """

    takes_weights: bool = True
    may_fail: bool = False

    @property
    def title(self) -> str:
        """What this learner is called among others."""
        return type(self).__name__

    @abc.abstractmethod
    def scores(self, x: Features, task: Task) -> Array:
        """Scores of a sample, shape (columns,)."""

    @abc.abstractmethod
    def learn(self, x: Features, y: typing.Any, w: float, task: Task) -> None:
        """Learn from a sample.

        Parameters
        ----------
        x
            Features of the space; all are there.
        y
            The target as the user gave it.
        w
            Weight of the sample.
        task
            What scores mean: `task.errors` says how they should move.

        """

    def restart(self) -> None:
        """A new period begins: what is learned stays, schedules start over."""


class OnlineGradientDescent(Learner):
    """Online gradient descent on a linear model: Algorithm 1 of the paper.

    **When to use it.** To have the paper's learner, or its baselines.

    $w_{t+1} = \\Pi(w_t - \\frac{1}{c \\sqrt t} \\nabla \\ell(w_t x_t, y_t))$, with t counted from the start of the
    period and $w_1 = 0$, so that the order of keys never matters. There is no intercept. Costs O(d).

    Parameters
    ----------
    c
        Step sizes are $1 / (c \\sqrt t)$. Towards 0 the steps explode; large values learn nothing.
    radius
        The weights are projected on the ball of this radius; None: they are free.

    """

    def __init__(self, c: float = 1.0, radius: float | None = None) -> None:
        if not c > 0:
            raise ValueError(f"c is a number above 0, not {c!r}")
        if radius is not None and not radius > 0:
            raise ValueError(f"radius is a number above 0, or None, not {radius!r}")
        self.c = c
        self.radius = radius
        self._t = 0
        self._slots: dict[Key, int] = {}
        self._weights: Array = np.zeros((0, 0))

    def scores(self, x: Features, task: Task) -> Array:
        scores = np.zeros(task.n_columns)
        known = [(value, self._slots[key]) for key, value in x.items() if key in self._slots]
        for column in range(self._weights.shape[1]):
            # An exact sum, so that the order of the keys does not matter, not even for the last digit.
            scores[column] = math.fsum(value * self._weights[slot, column] for value, slot in known)
        return scores

    def learn(self, x: Features, y: typing.Any, w: float, task: Task) -> None:
        error = task.errors(task.predictions(self.scores(x, task)[None]), task.target(y))[0]
        self._t += 1
        self._make_room(x, len(error))
        slots = [self._slots[key] for key in x]
        row = np.fromiter(x.values(), np.float64, len(x))
        # As River does: an error that large comes from a model that has diverged, and must not reach infinity.
        step = error.clip(-_LARGE, _LARGE) * (w / (self.c * math.sqrt(self._t)))
        self._weights[slots] += row[:, None] * step
        np.clip(self._weights, -_FARTHEST, _FARTHEST, out=self._weights)
        if self.radius is not None:
            norm = float(np.linalg.norm(self._weights))
            if norm > self.radius:
                self._weights *= self.radius / norm

    def _make_room(self, x: Features, n_columns: int) -> None:
        unknown = [key for key in x if key not in self._slots]
        rows, columns = self._weights.shape
        if unknown or columns < n_columns:
            self._slots.update((key, rows + i) for i, key in enumerate(unknown))
            self._weights = np.pad(self._weights, [(0, len(unknown)), (0, n_columns - columns)])

    def restart(self) -> None:
        self._t = 0


class RiverModel(Learner):
    """Any River classifier or regressor, pipelines included.

    Where the model raises an error, all that the same sample has changed around it is taken back. For this the whole
    is copied every few hundred samples, and learns again what came since.

    Parameters
    ----------
    model
        The model; a clone of it is trained.

    """

    may_fail = True

    def __init__(self, model: base.Estimator) -> None:
        self.model = model
        self._model = model.clone()
        self._untrained = True
        self.takes_weights = _takes_weights(model)

    @classmethod
    def _unit_test_params(cls) -> typing.Iterator[dict[str, typing.Any]]:
        from river import linear_model

        yield {"model": linear_model.LogisticRegression()}

    @property
    def title(self) -> str:
        return type(_last_step(self.model)).__name__

    @property
    def reads_incomplete(self) -> bool:
        """Whether the model takes rows in which features are absent, as far as three made-up rows can tell."""
        return _can_play(self.model, _INCOMPLETE) or not _can_play(self.model, _COMPLETE)

    def scores(self, x: Features, task: Task) -> Array:
        # Some models set themselves up at the first look, with whatever they see.
        if self._untrained:
            return np.zeros(task.n_columns)
        # A model that has diverged must not make the mixture infinite.
        return np.nan_to_num(task.scores(self._model, x), posinf=_LARGE, neginf=-_LARGE).clip(-_LARGE, _LARGE)

    def learn(self, x: Features, y: typing.Any, w: float, task: Task) -> None:
        # A sample of weight 0 is skipped: some models divide by the sum of the weights.
        if w == 0.0:
            return
        self._untrained = False
        weight = {} if w == 1.0 else {"w": w}
        self._model.learn_one(x, y, **weight)  # type: ignore[attr-defined]


def _last_step(model: typing.Any) -> typing.Any:
    while isinstance(model, compose.Pipeline):
        model = next(reversed(model.steps.values()))
    return model


def _takes_weights(model: typing.Any) -> bool:
    parameters = inspect.signature(_last_step(model).learn_one).parameters.values()
    return any(each.name == "w" or each.kind is each.VAR_KEYWORD for each in parameters)


def _can_play(model: typing.Any, rows: tuple[Features, ...]) -> bool:
    trial, classes = model.clone(), isinstance(model, base.Classifier)
    try:
        for n, x in enumerate(rows):
            trial.predict_one(x)
            trial.learn_one(x, n % 2 == 0 if classes else float(n))
    except Exception:
        return False
    return True
