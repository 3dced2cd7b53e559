"""Would the tests notice a mistake? Makes small ones, one at a time, and tells which of them no test notices.

usage: python tests/mutate.py [MODULES] [--mutants 500] [--seed 1] [--seconds 60]

The mistakes (mutants) are other operators, comparisons, constants, defaults and return values, and statements that are
left out. No file is changed: each mutant is served to a process of its own, which runs the tests that reach the mutated
line, those of its module first. What no test can notice is listed in `equivalent_mutants.toml` with the reason, and so
are numbers that were found by trial: another one of about that size is no mistake.
"""

from __future__ import annotations

import argparse
import ast
import collections
import contextlib
import copy
import dataclasses
import functools
import importlib.abc
import importlib.util
import json
import os
import pathlib
import random
import signal
import sys
import tempfile
import time
import tomllib
import typing
from collections.abc import Iterator

ROOT = pathlib.Path(__file__).parents[1]
PACKAGE = "river_pufe"
MODULES = ("recovery", "experts", "tasks", "aggregation", "learning")
EQUIVALENT = pathlib.Path(__file__).with_name("equivalent_mutants.toml")
#: Which tests reach which block of statements, from the latest run.
MAP = ROOT / ".pytest_cache" / "reached.json"
#: Files whose tests take long, or are about something else.
ELSEWHERE = {
    *("architecture", "checks", "cli", "compare", "demo", "docs", "faults", "feeds", "files", "fleet", "fuzz"),
    *("lives", "long_run", "mutate", "plot", "readings", "record", "spark", "threads"),
}
#: Seconds that a mutant may take at least, and how many times as long as the tests took without it.
PATIENCE, TIMES = 20.0, 5.0

_BINARY: dict[type, type] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult, ast.Pow: ast.Mult, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
}  # fmt: skip
_COMPARISONS: dict[type, tuple[type, ...]] = {
    ast.Lt: (ast.LtE, ast.GtE), ast.LtE: (ast.Lt, ast.Gt), ast.Gt: (ast.GtE, ast.LtE), ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,), ast.NotEq: (ast.Eq,), ast.Is: (ast.IsNot,), ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,), ast.NotIn: (ast.In,),
}  # fmt: skip
#: Fields with blocks of statements.
BODIES = ("body", "orelse", "finalbody")
_CALLS = {"min": "max", "max": "min", "any": "all", "all": "any", "minimum": "maximum", "maximum": "minimum"}


@dataclasses.dataclass(frozen=True)
class Mutant:
    """A module with one mistake."""

    path: str
    line: int
    function: str
    before: str
    after: str
    write: typing.Callable[[], str] = dataclasses.field(repr=False, compare=False)
    #: Where the block of statements begins that is mutated; 0: what is run when the module is imported.
    block: int = dataclasses.field(repr=False, compare=False)
    #: What the number is called that is another one, a constant or a parameter; empty if it has no name.
    number: str = dataclasses.field(default="", repr=False, compare=False)

    def __str__(self) -> str:
        return f"{self.path}:{self.line} {self.function}\n    - {self.before}\n    + {self.after}"


def mutants(path: pathlib.Path) -> list[Mutant]:
    """All mutants of a module, in the order of its lines."""
    tree = ast.parse(path.read_text())
    found = []
    for site in _sites(tree):
        line = site.node.lineno
        for replace, undo in _mistakes(site.node):
            before = ast.unparse(site.statement)
            replace()
            after = ast.unparse(site.statement)
            if after != before:
                was, is_ = _differing(before, after)
                name = path.relative_to(ROOT).as_posix()
                write = functools.partial(_written, tree, replace, undo)
                found.append(Mutant(name, line, site.function, was, is_, write, site.block, _number(site)))
            undo()
    return found


def _written(tree: ast.Module, replace: typing.Callable[[], None], undo: typing.Callable[[], None]) -> str:
    replace()
    source = ast.unparse(tree)
    undo()
    return source


