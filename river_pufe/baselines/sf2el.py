"""What if labels are rare, and memory is short?"""

from __future__ import annotations

import math
import random
import typing

import numpy as np

from ..aggregation import Hedge
from ..experts.learners import Features, Learner
from ..experts.per_space import SpaceExperts
from ..guard import guarded
from ..recovery.reading import Reading
from ..tasks.task import Task
from ..values import Array, Key, Sample
from .of_parts import OfPartsClassifier, OfPartsRegressor, Pair

_LARGEST = 1e50


class ManifoldLearner(Learner):
    """A linear model that answers alike where samples are alike, labelled or not.

    **When to use it.** Where labels are rare; it is the learner of SF²EL.

    In each round $f(x) = w x$ descends, with a step of $1 / (c \\sqrt t)$, on

    $\\delta_t \\ell(f(x_t), y_t) + \\frac{\\lambda_1}{2} |w|^2
    + \\frac{\\lambda_2}{2} \\frac{t - 1}{B} \\sum_i k(x_i, x_t) (f(x_i) - f(x_t))^2$

    over the B samples in a buffer, with $k(x, x') = \\exp(-|x - x'|^2 / 2\\sigma^2)$. $\\delta_t$ is the number of
    samples for each label so far where the sample has a label, else 0. The buffer is filled by reservoir sampling: all
    samples so far are in it with the same probability. Costs O(Bd).

    Parameters
    ----------
    c
        Steps are $1 / (c \\sqrt t)$, t counted from the start of the period.
    ridge
        $\\lambda_1$, weight of the squared norm.
    smoothness
        $\\lambda_2$, weight of the differences between answers for similar samples.
    width
        σ. None: the root of the number of features, which suits standardized ones.
    budget
        Number of samples that the buffer holds.
    seed
        Seed of the draws.

    """

    def __init__(
        self,
        c: float = 1.0,
        ridge: float = 0.01,
        smoothness: float = 1e-4,
        width: float | None = None,
        budget: int = 100,
        seed: int | None = None,
    ) -> None:
        if not c > 0:
            raise ValueError(f"c is a number above 0, not {c!r}")
        for name, value in (("ridge", ridge), ("smoothness", smoothness)):
            if not value >= 0:
                raise ValueError(f"{name} is a number, 0 or more, not {value!r}")
        if width is not None and not width > 0:
            raise ValueError(f"width is a number above 0, or None, not {width!r}")
        if not budget >= 1:
            raise ValueError(f"budget is a number of samples, 1 or more, not {budget!r}")
        self.c = c
        self.ridge = ridge
        self.smoothness = smoothness
        self.width = width
        self.budget = budget
        self.seed = seed
        self._rng = random.Random(seed)
        self._slots: dict[Key, int] = {}
        self._weights: Array = np.zeros((0, 0))
        self._buffer: Array = np.zeros((0, 0))
        self._n_seen = self._n_labelled = self._t = 0

    def _row(self, x: Features) -> Array:
        row = np.zeros(len(self._slots))
        for key, value in x.items():
            if key in self._slots:
                row[self._slots[key]] = min(max(value, -_LARGEST), _LARGEST)
        return row

    def scores(self, x: Features, task: Task) -> Array:
        scores = np.zeros(task.n_columns)
        scores[: self._weights.shape[1]] = self._row(x) @ self._weights
        return scores

    def learn(self, x: Features, y: typing.Any, w: float, task: Task) -> None:
        error = task.errors(task.predictions(self.scores(x, task)[None]), task.target(y))[0]
        self._n_labelled += 1
        share = (self._n_seen + 1) / self._n_labelled
        self._step(x, w * share * error.clip(-_LARGEST, _LARGEST))

    def observe(self, x: Features) -> None:
        """Learn from a sample without a label."""
        self._step(x, np.zeros(self._weights.shape[1]))

    def _step(self, x: Features, pull: Array) -> None:
        self._make_room(x, len(pull))
        self._n_seen += 1
        self._t += 1
        row = self._row(x)
        step = 1.0 / (self.c * math.sqrt(self._t))
        slope = self.ridge * self._weights + self._roughness(row) - row[:, None] * pull
        self._weights -= step * slope
        np.clip(self._weights, -_LARGEST, _LARGEST, out=self._weights)
        if len(self._buffer) < self.budget:
            self._buffer = np.concatenate((self._buffer, row[None]))
        elif (place := self._rng.randrange(self._n_seen)) < self.budget:
            self._buffer[place] = row

    def _roughness(self, row: Array) -> Array:
        """The slope of the differences between a row and those in the buffer."""
        apart = self._buffer - row
        square = max(len(row), 1) if self.width is None else self.width * self.width
        similar = np.exp(-0.5 * np.square(apart).sum(1) / square)
        weight = self.smoothness * (self._n_seen - 1) / max(len(apart), 1)
        slope: Array = weight * (apart * similar[:, None]).T @ (apart @ self._weights)
        return slope

    def _make_room(self, x: Features, n_columns: int) -> None:
        unknown = [key for key in x if key not in self._slots]
        more = max(n_columns - self._weights.shape[1], 0)
        if unknown or more:
            for key in unknown:
                self._slots[key] = len(self._slots)
            self._buffer = np.pad(self._buffer, [(0, 0), (0, len(unknown))])
            self._weights = np.pad(self._weights, [(0, len(unknown)), (0, more)])

    def restart(self) -> None:
        self._t = 0


