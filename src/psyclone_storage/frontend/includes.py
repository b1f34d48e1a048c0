"""Included files that hold invokes, which nobody compiles.

Owns the look into what an algorithm includes, by a line of Fortran or of the preprocessor. A file
that is not found is the compiler's business, for it may be made later.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from psyclone_storage.base.diagnostic import CompileError, Diagnostic, Related, Severity
from psyclone_storage.base.source import SourceText, Span
from psyclone_storage.frontend.files import read_source
from psyclone_storage.frontend.fortran.invokes import find_invoke
from psyclone_storage.frontend.fortran.statements import scan

_INCLUDE = re.compile(
    r"^[ \t]*(?:#[ \t]*)?include[ \t]*(?:'([^'\n]+)'|\"([^\"\n]+)\"|<([^>\n]+)>)",
    re.IGNORECASE | re.MULTILINE,
)


def invokes_in_includes(source: SourceText, folders: tuple[Path, ...]) -> Iterator[Diagnostic]:
    """Yield each included file with an invoke (P015, a warning), at the line that includes it.

    Files are looked for beside `source` and in `folders`, and so is what they include.
    """
    for found in _INCLUDE.finditer(source.text):
        place = source.span(found.start() + len(found[0]) - len(found[0].lstrip()), found.end())
        for invoke in _invokes(source, found, folders, set()):
            name = invoke.source.name
            yield Diagnostic(
                "P015",
                f"'{name}' holds an invoke, which is not compiled.",
                place,
                label="included here",
                hint="Write the invoke into the algorithm file, or preprocess the file first.",
                related=(Related(invoke, "the invoke"),),
                severity=Severity.WARNING,
            )


def _invokes(
    source: SourceText, include: re.Match[str], folders: tuple[Path, ...], seen: set[Path]
) -> Iterator[Span]:
    """Yield the places of the invokes in what `include` stands for."""
    name = include[1] or include[2] or include[3]
    for folder in (Path(source.name).parent, *folders):
        path = folder / name
        if path.is_file():
            break
    else:
        return
    if path.resolve() in seen:
        return
    seen.add(path.resolve())
    try:
        text = read_source(path)
    except CompileError:
        return
    for statement in scan(text):
        if (start := find_invoke(statement)) >= 0:
            yield statement.span(start, len(statement.text))
    for inner in _INCLUDE.finditer(text.text):
        yield from _invokes(text, inner, folders, seen)
