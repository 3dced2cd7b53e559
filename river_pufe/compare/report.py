"""How is a comparison saved?"""

from __future__ import annotations

import os
import pathlib
from collections.abc import Sequence

from ..saving import write
from .experiment import Comparison
from .figures import trend
from .table import significance, to_csv, to_latex, to_markdown


def save(comparisons: Sequence[Comparison], directory: str | os.PathLike[str]) -> list[pathlib.Path]:
    """Write tables and figure: `table.md`, `table.csv`, `table.tex` and `trend.png`, for which matplotlib is needed.

    Returns
    -------
    The paths of the files.

    """
    directory = pathlib.Path(directory)
    directory.mkdir(parents=True, exist_ok=True)
    paths = [
        write(directory / "table.md", f"{to_markdown(comparisons)}\n{significance(comparisons)}"),
        write(directory / "table.csv", to_csv(comparisons)),
        write(directory / "table.tex", to_latex(comparisons)),
    ]
    return [*paths, trend(comparisons, directory / "trend.png")]
