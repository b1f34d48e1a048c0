"""Loops inside a kernel whose iterations a device shares, within one call of the kernel."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from psyclone_storage.analysis.bodies.nests import may_parallelise, own_scalars
from psyclone_storage.base.diagnostic import Diagnostic, raise_if_any
from psyclone_storage.base.names import listed
from psyclone_storage.ir.code import KernelCode
from psyclone_storage.ir.rewrite import blocks_of, walk_lines
from psyclone_storage.ir.rules import Rules
from psyclone_storage.ir.schedule import Schedule
from psyclone_storage.ir.unit import DirectiveLine, Do, Line
from psyclone_storage.transform.kernel.code import (
    SHARED_LOOP,
    check_call,
    coded_calls,
    with_each,
)
from psyclone_storage.transform.kernel.loops import check_loop, loops_of, with_lines_for
from psyclone_storage.transform.step import Place, Reasons

_LEVELS = ("vector", "worker", "gang")
"""What of a device may share a loop, from the inside to the outside."""


@dataclass(frozen=True, slots=True)
class ShareInKernel:
    """Let the lanes of a device share a loop in a kernel that is called on it.

    `level` says who shares it: `vector`, `worker` or `gang`. The kernel must have been made for
    that by `acc-routine` with a `parallelism` of at least that level, and the loop around its
    calls must leave it to the kernel. Scalars that an iteration sets are private.

    Refused if a value goes from one iteration to another, or if that cannot be told; if a scalar
    that the loop sets is used after it; and if a loop around it or inside of it is shared by the
    same level.

    before: do k = 1, n; t = b(k); a(k) = t * t
    after:  !$acc loop vector independent private(t); do k = 1, n; t = b(k); a(k) = t * t
    """

    name: ClassVar[str] = "kernel-acc-loop"

    call: str
    loop: int = 1
    level: str = "vector"

    @classmethod
    def places(cls, schedule: Schedule) -> Iterator[Place]:
        """Yield every call of a kernel."""
        return coded_calls(schedule)

    def calls_to_read(self, schedule: Schedule) -> tuple[str, ...]:
        """Return the call."""
        return (self.call,)

    def check(self, schedule: Schedule, rules: Rules) -> Reasons:
        """Return all reasons against sharing the loop."""
        if self.level not in _LEVELS:
            message = f"'{self.level}' does not share loops of a kernel."
            hint = f"There are {listed(_LEVELS, 'and')}."
            return (Diagnostic("T057", message, hint=hint),)
        reasons = partial(_reasons, self.level)
        return check_loop(schedule, self.call, self.loop, reasons, check_call)

    def apply(self, schedule: Schedule, rules: Rules) -> Schedule:
        """Return the schedule with the directive in the kernel."""
        raise_if_any(self.check(schedule, rules))
        return with_each(schedule, self.call, lambda code: with_shared(code, self.loop, self.level))


def with_shared(code: KernelCode, number: int, level: str) -> KernelCode:
    """Return `code` with loop `number` shared by `level`."""
    loop = loops_of(code)[number - 1]
    own = ", ".join(own_scalars(loop, code))
    private = f" private({own})" if own else ""
    directive = DirectiveLine(f"acc loop {level} independent{private}")
    return with_lines_for(code, (loop, (directive, loop)))


def _reasons(level: str, loop: Do, code: KernelCode) -> Iterator[Diagnostic]:
    if code.in_place:
        yield Diagnostic("T054", f"'{code.name}' is not called any more.")
        return
    enough = [f"acc routine {name}" for name in _LEVELS[_LEVELS.index(level) :]]
    if not any(item.text.lower().startswith(tuple(enough)) for item in code.directives):
        yield Diagnostic(
            "T081",
            f"'{code.name}' is not compiled for loops that '{level}' shares.",
            code.module.routine,
            hint=f"Apply 'acc-routine{{parallelism={level}}}' to it first.",
        )
    if _is_out_of_order(level, loop, code):
        message = f"A loop around or in the one over '{loop.variable}' leaves no '{level}' for it."
        yield Diagnostic("T084", message, hint="A gang has workers, and a worker has lanes.")
    yield from may_parallelise(loop, code)


def _is_out_of_order(level: str, loop: Do, code: KernelCode) -> bool:
    """Return whether a loop has a directive already, or is around or in a shared one wrongly."""
    own = _LEVELS.index(level)
    for other, directive in _shared_loops(code.body):
        taken = next(at for at, word in enumerate(_LEVELS) if word in directive)
        if any(line is loop for line in walk_lines((other,))) and taken <= own:
            return True
        if any(line is other for line in walk_lines((loop,))) and taken >= own:
            return True
    return False


def _shared_loops(lines: Iterable[Line]) -> Iterator[tuple[Do, str]]:
    """Yield each loop that has a directive, with that."""
    before = ""
    for line in lines:
        if isinstance(line, Do) and before:
            yield line, before
        for block in blocks_of(line):
            yield from _shared_loops(block)
        before = (
            line.text if isinstance(line, DirectiveLine) and SHARED_LOOP.match(line.text) else ""
        )
