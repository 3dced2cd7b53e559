"""How well does PUFE predict beside River's models?

usage: python tests/benchmarks/accuracy.py [--data FOLDER] [--out docs] [--runs 5] [--jobs N]

Writes `accuracy.md` and `figures/calibration.png` into the folder given. The FESL files and the real streams are read
from `--data`; without it those parts of the page are left out.
"""

from __future__ import annotations

import functools
import itertools

import games
import numpy as np
import pages
import streams
from river import datasets as river_datasets

from river_pufe import PUFEClassifier, PUFERegressor, datasets

PUFE = "PUFE"
#: Seeds of the maps of `Bananas`.
SEEDS = 10
#: Runs of River's slow models, at most.
OTHER_RUNS = 3


def pufe(stream, regression):
    make = PUFERegressor if regression else PUFEClassifier
    return {PUFE: make(absent=stream.absent)}


def linear(stream, regression):
    return games.river_models(stream, regression) | pufe(stream, regression)


def models(stream, regression):
    rivals = games.river_models(stream, regression) | games.nonlinear_models(stream, regression)
    return rivals | pufe(stream, regression)


# Four spaces in a row.


def play_spaces(job):
    """Scores of River's linear models and PUFE in one run, shape (models, 2)."""
    name, cycle, run = job
    regression = name in streams.REGRESSION
    stream = streams.four_spaces(name, run, cycle)
    return np.array([games.score(model, stream, regression) for model in linear(stream, regression).values()])


def four_spaces(runs, processes):
    """Two tables, of all rounds and of the first ones after a change, and what they come to."""
    cells = list(itertools.product(streams.BUNDLED, streams.CYCLES))
    jobs = [(name, cycle, run) for name, cycle in cells for run in range(runs)]
    scores = dict(zip(jobs, games.play_all(play_spaces, jobs, processes)))
    texts, above, within, below = [{}, {}], 0, [], []
    for name, cycle in cells:
        of_runs = np.array([scores[name, cycle, run] for run in range(runs)])
        better = -1 if name in streams.REGRESSION else 1
        for part, (rounds, values) in enumerate(zip(("all rounds", "first rounds"), np.moveaxis(of_runs, 2, 0))):
            *river, pufe = values.T
            best = max(river, key=lambda score: better * score.mean())
            gain = better * (pufe - best)
            won = gain.mean() >= 0
            told = pages.bold(digits(pufe.mean()), won), pages.bold(digits(best.mean()), not won)
            texts[part][name, cycle] = pages.together(told, "·")
            if won:
                above += 1
            else:
                certain = -gain.mean() > 2 * games.standard_error(gain)
                line = f"{name}, {cycle}, {rounds}: {digits(pufe.mean())} against {digits(best.mean())}"
                (below if certain else within).append(line)
    tables = [
        pages.table(
            ["", *streams.CYCLES],
            [[name, *(text[name, cycle] for cycle in streams.CYCLES)] for name in streams.BUNDLED],
        )
        for text in texts
    ]
    return {
        "ALL": tables[0],
        "EARLY": tables[1],
        "CELLS": 2 * len(cells),
        "ABOVE": above,
        "N_BELOW": len(below),
        "N_WITHIN": len(within),
        "BELOW": listed(below),
        "WITHIN": listed(within),
    }


def digits(score):
    """As many as a reader needs."""
    return f"{score:.3f}" if score < 10 else f"{score:.1f}" if score < 1000 else f"{score:.0e}"


def listed(names):
    return "\n".join(f"- {name}" for name in names) or "- none"


# Other models of River.


def play_others(job):
    """Scores of River's other models and PUFE in one run, by name."""
    name, run = job
    regression = name in streams.REGRESSION
    stream = streams.four_spaces(name, run)
    played = games.nonlinear_models(stream, regression) | pufe(stream, regression)
    return {key: games.score(model, stream, regression) for key, model in played.items()}


