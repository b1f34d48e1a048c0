"""Other data that device regions read: maps, sizes, basis functions, arrays of scalars.

Each has its own storage, found by the address of the array, and is held around the region that
reads it there; the region accesses a window. Maps of the infrastructure stay, as they never change.
Basis functions and weights are made anew for each call of the routine, with the same values: they
are found by these, and stay, too. Other data of one call are deleted at its end.
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
    """Return the lines of a statement with what holds tables around regions on a device.

    Maps of the infrastructure stay there if it says when it frees them, or if the program does.
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
    """Yield the names of arrays in regions that are no windows of fields, and not written there."""
    held = {name.text for _, name in context.work.asked_for("window")}
    assigned = {line.target for line in walk_lines(blocks) if isinstance(line, Assign)}
    for name in arrays_in(context, blocks):
        if name not in held and Name(name) not in assigned:
            yield name


def _window(context: LoweringContext, name: str, maps_stay: bool) -> Name:
    """Return the pointer to what a device has of an array, while it is held."""
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
    """Return the declaration of an array: a variable's, or that of an argument."""
    if found := context.work.found(name):
        return found[1]
    datum = context.schedule.datum(name)
    return context.work.dummy(Declare(name, datum.type, (), colons(datum.rank)))


def _stays(context: LoweringContext, name: str) -> bool:
    """Return whether an array outlives the routine, and its values do not change."""
    found = context.work.found(name)
    if found is None:
        return False
    section, declared = found
    return "pointer" in declared.attributes and section is not SetupSection.COLUMNS


def _is_alike(context: LoweringContext, name: str) -> bool:
    """Return whether an array is made anew for each call, with the same values."""
    found = context.work.found(name)
    return found is not None and found[0] in _ALIKE


def _asked(context: LoweringContext, word: str, name: str, *window: Name) -> Call:
    procedure = Name(context.work.imports.local(abi.TABLES_MODULE, word))
    alike = (Keyword(abi.ALIKE, logical(value=True)),) if _is_alike(context, name) else ()
    return Call(procedure, (Name(name), space_word(context, Side.DEVICE), *window, *alike))


def _looking_through(lines: Iterable[Line], windows: Mapping[str, Name]) -> tuple[Line, ...]:
    """Return lines in which regions on a device name windows in place of arrays."""
    values: dict[str, Expr] = dict(windows)

    def changed(line: Line) -> Line:
        if not isinstance(line, DirectiveBlock) or not _runs_on_device(line):
            return with_each_block(line, lambda block: _looking_through(block, windows))
        body = everywhere(line.body, lambda expr: substituted(expr, values))
        return replace(line, body=body)

    return tuple(map(changed, lines))
