"""Tree of the scopes in a file: program units, procedures, and constructs that declare names.

Each scope has its location, its statements and the declarations in its specification part. All
queries about the structure of a file use this tree. An interface block belongs to the enclosing
scope. Its declarations belong to no scope. All branches of preprocessor conditionals are read, so a
unit may seem to be started twice.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence

from psyclone_storage.base.diagnostic import Diagnostic
from psyclone_storage.base.records import dataclass, field, replace
from psyclone_storage.base.source import SourceText, Span
from psyclone_storage.ir import parsed
from psyclone_storage.ir.routine import KernelModule
from psyclone_storage.ir.types import DerivedType
from psyclone_storage.languages.fortran.parse.spec_statements import ProcedureHead, TypeDefinition
from psyclone_storage.languages.fortran.parse.statements import SourceStatement, scan

INDENT = 2
"""The indentation of statements in a scope that has none."""


@dataclass(slots=True)
class InterfaceBlock:
    """Interface block.

    - `name`: the generic name in lower case, or ''.

    - `procedures`: lower-case names of procedures declared elsewhere.

    - `bodies`: procedures declared in the block: the name as written, and `function` or
      `subroutine`.

    - `statements`: all statements except the first and last of the block.

    - `stop`: the end of the block in the file.
    """

    name: str
    opening: SourceStatement
    abstract: bool = False
    stop: int = -1
    statements: list[SourceStatement] = field(default_factory=list)
    procedures: list[str] = field(default_factory=list)
    bodies: list[tuple[str, str]] = field(default_factory=list)

    @property
    def names(self) -> tuple[str, ...]:
        """Lower-case names of all procedures in the block."""
        return (*self.procedures, *(name.lower() for name, _ in self.bodies))


@dataclass(slots=True, eq=False)
class ScopeNode:
    """Scope of a file, with its inner scopes.

    - `head`: the first statement of a subroutine or function.

    - `named`: the texts of enumerators and procedure declarations.

    - `untyped`: names in attribute statements such as `parameter`.

    - `module`: the cached declarations of a module for its procedures.

    - `has_contains`: true once a `contains` statement or a procedure was read.
    """

    kind: parsed.ScopeKind
    name: str
    opening: SourceStatement
    parent: ScopeNode | None
    file: FileScopes = field(repr=False)
    end_of_uses: int
    indent: int = -1
    stop: int = -1
    head: ProcedureHead | None = None
    children: list[ScopeNode] = field(default_factory=list)
    uses: list[parsed.ParsedUse] = field(default_factory=list)
    declarations: list[parsed.Declaration] = field(default_factory=list)
    associations: list[parsed.Association] = field(default_factory=list)
    definitions: list[TypeDefinition] = field(default_factory=list)
    implicit: str = ""
    others: set[str] = field(default_factory=set)
    untyped: set[str] = field(default_factory=set)
    included: list[str] = field(default_factory=list)
    generics: list[InterfaceBlock] = field(default_factory=list)
    named: list[str] = field(default_factory=list)
    has_contains: bool = False
    module: KernelModule | None = field(default=None, repr=False)
    _parsed: parsed.Scope | None = None

    @property
    def key(self) -> str:
        """Name in lower case."""
        return self.name.lower()

    @property
    def dummies(self) -> tuple[str, ...]:
        """Names of a procedure's dummy arguments, as written."""
        return () if self.head is None else self.head.dummies

    @property
    def result(self) -> str:
        """Name of a function's result, or '' for another scope."""
        return "" if self.head is None else self.head.result

    @property
    def is_procedure(self) -> bool:
        """True for a subroutine or a function."""
        return self.kind in (parsed.ScopeKind.SUBROUTINE, parsed.ScopeKind.FUNCTION)

    @property
    def procedures(self) -> list[ScopeNode]:
        """Subroutines and functions directly inside the scope."""
        return [scope for scope in self.children if scope.is_procedure]

    @property
    def place(self) -> Span:
        """Text from the first to the last statement."""
        return Span(self.opening.source, self.opening.offset(0), self.stop)

    @property
    def statements(self) -> Sequence[SourceStatement]:
        """All statements, including the first and the last one."""
        return self.file.statements_between(self.opening.offset(0), self.stop)

    def outwards(self) -> Iterator[ScopeNode]:
        """Yield the scope and its enclosing scopes, starting with the innermost."""
        inner: ScopeNode | None = self
        while inner is not None:
            yield inner
            inner = inner.parent

    def interface_blocks(self) -> Iterator[InterfaceBlock]:
        """Yield the interface blocks of the scope and of all inner scopes."""
        yield from self.generics
        for scope in self.children:
            yield from scope.interface_blocks()

    def innermost(self, offset: int) -> ScopeNode:
        """Return the innermost scope that contains the character at `offset`."""
        for scope in reversed(self.children):
            if scope.place.start < offset < scope.stop:
                return scope.innermost(offset)
        return self

    @property
    def parsed(self) -> parsed.Scope:
        """Declarations as a record; derived types include the modules that define them."""
        if self._parsed is None:
            self._parsed = _frozen(self)
        return self._parsed


