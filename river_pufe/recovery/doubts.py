"""What has become of a key whose values no longer fit: a real change, another unit, or another sensor?"""

from __future__ import annotations

import math
import typing

import numpy as np

from .. import kernels
from ..state.packing import packed as sparse
from ..state.packing import unpacked as full
from ..state.parts import Stored
from ..values import Array, Mask
from .conversion import NONE, Conversion, find_conversion, follows
from .fit import Fit
from .gaussian import packed, unpacked
from .reading import Reading
from .row_model import RowModel

#: Rounds in a block, and between those of which the values are kept.
_BLOCK, _EVERY = 32, 8
#: If a residual is so many times as large as any before, it may not be one like them.
_FAR = 1.25
#: A value is not believed if its residual is so many times as large as any before and so many deviations.
_FARTHER, _NEAR = 4.0, 6.0
#: After so many rounds with residuals unlike any before a block is judged before it is full.
_STRANGE = 8
#: After so many of them in succession a key is doubted, whatever the test says.
_APART_FOR = 16
#: What is left of the farthest distance after a round.
_KEPT = 0.9998
#: Evidence below which a key is not suspected at all.
_CALM = 1e-5
#: Values after which a doubted key may have its verdict, and after which it must have one.
_FEW, _ENOUGH = 24, 64
#: Others explain a key if they leave no more than this share of its variance.
_EXPLAINED = 0.25
#: No more than this share of the keys can be wrong at once: otherwise it is the world that has changed.
_SHARE = 1 / 3
#: Rows between two references: half of those before, and so many at the most.
_GROWTH, _LATEST = 1.5, 256


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


class Residuals(typing.NamedTuple):
    """How far the entries of a row are from what they should be given all others: see `Reading`."""

    residuals: Array | None
    too_far: int
    as_usual: bool


