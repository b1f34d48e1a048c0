"""Random programs that pass one field under several names compute the same under random recipes.

Each is compared by value, on 1, 2 and 4 ranks, with the program without a recipe on one rank. Any
run tries a small number; `--alias-programs 500 --alias-seed 0` tries so many of each API. Each form
of alias meets every fourth recipe, in LFRic with one of the settings of annexed dofs, and with
`--matrix` all recipes with both.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import product
from operator import ne
from pathlib import Path

import pytest

from fortran import join
from libraries import archive_in
from pairwise import selected
from psyclone_storage.cli.main import main
from runtime import answers, gocean_suite, programs
from runtime.alias_programs import (
    FORMS,
    NEVER_ALIASED,
    RECIPES,
    RECIPES_SCRIPT,
    AliasProgram,
    suite_text,
)
from runtime.programs import FLAGS, Mode, command, compile_sources, run_program

RANKS = (1, 2, 4)
LEAST = 12
BATCH = 50
OPTIMISED = "-O2"
ATTEMPTS = 20
ACCEPTED = {"lfric": 36, "gocean": 20}
"""The number of recipes that change an invoke, of all forms of aliases together, at least."""
INVOKE = re.compile(
    r"^ *subroutine invoke_(repeat_\d+)\(.*?^ *end subroutine invoke_\1$", re.M | re.S
)
LEAST_CHANGED = 0.8
"""The part of the programs whose layers a recipe changes, at least."""
OWNED, ANNEXED = Mode("owned", (), threads=2), Mode("annexed", (), threads=2)
KERNELS = {
    "lfric": ("-d", str(programs.SOURCES / "kernels")),
    "gocean": ("-api", "gocean", "-d", str(gocean_suite.CORPUS / "kernels")),
}

pytestmark = [pytest.mark.fortran, pytest.mark.mpi]


@pytest.fixture(scope="module")
def batches(request: pytest.FixtureRequest) -> Callable[[str], list[list[AliasProgram]]]:
    """Return what gives the programs of an API, as many together as make one executable."""
    count = max(LEAST, request.config.getoption("--alias-programs"))
    start = request.config.getoption("--alias-seed")

    def made(api: str) -> list[list[AliasProgram]]:
        every = [AliasProgram(api, seed) for seed in range(start, start + count)]
        kinds = [[one for one in every if one.annexed is annexed] for annexed in (False, True)]
        return [kind[at : at + BATCH] for kind in kinds for at in range(0, len(kind), BATCH)]

    return made


@pytest.fixture(scope="module")
def parts(
    library: Path, support: Path, gocean_parts: tuple[Path, Path]
) -> Callable[[str], tuple[Path, Path]]:
    """Return what gives the folders of an API's infrastructure and of all that programs share."""
    return {"lfric": (library, support), "gocean": gocean_parts}.__getitem__


def generated(program: AliasProgram, folder: Path, *options: str) -> str | None:
    """Write the layer and the algorithm of a program; return the layer, None if refused."""
    source = folder / f"{program.name}_alg_mod.x90"
    source.write_text(program.text, encoding="utf-8")
    words = [str(source), *KERNELS[program.api], "--output-dir", str(folder), *options]
    if main(words) != 0:
        return None
    return (folder / f"{program.name}_alg_mod_psy.f90").read_text(encoding="utf-8")


def built(
    some: Sequence[AliasProgram], parts: tuple[Path, Path], folder: Path, *flags: str
) -> Path:
    """Compile the layers, with `flags`, and algorithms in `folder`; return the linked program."""
    (folder / "suite_mod.f90").write_text(suite_text(some), encoding="utf-8")
    sources = gocean_suite.SOURCES if some[0].api == "gocean" else programs.SOURCES
    layers = sorted(folder.glob("*_psy.f90"))
    algorithms = sorted(folder.glob("alias_*_alg_mod.f90"))
    joined = [join(layers, folder / "joined_psy"), join(algorithms, folder / "joined_algorithms")]
    compile_sources(joined[:1], folder, parts, *flags)
    others = [joined[1], folder / "suite_mod.f90", sources / "main.f90"]
    compile_sources(others, folder, parts)
    library, support = parts
    objects = sorted(map(str, (*support.glob("*.o"), *folder.glob("*.o"))))
    command(["mpif90", *FLAGS, *objects, archive_in(library), "-o", "program"], folder)
    return folder / "program"


Answers = Mapping[str, answers.Values] | programs.Answers


def values_of(program: Path, some: Sequence[AliasProgram], mode: Mode, ranks: int) -> Answers:
    """Run a program and return what it answers, by name."""
    folder = program.with_name(f"ranks{ranks}")
    if some[0].api == "lfric":
        return answers.merge_answers(run_program(program, mode, ranks, folder).values)
    table = program.with_name("all.txt")
    table.write_text("".join(f"0 none {one.name}\n" for one in some), encoding="utf-8")
    run = run_program(program, mode, ranks, folder, "best", str(table))
    return programs.merge_answers(run)


def differing(expected: Answers, computed: Answers) -> set[str]:
    """Return the invokes that answer otherwise."""
    assert computed.keys() == expected.keys()
    return {invoke_of(key) for key, value in expected.items() if not same(value, computed[key])}


def invoke_of(key: str | tuple[str, str]) -> str:
    """Return the names of the program and of the invoke that have an answer."""
    name = key if isinstance(key, str) else key[0]
    return "/".join(name.split("/")[1:3])


