"""Arrays with one dimension more, for each iteration of a loop, or arrays that become scalars.

The iterations of a loop that fills a local array, and then reads it, depend on each other. With a
further dimension for the counter of the loop they do not, and the statements can be distributed
over several loops. The declared array remains: the new one takes its bounds from it, which a
routine computes when it starts.

An array of which each iteration uses one element, and passes no value on, becomes a scalar.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from psyclone_storage.analysis.bodies.accesses import accesses, unknown_lines, unknown_procedures
from psyclone_storage.analysis.bodies.flow import Flow, FlowNode, flow_of
from psyclone_storage.analysis.bodies.independence import UNKNOWN_HINT
from psyclone_storage.analysis.bodies.private_copies import is_own_array
from psyclone_storage.analysis.bodies.ranks import is_scalar
from psyclone_storage.analysis.bodies.separate_arrays import is_separate
from psyclone_storage.base.diagnostic import Diagnostic
from psyclone_storage.base.names import listed
from psyclone_storage.base.records import replace
from psyclone_storage.base.regex import regex
from psyclone_storage.ir import expr as ex
from psyclone_storage.ir import unit as un
from psyclone_storage.ir.intrinsics import INQUIRING
from psyclone_storage.ir.keys import key_of
from psyclone_storage.ir.loops import addressed, loops_of, with_lines_for
from psyclone_storage.ir.rewrite import (
    everywhere,
    expressions_of,
    names_in,
    names_of_line,
    place_of_line,
    walk_lines,
    with_parts,
)
from psyclone_storage.ir.routine import Routine
from psyclone_storage.ir.types import Intrinsic, ScalarType
from psyclone_storage.passes.scratch import Scratch

_NUMBERS = (Intrinsic.INTEGER, Intrinsic.LOGICAL, Intrinsic.REAL)
_HOLDS = (un.Assign, un.Do, un.If, un.Select, un.Where)
"""Statements whose expressions are rewritten."""
_WORD = regex(r"[a-z]\w*")
_PLAIN_BOUNDS = (ex.Binary, ex.Literal, ex.Name, ex.Parenthesised, ex.Unary)

# ---------------------------------------------------------------------------- reasons


def check_rank(code: Routine, number: int, names: Iterable[str]) -> Iterator[Diagnostic]:
    """Yield the reasons for which arrays cannot get a dimension for the iterations of a loop."""
    flow = flow_of(code)
    loop = flow.loops[number - 1]
    line = loop.line
    assert isinstance(line, un.Do)
    place = place_of_line(line)
    keys = tuple(map(key_of, names))
    if why := _unfit_loop(line, loop, flow) or _late_bound(line, keys, flow):
        yield Diagnostic("T063", why, place)
        return
    found = [one for key in keys for one in _check(key, loop, flow)]
    yield from (replace(one, span=one.span or place) for one in found)
    if any(one.code == "T062" for one in found):
        # A function with unknown effects may change what the conditions in the loop read.
        unknown = sorted(unknown_procedures(line.body, flow.names))
        called = listed(unknown, "and")
        message = f"'{code.name}' calls {called}, whose effects are unknown."
        yield from (Diagnostic("T052", message, place, hint=UNKNOWN_HINT),) if unknown else ()


def _unfit_loop(line: un.Do, loop: FlowNode, flow: Flow) -> str:
    """Return why a loop does not allow a dimension for it, an empty string if it does."""
    around = (flow.node(at).line for at in loop.around)
    if any(isinstance(one, un.Do | un.While | un.DoConcurrent) for one in around):
        return f"Another loop is around the one over '{_text(line)}'."
    step = 1 if line.step is None else ex.integer_value(line.step)
    parts = [part for one in (line.start, line.stop) for part in ex.walk(one)]
    if not step or not all(isinstance(part, _PLAIN_BOUNDS) for part in parts):
        return f"The bounds of the loop over '{_text(line)}' are no sums."
    return ""


def _late_bound(line: un.Do, keys: tuple[str, ...], flow: Flow) -> str:
    """Return that a bound of a loop may change after the first use of an array, if it may."""
    body = flow.code.body
    before: list[un.Line] = []
    for one in walk_lines(body[_first_use(flow.code, keys) :]):
        if one is line:
            break
        before.append(one)
    fixed = names_in(line.start) | names_in(line.stop)
    written = {one.root for one in accesses(before, flow.names) if one.writes}
    if fixed & written or unknown_procedures(before, flow.names) or any(unknown_lines(before)):
        where = "after the first use of an array"
        return f"A bound of the loop over '{_text(line)}' may change {where}."
    return ""


def _first_use(code: Routine, keys: Iterable[str]) -> int:
    """Return the index of the first statement of a routine that uses an array."""
    wanted = frozenset(keys)
    uses = (
        at
        for at, line in enumerate(code.body)
        if any(wanted & names_of_line(one) for one in walk_lines((line,)))
    )
    return next(uses, 0)


def _text(loop: un.Do) -> str:
    return loop.variable.text


def _check(key: str, loop: FlowNode, flow: Flow) -> Iterator[Diagnostic]:
    if not is_plain_array(key, flow):
        yield Diagnostic("T060", f"'{key}' is no plain local array of '{flow.code.name}'.")
        return
    for node in flow.nodes:
        line = node.line
        is_named = isinstance(line, un.DirectiveLine) and key in _WORD.findall(key_of(line.text))
        if (is_named or key in names_of_line(line)) and (why := _unfit(key, node, loop, flow)):
            yield Diagnostic("T060", why, place_of_line(line))
            return
    if not is_separate((key,), loop, flow):
        assert isinstance(loop.line, un.Do)
        message = f"An iteration over '{_text(loop.line)}' may read elements of '{key}' that an"
        yield Diagnostic("T062", f"{message} earlier iteration has written.")


def is_plain_array(key: str, flow: Flow) -> bool:
    """Return whether a name is that of a local array of numbers that nothing else can access."""
    declared, names = flow.code.declared(key), flow.names
    return (
        declared is not None
        and bool(declared.shape)
        and names.is_local(key)
        and not names.is_shared((key,))
        and isinstance(declared.type, ScalarType)
        and declared.type.intrinsic in _NUMBERS
        and not declared.words - {"dimension"}
    )


def _unfit(key: str, node: FlowNode, loop: FlowNode, flow: Flow) -> str:
    """Return why a statement does not allow another rank of an array, an empty string if it does.

    Outside of the loop the array can get equal values in all elements of the new dimension.
    """
    line = node.line
    name = f"'{key}'"
    if not isinstance(line, _HOLDS):
        return f"{name} is in a statement that is not rewritten."
    for part in (part for one in expressions_of(line) for part in ex.walk(one)):
        if isinstance(part, ex.CallFunction) and key in names_in(part):
            word = ex.intrinsic_called(part)
            if word is None or word in INQUIRING:
                return f"{name} is passed to '{ex.spell(part.base)}'."
        is_unknown = isinstance(part, ex.Index) and not isinstance(part, ex.Element | ex.Section)
        if is_unknown and key in names_in(ex.children(part)[0]):
            return f"It is not known which elements of {name} are accessed."
    if loop.number < node.number < loop.stop:
        return ""
    is_filled = isinstance(line, un.Assign) and _is_scalar(line.value, flow.code)
    if node.number > loop.number or not is_filled or _reads(key, line):
        return f"{name} is accessed outside of the loop."
    return ""


def _reads(key: str, line: un.Line) -> bool:
    """Return whether an assignment reads an array, perhaps in a subscript of its target."""
    assert isinstance(line, un.Assign)
    items = line.target.items if isinstance(line.target, ex.Index) else ()
    return any(key in names_in(one) for one in (line.value, *items))


def _is_scalar(expr: ex.Expr, code: Routine) -> bool:
    """Return whether an expression consists of literals and scalars alone."""
    match expr:
        case ex.Literal():
            return True
        case ex.Name():
            symbol = code.symbol(expr.text)
            return symbol.is_data and symbol.is_resolved and not symbol.shape
        case ex.Parenthesised(operand) | ex.Unary(_, operand):
            return _is_scalar(operand, code)
        case ex.Binary(_, left, right):
            return _is_scalar(left, code) and _is_scalar(right, code)
    return False


# ---------------------------------------------------------------------------- rewrite


def with_rank(code: Routine, number: int, names: Iterable[str]) -> Routine:
    """Return `code` whose arrays have an element for each iteration of loop `number`.

    `check_rank` has found no reason against it.
    """
    code = addressed(code)
    loop = loops_of(code)[number - 1]
    step = 1 if loop.step is None else ex.integer_value(loop.step)
    ends = (loop.start, loop.stop) if (step or 0) > 0 else (loop.stop, loop.start)
    scratch = Scratch(code)
    new: dict[str, ex.Name] = {}
    arrays: list[ex.Expr] = []
    for key in map(key_of, names):
        declared = code.declared(key)
        assert declared is not None
        assert isinstance(declared.type, ScalarType)
        shape = (ex.Range(),) * (len(declared.shape) + 1)
        wish = f"{declared.name}_{_text(loop)}"
        new[key] = scratch.variable(wish, declared.type, shape, ("allocatable",))
        arrays.append(_allocated(key, new[key], len(shape), ends))
    inner = everywhere((loop,), lambda expr: _indexed(expr, new, loop.variable, code))
    body = with_lines_for(code, {loop.uid: inner}).body
    body = everywhere(body, lambda expr: _indexed(expr, new, ex.Range(), code))
    first = _first_use(code, new)
    body = (*body[:first], un.Allocate(tuple(arrays)), *body[first:])
    return replace(scratch.code, body=body)


def _allocated(key: str, new: ex.Name, rank: int, ends: tuple[ex.Expr, ex.Expr]) -> ex.Expr:
    """Return the new array with the bounds of the declared one, and those of the loop."""
    bounds = [
        ex.Range(*(ex.intrinsic(word, ex.Name(key), ex.whole(at)) for word in ("lbound", "ubound")))
        for at in range(1, rank)
    ]
    return ex.Extents(new, (*bounds, ex.Range(*ends)))


def _indexed(expr: ex.Expr, new: Mapping[str, ex.Name], index: ex.Expr, code: Routine) -> ex.Expr:
    """Return an expression with the new arrays, whose last subscript is `index`."""

    def change(part: ex.Expr) -> ex.Expr:
        return _indexed(part, new, index, code)

    if isinstance(expr, ex.Name) and expr.key in new:
        declared = code.declared(expr.key)
        assert declared is not None
        return ex.Section(new[expr.key], (*(ex.Range() for _ in declared.shape), index))
    if isinstance(expr, ex.Index) and isinstance(expr.base, ex.Name) and expr.base.key in new:
        kind = ex.Section if isinstance(index, ex.Range) else type(expr)
        return kind(new[expr.base.key], (*map(change, expr.items), index))
    return with_parts(expr, change)


# ---------------------------------------------------------------------------- scalars


def arrays_as_scalars(code: Routine, number: int) -> tuple[str, ...]:
    """Return the local arrays of which each iteration of a loop uses one element for itself."""
    flow = flow_of(code)
    loop = flow.loops[number - 1]
    keys = dict.fromkeys(one.path.root for one in flow.items_in(loop) if one.writes)
    return tuple(
        key
        for key in keys
        if is_plain_array(key, flow)
        and _uses_one_element(key, loop, flow)
        and is_own_array((key,), loop, flow)
    )


def _uses_one_element(key: str, loop: FlowNode, flow: Flow) -> bool:
    """Return whether an iteration of a loop accesses one element of an array by its subscripts."""
    assert isinstance(loop.line, un.Do)
    inside = flow.items_in(loop)
    written = {one.path.root for one in inside if one.writes} - {loop.line.variable.key}
    every = [one.access.path.subscripts for one in inside if one.path.root == key]
    if not every[0] or any(one != every[0] for one in every):
        return False
    fixed = not any(names_in(one) & written for one in every[0])
    if not fixed or not all(is_scalar(one, flow.names) for one in every[0]):
        return False
    nodes = (node for node in flow.inside(loop) if key in names_of_line(node.line))
    return not any(_unfit(key, node, loop, flow) for node in nodes)


def with_scalars(code: Routine, number: int) -> Routine:
    """Return `code` with scalars instead of arrays of which each iteration uses one element."""
    keys = arrays_as_scalars(code, number)
    code = addressed(code)
    loop = loops_of(code)[number - 1]
    scratch = Scratch(code)
    new: dict[str, ex.Name] = {}
    for key in keys:
        declared = code.declared(key)
        assert declared is not None
        assert isinstance(declared.type, ScalarType)
        new[key] = scratch.variable(f"{declared.name}_scalar", declared.type)

    def change(expr: ex.Expr) -> ex.Expr:
        if isinstance(expr, ex.Element) and isinstance(expr.base, ex.Name) and expr.base.key in new:
            return new[expr.base.key]
        return with_parts(expr, change)

    body = everywhere(loop.body, change)
    changed = with_lines_for(code, {loop.uid: (replace(loop, body=body),)})
    return replace(scratch.code, body=changed.body)
