"""The routines of a Fortran file, as their author wrote them, and kernels changed by steps.

One record serves all units: procedures, programs and modules, of whole files and of kernels, which
are read on demand. Statements are those of `ir.unit`; a statement without a class is `Opaque`. A
step that must understand a statement refuses an opaque one; other steps leave it in place.
Everything has its place in the file, so that unchanged code can be printed as it was written.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property

from psyclone_storage.base.records import dataclass, field, replace
from psyclone_storage.base.regex import regex
from psyclone_storage.base.source import SourceText, Span
from psyclone_storage.ir.expr import Expr, Origin, Sort, Symbol
from psyclone_storage.ir.intrinsics import PROCEDURES
from psyclone_storage.ir.keys import (
    Named,
    key_of,
)
from psyclone_storage.ir.parsed import ScopeKind
from psyclone_storage.ir.symbols import Procedure, SymbolTable, declared_symbol
from psyclone_storage.ir.types import DerivedType, ScalarType
from psyclone_storage.ir.unit import (
    Blank,
    Comment,
    Declare,
    DirectiveLine,
    Include,
    Line,
    Opaque,
    Use,
)
from psyclone_storage.ir.used import kinds_in, values_in

STATEMENT_FUNCTION = regex(
    r"(?P<name>[a-z]\w*)\s*\((?P<dummies>[\w\s,]*)\)\s*=(?![=>])", re.IGNORECASE
)
"""The head of a statement function, or of an assignment to an element: declarations tell which."""

Specified = Declare | Comment | Blank | Opaque
"""The items of a specification part, except imports and directives."""


@dataclass(frozen=True, slots=True)
class UseStatement:
    """A `use` statement."""

    use: Use
    place: Span | None = field(default=None, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class DeclarationStatement:
    """A statement that declares one variable or several of one type."""

    declares: tuple[Declare, ...]
    place: Span | None = field(default=None, compare=False, repr=False, kw_only=True)


Between = Comment | Blank | DirectiveLine | Include | Opaque
"""The text between units, and between statements of a specification part."""

SpecificationItem = UseStatement | DeclarationStatement | Between


def uses_in(items: Iterable[SpecificationItem]) -> tuple[Use, ...]:
    """Return the imports of a specification part."""
    return tuple(item.use for item in items if isinstance(item, UseStatement))


def declarations_in(items: Iterable[SpecificationItem]) -> tuple[Specified, ...]:
    """Return a specification part in order, without its imports and directives."""
    found: list[Specified] = []
    for item in items:
        match item:
            case DeclarationStatement(declares):
                found += declares
            case Comment() | Blank() | Opaque():
                found.append(item)
    return tuple(found)


def directives_in(items: Iterable[SpecificationItem]) -> tuple[DirectiveLine, ...]:
    """Return the directives of a specification part."""
    return tuple(item for item in items if isinstance(item, DirectiveLine))


def in_order(items: Sequence[SpecificationItem]) -> tuple[SpecificationItem, ...]:
    """Return a specification part with a statement for each variable, imports first."""
    return specification_of(uses_in(items), declarations_in(items), directives_in(items))


def specification_of(
    uses: Iterable[Use], declarations: Iterable[Specified], directives: Iterable[DirectiveLine] = ()
) -> tuple[SpecificationItem, ...]:
    """Return the specification part with these imports, declarations and directives."""
    stated = (
        DeclarationStatement((item,)) if isinstance(item, Declare) else item
        for item in declarations
    )
    return (*map(UseStatement, uses), *stated, *directives)


@dataclass(frozen=True, slots=True)
class Structure:
    """A derived type by its name, in lower case, with all components, inherited ones included.

    `module` is the module that defines it, in lower case; nothing for the name by which a routine
    knows it.
    """

    name: str
    components: tuple[Declare, ...]
    module: str = ""


@dataclass(frozen=True)
class KernelModule(Named):
    """The module around a kernel's subroutine, as its author wrote it.

    `place` is its text, with the text before it in the file that belongs to no other module.
    `routine` is the place of the subroutine, from its opening statement to its end. `uses` are the
    module's own. `declarations` are its specification part in order, the rest of it opaque;
    `procedures` are all procedures in it, the subroutine among them, and `generics` the names, in
    lower case, of its interfaces. `constants` are, in lower case, the names that the module and the
    subroutine import, or take from modules as a whole, and that are known to be constants.
    `variables` are those of other modules that the subroutine uses, as far as they are known, and
    `unresolved` the names, in lower case, that it uses and that are not resolved.
    `symbols` is what is known of the names in the subroutine as it was read. `on_device` are the
    procedures and variables of modules, by their keys in the subroutine, that OpenACC's directives
    in those modules put on a device, and `known` are those procedures with their arguments.
    `context` looks up names and procedures of other modules; None where none is looked up.

    A module that `is_python` lists no procedures. The variables that a kernel in it reads are
    arguments of the generated function, whatever step changes the kernel: they are read from their
    modules when an invoke runs.
    """

    name: str
    place: Span = field(repr=False)
    routine: Span = field(repr=False)
    uses: tuple[Use, ...] = ()
    declarations: tuple[Specified, ...] = ()
    procedures: tuple[Procedure, ...] = ()
    generics: frozenset[str] = frozenset()
    constants: frozenset[str] = frozenset()
    variables: tuple[Symbol, ...] = ()
    unresolved: frozenset[str] = frozenset()
    structures: tuple[Structure, ...] = ()
    symbols: SymbolTable = field(default_factory=SymbolTable, compare=False, repr=False)
    on_device: frozenset[str] = frozenset()
    known: tuple[Procedure, ...] = ()
    context: ModuleContext | None = field(default=None, compare=False, repr=False)
    is_python: bool = False

    def symbol(self, key: str) -> Symbol | None:
        """Return the variable or constant of the module with this key, None without one."""
        item = self.declared.get(key)
        return None if item is None else declared_symbol(item, Origin.HOST)

    def structure(self, type_: DerivedType) -> Symbol | None:
        """Return the definition of a derived type that the module knows, None if it does not."""
        for one in self.structures:
            if (one.module, one.name) == (type_.module or "", type_.name):
                parts = tuple(declared_symbol(item, Origin.HOST) for item in one.components)
                return Symbol(one.name, one.name, Origin.HOST, Sort.TYPE, module=one.module,
                              components=parts)  # fmt: skip
        return None

    @property
    def source(self) -> SourceText:
        """The file that the module is in."""
        return self.place.source

    @cached_property
    def passed_variables(self) -> frozenset[str]:
        """The keys of the variables of Python modules that the kernel reads, none in Fortran."""
        if not self.is_python:
            return frozenset()
        variables = (
            key for key, one in self.symbols.symbols.items() if one.origin is not Origin.INTRINSIC
        )
        return frozenset(self.declared) | frozenset(variables)

    @cached_property
    def declared(self) -> Mapping[str, Declare]:
        """The declarations of the module's specification part by their names in lower case."""
        return _by_name(self.declarations)


