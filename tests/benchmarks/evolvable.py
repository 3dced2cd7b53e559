"""The paper's Table II with OPID and SF2EL added, and each of them in the setting that it was made for.

usage: python tests/benchmarks/evolvable.py --data FOLDER [--out docs] [--runs 10] [--jobs N]

Writes `rivals/evolvable.md` into the folder given. The csv files of FESL are read from `fesl` in the data folder.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools

import games
import numpy as np
import pages
import review
import streams
from printed import PRINTED
from river import linear_model, optim, preprocessing

from river_pufe import PUFEClassifier, baselines, compare, datasets

METHODS = (
    *("NOGD", "ROGD-u", "FESL-c", "PUFE (paper)", "OPID", "OPIDe", "SF2EL", "PUFE", "River SGD", "River AdaGrad"),
)
#: Steps of 1/(c√t), as for the other methods that have a c.
C_GRID = (0.1, 1.0, 10.0, 100.0)
LABELLED = (1, 10, 30)


def table(folder, runs, jobs):
    """Features standardized on the fly, an overlap of 20 rounds, and the best c for each method that has one."""
    paths = sorted((folder / "fesl").glob("*.csv"))
    data = [dataclasses.replace(compare.load(path), scaled=False) for path in paths]
    comparisons = [compare.run(each, METHODS, overlap=20, runs=runs, grid=True, jobs=jobs) for each in data]
    return compare.to_markdown(comparisons, PRINTED)


# Without an overlap, with survivors.


def scaled(model):
    return preprocessing.StandardScaler() | model


def for_survivors(c):
    return {
        "NOGD": scaled(baselines.NOGDClassifier(c)),
        "REFORM": scaled(baselines.REFORMClassifier(c)),
        "OPID": scaled(baselines.OPIDClassifier()),
        "OPIDe": scaled(baselines.OPIDClassifier(ensemble=True)),
        "PUFE": PUFEClassifier(),
        "River SGD": scaled(linear_model.LogisticRegression()),
        "River AdaGrad": scaled(linear_model.LogisticRegression(optim.AdaGrad(0.1))),
    }


TWO_CLASSES = ("Phishing", "Bananas", "breast cancer")


def surviving(name, run, folder):
    """Two spaces of random maps, half of the first of which survives the change; there is no overlap."""
    if name in TWO_CLASSES:
        samples = streams.BUNDLED[name](run)
    else:
        rows = streams.fesl(folder, name, run).samples
        previous = [({k: v for k, v in x.items() if k.startswith("X1_")}, y) for x, y in rows]
        samples = [(x, y) for x, y in previous if x]
    cycle, width = datasets.Cycle(overlap=0, survivors=0.5), max(0.7, 3 / len(samples[0][0]))
    return streams.after_changes(datasets.MappedSpaces(samples, cycle, width, seed=run))


def play_surviving(job, folder):
    """Accuracy after the change, and in the first rounds of it, by method; the best c for those that have one."""
    stream = surviving(*job, folder)
    scores = {}
    for c in C_GRID:
        for name, model in for_survivors(c).items():
            if c == C_GRID[0] or name in ("NOGD", "REFORM"):
                scores.setdefault(name, []).append(games.score(model, stream, regression=False))
    return scores


def survivors(folder, runs, processes):
    names = [*TWO_CLASSES, *streams.fesl_names(folder)]
    jobs = list(itertools.product(names, range(runs)))
    played = dict(zip(jobs, games.play_all(functools.partial(play_surviving, folder=folder), jobs, processes)))
    heads, rows, everything = list(for_survivors(1.0)), [], []
    for name in names:
        figures = []
        for method in heads:
            of_c = np.mean([played[name, run][method] for run in range(runs)], axis=0)
            figures.append(of_c[of_c[:, 0].argmax()])
        everything.append(figures)
        rows.append([name, *cells(np.array(figures))])
    rows.append(["mean", *cells(np.mean(everything, axis=0))])
    return pages.table(["", *heads], rows)


def cells(figures):
    best = figures.max(0)
    return [pages.together(pages.bold(f"{v:.3f}", v == top) for v, top in zip(row, best)) for row in figures]


# With rare labels.


class WithScale:
    """Features are standardized by all samples, labelled or not; a pipeline of River would not see the latter."""

    def __init__(self, model):
        self.model, self.scaler = model, preprocessing.StandardScaler()

    def predict_one(self, x):
        return self.model.predict_one(self.scaler.transform_one(x))

    def learn_one(self, x, y):
        self.scaler.learn_one(x)
        self.model.learn_one(self.scaler.transform_one(x), y)

    def observe_one(self, x):
        self.scaler.learn_one(x)
        if hasattr(self.model, "observe_one"):
            self.model.observe_one(self.scaler.transform_one(x))


def for_rare_labels(c):
    return {
        "FESL-c": WithScale(baselines.FESLClassifier(c=c)),
        "SF2EL": WithScale(baselines.SF2ELClassifier(c=c, seed=1)),
        "PUFE": PUFEClassifier(),
        "River SGD": WithScale(linear_model.LogisticRegression()),
        "River AdaGrad": WithScale(linear_model.LogisticRegression(optim.AdaGrad(0.1))),
    }


def play_rare(job, folder):
    """Accuracy after the change, by method and c, where one sample of so many has a label."""
    name, every, run = job
    stream = streams.fesl(folder, name, run, unpredictable=False)
    scores = {}
    for c in C_GRID:
        for method, model in for_rare_labels(c).items():
            if c == C_GRID[0] or method in ("FESL-c", "SF2EL"):
                said = np.empty(len(stream.samples))
                for t, (x, y) in enumerate(stream.samples):
                    said[t] = model.predict_one(x) == y
                    if t % every:
                        model.observe_one(x)
                    else:
                        model.learn_one(x, y)
                scores.setdefault(method, []).append(said[stream.judged].mean())
    return scores


def rare(folder, runs, processes):
    names = streams.fesl_names(folder)
    jobs = list(itertools.product(names, LABELLED, range(min(runs, 10))))
    played = dict(zip(jobs, games.play_all(functools.partial(play_rare, folder=folder), jobs, processes)))
    heads, rows, everything = list(for_rare_labels(1.0)), [], {every: [] for every in LABELLED}
    for every, name in itertools.product(LABELLED, names):
        of_runs = [played[name, every, run] for run in range(min(runs, 10))]
        figures = np.array([np.mean([scores[method] for scores in of_runs], axis=0).max() for method in heads])
        everything[every].append(figures)
        rows.append([f"{name}, 1 of {every}", *(pages.bold(f"{v:.3f}", v == figures.max()) for v in figures)])
    for every, figures in everything.items():
        mean = np.mean(figures, axis=0)
        rows.append([f"mean, 1 of {every}", *(pages.bold(f"{v:.3f}", v == mean.max()) for v in mean)])
    return pages.table(["", *heads], rows)


def times(folder):
    rows = []
    for name in streams.fesl_names(folder):
        samples = streams.fesl(folder, name, 0, unpredictable=False).samples
        models = {
            "FESL-c": scaled(baselines.FESLClassifier()),
            "SF2EL": scaled(baselines.SF2ELClassifier()),
            **for_survivors(1.0),
        }
        widths = len(samples[0][0]), len(samples[-1][0])
        rows.append([name, pages.together(map(str, widths)), *(f"{t:.0f}" for t in timed(models, samples))])
    return pages.table(["", "features before / after", *models], rows)


def timed(models, samples):
    return review.microseconds(models, samples).values()


def main():
    parser = pages.parser(__doc__)
    options = parser.parse_args()
    if options.data is None:
        parser.error("--data is needed: where are the files of FESL?")
    values = {
        "TABLE": table(options.data, options.runs, options.jobs),
        "SURVIVORS": survivors(options.data, options.runs, options.jobs),
        "RARE": rare(options.data, options.runs, options.jobs),
        "TIMES": times(options.data),
    }
    pages.write(options.out / "rivals", "evolvable", RUNS=options.runs, **values)


if __name__ == "__main__":
    main()
