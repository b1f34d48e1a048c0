"""Traversal and rewriting of expressions and statements.

These functions are purely structural. Uninterpreted text (`Verbatim`, `Opaque`) does not change, so
code that replaces names must check for it first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain
from operator import is_
from typing import Any, TypeVar

from psyclone_storage.base.memo import Keeper, kept_with_first
from psyclone_storage.base.records import replace
from psyclone_storage.base.source import Span
from psyclone_storage.ir import expr as ex
from psyclone_storage.ir import unit as un
from psyclone_storage.ir.keys import key_of
from psyclone_storage.ir.operators import Operator

Change = Callable[[ex.Expr], ex.Expr]

# ---------------------------------------------------------------------------- expressions


def with_parts(expr: ex.Expr, change: Change) -> ex.Expr:
    """Return `expr` with `change` applied to each direct subexpression.

    The result is `expr` itself if nothing changes.
    """
    match expr:
        case ex.Name() | ex.Literal():
            return expr
        case ex.Member(base, name):
            new = change(base)
            return expr if new is base else ex.Member(new, name, expr.symbol)
        case ex.Index():
            return _indexed(expr, change)
        case ex.ArrayLiteral(items) | ex.TypedArrayLiteral(_, items):
            return _unless_same(expr, items=_each(items, change))
        case ex.Keyword(value=value):
            return _unless_same(expr, value=change(value))
        case ex.Parenthesised(operand) | ex.Unary(_, operand):
            return _unless_same(expr, operand=change(operand))
        case ex.ComplexLiteral(real, imaginary):
            return ex.ComplexLiteral(change(real), change(imaginary))
        case ex.Binary():
            return _operation(expr, change)
        case ex.ImpliedDo():
            return _implied_do(expr, change)
        case ex.Range(lower, upper, step):
            ends = _changed(lower, change), _changed(upper, change)
            return _unless_same(expr, lower=ends[0], upper=ends[1], step=_changed(step, change))
    return expr


Changing = TypeVar("Changing")


def _unless_same(record: Changing, **parts: object) -> Changing:
    """Return a record with other parts, the record itself if each part is the very same."""
    if all(getattr(record, name) is part for name, part in parts.items()):
        return record
    changed: Any = record
    return replace(changed, **parts)  # type: ignore[no-any-return]


def _each(
    items: tuple[Changing, ...], change: Callable[[Changing], Changing]
) -> tuple[Changing, ...]:
    """Return `items` with `change` applied to each, `items` itself if nothing changes."""
    new = tuple(map(change, items))
    return items if all(map(is_, new, items)) else new


def _indexed(expr: ex.Index, change: Change) -> ex.Index:
    base, items = change(expr.base), _each(expr.items, change)
    same = base is expr.base and items is expr.items
    return expr if same else expr.__class__(base, items)


def _operation(expr: ex.Binary, change: Change) -> ex.Binary:
    left, right = change(expr.left), change(expr.right)
    same = left is expr.left and right is expr.right
    return expr if same else expr.__class__(expr.op, left, right, expr.bracketed)


def _implied_do(expr: ex.ImpliedDo, change: Change) -> ex.ImpliedDo:
    counter = change(expr.variable)
    return ex.ImpliedDo(
        tuple(map(change, expr.items)),
        counter if isinstance(counter, ex.Name) else expr.variable,
        change(expr.start),
        change(expr.stop),
        None if expr.step is None else change(expr.step),
    )


def substituted(expr: ex.Expr, values: Mapping[str, ex.Expr]) -> ex.Expr:
    """Return `expr` with names replaced by `values`, which maps keys to expressions.

    Names of components and keywords are not replaced.
    """
    if isinstance(expr, ex.Name):
        return values.get(expr.key, expr)
    return with_parts(expr, lambda part: substituted(part, values))


def negated(condition: ex.Expr) -> ex.Expr:
    """Return the negation of `condition`."""
    match condition:
        case ex.Unary(Operator.NOT, ex.Parenthesised(operand)) | ex.Unary(Operator.NOT, operand):
            return operand
        case ex.Binary():
            return ex.Unary(Operator.NOT, ex.Parenthesised(condition))
    return ex.Unary(Operator.NOT, condition)


def names_in(expr: ex.Expr) -> frozenset[str]:
    """Return the keys of the names in `expr`, without components and keywords."""
    return frozenset([part.key for part in ex.walk(expr) if isinstance(part, ex.Name)])


# ---------------------------------------------------------------------------- statements


_WithBody = (
    un.Do | un.While | un.DoConcurrent | un.Forall | un.Associate | un.Critical | un.ScopedBlock
)
_Holding = _WithBody | un.DirectiveBlock | un.HoldData

Masked = un.Where | un.Forall
"""Constructs in which an assignment is no statement of its own: all of it is under a mask."""

Plain = (
    un.Comment | un.Blank | un.DirectiveLine | un.Assign | un.PointerAssign | un.Call | un.Do
    | un.If | un.Allocate | un.Deallocate | un.Continue
)  # fmt: skip
"""Statements that do what they say and then go on with the next one, in the routine's own names.

