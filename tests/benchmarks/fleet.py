"""What does a model for each of many keys cost, and what is it worth to start from a sibling?

usage: python tests/benchmarks/fleet.py [--out docs]

Times are those of the processor, but for Spark's, which are those of the clock.

Writes `fleet.md`. The figures of Spark need the extra `spark` and Java; the section is left out where they are missing.
"""

from __future__ import annotations

import itertools
import json
import pathlib
import pickle
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np
import pages
from river import linear_model, preprocessing

from river_pufe import PUFEClassifier, PUFERegressor, state
from river_pufe.fleet import Fleet, SQLiteStore, step

MANY, LIVE = 100_000, 1000
WIDTHS = (4, 8, 32)
SPREADS = (0.0, 0.1, 0.3, 1.0)
SPANS = ((0, 10), (10, 50), (50, 100), (100, 300))


def river():
    return preprocessing.StandardScaler() | linear_model.LogisticRegression()


def stream(n, d=8, n_keys=1, seed=0):
    """Events of some keys at random, all of d features; in the second half these are others."""
    rng = np.random.default_rng(seed)
    maps, weights = rng.normal(size=(2, d, 4)), rng.normal(size=4)
    for t in range(n):
        hidden = rng.normal(size=4)
        old = t < 0.55 * n
        x = {f"old {j}": v for j, v in enumerate((maps[0] @ hidden).tolist())} if old else {}
        if t >= n // 2:
            x |= {f"new {j}": v for j, v in enumerate((maps[1] @ hidden).tolist())}
        yield int(rng.integers(n_keys)), t, x, bool(weights @ hidden > 0)


def microseconds(act, n):
    start = time.process_time()
    act()
    return 1e6 * (time.process_time() - start) / n


def play(model, events):
    for x, y in events:
        model.predict_proba_one(x)
        model.learn_one(x, y)


def loop(factory, events):
    """A plain dict of models."""
    models = {}
    for key, _, x, y in events:
        model = models.get(key)
        if model is None:
            model = models[key] = factory()
        model.predict_proba_one(x)
        model.learn_one(x, y)


def one_process(n=20_000, n_keys=50, turns=3):
    """Events a second: a dict of River's models, a dict of ours, and a fleet."""
    events = list(stream(n, n_keys=n_keys))
    carried = [({**x, "key": key}, y) for key, _, x, y in events]
    ways = {
        "a dict of River's models": lambda: loop(river, events),
        "a dict of `PUFEClassifier`": lambda: loop(PUFEClassifier, events),
        "a `Fleet` of `PUFEClassifier`": lambda: play(Fleet(PUFEClassifier), carried),
    }
    times = [{name: microseconds(way, n) for name, way in ways.items()} for _ in range(turns)]
    return {name: statistics.median(turn[name] for turn in times) for name in ways}


def lock(n=200_000):
    """Nanoseconds of a guarded call, and its share in a round of 8 features, in percent."""
    model = PUFEClassifier()
    events = [(x, y) for _, _, x, y in stream(4000)]
    a_round = microseconds(lambda: play(model, events), len(events))
    plain, guarded = type(model).rounds.fget.__wrapped__, type(model).rounds.fget
    once = statistics.median(
        microseconds(lambda: [guarded(model) for _ in range(n)], n)
        - microseconds(lambda: [plain(model) for _ in range(n)], n)
        for _ in range(5)
    )
    # Predicting and learning take it once each.
    return 1000 * once, 100 * 2 * once / a_round


def state_of(d):
    """Bytes of a state and of a pickle, and microseconds of a round, of dumping, loading, and loading with checks."""
    model, samples = PUFEClassifier(), list(stream(2000, d))
    for _, _, x, y in samples[:1050]:
        model.learn_one(x, y)
    a_round = microseconds(lambda: play(model, [(x, y) for _, _, x, y in samples[1050:]]), 950)
    data = state.dumps(model)
    times = [
        statistics.median(microseconds(act, 1) for _ in range(30))
        for act in (
            lambda: state.dumps(model),
            lambda: state.loads(data, trusted=True),
            lambda: state.loads(data),
        )
    ]
    return len(data), len(pickle.dumps(model)), a_round, *times


