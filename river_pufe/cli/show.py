"""How do results look in a terminal and in a figure?"""

from __future__ import annotations

import contextlib
import importlib.util
import pathlib
import sys
import typing
from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np
from rich import box, console, markup, progress, table, text

from .. import plot, saving
from ..plot.record import Presence, Series
from ..recovery.evolution import FeatureSpace
from ..values import Array, Key

_BLOCKS = "▁▂▃▄▅▆▇█"
_ASCII = ".:-=+*%#"


class RunError(Exception):
    """What ends a command with exit code 1; the message says why."""


class UsageError(Exception):
    """What ends a command with exit code 2; the message says why."""


def open_console(stderr: bool = False) -> console.Console:
    """A console that survives any character, on any terminal."""
    stream = sys.stderr if stderr else sys.stdout
    with contextlib.suppress(AttributeError, ValueError):
        stream.reconfigure(errors="replace")  # type: ignore[union-attr]
    return console.Console(stderr=stderr, highlight=False)


def say(out: console.Console, message: str, style: str = "") -> None:
    """A line of text as it is; pipes get it in one piece."""
    out.print(text.Text(message, style), soft_wrap=True)


def count(n: int, what: str) -> str:
    """How many of something there are."""
    return f"{n:,} {what}" + "s" * (n != 1)


def shorten(keys: Sequence[Key], most: int = 4) -> str:
    """A few keys, and how many there are."""
    shown = ", ".join(map(_cut, keys[:most]))
    return f"{shown}, … ({len(keys)})" if len(keys) > most else shown


def _cut(key: Key) -> str:
    name = str(key)
    return name if len(name) <= 32 else name[:31] + "…"


def spaces_table(spaces: Iterable[FeatureSpace], title: str = "Feature spaces") -> console.Group:
    """The feature spaces, oldest first."""
    rows = []
    for space in spaces:
        gone = "all" if set(space.vanished) == set(space.keys) else shorten(space.vanished) or "-"
        rows.append((str(space.number), space.state, f"{space.opened_at:,}", shorten(space.keys), gone))
    return make_table(title, ("space", "state", "opened in round", "keys", "vanished"), rows, right=(0, 2))


def make_table(
    title: str, columns: Sequence[str], rows: Iterable[Sequence[str]], right: Sequence[int] = ()
) -> console.Group:
    """A table of texts as they are."""
    made = table.Table(box=box.SIMPLE_HEAD, show_edge=False)
    for i, column in enumerate(columns):
        made.add_column(column, justify="right" if i in right else "left", overflow="fold")
    for row in rows:
        made.add_row(*map(markup.escape, row))
    return console.Group(text.Text(f"\n{title}\n", "bold"), made)


def strips(record: Presence, vanished: Iterable[Key], out: console.Console, most: int) -> console.Group:
    """When each key was there, as a strip of blocks: the higher, the more often."""
    shares, keys = record.shares(), record.keys[:most]
    taken = max([15, *(len(_cut(key)) for key in keys)]) + 2 * max(5, len(f"{record.rounds:,}")) + 34
    width = max(10, min(60, out.width - taken))
    # Presence is binned once more, to the columns of a terminal.
    bins = np.array_split(np.arange(shares.shape[1]), min(width, max(shares.shape[1], 1)))
    blocks = _BLOCKS if out.encoding.lower().startswith("utf") else _ASCII
    gone = set(vanished)
    rows = []
    for key, share in zip(keys, shares):
        first, last, n = record.seen(key)
        strip = "".join(_block(share[inside].mean(), blocks) for inside in bins)
        state = "vanished" if key in gone else ""
        rows.append((_cut(key), strip, f"{first:,}", f"{last:,}", f"{n / (record.rounds - first):.0%}", state))
    rest = len(record.keys) - len(rows) + record.n_others
    if rest:
        rows.append((f"… and {rest:,} more", "", "", "", "", ""))
    return make_table("Keys", ("key", "present", "first", "last", "share", ""), rows, right=(2, 3, 4))


def _block(share: float, blocks: str) -> str:
    return blocks[max(0, int(np.ceil(share * len(blocks))) - 1)] if share > 0 else " "


def progress_bar(out: console.Console, unit: str = "samples") -> progress.Progress:
    """A progress bar that leaves nothing behind, and is not there at all where nobody watches."""
    return progress.Progress(
        progress.SpinnerColumn(),
        progress.TextColumn("{task.description}", markup=False),
        progress.BarColumn(bar_width=30),
        progress.TaskProgressColumn(),
        progress.TextColumn("{task.fields[detail]}", markup=False),
        progress.TimeRemainingColumn(),
        console=out,
        transient=True,
        disable=not out.is_terminal,
    )


def check_figure(path: pathlib.Path) -> None:
    """Say what is missing or wrong before any work is done, rather than after it."""
    if importlib.util.find_spec("matplotlib") is None:
        raise UsageError('a figure needs matplotlib, which is not installed: pip install "river-pufe[demo]"')
    from matplotlib.backend_bases import FigureCanvasBase

    if _kind(path) not in FigureCanvasBase.get_supported_filetypes():
        raise UsageError(f"{path} is no kind of figure: use .png, .svg or .pdf")


def _kind(path: pathlib.Path) -> str:
    return path.suffix.lstrip(".").lower() or "png"


@contextlib.contextmanager
def replacing(path: pathlib.Path) -> Iterator[typing.BinaryIO]:
    """A file that is there whole or not at all, whatever happens while it is written."""
    try:
        with saving.replacing(path) as file:
            yield file
    except OSError as error:
        raise RunError(f"{path} cannot be written: {error.strerror or error}") from None


def draw(
    path: pathlib.Path,
    record: Presence,
    model: typing.Any,
    scores: Mapping[str, Series] | None = None,
    score: str = "",
    weights: Series | None = None,
    changes: Sequence[int] = (),
    times: Series | None = None,
) -> None:
    """A figure with the raster of the keys, the scores of one or more models, and the weights of the experts."""
    from matplotlib.figure import Figure

    panels = 1 + (scores is not None) + (weights is not None)
    height = min(max(3.0, 0.19 * len(record.keys)), 8.0)
    figure = Figure(figsize=(9.0, height + 2.6 * (panels - 1) + 0.5), layout="constrained")
    ratios = [height, *[2.6] * (panels - 1)]
    axes = list(figure.subplots(panels, sharex=True, squeeze=False, height_ratios=ratios)[:, 0])
    plot.presence(record, model, axes[0])
    if scores is not None:
        plot.metric(scores, axes[1], changes=changes).set_ylabel(score)
        if not changes:
            plot.events(model, axes[1])
    if weights is not None:
        plot.weights(weights, ax=axes[-1])
        plot.events(model, axes[-1])
    for above in axes[:-1]:
        above.set_xlabel("")
    if times:
        _label_times(axes[-1], times)
    with replacing(path) as file:
        figure.savefig(file, format=_kind(path), dpi=120)


def _label_times(ax: typing.Any, times: Series) -> None:
    rounds: Array = np.array([round_ for round_, _ in times])
    names = [str(name) for _, name in times]
    ax.xaxis.set_major_formatter(lambda t, _: names[int(np.argmin(np.abs(rounds - t)))])
    for label in ax.get_xticklabels():
        label.set(rotation=20, ha="right", rotation_mode="anchor")
    ax.set_xlabel("time")
