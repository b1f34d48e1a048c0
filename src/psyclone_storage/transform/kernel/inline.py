"""Inlining of kernel calls: legality, and the declarations that the statements need.

The back end substitutes the actual arguments (`passes.inline.block`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import dropwhile
from typing import ClassVar

from psyclone_storage.analysis.bodies.accesses import written_names
from psyclone_storage.analysis.bodies.names import RoutineNames
from psyclone_storage.analysis.footprints import Reasons
from psyclone_storage.base.diagnostic import Diagnostic
from psyclone_storage.base.names import listed
from psyclone_storage.base.records import dataclass, replace
from psyclone_storage.base.regex import regex
from psyclone_storage.ir import expr as ex
from psyclone_storage.ir import unit as un
from psyclone_storage.ir.affine import (
    simplified,
)
from psyclone_storage.ir.interface import Dummy, Role
from psyclone_storage.ir.keys import key_of
from psyclone_storage.ir.operators import Operator
from psyclone_storage.ir.rewrite import expressions_of, names_in, substituted, walk_lines
from psyclone_storage.ir.routine import Routine
from psyclone_storage.ir.rules import Rules
from psyclone_storage.ir.schedule import KernelCall, Schedule, data_keys
from psyclone_storage.ir.scopes import (
    local_names,
    surroundings,
)
from psyclone_storage.ir.types import ScalarType
from psyclone_storage.ir.walk import (
    find,
    place_of,
)
from psyclone_storage.passes.inline.legality import preprocessor_line
from psyclone_storage.passes.structured_returns import without_returns
from psyclone_storage.transform.kernel.code import (
    POINT_ITERATIONS,
    OnCall,
    calls_for,
    check_body,
    check_remaining_calls,
    codes_of,
    inlined_codes,
    not_understood,
    with_called_codes,
)
from psyclone_storage.transform.step import StepPlace

_IMPLICIT = regex(r"implicit\b", re.IGNORECASE)
_JUMPS = frozenset({"return", "goto", "go", "continue", "format", "entry", "data"})
_BoundToItsRoutine = (
    un.Return | un.Label | un.Goto | un.Format | un.Associate | un.ScopedBlock | un.Conditional
)
"""Statements that mean something else in another routine, or that hold names of their own."""
_LABEL = regex(r"^\s*\d", re.MULTILINE)
_OF_DUMMIES = regex(r"intent\(.*\)|target|contiguous")


@dataclass(frozen=True, slots=True)
class InlineCall(OnCall):
    """Replace the call of a kernel by its statements.

    The compiler then sees the statements inside the loop. The actual arguments replace the dummies.
    The declarations and imports of the kernel go into a block around its statements, so that each
    iteration and each thread has its own. Procedures that the kernel calls are inlined first, as by
    `inline-procedures`. This must be the last step for a kernel. A loop over cells is then
    outlined, as by `outline`, if that is legal.

    Rejected if the kernel has several subroutines, because the choice between them depends on the
    sizes of kinds, which only the compiler knows. Rejected if an unsupported statement uses local
    names of the kernel or jumps; if the kernel has saved variables, allocates memory or uses
    pointers; if it needs more than constants of its module; or if the shapes of its dummies differ
    from the actual arguments. An early `return` becomes a conditional; rejected if it is inside a
    loop, or if the following statements would have to be duplicated.

    before: do i ... call k_code(i, j, u_fld%data, dt)
    after:  do i ... u_fld%data(i, j) = u_fld%data(i, j) + dt
    """

    name: ClassVar[str] = "inline-call"

    def check(self, schedule: Schedule, rules: Rules) -> Reasons:
        """Return diagnostics if the call cannot be inlined."""
        if problems := check_body(schedule, self.call):
            return problems
        return self._chosen(schedule)[1]

    def transform(self, schedule: Schedule, rules: Rules) -> Schedule:
        """Return the schedule with the call replaced by the statements."""
        code = self._chosen(schedule)[0]
        return with_called_codes(schedule, self.call, (_self_contained(code),))

    def _chosen(self, schedule: Schedule) -> tuple[Routine, Reasons]:
        """Return the subroutine to inline, and diagnostics if it cannot be inlined.

        Calls in the subroutine are inlined too, if that is possible.
        """
        call, codes = find(schedule, self.call), codes_of(schedule, self.call)
        assert isinstance(call, KernelCall)
        if len(codes) > 1:
            return codes[0], (_ambiguous(call, codes),)
        own, (inlined,) = codes[0], inlined_codes(schedule, self.call)
        reasons = tuple(_against(own, call, schedule))
        if inlined.code is not own and not tuple(_against(inlined.code, call, schedule)):
            return inlined.code, ()
        remaining = check_remaining_calls(inlined) if reasons else ()
        return own, (*reasons, *remaining)


@dataclass(frozen=True, slots=True)
class InlinePointCall(InlineCall):
    """Replace the call of a kernel by its statements, if it is called for every point.

    The step does the same as `inline-call`. When no place is given, it applies to calls for a grid
    point or a dof, which cost as much as the kernel itself, and not to calls for a column of cells.

    Refused for the reasons of `inline-call`.

    before: do i ... call k_code(i, j, u_fld%data, dt)
    after:  do i ... u_fld%data(i, j) = u_fld%data(i, j) + dt
    """

    name: ClassVar[str] = "inline-point-call"

    @classmethod
    def places(cls, schedule: Schedule) -> Iterator[StepPlace]:
        """Yield every kernel call for a grid point or dof."""
        return calls_for(schedule, POINT_ITERATIONS)


# ---------------------------------------------------------------------------- reasons


def _ambiguous(call: KernelCall, codes: tuple[Routine, ...]) -> Diagnostic:
    names = listed([code.name for code in codes], "and")
    message = f"'{call.kernel.name}' stands for {names}: the kinds of the arguments decide."
    hint = "'inline-kernel-module' takes all of them into the PSy layer."
    return Diagnostic("T051", message, place_of(call), hint=hint)


def _against(code: Routine, call: KernelCall, schedule: Schedule) -> Iterator[Diagnostic]:
    """Yield diagnostics if `call` cannot be replaced by the statements of `code`."""
    if code.kernel_use.in_place:
        message = f"The statements of '{call.uid}' are in place already."
        yield Diagnostic("T065", message, place_of(call))
        return
    yield from _opaque_reasons(code)
    texts = (
        *_about_scope(code),
        *_about_names(code, schedule),
        *_about_variables(code),
        *_about_dummies(code, call),
    )
    for text in texts:
        yield Diagnostic("T065", f"'{code.name}' cannot be inlined: {text}.", place_of(call))


def _opaque_reasons(code: Routine) -> Iterator[Diagnostic]:
    """Yield diagnostics for statements that have another meaning elsewhere (T052)."""
    own = local_names(code) | {item.key for item in surroundings(code).constants}
    for line in walk_lines(without_returns(code.body)):
        unclear = isinstance(line, un.Opaque) and (
            line.names & (own | _JUMPS) or _LABEL.search(line.text)
        )
        has_own = isinstance(line, un.DoConcurrent | un.Forall) and line.kind
        bound = isinstance(line, _BoundToItsRoutine) or _is_called_by_name(line)
        if unclear or bound or has_own:
            yield not_understood(code, line, "cannot be inlined")


def _is_called_by_name(line: un.Line) -> bool:
    """Return whether an `exit` or `cycle` names a construct."""
    return isinstance(line, un.Exit | un.Cycle) and line.name != ""


def _about_scope(code: Routine) -> Iterator[str]:
    """Yield texts about names that are not accessible outside the kernel's module."""
    around = surroundings(code)
    if line := preprocessor_line(code):
        yield f"it may depend on '{line}', and no preprocessor reads the PSy layer"
    if code.internal is not None:
        yield "it has internal procedures"
    for names, what in ((around.procedures, "calls"), (around.others, "uses")):
        if names:
            yield f"it {what} {listed(sorted(names), 'and')} of its module"
    unknown = around.unknown - code.used_kinds
    if unknown and len(_whole_modules(code)) != 1:
        yield f"it is not clear where {listed(sorted(unknown), 'and')} comes from"
    for item in code.declarations:
        if isinstance(item, un.Opaque) and not _IMPLICIT.match(item.text):
            yield f"'{item.text.partition(chr(10))[0]}' is not understood"


