"""OpenACC directives in modules: device procedures and device copies of variables.

A module variable has a device copy from program start. Each statement that changes the variable on
the host is followed by an update of the copy, so that the device always reads the host value. The
names in a procedure determine which variables it may change; a superfluous update is harmless.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from psyclone_storage.analysis.bodies.effects import base_of
from psyclone_storage.base.names import NameTable
from psyclone_storage.base.records import dataclass, field, replace
from psyclone_storage.base.regex import regex
from psyclone_storage.ir import expr as ex
from psyclone_storage.ir import unit as un
from psyclone_storage.ir.directive import AccRoutineDirective, DeviceLevel
from psyclone_storage.ir.intrinsics import PURE
from psyclone_storage.ir.keys import key_of, keys_of
from psyclone_storage.ir.parsed import ScopeKind
from psyclone_storage.ir.rewrite import (
    blocks_of,
    expressions_of,
    names_in,
    names_of_line,
    walk_lines,
    with_each_block,
)
from psyclone_storage.ir.routine import (
    Between,
    DeclarationStatement,
    Routine,
    SpecificationItem,
    UseStatement,
)
from psyclone_storage.ir.types import ScalarType

_ROUTINE = un.DirectiveLine(meaning=AccRoutineDirective(DeviceLevel.SEQ))
_END_OF_IF = regex(r"end\s*(?:if|where)\b[^\n]*\Z", re.IGNORECASE)
_BEFORE_NAME = regex(r"\b(?:subroutine|function)\b", re.IGNORECASE)
_REGION = regex(r"(?:omp|acc)\b(?!\s+(?:routine|declare))", re.IGNORECASE)
_TO_LABEL = regex(r"\bcall\b.*[(,]\s*\*\s*\d", re.IGNORECASE | re.DOTALL)
_OF_PROCEDURES = regex(r"\s*(?:abstract|external|interface|procedure)\b", re.IGNORECASE)
_JUMPS = frozenset({"err", "end", "eor"})
_LONG = 100
"""How many letters a constant and its value may have in a line."""
_KEPT = 53
"""How many letters of a constant's name its second name has: there are 63 at most."""
_PURE = regex(r"(?=.*\b(?:pure|elemental)\b)(?!.*\bimpure\b)", re.IGNORECASE)
_PROCEDURES = (ScopeKind.SUBROUTINE, ScopeKind.FUNCTION)
_NAMES_ANEW = (un.Associate, un.Select, un.ScopedBlock, un.Conditional)
"""Constructs that may give names other meanings, or that a preprocessor divides."""
_AT_ONCE = (un.Where, un.Forall, un.DoConcurrent)
"""Constructs that nothing leaves, and in which no statement may change anything outside."""
_LEAVERS = (un.Call, un.Return, un.Goto, un.Exit, un.Cycle, un.Opaque)


@dataclass(frozen=True, slots=True)
class ForDevice:
    """Procedures and variables of a module that device code needs, by key.

    `changes` are the variables that its procedures may change themselves, if known. `tables` are
    the constant arrays that device procedures read. Names in `taken` are not used for new
    constants.
    """

    procedures: frozenset[str]
    variables: frozenset[str]
    changes: Mapping[str, frozenset[str]] = field(default_factory=dict)
    tables: Mapping[str, tuple[ex.Symbol, ...]] = field(default_factory=dict)
    taken: frozenset[str] = frozenset()


def annotated(module: Routine, wanted: ForDevice) -> Routine:
    """Return `module` with directives for the procedures and variables in `wanted`.

    Compilers do not support constant module arrays on devices, so each procedure gets a local
    constant. Its value refers to the module's array by an alias, because the local name hides it.
    """
    specification = module.specification
    every = [one for found in wanted.tables.values() for one in found]
    own = {one.key: one for one in every if one.origin is ex.Origin.HOST}
    free = NameTable(wanted.taken)
    keys = dict.fromkeys(one.key for one in every)
    aliases = {key: free.fresh(f"{key[:_KEPT]}_of_module") for key in keys}
    specification = (
        *specification,
        *(_table(aliases[key], one.name, one, ", private") for key, one in own.items()),
    )
    if wanted.variables:
        # Copied at the start: a variable may have a value from its declaration.
        line = un.DirectiveLine(f"acc declare copyin({', '.join(sorted(wanted.variables))})")
        specification = (*specification, line)
    scope = _Scope(wanted.variables).of(module, hides=False)
    contained: list[Routine | Between] = []
    for item in module.contained:
        if not isinstance(item, Routine):
            contained.append(item)
        elif item.kind in _PROCEDURES and key_of(item.name) in wanted.procedures:
            tables = wanted.tables.get(key_of(item.name), ())
            contained.append(_for_device(item, tables, aliases))
        else:
            changed = wanted.changes.get(key_of(item.name))
            contained.append(_for_host(item, scope.narrowed(changed)))
    return replace(module, specification=specification, contained=tuple(contained))


