"""Does the documentation say what is true?

    python tests/test_docs.py README.md docs/recipes/*.md

writes what the code on these pages answers today into the pages. Answers that are right to the digits that are shown
stay as they are.
"""

from __future__ import annotations

import contextlib
import doctest
import importlib.util
import inspect
import os
import pathlib
import pkgutil
import re
import subprocess
import sys
import tempfile
import typing

import matplotlib
import pytest
from _pytest.doctest import _get_checker
from markdown.extensions.toc import slugify

import river_pufe

ROOT = pathlib.Path(__file__).parents[1]
DOCS = ROOT / "docs"
README = ROOT / "README.md"
PAGES = sorted(path for path in DOCS.rglob("*.md") if "site" not in path.parts)

# Floats are right if they are to the digits that are shown, as in all doctests of this package.
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS | doctest.register_optionflag("NUMBER")
FENCE = re.compile(r"^```(\w*)\s*$")
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")


def blocks(text: str, *languages: str) -> typing.Iterator[tuple[int, list[str]]]:
    """Fenced blocks of some languages: line number of the first line, counted from 0, and lines."""
    lines, start, language = text.splitlines(), None, ""
    for number, line in enumerate(lines):
        if found := FENCE.match(line):
            if start is not None and language in languages:
                yield start, lines[start:number]
            start, language = (number + 1, found[1]) if start is None else (None, "")


def code(path: pathlib.Path) -> str:
    """All Python code of a page, each line where it stands on the page, and nothing else."""
    lines = [""] * len(path.read_text().splitlines())
    for start, block in blocks(path.read_text(), "python", "pycon"):
        lines[start : start + len(block)] = block
    return "\n".join(lines) + "\n"


class Runner(doctest.DocTestRunner):
    """Runs code, and keeps what it answered where that is not what the page says."""

    def __init__(self) -> None:
        super().__init__(checker=_get_checker(), optionflags=FLAGS)
        self.wrong: list[tuple[doctest.Example, str]] = []
        self.raised = False

    def report_failure(self, out: typing.Any, test: doctest.DocTest, example: doctest.Example, got: str) -> None:
        super().report_failure(out, test, example, got)
        self.wrong.append((example, got))

    def report_unexpected_exception(
        self, out: typing.Any, test: doctest.DocTest, example: doctest.Example, exc_info: typing.Any
    ) -> None:
        super().report_unexpected_exception(out, test, example, exc_info)
        self.raised = True


@contextlib.contextmanager
def elsewhere(directory: str | os.PathLike[str]) -> typing.Iterator[None]:
    """Pages may write files, and draw, but not here and not on a screen."""
    from matplotlib import pyplot

    matplotlib.use("Agg")
    with contextlib.chdir(directory):
        yield
    pyplot.close("all")


def run(path: pathlib.Path, directory: str | os.PathLike[str], out: typing.Callable[[str], typing.Any]) -> Runner:
    runner = Runner()
    test = doctest.DocTestParser().get_doctest(code(path), {"__name__": "__main__"}, path.name, str(path), 0)
    with elsewhere(directory):
        runner.run(test, out=out)
    return runner


def with_code(*languages: str) -> list[pathlib.Path]:
    return [path for path in PAGES if any(blocks(path.read_text(), *languages))]


