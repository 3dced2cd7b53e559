"""How is a comparison read? Table II of the paper."""

from __future__ import annotations

import csv
import dataclasses
import io
import math
import re
import typing
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from scipy import stats

from .experiment import Comparison, Played
from .methods import C_GRID

#: The method that is tested against the best base model.
TESTED = "PUFE (paper)"
_LEVEL = 0.05
#: An error that is so many times the best one is not worth its digits.
_DIVERGED = 1e6


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
    top
        The method with the best mean.
    against_top
        p-value of the paired t-test between each method and the best one, NaN if there are too few runs.

    """

    comparison: Comparison
    setting: str
    cells: dict[str, tuple[float | None, Played]]
    base: str | None
    p: float
    verdict: str
    top: str
    against_top: dict[str, float]

    @property
    def name(self) -> str:
        return f"{self.comparison.data.name}-{self.setting}"


def rows(comparisons: Sequence[Comparison], tested: str = TESTED) -> Iterator[Row]:
    """The rows of the table, with the test of each."""
    for comparison in comparisons:
        for setting in comparison.settings:
            found = {method: comparison.best(setting, method) for method in comparison.methods}
            cells = {method: cell for method, cell in found.items() if cell is not None}
            if not cells:
                continue
            bases = [method for method in cells if comparison.methods[method].is_base]
            best = min(bases, key=lambda method: comparison.rank(cells[method][1]), default=None)
            p, verdict = math.nan, ""
            if best is not None and tested in cells:
                p, verdict = _test(cells[tested][1], cells[best][1], comparison.data.regression)
            top = min(cells, key=lambda method: comparison.rank(cells[method][1]))
            others = {method: _test(cells[top][1], cells[method][1], comparison.data.regression) for method in cells}
            against_top = {method: p for method, (p, _) in others.items() if method != top}
            yield Row(comparison, setting, cells, best, p, verdict, top, against_top)


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


def to_markdown(comparisons: Sequence[Comparison], printed: Mapping[str, Mapping[str, str]] | None = None) -> str:
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
    methods = _methods(comparisons)
    lines, tests = [], []
    for row in rows(comparisons):
        name = row.name.replace("|", "\\|")
        lines.append([name, *map(_marked, _cells(row, methods))])
        tests.append(f"{row.verdict} (p = {row.p:.2g})" if row.verdict else "")
        if row.name in printed:
            lines.append([f"{name}, printed", *(printed[row.name].get(method, "") for method in methods)])
            tests.append("")
    head = ["", *methods]
    if any(tests):
        head.append("t-test")
        lines = [[*line, test] for line, test in zip(lines, tests)]
    return f"{markdown_table(head, lines)}\n\n{_legend(comparisons, any(tests))}\n"


def _marked(cell: _Cell) -> str:
    return (f"**{cell.text}**" if cell.is_best else cell.text) + ("•" if cell.is_base else "")


def to_latex(comparisons: Sequence[Comparison]) -> str:
    """The table in LaTeX, for the package `booktabs`, with the legend as a comment.

    Parameters
    ----------
    comparisons
        What `run` gives.

    """
    methods = _methods(comparisons)
    lines = [
        " & ".join([_escaped(row.name), *(_latex(cell) for cell in _cells(row, methods))]) + r" \\"
        for row in rows(comparisons)
    ]
    head = " & ".join(["", *map(_escaped, methods)]) + r" \\"
    body = "\n".join([head, r"\midrule", *lines])
    table = f"\\begin{{tabular}}{{l{'c' * len(methods)}}}\n\\toprule\n{body}\n\\bottomrule\n\\end{{tabular}}\n"
    return f"% {_legend(comparisons, False)}\n{table}"


def _latex(cell: _Cell) -> str:
    text = cell.text.replace(" ± ", r" $\pm$ ").replace("—", "---")
    return (f"\\textbf{{{text}}}" if cell.is_best else text) + (r"$^\bullet$" if cell.is_base else "")


def _escaped(text: str) -> str:
    return re.sub(r"([&%$#_{}])", r"\\\1", text)


def significance(comparisons: Sequence[Comparison]) -> str:
    """p-value of the paired t-test between each method and the best one of its row, in Markdown.

    Many tests find something by chance: of twenty without any difference one is below 0.05. The table is empty where
    each method ran once, since nothing can be tested then.

    Parameters
    ----------
    comparisons
        What `run` gives.

    """
    if all(comparison.runs == 1 for comparison in comparisons):
        return ""
    methods = _methods(comparisons)
    lines = []
    for row in rows(comparisons):
        found = {method: f"{p:.2g}" if p == p else "" for method, p in row.against_top.items()} | {row.top: "best"}
        lines.append([row.name.replace("|", "\\|"), *(found.get(method, "—") for method in methods)])
    return markdown_table(["p-value against the best", *methods], lines) + "\n"


def _methods(comparisons: Sequence[Comparison]) -> list[str]:
    return list(dict.fromkeys(method for comparison in comparisons for method in comparison.methods))


class _Cell(typing.NamedTuple):
    """What is printed of a method in a row."""

    text: str
    is_best: bool = False
    is_base: bool = False


def _cells(row: Row, methods: Sequence[str]) -> Iterator[_Cell]:
    regression = row.comparison.data.regression
    printed = {method: mean_and_std(played.scores, regression) for method, (_, played) in row.cells.items()}
    # What looks alike in print is equally good.
    top = printed[row.top][0]
    for method in methods:
        if method not in printed:
            yield _Cell("—")
        elif regression and has_diverged(row, method):
            yield _Cell("diverged", is_base=method == row.base)
        else:
            yield _Cell(" ± ".join(printed[method]), printed[method][0] == top, method == row.base)


def has_diverged(row: Row, method: str) -> bool:
    """Whether the error of a method is beyond all measure, because its steps are too long."""
    scores = row.cells[method][1].scores
    with np.errstate(all="ignore"):
        return not float(scores.mean()) <= _DIVERGED * max(float(row.cells[row.top][1].scores.mean()), 1e-12)


def markdown_table(head: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
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
        + f"{' or '.join(map(str, runs))} run{'s' if runs != [1] else ''}.",
        f"P: the overlap of {' or '.join(map(str, overlaps))} rounds is predictable, U: it is not.",
        "Bold: the best; •: the best of the base models NOGD, ROGD-f and ROGD-u; —: cannot run.",
    ]
    if tested:
        parts.append(
            f"t-test: {TESTED} against the best base model, paired, at 95 %: "
            "= no significant difference, + better, - worse."
        )
    if any(
        has_diverged(row, method) for row in rows(comparisons) if row.comparison.data.regression for method in row.cells
    ):
        again = "grid" if any(comparison.c is not None for comparison in comparisons) else ""
        parts.append(
            "diverged: the steps were too long for these data"
            + ("; try --grid, in Python grid=True." if again else ".")
        )
    for c in sorted({comparison.c for comparison in comparisons}, key=str):
        if c is None:
            choices = ", ".join(f"{value:g}" for value in C_GRID)
            parts.append(
                f"For each method with a step size 1/(c√t), row by row, the c of {choices} that is best on these very "
                "rounds was taken, as in the paper; nothing else is tuned."
            )
        else:
            parts.append(f"Nothing is tuned: c = {c:g} for all.")
    return " ".join(parts)


def to_csv(comparisons: Sequence[Comparison]) -> str:
    """The figures of the table, a line for each data set, setting and method."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(
        [
            "data",
            "setting",
            "overlap",
            "runs",
            "seed",
            "measure",
            "method",
            "c",
            "mean",
            "std",
            "base",
            "p",
            "verdict",
            "p_best",
        ]
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
                    repr(row.against_top[method]) if method in row.against_top else "",
                ]
            )
    return text.getvalue()
