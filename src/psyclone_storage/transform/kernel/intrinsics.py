"""Expansion of intrinsic function calls in kernel code.

A result is assigned to a new variable before the statement that needs it.
`transform.kernel.expansions` defines the expansions. This module handles calls in assignments,
conditions, loop bounds and call arguments. Calls in unsupported statements remain.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from psyclone_storage.analysis.bodies.shapes import rank_of
from psyclone_storage.analysis.footprints import Reasons
from psyclone_storage.base.diagnostic import Diagnostic
from psyclone_storage.base.names import listed
from psyclone_storage.base.records import dataclass, replace
from psyclone_storage.ir import expr as ex
from psyclone_storage.ir.intrinsics import ELEMENTAL
from psyclone_storage.ir.rewrite import (
    expressions_of,
    first_words,
    place_of_line,
    walk_lines,
    with_each_block,
    with_parts,
)
from psyclone_storage.ir.routine import Routine
from psyclone_storage.ir.rules import Rules
from psyclone_storage.ir.schedule import Schedule
from psyclone_storage.ir.unit import Assign, Call, Do, DoConcurrent, Forall, If, Line, Opaque, Where
from psyclone_storage.ir.walk import place_near
from psyclone_storage.passes.scratch import Scratch, nothing_to_do
from psyclone_storage.transform.kernel.code import ChangesCode
from psyclone_storage.transform.kernel.expansions import (
    EXPANSIONS,
    CallSite,
    UnexpandableError,
    matmul_in_place,
    may_be_negative_zero,
)

FUNCTIONS = frozenset(EXPANSIONS)
"""The functions that can be written out."""


@dataclass(frozen=True, slots=True)
class _Task:
    """State of one expansion: the functions to expand, the code so far and the diagnostics."""

    wanted: frozenset[str]
    scratch: Scratch
    reasons: list[Diagnostic]


def calls_of_functions(code: Routine, wanted: frozenset[str]) -> Iterator[ex.CallFunction]:
    """Yield the calls of the functions `wanted` (lower case) in a kernel."""
    for line in walk_lines(code.body):
        for expr in expressions_of(line):
            for part in ex.walk(expr):
                if isinstance(part, ex.CallFunction) and _is_call(part, wanted):
                    yield part


def check_signs(code: Routine) -> Reasons:
    """Return diagnostics for calls of `sign` that may have a negative zero (T060).

    Only `sign` itself distinguishes it from a positive zero.
    """
    return tuple(
        Diagnostic(
            "T060",
            f"'{ex.spell(call)}' depends on the sign of a zero, which no comparison can tell.",
            code.place_of("sign"),
        )
        for call in calls_of_functions(code, frozenset({"sign"}))
        if may_be_negative_zero(call.items[-1], code)
    )


def written_out(code: Routine, wanted: frozenset[str]) -> tuple[Routine, Reasons]:
    """Return `code` with the functions `wanted` expanded, and diagnostics for others (T060)."""
    task = _Task(wanted, Scratch(code), [])
    body = tuple(_lines(code.body, task))
    return replace(task.scratch.code, body=body), tuple(dict.fromkeys(task.reasons))


def _is_call(expr: ex.Expr, wanted: frozenset[str]) -> bool:
    return ex.intrinsic_called(expr) in wanted


# ---------------------------------------------------------------------------- statements


def _lines(lines: tuple[Line, ...], task: _Task) -> Iterator[Line]:
    for line in lines:
        yield from _line(line, task)


def _line(line: Line, task: _Task) -> Iterator[Line]:
    """Yield the statements that replace a statement with calls of wanted functions."""
    match line:
        case Assign():
            yield from _assignment(line, task)
        case Do():
            bounds = [line.start, line.stop] + ([] if line.step is None else [line.step])
            before, (start, stop, *step) = _all_out(bounds, True, task)
            yield from before
            body = tuple(_lines(line.body, task))
            changed = replace(line, start=start, stop=stop, body=body)
            yield replace(changed, step=step[0]) if step else changed
        case If():
            yield from _choice(line, task)
        case Call(args=args):
            before, values = _all_out(list(args), False, task)
            yield from before
            yield replace(line, args=tuple(values))
        case Opaque():
            yield line
        case _:
            task.reasons.extend(_left_in(line, task))
            if isinstance(line, Where | Forall | DoConcurrent):
                yield line
                return
            yield with_each_block(line, lambda block: tuple(_lines(block, task)))


def _left_in(line: Line, task: _Task) -> Iterator[Diagnostic]:
    """Yield diagnostics for wanted functions that cannot be expanded in a statement (T060)."""
    masked = walk_lines((line,)) if isinstance(line, Where | Forall | DoConcurrent) else (line,)
    exprs = (expr for inner in masked for expr in expressions_of(inner))
    for part in (part for expr in exprs for part in ex.walk(expr)):
        if _is_call(part, task.wanted):
            message = (
                f"'{ex.spell(part)}' in '{first_words(line)}' cannot be computed in front of it."
            )
            yield Diagnostic("T060", message, place_of_line(line))


def _assignment(line: Assign, task: _Task) -> Iterator[Line]:
    target, value, code = line.target, line.value, task.scratch.code
    if isinstance(value, ex.CallFunction) and _is_call(value, task.wanted & {"matmul"}):
        in_place = matmul_in_place(target, value, task.scratch)
        if in_place is not None:
            yield from _lines(in_place, task)
            return
    before, (clear,) = _all_out([value], rank_of(target, code) == 0, task)
    yield from before
    yield replace(line, value=clear)


def _choice(line: If, task: _Task) -> Iterator[Line]:
    """Yield an `if`; later conditions are evaluated only if the earlier ones do not hold."""
    first, *later = line.branches
    before, (condition,) = _all_out([first.condition], True, task)
    yield from before
    branch = replace(first, condition=condition, body=tuple(_lines(first.body, task)))
    rest: tuple[Line, ...] = line.otherwise
    if not later:
        yield replace(line, branches=(branch,), otherwise=tuple(_lines(rest, task)))
        return
    rest = tuple(_line(If(tuple(later), line.otherwise), task))
    match rest:
        case (If(branches, otherwise),):
            yield replace(line, branches=(branch, *branches), otherwise=otherwise)
        case _:
            yield If((branch,), rest, name=line.name)


# ---------------------------------------------------------------------------- expressions


def _all_out(exprs: list[ex.Expr], scalar: bool, task: _Task) -> tuple[list[Line], list[ex.Expr]]:
    """Return expressions without wanted functions, and the statements that precede them.

    `scalar` means that the expressions are known to be scalar.
    """
    before: list[Line] = []
    found: list[ex.Expr] = []
    for expr in exprs:
        lines, clear = _out(expr, scalar, task)
        before += lines
        found.append(clear)
    return before, found


def _out(expr: ex.Expr, scalar: bool, task: _Task) -> tuple[list[Line], ex.Expr]:
    if not any(_is_call(part, task.wanted) for part in ex.walk(expr)):
        return [], expr
    word = ex.intrinsic_called(expr)
    if word not in task.wanted or not isinstance(expr, ex.CallFunction):
        return _parts_out(expr, scalar, task)
    before, clear = _products_out(expr, task)
    scalar = scalar or rank_of(clear, task.scratch.code) == 0
    site = CallSite(word, clear.items, scalar, task.scratch)
    try:
        result, lines = EXPANSIONS[site.name](site)
    except UnexpandableError as reason:
        task.reasons.append(reason.diagnostic)
        return before, clear
    return [*before, *_lines(lines, task)], result


def _parts_out(expr: ex.Expr, scalar: bool, task: _Task) -> tuple[list[Line], ex.Expr]:
    """Return `expr` with its subexpressions expanded; operands of scalar operations are scalar."""
    before: list[Line] = []
    operands = scalar and not _takes_arrays(expr)

    def change(part: ex.Expr) -> ex.Expr:
        lines, clear = _out(part, operands, task)
        before.extend(lines)
        return clear

    return before, with_parts(expr, change)


def _takes_arrays(expr: ex.Expr) -> bool:
    """Return whether a scalar expression may have array arguments."""
    if not isinstance(expr, ex.Index) or isinstance(expr, ex.Element | ex.Section | ex.Substring):
        return False
    return ex.intrinsic_called(expr) not in ELEMENTAL


def _products_out(expr: ex.CallFunction, task: _Task) -> tuple[list[Line], ex.CallFunction]:
    """Return a call with the matrix products in its arguments expanded first."""
    inner = replace(task, wanted=task.wanted & {"matmul"})
    before: list[Line] = []
    items: list[ex.Expr] = []
    for item in expr.items:
        lines, clear = _out(item, False, inner) if ex.children(item) else ([], item)
        before += lines
        items.append(clear)
    return before, ex.CallFunction(expr.base, tuple(items))


# ---------------------------------------------------------------------------- the step


@dataclass(frozen=True, slots=True)
class IntrinsicsToCode(ChangesCode):
    """Expand intrinsic functions in a kernel: those in `only`, or all supported ones.

    Supported are `abs`, `sign`, `min`, `max`, `sum`, `product`, `maxval`, `minval`, `dot_product`
    and `matmul`; join several in `only` by `+`. Values are bit-identical, except that sums are
    accumulated in element order and `sign` treats -0.0 as positive.

    Rejected if declarations in the kernel do not determine the type and shape of a function, which
    the temporary variable requires.

    before: y = matmul(a, x)
    after:  y(:) = 0 and two loops that add a(i, j) * x(j) to y(i)
    """

    name: ClassVar[str] = "intrinsics-to-code"

    only: str = ""

    def check(self, schedule: Schedule, rules: Rules) -> Reasons:
        """Return diagnostics if the functions cannot be expanded."""
        if unknown := sorted(self._wanted - FUNCTIONS):
            message = f"'{unknown[0]}' cannot be written out."
            hint = f"There are {listed(sorted(FUNCTIONS), 'and')}."
            return (Diagnostic("T041", message, place_near(schedule, self.call), hint=hint),)
        return ChangesCode.check(self, schedule, rules)

    def transform_code(self, code: Routine) -> Routine:
        """Return `code` with expanded functions."""
        return written_out(code, self._wanted)[0]

    def check_code(self, code: Routine) -> Reasons:
        """Return diagnostics for functions that cannot be expanded."""
        if not any(calls_of_functions(code, self._wanted)):
            return (nothing_to_do(code, f"calls no {listed(sorted(self._wanted))}"),)
        return written_out(code, self._wanted)[1]

    @property
    def _wanted(self) -> frozenset[str]:
        return frozenset(self.only.lower().split("+")) if self.only else FUNCTIONS
