"""Threads do not share what the procedures change that kernels call, in whatever way they do."""

from __future__ import annotations

import itertools
import re
from pathlib import Path

import pytest

from command import Outcome, run_command

ALGORITHM = """module step_alg_mod
  use work_kernel_mod, only : work_kernel_type
  use field_mod, only : field_type
  implicit none
contains
  subroutine step(theta)
    type(field_type), intent(inout) :: theta
    call invoke(work_kernel_type(theta))
  end subroutine step
end module step_alg_mod
"""
KERNEL = """module work_kernel_mod
  use argument_mod, only : arg_type, CELL_COLUMN, GH_FIELD, GH_READWRITE, GH_REAL
  use constants_mod, only : i_def, r_def
  use fs_continuity_mod, only : W3
  use kernel_mod, only : kernel_type
{uses}
  implicit none
  private
{specification}
  type, public, extends(kernel_type) :: work_kernel_type
    private
    type(arg_type) :: meta_args(1) = (/ arg_type(GH_FIELD, GH_REAL, GH_READWRITE, W3) /)
    integer :: operates_on = CELL_COLUMN
  contains
    procedure, nopass :: work_code
  end type work_kernel_type
contains
  subroutine work_code(nlayers, theta, ndf, undf, map)
    integer(i_def), intent(in) :: nlayers, ndf, undf, map(ndf)
    real(r_def), intent(inout) :: theta(undf)
{declared}
    {statement}
  end subroutine work_code
{procedures}
end module work_kernel_mod
"""
HELPER = """module helper_mod
  use constants_mod, only : r_def
  implicit none
{specification}
contains
{procedures}
end module helper_mod
"""

