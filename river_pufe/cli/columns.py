"""Does a file have the columns that the user names?"""

from __future__ import annotations

from collections.abc import Iterable

from ..files import Reader
from . import show


def check_columns(reader: Reader, wanted: Iterable[str | None]) -> None:
    """A name that a csv does not have is most likely a slip; of JSON lines the names are not known before."""
    if reader.columns is None:
        return
    if not reader.columns:
        raise show.UsageError(f"{reader.name} is empty")
    for name in wanted:
        if name is not None and name not in reader.columns:
            raise show.UsageError(f"{reader.name} has no column {name!r}; it has {show.shorten(reader.columns, 12)}")
