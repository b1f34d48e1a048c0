"""Does a written subroutine take what its metadata says?

The messages in full: `tests/errors/M201` to `M203`.
"""

from __future__ import annotations

import pytest

from lfric_schedules import field_arg, kernel, operator_arg, scalar_arg
from psyclone_storage.base.diagnostic import Severity
from psyclone_storage.base.source import SourceText
from psyclone_storage.domains.lfric.kernel_check import check_lfric_procedure
from psyclone_storage.ir.kernel import (
    Access,
    ArgKind,
    BasisOperation,
    BasisShape,
    Kernel,
    KernelArg,
    SpaceFunctions,
)
from psyclone_storage.ir.types import Intrinsic
from psyclone_storage.languages.fortran.parse.routine import read_routine

DRAG = kernel(field_arg("w3", Access.WRITE), field_arg("w3"), scalar_arg())
MATRIX = kernel(field_arg("w3", Access.INC), operator_arg("w3", "w2"))
TABLE = kernel(
    field_arg("w3", Access.WRITE),
    KernelArg(ArgKind.SCALAR_ARRAY, Intrinsic.INTEGER, Access.READ, rank=2),
    scalar_arg(Intrinsic.LOGICAL),
)
BASIS = kernel(
    field_arg("w2", Access.INC),
    functions=(SpaceFunctions("w2", (BasisOperation.BASIS, BasisOperation.DIFF_BASIS)),),
    shapes=(BasisShape.XYOZ,),
)

DRAG_DUMMIES = "nlayers, drag, wind, dt, ndf, undf, map"
DRAG_DECLARATIONS = """
integer(kind=i_def), intent(in) :: nlayers, ndf, undf
integer(kind=i_def), dimension(ndf), intent(in) :: map
real(kind=r_def), dimension(undf), intent(inout) :: drag
real(kind=r_def), dimension(undf), intent(in) :: wind
real(kind=r_def), intent(in) :: dt
"""


def found(checked: Kernel, dummies: str, declarations: str) -> list[str]:
    """Return `error: <what>` or `warning: <what>` for each difference."""
    text = (
        "module work_mod\ncontains\n"
        f"subroutine work_code({dummies})\n{declarations}\nend subroutine work_code\n"
        "end module work_mod\n"
    )
    routine = read_routine(SourceText("work_mod.f90", text), "work_code")
    return [
        f"{problem.severity.value}: {problem.message}"
        for problem in check_lfric_procedure(checked, routine)
    ]


def drag(before: str, after: str) -> list[str]:
    """Return the differences after one change of a subroutine that is right."""
    assert before in DRAG_DECLARATIONS
    return found(DRAG, DRAG_DUMMIES, DRAG_DECLARATIONS.replace(before, after))


def test_what_is_right_is_accepted() -> None:
    assert found(DRAG, DRAG_DUMMIES, DRAG_DECLARATIONS) == []


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("real(kind=r_def), intent(in) :: dt", "real(r_solver), intent(in) :: dt"),
        (
            "real(kind=r_def), dimension(undf), intent(in)",
            "real(r_tran), dimension(undf), intent(in)",
        ),
        ("dimension(undf), intent(in) :: wind", "dimension(:), intent(in) :: wind"),
        ("dimension(undf), intent(in) :: wind", "dimension(*), intent(in) :: wind"),
        ("dimension(undf), intent(in) :: wind", "intent(in) :: wind(0:undf-1)"),
        ("dimension(ndf), intent(in) :: map", "intent(in) :: map(8)"),
        ("kind=i_def", "I_DEF"),
    ],
)
def test_what_is_the_author_s_choice_is_accepted(before: str, after: str) -> None:
    """Any real precision, an assumed shape, an expression, a number that the author knows."""
    assert drag(before, after) == []


@pytest.mark.parametrize(
    ("before", "after", "what"),
    [
        ("integer(kind=i_def), intent(in) :: nlayers,",
            "real(r_def), intent(in) :: nlayers\ninteger(i_def), intent(in) ::",
         "Argument 1, 'nlayers', is real, not integer."),
        ("real(kind=r_def), intent(in) :: dt", "type(r_def), intent(in) :: dt",
         "Argument 4, 'dt', is of type 'r_def', not real."),
        ("integer(kind=i_def), dimension", "integer(kind=i_long), dimension",
         "Argument 7, 'map', has the kind 'i_long', not 'i_def'."),
        ("dimension(ndf), intent(in) :: map", "intent(in) :: map",
         "Argument 7, 'map', is not an array."),
        ("intent(in) :: dt", "intent(in) :: dt(3)", "Argument 4, 'dt', is an array, not a scalar."),
        ("dimension(undf), intent(inout)", "dimension(undf, 2), intent(inout)",
         "Argument 2, 'drag', has 2 dimensions, not 1."),
        ("intent(inout) :: drag", "intent(in) :: drag",
         "Argument 2, 'drag', has the intent 'in', but the metadata says that it is written."),
        ("intent(in) :: wind", "intent(inout) :: wind",
         "Argument 3, 'wind', has the intent 'inout', but the metadata says that it is read."),
        (", intent(in) :: dt", " :: dt", "Argument 4, 'dt', has no intent."),
        ("dimension(undf), intent(in) :: wind", "dimension(ndf), intent(in) :: wind",
         "Argument 3, 'wind', has extent 'ndf' in dimension 1, which is not 'undf_w3'."),
    ],
)  # fmt: skip
def test_what_differs_is_an_error(before: str, after: str, what: str) -> None:
    assert drag(before, after) == [f"error: {what}"]


