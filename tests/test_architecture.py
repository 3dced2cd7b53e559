"""Do modules import only from their own level and those below, and never in a circle?"""

from __future__ import annotations

import ast
import graphlib
import pathlib

import river_pufe

LEVELS = (
    {
        "values",
        "spaces",
        "sketch",
        "completion",
        "linear_map",
        "scaling",
        "aggregation",
        "rules",
        "tasks",
        "frames",
        "datasets",
    },
    {"recovery"},
    {"learners", "experts", "space_experts"},
    {"base"},
    {"pufe", "baselines"},
    {"checks", "files", "record", "plot", "compare"},
    {"__init__"},
    {"cli", "__main__"},
)
PACKAGE = pathlib.Path(river_pufe.__file__).parent


def imports(path: pathlib.Path) -> set[str]:
    """The modules of the package that a file imports; a sub-package counts as one module."""
    found = set()
    package = ("river_pufe", *path.relative_to(PACKAGE).parts[:-1])
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            origin = [*package[: len(package) + 1 - node.level], node.module] if node.level else [node.module]
            parent = ".".join(part for part in origin if part)
            found.update([f"river_pufe.{a.name}" for a in node.names] if parent == "river_pufe" else [parent])
    names = {name.split(".")[1] for name in found if name.startswith("river_pufe.")}
    # What is no module is a public name, and comes from the top.
    modules = {path.stem for path in PACKAGE.iterdir()}
    return {name if name in modules else "__init__" for name in names}


def graph() -> dict[str, set[str]]:
    modules: dict[str, set[str]] = {}
    for path in PACKAGE.rglob("*.py"):
        module = path.relative_to(PACKAGE).with_suffix("").parts[0]
        modules.setdefault(module, set()).update(imports(path) - {module})
    return modules


def test_every_module_has_a_level():
    assert graph().keys() <= set().union(*LEVELS)


def test_imports_go_down_only():
    level = {module: n for n, modules in enumerate(LEVELS) for module in modules}
    upwards = [(a, b) for a, found in graph().items() for b in found if level[b] > level[a]]
    assert upwards == []


def test_imports_form_no_circle():
    graphlib.TopologicalSorter(graph()).prepare()


def test_imports_are_seen():
    assert {"spaces", "recovery"} <= imports(PACKAGE / "base.py")
    assert "datasets" in imports(PACKAGE / "__init__.py")
