"""What does it say about a sample that just these keys are there?"""

from __future__ import annotations

import typing

import numpy as np
from scipy import special

from ..values import Array, Mask
from .keyed import KeyedClassifier
from .sparsity import project, truncate


class OLVFClassifier(KeyedClassifier):
    """Online learning from varying features: a classifier of samples, and one of the sets of keys that they have.

    **When to use it.** To compare with it on haphazard streams, in which each sample may have other keys.

    The classifier of samples, w, answers with the keys that it knows: $f = w_s x_s$. The classifier of key sets, v,
    says how well they let w be right: with r = 1 for the keys of a set, the confidence in it is $1 / (1 + e^{-v r})$. A
    sample has two sets of keys: those that w knew before, with confidence $p_w$, and its own, with confidence $p_x$.
    With the hinge loss ℓ of f and $\\tau = \\min(C, \\ell / |x|^2)$, the weights of known keys move by
    $p_w \\tau y x_s$, those of new ones by $p_x \\tau y x_n$. Then v takes a passive-aggressive step, of at most
    $\\bar C$, on the logistic loss of the sample's keys, with the target 1 if f was right and -1 if it was not. Last, w
    is shrunk so that $|v w|_1 \\leq \\lambda$ (`radius`), and all but the largest weights by absolute value are set
    to 0.

    The formulas are recalled: the paper was not at hand, and in the public code of others the signs differ. There is no
    intercept, and features should be scaled. Costs O(d) for d keys.

    Parameters
    ----------
    C
        The longest step of w. Towards 0 it learns nothing.
    C_bar
        The longest step of v. At 0 all confidences stay at a half.
    B
        Share of the weights that stay; 1 keeps all.
    radius
        The largest L1 norm of the weights of w, each times that of v.
    max_keys
        Number of keys that are remembered, if samples have no more; those not seen for longest are forgotten first.
        None: eight times as many as the widest sample had.

    Attributes
    ----------
    weights
        Weights of w by key.

    Examples
    --------
    >>> from river import evaluate, metrics, preprocessing
    >>> from river.datasets import Phishing
    >>> from river_pufe import baselines, datasets
    >>> stream = datasets.CapriciousStream(Phishing(), missing=0.5, seed=1)
    >>> model = preprocessing.StandardScaler() | baselines.OLVFClassifier()
    >>> evaluate.progressive_val_score(stream, model, metrics.Accuracy())
    Accuracy: 78.48%

    References
    ----------
    [^1]: [Beyazit, E., Alagurajah, J. and Wu, X., 2019. Online learning from data streams with varying
        feature spaces. AAAI Conference on Artificial Intelligence,
        33.](https://doi.org/10.1609/aaai.v33i01.33013232)

    """

    def __init__(
        self,
        C: float = 0.01,
        C_bar: float = 0.01,
        B: float = 1.0,
        radius: float = 30.0,
        max_keys: int | None = None,
    ) -> None:
        for name, value in (("C", C), ("radius", radius)):
            if not value > 0:
                raise ValueError(f"{name} is a number above 0, not {value!r}")
        if not C_bar >= 0:
            raise ValueError(f"C_bar is a number, 0 or more, not {C_bar!r}")
        if not 0 < B <= 1:
            raise ValueError(f"B is a share in (0, 1], not {B!r}")
        super().__init__(max_keys)
        self.C = C
        self.C_bar = C_bar
        self.B = B
        self.radius = radius
        self._set_weights: Array = np.zeros(0)

    def _score(self, row: Array, present: Mask) -> float:
        return float(self._weights.dot(row))

    def _learn(self, row: Array, present: Mask, n_new: int, y: typing.Any) -> None:
        y = self._signal(y)
        score = float(self._weights.dot(row))
        known = len(row) - n_new
        own = float(self._set_weights[present].sum())
        confidence = special.expit([float(self._set_weights[:known].sum()), own])
        self._learn_set(present, own, 1.0 if y * score > 0 else -1.0)
        square = float(row.dot(row))
        if square > 0.0:
            step = min(self.C, max(0.0, 1.0 - y * score) / square)
            self._weights[:known] += confidence[0] * step * y * row[:known]
            self._weights[known:] += confidence[1] * step * y * row[known:]
        project(self._weights, self.radius, self._set_weights)
        truncate(self._weights, self.B)

    def _learn_set(self, present: Mask, score: float, target: float) -> None:
        """One step of v on the logistic loss of a set of keys."""
        n = int(present.sum())
        slope = float(special.expit(-target * score))
        if n == 0 or slope == 0.0:
            return
        loss = float(np.logaddexp(0.0, -target * score))
        step = min(self.C_bar, loss / (n * slope * slope))
        self._set_weights[present] += step * target * slope

    def _extend(self, n: int) -> None:
        super()._extend(n)
        self._set_weights = np.append(self._set_weights, np.zeros(n))

    def _keep(self, mask: Mask) -> None:
        super()._keep(mask)
        self._set_weights = self._set_weights[mask]
