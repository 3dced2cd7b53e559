"""How would a linear model of River do on the same samples?"""

from __future__ import annotations

import typing

from river import linear_model, multiclass, preprocessing

#: What it is called in tables and figures.
NAME = "River's linear model"


class RivalClassifier:
    """River's scaled logistic regression; with more than two classes, one for each against the rest.

    River's own takes False and True only, so here the first class that comes is False.

    Parameters
    ----------
    n_classes
        How many classes there will be, as far as that is known.

    """

    def __init__(self, n_classes: int = 2) -> None:
        self._classes: list[typing.Any] = []
        self._many = n_classes > 2
        self._model: typing.Any = self._start()

    def _start(self) -> typing.Any:
        model: typing.Any = linear_model.LogisticRegression()
        return preprocessing.StandardScaler() | (multiclass.OneVsRestClassifier(model) if self._many else model)

    def predict(self, x: dict[typing.Any, typing.Any]) -> dict[typing.Any, float]:
        """Probabilities of the classes seen so far."""
        if not self._classes:
            return {}
        answer: dict[typing.Any, float] = self._model.predict_proba_one(x)
        if self._many:
            return answer
        return {label: answer[is_second] for label, is_second in zip(self._classes, (False, True))}

    def learn(self, x: dict[typing.Any, typing.Any], y: typing.Any) -> None:
        """Learn from a sample."""
        if y not in self._classes:
            self._classes.append(y)
            if len(self._classes) == 3 and not self._many:
                self._many, self._model = True, None
                self._model = self._start()
        self._model.learn_one(x, y if self._many else y != self._classes[0])


class RivalRegressor:
    """River's scaled linear regression, with a scaled target."""

    def __init__(self) -> None:
        linear = preprocessing.TargetStandardScaler(linear_model.LinearRegression())
        self._model: typing.Any = preprocessing.StandardScaler() | linear

    def predict(self, x: dict[typing.Any, typing.Any]) -> float:
        """The expected target."""
        return float(self._model.predict_one(x))

    def learn(self, x: dict[typing.Any, typing.Any], y: typing.Any) -> None:
        """Learn from a sample."""
        self._model.learn_one(x, y)


Rival = RivalClassifier | RivalRegressor
