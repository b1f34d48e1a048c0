"""Kernels that compute strips of adjacent columns together, layer by layer.

    before: do i: do k = 2, n; p = 1 + c(k, i) - a(k - 1, i); a(k, i) = b(k, i) / p
    after:  do strip = first, last, 16
              end = min(strip + 15, last)
              do k = 2, n
                do i = strip, end
                  p(i - strip + 1) = 1 + c(k, i) - a(k - 1, i)
                  a(k, i) = b(k, i) / p(i - strip + 1)

The innermost loop can be vectorised, because columns are independent. Each column undergoes the
same operations in the same order, so results are bit-identical. Statements that only some columns
execute are in a branch of the innermost loop.
"""

from __future__ import annotations

from psyclone_storage.analysis.bodies.columns import ColumnLoops, column_loops
from psyclone_storage.base.records import replace
from psyclone_storage.ir import expr as ex
from psyclone_storage.ir import unit as un
from psyclone_storage.ir.keys import key_of
from psyclone_storage.ir.linking import linked
from psyclone_storage.ir.operators import Operator
from psyclone_storage.ir.rewrite import everywhere, walk_lines, with_each_block, with_parts
from psyclone_storage.ir.routine import Routine, Specified
from psyclone_storage.passes.scalarise import (
    array_assignments,
    check_assignments,
    scalarise_assignments,
)
from psyclone_storage.passes.scratch import INTEGER, Scratch
from psyclone_storage.passes.structured_returns import without_returns

COLUMNS = 16
"""The number of columns in a strip: two to four vectors, whose divisions overlap."""


def in_strips(code: Routine, column: str) -> tuple[Routine, tuple[str, str]]:
    """Return a kernel for the columns from a first to a last one, and the names of both.

    The first column replaces the argument `column`, the index of one column, which must be
    declared; the last column is the last argument.

    Raises:
        NoStripsError: columns cannot be computed together, or that would gain nothing.
    """
    code = _prepared(code)
    loops = column_loops(code, key_of(column))
    scratch = Scratch(code)
    first, last = (scratch.fresh(f"{column}_{end}") for end in ("first", "last"))
    strips = _Strips(code, loops, scratch, ex.Name(column))
    body = strips.loop(ex.Name(first), ex.Name(last))
    declared: list[Specified] = []
    for item in scratch.code.declarations:
        if isinstance(item, un.Declare) and item.key == key_of(column):
            declared += (replace(item, name=name) for name in (first, last))
            declared.append(un.Declare(item.name, item.type))
        elif isinstance(item, un.Declare) and item.key in loops.scalars | loops.arrays:
            declared.append(replace(item, shape=(ex.whole(COLUMNS), *item.shape)))
        else:
            declared.append(item)
    made = scratch.code.with_specification(declarations=declared)
    dummies = (first if key_of(name) == key_of(column) else name for name in code.dummies)
    return linked(replace(made, dummies=(*dummies, last), body=(body,))), (first, last)


def _prepared(code: Routine) -> Routine:
    """Return a kernel without early returns and assignments to whole arrays, where possible."""
    code = replace(code, body=without_returns(code.body))
    if any(array_assignments(code)) and not check_assignments(code):
        code = linked(scalarise_assignments(code))
    return code


