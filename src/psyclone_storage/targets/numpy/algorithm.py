"""Python algorithms in which each invoke is replaced by a call of the generated function.

All other text is preserved. The functions are imported after the imports of the file.
"""

from __future__ import annotations

import ast

from psyclone_storage.base.diagnostic import InternalError
from psyclone_storage.base.source import Span
from psyclone_storage.ir.expr import Index, spell
from psyclone_storage.ir.schedule import Datum, Program
from psyclone_storage.languages.python.parse.thread_safe_ast import parse_python
from psyclone_storage.targets.numpy.expressions import python_identifier

_WIDTH = 100
_STEP = "    "


def emit_python_algorithm(program: Program) -> str:
    """Return the text of `program`'s algorithm, calling the functions of the PSy layer."""
    if not program.invokes:
        return program.algorithm.source.text
    text = program.algorithm.source.text
    newline = "\r\n" if "\r\n" in text else "\n"
    edits = [
        (invoke.parsed.span.start, invoke.parsed.span.stop, _call(invoke.name, invoke.parsed.span,
         [_given(datum) for datum in invoke.schedule.data], newline))
        for invoke in program.invokes
    ]  # fmt: skip
    at = program.algorithm.unit.end_of_uses
    edits.append((at, at, _import(program, text, at, newline)))
    parts, done = [], 0
    for start, stop, new in sorted(edits):
        parts += [text[done:start], new]
        done = stop
    return "".join([*parts, text[done:]])


def _given(datum: Datum) -> str:
    if datum.span is None:
        raise InternalError(f"'{datum.name}' was passed nowhere.")
    text = datum.span.text.strip()
    if not text:
        return spell(datum.actual)
    node = parse_python(f"({text}\n)", "eval").body
    if datum.vector > 1 and isinstance(node, ast.Subscript) and not isinstance(datum.actual, Index):
        # A call is passed one component, the routine all of them.
        return ast.unparse(node.value)
    return ast.unparse(node) if "\n" in text else text


def _import(program: Program, text: str, at: int, newline: str) -> str:
    names = ", ".join(invoke.name for invoke in program.invokes)
    line = f"from {program.name} import {names}"
    if len(line) > _WIDTH:
        inner = "".join(f"{_STEP}{invoke.name},{newline}" for invoke in program.invokes)
        line = f"from {program.name} import ({newline}{inner})"
    if at == 0 or text[at - 1] in "\r\n":
        return line + newline
    # More statements are on the line, or it is the last one and has no end.
    return f"{newline}{line}" if at == len(text) else f"; {line}"


def _call(name: str, span: Span, args: list[str], newline: str) -> str:
    """Return the call, with one argument per line if it is too long."""
    text = span.source.text
    before = text[text.rfind("\n", 0, span.start) + 1 : span.start]
    indent = before[: len(before) - len(before.lstrip())]
    whole = f"{python_identifier(name)}({', '.join(args)})"
    if len(before) + len(whole) <= _WIDTH:
        return whole
    inner = "".join(f"{indent}{_STEP}{arg},{newline}" for arg in args)
    return f"{name}({newline}{inner}{indent})"
