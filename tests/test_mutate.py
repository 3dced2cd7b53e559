"""Are mistakes made where they can be noticed, and are those that are taken for unnoticeable still in the code?"""

from __future__ import annotations

import ast

import mutate

EVERYTHING = [mutant for path in mutate.sources(mutate.MODULES) for mutant in mutate.mutants(path)]


def test_every_mutant_is_one_mistake_in_a_module_that_compiles():
    for mutant in EVERYTHING[::50]:
        source = mutant.write()
        assert ast.dump(ast.parse(source)) != ast.dump(ast.parse((mutate.ROOT / mutant.path).read_text()))
        compile(source, mutant.path, "exec")


def test_equivalent_mutants_are_mutants():
    known = {(mutant.path, mutant.function, mutant.before, mutant.after) for mutant in EVERYTHING}
    assert mutate.equivalent() <= known


def test_numbers_that_were_found_by_trial_are_numbers_of_the_modules():
    assert mutate.by_trial() <= {(mutant.path, mutant.number) for mutant in EVERYTHING if mutant.number}


def test_blocks_that_are_noted_are_those_of_the_mutants():
    for path in mutate.sources(mutate.MODULES):
        module = path.relative_to(mutate.ROOT).as_posix()
        noted = ast.unparse(mutate.marked(ast.parse(path.read_text()), module))
        for mutant in EVERYTHING:
            if mutant.path == module and mutant.block:
                assert f"__reached__.add('{module}:{mutant.block}')" in noted, mutant
