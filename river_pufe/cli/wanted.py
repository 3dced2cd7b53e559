"""What does the user want of a run, and does it fit together?"""

from __future__ import annotations

import dataclasses
import pathlib
import typing
from collections.abc import Sequence

from .. import files
from ..files.cells import Cells
from . import keyed, outputs, show
from .samples import Long
from .settings import Settings


@dataclasses.dataclass(kw_only=True)
class Wanted:
    """The options of the command; its help says what they mean."""

    files: Sequence[str]
    target: str | None = None
    task: str | None = None
    ignore: Sequence[str] = ()
    time: str | None = None
    long: Long | None = None
    one_hot: bool = False
    key: str | None = None
    absent: str | None = None
    na: Sequence[str] = ()
    format: str | None = None
    encoding: str | None = None
    decimal_comma: bool = False
    metric: Sequence[str] = ()
    positive: str | None = None
    threshold: float | None = None
    alarms: float | None = None
    rival: bool = False
    window: int = 200
    on_error: str = "stop"
    predictions: pathlib.Path | None = None
    events: pathlib.Path | None = None
    recovered: pathlib.Path | None = None
    append: bool = False
    figure: pathlib.Path | None = None
    report: pathlib.Path | None = None
    save: pathlib.Path | None = None
    save_every: int | None = None
    load: pathlib.Path | None = None

    @property
    def settings(self) -> Settings:
        """What the user wants to know of the model."""
        positive: typing.Any = self.positive
        if positive is not None:
            positive = files.whole(Cells().read(positive))
        recovered = self.recovered is not None
        return Settings(self.metric, positive, self.window, self.threshold, self.alarms, self.rival, recovered)

    @property
    def to_stdout(self) -> bool:
        """Whether something else than messages is written to standard output."""
        return files.STDIN in map(str, (self.predictions, self.events, self.recovered))

    def check(self) -> None:
        """Refuse what cannot be done, before any work is.

        Raises
        ------
        UsageError
            If options contradict each other, or a file cannot be written.

        """
        if self.figure is not None:
            show.check_figure(self.figure)
        if self.report is not None:
            show.check_figure(pathlib.Path("a.png"))
        if self.save_every is not None and self.save is None:
            raise show.UsageError("--save-every needs --save: where to?")
        if self.threshold is not None and self.alarms is not None:
            raise show.UsageError(
                "--threshold and --alarms exclude each other: the number of alarms sets the threshold"
            )
        if self.alarms is not None and self.time is None and self.long is None and self.load is None:
            raise show.UsageError("--alarms is a number a day, so it needs --time")
        if self.key is not None:
            keyed.check(self)
        self._check_paths()
        for option, path in (
            ("--predictions", self.predictions),
            ("--events", self.events),
            ("--recovered", self.recovered),
        ):
            outputs.check(path, self.append, option)

    def _check_paths(self) -> None:
        written: dict[pathlib.Path, str] = {}
        for option in ("predictions", "events", "recovered", "figure", "report", "save"):
            path: pathlib.Path | None = getattr(self, option)
            if path is None or str(path) == files.STDIN:
                continue
            if (other := written.setdefault(path.resolve(), option)) != option:
                raise show.UsageError(f"--{other} and --{option} are the same file, {path}: give one another name")
            if option in ("figure", "report", "save") and path.exists() and not (path.is_file() or path.is_dir()):
                raise show.UsageError(f"{path} cannot be written: it is not a regular file")
            if path.is_dir() or not path.parent.is_dir():
                why = "it is a directory" if path.is_dir() else "there is no such directory"
                raise show.UsageError(f"{path} cannot be written: {why}")
            if any(name != files.STDIN and path.exists() and path.samefile(name) for name in self.files):
                raise show.UsageError(f"{path} is the file that is read")
