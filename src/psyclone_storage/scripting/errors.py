"""PSyclone exceptions that a script can catch or raise.

They have their own module, because nodes of files and all transformations raise them.
"""

from __future__ import annotations

from psyclone_storage.base.diagnostic import CompileError, Diagnostic


class PSycloneError(CompileError):
    """PSyclone error with one or several diagnostics."""

    def __init__(self, *problems: Diagnostic | str) -> None:
        """Create the error from diagnostics or, in a script, from text."""
        made = (Diagnostic("T015", one) if isinstance(one, str) else one for one in problems)
        super().__init__(*made)

    @property
    def value(self) -> str:
        """All error messages as one text."""
        return " ".join(problem.message for problem in self.problems)

    @property
    def message_text(self) -> str:
        """All error messages as one text, like `value`."""
        return self.value


class TransformationError(PSycloneError):
    """Error: a transformation was rejected; `value` contains the reasons."""


class GenerationError(PSycloneError):
    """Error: an edit would make the tree invalid."""


def refusal(message: str, hint: str = "") -> TransformationError:
    """Return the error for a rejected request of a script (T015)."""
    return TransformationError(Diagnostic("T015", message, hint=hint))
