"""Diagnostics as text with optional colour; `render_tools` has machine-readable formats."""

from __future__ import annotations

from collections.abc import Iterable

from psyclone_storage.base.diagnostic import Diagnostic, Severity
from psyclone_storage.base.hints import cure_of
from psyclone_storage.base.regex import regex
from psyclone_storage.base.source import Span
from psyclone_storage.base.text import visible

_COLOURS = {Severity.ERROR: "\033[1;31m", Severity.WARNING: "\033[1;33m"}
_BOLD, _BLUE, _RESET = "\033[1m", "\033[1;34m", "\033[0m"
_GUTTER = 5
_WIDTH = 132
_CONTEXT = 40
_ELLIPSIS = "..."
_QUOTED = regex(r"'([^'\n]{80})[^'\n]{80,}([^'\n]{40})'")


def render_text(problems: Iterable[Diagnostic], *, colour: bool = False) -> str:
    """Return diagnostics as text for terminals, separated by blank lines."""
    return "\n\n".join(_rendered(problem, colour) for problem in problems)


def _rendered(problem: Diagnostic, colour: bool) -> str:
    def paint(code: str, text: str) -> str:
        return f"{code}{text}{_RESET}" if colour else text

    tint = _COLOURS[problem.severity]
    head = paint(tint, f"{problem.severity.value}[{problem.code}]")
    lines = [f"{head}{paint(_BOLD, f': {_shortened(problem.message)}')}"]
    if problem.span:
        lines.append(f"  {paint(_BLUE, '-->')} {_place(problem.span)}")
        lines += _marked(problem.span, "^", problem.label)
    elif problem.file:
        lines.append(f"  {paint(_BLUE, '-->')} {visible(problem.file)}")
    for related in problem.related:
        if problem.span is None or related.span.source is not problem.span.source:
            lines.append(f"  {paint(_BLUE, '-->')} {_place(related.span)}")
        lines += _marked(related.span, "-", related.label)
    if cure := cure_of(problem):
        lines.append(f"  {paint(_BLUE, 'hint:')} {_shortened(cure)}")
    lines += [f"  {visible(line)}".rstrip() for line in problem.trace.splitlines()]
    return "\n".join(lines)


def _place(span: Span) -> str:
    return f"{visible(span.source.name)}:{span.line}:{span.column}"


def _shortened(message: str) -> str:
    """Return a message with long quotations shortened in the middle."""
    text = _QUOTED.sub(rf"'\1{_ELLIPSIS}\2'", message)
    return "\n".join(map(visible, text.split("\n")))


def _marked(span: Span, mark: str, label: str) -> list[str]:
    """Return the source line at the start of `span`, and a line that marks the span.

    Only the part of a long line around the position is shown.
    """
    text = span.source.line(span.line)
    text, column, end = _cut(text, span.column - 1)
    before = visible(text[:column])
    stop = column + max(1, min(span.stop - span.start, end - column))
    width = max(1, len(visible(text[column:stop])))
    pad = "".join("\t" if character == "\t" else " " for character in before)
    return [
        f"{span.line:>{_GUTTER}} | {visible(text)}",
        f"{'':>{_GUTTER}} | {pad}{mark * width} {visible(label)}".rstrip(),
    ]


def _cut(text: str, column: int) -> tuple[str, int, int]:
    """Return the part of `text` around `column` (0-based), the column in it, and its end."""
    if len(text) <= _WIDTH:
        return text, column, len(text)
    first = max(0, min(column - _CONTEXT, len(text) - _WIDTH))
    part = text[first : first + _WIDTH]
    if first:
        part, column = f"{_ELLIPSIS}{part}", column - first + len(_ELLIPSIS)
    return f"{part}{_ELLIPSIS if first + _WIDTH < len(text) else ''}", column, len(part)
