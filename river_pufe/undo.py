"""How does a model become what it was, when a model that it wraps raises half-way through a sample?"""

from __future__ import annotations

import contextlib
import typing

#: Samples between two copies.
_EVERY = 64

Step = typing.Callable[[], None]


class Copied(typing.Protocol):
    """A model that gives a copy of its state away, and takes it up again."""

    def __getstate__(self) -> dict[str, typing.Any]: ...

    def __setstate__(self, attributes: dict[str, typing.Any], /) -> None: ...


class Undo:
    """A copy of a model, made every 64 samples, and what the model has learned since.

    To take a sample back, the model takes up the copy and learns again what came between. So a sample costs a 64th of
    a copy, and one that is taken back costs as much as up to 64 others. Memory is that of the copy.
    """

    def __init__(self) -> None:
        self._copy: dict[str, typing.Any] | None = None
        self._since: list[Step] = []

    def prepare(self, model: Copied) -> None:
        """Make a copy where one is due, before the model learns."""
        if self._copy is None or len(self._since) >= _EVERY:
            self.renew(model)

    def renew(self, model: Copied) -> None:
        """Make a copy. Of a wrapped model that cannot be copied there is none, and nothing is taken back."""
        self._copy, self._since = None, []
        with contextlib.suppress(Exception):
            self._copy = model.__getstate__()

    def note(self, step: Step) -> None:
        """The model has learned: what is called to learn the same again."""
        if self._copy is not None:
            self._since.append(step)

    def take_back(self, model: Copied) -> None:
        """Make a model what it was after the latest step that was noted."""
        attributes, since = self._copy, self._since
        self._copy, self._since = None, []
        if attributes is not None:
            model.__setstate__(attributes)
            for step in since:
                step()
