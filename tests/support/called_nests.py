"""Loops that call procedures of other modules: some may run in parallel, the others must not.

Each is the body of a subroutine `work(n, a, b, k)` with its imports. The values are small integers,
so that all sums are exact.
"""

from __future__ import annotations

from psyclone_storage.base.records import dataclass

MODULES = {
    "state_mod": """module state_mod
  implicit none
  integer, parameter :: wp = 8
  real(wp), parameter :: two = 2
  real(wp) :: v(0:200) = 1, scale = 3, e1(200), e2(200), c(200)
  real(wp), target :: t(0:200) = 1
  real(wp), pointer :: p(:) => t
  real(wp) :: later(0:200) = 1
  real(wp) :: own = 4
  target :: later
  equivalence (e1, e2)
  common /shared/ c
  !$omp threadprivate(own)
  type :: box
    real(wp) :: x
    real(wp), pointer :: far(:) => null()
  end type box
  type :: plain
    real(wp) :: x = 0, y(3) = 0
  end type plain
  type :: counted
    real(wp) :: x = 0
  contains
    final :: count_final
  end type counted
  integer :: finals = 0
contains
  subroutine count_final(one)
    type(counted), intent(inout) :: one
    finals = finals + 1
  end subroutine count_final
end module state_mod
""",
    "exports_mod": """module exports_mod
  use state_mod, only: renamed => v, factor => scale, wp
  implicit none
end module exports_mod
""",
    "inner_mod": """module inner_mod
  use state_mod
  implicit none
  private
  public :: reads_v, doubled
contains
  pure function reads_v(i) result(y)
    integer, intent(in) :: i
    real(wp) :: y
    y = v(i)
  end function reads_v
  elemental real(wp) function doubled(x)
    real(wp), intent(in) :: x
    doubled = two * x
  end function doubled
end module inner_mod
""",
    "procs_mod": """module procs_mod
  use state_mod
  use exports_mod, only: other => renamed
  use inner_mod
  implicit none
  private :: hidden
  real(wp) :: hidden = 5
  interface either
    module procedure either_real, either_integer
  end interface either
  interface mixed
    module procedure good_real, bad_integer
  end interface mixed
contains
  pure real(wp) function scaled(x)
    real(wp), intent(in) :: x
    scaled = scale * x + hidden
  end function scaled
  pure real(wp) function through_export(i)
    integer, intent(in) :: i
    through_export = other(i)
  end function through_export
  pure real(wp) function through_call(i)
    integer, intent(in) :: i
    through_call = reads_v(i) + 1
  end function through_call
  pure real(wp) function of_target(i)
    integer, intent(in) :: i
    of_target = t(i)
  end function of_target
  pure real(wp) function of_later_target(i)
    integer, intent(in) :: i
    of_later_target = later(i)
  end function of_later_target
  pure real(wp) function of_pointer(i)
    integer, intent(in) :: i
    of_pointer = p(i)
  end function of_pointer
  pure real(wp) function of_equivalence(i)
    integer, intent(in) :: i
    of_equivalence = e2(i)
  end function of_equivalence
  pure real(wp) function of_common(i)
    integer, intent(in) :: i
    of_common = c(i)
  end function of_common
  pure real(wp) function of_thread(x)
    real(wp), intent(in) :: x
    of_thread = own * x
  end function of_thread
  pure real(wp) function of_component(one, i)
    type(box), intent(in) :: one
    integer, intent(in) :: i
    of_component = one%x + one%far(i)
  end function of_component
  pure real(wp) function optional_sum(x, y, z)
    real(wp), intent(in) :: x
    real(wp), intent(in), optional :: y, z
    optional_sum = x
    if (present(y)) optional_sum = optional_sum + y
    if (present(z)) optional_sum = optional_sum + 2 * z
  end function optional_sum
  pure real(wp) function sum_of_three(x)
    real(wp), intent(in) :: x(3)
    sum_of_three = x(1) + x(2) + x(3)
  end function sum_of_three
  pure subroutine set(y, x, plus)
    real(wp), intent(out) :: y
    real(wp), intent(in) :: x
    real(wp), intent(in), optional :: plus
    y = x
    if (present(plus)) y = y + plus
  end subroutine set
  pure subroutine set_three(y, x)
    real(wp), intent(inout) :: y(3)
    real(wp), intent(in) :: x
    y(2) = x
  end subroutine set_three
  subroutine not_declared(y, x)
    real(wp) :: y, x
    real(wp) :: w(2)
    integer :: i
    do i = 1, 2
      w(i) = x + i
    end do
    y = scaled(w(1)) + w(2)
  end subroutine not_declared
  subroutine swaps(x, y)
    real(wp) :: x, y, keep
    keep = x
    x = y
    y = keep
  end subroutine swaps
  pure subroutine blocks(y, x)
    real(wp), intent(out) :: y
    real(wp), intent(in) :: x
    y = x
    block
      real(wp) :: z
      z = y
      y = z + 1
    end block
  end subroutine blocks
  pure subroutine early(y, x)
    real(wp), intent(inout) :: y
    real(wp), intent(in) :: x
    if (x > 3) return
    select case (int(x))
    case (1)
      y = 7
    case default
      y = y + x
    end select
  end subroutine early
  real(wp) function counts(x)
    real(wp), intent(in) :: x
    real(wp), save :: calls = 0
    calls = calls + 1
    counts = x + calls
  end function counts
  real(wp) function initial(x)
    real(wp), intent(in) :: x
    real(wp) :: calls = 0
    calls = calls + 1
    initial = x + calls
  end function initial
  real(wp) function saved_only(x)
    real(wp), intent(in) :: x
    real(wp) :: calls
    data calls / 0 /
    calls = calls + x
    saved_only = calls
  end function saved_only
  real(wp) function changes_argument(x)
    real(wp) :: x
    x = x + 1
    changes_argument = x
  end function changes_argument
  subroutine sums(x)
    real(wp), intent(in) :: x
    scale = scale + x
  end subroutine sums
  subroutine sums_deeply(y, x)
    real(wp), intent(out) :: y
    real(wp), intent(in) :: x
    y = x
    call sums(x)
  end subroutine sums_deeply
  subroutine passes(y, x)
    real(wp), intent(out) :: y
    real(wp), intent(in) :: x
    call set(scale, x)
    y = scale
  end subroutine passes
  subroutine prints(y, x)
    real(wp), intent(out) :: y
    real(wp), intent(in) :: x
    y = x
    print *, x
  end subroutine prints
  subroutine stops(y, x)
    real(wp), intent(out) :: y
    real(wp), intent(in) :: x
    y = x
    if (x < -1000) stop 1
  end subroutine stops
  subroutine shares(y, x)
    real(wp), intent(out) :: y
    real(wp), intent(in) :: x
    !$omp barrier
    y = x
  end subroutine shares
  recursive real(wp) function descends(i) result(y)
    integer, intent(in) :: i
    y = 1
    if (i > 1) y = y + descends(i - 1)
  end function descends
  real(wp) function applied(f, x)
    interface
      real(wp) function f(x)
        import :: wp
        real(wp), intent(in) :: x
      end function f
    end interface
    real(wp), intent(in) :: x
    applied = f(x)
  end function applied
  real(wp) function outside(x)
    real(wp), intent(in) :: x
    real(wp), external :: elsewhere
    outside = elsewhere(x)
  end function outside
  real(wp) function final_local(x)
    real(wp), intent(in) :: x
    type(counted) :: one
    one%x = x
    final_local = one%x
  end function final_local
  real(wp) function of_class(one)
    class(plain), intent(in) :: one
    of_class = one%x
  end function of_class
  real(wp) function draws(x)
    real(wp), intent(in) :: x
    call random_number(draws)
    draws = 0 * draws + x
  end function draws
  pure real(wp) function either_real(x)
    real(wp), intent(in) :: x
    either_real = x + 1
  end function either_real
  pure real(wp) function either_integer(x)
    integer, intent(in) :: x
    either_integer = x + v(x)
  end function either_integer
  pure real(wp) function good_real(x)
    real(wp), intent(in) :: x
    good_real = x
  end function good_real
  real(wp) function bad_integer(x)
    integer, intent(in) :: x
    scale = scale + x
    bad_integer = scale
  end function bad_integer
end module procs_mod
""",
    "more_mod": """module more_mod
  use state_mod, only: wp, scale
  implicit none
  interface either
    module procedure either_logical
  end interface either
contains
  real(wp) function either_logical(x)
    logical, intent(in) :: x
    scale = scale + 1
    either_logical = scale
  end function either_logical
end module more_mod
""",
    "pointers_mod": """module pointers_mod
  use state_mod, only: wp
  implicit none
  type :: base
    real(wp), pointer :: near(:) => null()
  end type base
  type, extends(base) :: longer
    real(wp) :: x = 0
  end type longer
contains
  pure real(wp) function of_parent(one, i)
    type(longer), intent(in) :: one
    integer, intent(in) :: i
    of_parent = one%near(i)
  end function of_parent
  subroutine writes_behind(one, i, x)
    type(base), intent(in) :: one
    integer, intent(in) :: i
    real(wp), intent(in) :: x
    one%near(i) = x + one%near(i + 1)
  end subroutine writes_behind
end module pointers_mod
""",
    "wider_mod": """module wider_mod
  use procs_mod
  implicit none
  interface mixed
    module procedure mixed_logical
  end interface mixed
  interface &
    ! the name follows

    & split
    module procedure split_integer
  end interface split
contains
  pure real(wp) function mixed_logical(x)
    logical, intent(in) :: x
    mixed_logical = merge(1, 2, x)
  end function mixed_logical
  pure real(wp) function split(x)
    real(wp), intent(in) :: x
    split = x
  end function split
  real(wp) function split_integer(x)
    integer, intent(in) :: x
    scale = scale + x
    split_integer = scale
  end function split_integer
end module wider_mod
""",
    "included_part": """interface joined
  module procedure joined_integer
end interface joined
equivalence (included, same)
""",
    "included_mod": """module included_mod
  use state_mod, only: wp, scale
  implicit none
  interface joined
    module procedure joined_real
  end interface joined
  real(wp) :: included(200), same(200)
  include 'included_part.f90'
contains
  pure real(wp) function joined_real(x)
    real(wp), intent(in) :: x
    joined_real = x
  end function joined_real
  pure real(wp) function of_included(i)
    integer, intent(in) :: i
    of_included = included(i)
  end function of_included
  real(wp) function joined_integer(x)
    integer, intent(in) :: x
    scale = scale + x
    joined_integer = scale
  end function joined_integer
end module included_mod
""",
    "stated_mod": """module stated_mod
  use state_mod, only: wp, scale
  implicit none
  generic, public :: stated => stated_integer, stated
contains
  pure real(wp) function stated(x)
    real(wp), intent(in) :: x
    stated = x
  end function stated
  real(wp) function stated_integer(x)
    integer, intent(in) :: x
    scale = scale + x
    stated_integer = scale
  end function stated_integer
end module stated_mod
""",
    "branches_mod": """module branches_mod
  implicit none
  real(8) :: level = 1
contains
#ifdef IMPURE
  real(8) function chosen(x)
    real(8), intent(in) :: x
    level = level + x
    chosen = level
  end function chosen
#else
  pure real(8) function chosen(x)
    real(8), intent(in) :: x
    chosen = x
  end function chosen
#endif
end module branches_mod
""",
}
"""The modules by the names of their files."""
NOT_COMPILED = frozenset({"branches_mod", "included_mod", "included_part", "stated_mod"})
"""Files that are not part of the program: gfortran 12 lacks `generic` statements of modules."""


