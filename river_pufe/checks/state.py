"""Which calls change a model, what does it share with others, and do copies go on like the original?"""

from __future__ import annotations

import copy
import itertools
import pickle
import typing

from ..datasets import Cycle, HiddenFactors
from ..state import dumps, loads
from .playing import STRANGER, assert_same, fresh, is_classifier, looks_of, play, samples_for, teach

_VIEWS = ("spaces", "overlapping", "vanished", "events", "expert_weights")


def check_looking_changes_nothing(model: typing.Any) -> None:
    """Predicting, transforming, recovering, debugging, and reading attributes leave a model as it was, to the byte."""
    model = fresh(model)
    for t, (x, y) in enumerate(samples_for(model)):
        if t % 10 == 0:
            before = pickle.dumps(model)
            halved = dict(itertools.islice(x.items(), len(x) // 2))
            for name, look in looks_of(model):
                for view in (x, halved, {**x, STRANGER: 1.0}, {}):
                    look(dict(view))
                    assert pickle.dumps(model) == before, f"{name}({view}) has changed the model, in round {t}"
            for name in _VIEWS:
                getattr(model, name, None)
                assert pickle.dumps(model) == before, f"reading {name} has changed the model, in round {t}"
        teach(model, dict(x), y)


def check_nothing_is_shared(model: typing.Any) -> None:
    """What happens later to a dict that a model was given, or has answered, leaves the model as it was."""
    model = fresh(model)
    for t, (x, y) in enumerate(samples_for(model)):
        given = dict(x)
        teach(model, given, y)
        if t % 10 == 0:
            before = pickle.dumps(model)
            given.clear()
            assert pickle.dumps(model) == before, "learn_one keeps the dict that it was given"
            for name, look in looks_of(model):
                answer = look(dict(x))
                if isinstance(answer, dict):
                    answer.clear()
                    assert pickle.dumps(model) == before, f"{name} answers with a dict that the model still uses"
            for name in _VIEWS:
                view = getattr(model, name, None)
                if isinstance(view, dict | list):
                    view.clear()
                    assert pickle.dumps(model) == before, f"{name} is a {type(view).__name__} that the model still uses"


def check_memory_is_bounded(model: typing.Any) -> None:
    """A model does not grow with the number of times that the features have changed."""
    model = fresh(model)
    # Keys come and go one by one, so that logs of a fixed length are full after two thirds of the stream.
    cycle = Cycle(n_spaces=68, period=22, overlap=10, emergence=10)
    sizes = []
    stream = HiddenFactors(cycle, width=10, regression=not is_classifier(model), n_samples=68 * 22, seed=1)
    for t, (x, y) in enumerate(stream):
        teach(model, dict(x), y)
        if t % 22 == 11:
            sizes.append(len(pickle.dumps(model)))
    before, after = max(sizes[48:58]), max(sizes[58:])
    assert after <= 1.01 * before, f"{before} bytes after 57 changes of the features, {after} bytes after 67"


def check_clone_forgets(model: typing.Any) -> None:
    """A clone of a trained model answers like one that has never learned, and shares nothing with the trained one."""
    samples = samples_for(model)[:75]
    never_learned = play(fresh(model), samples)
    trained = fresh(model)
    play(trained, samples)
    before = pickle.dumps(trained)
    for a, b in zip(never_learned, play(trained.clone(), samples)):
        assert_same(a, b, True, "a clone remembers")
    assert pickle.dumps(trained) == before, "training a clone has changed the model"


def check_states_remember(model: typing.Any) -> None:
    """A model that takes up the state of another one goes on exactly like it, and shares nothing with it."""
    trained = fresh(model)
    samples = samples_for(model)
    # Once in the middle of an overlap, and once with a retired space.
    for start, end in ((0, 45), (45, 75)):
        play(trained, samples[start:end])
        before = pickle.dumps(trained)
        told = trained.state_dict(pickles=True)
        twins = {"a dict": fresh(model), "bytes": loads(dumps(trained, pickles=True), trusted=True)}
        twins["a dict"].load_state_dict(told, trusted=True)
        played = {how: play(twin, samples[end:]) for how, twin in twins.items()}
        assert pickle.dumps(trained) == before, "a model shares its state with another one"
        original = play(copy.deepcopy(trained), samples[end:])
        for how, answers in played.items():
            for a, b in zip(original, answers):
                assert_same(a, b, True, f"a model restored from {how} goes on differently")


def check_copies_remember(model: typing.Any) -> None:
    """A model that was pickled or deep-copied goes on exactly like the original, and shares nothing with it."""
    model = fresh(model)
    samples = samples_for(model)
    play(model, samples[:75])
    before = pickle.dumps(model)
    copies = {"pickled": pickle.loads(before), "deep-copied": copy.deepcopy(model)}
    played = {how: play(twin, samples[75:]) for how, twin in copies.items()}
    assert pickle.dumps(model) == before, "training a copy has changed the model"
    original = play(model, samples[75:])
    for how, answers in played.items():
        for a, b in zip(original, answers):
            assert_same(a, b, True, f"a {how} model goes on differently")
