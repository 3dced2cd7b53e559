"""What does a model make of files, line by line?"""

from __future__ import annotations

import pathlib
import time
from collections.abc import Iterator

from .. import files
from . import keyed, show
from .beginning import Beginning
from .columns import check_columns
from .diary import Diary
from .interrupts import Interrupts
from .messages import Messages
from .results import Results, save_model
from .samples import Row, Samples
from .session import Session
from .wanted import Wanted

#: Rows between two looks at the clock, and seconds between two looks at the progress.
_ROWS, _SECONDS = 16, 0.2


class Run:
    """One call of the command: it reads, learns, reports, and saves what there is, however it ends.

    Parameters
    ----------
    wanted
        What the user wants.

    """

    def __init__(self, wanted: Wanted) -> None:
        wanted.check()
        self._wanted = wanted
        self._messages = Messages(wanted.to_stdout)
        self._interrupts = Interrupts()
        self._beginning = Beginning(wanted, self._messages)
        self._diary = Diary(wanted, self._messages)
        self._samples: Samples | None = None
        self._last: Row | None = None
        self._n_bad = 0

    def __call__(self) -> int:
        """Do it; returns the exit code."""
        wanted, messages, code, started = self._wanted, self._messages, 0, time.perf_counter()
        with self._interrupts:
            try:
                self._diary.moments |= self._beginning.load()
                # Opening waits for the first line of a pipe, so it can be interrupted as well.
                with files.Reader(
                    wanted.files, wanted.format, wanted.na, wanted.encoding, wanted.decimal_comma
                ) as reader:
                    self._read(reader)
            except KeyboardInterrupt:
                code = 128 + self._interrupts.received
                place = self._last.place if self._last is not None else "nothing was read"
                messages.say(f"Interrupted after {place}.", "yellow")
            except show.RunError as failure:
                code = 1
                messages.say(str(failure), "red")
            self._interrupts.ignore()
            code = self._finish(time.perf_counter() - started) or code or (show.SKIPPED if self._n_bad else 0)
            session = self._beginning.session
            if session is not None and session.fleet is not None:
                keyed.close(session.fleet, wanted.save)
            return code

    def _read(self, reader: files.Reader) -> None:
        wanted = self._wanted
        samples = self._samples = Samples(reader, wanted.target, wanted.ignore, wanted.time, wanted.long, wanted.key)
        # New data for a model that is there may do without a target, and without what is ignored.
        optional = {wanted.target, *wanted.ignore} if wanted.load is not None and wanted.long is None else set()
        check_columns(reader, [name for name in samples.columns if name not in optional])
        if reader.format == "libsvm" and wanted.absent is None and wanted.load is None:
            wanted.absent = "zero"
            self._messages.say("LIBSVM leaves out zeros, so what is absent is zero (see --absent).")
        with show.progress_bar(self._messages.out if self._messages.out.is_terminal else self._messages.err) as bar:
            task = bar.add_task(pathlib.PurePath(reader.name).name, total=reader.size, detail="")
            rows = self._beginning.look_ahead(iter(samples), is_pipe=reader.size is None)
            with self._diary:
                for _ in self._steps(rows):
                    bar.update(task, completed=reader.position, detail=self._progress())
        self._beginning.end()

    def _steps(self, rows: Iterator[Row]) -> Iterator[None]:
        """Take row after row, and come up for air now and then."""
        interrupts, shown = self._interrupts, 0.0
        for n, row in enumerate(rows):
            interrupts.hold()
            try:
                self._take(row)
            finally:
                interrupts.release()
            if not n % _ROWS and (now := time.monotonic()) > shown + _SECONDS:
                shown = now
                yield

    def _progress(self) -> str:
        session = self._beginning.session
        if session is None:
            return ""
        label, value = next(iter(session.judge.scores.curves.items()))
        return f"{session.rounds:,} samples" + (f"  {label}: {value():.4g}" if session.judge.scores.n else "")

    def _take(self, row: Row) -> None:
        if row.line:
            self._last = row
        if row.note:
            self._messages.tell(row.note.partition(":")[0], f"{row.place if row.line else ''} {row.note}".strip())
            return
        if row.warning:
            self._messages.tell("times that run backwards", f"{row.place}: {row.warning}", "yellow")
        self._beginning.consider(row)
        session = self._beginning.session
        if row.error:
            self._reject(row, row.error)
        elif session is None:
            self._diary.note_unanswered(row)
        else:
            self._step(row, session)

    def _step(self, row: Row, session: Session) -> None:
        try:
            x = session.kinds.strings_as_such(row.x) if self._wanted.one_hot else row.x
            answer = session.step(x, row.y, row.at, row.key)
        except ValueError as error:
            self._reject(row, str(error))
            return
        self._diary.note(row, session, answer)
        path, every = self._wanted.save, self._wanted.save_every
        if path is not None and every is not None and session.rounds % every == 0:
            save_model(path, self._wanted, session, self._diary)

    def _reject(self, row: Row, why: str) -> None:
        if not row.line:
            raise show.RunError(why)
        message = f"{row.place}: {why}"
        if self._wanted.on_error == "stop":
            raise show.RunError(f"{message}\nStopped there (see --on-error).")
        self._n_bad += 1
        self._messages.tell("bad line", f"{message} (skipped)", "red")

    def _finish(self, seconds: float) -> int:
        session = self._beginning.session
        if session is None or not session.rounds or self._samples is None:
            self._messages.say("No sample was used, so nothing is saved.")
            return 1 if self._n_bad else 0
        results = Results(self._wanted, self._messages, session, self._samples, self._diary, self._n_bad)
        # Saved first: the output may be closed already.
        done, code = results.save()
        results.tell(seconds)
        for message, style in done:
            self._messages.say(message, style)
        return code or int(self._messages.out.lost)