All others may go elsewhere, do their work in an order of their own, or give names a meaning: a step
that does not know them by their class has to take them for something that may do anything.
"""


def blocks_of(line: un.Line) -> tuple[tuple[un.Line, ...], ...]:
    """Return the statement blocks directly inside `line`, in source order."""
    if not isinstance(line, un.CompoundStatement):
        return ()
    match line:
        case un.If(branches, otherwise) | un.Where(branches, otherwise):
            return (*(branch.body for branch in branches), otherwise)
        case un.Select():
            return (line.before, *(case.body for case in line.cases))
        case un.Conditional(parts):
            return tuple(part.body for part in parts)
    return (line.body,)


def walk_lines(lines: Iterable[un.Line], *, into_masked: bool = True) -> Iterator[un.Line]:
    """Yield all statements in `lines`, including nested ones, outer ones first.

    With `into_masked=False`, the bodies of masked statements (`Masked`) are skipped.
    """
    for line in lines:
        yield line
        if isinstance(line, un.CompoundStatement) and (into_masked or not isinstance(line, Masked)):
            yield from _lines_inside(line, into_masked)


@kept_with_first
def _lines_inside(line: un.Line, into_masked: bool) -> tuple[un.Line, ...]:
    """Return all statements in a construct; versions of a routine share most constructs."""
    inside = chain.from_iterable(blocks_of(line))
    return tuple(walk_lines(inside, into_masked=into_masked))


def expressions_of(line: un.Line) -> tuple[ex.Expr, ...]:
    """Return the expressions of `line` itself, without those of nested statements."""
    match line:
        case un.Assign(target, value) | un.PointerAssign(target, value):
            return (target, value)
        case un.Call(procedure, args):
            return (procedure, *args)
        case un.Do():
            return _present(line.variable, line.start, line.stop, line.step)
        case un.If(branches, _) | un.Where(branches, _):
            return tuple(branch.condition for branch in branches)
        case un.Allocate(arrays) | un.Deallocate(arrays) | un.Nullify(arrays):
            return arrays
        case un.InputOutput(_, controls, items):
            return (*controls, *items)
    return _selectors_of(line)


def _selectors_of(line: un.Line) -> tuple[ex.Expr, ...]:
    """Return the expressions of a selection, a loop or a jump statement."""
    match line:
        case un.Associate(pairs):
            return tuple(selector for _, selector in pairs)
        case un.Select():
            return (line.selector, *(guard for case in line.cases for guard in case.guards))
        case un.While():
            return _present(line.condition)
        case un.DoConcurrent() | un.Forall():
            return _present(*(part for one in line.controls for part in _parts(one)), line.mask)
        case un.Return(value):
            return _present(value)
        case un.Stop():
            return _present(line.code, line.quiet)
        case un.Goto():
            return _present(line.selector)
    return ()


def _parts(control: un.Control) -> tuple[ex.Expr, ...]:
    return _present(control.variable, control.start, control.stop, control.step)


def _present(*parts: ex.Expr | None) -> tuple[ex.Expr, ...]:
    return tuple(part for part in parts if part is not None)


def names_of_line(line: un.Line) -> frozenset[str]:
    """Return the keys of all names in `line` itself, without those of nested statements."""
    if isinstance(line, Keeper):
        return _names_of_kept(line)
    return frozenset() if isinstance(line, (un.Comment, un.Blank)) else _names_of(line)


@kept_with_first
def _names_of_kept(line: un.Line) -> frozenset[str]:
    """Return the names in a statement of a frequent class; many steps request them."""
    return _names_of(line)


def _names_of(line: un.Line) -> frozenset[str]:
    found = frozenset[str]().union(*map(names_in, expressions_of(line)))
    match line:
        case un.Opaque(_, names):
            return found | names
        case un.Associate(pairs):
            found |= {name.key for name, _ in pairs}
        case un.Select(alias=ex.Name() as alias):
            found |= {alias.key}
        case un.ScopedBlock():
            found |= _names_of_scope(line)
        case un.Exit(name) | un.Cycle(name) if name:
            found |= {key_of(name)}
    name = construct_name(line)
    return found | {key_of(name)} if name else found


def names_inside(line: un.Line) -> frozenset[str]:
    """Return the keys of all names in `line`, including nested statements."""
    return _names_inside(line) if isinstance(line, un.CompoundStatement) else names_of_line(line)


@kept_with_first
def _names_inside(line: un.Line) -> frozenset[str]:
    """Return the names in a construct; versions of a routine share most constructs."""
    return names_of_line(line).union(*map(names_inside, chain.from_iterable(blocks_of(line))))


def is_named_outside(lines: Iterable[un.Line], key: str, inner: un.Line) -> bool:
    """Return whether one of `lines`, or a statement in them but not in `inner`, names `key`."""
    for line in lines:
        if line is inner or key not in names_inside(line):
            continue
        if not contains_line(line, inner) or key in names_of_line(line):
            return True
        if is_named_outside(chain.from_iterable(blocks_of(line)), key, inner):
            return True
    return False


def contains_class(lines: Iterable[un.Line], kind: type[un.Line]) -> bool:
    """Return whether one of `lines`, or a statement nested in them, has the class `kind`."""
    return any(
        isinstance(line, kind)
        or (isinstance(line, un.CompoundStatement) and kind in _classes_inside(line))
        for line in lines
    )


@kept_with_first
def _classes_inside(line: un.Line) -> frozenset[type[un.Line]]:
    return frozenset(map(type, _lines_inside(line, True)))


def contains_line(outer: un.Line, line: un.Line) -> bool:
    """Return whether the very statement `line` is nested in `outer`."""
    return isinstance(outer, un.CompoundStatement) and id(line) in _ids_inside(outer)


def ids_of(lines: tuple[un.Line, ...]) -> frozenset[int]:
    """Return the identities of statements, including nested ones."""
    constructs = (line for line in lines if isinstance(line, un.CompoundStatement))
    return frozenset(map(id, lines)).union(*map(_ids_inside, constructs))


@kept_with_first
def _ids_inside(line: un.Line) -> frozenset[int]:
    return frozenset(map(id, _lines_inside(line, True)))


def _names_of_scope(block: un.ScopedBlock) -> frozenset[str]:
    found: set[str] = {name.key for use in block.uses for name in use.names}
    for item in block.declarations:
        if isinstance(item, un.Opaque):
            found |= item.names
        elif isinstance(item, un.Declare):
            found |= {item.key}.union(*map(names_in, item.shape))
            found |= names_in(item.value) if item.value is not None else frozenset()
    return frozenset(found)


def construct_name(line: un.Line) -> str:
    """Return the name of a construct, which `exit` and `cycle` use; empty if it has none."""
    if isinstance(line, _WithBody | un.If | un.Where | un.Select):
        return line.name
    return ""


def unnamed(line: un.Line) -> un.Line:
    """Return a construct without its name; return any other statement unchanged."""
    return (
        replace(line, name="")
        if isinstance(line, _WithBody | un.If | un.Where | un.Select)
        else line
    )


def first_words(line: un.Line) -> str:
    """Return the text by which a message refers to a statement: its first line, or its kind."""
    match line:
        case un.Opaque(text):
            return text.partition("\n")[0].strip()
        case un.If(branches) | un.Where(branches) if branches[0].place is not None:
            return branches[0].place.text.partition("\n")[0].strip()
        case un.Conditional(parts):
            return parts[0].text
        case un.If() | un.Where() | un.Critical() | un.ScopedBlock():
            return type(line).__name__.removeprefix("Scoped").lower()
    place = place_of_line(line)
    if place is not None:
        return place.text.partition("\n")[0].strip()
    return line.word if isinstance(line, un.InputOutput) else type(line).__name__.lower()


def place_of_line(line: un.Line) -> Span | None:
    """Return the source position of the first words of `line`, None for generated statements."""
    match line:
        case un.If(branches) | un.Where(branches):
            return branches[0].place
        case un.Conditional(parts):
            return parts[0].place
        case un.Critical() | un.ScopedBlock():
            return line.extent
    return None if isinstance(line, un.Generated) else line.place


def rewritten(
    lines: Iterable[un.Line],
    change: Callable[[un.Line], Iterable[un.Line]],
    *,
    into_masked: bool = True,
) -> tuple[un.Line, ...]:
    """Return `lines` with each statement replaced by the result of `change`.

    Nested statements are changed before the statement that contains them. With `into_masked=False`,
    the bodies of masked statements (`Masked`) are unchanged.
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
    line: un.Line, change: Callable[[un.Line], Iterable[un.Line]], *, into_masked: bool = True
) -> un.Line:
    """Return `line` with `change` applied to all nested statements."""

    def inside(block: tuple[un.Line, ...]) -> tuple[un.Line, ...]:
        return rewritten(block, change, into_masked=into_masked)

    return with_each_block(line, inside)