def _differing(before: str, after: str) -> tuple[str, str]:
    """The first lines in which two statements differ."""
    pairs = zip(before.splitlines(), after.splitlines())
    return next(((was.strip(), is_.strip()) for was, is_ in pairs if was != is_), (before.splitlines()[-1].strip(), ""))


@dataclasses.dataclass
class _Site:
    node: typing.Any
    statement: ast.stmt
    function: str
    block: int
    parameter: str = ""


def _number(site: _Site) -> str:
    """What a number is called that has a name."""
    if not isinstance(site.node, ast.Constant) or isinstance(site.node.value, bool | str):
        return ""
    name = site.parameter
    if not name and not site.block and isinstance(site.statement, ast.Assign | ast.AnnAssign):
        targets = site.statement.targets if isinstance(site.statement, ast.Assign) else [site.statement.target]
        name = ast.unparse(targets[0])
    return name and f"{site.function.removesuffix('.__init__')}.{name.strip('()')}".lstrip(".")


def _sites(tree: ast.Module) -> Iterator[_Site]:
    """Where a mistake can be made: everywhere but in annotations, docstrings, decorators and messages of errors."""

    def visit(node: ast.AST, statement: ast.stmt | None, function: str, block: int) -> Iterator[_Site]:
        if isinstance(node, ast.stmt):
            statement = node
        if isinstance(node, ast.Raise | ast.JoinedStr | ast.Import | ast.ImportFrom):
            return
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            return
        if statement is not None and hasattr(node, "lineno"):
            yield _Site(node, statement, function, block)
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            name = f"{function}.{node.name}".lstrip(".")
            abstract = any("abstract" in ast.unparse(decorator) for decorator in node.decorator_list)
            if abstract or node.name == "_unit_test_params":
                return
            if isinstance(node, ast.FunctionDef):
                block = node.body[0].lineno
                positional = [*node.args.posonlyargs, *node.args.args][-len(node.args.defaults) or None :]
                pairs = [*zip(positional, node.args.defaults), *zip(node.args.kwonlyargs, node.args.kw_defaults)]
                for argument, default in pairs:
                    if default is not None:
                        for site in visit(default, node, name, block):
                            yield dataclasses.replace(site, parameter=argument.arg)
            for child in node.body:
                yield from visit(child, None, name, block)
            return
        for field, value in ast.iter_fields(node):
            if field in ("annotation", "returns", "decorator_list", "type_params"):
                continue
            inner = block
            if field in BODIES and isinstance(value, list) and value and block:
                inner = value[0].lineno
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST) and not (_is_type(node) and child is node.args[0]):
                    yield from visit(child, statement, function, inner)

    for child in tree.body:
        if isinstance(child, ast.Assign) and ast.unparse(child.targets[0]) == "__all__":
            continue
        yield from visit(child, None, "", 0)


def marked(tree: ast.Module, path: str) -> ast.Module:
    """A module that notes which of its blocks of statements are reached."""
    for function in [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]:
        for node in ast.walk(function):
            for field in BODIES:
                body = getattr(node, field, None)
                if not isinstance(body, list) or not body or getattr(body[0], "is_mark", False):
                    continue
                if isinstance(node, ast.ClassDef) or isinstance(body[0], ast.ExceptHandler):
                    continue
                mark = ast.parse(f"__reached__.add({f'{path}:{body[0].lineno}'!r})").body[0]
                first, mark.is_mark = body[0], True
                is_docstring = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
                if is_docstring and len(body) > 1 and getattr(body[1], "is_mark", False):
                    continue
                body.insert(1 if is_docstring else 0, mark)
    return ast.fix_missing_locations(tree)


def _is_type(node: ast.AST) -> bool:
    """Whether it is an annotation that is written as an expression, as in a cast."""
    return isinstance(node, ast.Call) and ast.unparse(node.func) == "typing.cast"


Change = tuple[typing.Callable[[], None], typing.Callable[[], None]]


