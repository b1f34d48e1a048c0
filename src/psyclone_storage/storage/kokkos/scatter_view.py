"""`ScatterView`: atomic contributions of functors to elements shared by several indices.

    scatter = ScatterView(histogram)
    access = scatter.access()

    @KOKKOS_LAMBDA
    def body(i):
        access[bin_of(i)] += 1

    parallel_for(n, body)
    contribute(histogram, scatter)

The contributions are collected in separate memory, in the space of the view, until `contribute`
combines them with the elements of the view.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import numpy as np

from psyclone_storage.base.records import dataclass, replace
from psyclone_storage.storage.core.acquire import acquire_all
from psyclone_storage.storage.core.errors import ViewExtentError, ViewTypeError
from psyclone_storage.storage.core.locks import AccessMode
from psyclone_storage.storage.kokkos.view import View, ViewClass
from psyclone_storage.storage.kokkos.view_atomic import Cell
from psyclone_storage.storage.kokkos.view_copy import Part, fill_values
from psyclone_storage.storage.kokkos.view_create import AllocProperties, allocated
from psyclone_storage.storage.kokkos.view_spaces import Atomic


class ScatterOperation(NamedTuple):
    """A combining operation: its name and binary function."""

    name: str
    function: np.ufunc

    def identity(self, dtype: np.dtype[Any]) -> Any:
        """Return the identity element of the operation for the type `dtype`."""
        if self.function in (np.add, np.multiply):
            return dtype.type(self.function is np.multiply)
        limits: Any = np.finfo(dtype) if dtype.kind == "f" else np.iinfo(dtype)
        lowest = self.function is np.maximum
        if dtype.kind == "f":
            return dtype.type(-np.inf if lowest else np.inf)
        return dtype.type(limits.min if lowest else limits.max)

    def __repr__(self) -> str:
        return self.name


# pylint: disable=invalid-name  # the names of Kokkos
ScatterSum = ScatterOperation("ScatterSum", np.add)
ScatterProd = ScatterOperation("ScatterProd", np.multiply)
ScatterMin = ScatterOperation("ScatterMin", np.minimum)
ScatterMax = ScatterOperation("ScatterMax", np.maximum)


@dataclass(frozen=True, slots=True)
class ScatterViewType:
    """The type of a scatter view."""

    inner: ViewClass
    operation: ScatterOperation

    def __call__(self, *arguments: Any) -> ScatterView:
        """Create a scatter view from a view, or from a label and extents or a layout."""
        view = self.inner(*arguments)
        return ScatterView(view, self.operation)


class _Typed(type):
    """The metaclass that makes `ScatterView[...]` a type with the arguments of `View`.

    One of the arguments may be an operation.
    """

    def __getitem__(cls, arguments: Any) -> ScatterViewType:
        given = arguments if isinstance(arguments, tuple) else (arguments,)
        operations = [one for one in given if isinstance(one, ScatterOperation)]
        rest = tuple(one for one in given if not isinstance(one, ScatterOperation))
        if len(operations) > 1 or not rest:
            raise ViewTypeError(f"ScatterView[...] takes a data type and one operation: {given}.")
        return ScatterViewType(ViewClass.of(rest), (*operations, ScatterSum)[0])


class ScatterView(metaclass=_Typed):
    """A separate buffer that accumulates contributions to the elements of a view."""

    __slots__ = ("operation", "_collected")

    def __init__(self, view: View, operation: ScatterOperation = ScatterSum) -> None:
        """Start without contributions to the elements of `view`, which does not change.

        Raises `ViewTypeError` if the elements are not numbers.
        """
        if view.dtype.kind not in ("iuf" if operation.function in _ORDERS else "iufc"):
            raise ViewTypeError(f'The elements of "{view.label()}" have no {operation!r}.')
        self.operation = operation
        kind = view.type.at_space(view.memory_space).non_const_type
        properties = AllocProperties(f"{view.label()}_scattered", initialise=False)
        handle = allocated(kind, view.layout(), properties)
        self._collected = View.around(replace(kind, memory_traits=Atomic), handle)
        self.reset()

    def access(self) -> ScatterAccess:
        """Return the object to which functors add: `access[i, j] += x`."""
        return ScatterAccess(self._collected, self.operation)

    def subview(self) -> View:
        """Return the view of the collected contributions."""
        return self._collected

    def reset(self) -> None:
        """Discard all contributions."""
        part = Part.of(self._collected)
        if part.handle.layout.span():
            fill_values(part, self.operation.identity(part.type.dtype))

    def contribute_into(self, target: View) -> None:
        """Combine the contributions with the elements of `target`; this object still has them.

        Raises `ViewTypeError` for a target in another space or with other elements,
        `ViewExtentError` for other extents.
        """
        onto, given = Part.of(target), Part.of(self._collected)
        self._check(onto, given)
        if not given.handle.layout.span():
            return
        write = onto.record.buffer.token(onto.record.space, AccessMode.READ_WRITE)
        read = given.record.buffer.token(given.record.space, AccessMode.READ)
        acquire_all((write, read))
        with write, read:
            elements = write.kernel_view(onto.window(writable=True))
            values = read.kernel_view(given.window())
            self.operation.function(elements, values, out=elements)

    def _check(self, onto: Part, given: Part) -> None:
        if onto.type.non_const_value_type != given.type.value_type or onto.type.value_type.const:
            raise ViewTypeError(
                f'Contributions of "{given.type.value_type}" cannot go to "{onto.handle.label}" '
                f'of "{onto.type.value_type}".'
            )
        if onto.extents != given.extents:
            raise ViewExtentError(
                f'"{onto.handle.label}" has {onto.extents}, but the contributions {given.extents}.'
            )
        same = onto.record.space is given.record.space
        if not same or (
            onto.handle.layout.strides is None and onto.handle.layout != given.handle.layout
        ):
            raise ViewTypeError(
                f'The contributions are at {given.record.space.tag}, and "{onto.handle.label}" at '
                f"{onto.record.space.tag}, or the layouts differ: take a scatter view of this view."
            )

    def __repr__(self) -> str:
        return f"<ScatterView {self.operation!r} of {self._collected!r}>"


_ORDERS = (np.minimum, np.maximum)


class ScatterAccess:
    """The object through which functors contribute to elements."""

    __slots__ = ("_view", "_operation")

    def __init__(self, view: View, operation: ScatterOperation) -> None:
        """Refer to the elements of `view`, which collects the contributions."""
        self._view = view
        self._operation = operation

    def __getitem__(self, key: Any) -> ScatterElement:
        """Return a reference to one element: `access[i, j] += x`."""
        return ScatterElement(self._view[key].cell, self._operation)

    def __call__(self, *indices: Any) -> ScatterElement:
        """Return a reference to one element: `access(i).update(x)`."""
        return ScatterElement(self._view(*indices).cell, self._operation)

    def __setitem__(self, key: Any, value: Any) -> None:
        """Complete `access[i] += x`, whose update is already done; reject other assignments."""
        if not isinstance(value, ScatterElement) or value.cell.view is not self._view:
            raise ViewTypeError("A scatter view is added to, as in access[i] += x, not assigned.")


class ScatterElement:
    """A reference to an element that accumulates contributions."""

    __slots__ = ("cell", "_operation")

    def __init__(self, cell: Cell, operation: ScatterOperation) -> None:
        """Refer to the element `cell`."""
        self.cell = cell
        self._operation = operation

    def update(self, value: Any) -> Self:
        """Combine the element with the contribution `value`."""
        self.cell.combine(self._operation.function, value)
        return self

    def _signed(self, function: np.ufunc, value: Any) -> Self:
        if self._operation.function is not function:
            raise ViewTypeError(f"{self._operation!r} joins with update(), not with an operator.")
        return self.update(value)

    def __iadd__(self, value: Any) -> Self:
        return self._signed(np.add, value)

    def __isub__(self, value: Any) -> Self:
        return self._signed(np.add, -value)

    def __imul__(self, value: Any) -> Self:
        return self._signed(np.multiply, value)

    def __itruediv__(self, value: Any) -> Self:
        return self._signed(np.multiply, 1 / value)


def create_scatter_view(*arguments: Any) -> ScatterView:
    """Return a scatter view of a view; an operation may precede the view."""
    operations = [one for one in arguments if isinstance(one, ScatterOperation)]
    views = [one for one in arguments if isinstance(one, View)]
    if len(views) != 1 or len(operations) > 1 or len(views) + len(operations) != len(arguments):
        raise ViewTypeError(f"A scatter view is made from one view, not from {arguments}.")
    return ScatterView(views[0], (*operations, ScatterSum)[0])


def contribute(target: View, scatter: ScatterView) -> None:
    """Combine the accumulated contributions with the elements of `target`."""
    scatter.contribute_into(target)
