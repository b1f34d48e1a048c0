"""From a parsed algorithm to a program."""

from __future__ import annotations

import pytest

from psyclone_storage.base.diagnostic import CompileError
from psyclone_storage.domains.build import (
    BuildOptions,
    build_program,
    check_calls,
    routine_names,
)
from psyclone_storage.domains.lfric.domain import LfricDomain
from psyclone_storage.ir.schedule import Loop, Over, Program, Reach
from unit.domains.small import algorithm, known_kernels


def build(invokes: str, *, distributed: bool = True, annexed: bool = False) -> Program:
    options = BuildOptions(distributed, annexed)
    return build_program(algorithm(invokes), known_kernels(), LfricDomain(), options)


def names(invokes: str, declarations: str = "", uses: str = "") -> list[str]:
    return list(routine_names(algorithm(invokes, declarations, uses), known_kernels()))


@pytest.mark.parametrize(
    ("invoke", "name"),
    [
        ("call invoke(drag_type(a, b))", "invoke_0_drag_type"),
        ("call invoke(setval_c(a, 0.0))", "invoke_0"),
        ("call invoke(drag_type(a, b), drag_type(b, a))", "invoke_0"),
        ("call invoke(setval_c(a, 0.0), name='Set_it')", "invoke_set_it"),
        ("call invoke(setval_c(a, 0.0), name='invoke_all')", "invoke_all"),
    ],
)
def test_a_routine_is_named_after_its_invoke(invoke: str, name: str) -> None:
    assert names(invoke) == [name]


def test_invokes_are_numbered_through_the_file() -> None:
    text = (
        "call invoke(setval_c(a, 0.0))\n"
        "call invoke(setval_c(a, 0.0), name='reset')\n"
        "call invoke(drag_type(a, b))\n"
    )
    assert names(text) == ["invoke_0", "invoke_reset", "invoke_2_drag_type"]


def test_a_number_that_a_label_has_taken_is_avoided() -> None:
    text = "call invoke(setval_c(a, 0.0))\ncall invoke(setval_c(a, 0.0), name='0')\n"
    with pytest.raises(CompileError):
        names(text)
    text = text.replace("'0'", "'invoke_0'")
    first, second = names(text)
    assert second == "invoke_0"
    assert first != second


def test_a_name_that_the_file_uses_is_avoided() -> None:
    (name,) = names("call invoke(setval_c(a, 0.0))", "integer :: invoke_0")
    assert name.startswith("invoke_0")
    assert name != "invoke_0"


def test_one_loop_for_each_call() -> None:
    program = build("call invoke(setval_c(a, 0.0), drag_type(a, b))")
    assert program.name == "alg_mod_psy"
    (invoke,) = program.invokes
    loops = invoke.schedule.body
    assert all(isinstance(loop, Loop) for loop in loops)
    kinds = [(loop.uid, loop.over) for loop in loops if isinstance(loop, Loop)]
    assert kinds == [("loop1", Over.DOFS), ("loop2", Over.CELLS)]


@pytest.mark.parametrize(
    ("distributed", "annexed", "reach"),
    [(False, False, Reach.ALL), (True, False, Reach.OWNED), (True, True, Reach.ANNEXED)],
)
def test_how_far_a_builtin_goes_is_a_setting(
    distributed: bool, annexed: bool, reach: Reach
) -> None:
    program = build("call invoke(setval_c(a, 0.0))", distributed=distributed, annexed=annexed)
    (loop,) = program.invokes[0].schedule.body
    assert isinstance(loop, Loop)
    assert loop.extent.reach is reach


def test_a_halo_kernel_has_nothing_to_do_without_a_halo() -> None:
    text = "call invoke(setval_c(a, 0.0), fill_type(a, 1))"
    assert len(build(text).invokes[0].schedule.body) == 2
    assert len(build(text, distributed=False).invokes[0].schedule.body) == 1


def test_the_mistakes_of_all_invokes_are_raised_together() -> None:
    text = "call invoke(setval_c(a))\ncall invoke(drag_type(a, a))\n"
    with pytest.raises(CompileError) as caught:
        build(text)
    assert [problem.code for problem in caught.value.problems] == ["S101", "S102"]


def test_calls_of_known_kernels_are_checked_beside_unknown_ones() -> None:
    parsed = algorithm("call invoke(nothing(a), setval_c(a))\ncall invoke(other(b))\n")
    problems = check_calls(parsed, known_kernels(), LfricDomain())
    assert [problem.code for problem in problems] == ["S101"]
