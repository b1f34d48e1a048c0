"""Loops over the layers of a column whose iterations depend on each other.

Such a loop waits for the result of the previous layer, so a compiler cannot vectorise it. Two
rewrites help:

- Several columns are computed together (`passes.column_strips`), if all of them execute the same
  loops: the bounds must not depend on the column.
- Statements that need no other layer are computed before (`passes.layer_blocks`), in a loop of
  their own.

The first one gains if a layer waits for a division of another layer, the second one if divisions
can be computed before.
"""

from __future__ import annotations

from collections.abc import Iterable

from psyclone_storage.analysis.bodies.flow import Flow, FlowNode, flow_of
from psyclone_storage.analysis.bodies.independence import independence_of
from psyclone_storage.base.records import dataclass
from psyclone_storage.ir import expr as ex
from psyclone_storage.ir import unit as un
from psyclone_storage.ir.operators import Operator
from psyclone_storage.ir.rewrite import blocks_of, expressions_of, first_words, names_in, walk_lines
from psyclone_storage.ir.routine import Routine
from psyclone_storage.ir.types import ScalarType

_Plain = un.Assign | un.If | un.Do | un.While | un.Exit | un.Cycle
_Jump = un.Exit | un.Cycle | un.While
_Silent = un.Comment | un.Blank | un.Continue
_SLOW = frozenset({"sqrt"})
"""Functions that processors compute in vectors as they divide: with a long latency."""
_MOST_VALUES = 512
"""Values of a column in local arrays, which have to stay in a fast cache for all columns."""


@dataclass(frozen=True, slots=True)
class NoStripsError(Exception):
    """The reason why a kernel computes one column at a time."""

    why: str


@dataclass(frozen=True, slots=True)
class ColumnLoops:
    """The loops of a kernel that columns execute together.

    - `common`: identities of the loops that all columns of a strip execute layer by layer, and of
      the choices that are the same for all columns.
    - `uniform`: keys of scalars that have the same value in all columns.
    - `scalars`, `arrays`: keys of other local variables, of which each column has its own.
    """

    common: frozenset[int]
    uniform: frozenset[str]
    scalars: frozenset[str]
    arrays: frozenset[str]


def column_loops(code: Routine, column: str) -> ColumnLoops:
    """Return the loops that the columns of a strip can execute together.

    `column` is the key of the argument with the index of the column.

    Raises:
        NoStripsError: columns cannot be computed together, or that would gain nothing.
    """
    local = dict(_locals(code))
    _check_lines(code, local)
    columns = _Columns(code, column, local)
    common = columns.common()
    if not any(
        isinstance(line, un.Do) and id(line) in common and _waits(line)
        for line in walk_lines(code.body)
    ):
        raise NoStripsError("no layer waits for a division of another layer")
    counters = columns.counters
    scalars = {key for key, item in local.items() if not item.shape} - counters
    arrays = frozenset(key for key, item in local.items() if item.shape)
    return ColumnLoops(
        common, frozenset(scalars - columns.varying), frozenset(scalars & columns.varying), arrays
    )


def _locals(code: Routine) -> Iterable[tuple[str, un.Declare]]:
    """Yield the local variables.

    Raises:
        NoStripsError: the columns of a strip cannot have copies of a variable.
    """
    values = 0
    for item in code.declarations:
        if not isinstance(item, un.Declare) or "parameter" in item.words:
            continue
        if item.key in code.dummy_keys:
            continue
        extents = [ex.whole_number(one) for one in item.shape]
        plain = not item.attributes and item.value is None and isinstance(item.type, ScalarType)
        if not plain or None in extents:
            raise NoStripsError(f"'{item.name}' has no constant size")
        size = 1
        for extent in extents:
            size *= extent or 0
        values += size
        yield item.key, item
    if values > _MOST_VALUES:
        raise NoStripsError(f"its local variables have {values} values, more than {_MOST_VALUES}")


def _check_lines(code: Routine, local: dict[str, un.Declare]) -> None:
    """Raise `NoStripsError` for statements and expressions that columns cannot share."""
    arrays = {key for key, item in local.items() if item.shape}
    for line in walk_lines(code.body):
        if isinstance(line, _Silent):
            continue
        if not isinstance(line, _Plain):
            raise NoStripsError(f"it contains '{first_words(line)}'")
        for expr in expressions_of(line):
            _check(expr, arrays)
        target = line.target if isinstance(line, un.Assign) else None
        if isinstance(target, ex.Name) and target.key not in local:
            raise NoStripsError(f"it changes '{target.text}', which all columns share")