def _for_device(
    unit: Routine, tables: tuple[ex.Symbol, ...], aliases: Mapping[str, str]
) -> Routine:
    """Return a procedure with `acc routine` and local constant arrays."""
    imported = {one.key: one for one in tables if one.origin is ex.Origin.IMPORTED}
    items = [_without(item, imported, aliases) for item in unit.specification]
    uses = [
        UseStatement(un.Use(one.module, (un.Imported(aliases[key], one.name),)))
        for key, one in imported.items()
    ]
    own = (_table(key_of(one.key), aliases[one.key], one) for one in tables)
    return replace(unit, specification=(*uses, *items, *own, _ROUTINE))


def _without(
    item: SpecificationItem, imported: Mapping[str, ex.Symbol], aliases: Mapping[str, str]
) -> SpecificationItem:
    """Return an import without the names that the procedure declares as local constants."""
    if not isinstance(item, UseStatement):
        return item
    names = tuple(
        un.Imported(aliases[one.key], one.original) if one.key in imported else one
        for one in item.use.names
    )
    if item.use.whole:
        hidden = {one.original_key for one in names}
        names += tuple(
            un.Imported(aliases[one.key], one.name)
            for one in imported.values()
            if one.module_key == item.use.module_key and key_of(one.name) not in hidden
        )
    return item if names == item.use.names else replace(item, use=replace(item.use, names=names))


def lower_bounds(table: ex.Symbol) -> tuple[int | None, ...]:
    """Return the lower bounds of a constant array, None for unknown ones."""
    return tuple(
        ex.integer_value(one.lower) if isinstance(one, ex.Range) and one.lower is not None else 1
        for one in table.shape
    )


def _table(name: str, value: str, table: ex.Symbol, words: str = "") -> un.Opaque:
    """Return the declaration of a constant array with the kind, shape and values of another."""
    assert isinstance(table.type, ScalarType)
    # The compiler finds the upper bounds; the lower ones would be 1 if they were left to it.
    extents = ", ".join("*" if lower == 1 else f"{lower}:*" for lower in lower_bounds(table))
    head = f"{table.type.intrinsic.value}(kind({value})), parameter{words} :: &"
    target, sign = f"{name}({extents})", "="
    if len(target) + len(value) > _LONG:
        sign = "= &\n     "
    text = f"{head}\n      {target} {sign} {value}"
    return un.Opaque(text, frozenset({name, value}))


def _for_host(unit: Routine, scope: _Scope) -> Routine:
    """Return a procedure that updates the device copies of variables that it changes."""
    inside = scope.of(unit)
    if not inside.variables or _is_pure_unit(unit):
        return unit
    inner = tuple(
        _for_host(item, inside) if isinstance(item, Routine) else item for item in unit.contained
    )
    return replace(unit, body=_Updates(inside).of(unit.body), contained=inner)


def obstacles(module: Routine, wanted: ForDevice) -> Iterator[tuple[str, un.Line, str]]:
    """Yield variables whose change cannot be followed by an update, with place and reason."""
    scope = _Scope(wanted.variables).of(module, hides=False)
    for unit in module.contained:
        if isinstance(unit, Routine):
            yield from _obstacles(unit, scope.narrowed(wanted.changes.get(key_of(unit.name))))


def _obstacles(unit: Routine, scope: _Scope) -> Iterator[tuple[str, un.Line, str]]:
    inside = scope.of(unit)
    if not inside.variables or _is_pure_unit(unit):
        return
    updates, lines = _Updates(inside), list(walk_lines(unit.body))
    has_regions = any(
        isinstance(one, un.DirectiveLine) and _REGION.match(one.text) for one in lines
    )
    for line in lines:
        changed = sorted(updates.changed_by(line))
        for reason in _reasons_against(line, updates, has_regions):
            yield from ((key, line, reason) for key in changed)
        for key in sorted(_named_anew(line) & inside.variables):
            yield key, line, "a construct has the name for something of its own"
    for item in unit.contained:
        if isinstance(item, Routine):
            yield from _obstacles(item, inside)


