"""Reading of source files without changes to any character, except a byte order mark.

Bytes that are not UTF-8 are represented as surrogates. Text written with `ENCODING` and `ERRORS`
therefore has the same bytes.
"""

from __future__ import annotations

from pathlib import Path

from psyclone_storage.base.diagnostic import CompileError, Diagnostic
from psyclone_storage.base.reading import read_input
from psyclone_storage.base.records import dataclass, field
from psyclone_storage.base.source import SourceText, Span

ENCODING = "utf-8"
ERRORS = "surrogateescape"
_MARK = "\ufeff"  # the byte order mark, which some editors write at the start of a file


def read_source(path: Path, *, wanted_by: Span | None = None) -> SourceText:
    """Return the text of the file at `path` with its line ends.

    A byte order mark is not part of the text.

    Raises:
        CompileError: the file cannot be read; reported at `wanted_by` if given.
    """
    try:
        text = read_input(path).decode(ENCODING, ERRORS).removeprefix(_MARK)
    except OSError as failure:
        reason = failure.strerror or str(failure)
        raise CompileError(
            Diagnostic(
                "P001", f"'{path}' cannot be read: {reason}.", span=wanted_by, file=str(path)
            )
        ) from None
    return SourceText(str(path), text)


@dataclass(frozen=True, slots=True)
class SourceFiles:
    """Cache of source files: later requests return the same text, even if the file has changed.

    Dependency records and cache keys therefore refer to the same text of a file.
    """

    _texts: dict[Path, SourceText] = field(default_factory=dict)

    def read(self, path: Path) -> SourceText:
        """Return the text of the file at `path`.

        Raises:
            CompileError: the file cannot be read.
        """
        if path not in self._texts:
            self._texts[path] = read_source(path)
        return self._texts[path]

    def give(self, source: SourceText) -> None:
        """Let a text be that of the file with its name."""
        self._texts[Path(source.name)] = source
