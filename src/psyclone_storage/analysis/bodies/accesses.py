"""Reads, writes and calls of single statements, as access paths.

A statement that is not understood counts as reading and writing all its names. A called procedure
counts as reading and writing its arguments, unless it is declared pure. `RoutineNames` classifies
the names.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from psyclone_storage.analysis.bodies.effects import defined_operations
from psyclone_storage.analysis.bodies.files import names_namelist, read_parts, written_parts
from psyclone_storage.analysis.bodies.names import RoutineNames
from psyclone_storage.analysis.bodies.reshaping import OF_SHAPE
from psyclone_storage.base.memo import kept_with_first
from psyclone_storage.base.records import dataclass, replace
from psyclone_storage.ir import expr as ex
from psyclone_storage.ir import unit as un
from psyclone_storage.ir.intrinsics import INQUIRING
from psyclone_storage.ir.keys import key_of
from psyclone_storage.ir.paths import AccessPath, Component, Subscripts, path_of, prefixes
from psyclone_storage.ir.rewrite import (
    Plain,
    construct_name,
    everywhere,
    expressions_of,
    names_in,
    names_of_line,
    rewritten,
    substituted,
    walk_lines,
    with_each_block,
)
from psyclone_storage.ir.routine import Routine
from psyclone_storage.ir.types import Intent


@dataclass(frozen=True, slots=True)
class MemoryAccess:
    """One access to a path: a write if `writes`, else a read.

    With `of_shape`, it concerns the allocation status and the bounds, not the values.
    """

    path: AccessPath
    writes: bool
    of_shape: bool = False

    @property
    def root(self) -> str:
        """The key of the accessed variable, or of the variable whose component is accessed."""
        return self.path.root


@kept_with_first
def names_in_code(code: Routine) -> RoutineNames:
    """Return the names in a routine, which are created once for each version."""
    return RoutineNames(code)


# ---------------------------------------------------------------------------- accesses


def accesses(lines: Iterable[un.Line], names: RoutineNames) -> Iterator[MemoryAccess]:
    """Yield the accesses of `lines` and of statements nested in them, in source order."""
    for line in walk_lines(lines):
        yield from accesses_of(line, names)


def accesses_of(line: un.Line, names: RoutineNames) -> tuple[MemoryAccess, ...]:
    """Return the accesses of `line` itself without nested statements: reads, then writes."""
    return names.of_statement(line, _accesses)


def _accesses(line: un.Line, names: RoutineNames) -> tuple[MemoryAccess, ...]:
    found = tuple(_found_accesses(line, names))
    return (*found, *_reallocated(line, found, names))


def _reallocated(
    line: un.Line, found: tuple[MemoryAccess, ...], names: RoutineNames
) -> Iterator[MemoryAccess]:
    """Yield the writes of shapes by a statement whose accesses to values are `found`."""
    changing = names.reallocations.in_loops
    if not changing or (isinstance(line, un.Assign) and not names.reallocations.may_be_by(line)):
        return
    for one in found:
        if one.writes and one.root in changing:
            yield replace(one, of_shape=True)


def _found_accesses(line: un.Line, names: RoutineNames) -> Iterator[MemoryAccess]:
    match line:
        case un.Assign(target, value):
            yield from reads_of(value, names)
            yield from _written(target, names)
        case un.PointerAssign(target, value):
            yield from _of_both_kinds(names_in(value))
            yield from _written(target, names)
        case un.Call():
            yield from _called(line, names)
        case un.Do() | un.DoConcurrent() | un.Forall():
            yield from _counted(line, names)
        case un.Allocate() | un.Deallocate() | un.Nullify() | un.Associate():
            for part in expressions_of(line):
                yield from _passed(part, names)
        case un.InputOutput():
            yield from _transferred(line, names)
        case un.Opaque() if (inside := associated_lines(line, names)) is not None:
            yield from accesses(inside, names)
        case un.Opaque() | un.Select(word="type" | "rank") | un.ScopedBlock() | un.Conditional():
            yield from _of_both_kinds(names_of_line(line) - {key_of(construct_name(line))})
        case _:
            for part in expressions_of(line):
                yield from reads_of(part, names)


def associated_lines(line: un.Line, names: RoutineNames) -> tuple[un.Line, ...] | None:
    """Return the statements of an `associate`, with its names replaced by their selectors.

    Return None if `line` is not an `associate`, or contains anything but plain statements.
    """
    if not isinstance(line, un.Opaque) or line.associate is None or line.place is None:
        return None
    if line.place.text.replace("\r\n", "\n") != line.text:
        return None
    try:
        found = tuple(_flattened(_opened((line,)), names))
    except _UnclearError:
        return None
    lines = tuple(walk_lines(found))
    plain = (isinstance(one, Plain | un.Where | un.Select) for one in lines)
    is_known = all(plain) and not any(unknown_lines(found))
    return found if is_known and not any(map(moves_memory, lines)) else None


class _UnclearError(Exception):
    """Error: the name of an `associate` may denote something else later in its block."""


def _opened(lines: Iterable[un.Line]) -> tuple[un.Line, ...]:
    """Return statements with each opaque `associate` replaced by its parsed construct."""

    def change(line: un.Line) -> tuple[un.Line, ...]:
        inner = line.associate if isinstance(line, un.Opaque) else None
        return (line if inner is None else replace(inner, body=_opened(inner.body)),)

    return rewritten(lines, change)


def _flattened(lines: Iterable[un.Line], names: RoutineNames) -> Iterator[un.Line]:
    for line in lines:
        if isinstance(line, un.Associate):
            yield from _flattened(_body_with_selectors(line, names), names)
        else:
            yield with_each_block(line, lambda block: tuple(_flattened(block, names)))


def _body_with_selectors(line: un.Associate, names: RoutineNames) -> tuple[un.Line, ...]:
    values = {name.key: selector for name, selector in line.pairs}
    inner = (one for one in walk_lines(line.body) if isinstance(one, un.Associate))
    if any(name.key in values for one in inner for name, _ in one.pairs):
        raise _UnclearError
    body = everywhere(line.body, lambda part: substituted(part, values))
    written = written_names(body, names)
    indexed = {
        part.base.key
        for one in walk_lines(line.body)
        for expr in expressions_of(one)
        for part in ex.walk(expr)
        if isinstance(part, ex.Index) and isinstance(part.base, ex.Name)
    }
    if any(
        (key in indexed and _has_brackets(value)) or _may_move(value, written, names)
        for key, value in values.items()
    ):
        raise _UnclearError
    return body


def _has_brackets(selector: ex.Expr) -> bool:
    return (
        any(isinstance(part, ex.Index) for part in ex.walk(selector)) or path_of(selector) is None
    )


def _may_move(selector: ex.Expr, written: frozenset[str], names: RoutineNames) -> bool:
    """Return whether a selector may denote other data after writes to the roots `written`."""
    path = path_of(selector)
    if path is not None and not _has_brackets(selector):
        pointers = any(map(names.is_pointer, prefixes(path.variable)))
        return pointers and bool(path.steps) and path.root in written
    inside = tuple(ex.walk(selector))
    calls = (part for part in inside if isinstance(part, ex.Index))
    if any(names.function_called(part) is not None for part in calls):
        return True
    read = {part.key for part in inside if isinstance(part, ex.Name)}
    changed = written
    if path is not None and not any(path.root in names_in(one) for one in path.subscripts):
        changed = written - {path.root}
    ranges = any(isinstance(part, ex.Range) for part in inside)
    return ranges or bool(read & changed) or any(names.is_shared((one,)) for one in read)


def _counted(
    line: un.Do | un.DoConcurrent | un.Forall, names: RoutineNames
) -> Iterator[MemoryAccess]:
    """Yield the reads in the header of a loop, then the writes of its counters."""
    counters = [line.variable] if isinstance(line, un.Do) else [it.variable for it in line.controls]
    keys = [counter.key for counter in counters]
    hidden = () if isinstance(line, un.Do) else keys
    for part in expressions_of(line):
        if not (isinstance(part, ex.Name) and part.key in keys):
            yield from (one for one in reads_of(part, names) if one.root not in hidden)
    for key in keys:
        yield MemoryAccess(AccessPath(key), True)


def _transferred(line: un.InputOutput, names: RoutineNames) -> Iterator[MemoryAccess]:
    if names_namelist(line):
        yield from _of_both_kinds(names_of_line(line))
    for part in read_parts(line):
        yield from reads_of(part, names)
    for part in written_parts(line):
        yield from _written(part, names)


def _called(line: un.Call, names: RoutineNames) -> Iterator[MemoryAccess]:
    procedure = line.procedure
    if not isinstance(procedure, ex.Name):
        yield from _of_both_kinds(names_in(_base(procedure)))
    intents = _intents(line, names)
    for at, arg in enumerate(line.args):
        value = _value_of(arg)
        if intents is not None:
            yield from _targets(value, names, writes=intents[at] is not Intent.IN)
        if intents is not None and intents[at] is Intent.IN:
            yield from _behind(arg, at, line.procedure, names)
            yield from reads_of(value, names)
        elif intents is not None and intents[at] is Intent.OUT and path_of(value) is not None:
            yield from _behind(arg, at, line.procedure, names, writes=True)
            yield from _written(value, names)
        elif intents is not None and _is_scalar_dummy(arg, at, line.procedure, names):
            yield from reads_of(value, names)
            yield from _written(value, names)
        else:
            yield from _passed(value, names)
    if intents is not None and isinstance(procedure, ex.Name):
        yield from _read_by(procedure.key, names)


def _read_by(procedure: str, names: RoutineNames) -> Iterator[MemoryAccess]:
    """Yield the reads of a pure procedure in the module, except for its arguments."""
    for name in sorted(names.read_by(procedure)):
        yield MemoryAccess(AccessPath(name), False)
        if names.declaration((name,)) is not None:
            yield from _targets(ex.Name(name), names, writes=False)


def _targets(value: ex.Expr, names: RoutineNames, *, writes: bool) -> Iterator[MemoryAccess]:
    """Yield a procedure's accesses to targets of pointer components of its argument `value`."""
    path = path_of(value)
    if path is None or _function(value, names) is not None:
        return
    for components in names.pointer_components(path.variable):
        steps = (*path.steps, *map(Component, components))
        yield MemoryAccess(AccessPath(path.root, steps), False)
        if writes:
            yield MemoryAccess(AccessPath(path.root, steps), True)


