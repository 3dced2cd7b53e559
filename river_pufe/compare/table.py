"""How is a comparison read? Table II of the paper."""

from __future__ import annotations

import csv as csv_module
import dataclasses
import io
import math
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from scipy import stats

from .experiment import Comparison, Played
from .methods import C_GRID, METHODS

#: The method that is tested against the best base model.
TESTED = "PUFE (paper)"
_LEVEL = 0.05


@dataclasses.dataclass
class Row:
    """A row of the table: one data set in one setting.

    Parameters
    ----------
    name
        Data set and setting.
    cells
        What came out, by method, with its c; methods that cannot run are left out.
    base
        The best base model, None if there is none.
    p
        p-value of the paired t-test between the tested method and the best base model, NaN if there are too few runs.
    verdict
        ``"+"``: the tested method is significantly better, ``"-"``: worse, ``"="``: neither; ``""`` without a test.

    """

    comparison: Comparison
    setting: str
    cells: dict[str, tuple[float | None, Played]]
    base: str | None
    p: float
    verdict: str

    @property
    def name(self) -> str:
        return f"{self.comparison.data.name}-{self.setting}"


def rows(comparisons: Sequence[Comparison], tested: str = TESTED) -> Iterator[Row]:
    """The rows of the table, with the test of each."""
    for comparison in comparisons:
        for setting in comparison.settings:
            found = {method: comparison.best(setting, method) for method in comparison.methods}
            cells = {method: cell for method, cell in found.items() if cell is not None}
            bases = [method for method in cells if METHODS[method].is_base]
            best = min(bases, key=lambda method: comparison.rank(cells[method][1]), default=None)
            p, verdict = math.nan, ""
            if best is not None and tested in cells:
                p, verdict = _test(cells[tested][1], cells[best][1], comparison.data.regression)
            yield Row(comparison, setting, cells, best, p, verdict)


def _test(tested: Played, base: Played, regression: bool) -> tuple[float, str]:
    gain = (base.scores - tested.scores) if regression else (tested.scores - base.scores)
    if len(gain) < 2 or not np.isfinite(gain).all():
        return math.nan, ""
    if not gain.any():
        # No difference at all, and no variance to test it with.
        p = 1.0
    elif np.ptp(gain) <= 1e-9 * np.abs(gain).max():
        # The same difference in all runs is as significant as can be.
        p = 0.0
    else:
        p = float(stats.ttest_rel(tested.scores, base.scores).pvalue)
    return p, "=" if p >= _LEVEL else "+" if gain.mean() > 0 else "-"


def mean_and_std(scores: np.ndarray, regression: bool) -> tuple[str, str]:
    """Both as they are printed."""
    with np.errstate(all="ignore"):
        mean, std = float(scores.mean()), float(scores.std(ddof=1)) if len(scores) > 1 else 0.0
    if not regression:
        return f"{mean:.4f}".removeprefix("0"), f"{std:.4f}".removeprefix("0")
    if not 1e-3 <= abs(mean) < 1e5:
        return f"{mean:.3g}", f"{std:.2g}"
    digits = max(0, 3 - math.floor(math.log10(abs(mean))))
    return f"{mean:.{digits}f}", f"{std:.{digits}f}"


def markdown(comparisons: Sequence[Comparison], printed: Mapping[str, Mapping[str, str]] | None = None) -> str:
    """Table II of the paper, in Markdown, with a legend.

    The best methods are bold, • marks the best base model, a dash a method that cannot run. The last column has the
    paired t-test at 95 % between PUFE with the paper's parts and the best base model.

    Parameters
    ----------
    comparisons
        What `run` gives.
    printed
        What is printed elsewhere, by row and method, to be shown below each row.

    """
    printed = printed or {}
    methods = list(dict.fromkeys(method for comparison in comparisons for method in comparison.methods))
    lines, tests = [], []
    for row in rows(comparisons):
        name = row.name.replace("|", "\\|")
        lines.append([name, *_cells(row, methods)])
        tests.append(f"{row.verdict} (p = {row.p:.2g})" if row.verdict else "")
        if row.name in printed:
            lines.append([f"{name}, printed", *(printed[row.name].get(method, "") for method in methods)])
            tests.append("")
    head = ["", *methods]
    if any(tests):
        head.append("t-test")
        lines = [[*line, test] for line, test in zip(lines, tests)]
    return f"{grid(head, lines)}\n\n{_legend(comparisons, any(tests))}\n"


def _cells(row: Row, methods: Sequence[str]) -> Iterator[str]:
    regression = row.comparison.data.regression
    texts = {method: mean_and_std(played.scores, regression) for method, (_, played) in row.cells.items()}
    # What looks alike in print is equally good.
    top = texts[min(row.cells, key=lambda method: row.comparison.rank(row.cells[method][1]))][0]
    for method in methods:
        if method in texts:
            text = " ± ".join(texts[method])
            yield (f"**{text}**" if texts[method][0] == top else text) + ("•" if method == row.base else "")
        else:
            yield "—"


def grid(head: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """A table in Markdown."""
    return "\n".join("| " + " | ".join(line) + " |" for line in (head, ["---"] * len(head), *lines))


def _legend(comparisons: Sequence[Comparison], tested: bool) -> str:
    kinds = {comparison.data.regression for comparison in comparisons}
    measures = {False: "Accuracy (higher is better)", True: "Mean squared error (lower is better)"}
    runs = sorted({comparison.runs for comparison in comparisons})
    overlaps = sorted({comparison.overlap for comparison in comparisons})
    parts = [
        " or ".join(measures[kind] for kind in sorted(kinds))
        + " over the rounds of the current space, mean ± standard deviation of "
        + f"{' or '.join(map(str, runs))} runs.",
        f"P: the overlap of {' or '.join(map(str, overlaps))} rounds is predictable, U: it is not.",
        "Bold: the best; •: the best of the base models NOGD, ROGD-f and ROGD-u; —: cannot run.",
    ]
    if tested:
        parts.append(
            f"t-test: {TESTED} against the best base model, paired, at 95 %: "
            "= no significant difference, + better, - worse."
        )
    for c in sorted({comparison.c for comparison in comparisons}, key=str):
        if c is None:
            grid = ", ".join(f"{value:g}" for value in C_GRID)
            parts.append(
                f"For each method with a step size 1/(c√t), row by row, the c of {grid} that is best on these very "
                "rounds was taken, as in the paper; nothing else is tuned."
            )
        else:
            parts.append(f"Nothing is tuned: c = {c:g} for all.")
    return " ".join(parts)


def csv(comparisons: Sequence[Comparison]) -> str:
    """The figures of the table, a line for each data set, setting and method."""
    text = io.StringIO()
    writer = csv_module.writer(text, lineterminator="\n")
    writer.writerow(
        ["data", "setting", "overlap", "runs", "seed", "measure", "method", "c", "mean", "std", "base", "p", "verdict"]
    )
    for row in rows(comparisons):
        comparison = row.comparison
        for method, (c, played) in row.cells.items():
            scores = played.scores
            test = (repr(row.p), row.verdict) if method == TESTED and row.verdict else ("", "")
            writer.writerow(
                [
                    comparison.data.name,
                    row.setting,
                    comparison.overlap,
                    comparison.runs,
                    comparison.seed,
                    "MSE" if comparison.data.regression else "accuracy",
                    method,
                    "" if c is None else f"{c:g}",
                    repr(float(scores.mean())),
                    repr(float(scores.std(ddof=1))) if len(scores) > 1 else "",
                    "best" if method == row.base else "",
                    *test,
                ]
            )
    return text.getvalue()