Standing = tuple[SourceStatement, ScopeNode | None]
"""A statement that specifies nothing, with the scope that it stands in."""


class FileScopes:
    """Statements and scopes of a file, in source order.

    - `others`: statements outside the specification parts.

    - `problems`: diagnostics for text that could not be parsed.
    """

    __slots__ = ("others", "problems", "scopes", "source", "statements")

    def __init__(self, source: SourceText) -> None:
        self.source = source
        self.statements = tuple(scan(source))
        self.scopes: list[ScopeNode] = []
        self.others: list[Standing] = []
        self.problems: list[Diagnostic] = []

    @property
    def modules(self) -> list[ScopeNode]:
        """Modules of the file."""
        return [scope for scope in self.scopes if scope.kind is parsed.ScopeKind.MODULE]

    def statements_between(self, start: int, stop: int) -> Sequence[SourceStatement]:
        """Return the statements that start between two offsets."""
        first = bisect_left(self.statements, start, key=_begin)
        return self.statements[first : bisect_left(self.statements, stop, lo=first, key=_begin)]

    def structures(self) -> tuple[parsed.ParsedStructure, ...]:
        """Return the derived types of the file, including inherited components."""
        own = [(definition, scope) for scope in self.scopes for definition in scope.definitions]
        by_name: dict[str, list[_Definition]] = {}
        for one in own:
            by_name.setdefault(one[0].structure.name, []).append(one)
        return tuple(_whole_structure(each, by_name) for each in own)


def _begin(statement: SourceStatement) -> int:
    return statement.offset(0)


# ---------------------------------------------------------------------------- parsed forms


def _frozen(opened: ScopeNode) -> parsed.Scope:
    return parsed.Scope(
        opened.kind,
        opened.name,
        tuple(opened.uses),
        _with_origins(tuple(opened.declarations), opened),
        opened.end_of_uses,
        opened.indent if opened.indent >= 0 else INDENT,
        opened.place,
        tuple(opened.associations),
        opened.implicit,
        frozenset(opened.others),
        bool(opened.included),
        frozenset(opened.untyped | {name.lower() for name in (*opened.dummies, opened.result)}),
    )


def _with_origins(
    declarations: tuple[parsed.Declaration, ...], scope: ScopeNode
) -> tuple[parsed.Declaration, ...]:
    """Return declarations whose derived types include the modules that define them."""
    origins: dict[str, DerivedType] = {}
    return tuple(_with_origin(declaration, scope, origins) for declaration in declarations)


def _with_origin(
    declaration: parsed.Declaration, scope: ScopeNode, origins: dict[str, DerivedType]
) -> parsed.Declaration:
    if not isinstance(declaration.type, DerivedType):
        return declaration
    name = declaration.type.name
    if name not in origins:
        origins[name] = _origin(name, scope)
    origin = origins[name]
    return declaration if origin == declaration.type else replace(declaration, type=origin)


def _origin(name: str, scope: ScopeNode) -> DerivedType:
    """Return the derived type `name` in `scope` with its defining module, if the file shows it."""
    for inner in scope.outwards():
        if any(definition.structure.name == name for definition in inner.definitions):
            return DerivedType(name, _module_of(inner))
        for use in inner.uses:
            for used in (*(use.only or ()), *use.renames):
                if used.local.lower() == name:
                    return DerivedType(used.original.lower(), use.module.lower())
    return DerivedType(name)


def _module_of(scope: ScopeNode) -> str | None:
    return scope.key if scope.kind is parsed.ScopeKind.MODULE else None


_Definition = tuple[TypeDefinition, ScopeNode]


def _whole_structure(
    own: _Definition, by_name: dict[str, list[_Definition]]
) -> parsed.ParsedStructure:
    """Return a derived type with the components and names of its parent types in this file."""
    definition, scope = own
    chain: dict[str, TypeDefinition] = {}
    following: _Definition | None = own
    extends: DerivedType | None = None
    while following is not None and following[0].structure.name not in chain:
        child, around = following
        chain[child.structure.name] = child
        following = _parent_of(child, around, by_name)
        if child.parent and following is None:
            extends = _origin(child.parent, around)
    components = [item for one in reversed(chain.values()) for item in one.structure.components]
    names = {name for one in chain.values() for name in (*one.procedures, one.parent) if name}
    return replace(
        definition.structure,
        components=_with_origins(tuple(components), scope),
        names=frozenset(names),
        extends=extends,
        is_complete=all(
            one.structure.is_complete and len(by_name[name]) == 1 for name, one in chain.items()
        ),
        module=_module_of(scope),
    )


def _parent_of(
    child: TypeDefinition, around: ScopeNode, by_name: dict[str, list[_Definition]]
) -> _Definition | None:
    """Return the definition in this file of the type that `child` extends, or None."""
    found = by_name.get(child.parent, [])
    if len(found) > 1:
        module = _origin(child.parent, around).module
        found = [one for one in found if _module_of(one[1]) == module]
    return found[0] if len(found) == 1 else None
