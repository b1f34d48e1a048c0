"""Check for undeclared names and missing components in invokes.

All names of a file are declared if it has `implicit none`, lists each imported name and includes no
file. An undeclared name is then an error, which a compiler would report in generated code. In other
files a name may come from an unread file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from psyclone_storage.base.diagnostic import Diagnostic, Related
from psyclone_storage.base.memo import kept_with_first
from psyclone_storage.base.names import did_you_mean
from psyclone_storage.base.regex import regex
from psyclone_storage.base.source import SourceText
from psyclone_storage.ir.expr import (
    CallFunction,
    Expr,
    Member,
    Name,
    Origin,
    Symbol,
    children,
    walk,
)
from psyclone_storage.ir.keys import keys_of
from psyclone_storage.ir.parsed import (
    ParsedAlgorithm,
    ParsedArgument,
    ParsedInvoke,
    Scope,
    ScopeKind,
)

_INCLUDES = regex(r"^[ \t]*#[ \t]*(?:include|define|undef)\b", re.MULTILINE)
_UNSEEN_PARENT = (ScopeKind.SUBMODULE, ScopeKind.SEPARATE)


def check_all_declared(invoke: ParsedInvoke, algorithm: ParsedAlgorithm) -> Iterator[Diagnostic]:
    """Yield S115 for each missing component, and for each undeclared name if all are declared."""
    for call in invoke.calls:
        for given in call.args:
            yield from _missing_components(given)
    if not _tells_all(invoke.scopes) or _has_includes(algorithm.source):
        return
    for call in invoke.calls:
        for given in call.args:
            for name in dict.fromkeys(_unknown(given.expr)):
                yield Diagnostic(
                    "S115",
                    f"'{name}' is declared nowhere.",
                    given.span,
                    hint=did_you_mean(name, _known(invoke.scopes, algorithm))
                    or "Declare it, or import it: 'implicit none' asks for it.",
                )


def _missing_components(given: ParsedArgument) -> Iterator[Diagnostic]:
    for part in walk(given.expr):
        match part:
            case Member(_, name, Symbol(origin=Origin.UNRESOLVED) as symbol):
                known = [*(one.name for one in symbol.components), *sorted(symbol.bindings)]
                related = (Related(symbol.span, "its type is defined here"),) if symbol.span else ()
                yield Diagnostic(
                    "S115",
                    f"The type '{symbol.name}' has no component '{name}'.",
                    given.span,
                    hint=did_you_mean(name, known)
                    or "Check its name, or declare it in the definition of the type.",
                    related=related,
                )


@kept_with_first
def _has_includes(source: SourceText) -> bool:
    return _INCLUDES.search(source.text) is not None


def _tells_all(scopes: tuple[Scope, ...]) -> bool:
    """Return whether all names visible in `scopes` are declared or imported by name."""
    if any(scope.kind in _UNSEEN_PARENT or scope.includes for scope in scopes):
        return False
    if any(use.only is None for scope in scopes for use in scope.uses):
        return False
    said = next((scope.implicit for scope in scopes if scope.implicit), "")
    return said.startswith("none") and ("(" not in said or "type" in said)


def _known(scopes: tuple[Scope, ...], algorithm: ParsedAlgorithm) -> frozenset[str]:
    """Return the lower-case names visible in the innermost of `scopes`."""
    names = {scope.name for scope in algorithm.scopes} | {item.name for item in algorithm.types}
    for scope in scopes:
        names |= scope.others
        names.update(item.name for item in scope.declarations)
        names.update(item.name for item in scope.associations)
        names.update(used.local for use in scope.uses for used in use.only or ())
    return keys_of(names)


def _unknown(expr: Expr) -> Iterator[str]:
    """Yield the undeclared names in `expr`, including a function name without parentheses."""
    match expr:
        case Name(name, symbol) if symbol is not None:
            if symbol.origin in (Origin.UNRESOLVED, Origin.INTRINSIC):
                yield name
        case CallFunction(Name(symbol=Symbol(origin=Origin.INTRINSIC)), items):
            for item in items:
                yield from _unknown(item)
        case _:
            for part in children(expr):
                yield from _unknown(part)
