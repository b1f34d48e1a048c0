"""Built-ins written out, reductions, and run-time checks."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lfric_schedules import (
    OWNED,
    PLAIN,
    body_of,
    built_in,
    call,
    component,
    dof_loop,
    field,
    field_arg,
    kernel,
    loop,
    lowered,
    program,
    scalar,
)
from psyclone_storage.base.diagnostic import CompileError
from psyclone_storage.ir.expr import Element, Expr, Literal, Name, Unary, whole
from psyclone_storage.ir.kernel import Access, ReductionOp
from psyclone_storage.ir.operators import Operator
from psyclone_storage.ir.region import Depth
from psyclone_storage.ir.schedule import (
    Actual,
    Datum,
    DatumRole,
    Extent,
    GlobalReduction,
    HaloExchange,
    Reach,
)
from psyclone_storage.ir.types import Intrinsic, ScalarType
from psyclone_storage.lowering.lowering import lower_program
from psyclone_storage.targets.lfric_fortran.checks import CheckLevel
from psyclone_storage.targets.lfric_fortran.table import lfric_infrastructure

INTEGER = ScalarType(Intrinsic.INTEGER, "i_def")
SOLVER = ScalarType(Intrinsic.REAL, "r_solver")
FIELDS = (field("f1"), field("f2"), field("f3"))
SOLVER_FIELDS = tuple(field(name, "r_solver_field_type") for name in ("s1", "s2"))
COUNTS = tuple(field(name, "integer_field_type") for name in ("n1", "n2"))
DATA = (
    *FIELDS, *SOLVER_FIELDS, *COUNTS, scalar("a"), scalar("b"), scalar("s", SOLVER),
    scalar("n", INTEGER), field("chi", vector=3),
)  # fmt: skip


def real(text: str, kind: str | None = None) -> Literal:
    return Literal(text, Intrinsic.REAL, kind)


@pytest.mark.parametrize(
    ("name", "args", "line"),
    [
        ("X_plus_Y", ("f1", "f2", "f3"), "f1_data(df) = f2_data(df) + f3_data(df)"),
        ("inc_X_plus_bY", ("f1", "b", "f2"), "f1_data(df) = f1_data(df) + b * f2_data(df)"),
        ("aX_plus_aY", ("f1", "a", "f2", "f3"), "f1_data(df) = a * (f2_data(df) + f3_data(df))"),
        ("setval_c", ("f1", real("0.0")), "f1_data(df) = 0.0"),
        ("setval_c", ("f1", real("0.5_r_def", "r_def")), "f1_data(df) = 0.5_r_def"),
        (
            "inc_a_times_X",
            (Unary(Operator.MINUS, real("1.0")), "f1"),
            "f1_data(df) = (-1.0) * f1_data(df)",
        ),
        ("setval_X", ("chi2", "f1"), "chi_2_data(df) = f1_data(df)"),
        ("inc_X_powint_n", ("f1", "n"), "f1_data(df) = f1_data(df) ** n"),
        ("setval_random", ("f1",), "call random_number(f1_data(df))"),
        ("sign_X", ("f1", "a", "f2"), "f1_data(df) = sign(a, f2_data(df))"),
        ("int_X_plus_Y", ("n1", "n1", "n2"), "n1_data(df) = n1_data(df) + n2_data(df)"),
        ("real_to_int_X", ("n1", "f1"), "n1_data(df) = int(f1_data(df), kind=i_def)"),
        ("int_to_real_X", ("s1", "n1"), "s1_data(df) = real(n1_data(df), kind=r_solver)"),
        ("real_to_real_X", ("s1", "f1"), "s1_data(df) = real(f1_data(df), kind=r_solver)"),
    ],
)
def test_the_formula_of_a_built_in(name: str, args: tuple[str | Expr, ...], line: str) -> None:
    actuals: list[str | Expr | Actual] = [
        component("chi", 2) if arg == "chi2" else arg for arg in args
    ]
    text = lowered(DATA, dof_loop(built_in(name, *actuals)))
    assert line in body_of(text)
    assert f"      ! Built-in: {name}\n" in text


@pytest.mark.parametrize(
    ("name", "args", "line"),
    [
        ("setval_X", ("s1", "f1"), "s1_data(df) = real(f1_data(df), kind=r_solver)"),
        ("inc_a_times_X", ("a", "s1"), "s1_data(df) = real(a * s1_data(df), kind=r_solver)"),
        ("setval_c", ("s1", "a"), "s1_data(df) = real(a, kind=r_solver)"),
        (
            "setval_c",
            ("s1", real("0.1_r_def", "r_def")),
            "s1_data(df) = real(0.1_r_def, kind=r_solver)",
        ),
        ("inc_X_powint_n", ("s1", "n"), "s1_data(df) = s1_data(df) ** n"),
        ("inc_a_times_X", ("s", "s1"), "s1_data(df) = s * s1_data(df)"),
    ],
)
def test_mixed_precision_is_converted_in_so_many_words(
    name: str, args: tuple[str | Expr, ...], line: str
) -> None:
    assert line in body_of(lowered(DATA, dof_loop(built_in(name, *args))))


# ---------------------------------------------------------------------------- reductions


@pytest.mark.parametrize(
    ("name", "operation", "start", "step", "procedure"),
    [
        ("sum_X", ReductionOp.SUM, "0.0_r_def", "a + f1_data(df)", "get_sum"),
        ("minval_X", ReductionOp.MIN, "huge(a)", "min(a, f1_data(df))", "get_min"),
        ("maxval_X", ReductionOp.MAX, "-huge(a)", "max(a, f1_data(df))", "get_max"),
    ],
)
def test_a_reduction(
    name: str, operation: ReductionOp, start: str, step: str, procedure: str
) -> None:
    item = dof_loop(built_in(name, "a", "f1"), extent=OWNED)
    text = lowered((scalar("a"), field("f1")), item, GlobalReduction("g", "a", operation))
    body = body_of(text)
    first = body.index(f"a = {start}")
    assert body[first + 1 : first + 6] == [
        "do df = loop1_start, loop1_stop",
        f"a = {step}",
        "end do",
        "a_on_ranks%value = a",
        f"a = a_on_ranks%{procedure}()",
    ]
    assert "real(kind=r_def), intent(out) :: a" in text
    assert "type(scalar_type) :: a_on_ranks" in text


def test_a_scalar_that_is_read_before_it_is_reduced_goes_both_ways() -> None:
    loops = (
        dof_loop(built_in("setval_c", "f1", "a")),
        dof_loop(built_in("sum_X", "a", "f1"), uid="loop2"),
    )
    assert "intent(inout) :: a" in lowered((scalar("a"), field("f1")), *loops)


def test_the_kind_of_a_reduction_chooses_its_type() -> None:
    data = (scalar("s", SOLVER), SOLVER_FIELDS[0])
    item = dof_loop(built_in("sum_X", "s", "s1"))
    text = lowered(data, item, GlobalReduction("g", "s", ReductionOp.SUM))
    assert "use r_solver_scalar_mod, only: r_solver_scalar_type" in text
    assert "s = 0.0_r_solver" in body_of(text)


def test_a_kind_that_cannot_be_reduced_is_the_users_error() -> None:
    data = (scalar("s", ScalarType(Intrinsic.REAL, "r_um")), field("f1"))
    item = dof_loop(built_in("sum_X", "s", "f1"))
    with pytest.raises(CompileError, match=r"G001: .*'s', a value of kind 'r_um'"):
        lower_program(program(data, item, GlobalReduction("g", "s", ReductionOp.SUM)), PLAIN)


# ---------------------------------------------------------------------------- run-time checks


def checks(data: tuple[Datum, ...], *body: object, level: CheckLevel = CheckLevel.ERROR) -> str:
    text = lowered(data, *body, target=lfric_infrastructure(level))  # type: ignore[arg-type]
    return " ".join(body_of(text)).replace('" // "', "")


def test_no_checks_unless_asked_for() -> None:
    made = kernel(field_arg("w3", Access.WRITE))
    assert "log_event" not in lowered((field("f1"),), loop(call(made, "f1")))


def test_a_field_must_be_on_the_space_that_metadata_name() -> None:
    made = kernel(field_arg("w3", Access.WRITE), field_arg("any_space_1"))
    text = checks((field("f1"), field("f2")), loop(call(made, "f1", "f2")))
    assert "if (f1%which_function_space() /= W3) then call log_event(" in text
    assert "'f1' is not on the function space w3 that kernel work_type asks for." in text


def test_a_check_names_a_field_as_the_algorithm_does() -> None:
    made = kernel(field_arg("w3", Access.WRITE))
    element = replace(field("a_1"), actual=Element(Name("a"), (whole(1),)))
    text = checks((element,), loop(call(made, "a_1")))
    assert "field 'a(1)' is not on the function space w3" in text
    assert "field 'a(1)' is written by work_type but read-only." in text
    assert "f2%which" not in text


def test_some_wildcards_allow_some_spaces() -> None:
    made = kernel(
        field_arg("any_discontinuous_space_1", Access.WRITE), field_arg("any_w2", vector=2)
    )
    text = checks((field("f1"), field("f2", vector=2)), loop(call(made, "f1", "f2")))
    assert "if (f1%which_function_space() /= W3 .and. f1%which_function_space() /= " in text
    assert "f2(1)%which_function_space() /= W2broken" in text


def test_a_written_field_must_not_be_read_only() -> None:
    made = kernel(field_arg("w3", Access.WRITE), field_arg("w3"))
    text = checks((field("f1"), field("f2")), loop(call(made, "f1", "f2")))
    assert "if (f1_proxy%vspace%is_readonly()) then" in text
    assert "f2_proxy%vspace%is_readonly()" not in text


def test_the_level_of_messages_is_the_users_choice() -> None:
    made = kernel(field_arg("w3", Access.WRITE))
    item = loop(call(made, "f1"))
    assert "LOG_LEVEL_ERROR" in checks((field("f1"),), item)
    warned = checks((field("f1"),), item, level=CheckLevel.WARN)
    assert "LOG_LEVEL_WARNING" in warned
    assert "LOG_LEVEL_ERROR" not in warned


def test_stated_numbers_of_layers_and_values_are_tested() -> None:
    made = kernel(
        field_arg("w3", Access.WRITE),
        field_arg("w3", layers="2", data_per_dof="3"),
        field_arg("w3", layers="soil"),
    )
    text = checks((field("f1"), field("f2"), field("f3")), loop(call(made, "f1", "f2", "f3")))
    assert "if (nlayers_f2 /= 2) then call log_event(" in text
    assert "field 'f2' does not have 3 values at each dof, as kernel 'work_type' requires." in text
    assert text.count("/= 2)") == text.count("/= 3)") == 1
    assert "nlayers_f3 /=" not in text


def test_a_halo_must_be_as_deep_as_it_is_used() -> None:
    reach = Datum("reach", Name("reach"), INTEGER, DatumRole.EXTENT)
    made = kernel(field_arg("w3", Access.WRITE))
    exchange = HaloExchange("h", "f1", None, Depth.value(Name("reach")), guarded=True)
    item = loop(call(made, "f1"), extent=Extent(Reach.HALO, Depth.of(2)))
    text = checks((field("f1"), reach), exchange, item)
    assert "if (reach > f1_proxy%get_field_proxy_halo_depth()) then" in text
    assert "field 'f1' needs reach levels of halo" in text
    assert "if (2 > f1_proxy%get_field_proxy_halo_depth()) then" in text


def test_one_level_of_halo_is_always_there() -> None:
    exchange = HaloExchange("h", "f1", None, Depth.of(1), guarded=True)
    assert "max_halo_depth" not in checks((field("f1"),), exchange)
