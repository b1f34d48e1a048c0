"""Which loops inside a kernel may run in another order, and why not.

Two accesses to one array depend on each other if a pair of iterations touches the same element.
Per dimension, subscripts that are sums of one loop's counter and the same other terms give the
distance between the two iterations; scalars that hold an index are seen through first. What cannot
be told counts as a dependence, so that it is refused (PSyclone misses `jiv = j + 1; a(jiv)`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from psyclone_storage.analysis.bodies.affine import Sum, sum_of
from psyclone_storage.analysis.bodies.flow import (
    Touch,
    always_set,
    carried_scalars,
    copy_propagated,
    counters_after_loops,
    read_names,
    touches,
    unknown_lines,
    unknown_procedures,
    upward_exposed,
    written_names,
)
from psyclone_storage.analysis.bodies.shapes import declaration_of
from psyclone_storage.base.diagnostic import Diagnostic
from psyclone_storage.base.names import listed
from psyclone_storage.ir.code import KernelCode
from psyclone_storage.ir.expr import Binary, Expr, Index, Name, Range, same
from psyclone_storage.ir.rewrite import blocks_of, expressions_of, names_in, walk_lines
from psyclone_storage.ir.unit import (
    Allocate,
    Assign,
    Blank,
    Comment,
    Deallocate,
    Do,
    DoConcurrent,
    Forall,
    Goto,
    Line,
    PointerAssign,
    While,
)

Reasons = tuple[Diagnostic, ...]

_LOOPS = Do | While | DoConcurrent | Forall


@dataclass(frozen=True, slots=True)
class Dependence:
    """Two accesses to an array in one loop nest, the second of which may depend on the first.

    `distances` are, for each counter, by how much it is larger when the element is touched by the
    second access; None where that is not known.
    """

    name: str
    distances: Mapping[str, int | None]


def dependences(
    lines: tuple[Line, ...], counters: tuple[str, ...], code: KernelCode
) -> Iterator[Dependence]:
    """Yield the dependences between array elements in `lines`, the body of loops over `counters`.

    `counters` are in lower case.
    """
    clear = copy_propagated(lines, code)
    varying = written_names(clear, code) - set(counters)
    found = [touch for touch in touches(clear, code) if _is_array(touch, code)]
    for first, second in product(found, repeat=2):
        if not (first.writes or second.writes):
            continue
        if first.name != second.name and not _may_be_one(first.name, second.name, code):
            continue
        distances = _distances(first, second, counters, varying)
        if distances is not None:
            yield Dependence(first.name, distances)


def _is_array(touch: Touch, code: KernelCode) -> bool:
    declared = declaration_of(code, touch.name)
    return touch.subscripts is not None or declared is None or bool(declared.shape)


def _may_be_one(first: str, second: str, code: KernelCode) -> bool:
    """Return whether two names may stand for the same data: pointers and their targets."""
    words = [_attributes(name, code) for name in (first, second)]
    return all({"pointer", "target"} & found for found in words) and any(
        "pointer" in found for found in words
    )


def _attributes(name: str, code: KernelCode) -> set[str]:
    declared = declaration_of(code, name)
    return set() if declared is None else {word.lower() for word in declared.attributes}


def _distances(
    first: Touch, second: Touch, counters: tuple[str, ...], varying: frozenset[str]
) -> Mapping[str, int | None] | None:
    """Return the distances at which two accesses touch one element, None if they never do."""
    distances: dict[str, int | None] = dict.fromkeys(counters)
    if first.name != second.name or first.subscripts is None or second.subscripts is None:
        return distances
    if len(first.subscripts) != len(second.subscripts):
        return distances
    for one, other in zip(first.subscripts, second.subscripts, strict=True):
        told = _compared(one, other, counters, varying)
        if told is None:
            continue
        name, distance = told
        if name and distances[name] is None:
            distances[name] = distance
        elif distance != (distances[name] if name else 0):
            return None
    return distances


_NEVER = ("", 1)


def _compared(
    first: Expr, second: Expr, counters: tuple[str, ...], varying: frozenset[str]
) -> tuple[str, int] | None:
    """Return what one dimension tells: a counter and its distance, or nothing.

    Without a counter a distance other than 0 means that the subscripts are never equal.
    """
    if isinstance(first, Range) or isinstance(second, Range):
        return None
    one, other = sum_of(first), sum_of(second)
    if _is_unclear(one, counters, varying) or _is_unclear(other, counters, varying):
        return None
    factors = {name: one.factor(name) for name in counters if one.factor(name)}
    if factors != {name: other.factor(name) for name in counters if other.factor(name)}:
        return None
    apart = one.minus(other).known
    if apart is None or len(factors) > 1:
        return None
    if not factors:
        return ("", apart)
    ((name, factor),) = factors.items()
    return _NEVER if apart % factor else (name, apart // factor)


def _is_unclear(total: Sum, counters: tuple[str, ...], varying: frozenset[str]) -> bool:
    """Return whether a term changes in the loops in a way that is not a multiple of a counter."""
    return any(
        names_in(term) & (varying | set(counters))
        for key, term in total.terms.items()
        if key not in counters
    )


# ---------------------------------------------------------------------------- orders


def may_parallelise(loop: Do, code: KernelCode) -> Reasons:
    """Return why the iterations of `loop` must not run at the same time (T052, T062).

    Scalars that each iteration sets before it reads them are no hindrance: a thread has its own,
    unless something reads what the last iteration has left.
    """
    counter = loop.variable.lower()
    problems = [*not_understood(loop.body, code), *_carried(loop, code)]
    left = {*own_scalars(loop, code), counter} & _read_later(loop, code)
    problems += [_scalar_reason(loop, name) for name in sorted(left)]
    blocking = sorted(
        {item.name for item in dependences(loop.body, (counter,), code) if item.distances[counter]
         is None or item.distances[counter]}
    )  # fmt: skip
    problems += [_element_reason(loop, name) for name in blocking]
    return tuple(problems)


def own_scalars(loop: Do, code: KernelCode) -> tuple[str, ...]:
    """Return the scalars that iterations of `loop` set, but for its counter."""
    written = _plain(written_names(loop.body, code), code)
    return tuple(sorted(written - {loop.variable.lower()}))


def _read_later(loop: Do, code: KernelCode) -> frozenset[str]:
    """Return the names that may be read after `loop` with a value from it, dummies included."""

    def after(lines: Sequence[Line]) -> frozenset[str] | None:
        for at, line in enumerate(lines):
            rest = upward_exposed(lines[at + 1 :], code)
            if line is loop:
                return rest
            for block in blocks_of(line):
                inside = after(block)
                if inside is not None:
                    again = upward_exposed(block, code) if isinstance(line, _LOOPS) else frozenset()
                    return inside | again | rest
        return None

    found = after(code.body) or frozenset()
    if any(isinstance(line, Goto) for line in walk_lines(code.body)):
        found |= read_names(code.body, code)
    return found | {name.lower() for name in code.dummies}


def may_swap(loop: Do, code: KernelCode, *, sums: bool = False) -> Reasons:
    """Return why `loop` and the loop that is all of its body must not change places.

    With `sums`, elements to which the loops do nothing but add may get their terms in another
    order, which changes the sums by rounding. T052, T062, T063.
    """
    inner = inner_loop(loop)
    if inner is None:
        return (_not_nested(loop),)
    problems = [*not_understood(loop.body, code), *_bounds_depend(loop, inner, code)]
    problems += [*_carried(loop, code), *_left_behind(loop, code)]
    counters = (loop.variable.lower(), inner.variable.lower())
    signs = [_direction(loop), _direction(inner)]
    blocking = {
        item.name
        for item in dependences(inner.body, counters, code)
        if _is_turned([item.distances[name] for name in counters], signs)
    }
    if sums:
        blocking -= _only_added_to(inner.body, code)
    return (*problems, *(_element_reason(loop, name) for name in sorted(blocking)))


def may_tile(loop: Do, code: KernelCode) -> Reasons:
    """Return why `loop`, or it and the loop inside of it, must not be cut into tiles.

    The reasons are those of `may_swap`: a tile of the outer loop runs before the inner one goes on.
    """
    return may_swap(loop, code)


def may_fuse_loops(first: Do, second: Do, code: KernelCode) -> Reasons:
    """Return why two neighbouring loops over the same values must not become one (T052, T062)."""
    lines = (*first.body, *second.body)
    problems = [*not_understood(lines, code), *_bounds_change(first, code)]
    shared = _scalars_between(first, second, code)
    problems += [_scalar_reason(second, name) for name in sorted(shared)]
    counter = first.variable.lower()
    blocking = sorted(_looks_ahead(first, second, counter, code))
    return (*problems, *(_element_reason(second, name) for name in blocking))


def _only_added_to(lines: tuple[Line, ...], code: KernelCode) -> frozenset[str]:
    """Return the arrays with which `lines` do nothing but `a(i) = a(i) + ...`, by no other name."""
    added = {
        line.target.base.text.lower()
        for line in walk_lines(lines)
        if isinstance(line, Assign)
        and isinstance(line.target, Index)
        and isinstance(line.target.base, Name)
        and _adds(line)
    }
    others = {
        name
        for line in walk_lines(lines)
        for expr in (_terms(line) if isinstance(line, Assign) else expressions_of(line))
        for name in names_in(expr)
    }
    shared = {name for name in added if _attributes(name, code) & {"pointer", "target"}}
    return frozenset(added - others - shared)


def _adds(line: Assign) -> bool:
    """Return whether an assignment adds to its target, or subtracts from it."""
    value = line.value
    while isinstance(value, Binary) and value.op in ("+", "-"):
        value = value.left
    return value is not line.value and same(value, line.target)


def _terms(line: Assign) -> Iterator[Expr]:
    """Yield what an assignment looks at, but for its target where it adds to that."""
    target, value = line.target, line.value
    yield from target.items if isinstance(target, Index) else ()
    if not _adds(line):
        yield from (target, value)
        return
    while isinstance(value, Binary) and not same(value, target):
        yield value.right
        value = value.left


def _scalars_between(first: Do, second: Do, code: KernelCode) -> frozenset[str]:
    """Return the scalars that one loop sets and the other reads, or that both set."""
    sets = [_plain(written_names(loop.body, code), code) for loop in (first, second)]
    reads = [read_names(loop.body, code) for loop in (first, second)]
    own = always_set(first.body, code) & always_set(second.body, code)
    crossing = (sets[0] & reads[1]) | (reads[0] & sets[1]) | (sets[0] & sets[1])
    exposed = carried_scalars(first.body, code) | carried_scalars(second.body, code)
    return frozenset(crossing - (own - exposed))


def _plain(names: frozenset[str], code: KernelCode) -> frozenset[str]:
    found = ((name, declaration_of(code, name)) for name in names)
    return frozenset(name for name, item in found if item is None or not item.shape)


def _looks_ahead(first: Do, second: Do, counter: str, code: KernelCode) -> Iterator[str]:
    """Yield arrays of which the second loop would touch elements before the first one has."""
    sign = _direction(first)
    count = len(list(touches(copy_propagated(first.body, code), code)))
    clear = copy_propagated((*first.body, *second.body), code)
    varying = written_names(clear, code) - {counter}
    found = list(touches(clear, code))
    for early, late in product(found[:count], found[count:]):
        if not (early.writes or late.writes) or not _is_array(early, code):
            continue
        if early.name != late.name and not _may_be_one(early.name, late.name, code):
            continue
        distances = _distances(early, late, (counter,), varying)
        if distances is None:
            continue
        apart = distances[counter]
        if apart is None or (apart and (sign is None or apart * sign < 0)):
            yield early.name


# ---------------------------------------------------------------------------- conditions


def inner_loop(loop: Do) -> Do | None:
    """Return the loop that is all of the body of `loop`, but for comments."""
    lines = [line for line in loop.body if not isinstance(line, Comment | Blank)]
    match lines:
        case [Do() as inner]:
            return inner
    return None


def not_understood(lines: tuple[Line, ...], code: KernelCode) -> Reasons:
    """Return what in `lines` may do anything (T052)."""
    texts = unknown_lines(lines)
    procedures = sorted(unknown_procedures(lines, code))
    moving = [
        line for line in walk_lines(lines)
        if isinstance(line, PointerAssign | Allocate | Deallocate)
    ]  # fmt: skip
    found = [f"'{text.strip()}' of '{code.name}' is not understood." for text in texts]
    if procedures:
        found.append(f"'{code.name}' calls {listed(procedures, 'and')}, whose effects are unknown.")
    if moving:
        found.append(f"'{code.name}' allocates arrays or moves pointers.")
    return tuple(Diagnostic("T052", text) for text in found)


def _carried(loop: Do, code: KernelCode) -> Iterator[Diagnostic]:
    for name in sorted(carried_scalars(loop.body, code)):
        yield _scalar_reason(loop, name)


def _left_behind(loop: Do, code: KernelCode) -> Iterator[Diagnostic]:
    """Yield scalars whose last value may be that of another iteration."""
    written = _plain(written_names(loop.body, code), code)
    counters = {line.variable.lower() for line in walk_lines((loop,)) if isinstance(line, Do)}
    inner = inner_loop(loop)
    certain = always_set(inner.body if inner else loop.body, code)
    for name in sorted(written - certain - counters):
        yield _scalar_reason(loop, name)
    for name in sorted(counters & counters_after_loops(code)):
        yield _scalar_reason(loop, name)


def _bounds_depend(loop: Do, inner: Do, code: KernelCode) -> Iterator[Diagnostic]:
    """Yield that the inner loop's bounds are not the same in all iterations (T063)."""
    parts = [part for part in (inner.start, inner.stop, inner.step) if part is not None]
    changing = written_names((loop,), code)
    for name in sorted(frozenset().union(*map(names_in, parts)) & changing):
        message = f"The bounds of the loop over '{inner.variable}' depend on '{name}'."
        yield Diagnostic("T063", message)
    yield from _bounds_change(loop, code)


