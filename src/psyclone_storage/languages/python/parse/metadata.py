"""Parsing of kernel metadata in Python: a decorated function with annotated arguments.

The result consists of the same entries as for Fortran metadata, and entries are not interpreted.
The API's dialect converts an annotation to an entry, and a decorator argument to a component.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from psyclone_storage.base.diagnostic import CompileError, Diagnostic, raise_if_any
from psyclone_storage.base.names import MAX_FORTRAN_NAME, did_you_mean, listed
from psyclone_storage.base.records import dataclass
from psyclone_storage.base.source import SourceText, Span
from psyclone_storage.ir.expr import Expr, Keyword, Name, StructureConstructor, Verbatim
from psyclone_storage.ir.parsed import MetadataComponent, MetadataItem, ParsedKernel
from psyclone_storage.languages.python.parse.api_words import Annotated, Dialect
from psyclone_storage.languages.python.parse.imports import ImportedNames, imported_names
from psyclone_storage.languages.python.parse.node_factory import (
    binary_operation,
    digits,
    signed_integer,
)
from psyclone_storage.languages.python.parse.tree import PythonTree, read_tree

_DECORATOR = "kernel"
_PLAIN = "Write 'def name(argument: field[...], ...)' with an annotation for each argument."


@dataclass(frozen=True, slots=True)
class KernelDefinition:
    """Function decorated as a kernel, in its file."""

    tree: PythonTree
    node: ast.FunctionDef
    decorator: ast.Call
    names: ImportedNames


def read_python_kernel(
    dialect: Dialect,
    source: SourceText,
    type_name: str,
    *,
    wanted_by: Span | None = None,
    needs_code: bool = True,  # noqa: ARG001 - a function has its code with it
) -> ParsedKernel:
    """Return the uninterpreted metadata of the kernel `type_name`, ignoring case.

    Raises:
        CompileError: P040, the kernel does not exist, reported at `wanted_by` if given; P050, the
            file is not Python; P052, the function cannot be a kernel.
    """
    found = find_kernel_definition(dialect, source, type_name, wanted_by)
    problems = [*_check_signature(found, dialect)]
    items = tuple(_entries(found, dialect, problems))
    components = tuple(_components(found, dialect, problems))
    raise_if_any(problems)
    name, place = found.node.name.lower(), found.tree.name_of(found.node)
    arguments = MetadataComponent(
        dialect.arguments, dialect.entry, (signed_integer(len(items)),), items, True, place
    )
    procedure = code_name(name)
    return ParsedKernel(
        name, module_name(source), (arguments, *components), procedure, (procedure,), source, place
    )


def python_kernel_names(dialect: Dialect, source: SourceText) -> tuple[str, ...]:
    """Return the lower-case names of the kernels that `source` defines, in order."""
    return tuple(found.node.name.lower() for found in _definitions(read_tree(source), dialect))


def kernels_in(tree: PythonTree, dialect: Dialect) -> tuple[Span, ...]:
    """Return the locations of the names of the kernels that a file defines."""
    return tuple(tree.name_of(found.node) for found in _definitions(tree, dialect))


def find_kernel_definition(
    dialect: Dialect, source: SourceText, name: str, wanted_by: Span | None = None
) -> KernelDefinition:
    """Return the definition of the kernel `name`, ignoring case.

    Raises:
        CompileError: P040, the kernel does not exist; P052, there are several.
    """
    known = list(_definitions(read_tree(source), dialect))
    found = [one for one in known if one.node.name.lower() == name.lower()]
    if len(found) == 1:
        return found[0]
    if found:
        place = found[-1].tree.name_of(found[-1].node)
        message = f"'{source.name}' has several kernels called '{name}', whatever the case."
        raise CompileError(Diagnostic("P052", message, place))
    names = [one.node.name for one in known]
    raise CompileError(
        Diagnostic(
            "P040",
            f"The kernel '{name}' is not in '{source.name}'.",
            wanted_by,
            file=source.name,
            hint=did_you_mean(name, names)
            or (f"The file has {listed(names, 'and')}." if names else "It defines no kernel."),
        )
    )


def module_name(source: SourceText) -> str:
    """Return the module name of a file."""
    return source.name.replace("\\", "/").rpartition("/")[2].removesuffix(".py").lower()


def code_name(kernel: str) -> str:
    """Return the procedure name of a kernel, as in Fortran."""
    return f"{kernel.lower().removesuffix('_type')}_code"


def _definitions(tree: PythonTree, dialect: Dialect) -> Iterator[KernelDefinition]:
    names = imported_names(tree, dialect.module)
    for node in tree.module.body:
        if isinstance(node, ast.FunctionDef):
            for decorator in node.decorator_list:
                if isinstance(decorator, ast.Call) and names.meant(decorator.func) == _DECORATOR:
                    yield KernelDefinition(tree, node, decorator, names)
                    break


# ---------------------------------------------------------------------------- the head


def _check_signature(found: KernelDefinition, dialect: Dialect) -> Iterator[Diagnostic]:
    node, tree = found.node, found.tree
    args = node.args
    odd: list[ast.AST] = [*args.kwonlyargs, *args.defaults]
    odd += [one for one in (args.vararg, args.kwarg) if one is not None]
    for one in odd:
        message = f"'{tree.span(one).text}' is no argument that a kernel can have."
        yield Diagnostic("P052", message, tree.span(one), hint=_PLAIN)
    for one in found.decorator.args:
        message = f"'{tree.span(one).text}' does not say what it is for."
        hint = "Write 'name=word', as in 'iterates_over=GO_INTERNAL_PTS'."
        yield Diagnostic("P052", message, tree.span(one), hint=hint)
    if len(node.decorator_list) > 1:
        other, *_ = (one for one in node.decorator_list if one is not found.decorator)
        message = f"The kernel '{node.name}' has a second decorator."
        yield Diagnostic("P052", message, tree.span(other), hint="A kernel is read and not run.")
    yield from _check_names(found, differ=not dialect.of_points)


def _check_names(found: KernelDefinition, *, differ: bool) -> Iterator[Diagnostic]:
    """Yield names that code in other languages cannot have.

    If names must `differ`, those that do so in case alone are among them.
    """
    tree, seen = found.tree, dict[str, str]()
    places = [(found.node.name, tree.name_of(found.node))]
    places += [(arg.arg, tree.span(arg)) for arg in _all_args(found.node)]
    for name, span in places:
        if problem := check_kernel_name(name, seen if differ else {}, span):
            yield problem


IN_FORTRAN_TOO = (
    "Names are those of code in C and Fortran, too, where case does not tell them apart."
)


def check_kernel_name(name: str, seen: dict[str, str], span: Span) -> Diagnostic | None:
    """Return the error in a name, and record the name in `seen`."""
    other = seen.setdefault(name.lower(), name)
    if not (name.isascii() and name[:1].isalpha() and len(name) <= MAX_FORTRAN_NAME):
        message = f"'{name}' cannot be a name in a kernel."
        hint = "A name has up to 63 letters, digits and underscores, and a letter comes first."
        return Diagnostic("P052", message, span, hint=hint)
    if other != name:
        message = f"'{name}' and '{other}' differ in case alone."
        return Diagnostic("P052", message, span, hint=IN_FORTRAN_TOO)
    return None


def _all_args(node: ast.FunctionDef) -> list[ast.arg]:
    return [*node.args.posonlyargs, *node.args.args]


def _components(
    found: KernelDefinition, dialect: Dialect, problems: list[Diagnostic]
) -> Iterator[MetadataComponent]:
    """Yield the components given in the decorator, in the order of the API."""
    said: dict[str, MetadataComponent] = {}
    for keyword in found.decorator.keywords:
        place = found.tree.span(keyword)
        if keyword.arg not in dialect.components:
            message = f"A kernel has no '{keyword.arg or place.text}'."
            hint = did_you_mean(keyword.arg or "", dialect.components)
            hint = hint or f"It can be given {listed(dialect.components, 'and')}."
            problems.append(Diagnostic("P052", message, place, hint=hint))
            continue
        span = found.tree.source.span(place.start, place.start + len(keyword.arg))
        said[keyword.arg] = _component(found, keyword, dialect, span)
    yield from (said[name] for name in dialect.components if name in said)


def _component(
    found: KernelDefinition, keyword: ast.keyword, dialect: Dialect, span: Span
) -> MetadataComponent:
    """Return the component for one keyword: a single word or a list of entries."""
    name, value = str(keyword.arg), keyword.value
    if name not in dialect.lists or not isinstance(value, ast.List | ast.Tuple):
        return MetadataComponent(name, "integer", (), (_item(found, value, dialect),), False, span)
    items = tuple(_item(found, one, dialect) for one in value.elts)
    kind = dialect.lists[name]
    return MetadataComponent(name, kind, (signed_integer(len(items)),), items, True, span)


# ---------------------------------------------------------------------------- entries


def _entries(
    found: KernelDefinition, dialect: Dialect, problems: list[Diagnostic]
) -> Iterator[MetadataItem]:
    for arg in _all_args(found.node):
        place, note = found.tree.span(arg), arg.annotation
        head = note.value if isinstance(note, ast.Subscript) else note
        word = found.names.meant(head) if head is not None else ""
        if note is None or head is None:
            message = f"'{arg.arg}' has no annotation."
            problems.append(Diagnostic("P052", message, place, hint=_known(dialect)))
        elif word not in dialect.annotations or not isinstance(note, ast.Subscript):
            message = f"'{found.tree.span(note).text}' says nothing that a kernel can be passed."
            problems.append(
                Diagnostic("P052", message, found.tree.span(note), hint=_known(dialect))
            )
        else:
            yield _entry(found, note, dialect, dialect.annotations[word])


def _known(dialect: Dialect) -> str:
    return f"Annotate it by {listed(f'{word}[...]' for word in dialect.annotations)}."


def _entry(
    found: KernelDefinition, note: ast.Subscript, dialect: Dialect, rule: Annotated
) -> MetadataItem:
    written = note.slice.elts if isinstance(note.slice, ast.Tuple) else [note.slice]
    span = found.tree.span(note)
    head = _head(found, written, rule, span) if rule.head else []
    items = [_item(found, one, dialect) for one in written[_counted(written, rule) :]]
    more = [one for one in items if isinstance(one.expr, Name) and one.expr.text in rule.more]
    items = [one for one in items if one not in more]
    if len(items) == rule.short:
        before = [MetadataItem(Name(word), None, (), span) for word in rule.before]
        behind = [MetadataItem(Name(word), None, (), span) for word in rule.behind]
        items = [*before, *items, *behind]
    return _with_items(dialect.entry, [*head, *items, *more], span)


def _counted(written: list[ast.expr], rule: Annotated) -> int:
    """Return 1 if the first item is a number of components, else 0."""
    return int(rule.counted and bool(written) and isinstance(written[0], ast.Constant))


def _head(
    found: KernelDefinition, written: list[ast.expr], rule: Annotated, span: Span
) -> list[MetadataItem]:
    """Return the first items of an entry: the argument class with its vector size, and the type."""
    head: Expr = Name(rule.head)
    counted = _counted(written, rule)
    if counted:
        span = found.tree.span(written[0])
        text = span.text
        number = digits(text) if text.isascii() and text.isdigit() else Verbatim(text)
        head = binary_operation("*", head, number)
    items = [MetadataItem(head, None, (), span)]
    first = found.names.meant(written[counted]).upper() if counted < len(written) else ""
    if rule.types and first not in rule.types:
        items.append(MetadataItem(Name(rule.types[0]), None, (), span))
    return items


def _item(found: KernelDefinition, node: ast.expr, dialect: Dialect) -> MetadataItem:
    span = found.tree.span(node)
    if isinstance(node, ast.Call):
        return _constructor(found, node, dialect, span)
    word = found.names.meant(node)
    expr: Expr = Name(word) if word else _constant(node, span)
    return MetadataItem(expr, dialect.keywords.get(word.upper()), (), span)


def _constant(node: ast.expr, span: Span) -> Expr:
    number = isinstance(node, ast.Constant) and span.text.isascii() and span.text.isdigit()
    return digits(span.text) if number else Verbatim(span.text)


def _with_items(word: str, items: list[MetadataItem], span: Span) -> MetadataItem:
    """Return a structure constructor with these items."""
    parts = (Keyword(one.keyword, one.expr) if one.keyword else one.expr for one in items)
    return MetadataItem(StructureConstructor(Name(word), tuple(parts)), None, tuple(items), span)


def _constructor(
    found: KernelDefinition, node: ast.Call, dialect: Dialect, span: Span
) -> MetadataItem:
    """Return a structure constructor; the items of a stencil may be rows in one text."""
    word = found.names.meant(node.func)
    if not word or node.keywords:
        return MetadataItem(Verbatim(span.text), None, (), span)
    items: list[MetadataItem] = []
    for one in node.args:
        if word == dialect.rows and isinstance(one, ast.Constant) and isinstance(one.value, str):
            items += _rows(found.tree.span(one), one.value)
        else:
            items.append(_item(found, one, dialect))
    return _with_items(word, items, span)


def _rows(span: Span, text: str) -> Iterator[MetadataItem]:
    """Yield the comma-separated parts of a text, each with its location."""
    start = span.start
    for part in text.split(","):
        row = part.strip()
        at = span.source.text.find(row, start, span.stop) if row else -1
        place = span.source.span(at, at + len(row)) if at >= 0 else span
        start = place.stop if at >= 0 else start
        expr = digits(row) if row.isascii() and row.isdigit() else Verbatim(row)
        yield MetadataItem(expr, None, (), place)
