"""Which refusals explain what is not finished: by the name of the step, not by words."""

from __future__ import annotations

from dataclasses import replace

from psyclone_storage.pipeline import user_transforms
from psyclone_storage.transform.catalogue import STEPS, Refusal
from psyclone_storage.transform.legality import check_finished
from psyclone_storage.transform.openmp import OpenParallelRegion, ShareLoop
from unit.analysis.small import dofs
from unit.transform.benches import bench


def test_a_remedy_is_known_by_its_name() -> None:
    work = bench(dofs("u write w3"))
    work.apply(ShareLoop("loop1"))
    (problem,) = check_finished(work.schedule)
    assert problem.remedies == ("openmp-parallel", "openmp-parallel-do")
    refusal = Refusal(OpenParallelRegion("omp-do(loop1)", "omp-do(loop1)"), ())
    silent = replace(problem, hint="Something else.")
    assert user_transforms._would_help(refusal, silent, work.schedule)
    without = replace(problem, remedies=())
    assert not user_transforms._would_help(refusal, without, work.schedule)


def test_remedies_are_steps() -> None:
    work = bench(dofs("u write w3"))
    work.apply(ShareLoop("loop1"))
    assert all(name in STEPS for one in check_finished(work.schedule) for name in one.remedies)
