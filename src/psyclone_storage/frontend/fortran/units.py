"""Program units, procedures and constructs: which scope each statement of a file belongs to.

Reads all specification statements into scopes and hands on the other statements one by one.
Interface blocks are passed over: what they declare belongs to no scope of the file. Of
preprocessor conditionals all branches are read, so that a unit may seem to be opened twice there.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import lru_cache

from psyclone_storage.base.diagnostic import CompileError, Diagnostic
from psyclone_storage.base.records import dataclass, field, replace
from psyclone_storage.base.regex import regex
from psyclone_storage.base.source import SourceText
from psyclone_storage.frontend.fortran.brackets import first_outside, list_items
from psyclone_storage.frontend.fortran.reader import read_expression
from psyclone_storage.frontend.fortran.specification import (
    ProcedureHead,
    TypeDefinition,
    read_declarations,
    read_procedure,
    read_structure,
    read_use,
)
from psyclone_storage.frontend.fortran.statements import SourceStatement, scan
from psyclone_storage.frontend.fortran.tokens import UnreadableError
from psyclone_storage.ir.expr import Verbatim
from psyclone_storage.ir.parsed import (
    Association,
    Declaration,
    ParsedStructure,
    ParsedUse,
    Scope,
    ScopeKind,
)
from psyclone_storage.ir.types import DerivedType

_INCLUDED = regex(r"include\s*(['\"])(?P<name>[^'\"]+)\1", re.IGNORECASE)
_WORD = regex(r"[a-z]\w*", re.IGNORECASE)
_UNIT = regex(
    r"(?:(?P<kind>program|module)\s+|submodule\s*\([^()]*\)\s*)(?P<name>[a-z]\w*)$", re.IGNORECASE
)
_SEPARATE = regex(r"module\s+procedure\s+(?P<name>[a-z]\w*)$", re.IGNORECASE)
_BLOCK = regex(r"(?:\w+\s*:\s*)?block$", re.IGNORECASE)
_ASSOCIATE = regex(r"(?:\w+\s*:\s*)?associate\s*\((?P<list>.*)\)$", re.IGNORECASE)
_SELECT = regex(
    r"(?:\w+\s*:\s*)?select\s*(?:type|rank)\s*\((?P<list>.*=>.*)\)(?:\s*\w+)?$", re.IGNORECASE
)
_ASSIGNED = regex(r"\w+\s*(?:\([^()]*\)\s*)?[=%]")
_BLOCK_DATA = regex(r"block\s*data\b", re.IGNORECASE)
_END_BLOCK_DATA = regex(r"end\s*(?:block\s*data\b.*)?$", re.IGNORECASE)
_INTERFACE = regex(
    r"(?P<abstract>abstract\s+)?interface\b(?!\s*[=(%])"
    r"(?:\s*(?P<name>(?!(?:operator|assignment|read|write)\s*\()[a-z]\w*)$)?",
    re.IGNORECASE,
)
_LISTED = regex(r"(?:module\s+)?procedure\b\s*(?:::)?\s*(?P<names>[\w\s,]+)$", re.IGNORECASE)
_END_INTERFACE = regex(r"end\s*interface\b", re.IGNORECASE)
_END = regex(
    r"end(?:\s*(?P<kind>subroutine|function|program|module|submodule|procedure|block|associate)\b"
    r"(?:\s*\w+)?)?$",
    re.IGNORECASE,
)
_REST_OF_LINE = regex(r"[ \t]*(?:![^\n]*)?\r?(?:\n|\Z)")
_CONSTRUCTS = (ScopeKind.BLOCK, ScopeKind.ASSOCIATE)
_CLOSED_BY = {
    "procedure": ScopeKind.SEPARATE,
    **{kind.value: kind for kind in ScopeKind if kind is not ScopeKind.SEPARATE},
}
_PREFIXES = ("pure", "impure", "elemental", "recursive", "non_recursive", "subroutine", "function")
_TYPES = (
    "real", "integer", "logical", "character", "complex", "class", "double", "doubleprecision",
)  # fmt: skip
_ATTRIBUTES = (
    "parameter", "dimension", "common", "external", "allocatable", "pointer", "target", "data",
    "save", "equivalence", "codimension", "volatile", "asynchronous", "namelist",
)  # fmt: skip
_STEP = 2
_REMEMBERED = 4


@dataclass(slots=True)
class InterfaceBlock:
    """An interface block: its name in lower case, empty without one, and what it holds.

    `procedures` are the names, in lower case, of procedures that are declared elsewhere, `bodies`
    those that it declares itself, as written, each with the word `function` or `subroutine`.
    """

    name: str
    abstract: bool = False
    procedures: list[str] = field(default_factory=list)
    bodies: list[tuple[str, str]] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class OpenScope:
    """A scope while its statements are read.

    `result` is the name of a function's result. `named` are the texts of enumerators and of
    declarations of procedures. `untyped` are the names in attribute statements such as `parameter`.
    """

    kind: ScopeKind
    name: str
    opening: SourceStatement
    parent: OpenScope | None
    end_of_uses: int
    indent: int = -1
    stop: int = -1
    dummies: tuple[str, ...] = ()
    uses: list[ParsedUse] = field(default_factory=list)
    declarations: list[Declaration] = field(default_factory=list)
    associations: list[Association] = field(default_factory=list)
    definitions: list[TypeDefinition] = field(default_factory=list)
    implicit: str = ""
    others: set[str] = field(default_factory=set)
    untyped: set[str] = field(default_factory=set)
    included: list[str] = field(default_factory=list)
    result: str = ""
    generics: list[InterfaceBlock] = field(default_factory=list)
    named: list[str] = field(default_factory=list)


Standing = tuple[SourceStatement, OpenScope | None]
"""A statement that specifies nothing, with the scope that it stands in."""


@lru_cache(maxsize=_REMEMBERED)
def read_units(source: SourceText) -> tuple[UnitReader, tuple[Standing, ...]]:
    """Return a reader that has read all statements, and those that specify nothing.

    Its scopes are complete. A file is asked for its bodies and then for what its modules declare.
    """
    reader = UnitReader(source)
    return reader, tuple(reader.others())


class UnitReader:
    """A reader of the units of one file; its state is the stack of scopes that are open.

    After `others` has been exhausted, `opened` holds every scope in the order of their first
    statements and `problems` what could not be read.
    """

    def __init__(self, source: SourceText) -> None:
        self._source = source
        self._statements = scan(source)
        self._scope: OpenScope | None = None
        self._frozen: dict[OpenScope, Scope] = {}
        self.opened: list[OpenScope] = []
        self.problems: list[Diagnostic] = []
        self._rules: dict[str, Callable[[SourceStatement], bool]] = {
            "use": self._use,
            "program": self._unit,
            "module": self._module,
            "submodule": self._unit,
            "interface": self._interface,
            "abstract": self._interface,
            "block": self._block,
            "associate": self._associate,
            "select": self._select,
            "type": self._type,
            "implicit": self._implicit,
            "include": self._include,
            "enumerator": self._other_names,
            "procedure": self._other_names,
            **dict.fromkeys(_ATTRIBUTES, self._attribute),
            **dict.fromkeys(_TYPES, self._declaration),
            **dict.fromkeys(_PREFIXES, self._procedure),
        }

    def others(self) -> Iterator[Standing]:
        """Yield each statement that specifies nothing, with the scope that it stands in."""
        for statement in self._statements:
            head = _WORD.match(statement.text)
            word = head.group().lower() if head else ""
            if self._scope is not None and self._scope.indent < 0:
                self._scope.indent = _indent_in(self._scope, statement, word)
            if word[:3] == "end" and self._end(statement):
                continue
            rule = self._rules.get(word) or self._named_construct(statement, word)
            if rule is None or not self._try(rule, statement):
                yield statement, self._scope
        while self._scope is not None:
            self._close(self._scope, len(self._source.text), complete=False)

    def scope(self, opened: OpenScope) -> Scope:
        """Return `opened` as the parsed form; only after all statements have been read."""
        known = self._frozen.get(opened)
        if known is None:
            known = _frozen(opened, self._source)
            self._frozen[opened] = known
        return known

    def structures(self) -> tuple[ParsedStructure, ...]:
        """Return the derived types of the file, with what they inherit from one another."""
        own = [(definition, scope) for scope in self.opened for definition in scope.definitions]
        by_name = {definition.structure.name: definition for definition, _ in own}
        return tuple(
            replace(
                definition.structure,
                components=_with_origins(_inherited(definition, by_name), scope),
            )
            for definition, scope in own
        )

    def _try(self, rule: Callable[[SourceStatement], bool], statement: SourceStatement) -> bool:
        """Apply `rule`; a problem is kept and the statement counts as read."""
        try:
            return rule(statement)
        except CompileError as error:
            self.problems.extend(error.problems)
            return True

    def _named_construct(
        self, statement: SourceStatement, word: str
    ) -> Callable[[SourceStatement], bool] | None:
        rest = statement.text[len(word) :].lstrip()
        if not rest.startswith(":"):
            return None
        if rest[1:].lstrip()[:6].lower() == "select":
            return self._select
        return self._associate if "associate" in rest.lower() else self._block

    # ------------------------------------------------------------------------ rules

    def _use(self, statement: SourceStatement) -> bool:
        use = read_use(statement)
        scope = self._scope
        if use is None or scope is None:
            return False
        scope.uses.append(use)
        if statement.conditional <= scope.opening.conditional:
            scope.end_of_uses = _behind(statement)
        return True

    def _unit(self, statement: SourceStatement) -> bool:
        unit = _UNIT.match(statement.text)
        if unit is None:
            return False
        kind = ScopeKind((unit.group("kind") or "submodule").lower())
        self._open(kind, unit.group("name"), statement)
        return True

    def _module(self, statement: SourceStatement) -> bool:
        separate = _SEPARATE.match(statement.text)
        if separate:
            self._open(ScopeKind.SEPARATE, separate.group("name"), statement)
            return True
        return self._unit(statement) or self._procedure(statement)

    def _procedure(self, statement: SourceStatement) -> bool:
        head = read_procedure(statement)
        if head is None:
            return False
        scope = self._open(ScopeKind(head.kind), head.name, statement)
        scope.dummies = head.dummies
        scope.result = head.result
        scope.declarations += _result(head)
        return True

    def _interface(self, statement: SourceStatement) -> bool:
        head = _INTERFACE.match(statement.text)
        if head is None:
            return False
        generic = InterfaceBlock((head["name"] or "").lower(), head["abstract"] is not None)
        if self._scope is not None:
            self._scope.generics.append(generic)
        self._note_names(statement)
        self._skip(_END_INTERFACE, statement, generic)
        return True

    def _implicit(self, statement: SourceStatement) -> bool:
        if self._scope is not None:
            self._scope.implicit = statement.text.lower().removeprefix("implicit").strip()
        return True

    def _include(self, statement: SourceStatement) -> bool:
        if self._scope is not None:
            name = _INCLUDED.match(statement.text)
            self._scope.included.append(name["name"] if name else "")
        return False

    def _other_names(self, statement: SourceStatement) -> bool:
        """Keep the names of a statement that declares in a way of its own."""
        self._note_names(statement)
        if self._scope is not None:
            self._scope.named.append(statement.text)
        return False

    def _attribute(self, statement: SourceStatement) -> bool:
        if self._scope is not None and not _ASSIGNED.match(statement.text):
            self._scope.untyped.update(_WORD.findall(statement.text.lower()))
        return False

    def _note_names(self, statement: SourceStatement) -> None:
        if self._scope is not None:
            self._scope.others.update(_WORD.findall(statement.text.lower()))

    def _block(self, statement: SourceStatement) -> bool:
        if _BLOCK_DATA.match(statement.text):
            self._skip(_END_BLOCK_DATA, statement)
            return True
        if not _BLOCK.match(statement.text):
            return False
        self._open(ScopeKind.BLOCK, "", statement)
        return True

    def _associate(self, statement: SourceStatement) -> bool:
        head = _ASSOCIATE.match(statement.text)
        if head is None:
            return False
        scope = self._open(ScopeKind.ASSOCIATE, "", statement)
        for start, stop in list_items(statement.text, *head.span("list")):
            scope.associations += _association(statement, start, stop)
        return True

    def _select(self, statement: SourceStatement) -> bool:
        """Note the name that `select type (name => selector)` gives to its selector."""
        head = _SELECT.match(statement.text)
        if head is not None and self._scope is not None:
            self._scope.associations += _association(statement, *head.span("list"))
        return False

    def _type(self, statement: SourceStatement) -> bool:
        definition = read_structure(statement, self._statements)
        if definition is None:
            return self._declaration(statement)
        if self._scope is not None:
            self._scope.definitions.append(definition)
        return True

    def _declaration(self, statement: SourceStatement) -> bool:
        if "function" in statement.text.lower() and self._procedure(statement):
            return True
        declared = read_declarations(statement)
        if self._scope is not None:
            self._scope.declarations += declared
        return bool(declared)

    def _skip(
        self, end: re.Pattern[str], opening: SourceStatement, generic: InterfaceBlock | None = None
    ) -> None:
        """Pass over the statements up to the one that `end` matches; `generic` gets what it is."""
        depth = 0
        for statement in self._statements:
            if end.match(statement.text):
                return
            self._note_names(statement)
            if generic is not None:
                depth += _note_procedures(generic, statement, depth)
        self.problems.append(_not_closed(opening))

    # ------------------------------------------------------------------------ the stack

    def _open(self, kind: ScopeKind, name: str, statement: SourceStatement) -> OpenScope:
        scope = OpenScope(kind, name, statement, self._scope, _behind(statement))
        self.opened.append(scope)
        self._scope = scope
        return scope

    def _end(self, statement: SourceStatement) -> bool:
        end = _END.match(statement.text)
        if end is None:
            return False
        named = (end.group("kind") or "").lower()
        scope = self._scope
        while scope is not None and not _closes(named, scope):
            scope = scope.parent
        if scope is None:
            self._stray(statement)
            return True
        stop = statement.whole().stop
        while self._scope is not scope.parent:
            self._close(self._scope, stop, complete=self._scope is scope)
        return True

    def _close(self, scope: OpenScope | None, stop: int, *, complete: bool) -> None:
        if scope is None:
            return
        scope.stop = stop
        if not complete and scope.opening.conditional == 0:
            self.problems.append(_not_closed(scope.opening))
        self._scope = scope.parent

    def _stray(self, statement: SourceStatement) -> None:
        if statement.conditional == 0:
            self.problems.append(
                Diagnostic(
                    "P006",
                    f"'{statement.text}' closes nothing that is open here.",
                    statement.whole(),
                )
            )


def _note_procedures(generic: InterfaceBlock, statement: SourceStatement, depth: int) -> int:
    """Note what a statement of an interface says of it; return how much deeper the next stands."""
    if depth == 0 and (listed := _LISTED.match(statement.text)):
        generic.procedures += _WORD.findall(listed["names"].lower())
        return 0
    if depth and _END.match(statement.text):
        return -1
    head = read_procedure(statement)
    if head is None:
        return 0
    if depth == 0:
        generic.bodies.append((head.name, head.kind))
    return 1


def _closes(named: str, scope: OpenScope) -> bool:
    """Return whether `end <named>` ends `scope`; a bare `end` ends a unit or a procedure."""
    if not named:
        return scope.kind not in _CONSTRUCTS
    return scope.kind is _CLOSED_BY[named]


def _not_closed(opening: SourceStatement) -> Diagnostic:
    return Diagnostic(
        "P005",
        f"'{opening.text}' is not closed by an 'end' statement.",
        opening.whole(),
        label="opened here",
    )


def _behind(statement: SourceStatement) -> int:
    """Return where a statement can be inserted behind `statement`: on the next line, if it may."""
    stop = statement.whole().stop
    rest = _REST_OF_LINE.match(statement.source.text, stop)
    return rest.end() if rest else stop


def _indent_in(scope: OpenScope, statement: SourceStatement, word: str) -> int:
    """Return the indentation of `scope`'s statements, of which `statement` is the first."""
    if word == "contains" or word.startswith("end"):
        return _indent(scope.opening) + _STEP
    return _indent(statement)


