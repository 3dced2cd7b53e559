"""What is noted of a run: answers, alarms, events, times, and what was expected?"""

from __future__ import annotations

import contextlib
import json
import typing

from .. import files
from ..plot.record import Series
from . import show
from .expected import Expectations
from .messages import Messages
from .outputs import Output
from .samples import Row
from .session import Answer, Session
from .wanted import Wanted

_PREDICTED = ("file", "line", "time", "target", "prediction", "probability", "alarm")
_HAPPENED = ("file", "line", "time", "round", "kind", "keys", "factor", "offset")
#: A model remembers fewer events.
_MOMENTS = 2000


class Diary:
    """What is written to files and told about each sample, and what is kept for the end.

    Parameters
    ----------
    wanted
        What the user wants.
    messages
        Where events and alarms are told.

    Attributes
    ----------
    times
        Times of some rounds.
    moments
        Times of the rounds in which spaces opened, and of the latest events.
    suspects
        Values that may stand for absent ones.
    expectations
        What each feature should have read, if that is wanted.
    n_alarms
        Number of alarms.

    """

    def __init__(self, wanted: Wanted, messages: Messages) -> None:
        self._wanted, self._messages = wanted, messages
        self._stack = contextlib.ExitStack()
        key = ["key"] if wanted.key is not None else []
        self._predictions = Output(wanted.predictions, [*_PREDICTED, *key]) if wanted.predictions is not None else None
        self._events = Output(wanted.events, [*_HAPPENED, *key]) if wanted.events is not None else None
        self.expectations = Expectations(wanted.recovered) if wanted.recovered is not None else None
        self.times = Series(200)
        self.moments: dict[int, typing.Any] = {}
        self.suspects = files.Suspects()
        self.n_alarms = 0

    def __enter__(self) -> Diary:
        for output in (self._predictions, self._events, self.expectations):
            if output is not None:
                self._stack.enter_context(output)
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def note(self, row: Row, session: Session, answer: Answer | None) -> None:
        """Note a sample.

        Parameters
        ----------
        row
            The sample.
        session
            The model at work, which has learned from it.
        answer
            What it predicted before; None if it knew nothing by then.

        """
        if self.suspects.due:
            self.suspects.update({**row.x, session.target: row.y} if row.y is not None else row.x)
        else:
            self.suspects.skip()
        if row.when is not None:
            self.times.add(session.notes.record.rounds - 1, row.when)
        if self.expectations is not None:
            self.expectations.note(self._where(row), session.seen, session.expected)
        news = session.news()
        if news:
            self._note_events(news, row, session)
        if self._predictions is not None or session.judge.alarming:
            self._note_answer(row, session, answer)

    def note_unanswered(self, row: Row) -> None:
        """Note a sample that came before there was a model."""
        if self._predictions is not None:
            self._predictions.write({**self._where(row), "prediction": None})

    def _note_events(self, news: list[typing.Any], row: Row, session: Session) -> None:
        for event in news:
            whose = f"{show.cut(row.key)} " if self._wanted.key is not None else ""
            self._messages.tell(
                "event", f"{_place(row)}: {whose}{event.kind} {show.shorten(event.keys, 6)}{event.aside}"
            )
            # The rounds of a fleet's models are not those of the stream.
            if row.when is not None and session.fleet is None:
                self.moments[event.round] = row.when
            if self._events is not None:
                happened = {"round": event.round, "kind": event.kind, "keys": list(event.keys)}
                self._events.write({**self._where(row), **happened, **event.details})
        if len(self.moments) > _MOMENTS:
            known = {space.opened_at for space in session.model.spaces} | {
                event.round for event in session.model.events
            }
            self.moments = {at: when for at, when in self.moments.items() if at in known}

    def _note_answer(self, row: Row, session: Session, answer: Answer | None) -> None:
        noted = self._where(row) | ({"target": row.y} if row.y is not None else {})
        label = noted["prediction"] = answer.decided if answer is not None else None
        positive = session.judge.positive
        if session.classifies and answer is not None:
            noted["probabilities"] = {_name(name): p for name, p in answer.prediction.items()}
            noted["probability"] = answer.prediction.get(positive if positive is not None else label)
        if session.judge.alarming:
            noted["alarm"] = answer is not None and positive is not None and label == positive
            if noted["alarm"]:
                self.n_alarms += 1
                told = f"{_place(row)}: alarm, {_name(label)} {noted['probability']:.3f}"
                self._messages.tell("alarm", told, "bold")
        if self._predictions is not None:
            if not self._predictions.is_csv:
                noted.pop("probability", None)
            self._predictions.write(noted)

    def _where(self, row: Row) -> dict[str, typing.Any]:
        where: dict[str, typing.Any] = {"file": row.file} if row.file else {}
        where |= {"line": row.line} | ({"time": row.when} if row.when is not None else {})
        return where | ({"key": row.key} if self._wanted.key is not None else {})


def _place(row: Row) -> str:
    return row.place + (f" ({row.when})" if row.when is not None else "")


def _name(label: typing.Any) -> str:
    return label if isinstance(label, str) else json.dumps(label, default=str)
