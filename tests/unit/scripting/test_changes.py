"""Scripts that change schedules: with our steps, and in the words of PSyclone."""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from pathlib import Path

import pytest

from lfric_schedules import SOURCE, SPAN
from psyclone_storage.base.diagnostic import CompileError
from psyclone_storage.domains.lfric.rules import LfricRules
from psyclone_storage.infrastructures.lfric import SPACES, is_continuous
from psyclone_storage.ir.parsed import ParsedAlgorithm, ParsedInvoke, Scope, ScopeKind
from psyclone_storage.ir.schedule import Invoke, KernelCall, Program
from psyclone_storage.ir.view import schedule_text
from psyclone_storage.scripting import ColourLoop, FuseLoops, Loop, ParallelDo, Psy
from psyclone_storage.scripting.errors import TransformationError
from psyclone_storage.scripting.psyclone_modules import psyclone_alias
from psyclone_storage.scripting.psyclone_names import (
    CONTINUOUS_SPACES,
    DISCONTINUOUS_SPACES,
    MODULES,
)
from psyclone_storage.scripting.recipe import read_recipe
from psyclone_storage.scripting.transformations.base import Unsupported
from psyclone_storage.scripting.transformations.table import TABLE, TRANSFORMATIONS, TransInfo
from psyclone_storage.transform.halos import with_halos
from unit.analysis.small import RULES, cells, dofs, operator, scalar, schedule

SUMMED = dofs(scalar("s"), "u read w0")


def program(*calls: KernelCall) -> Program:
    """Return a program of one invoke, `small`, whose exchanges are planned."""
    planned = with_halos(schedule(*calls), RULES)
    scope = Scope(ScopeKind.PROGRAM, "alg", (), (), 0, 0, SPAN)
    parsed = ParsedInvoke((), None, None, (scope,), SPAN)
    algorithm = ParsedAlgorithm(SOURCE, scope, (scope,), (parsed,))
    return Program("alg_psy", algorithm, (Invoke(planned, parsed),))


def run(folder: Path, text: str, *calls: KernelCall) -> str:
    """Run a script and return the schedule that it leaves, as text."""
    path = folder / "optimise.py"
    path.write_text(text)
    after = read_recipe(path).run(program(*calls), LfricRules())
    return schedule_text(after.invokes[0].schedule)


def problems(folder: Path, text: str, *calls: KernelCall) -> list[str]:
    with pytest.raises(CompileError) as caught:
        run(folder, text, *calls)
    return [problem.message for problem in caught.value.problems]


# ---------------------------------------------------------------------------- our words


def test_a_view_shows_the_tree_as_the_last_step_left_it() -> None:
    psy = Psy(program(cells("u inc w0"), dofs("v write w3")), RULES)
    (tree,) = psy.children
    loop = tree.loops()[0]
    assert loop.over == "cells"
    tree.apply(ColourLoop(loop.uid)).apply(ParallelDo(f"cells({loop.uid})"))
    assert loop.over == "colours"
    assert [type(node).__name__ for node in loop.children] == ["DirectiveRegion"]
    assert [step.name for step in tree.history] == ["colour", "openmp-parallel-do"]
    assert tree.undo().undo().loops()[0] == loop
    assert loop.over == "cells"


def test_a_view_of_what_is_gone_says_so() -> None:
    (tree,) = Psy(program(dofs("u write w3"), dofs("v write w3")), RULES).children
    second = tree.loops()[1]
    tree.apply(FuseLoops("loop1", "loop2"))
    with pytest.raises(CompileError, match="'loop2' is no longer there: 'fuse' has removed it"):
        _ = second.over


def test_steps_are_applied_as_text_and_asked_about(tmp_path: Path) -> None:
    script = (
        "from psyclone_storage.scripting import ColourLoop\n"
        "def trans(psy):\n"
        "    for tree in psy.children:\n"
        "        assert [reason.code for reason in tree.check(ColourLoop('loop2'))] == ['T005']\n"
        "        tree.apply('colour; openmp-parallel-do')\n"
    )
    text = run(tmp_path, script, cells("u inc w0"), dofs("v write w3"))
    assert text.count("omp parallel do") == 2


