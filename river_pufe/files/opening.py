"""How is a file opened, whatever its compression and its encoding?"""

from __future__ import annotations

import bz2
import codecs
import functools
import gzip
import io
import lzma
import os
import sys
import typing
import zlib
from collections.abc import Callable, Iterator

Bytes = typing.BinaryIO | gzip.GzipFile | bz2.BZ2File | lzma.LZMAFile

STDIN = "-"
#: Characters of a line; a few kilobytes that were compressed may be a line of many gigabytes.
_LONGEST = 100_000_000

_COMPRESSED: dict[bytes, Callable[[typing.BinaryIO], Bytes]] = {
    b"\x1f\x8b": lambda raw: gzip.GzipFile(fileobj=raw),
    b"BZh": bz2.BZ2File,
    b"\xfd7zXZ": lzma.LZMAFile,
}
_FOREIGN = {
    b"PK\x03\x04": "is a zip archive: unpack it first, or pipe it in with unzip -p",
    b"\x28\xb5\x2f\xfd": "is compressed with zstd: pipe it in with zstd -dc",
}
_PARQUET = b"PAR1"
_MARKS = {codecs.BOM_UTF8: "utf-8-sig", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}
_BROKEN = (EOFError, OSError, UnicodeError, zlib.error, lzma.LZMAError)


class FileError(Exception):
    """A file that cannot be read, or not any further; the message says why."""


class Source:
    """A file or standard input: its lines, how large it is, and how much of it was read.

    The first bytes tell how a file is compressed (gzip, bzip2, xz) and, where it has a byte order mark, how it is
    encoded. Everything else is taken for UTF-8. Bytes that are not become surrogates (PEP 383), so that one bad line
    does not end the file.

    Parameters
    ----------
    path
        Path of the file, ``"-"`` for standard input.
    encoding
        Encoding of the text, by a name that Python knows. By default UTF-8, or what the byte order mark says.

    Attributes
    ----------
    name
        What to call the file in messages.
    size
        Size in bytes, None where that is unknown.
    is_parquet
        Whether it begins as a Parquet file does; such a file has no lines.

    Raises
    ------
    FileError
        If the file cannot be opened, or is of a kind that is not read; the message names the cure.

    """

    def __init__(self, path: str | os.PathLike[str], encoding: str | None = None) -> None:
        self.path = os.fspath(path)
        piped = self.path == STDIN
        self.name = "standard input" if piped else self.path
        if encoding is not None:
            try:
                codecs.lookup(encoding)
            except LookupError:
                raise FileError(
                    f"there is no encoding {encoding!r}: use a name like latin-1, cp1252 or utf-16"
                ) from None
        try:
            self._raw: typing.BinaryIO = sys.stdin.buffer if piped else open(path, "rb")  # noqa: SIM115
            self.size = None if piped else os.fstat(self._raw.fileno()).st_size or None
        except OSError as error:
            raise FileError(f"{self.name}: {error.strerror or error}") from None
        self.is_parquet = False
        self._text: io.TextIOWrapper | None = None
        try:
            self._text = self._open(encoding)
        except BaseException:
            self.close()
            raise

    def _open(self, encoding: str | None) -> io.TextIOWrapper | None:
        stream: Bytes = self._raw
        head = self._peek(stream)
        for magic, advice in _FOREIGN.items():
            if head.startswith(magic):
                raise FileError(f"{self.name} {advice}")
        if head.startswith(_PARQUET):
            self.is_parquet = True
            return None
        for magic, opened in _COMPRESSED.items():
            if head.startswith(magic):
                stream = opened(self._raw)
                head = self._peek(stream)
        if encoding is None:
            encoding = next((name for mark, name in _MARKS.items() if head.startswith(mark)), None)
        if encoding is None and b"\0" in head:
            guess = "utf-16-be" if head.startswith(b"\0") else "utf-16-le"
            raise FileError(f"{self.name} does not look like text; if it is UTF-16, say --encoding {guess}")
        # As they are, line ends inside of quotes included: the readers of the formats know what they mean.
        text = typing.cast(typing.BinaryIO, stream)
        return io.TextIOWrapper(text, encoding or "utf-8", errors="surrogateescape", newline="")

    def _peek(self, stream: Bytes) -> bytes:
        if not hasattr(stream, "peek"):  # standard input that is not one, as in tests
            return b""
        try:
            head: bytes = stream.peek(8)[:8]
        except _BROKEN as error:
            raise FileError(f"{self.name} cannot be read: {error}") from None
        return head

    def lines(self) -> Iterator[str]:
        """The lines of the text, with their ends.

        Raises
        ------
        FileError
            If the file breaks off.

        """
        n = 0
        if self._text is None:
            return
        try:
            for n, line in enumerate(iter(functools.partial(self._text.readline, _LONGEST), ""), start=1):
                if len(line) == _LONGEST:
                    raise FileError(f"line {n} of {self.name} is longer than {_LONGEST:,} characters: is it a table?")
                yield line
        except _BROKEN as error:
            if not n:
                raise FileError(f"{self.name} cannot be read: {error}") from None
            raise FileError(f"{self.name} breaks off after line {n}: {error}") from None

    @property
    def position(self) -> int:
        """How many bytes of the file were read, compressed as they are."""
        return self._raw.tell() if self.size and not self._raw.closed else self.size or 0

    def close(self) -> None:
        """Close the file; standard input stays open."""
        if self._raw is not sys.stdin.buffer:
            self._raw.close()
        elif self._text is not None and self._text.buffer is self._raw:
            self._text.detach()


def is_text(text: str) -> bool:
    """Whether a string holds no surrogates, which are bytes that could not be decoded."""
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
