"""Nodes of a file, its modules and its procedures, in PSyclone's form."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Iterator
from itertools import accumulate
from pathlib import Path
from typing import ClassVar

from psyclone_storage.base.records import replace
from psyclone_storage.base.splices import common_ends
from psyclone_storage.ir import expr as ex
from psyclone_storage.ir import routine as rt
from psyclone_storage.ir.keys import key_of
from psyclone_storage.ir.parsed import ScopeKind
from psyclone_storage.ir.rewrite import blocks_of, expressions_of, walk_lines
from psyclone_storage.ir.unit import Line
from psyclone_storage.scripting.psyir import calls, choices, directives, loops
from psyclone_storage.scripting.psyir.known_nodes import Known
from psyclone_storage.scripting.psyir.live import LiveNode
from psyclone_storage.scripting.psyir.statements import Lines, Schedule, Statement, grouped
from psyclone_storage.scripting.psyir.symbols import RoutineSymbol, Symbol, SymbolTable
from psyclone_storage.transform.file_bench import FileBench

_NODES = (calls.Call, choices.IfBlock, directives.Directive, loops.Loop)
"""Node classes whose modules register the nodes of their statements on import."""

_HOLDERS = (ScopeKind.MODULE, ScopeKind.SUBMODULE, ScopeKind.BLOCK_DATA)


class UnitNode(LiveNode):
    """A program unit with the units that it contains."""

    never_in_expressions: ClassVar[bool] = True
    is_routine = False
    fixed: ClassVar[str] = "A procedure cannot be removed from a file."

    def __init__(self, unit: rt.Routine, outer: SymbolTable | None) -> None:
        super().__init__()
        self.take(unit, outer)

    def take(self, unit: rt.Routine, outer: SymbolTable | None) -> None:
        """Represent `unit` in the scope of the table `outer`."""
        self.unit = unit
        items = unit.specification
        declares = (one for item in items if isinstance(item, rt.DeclarationStatement)
                    for one in item.declares)  # fmt: skip
        uses = (item.use for item in items if isinstance(item, rt.UseStatement))
        self.table = SymbolTable(declares, uses, unit.dummies, outer)
        self.table.node = self
        self.inner = [
            _node_of_unit(one, self.table) for one in unit.contained if isinstance(one, rt.Routine)
        ]

    @property
    def name(self) -> str:
        """The name of the unit."""
        return key_of(self.unit.name)

    def _details(self) -> str:
        return self.unit.name

    def frozen(self) -> rt.Routine:
        """Return the unit; without edits, the original record."""
        inner = iter(self.inner)
        contained = tuple(
            next(inner).frozen() if isinstance(one, rt.Routine) else one
            for one in self.unit.contained
        )
        body, specification = self.frozen_body(), self._specification()
        if (
            body is self.unit.body
            and specification is self.unit.specification
            and all(one is other for one, other in zip(contained, self.unit.contained, strict=True))
        ):
            return self.unit
        return replace(self.unit, specification=specification, body=body, contained=contained)

    def frozen_body(self) -> Lines:
        """Return the statements."""
        return self.unit.body

    def _specification(self) -> tuple[rt.SpecificationItem, ...]:
        uses, declares = self.table.new_uses(), self.table.new_declarations()
        items = self.unit.specification
        if not uses and not declares:
            return items
        imported = tuple(map(rt.UseStatement, uses))
        declared = tuple(rt.DeclarationStatement((one,)) for one in declares)
        return (*imported, *items, *declared)


class Container(UnitNode):
    """A module."""

    def _shown(self) -> Iterable[LiveNode]:
        return self.inner

    @property
    def symbol_table(self) -> SymbolTable:
        """The symbols of the module."""
        return self.table

    def debug_string(self) -> str:
        """Return the procedures of the module as Fortran text."""
        return "".join(child.debug_string() for child in self.children)


class Routine(UnitNode, Schedule):
    """A subroutine, a function or a main program."""

    is_routine = True
    fixed: ClassVar[str] = ""

    # UnitNode's would call 'LiveNode.__init__' only.
    # pylint: disable-next=super-init-not-called
    def __init__(self, unit: rt.Routine, outer: SymbolTable | None) -> None:
        Schedule.__init__(self)
        self._block = self._source_block = unit.body
        self.take(unit, outer)
        self._is_mentioned = False
        self.key = ""

    def _shown(self) -> Iterable[LiveNode]:
        root = self.root
        if self.key and isinstance(root, FileContainer) and root.bench is not None:
            self._source_block = root.bench.code(self.key).body
            self._block = None if self._block is None else self._source_block
        return super()._shown()

    @property
    def is_seen(self) -> bool:
        """Return whether a script has accessed the statements."""
        return self._children is not None

    @property
    def symbol_table(self) -> SymbolTable:
        """The symbols of the routine."""
        if not self._is_mentioned:
            self._is_mentioned = True
            self.table.mention(_names(self.unit.body))
        return self.table

    @property
    def symbol(self) -> Symbol:
        """The symbol of the routine."""
        if self.parent is not None and hasattr(type(self.parent), "symbol_table"):
            found: Symbol = self.parent.symbol_table.of_name(ex.Name(self.unit.name))
            return found
        return RoutineSymbol(self.unit.name)

    @property
    def is_program(self) -> bool:
        """Return whether it is a main program."""
        return self.unit.kind is ScopeKind.PROGRAM

    @property
    def return_symbol(self) -> Symbol | None:
        """The symbol of a function's result; None for other routines."""
        if self.unit.kind is not ScopeKind.FUNCTION:
            return None
        found: Symbol = self.symbol_table.of_name(ex.Name(self.unit.result or self.unit.name))
        return found

    def frozen_body(self) -> Lines:
        """Return the statements."""
        return self.block()

    def show(self, body: Lines, *, rewritten: bool = False) -> None:
        """Update the nodes to show `body`, the result of a transformation step.

        Existing nodes follow their statements. If statements are `rewritten`, and not only enclosed
        in directives, unchanged statements also keep their nodes.
        """
        if body is self._block:
            return
        if not rewritten:
            self.sync(body, None)
            return
        before = self.block()
        starts = [0, *accumulate(one.size for one in self.children)]
        first, stop = _changed_nodes(starts, before, body)
        later = self.children[stop:]
        rest = len(before) - starts[stop] if later else 0
        lines = body[starts[first] : len(body) - rest]
        same = _unchanged(before[starts[first] : len(before) - rest], lines)
        known = Known(_with_lines(self.children[first:stop], same), same)
        nodes, tail = grouped(lines, known)
        self._block = self._source_block = body
        if later:
            later[0].lead = (*tail, *later[0].lead)
        else:
            self.tail = tail
        # A node that has moved into a construct is no longer among the children.
        self.take_nodes(nodes, known, first, len(self.children) - len(later))

    def debug_string(self) -> str:
        """Return the statements as Fortran text."""
        return Schedule.debug_string(self)