EFFECTS = {
    "module variable": ("real(r_def) :: state = 0", "", "state = state + x; x = state"),
    "saved local": ("", "real(r_def), save :: state", "state = state + x; x = state"),
    "initialised local": ("", "real(r_def) :: state = 0", "state = state + x; x = state"),
    "data": ("", "real(r_def) :: state\ndata state /0.0/", "state = state + x; x = state"),
    "save statement": ("", "real(r_def) :: state\nsave", "state = state + x; x = state"),
    "pointer to a module target": (
        "real(r_def), target :: state",
        "real(r_def), pointer :: p",
        "p => state; p = p + x; x = p",
    ),
    "common": ("", "real(r_def) :: state\ncommon /kept/ state", "state = state + x; x = state"),
    "internal write": (
        "character(20) :: buffer", "", "write(buffer, '(f9.4)') x; read(buffer, '(f9.4)') x",
    ),
    "read from a unit": ("", "", "read(17, *) x"),
    "write to a unit": ("", "", "write(17, *) x"),
    "allocation": ("real(r_def), allocatable :: state(:)", "", "allocate(state(3))"),
    "passed on": ("real(r_def) :: state", "", "call bump(state)"),
    "intrinsic subroutine": ("real(r_def) :: state", "", "call cpu_time(state)"),
    "intrinsic with keywords": ("integer :: state", "", "call system_clock(count_rate=state)"),
    "moved allocation": (
        "real(r_def), allocatable :: one(:), state(:)", "", "call move_alloc(one, state)",
    ),
    "status of an allocation": (
        "integer :: state", "real(r_def), allocatable :: t(:)", "allocate(t(3), stat=state)",
    ),
    "second allocation": (
        "real(r_def), allocatable :: state(:)", "real(r_def), allocatable :: t(:)",
        "allocate(t(2), state(3))",
    ),
    "status of a transfer": (
        "integer :: state", "character(20) :: buffer", "write(buffer, *, iostat=state) x",
    ),
    "intrinsic's name": ("", "", "x = scale(x)"),
    "intrinsic's name in a message": ("", "", "write(*, *) scale(x)"),
    "keyword's name": ("", "", "x = inquire(x)"),
    "keyword's name in a message": ("", "", "write(*, *) inquire(x)"),
    "passed procedure": ("", "", "call apply_to(count_one, x)"),
    "variable with an intrinsic's name": ("real(r_def) :: index", "", "call bump(index)"),
    "passed to a dummy procedure": ("real(r_def) :: state", "", "call apply_state(bump)"),
    "overloaded operator": ("", "type(box_type) :: a, b, c", "a%n = 1; c = a + b; x = x + c%n"),
    "defined operator": ("", "type(box_type) :: a, b", "x = x + (a .dot. b)"),
    "defined assignment": ("", "type(box_type) :: a", "a = x"),
    "pointer of a function": ("", "real(r_def), pointer :: p", "p => target_of(); p = x"),
    "pointer of a subroutine": ("", "real(r_def), pointer :: p", "call aim(p); p = x"),
    "pointer passed on": ("", "real(r_def), pointer :: p", "call aim(p); call bump(p)"),
    "second pointer": ("", "real(r_def), pointer :: p, q", "call aim(p); q => p; q = x"),
    "pointer component": ("", "type(box_type) :: a", "call aim_part(a); a%p = x"),
    "overriding procedure": ("", "class(box_type), pointer :: a", "call a%act(x)"),
    "passed on in a block": ("real(r_def) :: state", "", "block\ncall bump(state)\nend block"),
    "saved in a block": (
        "", "", "block\nreal(r_def) :: s = 0\ns = s + x; x = s\nend block",
    ),
    "saved in one of two blocks": (
        "", "real(r_def) :: s",
        "block\nreal :: s\ns = x\nend block\none: block\nreal, save :: s\ns = x\nend block one",
    ),
    "hidden in a block": (
        "real(r_def) :: state", "", "block\nreal(r_def) :: state\nstate = x\nend block\nstate = x",
    ),
    "allocation in a block": (
        "real(r_def), allocatable :: state(:)", "",
        "if (x > 0) then\nblock\ndeallocate(state)\nend block\nend if",
    ),
    "intrinsic in a block": ("", "", "block\ncall random_seed()\nend block"),
    "loop in a block": ("integer :: i", "", "block\ndo i = 1, 3\nx = x + 1\nend do\nend block"),
    "operator in a block": (
        "", "", "block\ntype(box_type) :: a, b\na%n = 1; b = a + a; x = x + b%n\nend block",
    ),
    "pointer of a block": (
        "real(r_def), target :: state", "",
        "block\nreal(r_def), pointer :: p\np => state; p = x\nend block",
    ),
    "operator of a function": ("", "", "x = x + size([make_box() + make_box()])"),
    "operator of a constructor": ("", "", "x = x + size([box_type(1) + box_type(2)])"),
    "operator of logical values": ("", "", "if ((x > 0) + (x > 1)) x = number_of(make_box())"),
    "assignment of another type": (
        "", "logical :: flag", "flag = 1; if (flag) x = number_of(make_box())",
    ),
    "overriding operator": ("", "class(box_type), pointer :: a", "x = x + (a * 2)"),
    "final procedure": ("", "type(final_type) :: a", "a%n = 1; x = x + a%n"),
    "final procedure of a component": (
        "type :: whole_type\ntype(final_type) :: a\nend type", "type(whole_type) :: b", "b%a%n = 1",
    ),
    "defined output": ("", "type(shown_type) :: a", "write(*, *) a"),
    "defined output to a character variable": (
        "", "type(shown_type) :: a\ncharacter(20) :: buffer", "write(buffer, *) a",
    ),
    "pointer of a copy": ("type(box_type) :: box", "type(box_type) :: a", "a = box; a%p = x"),
    "pointer of an allocated copy": (
        "type(box_type) :: box", "type(box_type), allocatable :: a",
        "allocate(a, source=box); a%p = x",
    ),
    "pointer of a constructor": ("", "type(box_type) :: a", "a = box_type(1, aimed_at); a%p = x"),
    "pointer of a function's box": ("", "type(box_type) :: a", "a = aimed_box(); a%p = x"),
    "other name of a function": ("", "", "associate (s => target_of())\ns = x\nend associate"),
    "passed on by another name": (
        "real(r_def) :: state", "", "associate (s => state)\ncall bump(s)\nend associate",
    ),
}  # fmt: skip
SHARED = """integer :: calls = 0
real(r_def), target :: aimed_at
interface operator(+)
  module procedure add_boxes, add_flags
end interface
interface operator(.dot.)
  module procedure dot_boxes
end interface
interface assignment(=)
  module procedure set_box, set_flag
end interface
interface operator(-)
  module procedure subtract_boxes
end interface
type :: box_type
  integer :: n = 0
  real(r_def), pointer :: p => null()
contains
  procedure, nopass :: act => look_at
  procedure, nopass, non_overridable :: fixed => look_at
  procedure :: times => times_box
  generic :: operator(*) => times
end type
type, extends(box_type) :: counting_type
contains
  procedure, nopass :: act => count_one
  procedure :: times => times_counting
end type
type :: final_type
  integer :: n = 0
contains
  final :: finish
end type
type :: shown_type
  integer :: n = 0
contains
  procedure :: show
  generic :: write(formatted) => show
end type"""
TOOLS = """  function scale(z) result(y)
    real(r_def), intent(in) :: z
    real(r_def) :: y
    calls = calls + 1; y = z
  end function scale
  function inquire(z) result(y)
    real(r_def), intent(in) :: z
    real(r_def) :: y
    calls = calls + 1; y = z
  end function inquire
  subroutine look_at(y)
    real(r_def), intent(inout) :: y
    y = 2 * y
  end subroutine look_at
  subroutine count_one(y)
    real(r_def), intent(inout) :: y
    calls = calls + 1; y = calls
  end subroutine count_one
  subroutine apply_to(f, y)
    external :: f
    real(r_def), intent(inout) :: y
    call f(y)
  end subroutine apply_to
  subroutine apply_state(f)
    external :: f
    call f(aimed_at)
  end subroutine apply_state
  function add_boxes(a, b) result(c)
    type(box_type), intent(in) :: a, b
    type(box_type) :: c
    calls = calls + 1; c%n = a%n + b%n
  end function add_boxes
  function add_flags(a, b) result(c)
    logical, intent(in) :: a, b
    logical :: c
    calls = calls + 1; c = a .or. b
  end function add_flags
  subroutine set_flag(a, b)
    logical, intent(out) :: a
    integer, intent(in) :: b
    calls = calls + 1; a = b > 0
  end subroutine set_flag
  function aimed_box() result(a)
    type(box_type) :: a
    a%p => aimed_at
  end function aimed_box
  function make_box() result(a)
    type(box_type) :: a
    a%n = 1
  end function make_box
  function number_of(a) result(n)
    type(box_type), intent(in) :: a
    integer :: n
    n = a%n
  end function number_of
  function times_box(a, b) result(c)
    class(box_type), intent(in) :: a
    integer, intent(in) :: b
    integer :: c
    c = b * a%n
  end function times_box
  function times_counting(a, b) result(c)
    class(counting_type), intent(in) :: a
    integer, intent(in) :: b
    integer :: c
    calls = calls + 1; c = b * a%n
  end function times_counting
  subroutine finish(a)
    type(final_type), intent(inout) :: a
    calls = calls + 1
  end subroutine finish
  subroutine show(dtv, unit, iotype, v_list, iostat, iomsg)
    class(shown_type), intent(in) :: dtv
    integer, intent(in) :: unit, v_list(:)
    character(*), intent(in) :: iotype
    integer, intent(out) :: iostat
    character(*), intent(inout) :: iomsg
    calls = calls + 1; iostat = 0
  end subroutine show
  function dot_boxes(a, b) result(c)
    type(box_type), intent(in) :: a, b
    integer :: c
    calls = calls + 1; c = a%n * b%n
  end function dot_boxes
  function subtract_boxes(a, b) result(c)
    type(box_type), intent(in) :: a, b
    integer :: c
    c = a%n - b%n
  end function subtract_boxes
  function same(t) result(p)
    real(r_def), target, intent(in) :: t
    real(r_def), pointer :: p
    p => t
  end function same
  subroutine set_box(a, z)
    type(box_type), intent(inout) :: a
    real(r_def), intent(in) :: z
    calls = calls + 1; a%n = int(z)
  end subroutine set_box
  function target_of() result(p)
    real(r_def), pointer :: p
    p => aimed_at
  end function target_of
  subroutine aim(p)
    real(r_def), pointer, intent(out) :: p
    p => aimed_at
  end subroutine aim
  subroutine aim_part(a)
    type(box_type), intent(inout) :: a
    a%p => aimed_at
  end subroutine aim_part
"""
PURE = {
    "argument": ("", "", "x = 2 * x"),
    "module variable read": ("real(r_def) :: state = 2", "", "x = state * x"),
    "local": ("real(r_def) :: state", "real(r_def) :: state", "state = x; x = 2 * state"),
    "constant": ("", "real(r_def), parameter :: state = 2", "x = state * x"),
    "own buffer": ("", "character(20) :: buffer", "write(buffer, '(f9.4)') x"),
    "message": ("", "", "if (x > 1e9) write(*, *) x"),
    "stop": ("real(r_def) :: state", "", "if (x < 0) then; state = x; stop 1; end if; x = 2 * x"),
    "error stop": ("", "", "if (x < 0) error stop 'negative'"),
    "passed to be read": ("real(r_def) :: state", "", "call look(state, x)"),
    "of each thread": ("real(r_def) :: state\n!$omp threadprivate(state)", "", "state = x"),
    "intrinsic subroutine": ("real(r_def) :: state", "real(r_def) :: t", "call cpu_time(t)"),
    "intrinsic that reads": ("integer :: state", "integer :: t", "call mvbits(state, 0, 1, t, 0)"),
    "intrinsic function": ("real(r_def) :: state", "", "x = max(x, abs(state))"),
    "status of an allocation": (
        "integer :: state", "real(r_def), allocatable :: t(:)\ninteger :: n",
        "allocate(t(3), source=x, stat=n)",
    ),
    "passed procedure": ("", "", "call apply_to(look_at, x)"),
    "operator of numbers": ("", "integer :: i, j", "i = 1; j = i + i; x = x + j"),
    "operator of another type": ("", "type(box_type) :: a", "a%n = 2; x = x + a%n"),
    "other operator of the type": (
        "", "type(box_type) :: a, b\ninteger :: j", "b = a; j = a - b; x = x + j",
    ),
    "operators of the language": (
        "", "type(box_type) :: a\nlogical :: flag\ncharacter(4) :: c",
        "flag = x > 1 .and. .not. 'a' // 'b' == c; c = 'a' // c; x = -x ** 2 + 2 * a%n",
    ),
    "copy that is read": (
        "type(box_type) :: box", "type(box_type) :: a", "a = box; a%n = 2; x = x + a%n",
    ),
    "output of numbers": ("", "type(shown_type) :: a", "write(*, *) a%n, x"),
    "structure of a block": (
        "", "", "if (x < 0) then\nblock\ntype(box_type) :: a\na%n = 1\nend block\nend if",
    ),
    "pointer to a local": (
        "", "real(r_def), target :: t\nreal(r_def), pointer :: p",
        "t = x; p => t; p = 2 * p; x = t",
    ),
    "pointer to an argument": (
        "", "real(r_def), target :: t\nreal(r_def), pointer :: p", "p => same(t); p = x",
    ),
    "allocated pointer": ("", "real(r_def), pointer :: p", "allocate(p); call bump(p)"),
    "pointer that is read": ("", "real(r_def), pointer :: p", "call aim(p); x = x + p"),
    "binding of a type": ("", "type(box_type) :: a", "call a%act(x)"),
    "final binding": ("", "class(box_type), pointer :: a", "call a%fixed(x)"),
    "variable of a block": (
        "real(r_def) :: state", "",
        "block\nreal(r_def) :: state\nstate = x; x = 2 * state\nend block",
    ),
    "variables of two blocks": (
        "real(r_def) :: state", "",
        "block\nreal :: state\nstate = x\nend block\nblock\nreal :: state\nstate = x\nend block",
    ),
    "other name that is read": (
        "real(r_def) :: state", "",
        "associate (s => state)\ncall look(s, x)\nx = x + s\nend associate",
    ),
}  # fmt: skip
BUMP = """  subroutine bump(y)
    real(r_def), intent(inout) :: y
    y = y + 1
  end subroutine bump
  subroutine look(y, z)
    real(r_def), intent(in) :: y
    real(r_def), intent(inout) :: z
    z = y + z
  end subroutine look
"""
WAYS = ("same module", "other module", "renamed", "nested", "function", "generic", "bound",
        "internal", "recursive")  # fmt: skip
