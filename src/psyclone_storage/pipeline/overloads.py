"""Detection of defined operators, assignments and I/O, and of the types they apply to."""

from __future__ import annotations

import re
from collections.abc import Iterable

from psyclone_storage.base.regex import regex
from psyclone_storage.ir.keys import key_of
from psyclone_storage.ir.routine import Routine
from psyclone_storage.ir.types import DataType, DerivedType
from psyclone_storage.ir.unit import Use

OPERATORS = regex(r"\binterface\b[\s&]*(?:operator|assignment)\s*\(", re.IGNORECASE)
_DEFAULT_TARGET = regex(r"\bpointer\b.*::.*=>\s*(?!null\b)\w", re.IGNORECASE)
_OVERLOADED = ("operator(", "assignment(", "read(", "write(")


def is_overload(key: str) -> bool:
    """Return whether a key denotes a defined operator, assignment or I/O."""
    return key.startswith(_OVERLOADED)


def lists_overload(use: Use) -> bool:
    """Return whether an import lists a defined operator, assignment or I/O."""
    return any(is_overload("".join(name.key.split())) for name in use.names)


def offers_overloads(use: Use) -> bool:
    """Return whether an import may provide a defined operator, assignment or I/O."""
    return use.whole or lists_overload(use)


def may_take(codes: tuple[Routine, ...], sorts: list[object]) -> bool:
    """Return whether a procedure may have arguments of these types, None if unknown."""
    if not codes:
        return True
    for key, sort in zip(codes[0].dummy_keys, sorts, strict=False):
        declared = codes[0].declared(key)
        if declared is None or declared.polymorphic or sort is None:
            continue
        if sort_of(declared.type, codes[0]) != sort:
            return False
    return True


def sort_of(kind: DataType, code: Routine) -> object:
    """Return the original name of a derived type, or the intrinsic type."""
    if isinstance(kind, DerivedType):
        return key_of(code.symbol(kind.name).name)
    return kind.intrinsic


def is_merged(key: str, uses: Iterable[Use]) -> bool:
    """Return whether several modules export a generic name."""
    modules = {use.module_key for use in uses if any(name.key == key for name in use.names)}
    return len(modules) > 1


def has_default_target(name: str, text: str) -> bool:
    """Return whether a type has a pointer component with a variable as default target."""
    if not _DEFAULT_TARGET.search(text):
        return False
    body = rf"^[ \t]*type\b(?!\s*\()[^\n]*\b{name}\b(?P<body>.*?)^[ \t]*end\s*type\b"
    found = re.search(body, text, re.IGNORECASE | re.MULTILINE | re.DOTALL)
    return found is not None and _DEFAULT_TARGET.search(found["body"]) is not None