def _indent(statement: SourceStatement) -> int:
    start = statement.offset(0)
    line = statement.source.text[statement.source.text.rfind("\n", 0, start) + 1 : start]
    return len(line) - len(line.lstrip(" \t"))


def _result(head: ProcedureHead) -> list[Declaration]:
    """Return the declaration of a function's result that its head contains, if it does."""
    if head.type is None or not head.result:
        return []
    place = head.statement.whole()
    return [Declaration(head.result, head.type.type, (), head.type.details, None, place)]


def _association(statement: SourceStatement, start: int, stop: int) -> list[Association]:
    """Return `name => selector`; a selector that is no plain expression is kept as text."""
    arrow = first_outside(statement.text, "=>", start)
    if not start < arrow < stop:
        return []
    selector = statement.text[arrow + 2 : stop].strip()
    try:
        expr = read_expression(selector)
    except UnreadableError:
        expr = Verbatim(selector)
    name = statement.text[start:arrow].rstrip()
    return [Association(name, expr, statement.span(start, start + len(name)))]


# ---------------------------------------------------------------------------- parsed forms


def _frozen(opened: OpenScope, source: SourceText) -> Scope:
    return Scope(
        opened.kind,
        opened.name,
        tuple(opened.uses),
        _with_origins(tuple(opened.declarations), opened),
        opened.end_of_uses,
        opened.indent if opened.indent >= 0 else _STEP,
        source.span(opened.opening.offset(0), opened.stop),
        tuple(opened.associations),
        opened.implicit,
        frozenset(opened.others),
        bool(opened.included),
        frozenset(opened.untyped | {name.lower() for name in (*opened.dummies, opened.result)}),
    )


