"""Parsing of Python algorithm files: invokes, and the imports of their kernels.

All errors of a file are collected before an exception is raised. Invokes are not interpreted here.
Types of variables follow from the kernels' metadata.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Set
from pathlib import PurePath

from psyclone_storage.base.diagnostic import CompileError, Diagnostic, Related, raise_if_any
from psyclone_storage.base.records import replace
from psyclone_storage.base.source import SourceText, Span
from psyclone_storage.ir import parsed
from psyclone_storage.ir.expr import Symbol
from psyclone_storage.languages.python.parse.annotations import AnnotatedNames, with_symbols
from psyclone_storage.languages.python.parse.api_words import Dialect
from psyclone_storage.languages.python.parse.imports import (
    NUMERIC,
    ImportedNames,
    imported_names,
    imports_in,
)
from psyclone_storage.languages.python.parse.invokes import InvokeReader
from psyclone_storage.languages.python.parse.kernel_names import KernelBindings
from psyclone_storage.languages.python.parse.metadata import kernels_in, module_name
from psyclone_storage.languages.python.parse.tree import PythonTree, read_tree

_INVOKE, _FORTRAN = "invoke", "fortran_kernel"
_PACKAGE = __name__.partition(".")[0]
_PARAMETERS = ("file", "name")


def read_python_algorithm(dialect: Dialect, source: SourceText) -> parsed.ParsedAlgorithm:
    """Return the invokes of `source`, possibly none.

    Raises:
        CompileError: every problem of the file.
    """
    if not source.text.strip():
        message = f"'{source.name}' is empty."
        raise CompileError(Diagnostic("P002", message, file=source.name))
    tree = read_tree(source)
    names = imported_names(tree, dialect.module)
    unit = _unit(tree, dialect, names)
    problems = list(_misplaced(tree, names))
    reader = InvokeReader(tree, dialect.real, problems, not dialect.of_points)
    said = AnnotatedNames(tree, dialect.types, names)
    written = {node: tuple(reader.calls(node)) for node in _invokes(tree, names)}
    unit = _with_renamed(tree, unit, written, problems)
    invokes = []
    for node, calls in written.items():
        typed = tuple(_with_types(call, said.around(node)) for call in calls)
        invokes.append(parsed.ParsedInvoke(typed, *reader.label(node), (unit,), tree.span(node)))
    problems += _check_names(tuple(invokes), tree)
    problems += _not_invoked(tree, dialect, names, invokes)
    raise_if_any(sorted(problems, key=lambda one: one.span.start if one.span else 0))
    return parsed.ParsedAlgorithm(source, unit, (unit,), tuple(invokes))


def _with_renamed(
    tree: PythonTree,
    unit: parsed.Scope,
    written: Mapping[ast.Call, tuple[parsed.ParsedCall, ...]],
    problems: list[Diagnostic],
) -> parsed.Scope:
    """Return a file with imports for the kernels to which statements give names."""
    names = KernelBindings(tree, unit.uses)
    whole = [use for use in unit.uses if use.only is None]
    uses = list(unit.uses)
    for node, calls in written.items():
        for call in calls:
            match names.import_of(call, node, whole):
                case Diagnostic() as problem:
                    problems.append(problem)
                case parsed.ParsedUse() as use if use not in uses:
                    uses.append(use)
    return replace(unit, uses=tuple(uses))


def _with_types(call: parsed.ParsedCall, known: Mapping[str, Symbol]) -> parsed.ParsedCall:
    """Return a call with known symbols for the variables that it passes."""
    args = tuple(replace(one, expr=with_symbols(known, one.expr)) for one in call.args)
    return replace(call, args=args) if known else call


def _invokes(tree: PythonTree, names: ImportedNames) -> list[ast.Call]:
    """Return the invokes that are whole statements, in source order."""
    found = [
        node.value
        for node in ast.walk(tree.module)
        if isinstance(node, ast.Expr) and _is_invoke(node.value, names)
    ]
    calls = [node for node in found if isinstance(node, ast.Call)]
    return sorted(calls, key=lambda node: tree.span(node).start)


def _is_invoke(node: ast.AST, names: ImportedNames) -> bool:
    return isinstance(node, ast.Call) and names.meant(node.func) == _INVOKE


def _misplaced(tree: PythonTree, names: ImportedNames) -> Iterator[Diagnostic]:
    """Yield diagnostics for invokes inside expressions."""
    statements = set(_invokes(tree, names))
    for node in ast.walk(tree.module):
        if _is_invoke(node, names) and node not in statements:
            message = "An invoke is a statement of its own: it has no value."
            yield Diagnostic("P055", message, tree.span(node))


def _not_invoked(
    tree: PythonTree, dialect: Dialect, names: ImportedNames, invokes: list[parsed.ParsedInvoke]
) -> Iterator[Diagnostic]:
    """Yield diagnostics for statements that call a kernel directly, which has no effect.

    A name denotes a kernel if the file defines it as one or an invoke of the file calls it. The
    name must not be redefined by an enclosing function.
    """
    known = {one.text for one in kernels_in(tree, dialect)}
    known |= {call.name for invoke in invokes for call in invoke.calls}
    for node in _statements(tree.module, known):
        if not isinstance(node, ast.Expr):
            continue
        for call in _discarded(node.value):
            func = call.func
            if not isinstance(func, ast.Name):
                continue
            if func.id in known or names.meant(func) in dialect.builtins:
                message = f"The call of the kernel '{func.id}' has no effect: it is not passed to "
                where = "" if call is node.value else " as a statement of its own"
                yield Diagnostic(
                    "P056",
                    f"{message}an invoke.",
                    tree.span(call),
                    hint=f"Write 'invoke({tree.span(call).text})'{where}.",
                )


def _discarded(value: ast.expr) -> Iterator[ast.Call]:
    """Yield the calls whose values an expression statement with `value` discards."""
    match value:
        case ast.Call():
            yield value
        case ast.Tuple(elts=parts) | ast.List(elts=parts) | ast.Set(elts=parts):
            for part in parts:
                yield from _discarded(part)
        case ast.ListComp(elt=part) | ast.SetComp(elt=part):
            yield from _discarded(part)


def _statements(around: ast.AST, names: Set[str]) -> Iterator[ast.stmt]:
    """Yield the statements outside functions that bind any of `names`.

    Statements in `with` and `try` blocks are omitted, because they may expect the error.
    """
    for node in ast.iter_child_nodes(around):
        if isinstance(node, ast.With | ast.AsyncWith | ast.Try | ast.TryStar):
            continue
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and _bound(node) & names:
            continue
        if isinstance(node, ast.stmt):
            yield node
        yield from _statements(node, names)


def _bound(function: ast.FunctionDef | ast.AsyncFunctionDef) -> set[str]:
    """Return the names that a function binds, including those in nested functions."""
    found: set[str] = set()
    for node in ast.walk(function):
        match node:
            case ast.arg(arg=name) | ast.Name(id=name, ctx=ast.Store()):
                found.add(name)
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                found.add(name)
    return found - {function.name}


def _unit(tree: PythonTree, dialect: Dialect, names: ImportedNames) -> parsed.Scope:
    source = tree.source
    uses = [_use(tree, node, dialect) for node in imports_in(tree.module)]
    uses += _of_fortran(tree, names)
    own = kernels_in(tree, dialect)
    module = module_name(source)
    if own:
        used = tuple(parsed.UsedName(one.text, one.text, one) for one in own)
        uses.insert(0, parsed.ParsedUse(module, used, (), own[0]))
    return parsed.Scope(
        parsed.ScopeKind.MODULE, module, tuple(uses), (), _end_of_imports(tree), 0, source.whole()
    )


def _of_fortran(tree: PythonTree, names: ImportedNames) -> Iterator[parsed.ParsedUse]:
    """Yield imports for the Fortran kernels to which a file assigns names."""
    for node in tree.module.body:
        match node:
            case ast.Assign(
                targets=[ast.Name(id=name) as target], value=ast.Call(func=called) as call
            ) if names.meant(called) == _FORTRAN:
                given: dict[str, ast.expr] = dict(zip(_PARAMETERS, call.args, strict=False))
                given |= {one.arg: one.value for one in call.keywords if one.arg}
                match [given.get(word) for word in _PARAMETERS]:
                    case [ast.Constant(value=str(file)), ast.Constant(value=str(original))]:
                        used = parsed.UsedName(name, original, tree.span(target))
                        stem = PurePath(file).stem.lower()
                        yield parsed.ParsedUse(stem, (used,), (), tree.span(node))


def _use(tree: PythonTree, node: ast.Import | ast.ImportFrom, dialect: Dialect) -> parsed.ParsedUse:
    """Return an import statement without the names of built-ins, which are not kernels."""
    span = tree.span(node)
    if isinstance(node, ast.Import):
        return parsed.ParsedUse(node.names[0].name, (), (), span)
    module = "." * node.level + (node.module or "")
    own = dialect.builtins | dialect.types.keys() if module == dialect.module else frozenset()
    named = [item for item in node.names if item.name != "*" and item.name not in own]
    used = tuple(
        parsed.UsedName(item.asname or item.name, item.name, tree.name_of(item)) for item in named
    )
    is_whole = not named and any(item.name == "*" for item in node.names)
    if is_whole and module not in NUMERIC and not module.startswith(_PACKAGE):
        return parsed.ParsedUse(module, None, (), span)
    return parsed.ParsedUse(module, used, (), span)


def _end_of_imports(tree: PythonTree) -> int:
    """Return the offset of the line after the top-level imports, or after the module docstring."""
    body = tree.module.body
    last: ast.stmt | None = None
    for position, node in enumerate(body):
        text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if isinstance(node, ast.Import | ast.ImportFrom) or (text and position == 0):
            last = node
    if last is None:
        return 0
    stop = tree.span(last).stop
    line = tree.line_at(stop)
    following = tree.line_start(line + 1) if tree.has_line(line + 1) else len(tree.source.text)
    shared = any(node is not last and tree.line_at(tree.span(node).start) == line for node in body)
    return stop if shared else following


# ---------------------------------------------------------------------------- names of invokes


def _check_names(
    invokes: tuple[parsed.ParsedInvoke, ...], tree: PythonTree
) -> Iterator[Diagnostic]:
    """Yield diagnostics for labels whose routine names clash with each other or other names."""
    labels: dict[str, Span] = {}
    taken = dict(_taken(tree))
    for invoke in invokes:
        if invoke.label is None or invoke.label_span is None:
            continue
        name = parsed.routine_name(invoke.label).lower()
        if name in labels:
            yield Diagnostic(
                "P025",
                f"Two invokes of this file are called '{invoke.label}'.",
                invoke.label_span,
                "second use of the name",
                "Give each invoke a name of its own, or none.",
                (Related(labels[name], "first use of the name"),),
            )
        elif name in taken:
            yield Diagnostic(
                "P026",
                f"The routine of this invoke would be called '{name}', which means something else"
                " here.",
                invoke.label_span,
                hint="Give the invoke another name.",
                related=(Related(taken[name], "the other meaning"),),
            )
        labels.setdefault(name, invoke.label_span)


def _taken(tree: PythonTree) -> Iterator[tuple[str, Span]]:
    """Yield the names, in lower case, that the file binds, with their locations."""
    for node in ast.walk(tree.module):
        match node:
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                yield name.lower(), tree.span(node)
            case ast.Name(id=name, ctx=ast.Store()):
                yield name.lower(), tree.span(node)
            case ast.arg(arg=name):
                yield name.lower(), tree.span(node)
            case ast.alias(name=name, asname=other):
                yield (other or name).lower(), tree.span(node)