def _mistakes(node: typing.Any) -> Iterator[Change]:
    def change(field: str, value: typing.Any) -> Change:
        before = getattr(node, field)
        return lambda: setattr(node, field, value), lambda: setattr(node, field, before)

    def become(other: ast.AST) -> Change:
        kind, content = node.__class__, dict(vars(node))

        def replace() -> None:
            node.__class__ = other.__class__
            vars(node).update(vars(other))

        def undo() -> None:
            node.__class__ = kind
            vars(node).clear()
            vars(node).update(content)

        return replace, undo

    if isinstance(node, ast.BinOp | ast.AugAssign) and type(node.op) in _BINARY:
        if not (isinstance(node.op, ast.BitOr) and _looks_like_types(node)):
            yield change("op", _BINARY[type(node.op)]())
    elif isinstance(node, ast.Compare):
        for other in _COMPARISONS[type(node.ops[0])]:
            yield change("ops", [other(), *node.ops[1:]])
    elif isinstance(node, ast.BoolOp):
        yield change("op", ast.And() if isinstance(node.op, ast.Or) else ast.Or())
        for i in range(len(node.values)):
            yield change("values", node.values[:i] + node.values[i + 1 :])
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not | ast.Invert | ast.USub):
        yield become(copy.copy(node.operand))
    elif isinstance(node, ast.Constant):
        if isinstance(node.value, bool):
            yield change("value", not node.value)
        elif isinstance(node.value, int):
            yield change("value", node.value + 1)
        elif isinstance(node.value, float):
            yield change("value", 2.0 * node.value if node.value else 1.0)
        elif isinstance(node.value, str) and node.value:
            yield change("value", node.value + "_")
    elif isinstance(node, ast.Call):
        name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
        if name in _CALLS:
            other = copy.copy(node.func)
            setattr(other, "id" if isinstance(other, ast.Name) else "attr", _CALLS[name])
            yield change("func", other)
        if node.keywords:
            for i, keyword in enumerate(node.keywords):
                if keyword.arg is not None:
                    yield change("keywords", node.keywords[:i] + node.keywords[i + 1 :])
    elif isinstance(node, ast.IfExp):
        yield change("test", ast.Constant(True))
        yield change("test", ast.Constant(False))
    elif isinstance(node, ast.If | ast.While):
        if isinstance(node, ast.If):
            yield change("test", ast.Constant(True))
        yield change("test", ast.Constant(False))
    elif isinstance(node, ast.Return) and node.value is not None and ast.unparse(node.value) != "None":
        yield change("value", ast.Constant(None))
    elif isinstance(node, ast.Expr | ast.AugAssign) or (
        isinstance(node, ast.Assign) and not isinstance(node.targets[0], ast.Name | ast.Tuple)
    ):
        yield become(ast.Pass())
    elif isinstance(node, ast.Break):
        yield become(ast.Continue())
    elif isinstance(node, ast.Continue):
        yield become(ast.Break())


def _looks_like_types(node: ast.BinOp | ast.AugAssign) -> bool:
    """Whether A | B is a union of types, whose names are in upper case."""
    right = node.right if isinstance(node, ast.BinOp) else node.value
    return ast.unparse(right).rpartition(".")[2][:1].isupper() or ast.unparse(right) in ("None", "int", "float", "str")


# Which tests?


class Watcher:
    """Notes which blocks each test reaches, and how long it takes."""

    def __init__(self) -> None:
        self.reached: set[str] = set()
        self.seconds: dict[str, float] = {}
        self.tests: dict[str, list[str]] = collections.defaultdict(list)

    def pytest_runtest_logstart(self) -> None:
        self.reached.clear()

    def pytest_runtest_logreport(self, report: typing.Any) -> None:
        if report.when == "call" and report.passed:
            self.seconds[report.nodeid] = report.duration
            for block in self.reached:
                self.tests[block].append(report.nodeid)


class Chosen:
    """Runs some tests, in a given order."""

    def __init__(self, names: list[str]) -> None:
        self.order = {name: i for i, name in enumerate(names)}
        self.failed = ""

    def pytest_collection_modifyitems(self, items: list[typing.Any]) -> None:
        items[:] = sorted((each for each in items if each.nodeid in self.order), key=lambda e: self.order[e.nodeid])

    def pytest_runtest_logreport(self, report: typing.Any) -> None:
        if report.failed:
            self.failed = report.nodeid