@dataclass(frozen=True, slots=True)
class CallingNest:
    """A loop that calls procedures; `uses` are its imports, `body` its statements."""

    name: str
    uses: str
    body: str
    declared: str = ""

    @property
    def text(self) -> str:
        """The subroutine with the loop."""
        lines = (line.strip() for line in self.body.split(" ; "))
        uses = "".join(f"  {line.strip()}\n" for line in self.uses.split(" ; "))
        declared = "".join(f"  {line.strip()}\n" for line in self.declared.split(" ; ") if line)
        inside = "".join(f"    {line}\n" for line in lines)
        return (
            f"subroutine {self.name}(n, a, b, k)\n{uses}  implicit none\n"
            "  integer, intent(in) :: n, k(n)\n  real(8), intent(inout) :: a(n + 5), b(n + 5)\n"
            f"{declared}  integer :: i\n  do i = 1, n\n{inside}  end do\n"
            f"end subroutine {self.name}\n"
        )


ACCEPTED = (
    CallingNest("elemental_array", "use inner_mod, only: doubled", "a(i:i) = doubled(b(i:i))"),
    CallingNest("optional_missing", "use procs_mod", "a(i) = optional_sum(b(i))"),
    CallingNest("optional_keyword", "use procs_mod", "a(i) = optional_sum(b(i), z=b(i + 1))"),
    CallingNest("element_to_array", "use procs_mod", "a(i) = sum_of_three(b(i))"),
    CallingNest("sets_scalar", "use procs_mod", "call set(a(i), b(i))"),
    CallingNest("sets_by_keyword", "use procs_mod", "call set(plus=b(i + 1), x=b(i), y=a(i))"),
    CallingNest("renamed", "use procs_mod, only: mine => optional_sum", "a(i) = mine(b(i))"),
    CallingNest("with_block", "use procs_mod", "call blocks(a(i), b(i))"),
    CallingNest("with_return", "use procs_mod", "call early(a(i), b(i))"),
    CallingNest("private_result", "use procs_mod", "call set(held, b(i)) ; a(i) = held + 1",
                "real(8) :: held"),
)  # fmt: skip
"""Loops without carried accesses."""

