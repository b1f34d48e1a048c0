"""Tests of the data interface of xarray's `DataArray`."""

from __future__ import annotations

import subprocess
import sys
import warnings
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest

from psyclone_storage import storage as gt
from storage_devices import device_in_place

DIMS = ("I", "J")

pytestmark = pytest.mark.skipif(find_spec("xarray") is None, reason="xarray is not installed")


def xr() -> Any:
    """Return xarray, which is imported here because the import takes a second."""
    return import_module("xarray")


def run(program: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.spec("GDP-34")
@pytest.mark.parametrize(
    "imports",
    [
        "import psyclone_storage.storage, xarray",
        "import xarray, psyclone_storage.storage",
        "from psyclone_storage import storage; from xarray import DataArray; import xarray",
        "import psyclone_storage.storage; from importlib.util import find_spec as f; f('xarray')",
    ],
)
def test_importing_registers_in_any_order(imports: str) -> None:
    asked = "from xarray import DataArray; print(list(DataArray([1.0]).__gt_data_interface__))"
    assert run(f"{imports}; {asked}") == "[None]"


@pytest.mark.spec("GDP-34")
def test_xarray_is_not_imported_for_it() -> None:
    program = (
        "import sys, psyclone_storage.storage; "
        "print([name for name in ('xarray', 'cupy', 'mpi4py') if name in sys.modules])"
    )
    assert run(program) == "[]"


def test_nothing_stays_in_the_way_of_imports() -> None:
    program = (
        "import sys, psyclone_storage.storage; before = len(sys.meta_path); import xarray; "
        "print(before - len(sys.meta_path), type(xarray.__loader__).__name__)"
    )
    assert run(program) == "1 SourceFileLoader"


@pytest.mark.spec("GDP-35", "GDP-37")
@pytest.mark.usefixtures("device")
def test_a_storage_inside_answers_itself() -> None:
    made = gt.zeros((2, 3), device="gpu", halo=(1, 0))
    array = xr().DataArray(made, dims=("x", "y"))
    assert array.data is made
    found = array.__gt_data_interface__
    for side, info in made.__gt_data_interface__.items():
        assert found[side] == {**info, "dims": ("x", "y")}
    assert found["gpu"]["acquire"] == made.__gt_data_interface__["gpu"]["acquire"]
    assert "dims" not in made.__gt_data_interface__[None]


class Named:
    """An array whose data interface names its dimensions, as content of an xarray object."""

    def __init__(self, dims: Any) -> None:
        self.array = np.zeros((2, 3))
        self.shape, self.dtype, self.ndim = (2, 3), self.array.dtype, 2
        self.__gt_data_interface__ = {None: {**self.array.__array_interface__, "dims": dims}}

    __array_ufunc__ = None

    def __array_function__(self, *_: Any) -> Any:
        return NotImplemented


@pytest.mark.spec("GDP-36")
def test_dims_must_agree() -> None:
    agreed = xr().DataArray(Named(["I", "J"]), dims=DIMS).__gt_data_interface__
    assert tuple(agreed[None]["dims"]) == DIMS
    with pytest.raises(ValueError, match="dims"):
        _ = xr().DataArray(Named(("J", "I")), dims=DIMS).__gt_data_interface__


@pytest.mark.spec("GDP-38")
def test_plain_arrays_are_described() -> None:
    values = np.zeros((2, 3))
    found = xr().DataArray(values, dims=DIMS).__gt_data_interface__
    assert list(found) == [None]
    assert found[None]["data"] == (values.ctypes.data, False)
    assert found[None]["dims"] == DIMS


@pytest.mark.spec("GDP-38")
def test_arrays_of_the_device_are_described(upload: Any) -> None:
    class Held:
        def __init__(self) -> None:
            self.held = upload(np.zeros((2, 3)))
            self.shape, self.dtype, self.ndim = (2, 3), self.held.dtype, 2
            self.__cuda_array_interface__ = self.held.__cuda_array_interface__

        __array_ufunc__ = None

        def __array_function__(self, *_: Any) -> Any:
            return NotImplemented

    held = Held()
    found = xr().DataArray(held, dims=DIMS).__gt_data_interface__
    assert list(found) == ["gpu"]
    assert found["gpu"]["data"][0] == held.held.data.ptr
    assert found["gpu"]["dims"] == DIMS


def test_each_question_gets_a_new_answer() -> None:
    array = xr().DataArray(np.zeros((2, 3)), dims=DIMS)
    first = array.__gt_data_interface__[None]["data"]
    kept = array.data
    array.data = np.ones((2, 3))
    assert array.__gt_data_interface__[None]["data"] != first
    assert kept.sum() == 0.0


@pytest.mark.spec("GDP-39")
def test_users_can_override_it() -> None:
    program = """
import warnings, xarray, psyclone_storage.storage
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    @xarray.register_dataarray_accessor("__gt_data_interface__")
    def mine(array):
        return {"mine": True}
print(caught[0].category.__name__, xarray.DataArray([1.0]).__gt_data_interface__)
"""
    assert run(program) == "AccessorRegistrationWarning {'mine': True}"


@pytest.mark.spec("GDP-39")
def test_an_override_from_before_stays() -> None:
    program = """
import xarray
@xarray.register_dataarray_accessor("__gt_data_interface__")
def mine(array):
    return {"mine": True}
import psyclone_storage.storage
print(xarray.DataArray([1.0]).__gt_data_interface__)
"""
    assert run(program) == "{'mine': True}"


@pytest.mark.spec("GDP-124")
@pytest.mark.usefixtures("device")
def test_xarray_values_are_judged_by_their_data_interface() -> None:
    value = gt.ones((2,), device="gpu")
    value.set_host_modified()
    for wrapped, state in [
        (value, gt.SyncState.SYNC_HOST_DIRTY),
        (xr().DataArray(value, dims="I"), gt.SyncState.SYNC_DEVICE_DIRTY),
        (xr().DataArray(np.ones(2), dims="I"), gt.SyncState.SYNC_HOST_DIRTY),
    ]:
        target = gt.zeros((2,), device="gpu")
        target[...] = wrapped
        assert target.sync_state.state == state
        value.set_host_modified()


@pytest.mark.usefixtures("device")
def test_stencil_arguments_and_wrapping() -> None:
    values = np.arange(6.0).reshape(2, 3)
    array = xr().DataArray(values, dims=("J", "K"))
    assert gt.as_storage(array).dims == ("J", "K")
    assert gt.storage(xr().DataArray(values, dims=("x", "y"))).dims is None
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with gt.bound({"a": array}, writes=["a"]) as arrays:
            arrays["a"][...] = 1.0
            assert arrays.domain == (2, 3)
    assert values.sum() == 6.0
    inside = xr().DataArray(gt.storage(values), dims=("J", "K"))
    assert inside[0, 1].data.shape in ((), np.shape(1.0))
    assert float(inside.sel({}).values.sum()) == 6.0


def test_one_element_of_a_data_array_is_a_number() -> None:
    data = xr().DataArray(gt.full((3, 4), 2.5), dims=("I", "J"))
    assert data.isel(I=0, J=0).item() == 2.5


@pytest.mark.parametrize("device", [None, "gpu"])
@pytest.mark.parametrize(
    "use",
    [
        lambda field: field.mean(),
        lambda field: field.sum("I"),
        lambda field: field.where(field == 1.0),
        lambda field: field.astype("f4"),
        lambda field: xr().concat([field, field], "I"),
    ],
    ids=["mean", "sum", "where", "astype", "concat"],
)
def test_what_computes_says_which_array_to_use(use: Any, device: str | None) -> None:
    with device_in_place("emulated"):
        field = xr().DataArray(gt.ones((3, 4), device=device), dims=("I", "J"))
        with pytest.raises(TypeError, match="use its data_ro on the host"):
            use(field)
        assert use(field.copy(data=field.data.data_ro)).dims is not None


@pytest.mark.parametrize("device", [None, "gpu"])
def test_dask_says_which_array_to_use(device: str | None) -> None:
    dask = pytest.importorskip("dask.array")
    with device_in_place("emulated"):
        field = gt.ones((4, 6), device=device)
        with pytest.raises(TypeError, match="use its data_ro on the host"):
            dask.from_array(field, chunks=2).sum().compute()
        assert dask.from_array(field.data_ro, chunks=2).sum().compute() == 24.0
