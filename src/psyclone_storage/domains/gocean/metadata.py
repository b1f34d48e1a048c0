"""Interpretation of GOcean kernel metadata as a `Kernel` (spec 5.1).

All errors of a kernel are collected and raised together, each at the wrong entry.
"""

from __future__ import annotations

from collections.abc import Collection

from psyclone_storage.base.diagnostic import Diagnostic, Related, raise_if_any
from psyclone_storage.base.names import did_you_mean
from psyclone_storage.domains.gocean.metadata_args import read_gocean_argument
from psyclone_storage.domains.gocean.words import (
    Tables,
    unknown_gocean_word,
    word_of,
)
from psyclone_storage.infrastructures.gocean import ALL, INTERNAL, OFFSETS
from psyclone_storage.ir.kernel import ArgKind, GridPoints, Iteration, Kernel, KernelArg
from psyclone_storage.ir.parsed import MetadataComponent, ParsedKernel

_COMPONENTS = ("meta_args", "iterates_over", "index_offset")
_ENTRY_TYPES = ("go_arg", "arg")
_HINTS = {
    "meta_args": "It must list the arguments of the kernel, one 'go_arg(...)' for each.",
    "iterates_over": "Add 'integer :: iterates_over = GO_INTERNAL_PTS' to the type; in Python,"
    " 'iterates_over=GO_INTERNAL_PTS' to '@kernel(...)'.",
    "index_offset": "Add 'integer :: index_offset = GO_OFFSET_ANY', or the offset that the kernel"
    " was written for, to the type; in Python, 'index_offset=GO_OFFSET_ANY' to '@kernel(...)'.",
}


def interpret_gocean_metadata(parsed: ParsedKernel, tables: Tables) -> Kernel:
    """Return the kernel that `parsed` describes.

    Raises:
        CompileError: all errors in the metadata.
    """
    problems = _check_components(parsed)
    what = "a set of grid points"
    name = _read_word(parsed, "iterates_over", tables.points, ("M103", what), problems)
    what = "an index offset"
    offset = _read_word(parsed, "index_offset", OFFSETS, ("M104", what), problems)
    entries = parsed.component("meta_args")
    read = (
        [read_gocean_argument(item, tables, problems) for item in entries.items] if entries else []
    )
    args = tuple(arg for arg in read if arg)
    if entries and not problems:
        problems += _check_written(parsed, entries, args)
    raise_if_any(problems)
    points = _resolve(parsed, GridPoints(name, offset), args, tables)
    return Kernel(
        name=parsed.name,
        module=parsed.module,
        procedure=parsed.procedure,
        iteration=Iteration.GRID_POINT,
        args=args,
        points=points,
        implementations=parsed.implementations,
        span=parsed.span,
    )


def first_written(args: tuple[KernelArg, ...]) -> int:
    """Return the position of the first written field, which determines loop bounds.

    Raises:
        StopIteration: there is no such field, which `interpret_gocean_metadata` rejects.
    """
    return next(
        at for at, arg in enumerate(args) if arg.kind is ArgKind.FIELD and arg.access.writes
    )


def _check_components(parsed: ParsedKernel) -> list[Diagnostic]:
    """Return diagnostics for missing and misspelt components."""
    problems = []
    for component in parsed.components:
        if component.type_name in _ENTRY_TYPES and component.name not in _COMPONENTS:
            message = f"'{component.name}' is not a component of kernel metadata."
            hint = did_you_mean(component.name, _COMPONENTS)
            problems.append(Diagnostic("M063", message, component.span, hint=hint))
    for name in _COMPONENTS:
        if parsed.component(name) is None:
            message = f"'{parsed.name}' has no '{name}'."
            problems.append(Diagnostic("M062", message, parsed.span, hint=_HINTS[name]))
    return problems


def _read_word(
    parsed: ParsedKernel,
    name: str,
    known: Collection[str],
    otherwise: tuple[str, str],
    problems: list[Diagnostic],
) -> str:
    """Return the word of a component; `otherwise` has the error code and the kind of word."""
    component = parsed.component(name)
    if component is None:
        return ""
    if component.is_array:
        message = f"'{name}' must be a single word."
        problems.append(Diagnostic(otherwise[0], message, component.span))
        return ""
    (item,) = component.items
    word = word_of(item)
    if word not in known:
        problems.append(unknown_gocean_word(item, *otherwise, known))
    return word


def _check_written(
    parsed: ParsedKernel, entries: MetadataComponent, args: tuple[KernelArg, ...]
) -> list[Diagnostic]:
    if any(arg.kind is ArgKind.FIELD and arg.access.writes for arg in args):
        return []
    message = f"'{parsed.name}' writes no field, so that there is nothing to loop over."
    hint = "Give one field the access 'go_write' or 'go_readwrite'."
    return [Diagnostic("M017", message, entries.span, hint=hint)]


def _resolve(
    parsed: ParsedKernel, points: GridPoints, args: tuple[KernelArg, ...], tables: Tables
) -> GridPoints:
    """Return `points` with their loop bounds, unless these come from the field itself.

    Raises:
        CompileError: `M105`, no bounds are known for the offset and the type of field.
    """
    if points.name in (INTERNAL, ALL):
        return points
    field = args[first_written(args)]
    bounds = tables.bounds.get((points.offset, field.space, points.name))
    if bounds is None:
        component = parsed.component("iterates_over")
        related = (Related(field.span, "the field that is looped over"),) if field.span else ()
        raise_if_any(
            (
                Diagnostic(
                    "M105",
                    f"No loop bounds are known for the points '{points.name}' of a field on"
                    f" '{field.space}' with '{points.offset}'.",
                    component.items[0].span if component else parsed.span,
                    hint="Add a line to 'iteration-spaces' in the settings, or loop over"
                    " 'go_all_pts' and let the kernel choose by the mask of the grid.",
                    related=related,
                ),
            )
        )
    return GridPoints(points.name, points.offset, bounds)
