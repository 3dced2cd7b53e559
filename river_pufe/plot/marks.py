"""Where did keys come and vanish, on a picture of the rounds?"""

from __future__ import annotations

import typing

from .record import Timeline
from .style import legend, pyplot, thin_hatches

if typing.TYPE_CHECKING:
    from matplotlib.axes import Axes

#: With more of them than this, lines and crosses are drawn thin and small, so that they hide nothing.
_MANY = 60
#: More overlaps than this are shaded: hatches would be all that is seen.
_HATCHED = 12


def events(model: typing.Any, ax: Axes | None = None) -> Axes:
    """Mark what happened to the keys on a picture whose horizontal axis shows the rounds.

    Solid lines are where new keys come, alone or with a new feature space; hatched bands are overlaps; crosses on top
    are where keys vanish, and small ticks below where they return.

    **When to use it.** On a picture of `metric` or `weights`, or any of your own, where the changes are not
    known beforehand. A model remembers its latest 500 events; for a longer stream fill a `Timeline` while it flows.

    Parameters
    ----------
    model
        An estimator, a `FeatureRecovery`, or `FeatureSpaces`; or a `Timeline`.
    ax
        The picture. By default the current one of pyplot.

    Examples
    --------
    >>> from river_pufe import FeatureRecovery, datasets, plot
    >>> model = FeatureRecovery()
    >>> steps = []
    >>> for t, (x, _) in enumerate(datasets.HiddenFactors(n_samples=300, seed=1)):
    ...     model.learn_one(x)
    ...     steps.append((t, len(x)))
    >>> ax = plot.events(model, plot.metric(steps))
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['overlap', 'new keys', 'keys vanish']

    """
    if ax is None:
        ax = pyplot().gca()
    limits = ax.get_xlim()
    timeline = as_timeline(model)
    shade_overlaps(ax, timeline, limits[1])
    across = ax.get_xaxis_transform()
    opened, returned, vanished, rescaled, replaced = (
        [round_ for round_ in timeline.rounds(kind) if round_ > timeline.start]
        for kind in ("opened", "returned", "vanished", "rescaled", "replaced")
    )
    if opened:
        width = 0.7 if len(opened) <= _MANY else 0.3
        ax.vlines(opened, 0, 1, transform=across, color="black", linewidth=width, label="new keys")
    # Lines, not scatters: only then does the layout leave room for what is above the Axes.
    for rounds, height, marker, label in (
        (vanished, 1.03, "x", "keys vanish"),
        (returned, 0.015, "|", "keys return"),
        (rescaled, 1.03, "^", "another unit"),
        (replaced, 1.03, "D", "another sensor"),
    ):
        if rounds:
            many = len(rounds) > _MANY
            marks: dict[str, typing.Any] = {"marker": "|" if many else marker, "linestyle": "", "clip_on": False}
            marks |= {"markersize": 4, "markeredgewidth": 0.4 if many else 0.9}
            ax.plot(rounds, [height] * len(rounds), transform=across, color="black", label=label, **marks)
    ax.set_xlim(limits)
    legend(ax)
    return ax


def as_timeline(model: typing.Any) -> Timeline:
    """The timeline given, or one with the events that a model remembers."""
    if isinstance(model, Timeline):
        return model
    timeline = Timeline()
    for event in model.events:
        timeline.add(event)
    return timeline


def shade_overlaps(ax: Axes, timeline: Timeline, end: float) -> None:
    """Bands where keys of two spaces are alive, hatched if they are few; one that goes on lasts until `end`."""
    overlaps = timeline.overlaps
    band: dict[str, typing.Any] = {"facecolor": "none", "edgecolor": "0.35", "hatch": "///", "linewidth": 0.6}
    if len(overlaps) > _HATCHED:
        band = {"facecolor": "0.6", "linewidth": 0}
    with thin_hatches():
        for i, (start, stop) in enumerate(overlaps):
            label = None if i else "overlap"
            alpha = 0.5 if len(overlaps) <= _HATCHED else 0.25
            ax.axvspan(start, end if stop is None else stop, alpha=alpha, zorder=2.5, label=label, **band)
