"""Verdicts on nests of known truth: no unsafe answer, the clauses, and equal bits when they run."""

from __future__ import annotations

import os
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from psyclone_storage.analysis.bodies import verdict as verdict_module
from psyclone_storage.analysis.bodies.flow import Flow, flow_of
from psyclone_storage.analysis.bodies.verdict import Verdict
from psyclone_storage.base.records import replace
from psyclone_storage.ir import expr as ex
from psyclone_storage.ir import unit as un
from psyclone_storage.ir.directive import RegionOptions
from psyclone_storage.ir.expr import whole
from psyclone_storage.ir.facts import FactKind
from psyclone_storage.ir.operators import Operator
from psyclone_storage.ir.rewrite import rewritten
from psyclone_storage.ir.routine import Routine
from psyclone_storage.transform.file_bench import FileBench
from psyclone_storage.transform.file_blocks import AddDirective
from support.file_benches import file_bench, printed, subroutine_bench
from support.loop_nests import NESTS, TRAPS, LoopNest, module_text, program_text


@cache
def bench() -> FileBench:
    """Return the bench of all nests."""
    return file_bench(module_text((*NESTS, *TRAPS)))


def verdict(nest: LoopNest) -> Verdict:
    """Return the verdict on the outermost loop of a nest."""
    return bench().verdict(nest.name, "loop1")


def test_there_are_enough_nests() -> None:
    """Names are unique."""
    assert len(NESTS) >= 40
    assert len(TRAPS) >= 20
    assert len({one.name for one in (*NESTS, *TRAPS)}) == len(NESTS) + len(TRAPS)


@pytest.mark.parametrize("nest", TRAPS, ids=lambda one: one.name)
def test_no_trap_is_called_independent(nest: LoopNest) -> None:
    """Each has at least one reason with a place."""
    found = verdict(nest)
    assert not found.is_independent
    assert all(reason.span is not None for reason in found.reasons)


@pytest.mark.parametrize("nest", NESTS, ids=lambda one: one.name)
def test_a_parallel_nest_is_proved_with_its_clauses(nest: LoopNest) -> None:
    """The directive has the words of the clauses."""
    found = verdict(nest)
    assert found.is_independent, [reason.message for reason in found.reasons]
    own = file_bench(module_text((nest,)))
    own.apply(AddDirective(nest.name, "loop1", options=RegionOptions(sums=True)))
    line = next(line for line in printed(own).splitlines() if "!$omp parallel do" in line)
    assert all(word in line for word in nest.clauses), line


def _shared() -> str:
    """Return the module in which each parallel nest has threads."""
    own = file_bench(module_text(NESTS))
    for nest in NESTS:
        own.apply(AddDirective(nest.name, "loop1", options=RegionOptions(sums=True)))
    return printed(own)


def _reversed() -> str:
    """Return the module in which each parallel nest without last values runs backwards."""
    own = file_bench(module_text(NESTS))
    for nest in NESTS:
        if own.verdict(nest.name, "loop1").clauses.lastprivate:
            continue
        before = own.code(nest.name).body

        def backwards(line: un.Line) -> tuple[un.Line, ...]:
            if not isinstance(line, un.Do) or line.uid != "loop1":
                return (line,)
            if line.step is not None:
                return (line,)
            back = ex.Unary(Operator.MINUS, whole(1))
            return (replace(line, start=line.stop, stop=line.start, step=back),)

        own.edit(nest.name, before, rewritten(before, backwards))
    return printed(own)


@pytest.mark.fortran
def test_parallel_nests_give_equal_bits(tmp_path: Path) -> None:
    """Serial, on 1, 2 and 4 threads, and backwards in serial."""
    texts = {"serial": module_text(NESTS), "shared": _shared(), "reversed": _reversed()}
    outputs = {}
    for name, text in texts.items():
        folder = tmp_path / name
        folder.mkdir()
        (folder / "nests.f90").write_text(text)
        (folder / "run.f90").write_text(program_text(NESTS))
        command = ["gfortran", "-O1", "-fopenmp", "nests.f90", "run.f90", "-o", "run"]
        subprocess.run(command, cwd=folder, check=True, capture_output=True)
        for threads in ("1", "2", "4") if name == "shared" else ("1",):
            made = subprocess.run(
                ["./run"], cwd=folder, check=True, capture_output=True, text=True,
                env={**os.environ, "OMP_NUM_THREADS": threads},
            )  # fmt: skip
            outputs[name, threads] = made.stdout
    expected = outputs["serial", "1"]
    assert expected.count("\n") > len(NESTS)
    for key, text in outputs.items():
        assert text == expected, key


