"""Source text of kernels and invokes in a running program, from functions or frames.

The source of a function is in a file or in a notebook cell. Its names are looked up as in Python,
in its globals and enclosing scopes. The result is a text with the function on its original lines,
after the imports and constants that it needs.
"""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Callable, Mapping
from typing import Any

from psyclone_storage.base.diagnostic import CompileError, Diagnostic, raise_if_any
from psyclone_storage.base.source import CalledText, SourceText, Span
from psyclone_storage.ir.parsed import ParsedCall
from psyclone_storage.languages.python.parse.api_words import Dialect
from psyclone_storage.languages.python.parse.closure import CallLocation, FunctionText, Resolved
from psyclone_storage.languages.python.parse.function_sources import WRAPS
from psyclone_storage.languages.python.parse.invokes import InvokeReader
from psyclone_storage.languages.python.parse.tree import PythonTree, read_tree


def live_kernel_source(dialect: Dialect, name: str, resolved: Resolved | None) -> SourceText:
    """Return a text with the kernel function on its original lines, after its dependencies.

    Raises:
        CompileError: P052, the source is not available, or the kernel is in no module; P053, it
            uses a number of the enclosing function.
    """
    if resolved is None:
        message = f"The text of the kernel '{name}' is not to be had."
        hint = "Put it into a file or a cell of a notebook: a kernel is read, not run."
        raise CompileError(Diagnostic("P052", message, hint=hint))
    read = resolved[0].text
    if read.wraps:
        raise CompileError(_wrapper(read))
    if not read.module:
        place = _named_in(_tree_of(read))
        message = f"The kernel '{read.name}' is in no module, where its constants could be read."
        hint = "Give '__name__' to what executes it, as 'exec(text, {'__name__': '__main__'})'."
        raise CompileError(Diagnostic("P052", message, place, hint=hint))
    _check_numbers_around(_tree_of(read), read)
    texts: dict[Callable[..., Any], CalledText] = {}
    calls: dict[Callable[..., Any], dict[str, CalledText]] = {}
    for one in resolved:
        _check_values(one.text)
        about = one.text
        source = _standing_alone(dialect, about, calls.setdefault(one.function, {}))
        module = about.module if about.module != read.module else ""
        texts[one.function] = CalledText(source, module, about.around, about.defaults, about.wraps)
    for one in resolved:
        named = ((name, texts.get(called)) for name, called in one.calls)
        calls[one.function].update({name: text for name, text in named if text is not None})
    return texts[resolved[0].function].source


def _wrapper(read: FunctionText) -> Diagnostic:
    """Return the error for a kernel whose function wraps another one."""
    what = f"The function of this kernel, '{read.name}', wraps '{read.wraps}'."
    return Diagnostic("P051", what, _named_in(_tree_of(read)), hint=WRAPS)


def _named_in(tree: PythonTree) -> Span:
    """Return the location of the name in a function definition."""
    nodes = (one for one in ast.walk(tree.module) if isinstance(one, ast.FunctionDef))
    return next((tree.name_of(node) for node in nodes), tree.source.whole())


def _tree_of(read: FunctionText) -> PythonTree:
    """Return the syntax tree of a function with its original line numbers."""
    text = _NEWLINE * max(0, read.first - 1) + textwrap.dedent(read.text)
    return read_tree(SourceText(read.file, text, calls={}))


def _standing_alone(
    dialect: Dialect, read: FunctionText, calls: Mapping[str, CalledText]
) -> SourceText:
    """Return a text with a function on its original lines, and the definitions that it needs."""
    text = textwrap.dedent(read.text)
    try:
        nodes = ast.walk(_tree_of(read).module)
    except CompileError:
        # A name that is followed by a bracket in a text need not be a function.
        nodes = iter(())
    used = {node.id for node in nodes if isinstance(node, ast.Name)}
    needed = [statement for name, statement in read.statements if name in used]
    words = "; ".join([f"from {dialect.module} import *", *needed])
    before = f"{words}\n{_NEWLINE * max(0, read.first - 2)}"
    return SourceText(read.file, f"{before}{text}", calls)


_NEWLINE = "\n"


def _check_numbers_around(tree: PythonTree, read: FunctionText) -> None:
    """Raise `CompileError` if a kernel uses numbers of the enclosing function."""
    first = {node.id: node for node in reversed(list(ast.walk(tree.module)))
             if isinstance(node, ast.Name)}  # fmt: skip
    hint = "Pass it to the kernel as a scalar, or make it a variable of the module."
    raise_if_any([
        Diagnostic("P053", f"'{name}' is a variable of the function around the kernel.",
                   tree.span(first[name]), hint=hint)
        for name in read.around if name in first
    ])  # fmt: skip


def _check_values(read: FunctionText) -> None:
    """Raise `CompileError` if a function reads a value, or a table of values, of other types."""
    if not read.invalid:
        return
    tree = _tree_of(read)
    bodies = (node.body for node in tree.module.body if isinstance(node, ast.FunctionDef))
    used = [one for body in bodies for line in body for one in ast.walk(line)
            if isinstance(one, ast.Name)]  # fmt: skip
    first = {node.id: node for node in reversed(used)}
    hint = "Write a number or a tuple of finite reals of 64 bits, or of integers of 32 bits."
    raise_if_any([
        Diagnostic("P051", f"A kernel cannot read '{name}': {why}.",
                   tree.span(first[name]), hint=hint)
        for name, why in read.invalid if name in first
    ])  # fmt: skip


def calls_at(
    dialect: Dialect, site: CallLocation
) -> tuple[SourceText, tuple[ParsedCall, ...]] | None:
    """Return the text of a program, and the parsed calls of the invoke at a call site.

    The function returns None if the text is not available, if the arguments of the invoke are not
    calls, or if a call unpacks arguments (`*values`).
    """
    source = SourceText(site.code.co_filename, site.text)
    if not source.text or site.position[0] is None:
        return None
    try:
        tree = read_tree(source)
    except CompileError:
        return None
    for node in ast.walk(tree.module):
        place = (
            getattr(node, "lineno", None),
            getattr(node, "end_lineno", None),
            getattr(node, "col_offset", None),
            getattr(node, "end_col_offset", None),
        )
        if isinstance(node, ast.Call) and place == site.position:
            reader = InvokeReader(tree, dialect.real, [], not dialect.of_points, keeps_all=True)
            calls = tuple(reader.calls(node))
            return None if reader.problems or _unpacks(node) else (source, calls)
    return None


def _unpacks(invoke: ast.Call) -> bool:
    return any(
        isinstance(value, ast.Starred)
        for call in invoke.args
        if isinstance(call, ast.Call)
        for value in call.args
    )