def test_a_refusal_that_is_not_caught_is_reported_as_it_is(tmp_path: Path) -> None:
    script = (
        "from psyclone_storage.scripting import ParallelDo\n"
        "def trans(psy):\n    psy.children[0].apply(ParallelDo('loop1'))\n"
    )
    (message,) = problems(tmp_path, script, cells("u inc w0"))
    assert message.startswith("Cells of 'loop1' race")


def test_a_program_that_no_step_has_changed_is_the_same() -> None:
    before = program(dofs("u write w3"))
    assert Psy(before, RULES).program is before


# ---------------------------------------------------------------------------- PSyclone's words

OF_TODAY = """\
from psyclone.domain.lfric import LFRicConstants
from psyclone.psyGen import InvokeSchedule
from psyclone.psyir.nodes import Directive, Loop
from psyclone.transformations import LFRicColourTrans, LFRicOMPLoopTrans, OMPParallelTrans

def trans(psyir):
    for routine in psyir.walk(InvokeSchedule):
        for child in routine.children:
            if (isinstance(child, Loop) and child.iteration_space.endswith("cell_column")
                    and child.field_space.orig_name
                    not in LFRicConstants().VALID_DISCONTINUOUS_NAMES):
                LFRicColourTrans().apply(child, options={"tiling": False})
        for loop in routine.loops():
            if loop.loop_type not in ["colours", "null"] and not loop.ancestor(Directive):
                OMPParallelTrans().apply(loop)
                LFRicOMPLoopTrans().apply(loop, options={"reprod": True})
        print(routine.view())
"""

OF_2019 = """\
from psyclone.transformations import (
    Dynamo0p3ColourTrans, Dynamo0p3RedundantComputationTrans, DynamoOMPParallelLoopTrans)

def trans(psy):
    invoke = psy.invokes.get("small")
    schedule = invoke.schedule
    schedule, memento = Dynamo0p3RedundantComputationTrans().apply(schedule.children[0], depth=2)
    assert memento.depth == 2
    for loop in schedule.loops():
        if loop.iteration_space == "cell_column":
            schedule, _ = Dynamo0p3ColourTrans().apply(loop)
    for loop in schedule.loops():
        if loop.loop_type != "colours":
            schedule, _ = DynamoOMPParallelLoopTrans().apply(loop)
    invoke.schedule = schedule
    return psy
"""


def test_a_script_of_today_runs(tmp_path: Path) -> None:
    text = run(tmp_path, OF_TODAY, SUMMED, cells("u inc w0"), cells("v write w3", "u read w0"))
    assert text.count("omp do schedule(static)") == 3
    assert text.count("omp do schedule(static), reproducible") == 1
    assert "colours, owned and halo to level 1" in text


def test_a_script_of_2019_runs(tmp_path: Path) -> None:
    text = run(tmp_path, OF_2019, dofs("u write w0"), cells("v inc w0", "u read w0"))
    assert "dofs, owned and halo to level 2" in text
    assert text.count("omp parallel do schedule(static)") == 2


def test_a_loop_over_operators_without_races_stays_uncoloured(tmp_path: Path) -> None:
    script = (
        "from psyclone.transformations import LFRicColourTrans\n"
        "def trans(psy):\n"
        "    (loop,) = psy.children[0].loops()\n"
        "    assert LFRicColourTrans().apply(loop)[1] is None\n"
    )
    assert "colours" not in run(tmp_path, script, cells(operator("op", "write"), "v read w0"))


@pytest.mark.parametrize("method", ["apply", "validate"])
@pytest.mark.parametrize("name", ["ColourTrans", "LFRicColourTrans", "Dynamo0p3ColourTrans"])
@pytest.mark.parametrize("space", ["w3", "wtheta", "w2v", "w2broken", "any_discontinuous_space_1"])
def test_colours_of_a_discontinuous_space_are_refused(
    space: str, name: str, method: str, tmp_path: Path
) -> None:
    script = (
        f"from psyclone.transformations import {name}\n"
        f"def trans(psy):\n"
        f"    (loop,) = psy.children[0].loops()\n"
        f"    {name}().{method}(loop)\n"
    )
    with pytest.raises(CompileError) as caught:
        run(tmp_path, script, cells(f"u write {space}"))
    assert "T006" in {problem.code for problem in caught.value.problems}


