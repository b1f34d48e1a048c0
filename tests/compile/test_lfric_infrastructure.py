"""The Fortran interfaces of the LFRic infrastructure: accepted code, rejected code and results.

The programs are in folders next to this file. Those in `well_typed` compile without a warning.
Those in `ill_typed` fail with the message in their first line. Those in `run` are executed and
check themselves. Those in `stops` stop with the message in their first line.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from compile.visits import SMALL_PLANE
from fortran import Compiler
from libraries import LFRIC, STRICT, Library

PROGRAMS = Path(__file__).parent / "lfric_infrastructure"
INFRASTRUCTURE = LFRIC.sources
SOURCES = sorted(INFRASTRUCTURE.glob("**/*.f90"))

# Folders of modules that stand in for those that files.txt lists.
ALTERNATIVES = ("precision/uniform/", "distribution/mpi/")
# Folders of modules that are listed in the last alone: for those who call it from C.
LISTS = ("files.txt", "c_interface/files.txt")
FOR_C = ("distribution/caller/", "c_interface/")


def programs(kind: str) -> list[Path]:
    """Return the programs of one kind, as test parameters."""
    return sorted((PROGRAMS / kind).glob("*.f90"))


@pytest.fixture(scope="session")
def mixed(f90: tuple[str, ...], built: Callable[[Library], Path]) -> Compiler:
    """Return a compiler that sees the infrastructure with its own precisions."""
    return Compiler(f90, built(LFRIC))


@pytest.mark.fortran
@pytest.mark.parametrize("source", programs("well_typed"), ids=lambda source: source.stem)
def test_a_well_typed_program_compiles_without_a_warning(
    compiler: Compiler, tmp_path: Path, source: Path
) -> None:
    assert not compiler.complaints(source, tmp_path, *STRICT)


@pytest.mark.fortran
@pytest.mark.parametrize("source", programs("ill_typed"), ids=lambda source: source.stem)
def test_an_ill_typed_program_is_refused_for_its_mistake(
    mixed: Compiler, tmp_path: Path, source: Path
) -> None:
    first_line = source.read_text(encoding="utf-8").splitlines()[0]
    expected = first_line.removeprefix("! expect: ")
    assert expected != first_line
    assert expected in mixed.complaints(source, tmp_path, *STRICT)


@pytest.mark.fortran
@pytest.mark.parametrize(
    "source",
    [path for path in programs("run") if path != SMALL_PLANE],
    ids=lambda source: source.stem,
)
def test_a_program_computes_what_it_checks(
    compiler: Compiler, tmp_path: Path, source: Path
) -> None:
    program = compiler.linked([SMALL_PLANE, source], tmp_path)
    done = subprocess.run([program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.fortran
@pytest.mark.parametrize("source", programs("stops"), ids=lambda source: source.stem)
def test_a_program_that_cannot_go_on_says_why(
    mixed: Compiler, tmp_path: Path, source: Path
) -> None:
    program = mixed.linked([source], tmp_path)
    done = subprocess.run([program], capture_output=True, text=True, check=False)
    expected = source.read_text(encoding="utf-8").splitlines()[0].removeprefix("! stops: ")
    assert done.returncode == 1
    assert expected in done.stderr.splitlines()


def test_every_source_file_is_in_the_list() -> None:
    listed = (INFRASTRUCTURE / "files.txt").read_text(encoding="utf-8").split()
    assert len(listed) == len(set(listed))
    present = {path.relative_to(INFRASTRUCTURE).as_posix() for path in SOURCES}
    own = {name for name in listed if not name.startswith("../")}
    checks = [
        *INFRASTRUCTURE.parent.glob("halo_check/*.f90"),
        *INFRASTRUCTURE.parent.glob("halo_check/lfric/*.f90"),
    ]
    shared = {path.relative_to(INFRASTRUCTURE.parent).as_posix() for path in checks}
    assert shared == {name[3:] for name in listed if name.startswith("../halo_check/")}
    assert own == {name for name in present if not name.startswith((*ALTERNATIVES, *FOR_C))}


def test_what_is_called_from_c_is_in_its_list() -> None:
    """With what it needs of the infrastructure, in the same order."""
    listed = (INFRASTRUCTURE / "c_interface/files.txt").read_text(encoding="utf-8").split()
    present = {path.relative_to(INFRASTRUCTURE).as_posix() for path in SOURCES}
    assert {one for one in present if one.startswith(FOR_C)} == {
        one for one in listed if one.startswith(FOR_C)
    }
    shared = [one for one in listed if not one.startswith(FOR_C)]
    others = (INFRASTRUCTURE / "files.txt").read_text(encoding="utf-8").split()
    assert shared == [one for one in others if one in shared]


def test_the_storage_library_is_listed_as_it_lists_itself() -> None:
    """All but what is for C, and what LFRic's own modules are needed for."""
    listed = (INFRASTRUCTURE / "files.txt").read_text(encoding="utf-8").split()
    storage = (INFRASTRUCTURE.parent / "storage" / "files.txt").read_text(encoding="utf-8").split()
    shared = [name[len("../storage/") :] for name in listed if name.startswith("../storage/")]
    found = [name for name in shared if not name.startswith("lfric/")]
    assert found == [name for name in storage if name != "field_storage_c_mod.f90"]


@pytest.mark.parametrize("listed", LISTS)
def test_every_module_is_listed_after_those_that_it_uses(listed: str) -> None:
    known: set[str] = set()
    for name in (INFRASTRUCTURE / listed).read_text(encoding="utf-8").split():
        text = (INFRASTRUCTURE / name).read_text(encoding="utf-8").lower()
        used = set(re.findall(r"^ *use +(\w+)", text, re.MULTILINE))
        assert used <= known, name
        known |= set(re.findall(r"^module +(\w+)$", text, re.MULTILINE))


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.stem)
def test_a_source_file_keeps_the_rules_of_the_house(source: Path) -> None:
    lines = source.read_text(encoding="utf-8").splitlines()
    assert re.match(r"!> (?!Owns |What |Which |Who )[A-Z]", lines[0])
    assert len(lines) <= 600
    assert max(map(len, lines)) <= 100
    modules = sum(bool(re.match(r"module \w+$", line)) for line in lines)
    assert lines.count("  implicit none") == lines.count("  private") == modules == 1


def test_message_passing_looks_the_same_with_and_without_mpi() -> None:
    """What one module offers to callers, the other offers with the same dummy arguments."""
    declared = re.compile(
        r"^  (?:public :: .*|interface \w+|module procedure \w+|(?:subroutine|function) .*|"
        r"\w[^:!\n]*intent\(\w+\) :: .*)$",
        re.MULTILINE,
    )
    folder = INFRASTRUCTURE / "distribution"
    texts = [
        (folder / kind / "message_passing_mod.f90").read_text(encoding="utf-8")
        for kind in ("serial", "mpi")
    ]
    serial, mpi = (set(declared.findall(text)) for text in texts)
    assert serial
    assert serial <= mpi
