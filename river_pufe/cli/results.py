"""What is left of a run: what is told at its end, and what is saved?"""

from __future__ import annotations

import dataclasses
import pathlib

from . import keyed, saved, show
from .columns import meant
from .diary import Diary
from .figures import draw
from .messages import Messages
from .report import write_report
from .samples import Samples
from .session import Session
from .wanted import Wanted


class Results:
    """The results of a run that has ended.

    Parameters
    ----------
    wanted
        What the user wants.
    messages
        Where the results are shown.
    session
        The model at work.
    samples
        What was read.
    diary
        What was noted.
    n_bad
        How many bad lines were skipped.

    """

    def __init__(
        self, wanted: Wanted, messages: Messages, session: Session, samples: Samples, diary: Diary, n_bad: int
    ) -> None:
        self._wanted, self._messages, self._session = wanted, messages, session
        self._samples, self._diary, self._n_bad = samples, diary, n_bad

    def tell(self, seconds: float) -> None:
        """Show metrics, spaces, and what is worth telling about the samples."""
        session, out = self._session, self._messages.out
        judge = session.judge
        if judge.scores.n:
            title = f"Progressive validation of {show.count(judge.scores.n, 'sample')}"
            out.print(show.scores_table(title, session.tables))
        if session.fleet is None:
            out.print(show.spaces_table(session.model.spaces, times=self._diary.moments if self._diary.times else None))
        else:
            out.print(keyed.models_table(session.fleet))
        if self._diary.expectations is not None:
            out.print(self._diary.expectations.table())
        parts = [
            f"{show.count(session.rounds, 'sample')} in {seconds:.1f} s, "
            f"{session.rounds / max(seconds, 1e-9):,.0f} per second",
            *self._remarks(),
        ]
        self._messages.say("\n" + "; ".join(parts))
        if judge.positive is not None and judge.classes and judge.positive not in judge.classes:
            names = [str(name) for name in judge.classes]
            missing = f"{session.target} has no class {self._wanted.positive!r} (see --positive)"
            self._messages.say(f"{missing}{meant(self._wanted.positive or '', names)}", "yellow")
        for suspect in self._diary.suspects.found:
            self._messages.say(show.doubt(suspect), "yellow")

    def _remarks(self) -> list[str]:
        """What is worth telling about the samples, in a few words each."""
        session, samples = self._session, self._samples
        unlabelled = session.rounds - session.n_learned
        parts = [f"{unlabelled:,} without a target"] if unlabelled else []
        parts += [show.count(self._diary.n_alarms, "alarm")] if session.judge.alarming else []
        parts += [f"{show.count(self._n_bad, 'bad line')} skipped"] if self._n_bad else []
        parts += [show.count(samples.n_readings, "reading")] if samples.n_readings else []
        return parts + [show.count(n, kind) for kind, n in samples.skipped.items() if n]

    def save(self) -> tuple[list[tuple[str, str]], int]:
        """Save model, figure and report, as far as they are wanted.

        Returns
        -------
        What to say of it, each with its style, and the exit code.

        """
        wanted, code, done = self._wanted, 0, []
        for path, write in (
            (wanted.save, self._save_model),
            (wanted.figure, self._save_figure),
            (wanted.report, self._save_report),
        ):
            if path is None:
                continue
            try:
                write(path)
                done.append((f"Saved {path}", ""))
            except show.RunError as failure:
                code = 1
                done.append((str(failure), "red"))
        return done, code

    def _save_model(self, path: pathlib.Path) -> None:
        save_model(path, self._wanted, self._session, self._diary)

    def _save_figure(self, path: pathlib.Path) -> None:
        draw(path, self._session.notes.picture(self._session.model, self._diary.times))

    def _save_report(self, path: pathlib.Path) -> None:
        remarks = [show.count(self._session.rounds, "sample"), *self._remarks()]
        diary = self._diary
        write_report(path, self._session, self._wanted.files, diary.times, diary.moments, remarks, diary.suspects.found)


def save_model(path: pathlib.Path, wanted: Wanted, session: Session, diary: Diary) -> None:
    """Save the model with what it was trained for."""
    task = "classification" if session.classifies else "regression"
    long = dataclasses.asdict(wanted.long) if wanted.long is not None else None
    about = saved.About(wanted.target or "", task, tuple(wanted.ignore), wanted.time, long, wanted.key)
    if session.fleet is not None:
        keyed.save(path, session.fleet, session.transformers, about, session.rounds)
        return
    rounds = {space.opened_at for space in session.model.spaces}
    opened = {round_: when for round_, when in diary.moments.items() if round_ in rounds}
    saved.save(path, session.pipeline, dataclasses.replace(about, opened=opened), session.model.rounds)
