"""Interpretation of LFRic kernel metadata as a `Kernel`.

Both generations are supported (spec 1.1 to 1.12). `operates_on` identifies a current kernel, and
`iterates_over` a kernel of 2019. An entry in the form of the other generation is an error, because
its calling sequence would differ. All errors of a kernel are collected and raised together.
"""

from __future__ import annotations

from collections.abc import Mapping

from psyclone_storage.base.diagnostic import Diagnostic, Related, raise_if_any
from psyclone_storage.base.names import did_you_mean
from psyclone_storage.base.records import replace
from psyclone_storage.domains.lfric.metadata_args import (
    EntryContext,
    generation_of,
    read_lfric_argument,
)
from psyclone_storage.domains.lfric.metadata_cma import cma_kind
from psyclone_storage.domains.lfric.metadata_needs import (
    items_of,
    read_functions,
    read_properties,
    read_shapes,
    read_targets,
)
from psyclone_storage.domains.lfric.metadata_rules import check_metadata
from psyclone_storage.domains.lfric.metadata_words import (
    ACCESSES,
    ITERATIONS,
    ITERATIONS_2019,
    look_up_word,
)
from psyclone_storage.infrastructures.lfric import DEFAULT_LIMITS, Limits
from psyclone_storage.infrastructures.lfric_words import COMPONENTS, ENTRIES
from psyclone_storage.ir import kernel as kern
from psyclone_storage.ir.expr import canonical
from psyclone_storage.ir.parsed import MetadataComponent, MetadataItem, ParsedKernel

_COMPONENTS = (*COMPONENTS, "iterates_over")
_ENTRY_TYPES = frozenset(ENTRIES.values()) - {"integer"}


def interpret_lfric_metadata(
    parsed: ParsedKernel,
    limits: Limits = DEFAULT_LIMITS,
    accesses: Mapping[str, kern.Access] = ACCESSES,
) -> kern.Kernel:
    """Return the kernel that `parsed` describes.

    Without `gh_evaluator_targets`, the targets of an evaluator are the spaces of the written
    arguments. For an operator, this is the space to which it maps (spec 1.5).

    - `limits`: the numbers of wildcard spaces.

    - `accesses`: the access types by name.

    Raises:
        CompileError: all errors, each at the wrong entry.
    """
    problems = _check_components(parsed)
    generation, iteration = _read_iteration(parsed, problems)
    args = _read_args(parsed, EntryContext(limits, accesses, generation, iteration), problems)
    functions = read_functions(parsed, limits, problems)
    shapes = read_shapes(parsed, problems)
    reference_element = read_properties(parsed, "meta_reference_element", problems)
    mesh_properties = read_properties(parsed, "meta_mesh", problems)
    problems += _check_generation(parsed, generation)
    kernel = kern.Kernel(
        name=parsed.name,
        module=parsed.module,
        procedure=parsed.procedure,
        iteration=iteration or kern.Iteration.CELL_COLUMN,
        args=args,
        functions=functions,
        shapes=shapes,
        targets=read_targets(parsed),
        reference_element=reference_element,
        mesh_properties=mesh_properties,
        implementations=parsed.implementations,
        generation=generation,
        span=parsed.span,
    )
    if not problems:
        problems = check_metadata(kernel, parsed)
    raise_if_any(problems)
    return replace(kernel, cma=cma_kind(kernel), targets=kernel.targets or _default_targets(kernel))


def _check_components(parsed: ParsedKernel) -> list[Diagnostic]:
    """Return diagnostics for missing and misspelt components."""
    problems = []
    for component in parsed.components:
        if component.type_name in _ENTRY_TYPES and component.name not in _COMPONENTS:
            message = f"'{component.name}' is not a component of kernel metadata."
            hint = did_you_mean(component.name, _COMPONENTS)
            problems.append(Diagnostic("M063", message, component.span, hint=hint))
    if parsed.component("meta_args") is None:
        message = f"'{parsed.name}' has no 'meta_args'."
        hint = "It must list the arguments of the kernel, one 'arg_type(...)' for each."
        problems.append(Diagnostic("M062", message, parsed.span, hint=hint))
    return problems


