"""Steps as text, and steps that are applied wherever they may be."""

from __future__ import annotations

import pytest

from psyclone_storage.base.diagnostic import CompileError
from psyclone_storage.ir.schedule import DirectiveRegion
from psyclone_storage.ir.walk import statements
from psyclone_storage.transform.catalogue import (
    STEPS,
    Refusal,
    apply_request,
    check_places,
    explain_refusals,
    read_steps,
    step_text,
)
from psyclone_storage.transform.openmp import ParallelDo, ShareLoop
from psyclone_storage.transform.workbench import Workbench
from unit.analysis.small import cells, dofs, uids
from unit.transform.benches import bench, codes, message_of


def granted(work: Workbench, text: str) -> list[Refusal]:
    return [refusal for request in read_steps(text) for refusal in apply_request(work, request)]


def test_options_have_the_types_of_their_fields() -> None:
    text = "openmp-do{loop=loop1 reproducible=true}; compute-redundantly{depth=2};"
    first, second = read_steps(text)
    assert first.values == (("loop", "loop1"), ("reproducible", True))
    assert second.values == (("depth", 2),)
    assert (first.has_place, second.has_place) == (True, False)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("colour}", "'colour}' is not a step."),
        ("paint", "There is no step 'paint'."),
        ("colour{deep=2}", "The step 'colour' has no option 'deep=2'."),
        ("colour{loop}", "The step 'colour' has no option 'loop'."),
        ("openmp-do{reproducible=yes}", ("The option 'reproducible' of the step 'openmp-do' takes"
         " 'true' or 'false', not 'yes'.")),
    ],
)  # fmt: skip
def test_text_that_is_no_step(text: str, message: str) -> None:
    assert message_of(lambda: read_steps(text)) == message


def test_all_problems_of_a_text_are_reported() -> None:
    with pytest.raises(CompileError) as caught:
        read_steps("paint; colour{deep=2}")
    assert codes(caught.value.problems) == ["T040", "T041"]


def test_a_step_is_written_as_it_is_read() -> None:
    step = ShareLoop("loop1", reproducible=True)
    text = "openmp-do{loop=loop1 schedule=static reproducible=true force=false}"
    assert step_text(step) == text
    (request,) = read_steps(text)
    assert request.step(**dict(request.values)) == step


def test_without_a_place_a_step_goes_everywhere_and_refusals_are_told() -> None:
    work = bench(cells("u inc w0"), dofs("v write w3"), cells("w write w3", "v read w3"))
    refusals = granted(work, "colour; openmp-parallel-do")
    made = [item.uid for item in statements(work.schedule) if isinstance(item, DirectiveRegion)]
    assert made == [f"omp-parallel-do({loop})" for loop in ("cells(loop1)", "loop2", "loop3")]
    assert list(explain_refusals(tuple(refusals))) == [
        "colour{loop=loop3 tiling=false for_threads=false}: refused",
        "  T006: Colours do not help 'loop3': no two cells change a dof that they share.",
    ]


def test_chains_are_fused_to_their_end() -> None:
    work = bench(dofs("u write w3"), dofs("v write w3"), dofs("w write w3"))
    assert granted(work, "fuse") == []
    assert uids(work.schedule)[0] == "loop1"
    assert len(statements_of_loop(work)) == 3


def statements_of_loop(work: Workbench) -> list[object]:
    return list(work["loop1"].body)  # type: ignore[union-attr]


def test_the_longest_regions_are_made() -> None:
    work = bench(dofs("u write w3"), dofs("v write w3"), cells("w write w3", "v read w3 stencil 1"))
    granted(work, "openmp-do; openmp-parallel")
    assert [uid for uid in uids(work.schedule) if uid.startswith("omp")] == [
        "omp-parallel(omp-do(loop1))", "omp-parallel(omp-do(loop3))"
    ]  # fmt: skip


def test_a_place_that_is_named_must_do() -> None:
    work = bench(cells("u inc w0"))
    (request,) = read_steps("openmp-parallel-do{loop=loop1}")
    with pytest.raises(CompileError):
        apply_request(work, request)


def test_part_of_a_place_narrows_the_choice() -> None:
    work = bench(dofs("u write w3"), dofs("v write w3"), dofs("w write w3"))
    granted(work, "fuse{first=loop2}")
    assert [uid for uid in uids(work.schedule) if uid.startswith("loop")] == ["loop1", "loop2"]


def test_places_that_a_schedule_lacks_are_named() -> None:
    (request,) = read_steps("fuse{first=loop1 second=loop9}")
    assert codes(check_places(bench(dofs("u write w3")), request)) == ["T003"]


def test_an_option_that_is_wrong_anywhere_is_an_error() -> None:
    (request,) = read_steps("openmp-parallel-do{schedule=fast}")
    assert message_of(lambda: apply_request(bench(dofs("u write w3")), request)).startswith(
        "OpenMP has no"
    )


def test_the_catalogue_knows_steps_by_their_names() -> None:
    assert STEPS["openmp-parallel-do"] is ParallelDo
    assert all(step.__doc__ and "before:" in step.__doc__ for step in STEPS.values())
