"""The `__gt_data_interface__` of xarray's `DataArray`; no other module depends on xarray.

Importing the runtime registers it (GDP-34), without importing xarray. If xarray is not loaded yet,
a finder at the front of `sys.meta_path` detects its import, and then removes itself. The registered
property is not an xarray accessor, because xarray caches accessors: buffers move, so each query
needs a new result. If a user registers an accessor of that name with xarray, it replaces this one,
and xarray warns (GDP-39).
"""

from __future__ import annotations

import sys
from importlib.machinery import ModuleSpec
from typing import Any

from psyclone_storage.storage.interop.gt import Device, Info, describe

NAME = "__gt_data_interface__"


class DataInterface:
    """The descriptor `DataArray.__gt_data_interface__`, computed on each access."""

    def __get__(self, data_array: Any, owner: type) -> Any:
        """Return the data interface of `data_array`, including its dims."""
        return self if data_array is None else described(data_array)


def described(data_array: Any) -> dict[Device, Info]:
    """Return the data interface of `data_array.data`, with `dims` (GDP-35 to GDP-38).

    Raises `ValueError` if the data and the `DataArray` have different dims, `AttributeError` if the
    data have no array interface.
    """
    found = describe(data_array.data)
    if not found:
        raise AttributeError(
            f"The data of the DataArray, a {type(data_array.data).__name__}, offer none of "
            f"{NAME}, __array_interface__ and __cuda_array_interface__."
        )
    dims = tuple(data_array.dims)
    for info in found.values():
        named = info.get("dims")
        if named is not None and tuple(named) != dims:
            raise ValueError(
                f"The DataArray has the dims {dims}, but its data have {tuple(named)}: rename or "
                f"transpose one of the two."
            )
    return {device: {**info, "dims": dims} for device, info in found.items()}


def register() -> None:
    """Add the data interface to `DataArray`, unless it already has one."""
    import xarray  # noqa: PLC0415 - the deferral that the house allows

    if NAME not in vars(xarray.DataArray):
        setattr(xarray.DataArray, NAME, DataInterface())


class _Watch:
    """An import finder that registers the data interface once xarray is loaded."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """Return the module specification of xarray with a loader that registers; else None."""
        if name != "xarray":
            return None
        others = [finder for finder in sys.meta_path if finder is not self]
        specs = (finder.find_spec(name, path, target) for finder in others)
        spec = next((spec for spec in specs if spec is not None), None)
        if spec is not None and spec.loader is not None:
            self._extend(spec.loader)
        return spec

    def _extend(self, loader: Any) -> None:
        load = loader.exec_module

        def load_and_register(module: Any) -> None:
            load(module)
            # Not earlier: a program may search for xarray and import it only later.
            if self in sys.meta_path:
                sys.meta_path.remove(self)
            register()

        loader.exec_module = load_and_register


def register_when_loaded() -> None:
    """Register now if xarray is loaded, otherwise on its import."""
    if hasattr(sys.modules.get("xarray"), "DataArray"):
        register()
    elif not any(isinstance(finder, _Watch) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Watch())


def labelled(data: Any, dims: tuple[str, ...], coords: dict[str, Any], name: str) -> Any:
    """Return `data` as a `DataArray` with dims and coordinates, without a copy."""
    import xarray  # noqa: PLC0415 - the deferral that the house allows

    return xarray.DataArray(data, dims=dims, coords=coords, name=name or None)


def dataset_of(data: dict[str, Any], coords: dict[str, Any], attributes: dict[str, Any]) -> Any:
    """Return a `Dataset` of variables, given as tuples of dimensions, values and attributes."""
    import xarray  # noqa: PLC0415 - the deferral that the house allows

    return xarray.Dataset(data, coords, attributes)
