"""Which statements of a routine threads of a device share, and how many of them there are.

A loop under `SHARED` is one whose iterations have threads of their own; who lowers a schedule for a
device puts it there. A thread takes every n-th iteration, from its own number on, so that any
number of threads computes the same. What stands in no such loop is done by one thread.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from psyclone_storage.backend.numpy.printer import text_of
from psyclone_storage.backend.numpy.spelling import plain
from psyclone_storage.base.diagnostic import InternalError
from psyclone_storage.base.names import NameTable
from psyclone_storage.base.records import dataclass, replace
from psyclone_storage.ir.directive import NO_OPTIONS, Directive
from psyclone_storage.ir.expr import Binary, Element, Expr, Name, integer_value
from psyclone_storage.ir.operators import Operator
from psyclone_storage.ir.rewrite import rewritten
from psyclone_storage.ir.unit import Assign, Blank, Comment, DirectiveBlock, Do, Line, TaskWaitLine

SHARED = Directive.ACC_LOOP
MOST_THREADS = 1 << 20
"""As many as one launch has at most: what is counted by them keeps a place in 32 bits."""
MOST_SUMMING = 1 << 14
"""As many as sum exactly: each has digits of its own, and gives them to all when it is done."""


@dataclass(frozen=True, slots=True)
class SharedLoop:
    """How threads share a loop: `first` to `last` are its iterations.

    `thread` is the number of one, from 0, of `count`. Where they share the loop once for each of
    some `colours`, `colour` is what says for which. There are `most` threads at most.
    """

    thread: Name
    count: Name
    first: Expr
    last: Expr
    most: int = MOST_THREADS
    colour: Name | None = None
    colours: Expr | None = None


def shared(loop: Do) -> DirectiveBlock:
    """Return a loop whose iterations have threads of their own."""
    return DirectiveBlock(SHARED, NO_OPTIONS, (loop,))


def without_directives(lines: Iterable[Line]) -> tuple[Line, ...]:
    """Return statements without what threads of a host, or compilers of devices, are told."""
    return rewritten(lines, _without_directive)


def _without_directive(line: Line) -> tuple[Line, ...]:
    if isinstance(line, TaskWaitLine):
        return ()
    return line.body if isinstance(line, DirectiveBlock) else (line,)


def in_threads(
    lines: tuple[Line, ...], names: NameTable, most: int = MOST_THREADS
) -> tuple[tuple[Line, ...], SharedLoop | None]:
    """Return what one thread does of statements, and how threads share them; None for one alone.

    There are `most` threads at most.
    """
    done = [line for line in lines if not isinstance(line, Blank | Comment)]
    found = _shared_loop(done)
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
    remarks = tuple(line for line in lines if isinstance(line, Comment))
    how = SharedLoop(thread, count, loop.start, loop.stop, most)
    if colours is not None:
        how = replace(how, colour=colours.variable, colours=colours.stop)
    return (*remarks, own), how


def _shared_loop(done: Sequence[Line]) -> tuple[Do | None, Do] | None:
    """Return the loop that threads share, if that is all there is, and the one over colours."""
    match done:
        case [DirectiveBlock(directive=directive, body=(Do() as loop,))] if directive is SHARED:
            return None, loop
        case [Do(body=body) as colours]:
            inner = [line for line in body if not isinstance(line, Blank | Comment)]
            found = _shared_loop(inner) if len(inner) == 1 else None
            if found is not None and found[0] is None:
                return colours, found[1]
    return None


def threads_text(how: SharedLoop) -> str:
    """Return how Python finds, in a set-up, how many threads there are to be."""
    ends = [_most(how.last)]
    if integer_value(how.first) != 1:
        ends += [f"- ({text_of(how.first)}) + 1"]
    return f"min(max({' '.join(ends)}, 0), {how.most})"


def _most(last: Expr) -> str:
    """Return the last iteration, of all colours the one that is greatest."""
    match last:
        case Element(Name(text), _):
            return f"int({plain(text)}.max(initial=0))"
        case Element():
            raise InternalError("A loop ends where an element of no table says.")
    return text_of(last)


def begins_new(before: Line, _line: Line) -> bool:
    """Return whether a statement is no part of what the one before it begins.

    What a loop reduces to is set by the statements before it.
    """
    return not (isinstance(before, Assign) and isinstance(before.target, Name))
