"""What samples does a file hold?

JSON lines and csv, compressed or not, from a file or a pipe, one line at a time. What is absent in the file is absent
in the sample: an empty cell of a csv, a null in JSON.
"""

from __future__ import annotations

import bz2
import csv
import dataclasses
import gzip
import io
import json
import lzma
import math
import os
import pathlib
import sys
import types
import typing
import zlib
from collections.abc import Collection, Iterator

from river import base

Bytes = typing.BinaryIO | gzip.GzipFile | bz2.BZ2File | lzma.LZMAFile

FORMATS = ("jsonl", "csv")
STDIN = "-"

_SUFFIXES = {".jsonl": "jsonl", ".ndjson": "jsonl", ".csv": "csv", ".tsv": "csv", ".tab": "csv"}
_COMPRESSED: dict[bytes, typing.Callable[[typing.BinaryIO], Bytes]] = {
    b"\x1f\x8b": lambda raw: gzip.GzipFile(fileobj=raw),
    b"BZh": bz2.BZ2File,
    b"\xfd7zXZ": lzma.LZMAFile,
}
_FOREIGN = {
    b"PK\x03\x04": "is a zip archive: unpack it first, or pipe it in with unzip -p",
    b"\x28\xb5\x2f\xfd": "is compressed with zstd: pipe it in with zstd -dc",
    b"PAR1": "is a parquet file: turn it into a csv first",
    b"\xff\xfe": "is UTF-16 text: save it as UTF-8 first",
    b"\xfe\xff": "is UTF-16 text: save it as UTF-8 first",
}
_BOM = b"\xef\xbb\xbf"
_BROKEN = (EOFError, OSError, zlib.error, lzma.LZMAError)


class FileError(Exception):
    """A file that cannot be read, or not any further; the message says why."""


@dataclasses.dataclass(slots=True)
class Line:
    """A line of a file: a sample, or why it is none.

    Parameters
    ----------
    number
        Where it begins, counted from 1.
    record
        Values by name; what is absent is left out.
    error
        Why there is no sample; empty if there is one.

    """

    number: int
    record: dict[str, typing.Any] = dataclasses.field(default_factory=dict)
    error: str = ""


