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
from .conversion import NONE, Conversion, find_conversion, fits, follows
from .fit import Fit
from .gaussian import packed, unpacked
from .reading import Reading, Readings
from .row_model import RowModel
from .scaling import Scaler

#: Rounds in a block.
_BLOCK = 32
#: If a residual is so many times as large as any before, it may not be one like them.
_FAR = 1.25
#: A value is not believed if its residual is so many times as large as any before and so many deviations.
_FARTHER, _NEAR = 4.0, 6.0
#: After so many rounds with residuals unlike any before a block is judged before it is full.
_STRANGE = 8
#: After so many values in succession that are not believed a key is doubted, whatever the test says.
_APART_FOR = 16
#: What is left of the farthest distance after a round.
_KEPT = 0.9998
#: Evidence below which a key is not suspected at all.
_CALM = 1e-5
#: Values after which a doubted key may have its verdict, and after which it must have one.
_FEW, _ENOUGH = 24, 64
#: Others explain a key if they leave no more than this share of its variance.
_EXPLAINED = 0.25
#: Where more than this share of the keys are doubted at once, what they say of each other is worth nothing.
_SHARE = 1 / 3
#: A key is unlike itself if its level is so many deviations away.
_UNLIKE = 3.0
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
    n_strange: int


class Doubts(Stored):
    """Which keys can be believed, and how what they read now is converted into what they used to read.

    The residual of a value is how far it is from what it should be given all others in the same sample,
    $(K z)_j / \\sqrt{K_{jj}}$ in its deviations, with K the inverse of the covariance of the rows z. One that is four
    times as large as any before, while all others are as usual, is not believed: the value is treated as absent in this
    round. Blocks of 32 rounds are judged by `Fit`, and shorter ones once eight of their rounds had a residual larger
    than any before. A key that does not fit, or of which 16 values in succession were not believed, is *doubted*, and
    so is each other one that is strange without it: treated as absent until it has read 24 to 64 more values. Then
    there are these verdicts:

    - the values fit after all, as they are or after a conversion (`find_conversion`), which is applied from then on;
    - others explain the key, but its new values do not follow them at all: it is another sensor;
    - any other case may be a real change: the values are believed, and what they used to be is forgotten. The same
      holds where two keys explain only each other, and neither is unlike itself.

    Where more than a third of the keys are doubted at the same time, each is judged by what it used to read itself, and
    believed if it is not in another unit: the world has changed. In an overlap no key is doubted, and none is where the
    covariance of the rows is not known in full.

    Costs O(d²) a round, most of it in products of matrices, and O(a³) with a absent or doubted keys while one is
    doubted. Memory is O(d²).

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
        # The residuals of the block, its values, and the number of its rounds that were unlike any before.
        self._residuals: list[Array] = []
        self._given: list[Array] = []
        self._n_strange = 0
        # Whether strange rounds ended the block before it.
        self._is_strange = False
        self._n_apart = np.zeros(0, dtype=np.int64)
        # What doubted keys read, what they should have read, and the deviation of that.
        self._doubted: dict[int, list[tuple[float, float, float]]] = {}
        self._derive()

    def rebuild(self) -> None:
        if (law := self._reference) is not None:
            self._reference = law[0], unpacked(law[1]), law[2]
        self._factor, self._offset = full(vars(self)["_factor"], 1.0), full(vars(self)["_offset"], 0.0)
        self._derive()

    def _derive(self) -> None:
        self._converts = bool((self._factor != 1.0).any() or self._offset.any())
        self._derive_limits()

    def _derive_limits(self) -> None:
        # Residuals from which is learned what is usual, and those that are believed, are no larger.
        judged = self._fit.judged
        self._usual = np.where(judged, _FAR * self._farthest, math.inf)
        self._limits = np.where(judged, np.maximum(_FARTHER * self._farthest, _NEAR), math.inf)

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
        """Number of rows up to the next one that may change what is believed, if no key is doubted."""
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

    def residuals(self, scaled: Array, row: Array) -> Residuals:
        """The residuals of a row that is completed in standardized units, NaN where entries are absent from it."""
        if self._reference is None:
            return Residuals(None, -1, 0)
        mean, precision, _ = self._reference
        away, too_far, as_usual = kernels.residuals(scaled, row, mean, precision, self._usual, self._limits)
        return Residuals(away, too_far, 0 if as_usual else self._n_strange + self._is_strange + 1)

    def usual_residuals(self, scaled: Array) -> tuple[Array | None, int]:
        """The residuals of complete rows, shape (n, d), and how many there are before the first that is not usual."""
        if self._reference is None:
            return None, len(scaled)
        mean, precision, _ = self._reference
        return kernels.residuals_many(scaled, mean, precision, self._usual)

    def are_usual(self, scaled: Array) -> Mask:
        """Of which complete rows, shape (n, d), all residuals are about as small as they have been; shape (n,)."""
        if self._reference is None:
            return np.ones(len(scaled), dtype=bool)
        mean, precision, _ = self._reference
        away = np.abs((scaled - mean) @ precision) / np.sqrt(precision.diagonal())
        return np.asarray((away <= self._usual).all(1))

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
        if away is None:
            return self._wait(reading, row_model)
        if reading.given is not reading.row:
            away = self._with_doubted(away, reading)
        self._given.append(reading.given)
        self._residuals.append(away)
        self._n_strange += not reading.as_usual
        verdicts = self._hear(reading) if self._doubted else []
        # A verdict may have begun another block.
        if len(self._residuals) == _BLOCK or self._n_strange >= _STRANGE:
            self._judge(reading.scaler, row_model)
        return verdicts

    def update_many(self, readings: Readings, row_model: RowModel) -> None:
        """Take note of samples, no more of them than remain, while no key is doubted."""
        if readings.residuals is None:
            for reading in readings:
                self._wait(reading, row_model)
            return
        self._given += list(readings.rows)
        self._residuals += list(readings.residuals)
        if len(self._residuals) == _BLOCK:
            self._judge(readings.scaler, row_model)

    def _wait(self, reading: Reading, row_model: RowModel) -> list[Verdict]:
        """Take note of a sample without a law to judge it by."""
        if self._fit.false_alarms and not reading.n_previous and len(reading.row):
            self._n_rows += 1
            if self._n_rows >= self._renew_at:
                self._renew(row_model)
        return []

    def _with_doubted(self, away: Array, reading: Reading) -> Array:
        """Residuals where values were not believed."""
        assert self._reference is not None
        absent = np.isnan(reading.row)
        given = reading.scaler.scale(reading.given, out=np.empty(len(away)))
        self._n_strange += bool(np.count_nonzero(absent & (given == given)) > len(self._doubted))
        apart = (given - reading.completed[1:]) * np.sqrt(self._reference[1].diagonal())
        away = np.where(absent, np.clip(apart, -kernels.FARTHEST, kernels.FARTHEST), away)
        away[list(self._doubted)] = math.nan
        return away

    def _judge(self, scaler: Scaler, row_model: RowModel) -> None:
        """Judge a block."""
        self._n_rows += len(self._residuals)
        residuals = np.array(self._residuals)
        evidence = self._fit.update(residuals, self._usual)
        largest, n_far, was_near = kernels.extremes(residuals, self._limits)
        # Values since the latest one that was near enough.
        self._n_apart = np.where(was_near, 0, self._n_apart) + n_far
        wrong = (evidence >= 1.0) | (self._n_apart >= _APART_FOR)
        if np.count_nonzero(wrong):
            given = np.array(self._given)
            # The residuals of others may rest on the one that is wrong.
            rests = (given == given[-1]).all(0)
            rows = scaler.scale(given[-_STRANGE:], np.empty_like(given[-_STRANGE:]))
            self._doubt(_worst_of(wrong, rests & (evidence >= _CALM), residuals), rows)
            self._fit.acquit(wrong)
            self._n_apart[wrong] = 0
        # A value that was not believed counts as one that just is.
        known = np.maximum(self._farthest * _KEPT ** len(residuals), largest)
        self._farthest = np.where((evidence < _CALM) & (self._n_apart == 0), known, self._farthest)
        self._begin_block(self._n_strange >= _STRANGE)
        if self._n_rows >= self._renew_at and not self._doubted:
            self._renew(row_model)
        self._derive_limits()

    def _begin_block(self, is_strange: bool) -> None:
        """Begin a block, which may go on with the strange rounds that ended the one before."""
        self._given, self._residuals, self._n_strange = [], [], 0
        self._is_strange = is_strange

    def _doubt(self, slot: int, rows: Array) -> None:
        """Doubt a key, and all others that are as strange without it in most of some rows, standardized."""
        assert self._reference is not None
        mean, precision, _ = self._reference
        while slot >= 0:
            self._doubted[slot] = []
            doubted = np.array(list(self._doubted))
            rows[:, doubted] = math.nan
            completed, _ = kernels.expect(rows, mean, None, precision, np.ones(len(rows)))
            # The diagonal of the inverse of the covariance without those that are doubted.
            across = precision[doubted]
            without = precision.diagonal() - (across * (kernels.inverse(across[:, doubted]) @ across)).sum(0)
            without[doubted] = math.inf
            away = (completed - mean) @ precision / np.sqrt(without)
            strange = (np.abs(away) > self._usual).mean(0) > 0.5
            slot = int(np.where(strange, np.square(away).sum(0), -1.0).argmax()) if strange.any() else -1

    def _renew(self, row_model: RowModel) -> None:
        self._reference = row_model.precision()
        wait = max((_GROWTH - 1.0) * self._n_rows, _BLOCK) if self._reference is not None else _BLOCK
        self._renew_at = self._n_rows + min(wait, _LATEST)

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
        expected, deviation = self._expected(reading)
        for slot, heard in self._doubted.items():
            value = float(reading.given[slot])
            if not math.isnan(value) and len(heard) < _ENOUGH:
                heard.append((value, float(expected[slot]), float(deviation[slot])))
        numbers = [len(heard) for heard in self._doubted.values()]
        if len(numbers) > self.most:
            ready = min(numbers) >= _FEW or max(numbers) >= _ENOUGH
            return self._decide_alone(reading) if ready else []
        verdicts = []
        for slot, number in zip(list(self._doubted), numbers):
            # The verdict on one key may be that another one is believed, too.
            due = slot in self._doubted and number in (_FEW, _ENOUGH)
            if due and not math.isnan(reading.given[slot]):
                verdicts += self._decide(slot, reading)
        return verdicts

    def _expected(self, reading: Reading) -> tuple[Array, Array]:
        """What entries that are absent, or not believed, should read, and the deviation of that; shapes (d,)."""
        assert self._reference is not None
        absent = np.flatnonzero(np.isnan(reading.row))
        deviation = np.zeros(len(reading.row))
        left = kernels.inverse(self._reference[1][absent[:, None], absent])
        deviation[absent] = np.sqrt(left.diagonal())
        return reading.scaler.unscale(reading.completed[1:]), self._unit(reading) * deviation

    def _unit(self, reading: Reading) -> Array:
        zeros = np.zeros(len(reading.row))
        unit: Array = reading.scaler.unscale(zeros + 1.0) - reading.scaler.unscale(zeros)
        return unit

    def _decide(self, slot: int, reading: Reading) -> list[Verdict]:
        """The verdict on a key that others may explain."""
        assert self._reference is not None
        mean, precision, variance = self._reference
        values, expected, deviation = np.array(self._doubted[slot]).T
        own = float(self._unit(reading)[slot]) * math.sqrt(variance[slot])
        typical = float(self._fit.typical[slot])
        # With heavy tails most residuals are far smaller than their deviation.
        largest = max(typical, 1.0)
        doubted = np.array(list(self._doubted))
        left = kernels.inverse(precision[doubted[:, None], doubted])[doubted == slot, doubted == slot].item()
        explained = largest * largest * left <= _EXPLAINED * variance[slot]
        # Two keys that explain only each other cannot tell which of them is wrong, unless one is unlike itself.
        tied = [other for other in range(self.n_slots) if other != slot and self._are_tied(slot, other)]
        level = float(reading.scaler.unscale(mean)[slot])
        clear = not tied or np.ptp(values) == 0.0 or abs(float(values.mean()) - level) > _UNLIKE * own
        is_other = explained and not follows(values, expected)
        # More values would not help where others do not explain the key, or cannot tell.
        final = len(values) >= _ENOUGH or not explained or (is_other and not clear)
        heard = values, expected, (largest if explained else typical) * deviation
        # A sensor may have been out of order for a while.
        is_well = fits(values[-_FEW:], expected[-_FEW:], heard[-1][-_FEW:], explained)
        found = NONE if is_well else find_conversion(*heard, explained=explained, final=final)
        if found is None and not final:
            return []
        if found is not None:
            return self._convert(slot, found)
        if is_other and clear:
            return [Verdict(slot, None)]
        self._believe([slot, *tied])
        return []

    def _are_tied(self, slot: int, other: int) -> bool:
        """Whether two keys are explained by each other, and neither of them by the rest."""
        assert self._reference is not None
        _, precision, variance = self._reference
        a, b, c = precision[slot, slot], precision[other, other], precision[slot, other]
        # The inverse of their part of the precision is their covariance given all others.
        without_each_other = np.array([b, a]) / (a * b - c * c)
        return bool((without_each_other > _EXPLAINED * variance[[slot, other]]).all())

    def _decide_alone(self, reading: Reading) -> list[Verdict]:
        """The verdicts on so many keys that the others cannot tell: each is judged by what it used to read itself."""
        assert self._reference is not None
        mean, _, variance = self._reference
        level = reading.scaler.unscale(mean)
        deviation = self._fit.typical * self._unit(reading) * np.sqrt(variance)
        verdicts = []
        for slot, heard in list(self._doubted.items()):
            if heard:
                values = np.array(heard)[:, 0]
                found = find_conversion(values, np.full(len(values), level[slot]), deviation[slot], False, True)
                verdicts += self._convert(slot, found) if found is not None else []
        if self._doubted:
            self._believe(list(range(self.n_slots)))
            self.reset()
        return verdicts

    def _convert(self, slot: int, conversion: Conversion) -> list[Verdict]:
        """Believe a key after a conversion; the verdict, unless it is as it was."""
        del self._doubted[slot]
        if conversion == NONE:
            return []
        total = conversion.after(Conversion(float(self._factor[slot]), float(self._offset[slot])))
        self._factor[slot], self._offset[slot] = total
        self._derive()
        return [Verdict(slot, total)]

    def reset(self) -> None:
        """No key is doubted, and the law to judge by is not known."""
        self._doubted, self._reference = {}, None
        self._begin_block(False)
        self._renew_at = float(self._n_rows + _BLOCK)
        self._derive()

    def conversions(self, slots: Mask) -> Array:
        """Factor and offset of the conversion of some slots, for `restore`; shape (2, slots)."""
        return np.stack([self._factor, self._offset])[:, slots]

    def restore(self, slot: int, conversion: Array) -> None:
        """Take up the conversion of a slot, shape (2,)."""
        self._factor[slot], self._offset[slot] = conversion
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
            self._reference = factor * mean + shift, precision / np.outer(factor, factor), factor * factor * variance


def _worst_of(wrong: Mask, rests: Mask, residuals: Array) -> int:
    """The slot that does not fit: one that came to rest, or else one of those that are wrong, by its residuals."""
    size = np.nansum(np.square(residuals), 0)
    return int(np.where(rests, size + size.sum(), np.where(wrong, size, -1.0)).argmax())
