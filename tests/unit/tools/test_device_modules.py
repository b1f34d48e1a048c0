"""What keeps procedures of modules off a device, and what is written of the others."""

from __future__ import annotations

from pathlib import Path

import pytest

from psyclone_storage.base.source import SourceText
from psyclone_storage.languages.fortran.parse.body import read_code
from psyclone_storage.languages.fortran.parse.resolve import resolve_code
from psyclone_storage.languages.sources.kernel_search import index_directories
from psyclone_storage.languages.sources.module_finder import ModuleFinder
from psyclone_storage.tools.device_modules import DeviceModules

KERNEL = """module k_mod
use called_mod, only: called
contains
subroutine k_code(a)
  real, intent(inout) :: a
  {line}
end subroutine
end module
"""
CALLED = """module called_mod
  {use}
  implicit none
  {own}
contains
  subroutine called(x)
    real, intent(inout) :: x
    {local}
    {line}
  end subroutine
  subroutine other(x)
    real, intent(inout) :: x
    {inner}
  end subroutine
end module
"""


def judged(
    folder: Path, called: dict[str, str], line: str = "call called(a)", **more: str
) -> tuple[list[str], dict[str, str]]:
    """Return the reasons against a kernel, and the modules that are written for it."""
    empty = dict.fromkeys(("use", "own", "local", "line", "inner"), "")
    (folder / "called_mod.F90").write_text(CALLED.format(**{**empty, **called}))
    for name, text in more.items():
        (folder / f"{name}.f90").write_text(text)
    modules = DeviceModules(ModuleFinder(index_directories((folder,))))
    source = SourceText("k_mod.f90", KERNEL.format(line=line))
    code = resolve_code(read_code(source, "k_code"), modules.finder)
    _, found = modules.judge(code, variables=True)
    texts = {path.stem: text for path, text in modules.texts(found.needs)}
    return [reason.message for reason in found.reasons], texts


STATE = {"own": "real, private :: s", "line": "x = s"}
REFUSED = {
    "calls itself": ({"line": "if (x > 1) call called(x)"}, "calls itself"),
    "calls in a circle": ({"line": "call other(x)", "inner": "call called(x)"}, "calls itself"),
    "writes": ({"line": "call other(x)", "inner": "write (*, *) x"}, "may leave the device"),
    "saves": ({"local": "real, save :: n = 0", "line": "n = n + x"}, "saves 'n'"),
    "included": ({"line": '\n#include "more.h"'}, "is not read"),
    "preprocessed": ({"local": "\n#ifdef A\nreal :: b\n#endif\n"}, "depend on the preprocessor"),
    "unknown": ({"use": "use far_mod, only: far", "line": "call far(x)"}, "takes from 'far_mod'"),
    "changed": ({"own": "real, private :: s", "line": "s = x"}, "may change 's'"),
    "passed on": ({"own": "real, private :: s", "line": "call other(s)"}, "may change 's'"),
    "public": ({"own": "real :: s", "line": "x = s"}, "may be changed by other modules"),
    "pointer": ({"own": "real, private, pointer :: s", "line": "x = s"}, "declared as 'pointer'"),
    "said later": (
        {"own": "real, private :: s, t\n equivalence (s, t)", "line": "x = s"},
        "More may be said",
    ),
    "of threads": (
        {"own": "real, private :: s\n  !$omp threadprivate(s)", "line": "x = s"},
        "More may be said",
    ),
    "included beside": ({**STATE, "inner": "\n    include 'set.inc'"}, "'include 'set.inc'' may"),
    "included behind": (
        {**STATE, "inner": "end subroutine\n  include 'more.inc'\nsubroutine last(x)\n real :: x"},
        "More may be said",
    ),
    "by other compilers": ({**STATE, "inner": "\n    !$ s = 1"}, "'!$ s = 1' may change 's'"),
    "by threads": (
        {
            **STATE,
            "inner": "\n    !$omp parallel do &\n    !$omp reduction(+:s)\n    do i = 1, 3\n"
            "      s = s + 1\n    end do",
        },
        "reduction(+:s)' may change 's'",
    ),
    "between directives": (
        {**STATE, "inner": "\n    !$omp single\n    s = 1\n    !$omp end single"},
        "in a procedure with directives",
    ),
    "by a macro": ({**STATE, "inner": "\n#define SET s = 1\n    SET"}, "may change 's'"),
    "before a jump": (
        {**STATE, "inner": "read (5, *, end=9) s\n    9 continue"},
        "may go on at a label",
    ),
    "before a label": ({**STATE, "inner": "call far(s, *9)\n    9 continue"}, "go on at a label"),
    "before a return": ({**STATE, "inner": "if (far(s) > 1) return"}, "a condition may change it"),
    "named anew": (
        {**STATE, "inner": "block\n      real :: s\n      s = 1\n    end block\n    s = 2"},
        "has the name for something of its own",
    ),
    "named for another": (
        {**STATE, "inner": "associate (s => x)\n      s = 1\n    end associate\n    s = 2"},
        "has the name for something of its own",
    ),
    "bounds by name": (
        {"own": "integer, parameter :: one = 1, t(one:2) = [1, 2]", "line": "x = t(1)"},
        "A lower bound of 't'",
    ),
    "no numbers": (
        {"own": "character, parameter :: t(2) = ['a', 'b']", "line": "if (t(1) == 'a') x = 1"},
        "not of numbers",
    ),
    "text": ({"own": "character, private :: s", "line": "if (s > 'a') x = 1"}, "no number"),
}


