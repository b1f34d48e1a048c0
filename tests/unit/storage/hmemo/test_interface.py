"""Tests of HMemo arrays and accesses as arguments of a stencil call."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from psyclone_storage import storage
from psyclone_storage.storage.hmemo import (
    AccessReleasedError,
    Context,
    HArray,
    HostReadAccess,
    ReadAccess,
    WriteAccess,
)


def described(thing: Any, side: str | None) -> dict[str, Any]:
    found: dict[str, Any] = thing.__gt_data_interface__[side]
    return found


@pytest.mark.spec("GDP-7", "GDP-10", "GDP-11", "GDP-12", "GDP-13", "GDP-15", "GDP-22")
def test_an_array_describes_the_sides_that_it_has(host: Context, cuda: Context) -> None:
    array = HArray(4, host, 1.0, dtype="f4")
    assert list(array.__gt_data_interface__) == [None]
    with WriteAccess(array, cuda) as access:
        access.get()[:] = 2.0
    assert list(array.__gt_data_interface__) == [None, "gpu"]
    side = described(array, None)
    assert (side["shape"], side["typestr"], side["strides"]) == ((4,), "<f4", (4,))
    assert side["data"] == (array.incarnations()[0].pointer, False)
    assert not array.isValid(host)
    side["acquire"]()
    assert array.isValid(host)
    described(array, "gpu")["touch"]()
    assert not array.isValid(host)
    assert described(array, "gpu")["data"][0] == array.incarnations()[1].pointer


@pytest.mark.spec("GDP-12")
def test_a_const_array_is_described_as_read_only() -> None:
    assert described(HArray(4, 1.0, const=True), None)["data"][1] is True


@pytest.mark.parametrize("device", ["emulated"], indirect=True)
@pytest.mark.parametrize("side", [None, "gpu"])
def test_an_array_is_an_argument_of_a_call(side: str | None, host: Context, cuda: Context) -> None:
    array = HArray(np.arange(4.0), host if side is None else cuda)
    with storage.bound({"u": array}, device=side, writes=["u"]) as arrays:
        window = arrays["u"]
        window += 1.0
    assert array.isValid(host) == (side is None)
    with HostReadAccess(array) as access:
        assert access.get().tolist() == [1.0, 2.0, 3.0, 4.0]


def test_an_access_describes_what_it_holds(host: Context, cuda: Context) -> None:
    array = HArray(4, host, 1.0)
    with ReadAccess(array, host) as on_host, ReadAccess(array, cuda) as on_device:
        assert list(on_host.__gt_data_interface__) == [None]
        assert described(on_host, None)["data"] == (array.incarnations()[0].pointer, True)
        assert list(on_device.__gt_data_interface__) == ["gpu"]
        assert described(on_device, "gpu")["data"][0] == array.incarnations()[1].pointer
    with pytest.raises(AccessReleasedError):
        _ = on_host.__gt_data_interface__
