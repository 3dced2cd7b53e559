"""What should each feature have read, and how well do the others explain it?"""

from __future__ import annotations

import math
import pathlib
import typing

from rich import console

from ..values import Key, Sample, number
from . import show
from .outputs import Output

_COLUMNS = ("file", "line", "time", "feature", "value", "expected", "deviation")
#: How many features are shown in the end.
_MOST = 40


class _Explained:
    """Running sums of a feature: what it read, and how far that was from what was expected."""

    def __init__(self) -> None:
        self.n = 0
        self.mean = self.squares = self.errors = 0.0

    def add(self, value: float, expected: float) -> None:
        self.n += 1
        apart = value - self.mean
        self.mean += apart / self.n
        self.squares += apart * (value - self.mean)
        self.errors += (value - expected) ** 2

    @property
    def share(self) -> float:
        """Share of the variance that the others explain; nothing is explained of what never varies."""
        return 1.0 - self.errors / self.squares if self.squares else 0.0


class Expectations:
    """Writes what each feature should have read given the others, before the sample was learned.

    Parameters
    ----------
    path
        Where to: a line for each sample and feature, as JSON or csv.

    """

    def __init__(self, path: pathlib.Path) -> None:
        self._output = Output(path, _COLUMNS)
        self._explained: dict[Key, _Explained] = {}

    def __enter__(self) -> Expectations:
        self._output.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self._output.__exit__()

    def note(self, where: dict[str, typing.Any], x: Sample, expected: dict[Key, tuple[float, float]]) -> None:
        """Note what was expected of a sample that came from somewhere."""
        for key, (value, deviation) in expected.items():
            read, known = x.get(key), None if math.isnan(deviation) else deviation
            self._output.write({**where, "feature": key, "value": read, "expected": value, "deviation": known})
            if read is not None:
                self._explained.setdefault(key, _Explained()).add(number(key, read), value)

    def table(self) -> console.Group:
        """The features, from those that follow best from the others to those that say something of their own."""
        ranked = sorted(self._explained.items(), key=lambda item: -item[1].share)
        rows = [(show.cut(key), f"{each.n:,}", f"{max(each.share, 0.0):.0%}") for key, each in ranked[:_MOST]]
        title = "How well the other features explain each one"
        return show.make_table(title, ("feature", "values", "explained"), rows, right=(1, 2))
