"""Do files import only downwards, never in a circle, and does no object use a private member of another?"""

from __future__ import annotations

import ast
import graphlib
import pathlib
import subprocess
import sys

import pytest

import river_pufe

PACKAGE = pathlib.Path(river_pufe.__file__).parent
FILES = {path.relative_to(PACKAGE).with_suffix("").as_posix(): path for path in PACKAGE.rglob("*.py")}

#: From the ground up: a file may import from its own level, where that makes no circle, and from those below.
LEVELS = (
    ("values", "saving", "part", "state", "guard"),
    ("kernels",),
    ("sketch", "aggregation", "frames"),
    ("recovery",),
    ("tasks",),
    ("experts",),
    ("rounds", "undo"),
    ("learning", "paper"),
    ("answers",),
    ("pufe", "baselines"),
    ("datasets", "files", "fleet"),
    ("checks", "plot", "compare"),
    ("__init__",),
    ("cli", "__main__"),
)
LEVEL = {name: level for level, names in enumerate(LEVELS) for name in names}
#: Inside of a wing as well: what decides about keys is below what computes with rows.
WITHIN = {
    "recovery": (
        ("presence", "rows", "scaling", "completion", "linear_map", "conversion", "fit"),
        ("gaussian", "low_rank", "monotone"),
        ("evolution", "reading", "row_law"),
        ("row_model", "scatter"),
        ("overlap", "spaces", "doubts"),
        ("wide", "least_squares_rows"),
        ("gaussian_rows",),
        ("feature_recovery",),
        ("__init__",),
    ),
    "tasks": (("task", "target_scaling"), ("classification", "regression"), ("__init__",)),
    "baselines": (
        ("zeros", "sparsity"),
        ("of_parts", "keyed"),
        ("nogd", "rogd", "fesl", "sf2el", "olsf", "olvf", "ocds", "opid", "reform"),
        ("__init__",),
    ),
    "experts": (
        ("experts", "rules", "feature_maps", "learners"),
        ("linear", "per_space"),
        ("pool",),
        ("__init__",),
    ),
}


def imports(name: str) -> set[str]:
    """The files that a file imports, imports inside of functions included."""
    found = set()
    package = ("river_pufe", *pathlib.PurePath(name).parts[:-1])
    for node in ast.walk(ast.parse(FILES[name].read_text())):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            origin = [*package[: len(package) + 1 - node.level], node.module] if node.level else [node.module]
            parent = ".".join(part for part in origin if part)
            found.update(f"{parent}.{alias.name}" for alias in node.names)
    return {file for file in map(as_file, found) if file is not None} - {name}


def as_file(dotted: str) -> str | None:
    """The file in which a dotted name is defined; None if it is not of this package."""
    parts = dotted.split(".")
    if parts[0] != "river_pufe":
        return None
    for n in range(len(parts), 0, -1):
        for file in ("/".join(parts[1:n]), "/".join([*parts[1:n], "__init__"])):
            if file in FILES:
                return file
    raise AssertionError(dotted)


def level_of(name: str) -> tuple[int, int]:
    top, *rest = pathlib.PurePath(name).parts
    within = WITHIN.get(top, ())
    return LEVEL[top], next((i for i, names in enumerate(within) if rest and rest[0] in names), 0)


def test_every_file_has_a_level():
    assert {pathlib.PurePath(name).parts[0] for name in FILES} == set(LEVEL)
    for wing, levels in WITHIN.items():
        files = {pathlib.PurePath(name).parts[1] for name in FILES if name.startswith(f"{wing}/")}
        assert files == {name for names in levels for name in names}


def test_imports_go_down_only():
    assert [(a, b) for a in FILES for b in imports(a) if level_of(b) > level_of(a)] == []


def test_files_import_in_no_circle():
    graphlib.TopologicalSorter({name: imports(name) for name in FILES}).prepare()


def test_imports_are_seen():
    assert {"recovery/evolution", "experts/pool", "values"} <= imports("learning")
    assert "recovery/feature_recovery" in imports("recovery/__init__")


def private_uses(tree: ast.AST) -> list[str]:
    """Private members that are used of something else than the object, or the class, in whose methods they stand."""
    own = {node.name for node in ast.walk(tree) if isinstance(node, ast.ClassDef)}
    uses = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr.startswith("_") and not node.attr.startswith("__"):
            owner = node.value
            is_own = isinstance(owner, ast.Name) and owner.id in {"self", "cls", *own}
            is_super = isinstance(owner, ast.Call) and isinstance(owner.func, ast.Name) and owner.func.id == "super"
            if not (is_own or is_super):
                uses.append(f"{ast.unparse(node)} in line {node.lineno}")
    return uses


#: What River itself asks of an estimator has names with an underscore.
RIVERS = ("._supervised", "._multiclass", "._tags", "._unit_test_skips", "._raw_memory_usage", "._get_params")


@pytest.mark.parametrize("name", FILES)
def test_private_members_are_private(name):
    uses = private_uses(ast.parse(FILES[name].read_text()))
    assert [use for use in uses if use.split(" ")[0].endswith(RIVERS) is False] == []


def test_private_uses_are_seen():
    assert private_uses(ast.parse("self.recovery._spaces")) == ["self.recovery._spaces in line 1"]
    assert private_uses(ast.parse("self._spaces")) == []


def test_the_import_is_light():
    heavy = {"sklearn", "pandas", "matplotlib", "polars", "pyarrow", "typer", "rich"}
    code = f"import sys, river_pufe; print(sorted(set(sys.modules) & {heavy}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