STEPS = (
    "openmp-parallel-do",
    "openmp-do; openmp-parallel",
    "openmp-taskloop; openmp-single; openmp-parallel",
    "openmp-task; openmp-single; openmp-parallel",
    "auto",
)


def subroutine(name: str, declared: str, body: str) -> str:
    return (f"  subroutine {name}(x)\n    real(r_def), intent(inout) :: x\n{declared}\n"
            f"    {body}\n  end subroutine {name}\n")  # fmt: skip


def function(name: str, declared: str, body: str) -> str:
    return (f"  function {name}(z) result(x)\n    real(r_def), intent(in) :: z\n"
            f"    real(r_def) :: x\n{declared}\n    x = z; {body}\n"
            f"  end function {name}\n")  # fmt: skip


def needs_tools(effect: tuple[str, str, str]) -> bool:
    """Return whether an effect uses a procedure or a type of `TOOLS`."""
    names = re.findall(r"(?:subroutine|function) (\w+)", TOOLS)
    words = "|".join((*names, "box_type", "final_type", "shown_type"))
    return re.search(rf"\b(?:{words})\b", " ".join(effect)) is not None


def texts(way: str, effect: tuple[str, str, str]) -> tuple[str, str]:
    """Return the texts of the kernel's module, and of the module of its helper."""
    outer, declared, body = effect
    outer = f"{SHARED}\n{outer}" if needs_tools(effect) else outer
    tools = BUMP + TOOLS if needs_tools(effect) else BUMP
    kernel = {"uses": "", "specification": "", "declared": "", "procedures": ""}
    kernel["statement"] = "call helper(theta(map(1)))"
    one = subroutine("helper", declared, body)
    if way == "same module":
        kernel |= {"specification": outer, "procedures": one + tools}
        return KERNEL.format(**kernel), ""
    if way == "internal":
        outside = f"{outer}\n" if outer else ""
        kernel |= {"specification": outside, "procedures": tools}
        text = KERNEL.format(**kernel)
        inner = "  contains\n" + one
        return text.replace("  end subroutine work_code", inner + "  end subroutine work_code"), ""
    kernel["uses"] = "  use helper_mod, only : helper"
    if way == "renamed":
        kernel |= {"uses": "  use helper_mod, only : other => helper",
                   "statement": "call other(theta(map(1)))"}  # fmt: skip
    elif way == "nested":
        one = subroutine("helper", "", "call inner(x)") + subroutine("inner", "", "call last(x)")
        one += subroutine("last", declared, body)
    elif way == "function":
        kernel["statement"] = "theta(map(1)) = 1 + helper(theta(map(1)))"
        one = function("helper", declared, body)
    elif way == "generic":
        outer += "\ninterface helper\nmodule procedure helper_r, helper_i\nend interface"
        one = subroutine("helper_r", declared, body)
        one += "  subroutine helper_i(i)\n    integer, intent(inout) :: i\n  end subroutine\n"
    elif way == "bound":
        kernel |= {"uses": "  use helper_mod, only : tool_type",
                   "declared": "    type(tool_type) :: tool",
                   "statement": "call tool%apply(theta(map(1)))"}  # fmt: skip
        outer += ("\ntype :: tool_type\ninteger :: n\ncontains\n"
                  "procedure, nopass :: apply => helper\nend type")  # fmt: skip
    elif way == "recursive":
        one = one.replace("subroutine helper(", "recursive subroutine helper(", 1)
        one = one.replace("  end subroutine", "    if (x > 1e9) call again(x)\n  end subroutine")
        one += subroutine("again", "", "call helper(x)").replace("sub", "recursive sub", 1)
    return KERNEL.format(**kernel), HELPER.format(specification=outer, procedures=one + tools)


