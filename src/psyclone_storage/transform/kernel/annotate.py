"""Modules with directives of OpenACC: procedures that a device may call, variables that it has.

A variable of a module has a copy on the device from the start of a program on. Whatever changes the
variable on the host brings the copy up to date where it stands, so that a device always finds the
value that the host would. What a procedure may change is judged by its names: a directive
too many does no harm.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from psyclone_storage.base.records import dataclass, field, replace
from psyclone_storage.base.regex import regex
from psyclone_storage.ir.directive import AccRoutineDirective, DeviceLevel
from psyclone_storage.ir.expr import Expr, Index, Keyword, Member, Name, Origin, Symbol, walk
from psyclone_storage.ir.intrinsics import PURE
from psyclone_storage.ir.keys import key_of, keys_of
from psyclone_storage.ir.program_units import (
    Between,
    DeclarationStatement,
    ProgramUnit,
    SpecificationItem,
    UnitKind,
    UseStatement,
)
from psyclone_storage.ir.rewrite import (
    blocks_of,
    expressions_of,
    names_in,
    names_of_line,
    walk_lines,
    with_each_block,
)
from psyclone_storage.ir.types import ScalarType
from psyclone_storage.ir.unit import (
    Assign,
    Associate,
    Call,
    Conditional,
    Cycle,
    DirectiveLine,
    Do,
    Exit,
    Goto,
    If,
    Imported,
    Line,
    Opaque,
    PointerAssign,
    Return,
    ScopedBlock,
    Select,
    Use,
    Where,
)

_ROUTINE = DirectiveLine(meaning=AccRoutineDirective(DeviceLevel.SEQ))
_END_OF_IF = regex(r"end\s*(?:if|where)\b[^\n]*\Z", re.IGNORECASE)
_PURE = regex(r"(?=.*\b(?:pure|elemental)\b)(?!.*\bimpure\b)", re.IGNORECASE)
_PROCEDURES = (UnitKind.SUBROUTINE, UnitKind.FUNCTION)
_NAMES_ANEW = (Associate, Select, ScopedBlock, Conditional)
"""Constructs that may give names other meanings, or that a preprocessor divides."""
_LEAVERS = (Call, Return, Goto, Exit, Cycle, Opaque)


@dataclass(frozen=True, slots=True)
class ForDevice:
    """What of a module has to be on a device, by keys.

    `changes` are the variables that its procedures may change themselves, where that is known, and
    `tables` the constant arrays that those for the device look at.
    """

    procedures: frozenset[str]
    variables: frozenset[str]
    changes: Mapping[str, frozenset[str]] = field(default_factory=dict)
    tables: Mapping[str, tuple[Symbol, ...]] = field(default_factory=dict)


def annotated(module: ProgramUnit, wanted: ForDevice) -> ProgramUnit:
    """Return `module` with directives for what is `wanted` of it on a device.

    Compilers have no constant arrays of modules there: a procedure gets its own, of a value that it
    has to know by another name, as its own name hides that of the module.
    """
    specification = module.specification
    tables = {one.key: one for found in wanted.tables.values() for one in found}
    own = [one for one in tables.values() if one.origin is Origin.HOST]
    specification = (
        *specification,
        *(_table(_alias(one), one.name, one, ", private") for one in own),
    )
    if wanted.variables:
        # Copied at the start: a variable may have a value from its declaration.
        line = DirectiveLine(f"acc declare copyin({', '.join(sorted(wanted.variables))})")
        specification = (*specification, line)
    listed = _in_namelists(module.specification)
    contained: list[ProgramUnit | Between] = []
    for item in module.contained:
        if not isinstance(item, ProgramUnit):
            contained.append(item)
        elif item.kind in _PROCEDURES and key_of(item.name) in wanted.procedures:
            contained.append(_for_device(item, wanted.tables.get(key_of(item.name), ())))
        else:
            changed = wanted.changes.get(key_of(item.name), wanted.variables)
            contained.append(_for_host(item, wanted.variables & changed, listed))
    return replace(module, specification=specification, contained=tuple(contained))


def _for_device(unit: ProgramUnit, tables: tuple[Symbol, ...]) -> ProgramUnit:
    """Return a procedure with `acc routine`, and with constant arrays of its own."""
    imported = {one.key: one for one in tables if one.origin is Origin.IMPORTED}
    items = [_without(item, imported) for item in unit.specification]
    uses = [
        UseStatement(Use(one.module, (Imported(_alias(one), one.name),)))
        for one in imported.values()
    ]
    own = (_table(key_of(one.key), _alias(one), one) for one in tables)
    return replace(unit, specification=(*uses, *items, *own, _ROUTINE))


def _without(item: SpecificationItem, imported: Mapping[str, Symbol]) -> SpecificationItem:
    """Return an import without the names that a procedure has as constants of its own."""
    if not isinstance(item, UseStatement):
        return item
    names = tuple(
        Imported(_alias(imported[one.key]), one.original) if one.key in imported else one
        for one in item.use.names
    )
    if item.use.whole:
        hidden = {one.original_key for one in names}
        names += tuple(
            Imported(_alias(one), one.name)
            for one in imported.values()
            if one.module_key == item.use.module_key and key_of(one.name) not in hidden
        )
    return item if names == item.use.names else replace(item, use=replace(item.use, names=names))


def _alias(table: Symbol) -> str:
    return f"{table.key}_of_module"


def _table(name: str, value: str, table: Symbol, words: str = "") -> Opaque:
    """Return the declaration of a constant array with the kind, shape and values of another."""
    assert isinstance(table.type, ScalarType)
    extents = ", ".join("*" * table.rank)
    head = f"{table.type.intrinsic.value}(kind({value})), parameter{words} :: &"
    text = f"{head}\n      {name}({extents}) = {value}"
    return Opaque(text, frozenset({name, value}))


def _for_host(
    unit: ProgramUnit, variables: frozenset[str], in_namelists: frozenset[str]
) -> ProgramUnit:
    """Return a procedure that brings `variables` up to date on the device where it changes them."""
    seen = variables - _declared(unit)
    if not seen or _PURE.match(unit.opening):
        return unit
    listed = (in_namelists | _in_namelists(unit.specification)) & seen
    inner = tuple(
        _for_host(item, seen, listed) if isinstance(item, ProgramUnit) else item
        for item in unit.contained
    )
    return replace(unit, body=_Updates(seen, listed).of(unit.body), contained=inner)


def _declared(unit: ProgramUnit) -> frozenset[str]:
    """Return the keys of what a procedure declares or imports itself."""
    found = set(unit.dummies)
    for item in unit.specification:
        if isinstance(item, DeclarationStatement):
            found.update(one.name for one in item.declares)
        elif isinstance(item, UseStatement):
            found.update(one.local for one in item.use.names)
    return keys_of(found)


def _in_namelists(items: tuple[SpecificationItem, ...]) -> frozenset[str]:
    found = (item for item in items if isinstance(item, Opaque) and "namelist" in item.names)
    return frozenset[str]().union(*(item.names for item in found))


class _Updates:
    """The directives that bring the device's copies of variables up to date, put into a block."""

    def __init__(self, variables: frozenset[str], in_namelists: frozenset[str]) -> None:
        self._variables = variables
        self._in_namelists = in_namelists

    def of(self, block: tuple[Line, ...]) -> tuple[Line, ...]:
        """Return `block` with a directive behind whatever may change a variable."""
        return tuple(line for old in block for line in self._with_update(old))

    def _with_update(self, line: Line) -> Iterator[Line]:
        inside = any(map(_calls_or_leaves, blocks_of(line))) and not _is_one_line(line)
        if not inside or isinstance(line, _NAMES_ANEW):
            changed = self._changed_in(line)
            yield _with_each_leaver(line, changed) if inside and changed else line
        else:
            changed = self._changed_by(line)
            yield with_each_block(line, self.of)
        if changed:
            yield _update(changed)

    def _changed_in(self, line: Line) -> frozenset[str]:
        return frozenset[str]().union(*(self._changed_by(one) for one in walk_lines((line,))))

    def _changed_by(self, line: Line) -> frozenset[str]:
        """Return the variables that `line` itself may change, those inside of it left out."""
        match line:
            case Assign(target, value) | PointerAssign(target, value):
                found = {_root(target)} | self._passed_in(value) | self._passed_in(target)
            case Do():
                found = {line.variable.key}.union(*map(self._passed_in, expressions_of(line)))
            case If() | Where():
                found = set[str]().union(*map(self._passed_in, expressions_of(line)))
            case DirectiveLine():
                found = set()
            case _:
                found = set(names_of_line(line))
                if _reads_namelists(line):
                    found |= self._in_namelists
        return frozenset(found & self._variables)

    def _passed_in(self, expr: Expr) -> set[str]:
        """Return the variables that functions in `expr` are passed."""
        found: set[str] = set()
        for part in walk(expr):
            if isinstance(part, Index) and not _is_pure(part.base):
                found.update(*(names_in(item) for item in part.items))
        return found & self._variables