def with_each_block(
    line: un.Line, change: Callable[[tuple[un.Line, ...]], tuple[un.Line, ...]]
) -> un.Line:
    """Return `line` with `change` applied to each of its direct blocks.

    Blocks are in the order of `blocks_of`. The result is `line` itself if no statement changes.
    """
    old = blocks_of(line)
    if not old:
        return line
    new = tuple(map(change, old))
    if all(map(_are_same, new, old)):
        return line
    match line:
        case un.If(branches) | un.Where(branches):
            inner = tuple(map(_with_body, branches, new))
            return replace(line, branches=inner, otherwise=new[-1])
        case un.Select():
            return replace(line, before=new[0], cases=tuple(map(_with_body, line.cases, new[1:])))
        case un.Conditional(parts):
            return replace(line, branches=tuple(map(_with_body, parts, new)))
    return replace(line, body=new[0]) if isinstance(line, _Holding) else line


def _are_same(lines: tuple[un.Line, ...], others: tuple[un.Line, ...]) -> bool:
    """Return whether two blocks consist of the very same statements."""
    return lines is others or (len(lines) == len(others) and all(map(is_, lines, others)))


Part = TypeVar("Part", un.Branch, un.Case, un.ConditionalBranch)


def _with_body(part: Part, body: tuple[un.Line, ...]) -> Part:
    return replace(part, body=body)


