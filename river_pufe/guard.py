"""How is a model used by several threads at once?

Each model has a lock, which every public method and property holds: a half-made update is never seen, and callers need
not know about it. The thread that holds it can take it again. It belongs to one object in one process: copies, clones
and pickles have a lock of their own, and so have the children of a fork, which waits until no other thread is in the
middle of an update. A model that is busy for longer than that cannot be used in the child, and says so.
"""

from __future__ import annotations

import contextlib
import copy
import functools
import inspect
import itertools
import operator
import os
import threading
import time
import typing
import weakref

from river import base

from .state.parts import Stored

_F = typing.TypeVar("_F", bound=typing.Callable[..., typing.Any])


#: Seconds that a fork waits for the updates of other threads.
_PATIENCE = 1.0


class _Guard:
    """A lock that is made anew wherever it would be copied."""

    def __init__(self) -> None:
        self.lock: typing.Any = threading.RLock()
        self.number = next(_NUMBERS)
        _GUARDS.add(self)

    def __reduce__(self) -> tuple[type[_Guard], tuple[()]]:
        return _Guard, ()


_GUARDS: weakref.WeakSet[_Guard] = weakref.WeakSet()
_NUMBERS = itertools.count()


class _Torn:
    """In the child of a fork, in place of the lock of a model that another thread was using."""

    def __enter__(self) -> typing.NoReturn:
        raise RuntimeError(
            "this process was forked while another thread was using the model, so that it may be half-made here: fork "
            "between two updates, or load a model that was saved"
        )

    def __exit__(self, *error: object) -> None:
        pass


class _Held(threading.local):
    """What the thread that forks has taken for the time being."""

    guards: tuple[_Guard, ...] = ()


_HELD = _Held()


def _hold() -> None:
    """Before a fork: take all locks, in the order in which they were made, because models use what they wrap."""
    end = time.monotonic() + _PATIENCE
    _HELD.guards = tuple(guard for guard in _guards() if guard.lock.acquire(timeout=max(end - time.monotonic(), 0.0)))


def _guards() -> list[_Guard]:
    while True:
        # Another thread may make one meanwhile.
        with contextlib.suppress(RuntimeError):
            return sorted(_GUARDS, key=operator.attrgetter("number"))


def _let_go() -> None:
    """In the parent, after a fork."""
    for guard in _HELD.guards:
        guard.lock.release()
    _HELD.guards = ()


def _renew() -> None:
    """In the child of a fork the threads that hold locks do not exist."""
    whole = set(_HELD.guards)
    for guard in _GUARDS:
        guard.lock = threading.RLock() if guard in whole else _Torn()
    _HELD.guards = ()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_hold, after_in_parent=_let_go, after_in_child=_renew)


class _Own:
    """A guard of its own for each object that asks."""

    def __get__(self, instance: Guarded | None, owner: type[Guarded] | None = None) -> typing.Any:
        if instance is None:
            return self
        # From then on the object has it, and is not asked again. One thread is first; the others get what it made.
        return vars(instance).setdefault("_guard", _Guard())


def guarded(method: _F) -> _F:
    """A method of a `Guarded` object during which all others wait."""

    @functools.wraps(method)
    def alone(self: typing.Any, *args: typing.Any, **kwargs: typing.Any) -> typing.Any:
        with self._guard.lock:
            return method(self, *args, **kwargs)

    return typing.cast(_F, alone)


class Guarded(Stored, base.Base):
    """An object whose methods, where they are `guarded`, are used by one thread at a time."""

    DERIVED: typing.ClassVar[tuple[str, ...]] = ("_guard",)
    # Not made in `__new__`, whose signature some versions of Python show in place of that of `__init__`; and not in
    # `__getattr__`, which makes all other attributes slow.
    _guard = _Own()

    def still(self) -> contextlib.AbstractContextManager[typing.Any]:
        return typing.cast(contextlib.AbstractContextManager[typing.Any], self._guard.lock)

    def __getstate__(self) -> dict[str, typing.Any]:
        # The caller reads it after the lock is released, when the model may have changed.
        with self._guard.lock:
            return copy.deepcopy(self.stored())

    def __deepcopy__(self, memo: dict[int, typing.Any]) -> typing.Self:
        twin = type(self).__new__(type(self))
        twin.__setstate__(self.__getstate__())
        return twin

    @guarded
    def clone(self, new_params: dict[str, typing.Any] | None = None, include_attributes: bool = False) -> typing.Self:
        twin = super().clone(new_params)
        if include_attributes:
            # River copies one attribute after another, so that those that share a part would get one each.
            parameters = inspect.signature(type(self)).parameters
            twin.__setstate__({name: value for name, value in self.__getstate__().items() if name not in parameters})
        return twin
