"""What does each default do for accuracy?

usage: python tests/benchmarks/ablation.py [--data FOLDER] [--out docs] [--runs 10] [--jobs N]

Each row changes one default, or switches a part off, and leaves the others. Streams: data that River bundles, made to
evolve through four feature spaces; with `--data`, also the FESL files and the real streams. Writes `defaults.md` into
the folder given.
"""

from __future__ import annotations

import functools

import games
import numpy as np
import pages
import streams

from river_pufe import FeatureRecovery, PUFEClassifier, PUFERegressor
from river_pufe.aggregation import AdaNormalHedge, Aggregator
from river_pufe.experts import LinearExperts
from river_pufe.experts.rules import ImplicitGradient, Newton
from river_pufe.recovery.completion import ConditionalMean, RowSpace
from river_pufe.recovery.linear_map import LinearMap
from river_pufe.recovery.scaling import NoScaler, RowScaler
from river_pufe.recovery.spaces import FeatureSpaces
from river_pufe.sketch import FrequentDirections


class Unweighed(Aggregator):
    """Experts count as much as their priors say, whatever they lose."""

    def __init__(self):
        self._prior = np.zeros(0)

    def strengths(self):
        return self._prior

    def update(self, losses, loss, awake):
        pass

    def reset(self, born, prior):
        self._prior = np.array(prior, dtype=float)


class Alone(ConditionalMean):
    """Rows of an overlap are completed from the observed previous entries alone."""

    def trust_in_map(self, rows, inputs):
        return 0.0


#: So little that no loss can make up for it.
OFF = 1e-30
SLOW, GRADIENT = Newton(forgetting=0.998), ImplicitGradient()


def experts(**params):
    return {"model": LinearExperts(**params)}


def rules(*rules):
    return experts(rules=rules)


#: What is changed: parts of the model by name, those of its recovery, and parameters of its spaces and scaler.
VARIANTS = {
    "Views": {
        "no *recovered* view": experts(prior=(3.0, OFF, 1.0)),
        "no *fresh* view": experts(prior=(3.0, 8.0, OFF)),
        "no *present* view": experts(prior=(OFF, 8.0, 1.0)),
        "all trusted alike at first": experts(prior=(1.0, 1.0, 1.0)),
        "*present* trusted most": experts(prior=(8.0, 3.0, 1.0)),
    },
    "Rules": {
        "no second-order rule": rules(GRADIENT),
        "no first-order rule": rules(SLOW),
        "a second-order rule that remembers all": rules(Newton(), GRADIENT),
        "one that forgets faster (0.99)": rules(Newton(forgetting=0.99), GRADIENT),
        "both of these, and the first-order one": rules(Newton(), Newton(forgetting=0.99, prior=1.0), GRADIENT),
    },
    "Hedge": {
        "none: experts count by their priors": {"aggregator": Unweighed()},
        "one that never forgets": {"aggregator": AdaNormalHedge()},
    },
    "Rows": {
        "not standardized": {"scaler": NoScaler},
        "not cut": {"scaler": functools.partial(RowScaler, clip=np.inf)},
        "cut at 5 deviations": {"scaler": functools.partial(RowScaler, clip=5.0)},
        "units of all samples so far": {"scaler": functools.partial(RowScaler, memory=np.inf)},
    },
    "Completion": {
        "none: the mean": {"completion": Alone(ridge=1e9)},
        "without the map's say": {"completion": Alone()},
        "the paper's least squares": {"completion": RowSpace()},
    },
    "Map": {
        "none: the mean": {"linear_map": LinearMap(ridge=1e9)},
        "almost no ridge": {"linear_map": LinearMap(ridge=1e-3)},
        "no intercept": {"sketch": FrequentDirections(centered=False)},
    },
    "Spaces": {
        "significance 0.01": {"spaces": {"significance": 1e-2}},
        "significance 0.000001": {"spaces": {"significance": 1e-6}},
        "patience of 30 rounds": {"spaces": {"patience": 30}},
        "patience of 300 rounds": {"spaces": {"patience": 300}},
        "no grace": {"spaces": {"grace": 0}},
    },
}
#: Data sets that River bundles, and the kind of cycle that they are made to go through.
BUNDLED = {"Phishing": "30 % survive", "ImageSegments": "plain", "TrumpApproval": "10 % missing"}


