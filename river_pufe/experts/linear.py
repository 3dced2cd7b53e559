"""What do linear models predict, from several views of a sample and under several rules?"""

from __future__ import annotations

import numpy as np
from scipy.linalg import blas

from ..recovery.evolution import Evolution
from ..recovery.reading import COMPLETED, FRESH, PRESENT, Reading
from ..tasks.task import Task
from ..values import Array, Mask
from .experts import Experts, Round
from .rules import ImplicitGradient, Newton, UpdateRule


class LinearExperts(Experts):
    """Linear models in three views of a sample, under several learning rules.

    - *present* reads what is there, and is never reset: the linear model that a user would otherwise run;
    - *recovered* reads completed rows. When a space opens it starts from the mixture of all experts, and when features
      are dropped its weights on them move to what is left, by the learned map: a linear model of recovered features is
      linear in the features they are recovered from;
    - *fresh* starts anew with each space, and reads nothing else.

    Where a retired feature returns, *present* goes on with the weight that it had, and *fresh* starts from the one that
    *recovered* had.

    All experts under one rule share its gains, so a round costs one product with a matrix of weights for all scores,
    and one step and one update of rank one for each rule. Memory is O(rules · d) numbers, and what the rules need.

    Parameters
    ----------
    rules
        The learning rules; each is used in every view. By default a second-order one, with a memory of 500
        rounds, and a first-order one, which follows what changes faster.
    prior
        How much the views *present*, *recovered* and *fresh* count before any loss. The recovered model is what was
        best so far, so most of the trust is in it.

    """

    VIEWS = ("present", "recovered", "fresh")

    def __init__(
        self, rules: tuple[UpdateRule, ...] | None = None, prior: tuple[float, float, float] = (3.0, 8.0, 1.0)
    ) -> None:
        if not (len(prior) == 3 and min(prior) > 0):
            raise ValueError(f"prior is one number above 0 for each of present, recovered and fresh, not {prior!r}")
        self.rules = rules if rules is not None else (Newton(forgetting=0.998), ImplicitGradient())
        self.prior = prior
        self._rules = [rule.clone() for rule in self.rules]
        for rule in self._rules:
            rule.extend(1)
        self._n_columns = 0
        # There is nothing fresh about the first space.
        self._awake: Array = np.tile([1.0, 1.0, 0.0], len(self._rules))
        # Rules × inputs (the constant first) × views · columns.
        self._weights: Array = np.zeros((len(self._rules), 1, 0))
        self._retired: dict[int, Array] = {}

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(f"{view} {rule.name}" for rule in self._rules for view in self.VIEWS)

    @property
    def priors(self) -> Array:
        return np.tile(self.prior, len(self._rules))

    def set_n_columns(self, n_columns: int) -> None:
        more = n_columns - self._n_columns
        if more == 0:
            return
        known = self._cube
        # A class is most like the mean of the others before anything is known of it; the first one has score 0.
        mean = known.sum(-1, keepdims=True) / (self._n_columns + 1)
        self._n_columns = n_columns
        self._cube = np.concatenate([known, np.repeat(mean, more, axis=-1)], axis=-1)
        for identifier, slab in self._retired.items():
            average = slab.sum(-1, keepdims=True) / (known.shape[-1] + 1)
            self._retired[identifier] = np.concatenate([slab, np.repeat(average, more, axis=-1)], axis=-1)

    def predict(self, reading: Reading, task: Task) -> tuple[Array, Array]:
        views = reading.views
        scores = views[0] @ self._weights if len(views) == 1 else np.einsum("vd,rdvc->rvc", views, self._cube)
        return task.predictions(scores.reshape(len(self._awake), self._n_columns)), self._awake

    def predict_many(self, views: Array, task: Task) -> tuple[Array, Array] | None:
        if not self._n_columns:
            return None
        scores = (views @ self._weights).swapaxes(0, 1).reshape(-1, self._n_columns)
        predictions = task.predictions(scores)
        return predictions.reshape(len(views), len(self._awake), self._n_columns), self._awake

    def learn(self, reading: Reading, round_: Round, task: Task) -> None:
        if not self._n_columns:
            return
        views = reading.views
        curvature = task.curvature(round_.mixture)
        errors = task.errors(round_.predictions, round_.target)
        if round_.w != 1.0:
            curvature, errors = round_.w * curvature, round_.w * errors
        learn_from = min(COMPLETED, len(views) - 1)
        if len(views) == 1:
            for weights, rule, error in zip(self._weights, self._rules, errors.reshape(len(self._rules), -1)):
                direction, size = rule.step(views, curvature, learn_from)[0]
                # In place: the transpose is in the column order that BLAS wants.
                blas.dger(size, error, direction, a=weights.T, overwrite_a=1)
        else:
            errors = errors.reshape(len(self._rules), len(self.VIEWS), self._n_columns)
            for weights, rule, error in zip(self._cube, self._rules, errors):
                for view, (direction, size) in enumerate(rule.step(views, curvature, learn_from)):
                    weights[:, view] += direction[:, None] * (size * error[view])

    def follow(self, evolution: Evolution, weights: Array) -> Mask:
        born = np.zeros((len(self._rules), len(self.VIEWS)), dtype=bool)
        cube = self._cube
        if evolution.overlap:
            cube = cube.copy()
            cube[:, :, COMPLETED] = np.einsum("rdvc,rv->dc", cube, weights.reshape(born.shape))
            cube[:, 0, FRESH] = cube[:, 0, COMPLETED]
            cube[:, 1:, FRESH] = 0.0
            born[:, FRESH] = True
            self._awake = np.ones(born.size)
        if evolution.opened:
            opened = np.zeros((len(cube), evolution.opened, *cube.shape[2:]))
            for slot, origin in enumerate(evolution.origins):
                if origin is not None:
                    space, position = origin
                    opened[:, slot, [PRESENT, FRESH]] = self._retired[space][:, position]
            cube = np.concatenate([cube, opened], axis=1)
            for rule in self._rules:
                rule.extend(evolution.opened)
        if evolution.keep is not None:
            cube = self._drop(cube, np.append(True, evolution.keep), evolution)
        for identifier in evolution.forgotten:
            del self._retired[identifier]
        self._cube = cube
        born |= evolution.replaced
        return born.reshape(-1)

    def _drop(self, cube: Array, keep: Mask, evolution: Evolution) -> Array:
        dropped, cube = cube[:, ~keep], cube[:, keep]
        if evolution.retired is not None:
            self._retired[evolution.retired] = dropped[:, :, [PRESENT, COMPLETED]]
        if evolution.recover is not None:
            for rule, weights in zip(cube, dropped):
                moved, constant = evolution.recover.pull_back(weights[:, COMPLETED])
                rule[1:, COMPLETED] += moved
                rule[0, COMPLETED] += constant
        for learning_rule in self._rules:
            learning_rule.keep(keep)
        return cube

    @property
    def _cube(self) -> Array:
        """The weights as rules × inputs × views × columns."""
        return self._weights.reshape(*self._weights.shape[:2], len(self.VIEWS), self._n_columns)

    @_cube.setter
    def _cube(self, cube: Array) -> None:
        self._weights = np.ascontiguousarray(cube).reshape(*cube.shape[:2], len(self.VIEWS) * self._n_columns)
