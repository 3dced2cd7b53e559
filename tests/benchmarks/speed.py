"""How fast is PUFE beside River's linear models, and how much memory does it take?

usage: python tests/benchmarks/speed.py [--out docs]

Times are ratios: both models take turns over the same stream in one process, and each figure is the median of the
pairwise ratios. Writes `benchmarks.md` with a table and `figures/benchmarks.png` into the folder given.
"""

from __future__ import annotations

import argparse
import pathlib
import pickle
import statistics
import subprocess
import sys
import time

import numpy as np
import pages
from river import linear_model, preprocessing, stream

import river_pufe
from river_pufe import PUFEClassifier, PUFERegressor
from river_pufe.experts import Identity, LinearExperts

WIDTHS = (8, 32, 128, 512)
LONG, LONG_CHANGES = 200_000, 50
CHANGES = (0, 1, 3, 10, 30)
ROUNDS = 1500
TURNS = 3
#: Those of all figures: ours is blue.
BLUE, ORANGE = "#0072B2", "#D55E00"


#: How values are absent, and from how many of all.
GAPS = {"a few, at random": 0.03, "half, at random": 0.5, "a third, in spells": 1 / 3}
SHARES = {"nothing": 0.0} | GAPS


def river():
    return preprocessing.StandardScaler() | linear_model.LogisticRegression()


def river_for_numbers():
    return preprocessing.StandardScaler() | linear_model.LinearRegression()


def row_alone():
    """The linear models of the row alone, without the feature maps for targets that are not linear."""
    return PUFEClassifier(LinearExperts(maps=(Identity(),)))


def two_spaces(d, n, overlap=40, seed=0):
    """Samples of d previous and then d current features, all from the same hidden factors."""
    rng = np.random.default_rng(seed)
    hidden = rng.normal(size=(n, min(d, 10)))
    rows = [hidden @ rng.normal(size=(hidden.shape[1], d)) + 0.1 * rng.normal(size=(n, d)) for _ in range(2)]
    change = n // 2
    vanishes = change - overlap + rng.integers(1, overlap + 1, size=d)
    samples = []
    for t in range(n):
        x = {f"p{j}": float(rows[0][t, j]) for j in range(d) if t < vanishes[j]}
        if t >= change - overlap:
            x.update((f"c{j}", float(rows[1][t, j])) for j in range(d))
        samples.append((x, bool(hidden[t, 0] > 0)))
    return samples, change


def seconds(model, samples, start):
    for x, y in samples[:start]:
        model.learn_one(x, y)
    begin = time.perf_counter()
    for x, y in samples[start:]:
        model.predict_one(x)
        model.learn_one(x, y)
    return (time.perf_counter() - begin) / (len(samples) - start)


def with_gaps(d, kind, n=2000, target=lambda hidden: bool(hidden > 0)):
    """Samples of one space from which values are absent."""
    rng = np.random.default_rng(d)
    hidden = rng.normal(size=(n, 3))
    rows = hidden @ rng.normal(size=(3, d)) + 0.3 * rng.normal(size=(n, d))
    if "spells" in kind:
        away = np.logical_xor.accumulate(
            np.vstack([rng.random(d) < SHARES[kind], rng.random((n - 1, d)) < 1 / 75]), axis=0
        )
    else:
        away = rng.random((n, d)) < SHARES[kind]
    return [
        ({f"k{j}": value for j, value in enumerate(row.tolist()) if not gone[j]}, target(h))
        for row, gone, h in zip(rows, away, hidden[:, 0])
    ]


def side_by_side(samples, start, make=PUFEClassifier, base=river):
    """Microseconds a sample of River and of PUFE, and the median of their ratios."""
    pairs = [(seconds(base(), samples, start), seconds(make(), samples, start)) for _ in range(TURNS)]
    ratio = statistics.median(model / base for base, model in pairs)
    return *(1e6 * statistics.median(pair[i] for pair in pairs) for i in (0, 1)), ratio


def after_changes(n_changes, d=16, period=200):
    """The same, behind a number of earlier changes of the feature space."""
    rng = np.random.default_rng(n_changes)
    samples = []
    for space in range(n_changes + 1):
        last = space == n_changes
        for t in range(period + ROUNDS if last else period):
            hidden = rng.normal(size=d)
            x = {f"{space}_{j}": hidden[j] for j in range(d)}
            if not last and t >= period - 20:
                x.update((f"{space + 1}_{j}", hidden[j] + hidden[j - 1]) for j in range(d))
            samples.append((x, bool(hidden[0] > 0)))
    return side_by_side(samples, len(samples) - ROUNDS)


def pickled(d):
    """Bytes and milliseconds of a pickle after a change."""
    samples, _ = two_spaces(d, ROUNDS)
    model = PUFEClassifier()
    for x, y in samples:
        model.learn_one(x, y)
    begin = time.perf_counter()
    data = pickle.dumps(model)
    return len(data), 1e3 * (time.perf_counter() - begin)


