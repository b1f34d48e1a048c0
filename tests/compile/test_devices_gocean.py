"""GOcean's code for devices and tasks compiles without warnings and computes the serial results.

A compiler without device support runs regions on the host, where both copies are one. The transfers
are tested by `tests/properties/test_transfer_properties.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from gocean_runs import run_waves

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


@pytest.mark.parametrize(
    ("steps", "flag"),
    [(steps, "-fopenacc") for steps in OPENACC.values()]
    + [(steps, "-fopenmp") for steps in OPENMP.values()],
    ids=[*OPENACC, *OPENMP],
)
def test_devices_and_tasks_give_the_serial_answers(
    steps: str,
    flag: str,
    waves_in: Callable[..., Path],
    waves: Callable[..., list[str]],
    tmp_path: Path,
) -> None:
    serial = waves("-dm", threads=2, flag=flag)
    assert run_waves(waves_in(tmp_path, "-dm", "--apply", steps, flag=flag), threads=2) == serial
    assert len(serial) == 2
    directive = {"-fopenacc": "!$acc", "-fopenmp": "!$omp"}[flag]
    layer = (tmp_path / "psy.f90").read_text(encoding="utf-8")
    assert layer.count(directive) >= 5
