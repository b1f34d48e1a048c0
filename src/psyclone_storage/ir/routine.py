"""The routines of a Fortran file, and kernels transformed by steps.

One record represents procedures, programs and modules, both of whole files and of kernels, which
are read on demand. Statements are those of `ir.unit`; unsupported statements are `Opaque`. Steps
that must understand a statement reject opaque ones. All records have source positions, so that
unchanged code can be printed as written.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property

from psyclone_storage.base.memo import kept_lately
from psyclone_storage.base.records import dataclass, field, replace
from psyclone_storage.base.regex import regex
from psyclone_storage.base.source import SourceText, Span
from psyclone_storage.ir.expr import Element, Expr, Origin, Sort, Symbol
from psyclone_storage.ir.interface import LayerBound
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
    """A declaration of one or more variables of the same type."""

    declares: tuple[Declare, ...]
    place: Span | None = field(default=None, compare=False, repr=False, kw_only=True)


Between = Comment | Blank | DirectiveLine | Include | Opaque
"""The text between units, and between statements of a specification part."""

SpecificationItem = UseStatement | DeclarationStatement | Between


def uses_in(items: Iterable[SpecificationItem]) -> tuple[Use, ...]:
    """Return the `use` statements of a specification part."""
    return tuple(item.use for item in items if isinstance(item, UseStatement))


def declarations_in(items: Iterable[SpecificationItem]) -> tuple[Specified, ...]:
    """Return the items of a specification part in order, without imports and directives."""
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


# Versions of a routine with other statements share the specification part.
_uses_of = kept_lately(uses_in)
_declarations_of = kept_lately(declarations_in)
_directives_of = kept_lately(directives_in)
_known_symbols_of: Callable[..., dict[str, Symbol]] = kept_lately(lambda *_: {})


def in_order(items: Sequence[SpecificationItem]) -> tuple[SpecificationItem, ...]:
    """Return a specification part with one declaration per variable and the imports first."""
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
    """A derived type by its lower-case name, with all components, including inherited ones.

    `module` is the defining module in lower case, empty for a name local to a routine.
    """

    name: str
    components: tuple[Declare, ...]
    module: str = ""


@dataclass(frozen=True)
class KernelModule(Named):
    """The module that contains a kernel's subroutine.

    - `place`: its text, including preceding text of the file outside other modules.
    - `routine`: position of the subroutine, from its first statement to its `end`.
    - `uses`: imports of the module. `declarations`: its specification part, in order.
    - `procedures`: all procedures of the module. `generics`: its interface names, in lower case.
    - `constants`: lower-case names imported by the module or subroutine that are known constants.
    - `variables`: variables of other modules that the subroutine uses, if known.
    - `unresolved`: lower-case names used without a known declaration.
    - `symbols`: symbol table of the subroutine as read.
    - `on_device`: keys of module procedures and variables that OpenACC directives place on a
      device.
    - `known`: those procedures with their arguments.
    - `context`: looks up names of other modules, or None.

    A Python module (`is_python`) lists no procedures. The module variables that its kernel reads
    are arguments of the generated function; their values are read when an invoke runs.
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
        """Return the symbol of the module variable or constant with this key, or None."""
        item = self.declared.get(key)
        return None if item is None else declared_symbol(item, Origin.HOST)

    def structure(self, type_: DerivedType) -> Symbol | None:
        """Return the definition of a derived type declared in the module, or None."""
        for one in self.structures:
            if (one.module, one.name) == (type_.module or "", type_.name):
                parts = tuple(declared_symbol(item, Origin.HOST) for item in one.components)
                return Symbol(one.name, one.name, Origin.HOST, Sort.TYPE, module=one.module,
                              components=parts)  # fmt: skip
        return None

    @property
    def source(self) -> SourceText:
        """The source file of the module."""
        return self.place.source

    @cached_property
    def passed_variables(self) -> frozenset[str]:
        """The keys of the Python module variables that the kernel reads; empty for Fortran."""
        if not self.is_python:
            return frozenset()
        variables = (
            key for key, one in self.symbols.symbols.items() if one.origin is not Origin.INTRINSIC
        )
        return frozenset(self.declared) | frozenset(variables)

    @cached_property
    def declared(self) -> Mapping[str, Declare]:
        """The declarations of the module by lower-case name."""
        return _by_name(self.declarations)


_NOWHERE = SourceText("", "").whole()
_NO_MODULE = KernelModule("", _NOWHERE, _NOWHERE)


