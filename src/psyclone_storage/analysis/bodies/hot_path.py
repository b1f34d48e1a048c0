"""Hot path through the branches of a kernel: the path with the most work.

At each branch, the side with most operations is chosen. The compiler cannot determine whether most
points take this path, so the program tests it at run time. The operations of the path are executed
only if its conditions hold, so that no read or division is added.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from psyclone_storage.analysis.bodies.accesses import written_names
from psyclone_storage.analysis.bodies.names import RoutineNames
from psyclone_storage.analysis.bodies.shapes import type_by_dummies
from psyclone_storage.base.names import NameTable
from psyclone_storage.base.records import dataclass
from psyclone_storage.ir import expr as ex
from psyclone_storage.ir.intrinsics import EXACT
from psyclone_storage.ir.keys import keys_of
from psyclone_storage.ir.operators import Operator
from psyclone_storage.ir.rewrite import (
    expressions_of,
    first_words,
    names_in,
    negated,
    walk_lines,
    with_expressions,
    with_parts,
)
from psyclone_storage.ir.routine import HotPath, LiftedValue, Routine
from psyclone_storage.ir.scopes import local_names
from psyclone_storage.ir.unit import Assign, Blank, Comment, Declare, If, Line

_MOST_EXPONENT = 4
"""Compilers expand powers up to this exponent to products, vectorised or not."""


@dataclass(frozen=True, slots=True)
class NoHotPathError(Exception):
    """The reason why a kernel has no hot path, and modules whose source would be necessary."""

    why: str
    lacking: tuple[str, ...] = ()


def hot_path_of(code: Routine, strip: int) -> HotPath:
    """Return the control-flow path through `code` with the most work.

    Functions whose values depend on the method of computation are hoisted out of the path: a
    vectorised sine, for example, rounds differently.

    Raises:
        NoHotPathError: no path is profitable, or none preserves the meaning.
    """
    lines, asked = _way(code.body)
    conditions = tuple({ex.canonical(one): one for one in asked}.values())
    if not conditions:
        raise NoHotPathError("it has no branches")
    fixed = _Fixed(code)
    for condition in conditions:
        fixed.demand(condition, f"whether '{ex.canonical(condition)}' holds")
        for part in ex.walk(condition):
            if _is_inexact(part):
                raise NoHotPathError(f"'{ex.canonical(part)}' would decide which way is taken")
    lifts = _Lifts(code, fixed)
    body = tuple(with_expressions(line, lifts.changed) for line in lines)
    return HotPath(conditions, body, tuple(lifts.found.values()), strip)


def work_on(path: HotPath) -> int:
    """Return the number of operations on a path, including hoisted ones."""
    return _work(path.body) + sum(_operations(one.value) for one in path.lifted)


def has_branches(code: Routine) -> bool:
    """Return whether `code` contains anything but assignments."""
    return not all(isinstance(line, Assign | Comment | Blank) for line in code.body)


def work_of(code: Routine) -> int:
    """Return the number of operations in all statements of `code`."""
    return _work(walk_lines(code.body))


# ---------------------------------------------------------------------------- the way


def _way(lines: Iterable[Line]) -> tuple[tuple[Line, ...], tuple[ex.Expr, ...]]:
    """Return the statements on the hot path through `lines`, and its conditions in order."""
    taken: list[Line] = []
    conditions: list[ex.Expr] = []
    for line in lines:
        match line:
            case Comment() | Blank():
                pass
            case Assign(target=ex.Name() | ex.Element()):
                taken.append(line)
            case If():
                inner, asked = _branch(line)
                taken += inner
                conditions += asked
            case _:
                raise NoHotPathError(f"'{first_words(line)}' is no assignment to one element")
    return tuple(taken), tuple(conditions)


def _branch(line: If) -> tuple[tuple[Line, ...], tuple[ex.Expr, ...]]:
    """Return the statements of the branch with the most work, and the conditions to reach it."""
    ways = [_way(branch.body) for branch in line.branches]
    ways.append(_way(line.otherwise))
    most = max(range(len(ways)), key=lambda at: _work(ways[at][0]))
    body, inner = ways[most]
    asked = [negated(branch.condition) for branch in line.branches[:most]]
    asked += [branch.condition for branch in line.branches[most : most + 1]]
    return body, (*asked, *inner)


def _work(lines: Iterable[Line]) -> int:
    """Return the number of operations, except for those in subscripts."""
    return sum(_operations(line.value) for line in lines if isinstance(line, Assign))


def _operations(expr: ex.Expr) -> int:
    match expr:
        case ex.Binary(_, left, right):
            return 1 + _operations(left) + _operations(right)
        case ex.Unary(_, operand):
            return 1 + _operations(operand)
        case ex.Parenthesised(operand):
            return _operations(operand)
        case ex.CallFunction(_, items):
            return 1 + sum(map(_operations, items))
    return 0


# ---------------------------------------------------------------------------- what does not change


class _Fixed:
    """Values that do not change between the points of a strip."""

    def __init__(self, code: Routine) -> None:
        own = (one for one in code.declarations if isinstance(one, Declare))
        variables = keys_of(one.name for one in own if "parameter" not in one.words)
        written = written_names(code.body, RoutineNames(code))
        self._changing = (variables - {*code.dummy_keys}) | written

    def demand(self, expr: ex.Expr, what: str) -> None:
        """Raise `NoHotPathError` if `expr` depends on a computed value or an unknown name.

        An unknown name with parentheses may be a function with side effects.
        """
        for part in ex.walk(expr):
            if isinstance(part, ex.Index) and not _is_known(part):
                raise NoHotPathError(
                    f"{what} depends on '{ex.canonical(part.base)}', which is not known"
                )
        if changing := sorted(names_in(expr) & self._changing):
            raise NoHotPathError(f"{what} depends on '{changing[0]}', which it computes")


def _is_known(part: ex.Index) -> bool:
    """Return whether a reference is an array element or calls an intrinsic function."""
    if ex.intrinsic_called(part) is not None:
        return True
    base = part.base
    return isinstance(base, ex.Name) and base.symbol is not None and base.symbol.is_data


class _Lifts:
    """The hoisted values, by their text."""

    def __init__(self, code: Routine, fixed: _Fixed) -> None:
        self._code = code
        self._fixed = fixed
        exprs = [expr for line in walk_lines(code.body) for expr in expressions_of(line)]
        used = frozenset[str]().union(*map(names_in, exprs))
        self._names = NameTable({*used, *local_names(code)})
        self.found: dict[str, LiftedValue] = {}

    def changed(self, expr: ex.Expr) -> ex.Expr:
        """Return `expr` with hoisted values replaced by names."""
        if not _is_inexact(expr):
            return with_parts(expr, self.changed)
        text = ex.canonical(expr)
        if text not in self.found:
            self.found[text] = self._lifted(expr, text)
        return ex.Name(self.found[text].name)

    def _lifted(self, expr: ex.Expr, text: str) -> LiftedValue:
        self._fixed.demand(expr, f"'{text}'")
        type_ = type_by_dummies(expr, self._code)
        if type_ is None or (type_.kind is not None and self._code.declared(type_.kind)):
            lacking = tuple(dict.fromkeys(_modules_without_source(expr)))
            raise NoHotPathError(f"the kind of '{text}' is unknown", lacking)
        word = ex.intrinsic_called(expr) or "power"
        return LiftedValue(self._names.fresh(f"{word}_of_strip"), type_, expr)


def _modules_without_source(expr: ex.Expr) -> Iterator[str]:
    """Yield the modules of imported names in `expr` whose source is missing."""
    for part in ex.walk(expr):
        symbol = part.symbol if isinstance(part, ex.Name) else None
        if symbol is not None and symbol.module and not symbol.is_resolved:
            yield symbol.module


def _is_inexact(expr: ex.Expr) -> bool:
    """Return whether the value depends on the method of computation (scalar or vector)."""
    if isinstance(expr, ex.CallFunction):
        called = ex.intrinsic_called(expr)
        if called is None:
            raise NoHotPathError(f"it calls '{ex.canonical(expr.base)}'")
        return called not in EXACT
    if isinstance(expr, ex.Binary) and expr.op is Operator.POWER:
        exponent = ex.integer_value(expr.right)
        return exponent is None or not 0 <= exponent <= _MOST_EXPONENT
    return False
