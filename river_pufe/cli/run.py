"""What does a model make of a file, line by line?"""

from __future__ import annotations

import collections
import contextlib
import dataclasses
import itertools
import json
import os
import pathlib
import pickle
import sys
import time
import typing
from collections.abc import Iterator, Sequence

from river import base

from .. import files
from ..plot.record import Series
from ..pufe import PUFEClassifier, PUFERegressor
from . import show
from .columns import check_columns
from .interrupts import Interrupts
from .session import Session

#: Samples to look ahead for targets, from which the task is guessed.
_AHEAD = 1000
#: How many messages of a kind are shown.
_MOST = 100


@dataclasses.dataclass(kw_only=True)
class Options:
    """What the user wants; see the help of the command."""

    file: str
    target: str
    task: str | None = None
    ignore: Sequence[str] = ()
    time: str | None = None
    one_hot: bool = False
    absent: str | None = None
    na: Sequence[str] = ()
    format: str | None = None
    metric: Sequence[str] = ()
    window: int = 200
    on_error: str = "stop"
    predictions: pathlib.Path | None = None
    figure: pathlib.Path | None = None
    save: pathlib.Path | None = None
    load: pathlib.Path | None = None


@dataclasses.dataclass(slots=True)
class Row:
    """A line of the file, taken apart; or what is wrong with it."""

    line: int
    x: dict[typing.Any, typing.Any] = dataclasses.field(default_factory=dict)
    y: typing.Any = None
    when: typing.Any = None
    error: str = ""


