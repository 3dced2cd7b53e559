"""Does the demo show what it promises?"""

from __future__ import annotations

import subprocess
import sys

import pytest
from river import datasets as river_datasets
from river import evaluate, metrics
from typer.testing import CliRunner

from river_pufe import PUFEClassifier, datasets
from river_pufe.cli.commands import app


def run(*arguments):
    result = CliRunner().invoke(app, ["demo", *map(str, arguments)])
    assert result.exit_code == 0, result.output
    return result.output


def numbers(output, name):
    (row,) = [line for line in output.splitlines() if line.strip().startswith(name) and "%" in line]
    return [float(cell.rstrip("%")) for cell in row.replace(name, "").split()[:2]]


def test_demo_as_the_readme_calls_it(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "river_pufe", "demo"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert [path.name for path in tmp_path.iterdir()] == ["pufe-demo.png"]
    assert (tmp_path / "pufe-demo.png").read_bytes().startswith(b"\x89PNG")
    assert done.stdout.count("retired") == 3
    assert done.stdout.count("current") == 1


def test_figures_of_the_demo_are_those_of_river(tmp_path):
    stream = datasets.MappedSpaces(river_datasets.Phishing(), datasets.Cycle(n_spaces=3), seed=7)
    accuracy = evaluate.progressive_val_score(stream, PUFEClassifier(), metrics.Accuracy())
    output = run("--spaces", 3, "--seed", 7, "--figure", tmp_path / "a.svg")
    assert numbers(output, "PUFE")[0] == pytest.approx(100 * accuracy.get(), abs=0.051)
    assert "<svg" in (tmp_path / "a.svg").read_text()


@pytest.mark.parametrize("data", ["phishing", "segments"])
def test_the_demo_shows_a_gain(tmp_path, data):
    output = run("--data", data, "--figure", tmp_path / "a.png")
    ours, theirs = numbers(output, "PUFE"), numbers(output, "River's linear model")
    assert ours[0] > theirs[0]
    assert ours[1] > theirs[1]
