"""How many rows a second does the command line take, beside another version of this project?

usage: python tests/benchmarks/throughput.py --before DIRECTORY [--rows 500000]

DIRECTORY is a checkout of the other version, for example of `git worktree add DIRECTORY fdd4a66`, which is version 0.1.
Both versions take turns over the same csv of 20 columns and a class, in processes of their own, with the progress bar
drawn as in a terminal. A row is a run: once as it is, and once with a model that does nothing, which shows the cost of
reading, checking, judging and drawing. Times are those of the processor, without the start of Python.
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

import numpy as np

HERE = pathlib.Path(__file__).parents[2]
N_COLUMNS = 20

RUN = """
import json, sys, time
import river.metrics, rich.progress, river_pufe.cli.run
from river_pufe import PUFEClassifier
from river_pufe.cli.commands import app
if sys.argv.pop(1) == "idle":
    PUFEClassifier.predict_proba_one = lambda self, x: {False: 0.5, True: 0.5}
    PUFEClassifier.learn_one = lambda self, x, y: None
begin = time.process_time()
try:
    app(standalone_mode=False)
finally:
    print(json.dumps(time.process_time() - begin), file=sys.stderr)
"""


def write(path, n, seed=0):
    """Samples of 20 numbers with three decimals, and a class that depends on five of them."""
    rng = np.random.default_rng(seed)
    with path.open("w") as file:
        file.write(",".join([f"s{i}" for i in range(N_COLUMNS)] + ["y"]) + "\n")
        for start in range(0, n, 10_000):
            rows = rng.normal(size=(min(10_000, n - start), N_COLUMNS)).round(3)
            labels = rows[:, :5].sum(1) + rng.normal(size=len(rows)) > 0
            for row, label in zip(rows.tolist(), labels.tolist()):
                file.write(f"{','.join(map(str, row))},{str(label).lower()}\n")


def seconds(tree, kind, path):
    """Processor time of one run."""
    command = [sys.executable, "-c", RUN, kind, "run", str(path), "--target", "y"]
    there = {"PYTHONPATH": str(tree), "FORCE_COLOR": "1", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(command, env=os.environ | there, cwd=tree, capture_output=True, text=True, check=True)
    return float(json.loads(done.stderr.splitlines()[-1]))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--before", type=pathlib.Path, required=True, help="a checkout of the other version")
    parser.add_argument("--rows", type=int, default=500_000)
    parser.add_argument("--turns", type=int, default=3)
    args = parser.parse_args()

    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "rows.csv"
        write(path, args.rows)
        print("run      before µs a row  now µs a row  rows a second now  times as fast")
        for kind in ("model", "idle"):
            pairs = [[seconds(tree, kind, path) for tree in (args.before, HERE)] for _ in range(args.turns)]
            before, now = (1e6 * statistics.median(side) / args.rows for side in zip(*pairs))
            ratio = statistics.median(before / now for before, now in pairs)
            print(f"{kind:6} {before:16.1f} {now:13.1f} {1e6 / now:18,.0f} {ratio:14.2f}")


if __name__ == "__main__":
    main()
