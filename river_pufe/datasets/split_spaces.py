"""What if a data set's features were not there at the same time, but one group after another?"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterator, Sequence
from typing import Any

from river.base.typing import FeatureName

from .cycle import Cycle, CycleStream
from .evolving import Features, Source, StreamWrapper, require


class SplitSpaces(CycleStream, StreamWrapper):
    """Feature spaces that are disjoint groups of a data set's own features.

    No feature is made up, so values of any kind will do. How much a group tells about another one is up to
    the data; it is the setting of FESL[^1] and PUFE[^2] as a user meets it, when a sensor is replaced by one
    that measures something else.

    **When to use it.** On data whose features are redundant, or to see that useless old knowledge does not
    do harm.

    Parameters
    ----------
    dataset
        Any data set of River, or anything else that yields pairs `(x, y)` each time it is iterated.
    cycle
        When spaces come and go. By default the spaces share the stream evenly.
    groups
        The features of each space. Those that are in no group are always there. By default features are dealt
        to the spaces at random when they are first seen.
    seed
        Random seed. Without one, it is drawn when the stream is made.

    Attributes
    ----------
    changes
        Rounds, counted from 0, from which on a space has gone.

    Examples
    --------
    >>> from river.datasets import TrumpApproval
    >>> from river_pufe import datasets

    >>> dataset = datasets.SplitSpaces(
    ...     TrumpApproval(),
    ...     groups=[["gallup", "ipsos", "morning_consult"], ["rasmussen", "you_gov"]],
    ...     seed=42,
    ... )
    >>> dataset.changes
    (500,)

    >>> for t, (x, _) in enumerate(dataset):
    ...     if t in (0, 485, 495, 500):
    ...         print(t, *x)
    0 ordinal_date gallup ipsos morning_consult
    485 ordinal_date ipsos morning_consult rasmussen you_gov
    495 ordinal_date morning_consult rasmussen you_gov
    500 ordinal_date rasmussen you_gov

    References
    ----------
    [^1]: [Hou, B.J., Zhang, L. and Zhou, Z.H., 2017. Learning with feature evolvable streams. Advances in
        Neural Information Processing Systems,
        30.](https://papers.neurips.cc/paper/2017/hash/7634ea65a4e6d9041cfd3f7de18e334a-Abstract.html)
    [^2]: [Hou, B.J., Zhang, L. and Zhou, Z.H., 2021. Prediction with unpredictable feature evolution. IEEE
        Transactions on Neural Networks and Learning Systems.](https://arxiv.org/abs/1904.12171)

    """

    def __init__(
        self,
        dataset: Source,
        cycle: Cycle | None = None,
        groups: Sequence[Collection[FeatureName]] | None = None,
        seed: int | None = None,
    ) -> None:
        super().__init__(dataset, seed)
        if cycle is None:
            cycle = Cycle() if groups is None else Cycle(n_spaces=len(groups))
        if groups is not None:
            n_spaces = cycle.n_spaces
            require(len(groups) == n_spaces, "groups", f"{n_spaces}, one for each space", groups)
            require(not any(isinstance(group, str) for group in groups), "groups", "collections", groups)
            names = list(itertools.chain.from_iterable(groups))
            require(len(set(names)) == len(names), "groups", "disjoint", groups)
        elif self.n_features is not None:
            rule = f"at most the number of features, {self.n_features}"
            require(cycle.n_spaces <= self.n_features, "n_spaces", rule, cycle.n_spaces)
        self.cycle = cycle
        self.groups = groups
        self.changes = cycle.changes(self.n_samples)

    def _rounds(self) -> Iterator[tuple[list[Features], Features, Any]]:
        rng = self._rng("groups")
        deal: Iterator[int | None] = itertools.cycle(range(self.cycle.n_spaces) if self.groups is None else [None])
        place: dict[FeatureName, int | None] = {
            name: space for space, names in enumerate(self.groups or ()) for name in names
        }
        for x, y in self.dataset:
            strangers = [name for name in x if name not in place]
            rng.shuffle(strangers)
            place.update(zip(strangers, deal))
            spaces: list[Features] = [{} for _ in range(self.cycle.n_spaces)]
            untouched: Features = {}
            for name, value in x.items():
                space = place[name]
                (untouched if space is None else spaces[space])[name] = value
            yield spaces, untouched, y
