"""Constant arrays of a kernel, which are assigned at the start of the Python kernel.

In Python a new array contains zeros and cannot be constant. No other module assigns arrays that
Fortran declares as constants. An array that is saved between calls but never written is also
treated as a constant.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from itertools import product

from psyclone_storage.base.names import NameTable
from psyclone_storage.base.records import dataclass, field, replace
from psyclone_storage.ir import expr as ex
from psyclone_storage.ir.keys import key_of
from psyclone_storage.ir.operators import Operator
from psyclone_storage.ir.rewrite import names_in, names_of_line, walk_lines
from psyclone_storage.ir.routine import Routine
from psyclone_storage.ir.types import Intrinsic, ScalarType
from psyclone_storage.ir.typing import CScope, PrintError
from psyclone_storage.ir.unit import Assign, Blank, Comment, Declare, Do, If, Line, Return

_CONSTANT = "parameter"
_KEPT = "save"
_POINTS = ("pointer", "allocatable")
_MOST_READ = 64
_UNDERSTOOD = (Assign, Blank, Comment, Do, If, Return)
"""Statements of which it is known what they write."""


@dataclass(frozen=True, slots=True)
class _OwnArray:
    """Local copy of a module array, with the statements and symbols for reading its elements."""

    declared: Declare
    read: tuple[Line, ...] = ()
    symbols: Mapping[str, ex.Symbol] = field(default_factory=dict)


def with_arrays_of_modules(code: Routine, scope: CScope) -> Routine:
    """Return `code` with local copies of module arrays with known extents.

    The elements of constants become literals. The elements of a variable in another module are read
    one by one at the start of the kernel.
    """
    used = {name for line in walk_lines(code.body) for name in names_of_line(line)}
    declared = [item.key for item in code.declarations if isinstance(item, Declare)]
    names = NameTable((*used, *declared, *code.dummy_keys, *code.module.symbols.symbols))
    every = [_own_array(code, key, scope, names) for key in sorted(used)]
    found = [one for one in every if one is not None]
    if not found:
        return code
    table = code.module.symbols
    symbols = {key: symbol for one in found for key, symbol in one.symbols.items()}
    declarations = (*code.declarations, *(one.declared for one in found))
    return replace(
        code.with_specification(declarations=declarations),
        body=(*(line for one in found for line in one.read), *code.body),
        module=replace(code.module, symbols=replace(table, symbols={**table.symbols, **symbols})),
    )


def _own_array(code: Routine, key: str, scope: CScope, names: NameTable) -> _OwnArray | None:
    try:
        symbol = scope.symbol(key)
        type_ = scope.type_of(symbol)
    except PrintError:
        return None
    if symbol.origin in (ex.Origin.LOCAL, ex.Origin.DUMMY) or not symbol.shape:
        return None
    home = scope.home_of(symbol)
    axes = _axes(symbol.shape, home)
    if axes is None:
        return None
    kind = ScalarType(type_.intrinsic, str(type_.size))
    shape = tuple(ex.Range(_whole(one.start), _whole(one.stop - 1)) for one in axes)
    if symbol.sort is ex.Sort.VARIABLE and _may_be_read(code, key, symbol, axes):
        return _read_one_by_one(code, Declare(key, kind, (), shape), symbol, axes, names)
    if symbol.sort is not ex.Sort.CONSTANT or symbol.value is None:
        return None
    placed = dict(_placed(symbol.value, axes) or ())
    values = [_known_in(home, placed[one]) for one in sorted(placed, key=_reversed)]
    literals = ex.ArrayLiteral(tuple(one for one in values if one is not None))
    if not values or None in values:
        return None
    return _OwnArray(Declare(key, kind, (_CONSTANT,), shape, value=_shaped(literals, axes)))


def _shaped(literals: ex.ArrayLiteral, axes: list[range]) -> ex.Expr:
    """Return array values in the shape of an array."""
    if len(axes) == 1:
        return literals
    shape = ex.ArrayLiteral(tuple(_whole(len(one)) for one in axes))
    return ex.CallFunction(ex.Name("reshape"), (literals, shape))


def _may_be_read(code: Routine, key: str, symbol: ex.Symbol, axes: list[range]) -> bool:
    """Return whether Python can read an array of another module element by element."""
    if symbol.module_key in ("", code.module.key) or set(symbol.attributes) & set(_POINTS):
        return False
    for line in walk_lines(code.body):
        if isinstance(line, Assign):
            base = line.target.base if isinstance(line.target, ex.Index) else line.target
            if isinstance(base, ex.Name) and base.key == key:
                return False
    return 0 < math.prod(map(len, axes)) <= _MOST_READ


def _read_one_by_one(
    code: Routine, declared: Declare, symbol: ex.Symbol, axes: list[range], names: NameTable
) -> _OwnArray:
    """Return a local array with elements read from another module; Python indices start at 0."""
    read: list[Line] = []
    symbols: dict[str, ex.Symbol] = {}
    for index in product(*axes):
        behind = [str(one).replace("-", "m") for one in index]
        name = key_of(names.fresh("_".join((declared.key, *behind))))
        at = ", ".join(str(one - axis.start) for one, axis in zip(index, axes, strict=True))
        symbols[name] = replace(symbol, key=name, name=f"{symbol.name}[{at}]", shape=())
        target = ex.Element(ex.Name(declared.name), tuple(map(_whole, index)))
        read.append(Assign(target, ex.Name(name), place=code.place_of(declared.name)))
    return _OwnArray(declared, tuple(read), symbols)


def _reversed(index: tuple[int, ...]) -> tuple[int, ...]:
    """Return an index as a sort key for memory order."""
    return tuple(reversed(index))


def _known_in(home: CScope, value: ex.Expr) -> ex.Expr | None:
    """Return the literal value of a constant, or None if it uses other constants."""
    match value:
        case ex.Literal(kind=None):
            return value
        case ex.Literal(kind=str() as kind):
            return value.with_kind(str(home.kind(kind)))
        case ex.Unary(op, operand) if (inner := _known_in(home, operand)) is not None:
            return ex.Unary(op, inner)
        case ex.Parenthesised(operand):
            return _known_in(home, operand)
    return None


def without_constant_arrays(code: Routine, scope: CScope) -> Routine:
    """Return `code` with its constant arrays changed to variables assigned at the start.

    Arrays that are needed in declarations remain constants.

    before: integer, parameter :: side(2) = [1, 3]
    after:  integer :: side(2); side = [1, 3]
    """
    used = {name for line in walk_lines(code.body) for name in names_of_line(line)}
    used -= _needed_by_declarations(code)
    assigned: list[Line] = []
    declared = []
    for item in code.declarations:
        values = _values(code, item, scope) if isinstance(item, Declare) else None
        if not isinstance(item, Declare) or item.key not in used or values is None:
            declared.append(item)
            continue
        place = code.place_of(item.name)
        assigned += [
            Assign(ex.Element(ex.Name(item.name), index), value, place=place)
            for index, value in values
        ]
        declared.append(_variable(item))
    if not assigned:
        return code
    return replace(code.with_specification(declarations=declared), body=(*assigned, *code.body))


def _values(
    code: Routine, item: Declare, scope: CScope
) -> list[tuple[tuple[ex.Expr, ...], ex.Expr]] | None:
    """Return the elements of a constant array with their values, or None for another item."""
    if item.key in code.dummy_keys or not item.shape or not _never_written(code, item):
        return None
    axes = _axes(item.shape, scope)
    placed = None if axes is None else _placed(item.value, axes)
    if placed is None:
        return None
    return [(tuple(map(_whole, place)), value) for place, value in placed]


def _never_written(code: Routine, item: Declare) -> bool:
    """Return whether no statement of a kernel can change an array."""
    if _CONSTANT in item.attributes:
        return True
    for line in walk_lines(code.body):
        if not isinstance(line, _UNDERSTOOD):
            return False
        if isinstance(line, Assign):
            base = line.target.base if isinstance(line.target, ex.Index) else line.target
            if not isinstance(base, ex.Name) or base.key == item.key:
                return False
    return True


def _listed(value: ex.Expr | None) -> tuple[ex.Expr, ...] | None:
    """Return the values of an array constructor, possibly inside `reshape`, or None."""
    match value:
        case ex.ArrayLiteral():
            return tuple(_flat(value))
        case ex.Index(ex.Name(key="reshape"), (ex.ArrayLiteral() as source, _)):
            return tuple(_flat(source))
    return None


def _flat(listed: ex.ArrayLiteral) -> Iterator[ex.Expr]:
    """Yield values in order, including those of nested array constructors."""
    for item in listed.items:
        if isinstance(item, ex.ArrayLiteral):
            yield from _flat(item)
        else:
            yield item


def _placed(
    value: ex.Expr | None, axes: list[range]
) -> list[tuple[tuple[int, ...], ex.Expr]] | None:
    """Return values with their indices, or None if the correspondence is unknown."""
    order = list(range(len(axes)))
    match value:
        case ex.Index(
            ex.Name(key="reshape"), (source, shape, ex.Keyword(name="order", value=given))
        ):
            said = [ex.integer_value(one) for one in given.items] if isinstance(
                given, ex.ArrayLiteral) else []  # fmt: skip
            if sorted(one or 0 for one in said) != [place + 1 for place in order]:
                return None
            order = [(one or 1) - 1 for one in said]
            value = ex.CallFunction(ex.Name("reshape"), (source, shape))
    listed = _listed(value)
    if listed is None:
        return None
    # The dimension that the order has first varies fastest.
    every = []
    for one in product(*(axes[place] for place in reversed(order))):
        found = dict(zip(reversed(order), one, strict=True))
        every.append(tuple(found[place] for place in range(len(axes))))
    return list(zip(every, listed, strict=True)) if len(every) == len(listed) else None


def _axes(shape: Iterable[ex.Expr], scope: CScope) -> list[range] | None:
    """Return the index range of each dimension, or None if one is unknown."""
    found = []
    for one in shape:
        lower = (
            1 if not isinstance(one, ex.Range) or one.lower is None else scope.integer(one.lower)
        )
        upper = one.upper if isinstance(one, ex.Range) else one
        last = None if upper is None else scope.integer(upper)
        if lower is None or last is None:
            return None
        found.append(range(lower, last + 1))
    return found


def _whole(value: int) -> ex.Expr:
    made = ex.Literal(str(abs(value)), Intrinsic.INTEGER)
    return made if value >= 0 else ex.Unary(Operator.MINUS, made)


def _needed_by_declarations(code: Routine) -> set[str]:
    """Return the names used in extents and initial values of declarations."""
    return {
        name
        for item in code.declarations
        if isinstance(item, Declare)
        for expr in (*item.shape, *([item.value] if item.value is not None else []))
        for name in names_in(expr)
        if name != item.key
    }


def _variable(item: Declare) -> Declare:
    attributes = tuple(word for word in item.attributes if word not in (_CONSTANT, _KEPT))
    return replace(item, attributes=attributes, value=None)
