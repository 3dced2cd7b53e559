"""What if a passive-aggressive model simply took new keys in?"""

from __future__ import annotations

import typing

from ..values import Array, Mask
from .keyed import KeyedClassifier
from .sparsity import project, truncate


class OLSFClassifier(KeyedClassifier):
    """Online learning with streaming features: a sparse passive-aggressive classifier whose keys grow in number.

    **When to use it.** To compare with it on trapezoidal streams, in which keys are only ever added: it is the method
    for which they were invented.

    Keys that are not known have no vote. With the hinge loss $\\ell = \\max(0, 1 - y w x)$ of the others, all weights
    move by $\\tau y x$, those of new keys from 0. The variants differ in the step:

    - ``""``: $\\tau = \\ell / |x|^2$;
    - ``"I"``: $\\tau = \\min(C, \\ell / |x|^2)$;
    - ``"II"``: $\\tau = \\ell / (|x|^2 + 1 / 2C)$.

    Then the weights are shrunk to an L1 norm of $\\lambda$ (`radius`), and all but the largest by absolute value are
    set to 0. There is no intercept, and features should be scaled. What the paper leaves open: an absent key has no
    part in a round, and a sample of zeros moves nothing. Costs O(d) for d keys.

    Parameters
    ----------
    variant
        ``""``, ``"I"`` or ``"II"``.
    C
        Aggressiveness of the variants I and II. Towards 0 they learn nothing; large values make them the plain one.
    B
        Share of the weights that stay; 1 keeps all.
    radius
        The largest L1 norm of the weights.
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
    >>> stream = datasets.TrapezoidalStream(Phishing(), seed=1)
    >>> for variant in ("", "I", "II"):
    ...     model = preprocessing.StandardScaler() | baselines.OLSFClassifier(variant)
    ...     print(evaluate.progressive_val_score(stream, model, metrics.Accuracy()))
    Accuracy: 76.56%
    Accuracy: 83.84%
    Accuracy: 81.92%

    References
    ----------
    [^1]: [Zhang, Q., Zhang, P., Long, G., Ding, W., Zhang, C. and Wu, X., 2016. Online learning from
        trapezoidal data streams. IEEE Transactions on Knowledge and Data Engineering,
        28(10).](https://doi.org/10.1109/TKDE.2016.2563424)

    """

    def __init__(
        self, variant: str = "", C: float = 0.1, B: float = 1.0, radius: float = 30.0, max_keys: int | None = None
    ) -> None:
        if variant not in ("", "I", "II"):
            raise ValueError(f"variant is '', 'I' or 'II', not {variant!r}")
        for name, value in (("C", C), ("radius", radius)):
            if not value > 0:
                raise ValueError(f"{name} is a number above 0, not {value!r}")
        if not 0 < B <= 1:
            raise ValueError(f"B is a share in (0, 1], not {B!r}")
        super().__init__(max_keys)
        self.variant = variant
        self.C = C
        self.B = B
        self.radius = radius

    def _score(self, row: Array, present: Mask) -> float:
        return float(self._weights.dot(row))

    def _learn(self, row: Array, present: Mask, n_new: int, y: typing.Any) -> None:
        y = self._signal(y)
        loss = max(0.0, 1.0 - y * float(self._weights.dot(row)))
        square = float(row.dot(row))
        if loss > 0.0 and square > 0.0:
            self._weights += self._step(loss, square) * y * row
        project(self._weights, self.radius)
        truncate(self._weights, self.B)

    def _step(self, loss: float, square: float) -> float:
        if self.variant == "II":
            return loss / (square + 0.5 / self.C)
        step = loss / square
        return min(self.C, step) if self.variant == "I" else step
