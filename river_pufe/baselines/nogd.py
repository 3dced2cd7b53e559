"""What is old knowledge worth? A model that starts from scratch in each feature space."""

from __future__ import annotations

from .of_parts import OfParts, OfPartsClassifier, OfPartsRegressor, descent


class _NOGD(OfParts):
    def __init__(self, c: float = 1.0, radius: float | None = None) -> None:
        super().__init__(descent(c, radius, roles=("current",)))
        self.c = c
        self.radius = radius


class NOGDClassifier(_NOGD, OfPartsClassifier):
    """Naive online gradient descent: start from scratch in each feature space.

    **When to use it.** To see what old knowledge is worth: this is a linear classifier without any.

    Costs O(d) and the recovery that it does not use, see `FeatureRecovery`.

    Parameters
    ----------
    c
        Step sizes are $1 / (c \\sqrt t)$, as for `OnlineGradientDescent`.
    radius
        Radius of the ball on which weights are projected; None leaves them free.

    Examples
    --------
    >>> from river import evaluate, metrics
    >>> from river_pufe import baselines, datasets
    >>> stream = datasets.HiddenFactors(n_samples=600, seed=1)
    >>> evaluate.progressive_val_score(stream, baselines.NOGDClassifier(), metrics.Accuracy())
    Accuracy: 94.33%

    References
    ----------
    [^1]: [Hou, B.J., Zhang, L. and Zhou, Z.H., 2017. Learning with feature evolvable streams.
        NeurIPS.](https://papers.neurips.cc/paper/2017/hash/7634ea65a4e6d9041cfd3f7de18e334a-Abstract.html)

    """


class NOGDRegressor(_NOGD, OfPartsRegressor):
    """Naive online gradient descent: start from scratch in each feature space.

    **When to use it.** As `NOGDClassifier`, for numbers. There is no intercept, so the target should be centered.

    Parameters
    ----------
    c
        Step sizes are $1 / (c \\sqrt t)$, as for `OnlineGradientDescent`; large targets need a large c.
    radius
        Radius of the ball on which weights are projected; None leaves them free.

    Examples
    --------
    >>> from river import evaluate, metrics
    >>> from river_pufe import baselines, datasets
    >>> stream = datasets.HiddenFactors(regression=True, n_samples=600, seed=1)
    >>> evaluate.progressive_val_score(stream, baselines.NOGDRegressor(c=10), metrics.MAE())
    MAE: 0.07

    """
