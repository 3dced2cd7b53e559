"""Leave a state of this release for the tests of later ones.

usage: python tests/states/write.py VERSION

Models in the middle of an overlap and after a change, with what they answer to the next samples of their streams.
"""

from __future__ import annotations

import argparse
import copy
import itertools
import pathlib

from river import base

from river_pufe import FeatureRecovery, PUFEClassifier, PUFERegressor, baselines, state
from river_pufe.datasets import CapriciousStream, Cycle, HiddenFactors

MODELS = {
    "classifier": PUFEClassifier(),
    "classifier, absent is zero": PUFEClassifier(absent="zero"),
    "classifier of the paper": PUFEClassifier.paper(),
    "regressor": PUFERegressor(),
    "recovery": FeatureRecovery(),
    "FESL-s": baselines.FESLRegressor(strategy="selection", c=10, seed=1),
}
N_KNOWN = 10


def ask(model, x):
    if isinstance(model, base.Classifier):
        return model.predict_proba_one(x)
    return model.predict_one(x) if isinstance(model, base.Regressor) else model.transform_one(x)


def teach(model, x, y):
    model.learn_one(x, y) if model._supervised else model.learn_one(x)


def known(model, samples):
    """The model, samples, and its answer to each of them before it learns it."""
    played, answers = copy.deepcopy(model), []
    for x, y in samples:
        answers.append(ask(played, x))
        teach(played, x, y)
    return model, samples, answers


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("version")
    states = {}
    for name, model in MODELS.items():
        for when, start in (("in an overlap", 50), ("after a change", 100)):
            regression = not isinstance(model, base.Classifier)
            stream = HiddenFactors(Cycle(n_spaces=2, period=60, overlap=20), width=4, regression=regression, seed=1)
            samples = list(itertools.islice(CapriciousStream(stream, missing=0.1, seed=1), start + N_KNOWN))
            trained = model.clone()
            for x, y in samples[:start]:
                teach(trained, x, y)
            states[f"{name}, {when}"] = known(trained, samples[start:])
    file = pathlib.Path(__file__).parent / f"{parser.parse_args().version}.state"
    file.write_bytes(state.dumps(states))


if __name__ == "__main__":
    main()
