"""The options of PSyclone's transformations: each is honoured, needs nothing, or is refused."""

from __future__ import annotations

import pytest

from psyclone_storage.ir.directive import Sharing, ThreadSchedule
from psyclone_storage.scripting import Psy
from psyclone_storage.scripting.errors import TransformationError
from psyclone_storage.scripting.transformations.base import FIXED, UNNEEDED
from psyclone_storage.scripting.transformations.table import TRANSFORMATIONS
from psyclone_storage.scripting.views import DirectiveRegion, Schedule
from unit.analysis.small import RULES, cells, dofs, scalar
from unit.scripting.test_changes import program
from unit.transform.kernel.kernel_benches import OneFile, module

ON_REGIONS = "node-type-check node_type_check"
ON_LOOPS = f"{ON_REGIONS} verbose"
ON_SHARED_LOOPS = f"""collapse force force_private ignore_dependencies_for nowait privatise_arrays
    reduction_ops sequential {ON_LOOPS}"""
OF_3_3_1 = {
    "ACCDataTrans OMPMasterTrans": ON_REGIONS,
    "ACCEnterDataTrans": "async_queue",
    "ACCKernelsTrans": f"allow_strings async_queue default_present disable_loop_check {ON_LOOPS}",
    "ACCLoopTrans": f"gang independent vector {ON_SHARED_LOOPS}",
    "ACCParallelTrans": f"allow_strings default_present device_string {ON_LOOPS}",
    "ACCRoutineTrans": "device_string force parallelism",
    "ArrayAssignment2LoopsTrans": "allow_strings verbose",
    "ChunkLoopTrans": f"chunksize {ON_LOOPS}",
    "ColourTrans LFRicColourTrans": f"tiling {ON_LOOPS}",
    "LFRicKernelConstTrans": (
        "cellshape element_order_h element_order_v number_of_layers quadrature"
    ),
    "LFRicOMPLoopTrans GOceanOMPLoopTrans OMPLoopTrans": (
        f"enable_reductions reprod {ON_SHARED_LOOPS}"
    ),
    "LFRicOMPParallelLoopTrans GOceanOMPParallelLoopTrans OMPParallelLoopTrans": (
        f"enable_reductions reprod {ON_SHARED_LOOPS}"
    ),
    "GOceanLoopFuseTrans LoopFuseTrans": f"force {ON_LOOPS}",
    "LFRicLoopFuseTrans": f"force same_space {ON_LOOPS}",
    "HoistLoopBoundExprTrans LoopSwapTrans": ON_LOOPS,
    "LoopTilingTrans": f"tiledims {ON_LOOPS}",
    "LoopTiling2DTrans": f"tilesize {ON_LOOPS}",
    "InlineTrans": (
        "permit_codeblocks permit_unsupported_type_args routine use_first_callee_and_no_arg_check"
    ),
    "LFRicRedundantComputationTrans": f"depth {ON_LOOPS}",
    "Maxval2LoopTrans Minval2LoopTrans Product2LoopTrans Sum2LoopTrans": "verbose",
    "MoveTrans": "position",
    "OMPDeclareTargetTrans": "device_string force",
    "OMPParallelTrans": f"force_private {ON_REGIONS}",
    "OMPSingleTrans": f"nowait {ON_REGIONS}",
    "OMPTargetTrans": f"allow_strings device_string nowait {ON_LOOPS}",
    "OMPTaskTrans": ON_SHARED_LOOPS,
    "OMPTaskloopTrans": f"nogroup {ON_SHARED_LOOPS}",
    "OMPTaskwaitTrans": "fail_on_no_taskloop",
    "ProfileTrans": f"force prefix region_name {ON_REGIONS}",
}
"""What the transformations of PSyclone 3.3.1 take, keyword or in a dictionary."""


def view(text: str = "") -> Schedule:
    calls = (cells("u write w3"), dofs(scalar("s"), "u read w3"))
    (found,) = Psy(program(*calls), RULES, OneFile(text or module())).children
    return found


@pytest.mark.parametrize("names", OF_3_3_1)
def test_each_option_of_psyclone_is_known(names: str) -> None:
    for name in names.split():
        known = {*TRANSFORMATIONS[name].options, *UNNEEDED, *FIXED}
        assert set(OF_3_3_1[names].split()) <= known, name


def test_an_option_is_a_word_of_one_kind() -> None:
    assert not UNNEEDED & set(FIXED)
    needed_by_some = {"disable_loop_check", "force", "independent"}
    for kind in TRANSFORMATIONS.values():
        assert not UNNEEDED & set(kind.options) - needed_by_some, kind


@pytest.mark.parametrize("option", sorted(UNNEEDED))
def test_what_is_not_needed_changes_nothing(option: str) -> None:
    plain, asked = view(), view()
    share = TRANSFORMATIONS["OMPParallelLoopTrans"]()
    share.apply(plain.loops()[0])
    share.apply(asked.loops()[0], options={option: True})
    assert asked.view() == plain.view()


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("collapse", True),
        ("collapse", 2),
        ("device_string", "nohost"),
        ("nowait", True),
        ("sequential", True),
    ],
)
def test_what_no_step_can_do_is_refused_and_its_default_is_not(option: str, value: object) -> None:
    share = TRANSFORMATIONS["OMPParallelLoopTrans"]()
    with pytest.raises(TransformationError, match=f"cannot do '{option}={value}'"):
        share.apply(view().loops()[0], options={option: value})
    for default in FIXED[option]:
        share.apply(view().loops()[0], **{option: default})


def test_a_race_is_refused_whatever_an_option_says() -> None:
    (schedule,) = Psy(program(cells("u inc w0")), RULES).children
    share = TRANSFORMATIONS["OMPParallelLoopTrans"]()
    with pytest.raises(TransformationError):
        share.apply(schedule.loops()[0], force=True, independent=True)


@pytest.mark.parametrize("directive", ["loop", "teamsloop"])
def test_a_directive_that_is_not_written_is_named(directive: str) -> None:
    share = TRANSFORMATIONS["OMPLoopTrans"](omp_directive=directive)  # type: ignore[call-arg]
    with pytest.raises(TransformationError, match=f"omp {directive}"):
        share.apply(view().loops()[0])


def test_a_schedule_is_given_by_place_as_in_2019_or_behind_a_directive() -> None:
    schedule = view()
    make = TRANSFORMATIONS["OMPParallelLoopTrans"]
    make("dynamic").apply(schedule.loops()[0])  # type: ignore[call-arg]
    make("do", "guided").apply(schedule.loops()[1])  # type: ignore[call-arg]
    found = [schedule.session.bench[item.uid] for item in schedule.walk(DirectiveRegion)]
    assert [item.options.schedule for item in found] == [
        ThreadSchedule(Sharing.DYNAMIC),
        ThreadSchedule(Sharing.GUIDED),
    ]
