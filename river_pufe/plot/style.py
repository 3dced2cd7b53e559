"""What do all pictures have in common?

Colours are those of Okabe and Ito, which the colour-blind can tell apart; hatches and styles of lines say the same.
"""

from __future__ import annotations

import types
import typing
from collections.abc import Sequence

from ..values import Key

if typing.TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Okabe and Ito, the dark ones first, without the yellow that is lost on white paper.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")
STYLES = ("-", "--", "-.", ":")
HATCHES = ("", "///", "...", "\\\\\\", "xxx", "ooo", "---")
OTHERS = "#BBBBBB"
#: Models that are drawn in more than one figure, with the positions of their colours.
_KNOWN = {"PUFE": 0, "": 0, "River's linear model": 1, "linear model": 1}
SMALL = "small"


def looks(names: Sequence[str]) -> list[tuple[str, str]]:
    """Colour and style of the line of each model, by name, so that a model looks the same in all figures."""
    chosen = {name: _KNOWN[name] for name in names if name in _KNOWN}
    free = [i for i in range(len(COLOURS)) if i not in chosen.values()] or list(range(len(COLOURS)))
    others = [name for name in names if name not in chosen]
    chosen |= {name: free[i % len(free)] for i, name in enumerate(others)}
    return [(COLOURS[chosen[name]], STYLES[chosen[name] % len(STYLES)]) for name in names]


def span(rounds: Sequence[int]) -> dict[str, tuple[int, int]]:
    """Limits from the first round to the last, where there are two."""
    return {"xlim": (min(rounds), max(rounds))} if len(set(rounds)) > 1 else {}


def label(key: Key) -> str:
    """A key as a short string that Matplotlib writes as it is."""
    # Half of a character, which JSON may hold, cannot be drawn.
    text = str(key).encode("utf-8", "replace").decode()
    text = text if len(text) <= 28 else text[:27] + "…"
    # A dollar is a dollar, not mathematics, and an underscore in front does not hide it from the legend.
    return text.replace("$", r"\$") if not text.startswith("_") else " " + text.replace("$", r"\$")


def thin_hatches() -> typing.ContextManager[None]:
    from matplotlib import rc_context

    return rc_context({"hatch.linewidth": 0.5})


def legend(ax: Axes, reverse: bool = False, above: bool = False) -> None:
    """A legend beside or above the Axes, so that it hides nothing."""
    handles, _ = ax.get_legend_handles_labels()
    if handles:
        place: dict[str, typing.Any] = {"loc": "center left", "bbox_to_anchor": (1.0, 0.5), "reverse": reverse}
        if above:
            place = {"loc": "lower right", "bbox_to_anchor": (1.0, 1.0), "ncols": len(handles), "borderaxespad": 0.2}
        ax.legend(frameon=False, fontsize=SMALL, **place)


def axes(ax: Axes | None) -> Axes:
    """The Axes given, or those of a new figure."""
    return ax if ax is not None else pyplot().figure(layout="constrained").add_subplot()


def pyplot() -> types.ModuleType:
    """Matplotlib's pyplot, once something is drawn; an error that says how to install it."""
    try:
        from matplotlib import pyplot
    except ModuleNotFoundError:
        message = 'pictures need matplotlib, which is not installed: pip install "river-pufe[plot]"'
        raise ModuleNotFoundError(message, name="matplotlib") from None
    return pyplot
