"""Does each check pass an honest estimator, and catch one that breaks its law?"""

from __future__ import annotations

import copy
import decimal
import inspect
import itertools
import math
import numbers

import numpy as np
import pytest
from river import base, linear_model, preprocessing

from river_pufe import FeatureRecovery, checks


def read(key, value):
    """A value as a float, None where it is absent."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return None
    try:
        is_number = isinstance(value, numbers.Real | decimal.Decimal | np.bool_) and not isinstance(
            value, np.timedelta64
        )
        if not is_number or math.isinf(value):
            raise ValueError(f"{key!r} has the value {value!r}")
        number = float(value)
    except OverflowError:
        number = 1e100 if value > 0 else -1e100
    return None if math.isnan(number) else min(max(number, -1e100), 1e100)


class Honest(base.Regressor):
    """The mean target, more or less as the mean of the features is more or less than usual: it keeps all laws."""

    def __init__(self):
        self.n = 0.0
        self.usual = 0.0
        self.target = 0.0

    def level(self, x):
        values = [value for value in itertools.starmap(read, x.items()) if value is not None]
        return math.fsum(values) / len(values) if values else self.usual

    def checked(self, y):
        target = read("target", y)
        if target is None:
            raise ValueError(f"the target is {y!r}")
        return target

    def learn_one(self, x, y, w=1.0):
        level, y = self.level(x), self.checked(y)
        if not 0 <= w < math.inf:
            raise ValueError(f"the weight is {w!r}")
        self.n += w
        self.usual += (level - self.usual) * w / self.n
        self.target += (y - self.target) * w / self.n

    def predict_one(self, x):
        return self.target + self.level(x) - self.usual


class HonestClassifier(base.Classifier):
    """The shares of the classes seen so far."""

    def __init__(self):
        self.counts = {}

    @property
    def _multiclass(self):
        return True

    def learn_one(self, x, y):
        Honest().level(x)
        label = y.item() if isinstance(y, np.generic) else y
        if label is None or isinstance(label, list) or type(label).__name__ == "NAType" or label != label:
            raise ValueError(f"the label is {y!r}")
        self.counts[label] = self.counts.get(label, 0) + 1

    def predict_proba_one(self, x):
        Honest().level(x)
        total = sum(self.counts.values())
        return {label: count / total for label, count in self.counts.items()} or {False: 0.5, True: 0.5}


class Experts(Honest):
    """Honest, and with experts to look at."""

    @property
    def expert_weights(self):
        return {"a": 0.25, "b": 0.75}


# What breaks a law.


class CountsPredictions(Honest):
    def predict_one(self, x):
        self.n += 1
        return super().predict_one(x)


class CachesPredictions(Honest):
    def predict_one(self, x):
        self.latest = super().predict_one(x)
        return self.latest


class DebugsByLearning(Honest):
    def debug_one(self, x):
        self.learn_one(x, 0.0)
        return ""


class CountsReadersOfItsWeights(Honest):
    @property
    def expert_weights(self):
        self.n += 1
        return {"only": 1.0}


class KeepsTheSample(Honest):
    def learn_one(self, x, y, w=1.0):
        super().learn_one(x, y, w)
        self.latest = x


class HandsOutItsState(HonestClassifier):
    def predict_proba_one(self, x):
        if not hasattr(self, "shares"):
            self.shares = {}
        return self.shares if self.shares else super().predict_proba_one(x)

    def learn_one(self, x, y):
        super().learn_one(x, y)
        self.shares = super().predict_proba_one(x)


class HandsOutItsWeights(Honest):
    def __init__(self):
        super().__init__()
        self.expert_weights = {"only": 1.0}


class ReadsTheFirstKeyOnly(Honest):
    def level(self, x):
        return super().level(dict([*x.items()][:1]))


class SortsTheKeys(Honest):
    def level(self, x):
        return super().level({key: x[key] for key in sorted(x)})


class ComparesKeysAsText(Honest):
    def level(self, x):
        return super().level({str(key): value for key, value in x.items()})


class ReadsFloatsOnly(Honest):
    def level(self, x):
        return super().level({key: value for key, value in x.items() if isinstance(value, float)})


class AnswersLabelsOfNumPy(HonestClassifier):
    def learn_one(self, x, y):
        super().learn_one(x, y)
        self.counts = {y if label == y else label: count for label, count in self.counts.items()}


class TakesAbsenceForZero(Honest):
    def level(self, x):
        return super().level({key: 0.0 if read(key, value) is None else value for key, value in x.items()})


class Sticks(Honest):
    def level(self, x):
        level = super().level(x)
        return level if all(value == value for value in x.values() if isinstance(value, float)) else math.nan


class AnswersWithNumPy(Honest):
    def predict_one(self, x):
        return np.float64(super().predict_one(x))


class AnswersLabelsNeverSeen(HonestClassifier):
    def predict_proba_one(self, x):
        return {**dict.fromkeys(super().predict_proba_one(x), 0.0), "unheard of": 1.0}


class DoesNotSumToOne(HonestClassifier):
    def predict_proba_one(self, x):
        return {label: 0.9 * share for label, share in super().predict_proba_one(x).items()}


class ReturnsItself(Honest):
    def learn_one(self, x, y, w=1.0):
        super().learn_one(x, y, w)
        return self


class Overflows(Honest):
    def level(self, x):
        level = super().level(x)
        return level * level * 1e200


class FailsOnTheEmptySample(Honest):
    def level(self, x):
        return super().level(x) * len(x) / len(x)


class WeighsTooMuch(Experts):
    @property
    def expert_weights(self):
        return {"a": 0.5, "b": 0.5 + 1e-6}


class WeighsBelowZero(Experts):
    @property
    def expert_weights(self):
        return {"a": -0.5, "b": 1.5}


class LosesItsWeights(Experts):
    @property
    def expert_weights(self):
        return {"a": math.nan, "b": math.nan} if abs(self.target) > 1e6 else {"a": 1.0}


class SwallowsBadValues(Honest):
    def level(self, x):
        return super().level({key: value for key, value in x.items() if isinstance(value, int | float)})


class SwallowsInfinity(Honest):
    def level(self, x):
        return super().level(
            {key: value for key, value in x.items() if not isinstance(value, float) or value < math.inf}
        )


class NamesNothing(Honest):
    def level(self, x):
        try:
            return super().level(x)
        except ValueError:
            raise ValueError("a feature is not a number") from None


class MovesBeforeItRejects(Honest):
    def learn_one(self, x, y, w=1.0):
        self.n += w
        self.n -= w
        self.seen = list(x)
        super().learn_one(x, y, w)


class LearnsFromNoTarget(Honest):
    def checked(self, y):
        return 0.0 if y is None else super().checked(y)


class LearnsLabelsThatAreNone(HonestClassifier):
    def learn_one(self, x, y):
        super().learn_one(x, "none" if y is None else y)


class MovesBeforeItRejectsTargets(Honest):
    def learn_one(self, x, y, w=1.0):
        self.level(x)
        self.n += 1
        super().learn_one(x, y, w)


class TakesWeightsBelowZero(Honest):
    def learn_one(self, x, y, w=1.0):
        super().learn_one(x, y, abs(w))


class RemembersEveryKey(Honest):
    def __init__(self):
        super().__init__()
        self.keys = set()

    def learn_one(self, x, y, w=1.0):
        super().learn_one(x, y, w)
        self.keys.update(x)


class RecoversMeans(Honest):
    def __init__(self):
        super().__init__()
        self.means = {}

    def learn_one(self, x, y, w=1.0):
        super().learn_one(x, y, w)
        for key, value in x.items():
            self.means[key] = 0.9 * self.means.get(key, 0.0) + 0.1 * value

    def recover_one(self, x):
        return {key: value for key, value in self.means.items() if key not in x}


class RecoversNothing(Honest):
    def recover_one(self, x):
        return {}


class CompletesWithZeros(FeatureRecovery):
    def transform_one(self, x):
        return {key: x.get(key, 0.0) for key in super().transform_one(x)}


class CompletesNothing(FeatureRecovery):
    def transform_one(self, x):
        return dict(x)


class LearnsForAll(Honest):
    memory = {"target": 0.0}  # noqa: RUF012

    def learn_one(self, x, y, w=1.0):
        super().learn_one(x, y, w)
        self.memory["target"] = self.target

    def predict_one(self, x):
        return self.memory["target"]


class PassesStateOnToItsClone(Honest):
    def clone(self, new_params=None, include_attributes=False):
        return copy.deepcopy(self)


class ForgetsWhenPickled(Honest):
    def __getstate__(self):
        return {**self.__dict__, "target": 0.0}


class ForgetsItsState(Honest):
    def state_dict(self, pickles=False):
        return {}

    def load_state_dict(self, state, trusted=False):
        pass


class SharesStateWithItsCopies(Honest):
    def __init__(self):
        super().__init__()
        self.moves = []

    def learn_one(self, x, y, w=1.0):
        super().learn_one(x, y, w)
        self.moves.append(y)
        del self.moves[:-3]

    def __deepcopy__(self, memo):
        return copy.copy(self)


class AsksToBeExcused(Honest):
    def _unit_test_skips(self):
        return {"check_pickling"}


BROKEN = [
    (checks.check_looking_changes_nothing, CountsPredictions, "predict_one.* has changed the model"),
    (checks.check_looking_changes_nothing, CachesPredictions, "predict_one.* has changed the model"),
    (checks.check_looking_changes_nothing, DebugsByLearning, "debug_one.* has changed the model"),
    (checks.check_looking_changes_nothing, CountsReadersOfItsWeights, "expert_weights has changed the model"),
    (checks.check_nothing_is_shared, KeepsTheSample, "keeps the dict"),
    (checks.check_nothing_is_shared, HandsOutItsState, "predict_proba_one answers with a dict"),
    (checks.check_nothing_is_shared, HandsOutItsWeights, "expert_weights is a dict"),
    (checks.check_key_order_changes_nothing, ReadsTheFirstKeyOnly, "order of the keys"),
    (checks.check_key_names_change_nothing, SortsTheKeys, "not supported between"),
    (checks.check_key_names_change_nothing, ComparesKeysAsText, "names of the keys"),
    (checks.check_number_types_change_nothing, ReadsFloatsOnly, "types of numbers"),
    (checks.check_number_types_change_nothing, AnswersLabelsOfNumPy, "types of numbers"),
    (checks.check_absent_values_change_nothing, TakesAbsenceForZero, "how absence is written"),
    (checks.check_absent_values_change_nothing, Sticks, "how absence is written"),
    (checks.check_answers_are_plain, AnswersWithNumPy, "float64"),
    (checks.check_answers_are_plain, AnswersLabelsNeverSeen, "unheard of"),
    (checks.check_answers_are_plain, DoesNotSumToOne, "does not sum to 1"),
    (checks.check_answers_are_plain, ReturnsItself, "learn_one returns something"),
    (checks.check_answers_are_finite, Overflows, "nan|inf"),
    (checks.check_answers_are_finite, FailsOnTheEmptySample, "division by zero"),
    (checks.check_expert_weights, WeighsTooMuch, "sum"),
    (checks.check_expert_weights, WeighsBelowZero, "-0.5"),
    (checks.check_expert_weights, LosesItsWeights, "nan"),
    (checks.check_bad_values_are_rejected, SwallowsBadValues, "accepts 'text'"),
    (checks.check_bad_values_are_rejected, SwallowsInfinity, "accepts inf"),
    (checks.check_bad_values_are_rejected, NamesNothing, "does not say what is wrong"),
    (checks.check_bad_values_are_rejected, MovesBeforeItRejects, "has changed the model, and then rejected"),
    (checks.check_bad_targets_are_rejected, LearnsFromNoTarget, "accepts None"),
    (checks.check_bad_targets_are_rejected, LearnsLabelsThatAreNone, "accepts None"),
    (checks.check_bad_targets_are_rejected, MovesBeforeItRejectsTargets, "has changed the model, and then rejected"),
    (checks.check_bad_weights_are_rejected, TakesWeightsBelowZero, "accepts -1.0"),
    (checks.check_memory_is_bounded, RemembersEveryKey, "bytes"),
    (checks.check_recovery, RecoversMeans, "recovered with an error"),
    (checks.check_recovery, RecoversNothing, "instead of"),
    (checks.check_completion, CompletesWithZeros, "completed with an error"),
    (checks.check_completion, CompletesNothing, "not completed"),
    (checks.check_clone_forgets, LearnsForAll, "clone"),
    (checks.check_clone_forgets, PassesStateOnToItsClone, "clone"),
    (checks.check_copies_remember, ForgetsWhenPickled, "pickled model goes on differently"),
    (checks.check_copies_remember, SharesStateWithItsCopies, "training a copy has changed"),
    (checks.check_states_remember, ForgetsItsState, "restored from a dict goes on differently"),
    (checks.check_no_check_is_skipped, AsksToBeExcused, "check_pickling"),
]


@pytest.mark.parametrize("model", [Honest(), HonestClassifier(), Experts()], ids=lambda m: type(m).__name__)
def test_honest_estimators_pass(model):
    checks.check_estimator(model)


@pytest.mark.parametrize(
    ("check", "broken", "message"),
    [pytest.param(*case, id=f"{case[1].__name__}:{case[0].__name__}") for case in BROKEN],
)
def test_broken_estimators_are_caught(check, broken, message):
    model = broken()
    assert check in checks.yield_checks(model)
    with pytest.raises(Exception, match=message):
        check(model)


def test_every_check_is_seen_to_fail():
    every = {function for name, function in vars(checks).items() if name.startswith("check_")}
    assert {check for check, _, _ in BROKEN} == every - {checks.check_estimator}


def test_every_check_says_its_law():
    for check, _, _ in BROKEN:
        assert inspect.getdoc(check).splitlines()[0].endswith(".")
        assert check.__name__ in checks.__doc__


def test_check_estimator_runs_all_of_them():
    with pytest.raises(AssertionError, match="check_pickling"):
        checks.check_estimator(AsksToBeExcused())


def test_a_model_stays_as_it_is():
    model = Honest()
    model.learn_one({"a": 1.0}, 2.0)
    before = copy.deepcopy(vars(model))
    checks.check_estimator(model)
    assert vars(model) == before


@pytest.mark.parametrize(
    ("model", "without"),
    [
        (Honest(), {"recovery", "completion", "expert_weights", "states_remember"}),
        (
            HonestClassifier(),
            {"recovery", "completion", "expert_weights", "states_remember", "bad_weights_are_rejected"},
        ),
        (FeatureRecovery(), {"expert_weights", "bad_targets_are_rejected", "bad_weights_are_rejected"}),
    ],
    ids=["regressor", "classifier", "transformer"],
)
def test_only_what_applies_is_asked(model, without):
    asked = list(checks.yield_checks(model))
    assert len(set(asked)) == len(asked)
    every = {check.__name__ for check, _, _ in BROKEN}
    assert {check.__name__ for check in asked} == every - {f"check_{name}" for name in without}


def test_a_pipeline_is_not_asked_for_what_its_steps_do():
    asked = list(checks.yield_checks(preprocessing.StandardScaler() | linear_model.LinearRegression()))
    assert checks.check_key_order_changes_nothing in asked
    assert checks.check_bad_values_are_rejected not in asked
    assert checks.check_looking_changes_nothing not in asked
