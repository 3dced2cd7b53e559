"""Where did keys come and vanish, on a picture of the rounds?"""

from __future__ import annotations

import typing
from collections.abc import Collection

from .style import legend, pyplot, thin_hatches

if typing.TYPE_CHECKING:
    from matplotlib.axes import Axes


def events(model: typing.Any, ax: Axes | None = None) -> Axes:
    """Mark what happened to the keys on a picture whose horizontal axis are the rounds.

    Solid lines are where keys come, alone or with a new feature space, hatched bands are overlaps, and crosses on top
    are where keys vanish.

    **When to use it.** On a picture of `metric` or `weights`, or any of your own, where nobody knows the changes
    beforehand.

    Parameters
    ----------
    model
        An estimator, a `FeatureRecovery`, or `FeatureSpaces`.
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
    ['overlap', 'keys come', 'keys vanish']

    """
    if ax is None:
        ax = pyplot().gca()
    limits = ax.get_xlim()
    shade_overlaps(ax, model, limits[1])
    across = ax.get_xaxis_transform()
    rounds = [_rounds_of(model, kinds) for kinds in (("opened", "returned"), ("vanished",))]
    if rounds[0]:
        ax.vlines(rounds[0], 0, 1, transform=across, color="black", linewidth=0.7, label="keys come")
    if rounds[1]:
        # A line, not a scatter: only then does the layout leave room for what is above the Axes.
        crosses: dict[str, typing.Any] = {"marker": "x", "markersize": 4, "markeredgewidth": 0.9, "linestyle": ""}
        heights = [1.03] * len(rounds[1])
        ax.plot(rounds[1], heights, transform=across, color="black", label="keys vanish", clip_on=False, **crosses)
    ax.set_xlim(limits)
    legend(ax)
    return ax


def _rounds_of(model: typing.Any, kinds: Collection[str]) -> list[int]:
    return sorted({event.round for event in model.events if event.kind in kinds and event.round > 0})


def overlaps(model: typing.Any) -> list[tuple[int, int | None]]:
    """Rounds between which keys of two spaces were alive, None for the end of one that goes on."""
    found: list[tuple[int, int | None]] = []
    for event in model.events:
        if event.kind == "overlap began":
            found.append((event.round, None))
        elif event.kind == "overlap ended" and found:  # The beginning may be too long ago.
            found[-1] = (found[-1][0], event.round)
    return found


def shade_overlaps(ax: Axes, model: typing.Any, end: float) -> None:
    band: dict[str, typing.Any] = {"facecolor": "none", "edgecolor": "0.35", "hatch": "///", "linewidth": 0.6}
    with thin_hatches():
        for i, (start, stop) in enumerate(overlaps(model)):
            label = None if i else "overlap"
            ax.axvspan(start, end if stop is None else stop, alpha=0.5, zorder=2.5, label=label, **band)
