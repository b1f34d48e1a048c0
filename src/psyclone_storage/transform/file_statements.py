"""Statements of a routine that a step replaces by others, with the variables that these need."""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain
from operator import is_

from psyclone_storage.base.diagnostic import CompileError, Diagnostic, raise_if_any
from psyclone_storage.base.names import NameTable
from psyclone_storage.base.records import replace
from psyclone_storage.ir import unit as un
from psyclone_storage.ir.expr import Expr, Name, spell
from psyclone_storage.ir.rewrite import (
    blocks_of,
    everywhere,
    first_words,
    names_of_line,
    place_of_line,
    substituted,
    walk_lines,
    with_changed_blocks,
)
from psyclone_storage.ir.routine import DeclarationStatement, Routine, UseStatement
from psyclone_storage.passes.scratch import names_of
from psyclone_storage.transform.kernel.code import ChangesCode, placed

NamesOfLine = Callable[[un.Line], frozenset[str]]
"""Returns the names in one statement, without those of nested statements."""


def with_rewritten(
    code: Routine, line: un.Line, step: ChangesCode, names: NamesOfLine = names_of_line
) -> Routine:
    """Return a routine with one statement as a step changes it.

    Raises:
        CompileError: the reasons against the step.
    """
    before = replace(code, body=(line,))
    raise_if_any([placed(one, place_of_line(line)) for one in step.check_code(before)])
    return with_statement(code, line, step.transform_code(before), names)


def with_statement(
    code: Routine, line: un.Line, after: Routine, names: NamesOfLine = names_of_line
) -> Routine:
    """Return a routine with the statements of `after`, and what these need, instead of one.

    Raises:
        CompileError: `T060`, the place of the statement allows no others.
    """
    known = {item.key for item in code.declarations if isinstance(item, un.Declare)}
    new = [
        item
        for item in after.declarations
        if isinstance(item, un.Declare) and item.key not in known
    ]
    _check_place(code, line, after.body, bool(new))
    if not any(one is line for one in walk_lines(code.body)):
        message = "No statement can be added before the condition of an 'else if'."
        raise CompileError(Diagnostic("T060", message, place_of_line(line)))
    uses = tuple(map(UseStatement, after.uses[len(code.uses) :]))
    if not new:
        items = (*uses, *code.specification)
        body = replaced_line(code.body, line, after.body)
        return replace(code, body=body, specification=items if uses else code.specification)
    others = frozenset().union(*map(names, walk_lines(code.body)))
    table = NameTable((*names_of(replace(code, body=())), *others))
    values: dict[str, Expr] = {
        item.key: Name(table.fresh(item.name)) for item in new if item.key in others
    }
    lines = after.body
    if values:
        lines = everywhere(lines, lambda expr: substituted(expr, values))
        new = [replace(item, name=spell(values.get(item.key, Name(item.name)))) for item in new]
    items = (*uses, *code.specification, *(DeclarationStatement((item,)) for item in new))
    return replace(code, body=replaced_line(code.body, line, lines), specification=items)


def _check_place(
    code: Routine, line: un.Line, after: tuple[un.Line, ...], has_variables: bool
) -> None:
    """Check that the construct around a statement may hold the statements that replace it.

    A `forall` or a `where` holds only assignments. The iterations of `do concurrent` would share
    the new variables.

    Raises:
        CompileError: `T060`, the construct may not hold them.
    """
    is_assignment = len(after) == 1 and isinstance(after[0], un.Assign)
    for outer in walk_lines(code.body):
        masked = isinstance(outer, un.Where | un.Forall) and not is_assignment
        shares = isinstance(outer, un.DoConcurrent) and has_variables
        if (masked or shares) and outer is not line:
            inside = chain.from_iterable(blocks_of(outer))
            if any(one is line for one in walk_lines(inside)):
                message = f"No statement can be added before '{first_words(line)}'"
                message += f", which is in '{first_words(outer)}'."
                raise CompileError(Diagnostic("T060", message, place_of_line(line)))


def replaced_line(
    lines: tuple[un.Line, ...], line: un.Line, new: tuple[un.Line, ...]
) -> tuple[un.Line, ...]:
    """Return statements with `new` ones instead of the very statement `line`."""
    found: list[un.Line] = []
    for one in lines:
        if one is line:
            found += new
        else:
            found.append(with_changed_blocks(one, lambda block: replaced_line(block, line, new)))
    return lines if all(map(is_, found, lines)) and len(found) == len(lines) else tuple(found)
