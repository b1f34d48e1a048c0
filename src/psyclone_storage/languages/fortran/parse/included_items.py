"""Declarations and statement functions in the files that a specification part includes.

An included file is read if it contains nothing else, and no line for the preprocessor except
further inclusions. Its items follow the line that includes it, and their locations are in the
included file. A file that is not read may declare any name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from psyclone_storage.base.diagnostic import CompileError
from psyclone_storage.base.records import replace
from psyclone_storage.base.regex import regex
from psyclone_storage.base.source import SourceText
from psyclone_storage.ir.routine import (
    DeclarationStatement,
    Routine,
    SourceFile,
    SpecificationItem,
    UseStatement,
)
from psyclone_storage.ir.unit import Blank, Comment, DirectiveLine, Include, Line, Opaque
from psyclone_storage.languages.fortran.parse.fixed_form import fixed_source
from psyclone_storage.languages.fortran.parse.syntax_tree import read_file
from psyclone_storage.languages.sources.module_finder import ModuleFinder

_INCLUDE = regex(
    r"\s*(?:#\s*)?include\s*(?:'(?P<a>[^']+)'|\"(?P<b>[^\"]+)\"|<(?P<c>[^>]+)>)\s*$", re.IGNORECASE
)
_REMARKS = (Comment, Blank, DirectiveLine)


def with_included_items(
    unit: Routine, source: SourceText, finder: ModuleFinder
) -> tuple[Routine, tuple[str, ...]]:
    """Return a unit with the items of included files, and the names of the files that were read.

    Inclusions at the start of the statements belong to the specification part if their files do.
    """
    reader = _IncludedFiles(finder, source)
    items = [*reader.expanded(unit.specification)]
    stop = 0
    for at, line in enumerate(unit.body, 1):
        if _file_of(line) and reader.items(_file_of(line)) is not None:
            stop = at
        elif not isinstance(line, _REMARKS):
            break
    items += reader.expanded(_included_or_remarks(unit.body[:stop]))
    if not reader.read:
        return unit, ()
    return replace(unit, specification=tuple(items), body=unit.body[stop:]), tuple(reader.read)


def _included_or_remarks(lines: Iterable[Line]) -> Iterator[SpecificationItem]:
    """Yield the statements that may be in a specification part, too."""
    for line in lines:
        if isinstance(line, _REMARKS) or (isinstance(line, Include | Opaque) and _file_of(line)):
            yield line


def _file_of(item: Line | SpecificationItem) -> str:
    """Return the name of the file that a line includes, empty for another line."""
    match item:
        case Include(file):
            return file.strip("'\"")
        case Opaque(text) if found := _INCLUDE.match(text):
            return found["a"] or found["b"] or found["c"]
    return ""


def _specification_of(file: SourceFile) -> tuple[SpecificationItem, ...] | None:
    """Return the items of an included file, None if it contains other statements."""
    found: list[SpecificationItem] = []
    for unit in file.units:
        if not isinstance(unit, Routine):
            found.append(unit)
            continue
        rest = tuple(_included_or_remarks(unit.body))
        if unit.place or unit.end or unit.contained or len(rest) < len(unit.body):
            return None
        found += (*unit.specification, *rest)
    return tuple(found)


class _IncludedFiles:
    """Reader of the files that a text includes; `read` are their names in the text."""

    def __init__(
        self, finder: ModuleFinder, source: SourceText, around: frozenset[Path] = frozenset()
    ) -> None:
        self._finder = finder
        self._source = source
        self._around = around
        self.read: dict[str, None] = {}

    def expanded(self, items: Iterable[SpecificationItem]) -> Iterator[SpecificationItem]:
        """Yield items, with those of included files after the lines that include them."""
        for item in items:
            name = _file_of(item)
            inside = self.items(name) if name else None
            if inside is None:
                yield item
                continue
            self.read[name] = None
            yield Include(f"'{name}'", place=item.place) if isinstance(item, Opaque) else item
            yield from inside

    def items(self, name: str) -> tuple[SpecificationItem, ...] | None:
        """Return the items in an included file, None if it is not read."""
        path = self._finder.included(name, Path(self._source.name).parent)
        if path is None or path in self._around:
            return None
        try:
            source = self._finder.index.read(path)
        except CompileError:
            return None
        if self._source.written is not None:
            source = fixed_source(source)
        own = _specification_of(read_file(source))
        if own is None:
            return None
        inner = _IncludedFiles(self._finder, source, self._around | {path})
        items = tuple(inner.expanded(own))
        return items if all(map(inner.is_understood, items)) else None

    def is_understood(self, item: SpecificationItem) -> bool:
        """Return whether an item is a declaration, or the line of a file that was read."""
        if _file_of(item):
            return _file_of(item) in self.read
        if isinstance(item, Opaque):
            return item.text.lstrip()[:1] != "#"
        return isinstance(item, (*_REMARKS, DeclarationStatement, UseStatement))