def compiled(folder: Path, texts: tuple[str, str], steps: str, *words: str) -> Outcome:
    kernels = folder / "kernels"
    kernels.mkdir(exist_ok=True, parents=True)
    (folder / "alg.x90").write_text(ALGORITHM)
    (kernels / "work_kernel_mod.f90").write_text(texts[0])
    if texts[1]:
        (kernels / "helper_mod.f90").write_text(texts[1])
    given = ["-api", "lfric", "-d", "kernels", "--apply", steps, *words, "alg.x90"]
    return run_command(given, folder)


def is_shared(done: Outcome) -> bool:
    return done.status == 0 and "!$omp" in done.out


FEWER_WAYS = ("same module", "nested", "bound")


def ways(steps: str) -> tuple[str, ...]:
    """Return the ways to call that are tried with a recipe: all of them with the first one."""
    return WAYS if steps == STEPS[0] else FEWER_WAYS


@pytest.mark.parametrize("steps", STEPS)
def test_what_called_procedures_change_is_not_shared(steps: str, tmp_path: Path) -> None:
    shared, silent = [], []
    for at, (way, effect) in enumerate(itertools.product(ways(steps), EFFECTS)):
        done = compiled(tmp_path / str(at), texts(way, EFFECTS[effect]), steps)
        if is_shared(done):
            shared.append((way, effect))
        if steps != "auto" and "Threads race in" not in done.err:
            silent.append((way, effect))
    assert shared == []
    assert silent == []


