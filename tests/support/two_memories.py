"""Runs Fortran with data directives as if the device had a memory of its own.

Each array that is entered has a second buffer, filled with NaN at first. At the begin and at the
end of a region all arrays swap their contents with their buffers, so that the region uses what is
on the device. Updates copy between the two, and are counted.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

from command import run_command
from fortran import run

MEMORY = """\
module two_memories
  use, intrinsic :: iso_c_binding, only : c_int8_t, c_intptr_t, c_ptr, c_f_pointer
  implicit none
  type :: copy
    integer(c_intptr_t) :: first = 0, bytes = 0
    integer :: times = 0
    integer(c_int8_t), allocatable :: values(:)
  end type copy
  type(copy) :: copies(200)
  integer :: moved(2) = 0
contains
  function bytes_at(first, bytes) result(values)
    integer(c_intptr_t), intent(in) :: first, bytes
    integer(c_int8_t), pointer :: values(:)
    type(c_ptr) :: place
    place = transfer(first, place)
    call c_f_pointer(place, values, [bytes])
  end function bytes_at
  function found(first, bytes) result(at)
    integer(c_intptr_t), intent(in) :: first, bytes
    integer :: at
    do at = 1, size(copies)
      if (copies(at)%bytes == 0) cycle
      if (first >= copies(at)%first .and. &
          first + bytes <= copies(at)%first + copies(at)%bytes) return
    end do
    error stop 'an array is not on the device'
  end function found
  subroutine device_create(first, bytes)
    integer(c_intptr_t), intent(in) :: first, bytes
    integer :: at
    if (first == 0) return
    if (is_present(first, bytes)) then
      at = found(first, bytes)
      copies(at)%times = copies(at)%times + 1
      return
    end if
    do at = 1, size(copies)
      if (copies(at)%bytes == 0) exit
    end do
    copies(at)%times = 1
    copies(at)%first = first
    copies(at)%bytes = bytes
    allocate(copies(at)%values(bytes))
    copies(at)%values = -1
  end subroutine device_create
  subroutine device_delete(first, bytes, finalize)
    integer(c_intptr_t), intent(in) :: first, bytes
    logical, intent(in) :: finalize
    integer :: at
    if (first == 0) return
    if (.not. is_present(first, bytes)) return
    at = found(first, bytes)
    copies(at)%times = copies(at)%times - 1
    if (copies(at)%times > 0 .and. .not. finalize) return
    copies(at)%bytes = 0
    deallocate(copies(at)%values)
  end subroutine device_delete
  function is_present(first, bytes)
    integer(c_intptr_t), intent(in) :: first, bytes
    logical :: is_present
    is_present = any(copies%bytes > 0 .and. first >= copies%first .and. &
                     first + bytes <= copies%first + copies%bytes)
  end function is_present
  subroutine device_update(first, bytes, to, if_present)
    integer(c_intptr_t), intent(in) :: first, bytes
    integer, intent(in) :: to
    logical, intent(in) :: if_present
    integer(c_int8_t), pointer :: values(:)
    integer :: at
    integer(c_intptr_t) :: shift
    if (if_present .and. .not. is_present(first, bytes)) return
    at = found(first, bytes)
    values => bytes_at(first, bytes)
    shift = first - copies(at)%first
    if (to == 1) copies(at)%values(shift + 1:shift + bytes) = values
    if (to == 2) values = copies(at)%values(shift + 1:shift + bytes)
    moved(to) = moved(to) + 1
  end subroutine device_update
  subroutine device_swap()
    integer(c_int8_t), pointer :: values(:)
    integer(c_int8_t), allocatable :: former(:)
    integer :: at
    do at = 1, size(copies)
      if (copies(at)%bytes == 0) cycle
      values => bytes_at(copies(at)%first, copies(at)%bytes)
      former = values
      values = copies(at)%values
      copies(at)%values = former
    end do
  end subroutine device_swap
  subroutine device_report()
    print '(a,2i6)', 'moved', moved
  end subroutine device_report