def others(runs, processes):
    """A table of scores over all rounds that count and over the first ones after a change."""
    runs = min(runs, OTHER_RUNS)
    jobs = list(itertools.product(streams.BUNDLED, range(runs)))
    played = dict(zip(jobs, games.play_all(play_others, jobs, processes)))
    rows, n_ahead, behind = [], 0, []
    heads = ["River ARF", "River HAT", "River KNN", PUFE]
    for name in streams.BUNDLED:
        pick = min if name in streams.REGRESSION else max
        means = np.array([np.mean([played[name, run][head] for run in range(runs)], axis=0) for head in heads])
        best = [pick(column) for column in means.T]
        rows.append(
            [name, *(pages.together(pages.bold(digits(v), v == b) for v, b in zip(row, best)) for row in means)]
        )
        for rounds, values in zip(("all rounds", "first rounds"), means.T):
            *rivals, own = values
            if pick(values) == own:
                n_ahead += 1
            else:
                behind.append(f"{name}, {rounds}: {digits(own)} against {digits(pick(rivals))}")
    return {
        "OTHERS": pages.table(["", *heads], rows),
        "OTHER_RUNS": runs,
        "N_OTHERS": 2 * len(rows),
        "ABOVE_OTHERS": n_ahead,
        "BELOW_OTHERS": listed(behind),
    }


# A target that no line can tell.


def bananas():
    return itertools.islice(river_datasets.Bananas(), 2500)


def play_bananas(seed):
    """Accuracy of each model: in one space where there is no seed, and else through four."""
    samples = list(bananas())
    if seed is not None:
        samples = list(datasets.MappedSpaces(samples, datasets.Cycle(n_spaces=4), width=1.0, seed=seed))
    stream = streams.Stream(samples, slice(0, None), np.arange(0))
    return {name: games.play(model, samples, games.right).mean() for name, model in models(stream, False).items()}


def of_bananas(processes):
    one, *four = games.play_all(play_bananas, [None, *range(SEEDS)], processes)
    rows = [["one space", one], ["four spaces", {name: np.mean([run[name] for run in four]) for name in one}]]
    return {
        "BANANAS": pages.table(
            ["", *one],
            [
                [label, *(pages.bold(f"{v:.3f}", v == max(scores.values())) for v in scores.values())]
                for label, scores in rows
            ],
        ),
        "SEEDS": SEEDS,
    }


# The FESL files.


def play_fesl(job, folder):
    """Probabilities of each model for the rounds after the change, shape (models, rounds), and the labels."""
    name, unpredictable, run = job
    stream = streams.fesl(folder, name, run, unpredictable)
    said = [games.play(model, stream.samples, games.probability) for model in models(stream, False).values()]
    labels = np.array([y for _, y in stream.samples])
    return np.array(said)[:, stream.judged], labels[stream.judged]


def fesl(folder, runs, processes):
    names = streams.fesl_names(folder)
    jobs = list(itertools.product(names, (True, False), range(min(runs, 10))))
    played = dict(zip(jobs, games.play_all(functools.partial(play_fesl, folder=folder), jobs, processes)))
    heads = list(models(streams.fesl(folder, names[0], 0), False))
    rows, sums, worse = [], [], []
    for name, unpredictable in itertools.product(names, (True, False)):
        measures = np.mean(
            [fesl_measures(*outcome) for job, outcome in played.items() if job[:2] == (name, unpredictable)], axis=0
        )
        label = f"{name}, {'unpredictable' if unpredictable else 'predictable'}"
        rows.append([label, *fesl_cells(measures)])
        sums.append(measures)
        if measures[-1, 2] > measures[:-1, 2].min():
            worse.append(label)
    rows.append(["mean", *fesl_cells(np.mean(sums, axis=0))])
    pooled = [outcome for job, outcome in played.items() if job[1]]
    labels = np.concatenate([own for _, own in pooled])
    calibrations = {
        head: games.calibration(np.concatenate([said[m] for said, _ in pooled]), labels) for m, head in enumerate(heads)
    }
    errors = [[head, f"{error:.3f}"] for head, (_, _, _, error) in calibrations.items()]
    return calibrations, {
        "FESL": pages.table(["", *pufe_first(heads)], rows),
        "WORSE": f"{len(worse)} of {len(rows) - 1} rows" + (f" ({'; '.join(worse)})" if worse else ""),
        "ECE": pages.table(["", "expected calibration error"], errors),
        "POOLED": f"{len(labels):,}",
        "FESL_RUNS": min(runs, 10),
    }


