"""Code motion: loop-invariant code, and expressions that get a variable before their statement."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from itertools import product
from operator import is_

from psyclone_storage.analysis.bodies.accesses import (
    MemoryAccess,
    accesses,
    accesses_of,
    is_understood,
    names_in_code,
    read_names,
    unknown_calls,
    unknown_lines,
    unknown_procedures,
    written_names,
)
from psyclone_storage.analysis.bodies.dependence_tests import condition_to_run
from psyclone_storage.analysis.bodies.names import RoutineNames
from psyclone_storage.analysis.bodies.shapes import (
    dimensions_of,
    find_declaration,
    rank_of,
    type_of_values,
)
from psyclone_storage.base.memo import kept_lately
from psyclone_storage.base.records import replace
from psyclone_storage.ir.affine import simplified
from psyclone_storage.ir.expr import (
    Binary,
    CallFunction,
    Element,
    Expr,
    Extents,
    ImpliedDo,
    Index,
    Keyword,
    Literal,
    Member,
    Name,
    Parenthesised,
    Range,
    Section,
    Substring,
    Symbol,
    Unary,
    children,
    intrinsic_called,
    same,
    spell,
    walk,
    whole,
)
from psyclone_storage.ir.intrinsics import INQUIRING
from psyclone_storage.ir.keys import key_of
from psyclone_storage.ir.loops import loops_of
from psyclone_storage.ir.operators import Operator
from psyclone_storage.ir.rewrite import (
    expressions_of,
    first_words,
    names_in,
    replaced_line,
    rewritten,
    walk_lines,
    with_expressions,
    with_parts,
)
from psyclone_storage.ir.routine import Routine
from psyclone_storage.ir.scopes import host_names
from psyclone_storage.ir.types import Intrinsic, ScalarType
from psyclone_storage.ir.unit import (
    Allocate,
    Assign,
    Branch,
    Call,
    CompoundStatement,
    Deallocate,
    Do,
    If,
    Line,
    Opaque,
)
from psyclone_storage.passes.scratch import INTEGER, Scratch

_PLAIN = (Name, Literal)
"""The bounds that are no computation."""

_HARMLESS = frozenset({Operator.PLUS, Operator.MINUS, Operator.TIMES})
"""The operators on integers that cannot fail."""

_BOUNDS = frozenset({"lbound", "ubound", "size"})

_ABSENT = frozenset({"allocatable", "optional", "pointer", "volatile"})
"""The attributes of variables that may not exist or that others may change."""


# ---------------------------------------------------------------------------- assignments


def hoist_assignments(
    code: Routine, only: Line | None = None, *, is_used_outside: bool = True
) -> Routine:
    """Return `code` with invariant assignments hoisted out of their loops, inner loops first.

    With `only` that very assignment moves alone, out of one loop. If `is_used_outside` is false, no
    statement outside the loop names its target, so that it needs no condition if it `cannot_fail`.
    """
    return _with_hoisted(code, only, is_used_outside)


@kept_lately
def _with_hoisted(code: Routine, only: Line | None, is_used_outside: bool) -> Routine:
    def change(line: Line) -> tuple[Line, ...]:
        return _hoisted(line, code, only, is_used_outside)

    if only is None:
        return replace(code, body=rewritten(code.body, change))
    loop = next((one for one in walk_lines(code.body) if _is_directly_in(only, one)), None)
    if not isinstance(loop, Do) or not _may_be_invariant(only, loop):
        return code
    new = change(loop)
    return code if new == (loop,) else replace(code, body=replaced_line(code.body, loop, new))


def _is_directly_in(line: Line, loop: Line) -> bool:
    return isinstance(loop, Do) and any(map(partial(is_, line), loop.body))


def _may_be_invariant(line: Line, loop: Do) -> bool:
    """Return whether `line` is an assignment that reads nothing that its loop plainly changes.

    This is a cheap condition, which most statements of loops do not satisfy.
    """
    if not isinstance(line, Assign):
        return False
    indices = line.target.items if isinstance(line.target, Index) else ()
    parts = [part for expr in (line.value, *indices) for part in walk(expr)]
    if any(isinstance(part, Index) and intrinsic_called(part) in INQUIRING for part in parts):
        return True
    read = {part.key for part in parts if isinstance(part, Name)}
    return read.isdisjoint({loop.variable.key, *_assigned(loop)})


def _assigned(loop: Do) -> Iterable[str]:
    """Yield the keys of the variables that assignments in a loop change."""
    for line in walk_lines(loop.body):
        if isinstance(line, Assign):
            base = line.target.base if isinstance(line.target, Index) else line.target
            if isinstance(base, Name):
                yield base.key


def _hoisted(
    line: Line, code: Routine, only: Line | None, is_used_outside: bool
) -> tuple[Line, ...]:
    if not isinstance(line, Do):
        return (line,)
    names, runs = names_in_code(code), condition_to_run(line)
    chosen = (item for item in line.body if only is None or item is only)
    moving = () if runs is None else tuple(_invariant(chosen, line, names))
    if not moving or runs is None or not is_understood(line.body, names):
        return (line,)
    if any(unknown_calls((line,), names, inside=False)):
        return (line,)
    staying = tuple(item for item in line.body if item not in moving)
    is_free = not is_used_outside and all(cannot_fail(item, code) for item in moving)
    before = moving if isinstance(runs, bool) or is_free else (If((Branch(runs, moving),)),)
    return (*before, replace(line, body=staying))


def cannot_fail(line: Line, code: Routine) -> bool:
    """Return whether an assignment gives a local integer a sum or product of integers."""
    if not isinstance(line, Assign) or not isinstance(line.target, Name):
        return False
    key = line.target.key
    declared = code.declared(key)
    if declared is None or not _is_plain_integer(code.symbol(key)):
        return False
    if key in {*code.dummy_keys, key_of(code.result), code.key} or declared.value is not None:
        return False
    opaque = (item.names for item in code.declarations if isinstance(item, Opaque))
    if key in host_names(code.contained).union(*opaque):
        return False
    return _is_harmless(line.value, code)


def _is_harmless(expr: Expr, code: Routine) -> bool:
    """Return whether an expression is a sum or product of integers and of bounds of arrays."""
    match expr:
        case Literal():
            return spell(expr).isdigit()
        case Name():
            return _is_plain_integer(code.symbol(expr.key))
        case Parenthesised(operand) | Unary(_, operand):
            return _is_harmless(operand, code)
        case Binary(op, left, right):
            return op in _HARMLESS and _is_harmless(left, code) and _is_harmless(right, code)
        case Index(items=(Name(key=key), *dimension)) if intrinsic_called(expr) in _BOUNDS:
            symbol = code.symbol(key)
            exists = symbol.is_data and symbol.rank and _ABSENT.isdisjoint(symbol.words)
            return bool(exists) and all(isinstance(one, Literal) for one in dimension)
    return False


def _is_plain_integer(symbol: Symbol) -> bool:
    """Return whether a symbol denotes an integer that exists wherever it is visible."""
    is_integer = isinstance(symbol.type, ScalarType) and symbol.type.intrinsic is Intrinsic.INTEGER
    return is_integer and symbol.is_data and not symbol.rank and _ABSENT.isdisjoint(symbol.words)


def _invariant(lines: Iterable[Line], loop: Do, names: RoutineNames) -> Iterator[Line]:
    """Yield the assignments directly in a loop that have the same effect in all iterations."""
    assigned = {loop.variable.key, *_assigned(loop)}
    inside: tuple[MemoryAccess, ...] = ()
    for line in lines:
        if not isinstance(line, Assign):
            continue
        read = [item for item in accesses((line,), names) if not item.writes]
        if any(item.root in assigned and not item.of_shape for item in read):
            continue
        inside = inside or tuple(accesses(loop.body, names))
        if _is_invariant(line, read, loop, inside, names):
            yield line


def _is_invariant(
    line: Line,
    read: list[MemoryAccess],
    loop: Do,
    inside: tuple[MemoryAccess, ...],
    names: RoutineNames,
) -> bool:
    """Return whether an assignment has the same effect in all iterations of a loop.

    `read` are its reads, and `inside` are all accesses in the loop.
    """
    target, *others = written_names((line,), names)
    if others or find_declaration(names.code, target) is None or names.is_shared((target,)):
        return False
    writes = [item for item in inside if item.writes]
    if any(_may_overlap(item, other, names) for item, other in product(read, writes)):
        return False
    if any(item.root == loop.variable.key for item in read):
        return False
    own = [item for item in writes if item.root == target and not item.of_shape]
    earlier = loop.body[: loop.body.index(line)]
    bounds = names_in(loop.start) | names_in(loop.stop) | names_in(loop.step or whole(1))
    return len(own) == 1 and target not in read_names(earlier, names) | bounds


def reason_to_stay(code: Routine, line: Line) -> tuple[str, Line | None]:
    """Return why an assignment cannot leave its loop, and the other statement concerned, if any.

    The reason is an empty string if the loop itself prevents that.
    """
    loop = next((one for one in walk_lines(code.body) if _is_directly_in(line, one)), None)
    if not isinstance(line, Assign) or not isinstance(loop, Do):
        return "it is not directly in a loop", None
    names = names_in_code(code)
    own = accesses_of(line, names)
    root = next((item.root for item in own if item.writes), "")
    if find_declaration(code, root) is None or names.is_shared((root,)):
        return f"'{spell(line.target)}' may have other names", None
    for other in walk_lines(loop.body):
        if not isinstance(other, CompoundStatement) and not is_understood((other,), names):
            return f"'{first_words(other)}' may have other effects", other
    inside = [(one, item) for one in walk_lines((loop,)) for item in accesses_of(one, names)]
    for read, (other, item) in product(own, inside):
        if item.writes and not read.writes and _may_overlap(read, item, names):
            return f"it reads '{read.path}', and the loop writes '{item.path}'", other
    position = next(at for at, (other, _) in enumerate(inside) if other is line)
    for at, (other, item) in enumerate(inside):
        if item.root == root and other is not line and (item.writes or at < position):
            verb = "writes" if item.writes else "reads"
            return f"the loop also {verb} '{item.path}'", other
    return "", None


def _may_overlap(read: MemoryAccess, write: MemoryAccess, names: RoutineNames) -> bool:
    """Return whether a write may change what is read, whatever the subscripts."""
    if read.of_shape is not write.of_shape:
        return False
    return read.root == write.root or names.may_share(read.path.variable, write.path.variable)


# ---------------------------------------------------------------------------- bounds


def hoist_bounds(code: Routine, only: str = "") -> Routine:
    """Return `code` with loop bounds stored in variables, unless they are already simple.

    With `only`, the uid of a loop, the bounds of other loops stay.
    """
    return _with_plain_bounds(code, only)


@kept_lately
def _with_plain_bounds(code: Routine, only: str) -> Routine:
    chosen = [loop for loop in loops_of(code) if only in ("", loop.uid)]
    if not any(map(_has_computed_bounds, chosen)):
        return code
    scratch = Scratch(code)
    if only and len(chosen) == 1:
        new = tuple(_with_bounds(chosen[0], scratch))
        return replace(scratch.code, body=replaced_line(code.body, chosen[0], new))

    def change(line: Line) -> Iterable[Line]:
        chosen = isinstance(line, Do) and only in ("", line.uid)
        return _with_bounds(line, scratch) if chosen else (line,)

    body = rewritten(code.body, change)
    return replace(scratch.code, body=body)


def _has_computed_bounds(loop: Do) -> bool:
    return not all(
        isinstance(one, _PLAIN) for one in (loop.start, loop.stop, loop.step or loop.start)
    )


def _with_bounds(line: Line, scratch: Scratch) -> Iterable[Line]:
    if not isinstance(line, Do):
        return (line,)
    before: list[Line] = []
    kind = type_of_values(line.variable, scratch.code) or INTEGER

    def plain(wish: str, bound: Expr) -> Expr:
        if isinstance(bound, _PLAIN):
            return bound
        variable = scratch.variable(wish, kind)
        before.append(Assign(variable, bound))
        return variable

    start, stop = plain("loop_start", line.start), plain("loop_stop", line.stop)
    step = None if line.step is None else plain("loop_step", line.step)
    return (*before, replace(line, start=start, stop=stop, step=step))


# ---------------------------------------------------------------------------- expressions

_GUARDING = (Operator.AND, Operator.OR)
_VARIABLES = (Name, Member, Element, Section, Substring)


def check_expression(code: Routine, line: Line, expr: Expr) -> str:
    """Return why an expression of a statement cannot be computed before it, or an empty string."""
    text = f"'{spell(expr)}'"
    if isinstance(expr, _VARIABLES):
        return f"{text} is a variable."
    if isinstance(expr, Keyword | Range) or not _is_at_start(line, expr):
        return f"{text} is not certainly computed when the statement starts."
    parts = line.args if isinstance(line, Call) else expressions_of(line)
    copies = [Assign(Name("copy"), one) for one in (expr, *parts)]
    if any(unknown_lines(copies)) or unknown_procedures(copies, names_in_code(code)):
        return f"A procedure in the statement of {text} may have side effects."
    kind = type_of_values(expr, code)
    if kind is None or kind.intrinsic is Intrinsic.CHARACTER:
        return f"The type of {text} is not known."
    rank = rank_of(expr, code)
    if rank is None or (rank and not isinstance(line, Assign | Call)):
        return f"The shape of {text} is not known."
    return ""


def _is_at_start(line: Line, expr: Expr) -> bool:
    """Return whether a statement computes `expr` whenever it is executed, before anything else."""
    match line:
        case Assign(target, value):
            parts = (value, *(target.items if isinstance(target, Index) else ()))
        case Call(args=args):
            parts = args
        case If(branches):
            parts = (branches[0].condition,)
        case Do():
            parts = tuple(one for one in (line.start, line.stop, line.step) if one is not None)
        case _:
            return False
    return any(_always_computes(one, expr) for one in parts)


def _always_computes(whole_expr: Expr, part: Expr) -> bool:
    if same(whole_expr, part):
        return True
    is_guarded = isinstance(whole_expr, Binary) and whole_expr.op in _GUARDING
    function = intrinsic_called(whole_expr) if isinstance(whole_expr, CallFunction) else ""
    if is_guarded or isinstance(whole_expr, ImpliedDo) or function is None:
        return False
    if function == "merge" or function in INQUIRING:
        return False
    return any(_always_computes(one, part) for one in children(whole_expr))


def with_expression_before(code: Routine, line: Line, expr: Expr, wish: str) -> Routine:
    """Return `code`, whose only statement is `line`, with `expr` in a variable before it."""
    scratch = Scratch(code)
    kind, dimensions = type_of_values(expr, code), dimensions_of(expr, code)
    assert kind is not None
    assert dimensions is not None
    shape = (Range(),) * len(dimensions)
    name = scratch.variable(wish, kind, shape, ("allocatable",) if shape else ())
    target = Section(name, shape) if shape else name
    assign = Assign(target, expr)
    changed = with_expressions(line, lambda one: _exchanged(one, expr, name))
    if not shape:
        return replace(scratch.code, body=(assign, changed))
    extents = tuple(Range(whole(1), simplified(one.count)) for one in dimensions)
    made = Allocate((Extents(name, extents),))
    return replace(scratch.code, body=(made, assign, changed, Deallocate((name,))))


def _exchanged(expr: Expr, old: Expr, new: Expr) -> Expr:
    return new if same(expr, old) else with_parts(expr, lambda part: _exchanged(part, old, new))
