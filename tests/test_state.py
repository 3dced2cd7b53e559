"""Is a state exact, complete, small, and safe to load?"""

from __future__ import annotations

import collections
import datetime
import importlib
import inspect
import json
import math
import pathlib
import pickle
import pkgutil
import random
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from river import base, linear_model

import river_pufe
from river_pufe import FeatureRecovery, PUFEClassifier, PUFERegressor, aggregation, baselines, fleet, state
from river_pufe.answers import EvolvingClassifier, EvolvingRegressor
from river_pufe.baselines import of_parts
from river_pufe.datasets import Cycle, HiddenFactors
from river_pufe.experts import LinearExperts
from river_pufe.experts.feature_maps import Identity
from river_pufe.experts.learners import OnlineGradientDescent
from river_pufe.experts.per_space import SpaceExperts
from river_pufe.guard import Guarded
from river_pufe.learning import FeatureEvolving
from river_pufe.part import Part
from river_pufe.state import objects, packing, parts
from river_pufe.state.stateful import Stateful

BASES = {state.Stored, Stateful, FeatureEvolving, EvolvingClassifier, EvolvingRegressor}
BASES |= {of_parts.OfParts, of_parts.OfPartsClassifier, of_parts.OfPartsRegressor, of_parts.Pair, Guarded, Part}
#: They keep the states of models, and have none of their own.
KEEPERS = {fleet.Fleet, fleet.MemoryStore, fleet.SQLiteStore}
STATES = pathlib.Path(__file__).parent / "states"

ATOMS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.complex_numbers(),
    st.text(),
    st.text(st.characters()),  # lone surrogates as well
    st.binary(),
    st.decimals(allow_nan=False),
    st.fractions(),
    st.uuids(),
    st.dates(),
    st.datetimes(timezones=st.sampled_from([None, datetime.UTC, datetime.timezone(datetime.timedelta(hours=2))])),
    st.timedeltas(),
    st.sampled_from([np.float64(0.1), np.float32(0.1), np.int8(-1), np.bool_(True), np.str_("a"), np.bytes_(b"a")]),
    st.sampled_from([np.datetime64("2020-01-01T12"), np.timedelta64(5, "ns"), np.datetime64("NaT", "s"), 2**2000]),
)
KEYS = st.recursive(ATOMS, lambda keys: st.tuples(keys, keys) | st.frozensets(keys), max_leaves=4)


def typed(value):
    """A value with all types in it, so that 1, 1.0, True and NumPy's one are four things, and NaN is NaN."""
    if isinstance(value, tuple | list | collections.deque):
        return type(value), getattr(value, "maxlen", None), [typed(each) for each in value]
    if isinstance(value, set | frozenset):
        return type(value), sorted(map(repr, map(typed, value)))
    if isinstance(value, dict):
        return [(typed(key), typed(each)) for key, each in value.items()]
    if isinstance(value, datetime.datetime):
        return type(value), value, value.fold, value.tzinfo
    return type(value), value.hex() if isinstance(value, float) else repr(value)


def play(model, n=75, start=0):
    cycle = Cycle(n_spaces=2, period=60, overlap=20)
    stream = HiddenFactors(cycle, width=4, regression=isinstance(model, base.Regressor), n_samples=start + n, seed=1)
    for x, y in list(stream)[start:]:
        model.learn_one(x, y) if isinstance(model, base.Classifier | base.Regressor) else model.learn_one(x)
    return model


# Exact.


@settings(max_examples=300)
@given(st.dictionaries(KEYS, KEYS, max_size=3) | st.lists(KEYS, max_size=3))
def test_keys_come_back_with_their_types(value):
    for restored in (state.loads(state.dumps(value)), state.from_plain(state.to_plain(value))):
        assert typed(restored) == typed(value)


@pytest.mark.parametrize(
    "array",
    [
        np.zeros((0, 3)),
        np.asfortranarray(np.arange(6.0).reshape(2, 3)),
        np.arange(12.0).reshape(3, 4)[::2, ::-1],
        np.array(5.0),
        np.array([True, False]),
        np.array(["2020", "NaT"], dtype="datetime64[D]"),
        np.array([1, -1], dtype=">i2"),
    ],
    ids=lambda array: f"{array.dtype} {array.shape}",
)
def test_arrays_come_back_as_they_were(array):
    for restored in (state.loads(state.dumps(array)), state.from_plain(state.to_plain(array))):
        assert restored.dtype == array.dtype
        assert np.array_equal(restored, array, equal_nan=array.dtype.kind in "fM")
        assert restored.flags.owndata or restored.base.flags.owndata
        assert restored.flags.writeable
        assert restored.flags.f_contiguous == array.flags.f_contiguous or array.ndim < 2 or not array.flags.forc


