"""Which model does a run begin with: a saved one, or one that fits the first lines?"""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import typing
from collections.abc import Iterator

from .. import files
from ..pufe import PUFEClassifier, PUFERegressor
from . import keyed, saved, show
from .columns import meant
from .guessing import ROWS, Guessing
from .messages import Messages
from .samples import Long, Row
from .session import Session
from .wanted import Wanted


class Beginning:
    """The model at work, as soon as it is clear which it is.

    Of a file the first lines are read ahead. A pipe must be answered line by line, so there the model begins with the
    first target, and anew if the following ones say something else.

    Parameters
    ----------
    wanted
        What the user wants; what a saved model knows itself is added.
    messages
        Where to say what was decided.

    Attributes
    ----------
    session
        The model at work, None as long as it is not known which.

    """

    def __init__(self, wanted: Wanted, messages: Messages) -> None:
        self._wanted, self._messages = wanted, messages
        self.session: Session | None = None
        self._guessing: Guessing | None = None

    def load(self) -> dict[int, typing.Any]:
        """Go on with the saved model, if there is to be one; what is not said is as it was when it was saved.

        Returns
        -------
        Times of the rounds in which its spaces opened, as far as they are known.

        """
        wanted, path = self._wanted, self._wanted.load
        if path is None:
            return {}
        for name, value in (("--absent", wanted.absent), ("--one-hot", wanted.one_hot)):
            if value:
                raise show.UsageError(f"{name} is settled by the model that is loaded")
        about: saved.About | None
        if keyed.is_fleet(path):
            keyed.check(wanted)
            model, about = keyed.load(path, wanted.save)
        else:
            model, about = saved.load(path)
            if wanted.save is not None:
                saved.check_form(wanted.save, model)
        saved.check_task(path, model, wanted.task)
        if about is not None:
            long = dataclasses.asdict(wanted.long) if wanted.long is not None else None
            given = {name: getattr(wanted, name) for name in ("target", "ignore", "time", "key")}
            saved.agree(path, about, given | {"long": long})
            wanted.target, wanted.ignore = about.target, about.ignore
            wanted.time, wanted.key = about.time, about.key
            if about.long is not None:
                wanted.long = Long(**{**about.long, "columns": tuple(about.long["columns"])})
        elif wanted.target is None:
            raise show.UsageError(f"{path} does not say what its target is: say --target")
        self.session = Session(model, wanted.settings, wanted.target or "")
        return about.opened if about is not None else {}

    def look_ahead(self, rows: Iterator[Row], is_pipe: bool) -> Iterator[Row]:
        """Read rows until it is clear which model is needed; returns all rows, those that were read included."""
        wanted, guessing = self._wanted, Guessing()
        if self.session is not None:
            return rows
        if wanted.task is not None:
            self._start(wanted.task, guessing)
            return rows
        if is_pipe and wanted.key is not None:
            raise show.UsageError("--key on a pipe needs --task: classification or regression?")
        if is_pipe:
            self._guessing = guessing
            return rows
        for row in itertools.islice(rows, ROWS):
            guessing.add(row)
        if not guessing.targets and any(row.x for row in guessing.rows):
            raise self._no_target(guessing)
        self._start(guessing.task or "classification", guessing)
        return itertools.chain(guessing.rows, rows)

    def consider(self, row: Row) -> None:
        """Take another row of a pipe into account; if the rows now say something else, begin anew with them."""
        guessing = self._guessing
        if guessing is None or row.error:
            return
        task = guessing.task
        guessing.add(row)
        if guessing.task is not None and guessing.task != task:
            is_first = self.session is None
            session = self._start(guessing.task, guessing)
            for earlier in guessing.rows[:-1]:
                with contextlib.suppress(ValueError):
                    session.step(earlier.x, earlier.y, earlier.at, earlier.key)
            if not is_first:
                self._messages.say(f"The model starts anew with the first {len(guessing.rows) - 1} lines.")
        if guessing.done and guessing.targets:
            self._guessing = None

    def end(self) -> None:
        """Complain if there were rows, but never a target."""
        if self._guessing is not None and self._guessing.rows and not self._guessing.targets:
            raise self._no_target(self._guessing)

    def _no_target(self, guessing: Guessing) -> show.UsageError:
        names = list(dict.fromkeys(key for row in guessing.rows for key in row.x))
        target = self._wanted.target or ""
        n, cure = show.count(len(guessing.rows), "line"), "If the values come later, say --task"
        if self._wanted.long is not None:
            n = show.count(len(guessing.rows), "sample")
            cure = (
                "If it reports at other times than the sensors, say a longer --every, or --hold so that their readings "
                "last; if its values come later, say --task"
            )
        return show.UsageError(f"there is no value of {target!r} in the first {n}{meant(target, names)}. {cure}")

    def _start(self, task: str, guessing: Guessing) -> Session:
        wanted = self._wanted
        kind = PUFERegressor if task == "regression" else PUFEClassifier
        model: typing.Any = kind(absent=wanted.absent or "missing")
        if wanted.key is not None:
            model = keyed.begin(model, wanted.key, wanted.save)
        pipeline = files.OneHotStrings() | model if wanted.one_hot else model
        session = Session(pipeline, wanted.settings, wanted.target or "", guessing.n_classes, guessing.shares)
        if wanted.task is None and guessing.targets:
            example = guessing.example
            example = files.whole(example) if task == "classification" else example
            self._messages.say(f"{wanted.target}, for example {example!r}: {task} (see --task)")
        self.session = session
        return session
