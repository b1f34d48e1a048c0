"""Declarations of the modules in a file as symbols, and their imports.

Only specification parts and the first statements of procedures are read. All branches of
preprocessor conditionals are included. If a name has several declarations, the first one is used.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from psyclone_storage.base.diagnostic import Diagnostic
from psyclone_storage.base.records import replace
from psyclone_storage.base.regex import regex
from psyclone_storage.base.source import SourceText, Span
from psyclone_storage.ir.expr import INCOMPLETE, OVERLAPPING, Origin, Sort, Symbol
from psyclone_storage.ir.keys import key_of
from psyclone_storage.ir.parsed import Declaration, ParsedUse, ScopeKind
from psyclone_storage.ir.symbols import ModuleSymbols
from psyclone_storage.ir.types import DerivedType, Intrinsic, ScalarType
from psyclone_storage.ir.unit import Imported, Use
from psyclone_storage.languages.fortran.parse.device_directives import found_on_device
from psyclone_storage.languages.fortran.parse.scope_reader import read_scopes
from psyclone_storage.languages.fortran.parse.scopes import ScopeNode

_ACCESS = regex(r"(?P<word>public|private)\b\s*(?:::)?\s*(?P<names>.*)$", re.IGNORECASE)
_ENUMERATOR = regex(r"enumerator\b\s*(?:::)?\s*(?P<names>.*)$", re.IGNORECASE)
_POINTER = regex(r"procedure\s*\([^()]*\)[^:]*::\s*(?P<names>.*)$", re.IGNORECASE)
_NAME = regex(r"(?:^|,)\s*([a-z]\w*)", re.IGNORECASE)
_JOINING = frozenset({"common", "equivalence", "pointer", "target", "volatile"})
"""The first words of attribute statements after which a variable may share data with another."""
_INTEGER = ScalarType(Intrinsic.INTEGER)
_CONSTRUCTS = (ScopeKind.BLOCK, ScopeKind.ASSOCIATE)


def read_module_symbols(source: SourceText) -> tuple[ModuleSymbols, ...]:
    """Return the declarations and imports of the modules in `source`."""
    return tuple(_read_scopes(source, (ScopeKind.MODULE,)).values())


def check_exported(
    source: SourceText, module: str, procedure: str, place: Span | None
) -> Iterator[Diagnostic]:
    """Yield M208 at `place` if a module does not export the procedure of a kernel."""
    file, access = read_scopes(source), _Access()
    around = next((one for one in file.scopes if one.key == key_of(module)), None)
    if around is None or around.included:
        return
    for statement, scope in file.others:
        if scope is around and (found := _ACCESS.match(statement.text)):
            access.note(found["word"].lower(), found["names"])
    listed, name = access.listed, key_of(procedure)
    if name not in listed["public"] and (access.default_private or name in listed["private"]):
        yield Diagnostic(
            "M208",
            f"'{procedure}' is private in '{around.name}', so that generated code cannot call it.",
            place,
            label=f"calls '{procedure}'",
            hint=f"Write 'public :: {procedure}' in '{around.name}'.",
        )


def read_scope_symbols(source: SourceText) -> dict[int, ModuleSymbols]:
    """Return the declarations and imports of all units and procedures by start offset."""
    return _read_scopes(source, tuple(kind for kind in ScopeKind if kind not in _CONSTRUCTS))


def _read_scopes(source: SourceText, kinds: tuple[ScopeKind, ...]) -> dict[int, ModuleSymbols]:
    file = read_scopes(source)
    access: dict[ScopeNode, _Access] = {}
    for statement, scope in file.others:
        found = _ACCESS.match(statement.text)
        if found and scope is not None:
            access.setdefault(scope, _Access()).note(found["word"].lower(), found["names"])
    return {
        scope.place.start: _module(scope, access.get(scope) or _Access())
        for scope in file.scopes
        if scope.kind in kinds
    }


class _Access:
    """Accessibility (`public` and `private` statements) of a module."""

    def __init__(self) -> None:
        self.default_private = False
        self.listed: dict[str, set[str]] = {"public": set(), "private": set()}

    def note(self, word: str, names: str) -> None:
        """Record one `public` or `private` statement."""
        if names:
            self.listed[word].update(_NAME.findall(names.lower()))
        elif word == "private":
            self.default_private = True


def _module(scope: ScopeNode, access: _Access) -> ModuleSymbols:
    found: dict[str, Symbol] = {}
    for symbol in _symbols(scope):
        found.setdefault(symbol.key, symbol)
    for generic in scope.generics:
        if generic.name:
            behind = [found[name].sort for name in generic.procedures if name in found]
            behind += [Sort[kind.upper()] for _, kind in generic.bodies]
            sort = behind[0] if len(set(behind)) == 1 else Sort.PROCEDURE
            found.setdefault(generic.name, _named(generic.name, sort, scope.name))
    words = {item.key: item.attributes for item in scope.parsed.declarations}
    return ModuleSymbols(
        scope.name,
        found,
        uses_of(tuple(scope.uses)),
        access.default_private,
        frozenset(access.listed["public"] | {key for key in words if "public" in words[key]}),
        frozenset(access.listed["private"] | {key for key in words if "private" in words[key]}),
        tuple(scope.included),
        found_on_device(scope) if scope.kind is ScopeKind.MODULE else {},
    )


def uses_of(uses: tuple[ParsedUse, ...]) -> tuple[Use, ...]:
    """Return `use` statements as imports."""
    found = []
    for use in uses:
        listed = use.renames if use.only is None else use.only
        names = tuple(Imported(name.local, name.original) for name in listed)
        found.append(Use(use.module, names, whole=use.only is None))
    return tuple(found)


def _symbols(scope: ScopeNode) -> Iterator[Symbol]:
    joined = scope.untyped if scope.kind is ScopeKind.MODULE and scope.untyped & _JOINING else ()
    for item in scope.parsed.declarations:
        symbol = symbol_of(item, Origin.HOST, scope.name)
        words = (*symbol.attributes, OVERLAPPING) if symbol.key in joined else symbol.attributes
        yield replace(symbol, attributes=words)
    yield from _structures(scope)
    for inner in scope.children:
        yield from _procedure(inner, scope.name)
    for generic in scope.generics:
        sort = Sort.INTERFACE if generic.abstract else None
        for name, kind in generic.bodies:
            yield _named(name, sort or Sort[kind.upper()], scope.name)
    for text in scope.named:
        if found := _ENUMERATOR.match(text):
            for name in _NAME.findall(_without_brackets(found["names"])):
                yield Symbol(name.lower(), name, Origin.HOST, Sort.CONSTANT, _INTEGER,
                             module=scope.name)  # fmt: skip
        elif found := _POINTER.match(text):
            for name in _NAME.findall(_without_brackets(found["names"])):
                yield _named(name, Sort.PROCEDURE, scope.name)


def symbol_of(item: Declaration, origin: Origin, module: str = "") -> Symbol:
    """Return the symbol of a declared name."""
    sort = Sort.CONSTANT if "parameter" in item.attributes else Sort.VARIABLE
    if "external" in item.attributes:
        sort = Sort.FUNCTION
    words = tuple(word for word in item.attributes if not word.startswith("dimension("))
    return Symbol(item.name.lower(), item.name, origin, sort, item.type, item.shape, words,
                  item.value, module, span=item.span)  # fmt: skip


def _structures(scope: ScopeNode) -> Iterator[Symbol]:
    for definition in scope.definitions:
        name = definition.structure.name
        components = (symbol_of(item, Origin.HOST) for item in definition.structure.components)
        yield Symbol(
            name,
            name,
            Origin.HOST,
            Sort.TYPE,
            DerivedType(name, scope.name.lower()),
            module=scope.name,
            components=tuple(components),
            attributes=() if definition.structure.is_complete else (INCOMPLETE,),
            bindings=definition.procedures,
            extends=definition.parent,
        )


def _procedure(inner: ScopeNode, module: str) -> Iterator[Symbol]:
    if inner.kind is ScopeKind.SUBROUTINE:
        yield _named(inner.name, Sort.SUBROUTINE, module)
    elif inner.kind is ScopeKind.FUNCTION:
        wanted = inner.result.lower()
        declared = (item for item in inner.parsed.declarations if item.key == wanted)
        result = next(declared, None)
        yield Symbol(
            inner.key,
            inner.name,
            Origin.HOST,
            Sort.FUNCTION,
            result.type if result else None,
            result.shape if result else (),
            result.attributes if result else (),
            module=module,
        )


def _named(name: str, sort: Sort, module: str) -> Symbol:
    return Symbol(name.lower(), name, Origin.HOST, sort, module=module)


def _without_brackets(text: str) -> str:
    """Return `text` without parenthesised text."""
    shorter = re.sub(r"\([^()]*\)", "", text)
    while shorter != text:
        text, shorter = shorter, re.sub(r"\([^()]*\)", "", shorter)
    return text
