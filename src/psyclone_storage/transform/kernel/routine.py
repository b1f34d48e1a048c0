"""Kernels that a device may call: `acc routine` and `omp declare target` in their subroutines.

A procedure on a device has its arguments, its own variables and constants, and nothing else: the
variables of modules are on the host, and so is every procedure that is not made for a device.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar

from psyclone_storage.base.diagnostic import Diagnostic, raise_if_any
from psyclone_storage.base.names import listed
from psyclone_storage.base.records import dataclass, replace
from psyclone_storage.ir.code import KernelCode
from psyclone_storage.ir.directive import AccRoutineDirective, DeviceLevel, KernelDirective
from psyclone_storage.ir.directive import DeclareTargetDirective as OmpDeclareTarget
from psyclone_storage.ir.expr import spell
from psyclone_storage.ir.intrinsics import PURE
from psyclone_storage.ir.rewrite import walk_lines
from psyclone_storage.ir.rules import Rules
from psyclone_storage.ir.schedule import Schedule
from psyclone_storage.ir.scopes import (
    WORDS,
    imports_of,
    surroundings,
    used_kinds,
    used_values,
)
from psyclone_storage.ir.unit import Call, Critical, DirectiveLine, InputOutput, Opaque, Stop
from psyclone_storage.ir.walk import place_near
from psyclone_storage.transform.kernel.code import (
    check_called,
    check_each,
    coded_calls,
    not_understood,
    place_of_name,
    with_each,
)
from psyclone_storage.transform.kernel.state import changed_and_saved, variables_around
from psyclone_storage.transform.step import Place, Reasons

_LEVELS = tuple(level.value for level in DeviceLevel)
_ON_THE_HOST = frozenset({"call", "write", "print", "read", "open", "close", "stop"})
"""Words of statements that leave the subroutine; of opaque ones that is all that is looked at."""

_PASSES = ("imports-to-arguments",)

_Asked = type[AccRoutineDirective | OmpDeclareTarget]
_NAMES: Mapping[_Asked, str] = {
    AccRoutineDirective: "acc routine",
    OmpDeclareTarget: "omp declare target",
}


@dataclass(frozen=True, slots=True)
class MakeAccRoutine:
    """Let OpenACC code call a kernel: its subroutine gets the directive `acc routine`.

    `parallelism` is `seq`, `vector`, `worker` or `gang`: how much of the device one call may use.
    The call gets a kernel of its own, see `-okern`. Refused where the subroutine may use what is
    not on the device: a variable of a module, one that it saves, another procedure, or a statement
    that is not understood and that calls, reads or writes. `force` takes the names that are
    imported for constants, and what is called or saved for something on the device.

    before: subroutine k_code(n, a)
    after:  subroutine k_0_code(n, a) with `!$acc routine seq`
    """

    name: ClassVar[str] = "acc-routine"

    call: str
    parallelism: str = "seq"
    force: bool = False

    @classmethod
    def places(cls, schedule: Schedule) -> Iterator[Place]:
        """Yield every call of a kernel that is no built-in."""
        yield from coded_calls(schedule)

    def calls_to_read(self, schedule: Schedule) -> tuple[str, ...]:
        """Return the call itself."""
        return (self.call,)

    def check(self, schedule: Schedule, rules: Rules) -> Reasons:
        """Return all reasons against calling the kernel from OpenACC code."""
        if self.parallelism not in _LEVELS:
            message = f"'{self.parallelism}' is no parallelism of 'acc routine'."
            hint = f"There are {listed(_LEVELS, 'and')}."
            return (Diagnostic("T057", message, place_near(schedule, self.call), hint=hint),)
        return _check(schedule, self.call, AccRoutineDirective, self.force)

    def apply(self, schedule: Schedule, rules: Rules) -> Schedule:
        """Return `schedule` with the directive in the kernel."""
        raise_if_any(self.check(schedule, rules))
        return _with_directive(
            schedule, self.call, AccRoutineDirective(DeviceLevel(self.parallelism))
        )


@dataclass(frozen=True, slots=True)
class DeclareTarget:
    """Let OpenMP code on a device call a kernel: its subroutine gets `omp declare target`.

    The call gets a kernel of its own, see `-okern`. Refused for the same reasons as `acc-routine`.

    before: subroutine k_code(n, a)
    after:  subroutine k_0_code(n, a) with `!$omp declare target`
    """

    name: ClassVar[str] = "omp-declare-target"

    call: str
    force: bool = False

    @classmethod
    def places(cls, schedule: Schedule) -> Iterator[Place]:
        """Yield every call of a kernel that is no built-in."""
        yield from coded_calls(schedule)

    def calls_to_read(self, schedule: Schedule) -> tuple[str, ...]:
        """Return the call itself."""
        return (self.call,)

    def check(self, schedule: Schedule, rules: Rules) -> Reasons:
        """Return all reasons against calling the kernel from OpenMP code on a device."""
        return _check(schedule, self.call, OmpDeclareTarget, self.force)

    def apply(self, schedule: Schedule, rules: Rules) -> Schedule:
        """Return `schedule` with the directive in the kernel."""
        raise_if_any(self.check(schedule, rules))
        return _with_directive(schedule, self.call, OmpDeclareTarget())


def _with_directive(schedule: Schedule, uid: str, meaning: KernelDirective) -> Schedule:
    new = DirectiveLine(meaning=meaning)
    return with_each(schedule, uid, lambda code: replace(code, directives=(*code.directives, new)))


def _check(schedule: Schedule, uid: str, asked: _Asked, force: bool) -> Reasons:
    if problems := check_called(schedule, uid):
        return problems
    return check_each(schedule, uid, lambda code: _reasons(code, asked, force))


def _reasons(code: KernelCode, asked: _Asked, force: bool) -> Iterator[Diagnostic]:
    if any(isinstance(item.meaning, asked) for item in code.directives):
        message = f"'{code.name}' has the directive '{_NAMES[asked]}' already."
        yield Diagnostic("T054", message, code.module.routine)
        return
    yield from _leaves_the_device(code)
    if not force:
        yield from _on_the_host(code)


def may_run_on_device(code: KernelCode) -> Iterator[Diagnostic]:
    """Yield why the statements of `code` must not run on a device (T052, T055)."""
    yield from _leaves_the_device(code)
    yield from _on_the_host(code)


def _leaves_the_device(code: KernelCode) -> Iterator[Diagnostic]:
    for line in walk_lines(code.body):
        by_words = isinstance(line, Opaque) and line.names & _ON_THE_HOST
        if by_words or isinstance(line, InputOutput | Stop | Critical):
            yield not_understood(code, line, "may leave the device")


def _on_the_host(code: KernelCode) -> Iterator[Diagnostic]:
    """Yield what the subroutine may use that is not on a device (T055)."""
    hint = "With 'force' it is taken for something that is on the device."
    passed = f"Apply 'imports-to-arguments' before, by which it is passed. {hint}"
    called = {spell(line.procedure) for line in walk_lines(code.body) if isinstance(line, Call)}
    around = surroundings(code)
    for name in sorted(called | around.procedures):
        message = f"'{code.name}' calls '{name}', which may not be on the device."
        yield Diagnostic("T055", message, place_of_name(code, name), hint=hint)
    for name in sorted(changed_and_saved(code)):
        message = f"'{code.name}' saves '{name}' from call to call, which is not on the device."
        yield Diagnostic("T055", message, place_of_name(code, name), hint=hint)
    values = used_values(code) - used_kinds(code) - PURE - called
    for name in sorted(variables_around(code) & values):
        message = f"'{code.name}' uses '{name}', a variable of its module, which is on the host."
        yield Diagnostic("T055", message, place_of_name(code, name), hint=hint)
    for use, imported in imports_of(code):
        name = imported.key
        if name in values and name not in code.module.constants:
            message = (
                f"'{code.name}' uses '{imported.local}' of the module '{use.module}', which is not"
                " known to be a constant: variables of modules are not on the device."
            )
            yield Diagnostic(
                "T055", message, place_of_name(code, name), hint=passed, remedies=_PASSES
            )
    uses = (*code.uses, *code.module.uses)
    whole = list(dict.fromkeys(use.module for use in uses if use.whole))
    unknown = (around.unknown & values) - WORDS - code.module.constants
    for name in sorted(unknown) if whole else ():
        message = f"'{code.name}' uses '{name}', which may be a variable of {listed(whole)}."
        yield Diagnostic("T055", message, place_of_name(code, name), hint=passed, remedies=_PASSES)
