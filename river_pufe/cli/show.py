"""How do results look in a terminal, and how is a file written that shows them?"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import pathlib
import re
import sys
import typing
from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np
from rich import box, console, markup, progress, table, text

from .. import saving
from ..files import Suspect, whole
from ..plot.record import Presence
from ..recovery.evolution import FeatureSpace
from ..values import Key

_BLOCKS = "▁▂▃▄▅▆▇█"
_ASCII = ".:-=+*%#"


#: Exit code of a command that ended well, but skipped lines.
SKIPPED = 3


class RunError(Exception):
    """What ends a command with exit code 1; the message says why."""


class UsageError(Exception):
    """What ends a command with exit code 2; the message says why."""


class Console(console.Console):
    """A console that lets the work go on where nobody reads it, or its output has no room.

    Attributes
    ----------
    lost
        Whether something could not be written, for another reason than that nobody reads it.

    """

    lost = False

    def print(self, *objects: typing.Any, **options: typing.Any) -> None:
        try:
            super().print(*objects, **options)
        except OSError as error:
            silence(self.file)
            self.lost = not isinstance(error, BrokenPipeError)
            if self.lost and not self.stderr:
                say(open_console(stderr=True), f"Standard output cannot be written: {error.strerror or error}", "red")

    def on_broken_pipe(self) -> None:
        silence(self.file)


def silence(stream: typing.IO[str]) -> None:
    """Let all that is written from now on vanish, with what is still in the buffer."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)


def open_console(stderr: bool = False) -> Console:
    """A console that survives any character, on any terminal."""
    stream = sys.stderr if stderr else sys.stdout
    with contextlib.suppress(AttributeError, ValueError):
        stream.reconfigure(errors="replace")  # type: ignore[union-attr]
    return Console(stderr=stderr, highlight=False)


def say(out: console.Console, message: str, style: str = "") -> None:
    """A line of text as it is; pipes get it in one piece."""
    out.print(text.Text(message, style), soft_wrap=True)


def count(n: int, what: str) -> str:
    """How many of something there are; more about it may follow, as in ``"row of units"``."""
    noun, more = re.fullmatch(r"(.+?)( (?:of|back|without) .+)?", what).groups("")  # type: ignore[union-attr]
    return f"{n:,} {noun}{'s' * (n != 1)}{more}"


def shorten(keys: Sequence[Key], most: int = 4) -> str:
    """A few keys, and how many there are."""
    shown = ", ".join(map(cut, keys[:most]))
    return f"{shown}, … ({len(keys)})" if len(keys) > most else shown


def cut(key: typing.Any) -> str:
    """A name that is not too long."""
    name = str(key)
    return name if len(name) <= 32 else name[:31] + "…"


def doubt(suspect: Suspect) -> str:
    """What to do about a value that may stand for an absent one."""
    value = whole(suspect.value)
    return f"{cut(suspect.key)} is {value} in {suspect.share:.1%} of its values; if that means absent, say --na {value}"


def spaces_table(
    spaces: Iterable[FeatureSpace], title: str = "Feature spaces", times: Mapping[int, typing.Any] | None = None
) -> console.Group:
    """The feature spaces, oldest first; where the times of rounds are known, these instead of the rounds."""
    columns, rows = spaces_rows(spaces, times)
    return make_table(title, columns, rows, right=(0,) if times is not None else (0, 2))