class Run:
    """One call of the command: it reads, learns, reports, and saves what there is, however it ends."""

    def __init__(self, options: Options) -> None:
        self.options = options
        self.to_stdout = str(options.predictions) == files.STDIN
        self.out = show.open_console(stderr=self.to_stdout)
        self.err = self.out if self.out.is_terminal else show.open_console(stderr=True)
        self.messages = collections.Counter[str]()
        self.last_line = self.n_bad = 0
        self.times = Series(200)
        self.interrupts = Interrupts()
        self.session: Session | None = None
        _check_outputs(options)

    def __call__(self) -> int:
        """Do it; returns the exit code."""
        o, code, started = self.options, 0, time.perf_counter()
        with self.interrupts:
            try:
                # Opening waits for the first line of a pipe, so it can be interrupted as well.
                with files.Reader(o.file, o.format, o.na) as reader:
                    # New data for a model that is there may do without a target.
                    check_columns(reader, [*([] if o.load is not None else [o.target]), o.time, *o.ignore])
                    if o.load is not None:
                        self.session = Session(_load(o), o.metric, o.window)
                    self._work(reader)
            except KeyboardInterrupt:
                code = 128 + self.interrupts.received
                show.say(self.err, f"Interrupted after line {self.last_line}.", "yellow")
            except show.RunError as failure:
                code = 1
                show.say(self.err, str(failure), "red")
            self.interrupts.ignore()
            return self._finish(time.perf_counter() - started) or code

    # Lines to samples.

    def _rows(self, reader: files.Reader) -> Iterator[Row]:
        o = self.options
        try:
            for line in reader:
                record = line.record
                y, when = record.pop(o.target, None), record.pop(o.time, None) if o.time else None
                for name in o.ignore:
                    record.pop(name, None)
                yield Row(line.number, record, y, files.whole(when), line.error)
        except files.FileError as error:
            yield Row(0, error=str(error))

    def _begin(self, rows: Iterator[Row]) -> Iterator[Row]:
        """Look ahead until it is clear what kind of model is needed."""
        o, task = self.options, self.options.task
        ahead: list[Row] = []
        targets: list[typing.Any] = []
        while task is None and len(ahead) < _AHEAD and (row := next(rows, None)) is not None:
            ahead.append(row)
            if row.y is not None:
                targets.append(row.y)
                task = files.guess_task(targets)
        if task is None and not targets and any(not row.error for row in ahead):
            names = show.shorten(list(dict.fromkeys(key for row in ahead for key in row.x)), 8)
            raise show.UsageError(
                f"there is no value of {o.target!r} in the first {len(ahead)} lines, which have {names}: "
                "is the --target right? If the values come later, say --task"
            )
        kind = PUFERegressor if task == "regression" else PUFEClassifier
        model: typing.Any = kind(absent=o.absent or "missing")
        self.session = Session(files.OneHotStrings() | model if o.one_hot else model, o.metric, o.window)
        if o.task is None and targets:
            example = files.whole(targets[0]) if kind is PUFEClassifier else targets[0]
            show.say(self.out, f"{o.target}, for example {example!r}: {task or 'classification'} (see --task)")
        return itertools.chain(ahead, rows)

    # The loop.

    def _work(self, reader: files.Reader) -> None:
        rows = self._rows(reader)
        with contextlib.ExitStack() as stack:
            bar = stack.enter_context(show.progress_bar(self.out if self.out.is_terminal else self.err))
            task = bar.add_task(pathlib.PurePath(reader.name).name, total=reader.size, detail="")
            rows = rows if self.session is not None else self._begin(rows)
            assert self.session is not None
            write = self._writer(stack)
            shown = 0.0
            for row in rows:
                with self.interrupts.held():
                    self._take(row, self.session, write)
                if (now := time.monotonic()) > shown + 0.1:
                    shown = now
                    detail = f"{self.session.rounds:,} samples  {self.session.rolling}"
                    bar.update(task, completed=reader.position, detail=detail)

    def _take(self, row: Row, session: Session, write: typing.TextIO | None) -> None:
        self.last_line = row.line or self.last_line
        try:
            if row.error:
                raise ValueError(row.error)
            knows = session.knows
            prediction = session.step(row.x, row.y)
        except ValueError as error:
            self._reject(row, str(error))
            return
        if row.when is not None:
            self.times.add(session.record.rounds - 1, row.when)
        for event in session.news():
            when = f" ({row.when})" if row.when is not None else ""
            self._tell("event", f"line {row.line}{when}: {event.kind} {show.shorten(event.keys, 6)}")
        if write is not None:
            answer: dict[str, typing.Any] = {"line": row.line}
            answer |= {"time": row.when} if row.when is not None else {}
            answer |= {"target": row.y} if row.y is not None else {}
            answer["prediction"] = session.label(prediction) if knows else None
            if session.classifies and knows:
                answer["probabilities"] = {_name(label): p for label, p in prediction.items()}
            write.write(json.dumps(answer, ensure_ascii=False) + "\n")

    def _reject(self, row: Row, why: str) -> None:
        if not row.line:
            raise show.RunError(why)
        texts = [key for key, value in row.x.items() if isinstance(value, str)]
        if texts and not row.error and repr(texts[0]) in why:
            name = texts[0]
            why = (
                f"{name!r} is {row.x[name]!r}, which is not a number: say --one-hot, --ignore {name}, "
                f"or --time {name} if it says when"
            )
        message = f"line {row.line}: {why}"
        if self.options.on_error == "stop":
            raise show.RunError(f"{message}\nStopped there (see --on-error).")
        self.n_bad += 1
        self._tell("bad line", f"{message} (skipped)", "red")

    def _tell(self, kind: str, message: str, style: str = "") -> None:
        self.messages[kind] += 1
        if self.messages[kind] <= _MOST:
            show.say(self.err if style else self.out, message, style)
        elif self.messages[kind] == _MOST + 1:
            show.say(self.out, f"… no more {kind}s are shown")

    def _writer(self, stack: contextlib.ExitStack) -> typing.TextIO | None:
        path = self.options.predictions
        if path is None:
            return None
        stack.enter_context(_writing(path))
        if self.to_stdout:
            sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
            return sys.stdout
        return stack.enter_context(path.open("w", buffering=1, encoding="utf-8"))

    # The end.

    def _finish(self, seconds: float) -> int:
        o, session = self.options, self.session
        if session is None or not session.rounds:
            show.say(self.out, "No sample was used, so nothing is saved.")
            return 1 if self.n_bad else 0
        code = 0
        self._report(session, seconds)
        for path, save in ((o.save, self._save), (o.figure, self._draw)):
            if path is None:
                continue
            try:
                save(path, session)
                show.say(self.out, f"Saved {path}")
            except show.RunError as failure:
                code = 1
                show.say(self.err, str(failure), "red")
        return code

    def _report(self, session: Session, seconds: float) -> None:
        out = self.out
        values = [str(metric).partition(": ")[::2] for metric in session.metrics] if session.n_scored else []
        if values:
            title = f"Progressive validation of {show.count(session.n_scored, 'sample')}"
            out.print(show.make_table(title, ("metric", "value"), values, right=(1,)))
        out.print(show.spaces_table(session.model.spaces))
        parts = [
            f"{show.count(session.rounds, 'sample')} in {seconds:.1f} s, "
            f"{session.rounds / max(seconds, 1e-9):,.0f} per second"
        ]
        unlabelled = session.rounds - session.n_learned
        parts += [f"{unlabelled:,} without a target"] if unlabelled else []
        parts += [f"{show.count(self.n_bad, 'bad line')} skipped"] if self.n_bad else []
        show.say(out, "\n" + "; ".join(parts))

    def _save(self, path: pathlib.Path, session: Session) -> None:
        with show.replacing(path) as file:
            pickle.dump(session.pipeline, file)

    def _draw(self, path: pathlib.Path, session: Session) -> None:
        scores = {"": session.scores} if len(session.scores) else None
        first = session.metrics[0]
        score = f"{type(first).__name__}, latest {self.options.window}"
        weights = session.weights if session.n_scored else None
        show.draw(path, session.record, session.model, scores, score, weights, times=self.times)