@dataclass(frozen=True, slots=True)
class LiftedValue:
    """A value that is precomputed for each point; statements refer to it as `name`.

    If it depends only on the array element `cached_by`, generated code computes it again only where
    that element has changed since the last invoke.
    """

    name: str
    type: ScalarType
    value: Expr
    cached_by: Element | None = None


@dataclass(frozen=True, slots=True)
class HotPath:
    """The control-flow path through a kernel on which most of the work is done.

    A point takes it if all `conditions` hold; each is evaluated only if the previous ones hold.
    `body` contains the statements without branches; they use the precomputed values `lifted`. Up to
    `strip` consecutive points that take this path form one loop.
    """

    conditions: tuple[Expr, ...]
    body: tuple[Line, ...]
    lifted: tuple[LiftedValue, ...]
    strip: int


@dataclass(frozen=True, slots=True)
class PlacedProcedure:
    """An inlined module procedure, by the keys of module and procedure.

    `in_loop` is true if one of its calls is in a loop, possibly of an intermediate procedure.
    """

    module: str
    name: str
    in_loop: bool


CallsThatStay = tuple[tuple[Span | None, str], ...]
"""Calls that no statements take the place of, by their places, and why."""


@dataclass(frozen=True, slots=True)
class KernelUse:
    """The form of a kernel in generated code, as chosen by steps.

    - `inlined`: the kernel becomes a procedure of the generated module.
    - `in_place`: the kernel's statements replace its call.
    - `helpers`: procedures of its module that it may call, directly or indirectly.
    - `columns`: stencil sizes for which specialised code was generated.
    - `hot_path`: the path that the enclosing loop runs without branches where possible.
    - `constants`: keys of constants with the keys of the dummies whose values they are asserted to
      have.
    - `original`: the kernel before its loops over layers were rewritten. It has the same arguments
      and accesses; a kernel that runs the loop over columns receives the last column in addition.
    - `layer_bounds`: what the kernel as written requires of the layers of its arguments. The proofs
      of its indices rely on it.
    - `placed`: inlined procedures. `left`: calls that remain.
    """

    inlined: bool = False
    in_place: bool = False
    helpers: tuple[Routine, ...] = ()
    columns: tuple[tuple[int, ...], ...] = ()
    hot_path: HotPath | None = None
    constants: tuple[tuple[str, str], ...] = ()
    original: Routine | None = None
    layer_bounds: tuple[LayerBound, ...] | None = None
    placed: tuple[PlacedProcedure, ...] = ()
    left: CallsThatStay = field(default=(), compare=False, repr=False)


_AS_WRITTEN = KernelUse()