_NOWHERE = SourceText("", "").whole()
_NO_MODULE = KernelModule("", _NOWHERE, _NOWHERE)


@dataclass(frozen=True, slots=True)
class LiftedValue:
    """A value that is computed ahead for each point and is called `name` in statements."""

    name: str
    type: ScalarType
    value: Expr


@dataclass(frozen=True, slots=True)
class HotPath:
    """The control-flow path through a kernel for a point on which most of its work is done.

    A point takes it if all `conditions` hold; each is evaluated only if those before it hold.
    `body` has the statements of the path without branches, in which `lifted` are known. At most
    `strip` consecutive points that take this path have a loop of their own.
    """

    conditions: tuple[Expr, ...]
    body: tuple[Line, ...]
    lifted: tuple[LiftedValue, ...]
    strip: int


@dataclass(frozen=True, slots=True)
class PlacedProcedure:
    """An inlined procedure of a module; keys of both.

    `in_loop` is true if one of its calls is in a loop, perhaps of a procedure in between.
    """

    module: str
    name: str
    in_loop: bool


CallsThatStay = tuple[tuple[Span | None, str], ...]
"""Calls that no statements take the place of, by their places, and why."""


@dataclass(frozen=True, slots=True)
class KernelUse:
    """The form of a kernel in generated code, which steps choose.

    A kernel that is `inlined` needs nothing of the module around it and becomes a procedure of the
    module that calls it. One that is `in_place` is inlined: its statements replace its call.
    `helpers` are the procedures of its module that it may call, directly or not. `columns` are the
    numbers of columns in its stencils for which a step has given it statements of their own.
    `hot_path` is the path through the statements that a loop around them takes without branches if
    possible. `placed` are the inlined procedures, `left` the calls that remain.
    """

    inlined: bool = False
    in_place: bool = False
    helpers: tuple[Routine, ...] = ()
    columns: tuple[tuple[int, ...], ...] = ()
    hot_path: HotPath | None = None
    placed: tuple[PlacedProcedure, ...] = ()
    left: CallsThatStay = field(default=(), compare=False, repr=False)


