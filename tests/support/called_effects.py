"""Programs whose kernels call procedures with and without effects on shared data."""

from __future__ import annotations

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
  public :: work_code
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
