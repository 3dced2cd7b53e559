"""Does a model stay what it is over a very long stream: as small, as quick, as good, and as exact?

usage: python tests/test_long_run.py [--samples 1000000]

The stream has a change of the feature space every thousand samples, drift, outliers and gaps, and one space that comes
back each time a second one has come and gone. Beside the model plain computations go on, of what the model keeps by
small steps: the inverse in a second-order rule, and maps in units that change.
"""

from __future__ import annotations

import argparse
import gc
import pickle
import time

import numpy as np
import pytest

from river_pufe import PUFEClassifier, PUFERegressor, kernels
from river_pufe.experts.rules import Newton
from river_pufe.recovery.linear_map import Affine

PERIOD, OVERLAP, WIDTH, RANK = 1000, 40, 6, 3
#: How far the inverse of a rule may be from the direct one, relatively, for each round, and the round from which on it
#: is no more: rounding errors fade as the samples do, and where nothing fades, a rule comes to rest.
PER_ROUND, AT_REST = 1e-13, 1_000_000_000
#: How far a map may be from what it was in the first units: here they do not.
OF_MAPS = 1e-11


class Stream:
    """Samples without end, of which the latent factors are seen by sensors that are replaced."""

    def __init__(self, seed=0):
        self.rng = np.random.default_rng(seed)
        self.home = self.sensors()
        self.weights = self.rng.normal(size=RANK)
        self.spaces = [("home", self.home)]
        self.t = 0

    def sensors(self):
        return self.rng.normal(size=(RANK, WIDTH)) * 10 ** self.rng.uniform(-2, 2, WIDTH)

    def next(self):
        rng, age = self.rng, self.t % PERIOD
        if age == PERIOD - OVERLAP:
            number = self.t // PERIOD + 1
            self.spaces.append((f"space {number}", self.sensors()) if number % 2 else ("home", self.home))
        elif age == 0 and self.t:
            del self.spaces[0]
        self.weights += 0.003 * rng.normal(size=RANK)
        self.weights /= np.linalg.norm(self.weights)
        factors = rng.normal(size=RANK)
        x = {}
        for name, sensors in self.spaces:
            for i, value in enumerate((factors @ sensors).tolist()):
                if rng.random() > 0.03:
                    x[name, i] = value if rng.random() > 1e-4 else 1e6 * value
        self.t += 1
        return x, float(factors @ self.weights) + 0.1 * rng.normal()


