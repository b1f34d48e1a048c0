"""Tests of the device selection by environment variables and by calls."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable

import numpy as np
import pytest

from psyclone_storage import storage as gt
from psyclone_storage.storage import accessors
from psyclone_storage.storage.core.buffer import CoherentBuffer
from psyclone_storage.storage.core.device import DeviceKind, Emulation, selected_device, use_device
from psyclone_storage.storage.core.errors import DeviceUnavailableError
from psyclone_storage.storage.core.spaces import device_space, memory_space
from psyclone_storage.storage.memory import cuda
from psyclone_storage.storage.memory.registry import device_count, memory_of


def run(program: str, **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": ":".join(sys.path), **environment},
    )
    return done.stdout.strip()


ASK = (
    "from psyclone_storage.storage.core.device import selected_device; "
    "print(selected_device().name)"
)


@pytest.mark.parametrize(("value", "name"), [("auto", "AUTO"), ("emulated", "EMULATED")])
def test_the_environment_chooses(value: str, name: str) -> None:
    assert run(ASK, PSYCLONE_STORAGE_DEVICE=value) == name


def test_auto_is_the_default() -> None:
    assert run(ASK) == "AUTO"


def test_code_beats_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PSYCLONE_STORAGE_DEVICE", "cuda")
    assert selected_device() is DeviceKind.EMULATED


def test_auto_without_a_gpu_names_the_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cuda, "is_available", lambda: False)
    use_device("auto")
    assert device_count() == 0
    with pytest.raises(DeviceUnavailableError, match="PSYCLONE_STORAGE_DEVICE=emulated"):
        CoherentBuffer(4).make_valid("gpu")


def test_cuda_without_a_gpu_names_the_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cuda, "is_available", lambda: False)
    use_device("cuda")
    with pytest.raises(DeviceUnavailableError, match="PSYCLONE_STORAGE_DEVICE=emulated"):
        memory_of(device_space(0))


def test_there_are_two_emulated_devices_and_no_third() -> None:
    assert memory_of(device_space(0)) is not memory_of(device_space(1))
    with pytest.raises(DeviceUnavailableError, match=r"2 device\(s\)"):
        memory_of(memory_space("gpu:2"))


def test_unknown_names_and_misplaced_properties_are_refused() -> None:
    with pytest.raises(ValueError, match='"abacus"'):
        use_device("abacus")
    with pytest.raises(ValueError, match='needs "emulated"'):
        use_device("auto", Emulation())
    with pytest.raises(ValueError, match="at least one device"):
        Emulation(count=0)


IMPORT = """
import numpy, sys
import psyclone_storage.storage.core.buffer, psyclone_storage.storage.core.context
print([name for name in ("cupy", "xarray", "mpi4py") if name in sys.modules])
"""


def test_import_is_light() -> None:
    assert run(IMPORT).strip() == "[]"


@pytest.mark.parametrize(
    "ask",
    [
        lambda: gt.as_storage(np.ones(3), device="gpu"),
        lambda: gt.as_storage(accessors.Buffer(3), device="gpu"),
        lambda: gt.empty(3, device="gpu", delayed=True),
        lambda: gt.stacked({"a": (3,)}, device="gpu"),
        lambda: accessors.Buffer(3).set_preferred("gpu"),
        lambda: accessors.Buffer(3).set_access_via("gpu"),
    ],
)
def test_without_a_device_whoever_asks_for_it_learns_at_once(
    ask: Callable[[], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cuda, "is_available", lambda: False)
    use_device("auto")
    with pytest.raises(DeviceUnavailableError, match="PSYCLONE_STORAGE_DEVICE=emulated"):
        ask()