def name(path: pathlib.Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("path", with_code("python", "pycon"), ids=name)
def test_code_answers_what_the_page_says(path, tmp_path):
    report: list[str] = []
    run(path, tmp_path, report.append)
    assert not report, "".join(report)


@pytest.mark.parametrize("path", [README, *PAGES], ids=name)
def test_no_code_escapes(path):
    """Code that is not written as a session would not be run."""
    escaped = [block for _, block in blocks(path.read_text(), "python", "pycon") if not block[0].startswith(">>> ")]
    assert not escaped


@pytest.mark.parametrize("path", with_code("console"), ids=name)
def test_commands_answer_what_the_page_says(path, tmp_path):
    """Commands run one after another, after the Python code of the page."""
    run(path, tmp_path, print)
    checker, environment = _get_checker(), os.environ | {"COLUMNS": "80", "NO_COLOR": "1"}
    for _, block in blocks(path.read_text(), "console"):
        commands = [number for number, line in enumerate(block) if line.startswith("$ ")]
        for number, end in zip(commands, [*commands[1:], len(block)]):
            command = block[number][2:].replace("river-pufe", f"{sys.executable} -m river_pufe")
            shell = ["bash", "-c", f"exec 2>&1; {command}"]
            done = subprocess.run(shell, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120)
            said = "\n".join(block[number + 1 : end]) + "\n"
            assert said == "\n" or checker.check_output(said, done.stdout, FLAGS), f"{block[number]}\n{done.stdout}"
            assert done.returncode == 0, f"{block[number]}\n{done.stdout}"


def defined(module: typing.Any, names: typing.Iterable[str]) -> set[str]:
    """Those names of a module that stand for documented classes and functions, by where they are defined."""
    values = [vars(module)[key] for key in names]
    values = [v for v in values if (inspect.isclass(v) or inspect.isfunction(v)) and v.__doc__]
    return {f"{v.__module__}.{v.__qualname__}" for v in values if v.__module__.startswith("river_pufe")}


def test_every_public_name_is_in_the_api():
    modules = [f"river_pufe.{module.name}" for module in pkgutil.iter_modules(river_pufe.__path__)]
    names = set().union(*(offered(name) for name in modules if not re.search(r"\.(cli|_\w+)$", name)))
    shown = set()
    for path in (DOCS / "api").glob("*.md"):
        for directive in re.findall(r"^::: (\S+)", path.read_text(), re.MULTILINE):
            try:
                shown |= offered(directive)
            except ModuleNotFoundError:
                parent, _, name = directive.rpartition(".")
                shown |= defined(importlib.import_module(parent), [name])
    assert names - shown == set()


def offered(name: str) -> set[str]:
    """What a module defines for others to use, or a package lists."""
    module = importlib.import_module(name)
    found = defined(module, getattr(module, "__all__", [key for key in vars(module) if not key.startswith("_")]))
    return found if hasattr(module, "__path__") else {own for own in found if own.rpartition(".")[0] == name}


def anchors(path: pathlib.Path) -> set[str]:
    headings = re.findall(r"^#+ (.+)$", path.read_text(), re.MULTILINE)
    return {slugify(re.sub(r"[`*]", "", heading), "-") for heading in headings}


@pytest.mark.parametrize("path", [README, *PAGES], ids=name)
def test_links_lead_somewhere(path):
    text = re.sub(r"```.*?```", "", path.read_text(), flags=re.DOTALL)
    for link in LINK.findall(text):
        target, _, anchor = link.partition("#")
        if re.match(r"\w+:", link):
            continue
        found = (path.parent / target).resolve() if target else path
        assert found.is_file(), f"{link} leads nowhere"
        assert not anchor or anchor in anchors(found), f"{link}: there is no such heading"


def test_readme_says_how_to_set_up():
    text = README.read_text()
    assert 'python -m pip install -e ".[demo]" && python -m river_pufe demo' in text
    assert 'python -m pip install -e ".[dev]" && python -m pytest' in text


def test_pictures_can_be_drawn_anew(tmp_path):
    spec = importlib.util.spec_from_file_location("draw", DOCS / "figures" / "draw.py")
    draw = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(draw)
    draw.replaced(tmp_path, n_streams=1)
    draw.cycle(tmp_path)
    draw.completion(tmp_path, n_runs=1)
    draw.recovery(tmp_path, n_runs=1)
    draw.flow(tmp_path)
    drawn = {path.name for path in tmp_path.iterdir()}
    assert drawn == {"replaced.png", "cycle.svg", "completion.png", "recovery.png", "flow.svg"}
    assert drawn <= {path.name for path in (DOCS / "figures").iterdir()}


def test_benchmarks_can_still_be_started():
    folder = ROOT / "tests" / "benchmarks"
    names = [path.stem for path in folder.glob("*.py")]
    done = subprocess.run(
        [sys.executable, "-c", f"import {', '.join(names)}"],
        cwd=folder,
        capture_output=True,
        text=True,
        env={**os.environ, "MPLBACKEND": "Agg", "PYTHONPATH": str(ROOT)},
    )
    assert done.returncode == 0, done.stderr


def short(answer: str) -> str:
    """No more digits than a reader needs, and than are the same on all machines."""
    answer = re.sub(r"(\d+\.\d+)%", lambda found: f"{float(found[1]):.1f}%", answer)
    return re.sub(r"\d+\.\d{4,}", lambda found: f"{float(found[0]):.3f}", answer)


def accept(path: pathlib.Path) -> str:
    """Write what the code of a page answers today into the page, unless it raises; what was done."""
    report: list[str] = []
    with tempfile.TemporaryDirectory() as directory:
        runner = run(path, directory, report.append)
    if runner.raised:
        return "".join(report)
    lines = path.read_text().splitlines()
    for example, got in reversed(runner.wrong):
        start = example.lineno + example.source.count("\n")
        lines[start : start + example.want.count("\n")] = short(got).splitlines()
    path.write_text("\n".join(lines) + "\n")
    return f"{len(runner.wrong)} answers changed"


if __name__ == "__main__":
    for page in map(pathlib.Path, sys.argv[1:]):
        print(f"{page}: {accept(page.resolve())}")
