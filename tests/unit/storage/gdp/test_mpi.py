"""Tests of mpi4py messages with storages whose values are on a device."""

from __future__ import annotations

import ctypes
import sys
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from psyclone_storage import storage as gt
from psyclone_storage.storage.interop import mpi
from storage_devices import device_in_place


def on_device() -> Any:
    made = gt.zeros((3, 4), device="gpu")
    with made.access("gpu", mode="rw") as array:
        array[...] = 2.0
    return made


@pytest.fixture(autouse=True)
def _silent(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (mpi.VARIABLE, *mpi._SWITCHES):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.mpi
def test_what_to_do_is_said_where_the_library_takes_no_devices(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    library = pytest.importorskip("mpi4py.MPI")
    monkeypatch.setattr(mpi, "_says_so", lambda: False)
    with device_in_place("stand-in"):
        sent, received = on_device(), on_device()
        for pair in ((sent, np.zeros((3, 4))), (np.ones((3, 4)), received)):
            with pytest.raises(BufferError, match=f"not GPU-aware.*data_ro.*{mpi.VARIABLE}=1"):
                library.COMM_SELF.Sendrecv(pair[0], 0, 0, pair[1], 0, 0)
        assert sent.buffer.poisoned is None
        library.COMM_SELF.Sendrecv(sent.data_ro, 0, 0, received.data, 0, 0)
        assert (received.data_ro == 2.0).all()


def test_values_are_complete_before_a_library_gets_them_that_takes_devices(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "mpi4py.MPI", SimpleNamespace())
    monkeypatch.setenv(mpi.VARIABLE, "1")
    asked: list[Any] = []
    with device_in_place("stand-in"):
        made = on_device()
        array = made.to_cupy()
        kind = type(array)
        monkeypatch.setattr(kind, "__dlpack__", lambda _, **words: asked.append(words))
        synchronize = type(array.device).synchronize
        monkeypatch.setattr(
            type(array.device), "synchronize", lambda self: asked.append(synchronize(self))
        )
        made.__dlpack__(stream=-1, max_version=(1, 0))
        assert asked == [None, {"stream": -1, "max_version": (1, 0)}]
        asked.clear()
        made.__dlpack__(stream=1)
        assert asked == [{"stream": 1}]


@pytest.mark.parametrize(
    ("environment", "says", "answer"),
    [
        ({}, False, False),
        ({}, True, True),
        ({mpi.VARIABLE: "1"}, False, True),
        ({mpi.VARIABLE: "0"}, True, False),
        ({"MPICH_GPU_SUPPORT_ENABLED": "1"}, False, True),
        ({"MPICH_GPU_SUPPORT_ENABLED": "0"}, False, False),
        ({mpi.VARIABLE: ""}, True, True),
        ({"I_MPI_OFFLOAD": "off"}, False, False),
        ({"I_MPI_OFFLOAD": "No"}, False, False),
        ({"MV2_USE_CUDA": "false", "I_MPI_OFFLOAD": "2"}, False, True),
    ],
)
def test_the_library_is_asked_and_the_environment(
    monkeypatch: pytest.MonkeyPatch, environment: dict[str, str], says: bool, answer: bool
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    questions = {mpi._QUESTIONS[1]: lambda: int(says)}
    monkeypatch.setattr(ctypes, "CDLL", lambda _: SimpleNamespace(**questions))
    monkeypatch.setitem(sys.modules, "mpi4py.MPI", SimpleNamespace(__file__="mpi.so"))
    assert mpi.is_here()
    assert mpi.takes_devices() is answer


@pytest.mark.parametrize("told", ["no", "yes", "2"])
def test_what_is_neither_yes_nor_no_is_refused(monkeypatch: pytest.MonkeyPatch, told: str) -> None:
    monkeypatch.setenv(mpi.VARIABLE, told)
    with pytest.raises(ValueError, match=f"{mpi.VARIABLE} is '{told}': it is 1 if"):
        mpi.takes_devices()


@pytest.mark.mpi
def test_the_library_that_is_installed_answers() -> None:
    pytest.importorskip("mpi4py.MPI")
    assert mpi._says_so() in (True, False)


def test_without_mpi_nobody_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "mpi4py.MPI", raising=False)
    assert not mpi.is_here()
    assert not mpi.takes_devices()
