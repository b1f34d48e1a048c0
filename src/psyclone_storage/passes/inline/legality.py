"""Legality of inlining a procedure: its statements and their dependences."""

from __future__ import annotations

import re

from psyclone_storage.base.regex import regex
from psyclone_storage.ir import unit as un
from psyclone_storage.ir.expr import Binary, CallFunction, Index, Name, intrinsic_called, walk
from psyclone_storage.ir.operators import Operator
from psyclone_storage.ir.rewrite import (
    construct_name,
    expressions_of,
    names_in,
    names_of_line,
    walk_lines,
)
from psyclone_storage.ir.routine import Routine

_UNDERSTOOD = (
    un.Assign,
    un.Blank,
    un.Comment,
    un.Continue,
    un.Cycle,
    un.DirectiveLine,
    un.Do,
    un.Exit,
    un.If,
    un.Return,
    un.Select,
)
_HARMLESS = (["implicit", "none"], ["IMPLICIT", "NONE"])
_NEVER_FAIL = ("lbound", "ubound", "abs", "max", "merge", "min", "real", "sign", "size")
_ATTRIBUTES = ("save", "allocatable", "pointer", "target", "external", "volatile", "class")

_PREPROCESSOR = regex(r"^[ \t]*#.*", re.MULTILINE)
_MACROS = regex(r"^[ \t]*#[ \t]*(?:define|include)\b.*", re.MULTILINE)
_CHOOSING = regex(r"^[ \t]*#[ \t]*(?P<word>if|ifdef|ifndef|elif|else|endif)\b.*", re.MULTILINE)
_STATEMENT = regex(r"^[ \t]*[^#! \t\n]", re.MULTILINE)


class InlineError(Exception):
    """A call cannot be inlined; the text is the reason."""


def check_understood(code: Routine) -> None:
    """Check that all statements and declarations of a procedure are supported.

    Raises:
        InlineError: one of them is not.
    """
    for line in walk_lines(code.body):
        if not isinstance(line, _UNDERSTOOD) or (isinstance(line, un.Return) and line.value):
            raise InlineError(f"'{code.name}' has statements that are not understood")
        if isinstance(line, un.Select) and line.word != "case":
            raise InlineError(f"'{code.name}' chooses by a type")
    for item in code.declarations:
        if isinstance(item, un.Opaque) and item.text.split() not in _HARMLESS:
            raise InlineError(f"'{code.name}' has declarations that are not understood")
        if not isinstance(item, un.Declare):
            continue
        words = set(item.attributes) & set(_ATTRIBUTES)
        kept = item.value is not None and "parameter" not in item.attributes
        if words or kept or "optional" in item.attributes:
            what = "keeps its value between calls" if kept else "is no plain variable"
            raise InlineError(f"'{item.name}' of '{code.name}' {what}")


def check_movable(original: Routine, code: Routine) -> None:
    """Check that the statements of a Fortran procedure can move to another module.

    `original` is the procedure as read, `code` the procedure with its own calls inlined.

    Raises:
        InlineError: the statements depend on their module.
    """
    if directive := preprocessor_line(original):
        raise InlineError(f"'{code.name}' may depend on '{directive}'")
    own = {item.key for item in code.declarations if isinstance(item, un.Declare)}
    if changed := sorted(written_in(code.body) - own - {*code.dummy_keys}):
        raise InlineError(f"'{code.name}' changes '{changed[0]}' of a module")
    for line in walk_lines(code.body):
        if isinstance(line, un.DirectiveLine):
            raise InlineError(f"'{code.name}' holds a directive")
        if construct_name(line):
            raise InlineError(f"'{code.name}' names a construct")


def written_in(body: tuple[un.Line, ...]) -> set[str]:
    """Return the keys of assigned variables, including loop counters."""
    found: set[str] = set()
    for line in walk_lines(body):
        match line:
            case (
                un.Assign(Name() as name) | un.Assign(Index(Name() as name)) | un.Do(variable=name)
            ):
                found.add(name.key)
            case un.Assign():
                raise InlineError("it is not known what an assignment changes")
    return found


def may_be_folded(body: tuple[un.Line, ...], key: str) -> bool:
    """Return whether constant folding could fail if the variable `key` becomes a constant.

    Compilers reject a division by a constant 0, or a logarithm of it, even under a condition that
    excludes it.
    """
    for line in walk_lines(body):
        for expr in expressions_of(line):
            for part in walk(expr):
                match part:
                    case Binary(Operator.DIVIDE, _, right) if key in names_in(right):
                        return True
                    case Binary(Operator.POWER) if key in names_in(part):
                        return True
                    case CallFunction(items=items) if intrinsic_called(part) not in _NEVER_FAIL:
                        if any(key in names_in(item) for item in items):
                            return True
    return False


def writes_before_reads(body: tuple[un.Line, ...], key: str) -> bool:
    """Return whether all control-flow paths assign a variable before reading it."""
    for line in body:
        match line:
            case un.Assign(Name() as name, value) if name.key == key:
                return key not in names_in(value)
            case un.If(branches, otherwise) if all(
                key not in names_in(branch.condition) for branch in branches
            ) and all(
                writes_before_reads(way, key)
                for way in (*(one.body for one in branches), otherwise)
            ):
                return True
        if any(
            isinstance(one, un.Return) or key in names_of_line(one) for one in walk_lines([line])
        ):
            return False
    return False


# ---------------------------------------------------------------------------- preprocessor


def preprocessor_line(code: Routine) -> str | None:
    """Return a preprocessor directive on which `code` may depend, or None.

    These are directives in the subroutine, those that select imports or contents of its module, and
    macro definitions in the file. Python has none.
    """
    if code.module.is_python:
        return None
    text = code.module.source.text
    found = _PREPROCESSOR.search(code.module.routine.text) or _MACROS.search(text)
    return conditional_line(code) if found is None else found.group().strip()


def conditional_line(code: Routine) -> str | None:
    """Return a directive that selects imports or contents of the module of `code`.

    Directives inside procedures are ignored.
    """
    module, text = code.module, code.module.source.text
    opened: list[re.Match[str]] = []
    for line in _CHOOSING.finditer(text, module.place.start, module.place.stop):
        if any(one.place.start <= line.start() < one.place.stop for one in module.procedures):
            continue
        if line["word"].startswith("if"):
            opened.append(line)
        elif not opened:
            return line.group().strip()
        elif line["word"] == "endif":
            first = opened.pop()
            if not opened and _STATEMENT.search(text, first.end(), line.start()):
                return first.group().strip()
    return opened[0].group().strip() if opened else None
