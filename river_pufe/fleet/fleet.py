"""How does one process keep a model for each of many keys?"""

from __future__ import annotations

import collections
import contextlib
import copy
import json
import typing
from collections.abc import Iterator, Mapping

import numpy as np
from river import base

from .. import state
from ..guard import Guarded, guarded
from ..values import Key, Sample, brief, is_there
from .member import Event, Factory, Member, Number
from .stores import MemoryStore, Store

#: Share of the features of a new key that a founder must know.
_RELATED = 0.5
#: The names of keys are JSON, which never begins so.
_NOTE = "#"
_FOUNDERS, _MOST_FOUNDERS = "#founders", 32


class Fleet(Guarded, base.Estimator):
    """A model for each key, of which few are in memory.

    **When to use it.** For one model per site, tenant or device in one process: it is used like a single model, on
    samples that carry their key. It is a classifier where the models are, and a regressor where they are.

    The models of the keys that were learned last are in memory, `live` of them; the others are in the store, as bytes.
    With a `SQLiteStore` memory is bounded for any number of keys, and what was committed outlives the process. If
    the events carry a number as well, each is learned once, however often it is delivered: after a crash, feed the
    stream again from any point before, and the fleet goes on as if it had never stopped. An event of a key in memory
    costs what its model costs; one of another key many times as much, for loading its model and for storing the one
    whose place it takes.

    Parameters
    ----------
    factory
        What makes the model of a new key: a class, or a function without arguments.
    key
        Name under which samples carry their key: a string, a number, `None`, or a tuple of those. A sample without it
        belongs to the key `None`.
    number
        Name under which samples carry the number of the event: for each key it rises from one event to the next, such
        as an offset in a log. An event that is not above the latest one of its key is known, and passed over. None:
        every event is a new one.
    store
        Where the models are that are not in memory. None: `MemoryStore`, smaller than models.
    live
        Number of models in memory.
    inherit
        Whether a new key starts from what its siblings know, instead of from nothing. The first key is a *founder*; a
        key that comes later starts as a copy of the founder whose model knows most of the features in its first sample,
        or is a founder itself if none knows half of them. Good where sites of one make differ little.
        At most 32 founders are remembered.
    commit_every
        Number of events after which the store is committed, if it is a lasting one. Small numbers cost the time of
        storing all models that have changed; large ones leave more to be learned again after a crash.

    Attributes
    ----------
    keys
        All keys.

    Examples
    --------
    >>> from river import evaluate, metrics
    >>> from river_pufe import PUFEClassifier, datasets
    >>> from river_pufe.fleet import Fleet
    >>> stream = [({**x, "site": t % 3}, y) for t, (x, y) in enumerate(datasets.HiddenFactors(n_samples=600, seed=1))]
    >>> fleet = Fleet(PUFEClassifier, key="site")
    >>> evaluate.progressive_val_score(stream, fleet, metrics.Accuracy())
    Accuracy: 90.50%
    >>> fleet.keys
    [0, 1, 2]
    >>> fleet.model(2).rounds
    200

    """

    DERIVED = (*Guarded.DERIVED, "_asked")

    def __init__(
        self,
        factory: Factory,
        key: Key = "key",
        number: Key = None,
        store: Store | None = None,
        live: int = 1000,
        inherit: bool = False,
        commit_every: int = 10_000,
    ) -> None:
        if not callable(factory):
            raise ValueError(f"factory makes models, like the class of one; {factory!r} cannot be called")
        if not live >= 1:
            raise ValueError(f"live is a number of models, 1 or more, not {live!r}")
        if not commit_every >= 1:
            raise ValueError(f"commit_every is a number of events, 1 or more, not {commit_every!r}")
        self.factory = factory
        self.key = key
        self.number = number
        self.store = store
        self.live = live
        self.inherit = inherit
        self.commit_every = commit_every
        self._store = store.clone() if store is not None else MemoryStore()
        self._fresh = factory()
        # The one that was learned last is at the end.
        self._live: collections.OrderedDict[str, Member] = collections.OrderedDict()
        self._changed: set[str] = set()
        self._n_uncommitted = 0
        self._asked: tuple[str, Member] | None = None
        self._founders: list[str] | None = None

    @classmethod
    def _unit_test_params(cls) -> typing.Iterator[dict[str, typing.Any]]:
        from ..pufe import PUFEClassifier

        yield {"factory": PUFEClassifier}

    def rebuild(self) -> None:
        self._asked = None

    # River asks a pipeline for its last step, to tell what kind of model it is.

    @property
    def _last_step(self) -> base.Estimator:
        return self._fresh

    @property
    def _supervised(self) -> bool:
        return bool(self._fresh._supervised)

    @property
    def _multiclass(self) -> bool:
        return isinstance(self._fresh, base.Classifier) and self._fresh._multiclass

    # What River asks for.

    @property
    def predict_proba_one(self) -> typing.Callable[..., dict[typing.Any, float]]:
        """Probabilities of the classes for a sample, by the model of the key; classifiers alone have it."""
        if not isinstance(self._fresh, base.Classifier):
            raise AttributeError(f"{type(self._fresh).__name__} is not a classifier, and has no probabilities")
        return self._predict_proba_one

    @guarded
    def _predict_proba_one(self, x: Sample, **kwargs: typing.Any) -> dict[typing.Any, float]:
        name, _, features = self._split(x)
        answer: dict[typing.Any, float] = self._look(name, features).model.predict_proba_one(features, **kwargs)
        return answer

    @guarded
    def predict_one(self, x: Sample, **kwargs: typing.Any) -> typing.Any:
        """The most probable class, or the expected target, by the model of the key."""
        name, _, features = self._split(x)
        return self._look(name, features).model.predict_one(features, **kwargs)

    @guarded
    def learn_one(self, x: Sample, y: typing.Any, **kwargs: typing.Any) -> None:
        """Learn from an event with its target, unless it is known.

        Parameters
        ----------
        x
            Features, with the key and, if it has one, the number of the event.
        y
            The target.
        kwargs
            What the model of the key takes beside them, such as a weight.

        Raises
        ------
        ValueError
            If the model rejects the event. The fleet is as it was then.

        """
        self._take(x, lambda member, event: member.learn(event, **kwargs), y)

    @guarded
    def observe_one(self, x: Sample) -> None:
        """Learn from the features of an event whose target is not known, unless it is known."""
        self._take(x, Member.observe, None)

    def _take(self, x: Sample, act: typing.Callable[[Member, Event], None], y: typing.Any) -> None:
        name, number, features = self._split(x)
        member = self._look(name, features)
        if number is None:
            number = (member.latest or 0) + 1
        if member.knows(number):
            return
        if self.inherit and member.latest is None and self._find(name) is None:
            with self._as_committed_after_errors():
                self._bear(name, member)
        act(member, Event(number, features, y))
        with self._as_committed_after_errors():
            self._keep(name, member)

    # What a user asks for.

    @property
    @guarded
    def keys(self) -> list[Key]:
        """All keys."""
        stored = [name for name in self._store.names() if not name.startswith(_NOTE)]
        known = set(stored)
        return [_key(name) for name in (*stored, *(name for name in self._live if name not in known))]

    @guarded
    def model(self, key: Key) -> typing.Any:
        """The model of a key, to look at it.

        Raises
        ------
        KeyError
            If the fleet does not know the key.

        """
        member = self._find(_name(key))
        if member is None:
            raise KeyError(key)
        return member.model

    @guarded
    def commit(self, notes: Mapping[str, bytes] | None = None) -> None:
        """Store all models that have changed, and make that permanent, all or nothing.

        Parameters
        ----------
        notes
            What is stored in the same transaction, by name, such as how far the stream was read.

        Raises
        ------
        OSError
            If the store cannot be written, as where the disk is full. The fleet is then what it was at the latest
            commit.

        """
        with self._as_committed_after_errors():
            for name, content in (notes or {}).items():
                self._store.put(f"{_NOTE}{name}", content)
            for name in self._changed:
                self._store.put(name, self._live[name].dump())
            self._store.commit()
        self._changed.clear()
        self._n_uncommitted = 0

    @guarded
    def note(self, name: str) -> bytes | None:
        """What was last committed under a name; None if nothing was."""
        return self._store.get(f"{_NOTE}{name}")

    @guarded
    def close(self, commit: bool = True) -> None:
        """Close the store and forget the models in memory; the next event opens it again.

        Parameters
        ----------
        commit
            Whether what was not committed is. It is lost otherwise, if the store is a lasting one.

        """
        if commit or not self._store.lasts:
            self.commit()
        self._forget()

    def __enter__(self) -> Fleet:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Fleet by {self.key!r} of {self._fresh!r}"

    # Inside.

    def _forget(self) -> None:
        """Forget what was not committed."""
        self._live.clear()
        self._changed.clear()
        self._n_uncommitted = 0
        self._asked = self._founders = None
        self._store.close()

    @contextlib.contextmanager
    def _as_committed_after_errors(self) -> Iterator[None]:
        """A store that failed may have forgotten any part of what it was given; so the models forget it as well."""
        try:
            yield
        except OSError:
            self._forget()
            raise

    def _split(self, x: Sample) -> tuple[str, Number | None, Sample]:
        """Name of the key, number of the event, and the features alone."""
        features = dict(x)
        name = _name(features.pop(self.key, None))
        if self.number is None:
            return name, None, features
        number = features.pop(self.number, None)
        if not is_there(number):
            raise ValueError(f"the sample has no number under {self.number!r}, by which known events are passed over")
        return name, typing.cast(Number, number), features

    def _look(self, name: str, features: Sample) -> Member:
        """The member of a name. One that is not in memory is kept until something is learned."""
        if name in self._live:
            return self._live[name]
        if self._asked is None or self._asked[0] != name:
            self._asked = name, self._find(name) or self._begin(features)
        return self._asked[1]

    def _find(self, name: str) -> Member | None:
        if name in self._live:
            return self._live[name]
        if self._asked is not None and self._asked[0] == name and self._asked[1].latest is not None:
            return self._asked[1]
        stored = self._store.get(name)
        return None if stored is None else Member.load(stored)

    def _begin(self, features: Sample) -> Member:
        """A member for a new key."""
        if self.inherit:
            founders = [self._find(name) for name in self._founder_names()]
            kin = {_share(founder.model, features): founder for founder in reversed(founders) if founder is not None}
            if kin and max(kin) >= _RELATED:
                return Member(copy.deepcopy(kin[max(kin)].model))
        return Member(self.factory())

    def _bear(self, name: str, member: Member) -> None:
        """Store a new member at once: were it born again after a crash, its siblings would know more."""
        self._store.put(name, member.dump())
        founders = self._founder_names()
        if getattr(member.model, "rounds", 0) == 0 and len(founders) < _MOST_FOUNDERS:
            founders.append(name)
            self._store.put(_FOUNDERS, state.dumps(founders))
        self._store.commit()

    def _founder_names(self) -> list[str]:
        if self._founders is None:
            stored = self._store.get(_FOUNDERS)
            self._founders = [] if stored is None else typing.cast(list[str], state.loads(stored))
        return self._founders

    def _keep(self, name: str, member: Member) -> None:
        """Keep a member that has changed, and store the one that was idle longest if there are too many."""
        self._asked = None
        self._live[name] = member
        self._live.move_to_end(name)
        self._changed.add(name)
        if len(self._live) > self.live:
            idle, left = self._live.popitem(last=False)
            if idle in self._changed:
                self._changed.remove(idle)
                self._store.put(idle, left.dump())
        self._n_uncommitted += 1
        if self._store.lasts and self._n_uncommitted >= self.commit_every:
            self.commit()


_encode = json.JSONEncoder(ensure_ascii=False).encode


def _share(model: typing.Any, features: Sample) -> float:
    """Which share of some features a model knows."""
    known = {key for space in model.spaces for key in space.keys}
    there = [key for key, value in features.items() if is_there(value)]
    return sum(key in known for key in there) / max(len(there), 1)


def _name(key: typing.Any) -> str:
    """A name for a key; keys that are equal have the same."""
    return _encode(key if type(key) is str else _plain(key))


def _plain(key: typing.Any) -> typing.Any:
    if isinstance(key, np.number | np.bool_ | np.str_):
        key = key.item()
    if not is_there(key):
        return None
    if isinstance(key, tuple):
        return [_plain(each) for each in key]
    if isinstance(key, bool | int | float):
        return int(key) if key in (True, False) or (isinstance(key, float) and key.is_integer()) else key
    if type(key) is not str:
        raise ValueError(f"{brief(key)} cannot be the key of a model: use a string, a number or a tuple of those")
    return key


def _key(name: str) -> Key:
    return _hashable(json.loads(name))


def _hashable(plain: typing.Any) -> Key:
    return tuple(map(_hashable, plain)) if isinstance(plain, list) else plain
