"""The numbers and texts of changed kernels, and a program that names them.

Two compilations may run at once and change the same kernel. So a number, and with it the
names of a changed kernel, are allocated by a numbering, which the command line ties to a folder.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from psyclone_storage.backend.fortran.printer import InlinedProcedures
from psyclone_storage.base.records import dataclass, field
from psyclone_storage.base.source import SourceText
from psyclone_storage.ir.keys import FromModule, key_of
from psyclone_storage.ir.schedule import Program


@dataclass(frozen=True, slots=True)
class KernelText(FromModule):
    """A changed kernel: the name of its module, the text of the file for it, and its author's."""

    module: str
    text: str
    original: SourceText

    @property
    def suffix(self) -> str:
        """What the name of the file ends in, which tells whether to preprocess it."""
        return ".F90" if "\n#" in f"\n{self.text}" else ".f90"


class KernelNumbering(Protocol):
    """The numbers of changed kernels."""

    def allocate(self, base: str, kernel: Callable[[int], KernelText]) -> int:
        """Return a number for `kernel`, which gives its text under each number.

        `base` is the name of its module without a number. No other text gets the same number.

        Raises:
            CompileError: the number is taken by another text, or cannot be claimed.
        """


@dataclass(slots=True)
class LocalNumbering:
    """A numbering that knows of this compilation alone: the numbers of a name count from 0."""

    _next: dict[str, int] = field(default_factory=dict)

    def allocate(self, base: str, kernel: Callable[[int], KernelText]) -> int:
        """Return the next number of `base`."""
        number = self._next.get(key_of(base), 0)
        self._next[key_of(base)] = number + 1
        return number


@dataclass(frozen=True, slots=True)
class NumberedProgram:
    """A program whose calls name the changed kernels.

    `kernels` go to files, `inlined` into the PSy layer; `heads` are the dummy arguments of the
    subroutines among these, by name.
    """

    program: Program
    kernels: tuple[KernelText, ...] = ()
    inlined: InlinedProcedures = field(default_factory=InlinedProcedures)
    heads: tuple[tuple[str, tuple[str, ...]], ...] = ()
