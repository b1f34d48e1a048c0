"""Loops of small random routines: each one said to be parallel is run in other orders.

A long campaign: `LOOP_EXAMPLES=20000 pytest tests/properties/test_loop_independence.py`.
"""

from __future__ import annotations

import os
import random
import re
from collections import Counter

import numpy as np
from hypothesis import HealthCheck, event, given, seed, settings
from hypothesis import strategies as st

from kernel_bodies import code_in, kernel_module
from loop_machine import (
    Machine,
    Order,
    OutOfBoundsError,
    UndefinedError,
    check_any_order,
    is_parallel,
    memory_of,
    orders,
)
from pairwise import some_of
from psyclone_storage.analysis.bodies.coverage import Coverage
from psyclone_storage.analysis.bodies.flow import flow_of
from psyclone_storage.analysis.bodies.independence import (
    Independence,
    independence_of,
    is_own_array,
)
from psyclone_storage.ir.expr import Name
from psyclone_storage.ir.routine import Routine
from psyclone_storage.ir.unit import Do

SIZE = 24
DECLARED = """integer :: a(24), b(24, 24), out(24), n, m
integer :: i, j, k, jiv, t, u, s, tmp(24), work(24)
type(parts) :: d, e"""
HEAD = """type :: parts
  integer :: x(24)
  integer :: y(24)
  integer :: z
end type parts"""
FUNCTION = """pure integer function twice(value)
  integer, intent(in) :: value
  twice = 2 * value + state
end function twice"""
KEPT = ("a", "b", "out", "d%x", "d%y", "d%z", "e%x", "e%y", "e%z", "state")

# ---------------------------------------------------------------------------- random routines


def _shifted(name: str, by: int) -> str:
    return name if by == 0 else f"{name} {'+' if by > 0 else '-'} {abs(by)}"


counters = st.sampled_from(["i", "i", "i", "j"])
near = st.integers(-2, 2)
offsets = st.tuples(counters, near).map(lambda it: _shifted(*it))
subscripts = st.one_of(
    offsets,
    offsets,
    st.just("i"),
    st.sampled_from(["jiv", "jiv + 1", "i + n", "n + 1 - i", "2 * i", "2 * i - 1", "2*i + 1"]),
    st.sampled_from(["m * (i - 1) + j", "i + j", "3 * i - j", "1", "n", "m", "out(i)", "i/2 + 1"]),
    st.sampled_from(["k", "i + m", "2*j + i", "n*i + j"]),
)
sections = st.sampled_from(["1:n", "n + 1:2*n", "i:i", "1:i", "i + 1:n + 1", "1:4", ":", "1:3:2"])
arrays = st.sampled_from(["a", "a", "out", "d%x", "d%y", "e%x", "tmp", "tmp", "work"])
elements = st.one_of(
    st.tuples(arrays, subscripts).map(lambda it: f"{it[0]}({it[1]})"),
    st.tuples(subscripts, subscripts).map(lambda it: f"b({it[0]}, {it[1]})"),
    st.tuples(st.sampled_from(["a", "tmp", "d%x"]), st.just("j")).map(lambda it: f"{it[0]}(j)"),
)
scalars = st.sampled_from(["t", "t", "u", "s", "d%z"])
own = st.sampled_from(
    "a(i);a(i + 1);b(i, j);b(j, i);b(i, 1);d%x(i);d%y(i);out(i + n);a(2*i)".split(";")
)
values = st.one_of(
    own,
    elements,
    st.tuples(subscripts).map(lambda it: f"e%x({it[0]})"),
    st.tuples(subscripts).map(lambda it: f"e%y({it[0]})"),
    scalars,
    st.sampled_from(["1", "i", "j", "state"]),
    elements.map(lambda text: f"twice({text})"),
    st.tuples(arrays, st.just("1")).map(lambda it: f"{it[0]}({it[1]})"),
)
sums = st.tuples(values, st.sampled_from("+-"), values).map(" ".join)
targets = st.one_of(own, own, own, elements, scalars)
plain = st.tuples(targets, st.one_of(values, sums)).map(" = ".join)
reductions = st.one_of(
    st.tuples(st.sampled_from(["s", "u", "a(j)", "d%z"]), st.sampled_from("+-*"), values).map(
        lambda it: f"{it[0]} = {it[0]} {it[1]} {it[2]}"
    ),
    st.tuples(st.sampled_from(["max", "min"]), values).map(lambda it: f"s = {it[0]}(s, {it[1]})"),
    values.map(lambda value: f"if (s < {value}) s = {value}"),
)
indices = st.sampled_from(["jiv = i + 1", "jiv = j", "jiv = i + n", "jiv = 2 * i", "k = i"])
ranges = st.tuples(st.sampled_from(["a", "tmp", "d%x", "out"]), sections, values).map(
    lambda it: f"{it[0]}({it[1]}) = {it[2]}"
)
whole = st.tuples(st.sampled_from(["tmp", "work", "a"]), values).map(" = ".join)
jumps = values.map(lambda value: f"if ({value} > 2) cycle")
exits = values.map(lambda value: f"if ({value} > 5) exit")
lines = st.one_of(plain, plain, plain, reductions, indices, ranges, whole, jumps)
some = st.lists(lines, min_size=1, max_size=3).map("\n".join)
bounds = st.sampled_from(["1, n", "1, m", "1, 4", "i, n", "1, i", "i + 1, n", "n, 1, -1", "3, 2"])
inner = st.tuples(bounds, st.one_of(some, st.tuples(some, exits).map("\n".join))).map(
    lambda it: f"do j = {it[0]}\n{it[1]}\nend do"
)
chosen = st.tuples(values, some, some).map(
    lambda it: f"if ({it[0]} > 2) then\n{it[1]}\nelse\n{it[2]}\nend if"
)
fills = st.tuples(st.sampled_from(["1, n", "1, m", "1, 6"]), values).map(
    lambda it: f"do j = {it[0]}\ntmp(j) = {it[1]}\nend do"
)
bodies = st.lists(st.one_of(lines, lines, inner, inner, fills, chosen), min_size=1, max_size=4).map(
    "\n".join
)
outer = st.sampled_from(["1, n", "2, n", "n, 1, -1", "1, n, 2", "1, m", "3, 6"])
after = st.sampled_from(["", "", "", "out(1) = t", "out(2) = tmp(2)", "out(3) = s", "out(4) = i"])


