"""Steps that inline the procedures called by kernels (`passes.inline`).

Compilers do not inline across modules. The recipe `auto` copies column kernels that call procedures
into the PSy layer and inlines these procedures, so that builds need no additional file or flag.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from psyclone_storage.analysis.footprints import Reasons
from psyclone_storage.base.diagnostic import Diagnostic
from psyclone_storage.base.names import listed
from psyclone_storage.base.records import dataclass
from psyclone_storage.ir.expr import Name, Origin, Sort, Unresolved, walk
from psyclone_storage.ir.rewrite import blocks_of, expressions_of, walk_lines
from psyclone_storage.ir.routine import InlinedCode, PlacedProcedure, Routine
from psyclone_storage.ir.rules import Rules
from psyclone_storage.ir.schedule import KernelCall, Schedule
from psyclone_storage.ir.unit import Blank, Comment, Do, Line, While
from psyclone_storage.ir.walk import find
from psyclone_storage.passes.inline.kernels import called_names
from psyclone_storage.transform.kernel.code import (
    COLUMN_ITERATIONS,
    OnCall,
    calls_for,
    check_body,
    check_called,
    check_remaining_calls,
    codes_of,
    inlined_codes,
    placed,
    with_called_codes,
)
from psyclone_storage.transform.kernel.inline_module import check_leaving_module, on_its_own
from psyclone_storage.transform.step import StepPlace

MOST_STATEMENTS = 400
"""How many statements a kernel may have with all the procedures in it."""


@dataclass(frozen=True, slots=True)
class InlineProcedures(OnCall):
    """Inline the procedures that a kernel calls.

    The step searches the kernel's module and the folders of `-d` for these procedures, and inlines
    their calls too. Compilers do not inline across files: a call in a loop prevents vectorisation
    and costs more than a short procedure itself. Declarations of a procedure move into the kernel
    under new names; the kernel imports entities that the procedure uses of its module. Loops of the
    procedure become visible to other steps, which must come after this one. `inline-call` includes
    this step.

    A call remains if its procedure has optional arguments, saves variables, changes module
    variables, is recursive, contains an unsupported statement or a preprocessor line, returns from
    within a loop, or needs a private name of its module. It also remains if elements of an array
    argument may not correspond, if an extent may change during the call or is divided, or if the
    specific procedure of an interface is unknown. A function call under a condition remains. All
    calls remain if the preprocessor selects imports or contents of the kernel's module.

    Rejected if the kernel calls no module procedure, or if all calls remain.

    before: do k ...; b(k) = square(a(k))
    after:  do k ...; square_1 = a(k)*a(k); b(k) = square_1
    """

    name: ClassVar[str] = "inline-procedures"

    def check(self, schedule: Schedule, rules: Rules) -> Reasons:
        """Return diagnostics if no call can be inlined."""
        if problems := check_body(schedule, self.call) or check_called(schedule, self.call):
            return problems
        codes, inlined = codes_of(schedule, self.call), inlined_codes(schedule, self.call)
        if any(one.code is not code for one, code in zip(inlined, codes, strict=True)):
            return ()
        remaining = tuple(reason for one in inlined for reason in check_remaining_calls(one))
        message = f"'{codes[0].name}' calls no procedure of a module."
        return remaining or (Diagnostic("T067", message, codes[0].module.routine),)

    def transform(self, schedule: Schedule, rules: Rules) -> Schedule:
        """Return the schedule with the procedures inlined."""
        codes = tuple(one.code for one in inlined_codes(schedule, self.call))
        return with_called_codes(schedule, self.call, codes)


@dataclass(frozen=True, slots=True)
class InlineCallingKernel(OnCall):
    """Copy a column kernel into the PSy layer and inline the procedures that it calls.

    The step combines `inline-procedures` and `inline-kernel-module`, for kernels that call
    procedures of other modules from within loops: a call for each level prevents vectorisation and
    costs more than a short procedure itself, and compilers do not inline across files. A call
    outside all loops costs as little as that of the kernel.

    Calls remain for the reasons of `inline-procedures`. Rejected if all calls in loops remain, if
    the kernel would have more than 400 statements, and for the reasons of `inline-kernel-module`.

    before: use k_mod, only: k_code, which calls square(a(k)) of another module for each level
    after:  contains, with k_code in the PSy layer: do k ...; square_1 = a(k)*a(k); ...
    """

    name: ClassVar[str] = "inline-calling-kernel"

    @classmethod
    def places(cls, schedule: Schedule) -> Iterator[StepPlace]:
        """Yield every kernel call for a column of cells."""
        return calls_for(schedule, COLUMN_ITERATIONS)

    def check(self, schedule: Schedule, rules: Rules) -> Reasons:
        """Return diagnostics if the kernel cannot be copied."""
        inlined = _inlined(schedule, self.call)
        if inlined and not any(map(_in_loops, inlined)):
            return tuple(_nothing_gained(inlined))
        if problems := check_body(schedule, self.call) or check_called(schedule, self.call):
            return problems
        long = [one.code for one in inlined if _length(one.code) > MOST_STATEMENTS]
        return tuple(map(_too_long, long)) or tuple(
            placed(reason, one.code.module.routine)
            for one in inlined
            for reason in check_leaving_module(one.code)
        )

    def transform(self, schedule: Schedule, rules: Rules) -> Schedule:
        """Return the schedule with the kernel and its callees in the PSy layer."""
        codes = tuple(on_its_own(one.code) for one in _inlined(schedule, self.call))
        return with_called_codes(schedule, self.call, codes)


def _inlined(schedule: Schedule, uid: str) -> tuple[InlinedCode, ...]:
    """Return the subroutines of the call `uid` with inlined calls; empty if none exist.

    Calls are not inlined if that cannot gain anything, because reading procedures takes time.
    """
    call = find(schedule, uid)
    if not isinstance(call, KernelCall) or any(
        code.kernel_use.in_place for code in call.known_codes
    ):
        return ()
    if not any(map(_may_gain, call.known_codes)):
        return tuple(map(InlinedCode, call.known_codes))
    return inlined_codes(schedule, uid)


def _may_gain(code: Routine) -> bool:
    """Return whether a loop of `code`, or a procedure of its module, may call other modules."""
    if not any(map(_sees_others, (code, *code.kernel_use.helpers))):
        return False
    bodies = [*_loops(code.body), *(helper.body for helper in code.kernel_use.helpers)]
    own = code.module.generics | {item.name for item in code.module.procedures}
    return any(name and name not in own for body in bodies for name in called_names(body))


def _sees_others(code: Routine) -> bool:
    """Return whether a name in `code` may denote a procedure of another module."""
    return any(
        symbol.origin in (Origin.IMPORTED, Origin.UNRESOLVED)
        and symbol.sort is not Sort.TYPE
        and not symbol.is_data
        for symbol in code.module.symbols.symbols.values()
    )


def _loops(body: tuple[Line, ...]) -> Iterator[tuple[Line, ...]]:
    """Yield the bodies of the outermost loops."""
    for line in body:
        if isinstance(line, Do | While):
            yield line.body
        else:
            for block in blocks_of(line):
                yield from _loops(block)


def _unknown(code: Routine) -> Iterator[str]:
    """Yield names in loops that may be functions of modules that were not found."""
    for body in _loops(code.body):
        for line in walk_lines(body):
            for expr in expressions_of(line):
                for part in walk(expr):
                    if isinstance(part, Unresolved) and isinstance(part.base, Name):
                        yield part.base.text


def _in_loops(inlined: InlinedCode) -> tuple[PlacedProcedure, ...]:
    """Return the inlined procedures of other modules whose calls were in loops."""
    return tuple(one for one in _elsewhere(inlined) if one.in_loop)


def _elsewhere(inlined: InlinedCode) -> Iterator[PlacedProcedure]:
    code = inlined.code
    return (one for one in code.kernel_use.placed if one.module != code.module.key)


def _nothing_gained(inlined: tuple[InlinedCode, ...]) -> Iterator[Diagnostic]:
    """Yield diagnostics that explain why no call in a loop was inlined (T067, T070)."""
    code = inlined[0].code
    for one in inlined:
        yield from check_remaining_calls(one)
    if names := dict.fromkeys(item.name for one in inlined for item in _elsewhere(one)):
        message = f"'{code.name}' calls {listed(list(names), 'and')} outside of loops alone."
        hint = "There a call costs little; 'inline-procedures' puts it in place all the same."
        yield Diagnostic("T067", message, code.module.routine, hint=hint)
    elif any(one.remaining for one in inlined):
        return
    elif unknown := sorted({name for one in inlined for name in _unknown(one.code)}):
        hint = "Give the folder of its module by '-d'."
        for name in unknown:
            message = f"A call in '{code.name}' stays: what '{name}' stands for was not found."
            yield Diagnostic("T070", message, code.place_of(name), hint=hint)
    else:
        message = f"No loop of '{code.name}' calls a procedure of another module."
        yield Diagnostic("T067", message, code.module.routine)


def _too_long(code: Routine) -> Diagnostic:
    names = listed([one.name for one in code.kernel_use.placed], "and")
    message = (
        f"'{code.name}' would have {_length(code)} statements with {names}, and"
        f" {MOST_STATEMENTS} are the most."
    )
    hint = "'inline-procedures' and 'inline-kernel-module' have no such limit."
    return Diagnostic("T070", message, code.module.routine, hint=hint)


def _length(code: Routine) -> int:
    """Return the number of statements in `code`, including nested ones."""
    return sum(not isinstance(line, Blank | Comment) for line in walk_lines(code.body))
