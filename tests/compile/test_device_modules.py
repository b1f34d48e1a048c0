"""Modules for devices compute the same as the originals: both are compiled and run.

Directives are compiled by gfortran and run on the host, where host and device share memory.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from fortran import run, written
from psyclone_storage.config.load import load_settings
from psyclone_storage.config.locate import search_context
from psyclone_storage.config.settings import Api
from psyclone_storage.languages.fortran.print.kernel import kernel_names
from psyclone_storage.languages.sources.kernel_search import index_directories
from psyclone_storage.languages.sources.module_finder import ModuleFinder
from psyclone_storage.targets.apis import target_of
from psyclone_storage.tools.device_modules import DeviceModules, Needs
from psyclone_storage.tools.offload_check import KernelOnDevice, judge_kernels

pytestmark = pytest.mark.fortran

SOURCES = {
    "constants_mod": """module constants_mod
  integer, parameter :: r_def = kind(1.0d0), i_def = kind(1), r_single = kind(1.0)
end module
""",
    "words_mod": """module argument_mod
  integer, parameter :: gh_field = 1, gh_real = 2, gh_write = 3, w3 = 4, cell_column = 5
  type arg_type
    integer :: a, b, c, d
  end type
end module
module kernel_mod
  type kernel_type
  end type
end module
""",
    "deep_mod": """module deep_mod
  use constants_mod, only: r_def, r_single, wide => r_def
  implicit none
  private
  public :: scaled, weights, lookup
  real(wide), parameter :: weights(0:2) = [0.1_wide, 0.3_wide, 0.7_wide]
  integer, parameter :: own(-1:0, 2:2) = reshape([7, 11], [2, 1])
  integer, parameter :: own_of_module = 1, nothing(4:3) = [integer ::]
  integer, parameter :: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa(*) = [0]
  interface scaled
    module procedure scaled_double, scaled_single
  end interface
contains
  function scaled_double(x, at) result(field)
    real(r_def), intent(in) :: x
    integer, intent(in), optional :: at
    real(r_def) :: field
    field = x / 3
    if (present(at)) field = field * own(at - 2, 2)
  end function
  real(r_single) function scaled_single(x); real(r_single), intent(in) :: x
    scaled_single = real(scaled(real(x, r_def)), r_single)
  end function
  subroutine lookup(level, value)
    use constants_mod
    implicit none
    integer, intent(in) :: level
    real(r_def), intent(out) :: value
    value = weights(level - 1) + own(mod(level, 2) - 1, 2) &
      + size(nothing) &
      + aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa(own_of_module)
  end subroutine
end module
""",
    "state_mod": """module state_mod
  use constants_mod, only: r_def
  use deep_mod, only: field => scaled, weights
  implicit none
  private
  public :: set_state, turned, factor
  real(r_def), protected :: factor = 0.25_r_def
  real(r_def) :: turn(2, 2)
  logical, save :: to_turn = .false.
contains
  subroutine set_state(angle)
    real(r_def), intent(in) :: angle
    integer :: i
    namelist /state/ factor
    character(24) :: words
    words = "&state factor = 0.5 /"
    if (angle < 1) read (words, nml=state)
    associate (first => turn(1, 1))
      first = cos(angle)
      if (angle > 10) return
    end associate
    do i = 1, 2
      turn(i, 2) = sin(angle) * weights(i - 1)
      if (i == 2) cycle
      turn(2, 1) = -turn(1, 2); turn(2, 2) = turn(1, 1)
    end do
    select case (nint(angle))
    case (0)
      to_turn = .false.
      return
    case default
      to_turn = .true.
    end select
    if (to_turn) call change(factor)
  contains
    subroutine change(x)
      real(r_def), intent(inout) :: x
      x = x * 1.125_r_def
    end subroutine
  end subroutine
  pure function turned(x)
    real(r_def), intent(in) :: x(2)
    real(r_def) :: turned(2)
    integer :: k
    turned = x
    if (to_turn) turned = matmul(turn, x)
    do k = 1, 3
      turned = turned + weights(k - 1) * factor
    end do
  end function
end module
""",
}
KERNEL = """module {name}_mod
  use argument_mod
  use kernel_mod
  use constants_mod, only: r_def, i_def
  {use}
  implicit none
  type, extends(kernel_type) :: {name}_type
    type(arg_type) :: meta_args(1) = (/ arg_type(gh_field, gh_real, gh_write, w3) /)
    integer :: operates_on = cell_column
  contains
    procedure, nopass :: code => {name}_code
  end type
contains
  subroutine {name}_code(nlayers, scaled, ndf, undf, map)
    integer(i_def), intent(in) :: nlayers, ndf, undf, map(ndf)
    real(r_def), intent(inout) :: scaled(undf)
    real(r_def) :: pair(2), value
    integer :: k
    do k = 0, nlayers - 1
      {line}
    end do
  end subroutine
  {below}
