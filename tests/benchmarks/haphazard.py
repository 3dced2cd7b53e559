"""Balanced accuracy on the streams of a review of haphazard inputs, beside the nine methods that it prints.

usage: python tests/benchmarks/haphazard.py --data FOLDER [--out docs] [--jobs N]

Writes `rivals/haphazard.md` into the folder given. Streams and printed figures are read from `haphazard` in the data
folder; `review.py` says in which form.
"""

from __future__ import annotations

import functools
import itertools

import games
import numpy as np
import pages
import review
from river import linear_model, optim, preprocessing

from river_pufe import PUFEClassifier, baselines

#: What is searched for each table, as in the review.
C_GRID = (1e-4, 0.01, 1.0)
OLVF = [{"C": C, "C_bar": C_bar} for C, C_bar in itertools.product(C_GRID, C_GRID)]
OCDS = [{"alpha": alpha, "beta_1": beta, "beta_2": beta} for alpha, beta in itertools.product(C_GRID, C_GRID)]

AT_SHARE = "PUFE, at the share"


def scaled(model):
    return preprocessing.StandardScaler() | model


def untuned():
    return {
        "PUFE": PUFEClassifier(),
        "OLVF": scaled(baselines.OLVFClassifier()),
        "OCDS": scaled(baselines.OCDSClassifier()),
        "River SGD": scaled(linear_model.LogisticRegression()),
        "River AdaGrad": scaled(linear_model.LogisticRegression(optim.AdaGrad(0.1))),
    }


def balanced(said, labels):
    """Mean of the shares of each class that are recognized, in percent."""
    return 50.0 * ((said & labels).sum() / labels.sum() + (~said & ~labels).sum() / (~labels).sum())


def play_untuned(job, folder):
    """Balanced accuracy of each model, and of PUFE where True is said above the share of True so far."""
    samples = review.haphazard(folder, *job)
    labels = np.array([y for _, y in samples])
    before = np.concatenate(([0.5], (np.cumsum(labels) / np.arange(1, len(labels) + 1))[:-1]))
    scores = {}
    for name, model in untuned().items():
        said = games.play(model, samples, games.probability)
        scores[name] = balanced(said > 0.5, labels)
        if name == "PUFE":
            scores[AT_SHARE] = balanced(said > before, labels)
    return scores


def play_tuned(job, folder):
    """The best of a grid of parameters, on these very rounds."""
    name, p, method = job
    samples = review.haphazard(folder, name, p)
    labels = np.array([y for _, y in samples])
    make, grid = (baselines.OLVFClassifier, OLVF) if method == "OLVF" else (baselines.OCDSClassifier, OCDS)
    return max(
        balanced(games.play(scaled(make(**parameters)), samples, games.probability) > 0.5, labels)
        for parameters in grid
    )


def tables(folder, processes):
    printed = review.printed(folder)
    names = [name for name in review.names(folder) if (name, review.SHARES[0]) in printed]
    jobs = list(itertools.product(names, review.SHARES))
    tuning = [(*job, method) for job in jobs for method in ("OLVF", "OCDS")]
    played = dict(zip(jobs, games.play_all(functools.partial(play_untuned, folder=folder), jobs, processes)))
    tuned = dict(zip(tuning, games.play_all(functools.partial(play_tuned, folder=folder), tuning, processes)))
    theirs = list(next(iter(printed.values())))
    ours = [AT_SHARE, "PUFE", "OLVF", "OLVF, tuned", "OCDS", "OCDS, tuned", "River SGD", "River AdaGrad"]
    texts, everything, above = {}, [], dict.fromkeys(ours, 0)
    for p in review.SHARES:
        rows = []
        for name in names:
            cell = played[name, p] | {f"{method}, tuned": tuned[name, p, method] for method in ("OLVF", "OCDS")}
            figures = [printed[name, p].get(method, np.nan) for method in theirs] + [cell[method] for method in ours]
            everything.append(figures)
            rows.append([name, *marked(figures)])
            for method in ours:
                above[method] += cell[method] > np.nanmax(figures[: len(theirs)])
        heads = ["", *(f"{method}, printed" for method in theirs), *ours]
        texts[f"TABLE_{round(100 * p)}"] = pages.table(heads, rows)
    means = np.nanmean(everything, axis=0)
    mean = dict(zip([*(f"{method}, printed" for method in theirs), *ours], means))
    summary = [["mean", *marked(means)], ["above all printed", *[""] * len(theirs), *above.values()]]
    best = max(theirs, key=lambda method: mean[f"{method}, printed"])
    return texts | {
        "MEANS": pages.table(heads, summary),
        "CELLS": len(jobs),
        "ABOVE": above["PUFE"],
        "BEST": f"{best}, {mean[f'{best}, printed']:.1f}",
        "PUFE": f"{mean['PUFE']:.1f}",
        "AT_SHARE": f"{mean[AT_SHARE]:.1f}",
        "OLVF": f"{mean['OLVF']:.1f}",
        "OLVF_TUNED": f"{mean['OLVF, tuned']:.1f}",
        "OLVF_PRINTED": f"{mean['OLVF, printed']:.1f}",
        "OCDS_TUNED": f"{mean['OCDS, tuned']:.1f}",
        "OCDS_PRINTED": f"{mean['OCDS, printed']:.1f}",
        "ADAGRAD": f"{mean['River AdaGrad']:.1f}",
    }


def marked(figures):
    return [pages.bold(f"{figure:.1f}", figure == np.nanmax(figures)) for figure in figures]


def times(folder):
    rows = []
    for name in ("magic04", "german", "spambase", "a8a"):
        samples = review.haphazard(folder, name, 0.5)[:2000]
        models = untuned()
        width = review.table(folder, name)[0].shape[1]
        rows.append([name, width, *(f"{t:.0f}" for t in review.microseconds(models, samples).values())])
    return pages.table(["", "features", *untuned()], rows)


def main():
    parser = pages.parser(__doc__)
    options = parser.parse_args()
    if options.data is None:
        parser.error("--data is needed: where are the streams?")
    values = tables(options.data, options.jobs) | {"TIMES": times(options.data)}
    pages.write(options.out / "rivals", "haphazard", **values)


if __name__ == "__main__":
    main()
