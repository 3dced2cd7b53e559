"""Which commands are there, and what do they take?"""

from __future__ import annotations

import contextlib
import pathlib
import warnings
from collections.abc import Iterator
from typing import Annotated, Literal

import typer

from .. import __version__
from ..files import STDIN, FileError
from . import show

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Models that survive when features come and go, on streams in files and pipes.",
    epilog="Exit codes: 0 all is well, 1 stopped by an error, 2 called in a wrong way, 130 interrupted by Ctrl-C.",
)

Format = Literal["jsonl", "csv"]
Task = Literal["classification", "regression"]
Absent = Literal["missing", "zero"]
OnError = Literal["stop", "skip"]
Data = Literal["phishing", "segments"]


def _existing(file: str) -> str:
    if file != STDIN and (not pathlib.Path(file).exists() or pathlib.Path(file).is_dir()):
        raise typer.BadParameter(f"there is no file {file!r}")
    return file


_FILE = typer.Argument(
    metavar="FILE",
    callback=_existing,
    help="JSON lines or csv, also compressed with gzip, bzip2 or xz; - for standard input. "
    "An empty cell or a null is an absent key.",
)
_IGNORE = typer.Option("--ignore", metavar="NAME", help="A column that is no feature. May be given several times.")
_TIME = typer.Option(metavar="NAME", help="The column that says when; it is no feature, and shown with what happens.")
_NA = typer.Option(
    metavar="TEXT", help="A text that stands for an absent value, such as NA. May be given several times."
)
_FORMAT = typer.Option(help="The format of the file; by default it is guessed.")
_ON_ERROR = typer.Option(help="What to do at a bad line: stop there, or skip it. Both say which and why.")


@contextlib.contextmanager
def _outcome() -> Iterator[None]:
    """Turn what went wrong into one sentence and an exit code, and warnings into sentences."""
    try:
        with warnings.catch_warnings():
            warnings.showwarning = lambda message, *_, **__: _complain(str(message), "yellow")
            yield
    except show.UsageError as error:
        _complain(str(error))
        raise typer.Exit(2) from None
    except (show.RunError, FileError) as error:
        _complain(str(error))
        raise typer.Exit(1) from None


def _complain(message: str, style: str = "red") -> None:
    show.say(show.open_console(stderr=True), message, style)


def _version(wanted: bool) -> None:
    if wanted:
        show.say(show.open_console(), f"river-pufe {__version__}")
        raise typer.Exit


