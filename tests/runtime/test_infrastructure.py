"""The LFRic infrastructure on its own: programs that check themselves on 1, 2, 4 and 6 ranks.

The programs are those in `infrastructure/`. What they print as an answer is compared between rank
counts, bit for bit. One of them does what is refused.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from libraries import LFRIC_EMULATED, Library, archive_in
from pairwise import selected
from runtime.programs import FLAGS, command, compile_sources

PROGRAMS = Path(__file__).parent / "infrastructure"
SHARED = PROGRAMS / "checks_mod.f90"
REFUSING = "refusals"
ONE_STORAGE = "one_storage"
NAMES = sorted(path.stem for path in PROGRAMS.glob("*.f90"))
NAMES = [name for name in NAMES if name not in (SHARED.stem, REFUSING, ONE_STORAGE)]
RANKS = (1, 2, 4, 6)
MPIRUN = ("mpirun", "--oversubscribe", "--bind-to", "none", "-n")
ANSWER = re.compile(r"^answer (\S+) ([0-9A-F]+)$", re.MULTILINE)

NO_DEPTH = "halo_exchange_start: the field has no halo of this depth"
NOT_STARTED = "halo_exchange_finish: no exchange of this depth has been started"
UNDER_WAY = "halo_exchange_start: an exchange of the field has not been finished"
NOT_FINISHED = "joint exchange: the last one has not been finished"
NO_JOINT_DEPTH = "joint exchange: a field has no halo of this depth"
NO_FIELD = "field_collection_type: there is no such field"
ANOTHER_FIELD = "field_collection%get_field: the field of this name is of another type"
ANOTHER_VECTOR = "field_vector_type: the other vector is of another type"
NO_CELL = "local_mesh_type: a mesh needs a cell"
NO_ORDER = "function_space_type: an order is below 0"
NO_SPACE = "name_from_functionspace: unknown space"
COLUMNWISE = "columnwise_operator%initialise: "
# What `refusals` is told to do, and what the infrastructure says to it.
REFUSED = {
    "data in steps": "field%initialise: the data that it is to refer to are not contiguous",
    "a halo beyond that of the mesh": (
        "field%initialise: the halo of the field is deeper than that of its mesh"
    ),
    "output without a procedure": "write_field: no write behaviour is set",
    "input without a procedure": "read_field: no read behaviour is set",
    "a checkpoint without a procedure": "write_checkpoint: no behaviour is set",
    "a checkpoint read without a procedure": "read_checkpoint: no behaviour is set",
    "an exchange started twice": UNDER_WAY,
    "an exchange of depth 0": NO_DEPTH,
    "an exchange beyond the halo": NO_DEPTH,
    "an exchange that was not started": NOT_STARTED,
    "an exchange finished at another depth": NOT_STARTED,
    "reals started twice": NOT_FINISHED,
    "short reals started twice": NOT_FINISHED,
    "integers started twice": NOT_FINISHED,
    "a field of a joint exchange exchanged alone": UNDER_WAY,
    "a field under way exchanged with others": (
        "joint exchange: an exchange of a field has not been finished"
    ),
    "a joint exchange that was not started": "joint exchange: none has been started",
    "a joint exchange finished twice": "joint exchange: none has been started",
    "more depths than fields": "joint exchange: not one depth for each field",
    "a joint exchange of depth 0": NO_JOINT_DEPTH,
    "a joint exchange beyond the halo": NO_JOINT_DEPTH,
    "a broadcast of more than there is": (
        "lfric_mpi_type: there are fewer values than are to be broadcast"
    ),
    "no room for what all ranks have": (
        "lfric_mpi_type: the buffer has no room for the numbers of all ranks"
    ),
    "a name twice": "field_collection%add_field: the collection has a field of this name",
    "a reference to an array": "field_collection%add_reference_to_field: not a field",
    "what is no field": "field_collection_type: not a field",
    "removing what is not there": "field_collection%remove_field: no field of this name",
    "looking for what is not there": NO_FIELD,
    "a place that is not there": NO_FIELD,
    "reals that are integers": ANOTHER_FIELD,
    "short reals that are reals": ANOTHER_FIELD,
    "integers that are reals": ANOTHER_FIELD,
    "an array that is a field": (
        "field_collection%get_field: the field of this name is not an array"
    ),
    "walking over an array": "field_collection_iterator%next: the item is not a field",
    "adding a vector of another kind": ANOTHER_VECTOR,
    "copying a vector of another kind": ANOTHER_VECTOR,
    "the product with a vector of another kind": ANOTHER_VECTOR,
    "a mesh without a cell in x": NO_CELL,
    "a mesh without a cell in y": NO_CELL,
    "tiles without a cell": "mesh_type: a tile needs a cell in each direction",
    "more colours than bits": "colours_of_tiles: there are more colours than can be told apart",
    "an unknown mesh": "get_mesh_id: there is no mesh of this name",
    "meshes that are not nested": "get_cells_covered: the meshes are not nested",
    "a map that was not added": "get_mesh_map: no map to the target mesh has been added",
    "the least longitude in a plane": "minimum_lonlat: the domain is in x and y",
    "the greatest longitude in a plane": "maximum_lonlat: the domain is in x and y",
    "the least x on a sphere": "minimum_xy: the domain is in longitude and latitude",
    "the greatest x on a sphere": "maximum_xy: the domain is in longitude and latitude",
    "a cross of another shape": "stencil_2D_dofmap_type: unknown shape",
    "an order below 0": NO_ORDER,
    "an order below 0 in the vertical": NO_ORDER,
    "neither basis": "call_function: neither BASIS nor DIFF_BASIS",
    "a space below all": NO_SPACE,
    "a space above all": NO_SPACE,
    "the name of no space": "functionspace_from_name: unknown name",
    "a band without a direction": f"{COLUMNWISE}there is no such band",
    "a band without a width": f"{COLUMNWISE}there is no such band",
    "columns of two meshes": f"{COLUMNWISE}the spaces are on different meshes",
    "columns that share dofs": f"{COLUMNWISE}a space shares dofs between columns",
    "columns with several values": f"{COLUMNWISE}a space has more than one value at each dof",
    "a product that does not fit": (
        "columnwise_operator_product: the second does not map to where the first maps from"
    ),
    "a sum that does not fit": (
        "columnwise_operator_sum: the operators map between different spaces"
    ),
    "a sum of two directions": "columnwise_operator_sum: the bands run in different directions",
    "a rule of one point": "quadrature_rule_gauss_lobatto: the rule needs two points",
    "a clock that runs backwards": "model_clock_type: the last step precedes the first",
    "a clock that stands still": "model_clock_type: a step takes no time",
    "a singular matrix": "matrix_invert: the matrix is singular",
    "a dof without an owner": (
        "halo_routing_type: a rank asks for a dof that this rank does not own"
    ),
    "an error in the log": "1",
}
REFUSED_ON_TWO_RANKS = {
    "meshes that are cut elsewhere": "get_cells_covered: the meshes are not partitioned alike",
}

LENT = (
    'R201: "none, a field of [0-9]+ elements at 0x[0-9A-F]+" cannot get a storage: it lies in the '
    "memory of a field that has one. .*, override_data lends memory only to fields of one space"
)
# What would give a wrong answer beside a device, and what the storages say to it.
NOTICED = {
    "a part, unsaid": "R200: The host has written a part",
    "a value of both sides, unsaid": "R200: The host has written an array that is current on",
    "read while it is overwritten": 'R201: "none" cannot give read-write access',
    "freed while it is held": "R201: A field in use is freed",
    "lent elsewhere by a device": "R200: The storage of an array is requested, but only the",
    "lent to another space": LENT,
    "lent with another halo": LENT,
    "lent elsewhere behind the first": LENT.replace("none", "another"),
    "lent a longer part": (
        'R201: "longer, a field of ([0-9]+) elements at 0x[0-9A-F]+" cannot get a storage: it lies '
        "in the memory of a field of the same space and halo depth with [0-9]+ elements. "
    ),
    "lent and written by both": 'R201: "none" cannot give read access',
    "lent and freed while it is held": "R201: A field in use is freed",
}

pytestmark = [pytest.mark.fortran, pytest.mark.mpi]

Runner = Callable[[str, int], dict[str, str]]
Builder = Callable[[str], Path]


@pytest.fixture(scope="session")
def program(library: Path, tmp_path_factory: pytest.TempPathFactory) -> Builder:
    """Return what builds a program, once."""

    @cache
    def built(name: str) -> Path:
        return build(name, library, tmp_path_factory.mktemp(name))

    return built


def build(name: str, library: Path, folder: Path) -> Path:
    """Build a program in a folder and return its path."""
    compile_sources([SHARED, PROGRAMS / f"{name}.f90"], folder, (library,))
    objects = [f"{SHARED.stem}.o", f"{name}.o"]
    command(["mpif90", *FLAGS, *objects, archive_in(library), "-o", name], folder)
    return folder / name


@pytest.fixture(scope="session")
def answers(program: Builder) -> Runner:
    """Return what runs a program on a number of ranks, once, and gives its answers."""

    @cache
    def ran(name: str, ranks: int) -> dict[str, str]:
        path = program(name)
        return dict(ANSWER.findall(command([*MPIRUN, str(ranks), str(path)], path.parent)))

    return ran


@pytest.mark.parametrize("ranks", selected(RANKS, 2, 6))
@pytest.mark.parametrize("name", NAMES)
def test_a_program_checks_itself_and_answers_the_same(
    answers: Runner, name: str, ranks: int
) -> None:
    """A check that fails stops the program, which fails the test."""
    assert answers(name, ranks) == answers(name, 1)


@pytest.mark.parametrize("name", [name for name in NAMES if name.startswith("sphere")])
def test_three_ranks_have_two_panels_of_a_sphere_each(answers: Runner, name: str) -> None:
    assert answers(name, 3) == answers(name, 1)


@pytest.mark.parametrize("ranks", selected(RANKS, 1, 4))
def test_a_device_reads_the_maps_of_spaces_that_are_made_anew(
    built: Callable[[Library], Path], tmp_path: Path, ranks: int
) -> None:
    """Old copies would be read where maps lie where others of their size were, which is often."""
    path = build("anew", built(LFRIC_EMULATED), tmp_path)
    reused = command([*MPIRUN, str(ranks), str(path)], tmp_path).split()
    assert reused.count("reused") == ranks
    assert reused.count("T") >= ranks


@pytest.fixture(scope="module")
def one_storage(built: Callable[[Library], Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the program about fields and their storages, beside an emulated device."""
    return build(ONE_STORAGE, built(LFRIC_EMULATED), tmp_path_factory.mktemp(ONE_STORAGE))


