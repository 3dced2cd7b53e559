"""What row does a dict make?

The only module that looks into a dict: after it there are arrays.
"""

from __future__ import annotations

import math
import operator
import struct

import numpy as np
from scipy.linalg import blas

from ..state.parts import Stored
from ..values import LARGEST, Array, Key, Mask, Sample, number

#: Types of sums to which only numbers add up.
_PLAIN = frozenset({float, np.float64, np.float32})
#: Small NumPy types overflow without harm: only the type of the sum is of interest.
_sum = np.errstate(over="ignore", invalid="ignore")(sum)


class RowReader(Stored):
    """Rows over slots: each known key has a slot, its position in a row.

    A sample that has just the keys that are alive is read without a look at each of them. Costs O(d).

    Parameters
    ----------
    absent
        ``"missing"``: an absent key is NaN in a row. ``"zero"``: it is 0, unless it has vanished.

    Attributes
    ----------
    keys
        Keys by slot.
    slots
        Slots by key.

    """

    DERIVED = ("slots", "_alive", "_values_of", "_format")

    def __init__(self, absent: str = "missing") -> None:
        self.absent = absent
        self.keys: list[Key] = []
        self.slots: dict[Key, int] = {}
        self.expect(np.zeros(0, dtype=bool))

    def rebuild(self) -> None:
        self.slots = {key: slot for slot, key in enumerate(self.keys)}
        self.expect(self._gone)

    def extend(self, keys: list[Key]) -> None:
        """Append slots for keys; `expect` must follow."""
        for key in keys:
            self.slots[key] = len(self.keys)
            self.keys.append(key)

    def keep(self, mask: Mask) -> None:
        """Drop all other slots; `expect` must follow."""
        self.keys = [self.keys[slot] for slot in np.flatnonzero(mask)]
        self.slots = {key: slot for slot, key in enumerate(self.keys)}

    def expect(self, gone: Mask) -> None:
        """Prepare for samples that have just the keys that are not gone."""
        self._gone = gone
        self._alive = np.flatnonzero(~gone)
        alive = [self.keys[slot] for slot in self._alive]
        self._values_of = operator.itemgetter(*alive) if len(alive) > 1 else None
        self._format = f"{len(alive)}d"

    def read(self, x: Sample) -> Array:
        """Row of a sample, shape (d,).

        Raises
        ------
        ValueError
            If a value is not a finite number, also under a key that is not known.

        """
        row = self.read_expected(x)
        return self.read_each(x) if row is None else row

    def read_expected(self, x: Sample) -> Array | None:
        """Row of a sample that has just the keys that are alive, all with values; None for any other sample."""
        # Other mappings may make up values of keys that are not there.
        if len(x) != len(self._alive) or self._values_of is None or type(x) is not dict:
            return None
        try:
            values = self._values_of(x)
            # The type of their sum tells whether all are numbers, much faster than a look at each.
            if type(_sum(values, 0.0)) not in _PLAIN:
                return None
            row = np.frombuffer(struct.pack(self._format, *values))
        except (KeyError, TypeError, ValueError, ArithmeticError, struct.error):
            return None
        if not blas.dnrm2(row) < LARGEST:
            return None
        if len(row) == len(self.keys):
            return row
        wide = np.full(len(self.keys), math.nan)
        wide[self._alive] = row
        return self._fill(wide)

    def read_each(self, x: Sample) -> Array:
        """Row of any sample, value by value."""
        row = np.full(len(self.keys), math.nan)
        for key, value in x.items():
            reading = number(key, value)
            slot = self.slots.get(key)
            if slot is not None:
                row[slot] = reading
        return self._fill(row)

    def _fill(self, row: Array) -> Array:
        if self.absent == "zero":
            # What has vanished would not read zero, and nothing must learn that it does.
            row[np.isnan(row) & ~self._gone] = 0.0
        return row

    def unknown(self, x: Sample) -> list[Key]:
        """The keys of a sample that have a value and no slot."""
        return [key for key, value in x.items() if key not in self.slots and not math.isnan(number(key, value))]

    def present(self, x: Sample) -> Mask:
        """Which slots have a value in a sample, shape (d,)."""
        present = np.zeros(len(self.keys), dtype=bool)
        for key, value in x.items():
            slot = self.slots.get(key)
            if slot is not None and not math.isnan(number(key, value)):
                present[slot] = True
        return present

    @property
    def all_alive(self) -> bool:
        """Whether no slot is gone."""
        return len(self._alive) == len(self.keys)

    def columns(self, keys: list[Key]) -> list[int] | None:
        """Columns of the slots in samples of some keys; None if one of the slots has none."""
        columns = {key: column for column, key in enumerate(keys)}
        found = [columns.get(key, -1) for key in self.keys]
        return None if -1 in found else found
