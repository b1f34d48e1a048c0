"""Syntax check of a kernel file: malformed statements and undeclared arguments.

The statements of a kernel are parsed only when a step needs them. This check reports earlier the
errors that every compiler would report.
"""

from __future__ import annotations

from collections.abc import Iterator

from psyclone_storage.base.diagnostic import Diagnostic
from psyclone_storage.base.source import SourceText
from psyclone_storage.languages.fortran.parse.scope_reader import read_scopes
from psyclone_storage.languages.fortran.parse.scopes import ScopeNode
from psyclone_storage.languages.fortran.parse.syntax import SyntaxCheck


def check_syntax(source: SourceText, procedures: tuple[str, ...]) -> tuple[Diagnostic, ...]:
    """Return malformed statements (P014, warnings) and undeclared arguments (M202).

    Only the arguments of `procedures` are checked, and only where `implicit none` applies.
    """
    file = read_scopes(source)
    check = SyntaxCheck(source)
    for statement, scope in file.others:
        check.look_at(statement, scope)
    names = {name.lower() for name in procedures}
    heads = [scope for scope in file.scopes if scope.key in names]
    undeclared = [problem for scope in heads for problem in _undeclared(scope)]
    return (*file.problems, *undeclared, *check.warnings())


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
