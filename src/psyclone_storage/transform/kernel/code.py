"""Access to kernel code, for all steps that transform it.

A step that changes the code of a kernel creates a specialised kernel for one call: either the
module is copied with the changed subroutine, or the subroutine moves into the PSy layer. Kernels
with state in their modules are rejected, because a copy would have separate state.

A kernel whose name is a generic interface has several subroutines, of which the compiler selects
one by argument types. A step changes all of them or none.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import ClassVar

from psyclone_storage.analysis.footprints import Reasons
from psyclone_storage.base.diagnostic import Diagnostic
from psyclone_storage.base.memo import kept_by_item, kept_with_first
from psyclone_storage.base.records import dataclass, replace
from psyclone_storage.base.regex import regex
from psyclone_storage.base.source import Span
from psyclone_storage.ir.directive import AccLoopDirective
from psyclone_storage.ir.kernel import Iteration
from psyclone_storage.ir.keys import key_of
from psyclone_storage.ir.linking import linked
from psyclone_storage.ir.loops import addressed
from psyclone_storage.ir.rewrite import first_words, place_of_line, walk_lines
from psyclone_storage.ir.routine import InlinedCode, Routine, Specified
from psyclone_storage.ir.rules import Rules
from psyclone_storage.ir.schedule import KernelCall, Schedule, Statement
from psyclone_storage.ir.scopes import local_names
from psyclone_storage.ir.unit import Declare, DirectiveLine, Line, Opaque
from psyclone_storage.ir.walk import calls_of, find, place_near, place_of, replaced
from psyclone_storage.passes.inline.kernels import inline_procedures
from psyclone_storage.transform.step import CheckedStep, StepPlace, check_present

_DECLARES_NO_VARIABLE = regex(
    r"type\b(?!\s*\()|(?:abstract\s+)?interface\b|procedure\b|private\b|public\b|implicit\b",
    re.IGNORECASE,
)

COLUMN_ITERATIONS = (
    Iteration.CELL_COLUMN,
    Iteration.OWNED_CELL_COLUMN,
    Iteration.HALO_CELL_COLUMN,
    Iteration.OWNED_AND_HALO_CELL_COLUMN,
)
"""What kernels for a column of cells iterate over."""

POINT_ITERATIONS = (Iteration.GRID_POINT, *(item for item in Iteration if item.over_dofs))
"""What kernels for a point of a grid or for a dof iterate over."""

_NOT_INLINED = "Change the procedure, or leave the kernel out of this step."


def calls_for(
    schedule: Schedule, iterations: Collection[Iteration] = tuple(Iteration)
) -> Iterator[StepPlace]:
    """Yield the place of each kernel call for `iterations`, without built-ins."""
    return iter(_places_by_item(schedule, iterations))


@kept_by_item
def _places_by_item(item: Statement, iterations: Collection[Iteration]) -> tuple[StepPlace, ...]:
    return tuple(
        {"call": call.uid}
        for call in calls_of(item)
        if call.kernel.iteration in iterations and not call.kernel.is_builtin
    )


def check_call(schedule: Schedule, uid: str) -> Reasons:
    """Return diagnostics if the code of the call `uid` cannot be changed.

    The call does not exist (T003, T004), is a built-in (T050), or uses module variables (T053).
    """
    if problems := check_present(schedule, uid):
        return problems
    call = find(schedule, uid)
    if not isinstance(call, KernelCall):
        return (
            Diagnostic("T004", f"'{uid}' is not a call of a kernel.", place_near(schedule, uid)),
        )
    kernel, place = call.kernel, place_of(call)
    if kernel.is_builtin:
        return (Diagnostic("T050", f"'{kernel.name}' is a built-in, which has no code.", place),)
    return tuple(
        Diagnostic(
            "T053",
            f"'{code.name}' uses '{name}', a variable of its module '{kernel.module}', of"
            " which a changed kernel would have a copy of its own.",
            code.place_of(name),
        )
        for code in codes_of(schedule, uid)
        for name in own_variables(code)
    )


def check_body(schedule: Schedule, uid: str) -> Reasons:
    """Return diagnostics if the statements of the call `uid` cannot be changed.

    In addition to the reasons of `check_call`, a directive may refer to a loop in its present form
    (T007).
    """
    if problems := check_call(schedule, uid):
        return problems
    return tuple(
        reason for code in codes_of(schedule, uid) for reason in check_loop_directives(code)
    )


def check_loop_directives(code: Routine) -> Reasons:
    """Return diagnostics for directives that refer to a loop in its present form (T007)."""
    return tuple(
        Diagnostic(
            "T007",
            f"A loop of '{code.name}' stands under '{line.text}', which speaks of it as it is.",
            code.module.routine,
            hint="Apply 'kernel-acc-loop' after all steps that change the statements of a kernel.",
        )
        for line in walk_lines(code.body)
        if isinstance(line, DirectiveLine) and isinstance(line.meaning, AccLoopDirective)
    )


def check_called(schedule: Schedule, uid: str) -> Reasons:
    """Return diagnostics if the subroutines of the call `uid` cannot be changed.

    In addition to the reasons of `check_call`, the statements may already be inlined (T054).
    """
    if problems := check_call(schedule, uid):
        return problems
    code = codes_of(schedule, uid)[0]
    if not code.kernel_use.in_place:
        return ()
    message = f"'{code.name}' is not called: its statements stand in the place of '{uid}'."
    hint = "Inline a kernel as the last step."
    return (Diagnostic("T054", message, place_in_algorithm(schedule, uid), hint=hint),)


def check_callers(schedule: Schedule, uid: str) -> Reasons:
    """Return diagnostics if the argument lists of the subroutines of `uid` cannot change (T056).

    Other procedures of their modules call them with the current arguments and would be copied too.
    """
    return tuple(
        Diagnostic(
            "T056",
            f"'{caller.name}' of the module '{code.module.name}' calls '{code.name}' as it is, and"
            " would be copied with it.",
            caller.place,
            hint=f"Apply 'inline-kernel-module' to '{uid}' first.",
        )
        for code in codes_of(schedule, uid)
        if not (code.kernel_use.inlined or code.kernel_use.in_place)
        for caller in code.module.procedures
        if key_of(caller.name) != code.key and code.key in caller.names
    )


def place_in_algorithm(schedule: Schedule, uid: str) -> Span | None:
    """Return the position of the call `uid` in the algorithm."""
    call = find(schedule, uid)
    return None if call is None else place_of(call)


def codes_of(schedule: Schedule, uid: str) -> tuple[Routine, ...]:
    """Return the subroutines of the call `uid`; the workbench has read them."""
    call = find(schedule, uid)
    assert isinstance(call, KernelCall)
    assert call.known_codes
    return call.known_codes


def inlined_codes(schedule: Schedule, uid: str) -> tuple[InlinedCode, ...]:
    """Return the subroutines of the call `uid` with the procedures that they call inlined."""
    return tuple(map(inline_procedures, codes_of(schedule, uid)))


def check_remaining_calls(inlined: InlinedCode) -> Reasons:
    """Return diagnostics for calls in a subroutine that were not inlined (T070)."""
    message = f"A call in '{inlined.code.name}' stays"
    return tuple(
        Diagnostic("T070", f"{message}: {why}.", place, hint=_NOT_INLINED)
        for place, why in inlined.remaining
    )


def check_each(
    schedule: Schedule, uid: str, check: Callable[[Routine], Iterable[Diagnostic]]
) -> Reasons:
    """Return the diagnostics of `check` for all subroutines of the call `uid`.

    A diagnostic without a position gets that of the subroutine.
    """
    return tuple(
        placed(reason, code.module.routine)
        for code in codes_of(schedule, uid)
        for reason in check(code)
    )


def placed(reason: Diagnostic, place: Span | None) -> Diagnostic:
    """Return `reason` with the position `place`, unless it already has one."""
    return reason if reason.span is not None else replace(reason, span=place)


def with_each(schedule: Schedule, uid: str, change: Callable[[Routine], Routine]) -> Schedule:
    """Return `schedule` with `change` applied to each subroutine of the call `uid`."""
    return with_called_codes(schedule, uid, tuple(map(change, codes_of(schedule, uid))))


def with_called_codes(schedule: Schedule, uid: str, codes: tuple[Routine, ...]) -> Schedule:
    """Return `schedule` with the subroutines `codes` for the call `uid`.

    New loops get uids, and new names are linked. If `codes` are the original subroutines, the call
    has no changed ones.
    """
    call = find(schedule, uid)
    assert isinstance(call, KernelCall)
    changed = codes != call.own_codes
    settled = tuple(map(_settled, codes)) if changed else ()
    return replaced(schedule, uid, replace(call, codes=settled))


@kept_with_first
def _settled(code: Routine) -> Routine:
    return linked(addressed(code))


def not_understood(code: Routine, line: Line, what: str) -> Diagnostic:
    """Return a diagnostic: `line` prevents the operation `what` (T052)."""
    statement = f"its statement '{first_words(line)}'"
    message = f"'{code.name}' {what} because of {statement}."
    if isinstance(line, Opaque):
        message = f"'{code.name}' {what}: {statement} is not understood."
    return Diagnostic("T052", message, place_in(code, line))


def place_in(code: Routine, line: Line) -> Span | None:
    """Return the source position of `line`, or None if a step has generated it."""
    if not isinstance(line, Opaque):
        return place_of_line(line)
    routine = code.module.routine
    first = line.text.partition("\n")[0]
    start = routine.source.text.find(first, routine.start, routine.stop)
    return None if start < 0 else Span(routine.source, start, start + len(first))


def as_on_device(code: Routine) -> Routine:
    """Return `code` with the procedures that it can call on a device.

    Such procedures change nothing except their arguments.
    """
    known = {one.name: one for one in code.module.known}
    own = tuple(one for one in code.module.procedures if one.name not in known)
    return replace(code, module=replace(code.module, procedures=(*own, *known.values())))


# ---------------------------------------------------------------------------- bases of steps


@dataclass(frozen=True, slots=True)
class OnCall(CheckedStep):  # pylint: disable=abstract-method
    """Base of steps on the code of one kernel call."""

    call: str

    @classmethod
    def places(cls, schedule: Schedule) -> Iterator[StepPlace]:
        """Yield every kernel call that is not a built-in."""
        return calls_for(schedule)

    def calls_to_read(self, schedule: Schedule) -> tuple[str, ...]:
        """Return the call."""
        return (self.call,)


class ChangesCode(OnCall):
    """Base of steps that change the statements of each subroutine of a call."""

    __slots__ = ()

    name: ClassVar[str]

    def check(self, schedule: Schedule, rules: Rules) -> Reasons:
        """Return diagnostics if the statements cannot be changed."""
        problems = check_body(schedule, self.call)
        return problems or check_each(schedule, self.call, self.check_code)

    def check_code(self, code: Routine) -> Iterable[Diagnostic]:
        """Return diagnostics if `code` cannot be changed."""
        raise NotImplementedError

    def transform(self, schedule: Schedule, rules: Rules) -> Schedule:
        """Return the schedule with the changed kernel."""
        return with_each(schedule, self.call, self.transform_code)

    def transform_code(self, code: Routine) -> Routine:
        """Return the changed `code`."""
        raise NotImplementedError


# ---------------------------------------------------------------------------- state


def own_variables(code: Routine) -> tuple[str, ...]:
    """Return the module variables, without constants, that a subroutine may use.

    Variables used by procedures that it may call are included. Python kernels receive module
    variables as arguments, so the result is empty for them.
    """
    if code.module.is_python:
        return ()
    variables = [name for item in code.module.declarations for name in _variables(item)]
    wanted = reached_names(code) if variables else ()
    return tuple(name for name in variables if name in wanted)


def reached_names(code: Routine) -> frozenset[str]:
    """Return the names that a subroutine and its callees take from the enclosing module."""
    found: set[str] = set()
    new = code.used_names - local_names(code)
    while new:
        found |= new
        called = (item.names for item in code.module.procedures if item.name in new)
        new = frozenset().union(*called) - found
    return frozenset(found)


def _variables(item: Specified) -> frozenset[str]:
    """Return the keys of the variables that a module item may declare."""
    match item:
        case Declare() if "parameter" not in item.attributes:
            return frozenset({item.key})
        case Opaque() if (
            not _DECLARES_NO_VARIABLE.match(item.text) and "parameter" not in item.names
        ):
            return item.names
    return frozenset()
