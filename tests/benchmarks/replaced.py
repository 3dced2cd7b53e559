"""What happens when a sensor is replaced under its own name?

usage: python tests/benchmarks/replaced.py [--out docs] [--runs 10] [--jobs N]

Writes `replaced.md` into the folder given.
"""

from __future__ import annotations

import itertools

import games
import numpy as np
import pages

from river_pufe import FeatureRecovery, PUFEClassifier, PUFERegressor

#: Rounds of a stream, and the one in which a sensor changes.
ROUNDS, CHANGE = 1400, 800
#: Rounds before the change that count, and those after it.
BEFORE, PARTS = 300, ((0, 100), (100, 300), (300, 600))
SIZES = (2, 8, 32)
#: Changes of the unit of a target, and the rounds after them that count: in the first 16 the new unit is not known.
UNITS = ("°F → °C", "°C → K", "× 100", "× 1000", "× 0.001")
TARGET_PARTS = ((20, 100), (100, 300), (300, 600))
#: Share of its variance that the others explain of a feature, where they do.
EXPLAINED = 0.95
#: What the changed sensor reads, given what it would have read, its former values, and a random generator.
CHANGES = {
    "°F → °C": lambda v, old, rng: (v - 32) / 1.8,
    "°C → K": lambda v, old, rng: v + 273.15,
    "× 100": lambda v, old, rng: 100 * v,
    "× 1000": lambda v, old, rng: 1000 * v,
    "× 0.001": lambda v, old, rng: v / 1000,
    "× 1.37, − 11": lambda v, old, rng: 1.37 * v - 11,
    "restarts at 0": lambda v, old, rng: v - old.max(),
    "stuck": lambda v, old, rng: np.full_like(v, old[-1]),
    "noise": lambda v, old, rng: rng.choice(old, size=len(v)),
}
#: Streams on which nothing changes, given a random generator: shape (ROUNDS, 8).
STATIONARY = {
    "independent": lambda rng: rng.normal(size=(ROUNDS, 8)),
    "factors": lambda rng: factors(rng, 8),
    "factors, heavy tails": lambda rng: rng.standard_t(2, size=(ROUNDS, 2)) @ loadings(rng, 8) + noise(rng, 0.3),
    "heavy tails": lambda rng: rng.standard_t(2, size=(ROUNDS, 8)),
    "the heaviest tails": lambda rng: rng.standard_cauchy(size=(ROUNDS, 8)),
    "counts": lambda rng: rng.poisson(0.5, size=(ROUNDS, 8)),
    "counts of factors": lambda rng: rng.poisson(np.exp(factors(rng, 8) / 2)),
    "binary": lambda rng: rng.random((ROUNDS, 8)) < 0.05,
    "binary factors": lambda rng: factors(rng, 8) > 0,
    "ordinal": lambda rng: np.round(np.clip(factors(rng, 8), -2, 2)),
    "persistent (0.9)": lambda rng: persistent(rng, 0.9),
    "persistent (0.99)": lambda rng: persistent(rng, 0.99),
    "random walks": lambda rng: rng.normal(size=(ROUNDS, 8)).cumsum(0),
    "seasons": lambda rng: 2 * np.sin(np.arange(ROUNDS) / 50)[:, None] + noise(rng, 0.5),
    "spells of unrest": lambda rng: noise(rng, 1.0) * np.where(spells(rng), 4.0, 1.0),
    "at rest in spells": lambda rng: (3 + noise(rng, 1.0)) * spells(rng),
}


def noise(rng, deviation):
    return rng.normal(0, deviation, size=(ROUNDS, 8))


