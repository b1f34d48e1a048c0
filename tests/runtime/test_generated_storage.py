"""Layers that acquire and release fields compute the same for every feature of LFRic metadata.

The suite is that of `test_generated`. Its layers run with one memory, on the host next to an
emulated device, or in regions on it. With a device, half of the fields are on it before each
invoke, and stale copies are NaN. Fields have storages, or a registry has them, with or without
notifications of the program. Each run selects some variants; `--matrix` runs all for fields with
storages.

Each acquire of these layers is omitted or weakened in turn, in the programs whose results are
compared: a part of them in any run, all with `--matrix`, and then also each exchange and flag
update. With a registry, this includes the notifications of exchanges. Maps and other tables are not
mutated, because an invalid map ends the program.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from fnmatch import fnmatchcase
from functools import cache
from itertools import product
from pathlib import Path
from typing import NamedTuple
from zlib import crc32

import pytest

from building import built_once, shared_folder
from libraries import LFRIC_EMULATED, LFRIC_MPI, Library
from runtime.answers import Answers, merge_answers
from runtime.generated import builds
from runtime.generated.builds import ANNEXED, OWNED
from runtime.mutated_schedules import Mutant, mutants, noticed_by
from runtime.mutations import Outcome, Place, judge, lines_of
from runtime.programs import SERIAL, Mode, run_program
from runtime.test_generated import RANKS, differing

pytestmark = [pytest.mark.fortran, pytest.mark.mpi]

REGIONS = ("-s", str(Path(__file__).parent / "generated" / "in_regions.py"))
ONE_MEMORY, BESIDE, THERE = "one memory", "beside a device", "on the device"
MODES = {mode.name: mode for mode in (OWNED, ANNEXED)}


class Way(NamedTuple):
    """How layers are made and run; behind a comma in `dofs` stands what the program does, too."""

    target: str
    place: str
    dofs: str
    ranks: int

    def __str__(self) -> str:
        """Return what a test is called."""
        return f"{self.target} {self.place} {self.dofs} {self.ranks}"


CHOSEN = (
    Way("storage", THERE, "annexed", 6),
    Way("registry", BESIDE, "annexed", 2),
    Way("registry", BESIDE, "annexed,told", 4),
)
EVERY = (
    *(Way("storage", *some) for some in product((ONE_MEMORY, BESIDE, THERE), MODES, RANKS)),
    Way("registry", BESIDE, "annexed", 1),
)
WAYS = (*CHOSEN, *(pytest.param(way, marks=pytest.mark.matrix) for way in EVERY
                   if way not in CHOSEN))  # fmt: skip


@pytest.fixture(scope="module")
def storages(
    built: Callable[[Library], Path], suite: Path, tmp_path_factory: pytest.TempPathFactory
) -> Callable[[Way], Path]:
    """Return what gives the program of a way."""
    folder = shared_folder(tmp_path_factory)

    def build(way: Way, there: Path) -> None:
        library = built(LFRIC_MPI if way.place == ONE_MEMORY else LFRIC_EMULATED)
        name = "suite_support" if way.place == ONE_MEMORY else "emulated_suite_support"
        support = built_once(
            folder / name, lambda where: builds.build_support(library, suite, where)
        )
        plain = MODES[way.dofs]
        regions = REGIONS if way.place == THERE else ()
        mode = Mode(plain.name, (*plain.options, "--target", way.target, *regions))
        builds.write_places(builds.generate(mode, suite, there), there)
        builds.build_program(library, support, suite, there)

    def program(way: Way) -> Path:
        one = way._replace(dofs=way.dofs.partition(",")[0])
        name = "_".join(("suite_in", *one[:-1])).replace(" ", "_")
        return built_once(folder / name, lambda where: build(one, where)) / "program"

    return program


@pytest.fixture(scope="module")
def serial(
    suite_program: Callable[[Mode], Path], tmp_path_factory: pytest.TempPathFactory
) -> Answers:
    """Return the answers of plain layers without MPI."""
    run = tmp_path_factory.mktemp("suite_serial")
    return merge_answers(run_program(suite_program(SERIAL), SERIAL, 1, run).values)


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_the_answers_are_those_of_plain_layers(
    storages: Callable[[Way], Path], serial: Answers, way: Way, tmp_path: Path
) -> None:
    mode = replace(OWNED, name=way.dofs)
    run = run_program(storages(way), mode, way.ranks, tmp_path / "run")
    assert differing(serial, merge_answers(run.values)) == []


# ---------------------------------------------------------------------------- mutations

HELD = (
    Way("storage", THERE, "annexed", 2),
    Way("registry", BESIDE, "annexed,told", 2),
)
"""Programs that any run builds; `--matrix` mutates others, too."""
MUTATED = (
    *HELD,
    Way("storage", BESIDE, "owned", 2),
    Way("storage", BESIDE, "annexed", 2),
    Way("registry", THERE, "owned,told", 2),
)
PARTS, PARTS_OF_OTHERS = 16, 4
"""In so many parts all acquires are mutated: some end a run of all by the time it may take."""


CHANGED = [
    pytest.param(way, part, marks=() if chosen else pytest.mark.matrix, id=f"{way}-{part}")
    for way, part in product(MUTATED, range(PARTS))
    for chosen in [way in HELD and part == 0]
]
CHANGED_AROUND = [one for one in CHANGED if str(one.id).startswith("registry")]
OVERWRITTEN = re.compile(r"brought, as \w+ (writes|may leave) ")
"""What a layer says of values that it brings though a kernel may overwrite all: it cannot know."""
UNNOTICED = (
    # What is made of it is overwritten in the same invoke before anybody looks.
    "drop builtins_*/invoke_some_*/hold(start_[yz]_*)/*",
    "drop kernels_11/invoke_first/hold(x2)/1",
    "drop kernels_9/invoke_again/hold(x7)/1",
    "drop kernels_7/invoke_*/hold(x9)/[12]",
    "drop kernels_15/invoke_first/hold(x3)/1",
    "drop kernels_15/invoke_first/hold(x6)/1",
    # A kernel for a halo, whose values are looked at by no other.
    "narrow forms/invoke_1/hold(along)/2",
    "narrow forms/invoke_1/hold(x)/2",
    "narrow kernels_6/invoke_*/hold(x1)/*",
    # It has, or may have, another name, by which somebody says that it is written.
    "narrow forms/invoke_4/hold(tracers_n_1)/1",
    "narrow forms/invoke_5/hold(spare_n)/1",
    "narrow forms/invoke_15/hold(self_density)/1",
    "narrow forms/invoke_15/hold(self_gases_ozone)/1",
    # Put away for the next acquire, it is from the side where it was written, which is so taken for
    # the one that has it.
    "narrow kernels_2/invoke_*/hold(x9)/1",
    "narrow kernels_3/invoke_*/hold(x14)/*",
)
"""Patterns of the mutations that nobody notices."""

UNFLAGGED = {"shorten kernels_6 x4 x4"}
"""What makes another field stale in halo cells that no flag calls clean, so that nobody looks: who
writes a field of ours by its array calls all of its halo dirty."""

STOPS = "narrow forms/invoke_5/hold(spare_1)/1"
REGISTRY_STOPS = STOPS.replace("(spare_1)", "(spare_1_storage)")
"""A mutation that stops the program: who reads meets another name, by which somebody writes."""

Tried = Callable[..., list[Outcome]]


def group_of(place: Place) -> str:
    """Return what all acquires of an algorithm have in common that are there for the same."""
    return f"{place.algorithm} {place.reason}"


def exchanged_at(place: Place) -> str:
    """Return what an exchange and what is told of it have in common, in both invokes.

    What has left the halo stale is another kernel in the other order.
    """
    datum = place.name.split("/")[2].removeprefix("around(").removesuffix(")")
    datum = datum.removesuffix("_storage").replace("_proxy(", "_").removesuffix(")")
    return f"{place.algorithm} {datum} {place.reason.partition(' and ')[0]}"


@pytest.fixture(scope="module")
def tried(storages: Callable[[Way], Path], tmp_path_factory: pytest.TempPathFactory) -> Tried:
    """Return what tries all changes of places of a way's layers."""

    def trying(way: Way, places: list[Place], stops: bool = False) -> list[Outcome]:
        folder = tmp_path_factory.mktemp("storage_mutated")
        table = folder / "mutations.txt"
        lines = lines_of(places, frozenset() if stops else frozenset({STOPS, REGISTRY_STOPS}))
        table.write_text("".join(lines), encoding="utf-8")
        program = storages(way)
        mode = replace(OWNED, name=way.dofs)
        run = run_program(program, mode, way.ranks, folder / "run", str(table))
        return judge(run, builds.read_places(program.parent))

    return trying


