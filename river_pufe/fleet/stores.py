"""Where are the models of a fleet that are not in use?"""

from __future__ import annotations

import abc
import contextlib
import pathlib
import sqlite3
import typing
from collections.abc import Iterator

from river import base

_SCHEMA = "CREATE TABLE IF NOT EXISTS models (key TEXT PRIMARY KEY, state BLOB NOT NULL)"


@contextlib.contextmanager
def explained(path: str | pathlib.Path) -> Iterator[None]:
    """Raise an OSError that a user understands for whatever SQLite says of a database."""
    try:
        yield
    except sqlite3.Error as error:
        why = "another fleet uses it" if "locked" in str(error) else str(error)
        raise OSError(f"{path} cannot be used as a store: {why}") from None
    except UnicodeDecodeError:
        # SQLite quotes what is damaged, which need not be text.
        raise OSError(f"{path} cannot be used as a store: it is damaged") from None


class Store(base.Base, abc.ABC):
    """States by name, each a sequence of bytes.

    The name of a key is its JSON. A name that begins with ``#`` is that of a note, which belongs to no key.

    Attributes
    ----------
    lasts
        Whether what was committed outlives the process.

    """

    lasts: bool = False

    @abc.abstractmethod
    def get(self, key: str) -> bytes | None:
        """The state of a name, None if there is none."""

    @abc.abstractmethod
    def put(self, key: str, state: bytes) -> None:
        """Write the state of a name; it is permanent from the next `commit` on."""

    @abc.abstractmethod
    def names(self) -> list[str]:
        """All names."""

    def commit(self) -> None:
        """Make what was written permanent, all or nothing."""

    def close(self) -> None:
        """Close what is open; what was not committed is lost."""

    def __str__(self) -> str:
        return repr(self)


class MemoryStore(Store):
    """States in memory: smaller than models, and gone with the process.

    **When to use it.** By default, for some thousands of keys.

    Examples
    --------
    >>> from river_pufe.fleet import MemoryStore
    >>> store = MemoryStore()
    >>> store.put("a", b"state")
    >>> store.get("a")
    b'state'

    """

    def __init__(self) -> None:
        self._states: dict[str, bytes] = {}

    def get(self, key: str) -> bytes | None:
        return self._states.get(key)

    def put(self, key: str, state: bytes) -> None:
        self._states[key] = state

    def names(self) -> list[str]:
        return list(self._states)


class SQLiteStore(Store):
    """States in one file, written in transactions: after a crash the file is what it was at the latest commit.

    **When to use it.** For more keys than memory holds, or if the fleet must outlive the process. One process uses the
    file at a time; another one gets an error.

    Parameters
    ----------
    path
        The file. It is made, and opened, when it is needed first.

    Examples
    --------
    >>> import os, tempfile
    >>> from river_pufe.fleet import SQLiteStore
    >>> path = os.path.join(tempfile.mkdtemp(), "fleet.db")
    >>> store = SQLiteStore(path)
    >>> store.put("a", b"state")
    >>> store.commit()
    >>> store.close()
    >>> SQLiteStore(path).get("a")
    b'state'

    """

    lasts = True

    def __init__(self, path: str | pathlib.Path) -> None:
        self.path = path
        self._connection: sqlite3.Connection | None = None

    @classmethod
    def _unit_test_params(cls) -> typing.Iterator[dict[str, typing.Any]]:
        yield {"path": ":memory:"}

    @property
    def _open(self) -> sqlite3.Connection:
        if self._connection is None:
            # The fleet that uses it has a lock, so any of its threads may come.
            connection = sqlite3.connect(self.path, timeout=0.0, check_same_thread=False, isolation_level=None)
            try:
                with explained(self.path):
                    # One writer, which the file remembers; a commit does not wait for the disk, and survives a crash
                    # of the process; after a power failure the file is that of an earlier commit.
                    connection.execute("PRAGMA locking_mode = EXCLUSIVE")
                    connection.execute("PRAGMA journal_mode = WAL")
                    connection.execute("PRAGMA synchronous = NORMAL")
                    connection.execute("BEGIN IMMEDIATE")
                    connection.execute(_SCHEMA)
            except OSError:
                connection.close()
                raise
            self._connection = connection
        return self._connection

    def _do(self, command: str, *values: str | bytes) -> list[typing.Any]:
        with explained(self.path):
            return self._open.execute(command, values).fetchall()

    def get(self, key: str) -> bytes | None:
        rows = self._do("SELECT state FROM models WHERE key = ?", key)
        return rows[0][0] if rows else None

    def put(self, key: str, state: bytes) -> None:
        self._do("INSERT OR REPLACE INTO models VALUES (?, ?)", key, state)

    def names(self) -> list[str]:
        return [row[0] for row in self._do("SELECT key FROM models ORDER BY key")]

    def commit(self) -> None:
        if self._connection is not None:
            self._do("COMMIT")
            self._do("BEGIN IMMEDIATE")

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def __getstate__(self) -> dict[str, typing.Any]:
        return {"path": self.path, "_connection": None}
