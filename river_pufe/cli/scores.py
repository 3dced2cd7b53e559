"""How good are the predictions of a model?"""

from __future__ import annotations

import collections
import functools
import typing
from collections.abc import Callable, Sequence

from river import metrics, utils

from . import show
from .tally import Tally

_REGRESSION = ("MAE", "RMSE", "R2")
#: A class with less than this share is rare: accuracy says little about it.
_RARE = 0.2


class Classes:
    """Metrics of a classifier, most of them from the same counts, and computed when they are asked for.

    Of two classes the *positive* one is the one that matters: the one that is given, or the rarer one.

    Parameters
    ----------
    names
        Names of metrics of River; a few usual ones if there are none.
    positive
        The class that matters; None: the rarer of two.
    window
        Number of samples that the metrics of the figure look back at.

    """

    def __init__(self, names: Sequence[str], positive: typing.Any, window: int) -> None:
        self._names, self._given = tuple(names), positive
        self._kinds = {name: find(name) for name in names}
        for name, kind in self._kinds.items():
            if not issubclass(kind, metrics.base.ClassificationMetric):
                raise show.UsageError(f"the metric {name} is not made for classification")
        self.seen: collections.Counter[typing.Any] = collections.Counter()
        self._tally, self._length = Tally(window, positive), window
        # Metrics that need probabilities; those of one class twice, once for each that may turn out to be positive.
        self._others = {name: (kind(), kind()) for name, kind in self._kinds.items() if not _from_labels(kind)}
        self.n = 0

    @property
    def positive(self) -> typing.Any:
        """The class that matters; None if it is not given, and there are more than two or none so far."""
        if self._given is not None or len(self.seen) != 2:
            return self._given
        return min(reversed(self.seen), key=self.seen.__getitem__)

    def update(self, y: typing.Any, probabilities: dict[typing.Any, float], label: typing.Any) -> None:
        """Take a sample into account.

        Parameters
        ----------
        y
            Its class.
        probabilities
            Those of the classes, as they were predicted.
        label
            The class that was decided on.

        """
        self.seen[y] += 1
        self.n += 1
        self._tally.add(y, label, probabilities)
        if not self._others:
            return
        first = self._tally.first
        is_first, p = y == first, probabilities.get(first, 0.0)
        for name, (metric, other) in self._others.items():
            if issubclass(self._kinds[name], metrics.base.BinaryMetric):
                metric.update(is_first, {True: p, False: 1.0 - p})
                other.update(not is_first, {True: 1.0 - p, False: p})
            else:
                metric.update(y, label if metric.requires_labels else probabilities)

    def measured(self, name: str, recent: bool = False) -> metrics.base.Metric:
        """A metric of River over all samples, or the latest ones."""
        kind = self._kinds.get(name) or find(name)
        is_binary = issubclass(kind, metrics.base.BinaryMetric)
        if name in self._others:
            pair: tuple[metrics.base.Metric, metrics.base.Metric] = self._others[name]
            return pair[is_binary and self.positive != self._tally.first]
        cm: typing.Any = (self._tally.latest if recent else self._tally.all).confusion
        found: metrics.base.Metric = kind(cm=cm, pos_val=self.positive) if is_binary else kind(cm=cm)
        return found

    def average_precision(self, recent: bool = False) -> float:
        """Average precision of the class that matters, over all samples or the latest ones."""
        ranking = (self._tally.latest if recent else self._tally.all).ranking
        return float(ranking.average_precision(reverse=self.positive != self._tally.first))

    def table(self) -> dict[str, str]:
        """Metrics by name, as they are shown."""
        positive = self.positive
        if self._names:
            # The metric of one class is worth no error at the end of a long run.
            unclear = [
                name
                for name, kind in self._kinds.items()
                if positive is None and issubclass(kind, metrics.base.BinaryMetric)
            ]
            return {
                title: f"of which of {len(self.seen)} classes? (--positive)" if name in unclear else value
                for name in self._names
                for title, value in [_shown(self.measured(name))]
            }
        table = dict([_shown(self.measured("Accuracy"))])
        if positive is None:
            return table | dict([_shown(self.measured("MacroF1"))])
        name = show.cut(positive)
        return table | {
            f"base rate of {name}": f"{self.seen[positive] / self.n:.2%}",
            f"average precision of {name}": _percent(self.average_precision()),
            f"recall of {name}": f"{self.measured('Recall').get():.2%}",
            f"precision of {name}": f"{self.measured('Precision').get():.2%}",
        }

    @property
    def curves(self) -> dict[str, Callable[[], float]]:
        """What can be drawn over time, by name, each looking back at the latest samples where that is possible."""
        if self._names:
            name = self._names[0]
            label = f"{name} so far" if name in self._others else f"{name}, latest {self._length}"
            return {label: lambda: self.measured(name, recent=True).get()}
        return {
            f"accuracy, latest {self._length}": lambda: self.measured("Accuracy", recent=True).get(),
            f"average precision, latest {self._length}": lambda: self.average_precision(recent=True),
        }

    @property
    def is_rare(self) -> bool:
        """Whether the class that matters is too rare for the accuracy to say much."""
        positive = self.positive
        return positive is not None and self.seen[positive] < _RARE * self.n


class Numbers:
    """Metrics of a regressor.

    Parameters
    ----------
    names
        Names of metrics of River; a few usual ones if there are none.
    window
        Number of samples that the metric of the figure looks back at.

    """

    def __init__(self, names: Sequence[str], window: int) -> None:
        kinds = {name: find(name) for name in names or _REGRESSION}
        for name, kind in kinds.items():
            if not issubclass(kind, metrics.base.RegressionMetric):
                raise show.UsageError(f"the metric {name} is not made for regression")
        self._metrics = {name: kind() for name, kind in kinds.items()}
        self._first, self._length = next(iter(kinds)), window
        self._window: typing.Any = utils.Rolling(kinds[self._first], window_size=window)
        self.n = 0

    def update(self, y: float, prediction: float) -> None:
        """Take a sample into account."""
        self.n += 1
        for metric in self._metrics.values():
            metric.update(y, prediction)
        self._window.update(y, prediction)

    def table(self) -> dict[str, str]:
        """Metrics by name, as they are shown."""
        return dict(map(_shown, self._metrics.values()))

    @property
    def curves(self) -> dict[str, Callable[[], float]]:
        """What can be drawn over time, by name."""
        return {f"{self._first}, latest {self._length}": self._window.get}

    @property
    def is_rare(self) -> bool:
        return False


Scores = Classes | Numbers


@functools.cache
def find(name: str) -> typing.Any:
    """A metric of River by its name."""
    found = getattr(metrics, name, None)
    known = "use a name like Accuracy, LogLoss, ROCAUC, MAE or R2"
    if not (isinstance(found, type) and issubclass(found, metrics.base.Metric)):
        raise show.UsageError(f"River has no metric {name!r}: {known}")
    try:
        found().get()
    except (TypeError, NotImplementedError):
        raise show.UsageError(f"the metric {name} is a table, or has parameters of its own: {known}") from None
    return found


def _from_labels(kind: typing.Any) -> bool:
    """Whether a metric is computed from a confusion matrix alone."""
    updates = (metrics.base.ClassificationMetric.update, metrics.base.BinaryMetric.update)
    return bool(kind().requires_labels) and kind.update in updates


def _shown(metric: metrics.base.Metric) -> tuple[str, str]:
    name, _, value = str(metric).partition(": ")
    return name, value


def _percent(share: float) -> str:
    return f"{share:.2%}" if share == share else "-"
