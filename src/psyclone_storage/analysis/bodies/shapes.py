"""Types and shapes of the expressions in a kernel.

An array expression has one `Triplet` per dimension: the subscripts of its first array operand. The
functions return None for unknown types and shapes; callers then reject the code. The class of an
index expression determines its meaning, the module of an imported variable determines its type, and
an unresolved name may be anything.
"""

from __future__ import annotations

from itertools import chain

from psyclone_storage.base.memo import kept_with_first
from psyclone_storage.base.records import dataclass, replace
from psyclone_storage.ir import expr as ex
from psyclone_storage.ir import unit as un
from psyclone_storage.ir.affine import (
    simplified,
)
from psyclone_storage.ir.intrinsics import (
    ELEMENTAL,
    INQUIRING,
    REDUCING,
)
from psyclone_storage.ir.keys import key_of
from psyclone_storage.ir.operators import Operator, OperatorKind
from psyclone_storage.ir.rewrite import Plain, expressions_of, names_in, names_of_line, walk_lines
from psyclone_storage.ir.routine import Routine
from psyclone_storage.ir.typed import Typing
from psyclone_storage.ir.types import Intrinsic, ScalarType


@dataclass(frozen=True, slots=True)
class Triplet:
    """The subscripts `start, start + step, ...` up to `stop`; the default step is one."""

    start: ex.Expr
    stop: ex.Expr
    step: ex.Expr | None = None

    @property
    def count(self) -> ex.Expr:
        """The number of subscripts; zero or negative if there are none."""
        span = ex.Binary(Operator.MINUS, self.stop, self.start)
        if self.step is None:
            return simplified(ex.Binary(Operator.PLUS, span, ex.whole(1)))
        return ex.Binary(Operator.DIVIDE, ex.Binary(Operator.PLUS, span, self.step), self.step)


Dimensions = tuple[Triplet, ...]


def find_declaration(code: Routine, name: str) -> un.Declare | None:
    """Return the declaration of `name` in the kernel or, failing that, in its module."""
    return code.declared(name) or code.module.declared.get(key_of(name))


# ---------------------------------------------------------------------------- types


def type_of_values(expr: ex.Expr, code: Routine) -> ScalarType | None:
    """Return the type of the values of `expr`, None if unknown.

    The kind is a name that has the same meaning in the kernel.
    """
    typing = Typing(lambda name: _with_kind_in_sight(code, code.symbol(name)), lambda _: None)
    found = typing.type_of(expr)
    return found if isinstance(found, ScalarType) else None


def type_by_dummies(expr: ex.Expr, code: Routine) -> ScalarType | None:
    """Return the type of the values of `expr`, also for kinds known only by name.

    The kind of an imported variable counts as equal to the kernel's kind of the same name if a
    dummy argument has that kind. Kinds of the infrastructure are thus known without its modules.
    """
    dummies = (code.declared(name) for name in code.dummies)
    kinds = {item.type.kind_key for item in dummies if item and isinstance(item.type, ScalarType)}

    def symbol(name: str) -> ex.Symbol:
        found = code.symbol(name)
        known = found.kind is not None and key_of(found.kind) in kinds
        unclear = known and not code.symbol(found.kind or "").is_resolved
        return found if unclear else _with_kind_in_sight(code, found)

    found = Typing(symbol, lambda _: None).type_of(expr)
    return found if isinstance(found, ScalarType) else None


def is_integer(expr: ex.Expr, code: Routine) -> bool:
    """Return whether `expr` is known to be an integer of any kind.

    The kind of a sum of two kinds is that of the wider one, which only the compiler knows.
    """
    match expr:
        case ex.Binary(op, left, right) if op.kind is OperatorKind.ARITHMETIC:
            return is_integer(left, code) and is_integer(right, code)
        case ex.Unary(op, operand) if op.kind is OperatorKind.ARITHMETIC:
            return is_integer(operand, code)
        case ex.Parenthesised(operand):
            return is_integer(operand, code)
    found = type_of_values(expr, code)
    return found is not None and found.intrinsic is Intrinsic.INTEGER


def _with_kind_in_sight(code: Routine, symbol: ex.Symbol) -> ex.Symbol:
    """Return `symbol`, without its type if the kind's name is unknown in this module."""
    kind = symbol.kind
    if symbol.origin is not ex.Origin.IMPORTED or kind is None or kind.isdigit():
        return symbol
    here = code.symbol(kind)
    if here.is_resolved and (here.module, here.name) == symbol.home_of_kind:
        return symbol
    return replace(symbol, type=None)


# ---------------------------------------------------------------------------- shapes


def rank_of(expr: ex.Expr, code: Routine) -> int | None:
    """Return the rank of `expr` (0 for a scalar), None if it is unknown."""
    dimensions = dimensions_of(expr, code)
    return None if dimensions is None else len(dimensions)


def dimensions_of(expr: ex.Expr, code: Routine) -> Dimensions | None:
    """Return the subscripts that `expr` iterates over; an empty tuple for a scalar."""
    match expr:
        case ex.Literal():
            return ()
        case ex.Name():
            return _whole_dimensions(expr, code)
        case ex.Element(ex.Name() as name, items) | ex.Section(ex.Name() as name, items):
            return _section_dimensions(name, items, code)
        case ex.CallFunction(_, items):
            word = ex.intrinsic_called(expr)
            return None if word is None else _function_dimensions(word, items, code)
        case ex.Unary(_, operand):
            return dimensions_of(operand, code)
        case ex.Keyword(_, value):
            return dimensions_of(value, code)
        case ex.Binary(_, left, right):
            return _common((left, right), code)
    return None


