"""Which data do the tables of rivals play?

The files `haphazard/*.npz` of the data folder hold the tables of a review of learning under haphazard inputs, in the
order in which it plays them: `X`, `y` (0 or 1) and which values are there at p = .25, .5 and .75, as packed bits.
`haphazard/printed.csv` has the figures that it prints.
"""

from __future__ import annotations

import csv
import time

import numpy as np

SHARES = (0.25, 0.5, 0.75)


def names(folder):
    """Names of the tables, smallest first."""
    paths = sorted((folder / "haphazard").glob("*.npz"), key=lambda path: path.stat().st_size)
    return [path.stem for path in paths]


def table(folder, name):
    """Rows and labels; NaN is missing in the source."""
    with np.load(folder / "haphazard" / f"{name}.npz") as file:
        return file["X"].astype(float), file["y"] == 1


def haphazard(folder, name, p):
    """Samples of the review: rows of which each value is there with probability p."""
    X, y = table(folder, name)
    with np.load(folder / "haphazard" / f"{name}.npz") as file:
        bits = np.unpackbits(file[f"mask_{round(100 * p)}"], count=X.size)
    there = bits.reshape(X.shape).astype(bool) & ~np.isnan(X)
    return [
        (dict(zip((columns := np.flatnonzero(own)).tolist(), row[columns].tolist())), label)
        for row, own, label in zip(X, there, y.tolist())
    ]


def printed(folder):
    """Balanced accuracies that the review prints, by table and p, then by method."""
    with (folder / "haphazard" / "printed.csv").open(newline="") as file:
        return {(row.pop("data"), float(row.pop("p"))): _numbers(row) for row in csv.DictReader(file)}


def _numbers(row):
    return {method: float(figure) for method, figure in row.items() if figure}


def microseconds(models, samples):
    """Time of `predict_proba_one` and `learn_one` per sample, for each model, side by side in one process."""
    times = dict.fromkeys(models, 0.0)
    for x, y in samples:
        for name, model in models.items():
            start = time.perf_counter()
            model.predict_proba_one(x)
            model.learn_one(x, y)
            times[name] += time.perf_counter() - start
    return {name: 1e6 * total / len(samples) for name, total in times.items()}
