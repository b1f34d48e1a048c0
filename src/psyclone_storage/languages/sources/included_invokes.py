"""Check for invokes in included files, which are never compiled.

The check reads all files that an algorithm includes in Fortran or preprocessor syntax. A missing
file is ignored, because it may be created later.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from psyclone_storage.base.diagnostic import CompileError, Diagnostic, Related, Severity
from psyclone_storage.base.source import SourceText, Span
from psyclone_storage.languages.fortran.parse.invokes import find_invoke
from psyclone_storage.languages.fortran.parse.statements import scan
from psyclone_storage.languages.sources.include_lines import Inclusion, included_file, inclusions


def check_included_invokes(
    source: SourceText, folders: tuple[Path, ...], read: Callable[[Path], SourceText]
) -> Iterator[Diagnostic]:
    """Yield a warning (P015) at each line that includes a file with an invoke.

    Nested includes are also checked. Files are searched in the folder of `source` and in `folders`.
    `read` returns the text of a file.
    """
    for found in inclusions(source):
        for invoke in _invokes(found, folders, read, set()):
            name = invoke.source.name
            yield Diagnostic(
                "P015",
                f"'{name}' holds an invoke, which is not compiled.",
                found.place,
                label="included here",
                hint="Write the invoke into the algorithm file, or preprocess the file first.",
                related=(Related(invoke, "the invoke"),),
                severity=Severity.WARNING,
            )


def _invokes(
    found: Inclusion,
    folders: tuple[Path, ...],
    read: Callable[[Path], SourceText],
    seen: set[Path],
) -> Iterator[Span]:
    """Yield the locations of invokes in an included file and in files that it includes."""
    path = included_file(found, folders)
    if path is None or path.resolve() in seen:
        return
    seen.add(path.resolve())
    try:
        text = read(path)
    except CompileError:
        return
    for statement in scan(text):
        if (start := find_invoke(statement)) >= 0:
            yield statement.span(start, len(statement.text))
    for inner in inclusions(text):
        yield from _invokes(inner, folders, read, seen)
