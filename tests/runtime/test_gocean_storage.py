"""Layers that acquire and release fields compute what plain layers do, wherever values are.

With one memory, and with an emulated device whose copies are spoilt when they are stale, as are the
host's: an acquire that is missing, or an exchange, gives NaN. Loops run on the host, or in regions
for the device.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from functools import cache
from itertools import product
from pathlib import Path

import pytest

from building import built_once
from libraries import GOCEAN_EMULATED, Library, archive_in, linked_with
from pairwise import selected
from psyclone_storage.cli.main import main
from runtime.gocean_suite import SOURCES, build_program, build_support, generate, run_all
from runtime.held_windows import check_windows
from runtime.mutations import (
    EXCHANGES,
    HOLDS,
    USES,
    Outcome,
    Place,
    judge,
    kind_of,
    lines_of,
    number_places,
    number_registered,
)
from runtime.programs import FLAGS, Answers, Mode, command, merge_answers, run_program
from runtime.test_gocean_ranks import differing

pytestmark = [pytest.mark.fortran, pytest.mark.mpi]

PLAIN = Mode("distributed", ("-dm",))
STORAGE = Mode("distributed", ("-dm", "--target", "storage", "--apply", "split-interior; overlap"))
ON_DEVICE = Mode(
    "distributed",
    (
        "-dm",
        "--target",
        "storage",
        "--apply",
        "inline-kernel-module; acc-routine; acc-loop{collapse=0}; acc-parallel",
    ),
)
REGISTRY = Mode("distributed", (*ON_DEVICE.options[:2], "registry", *ON_DEVICE.options[3:]))
"""Fields as they are in dl_esm_inf, which tell a registry nothing."""
PLACES = {
    "on the host": Mode("distributed", ("-dm", "--target", "registry")),
    "on the device": REGISTRY,
    "in storages": ON_DEVICE,
}
FLAGS_OF_FIELDS = {"with flags": "true", "without flags": "false"}
TOGETHER = {"joint": "true", "overlapped": "overlapped"}
JOINT = (PLACES, FLAGS_OF_FIELDS, TOGETHER)
"""The parameters of joint exchanges."""
NOT_KNOWN = {"drop any_type_of_point/invoke_0_copy_any/hold(new)/1"}
"""Values that are brought and overwritten, of a field that may lie on any type of point."""
Parts = tuple[Path, Path]
Reader = Callable[[Mode, bool, int], Answers]


def joint(place: str, flags: str, together: str) -> Mode:
    """Return the mode of some parameters of `JOINT`."""
    settings = f"JOINT_EXCHANGES={TOGETHER[together]} DIRTY_FLAGS={FLAGS_OF_FIELDS[flags]}"
    return Mode("distributed", (*PLACES[place].options, "--config-opts", settings))


@pytest.fixture
def registered_flags(tmp_path: Path) -> tuple[str, ...]:
    """Return the options for fields without flags, for which a registry records them.

    The module of their type has no `is_dirty`.
    """
    folder = tmp_path / "without_flags"
    folder.mkdir()
    text = "module field_mod\n  type :: r2d_field\n  end type\nend module field_mod\n"
    (folder / "field_mod.f90").write_text(text, encoding="utf-8")
    return ("-d", str(folder), "--config-opts", "DIRTY_FLAGS=true")


@pytest.fixture(scope="module")
def emulated(built: Callable[[Library], Path], tmp_path_factory: pytest.TempPathFactory) -> Parts:
    """Return the folders of the infrastructure with an emulated device, and of what is shared."""
    library = built(GOCEAN_EMULATED)
    folder = tmp_path_factory.mktemp("gocean_emulated") / "support"
    return library, built_once(folder, lambda where: build_support(library, where))


@pytest.fixture(scope="module")
def registered(
    emulated: Parts, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, list[Place]]:
    """Return the program for a registry, whose exchanges know no storage, and its places."""
    folder = tmp_path_factory.mktemp("gocean_registry")
    layers = generate(REGISTRY, folder)
    check_windows(layers)
    places = number_registered(layers)
    return build_program(*emulated, folder), places


@pytest.fixture(scope="module")
def answers(
    gocean_parts: Parts,
    emulated: Parts,
    registered: tuple[Path, list[Place]],
    tmp_path_factory: pytest.TempPathFactory,
) -> Reader:
    """Return what gives the answers of a mode, with a device or without, on a number of ranks."""

    @cache
    def program(mode: Mode, device: bool) -> Path:
        folder = tmp_path_factory.mktemp("gocean_storage")
        generate(mode, folder)
        return build_program(*(emulated if device else gocean_parts), folder)

    @cache
    def read(mode: Mode, device: bool, ranks: int) -> Answers:
        path = registered[0] if mode == REGISTRY else program(mode, device)
        return merge_answers(run_all(path, mode, ranks))

    return read


@pytest.mark.parametrize("ranks", selected((1, 2, 4, 6), 2, 6))
@pytest.mark.parametrize(
    ("mode", "device"),
    [(STORAGE, False), (STORAGE, True), (ON_DEVICE, True), (REGISTRY, True)],
    ids=["one memory", "on the host beside a device", "on the device", "by a registry"],
)
def test_the_answers_are_those_of_plain_layers(
    answers: Reader, mode: Mode, device: bool, ranks: int
) -> None:
    assert differing(answers(PLAIN, False, ranks), answers(mode, device, ranks)) == []


@pytest.mark.parametrize("ranks", selected((1, 2, 4), 4))
@pytest.mark.parametrize(
    "combination",
    selected(
        [*product(*JOINT)],
        ("on the host", "with flags", "joint"),
        ("on the device", "without flags", "overlapped"),
        ("in storages", "with flags", "overlapped"),
    ),
)
def test_they_are_so_in_joint_exchanges(
    answers: Reader, combination: tuple[str, str, str], ranks: int
) -> None:
    """A clean field, which a joint exchange skips, keeps the values that only a device has."""
    assert differing(answers(PLAIN, False, ranks), answers(joint(*combination), True, ranks)) == []


@pytest.fixture(scope="module")
def mutated(emulated: Parts, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Place]]:
    """Return the program that asks at each place what to do, and the places."""
    folder = tmp_path_factory.mktemp("gocean_storage_mutated")
    layers = generate(ON_DEVICE, folder)
    check_windows(layers)
    places = number_places(layers, (EXCHANGES, *HOLDS, *USES))
    return build_program(*emulated, folder), places


@pytest.fixture(scope="module")
def outcomes(mutated: tuple[Path, list[Place]]) -> list[Outcome]:
    """Return what came of acquires that were weakened, of exchanges left out, of other tables."""
    program, places = mutated
    some = [one for one in places if "/release(" not in one.name]
    table = program.with_name("mutations.txt")
    table.write_text("".join(lines_of(some)), encoding="utf-8")
    words = ("best", str(table), "digests")
    return judge(run_program(program, ON_DEVICE, 4, program.with_name("run"), *words), places)


def test_every_acquire_is_needed_with_all_that_it_asks_for(outcomes: list[Outcome]) -> None:
    tried = [one for one in outcomes if kind_of(one.mutation).endswith("hold")]
    assert len(tried) > 100
    assert all(one.reached for one in tried)
    assert {one.mutation for one in tried if not one.noticed} == NOT_KNOWN


def test_every_array_of_a_grid_is_looked_at(outcomes: list[Outcome]) -> None:
    tried = [one for one in outcomes if kind_of(one.mutation) == "drop table"]
    assert len(tried) > 5
    assert [one for one in tried if one.reached and one.noticed] == tried


@pytest.mark.parametrize("one_of", [32, pytest.param(1, marks=pytest.mark.matrix)])
def test_who_does_not_release_is_stopped(mutated: tuple[Path, list[Place]], one_of: int) -> None:
    """At the next use that is in its way, or where the field is freed, by its storage.

    Arrays of a grid are only read, and stay. That they are released `held_windows` finds.
    """
    program, places = mutated
    fields = [one for one in places if re.search(r"/release\((?!.*%grid)", one.name)]
    left = []
    for one in fields[::one_of]:
        table = program.with_name("mutations.txt")
        table.write_text("".join(lines_of([one])), encoding="utf-8")
        words = [str(program), ON_DEVICE.name, "best", str(table), "digests"]
        run = subprocess.run(
            words, cwd=program.parent, capture_output=True, text=True, check=False, timeout=60
        )
        if not re.search("^storage error R201: ", run.stderr, re.MULTILINE):
            left.append(one.name)
    assert len(fields) > 90
    assert left == []


def test_every_exchange_is_needed_beside_a_device(outcomes: list[Outcome]) -> None:
    tried = [one for one in outcomes if kind_of(one.mutation) in ("drop", "shorten")]
    assert {kind_of(one.mutation) for one in tried} == {"drop", "shorten"}
    assert not [one.mutation for one in tried if one.reached and not one.noticed]


@pytest.fixture(scope="module")
def told(registered: tuple[Path, list[Place]]) -> list[Outcome]:
    """Return what came of each thing that was asked of a registry weakly, or not at all."""
    program, places = registered
    table = program.with_name("mutations.txt")
    table.write_text("".join(lines_of(places)), encoding="utf-8")
    folder = program.with_name("mutated")
    return judge(run_program(program, REGISTRY, 4, folder, "best", str(table), "told"), places)


def test_all_that_is_asked_of_a_registry_is_needed(told: list[Outcome]) -> None:
    """Accesses, exchanges, and what is brought of an array that is exchanged."""
    kinds = {kind_of(one.mutation) for one in told}
    assert kinds == {"drop", "shorten", "drop hold", "narrow hold", "drop around", "shorten around"}
    assert len(told) > 150
    unnoticed = {one.mutation for one in told if one.reached and not one.noticed}
    assert unnoticed == {one.replace("(new)", "(new_storage)") for one in NOT_KNOWN}


LEFT_ON_THE_DEVICE = "The storage of an array is requested, but only the device has the values"
# What would give a wrong answer, and what the storages say to it.
NOTICED = {
    "a part, unsaid": "R200: The host has written a part",
    "a part, said": "R200: The host has written a part of an array that is current",
    "a value of both sides, unsaid": "R200: The host has written an array that is current on",
    "freed while it is held": "R201: An array in use is freed",
    "a slice of what a device has": f"R200: {LEFT_ON_THE_DEVICE}",
    "a slice": 'R201: "array of 14 x 3 elements at 0x[0-9A-F]+" cannot get a storage: it lies '
    "in the memory of a field",
    "a slice of what is held": "R201: The storage of an array is requested while another array",
    "a part first": f"R200: {LEFT_ON_THE_DEVICE}",
    "the middle first": f"R200: {LEFT_ON_THE_DEVICE}",
    "a part first, and a look": f"R200: {LEFT_ON_THE_DEVICE}",
}


@pytest.fixture(scope="module")
def one_storage(emulated: Parts, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the program about fields and their storages."""
    folder = tmp_path_factory.mktemp("one_storage")
    source = str(SOURCES / "one_storage.f90")
    command(["mpif90", *FLAGS, source, *linked_with(emulated[0]), "-o", "program"], folder)
    return folder / "program"


