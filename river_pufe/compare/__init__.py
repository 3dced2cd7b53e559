"""How do the methods compare when feature spaces change?

The experiment of the paper, on any data set: all methods run on the same streams, in ten orders, once with an intact
and once with an unpredictable overlap, and are judged on the rounds in which only the current features are left.

    from river_pufe import compare

    data = compare.load("Phishing")
    comparison = compare.run(data, overlap=20, runs=10)
    print(compare.to_markdown([comparison]))
    compare.save([comparison], "results")

`load` takes the name of a data set that River bundles, a file of FESL, or any csv; `run` runs the methods, those of the
paper or your own; `to_markdown`, `to_csv`, `to_latex` and `trend` show Table II and Figure 3 of the paper,
`significance` has the p-values. `regret` checks its Theorem 2 on a stream.

"""

from __future__ import annotations

from .data import BUNDLED, Data, load
from .experiment import SETTINGS, Comparison, run
from .figures import regret_figure, trend
from .methods import C_GRID, METHODS, Method
from .report import save
from .table import significance, to_csv, to_latex, to_markdown
from .theorem import Regret, regret

__all__ = [
    "BUNDLED",
    "C_GRID",
    "METHODS",
    "SETTINGS",
    "Comparison",
    "Data",
    "Method",
    "Regret",
    "load",
    "regret",
    "regret_figure",
    "run",
    "save",
    "significance",
    "to_csv",
    "to_latex",
    "to_markdown",
    "trend",
]