def _behind(
    arg: ex.Expr, at: int, procedure: ex.Expr, names: RoutineNames, *, writes: bool = False
) -> Iterator[MemoryAccess]:
    """Yield an access to a whole variable for a procedure that is passed one of its elements.

    If the dummy argument is an array, it covers the elements that follow the passed one, too.
    """
    own = names.procedure(procedure.key) if isinstance(procedure, ex.Name) else None
    value = _value_of(arg)
    path = path_of(value)
    if own is None or path is None or _function(value, names) is not None:
        return
    dummy = (
        arg.key if isinstance(arg, ex.Keyword) else next(iter(own.dummies[at : at + 1]), ("",))[0]
    )
    steps = path.steps
    while steps and isinstance(steps[-1], Subscripts):
        steps = steps[:-1]
    if dummy in own.scalars or steps == path.steps or _is_section(path, names):
        return
    yield MemoryAccess(AccessPath(path.root, steps), writes)


def _is_scalar_dummy(arg: ex.Expr, at: int, procedure: ex.Expr, names: RoutineNames) -> bool:
    """Return whether an argument passes exactly one element or scalar to a procedure."""
    own = names.procedure(procedure.key) if isinstance(procedure, ex.Name) else None
    value = _value_of(arg)
    path = path_of(value)
    if own is None or path is None or _function(value, names) is not None:
        return False
    dummy = arg.key if isinstance(arg, ex.Keyword) else own.dummies[at][0]
    ranges = any(isinstance(item, ex.Range) for item in path.subscripts)
    return dummy in own.scalars and not ranges and names.may_be_changed(path.variable)


