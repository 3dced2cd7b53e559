"""What do the keys that are there tell of those that are not?"""

from __future__ import annotations

import math
import typing

import numpy as np
from scipy import special

from ..values import Array, Mask
from .keyed import KeyedClassifier
from .sparsity import truncate

_FARTHEST = 1e6


class OCDSClassifier(KeyedClassifier):
    """Online learning from capricious data streams: weights for all keys, and a graph that reconstructs absent ones.

    **When to use it.** To compare with it on capricious streams, in which any key may be missing at any time.

    An edge $G_{ij}$ says what key i tells of key j. With d keys present, all keys are reconstructed as
    $\\psi_j = \\frac{1}{d} \\sum_i G_{ij} x_i$, and the answer is $p\\, w_o x_o + (1 - p)\\, w_a \\psi_a$, with o the
    present and a the absent keys. The share is $p = 1 / (1 + e^{\\eta (L_o - L_a)})$, with the logistic losses, to the
    base 2, of both parts over the last T rounds (`block`) and $\\eta = 8 / \\sqrt{\\ln T}$. It is renewed every T.
    Weights and edges from present keys descend, with steps of $1 / \\sqrt t$, on

    $(y - w\\psi)^2 + \\alpha |x_o - \\psi_o|^2 + \\beta_1 |w|_1 + \\beta_2 w^\\top L w$

    with $L = \\text{diag}(G 1) - G$. Then all but the largest weights by absolute value are set to 0.

    The objective is recalled: the paper was not at hand. It is open how edges start: here a key tells of itself, with
    1, and of nothing else. (Public code of others draws them from 0 to 1, by which the order of the keys would matter,
    and with which it is worse.) Steps of $1 / \\sqrt t$ are too long for features that are not scaled. Costs O(d²) for
    d keys, in time and memory.

    Parameters
    ----------
    alpha
        Weight of the reconstruction of what is present.
    beta_1
        Weight of sparsity.
    beta_2
        Weight of the graph: keys that tell of each other have similar weights.
    block
        Rounds after which p is renewed, 2 or more.
    max_weights
        Number of weights that are not 0.
    max_keys
        Number of keys that are remembered, if samples have no more; those not seen for longest are forgotten first.
        None: eight times as many as the widest sample had.

    Attributes
    ----------
    weights
        Weights by key.

    Examples
    --------
    >>> from river import evaluate, metrics, preprocessing
    >>> from river.datasets import Phishing
    >>> from river_pufe import baselines, datasets
    >>> stream = datasets.CapriciousStream(Phishing(), missing=0.5, seed=1)
    >>> model = preprocessing.StandardScaler() | baselines.OCDSClassifier()
    >>> evaluate.progressive_val_score(stream, model, metrics.Accuracy())
    Accuracy: 77.04%

    References
    ----------
    [^1]: [He, Y., Wu, B., Wu, D., Beyazit, E., Chen, S. and Wu, X., 2019. Online learning from capricious
        data streams: a generative approach. International Joint Conference on Artificial Intelligence,
        28.](https://www.ijcai.org/proceedings/2019/346)

    """

    def __init__(
        self,
        alpha: float = 0.01,
        beta_1: float = 0.01,
        beta_2: float = 0.01,
        block: int = 16,
        max_weights: int = 150,
        max_keys: int | None = None,
    ) -> None:
        for name, value in (("alpha", alpha), ("beta_1", beta_1), ("beta_2", beta_2)):
            if not value >= 0:
                raise ValueError(f"{name} is a number, 0 or more, not {value!r}")
        if not block >= 2:
            raise ValueError(f"block is a number of rounds, 2 or more, not {block!r}")
        if not max_weights >= 1:
            raise ValueError(f"max_weights is a number of weights, 1 or more, not {max_weights!r}")
        super().__init__(max_keys)
        self.alpha = alpha
        self.beta_1 = beta_1
        self.beta_2 = beta_2
        self.block = block
        self.max_weights = max_weights
        self._graph: Array = np.zeros((0, 0))
        self._share = 0.5
        # Losses of the present and the reconstructed part in this block.
        self._part_losses = np.zeros(2)

    def _parts(self, row: Array, present: Mask) -> tuple[Array, Array]:
        """Scores of the present and of the reconstructed part, and the reconstruction of all keys."""
        psi: Array = row @ self._graph / max(int(present.sum()), 1)
        scores = np.array([self._weights.dot(row), self._weights.dot(np.where(present, 0.0, psi))])
        return scores, psi

    def _score(self, row: Array, present: Mask) -> float:
        scores, _ = self._parts(row, present)
        return float(self._share * scores[0] + (1.0 - self._share) * scores[1])

    def _learn(self, row: Array, present: Mask, n_new: int, y: typing.Any) -> None:
        y = self._signal(y)
        scores, psi = self._parts(row, present)
        self._learn_share(scores, y)
        graph, weights, d = self._graph, self._weights, max(int(present.sum()), 1)
        step = 1.0 / math.sqrt(self._rounds + 1)
        error = y - float(weights.dot(psi))
        laplacian = 2.0 * graph.sum(1) * weights - graph @ weights - weights @ graph
        slope = -2.0 * error * psi + self.beta_1 * np.sign(weights) + self.beta_2 * laplacian
        edges = error * weights + self.alpha * np.where(present, row - psi, 0.0)
        graph += (2.0 * step / d) * row[:, None] * edges
        np.clip(graph, -_FARTHEST, _FARTHEST, out=graph)
        weights -= step * slope
        np.clip(weights, -_FARTHEST, _FARTHEST, out=weights)
        truncate(weights, min(1.0, self.max_weights / len(weights)) if len(weights) else 1.0)

    def _learn_share(self, scores: Array, y: float) -> None:
        self._part_losses += np.logaddexp(0.0, -y * scores) / math.log(2)
        if (self._rounds + 1) % self.block == 0:
            rate = 8.0 / math.sqrt(math.log(self.block))
            self._share = float(special.expit(rate * (self._part_losses[1] - self._part_losses[0])))
            self._part_losses = np.zeros(2)

    def _extend(self, n: int) -> None:
        super()._extend(n)
        self._graph = np.pad(self._graph, (0, n))
        new = np.arange(len(self._graph) - n, len(self._graph))
        self._graph[new, new] = 1.0

    def _keep(self, mask: Mask) -> None:
        super()._keep(mask)
        self._graph = self._graph[np.ix_(mask, mask)]
