"""Units as Fortran 2008, to be read by a person who looks for an error.

One `match` per kind of thing. Lines are broken within 132 columns; steps of indentation are
two blanks; words of the language are in lower case. The text depends on the unit
alone: no date, no path, so that equal programs give equal files.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby

from psyclone_storage.backend.fortran.wrap import commented, wrapped
from psyclone_storage.base.diagnostic import InternalError
from psyclone_storage.ir.expr import Expr, Name, spell_as_written, walk
from psyclone_storage.ir.types import DataType, DerivedType, ScalarType
from psyclone_storage.ir.unit import (
    Allocate,
    Assign,
    Blank,
    Branch,
    Call,
    Comment,
    Deallocate,
    Declare,
    DirectiveLine,
    Do,
    If,
    Line,
    Opaque,
    PointerAssign,
    Routine,
    ScopedBlock,
    Unit,
    Use,
)

_STEP = 2


@dataclass(frozen=True, slots=True)
class InlinedProcedures:
    """What a module holds besides its own, all of it private: lines that are printed already.

    `specified` go into its specification part, `procedures` behind its own procedures.
    """

    specified: tuple[tuple[str, ...], ...] = ()
    procedures: tuple[tuple[str, ...], ...] = ()


def emit_unit(unit: Unit, inlined: InlinedProcedures = InlinedProcedures()) -> str:
    """Return the text of a module, ending in a newline."""
    lines = commented(unit.comment, 0) if unit.comment else []
    lines.append(f"module {unit.name}")
    for use in unit.uses:
        lines += wrapped(emit_use(use), _STEP)
    lines += ["", "  implicit none", "", "  private"]
    for routine in unit.routines:
        lines += wrapped(f"public :: {routine.name}", _STEP)
    for specified in inlined.specified:
        lines += ["", *specified]
    lines += ["", "contains"]
    for routine in (*unit.routines, *unit.helpers):
        lines += ["", *_routine(routine)]
    for procedure in inlined.procedures:
        lines += ["", *procedure]
    lines += ["", f"end module {unit.name}"]
    return "\n".join(lines) + "\n"


def emit_use(use: Use) -> str:
    """Return a `use` statement."""
    names = ", ".join(
        name.local if name.local == name.original else f"{name.local} => {name.original}"
        for name in use.names
    )
    nature = ", intrinsic ::" if use.intrinsic else ""
    if use.whole:
        return f"use{nature} {use.module}" + (f", {names}" if names else "")
    return f"use{nature} {use.module}, only: {names}"


def _routine(routine: Routine) -> Iterator[str]:
    if routine.comment:
        yield from commented(routine.comment, _STEP)
    dummies = ", ".join(dummy.name for dummy in routine.dummies)
    yield from wrapped(f"subroutine {routine.name}({dummies})", _STEP)
    for dummy in sorted(routine.dummies, key=_needs_others):
        yield from wrapped(_declaration(dummy, _entity(dummy)), 2 * _STEP)
    if routine.variables:
        yield ""
    for alike in _grouped(routine.variables):
        entities = ", ".join(map(_entity, alike))
        yield from wrapped(_declaration(alike[0], entities), 2 * _STEP)
    yield from emit_lines(routine.directives, 2 * _STEP)
    yield ""
    yield from emit_lines(routine.body, 2 * _STEP)
    yield f"  end subroutine {routine.name}"


def emit_declarations(declares: Iterable[Declare], indent: int) -> Iterator[str]:
    """Yield declarations in their order; neighbours that differ in the entity alone are one."""
    for head, alike in groupby(declares, key=lambda item: _declaration(item, "")):
        yield from wrapped(head + ", ".join(map(_entity, alike)), indent)


def _needs_others(declare: Declare) -> bool:
    """Return whether an extent is given by another variable, which must be declared before."""
    return any(isinstance(part, Name) for extent in declare.shape for part in walk(extent))


def _grouped(variables: tuple[Declare, ...]) -> Iterable[list[Declare]]:
    """Return the variables by type and attributes, in the order of their first appearance."""
    groups: dict[str, list[Declare]] = {}
    for variable in variables:
        groups.setdefault(_declaration(variable, ""), []).append(variable)
    return groups.values()


def _declaration(declare: Declare, entities: str) -> str:
    head = ", ".join((_type(declare.type, declare.polymorphic), *declare.attributes))
    return f"{head} :: {entities}"


def _entity(declare: Declare) -> str:
    name = f"{declare.name}({_listed(declare.shape)})" if declare.shape else declare.name
    return name if declare.value is None else f"{name} = {spell_as_written(declare.value)}"


def _type(data_type: DataType, polymorphic: bool) -> str:
    match data_type:
        case DerivedType(name):
            return f"class({name})" if polymorphic else f"type({name})"
        case ScalarType(intrinsic, None):
            return intrinsic.value
        case ScalarType(intrinsic, kind):
            return f"{intrinsic.value}(kind={kind})"


def emit_lines(lines: Iterable[Line], indent: int) -> Iterator[str]:
    """Yield statements, the outermost behind `indent` blanks."""
    for line in lines:
        yield from _line(line, indent)


def _line(line: Line, indent: int) -> Iterator[str]:
    match line:
        case Blank():
            yield ""
        case Comment(text, as_written):
            yield from [f"{' ' * indent}!{text}"] if as_written else commented(text, indent)
        case DirectiveLine(text):
            yield from _directive(text, indent)
        case Assign(target, value):
            yield from wrapped(f"{spell_as_written(target)} = {spell_as_written(value)}", indent)
        case PointerAssign(target, value):
            yield from wrapped(f"{spell_as_written(target)} => {spell_as_written(value)}", indent)
        case Call(procedure, args):
            yield from wrapped(f"call {spell_as_written(procedure)}({_listed(args)})", indent)
        case Allocate(arrays):
            yield from wrapped(f"allocate({_listed(arrays)})", indent)
        case Deallocate(arrays):
            yield from wrapped(f"deallocate({_listed(arrays)})", indent)
        case Opaque(text):
            yield from _verbatim(text, indent)
        case _:
            yield from _holding(line, indent)


def _holding(line: Line, indent: int) -> Iterator[str]:
    """Yield a statement that holds others."""
    match line:
        case Do(variable, start, stop, body, step):
            bounds = _listed((start, stop) if step is None else (start, stop, step))
            yield from wrapped(f"do {variable} = {bounds}", indent)
            yield from emit_lines(body, indent + _STEP)
            yield " " * indent + "end do"
        case ScopedBlock(uses, declarations, body):
            yield " " * indent + "block"
            for use in uses:
                yield from wrapped(emit_use(use), indent + _STEP)
            yield from emit_declarations(declarations, indent + _STEP)
            yield from emit_lines(body, indent + _STEP)
            yield " " * indent + "end block"
        case If(branches, otherwise):
            yield from _choice(branches, otherwise, indent)
        case _:
            raise InternalError(f"Statement of class {type(line).__name__} has no spelling.")


def _verbatim(text: str, indent: int) -> Iterator[str]:
    """Yield an author's statements: the first line where it belongs, the rest as written.

    A line of the preprocessor's starts in the first column.
    """
    first, *further = text.split("\n")
    yield first if first.startswith("#") else " " * indent + first
    yield from further


def _choice(
    branches: tuple[Branch, ...], otherwise: tuple[Line, ...], indent: int
) -> Iterator[str]:
    for number, branch in enumerate(branches):
        word = "else if" if number else "if"
        yield from wrapped(f"{word} ({spell_as_written(branch.condition)}) then", indent)
        yield from emit_lines(branch.body, indent + _STEP)
    if otherwise:
        yield " " * indent + "else"
        yield from emit_lines(otherwise, indent + _STEP)
    yield " " * indent + "end if"


def _directive(text: str, indent: int) -> Iterator[str]:
    """Yield a directive, each further line of which starts with the sentinel again."""
    sentinel = f"!${text.split(maxsplit=1)[0]}"
    first, *further = wrapped(f"!${text}", indent)
    yield first
    for line in further:
        yield f"{' ' * (indent)}{sentinel} {line.strip()}"


def _listed(items: tuple[Expr, ...]) -> str:
    return ", ".join(map(spell_as_written, items))
