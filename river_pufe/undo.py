"""How does a model become what it was, when a model that it wraps raises half-way through a sample?"""

from __future__ import annotations

import contextlib
import typing

#: Samples between two copies: first, and after an error; and at most, once all has gone well for a while.
_SHORT, _LONG = 64, 512

Step = typing.Callable[[], None]


class Copied(typing.Protocol):
    """A model that gives a copy of its state away, and takes it up again."""

    def __getstate__(self) -> dict[str, typing.Any]: ...

    def __setstate__(self, attributes: dict[str, typing.Any], /) -> None: ...


class Undo:
    """A copy of a model, made now and then, and what the model has learned since.

    To take a sample back, the model takes up the copy and learns again what came between: up to 512 samples, or 64
    where errors are frequent. A sample costs as large a share of a copy. Memory is that of the copy and these samples.
    """

    def __init__(self) -> None:
        self._copy: dict[str, typing.Any] | None = None
        self._since: list[Step] = []
        self._every = _SHORT

    def prepare(self, model: Copied) -> None:
        """Make a copy where one is due, before the model learns."""
        if self._copy is None:
            self.renew(model)
        elif len(self._since) >= self._every:
            self._every = min(2 * self._every, _LONG)
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