def _about_names(code: Routine, schedule: Schedule) -> Iterator[str]:
    """Yield texts about names, such as intrinsics, that conflict with data of the invoke."""
    around = surroundings(code)
    brought = {item.key for item in around.constants} | code.module.passed_variables
    brought |= {name.key for use in around.uses for name in use.names}
    outside = code.used_names - local_names(code) - brought
    for name in sorted(outside & data_keys(schedule)):
        yield f"'{name}' in it is not the '{name}' that is passed to the invoke"


def _about_variables(code: Routine) -> Iterator[str]:
    """Yield texts about variables that cannot be local to a block."""
    dummies = {*code.dummy_keys}
    for item in code.declarations:
        if not isinstance(item, un.Declare) or item.key in dummies:
            continue
        words = item.words
        if words - {"parameter"}:
            yield f"its variable '{item.name}' is {listed(sorted(words), 'and')}"
        elif item.value is not None and not words:
            yield f"its variable '{item.name}' keeps its value from call to call"
        elif not isinstance(item.type, ScalarType):
            yield f"its variable '{item.name}' has a derived type"


def _about_dummies(code: Routine, call: KernelCall) -> Iterator[str]:
    """Yield texts about dummies that do not match the actual arguments.

    Inter-grid kernels of 2019 receive the map of a cell as one row; current ones as two dimensions.
    """
    if len(code.dummies) != len(call.dummies):
        yield f"it takes {len(code.dummies)} arguments, and {len(call.dummies)} are passed"
        return
    written = written_names(code.body, RoutineNames(code))
    theirs = {
        key_of(name): ex.Name(dummy.name)
        for name, dummy in zip(code.dummies, call.dummies, strict=True)
    }
    constants = (one for one in code.kernel_use.constants if one[1] in theirs)
    theirs |= {constant: theirs[key] for constant, key in constants}
    for name, dummy in zip(code.dummies, call.dummies, strict=True):
        declared = code.declared(name)
        if declared is None:
            yield f"'{name}' is not declared"
            continue
        odd = [word for word in declared.attributes if not _OF_DUMMIES.fullmatch(key_of(word))]
        if odd:
            yield f"its argument '{name}' is {listed(odd, 'and')}"
        if not dummy.rank and key_of(name) in written and not dummy.access.writes:
            yield f"it changes its argument '{name}', which the caller needs"
        if dummy.role is Role.IMPORTED and any(_starts_elsewhere(item) for item in declared.shape):
            yield f"its argument '{name}' is an array that does not start from 1"
        if dummy.role is Role.ORIENTATION:
            yield f"its argument '{name}' gets what a function returns, which has no elements"
        flat = dummy.role is Role.CELL_MAP and dummy.rank == 1
        if flat or not _has_shape(declared, dummy, theirs):
            yield f"its argument '{name}' has another shape than what is passed"
        elif dummy.rank and _tells_bounds(code, declared, dummy, theirs):
            yield f"the bounds of its argument '{name}' are not those of what is passed"