_AS_WRITTEN = KernelUse()


@dataclass(frozen=True)
class Routine(Named):
    """A procedure, a program or a module: a program unit or what it contains.

    `prefix` is the text before the word `subroutine` or `function`, such as `pure`, `suffix` the
    text after the arguments, such as `bind(c)`, and `opening` the first statement as written, in
    one line; a main program may have none. `dummies` are the names of the arguments, in order,
    `result` is that of a function's result. `specification` has the imports, declarations and
    directives in order, `contained` the procedures after `contains` with the text between them.
    `module` describes the surroundings. `place` is that of the opening, `specified` that of the
    specification part, `contains` and `end` those of these statements, `extent` that of all of it.
    `kernel_use` is the result of steps on a kernel.
    """

    name: str
    dummies: tuple[str, ...] = ()
    specification: tuple[SpecificationItem, ...] = ()
    body: tuple[Line, ...] = ()
    module: KernelModule = _NO_MODULE
    kind: ScopeKind = ScopeKind.SUBROUTINE
    prefix: str = ""
    suffix: str = ""
    opening: str = field(default="", compare=False)
    result: str = ""
    contained: tuple[Routine | Between, ...] = ()
    kernel_use: KernelUse = _AS_WRITTEN
    place: Span | None = field(default=None, compare=False, repr=False, kw_only=True)
    specified: Span | None = field(default=None, compare=False, repr=False, kw_only=True)
    contains: Span | None = field(default=None, compare=False, repr=False, kw_only=True)
    end: Span | None = field(default=None, compare=False, repr=False, kw_only=True)
    extent: Span | None = field(default=None, compare=False, repr=False, kw_only=True)

    @cached_property
    def uses(self) -> tuple[Use, ...]:
        """Its imports, not those of the module around it."""
        return uses_in(self.specification)

    @cached_property
    def declarations(self) -> tuple[Specified, ...]:
        """Its specification part in order, without imports and directives."""
        return declarations_in(self.specification)

    @cached_property
    def directives(self) -> tuple[DirectiveLine, ...]:
        """The directives of its specification part, such as `acc routine seq`."""
        return directives_in(self.specification)

    def with_specification(
        self,
        *,
        uses: Iterable[Use] | None = None,
        declarations: Iterable[Specified] | None = None,
        directives: Iterable[DirectiveLine] | None = None,
    ) -> Routine:
        """Return the routine with other imports, declarations or directives."""
        items = specification_of(
            self.uses if uses is None else uses,
            self.declarations if declarations is None else declarations,
            self.directives if directives is None else directives,
        )
        return replace(self, specification=items)

    @cached_property
    def procedures(self) -> tuple[Routine, ...]:
        """The procedures that it contains."""
        return tuple(item for item in self.contained if isinstance(item, Routine))

    @cached_property
    def internal(self) -> Opaque | None:
        """The text of the procedures that it contains, with all names in them; None without any."""
        extents = [
            place
            for item in self.contained
            if not isinstance(item, Comment | Blank | DirectiveLine)
            if (place := item.extent if isinstance(item, Routine) else item.place) is not None
        ]
        texts = [item for item in self.contained if isinstance(item, Opaque)]
        if not extents:
            return texts[0] if texts else None
        place = Span(extents[0].source, extents[0].start, extents[-1].stop)
        names = frozenset[str]().union(*(item.names for item in texts))
        names = names.union(*(item.mentioned_names for item in self.procedures))
        return Opaque(place.text.replace("\r\n", "\n"), names, place=place)

    @cached_property
    def mentioned_names(self) -> frozenset[str]:
        """All names in it, in lower case, those that it declares or imports included."""
        own = {self.key, key_of(self.result), *self.dummy_keys} - {""}
        imported = {name.key for use in self.uses for name in use.names}
        return self.used_names | own | imported | self._declared.keys()

    def declared(self, name: str) -> Declare | None:
        """Return the declaration of `name`, whatever its case, or None."""
        return self._declared.get(key_of(name))

    @cached_property
    def _declared(self) -> Mapping[str, Declare]:
        return _by_name(self.declarations)

    @cached_property
    def used_names(self) -> frozenset[str]:
        """All names in it, in lower case, but those of components and keywords."""
        found = self.used_values | self.used_kinds
        types = (item.type for item in self.declarations if isinstance(item, Declare))
        return found | {kind.name for kind in types if isinstance(kind, DerivedType)}

    @cached_property
    def used_values(self) -> frozenset[str]:
        """The names in it that denote values or procedures, in lower case."""
        inside = frozenset[str]() if self.internal is None else self.internal.names
        return values_in(self.declarations, self.body, inside)

    @cached_property
    def used_kinds(self) -> frozenset[str]:
        """The names that give the kind of a type or of a literal, in lower case.

        They are constants wherever they come from.
        """
        return kinds_in(self.declarations, self.body)

    @cached_property
    def dummy_keys(self) -> tuple[str, ...]:
        """The keys of its arguments, in order."""
        return tuple(map(key_of, self.dummies))

    def symbol(self, name: str) -> Symbol:
        """Return the symbol of `name` in the subroutine, in any case."""
        key = key_of(name)
        if key in self.module.symbols.doubt:
            return Symbol(key, name, Origin.UNRESOLVED)
        origin = Origin.DUMMY if key in self.dummy_keys else Origin.LOCAL
        if (own := self.declared(key)) is not None:
            return declared_symbol(own, origin)
        found = self.module.symbols.symbols.get(key) or self.module.symbol(key)
        if found is None and key in PROCEDURES:
            return Symbol(key, key, Origin.INTRINSIC, Sort.PROCEDURE)
        return found or Symbol(key, name, Origin.UNRESOLVED)

    def structure(self, type_: DerivedType) -> Symbol | None:
        """Return the definition of a derived type, None if it was not found."""
        found = self.module.symbols.structures.get((type_.module or "", type_.name))
        if found is None and (type_.module or self.module.key) == self.module.key:
            own = self.symbol(type_.name)
            found = own if own.sort is Sort.TYPE else None
        return found or self.module.structure(type_)

    def place_of(self, name: str) -> Span:
        """Return the first place of `name` in the subroutine, all of it if it is not there."""
        routine = self.module.routine
        found = re.search(rf"\b{re.escape(name)}\b", routine.text, re.IGNORECASE)
        if found is None:
            return routine
        return Span(routine.source, routine.start + found.start(), routine.start + found.end())