def test_containers_and_generators_come_back():
    rng = random.Random(3)
    value = [collections.deque([1, 2], maxlen=2), {1, 2.5}, {True: "a", "b": None}, rng]
    *containers, twin = state.loads(state.dumps(value))
    assert typed(containers) == typed(value[:3])
    assert twin.random() == rng.random()


def test_a_state_is_plain_data():
    plain = {type(None), bool, int, float, str, bytes, np.ndarray}

    def walk(node):
        assert type(node) in plain | {dict, list}
        if isinstance(node, dict):
            assert {type(key) for key in node} <= {str}
        for each in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
            walk(each)

    walk(play(PUFEClassifier()).state_dict())


# Complete: the law itself is `checks.check_states_remember`, over all estimators.


def classes():
    """All concrete classes of the package that River can clone, and that hold what was learned from a stream."""
    found = set()
    for module in pkgutil.walk_packages(river_pufe.__path__, "river_pufe."):
        if not module.name.startswith(("river_pufe.datasets", "river_pufe.cli", "river_pufe.__main__")):
            found.update(each for each in vars(importlib.import_module(module.name)).values() if inspect.isclass(each))
    return {each for each in found if each.__module__.startswith("river_pufe.")}


def test_all_parts_are_registered():
    kinds = base.Base | state.Stored
    concrete = {each for each in classes() if issubclass(each, kinds) and not inspect.isabstract(each)}
    used_alone = {each for each in concrete if not each.__name__.startswith("_")} - BASES - KEEPERS
    assert {each.__name__ for each in used_alone if parts.name_of(each) is None} == set()
    assert len(used_alone) > 25


def test_all_registered_parts_exist():
    for name in parts._MODULES:
        assert parts.name_of(parts.class_of(name)) == name


@pytest.mark.parametrize("model", [PUFEClassifier(), PUFERegressor.paper(c=10), baselines.FESLClassifier()], ids=repr)
def test_no_array_is_in_a_model_twice(model):
    """A state has no references: what is changed in one place would have to be changed in another one."""
    seen = []

    def walk(value, where):
        if isinstance(value, np.ndarray):
            assert not any(np.shares_memory(value, each) for each in seen), where
            seen.append(value)
        elif parts.name_of(type(value)) is not None:
            for name, each in parts.attributes_of(value).items():
                walk(each, f"{where}.{name}")
        elif isinstance(value, dict | list | tuple):
            for i, each in value.items() if isinstance(value, dict) else enumerate(value):
                walk(each, f"{where}[{i}]")

    walk(play(model), "model")
    assert len(seen) > 5


def test_the_format_is_documented():
    """Each word that a state may have is in the table of the page, and no other."""
    page = (STATES.parents[1] / "docs" / "api" / "state.md").read_text()
    names = page[page.index("| name |") :].splitlines()[2:]
    told = {word for line in names if line.startswith("|") for word in re.findall(r"`(\w+)`", line.split("|")[1])}
    assert told == {"part", "array", "bytes", "pickle", *objects._FROM_PLAIN}
    assert f"| {objects.FORMAT} | " in page


def test_a_class_of_ones_own_can_be_registered():
    class Own(aggregation.Hedge):
        pass

    model = play(PUFEClassifier(aggregator=Own()))
    with pytest.raises(ValueError, match=r"Own, which cannot be represented without its code: register the class"):
        model.state_dict()
    state.register(Own)
    restored = state.loads(state.dumps(model))
    assert isinstance(restored.hedge, Own)
    with pytest.raises(ValueError, match="another class with the name Hedge"):
        state.register(type("Hedge", (aggregation.Hedge,), {}))


def test_wrapped_models_need_pickles():
    model = play(PUFEClassifier(linear_model.LogisticRegression()))
    with pytest.raises(ValueError, match=r"LogisticRegression, which cannot be represented without its code"):
        model.state_dict()
    data = state.dumps(model, pickles=True)
    with pytest.raises(ValueError, match="trusted=True"):
        state.loads(data)
    assert state.loads(data, trusted=True).spaces == model.spaces


# Small.


@pytest.mark.parametrize(("model", "most"), [(None, 300_000), (LinearExperts(maps=(Identity(),)), 100_000)])
def test_a_state_is_small(model, most):
    cycle = Cycle(n_spaces=2, period=300, overlap=70)
    model = PUFEClassifier(model)
    for t, (x, y) in enumerate(HiddenFactors(cycle, width=32, n_samples=600, seed=1)):
        model.learn_one(x, y)
        if t in (60, 150, 290, 599):
            assert len(pickle.dumps(model)) <= most
            # A state names each of its arrays.
            assert len(state.dumps(model)) <= most + 2_000
    assert len(model.spaces) == 2


