"""What does each default do for accuracy?

usage: python tests/benchmarks/ablation.py [--fesl FOLDER] [--out docs/defaults.md] [--runs 5]

Each row changes one default and leaves the others. Streams: data that River bundles, made to evolve through four
feature spaces; with `--fesl`, also the four FESL files found in a folder. River's models run on the same streams.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import functools
import pathlib

import numpy as np
from river import datasets as river_datasets
from river import linear_model, multiclass, optim, preprocessing

from river_pufe import FeatureRecovery, PUFEClassifier, PUFERegressor, datasets
from river_pufe.aggregation import AdaNormalHedge
from river_pufe.completion import ConditionalMean, RowSpace
from river_pufe.experts import LinearExperts
from river_pufe.linear_map import LinearMap
from river_pufe.rules import Gradient, Newton
from river_pufe.scaling import RowScaler

NEWTON, FORGETTING, GRADIENT = Newton(), Newton(forgetting=0.99, prior=1.0), Gradient()
VARIANTS = {
    "the defaults": {},
    "only recursive Newton steps": {"model": LinearExperts(rules=(NEWTON,))},
    "no first-order rule": {"model": LinearExperts(rules=(NEWTON, FORGETTING))},
    "no forgetting rule": {"model": LinearExperts(rules=(NEWTON, GRADIENT))},
    "all views trusted alike": {"model": LinearExperts(prior=(1.0, 1.0, 1.0))},
    "hedge that never forgets": {"aggregator": AdaNormalHedge()},
    "rows cut at 5 deviations": {"recovery": FeatureRecovery(scaler=RowScaler(clip=5.0))},
    "completion: least squares": {"recovery": FeatureRecovery(completion=RowSpace(min_observed=1))},
    "completion: the mean": {"recovery": FeatureRecovery(completion=ConditionalMean(ridge=1e9))},
    "map: almost no ridge": {"recovery": FeatureRecovery(linear_map=LinearMap(ridge=1e-3))},
    "map: nothing but the mean": {"recovery": FeatureRecovery(linear_map=LinearMap(ridge=1e9))},
}
CYCLE = datasets.Cycle(n_spaces=4, overlap=30)
STREAMS = {
    "Phishing": (river_datasets.Phishing, True),
    "ImageSegments": (river_datasets.ImageSegments, True),
    "TrumpApproval": (river_datasets.TrumpApproval, False),
}
#: The first rounds after a change.
EARLY = 50


def river_models(classification):
    scaler = preprocessing.StandardScaler
    if classification:
        return [
            scaler() | multiclass.OneVsRestClassifier(linear_model.LogisticRegression()),
            scaler() | multiclass.OneVsRestClassifier(linear_model.LogisticRegression(optim.AdaGrad(0.1))),
        ]
    return [
        scaler() | preprocessing.TargetStandardScaler(regressor)
        for regressor in (
            linear_model.LinearRegression(optim.SGD(0.01)),
            linear_model.LinearRegression(optim.AdaGrad(0.1)),
            linear_model.BayesianLinearRegression(),
        )
    ]


def evolving(name, run, fesl):
    if name in STREAMS:
        make, _ = STREAMS[name]
        return datasets.MappedSpaces(make(), CYCLE, seed=run)
    return datasets.FESL(fesl / f"{name}.csv", run=run + 1)


def play(model, stream, classification):
    """Score over all rounds after the first change, and over the first rounds after each change."""
    scores = []
    for x, y in stream:
        answer = model.predict_one(x)
        scores.append(float(answer == y) if classification else abs((answer or 0.0) - y))
        model.learn_one(x, y)
    changes = [change for change in stream.changes if change < len(scores)]
    early = np.concatenate([scores[change : change + EARLY] for change in changes])
    return np.mean(scores[changes[0] :]), np.mean(early)


def cell(job, fesl):
    name, variant, run = job
    classification = name not in STREAMS or STREAMS[name][1]
    if variant == "River's best":
        scores = [play(model, evolving(name, run, fesl), classification) for model in river_models(classification)]
        return np.max(scores, axis=0) if classification else np.min(scores, axis=0)
    make = PUFEClassifier if classification else PUFERegressor
    return play(make(**VARIANTS[variant]), evolving(name, run, fesl), classification)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--fesl", type=pathlib.Path)
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("docs/defaults.md"))
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()

    names = [*STREAMS, *(sorted(path.stem for path in options.fesl.glob("*.csv")) if options.fesl else [])]
    variants = ["River's best", *VARIANTS]
    jobs = [(name, variant, run) for name in names for variant in variants for run in range(options.runs)]
    with concurrent.futures.ProcessPoolExecutor() as pool:
        scores = list(pool.map(functools.partial(cell, fesl=options.fesl), jobs, chunksize=4))
    means = np.array(scores).reshape(len(names), len(variants), options.runs, 2).mean(2)
    lines = ["| | " + " | ".join(names) + " |", "|---" * (len(names) + 1) + "|"]
    for v, variant in enumerate(variants):
        lines.append(
            f"| {variant} | "
            + " | ".join(f"{means[n, v, 0]:.3f} / {means[n, v, 1]:.3f}" for n in range(len(names)))
            + " |"
        )
    text = pathlib.Path(__file__).with_name("defaults.md.in").read_text()
    options.out.write_text(text.replace("@TABLE@", "\n".join(lines)).replace("@RUNS@", str(options.runs)))


if __name__ == "__main__":
    main()