def with_changed_blocks(
    line: un.Line, change: Callable[[tuple[un.Line, ...]], tuple[un.Line, ...]]
) -> un.Line:
    """Return `line` with `change` applied to each of its direct blocks, in order.

    The result is `line` itself if no statement changes.
    """
    old = blocks_of(line)
    new = [change(block) for block in old]
    if all(map(_are_same, new, old)):
        return line
    parts = iter(new)
    return with_each_block(line, lambda _: next(parts))


def replaced_line(
    lines: tuple[un.Line, ...], line: un.Line, new: tuple[un.Line, ...]
) -> tuple[un.Line, ...]:
    """Return statements with `new` ones instead of the very statement `line`, at any depth.

    The result is `lines` itself if they do not contain it.
    """
    for at, one in enumerate(lines):
        if one is line:
            same = len(new) == 1 and new[0] is line
            return lines if same else (*lines[:at], *new, *lines[at + 1 :])
        if contains_line(one, line):
            changed = with_changed_blocks(one, lambda block: replaced_line(block, line, new))
            return lines if changed is one else (*lines[:at], changed, *lines[at + 1 :])
    return lines


def with_expressions(line: un.Line, change: Change) -> un.Line:
    """Return `line` with `change` applied to its own expressions, not to nested statements.

    The loop variable changes too if `change` returns a name for it.
    """
    match line:
        case un.Assign(target, value) | un.PointerAssign(target, value):
            return _unless_same(line, target=change(target), value=change(value))
        case un.Call(procedure, args):
            return _unless_same(line, procedure=change(procedure), args=_each(args, change))
        case un.Do():
            return _with_bounds(line, change)
        case un.If(branches, _) | un.Where(branches, _):
            return _unless_same(line, branches=_each(branches, lambda one: _branch(one, change)))
        case un.Allocate(arrays) | un.Deallocate(arrays):
            return _unless_same(line, arrays=_each(arrays, change))
        case un.Nullify(pointers):
            return _unless_same(line, pointers=_each(pointers, change))
        case un.InputOutput(_, controls, items):
            return _unless_same(line, controls=_each(controls, change), items=_each(items, change))
        case un.DoConcurrent() | un.Forall():
            counted = _each(line.controls, lambda one: _with_bounds(one, change))
            return _unless_same(line, controls=counted, mask=_changed(line.mask, change))
    return _with_selectors(line, change)