def spaces_rows(
    spaces: Iterable[FeatureSpace], times: Mapping[int, typing.Any] | None = None
) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Heads and cells of the table of the feature spaces."""
    rows: list[tuple[str, ...]] = []
    for space in spaces:
        gone = "all" if set(space.vanished) == set(space.keys) else shorten(space.vanished) or "-"
        opened = (
            f"{space.opened_at:,}" if times is None else str(times.get(space.opened_at, f"round {space.opened_at:,}"))
        )
        rows.append((str(space.number), space.state, opened, shorten(space.keys), gone))
    return ("space", "state", "opened" if times is not None else "opened in round", "keys", "vanished"), rows


def scores_table(title: str, tables: Mapping[str, Mapping[str, str]]) -> console.Group:
    """Metrics of one or more models, a column for each model."""
    names = list(dict.fromkeys(name for table in tables.values() for name in table))
    rows = [(name, *(table.get(name, "-") for table in tables.values())) for name in names]
    heads = ("metric", *tables) if len(tables) > 1 else ("metric", "value")
    return make_table(title, heads, rows, right=tuple(range(1, len(heads))))


def make_table(
    title: str, columns: Sequence[str], rows: Iterable[Sequence[str]], right: Sequence[int] = ()
) -> console.Group:
    """A table of strings as they are."""
    made = table.Table(box=box.SIMPLE_HEAD, show_edge=False)
    for i, column in enumerate(columns):
        # A number or a time must not be broken across lines.
        whole = i in right or column.startswith("opened")
        made.add_column(column, justify="right" if i in right else "left", overflow="fold", no_wrap=whole)
    for row in rows:
        made.add_row(*map(markup.escape, row))
    return console.Group(text.Text(f"\n{title}\n", "bold"), made)


def strips(
    record: Presence,
    vanished: Iterable[Key],
    out: console.Console,
    most: int,
    seen: Mapping[Key, tuple[typing.Any, typing.Any]] | None = None,
) -> console.Group:
    """When each key was there, as a strip of blocks: the higher, the more often.

    Parameters
    ----------
    record
        When each key was there.
    vanished
        The keys that have vanished.
    out
        Where it is shown.
    most
        How many keys are shown.
    seen
        When each key was first and last seen; by default its rounds are shown.

    """
    shares, keys = record.shares(), record.keys[:most]
    spans = {key: tuple(f"{round_:,}" for round_ in record.seen(key)[:2]) for key in keys}
    spans |= {key: (str(seen[key][0]), str(seen[key][1])) for key in keys if seen is not None and key in seen}
    taken = (
        max([15, *(len(cut(key)) for key in keys)])
        + sum(max(5, *(len(span[i]) for span in spans.values())) for i in (0, 1))
        + 34
        if keys
        else 0
    )
    width = max(10, min(60, out.width - taken))
    # Presence is binned once more, to the columns of a terminal.
    bins = np.array_split(np.arange(shares.shape[1]), min(width, max(shares.shape[1], 1)))
    blocks = _BLOCKS if out.encoding.lower().startswith("utf") else _ASCII
    gone = set(vanished)
    rows = []
    for key, share in zip(keys, shares):
        first, _, n = record.seen(key)
        strip = "".join(_block(share[inside].mean(), blocks) for inside in bins)
        state = "vanished" if key in gone else ""
        rows.append((cut(key), strip, *spans[key], f"{n / (record.rounds - first):.0%}", state))
    rest = len(record.keys) - len(rows) + record.n_others
    if rest:
        rows.append((f"… and {rest:,} more", "", "", "", "", ""))
    return make_table("Keys", ("key", "present", "first", "last", "share", ""), rows, right=(2, 3, 4))


def _block(share: float, blocks: str) -> str:
    return blocks[max(0, int(np.ceil(share * len(blocks))) - 1)] if share > 0 else " "


def progress_bar(out: console.Console, unit: str = "samples") -> progress.Progress:
    """A progress bar that leaves nothing behind, and does not appear at all where the output is not a terminal."""
    return progress.Progress(
        progress.SpinnerColumn(),
        progress.TextColumn("{task.description}", markup=False),
        progress.BarColumn(bar_width=30),
        progress.TaskProgressColumn(),
        progress.TextColumn("{task.fields[detail]}", markup=False),
        progress.TimeRemainingColumn(),
        console=out,
        refresh_per_second=4,
        transient=True,
        disable=not out.is_terminal,
    )


def check_figure(path: pathlib.Path) -> None:
    """Say what is missing or wrong before any work is done, rather than after it."""
    if importlib.util.find_spec("matplotlib") is None:
        raise UsageError('a figure needs matplotlib, which is not installed: pip install "river-pufe[demo]"')
    from matplotlib.backend_bases import FigureCanvasBase

    if kind(path) not in FigureCanvasBase.get_supported_filetypes():
        raise UsageError(f"{path} is not a name for a figure: end it in .png, .svg or .pdf")


def kind(path: pathlib.Path) -> str:
    """Format of a figure, from the name of its file."""
    return path.suffix.lstrip(".").lower() or "png"


@contextlib.contextmanager
def replacing(path: pathlib.Path) -> Iterator[typing.BinaryIO]:
    """A file that is there whole or not at all, whatever happens while it is written."""
    try:
        with saving.replacing(path) as file:
            yield file
    except OSError as error:
        raise RunError(f"{path} cannot be written: {error.strerror or error}") from None
