"""Syntax check of a kernel file: malformed statements and undeclared arguments.

The statements of a kernel are parsed only when a step needs them. This check reports earlier the
errors that every compiler would report.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from psyclone_storage.base.diagnostic import Diagnostic, Related, Severity
from psyclone_storage.base.regex import regex
from psyclone_storage.base.source import SourceText
from psyclone_storage.ir.parsed import Declaration
from psyclone_storage.ir.types import DerivedType, Intent, Intrinsic, ScalarType
from psyclone_storage.languages.fortran.parse.brackets import closing
from psyclone_storage.languages.fortran.parse.procedures import read_bindings
from psyclone_storage.languages.fortran.parse.scope_reader import read_scopes
from psyclone_storage.languages.fortran.parse.scopes import ScopeNode
from psyclone_storage.languages.fortran.parse.statements import SourceStatement
from psyclone_storage.languages.fortran.parse.syntax import SyntaxCheck

_DO = regex(r"(?:[a-z]\w*\s*:\s*)?do\s+(?:\d+\s*,?\s*)?(?P<name>[a-z]\w*)\s*=(?!=)", re.IGNORECASE)
_IF = regex(r"if\s*\(", re.IGNORECASE)
_TARGET = regex(r"\s*(?P<name>[a-z]\w*)", re.IGNORECASE)
_OPEN = regex(r"\s*\(")
_EQUALS = regex(r"\s*=(?![=>])")


def check_syntax(source: SourceText, procedures: tuple[str, ...]) -> tuple[Diagnostic, ...]:
    """Return malformed statements (P014, warnings) and undeclared arguments (M202).

    Also warn about a procedure of a kernel type without `nopass` (P018), about a loop
    counter that is not an integer, and about assignments to `intent(in)` arguments (P014).
    Only the arguments of `procedures` are checked, and only where `implicit none` applies.
    """
    file = read_scopes(source)
    check = SyntaxCheck(source)
    names = {name.lower() for name in procedures}
    targets: dict[str, Diagnostic] = {}
    for statement, scope in file.others:
        check.look_at(statement, scope)
        if scope is not None and scope.key in names:
            for problem in _wrong_target(statement, scope):
                targets.setdefault(problem.message, problem)
    heads = [scope for scope in file.scopes if scope.key in names]
    undeclared = [problem for scope in heads for problem in _undeclared(scope)]
    bound = [problem for scope in heads for problem in _passed_object(scope)]
    return (*file.problems, *undeclared, *bound, *targets.values(), *check.warnings())


def _passed_object(scope: ScopeNode) -> Iterator[Diagnostic]:
    """Yield a warning for each binding of a procedure that would pass the object as well."""
    module = scope.parent
    name = scope.dummies[0].lower() if scope.dummies else ""
    first = next((one for one in scope.declarations if one.key == name), None)
    if module is None or first is None or isinstance(first.type, DerivedType):
        return
    for definition in module.definitions:
        for statement in definition.bindings:
            bound = any(one.target.lower() == scope.key for one in read_bindings(statement))
            attributes = statement.text.partition("::")[0].lower()
            if bound and "nopass" not in attributes:
                yield Diagnostic(
                    "P018",
                    f"'{scope.name}' has no argument for the object that it is bound to.",
                    statement.whole(),
                    hint="Write 'procedure, nopass ::'.",
                    severity=Severity.WARNING,
                )


def _wrong_target(statement: SourceStatement, scope: ScopeNode) -> Iterator[Diagnostic]:
    """Yield a warning if a statement assigns an `intent(in)` dummy, or counts with a non-integer.

    Branches of the preprocessor can contain several declarations of a name.
    """
    head = _DO.match(statement.text)
    found = head or _TARGET.match(statement.text, _after_condition(statement.text))
    name = found["name"].lower() if found else ""
    known = [item for item in scope.declarations if item.key == name]
    if found is None or not known:
        return
    if head is not None and not any(map(_is_integer, known)):
        text = f"The counter '{found['name']}' of this loop is not an integer."
        hint = f"Declare it as 'integer :: {found['name']}'."
    elif head is None and all(map(_is_constant, known)) and _assigns(statement.text, found.end()):
        text = f"'{found['name']}' has 'intent(in)', and this statement assigns it."
        hint = f"Declare '{found['name']}' with 'intent(inout)'."
    else:
        return
    yield Diagnostic(
        "P014",
        text,
        statement.span(*found.span("name")),
        hint=hint,
        related=(Related(known[0].span, "declared here"),),
        severity=Severity.WARNING,
    )


def _after_condition(text: str) -> int:
    """Return the position after the condition of a one-line `if`, or 0."""
    found = _IF.match(text)
    stop = closing(text, found.end() - 1) if found else -1
    return stop + 1 if stop > 0 else 0


def _assigns(text: str, at: int) -> bool:
    """Return whether `=` follows a name that ends at `at`, or the indices after the name."""
    indices = _OPEN.match(text, at)
    if indices is not None:
        at = closing(text, indices.end() - 1) + 1
    return at > 0 and _EQUALS.match(text, at) is not None


def _is_constant(item: Declaration) -> bool:
    return item.intent is Intent.IN and "pointer" not in item.attributes


def _is_integer(item: Declaration) -> bool:
    return isinstance(item.type, ScalarType) and item.type.intrinsic is Intrinsic.INTEGER


def _undeclared(scope: ScopeNode) -> Iterator[Diagnostic]:
    declared = {item.name.lower() for item in scope.declarations} | scope.others
    if scope.included or not _must_declare(scope):
        return
    for number, name in enumerate(scope.dummies, start=1):
        if name.lower() not in declared:
            yield Diagnostic(
                "M202",
                f"Argument {number} of '{scope.name}', '{name}', is not declared.",
                scope.opening.whole(),
            )


def _must_declare(scope: ScopeNode) -> bool:
    """Return whether `implicit none` applies in `scope`."""
    said = next((inner.implicit for inner in scope.outwards() if inner.implicit), "")
    return said.startswith("none")