def batches(n=1000, d=8):
    """Microseconds an event of `step`, by the number of events at once, and of the plain loop."""
    events = [(t, x, y) for _, t, x, y in stream(n, d)]

    def steps(size):
        data = None
        for start in range(0, n, size):
            data, _ = step(data, events[start : start + size])

    times = {size: microseconds(lambda size=size: steps(size), n) for size in (1, 10, 100)}
    return times, microseconds(lambda: play(PUFEClassifier(), [(x, y) for _, x, y in events]), n)


def many(n_keys=MANY, per_key=4):
    """Events a second, peak MB of the process and MB of the file of a fleet of many keys, four features each."""
    code = f"import fleet; fleet.feed({n_keys}, {per_key})"
    here = pathlib.Path(__file__).parent
    out = subprocess.run([sys.executable, "-c", code], cwd=here, capture_output=True, text=True, check=True).stdout
    return [tuple(map(float, line.split())) for line in out.splitlines()]


def feed(n_keys, per_key):
    """Each key has its events one after another; what is printed is printed ten times."""
    rng = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "fleet.db"
        model = Fleet(PUFEClassifier, store=SQLiteStore(file), live=LIVE)
        start = time.process_time()
        for key in range(n_keys):
            for row in rng.normal(size=(per_key, 4)).tolist():
                model.learn_one({"key": key, **dict(zip("abcd", row))}, row[0] > 0)
            if (key + 1) % (n_keys // 10) == 0:
                rate = (key + 1) * per_key / (time.process_time() - start)
                peak = int(pathlib.Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0]) / 1024
                size = sum(path.stat().st_size for path in pathlib.Path(folder).iterdir()) / 1e6
                print(key + 1, rate, peak, size, flush=True)


# Siblings: the truth is known, and so is how far the sites are apart.


def sites(rng, n, spread, d=8, r=4):
    """Sites of one make: what their sensors read of the hidden factors, and what the target is."""
    make = [rng.normal(size=(d, r)), rng.normal(size=(d, r)), rng.normal(size=r), np.zeros(d), np.zeros(d)]
    return [[part + spread * rng.normal(size=part.shape) for part in make] for _ in range(n)]


def site_stream(rng, site, n, change, overlap, noise=0.1):
    old, new, weights, old_bias, new_bias = site
    for t in range(n):
        hidden, x = rng.normal(size=len(weights)), {}
        if t < change + overlap:
            x |= dict(zip(map("old {}".format, range(8)), old @ hidden + old_bias + noise * rng.normal(size=8)))
        if t >= change:
            x |= dict(zip(map("new {}".format, range(8)), new @ hidden + new_bias + noise * rng.normal(size=8)))
        yield x, float(weights @ hidden + noise * rng.normal())


def siblings(spread, inherit, change, runs):
    """Mean absolute errors of a new site in some spans of its life, after eight siblings have lived theirs."""
    errors = []
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        *elders, child = sites(rng, 9, spread)
        lives = [list(site_stream(rng, site, 600, int(rng.integers(200, 400)), 20)) for site in elders]
        fleet = Fleet(PUFERegressor, inherit=inherit)
        for t, key in itertools.product(range(600), range(len(lives))):
            x, y = lives[key][t]
            fleet.learn_one({**x, "key": key}, y)
        errors.append([])
        for x, y in site_stream(rng, child, SPANS[-1][1], change, 0):
            errors[-1].append(abs(fleet.predict_one({**x, "key": "child"}) - y))
            fleet.learn_one({**x, "key": "child"}, y)
    mean = np.mean(errors, axis=0)
    return [float(mean[start:end].mean()) for start, end in SPANS]


