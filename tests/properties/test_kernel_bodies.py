"""Random kernels compute the same before and after each accepted change.

A small interpreter of statements on NumPy arrays, without dependence analysis, is the reference.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

import numpy as np
from hypothesis import event, given, reject, settings
from hypothesis import strategies as st

from kernel_bodies import code_of
from pairwise import some_of
from psyclone_storage.analysis.bodies.nests import footprints_of
from psyclone_storage.analysis.footprints import check_fuse, check_parallel, check_swap
from psyclone_storage.ir.expr import Binary, Expr, Index, Keyword, Literal, Name, Range, Unary
from psyclone_storage.ir.operators import AnyOperator, Operator
from psyclone_storage.ir.rewrite import walk_lines
from psyclone_storage.ir.routine import Routine
from psyclone_storage.ir.unit import Assign, Declare, Do, If, Line
from psyclone_storage.passes.hoist import hoist_assignments, hoist_bounds
from psyclone_storage.passes.loops import (
    fuse_loops,
    jam_loops,
    loops_of,
    strip_mine_loop,
    swap_loops,
    tile_loops,
)
from psyclone_storage.passes.scalarise import check_assignment, scalarise_assignments
from psyclone_storage.transform.kernel.intrinsics import FUNCTIONS, written_out
from psyclone_storage.transform.kernel.vertical_reductions import over_levels

SIZE = 9
Memory = dict[str, np.ndarray]

# ---------------------------------------------------------------------------- the interpreter

_FUNCTIONS: dict[str, Callable[..., object]] = {
    "abs": np.abs,
    "min": min,
    "max": max,
    "sum": np.sum,
    "product": np.prod,
    "maxval": np.max,
    "minval": np.min,
    "dot_product": np.dot,
    "matmul": np.matmul,
    "sign": np.copysign,
    "mod": np.fmod,
}
_OPERATORS: dict[AnyOperator, Callable[[object, object], object]] = {
    Operator.PLUS: np.add,
    Operator.MINUS: np.subtract,
    Operator.TIMES: np.multiply,
    Operator.DIVIDE: lambda left, right: left // right,
    Operator.LESS: np.less,
    Operator.LESS_EQUAL: np.less_equal,
    Operator.GREATER: np.greater,
    Operator.EQUAL: np.equal,
    Operator.AND: np.logical_and,
}


def value_of(expr: Expr, memory: Memory) -> np.ndarray:
    match expr:
        case Literal(text):
            return np.array(int(text.partition("_")[0].partition(".")[0]))
        case Name(text):
            return memory[text].copy()
        case Index(Name(text), items) if text in memory:
            return memory[text][place(items, memory)].copy()
        case Index(Name(text), items):
            return np.array(_FUNCTIONS[text](*(value_of(item, memory) for item in items)))
        case Unary(Operator.MINUS, operand):
            return -value_of(operand, memory)
        case Binary(op, left, right):
            return np.array(_OPERATORS[op](value_of(left, memory), value_of(right, memory)))
        case Keyword(_, value):
            return value_of(value, memory)
    raise AssertionError(expr)


def place(items: tuple[Expr, ...], memory: Memory) -> tuple[int | slice, ...]:
    return tuple(_subscript(item, memory) for item in items)


def _subscript(item: Expr, memory: Memory) -> int | slice:
    if not isinstance(item, Range):
        index = int(value_of(item, memory)) - 1
        assert 0 <= index < SIZE
        return index
    start = 1 if item.lower is None else int(value_of(item.lower, memory))
    stop = SIZE if item.upper is None else int(value_of(item.upper, memory))
    return slice(start - 1, stop)


def run(lines: Iterable[Line], memory: Memory) -> None:
    for line in lines:
        match line:
            case Assign(Name(text), value):
                memory[text][...] = value_of(value, memory)
            case Assign(Index(Name(text), items), value):
                memory[text][place(items, memory)] = value_of(value, memory)
            case Do():
                step = 1 if line.step is None else int(value_of(line.step, memory))
                start, stop = (int(value_of(one, memory)) for one in (line.start, line.stop))
                for number in range(start, stop + (1 if step > 0 else -1), step):
                    memory[line.variable.text][...] = number
                    run(line.body, memory)
            case If(branches, otherwise):
                found = (one.body for one in branches if value_of(one.condition, memory))
                run(next(found, otherwise), memory)
            case _:
                raise AssertionError(line)


def outcome(code: Routine) -> Memory:
    """Return the arrays as a kernel leaves them; all numbers are whole, so that sums are exact."""
    random = np.random.default_rng(7)
    memory: Memory = {}
    for item in code.declarations:
        if isinstance(item, Declare):
            extents = (SIZE,) * len(item.shape)
            memory[item.name] = random.integers(-3, 4, extents).astype(np.int64)
    run(code.body, memory)
    return {name: memory[name] for name in ("a", "b", "s")}


# ---------------------------------------------------------------------------- random kernels

DECLARATIONS = "integer :: a(9, 9), b(9, 9), s(9)\ninteger :: i, j, k, t"
near = st.integers(-1, 1)


def shifted(name: str, by: int) -> str:
    return name if by == 0 else f"{name} {'+' if by > 0 else '-'} {abs(by)}"


near_points = st.tuples(near, near).map(
    lambda it: f"a({shifted('i', it[0])}, {shifted('j', it[1])})"
)
subscripts = st.sampled_from(["i", "j", "k"]).flatmap(lambda it: near.map(lambda n: shifted(it, n)))
any_points = st.tuples(st.sampled_from("ab"), subscripts, subscripts).map(
    lambda it: f"{it[0]}({it[1]}, {it[2]})"
)
elements = st.one_of(near_points, near_points, near_points, any_points)
values = st.one_of(
    near_points, elements, st.sampled_from(["t", "s(i)", "s(j)", "2", "max(t, 1)", "abs(t)"])
)
assignments = st.one_of(
    st.tuples(near_points, near_points).map(lambda it: f"{it[0]} = {it[1]} - 1"),
    st.tuples(elements, values, values).map(lambda it: f"{it[0]} = {it[1]} - {it[2]}"),
    values.map(lambda value: f"t = {value}"),
    st.tuples(st.sampled_from("ij"), near).map(lambda it: f"k = {shifted(*it)}"),
    st.tuples(st.sampled_from("ij"), values).map(lambda it: f"s({it[0]}) = {it[1]}"),
)
blocks = st.lists(assignments, min_size=1, max_size=3).map("\n".join)
steps = st.sampled_from(["3, 7", "7, 3, -1", "4, 6"])


@st.composite
def nests(draw: st.DrawFn) -> str:
    outer, inner = draw(steps), draw(steps)
    return f"do j = {outer}\ndo i = {inner}\n{draw(blocks)}\nend do\nend do"


@st.composite
def pairs(draw: st.DrawFn) -> str:
    bounds = draw(steps)
    first, second = draw(blocks), draw(blocks)
    return f"do i = {bounds}\n{first}\nend do\ndo i = {bounds}\n{second}\nend do"


def kernel(text: str) -> Routine:
    return code_of(f"i = 3\nj = 4\nk = 5\nt = 1\n{text}", DECLARATIONS, "a, b, s")


def same(first: Routine, second: Routine) -> None:
    before, after = outcome(first), outcome(second)
    for name, array in before.items():
        np.testing.assert_array_equal(after[name], array, err_msg=name)


@settings(max_examples=some_of(150))
@given(nests())
def test_loops_that_may_swap_may_swap(text: str) -> None:
    code = kernel(text)
    refused = bool(check_swap(footprints_of(code)[0]))
    event(f"swap refused: {refused}")
    if not refused:
        same(code, swap_loops(code, 1))
        if ", -1" not in text:
            same(code, tile_loops(code, 1, 2, 3))
            same(code, jam_loops(code, 1, 2))
            same(code, jam_loops(code, 1, 3))


@settings(max_examples=some_of(150))
@given(nests(), st.permutations(range(5)))
def test_iterations_that_may_be_parallel_have_no_order(text: str, order: list[int]) -> None:
    code = kernel(text)
    loop = loops_of(code)[0]
    refused = bool(check_parallel(footprints_of(code)[0]))
    event(f"parallel refused: {refused}")
    if refused:
        return
    before = code.body[:-1]
    iterations = tuple(Do(loop.variable, point, point, loop.body) for point in _points(loop, order))
    same(code, replace(code, body=(*before, *iterations)))


def _points(loop: Do, order: list[int]) -> list[Expr]:
    start, stop = (int(value_of(one, {})) for one in (loop.start, loop.stop))
    step = 1 if loop.step is None else -1
    numbers = list(range(start, stop + step, step))
    return [
        Literal(str(numbers[at]), loop.start.intrinsic)
        for at in order
        if at < len(numbers) and isinstance(loop.start, Literal)
    ]


@settings(max_examples=some_of(150))
@given(pairs())
def test_loops_that_may_fuse_may_fuse(text: str) -> None:
    code = kernel(text)
    refused = bool(check_fuse(*footprints_of(code)))
    event(f"fusion refused: {refused}")
    if not refused:
        same(code, fuse_loops(code, 1))


@settings(max_examples=some_of(100))
@given(nests())
def test_hoisting_chunks_and_functions_change_nothing(text: str) -> None:
    code = kernel(text)
    same(code, hoist_assignments(code))
    same(code, hoist_bounds(code))
    if ", -1" not in text:
        same(code, strip_mine_loop(code, 2, 2))
    changed, reasons = written_out(code, FUNCTIONS)
    assert not reasons
    same(code, changed)


sections = st.tuples(st.sampled_from("ab"), st.integers(1, 4), st.integers(1, 4)).map(
    lambda it: f"{it[0]}({it[1]}:{it[1] + 4}, {it[2]}:{it[2] + 3})"
)
array_values = st.one_of(
    sections, st.sampled_from(["3", "sum(a)", "maxval(b(2:4, 3))", "abs(b(2:6, 2:5))"])
)


@settings(max_examples=some_of(100))
@given(st.lists(st.tuples(sections, array_values, array_values), min_size=1, max_size=3))
def test_array_assignments_as_loops(lines: list[tuple[str, str, str]]) -> None:
    text = "\n".join(f"{target} = {one} + {other}" for target, one, other in lines)
    code = kernel(text)
    assignments = [line for line in code.body if isinstance(line, Assign)]
    refused = any(check_assignment(line, code) for line in assignments)
    event(f"loops refused: {refused}")
    if not refused:
        same(code, scalarise_assignments(code))


MAP = "s(2) = 3\ns(3) = 1\ns(4) = 2\ns(5) = 3"
heads = st.tuples(
    st.sampled_from("kt"), st.sampled_from(["s(j)", "s(i)", "j", "i - 1", "s(t)", "s(k)"])
).map(lambda it: f"{it[0]} = {it[1]}")
columns = st.tuples(st.sampled_from("ab"), st.sampled_from("kt2"), st.sampled_from("ij1")).map(
    lambda it: f"{it[0]}({it[1]}:{it[1]} + 2, {it[2]})"
)
sums = st.tuples(columns, columns, columns).map(lambda it: f"{it[0]} = {it[1]} + {it[0]} * {it[2]}")


@st.composite
def sums_in_nests(draw: st.DrawFn) -> str:
    outer = draw(st.lists(heads, max_size=2))
    inner = draw(st.lists(heads, max_size=1))
    more = draw(st.sampled_from(["", "", "", "", "t = 2", "k = 2", "s(3) = 2"]))
    later = draw(st.sampled_from(["", "", "", "s(1) = t", "s(1) = k"]))
    body = "\n".join(("do i = 2, 4", *inner, draw(sums), more, "end do"))
    text = "\n".join((MAP, "k = 1", "t = 1", "do j = 2, 4", *outer, body, "end do", later))
    return "\n".join(filter(None, text.splitlines()))


@settings(max_examples=some_of(100))
@given(sums_in_nests())
def test_sums_over_levels_as_loops(text: str) -> None:
    code = kernel(text)
    changed = over_levels(code)
    lost = len([*walk_lines(code.body)]) - len([*walk_lines(changed.body)])
    event(f"loops: {len(loops_of(changed))}, statements lost: {lost}")
    try:
        outcome(code)
    except (AssertionError, ValueError):
        # An index has come out of its bounds.
        reject()
    same(code, changed)
