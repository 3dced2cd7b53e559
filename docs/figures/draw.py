"""Which pictures do the README and the documentation show?

    python docs/figures/draw.py

draws them anew, beside this file.
"""

from __future__ import annotations

import contextlib
import doctest
import itertools
import json
import math
import pathlib
import random
import subprocess
import sys
import tempfile
from collections.abc import Callable

import matplotlib

matplotlib.use("Agg")

import numpy as np
from matplotlib import pyplot
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch
from river import linear_model, metrics, preprocessing, utils
from river.datasets import Phishing

from river_pufe import FeatureRecovery, PUFEClassifier, datasets, plot
from river_pufe.recovery import LeastSquaresRows

BLUE, ORANGE, GREEN = "#0072B2", "#D55E00", "#009E73"
WINDOW = 100
#: Deviations on either side of the mean that hold 90 % of a normal law.
NINETY = 1.6449
#: The round in which the old sensors have gone, in the picture of recovery.
CHANGE = 200


def replaced(directory: pathlib.Path, n_streams: int = 10) -> None:
    """The problem and the gain: all features are replaced three times, in a raster; and accuracies, over streams."""
    cycle = datasets.Cycle(n_spaces=4)
    streams = [datasets.MappedSpaces(Phishing(), cycle, seed=seed) for seed in range(n_streams)]
    models = {
        "PUFE": (PUFEClassifier, BLUE, "-"),
        "River's linear model": (
            lambda: preprocessing.StandardScaler() | linear_model.LogisticRegression(),
            ORANGE,
            "--",
        ),
    }
    figure, (top, bottom) = pyplot.subplots(
        2, 1, figsize=(7, 5.4), height_ratios=(1, 1.15), sharex=True, layout="constrained"
    )
    plot.presence(streams[0], ax=top)
    top.set(xlabel="", yticks=[], ylabel="keys", title="All features are replaced, three times")
    top.get_legend().remove()
    for name, (make, colour, style) in models.items():
        curves = np.array([_accuracies(make(), stream) for stream in streams])
        rounds, mean, spread = np.arange(curves.shape[1]), curves.mean(0), curves.std(0)
        shown = slice(WINDOW // 2, None)
        bottom.plot(rounds[shown], mean[shown], style, color=colour, label=name, linewidth=1.8)
        low, high = (mean - spread)[shown], (mean + spread)[shown]
        bottom.fill_between(rounds[shown], low, high, color=colour, alpha=0.15, linewidth=0)
    for i, change in enumerate(streams[0].changes):
        bottom.axvline(change, color="0.4", linewidth=0.8, linestyle=":", label=None if i else "old features are gone")
    bottom.set(xlabel="sample", ylabel=f"accuracy, latest {WINDOW}")
    bottom.legend(frameon=False, loc="lower left")
    figure.savefig(directory / "replaced.png", dpi=150)
    pyplot.close(figure)


def _accuracies(model: object, stream: datasets.MappedSpaces) -> list[float]:
    metric = utils.Rolling(metrics.Accuracy, window_size=WINDOW)
    accuracies = []
    for x, y in stream:
        metric.update(y, model.predict_one(x))
        model.learn_one(x, y)
        accuracies.append(metric.get())
    return accuracies


def cycle(directory: pathlib.Path) -> None:
    """The paper's matrices on a stream: what is known of both spaces before, during and after the overlap."""
    schedule = datasets.Cycle(period=60, overlap=20)
    stream = datasets.HiddenFactors(schedule, width=8, n_samples=120, seed=0)
    figure = pyplot.figure(figsize=(7, 3.2), layout="constrained")
    ax = plot.presence(stream, ax=figure.add_subplot())
    ax.get_legend().remove()
    ax.set(yticks=[4, 12], yticklabels=["previous\nfeatures", "current\nfeatures"], xlabel="round")
    for letter, x, y in (("A", 20, 4), ("M", 50, 4), ("N", 50, 12), ("B", 90, 12)):
        box = {"boxstyle": "circle,pad=0.25", "facecolor": "white", "edgecolor": "black"}
        ax.text(x, y, letter, fontsize=16, fontweight="bold", ha="center", va="center", bbox=box, zorder=5)
    top = ax.secondary_xaxis("top")
    top.set_xticks([20, 50, 90], ["$T_1 - b$ rounds", "overlap\n$b$ rounds", "$T_2$ rounds"])
    top.tick_params(length=0)
    _save(figure, directory / "cycle.svg")


def completion(directory: pathlib.Path, n_runs: int = 5) -> None:
    """A completed feature with error bars, and how much is completed as rows go by."""
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(7, 3.2), width_ratios=(1, 1.15), layout="constrained")
    rng = np.random.default_rng(0)
    pairs = rng.multivariate_normal([20.0, 12.0], [[25.0, 14.0], [14.0, 10.0]], size=500)
    recovery, absent = FeatureRecovery(), rng.random(len(pairs)) < 0.5
    for (a, b), gone in zip(pairs.tolist(), absent):
        recovery.learn_one({"a": a} if gone else {"a": a, "b": b})
    line = np.linspace(pairs[:, 0].min(), pairs[:, 0].max(), 30)
    completed, deviation = np.array([recovery.expected_one({"a": a})["b"] for a in line.tolist()]).T
    half = NINETY * deviation
    left.plot(*pairs[absent][:150].T, "o", color="0.65", markersize=3, label="true, not seen")
    left.plot(line, completed, color=BLUE, label="completed")
    left.fill_between(
        line, completed - half, completed + half, color=BLUE, alpha=0.15, linewidth=0, label="90 % interval"
    )
    left.set(xlabel="a feature that is there", ylabel="one that is absent", xticks=[], yticks=[])
    left.legend(frameon=False, loc="upper left", fontsize="small")
    ways = {
        "online EM": (lambda x, completed: x, BLUE, "-"),
        "completed rows learned\nas if they had been seen": (lambda x, completed: completed, ORANGE, "--"),
    }
    curves = {name: [] for name in ways}
    best = []
    for run in range(n_runs):
        rows, covariance, there = _with_gaps(run)
        for name, (learned, _, _) in ways.items():
            curves[name].append(_completed(rows, there, learned))
        best.append(1.0 - _left_open(covariance, there[:300]))
    for name, (_, colour, style) in ways.items():
        mean = _smooth(np.mean(curves[name], axis=0))
        right.plot(np.arange(len(mean)) + WINDOW, mean, style, color=colour, label=name)
    right.axhline(np.mean(best), color="0.4", linewidth=0.8, linestyle=":", label="true covariance")
    right.set(xlabel="row", ylabel="share of the variance", ylim=(-0.35, 1), xlim=(0, len(rows)))
    right.legend(frameon=False, loc=(0.42, 0.33), fontsize="small")
    figure.savefig(directory / "completion.png", dpi=150)
    pyplot.close(figure)


