"""What does a user get as an answer? Classes with probabilities, or numbers."""

from __future__ import annotations

import abc
import typing

import numpy as np
from river import base
from river.utils import dataframe, pretty

from .frames import Batch
from .guard import guarded
from .learning import FeatureEvolving
from .values import Array, Sample

#: Limits of the table of `debug_one`: classes, letters of a label, and the largest number in fixed-point notation.
_SHOWN, _WIDTH, _LONG = 8, 12, 1e9


class _Answering(FeatureEvolving):
    """Mixtures of predictions as answers."""

    def rehearse(self, x: Sample) -> list[float]:
        model: typing.Any = self
        answer: list[float] = self._ask(x).mixture.tolist()
        model.learn_one(x, model.predict_one(x))
        return answer

    def _answer(self, x: Sample) -> typing.Any:
        return self._task.answer(self._ask(x).mixture)

    def _answers(self, batch: Batch) -> list[typing.Any]:
        return [self._task.answer(mixture) for mixture in self._mixtures(batch)]

    @abc.abstractmethod
    def _columns(self, answers: list[typing.Any], decimals: int) -> list[tuple[str, list[str]]]:
        """Headers, and one cell for each answer below them."""

    @guarded
    def debug_one(self, x: Sample, decimals: int = 3) -> str:
        """A table of the experts: how much each counts, and what it would answer.

        Parameters
        ----------
        x
            Features by key.
        decimals
            Number of decimals of each number.

        """
        _, predictions, awake, _, weights, mixture = self._ask(x)
        mixtures: Array = np.concatenate((predictions, mixture[None]))
        columns = self._columns([self._task.answer(mixture) for mixture in mixtures], decimals)
        return pretty.print_table(
            headers=["Expert", "Weight", *(header for header, _ in columns)],
            columns=[
                [*self._experts.names, "mixture"],
                [f"{weight:.{decimals}f}" for weight in (*weights, 1.0)],
                *([cell if up else "asleep" for cell, up in zip(cells, (*awake, 1.0))] for _, cells in columns),
            ],
        )


class EvolvingClassifier(_Answering, base.MiniBatchClassifier):
    """Answers are probabilities of classes."""

    @property
    def _multiclass(self) -> bool:
        return bool(getattr(self.model, "_multiclass", True))

    @guarded
    def predict_proba_one(self, x: Sample, **kwargs: typing.Any) -> dict[typing.Any, float]:
        """Probabilities of the classes seen so far.

        Raises
        ------
        ValueError
            If a value is not a finite number.

        """
        answer: dict[typing.Any, float] = self._answer(x)
        return answer

    @guarded
    def predict_proba_many(self, X: typing.Any) -> typing.Any:
        """Probabilities of the classes for the rows of a frame: a frame of the same kind, one column per class.

        Raises
        ------
        ValueError
            If a cell is not a finite number.

        """
        batch = Batch(X)
        answers = self._answers(batch)
        labels = self._task.answer(np.zeros(self._task.n_columns))
        columns = {label: [answer[label] for answer in answers] for label in labels}
        return dataframe.to_native_frame(columns, like=batch.frame)

    @guarded
    def predict_many(self, X: typing.Any) -> typing.Any:
        """The most probable classes for the rows of a frame: a series of the same kind.

        Raises
        ------
        ValueError
            If a cell is not a finite number.

        """
        batch = Batch(X)
        labels = [max(answer, key=answer.__getitem__) for answer in self._answers(batch)]
        return dataframe.to_native_series(labels, name=None, like=batch.frame)

    def _columns(self, answers: list[typing.Any], decimals: int) -> list[tuple[str, list[str]]]:
        shown = list(answers[-1])
        if len(shown) > _SHOWN:
            # Those that the mixture finds most probable; the rest is one column.
            likely = set(sorted(shown, key=answers[-1].__getitem__, reverse=True)[: _SHOWN - 1])
            shown = [label for label in shown if label in likely]
        columns = [(str(label)[:_WIDTH], [f"{p[label]:.{decimals}f}" for p in answers]) for label in shown]
        if len(answers[-1]) > len(shown):
            rest = [max(1.0 - sum(p[label] for label in shown), 0.0) for p in answers]
            columns.append((f"{len(answers[-1]) - len(shown)} others", [f"{p:.{decimals}f}" for p in rest]))
        return columns


class EvolvingRegressor(_Answering, base.MiniBatchRegressor):
    """Answers are numbers."""

    @guarded
    def predict_one(self, x: Sample, **kwargs: typing.Any) -> float:
        """The expected target; 0.0 before anything was learned.

        Raises
        ------
        ValueError
            If a value is not a finite number.

        """
        answer: float = self._answer(x)
        return answer

    @guarded
    def predict_many(self, X: typing.Any) -> typing.Any:
        """The expected targets for the rows of a frame: a series of the same kind.

        Raises
        ------
        ValueError
            If a cell is not a finite number.

        """
        batch = Batch(X)
        return dataframe.to_native_series(self._answers(batch), name=None, like=batch.frame)

    def _columns(self, answers: list[typing.Any], decimals: int) -> list[tuple[str, list[str]]]:
        return [("Answer", [f"{y:,.{decimals}{'f' if abs(y) < _LONG else 'e'}}" for y in answers])]
