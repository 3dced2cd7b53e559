"""What samples does a csv hold, when headers are repeated or change, and what else is not a sample?

Python's own reader takes the lines apart. What it does not know is done here: what a cell stands for, errors by line,
headers in the middle, rows of units, and the annotations of InfluxDB.
"""

from __future__ import annotations

import collections
import csv
import itertools
import typing
from collections.abc import Iterable, Iterator

from ..values import brief
from .cells import Cells, Record
from .lines import Line
from .opening import FileError, is_text
from .times import is_time

_DELIMITERS = ",;\t|"
#: How many names are told, and how many letters of each.
_FEW, _LETTERS = 12, 60
#: The lines that InfluxDB writes above each header.
_ANNOTATIONS = ("#group", "#datatype", "#default", "#constant")
#: What stands for an absent value in one feed or another: not a unit.
ABSENT_WORDS = frozenset(
    {"unknown", "unavailable", "na", "n/a", "nan", "null", "none", "nil", "missing", "-", "--", "?"}
)


class CsvFile:
    """The rows of a csv as samples.

    The first line that is not a comment has the names of the columns; the delimiter is the one of comma, semicolon,
    tab and bar that is most frequent there, and between semicolons 1,5 is a number. A line that repeats the names is
    skipped, and one with other names is the header from there on. So is the line after an annotation of InfluxDB.

    Parameters
    ----------
    name
        What to call the file in messages.
    lines
        Its lines.
    cells
        What cells stand for.
    n_cells
        About how many cells are read at once, which is faster; 1: each line as soon as it is there, as from a pipe.

    Attributes
    ----------
    columns
        Names of the columns, as they are at the moment; empty for an empty file.

    """

    def __init__(self, name: str, lines: Iterable[str], cells: Cells, n_cells: int = 1) -> None:
        self._name, self._cells, self._n_cells = name, cells, n_cells
        lines = iter(lines)
        self._skipped = 0
        self._expects_header = self._has_numbers = False
        first = ""
        for first in lines:
            if not (first.isspace() or first.startswith("#")):
                break
            self._skipped += 1
            first = ""
        delimiter = max(_DELIMITERS, key=first.count)
        if delimiter == ";":
            self._cells = cells.with_decimal_comma()
        self._rows: typing.Any = csv.reader(
            itertools.chain([first] if first else [], lines), delimiter=delimiter, strict=True
        )
        self.columns: list[str] = []
        try:
            self.columns = self._named(next(self._rows, []))
        except csv.Error as error:
            raise FileError(f"{name} has no names of columns in its first line: {error}") from None
        if not is_text("".join(self.columns)):
            raise FileError(f"{name} is not UTF-8: say --encoding latin-1, or whatever it is")
        if self.columns and all(_is_number(column) for column in self.columns):
            raise FileError(f"{name} has no names of columns in its first line, only numbers: add a line of names")

    def _named(self, names: list[str]) -> list[str]:
        names = [name.strip() or f"column {i}" for i, name in enumerate(names, start=1)]
        if len(set(names)) < len(names):
            twice = next(name for name, n in collections.Counter(names).items() if n > 1)
            raise FileError(f"{self._name} has more than one column named {brief(twice)}")
        return names

    def __iter__(self) -> Iterator[Line]:
        lines = self._lines()
        # Only the next row can tell whether a first one without any number holds units.
        first = next((line for line in lines), None)
        if first is None:
            return
        if first.error or first.note or _has_number(first.record):
            yield first
        else:
            second = next(lines, None)
            yield self._as_units(first, second) if second is not None else first
            if second is not None:
                yield second
        yield from lines

    def _lines(self) -> Iterator[Line]:
        is_over = False
        while not is_over:
            n_rows = max(self._n_cells // max(len(self.columns), 1), 1)
            numbers, rows, error = [self._next_number], [], ""
            try:
                for cells in itertools.islice(self._rows, n_rows):
                    rows.append(cells)
                    numbers.append(self._next_number)
                is_over = len(rows) < n_rows
            except csv.Error as reason:
                last = self._next_number - 1
                span = f" (up to line {last}: is a quote never closed?)" if last > numbers[-1] else ""
                error = f"is not csv: {reason}{span}"
            except FileError:
                yield from self._read(numbers, rows)
                raise
            yield from self._read(numbers, rows)
            if error:
                yield Line(numbers[-1], error=error)

    @property
    def _next_number(self) -> int:
        """Number of the line after those that were read."""
        number: int = self._skipped + self._rows.line_num + 1
        return number

    def _read(self, numbers: list[int], rows: list[list[str]]) -> Iterator[Line]:
        """The lines that rows are, up to the last one or to one that changes what those after it mean."""
        while rows:
            columns, expected, n_read = self.columns, self._expects_header, 0
            as_usual = [] if expected else [cells for cells in rows if len(cells) == len(columns)]
            records = iter(self._cells.rows(columns, as_usual) if len(rows) > 1 else ())
            are_text = is_text("".join(map("".join, as_usual)))
            for number, cells in zip(numbers, rows):
                n_read += 1
                if len(cells) == len(columns) and not expected:
                    record = next(records, None) or self._cells.row(columns, cells)
                    if (are_text or is_text("".join(cells))) and _has_number(record):
                        self._has_numbers = True
                        yield Line(number, record)
                        continue
                if cells and (line := self._other(number, cells)) is not None:
                    yield line
                if self.columns is not columns or self._expects_header is not expected:
                    break
            numbers, rows = numbers[n_read:], rows[n_read:]

    def _other(self, number: int, cells: list[str]) -> Line | None:
        """What a row is that is not a sample like all others."""
        if not is_text("".join(cells)):
            return Line(number, error="is not UTF-8: say --encoding latin-1, or whatever it is")
        if cells[0].startswith(_ANNOTATIONS):
            self._expects_header = True
            return None
        names = [cell.strip() for cell in cells]
        if self._expects_header or self._is_header(names):
            self._expects_header = False
            return self._new_header(number, names)
        if cells[0].startswith("#") and not self.columns[0].startswith("#"):
            return None
        if len(cells) != len(self.columns):
            some = f"{len(cells)} cell" + "s" * (len(cells) != 1)
            return Line(number, error=f"has {some}, but there are {len(self.columns)} columns")
        return Line(number, self._cells.row(self.columns, cells))

    def _is_header(self, names: list[str]) -> bool:
        known = len(set(names).intersection(self.columns))
        if not known or len(set(names)) < len(names):
            return False
        if names == self.columns:
            return True
        if any(not name or _is_number(name) for name in names):
            return False
        # Among numbers a row of names is no accident; among strings a name may be a value, but not most of them.
        return self._has_numbers or 2 * known > len(names)

    def _new_header(self, number: int, names: list[str]) -> Line | None:
        before = self.columns
        self.columns = self._named(names)
        if self.columns == before:
            return Line(number, note="repeated header")
        changes = [
            f"{verb} {_few(found)}"
            for verb, found in (
                ("with", _without(self.columns, before)),
                ("without", _without(before, self.columns)),
            )
            if found
        ]
        return Line(number, note=f"new header: {' and '.join(changes) or 'the columns in another order'}")

    def _as_units(self, first: Line, second: Line) -> Line:
        """The first row, or a note if the second one shows that it holds the units of the columns."""
        strings = {name: value for name, value in first.record.items() if isinstance(value, str)}
        are_units = len(strings) == len(first.record) and any(
            isinstance(second.record.get(name), float) and value.lower() not in ABSENT_WORDS and not is_time(value)
            for name, value in strings.items()
        )
        return Line(first.number, note=f"row of units: {_few(list(strings.values()))}") if are_units else first


def _without(names: list[str], others: list[str]) -> list[str]:
    known = set(others)
    return [name for name in names if name not in known]


def _few(strings: list[str]) -> str:
    """The first of some strings, and how many there are if there are more."""
    shown = ", ".join(string if len(string) <= _LETTERS else string[: _LETTERS - 1] + "…" for string in strings[:_FEW])
    return shown if len(strings) <= _FEW else f"{shown}, … ({len(strings):,})"


def _has_number(record: Record) -> bool:
    # A loop, as most often the first value is one.
    for value in record.values():  # noqa: SIM110
        if type(value) is float:
            return True
    return False


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