def inheritance(runs):
    rows = []
    for spread, (when, change) in itertools.product(SPREADS, (("new sensors at once", 0), ("a change at 30", 30))):
        nothing, kin = (siblings(spread, inherit, change, runs) for inherit in (False, True))
        pairs = [(pages.bold(f"{k:.2f}", k < n), pages.bold(f"{n:.2f}", n < k)) for n, k in zip(nothing, kin)]
        cells = [pages.together(pair) for pair in pairs]
        rows.append([spread, when, *cells])
    return pages.table(["apart", "the new site has", *(f"events {a}–{b}" for a, b in SPANS)], rows)


def on_spark(n_keys=50, n=20_000, n_files=10):
    """Seconds of a start, microseconds an event in a query after that and in the plain loop."""
    sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
    import test_spark

    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder)
        events = list(stream(n, n_keys=n_keys))
        start = time.perf_counter()
        test_spark.session()
        begun = time.perf_counter() - start
        test_spark.write(path / "in", events, n_files)
        progress = test_spark.run(path)
        batches = [each["durationMs"]["triggerExecution"] for each in progress if each["numInputRows"]]
        checkpoint = sum(file.stat().st_size for file in (path / "checkpoint").rglob("*") if file.is_file())
        # The first batch starts the workers.
        each = 1e3 * statistics.median(batches[1:]) / (n // n_files)
        return begun, batches[0] / 1000, each, microseconds(lambda: loop(PUFEClassifier, events), n), checkpoint / 1e6


def main():
    options = pages.parser(__doc__, runs=10)
    arguments = options.parse_args()
    values = {}
    rates = one_process()
    first = next(iter(rates.values()))
    values["ONE_PROCESS"] = pages.table(
        ["50 keys, 8 features", "events a second", "time, ratio"],
        [[name, f"{1e6 / each:,.0f}", f"{each / first:.2f}"] for name, each in rates.items()],
    )
    nanoseconds, share = lock()
    values |= {"LOCK_NS": f"{nanoseconds:.0f}", "LOCK_SHARE": f"{share:.1f}"}
    values["STATES"] = pages.table(
        ["features", "kB", "kB of a pickle", "µs of a round", "dumping, in rounds", "loading", "loading with checks"],
        [
            [d, f"{size / 1e3:.0f}", f"{pickled / 1e3:.0f}", f"{each:.0f}", *(f"{cost / each:.0f}" for cost in costs)]
            for d, (size, pickled, each, *costs) in ((d, state_of(d)) for d in WIDTHS)
        ],
    )
    steps, plain = batches()
    values["STEPS"] = pages.table(
        ["events at once", "µs an event", "ratio to the plain loop"],
        [[size, f"{each:.0f}", f"{each / plain:.1f}"] for size, each in steps.items()],
    )
    values["MANY"] = pages.table(
        ["keys so far", "events a second", "peak of the process, MB", "file, MB"],
        [[f"{n:,.0f}", f"{rate:,.0f}", f"{peak:.0f}", f"{size:.0f}"] for n, rate, peak, size in many()],
    )
    values["INHERITANCE"] = inheritance(arguments.runs)
    if shutil.which("java") is not None:
        begun, first_batch, each, plain, size = on_spark()
        values["SPARK"] = pages.table(
            ["", "figure"],
            [
                ["start of the session", f"{begun:.0f} s"],
                ["first batch of 2,000 events, which starts the workers", f"{first_batch:.0f} s"],
                ["an event of a later batch", f"{each:.0f} µs"],
                ["an event in a plain dict of models, one thread", f"{plain:.0f} µs"],
                ["ratio", f"{each / plain:.1f}"],
                ["checkpoint of the query at the end, 2 batches retained", f"{size:.0f} MB"],
            ],
        )
    print(json.dumps(values, indent=1))
    pages.write(arguments.out, "fleet", **values)


if __name__ == "__main__":
    main()
