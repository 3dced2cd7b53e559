"""What has become of a key whose values no longer fit: a real change, another unit, or another sensor?"""

from __future__ import annotations

import math
import typing

import numpy as np

from ..state.parts import Stored
from ..values import Array, Mask
from .conversion import NONE, Conversion, find_conversion
from .fit import Fit
from .reading import Reading
from .row_model import RowModel

#: Rounds in a block.
_BLOCK = 32
#: A value that is so many times as far away as any before it is doubted at once; after so many of them in a block the
#: block is judged.
_FARTHER, _MANY_FAR = 1.25, 8
#: What is left of the farthest distance after a round.
_KEPT = 0.9998
#: Evidence below which a key is not suspected at all.
_CALM = 1e-5
#: Values after which a doubted key may have its verdict, and after which it must have one.
_FEW, _ENOUGH = 24, 64
#: Others explain a key if they leave no more than this share of its variance.
_EXPLAINED = 0.5
#: No more than this share of the keys can be wrong at once: otherwise it is the world that has changed.
_SHARE = 1 / 3
#: Rows between two references: half of those before, and so many at the most.
_GROWTH, _LATEST = 1.5, 256
#: What is computed with is no larger.
_LARGEST = 1e6


class Verdict(typing.NamedTuple):
    """What has become of a key.

    Parameters
    ----------
    slot
        Its slot.
    conversion
        The conversion of what it reads into its former unit; None where it is another sensor.

    """

    slot: int
    conversion: Conversion | None


