"""Parsing of specification parts: their end, and their statements in order.

Imports and declarations that `ir.unit.Declare` can represent are parsed. Stored as text are type
definitions, interfaces, characters with a length, pointers with a target, and preprocessor
branches.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from psyclone_storage.base.diagnostic import CompileError
from psyclone_storage.base.regex import regex
from psyclone_storage.ir.expr import Expr, Range, Star, Verbatim, walk
from psyclone_storage.ir.parsed import Declaration, ParsedUse
from psyclone_storage.ir.routine import (
    DeclarationStatement,
    SpecificationItem,
    UseStatement,
    in_order,
)
from psyclone_storage.ir.unit import Declare, Imported, Opaque, Use
from psyclone_storage.languages.fortran.parse.comments import (
    NestingError,
    conditional_run,
    conditional_step,
    remark_line,
)
from psyclone_storage.languages.fortran.parse.routine import SPECIFIES
from psyclone_storage.languages.fortran.parse.spec_statements import (
    TYPE_DEFINITION,
    read_declarations,
    read_use,
)
from psyclone_storage.languages.fortran.parse.statements import SourceStatement
from psyclone_storage.languages.fortran.parse.trivia import Element, Remark, RemarkKind, opaque

INTERFACE = regex(
    r"(?:abstract\s+)?interface\b(?:\s*(?P<name>[a-z]\w*)|\s*(?:operator|assignment)\s*\(.*)?$",
    re.IGNORECASE,
)
_ENUM = regex(r"enum\s*,", re.IGNORECASE)
_ENDS = (
    (TYPE_DEFINITION, regex(r"end\s*type\b", re.IGNORECASE)),
    (INTERFACE, regex(r"end\s*interface\b", re.IGNORECASE)),
    (_ENUM, regex(r"end\s*enum\b", re.IGNORECASE)),
)
_OF_SCOPE = regex(r"(?:acc\s+(?:routine|declare)|omp\s+(?:declare|threadprivate))\b", re.IGNORECASE)
_NATURE = regex(r"use\s*,\s*intrinsic\b", re.IGNORECASE)
_PARAMETERISED = regex(r"(?:type|class)\s*\([^()]*\(", re.IGNORECASE)


def end_of_specification(run: Sequence[Element]) -> int:
    """Return the position after the specification part of `run`.

    Comments before the first executable statement belong to that statement.
    """
    last = place = 0
    while place < len(run):
        element = run[place]
        if isinstance(element, SourceStatement):
            if not _specifies(element):
                break
            place = last = _end_of_block(run, place)
            if place < len(run) and _is_trailing(run[place]):
                place = last = place + 1
            continue
        place += 1
        if element.kind is RemarkKind.DIRECTIVE and _OF_SCOPE.match(element.text):
            last = place
    depth = sum(map(conditional_step, run[:last]))
    while depth > 0 and last < len(run):
        depth += conditional_step(run[last])
        last += 1
    return last


def read_items(run: Sequence[Element], *, whole: bool) -> tuple[SpecificationItem, ...]:
    """Return the statements of a specification part, and the text between them.

    If `whole` is true, all text keeps its order, and a statement with an error is stored as text.
    Otherwise a trailing comment is moved before its statement, imports come first and directives
    last.
    """
    found: list[SpecificationItem] = []
    place = 0
    while place < len(run):
        element, start = run[place], place
        if isinstance(element, SourceStatement):
            place = stop = _end_of_block(run, place)
            after = run[place] if place < len(run) and not whole else None
            if isinstance(after, Remark) and after.trailing:
                found.append(remark_line(after))
                place += 1
            found.append(_item(run[start:stop], whole=whole))
        elif conditional_step(element):
            place = _end_of_conditional(run, place)
            found.append(opaque(run[start:place]))
        else:
            place += 1
            found.append(remark_line(element))
    return tuple(found) if whole else in_order(found)


def _item(run: Sequence[Element], *, whole: bool) -> SpecificationItem:
    """Parse one statement or definition; store it as text if it is not understood."""
    first = run[0]
    assert isinstance(first, SourceStatement)
    try:
        said = tuple(_statement(run))
    except CompileError:
        if not whole:
            raise
        return opaque(run)
    declares = tuple(item for item in said if isinstance(item, Declare))
    if declares and len(declares) == len(said):
        return DeclarationStatement(declares, place=first.whole())
    match said:
        case (Use() as use,):
            return UseStatement(use, place=first.whole())
        case (Opaque() as text,):
            return text
    return opaque(run)


def _is_trailing(element: Element) -> bool:
    return isinstance(element, Remark) and element.trailing


def _end_of_conditional(run: Sequence[Element], place: int) -> int:
    try:
        return conditional_run(run, place)
    except NestingError:
        return len(run)


def _statement(run: Sequence[Element]) -> Iterator[Declare | Opaque | Use]:
    statement = run[0]
    if len(run) == 1 and isinstance(statement, SourceStatement) and not statement.split:
        use = read_use(statement)
        if use is not None:
            yield _use(use, intrinsic=_NATURE.match(statement.text) is not None)
            return
        declared = _read(statement)
        if declared and all(map(_is_plain, declared)):
            yield from map(_declare, declared)
            return
    yield opaque(run)


def _use(use: ParsedUse, *, intrinsic: bool) -> Use:
    listed = use.renames if use.only is None else use.only
    names = tuple(Imported(name.local, name.original) for name in listed)
    return Use(use.module, names, intrinsic, whole=use.only is None)


def _read(statement: SourceStatement) -> tuple[Declaration, ...]:
    """Return the declarations of `statement`, or () if `Declare` cannot represent them."""
    if _PARAMETERISED.match(statement.text) or "=>" in statement.text:
        return ()
    try:
        return read_declarations(statement)
    except CompileError:
        return ()


def _is_plain(declaration: Declaration) -> bool:
    exprs = [*declaration.shape, *([declaration.value] if declaration.value else [])]
    has_length = any(word.startswith("len=") for word in declaration.attributes)
    return not has_length and not any(map(_is_unreadable, exprs))


def _is_unreadable(expr: Expr) -> bool:
    match expr:
        case Star() | Range(_, Star()):
            return False
    return any(isinstance(part, Verbatim) for part in walk(expr))


def _declare(declaration: Declaration) -> Declare:
    attributes = tuple(
        word
        for word in declaration.attributes
        if word != "class" and not word.startswith("dimension(")
    )
    polymorphic = "class" in declaration.attributes
    return Declare(
        declaration.name,
        declaration.type,
        attributes,
        declaration.shape,
        polymorphic,
        declaration.value,
    )


# ---------------------------------------------------------------------------- what specifies


def _specifies(statement: SourceStatement) -> bool:
    """Return whether a statement belongs to a specification part."""
    text = statement.text
    if SPECIFIES.match(text) or INTERFACE.match(text) or TYPE_DEFINITION.match(text):
        return True
    return _uses(statement) or _declares(statement)


def _uses(statement: SourceStatement) -> bool:
    """Return whether a statement is a `use` statement, possibly with an error."""
    try:
        return read_use(statement) is not None
    except CompileError:
        return True


def _declares(statement: SourceStatement) -> bool:
    """Return whether a statement declares variables, possibly with an error."""
    try:
        return bool(read_declarations(statement))
    except CompileError:
        return True


def _end_of_block(run: Sequence[Element], place: int) -> int:
    """Return the position after the definition, interface or single statement at `place`."""
    element = run[place]
    text = element.text
    end = next((closes for opens, closes in _ENDS if opens.match(text)), None)
    if end is None or not isinstance(element, SourceStatement):
        return place + 1
    for position in range(place, len(run)):
        item = run[position]
        if isinstance(item, SourceStatement) and end.match(item.text):
            return position + 1
    return len(run)
