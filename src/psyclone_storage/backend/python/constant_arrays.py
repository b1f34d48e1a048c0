"""Arrays of constants of a kernel's own, which get their values where a kernel begins.

In Python an array that is made is made of zeros, and no array is a constant. Nobody else writes one
that Fortran declares as such.
"""

from __future__ import annotations

from collections.abc import Iterator

from psyclone_storage.base.records import replace
from psyclone_storage.ir.code import KernelCode
from psyclone_storage.ir.expr import ArrayLiteral, Name
from psyclone_storage.ir.rewrite import names_in, names_of_line, walk_lines
from psyclone_storage.ir.unit import Assign, Declare, Line

_CONSTANT = "parameter"


def without_constant_arrays(code: KernelCode) -> KernelCode:
    """Return `code` with assignments at its beginning for the arrays of constants that it uses.

    What declarations need of such an array stays a constant.

    before: integer, parameter :: side(2) = [1, 3]
    after:  integer :: side(2); side = [1, 3]
    """
    used = {name for line in walk_lines(code.body) for name in names_of_line(line)}
    used -= _needed_by_declarations(code)
    found = {item.key: item for item in _constants(code) if item.key in used}
    if not found:
        return code
    assigned: list[Line] = [
        Assign(Name(item.name), item.value, place=code.place_of(item.name))
        for item in found.values()
        if item.value is not None
    ]
    declared = tuple(
        _variable(item) if isinstance(item, Declare) and item.key in found else item
        for item in code.declarations
    )
    return replace(code, declarations=declared, body=(*assigned, *code.body))


def _constants(code: KernelCode) -> Iterator[Declare]:
    """Yield the constants that are arrays of one dimension with their values one by one."""
    for item in code.declarations:
        if (
            isinstance(item, Declare)
            and _CONSTANT in item.attributes
            and len(item.shape) == 1
            and isinstance(item.value, ArrayLiteral)
        ):
            yield item


def _needed_by_declarations(code: KernelCode) -> set[str]:
    """Return the names in extents and values, which are needed before anything is assigned."""
    return {
        name
        for item in code.declarations
        if isinstance(item, Declare)
        for expr in (*item.shape, *([item.value] if item.value is not None else []))
        for name in names_in(expr)
    }


def _variable(item: Declare) -> Declare:
    attributes = tuple(word for word in item.attributes if word != _CONSTANT)
    return replace(item, attributes=attributes, value=None)
