"""What samples does a Parquet file hold? Row group by row group, so that the file may be larger than the memory."""

from __future__ import annotations

import typing
from collections.abc import Iterator

import narwhals.stable.v2 as nw

from .cells import Cells
from .lines import Line
from .opening import FileError

_ROWS = 1024


class ParquetFile:
    """The rows of a Parquet file, read with pyarrow.

    Parameters
    ----------
    path
        Path of the file; a pipe will not do, since such a file is read from its end.
    cells
        What the values stand for.

    Attributes
    ----------
    columns
        Names of the columns.
    share
        Which share of the rows was read.

    """

    def __init__(self, path: str, cells: Cells) -> None:
        try:
            import pyarrow
            import pyarrow.parquet
        except ModuleNotFoundError:
            raise FileError(
                f'{path} is a Parquet file, which needs pyarrow: pip install "river-pufe[parquet]"'
            ) from None
        self._path, self._cells = path, cells
        self._table = pyarrow.Table.from_batches
        self._broken: tuple[type[Exception], ...] = (pyarrow.ArrowException, OSError)
        try:
            self._file: typing.Any = pyarrow.parquet.ParquetFile(path)
        except self._broken as error:
            raise FileError(f"{path} cannot be read: {error}") from None
        self.columns: list[str] = list(self._file.schema_arrow.names)
        self._n_rows, self._n_read = int(self._file.metadata.num_rows), 0

    def __iter__(self) -> Iterator[Line]:
        try:
            for batch in self._file.iter_batches(_ROWS):
                table = nw.from_native(self._table([batch]), eager_only=True)
                for row in table.iter_rows(named=True):
                    self._n_read += 1
                    yield Line(self._n_read, self._cells.flat(row))
        except self._broken as error:
            raise FileError(f"{self._path} breaks off after row {self._n_read}: {error}") from None

    @property
    def share(self) -> float:
        return self._n_read / self._n_rows if self._n_rows else 1.0

    def close(self) -> None:
        self._file.close()
