"""How good are recovered rows alone? The model of the old features goes on with them."""

from __future__ import annotations

from .of_parts import OfParts, OfPartsClassifier, OfPartsRegressor, descent


class _ROGD(OfParts):
    def __init__(self, updating: bool = True, c: float = 1.0, radius: float | None = None) -> None:
        super().__init__(descent(c, radius, roles=("previous",), frozen=not updating))
        self.updating = updating
        self.c = c
        self.radius = radius


class ROGDClassifier(_ROGD, OfPartsClassifier):
    """Recovered online gradient descent: go on with the model of the old features, on what they would have read.

    **When to use it.** To see how good recovered rows are, with nothing else to help.

    An overlap that is not complete is filled with zeros before the map is learned. Where nothing can be recovered the
    current model predicts. Costs as much as `FeatureRecovery`.

    Parameters
    ----------
    updating
        Whether the old model goes on learning, on recovered rows (ROGD-u), or is left as it is (ROGD-f).
    c
        Step sizes are $1 / (c \\sqrt t)$, as for `OnlineGradientDescent`.
    radius
        Radius of the ball on which weights are projected; None leaves them free.

    Examples
    --------
    >>> from river import evaluate, metrics
    >>> from river_pufe import baselines, datasets
    >>> stream = datasets.HiddenFactors(n_samples=600, seed=1)
    >>> evaluate.progressive_val_score(stream, baselines.ROGDClassifier(), metrics.Accuracy())
    Accuracy: 92.83%

    References
    ----------
    [^1]: [Hou, B.J., Zhang, L. and Zhou, Z.H., 2017. Learning with feature evolvable streams.
        NeurIPS.](https://papers.neurips.cc/paper/2017/hash/7634ea65a4e6d9041cfd3f7de18e334a-Abstract.html)

    """


class ROGDRegressor(_ROGD, OfPartsRegressor):
    """Recovered online gradient descent: go on with the model of the old features, on what they would have read.

    **When to use it.** As `ROGDClassifier`, for numbers. There is no intercept, so the target should be centered.

    Parameters
    ----------
    updating
        Whether the old model goes on learning, on recovered rows (ROGD-u), or is left as it is (ROGD-f).
    c
        Step sizes are $1 / (c \\sqrt t)$, as for `OnlineGradientDescent`; large targets need a large c.
    radius
        Radius of the ball on which weights are projected; None leaves them free.

    Examples
    --------
    >>> from river import evaluate, metrics
    >>> from river_pufe import baselines, datasets
    >>> stream = datasets.HiddenFactors(regression=True, n_samples=600, seed=1)
    >>> evaluate.progressive_val_score(stream, baselines.ROGDRegressor(c=10), metrics.MAE())
    MAE: 0.16

    """