@pytest.mark.parametrize("name", sorted(REFUSED))
def test_what_keeps_a_called_procedure_off_a_device(name: str, tmp_path: Path) -> None:
    called, message = REFUSED[name]
    reasons, _ = judged(tmp_path, called)
    assert any(message in reason for reason in reasons), reasons
    assert "'k_code' calls 'called', which stays on the host." in reasons


def test_directives_are_all_that_is_new(tmp_path: Path) -> None:
    called = {
        "own": "real, private :: s = 1, t",
        "line": "x = s",
        "inner": "real :: t\n    if (x > 2) s = x ! so\n    t = s; s = t",
    }
    reasons, texts = judged(tmp_path, called)
    assert not reasons
    empty = dict.fromkeys(("use", "local"), "")
    before = CALLED.format(**{**empty, **called})
    after = texts["called_mod"]
    new = [line for line in after.splitlines() if "!$acc" in line]
    assert [line.strip() for line in new] == [
        "!$acc declare copyin(s)",
        "!$acc routine seq",
        "!$acc update device(s)",
        "!$acc update device(s)",
    ]
    kept = "\n".join(line for line in after.splitlines() if "!$acc" not in line)
    assert kept.replace(";", " ").split() == before.replace(";", " ").split()
    assert "if (x > 2) s = x ! so\n    !$acc update" in after


UPDATED = {
    "namelist": ("namelist /all/ s", "read (5, nml=all)", 1),
    "positional": ("namelist /all/ s", "read (5, all)", 1),
    "nothing read": ("namelist /all/ s", "write (6, nml=all)", 0),
    "read": ("", "read (5, *) t, s", 1),
    "read by index": ("", "read (5, *) (v(s), s = 1, 2)", 1),
    "status": ("", "read (5, *, iostat=s) t", 1),
    "unit": ("", "open (newunit=s, file='a')", 1),
    "inquired": ("", "inquire (file='a', number=s)", 1),
    "allocated": ("", "allocate (w(3), stat=s)", 1),
    "passed on": ("", "call far(s)", 1),
    "of the language": ("", "call system_clock(s)", 1),
    "counted": ("", "do s = 1, 3\n      call far(1)\n    end do", 2),
    "in a condition": ("", "if (far(s) > 1) then\n      call far(1)\n    end if", 2),
    "before a function": ("", "do i = 1, 3\n s = i\n t = far(1)\n    end do", 1),
    "in a plain condition": ("", "if (far(s) > 1) x = 1", 1),
    "told by name": ("", "associate (other_s => s)\n      other_s = 1\n    end associate", 1),
    "before it goes on": ("", "do concurrent (i = 1:2)\n if (i > 1) cycle\n s = 1\n end do", 1),
    "in itself": ("", "contains\n    subroutine deep\n      s = 1\n    end subroutine", 1),
    "a result": ("", "contains\n    real function f() result(s)\n      s = 1\n    end function", 0),
}
"""What a module states, and what a procedure does to `s`, with the number of directives."""


@pytest.mark.parametrize("name", sorted(UPDATED))
def test_whatever_may_change_a_variable_is_followed_by_a_directive(
    name: str, tmp_path: Path
) -> None:
    own, inner, count = UPDATED[name]
    called = {"own": f"integer, private :: s\n  {own}", "line": "x = s", "inner": inner}
    reasons, texts = judged(tmp_path, called)
    assert not reasons
    assert texts["called_mod"].count("!$acc update device(s)") == count, texts["called_mod"]


@pytest.mark.parametrize(
    ("inner", "last"),
    [
        ("do s = 1, 3\n      call far(1)\n    end do", "do s = 1, 3"),
        ("do i = 1, 3\n      s = i\n      t = far(1)\n    end do", "s = i"),
        ("do while (far(s) > 1)\n      call far(1)\n    end do", "do while (far(s) > 1)"),
    ],
)
def test_a_value_is_known_before_what_may_need_it(inner: str, last: str, tmp_path: Path) -> None:
    called = {"own": "integer, private :: s", "line": "x = s", "inner": inner}
    _, texts = judged(tmp_path, called)
    lines = [line.strip() for line in texts["called_mod"].splitlines()]
    assert lines[lines.index(last) + 1] == "!$acc update device(s)"


def test_directives_have_lines_that_compilers_take(tmp_path: Path) -> None:
    names = [f"{letter * 50}" for letter in "stuv"]
    own = "real, private :: &\n    " + ", &\n    ".join(names)
    inner = f"read (5, *) {names[0]}, &\n {names[1]}, &\n {names[2]}, {names[3]}"
    _, texts = judged(
        tmp_path, {"own": own, "line": "x = " + " &\n + ".join(names), "inner": inner}
    )
    lines = texts["called_mod"].splitlines()
    assert all(name in texts["called_mod"] for name in names)
    assert sum("!$acc update" in line for line in lines) == 1
    assert max(map(len, lines)) <= 132


