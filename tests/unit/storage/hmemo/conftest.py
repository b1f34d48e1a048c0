"""Every test of HMemo runs on two emulated devices, and once more on a GPU where there is one."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from psyclone_storage.storage.core.device import Emulation, use_device
from psyclone_storage.storage.hmemo import Context
from psyclone_storage.storage.memory.registry import device_count


@pytest.fixture(
    autouse=True, params=["emulated", pytest.param("cuda", marks=pytest.mark.gpu)], ids=str
)
def device(request: pytest.FixtureRequest) -> Iterator[str]:
    use_device(request.param, Emulation() if request.param == "emulated" else None)
    yield request.param
    use_device("auto")


@pytest.fixture
def host() -> Context:
    return Context.getHostPtr()


@pytest.fixture
def cuda() -> Context:
    return Context.getContextPtr(Context.CUDA, 0)


@pytest.fixture
def other() -> Context:
    """Return the context of a second device."""
    if device_count() < 2:
        pytest.skip("this machine has one GPU")
    return Context.getContextPtr(Context.CUDA, 1)
