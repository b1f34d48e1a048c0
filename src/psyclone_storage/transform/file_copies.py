"""Copies of procedures of other modules into the module of a routine that calls them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import partial
from typing import ClassVar

from psyclone_storage.base.diagnostic import CompileError, Diagnostic
from psyclone_storage.base.names import NameTable
from psyclone_storage.base.records import dataclass, field, replace
from psyclone_storage.ir import unit as un
from psyclone_storage.ir.expr import CallFunction, Expr, Name, Origin, walk
from psyclone_storage.ir.keys import key_of
from psyclone_storage.ir.parsed import ScopeKind
from psyclone_storage.ir.rewrite import (
    everywhere,
    expressions_of,
    place_of_line,
    replaced_line,
    with_parts,
)
from psyclone_storage.ir.routine import Between, ModuleContext, ProcedureCopy, Routine

_INDENT = "  "
_MODULES = (ScopeKind.MODULE, ScopeKind.SUBMODULE)


@dataclass(frozen=True, slots=True)
class CopyProcedure:
    """Copy the procedure of another module that a statement calls, and call the copy.

    If `call` is a reference to a function in the statement, this is the call.
    """

    routine: str
    line: un.Line = field(repr=False)
    call: Expr | None = field(default=None, repr=False)
    name: ClassVar[str] = "copy-procedure"


def with_copy(
    code: Routine,
    step: CopyProcedure,
    around: ModuleContext | None,
    used: Iterable[str],
    known: Iterable[un.Opaque],
) -> Routine:
    """Return a routine that calls a copy in its module, which is in its `copies`.

    `used` are the names in the file, and `known` are the copies made so far.

    Raises:
        CompileError: `T070`, the procedure is not found, or cannot be copied.
    """
    procedure = _called(step)
    symbol = procedure.symbol if isinstance(procedure, Name) else None
    if not isinstance(procedure, Name) or symbol is None or not symbol.is_resolved:
        raise _refused(step, "what the statement calls is not known")
    if symbol.origin is not Origin.IMPORTED or not symbol.module:
        raise _refused(step, f"'{procedure.text}' is not imported from a module")
    if around is None or around.copied is None:
        raise _refused(step, "the names of its modules are not known")
    made = around.copied(code.module.name, symbol.module, symbol.name)
    if isinstance(made, str):
        raise _refused(step, made)
    is_imported = partial(_is_imported, code, step, around)
    name = _name_of_copy(made, NameTable(used), known, is_imported)
    copy = un.Opaque(made.text(name, _INDENT), frozenset({name}))

    def renamed(expr: Expr) -> Expr:
        return Name(name) if expr is procedure else with_parts(expr, renamed)

    line = step.line
    if isinstance(line, un.Call) and line.procedure is procedure:
        new: tuple[un.Line, ...] = (replace(line, procedure=Name(name)),)
    else:
        new = everywhere((line,), renamed)
    body = replaced_line(code.body, line, new)
    return replace(code, body=body, copies=tuple(dict.fromkeys((*code.copies, copy))))


def _name_of_copy(
    made: ProcedureCopy,
    names: NameTable,
    known: Iterable[un.Opaque],
    is_imported: Callable[[str], bool],
) -> str:
    """Return the name of the same copy made before, or a name that is free in both modules."""
    copies = {name: one for one in known for name in one.names}
    name = next((one for one, copy in copies.items() if copy.text == made.text(one, _INDENT)), "")
    for word in (*copies, *re.findall(r"\w+", made.text("", _INDENT))):
        names.reserve(word)
    while not name or is_imported(name):
        name = names.fresh(f"{key_of(made.name)}_copy")
    return name


def _is_imported(code: Routine, step: CopyProcedure, around: ModuleContext, name: str) -> bool:
    """Return whether a routine or its module imports a name.

    Raises:
        CompileError: `T070`, it is unknown.
    """
    assert around.imported is not None
    found = around.imported((*code.uses, *code.module.uses), name)
    if found is not None and not found.is_resolved:
        raise _refused(step, f"whether '{found.module}' has a '{name}' is not known")
    return found is not None


def _refused(step: CopyProcedure, why: str) -> CompileError:
    hint = "Leave the call, or change the procedure."
    message = f"The procedure is not copied: {why}."
    return CompileError(Diagnostic("T070", message, place_of_line(step.line), hint=hint))


def _called(step: CopyProcedure) -> Expr | None:
    """Return the name in the call, which is a part of the statement."""
    if step.call is None:
        return step.line.procedure if isinstance(step.line, un.Call) else None
    parts = [part for expr in expressions_of(step.line) for part in walk(expr)]
    same = [part for part in parts if part is step.call] or [
        part for part in parts if part == step.call
    ]
    return same[0].base if same and isinstance(same[0], CallFunction) else None


def check_in_module(code: Routine, units: Iterable[Routine], step: CopyProcedure) -> None:
    """Check that a routine is a procedure of a module in a file.

    Raises:
        CompileError: `T070`, it is external, internal or a main program.
    """
    inside = (one for unit in units if unit.kind in _MODULES for one in unit.procedures)
    if not any(one.extent == code.extent for one in inside):
        raise _refused(step, f"'{code.name}' is not directly in a module")


def with_copies(unit: Routine) -> Routine:
    """Return a module with the copies that its procedures call."""
    copies = dict.fromkeys(copy for one in unit.procedures for copy in one.copies)
    if not copies or unit.kind not in _MODULES:
        return unit
    added: list[Between] = []
    for copy in copies:
        added += (un.Blank(), copy)
    return replace(unit, contained=(*unit.contained, *added))
