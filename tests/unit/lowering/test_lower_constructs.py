"""Constructs: directives, their clauses on data, and reproducible sums."""

from __future__ import annotations

from dataclasses import replace

from lfric_schedules import (
    built_in,
    call,
    dof_loop,
    field,
    field_arg,
    kernel,
    lines_of,
    loop,
    lowered,
    scalar,
)
from psyclone_storage.ir.directive import Directive, RegionOptions, Sharing, ThreadSchedule
from psyclone_storage.ir.kernel import Access, ReductionOp
from psyclone_storage.ir.schedule import DirectiveRegion, GlobalReduction, Loop, Over, Statement
from psyclone_storage.targets.lfric_fortran.table import lfric_infrastructure

F1 = field("f1")
STATIC = RegionOptions(ThreadSchedule(Sharing.STATIC))
DECLARED_REDUCTION = (
    "!$omp declare reduction(+ : exact_sum_type : omp_out = omp_out + omp_in) "
    "!$omp initializer(omp_priv = exact_sum_type())"
)


def directives(text: str) -> list[str]:
    return [line for line in lines_of(text) if line.startswith("!$omp")]


def share(inner: Loop, *, reproducible: bool = False) -> DirectiveRegion:
    options = replace(STATIC, reproducible=reproducible)
    return DirectiveRegion(f"do({inner.uid})", Directive.OMP_DO, (inner,), options)


def parallel(*inner: Statement) -> DirectiveRegion:
    return DirectiveRegion("region", Directive.OMP_PARALLEL, inner)


def parallel_do(inner: Loop) -> DirectiveRegion:
    return DirectiveRegion("both", Directive.OMP_PARALLEL_DO, (inner,), STATIC)


def summed(uid: str = "loop1") -> Loop:
    return dof_loop(built_in("sum_X", "s", "f1"), uid=uid)


def test_a_parallel_do_names_its_counter_and_its_reduction() -> None:
    text = lowered((F1, scalar("s")), parallel_do(summed()))
    assert directives(text) == [
        "!$omp parallel do default(shared), private(df), reduction(+:s), schedule(static)",
        "!$omp end parallel do",
    ]
    lines = lines_of(text)
    assert lines.index("s = 0.0_r_def") < lines.index(directives(text)[0])


def test_minimum_and_maximum_have_reductions_of_their_own() -> None:
    low = dof_loop(built_in("minval_X", "low", "f1"))
    high = dof_loop(built_in("maxval_X", "high", "f1"), uid="loop2")
    data = (F1, scalar("low"), scalar("high"))
    text = lowered(data, parallel_do(low), parallel_do(high))
    assert "reduction(min:low)" in text
    assert "reduction(max:high)" in text


def test_cells_of_a_colour_share_a_directive_inside_of_the_colours() -> None:
    made = kernel(field_arg("w2", Access.INC))
    inner = loop(call(made, "f1"), over=Over.CELLS_OF_COLOUR, uid="inner")
    outer = Loop("outer", Over.COLOURS, inner.extent, 0, (parallel_do(inner),))
    lines = lines_of(lowered((F1,), outer))
    start = lines.index("do colour = 1, ncolours")
    assert lines[start + 1] == (
        "!$omp parallel do default(shared), private(cell_of_colour, cell), schedule(static)"
    )
    assert lines[start + 2].startswith("do cell_of_colour = 1")


def test_one_region_has_the_private_variables_of_all_its_loops() -> None:
    made = kernel(field_arg("w3", Access.WRITE))
    cells = share(loop(call(made, "f1"), uid="loop2"))
    text = lowered((F1, scalar("s")), parallel(share(summed()), cells))
    assert directives(text) == [
        "!$omp parallel default(shared), private(df, cell)",
        "!$omp do reduction(+:s), schedule(static)",
        "!$omp end do",
        "!$omp do schedule(static)",
        "!$omp end do",
        "!$omp end parallel",
    ]


def test_reproducible_sums_are_added_in_the_order_of_the_threads() -> None:
    text = lowered((F1, scalar("s")), parallel(share(summed(), reproducible=True)))
    lines = lines_of(text)
    start = lines.index("s = 0.0_r_def")
    assert lines[start : lines.index("end subroutine invoke_test")] == [
        "s = 0.0_r_def",
        "allocate(s_of_threads(8, omp_get_max_threads()))",
        "s_of_threads = s",
        "!$omp parallel default(shared), private(df, thread)",
        "thread = omp_get_thread_num() + 1",
        "!$omp do schedule(static)",
        "do df = loop1_start, loop1_stop",
        "s_of_threads(1, thread) = s_of_threads(1, thread) + f1_data(df)",
        "end do",
        "!$omp end do",
        "!$omp end parallel",
        "do thread = 1, size(s_of_threads, 2)",
        "s = s + s_of_threads(1, thread)",
        "end do",
        "deallocate(s_of_threads)",
    ]
    assert "use omp_lib, only: omp_get_max_threads, omp_get_thread_num" in lines


def test_two_regions_use_one_array_of_partial_sums() -> None:
    regions = [
        DirectiveRegion(f"region{at}", Directive.OMP_PARALLEL, (share(item, reproducible=True),))
        for at, item in enumerate((summed(), summed("loop2")))
    ]
    lines = lines_of(lowered((F1, scalar("s")), *regions))
    assert len([line for line in lines if line.startswith("allocate")]) == 1
    assert lines.count("s_of_threads = s") == 2


def exactly_lowered(*body: Statement, distributed: bool = True) -> list[str]:
    target = lfric_infrastructure(exact_sums=True)
    return lines_of(lowered((F1, scalar("s")), *body, distributed=distributed, target=target))


def test_an_exact_sum_stands_in_the_place_of_the_scalar() -> None:
    lines = exactly_lowered(parallel_do(summed()), GlobalReduction("r", "s", ReductionOp.SUM))
    of_interest = [line for line in lines if "s_exact" in line or "exact_sum_type" in line]
    assert of_interest == [
        "use exact_sum_mod, only: exact_sum_type",
        "type(exact_sum_type) :: s_exact",
        DECLARED_REDUCTION,
        "s_exact = exact_sum_type()",
        "!$omp parallel do default(shared), private(df), reduction(+:s_exact), schedule(static)",
        "call s_exact%add(real(f1_data(df), kind=real64))",
        "s = real(s_exact%get_sum(), kind=r_def)",
    ]


def test_an_exact_sum_of_one_process_ends_behind_its_loop() -> None:
    lines = exactly_lowered(summed(), distributed=False)
    assert lines[lines.index("s = real(s_exact%get_sum_of_rank(), kind=r_def)") - 1] == "end do"
    assert not any("declare reduction" in line for line in lines)


def test_exact_sums_need_no_order_of_threads() -> None:
    lines = exactly_lowered(parallel(share(summed(), reproducible=True)))
    assert "!$omp do reduction(+:s_exact), schedule(static)" in lines
    assert not any("s_of_threads" in line for line in lines)


def test_a_minimum_beside_exact_sums_is_what_it_was() -> None:
    low = dof_loop(built_in("minval_X", "low", "f1"))
    data = (F1, scalar("low"))
    exact = lowered(data, parallel_do(low), target=lfric_infrastructure(exact_sums=True))
    assert exact == lowered(data, parallel_do(low))
