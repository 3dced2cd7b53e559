"""What does the model of one key do with its events?"""

from __future__ import annotations

import typing

from river import base

from .. import state
from ..values import Sample

Number = int | float
Factory = typing.Callable[[], base.Estimator]


class Event(typing.NamedTuple):
    """One event of one key.

    Parameters
    ----------
    number
        Its place in the order of the events of the key: a number that rises from one event to the next, such as an
        offset in a log or a time.
    x
        Features.
    y
        The target; None where it is not known.

    """

    number: Number
    x: Sample
    y: typing.Any = None


class Answer(typing.NamedTuple):
    """What was predicted for an event before it was learned.

    Parameters
    ----------
    number
        Number of the event.
    prediction
        Probabilities of the classes or a number; None where the event was skipped as a bad one.

    """

    number: Number
    prediction: typing.Any


class Member:
    """The model of one key, and the number of the last event that it knows.

    Parameters
    ----------
    model
        The model.
    latest
        Number of the last event, None before the first one.

    """

    def __init__(self, model: base.Estimator, latest: Number | None = None) -> None:
        self.model: typing.Any = model
        self.latest = latest

    @classmethod
    def load(cls, data: bytes, trusted: bool = True) -> Member:
        """A member from its bytes; ValueError if they are not its state."""
        loaded = state.loads(data, trusted)
        if not (isinstance(loaded, tuple) and len(loaded) == 2):
            raise ValueError("this is not the state of a key of a fleet")
        latest, model = loaded
        return cls(model, latest)

    def dump(self) -> bytes:
        """The member in bytes."""
        return state.dumps((self.latest, self.model), pickles=True)

    def knows(self, number: Number) -> bool:
        """Whether the event of a number was learned already."""
        return self.latest is not None and number <= self.latest

    def predict(self, x: Sample) -> typing.Any:
        """Probabilities of the classes, or a number."""
        predict = "predict_proba_one" if isinstance(self.model, base.Classifier) else "predict_one"
        return getattr(self.model, predict)(x)

    def learn(self, event: Event, **kwargs: typing.Any) -> None:
        """Learn from an event with its target."""
        self.model.learn_one(event.x, event.y, **kwargs)
        self.latest = event.number

    def observe(self, event: Event) -> None:
        """Learn from the features of an event, if the model can."""
        if hasattr(self.model, "observe_one"):
            self.model.observe_one(event.x)
        self.latest = event.number
