"""Changes of kernels under PSyclone's names."""

from __future__ import annotations

from pathlib import Path

import pytest

from psyclone_storage.config.load import default_settings
from psyclone_storage.ir import schedule as tree
from psyclone_storage.languages.fortran.print.directives import spell_meaning
from psyclone_storage.pipeline.compile import make_compiler
from psyclone_storage.pipeline.request import CompileRequest
from psyclone_storage.scripting import Psy
from psyclone_storage.scripting.errors import TransformationError
from psyclone_storage.scripting.transformations.table import TRANSFORMATIONS
from psyclone_storage.scripting.views import KernelCall, Schedule
from unit.analysis.small import RULES, cells, dofs, scalar
from unit.scripting.test_changes import program
from unit.transform.kernel.kernel_benches import OneFile, module
from unit.transform.kernel.test_inline_call import call

INLINE = TRANSFORMATIONS["KernelModuleInlineTrans"]


def view(text: str = "", *calls: tree.KernelCall) -> Schedule:
    calls = calls or (cells("u inc w0"), cells("v inc w0"))
    (found,) = Psy(program(*calls), RULES, OneFile(text or module())).children
    return found


def directives(schedule: Schedule) -> list[str]:
    """Return the directives of the changed kernels, those of each call joined."""
    codes = [code for call in calls(schedule) for code in call.codes]
    return ["; ".join(spell_meaning(item.meaning) for item in code.directives) for code in codes]


def calls(schedule: Schedule) -> list[tree.KernelCall]:
    bench = schedule.session.bench
    found = [bench[kernel.uid] for kernel in schedule.walk(KernelCall)]
    return [call for call in found if isinstance(call, tree.KernelCall)]


def test_a_call_is_changed_alone() -> None:
    schedule = view()
    after, step = TRANSFORMATIONS["ACCRoutineTrans"]().apply(schedule.kernels()[0])
    assert after == schedule
    assert step is not None
    assert directives(schedule) == ["acc routine seq"]


@pytest.mark.parametrize("place", ["schedule", "loop"])
def test_all_kernels_below_a_node_are_changed(place: str) -> None:
    schedule = view()
    node = schedule if place == "schedule" else schedule.loops()[0]
    TRANSFORMATIONS["OMPDeclareTargetTrans"]().apply(node)
    expected = ["omp declare target"] * (2 if place == "schedule" else 1)
    assert directives(schedule) == expected


def test_options_are_keywords_or_in_a_dictionary() -> None:
    schedule = view(module("a(1) = g", "use planet_mod, only: g"))
    routine = TRANSFORMATIONS["ACCRoutineTrans"]()
    routine.apply(schedule.kernels()[0], options={"force": True, "parallelism": "vector"})
    routine.apply(schedule.kernels()[1], force=True)
    assert directives(schedule) == ["acc routine vector", "acc routine seq"]


def test_none_is_changed_if_one_cannot_be() -> None:
    schedule = view(module("a(1) = g", "use planet_mod, only: g"))
    with pytest.raises(TransformationError, match="T055"):
        TRANSFORMATIONS["ACCRoutineTrans"]().apply(schedule)
    with pytest.raises(TransformationError, match="T055"):
        TRANSFORMATIONS["ACCRoutineTrans"]().validate(schedule)
    assert directives(schedule) == []


def test_what_is_done_already_is_not_done_again() -> None:
    schedule = view()
    INLINE().apply(schedule.kernels()[0])
    INLINE().apply(schedule)
    after, step = INLINE().apply(schedule)
    assert (after, step) == (schedule, None)
    assert [code.kernel_use.inlined for call in calls(schedule) for code in call.codes] == [
        True,
        True,
    ]


def test_inlining_is_not_taken_back() -> None:
    with pytest.raises(TransformationError, match="T015"):
        INLINE().apply(view(), {"inline": False})


def test_built_ins_below_a_node_are_left_out_but_not_a_built_in_itself() -> None:
    schedule = view("", cells("u inc w0"), dofs(scalar("s"), "v read w3"))
    INLINE().apply(schedule)
    assert [bool(call.codes) for call in calls(schedule)] == [True, False]
    with pytest.raises(TransformationError, match="T050"):
        INLINE().apply(schedule.kernels()[1])


@pytest.mark.parametrize("name", ["Dynamo0p3KernelConstTrans", "LFRicKernelConstTrans"])
@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({}, "T057"),
        ({"number_of_layers": "many"}, "T057"),
        ({"cellshape": "triangle", "number_of_layers": 3}, "T015"),
        ({"number_of_layers": 3}, "T058"),
    ],
)
def test_sizes_that_cannot_be_constants(name: str, options: dict[str, object], code: str) -> None:
    with pytest.raises(TransformationError, match=code):
        TRANSFORMATIONS[name]().apply(view().kernels()[0], **options)


def test_a_kernel_in_place_is_no_call_any_more() -> None:
    schedule = view(module("a(n) = 1.0"), call())
    TRANSFORMATIONS["InlineTrans"]().apply(schedule.kernels()[0])
    assert schedule.kernels() == []
    assert "a(n)" not in schedule.view()
    (loop,) = schedule.loops()
    assert [type(item).__name__ for item in loop.loop_body.children] == ["InlinedCall"]


@pytest.mark.parametrize("name", ["KernelImportsToArguments", "KernelGlobalsToArguments"])
def test_a_kernel_without_variables_of_modules_stays_as_it_is(name: str) -> None:
    schedule = view()
    assert TRANSFORMATIONS[name]().apply(schedule.kernels()[0]) == (schedule, None)
    assert directives(schedule) == []


RECIPE = """from psyclone.domain.common.transformations import KernelModuleInlineTrans
from psyclone.transformations import ACCRoutineTrans, KernelImportsToArguments


def trans(psyir):
    for kernel in psyir.kernels():
        KernelModuleInlineTrans().apply(kernel)
        KernelImportsToArguments().apply(kernel)
        ACCRoutineTrans().apply(kernel)
"""


def test_kernels_get_variables_and_go_to_devices_as_scripts_of_psyclone_have_it(
    tmp_path: Path,
) -> None:
    (tmp_path / "recipe.py").write_text(RECIPE, encoding="utf-8")
    case = Path(__file__).parents[2] / "cases" / "gocean" / "imported_variables"
    request = CompileRequest("gocean", False, (case / "kernels",), tmp_path / "recipe.py")
    build = make_compiler(default_settings(), request).compile_algorithm(case / "alg.x90")
    lines = [line.strip() for line in build.psy_text.splitlines()]
    assert "call launch_code(i, j, height%data, launches, rdt)" in lines
    assert lines.count("!$acc routine seq") == 2
