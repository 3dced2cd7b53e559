"""What does a run say while it goes on, and how often?"""

from __future__ import annotations

import collections

from . import show

#: How many messages of a kind are shown; of other kinds a few.
_MOST = {"event": 100, "bad line": 100, "alarm": 20}
_FEW = 3


class Messages:
    """Lines for the user, no more than a few of a kind.

    Parameters
    ----------
    to_stdout
        Whether something else is written to standard output, so that all messages go to standard error.

    Attributes
    ----------
    out, err
        Where results and where complaints are shown.

    """

    def __init__(self, to_stdout: bool = False) -> None:
        self.out = show.open_console(stderr=to_stdout)
        self.err = self.out if self.out.is_terminal else show.open_console(stderr=True)
        self._counts: collections.Counter[str] = collections.Counter()

    def say(self, message: str, style: str = "") -> None:
        """Show a line; in red and yellow it is a complaint."""
        show.say(self.err if style in ("red", "yellow") else self.out, message, style)

    def tell(self, kind: str, message: str, style: str = "") -> None:
        """Show one of many lines of a kind, as long as there were not too many."""
        self._counts[kind] += 1
        most = _MOST.get(kind, _FEW)
        if self._counts[kind] <= most:
            self.say(message, style)
        elif self._counts[kind] == most + 1:
            self.say(f"… no more of these are shown: {kind}")
