"""The interface of a subroutine: its dummy arguments and what it declares about them.

Reads up to the first executable statement of the subroutine and no further, so that the size of
a kernel does not matter.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from psyclone_storage.base.diagnostic import CompileError, Diagnostic, raise_if_any
from psyclone_storage.base.names import did_you_mean
from psyclone_storage.base.regex import regex
from psyclone_storage.base.source import SourceText
from psyclone_storage.frontend.fortran.procedures import subroutine_names
from psyclone_storage.frontend.fortran.specification import read_procedure
from psyclone_storage.frontend.fortran.statements import scan
from psyclone_storage.frontend.fortran.units import OpenScope, UnitReader
from psyclone_storage.frontend.fortran.visible import link_declarations
from psyclone_storage.ir.parsed import Declaration, ParsedRoutine, ScopeKind

SPECIFIES = regex(
    r"(?:implicit|import|parameter|save|external|intrinsic|dimension|pointer|target|allocatable"
    r"|contiguous|optional|intent|value|volatile|asynchronous|data|common|equivalence|namelist"
    r"|procedure|private|public|protected|bind|enum|enumerator)\b(?!\s*=)"
    r"|end\s*enum$",
    re.IGNORECASE,
)


def read_routine(source: SourceText, name: str) -> ParsedRoutine:
    """Return the interface of the subroutine `name`.

    The uses and the constants of the module around it follow its own uses and declarations.
    Raises `CompileError` if the file has no such subroutine or a declaration cannot be read.
    """
    reader = UnitReader(source)
    scope = _read_up_to_body(reader, name.lower())
    if scope is None:
        raise CompileError(
            Diagnostic(
                "P048",
                f"The subroutine '{name}' is not in '{source.name}'.",
                file=source.name,
                hint=did_you_mean(name, sorted(subroutine_names(source))),
            )
        )
    raise_if_any([problem for problem in reader.problems if _concerns(problem, scope)])
    span = scope.opening.whole()
    declarations = (*reader.scope(scope).declarations, *_constants(reader, scope))
    return ParsedRoutine(
        scope.name,
        scope.dummies,
        link_declarations(declarations),
        tuple(use for around in _outwards(scope) for use in around.uses),
        span,
    )


def subroutine_heads(source: SourceText) -> dict[str, tuple[str, ...]]:
    """Return the dummy arguments of each subroutine that `source` opens, by its name in lower case.

    Reads the opening statements alone.
    """
    heads = [read_procedure(statement) for statement in tuple(scan(source))]
    return {head.name.lower(): head.dummies for head in heads if head and head.kind == "subroutine"}


def _read_up_to_body(reader: UnitReader, wanted: str) -> OpenScope | None:
    """Return the subroutine `wanted` once all that it declares has been read."""
    for statement, scope in reader.others():
        if scope is None or SPECIFIES.match(statement.text):
            continue
        if _is_wanted(scope, wanted):
            return scope
    return next((scope for scope in reader.opened if _is_wanted(scope, wanted)), None)


def _is_wanted(scope: OpenScope, wanted: str) -> bool:
    return scope.kind is ScopeKind.SUBROUTINE and scope.name.lower() == wanted


def _concerns(problem: Diagnostic, scope: OpenScope) -> bool:
    """Return whether a problem stands in the scope or in one around it."""
    if problem.span is None:
        return True
    return problem.span.start >= scope.opening.offset(0)


def _constants(reader: UnitReader, scope: OpenScope) -> Iterator[Declaration]:
    own = {declaration.name.lower() for declaration in scope.declarations}
    around = scope.parent
    if around is None:
        return
    for declaration in reader.scope(around).declarations:
        if "parameter" in declaration.attributes and declaration.name.lower() not in own:
            yield declaration


def _outwards(scope: OpenScope) -> Iterator[OpenScope]:
    inner: OpenScope | None = scope
    while inner is not None:
        yield inner
        inner = inner.parent