class Doubts(Stored):
    """Which keys can be believed, and how what they read now is converted into what they used to read.

    The residual of a value is how far it is from what it should be given all others in the same sample,
    $(K z)_j / \\sqrt{K_{jj}}$ in its deviations, with K the inverse of the covariance of the rows z. One that is four
    times as large as any before, while all others are as usual, is not believed: the value is treated as absent in this
    round. Blocks of rounds are
    judged by `Fit`. A key that does not fit, or that is not believed in 16 rounds in succession, is *doubted*: treated
    as absent until it has read 24 to 64 more values. Then there are these verdicts:

    - the values fit after all, as they are or after a conversion (`find_conversion`), which is applied from then on;
    - others explain the key, but its new values do not follow them at all: it is another sensor;
    - any other case may be a real change: the values are believed, and what they used to be is forgotten.

    Where more than a third of the keys do not fit at the same time the world has changed, and all are believed. In an
    overlap no key is doubted, and none is where the covariance of the rows is not known in full.

    Costs O(d²) a round, most of it in products of matrices. Memory is O(d²).

    Parameters
    ----------
    false_alarms
        As in `Fit`.

    """

    DERIVED = ("_converts", "_usual", "_limits")

    def __init__(self, false_alarms: float = 1e-7) -> None:
        self._fit = Fit(false_alarms)
        # From what is read to the unit in which all is learned.
        self._factor: Array = np.ones(0)
        self._offset: Array = np.zeros(0)
        # How large residuals have been.
        self._farthest: Array = np.zeros(0)
        # A law of rows to judge by: its mean, the inverse of its covariance, and its variances; when it is renewed.
        self._reference: tuple[Array, Array, Array] | None = None
        self._n_rows, self._renew_at = 0, float(_BLOCK)
        # The residuals of the block, some of its values, and the number of its rounds that were unlike any before.
        self._residuals: list[Array] = []
        self._given: list[Array] = []
        self._n_strange = 0
        self._n_apart = np.zeros(0, dtype=np.int64)
        # What doubted keys read, and what they should have read.
        self._doubted: dict[int, list[tuple[float, float]]] = {}
        self._derive()

    def rebuild(self) -> None:
        if (law := self._reference) is not None:
            self._reference = law[0], unpacked(law[1]), law[2]
        self._factor, self._offset = full(vars(self)["_factor"], 1.0), full(vars(self)["_offset"], 0.0)
        self._derive()

    def _derive(self) -> None:
        self._converts = bool((self._factor != 1.0).any() or self._offset.any())
        # Residuals from which is learned what is usual, and those that are believed, are no larger.
        self._usual = np.where(self._fit.judged, _FAR * self._farthest, math.inf)
        self._limits = np.where(self._fit.judged, np.maximum(_FARTHER * self._farthest, _NEAR), math.inf)

    def stored(self) -> dict[str, typing.Any]:
        law = self._reference
        return {
            **super().stored(),
            "_reference": (law[0], packed(law[1]), law[2]) if law is not None else None,
            # Hardly any key is converted.
            "_factor": sparse(self._factor, self._factor != 1.0),
            "_offset": sparse(self._offset, self._offset != 0.0),
        }

    @property
    def n_slots(self) -> int:
        """Number of slots."""
        return len(self._factor)

    @property
    def remaining(self) -> int:
        """Number of rows up to the next one that may change what is believed; 0 while a key is doubted."""
        if self._doubted:
            return 0
        if self._reference is None:
            return max(1, math.ceil(self._renew_at) - self._n_rows)
        return _BLOCK - len(self._residuals)

    @property
    def most(self) -> int:
        """So many keys can be wrong at once."""
        return max(1, int(_SHARE * len(self._factor))) if self._reference is not None else 0

    # Reading is pure.

    def convert(self, rows: Array) -> Array:
        """Rows in the units in which all is learned, shape (d,) or (n, d)."""
        return self._factor * rows + self._offset if self._converts else rows

    def revert(self, values: Array) -> Array:
        """What keys would read now, for values in the units in which all is learned; shape (d,)."""
        return (values - self._offset) / self._factor if self._converts else values

    def believed(self, rows: Array) -> Array:
        """Rows without the values of doubted keys, shape (d,) or (n, d)."""
        if not self._doubted:
            return rows
        rows = rows.copy()
        rows[..., list(self._doubted)] = math.nan
        return rows

    def residuals(self, scaled: Array) -> Residuals:
        """The residuals of a completed row in standardized units."""
        if self._reference is None:
            return Residuals(None, -1, True)
        mean, precision, _ = self._reference
        return Residuals(*kernels.residuals(scaled, mean, precision, self._usual, self._limits))

    def are_usual(self, scaled: Array) -> bool:
        """Whether all residuals of some completed rows, shape (n, d), are about as small as they have been."""
        if self._reference is None:
            return True
        mean, precision, _ = self._reference
        away = np.abs((scaled - mean) @ precision) / np.sqrt(precision.diagonal())
        return not (away > self._usual).any()

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
        away = reading.residuals
        if away is None or reading.n_previous:
            return self._wait(reading, row_model)
        if reading.filled is not None:
            away = self._with_absent(away, reading)
        block = self._residuals
        if not len(block) % _EVERY:
            self._given.append(reading.given)
        block.append(away)
        self._n_strange += not reading.as_usual
        verdicts = self._hear(reading) if self._doubted else []
        if len(block) == _BLOCK or self._n_strange >= _STRANGE:
            self._judge(reading.given, row_model)
        return verdicts

    def _wait(self, reading: Reading, row_model: RowModel) -> list[Verdict]:
        """Take note of a sample without a law to judge it by."""
        if self._fit.false_alarms and not reading.n_previous and len(reading.row):
            self._n_rows += 1
            if self._n_rows >= self._renew_at:
                self._renew(row_model)
        return []

    def _with_absent(self, away: Array, reading: Reading) -> Array:
        """Residuals where values are absent, or were not believed."""
        assert self._reference is not None
        absent = np.isnan(reading.row)
        if reading.given is reading.row:
            return np.where(absent, math.nan, away)
        given = reading.scaler.scale(reading.given, out=np.empty(len(away)))
        self._n_strange += bool(np.count_nonzero(absent & (given == given)) > len(self._doubted))
        apart = (given - reading.completed[1:]) * np.sqrt(self._reference[1].diagonal())
        away = np.where(absent, np.clip(apart, -kernels.FARTHEST, kernels.FARTHEST), away)
        away[list(self._doubted)] = math.nan
        return away

    def _judge(self, latest: Array, row_model: RowModel) -> None:
        """Judge a block, which ends with some values."""
        self._n_rows += len(self._residuals)
        residuals = np.array(self._residuals)
        evidence = self._fit.update(residuals, self._usual)
        size = np.where(np.isnan(residuals), 0.0, np.abs(residuals))
        near = size <= self._limits
        # Rounds since the latest one that was near enough.
        self._n_apart = np.where(near.any(0), near[::-1].argmax(0), self._n_apart + len(near))
        wrong = (evidence >= 1.0) | (self._n_apart >= _APART_FOR)
        if wrong.any():
            # The residuals of others may rest on the one that is wrong.
            rests = (np.array(self._given) == latest).all(0)
            self._doubted[_worst_of(wrong, rests & (evidence >= _CALM), residuals)] = []
            self._fit.acquit(wrong)
            self._n_apart[wrong] = 0
        known = np.maximum(self._farthest * _KEPT ** len(residuals), size.max(0))
        self._farthest = np.where((evidence < _CALM) & near[-1], known, self._farthest)
        self._given, self._residuals, self._n_strange = [], [], 0
        if len(self._doubted) > self.most:
            self._believe(list(range(self.n_slots)))
            self.reset()
        elif self._n_rows >= self._renew_at and not self._doubted:
            self._renew(row_model)
        self._derive()

    def _renew(self, row_model: RowModel) -> None:
        self._reference = row_model.precision()
        self._renew_at = self._n_rows + min(max((_GROWTH - 1.0) * self._n_rows, _BLOCK), _LATEST)
        self._derive()

    def _believe(self, slots: list[int]) -> None:
        """Forget what keys used to be."""
        which = np.zeros(len(self._farthest), dtype=bool)
        which[slots] = True
        self._fit.restart(which)
        self._farthest[which], self._n_apart[which] = 0.0, 0
        for slot in slots:
            self._doubted.pop(slot, None)
        self._derive()

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
        assert self._reference is not None
        _, precision, variance = self._reference
        left = 1.0 / math.sqrt(precision[slot, slot])
        typical = float(self._fit.typical[slot])
        # With heavy tails most residuals are far smaller than their deviation.
        largest = max(typical, 1.0) * left
        explained = bool(largest * largest <= _EXPLAINED * variance[slot])
        scaler, zeros = reading.scaler, np.zeros(len(reading.row))
        unit = float((scaler.unscale(zeros + 1.0) - scaler.unscale(zeros))[slot])
        deviation = unit * (largest if explained else typical * left)
        values, expected = np.array(heard).T
        # Two keys cannot tell which of them is wrong, unless one is at rest.
        clear = self.n_slots > 2 or float(np.ptp(values)) == 0.0
        is_other = explained and not follows(values, expected)
        # More values would not help where others do not explain the key, or cannot tell.
        final = len(heard) >= _ENOUGH or not explained or (is_other and not clear)
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
            self._derive()
            return [Verdict(slot, total)]
        if is_other and clear:
            return [Verdict(slot, None)]
        self._believe([slot])
        return []

    def reset(self) -> None:
        """No key is doubted, and the law to judge by is not known."""
        self._doubted, self._reference = {}, None
        self._given, self._residuals, self._n_strange = [], [], 0
        self._renew_at = float(self._n_rows + _BLOCK)
        self._derive()

    def extend(self, n: int) -> None:
        """Append n slots of which nothing is known."""
        self._fit.extend(n)
        self._factor, self._offset = np.append(self._factor, np.ones(n)), np.append(self._offset, np.zeros(n))
        self._farthest = np.append(self._farthest, np.zeros(n))
        self._n_apart = np.append(self._n_apart, np.zeros(n, dtype=np.int64))
        self.reset()

    def keep(self, slots: Mask) -> None:
        """Drop all other slots."""
        self._fit.keep(slots)
        for name in ("_factor", "_offset", "_farthest", "_n_apart"):
            setattr(self, name, getattr(self, name)[slots])
        self.reset()

    def rescale(self, factor: Array, shift: Array) -> None:
        """Rows come in other units, factor · row + shift for row; shapes (d,)."""
        if self._reference is not None:
            mean, precision, variance = self._reference
            self._reference = factor * mean + shift, precision / factor / factor[:, None], factor * factor * variance


def _worst_of(wrong: Mask, rests: Mask, residuals: Array) -> int:
    """The slot that does not fit: one that came to rest, or else one of those that are wrong, by its residuals."""
    size = np.nansum(np.square(residuals), 0)
    return int(np.where(rests, size + size.sum(), np.where(wrong, size, -1.0)).argmax())