RENAMED = """module renamed_mod
  use others_mod, only: hosted => v
  implicit none
contains
  pure real function of_other(x)
    use others_mod, only: v
    real, intent(in) :: x
    of_other = x + v
  end function of_other
  pure real function of_host(x)
    real, intent(in) :: x
    of_host = x + hosted
  end function of_host
  subroutine work(a, n)
    use others_mod, only: w => v, u
    integer, intent(in) :: n
    real, intent(inout) :: a(n)
    integer :: i
    do i = 1, n
      {body}
    end do
  end subroutine work
end module renamed_mod
"""


@pytest.mark.parametrize(
    ("body", "clause"),
    [
        ("a(i) = of_other(a(i)) ; w = w * 0.5", None),
        ("a(i) = of_host(a(i)) ; w = w * 0.5", None),
        ("hosted = a(i) ; a(i) = w", None),
        ("w = w + a(i) ; a(i) = hosted", None),
        ("a(i) = of_other(a(i)) + w", ()),
        ("w = w * a(i)", ("w",)),
        ("u = u + a(i) ; a(i) = w", ("u",)),
    ],
)
def test_a_variable_of_another_module_may_have_several_names(
    body: str, clause: tuple[str, ...] | None, tmp_path: Path
) -> None:
    """A clause has the name that the routine knows."""
    (tmp_path / "others_mod.f90").write_text(
        "module others_mod\n  implicit none\n  real :: v, u\nend module others_mod\n"
    )
    own = file_bench(RENAMED.format(body=body), folders=(tmp_path,))
    found = own.verdict("work", "loop1")
    assert found.is_independent is (clause is not None)
    if clause is not None:
        assert tuple(one.name for one in found.clauses.reductions) == clause


CHANGED_OUTSIDE = """module outside_mod
  implicit none
  integer :: stride
contains
  subroutine change()
    stride = 0
  end subroutine change
  subroutine by_module(a, n)
    integer, intent(in) :: n
    real, intent(inout) :: a(0:n)
    integer :: i
    stride = 1
    {between}
    do i = 1, n
      a(i * stride) = i
    end do
  end subroutine by_module
  subroutine by_host(a, n)
    integer, intent(in) :: n
    real, intent(inout) :: a(0:n)
    integer :: i, own
    own = 1
    {inner}
    do i = 1, n
      a(i * own) = i
    end do
  contains
    subroutine set_own()
      own = 0
    end subroutine set_own
  end subroutine by_host
end module outside_mod
"""


@pytest.mark.parametrize(
    ("between", "inner", "known"),
    [
        ("continue", "continue", True),
        ("call change()", "call set_own()", False),
        ("if (n > 3) call change()", "if (n > 3) call set_own()", False),
        ("do i = 1, 2 ; call change() ; end do", "do i = 1, 2 ; call set_own() ; end do", False),
    ],
)
def test_a_call_may_change_what_others_see(between: str, inner: str, known: bool) -> None:
    """A value that a variable of a module, or of the host, had before a call is not used."""
    own = file_bench(CHANGED_OUTSIDE.format(between=between, inner=inner))
    for routine in ("by_module", "by_host"):
        uid = own.loops(routine)[-1].uid
        found = own.verdict(routine, uid)
        assert found.is_independent is known, routine


TARGETS = """subroutine work(x, y, n)
  integer, intent(in) :: n
  real, {first} :: x({shape})
  real, {second} :: y({shape})
  integer :: i
  do i = 2, n
    x(i) = y(i - 1)
  end do
end subroutine work
"""


@pytest.mark.parametrize(
    ("first", "second", "shape", "independent"),
    [
        ("target", "target", ":", False),
        ("target, intent(inout)", "target", ":", False),
        ("target", "target, intent(in)", ":", True),
        ("target", "intent(inout)", ":", True),
        ("target, contiguous", "target", ":", True),
        ("target", "target", "n", True),
    ],
)
def test_two_dummies_may_be_one_target(
    first: str, second: str, shape: str, independent: bool
) -> None:
    """The language allows it for assumed shapes that are not contiguous and may be changed."""
    own = file_bench(TARGETS.format(first=first, second=second, shape=shape))
    assert own.verdict("work", "loop1").is_independent is independent


WORDS = """subroutine work(a, n)
  integer, intent(in) :: n
  real, intent(inout) :: a(n)
  integer :: i
  real :: t
  do i = 1, n
#ifdef FIRST
    if (a(i) > 0) then
#endif
    a(i) = 1
#ifdef FIRST
    end if
#endif
  end do
  do i = 1, n
    all: block
      if (a(i) > 3) exit all
      t = a(i)
    end block all
    a(i) = t
  end do
end subroutine work
"""


