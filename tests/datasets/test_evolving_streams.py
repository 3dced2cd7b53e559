"""Laws that each evolving stream obeys, whatever it does."""

from __future__ import annotations

import copy
import itertools
import math
import pickle
import random

import numpy as np
import pytest
from river import evaluate, linear_model, metrics
from river.datasets import Phishing, TrumpApproval, synth

from river_pufe import datasets

KEYS = ("b", 7, ("a", 1), "a", 3.5, None, "c", ("a", 0))  # what a dict allows, in no order


def sample(t):
    rng = random.Random(t)
    return {key: rng.gauss(0, 1) for key in KEYS}, t % 3 == 0


class Endless:
    """Yields samples for ever and counts them."""

    def __init__(self):
        self.n = 0

    def __iter__(self):
        for t in itertools.count():
            self.n += 1
            yield sample(t)


CYCLES = [
    datasets.Cycle(period=30, overlap=10),
    datasets.Cycle(n_spaces=3, period=20, overlap=19, survivors=0.5, emergence=20),
    datasets.Cycle(n_spaces=2, n_changes=4, period=15, overlap=5, survivors=0.3, unpredictable=False),
    datasets.Cycle(period=30, overlap=0),
]

WRAPPERS = {
    **{f"mapped {i}": lambda d, s=1, c=c: datasets.MappedSpaces(d, c, seed=s) for i, c in enumerate(CYCLES)},
    **{f"split {i}": lambda d, s=1, c=c: datasets.SplitSpaces(d, c, seed=s) for i, c in enumerate(CYCLES)},
    "grouped": lambda d, s=1: datasets.SplitSpaces(
        d, datasets.Cycle(period=30, overlap=10), groups=[{"b", 7}, [None, "c"]], seed=s
    ),
    "capricious": lambda d, s=1: datasets.CapriciousStream(d, missing=0.6, seed=s),
    "trapezoidal": lambda d, s=1: datasets.TrapezoidalStream(d, period=50, seed=s),
    "added": lambda d, s=1: datasets.SensorOutage(d, stop=40, seed=s),
    "lost": lambda d, s=1: datasets.SensorOutage(d, start=40, keys=["a"], seed=s),
    "back": lambda d, s=1: datasets.SensorOutage(d, start=40, stop=70, keys=3, seed=s),
    "nested": lambda d, s=1: datasets.CapriciousStream(
        datasets.MappedSpaces(datasets.CapriciousStream(d, seed=s), CYCLES[1], seed=s), seed=s
    ),
}
GENERATORS = {
    f"hidden {i}": lambda s=1, c=c, i=i: datasets.HiddenFactors(
        c, noise=0.1, n_samples=100, reverse_labels=i == 1, unrelated=i == 2, seed=s
    )
    for i, c in enumerate(CYCLES)
}
STREAMS = {
    **GENERATORS,
    **{name: lambda s=1, w=w: w([sample(t) for t in range(100)], s) for name, w in WRAPPERS.items()},
}

wrappers = pytest.mark.parametrize("wrap", WRAPPERS.values(), ids=WRAPPERS)
streams = pytest.mark.parametrize("make", STREAMS.values(), ids=STREAMS)


@streams
def test_is_the_same_each_time(make):
    dataset = make()
    assert list(dataset) == list(dataset) == list(make())


@streams
def test_is_the_same_each_time_without_a_seed(make):
    dataset = make(None)
    assert list(dataset) == list(dataset)


@streams
def test_readers_do_not_disturb_each_other(make):
    dataset = make()
    assert [a for a, b in zip(dataset, dataset) if a == b] == list(dataset)


@streams
def test_a_pickle_and_a_copy_go_on_alike(make):
    dataset = make()
    assert list(pickle.loads(pickle.dumps(dataset))) == list(copy.deepcopy(dataset)) == list(dataset)


@streams
def test_leaves_the_global_generators_alone(make):
    before = random.getstate(), np.random.get_state()[1].tolist()  # noqa: NPY002
    list(make(None))
    assert (random.getstate(), np.random.get_state()[1].tolist()) == before  # noqa: NPY002


@streams
def test_no_sample_is_empty(make):
    assert all(x for x, _ in make())


@streams
def test_truth_tells_all_that_is_seen_and_never_forgets(make):
    dataset = make()
    known = set()
    for (x, _), truth in zip(dataset, dataset.truth(), strict=True):
        assert x.items() <= truth.items()
        known |= x.keys()
        if not isinstance(dataset, datasets.CapriciousStream):
            assert known <= truth.keys()


