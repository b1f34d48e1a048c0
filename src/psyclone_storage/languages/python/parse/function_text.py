"""The text of a function in Python, found by the lines of its code, and the names that count in it.

`closure.py` reads it, without the tokenizer that `inspect` uses: the regular expressions of that
one take longer to compile than everything else in the first use of an invoke that is cached.
"""

from __future__ import annotations

import ast
import inspect
import linecache
import textwrap
from types import CodeType
from typing import Any

from psyclone_storage.languages.python.parse.thread_safe_ast import parse_python


def text_of_function(code: CodeType, module: dict[str, Any]) -> tuple[str, str]:
    """Return the file and the text of a function of a module.

    The text reaches to the last line that has code, and further as long as lines are indented, such
    as those that are never executed. `inspect.getblock` finds other ends, such as those of lambdas,
    but the regular expressions of its tokenizer take longer than all the rest.

    Raises:
        OSError: the lines are not available.
    """
    file, before = inspect.getsourcefile(code) or code.co_filename, code.co_firstlineno - 1
    linecache.checkcache(file)
    lines = linecache.getlines(file, module)
    if before >= len(lines):
        raise OSError("The source code is not available.")
    last, waiting = before, [code]
    while waiting:
        one = waiting.pop()
        last = max([last, *(end for _, end, _, _ in one.co_positions() if end is not None)])
        waiting += [inner for inner in one.co_consts if isinstance(inner, CodeType)]
    margin = _margin(lines[before])
    while last < len(lines) and (not lines[last].strip() or _margin(lines[last]) > margin):
        last += 1
    while last > before and not lines[last - 1].strip():
        last -= 1
    text = "".join(lines[before:last])
    try:
        (found,) = parse_python(textwrap.dedent(text)).body
    except (SyntaxError, ValueError):
        found = None
    is_whole = isinstance(found, ast.FunctionDef) and found.name == code.co_name
    return file, text if is_whole else "".join(inspect.getblock(lines[before:]))


def _margin(line: str) -> int:
    return len(line) - len(line.lstrip())


_STEPS = (ast.Assign, ast.AugAssign)


def names_that_count(text: str) -> set[str]:
    """Return the names in indices, lengths of lists and the bounds of loops of a function."""
    try:
        tree = parse_python(textwrap.dedent(text))
    except SyntaxError:
        return set()
    found: set[str] = set()
    for node in ast.walk(tree):
        parts: list[ast.AST] = []
        match node:
            case ast.Subscript(slice=index):
                parts = [index]
            case ast.While(test=test):
                parts = [test, *(one for one in ast.walk(node) if isinstance(one, _STEPS))]
            case (
                ast.BinOp(op=ast.Mult(), left=ast.List(), right=count)
                | ast.BinOp(op=ast.Mult(), left=count, right=ast.List())
            ):
                parts = [count]
            case ast.For(iter=items):
                parts = [items]
            case ast.Compare(comparators=[ast.Call() as sequence]):
                parts = [sequence]
            case ast.Call(args=args, keywords=keywords) if passes_a_name(node):
                parts = [*args, *keywords]
        names = (one for part in parts for one in ast.walk(part))
        found |= {one.id for one in names if isinstance(one, ast.Name)}
    return found


def passes_a_name(node: ast.Call) -> bool:
    """Return whether a call may pass a field, and offsets for it."""
    values = [*node.args, *(one.value for one in node.keywords)]
    return len(values) > 1 and any(isinstance(one, ast.Name) for one in values)
