"""Texts of files whose lines may have to be short enough for a compiler."""

from __future__ import annotations

from pathlib import Path

from psyclone_storage.base.diagnostic import Diagnostic, raise_if_any
from psyclone_storage.base.source import SourceText
from psyclone_storage.languages.sources.kernel_search import SourceIndex

_MAX_LINE = 132
_LONG_LINE = "Break the line, or give '-l output', which accepts it and breaks what it writes."


def read_checked(index: SourceIndex, path: Path, line_limit: bool) -> SourceText:
    """Return the text of the file at `path`.

    Raises:
        CompileError: the file cannot be read. With `line_limit`, also if it has lines over 132
            characters.
    """
    source = index.read(path)
    if line_limit:
        raise_if_any(tuple(_too_long(source)))
    return source


def _too_long(source: SourceText) -> list[Diagnostic]:
    start, problems = 0, []
    for line in source.text.splitlines(keepends=True):
        if len(line.rstrip("\r\n")) > _MAX_LINE:
            excess = source.span(start + _MAX_LINE, start + len(line.rstrip("\r\n")))
            message = f"A line is longer than {_MAX_LINE} characters."
            problems.append(Diagnostic("P012", message, excess, hint=_LONG_LINE))
        start += len(line)
    return problems
