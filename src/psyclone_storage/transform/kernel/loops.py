"""Loops inside a kernel in another order: swapped, in tiles, in chunks, two as one, jammed.

Loops are counted from 1 in the order of the kernel's text. Whether another order gives the same
values is for `analysis.nests` to say.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import ClassVar

from psyclone_storage.analysis.bodies.flow import Flow, FlowNode, flow_of
from psyclone_storage.analysis.bodies.nests import (
    inner_loop,
    inner_node,
    may_fuse_loops,
    may_swap,
    not_plain,
)
from psyclone_storage.analysis.bodies.shapes import type_of
from psyclone_storage.base.diagnostic import Diagnostic, raise_if_any
from psyclone_storage.base.records import dataclass, replace
from psyclone_storage.base.source import Span
from psyclone_storage.ir.affine import (
    simplified,
)
from psyclone_storage.ir.code import KernelCode
from psyclone_storage.ir.expr import (
    Binary,
    Expr,
    Name,
    intrinsic,
    same,
    whole,
    whole_number,
)
from psyclone_storage.ir.loops import addressed, loops_of, with_lines_for
from psyclone_storage.ir.operators import Operator
from psyclone_storage.ir.rewrite import (
    blocks_of,
    everywhere,
    names_in,
    rewritten,
    substituted,
    unnamed,
    walk_lines,
)
from psyclone_storage.ir.rules import Rules
from psyclone_storage.ir.schedule import Schedule
from psyclone_storage.ir.unit import Blank, Comment, Do, Line
from psyclone_storage.ir.walk import place_near
from psyclone_storage.passes.scratch import INTEGER, Scratch
from psyclone_storage.transform.kernel.code import (
    check_body,
    check_each,
    coded_calls,
    placed,
    with_each,
)
from psyclone_storage.transform.step import Place, Reasons


@dataclass(frozen=True, slots=True)
class SwapInKernel:
    """Swap a loop in a kernel with the loop that is all of its body.

    Refused if a value goes from one iteration to a later one in a way that another order would
    change, or if that cannot be told; if the bounds of one loop depend on the other. `sums` is the
    user's word that what is only added to may get its terms in another order, which changes the
    sums by rounding.

    before: do i ... do j ... a(i, j)
    after:  do j ... do i ... a(i, j)
    """

    name: ClassVar[str] = "kernel-swap"

    call: str
    loop: int = 1
    sums: bool = False

    @classmethod
    def places(cls, schedule: Schedule) -> Iterator[Place]:
        """Yield every call of a kernel."""
        return coded_calls(schedule)

    def calls_to_read(self, schedule: Schedule) -> tuple[str, ...]:
        """Return the call."""
        return (self.call,)

    def check(self, schedule: Schedule, rules: Rules) -> Reasons:
        """Return all reasons against another order."""
        return check_loop(schedule, self.call, self.loop, partial(may_swap, sums=self.sums))

    def apply(self, schedule: Schedule, rules: Rules) -> Schedule:
        """Return the schedule with the changed kernel."""
        raise_if_any(self.check(schedule, rules))
        return with_each(schedule, self.call, lambda code: with_swapped(code, self.loop))


@dataclass(frozen=True, slots=True)
class StripMineInKernel:
    """Cut a loop in a kernel into chunks of `size` iterations, in the same order.

    before: do k = 1, n
    after:  do k_chunk = 1, n, 32; do k = k_chunk, min(k_chunk + 31, n)
    """

    name: ClassVar[str] = "kernel-chunk"

    call: str
    loop: int = 1
    size: int = 32

    @classmethod
    def places(cls, schedule: Schedule) -> Iterator[Place]:
        """Yield every call of a kernel."""
        return coded_calls(schedule)

    def calls_to_read(self, schedule: Schedule) -> tuple[str, ...]:
        """Return the call."""
        return (self.call,)

    def check(self, schedule: Schedule, rules: Rules) -> Reasons:
        """Return all reasons against chunks."""
        if self.size < 1:
            return (_no_size(self.size, place_near(schedule, self.call)),)
        return check_loop(schedule, self.call, self.loop, may_strip_mine)

    def apply(self, schedule: Schedule, rules: Rules) -> Schedule:
        """Return the schedule with the changed kernel."""
        raise_if_any(self.check(schedule, rules))
        return with_each(schedule, self.call, lambda code: with_chunks(code, self.loop, self.size))


@dataclass(frozen=True, slots=True)
class TileInKernel:
    """Run a loop in a kernel and the loop that is all of its body in tiles of `size` by `size`.

    Refused where the two must not be swapped, and where one does not count by one.

    before: do i = 1, n; do j = 1, m
    after:  do i_chunk; do j_chunk; do i in its chunk; do j in its chunk
    """

    name: ClassVar[str] = "kernel-tile"

    call: str
    loop: int = 1
    size: int = 32

    @classmethod
    def places(cls, schedule: Schedule) -> Iterator[Place]:
        """Yield every call of a kernel."""
        return coded_calls(schedule)

    def calls_to_read(self, schedule: Schedule) -> tuple[str, ...]:
        """Return the call."""
        return (self.call,)

    def check(self, schedule: Schedule, rules: Rules) -> Reasons:
        """Return all reasons against tiles."""
        if self.size < 1:
            return (_no_size(self.size, place_near(schedule, self.call)),)
        return check_loop(schedule, self.call, self.loop, may_tile)

    def apply(self, schedule: Schedule, rules: Rules) -> Schedule:
        """Return the schedule with the changed kernel."""
        raise_if_any(self.check(schedule, rules))
        return with_each(schedule, self.call, lambda code: with_tiles(code, self.loop, self.size))


@dataclass(frozen=True, slots=True)
class FuseInKernel:
    """Make one loop of a loop in a kernel and the loop right behind it, which has the same bounds.

    Refused if the second would read or change an element before the first has written it.

    before: do k = 1, n; a(k) = 1; end do; do k = 1, n; b(k) = a(k); end do
    after:  do k = 1, n; a(k) = 1; b(k) = a(k); end do
    """

    name: ClassVar[str] = "kernel-fuse"

    call: str
    loop: int = 1

    @classmethod
    def places(cls, schedule: Schedule) -> Iterator[Place]:
        """Yield every call of a kernel."""
        return coded_calls(schedule)

    def calls_to_read(self, schedule: Schedule) -> tuple[str, ...]:
        """Return the call."""
        return (self.call,)

    def check(self, schedule: Schedule, rules: Rules) -> Reasons:
        """Return all reasons against one loop."""
        return check_loop(schedule, self.call, self.loop, may_fuse_following)

    def apply(self, schedule: Schedule, rules: Rules) -> Schedule:
        """Return the schedule with the changed kernel."""
        raise_if_any(self.check(schedule, rules))
        return with_each(schedule, self.call, lambda code: with_fused(code, self.loop))


@dataclass(frozen=True, slots=True)
class JamInKernel:
    """Run `factor` iterations of a loop in a kernel together, in the loop that is all of its body.

    What the iterations share is then fetched and stored once for all of them (unroll and jam). What
    is left of the iterations follows in a loop of its own.

    Refused where the two loops must not be swapped, and where the outer one does not count by one.

    before: do s = 1, n; do k ...; a(k) = a(k) + b(k, s)
    after:  do s = 1, n - 1, 2; do k ...; a(k) = a(k) + b(k, s); a(k) = a(k) + b(k, s + 1); ...
            do s = n - mod(n, 2) + 1, n; do k ...; a(k) = a(k) + b(k, s)
    """

    name: ClassVar[str] = "kernel-jam"

    call: str
    loop: int = 1
    factor: int = 4

    @classmethod
    def places(cls, schedule: Schedule) -> Iterator[Place]:
        """Yield every call of a kernel."""
        return coded_calls(schedule)

    def calls_to_read(self, schedule: Schedule) -> tuple[str, ...]:
        """Return the call."""
        return (self.call,)

    def check(self, schedule: Schedule, rules: Rules) -> Reasons:
        """Return all reasons against iterations that run together."""
        if self.factor < 2:
            message = f"Two iterations or more run together, not {self.factor}."
            return (Diagnostic("T017", message, place_near(schedule, self.call)),)
        return check_loop(schedule, self.call, self.loop, may_jam)

    def apply(self, schedule: Schedule, rules: Rules) -> Schedule:
        """Return the schedule with the changed kernel."""
        raise_if_any(self.check(schedule, rules))
        return with_each(schedule, self.call, lambda code: with_jam(code, self.loop, self.factor))


# ---------------------------------------------------------------------------- finding


def check_loop(
    schedule: Schedule,
    uid: str,
    number: int,
    check: Callable[[FlowNode, Flow], Iterable[Diagnostic]],
    before: Callable[[Schedule, str], Reasons] = check_body,
) -> Reasons:
    """Return what `check` has against loop `number` of the kernel that `uid` calls.

    There may be no such loop (T064), or something `before` that. What has no place of its own is
    placed at the loop.
    """

    def reasons(code: KernelCode) -> Iterable[Diagnostic]:
        flow = flow_of(code)
        loops = flow.loops
        if 1 <= number <= len(loops):
            loop = loops[number - 1]
            return (placed(reason, place_of_loop(loop)) for reason in check(loop, flow))
        message = f"'{code.name}' has no loop {number}: it has {len(loops)}."
        return (Diagnostic("T064", message, code.module.routine),)

    return before(schedule, uid) or check_each(schedule, uid, reasons)


def following_loop(code: KernelCode, loop: Do) -> Do | None:
    """Return the loop that follows `loop` in its block, comments and empty lines between them."""
    for block in (
        code.body,
        *(block for line in walk_lines(code.body) for block in blocks_of(line)),
    ):
        for at, line in enumerate(block):
            if isinstance(line, Do) and line.address == loop.address:
                rest = (item for item in block[at + 1 :] if not isinstance(item, Comment | Blank))
                after = next(rest, None)
                return after if isinstance(after, Do) else None
    return None


def may_strip_mine(loop: FlowNode, flow: Flow) -> Iterator[Diagnostic]:
    """Yield why `loop` cannot be cut into chunks (T052, T063)."""
    line = _line(loop)
    place = line.place
    yield from not_plain(loop, flow)
    if line.step is not None and whole_number(line.step) != 1:
        message = f"The loop over '{line.variable.text}' does not count by one."
        yield Diagnostic("T063", message, place)
    changed = {variable[0] for variable in flow.body(loop).written}
    for name in sorted(names_in(line.stop) & changed):
        message = f"The loop over '{line.variable.text}' changes '{name}', which is in its bounds."
        yield Diagnostic("T063", message, place)
    if flow.is_read_later(loop, (line.variable.key,)):
        message = f"The value of '{line.variable.text}' is used after its loop."
        yield Diagnostic("T063", message, place)


def place_of_loop(loop: FlowNode) -> Span | None:
    """Return where an author wrote `loop`, None if a step has made it."""
    return _line(loop).place


def _line(loop: FlowNode) -> Do:
    assert isinstance(loop.line, Do)
    return loop.line


def may_tile(outer: FlowNode, flow: Flow) -> Reasons:
    """Return why `outer` and the loop inside of it cannot run in tiles (T052, T063)."""
    inner = inner_node(outer, flow)
    chunks = () if inner is None else (*may_strip_mine(outer, flow), *may_strip_mine(inner, flow))
    return tuple(dict.fromkeys((*may_swap(outer, flow), *chunks)))


def may_jam(outer: FlowNode, flow: Flow) -> Reasons:
    """Return why iterations of `outer` cannot share the loop inside of it (T052, T062, T063)."""
    return tuple(dict.fromkeys((*may_swap(outer, flow), *may_strip_mine(outer, flow))))


def may_fuse_following(first: FlowNode, flow: Flow) -> Reasons:
    """Return why `first` and the loop behind it cannot become one (T052, T063)."""
    line = _line(first)
    following = following_loop(flow.code, line)
    if following is None or not _same_bounds(line, following):
        message = f"No loop with the same bounds follows the one over '{line.variable.text}'."
        return (Diagnostic("T063", message, line.place),)
    second = next(
        one for one in flow.loops if one.number >= first.stop and one.around == first.around
    )
    for loop in (first, second):
        name = _line(loop).variable
        if flow.is_read_later(second, (name.key,)):
            message = f"The value of '{name.text}' is used after its loop."
            return (Diagnostic("T063", message, line.place),)
    return may_fuse_loops(first, second, flow)


def _no_size(size: int, place: Span | None) -> Diagnostic:
    message = f"A tile has at least one point in each direction, not {size}."
    return Diagnostic("T017", message, place)


def _same_bounds(first: Do, second: Do) -> bool:
    steps = (first.step or whole(1), second.step or whole(1))
    return same(first.start, second.start) and same(first.stop, second.stop) and same(*steps)


# ---------------------------------------------------------------------------- changing


def with_swapped(code: KernelCode, number: int) -> KernelCode:
    """Return `code` with loop `number` and the one inside of it swapped."""
    code = addressed(code)
    outer = loops_of(code)[number - 1]
    inner = inner_loop(outer)
    assert inner is not None
    new_inner = replace(outer, body=inner.body)
    return with_lines_for(code, {outer.address: (replace(inner, body=(new_inner,)),)})


def with_chunks(code: KernelCode, number: int, size: int) -> KernelCode:
    """Return `code` with loop `number` in chunks of `size`."""
    code = addressed(code)
    loop = loops_of(code)[number - 1]
    scratch = Scratch(code)
    around, inside = _strip_mined(loop, size, scratch)
    changed = with_lines_for(code, {loop.address: (replace(around, body=(inside,)),)})
    return replace(scratch.code, body=changed.body)


def with_tiles(code: KernelCode, number: int, size: int) -> KernelCode:
    """Return `code` with loop `number` and the one inside of it in tiles."""
    code = addressed(code)
    outer = loops_of(code)[number - 1]
    inner = inner_loop(outer)
    assert inner is not None
    scratch = Scratch(code)
    outer_around, outer_inside = _strip_mined(outer, size, scratch)
    inner_around, inner_inside = _strip_mined(inner, size, scratch)
    points = replace(outer_inside, body=(inner_inside,))
    tiles = replace(outer_around, body=(replace(inner_around, body=(points,)),))
    return replace(scratch.code, body=with_lines_for(code, {outer.address: (tiles,)}).body)


def with_fused(code: KernelCode, number: int) -> KernelCode:
    """Return `code` with loop `number` and the one behind it as one."""
    code = addressed(code)
    first = loops_of(code)[number - 1]
    second = following_loop(code, first)
    assert second is not None
    body = (*first.body, *_counting(second, first.variable).body)
    return with_lines_for(code, {first.address: (replace(first, body=body),), second.address: ()})


def with_jam(code: KernelCode, number: int, factor: int) -> KernelCode:
    """Return `code` with `factor` iterations of loop `number` in the loop inside of it."""
    code = addressed(code)
    outer = loops_of(code)[number - 1]
    inner = inner_loop(outer)
    assert inner is not None
    copies = tuple(
        line for shift in range(factor) for line in _shifted(inner.body, outer.variable, shift)
    )
    count = simplified(
        Binary(Operator.PLUS, Binary(Operator.MINUS, outer.stop, outer.start), whole(1))
    )
    left = intrinsic("mod", count, whole(factor))
    start = Binary(Operator.PLUS, Binary(Operator.MINUS, outer.stop, left), whole(1))
    stop = simplified(Binary(Operator.MINUS, outer.stop, whole(factor - 1)))
    together = Do(
        outer.variable,
        outer.start,
        stop,
        (replace(inner, body=copies),),
        whole(factor),
        address=outer.address,
    )
    rest = rewritten((replace(outer, start=start),), lambda line: (unnamed(line),))
    return with_lines_for(code, {outer.address: (together, *rest)})


def _shifted(lines: tuple[Line, ...], variable: Name, shift: int) -> tuple[Line, ...]:
    """Return `lines` as they are `shift` iterations later.

    A construct has its name in one copy alone.
    """
    later = {variable.key: Binary(Operator.PLUS, variable, whole(shift))} if shift else {}
    changed = everywhere(lines, lambda expr: substituted(expr, later))
    return rewritten(changed, lambda line: (unnamed(line),)) if shift else changed


def _strip_mined(loop: Do, size: int, scratch: Scratch) -> tuple[Do, Do]:
    """Return the loop over chunks, which is empty, and the loop inside of one."""
    kind = type_of(loop.variable, scratch.code) or INTEGER
    counter = scratch.variable(f"{loop.variable.text}_chunk", kind)
    last: Expr = Binary(Operator.PLUS, counter, whole(size - 1)) if size > 1 else counter
    stop = intrinsic("min", last, loop.stop)
    around = Do(counter, loop.start, loop.stop, (), whole(size))
    return around, Do(loop.variable, counter, stop, loop.body, name=loop.name, address=loop.address)


def _counting(loop: Do, variable: Name) -> Do:
    """Return `loop` with another counter."""
    values: dict[str, Expr] = {loop.variable.key: variable}
    body = everywhere(loop.body, lambda expr: substituted(expr, values))
    return replace(loop, variable=variable, body=body)