def _is_section(path: AccessPath, names: RoutineNames) -> bool:
    """Return whether a path that ends with subscripts is an array section."""
    *before, last = path.steps
    declared = names.declaration(path.variable)
    if declared is None or not isinstance(last, Subscripts):
        return False
    once = not before or not isinstance(before[-1], Subscripts)
    ranges = any(isinstance(item, ex.Range) for item in last.items)
    return once and ranges and len(declared.shape) == len(last.items)


def _intents(line: un.Call, names: RoutineNames) -> tuple[Intent, ...] | None:
    """Return the intents of a call's arguments; None if the call may have other effects."""
    own = names.procedure(line.procedure.key) if isinstance(line.procedure, ex.Name) else None
    if own is None or not own.pure or own.is_function or not own.dummies:
        return None
    by_name = dict(own.dummies)
    if len(line.args) > len(own.dummies):
        return None
    found = (
        by_name.get(arg.key) if isinstance(arg, ex.Keyword) else own.dummies[at][1]
        for at, arg in enumerate(line.args)
    )
    return tuple(intent or Intent.INOUT for intent in found)


def set_by_call(line: un.Call, names: RoutineNames) -> Iterator[str]:
    """Yield the scalar variables that a called procedure certainly defines before it reads them."""
    own = names.procedure(line.procedure.key) if isinstance(line.procedure, ex.Name) else None
    if own is None or not own.sets or _intents(line, names) is None:
        return
    for at, arg in enumerate(line.args):
        value = _value_of(arg)
        dummy = arg.key if isinstance(arg, ex.Keyword) else own.dummies[at][0]
        declared = names.declaration((value.key,)) if isinstance(value, ex.Name) else None
        if declared is not None and not declared.shape and dummy in own.sets:
            yield declared.key