class _Strips:
    """The rewrite of one kernel."""

    def __init__(
        self, code: Routine, loops: ColumnLoops, scratch: Scratch, column: ex.Name
    ) -> None:
        self._code = code
        self._loops = loops
        self._scratch = scratch
        self._column = column
        self._strip = scratch.counter(f"{column.text}_strip")
        self._end = scratch.counter(f"{column.text}_end")
        offset = ex.Binary(Operator.MINUS, column, self._strip)
        self._position = ex.Binary(Operator.PLUS, offset, ex.whole(1))

    def loop(self, first: ex.Expr, last: ex.Expr) -> un.Do:
        """Return the loop over strips."""
        furthest = ex.Binary(Operator.PLUS, self._strip, ex.whole(COLUMNS - 1))
        end = un.Assign(self._end, ex.intrinsic("min", furthest, last))
        body = (end, *self._lines(self._code.body, None))
        return un.Do(self._strip, first, last, body, ex.whole(COLUMNS))

    def _lines(self, lines: tuple[un.Line, ...], taken: ex.Expr | None) -> tuple[un.Line, ...]:
        """Return statements for all columns of a strip for which `taken` holds."""
        made: list[un.Line] = []
        group: list[un.Line] = []
        for line in lines:
            if isinstance(line, un.Comment | un.Blank | un.Continue):
                continue
            together = self._together(line, taken)
            if together is None:
                group.append(line)
            else:
                made += (*self._for_each(group, taken), *together)
                group = []
        return (*made, *self._for_each(group, taken))

    def _for_each(self, lines: list[un.Line], taken: ex.Expr | None) -> tuple[un.Line, ...]:
        """Return the innermost loop, over the columns of a strip."""
        if not lines:
            return ()
        body = everywhere(lines, self._own)
        if taken is not None:
            body = (un.If((un.Branch(taken, body),)),)
        return (self._each(body),)

    def _each(self, body: tuple[un.Line, ...]) -> un.Do:
        return un.Do(self._column, self._strip, self._end, body)

    def _together(self, line: un.Line, taken: ex.Expr | None) -> tuple[un.Line, ...] | None:
        """Return a statement that all columns execute together; None if each executes it alone."""
        match line:
            case un.Assign(target=ex.Name(key=key)) if key in self._loops.uniform:
                return (line,)
            case un.Do() if id(line) in self._loops.common:
                return (replace(line, body=self._lines(line.body, taken)),)
            case un.If() if id(line) in self._loops.common:
                return (with_each_block(line, lambda block: self._lines(block, taken)),)
            case un.If() if any(id(one) in self._loops.common for one in walk_lines((line,))
                                if isinstance(one, un.Do)):  # fmt: skip
                return self._branches(line, taken)
        return None

    def _branches(self, choice: un.If, taken: ex.Expr | None) -> tuple[un.Line, ...]:
        """Return a choice whose branches contain common loops.

        The number of its branch is stored for each column first.
        """
        branch = self._scratch.variable("branch", INTEGER, (ex.whole(COLUMNS),))
        some = self._scratch.variable("some", INTEGER)
        mine = ex.Element(branch, (self._position,))
        blocks = [one.body for one in choice.branches]
        blocks += [choice.otherwise] if choice.otherwise else []
        made: list[un.Line] = [self._numbered(choice, mine, taken)]
        for number, block in enumerate(blocks, 1):
            here = ex.Binary(Operator.EQUAL, mine, ex.whole(number))
            found = un.If((un.Branch(here, (un.Assign(some, ex.whole(1)),)),))
            if inside := self._lines(block, here):
                any_here = ex.Binary(Operator.EQUAL, some, ex.whole(1))
                made += (
                    un.Assign(some, ex.whole(0)),
                    self._each((found,)),
                    un.If((un.Branch(any_here, inside),)),
                )
        return tuple(made)

    def _numbered(self, choice: un.If, number: ex.Expr, taken: ex.Expr | None) -> un.Do:
        """Return the loop that stores the number of the branch of each column; 0 for none."""
        branches = tuple(
            un.Branch(self._own(one.condition), (un.Assign(number, ex.whole(which)),))
            for which, one in enumerate(choice.branches, 1)
        )
        last = un.Assign(number, ex.whole(len(branches) + 1))
        test: un.Line = un.If(branches, (last,) if choice.otherwise else ())
        if taken is not None:
            test = un.If((un.Branch(taken, (test,)),))
        return self._each((un.Assign(number, ex.whole(0)), test))

    def _own(self, expr: ex.Expr) -> ex.Expr:
        """Return an expression with the variables of one column of the strip."""
        match expr:
            case ex.Name(key=key) if key in self._loops.scalars:
                return ex.Element(expr, (self._position,))
            case ex.Element(ex.Name(key=key) as base, items) if key in self._loops.arrays:
                return ex.Element(base, (self._position, *map(self._own, items)))
        return with_parts(expr, self._own)