def _common(parts: tuple[ex.Expr, ...], code: Routine) -> Dimensions | None:
    """Return the dimensions of the first array operand; None if an operand is unknown."""
    found: Dimensions = ()
    for part in parts:
        dimensions = dimensions_of(part, code)
        if dimensions is None or (found and dimensions and len(found) != len(dimensions)):
            return None
        found = found or dimensions
    return found


def _whole_dimensions(name: ex.Name, code: Routine) -> Dimensions | None:
    found = _data(name, code)
    if found is None or not isinstance(found.type, ScalarType):
        return None
    bounds = tuple(_bounds(name, at, code) for at in range(found.rank))
    return None if any(bound is None for bound in bounds) else tuple(filter(None, bounds))


def _data(name: ex.Name, code: Routine) -> ex.Symbol | None:
    """Return the symbol of a variable or constant, None for other and unknown names."""
    found = code.symbol(name.text)
    return found if found.is_data else None


def _bounds(name: ex.Name, at: int, code: Routine) -> Triplet | None:
    """Return the bounds of dimension `at` of an array.

    For an array of another module, `lbound` and `ubound` are used, because the names in its
    declared bounds may be unknown here.
    """
    declared = find_declaration(code, name.text)
    if declared is not None:
        return bounds_of(declared, at, code)
    place = ex.whole(at + 1)
    return Triplet(ex.intrinsic("lbound", name, place), ex.intrinsic("ubound", name, place))


def _section_dimensions(
    name: ex.Name, items: tuple[ex.Expr, ...], code: Routine
) -> Dimensions | None:
    found_data = _data(name, code)
    if found_data is None or len(items) != found_data.rank:
        return None
    found: list[Triplet] = []
    for at, item in enumerate(items):
        own = _section(name, at, item, code)
        if own is None:
            return None
        found += own
    return tuple(found)


def _section(name: ex.Name, at: int, item: ex.Expr, code: Routine) -> Dimensions | None:
    """Return the dimensions that one subscript contributes: none, or one."""
    if not isinstance(item, ex.Range):
        return dimensions_of(item, code) if rank_of(item, code) in (0, 1) else None
    start, stop = item.lower, item.upper
    if start is None and stop is not None and (declared := find_declaration(code, name.text)):
        # The last dimension of an assumed-size array also has a lower bound.
        start = _lower_bound(declared, at, code)
    elif start is None or stop is None:
        bounds = _bounds(name, at, code)
        if bounds is None:
            return None
        start, stop = start or bounds.start, stop or bounds.stop
    return (Triplet(start, stop, item.step),)


def _function_dimensions(word: str, items: tuple[ex.Expr, ...], code: Routine) -> Dimensions | None:
    if word in ELEMENTAL:
        return _common(items, code)
    if word in REDUCING:
        words = {item.key for item in items if isinstance(item, ex.Keyword)}
        alone = len(items) == 1 or word == "dot_product"
        return () if alone or (len(items) == 2 and words == {"mask"}) else None
    if word in INQUIRING and word != "shape":
        needs_dimension = word in {"lbound", "ubound"}
        return () if len(items) > 1 or not needs_dimension else None
    return None


def bounds_of(declared: un.Declare, at: int, code: Routine) -> Triplet | None:
    """Return the bounds of dimension `at`, counted from 0, of an array.

    The declared bounds are used if their values do not change in the kernel, else the functions
    `lbound` and `ubound`. The last dimension of an assumed-size array has no bounds (None).
    """
    extent = declared.shape[at]
    upper = extent.upper if isinstance(extent, ex.Range) else extent
    if isinstance(upper, ex.Star | ex.Verbatim):
        return None
    return Triplet(_lower_bound(declared, at, code), _bound("ubound", declared, at, upper, code))


def _lower_bound(declared: un.Declare, at: int, code: Routine) -> ex.Expr:
    extent = declared.shape[at]
    lower = extent.lower if isinstance(extent, ex.Range) else None
    deferred = isinstance(extent, ex.Range) and declared.words & {"pointer", "allocatable"}
    if lower is None and not deferred:
        lower = ex.whole(1)
    return _bound("lbound", declared, at, lower, code)


def _bound(
    function: str, declared: un.Declare, at: int, written: ex.Expr | None, code: Routine
) -> ex.Expr:
    if written is not None and not names_in(written) & changed_in_routine(code):
        return written
    return ex.intrinsic(function, ex.Name(declared.name), ex.whole(at + 1))


def changed_in_routine(code: Routine) -> frozenset[str]:
    """Return the names that statements of a routine may change, also if `code` is a part of it."""
    return _changed_in(code.whole or code)


@kept_with_first
def _changed_in(code: Routine) -> frozenset[str]:
    """Return the names that statements may change, also as arguments of functions."""
    parts = (part for line in walk_lines(code.body) for part in expressions_of(line))
    calls = (
        part
        for part in chain.from_iterable(map(ex.walk, parts))
        if isinstance(part, ex.CallFunction) and ex.intrinsic_called(part) is None
    )
    return changed_names(code.body).union(*map(names_in, calls))


def changed_names(lines: tuple[un.Line, ...]) -> frozenset[str]:
    """Return the names, in lower case, that statements of a kernel may change."""
    found: set[str] = set()
    for line in walk_lines(lines):
        match line:
            case un.Assign(target, _) | un.PointerAssign(target, _):
                found |= names_in(_base(target))
            case un.Allocate(arrays) | un.Deallocate(arrays):
                found.update(*(names_in(_base(array)) for array in arrays))
            case un.Do():
                found.add(line.variable.key)
            case un.Call(_, args):
                found.update(*(names_in(arg) for arg in args))
            case _ if not isinstance(line, Plain):
                found |= names_of_line(line)
    return frozenset(found)


def _base(target: ex.Expr) -> ex.Expr:
    while isinstance(target, ex.Index | ex.Member):
        target = target.base
    return target
