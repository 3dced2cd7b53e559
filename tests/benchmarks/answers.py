"""Do two versions of the package answer alike, to the last bit?

Usage: `python tests/benchmarks/answers.py [FOLDER]`. A dozen models play a dozen streams; one line for each pair shows
a digest of everything that a user can see on the way: answers, weights of the experts, spaces, events, recovered values
and the tables of `debug_one`. Run it with both versions on the path in turn and compare what it prints; with a folder,
it also writes what is digested, so that `diff -r` shows the first difference.

Only public names are used, so that earlier and later versions can be compared.
"""

from __future__ import annotations

import hashlib
import pathlib
import pickle
import sys
import warnings

from river import datasets as river_datasets
from river import forest, linear_model, naive_bayes, neighbors, preprocessing

from river_pufe import FeatureRecovery, PUFEClassifier, PUFERegressor, baselines, datasets


def factors(cycle, **options):
    return datasets.HiddenFactors(cycle, n_samples=300, seed=3, **options)


#: Streams by name; each takes whether the target is a number.
STREAMS = {
    "replaced": lambda r: factors(datasets.Cycle(overlap=20), regression=r),
    "replaced at once": lambda r: factors(datasets.Cycle(overlap=0), regression=r),
    "survivors": lambda r: factors(datasets.Cycle(overlap=30, survivors=0.4), regression=r),
    "one by one": lambda r: factors(datasets.Cycle(overlap=60, emergence=50), regression=r),
    "returning": lambda r: factors(datasets.Cycle(2, overlap=20, n_changes=3), regression=r),
    "gaps": lambda r: datasets.CapriciousStream(factors(datasets.Cycle(3, overlap=20), regression=r), 0.3, seed=3),
    "many gaps": lambda r: datasets.CapriciousStream(factors(datasets.Cycle(), regression=r), 0.6, seed=4),
    "added": lambda r: datasets.TrapezoidalStream(factors(datasets.Cycle(), regression=r), 100, seed=3),
    "outage": lambda r: datasets.SensorOutage(factors(datasets.Cycle(), regression=r), 200, 300, 3, seed=3),
    "real": lambda r: (
        datasets.MappedSpaces([*river_datasets.TrumpApproval().take(500)], datasets.Cycle(3, overlap=20), seed=3)
        if r
        else datasets.MappedSpaces([*river_datasets.Phishing().take(500)], datasets.Cycle(4, overlap=20), seed=3)
    ),
    "classes": lambda r: datasets.MappedSpaces(
        [(x, y if r else round(y) % 3) for x, y in river_datasets.TrumpApproval().take(400)],
        datasets.Cycle(3, overlap=20),
        seed=3,
    ),
}
CLASSIFIERS = {
    "PUFE": PUFEClassifier,
    "PUFE, absent is zero": lambda: PUFEClassifier(absent="zero"),
    "PUFE of the paper": lambda: PUFEClassifier.paper(c=3),
    "logistic": lambda: PUFEClassifier(preprocessing.StandardScaler() | linear_model.LogisticRegression()),
    "naive Bayes": lambda: PUFEClassifier(naive_bayes.GaussianNB()),
    "forest": lambda: PUFEClassifier(forest.ARFClassifier(n_models=2, seed=1)),
    "neighbors": lambda: PUFEClassifier(neighbors.KNNClassifier(engine=neighbors.LazySearch(window_size=50))),
    "NOGD": lambda: baselines.NOGDClassifier(c=3),
    "ROGD": lambda: baselines.ROGDClassifier(c=3),
    "FESL-c": lambda: baselines.FESLClassifier(c=3),
    "FESL-s": lambda: baselines.FESLClassifier(strategy="selection", c=3, seed=1),
    "recovery | logistic": lambda: FeatureRecovery() | linear_model.LogisticRegression(),
}
REGRESSORS = {
    "PUFE": PUFERegressor,
    "PUFE of the paper": lambda: PUFERegressor.paper(c=30),
    "linear": lambda: PUFERegressor(preprocessing.StandardScaler() | linear_model.LinearRegression()),
    "NOGD": lambda: baselines.NOGDRegressor(c=30),
    "FESL-s": lambda: baselines.FESLRegressor(strategy="selection", c=30, seed=1),
    "recovery | Bayes": lambda: FeatureRecovery() | linear_model.BayesianLinearRegression(),
}
#: Every so many rounds more than the answer is noted.
SELDOM = 25


def seen(model, stream, regression):
    """What a user sees while a model plays a stream, as lines."""
    answer = model.predict_one if regression else model.predict_proba_one
    pufe = hasattr(model, "expert_weights")
    for t, (x, y) in enumerate(stream):
        yield repr(answer(x))
        if pufe and t % SELDOM == 0:
            yield repr(model.recover_one(x))
            yield model.debug_one(x)
        model.learn_one(x, y)
        if pufe:
            yield repr(model.expert_weights)
        if pufe and t % SELDOM == 0:
            yield repr([(space.keys, space.state, space.opened_at, space.vanished) for space in model.spaces])
    if pufe:
        yield from map(str, model.events)
    restored = pickle.loads(pickle.dumps(model))
    yield repr(restored.predict_one(x) if regression else restored.predict_proba_one(x))


def main(folder=None):
    for regression, models in ((False, CLASSIFIERS), (True, REGRESSORS)):
        for title, make in STREAMS.items():
            for name, model in models.items():
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    try:
                        lines = [*seen(model(), make(regression), regression)]
                    except Exception as error:
                        lines = [repr(error)]
                text = "\n".join(lines)
                digest, kind = hashlib.sha256(text.encode()).hexdigest()[:16], "numbers" if regression else "classes"
                print(f"{digest}  {name} on {title}, {kind}")
                if folder is not None:
                    path = pathlib.Path(folder) / f"{name}.{title}.{regression}.txt"
                    path.parent.mkdir(parents=True, exist_ok=True)
                    path.write_text(text)


if __name__ == "__main__":
    main(*sys.argv[1:])
