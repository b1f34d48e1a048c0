"""Storage accesses of invokes are checked against the worst-case model on request."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from lfric_in_python import CORPUS, KERNELS, in_python
from psyclone_storage.base.diagnostic import CompileError, InternalError
from psyclone_storage.base.fresh import Fresh
from psyclone_storage.base.records import replace
from psyclone_storage.base.source import SourceText
from psyclone_storage.config.load import default_settings
from psyclone_storage.ir.insertion import Insertion
from psyclone_storage.ir.storage_access import AcquireData, StoragePlan, TouchData
from psyclone_storage.pipeline import coherence
from psyclone_storage.pipeline.compile import make_compiler
from psyclone_storage.pipeline.request import CompileRequest
from psyclone_storage.transform.catalogue import RECIPES
from unit.targets.native.test_loops import built

PLAN = coherence.plan_storage_access


def changed(
    schedule: object, others: tuple[object, ...], change: Callable[[AcquireData], AcquireData]
) -> StoragePlan:
    """Return the plan with what it acquires changed."""
    found = PLAN(schedule, *others)  # type: ignore[arg-type]
    return StoragePlan(
        tuple(
            Insertion(place, change(action) if isinstance(action, AcquireData) else action)
            for place, action, _ in found.insertions
        )
    )


def broken(schedule: object, *others: object) -> StoragePlan:
    """Return a plan that brings nothing for what is written."""
    return changed(
        schedule, others, lambda one: replace(one, covered=Fresh.YES) if one.writes else one
    )


def silent(schedule: object, *others: object) -> StoragePlan:
    """Return a plan that tells no storage what was written."""
    found = PLAN(schedule, *others)  # type: ignore[arg-type]
    return StoragePlan(
        tuple(one for one in found.insertions if not isinstance(one.statement, TouchData))
    )


@pytest.mark.parametrize(("plan", "said"), [(broken, "stale"), (silent, "taken for current")])
def test_a_plan_that_is_wrong_is_found(
    monkeypatch: pytest.MonkeyPatch, plan: object, said: str
) -> None:
    built(checks=True)
    monkeypatch.setattr(coherence, "plan_storage_access", plan)
    built(checks=False)
    with pytest.raises(InternalError, match=said):
        built(checks=True)


def compile_corpus(name: str, suffix: str, kernels: Path = KERNELS) -> None:
    """Compile an algorithm of the corpus for storages, in Fortran or Python, and check its plan."""
    target = "storage" if suffix == ".x90" else "c"
    request = CompileRequest(
        api="lfric", directories=(kernels,), target=target, suffix=suffix, checks=True
    )
    file = CORPUS / f"{name}.x90"
    text = file.read_text() if suffix == ".x90" else in_python(file)
    make_compiler(default_settings(), request).compile_text(SourceText(f"{name}{suffix}", text))


@pytest.mark.parametrize("suffix", [".x90", ".py"])
@pytest.mark.parametrize(
    "name", ["array_elements", "dof_kernel_continuous", "dof_kernel_then_increment"]
)
def test_array_elements_and_dof_kernels_compile_without_a_failed_check(
    name: str, suffix: str
) -> None:
    compile_corpus(name, suffix)


def apart(schedule: object, *others: object) -> StoragePlan:
    """Return a plan that takes elements of one array for objects of their own."""
    return changed(schedule, others, lambda one: replace(one, may_be=()))


def trusting(schedule: object, *others: object) -> StoragePlan:
    """Return a plan that takes 'hits' for overwritten."""
    return changed(
        schedule,
        others,
        lambda one: replace(one, covered=Fresh.YES) if one.datum == "hits" else one,
    )


def test_a_plan_that_forgets_that_elements_may_be_one_is_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(coherence, "plan_storage_access", apart)
    with pytest.raises(InternalError, match="is acquired while it is held"):
        compile_corpus("array_elements", ".x90")


@pytest.mark.parametrize(
    "body",
    ["if (count_hits) hits = 1_i_def", "hits = hits + 1_i_def",
     "if (count_hits) return\n hits = 0_i_def"],
)  # fmt: skip
def test_a_kernel_for_dofs_that_keeps_a_value_is_not_taken_to_set_it(
    body: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    kernel = (KERNELS / "wind_cap_dof_kernel_mod.f90").read_text()
    other = kernel.replace("hits = 0_i_def\n", f"{body}\n")
    assert other != kernel
    (tmp_path / "wind_cap_dof_kernel_mod.f90").write_text(other)
    monkeypatch.setattr(coherence, "plan_storage_access", trusting)
    with pytest.raises(InternalError, match="'hits' inside on the host, where it is stale"):
        compile_corpus("dof_kernel_continuous", ".x90", tmp_path)


@pytest.mark.parametrize("target", ["storage", "registry"])
def test_a_recipe_for_devices_leaves_moving_data_to_storages(target: str, tmp_path: Path) -> None:
    file = CORPUS.parent / "gocean" / "read_between.x90"
    script = tmp_path / "script.py"
    script.write_text("def trans(psy):\n for one in psy.children:\n  one.apply('openacc')\n")

    def generated(steps: str, by: Path | None = None) -> str:
        request = CompileRequest(
            "gocean", directories=(file.parent / "kernels",), target=target, steps=steps, script=by
        )
        compiler = make_compiler(default_settings(), request)
        return compiler.compile_text(SourceText(file.name, file.read_text())).psy_text

    without = RECIPES["openacc"].replace("; acc-enter-data", "")
    assert without != RECIPES["openacc"]
    assert generated("openacc") == generated(without) == generated("", script)
    for steps in (RECIPES["openacc"], "openacc; acc-enter-data"):
        with pytest.raises(CompileError, match="'enter-data' moves data that storages keep"):
            generated(steps)


def test_a_registry_brings_what_may_go_by_another_name() -> None:
    text = """module scaled_mod
  use constants_mod, only: i_def, r_def
  use field_mod, only: field_type
  implicit none
contains
  subroutine step(f, m, n)
    type(field_type), intent(inout) :: f(:)
    integer(i_def), intent(in) :: m, n
    call invoke(setval_c(f(m), 1.0_r_def), inc_a_times_X(2.0_r_def, f(n)))
  end subroutine step
end module scaled_mod
"""
    request = CompileRequest("lfric", False, target="registry", steps="openacc")
    compiler = make_compiler(default_settings(), request)
    psy = compiler.compile_text(SourceText("scaled_mod.x90", text)).psy_text
    assert "but it may be what 'f_n' is" in psy
    assert "access_write, " not in psy
    assert "not brought" not in psy
