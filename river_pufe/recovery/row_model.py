"""How do the entries of a row hang together? What every answer to this can do."""

from __future__ import annotations

import abc

import numpy as np

from ..part import Part
from ..values import Array, Mask
from .linear_map import Affine
from .reading import Reading, Readings
from .scaling import Scaler


class RowModel(Part, abc.ABC):
    """Learns from the rows of the living slots, completes rows, and predicts slots from one another."""

    @abc.abstractmethod
    def complete(self, row: Array, absent: Mask) -> tuple[Array, bool]:
        """Complete a row.

        Parameters
        ----------
        row
            In the units of the scaler, shape (d,); what stands at absent positions is not read.
        absent
            Which entries are absent, shape (d,).

        Returns
        -------
        A new row of shape (d,), and whether it can be learned from: in an overlap, whether the absent entries of the
        previous space follow from observed ones of that space.

        """

    @abc.abstractmethod
    def variance(self, absent: Mask) -> Array:
        """Variance of the absent entries given the others, shape (a,); NaN where it is not known."""

    def given_others(self, row: Array) -> tuple[Array, Array]:
        """What each entry should be given all others that are there, and the variance of that.

        Costs what completing the row d times does, unless a subclass knows better.

        Parameters
        ----------
        row
            In the units of the scaler, shape (d,), NaN where absent.

        Returns
        -------
        Shapes (d,); the variance is NaN where it is not known.

        """
        absent = np.isnan(row)
        means, _ = self.complete(row, absent)
        variances = np.full(len(row), np.nan)
        variances[absent] = self.variance(absent)
        for slot in np.flatnonzero(~absent):
            without = absent.copy()
            without[slot] = True
            means[slot] = self.complete(row, without)[0][slot]
            variances[slot] = self.variance(without)[int(np.count_nonzero(without[:slot]))]
        return means, variances

    def precision(self) -> tuple[Array, Array, Array] | None:
        """Mean of the rows, inverse of their covariance, and their variances; None where it is not known.

        Shapes (d,), (d, d) and (d,).
        """
        return None

    @abc.abstractmethod
    def predict(self, outputs: Mask) -> Affine | None:
        """The map from all other entries to `outputs`, a mask of shape (d,); None where nothing was learned."""

    @abc.abstractmethod
    def update(self, reading: Reading) -> None:
        """Learn from a sample."""

    def update_many(self, readings: Readings) -> None:
        """Learn from complete samples, as `update` does one after another."""
        for reading in readings:
            self.update(reading)

    @abc.abstractmethod
    def extend(self, n: int, overlap: bool, scaler: Scaler) -> None:
        """Append n slots; with `overlap`, all slots before them are those of the previous space from now on."""

    @abc.abstractmethod
    def end_overlap(self, scaler: Scaler) -> None:
        """The overlap is over: all slots are of one space."""

    @abc.abstractmethod
    def keep(self, slots: Mask) -> None:
        """Drop all other slots."""

    @abc.abstractmethod
    def rescale(self, factor: Array, shift: Array) -> None:
        """Take rows in other units, factor · row + shift for row; shapes (d,)."""
