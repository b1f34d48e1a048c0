"""Coverage analysis for the checker: the parts of a field that a call certainly overwrites.

A call covers a part if it writes all values of the part before reading any. The check of storage
accesses uses this module, which shares no code with the planner's analysis in `analysis.bodies`.
Code for points or dofs covers its value if the first access on every control-flow path is a write.
Code for columns is executed symbolically, as far as subscripts of one array are known. Statements
under a condition are not executed. None represents an unknown value.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum

from psyclone_storage.base.memo import kept_with_first
from psyclone_storage.base.records import dataclass, field
from psyclone_storage.ir import kernel as kern
from psyclone_storage.ir import unit as un
from psyclone_storage.ir.affine import difference
from psyclone_storage.ir.expr import Binary, Expr, Index, Name, integer_value, walk
from psyclone_storage.ir.interface import Dummy, Role
from psyclone_storage.ir.keys import key_of
from psyclone_storage.ir.operators import Operator
from psyclone_storage.ir.rewrite import expressions_of, names_in, walk_lines
from psyclone_storage.ir.routine import Routine
from psyclone_storage.ir.schedule import KernelCall, Loop, Reach

_MOST_PATHS = 4096
_LAYERS, _DOFS, _APART = 11, 5, 100


class ValuePart(Enum):
    """Part of the values of an object."""

    INSIDE = "inside"
    AROUND = "around"
    BEYOND = "beyond"


def covered_parts(
    loop: Loop, call: KernelCall, arg: int, codes: tuple[Routine, ...], all_points: str
) -> frozenset[ValuePart]:
    """Return the parts of argument `arg` that a call certainly overwrites completely."""
    described, nothing = call.kernel.args[arg], frozenset[ValuePart]()
    if described.access is not kern.Access.WRITE or described.kind is not kern.ArgKind.FIELD:
        return nothing
    points = call.kernel.points
    if loop.peel is not None:
        return nothing
    if points is None:
        owned = loop.extent.reach is not Reach.HALO_ONLY and described.mesh is None
        owned = owned and call.kernel.mask is None
        if not owned or call.kernel.is_builtin:
            return frozenset(ValuePart) if owned else nothing
        if call.kernel.iteration.over_dofs:
            sets = bool(codes) and all(_sets_dof(code, call.dummies, arg) for code in codes)
            return frozenset(ValuePart) if sets else nothing
        filled = bool(codes) and all(fills_columns(code, call.dummies, arg) for code in codes)
        return frozenset({ValuePart.INSIDE, ValuePart.AROUND}) if filled else nothing
    if loop.parts or points.bounds is not None:
        return nothing
    if not codes or not all(_always(code, arg) for code in codes):
        return nothing
    if loop.bounds is not None:
        return _parts_within(loop.bounds)
    around = {ValuePart.AROUND} if points.name == all_points else set()
    return frozenset({ValuePart.INSIDE, *around})


def _parts_within(bounds: kern.GridBounds) -> frozenset[ValuePart]:
    """Return the parts of a field whose points all lie within `bounds`.

    A field has no internal point outside the internal region of its grid, and no boundary point
    more than one point outside of it.
    """
    outside = (
        difference(kern.FIRST_INTERNAL, bounds.outer_start),
        difference(kern.FIRST_INTERNAL, bounds.inner_start),
        difference(bounds.outer_stop, kern.LAST_INTERNAL),
        difference(bounds.inner_stop, kern.LAST_INTERNAL),
    )
    least = min(-1 if points is None else points for points in outside)
    return frozenset([ValuePart.INSIDE, ValuePart.AROUND][: max(least + 1, 0)])


def _sets_dof(code: Routine, dummies: tuple[Dummy, ...], arg: int) -> bool:
    """Return whether each path through `code` first writes the dof values of argument `arg`."""
    if len(dummies) != len(code.dummies):
        return False
    named = zip(code.dummy_keys, dummies, strict=True)
    keys = [key for key, one in named if one.arg == arg and one.role is Role.DOF_VALUE]
    paths = list(_paths(code.body))
    written = all(_first_is_a_write(path, key, ()) for path in paths for key in keys)
    return bool(keys) and len(paths) < _MOST_PATHS and written


def _always(code: Routine, arg: int) -> bool:
    """Return whether each path through `code` first writes the current point of argument `arg`."""
    if len(code.dummies) < arg + 3:
        return False
    key, point = code.dummy_keys[arg + 2], code.dummy_keys[:2]
    paths = list(_paths(code.body))
    return len(paths) < _MOST_PATHS and all(_first_is_a_write(path, key, point) for path in paths)


_Step = tuple[tuple[Expr, ...], Expr | None]
"""The expressions that a step of a path reads, and what it assigns to."""
_Path = tuple[_Step, ...]


def _paths(lines: tuple[un.Line, ...]) -> Iterator[_Path]:
    """Yield control-flow paths with zero or one iteration of each loop.

    Unknown statements are assumed to read everything.
    """
    for path, _ in _paths_through(lines):
        yield path


def _paths_through(lines: tuple[un.Line, ...]) -> list[tuple[_Path, bool]]:
    """Return the paths through `lines`, and whether execution continues after each."""
    found: list[tuple[_Path, bool]] = [((), True)]
    for line in lines:
        steps = _paths_of(line)
        found = [
            (path + more, on_behind) if goes_on else (path, False)
            for path, goes_on in found
            for more, on_behind in (steps if goes_on else [((), False)])
        ][:_MOST_PATHS]
    return found


_ANYTHING: _Step = ((Name("*"),), None)


def _paths_of(line: un.Line) -> list[tuple[_Path, bool]]:
    match line:
        case un.Blank() | un.Comment() | un.Continue():
            return [((), True)]
        case un.Assign(target, value):
            subscripts = target.items if isinstance(target, Index) else ()
            return [((((value, *subscripts), target),), True)]
        case un.Return(None):
            return [((), False)]
        case un.Do(body=body):
            return [((), True), *_paths_through(body)]
        case un.If(branches, otherwise):
            paths: list[tuple[_Path, bool]] = []
            tests: tuple[Expr, ...] = ()
            for branch in branches:
                tests = (*tests, branch.condition)
                head: _Path = ((tests, None),)
                paths += [(head + path, on) for path, on in _paths_through(branch.body)]
            return [
                *paths,
                *((((tests, None), *path), on) for path, on in _paths_through(otherwise)),
            ]
    return [((_ANYTHING,), True)]


def _first_is_a_write(path: _Path, key: str, point: tuple[str, ...]) -> bool:
    """Return whether the first access to `key` writes element `point` or the whole variable."""
    for looked, target in path:
        if any(key in names_in(expr) or expr == Name("*") for expr in looked):
            return False
        if isinstance(target, Name) and target.key == key:
            return True
        if isinstance(target, Index) and isinstance(target.base, Name) and target.base.key == key:
            return tuple(getattr(item, "key", "") for item in target.items) == tuple(point)
    return False


# ---------------------------------------------------------------------------- columns of cells


@dataclass(slots=True)
class _ColumnRun:
    """State of the symbolic execution of a kernel for one column.

    It contains the values of integers by name, None if unknown, the dofmaps, and the written
    elements of `array`. `looks` caches, by the identity of an expression, how often the expression
    names the array, and the subscripts of its elements.
    """

    array: str
    numbers: dict[str, int | None]
    maps: frozenset[str]
    dummies: frozenset[str]
    written: set[int] = field(default_factory=set)
    fails: bool = False
    looks: dict[int, tuple[int, tuple[Expr, ...]]] = field(default_factory=dict)


@kept_with_first
def fills_columns(code: Routine, dummies: tuple[Dummy, ...], arg: int) -> bool:
    """Return whether all values of a column are written before any is read."""
    if len(dummies) != len(code.dummies):
        return False
    named = tuple(zip(map(key_of, code.dummies), dummies, strict=True))
    arrays = [name for name, one in named if one.arg == arg and one.role is Role.FIELD]
    space = {one.space for _, one in named if one.arg == arg and one.role is Role.FIELD}
    sizes = {Role.NLAYERS: _LAYERS, Role.NDF: _DOFS}
    numbers = {name: sizes[one.role] for name, one in named if one.role in sizes}
    maps = frozenset(name for name, one in named if one.role is Role.DOFMAP and one.space in space)
    all_of_them = {dof * _APART + k for dof in range(1, _DOFS + 1) for k in range(_LAYERS)}
    for array in arrays:
        known = maps if len(maps) == 1 else frozenset[str]()
        run = _ColumnRun(array, dict(numbers), known, frozenset(numbers))
        _run(run, code.body)
        if run.fails or not all_of_them <= run.written:
            return False
    return bool(arrays)


def _run(run: _ColumnRun, lines: tuple[un.Line, ...]) -> None:
    for line in lines:
        if run.fails:
            return
        match line:
            case un.Blank() | un.Comment():
                continue
            case un.Assign():
                _assign(run, line)
            case un.Do():
                _count(run, line)
            case _:
                _forget(run, tuple(walk_lines((line,))))


def _forget(run: _ColumnRun, lines: tuple[un.Line, ...]) -> None:
    """Treat statements as unknown: they may change all variables that they name, or jump."""
    everything = [expr for line in lines for expr in expressions_of(line)]
    names = {part.key for expr in everything for part in walk(expr) if isinstance(part, Name)}
    run.numbers.update(dict.fromkeys((names & run.numbers.keys()) - run.dummies))
    stays = all(
        isinstance(line, un.Assign | un.Do | un.If | un.Call | un.Blank | un.Comment)
        for line in lines
    )
    run.fails = run.fails or run.array in names or not stays


def _assign(run: _ColumnRun, line: un.Assign) -> None:
    _look(run, line.value)
    match line.target:
        case Index(Name() as base, (item,)) if base.key == run.array:
            if (place := _number(run, item)) is not None:
                run.written.add(place)
        case Name() as name:
            run.numbers[name.key] = _number(run, line.value)


def _look(run: _ColumnRun, value: Expr) -> None:
    """Record reads of array elements in `value`; fail if one may not have been written."""
    if (found := run.looks.get(id(value))) is None:
        found = run.looks[id(value)] = _elements(run.array, value)
    mentions, subscripts = found
    if mentions:
        read = sum(_number(run, item) in run.written for item in subscripts)
        run.fails = run.fails or mentions > read


def _elements(array: str, value: Expr) -> tuple[int, tuple[Expr, ...]]:
    """Return how often `value` names `array`, and the subscripts of the array's elements."""
    parts = tuple(walk(value))
    mentions = sum(isinstance(part, Name) and part.key == array for part in parts)
    subscripts = [
        part.items[0]
        for part in parts
        if isinstance(part, Index) and isinstance(part.base, Name) and part.base.key == array
        if len(part.items) == 1
    ]
    return mentions, tuple(subscripts)


def _count(run: _ColumnRun, loop: un.Do) -> None:
    start, stop = _number(run, loop.start), _number(run, loop.stop)
    step = 1 if loop.step is None else _number(run, loop.step)
    if start is None or stop is None or not step:
        return _run_unknown(run, loop)
    for value in range(start, stop + (1 if step > 0 else -1), step):
        run.numbers[loop.variable.key] = value
        _run(run, loop.body)
    return None


def _run_unknown(run: _ColumnRun, loop: un.Do) -> None:
    """Execute a loop body once for an unknown iteration, and discard the writes."""
    before = set(run.written)
    run.numbers[loop.variable.key] = None
    _run(run, loop.body)
    run.written = before


def _number(run: _ColumnRun, expr: Expr) -> int | None:
    if (known := integer_value(expr)) is not None:
        return known
    match expr:
        case Name():
            return run.numbers.get(expr.key)
        case Index(Name() as base, (item,)) if base.key in run.maps:
            dof = _number(run, item)
            return None if dof is None else dof * _APART
        case Binary(Operator.PLUS | Operator.MINUS as op, left, right):
            one, other = _number(run, left), _number(run, right)
            if one is None or other is None:
                return None
            return one + other if op is Operator.PLUS else one - other
    return None
