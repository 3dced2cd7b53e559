"""What does a model make of files, line by line?"""

from __future__ import annotations

import collections
import contextlib
import dataclasses
import itertools
import json
import pathlib
import time
import typing
from collections.abc import Iterator, Sequence

from .. import files
from ..files.cells import Cells
from ..plot.record import Series
from ..pufe import PUFEClassifier, PUFERegressor
from . import keyed, outputs, saved, show
from .columns import check_columns, meant
from .figures import draw
from .guessing import ROWS, Guessing
from .interrupts import Interrupts
from .report import write_report
from .samples import Long, Row, Samples
from .session import Session, Settings

#: How many messages of a kind are shown.
_MOST = {"event": 100, "bad line": 100, "alarm": 20}
_FEW = 3


@dataclasses.dataclass(kw_only=True)
class Options:
    """What the user wants; see the help of the command."""

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
        return Settings(self.metric, positive, self.window, self.threshold, self.alarms, self.rival)


class Run:
    """One call of the command: it reads, learns, reports, and saves what there is, however it ends."""

    def __init__(self, options: Options) -> None:
        self.options = options
        self.to_stdout = files.STDIN in map(str, (options.predictions, options.events))
        self.out = show.open_console(stderr=self.to_stdout)
        self.err = self.out if self.out.is_terminal else show.open_console(stderr=True)
        self.messages: collections.Counter[str] = collections.Counter()
        self.last_place = ""
        self.n_bad = 0
        self.times = Series(200)
        self.interrupts = Interrupts()
        self.session: Session | None = None
        self.samples: Samples | None = None
        self.about: saved.About | None = None
        self.suspects = files.Suspects()
        # Times of the rounds in which spaces opened.
        self.opened: dict[int, typing.Any] = {}
        self._guessing: Guessing | None = None
        self._predictions: outputs.Output | None = None
        self._events: outputs.Output | None = None
        _check_outputs(options)

    def __call__(self) -> int:
        """Do it; returns the exit code."""
        o, code, started = self.options, 0, time.perf_counter()
        with self.interrupts:
            try:
                model = self._load() if o.load is not None else None
                # Opening waits for the first line of a pipe, so it can be interrupted as well.
                with files.Reader(o.files, o.format, o.na, o.encoding, o.decimal_comma) as reader:
                    self.samples = Samples(reader, o.target, o.ignore, o.time, o.long, o.key)
                    # New data for a model that is there may do without a target, and without what is ignored.
                    optional = {o.target, *o.ignore} if o.load is not None and o.long is None else set()
                    check_columns(reader, [name for name in self.samples.columns if name not in optional])
                    if reader.format == "libsvm" and o.absent is None and o.load is None:
                        o.absent = "zero"
                        show.say(self.out, "LIBSVM leaves out zeros, so what is absent is zero (see --absent).")
                    if model is not None:
                        self.session = Session(model, o.settings, o.target or "")
                    self._work(reader, self.samples)
            except KeyboardInterrupt:
                code = 128 + self.interrupts.received
                show.say(self.err, f"Interrupted after {self.last_place or 'nothing was read'}.", "yellow")
            except show.RunError as failure:
                code = 1
                show.say(self.err, str(failure), "red")
            self.interrupts.ignore()
            code = self._finish(time.perf_counter() - started) or code or (show.SKIPPED if self.n_bad else 0)
            if self.session is not None and self.session.fleet is not None:
                keyed.close(self.session.fleet, o.save)
            return code

    def _load(self) -> typing.Any:
        """The model to go on with; what is not said is as it was when it was saved."""
        o = self.options
        path = typing.cast(pathlib.Path, o.load)
        about: saved.About | None
        for name, value in (("--absent", o.absent), ("--one-hot", o.one_hot)):
            if value:
                raise show.UsageError(f"{name} is settled by the model that is loaded")
        if keyed.is_fleet(path):
            keyed.check(o)
            model, about = keyed.load(path, o.save)
        else:
            model, about = saved.load(path)
            if o.save is not None:
                saved.check_form(o.save, model)
        saved.check_task(path, model, o.task)
        if about is not None:
            long = dataclasses.asdict(o.long) if o.long is not None else None
            given = {"target": o.target, "ignore": o.ignore, "time": o.time, "long": long, "key": o.key}
            saved.agree(path, about, given)
            o.target, o.ignore, o.time, o.key = about.target, about.ignore, about.time, about.key
            if about.long is not None:
                o.long = Long(**{**about.long, "columns": tuple(about.long["columns"])})
        elif o.target is None:
            raise show.UsageError(f"{path} does not say what its target is: say --target")
        self.about = about
        return model

    # From rows to a model.

    def _begin(self, rows: Iterator[Row], reader: files.Reader) -> Iterator[Row]:
        """Look ahead in a file until it is clear what kind of model is needed; a pipe must be answered line by line."""
        o, guessing = self.options, Guessing()
        self._guessing = guessing
        if o.task is not None:
            self._start(o.task, guessing)
            return rows
        if reader.size is None and o.key is None:
            return rows
        if reader.size is None:
            raise show.UsageError("--key on a pipe needs --task: classification or regression?")
        for row in itertools.islice(rows, ROWS):
            guessing.add(row)
        self._guessing = None
        if not guessing.targets and any(row.x for row in guessing.rows):
            raise self._no_target(guessing)
        self._start(guessing.task or "classification", guessing)
        return itertools.chain(guessing.rows, rows)

    def _no_target(self, guessing: Guessing) -> show.UsageError:
        names = list(dict.fromkeys(key for row in guessing.rows for key in row.x))
        target = self.options.target or ""
        return show.UsageError(
            f"there is no value of {target!r} in the first {len(guessing.rows)} lines{meant(target, names)}. "
            "If the values come later, say --task"
        )

    def _start(self, task: str, guessing: Guessing) -> None:
        o = self.options
        kind = PUFERegressor if task == "regression" else PUFEClassifier
        model: typing.Any = kind(absent=o.absent or "missing")
        if o.key is not None:
            model = keyed.begin(model, o.key, o.save)
        pipeline = files.OneHotStrings() | model if o.one_hot else model
        self.session = Session(pipeline, o.settings, o.target or "", guessing.n_classes, guessing.shares)
        if o.task is None and guessing.targets:
            example = next(y for y in guessing.targets if isinstance(y, str | bool) is _is_label(guessing.targets))
            example = files.whole(example) if task == "classification" else example
            show.say(self.out, f"{o.target}, for example {example!r}: {task} (see --task)")

    def _reconsider(self, row: Row) -> None:
        """Whether the first lines of a pipe now say something else; if so, begin anew with them."""
        guessing = typing.cast(Guessing, self._guessing)
        task = guessing.task
        guessing.add(row)
        if guessing.task is not None and guessing.task != task:
            first = self.session is None
            self._start(guessing.task, guessing)
            session = typing.cast(Session, self.session)
            for earlier in guessing.rows[:-1]:
                with contextlib.suppress(ValueError):
                    session.step(earlier.x, earlier.y, earlier.at, earlier.key)
            if not first:
                show.say(self.out, f"The model starts anew with the first {len(guessing.rows) - 1} lines.")
        if guessing.done and guessing.targets:
            self._guessing = None

    # The loop.

    def _work(self, reader: files.Reader, samples: Samples) -> None:
        o, rows = self.options, iter(samples)
        with contextlib.ExitStack() as stack:
            bar = stack.enter_context(show.progress_bar(self.out if self.out.is_terminal else self.err))
            task = bar.add_task(pathlib.PurePath(reader.name).name, total=reader.size, detail="")
            if self.session is None:
                rows = self._begin(rows, reader)
            if self._guessing is not None and self.options.task is not None:
                self._guessing = None
            if o.predictions is not None:
                self._predictions = stack.enter_context(outputs.Output(o.predictions, self._with_key(_PREDICTED)))
            if o.events is not None:
                self._events = stack.enter_context(outputs.Output(o.events, self._with_key(_HAPPENED)))
            shown = 0.0
            for row in rows:
                with self.interrupts.held():
                    self._take(row)
                if (now := time.monotonic()) > shown + 0.1:
                    shown = now
                    bar.update(task, completed=reader.position, detail=self._progress())
        if self._guessing is not None and not self._guessing.targets and self._guessing.rows:
            raise self._no_target(self._guessing)

    def _progress(self) -> str:
        session = self.session
        if session is None:
            return ""
        label, value = next(iter(session.scores.curves.items()))
        return f"{session.rounds:,} samples" + (f"  {label}: {value():.4g}" if session.scores.n else "")

    def _take(self, row: Row) -> None:
        self.last_place = row.place if row.line else self.last_place
        if row.note:
            self._tell(row.note.partition(":")[0], f"{row.place if row.line else ''} {row.note}".strip(), most=_FEW)
            return
        if row.warning:
            typing.cast(Samples, self.samples).skipped["time that runs backwards"] += 1
            self._tell("times that run backwards", f"{row.place}: {row.warning}", "yellow", _FEW)
        if self._guessing is not None and not row.error:
            self._reconsider(row)
        session = self.session
        if session is None:
            if row.error:
                self._reject(row, row.error)
            elif self._predictions is not None:
                self._predictions.write({**self._where(row), "prediction": None})
            return
        try:
            if row.error:
                raise ValueError(row.error)
            x = session.checked(row.x) if self.options.one_hot else row.x
            prediction = session.step(x, row.y, row.at, row.key)
        except ValueError as error:
            self._reject(row, str(error))
            return
        self._note(row, session)
        self._answer(row, session, prediction)
        every = self.options.save_every
        if every is not None and session.rounds % every == 0:
            self._save(typing.cast(pathlib.Path, self.options.save), session)

    def _note(self, row: Row, session: Session) -> None:
        o = self.options
        self.suspects.update(row.x)
        round_ = session.record.rounds - 1
        if row.when is not None:
            self.times.add(round_, row.when)
        for event in session.news():
            when = f" ({row.when})" if row.when is not None else ""
            whose = f"{show.cut(row.key)} " if o.key is not None else ""
            self._tell("event", f"{row.place}{when}: {whose}{event.kind} {show.shorten(event.keys, 6)}")
            if event.kind in ("opened", "returned") and row.when is not None and session.fleet is None:
                self.opened[event.round] = row.when
            if self._events is not None:
                self._events.write(
                    {**self._where(row), "round": event.round, "kind": event.kind, "keys": list(event.keys)}
                )
        if len(self.opened) > _MANY_SPACES:
            known = {space.opened_at for space in session.model.spaces}
            self.opened = {at: when for at, when in self.opened.items() if at in known or at == round_}

    def _with_key(self, columns: Sequence[str]) -> list[str]:
        return [*columns, *(["key"] if self.options.key is not None else [])]

    def _where(self, row: Row) -> dict[str, typing.Any]:
        where: dict[str, typing.Any] = {"file": row.file} if row.file else {}
        where |= {"line": row.line} | ({"time": row.when} if row.when is not None else {})
        return where | ({"key": row.key} if self.options.key is not None else {})

    def _answer(self, row: Row, session: Session, prediction: typing.Any) -> None:
        knows = prediction is not None
        if self._predictions is None and not session.alarming:
            return
        answer = self._where(row) | ({"target": row.y} if row.y is not None else {})
        label = answer["prediction"] = session.decide(prediction) if knows else None
        positive = session.positive
        if session.classifies and knows:
            answer["probabilities"] = {_name(name): p for name, p in prediction.items()}
            answer["probability"] = prediction.get(positive if positive is not None else label)
        if session.alarming:
            answer["alarm"] = knows and positive is not None and label == positive
            if answer["alarm"]:
                session.n_alarms += 1
                when = f" ({row.when})" if row.when is not None else ""
                self._tell("alarm", f"{row.place}{when}: alarm, {_name(label)} {answer['probability']:.3f}", "bold")
        if self._predictions is not None:
            if self.options.predictions is not None and self.options.predictions.suffix.lower() != ".csv":
                answer.pop("probability", None)
            self._predictions.write(answer)

    def _reject(self, row: Row, why: str) -> None:
        if not row.line:
            raise show.RunError(why)
        message = f"{row.place}: {why}"
        if self.options.on_error == "stop":
            raise show.RunError(f"{message}\nStopped there (see --on-error).")
        self.n_bad += 1
        self._tell("bad line", f"{message} (skipped)", "red")

    def _tell(self, kind: str, message: str, style: str = "", most: int = 0) -> None:
        self.messages[kind] += 1
        most = most or _MOST[kind]
        if self.messages[kind] <= most:
            show.say(self.err if style in ("red", "yellow") else self.out, message, style)
        elif self.messages[kind] == most + 1:
            show.say(self.out, f"… no more of these are shown: {kind}")

    # The end.

    def _finish(self, seconds: float) -> int:
        o, session = self.options, self.session
        if session is None or not session.rounds:
            show.say(self.out, "No sample was used, so nothing is saved.")
            return 1 if self.n_bad else 0
        code = 0
        self._report(session, seconds)
        for path, save in ((o.save, self._save), (o.figure, self._draw), (o.report, self._write_report)):
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
        if session.scores.n:
            title = f"Progressive validation of {show.count(session.scores.n, 'sample')}"
            out.print(show.scores_table(title, session.tables))
        if session.fleet is None:
            out.print(show.spaces_table(session.model.spaces, times=self.opened if self.times else None))
        else:
            out.print(keyed.models_table(session.fleet))
        parts = [
            f"{show.count(session.rounds, 'sample')} in {seconds:.1f} s, "
            f"{session.rounds / max(seconds, 1e-9):,.0f} per second",
            *self.remarks(session),
        ]
        show.say(out, "\n" + "; ".join(parts))
        for suspect in self.suspects.found:
            show.say(self.err, show.doubt(suspect), "yellow")

    def remarks(self, session: Session) -> list[str]:
        """What is worth telling about the samples, in a few words each."""
        unlabelled = session.rounds - session.n_learned
        parts = [f"{unlabelled:,} without a target"] if unlabelled else []
        parts += [f"{show.count(session.n_alarms, 'alarm')}"] if session.alarming else []
        parts += [f"{show.count(self.n_bad, 'bad line')} skipped"] if self.n_bad else []
        samples = typing.cast(Samples, self.samples)
        parts += [f"{show.count(samples.n_readings, 'reading')}"] if samples.n_readings else []
        return parts + [show.count(n, kind) for kind, n in samples.skipped.items() if n]

    def _save(self, path: pathlib.Path, session: Session) -> None:
        o = self.options
        task = "classification" if session.classifies else "regression"
        long = dataclasses.asdict(o.long) if o.long is not None else None
        about = saved.About(o.target or "", task, tuple(o.ignore), o.time, long, o.key)
        if session.fleet is None:
            saved.save(path, session.pipeline, about, session.model.rounds)
        else:
            keyed.save(path, session.fleet, session.transformers, about, session.rounds)

    def _draw(self, path: pathlib.Path, session: Session) -> None:
        draw(path, session.picture(self.times))

    def _write_report(self, path: pathlib.Path, session: Session) -> None:
        remarks = [show.count(session.rounds, "sample"), *self.remarks(session)]
        write_report(path, session, self.options.files, self.times, self.opened, remarks, self.suspects.found)