def _of_both_kinds(roots: Iterable[str]) -> Iterator[MemoryAccess]:
    for root in sorted(roots):
        yield MemoryAccess(AccessPath(root), False)
        yield MemoryAccess(AccessPath(root), True)


def reads_of(expr: ex.Expr, names: RoutineNames) -> Iterator[MemoryAccess]:
    """Yield the reads of an expression, and the writes of functions called in it."""
    path = path_of(expr)
    if path is None:
        inside, counter = 0, ""
        if isinstance(expr, ex.ImpliedDo):
            inside, counter = len(expr.items) + 1, expr.variable.key
        for at, part in enumerate(ex.children(expr)):
            found = reads_of(part, names)
            yield from (one for one in found if at >= inside or one.root != counter)
        return
    function = _function(expr, names)
    if function is not None:
        yield from _function_reads(function[0], expr, names)
        return
    for item in path.subscripts:
        yield from reads_of(item, names)
    yield MemoryAccess(path, False)


def _function(expr: ex.Expr, names: RoutineNames) -> tuple[str, ex.Index] | None:
    """Return the function that the path `expr` calls, with the call; None for data."""
    for part in _brackets(expr):
        function = names.function_called(part)
        if function is not None:
            return function, part
    return None


def _brackets(expr: ex.Expr) -> list[ex.Index]:
    """Return the parts of a path that end with parentheses, innermost first."""
    found: list[ex.Index] = []
    while isinstance(expr, ex.Index | ex.Member):
        if isinstance(expr, ex.Index):
            found.insert(0, expr)
        expr = expr.base
    return found


