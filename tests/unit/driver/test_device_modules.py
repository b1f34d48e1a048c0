"""What keeps procedures of modules off a device, and what is written of the others."""

from __future__ import annotations

from pathlib import Path

import pytest

from psyclone_storage.base.source import SourceText
from psyclone_storage.driver.device_modules import DeviceModules
from psyclone_storage.frontend.finder import ModuleFinder
from psyclone_storage.frontend.fortran.body import read_code
from psyclone_storage.frontend.fortran.resolve import resolve_code
from psyclone_storage.frontend.search import index_directories

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