# Safe.


def damaged(change, data=None):
    """The bytes of a state, with something in its text changed."""
    data = data if data is not None else state.dumps(play(PUFEClassifier()))
    length = int.from_bytes(data[16:24], "little")
    text = json.loads(data[24 : 24 + length])
    text = change(text) or text
    return pack(json.dumps(text).encode(), data[24 + length :])


def edited(data, path, value):
    """The bytes of a state, with another value at a path such as `_experts._ends.0`."""

    def change(node):
        *parents, last = [int(step) if step.isdigit() else step for step in path.split(".")]
        for step in parents:
            node = node[step]
        node[last] = value

    return damaged(change, data)


def pack(text, buffers, version=1):
    import zlib

    body = text + buffers
    return b"".join(
        (
            b"\x89pufe\r\n\x1a",
            version.to_bytes(4, "little"),
            zlib.crc32(body).to_bytes(4, "little"),
            len(text).to_bytes(8, "little"),
            body,
        )
    )


CHANGES = {
    "an unknown part": (lambda t: t.update(part="Popen"), "'Popen', which is not known here"),
    "a part elsewhere": (lambda t: t.update(part="os.system"), "not known here"),
    "a class method": (lambda t: t.update(__class__="x"), "__class__"),
    "an attribute of another type": (lambda t: t.update(_version="x"), "_version.*cannot be of type str"),
    "a part of another family": (lambda t: t.update(_task=t["_aggregator"]), "fit together.*AdaNormalHedge"),
    "objects": (lambda t: t.update(_weights={"array": ["|O", [1], "C", 0]}), "array of the type"),
    "a record": (lambda t: t.update(_weights={"array": ["i4,O", [1], "C", 0]}), "array of the type"),
    "an array beyond the end": (lambda t: t.update(_weights={"array": ["<f8", [10**12], "C", 0]}), "too early"),
    "an array before the start": (lambda t: t.update(_weights={"array": ["<f8", [1], "C", -8]}), "too early"),
    "a negative shape": (lambda t: t.update(_weights={"array": ["<f8", [-1, -1], "C", 0]}), "shape"),
    "a pickle": (lambda t: t.update(model={"pickle": "x"}), "trusted=True"),
    "an unknown word": (lambda t: t.update(model={"eval": "x"}), "eval"),
    "a dict without words": (lambda t: t.update(model={}), "not valid"),
    "an unhashable key": (lambda t: t.update(model={"dict": [[[], 1]]}), "not valid"),
    "weights that do not fit": (
        lambda t: t["_experts"].update(_weights={"array": ["<f8", [1, 1, 1], "C", 0]}),
        "weights of 1 inputs",
    ),
    "a scaler that does not fit": (
        lambda t: t["_recovery"]["_scaler"].update(mean={"array": ["<f8", [1], "C", 0]}),
        "fit",
    ),
    "a fraction that takes for ever": (
        lambda t: t.update(_weights={"fraction": ["1e999999999"]}),
        "cannot be interpreted as an integer",
    ),
    "an offset that is no integer": (lambda t: t.update(_weights={"bytes": [{"decimal": "1e9"}, 1]}), "an array at"),
    "keys that do not fit": (lambda t: t["_recovery"]["_spaces"]["_reader"].update(keys=["a"]), "fit"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_state_that_was_tampered_with_is_rejected(change):
    act, why = CHANGES[change]
    with pytest.raises(ValueError, match=why):
        state.loads(damaged(act))


def test_sizes_that_are_not_those_of_what_is_there_are_refused():
    """Nothing is made that is as large as they say."""
    kinds = [LinearExperts(), LinearExperts(), SpaceExperts(OnlineGradientDescent())]
    sizes = {
        "_maps.0._n": "weights of 61 inputs",
        "_maps.2.n_features": "50 random features",
        "maps.tuple.2.n_features": "50 random features",
        "_n_slots": "weights of 61 inputs",
        "_n_columns": "1 columns",
        "_ends.0": "weights of 61 inputs",
        "_ends.2": "weights of 61 inputs",
    }
    paths = {f"_experts._members.1.{path}": why for path, why in sizes.items()} | {
        "_experts._sizes.2": "experts, but _sizes"
    }
    data = state.dumps(play(PUFEClassifier(kinds), 45))
    for path, why in paths.items():
        with pytest.raises(ValueError, match=why):
            state.loads(edited(data, path, 10**9))


def test_weights_that_are_not_finite_are_noticed():
    told = play(PUFEClassifier()).state_dict()
    told["model"]["_experts"]["_weights"][1] = math.nan
    with pytest.raises(ValueError, match="numbers that are not finite"):
        PUFEClassifier().load_state_dict(told)


@pytest.mark.parametrize("name", ["mean", "deviation", "_inverse", "_variance"])
@pytest.mark.parametrize("value", [-1.0, math.nan, math.inf, 1e300])
def test_units_that_are_no_standard_deviations_are_refused(name, value):
    told = play(PUFEClassifier()).state_dict()
    told["model"]["_recovery"]["_scaler"][name][1] = value
    if name == "mean" and math.isfinite(value):
        PUFEClassifier().load_state_dict(told)
        return
    with pytest.raises(ValueError, match=r"numbers that are not finite in|not standard deviations"):
        PUFEClassifier().load_state_dict(told)


@pytest.mark.parametrize("shape", [[40_000, 40_000], [9], [0, 5]])
def test_a_matrix_is_no_larger_than_what_is_marked_in_it(shape):
    told = {"shape": shape, "used": np.zeros(1, dtype=np.uint8), "entries": np.zeros(0)}
    with pytest.raises(ValueError, match="a matrix of the shape"):
        packing.unpacked(told, 0.0)


def test_a_state_that_is_nested_too_deeply_is_rejected():
    with pytest.raises(ValueError, match="nested too deeply"):
        state.loads(pack(b"[" * 200_000 + b"]" * 200_000, b""))


def test_damage_is_noticed():
    data = state.dumps(play(PUFEClassifier(), 30))
    rng = random.Random(1)
    for _ in range(200):
        at = rng.randrange(len(data))
        for bad in (data[:at], data[:at] + bytes([data[at] ^ 1 << rng.randrange(8)]) + data[at + 1 :]):
            with pytest.raises(ValueError, match=r"not a state|damaged|later version"):
                state.loads(bad)


def test_later_formats_and_other_files_are_rejected():
    with pytest.raises(ValueError, match="later version"):
        state.loads(pack(b"null", b"", version=99))
    with pytest.raises(ValueError, match="not a state"):
        state.loads(pickle.dumps(PUFEClassifier()))
    for bad in ({}, [], {"format": 99, "model": None}, {"format": 1, "model": {"part": "PUFERegressor"}}):
        model = PUFEClassifier()
        before = pickle.dumps(model)
        with pytest.raises(ValueError, match="state"):
            model.load_state_dict(bad)
        assert pickle.dumps(model) == before


def test_an_attribute_that_an_earlier_release_did_not_have_is_that_of_a_new_object():
    told = play(FeatureRecovery()).state_dict()
    del told["model"]["_retired"]
    model = FeatureRecovery()
    model.load_state_dict(told)
    assert model.rounds == 75


def test_a_state_without_doubts_goes_on():
    known = play(FeatureRecovery())
    told = known.state_dict()
    del told["model"]["_doubts"]
    model = FeatureRecovery()
    model.load_state_dict(told)
    x = dict.fromkeys(known.living_keys, 0.5)
    assert model.transform_one(x) == known.transform_one(x)
    for value in range(100):
        model.learn_one(dict.fromkeys(x, value % 7))
    assert model.rounds == known.rounds + 100


# Lasting.


@pytest.mark.parametrize("file", sorted(STATES.glob("*.state")), ids=lambda path: path.stem)
def test_states_of_earlier_releases_are_read(file):
    """Each release leaves a state here: models, and what they answered. See `states/write.py`."""
    for model, samples, answers in state.loads(file.read_bytes()).values():
        for (x, y), known in zip(samples, answers, strict=True):
            answer = (
                model.predict_one(x)
                if isinstance(model, base.Regressor)
                else (model.predict_proba_one(x) if isinstance(model, base.Classifier) else model.transform_one(x))
            )
            assert answer == pytest.approx(known, rel=1e-6, abs=1e-9)
            model.learn_one(x, y) if model._supervised else model.learn_one(x)


def test_there_is_a_state_of_an_earlier_release():
    assert list(STATES.glob("*.state"))


@pytest.mark.parametrize(
    "error", [UnicodeDecodeError("utf-8", b"x", 0, 1, "invalid"), ValueError("mask"), KeyError("k")]
)
def test_what_is_wrong_with_a_state_is_said_of_a_state(error):
    with pytest.raises(ValueError, match="the state is not valid: "), objects.explained():
        raise error


@pytest.mark.parametrize("shape", [[10**9, 0], [0, 10**9, 2], [-1, 0], [2.0, 1]])
def test_an_empty_array_asks_for_no_memory(shape):
    used = np.packbits(np.zeros(0, dtype=bool))
    with pytest.raises(ValueError, match="an array of the shape"):
        packing.unpacked({"shape": shape, "used": used, "entries": np.zeros(0)}, 0.0)
    assert packing.unpacked({"shape": [10**6, 0], "used": used, "entries": np.zeros(0)}, 0.0).shape == (10**6, 0)
