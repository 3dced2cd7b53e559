"""What did one sample change about the feature spaces?"""

from __future__ import annotations

import dataclasses

from ..values import Key, Mask
from .linear_map import Affine


@dataclasses.dataclass(frozen=True)
class FeatureSpace:
    """An ordered set of keys with one life.

    Parameters
    ----------
    number
        Which space of the stream it is, counted from 0.
    keys
        The keys, in the order in which they were first seen.
    state
        ``"current"``, ``"previous"`` (during an overlap) or ``"retired"``.
    opened_at
        Round in which its first new key came, counted from 0.
    vanished
        The keys that are regarded as gone.

    """

    number: int
    keys: tuple[Key, ...]
    state: str
    opened_at: int
    vanished: tuple[Key, ...]


@dataclasses.dataclass(frozen=True)
class Event:
    """Something that happened to the keys of a stream.

    Parameters
    ----------
    round
        When it was noticed, counted from 0.
    kind
        ``"opened"`` (new keys), ``"vanished"``, ``"returned"``, ``"overlap began"``, ``"overlap ended"``,
        ``"rescaled"`` (a key changed its unit, see `Rescaled`) or ``"replaced"`` (another sensor has taken the key).
    keys
        The keys it happened to. When an overlap begins these are the keys of the previous space, and when it ends
        those of the space that goes on.

    """

    round: int
    kind: str
    keys: tuple[Key, ...]

    @property
    def details(self) -> dict[str, float]:
        """What is known beside that, by name."""
        return {}

    @property
    def aside(self) -> str:
        """The details in brackets, behind a space; nothing where there are none."""
        details = ", ".join(f"{name} {value:.6g}" for name, value in self.details.items())
        return f" ({details})" if details else ""

    def __str__(self) -> str:
        shown = ", ".join(map(str, self.keys[:6])) + (f", … ({len(self.keys)} keys)" if len(self.keys) > 6 else "")
        return f"round {self.round}: {self.kind} {shown}{self.aside}"


@dataclasses.dataclass(frozen=True)
class Rescaled(Event):
    """A key reports in another unit: factor · value + offset is the value in the unit that it had at first.

    Parameters
    ----------
    round
        When it was noticed, counted from 0.
    kind
        ``"rescaled"``.
    keys
        The key.
    factor
        Units of before in one unit of now.
    offset
        What 0 of now was before.

    """

    factor: float
    offset: float

    @property
    def details(self) -> dict[str, float]:
        return {"factor": self.factor, "offset": self.offset}


@dataclasses.dataclass(frozen=True)
class Evolution:
    """What one sample changed, in the order in which the other parts must follow.

    Parameters
    ----------
    opened
        Number of slots appended for new keys.
    overlap
        Whether an overlap began: all slots before the new ones are those of the previous space.
    origins
        For each new slot the retired slot ``(space, position)`` that its key had before, or None.
    keep
        Which slots (new ones included) go on, or None if all do; the others are dropped, once they are recoverable.
        In an overlap that goes on these are slots of the current space only.
    settled
        Whether an overlap ended with this sample.
    replaced
        Whether it ended because all keys of the previous space are gone.
    retired
        Number of the retired space under which the dropped slots are remembered, or None.
    forgotten
        Numbers of retired spaces that are no longer remembered.
    spaces
        All spaces after the change.
    recover
        The map from the slots that are kept to those that are dropped, if any are and it is known.

    """

    opened: int = 0
    overlap: bool = False
    origins: tuple[tuple[int, int] | None, ...] = ()
    keep: Mask | None = None
    settled: bool = False
    replaced: bool = False
    retired: int | None = None
    forgotten: tuple[int, ...] = ()
    spaces: tuple[FeatureSpace, ...] = ()
    recover: Affine | None = None


UNCHANGED = Evolution()
