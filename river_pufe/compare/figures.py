"""How does the loss go over the rounds of the current space? Figure 3 of the paper, and its Theorem 2.

Needs matplotlib, the extra `plot`.
"""

from __future__ import annotations

import io
import os
import pathlib
import typing
from collections.abc import Mapping, Sequence

import numpy as np

from ..plot.style import COLOURS
from ..saving import write
from .experiment import Comparison, Floats
from .theorem import Regret

if typing.TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: Colour, style and marker of each method: any one of them tells the lines apart, and a colour stands for the same
#: model in all figures of the package.
_LOOK = {
    "NOGD": ("#E69F00", ":", "v"),
    "ROGD-f": ("#009E73", "-.", "s"),
    "ROGD-u": ("#009E73", "--", "^"),
    "FESL-c": ("#CC79A7", "-", "x"),
    "FESL-s": ("#CC79A7", "--", "+"),
    "PUFE (paper)": ("#000000", "-", "o"),
    "PUFE": ("#0072B2", "-", "D"),
    "River SGD": ("#D55E00", ":", "<"),
    "River AdaGrad": ("#D55E00", "-.", ">"),
    "OLSF": ("#F0E442", ":", "1"),
    "OLSF-I": ("#F0E442", "--", "2"),
    "OLSF-II": ("#F0E442", "-", "3"),
    "OLVF": ("#999999", "-", "*"),
    "OCDS": ("#999999", "--", "p"),
    "OPID": ("#56B4E9", "-", "h"),
    "OPIDe": ("#56B4E9", ":", "d"),
    "REFORM": ("#56B4E9", "--", "P"),
    "SF2EL": ("#56B4E9", "-.", "X"),
}
_N_POINTS = 200
_N_MARKERS = 8


def trend(
    comparisons: Sequence[Comparison], path: str | os.PathLike[str], setting: str | None = None, columns: int = 2
) -> pathlib.Path:
    """Draw the average cumulative loss of each method, a panel for each comparison and setting.

    At each round it is the mean of the losses (logistic or squared) since the previous space has gone, then the mean
    over the runs, in a band of one standard deviation. The panels show what is usual: a line that is much higher than
    the others is cut.

    Parameters
    ----------
    comparisons
        What `run` gives.
    path
        File to write; its suffix tells the format.
    setting
        ``"P"`` or ``"U"``; by default all that were played.
    columns
        Panels side by side.

    """
    panels = [(c, s) for c in comparisons for s in c.settings if setting in (None, s)]
    if not panels:
        raise ValueError("there is nothing to draw: no comparison has this setting")
    columns = min(columns, len(panels))
    n_rows = -(-len(panels) // columns)
    figure = _figure(4.6 * columns, 3.0 * n_rows + 0.7)
    grid = figure.subplots(n_rows, columns, squeeze=False)
    lines: dict[str, typing.Any] = {}
    for axes, (comparison, letter) in zip(grid.flat, panels):
        lines |= _panel(axes, comparison, letter)
    for axes in grid.flat[len(panels) :]:
        axes.set_axis_off()
    shown = [*(method for method in _LOOK if method in lines), *(method for method in lines if method not in _LOOK)]
    handles = [lines[method] for method in shown]
    figure.legend(handles, shown, loc="outside lower center", ncols=5, frameon=False, handlelength=3.2)
    return _save(figure, path)


def _panel(axes: Axes, comparison: Comparison, setting: str) -> Mapping[str, typing.Any]:
    lines, ends, tops = {}, [], []
    for offset, method in enumerate(comparison.methods):
        found = comparison.best(setting, method)
        if found is None:
            continue
        averages = average_cumulative(found[1].losses)
        mean, deviation = averages.mean(0), averages.std(0)
        at = np.unique(np.linspace(0, len(mean) - 1, _N_POINTS).astype(int))
        colour, style, marker = _LOOK.get(method, (COLOURS[-3 - offset % 4], "--", "*p<>"[offset % 4]))
        every = max(1, len(at) // _N_MARKERS)
        (lines[method],) = axes.plot(
            at + 1,
            mean[at],
            color=colour,
            linestyle=style,
            marker=marker,
            markevery=(offset * every // len(comparison.methods), every),
            markersize=4,
            linewidth=1.8 if method.startswith("PUFE") else 1.2,
            zorder=3 if method.startswith("PUFE") else 2,
        )
        axes.fill_between(at + 1, (mean - deviation)[at], (mean + deviation)[at], color=colour, alpha=0.1, linewidth=0)
        ends.append(mean[-1])
        tops.append(mean[len(mean) // 20 :].max())
    axes.set_ylim(0, 1.08 * min(max(tops), 3 * float(np.median(ends))))
    axes.set_xlim(1, len(mean))
    axes.set_title(f"{comparison.data.name}-{setting}", fontsize=10)
    axes.set_xlabel("rounds with the current space only", fontsize=9)
    axes.set_ylabel(f"average {'squared' if comparison.data.regression else 'logistic'} loss", fontsize=9)
    return lines


def average_cumulative(losses: Floats) -> Floats:
    """Mean of the losses so far, along the rounds; both of shape (runs, rounds)."""
    averages: Floats = losses.cumsum(1) / np.arange(1, losses.shape[1] + 1)
    return averages


def regret_figure(regrets: Mapping[str, Regret], path: str | os.PathLike[str]) -> pathlib.Path:
    """Draw the regret against the best base model and the bound of Theorem 2, a panel for each stream.

    Parameters
    ----------
    regrets
        What `regret` gives, by the title of the panel.
    path
        File to write; its suffix tells the format.

    """
    columns = min(2, len(regrets))
    n_rows = -(-len(regrets) // columns)
    figure = _figure(4.6 * columns, 2.3 * n_rows + 0.4)
    grid = figure.subplots(n_rows, columns, squeeze=False)
    lines: list[typing.Any] = []
    for axes, (title, result) in zip(grid.flat, regrets.items()):
        rounds = np.arange(1, len(result.regrets) + 1)
        to_best, bound = result.against_best()
        lines = [
            *axes.plot(rounds, bound, color="#D55E00", linestyle="--"),
            *axes.plot(rounds, to_best, color="#000000"),
        ]
        axes.axhline(0, color="#999999", linewidth=0.8)
        axes.set_title(title, fontsize=10)
    for axes in grid.flat[len(regrets) :]:
        axes.set_axis_off()
    figure.supxlabel("rounds with the current space only", fontsize=9)
    figure.supylabel("cumulative loss above that of the best base model", fontsize=9)
    figure.legend(lines, ["bound of Theorem 2", "regret"], loc="outside upper center", ncols=2, frameon=False)
    return _save(figure, path)


def _figure(width: float, height: float) -> Figure:
    from matplotlib.figure import Figure

    # A figure of its own, without pyplot: nothing that a notebook has open is touched.
    return Figure(figsize=(width, height), layout="constrained")


def _save(figure: Figure, path: str | os.PathLike[str]) -> pathlib.Path:
    path = pathlib.Path(path)
    buffer = io.BytesIO()
    figure.savefig(buffer, format=path.suffix[1:] or "png", dpi=110)
    return write(path, buffer.getvalue())
