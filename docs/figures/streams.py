"""What does the rule that decides make of a stream, and of a gap?

    python docs/figures/streams.py

draws `docs/streams.svg`.
"""

from __future__ import annotations

import pathlib
import random
import sys
from collections.abc import Callable

import matplotlib

matplotlib.use("Agg")

import numpy as np
from matplotlib import pyplot
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from river_pufe import plot
from river_pufe.recovery.spaces import FeatureSpaces

N, D, CHANGE = 320, 6, 120
BLUE, ORANGE, GREEN = plot.COLOURS[:3]

#: Whether a key of the old (0) or the new (1) features is there, by its number in them and the round.
Rule = Callable[[int, int, int, random.Random], bool]

STREAMS: dict[str, Rule] = {
    "missing now and then": lambda new, i, t, rng: not new and rng.random() > 0.3,
    "replaced one by one": lambda new, i, t, rng: t >= CHANGE if new else t < CHANGE + 9 * (i + 1),
    "replaced without overlap": lambda new, i, t, rng: (t >= CHANGE) == bool(new),
    "one key more": lambda new, i, t, rng: not new or (i == 0 and t >= CHANGE),
    "one key gone for good": lambda new, i, t, rng: not new and (i > 0 or t < CHANGE),
    "some old keys stay": lambda new, i, t, rng: t >= CHANGE if new else i > 3 or t < CHANGE + 7 * (i + 1),
}


def spaces(ax: Axes, title: str, rule: Rule) -> None:
    """A raster of one stream, in the colours of the spaces that its keys belong to in the end."""
    rng = random.Random(1)
    stream = [{(new, i): 1.0 for new in (0, 1) for i in range(D) if rule(new, i, t, rng)} for t in range(N)]
    watched = FeatureSpaces()
    for x in stream:
        watched.advance(x)
    owner = {
        key: space for space in watched.spaces for key in (space.vanished if space.state == "retired" else space.keys)
    }
    keys = sorted(owner)
    for row, key in enumerate(keys):
        colour = ORANGE if owner[key].state == "retired" else BLUE
        there = np.flatnonzero([key in x for x in stream])
        runs = np.split(there, np.flatnonzero(np.diff(there) > 1) + 1)
        ax.broken_barh([(run[0], len(run)) for run in runs], (row - 0.36, 0.72), facecolors=colour, linewidth=0)
    for event in watched.events:
        rows = [keys.index(key) for key in event.keys if key in keys]
        if event.kind == "vanished":
            ax.plot([event.round] * len(rows), rows, "x", color="black", markersize=5)
        elif event.kind == "overlap ended":
            ax.axvspan(CHANGE, event.round, color="0.88", zorder=0, linewidth=0)
    ax.set(title=title, xlim=(0, N), ylim=(-0.7, len(keys) - 0.3), yticks=[])


def gaps(ax: Axes, significance: float = 1e-4) -> None:
    """How improbable a gap becomes as it lasts, for keys that were present often and rarely."""
    n, g = 100, np.arange(1, 151)
    for share, colour, style in ((1.0, BLUE, "-"), (0.5, ORANGE, "--"), (0.1, GREEN, "-.")):
        absent = n * (1 - share)
        # The next g rounds are all without the key, given those in which it was present and absent before.
        probability = np.cumprod((absent + g) / (n + 1 + g))
        end = int(np.argmax(probability < significance))
        label = f"present in {share:.0%} of {n} rounds: vanished after {g[end]}"
        ax.semilogy(g, probability, style, color=colour, label=label)
        ax.plot(g[end], probability[end], "x", color="black", markersize=7, zorder=3)
    ax.axhline(significance, color="0.4", linewidth=0.8, linestyle=":")
    ax.text(75, significance * 0.8, "significance", ha="center", va="top", color="0.3", fontsize=9)
    ax.set(xlim=(0, 150), ylim=(1e-6, 1.5), xlabel="rounds of absence", ylabel="probability of such a gap")
    ax.legend(frameon=False, loc="upper right", fontsize=9)


def draw(path: pathlib.Path) -> None:
    figure, axes = pyplot.subplot_mosaic(
        [[0, 1, 2], [3, 4, 5], ["gaps"] * 3], figsize=(8, 7.2), height_ratios=(1, 1, 1.3), layout="constrained"
    )
    for position, (title, rule) in enumerate(STREAMS.items()):
        spaces(axes[position], title, rule)
        axes[position].set_xlabel("round" if position > 2 else "")
        axes[position].set_ylabel("" if position % 3 else "keys")
    gaps(axes["gaps"])
    figure.legend(
        handles=[
            Patch(color=BLUE, label="current space"),
            Patch(color=ORANGE, label="retired, and recovered if there was an overlap"),
            Patch(color="0.88", label="overlap"),
            Line2D([], [], color="black", marker="x", linestyle="", label="vanished"),
        ],
        loc="outside upper center",
        ncols=4,
        frameon=False,
        fontsize=9,
    )
    # Without a date and with fixed names inside, the same picture is the same file.
    with matplotlib.rc_context({"svg.hashsalt": path.name}):
        figure.savefig(path, metadata={"Date": None})
    pyplot.close(figure)


if __name__ == "__main__":
    draw(pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent / "streams.svg")