def _with_selectors(line: un.Line, change: Change) -> un.Line:
    """Return a selection, loop or jump statement with `change` applied to its expressions."""
    match line:
        case un.Select():
            cases = _each(line.cases, lambda case: _case(case, change))
            return _unless_same(line, selector=change(line.selector), cases=cases)
        case un.Associate(pairs):
            old = tuple(value for _, value in pairs)
            new = _each(old, change)
            named = tuple((name, value) for (name, _), value in zip(pairs, new, strict=True))
            return line if new is old else replace(line, pairs=named)
        case un.While():
            return _unless_same(line, condition=_changed(line.condition, change))
        case un.Return(value):
            return _unless_same(line, value=_changed(value, change))
        case un.Stop():
            code, quiet = _changed(line.code, change), _changed(line.quiet, change)
            return _unless_same(line, code=code, quiet=quiet)
        case un.Goto():
            return _unless_same(line, selector=_changed(line.selector, change))
    return line


def _branch(branch: un.Branch, change: Change) -> un.Branch:
    return _unless_same(branch, condition=change(branch.condition))


def _case(case: un.Case, change: Change) -> un.Case:
    return _unless_same(case, guards=_each(case.guards, change))


Counted = TypeVar("Counted", un.Do, un.Control)


def _with_bounds(line: Counted, change: Change) -> Counted:
    counter = change(line.variable)
    return _unless_same(
        line,
        variable=counter if isinstance(counter, ex.Name) else line.variable,
        start=change(line.start),
        stop=change(line.stop),
        step=_changed(line.step, change),
    )


def _changed(expr: ex.Expr | None, change: Change) -> ex.Expr | None:
    return None if expr is None else change(expr)


def everywhere(lines: Iterable[un.Line], change: Change) -> tuple[un.Line, ...]:
    """Return `lines` with `change` applied to all expressions, including nested statements."""
    return rewritten(lines, lambda line: (with_expressions(line, change),))