def _names(body: Lines) -> Iterator[ex.Name]:
    for line in walk_lines(body):
        for expr in expressions_of(line):
            yield from (part for part in ex.walk(expr) if isinstance(part, ex.Name))


def _with_lines(nodes: Iterable[LiveNode], same: Collection[int]) -> Iterator[Statement]:
    """Yield the statements among nodes and those below, of which the children have been created.

    Those inside a statement whose identity is in `same` are left out.
    """
    for node in nodes:
        if isinstance(node, Statement):
            yield node
            if id(node.line()) not in same:
                for block in node.blocks():
                    yield from _with_lines(block.children, same)


def _changed_nodes(starts: list[int], before: Lines, after: Lines) -> tuple[int, int]:
    """Return the range of the nodes that a change of a block from `before` to `after` concerns.

    `starts` are the indices in `before` at which the nodes start, and the last one ends. A node
    next to a change is in the range, because a comment between them may change its owner.
    """
    common, common_at_end = common_ends(before, after)
    first = max(bisect_right(starts, common) - 2, 0)
    stop = bisect_left(starts, len(before) - common_at_end) + 1
    return first, min(stop, len(starts) - 1)


def _unchanged(before: Lines, after: Lines) -> frozenset[int]:
    """Return the identities of the statements that two versions of a body have in common.

    Those inside a common statement are left out. A statement may have another level.
    """
    same: set[int] = set()
    only: tuple[dict[int, Line], dict[int, Line]] = ({}, {})
    new: tuple[Iterable[Line], Iterable[Line]] = before, after
    while True:
        added = [{id(line): line for line in lines} for lines in new]
        for one, more in zip(only, added, strict=True):
            one.update(more)
        common = only[0].keys() & only[1].keys()
        same |= common
        for one in only:
            for number in common:
                del one[number]
        inside = [
            [inner for number, line in more.items() if number not in common
             for block in blocks_of(line) for inner in block]
            for more in added
        ]  # fmt: skip
        if not any(inside):
            return frozenset(same)
        new = inside[0], inside[1]


class FileContainer(LiveNode):
    """The root node of a file; edits and transformations are passed to `bench` if there is one."""

    never_in_expressions: ClassVar[bool] = True
    fixed: ClassVar[str] = "A program unit cannot be removed from a file."

    def __init__(self, name: str, file: rt.SourceFile, bench: FileBench | None = None) -> None:
        super().__init__()
        self.name = name
        self.bench = bench
        self._file = file
        self.units = [_node_of_unit(one, None) for one in file.units if isinstance(one, rt.Routine)]

    @staticmethod
    def on(bench: FileBench) -> FileContainer:
        """Return the tree of the file in `bench`."""
        return FileContainer(Path(bench.file.source.name).name, bench.file, bench)

    def _shown(self) -> Iterator[LiveNode]:
        keys = {}
        if self.bench is not None:
            routines = self.bench.file.routines()
            keys = {_start_of(unit): key for key, unit in routines.items()}
        for unit in self.units:
            for routine in _routines_in(unit):
                routine.key = keys.get(_start_of(routine.unit), "")
        yield from self.units
        for unit in self.units:
            yield from _internal(unit)

    @property
    def routines(self) -> list[Routine]:
        """All procedures and main programs, in source order."""
        return self.walk(Routine)

    def frozen(self) -> rt.SourceFile:
        """Return the file with all edits; without edits, the original record."""
        units = iter(self.units)
        made = tuple(
            next(units).frozen() if isinstance(one, rt.Routine) else one for one in self._file.units
        )
        if all(one is other for one, other in zip(made, self._file.units, strict=True)):
            return self._file
        return replace(self._file, units=made)

    def _details(self) -> str:
        return self.name

    def debug_string(self) -> str:
        """Return the procedures of the file as Fortran text."""
        return "".join(child.debug_string() for child in self.children)


def _start_of(unit: rt.Routine) -> int:
    return -1 if unit.extent is None else unit.extent.start


def _routines_in(unit: UnitNode) -> Iterator[Routine]:
    if isinstance(unit, Routine):
        yield unit
    for inner in unit.inner:
        yield from _routines_in(inner)


def _internal(unit: UnitNode) -> Iterator[UnitNode]:
    """Yield the internal procedures of procedures in `unit`."""
    for inner in unit.inner:
        if isinstance(unit, Routine):
            yield inner
        yield from _internal(inner)


def _node_of_unit(unit: rt.Routine, outer: SymbolTable | None) -> UnitNode:
    return (Container if unit.kind in _HOLDERS else Routine)(unit, outer)
