"""What if the old model and the new one answer together, weighed by their losses?"""

from __future__ import annotations

from ..aggregation import Aggregator, FixedShare, Hedge
from .of_parts import OfPartsClassifier, OfPartsRegressor, Pair, descent


class _FESL(Pair):
    _name = "FESL"

    def __init__(
        self,
        strategy: str = "combination",
        horizon: int | None = None,
        c: float = 1.0,
        radius: float | None = None,
        seed: int | None = None,
    ) -> None:
        aggregator: Aggregator
        if strategy == "combination":
            aggregator = Hedge(horizon)
        elif strategy == "selection":
            aggregator = FixedShare(horizon, seed)
        else:
            raise ValueError(f"strategy is 'combination' or 'selection', not {strategy!r}")
        super().__init__(descent(c, radius, roles=("current", "previous")), aggregator)
        self.strategy = strategy
        self.horizon = horizon
        self.c = c
        self.radius = radius
        self.seed = seed


class FESLClassifier(_FESL, OfPartsClassifier):
    """Feature evolvable streaming learning: the recovered old model and the current one, weighed by losses.

    **When to use it.** To compare with FESL. It needs an overlap in which all features of both spaces are there; where
    they are not, it warns, and fills in zeros.

    Costs as much as `FeatureRecovery`.

    Parameters
    ----------
    strategy
        ``"combination"``: predictions are averaged, with exponential weights (FESL-c, `Hedge`). ``"selection"``: one of
        them is drawn, with weights of which a part is shared in each round (FESL-s, `FixedShare`).
    horizon
        Number of rounds in each period, from which the learning rate of the weights follows. None: the number of rounds
        so far stands in for it.
    c
        Step sizes are $1 / (c \\sqrt t)$, as for `OnlineGradientDescent`.
    radius
        Radius of the ball on which weights are projected; None leaves them free.
    seed
        Seed of the draws of the selection.

    Examples
    --------
    >>> from river import evaluate, metrics
    >>> from river_pufe import baselines, datasets
    >>> stream = datasets.HiddenFactors(datasets.Cycle(unpredictable=False), n_samples=600, seed=1)
    >>> evaluate.progressive_val_score(stream, baselines.FESLClassifier(), metrics.Accuracy())
    Accuracy: 96.50%
    >>> model = baselines.FESLClassifier(strategy="selection", seed=1)
    >>> evaluate.progressive_val_score(stream, model, metrics.Accuracy())
    Accuracy: 96.17%

    References
    ----------
    [^1]: [Hou, B.J., Zhang, L. and Zhou, Z.H., 2017. Learning with feature evolvable streams.
        NeurIPS.](https://papers.neurips.cc/paper/2017/hash/7634ea65a4e6d9041cfd3f7de18e334a-Abstract.html)

    """


class FESLRegressor(_FESL, OfPartsRegressor):
    """Feature evolvable streaming learning: the recovered old model and the current one, weighed by losses.

    **When to use it.** As `FESLClassifier`, for numbers. There is no intercept, so the target should be centered.

    Parameters
    ----------
    strategy
        ``"combination"`` (FESL-c) or ``"selection"`` (FESL-s), as for `FESLClassifier`.
    horizon
        Number of rounds in each period. None: the number of rounds so far stands in for it.
    c
        Step sizes are $1 / (c \\sqrt t)$, as for `OnlineGradientDescent`; large targets need a large c.
    radius
        Radius of the ball on which weights are projected; None leaves them free.
    seed
        Seed of the draws of the selection.

    Examples
    --------
    >>> from river import evaluate, metrics
    >>> from river_pufe import baselines, datasets
    >>> cycle = datasets.Cycle(unpredictable=False)
    >>> stream = datasets.HiddenFactors(cycle, regression=True, n_samples=600, seed=1)
    >>> evaluate.progressive_val_score(stream, baselines.FESLRegressor(c=10), metrics.MAE())
    MAE: 0.05

    """
