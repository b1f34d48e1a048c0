"""`--check`: planners that are broken on purpose are found out, with the place of what is stale."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from psyclone_storage.base.diagnostic import InternalError
from psyclone_storage.base.source import Span
from psyclone_storage.cli.main import main
from psyclone_storage.coherence.halo_versions import PlanByPlace, updated_plan
from psyclone_storage.coherence.transfers import TransferPlan, plan_transfers
from psyclone_storage.config.load import default_settings
from psyclone_storage.ir.schedule import Schedule
from psyclone_storage.pipeline.compile import CompileRequest, make_compiler

LFRIC = Path(__file__).parents[2] / "corpus" / "lfric"
GRIDS = LFRIC.parent / "gocean"

Break = Callable[[PlanByPlace], PlanByPlace]


def compiled(path: Path, steps: str = "", *, checks: bool = True) -> Schedule:
    request = CompileRequest(path.parent.name, True, (path.parent / "kernels",), steps=steps)
    made = make_compiler(default_settings(), replace(request, checks=checks))
    return made.compile_algorithm(path).program.invokes[0].schedule


def without_exchanges(plan: PlanByPlace) -> PlanByPlace:
    return replace(plan, exchanges={})


def without_the_last_exchange(plan: PlanByPlace) -> PlanByPlace:
    *first, (place, by_part) = plan.exchanges.items()
    return replace(plan, exchanges={**dict(first), place: dict([*by_part.items()][:-1])})


def shallower(plan: PlanByPlace) -> PlanByPlace:
    exchanges = {
        place: {
            part: one._replace(statement=replace(one.statement, depth=one.statement.depth.minus(1)))
            for part, one in by_part.items()
            if one.statement.depth.known != 1
        }
        for place, by_part in plan.exchanges.items()
    }
    return replace(plan, exchanges=exchanges)


def without_marks(plan: PlanByPlace) -> PlanByPlace:
    return replace(plan, marks={})


def without_fills(plan: PlanByPlace) -> PlanByPlace:
    return replace(plan, fills={}, computed={})


@pytest.mark.parametrize(
    ("path", "breaks", "said"),
    [
        (
            LFRIC / "stencil_cross_literal.x90",
            without_exchanges,
            "reads halo level 1 of 'x', which is",
        ),
        (LFRIC / "stencil_cross_literal.x90", shallower, "reads halo level"),
        (LFRIC / "halo_increment_then_stencil.x90", without_marks, "stale but calls it clean"),
        (LFRIC / "halo_increment_then_stencil.x90", without_fills, "which nothing has ever filled"),
        (GRIDS / "continuity.x90", without_the_last_exchange, "reads halo level 1 of"),
    ],
)
def test_a_broken_planner_of_halos_is_found_out(
    path: Path, breaks: Break, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert compiled(path)

    def broken(*about: Any) -> PlanByPlace:
        return breaks(updated_plan(*about))

    monkeypatch.setattr("psyclone_storage.transform.halos.updated_plan", broken)
    assert compiled(path, checks=False)
    with pytest.raises(InternalError, match=said) as caught:
        compiled(path)
    assert str(caught.value).startswith("The schedule of 'invoke_")
    assert isinstance(caught.value.span, Span)
    assert caught.value.span.source.name == str(path)


@pytest.mark.parametrize(
    "path", [LFRIC / "halo_increment_then_stencil.x90", GRIDS / "continuity.x90"]
)
def test_a_broken_planner_of_transfers_is_found_out(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps = "openacc"
    assert compiled(path, steps)

    def broken(schedule: Schedule, *, in_strips: bool) -> TransferPlan:
        plan = plan_transfers(schedule, in_strips=in_strips)
        exchanges = tuple((uid, one._replace(fetched=False)) for uid, one in plan.exchanges)
        return replace(plan, inserted=(), exchanges=exchanges)

    monkeypatch.setattr("psyclone_storage.transform.transfers.plan_transfers", broken)
    assert compiled(path, steps, checks=False)
    with pytest.raises(InternalError, match="stale"):
        compiled(path, steps)


def test_what_a_script_has_pinned_is_executed_where_it_stands() -> None:
    assert compiled(LFRIC / "halo_increment_then_stencil.x90", "overlap")


@pytest.mark.parametrize("asked", ["option", "environment", "nobody"])
def test_a_defect_is_shown_with_its_place(
    asked: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr("psyclone_storage.transform.halos.updated_plan", lambda *_: PlanByPlace())
    monkeypatch.delenv("PSYCLONE_STORAGE_CHECK", raising=False)
    if asked == "environment":
        monkeypatch.setenv("PSYCLONE_STORAGE_CHECK", "1")
    words = [
        "-api",
        "lfric",
        "-dm",
        "-d",
        str(LFRIC / "kernels"),
        "--colour",
        "never",
        "--no-cache",
    ]
    words += ["--check"] if asked == "option" else []
    status = main([str(LFRIC / "stencil_cross_literal.x90"), *words])
    told = capsys.readouterr().err
    if asked == "nobody":
        assert (status, told) == (0, "")
        return
    assert status == 2
    first, place, *_ = told.splitlines()
    assert first.startswith("error[I001]: Internal error: The schedule of 'invoke_0_")
    assert "reads halo level 1 of" in first
    assert "stencil_cross_literal.x90:" in place
    assert "^" in told