def same(one: object, other: object) -> bool:
    """Return whether two answers are the same, to the last bit."""
    if isinstance(one, str):
        return one == other
    return one.tobytes() == other.tobytes()


def transformed(program: AliasProgram, folder: Path) -> str:
    """Write the layer of a program by the first of its random recipes that can be finished."""
    script = folder / f"{program.name}_steps.py"
    options = (program.options(attempt, script) for attempt in range(ATTEMPTS))
    found = (generated(program, folder, *words) for words in options)
    layer = next((layer for layer in found if layer is not None), None)
    assert layer is not None, program
    return layer


@pytest.mark.parametrize("api", KERNELS)
def test_random_programs_compute_the_same_under_random_recipes(
    batches: Callable[[str], list[list[AliasProgram]]],
    parts: Callable[[str], tuple[Path, Path]],
    tmp_path: Path,
    api: str,
) -> None:
    wrong: dict[str, set[int]] = {}
    changed = count = 0
    for number, some in enumerate(batches(api)):
        mode = ANNEXED if some[0].annexed and api == "lfric" else OWNED
        plain, steps = tmp_path / f"plain{number}", tmp_path / f"steps{number}"
        plain.mkdir()
        steps.mkdir()
        for one in some:
            layer = generated(one, plain, *one.plain)
            assert layer is not None, one
            changed += transformed(one, steps) != layer
            count += 1
        expected = values_of(built(some, parts(api), plain), some, mode, 1)
        program = built(some, parts(api), steps, OPTIMISED)
        for ranks in RANKS:
            for name in differing(expected, values_of(program, some, mode, ranks)):
                wrong.setdefault(name, set()).add(ranks)
    assert wrong == {}
    assert changed >= LEAST_CHANGED * count, f"{changed} of {count}"


def parts_of(api: str, part: int) -> list[list[AliasProgram]]:
    """Return a program of each form of alias, in LFRic one without and one with annexed dofs.

    GOcean has no annexed dofs: its programs have every fourth recipe. Those of LFRic have every
    eighth, so that all `PARTS` together apply each recipe to each form in each program. The forms
    that are never aliased have the same recipes.
    """
    settings, step = {"lfric": ((False, True), 8), "gocean": ((False,), 4)}[api]

    def program(at: int, form: str, annexed: bool) -> AliasProgram:
        start = (0 if form in NEVER_ALIASED else at) + 4 * annexed + part
        recipes = RECIPES[api][start % step :: step]
        return AliasProgram(api, len(settings) * at + annexed, form, recipes)

    return [
        [program(at, form, annexed) for at, form in enumerate(FORMS[api])] for annexed in settings
    ]


PARTS = [("lfric", part) for part in range(8)] + [("gocean", part) for part in range(4)]


@pytest.mark.parametrize("api", FORMS)
def test_the_parts_have_each_form_with_each_recipe(api: str) -> None:
    tried = Counter(
        (one.annexed and api == "lfric", one.form, recipe)
        for of_api, part in PARTS
        if of_api == api
        for some in parts_of(api, part)
        for one in some
        for recipe in one.recipes
    )
    settings = (False, True) if api == "lfric" else (False,)
    assert tried == Counter(product(settings, FORMS[api], RECIPES[api]))
    first = [one for some in parts_of(api, 0) for one in some]
    assert {recipe for one in first for recipe in one.recipes} == {*RECIPES[api]}


def invokes_of(layer: str | None) -> list[str]:
    """Return the invokes of a layer without their names, in order."""
    assert layer is not None
    return [found[0].replace(found[1], "") for found in INVOKE.finditer(layer)]


@pytest.mark.parametrize("combination", selected(PARTS, ("lfric", 0), ("gocean", 0)))
def test_every_recipe_computes_the_same_for_every_form_of_alias(
    parts: Callable[[str], tuple[Path, Path]], tmp_path: Path, combination: tuple[str, int]
) -> None:
    """A combination counts as accepted if the recipe changes the invoke."""
    api, part = combination
    accepted: Counter[str] = Counter()
    for number, some in enumerate(parts_of(api, part)):
        plain, changed = tmp_path / f"plain{number}", tmp_path / f"changed{number}"
        plain.mkdir()
        changed.mkdir()
        for one in some:
            script = changed / f"{one.name}_recipes.py"
            script.write_text(
                RECIPES_SCRIPT.format(names=one.repeats, recipes=one.recipes), "utf-8"
            )
            words = (*one.plain, "-s", str(script))
            before = invokes_of(generated(one, plain, *one.plain))
            after = invokes_of(generated(one, changed, *words))
            assert len(before) == len(after) == len(one.recipes)
            accepted[one.form] += sum(map(ne, before, after))
        mode = ANNEXED if some[0].annexed and api == "lfric" else OWNED
        expected = values_of(built(some, parts(api), plain), some, mode, 1)
        combinations = {
            f"{one.name}/{repeat}": (one.form, recipe)
            for one in some
            for repeat, recipe in zip(one.repeats, one.recipes, strict=True)
        }
        assert set(map(invoke_of, expected)) == combinations.keys()
        program = built(some, parts(api), changed, OPTIMISED)
        for ranks in RANKS:
            wrong = differing(expected, values_of(program, some, mode, ranks))
            assert [combinations[name] for name in wrong] == [], ranks
    assert accepted.total() >= ACCEPTED[api], accepted
    assert len({accepted[form] for form in NEVER_ALIASED}) == 1, accepted