@dataclass(frozen=True)
class Routine(Named):
    """A procedure, program or module.

    - `prefix`: text before `subroutine` or `function`, such as `pure`. `suffix`: text after the
      arguments, such as `bind(c)`. `opening`: the first statement in one line, or empty.
    - `dummies`: names of the arguments, in order. `result`: name of a function's result.
    - `specification`: imports, declarations and directives, in order.
    - `contained`: procedures after `contains`, with the text between them.
    - `module`: the enclosing module.
    - `place`, `specified`, `contains`, `end`, `extent`: positions of the first statement, the
      specification part, the `contains` and `end` statements, and the whole routine.
    - `kernel_use`: result of steps on a kernel. `whole`: the routine, if this is a part of it.
    - `copies`: texts of procedures for its module, which it calls.
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
    copies: tuple[Opaque, ...] = ()
    whole: Routine | None = field(default=None, compare=False, repr=False, kw_only=True)
    place: Span | None = field(default=None, compare=False, repr=False, kw_only=True)
    specified: Span | None = field(default=None, compare=False, repr=False, kw_only=True)
    contains: Span | None = field(default=None, compare=False, repr=False, kw_only=True)
    end: Span | None = field(default=None, compare=False, repr=False, kw_only=True)
    extent: Span | None = field(default=None, compare=False, repr=False, kw_only=True)

    @cached_property
    def uses(self) -> tuple[Use, ...]:
        """The imports of the routine itself, without those of its module."""
        return _uses_of(self.specification)

    @cached_property
    def declarations(self) -> tuple[Specified, ...]:
        """The specification part in order, without imports and directives."""
        return _declarations_of(self.specification)

    @cached_property
    def directives(self) -> tuple[DirectiveLine, ...]:
        """The directives of the specification part, such as `acc routine seq`."""
        return _directives_of(self.specification)

    def with_specification(
        self,
        *,
        uses: Iterable[Use] | None = None,
        declarations: Iterable[Specified] | None = None,
        directives: Iterable[DirectiveLine] | None = None,
    ) -> Routine:
        """Return the routine with other imports, declarations or directives; None keeps them."""
        items = specification_of(
            self.uses if uses is None else uses,
            self.declarations if declarations is None else declarations,
            self.directives if directives is None else directives,
        )
        return replace(self, specification=items)

    @cached_property
    def procedures(self) -> tuple[Routine, ...]:
        """The contained procedures."""
        return tuple(item for item in self.contained if isinstance(item, Routine))

    @cached_property
    def internal(self) -> Opaque | None:
        """The text of all contained procedures with its names, or None."""
        return _text_of(self.contained) if self.contained else None

    @cached_property
    def mentioned_names(self) -> frozenset[str]:
        """The keys of all names in the routine, including those that it declares or imports."""
        own = {self.key, key_of(self.result), *self.dummy_keys} - {""}
        imported = {name.key for use in self.uses for name in use.names}
        return self.used_names | own | imported | self._declared.keys()

    def declared(self, name: str) -> Declare | None:
        """Return the declaration of `name` (in any case), or None."""
        return self._declared.get(key_of(name))

    @cached_property
    def _declared(self) -> Mapping[str, Declare]:
        return _by_name(self.declarations)

    @cached_property
    def used_names(self) -> frozenset[str]:
        """The keys of all names used, without components and keywords."""
        found = self.used_values | self.used_kinds
        types = (item.type for item in self.declarations if isinstance(item, Declare))
        return found | {kind.name for kind in types if isinstance(kind, DerivedType)}

    @cached_property
    def used_values(self) -> frozenset[str]:
        """The keys of the names that denote values or procedures."""
        inside = frozenset[str]() if self.internal is None else self.internal.names
        return values_in(self.declarations, self.body, inside)

    @cached_property
    def used_kinds(self) -> frozenset[str]:
        """The keys of the names used as kind parameters of types or literals.

        These names always denote constants.
        """
        return kinds_in(self.declarations, self.body)

    @cached_property
    def dummy_keys(self) -> tuple[str, ...]:
        """The keys of its arguments, in order."""
        return tuple(map(key_of, self.dummies))

    @cached_property
    def _dummies(self) -> frozenset[str]:
        return frozenset(self.dummy_keys)

    def symbol(self, name: str) -> Symbol:
        """Return the symbol of `name` (in any case) as seen in the routine."""
        known = self._known_symbols
        return known.get(name) or known.setdefault(name, self._symbol(name))

    @cached_property
    def _known_symbols(self) -> dict[str, Symbol]:
        return _known_symbols_of(self.specification, self.dummies, self.module)

    def _symbol(self, name: str) -> Symbol:
        key = key_of(name)
        if key in self.module.symbols.doubt:
            return Symbol(key, name, Origin.UNRESOLVED)
        origin = Origin.DUMMY if key in self._dummies else Origin.LOCAL
        if (own := self.declared(key)) is not None:
            return declared_symbol(own, origin)
        found = self.module.symbols.symbols.get(key) or self.module.symbol(key)
        if found is None and key in PROCEDURES:
            return Symbol(key, key, Origin.INTRINSIC, Sort.PROCEDURE)
        return found or Symbol(key, name, Origin.UNRESOLVED)

    def structure(self, type_: DerivedType) -> Symbol | None:
        """Return the definition of a derived type, or None if it was not found."""
        found = self.module.symbols.structures.get((type_.module or "", type_.name))
        if found is None and (type_.module or self.module.key) == self.module.key:
            own = self.symbol(type_.name)
            found = own if own.sort is Sort.TYPE else None
        return found or self.module.structure(type_)

    def place_of(self, name: str) -> Span:
        """Return the first position of `name` in the subroutine; the whole subroutine if absent."""
        routine = self.module.routine
        found = re.search(rf"\b{re.escape(name)}\b", routine.text, re.IGNORECASE)
        if found is None:
            return routine
        return Span(routine.source, routine.start + found.start(), routine.start + found.end())


@dataclass(frozen=True, slots=True)
class Callee:
    """A procedure that other code calls; `result` is the name of a function result."""

    code: Routine
    result: str = ""


@dataclass(frozen=True, slots=True)
class ProcedureCopy:
    """The text of a procedure for another module.

    `opening` is its first statement before and after its name, `uses` are the imports to be added,
    and `inside` is the text before the last statement.
    """

    name: str
    opening: tuple[str, str]
    uses: tuple[str, ...]
    inside: str
    kind: str

    def text(self, name: str, indent: str) -> str:
        """Return the text of the procedure with a new name, whose statements are indented."""
        before, after = self.opening
        uses = "".join(f"\n{indent}  {line}" for line in self.uses)
        return f"{before}{name}{after}{uses}{self.inside}end {self.kind} {name}"


Lookup = Callable[[str, str], Symbol | None]
"""The symbol of a name of a module, both in lower case; None where neither is known."""


@dataclass(frozen=True, slots=True)
class ModuleContext:
    """Symbols and procedures of other modules.

    `symbol` and `procedures` look them up by module and name; a generic interface may return
    several procedures. With `bounds_checks`, generated code checks each array index. `is_hidden`
    returns whether a name is inaccessible to other modules or unknown; `imported` returns the
    symbol that imports give a name. Both are None unless the generated code is Fortran. `inlined`
    caches procedures with inlined calls by the identity of the original. `threaded_call` returns
    the first call of procedures of the module, by their names, in a routine of another file that
    has directives, also through other procedures. `copied` returns the copy of a procedure, by its
    module and name, for another module, or the reason against a copy. `effects` returns the record
    of a procedure that certainly changes only its arguments, None for others. It takes the symbol
    of its name, which may be generic, and the imports visible at the call. `declared` returns that
    of a procedure that is promised to be pure.
    """

    symbol: Lookup
    procedures: Callable[[str, str], tuple[Callee, ...]]
    bounds_checks: bool = False
    is_hidden: Callable[[str, str], bool] | None = None
    imported: Callable[[Iterable[Use], str], Symbol | None] | None = None
    inlined: dict[int, tuple[Routine, InlinedCode]] = field(default_factory=dict, compare=False)
    threaded_call: Callable[[str, Iterable[str]], Span | None] | None = None
    copied: Callable[[str, str, str], ProcedureCopy | str] | None = None
    effects: Callable[[Symbol, Iterable[Use]], Procedure | None] | None = None
    declared: Callable[[Symbol, Iterable[Use]], Procedure | None] | None = None


@dataclass(frozen=True, slots=True)
class InlinedCode:
    """A subroutine with inlined calls; `remaining` are the others, with positions and reasons."""

    code: Routine
    remaining: CallsThatStay = ()


@kept_lately
@kept_lately
def _text_of(contained: tuple[Routine | Between, ...]) -> Opaque | None:
    """Return the text of contained procedures with its names, None without any."""
    extents = [
        place
        for item in contained
        if not isinstance(item, Comment | Blank | DirectiveLine)
        if (place := item.extent if isinstance(item, Routine) else item.place) is not None
    ]
    texts = [item for item in contained if isinstance(item, Opaque)]
    if not extents:
        return texts[0] if texts else None
    place = Span(extents[0].source, extents[0].start, extents[-1].stop)
    names = frozenset[str]().union(*(item.names for item in texts))
    procedures = (item for item in contained if isinstance(item, Routine))
    names = names.union(*(item.mentioned_names for item in procedures))
    return Opaque(place.text.replace("\r\n", "\n"), names, place=place)


@kept_lately
def _by_name(items: tuple[Specified, ...]) -> Mapping[str, Declare]:
    """Return the declarations in `items` by lower-case name; for duplicates, the first."""
    declared = (item for item in reversed(items) if isinstance(item, Declare))
    return {item.key: item for item in declared}


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A source file: its text and its program units, with the text between them.

    `statements` are the start and end offsets of each statement, in order. A label belongs to its
    statement.
    """

    source: SourceText = field(repr=False, compare=False)
    units: tuple[Routine | Between, ...] = ()
    statements: tuple[tuple[int, int], ...] = field(default=(), repr=False, compare=False)

    def every_unit(self) -> Iterator[Routine]:
        """Yield all program units and contained procedures, outer ones first."""
        yield from (unit for _, unit in _with_outer(self.units, None))

    def routines(self) -> dict[str, Routine]:
        """Return the procedures and main programs by lower-case name.

        A name that occurs several times is qualified with the enclosing unit. An unnamed main
        program is `main`.
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
        """Return the file with `change` applied to each unit, inner ones first."""
        return replace(self, units=_changed(self.units, change))


_ROUTINES = (ScopeKind.PROGRAM, ScopeKind.SUBROUTINE, ScopeKind.FUNCTION, ScopeKind.SEPARATE)


def _with_outer(
    units: tuple[Routine | Between, ...], outer: Routine | None
) -> Iterator[tuple[Routine | None, Routine]]:
    """Yield each unit and contained procedure together with its enclosing unit."""
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
