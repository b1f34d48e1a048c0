"""Reductions of grid fields inside invokes: arguments, steps and dependences, on one rank.

`tests/runtime/grids/reductions.py` compares values on many ranks.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import MISSING, fields
from functools import partial
from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from command import run_command
from pairwise import selected
from psyclone_storage.base.results import UnsetResultError
from psyclone_storage.config.load import default_settings
from psyclone_storage.embedded.invoke import with_comparison
from psyclone_storage.gocean import (
    GO_EVERY,
    GO_INTERNAL_PTS,
    GO_OFFSET_ANY,
    GO_R_SCALAR,
    GO_READ,
    GO_READWRITE,
    Result,
    X_innerproduct_Y,
    configure,
    field,
    invoke,
    kernel,
    scalar,
    sum_X,
)
from psyclone_storage.ir.schedule import Loop, ProfileRegion, Schedule, Statement
from psyclone_storage.ir.walk import find, statements
from psyclone_storage.pipeline.compile import make_compiler
from psyclone_storage.pipeline.request import CompileRequest
from psyclone_storage.runtime.gocean import Field, Grid, Points
from psyclone_storage.transform.catalogue import STEPS
from psyclone_storage.transform.step import Step
from psyclone_storage.transform.workbench import Workbench


@kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_ANY)
def add(new: field[GO_READWRITE, GO_EVERY], by: scalar[GO_READ, GO_R_SCALAR]):
    new[0, 0] += by


@pytest.fixture(autouse=True)
def _usual() -> Iterator[None]:
    yield
    configure()


@pytest.mark.parametrize("target", ["c", "numpy"])
@pytest.mark.parametrize("profile", ["invokes", "kernels", ("invokes", "kernels")])
def test_a_profiled_invoke_computes_reductions(profile: tuple[str, ...], target: str) -> None:
    configure(profile=profile, target=target)
    total, first = Result(), Field(Grid((4, 3)), Points.T, "first", values=1.0)
    invoke(add(first, 1.0), sum_X(total, first))
    assert total.value == 24.0


@pytest.mark.parametrize("target", ["c", "numpy"])
def test_a_result_is_an_argument_of_the_same_and_of_later_invokes(target: str) -> None:
    configure(target=target)
    grid = Grid((4, 3))
    height, total = Field(grid, values=0.25), Result()
    invoke(sum_X(total, height), add(height, total), sum_X(total, height))
    assert total.value == 39.0
    invoke(add(height, total))
    assert (height.values == 42.25).all()


@pytest.mark.parametrize("target", ["c", "numpy"])
def test_fields_of_several_grids_and_points_are_reduced_in_one_invoke(target: str) -> None:
    configure(target=target)
    height, speed = Field(Grid((4, 3)), values=2.0), Field(Grid((5, 2)), Points.U, values=3.0)
    first, second = Result(), Result()
    invoke(add(height, 1.0), sum_X(first, height), sum_X(second, speed))
    assert (first.value, second.value) == (36.0, 3.0 * speed.values.size)


@pytest.mark.parametrize("target", ["c", "numpy"])
@pytest.mark.parametrize("dtype", ["f4", "i4", "i8"])
def test_all_targets_refuse_types_that_a_kernel_does_not_declare(target: str, dtype: str) -> None:
    configure(target=target)
    with pytest.raises(TypeError, match="takes float64"):
        invoke(add(Field(Grid((4, 3)), dtype=dtype), 1.0))


@pytest.mark.parametrize("setting", ["", "REPRODUCIBLE_REDUCTIONS=true"])
@pytest.mark.parametrize(("dtype", "largest"), [("i4", 2**31 - 1), ("i8", 2**62)])
def test_sums_of_integers_do_not_overflow(dtype: str, largest: int, setting: str) -> None:
    configure(config_opts=setting)
    for value in (largest, -largest):
        held, total = Field(Grid((4, 3)), values=value, dtype=dtype), Result()
        invoke(sum_X(total, held))
        assert total.value == 12.0 * value
        assert held.sum() == 12.0 * value


@pytest.mark.parametrize("target", ["c", "numpy"])
def test_arguments_may_be_unpacked(target: str) -> None:
    """Also where as many expressions are written as the call has arguments."""
    configure(target=target)
    height, total = Field(Grid((4, 3)), values=0.25), Result()
    one, number, both = [height], [2.0], [total, height]
    invoke(sum_X(total, *one), add(height, *number), add(*one, total))
    assert total.value == 3.0
    invoke(sum_X(*both))
    assert total.value == 12 * 5.25


def test_wrong_arguments_are_errors() -> None:
    grid = Grid((4, 3))
    height, total = Field(grid), Result()
    with pytest.raises(TypeError, match="has to be a Result"):
        invoke(sum_X(1.0, height))
    with pytest.raises(TypeError, match="takes 2 arguments"):
        invoke(sum_X(total, height, height))
    with pytest.raises(ValueError, match="not on the same points of one grid"):
        invoke(X_innerproduct_Y(total, height, Field(grid, Points.U)))
    with pytest.raises(ValueError, match="not on the same points of one grid"):
        invoke(X_innerproduct_Y(total, height, Field(Grid((4, 3)))))
    with pytest.raises(TypeError, match="takes a field, not a Grid"):
        invoke(sum_X(total, grid))
    with pytest.warns(RuntimeWarning, match="'sum_X' has no effect"):
        sum_X(total, height)


@pytest.mark.parametrize("target", selected(["c", "numpy", "cuda"], "c"))
def test_no_step_changes_the_loops_of_a_reduction(target: str, tmp_path: Path) -> None:
    """Each step at each place, also after a first one, leaves the nest, or is refused."""
    model = program(tmp_path)
    made = make_compiler(
        default_settings(), CompileRequest("gocean", True, (tmp_path,), suffix=".py", target=target)
    )
    build = made.compile_algorithm(model)
    (invoke_,) = build.program.invokes
    nest = find(invoke_.schedule, "loop2")
    assert isinstance(nest, Loop)
    refused, applied = 0, 0
    for first in (None, *steps(invoke_.schedule)):
        bench = Workbench(invoke_.schedule, build.rules, made.kernels)
        if first is not None:
            if bench.check(first):
                refused += 1
                continue
            bench.apply(first)
            applied += 1
        assert has_nest(bench.schedule, nest), first
        if first is None or first.name in ("fuse", "profile", "move"):
            for second in steps(bench.schedule):
                assert bench.check(second) or has_nest(after(bench, second), nest), second
    assert refused > 20
    assert applied > 5


def has_nest(schedule: Schedule, nest: Loop) -> bool:
    """Return whether a nest is at the top of a schedule, or only in profile regions."""
    return any(map(partial(is_around, nest), schedule.body))


def is_around(nest: Loop, item: Statement) -> bool:
    """Return whether an item is a nest, or a profile region with the nest."""
    inside = item.body if isinstance(item, ProfileRegion) else ()
    return item == nest or any(map(partial(is_around, nest), inside))


def after(bench: Workbench, step: Step) -> Schedule:
    """Return the schedule after a step, which is undone."""
    bench.apply(step)
    schedule = bench.schedule
    bench.undo()
    return schedule


def steps(schedule: Schedule) -> Iterator[Step]:
    """Yield all steps at all pairs of the first statements, with their default options."""
    uids = [item.uid for item in statements(schedule)]
    for kind in STEPS.values():
        places = [one.name for one in fields(kind) if one.default is MISSING]  # type: ignore[arg-type]
        for values in product(uids, repeat=len(places)):
            yield kind(**dict(zip(places, values, strict=True)))


def program(folder: Path) -> Path:
    (folder / "add_mod.py").write_text(
        "from psyclone_storage.gocean import *\n\n\n"
        "@kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_ANY)\n"
        "def add(new: field[GO_READWRITE, GO_CT], by: scalar[GO_READ, GO_R_SCALAR]):\n"
        "    new[0, 0] += by\n"
    )
    (folder / "model.py").write_text(
        "from add_mod import add\n"
        "from psyclone_storage.gocean import *\n"
        "from psyclone_storage.runtime.gocean import Field, Grid\n\n"
        "height, total = Field(Grid((4, 3)), values=0.25), Result()\n"
        "invoke(add(height, 1.0), sum_X(total, height), add(height, total))\n"
        "print(total.value, height.sum())\n"
    )
    return folder / "model.py"


@pytest.mark.parametrize("target", ["c", "numpy"])
@pytest.mark.parametrize("steps", [[], ["--apply", "auto"]])
def test_a_program_compiled_ahead_of_time_reduces(
    target: str, steps: list[str], tmp_path: Path
) -> None:
    program(tmp_path)
    built = tmp_path / "built"
    built.mkdir()
    words = ["--target", target, *steps, "model.py", "-oalg", "built/model.py"]
    done = run_command(["-api", "gocean", *words, "-opsy", "built/model_psy.py"], tmp_path)
    assert done.status == 0, done.err
    paths = os.pathsep.join((str(tmp_path), *sys.path))
    said = subprocess.run(
        [sys.executable, "built/model.py"], check=True, capture_output=True, text=True,
        cwd=tmp_path, env={**os.environ, "PYTHONPATH": paths},
    )  # fmt: skip
    assert said.stdout == "15.0 195.0\n"


def test_a_program_in_fortran_has_no_reductions(tmp_path: Path) -> None:
    """Its kernels may have the names of the built-ins for Python."""
    corpus = Path(__file__).parents[2] / "corpus" / "gocean" / "kernels"
    case = Path(__file__).parents[2] / "cases" / "gocean" / "fluxes_and_divergence" / "alg.x90"
    text = case.read_text().replace("only : flux_u", "only : sum_x => flux_u")
    (tmp_path / "alg.x90").write_text(text.replace("invoke( flux_u(", "invoke( sum_x("))
    done = run_command(["-api", "gocean", "-d", str(corpus), "alg.x90"], tmp_path)
    assert done.status == 0, done.err
    assert "call flux_u_code" in done.out.replace("sum_x_code", "")


@pytest.mark.parametrize("target", ["c", "numpy"])
def test_a_result_without_a_value_cannot_be_an_argument(target: str) -> None:
    configure(target=target)
    values, result = Field(Grid((4, 3), boundaries="open"), values=1.0), Result()
    with pytest.raises(UnsetResultError, match=r"Write Result\(0.0\)"):
        invoke(add(values, result))
    with pytest.raises(UnsetResultError):
        float(result)
    assert repr(result) == "Result()"
    assert values[0, 0] == 1.0
    result.value = 2.0
    invoke(add(values, result))
    assert values[0, 0] == 3.0


def test_compared_numbers_include_results_that_kernels_read() -> None:
    compared: list[tuple[str, ...]] = []
    ranks = SimpleNamespace(compare=lambda *texts: compared.append(texts))
    old: Any = SimpleNamespace(grid=SimpleNamespace(ranks=ranks))
    result, other = Result(1.5), Result(2.5)
    find = with_comparison(lambda *_: None)
    find(None, None, "", (add(old, result), sum_X(other, old), add(old, other), add(old, 0.5)))
    assert compared == [("an invoke of add, sum_X, add, add", "Result(1.5), 0.5")]
