"""Kernels copied into the PSy layer, where the compiler can inline them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import ClassVar

from psyclone_storage.analysis.footprints import Reasons
from psyclone_storage.base.diagnostic import Diagnostic
from psyclone_storage.base.memo import kept_with_first
from psyclone_storage.base.names import listed
from psyclone_storage.base.records import dataclass, replace
from psyclone_storage.base.regex import regex
from psyclone_storage.ir.directive import AccRoutineDirective, DeclareTargetDirective
from psyclone_storage.ir.intrinsics import PURE
from psyclone_storage.ir.routine import Routine
from psyclone_storage.ir.rules import Rules
from psyclone_storage.ir.schedule import Schedule
from psyclone_storage.ir.scopes import WORDS, local_names, surroundings
from psyclone_storage.ir.symbols import Procedure
from psyclone_storage.ir.unit import Declare, Opaque, Use
from psyclone_storage.passes.inline.legality import preprocessor_line
from psyclone_storage.transform.kernel.code import (
    POINT_ITERATIONS,
    OnCall,
    calls_for,
    check_called,
    check_each,
    reached_names,
    with_each,
)
from psyclone_storage.transform.kernel.state import changed_and_saved, saved_inside
from psyclone_storage.transform.step import StepPlace

_ForDevices = AccRoutineDirective | DeclareTargetDirective
_IMPLICIT = regex(r"implicit\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class InlineKernelModule(OnCall):
    """Copy a kernel's subroutine into the PSy layer as a private procedure, and call that.

    A compiler can then inline it without reading other files. The copy includes the entities of its
    module that the subroutine uses: constants become local, imports are copied, and called
    procedures become internal procedures. Calls of one kernel share one procedure, as long as no
    other step specialises one of them.

    Rejected if the subroutine needs a variable or type of its module, or the preprocessor; if it,
    or a procedure that it calls, modifies saved variables; or if such a procedure would have a
    different meaning inside it.

    before: use k_mod, only: k_code
    after:  contains, with k_code in the PSy layer
    """

    name: ClassVar[str] = "inline-kernel-module"

    def check(self, schedule: Schedule, rules: Rules) -> Reasons:
        """Return diagnostics if the subroutine cannot be copied."""
        return check_called(schedule, self.call) or check_each(
            schedule, self.call, check_leaving_module
        )

    def transform(self, schedule: Schedule, rules: Rules) -> Schedule:
        """Return `schedule` with the subroutine in the PSy layer."""
        return with_each(schedule, self.call, on_its_own)


@dataclass(frozen=True, slots=True)
class InlinePointKernel(InlineKernelModule):
    """Copy a kernel's subroutine into the PSy layer, if it is called for every point.

    The step does the same as `inline-kernel-module`. When no place is given, it applies to calls
    for a grid point or a dof, which cost as much as the kernel itself, and not to calls for a
    column of cells.

    Refused for the reasons of `inline-kernel-module`.

    before: use k_mod, only: k_code
    after:  contains, with k_code in the PSy layer
    """

    name: ClassVar[str] = "inline-point-kernel"

    @classmethod
    def places(cls, schedule: Schedule) -> Iterator[StepPlace]:
        """Yield every kernel call for a grid point or dof."""
        return calls_for(schedule, POINT_ITERATIONS)


def check_leaving_module(code: Routine) -> Iterator[Diagnostic]:
    """Yield diagnostics if a subroutine cannot be copied from its module (T053, T054, T056)."""
    if code.kernel_use.inlined:
        message = f"'{code.name}' is in the PSy layer already."
        yield Diagnostic("T054", message, code.module.routine)
        return
    if line := preprocessor_line(code):
        message = f"'{code.name}' may depend on '{line}', and no preprocessor reads the PSy layer."
        yield Diagnostic("T056", message, code.module.routine)
    if code.kernel_use.helpers and any(
        isinstance(one.meaning, _ForDevices) for one in code.directives
    ):
        message = (
            f"'{code.name}' is for a device, where no internal procedure can be called, as"
            f" '{code.kernel_use.helpers[0].name}' would be."
        )
        yield Diagnostic("T056", message, code.module.routine)
    helpers = _helpers(code)
    yield from _about_state(code, helpers)
    with_helpers = _with_helpers(code, helpers)
    for helper in helpers:
        if why := _stays_outside(helper, code):
            message = f"'{code.name}' calls '{helper.name}' of its module, which {why}."
            yield Diagnostic("T056", message, code.place_of(helper.name))
    around = surroundings(with_helpers)
    for names, what in ((around.procedures, "calls"), (around.others, "uses")):
        if names:
            message = (
                f"'{code.name}' {what} {listed(sorted(names), 'and')} of its module"
                f" '{code.module.name}', which would not come along."
            )
            yield Diagnostic("T056", message, code.place_of(min(names)))


def _about_state(code: Routine, helpers: tuple[Procedure, ...]) -> Iterator[Diagnostic]:
    """Yield diagnostics for saved state, which the copy would not share with other callers."""
    names = {item.name for item in helpers}
    for one in (code, *(helper for helper in code.kernel_use.helpers if helper.key in names)):
        for name in sorted(changed_and_saved(one)):
            message = f"'{one.name}' saves '{name}' from call to call; a copy would have its own."
            yield Diagnostic("T053", message, one.place_of(name))
        if line := saved_inside(one):
            message = f"'{one.name}' holds '{line}', which a copy would have of its own."
            yield Diagnostic("T053", message, one.module.routine)


def _helpers(code: Routine) -> tuple[Procedure, ...]:
    """Return the procedures of its module that `code` may call, directly or indirectly."""
    if all(item.name == code.key for item in code.module.procedures):
        return ()
    reached = reached_names(code)
    return tuple(item for item in code.module.procedures if item.name in reached)


def _stays_outside(helper: Procedure, code: Routine) -> str:
    """Return why `helper` cannot become an internal procedure of `code`; empty if it can.

    Its names are local or come from the module, its imports or intrinsics. Inside `code`, names of
    `code` may hide them.
    """
    if code.internal is not None or "contains" in helper.names:
        return "would stand beside or around other internal procedures"
    if helper.name == code.key:
        return "is itself"
    if "\n#" in helper.place.text:
        return "needs the preprocessor"
    module = code.module
    outside = PURE | module.generics | {item.name for item in module.procedures}
    for item in module.declarations:
        match item:
            case Opaque():
                outside |= item.names
            case Declare():
                outside |= {item.key}
    outside |= {name.key for use in module.uses for name in use.names}
    both = helper.names & (local_names(code) - WORDS)
    hidden = both if any(use.whole for use in module.uses) else both & outside
    return f"means another '{min(hidden)}'" if hidden else ""


def _with_helpers(code: Routine, helpers: tuple[Procedure, ...]) -> Routine:
    """Return `code` with the module procedures that it may call as internal procedures."""
    if not helpers or code.internal is not None:
        return code
    names = frozenset[str]().union(*(item.names for item in helpers))
    text = "\n\n".join(item.place.text for item in helpers)
    return replace(code, contained=(Opaque(text, names),))


@kept_with_first
def on_its_own(given: Routine) -> Routine:
    """Return the subroutine with all declarations, imports and procedures that it needs."""
    code = _with_helpers(given, _helpers(given))
    around = surroundings(code)
    whole = tuple(use for use in code.module.uses if use.whole and around.unknown)
    first = _end_of_implicit(code)
    declarations = code.declarations
    specified = code.with_specification(
        uses=(*code.uses, *around.uses, *map(_without_names, whole)),
        declarations=(*declarations[:first], *around.constants, *declarations[first:]),
    )
    return replace(specified, kernel_use=replace(code.kernel_use, inlined=True))


def _without_names(use: Use) -> Use:
    return replace(use, names=())


def _end_of_implicit(code: Routine) -> int:
    """Return the position after `implicit none`, or 0."""
    return max(
        (
            place
            for place, item in enumerate(code.declarations, 1)
            if isinstance(item, Opaque) and _IMPLICIT.match(item.text)
        ),
        default=0,
    )