@dataclass(frozen=True, slots=True)
class Callee:
    """A procedure that others call; `result` is the name of a function's result."""

    code: Routine
    result: str = ""


Lookup = Callable[[str, str], Symbol | None]
"""The symbol of a name of a module, both in lower case; None where neither is known."""


@dataclass(frozen=True, slots=True)
class ModuleContext:
    """The symbols of other modules, and their procedures by module and name.

    An interface may name several procedures. With `bounds_checks` each element of an array is
    checked. Code that is to be Fortran imports the names that it needs: `is_hidden` returns whether
    other modules have no access to a name, or that is unknown, and `imported` what imports give a
    name. Both are None for other languages. `inlined` caches procedures with their calls inlined,
    by the identity of the first.
    """

    symbol: Lookup
    procedures: Callable[[str, str], tuple[Callee, ...]]
    bounds_checks: bool = False
    is_hidden: Callable[[str, str], bool] | None = None
    imported: Callable[[Iterable[Use], str], Symbol | None] | None = None
    inlined: dict[int, tuple[Routine, InlinedCode]] = field(default_factory=dict, compare=False)


@dataclass(frozen=True, slots=True)
class InlinedCode:
    """A subroutine with its calls inlined, and the calls that remain, by their places, and why."""

    code: Routine
    remaining: CallsThatStay = ()