def _check(expr: ex.Expr, arrays: set[str]) -> None:
    match expr:
        case ex.Element(ex.Name(), items):
            parts = items
        case ex.CallFunction(_, items) if ex.intrinsic_called(expr) is not None:
            parts = items
        case ex.Name(key=key) if key not in arrays:
            parts = ()
        case ex.Literal():
            parts = ()
        case ex.Binary() | ex.Unary() | ex.Parenthesised():
            parts = ex.children(expr)
        case _:
            raise NoStripsError(f"it contains '{ex.spell(expr)}'")
    for part in parts:
        _check(part, arrays)


def _waits(loop: un.Do) -> bool:
    """Return whether a statement that needs other layers divides; loops inside do not count."""
    ahead = statements_ahead(loop)
    own = (line for line in loop.body if id(line) not in ahead and not isinstance(line, un.Do))
    return any(map(is_slow, own))


def is_slow(line: un.Line) -> bool:
    """Return whether a statement computes with a division or a square root of reals."""
    return any(
        isinstance(inner, un.Assign) and _is_slow_value(inner.value)
        for inner in walk_lines((line,))
    )


def _is_slow_value(expr: ex.Expr) -> bool:
    """Return whether a value, apart from the indices in it, needs a division."""
    match expr:
        case ex.Binary(Operator.DIVIDE):
            return True
        case ex.Element():
            return False
        case ex.CallFunction(_, items):
            return ex.intrinsic_called(expr) in _SLOW or any(map(_is_slow_value, items))
    return any(map(_is_slow_value, ex.children(expr)))


def _has_common_loop(lines: tuple[un.Line, ...], common: set[int]) -> bool:
    return any(isinstance(line, un.Do) and id(line) in common for line in walk_lines(lines))


# ---------------------------------------------------------------------------- one layer at a time


def serial_loops(flow: Flow) -> tuple[FlowNode, ...]:
    """Return the loops of a kernel whose iterations depend on each other."""
    return tuple(
        node
        for node in flow.loops
        if (found := independence_of(node, flow)).reasons or found.rounded
    )


def statements_ahead(loop: un.Do) -> frozenset[int]:
    """Return the identities of statements in a loop that can be executed before all others.

    They set scalars from data that the loop does not change, and from each other. No statement
    before them uses these scalars, which would be those of the previous iteration.
    """
    inside = tuple(walk_lines(loop.body))
    written = {line.target.base.key for line in inside
               if isinstance(line, un.Assign) and isinstance(line.target, ex.Element)
               and isinstance(line.target.base, ex.Name)}  # fmt: skip
    assigned = frozenset[str]().union(*(_assigned(line) for line in inside))
    ahead: set[int] = set()
    ready: frozenset[str] = frozenset()
    used: frozenset[str] = frozenset()
    changed: frozenset[str] = frozenset()
    for line in loop.body:
        targets, read = _assigned(line), _read(line)
        known = (read & assigned) <= ready and not read & (written | changed)
        sets = targets <= ready or targets <= _surely_assigned(line)
        if sets_scalars(line) and known and sets and not targets & used:
            ahead.add(id(line))
            ready |= targets
        else:
            used |= targets | read
            changed |= targets
    return frozenset(ahead)


def sets_scalars(line: un.Line) -> bool:
    """Return whether a statement only assigns scalars, possibly in branches."""
    match line:
        case un.Assign(target=ex.Name()):
            return True
        case un.If():
            return all(sets_scalars(inner) for block in blocks_of(line) for inner in block)
    return isinstance(line, _Silent)


def scalars_set_by(lines: Iterable[un.Line]) -> frozenset[str]:
    """Return the scalars that statements, with those inside them, assign."""
    return frozenset(
        line.target.key
        for line in walk_lines(lines)
        if isinstance(line, un.Assign) and isinstance(line.target, ex.Name)
    )


def _assigned(line: un.Line) -> frozenset[str]:
    """Return the scalars that a statement, with those inside it, assigns or counts."""
    found = set()
    for inner in walk_lines((line,)):
        match inner:
            case un.Assign(target=ex.Name(key=key)):
                found.add(key)
            case un.Do(variable=variable):
                found.add(variable.key)
    return frozenset(found)


