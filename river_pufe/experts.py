"""Who predicts?

An expert is a learner together with the rows that it reads. `LinearExperts` are the default: linear models in all views
of a sample, under all learning rules, moved by one vectorized step. `SpaceExperts` hold one model of any kind for each
feature space.
"""

from __future__ import annotations

import abc
import typing

import numpy as np
from river import base

from .linear_map import Affine
from .recovery import COMPLETED, FRESH, PRESENT, FeatureRecovery
from .rules import Gradient, Newton, Rule
from .sketch import Array, Mask
from .spaces import Evolution, Row

VIEWS = {PRESENT: "present", COMPLETED: "recovered", FRESH: "fresh"}


class Experts(base.Base, abc.ABC):
    """Experts that score a sample and learn from it."""

    @property
    @abc.abstractmethod
    def names(self) -> tuple[str, ...]: ...

    @abc.abstractmethod
    def grow(self, n_columns: int) -> None: ...

    @abc.abstractmethod
    def follow(self, evolution: Evolution, recover: Affine | None, weights: Array) -> Mask: ...

    def __str__(self) -> str:
        return repr(self)


class LinearExperts(Experts):
    """Linear models in three views of a sample, under several learning rules.

    - *present* reads what is there, and goes on with what it knows for ever: the model that a user would otherwise run;
    - *recovered* reads completed rows; when features are gone for good, its weights on them move to what is left by
      the learned map (a linear model of recovered features is linear in the features they are recovered from);
    - *fresh* starts anew with each feature space, and reads nothing else.

    """

    def __init__(self, rules: tuple[Rule, ...] | None = None) -> None:
        self.rules = rules if rules is not None else (
            Newton(), Newton(forgetting=0.99), Gradient()
        )
        self._rules = [rule.clone() for rule in self.rules]
        self._n_columns = 0
        self._fresh_awake = False
        self._memory: dict[int, Array] = {}
        for rule in self._rules:
            rule.extend(1)
        # Rules × inputs (the constant first) × views · columns.
        self._weights: Array = np.zeros((len(self._rules), 1, 0))

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(f"{view}/{i}{type(rule).__name__}" for i, rule in enumerate(self._rules) for view in VIEWS.values())

    @property
    def awake(self) -> Mask:
        awake = np.ones((len(self._rules), len(VIEWS)), dtype=bool)
        awake[:, FRESH] = self._fresh_awake
        return awake.reshape(-1)

    def grow(self, n_columns: int) -> None:
        """More classes."""
        R, D, _ = self._weights.shape
        grown = np.zeros((R, D, len(VIEWS), n_columns))
        grown[..., : self._n_columns] = self._weights.reshape(R, D, len(VIEWS), self._n_columns)
        self._n_columns = n_columns
        self._weights = grown.reshape(R, D, len(VIEWS) * n_columns)

    def scores(self, views: Array) -> Array:
        """Scores of all experts, shape (n, columns)."""
        if len(views) == 1:
            return (views[0] @ self._weights).reshape(len(self._rules) * len(VIEWS), self._n_columns)
        scores = np.einsum("vd,rdvc->rvc", views, self._weights.reshape(*self._weights.shape[:2], len(VIEWS), self._n_columns))
        return scores.reshape(-1, self._n_columns) if self._n_columns else scores.reshape(len(self.names), 0)

    def learn(self, views: Array, errors: Array, curvature: float) -> None:
        """One step of all experts."""
        R, D, _ = self._weights.shape
        main = min(COMPLETED, len(views) - 1)
        if len(views) == 1:
            errors = errors.reshape(R, len(VIEWS) * self._n_columns)
            for weights, rule, error in zip(self._weights, self._rules, errors):
                weights += rule.step(views, curvature, main)[0][:, None] * error
        else:
            errors = errors.reshape(R, len(VIEWS), self._n_columns)
            for weights, rule, error in zip(self._weights, self._rules, errors):
                gains = rule.step(views, curvature, main)
                weights += (gains.T[:, :, None] * error).reshape(D, len(VIEWS) * self._n_columns)

    def follow(self, evolution: Evolution, recover: Affine | None, weights: Array) -> Mask:
        R, C = len(self._rules), self._n_columns
        born = np.zeros((R, len(VIEWS)), dtype=bool)
        cube = self._weights.reshape(R, self._weights.shape[1], len(VIEWS), C)
        if evolution.opened:
            n = evolution.opened
            if evolution.overlap:
                shares = weights.reshape(R, len(VIEWS))
                total = shares.sum(1)
                shares = np.where((total > 0)[:, None], shares / np.where(total > 0, total, 1)[:, None], [1/2, 1/2, 0])
                cube = cube.copy()
                cube[:, :, COMPLETED] = np.einsum("rdvc,rv->rdc", cube, shares)
                cube[:, :, FRESH] = 0.0
                self._fresh_awake = True
                born[:, FRESH] = True
            fresh = np.zeros((R, n, len(VIEWS), C))
            for i, origin in enumerate(evolution.origins):
                if origin is not None:
                    slab = self._memory[origin[0]][:, origin[1]]
                    fresh[:, i, FRESH, : slab.shape[-1]] = slab
            cube = np.concatenate([cube, fresh], axis=1)
            for rule in self._rules:
                rule.extend(n)
        if evolution.keep is not None:
            keep = np.append(True, evolution.keep)
            dropped = cube[:, ~keep]
            if evolution.retired is not None:
                self._memory[evolution.retired] = dropped[:, :, COMPLETED].copy()
            cube = cube[:, keep].copy()
            if recover is not None:
                for r in range(R):
                    moved, constant = recover.pull_back(dropped[r, :, COMPLETED])
                    cube[r, 1:, COMPLETED] += moved
                    cube[r, 0, COMPLETED] += constant
            for rule in self._rules:
                rule.keep(keep)
        for identifier in evolution.forgotten:
            del self._memory[identifier]
        if evolution.settled:
            born[:] = True
        self._weights = np.ascontiguousarray(cube).reshape(R, cube.shape[1], len(VIEWS) * C)
        return born.reshape(-1)