@pytest.mark.parametrize("steps", STEPS)
def test_what_keeps_nothing_is_shared(steps: str, tmp_path: Path) -> None:
    accepted = 0
    for at, (way, effect) in enumerate(itertools.product(ways(steps), PURE)):
        done = compiled(tmp_path / str(at), texts(way, PURE[effect]), steps, "--warnings", "error")
        accepted += is_shared(done)
    assert accepted == len(ways(steps)) * len(PURE)


UNKNOWN = {
    "module not found": ("use elsewhere_mod, only : helper", "call helper(theta(map(1)))"),
    "function not found": ("use elsewhere_mod, only : helper", "theta(map(1)) = helper(1)"),
    "external": ("", "call helper(theta(map(1)))"),
    "used as a whole": ("use elsewhere_mod", "call helper(theta(map(1)))"),
}


@pytest.mark.parametrize("unknown", UNKNOWN.values(), ids=UNKNOWN)
def test_effects_that_are_not_known_are_reported_once(
    unknown: tuple[str, str], tmp_path: Path
) -> None:
    uses, statement = unknown
    statement = f"{statement}; {statement}"
    text = KERNEL.format(
        uses=f"  {uses}", specification="", declared="", statement=statement, procedures=""
    )
    done = compiled(tmp_path, (text, ""), STEPS[0])
    assert is_shared(done)
    assert done.err.count("warning[S016]") == 1
    assert "'THREAD_SAFE_PROCEDURES = helper'" in done.err
    assert compiled(tmp_path, (text, ""), STEPS[0], "--warnings", "error").status == 1
    for name in ("helper", "work_code"):
        trusting = ("--warnings", "error", "--config-opts", f"THREAD_SAFE_PROCEDURES={name}")
        done = compiled(tmp_path, (text, ""), STEPS[0], *trusting)
        assert (done.status, done.err) == (0, "")


