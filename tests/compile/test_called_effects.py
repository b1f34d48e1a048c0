"""Effects of called procedures that threads would share: forced, they change what is computed."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from command import run_command
from gocean_runs import EXAMPLE, run_waves

HELPER = """module aside_mod
  use kind_params_mod, only : go_wp
  implicit none
{specification}
contains
  subroutine helper(x)
    real(go_wp), intent(inout) :: x
{declared}
    {body}
    x = x * (1 + 1e-3_go_wp * mod(state, 7))
  end subroutine helper
end module aside_mod
"""
EFFECTS = {
    "module variable": ("integer :: state = 0", "", "state = state + 1"),
    "saved local": ("", "integer, save :: state = 0", "state = state + 1"),
    "pointer": ("integer, target :: all = 0", "integer, pointer :: state",
                "state => all; state = state + 1"),
    "common": ("", "integer :: state\ncommon /kept/ state", "state = state + 1"),
    "internal write": (
        "character(9) :: buffer = '0'", "integer :: state",
        "read(buffer, '(i9)') state; state = state + 1; write(buffer, '(i9)') state",
    ),
}  # fmt: skip
STEPS = "openmp-parallel-do"
STATEMENT = "    v_at_u(i, j) = "


def kernels_in(folder: Path, effect: tuple[str, str, str]) -> Path:
    """Return a folder with the kernels of the example, one of which calls a helper."""
    kernels = folder / "kernels"
    shutil.copytree(EXAMPLE / "kernels", kernels)
    file = kernels / "coriolis_mod.f90"
    text = file.read_text()
    assert text.count(STATEMENT) == 1
    before, behind = text.split(STATEMENT)
    line, rest = behind.split("\n", 1)
    text = f"{before}{STATEMENT}{line}\n    call helper(v_at_u(i, j))\n{rest}"
    file.write_text(text.replace("  use argument_mod", "  use aside_mod\n  use argument_mod", 1))
    specification, declared, body = effect
    words = {"specification": specification, "declared": declared, "body": body}
    (kernels / "aside_mod.f90").write_text(HELPER.format(**words))
    return kernels


@pytest.mark.parametrize("effect", EFFECTS.values(), ids=EFFECTS)
def test_what_is_refused_computes_something_else(
    effect: tuple[str, str, str], waves_in: Callable[..., Path], tmp_path: Path
) -> None:
    kernels = kernels_in(tmp_path, effect)
    given = ["-api", "gocean", "-d", str(kernels), "--apply"]
    algorithm = str(EXAMPLE / "shallow_water.x90")
    loops = [f"{STEPS}{{loop=loop{at}}}" for at in (1, 2, 3)]
    refused = [run_command([*given, one, algorithm], tmp_path) for one in loops]
    assert sum("'helper', which 'average_v_code' calls" in done.err for done in refused) == 1
    plain, threads = tmp_path / "plain", tmp_path / "threads"
    plain.mkdir()
    threads.mkdir()
    serial = run_waves(waves_in(plain, source=kernels))
    forced = waves_in(threads, "--apply", f"{STEPS}{{force=true}}", source=kernels)
    # On a busy machine threads may take turns, so that the race does not always show.
    assert any(run_waves(forced, threads=2) != serial for _ in range(10))