end module
"""
KERNELS = {
    "first": {
        "use": "use state_mod, only: about => turned, factor; use deep_mod, only: shrunk => scaled",
        "line": "pair = about([shrunk(scaled(map(1) + k), at=2), factor])\n"
        "      scaled(map(1) + k) = pair(1) + shrunk(real(pair(2)))",
        "below": "",
    },
    "second": {
        "use": "use state_mod, only: turned; use deep_mod, only: lookup",
        "line": "call helper(k + 1, value)\n"
        "      scaled(map(1) + k) = sum(turned([value, twice(value)]))",
        "below": "subroutine helper(level, value)\n    integer, intent(in) :: level\n"
        "    real(r_def), intent(out) :: value\n    call lookup(level, value)\n  end subroutine\n"
        "  real(r_def) function twice(x)\n    real(r_def), intent(in) :: x\n    twice = x * 2\n"
        "  end function",
    },
}
MIRRORS = """real(r_def) :: factor_there = 0.25_r_def, turn_there(2, 2)
  logical :: to_turn_there = .false."""
MAIN = """program check
  use constants_mod, only: r_def
  use state_mod, only: set_state, factor
  use first{n}_mod, only: first{n}_code
  use second{n}_mod, only: second{n}_code
  real(r_def) :: a(3)
  integer :: i
  a = [1.0_r_def, -2.5_r_def, 1.0e9_r_def]
  do i = 0, 3
    call set_state(modulo(i + 1, 4) * 4.0_r_def)
    call first{n}_code(3, a, 1, 3, [1]{more})
    print "(3z20)", a
    call second{n}_code(3, a, 1, 3, [1])
    print "(3z20)", a
  end do
end program
"""


def judged(folder: Path) -> tuple[list[KernelOnDevice], DeviceModules]:
    modules = DeviceModules(ModuleFinder(index_directories((folder,))))
    settings = load_settings("", "", search_context({}))
    kernels = [
        kernel
        for name in KERNELS
        for kernel in judge_kernels(folder / f"{name}_mod.f90", None, Api.LFRIC, settings, modules)
    ]
    return kernels, modules


def printed(f90: tuple[str, ...], folder: Path, texts: dict[str, str], *flags: str) -> str:
    """Return what a program of the sources prints, compiled in their order."""
    folder.mkdir()
    program = folder / "check"
    words = (*flags, "-ffp-contract=off", f"-J{folder}")
    run([*f90, *words, *map(str, written(folder, texts)), "-o", str(program)])
    return run([str(program)])


def with_mirrors(text: str) -> str:
    """Return a module whose procedure for a device sees what directives give to the device."""

    def updated(found: re.Match[str]) -> str:
        names = [name.strip() for name in found[1].split(",")]
        return "; ".join(f"{name}_there = {name}" for name in names)

    text = re.sub(r"!\$acc update device\(([^()]*)\)", updated, text)
    text = re.sub(r"!\$acc declare copyin\([^()]*\)", MIRRORS, text)
    start, stop = text.index("pure function turned"), text.index("end function")
    inside = re.sub(r"\b(factor|turn|to_turn)\b", r"\1_there", text[start:stop])
    return f"{text[:start]}{inside}{text[stop:]}"


def test_kernels_with_modules_for_devices_have_the_same_bits(
    f90: tuple[str, ...], tmp_path: Path
) -> None:
    source = tmp_path / "source"
    source.mkdir()
    kernels = {f"{name}_mod": KERNEL.format(name=name, **parts) for name, parts in KERNELS.items()}
    for name, text in {**SOURCES, **kernels}.items():
        (source / f"{name}.f90").write_text(text)
    found, modules = judged(source)
    passed, plain = ("imports-to-arguments", "acc-routine"), ("acc-routine",)
    assert [(one.steps, one.reasons) for one in found] == [(passed, ()), (plain, ())]
    needs = found[0].needs.with_all(found[1].needs)
    assert needs.modules == ("deep_mod", "state_mod")
    assert needs.variables == {("state_mod", name) for name in ("factor", "to_turn", "turn")}
    texts = {path.stem: text for path, text in modules.texts(needs)}
    language = target_of(Api.LFRIC).language
    changed = {kernel_names(one.kernel).module: one.text(language) for one in found if one.kernel}
    assert changed["second_mod"].count("!$acc routine seq") == 3
    before = printed(
        f90, tmp_path / "before", {**SOURCES, **kernels, "main": MAIN.format(n="", more="")}
    )
    main = MAIN.format(n="_0", more=", factor")
    after = {**SOURCES, **texts, **changed, "main": main}
    assert printed(f90, tmp_path / "after", after, "-fopenacc") == before
    assert len(set(before.splitlines())) == 8

    after |= {"state_mod": with_mirrors(texts["state_mod"])}
    assert printed(f90, tmp_path / "mirrored", after) == before

    # Who has these modules needs no others.
    for name, text in texts.items():
        (source / f"{name}.f90").write_text(text)
    again, modules = judged(source)
    assert [(one.steps, one.needs) for one in again] == [(plain, Needs())] * 2
    assert not list(modules.texts(needs))
