"""Diagnostics and the exceptions that contain them.

A `Diagnostic` is data; `base.render` converts it to text. A `CompileError` reports errors that the
user can fix, an `InternalError` a defect of the compiler. Incorrect calls of Python functions raise
`ValueError` or `TypeError`.
"""

from __future__ import annotations

from enum import Enum

from psyclone_storage.base.records import dataclass
from psyclone_storage.base.source import Span


class Severity(Enum):
    """Severity of a diagnostic: an error stops the compilation, a warning does not."""

    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True, slots=True)
class Related:
    """An additional source position that explains a diagnostic, with a label."""

    span: Span
    label: str


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """A diagnostic: a code, a complete sentence, a source position and a hint.

    - `code`: a key of `base.codes.CODES`.
    - `label`: printed next to the caret.
    - `hint`: an edit or action that fixes the problem.
    - `file`: the file, if no source position is known.
    - `remedies`: names of steps that would fix the problem.
    - `trace`: the Python stack trace, for `--traceback`.
    """

    code: str
    message: str
    span: Span | None = None
    label: str = ""
    hint: str = ""
    related: tuple[Related, ...] = ()
    severity: Severity = Severity.ERROR
    file: str = ""
    remedies: tuple[str, ...] = ()
    trace: str = ""


class CompileError(Exception):
    """One or more errors in the user's input, as found by one compilation stage."""

    def __init__(self, *problems: Diagnostic) -> None:
        super().__init__(*problems)
        self.problems = problems

    def __str__(self) -> str:
        """Return the codes and messages of all errors."""
        return "; ".join(f"{problem.code}: {problem.message}" for problem in self.problems)

    def _render_traceback_(self) -> list[str]:
        """Return the lines that IPython prints: the errors, with source positions if known.

        Notebooks do not print the notes of an exception.
        """
        return "\n".join(getattr(self, "__notes__", [str(self)])).splitlines()


class InternalError(Exception):
    """A defect of the compiler: an internal invariant does not hold.

    `span` is the related position in the user's source, if any.
    """

    def __init__(self, message: str, span: Span | None = None) -> None:
        super().__init__(message)
        self.span = span

    def __reduce__(self) -> tuple[type[InternalError], tuple[str, Span | None]]:
        """Return the arguments for unpickling, including the source position."""
        return type(self), (str(self), self.span)


def raise_if_any(problems: list[Diagnostic] | tuple[Diagnostic, ...]) -> None:
    """Raise `CompileError` with all diagnostics if at least one of them is an error."""
    errors = [problem for problem in problems if problem.severity is Severity.ERROR]
    if errors:
        raise CompileError(*problems)
