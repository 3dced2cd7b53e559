"""How does a run keep a model for each key?

A fleet is saved in a database: the models by their keys, and a note with what any saved model remembers. A run without
`--save` commits nothing, and so leaves the database that it has loaded as it was.
"""

from __future__ import annotations

import contextlib
import functools
import operator
import pathlib
import sqlite3
import sys
import typing
from collections.abc import Iterator

from rich import console

from ..fleet import Fleet, SQLiteStore, stores
from . import saved, show

_NOTE = "run"
_MAGIC = b"SQLite format 3\0"
#: How many models are shown in the end.
_MOST = 20


def check(o: typing.Any) -> None:
    """Refuse what cannot be done with a model for each key, before any work is done."""
    for name in ("long", "figure", "report", "rival", "recovered"):
        if getattr(o, name):
            raise show.UsageError(f"--{name} is about one model, and with --key there are many: leave one of them out")
    if o.save is not None and saved.is_pickle(o.save):
        raise show.UsageError(f"{o.save} would be a pickle, and with --key it is a database: give it another name")
    if o.save is not None and o.save.exists() and not (o.load is not None and o.save.samefile(o.load)):
        raise show.UsageError(f"{o.save} is there already: go on with it (--load {o.save}), or give it another name")


def is_fleet(path: pathlib.Path) -> bool:
    """Whether a file is the database of a fleet."""
    with contextlib.suppress(OSError), path.open("rb") as file:
        return file.read(len(_MAGIC)) == _MAGIC
    return False


def begin(model: typing.Any, key: str, save: pathlib.Path | None) -> Fleet:
    """A new fleet, in which each model starts as a clone of the given one."""
    return _opened(Fleet(model.clone, key, store=SQLiteStore(save) if save else None, commit_every=sys.maxsize))


def load(path: pathlib.Path, save: pathlib.Path | None) -> tuple[typing.Any, saved.About]:
    """The fleet of a database, behind what encodes its samples, and what it was trained for.

    Parameters
    ----------
    path
        The database.
    save
        Where the fleet goes on: in a copy, unless it is the same file.

    """
    if save is not None and not (save.exists() and save.samefile(path)):
        with _explained(path), contextlib.closing(sqlite3.connect(path, timeout=0.0)) as source:
            source.execute("VACUUM INTO ?", (str(save),))
        path = save
    store = SQLiteStore(path)
    with _explained(path), contextlib.closing(store):
        note = store.get(f"#{_NOTE}")
    if note is None:
        raise show.RunError(f"{path} is not a model that can be loaded: it was not saved by run --key")
    steps, about = saved.unpack(note, path)
    if about.key is None:
        raise show.RunError(f"{path} is not a model that can be loaded: it does not say what its key is")
    fleet = _opened(Fleet(steps[-1].clone, about.key, store=store, commit_every=sys.maxsize))
    return functools.reduce(operator.or_, [*steps[:-1], fleet]), about


def save(path: pathlib.Path, fleet: Fleet, encoders: list[typing.Any], about: saved.About, n_samples: int) -> None:
    """Save what the models and the encoders have learned, all or nothing."""
    with _explained(path):
        fleet.commit({_NOTE: saved.pack([*encoders, fleet.factory()], about, n_samples)})


def close(fleet: Fleet, path: pathlib.Path | None) -> None:
    """Close the database; what was not saved is lost, and a database that never was saved is removed."""
    is_empty = False
    # What cannot be read is not removed.
    with contextlib.suppress(OSError):
        is_empty = fleet.note(_NOTE) is None
    fleet.close(commit=False)
    if path is not None and is_empty:
        path.unlink(missing_ok=True)


def models_table(fleet: Fleet) -> console.Group:
    """What became of the first models."""
    keys = fleet.keys
    rows = []
    for key in keys[:_MOST]:
        model = fleet.model(key)
        current = [name for space in model.spaces if space.state == "current" for name in space.keys]
        retired = sum(space.state == "retired" for space in model.spaces)
        rows.append((show.cut(key), f"{model.rounds:,}", show.shorten(current), str(retired)))
    if len(keys) > _MOST:
        rows.append((f"… and {len(keys) - _MOST:,} more", "", "", ""))
    return show.make_table("Models", ("key", "samples", "current features", "retired spaces"), rows, right=(1, 3))


def _opened(fleet: Fleet) -> Fleet:
    """A fleet whose store can be used."""
    try:
        fleet.note(_NOTE)
    except OSError as error:
        raise show.RunError(str(error)) from None
    return fleet


@contextlib.contextmanager
def _explained(path: pathlib.Path) -> Iterator[None]:
    try:
        with stores.explained(path):
            yield
    except OSError as error:
        raise show.RunError(str(error)) from None