@pytest.mark.parametrize("ranks", selected((1, 2, 4), 1, 4))
def test_a_field_has_one_storage_and_exchanges_move_what_is_exchanged(
    one_storage: Path, ranks: int
) -> None:
    command([*MPIRUN, str(ranks), str(one_storage)], one_storage.parent)


@pytest.mark.parametrize("what", NOTICED)
def test_what_nobody_says_of_a_field_is_noticed(one_storage: Path, what: str) -> None:
    words = [str(one_storage), what]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert re.match(f"storage error {NOTICED[what]}", done.stderr)


def test_exact_sums_are_answered(answers: Runner) -> None:
    assert set(answers("sums", 1)) == {"sum", "norm", "inner_product"}


def check_refusal(words: list[str], message: str) -> None:
    """Run a program that must stop with a message."""
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert f"ERROR STOP {message}" in done.stderr.splitlines()


@pytest.mark.parametrize("what", REFUSED)
def test_what_cannot_be_is_refused(program: Builder, what: str) -> None:
    check_refusal([str(program(REFUSING)), what], REFUSED[what])


@pytest.mark.parametrize("what", REFUSED_ON_TWO_RANKS)
def test_what_two_ranks_cannot_do_is_refused(program: Builder, what: str) -> None:
    words = [*MPIRUN, "2", str(program(REFUSING)), what, "with ranks"]
    check_refusal(words, REFUSED_ON_TWO_RANKS[what])
