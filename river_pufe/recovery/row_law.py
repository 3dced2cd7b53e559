"""What is known of the rows, and how is it learned? What every answer to this can do."""

from __future__ import annotations

import abc
import math
import typing

import numpy as np

from ..state.parts import Stored
from ..values import Array, Mask
from .linear_map import Affine

#: So many rows are kept as they came, at most.
WINDOW = 64
#: The law of an overlap is learned anew each time that so many times as many rows were seen.
GROWTH = 1.25


class Law(typing.Protocol):
    """A normal law of rows: what some entries say about the others, and what they leave open."""

    def complete(self, row: Array, absent: Mask) -> Array:
        """A new row in which the absent entries are their means given the others; shape (d,), as the row."""

    def variance(self, absent: Mask) -> Array:
        """Variances of the absent entries given the others, whatever these are; shape (a,)."""

    def given_others(self, row: Array) -> tuple[Array, Array]:
        """What each entry should be given all others that are there, and the variance of that; shapes (d,)."""

    def predict(self, outputs: Mask) -> Affine:
        """The map from all other entries to `outputs`, and the covariance of what it leaves open."""


class RowLaw(Stored, abc.ABC):
    """Learns a law of rows.

    Attributes
    ----------
    law
        The present estimate.
    counts
        On how many rows it rests: those in which each entry was observed, and those in which it could have been; shape
        (2, d).

    """

    law: Law
    counts: Array

    @property
    @abc.abstractmethod
    def block(self) -> int:
        """After how many rows it is time to learn from them; more at once cost less, and are known later."""

    @abc.abstractmethod
    def learn(self, rows: Array, n_new: int) -> None:
        """Learn from new rows.

        Parameters
        ----------
        rows
            All rows whose expectations are not settled, in the present units, shape (n, d); NaN where absent.
        n_new
            How many of them, at the end, are new.

        """

    def renews_within(self, n: int) -> bool:
        """Whether the expectations of the latest rows may be renewed before so many more rows have come."""
        return True

    @abc.abstractmethod
    def settle(self, rows: Array, n: int) -> None:
        """Settle the expectations of the oldest n of the rows that `learn` was given; they are not seen again."""

    @abc.abstractmethod
    def extend(self, n: int) -> None:
        """Append n entries of which nothing is known."""

    @abc.abstractmethod
    def keep(self, slots: Mask) -> None:
        """Drop all other entries."""

    @abc.abstractmethod
    def rescale(self, factor: Array, shift: Array) -> None:
        """Express all rows in other units, factor · row + shift for row; shapes (d,)."""


class OverlapLaw(RowLaw):
    """Learns a law of the rows of an overlap: from all of them, each time that their number has grown by a quarter."""

    # Number of rows, and of those that it takes to learn anew.
    _n: int
    _next: float

    @property
    @abc.abstractmethod
    def n_previous(self) -> int:
        """Number of previous features."""

    @property
    def block(self) -> int:
        # Rows do not matter before the next time.
        return max(math.ceil(self._next) - self._n, 1)

    def learn(self, rows: Array, n_new: int) -> None:
        seen = (~np.isnan(rows[len(rows) - n_new :])).sum(0)
        self.counts = self.counts + np.stack([seen, np.full_like(seen, n_new)])
        self._n += n_new
        if self._n >= self._next:
            self._next = GROWTH * self._n
            self.renew(rows)

    @abc.abstractmethod
    def renew(self, rows: Array) -> None:
        """Learn anew from all rows that are not settled, as long as more of them come."""

    @abc.abstractmethod
    def finish(self, rows: Array) -> None:
        """Learn from all rows that are not settled for the last time, and as well as possible."""