def _by_name(items: tuple[Specified, ...]) -> Mapping[str, Declare]:
    """Return the declarations among `items`, the first of each name, in lower case."""
    declared = (item for item in reversed(items) if isinstance(item, Declare))
    return {item.key: item for item in declared}


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file: its text, and its program units with the text between them.

    `statements` are the offsets of the first character and of the end of each statement, in the
    order of the text. The first character of a statement with a label is that of the label.
    """

    source: SourceText = field(repr=False, compare=False)
    units: tuple[Routine | Between, ...] = ()
    statements: tuple[tuple[int, int], ...] = field(default=(), repr=False, compare=False)

    def every_unit(self) -> Iterator[Routine]:
        """Yield all units and the procedures in them, outer ones first."""
        yield from (unit for _, unit in _with_outer(self.units, None))

    def routines(self) -> dict[str, Routine]:
        """Return the procedures and main programs by their names, in lower case.

        A name that several routines have is preceded by that of the unit around. A main program
        without a name is `main`.
        """
        found = [
            (unit, outer) for outer, unit in _with_outer(self.units, None) if unit.kind in _ROUTINES
        ]
        counts = Counter(unit.key for unit, _ in found)
        routines: dict[str, Routine] = {}
        for unit, outer in found:
            several = counts[unit.key] > 1 and outer is not None
            key = f"{outer.key}.{unit.key}" if several and outer else unit.key or "main"
            routines.setdefault(key, unit)
        return routines

    def changed(self, change: Callable[[Routine], Routine]) -> SourceFile:
        """Return the file with each unit as `change` makes it, inner ones first."""
        return replace(self, units=_changed(self.units, change))


_ROUTINES = (ScopeKind.PROGRAM, ScopeKind.SUBROUTINE, ScopeKind.FUNCTION, ScopeKind.SEPARATE)


def _with_outer(
    units: tuple[Routine | Between, ...], outer: Routine | None
) -> Iterator[tuple[Routine | None, Routine]]:
    """Yield each unit, and the procedures in it, with the one around it."""
    for unit in units:
        if isinstance(unit, Routine):
            yield outer, unit
            yield from _with_outer(unit.contained, unit)


def _changed(
    units: tuple[Routine | Between, ...], change: Callable[[Routine], Routine]
) -> tuple[Routine | Between, ...]:
    return tuple(
        change(replace(unit, contained=_changed(unit.contained, change)))
        if isinstance(unit, Routine)
        else unit
        for unit in units
    )