def mini_batches(d=32, n=3000):
    """How many times faster a frame of rows is than a loop over its rows: learning, predicting."""
    import pandas as pd

    samples, change = two_spaces(d, 2 * n)
    rows, targets = zip(*samples[change:])
    frame, target = pd.DataFrame(list(rows)), pd.Series(targets)
    loop, batch = PUFEClassifier(), PUFEClassifier()
    times = []
    for act in (
        lambda: [loop.learn_one(x, y) for x, y in stream.iter_frame(frame, target)],
        lambda: batch.learn_many(frame, target),
        lambda: [loop.predict_proba_one(x) for x, _ in stream.iter_frame(frame, target)],
        lambda: batch.predict_proba_many(frame),
    ):
        begin = time.perf_counter()
        act()
        times.append(time.perf_counter() - begin)
    return times[0] / times[1], times[2] / times[3]


def alone(call):
    """The numbers that a call of this module prints in a process of its own."""
    code = f"import speed; speed.{call}"
    here = pathlib.Path(__file__).parent
    out = subprocess.run([sys.executable, "-c", code], cwd=here, capture_output=True, text=True, check=True).stdout
    return [tuple(map(float, line.split())) for line in out.splitlines()]


def megabytes():
    """Peak memory of this process, as Linux tells it; what `resource` tells includes the process that started it."""
    status = pathlib.Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) / 1024


def wide(d, n=120):
    """Peak MB of a change from d to d features, the µs a sample after it, and their ratio to River's."""
    rng, model, base = np.random.default_rng(0), PUFEClassifier(), river()
    times = [0.0, 0.0]
    for t in range(n):
        row = rng.normal(size=d)
        x = {f"p{j}": v for j, v in enumerate(row.tolist())} if t < n // 2 else {}
        if t >= n // 2 - 10:
            x.update((f"c{j}", v) for j, v in enumerate((row + 1).tolist()))
        for i, each in enumerate((model, base) if t >= n - 40 else (model,)):
            begin = time.perf_counter()
            each.predict_one(x)
            each.learn_one(x, bool(row[0] > 0))
            times[i] += time.perf_counter() - begin
        if t == n - 41:
            times = [0.0, 0.0]
    print(megabytes(), 1e6 * times[0] / 40, times[0] / times[1])