def _update(variables: frozenset[str]) -> DirectiveLine:
    return DirectiveLine(f"acc update device({', '.join(sorted(variables))})")


def _calls_or_leaves(block: tuple[Line, ...]) -> bool:
    """Return whether what is in a construct may need a value, or go past what follows it."""
    return any(isinstance(line, _LEAVERS) for line in walk_lines(block))


def _with_each_leaver(line: Line, variables: frozenset[str]) -> Line:
    """Return a construct with an update in front of all that may need a value, or go past it."""

    def changed(block: tuple[Line, ...]) -> tuple[Line, ...]:
        found: list[Line] = []
        for old in block:
            here = isinstance(old, _LEAVERS) or (_is_one_line(old) and _calls_or_leaves((old,)))
            found += (_update(variables), old) if here else (with_each_block(old, changed),)
        return tuple(found)

    return with_each_block(line, changed)


def _reads_namelists(line: Line) -> bool:
    """Return whether a statement may read a namelist."""
    return getattr(line, "word", "") == "read" or isinstance(line, Opaque)


def _is_pure(base: Expr) -> bool:
    return isinstance(base, Name) and base.key in PURE


def _root(target: Expr) -> str:
    while isinstance(target, Index | Member | Keyword):
        target = target.value if isinstance(target, Keyword) else target.base
    return target.key if isinstance(target, Name) else ""


def _is_one_line(line: Line) -> bool:
    """Return whether a statement stands behind a condition, in its line."""
    extent = getattr(line, "extent", None)
    if not isinstance(line, If | Where) or extent is None:
        return False
    return _END_OF_IF.search(extent.text) is None
