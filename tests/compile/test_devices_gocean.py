"""GOcean's code for devices and tasks: it compiles without a warning and gives the serial answers.

A compiler without a device for it runs regions on the host, where both copies are one: what moves
when is the business of `tests/properties/test_transfer_properties.py`.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from gocean_runs import EXAMPLE, LIBRARY, run
from psyclone_storage.cli.main import main

pytestmark = pytest.mark.fortran

ROUTINES = "acc-routine; "
TARGETS = "omp-declare-target; "
OPENACC = {
    "recipe": "openacc",
    "kernels": ROUTINES + "acc-kernels; acc-enter-data; acc-update",
    "queues": ROUTINES + "acc-kernels{queue=1}; acc-enter-data{queue=2}; acc-update",
    "data": ROUTINES + "acc-kernels; acc-data",
    "one_on_the_host": ROUTINES + "acc-kernels; acc-enter-data",
    "sequential": ROUTINES + "acc-loop{sequential=true}; acc-kernels; acc-enter-data",
}
OPENMP = {
    "tasks": "openmp-taskloop; openmp-single; openmp-parallel",
    "awaited": "openmp-taskloop{nogroup=true}; openmp-single; openmp-taskwait; openmp-parallel",
    "one_task_each": "openmp-task; openmp-master; openmp-taskwait; openmp-parallel",
    "target": TARGETS + "openmp-teams-do; openmp-target",
}


def answers(steps: str, flag: str, library: Path, f90: tuple[str, ...], folder: Path) -> list[str]:
    """Return the lines that the example prints after `steps`, compiled with `flag`."""
    folder.mkdir()
    words = ["-api", "gocean", str(EXAMPLE / "shallow_water.x90"), "-d", str(EXAMPLE / "kernels")]
    words += ["-oalg", str(folder / "alg.f90"), "-opsy", str(folder / "psy.f90")]
    words += ["-okern", str(folder)]
    assert main([*words, "-dm", *(["--apply", steps] if steps else [])]) == 0
    changed = sorted(set(folder.glob("*.f90")) - {folder / "alg.f90", folder / "psy.f90"})
    sources = [*sorted((EXAMPLE / "kernels").glob("*.f90")), *changed]
    sources += [folder / "psy.f90", folder / "alg.f90", library / LIBRARY]
    command = [*f90, "-O1", "-Wall", "-Werror", flag, f"-I{library}", f"-J{folder}"]
    run([*command, *map(str, sources), "-o", str(folder / "waves")])
    return run([str(folder / "waves")], OMP_NUM_THREADS="2").splitlines()


@pytest.mark.parametrize(
    ("steps", "flag"),
    [(steps, "-fopenacc") for steps in OPENACC.values()]
    + [(steps, "-fopenmp") for steps in OPENMP.values()],
    ids=[*OPENACC, *OPENMP],
)
def test_devices_and_tasks_give_the_serial_answers(
    steps: str, flag: str, gocean_library: Path, f90: tuple[str, ...], tmp_path: Path
) -> None:
    serial = answers("", flag, gocean_library, f90, tmp_path / "serial")
    assert answers(steps, flag, gocean_library, f90, tmp_path / "changed") == serial
    assert len(serial) == 2
    directive = {"-fopenacc": "!$acc", "-fopenmp": "!$omp"}[flag]
    layer = (tmp_path / "changed" / "psy.f90").read_text(encoding="utf-8")
    assert layer.count(directive) >= 5
