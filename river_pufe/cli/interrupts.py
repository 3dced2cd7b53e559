"""How does Ctrl-C stop a run without tearing a model apart?"""

from __future__ import annotations

import contextlib
import signal
import threading
import types
import typing
from collections.abc import Iterator


class Interrupts:
    """A signal to stop raises KeyboardInterrupt once, but not while a sample is learned.

    Attributes
    ----------
    received
        The number of the first signal, 0 if there was none.

    Examples
    --------
    >>> import signal
    >>> from river_pufe.cli.interrupts import Interrupts
    >>> with Interrupts() as interrupts:
    ...     try:
    ...         with interrupts.held():
    ...             signal.raise_signal(signal.SIGINT)
    ...             print("the sample is learned")
    ...     except KeyboardInterrupt:
    ...         print("stopped by signal", interrupts.received)
    the sample is learned
    stopped by signal 2

    """

    def __init__(self) -> None:
        self.received = 0
        self._delivered = self._holding = False
        self._before: dict[int, typing.Any] = {}

    def __enter__(self) -> Interrupts:
        # Only the main thread gets signals, and may ask for them.
        if threading.current_thread() is threading.main_thread():
            self._before = {n: signal.signal(n, self._receive) for n in (signal.SIGINT, signal.SIGTERM)}
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: types.TracebackType | None
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _receive(self, number: int, frame: types.FrameType | None) -> None:
        self.received = self.received or number
        if not self._holding:
            self._deliver()

    def _deliver(self) -> None:
        # An impatient second signal must not tear apart what the first one made us save.
        if not self._delivered:
            self._delivered = True
            raise KeyboardInterrupt

    @contextlib.contextmanager
    def held(self) -> Iterator[None]:
        """Let what is inside finish first."""
        self._holding = True
        try:
            yield
        finally:
            self._holding = False
        if self.received:
            self._deliver()

    def ignore(self) -> None:
        """From now on nothing is interrupted."""
        self._delivered = True