@app.callback()
def river_pufe(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Nothing to do before a command."""


@app.command()
def run(
    file: Annotated[str, _FILE],
    target: Annotated[str, typer.Option(metavar="NAME", help="The column to predict.")],
    task: Annotated[
        Task | None,
        typer.Option(
            help="What the target is. By default it is guessed: texts, truth values and a few different whole numbers "
            "are classes, other numbers are not."
        ),
    ] = None,
    ignore: Annotated[list[str], _IGNORE] = [],  # noqa: B006
    time: Annotated[str | None, _TIME] = None,
    one_hot: Annotated[
        bool, typer.Option("--one-hot", help="Encode texts: a key 'column=text' for each text of a column.")
    ] = False,
    absent: Annotated[
        Absent | None,
        typer.Option(
            help="What an absent key means: not reported (missing, the default), or 0, as out of range (zero)."
        ),
    ] = None,
    na: Annotated[list[str], _NA] = [],  # noqa: B006
    format: Annotated[Format | None, _FORMAT] = None,
    metric: Annotated[
        list[str],
        typer.Option(metavar="NAME", help="A metric of River, such as LogLoss or MAE. May be given several times."),
    ] = [],  # noqa: B006
    window: Annotated[int, typer.Option(min=1, help="Samples the metric in the figure looks back at.")] = 200,
    on_error: Annotated[OnError, _ON_ERROR] = "stop",
    predictions: Annotated[
        pathlib.Path | None,
        typer.Option(
            metavar="PATH", help="Write a JSON line for each sample, made before it is learned; - for a pipe."
        ),
    ] = None,
    figure: Annotated[
        pathlib.Path | None,
        typer.Option(metavar="PATH", help="Draw keys, metric and weights of the experts: .png, .svg or .pdf."),
    ] = None,
    save: Annotated[
        pathlib.Path | None, typer.Option(metavar="PATH", help="Pickle the model, as it is in the end.")
    ] = None,
    load: Annotated[
        pathlib.Path | None,
        typer.Option(metavar="PATH", help="Go on with a saved model. A pickle can run any code: load only your own."),
    ] = None,
) -> None:
    """Predict and learn, line by line, and report metrics, feature spaces and what happened to the keys.

    Each line is predicted before it is learned (progressive validation). Lines without a target are predicted, and
    only their features are learned. Ctrl-C stops, and saves what there is.

    Try: `river-pufe run sensors.csv --target state --time date --figure sensors.png`
    """
    with _outcome():
        from .run import Options, Run

        options = Options(
            file=file,
            target=target,
            task=task,
            ignore=ignore,
            time=time,
            one_hot=one_hot,
            absent=absent,
            na=na,
            format=format,
            metric=metric,
            window=window,
            on_error=on_error,
            predictions=predictions,
            figure=figure,
            save=save,
            load=load,
        )
        raise typer.Exit(Run(options)())


@app.command()
def spaces(
    file: Annotated[str, _FILE],
    ignore: Annotated[list[str], _IGNORE] = [],  # noqa: B006
    time: Annotated[str | None, _TIME] = None,
    na: Annotated[list[str], _NA] = [],  # noqa: B006
    format: Annotated[Format | None, _FORMAT] = None,
    on_error: Annotated[OnError, _ON_ERROR] = "stop",
    figure: Annotated[
        pathlib.Path | None, typer.Option(metavar="PATH", help="Draw when which key was there: .png, .svg or .pdf.")
    ] = None,
    keys: Annotated[int, typer.Option(min=1, help="How many keys are listed.")] = 40,
) -> None:
    """Show when which key was there, and which feature spaces that makes. No target is needed.

    Try: `river-pufe spaces sensors.csv --time date --figure sensors.png`
    """
    with _outcome():
        from .spaces import show_spaces

        raise typer.Exit(show_spaces(file, ignore, time, na, format, on_error, figure, keys))


@app.command()
def demo(
    figure: Annotated[pathlib.Path, typer.Option(metavar="PATH", help="Where to save the figure.")] = pathlib.Path(
        "pufe-demo.png"
    ),
    data: Annotated[Data, typer.Option(help="Which of River's data sets.")] = "phishing",
    spaces: Annotated[int, typer.Option(min=2, max=8, help="Number of feature spaces, one after another.")] = 4,
    seed: Annotated[int, typer.Option(help="Seed of the random maps and of the order in which keys vanish.")] = 42,
) -> None:
    """Watch the main job on real data: two models side by side while all features are replaced. Takes seconds."""
    with _outcome():
        from .demo import demo as show_it

        show_it(figure, data, spaces, seed)


@app.command()
def compare(
    data: Annotated[
        list[str],
        typer.Option(
            "--data", metavar="NAME", help="A data set of River, such as Phishing. May be given several times."
        ),
    ] = [],  # noqa: B006
    csv: Annotated[
        list[pathlib.Path],
        typer.Option("--csv", metavar="FILE", help="A csv or JSON lines with a --target. May be given several times."),
    ] = [],  # noqa: B006
    target: Annotated[str | None, typer.Option(metavar="NAME", help="The column to predict in each --csv.")] = None,
    fesl: Annotated[
        list[pathlib.Path],
        typer.Option("--fesl", metavar="FILE", help="A file of FESL, with two spaces and ten orders. May be repeated."),
    ] = [],  # noqa: B006
    overlap: Annotated[int, typer.Option(min=1, help="Rounds in which both spaces are seen.")] = 20,
    runs: Annotated[int, typer.Option(min=1, help="Number of runs, each with its own order and maps.")] = 10,
    seed: Annotated[int, typer.Option(help="Seed of the runs.")] = 0,
    grid: Annotated[
        bool, typer.Option("--grid", help="Give each method its best step size of 0.1, 1, 10, 100, as the paper does.")
    ] = False,
    jobs: Annotated[int, typer.Option(min=1, help="Number of processes.")] = 1,
    out: Annotated[
        pathlib.Path | None, typer.Option(metavar="DIRECTORY", help="Save table.md, table.csv and trend.png there.")
    ] = None,
) -> None:
    """Play the experiment of the paper: all methods on the same streams, with intact and unpredictable overlaps.

    Try: `river-pufe compare --data Phishing --runs 3 --out results`
    """
    with _outcome():
        from .comparison import comparison

        raise typer.Exit(comparison(data, csv, target, fesl, overlap, runs, seed, grid, jobs, out))
