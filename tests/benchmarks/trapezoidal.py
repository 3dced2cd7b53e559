"""OLSF's errors on trapezoidal streams, Tables 3 and 5 of its paper, with PUFE and River's linear models beside them.

usage: python tests/benchmarks/trapezoidal.py --data FOLDER [--out docs] [--runs 20] [--jobs N]

Writes `rivals/trapezoidal.md` into the folder given, and fills in `rivals/index.md` there. The tables are read from
`haphazard` in the data folder.
"""

from __future__ import annotations

import functools

import games
import numpy as np
import pages
import review
from river import linear_model, optim

from river_pufe import PUFEClassifier, baselines, datasets

#: Shares of the features in tenths of the rows, by table of the paper.
SHARES = {3: tuple(np.arange(1, 11) / 10), 5: tuple(np.minimum(np.arange(5, 15) / 10, 1.0))}
VARIANTS = {"OLSF": "", "OLSF-I": "I", "OLSF-II": "II"}
#: What is searched for each variant and table, as in the paper; it does not say which B Table 3 belongs to.
C_GRID, B_GRID = 10.0 ** np.arange(-4, 5), (0.16, 1.0)

#: Numbers of rows, and of errors of OLSF, OLSF-I and OLSF-II, mean of 20 orders, as printed.
PRINTED = {
    3: {
        "a8a": (32561, 12673.5, 11204.7, 11317.2),
        "german": (1000, 415.9, 366.9, 366.9),
        "ionosphere": (351, 55.0, 55.0, 50.5),
        "magic04": (19020, 8051.3, 6732.3, 6924.5),
        "spambase": (4601, 1132.1, 1004.5, 1013.2),
        "splice": (3175, 1314.6, 1243.7, 1238.8),
        "svmguide3": (1243, 396.7, 359.1, 357.5),
        "wbc": (699, 37.5, 35.5, 34.0),
        "wdbc": (569, 43.5, 39.5, 38.5),
        "wpbc": (198, 88.5, 82.0, 83.0),
    },
    5: {
        "a8a": (32561, None, 9322.7, None),
        "german": (1000, None, 318.5, None),
        "magic04": (19020, None, 5858.4, None),
        "spambase": (4601, None, 616.6, None),
        "splice": (3175, None, 725.5, None),
        "svmguide3": (1243, None, 374.2, None),
    },
}


def standardized(folder, name):
    """Rows of mean 0 and deviation 1, as in the paper beforehand; 0 where a value is missing in the source."""
    X, y = review.table(folder, name)
    deviation = np.nanstd(X, axis=0)
    return np.nan_to_num((X - np.nanmean(X, axis=0)) / np.where(deviation > 0, deviation, 1.0)), y


def order(run, n):
    return np.random.default_rng(run).permutation(n)


def stream(X, y, run, shares):
    rows = [(dict(enumerate(X[i].tolist())), bool(y[i])) for i in order(run, len(X))]
    return datasets.TrapezoidalStream(rows, seed=0, shares=shares, shuffle=False)


# OLSF in many runs and with many parameters at once.


def steps(variant, C, losses, squares):
    """Step sizes, shape (runs, parameters)."""
    squares = squares[:, None]
    if variant == "II":
        return losses / (squares + 0.5 / C)
    sizes = losses / np.where(squares > 0, squares, 1.0)
    return np.minimum(C, sizes) if variant == "I" else sizes


def truncate(weights, kept):
    """All but the largest weights are 0."""
    sizes = np.abs(weights)
    least = np.partition(sizes, -kept, axis=-1)[..., -kept, None]
    weights[sizes < least * (1 - 1e-9)] = 0.0