def build(regression, absent, model=None, aggregator=None, spaces=None, scaler=RowScaler, **parts):
    """An estimator with the default parts, but for those that are given."""
    centered = {} if scaler is NoScaler else {"centered": absent == "missing"}
    recovery = FeatureRecovery(FeatureSpaces(absent=absent, **(spaces or {})), scaler(**centered), **parts)
    return (PUFERegressor if regression else PUFEClassifier)(model, recovery, aggregator)


def play(job, folder):
    """Scores with River's models, with the defaults, and with each variant; and which are River's."""
    kind, name, regression, run = job
    stream = {
        "bundled": lambda: streams.four_spaces(name, run, BUNDLED[name]),
        "fesl": lambda: streams.fesl(folder, name, run),
        "real": lambda: streams.real(folder, name, regression),
    }[kind]()
    models = [*games.river_models(stream, regression).values(), build(regression, stream.absent)]
    models += [build(regression, stream.absent, **params) for group in VARIANTS.values() for params in group.values()]
    return np.array([games.score(model, stream, regression) for model in models])


class Column:
    """What came out on one stream.

    Parameters
    ----------
    scores
        Shape (runs, models, 2).

    """

    def __init__(self, head, regression, scores):
        n_variants = sum(map(len, VARIANTS.values()))
        river, pufe = scores[:, : -n_variants - 1], scores[:, -n_variants - 1 :]
        better = -1.0 if regression else 1.0
        means = better * river.mean(0)
        best = np.stack([river[:, means[:, part].argmax(), part] for part in range(2)], axis=-1)
        self.head = head
        self.defaults = pufe[:, 0].mean(0)
        # Points of accuracy, or percent of the error with the defaults.
        unit = self.defaults if regression else 1.0
        others = np.concatenate([best[:, None], pufe[:, 1:]], axis=1)
        self.gains = 100 * better * (others - pufe[:, :1]) / unit

    def cell(self, variant):
        return pages.together(self.told(self.gains[:, variant, part]) for part in range(2))

    @staticmethod
    def told(gains):
        mean, text = gains.mean(), signed(gains.mean())
        return pages.bold(text, text != "0.0" and abs(mean) > 2 * games.standard_error(gains))


def signed(number):
    return (
        f"{number:+.{'1f' if abs(number) < 1000 else '0e'}}".replace("-", "−")
        .replace("+0.0", "0.0")
        .replace("−0.0", "0.0")
    )


def table(columns):
    """Rows: the defaults, River's best, the variants in their groups."""
    rows = [
        ["**defaults**", *(pages.together(f"{score:.3f}" for score in column.defaults) for column in columns)],
        ["River's best", *(column.cell(0) for column in columns)],
    ]
    names = [(group, name) for group, variants in VARIANTS.items() for name in variants]
    for v, (group, name) in enumerate(names, start=1):
        if name == next(iter(VARIANTS[group])):
            rows.append([f"*{group}*", *[""] * len(columns)])
        rows.append([name, *(column.cell(v) for column in columns)])
    return pages.table(["", *(column.head for column in columns)], rows)


def main():
    options = pages.parser(__doc__).parse_args()
    groups = {"BUNDLED": [("bundled", name, name in streams.REGRESSION) for name in BUNDLED]}
    if options.data:
        groups["FESL"] = [("fesl", name, False) for name in streams.fesl_names(options.data)]
        groups["REAL"] = [("real", name, regression) for name in streams.REAL for regression in (False, True)]
    jobs = [
        (*kind, run)
        for kinds in groups.values()
        for kind in kinds
        for run in range(1 if kind[0] == "real" else options.runs)
    ]
    played = games.play_all(functools.partial(play, folder=options.data), jobs, options.jobs)
    tables = {}
    for group, kinds in groups.items():
        columns = []
        for kind in kinds:
            scores = np.array([score for job, score in zip(jobs, played) if job[:3] == kind])
            head = ", ".join([kind[1], *([BUNDLED[kind[1]]] if group == "BUNDLED" else [])])
            head += ", error" if kind[2] else ""
            columns.append(Column(head, kind[2], scores))
        tables[group] = table(columns)
    pages.write(options.out, "defaults", RUNS=options.runs, **tables)


if __name__ == "__main__":
    main()
