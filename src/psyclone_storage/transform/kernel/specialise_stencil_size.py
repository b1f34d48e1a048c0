"""Kernel versions specialised for the number of columns of full stencils.

Shape and extent of a stencil determine the number of its columns if the mesh contains all of them.
At the edges of a limited-area domain there are fewer, which is known only at run time. The general
code therefore remains, and an additional version handles the full stencil. This version unrolls
sums over the columns, fused with adjacent loops over levels: a sum then stays in a register from
the first column to the last.

A compiler folds constants at compile time. If that could round differently from the run-time code,
as for powers and exponentials, no version is generated. Neither is it if a size or a column number
is part of a value: `x * y * w` has one product less if `w` is known to be 1, and fused multiply-add
then rounds another product. Sizes and numbers may select elements, and sums may be divided by a
size.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping

from psyclone_storage.analysis.bodies.accesses import written_names
from psyclone_storage.analysis.bodies.fp_contraction import is_product
from psyclone_storage.analysis.bodies.names import RoutineNames
from psyclone_storage.analysis.bodies.nests import CodeFootprint, footprints_of
from psyclone_storage.analysis.bodies.shapes import type_of_values
from psyclone_storage.analysis.footprints import check_fuse
from psyclone_storage.base.records import replace
from psyclone_storage.ir import expr as ex
from psyclone_storage.ir.interface import Dummy, Role
from psyclone_storage.ir.intrinsics import EXACT
from psyclone_storage.ir.kernel import StencilShape
from psyclone_storage.ir.keys import key_of
from psyclone_storage.ir.linking import linked
from psyclone_storage.ir.loops import addressed, following_loop, loops_of
from psyclone_storage.ir.operators import Operator
from psyclone_storage.ir.rewrite import (
    everywhere,
    expressions_of,
    names_in,
    substituted,
    walk_lines,
)
from psyclone_storage.ir.routine import Routine
from psyclone_storage.ir.schedule import KernelCall, Schedule
from psyclone_storage.ir.unit import Assign, Blank, Branch, Comment, Do, If, Line
from psyclone_storage.passes.loops import fuse_loops, rewrite_loop
from psyclone_storage.passes.nests import inner_of
from psyclone_storage.passes.scratch import INTEGER, constant

ColumnCounts = Mapping[str, int]
"""The numbers of columns of stencils, by the keys of the dummies that hold them."""

_MOST_COLUMNS = 16
"""More columns have more addresses than a processor has registers for."""
_MOST_LINES = 40
"""Kernels with more statements are not written twice."""
_LIKELY = (1, 2)
"""How far stencils reach, where only the running program knows."""


def full_sizes(call: KernelCall, schedule: Schedule, code: Routine) -> tuple[ColumnCounts, ...]:
    """Return the sizes of full stencils for which specialised versions are useful.

    There is one size if the algorithm gives a constant extent. If a single variable determines all
    extents, likely values are used.
    """
    pairs = zip(map(key_of, code.dummies), call.dummies, strict=False)
    sizes = {key: one for key, one in pairs if one.role is Role.STENCIL_SIZE and not one.rank}
    reaches = {key: _reach(call, dummy, schedule) for key, dummy in sizes.items()}
    if not reaches or None in reaches.values():
        return ()
    open_ones = {one for one in reaches.values() if isinstance(one, str)}
    if len(open_ones) > 1:
        return ()
    found = []
    for likely in _LIKELY if open_ones else (0,):
        columns = {
            key: _columns(call, dummy, likely if isinstance(reaches[key], str) else reaches[key])
            for key, dummy in sizes.items()
        }
        if all(2 <= count <= _MOST_COLUMNS for count in columns.values()):
            found.append(columns)
    return tuple(found)


def _reach(call: KernelCall, dummy: Dummy, schedule: Schedule) -> int | str | None:
    """Return the extent of a stencil: a constant, the text of a run-time expression, or None."""
    extent = None if dummy.arg is None else call.args[dummy.arg].extent
    if extent is None:
        return None
    known = next((one.actual for one in schedule.data if one.name == ex.canonical(extent)), extent)
    match known:
        case ex.Name(symbol=ex.Symbol(value=value, sort=ex.Sort.CONSTANT)) if value is not None:
            known = value
    number = ex.integer_value(known)
    return ex.canonical(extent) if number is None else number


def _columns(call: KernelCall, dummy: Dummy, reach: int | str | None) -> int:
    """Return the number of columns of a full stencil, including the centre."""
    assert isinstance(reach, int)
    assert dummy.arg is not None
    match call.kernel.args[dummy.arg].stencil:
        case StencilShape.X1D | StencilShape.Y1D | StencilShape.XORY1D:
            return 2 * reach + 1
        case StencilShape.CROSS:
            return 4 * reach + 1
        case StencilShape.REGION:
            return (2 * reach + 1) ** 2
    return 0


def with_versions(
    given: Routine,
    general: Routine,
    sizes: tuple[ColumnCounts, ...],
    sums: Callable[[Routine], Iterator[int]],
) -> Routine:
    """Return `general`, which was derived from `given`, with versions of `given` for `sizes`.

    `sums` returns the numbers of the accumulating loops, in order.
    """
    if not sizes or not _may_have_versions(given, sizes[0]):
        return general
    found = [(one, version) for one in sizes if (version := _version(given, one, sums))]
    if not found:
        return general
    branches = tuple(Branch(_is_full(given, one), version.body) for one, version in found)
    columns = tuple(tuple(one.values()) for one, _ in found)
    use = replace(general.kernel_use, columns=columns)
    changed = replace(general, body=(If(branches, general.body),), kernel_use=use)
    return linked(addressed(changed))


def _may_have_versions(code: Routine, sizes: Collection[str]) -> bool:
    """Return whether constants for `sizes` cannot change values, and the code is short."""
    lines = [line for line in walk_lines(code.body) if not isinstance(line, Comment | Blank)]
    if len(lines) > _MOST_LINES or not all(isinstance(line, Assign | Do | If) for line in lines):
        return False
    if any(isinstance(line, Do | If) and line.name for line in lines):
        return False
    if not written_names(code.body, RoutineNames(code)).isdisjoint(sizes):
        return False
    parts = [part for line in lines for expr in expressions_of(line) for part in ex.walk(expr)]
    return all(map(_is_exact, parts))


def _is_exact(part: ex.Expr) -> bool:
    if isinstance(part, ex.CallFunction):
        return ex.intrinsic_called(part) in EXACT
    return not (isinstance(part, ex.Binary) and part.op is Operator.POWER)


def _version(
    given: Routine, sizes: ColumnCounts, sums: Callable[[Routine], Iterator[int]]
) -> Routine | None:
    """Return `given` specialised for `sizes`, or None if no sum gains by that."""
    values = {key: _number(count, key, given) for key, count in sizes.items()}
    before = loops_of(given)
    body = everywhere(given.body, lambda expr: substituted(expr, values))
    code = linked(addressed(replace(given, body=body)))
    loops, targets = loops_of(code), frozenset[str]()
    numbers = [
        number
        for number in sums(code)
        if names_in(before[number - 1].stop) & sizes.keys() and _count(loops[number - 1])
    ]
    counters = {loops[number - 1].variable.key for number in numbers}
    sized = {number for number, one in enumerate(before, 1) if _bounds(one) & sizes.keys()}
    if not sized <= set(numbers) or not _only_address(given, sizes, counters):
        return None
    for number in reversed(numbers):
        targets |= _targets(loops[number - 1])
        code = with_unrolled(code, number)
    return _with_neighbours(code, targets) if targets else None


def _bounds(loop: Do) -> frozenset[str]:
    parts = [part for part in (loop.start, loop.stop, loop.step) if part is not None]
    return frozenset().union(*map(names_in, parts))


def _only_address(code: Routine, sizes: ColumnCounts, counters: Collection[str]) -> bool:
    """Return whether sizes and counters are used only as subscripts of arguments.

    Sizes may also be loop bounds and divisors.
    """
    for line in walk_lines(code.body):
        match line:
            case Assign(target, value):
                exprs = [target, value]
            case If(branches=branches):
                exprs = [one.condition for one in branches]
            case _:
                exprs = []
        if not all(_addresses(expr, sizes, counters, code) for expr in exprs):
            return False
    return True


def _addresses(
    expr: ex.Expr, sizes: ColumnCounts, counters: Collection[str], code: Routine
) -> bool:
    """Return whether sizes and counters in `expr` are used only as subscripts of arguments.

    Sizes may also be divisors: those of full stencils are odd, so that no compiler replaces the
    division by a multiplication. Subscripts of local arrays are not accepted, because their
    elements may be known at compile time.
    """
    if names_in(expr).isdisjoint((*sizes, *counters)):
        return True
    match expr:
        case ex.Element(ex.Name() as base, items):
            parts = [part for item in items for part in ex.walk(item)]
            return base.key in code.dummy_keys and all(map(_is_of_index, parts))
        case ex.Binary(Operator.DIVIDE, left, right) if _is_size(right, sizes):
            return _addresses(left, sizes, counters, code)
        case ex.Binary() | ex.Unary() | ex.Parenthesised() | ex.CallFunction():
            return all(_addresses(part, sizes, counters, code) for part in ex.children(expr))
    return False


def _is_of_index(part: ex.Expr) -> bool:
    if isinstance(part, ex.Binary):
        return part.op in (Operator.PLUS, Operator.MINUS, Operator.TIMES)
    return isinstance(part, ex.Name | ex.Element | ex.Literal | ex.Parenthesised)


def _is_size(expr: ex.Expr, sizes: ColumnCounts) -> bool:
    """Return whether `expr` is a size, possibly converted to real."""
    match expr:
        case ex.Name():
            return expr.key in sizes
        case ex.CallFunction(items=(ex.Name() as name, *_)) if ex.intrinsic_called(expr) == "real":
            return name.key in sizes
    return False


def _number(value: int, name: str, code: Routine) -> ex.Expr:
    return constant(value, type_of_values(ex.Name(name), code) or INTEGER)


def _is_full(code: Routine, sizes: ColumnCounts) -> ex.Expr:
    """Return the condition that stencils have `sizes`."""
    names = {key_of(name): name for name in code.dummies}
    tests: list[ex.Expr] = [
        ex.Binary(Operator.EQUAL, ex.Name(names[key]), _number(count, key, code))
        for key, count in sizes.items()
    ]
    condition = tests[0]
    for test in tests[1:]:
        condition = ex.Binary(Operator.AND, condition, test)
    return condition


def _count(loop: Do) -> int | None:
    """Return the number of iterations of a loop if it is known and small, otherwise None."""
    start, stop = ex.whole_number(loop.start), ex.integer_value(loop.stop)
    if start is None or stop is None or (loop.step and ex.whole_number(loop.step) != 1):
        return None
    return stop - start + 1 if 1 <= stop - start + 1 <= _MOST_COLUMNS else None


def with_unrolled(code: Routine, number: int) -> Routine:
    """Return `code` with loop `number` fully unrolled into its inner loop.

    The number of iterations is known, and `check_jam` has accepted the loop.
    """

    def unrolled(loop: Do) -> tuple[Line, ...]:
        inner, first = inner_of(loop), ex.whole_number(loop.start)
        assert first is not None
        copies: list[Line] = []
        for value in range(first, first + (_count(loop) or 0)):
            copies += _with_value(inner.body, loop.variable.key, value, code)
        return (replace(inner, body=tuple(copies)),)

    return rewrite_loop(code, number, unrolled)


def _with_value(lines: tuple[Line, ...], key: str, value: int, code: Routine) -> tuple[Line, ...]:
    values = {key: _number(value, key, code)}
    return everywhere(lines, lambda expr: substituted(expr, values))


# ---------------------------------------------------------------------------- loops next to sums


def _with_neighbours(code: Routine, targets: frozenset[str]) -> Routine:
    """Return `code` with adjacent loops fused that change the arrays `targets`."""
    number = 1
    while number <= len(loops_of(code)):
        code = linked(addressed(code))
        nest = footprints_of(code)[number - 1]
        if _may_join(nest, targets) and not check_fuse(nest, nest.following):
            code = fuse_loops(code, number)
        else:
            number += 1
    return code


def _may_join(nest: CodeFootprint, targets: frozenset[str]) -> bool:
    """Return whether a loop and the following one change the same elements.

    A product in the first loop must not be added to in the second, because a fused multiply-add
    rounds once less.
    """
    first, second = nest.line, following_loop(nest.flow.code, nest.line)
    if second is None or not _is_plain(first) or not _is_plain(second):
        return False
    shared = _targets(first) & _targets(second) & targets
    return bool(shared) and not any(
        is_product(line.value) for line in first.body if isinstance(line, Assign)
    )


def _is_plain(loop: Do) -> bool:
    return all(isinstance(line, Assign | Comment | Blank) for line in loop.body)


def _targets(loop: Do) -> frozenset[str]:
    """Return the arrays that statements in a loop assign."""
    lines = (line for line in walk_lines((loop,)) if isinstance(line, Assign))
    return frozenset(name for line in lines for name in _base(line.target))


def _base(target: ex.Expr) -> frozenset[str]:
    base = getattr(target, "base", None)
    return frozenset({base.key}) if isinstance(base, ex.Name) else frozenset()
