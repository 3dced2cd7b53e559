"""How does the model of one key take in a batch of events, in any engine?"""

from __future__ import annotations

from collections.abc import Iterable

from ..pufe import PUFEClassifier
from .member import Answer, Event, Factory, Member


def step(
    state: bytes | None,
    events: Iterable[Event | tuple[object, ...]],
    factory: Factory = PUFEClassifier,
    on_error: str = "stop",
    trusted: bool = True,
) -> tuple[bytes, list[Answer]]:
    """Predict and learn the events of one key: a function from a state and events to a state and predictions.

    **When to use it.** In an engine that keeps state by key: a stream processor, a consumer of a log, an actor.

    The state is loaded once; the events are sorted by their numbers; each is predicted, then learned; the state is
    dumped once. An event whose number is not above the last one that was learned is passed over, so an event that is
    delivered twice is learned once. So are events that come late, behind a later one of an earlier batch.

    Loading and dumping cost as much as many events, so give it as many events at once as there are.

    Parameters
    ----------
    state
        What the call before returned for this key; None for a new key.
    events
        Tuples ``(number, x, y)``, in any order. Where y is None or left out, the features alone are learned.
    factory
        What makes the model of a new key: a class, or a function without arguments.
    on_error
        What becomes of an event that the model rejects: ``"stop"`` raises its error, and the state that was given is
        still that of the events before; ``"skip"`` answers None and goes on.
    trusted
        Whether the state is from a trusted source. If not, everything in it is checked, and there must be no pickles
        of wrapped models.

    Returns
    -------
    The new state, and one `Answer` for each event that was not passed over.

    Raises
    ------
    ValueError
        If an event has a value that is not a finite number or a target that is not valid, or the state is not one.

    Examples
    --------
    >>> from river_pufe.fleet import step
    >>> state, answers = step(None, [(1, {"a": 1.0}, True), (2, {"a": -1.0}, False)])
    >>> state, answers = step(state, [(3, {"a": 1.0}, True), (2, {"a": -1.0}, False)])
    >>> [answer.number for answer in answers]
    [3]

    """
    if on_error not in ("stop", "skip"):
        raise ValueError(f"on_error is 'stop' or 'skip', not {on_error!r}")
    member = Member(factory()) if state is None else Member.load(state, trusted)
    answers = []
    for event in sorted((Event(*event) for event in events), key=lambda event: event.number):
        if member.knows(event.number):
            continue
        try:
            prediction = member.predict(event.x)
            member.learn(event) if event.y is not None else member.observe(event)
        except ValueError as error:
            if on_error == "stop":
                raise ValueError(f"event {event.number}: {error}") from None
            prediction, member.latest = None, event.number
        answers.append(Answer(event.number, prediction))
    return member.dump(), answers
