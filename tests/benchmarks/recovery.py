"""How much of what is absent, and of what is gone, is recovered, and is it known how well?

usage: python tests/benchmarks/recovery.py [--data FOLDER] [--out docs] [--runs 5] [--jobs N]

Writes `recovery.md` into the folder given. The FESL files are read from `--data`; without it their rows are left out.
"""

from __future__ import annotations

import functools
import itertools

import games
import numpy as np
import pages
import streams

from river_pufe import FeatureRecovery

#: Features, hidden factors, deviation of the noise.
FACTORS = ((8, 3, 0.3), (32, 3, 0.3), (32, 10, 0.3), (64, 10, 0.5))
MISSING = (0.1, 0.5, 0.75)
#: Rounds of a stream with gaps, and the first of those that count.
ROUNDS, JUDGED = 1500, 1000
#: Rounds in which both spaces are seen, and whether the previous features vanish one by one.
OVERLAPS = tuple(itertools.product((20, 50), (False, True)))
#: Rounds after a change that do not count, because the change is found in them, and those that do.
FOUND, AFTER = 5, 400
#: Shares between which intervals of 90 % may be said to be right.
AIM = (0.85, 0.95)
#: Standard deviations on either side of the mean that hold 90 % of a normal law.
WIDTH = 1.6449


def sample(row, seen):
    return {j: float(row[j]) for j in np.flatnonzero(seen)}


def expected(recovery, x, keys):
    """Values and standard deviations of some features; NaN where they are not known."""
    known = recovery.expected_one(x)
    return np.array([known.get(key, (np.nan, np.nan)) for key in keys]).reshape(-1, 2).T


# Completion.


def of_factors(d, k, noise, seed):
    """Rows, in which each feature has a variance of 1, and their covariance."""
    rng = np.random.default_rng(seed)
    loadings = rng.normal(size=(k, d))
    rows = rng.normal(size=(ROUNDS, k)) @ loadings + rng.normal(0, noise, size=(ROUNDS, d))
    covariance = loadings.T @ loadings + noise**2 * np.eye(d)
    unit = np.sqrt(covariance.diagonal())
    return rows / unit, covariance / np.outer(unit, unit)


def play_gaps(job):
    """Share of the missing variance that is completed, the same by the true covariance, and coverage."""
    factors, missing, run = job
    rows, covariance = of_factors(*factors, seed=run)
    seen = np.random.default_rng(1000 + run).random(rows.shape) >= missing
    recovery, absent, completed, best, held = FeatureRecovery(), [], [], [], []
    for t, (row, there) in enumerate(zip(rows, seen)):
        x = sample(row, there)
        if t >= JUDGED and not there.all():
            gone, given = np.flatnonzero(~there), covariance[np.ix_(there, there)]
            values, deviations = expected(recovery, x, gone)
            absent.append(row[gone])
            completed.append(values)
            best.append(np.linalg.solve(given, row[there]) @ covariance[np.ix_(there, ~there)])
            held.append(np.abs(values - row[gone]) <= WIDTH * deviations)
        recovery.learn_one(x)
    absent, completed, best = (np.concatenate(values) for values in (absent, completed, best))
    return share(completed, absent), share(best, absent), np.concatenate(held).mean()


def share(guessed, true):
    """R²: the share of the variance around 0 that is explained."""
    return 1.0 - np.square(guessed - true).sum() / np.square(true).sum()


def gaps(runs, processes):
    cells = list(itertools.product(FACTORS, MISSING))
    jobs = [(*cell, run) for cell in cells for run in range(runs)]
    played = dict(zip(jobs, games.play_all(play_gaps, jobs, processes)))
    rows, means = [], []
    for (d, k, noise), missing in cells:
        mean = np.mean([played[(d, k, noise), missing, run] for run in range(runs)], axis=0)
        means.append(mean)
        rows.append([d, k, percent(missing, 0), *(f"{v:.3f}" for v in mean[:2]), percent(mean[2])])
    means = np.array(means)
    labels = [f"{d} features, {k} factors, {percent(missing, 0)} missing" for (d, k, _), missing in cells]
    heads = ["features", "factors", "missing", "completed", "by the true covariance", "within 90 % intervals"]
    return pages.table(heads, rows), {
        "DISTANCE": f"{(means[:, 1] - means[:, 0]).mean():.3f}",
        "WORST": f"{(means[:, 1] - means[:, 0]).max():.3f}",
        "HELD": span(means[:, 2]),
        "OUTSIDE": outside(labels, means[:, 2]),
    }