@pytest.mark.parametrize(
    ("base", "tested"), [("LoopFuseTrans", True), ("GOceanLoopFuseTrans", False)]
)
def test_a_class_of_a_script_fuses_as_its_base(base: str, tested: bool, tmp_path: Path) -> None:
    script = (
        f"from psyclone.transformations import {base}\n"
        f"class Mine({base}):\n"
        "    pass\n"
        "def trans(psyir):\n"
        "    first, second = psyir.children[0].loops()\n"
        "    step = Mine().apply(first, second)[1]\n"
        f"    assert step.tested is {tested}\n"
    )
    fused = run(tmp_path, script, cells("u write w3"), cells("v write w3"))
    assert fused.count("cells, owned") == 1


def test_refusals_can_be_caught(tmp_path: Path) -> None:
    script = (
        "from psyclone.domain.lfric.transformations import LFRicLoopFuseTrans\n"
        "from psyclone.transformations import TransformationError\n"
        "def trans(psyir):\n"
        "    first, second = psyir.children[0].loops()\n"
        "    try:\n"
        "        LFRicLoopFuseTrans().apply(first, second, {'same_space': True})\n"
        "    except TransformationError as error:\n"
        "        assert 'a stencil looks at cells' in error.value\n"
        "        print('refused')\n"
    )
    stencil = cells("v write w3", "u read w3 stencil 1")
    assert run(tmp_path, script, cells("u write w3"), stencil).count("cells, owned") == 2


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("ColourTrans().apply(loop, tile=2)", "'ColourTrans' has no option 'tile' here."),
        (
            "ColourTrans().apply('loop')",
            "'ColourTrans' is applied to an object of type 'str', but it requires a loop.",
        ),
        ("MoveTrans().apply(loop)", "'MoveTrans' takes two nodes, not 1."),
        ("OCLTrans(3).apply(loop)", "PSyclone's 'OCLTrans' is not supported."),
        ("OCLTrans().validate(loop)", "PSyclone's 'OCLTrans' is not supported."),
        ("ACCLoopTrans().apply(loop, collapse='x')", "'ACCLoopTrans' cannot have the value 'x'"),
        ("OMPParallelLoopTrans('odd').validate(loop)", "OpenMP has no schedule 'odd'."),
        (
            "ColourTrans().validate(psy)",
            "'ColourTrans' is applied to an object of type 'Psy', but it requires a loop.",
        ),
        (
            "ColourTrans().apply(loop.schedule)",
            "'ColourTrans' is applied to an object of type 'Schedule', but it requires a loop.",
        ),
        (
            "ColourTrans().apply([])",
            "'ColourTrans' is applied to nothing, but it requires a loop.",
        ),
        (
            "MoveTrans().apply(psy, loop)",
            "'MoveTrans' is applied to an object of type 'Psy', but it requires a node of a ",
        ),
    ],
)
def test_what_is_not_supported_is_refused(tmp_path: Path, line: str, message: str) -> None:
    script = (
        "from psyclone.transformations import *\n"
        "from psyclone.transformations import (\n"
        "    ACCLoopTrans, OCLTrans, ColourTrans, MoveTrans, OMPParallelLoopTrans)\n"
        f"def trans(psy):\n    loop = psy.children[0].loops()[0]\n    {line}\n"
    )
    (found,) = problems(tmp_path, script, dofs("u write w3"))
    assert found.startswith(message)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("from psyclone.transformations import ColorTrans",
         "'ColorTrans' of 'psyclone.transformations' is not supported."),
        ("import psyclone.gocean", "The module 'psyclone.gocean' is not supported."),
    ],
)  # fmt: skip
def test_names_that_are_not_there_are_told(tmp_path: Path, line: str, message: str) -> None:
    (found,) = problems(tmp_path, f"{line}\ndef trans(psy):\n    pass\n", dofs("u write w3"))
    assert message in found


def test_moves_and_splits_have_their_names(tmp_path: Path) -> None:
    script = (
        "from psyclone.psyir.nodes import HaloExchange\n"
        "from psyclone.transformations import Dynamo0p3AsyncHaloExchangeTrans, MoveTrans\n"
        "def trans(psy):\n"
        "    schedule = psy.invokes.invoke_list[0].schedule\n"
        "    (exchange,) = schedule.walk(HaloExchange)\n"
        "    Dynamo0p3AsyncHaloExchangeTrans().apply(exchange)\n"
        "    start = schedule.walk(HaloExchange)[0]\n"
        "    MoveTrans().apply(start, schedule.children[0], {'position': 'before'})\n"
    )
    text = run(tmp_path, script, dofs("x write w3"), cells("v write w3", "u read w3 stencil 1"))
    assert text.index("start u") < text.index("call1") < text.index("finish u")


