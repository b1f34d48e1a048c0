"""Kernels as procedures of the PSy layer, so that the compiler sees them where they are called."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

from psyclone_storage.base.diagnostic import Diagnostic, raise_if_any
from psyclone_storage.base.names import listed
from psyclone_storage.ir.code import KernelCode
from psyclone_storage.ir.rules import Rules
from psyclone_storage.ir.schedule import Schedule
from psyclone_storage.ir.unit import Opaque, Use
from psyclone_storage.transform.kernel.code import (
    check_called,
    check_each,
    coded_calls,
    place_of_name,
    preprocessed,
    with_each,
)
from psyclone_storage.transform.kernel.scopes import surroundings
from psyclone_storage.transform.step import Place, Reasons

_IMPLICIT = re.compile(r"implicit\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class InlineKernelModule:
    """Copy a kernel's subroutine into the PSy layer, as a private procedure, and call that.

    A compiler can then inline it without looking into other files. What the subroutine takes from
    its module comes along: constants become its own, and it imports what the module imports for it.
    Calls of one kernel share one procedure, as long as no other step tells them apart.

    Refused if the subroutine needs a variable, a type or another procedure of its module, or the
    preprocessor.

    before: use k_mod, only: k_code
    after:  contains, with k_code in the PSy layer
    """

    name: ClassVar[str] = "inline-kernel-module"

    call: str

    @classmethod
    def places(cls, schedule: Schedule) -> Iterator[Place]:
        """Yield every call of a kernel that is no built-in."""
        yield from coded_calls(schedule)

    def calls_to_read(self, schedule: Schedule) -> tuple[str, ...]:
        """Return the call itself."""
        return (self.call,)

    def check(self, schedule: Schedule, rules: Rules) -> Reasons:
        """Return all reasons against taking the subroutine out of its module."""
        return check_called(schedule, self.call) or check_each(schedule, self.call, _reasons)

    def apply(self, schedule: Schedule, rules: Rules) -> Schedule:
        """Return `schedule` with the subroutine in the PSy layer."""
        raise_if_any(self.check(schedule, rules))
        return with_each(schedule, self.call, _on_its_own)


def _reasons(code: KernelCode) -> Iterator[Diagnostic]:
    if code.inlined:
        yield Diagnostic("T054", f"'{code.name}' is in the PSy layer already.")
        return
    if line := preprocessed(code):
        message = f"'{code.name}' may depend on '{line}', and no preprocessor reads the PSy layer."
        yield Diagnostic("T056", message, code.module.routine)
    around = surroundings(code)
    for names, what in ((around.procedures, "calls"), (around.others, "uses")):
        if names:
            message = (
                f"'{code.name}' {what} {listed(sorted(names), 'and')} of its module"
                f" '{code.module.name}', which would not come along."
            )
            yield Diagnostic("T056", message, place_of_name(code, min(names)))


def _on_its_own(code: KernelCode) -> KernelCode:
    """Return `code` with all that it takes from its module, of which it needs nothing then."""
    around = surroundings(code)
    whole = tuple(use for use in code.module.uses if use.whole and around.unknown)
    first = _end_of_implicit(code)
    declarations = code.declarations
    return replace(
        code,
        uses=(*code.uses, *around.uses, *map(_without_names, whole)),
        declarations=(*declarations[:first], *around.constants, *declarations[first:]),
        inlined=True,
    )


def _without_names(use: Use) -> Use:
    return replace(use, names=())


def _end_of_implicit(code: KernelCode) -> int:
    """Return the position behind `implicit none`, 0 if that is not there."""
    return max(
        (
            place
            for place, item in enumerate(code.declarations, 1)
            if isinstance(item, Opaque) and _IMPLICIT.match(item.text)
        ),
        default=0,
    )
