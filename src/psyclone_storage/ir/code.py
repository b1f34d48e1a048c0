"""The code of a kernel's subroutine, as far as it is understood.

It is read on demand and only here: statements are those of `ir.unit`, and whatever has no class of
its own is carried along as `Opaque`. A step that must understand a statement refuses an opaque one;
a step that need not leaves it where it is.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from psyclone_storage.base.source import SourceText, Span
from psyclone_storage.ir.unit import Declare, Directive, Line, Opaque, Use


@dataclass(frozen=True, slots=True)
class KernelModule:
    """The module around a kernel's subroutine, as its author wrote it.

    `routine` is the place of the subroutine, from its opening statement to its end. `uses` are the
    module's own. `declarations` are its variables and constants, which every procedure in it sees;
    `procedures` the names of all procedures in it, in lower case.
    """

    name: str
    source: SourceText = field(repr=False)
    routine: Span = field(repr=False)
    uses: tuple[Use, ...] = ()
    declarations: tuple[Declare, ...] = ()
    procedures: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class KernelCode:
    """A kernel's subroutine.

    `dummies` are the names of its arguments, in order. `prefix` is what stands before the word
    `subroutine`, as `pure`. `uses` are its own, not those of the module around it.
    `declarations` are its specification part in order, `directives` are those at its end, as
    `acc routine seq`.
    """

    name: str
    dummies: tuple[str, ...]
    declarations: tuple[Declare | Opaque, ...]
    body: tuple[Line, ...]
    module: KernelModule
    uses: tuple[Use, ...] = ()
    prefix: str = ""
    directives: tuple[Directive, ...] = ()

    def declared(self, name: str) -> Declare | None:
        """Return the declaration of `name`, whatever its case, or None."""
        for item in self.declarations:
            if isinstance(item, Declare) and item.name.lower() == name.lower():
                return item
        return None