@pytest.fixture(scope="module")
def told_by_schedules(suite: Path) -> Callable[[bool], dict[str, Mutant]]:
    """Return what gives the mutants of all schedules, with annexed dofs computed or not."""
    return cache(lambda annexed: {one.name: one for one in mutants(suite, annexed)})


@pytest.mark.parametrize(("way", "part"), CHANGED)
def test_every_acquire_is_needed_with_all_that_it_asks_for(
    storages: Callable[[Way], Path], tried: Tried, way: Way, part: int
) -> None:
    """An acquire is needed if one is that the same algorithm has for the same kernel and field.

    All kernels of an algorithm are called twice, in both orders, so that what one overwrites of
    another in one invoke is left in the next.
    """
    places = {
        one.name: one
        for one in builds.read_places(storages(way).parent)
        if "/hold(" in one.name and crc32(group_of(one).encode()) % PARTS == part
    }
    needed: dict[tuple[str, str], bool] = {}
    names: dict[tuple[str, str], set[str]] = {}
    for one in tried(way, [*places.values()]):
        assert one.reached, one.mutation
        change, name = one.mutation.split(" ", 1)
        if change == "drop" and OVERWRITTEN.search(places[name].reason):
            continue
        key = change, group_of(places[name])
        needed[key] = needed.get(key, False) or one.noticed
        names.setdefault(key, set()).add(one.mutation)
    assert sum(needed.values()) > 20
    left = {name for key, is_needed in needed.items() if not is_needed for name in names[key]}
    named = {one.replace("_storage)", ")") for one in left}
    assert not [one for one in named if not any(fnmatchcase(one, known) for known in UNNOTICED)]