def test_an_integer_of_the_default_kind_is_a_warning() -> None:
    declarations = DRAG_DECLARATIONS.replace("integer(kind=i_def), dimension", "integer, dimension")
    assert found(DRAG, DRAG_DUMMIES, declarations) == [
        f"{Severity.WARNING.value}: Argument 7, 'map', has the default kind, not 'i_def'."
    ]


def test_one_argument_may_differ_in_several_ways() -> None:
    changed = "real(r_def), dimension(ndf, 2), intent(out) :: map"
    assert len(drag("integer(kind=i_def), dimension(ndf), intent(in) :: map", changed)) == 3


def test_other_roles() -> None:
    right = """
    integer(i_def), intent(in) :: cell, nlayers, ncell_3d, ndf3, undf3, map3(ndf3), ndf2
    real(r_def), intent(inout) :: x(undf3)
    real(r_solver), intent(in) :: op(ncell_3d, ndf3, ndf2)
    """
    dummies = "cell, nlayers, x, ncell_3d, op, ndf3, undf3, map3, ndf2"
    assert found(MATRIX, dummies, right) == []
    swapped = right.replace("op(ncell_3d, ndf3, ndf2)", "op(ncell_3d, ndf2, ndf3)")
    assert found(MATRIX, dummies, swapped) == [
        "error: Argument 5, 'op', has extent 'ndf2' in dimension 2, which is not 'ndf_w3'."
    ]


def test_all_operators_have_as_many_cells() -> None:
    two = kernel(operator_arg("w3", "w3", Access.WRITE), operator_arg("w3", "w3"))
    declarations = """
    integer(i_def), intent(in) :: cell, nlayers, ncell_a, ncell_b, ndf
    real(r_def), intent(inout) :: a(ncell_a, ndf, ndf)
    real(r_def), intent(in) :: b(ncell_a, ndf, ndf)
    """
    assert found(two, "cell, nlayers, ncell_a, a, ncell_b, b, ndf", declarations) == []


def test_kinds_of_integers_and_logicals_matter() -> None:
    declarations = """
    integer(i_def), intent(in) :: nlayers, ndf, undf, map(ndf), sizes(2)
    integer(i_def), intent(in) :: list(sizes(1), sizes(2))
    logical(l_def), intent(in) :: flag
    real(r_def), intent(inout) :: x(undf)
    """
    dummies = "nlayers, x, sizes, list, flag, ndf, undf, map"
    assert found(TABLE, dummies, declarations) == []
    (problem,) = found(TABLE, dummies, declarations.replace("logical(l_def)", "logical(c_bool)"))
    assert problem == "error: Argument 5, 'flag', has the kind 'c_bool', not 'l_def'."
    (problem,) = found(TABLE, dummies, declarations.replace("logical(l_def)", "logical"))
    assert problem == "error: Argument 5, 'flag', has the default kind, not 'l_def'."


@pytest.mark.parametrize(
    ("extents", "wrong"),
    [("3, ndf, np, nz", 0), ("3, ndf, 4, 5", 0), ("1, ndf, np, nz", 1), ("3, np, ndf, nz", 1)],
)
def test_a_number_must_be_right_where_the_metadata_says_a_number(extents: str, wrong: int) -> None:
    declarations = f"""
    integer(i_def), intent(in) :: nlayers, ndf, undf, map(ndf), np, nz
    real(r_def), intent(inout) :: x(undf)
    real(r_def), intent(in) :: basis({extents}), diff(1, ndf, np, nz), wxy(np), wz(nz)
    """
    dummies = "nlayers, x, ndf, undf, map, basis, diff, np, nz, wxy, wz"
    assert len(found(BASIS, dummies, declarations)) == wrong


def test_a_wrong_number_of_arguments_is_the_only_complaint() -> None:
    (problem,) = found(DRAG, "nlayers, drag", DRAG_DECLARATIONS)
    assert (
        problem == "error: 'work_code' has 2 arguments, but the metadata of 'work_type' asks for 7."
    )


def test_a_dummy_without_declaration_is_reported() -> None:
    problems = drag("real(kind=r_def), intent(in) :: dt", "")
    assert problems == ["error: Argument 4 of 'work_code', 'dt', is not declared."]
