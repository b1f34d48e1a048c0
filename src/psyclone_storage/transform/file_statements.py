"""Steps that replace statements of a routine by others, with the variables that these need."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import ClassVar

from psyclone_storage.base.diagnostic import CompileError, Diagnostic
from psyclone_storage.base.names import NameTable
from psyclone_storage.base.records import dataclass, field, replace
from psyclone_storage.ir import unit as un
from psyclone_storage.ir.expr import Expr, Name, spell
from psyclone_storage.ir.keys import key_of
from psyclone_storage.ir.rewrite import (
    blocks_of,
    contains_class,
    contains_line,
    everywhere,
    first_words,
    names_inside,
    place_of_line,
    replaced_line,
    substituted,
    walk_lines,
)
from psyclone_storage.ir.routine import DeclarationStatement, Routine, UseStatement
from psyclone_storage.passes.scratch import names_of
from psyclone_storage.transform.kernel.code import ChangesCode


@dataclass(frozen=True, slots=True)
class EditRoutine:
    """Exchange all statements of a routine, `before`, for others."""

    routine: str
    before: tuple[un.Line, ...] = field(repr=False)
    after: tuple[un.Line, ...] = field(repr=False)
    title: str = "edit"
    declares: tuple[un.Declare, ...] = ()
    uses: tuple[un.Use, ...] = ()

    @property
    def name(self) -> str:
        """The name of the step."""
        return self.title


@dataclass(frozen=True, slots=True, eq=False)
class RewriteStatement:
    """Apply a step on the code of kernels to one statement of a routine, and to all in it.

    The step sees the declarations of the routine, but no other statement. Objects are compared by
    identity, because equal statements may be at different places.
    """

    routine: str
    line: un.Line = field(repr=False)
    step: ChangesCode

    @property
    def name(self) -> str:
        """The name of the step."""
        return self.step.name


@dataclass(frozen=True, slots=True, eq=False)
class InlineStatement:
    """Replace the calls in a statement of a routine by the statements of the procedures.

    If `call` is a reference to a function in the statement, only that is replaced.
    """

    routine: str
    line: un.Line = field(repr=False)
    call: Expr | None = field(default=None, repr=False)
    name: ClassVar[str] = "inline"


def with_statement(code: Routine, line: un.Line, after: Routine) -> Routine:
    """Return a routine with the statements of `after`, and what these need, instead of one.

    Raises:
        CompileError: `T060`, the place of the statement allows no others.
    """
    specified = () if after.specification is code.specification else after.declarations
    new = [
        item
        for item in specified
        if isinstance(item, un.Declare) and code.declared(item.key) is None
    ]
    _check_place(code, line, after.body, bool(new))
    uses = tuple(map(UseStatement, after.uses[len(code.uses) :]))
    if not new:
        items = (*uses, *code.specification)
        body = _with_lines(code, line, after.body)
        return replace(code, body=body, specification=items if uses else code.specification)
    others = frozenset().union(*map(names_inside, code.body))
    table = NameTable((*names_of(replace(code, body=())), *others))
    values: dict[str, Expr] = {
        item.key: Name(table.fresh(item.name)) for item in new if item.key in others
    }
    lines = after.body
    if values:
        lines = everywhere(lines, lambda expr: substituted(expr, values))
        new = [replace(item, name=spell(values.get(item.key, Name(item.name)))) for item in new]
    items = (*uses, *code.specification, *(DeclarationStatement((item,)) for item in new))
    return replace(code, body=_with_lines(code, line, lines), specification=items)


def _with_lines(code: Routine, line: un.Line, new: tuple[un.Line, ...]) -> tuple[un.Line, ...]:
    """Return the statements of `code` with `new` ones instead of one.

    Raises:
        CompileError: `T060`, the statement is the condition of an 'else if'.
    """
    body = replaced_line(code.body, line, new)
    if body is code.body and line not in new:
        message = "No statement can be added before the condition of an 'else if'."
        raise CompileError(Diagnostic("T060", message, place_of_line(line)))
    return body


def _check_place(
    code: Routine, line: un.Line, after: tuple[un.Line, ...], has_variables: bool
) -> None:
    """Check that the construct around a statement may hold the statements that replace it.

    A `forall` or a `where` holds only assignments. The iterations of `do concurrent` would share
    the new variables. A directive of the author belongs to the loop that follows it, and a
    `workshare` of the author holds no loops.

    Raises:
        CompileError: `T060`, the construct may not hold them.
    """
    if isinstance(line, un.Do) and not isinstance(after[0], un.Do) and _has_directive(code, line):
        message = f"No statement can be added between a directive and '{first_words(line)}'."
        raise CompileError(Diagnostic("T060", message, place_of_line(line)))
    is_assignment = len(after) == 1 and isinstance(after[0], un.Assign)
    if not is_assignment and _is_in_workshare(code, line):
        message = f"No other statements can replace '{first_words(line)}' in a 'workshare'."
        raise CompileError(Diagnostic("T060", message, place_of_line(line)))
    masked = () if is_assignment else (un.Where, un.Forall)
    constructs = (*masked, *((un.DoConcurrent,) if has_variables else ()))
    for outer in _around(code.body, line):
        if isinstance(outer, constructs):
            message = f"No statement can be added before '{first_words(line)}'"
            message += f", which is in '{first_words(outer)}'."
            raise CompileError(Diagnostic("T060", message, place_of_line(line)))


def _has_directive(code: Routine, line: un.Line) -> bool:
    """Return whether a directive of the author precedes a statement."""
    if not contains_class(code.body, un.DirectiveLine):
        return False
    before: un.Line | None = None
    for one in walk_lines(code.body):
        if one is line:
            break
        if not isinstance(one, un.Blank | un.Comment):
            before = one
    return isinstance(before, un.DirectiveLine)


def _is_in_workshare(code: Routine, line: un.Line) -> bool:
    """Return whether a `workshare` construct of the author contains a statement."""
    inside = False
    for one in walk_lines(code.body):
        if one is line:
            break
        words = key_of(one.text).split() if isinstance(one, un.DirectiveLine) else []
        if "workshare" in words:
            inside = not words[1].startswith("end")
    return inside


def _around(lines: Iterable[un.Line], line: un.Line) -> Iterator[un.Line]:
    """Yield the constructs among statements that contain the very statement `line`, outer first."""
    for one in lines:
        if contains_line(one, line):
            yield one
            yield from _around(chain.from_iterable(blocks_of(one)), line)