_PREDICTED = ("file", "line", "time", "target", "prediction", "probability", "alarm")
_HAPPENED = ("file", "line", "time", "round", "kind", "keys")
_MANY_SPACES = 100


def _is_label(targets: Sequence[typing.Any]) -> bool:
    """Whether the majority are strings or truth values."""
    return 2 * sum(isinstance(y, str | bool) for y in targets) >= len(targets)


def _name(label: typing.Any) -> str:
    return label if isinstance(label, str) else json.dumps(label, default=str)


def _check_outputs(o: Options) -> None:
    for figure in (o.figure, o.report):
        if figure is not None:
            show.check_figure(figure if figure is o.figure else pathlib.Path("a.png"))
    if o.save_every is not None and o.save is None:
        raise show.UsageError("--save-every needs --save: where to?")
    if o.threshold is not None and o.alarms is not None:
        raise show.UsageError("--threshold and --alarms exclude each other: the budget of alarms sets the threshold")
    if o.alarms is not None and o.time is None and o.long is None and o.load is None:
        raise show.UsageError("--alarms is a number a day, so it needs --time")
    if o.key is not None:
        keyed.check(o)
    for path in (o.predictions, o.events, o.figure, o.report, o.save):
        if path is None or str(path) == files.STDIN:
            continue
        if path.is_dir() or not path.parent.is_dir():
            why = "it is a directory" if path.is_dir() else "there is no such directory"
            raise show.UsageError(f"{path} cannot be written: {why}")
        if any(name != files.STDIN and path.exists() and path.samefile(name) for name in o.files):
            raise show.UsageError(f"{path} is the file that is read")
    for option, path in (("--predictions", o.predictions), ("--events", o.events)):
        outputs.check(path, o.append, option)