def test_a_field_has_one_storage(one_storage: Path) -> None:
    assert command([str(one_storage)], one_storage.parent) == "a field has one storage\n"


@pytest.mark.parametrize("what", NOTICED)
def test_what_nobody_says_of_a_field_is_noticed(one_storage: Path, what: str) -> None:
    words = [str(one_storage), what]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert re.match(f"storage error {NOTICED[what]}", done.stderr)


EXAMPLE = Path(__file__).parents[2] / "examples" / "gocean" / "shallow_water"
STEPS = 400
COUNT = "call print_statistics('moved')"
Changed = Callable[[str], str]
Use = tuple[str, bool, bool]
"""Where something uses a datum, whether it needs old values, and whether it writes."""


def least_transfers(trace: list[Use]) -> int:
    """Return the smallest number of transfers of one datum, of all that anybody could decide."""
    cheapest = {frozenset({"host"}): 0}
    for side, reads, writes in trace:
        after: dict[frozenset[str], int] = {}
        for current, cost in cheapest.items():
            for there in {current, current | {side}}:
                if reads and side not in there:
                    continue
                left = frozenset({side}) if writes else there
                price = cost + len(there - current)
                after[left] = min(after.get(left, price), price)
        cheapest = after
    return min(cheapest.values())


def test_a_time_loop_moves_as_little_as_can_be(emulated: Parts, tmp_path: Path) -> None:
    """The waves of the example: 400 steps on the device, looked at by the host every 100."""
    steps, looks = STEPS, 100
    device: dict[str, Use] = dict.fromkeys(("height", "u", "v"), ("gpu", True, True))
    device |= dict.fromkeys(("u_at_v", "v_at_u"), ("gpu", True, True))
    device |= dict.fromkeys(("depth_u", "depth_v"), ("gpu", True, False))
    device |= dict.fromkeys(("area_t", "dx_u", "dy_v", "tmask"), ("gpu", True, False))
    look: Use = ("host", True, False)
    least = 0
    for name, use in device.items():
        trace = [
            one
            for step in range(1, steps + 1)
            for one in (use, *([look] if name == "height" and step % looks == 0 else []))
        ]
        least += least_transfers(trace + [look] * (name in ("height", "u", "v", "depth_u")))
    words = ["mpirun", "--oversubscribe", "-n", "1", build_waves(emulated, ON_DEVICE, tmp_path)]
    printed = command([*words, "surface"], tmp_path)
    moved = re.search(r"moved: (\d+) transfers to the device .*, (\d+) to the host", printed)
    assert moved is not None
    assert (int(moved[1]), int(moved[1]) + int(moved[2])) == (11, least)


