"""A stream of which everything is known: what drives it, and what each absent sensor would have read."""

from __future__ import annotations

import bisect
import functools
import itertools
import math
from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt
from river.datasets import base

from .cycle import Cycle, CycleStream, feature_names
from .evolving import Features, is_count, require


class HiddenFactors(CycleStream, base.SyntheticDataset):
    r"""Sensors that come and go, while all of them look at the same few hidden factors.

    In round $t$ the factors $f_t$ are drawn from a standard normal distribution in $r$ dimensions. Space $s$
    reads $L_s f_t$ plus noise, with random loadings $L_s$, and the target is $w^\top f_t$ with a random unit
    vector $w$, or whether that is positive. Without noise, any $r$ features determine all the others, those
    of other spaces included: the setting of PUFE[^1] at its best.

    **When to use it.** To test that what a model recovers is what a sensor would have read, which `truth`
    tells. And, with `reverse_labels` or `unrelated`, to test that old knowledge is dropped when it is of no
    use. A sample costs O(n_factors · width) for each space that is seen.

    Parameters
    ----------
    cycle
        When spaces come and go. By default two of them share the stream.
    n_factors
        Number of hidden factors, the rank of each space without noise.
    width
        Number of features of a space.
    noise
        Standard deviation of the noise in a reading. Without noise it is about 1 itself.
    regression
        Whether the target is a number rather than a boolean.
    reverse_labels
        Whether at each change the target turns into its opposite, so that what was learned before does harm.
    unrelated
        Whether each space looks at factors of its own, which also determine the target as long as the space
        is the current one: nothing can be recovered, and nothing that was learned before is of use.
    n_samples
        Number of samples. The stream is endless if it is `None`, and then the cycle needs a period.
    seed
        Random seed. Without one, it is drawn when the stream is made.

    Attributes
    ----------
    changes
        Rounds, counted from 0, from which on a space has gone.
    loadings
        A matrix for each space, with a row for each feature.
    weights
        The weight of each factor in the target, for each space. All the same unless `unrelated`.

    Examples
    --------
    >>> import itertools
    >>> from river_pufe import datasets

    >>> dataset = datasets.HiddenFactors(datasets.Cycle(overlap=4), width=3, n_samples=20, seed=42)
    >>> dataset.changes
    (10,)

    >>> for (x, y), truth in itertools.islice(zip(dataset, dataset.truth()), 8, 11):
    ...     print(*x, y)
    ...     print({name: round(value, 3) for name, value in truth.items() if name not in x})
    s0_2 s1_0 s1_1 s1_2 True
    {'s0_0': 0.011, 's0_1': -0.638}
    s0_2 s1_0 s1_1 s1_2 False
    {'s0_0': -0.925, 's0_1': 1.438}
    s1_0 s1_1 s1_2 False
    {'s0_0': 0.218, 's0_1': -0.049, 's0_2': 0.003}

    References
    ----------
    [^1]: [Hou, B.J., Zhang, L. and Zhou, Z.H., 2021. Prediction with unpredictable feature evolution. IEEE
        Transactions on Neural Networks and Learning Systems.](https://arxiv.org/abs/1904.12171)

    """

    def __init__(
        self,
        cycle: Cycle | None = None,
        n_factors: int = 3,
        width: int = 8,
        noise: float = 0.0,
        regression: bool = False,
        reverse_labels: bool = False,
        unrelated: bool = False,
        n_samples: int | None = 1_000,
        seed: int | None = None,
    ) -> None:
        require(is_count(n_factors, 1), "n_factors", "a whole number, 1 or more", n_factors)
        require(is_count(width, 1), "width", "a whole number, 1 or more", width)
        require(0 <= noise < math.inf, "noise", "a number, 0 or more", noise)
        if n_samples is not None:
            require(is_count(n_samples, 1), "n_samples", "a whole number, 1 or more", n_samples)
        self.cycle = Cycle() if cycle is None else cycle
        super().__init__(  # type: ignore[no-untyped-call]
            task=base.REG if regression else base.BINARY_CLF,
            n_features=width * self.cycle.n_spaces,
            n_samples=n_samples,
            n_classes=None if regression else 2,
        )
        self.n_factors = n_factors
        self.width = width
        self.noise = noise
        self.regression = regression
        self.reverse_labels = reverse_labels
        self.unrelated = unrelated
        self.seed = seed
        self.changes = self.cycle.changes(n_samples)
        self._fix_seed(seed)
        scale = 1 / math.sqrt(n_factors)
        spaces = range(self.cycle.n_spaces)
        self.loadings = [self._normal(f"loadings {s}", width, n_factors) * scale for s in spaces]
        self.weights = [self._normal(f"weights {self._block(s)}", n_factors) for s in spaces]
        self.weights = [w / np.linalg.norm(w) for w in self.weights]

    def _block(self, space: int) -> int:
        """The factors that a space looks at."""
        return space if self.unrelated else 0

    def _normal(self, purpose: str, *shape: int) -> npt.NDArray[np.float64]:
        # Each draw has a generator of its own, so that it does not matter which spaces are read.
        gauss = self._rng(purpose).gauss
        return np.array([gauss(0, 1) for _ in range(math.prod(shape))]).reshape(shape)

    def _factors(self, t: int, space: int) -> npt.NDArray[np.float64]:
        return self._normal(f"factors {t} {self._block(space)}", self.n_factors)

    def _rounds(self) -> Iterator[tuple[_Round, Features, float | bool]]:
        rounds = itertools.count() if self.n_samples is None else range(self.n_samples)
        for t in rounds:
            yield _Round(functools.partial(self._reading, t)), {}, self._target(t)

    def _reading(self, t: int, space: int) -> Features:
        values = self.loadings[space] @ self._factors(t, space)
        if self.noise:
            values = values + self.noise * self._normal(f"noise {t} {space}", self.width)
        return dict(zip(feature_names(space, self.width), values.tolist()))

    def _target(self, t: int) -> float | bool:
        phase = bisect.bisect_right(self.changes, t)
        space = phase % self.cycle.n_spaces
        target = float(self.weights[space] @ self._factors(t, space))
        if self.reverse_labels and phase % 2:
            target = -target
        return target if self.regression else target > 0


class _Round:
    """What each space reads in one round."""

    def __init__(self, reading: Callable[[int], Features]) -> None:
        self._reading = reading

    def __getitem__(self, space: int, /) -> Features:
        return self._reading(space)
