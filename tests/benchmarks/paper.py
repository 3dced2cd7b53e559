"""The paper's experiment on the data sets of FESL and on those that River bundles, and the page about it.

usage: python tests/benchmarks/paper.py --fesl FOLDER [--out docs/paper] [--runs 10] [--jobs 2]

The folder has the csv files of FESL. Writes the figures and csv files into `docs/paper`, and the tables into the page
beside it, whose text is kept. Takes about an hour.
"""

from __future__ import annotations

import argparse
import pathlib

from rich.progress import MofNCompleteColumn, Progress

from river_pufe import compare


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--fesl", type=pathlib.Path, required=True)
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("docs/paper"))
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    with Progress(*Progress.get_default_columns(), MofNCompleteColumn()) as bar:
        tasks = {}

        def show(name, done, total):
            if name not in tasks:
                tasks[name] = bar.add_task(name, total=total)
            bar.update(tasks[name], completed=done)

        compare.page(options.fesl, options.out, options.runs, options.jobs, show)


if __name__ == "__main__":
    main()
