"""Do the laws hold over any life: keys born, lost and returning, values and labels of every kind, copies in between?

usage: python tests/test_lives.py [--samples 100000]

As a test it plays a few short lives. As a command it goes on until so many samples were learned.
"""

from __future__ import annotations

import argparse
import copy
import decimal
import fractions
import math
import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from river_pufe import FeatureRecovery, PUFEClassifier, PUFERegressor, baselines

MODELS = {
    "classifier": PUFEClassifier,
    "regressor": PUFERegressor,
    "recovery": FeatureRecovery,
    "zero": lambda: PUFEClassifier(absent="zero"),
    "paper classifier": PUFEClassifier.paper,
    "paper regressor": PUFERegressor.paper,
    "FESL": lambda: baselines.FESLRegressor(strategy="selection", seed=1),
    "ROGD": baselines.ROGDClassifier,
}

keys = st.sampled_from(["a", "b", "c", "d", 1, ("e", 2), None])
numbers = st.one_of(
    st.floats(-10, 10),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from(
        [0.0, -0.0, 5e-324, -1e-309, 1e150, -1e308, True, 3, 10**400, np.float32(0.1), np.int8(-3), np.bool_(True)]
    ),
    st.sampled_from([decimal.Decimal("0.1"), fractions.Fraction(1, 3)]),
)
missing = st.sampled_from([None, math.nan, pd.NA, pd.NaT, np.datetime64("NaT", "s"), decimal.Decimal("NaN")])
samples = st.dictionaries(keys, st.one_of(numbers, numbers, numbers, missing), max_size=7)
wrong = st.sampled_from(["x", "", math.inf, -math.inf, [1.0], {}, 1j, np.timedelta64(1, "s"), decimal.Decimal("inf")])
labels = st.sampled_from([True, False, "red", 0, 1, 2.5, ("t", 1), np.str_("blue")])
targets = st.one_of(st.floats(-5, 5), st.floats(allow_nan=False, allow_infinity=False), st.sampled_from([3, True]))
wrong_targets = st.sampled_from([None, math.nan, pd.NA, [1]])


class Lives(RuleBasedStateMachine):
    """A model and its twin, which has been through every way of copying."""

    n_samples = 0

    @initialize(name=st.sampled_from(sorted(MODELS)))
    def born(self, name):
        self.model = MODELS[name]()
        self.twin = self.model.clone()
        self.latest = {}
        self.kind = (
            "recovery" if name == "recovery" else "classes" if hasattr(self.model, "predict_proba_one") else "numbers"
        )

    def both(self, call):
        for model in (self.model, self.twin):
            with warnings.catch_warnings():
                # What is told to users, about one-off keys and overlaps with gaps; anything else is a fault.
                warnings.simplefilter("ignore", UserWarning)
                call(model)

    @rule(x=samples, data=st.data(), w=st.sampled_from([1.0, 1.0, 0.0, 0.5, 1e12]), times=st.sampled_from([1, 1, 6]))
    def learn(self, x, data, w, times):
        self.latest = x
        y = data.draw(labels if self.kind == "classes" else targets)
        for _ in range(times):
            Lives.n_samples += 1
            if self.kind == "recovery":
                self.both(lambda model: model.learn_one(x))
            else:
                self.both(lambda model: model.learn_one(x, y, w=w))

    @precondition(lambda self: self.kind != "recovery")
    @rule(x=samples)
    def observe(self, x):
        Lives.n_samples += 1
        self.both(lambda model: model.observe_one(x))

    @precondition(lambda self: self.kind != "recovery")
    @rule(data=st.data(), n=st.integers(1, 4))
    def learn_many(self, data, n):
        frame = pd.DataFrame({key: data.draw(st.lists(st.floats(-9, 9), min_size=n, max_size=n)) for key in "ab"})
        y = [data.draw(labels if self.kind == "classes" else targets) for _ in range(n)]
        Lives.n_samples += n
        self.both(lambda model: model.learn_many(frame, pd.Series(y, dtype=object)))

    @rule(x=samples, key=keys, value=wrong)
    def refuse_a_value(self, x, key, value):
        before = pickle.dumps(self.model)
        with pytest.raises(ValueError, match="feature"):
            self.model.learn_one({**x, key: value}, *([] if self.kind == "recovery" else [1]))
        assert pickle.dumps(self.model) == before

    @precondition(lambda self: self.kind != "recovery")
    @rule(x=samples, y=wrong_targets)
    def refuse_a_target(self, x, y):
        before = pickle.dumps(self.model)
        with pytest.raises(ValueError, match=r"label|target"):
            self.model.learn_one(x, y)
        assert pickle.dumps(self.model) == before

    @rule(way=st.sampled_from(["pickle", "deepcopy", "state_dict"]))
    def copied(self, way):
        if way == "pickle":
            self.twin = pickle.loads(pickle.dumps(self.twin))
        elif way == "deepcopy":
            self.twin = copy.deepcopy(self.twin)
        else:
            fresh = self.twin.clone()
            fresh.load_state_dict(self.twin.state_dict())
            self.twin = fresh

    @rule(x=samples)
    def asked(self, x):
        self.latest = x

    @invariant()
    def answers_are_sound(self):
        if not hasattr(self, "model"):
            return
        x, before = self.latest, pickle.dumps(self.model)
        known = self.model.recover_one(x)
        assert all(map(math.isfinite, known.values())), known
        if self.kind == "recovery":
            answer = self.model.transform_one(x)
        elif self.kind == "classes":
            answer = self.model.predict_proba_one(x)
            assert all(0.0 <= p <= 1.0 for p in answer.values()), answer
            assert not answer or math.isclose(sum(answer.values()), 1.0, abs_tol=1e-12), answer
        else:
            answer = self.model.predict_one(x)
            assert math.isfinite(answer), answer
        assert pickle.dumps(self.model) == before, "asking has changed the model"
        twin = self.twin.transform_one(x) if self.kind == "recovery" else None
        if self.kind != "recovery":
            twin = self.twin.predict_proba_one(x) if self.kind == "classes" else self.twin.predict_one(x)
            weights = self.model.expert_weights.values()
            assert all(0.0 <= weight <= 1.0 for weight in weights)
            assert math.isclose(sum(weights), 1.0, abs_tol=1e-9), self.model.expert_weights
        assert repr(twin) == repr(answer), "a copy does not go on as the original"


TestLives = Lives.TestCase
TestLives.settings = settings(
    max_examples=10, stateful_step_count=25, deadline=None, suppress_health_check=list(HealthCheck)
)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=100_000, help="how many samples to learn at least")
    options = parser.parse_args()
    phases = (Phase.explicit, Phase.generate, Phase.shrink)
    long = settings(TestLives.settings, max_examples=100, stateful_step_count=100, phases=phases, print_blob=True)
    while Lives.n_samples < options.samples:
        run_state_machine_as_test(Lives, settings=settings(long, database=None, derandomize=False))
        print(f"{Lives.n_samples:,} samples")


if __name__ == "__main__":
    main()
