"""Does a file have the columns that the user names?"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence

from ..files import Reader
from . import show


def check_columns(reader: Reader, wanted: Iterable[str]) -> None:
    """A name that a table does not have is most likely a slip; of JSON lines the names are not known beforehand."""
    columns = reader.columns
    if columns is None:
        return
    if not columns:
        raise show.UsageError(f"{reader.name} is empty")
    for name in wanted:
        # What is nested in a column of Parquet has its name with a dot behind it.
        if name not in columns and name.partition(".")[0] not in columns:
            raise show.UsageError(f"{reader.name} has no column {name!r}{meant(name, columns)}")


def meant(name: str, names: Sequence[str]) -> str:
    """What there is instead of a name that there is not: the one that is most like it, and some others."""
    lower = {known.lower(): known for known in reversed(names)}
    # What is nested is often asked for without the names of what it is in.
    inner = {known.rpartition(".")[2]: known for known in lower}
    close = difflib.get_close_matches(name.lower(), [*lower, *inner], n=1, cutoff=0.7)
    suggestion = f": did you mean {lower[inner.get(close[0], close[0])]!r}?" if close else ""
    return f"{suggestion or ';'} {'It' if suggestion else 'it'} has {show.shorten(names, 12)}"
