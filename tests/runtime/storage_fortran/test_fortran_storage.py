"""The storage library in Fortran: what its programs compute, print and refuse, for every device.

The programs are files in `programs/`. Those that begin with `stops_at_` stop with the sentence that
their first line names; the others check themselves or print.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from libraries import linked_with, variants
from runtime.storage_fortran.builds import (
    DEVICES,
    FLAGS,
    HERE,
    LIBRARY,
    SECONDS_FOR_A_COMMAND,
    run,
)
from runtime.storage_fortran.conftest import Build

PROGRAMS = HERE / "programs"
STOPPING = sorted(PROGRAMS.glob("stops_at_*.f90"))
SOURCES = sorted(LIBRARY.glob("**/*.f90"))
REFERENCE = LIBRARY.parents[1] / "docs" / "reference" / "fortran-storage.md"
NOT_FOR_USERS = {"assignment", "is_usable", "has_room"}
DEVICE_FOLDERS = ("device/openacc/", "device/emulated/")
ELSEWHERE = (*DEVICE_FOLDERS, "lfric/")
NOTHING_MOVED = "0 transfers to the device (0 B), 0 to the host (0 B), 0 avoided"
Done = subprocess.CompletedProcess[str]
Perform = Callable[[Path, str], Done]

STATISTICS = """\
first: 1 transfers to the device (80 B), 1 to the host (80 B), 3 avoided
first: 1 exchanges, 3 messages (48 B)
second: 1 transfers to the device (40 B), 1 to the host (40 B), 2 avoided
second: 0 exchanges, 0 messages (0 B)
all: 2 transfers to the device (120 B), 2 to the host (120 B), 5 avoided
all: 1 exchanges, 3 messages (48 B)
first: 0 transfers to the device (0 B), 0 to the host (0 B), 0 avoided
first: 0 exchanges, 0 messages (0 B)
2
all: 0 transfers to the device (0 B), 0 to the host (0 B), 0 avoided
all: 0 exchanges, 0 messages (0 B)
"""

EXAMPLE = """\
total heat: 100.000000
even: 1 transfers to the device (8016 B), 1 to the host (8016 B), 29 avoided
even: 10 exchanges, 20 messages (160 B)
all fields: 2 transfers to the device (16032 B), 1 to the host (8016 B), 58 avoided
all fields: 20 exchanges, 40 messages (320 B)
"""
EXAMPLE_IN_ONE_MEMORY = re.sub(r"\d+ transfers to the device.*", NOTHING_MOVED, EXAMPLE)


@pytest.fixture
def perform(f90: tuple[str, ...], build: Build, tmp_path: Path) -> Perform:
    """Return what compiles a program with the library for a kind of device, and runs it."""

    def performed(source: Path, kind: str) -> Done:
        library = build(kind).parent
        sources = [PROGRAMS / "checks_mod.f90", source]
        flags = [*FLAGS, "-fopenmp", *(["-fopenacc"] if kind == "openacc" else [])]
        program = tmp_path / "program"
        command = [*f90, *flags, f"-J{tmp_path}", *map(str, sources)]
        assert not run([*command, *linked_with(library), "-o", str(program)])
        return subprocess.run(
            [program], capture_output=True, text=True, check=False, timeout=SECONDS_FOR_A_COMMAND
        )

    return performed


@pytest.mark.fortran
@pytest.mark.parametrize("kind", DEVICES)
@pytest.mark.parametrize("name", ["windows", "halos", "parts", "get", "threads", "devices"])
def test_a_program_finds_what_it_checks(perform: Perform, name: str, kind: str) -> None:
    done = perform(PROGRAMS / f"{name}.f90", kind)
    assert (done.stdout, done.stderr, done.returncode) == ("", "", 0)


@pytest.mark.fortran
@pytest.mark.parametrize("name", ["poison", "exhausted", "refused"])
def test_a_program_for_an_emulated_device_finds_what_it_checks(perform: Perform, name: str) -> None:
    done = perform(PROGRAMS / f"{name}.f90", "emulated")
    assert (done.stdout, done.stderr, done.returncode) == ("", "", 0)


@pytest.mark.fortran
@pytest.mark.parametrize("kind", ["emulated", "openacc"])
def test_statistics_are_printed_for_one_and_for_all(perform: Perform, kind: str) -> None:
    done = perform(PROGRAMS / "statistics.f90", kind)
    assert (done.stdout, done.stderr, done.returncode) == (STATISTICS, "", 0)


@pytest.mark.fortran
@pytest.mark.parametrize("source", STOPPING, ids=lambda source: source.stem)
def test_an_error_that_nobody_asks_for_stops_the_program(perform: Perform, source: Path) -> None:
    expected = source.read_text(encoding="utf-8").splitlines()[0].removeprefix("! expect: ")
    done = perform(source, "emulated")
    assert done.returncode == 1
    assert done.stderr.splitlines()[0] == expected


@pytest.mark.fortran
@pytest.mark.parametrize("kind", DEVICES)
def test_the_example_computes_the_same_on_every_device(build: Build, kind: str) -> None:
    printed = run([str(build(kind).with_name("example"))])
    assert printed == (EXAMPLE_IN_ONE_MEMORY if kind == "none" else EXAMPLE)


def test_every_source_file_is_in_the_list_but_what_is_compiled_with_lfric() -> None:
    listed = (LIBRARY / "files.txt").read_text(encoding="utf-8").split()
    present = {path.relative_to(LIBRARY).as_posix() for path in SOURCES} - {"example.f90"}
    assert set(listed) == {name for name in present if not name.startswith(ELSEWHERE)}
    assert len(listed) == len(set(listed))


def test_every_module_is_listed_after_those_that_it_uses() -> None:
    known: set[str] = set()
    for name in (LIBRARY / "files.txt").read_text(encoding="utf-8").split():
        text = (LIBRARY / name).read_text(encoding="utf-8")
        used = set(re.findall(r"^ *use (\w+)", text, re.MULTILINE))
        assert used <= known, name
        known |= set(re.findall(r"^module (\w+)$", text, re.MULTILINE))


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.parent.name + "/" + path.stem)
def test_a_source_file_keeps_the_rules_of_the_house(source: Path) -> None:
    lines = source.read_text(encoding="utf-8").splitlines()
    assert re.match(r"!> (?!Owns |What |Which |Who )[A-Z]", lines[0])
    assert len(lines) <= 600 or source in variants()
    assert max(map(len, lines)) <= 100
    modules = sum(bool(re.match(r"module \w+$", line)) for line in lines)
    assert modules == 1
    assert lines.count("  private") + lines.count("  public") == modules
    programs = sum(line.startswith("program ") for line in lines)
    assert lines.count("  implicit none") == modules + programs


def test_all_devices_look_the_same() -> None:
    """What the module of one device offers, the others offer with the same dummy arguments."""
    declared = re.compile(
        r"^  (?:(?:pure )?(?:subroutine|function) .*|  \w[^:!\n]*intent\(\w+\) :: .*)$",
        re.MULTILINE,
    )
    texts = [
        (LIBRARY / "device" / kind / "storage_device_mod.f90").read_text(encoding="utf-8")
        for kind in DEVICES
    ]
    offered = [
        declared.findall(text.partition("contains\n")[2].partition("! -- for this device alone")[0])
        for text in texts
    ]
    assert offered[0]
    assert offered[0] == offered[1] == offered[2]


def test_the_reference_page_names_everything_that_is_public() -> None:
    page = REFERENCE.read_text(encoding="utf-8")
    text = "".join(path.read_text(encoding="utf-8") for path in SOURCES)
    of_types = [
        text.partition(f"type, public{name}\n")[2].partition("end type")[0]
        for name in (
            " :: coherent_storage_type",
            ", extends(coherent_storage_type) :: halo_storage_type",
            ", extends(halo_storage_type) :: field_storage_type",
        )
    ]
    assert all(of_types)
    public = re.findall(r"procedure, public :: (\w+)", "".join(of_types))
    generic = re.findall(r"generic, public :: (\w+)", "".join(of_types))
    for_c = re.findall(r"bind\(c, name='(field_storage_\w+)'\)", text)
    words = re.findall(r":: ((?:space|access|element|error)_.*)$", text, re.MULTILINE)
    codes = re.findall(r"(error_\w+) = (\d+)", text)
    named = {*public, *generic, *for_c, *re.findall(r"\w+_\w+(?= = \d)", " ".join(words))}
    assert len(named) > 60
    assert not [name for name in sorted(named - NOT_FOR_USERS) if f"`{name}`" not in page]
    assert not [code for code in codes if f"| {code[1]} | `{code[0]}` |" not in page]