def fesl_measures(said, labels):
    """Accuracy, accuracy of the first rounds and log loss of each model, shape (models, 3)."""
    right = (said > 0.5) == labels
    return np.stack([right.mean(1), right[:, : streams.EARLY].mean(1), games.log_losses(said, labels).mean(1)], axis=1)


def fesl_cells(measures):
    best = np.stack([measures[:, 0].max(), measures[:, 1].max(), measures[:, 2].min()])
    cells = [pages.together(pages.bold(f"{v:.3f}", v == top) for v, top in zip(row, best)) for row in measures]
    return pufe_first(cells)


def pufe_first(cells):
    """So that PUFE's column is seen where the table is too wide for the page."""
    return [cells[-1], *cells[:-1]]


# Real streams.


def play_real(job, folder):
    name, regression = job
    stream = streams.real(folder, name, regression)
    return {key: games.score(model, stream, regression) for key, model in models(stream, regression).items()}


def real(folder, processes):
    jobs = list(itertools.product(streams.REAL, (False, True)))
    scores = dict(zip(jobs, games.play_all(functools.partial(play_real, folder=folder), jobs, processes)))
    first = f"first {streams.EARLY_REAL}"
    heads = ["", "accuracy, all", f"accuracy, {first}", "mean absolute error, all", f"mean absolute error, {first}"]
    texts = []
    for name in streams.REAL:
        columns = [
            {key: score[part] for key, score in scores[name, regression].items()}
            for regression, part in itertools.product((False, True), range(2))
        ]
        best = [pick(column.values()) for pick, column in zip((max, max, min, min), columns)]
        rows = [
            [
                key,
                *("-" if key not in c else pages.bold(digits(c[key]), c[key] == top) for c, top in zip(columns, best)),
            ]
            for key in dict.fromkeys(itertools.chain(*columns[1:3]))
            if key != PUFE
        ]
        rows.append([PUFE, *(pages.bold(digits(c[PUFE]), c[PUFE] == top) for c, top in zip(columns, best))])
        texts.append(pages.table(heads, rows))
    return dict(zip(("WIFI", "ECB"), texts))


def draw(path, calibrations):
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    from river_pufe import plot

    figure, (top, bottom) = pyplot.subplots(
        2, 1, figsize=(5, 5.6), height_ratios=(3, 1), sharex=True, layout="constrained"
    )
    top.plot([0, 1], [0, 1], color="0.6", linewidth=1, linestyle=":")
    styles = [(PUFE, plot.COLOURS[0], "s-", -0.015), ("River AdaGrad", plot.COLOURS[1], "o--", 0.015)]
    for name, colour, style, shift in styles:
        said, true, counts, error = calibrations[name]
        top.plot(said, true, style, color=colour, label=f"{name}: off by {error:.3f} on average")
        bottom.bar(np.floor(10 * said) / 10 + 0.05 + shift, counts / counts.sum(), 0.03, color=colour)
    top.set(ylabel="share of True", xlim=(0, 1), ylim=(0, 1), title="When a probability is said, how often is it True?")
    bottom.set(xlabel="probability of True", ylabel="share of samples")
    top.legend(frameon=False)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=130)
    pyplot.close(figure)


def main():
    options = pages.parser(__doc__, runs=5).parse_args()
    values = four_spaces(options.runs, options.jobs) | others(options.runs, options.jobs) | of_bananas(options.jobs)
    if options.data:
        calibrations, of_fesl = fesl(options.data, options.runs, options.jobs)
        draw(options.out / "figures" / "calibration.png", calibrations)
        values |= of_fesl | real(options.data, options.jobs)
    pages.write(options.out, "accuracy", RUNS=options.runs, **values)


if __name__ == "__main__":
    main()