def _bounds_change(loop: Do, code: KernelCode) -> Iterator[Diagnostic]:
    parts = [part for part in (loop.start, loop.stop, loop.step) if part is not None]
    changing = written_names(loop.body, code)
    for name in sorted(frozenset().union(*map(names_in, parts)) & changing):
        message = f"The loop over '{loop.variable}' changes '{name}', which is in its bounds."
        yield Diagnostic("T063", message)


def _not_nested(loop: Do) -> Diagnostic:
    message = f"The loop over '{loop.variable}' holds more than one loop, or none."
    return Diagnostic("T063", message)


def _direction(loop: Do) -> int | None:
    """Return 1 for a loop that counts up, -1 for one that counts down, None if unknown."""
    if loop.step is None:
        return 1
    step = sum_of(loop.step).known
    return None if not step else (1 if step > 0 else -1)


def _is_turned(distances: list[int | None], signs: list[int | None]) -> bool:
    """Return whether two iterations that depend on each other might change their order."""
    if 0 in distances:
        return False
    if None in distances or None in signs:
        return True
    forward = [(apart or 0) * (sign or 0) > 0 for apart, sign in zip(distances, signs, strict=True)]
    return forward[0] != forward[1]


def _element_reason(loop: Do, name: str) -> Diagnostic:
    return Diagnostic(
        "T062",
        f"Iterations of the loop over '{loop.variable}' may touch the same elements of '{name}'.",
        hint="Subscripts that are sums of loop counters and constants can be told apart.",
    )


def _scalar_reason(loop: Do, name: str) -> Diagnostic:
    return Diagnostic(
        "T062",
        f"'{name}' brings a value from one iteration of the loop over '{loop.variable}' to another,"
        " or out of the loop.",
    )
