"""Parsing of the units of Fortran files with their specifications, statements and procedures.

A whole file is always read to its end. Unsupported text is stored in the tree as text. All branches
of preprocessor conditionals around units or their first statements are read. A kernel is a single
unit, which transformations change and which is printed again: see `read_lines`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from psyclone_storage.base.records import replace
from psyclone_storage.base.regex import regex
from psyclone_storage.base.source import SourceText, Span
from psyclone_storage.ir import routine as rt
from psyclone_storage.ir.loops import addressed
from psyclone_storage.ir.parsed import ScopeKind
from psyclone_storage.ir.unit import Declare, Include, Opaque
from psyclone_storage.languages.fortran.parse.comments import (
    conditional_step,
    is_conditional,
    is_other_branch,
    remark_line,
)
from psyclone_storage.languages.fortran.parse.constructs import read_lines, read_whole_lines
from psyclone_storage.languages.fortran.parse.scope_reader import read_scopes
from psyclone_storage.languages.fortran.parse.spec_part import (
    end_of_specification,
    read_items,
)
from psyclone_storage.languages.fortran.parse.spec_statements import read_procedure
from psyclone_storage.languages.fortran.parse.statements import SourceStatement
from psyclone_storage.languages.fortran.parse.trivia import (
    Element,
    Remark,
    RemarkKind,
    elements,
    start_of,
    stop_of,
)

_UNIT = regex(
    r"(?P<kind>program|module|submodule|block\s*data)\b\s*(?:\([^()]*\)\s*)?(?P<name>[a-z]\w*)?$",
    re.IGNORECASE,
)
_SEPARATE = regex(r"module\s+procedure\s+(?P<name>[a-z]\w*)$", re.IGNORECASE)
_END = regex(
    r"end(?:\s*(?:subroutine|function|program|module|submodule|procedure|block\s*data)\b"
    r"(?:\s*\w+)?)?$",
    re.IGNORECASE,
)
_BETWEEN = (RemarkKind.COMMENT, RemarkKind.BLANK)
_INCLUDE = regex(r"include\s*(?P<file>'[^']*'|\"[^\"]*\")$", re.IGNORECASE)


def read_file(source: SourceText) -> rt.SourceFile:
    """Return the tree of a whole file."""
    statements = read_scopes(source).statements
    run = tuple(elements(statements, source.whole()))
    places = tuple((start_of(item), stop_of(item)) for item in statements)
    units = tuple(_UnitReader(source, run, whole=True).units(inside=False))
    return rt.SourceFile(source, units, places)


def read_unit(run: Sequence[Element], module: rt.KernelModule) -> rt.Routine:
    """Parse the kernel in `run`, which contains its first statement but not its last."""
    source = module.source
    return replace(_UnitReader(source, run, whole=False).unit(), module=module)


class _UnitReader:
    """Position in a sequence of elements, advanced while units are parsed."""

    def __init__(self, source: SourceText, run: Sequence[Element], *, whole: bool) -> None:
        self._source = source
        self._run = run
        self._whole = whole
        self._at = 0

    def units(self, *, inside: bool) -> Iterator[rt.Routine | rt.Between]:
        """Yield units and the text between them; `inside` an enclosing unit, stop at its end."""
        while self._at < len(self._run):
            element = self._run[self._at]
            if isinstance(element, Remark):
                self._at += 1
                yield remark_line(element)
            elif inside and _END.match(element.text):
                return
            elif included := _INCLUDE.match(element.text):
                self._at += 1
                yield Include(included["file"], place=element.whole())
            else:
                yield self.unit()

    def unit(self) -> rt.Routine:
        """Parse the program unit that starts here, possibly a main program without `program`."""
        first = self._run[self._at]
        assert isinstance(first, SourceStatement)
        head = _opening(first)
        start = self._at
        place = None
        if head is not None:
            self._at += 1
            if self._whole:
                self._other_openings()
            place = self._place(start, self._at)
        body = self._end_of_specification()
        specification = read_items(self._run[self._at : body], whole=self._whole)
        if functions := _end_of_functions(self._run[body : self._end_of_body(body)], specification):
            body += functions
            specification = read_items(self._run[self._at : body], whole=self._whole)
        specified = self._specified(place, body)
        stop = self._end_of_body(body)
        lines = (read_whole_lines if self._whole else read_lines)(self._run[body:stop])
        self._at = stop
        contains = self._contains()
        contained = tuple(self.units(inside=True)) if contains else ()
        last = self._run[self._at] if self._at < len(self._run) else None
        end = last.whole() if isinstance(last, SourceStatement) else None
        self._at += end is not None
        return addressed(
            replace(
                head or rt.Routine("", kind=ScopeKind.PROGRAM),
                specification=specification,
                body=lines,
                contained=contained,
                place=place,
                specified=specified,
                contains=contains,
                end=end,
                extent=self._place(start, self._at),
            )
        )

    def _specified(self, place: Span | None, stop: int) -> Span | None:
        """Return the location of a specification part up to its last statement or directive."""
        if place is None:
            return None
        ends = [
            stop_of(item)
            for item in self._run[self._at : stop]
            if not isinstance(item, Remark) or item.kind not in _BETWEEN
        ]
        return Span(self._source, place.stop, max(ends, default=place.stop))

    def _is_statement(self) -> bool:
        return self._at < len(self._run) and isinstance(self._run[self._at], SourceStatement)

    def _other_openings(self) -> None:
        """Skip first statements of the unit in other branches of the preprocessor conditional."""
        at = self._at
        while at < len(self._run) and not is_conditional(self._run[at]):
            if isinstance(self._run[at], SourceStatement):
                return
            at += 1
        depth = 0
        while at < len(self._run):
            element = self._run[at]
            at += 1
            if isinstance(element, SourceStatement):
                if _opening(element) is None:
                    return
            elif depth == 0 and not is_other_branch(element) and not conditional_step(element):
                continue
            elif conditional_step(element) == 1:
                return
            elif conditional_step(element) == -1:
                self._at = at if depth else self._at
                return
            elif is_other_branch(element):
                depth = 1

    def _end_of_specification(self) -> int:
        """Return the position after the specification part, which may contain `include` lines."""
        run, at = self._run, self._at
        stop = at + end_of_specification(run[at:])
        while self._whole and stop < len(run):
            following = self._behind_include(stop)
            more = end_of_specification(run[following:]) if following else 0
            if not more or following is None:
                break
            stop = following + more
        return stop

    def _behind_include(self, at: int) -> int | None:
        """Return the position after an `include` line if this is the next statement, else None."""
        for place in range(at, len(self._run)):
            element = self._run[place]
            if isinstance(element, SourceStatement):
                return place + 1 if _INCLUDE.match(element.text) else None
        return None

    def _end_of_body(self, start: int) -> int:
        for place in range(start, len(self._run)):
            element = self._run[place]
            if isinstance(element, SourceStatement) and (
                _END.match(element.text) or element.text.lower() == "contains"
            ):
                return place
        return len(self._run)

    def _contains(self) -> Span | None:
        if not self._is_statement():
            return None
        element = self._run[self._at]
        if not isinstance(element, SourceStatement) or element.text.lower() != "contains":
            return None
        self._at += 1
        return element.whole()

    def _place(self, start: int, stop: int) -> Span:
        first, last = self._run[start], self._run[stop - 1]
        return Span(self._source, start_of(first), stop_of(last))


def _end_of_functions(run: Sequence[Element], specification: Sequence[rt.SpecificationItem]) -> int:
    """Return the position after the statement functions at the start of `run`.

    Statement functions belong to the specification part, which declares their types.
    """
    declarations = rt.declarations_in(specification)
    unclear = frozenset[str]().union(
        *(item.names for item in declarations if isinstance(item, Opaque))
    )
    scalars = {
        item.key
        for item in declarations
        if isinstance(item, Declare) and not item.shape and not item.attributes
    }
    end = 0
    for place, item in enumerate(run, 1):
        if isinstance(item, Remark):
            continue
        found = rt.STATEMENT_FUNCTION.match(item.text)
        if found is None or found["name"].lower() not in scalars - unclear:
            break
        end = place
    return end


def _opening(statement: SourceStatement) -> rt.Routine | None:
    """Return a unit for its first statement, or None for another statement."""
    text = statement.text
    if found := _SEPARATE.match(text):
        return rt.Routine(found["name"], kind=ScopeKind.SEPARATE, opening=text)
    if found := _UNIT.match(text):
        kind = ScopeKind(" ".join(found["kind"].lower().replace("blockdata", "block data").split()))
        return rt.Routine(found["name"] or "", kind=kind, opening=text)
    head = read_procedure(statement)
    if head is None:
        return None
    return rt.Routine(
        head.name,
        head.dummies,
        kind=ScopeKind(head.kind),
        prefix=head.prefix,
        suffix=head.suffix,
        opening=text,
        result=head.result,
    )