class Doubts(Stored):
    """Which keys can be believed, and how what they read now is converted into what they used to read.

    A value that is farther from what is usual than any before it is not believed: it is treated as absent, for one
    round. Blocks of rounds are judged by `Fit`, by the residual of each value given all others in the same sample. A
    key that does not fit is *doubted*: treated as absent, until it has read 24 to 64 more values. Then there are these
    verdicts:

    - the values fit after all, as they are or after a conversion (`find_conversion`), which is applied from then on;
    - others explain the key, but not its new values: it is another sensor;
    - others do not explain it: its level has changed, and what it used to be is forgotten.

    Where more than a third of the keys do not fit at the same time the world has changed, and all are believed.
    In an overlap nobody is doubted.

    Costs O(d²) a round, most of it in products of matrices. Memory is O(d²).

    Parameters
    ----------
    false_alarms
        As in `Fit`.

    """

    DERIVED = ("_inverse", "_reach", "_converts")

    def __init__(self, false_alarms: float) -> None:
        self._fit = Fit(false_alarms)
        # From what is read to the unit in which all is learned.
        self._factor: Array = np.ones(0)
        self._offset: Array = np.zeros(0)
        # How far standardized values have been from 0.
        self._farthest: Array = np.zeros(0)
        self._limits: Array = np.zeros(0)
        # A law of rows to judge by: its mean, and the inverse of its covariance; from when on it is renewed.
        self._reference: tuple[Array, Array] | None = None
        self._n_rows, self._renew_at = 0, float(_BLOCK)
        # The block: standardized values as they are, and as they were completed.
        self._given: Array = np.zeros((_BLOCK, 0))
        self._completed: Array = np.zeros((_BLOCK, 0))
        self._n = self._n_far = 0
        # What doubted keys read, and what they should have read.
        self._doubted: dict[int, list[tuple[float, float]]] = {}
        self.rebuild()

    def stored(self) -> dict[str, typing.Any]:
        n = self._n
        return {**super().stored(), "_given": self._given[:n], "_completed": self._completed[:n]}

    def rebuild(self) -> None:
        for name in ("_given", "_completed"):
            block = getattr(self, name)
            setattr(self, name, np.vstack([block, np.zeros((_BLOCK - len(block), block.shape[1]))]))
        self._converts = bool((self._factor != 1.0).any() or self._offset.any())
        # No value can be too far in a row whose squares, or fourth powers, sum up to less.
        self._reach = float(self._limits.min(initial=math.inf))

    @classmethod
    def _unit_test_params(cls) -> typing.Iterator[dict[str, typing.Any]]:
        yield {"false_alarms": 1e-7}

    @property
    def on(self) -> bool:
        return self._fit.false_alarms > 0.0

    @property
    def remaining(self) -> int:
        """Number of rows up to the next one that may change what is believed; 0 while a key is doubted."""
        return 0 if self._doubted else _BLOCK - self._n

    # Reading is pure.

    def convert(self, rows: Array) -> Array:
        """Rows in the units in which all is learned, shape (d,) or (n, d)."""
        return self._factor * rows + self._offset if self._converts else rows

    def revert(self, values: Array) -> Array:
        """What keys would read now, for values in the units in which all is learned; shape (d,)."""
        return (values - self._offset) / self._factor if self._converts else values

    @property
    def factor(self) -> Array:
        """The factors of the conversions, shape (d,)."""
        return self._factor

    def hidden(self, scaled: Array, square: float) -> Mask | None:
        """Which standardized values are not believed; None if all are.

        Parameters
        ----------
        scaled
            Shape (d,), NaN where absent.
        square
            The sum of their squares.

        """
        if not self._doubted:
            reach = self._reach * self._reach
            if square <= reach:
                return None
            squares = scaled * scaled
            if squares.dot(squares) <= reach * reach or math.isinf(reach):
                return None
        far = np.abs(scaled) > self._limits
        if np.count_nonzero(far) > self._most:
            far[:] = False
        far[list(self._doubted)] = True
        far &= scaled == scaled
        return far if far.any() else None

    def any_hidden(self, scaled: Array) -> Mask:
        """In which rows some values are not believed; shapes (n, d) and (n,)."""
        return np.array([self.hidden(row, float(row.dot(row))) is not None for row in scaled], dtype=bool)

    @property
    def _most(self) -> int:
        return max(1, int(_SHARE * len(self._limits)))

    # Learning.

    def update(self, reading: Reading, row_model: RowModel) -> list[Verdict]:
        """Take note of a sample; the verdicts that it brings.

        Parameters
        ----------
        reading
            The sample.
        row_model
            What is known of the rows.

        """
        if not self.on or reading.n_previous or not len(reading.row):
            return []
        i, completed = self._n, reading.completed[1:]
        self._completed[i] = completed
        given = self._given[i]
        if reading.filled is None:
            given[:] = completed
        else:
            reading.scaler.scale(reading.given, out=given)
            self._n_far += int(np.count_nonzero((given == given) & np.isnan(reading.row)) > len(self._doubted))
        self._n += 1
        self._n_rows += 1
        verdicts = self._hear(reading) if self._doubted else []
        if self._n == _BLOCK or self._n_far >= _MANY_FAR:
            self._judge(row_model)
        return verdicts

    def _judge(self, row_model: RowModel) -> None:
        """Judge a block."""
        n = self._n
        given, completed = self._given[:n], self._completed[:n]
        if self._reference is not None:
            mean, precision = self._reference
            own = precision.diagonal()
            known = np.clip(completed - mean, -_LARGEST, _LARGEST)
            residuals = (known @ precision + (given - completed) * own) / np.sqrt(own)
            residuals[:, list(self._doubted)] = math.nan
            evidence = self._fit.update(residuals)
            worst = int(np.where(evidence >= 1.0, np.nansum(np.square(residuals), 0), -1.0).argmax())
            if evidence[worst] >= 1.0:
                # The residuals of the others rest on this one.
                self._fit.acquit(evidence >= 1.0)
                self._doubted[worst] = []
            if len(self._doubted) > self._most:
                self._believe(list(self._doubted))
            calm = evidence < _CALM
            calm[list(self._doubted)] = False
            distance = np.where(given == given, np.abs(given), 0.0).max(0)
            self._farthest = np.where(calm, np.maximum(self._farthest * _KEPT**n, distance), self._farthest)
        self._n = self._n_far = 0
        if self._n_rows >= self._renew_at and not self._doubted:
            self._reference = row_model.precision()
            self._renew_at = self._n_rows + min((_GROWTH - 1.0) * self._n_rows, _LATEST)
        self._limit()

    def _limit(self) -> None:
        judged = self._fit.judged if self._reference is not None else np.zeros(len(self._farthest), dtype=bool)
        self._limits = np.where(judged & (self._farthest > 0.0), _FARTHER * self._farthest, math.inf)
        self._reach = float(self._limits.min(initial=math.inf))

    def _believe(self, slots: list[int]) -> None:
        """Forget what keys used to be."""
        which = np.zeros(len(self._farthest), dtype=bool)
        which[slots] = True
        self._fit.restart(which)
        self._farthest[which] = 0.0
        for slot in slots:
            self._doubted.pop(slot, None)
        self._limit()

    def _hear(self, reading: Reading) -> list[Verdict]:
        """What doubted keys read, and the verdicts on those that have read enough."""
        expected = reading.scaler.unscale(reading.completed[1:])
        verdicts = []
        for slot, heard in list(self._doubted.items()):
            value = float(reading.given[slot])
            if not math.isnan(value) and len(heard) < _ENOUGH:
                heard.append((value, float(expected[slot])))
                if len(heard) in (_FEW, _ENOUGH):
                    verdicts += self._decide(slot, heard, reading)
        return verdicts

    def _decide(self, slot: int, heard: list[tuple[float, float]], reading: Reading) -> list[Verdict]:
        final = len(heard) >= _ENOUGH
        assert self._reference is not None
        share = self._fit.typical[slot] / math.sqrt(self._reference[1][slot, slot])
        scaler, zeros = reading.scaler, np.zeros(len(reading.row))
        deviation = share * float((scaler.unscale(zeros + 1.0) - scaler.unscale(zeros))[slot])
        values, expected = np.array(heard).T
        explained = share * share <= _EXPLAINED
        found = find_conversion(values, expected, deviation, explained, final)
        if found is None and not final:
            return []
        if found == NONE:
            del self._doubted[slot]
            return []
        if found is not None:
            del self._doubted[slot]
            total = found.after(Conversion(float(self._factor[slot]), float(self._offset[slot])))
            self._factor[slot], self._offset[slot] = total
            self._converts = True
            return [Verdict(slot, total)]
        if explained:
            return [Verdict(slot, None)]
        self._believe([slot])
        return []

    def reset(self) -> None:
        """Nobody is doubted, and the law to judge by is not known."""
        self._doubted, self._reference = {}, None
        self._n = self._n_far = 0
        self._renew_at = self._n_rows + _BLOCK
        self._limit()

    def extend(self, n: int) -> None:
        """Append n slots of which nothing is known."""
        self._fit.extend(n)
        self._factor, self._offset = np.append(self._factor, np.ones(n)), np.append(self._offset, np.zeros(n))
        self._farthest = np.append(self._farthest, np.zeros(n))
        self._given = self._completed = np.zeros((0, len(self._factor)))
        self.reset()
        self.rebuild()

    def keep(self, slots: Mask) -> None:
        """Drop all other slots."""
        self._fit.keep(slots)
        for name in ("_factor", "_offset", "_farthest"):
            setattr(self, name, getattr(self, name)[slots])
        self._given = self._completed = np.zeros((0, len(self._factor)))
        self.reset()
        self.rebuild()

    def rescale(self, factor: Array, shift: Array) -> None:
        """Rows come in other units, factor · row + shift for row; shapes (d,)."""
        n = self._n
        for block in (self._given[:n], self._completed[:n]):
            block *= factor
            block += shift
        self._farthest = factor * self._farthest + np.abs(shift)
        if self._reference is not None:
            mean, precision = self._reference
            self._reference = factor * mean + shift, precision / factor / factor[:, None]
        self._limit()
