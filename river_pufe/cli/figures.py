"""What do a stream and its models look like, in one figure?"""

from __future__ import annotations

import io
import pathlib
import re
import typing
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from .. import plot
from ..plot.record import Presence, Series, Timeline
from ..values import Array
from . import show

#: The views of the experts in the words of a user. Where nothing is absent the first two see the same.
_VIEWS = {
    "present": "features present",
    "recovered": "absent ones recovered",
    "fresh": "learned since the change",
}


class Picture(typing.NamedTuple):
    """What a figure shows: the keys, the metric of one or more models, and what the predictions rely on.

    Parameters
    ----------
    record
        When each key was there.
    model
        What knows the feature spaces.
    curves
        Rounds and values of the metric, by the name of the model; empty without any.
    label
        What the metric is, and how far it looks back.
    weights
        Weights of the experts; None without any.
    changes
        Rounds in which the feature space is known to have changed.
    times
        Times of some rounds.
    timeline
        All events; by default those that the model remembers.

    """

    record: Presence
    model: typing.Any
    curves: Mapping[str, Sequence[tuple[int, float]]] = {}
    label: str = ""
    weights: Iterable[tuple[int, Mapping[str, float]]] | None = None
    changes: Sequence[int] = ()
    times: Series | None = None
    timeline: Timeline | None = None


def draw(path: pathlib.Path, picture: Picture) -> None:
    """Save the figure."""
    with show.replacing(path) as file:
        _figure(picture).savefig(file, format=show.kind(path), dpi=120)


def as_bytes(picture: Picture, format: str = "png") -> bytes:
    """The figure as the content of a file."""
    buffer = io.BytesIO()
    _figure(picture).savefig(buffer, format=format, dpi=120)
    return buffer.getvalue()


def _figure(picture: Picture) -> typing.Any:
    from matplotlib.figure import Figure

    has_curves = any(picture.curves.values())
    panels = 1 + has_curves + (picture.weights is not None)
    height = min(max(3.0, 0.19 * len(picture.record.keys)), 8.0)
    figure = Figure(figsize=(9.0, height + 2.6 * (panels - 1) + 0.5), layout="constrained")
    ratios = [height, *[2.6] * (panels - 1)]
    axes = list(figure.subplots(panels, sharex=True, squeeze=False, height_ratios=ratios)[:, 0])
    timeline = picture.timeline if picture.timeline is not None else picture.model
    plot.presence(picture.record, picture.model, axes[0], picture.timeline)
    if has_curves:
        curves = {name if len(picture.curves) > 1 else "": curve for name, curve in picture.curves.items()}
        plot.metric(curves, axes[1], changes=picture.changes).set_ylabel(picture.label)
        if not picture.changes:
            plot.events(timeline, axes[1])
    if picture.weights is not None:
        plot.weights(_by_view(picture.weights), ax=axes[-1]).set_ylabel("share of the prediction")
        plot.events(timeline, axes[-1])
    for above in axes[:-1]:
        above.set_xlabel("")
    if picture.times:
        _label_times(axes[-1], picture.times)
    return figure


def _by_view(weights: Iterable[tuple[int, Mapping[str, float]]]) -> list[tuple[int, dict[str, float]]]:
    """Weights of the views instead of those of the experts, where the names of all experts begin with their views."""
    summed = []
    for round_, table in weights:
        views: dict[str, float] = {}
        for name, weight in table.items():
            view = _VIEWS.get(name.partition(" ")[0], name)
            views[view] = views.get(view, 0.0) + weight
        summed.append((round_, views))
    return summed


def _short(times: Sequence[typing.Any]) -> list[str]:
    """Times without what a reader of an axis does not need: seconds and zones, and hours where it is about days."""
    names = [str(time) for time in times]
    if not all(re.match(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d", name) for name in names):
        return names
    days = len({name[:10] for name in names})
    return [name[:10] if days > 20 else name[:16].replace("T", " ") for name in names]


def _label_times(ax: typing.Any, times: Series) -> None:
    rounds: Array = np.array([round_ for round_, _ in times])
    names = _short([name for _, name in times])
    ax.xaxis.set_major_formatter(lambda t, _: names[int(np.argmin(np.abs(rounds - t)))])
    for label in ax.get_xticklabels():
        label.set(rotation=20, ha="right", rotation_mode="anchor")
    ax.set_xlabel("time")
