"""When was which key there?"""

from __future__ import annotations

import itertools
import math
import typing
from collections.abc import Iterable, Sequence

import numpy as np

from ..recovery.evolution import FeatureSpace
from ..recovery.spaces import FeatureSpaces
from ..values import Array, Key, Sample, is_there
from .marks import as_timeline, shade_overlaps
from .record import Presence, Timeline
from .style import COLOURS, OTHERS, SMALL, axes, label, legend

if typing.TYPE_CHECKING:
    from matplotlib.axes import Axes


def presence(
    stream: Presence | Iterable[Sample | tuple[typing.Any, ...]],
    model: typing.Any = None,
    ax: Axes | None = None,
    timeline: Timeline | None = None,
) -> Axes:
    """When which key was there, and the feature spaces that were made of them.

    One row for each key, darker where it was there more often. The colour is that of its feature space, and so is the
    label on the right. Hatched bands are overlaps, and a cross is the end of a key that has vanished.

    **When to use it.** Before anything else: it needs no label and no model. With a model it shows what that model made
    of the keys.

    Parameters
    ----------
    stream
        Samples, or tuples that begin with one, such as any data set of River; or a `Presence`, filled already.
    model
        What knows the feature spaces of this stream: an estimator, a `FeatureRecovery`, or `FeatureSpaces`. Without one
        the keys are followed by `FeatureSpaces()` while the stream is read; a filled `Presence` is drawn without
        spaces then.
    ax
        Where to draw. By default on a new figure.
    timeline
        Events of the whole stream. By default those that the model remembers, the latest 500.

    Examples
    --------
    >>> from river.datasets import Phishing
    >>> from river_pufe import datasets, plot
    >>> stream = datasets.MappedSpaces(Phishing(), datasets.Cycle(n_spaces=3), seed=1)
    >>> ax = plot.presence(stream)
    >>> [text.get_text() for text in ax.texts]
    ['space 0', 'space 1', 'space 2']
    >>> ax.get_xlabel(), len(ax.get_yticks())
    ('round', 21)

    """
    if isinstance(stream, Presence):
        record = stream
    else:
        record, followed = Presence(), FeatureSpaces() if model is None else None
        for item in stream:
            x = item[0] if isinstance(item, tuple) else item
            record.update(x)
            if followed is not None:
                followed.advance({key: 1.0 for key, value in x.items() if is_there(value)})
        model = model if model is not None else followed
    ax = axes(ax)
    spaces = _spaces_of(record.keys, model)
    # Row by row from the first space to the last; keys of none are at the end.
    order = sorted(range(len(spaces)), key=lambda row: spaces[row] or (math.inf,))
    keys, spaces, shares = [record.keys[row] for row in order], [spaces[row] for row in order], record.shares()[order]
    groups = [(numbers, len(list(group))) for numbers, group in itertools.groupby(spaces)]
    firsts = dict.fromkeys(numbers[0] for numbers in spaces if numbers)
    colours = {number: COLOURS[i % len(COLOURS)] for i, number in enumerate(firsts)}
    image = np.ones((len(keys) + (record.n_others > 0), shares.shape[1], 4))
    for row, (numbers, share) in enumerate(zip(spaces, shares)):
        image[row] = _shade(colours[numbers[0]] if numbers else OTHERS, share)
    labels = [label(key) for key in keys]
    if record.n_others:
        others = record.others()
        image[-1] = _shade(OTHERS, others / max(others.max(), 1e-9))
        labels.append(f"{record.n_others} other keys")
    extent = (float(record.start), float(record.start + record.width * image.shape[1]), float(len(labels)), 0.0)
    if image.size:
        ax.imshow(image, aspect="auto", interpolation="nearest", extent=extent)
    end = 0
    for numbers, n in groups:
        if end:
            ax.axhline(end, color="black", linewidth=0.5)
        if numbers and len(groups) <= 16:
            name = ("space " if len(numbers) == 1 else "spaces ") + ", ".join(map(str, numbers))
            place: dict[str, typing.Any] = {"transform": ax.get_yaxis_transform(), "va": "center", "clip_on": False}
            ax.text(1.01, end + n / 2, name, fontsize=SMALL, **place)
        end += n
    if model is not None:
        gone = set(model.vanished)
        rows = [row for row, key in enumerate(keys) if key in gone]
        if rows:
            ends, heights = [record.seen(keys[row])[1] + 1 for row in rows], [row + 0.5 for row in rows]
            ax.scatter(ends, heights, marker="x", s=18, color="black", linewidths=1, label="vanished", zorder=3)
        shade_overlaps(ax, timeline if timeline is not None else as_timeline(model), record.rounds)
        legend(ax, above=True)
    step = max(1, -(-len(labels) // _room_for_labels(ax)))
    ticks = list(range(0, len(labels), step))
    if record.n_others:
        ticks[-1] = len(labels) - 1
    ax.set_yticks([tick + 0.5 for tick in ticks], [labels[tick] for tick in ticks], fontsize=SMALL)
    ax.set(xlabel="round", xlim=(record.start, max(record.rounds, record.start + 1)), ylim=(max(len(labels), 1), 0))
    return ax


def _spaces_of(keys: Sequence[Key], model: typing.Any) -> list[tuple[int, ...]]:
    """Numbers of the spaces of each key."""
    numbers: dict[Key, tuple[int, ...]] = {}
    spaces: tuple[FeatureSpace, ...] = model.spaces if model is not None else ()
    for space in spaces:
        for key in space.keys:
            numbers[key] = (*numbers.get(key, ()), space.number)
    return [numbers.get(key, ()) for key in keys]


def _shade(colour: str, share: Array) -> Array:
    from matplotlib.colors import to_rgb

    # What is there at all must be seen, so it does not begin at white.
    ink = np.where(share > 0, 0.2 + 0.8 * share, 0.0)[:, None]
    rgb = 1.0 - ink * (1.0 - np.array(to_rgb(colour)))
    return np.concatenate((rgb, np.ones_like(ink)), axis=1)


def _room_for_labels(ax: Axes) -> int:
    """How many lines of small text fit beside the Axes."""
    from matplotlib.font_manager import FontProperties

    height = ax.get_window_extent().height * 72 / ax.figure.get_dpi()
    return max(1, int(height / (1.1 * FontProperties(size=SMALL).get_size_in_points())))