@streams
def test_what_is_done_to_a_sample_concerns_nobody(make):
    dataset = make()
    expected, truth = copy.deepcopy(list(dataset)), list(dataset.truth())
    for x, _ in dataset:
        x.clear()
    for x in dataset.truth():
        x.clear()
    assert list(dataset) == expected
    assert list(dataset.truth()) == truth


@streams
def test_describes_itself(make):
    dataset = make()
    assert type(dataset).__name__ in repr(dataset)
    assert dataset.n_samples == len(list(dataset)) == 100
    assert all(isinstance(t, int) for t in dataset.changes)
    assert list(dataset.changes) == sorted(set(dataset.changes))


@wrappers
def test_keeps_the_labels_and_the_source(wrap):
    source = [sample(t) for t in range(100)]
    assert [y for _, y in wrap(source)] == [y for _, y in source]
    assert source == [sample(t) for t in range(100)]


@wrappers
def test_reads_one_sample_at_a_time(wrap):
    source = Endless()
    for t, _ in enumerate(itertools.islice(wrap(source), 100)):
        assert source.n <= t + 1


@wrappers
def test_knows_nothing_of_the_future(wrap):
    long = [sample(t) for t in range(100)]
    expected, truth = list(wrap(long)), list(wrap(long).truth())
    for n in (0, 1, 19, 20, 21, 50, 99):
        assert list(wrap(long[:n])) == expected[:n]
        assert list(wrap(long[:n]).truth()) == truth[:n]


@wrappers
def test_takes_the_description_of_its_source(wrap):
    source = synth.Hyperplane(seed=1, n_features=8)
    dataset = wrap(source)
    assert (dataset.task, dataset.n_classes, dataset.n_samples) == (source.task, source.n_classes, None)
    assert "∞" in repr(dataset)
    assert [y for _, y in dataset.take(50)] == [y for _, y in source.take(50)]


@wrappers
def test_takes_data_sets_with_gaps(wrap):
    gaps = datasets.CapriciousStream([sample(t) for t in range(100)], missing=0.5, seed=5)
    dataset = wrap(gaps)
    assert list(dataset) == list(dataset)


@wrappers
def test_wants_to_be_iterable_again(wrap):
    with pytest.raises(ValueError, match="dataset must be iterable again and again"):
        wrap(iter([sample(0)]))
    with pytest.raises(ValueError, match="dataset must be iterable again and again"):
        wrap(7)


@wrappers
def test_works_where_data_sets_of_river_do(wrap):
    model = linear_model.LogisticRegression()
    source = [({str(k): v for k, v in x.items()}, y) for x, y in map(sample, range(100))]
    metric = evaluate.progressive_val_score(wrap(source), model, metrics.Accuracy(), delay=3)
    assert 0 <= metric.get() <= 1


@pytest.mark.parametrize("source", [Phishing(), TrumpApproval()], ids=lambda d: type(d).__name__)
def test_number_of_features(source):
    cycle = datasets.Cycle(n_spaces=3, overlap=10)
    for dataset in (
        datasets.MappedSpaces(source, cycle, seed=1),
        datasets.SplitSpaces(source, cycle, seed=1),
        datasets.CapriciousStream(source, seed=1),
    ):
        assert dataset.n_features == len({key for x, _ in dataset for key in x})


def test_probability_of_a_gap():
    dataset = datasets.CapriciousStream([sample(t) for t in range(2_000)], missing=0.3, seed=1)
    for key in KEYS:
        missing = 1 - sum(key in x for x, _ in dataset) / 2_000
        assert math.isclose(missing, 0.3, abs_tol=0.05)


@pytest.mark.parametrize(("missing", "n"), [(0, len(KEYS)), (1, 1)])
def test_extreme_gaps(missing, n):
    dataset = datasets.CapriciousStream([sample(t) for t in range(50)], missing=missing, seed=1)
    assert {len(x) for x, _ in dataset} == {n}


@pytest.mark.parametrize("period", [1, 5, 8, 37, 100])
def test_trapezoidal_keys_are_only_added(period):
    dataset = datasets.TrapezoidalStream([sample(t) for t in range(100)], period=period, seed=1)
    sizes = []
    for (x, _), (after, _) in itertools.pairwise(dataset):
        assert x.keys() <= after.keys()
        sizes.append(len(x))
    for t, n in enumerate(sizes):
        assert abs(n - min(1, (t + 1) / period) * len(KEYS)) <= 1
    assert sizes[period - 1 :] == [len(KEYS)] * (100 - period)


