"""Errors of PSyclone that a script can catch or raise.

They are in a module of their own because the nodes of files and all transformations raise them.
"""

from __future__ import annotations

from psyclone_storage.base.diagnostic import CompileError, Diagnostic


class PSycloneError(CompileError):
    """An error of PSyclone with one diagnostic or several; `value` is their text."""

    def __init__(self, *problems: Diagnostic | str) -> None:
        """Take diagnostics or, from a script, a plain text."""
        made = (Diagnostic("T015", one) if isinstance(one, str) else one for one in problems)
        super().__init__(*made)

    @property
    def value(self) -> str:
        """All reasons in one text."""
        return " ".join(problem.message for problem in self.problems)

    @property
    def message_text(self) -> str:
        """All reasons in one text, as `value`."""
        return self.value


class TransformationError(PSycloneError):
    """A transformation was refused; `value` is the reason, or several."""


class GenerationError(PSycloneError):
    """A tree was edited in a way that no program has."""


def refusal(message: str, hint: str = "") -> TransformationError:
    """Return the refusal of a request of a script (T015)."""
    return TransformationError(Diagnostic("T015", message, hint=hint))
