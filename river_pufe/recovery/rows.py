"""What row does a dict make?

The only module that looks into a dict: after it there are arrays.
"""

from __future__ import annotations

import itertools
import math
import struct
import typing

import numpy as np

from ..values import LARGEST, Array, Key, Mask, Sample, number

#: Types whose values are numbers at a glance.
_PLAIN = frozenset({float, int, bool, np.bool_, *(np.dtype(code).type for code in "fdbhilqBHILQ")})
_NAN = itertools.repeat(math.nan)


class Row(typing.NamedTuple):
    """The values of a sample by slot.

    Parameters
    ----------
    values
        Shape (d,); NaN where absent, or 0 if absence means that.
    present
        Which slots have a value in the sample, shape (d,).
    unknown
        The values under keys that have no slot.

    """

    values: Array
    present: Mask
    unknown: dict[Key, float]


class RowReader:
    """Rows over slots: each known key has a slot, its position in a row.

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

    def __init__(self, absent: str) -> None:
        self.absent = absent
        self.keys: list[Key] = []
        self.slots: dict[Key, int] = {}

    def extend(self, keys: list[Key]) -> None:
        """Append slots for keys."""
        for key in keys:
            self.slots[key] = len(self.keys)
            self.keys.append(key)

    def keep(self, mask: Mask) -> None:
        """Drop all other slots."""
        self.keys = [self.keys[slot] for slot in np.flatnonzero(mask)]
        self.slots = {key: slot for slot, key in enumerate(self.keys)}

    def read(self, x: Sample, gone: Mask) -> Row:
        """Row of a sample. Costs O(d).

        Parameters
        ----------
        x
            The sample.
        gone
            Which slots have vanished, shape (d,): absence does not mean 0 there.

        Raises
        ------
        ValueError
            If a value is not a finite number, also under a key that is not known.

        """
        row = self._at_once(x) or self._one_by_one(x)
        if self.absent == "zero":
            # What has vanished would not read zero, and nothing must learn that it does.
            return Row(np.where(row.present | gone, row.values, 0.0), row.present, row.unknown)
        return row

    def _at_once(self, x: Sample) -> Row | None:
        """Row of a dict of plain numbers under known keys; None for any other sample."""
        # Other mappings may make up values of keys that are not there.
        if type(x) is not dict:
            return None
        found = tuple(map(x.get, self.keys, _NAN))
        if not _PLAIN.issuperset(map(type, found)):
            return None
        try:
            values = np.frombuffer(struct.pack(f"{len(found)}d", *found))
        except struct.error:  # an int beyond the range of floats
            return None
        present = np.abs(values) <= LARGEST
        n_present = np.count_nonzero(present)
        if n_present == len(x):
            return Row(values, present, {})
        # Absent keys may be named as well, with a NaN. What is neither there nor NaN is too large.
        all_known = self.slots.keys() >= x.keys()
        return Row(values, present, {}) if all_known and n_present == np.count_nonzero(values == values) else None

    def _one_by_one(self, x: Sample) -> Row:
        """Row of any sample."""
        values = np.full(len(self.keys), math.nan)
        unknown = {}
        for key, value in x.items():
            reading = number(key, value)
            slot = self.slots.get(key)
            if slot is not None:
                values[slot] = reading
            elif not math.isnan(reading):
                unknown[key] = reading
        return Row(values, ~np.isnan(values), unknown)

    def columns(self, keys: list[Key]) -> list[int] | None:
        """Columns of the slots in samples of some keys; None if one of the slots has none."""
        columns = {key: column for column, key in enumerate(keys)}
        found = [columns.get(key, -1) for key in self.keys]
        return None if -1 in found else found
