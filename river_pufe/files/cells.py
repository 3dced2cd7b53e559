"""What value does a cell of a file hold, if any?"""

from __future__ import annotations

import typing
from collections.abc import Collection, Mapping

from ..values import is_there

#: Names of columns with their values; what is absent is left out.
Record = dict[str, typing.Any]


class Cells:
    """Strings to numbers, truth values and strings; what is absent is None.

    A number is one in any format, also where it is written as a string, as in many JSON feeds.

    Parameters
    ----------
    na
        Values, besides empty ones, that stand for an absent value, as they are written. One that is a number stands for
        that number, however it is written: ``"-200"`` also for ``-200.0``.
    decimal_comma
        Whether ``1,5`` is a number.

    Examples
    --------
    >>> from river_pufe.files.cells import Cells
    >>> cells = Cells(na=["unknown", "-200"])
    >>> [cells.read(text) for text in ("21.5", " true", "red", "", "unknown", "-200.0")]
    [21.5, True, 'red', None, None, None]

    """

    def __init__(self, na: Collection[str] = (), decimal_comma: bool = False) -> None:
        self.na = frozenset(na)
        self.decimal_comma = decimal_comma
        self._absent = {text.strip().lower() for text in na} | {""}
        self._absent_numbers = {value for value in map(self._number, na) if value is not None}

    def with_decimal_comma(self) -> Cells:
        """The same, for files in which ``1,5`` is a number."""
        return Cells(self.na, decimal_comma=True)

    def _number(self, text: str) -> float | None:
        try:
            number = float(text.replace(",", ".") if self.decimal_comma else text)
        except ValueError:
            return None
        # Only Python reads 1_000 as a number.
        return None if "_" in text else number

    def read(self, text: str) -> typing.Any:
        """The value of a string: a float, a bool, a string, or None if it is absent."""
        number = self._number(text)
        if number is not None:
            return number if number == number and number not in self._absent_numbers else None
        return self._string(text)

    def _string(self, text: str) -> typing.Any:
        text = text.strip()
        lower = text.lower()
        if lower in self._absent:
            return None
        return lower == "true" if lower in ("true", "false") else text

    def row(self, columns: Collection[str], cells: Collection[str]) -> Record:
        """The values of the cells of a row, by column."""
        record: Record = {}
        if self.decimal_comma or self._absent_numbers:
            for name, cell in zip(columns, cells):
                if (value := self.read(cell)) is not None:
                    record[name] = value
            return record
        # As `read`, written out for the many cells that are plain numbers.
        for name, cell in zip(columns, cells):
            try:
                number = float(cell)
            except ValueError:
                if (value := self._string(cell)) is not None:
                    record[name] = value
            else:
                if "_" in cell:
                    record[name] = cell.strip()
                elif number == number:
                    record[name] = number
        return record

    def flat(self, values: Mapping[str, typing.Any], prefix: str = "") -> Record:
        """The values of an object, as a flat record: what is nested has names with dots."""
        record: Record = {}
        for key, value in values.items():
            name = f"{prefix}{key}"
            if isinstance(value, str):
                value = self.read(value)
            elif isinstance(value, Mapping):
                record.update(self.flat(value, f"{name}."))
                continue
            elif not is_there(value) or self._stands_for_absence(value):
                continue
            if value is not None:
                record[name] = value
        return record

    def _stands_for_absence(self, value: typing.Any) -> bool:
        if isinstance(value, bool):
            return str(value).lower() in self._absent
        return isinstance(value, int | float) and value in self._absent_numbers