class Reader:
    """The lines of a file or of standard input, as they come.

    Whether a file is compressed (gzip, bzip2, xz) is told from its first bytes, its format from its name or, where that
    says nothing, from its first line. A csv has names in its first line; its delimiter is the one of comma, semicolon
    and tab that is most frequent there, and between semicolons 1,5 is a number. A bad line is reported as one, and the
    next one read.

    **When to use it.** For samples as others write them. `river.stream.iter_csv` is for files whose columns are known:
    it is told the type of each, and keeps what is empty as a string.

    Parameters
    ----------
    path
        Path of the file, ``"-"`` for standard input.
    format
        ``"jsonl"`` or ``"csv"``; by default it is guessed.
    na
        Texts, besides the empty one, that stand for an absent value.

    Attributes
    ----------
    name
        What to call the file in messages.
    format
        The format.
    columns
        Names of the columns of a csv, None for JSON lines.
    size
        Size in bytes, None where that is unknown.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from river_pufe import files
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "weather.csv"
    >>> _ = path.write_text("temperature,rain\\n21.5,no\\n,yes\\n20.0\\n")
    >>> with files.Reader(path) as reader:
    ...     for line in reader:
    ...         print(line.number, line.record, line.error)
    2 {'temperature': 21.5, 'rain': 'no'}
    3 {'rain': 'yes'}
    4 {} has 1 cell, but there are 2 columns

    """

    def __init__(self, path: str | os.PathLike[str], format: str | None = None, na: Collection[str] = ()) -> None:
        if format is not None and format not in FORMATS:
            raise ValueError(f"format is one of {', '.join(FORMATS)}, not {format!r}")
        self._na = frozenset(na)
        piped = str(path) == STDIN
        self.name = "standard input" if piped else str(path)
        try:
            self._raw: typing.BinaryIO = sys.stdin.buffer if piped else open(path, "rb")  # noqa: SIM115
            self.size = None if piped else os.fstat(self._raw.fileno()).st_size or None
        except OSError as error:
            raise FileError(f"{self.name}: {error.strerror or error}") from None
        try:
            self._first, self._rest = self._start()
            self.format = format or self._guess_format()
            self._table: typing.Any = self._open_table() if self.format == "csv" else None
            self.columns = self._header() if self.format == "csv" else None
        except BaseException:
            self.close()
            raise

    def _start(self) -> tuple[bytes, Bytes]:
        """The first line, and what follows."""
        stream: Bytes = self._raw
        if isinstance(self._raw, io.BufferedReader):
            head = self._raw.peek(8)[:8]
            for magic, advice in _FOREIGN.items():
                if head.startswith(magic):
                    raise FileError(f"{self.name} {advice}")
            for magic, opened in _COMPRESSED.items():
                if head.startswith(magic):
                    stream = opened(self._raw)
        try:
            return stream.readline().removeprefix(_BOM), stream
        except _BROKEN as error:
            raise FileError(f"{self.name} cannot be read: {error}") from None

    def _guess_format(self) -> str:
        for suffix in reversed(pathlib.PurePath(self.name).suffixes[-2:]):
            if suffix.lower() in _SUFFIXES:
                return _SUFFIXES[suffix.lower()]
        begin = self._first.lstrip()[:1]
        if begin == b"[":
            raise FileError(f"{self.name} holds a JSON array: make lines of it, with jq -c '.[]'")
        return "jsonl" if begin == b"{" else "csv"

    def _lines(self) -> Iterator[bytes]:
        n = 1
        try:
            yield self._first
            for n, line in enumerate(self._rest, start=2):  # noqa: B007
                yield line
        except _BROKEN as error:
            raise FileError(f"{self.name} breaks off after line {n}: {error}") from None

    def __iter__(self) -> Iterator[Line]:
        return self._csv() if self.columns is not None else self._jsonl()

    def _jsonl(self) -> Iterator[Line]:
        for number, text in enumerate(self._lines(), start=1):
            if text.isspace() or not text:
                continue
            try:
                record = json.loads(text)
            except json.JSONDecodeError as error:
                yield Line(number, error=f"is not JSON: {error.msg} at character {error.colno}")
            except (UnicodeDecodeError, ValueError, RecursionError) as error:
                yield Line(number, error=f"is not JSON: {error}")
            else:
                if isinstance(record, dict):
                    kept = {name: value for name, value in record.items() if not self._is_absent(value)}
                    yield Line(number, kept)
                else:
                    yield Line(number, error=f"is {_ARTICLES.get(type(record), 'a number')}, not an object {{…}}")

    def _is_absent(self, value: typing.Any) -> bool:
        return value is None or value != value or (isinstance(value, str) and (not value or value in self._na))

    def _open_table(self) -> typing.Any:
        texts = (line.decode("utf-8", "surrogateescape") for line in self._lines())
        header = self._first.decode("utf-8", "surrogateescape")
        delimiter = max(",;\t", key=header.count)
        self._decimal_commas = delimiter == ";"
        return csv.reader(texts, delimiter=delimiter, strict=True)

    def _header(self) -> list[str]:
        try:
            names = [name.strip() for name in next(self._table, [])]
        except csv.Error as error:
            raise FileError(f"{self.name} has no names of columns in its first line: {error}") from None
        names = [name or f"column {i}" for i, name in enumerate(names, start=1)]
        twice = [name for i, name in enumerate(names) if name in names[:i]]
        if twice:
            raise FileError(f"{self.name} has more than one column named {twice[0]!r}")
        return names

    def _csv(self) -> Iterator[Line]:
        while True:
            number = self._table.line_num + 1
            try:
                cells = next(self._table)
            except StopIteration:
                return
            except csv.Error as error:
                last = self._table.line_num
                span = f" (up to line {last}: is a quote never closed?)" if last > number else ""
                yield Line(number, error=f"is not csv: {error}{span}")
            else:
                if cells:
                    yield self._row(number, cells)

    def _row(self, number: int, cells: list[str]) -> Line:
        columns = self.columns or []
        if len(cells) != len(columns):
            some = f"{len(cells)} cell" + "s" * (len(cells) != 1)
            return Line(number, error=f"has {some}, but there are {len(columns)} columns")
        try:
            values = zip(columns, map(self._value, cells))
            return Line(number, {name: value for name, value in values if value is not None})
        except UnicodeEncodeError:
            return Line(number, error="is not UTF-8 text")

    def _value(self, cell: str) -> typing.Any:
        try:
            number = float(cell.replace(",", ".") if self._decimal_commas else cell)
        except ValueError:
            pass
        else:
            # Python reads 1_000 as a number, nobody else does.
            if "_" not in cell:
                return number if number == number else None
        text = cell.strip()
        if not text or text in self._na:
            return None
        if text.lower() in ("true", "false"):
            return text.lower() == "true"
        if not text.isascii():
            text.encode()
        return text

    @property
    def position(self) -> int:
        """How many bytes of the file were read, compressed as they are."""
        return self._raw.tell() if self.size else 0

    def close(self) -> None:
        """Close the file; standard input stays open."""
        if self._raw is not sys.stdin.buffer:
            self._raw.close()

    def __enter__(self) -> Reader:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: types.TracebackType | None
    ) -> None:
        self.close()


