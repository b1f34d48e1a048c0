"""Mapping of the statements of a routine to device threads.

The lowering marks loops with one thread per iteration by `SHARED`. A thread executes every n-th
iteration, so that any number of threads computes the same result. Loops over grid points have a
thread for each point, unless a point depends on another. A single thread executes all other
statements.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from psyclone_storage.base.diagnostic import InternalError
from psyclone_storage.base.names import NameTable
from psyclone_storage.base.records import dataclass, replace
from psyclone_storage.ir import unit as un
from psyclone_storage.ir.directive import NO_OPTIONS, Directive
from psyclone_storage.ir.expr import Binary, Element, Expr, Name, integer_value, spell
from psyclone_storage.ir.keys import key_of
from psyclone_storage.ir.operators import Operator
from psyclone_storage.ir.rewrite import rewritten
from psyclone_storage.ir.routine import Routine
from psyclone_storage.languages.c.entry_points import cross_point_writes
from psyclone_storage.targets.numpy.expressions import python_identifier
from psyclone_storage.targets.python_host import expression_text

SHARED = Directive.ACC_LOOP
THREAD = "blockIdx.x * blockDim.x + threadIdx.x"
"""The number of a thread, in CUDA."""
THREAD_INDEX = f"(int32_t) ({THREAD})"
MOST_THREADS = 1 << 20
"""As many as one launch has at most: what is counted by them keeps a place in 32 bits."""
MOST_SUMMING = 1 << 14
"""As many as sum exactly: each has digits of its own, and gives them to all when it is done."""


@dataclass(frozen=True, slots=True)
class SharedLoop:
    """Distribution of a loop over threads; `first` and `last` are its bounds.

    `thread` is the thread number from 0, `count` the number of threads, at most `most`. If the loop
    runs once for each of `colours`, `colour` is the current colour.
    """

    thread: Name
    count: Name
    first: Expr
    last: Expr
    most: int = MOST_THREADS
    colour: Name | None = None
    colours: Expr | None = None

    @property
    def arguments(self) -> tuple[Name, ...]:
        """The additional arguments of a thread."""
        return self.thread, self.count

    @property
    def indices(self) -> Mapping[str, str]:
        """The CUDA expression of each variable with a thread number, by key."""
        return {self.thread.key: THREAD_INDEX}


@dataclass(frozen=True, slots=True)
class SharedPoints:
    """Distribution of loops over points; `column` and `row` are counted from 0."""

    column: Name
    row: Name

    @property
    def arguments(self) -> tuple[Name, ...]:
        """The additional arguments of a thread."""
        return self.column, self.row

    @property
    def indices(self) -> Mapping[str, str]:
        """The CUDA expression of each variable with a thread number, by key."""
        row = "(int32_t) (blockIdx.y * blockDim.y + threadIdx.y)"
        return {self.column.key: THREAD_INDEX, self.row.key: row}


def shared(loop: un.Do) -> un.DirectiveBlock:
    """Return a loop marked for one thread per iteration."""
    return un.DirectiveBlock(SHARED, NO_OPTIONS, (loop,))


def without_directives(lines: Iterable[un.Line]) -> tuple[un.Line, ...]:
    """Return statements without directives for host threads or devices."""
    return rewritten(lines, _without_directive)


def _without_directive(line: un.Line) -> tuple[un.Line, ...]:
    if isinstance(line, un.TaskWaitLine):
        return ()
    return line.body if isinstance(line, un.DirectiveBlock) else (line,)


def in_threads(
    lines: tuple[un.Line, ...], names: NameTable, most: int = MOST_THREADS
) -> tuple[tuple[un.Line, ...], SharedLoop | None]:
    """Return the statements of one thread, and their distribution; None for a single thread.

    `most` is the maximum number of threads.
    """
    found = _shared_loop(_without_remarks(lines))
    if found is None:
        return without_directives(lines), None
    colours, loop = found
    thread, count = Name(names.fresh("thread")), Name(names.fresh("threads"))
    own = replace(
        loop,
        start=Binary(Operator.PLUS, loop.start, thread),
        step=count,
        body=without_directives(loop.body),
    )
    remarks = tuple(line for line in lines if isinstance(line, un.Comment))
    how = SharedLoop(thread, count, loop.start, loop.stop, most)
    if colours is not None:
        how = replace(how, colour=colours.variable, colours=colours.stop)
    return (*remarks, own), how


def _shared_loop(done: Sequence[un.Line]) -> tuple[un.Do | None, un.Do] | None:
    """Return the loop over colours and the distributed loop, if there is nothing else."""
    match done:
        case [un.DirectiveBlock(directive=directive, body=(un.Do() as loop,))] if (
            directive is SHARED
        ):
            return None, loop
        case [un.Do(body=body) as colours]:
            inner = _without_remarks(body)
            found = _shared_loop(inner) if len(inner) == 1 else None
            if found is not None and found[0] is None:
                return colours, found[1]
    return None


def threads_text(how: SharedLoop) -> str:
    """Return the Python expression for the number of threads."""
    ends = [_most(how.last)]
    if integer_value(how.first) != 1:
        ends += [f"- ({expression_text(how.first)}) + 1"]
    return f"min(max({' '.join(ends)}, 0), {how.most})"


def _most(last: Expr) -> str:
    """Return the maximum of the last iteration over all colours."""
    match last:
        case Element(Name(text), _):
            return f"int({python_identifier(text)}.max(initial=0))"
        case Element():
            raise InternalError("A loop ends where an element of no table says.")
    return expression_text(last)


# ---------------------------------------------------------------------------- points


def points_in_threads(
    lines: tuple[un.Line, ...], routine: un.GeneratedRoutine, codes: Mapping[str, Routine]
) -> tuple[tuple[un.Line, ...], SharedPoints | None]:
    """Return the statements of one thread for loops over points, and their distribution.

    Points have separate threads for two loops around one call, if no point depends on another.
    Loops over tiles are for host threads and are removed.
    """
    plain_lines = without_directives(lines)
    done = _without_remarks(plain_lines)
    outer = _without_tiles(done[0]) if len(done) == 1 else None
    inner = _only_statement(outer)
    call = _only_statement(inner)
    if not (isinstance(outer, un.Do) and isinstance(inner, un.Do) and isinstance(call, un.Call)):
        return plain_lines, None
    code = codes.get(key_of(spell(call.procedure)))
    loops = {loop.variable: loop for loop in (outer, inner)}
    if code is None or cross_point_writes(code) or set(call.args[:2]) != loops.keys():
        return plain_lines, None
    names = NameTable(one.name for one in (*routine.dummies, *routine.variables))
    points = SharedPoints(Name(names.fresh("column")), Name(names.fresh("row")))
    starts = (
        un.Assign(
            counter, Binary(Operator.PLUS, loop.start, points.arguments[call.args.index(counter)])
        )
        for counter, loop in loops.items()
    )
    in_columns, in_rows = (
        Binary(Operator.LESS_EQUAL, index, loops[index].stop)
        for index in call.args[:2]
        if isinstance(index, Name)
    )
    inside = Binary(Operator.AND, in_columns, in_rows)
    return (*starts, un.If((un.Branch(inside, inner.body),))), points


def _without_remarks(lines: tuple[un.Line, ...]) -> list[un.Line]:
    return [line for line in lines if not isinstance(line, un.Blank | un.Comment)]


def _without_tiles(line: un.Line) -> un.Line:
    """Return a tiled loop nest as loops over rows and columns.

    Other loops are returned unchanged.
    """
    if not isinstance(line, un.Do) or line.step is None:
        return line
    rows = _only_statement(replace(line, step=None))
    columns = _only_statement(rows)
    if not (
        isinstance(rows, un.Do) and isinstance(columns, un.Do) and columns.start == line.variable
    ):
        return line
    return replace(rows, body=(replace(columns, start=line.start, stop=line.stop),))


def _only_statement(line: un.Line | None) -> un.Line | None:
    """Return the only statement in a loop with step 1, or None."""
    if not isinstance(line, un.Do) or line.step is not None:
        return None
    inner = _without_remarks(line.body)
    return inner[0] if len(inner) == 1 else None