def long(n=LONG, n_changes=LONG_CHANGES, d=16):
    """For each space of a long stream: its number, peak MB at its end, and the µs a sample while it was alone."""
    rng, model, period = np.random.default_rng(0), PUFEClassifier(), n // (n_changes + 1)
    for space in range(n_changes + 1):
        lapse = 0.0
        for hidden in rng.normal(size=(period, d)):
            x = {f"{space}_{j}": v for j, v in enumerate(hidden.tolist())}
            y = bool(hidden[0] > 0)
            begin = time.perf_counter()
            model.predict_one(x)
            model.learn_one(x, y)
            lapse += time.perf_counter() - begin
        print(space, megabytes(), 1e6 * lapse / period)
        for hidden in rng.normal(size=(30, d)):
            x = {f"{space}_{j}": v for j, v in enumerate(hidden.tolist())}
            x.update((f"{space + 1}_{j}", v) for j, v in enumerate((hidden + np.roll(hidden, 1)).tolist()))
            model.learn_one(x, bool(hidden[0] > 0))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("docs"))
    out = parser.parse_args().out

    before = {d: side_by_side(two_spaces(d, 2 * ROUNDS)[0][: ROUNDS - 40], ROUNDS // 2) for d in WIDTHS}
    after = {d: side_by_side(*two_spaces(d, 2 * ROUNDS)) for d in WIDTHS}
    alone_after = {d: side_by_side(*two_spaces(d, 2 * ROUNDS), row_alone) for d in WIDTHS}
    gaps = {
        (d, kind): [side_by_side(with_gaps(d, kind), 0, make) for make in (PUFEClassifier, row_alone)]
        for d in (8, 32, 128)
        for kind in GAPS
    }
    numbers = {
        (d, kind): side_by_side(with_gaps(d, kind, target=float), 1000, PUFERegressor, river_for_numbers)
        for d in (8, 32, 128)
        for kind in ("nothing", "half, at random")
    }
    changes = {n: after_changes(n) for n in CHANGES}
    pickles = {d: pickled(d) for d in WIDTHS}
    learn, predict = mini_batches()
    memory = {d: alone(f"wide({d})")[0] for d in (1000, 5000, 20000)}
    spaces = alone("long()")

    page = f"""# Speed and memory

Time of `predict_one` and `learn_one` together, beside River's `StandardScaler | LogisticRegression`, in one process
on one thread. River's loops over keys are compiled; PUFE works on arrays, so its fixed cost shows in narrow samples,
and pays in wide ones. *The row alone* is PUFE without the feature maps for targets that are not linear
([how to choose](recipes/models.md#the-linear-models-alone)). This page is written by
`python tests/benchmarks/speed.py`, here with the {"compiled" if river_pufe.compiled else "plain"} version.

![Time and memory](figures/benchmarks.png)

## Time against the number of features

{
        pages.table(
            [
                "features",
                *("one space: River µs", "PUFE µs", "ratio"),
                *("after a change: River µs", "PUFE µs", "ratio", "the row alone"),
            ],
            [
                [
                    d,
                    f"{before[d][0]:.0f}",
                    f"{before[d][1]:.0f}",
                    f"{before[d][2]:.2f}",
                    f"{after[d][0]:.0f}",
                    f"{after[d][1]:.0f}",
                    f"{after[d][2]:.2f}",
                    f"{alone_after[d][2]:.2f}",
                ]
                for d in WIDTHS
            ],
        )
    }

## Samples with gaps

River's scaler and model pass over what is absent; PUFE completes it, and learns how the features hang together. Values
are absent at random, or in spells of some 75 rounds; a spell can be long enough for a key to count as vanished, so that
spaces open and close.

{
        pages.table(
            ["features", "absent", "River µs", "PUFE µs", "ratio", "the row alone, ratio"],
            [
                [d, kind, f"{v[0][0]:.0f}", f"{v[0][1]:.0f}", f"{v[0][2]:.2f}", f"{v[1][2]:.2f}"]
                for (d, kind), v in gaps.items()
            ],
        )
    }

On average over this table a round costs {statistics.fmean(v[0][2] for v in gaps.values()):.1f} times River's, and
{statistics.fmean(v[1][2] for v in gaps.values()):.1f} times with the row alone.

## Numbers

`PUFERegressor` beside River's `StandardScaler | LinearRegression`, after a thousand rounds.

{
        pages.table(
            ["features", "absent", "River µs", "PUFE µs", "ratio"],
            [[d, kind, f"{v[0]:.0f}", f"{v[1]:.0f}", f"{v[2]:.2f}"] for (d, kind), v in numbers.items()],
        )
    }

## Time against the number of past changes

{pages.table(["past changes", "ratio to River, 16 features"], [[n, f"{v[2]:.2f}"] for n, v in changes.items()])}

## Wide samples

From d features to d others; above 600 features the second-order rule keeps a diagonal. Peaks are those
of a process of its own, Python and its libraries included.

{
        pages.table(
            ["features d", "peak of the process, MB", "PUFE ms a sample", "ratio to River"],
            [[d, f"{v[0]:.0f}", f"{v[1] / 1e3:.1f}", f"{v[2]:.2f}"] for d, v in memory.items()],
        )
    }

## Long streams

{LONG:,} samples of 16 features, in one pass through {LONG_CHANGES} changes of all of them.

{
        pages.table(
            ["past changes", "peak of the process, MB", "µs a sample"],
            [[f"{space:.0f}", f"{peak:.0f}", f"{each:.0f}"] for space, peak, each in spaces if space % 10 == 0],
        )
    }

## Pickles

{pages.table(["features", "kB", "ms"], [[d, f"{v[0] / 1e3:.0f}", f"{v[1]:.1f}"] for d, v in pickles.items()])}

## Mini-batches

At 32 features `learn_many` is {learn:.1f} times as fast as a loop of `learn_one` over the rows of the frame, and
`predict_proba_many` {predict:.1f} times as fast as a loop of `predict_proba_one`. Learning stays sequential: the answer
is that of the loop, row by row.
"""
    (out / "benchmarks.md").write_text(page)
    draw(out / "figures" / "benchmarks.png", after, changes, memory)


def draw(path, after, changes, memory):
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    _, (time_axes, change_axes, memory_axes) = plt.subplots(1, 3, figsize=(11, 3.2), layout="constrained")
    for label, position, style, colour in (("PUFE", 1, "s-", BLUE), ("River", 0, "o--", ORANGE)):
        time_axes.loglog(list(after), [v[position] for v in after.values()], style, color=colour, label=label)
    time_axes.set(xlabel="features", ylabel="µs a sample", title="after a change")
    time_axes.legend()
    change_axes.plot(list(changes), [v[2] for v in changes.values()], "s-", color=BLUE)
    change_axes.set(
        xlabel="past changes",
        ylabel="ratio to River",
        ylim=(0, 1.2 * max(v[2] for v in changes.values())),
        title="16 features",
    )
    memory_axes.plot(list(memory), [v[0] for v in memory.values()], "s-", color=BLUE)
    memory_axes.set(
        xlabel="features",
        ylabel="peak MB",
        ylim=(0, 1.2 * max(v[0] for v in memory.values())),
        title="memory of the process",
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    plt.savefig(path, dpi=110)


if __name__ == "__main__":
    main()
