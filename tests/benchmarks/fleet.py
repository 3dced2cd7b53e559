"""What does a model for each of many keys cost, and what is it worth to start from a sibling?

usage: python tests/benchmarks/fleet.py [--only lock states ...] [--runs 5] [--page docs/fleet.md]

Writes its tables into the page, between the marks of their names. Times are those of the processor, but for Spark's,
which are those of the clock; Spark needs the extra `spark` and Java, and its table stays as it is without them. All of
it takes about five minutes on one core.
"""

from __future__ import annotations

import argparse
import copy
import itertools
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

N_MANY, N_COLD, N_LIVE = 100_000, 5_000, 1000
WIDTHS = (4, 8, 32)
SPREADS = (0.0, 0.1, 0.3, 1.0)
SPANS = ((0, 10), (10, 50), (50, 100), (100, 300))
PAGE = pathlib.Path(__file__).parents[2] / "docs" / "fleet.md"


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


def one_process(n=10_000, n_keys=50, turns=3):
    """Microseconds of an event: a dict of River's models, a dict of ours, and a fleet."""
    events = list(stream(n, n_keys=n_keys))
    carried = [({**x, "key": key}, y) for key, _, x, y in events]
    ways = {
        "a dict of River's models": lambda: loop(river, events),
        "a dict of `PUFEClassifier`": lambda: loop(PUFEClassifier, events),
        "a `Fleet` of `PUFEClassifier`": lambda: play(Fleet(PUFEClassifier), carried),
    }
    times = [{name: microseconds(way, n) for name, way in ways.items()} for _ in range(turns)]
    return {name: statistics.median(turn[name] for turn in times) for name in ways}


def one_process_table():
    rates = one_process()
    first = next(iter(rates.values()))
    return pages.table(
        ["50 keys, 8 features", "events a second", "time, ratio"],
        [[name, f"{1e6 / each:,.0f}", f"{each / first:.2f}"] for name, each in rates.items()],
    )


def lock(n=100_000):
    """Microseconds of taking and releasing the lock, of predicting, and of predicting and learning."""
    model = PUFEClassifier()
    events = [(x, y) for _, _, x, y in stream(4000)]
    a_round = microseconds(lambda: play(model, events), len(events))
    x, _ = events[-1]
    asking = microseconds(lambda: [model.predict_proba_one(x) for _ in range(4000)], 4000)
    plain, guarded = type(model).rounds.fget.__wrapped__, type(model).rounds.fget
    once = statistics.median(
        microseconds(lambda: [guarded(model) for _ in range(n)], n)
        - microseconds(lambda: [plain(model) for _ in range(n)], n)
        for _ in range(5)
    )
    return once, asking, a_round


def lock_table():
    once, asking, a_round = lock()
    return pages.table(
        ["8 features", "µs", "of which the lock"],
        [
            ["taking the lock and letting it go", f"{once:.2f}", ""],
            ["predicting", f"{asking:.0f}", f"{once / asking:.1%}"],
            ["a round: predicting and learning", f"{a_round:.0f}", f"{2 * once / a_round:.1%}"],
        ],
    )


def state_of(d):
    """kB of a state and of a pickle in the middle of an overlap, µs of learn_one, and costs in learn_one."""
    model, samples = PUFEClassifier(), [(x, y) for _, _, x, y in stream(2000, d)]
    for x, y in samples[:1050]:
        model.learn_one(x, y)
    twin, rest = copy.deepcopy(model), samples[1050:]
    learning = microseconds(lambda: [twin.learn_one(x, y) for x, y in rest], len(rest))
    data, pickled = state.dumps(model), pickle.dumps(model)
    costs = [
        statistics.median(microseconds(act, 1) for _ in range(30)) / learning
        for act in (
            lambda: state.dumps(model),
            lambda: state.loads(data, trusted=True),
            lambda: state.loads(data),
            lambda: pickle.loads(pickle.dumps(model)),
        )
    ]
    return len(data) / 1e3, len(pickled) / 1e3, learning, *costs


def states_table():
    head = ["features", "kB", "kB of a pickle", "µs of `learn_one`", "dumping", "loading", "loading with checks"]
    return pages.table([*head, "pickle and back"], [[2 * d, *(f"{cell:,.0f}" for cell in state_of(d))] for d in WIDTHS])


def batches(n=1000, d=8):
    """Microseconds an event of `step`, by the number of events at once, and of the plain loop."""
    events = [(t, x, y) for _, t, x, y in stream(n, d)]

    def steps(size):
        data = None
        for start in range(0, n, size):
            data, _ = step(data, events[start : start + size])

    times = {size: microseconds(lambda size=size: steps(size), n) for size in (1, 10, 100)}
    return times, microseconds(lambda: play(PUFEClassifier(), [(x, y) for _, x, y in events]), n)


def steps_table():
    steps, plain = batches()
    return pages.table(
        ["events at once", "µs an event", "ratio to the plain loop"],
        [[size, f"{each:.0f}", f"{each / plain:.1f}"] for size, each in steps.items()],
    )


