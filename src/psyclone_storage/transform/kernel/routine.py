"""Kernels callable on a device: `acc routine` and `omp declare target` directives.

A device procedure can access its arguments, local variables and constants. Module variables and
other procedures are on the host unless they are annotated.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import ClassVar

from psyclone_storage.analysis.bodies.accesses import written_names
from psyclone_storage.analysis.bodies.names import RoutineNames
from psyclone_storage.analysis.footprints import Reasons
from psyclone_storage.base.diagnostic import Diagnostic
from psyclone_storage.base.names import listed
from psyclone_storage.base.records import dataclass
from psyclone_storage.base.regex import regex
from psyclone_storage.base.source import Span
from psyclone_storage.ir.directive import AccRoutineDirective, DeviceLevel
from psyclone_storage.ir.directive import DeclareTargetDirective as OmpDeclareTarget
from psyclone_storage.ir.expr import Binary, CallFunction, Member, Unary, spell, walk
from psyclone_storage.ir.intrinsics import PURE
from psyclone_storage.ir.keys import key_of, keys_of
from psyclone_storage.ir.operators import DefinedOperator
from psyclone_storage.ir.parsed import ScopeKind
from psyclone_storage.ir.rewrite import expressions_of, walk_lines
from psyclone_storage.ir.routine import Routine
from psyclone_storage.ir.rules import Rules
from psyclone_storage.ir.schedule import Schedule
from psyclone_storage.ir.scopes import WORDS, imports_of, surroundings
from psyclone_storage.ir.unit import (
    Call,
    Critical,
    DirectiveBlock,
    DirectiveLine,
    InputOutput,
    Opaque,
    Stop,
)
from psyclone_storage.ir.walk import place_near
from psyclone_storage.transform.kernel.code import (
    ChangesCode,
    as_on_device,
    check_called,
    check_each,
    not_understood,
    placed,
)
from psyclone_storage.transform.kernel.state import changed_and_saved, variables_around

_LEVELS = tuple(level.value for level in DeviceLevel)
_ON_THE_HOST = frozenset({"call", "write", "print", "read", "open", "close", "stop"})
"""Words of statements that leave the subroutine; of opaque ones that is all that is looked at."""

_INCLUDED = regex(r"^[ \t]*#?[ \t]*include\b[ \t]*['\"<].*", re.IGNORECASE | re.MULTILINE)
_PASSES = ("imports-to-arguments",)

_Asked = type[AccRoutineDirective | OmpDeclareTarget]
_MARKS = (AccRoutineDirective, OmpDeclareTarget)
_NAMES: Mapping[_Asked, str] = {
    AccRoutineDirective: "acc routine",
    OmpDeclareTarget: "omp declare target",
}


class CompilesForDevice(ChangesCode):
    """Base of steps that make subroutines callable from code on a device."""

    __slots__ = ()

    force: bool

    @property
    def meaning(self) -> AccRoutineDirective | OmpDeclareTarget:
        """The directive that the subroutine gets."""
        raise NotImplementedError

    def check(self, schedule: Schedule, rules: Rules) -> Reasons:
        """Return diagnostics if a device cannot run the kernel."""
        problems = check_called(schedule, self.call)
        return problems or check_each(schedule, self.call, self.check_code)

    def check_code(self, code: Routine) -> Iterator[Diagnostic]:
        """Return diagnostics if a device cannot run the subroutine."""
        return _reasons(code, type(self.meaning), self.force)

    def transform_code(self, code: Routine) -> Routine:
        """Return the subroutine with the directive."""
        new = DirectiveLine(meaning=self.meaning)
        return code.with_specification(directives=(*code.directives, new))


@dataclass(frozen=True, slots=True)
class MakeAccRoutine(CompilesForDevice):
    """Make a kernel callable from OpenACC code: its subroutine gets `acc routine`.

    `parallelism` is `seq`, `vector`, `worker` or `gang`: the level of parallelism within one call.
    The call gets a kernel of its own, see `-okern`. Rejected if the subroutine may use entities
    that are not on the device: a module variable, a saved variable, another procedure, or an
    unsupported statement with calls or input/output. `force` assumes that imported names are
    constants, and that called procedures and saved variables are on the device.

    Procedures with `acc routine` in their module are on the device. So are variables with `acc
    declare`, unless the kernel changes them. `psyclone-storage-kern -device -device-modules` writes
    annotated copies of modules of other projects.

    before: subroutine k_code(n, a)
    after:  subroutine k_0_code(n, a) with `!$acc routine seq`
    """

    name: ClassVar[str] = "acc-routine"

    parallelism: str = "seq"
    force: bool = False

    @property
    def meaning(self) -> AccRoutineDirective:
        """The directive that the subroutine gets."""
        return AccRoutineDirective(DeviceLevel(self.parallelism))

    def check(self, schedule: Schedule, rules: Rules) -> Reasons:
        """Return diagnostics if the kernel cannot be called from OpenACC code."""
        if self.parallelism not in _LEVELS:
            return (self._wrong_level(place_near(schedule, self.call)),)
        return CompilesForDevice.check(self, schedule, rules)

    def check_code(self, code: Routine) -> Iterator[Diagnostic]:
        """Return diagnostics if the subroutine cannot be called from OpenACC code."""
        if self.parallelism not in _LEVELS:
            return iter((self._wrong_level(code.place),))
        return CompilesForDevice.check_code(self, code)

    def _wrong_level(self, place: Span | None) -> Diagnostic:
        message = f"'{self.parallelism}' is no parallelism of 'acc routine'."
        return Diagnostic("T057", message, place, hint=f"There are {listed(_LEVELS, 'and')}.")


@dataclass(frozen=True, slots=True)
class DeclareTarget(CompilesForDevice):
    """Make a kernel callable from OpenMP device code: it gets `omp declare target`.

    The call gets a kernel of its own, see `-okern`. Refused for the same reasons as `acc-routine`.

    before: subroutine k_code(n, a)
    after:  subroutine k_0_code(n, a) with `!$omp declare target`
    """

    name: ClassVar[str] = "omp-declare-target"

    force: bool = False

    @property
    def meaning(self) -> OmpDeclareTarget:
        """The directive that the subroutine gets."""
        return OmpDeclareTarget()


def check_still_for_device(code: Routine, former: Routine) -> Reasons:
    """Return why a device cannot run a routine after a change, though it could before."""
    wanted = [type(item.meaning) for item in former.directives if isinstance(item.meaning, _MARKS)]
    if not wanted or code is former:
        return ()
    known = {one.message for asked in wanted for one in _about(former, asked)}
    new = (one for asked in wanted for one in _about(code, asked))
    return tuple(placed(one, code.module.routine) for one in new if one.message not in known)


def _about(code: Routine, asked: _Asked) -> Iterator[Diagnostic]:
    return check_device_routine(code, names_on_device(code, asked), asked)


def _reasons(code: Routine, asked: _Asked, force: bool) -> Iterator[Diagnostic]:
    if any(isinstance(item.meaning, asked) for item in code.directives):
        message = f"'{code.name}' has the directive '{_NAMES[asked]}' already."
        yield Diagnostic("T054", message, code.module.routine)
        return
    if any(isinstance(line, DirectiveBlock) for line in walk_lines(code.body)):
        message = f"'{code.name}' has regions, so devices cannot call it."
        yield Diagnostic("T055", message, code.module.routine)
    yield from check_device_routine(code, names_on_device(code, asked), asked, force=force)


def check_device_routine(
    code: Routine,
    there: frozenset[str] = frozenset(),
    asked: _Asked = AccRoutineDirective,
    *,
    force: bool = False,
) -> Iterator[Diagnostic]:
    """Yield diagnostics if `code` or its helpers cannot run on a device (T052, T055).

    Procedures and variables in `there` (keys) are known to be on the device. With `force`, only the
    statements are checked.
    """
    yield from _leaves_the_device(code)
    if force:
        return
    helpers = () if code.kernel_use.inlined or code.kernel_use.in_place else code.kernel_use.helpers
    own = frozenset(helper.key for helper in helpers)
    if helpers:
        # A generic name is known where all of its procedures are helpers.
        own |= code.module.generics & {one.name for one in code.module.known}
    yield from _on_the_host(code, there | own)
    for helper in helpers:
        yield from _leaves_the_device(helper)
        yield from _about_head(helper)
        yield from _on_the_host(helper, names_on_device(helper, asked) | own)
        if helper.key in _called_behind(helper, helpers):
            text = f"'{helper.name}' calls itself, which a device may not do."
            yield Diagnostic("T055", text, helper.module.routine)


def names_on_device(code: Routine, asked: _Asked = AccRoutineDirective) -> frozenset[str]:
    """Return the names that modules place on a device for `code`.

    Variables that the code may change are excluded, because their values are not copied back.
    """
    if asked is not AccRoutineDirective or not code.module.on_device:
        return frozenset()
    return code.module.on_device - changed_on_device(code)


def changed_on_device(code: Routine) -> frozenset[str]:
    """Return the keys of the variables that `code` may change on a device."""
    known = as_on_device(code)
    return written_names(known.body, RoutineNames(known))


def has_preprocessed_head(code: Routine) -> bool:
    """Return whether preprocessor lines are inside the specification part of `code`."""
    return code.specified is None or "\n#" in code.specified.text.replace(" ", "")


def _about_head(code: Routine) -> Iterator[Diagnostic]:
    if has_preprocessed_head(code):
        text = f"The declarations of '{code.name}' depend on the preprocessor."
        yield Diagnostic("T055", text, code.module.routine)


def _called_behind(code: Routine, helpers: tuple[Routine, ...]) -> frozenset[str]:
    """Return the keys of the `helpers` that `code` calls, directly or indirectly."""
    calls = {one.key: values_of(one) & {other.key for other in helpers} for one in helpers}
    found: set[str] = set()
    new = calls[code.key]
    while new := new - found:
        found |= new
        new = frozenset().union(*(calls[key] for key in new))
    return frozenset(found)


def values_of(code: Routine) -> frozenset[str]:
    """Return the names of values in `code`, without its own name if it is a function."""
    return code.used_values - _named_result(code)


def _named_result(code: Routine) -> frozenset[str]:
    """Return the key of a function whose name is that of its result, nothing for others."""
    own = next((one for one in code.module.procedures if one.name == code.key), None)
    is_function = code.kind is ScopeKind.FUNCTION or (own is not None and own.is_function)
    if is_function and "result" not in key_of(code.suffix):
        return frozenset({code.key})
    return frozenset()


def _leaves_the_device(code: Routine) -> Iterator[Diagnostic]:
    if included := _INCLUDED.search(code.module.routine.text):
        yield Diagnostic(
            "T052",
            f"'{code.name}' may leave the device: '{included.group().strip()}' is not read.",
            code.place_of(code.name),
        )
    for line in walk_lines(code.body):
        by_words = isinstance(line, Opaque) and line.names & _ON_THE_HOST
        if by_words or isinstance(line, InputOutput | Stop | Critical):
            yield not_understood(code, line, "may leave the device")


def _on_the_host(code: Routine, there: frozenset[str]) -> Iterator[Diagnostic]:
    """Yield diagnostics for entities that are not on a device (T055)."""
    hint = "With 'force' it is taken for something that is on the device."
    annotated = (
        "Give modules that are written for devices ('psyclone-storage-kern -device-modules') with"
        f" '-d'. {hint}"
    )
    passed = f"Apply 'imports-to-arguments' before, by which it is passed. {hint}"
    calls = (spell(line.procedure) for line in walk_lines(code.body) if isinstance(line, Call))
    called = keys_of((*calls, *_bound_functions(code)))
    around = surroundings(code)
    there |= _named_result(code)
    for name in sorted((called | around.procedures) - there):
        message = f"'{code.name}' calls '{name}', which may not be on the device."
        yield Diagnostic("T055", message, code.place_of(name), hint=annotated)
    for name in sorted(changed_and_saved(code)):
        message = f"'{code.name}' saves '{name}' from call to call, which is not on the device."
        yield Diagnostic("T055", message, code.place_of(name), hint=hint)
    values = code.used_values - code.used_kinds - PURE - called - there
    for name in sorted(variables_around(code) & values):
        message = f"'{code.name}' uses '{name}', a variable of its module, which is on the host."
        yield Diagnostic("T055", message, code.place_of(name), hint=hint)
    for use, imported in imports_of(code):
        name = imported.key
        if name in values and code.symbol(name).is_called:
            message = f"'{code.name}' calls '{imported.local}', which may not be on the device."
            yield Diagnostic("T055", message, code.place_of(name), hint=annotated)
        elif name in values and name not in code.module.constants:
            message = (
                f"'{code.name}' uses '{imported.local}' of the module '{use.module}', which is not"
                " known to be a constant: variables of modules are not on the device."
            )
            yield Diagnostic("T055", message, code.place_of(name), hint=passed, remedies=_PASSES)
    uses = (*code.uses, *code.module.uses)
    whole = list(dict.fromkeys(use.module for use in uses if use.whole))
    unknown = (around.unknown & values) - WORDS - code.module.constants
    for name in sorted(unknown) if whole else ():
        message = f"'{code.name}' uses '{name}', which may be a variable of {listed(whole)}."
        yield Diagnostic("T055", message, code.place_of(name), hint=passed, remedies=_PASSES)


def _bound_functions(code: Routine) -> Iterator[str]:
    """Yield the type-bound functions and defined operators that a subroutine uses."""
    for line in walk_lines(code.body):
        for expr in expressions_of(line):
            for part in walk(expr):
                if isinstance(part, CallFunction) and isinstance(part.base, Member):
                    yield spell(part.base)
                elif isinstance(part, Unary | Binary) and isinstance(part.op, DefinedOperator):
                    yield part.op.spelling
