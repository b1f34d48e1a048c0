"""Parsing of kernel metadata: the derived type of a kernel and its implementation.

Only the specification part of the module and the names of its subroutines are read. Entries are not
interpreted: an array constructor is represented by its items, and an item may have items.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TypeVar

from psyclone_storage.base.diagnostic import CompileError, Diagnostic, raise_if_any
from psyclone_storage.base.names import did_you_mean, listed
from psyclone_storage.base.regex import regex
from psyclone_storage.base.source import SourceText, Span
from psyclone_storage.ir.expr import Expr, Keyword, Literal, Name, StructureConstructor
from psyclone_storage.ir.parsed import MetadataComponent, MetadataItem, ParsedKernel, ScopeKind
from psyclone_storage.ir.types import Intrinsic
from psyclone_storage.languages.fortran.parse.brackets import (
    closing,
    first_outside,
    list_items,
    missing_mark,
)
from psyclone_storage.languages.fortran.parse.procedures import (
    GenericInterface,
    TypeBoundProcedure,
    check_exists,
    find_implementation,
    read_bindings,
    read_specifics,
)
from psyclone_storage.languages.fortran.parse.reader import read_expression, read_shape
from psyclone_storage.languages.fortran.parse.scope_reader import read_scopes
from psyclone_storage.languages.fortran.parse.scopes import ScopeNode
from psyclone_storage.languages.fortran.parse.spec_statements import TypeDefinition, read_procedure
from psyclone_storage.languages.fortran.parse.statements import SourceStatement
from psyclone_storage.languages.fortran.parse.tokens import UnreadableError

_INTERFACE = regex(r"interface\b\s*(?P<name>[a-z]\w*)", re.IGNORECASE)
_ENTITY = regex(r"(?P<name>[a-z]\w*)\s*(?P<bracket>\()?", re.IGNORECASE)
_DIMENSION = regex(r"dimension\s*\(", re.IGNORECASE)
_TYPE_NAME = regex(r"(?:type|class)\s*\(\s*(\w+)|(\w+)", re.IGNORECASE)
_KEYWORD = regex(r"(?P<name>[a-z]\w*)\s*=(?!=)\s*", re.IGNORECASE)
_KERNEL = "kernel_type"
_REFERENCE = regex(r"(?P<name>[a-z]\w*)\s*\(", re.IGNORECASE)

T = TypeVar("T")


def read_kernel(
    source: SourceText,
    type_name: str,
    *,
    wanted_by: Span | None = None,
    needs_code: bool = True,
) -> ParsedKernel:
    """Return the uninterpreted metadata of the kernel type `type_name`.

    A missing type is reported at `wanted_by` if given. Both `(/ ... /)` and `[ ... ]` are array
    constructors. The subroutine may be missing if `needs_code` is false.

    Raises:
        CompileError: all syntax errors of the metadata (spec 1.11, items 50 to 53).
    """
    module, found = _find(source, type_name, wanted_by)
    kernel = found.structure.span
    problems: list[Diagnostic] = []
    components: list[MetadataComponent] = []
    for statement in found.components:
        try:
            components += _read_components(statement)
        except CompileError as error:
            problems += error.problems
    problems += [problem for component in components for problem in _check_form(component)]
    bindings: list[TypeBoundProcedure] = [
        each for part in found.bindings for each in read_bindings(part)
    ]
    try:
        implementation = find_implementation(kernel, tuple(bindings), _generics(module))
        if needs_code:
            check_exists(implementation, kernel)
    except CompileError as error:
        raise CompileError(*problems, *error.problems) from None
    raise_if_any(problems)
    # Without the preprocessor, its alternatives for a module's name are nested modules.
    *_, outermost = (one for one in module.outwards() if one.kind is ScopeKind.MODULE)
    return ParsedKernel(
        kernel.text.lower(),
        outermost.name,
        tuple(components),
        implementation.procedure,
        implementation.specifics,
        source,
        kernel,
    )


def kernel_types(source: SourceText) -> tuple[str, ...]:
    """Return the names, in lower case, of the kernel types that `source` defines, in order."""
    return tuple(
        name
        for module in read_scopes(source).modules
        for name, found in _types(module).items()
        if found.parent == _KERNEL
    )


# ---------------------------------------------------------------------------- the module


def _find(
    source: SourceText, type_name: str, wanted_by: Span | None
) -> tuple[ScopeNode, TypeDefinition]:
    """Return the derived type and its module; raise `CompileError` if it is not found."""
    wanted = type_name.lower()
    known: list[str] = []
    for module in read_scopes(source).modules:
        types = _types(module)
        if wanted in types:
            return module, types[wanted]
        known += types
    raise CompileError(
        Diagnostic(
            "P040",
            f"The type '{type_name}' is not in '{source.name}'.",
            wanted_by,
            file=source.name,
            hint=did_you_mean(type_name, known)
            or (f"The file has {listed(known, 'and')}." if known else "It defines no type."),
        )
    )


def _types(module: ScopeNode) -> dict[str, TypeDefinition]:
    return {definition.structure.key: definition for definition in module.definitions}


def _generics(module: ScopeNode) -> dict[str, GenericInterface]:
    """Return the generic interfaces of a module by lower-case name."""
    found = {}
    for block in module.generics:
        head = _INTERFACE.match(block.opening.text)
        if head is not None and block.name:
            specifics = (_specifics(statement) for statement in block.statements)
            names = tuple(name for each in specifics for name in each)
            found[block.name] = GenericInterface(head["name"], names, block.opening.whole())
    return found


def _specifics(statement: SourceStatement) -> tuple[str, ...]:
    procedure = read_procedure(statement)
    return (procedure.name,) if procedure else read_specifics(statement)


# ---------------------------------------------------------------------------- components


def _read_components(statement: SourceStatement) -> list[MetadataComponent]:
    """Return the components with initial values that a statement declares."""
    text = statement.text
    colons = first_outside(text, "::")
    if colons <= 0:
        return []
    (start, stop), *attributes = list_items(text, 0, colons)
    written = _TYPE_NAME.match(text, start, stop)
    type_name = (written.group(1) or written.group(2)).lower() if written else ""
    shape: tuple[Expr, ...] = ()
    for first, last in attributes:
        if dimension := _DIMENSION.match(text, first, last):
            shape = _read(read_shape, statement, dimension.end(), last - 1)
    components = []
    for first, last in list_items(text, colons + 2, len(text)):
        component = _read_component(statement, (first, last), type_name, shape)
        if component is not None:
            components.append(component)
    return components


def _read_component(
    statement: SourceStatement, place: tuple[int, int], type_name: str, shape: tuple[Expr, ...]
) -> MetadataComponent | None:
    """Return a component, or None without an initial value; `shape` comes from `dimension`."""
    text = statement.text
    start, stop = place
    entity = _ENTITY.match(text, start, stop)
    if entity is None:
        return None
    behind = entity.end()
    if entity.group("bracket"):
        close = closing(text, behind - 1)
        shape = _read(read_shape, statement, behind, close)
        behind = close + 1
    equals = first_outside(text, "=", behind)
    if not behind <= equals < stop:
        return None
    value = _skip_blanks(text, equals + 1)
    inner = _constructor(text, value, stop)
    items = list_items(text, *inner) if inner else [(value, stop)]
    return MetadataComponent(
        entity.group("name").lower(),
        type_name,
        shape,
        tuple(_read_item(statement, *item) for item in items),
        inner is not None,
        statement.span(*entity.span("name")),
    )


def _constructor(text: str, start: int, stop: int) -> tuple[int, int] | None:
    """Return the start and stop of the contents of an array constructor, or None."""
    width = 2 if text.startswith("(/", start) else 1 if text.startswith("[", start) else 0
    if not width or closing(text, start) + 1 != stop:
        return None
    colons = first_outside(text, "::", start + width)
    first = colons + 2 if 0 <= colons < stop else start + width
    return first, stop - width


def _skip_blanks(text: str, start: int) -> int:
    return start + len(text[start:]) - len(text[start:].lstrip())


def _read_item(statement: SourceStatement, start: int, stop: int) -> MetadataItem:
    text = statement.text
    keyword = _KEYWORD.match(text, start, stop)
    first = keyword.end() if keyword else start
    name = keyword.group("name").lower() if keyword else None
    span = statement.span(start, stop)
    reference = _REFERENCE.match(text, first, stop)
    if reference is None or closing(text, reference.end() - 1) + 1 != stop:
        return MetadataItem(_read(read_expression, statement, first, stop), name, (), span)
    inner = list_items(text, reference.end(), stop - 1)
    items = tuple(_read_item(statement, *place) for place in inner)
    expr = StructureConstructor(Name(reference.group("name")), tuple(map(_as_argument, items)))
    return MetadataItem(expr, name, items, span)


def _as_argument(item: MetadataItem) -> Expr:
    return Keyword(item.keyword, item.expr) if item.keyword else item.expr


def _read(rule: Callable[[str], T], statement: SourceStatement, start: int, stop: int) -> T:
    """Apply the parser `rule` to a part of `statement`; raise `CompileError` for invalid text."""
    text = statement.text[start:stop]
    try:
        return rule(text)
    except UnreadableError as error:
        message = f"'{text}' is not valid metadata." if text else "There is no metadata here."
        first, last, hint = missing_mark(text, error.position) or (0, stop - start, "")
        place = statement.span(start + first, start + last)
        raise CompileError(Diagnostic("P044", message, place, hint=hint)) from None


def _check_form(component: MetadataComponent) -> list[Diagnostic]:
    """Return a diagnostic if the shape of a component does not match its value (spec item 50)."""
    shape, name = component.shape, component.name
    if len(shape) > 1:
        message = f"'{name}' has {len(shape)} dimensions; a metadata array has one."
        return [Diagnostic("P042", message, component.span)]
    if bool(shape) != component.is_array:
        message = (
            f"'{name}' is declared as an array but is given one value."
            if shape
            else f"'{name}' is declared as one value but is given an array."
        )
        hint = "" if shape else f"Declare it as '{name}({len(component.items)})'."
        place = component.span
        if shape and component.items and isinstance(component.items[0].expr, StructureConstructor):
            place, hint = component.items[0].span, "Write the entries between '(/' and '/)'."
        return [Diagnostic("P043", message, place, hint=hint)]
    match shape:
        case (Literal(text, Intrinsic.INTEGER),) if text != str(len(component.items)):
            message = (
                f"'{name}' is declared with {text} entries but is given {len(component.items)}."
            )
            hint = f"Declare it as '{name}({len(component.items)})'."
            return [Diagnostic("P041", message, component.span, hint=hint)]
    return []
