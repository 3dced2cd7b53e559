"""How does a model give its state away, and take it up again?"""

from __future__ import annotations

import abc
import copy
import importlib.metadata
import math
import typing

from ..guard import Guarded, guarded
from ..values import Key, Sample
from .objects import FORMAT, from_plain, to_plain

State = dict[str, typing.Any]


class Stateful(Guarded):
    """A model that can tell its state without code; see `river_pufe.state`."""

    @guarded
    def state_dict(self, pickles: bool = False) -> State:
        """All that the model is and knows, as plain data without code.

        Dicts, lists, numbers, strings, bytes and arrays only; see `river_pufe.state`. A model that takes it up goes on
        exactly as this one.

        Parameters
        ----------
        pickles
            Whether objects of other packages, such as wrapped models of River, are stored as pickles.

        Raises
        ------
        ValueError
            If there is a wrapped model, and pickles are not allowed.

        """
        version = importlib.metadata.version("river-pufe")
        return {"format": FORMAT, "version": version, "model": to_plain(self, pickles)}

    @guarded
    def load_state_dict(self, state: State, trusted: bool = False) -> None:
        """Become the model of which this is the state, parameters included.

        Parameters
        ----------
        state
            What `state_dict` returned; it stays as it is.
        trusted
            Whether the source is trusted: pickles, which can run any code, are loaded then, and nothing is checked.

        Raises
        ------
        ValueError
            If it is not the state of a model of this class. This model is as it was then.

        """
        if not isinstance(state, dict) or "model" not in state:
            raise ValueError("this is not a state: it must be what state_dict() returned")
        if state.get("format") != FORMAT:
            raise ValueError(
                f"the state has format {state.get('format')!r}, written by river_pufe {state.get('version')}; "
                f"this version reads format {FORMAT}"
            )
        model = from_plain(state["model"], trusted)
        if type(model) is not type(self):
            raise ValueError(f"this is the state of {type(model).__name__}, not of {type(self).__name__}")
        self.__setstate__(model.stored())

    def verify(self) -> None:
        """Raise a ValueError unless a copy of the model can read and learn samples of its keys."""
        try:
            twin = copy.deepcopy(self)
            keys = list(twin.living_keys)
            answers: list[float] = []
            # Something absent, nothing absent, and one more key, for which all arrays grow.
            for known in (keys[::2], keys, [*keys, object()], keys):
                answers += twin.rehearse(dict.fromkeys(known, 1.0))
        except Exception as error:
            raise ValueError(f"the parts of the state do not fit together: {error}") from None
        if not all(map(math.isfinite, answers)):
            raise ValueError("the state has numbers that are not finite, with which nothing can be predicted")

    @property
    @abc.abstractmethod
    def living_keys(self) -> tuple[Key, ...]:
        """The keys that samples may have, as far as they are known."""

    @abc.abstractmethod
    def rehearse(self, x: Sample) -> list[float]:
        """Predict and learn; the numbers of the answer."""
