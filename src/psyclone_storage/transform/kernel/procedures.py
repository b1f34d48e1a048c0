"""The step that inlines the procedures which a kernel calls (`passes.inline`)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from psyclone_storage.base.diagnostic import Diagnostic, raise_if_any
from psyclone_storage.base.records import dataclass
from psyclone_storage.ir.rules import Rules
from psyclone_storage.ir.schedule import Schedule
from psyclone_storage.transform.kernel.code import (
    calls_that_remain,
    check_body,
    check_called,
    coded_calls,
    codes_of,
    inlined_codes,
    with_codes,
)
from psyclone_storage.transform.step import Place, Reasons


@dataclass(frozen=True, slots=True)
class InlineProcedures:
    """Put the procedures that a kernel calls in the place of their calls.

    They are looked for in the kernel's module and below `-d`, and those that they call with them. A
    compiler does not look into other files: a call in a loop keeps it from vectors and costs more
    than what is called, if that is short. What a procedure declares becomes the kernel's own under
    new names; what it sees of its module the kernel imports. Loops become visible to other steps,
    which come behind. `inline-call` does this by itself.

    A call stays if its procedure has optional arguments, keeps values from call to call, changes
    variables of modules, calls itself, holds a statement that is not understood or a line for the
    preprocessor, returns from within a loop, or needs a private name of its module; if elements
    that are passed are not certainly those of one array, if an extent may change meanwhile or is
    divided, or if it is not known which procedure of an interface is meant. A function stays where
    a condition decides whether it is called. All stay if the preprocessor chooses what the
    kernel's module imports or holds.

    Refused if the kernel calls no procedure of a module, or if all calls stay.

    before: do k ...; b(k) = square(a(k))
    after:  do k ...; square_1 = a(k)*a(k); b(k) = square_1
    """

    name: ClassVar[str] = "inline-procedures"

    call: str

    @classmethod
    def places(cls, schedule: Schedule) -> Iterator[Place]:
        """Yield every call of a kernel that is no built-in."""
        return coded_calls(schedule)

    def calls_to_read(self, schedule: Schedule) -> tuple[str, ...]:
        """Return the call."""
        return (self.call,)

    def check(self, schedule: Schedule, rules: Rules) -> Reasons:
        """Return why no procedure can take the place of its call."""
        if problems := check_body(schedule, self.call) or check_called(schedule, self.call):
            return problems
        codes, inlined = codes_of(schedule, self.call), inlined_codes(schedule, self.call)
        if any(one.code is not code for one, code in zip(inlined, codes, strict=True)):
            return ()
        remaining = tuple(reason for one in inlined for reason in calls_that_remain(one))
        message = f"'{codes[0].name}' calls no procedure of a module."
        return remaining or (Diagnostic("T067", message, codes[0].module.routine),)

    def apply(self, schedule: Schedule, rules: Rules) -> Schedule:
        """Return the schedule with procedures in the place of their calls."""
        raise_if_any(self.check(schedule, rules))
        codes = tuple(one.code for one in inlined_codes(schedule, self.call))
        return with_codes(schedule, self.call, codes)
