"""How does a signal stop a run without tearing a model apart?"""

from __future__ import annotations

import contextlib
import signal
import threading
import types
import typing

#: Ctrl-C, a request to terminate, and a terminal that was closed. Windows has no SIGHUP.
_SIGNALS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))


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
        self._hold = _Hold(self)

    def __enter__(self) -> Interrupts:
        # Only the main thread gets signals, and may ask for them.
        if threading.current_thread() is threading.main_thread():
            # nohup ignores SIGHUP for us, and means it.
            caught = [n for n in _SIGNALS if n == signal.SIGINT or signal.getsignal(n) != signal.SIG_IGN]
            self._before = {n: signal.signal(n, self._receive) for n in caught}
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

    def held(self) -> contextlib.AbstractContextManager[None]:
        """Let what is inside finish first."""
        return self._hold

    def hold(self) -> None:
        """Deliver nothing until `release`."""
        self._holding = True

    def release(self) -> None:
        """Deliver what came meanwhile."""
        self._holding = False
        if self.received:
            self._deliver()

    def ignore(self) -> None:
        """From now on nothing is interrupted."""
        self._delivered = True


class _Hold(contextlib.AbstractContextManager[None]):
    """Entered for each sample, so it is made once."""

    def __init__(self, interrupts: Interrupts) -> None:
        self._interrupts = interrupts

    def __enter__(self) -> None:
        self._interrupts.hold()

    def __exit__(self, *_: object) -> None:
        self._interrupts.release()