def _surely_assigned(line: un.Line) -> frozenset[str]:
    """Return the scalars that a statement assigns on every path."""
    match line:
        case un.Assign(target=ex.Name(key=key)):
            return frozenset({key})
        case un.If():
            blocks = [frozenset[str]().union(*map(_surely_assigned, block))
                      for block in blocks_of(line)]  # fmt: skip
            return frozenset.intersection(*blocks)
    return frozenset()


def _read(line: un.Line) -> frozenset[str]:
    """Return the names that a statement reads, with the arrays of which it sets elements."""
    found: frozenset[str] = frozenset()
    for inner in walk_lines((line,)):
        if isinstance(inner, un.Assign) and isinstance(inner.target, ex.Name):
            found |= names_in(inner.value)
        else:
            found |= frozenset[str]().union(*map(names_in, expressions_of(inner)))
    return found


# ---------------------------------------------------------------------------- several columns


class _Columns:
    """The search for the common loops of columns, and for values that vary between columns.

    A loop is common only if its bounds do not vary, and a scalar set in another loop may vary.
    Each search assumes a set of varying scalars, which grows until a search finds no further one.
    """

    def __init__(self, code: Routine, column: str, local: dict[str, un.Declare]) -> None:
        self._code = code
        self._serial = {id(node.line) for node in serial_loops(flow_of(code))}
        assigned = scalars_set_by(code.body)
        self.counters = {line.variable.key for line in walk_lines(code.body)
                         if isinstance(line, un.Do)}  # fmt: skip
        if both := sorted(assigned & self.counters):
            raise NoStripsError(f"'{both[0]}' counts and is assigned")
        self.varying: set[str] = set()
        shared = {*code.dummy_keys} - {column}
        shared |= {one.key for one in code.declarations
                   if isinstance(one, un.Declare) and "parameter" in one.words}  # fmt: skip
        self._fixed = frozenset(
            {key for key in shared if not code.symbol(key).shape} | (local.keys() - self.counters)
        )

    def common(self) -> frozenset[int]:
        """Return the identities of the common loops."""
        while True:
            before = len(self.varying)
            found: set[int] = set()
            self._block(self._code.body, self._fixed, found, uniform=True)
            if len(self.varying) == before:
                return frozenset(found)

    def _block(
        self, lines: tuple[un.Line, ...], fixed: frozenset[str], found: set[int], *, uniform: bool
    ) -> None:
        """Search statements that columns may execute together; all of them do if `uniform`."""
        for line in lines:
            match line:
                case un.Assign(target=ex.Name(key=key), value=value):
                    if not uniform or not self._has_one_value(value, fixed):
                        self.varying.add(key)
                case un.Do() if self._is_common(line, fixed):
                    inside: set[int] = set()
                    inner = fixed | {line.variable.key}
                    self._block(line.body, inner, inside, uniform=uniform)
                    if id(line) in self._serial or _has_common_loop(line.body, inside):
                        found |= inside | {id(line)}
                    else:
                        self._set_alone(line)
                case un.If():
                    asked = (branch.condition for branch in line.branches)
                    alike = all(self._has_one_value(one, fixed) for one in asked)
                    if alike:
                        found.add(id(line))
                    for block in blocks_of(line):
                        self._block(block, fixed, found, uniform=uniform and alike)
                case _:
                    self._set_alone(line)

    def _set_alone(self, line: un.Line) -> None:
        """Record what a statement sets that each column executes on its own."""
        for inner in walk_lines((line,)):
            if isinstance(inner, un.Assign) and isinstance(inner.target, ex.Name):
                self.varying.add(inner.target.key)

    def _is_common(self, loop: un.Do, fixed: frozenset[str]) -> bool:
        bounds = [one for one in (loop.start, loop.stop, loop.step) if one is not None]
        jumps = any(isinstance(line, _Jump) for line in walk_lines(loop.body))
        return not jumps and all(self._has_one_value(one, fixed) for one in bounds)

    def _has_one_value(self, expr: ex.Expr, fixed: frozenset[str]) -> bool:
        """Return whether an expression has the same value in all columns."""
        match expr:
            case ex.Literal():
                return True
            case ex.Name(key=key):
                return key in fixed and key not in self.varying
            case ex.Element():
                return False
            case ex.CallFunction(_, items):
                return all(self._has_one_value(one, fixed) for one in items)
        return all(self._has_one_value(one, fixed) for one in ex.children(expr))
