"""Nodes of files after many steps: those of the text, with their comments."""

from __future__ import annotations

from contextlib import suppress

from psyclone_storage.scripting.errors import TransformationError
from psyclone_storage.scripting.psyir.calls import IntrinsicCall
from psyclone_storage.scripting.psyir.containers import FileContainer
from psyclone_storage.scripting.psyir.expressions import Reference
from psyclone_storage.scripting.psyir.loops import Loop
from psyclone_storage.scripting.psyir.statements import Assignment, Statement
from psyclone_storage.scripting.transformations.table import TRANSFORMATIONS
from support.scripting_programs import finished, tree_on_bench
from unit.scripting.psyir.test_rewrites import nodes_of, tree_of

STATEMENTS = """\
    t = 1  ! on the line
    ! before the first
    c = b * 2
    ! before the choice

    if (any(c > k)) then  ! of the choice
      c = b + 1
      ! at the end of the branch
    else if (sum(c) > 1) then
      ! only this
      t = sum(c)
    end if
    ! before the loop
    do i = 2 * k, size(c) - k
      t = k * 2.0  ! hoisted
      write (*, *) t
      write (*, *) i
      ! before
      c(i) = t
    end do  ! of the loop
    write (*, *) t
    d(:, 1) = c
    k = k + 1
    ! last
"""


def test_nodes_after_many_steps_are_those_of_the_text() -> None:
    """Comments stay with their statements; no step is taken for an edit of the script."""
    tree = tree_of(STATEMENTS)
    kept = [*nodes_of(tree, Assignment, "k = "), *nodes_of(tree, Assignment, "t = 1")]
    for name, kind in (
        ("Reference2ArrayRangeTrans", Reference),
        ("Sum2LoopTrans", IntrinsicCall),
        ("ArrayAssignment2LoopsTrans", Assignment),
        ("HoistLoopBoundExprTrans", Loop),
        ("HoistTrans", Assignment),
    ):
        for node in tree.walk(kind):
            with suppress(TransformationError):
                TRANSFORMATIONS[name]().apply(node)
    assert tree.bench is not None
    applied = [one for one in tree.bench.journal if one.after is not None]
    assert len(applied) > 10
    assert "edit" not in {one.step.name for one in applied}
    after = tree.walk(Assignment)
    assert len(kept) == 3
    assert all(any(one is node for node in after) for one in kept)
    text = finished(tree)
    assert _shown(tree) == _shown(tree_on_bench(text))
    assert text.count("!") == STATEMENTS.count("!")


def _shown(tree: FileContainer) -> list[tuple[type[Statement], str, str, str]]:
    return [
        (type(node), node.debug_string(), node.preceding_comment, node.inline_comment)
        for node in tree.walk(Statement)
    ]