def live(regression, samples, seed=0, told=None):
    """Error, milliseconds a sample and bytes of each tenth of a life; errors of it and of a fresh model at its end."""
    model = PUFERegressor() if regression else PUFEClassifier()
    fresh = model.clone()
    stream = Stream(seed)
    block = max(samples // 10, 1)
    # The fresh model sees one whole period before the last one, which is judged.
    starts = samples - 2 * PERIOD
    blocks, errors, fresh_errors, last_errors, seconds = [], [], [], [], 0.0
    for t in range(samples):
        x, target = stream.next()
        y = target if regression else target > 0
        before = time.process_time()
        answer = model.predict_one(x)
        model.learn_one(x, y)
        seconds += time.process_time() - before
        error = min(abs(answer - y), 3.0) if regression else float(answer is not None and answer != y)
        errors.append(error)
        if t >= starts:
            answer = fresh.predict_one(x)
            if t >= samples - PERIOD:
                fresh_errors.append(min(abs(answer - y), 3.0) if regression else float(answer != y))
                last_errors.append(error)
            fresh.learn_one(x, y)
        if (t + 1) % block == 0:
            gc.collect()
            blocks.append((float(np.mean(errors)), 1e3 * seconds / block, len(pickle.dumps(model))))
            errors, seconds = [], 0.0
            if told is not None:
                error, ms, n_bytes = blocks[-1]
                told(f"{t + 1:>12,} samples: error {error:.4f}, {ms:.3f} ms a sample, {n_bytes:,} bytes")
    return blocks, float(np.mean(last_errors)), float(np.mean(fresh_errors))


def rule_bound(rounds):
    return PER_ROUND * min(rounds, AT_REST)


def rule_drift(forgetting, rounds, seed=0, apart=1e-4, d=6):
    """How far the inverse of a rule is from that of the sum that it stands for, relatively, after some rounds."""
    rng = np.random.default_rng(seed)
    rule = Newton(forgetting=forgetting)
    rule.rearrange(np.full(d, -1))
    information = rule.prior * d**0.5 * np.eye(d)
    mixing, scale = rng.normal(size=(d, d)), np.where(np.arange(d) < d // 2, 1.0, apart)
    left = 1.0
    for _ in range(rounds):
        x, bend = mixing @ (scale * rng.normal(size=d)), rng.uniform(0.0, 0.25)
        rule.step(x[None], bend, 0)
        # Whether something faded is up to the rule.
        faded = rule.form.numbers[kernels.LEFT] != left
        left = rule.form.numbers[kernels.LEFT]
        seen = bend * np.outer(x, x)
        information = forgetting * information + seen if faded else information + seen / forgetting
    upper = rule.form.numbers[kernels.SCALE] * np.triu(rule.form.inverse)
    inverse, direct = upper + np.triu(upper, 1).T, np.linalg.inv(information)
    assert np.linalg.eigvalsh(inverse)[0] > 0
    return float(np.linalg.norm(inverse - direct) / np.linalg.norm(direct))


def map_drift(changes, seed=0, d=4):
    """How far a map that has followed so many changes of the units is from the one of the first units, relatively."""
    rng = np.random.default_rng(seed)
    recover = Affine(rng.normal(size=(2, d)), np.eye(d), rng.normal(size=2), np.ones(2))
    first = pickle.loads(pickle.dumps(recover))
    mean, deviation = np.zeros(d), np.ones(d)
    raw = rng.normal(size=d)
    for _ in range(changes):
        # Units that wander around their first ones, as those of a sensor do.
        new_mean, new_deviation = 0.3 * rng.normal(size=d), np.exp(0.2 * rng.normal(size=d))
        recover.rescale(deviation / new_deviation, (mean - new_mean) / new_deviation)
        mean, deviation = new_mean, new_deviation
    answer, right = recover((raw - mean) / deviation), first(raw)
    return float(np.linalg.norm(answer - right) / np.linalg.norm(right))


@pytest.mark.parametrize("regression", [False, True], ids=["classifier", "regressor"])
def test_a_long_life(regression):
    blocks, last, fresh = live(regression, 6 * PERIOD)
    sizes = [n_bytes for *_, n_bytes in blocks]
    assert max(sizes[5:]) <= 1.3 * max(sizes[:5])
    assert last <= 1.1 * fresh + 0.01


@pytest.mark.parametrize("apart", [0.0, 1e-4, 1.0])
@pytest.mark.parametrize("forgetting", [0.998, 1.0])
@pytest.mark.parametrize("rounds", [300, 3000])
def test_rounding_errors_of_a_rule_add_up_and_no_more(forgetting, rounds, apart):
    assert rule_drift(forgetting, rounds, apart=apart) <= rule_bound(rounds)


def test_maps_follow_changes_of_the_units():
    assert map_drift(3000) <= OF_MAPS


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    samples = options.samples // PERIOD * PERIOD
    for n in (samples // 100, samples // 10, samples):
        forgets, keeps = (rule_drift(forgetting, n, options.seed) for forgetting in (0.998, 1.0))
        maps = map_drift(n, options.seed)
        print(
            f"after {n:,} rounds off by: rule {keeps:.1e}, one that forgets {forgets:.1e}, map {maps:.1e}", flush=True
        )
        assert max(forgets, keeps) <= rule_bound(n)
        assert maps <= OF_MAPS
    for regression in (False, True):
        print("regressor" if regression else "classifier")
        blocks, last, fresh = live(regression, samples, options.seed, lambda line: print(line, flush=True))
        print(f"last {PERIOD:,} samples: error {last:.4f}, of a fresh model {fresh:.4f}", flush=True)
        assert blocks[-1][2] <= 1.3 * max(n_bytes for *_, n_bytes in blocks[:5])
        assert last <= 1.1 * fresh + 0.01


if __name__ == "__main__":
    main()
