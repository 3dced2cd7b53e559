"""What does PUFE do? The main job on real data, in a few seconds."""

from __future__ import annotations

import pathlib
import time
import typing

from river import datasets as river_datasets
from river import linear_model, metrics, preprocessing, utils

from .. import datasets
from ..plot.record import Presence, Series
from ..pufe import PUFEClassifier
from . import show
from .figures import Picture, draw

#: Data that come with River, and its linear model for them.
DATA: dict[str, tuple[typing.Any, typing.Any]] = {
    "phishing": (river_datasets.Phishing, linear_model.LogisticRegression),
    "segments": (river_datasets.ImageSegments, linear_model.SoftmaxRegression),
}
_EARLY = 50
_WINDOW = 100
_SETTLED = 20


def demo(figure: pathlib.Path, data: str = "phishing", n_spaces: int = 4, seed: int = 42) -> None:
    """Run two models side by side on a stream that evolves, in one pass, and show how they did."""
    show.check_figure(figure)
    out = show.open_console()
    dataset, linear = DATA[data]
    stream = datasets.MappedSpaces(dataset(), datasets.Cycle(n_spaces=n_spaces), seed=seed)
    pufe = PUFEClassifier()
    models: dict[str, typing.Any] = {
        "PUFE": pufe,
        "River's linear model": preprocessing.StandardScaler() | linear(),
    }
    show.say(
        out,
        f"{type(stream.dataset).__name__}, {stream.n_samples:,} real samples. All {dataset().n_features} features are "
        f"replaced by mixtures of them, and those by others: {len(stream.changes)} changes. The old ones vanish one by "
        "one in the 20 rounds before a change, while the new ones are there already. The models are not told.",
    )
    overall = {name: metrics.Accuracy() for name in models}
    early = {name: metrics.Accuracy() for name in models}
    rolling: dict[str, typing.Any] = {name: utils.Rolling(metrics.Accuracy, window_size=_WINDOW) for name in models}
    seconds = dict.fromkeys(models, 0.0)
    scores = {name: Series() for name in models}
    record, weights = Presence(), Series()
    with show.progress_bar(out) as bar:
        task = bar.add_task("one pass", total=stream.n_samples, detail="")
        for t, (x, y) in enumerate(stream):
            for name, model in models.items():
                started = time.perf_counter()
                answer = model.predict_one(x)
                model.learn_one(x, y)
                seconds[name] += time.perf_counter() - started
                overall[name].update(y, answer)
                rolling[name].update(y, answer)
                if any(change <= t < change + _EARLY for change in stream.changes):
                    early[name].update(y, answer)
                if t >= _SETTLED:
                    scores[name].add(t, rolling[name].get())
            record.update(x)
            weights.add(t, pufe.expert_weights)
            bar.update(task, advance=1, detail=f"PUFE {overall['PUFE']}")
    rows = [
        (name, _percent(overall[name]), _percent(early[name]), f"{1e6 * seconds[name] / record.rounds:,.0f} µs")
        for name in models
    ]
    columns = ("model", "all rounds", f"first {_EARLY} after a change", "time per sample")
    out.print(show.make_table("Accuracy", columns, rows, right=(1, 2, 3)))
    out.print(show.spaces_table(pufe.spaces, "Feature spaces that PUFE found"))
    curves = {name: list(series) for name, series in scores.items()}
    draw(figure, Picture(record, pufe, curves, f"accuracy, latest {_WINDOW}", weights, stream.changes))
    show.say(out, f"\nSaved {figure}")


def _percent(accuracy: metrics.Accuracy) -> str:
    return f"{accuracy.get():.1%}"