def _reasons_against(line: un.Line, updates: _Updates, has_regions: bool) -> Iterator[str]:
    """Yield the reasons why the change in `line` cannot be followed by a directive."""
    if has_regions:
        yield "it is changed in a procedure with directives, between which none may stand"
    goes_on = isinstance(line, un.InputOutput) and any(
        isinstance(item, ex.Keyword) and item.key in _JUMPS for item in line.controls
    )
    if goes_on or (isinstance(line, un.Opaque) and _TO_LABEL.search(line.text)):
        yield "the statement that may change it may go on at a label"
    behind = (one for block in blocks_of(line) for one in block)
    if isinstance(line, un.If) and _is_one_line(line) and any(map(updates.may_need, behind)):
        yield "a condition may change it in front of a statement that may need it"


def _named_anew(line: un.Line) -> frozenset[str]:
    """Return the names that a construct redefines."""
    match line:
        case un.Associate(pairs):
            return frozenset(name.key for name, _ in pairs)
        case un.Select(alias=ex.Name() as alias):
            return frozenset({alias.key})
        case un.DoConcurrent(controls) | un.Forall(controls):
            return frozenset(one.variable.key for one in controls)
        case un.ScopedBlock():
            own = {one.key for one in line.declarations if isinstance(one, un.Declare)}
            stated = (one.names for one in line.declarations if isinstance(one, un.Opaque))
            imported = {name.key for use in line.uses for name in use.names}
            return frozenset(own | imported).union(*stated)
    return frozenset()


def _names_given(unit: Routine) -> frozenset[str]:
    """Return the procedure names that a unit defines or imports, which hide intrinsics."""
    found = {item.name for item in unit.contained if isinstance(item, Routine)}
    stated = frozenset[str]()
    for item in unit.specification:
        if isinstance(item, UseStatement):
            found.update(one.local for one in item.use.names)
            # A module that is imported as a whole may have any name of the language.
            stated |= PURE if item.use.whole else frozenset()
        elif isinstance(item, un.Opaque) and _OF_PROCEDURES.match(item.text):
            stated |= item.names
    return keys_of(found) | stated


def _arrays(unit: Routine) -> frozenset[str]:
    """Return the keys of the arrays that a unit declares."""
    items = (one for one in unit.specification if isinstance(one, DeclarationStatement))
    return frozenset(one.key for item in items for one in item.declares if one.shape)


@dataclass(frozen=True, slots=True)
class _Scope:
    """Names known in a procedure; `variables` are those to update.

    `listed` are variables that a namelist may contain. `given` are names that do not denote
    intrinsics. `arrays` are names for which `name(...)` is not a function call.
    """

    variables: frozenset[str]
    listed: frozenset[str] = frozenset()
    given: frozenset[str] = frozenset()
    arrays: frozenset[str] = frozenset()

    def of(self, unit: Routine, *, hides: bool = True) -> _Scope:
        """Return the scope inside `unit`, in which its own names may hide others."""
        own, given = _declared(unit), _names_given(unit)
        variables = self.variables - own if hides else self.variables
        listed = (self.listed | _in_namelists(unit.specification)) & variables
        arrays = (self.arrays - own - given) | _arrays(unit)
        return _Scope(variables, listed, self.given | given | own, arrays)

    def narrowed(self, variables: frozenset[str] | None) -> _Scope:
        """Return the scope restricted to these variables; None means that all may change."""
        return self if variables is None else replace(self, variables=self.variables & variables)


def _is_pure_unit(unit: Routine) -> bool:
    """Return whether the prefix of a procedure declares it pure."""
    words = _BEFORE_NAME.split(unit.opening, maxsplit=1)[0]
    return unit.kind in _PROCEDURES and _PURE.match(words) is not None


def _declared(unit: Routine) -> frozenset[str]:
    """Return the keys of the names that a procedure declares or imports."""
    found = {*unit.dummies, unit.result} - {""}
    for item in unit.specification:
        if isinstance(item, DeclarationStatement):
            found.update(one.name for one in item.declares)
        elif isinstance(item, UseStatement):
            found.update(one.local for one in item.use.names)
    return keys_of(found)


