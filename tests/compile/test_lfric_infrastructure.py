"""The Fortran interfaces of the LFRic infrastructure: what they accept, refuse and compute.

The programs are files beside this one: those in `well_typed` compile without a warning, those in
`ill_typed` fail with the message that their first line names, those in `run` are run and check
themselves, those in `stops` stop with the message that their first line names.
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

# Modules whose text must differ in names and kinds only, with what turns the first into the second.
TWINS = (
    ("field/field_real64_mod.f90", "field/field_real32_mod.f90", {"64": "32"}),
    ("operator/operator_real64_mod.f90", "operator/operator_real32_mod.f90", {"64": "32"}),
    ("scalar/scalar_real64_mod.f90", "scalar/scalar_real32_mod.f90", {"64": "32"}),
    (
        "field/field_real64_mod.f90",
        "field/integer_field_mod.f90",
        {
            "field_real64_": "integer_field_",
            "real(real64)": "integer(i_def)",
            "0.0_real64": "0_i_def",
            "es24.16e3": "i0",
            "64-bit reals": "integers",
            "  use, intrinsic :: iso_fortran_env, only: real64\n": "",
        },
    ),
    (
        "scalar/scalar_real64_mod.f90",
        "scalar/integer_scalar_mod.f90",
        {
            "scalar_real64_": "integer_scalar_",
            "real(real64)": "integer(i_def)",
            "64-bit reals": "integers",
            "  use, intrinsic :: iso_fortran_env, only: real64\n": (
                "  use constants_mod, only: i_def\n"
            ),
        },
    ),
    (
        "field/field_vector_mod.f90",
        "field/r_solver_field_vector_mod.f90",
        {
            "kind r_def.": "kind r_solver.",
            "field_vector_": "r_solver_field_vector_",
            "type(field_": "type(r_solver_field_",
            "i_def, r_def\n  use field_mod, only: field_proxy_type, field_type\n": (
                "i_def, r_def, r_solver\n"
            ),
            "  use vector_mod": (
                "  use r_solver_field_mod, only: r_solver_field_proxy_type, r_solver_field_type\n"
                "  use vector_mod"
            ),
            "real(p, r_def)": "real(p, r_solver)",
            "real(q, r_def)": "real(q, r_solver)",
            "real(scalar, r_def)": "real(scalar, r_solver)",
        },
    ),
)


# Folders of modules that stand in for those that files.txt lists.
ALTERNATIVES = ("precision/uniform/", "distribution/mpi/")


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
    assert set(listed) == {name for name in present if not name.startswith(ALTERNATIVES)}


def test_every_module_is_listed_after_those_that_it_uses() -> None:
    known: set[str] = set()
    for name in (INFRASTRUCTURE / "files.txt").read_text(encoding="utf-8").split():
        text = (INFRASTRUCTURE / name).read_text(encoding="utf-8").lower()
        used = set(re.findall(r"^ *use +(\w+)", text, re.MULTILINE))
        assert used <= known, name
        known |= set(re.findall(r"^module +(\w+)$", text, re.MULTILINE))


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.stem)
def test_a_source_file_keeps_the_rules_of_the_house(source: Path) -> None:
    lines = source.read_text(encoding="utf-8").splitlines()
    assert lines[0].startswith("!> Owns ")
    assert len(lines) <= 600
    assert max(map(len, lines)) <= 100
    modules = sum(bool(re.match(r"module \w+$", line)) for line in lines)
    assert lines.count("  implicit none") == lines.count("  private") == modules == 1


@pytest.mark.parametrize(("first", "second", "renaming"), TWINS)
def test_modules_of_different_kinds_keep_one_text(
    first: str, second: str, renaming: dict[str, str]
) -> None:
    text = (INFRASTRUCTURE / first).read_text(encoding="utf-8")
    for old, new in renaming.items():
        text = text.replace(old, new)
    assert text == (INFRASTRUCTURE / second).read_text(encoding="utf-8")


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
