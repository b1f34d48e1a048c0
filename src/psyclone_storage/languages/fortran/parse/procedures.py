"""Implementation of a kernel: a type-bound procedure, or a generic interface of its module.

This module selects between several candidates (spec 1.1) and checks that the subroutines exist. It
searches for the names of subroutines but does not parse them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import TypeVar

from psyclone_storage.base.diagnostic import CompileError, Diagnostic
from psyclone_storage.base.names import did_you_mean, listed
from psyclone_storage.base.records import dataclass
from psyclone_storage.base.regex import regex
from psyclone_storage.base.source import SourceText, Span
from psyclone_storage.languages.fortran.parse.brackets import first_outside, list_items
from psyclone_storage.languages.fortran.parse.statements import SourceStatement

_BINDING = regex(r"procedure\b(?!\s*\()", re.IGNORECASE)
_BOUND = regex(r"(?P<name>[a-z]\w*)(?:\s*=>\s*(?P<target>[a-z]\w*))?", re.IGNORECASE)
_SPECIFICS = regex(r"(?:module\s+)?procedure\b\s*(?:::)?", re.IGNORECASE)
_SUBROUTINE = regex(r"subroutine[ \t]+(?:&\s*&?)?(\w+)")
_CODE = "code"


@dataclass(frozen=True, slots=True)
class TypeBoundProcedure:
    """Type-bound procedure: the names of the binding and of the procedure."""

    name: str
    target: str
    span: Span


@dataclass(frozen=True, slots=True)
class GenericInterface:
    """Generic interface of a module, with its specific procedures."""

    name: str
    specifics: tuple[str, ...]
    span: Span


Candidate = TypeVar("Candidate", TypeBoundProcedure, GenericInterface)


@dataclass(frozen=True, slots=True)
class Implementation:
    """Procedure name used in kernel calls, its specific subroutines, and the defining location."""

    procedure: str
    specifics: tuple[str, ...]
    span: Span


def read_bindings(statement: SourceStatement) -> tuple[TypeBoundProcedure, ...]:
    """Return the type-bound procedures that a statement declares, possibly none."""
    head = _BINDING.match(statement.text)
    if head is None:
        return ()
    colons = first_outside(statement.text, "::")
    start = colons + 2 if colons >= 0 else head.end()
    bindings = []
    for place in list_items(statement.text, start, len(statement.text)):
        bound = _BOUND.fullmatch(statement.text, *place)
        if bound:
            target = bound.group("target") or bound.group("name")
            bindings.append(TypeBoundProcedure(bound.group("name"), target, statement.span(*place)))
    return tuple(bindings)


def read_specifics(statement: SourceStatement) -> tuple[str, ...]:
    """Return the names in a `module procedure` or `procedure` statement of an interface."""
    head = _SPECIFICS.match(statement.text)
    if head is None:
        return ()
    items = list_items(statement.text, head.end(), len(statement.text))
    return tuple(statement.text[start:stop] for start, stop in items)


def find_implementation(
    kernel: Span,
    bindings: tuple[TypeBoundProcedure, ...],
    generics: Mapping[str, GenericInterface],
) -> Implementation:
    """Return the implementation of the kernel whose type name is at `kernel`.

    It is the binding `code` or the only binding. Without bindings it is the only generic interface
    of the module. `generics` contains these by lower-case name.

    Raises:
        CompileError: there is no candidate, or there is more than one.
    """
    target, span = _chosen(kernel, bindings, generics)
    generic = generics.get(target.lower())
    if generic and not generic.specifics:
        raise CompileError(
            Diagnostic("P045", f"The interface '{target}' has no procedures.", generic.span)
        )
    return Implementation(target, generic.specifics if generic else (target,), span)


def check_exists(implementation: Implementation, kernel: Span) -> None:
    """Raise `CompileError` for each subroutine of `implementation` that is not in the file."""
    known = subroutine_names(kernel.source)
    missing = [name for name in implementation.specifics if name.lower() not in known]
    if missing:
        raise CompileError(
            *(
                Diagnostic(
                    "P047",
                    f"The subroutine '{name}' is not in '{kernel.source.name}'.",
                    implementation.span,
                    label=f"implements '{kernel.text}'",
                    hint=did_you_mean(name, known),
                )
                for name in missing
            )
        )


def subroutine_names(source: SourceText) -> frozenset[str]:
    """Return the lower-case names of the subroutines defined in `source`."""
    text = source.text.lower()
    names = set()
    for found in _SUBROUTINE.finditer(text):
        before = text[text.rfind("\n", 0, found.start()) + 1 : found.start()]
        if not before.lstrip().startswith("end") and not set(before) & set("!'\""):
            names.add(found.group(1))
    return frozenset(names)


def _chosen(
    kernel: Span, bindings: tuple[TypeBoundProcedure, ...], generics: Mapping[str, GenericInterface]
) -> tuple[str, Span]:
    """Return the name of the procedure that implements the kernel, with its location."""
    if bindings:
        codes = [binding for binding in bindings if binding.name.lower() == _CODE]
        binding = _only(kernel, codes or list(bindings), "binds")
        return binding.target, binding.span
    if not generics:
        raise CompileError(
            Diagnostic(
                "P045",
                f"The kernel type '{kernel.text}' names no subroutine.",
                kernel,
                hint="Bind it in the type: 'contains' and 'procedure, nopass :: my_kernel_code'.",
            )
        )
    expected = kernel.text.lower().removesuffix("_type") + "_" + _CODE
    generic = generics.get(expected) or _only(kernel, list(generics.values()), "could mean")
    return generic.name, generic.span


def _only(kernel: Span, candidates: list[Candidate], verb: str) -> Candidate:
    if len(candidates) == 1:
        return candidates[0]
    raise CompileError(
        Diagnostic(
            "P046",
            f"The kernel type '{kernel.text}' {verb} {_named(candidates)}.",
            kernel,
            hint=f"Bind the one to call as '{_CODE}': 'procedure, nopass :: {_CODE} => ...'.",
        )
    )


def _named(candidates: Iterable[TypeBoundProcedure | GenericInterface]) -> str:
    return listed([candidate.name for candidate in candidates], "and")
