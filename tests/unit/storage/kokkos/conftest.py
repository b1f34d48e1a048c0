"""Two emulated devices for every test of views; `device` runs a test on a real GPU as well."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from psyclone_storage.storage.core.device import Emulation, use_device


@pytest.fixture(autouse=True)
def _emulated() -> Iterator[None]:
    use_device("emulated", Emulation())
    yield
    use_device("auto")


@pytest.fixture(params=["emulated", pytest.param("cuda", marks=pytest.mark.gpu)])
def device(request: pytest.FixtureRequest, _emulated: None) -> str:
    """Run the test on emulated devices and, where there is one, on a GPU."""
    use_device(request.param)
    return str(request.param)
