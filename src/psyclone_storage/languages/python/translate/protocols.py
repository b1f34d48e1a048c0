"""The iteration space of a kernel, as far as its form in Python depends on it.

Kernels for points of a grid and for columns of cells have the same statements. They differ in their
heads, and in the addressing of an element of an argument.
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
    """A kernel that is to be translated: its metadata as they are written, and its code.

    `dummies` are the arguments of its subroutine, as its API has them; `begun` are the locals, by
    their names in Python, that are given a value before anything else.
    """

    parsed: ParsedKernel
    code: Routine
    dummies: tuple[Dummy, ...] = ()
    begun: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class PlacedLine:
    """A line of Python, and the place in Fortran that it comes from."""

    text: str
    place: Span | None = None

    def indented(self) -> PlacedLine:
        """Return the line one step to the right."""
        return PlacedLine(f"    {self.text}" if self.text else "", self.place)


class TextWriter(Protocol):
    """The writer of a kernel, as far as a form needs it."""

    @property
    def code(self) -> Routine:
        """The kernel's subroutine."""

    @property
    def scope(self) -> CScope:
        """The names that it sees."""

    def local(self, key: str) -> str:
        """Return an argument or a local variable by its name in Python."""

    def inlined(self, expr: Expr) -> Expr:
        """Return an expression without locals that Python has no variables for."""

    def typed(self, key: str) -> CValue:
        """Return a variable whose type kernels in Python have."""

    def sum_text(self, of: AffineForm) -> CValue:
        """Return a sum of integers."""


class ArgumentForm(Protocol):
    """The access of one kernel to its arguments in Python."""

    @property
    def has_arrays(self) -> bool:
        """Return whether kernels of this kind may have local arrays."""

    @property
    def hidden(self) -> frozenset[str]:
        """The keys of the dummies for which Python has no words."""

    def begin(self, writer: TextWriter) -> None:
        """Look at the names in a kernel before anything of it is written."""

    def element(self, writer: TextWriter, name: Name, items: tuple[Expr, ...]) -> CValue | None:
        """Return an element of a dummy; None if `name` is no array among these."""

    def written(self, writer: TextWriter, name: Name, items: tuple[Expr, ...]) -> CValue | None:
        """Return an element that is assigned to; None if `name` is no array among the dummies."""

    def number(self, writer: TextWriter, key: str) -> CValue | None:
        """Return what a number that the kernel is passed is in Python; None for its own names."""

    def counted(self, writer: TextWriter, line: Do) -> tuple[str, bool] | None:
        """Return what a loop counts by words of the API, and whether Python counts one less."""

    def summed(self, writer: TextWriter, section: Section) -> CValue | None:
        """Return the sum of a section whose extent is known; None where that is to be a loop."""

    def head(self, writer: TextWriter) -> Iterable[PlacedLine]:
        """Yield the decorator and the head of the function; refuse as others do."""
        raise NotImplementedError


class KernelForm(Protocol):
    """An API's kernels in Python."""

    @property
    def module(self) -> str:
        """The module that has the words."""

    def of(self, kernel: TranslatedKernel) -> ArgumentForm:
        """Return how one kernel looks at its arguments; raise `NoPythonError` if none knows."""
