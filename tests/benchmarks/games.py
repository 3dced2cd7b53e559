"""How does a model fare on a stream, beside the linear models that a River user would run instead?"""

from __future__ import annotations

import concurrent.futures
import math

import numpy as np
from river import forest, linear_model, multiclass, neighbors, optim, preprocessing, tree

#: Probabilities are taken for no less than this, as in River's log loss.
_LEAST = 1e-15


def river_models(stream, regression):
    """River's linear models for a stream, by name, scaled as its absent values ask for."""
    scaler = preprocessing.MaxAbsScaler if stream.absent == "zero" else preprocessing.StandardScaler
    if regression:
        models = {
            "River SGD": linear_model.LinearRegression(optim.SGD(0.01)),
            "River AdaGrad": linear_model.LinearRegression(optim.AdaGrad(0.1)),
            "River Bayes": linear_model.BayesianLinearRegression(),
        }
        return {name: scaler() | preprocessing.TargetStandardScaler(model) for name, model in models.items()}
    models = {
        "River SGD": linear_model.LogisticRegression(),
        "River AdaGrad": linear_model.LogisticRegression(optim.AdaGrad(0.1)),
    }
    if all(isinstance(y, bool) for y in stream.labels):
        return {name: scaler() | model for name, model in models.items()}
    many = {name: multiclass.OneVsRestClassifier(model) for name, model in models.items()}
    return {
        name: scaler() | model for name, model in (many | {"River softmax": linear_model.SoftmaxRegression()}).items()
    }


def nonlinear_models(stream, regression):
    """River's forest, tree and neighbours for a stream, by name, each with its defaults.

    A tree does not mind in what units its features are; distances do.
    """
    scaler = preprocessing.MaxAbsScaler if stream.absent == "zero" else preprocessing.StandardScaler
    if regression:
        return {
            "River ARF": forest.ARFRegressor(seed=1),
            "River HAT": tree.HoeffdingAdaptiveTreeRegressor(seed=1),
            "River KNN": scaler() | neighbors.KNNRegressor(),
        }
    return {
        "River ARF": forest.ARFClassifier(seed=1),
        "River HAT": tree.HoeffdingAdaptiveTreeClassifier(seed=1),
        "River KNN": scaler() | neighbors.KNNClassifier(),
    }


def right(model, x, y):
    return float(model.predict_one(x) == y)


def off(model, x, y):
    return abs((model.predict_one(x) or 0.0) - y)


def probability(model, x, y):
    """Of True."""
    return model.predict_proba_one(x).get(True, 0.5)


def play(model, samples, judge):
    """Every sample is judged, then learned, once, in order; what the judge said in each round."""
    said = np.empty(len(samples))
    for t, (x, y) in enumerate(samples):
        said[t] = judge(model, x, y)
        model.learn_one(x, y)
    return said


def score(model, stream, regression):
    """Accuracy or mean absolute error: over all rounds that count, and over those right after a change."""
    said = play(model, stream.samples, off if regression else right)
    return said[stream.judged].mean(), said[stream.early].mean()


def log_losses(probabilities, labels):
    given = np.where(labels, probabilities, 1.0 - probabilities)
    return -np.log(np.maximum(given, _LEAST))


def calibration(probabilities, labels, bins=10):
    """Mean probability, share of True and number in each bin that is not empty, and the expected calibration error."""
    places = np.minimum((probabilities * bins).astype(int), bins - 1)
    counts = np.bincount(places, minlength=bins)
    filled = counts > 0
    said = np.bincount(places, probabilities, bins)[filled] / counts[filled]
    true = np.bincount(places, labels, bins)[filled] / counts[filled]
    return said, true, counts[filled], float(counts[filled] @ np.abs(said - true) / counts.sum())


def play_all(game, jobs, processes):
    """What comes out of each job, in their order."""
    if processes == 1:
        return [game(job) for job in jobs]
    with concurrent.futures.ProcessPoolExecutor(processes) as pool:
        return list(pool.map(game, jobs))


def standard_error(differences):
    """Of the mean of paired differences, shape (runs,)."""
    return float(np.std(differences, ddof=1) / math.sqrt(len(differences))) if len(differences) > 1 else math.nan
