"""Which commands are there, and what do they take?"""

from __future__ import annotations

import contextlib
import pathlib
import warnings
from collections.abc import Iterator
from typing import Annotated, Literal

import typer

from .. import __version__, compiled
from ..files import FileError
from . import options, show

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Models that survive when features come and go, on streams in files and pipes.",
    epilog="Exit codes: 0 all is well, 1 stopped by an error, 2 wrong usage, 3 bad lines were skipped, 129 "
    "the terminal was closed, 130 interrupted by Ctrl-C, 143 terminated.",
)

Task = Literal["classification", "regression"]
Absent = Literal["missing", "zero"]
Data = Literal["phishing", "segments"]


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
        show.say(show.open_console(), f"river-pufe {__version__} ({'compiled' if compiled else 'plain Python'})")
        raise typer.Exit


@app.callback()
def river_pufe(
    version: Annotated[
        bool,
        typer.Option("--version", metavar=options.FLAG, callback=_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """Nothing to do before a command."""


@app.command()
def run(
    files: options.Files,
    target: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="The column to predict. A model that is loaded knows its own."),
    ] = None,
    task: Annotated[
        Task | None,
        typer.Option(
            help="What the target is. By default it is guessed from the first lines: strings, truth values and a few "
            "different whole numbers are classes, other numbers are not."
        ),
    ] = None,
    ignore: options.Ignore = [],  # noqa: B006
    time: options.Time = None,
    one_hot: Annotated[
        bool,
        typer.Option(
            "--one-hot",
            metavar=options.FLAG,
            help="Encode strings: a feature 'column=string' for each string of a column.",
        ),
    ] = False,
    key: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="The column that names the site, tenant or device: each of them has a model of its own.",
        ),
    ] = None,
    absent: Annotated[
        Absent | None,
        typer.Option(
            help="What an absent feature means: not reported (missing, the default), or 0, as out of range (zero)."
        ),
    ] = None,
    na: options.Na = [],  # noqa: B006
    decimal_comma: options.DecimalComma = False,
    encoding: options.Encoding = None,
    format: options.FormatOption = None,
    long: options.LongOption = None,
    every: options.Every = None,
    aggregate: options.Aggregate = "last",
    hold: options.Hold = None,
    lateness: options.Lateness = None,
    wait: Annotated[
        str | None,
        typer.Option(metavar="SPAN", help="How far behind the sensors the target may be in the file; with --long."),
    ] = None,
    positive: Annotated[
        str | None, typer.Option(metavar="CLASS", help="The class that matters; by default the rarer of two.")
    ] = None,
    threshold: Annotated[
        float | None,
        typer.Option(
            min=0, max=1, help="Raise an alarm, and predict the class that matters, from this probability on."
        ),
    ] = None,
    alarms: Annotated[
        float | None,
        typer.Option(
            min=0, metavar="PER_DAY", help="Set the threshold so that there are about this many alarms a day."
        ),
    ] = None,
    rival: Annotated[
        bool, typer.Option("--rival", metavar=options.FLAG, help="Show River's scaled linear model beside this one.")
    ] = False,
    metric: Annotated[
        list[str],
        typer.Option(metavar="NAME", help="A metric of River, such as LogLoss or MAE. May be given several times."),
    ] = [],  # noqa: B006
    window: Annotated[int, typer.Option(min=1, help="Samples that the metric in the figure looks back at.")] = 200,
    on_error: options.OnErrorOption = "stop",
    predictions: Annotated[
        pathlib.Path | None,
        typer.Option(
            metavar="PATH",
            help="Write a line for each sample, predicted before it is learned: JSON, or csv if the name ends in .csv; "
            "- for standard output. An existing file is not overwritten.",
        ),
    ] = None,
    events: Annotated[
        pathlib.Path | None,
        typer.Option(metavar="PATH", help="Write a line for whatever happens to the features, as JSON or csv."),
    ] = None,
    recovered: Annotated[
        pathlib.Path | None,
        typer.Option(
            metavar="PATH",
            help="Write a line for each sample and feature, vanished ones as well: what it should read given the "
            "others, and the standard deviation of that, as JSON or csv. At the end it is shown how well the others "
            "explain each feature.",
        ),
    ] = None,
    append: Annotated[
        bool,
        typer.Option(
            "--append",
            metavar=options.FLAG,
            help="Add to the files of --predictions, --events and --recovered if they exist.",
        ),
    ] = False,
    figure: options.Figure = None,
    report: Annotated[
        pathlib.Path | None, typer.Option(metavar="PATH", help="Write an HTML page with all results and pictures.")
    ] = None,
    save: Annotated[
        pathlib.Path | None,
        typer.Option(
            metavar="PATH",
            help="Save the model at the end: a pickle if the name ends in .pickle or .pkl, a database with --key.",
        ),
    ] = None,
    save_every: Annotated[
        int | None,
        typer.Option(
            min=1, metavar="N", help="Also save it every N samples, so that a crash loses no more than these."
        ),
    ] = None,
    load: Annotated[
        pathlib.Path | None,
        typer.Option(
            metavar="PATH",
            help="Go on with a saved model. A .pickle or a database can run any code: load only your own.",
        ),
    ] = None,
) -> None:
    """Predict and learn, line by line, and report metrics, feature spaces and what happened to the features.

    Each line is predicted before it is learned (progressive validation). Lines without a target are predicted, and
    only their features are learned. Ctrl-C stops, and saves what there is.

    Try: `river-pufe run sensors.csv --target state --time date --figure sensors.png`

    Long readings: `river-pufe run mqtt.csv --long time,sensor,value --every 1min --target pump.fault`

    Many sites: `river-pufe run plants.csv --target state --key site --save plants.db`
    """
    with _outcome():
        from .run import Run
        from .wanted import Wanted

        if target is None and load is None:
            raise show.UsageError("Missing option '--target': which column is to be predicted?")
        wanted = Wanted(
            files=files,
            target=target,
            task=task,
            ignore=ignore,
            time=time,
            long=options.as_long(long, every, aggregate, hold, lateness, wait),
            one_hot=one_hot,
            key=key,
            absent=absent,
            na=na,
            format=format,
            encoding=encoding,
            decimal_comma=decimal_comma,
            metric=metric,
            positive=positive,
            threshold=threshold,
            alarms=alarms,
            rival=rival,
            window=window,
            on_error=on_error,
            predictions=predictions,
            events=events,
            recovered=recovered,
            append=append,
            figure=figure,
            report=report,
            save=save,
            save_every=save_every,
            load=load,
        )
        raise typer.Exit(Run(wanted)())


