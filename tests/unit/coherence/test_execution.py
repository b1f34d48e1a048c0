"""The executor of the checks: one set of aliases for all of them, and no code of the planners."""

from __future__ import annotations

import ast
from dataclasses import replace
from pathlib import Path

import pytest

from psyclone_storage import coherence
from psyclone_storage.coherence.check_devices import check_transfers
from psyclone_storage.coherence.execution import CallStep, prepare
from psyclone_storage.coherence.scenarios import DeviceScenario
from psyclone_storage.ir.directive import Directive
from psyclone_storage.ir.schedule import DirectiveRegion, ProfileRegion, Schedule
from psyclone_storage.ir.transfer import EnterData, Side
from unit.analysis.small import cells, schedule

FOLDER = Path(coherence.__file__).parent
PLANNERS = {
    "dirty_flags",
    "halo_effects",
    "halo_init",
    "halos",
    "solver",
    "storage_access",
    "tables",
    "transfers",
}
ANALYSIS = "psyclone_storage.analysis"


def imported(module: str) -> set[str]:
    """Return the modules of the package that a module of `coherence` imports, and these import."""
    tree = ast.parse((FOLDER / f"{module}.py").read_text(encoding="utf-8"))
    names = {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    own = {name.rpartition(".")[2] for name in names if name.startswith(coherence.__name__)}
    return names.union(*(imported(one) for one in own))


@pytest.mark.parametrize("module", ["check_halos", "check_devices", "check_storage_access"])
def test_a_check_shares_no_code_with_a_planner(module: str) -> None:
    found = imported(module)
    assert f"{coherence.__name__}.execution" in found
    assert not {name for name in found if name.rpartition(".")[2] in PLANNERS - {"storage_access"}}
    assert f"{coherence.__name__}.storage_access" not in found
    assert not {name for name in found if name.startswith(ANALYSIS)}


@pytest.mark.parametrize("module", sorted(PLANNERS))
def test_a_planner_shares_no_code_with_the_checks(module: str) -> None:
    found = imported(module)
    assert not {name for name in found if ".coherence.check_" in name or name.endswith("execution")}


def on_device(made: Schedule, place: int) -> Schedule:
    """Return a schedule that writes on the device at `place` and never updates the host."""
    loop = made.body[place]
    region = DirectiveRegion("there", Directive.ACC_KERNELS, (loop,), place=Side.DEVICE)
    body = (*made.body[:place], region, *made.body[place + 1 :])
    names = tuple(datum.name for datum in made.data)
    return replace(made, body=(EnterData("enter", names), *body))


def test_an_element_may_be_a_component_of_a_vector_on_a_device_too() -> None:
    """Only the check of halos tried that before: the others took both for different objects."""
    made = on_device(schedule(cells("u readwrite w3"), cells("a readwrite w3", "v read w3")), 0)
    aliases = {"u": ("v",), "v": ("u",)}
    data = tuple(
        replace(one, may_alias=aliases.get(one.name, ()), vector=2 if one.name == "v" else 1)
        for one in made.data
    )
    made = replace(made, data=data)
    names = frozenset(datum.name for datum in data)
    apart = DeviceScenario(names, frozenset())
    found = {one.part.datum for one in check_transfers(made, apart) if one.uid != "end"}
    assert "v" not in found
    same = replace(apart, same=(frozenset({"u", "v"}),))
    faults = [one for one in check_transfers(made, same) if one.uid != "end"]
    assert [one.part for one in faults] == [("v", 1)]


def test_steps_contain_the_innermost_loop_and_all_regions_around() -> None:
    made = schedule(cells("u readwrite w3"), cells("u read w3", "a readwrite w3"))
    inner = DirectiveRegion("inner", Directive.ACC_KERNELS, (made.body[0],), place=Side.DEVICE)
    outer = DirectiveRegion("outer", Directive.ACC_DATA, (inner,), place=Side.DEVICE)
    profiled = ProfileRegion("timed", "module", "name", (outer, made.body[1]))
    prepared = prepare(replace(made, body=(profiled,)))
    assert [uid for uid, _ in prepared.steps] == ["outer", made.body[1].uid]
    first, second = (steps[0] for _, steps in prepared.steps)
    assert isinstance(first, CallStep)
    assert isinstance(second, CallStep)
    assert [region.uid for region in first.regions] == ["outer", "inner"]
    assert second.regions == ()
    assert first.loop is made.body[0]