end module two_memories
"""

_FAMILY = re.compile(r"^ *!\$(acc|omp)\b(.*)$", re.IGNORECASE)
_BEGIN = re.compile(r"(?:parallel|kernels|serial|target)\b(?! *(?:enter|exit|update))")
_UNIT = re.compile(
    r"^ *(?:(?:pure|elemental|recursive|(?:integer|real|logical)(?: *\([^)]*\))?) +)*"
    r"(?:program|subroutine|function) +\w+",
    re.IGNORECASE,
)
_DATA = (
    (re.compile(r"enter data create\((?P<names>[^)]*)\)"), "device_create", ""),
    (re.compile(r"exit data delete\((?P<names>[^)]*)\)"), "device_delete", ""),
    (re.compile(r"update device\((?P<names>[^)]*)\)"), "device_update", ", 1"),
    (re.compile(r"update host\((?P<names>[^)]*)\)"), "device_update", ", 2"),
    (re.compile(r"target enter data map\(alloc: (?P<names>[^)]*)\)"), "device_create", ""),
    (re.compile(r"target exit data map\(delete: (?P<names>[^)]*)\)"), "device_delete", ""),
    (re.compile(r"target update to\((?P<names>[^)]*)\)"), "device_update", ", 1"),
    (re.compile(r"target update from\((?P<names>[^)]*)\)"), "device_update", ", 2"),
)


def joined(text: str) -> list[str]:
    """Return the lines of a text, each directive in one."""
    found: list[str] = []
    for line in text.split("\n"):
        if found and _FAMILY.match(found[-1]) and found[-1].rstrip().endswith("&"):
            more = re.sub(r"^ *!\$(?:acc|omp)", "", line, flags=re.IGNORECASE)
            found[-1] = f"{found[-1].rstrip()[:-1]} {more}"
        else:
            found.append(line)
    return found


def with_two_memories(text: str) -> str:
    """Return a program whose directives call procedures of `two_memories`.

    Raises:
        ValueError: a region has no `end` directive.
    """
    lines: list[str] = []
    is_open = is_head = False
    for line in joined(text):
        directive = _FAMILY.match(line)
        if directive is None:
            lines.append(line)
            is_head = is_head or bool(_UNIT.match(line))
            if is_head and not line.rstrip().endswith("&"):
                lines.append("use two_memories")
                is_head = False
        else:
            words = " ".join(directive[2].split()).lower()
            lines += _calls(words)
            if _BEGIN.match(words.removeprefix("end ")):
                if is_open is not words.startswith("end "):
                    raise ValueError(f"'{words}' follows a region without an end.")
                is_open = not is_open
    return "\n".join(lines)


def _calls(words: str) -> Iterator[str]:
    for pattern, procedure, more in _DATA:
        if found := pattern.match(words):
            for name in found["names"].replace(" ", "").split(","):
                size = f"storage_size({name}) / 8_8 * size({name}, kind=8)"
                may = words.endswith(("if_present", "finalize")) or words.startswith("target")
                last = f"{more}, {'.true.' if may else '.false.'}"
                if procedure == "device_create":
                    last = ""
                yield f"call {procedure}(int(loc({name}), 8), {size}{last})"
            return
    if _BEGIN.match(words.removeprefix("end ")):
        yield "call device_swap()"


def output_of(text: str, folder: Path, memory: Path, f90: str) -> str:
    """Compile and run a program, whose directives move data between two memories."""
    return output_of_files({"main.f90": text}, folder, memory, f90)


def output_of_files(files: Mapping[str, str], folder: Path, memory: Path, f90: str) -> str:
    """Compile and run a program of several files, in the order of compilation."""
    folder.mkdir()
    paths = []
    for name, text in files.items():
        own = with_two_memories(text).replace(
            "\nend program", "\ncall device_report()\nend program"
        )
        (folder / name).write_text(own, "utf-8")
        paths.append(str(folder / name))
    command = [f90, "-O1", "-fcheck=bounds", "-ffree-line-length-none", "-I", str(memory)]
    run([*command, "-J", str(folder), "-o", str(folder / "main"), *paths, str(memory / "memory.o")])
    done = subprocess.run([str(folder / "main")], capture_output=True, text=True, check=False)
    return done.stdout if done.returncode == 0 else done.stderr


def without_directives(text: str) -> str:
    """Return a program that computes on the host."""
    return re.sub(r"^ *!\$(acc|omp).*$", "", text, flags=re.MULTILINE)


def planned(text: str, root: str, folder: Path, *words: str) -> str:
    """Return a program with the planned transfers of a call tree."""
    folder.mkdir()
    (folder / "main.f90").write_text(text, "utf-8")
    done = run_command(["--device-data", root, *words, "main.f90", "-o", "new.f90"], folder)
    assert done.status == 0, done.err
    return (folder / "new.f90").read_text("utf-8")
