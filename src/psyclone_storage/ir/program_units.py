"""A whole file of Fortran: its program units, their specification parts, statements and procedures.

Everything knows its place in the file, so that what is not changed can be printed as it was
written. What is not understood is `Opaque`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from psyclone_storage.base.records import dataclass, field, replace
from psyclone_storage.base.source import SourceText, Span
from psyclone_storage.ir import unit as un
from psyclone_storage.ir.parsed import ScopeKind


@dataclass(frozen=True, slots=True)
class UseStatement:
    """A `use` statement."""

    use: un.Use
    place: Span | None = field(default=None, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class DeclarationStatement:
    """A statement that declares one variable or several of one type."""

    declares: tuple[un.Declare, ...]
    place: Span | None = field(default=None, compare=False, repr=False, kw_only=True)


Between = un.Comment | un.Blank | un.DirectiveLine | un.Include | un.Opaque
"""What stands between units, and between statements of a specification part."""

SpecificationItem = UseStatement | DeclarationStatement | Between


@dataclass(frozen=True, slots=True)
class ProgramUnit:
    """A main program, a module, a procedure, or whatever else `kind` says.

    `opening` is its first statement as written, in one line; a main program may have none.
    `dummies` are the names of a procedure's arguments, `result` is that of a function's result.
    `contained` are the procedures after `contains`, with the text between them. The places are
    those of the opening, of `contains`, and of the end; `extent` is that of all of it.
    """

    kind: ScopeKind
    name: str
    opening: str = ""
    dummies: tuple[str, ...] = ()
    result: str = ""
    specification: tuple[SpecificationItem, ...] = ()
    body: tuple[un.Line, ...] = ()
    contained: tuple[ProgramUnit | Between, ...] = ()
    place: Span | None = field(default=None, compare=False, repr=False, kw_only=True)
    contains: Span | None = field(default=None, compare=False, repr=False, kw_only=True)
    end: Span | None = field(default=None, compare=False, repr=False, kw_only=True)
    extent: Span | None = field(default=None, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file: its text, and its program units with the text between them.

    `statements` are the offsets of the first character and of the end of each statement, in the
    order of the text. The first character of a statement with a label is that of the label.
    """

    source: SourceText = field(repr=False, compare=False)
    units: tuple[ProgramUnit | Between, ...] = ()
    statements: tuple[tuple[int, int], ...] = field(default=(), repr=False, compare=False)

    def every_unit(self) -> Iterator[ProgramUnit]:
        """Yield all units and the procedures in them, outer ones first."""
        for unit in self.units:
            if isinstance(unit, ProgramUnit):
                yield from _with_inner(unit)

    def changed(self, change: Callable[[ProgramUnit], ProgramUnit]) -> SourceFile:
        """Return the file with each unit as `change` makes it, inner ones first."""
        return replace(self, units=_changed(self.units, change))


def _with_inner(unit: ProgramUnit) -> Iterator[ProgramUnit]:
    yield unit
    for inner in unit.contained:
        if isinstance(inner, ProgramUnit):
            yield from _with_inner(inner)


def _changed(
    units: tuple[ProgramUnit | Between, ...], change: Callable[[ProgramUnit], ProgramUnit]
) -> tuple[ProgramUnit | Between, ...]:
    return tuple(
        change(replace(unit, contained=_changed(unit.contained, change)))
        if isinstance(unit, ProgramUnit)
        else unit
        for unit in units
    )