def test_words_of_statements_are_no_variables() -> None:
    """Neither keywords of what is not understood nor names of constructs are in reasons."""
    own = file_bench(WORDS)
    for uid in ("loop1", "loop2"):
        reasons = own.verdict("work", uid).reasons
        assert reasons
        for word in ("if", "then", "end", "all"):
            assert not any(f"'{word}'" in reason.message for reason in reasons), word


@pytest.mark.parametrize(
    ("name", "pair"),
    [
        ("equivalence", "'e1(i)' is written, and 'e2(i)' is read"),
        ("associated_name", "'c(i)' is written, and 'a(i)' is read"),
    ],
)
def test_a_reason_names_the_variable_that_shares_storage(name: str, pair: str) -> None:
    (reason,) = bench().verdict(name, "loop1").reasons
    assert f"{pair}, which may share its storage." in reason.message


def test_a_reason_names_a_counter_that_is_read_after_its_loop() -> None:
    bench_of_counter = subroutine_bench(
        "do i = 1, 9\nb(i) = 1\nend do\nb(1) = i", "real :: b(9)\ninteger :: i"
    )
    (reason,) = bench_of_counter.verdict("work", "loop1").reasons
    assert reason.message == "The value that the loop over 'i' leaves in 'i' may be read."
    assert "nothing reads after the loop" in reason.hint


def test_a_pure_function_reads_the_pointers_of_its_module() -> None:
    """The reason names the pointer, not a word of the function."""
    (reason,) = bench().verdict("targets_of_a_module", "loop1").reasons
    assert "'at' is read" in reason.message