LOST = {
    "function that is assigned to": ("", "target_of() = x"),
    "default target": ("", "aim%p = x"),
    "generic of two modules": ("use one_mod, only : put\nuse two_mod, only : put", "call put(x)"),
    "variable of a missing module": ("use gone_mod", "state = x"),
    "passed variable of a missing module": ("use gone_mod", "call bump(state)"),
}
LOST_MODULE = """module one_mod
  interface put
    module procedure put_one
  end interface
contains
  subroutine put_one(i)
    integer, intent(inout) :: i
    i = 1
  end subroutine put_one
end module one_mod
"""


@pytest.mark.parametrize(("uses", "body"), LOST.values(), ids=LOST)
def test_what_is_not_followed_is_reported(uses: str, body: str, tmp_path: Path) -> None:
    folder = tmp_path / "kernels"
    folder.mkdir()
    (folder / "one_mod.f90").write_text(LOST_MODULE)
    two = LOST_MODULE.replace("one", "two").replace("integer", "real")
    (folder / "two_mod.f90").write_text(two.replace("i = 1", "i = 1; write(17) i"))
    declared = "type(aim_type) :: aim" if "aim" in body else ""
    outer = "type :: aim_type\nreal(r_def), pointer :: p => aimed_at\nend type"
    kernel, helper = texts("other module", (outer if declared else "", declared, body))
    helper = helper.replace("  implicit none", f"  {uses}\n  implicit none", 1)
    done = compiled(tmp_path, (kernel, helper), STEPS[0])
    assert is_shared(done)
    assert done.err.count("warning[S016]") == 1


def test_functions_of_intrinsic_modules_have_no_effects(tmp_path: Path) -> None:
    kernel, helper = texts("other module", ("", "", "if (ieee_is_nan(x)) x = 0"))
    use = "use, intrinsic :: ieee_arithmetic, only : ieee_is_nan"
    helper = helper.replace("  implicit none", f"  {use}\n  implicit none", 1)
    assert is_shared(compiled(tmp_path, (kernel, helper), STEPS[0], "--warnings", "error"))


INCLUDED = {
    "not found": ("include 'other.inc'", "", True),
    "directive, not found": ('#include "other.inc"', "", True),
    "changes state": ("include 'text.inc'", "state = state + x", True),
    "saves a variable": ('#include "text.inc"', "block; real, save :: s; s = x; end block", True),
    "includes another": ("include 'text.inc'", "include 'other.inc'", True),
    "harmless": ("include 'text.inc'", "x = 2 * x", False),
    "harmless, by a directive": ('#include "text.inc"', "x = 2 * x", False),
}