@app.command()
def spaces(
    files: options.Files,
    ignore: options.Ignore = [],  # noqa: B006
    time: options.Time = None,
    na: options.Na = [],  # noqa: B006
    decimal_comma: options.DecimalComma = False,
    encoding: options.Encoding = None,
    format: options.FormatOption = None,
    long: options.LongOption = None,
    every: options.Every = None,
    hold: options.Hold = None,
    lateness: options.Lateness = None,
    on_error: options.OnErrorOption = "stop",
    figure: options.Figure = None,
    keys: Annotated[int, typer.Option(min=1, help="How many features are listed.")] = 40,
) -> None:
    """Show when each feature was there, and which feature spaces they form. No target is needed.

    Try: `river-pufe spaces sensors.csv --time date --figure sensors.png`
    """
    with _outcome():
        from ..files import Reader
        from .samples import Samples
        from .spaces import show_spaces

        readings = options.as_long(long, every, "last", hold, lateness, None)

        def opened() -> tuple[Reader, Samples]:
            reader = Reader(files, format, na, encoding, decimal_comma)
            return reader, Samples(reader, None, ignore, time, readings)

        raise typer.Exit(show_spaces(opened, on_error, figure, keys))


@app.command()
def demo(
    figure: Annotated[pathlib.Path, typer.Option(metavar="PATH", help="Where to save the figure.")] = pathlib.Path(
        "pufe-demo.png"
    ),
    data: Annotated[Data, typer.Option(help="Which of River's data sets.")] = "phishing",
    spaces: Annotated[int, typer.Option(min=2, max=8, help="Number of feature spaces, one after another.")] = 4,
    seed: Annotated[int, typer.Option(help="Seed of the random maps and of the order in which keys vanish.")] = 42,
) -> None:
    """See it at work on real data: two models side by side while all features are replaced. Takes seconds."""
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
        typer.Option(
            "--csv", metavar="FILE", help="A file with a --target, in any format. May be given several times."
        ),
    ] = [],  # noqa: B006
    target: Annotated[str | None, typer.Option(metavar="NAME", help="The column to predict in each --csv.")] = None,
    ignore: options.Ignore = [],  # noqa: B006
    time: options.Time = None,
    fesl: Annotated[
        list[pathlib.Path],
        typer.Option("--fesl", metavar="FILE", help="A file of FESL, with two spaces and ten orders. May be repeated."),
    ] = [],  # noqa: B006
    overlap: Annotated[int, typer.Option(min=1, help="Rounds in which both spaces are seen.")] = 20,
    runs: Annotated[int, typer.Option(min=1, help="Number of runs, each with its own order and maps.")] = 10,
    seed: Annotated[int, typer.Option(help="Seed of the runs.")] = 0,
    grid: Annotated[
        bool,
        typer.Option(
            "--grid",
            metavar=options.FLAG,
            help="Give each method its best step size of 0.1, 1, 10, 100, as the paper does.",
        ),
    ] = False,
    jobs: Annotated[int, typer.Option(min=1, help="Number of processes.")] = 1,
    out: Annotated[
        pathlib.Path | None,
        typer.Option(metavar="DIRECTORY", help="Save table.md, table.csv, table.tex and trend.png there."),
    ] = None,
) -> None:
    """Run the experiment of the paper: all methods on the same streams, with intact and unpredictable overlaps.

    Try: `river-pufe compare --data Phishing --runs 3 --out results`
    """
    with _outcome():
        from .comparison import comparison

        ignored = [*ignore, *([time] if time is not None else [])]
        raise typer.Exit(comparison(data, csv, target, ignored, fesl, overlap, runs, seed, grid, jobs, out))