def _function_reads(function: str, expr: ex.Expr, names: RoutineNames) -> Iterator[MemoryAccess]:
    """Yield the reads of a function; an unknown one may also change its arguments."""
    harmless = names.is_harmless(function)
    if function in INQUIRING and harmless:
        yield from _inquiry_reads(function, expr, names)
        return
    own = names.procedure(function)
    for item in (item for part in _brackets(expr) for item in part.items):
        yield from reads_of(item, names) if harmless else _passed(item, names)
        if own is not None:
            value = _value_of(item)
            yield from _targets(value, names, writes=False)
    if function in names.statement_functions:
        for name in sorted(names.statement_functions[function]):
            yield MemoryAccess(AccessPath(name), False)
        return
    if own is not None and harmless:
        for at, item in enumerate(_brackets(expr)[0].items):
            yield from _behind(item, at, ex.Name(function), names)
    if own is not None:
        yield from _read_by(function, names)
    elif not harmless:
        path = path_of(expr)
        assert path is not None
        plain = AccessPath(path.root)
        yield from _of_both_kinds({path.root}) if path.steps[1:] else (MemoryAccess(plain, False),)


def _inquiry_reads(function: str, expr: ex.Expr, names: RoutineNames) -> Iterator[MemoryAccess]:
    arguments = tuple(item for one in _brackets(expr) for item in one.items)
    for item in evaluated_by_inquiry(function, arguments, names):
        yield from reads_of(item, names)
    changing = names.reallocations.in_loops
    if function not in OF_SHAPE or not changing:
        return
    for path in filter(None, map(path_of, map(_value_of, arguments))):
        is_visible = path.root in names.imported or names.is_shared(path.variable)
        if path.root in changing or is_visible:
            yield MemoryAccess(path, False, of_shape=True)


def evaluated_by_inquiry(
    function: str, items: Iterable[ex.Expr], names: RoutineNames
) -> Iterator[ex.Expr]:
    """Yield the expressions that an inquiry function with the arguments `items` evaluates.

    These are all arguments except the objects of the inquiry, and the subscripts of the objects.
    """
    for at, item in enumerate(items):
        key, value = item.key if isinstance(item, ex.Keyword) else "", _value_of(item)
        is_object = key not in ("dim", "kind") if key else at == 0 or function == "associated"
        path = path_of(value)
        if is_object and path is not None and _function(value, names) is None:
            yield from path.subscripts
        else:
            yield value


def _value_of(arg: ex.Expr) -> ex.Expr:
    return arg.value if isinstance(arg, ex.Keyword) else arg


def _written(target: ex.Expr, names: RoutineNames) -> Iterator[MemoryAccess]:
    path = path_of(target)
    if path is None:
        yield from _of_both_kinds(names_in(target))
        return
    for item in path.subscripts:
        yield from reads_of(item, names)
    yield MemoryAccess(path, True)


def _passed(arg: ex.Expr, names: RoutineNames) -> Iterator[MemoryAccess]:
    """Yield the reads of an argument and its subscripts, and a possible write."""
    value = _value_of(arg)
    yield from reads_of(value, names)
    path = path_of(value)
    if path is not None and names.may_be_changed(path.variable):
        yield MemoryAccess(AccessPath(path.root), True)


def _base(target: ex.Expr) -> ex.Expr:
    while isinstance(target, ex.Index | ex.Member):
        target = target.base
    return target


# ---------------------------------------------------------------------------- names of all of it


def read_names(lines: Iterable[un.Line], names: RoutineNames) -> frozenset[str]:
    """Return the keys of the variables that `lines` read, at least in part."""
    return frozenset(one.root for one in accesses(lines, names) if not one.writes)


def written_names(lines: Iterable[un.Line], names: RoutineNames) -> frozenset[str]:
    """Return the keys of the variables that `lines` write, at least in part."""
    return frozenset(one.root for one in accesses(lines, names) if one.writes)


# ---------------------------------------------------------------------------- what is unknown


