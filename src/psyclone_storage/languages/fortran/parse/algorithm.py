"""Parsing of Fortran algorithm files: invokes with their enclosing scopes.

`read_algorithm` reports all errors of a file together. Invokes are not interpreted here. A file
that needs preprocessing must be preprocessed before. Otherwise all branches of a conditional are
read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Set
from functools import cache

from psyclone_storage.base.diagnostic import (
    CompileError,
    Diagnostic,
    Related,
    Severity,
    raise_if_any,
)
from psyclone_storage.base.names import did_you_mean
from psyclone_storage.base.records import dataclass, replace
from psyclone_storage.base.regex import regex
from psyclone_storage.base.source import SourceText, Span
from psyclone_storage.ir.parsed import (
    INVOKE_PREFIX,
    ParsedAlgorithm,
    ParsedInvoke,
    Scope,
    routine_name,
)
from psyclone_storage.languages.fortran.parse.fixed_form import is_fixed_form
from psyclone_storage.languages.fortran.parse.invokes import (
    InvokeCall,
    InvokeLabel,
    action_start,
    find_invoke,
    read_invoke,
)
from psyclone_storage.languages.fortran.parse.scope_reader import read_scopes
from psyclone_storage.languages.fortran.parse.scopes import FileScopes, ScopeNode
from psyclone_storage.languages.fortran.parse.statements import SourceStatement
from psyclone_storage.languages.fortran.parse.syntax import SyntaxCheck

# Comments and continuation lines of fixed form. A match counts only if the file has errors.
_FIXED_FORM = regex(
    r"^(?:[cC*](?:[ \t]+[A-Za-z]+){2}|\*|[cC][-=*!]{3}| {5}[1-9$+*#@>|][ \t]*\w)", re.MULTILINE
)
_CALLED = regex(r"call\s+(?P<name>[a-z]\w*)\s*\(", re.IGNORECASE)
_INVOKE = regex(r"\bcall\s+invoke\s*\(", re.IGNORECASE)
_PROGRAM_HINT = "An algorithm is a program, a module, a submodule or a procedure in free form."


@dataclass(frozen=True, slots=True)
class _Found:
    """Invoke with its innermost enclosing scope."""

    invoke: InvokeCall
    scope: ScopeNode


def read_algorithm(source: SourceText) -> ParsedAlgorithm:
    """Parse an algorithm file and return its invokes, possibly none, and its scopes.

    Raises:
        CompileError: every error in the file.
    """
    _check_text(source)
    file = read_scopes(source)
    around = SyntaxCheck(source)
    found, problems, resembling = _read_invokes(file, around)
    warnings = _in_order([*around.warnings(), *resembling])
    problems = _in_order(
        [*file.problems, *problems, *map(_as_error, filter(_holds_invoke, warnings))]
    )
    _check_units(file, problems)
    raise_if_any(problems)
    invokes = tuple(map(_parsed, found))
    scopes = tuple(scope.parsed for scope in file.scopes)
    raise_if_any(_check_names(invokes, scopes))
    unit = invokes[0].scopes[-1] if invokes else scopes[0]
    return ParsedAlgorithm(source, unit, scopes, invokes, file.structures(), tuple(warnings))


def _holds_invoke(problem: Diagnostic) -> bool:
    """Return whether a malformed statement is or contains an invoke."""
    return problem.span is not None and bool(
        _INVOKE.search(problem.span.source.line(problem.span.line))
    )


def _as_error(problem: Diagnostic) -> Diagnostic:
    hint = "It holds an invoke, which must be read."
    return replace(problem, severity=Severity.ERROR, hint=hint)


def _read_invokes(
    file: FileScopes, around: SyntaxCheck
) -> tuple[list[_Found], list[Diagnostic], list[Diagnostic]]:
    """Return the invokes, their errors, and warnings about calls that may be misspelt invokes."""
    found: list[_Found] = []
    problems: list[Diagnostic] = []
    resembling: list[Diagnostic] = []
    names_in = cache(_names_in)
    for statement, scope in file.others:
        start = find_invoke(statement)
        if start < 0:
            around.look_at(statement, scope)
            resembling += _resembling_invoke(statement, scope, names_in)
            continue
        try:
            invoke = read_invoke(statement, start)
        except CompileError as error:
            problems.extend(error.problems)
            continue
        if scope is not None:
            found.append(_Found(invoke, scope))
        elif file.scopes and file.scopes[0].place.start < statement.offset(0):
            problems.append(
                Diagnostic(
                    "P003",
                    "This invoke stands outside every program unit.",
                    invoke.span,
                    hint=_PROGRAM_HINT,
                )
            )
    return found, problems, resembling


def _resembling_invoke(
    statement: SourceStatement,
    scope: ScopeNode | None,
    names_in: Callable[[ScopeNode], Set[str] | None],
) -> list[Diagnostic]:
    """Return a warning if a statement calls an unknown subroutine with a name like `invoke`."""
    start = action_start(statement.text)
    called = _CALLED.match(statement.text, start) if start >= 0 else None
    name = called["name"].lower() if called else ""
    if called is None or scope is None or not did_you_mean(name, ("invoke",)):
        return []
    known = names_in(scope)
    if known is None or name in known:
        return []
    message = f"No subroutine '{called['name']}' is declared or imported here."
    hint = "Write 'call invoke(...)' if it is to call kernels."
    place = statement.span(*called.span("name"))
    return [Diagnostic("P016", message, place, hint=hint, severity=Severity.WARNING)]


def _names_in(scope: ScopeNode) -> Set[str] | None:
    """Return the names that are known in a scope; None if a module is used as a whole.

    Such a module may define any name.
    """
    uses = [use for around in scope.outwards() for use in around.uses]
    if any(use.only is None for use in uses):
        return None
    known = {one.key for one in scope.file.scopes}
    known |= {one.local.lower() for use in uses for one in use.only or ()}
    for around in scope.outwards():
        known |= around.others | around.untyped | {one.key for one in around.declarations}
    return known


def _parsed(found: _Found) -> ParsedInvoke:
    scopes = tuple(scope.parsed for scope in found.scope.outwards())
    label = found.invoke.label
    return ParsedInvoke(
        found.invoke.calls,
        label.text if label else None,
        label.span if label else None,
        scopes,
        found.invoke.span,
    )


def _in_order(problems: list[Diagnostic]) -> list[Diagnostic]:
    return sorted(problems, key=lambda problem: problem.span.start if problem.span else -1)


# ---------------------------------------------------------------------------- the whole file


def _check_text(source: SourceText) -> None:
    """Raise `CompileError` if the file is empty or not a text file."""
    if not source.text.strip():
        raise CompileError(
            Diagnostic("P002", f"'{source.name}' is empty.", file=source.name, hint=_PROGRAM_HINT)
        )
    if "\0" in source.text:
        raise CompileError(
            Diagnostic("P001", f"'{source.name}' is not a text file.", file=source.name)
        )


def _check_units(file: FileScopes, problems: list[Diagnostic]) -> None:
    """Raise `CompileError` if the file is in fixed form or contains no program unit."""
    source = file.source
    fixed = _FIXED_FORM.search(source.text)
    if is_fixed_form(source.name) or (fixed and (problems or not file.scopes)):
        at = fixed.start() if fixed else 0
        raise CompileError(
            Diagnostic(
                "P004",
                f"'{source.name}' is written in fixed form, which is not read.",
                source.span(at, at + 1),
                hint="Convert the file to free form and give it a suffix such as '.x90'.",
            )
        )
    if not file.scopes:
        raise CompileError(
            Diagnostic(
                "P003",
                f"'{source.name}' has no program unit.",
                file=source.name,
                hint=_PROGRAM_HINT,
            )
        )


# ---------------------------------------------------------------------------- names of invokes


def _check_names(invokes: tuple[ParsedInvoke, ...], scopes: tuple[Scope, ...]) -> list[Diagnostic]:
    """Return diagnostics for labels whose routine names clash with each other or other names."""
    problems = []
    labels: dict[str, InvokeLabel] = {}
    taken: dict[str, Span] | None = None
    for invoke in invokes:
        if invoke.label is None or invoke.label_span is None:
            continue
        taken = _names_of(scopes) if taken is None else taken
        name = routine_name(invoke.label).lower()
        if name in labels:
            problems.append(_duplicate(invoke.label, invoke.label_span, labels[name]))
        elif name in taken:
            problems.append(_clash(name, invoke.label_span, taken[name]))
        labels.setdefault(name, InvokeLabel(invoke.label, invoke.label_span))
    return problems


def _names_of(scopes: tuple[Scope, ...]) -> dict[str, Span]:
    """Return the names that start with the prefix of invoke routines, with their locations."""
    names: dict[str, Span] = {}
    for scope in scopes:
        names.setdefault(scope.name.lower(), scope.span)
        for declaration in scope.declarations:
            names.setdefault(declaration.name.lower(), declaration.span)
        for use in scope.uses:
            for used in (*(use.only or ()), *use.renames):
                names.setdefault(used.local.lower(), used.span)
    return {name: span for name, span in names.items() if name.startswith(INVOKE_PREFIX)}


def _duplicate(label: str, span: Span, first: InvokeLabel) -> Diagnostic:
    return Diagnostic(
        "P025",
        f"Two invokes of this file are called '{label}'.",
        span,
        label="second use of the name",
        related=(Related(first.span, "first use of the name"),),
        hint="Give each invoke a name of its own, or none.",
    )


def _clash(name: str, span: Span, other: Span) -> Diagnostic:
    return Diagnostic(
        "P026",
        f"The routine of this invoke would be called '{name}', which means something else here.",
        span,
        related=(Related(other, "the other meaning"),),
        hint="Give the invoke another name.",
    )