def test_a_script_of_psyclone_sees_what_psyclone_shows(tmp_path: Path) -> None:
    script = (
        "from psyclone.psyir.nodes import Loop\n"
        "def trans(psyir):\n"
        "    (routine,) = psyir.children[0].children\n"
        "    assert all(isinstance(child, Loop) for child in routine.children)\n"
        "    assert routine.kernels()[0].name == 'code'\n"
        "    assert routine.invoke == psyir.invokes.get('small')\n"
    )
    assert "mark(u)@loop1" in run(tmp_path, script, cells("u write w3"))


def test_no_bytecode_of_helpers_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A helper that changes within a second and keeps its size is another one."""
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    monkeypatch.setattr(sys, "pycache_prefix", None)
    helper = tmp_path / "small_helper.py"
    for name in ("k1_code", "k2_code"):
        helper.write_text(f"NAME = {name!r}\n")
        os.utime(helper, (1, 1))
        script = f"from small_helper import NAME\ndef trans(psyir):\n    assert NAME == {name!r}\n"
        run(tmp_path, script, cells("u write w3"))
    assert not sys.dont_write_bytecode
    assert not (tmp_path / "__pycache__").exists()


def test_helpers_outside_of_the_folder_are_read_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "site_tools.py").write_text("from psyclone.psyir.nodes import Loop\n")
    monkeypatch.syspath_prepend(str(tools))
    script = (
        "from site_tools import Loop\n"
        "def trans(psyir):\n    assert psyir.children[0].children[0].kernels()[0].name == 'code'\n"
    )
    for _ in range(2):
        run(tmp_path, script, cells("u write w3"))
    assert "site_tools" not in sys.modules


def test_an_installed_psyclone_is_out_of_sight_and_back() -> None:
    marker = object()
    sys.modules["psyclone.marked"] = marker  # type: ignore[assignment]
    try:
        with psyclone_alias(MODULES) as alias:
            assert "psyclone.marked" not in sys.modules
            assert not alias.used
            assert importlib.util.find_spec("psyclone.psyir") is not None
            assert alias.used
        assert sys.modules["psyclone.marked"] is marker
        assert alias not in sys.meta_path
    finally:
        del sys.modules["psyclone.marked"]


def test_the_names_of_spaces_are_those_of_the_domain() -> None:
    ours = {name for name in SPACES if not is_continuous(name)}
    assert set(DISCONTINUOUS_SPACES) == ours
    assert set(CONTINUOUS_SPACES) == set(SPACES) - ours - {"wchi"}


def test_a_loop_has_the_words_of_psyclone() -> None:
    (tree,) = Psy(program(cells("u inc w0")), RULES).children
    (loop,) = tree.walk(Loop)
    words = (loop.loop_type, loop.iteration_space, loop.field_space.orig_name)
    assert words == ("", "cell_column", "w0")
    tree.apply(ColourLoop("loop1"))
    assert [item.loop_type for item in tree.loops()] == ["colours", "cells_in_colour"]


def test_each_name_stands_once_in_the_table() -> None:
    names = [name for _, listed in TABLE for name in listed.split()]
    assert len(names) == len(set(names)) == len(TRANSFORMATIONS)
    assert issubclass(TRANSFORMATIONS["GOOpenCLTrans"], Unsupported)
    assert not issubclass(TRANSFORMATIONS["ACCDataTrans"], Unsupported)


def test_transformations_are_found_by_name_and_number() -> None:
    info = TransInfo()
    assert info.list.startswith(f"There are {info.num_trans} transformations")
    assert info.get_trans_name("LoopFuseTrans").name == "LoopFuseTrans"
    assert info.get_trans_num(1).name in TRANSFORMATIONS
    for wrong in (lambda: info.get_trans_name("LoopFuse"), lambda: info.get_trans_num(0)):
        with pytest.raises(TransformationError):
            wrong()