def unknown_lines(
    lines: Iterable[un.Line], *, inside: bool = True
) -> Iterator[tuple[un.Line, str]]:
    """Yield statements that are not understood, with the text of the unknown part.

    With `inside`, nested statements are included.
    """
    for line in walk_lines(lines) if inside else lines:
        match line:
            case un.Opaque():
                yield line, line.text.split("\n")[0]
            case un.Goto() | un.Label():
                yield line, "a jump to a label"
            case un.Conditional():
                yield line, line.branches[0].text
            case un.Associate():
                first = f" ({line.pairs[0][0].text} => ...)" if line.pairs else ""
                yield line, f"associate{first}"
            case un.Critical():
                yield line, "critical"
        for expr in expressions_of(line):
            for part in ex.walk(expr):
                if isinstance(part, ex.Verbatim):
                    yield line, part.text


def irregular_lines(lines: Iterable[un.Line]) -> tuple[un.Line, ...]:
    """Return the statements that may have effects beyond plain sequential execution.

    They are not understood, may leave a loop or the routine, or have their own execution order.
    """
    return tuple(line for line in walk_lines(lines) if not isinstance(line, Plain))


def is_understood(lines: Iterable[un.Line], names: RoutineNames) -> bool:
    """Return whether all effects of `lines` are known, and they execute sequentially."""
    found = tuple(lines)
    return not (
        irregular_lines(found)
        or any(unknown_lines(found))
        or any(unknown_calls(found, names))
        or any(map(moves_memory, walk_lines(found)))
    )


def unknown_calls(
    lines: Iterable[un.Line], names: RoutineNames, *, inside: bool = True
) -> Iterator[tuple[un.Line, str]]:
    """Yield calls of procedures with unknown effects, with the name of the procedure.

    A name with parentheses that is neither declared nor intrinsic counts as such a call.
    """
    for line in walk_lines(lines) if inside else lines:
        yield from ((line, name) for name in names.of_statement(line, _unknown_calls))


def _unknown_calls(line: un.Line, names: RoutineNames) -> tuple[str, ...]:
    """Return the procedures with unknown effects that a statement itself calls."""
    found: list[str] = []
    if isinstance(line, un.Call) and _intents(line, names) is None:
        base = path_of(line.procedure)
        found.append("%".join(base.variable) if base else "a procedure")
    targets = expressions_of(line)
    for expr in targets[1:] if isinstance(line, un.Call) else targets:
        found += unknown_functions(expr, names)
    for call in defined_operations(line, names.typing):
        name = path_of(call.procedure)
        assert name is not None
        if not names.is_harmless(name.root) and not names.is_intrinsic(call):
            found.append(name.root)
    return tuple(found)


def unknown_functions(expr: ex.Expr, names: RoutineNames) -> Iterator[str]:
    """Yield the names of the functions in an expression whose value or effects are unknown."""
    for part in ex.walk(expr):
        function = _function(part, names) if isinstance(part, ex.Index) else None
        if function is not None and not names.is_harmless(function[0]):
            yield function[0]


def values_in_bound(expr: ex.Expr, names: RoutineNames) -> frozenset[str]:
    """Return the names of an expression, and of what the functions that it calls read."""
    found = set(names_in(expr))
    for part in ex.walk(expr):
        called = _function(part, names) if isinstance(part, ex.Index) else None
        if called is not None and names.procedure(called[0]) is not None:
            found |= names.read_by(called[0])
        elif called is not None:
            found |= names.statement_functions.get(called[0], frozenset())
    return frozenset(found)


def unknown_procedures(lines: Iterable[un.Line], names: RoutineNames) -> frozenset[str]:
    """Return the names of the procedures in `unknown_calls`."""
    return frozenset(name for _, name in unknown_calls(lines, names))


def moves_memory(line: un.Line) -> bool:
    """Return whether a statement allocates or deallocates memory, or changes a pointer."""
    return isinstance(line, un.PointerAssign | un.Allocate | un.Deallocate | un.Nullify)
