"""The Fortran of each kind of statement and declaration."""

from __future__ import annotations

import pytest

from psyclone_storage.base.diagnostic import InternalError
from psyclone_storage.ir.expr import Binary, Index, Literal, Member, Name, Range
from psyclone_storage.ir.operators import Operator
from psyclone_storage.ir.types import DerivedType, Intrinsic, ScalarType
from psyclone_storage.ir.unit import (
    Allocate,
    Assign,
    Blank,
    Branch,
    Call,
    Comment,
    Deallocate,
    Declare,
    DirectiveLine,
    Do,
    GeneratedRoutine,
    If,
    Imported,
    Line,
    PointerAssign,
    Unit,
    Use,
)
from psyclone_storage.languages.fortran.print.printer import emit_unit

INTEGER = ScalarType(Intrinsic.INTEGER, "i_def")
ONE = Literal("1", Intrinsic.INTEGER)
A, B = Name("a"), Name("b")


def printed(*lines: Line) -> list[str]:
    """Return the text of statements, from the column that a routine's body starts in."""
    unit = Unit("m", (), (GeneratedRoutine("r", (), (), lines),))
    text = emit_unit(unit)
    body = text.split("subroutine r()\n\n")[1].split("  end subroutine r")[0]
    return [line.removeprefix("    ") for line in body.splitlines()]


def test_the_frame_of_a_module() -> None:
    uses = (
        Use("constants_mod", (Imported("i_def", "i_def"),)),
        Use("iso_fortran_env", (Imported("own", "real32"),), intrinsic=True),
    )
    dummies = (Declare("n", INTEGER, ("intent(in)",)),)
    routine = GeneratedRoutine("r", dummies, (), (Assign(A, ONE),), comment="What it does.")
    assert emit_unit(Unit("m", uses, (routine,), "Made by hand.")) == (
        "! Made by hand.\n"
        "module m\n"
        "  use constants_mod, only: i_def\n"
        "  use, intrinsic :: iso_fortran_env, only: own => real32\n"
        "\n"
        "  implicit none\n"
        "\n"
        "  private\n"
        "  public :: r\n"
        "\n"
        "contains\n"
        "\n"
        "  ! What it does.\n"
        "  subroutine r(n)\n"
        "    integer(kind=i_def), intent(in) :: n\n"
        "\n"
        "    a = 1\n"
        "  end subroutine r\n"
        "\n"
        "end module m\n"
    )


def test_dummies_have_a_line_each_and_variables_are_grouped_by_type() -> None:
    pointer = ("pointer", "contiguous")
    real = ScalarType(Intrinsic.REAL)
    dummies = (Declare("i", INTEGER), Declare("j", INTEGER))
    variables = (
        Declare("x", real, pointer, (Range(),)),
        Declare("n", INTEGER),
        Declare("y", real, pointer, (Range(),)),
        Declare("p", DerivedType("t"), (), (ONE,)),
        Declare("q", DerivedType("t"), ("pointer",), polymorphic=True),
        Declare("m", INTEGER),
    )
    text = emit_unit(Unit("m", (), (GeneratedRoutine("r", dummies, variables, ()),)))
    assert text.split("subroutine r(i, j)\n")[1].split("\n  end")[0].splitlines() == [
        "    integer(kind=i_def) :: i",
        "    integer(kind=i_def) :: j",
        "",
        "    real, pointer, contiguous :: x(:), y(:)",
        "    integer(kind=i_def) :: n, m",
        "    type(t) :: p(1)",
        "    class(t), pointer :: q",
    ]


def test_assignments_calls_and_memory() -> None:
    assert printed(
        Comment("Why."),
        Assign(A, Binary(Operator.PLUS, B, ONE)),
        PointerAssign(A, Member(B, "c")),
        Blank(),
        Call(Member(A, "go"), (ONE, B)),
        Call(Name("stop_it")),
        Allocate((Index(A, (ONE, B)), Index(B, (ONE,)))),
        Deallocate((A, B)),
    ) == [
        "! Why.",
        "a = b + 1",
        "a => b%c",
        "",
        "call a%go(1, b)",
        "call stop_it()",
        "allocate(a(1, b), b(1))",
        "deallocate(a, b)",
    ]


def test_loops_and_choices_are_indented() -> None:
    choice = If(
        (
            Branch(Binary(Operator.EQUAL, A, ONE), (Assign(B, ONE),)),
            Branch(Name("c"), (Assign(B, A),)),
        ),
        (Call(Name("fail")),),
    )
    assert printed(Do(Name("i"), ONE, Name("n"), (Do(Name("j"), ONE, A, (choice,)),))) == [
        "do i = 1, n",
        "  do j = 1, a",
        "    if (a == 1) then",
        "      b = 1",
        "    else if (c) then",
        "      b = a",
        "    else",
        "      call fail()",
        "    end if",
        "  end do",
        "end do",
    ]


def test_a_long_directive_repeats_its_sentinel() -> None:
    names = ", ".join(f"variable_{number}" for number in range(10))
    first, second = printed(DirectiveLine(f"omp parallel do default(none) shared({names})"))
    assert first.startswith("!$omp parallel do")
    assert first.endswith(" &")
    assert second.startswith("!$omp variable_")


def test_the_text_is_independent_of_anything_but_the_unit() -> None:
    unit = Unit("m", (), (GeneratedRoutine("r", (), (), (Assign(A, ONE),)),), "Head.")
    assert emit_unit(unit) == emit_unit(unit)


def test_an_unknown_statement_is_refused() -> None:
    with pytest.raises(InternalError, match="no spelling"):
        printed("not a statement")  # type: ignore[arg-type]
