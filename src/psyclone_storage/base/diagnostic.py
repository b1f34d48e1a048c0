"""Diagnostics and the exceptions that carry them.

A `Diagnostic` is data; `base.render` alone turns it into text. `CompileError` carries what the
user can mend, `InternalError` is a defect of this tool. Misuse of a Python function is an
ordinary `ValueError` or `TypeError`.
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
    """A second place that explains a diagnostic, with a text about it."""

    span: Span
    label: str


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One thing that is wrong: a code, a full sentence, the smallest place, and what to do.

    `code` is a key of `base.codes.CODES`. `label` is printed next to the caret. `hint` is an edit
    or action. `file` names the file where no place in a text is known. `remedies` are steps, by
    name, that would mend it. `trace` is Python's call stack, for `--traceback`.
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
    """One or more errors in the user's input: all that a stage found."""

    def __init__(self, *problems: Diagnostic) -> None:
        super().__init__("; ".join(f"{problem.code}: {problem.message}" for problem in problems))
        self.problems = problems

    def _render_traceback_(self) -> list[str]:
        """Return the lines that IPython shows: the errors, with their places as far as known.

        A notebook shows no notes of an exception by itself.
        """
        return "\n".join(getattr(self, "__notes__", [str(self)])).splitlines()


class InternalError(Exception):
    """A promise between two parts of this tool was broken: never the user's fault.

    `span` is the place in the user's text that it was about, if there is one.
    """

    def __init__(self, message: str, span: Span | None = None) -> None:
        super().__init__(message)
        self.span = span

    def __reduce__(self) -> tuple[type[InternalError], tuple[str, Span | None]]:
        """Return what makes it anew in another process, its place included."""
        return type(self), (str(self), self.span)


def raise_if_any(problems: list[Diagnostic] | tuple[Diagnostic, ...]) -> None:
    """Raise one `CompileError` with all the errors among `problems`; do nothing without any."""
    errors = [problem for problem in problems if problem.severity is Severity.ERROR]
    if errors:
        raise CompileError(*problems)