def percent(share, digits=1):
    return f"{100 * share:.{digits}f} %"


def span(coverages):
    return f"{percent(coverages.min())} to {percent(coverages.max())}"


def outside(labels, coverages):
    """Where intervals hold fewer true values than they should, or more."""
    cells = zip(labels, coverages)
    return "\n".join(f"- {label}: {percent(held)}" for label, held in cells if not AIM[0] <= held <= AIM[1]) or "- none"


# Recovery.


def play_change(job, folder):
    """Share of the variance of the vanished features that is recovered, that of the best map, and coverage."""
    name, run, (overlap, one_by_one) = job
    previous, current = streams.rows_of_two(folder, name, run)
    (n, p), change = previous.shape, len(previous) // 2
    # When each previous feature vanishes; the last of them lives until the change.
    ends = np.full(p, change)
    if one_by_one:
        order = np.random.default_rng(run).permutation(p)
        ends = change - overlap + np.ceil(overlap * (1 + order) / p).astype(int)
    rows = np.hstack([previous, current])
    opens = np.repeat([0, change - overlap], [p, current.shape[1]])
    closes = np.append(ends, np.full(current.shape[1], n))
    recovery, judged, held, guessed = FeatureRecovery(), range(change + FOUND, min(n, change + FOUND + AFTER)), [], []
    unit = previous[:change].std(0)
    unit[unit == 0.0] = 1.0
    mean = previous[:change].mean(0)
    for t in range(judged.stop):
        x = sample(rows[t], (opens <= t) & (t < closes))
        if t in judged:
            values, deviations = expected(recovery, x, range(p))
            # What has never varied, or is not recovered, counts as the mean and has no interval.
            known = deviations > 0.0
            guessed.append(np.where(known, values, mean))
            held.append((np.abs(values - rows[t, :p]) <= WIDTH * deviations)[known])
        recovery.learn_one(x)
    true = (previous[judged] - mean) / unit
    inputs = np.column_stack([np.ones(len(true)), current[judged]])
    best = inputs @ np.linalg.lstsq(inputs, true, rcond=None)[0]
    covered = np.concatenate(held).mean() if held else np.nan
    return share((np.array(guessed) - mean) / unit, true), share(best, true), covered


def changes(folder, runs, processes):
    names = [*(streams.fesl_names(folder) if folder else []), *streams.MAPPED]
    jobs = list(itertools.product(names, range(runs), OVERLAPS))
    played = games.play_all(functools.partial(play_change, folder=folder), jobs, processes)
    figures = np.array(played).reshape(len(names), runs, len(OVERLAPS), 3).mean(1)
    heads = [f"{overlap} rounds, {'one by one' if one_by_one else 'intact'}" for overlap, one_by_one in OVERLAPS]
    labels, cells_of = [*names, "mean"], itertools.product(names, heads)
    shares = np.column_stack([figures[:, :, 0], figures[:, :, 1].mean(1)])
    cells = [[f"{v:.2f}" for v in row] for row in [*shares, shares.mean(0)]]
    covered = [[percent(v) for v in row] for row in [*figures[:, :, 2], figures[:, :, 2].mean(0)]]
    return (
        pages.table(["", *heads, "best linear map in hindsight"], [[n, *c] for n, c in zip(labels, cells)]),
        pages.table(["", *heads], [[n, *c] for n, c in zip(labels, covered)]),
        {
            "RECOVERED_HELD": span(figures[:, :, 2]),
            "RECOVERED_OUTSIDE": outside(itertools.starmap("{}, {}".format, cells_of), figures[:, :, 2].ravel()),
        },
    )


def main():
    options = pages.parser(__doc__, runs=5).parse_args()
    completed, of_gaps = gaps(options.runs, options.jobs)
    recovered, covered, of_changes = changes(options.data, options.runs, options.jobs)
    pages.write(
        options.out,
        "recovery",
        COMPLETED=completed,
        RECOVERED=recovered,
        COVERED=covered,
        RUNS=options.runs,
        **of_gaps,
        **of_changes,
    )


if __name__ == "__main__":
    main()