@pytest.mark.parametrize(("line", "included", "reported"), INCLUDED.values(), ids=INCLUDED)
@pytest.mark.parametrize("way", ["same module", "nested", "function"])
def test_the_text_of_included_files_is_scanned(
    way: str, line: str, included: str, reported: bool, tmp_path: Path
) -> None:
    folder = tmp_path / "kernels"
    folder.mkdir()
    (folder / "text.inc").write_text(f"    {included}\n")
    effect = ("real(r_def) :: state", "", f"x = x\n{line}")
    done = compiled(tmp_path, texts(way, effect), STEPS[0])
    assert is_shared(done)
    assert ("warning[S016]" in done.err) is reported


BOX = """module box_mod
  integer :: state = 0
  type :: crate_type
    integer :: n = 0
  end type crate_type
  interface &
    operator(+)
    module procedure add
  end interface; interface assignment(=); module procedure set; end interface
contains
  function add(a, b) result(c)
    type(crate_type), intent(in) :: a, b
    integer :: c
    state = state + 1; c = a%n
  end function add
  subroutine set(a, b)
    type(crate_type), intent(out) :: a
    real, intent(in) :: b
    state = state + 1; a%n = int(b)
  end subroutine set
end module box_mod
"""
ELSEWHERE = {
    "offered again": "use box_mod, only : crate_type, operator(+), assignment( = )",
    "offered again as a whole": "use box_mod",
    "type renamed": "use box_mod, only : crate_type => own_type, operator (+), assignment(=)",
    "type elsewhere": (
        "use box_mod, only : operator(+), assignment(=)\nuse type_mod, only : crate_type"
    ),
    "missing": "",
}


@pytest.mark.parametrize("body", ["x = x + (a + a)", "a = x"])
@pytest.mark.parametrize("uses", ELSEWHERE.values(), ids=ELSEWHERE)
def test_operators_of_other_modules_are_called(uses: str, body: str, tmp_path: Path) -> None:
    folder = tmp_path / "kernels"
    folder.mkdir()
    text = BOX.replace("crate_type", "own_type") if "=>" in uses else BOX
    (folder / "box_mod.f90").write_text(text)
    (folder / "type_mod.f90").write_text("module type_mod\nuse box_mod\nend module type_mod\n")
    if uses:
        (folder / "again_mod.f90").write_text(f"module again_mod\n{uses}\nend module again_mod\n")
    kernel, helper = texts("other module", ("", "type(crate_type) :: a", body))
    imported = "use again_mod, only : crate_type, operator(+), assignment(=)"
    helper = helper.replace("  implicit none", f"  {imported}\n  implicit none", 1)
    done = compiled(tmp_path, (kernel, helper), STEPS[0])
    assert "it changes 'state'" in done.err or "warning[S016]" in done.err
    assert is_shared(done) is ("warning[S016]" in done.err)


REGIONS = {
    "acc": "acc-routine{force=true}; acc-loop; acc-parallel; acc-enter-data",
    "omp target": "omp-declare-target{force=true}; openmp-teams-do; openmp-target",
}


@pytest.mark.parametrize("steps", REGIONS.values(), ids=REGIONS)
def test_unknown_effects_are_reported_for_devices_too(steps: str, tmp_path: Path) -> None:
    text = KERNEL.format(
        uses="  use elsewhere_mod, only : helper", specification="", declared="",
        statement="call helper(theta(map(1)))", procedures="",
    )  # fmt: skip
    done = compiled(tmp_path, (text, ""), steps)
    assert "warning[S016]" in done.err
    assert "each file must be named after its module" in done.err


LISTED = {
    "listed": ("use elsewhere_mod, only : max", True),
    "renamed": ("use elsewhere_mod, only : max => other", True),
    "used as a whole": ("use elsewhere_mod", False),
}


@pytest.mark.parametrize(("use", "reported"), LISTED.values(), ids=LISTED)
def test_an_intrinsic_is_unknown_only_if_an_import_lists_its_name(
    use: str, reported: bool, tmp_path: Path
) -> None:
    words = {"specification": "", "declared": "", "procedures": ""}
    text = KERNEL.format(uses=f"  {use}", statement="theta(map(1)) = max(theta(map(1)), 1.0_r_def)",
                         **words)  # fmt: skip
    done = compiled(tmp_path, (text, ""), STEPS[0])
    assert is_shared(done)
    assert ("warning[S016]" in done.err) is reported


