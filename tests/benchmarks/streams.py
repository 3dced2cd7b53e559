"""Which streams do the benchmarks play?

Data sets that River and scikit-learn bundle, made to evolve through four feature spaces; the FESL files; and two real
streams. The latter two kinds are read from a folder with `fesl/*.csv`, `wifi_swap/wifi_swap.csv` and
`ecb_fx/ecb_fx.csv`, which nothing but the benchmarks needs.
"""

from __future__ import annotations

import csv
import dataclasses
import itertools

import numpy as np
import sklearn.datasets
from river import datasets as river_datasets
from river import stream

from river_pufe import datasets

#: Rounds that count as right after a change, on made-up changes and on real streams.
EARLY, EARLY_REAL = 50, 200


@dataclasses.dataclass
class Stream:
    """A stream that can be played.

    Parameters
    ----------
    samples
        Pairs of a dict and a target.
    judged
        The rounds that count.
    early
        Those of them that come right after a change.
    absent
        What absence means.

    """

    samples: list
    judged: slice
    early: np.ndarray
    absent: str = "missing"

    @property
    def labels(self):
        return {y for _, y in self.samples}


def after_changes(evolving):
    """Judge an evolving stream once the first space has gone."""
    samples, changes = list(evolving), evolving.changes
    early = sorted({t for change in changes for t in range(change, min(change + EARLY, len(samples)))})
    return Stream(samples, slice(changes[0], None), np.array(early))


# Data sets that River and scikit-learn bundle.


def bundled(load):
    """A data set of scikit-learn, whose rows have no order in time, in the order of a run."""

    def shuffled(run):
        data = load()
        names, order = (
            [f"f{j}" for j in range(data.data.shape[1])],
            np.random.default_rng(run).permutation(len(data.data)),
        )
        return list(stream.iter_array(data.data[order], data.target[order].tolist(), feature_names=names))

    return shuffled


def cancer(run):
    return [(x, y == 1) for x, y in bundled(sklearn.datasets.load_breast_cancer)(run)]


#: What makes the data set of a run, by name.
BUNDLED = {
    "Phishing": lambda run: list(river_datasets.Phishing()),
    "Bananas": lambda run: list(itertools.islice(river_datasets.Bananas(), 2000)),
    "breast cancer": cancer,
    "ImageSegments": lambda run: list(river_datasets.ImageSegments()),
    "wine": bundled(sklearn.datasets.load_wine),
    "digits": bundled(sklearn.datasets.load_digits),
    "TrumpApproval": lambda run: list(river_datasets.TrumpApproval()),
    "diabetes": bundled(sklearn.datasets.load_diabetes),
}
REGRESSION = {"TrumpApproval", "diabetes"}
#: Kinds of cycles: what is special about the cycle, and how much is missing all the time.
CYCLES = {
    "plain": ({"overlap": 30}, 0.0),
    "30 % survive": ({"overlap": 30, "survivors": 0.3}, 0.0),
    "10 % missing": ({"overlap": 30}, 0.1),
    "no overlap": ({"overlap": 0}, 0.0),
}


def four_spaces(name, run, cycle="plain"):
    """Four spaces in a row, each a random linear map of the features to 0.7 times as many, but at least three."""
    samples, (params, missing) = BUNDLED[name](run), CYCLES[cycle]
    evolving = datasets.MappedSpaces(
        samples,
        datasets.Cycle(n_spaces=4, period=len(samples) // 4, **params),
        max(0.7, 3 / len(samples[0][0])),
        seed=run,
    )
    return after_changes(datasets.CapriciousStream(evolving, missing, seed=run) if missing else evolving)


# The FESL files.


def fesl_names(folder):
    return sorted(path.stem for path in (folder / "fesl").glob("*.csv"))


def fesl(folder, name, run, unpredictable=True):
    return after_changes(datasets.FESL(folder / "fesl" / f"{name}.csv", run=run + 1, unpredictable=unpredictable))


#: Data sets that are seen through a random matrix, by name.
MAPPED = {
    "Phishing": BUNDLED["Phishing"],
    "breast cancer": cancer,
    "ImageSegments": BUNDLED["ImageSegments"],
    "TrumpApproval": BUNDLED["TrumpApproval"],
}


def rows_of_two(folder, name, run):
    """Rows of two feature spaces, in the order of a run: those of a FESL file, or a data set and a random map of it.

    The map has 0.7 times as many features.
    """
    if name in MAPPED:
        rng = np.random.default_rng(run)
        rows = np.array([list(x.values()) for x, _ in MAPPED[name](run)], dtype=float)
        rows = rows[rng.permutation(len(rows)), :][:, rows.std(0) > 0.0]
        matrix = rng.normal(size=(rows.shape[1], max(3, int(0.7 * rows.shape[1]))))
        return rows, (rows - rows.mean(0)) / rows.std(0) @ matrix
    with (folder / "fesl" / f"{name}.csv").open(newline="") as file:
        head, *lines = csv.reader(file)
    columns = dict(zip(head, np.array(lines, dtype=float).T))
    order = columns[f"perm_{run + 1}"].astype(int) - 1
    return tuple(
        np.column_stack([column for key, column in columns.items() if key.startswith(prefix)])[order]
        for prefix in ("X1_", "X2_")
    )


# Real streams.

#: Columns that are no features, target of classes and target of numbers, what absence means, the round of the change.
REAL = {
    "wifi_swap": ({"time", "month", "set"}, "target_right", "target_y", "zero", 4312),
    "ecb_fx": ({"time"}, "target_usd_up", "target_usd_ret", "missing", 1540),
}


def real(folder, name, regression):
    ids, label, number, absent, change = REAL[name]
    target = number if regression else label
    samples = []
    with (folder / name / f"{name}.csv").open(newline="") as file:
        for row in csv.DictReader(file):
            x = {key: float(v) for key, v in row.items() if v and key not in ids and not key.startswith("target")}
            y = float(row[target])
            samples.append((x, y if regression else y == 1))
    return Stream(samples, slice(0, None), np.arange(change, change + EARLY_REAL), absent)
