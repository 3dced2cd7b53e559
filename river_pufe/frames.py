"""How does a data frame become samples?"""

from __future__ import annotations

import contextlib
import typing

import narwhals.stable.v2 as nw
import numpy as np
from river.utils import dataframe

from .values import LARGEST, Array, Key, brief, number

Frame = nw.DataFrame[typing.Any]


class Batch:
    """The rows of a pandas, polars or other eager frame, as River takes them: checked, and not yet learned from.

    A missing cell is an absent feature, as is a column that is not there.

    Raises
    ------
    ValueError
        If a cell is not a finite number; the message names the column.

    """

    def __init__(self, X: typing.Any) -> None:
        self.frame: Frame = dataframe.into_frame(X)
        self.keys: list[Key] = list(self.frame.columns)
        self.rows: Array | None = self._numbers()
        self._cells: list[tuple[typing.Any, ...]] = []
        if self.rows is None:
            self._cells = list(self.frame.iter_rows())
            for sample in self:
                for key, value in sample.items():
                    number(key, value)

    def _numbers(self) -> Array | None:
        try:
            # NumPy converts strings and dates to numbers as well.
            rows = dataframe.to_numpy(self.frame) if all(map(_is_number, self.frame.schema.values())) else None
        except (TypeError, ValueError):
            rows = None
        if rows is not None and not np.isinf(rows).any():
            finite: Array = np.clip(rows, -LARGEST, LARGEST)
            return finite
        return None

    def __len__(self) -> int:
        return len(self.frame)

    def __getitem__(self, position: int) -> dict[Key, typing.Any]:
        """The sample that a row is."""
        row = self._cells[position] if self.rows is None else self.rows[position].tolist()
        return dict(zip(self.keys, row))

    def __iter__(self) -> typing.Iterator[dict[Key, typing.Any]]:
        return map(self.__getitem__, range(len(self)))


def column(name: str, values: typing.Any) -> list[typing.Any]:
    """The values of a series or list, one for each row of a frame.

    Raises
    ------
    ValueError
        If it is not one.

    """
    # A frame would be the names of its columns.
    if not (isinstance(values, str | bytes | dict | set) or hasattr(values, "columns")):
        with contextlib.suppress(TypeError):
            return list(values)
    what = f"a {type(values).__name__}" if hasattr(values, "columns") else brief(values)
    raise ValueError(f"{name} is {what}, it must be a series or list, with one value for each row of X")


def _is_number(dtype: nw.dtypes.DType) -> bool:
    return dtype.is_numeric() or dtype == nw.Boolean
