"""Merits on the streams of a review of haphazard inputs, beside the nine methods whose balanced accuracy it prints.

usage: python tests/benchmarks/haphazard.py --data FOLDER [--out docs] [--jobs N]

Writes `rivals/haphazard.md` into the folder given, and fills in `rivals/index.md` there. Streams and printed figures
are read from `haphazard` in the data folder; `review.py` says in which form.
"""

from __future__ import annotations

import functools
import itertools

import games
import numpy as np
import pages
import review
from river import linear_model, optim, preprocessing
from sklearn import metrics

from river_pufe import PUFEClassifier, baselines

#: What is searched for each table, as in the review; rounds by which the best is chosen.
C_GRID, TUNED_ON = (1e-4, 0.01, 1.0), 2000
OLVF = [{"C": C, "C_bar": C_bar} for C, C_bar in itertools.product(C_GRID, C_GRID)]
OCDS = [{"alpha": alpha, "beta_1": beta, "beta_2": beta} for alpha, beta in itertools.product(C_GRID, C_GRID)]

AT_SHARE = "PUFE, at the share"
#: Methods that the text of the page names, by what stands for them there.
SHORT = {
    "PUFE": "PUFE",
    "OLVF": "OLVF",
    "OLVF_TUNED": "OLVF, tuned",
    "OCDS": "OCDS",
    "OCDS_TUNED": "OCDS, tuned",
    "ADAGRAD": "River AdaGrad",
}
MERITS = ("balanced accuracy", "accuracy", "AUROC")


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


def merits(said, labels, threshold=0.5):
    """Balanced accuracy, accuracy and AUROC, in percent, shape (3,)."""
    true = said > threshold
    return np.array([balanced(true, labels), 100 * (true == labels).mean(), 100 * metrics.roc_auc_score(labels, said)])


def play_untuned(job, folder):
    """Merits of each model, and of PUFE where True is said above the share of True so far."""
    samples = review.haphazard(folder, *job)
    labels = np.array([y for _, y in samples])
    before = np.concatenate(([0.5], (np.cumsum(labels) / np.arange(1, len(labels) + 1))[:-1]))
    found = {}
    for name, model in untuned().items():
        said = games.play(model, samples, games.probability)
        found[name] = merits(said, labels)
        if name == "PUFE":
            found[AT_SHARE] = merits(said, labels, before)
    return found


def play_tuned(job, folder):
    """Merits with the parameters of a grid that are best in the first of these very rounds."""
    name, p, method = job
    samples = review.haphazard(folder, name, p)
    labels = np.array([y for _, y in samples])
    make, grid = (baselines.OLVFClassifier, OLVF) if method == "OLVF" else (baselines.OCDSClassifier, OCDS)

    def found(parameters, n):
        return merits(games.play(scaled(make(**parameters)), samples[:n], games.probability), labels[:n])

    best = max(grid, key=lambda parameters: found(parameters, TUNED_ON)[0])
    return found(best, len(samples))


def tables(folder, processes):
    printed = review.printed(folder)
    names = [name for name in review.names(folder) if (name, review.SHARES[0]) in printed]
    jobs = list(itertools.product(names, review.SHARES))
    tuning = [(*job, method) for job in jobs for method in ("OLVF", "OCDS")]
    played = dict(zip(jobs, games.play_all(functools.partial(play_untuned, folder=folder), jobs, processes)))
    tuned = dict(zip(tuning, games.play_all(functools.partial(play_tuned, folder=folder), tuning, processes)))
    theirs = list(next(iter(printed.values())))
    ours = [AT_SHARE, "PUFE", "OLVF", "OLVF, tuned", "OCDS", "OCDS, tuned", "River SGD", "River AdaGrad"]
    cells = {job: played[job] | {f"{m}, tuned": tuned[*job, m] for m in ("OLVF", "OCDS")} for job in jobs}
    found = np.array([[cells[job][method] for method in ours] for job in jobs])  # cell, method, merit
    figures = np.array([[printed[job].get(method, np.nan) for method in theirs] for job in jobs])
    leads = found[:, :, 0] - np.nanmax(figures, axis=1)[:, None]
    figures = np.hstack((figures, found[:, :, 0]))
    heads = ["", *(f"{method}, printed" for method in theirs), *ours]
    texts = {}
    for p in review.SHARES:
        rows = [[name, *marked(row)] for (name, at), row in zip(jobs, figures) if at == p]
        texts[f"TABLE_{round(100 * p)}"] = pages.table(heads, rows)
    means = np.nanmean(figures, axis=0)
    mean = dict(zip([*(f"{method}, printed" for method in theirs), *ours], means))
    above, lead = (dict(zip(ours, each)) for each in ((leads > 0).sum(0), leads.mean(0)))
    summary = [
        ["mean", *marked(means)],
        ["cells above all printed", *[""] * len(theirs), *above.values()],
        ["mean lead over the best printed", *[""] * len(theirs), *(f"{each:+.1f}" for each in lead.values())],
    ]
    of_merits = dict(zip(ours, found.mean(0)))
    own = [method for method in ours if method != AT_SHARE]
    ranking = [
        [merit, *marked(np.array([of_merits[method][which] for method in own]))] for which, merit in enumerate(MERITS)
    ]
    best = max(theirs, key=lambda method: mean[f"{method}, printed"])
    others = [method for method in ours if method.startswith(("OLVF", "OCDS"))]
    beside = []
    for which, merit in enumerate(MERITS):
        means = mean if which == 0 else {method: own_merits[which] for method, own_merits in of_merits.items()}
        rivals = [method for method in means if method in others or method.endswith(", printed")]
        beside.append(pages.beside(f"{len(jobs)} cells, {merit} in percent", means, rivals, digits=1))
    return beside, texts | {
        "MEANS": pages.table(heads, summary),
        "MERITS": pages.table(["", *own], ranking),
        "CELLS": len(jobs),
        "TUNED_ON": f"{TUNED_ON:,}",
        "ABOVE": above["PUFE"],
        "LEAD": f"{lead['PUFE']:.1f}",
        "BEST": f"{best}, {mean[f'{best}, printed']:.1f}",
        "AT_SHARE": f"{mean[AT_SHARE]:.1f}",
        "OLVF_PRINTED": f"{mean['OLVF, printed']:.1f}",
        "OCDS_PRINTED": f"{mean['OCDS, printed']:.1f}",
        **{
            f"{short}{suffix}": f"{of_merits[method][which]:.1f}"
            for short, method in SHORT.items()
            for which, suffix in enumerate(("", "_ACCURACY", "_AUROC"))
        },
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
    beside, values = tables(options.data, options.jobs)
    pages.write(options.out / "rivals", "haphazard", **values, TIMES=times(options.data))
    pages.fill_index(options.out, "haphazard", beside)


if __name__ == "__main__":
    main()