def _read_iteration(
    parsed: ParsedKernel, problems: list[Diagnostic]
) -> tuple[kern.Generation, kern.Iteration | None]:
    current, old = parsed.component("operates_on"), parsed.component("iterates_over")
    if current and old:
        problems.append(
            Diagnostic(
                "M060",
                f"'{parsed.name}' has both 'operates_on' and 'iterates_over'.",
                old.span,
                hint="Remove 'iterates_over', which belongs to metadata of 2019.",
                related=(Related(current.span, "today's metadata"),),
            )
        )
    if current:
        return kern.Generation.CURRENT, _read_word(current, ITERATIONS, problems)
    if old:
        return kern.Generation.Y2019, _read_word(old, ITERATIONS_2019, problems)
    message = f"'{parsed.name}' does not say what it operates on."
    hint = (
        "Add 'integer :: operates_on = CELL_COLUMN' to the type; in Python,"
        " 'operates_on=CELL_COLUMN' to '@kernel(...)'."
    )
    problems.append(Diagnostic("M062", message, parsed.span, hint=hint))
    return kern.Generation.CURRENT, None


def _read_word(
    component: MetadataComponent, table: Mapping[str, kern.Iteration], problems: list[Diagnostic]
) -> kern.Iteration | None:
    if len(component.items) == 1:
        what = "something that a kernel can operate on"
        return look_up_word(component.items[0], table, "M042", what, problems)
    message = f"'{component.name}' must be a single word."
    problems.append(Diagnostic("M042", message, component.span))
    return None


def _read_args(
    parsed: ParsedKernel, setting: EntryContext, problems: list[Diagnostic]
) -> tuple[kern.KernelArg, ...]:
    entries = items_of(parsed.component("meta_args"))
    read = [read_lfric_argument(entry, setting, problems) for entry in entries]
    return tuple(arg for arg in read if arg)


def _check_generation(parsed: ParsedKernel, generation: kern.Generation) -> list[Diagnostic]:
    """Return a diagnostic if an entry has the form of the other generation."""
    markers = [part for part in parsed.components if part.name in ("operates_on", "iterates_over")]
    odd = _entries_of_other_generation(parsed, generation)
    if len(markers) != 1 or not odd:
        return []
    (marker,) = markers
    other = "of 2019" if generation is kern.Generation.CURRENT else "of today"
    more = f" (and {len(odd) - 1} more)" if len(odd) > 1 else ""
    return [
        Diagnostic(
            "M060",
            f"'{odd[0].span.text}'{more} is metadata {other}, but the kernel has '{marker.name}'.",
            odd[0].span,
            hint="Entries of 'meta_args' state a data type if the kernel has 'operates_on', and"
            " none if it has 'iterates_over', which goes with 'gh_orientation' too.",
            related=(Related(marker.span, "decides for the kernel"),),
        )
    ]


def _entries_of_other_generation(
    parsed: ParsedKernel, generation: kern.Generation
) -> list[MetadataItem]:
    args = items_of(parsed.component("meta_args"))
    odd = [entry for entry in args if generation_of(entry) not in (None, generation)]
    if generation is kern.Generation.Y2019:
        return odd
    functions = items_of(parsed.component("meta_funcs"))
    wanted = (item for entry in functions for item in entry.items)
    orientation = kern.BasisOperation.ORIENTATION.value
    return odd + [item for item in wanted if canonical(item.expr) == orientation]


def _default_targets(kernel: kern.Kernel) -> tuple[str, ...]:
    if kern.BasisShape.EVALUATOR not in kernel.shapes:
        return ()
    written = (arg.space for arg in kernel.args if arg.access.writes)
    return tuple(dict.fromkeys(written))
