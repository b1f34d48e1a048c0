"""Expressions and statements, looked through and rebuilt with parts exchanged.

Everything here is structure: no name is understood. Text that is carried along (`Verbatim`,
`Opaque`) stays as it is, so that whoever exchanges names has to look for it first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from operator import is_
from typing import TypeVar

from psyclone_storage.base.records import replace
from psyclone_storage.base.source import Span
from psyclone_storage.ir.expr import (
    ArrayLiteral,
    Binary,
    ComplexLiteral,
    Expr,
    ImpliedDo,
    Index,
    Keyword,
    Literal,
    Member,
    Name,
    Parenthesised,
    Range,
    Unary,
    walk,
)
from psyclone_storage.ir.keys import key_of
from psyclone_storage.ir.operators import Operator
from psyclone_storage.ir.unit import (
    Allocate,
    Assign,
    Associate,
    Blank,
    Call,
    Comment,
    Conditional,
    Control,
    Critical,
    Cycle,
    Deallocate,
    Declare,
    DirectiveBlock,
    DirectiveLine,
    Do,
    DoConcurrent,
    Exit,
    Forall,
    Generated,
    Goto,
    HoldData,
    If,
    InputOutput,
    Line,
    Nullify,
    Opaque,
    PointerAssign,
    Return,
    ScopedBlock,
    Select,
    Stop,
    Where,
    While,
)

Change = Callable[[Expr], Expr]

# ---------------------------------------------------------------------------- expressions


def with_parts(expr: Expr, change: Change) -> Expr:
    """Return `expr` with each of its direct parts changed, itself if none of them is."""
    match expr:
        case Name() | Literal():
            return expr
        case Member(base, name):
            new = change(base)
            return expr if new is base else Member(new, name, expr.symbol)
        case Index():
            return _indexed(expr, change)
        case ArrayLiteral(items):
            return ArrayLiteral(tuple(map(change, items)))
        case Keyword(name, value):
            return Keyword(name, change(value))
        case Parenthesised(operand):
            return Parenthesised(change(operand))
        case ComplexLiteral(real, imaginary):
            return ComplexLiteral(change(real), change(imaginary))
        case Unary(op, operand):
            return Unary(op, change(operand))
        case Binary():
            return _operation(expr, change)
        case ImpliedDo():
            return _implied_do(expr, change)
        case Range(lower, upper, step):
            return Range(*(None if part is None else change(part) for part in (lower, upper, step)))
    return expr


def _indexed(expr: Index, change: Change) -> Index:
    base, items = change(expr.base), tuple(map(change, expr.items))
    same = base is expr.base and all(map(is_, items, expr.items))
    return expr if same else expr.__class__(base, items)


def _operation(expr: Binary, change: Change) -> Binary:
    left, right = change(expr.left), change(expr.right)
    same = left is expr.left and right is expr.right
    return expr if same else Binary(expr.op, left, right, expr.bracketed)


def _implied_do(expr: ImpliedDo, change: Change) -> ImpliedDo:
    counter = change(expr.variable)
    return ImpliedDo(
        tuple(map(change, expr.items)),
        counter if isinstance(counter, Name) else expr.variable,
        change(expr.start),
        change(expr.stop),
        None if expr.step is None else change(expr.step),
    )


def substituted(expr: Expr, values: Mapping[str, Expr]) -> Expr:
    """Return `expr` with each name that `values` has, in lower case, exchanged for its value.

    Names of components and of keywords are no names of this kind and stay.
    """
    if isinstance(expr, Name):
        return values.get(expr.key, expr)
    return with_parts(expr, lambda part: substituted(part, values))


def negated(condition: Expr) -> Expr:
    """Return the condition that holds where `condition` does not."""
    match condition:
        case Unary(Operator.NOT, Parenthesised(operand)) | Unary(Operator.NOT, operand):
            return operand
        case Binary():
            return Unary(Operator.NOT, Parenthesised(condition))
    return Unary(Operator.NOT, condition)


def names_in(expr: Expr) -> frozenset[str]:
    """Return the names in `expr` in lower case, without those of components and keywords."""
    return frozenset([part.key for part in walk(expr) if isinstance(part, Name)])


# ---------------------------------------------------------------------------- statements


_WithBody = Do | While | DoConcurrent | Forall | Associate | Critical | ScopedBlock
_Holding = _WithBody | DirectiveBlock | HoldData

Masked = Where | Forall
"""Constructs in which an assignment is no statement of its own: all of it is under a mask."""

Plain = (
    Comment | Blank | DirectiveLine | Assign | PointerAssign | Call | Do | If | Allocate
    | Deallocate
)  # fmt: skip
"""Statements that do what they say and then go on with the next one, in the routine's own names.