def suite() -> list[str]:
    """The files whose tests are about the modules."""
    files = [each for each in sorted(ROOT.glob("tests/test_*.py")) if each.stem.removeprefix("test_") not in ELSEWHERE]
    return [*map(str, files), str(ROOT / "tests/baselines"), *(str(path) for path in sources(MODULES))]


def sources(names: typing.Iterable[str]) -> list[pathlib.Path]:
    """Files of modules: ``recovery``, ``recovery.scatter`` or a path."""
    found = []
    for name in names:
        path = ROOT / name if name.endswith(".py") else ROOT / PACKAGE / name.replace(".", "/")
        files = sorted(path.glob("*.py")) if path.is_dir() else [path.with_suffix(".py")]
        found += [file for file in files if file.exists()]
    return found


class OursFirst:
    """pytest imports modules of which it runs the doctests by itself, unless somebody else comes first."""

    def pytest_sessionstart(self) -> None:
        sys.meta_path.sort(key=lambda finder: not isinstance(finder, Served))


def run(arguments: list[str], plugin: typing.Any) -> int:
    import pytest

    options = ["-q", "--no-header", "-p", "no:cacheprovider", "-p", "no:cov"]
    return int(pytest.main([*arguments, *options], [plugin, OursFirst()]))


def reach() -> dict[str, typing.Any]:
    """Which tests reach each block, and how long they take."""
    watcher = Watcher()
    for path in sources(MODULES):
        name = path.relative_to(ROOT).as_posix()
        tree = marked(ast.parse(path.read_text()), name)
        sys.meta_path.insert(0, Served(name, ast.unparse(tree), {"__reached__": watcher.reached}))
    run(suite(), watcher)
    return {"seconds": watcher.seconds, "tests": watcher.tests}


def apart(task: typing.Callable[[], typing.Any], seconds: float) -> typing.Any:
    """What a task answers in a process of its own; None if it takes longer, or dies."""
    with tempfile.TemporaryFile() as answer, tempfile.TemporaryFile() as noise:
        child = os.fork()
        if not child:
            os.setpgid(0, 0)
            os.dup2(noise.fileno(), 1)
            os.dup2(noise.fileno(), 2)
            try:
                answer.write(json.dumps(task()).encode())
                answer.flush()
            finally:
                os._exit(0)
        end = time.monotonic() + seconds
        while os.waitpid(child, os.WNOHANG) == (0, 0):
            if time.monotonic() > end:
                os.killpg(child, signal.SIGKILL)
                os.waitpid(child, 0)
                return None
            time.sleep(0.02)
        answer.seek(0)
        content = answer.read()
        return json.loads(content) if content else None