@pytest.mark.parametrize("shares", [(0.1, 0.5, 1.0), (0.0, 0.4), (1.0,)])
def test_trapezoidal_keys_are_added_by_shares(shares):
    rows = [sample(t) for t in range(90)]
    dataset = datasets.TrapezoidalStream(rows, seed=1, shares=shares, shuffle=False)
    for t, ((x, _), (whole, _)) in enumerate(zip(dataset, rows)):
        n = max(1, round(shares[t * len(shares) // 90] * len(KEYS)))
        assert list(x) == list(whole)[:n]


def test_trapezoidal_order_is_drawn():
    source = [sample(t) for t in range(100)]
    assert len({next(iter(next(iter(datasets.TrapezoidalStream(source, seed=s)))[0])) for s in range(30)}) > 1


@pytest.mark.parametrize(("start", "stop"), [(0, 10), (10, None), (10, 20), (0, None)])
def test_outage(start, stop):
    dataset = datasets.SensorOutage([sample(t) for t in range(30)], start, stop, keys=["a", 7], seed=1)
    for t, (x, _) in enumerate(dataset):
        away = start <= t < (30 if stop is None else stop)
        assert set(KEYS) - x.keys() == ({"a", 7} if away else set())
    assert dataset.changes == tuple(t for t in (start, stop) if t)


def test_number_of_sensors_that_are_out():
    for n in range(1, len(KEYS)):
        x, _ = next(iter(datasets.SensorOutage([sample(0)], keys=n, seed=1)))
        assert len(x) == len(KEYS) - n
    with pytest.raises(ValueError, match="keys must be less than the 8 seen so far"):
        list(datasets.SensorOutage([sample(0)], keys=len(KEYS)))


def test_a_wrapped_stream_hands_on_its_changes_and_its_truth():
    inner = datasets.HiddenFactors(n_samples=100, seed=1)
    outer = datasets.SensorOutage(datasets.CapriciousStream(inner, seed=1), start=20, seed=1)
    assert outer.changes == (20, 50)
    assert list(outer.truth()) == list(inner.truth())


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda d: datasets.CapriciousStream(d, missing=-0.1), "missing must be between 0 and 1, got -0.1"),
        (lambda d: datasets.CapriciousStream(d, missing=math.nan), "missing"),
        (lambda d: datasets.TrapezoidalStream(d, period=0), "period"),
        (lambda d: datasets.TrapezoidalStream(d, period=2.5), "period"),
        (lambda d: datasets.TrapezoidalStream(d, period=9, shares=(0.5, 0.4)), "shares"),
        (lambda d: datasets.TrapezoidalStream(d, period=9, shares=(0.5, 1.1)), "shares"),
        (lambda d: datasets.TrapezoidalStream(d, period=9, shares=()), "shares"),
        (lambda d: datasets.SensorOutage(d, start=-1), "start"),
        (lambda d: datasets.SensorOutage(d, start=3, stop=3), "stop"),
        (lambda d: datasets.SensorOutage(d, keys=0), "keys"),
        (lambda d: datasets.SensorOutage(d, keys="pressure"), "keys"),
        (lambda d: datasets.MappedSpaces(d, width=0), "width"),
        (lambda d: datasets.MappedSpaces(d, width=math.inf), "width"),
        (lambda d: datasets.SplitSpaces(d, groups=[["a"], ["a"]]), "groups must be disjoint"),
        (lambda d: datasets.SplitSpaces(d, CYCLES[1], groups=[["a"], ["b"]]), "groups must be 3"),
        (lambda d: datasets.SplitSpaces(Phishing(), datasets.Cycle(n_spaces=10)), "n_spaces"),
        (lambda d: datasets.SplitSpaces(d, groups=["ab", "cd"]), "groups must be collections"),
        (lambda d: datasets.HiddenFactors(n_factors=0), "n_factors"),
        (lambda d: datasets.HiddenFactors(width=0), "width"),
        (lambda d: datasets.HiddenFactors(noise=-1), "noise"),
        (lambda d: datasets.HiddenFactors(n_samples=0), "n_samples"),
    ],
)
def test_rejects_parameters_out_of_range(make, message):
    with pytest.raises(ValueError, match=message):
        make([sample(t) for t in range(100)])


@pytest.mark.parametrize(
    "make",
    [datasets.MappedSpaces, datasets.SplitSpaces, datasets.TrapezoidalStream],
    ids=lambda make: make.__name__,
)
def test_asks_for_the_period_when_the_length_is_unknown(make):
    with pytest.raises(ValueError, match="period must be given, because the length"):
        make(Endless())
