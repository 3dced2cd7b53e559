"""What value does a cell of a file hold, if any?"""

from __future__ import annotations

import typing
from collections.abc import Collection, Mapping, Sequence

from ..values import is_there

#: Names of columns with their values; what is absent is left out.
Record = dict[str, typing.Any]

#: How many strings are remembered with what they stand for.
_KNOWN = 1000


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
        self._known: dict[str, typing.Any] = {}

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
        return {name: value for name, cell in zip(columns, cells) if (value := self.read(cell)) is not None}

    def rows(self, columns: Collection[str], rows: Collection[Collection[str]]) -> list[Record]:
        """The same for many rows, each as long as there are columns; column by column is several times faster."""
        found = list(map(self._column, zip(*rows)))
        values = [column for column, _ in found]
        if all(is_full for _, is_full in found):
            return [dict(zip(columns, row)) for row in zip(*values)]
        return [{name: value for name, value in zip(columns, row) if value is not None} for row in zip(*values)]

    def _column(self, cells: Sequence[str]) -> tuple[list[typing.Any], bool]:
        """The values of the cells of a column, and whether none is absent."""
        texts: Sequence[str] = [cell.replace(",", ".") for cell in cells] if self.decimal_comma else cells
        if "" in texts:
            texts = [text or "nan" for text in texts]
        try:
            numbers = list(map(float, texts))
        except ValueError:
            return self._mixed(cells)
        if "_" in "".join(texts):
            return self._mixed(cells)
        total = sum(numbers)
        if total == total and not self._absent_numbers:
            return numbers, True
        absent = self._absent_numbers
        return [value if value == value and value not in absent else None for value in numbers], False

    def _mixed(self, cells: Sequence[str]) -> tuple[list[typing.Any], bool]:
        known, values = self._known, []
        for cell in cells:
            # Most strings come again and again, and that they are no numbers takes long to find out.
            if cell in known:
                values.append(known[cell])
                continue
            value = self.read(cell)
            if not isinstance(value, float) and len(known) < _KNOWN:
                known[cell] = value
            values.append(value)
        return values, None not in values

    def flat(self, values: Mapping[str, typing.Any], prefix: str = "") -> Record:
        """The values of an object, as a flat record: what is nested has names with dots."""
        record: Record = {}
        for key, value in values.items():
            name = f"{prefix}{key}"
            if type(value) is float and value == value and value not in self._absent_numbers:
                record[name] = value
                continue
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