Where = tuple[str, str]
"""What was done, and to the exchanges of which datum for what."""


@pytest.fixture(scope="module")
def tried_plainly(
    suite_program: Callable[[Mode], Path], tmp_path_factory: pytest.TempPathFactory
) -> Callable[[Way, set[Where]], dict[Where, list[bool]]]:
    """Return what tells whether some changes are noticed in layers without storages."""

    def trying(way: Way, some: set[Where]) -> dict[Where, list[bool]]:
        mode = MODES[way.dofs.partition(",")[0]]
        program = suite_program(mode)
        places = builds.read_places(program.parent)
        chosen = [
            one for one in places if {(change, exchanged_at(one)) for change in one.changes} & some
        ]
        folder = tmp_path_factory.mktemp("plainly_mutated")
        table = folder / "mutations.txt"
        table.write_text("".join(lines_of(chosen)), encoding="utf-8")
        run = run_program(program, mode, way.ranks, folder / "run", str(table))
        return noticed_at(judge(run, places), places)

    return trying


@pytest.mark.parametrize(("way", "part"), CHANGED_AROUND)
def test_what_a_registry_is_told_of_an_exchange_is_needed_if_the_exchange_is(
    storages: Callable[[Way], Path],
    tried: Tried,
    tried_plainly: Callable[[Way, set[Where]], dict[Where, list[bool]]],
    way: Way,
    part: int,
) -> None:
    """If no run shows it, none shows that layers without storages leave out the exchange.

    In one of the two invokes of an algorithm, that is: no answer comes of that halo.
    """
    places = builds.read_places(storages(way).parent)
    told = [
        one
        for one in places
        if "/around(" in one.name and crc32(exchanged_at(one).encode()) % PARTS == part
    ]
    around = noticed_at(tried(way, told), places)
    unnoticed = {key for key, found in around.items() if not any(found)}
    assert around.keys() - unnoticed
    exchanged = tried_plainly(way, unnoticed)
    found = {key for key in unnoticed if all(exchanged[key])}
    assert {f"{change} {where.partition(' is read')[0]}" for change, where in found} <= UNFLAGGED


def noticed_at(outcomes: list[Outcome], places: list[Place]) -> dict[Where, list[bool]]:
    """Return whether each change was noticed, by what was done and where."""
    by_name = {one.name: one for one in places}
    found: dict[Where, list[bool]] = {}
    for one in outcomes:
        change, name = one.mutation.split(" ", 1)
        found.setdefault((change, exchanged_at(by_name[name])), []).append(one.noticed)
    return found


@pytest.mark.matrix
@pytest.mark.parametrize("way", MUTATED, ids=str)
def test_who_writes_what_another_name_writes_says_so(
    storages: Callable[[Way], Path], tried: Tried, way: Way
) -> None:
    places = builds.read_places(storages(way).parent)
    some = [
        replace(one, changes=("narrow",))
        for one in places
        if f"narrow {one.name}" in (STOPS, REGISTRY_STOPS)
    ]
    with pytest.raises(AssertionError, match='R201: "forms/spare_1"'):
        tried(way, some, stops=True)


@pytest.mark.matrix
@pytest.mark.parametrize("part", range(PARTS_OF_OTHERS))
@pytest.mark.parametrize("way", MUTATED, ids=str)
def test_every_exchange_and_mark_is_noticed(
    storages: Callable[[Way], Path],
    tried: Tried,
    told_by_schedules: Callable[[bool], dict[str, Mutant]],
    way: Way,
    part: int,
) -> None:
    """By the run, or by the adversary of exchanges, as in layers without storages."""
    places = [
        one
        for one in builds.read_places(storages(way).parent)
        if not re.search(r"/(hold|around)\(", one.name)
        and crc32(one.name.encode()) % PARTS_OF_OTHERS == part
    ]
    outcomes = tried(way, places)
    assert {one.mutation.split(" ")[0] for one in outcomes} == {"drop", "shorten"}
    said = told_by_schedules(way.dofs.startswith("annexed"))
    left = [one for one in outcomes if noticed_by(one, said.get(one.mutation)) == "nobody"]
    assert not [one.mutation for one in left if one.reached]