def _in_namelists(items: tuple[SpecificationItem, ...]) -> frozenset[str]:
    found = (item for item in items if isinstance(item, un.Opaque) and "namelist" in item.names)
    return frozenset[str]().union(*(item.names for item in found))


class _Updates:
    """Inserts updates of device copies into blocks of statements."""

    def __init__(self, scope: _Scope) -> None:
        self._scope = scope
        self._variables = scope.variables

    def of(self, block: tuple[un.Line, ...]) -> tuple[un.Line, ...]:
        """Return `block` with an update after each statement that may change a variable."""
        return tuple(line for old in block for line in self._with_update(old))

    def may_need(self, line: un.Line) -> bool:
        """Return whether a nested statement may need device values or leave the construct."""
        return any(map(self._may_need, walk_lines((line,))))

    def _with_update(self, line: un.Line) -> Iterator[un.Line]:
        goes_in = blocks_of(line) and not _is_one_line(line) and not isinstance(line, _AT_ONCE)
        inside = goes_in and self.may_need(line)
        if not inside or isinstance(line, _NAMES_ANEW):
            changed = self._changed_in(line)
            yield self._with_each_leaver(line, changed) if inside and changed else line
        else:
            # A head may change something, as a loop its counter, before what is inside needs it.
            changed = self.changed_by(line)
            first = (_update(changed),) if changed else ()
            yield with_each_block(line, lambda block: (*first, *self.of(block)) if block else ())
        if changed:
            yield _update(changed)

    def _with_each_leaver(self, line: un.Line, variables: frozenset[str]) -> un.Line:
        """Return a construct with updates before statements that may need values or leave it."""

        def changed(block: tuple[un.Line, ...]) -> tuple[un.Line, ...]:
            found: list[un.Line] = []
            for old in block:
                whole = _is_one_line(old) or isinstance(old, _AT_ONCE)
                here = self.may_need(old) if whole else self._may_need(old)
                first = (_update(variables),) if here else ()
                found += (*first, old if whole else with_each_block(old, changed))
            return tuple(found)

        return with_each_block(line, changed)

    def _may_need(self, line: un.Line) -> bool:
        """Return whether a statement may jump, or call a procedure that needs device values."""
        parts = (part for expr in expressions_of(line) for part in ex.walk(expr))
        return isinstance(line, _LEAVERS) or any(map(self._may_call, parts))

    def _may_call(self, part: ex.Expr) -> bool:
        """Return whether an expression may call a function that is not intrinsic."""
        if not isinstance(part, ex.Index) or any(isinstance(item, ex.Range) for item in part.items):
            return False
        known = self._scope.arrays | (PURE - self._scope.given)
        return not (isinstance(part.base, ex.Name) and part.base.key in known)

    def _changed_in(self, line: un.Line) -> frozenset[str]:
        return frozenset[str]().union(*(self.changed_by(one) for one in walk_lines((line,))))

    def changed_by(self, line: un.Line) -> frozenset[str]:
        """Return the variables that `line` may change, without nested statements."""
        match line:
            case un.Assign(target, value) | un.PointerAssign(target, value):
                found = {base_of(target)} | self._passed_in(value) | self._passed_in(target)
            case un.Do():
                found = {line.variable.key}.union(*map(self._passed_in, expressions_of(line)))
            case un.If() | un.Where():
                found = set[str]().union(*map(self._passed_in, expressions_of(line)))
            case un.DirectiveLine():
                found = set()
            case _:
                found = set(names_of_line(line))
                if _reads_namelists(line):
                    found |= self._scope.listed
        return frozenset(found & self._variables)

    def _passed_in(self, expr: ex.Expr) -> set[str]:
        """Return the variables passed to functions in `expr`."""
        found: set[str] = set()
        for part in ex.walk(expr):
            if isinstance(part, ex.Index) and self._may_call(part):
                found.update(*(names_in(item) for item in part.items))
        return found & self._variables


def _update(variables: frozenset[str]) -> un.DirectiveLine:
    return un.DirectiveLine(f"acc update device({', '.join(sorted(variables))})")


def _reads_namelists(line: un.Line) -> bool:
    """Return whether a statement may read a namelist."""
    return getattr(line, "word", "") == "read" or isinstance(line, un.Opaque)


def _is_one_line(line: un.Line) -> bool:
    """Return whether an `if` or `where` is a single-line statement."""
    extent = getattr(line, "extent", None)
    if not isinstance(line, un.If | un.Where) or extent is None:
        return False
    return _END_OF_IF.search(extent.text) is None
