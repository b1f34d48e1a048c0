"""Execute the code of kernels for columns of cells, as far as subscripts of one array go.

Serves the adversary of `check_holding`, and so it shares nothing with `bodies.everywhere`. A column
has more layers, and every space more dofs, than code would name; each dof is far from the next.
What stands under a condition does not happen. A value of which nothing is known is None.
"""

from __future__ import annotations

from psyclone_storage.base.records import dataclass, field
from psyclone_storage.ir.code import KernelCode
from psyclone_storage.ir.expr import Binary, Expr, Index, Name, integer_value, walk
from psyclone_storage.ir.interface import Dummy, Role
from psyclone_storage.ir.keys import key_of
from psyclone_storage.ir.operators import Operator
from psyclone_storage.ir.rewrite import expressions_of, walk_lines
from psyclone_storage.ir.unit import Assign, Blank, Call, Comment, Do, If, Line

_LAYERS, _DOFS, _APART = 11, 5, 100


@dataclass(slots=True)
class _ColumnRun:
    """What is known while code runs: numbers by name, dofmaps, and the elements of one array.

    An expression that is computed for each dof and layer is looked through once: `looks` has, by
    what it is in memory, how often it names the array, and the subscripts of elements.
    """

    array: str
    numbers: dict[str, int | None]
    maps: frozenset[str]
    dummies: frozenset[str]
    written: set[int] = field(default_factory=set)
    fails: bool = False
    looks: dict[int, tuple[int, tuple[Expr, ...]]] = field(default_factory=dict)


def fills_columns(code: KernelCode, dummies: tuple[Dummy, ...], arg: int) -> bool:
    """Return whether all values of a column are written before any of them is read."""
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


def _run(run: _ColumnRun, lines: tuple[Line, ...]) -> None:
    for line in lines:
        if run.fails:
            return
        match line:
            case Blank() | Comment():
                continue
            case Assign():
                _assign(run, line)
            case Do():
                _count(run, line)
            case _:
                _forget(run, tuple(walk_lines((line,))))


def _forget(run: _ColumnRun, lines: tuple[Line, ...]) -> None:
    """Take a statement for one that may do anything with what it names, or go on elsewhere."""
    everything = [expr for line in lines for expr in expressions_of(line)]
    names = {part.key for expr in everything for part in walk(expr) if isinstance(part, Name)}
    run.numbers.update(dict.fromkeys((names & run.numbers.keys()) - run.dummies))
    stays = all(isinstance(line, Assign | Do | If | Call | Blank | Comment) for line in lines)
    run.fails = run.fails or run.array in names or not stays


def _assign(run: _ColumnRun, line: Assign) -> None:
    _look(run, line.value)
    match line.target:
        case Index(Name() as base, (item,)) if base.key == run.array:
            if (place := _number(run, item)) is not None:
                run.written.add(place)
        case Name() as name:
            run.numbers[name.key] = _number(run, line.value)


def _look(run: _ColumnRun, value: Expr) -> None:
    """Read elements, which must have been written."""
    if (found := run.looks.get(id(value))) is None:
        found = run.looks[id(value)] = _elements(run.array, value)
    mentions, subscripts = found
    if mentions:
        read = sum(_number(run, item) in run.written for item in subscripts)
        run.fails = run.fails or mentions > read


def _elements(array: str, value: Expr) -> tuple[int, tuple[Expr, ...]]:
    """Return how often a value names an array, and the subscripts of the elements in it."""
    parts = tuple(walk(value))
    mentions = sum(isinstance(part, Name) and part.key == array for part in parts)
    subscripts = [
        part.items[0]
        for part in parts
        if isinstance(part, Index) and isinstance(part.base, Name) and part.base.key == array
        if len(part.items) == 1
    ]
    return mentions, tuple(subscripts)


def _count(run: _ColumnRun, loop: Do) -> None:
    start, stop = _number(run, loop.start), _number(run, loop.stop)
    step = 1 if loop.step is None else _number(run, loop.step)
    if start is None or stop is None or not step:
        return _run_unknown(run, loop)
    for value in range(start, stop + (1 if step > 0 else -1), step):
        run.numbers[loop.variable.key] = value
        _run(run, loop.body)
    return None


def _run_unknown(run: _ColumnRun, loop: Do) -> None:
    """Run the body of a loop as if once, in which nothing is known to be written."""
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
