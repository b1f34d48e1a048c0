"""What the statements of a kernel read, write and call.

Every name is in lower case. Statements that are not understood read and write all their names, and
so does a procedure that is called with its arguments. A component of a structure counts as the
structure.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from psyclone_storage.analysis.bodies.files import read_parts, written_parts
from psyclone_storage.analysis.bodies.intrinsics import INQUIRING, PURE
from psyclone_storage.analysis.bodies.shapes import declaration_of, type_of
from psyclone_storage.ir.code import KernelCode
from psyclone_storage.ir.expr import Expr, Index, Keyword, Member, Name, Verbatim, children, walk
from psyclone_storage.ir.rewrite import (
    Plain,
    blocks_of,
    expressions_of,
    first_words,
    names_in,
    names_of_line,
    substituted,
    walk_lines,
    with_expressions,
)
from psyclone_storage.ir.types import Intrinsic
from psyclone_storage.ir.unit import (
    Allocate,
    Assign,
    Call,
    Deallocate,
    Do,
    Goto,
    If,
    InputOutput,
    Label,
    Line,
    Nullify,
    PointerAssign,
    Return,
    Select,
    Stop,
    Where,
    While,
)


@dataclass(frozen=True, slots=True)
class Touch:
    """One access to a name.

    `subscripts` are those of one array element, or of a section where they hold ranges. None means
    the whole of it, or an unknown part; a scalar has none either.
    """

    name: str
    writes: bool
    subscripts: tuple[Expr, ...] | None = None


# ---------------------------------------------------------------------------- accesses


def touches(lines: Iterable[Line], code: KernelCode) -> Iterator[Touch]:
    """Yield the accesses of `lines` and of what is inside of them, in the order of their text."""
    for line in walk_lines(lines):
        yield from touches_of(line, code)


def touches_of(line: Line, code: KernelCode) -> Iterator[Touch]:
    """Yield the accesses of `line` itself: what it reads first, then what it writes."""
    match line:
        case Assign(target, value):
            yield from _reads(value, code)
            yield from _written(target, code)
        case PointerAssign(target, value):
            yield from _of_both_kinds(names_in(value))
            yield from _written(target, code)
        case Call(procedure, args):
            yield from _of_both_kinds(names_in(_base(procedure)) - _names(procedure))
            for arg in args:
                yield from _passed(arg, code)
        case Do():
            for part in expressions_of(line)[1:]:
                yield from _reads(part, code)
            yield Touch(line.variable.lower(), True)
        case If():
            for part in expressions_of(line):
                yield from _reads(part, code)
        case Allocate(arrays) | Deallocate(arrays):
            for array in arrays:
                yield from _passed(array, code)
        case _:
            yield from _of_irregular(line, code)


def _of_irregular(line: Line, code: KernelCode) -> Iterator[Touch]:
    """Yield the accesses of a statement that is not `Plain`."""
    match line:
        case While() | Return() | Stop() | Where() | Goto():
            for part in expressions_of(line):
                yield from _reads(part, code)
        case Select(word="case"):
            for part in expressions_of(line):
                yield from _reads(part, code)
        case Nullify(pointers):
            for pointer in pointers:
                yield from _written(pointer, code)
        case InputOutput():
            for part in read_parts(line):
                yield from _reads(part, code)
            for part in written_parts(line):
                yield from _written(part, code)
        case _:
            yield from _of_both_kinds(names_of_line(line))


def _names(procedure: Expr) -> frozenset[str]:
    return names_in(procedure) if isinstance(procedure, Name) else frozenset()


def _of_both_kinds(names: Iterable[str]) -> Iterator[Touch]:
    for name in sorted(names):
        yield Touch(name, False)
        yield Touch(name, True)


def _reads(expr: Expr, code: KernelCode) -> Iterator[Touch]:
    match expr:
        case Name(text):
            yield Touch(text.lower(), False)
        case Index(Name(text), items) if declaration_of(code, text) is None:
            yield from _function_reads(text, items, code)
        case Index(Name(text), items):
            for item in items:
                yield from _reads(item, code)
            yield Touch(text.lower(), False, items)
        case _:
            for part in children(expr):
                yield from _reads(part, code)


def _function_reads(name: str, items: tuple[Expr, ...], code: KernelCode) -> Iterator[Touch]:
    """Yield what a function of the language reads; others may change what they are given."""
    for item in items:
        if name.lower() in INQUIRING:
            continue
        if name.lower() in PURE:
            yield from _reads(item, code)
        else:
            yield from _passed(item, code)
    if name.lower() not in PURE:
        yield Touch(name.lower(), False)


def _written(target: Expr, code: KernelCode) -> Iterator[Touch]:
    match target:
        case Name(text):
            yield Touch(text.lower(), True)
        case Index(Name(text), items):
            for item in items:
                yield from _reads(item, code)
            yield Touch(text.lower(), True, items)
        case _:
            for name in names_in(target):
                yield Touch(name, False)
            for name in names_in(_base(target)):
                yield Touch(name, True)


def _passed(arg: Expr, code: KernelCode) -> Iterator[Touch]:
    """Yield that an argument may be read and changed, and that its subscripts are read."""
    value = arg.value if isinstance(arg, Keyword) else arg
    yield from _reads(value, code)
    if isinstance(value, Name | Index | Member):
        for name in names_in(_base(value)):
            yield Touch(name, True)


def _base(target: Expr) -> Expr:
    while isinstance(target, Index | Member):
        target = target.base
    return target


def read_names(lines: Iterable[Line], code: KernelCode) -> frozenset[str]:
    """Return the names that `lines` read."""
    return frozenset(touch.name for touch in touches(lines, code) if not touch.writes)


def written_names(lines: Iterable[Line], code: KernelCode) -> frozenset[str]:
    """Return the names that `lines` write."""
    return frozenset(touch.name for touch in touches(lines, code) if touch.writes)


# ---------------------------------------------------------------------------- what is unknown


def irregular_lines(lines: Iterable[Line]) -> tuple[Line, ...]:
    """Return the statements that may do more than one after the other can be seen to do.

    They are not understood, or may leave a loop or the routine, or have an order of their own.
    """
    return tuple(line for line in walk_lines(lines) if not isinstance(line, Plain))


def unknown_lines(lines: Iterable[Line]) -> tuple[str, ...]:
    """Return the texts of statements, or parts of them, that are not understood."""
    found: list[str] = []
    for line in walk_lines(lines):
        if not isinstance(line, Plain):
            found.append(first_words(line))
        for expr in expressions_of(line):
            found += [part.text for part in walk(expr) if isinstance(part, Verbatim)]
    return tuple(found)


def unknown_procedures(lines: Iterable[Line], code: KernelCode) -> frozenset[str]:
    """Return the subroutines that `lines` call, and names that may be functions not known here.

    What has brackets and is neither declared nor a function of the language is one of those.
    """
    found: set[str] = set()
    for line in walk_lines(lines):
        if isinstance(line, Call):
            found |= names_in(line.procedure)
        for expr in expressions_of(line):
            found.update(
                part.base.text.lower()
                for part in walk(expr)
                if isinstance(part, Index)
                and isinstance(part.base, Name)
                and declaration_of(code, part.base.text) is None
                and part.base.text.lower() not in PURE
            )
    return frozenset(found)


# ---------------------------------------------------------------------------- scalars


def upward_exposed(lines: Iterable[Line], code: KernelCode) -> frozenset[str]:
    """Return the names that `lines` may read before having set them."""
    return _flow(lines, frozenset(), code)[0]


def always_set(lines: Iterable[Line], code: KernelCode) -> frozenset[str]:
    """Return the scalars that `lines` set whatever path they take."""
    return _flow(lines, frozenset(), code)[1]


def _flow(
    lines: Iterable[Line], known: frozenset[str], code: KernelCode
) -> tuple[frozenset[str], frozenset[str]]:
    """Return what is read too early, and what is set for certain at the end.

    `known` are the scalars that are set at the start.
    """
    early: frozenset[str] = frozenset()
    at_start = known
    for line in lines:
        own = tuple(touches_of(line, code))
        early |= {touch.name for touch in own if not touch.writes} - known
        if isinstance(line, Plain) and not isinstance(line, Call):
            known |= {touch.name for touch in own if touch.writes and touch.subscripts is None}
        ends = [_flow(block, known, code) for block in blocks_of(line)]
        early = early.union(*(end[0] for end in ends))
        match line:
            case If(name="") | Select(name=""):
                without = [] if _has_default(line) else [known]
                known = frozenset.intersection(*(end[1] for end in ends), *without)
            case Label():
                known = at_start
    return early, known


def _has_default(line: If | Select) -> bool:
    """Return whether one of the blocks of a choice is done in any case, if only an empty one."""
    return isinstance(line, If) or any(not case.guards for case in line.cases)


def carried_scalars(lines: tuple[Line, ...], code: KernelCode) -> frozenset[str]:
    """Return the names without subscripts that bring a value from one iteration to the next.

    `lines` are the body of a loop. Array elements are not looked at.
    """
    whole = {touch.name for touch in touches(lines, code) if touch.subscripts is None}
    written = written_names(lines, code) & whole
    return frozenset(written & upward_exposed(lines, code)) - _arrays(written, code)


def _arrays(names: Iterable[str], code: KernelCode) -> frozenset[str]:
    found = ((name, declaration_of(code, name)) for name in names)
    return frozenset(name for name, item in found if item is not None and item.shape)


# ---------------------------------------------------------------------------- seeing through


def copy_propagated(lines: Iterable[Line], code: KernelCode) -> tuple[Line, ...]:
    """Return `lines` with whole-number scalars exchanged for what they were last set to.

    A subscript `jiv` behind `jiv = j + 1` becomes `j + 1`. A scalar stays where its value
    depends on the path, or where something in that value has changed since.
    """
    return _through(lines, {}, code)[0]


def _through(
    lines: Iterable[Line], values: Mapping[str, Expr], code: KernelCode
) -> tuple[tuple[Line, ...], Mapping[str, Expr]]:
    found: list[Line] = []
    for line in lines:
        changed = written_names((line,), code)
        if isinstance(line, Label):
            values = {}
        if isinstance(line, Do | If):
            kept = _without(values, changed) if isinstance(line, Do) else values
            found.append(_block_through(line, values, kept, code))
            values = _without(values, changed)
            continue
        clear = _exchanged(line, values)
        found.append(clear)
        values = _without(values, changed)
        match clear:
            case Assign(Name(text), value) if _is_index(text, code):
                if text.lower() not in names_in(value):
                    values = {**values, text.lower(): value}
    return tuple(found), values


def _block_through(
    line: Do | If, values: Mapping[str, Expr], inside: Mapping[str, Expr], code: KernelCode
) -> Line:
    outer = _exchanged(line, values)
    if isinstance(outer, Do):
        body = _through(outer.body, inside, code)[0]
        return replace(outer, body=body)
    assert isinstance(outer, If)
    branches = tuple(
        replace(branch, body=_through(branch.body, inside, code)[0]) for branch in outer.branches
    )
    otherwise = _through(outer.otherwise, inside, code)[0]
    return replace(outer, branches=branches, otherwise=otherwise)


def _exchanged(line: Line, values: Mapping[str, Expr]) -> Line:
    """Return `line` itself with known scalars exchanged, but not where it sets them."""

    def change(expr: Expr) -> Expr:
        return substituted(expr, values)

    match line:
        case Assign(target, value):
            return replace(line, target=_target(target, values), value=change(value))
        case Call() | PointerAssign() | Allocate() | Deallocate():
            return line
        case _ if not isinstance(line, Plain):
            return line
        case Do(variable):
            other = {name: value for name, value in values.items() if name != variable.lower()}
            return with_expressions(line, lambda expr: substituted(expr, other))
    return with_expressions(line, change)


def _target(target: Expr, values: Mapping[str, Expr]) -> Expr:
    match target:
        case Index(base, items):
            return Index(base, tuple(substituted(item, values) for item in items))
    return target


def _without(values: Mapping[str, Expr], changed: frozenset[str]) -> Mapping[str, Expr]:
    return {
        name: value
        for name, value in values.items()
        if name not in changed and not names_in(value) & changed
    }


def _is_index(name: str, code: KernelCode) -> bool:
    declared = declaration_of(code, name)
    found = type_of(Name(name), code)
    return (
        declared is not None
        and not declared.shape
        and found is not None
        and found.intrinsic is Intrinsic.INTEGER
    )


def counters_after_loops(code: KernelCode) -> frozenset[str]:
    """Return the loop counters whose values are read outside of the loops that count them."""
    counters = {line.variable.lower() for line in walk_lines(code.body) if isinstance(line, Do)}
    return frozenset(_read_outside(code.body, frozenset(counters), code))


def _read_outside(
    lines: Iterable[Line], counters: frozenset[str], code: KernelCode
) -> Iterator[str]:
    for line in lines:
        yield from counters & {one.name for one in touches_of(line, code) if not one.writes}
        own = {line.variable.lower()} if isinstance(line, Do) else set()
        for block in blocks_of(line):
            yield from _read_outside(block, counters - own, code)
