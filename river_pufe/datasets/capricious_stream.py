"""What if each sensor failed to report now and then?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .evolving import Features, Source, StreamWrapper, require


class CapriciousStream(StreamWrapper):
    """Each key is missing now and then, at random.

    In each round each key is left out with the same probability, whatever was left out before. Nothing
    evolves: a key that is missing comes back. Such streams are called capricious[^1], and the feature space
    varying[^2] or haphazard.

    **When to use it.** To see that a model does not take a gap for an evolution; also around another evolving
    stream, to have both.

    Parameters
    ----------
    dataset
        Any data set of River, or anything else that yields pairs `(x, y)` each time it is iterated.
    missing
        Probability that a key is left out. If it hits all keys of a sample, one of them, drawn at random, is
        kept, so that at a probability of 1 each sample has one key.
    seed
        Random seed. Without one, it is drawn when the stream is made.

    Attributes
    ----------
    changes
        Those of the data set, if it is an evolving stream itself.

    Examples
    --------
    >>> from river.datasets import TrumpApproval
    >>> from river_pufe import datasets

    >>> dataset = datasets.CapriciousStream(TrumpApproval(), missing=0.4, seed=42)
    >>> for x, _ in dataset.take(3):
    ...     print(*x)
    ordinal_date gallup ipsos rasmussen you_gov
    ordinal_date gallup rasmussen you_gov
    gallup ipsos rasmussen you_gov

    References
    ----------
    [^1]: [He, Y., Wu, B., Wu, D., Beyazit, E., Chen, S. and Wu, X., 2019. Online learning from capricious
        data streams: a generative approach. International Joint Conference on Artificial Intelligence,
        28.](https://www.ijcai.org/proceedings/2019/346)
    [^2]: [Beyazit, E., Alagurajah, J. and Wu, X., 2019. Online learning from data streams with varying
        feature spaces. AAAI Conference on Artificial Intelligence,
        33.](https://doi.org/10.1609/aaai.v33i01.33013232)

    """

    def __init__(self, dataset: Source, missing: float = 0.3, seed: int | None = None) -> None:
        super().__init__(dataset, seed)
        require(0 <= missing <= 1, "missing", "between 0 and 1", missing)
        self.missing = missing

    def __iter__(self) -> Iterator[tuple[Features, Any]]:
        rng = self._rng("missing")
        for x, y in self.dataset:
            present = [name for name in x if rng.random() >= self.missing]
            if x and not present:
                present = [rng.choice(list(x))]
            yield {name: x[name] for name in present}, y