_ARTICLES = {list: "a list", str: "a text", type(None): "null", bool: "a truth value"}


class OneHotStrings(base.Transformer):
    """Texts to numbers: one key ``"name=text"`` for each text, 1 where it is there and 0 where another one is.

    Where a key is absent, all of its are: that nothing was reported is not that it was none of the known texts. This is
    what `river.preprocessing.OneHotEncoder` does not tell apart; it also encodes numbers.

    **When to use it.** In front of an estimator, for a few keys with a few texts each. Texts beyond `max_texts` are
    known as none of the others, so that names and ids do no harm, and no good.

    Parameters
    ----------
    max_texts
        Number of texts of a key that get a key of their own.

    Examples
    --------
    >>> from river_pufe import files
    >>> encoder = files.OneHotStrings()
    >>> for city in ("Rome", "Oslo"):
    ...     encoder.learn_one({"city": city, "rain": 1.5})
    >>> encoder.transform_one({"city": "Rome", "rain": 0.5})
    {'city=Rome': 1.0, 'city=Oslo': 0.0, 'rain': 0.5}
    >>> encoder.transform_one({"rain": 0.5})
    {'rain': 0.5}

    """

    def __init__(self, max_texts: int = 50) -> None:
        if not max_texts >= 1:
            raise ValueError(f"max_texts is a number of texts, 1 or more, not {max_texts!r}")
        self.max_texts = max_texts
        self._known: dict[typing.Hashable, dict[str, str]] = {}

    def learn_one(self, x: dict[typing.Hashable, typing.Any]) -> None:
        """Get to know the texts of a sample."""
        for key, value in x.items():
            if isinstance(value, str):
                known = self._known.setdefault(key, {})
                if value not in known and len(known) < self.max_texts:
                    known[value] = f"{key}={value}"

    def transform_one(self, x: dict[typing.Hashable, typing.Any]) -> dict[typing.Hashable, typing.Any]:
        """The sample with its texts encoded."""
        encoded: dict[typing.Hashable, typing.Any] = {}
        for key, value in x.items():
            if isinstance(value, str):
                encoded.update((name, float(text == value)) for text, name in self._known.get(key, {}).items())
            else:
                encoded[key] = value
        return encoded


def whole(value: typing.Any) -> typing.Any:
    """A value in which whole numbers are ints, whatever the file made of them: a class, or a time."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def guess_task(targets: Collection[typing.Any], enough: int = 100, most: int = 10) -> str | None:
    """Whether targets are classes or numbers.

    Texts and truth values are classes, fractions are numbers. Whole numbers are classes if there are no more than
    `most` different ones among `enough` of them.

    Returns
    -------
    ``"classification"``, ``"regression"``, or None as long as it may be either.

    Examples
    --------
    >>> from river_pufe import files
    >>> files.guess_task(["spam"]), files.guess_task([1, 2, 2.5]), files.guess_task([0, 1, 1])
    ('classification', 'regression', None)

    """
    for target in targets:
        if not isinstance(target, int | float) or isinstance(target, bool):
            return "classification"
        if not math.isfinite(target) or not float(target).is_integer():
            return "regression"
    if len(set(targets)) > most:
        return "regression"
    return "classification" if len(targets) >= enough else None