class ManifoldExperts(SpaceExperts):
    """Learners of two spaces that learn from samples without labels as well."""

    def observe(self, reading: Reading) -> None:
        rows = self._rows(reading)
        _, learning = self._roles_now(reading, rows)
        for number in learning:
            typing.cast(ManifoldLearner, self._learners[number]).observe(rows[number])


class _SF2EL(Pair):
    _name = "SF2EL"

    def __init__(
        self,
        horizon: int | None = None,
        c: float = 1.0,
        ridge: float = 0.01,
        smoothness: float = 1e-4,
        width: float | None = None,
        budget: int = 100,
        seed: int | None = None,
    ) -> None:
        learner = ManifoldLearner(c, ridge, smoothness, width, budget, seed)
        experts = ManifoldExperts(learner, roles=("current", "previous"), in_overlap=False)
        super().__init__(experts, Hedge(horizon))
        self.horizon = horizon
        self.c = c
        self.ridge = ridge
        self.smoothness = smoothness
        self.width = width
        self.budget = budget
        self.seed = seed

    @guarded
    def observe_one(self, x: Sample) -> None:
        """Learn from the features of a sample whose target is not known.

        Raises
        ------
        ValueError
            If a value is not a finite number. The model is as it was then.

        """
        reading, _ = self._follow(x)
        typing.cast(ManifoldExperts, self._experts).observe(reading)
        self._recovery.update(reading)


class SF2ELClassifier(_SF2EL, OfPartsClassifier):
    """Storage-fit feature-evolvable streaming learning: FESL for rare labels, with a buffer of samples.

    **When to use it.** To compare with it where labels are rare: `learn_one` takes samples with a label, `observe_one`
    those without.

    As in `FESLClassifier`, the model of the old features, on recovered rows, and that of the current ones are mixed by
    exponential weights, which samples without labels do not move. Both are a `ManifoldLearner`, which learns from each
    sample, labelled or not, that it should answer much as it does for similar samples in a buffer of a fixed size.

    The formulas are recalled: the paper was not at hand. The kernel of its models is open; here they are linear, as
    those of FESL, so that a label has its effect whether or not the sample is kept. It needs an overlap in which all
    features of both spaces are there; where they are not, it warns, and fills in zeros. There is no intercept, and
    features should be scaled. Costs O(Bd) for a buffer of B, and as much as `FeatureRecovery`.

    Parameters
    ----------
    horizon
        Number of rounds in each period, from which the learning rate of the weights follows. None: the number of rounds
        so far stands in for it.
    c
        Step sizes are $1 / (c \\sqrt t)$. Towards 0 they explode; large values learn nothing.
    ridge
        Weight of the squared norm of a model.
    smoothness
        Weight of the differences between answers for similar samples. At 0 samples without labels teach nothing.
    width
        Width of the kernel that says what is similar. None: the root of the number of features, which suits
        standardized ones.
    budget
        Number of samples that each model keeps.
    seed
        Seed of the draws of which samples are kept.

    Examples
    --------
    >>> from river_pufe import baselines, datasets
    >>> stream = datasets.HiddenFactors(datasets.Cycle(unpredictable=False), n_samples=600, seed=1)
    >>> model = baselines.SF2ELClassifier(seed=1)
    >>> right = []
    >>> for t, (x, y) in enumerate(stream):
    ...     right.append(model.predict_one(x) == y)
    ...     if t % 10 == 0:
    ...         model.learn_one(x, y)
    ...     else:
    ...         model.observe_one(x)
    >>> sum(right) / len(right)
    0.825

    References
    ----------
    [^1]: [Hou, B.J., Yan, Y.H., Zhao, P. and Zhou, Z.H., 2021. Storage fit learning with feature evolvable streams.
        AAAI Conference on Artificial Intelligence, 35(9).](https://arxiv.org/abs/2007.11280)

    """


class SF2ELRegressor(_SF2EL, OfPartsRegressor):
    """Storage-fit feature-evolvable streaming learning: FESL for rare labels, with a buffer of samples.

    **When to use it.** As `SF2ELClassifier`, for numbers. There is no intercept, so the target should be centered.

    Parameters
    ----------
    horizon
        Number of rounds in each period. None: the number of rounds so far stands in for it.
    c
        Step sizes are $1 / (c \\sqrt t)$; large targets need a large c.
    ridge
        Weight of the squared norm of a model.
    smoothness
        Weight of the differences between answers for similar samples. At 0 samples without labels teach nothing.
    width
        Width of the kernel that says what is similar. None: the root of the number of features, which suits
        standardized ones.
    budget
        Number of samples that each model keeps.
    seed
        Seed of the draws of which samples are kept.

    Examples
    --------
    >>> from river import evaluate, metrics
    >>> from river_pufe import baselines, datasets
    >>> cycle = datasets.Cycle(unpredictable=False)
    >>> stream = datasets.HiddenFactors(cycle, regression=True, n_samples=600, seed=1)
    >>> evaluate.progressive_val_score(stream, baselines.SF2ELRegressor(c=10, seed=1), metrics.MAE())
    MAE: 0.06

    References
    ----------
    [^1]: [Hou, B.J., Yan, Y.H., Zhao, P. and Zhou, Z.H., 2021. Storage fit learning with feature evolvable streams.
        AAAI Conference on Artificial Intelligence, 35(9).](https://arxiv.org/abs/2007.11280)

    """
