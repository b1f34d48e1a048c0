"""Syntax tree of a Python file, with the location of each node in the text.

Text that is not valid Python, or is nested too deeply for this compiler, is rejected here.
"""

from __future__ import annotations

import ast
import re
import warnings
from bisect import bisect_right
from collections.abc import Iterator
from functools import lru_cache
from itertools import islice

from psyclone_storage.base.diagnostic import CompileError, Diagnostic
from psyclone_storage.base.records import dataclass, field
from psyclone_storage.base.regex import regex
from psyclone_storage.base.source import SourceText, Span
from psyclone_storage.languages.python.parse.thread_safe_ast import parse_python

MAX_DEPTH = 100
"""The depth of a syntax tree; operations from left to right, as in a sum, are one level."""
_REMEMBERED = 4
_LINE_END = regex(r"\r\n|\r|\n|\f")
_CODE = "P050"

BY_PRODUCTS = "# Powers with integer exponents are products, as in Fortran."
"""The comment in modules that were translated from Fortran, whose bits it preserves."""


@dataclass(frozen=True, eq=False)
class PythonTree:
    """Text of a file with its syntax tree."""

    source: SourceText
    module: ast.Module
    _starts: list[int] = field(repr=False, default_factory=list)

    def span(self, node: ast.AST) -> Span:
        """Return the location of a node."""
        line, column = getattr(node, "lineno", 1), getattr(node, "col_offset", 0)
        last = getattr(node, "end_lineno", None) or line
        end = getattr(node, "end_col_offset", None)
        start = self._offset(line, column)
        return self.source.span(start, self._offset(last, end) if end is not None else start + 1)

    @property
    def has_powers_of_fortran(self) -> bool:
        """True if products compute all powers with integer exponents."""
        return BY_PRODUCTS in self.source.text

    def line_start(self, number: int) -> int:
        """Return the offset of the first character of a line; Python's line numbers start at 1."""
        return self._starts[min(number, len(self._starts)) - 1]

    def has_line(self, number: int) -> bool:
        """Return whether the file has a line with this number."""
        return number <= len(self._starts)

    def line_at(self, offset: int) -> int:
        """Return the number of the line that contains an offset."""
        return bisect_right(self._starts, offset)

    def name_of(self, node: ast.FunctionDef | ast.alias) -> Span:
        """Return the location of the name that a definition or an import binds."""
        whole = self.span(node)
        start = whole.start if isinstance(node, ast.alias) else whole.start + len("def")
        name = node.asname or node.name if isinstance(node, ast.alias) else node.name
        found = re.compile(rf"\b{re.escape(name)}\b").search(self.source.text, start, whole.stop)
        return self.source.span(*found.span()) if found else whole

    def _offset(self, line: int, column: int) -> int:
        """Return the offset of a column counted in UTF-8 bytes."""
        start = self.line_start(line)
        stop = self._starts[line] if line < len(self._starts) else len(self.source.text)
        text = self.source.text[start:stop]
        return start + len(text.encode("utf-8")[:column].decode("utf-8", "ignore"))


@lru_cache(maxsize=_REMEMBERED)
def read_tree(source: SourceText) -> PythonTree:
    """Return the syntax tree of a file.

    Raises:
        CompileError: `P050`, the text is not valid Python or is nested too deeply; `P001`, the file
            is not a text file.
    """
    if "\0" in source.text:
        message = f"'{source.name}' is not a text file."
        raise CompileError(Diagnostic("P001", message, file=source.name))
    starts = [0, *(found.end() for found in _LINE_END.finditer(source.text) if found[0] != "\f")]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            module = parse_python(source.text)
            # Only the compiler checks some rules, such as unique arguments, and only in bytes the
            # declared encoding.
            compile(source.text.encode("utf-8"), source.name, "exec", dont_inherit=True)
    except SyntaxError as error:
        # A function of a running program lacks the variables of the function around it.
        unbound = (error.msg or "").startswith("no binding for nonlocal")
        if source.calls is None or not unbound:
            raise CompileError(_refused(source, starts, error)) from None
    except UnicodeEncodeError as error:
        what = "a character is not UTF-8"
        span = source.span(error.start, error.end)
        raise CompileError(_not_python(source, what, span)) from None
    except (RecursionError, MemoryError, ValueError):
        raise CompileError(_too_deep(source, None)) from None
    tree = PythonTree(source, module, starts)
    for node, depth in _with_depths(module):
        if depth > MAX_DEPTH and hasattr(node, "lineno"):
            raise CompileError(_too_deep(source, tree.span(node)))
    return tree


def _refused(source: SourceText, starts: list[int], error: SyntaxError) -> Diagnostic:
    line = min(max(error.lineno or 1, 1), len(starts))
    start = starts[line - 1]
    length = len(source.text) - start
    first = start + min(max((error.offset or 1) - 1, 0), max(length - 1, 0))
    same_line = error.end_lineno == error.lineno and error.end_offset is not None
    stop = start + (error.end_offset or 1) - 1 if same_line else first + 1
    span = source.span(first, max(min(stop, len(source.text)), first + 1))
    return _not_python(source, (error.msg or "invalid syntax").rstrip(".?"), span)


def _not_python(source: SourceText, what: str, span: Span) -> Diagnostic:
    return Diagnostic(_CODE, f"'{source.name}' is not Python: {what}.", span)


def _too_deep(source: SourceText, span: Span | None) -> Diagnostic:
    message = f"'{source.name}' is nested more than {MAX_DEPTH} levels deep."
    if span is None:
        message = f"Python cannot compile '{source.name}', because it is nested too deeply."
    hint = "Give a part of the expression a name, or the statements a function of their own."
    return Diagnostic(_CODE, message, span, hint=hint, file=source.name)


def depth_of(node: ast.AST) -> int:
    """Return the nesting depth of a syntax tree."""
    return max(depth for _, depth in _with_depths(node))


def names_in_tree(node: ast.AST) -> set[str]:
    """Return the names in a syntax tree."""
    return {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}


def left_operations(node: ast.BinOp) -> Iterator[ast.BinOp]:
    """Yield an operation, its left operand if this is one too, and so on.

    Matrix products are not part of a chain.
    """
    yield node
    while not isinstance(node.op, ast.MatMult) and isinstance(node.left, ast.BinOp):
        node = node.left
        yield node


def _with_depths(part: ast.AST) -> Iterator[tuple[ast.AST, int]]:
    """Yield each node with its depth in the tree."""
    stack: list[tuple[ast.AST, int]] = [(part, 0)]
    while stack:
        node, depth = stack.pop()
        yield node, depth
        same = list(islice(left_operations(node), 1, 2)) if isinstance(node, ast.BinOp) else []
        stack += [
            (child, depth if child in same else depth + 1) for child in ast.iter_child_nodes(node)
        ]
