"""Interfaces for the translation of a kernel, depending on its iteration space.

Kernels for grid points and for cell columns have the same kinds of statements. They differ in their
heads, and in the addressing of argument elements.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from psyclone_storage.base.records import dataclass
from psyclone_storage.base.source import Span
from psyclone_storage.ir.affine import AffineForm
from psyclone_storage.ir.expr import Expr, Name, Section
from psyclone_storage.ir.interface import Dummy
from psyclone_storage.ir.parsed import ParsedKernel
from psyclone_storage.ir.routine import Routine
from psyclone_storage.ir.typing import CScope
from psyclone_storage.ir.unit import Do
from psyclone_storage.languages.c.types import CValue


@dataclass(frozen=True, slots=True)
class TranslatedKernel:
    """Kernel to be translated: its metadata and its code.

    - `dummies`: the arguments of its subroutine.

    - `begun`: Python names of local variables that must be initialised at the start.
    """

    parsed: ParsedKernel
    code: Routine
    dummies: tuple[Dummy, ...] = ()
    begun: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class PlacedLine:
    """Line of Python text with its Fortran location."""

    text: str
    place: Span | None = None

    def indented(self) -> PlacedLine:
        """Return the line with one more level of indentation."""
        return PlacedLine(f"    {self.text}" if self.text else "", self.place)


class TextWriter(Protocol):
    """Interface to the translator of a kernel."""

    @property
    def code(self) -> Routine:
        """Subroutine of the kernel."""

    @property
    def scope(self) -> CScope:
        """Scope of the kernel for name lookup."""

    def local(self, key: str) -> str:
        """Return the Python name of an argument or local variable."""

    def inlined(self, expr: Expr) -> Expr:
        """Return an expression with local variables that have no Python variable replaced."""

    def typed(self, key: str) -> CValue:
        """Return a variable; raise `NoPythonError` if Python kernels do not support its type."""

    def sum_text(self, of: AffineForm) -> CValue:
        """Return a sum of integers with its constants combined."""


class ArgumentForm(Protocol):
    """Interface to the access of one kernel to its arguments in Python."""

    @property
    def has_arrays(self) -> bool:
        """True if kernels of this kind may have local arrays."""

    @property
    def hidden(self) -> frozenset[str]:
        """Keys of the dummies that have no name in Python."""

    def begin(self, writer: TextWriter) -> None:
        """Prepare the names of a kernel before anything is written."""

    def element(self, writer: TextWriter, name: Name, items: tuple[Expr, ...]) -> CValue | None:
        """Return an element of a dummy array; None if `name` is not a dummy array."""

    def written(self, writer: TextWriter, name: Name, items: tuple[Expr, ...]) -> CValue | None:
        """Return an assigned element; None if `name` is not a dummy array."""

    def number(self, writer: TextWriter, key: str) -> CValue | None:
        """Return the Python form of an integer dummy; None for another name."""

    def counted(self, writer: TextWriter, line: Do) -> tuple[str, bool] | None:
        """Return the named range of a loop and whether its variable is one less, or None."""

    def summed(self, writer: TextWriter, section: Section) -> CValue | None:
        """Return the sum of a section with known bounds; None if it must be computed by a loop."""

    def head(self, writer: TextWriter) -> Iterable[PlacedLine]:
        """Yield the decorator and the `def` line of the function.

        Raises:
            NoPythonError: the metadata cannot be translated.
        """
        raise NotImplementedError


class KernelForm(Protocol):
    """Interface to the translation rules for an API's kernels."""

    @property
    def module(self) -> str:
        """Module that exports the names of the API."""

    def of(self, kernel: TranslatedKernel) -> ArgumentForm:
        """Return the argument access rules of one kernel; raise `NoPythonError` if unsupported."""
