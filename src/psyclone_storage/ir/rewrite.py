"""Expressions and statements, looked through and rebuilt with parts exchanged.

Everything here is structure: no name is understood. Text that is carried along (`Verbatim`,
`Opaque`) stays as it is, so that whoever exchanges names has to look for it first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace

from psyclone_storage.ir.expr import (
    ArrayLiteral,
    Binary,
    Expr,
    Index,
    Keyword,
    Member,
    Name,
    Range,
    Unary,
)
from psyclone_storage.ir.unit import (
    Allocate,
    Assign,
    Call,
    Deallocate,
    Do,
    If,
    Line,
    PointerAssign,
    ScopedBlock,
)

Change = Callable[[Expr], Expr]

# ---------------------------------------------------------------------------- expressions


def with_parts(expr: Expr, change: Change) -> Expr:
    """Return `expr` with each of its direct parts changed."""
    match expr:
        case Member(base, _):
            return replace(expr, base=change(base))
        case Index(base, items):
            return Index(change(base), tuple(map(change, items)))
        case ArrayLiteral(items):
            return ArrayLiteral(tuple(map(change, items)))
        case Keyword(name, value):
            return Keyword(name, change(value))
        case Unary(op, operand):
            return Unary(op, change(operand))
        case Binary(op, left, right):
            return Binary(op, change(left), change(right), expr.bracketed)
        case Range(lower, upper, step):
            return Range(*(None if part is None else change(part) for part in (lower, upper, step)))
    return expr


def substituted(expr: Expr, values: Mapping[str, Expr]) -> Expr:
    """Return `expr` with each name that `values` has, in lower case, exchanged for its value.

    Names of components and of keywords are no names of this kind and stay.
    """
    if isinstance(expr, Name):
        return values.get(expr.key, expr)
    return with_parts(expr, lambda part: substituted(part, values))


def names_in(expr: Expr) -> frozenset[str]:
    """Return the names in `expr` in lower case, without those of components and keywords."""
    if isinstance(expr, Name):
        return frozenset({expr.key})
    found: set[str] = set()

    def collect(part: Expr) -> Expr:
        found.update(names_in(part))
        return part

    with_parts(expr, collect)
    return frozenset(found)


# ---------------------------------------------------------------------------- statements


def blocks_of(line: Line) -> tuple[tuple[Line, ...], ...]:
    """Return the blocks of statements that `line` holds directly, in the order of their text."""
    match line:
        case Do() | ScopedBlock():
            return (line.body,)
        case If(branches, otherwise):
            return (*(branch.body for branch in branches), otherwise)
    return ()


def walk_lines(lines: Iterable[Line]) -> Iterator[Line]:
    """Yield all statements of `lines` and those inside of them, outer ones first."""
    for line in lines:
        yield line
        for block in blocks_of(line):
            yield from walk_lines(block)


def expressions_of(line: Line) -> tuple[Expr, ...]:
    """Return the expressions of `line` itself, not those of statements inside of it."""
    match line:
        case Assign(target, value) | PointerAssign(target, value):
            return (target, value)
        case Call(procedure, args):
            return (procedure, *args)
        case Do():
            parts = (Name(line.variable), line.start, line.stop, line.step)
            return tuple(part for part in parts if part is not None)
        case If(branches, _):
            return tuple(branch.condition for branch in branches)
        case Allocate(arrays) | Deallocate(arrays):
            return arrays
    return ()


def rewritten(lines: Iterable[Line], change: Callable[[Line], Iterable[Line]]) -> tuple[Line, ...]:
    """Return `lines` with each statement exchanged for what `change` makes of it.

    A statement is seen by `change` when those inside of it are changed already.
    """
    return tuple(new for line in lines for new in change(with_blocks(line, change)))


def with_blocks(line: Line, change: Callable[[Line], Iterable[Line]]) -> Line:
    """Return `line` with the statements inside of it changed, and itself as it is."""
    match line:
        case Do() | ScopedBlock():
            return replace(line, body=rewritten(line.body, change))
        case If(branches, otherwise):
            inner = tuple(
                replace(branch, body=rewritten(branch.body, change)) for branch in branches
            )
            return If(inner, rewritten(otherwise, change))
    return line


def with_expressions(line: Line, change: Change) -> Line:
    """Return `line` with its own expressions changed, not those of statements inside of it.

    The variable of a loop changes if `change` makes another name of it.
    """
    match line:
        case Assign(target, value):
            return replace(line, target=change(target), value=change(value))
        case PointerAssign(target, value):
            return PointerAssign(change(target), change(value))
        case Call(procedure, args):
            return replace(line, procedure=change(procedure), args=tuple(map(change, args)))
        case Do():
            counter = change(Name(line.variable))
            return replace(
                line,
                variable=counter.text if isinstance(counter, Name) else line.variable,
                start=change(line.start),
                stop=change(line.stop),
                step=None if line.step is None else change(line.step),
            )
        case If(branches, otherwise):
            changed = tuple(
                replace(branch, condition=change(branch.condition)) for branch in branches
            )
            return If(changed, otherwise)
        case Allocate(arrays):
            return Allocate(tuple(map(change, arrays)))
        case Deallocate(arrays):
            return Deallocate(tuple(map(change, arrays)))
    return line


def everywhere(lines: Iterable[Line], change: Change) -> tuple[Line, ...]:
    """Return `lines` with all expressions in them changed, on all levels."""
    return rewritten(lines, lambda line: (with_expressions(line, change),))
