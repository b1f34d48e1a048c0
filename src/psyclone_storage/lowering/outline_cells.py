"""Outlining of cell loops into procedures.

A cell loop is lowered within its routine, which sets up all variables. The arguments of the
procedure are the routine's variables that occur in the lowered lines; variables set in each
iteration become locals. Arrays become dummy arguments, so the compiler may assume that written
arrays do not overlap others. If all cells agree on extents, the dummies have explicit shape,
because array descriptors need too many registers.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import reduce

from psyclone_storage.base.records import replace
from psyclone_storage.ir import expr as ex
from psyclone_storage.ir import unit as un
from psyclone_storage.ir.interface import Dummy, Role
from psyclone_storage.ir.keys import key_of
from psyclone_storage.ir.operators import Operator
from psyclone_storage.ir.rewrite import blocks_of, names_in, names_of_line, substituted
from psyclone_storage.ir.schedule import KernelCall
from psyclone_storage.ir.types import ScalarType
from psyclone_storage.lowering.arguments import actual_arguments
from psyclone_storage.lowering.infrastructure import LoweringContext
from psyclone_storage.lowering.routine_builder import SetupSection, Workspace, colons

_Plain = un.Do | un.If | un.Comment | un.Blank | un.ScopedBlock | un.DirectiveBlock
"""Statements that change nothing, but for counters and by the statements in them."""


Shape = tuple[ex.Expr, ...]


def procedure_for(
    context: LoweringContext, name: str, calls: Iterable[KernelCall], lines: tuple[un.Line, ...]
) -> tuple[un.GeneratedRoutine, un.Call] | None:
    """Return a procedure `name` with `lines`, and its call; None if an object would be passed.

    `calls` are the kernel calls in `lines`. Loops that use objects are not outlined, because each
    iteration would call type-bound procedures and nothing would be gained.
    """
    known = {one.key: one for one in map(context.work.dummy, context.ops.dummies(context))}
    known |= {one.key: one for one in context.work.declarations()}
    counters = {one.key for one in context.work.declared_in(SetupSection.COUNTERS)}
    used = [known[key] for key in dict.fromkeys(_free_names(lines)) if key in known]
    shapes = _shapes(context, calls, known.keys() - counters)
    extents = {key for one in used for part in shapes.get(one.key, ()) for key in names_in(part)}
    used += [known[key] for key in sorted(extents) if known[key] not in used]
    own = tuple(one for one in used if one.key in counters)
    passed = sorted((one for one in used if one not in own), key=lambda one: bool(one.shape))
    if any(not isinstance(one.type, ScalarType) for one in passed):
        return None
    dummies = _dummies(passed, shapes, lines)
    call = un.Call(ex.Name(name), tuple(ex.Name(one.name) for one in passed))
    return un.GeneratedRoutine(name, dummies, own, lines), call


def one_level(
    context: LoweringContext,
    name: str,
    calls: Iterable[KernelCall],
    general: tuple[un.GeneratedRoutine, un.Call],
) -> tuple[un.GeneratedRoutine, un.If]:
    """Return a version of a procedure for columns with one level, and the `if` that selects it.

    `general` is the procedure for any number of levels, with its call. The number of levels is a
    constant in the version, so the compiler removes loops over levels.
    """
    procedure, call = general
    layers = {name.key: name for one in calls for name in _layers(context, one)}
    ones = {one.key: one for one in procedure.dummies if one.key in layers}
    values = {key: ex.whole(1, getattr(one.type, "kind", None)) for key, one in ones.items()}
    dummies = tuple(
        replace(one, shape=tuple(substituted(extent, values) for extent in one.shape))
        for one in procedure.dummies
        if one.key not in ones
    )
    known = tuple(
        replace(one, attributes=("parameter",), value=values[key]) for key, one in ones.items()
    )
    version = replace(
        procedure, name=name, dummies=dummies, variables=(*known, *procedure.variables)
    )
    args = tuple(arg for arg in call.args if not isinstance(arg, ex.Name) or arg.key not in ones)
    tests: list[ex.Expr] = [ex.Binary(Operator.EQUAL, layers[key], values[key]) for key in ones]
    condition = reduce(lambda first, second: ex.Binary(Operator.AND, first, second), tests)
    branch = un.Branch(condition, (un.Call(ex.Name(name), args),))
    return version, un.If((branch,), (call,))


def _layers(context: LoweringContext, call: KernelCall) -> Iterator[ex.Name]:
    """Yield the variables with the number of levels of a kernel."""
    actuals = actual_arguments(context, call, context.counter("cell"))
    for dummy, actual in zip(call.dummies, actuals, strict=True):
        if dummy.role is Role.NLAYERS and isinstance(actual, ex.Name):
            yield actual


def without_unused_counters(work: Workspace, lines: Iterable[un.Line]) -> tuple[un.Declare, ...]:
    """Return the declarations of `work` without counters used only in outlined procedures."""
    if not work.procedures:
        return work.declarations()
    counters, used = work.declared_in(SetupSection.COUNTERS), {*_free_names(lines)}
    return tuple(one for one in work.declarations() if one not in counters or one.key in used)


# ---------------------------------------------------------------------------- dummies


def _dummies(
    passed: Iterable[un.Declare], shapes: Mapping[str, Shape], lines: tuple[un.Line, ...]
) -> tuple[un.Declare, ...]:
    """Return the dummy arguments for variables of the routine."""
    changed, unsure = _changed(lines)
    made: list[un.Declare] = []
    for one in passed:
        intent: tuple[str, ...] = ("intent(in)",)
        if one.key in changed:
            intent = ("intent(inout)",)
        elif one.key in unsure:
            intent = ()
        shape = shapes.get(one.key, ())
        if one.shape and len(shape) != len(one.shape):
            intent, shape = ("contiguous", *intent), colons(len(one.shape))
        made.append(replace(one, attributes=intent, shape=shape))
    return tuple(made)


def _shapes(
    context: LoweringContext, calls: Iterable[KernelCall], known: Collection[str]
) -> dict[str, Shape]:
    """Return the extents of arrays by key, in terms of `known` variables.

    Arrays with different shapes in different kernels are left out.
    """
    found: dict[str, set[Shape]] = {}
    for call in calls:
        actuals = actual_arguments(context, call, context.counter("cell"))
        values = {
            key_of(dummy.name): actual for dummy, actual in zip(call.dummies, actuals, strict=True)
        }
        for dummy, actual in zip(call.dummies, actuals, strict=True):
            shape = tuple(substituted(extent, values) for extent in dummy.shape)
            if shape and all(_is_fixed(extent, known) for extent in shape):
                for name, whole_shape in _passed_as(dummy, actual, shape):
                    found.setdefault(name, set()).add(whole_shape)
    return {name: shapes.pop() for name, shapes in found.items() if len(shapes) == 1}


def _is_fixed(extent: ex.Expr, known: Collection[str]) -> bool:
    """Return whether an extent is constant in all iterations."""
    parts = ex.walk(extent)
    plain = all(isinstance(part, ex.Name | ex.Literal | ex.Binary) for part in parts)
    return plain and names_in(extent) <= set(known)


def _passed_as(dummy: Dummy, actual: ex.Expr, shape: Shape) -> Iterator[tuple[str, Shape]]:
    """Yield the array that `actual` passes completely, or completely for one cell.

    Kernels may use only a part of maps other than dofmaps, so those are left out.
    """
    match actual:
        case ex.Name():
            yield actual.key, shape
        case ex.Section(ex.Name() as base, (ex.Range(lower=None, upper=None), _)):
            if dummy.role is Role.DOFMAP:
                yield base.key, (*shape, ex.Star())


# ---------------------------------------------------------------------------- what lines use


def _free_names(lines: Iterable[un.Line]) -> Iterator[str]:
    """Yield the keys of names in `lines` that are not local to a block, in order."""
    for line in lines:
        inside = (name for block in blocks_of(line) for name in _free_names(block))
        hidden = _own_names(line)
        yield from sorted(names_of_line(line) - hidden)
        yield from (name for name in inside if name not in hidden)


def _own_names(line: un.Line) -> frozenset[str]:
    """Return the keys of names local to a block."""
    if not isinstance(line, un.ScopedBlock):
        return frozenset()
    own = frozenset(item.key for item in line.declarations if isinstance(item, un.Declare))
    return own | {name.key for use in line.uses for name in use.names}


def _changed(lines: Iterable[un.Line]) -> tuple[frozenset[str], frozenset[str]]:
    """Return the keys of assigned names, and of names that may change otherwise."""
    changed, unsure = frozenset[str](), frozenset[str]()
    for line in lines:
        if isinstance(line, un.Assign):
            changed |= _roots(line.target)
        elif not isinstance(line, _Plain):
            unsure |= names_of_line(line)
        for block in blocks_of(line):
            inside = _changed(block)
            changed |= inside[0] - _own_names(line)
            unsure |= inside[1] - _own_names(line)
    return changed, unsure


def _roots(target: ex.Expr) -> frozenset[str]:
    """Return the variable of which `target` is a part."""
    while isinstance(target, ex.Index | ex.Member):
        target = target.base
    return names_in(target)