All others may go elsewhere, do their work in an order of their own, or give names a meaning: a step
that does not know them by their class has to take them for something that may do anything.
"""


def blocks_of(line: Line) -> tuple[tuple[Line, ...], ...]:
    """Return the blocks of statements that `line` holds directly, in the order of their text."""
    match line:
        case Assign() | Comment() | Blank() | Call():
            return ()
        case If(branches, otherwise) | Where(branches, otherwise):
            return (*(branch.body for branch in branches), otherwise)
        case Select():
            return (line.before, *(case.body for case in line.cases))
        case Conditional(parts):
            return tuple(part.body for part in parts)
    return (line.body,) if isinstance(line, _Holding) else ()


def walk_lines(lines: Iterable[Line], *, into_masked: bool = True) -> Iterator[Line]:
    """Yield all statements of `lines` and those inside of them, outer ones first.

    Those under a mask (`Masked`) are left out on request.
    """
    waiting = [*lines]
    waiting.reverse()
    while waiting:
        line = waiting.pop()
        yield line
        if into_masked or not isinstance(line, Masked):
            for block in reversed(blocks_of(line)):
                waiting.extend(reversed(block))


def expressions_of(line: Line) -> tuple[Expr, ...]:
    """Return the expressions of `line` itself, not those of statements inside of it."""
    match line:
        case Assign(target, value) | PointerAssign(target, value):
            return (target, value)
        case Call(procedure, args):
            return (procedure, *args)
        case Do():
            return _present(line.variable, line.start, line.stop, line.step)
        case If(branches, _) | Where(branches, _):
            return tuple(branch.condition for branch in branches)
        case Allocate(arrays) | Deallocate(arrays) | Nullify(arrays):
            return arrays
        case InputOutput(_, controls, items):
            return (*controls, *items)
    return _selectors_of(line)


def _selectors_of(line: Line) -> tuple[Expr, ...]:
    """Return the expressions of a choice or a loop, or of a statement that may go elsewhere."""
    match line:
        case Associate(pairs):
            return tuple(selector for _, selector in pairs)
        case Select():
            return (line.selector, *(guard for case in line.cases for guard in case.guards))
        case While():
            return _present(line.condition)
        case DoConcurrent() | Forall():
            return _present(*(part for one in line.controls for part in _parts(one)), line.mask)
        case Return(value):
            return _present(value)
        case Stop():
            return _present(line.code, line.quiet)
        case Goto():
            return _present(line.selector)
    return ()


def _parts(control: Control) -> tuple[Expr, ...]:
    return _present(control.variable, control.start, control.stop, control.step)


def _present(*parts: Expr | None) -> tuple[Expr, ...]:
    return tuple(part for part in parts if part is not None)


def names_of_line(line: Line) -> frozenset[str]:
    """Return all names in `line` itself, in lower case: those of its own among them."""
    found = frozenset[str]().union(*map(names_in, expressions_of(line)))
    match line:
        case Opaque(_, names):
            return found | names
        case Associate(pairs):
            found |= {name.key for name, _ in pairs}
        case Select(alias=Name() as alias):
            found |= {alias.key}
        case ScopedBlock():
            found |= _names_of_scope(line)
        case Exit(name) | Cycle(name) if name:
            found |= {key_of(name)}
    name = construct_name(line)
    return found | {key_of(name)} if name else found


def _names_of_scope(block: ScopedBlock) -> frozenset[str]:
    found: set[str] = {name.key for use in block.uses for name in use.names}
    for item in block.declarations:
        if isinstance(item, Opaque):
            found |= item.names
        elif isinstance(item, Declare):
            found |= {item.key}.union(*map(names_in, item.shape))
            found |= names_in(item.value) if item.value is not None else frozenset()
    return frozenset(found)


def construct_name(line: Line) -> str:
    """Return the name that `exit` and `cycle` may call a construct by, nothing if it has none."""
    if isinstance(line, _WithBody | If | Where | Select):
        return line.name
    return ""


def unnamed(line: Line) -> Line:
    """Return a construct without its name, and any other statement as it is."""
    return replace(line, name="") if isinstance(line, _WithBody | If | Where | Select) else line


def first_words(line: Line) -> str:
    """Return how a message calls a statement: its first line as written, or what kind it is."""
    match line:
        case Opaque(text):
            return text.partition("\n")[0].strip()
        case If(branches) | Where(branches) if branches[0].place is not None:
            return branches[0].place.text.partition("\n")[0].strip()
        case Conditional(parts):
            return parts[0].text
        case If() | Where() | Critical() | ScopedBlock():
            return type(line).__name__.removeprefix("Scoped").lower()
    place = place_of_line(line)
    if place is not None:
        return place.text.partition("\n")[0].strip()
    return line.word if isinstance(line, InputOutput) else type(line).__name__.lower()


def place_of_line(line: Line) -> Span | None:
    """Return where an author wrote the first words of `line`, None if a step has made it."""
    match line:
        case If(branches) | Where(branches):
            return branches[0].place
        case Conditional(parts):
            return parts[0].place
        case Critical() | ScopedBlock():
            return line.extent
    return None if isinstance(line, Generated) else line.place


def rewritten(
    lines: Iterable[Line],
    change: Callable[[Line], Iterable[Line]],
    *,
    into_masked: bool = True,
) -> tuple[Line, ...]:
    """Return `lines` with each statement exchanged for what `change` makes of it.

    A statement is seen by `change` when those inside of it are changed already. Those under a mask
    (`Masked`) are left as they are on request.
    """
    return tuple(
        new
        for line in lines
        for new in change(
            with_blocks(line, change, into_masked=into_masked)
            if into_masked or not isinstance(line, Masked)
            else line
        )
    )


def with_blocks(
    line: Line, change: Callable[[Line], Iterable[Line]], *, into_masked: bool = True
) -> Line:
    """Return `line` with the statements inside of it changed, and itself as it is."""

    def inside(block: tuple[Line, ...]) -> tuple[Line, ...]:
        return rewritten(block, change, into_masked=into_masked)

    return with_each_block(line, inside)


def with_each_block(line: Line, change: Callable[[tuple[Line, ...]], tuple[Line, ...]]) -> Line:
    """Return `line` with each block of statements in it as `change` makes it of the block.

    The order is that of `blocks_of`.
    """
    match line:
        case If(branches, otherwise) | Where(branches, otherwise):
            inner = tuple(replace(branch, body=change(branch.body)) for branch in branches)
            return replace(line, branches=inner, otherwise=change(otherwise))
        case Select():
            before = change(line.before)
            cases = tuple(replace(case, body=change(case.body)) for case in line.cases)
            return replace(line, before=before, cases=cases)
        case Conditional(parts):
            changed = tuple(replace(part, body=change(part.body)) for part in parts)
            return replace(line, branches=changed)
    return replace(line, body=change(line.body)) if isinstance(line, _Holding) else line


def with_expressions(line: Line, change: Change) -> Line:
    """Return `line` with its own expressions changed, not those of statements inside of it.

    The variable of a loop changes if `change` makes another name of it.
    """
    match line:
        case Assign(target, value) | PointerAssign(target, value):
            left, right = change(target), change(value)
            same = left is target and right is value
            return line if same else replace(line, target=left, value=right)
        case Call(procedure, args):
            return replace(line, procedure=change(procedure), args=tuple(map(change, args)))
        case Do():
            return _with_bounds(line, change)
        case If(branches, _) | Where(branches, _):
            changed = tuple(
                replace(branch, condition=change(branch.condition)) for branch in branches
            )
            return replace(line, branches=changed)
        case Allocate(arrays) | Deallocate(arrays):
            return replace(line, arrays=tuple(map(change, arrays)))
        case Nullify(pointers):
            return replace(line, pointers=tuple(map(change, pointers)))
        case InputOutput(_, controls, items):
            return replace(
                line, controls=tuple(map(change, controls)), items=tuple(map(change, items))
            )
        case DoConcurrent() | Forall():
            counted = tuple(_with_bounds(one, change) for one in line.controls)
            return replace(line, controls=counted, mask=_changed(line.mask, change))
    return _with_selectors(line, change)


def _with_selectors(line: Line, change: Change) -> Line:
    """Return a choice, or a statement that may go elsewhere, with its own expressions changed."""
    match line:
        case Select():
            cases = tuple(
                replace(case, guards=tuple(map(change, case.guards))) for case in line.cases
            )
            return replace(line, selector=change(line.selector), cases=cases)
        case Associate(pairs):
            return replace(line, pairs=tuple((name, change(value)) for name, value in pairs))
        case While():
            return replace(line, condition=_changed(line.condition, change))
        case Return(value):
            return replace(line, value=_changed(value, change))
        case Stop():
            return replace(
                line, code=_changed(line.code, change), quiet=_changed(line.quiet, change)
            )
        case Goto():
            return replace(line, selector=_changed(line.selector, change))
    return line


Counted = TypeVar("Counted", Do, Control)


def _with_bounds(line: Counted, change: Change) -> Counted:
    counter = change(line.variable)
    return replace(
        line,
        variable=counter if isinstance(counter, Name) else line.variable,
        start=change(line.start),
        stop=change(line.stop),
        step=_changed(line.step, change),
    )


def _changed(expr: Expr | None, change: Change) -> Expr | None:
    return None if expr is None else change(expr)


def everywhere(lines: Iterable[Line], change: Change) -> tuple[Line, ...]:
    """Return `lines` with all expressions in them changed, on all levels."""
    return rewritten(lines, lambda line: (with_expressions(line, change),))
