"""A few runs that signals end at random moments; `support/killed_runs.py` runs more."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import killed_runs
from killed_runs import Run, TornError, Trial
from pairwise import some_of

NEEDED = {"make": ["make"], "model": ["gcc"], "ranks": ["gcc", "mpirun"]}
COUNTS = {"batch": 8, "single": 4, "make": 4, "model": 8, "ranks": 4}


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes are read from /proc")
@pytest.mark.parametrize(
    "name", [pytest.param(one, marks=pytest.mark.mpi) if one == "ranks" else one for one in COUNTS]
)
def test_a_run_that_is_killed_leaves_nothing(name: str, tmp_path: Path) -> None:
    for program in NEEDED.get(name, []):
        if shutil.which(program) is None:
            pytest.skip(f"{program} is not installed")
    numbers = range(some_of(COUNTS[name]))
    found = list(killed_runs.campaign(name, tmp_path, 1, numbers))
    assert [one for one in found if isinstance(one, str)] == []
    assert all(isinstance(one, Trial) for one in found)


def check(run: Run, names: dict[str, bytes], changed: dict[str, bytes]) -> list[str]:
    """Return what is torn if a folder has `names` and then `changed` files."""
    for name, data in (names | changed).items():
        path = run.work / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return list(killed_runs.torn(run))


def test_torn_outputs_are_found(tmp_path: Path) -> None:
    old = {
        "a.f90": b"old",
        "a_psy.f90": b"old",
        "k/x_kernel_0_mod.f90": b"old",
    }
    new = {
        "a.f90": b"new",
        "a_psy.f90": b"  use x_kernel_0_mod, only: x",
        "k/x_kernel_0_mod.f90": b"new",
    }
    run = Run("test", tmp_path, [], ("**/*.f90",), old=old, new=new)
    kernel = {"k/x_kernel_0_mod.f90": b"new"}
    layer = {"a_psy.f90": new["a_psy.f90"]}
    assert check(run, old, {}) == []
    assert check(run, old, kernel) == []
    assert check(run, old, kernel | layer) == []
    assert check(run, new, {}) == []
    assert check(run, old, layer) == ["a_psy.f90 is new without x_kernel_0_mod.f90"]
    assert check(run, old, kernel | {"a.f90": b"new"}) == ["a.f90 is new without a_psy.f90"]
    assert check(run, old, {"a.f90": b"ol"}) == ["torn: a.f90"]


def test_damaged_libraries_are_found(tmp_path: Path) -> None:
    run = killed_runs.model(tmp_path)
    folder = run.work / "cache" / "psyclone-storage" / "libraries"
    folder.mkdir(parents=True)
    (folder / "a.so").write_bytes(b"x" * 100)
    with pytest.raises(TornError, match="torn"):
        run.check(run)