@st.composite
def routines(draw: st.DrawFn) -> str:
    """A loop, in another loop at times, and what comes after it."""
    loop = f"do i = {draw(outer)}\n{draw(bodies)}\nend do\n{draw(after)}"
    if draw(st.integers(0, 5)) == 0:
        return f"do k = 1, 2\n{loop}\na(k) = a(k) + tmp(k)\nend do"
    return loop


def routine(text: str) -> Routine:
    given = kernel_module(f"{text}", DECLARED, "a, b, out, n, m, d, e", f"{HEAD}\ninteger :: state")
    head, tail = given.rsplit("end module", 1)
    return code_in(f"{head}{FUNCTION}\nend module{tail}")


# ---------------------------------------------------------------------------- what is asked


def machine(code: Routine, number: int) -> Machine:
    memory = memory_of(code, SIZE, number)
    memory["n"][...], memory["m"][...] = 6, 3
    made = Machine(memory)
    made.functions = {
        "twice": lambda value: 2 * value + made.value(Name("state")),
        "max": np.maximum,
        "min": np.minimum,
    }
    return made


def asked(code: Routine) -> Independence:
    """Return what is known about the loop over `i`."""
    flow = flow_of(code)
    node = next(
        one for one in flow.loops if isinstance(one.line, Do) and one.line.variable.text == "i"
    )
    return independence_of(node, flow)


def proven(text: str) -> str:
    """Return what is said about a loop, after having proven it if that is a yes.

    A routine whose subscripts leave an array, or whose loops do not end, proves nothing.
    """
    code = routine(text)
    verdict = asked(code)
    if verdict.reasons:
        return "no"
    for number in range(2):
        expected = machine(code, number)
        try:
            expected.run(code.body)
        except (OutOfBoundsError, UndefinedError, OverflowError):
            return "yes, not run"
        for order in orders(np.random.default_rng(number)):
            found = machine(code, number)

            def other(loop: Do, run: Machine = found, how: Order = order) -> None:
                check_any_order(run, loop, verdict, how)

            found.instead = {"i": other}
            found.run(code.body)
            for name in KEPT:
                np.testing.assert_array_equal(
                    found.memory[name], expected.memory[name], err_msg=f"{name}\n{text}"
                )
    return "yes"


