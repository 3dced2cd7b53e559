"""The paper's experiment on the data sets of FESL and on those that River bundles, and the page about it.

usage: python tests/benchmarks/paper.py --data FOLDER [--out docs] [--runs 10] [--jobs N]

The folder has the csv files of FESL in `fesl`. Writes the figures and csv files into `docs/paper`, and the tables into
the page beside it, whose text is kept. Takes about an hour.
"""

from __future__ import annotations

import pages
import printed
from rich.progress import MofNCompleteColumn, Progress


def main():
    parser = pages.parser(__doc__)
    options = parser.parse_args()
    if options.data is None:
        parser.error("--data is needed: where are the files of FESL?")
    with Progress(*Progress.get_default_columns(), MofNCompleteColumn()) as bar:
        tasks = {}

        def show(name, done, total):
            if name not in tasks:
                tasks[name] = bar.add_task(name, total=total)
            bar.update(tasks[name], completed=done)

        printed.page(options.data / "fesl", options.out / "paper", options.runs, options.jobs, show)


if __name__ == "__main__":
    main()