def test_flags_in_a_registry_end_with_an_invoke_in_programs_without_reports(
    answers: Reader, registered_flags: tuple[str, ...]
) -> None:
    """The host writes fields between invokes, and other fields get their memory."""
    mode = Mode("distributed", (*REGISTRY.options, *registered_flags))
    assert differing(answers(PLAIN, False, 4), answers(mode, True, 4)) == []


def build_waves(emulated: Parts, mode: Mode, folder: Path, changed: Changed = str) -> str:
    """Generate the example, which counts what it moves, compile its changed text, and return it."""
    words = ["-api", "gocean", str(EXAMPLE / "shallow_water.x90"), "-d", str(EXAMPLE / "kernels")]
    assert main([*words, *mode.options, "--output-dir", str(folder)]) == 0
    program = folder / "shallow_water.f90"
    text = program.read_text(encoding="utf-8")
    text = text.replace(
        "  use field_mod",
        "  use storage_statistics_mod, only: print_statistics\n  use field_mod",
        1,
    )
    text = text.replace("  call gocean_finalise()", f"  {COUNT}\n  call gocean_finalise()", 1)
    program.write_text(changed(text), encoding="utf-8")
    sources = [*sorted(EXAMPLE.glob("kernels/*.f90")), folder / "shallow_water_psy.f90", program]
    library = emulated[0]
    build = ["mpif90", "-fopenmp", "-O1", f"-I{library}", *map(str, sources), archive_in(library)]
    command([*build, "-o", "waves"], folder)
    return str(folder / "waves")


