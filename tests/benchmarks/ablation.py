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
from river_pufe.experts import Identity, LinearExperts, Neighbours, RandomFourier
from river_pufe.recovery import GaussianRows, LeastSquaresRows
from river_pufe.recovery.scaling import NoScaler, RowScaler
from river_pufe.recovery.spaces import FeatureSpaces


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


#: So little that no loss can make up for it.
OFF = 1e-30


def experts(**params):
    """Other experts, where parts are given, and the default ones of a task for the rest."""
    return {"model": params}


#: The defaults, under short names.
NEWTON, SLOW, FAST = "newton", "slow", "fast"


def rules(*names, **more):
    return {"rules": (names, more)}


#: What is changed: parts of the model by name, those of its recovery, and parameters of its spaces and scaler.
VARIANTS = {
    "Views": {
        "no *recovered* view": experts(prior=(3.0, OFF, 1.0)),
        "no *fresh* view": experts(prior=(3.0, 8.0, OFF)),
        "no *present* view": experts(prior=(OFF, 8.0, 1.0)),
        "all trusted alike at first": experts(prior=(1.0, 1.0, 1.0)),
        "*present* trusted most": experts(prior=(8.0, 3.0, 1.0)),
    },
    "Feature maps": {
        "the row alone": experts(maps=(Identity(),)),
        "no random Fourier features": experts(maps=(Identity(), Neighbours())),
        "no neighbours": experts(maps=(Identity(), RandomFourier())),
        "neighbours that are only read by others": experts(maps=(Identity(), Neighbours(trust=0.0), RandomFourier())),
        "twice as many random features": experts(maps=(Identity(), Neighbours(), RandomFourier(100))),
        "all trusted alike at first": experts(maps=(Identity(), Neighbours(trust=1.0), RandomFourier(trust=1.0))),
        "no model ever rests": experts(min_gain=None),
    },
    "Rules": {
        "no second-order rule": rules(SLOW, FAST),
        "no slow first-order rule": rules(NEWTON, FAST),
        "no fast first-order rule": rules(NEWTON, SLOW),
        "a second-order rule that remembers all": rules(NEWTON, SLOW, FAST, forgetting=1.0),
        "one that forgets faster (0.99)": rules(NEWTON, SLOW, FAST, forgetting=0.99),
    },
    "Hedge": {
        "none: experts count by their priors": {"aggregator": Unweighed()},
        "one that never forgets": {"aggregator": AdaNormalHedge()},
    },
    "Rows": {
        "not standardized": {"scaler": NoScaler},
        "not clipped for recovery": {"scaler": functools.partial(RowScaler, clip=np.inf)},
        "clipped at 3 deviations": {"scaler": functools.partial(RowScaler, clip=3.0)},
        "units of all samples so far": {"scaler": functools.partial(RowScaler, memory=np.inf)},
    },
    "Recovery": {
        "the paper's least squares, with a ridge": {"row_model": LeastSquaresRows()},
        "factors in place of the covariance": {"row_model": GaussianRows(max_size=0)},
    },
    "Sensors": {
        "never doubted": {"false_alarms": 0.0},
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


def build(regression, absent, model=None, rules=None, aggregator=None, spaces=None, scaler=RowScaler, **parts):
    """An estimator with the default parts, but for those that are given."""
    default = LinearExperts.for_numbers() if regression else LinearExperts()
    params = {"maps": default.maps, "rules": default.rules, "prior": default.prior} | (model or {})
    if rules is not None:
        names, changed = rules
        known = dict(zip((NEWTON, SLOW, FAST), default.rules))
        known[NEWTON] = known[NEWTON].clone(changed)
        params["rules"] = tuple(known[name] for name in names)
    centered = {} if scaler is NoScaler else {"centered": absent == "missing"}
    recovery = FeatureRecovery(FeatureSpaces(absent=absent, **(spaces or {})), scaler(**centered), **parts)
    return (PUFERegressor if regression else PUFEClassifier)(LinearExperts(**params), recovery, aggregator)


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
