"""What does the paper print, and what comes out here? The page about it in the documentation."""

from __future__ import annotations

import collections
import dataclasses
import os
import pathlib
import re
from collections.abc import Callable, Mapping, Sequence

from readings import READINGS

from river_pufe.compare import (
    BUNDLED,
    METHODS,
    SETTINGS,
    Comparison,
    Data,
    Method,
    Regret,
    load,
    regret,
    regret_figure,
    run,
    to_csv,
    to_markdown,
    trend,
)
from river_pufe.compare.table import markdown_table, mean_and_std, rows
from river_pufe.saving import write

#: Lengths of the overlap in the paper's synthetic streams; it does not say to which of them its table belongs.
OVERLAPS = (10, 20, 25)
_SHOWN = 20

#: Table II of the paper, as far as the data are at hand.
_COLUMNS = ("NOGD", "ROGD-f", "ROGD-u", "FESL-c", "FESL-s", "PUFE (paper)")
_PRINTED = """
australian-P|.8073 ± .0037|.7727 ± .0495|**.8676 ± .0026**•|**.8676 ± .0026**|.8674 ± .0026|**.8676 ± .0026**
australian-U|.8073 ± .0037|.7031 ± .1042|.8515 ± .0099•|—|—|**.8535 ± .0080**
credit-a-P|.7710 ± .0057|.6369 ± .0808|**.7892 ± .0165**•|.7861 ± .0154|.7861 ± .0158|.7884 ± .0161
credit-a-U|**.7710 ± .0057**•|.6025 ± .1157|.7052 ± .0738|—|—|.7608 ± .0198
diabetes-P|.6403 ± .0020|.6281 ± .0709|**.6795 ± .0018**•|.6785 ± .0022|.6786 ± .0019|**.6795 ± .0018**
diabetes-U|.6403 ± .0020|.5120 ± .1075|.6620 ± .0151•|—|—|**.6625 ± .0145**
svmguide3-P|.7396 ± .0008|.7376 ± .0002|**.7467 ± .0057**•|.7463 ± .0055|.7465 ± .0056|**.7467 ± .0057**
svmguide3-U|.7396 ± .0008|.6442 ± .0477|**.7562 ± .0102**•|—|—|.7561 ± .0103
"""
PRINTED: dict[str, dict[str, str]] = {
    name: dict(zip(_COLUMNS, cells)) for name, *cells in (line.split("|") for line in _PRINTED.strip().splitlines())
}
_READINGS = ("PUFE (paper)", *READINGS)


def page(
    fesl_directory: str | os.PathLike[str],
    out: str | os.PathLike[str] = "docs/paper",
    runs: int = 10,
    jobs: int = 2,
    progress: Callable[[str, int, int], object] | None = None,
) -> list[pathlib.Path]:
    """Make the figures and tables of the page about the paper's experiment.

    All files of FESL in a directory and all data sets that River bundles are played, which takes about an hour. The
    page is written beside the directory `out` and keeps its text: only what stands between the comments
    ``<!-- begin … -->`` and ``<!-- end … -->`` is replaced. If there is no page yet, one without text is made.

    Parameters
    ----------
    fesl_directory
        Where the files of FESL are.
    out
        Directory of the figures and csv files. The page is beside it, with the suffix ``.md``.
    runs
        Number of runs.
    jobs
        Number of processes.
    progress
        Called with the name of what is played, the number of games that are over, and of all games of that name.

    Returns
    -------
    The paths of the files.

    """
    out = pathlib.Path(out)
    sources = sorted(pathlib.Path(fesl_directory).glob("*.csv"))
    if not sources:
        raise ValueError(f"there is no file of FESL in {fesl_directory}")

    def play(data: Data, overlap: int, methods: Mapping[str, Method] = METHODS) -> Comparison:
        def tell(done: int, total: int) -> None:
            if progress is not None:
                progress(f"{data.name}, overlap {overlap}", done, total)

        return run(data, methods, overlap=overlap, runs=runs, grid=True, jobs=jobs, progress=tell)

    fesl = [load(source) for source in sources]
    usual = {name: method for name, method in METHODS.items() if not method.is_rival}
    played = {n: [play(data, n, usual | READINGS if n == _SHOWN else usual) for data in fesl] for n in OVERLAPS}
    tables = {n: [comparison.only(tuple(usual)) for comparison in comparisons] for n, comparisons in played.items()}
    shown = tables[_SHOWN]
    raw = [dataclasses.replace(data, scaled=False) for data in fesl]
    standardized = [play(data, _SHOWN) for data in raw]
    bundled = [play(load(name), _SHOWN) for name in BUNDLED]
    regrets = {
        f"{data.name}-{setting}": [regret(data.stream(i, _SHOWN, SETTINGS[setting])) for i in range(1, runs + 1)]
        for data in fesl
        for setting in SETTINGS
    }
    blocks = {
        "printed": to_markdown(shown, PRINTED),
        "standardized": to_markdown(standardized, PRINTED),
        "untuned": to_markdown([comparison.fixed(1.0) for comparison in shown]),
        **{f"overlap-{n}": to_markdown(tables[n]) for n in OVERLAPS if n != _SHOWN},
        "tests": _tests([comparison for n in OVERLAPS for comparison in tables[n]]),
        "readings": _readings(played[_SHOWN]),
        "bundled": to_markdown(bundled),
        "bound": _bound(regrets),
    }
    out.mkdir(parents=True, exist_ok=True)
    return [
        trend(shown, out / "trend-fesl.png"),
        trend(bundled, out / "trend-bundled.png"),
        regret_figure({name: results[0] for name, results in regrets.items()}, out / "regret.png"),
        write(out / "fesl.csv", to_csv([comparison for n in OVERLAPS for comparison in played[n]])),
        write(out / "standardized.csv", to_csv(standardized)),
        write(out / "bundled.csv", to_csv(bundled)),
        fill(out.with_suffix(".md"), blocks),
    ]


