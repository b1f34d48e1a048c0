"""Lines of a file that include other files, in Fortran or preprocessor syntax."""

from __future__ import annotations

import re
from pathlib import Path

from psyclone_storage.base.memo import kept_with_first
from psyclone_storage.base.records import dataclass
from psyclone_storage.base.regex import regex
from psyclone_storage.base.source import SourceText, Span

_INCLUDE = regex(
    r"^[ \t]*(?:#[ \t]*)?include[ \t]*(?:'([^'\n]+)'|\"([^\"\n]+)\"|<([^>\n]+)>)",
    re.IGNORECASE | re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class Inclusion:
    """Line that includes a file: the given file name and the location."""

    name: str
    place: Span


@kept_with_first
def inclusions(source: SourceText) -> tuple[Inclusion, ...]:
    """Return the lines of `source` that include files."""
    # Few files contain the word, and the search for it is faster than that for the line.
    if "include" not in source.text.lower():
        return ()
    return tuple(
        Inclusion(
            found[1] or found[2] or found[3],
            source.span(found.end() - len(found[0].lstrip()), found.end()),
        )
        for found in _INCLUDE.finditer(source.text)
    )


def included_file(found: Inclusion, folders: tuple[Path, ...]) -> Path | None:
    """Return the included file, found in the including file's folder or in `folders`.

    The function returns None if the file is not found. The compiler handles that case, because the
    file may be created later.
    """
    for folder in (Path(found.place.source.name).parent, *folders):
        path = folder / found.name
        if path.is_file():
            return path
    return None
