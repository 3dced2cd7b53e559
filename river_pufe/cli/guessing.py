"""What is the task, while only the first lines of a feed are known?"""

from __future__ import annotations

import collections
import typing

from .. import files
from .samples import Row

#: Rows to look at, and targets among them that are enough.
ROWS, TARGETS = 1000, 100


class Guessing:
    """The first rows, and what they say: whether the target is a class or a number, and which columns are numbers.

    Attributes
    ----------
    rows
        The rows so far.
    targets
        Their targets.

    """

    def __init__(self) -> None:
        self.rows: list[Row] = []
        self.targets: list[typing.Any] = []
        self._values: collections.Counter[typing.Any] = collections.Counter()
        self._numbers: collections.Counter[typing.Any] = collections.Counter()

    def add(self, row: Row) -> None:
        """Take a row into account."""
        self.rows.append(row)
        if row.y is not None:
            self.targets.append(row.y)
        for name, value in row.x.items():
            self._values[name] += 1
            self._numbers[name] += not isinstance(value, str)

    @property
    def done(self) -> bool:
        """Whether enough was seen."""
        return len(self.rows) >= ROWS or len(self.targets) >= TARGETS

    @property
    def task(self) -> str | None:
        """The task, None without any target."""
        return files.guess_task(self.targets)

    @property
    def example(self) -> typing.Any:
        """The most frequent target of the kind that the majority is of."""
        are_labels = [isinstance(y, str | bool) for y in self.targets]
        are_usual = 2 * sum(are_labels) >= len(are_labels)
        usual = [y for y, is_label in zip(self.targets, are_labels) if is_label is are_usual]
        counts = collections.Counter(map(repr, usual))
        return max(usual, key=lambda y: counts[repr(y)])

    @property
    def shares(self) -> dict[typing.Any, float]:
        """Share of numbers among the values of each column."""
        return {name: self._numbers[name] / n for name, n in self._values.items()}

    @property
    def n_classes(self) -> int:
        """How many different targets there are."""
        return len(set(map(repr, self.targets)))