def loadings(rng, d):
    ways = rng.normal(size=(max(1, d // 4), d))
    return ways / np.sqrt(np.square(ways).sum(0))


def factors(rng, d):
    """Rows of variance 1, of which few hidden factors explain most."""
    hidden = rng.normal(size=(ROUNDS, max(1, d // 4)))
    return EXPLAINED**0.5 * hidden @ loadings(rng, d) + (1 - EXPLAINED) ** 0.5 * rng.normal(size=(ROUNDS, d))


def persistent(rng, share):
    rows = noise(rng, (1 - share**2) ** 0.5)
    for t in range(1, ROUNDS):
        rows[t] += share * rows[t - 1]
    return rows


def spells(rng):
    """In which rounds features are in a spell: one in two hundred begins, one in fifty ends."""
    on = np.zeros((ROUNDS, 8), dtype=bool)
    for t in range(1, ROUNDS):
        on[t] = on[t - 1] ^ (rng.random(8) < np.where(on[t - 1], 0.02, 0.005))
    return on


# What a change costs.


def stream(change, d, explained, seed):
    """Thermometers and a target of deviation 8, both of which the first one counts for; and its label."""
    rng = np.random.default_rng(seed)
    rows = factors(rng, d) if explained else rng.normal(size=(ROUNDS, d))
    weights = rng.normal(size=d)
    weights[0] = 1.0 if d > 2 else weights[0]
    target = rows @ weights
    target = 8 * target / target.std() + rng.normal(0, 0.4, size=ROUNDS)
    rows = (20 if change == "°C → K" else 68) + 10 * rows
    if change is not None:
        rows[CHANGE:, 0] = CHANGES[change](rows[CHANGE:, 0], rows[:CHANGE, 0], rng)
    return rows, target


def play(job):
    """Errors before the change and after it, of the models on the stream that changes and on one without the sensor."""
    regression, explained, d, change, run = job
    rows, target = stream(change, d, explained, run)
    parts = [slice(CHANGE - BEFORE, CHANGE), *(slice(CHANGE + start, CHANGE + stop) for start, stop in PARTS)]
    scores = []
    for model, first in ((on, 0), (off, 0), (on, 1)):
        errors = play_one(model(regression), rows[:, first:], target if regression else target > 0)
        scores.append([errors[part].mean() for part in parts])
    return scores


def on(regression):
    return PUFERegressor() if regression else PUFEClassifier()


def off(regression):
    recovery = FeatureRecovery(false_alarms=0.0)
    return PUFERegressor(recovery=recovery) if regression else PUFEClassifier(recovery=recovery)


def play_one(model, rows, targets):
    errors = np.zeros(len(rows))
    for t, (row, y) in enumerate(zip(rows.tolist(), targets.tolist())):
        x = {f"f{j}": value for j, value in enumerate(row)}
        guess = model.predict_one(x)
        errors[t] = abs((guess or 0.0) - y)
        model.learn_one(x, y)
    return errors


def changes(regression, runs, processes):
    """Rows of changes and sizes: errors after the change, with detection and without."""
    cells = list(itertools.product((True, False), CHANGES, SIZES))
    jobs = [(regression, explained, d, change, run) for explained, change, d in cells for run in range(runs)]
    played = dict(zip(jobs, games.play_all(play, jobs, processes)))
    rows = []
    for explained, change, d in cells:
        of_runs = [played[regression, explained, d, change, run] for run in range(runs)]
        found, blind, without = np.mean(of_runs, axis=0)
        cells_of_row = [pages.bold(digits(a), a < 0.98 * b) + " · " + digits(b) for a, b in zip(found[1:], blind[1:])]
        kind = "explained" if explained else "independent"
        rows.append([kind, change, d, digits(found[0]), *cells_of_row, digits(without[-1])])
    after = [f"rounds {start + 1} to {stop}" for start, stop in PARTS]
    return pages.table(["features", "change", "number", "before", *after, "without the sensor"], rows)


def play_target(job):
    """Errors before the target changes its unit and after it, in its own unit at the time."""
    explained, d, change, run = job
    rows, target = stream(None, d, explained, run)
    target = (20 if change == "°C → K" else 68) + target
    changed = CHANGES[change](target, target[:CHANGE], None)
    unit = np.where(np.arange(ROUNDS) < CHANGE, 1.0, np.std(changed) / np.std(target))
    errors = play_one(PUFERegressor(), rows, np.where(np.arange(ROUNDS) < CHANGE, target, changed)) / unit
    parts = [slice(CHANGE - BEFORE, CHANGE), *(slice(CHANGE + start, CHANGE + stop) for start, stop in TARGET_PARTS)]
    return [errors[part].mean() for part in parts]


def targets(runs, processes):
    """Rows of changes and sizes: errors after a change of the target's unit."""
    cells = list(itertools.product((True, False), UNITS, SIZES))
    jobs = [(*cell[:1], cell[2], cell[1], run) for cell in cells for run in range(runs)]
    played = dict(zip(jobs, games.play_all(play_target, jobs, processes)))
    rows = []
    for explained, change, d in cells:
        means = np.mean([played[explained, d, change, run] for run in range(runs)], axis=0)
        rows.append(["explained" if explained else "independent", change, d, *map(digits, means)])
    after = [f"rounds {start + 1} to {stop}" for start, stop in TARGET_PARTS]
    return pages.table(["features", "change", "number", "before", *after], rows)


def digits(number):
    return f"{number:.3f}"


# False alarms.


def play_calm(job):
    """How many events there are where nothing changes."""
    kind, run = job
    recovery = FeatureRecovery()
    for row in STATIONARY[kind](np.random.default_rng(run)).astype(float).tolist():
        recovery.learn_one(dict(enumerate(row)))
    kinds = [event.kind for event in recovery.events]
    return kinds.count("rescaled"), kinds.count("replaced")


def calm(runs, processes):
    jobs = [(kind, run) for kind in STATIONARY for run in range(runs)]
    played = dict(zip(jobs, games.play_all(play_calm, jobs, processes)))
    rows = []
    for kind in STATIONARY:
        rescaled, replaced = np.sum([played[kind, run] for run in range(runs)], axis=0)
        rows.append([kind, f"{runs * ROUNDS * 8:,}", rescaled, replaced])
    return pages.table(["features", "values", "rescaled", "replaced"], rows)


def main():
    options = pages.parser(__doc__).parse_args()
    pages.write(
        options.out,
        "replaced",
        RUNS=options.runs,
        REGRESSION=changes(True, options.runs, options.jobs),
        CLASSIFICATION=changes(False, options.runs, options.jobs),
        TARGETS=targets(options.runs, options.jobs),
        CALM=calm(5 * options.runs, options.jobs),
    )


if __name__ == "__main__":
    main()
