"""What do all evolving streams have in common?"""

from __future__ import annotations

import abc
import collections.abc
import numbers
import random
from collections.abc import Iterable, Iterator
from typing import Any

from river.base.typing import FeatureName
from river.datasets import base

Features = dict[FeatureName, Any]
Source = Iterable[tuple[Features, Any]]


def require(condition: bool, name: str, rule: str, value: object) -> None:
    """Raise an error for a parameter that is not what it should be."""
    if not condition:
        raise ValueError(f"{name} must be {rule}, got {value!r}")


def is_count(value: object, least: int) -> bool:
    """Whether a value is a whole number, and large enough."""
    # A fraction of a round would never be equal to any round, and so be ignored without a word.
    return isinstance(value, numbers.Integral) and int(value) >= least


class EvolvingStream(base.Dataset):
    """A data set whose keys come and go, and that knows what the absent ones would have read.

    Attributes
    ----------
    changes
        Rounds, counted from 0, from which on keys are gone for good or for a while, as far as they are
        known in advance. They do not depend on how long the stream lasts.

    """

    changes: tuple[int, ...] = ()

    @abc.abstractmethod
    def __iter__(self) -> Iterator[tuple[Features, Any]]: ...

    @abc.abstractmethod
    def truth(self) -> Iterator[Features]:
        """Iterate over what each round would have shown if no key had ever gone.

        It goes side by side with the stream: `zip(stream, stream.truth())`.

        """

    def _fix_seed(self, seed: int | None) -> None:
        # Without a seed the stream is a random one, and yet the same one each time: `truth` has to fit.
        self._seed = random.SystemRandom().getrandbits(32) if seed is None else seed

    def _rng(self, purpose: str) -> random.Random:
        """A fresh generator; one for each purpose, so that what one draws does not disturb the other."""
        return random.Random(f"{self._seed}/{purpose}")


class StreamWrapper(EvolvingStream, base.SyntheticDataset):
    """An evolving stream made from another data set, whose labels and description it keeps.

    Parameters
    ----------
    dataset
        Any data set of River, or anything else that yields pairs `(x, y)` each time it is iterated.
    seed
        Random seed. Without one, it is drawn when the stream is made.

    """

    def __init__(self, dataset: Source, seed: int | None) -> None:
        require(
            isinstance(dataset, collections.abc.Iterable) and not isinstance(dataset, collections.abc.Iterator),
            "dataset",
            "iterable again and again, such as a data set of River or a list",
            dataset,
        )
        n_samples = len(dataset) if isinstance(dataset, collections.abc.Sized) else None
        super().__init__(  # type: ignore[no-untyped-call]
            task=getattr(dataset, "task", "Unknown"),
            n_features=getattr(dataset, "n_features", None),
            n_samples=getattr(dataset, "n_samples", n_samples),
            n_classes=getattr(dataset, "n_classes", None),
            n_outputs=getattr(dataset, "n_outputs", None),
            sparse=getattr(dataset, "sparse", False),
        )
        self.dataset = dataset
        self.seed = seed
        self._fix_seed(seed)
        if isinstance(dataset, EvolvingStream):
            self.changes = dataset.changes

    def truth(self) -> Iterator[Features]:
        if isinstance(self.dataset, EvolvingStream):
            return self.dataset.truth()
        return (dict(x) for x, _ in self.dataset)

    def _get_params(self) -> dict[str, Any]:
        # A whole table inside of a table cannot be read.
        return {**super()._get_params(), "dataset": type(self.dataset).__name__}
