"""Generated code that is profiled: what the table counts, and that the answers stay the same."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from libraries import GOCEAN, PROFILE, STRICT, Library, linked_with
from psyclone_storage.cli.main import main
from runtime.examples import EXAMPLES
from runtime.programs import command

EXAMPLE = EXAMPLES / "gocean" / "shallow_water"
FLAGS = (*STRICT, "-O1", "-g")
ROW = re.compile(r"^ +(\d+) +(\d*\.\d+) +\d*\.\d+ +\d*\.\d+  (\S+)$", re.MULTILINE)
STEPS = 400
KERNELS = ("continuity", "average_v", "momentum_u", "average_u", "momentum_v")

pytestmark = pytest.mark.fortran

Ran = Callable[..., str]


@pytest.fixture
def ran(built: Callable[[Library], Path], f90: tuple[str, ...]) -> Ran:
    """Return what compiles the example with a profiler in a folder, and gives what it prints."""
    libraries = linked_with(built(GOCEAN), built(PROFILE))

    def compiled(folder: Path, *words: str) -> str:
        source = (EXAMPLE / "shallow_water.x90").read_text(encoding="utf-8")
        shutil.copytree(EXAMPLE / "kernels", folder / "kernels")
        algorithm = folder / "alg.x90"
        algorithm.write_text(with_profiler(source), encoding="utf-8")
        outputs = ["-oalg", str(folder / "alg.f90"), "-opsy", str(folder / "psy.f90")]
        kernels = ["-d", str(folder / "kernels")]
        assert main(["-api", "gocean", "-nodm", str(algorithm), *kernels, *outputs, *words]) == 0
        own = [*sorted((folder / "kernels").glob("*.f90")), folder / "psy.f90", folder / "alg.f90"]
        sources = [*map(str, own), *libraries]
        command([*f90, *FLAGS, f"-J{folder}", *sources, "-o", str(folder / "program")], folder)
        return command([str(folder / "program")], folder)

    return compiled


def with_profiler(source: str) -> str:
    """Return the text of a program that prints its table at the end."""
    return source.replace(
        "  implicit none\n",
        "  use profile_psy_data_mod, only : profile_PSyDataShutdown\n\n  implicit none\n",
        1,
    ).replace(
        "  call gocean_finalise()", "  call profile_PSyDataShutdown()\n  call gocean_finalise()"
    )


def test_regions_are_counted_and_timed(ran: Ran, tmp_path: Path) -> None:
    printed = ran(tmp_path, "--profile", "kernels", "-p", "invokes")
    rows = {name: (int(calls), float(seconds)) for calls, seconds, name in ROW.findall(printed)}
    assert len(rows) == len(KERNELS) + 1
    assert {calls for calls, _ in rows.values()} == {STEPS}
    assert all(name.startswith("shallow_water_psy:invoke_advance-") for name in rows)
    whole = rows.pop(f"shallow_water_psy:invoke_advance-r{len(KERNELS)}")[1]
    parts = [seconds for _, seconds in rows.values()]
    assert 0.0 < sum(parts) <= whole
    assert parts == sorted(parts, reverse=True)
    for number, kernel in enumerate(KERNELS):
        assert any(name.endswith(f"-{kernel}_code-r{number}") for name in rows)


def test_a_profiler_changes_no_answer(ran: Ran, tmp_path: Path) -> None:
    for name in ("plain", "profiled"):
        (tmp_path / name).mkdir()
    plain = ran(tmp_path / "plain")
    profiled = ran(tmp_path / "profiled", "-p", "kernels")
    assert not ROW.search(plain)
    assert profiled.startswith(plain)
    assert "start" in plain


def test_a_region_with_variables_is_refused(
    built: Callable[[Library], Path], f90: tuple[str, ...], tmp_path: Path
) -> None:
    """They are for other libraries with this interface, which would do something with them."""
    source = tmp_path / "refused.f90"
    source.write_text("""program refused
  use profile_psy_data_mod, only: profile_PSyDataType
  implicit none
  type(profile_PSyDataType), target :: region
  call region%PreStart('module', 'region', 1, 0)
end program refused
""")
    words = [
        *f90,
        *FLAGS,
        str(source),
        *linked_with(built(PROFILE)),
        "-o",
        str(tmp_path / "refused"),
    ]
    command(words, tmp_path)
    done = subprocess.run([tmp_path / "refused"], capture_output=True, text=True, check=False)
    assert done.returncode != 0
    message = "ERROR STOP profile_psy_data_mod: a profiler takes no variables"
    assert message in done.stderr.splitlines()