def _name(label: typing.Any) -> str:
    return label if isinstance(label, str) else json.dumps(label)


def _check_outputs(o: Options) -> None:
    if o.figure is not None:
        show.check_figure(o.figure)
    for path in (o.predictions, o.figure, o.save):
        if path is None or str(path) == files.STDIN:
            continue
        if path.is_dir() or not path.parent.is_dir():
            why = "it is a directory" if path.is_dir() else "there is no such directory"
            raise show.UsageError(f"{path} cannot be written: {why}")
        if o.file != files.STDIN and path.exists() and path.samefile(o.file):
            raise show.UsageError(f"{path} is the file that is read")


def _load(o: Options) -> typing.Any:
    given = [name for name, value in (("--absent", o.absent), ("--one-hot", o.one_hot)) if value]
    if given:
        raise show.UsageError(f"{given[0]} is settled by the model that is loaded")
    try:
        with typing.cast(pathlib.Path, o.load).open("rb") as file:
            model = pickle.load(file)
    except OSError as error:
        raise show.RunError(f"{o.load} cannot be read: {error.strerror or error}") from None
    except Exception as error:
        # What is no pickle can fail in any way.
        raise show.RunError(f"{o.load} is not a model that can be loaded: {error}") from None
    kinds = {"classification": base.Classifier, "regression": base.Regressor}
    if o.task is not None and not isinstance(model, kinds[o.task]):
        raise show.UsageError(f"{o.load} is not a model for {o.task}")
    return model


@contextlib.contextmanager
def _writing(path: pathlib.Path) -> Iterator[None]:
    """Turn what can go wrong while predictions are written into one sentence."""
    try:
        yield
    except BrokenPipeError:
        # What is still in the buffer has nowhere to go either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise show.RunError("Nobody reads the predictions any more.") from None
    except OSError as error:
        raise show.RunError(f"{path} cannot be written: {error.strerror or error}") from None
