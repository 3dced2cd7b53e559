"""What row does a dict make?"""

from __future__ import annotations

import numpy as np

from .. import kernels
from ..state.parts import Stored
from ..values import Array, Key, Mask, Sample


class RowReader(Stored):
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

    DERIVED = ("slots",)

    def __init__(self, absent: str = "missing") -> None:
        self.absent = absent
        self.keys: list[Key] = []
        self.slots: dict[Key, int] = {}

    def rebuild(self) -> None:
        self.slots = {key: slot for slot, key in enumerate(self.keys)}

    def extend(self, keys: list[Key]) -> None:
        """Append slots for keys."""
        for key in keys:
            self.slots[key] = len(self.keys)
            self.keys.append(key)

    def keep(self, mask: Mask) -> None:
        """Drop all other slots."""
        self.keys = [self.keys[slot] for slot in np.flatnonzero(mask)]
        self.slots = {key: slot for slot, key in enumerate(self.keys)}

    def read(self, x: Sample, gone: Mask) -> tuple[Array, Array, dict[Key, float]]:
        """Row of a sample. Costs O(d).

        Parameters
        ----------
        x
            The sample.
        gone
            Which slots have vanished, shape (d,): absence does not mean 0 there.

        Returns
        -------
        The row and the values that are there, both by slot, shape (d,), NaN where there is none; and the values under
        keys that have no slot.

        Raises
        ------
        ValueError
            If a value is not a finite number, also under a key that is not known.

        """
        values, unknown = kernels.read(x, self.keys, self.slots)
        # What has vanished would not read zero, and nothing must learn that it does.
        row = np.where(np.isnan(values) & ~gone, 0.0, values) if self.absent == "zero" else values
        return row, values, unknown

    def columns(self, keys: list[Key]) -> list[int] | None:
        """Columns of the slots in samples of some keys; None if one of the slots has none."""
        if keys == self.keys:
            return list(range(len(keys)))
        columns = {key: column for column, key in enumerate(keys)}
        found = [columns.get(key, -1) for key in self.keys]
        return None if -1 in found else found