def telling(text: str) -> str:
    """Return the example that tells a registry when it looks at fields on the host."""
    uses = "  use wrapped_arrays_mod, only: bring_to_host, set_program_tells, storage_of\n"
    fields = ("height", "u", "v", "depth_u", "depth_v")
    brought = "".join(f"  call bring_to_host(storage_of({name}%data))\n" for name in fields)
    text = text.replace("  use field_mod", f"{uses}  use field_mod", 1)
    text = text.replace("type(r2d_field) ::", "type(r2d_field), target ::", 1)
    begun = "  call gocean_initialise()\n"
    text = text.replace(begun, f"{begun}  call set_program_tells(.true.)\n", 1)
    text = text.replace("  call report(", f"{brought}  call report(")
    look = "    if (mod(step, steps_between) == 0) "
    assert look in text
    return text.replace(look, f"{look}call bring_to_host(storage_of(height%data))\n{look}")


def test_a_program_that_tells_a_registry_moves_values_once(emulated: Parts, tmp_path: Path) -> None:
    """On four ranks: what goes to the device after the first step are borders and halos."""
    folders = [tmp_path / name for name in ("storage", "registry")]
    for folder in folders:
        folder.mkdir()
    program = build_waves(emulated, REGISTRY, folders[1], telling)
    storages = build_waves(emulated, ON_DEVICE, folders[0])
    run = ["mpirun", "--oversubscribe", "-n", "4"]
    wanted = command([*run, storages, "surface"], folders[0])
    found = command([*run, program, "surface"], folders[1])
    assert without_counts(found) == without_counts(wanted)
    counted = re.findall(r"moved: (\d+) transfers to the device \((\d+) B", found)
    exchanges, arrays, points = 6 * STEPS, 11, 28 * 28
    assert len(counted) == 4
    for transfers, size in counted:
        assert int(transfers) <= arrays + exchanges
        assert int(size) < 8 * points * arrays + exchanges * 8 * 8 * 28


def test_a_registry_that_is_told_records_clean_halos(
    emulated: Parts, registered_flags: tuple[str, ...], tmp_path: Path
) -> None:
    """Read-only fields are exchanged once, and three others in each step."""
    found = []
    for name, more in (("plain", ()), ("flags", registered_flags)):
        folder = tmp_path / name
        folder.mkdir()
        mode = Mode("distributed", (*REGISTRY.options, *more))
        program = build_waves(emulated, mode, folder, telling)
        assert more == () or "if (halo_is_dirty(storage_of(" in layer_in(folder)
        found.append(command(["mpirun", "--oversubscribe", "-n", "4", program, "surface"], folder))
    plain, flags = found
    assert without_counts(flags) == without_counts(plain)
    assert exchanges_in(plain) == {6 * STEPS}
    assert exchanges_in(flags) == {6 + 3 * (STEPS - 1)}


def layer_in(folder: Path) -> str:
    """Return the generated layer of the example."""
    return (folder / "shallow_water_psy.f90").read_text(encoding="utf-8")


def exchanges_in(printed: str) -> set[int]:
    """Return the numbers of exchanges on the ranks."""
    return {int(one) for one in re.findall(r"moved: (\d+) exchanges", printed)}


def without_counts(printed: str) -> list[str]:
    """Return the lines that are not about what was moved, in the order of the alphabet."""
    return sorted(line for line in printed.splitlines() if not line.startswith("moved:"))