@pytest.mark.parametrize("name", ["helper", "work_code", "work_kernel_type"])
def test_a_user_may_trust_a_called_procedure(name: str, tmp_path: Path) -> None:
    given = texts("other module", EFFECTS["module variable"])
    assert "'THREAD_SAFE_PROCEDURES = helper'" in compiled(tmp_path, given, STEPS[0]).err
    done = compiled(tmp_path, given, STEPS[0], "--config-opts", f"THREAD_SAFE_PROCEDURES={name}")
    assert is_shared(done)


DEVICE_STEPS = ("acc-loop; acc-parallel", "openmp-teams-do; openmp-target")


@pytest.mark.parametrize("steps", DEVICE_STEPS)
@pytest.mark.parametrize("way", WAYS)
def test_loops_on_a_device_are_threads_too(steps: str, way: str, tmp_path: Path) -> None:
    first = steps.partition(";")[0]
    done = compiled(tmp_path / "kept", texts(way, EFFECTS["module variable"]), steps)
    assert "it changes 'state'" in done.err
    forced = steps.replace(first, f"{first}{{force=true}}")
    for effect, given in ((EFFECTS["module variable"], forced), (PURE["argument"], steps)):
        done = compiled(tmp_path / given, texts(way, effect), given)
        assert "S015" not in done.err


LOGGING = {
    "error": ("LOG_LEVEL_ERROR", True),
    "information": ("LOG_LEVEL_INFO", False),
}


@pytest.mark.parametrize(("level", "accepted"), LOGGING.values(), ids=LOGGING)
def test_a_message_buffer_matters_only_if_the_program_goes_on(
    level: str, accepted: bool, tmp_path: Path
) -> None:
    body = (
        "if (x < 0) then; write(log_scratch_space, '(f9.4)') x;"
        f" call log_event(log_scratch_space, {level}); end if; x = 2 * x"
    )
    kernel, helper = texts("other module", ("", "", body))
    use = f"  use log_mod, only : log_event, log_scratch_space, {level}\n  implicit none"
    given = kernel, helper.replace("  implicit none", use)
    done = compiled(tmp_path, given, STEPS[0], "--warnings", "error")
    assert is_shared(done) == accepted
    if not accepted:
        assert "it changes 'log_scratch_space'" in done.err
        trusting = ("--config-opts", "THREAD_SAFE_PROCEDURES=helper")
        assert is_shared(compiled(tmp_path, given, STEPS[0], *trusting))


ENDINGS = {
    "a jump before the end": "if (x < 0) then; state = x; if (x > -1) return; stop; end if",
    "an end on one way": "state = x; if (x < 0) stop",
    "an end in a loop that may not run": "state = x; do i = 1, n; stop; end do",
    "a condition with an effect": "if (advanced() > 0) stop",
}


@pytest.mark.parametrize("body", ENDINGS.values(), ids=ENDINGS)
def test_what_may_not_end_the_program_counts(body: str, tmp_path: Path) -> None:
    kernel, helper = texts("other module", ("real(r_def) :: state", "integer :: i, n = 1", body))
    advanced = "  real function advanced()\n    state = state + 1; advanced = 1\n  end function\n"
    given = kernel, helper.replace("contains\n", f"contains\n{advanced}", 1)
    done = compiled(tmp_path, given, STEPS[0])
    assert not is_shared(done)
    assert "it changes 'state'" in done.err


def test_components_that_are_arrays_are_no_calls(tmp_path: Path) -> None:
    kernel, helper = texts("bound", PURE["argument"])
    helper = helper.replace("integer :: n\n", "real(r_def) :: values(3)\n")
    kernel = kernel.replace("call tool%apply", "tool%values(2) = 1; call tool%apply")
    done = compiled(tmp_path, (kernel, helper), STEPS[0], "--warnings", "error")
    assert is_shared(done), done.err


def test_a_type_inherits_what_its_parent_binds(tmp_path: Path) -> None:
    kernel, helper = texts("bound", EFFECTS["module variable"])
    child = "end type\ntype, extends(tool_type) :: child_type\nend type"
    helper = helper.replace("end type", child, 1)
    kernel = kernel.replace("tool_type", "child_type")
    assert "it changes 'state'" in compiled(tmp_path, (kernel, helper), STEPS[0]).err
