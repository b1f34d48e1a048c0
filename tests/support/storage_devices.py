"""The kinds of devices that the tests of storages run on, and how each is put in place.

- `emulated`: the emulated devices that come with the runtime;
- `stand-in`: the code for GPUs over our stand-in for CuPy (`cupy_stand_in`), on every machine;
- `cuda`: the code for GPUs over CuPy, where there is a GPU (`-m gpu`).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

import cupy_stand_in
from psyclone_storage.storage.core.device import Emulation, use_device

GPUS: list[Any] = ["stand-in", pytest.param("cuda", marks=pytest.mark.gpu)]
DEVICES: list[Any] = ["emulated", *GPUS]


@contextmanager
def device_in_place(kind: str, count: int = 2) -> Iterator[str]:
    """Make `use_device` choose a kind of device, for a block; return its name there."""
    if kind == "emulated":
        use_device("emulated", Emulation(count=count))
        try:
            yield "emulated"
        finally:
            use_device("auto")
        return
    with cupy_stand_in.installed(count) if kind == "stand-in" else _nothing():
        use_device("cuda")
        try:
            yield "cuda"
        finally:
            use_device("auto")


@contextmanager
def _nothing() -> Iterator[None]:
    yield