@pytest.mark.parametrize("count", [1, 10])
def test_the_flow_with_promises_is_computed_once(
    count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All loops call the same procedure, whose promise makes them independent."""
    computed: list[frozenset[FactKind]] = []

    def counted(code: Routine, assumed: frozenset[FactKind], *others: Any) -> Flow:
        computed.append(assumed)
        return flow_of(code, assumed, *others)

    monkeypatch.setattr(verdict_module, "flow_of", counted)
    loop = "do i = 1, n\ncall unknown(a(i))\nend do\n"
    bench = subroutine_bench(loop * count, "real :: a(n)\n    integer :: i")
    cures = [bench.cures("work", one.uid) for one in bench.loops("work")]
    assert all("unknown" in {fact.name for fact in found} for found in cures)
    assert len(computed) == 3


GROWING = """module growing_mod
  implicit none
  type :: growing
    integer :: k
    integer, allocatable :: c(:)
  end type growing
contains
  subroutine work(u, h)
    type(growing), intent(in) :: u(9)
    integer, intent(out) :: h(9)
    type(growing) :: one
    integer :: i
    do i = 1, 9
      one = u(i)
      h(i) = sum(one%c)
    end do
    {later}
  end subroutine work
end module growing_mod
"""


@pytest.mark.parametrize(
    ("later", "private"),
    [("", True), ("one%k = 3", True), ("one%c(2) = 3", False), ("h(1) = size(one%c)", False)],
)
def test_a_private_object_is_not_expected_to_have_allocated_components(
    later: str, private: bool
) -> None:
    """After the loop, they are those of the object from before it."""
    found = file_bench(GROWING.format(later=later)).verdict("work", "loop1")
    assert found.is_independent is private
    assert not private or found.clauses.private == ("one",)


COMMON = """module blocks_mod
  implicit none
  real :: x(99)
  {module}
contains
  subroutine work(n)
    integer, intent(in) :: n
    real :: y(99), z(99)
    integer :: i
    common /block/ y, z
    do i = 1, n
      y(i) = {read}(i + 1)
    end do
  end subroutine work
end module blocks_mod
"""


@pytest.mark.parametrize(
    ("module", "read", "independent"),
    [
        ("integer, parameter :: k = 4", "z", True),
        ("common /block/ x", "z", False),
        ("common /block/ x", "x", False),
        ("integer, parameter :: k = 4", "y", False),
    ],
)
def test_members_of_a_common_block_share_no_data(module: str, read: str, independent: bool) -> None:
    """Another routine or the module may give its data other names."""
    found = file_bench(COMMON.format(module=module, read=read)).verdict("work", "loop1")
    assert found.is_independent is independent


MEMBERS = """subroutine work(n)
  implicit none
  integer, intent(in) :: n
  real :: x(99), y(99), t
  real, target :: w(99)
  real, pointer :: p(:)
  integer :: i
  common /block/ x, y
  {statement}
  p => w
  {before}
  do i = 1, n
    {body}
  end do
  {after}
end subroutine work
"""


@pytest.mark.parametrize(
    ("statement", "before", "body", "independent"),
    [
        ("save /block/", "", "x(i) = p(i + 1) + y(i + 1)", True),
        ("target :: x", "", "x(i) = p(i + 1)", False),
        ("target x", "", "y(i) = p(i + 1)", True),
        ("pointer (address, t)", "", "x(i) = i ; y(i) = t", False),
        ("include 'absent.inc'", "", "x(i) = p(i + 1)", False),
        ("!$omp threadprivate(/block/)", "", "w(i) = y(i)", False),
        ("!$omp threadprivate(/other/)", "", "w(i) = t", True),
        ("save /block/", "associate (x => y(2:))", "y(i) = x(i)", False),
        ("save /block/", "associate (t => y(2))", "y(i) = t", False),
    ],
)
def test_other_statements_may_join_members_of_a_common_block(
    statement: str, before: str, body: str, independent: bool
) -> None:
    """Separate attributes, names of blocks and directives apply to members, too."""
    after = "end associate" if before else ""
    text = MEMBERS.format(statement=statement, before=before, body=body, after=after)
    assert file_bench(text).verdict("work", "loop1").is_independent is independent


MODULES = """module first_mod
  implicit none
  real :: x(99)
  {statement}
end module first_mod
module second_mod
  implicit none
  real :: z(99)
  {statement}
end module second_mod
subroutine work(n)
  use first_mod
  use second_mod
  implicit none
  integer, intent(in) :: n
  integer :: i
  do i = 1, n
    x(i) = z(i + 1)
  end do
end subroutine work
"""


@pytest.mark.parametrize(
    ("statement", "independent"),
    [("save", True), ("common /block/ {}", False), ("target :: {}", False)],
)
def test_modules_may_join_their_variables(statement: str, independent: bool) -> None:
    """Two modules may name the data of one common block."""
    first, second = MODULES.split("end module first_mod")
    text = "end module first_mod".join(
        part.format(statement=statement.format(name))
        for part, name in ((first, "x"), (second, "z"))
    )
    assert file_bench(text).verdict("work", "loop1").is_independent is independent


@pytest.mark.parametrize("change", ["w = b(1:j, 1:j)", "call unknown(w)"])
def test_an_inquiry_reads_no_elements(change: str) -> None:
    """Only the outer loop may reallocate the array whose elements the inner one writes."""
    bench = subroutine_bench(
        f"do j = 1, 9\n{change}\ndo i = 1, size(w, 2)\nw(1:size(w, 1), i) = size(w) + i\nend do\n"
        "end do\nk = size(w)",
        "real :: b(9, 9)\nreal, allocatable :: w(:, :)\ninteger :: i, j, k",
    )
    verdicts = [bench.verdict("work", uid).is_independent for uid in ("loop1", "loop2")]
    assert verdicts == [False, True]


INSIDE = """module columns_mod
  implicit none
  real, target :: t(99)
  real :: factor
contains
  subroutine work(n, b)
    integer, intent(in) :: n
    real, intent(inout) :: b(n)
    integer :: i
    do i = 1, n
      {statement}
    end do
    b(1) = total(n)
  contains
    real function total(m)
      integer, intent(in) :: m
      {declared}
      total = factor
      do i = 1, m
        total = total + b(i)
      end do
    end function total
  end subroutine work
  pure real function scaled(x)
    real, intent(in) :: x
    if (x > 0) then
      scaled = {value}
    else
      scaled = 0
    end if
  end function scaled
end module columns_mod
"""
"""A loop that a pure function of the module and an internal procedure may concern."""


@pytest.mark.parametrize(
    ("statement", "declared", "value", "independent"),
    [
        ("b(i) = 2", "integer :: i", "x", True),
        ("b(i) = 2", "", "x", False),
        ("b(i) = 2", "#ifdef OWN\n      integer :: i\n#endif", "x", False),
        ("t(i) = scaled(b(i))", "integer :: i", "x * factor", True),
        ("t(i) = scaled(b(i))", "integer :: i", "x * t(3)", False),
        ("factor = b(i)\nt(i) = scaled(b(i))", "integer :: i", "x * factor", False),
    ],
)
def test_procedures_may_concern_only_what_they_do_not_declare(
    statement: str, declared: str, value: str, independent: bool
) -> None:
    """Keywords and local variables of a procedure denote no variables outside of it."""
    text = INSIDE.format(statement=statement, declared=declared, value=value)
    assert file_bench(text).verdict("work", "loop1").is_independent is independent
