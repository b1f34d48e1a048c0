"""Parsing of subroutine interfaces: dummy arguments and their declarations."""

from __future__ import annotations

import re
from collections.abc import Iterator

from psyclone_storage.base.diagnostic import CompileError, Diagnostic, raise_if_any
from psyclone_storage.base.names import did_you_mean
from psyclone_storage.base.regex import regex
from psyclone_storage.base.source import SourceText
from psyclone_storage.ir.parsed import Declaration, ParsedRoutine, ScopeKind
from psyclone_storage.languages.fortran.parse.procedures import subroutine_names
from psyclone_storage.languages.fortran.parse.scope_lookup import link_declarations
from psyclone_storage.languages.fortran.parse.scope_reader import read_scopes
from psyclone_storage.languages.fortran.parse.scopes import FileScopes, ScopeNode
from psyclone_storage.languages.fortran.parse.spec_statements import read_procedure
from psyclone_storage.languages.fortran.parse.statements import scan

SPECIFIES = regex(
    r"(?:implicit|import|parameter|save|external|intrinsic|dimension|pointer|target|allocatable"
    r"|contiguous|optional|intent|value|volatile|asynchronous|data|common|equivalence|namelist"
    r"|procedure|private|public|protected|bind|enum|enumerator)\b(?!\s*=)"
    r"|end\s*enum$",
    re.IGNORECASE,
)


def read_routine(source: SourceText, name: str) -> ParsedRoutine:
    """Return the interface of the subroutine `name`.

    The imports and constants of its module follow its own imports and declarations.

    Raises:
        CompileError: the file has no such subroutine, or a declaration cannot be parsed.
    """
    file = read_scopes(source)
    scope, body = _subroutine(file, name.lower())
    if scope is None:
        raise CompileError(
            Diagnostic(
                "P048",
                f"The subroutine '{name}' is not in '{source.name}'.",
                file=source.name,
                hint=did_you_mean(name, sorted(subroutine_names(source))),
            )
        )
    raise_if_any([problem for problem in file.problems if _concerns(problem, scope, body)])
    span = scope.opening.whole()
    own = (item for item in scope.parsed.declarations if item.span.start < body)
    declarations = (*own, *_constants(scope))
    return ParsedRoutine(
        scope.name,
        scope.dummies,
        link_declarations(declarations),
        tuple(use for around in scope.outwards() for use in around.uses),
        span,
    )


def subroutine_heads(source: SourceText) -> dict[str, tuple[str, ...]]:
    """Return the dummy arguments of each subroutine by lower-case name.

    Only the `subroutine` statements are parsed.
    """
    heads = [read_procedure(statement) for statement in tuple(scan(source))]
    return {head.name.lower(): head.dummies for head in heads if head and head.kind == "subroutine"}


def _subroutine(file: FileScopes, wanted: str) -> tuple[ScopeNode | None, int]:
    """Return the subroutine `wanted`, and the offset of its first executable statement.

    If several subroutines have this name, the first one with an executable statement is used.
    """
    for statement, scope in file.others:
        if scope is None or SPECIFIES.match(statement.text):
            continue
        if _is_wanted(scope, wanted):
            return scope, statement.offset(0)
    found = next((scope for scope in file.scopes if _is_wanted(scope, wanted)), None)
    return found, found.stop if found else 0


def _is_wanted(scope: ScopeNode, wanted: str) -> bool:
    return scope.kind is ScopeKind.SUBROUTINE and scope.key == wanted


def _concerns(problem: Diagnostic, scope: ScopeNode, body: int) -> bool:
    """Return whether a diagnostic is located in the specification part of the scope."""
    if problem.span is None:
        return True
    return scope.place.start <= problem.span.start < body


def _constants(scope: ScopeNode) -> Iterator[Declaration]:
    own = {declaration.key for declaration in scope.declarations}
    if scope.parent is None:
        return
    for declaration in scope.parent.parsed.declarations:
        if "parameter" in declaration.attributes and declaration.key not in own:
            yield declaration