def test_names_of_procedures_are_no_prefixes(tmp_path: Path) -> None:
    last = "end subroutine\n  subroutine pure(x)\n    real :: x\n    s = x"
    _, texts = judged(tmp_path, {**STATE, "inner": last})
    assert "!$acc update device(s)" in texts["called_mod"]


def test_own_functions_with_names_of_the_language_count(tmp_path: Path) -> None:
    scale = "integer function scale(n)\n    integer :: n\n    n = 2\n  end function"
    inner = f"x = scale(s)\n  end subroutine\n  {scale}\n  subroutine last"
    _, texts = judged(tmp_path, {**STATE, "inner": inner})
    assert "x = scale(s)\n    !$acc update device(s)" in texts["called_mod"]


def test_functions_with_names_of_the_language_are_imported_as_a_whole(tmp_path: Path) -> None:
    scale = "integer function scale(n)\ninteger :: n\nn = 2\nend function"
    far = f"module far_mod\ncontains\n{scale}\nend module"
    called = {**STATE, "use": "use far_mod", "inner": "x = scale(s)"}
    _, texts = judged(tmp_path, called, far_mod=far)
    assert "x = scale(s)\n    !$acc update device(s)" in texts["called_mod"]


def test_tables_are_in_the_order_of_their_procedures(tmp_path: Path) -> None:
    own = "integer, parameter :: " + ", ".join(f"t{n}(1) = [1]" for n in range(8))
    several = [f"subroutine p{n}(x)\n    real :: x\n    x = t{n}(1)" for n in range(8)]
    inner = "\n  end subroutine\n  ".join(["", *several])
    line = "\n    ".join(f"call p{n}(x)" for n in range(8))
    _, texts = judged(tmp_path, {"own": own, "line": line, "inner": inner})
    lines = [line for line in texts["called_mod"].splitlines() if "_of_module(*) =" in line]
    assert lines == sorted(lines)


def test_tables_keep_their_bounds_and_get_names_of_their_own(tmp_path: Path) -> None:
    long = "t" * 60
    own = (
        f"real, parameter :: a(0:2, -1:0, 2) = 1, {long}(*) = [1, 2], none(3:2) = [real ::]\n"
        f"  real, private :: a_of_module"
    )
    reasons, texts = judged(tmp_path, {"own": own, "line": f"x = a(0, 0, 1) + {long}(1) + none(3)"})
    assert not reasons
    after = texts["called_mod"]
    assert after.count("(0:*, -1:*, *) = a") == 2
    assert "a_of_module_1(0:*, -1:*, *) = a" in after
    assert "none(3:*) = none_of_module" in after
    assert f"{'t' * 53}_of_module(*) = &\n      {long}" in after


def test_what_is_on_a_device_already_is_left_alone(tmp_path: Path) -> None:
    called = {"own": "real :: s\n  !$acc declare create(s)", "local": "!$acc routine seq"}
    reasons, texts = judged(tmp_path, {**called, "line": "x = s"})
    assert (reasons, texts) == ([], {})


def test_of_a_generic_name_all_procedures_count(tmp_path: Path) -> None:
    own = "interface both\n    module procedure other, third\n  end interface"
    third = "end subroutine\n  subroutine third(n)\n    integer, intent(inout) :: n\n    print *, n"
    reasons, _ = judged(tmp_path, {"own": own, "line": "call both(x)", "inner": third})
    assert any("'third' may leave the device" in reason for reason in reasons)
    fine = third.replace("print *, n", "n = 1")
    reasons, texts = judged(tmp_path, {"own": own, "line": "call both(x)", "inner": fine})
    assert not reasons
    assert texts["called_mod"].count("!$acc routine seq") == 3


def test_constants_that_a_procedure_imports_itself_are_renamed(tmp_path: Path) -> None:
    tables = "module tables_mod\n  integer, parameter :: primes(3) = [2, 3, 5]\nend module\n"
    for use in ("use tables_mod, only: small => primes", "use tables_mod"):
        name = "small" if "small" in use else "primes"
        called = {"line": f"x = {name}(int(x))"}
        (tmp_path / "called_mod.F90").unlink(missing_ok=True)
        empty = dict.fromkeys(("use", "own", "local", "line", "inner"), "")
        text = CALLED.format(**{**empty, **called}).replace(
            "called(x)\n", f"called(x)\n    {use}\n", 1
        )
        (tmp_path / "tables_mod.f90").write_text(tables)
        (tmp_path / "called_mod.F90").write_text(text)
        modules = DeviceModules(ModuleFinder(index_directories((tmp_path,))))
        code = resolve_code(
            read_code(SourceText("k.f90", KERNEL.format(line="call called(a)")), "k_code"),
            modules.finder,
        )
        _, found = modules.judge(code, variables=True)
        assert not found.reasons
        ((_, after),) = modules.texts(found.needs)
        assert f"use tables_mod, only: {name}_of_module => primes" in after
        assert f"{name}(*) = {name}_of_module" in after