def errors(X, y, runs, shares, variant, radius=30.0):
    """Numbers of errors, shape (runs, parameters), and the parameters C and B, shape (parameters, 2)."""
    parameters = np.array([(C, B) for B in B_GRID for C in (C_GRID if variant else C_GRID[:1])])
    n, d = X.shape
    orders = np.array([order(run, n) for run in range(runs)])
    weights, wrong = np.zeros((runs, len(parameters), d)), np.zeros((runs, len(parameters)))
    targets = np.where(y, 1.0, -1.0)
    for t, rows in enumerate(orders.T):
        m = max(1, round(shares[t * len(shares) // n] * d))
        x, target = X[rows, :m], targets[rows][:, None]
        known = weights[:, :, :m]
        scores = np.einsum("rpm,rm->rp", known, x)
        wrong += (scores > 0) != (target > 0)
        size = steps(variant, parameters[:, 0], np.maximum(0.0, 1.0 - target * scores), (x * x).sum(1))
        known += (size * target)[:, :, None] * x[:, None]
        known *= np.minimum(1.0, radius / np.maximum(np.abs(known).sum(-1, keepdims=True), radius))
        for B in B_GRID:
            kept = max(1, int(B * m))
            if kept < m:
                which = parameters[:, 1] == B
                part = known[:, which]
                truncate(part, kept)
                known[:, which] = part
    return wrong, parameters


def play_olsf(job, folder, runs):
    """The best C of a variant on a table, and the errors with it in all runs, for each B."""
    number, name, variant = job
    X, y = standardized(folder, name)
    wrong, parameters = errors(X, y, runs, SHARES[number], VARIANTS[variant])
    found = {}
    for B in B_GRID:
        best = min(np.flatnonzero(parameters[:, 1] == B), key=lambda column: wrong[:, column].mean())
        check(X, y, SHARES[number], VARIANTS[variant], *parameters[best], wrong[0, best])
        found[B] = parameters[best, 0], wrong[:, best]
    return found


def check(X, y, shares, variant, C, B, expected):
    """The first run of the estimator, which is what users have, makes as many errors."""
    model = baselines.OLSFClassifier(variant, C, B)
    wrong = sum(1.0 - games.right(model, *sample) for sample in learning(model, stream(X, y, 0, shares)))
    if abs(wrong - expected) > 0.005 * expected:
        raise AssertionError(f"{wrong} errors instead of {expected}")


def learning(model, samples):
    """Samples, each of which is learned before the next one is asked for."""
    for x, y in samples:
        yield x, y
        model.learn_one(x, y)


def others():
    return {
        "PUFE": PUFEClassifier(),
        "River SGD": linear_model.LogisticRegression(),
        "River AdaGrad": linear_model.LogisticRegression(optim.AdaGrad(0.1)),
    }


def play_others(job, folder):
    """Errors of PUFE and River's models in one run."""
    number, name, run = job
    X, y = standardized(folder, name)
    samples = list(stream(X, y, run, SHARES[number]))
    return [len(samples) - games.play(model, samples, games.right).sum() for model in others().values()]


def tables(folder, runs, processes):
    known = set(review.names(folder))
    jobs = [(number, name) for number, rows in PRINTED.items() for name in rows if name in known]
    of_olsf = [(*job, variant) for job in jobs for variant in VARIANTS]
    of_others = [(*job, run) for job in jobs for run in range(runs)]
    olsf = dict(
        zip(of_olsf, games.play_all(functools.partial(play_olsf, folder=folder, runs=runs), of_olsf, processes))
    )
    beside = dict(zip(of_others, games.play_all(functools.partial(play_others, folder=folder), of_others, processes)))
    texts, summary = {"REPRODUCED": near(olsf)}, []
    for number, printed in PRINTED.items():
        of_table = {name: figures for name, figures in printed.items() if name in known}
        texts[f"PRINTED_{number}"] = reproduced(
            of_table, {key[1:]: out for key, out in olsf.items() if key[0] == number}
        )
        rows, shares = [], []
        for name in of_table:
            _, y = review.table(folder, name)
            best = [
                min((wrong for _, wrong in olsf[number, name, variant].values()), key=np.mean) for variant in VARIANTS
            ]
            played = np.array([beside[number, name, run] for run in range(runs)]).T
            means = np.array([wrong.mean() for wrong in (*best, *played)])
            shares.append(means / len(y))
            figures = [pages.bold(whole(wrong), wrong == means.min()) for wrong in means]
            rows.append([name, len(y), *figures, min(y.sum(), len(y) - y.sum())])
        mean = np.mean(shares, axis=0)
        means = dict(zip([*VARIANTS, *others()], mean))
        summary.append(pages.beside(f"Table {number} of OLSF's paper, share of errors", means, VARIANTS, min))
        rows.append(["mean share of errors", "", *(pages.bold(f"{m:.3f}", m == mean.min()) for m in mean), ""])
        texts[f"BESIDE_{number}"] = pages.table(["", "rows", *VARIANTS, *others(), "rarer class"], rows)
    return summary, texts


def reproduced(printed, olsf):
    """Printed errors, and those here for each B."""
    rows = []
    for name, (n, *figures) in printed.items():
        cells = []
        for variant, figure in zip(VARIANTS, figures):
            found = olsf[name, variant]
            nearest = min(found, key=lambda B: abs(found[B][1].mean() - (figure or 0.0)))
            cells.append(whole(figure))
            cells += [cell(*found[B], figure, figure is not None and nearest == B) for B in B_GRID]
        rows.append([name, n, *cells])
    heads = [f"{variant}{what}" for variant in VARIANTS for what in (", printed", *(f", B = {B:g}" for B in B_GRID))]
    return pages.table(["", "rows, printed", *heads], rows)


def near(olsf):
    """How many of the printed figures come out, and which do not."""
    off = {}
    for (number, name, variant), found in olsf.items():
        figure = PRINTED[number][name][1 + list(VARIANTS).index(variant)]
        if figure is not None:
            ratios = [wrong.mean() / figure - 1 for _, wrong in found.values()]
            off[number, name, variant] = min(ratios, key=abs)
    sizes = np.abs(list(off.values()))
    far = [
        f"{variant} on {name} ({100 * each:+.0f} %)" + (", second table" if number == 5 else "")
        for (number, name, variant), each in off.items()
        if abs(each) > 0.1
    ]
    return (
        f"Of {len(off)} printed figures {(sizes <= 0.05).sum()} come out to within 5 %, and {(sizes <= 0.1).sum()} to "
        f"within 10 %. Those that are farther off: {'; '.join(far)}."
    )


def cell(C, wrong, figure, is_nearest):
    off = "" if figure is None else f" ({100 * (wrong.mean() / figure - 1):+.0f} %)"
    return pages.bold(whole(wrong.mean()), is_nearest) + off


def whole(figure):
    return "-" if figure is None else f"{figure:.0f}"


def times(folder):
    rows = []
    for name in ("magic04", "german", "spambase", "a8a"):
        X, y = standardized(folder, name)
        samples = [*stream(X[-2000:], y[-2000:], 0, SHARES[5])]
        models = {name: baselines.OLSFClassifier(variant) for name, variant in VARIANTS.items()} | others()
        rows.append([name, X.shape[1], *(f"{t:.0f}" for t in review.microseconds(models, samples).values())])
    return pages.table(["", "features", *VARIANTS, *others()], rows)


def main():
    parser = pages.parser(__doc__, runs=20)
    options = parser.parse_args()
    if options.data is None:
        parser.error("--data is needed: where are the tables?")
    beside, values = tables(options.data, options.runs, options.jobs)
    pages.write(options.out / "rivals", "trapezoidal", RUNS=options.runs, TIMES=times(options.data), **values)
    pages.fill_index(options.out, "trapezoidal", beside)


if __name__ == "__main__":
    main()