def _starts_elsewhere(extent: ex.Expr) -> bool:
    """Return whether an array may have a lower bound other than 1."""
    return isinstance(extent, ex.Range) and extent.lower is not None


def _has_shape(declared: un.Declare, dummy: Dummy, theirs: dict[str, ex.Name]) -> bool:
    """Return whether a dummy has the same element positions as the actual argument.

    The last extent does not matter.
    """
    if len(declared.shape) != dummy.rank:
        return False
    pairs = list(zip(declared.shape, dummy.shape, strict=True))
    return all(_same_extent(mine, other, theirs) for mine, other in pairs[:-1])


def _tells_bounds(
    code: Routine, declared: un.Declare, dummy: Dummy, theirs: dict[str, ex.Name]
) -> bool:
    """Return whether a value depends on bounds of a dummy that differ from the actual argument.

    The last extent matters if the whole dummy is used, lower bounds matter for `lbound` and
    `ubound`.
    """
    name = declared.key
    exprs = [expr for line in walk_lines(code.body) for expr in expressions_of(line)]
    asked = (part for expr in exprs for part in ex.walk(expr) if _asks_for_bounds(part))
    shifted = any(isinstance(item, ex.Range) and item.lower is not None for item in declared.shape)
    if shifted and any(name in names_in(part) for part in asked):
        return True
    same_end = _same_extent(declared.shape[-1], dummy.shape[-1], theirs)
    return not same_end and any(name in _wholes(expr) for expr in exprs)


def _asks_for_bounds(expr: ex.Expr) -> bool:
    return ex.intrinsic_called(expr) in {"lbound", "ubound"}


def _wholes(expr: ex.Expr) -> Iterator[str]:
    """Yield the names in `expr` that denote a whole array, or elements up to the last index."""
    match expr:
        case ex.Name(text):
            yield key_of(text)
        case ex.Index(ex.Name(text), items):
            if isinstance(items[-1], ex.Range) and items[-1].upper is None:
                yield key_of(text)
            for item in items:
                yield from _wholes(item)
        case _:
            for part in ex.children(expr):
                yield from _wholes(part)


def _same_extent(mine: ex.Expr, other: ex.Expr, theirs: dict[str, ex.Name]) -> bool:
    if isinstance(mine, ex.Range):
        if mine.upper is None:
            return True
        span = ex.Binary(Operator.MINUS, mine.upper, mine.lower or ex.whole(1))
        mine = ex.Binary(Operator.PLUS, span, ex.whole(1))
    return ex.canonical(simplified(substituted(mine, theirs))) == ex.canonical(other)


# ---------------------------------------------------------------------------- taking along


def _self_contained(code: Routine) -> Routine:
    """Return `code` with all declarations that its statements need, without early returns."""
    around = surroundings(code)
    unknown = around.unknown - code.used_kinds
    uses = [use for use in (*code.uses, *around.uses) if use.names]
    if unknown:
        names = tuple(un.Imported(name, name) for name in sorted(unknown))
        uses.append(un.Use(_whole_modules(code)[0], names))
    own = (item for item in code.declarations if isinstance(item, un.Declare))
    specified = code.with_specification(
        uses=(replace(use, whole=False) for use in uses),
        declarations=(*around.constants, *own),
        directives=(),
    )
    use = replace(code.kernel_use, inlined=False, in_place=True)
    return replace(specified, body=_without_ends(code.body), kernel_use=use)


def _whole_modules(code: Routine) -> list[str]:
    """Return the modules that are imported as a whole."""
    uses = (use for use in (*code.uses, *code.module.uses) if use.whole)
    return list(dict.fromkeys(use.module_key for use in uses))


def _without_ends(body: tuple[un.Line, ...]) -> tuple[un.Line, ...]:
    """Return `body` without leading blank lines and without `return`."""
    return tuple(dropwhile(lambda line: isinstance(line, un.Blank), without_returns(body)))
