"""How do the methods compare when feature spaces change?

The experiment of the paper, on any data set: all methods play the same streams, in ten orders, once with an intact and
once with an unpredictable overlap, and are judged on the rounds in which only the current features are left.

    from river_pufe import compare

    data = compare.load("Phishing")
    comparison = compare.run(data, overlap=20, runs=10)
    print(compare.markdown([comparison]))
    compare.save([comparison], "results")

`load` takes the name of a data set that River bundles, a file of FESL, or any csv; `run` plays; `markdown`, `csv` and
`trend` show Table II and Figure 3 of the paper. `regret` checks its Theorem 2 on a stream, and `page` makes the page
about all this in the documentation.

"""

from __future__ import annotations

from .data import BUNDLED, Data, load
from .experiment import SETTINGS, Comparison, run
from .figures import regret_figure, trend
from .methods import C_GRID, METHODS
from .printed import page
from .report import save
from .table import csv, markdown
from .theorem import Regret, regret

__all__ = [
    "BUNDLED",
    "C_GRID",
    "METHODS",
    "SETTINGS",
    "Comparison",
    "Data",
    "Regret",
    "csv",
    "load",
    "markdown",
    "page",
    "regret",
    "regret_figure",
    "run",
    "save",
    "trend",
]