class Served(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Imports another source in place of that of a module, with some names in it."""

    def __init__(self, path: str, source: str, names: dict[str, typing.Any] | None = None) -> None:
        self.path, self.source, self.names = ROOT / path, source, names or {}
        self.module = path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")

    def find_spec(self, name: str, path: typing.Any, target: typing.Any = None) -> typing.Any:
        if name != self.module:
            return None
        folders = [str(self.path.parent)] if self.path.stem == "__init__" else None
        return importlib.util.spec_from_file_location(name, self.path, loader=self, submodule_search_locations=folders)

    def get_source(self, name: str) -> str:
        return self.source

    def exec_module(self, module: typing.Any) -> None:
        vars(module).update(self.names)
        exec(compile(self.source, str(self.path), "exec"), vars(module))


def stages(mutant: Mutant, known: dict[str, typing.Any], most: float) -> list[list[str]]:
    """The tests that reach a mutant, quickest first: those of its module, and after them all others."""
    blocks = [f"{mutant.path}:{mutant.block}"]
    if not mutant.block:
        blocks = [block for block in known["tests"] if block.startswith(f"{mutant.path}:")]
    names = {name for block in blocks for name in known["tests"].get(block, ())}
    stem = pathlib.Path(mutant.path).stem
    own, others, spent = [], [], 0.0
    for name in sorted(names, key=lambda name: (known["seconds"][name], name)):
        if f"tests/test_{stem}.py" in name or mutant.path in name:
            own.append(name)
        else:
            spent += known["seconds"][name]
            if spent <= most:
                others.append(name)
    return [stage for stage in (own, others) if stage]


def fate(mutant: Mutant, known: dict[str, typing.Any], most: float) -> str:
    """The test that notices a mutant; empty if there is none."""
    for names in stages(mutant, known, most):

        def attempt(names: list[str] = names) -> str:
            sys.meta_path.insert(0, Served(mutant.path, mutant.write()))
            chosen = Chosen(names)
            code = run([*dict.fromkeys(name.partition("::")[0] for name in names), "-x"], chosen)
            return chosen.failed or ("" if code in (0, 5) else "imports")

        limit = PATIENCE + TIMES * sum(known["seconds"][name] for name in names)
        killer = apart(attempt, limit)
        if killer != "":
            return killer or "it hangs or dies"
    return ""


def equivalent() -> set[tuple[str, str, str, str]]:
    """What no test can notice."""
    listed = tomllib.loads(EQUIVALENT.read_text())["mutant"]
    return {(each["path"], each["function"], each["before"], each["after"]) for each in listed}


def by_trial() -> set[tuple[str, str]]:
    """Modules and names of numbers that were found by trial."""
    listed = tomllib.loads(EQUIVALENT.read_text())["number"]
    return {(each["path"], name) for each in listed for name in each["names"]}


def prepare() -> None:
    """Import what the tests need but the package itself, so that it need not be imported for each mutant."""
    import hypothesis

    for name in ("pandas", "river.checks", "scipy.optimize", "scipy.stats", "sklearn.linear_model"):
        importlib.import_module(name)
    phases = (hypothesis.Phase.explicit, hypothesis.Phase.generate)
    hypothesis.settings.register_profile("mutants", database=None, derandomize=True, phases=phases, deadline=None)
    hypothesis.settings.load_profile("mutants")
    assert PACKAGE not in sys.modules


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("modules", nargs="*", default=MODULES, help="such as recovery, or experts.rules")
    parser.add_argument("--mutants", type=int, help="how many to draw at random; all by default")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=60.0, help="of tests that a mutant has to survive")
    parser.add_argument("--renew", action="store_true", help="find out anew which tests reach what")
    options = parser.parse_args()
    os.chdir(ROOT)
    sys.path.insert(0, str(ROOT))
    prepare()
    if options.renew or not MAP.exists():
        print("Which tests reach what? (some minutes)", flush=True)
        known = apart(reach, 3600.0)
        MAP.parent.mkdir(exist_ok=True)
        MAP.write_text(json.dumps(known))
    known = json.loads(MAP.read_text())

    everything = [mutant for path in sources(options.modules) for mutant in mutants(path)]
    known_equivalent, numbers = equivalent(), by_trial()
    real = [
        m
        for m in everything
        if (m.path, m.function, m.before, m.after) not in known_equivalent and (m.path, m.number) not in numbers
    ]
    # In a random order, so that what was tried by then is a fair sample where the command is interrupted.
    n_drawn = len(real) if options.mutants is None else min(options.mutants, len(real))
    drawn = random.Random(options.seed).sample(real, n_drawn)
    print(f"{len(everything):,} mutants, {len(everything) - len(real)} of them equivalent; {len(drawn):,} are tried")
    killed: collections.Counter[str] = collections.Counter()
    tried: collections.Counter[str] = collections.Counter()
    with contextlib.suppress(KeyboardInterrupt):
        for mutant in drawn:
            killer = fate(mutant, known, options.seconds)
            tried[mutant.path] += 1
            killed[mutant.path] += bool(killer)
            if not killer:
                print(f"\n{mutant}", flush=True)
    print()
    for path, n in sorted(tried.items()):
        print(f"{path:45} {killed[path]:5,} of {n:5,} were noticed")
    print(f"{killed.total():,} of {tried.total():,} were noticed: {killed.total() / max(tried.total(), 1):.1%}")


if __name__ == "__main__":
    main()
