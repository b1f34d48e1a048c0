"""Interfaces of modules and external procedures as text, without the bodies of procedures.

A file whose callers are transformed by other commands has such a text in its contracts. The body of
each procedure is a statement that is not Fortran, so that each analysis treats it as unknown.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import zip_longest

from psyclone_storage.base.regex import regex
from psyclone_storage.base.source import SourceText, Span
from psyclone_storage.ir import unit as un
from psyclone_storage.ir.keys import key_of
from psyclone_storage.ir.parsed import ScopeKind
from psyclone_storage.ir.routine import DeclarationStatement, Routine, SpecificationItem
from psyclone_storage.languages.fortran.parse.statements import scan

BODY = "this procedure is in another file"
_WORD = regex(r"[a-z]\w*")


def interface_text(unit: Routine) -> str:
    """Return the interface of a module or of an external procedure.

    The declarations in included files are part of it. Comments and the local variables of
    procedures are not, so that it does not change with them.
    """
    lines = [unit.opening]
    if unit.kind is not ScopeKind.MODULE:
        return "\n".join((*lines, *_procedure(unit))) + "\n"
    lines += _texts(unit.specification)
    if unit.contained:
        lines.append("contains")
    for item in unit.contained:
        if isinstance(item, Routine):
            lines += (item.opening, *_procedure(item))
        else:
            lines += _texts((item,))
    return "\n".join((*lines, "end module")) + "\n"


def _procedure(unit: Routine) -> Iterator[str]:
    """Yield the declarations of the arguments of a procedure, its body, and its end."""
    stated = [one for one in unit.specification if isinstance(one, DeclarationStatement)]
    others = "\n".join(_texts(one for one in unit.specification if one not in stated))
    needed = {unit.key, key_of(unit.result), *unit.dummy_keys, *_WORD.findall(key_of(others))}
    size = 0
    while size != len(needed):
        size = len(needed)
        for one in stated:
            if one.place is not None and needed.intersection(item.key for item in one.declares):
                needed.update(_WORD.findall(key_of(one.place.text)))
    kept = [
        one
        for one in unit.specification
        if not isinstance(one, DeclarationStatement)
        or needed.intersection(item.key for item in one.declares)
    ]
    yield from _texts(kept)
    yield BODY
    yield f"end {unit.kind.value}"


def _texts(items: Iterable[SpecificationItem]) -> Iterator[str]:
    """Yield the statements of a specification part, without comments.

    The line of an included file that was read is left out; its statements follow it.
    """
    known = list(items)
    for item, following in zip_longest(known, known[1:]):
        if isinstance(item, un.Comment | un.Blank) or item.place is None:
            continue
        following_place = None if following is None else following.place
        is_read = following_place and following_place.source is not item.place.source
        if not (isinstance(item, un.Include) and is_read):
            yield from _lines(item, item.place)


def _lines(item: SpecificationItem, place: Span) -> Iterator[str]:
    """Yield the statements of an item, each in one line of free form."""
    if isinstance(item, un.DirectiveLine | un.Include) or "#" in place.text:
        yield place.text
        return
    fixed = place.source.written is not None
    text = f"      {place.text}" if fixed else place.text
    source = SourceText(place.source.name, text, written=text if fixed else None)
    yield from (one.text for one in scan(source))