def _tests(comparisons: Sequence[Comparison]) -> str:
    """The t-tests for each overlap, with the best c for each method and with c = 1."""
    lines: dict[str, dict[str, str]] = collections.defaultdict(dict)
    counts: collections.Counter[str] = collections.Counter()
    for comparison in comparisons:
        for tuned, kind in ((comparison, "best c"), (comparison.fixed(1.0), "c = 1")):
            for row in rows([tuned]):
                lines[row.name][f"b = {comparison.overlap}, {kind}"] = f"{row.verdict} ({row.p:.2g})"
                counts[row.verdict] += 1
    columns = list(next(iter(lines.values())))
    table = markdown_table(
        ["", *columns], [[name, *(cells[column] for column in columns)] for name, cells in lines.items()]
    )
    total = sum(counts.values())
    return (
        f"{table}\n\nOf {total} tests, {counts['=']} find no significant difference, {counts['+']} find PUFE "
        f"significantly better and {counts['-']} significantly worse. In brackets: p-values.\n"
    )


def _readings(comparisons: Sequence[Comparison]) -> str:
    lines = []
    verdicts = {tested: {row.name: row for row in rows(comparisons, tested)} for tested in _READINGS}
    for name, row in verdicts[_READINGS[0]].items():
        base = row.cells[row.base or ""][1]
        line = [name, f"{' ± '.join(mean_and_std(base.scores, False))} ({row.base})"]
        for tested in _READINGS:
            other = verdicts[tested][name]
            mean, _ = mean_and_std(other.cells[tested][1].scores, False)
            line.append(f"{mean} {other.verdict} ({other.p:.2g})")
        lines.append(line)
    total = ["worse than the best base model", ""]
    total += [str(sum(row.verdict == "-" for row in verdicts[tested].values())) for tested in _READINGS]
    return markdown_table(["", "best base model", *_READINGS], [*lines, total]) + "\n"


def _bound(regrets: Mapping[str, Sequence[Regret]]) -> str:
    lines = []
    for name, results in regrets.items():
        final, bound = (values[-1] for values in results[0].against_best())
        holds = sum(result.holds for result in results)
        lines.append([name, f"{final:.1f}", f"{bound:.1f}", f"{holds} of {len(results)}"])
    return markdown_table(["", "regret, run 1", "bound, run 1", "runs within the bound in every round"], lines) + "\n"


def fill(path: pathlib.Path, blocks: Mapping[str, str]) -> pathlib.Path:
    """Put blocks between the comments that bear their names; those that are not there are appended."""
    text = path.read_text() if path.exists() else "# The paper's experiment\n"
    for name, block in blocks.items():
        begin, end = f"<!-- begin {name} -->", f"<!-- end {name} -->"
        if begin not in text:
            text += f"\n{begin}\n{end}\n"
        pattern = re.escape(begin) + ".*?" + re.escape(end)
        text = re.sub(pattern, lambda _: f"{begin}\n\n{block}\n{end}", text, count=1, flags=re.DOTALL)  # noqa: B023
    return write(path, text)