REFUSED = (
    CallingNest("reads_scalar", "use procs_mod", "a(i) = scaled(b(i))"),
    CallingNest("reads_another", "use procs_mod", "a(i) = through_export(i)"),
    CallingNest(
        "reads_by_call", "use procs_mod, only: through_call ; use state_mod, only: v",
        "a(i) = through_call(i) + v(i)",
    ),
    CallingNest("not_declared_pure", "use procs_mod", "call not_declared(a(i), b(i))"),
    CallingNest("swapped", "use procs_mod", "call swaps(a(i), b(i))"),
    CallingNest("generic", "use procs_mod", "a(i) = either(b(i)) + either(i)"),
    CallingNest("other_name", "use procs_mod ; use exports_mod",
                "renamed(i + 1) = through_call(i)"),
    CallingNest("own_name", "use procs_mod", "v(i) = through_export(i + 1)"),
    CallingNest("two_renames", "use procs_mod, only: through_call ; use state_mod, only: x => v",
                "x(i) = through_call(i - 1)"),
    CallingNest("sums_what_is_read", "use procs_mod ; use exports_mod, only: factor",
                "factor = factor + b(i) ; a(i) = scaled(b(i))"),
    CallingNest("target", "use procs_mod ; use state_mod, only: p", "p(i) = of_target(i + 1)"),
    CallingNest("later_target", "use procs_mod ; use state_mod, only: p",
                "p(i) = of_later_target(i + 1)"),
    CallingNest("pointer", "use procs_mod ; use state_mod, only: t", "t(i) = of_pointer(i + 1)"),
    CallingNest("equivalence", "use procs_mod ; use state_mod, only: e1",
                "e1(i) = of_equivalence(i + 1)"),
    CallingNest("common", "use procs_mod", "d(i) = of_common(i + 1)",
                "real(8) :: d(200) ; common /shared/ d"),
    CallingNest("thread_private", "use procs_mod", "a(i) = of_thread(b(i))"),
    CallingNest("component", "use procs_mod ; use state_mod, only: box, t",
                "t(i) = of_component(one, i + 1)", "type(box) :: one"),
    CallingNest("optional_read", "use procs_mod", "a(i) = optional_sum(b(i), z=a(i + 1))"),
    CallingNest("array_from_element", "use procs_mod", "a(i) = sum_of_three(a(i))"),
    CallingNest("array_in_element", "use procs_mod", "call set_three(a(i), b(i))"),
    CallingNest("keyword_order", "use procs_mod", "call set(x=a(i + 1), y=a(i))"),
    CallingNest("inout_of_undeclared", "use procs_mod", "call swaps(a(i), a(i + 1))"),
    CallingNest("saved", "use procs_mod", "a(i) = counts(b(i))"),
    CallingNest("saved_by_value", "use procs_mod", "a(i) = initial(b(i))"),
    CallingNest("saved_by_data", "use procs_mod", "a(i) = saved_only(b(i))"),
    CallingNest("function_that_changes", "use procs_mod", "a(i) = changes_argument(b(1))"),
    CallingNest("writes_module", "use procs_mod", "call sums(b(i))"),
    CallingNest("writes_deeply", "use procs_mod", "call sums_deeply(a(i), b(i))"),
    CallingNest("passes_module_variable", "use procs_mod", "call passes(a(i), b(i))"),
    CallingNest("to_output", "use procs_mod", "call prints(a(i), b(i))"),
    CallingNest("with_stop", "use procs_mod", "call stops(a(i), b(i))"),
    CallingNest("directive", "use procs_mod", "call shares(a(i), b(i))"),
    CallingNest("recursive", "use procs_mod", "a(i) = descends(i)"),
    CallingNest("passed_procedure", "use procs_mod", "a(i) = applied(counts, b(i))"),
    CallingNest("external_inside", "use procs_mod", "a(i) = outside(b(i))"),
    CallingNest("external", "use procs_mod, only: scaled", "a(i) = elsewhere(b(i))",
                "real(8), external :: elsewhere"),
    CallingNest("final", "use procs_mod", "a(i) = final_local(b(i))"),
    CallingNest("polymorphic", "use procs_mod ; use state_mod, only: plain",
                "a(i) = of_class(one)", "type(plain) :: one"),
    CallingNest("random", "use procs_mod", "a(i) = draws(b(i))"),
    CallingNest("generic_with_effects", "use procs_mod", "a(i) = mixed(b(i))"),
    CallingNest("generic_that_reads", "use procs_mod", "v(i) = either(i + 1)"),
    CallingNest("extended_generic", "use procs_mod ; use more_mod", "a(i) = either(b(i) > 0)"),
    CallingNest("preprocessed", "use branches_mod", "a(i) = chosen(b(i))"),
    CallingNest("hidden_by_local", "use procs_mod, only: set", "call scaled(a(i), b(i))",
                "external :: scaled"),
    CallingNest("of_parent_type", "use pointers_mod", "w(i) = b(i) ; a(i) = of_parent(one, i + 1)",
                "type(longer) :: one ; real(8), target :: w(100)"),
    CallingNest("writes_behind_pointer", "use pointers_mod", "call writes_behind(one, i, b(i))",
                "type(base) :: one"),
    CallingNest("widened_generic", "use wider_mod", "a(i) = mixed(i)"),
    CallingNest("split_statement", "use wider_mod", "a(i) = split(i)"),
    CallingNest("included_interface", "use included_mod", "a(i) = joined(i)"),
    CallingNest("included_equivalence", "use included_mod", "same(i) = of_included(i + 1)"),
    CallingNest("changed_in_bound", "use procs_mod ; use exports_mod, only: factor",
                "do j = 1, int(scaled(b(i))) ; factor = 1 ; a(i) = j ; end do", "integer :: j"),
    CallingNest("stated_generic", "use stated_mod", "a(i) = stated(i)"),
    CallingNest("sum_of_what_reads_it", "use procs_mod ; use exports_mod, only: factor",
                "factor = factor + scaled(b(i))"),
    CallingNest("largest_of_what_reads_it", "use procs_mod ; use exports_mod, only: factor",
                "factor = max(factor, scaled(b(i)))"),
    CallingNest("kept_of_what_reads_it", "use procs_mod ; use exports_mod, only: factor",
                "if (factor < scaled(b(i))) factor = scaled(b(i))"),
    CallingNest("missing_module", "use procs_mod, only: scaled ; use lost_mod",
                "a(i) = lost(b(i))"),
)  # fmt: skip
"""Loops with carried accesses, or calls whose effects are not derived."""


def program_text(nests: tuple[CallingNest, ...], texts: tuple[str, ...]) -> str:
    """Return the modules and subroutines with a program that prints all bits of the results."""
    modules = "".join(text for name, text in MODULES.items() if name not in NOT_COMPILED)
    calls = "".join(
        f"  a = [(mod(7 * i, 5), i = 1, n + 5)]\n  b = [(mod(5 * i, 7), i = 1, n + 5)]\n"
        f"  call {one.name}(n, a, b, k)\n  print '(a, 200z17)', '{one.name}', a, b\n"
        for one in nests
    )
    return f"""{modules}real(8) function elsewhere(x)
  real(8), intent(in) :: x
  elsewhere = x
end function elsewhere
{"".join(texts)}program run_nests
  use state_mod, only: v
  implicit none
  integer, parameter :: n = 60
  real(8) :: a(n + 5), b(n + 5)
  integer :: k(n), i
  v = [(mod(3 * i, 11), i = 0, 200)]
  k = [(i, i = 1, n)]
{calls}end program run_nests
"""
