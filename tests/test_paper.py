"""Do the estimators with the paper's parts do what Algorithms 1 to 4 say, round by round?

The first half of this file is the paper in plain NumPy, with whole matrices where the estimators see one dict after
another: A and M are the previous features before and in the overlap (M with NaN where an entry is absent), N and B the
current ones in and after it. What the paper leaves open is marked there.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pytest

import river_pufe

Array = npt.NDArray[np.float64]


@dataclasses.dataclass
class Loss:
    """What a task loses: its gradient by the prediction for the learners, and a loss in [0, 1] for the weights."""

    gradient: Callable[[float, float], float]
    bounded: Callable[[float, float], float]


def sigmoid(margin: Array) -> Array:
    return 0.5 * (1.0 + np.tanh(0.5 * margin))


def logistic(targets: Array) -> list[Loss]:
    # Open in the paper: Theorem 2 needs losses in [0, 1], which the logistic loss is not. It is cut.
    loss = Loss(
        gradient=lambda p, y: -y * float(sigmoid(np.array(-y * p))),
        bounded=lambda p, y: min(float(np.logaddexp(0.0, -y * p)), 1.0),
    )
    return [loss] * len(targets)


def squared(targets: Array) -> list[Loss]:
    # Open in the paper, for the same reason: the unit of the error is the range of the targets seen so far.
    ranges = np.maximum.accumulate(targets) - np.minimum.accumulate(targets)
    return [
        Loss(
            gradient=lambda p, y: -2.0 * (y - p),
            bounded=lambda p, y, unit=unit or 1.0: min((y - p) ** 2 / unit**2, 1.0),
        )
        for unit in ranges
    ]


class Learner:
    """Online gradient descent on w·x: equations (3), (8) and (10)."""

    def __init__(self, d: int, c: float, radius: float | None):
        # Open in the paper: it starts at random. Zeros do not depend on the order of the features.
        self.w, self.c, self.radius, self.t = np.zeros(d), c, radius, 0

    def update(self, x: Array, y: float, loss: Loss) -> None:
        self.t += 1
        self.w = self.w - loss.gradient(float(self.w @ x), y) * x / (self.c * math.sqrt(self.t))
        if self.radius is not None:
            self.w = self.w / max(1.0, float(np.linalg.norm(self.w)) / self.radius)


def row_space(A: Array) -> Array:
    """Line 2 of Algorithm 3, with the rank counted."""
    _, strengths, right = np.linalg.svd(A, full_matrices=False)
    return right[strengths > 1e-7 * strengths[0]].T


def least_squares(X: Array, Y: Array) -> Array:
    """P with X P ≈ Y, equation (7); the smallest where X does not determine it."""
    return np.linalg.pinv(X, rtol=1e-9) @ Y


def potential(R: float, S: float) -> float:
    return math.exp(max(0.0, R) ** 2 / (3.0 * S))


def weight(R: float, S: float) -> float:
    return 0.5 * (potential(R + 1, S + 1) - potential(R - 1, S + 1))


@dataclasses.dataclass
class Transcript:
    """What Algorithms 1 to 4 say: a prediction for each round, and the weights after the overlap."""

    predictions: list[float] = dataclasses.field(default_factory=list)
    weights: list[Array] = dataclasses.field(default_factory=list)
    n_completed: int = 0
    n_discarded: int = 0


def algorithms(A: Array, M: Array, N: Array, B: Array, y: Array, losses: list[Loss], c: float, radius: float | None):
    script = Transcript()
    rounds = iter(zip(y.tolist(), losses))

    # Algorithm 1: learn a model from A.
    previous = Learner(A.shape[1], c, radius)
    for x, (target, loss) in zip(A, rounds):
        script.predictions.append(float(previous.w @ x))
        previous.update(x, target, loss)

    # Algorithm 3: complete M; Algorithm 2: learn the map. Nobody learns from a target.
    V = row_space(A)
    used: list[Array] = []
    for n_rounds, (m, x, _) in enumerate(zip(M, N, rounds)):
        seen = ~np.isnan(m)
        completed = m.copy()
        if np.count_nonzero(seen) >= V.shape[1]:
            # Line 5, for every row: also one without gaps, which may be off the row space.
            mapped = V @ np.linalg.inv(V[seen].T @ V[seen]) @ V[seen].T @ m[seen]
            # Open in the paper: what is predicted for the row. What is observed is taken as it is.
            completed[~seen] = mapped[~seen]
            used.append(np.append(mapped, x))
            script.n_completed += not seen.all()
        else:
            # The row is discarded for the map. Open in the paper: what is predicted for it. Here the absent entries
            # follow from all others by least squares on what the map has seen: A in the first round of the overlap,
            # which nobody can know to be one, and then the rows of the overlap. They are 0 if that is nothing.
            rows = A if n_rounds == 0 else np.array(used or np.zeros((1, A.shape[1] + N.shape[1])))
            known = np.append(m, x)[: rows.shape[1]]
            given = ~np.isnan(known)
            completed[~seen] = known[given] @ least_squares(rows[:, given], rows[:, ~given])
            script.n_discarded += 1
        script.predictions.append(float(previous.w @ completed))
    P = least_squares(np.array(used)[:, A.shape[1] :], np.array(used)[:, : A.shape[1]]) if used else None

    # Algorithm 4: prediction in the current feature space. Without a map the old model sleeps.
    previous.t = 0
    current = Learner(B.shape[1], c, radius)
    R, S = np.zeros(2), np.zeros(2)
    awake = np.array([P is not None, True])
    for x, (target, loss) in zip(B, rounds):
        recovered = x @ P if P is not None else np.zeros(A.shape[1])
        alpha = awake * np.array([weight(*pair) for pair in zip(R.tolist(), S.tolist())])
        # Open in the paper: both may be 0. Then those that are awake count alike.
        alpha = alpha / alpha.sum() if alpha.sum() > 0 else awake / awake.sum()
        p = np.array([previous.w @ recovered, current.w @ x])
        script.weights.append(alpha)
        script.predictions.append(float(alpha @ p))
        regret = awake * (loss.bounded(float(alpha @ p), target) - np.array([loss.bounded(q, target) for q in p]))
        R, S = R + regret, S + np.abs(regret)
        previous.update(recovered, target, loss)
        current.update(x, target, loss)
    return script


# Streams, and the estimators on them.


@dataclasses.dataclass
class Stream:
    A: Array
    M: Array
    N: Array
    B: Array
    target: Array
    previous: Array

    def dicts(self):
        for a in self.A:
            yield {f"p{j}": v for j, v in enumerate(a.tolist())}
        for m, x in zip(self.M.tolist(), self.N.tolist()):
            yield {f"p{j}": v for j, v in enumerate(m) if v == v} | {f"c{j}": v for j, v in enumerate(x)}
        for x in self.B:
            yield {f"c{j}": v for j, v in enumerate(x.tolist())}


def make_stream(
    seed: int, rounds: tuple[int, int, int], d1: int, d2: int, rank: int, least: int, noise: float = 0.0
) -> Stream:
    """Both spaces read the same `rank` factors; of the old features `least` last until the end of the overlap.

    With `noise` the rows of the overlap are off the row space.
    """
    rng = np.random.default_rng(seed)
    n = sum(rounds)
    factors = rng.normal(size=(n, rank))
    previous = factors @ rng.normal(size=(rank, d1)) / math.sqrt(rank * d1)
    current = factors @ rng.normal(size=(rank, d2)) / math.sqrt(rank * d2)
    target = factors @ rng.normal(size=rank) / math.sqrt(rank)
    start, end = rounds[0], rounds[0] + rounds[1]
    previous[start:end] += noise * rng.normal(size=(rounds[1], d1))
    M, order = previous[start:end].copy(), rng.permutation(d1)
    for i, m in enumerate(M):
        m[order[max(least, math.ceil(d1 * (1 - i / rounds[1]))) :]] = math.nan
    return Stream(previous[:start], M, current[start:end], current[end:], target, previous)


#: Previous and current features, rank of what they read, and how many of the old ones last until the overlap ends.
SPACES = {
    "low rank, predictable": {"d1": 8, "d2": 3, "rank": 3, "least": 8},
    "low rank, all rows completed": {"d1": 8, "d2": 3, "rank": 3, "least": 3},
    "low rank, some rows discarded": {"d1": 8, "d2": 5, "rank": 3, "least": 1},
    "off the row space, predictable": {"d1": 8, "d2": 3, "rank": 3, "least": 8, "noise": 0.3},
    "off the row space, all rows completed": {"d1": 8, "d2": 3, "rank": 3, "least": 3, "noise": 0.3},
    "full rank, predictable": {"d1": 5, "d2": 4, "rank": 9, "least": 5},
    "full rank, incomplete rows discarded": {"d1": 5, "d2": 4, "rank": 9, "least": 1},
    "more current features than rows": {"d1": 6, "d2": 14, "rank": 20, "least": 1},
}
ROUNDS = [(25, 9, 25), (7, 5, 15)]
SETTINGS = [(1.0, None), (10.0, None), (0.5, 0.4)]
CASES = [
    pytest.param(make_stream(seed, rounds, **space), c, radius, id=f"{name}:{rounds[0]} rounds:c={c}:radius={radius}")
    for (name, space), (seed, rounds), (c, radius) in itertools.product(SPACES.items(), enumerate(ROUNDS), SETTINGS)
]


def play(model, stream, targets, predict):
    predictions, weights = [], []
    for t, (x, y) in enumerate(zip(stream.dicts(), targets.tolist())):
        predictions.append(predict(model, x))
        model.learn_one(x, y)
        if t >= len(stream.A) + len(stream.M):
            weights.append(list(model.expert_weights.values()))
    return np.array(predictions), np.array(weights)


def assert_same(played, script, link=lambda predictions: predictions):
    predictions, weights = played
    np.testing.assert_allclose(predictions, link(np.array(script.predictions)), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(weights, np.array(script.weights), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(("stream", "c", "radius"), CASES)
def test_classifier_is_the_paper(stream, c, radius):
    labels = stream.target > 0
    played = play(
        river_pufe.PUFEClassifier.paper(c, radius), stream, labels, lambda model, x: model.predict_proba_one(x)[True]
    )
    signs = np.where(labels, 1.0, -1.0)
    script = algorithms(stream.A, stream.M, stream.N, stream.B, signs, logistic(signs), c, radius)
    assert_same(played, script, link=sigmoid)


@pytest.mark.parametrize(("stream", "c", "radius"), CASES)
def test_regressor_is_the_paper(stream, c, radius):
    y = 3.0 + 2.0 * stream.target
    played = play(river_pufe.PUFERegressor.paper(c, radius), stream, y, lambda model, x: model.predict_one(x))
    script = algorithms(stream.A, stream.M, stream.N, stream.B, y, squared(y), c, radius)
    assert_same(played, script)


@pytest.mark.parametrize(
    ("name", "some_completed", "some_discarded"),
    [
        ("low rank, predictable", False, False),
        ("low rank, all rows completed", True, False),
        ("low rank, some rows discarded", True, True),
        ("off the row space, predictable", False, False),
        ("off the row space, all rows completed", True, False),
        ("full rank, predictable", False, False),
        ("full rank, incomplete rows discarded", False, True),
        ("more current features than rows", False, True),
    ],
)
def test_streams_are_what_they_are_called(name, some_completed, some_discarded):
    stream = make_stream(0, ROUNDS[0], **SPACES[name])
    script = algorithms(
        stream.A, stream.M, stream.N, stream.B, stream.target, squared(stream.target), c=1.0, radius=None
    )
    assert (script.n_completed > 0, script.n_discarded > 0) == (some_completed, some_discarded)


@pytest.mark.parametrize("seed", range(3))
def test_without_a_row_for_the_map_the_old_model_sleeps(seed):
    stream = make_stream(seed, (30, 6, 30), d1=5, d2=4, rank=9, least=1)
    stream.M[:, seed] = math.nan
    stream.M[:, seed + 1] = 1.0
    labels = stream.target > 0
    model = river_pufe.PUFEClassifier.paper()
    played = play(model, stream, labels, lambda model, x: model.predict_proba_one(x)[True])
    signs = np.where(labels, 1.0, -1.0)
    script = algorithms(stream.A, stream.M, stream.N, stream.B, signs, logistic(signs), 1.0, None)
    assert_same(played, script, link=sigmoid)
    assert list(model.expert_weights.values()) == [0.0, 1.0]


@pytest.mark.parametrize("seed", range(5))
def test_recovery_is_exact_where_the_rows_have_low_rank(seed):
    stream = make_stream(seed, (30, 12, 20), d1=9, d2=4, rank=4, least=4)
    recovery = river_pufe.PUFERegressor.paper().recovery.clone()
    for t, x in enumerate(stream.dicts()):
        truth = {f"p{j}": v for j, v in enumerate(stream.previous[t].tolist())}
        known = recovery.transform_one(x) if t >= len(stream.A) else truth
        assert {key: known[key] for key in truth} == pytest.approx(truth, rel=1e-9, abs=1e-9)
        recovery.learn_one(x)
