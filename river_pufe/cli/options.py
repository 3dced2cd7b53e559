"""Which options do several commands share?"""

from __future__ import annotations

import pathlib
from typing import Annotated, Literal

import typer

from ..files import STDIN, Gathering, times
from . import show
from .samples import Long

Format = Literal["jsonl", "csv", "libsvm", "parquet"]
OnError = Literal["stop", "skip"]
#: What the help shows as the value of an option that takes none; otherwise it would show a type.
FLAG = ""


def _existing(names: list[str]) -> list[str]:
    for name in names:
        if name != STDIN and (not pathlib.Path(name).exists() or pathlib.Path(name).is_dir()):
            raise typer.BadParameter(f"there is no file {name!r}")
    return names


Files = Annotated[
    list[str],
    typer.Argument(
        metavar="FILE...",
        callback=_existing,
        help="csv, JSON lines, LIBSVM or Parquet, also compressed with gzip, bzip2 or xz; - for standard input. "
        "Several are read in this order. An empty cell or a null is an absent feature.",
    ),
]
Ignore = Annotated[
    list[str],
    typer.Option("--ignore", metavar="NAME", help="A column that is not a feature. May be given several times."),
]
Time = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="The column with the time of the sample; not a feature, but shown with events."),
]
Na = Annotated[
    list[str],
    typer.Option(
        metavar="VALUE", help="A value that stands for an absent one, such as NA or -200. May be given several times."
    ),
]
FormatOption = Annotated[Format | None, typer.Option("--format", help="The format; by default it is guessed.")]
Encoding = Annotated[
    str | None, typer.Option(metavar="NAME", help="Encoding of text, such as latin-1; by default UTF-8.")
]
DecimalComma = Annotated[
    bool,
    typer.Option(
        "--decimal-comma", metavar=FLAG, help="Read 1,5 as a number, as is done anyway where ; separates the cells."
    ),
]
OnErrorOption = Annotated[
    OnError, typer.Option("--on-error", help="Whether to stop at a bad line or to skip it; either way it is said why.")
]
LongOption = Annotated[
    str | None,
    typer.Option(
        "--long",
        metavar="TIME,SENSOR,VALUE",
        help="Each line is a reading, and these are its columns; several in the middle name the sensor together. "
        "--target and --ignore are sensors then. Needs --every.",
    ),
]
Every = Annotated[
    str | None,
    typer.Option(
        metavar="SPAN", help="The readings of each such interval, 30s, 1min or 2h, make a sample; with --long."
    ),
]
Hold = Annotated[
    str | None,
    typer.Option(metavar="SPAN", help="How long a reading holds, where sensors report only when something changes."),
]
Lateness = Annotated[
    str | None, typer.Option(metavar="SPAN", help="How far behind the others a reading may be in the file.")
]
Aggregate = Annotated[
    Literal["last", "mean"], typer.Option(help="Which value of an interval counts: its last one, or the mean.")
]
Figure = Annotated[pathlib.Path | None, typer.Option(metavar="PATH", help="Draw what happened, as .png, .svg or .pdf.")]


def as_long(
    columns: str | None,
    every: str | None,
    aggregate: str,
    hold: str | None,
    lateness: str | None,
    wait: str | None,
) -> Long | None:
    """How readings are gathered, None if each line is a sample; an error if the options do not fit."""
    spans = {"--every": every, "--hold": hold, "--lateness": lateness, "--wait": wait}
    for option, span in spans.items():
        if span is not None:
            if columns is None:
                raise show.UsageError(
                    f"{option} is for readings in the long format: say --long TIME,SENSOR,VALUE as well"
                )
            try:
                times.seconds(span)
            except ValueError as error:
                raise show.UsageError(f"{option}: {error}") from None
    if columns is None:
        return None
    names = tuple(name.strip() for name in columns.split(","))
    if len(names) < 3 or not all(names):
        raise show.UsageError(f"--long {columns}: name three columns, those of the time, the sensor and the value")
    if every is None:
        raise show.UsageError("--long needs --every: readings of which interval make a sample? For example 1min")
    try:
        Gathering(every, aggregate, hold, lateness)
    except ValueError as error:
        raise show.UsageError(str(error)) from None
    return Long(names, every, aggregate, hold, lateness, wait)
