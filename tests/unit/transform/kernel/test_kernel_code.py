"""Where the code of a call comes from, when it stays, and which kernels are left alone."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

import pytest

from psyclone_storage.analysis.bodies.accesses import irregular_lines
from psyclone_storage.analysis.footprints import Reasons
from psyclone_storage.base.diagnostic import InternalError
from psyclone_storage.ir.directive import AccRoutineDirective, DeviceLevel
from psyclone_storage.ir.routine import KernelUse, Routine
from psyclone_storage.ir.rules import Rules
from psyclone_storage.ir.schedule import Schedule
from psyclone_storage.ir.unit import DirectiveLine
from psyclone_storage.ir.walk import kernel_calls
from psyclone_storage.transform.kernel.code import (
    check_each,
    codes_of,
    not_understood,
    with_called_codes,
)
from psyclone_storage.transform.kernel.constants import SetKernelConstants
from psyclone_storage.transform.kernel.inline_module import InlineKernelModule
from psyclone_storage.transform.kernel.routine import DeclareTarget, MakeAccRoutine
from psyclone_storage.transform.step import Step
from psyclone_storage.transform.swap import SwapInKernel
from psyclone_storage.transform.workbench import Workbench
from unit.analysis.small import RULES, cells, dofs, scalar, schedule
from unit.transform.benches import refused
from unit.transform.kernel.kernel_benches import OneFile, bench, codes, module


class Look:
    """A step that looks at the code and changes nothing."""

    name: ClassVar[str] = "look"

    def calls_to_read(self, schedule: Schedule) -> tuple[str, ...]:
        return ("call1",)

    def check(self, schedule: Schedule, rules: Rules) -> Reasons:
        return check_each(schedule, "call1", _opaque)

    def apply(self, schedule: Schedule, rules: Rules) -> Schedule:
        return schedule


SEQUENTIAL = DirectiveLine(meaning=AccRoutineDirective(DeviceLevel.SEQ))


def _opaque(code: Routine) -> Reasons:
    return tuple(
        not_understood(code, line, "cannot be looked at") for line in irregular_lines(code.body)
    )


def test_a_step_that_only_looks_leaves_no_code_behind() -> None:
    work = bench(module())
    before = work.schedule
    work.apply(Look())
    assert codes(work) == ()
    assert work.schedule == before


def test_code_that_was_changed_stays_and_is_what_the_next_step_sees() -> None:
    work = bench(module())
    work.apply(MakeAccRoutine("call1"))
    (changed,) = codes(work)
    assert changed.directives == (SEQUENTIAL,)
    work.apply(Look())
    assert codes(work)[0] is changed


def test_undo_gives_back_the_kernel_of_its_author() -> None:
    work = bench(module())
    work.apply(MakeAccRoutine("call1"))
    work.undo()
    assert codes(work) == ()


def test_all_subroutines_of_a_kernel_are_changed() -> None:
    other = "subroutine other_code(n, a)\ninteger :: n\nreal :: a(n)\na = 1.0\nend subroutine"
    call = cells("u inc w0")
    kernel = replace(call.kernel, implementations=("work_code", "other_code"))
    work = bench(module(below=other), replace(call, kernel=kernel))
    work.apply(MakeAccRoutine("call1"))
    assert [code.name for code in codes(work)] == ["work_code", "other_code"]
    assert all(code.directives == (SEQUENTIAL,) for code in codes(work))


def test_the_other_calls_of_a_kernel_stay_as_they_are() -> None:
    work = bench(module(), cells("u inc w0"), cells("v inc w0"))
    work.apply(MakeAccRoutine("call2"))
    assert codes(work, "call1") == ()
    assert len(codes(work, "call2")) == 1


def test_no_kernel_is_read_unless_a_step_asks() -> None:
    source = OneFile(module())
    work = Workbench(schedule(cells("u inc w0"), cells("v inc w0")), RULES, source)
    assert source.asked == 0
    work.check(MakeAccRoutine("call1"))
    assert source.asked == 1


def test_what_cannot_be_read_is_a_reason() -> None:
    work = bench("module other_mod\nend module\n")
    assert refused(work, MakeAccRoutine("call1")) == ["P048"]


def test_a_workbench_without_a_source_has_no_code_to_give() -> None:
    work = Workbench(schedule(cells("u inc w0")), RULES)
    with pytest.raises(InternalError, match="source"):
        work.check(MakeAccRoutine("call1"))


def test_a_statement_that_is_not_understood_is_pointed_at() -> None:
    work = bench(module("do while (a(1) > 1.0)\n  a(1) = a(1) / 2\nend do"))
    (reason,) = work.check(Look())
    assert reason.code == "T052"
    assert reason.span is not None
    assert reason.span.text == "do while (a(1) > 1.0)"


class TestRefused:
    def test_a_call_that_is_not_there(self) -> None:
        assert refused(bench(module()), MakeAccRoutine("call7")) == ["T003"]

    def test_a_loop(self) -> None:
        assert refused(bench(module()), MakeAccRoutine("loop1")) == ["T004"]

    def test_a_built_in(self) -> None:
        work = bench(module(), dofs("u read w3", scalar("x")))
        assert refused(work, MakeAccRoutine("call1")) == ["T050"]

    def test_a_kernel_of_several_subroutines_if_one_of_them_cannot_be_changed(self) -> None:
        other = "subroutine other_code(n, a)\ninteger :: n\nreal :: a(n)\ndo while (n > 1)\nend do"
        text = module(below=f"{other}\nend subroutine")
        call = cells("u inc w0")
        kernel = replace(call.kernel, implementations=("work_code", "other_code"))
        work = bench(text, replace(call, kernel=kernel))
        (reason,) = work.check(Look())
        assert reason.code == "T052"
        assert reason.message.startswith("'other_code'")
        (reason, again) = work.check(SwapInKernel("call1"))
        assert "'work_code'" in reason.message
        assert "'other_code'" in again.message

    def test_a_kernel_with_a_state(self) -> None:
        work = bench(module("a(1) = count", above="integer :: count = 0"))
        assert refused(work, MakeAccRoutine("call1")) == ["T053"]

    def test_a_kernel_whose_helper_has_a_state(self) -> None:
        helper = "subroutine helper()\ncount = count + 1\nend subroutine"
        work = bench(module("call helper()", above="integer :: count = 0", below=helper))
        assert "T053" in refused(work, MakeAccRoutine("call1"))

    def test_a_kernel_with_a_state_that_is_declared_in_a_way_not_understood(self) -> None:
        work = bench(module("if (word == 'x') a(1) = 1.0", above="character(len=3) :: word"))
        assert refused(work, MakeAccRoutine("call1")) == ["T053"]

    def test_a_variable_of_the_module_that_a_local_one_hides_does_not_matter(self) -> None:
        above, inner = "integer :: count", "integer :: count"
        work = bench(module("count = 1", specification=inner, above=above))
        assert work.check(MakeAccRoutine("call1")) == ()


def test_code_that_was_read_stays_at_its_call() -> None:
    work = bench(module(), cells("u inc w0"), cells("v inc w0"))
    first, second = kernel_calls(work.schedule)
    assert not first.known_codes
    work.apply(MakeAccRoutine("call1"))
    changed, untouched = kernel_calls(work.schedule)
    assert changed.known_codes == changed.codes != changed.own_codes
    assert changed.own_codes[0].directives == ()
    assert untouched == second
    assert not untouched.known_codes
    same = with_called_codes(work.schedule, "call1", changed.own_codes)
    assert kernel_calls(same)[0].codes == ()
    assert kernel_calls(same)[0].known_codes == changed.own_codes
    work.undo()
    assert kernel_calls(work.schedule)[0] == first


def test_code_is_replaced_at_one_call() -> None:
    work = bench(module(), cells("u inc w0"), cells("v inc w0"))
    work.apply(MakeAccRoutine("call1"))
    given = codes(work)
    changed = with_called_codes(work.schedule, "call2", given)
    assert codes_of(changed, "call2") == given


@pytest.mark.parametrize(
    "step",
    [
        MakeAccRoutine("call1"),
        DeclareTarget("call1"),
        InlineKernelModule("call1"),
        SetKernelConstants("call1", number_of_layers=3),
    ],
)
def test_a_subroutine_that_is_not_called_any_more_is_not_changed(step: Step) -> None:
    work = bench(module())
    work.apply(MakeAccRoutine("call1"))
    placed = replace(codes(work)[0], kernel_use=KernelUse(in_place=True))
    inlined = Workbench(with_called_codes(work.schedule, "call1", (placed,)), RULES)
    assert refused(inlined, step) == ["T054"]