def _with_gaps(run: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows of 32 features from 5 factors and noise, their covariance, and which three quarters of them are missing."""
    rng = np.random.default_rng(run)
    loadings = rng.normal(size=(5, 32))
    covariance = loadings.T @ loadings + 0.1 * np.eye(32)
    unit = np.sqrt(covariance.diagonal())
    rows = (rng.normal(size=(1500, 5)) @ loadings + rng.normal(0, 0.1**0.5, size=(1500, 32))) / unit
    return rows, covariance / np.outer(unit, unit), rng.random(rows.shape) > 0.75


def _completed(
    rows: np.ndarray,
    there: np.ndarray,
    learned: Callable[[dict[int, float], dict[int, float]], dict[int, float]],
) -> list[tuple[float, float]]:
    """Squared error and square of the absent entries of each row."""
    recovery, scores = FeatureRecovery(), []
    for row, seen in zip(rows, there):
        x = {j: float(row[j]) for j in np.flatnonzero(seen)}
        completed, absent = recovery.transform_one(x), np.flatnonzero(~seen)
        errors = row[absent] - [completed.get(j, 0.0) for j in absent]
        scores.append((np.square(errors).sum(), np.square(row[absent]).sum()))
        recovery.learn_one(learned(x, completed))
    return scores


def _smooth(scores: np.ndarray) -> np.ndarray:
    """Share of the variance that is explained in the latest rows."""
    sums = np.cumsum(np.vstack([np.zeros(2), scores]), axis=0)
    errors, total = (sums[WINDOW:] - sums[:-WINDOW]).T
    return 1.0 - errors / total


def _left_open(covariance: np.ndarray, there: np.ndarray) -> float:
    """Share of the variance of absent entries that the true covariance leaves open."""
    open_, total = 0.0, 0.0
    for seen in there:
        across = covariance[np.ix_(seen, ~seen)]
        known = np.linalg.solve(covariance[np.ix_(seen, seen)], across)
        total += covariance[~seen, ~seen].sum()
        open_ += covariance[~seen, ~seen].sum() - (across * known).sum()
    return float(open_ / total)


def recovery(directory: pathlib.Path, n_runs: int = 20) -> None:
    """A sensor that has gone, and how much of a space is recovered after overlaps of several lengths."""
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(7, 3.2), width_ratios=(1.3, 1), layout="constrained")
    model = FeatureRecovery()
    true, recovered, x = _recovered(model, 20, seed=3)
    rounds, after = np.arange(len(true)), np.arange(CHANGE, len(true))
    half = NINETY * model.expected_one(x)["old 0"].deviation
    left.plot(rounds, true[:, 0], "o", color="0.65", markersize=3, label="true")
    left.plot(after, recovered[after, 0], color=BLUE, label="recovered")
    band = recovered[after, 0] - half, recovered[after, 0] + half
    left.fill_between(after, *band, color=BLUE, alpha=0.15, linewidth=0, label="90 % interval")
    left.axvspan(CHANGE - 20, CHANGE, color="0.9", linewidth=0, label="overlap")
    left.set(xlabel="round", ylabel="a sensor that goes", yticks=[], xlim=(CHANGE - 50, CHANGE + 60))
    left.set_ylim(*(np.array([-1.2, 1.8]) * np.abs(true[:, 0]).max()))
    left.legend(frameon=False, loc="upper left", fontsize="small", ncols=2)
    lengths = (5, 10, 15, 20, 30, 50, 80)
    models = {
        "the default": (FeatureRecovery, BLUE, "o-"),
        "ridge regression on\nthe overlap alone": (_ridge, ORANGE, "s--"),
    }
    for name, (make, colour, style) in models.items():
        means = []
        for overlap in lengths:
            shares = []
            for run in range(n_runs):
                true, recovered, _ = _recovered(make(), overlap, seed=run)
                errors = (recovered - true)[CHANGE + 5 :]
                shares.append(1.0 - np.square(errors).sum() / np.square(true[CHANGE + 5 :]).sum())
            means.append(np.mean(shares))
        right.plot(lengths, means, style, color=colour, label=name, markersize=4)
    right.set(xlabel="rounds of overlap", ylabel="share of the variance", ylim=(0, 1))
    right.legend(frameon=False, loc="lower right", fontsize="small")
    figure.savefig(directory / "recovery.png", dpi=150)
    pyplot.close(figure)


def _ridge() -> FeatureRecovery:
    return FeatureRecovery(row_model=LeastSquaresRows())


def _recovered(recovery: FeatureRecovery, overlap: int, seed: int) -> tuple[np.ndarray, np.ndarray, dict[str, float]]:
    """What 12 sensors read, what is recovered of them, and the last sample."""
    rng = np.random.default_rng(seed)
    factors = rng.normal(size=(CHANGE + 60, 4))
    for before, now in itertools.pairwise(factors):
        now[:] = 0.8 * before + 0.6 * now
    old, new = (factors @ rng.normal(size=(4, 12)) + rng.normal(0, 0.7, size=(len(factors), 12)) for _ in range(2))
    recovered = np.zeros_like(old)
    for t in range(len(factors)):
        x = {f"old {j}": value for j, value in enumerate(old[t].tolist()) if t < CHANGE}
        x |= {f"new {j}": value for j, value in enumerate(new[t].tolist()) if t >= CHANGE - overlap}
        if t >= CHANGE:
            known = recovery.transform_one(x)
            recovered[t] = [known[f"old {j}"] for j in range(12)]
        recovery.learn_one(x)
    return old, recovered, x


def flow(directory: pathlib.Path) -> None:
    """What happens to one sample, from the dict to the answer and back."""
    figure = pyplot.figure(figsize=(5.6, 5.4))
    ax = figure.add_axes((0, 0, 1, 1), xlim=(0, 70), ylim=(6.5, 74))
    ax.axis("off")
    boxes = (
        (60, BLUE, "spaces", "Which keys form a feature space?\nWhich have vanished?"),
        (44, BLUE, "recovery", "Scale what is there, complete what is absent,\nrecover what is gone."),
        (28, GREEN, "experts", "Predict, each from its own view of the sample:\npresent, recovered, fresh."),
        (12, ORANGE, "aggregator", "Weigh the experts by their losses.\nSome of them may sleep."),
    )
    for y, colour, name, text in boxes:
        style = {"boxstyle": "round,pad=0,rounding_size=1.2", "linewidth": 1.5, "edgecolor": colour}
        ax.add_patch(FancyBboxPatch((8, y), 46, 9, facecolor=matplotlib.colors.to_rgba(colour, 0.08), **style))
        ax.text(31, y + 7, name, ha="center", va="center", fontsize=12, fontweight="bold", color=colour)
        ax.text(31, y + 3, text, ha="center", va="center", fontsize=10)
    for y, text in (
        (69, "sample: a dict"),
        (53, "row, with gaps"),
        (37, "three complete rows"),
        (21, "predictions"),
        (5, "answer"),
    ):
        start, end = (31, y + 3), (31, y) if y > 5 else (31, y + 2.5)
        start = (31, min(y + 7, 73)) if y in (53, 37, 21) else (31, 73) if y == 69 else (31, 12)
        ax.add_patch(_arrow(start, end))
        ax.text(32.2, (start[1] + end[1]) / 2, text, ha="left", va="center", fontsize=10)
    # The label goes to those that learn from it, and to nobody else.
    ax.text(64, 24.5, "label y", ha="center", va="center", fontsize=10)
    ax.add_patch(_arrow((64, 26), (54, 32), "arc3,rad=0.25"))
    ax.add_patch(_arrow((64, 23), (54, 16.5), "arc3,rad=-0.25"))
    ax.text(62.5, 31.5, "learn", ha="left", va="center", fontsize=9, color="0.35")
    ax.text(62.5, 17.5, "losses", ha="left", va="center", fontsize=9, color="0.35")
    for low, high, text in ((44, 69, "never sees\na label"), (12, 21, "never sees\na feature")):
        ax.plot([6.5, 5.5, 5.5, 6.5], [low, low, high, high], color="0.5", linewidth=1)
        ax.text(5, (low + high) / 2, text, rotation=90, ha="right", va="center", fontsize=9, color="0.35")
    _save(figure, directory / "flow.svg")


def recipe(directory: pathlib.Path) -> None:
    """What the code on the page about pictures draws, beside which it is shown."""
    page = pathlib.Path(__file__).parents[1] / "recipes" / "pictures.md"
    names: dict[str, object] = {}
    with contextlib.chdir(directory):
        for example in doctest.DocTestParser().get_examples(page.read_text().replace("```\n", "\n")):
            exec(example.source, names)


def run(directory: pathlib.Path) -> None:
    """What the command line draws."""
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as file:
        for x, y in datasets.MappedSpaces(Phishing(), seed=42):
            print(json.dumps(x | {"phishing": y}), file=file)
        file.flush()
        command = [sys.executable, "-m", "river_pufe", "run", file.name, "--target", "phishing"]
        subprocess.run([*command, "--figure", str(directory / "run.png")], check=True, capture_output=True)


def lying_sensor(directory: pathlib.Path) -> None:
    """Scores of five thermometers, as on the page about them."""
    rng, recovery, scores = random.Random(1), FeatureRecovery(), []
    weather = stuck = 0.0
    for t in range(500):
        weather = 0.95 * weather + rng.gauss(0, 1)
        x = {f"room {i}": 20 + (i + 1) / 3 * weather + rng.gauss(0, 0.3) for i in range(5)}
        stuck = x["room 2"] if t < 400 else stuck
        x["room 2"] = stuck
        expected = recovery.expected_one(x)
        scores.append([(x[key] - value) / deviation for key, (value, deviation) in expected.items()] or [math.nan] * 5)
        recovery.learn_one(x)
    figure, axes = pyplot.subplots(figsize=(8, 2.8), layout="constrained")
    for i, series in enumerate(zip(*scores)):
        lies = i == 2
        color, label = (ORANGE, "hangs at its value from 400 on") if lies else ("0.7", "the others" if i == 0 else None)
        axes.plot(range(350, 500), series[350:], color=color, lw=1.6 if lies else 0.8, label=label, zorder=2 + lies)
    axes.axhspan(-1.645, 1.645, color="0.93", zorder=0)
    axes.set(xlabel="sample", ylabel="deviations away", xlim=(350, 499))
    axes.legend(loc="upper left", frameon=False)
    figure.savefig(directory / "lying-sensor.png", dpi=150)
    pyplot.close(figure)


def _arrow(start: tuple[float, float], end: tuple[float, float], bend: str = "arc3") -> FancyArrowPatch:
    return FancyArrowPatch(
        start, end, arrowstyle="-|>", mutation_scale=12, color="0.35", shrinkA=0, shrinkB=0, connectionstyle=bend
    )


def _save(figure: pyplot.Figure, path: pathlib.Path) -> None:
    # Without a date and with fixed names inside, the same picture is the same file.
    with matplotlib.rc_context({"svg.hashsalt": path.name}):
        figure.savefig(path, metadata={"Date": None})
    pyplot.close(figure)


def main(directory: pathlib.Path, n_streams: int = 10) -> None:
    replaced(directory, n_streams)
    cycle(directory)
    completion(directory)
    recovery(directory)
    flow(directory)
    recipe(directory)
    lying_sensor(directory)
    run(directory)


if __name__ == "__main__":
    arguments = sys.argv[1:]
    main(pathlib.Path(arguments[0]) if arguments else pathlib.Path(__file__).parent, *map(int, arguments[1:]))
