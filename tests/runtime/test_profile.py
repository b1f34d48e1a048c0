"""Generated code that is profiled: what the table counts, and that the answers stay the same."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path

import pytest

from psyclone_storage.cli.main import main
from runtime.programs import command

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "gocean" / "shallow_water"
FLAGS = ("-std=f2008", "-Wall", "-Wno-unused-dummy-argument", "-Werror", "-O1", "-g")
ROW = re.compile(r"^ +(\d+) +(\d*\.\d+) +\d*\.\d+ +\d*\.\d+  (\S+)$", re.MULTILINE)
STEPS = 400
KERNELS = ("continuity", "average_v", "momentum_u", "average_u", "momentum_v")

pytestmark = pytest.mark.fortran


def built_and_run(folder: Path, f90: tuple[str, ...], *words: str) -> str:
    """Compile the example with a profiler in `folder`, and return what it prints."""
    source = (EXAMPLE / "shallow_water.x90").read_text(encoding="utf-8")
    profiled = source.replace(
        "  implicit none\n",
        "  use profile_psy_data_mod, only : profile_PSyDataShutdown\n\n  implicit none\n",
        1,
    ).replace(
        "  call gocean_finalise()", "  call profile_PSyDataShutdown()\n  call gocean_finalise()"
    )
    shutil.copytree(EXAMPLE / "kernels", folder / "kernels")
    algorithm = folder / "alg.x90"
    algorithm.write_text(profiled, encoding="utf-8")
    outputs = ["-oalg", str(folder / "alg.f90"), "-opsy", str(folder / "psy.f90")]
    kernels = ["-d", str(folder / "kernels")]
    assert main(["-api", "gocean", "-nodm", str(algorithm), *kernels, *outputs, *words]) == 0
    libraries = []
    for name in ("gocean_infrastructure", "profile"):
        place = ["-C", str(ROOT / "external" / name), f"BUILD={folder / name}"]
        command(["make", "-s", *place, f"FC={shlex.join(f90)}"], folder)
        libraries += [f"-I{folder / name}", str(folder / name / f"lib{name}.a")]
    sources = [*sorted((folder / "kernels").glob("*.f90")), folder / "psy.f90", folder / "alg.f90"]
    program = ["-o", str(folder / "program")]
    command([*f90, *FLAGS, f"-J{folder}", *map(str, sources), *libraries, *program], folder)
    return command([str(folder / "program")], folder)


def test_regions_are_counted_and_timed(f90: tuple[str, ...], tmp_path: Path) -> None:
    printed = built_and_run(tmp_path, f90, "--profile", "kernels", "-p", "invokes")
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


def test_a_profiler_changes_no_answer(f90: tuple[str, ...], tmp_path: Path) -> None:
    for name in ("plain", "profiled"):
        (tmp_path / name).mkdir()
    plain = built_and_run(tmp_path / "plain", f90)
    profiled = built_and_run(tmp_path / "profiled", f90, "-p", "kernels")
    assert not ROW.search(plain)
    assert profiled.startswith(plain)
    assert "start" in plain
