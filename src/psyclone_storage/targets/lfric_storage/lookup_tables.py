"""Other data that device regions read: maps, sizes, basis functions, scalar arrays.

Each array has a storage, found by its address, which is acquired around the region that reads it;
the region accesses a window. Maps of the infrastructure never change and stay on the device. Basis
functions and weights are recomputed for each routine call with the same values; their storages are
found by value and stay too. Other data are deleted at the end of the call.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from psyclone_storage.base.records import replace
from psyclone_storage.ir.directive import Directive
from psyclone_storage.ir.expr import Expr, Keyword, Name, logical
from psyclone_storage.ir.rewrite import everywhere, substituted, walk_lines, with_each_block
from psyclone_storage.ir.schedule import DirectiveRegion, Loop, Statement
from psyclone_storage.ir.transfer import Side
from psyclone_storage.ir.unit import Assign, Call, Declare, DirectiveBlock, Line
from psyclone_storage.lowering.emit_storage import space_word
from psyclone_storage.lowering.infrastructure import LoweringContext
from psyclone_storage.lowering.routine_builder import SetupSection, colons
from psyclone_storage.targets.lfric_fortran.device import arrays_in
from psyclone_storage.targets.lfric_storage import abi

_ON_DEVICE = (Directive.ACC_PARALLEL, Directive.ACC_KERNELS)
_ALIKE = (SetupSection.QUADRATURE, SetupSection.BASIS)
"""The sections of arrays that are made anew, with the same values each time."""


def with_tables(
    context: LoweringContext,
    item: Statement,
    lines: tuple[Line, ...],
    *,
    maps_stay: bool = True,
) -> tuple[Line, ...]:
    """Return the lines of a statement, with tables acquired around device regions.

    Maps of the infrastructure stay on the device if the infrastructure or the program reports when
    it frees them.
    """
    if not isinstance(item, Loop | DirectiveRegion):
        return lines
    blocks = tuple(line for line in walk_lines(lines) if _runs_on_device(line))
    names = tuple(dict.fromkeys(_tables(context, blocks)))
    if not names:
        return lines
    windows = {name: _window(context, name, maps_stay) for name in names}
    before = [_asked(context, abi.ACQUIRE_TABLE, name, windows[name]) for name in names]
    after = [_asked(context, abi.RELEASE_TABLE, name) for name in names]
    return (*before, *_looking_through(lines, windows), *after)


def _runs_on_device(line: Line) -> bool:
    return isinstance(line, DirectiveBlock) and line.directive in _ON_DEVICE


def _tables(context: LoweringContext, blocks: tuple[Line, ...]) -> Iterator[str]:
    """Yield the arrays that regions read and that are not windows of fields."""
    held = {name.text for _, name in context.work.asked_for("window")}
    assigned = {line.target for line in walk_lines(blocks) if isinstance(line, Assign)}
    for name in arrays_in(context, blocks):
        if name not in held and Name(name) not in assigned:
            yield name


def _window(context: LoweringContext, name: str, maps_stay: bool) -> Name:
    """Return the window (pointer) to the device copy of an array while it is acquired."""
    declared = _declared(context, name)
    attributes = ("pointer", "contiguous")
    wished = Declare(f"{name}_there", declared.type, attributes, colons(len(declared.shape)))
    window = context.work.variable(SetupSection.DATA, ("table", name), wished)
    stays = _stays(context, name)
    forgotten = not (maps_stay and stays) and not _is_alike(context, name)
    if context.work.first(("forgotten", name)) and forgotten:
        procedure = Name(context.work.imports.local(abi.TABLES_MODULE, abi.FORGET_TABLE))
        told = (Keyword(abi.UNLESS_TOLD, logical(value=True)),) if stays else ()
        context.work.at_end(Call(procedure, (Name(name), *told)))
    return window


def _declared(context: LoweringContext, name: str) -> Declare:
    """Return the declaration of an array: a variable or an argument."""
    if found := context.work.found(name):
        return found[1]
    datum = context.schedule.datum(name)
    return context.work.dummy(Declare(name, datum.type, (), colons(datum.rank)))


def _stays(context: LoweringContext, name: str) -> bool:
    """Return whether an array outlives the routine and is constant."""
    found = context.work.found(name)
    if found is None:
        return False
    section, declared = found
    return "pointer" in declared.attributes and section is not SetupSection.COLUMNS


def _is_alike(context: LoweringContext, name: str) -> bool:
    """Return whether an array is recomputed for each call with the same values."""
    found = context.work.found(name)
    return found is not None and found[0] in _ALIKE


def _asked(context: LoweringContext, word: str, name: str, *window: Name) -> Call:
    procedure = Name(context.work.imports.local(abi.TABLES_MODULE, word))
    alike = (Keyword(abi.ALIKE, logical(value=True)),) if _is_alike(context, name) else ()
    return Call(procedure, (Name(name), space_word(context, Side.DEVICE), *window, *alike))


def _looking_through(lines: Iterable[Line], windows: Mapping[str, Name]) -> tuple[Line, ...]:
    """Return lines in which device regions use windows instead of arrays."""
    values: dict[str, Expr] = dict(windows)

    def changed(line: Line) -> Line:
        if not isinstance(line, DirectiveBlock) or not _runs_on_device(line):
            return with_each_block(line, lambda block: _looking_through(block, windows))
        body = everywhere(line.body, lambda expr: substituted(expr, values))
        return replace(line, body=body)

    return tuple(map(changed, lines))