def many():
    """What a fleet of many keys prints in a process of its own, as its memory is that of the process."""
    code = "import fleet; fleet.feed()"
    here = pathlib.Path(__file__).parent
    out = subprocess.run([sys.executable, "-c", code], cwd=here, capture_output=True, text=True, check=True).stdout
    return [line.split() for line in out.splitlines()]


def feed(n_keys=N_MANY, n_cold=N_COLD):
    """A new key in each event, then events of keys that have long been in the file."""
    rng = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as folder:
        fleet = Fleet(PUFEClassifier, store=SQLiteStore(pathlib.Path(folder) / "fleet.db"), live=N_LIVE)

        def learn(keys):
            for key, row in zip(keys, rng.normal(size=(len(keys), 4)).tolist()):
                fleet.learn_one({"key": key, **dict(zip("abcd", row))}, row[0] > 0)

        def told(n, each):
            peak = int(pathlib.Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0]) / 1024
            size = sum(path.stat().st_size for path in pathlib.Path(folder).iterdir()) / 1e6
            print(n, each, peak, size, flush=True)

        edges = [0, n_keys // 100, n_keys // 10, n_keys // 2, n_keys]
        for start, end in itertools.pairwise(edges):
            told(end, microseconds(lambda start=start, end=end: learn(range(start, end)), end - start))
        told("old", microseconds(lambda: learn(rng.permutation(n_keys // 2)[:n_cold].tolist()), n_cold))


def many_table():
    rows = []
    for n, each, peak, size in many():
        what = f"one of {N_COLD:,} keys from the file" if n == "old" else f"new, until there are {int(n):,}"
        rows.append([what, f"{1e6 / float(each):,.0f}", f"{float(peak):,.0f}", f"{float(size):,.0f}"])
    return pages.table(["key of the event", "events a second", "peak of the process, MB", "file, MB"], rows)


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


def errors_of(model, site, seed, change):
    rng, errors = np.random.default_rng(seed), []
    for x, y in site_stream(rng, site, SPANS[-1][1], change, 0):
        errors.append(abs(model.predict_one({**x, "key": "child"}) - y))
        model.learn_one({**x, "key": "child"}, y)
    return errors


def siblings(spread, changes, runs):
    """Mean absolute errors of a new site, by when it changes, inherited or not, and span of its life.

    Eight siblings have lived their lives before.
    """
    errors = {(change, inherits): [] for change in changes for inherits in (True, False)}
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        *elders, child = sites(rng, 9, spread)
        lives = [list(site_stream(rng, site, 600, int(rng.integers(200, 400)), 20)) for site in elders]
        fleet = Fleet(PUFERegressor, inherit=True)
        for t, key in itertools.product(range(600), range(len(lives))):
            x, y = lives[key][t]
            fleet.learn_one({**x, "key": key}, y)
        for change, inherits in errors:
            model = copy.deepcopy(fleet) if inherits else Fleet(PUFERegressor)
            errors[change, inherits].append(errors_of(model, child, 1000 + seed, change))
    means = {case: np.mean(each, axis=0) for case, each in errors.items()}
    return {case: [float(mean[start:end].mean()) for start, end in SPANS] for case, mean in means.items()}


def siblings_table(runs):
    rows, whens = [], {0: "new sensors at once", 30: "a change at 30"}
    for spread in SPREADS:
        errors = siblings(spread, whens, runs)
        for change, when in whens.items():
            pairs = zip(errors[change, True], errors[change, False])
            cells = [
                pages.together((pages.bold(f"{kin:.2f}", kin < alone), pages.bold(f"{alone:.2f}", alone < kin)))
                for kin, alone in pairs
            ]
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
        test_spark.session("-Dfile.encoding=UTF-8")
        begun = time.perf_counter() - start
        test_spark.write(path / "in", events, n_files)
        progress = test_spark.run(path)
        batches = [each["durationMs"]["triggerExecution"] for each in progress if each["numInputRows"]]
        checkpoint = sum(file.stat().st_size for file in (path / "checkpoint").rglob("*") if file.is_file())
        # The first batch starts the workers.
        each = 1e3 * statistics.median(batches[1:]) / (n // n_files)
        return begun, batches[0] / 1000, each, microseconds(lambda: loop(PUFEClassifier, events), n), checkpoint / 1e6


def spark_table():
    if shutil.which("java") is None:
        return None
    begun, first_batch, each, plain, size = on_spark()
    return pages.table(
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


TABLES = {
    "lock": lock_table,
    "one process": one_process_table,
    "states": states_table,
    "many": many_table,
    "siblings": siblings_table,
    "spark": spark_table,
    "steps": steps_table,
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--only", nargs="+", choices=TABLES, default=list(TABLES), help="names of tables")
    parser.add_argument("--runs", type=int, default=5, help="runs of the siblings")
    parser.add_argument("--page", type=pathlib.Path, default=PAGE, help="the page with the marks")
    arguments = parser.parse_args()
    for name in arguments.only:
        start = time.perf_counter()
        text = TABLES[name](arguments.runs) if name == "siblings" else TABLES[name]()
        if text is not None:
            pages.fill(arguments.page, name, text)
        print(f"{name}, {time.perf_counter() - start:.0f} s\n\n{text}\n", flush=True)


if __name__ == "__main__":
    main()
