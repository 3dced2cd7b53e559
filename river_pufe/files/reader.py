"""Which format does a file have, and what samples do several files hold, one after another?"""

from __future__ import annotations

import itertools
import os
import pathlib
import types
import typing
from collections.abc import Collection, Iterator, Sequence

from . import json_lines, libsvm
from .cells import Cells
from .lines import Line
from .opening import STDIN, FileError, Source
from .parquet import ParquetFile
from .tables import CsvFile

FORMATS = ("jsonl", "csv", "libsvm", "parquet")

_SUFFIXES = {
    ".jsonl": "jsonl", ".ndjson": "jsonl",
    ".csv": "csv", ".tsv": "csv", ".tab": "csv",
    ".libsvm": "libsvm", ".svm": "libsvm", ".svmlight": "libsvm",
}  # fmt: skip

#: How many cells of a csv are read at once, where lines need not be answered as they come.
_CELLS = 10_000

Path = str | os.PathLike[str]


class Reader:
    """The samples of one or more files, or of standard input, one at a time, as they come.

    A file is csv, JSON lines, LIBSVM or Parquet, and may be compressed. Its name tells the format or, where that
    does not, its first line. What is absent in a file is absent in the sample: an empty cell, a null. What is
    wrong with a line is reported as its error, and the next one is read.

    **When to use it.** For samples as others write them. `river.stream.iter_csv` is for files whose columns are known:
    it is given the type of each, and keeps what is empty as a string.

    Reading is lazy: memory is O(1) in the number of lines; of a Parquet file a thousand rows are read at a time.

    Parameters
    ----------
    paths
        Path of the file, ``"-"`` for standard input; or several, which are read in this order.
    format
        ``"csv"``, ``"jsonl"``, ``"libsvm"`` or ``"parquet"``; by default it is guessed for each file.
    na
        Strings, besides the empty one, that stand for an absent value.
    encoding
        Encoding of text; by default UTF-8, or what a byte order mark says.
    decimal_comma
        Whether ``1,5`` is a number; between semicolons it always is.

    Attributes
    ----------
    name
        What to call the files in messages.
    format
        The format of the first file.
    columns
        Names of the columns of the first file, None if a format has none.
    size
        Size of all files in bytes, None where that is unknown.

    Raises
    ------
    FileError
        If a file cannot be opened, or is of a kind that is not read.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from river_pufe import files
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "weather.csv"
    >>> _ = path.write_text("temperature,rain\\n21.5,no\\n,yes\\ntemperature,rain\\n20.0\\n")
    >>> with files.Reader(path) as reader:
    ...     for line in reader:
    ...         print(line.number, line.record, line.note or line.error)
    2 {'temperature': 21.5, 'rain': 'no'}
    3 {'rain': 'yes'}
    4 {} repeated header
    5 {} has 1 cell, but there are 2 columns

    """

    def __init__(
        self,
        paths: Path | Sequence[Path],
        format: str | None = None,
        na: Collection[str] = (),
        encoding: str | None = None,
        decimal_comma: bool = False,
    ) -> None:
        if format is not None and format not in FORMATS:
            raise ValueError(f"format is one of {', '.join(FORMATS)}, not {format!r}")
        names = [os.fspath(path) for path in ([paths] if isinstance(paths, str | os.PathLike) else paths)]
        if not names:
            raise ValueError("paths is empty: name at least one file")
        self._format, self._encoding = format, encoding
        self._cells = Cells(na, decimal_comma)
        self._paths = names
        sizes = [None if path == STDIN else _size(path) for path in names]
        self.size = None if None in sizes else sum(size or 0 for size in sizes) or None
        self._read = 0
        self._file = self._open(names[0])
        self.name = self._file.name + (f" and {len(names) - 1} more" if len(names) > 1 else "")
        self.format, self.columns = self._file.format, self._file.columns

    def _open(self, path: str) -> _File:
        return _File(path, self._format, self._encoding, self._cells)

    def __iter__(self) -> Iterator[Line]:
        for i, path in enumerate(self._paths):
            if i:
                self._read += self._file.position
                self._file.close()
                self._file = self._open(path)
                yield Line(0, note=f"next file: {self._file.name}", file=self._file.name)
            if len(self._paths) == 1:
                yield from self._file.lines()
                continue
            for line in self._file.lines():
                line.file = self._file.name
                yield line

    @property
    def position(self) -> int:
        """How many bytes were read, compressed as they are."""
        return self._read + self._file.position

    def close(self) -> None:
        """Close the file; standard input stays open."""
        self._file.close()

    def __enter__(self) -> Reader:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: types.TracebackType | None
    ) -> None:
        self.close()


class _File:
    """One file, opened: its format, its columns and its lines."""

    def __init__(self, path: str, format: str | None, encoding: str | None, cells: Cells) -> None:
        self._source = Source(path, encoding)
        self._parquet: ParquetFile | None = None
        self.name = self._source.name
        self.columns: list[str] | None = None
        try:
            self._open(format, cells)
        except BaseException:
            self.close()
            raise

    def _open(self, format: str | None, cells: Cells) -> None:
        source = self._source
        if source.is_parquet:
            if source.path == STDIN:
                raise FileError("a Parquet file cannot be read from a pipe: name the file")
            self.format = "parquet"
            self._parquet = ParquetFile(source.path, cells)
            self.columns = self._parquet.columns
            self.lines: typing.Callable[[], Iterator[Line]] = self._parquet.__iter__
            return
        if format == "parquet":
            raise FileError(f"{self.name} is not a Parquet file")
        lines = source.lines()
        ahead = list(itertools.islice(lines, 1))
        self.format = format or self._guess("".join(ahead))
        lines = itertools.chain(ahead, lines)
        if self.format == "csv":
            table = CsvFile(self.name, lines, cells, _CELLS if source.size else 1)
            self.columns = table.columns
            self.lines = table.__iter__
        else:
            read = json_lines.read if self.format == "jsonl" else libsvm.read
            self.lines = lambda: read(lines, cells)

    def _guess(self, first: str) -> str:
        for suffix in reversed(pathlib.PurePath(self._source.path).suffixes[-2:]):
            if suffix.lower() in _SUFFIXES:
                return _SUFFIXES[suffix.lower()]
        begin = first.lstrip()[:1]
        if begin == "[":
            raise FileError(f"{self.name} holds a JSON array: make lines of it, with jq -c '.[]'")
        return "jsonl" if begin == "{" else "libsvm" if libsvm.looks_like(first) else "csv"

    @property
    def position(self) -> int:
        if self._parquet is not None:
            return int(self._parquet.share * (self._source.size or 0))
        return self._source.position

    def close(self) -> None:
        if self._parquet is not None:
            self._parquet.close()
        self._source.close()


def _size(path: str) -> int | None:
    try:
        return os.stat(path).st_size or None
    except OSError:
        return None
