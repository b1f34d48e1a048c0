"""Parsing of directives in kernels that are relevant for transformations.

These are `acc routine`, `acc loop` and `omp declare target`. Any other directive is stored as text.
"""

from __future__ import annotations

import re

from psyclone_storage.base.regex import regex
from psyclone_storage.ir.directive import (
    AccLoopDirective,
    AccRoutineDirective,
    DeclareTargetDirective,
    DeviceLevel,
    KernelDirective,
)

_ROUTINE = regex(r"acc\s+routine\b", re.IGNORECASE)
_LOOP = regex(r"acc\s+loop\b", re.IGNORECASE)
_TARGET = regex(r"omp\s+declare\s+target\b", re.IGNORECASE)
_BRACKETS = regex(r"\([^()]*\)")
_CLAUSE = regex(r"(private|reduction)\s*\(([^()]*)\)", re.IGNORECASE)


def meaning_of(text: str) -> KernelDirective | None:
    """Parse a directive; return None if it is irrelevant for transformations."""
    if found := _ROUTINE.match(text):
        return AccRoutineDirective(next(iter(_levels(text[found.end() :])), DeviceLevel.SEQ))
    if _TARGET.match(text):
        return DeclareTargetDirective()
    if found := _LOOP.match(text):
        return _loop(text[found.end() :])
    return None


def _levels(clauses: str) -> tuple[DeviceLevel, ...]:
    words = set(re.findall(r"\w+", _BRACKETS.sub(" ", clauses.lower())))
    return tuple(level for level in DeviceLevel if level.value in words)


def _loop(clauses: str) -> AccLoopDirective:
    private: tuple[str, ...] = ()
    reductions: tuple[tuple[str, str], ...] = ()
    for word, inside in _CLAUSE.findall(clauses):
        operator, _, names = inside.rpartition(":")
        listed = tuple(name.strip().lower() for name in names.split(","))
        if word.lower() == "private":
            private += listed
        else:
            reductions += tuple((operator.strip().lower(), name) for name in listed)
    return AccLoopDirective(_levels(clauses), private, reductions)