def _with_origins(
    declarations: tuple[Declaration, ...], scope: OpenScope
) -> tuple[Declaration, ...]:
    """Return the declarations with the derived types named as in the modules they come from."""
    origins: dict[str, DerivedType] = {}
    return tuple(_with_origin(declaration, scope, origins) for declaration in declarations)


def _with_origin(
    declaration: Declaration, scope: OpenScope, origins: dict[str, DerivedType]
) -> Declaration:
    if not isinstance(declaration.type, DerivedType):
        return declaration
    name = declaration.type.name
    if name not in origins:
        origins[name] = _origin(name, scope)
    origin = origins[name]
    return declaration if origin == declaration.type else replace(declaration, type=origin)


def _origin(name: str, scope: OpenScope) -> DerivedType:
    """Return where the type called `name` in `scope` comes from, as far as the file tells."""
    inner: OpenScope | None = scope
    while inner is not None:
        if any(definition.structure.name == name for definition in inner.definitions):
            module = inner.name.lower() if inner.kind is ScopeKind.MODULE else None
            return DerivedType(name, module)
        for use in inner.uses:
            for used in (*(use.only or ()), *use.renames):
                if used.local.lower() == name:
                    return DerivedType(used.original.lower(), use.module.lower())
        inner = inner.parent
    return DerivedType(name)


def _inherited(
    definition: TypeDefinition, by_name: dict[str, TypeDefinition]
) -> tuple[Declaration, ...]:
    """Return the components of a type behind those of the types it extends, of the same file."""
    components = definition.structure.components
    seen = {definition.structure.name}
    parent = by_name.get(definition.parent)
    while parent is not None and parent.structure.name not in seen:
        seen.add(parent.structure.name)
        components = (*parent.structure.components, *components)
        parent = by_name.get(parent.parent)
    return components
