"""What if a data set were measured anew, by other sensors that see mixtures of the old ones?"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator
from typing import Any

from river import preprocessing

from .cycle import Cycle, CycleStream, feature_names
from .evolving import Features, Source, StreamWrapper, require
from .random_map import RandomMap, to_numbers


class MappedSpaces(CycleStream, StreamWrapper):
    """Feature spaces that are random linear maps of a data set's own features.

    The first space is the data set as it is. Every other one is the image of its features, each less its mean
    and divided by its standard deviation, under a random matrix. Mean and deviation are those of the samples
    seen until the space opens and then stay as they are: a space is one affine map of the first one, all its
    life. This is how PUFE[^1] and FESL[^2] make their synthetic data.

    **When to use it.** To see how well a model survives that its sensors are replaced, on any data set, while
    what the old ones would have read follows from the new ones: exactly with a width of 1 or more, and else
    in part. A sample costs O(width · d²) for d features.

    Features have to be numbers, and booleans are. One that is absent in a sample, or `None` or NaN, counts as
    its mean. A map is made of the features known when its space opens; later ones have no part in it.

    Parameters
    ----------
    dataset
        Any data set of River, or anything else that yields pairs `(x, y)` each time it is iterated.
    cycle
        When spaces come and go. By default two of them share the stream.
    width
        Number of features of a new space for each feature known when it opens, rounded down, at least one.
    seed
        Random seed. Without one, it is drawn when the stream is made.

    Attributes
    ----------
    changes
        Rounds, counted from 0, from which on a space has gone.

    Examples
    --------
    >>> from river import evaluate, linear_model, metrics, preprocessing
    >>> from river.datasets import Phishing
    >>> from river_pufe import datasets

    >>> dataset = datasets.MappedSpaces(Phishing(), datasets.Cycle(n_spaces=3, overlap=30), seed=42)
    >>> dataset.changes
    (416, 832)

    >>> for t, (x, _) in enumerate(dataset):
    ...     if t in (0, 390, 410, 416):
    ...         print(t, len(x))
    0 9
    390 14
    410 8
    416 6

    >>> model = preprocessing.StandardScaler() | linear_model.LogisticRegression()
    >>> evaluate.progressive_val_score(dataset, model, metrics.Accuracy())
    Accuracy: 84.24%

    References
    ----------
    [^1]: [Hou, B.J., Zhang, L. and Zhou, Z.H., 2021. Prediction with unpredictable feature evolution. IEEE
        Transactions on Neural Networks and Learning Systems.](https://arxiv.org/abs/1904.12171)
    [^2]: [Hou, B.J., Zhang, L. and Zhou, Z.H., 2017. Learning with feature evolvable streams. Advances in
        Neural Information Processing Systems,
        30.](https://papers.neurips.cc/paper/2017/hash/7634ea65a4e6d9041cfd3f7de18e334a-Abstract.html)

    """

    def __init__(
        self,
        dataset: Source,
        cycle: Cycle | None = None,
        width: float = 0.7,
        seed: int | None = None,
    ) -> None:
        super().__init__(dataset, seed)
        require(0 < width < math.inf, "width", "a positive number", width)
        self.cycle = Cycle() if cycle is None else cycle
        self.width = width
        self.changes = self.cycle.changes(self.n_samples)
        if self.n_features is not None and not self.sparse:
            self.n_features += (self.cycle.n_spaces - 1) * n_images(self.n_features, width)

    def _rounds(self) -> Iterator[tuple[_Spaces, Features, Any]]:
        spaces = _Spaces(self.width, self._rng)
        for x, y in self.dataset:
            spaces.observe(x)
            yield spaces, {}, y


class _Spaces:
    """What each space reads in the present round; a map is made when its space is first read."""

    def __init__(self, width: float, rng: Callable[[str], random.Random]) -> None:
        self._width = width
        self._rng = rng
        self._scaler = preprocessing.StandardScaler()
        self._maps: dict[int, RandomMap] = {}

    def observe(self, x: Features) -> None:
        self._x = x
        self._numbers = to_numbers(x)
        self._scaler.learn_one(self._numbers)

    def __getitem__(self, space: int, /) -> Features:
        if space == 0:
            return self._x
        if space not in self._maps:
            self._maps[space] = self._open(space)
        return self._maps[space](self._numbers)

    def _open(self, space: int) -> RandomMap:
        known = self._scaler.means
        names = feature_names(space, n_images(len(known), self._width))
        if not known.keys().isdisjoint(names):
            raise ValueError(f"dataset must not have features named like those of a new space: {names}")
        return RandomMap(self._scaler, names, self._rng(f"map {space}"))


def n_images(n_features: int, width: float) -> int:
    """Number of features of a space made out of others."""
    # 0.7 * 10 is 7, whatever the last bits of a float say.
    return max(1, math.floor(width * n_features + 1e-9))
