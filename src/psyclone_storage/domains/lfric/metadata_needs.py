"""Other requirements of a kernel: basis functions, reference element and mesh properties.

`meta_funcs`, `gh_shape`, `gh_evaluator_targets`, `meta_reference_element` and `meta_mesh` are
interpreted (spec 1.5, 1.6). Each entry is checked separately, and `metadata_rules` checks their
combination.
"""

from __future__ import annotations

from psyclone_storage.base.diagnostic import Diagnostic
from psyclone_storage.domains.lfric.metadata_words import (
    OPERATIONS,
    SHAPES,
    constructor_of,
    look_up_space,
    look_up_word,
    unknown_word,
)
from psyclone_storage.infrastructures.lfric import (
    MESH_PROPERTIES,
    REFERENCE_ELEMENT_PROPERTIES,
    Limits,
)
from psyclone_storage.ir.expr import canonical
from psyclone_storage.ir.kernel import BasisOperation, BasisShape, SpaceFunctions
from psyclone_storage.ir.parsed import MetadataComponent, MetadataItem, ParsedKernel

_PROPERTIES = {
    "meta_reference_element": ("reference_element_data_type", REFERENCE_ELEMENT_PROPERTIES),
    "meta_mesh": ("mesh_data_type", MESH_PROPERTIES),
}


def items_of(component: MetadataComponent | None) -> tuple[MetadataItem, ...]:
    """Return the items of a component, or () if it is absent."""
    return component.items if component else ()


def read_functions(
    parsed: ParsedKernel, limits: Limits, problems: list[Diagnostic]
) -> tuple[SpaceFunctions, ...]:
    """Interpret `meta_funcs`: the required basis functions for each function space."""
    entries = items_of(parsed.component("meta_funcs"))
    read = [_read_function(entry, limits, problems) for entry in entries]
    return tuple(functions for functions in read if functions)


def _read_function(
    item: MetadataItem, limits: Limits, problems: list[Diagnostic]
) -> SpaceFunctions | None:
    if constructor_of(item) != "func_type":
        message = f"An entry of 'meta_funcs' must be a 'func_type(...)', not '{item.span.text}'."
        problems.append(Diagnostic("M001", message, item.span))
        return None
    if len(item.items) < 2:
        message = (
            f"A 'func_type' needs a function space and what is wanted, not '{item.span.text}'."
        )
        hint = "Add 'gh_basis', 'gh_diff_basis' or both."
        problems.append(Diagnostic("M019", message, item.span, hint=hint))
        return None
    space = look_up_space(item.items[0], limits, "M019", problems)
    operations: list[BasisOperation] = []
    for wanted in item.items[1:]:
        operation = look_up_word(wanted, OPERATIONS, "M019", "a kind of basis function", problems)
        if operation in operations:
            message = f"'{wanted.span.text}' is asked for twice."
            problems.append(Diagnostic("M019", message, wanted.span))
        elif operation:
            operations.append(operation)
    if space is None or not operations:
        return None
    return SpaceFunctions(space, tuple(operations), item.items[0].span)


def read_shapes(parsed: ParsedKernel, problems: list[Diagnostic]) -> tuple[BasisShape, ...]:
    """Interpret `gh_shape`: the locations at which basis functions are evaluated."""
    shapes: list[BasisShape] = []
    for item in items_of(parsed.component("gh_shape")):
        shape = look_up_word(item, SHAPES, "M024", "a place for basis functions", problems)
        if shape in shapes:
            message = f"'{item.span.text}' is listed twice."
            problems.append(Diagnostic("M024", message, item.span))
        elif shape:
            shapes.append(shape)
    return tuple(shapes)


def read_targets(parsed: ParsedKernel) -> tuple[str, ...]:
    """Interpret `gh_evaluator_targets`: spaces at whose nodes basis functions are evaluated.

    A target must be the space of an argument, which `metadata_rules` checks. Repeated targets are
    ignored.
    """
    targets = items_of(parsed.component("gh_evaluator_targets"))
    return tuple(dict.fromkeys(canonical(item.expr) for item in targets))


def read_properties(
    parsed: ParsedKernel, component: str, problems: list[Diagnostic]
) -> tuple[str, ...]:
    """Interpret the properties of the reference element or mesh requested in `component`."""
    constructor, known = _PROPERTIES[component]
    found: list[str] = []
    for item in items_of(parsed.component(component)):
        if constructor_of(item) != constructor or len(item.items) != 1:
            message = (
                f"An entry of '{component}' must be a '{constructor}(...)' of one property, not"
                f" '{item.span.text}'."
            )
            problems.append(Diagnostic("M001", message, item.span))
            continue
        name = canonical(item.items[0].expr)
        wrong = _check_property(item.items[0], name, known, found)
        problems += [wrong] if wrong else []
        found.append(name)
    return tuple(found)


def _check_property(
    item: MetadataItem, name: str, known: tuple[str, ...], before: list[str]
) -> Diagnostic | None:
    if name in before:
        return Diagnostic("M040", f"The property '{item.span.text}' is listed twice.", item.span)
    if name in known:
        return None
    for component, (constructor, others) in _PROPERTIES.items():
        if name in others:
            message = f"'{item.span.text}' is not a property for this component."
            hint = f"It belongs in '{component}', as '{constructor}({name})'."
            return Diagnostic("M041", message, item.span, hint=hint)
    return unknown_word(item, "M039", "a property", known)
