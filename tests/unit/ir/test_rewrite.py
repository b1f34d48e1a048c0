"""Statements rebuilt block by block, in the order in which the blocks are yielded."""

from __future__ import annotations

import pytest

from psyclone_storage.base.source import SourceText
from psyclone_storage.ir.expr import Expr
from psyclone_storage.ir.rewrite import (
    blocks_of,
    everywhere,
    rewritten,
    walk_lines,
    with_changed_blocks,
    with_each_block,
    with_parts,
)
from psyclone_storage.ir.unit import Line
from psyclone_storage.languages.fortran.parse.syntax_tree import read_file

CONSTRUCTS = (
    "select case (n)\n! before\ncase (1)\na = 1\ncase default\na = 2\nend select",
    "if (x) then\na = 1\nelse if (y) then\na = 2\nelse\na = 3\nend if",
    "where (m)\na = 1\nelsewhere\na = 2\nend where",
    "#ifdef A\na = 1\n#else\na = 2\n#endif",
    "do i = 1, n\na = 1\nend do",
    "associate (p => a)\np = 1\nend associate",
    "block\na = 1\nend block",
)


@pytest.mark.parametrize("text", CONSTRUCTS)
def test_blocks_have_one_order(text: str) -> None:
    (unit,) = read_file(SourceText("x.F90", f"subroutine s\n{text}\nend\n")).every_unit()
    (line,) = unit.body
    seen: list[tuple[Line, ...]] = []
    with_each_block(line, lambda block: (seen.append(block), block)[1])
    assert tuple(seen) == blocks_of(line)
    inner: list[Line] = []
    rewritten(unit.body, lambda one: (inner.append(one), (one,))[1])
    assert inner == [*list(walk_lines(unit.body))[1:], line]


@pytest.mark.parametrize("text", CONSTRUCTS)
def test_constructs_without_a_change_stay_the_same_object(text: str) -> None:
    """Results of analyses that are stored on them stay known."""
    text = f"do k = 1, -(n(2:m) + f(x=3))\n{text}\ncall s(a(:), [1, 2])\nend do"
    (unit,) = read_file(SourceText("x.F90", f"subroutine s\n{text}\nend\n")).every_unit()
    (line,) = unit.body
    assert with_each_block(line, lambda block: (*block, *())) is line
    assert with_changed_blocks(line, lambda block: (*block, *())) is line
    assert rewritten(unit.body, lambda one: (one,))[0] is line

    def same(expr: Expr) -> Expr:
        return with_parts(expr, same)

    assert everywhere(unit.body, same)[0] is line
