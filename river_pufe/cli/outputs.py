"""How are predictions and events written, line by line?"""

from __future__ import annotations

import contextlib
import csv
import json
import pathlib
import sys
import typing
from collections.abc import Iterator, Mapping, Sequence

from ..files import STDIN
from . import show


class Output:
    """A file of JSON lines, or of csv if its name says so, that is added to and never overwritten.

    Parameters
    ----------
    path
        Path of the file, ``"-"`` for standard output.
    columns
        Names of the columns of a csv.

    Attributes
    ----------
    is_csv
        Whether it is csv.

    """

    def __init__(self, path: pathlib.Path, columns: Sequence[str]) -> None:
        self._path, self._columns = path, columns
        self.is_csv = path.suffix.lower() == ".csv"
        self._file: typing.TextIO | None = None
        self._csv: typing.Any = None

    def __enter__(self) -> Output:
        if str(self._path) == STDIN:
            sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
            self._file = sys.stdout
        else:
            with _explained(self._path):
                is_new = not self._path.exists() or not self._path.stat().st_size
                # What cannot be encoded, such as half of a character, must not end the run.
                self._file = self._path.open("a", buffering=1, encoding="utf-8", errors="backslashreplace", newline="")
                if self.is_csv:
                    self._csv = csv.DictWriter(self._file, self._columns, extrasaction="ignore", lineterminator="\n")
                    if is_new:
                        self._csv.writeheader()
        return self

    def write(self, row: Mapping[str, typing.Any]) -> None:
        """Write a row; of a csv only what has a column."""
        with _explained(self._path):
            if self._csv is not None:
                self._csv.writerow({name: _cell(value) for name, value in row.items()})
            elif self._file is not None:
                self._file.write(_line(row, self._file.encoding) + "\n")

    def __exit__(self, *_: object) -> None:
        if self._file is not None and self._file is not sys.stdout:
            self._file.close()


def _line(row: Mapping[str, typing.Any], encoding: str) -> str:
    """A row as JSON, with escapes only where there is a character that cannot be encoded."""
    line = json.dumps(row, ensure_ascii=False, default=str)
    try:
        line.encode(encoding)
    except UnicodeEncodeError:
        return json.dumps(row, default=str)
    return line


def _cell(value: typing.Any) -> typing.Any:
    if isinstance(value, bool):
        return str(value).lower()
    return " ".join(map(str, value)) if isinstance(value, list | tuple) else value


def check(path: pathlib.Path | None, append: bool, option: str) -> None:
    """Refuse to overwrite, before any work is done."""
    if path is None or str(path) == STDIN or not path.exists() or path.is_dir():
        return
    if path.stat().st_size and not append and path.is_file():
        raise show.UsageError(f"{path} is there already: say --append to add to it, or give {option} another name")


@contextlib.contextmanager
def _explained(path: pathlib.Path) -> Iterator[None]:
    """Turn what can go wrong while something is written into one sentence."""
    try:
        yield
    except BrokenPipeError:
        show.silence(sys.stdout)
        raise show.RunError("Nobody reads the predictions any more.") from None
    except OSError as error:
        if str(path) == STDIN:
            show.silence(sys.stdout)
            raise show.RunError(f"Standard output cannot be written: {error.strerror or error}") from None
        raise show.RunError(f"{path} cannot be written: {error.strerror or error}") from None