def verdicts(code: Routine, rng: random.Random) -> dict[tuple[object, ...], object]:
    """Return the answers to all questions about the loops of a routine, in any order."""
    flow = flow_of(code)
    variables = [(name,) for name in ("a", "b", "out", "tmp", "work")]
    questions = [(node, one) for node in flow.loops for one in (None, *variables)]
    rng.shuffle(questions)
    found: dict[tuple[object, ...], object] = {}
    for node, variable in questions:
        if variable is None:
            found[node.number, None] = independence_of(node, flow)
            continue
        items = [*flow.items_of(variable[0])]
        rng.shuffle(items)
        own = Coverage(flow, variable).is_own(node, items)
        found[node.number, variable] = own, is_own_array(variable, node, flow)
    return found


EXAMPLES = int(os.environ.get("LOOP_EXAMPLES", some_of(250)))
ANY_TIME = {"deadline": None, "suppress_health_check": list(HealthCheck), "database": None}


@seed(int(os.environ.get("LOOP_SEED", "20261122")))
@settings(max_examples=EXAMPLES, **ANY_TIME)
@given(routines())
def test_a_loop_that_is_said_to_be_parallel_is(text: str) -> None:
    event(f"said to be parallel: {proven(text)}")


def associated(text: str, names: frozenset[str]) -> str:
    """Return a routine in which the body of the loop over `i` gives other names to variables."""
    lines = text.split("\n")
    start = next(at for at, line in enumerate(lines) if line.startswith("do i ="))
    depth = stop = 0
    for at in range(start, len(lines)):
        depth += len(re.findall(r"^(?:do |.*: *do )", lines[at]))
        depth -= lines[at].startswith(("end do", "enddo"))
        if depth == 0:
            stop = at
            break
    inside = "\n".join(lines[start + 1 : stop])
    pairs = ", ".join(f"p_{name} => {name}" for name in sorted(names))
    for name in names:
        inside = re.sub(rf"(?<![%\w]){name}\b", f"p_{name}", inside)
    return "\n".join((*lines[: start + 1], f"associate ({pairs})", inside, "end associate",
                      *lines[stop:]))  # fmt: skip


@seed(int(os.environ.get("LOOP_SEED", "20261122")))
@settings(max_examples=EXAMPLES, **ANY_TIME)
@given(routines(), st.frozensets(st.sampled_from(["a", "b", "t", "tmp", "k", "d"]), min_size=1))
def test_an_associate_makes_no_loop_parallel(text: str, names: frozenset[str]) -> None:
    plain, found = asked(routine(text)), asked(routine(associated(text, names)))
    event(f"parallel: {not found.reasons}")
    if not found.reasons:
        assert plain.reasons == ()
        assert set(plain.private) <= set(found.private)


@seed(int(os.environ.get("LOOP_SEED", "20261122")))
@settings(max_examples=EXAMPLES, **ANY_TIME)
@given(routines(), st.integers(0, 10**6))
def test_verdicts_do_not_depend_on_the_order_of_questions(text: str, number: int) -> None:
    code, rng = routine(text), random.Random(number)
    assert verdicts(code, rng) == verdicts(code, rng)


def is_parallel_for_some_values(text: str) -> bool:
    """Return whether the loop is parallel for two sets of values, with which it can be run."""
    code = routine(text)
    found: list[bool] = []
    for number in range(2):
        made = machine(code, number)
        made.instead = {"i": lambda loop, run=made: found.append(is_parallel(run, loop, KEPT))}
        try:
            made.run(code.body)
        except (OutOfBoundsError, UndefinedError, OverflowError):
            return False
    return bool(found) and all(found)


def test_most_parallel_loops_are_said_to_be() -> None:
    """Of the loops that are parallel with two sets of values, count those that are known to be.

    Some that are refused are parallel by luck of the values alone.
    """
    counted: Counter[bool] = Counter()

    @seed(7)
    @settings(max_examples=some_of(400), **ANY_TIME)
    @given(routines())
    def count(text: str) -> None:
        if is_parallel_for_some_values(text):
            counted[not asked(routine(text)).reasons] += 1

    count()
    assert counted[True] >= 0.15 * counted.total() >= 4, counted
