"""PSyclone's tools in scripts on files: dependences, accesses, and nodes from texts."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from psyclone_storage.base.diagnostic import CompileError
from psyclone_storage.scripting.errors import TransformationError
from psyclone_storage.scripting.psyir.containers import FileContainer
from psyclone_storage.scripting.psyir.expressions import Signature
from psyclone_storage.scripting.psyir.loops import Loop
from psyclone_storage.scripting.psyir.reader import FortranReader
from psyclone_storage.scripting.psyir.statements import Assignment
from psyclone_storage.scripting.psyir.tools import AccessType, CallTreeUtils, DependencyTools
from psyclone_storage.scripting.recipe import read_recipe
from support.scripting_programs import finished, tree_on_bench

TEXT = """\
module columns_mod
  implicit none
  type grid_type
    real :: dx(9)
  end type
contains
  subroutine advance(n, a, b, grid)
    integer, intent(in) :: n
    real, intent(inout) :: a(n), b(n)
    type(grid_type), intent(inout) :: grid
    real :: t, s
    integer :: i
    s = 0
    do i = 1, n
      t = b(i) * grid%dx(1)
      a(i) = t + a(i)
    end do
    do i = 2, n
      a(i) = a(i - 1) + 1
    end do
    do i = 1, n
      s = s + b(i)
    end do
    do i = 1, n
      a(i / 2 + 1) = b(i)
    end do
    call unknown(a, b)
    grid%dx(2) = s
  end subroutine advance
end module columns_mod
"""


def test_loops_with_dependences_are_told() -> None:
    """Report dependences of integer division and reductions, but not of private scalars."""
    loops = tree_on_bench(TEXT).walk(Loop)
    tools = DependencyTools()
    answers = []
    for loop in loops:
        answers.append(tools.can_loop_be_parallelised(loop))
        answers.append([one.code.value for one in tools.get_all_messages()])
    assert answers == [True, [], False, [202], False, [102], False, [201]]
    assert tools.get_all_messages()[0].var_names == ("a",)
    assert "(201)" in str(tools.get_all_messages()[0])


def test_ignored_signatures_are_no_promise_for_later() -> None:
    tree = tree_on_bench(TEXT)
    loop = tree.walk(Loop)[1]
    assert tree.bench is not None
    tools = DependencyTools()
    assert tools.can_loop_be_parallelised(loop, signatures_to_ignore=[Signature("a")])
    assert not tools.can_loop_be_parallelised(loop)
    assert tree.bench.facts == ()
    assert finished(tree) == TEXT


def test_accesses_are_in_order() -> None:
    tree = tree_on_bench(TEXT)
    loop = tree.walk(Loop)[0]
    found = loop.reference_accesses()
    kinds = [one.access_type for one in found[Signature("a")]]
    assert kinds == [AccessType.READ, AccessType.WRITE]
    assert found.is_written(Signature("t"))
    assert found[Signature("t")].is_written_first()
    assert not found.is_written(Signature("b"))
    assert Signature("grid", "dx") in found.all_signatures
    right = tree.walk(Assignment)[1].rhs.reference_accesses()
    assert right.all_signatures == [Signature("b"), Signature("grid", "dx"), Signature("i")]


def test_a_region_reads_what_it_does_not_set() -> None:
    tree = tree_on_bench(TEXT)
    nodes = tree.routines[0].children[:4]
    tools = CallTreeUtils()
    found = tools.get_in_out_parameters(nodes)
    assert Signature("s") not in found.signatures_read
    assert {"a", "b", "n"} <= {one.var_name for one in found.signatures_read}
    assert {"a", "i", "s", "t"} == {one.var_name for one in found.signatures_written}
    assert found.is_read(Signature("b"))
    assert tools.get_output_parameters(nodes) == found.signatures_written


def test_nodes_are_read_from_text() -> None:
    """A call and an array element are told apart where a script puts the node."""
    tree = tree_on_bench(TEXT)
    reader = FortranReader()
    first = tree.walk(Assignment)[0]
    first.rhs.replace_with(reader.psyir_from_expression("2.5 * b(3) ** 2"))
    made = reader.psyir_from_statement("if (s > 3) b(1) = s", tree.routines[0].symbol_table)
    first.parent.addchild(made, 1)
    text = finished(tree)
    assert "s = 2.5 * b(3) ** 2" in text
    assert "if (s > 3) b(1) = s" in text
    other = reader.psyir_from_source("program p\n integer :: i\n i = 4\nend program p\n")
    assert other.walk(Assignment)[0].debug_string().strip() == "i = 4"
    for wrong in ("a = 1; b = 2", "end", "10 format(a)"):
        with pytest.raises((TransformationError, CompileError)):
            reader.psyir_from_statement(wrong)


def test_a_script_imports_the_tools(tmp_path: Path) -> None:
    """Unknown names are refused by their names."""
    recipe = tmp_path / "recipe.py"
    recipe.write_text(
        dedent(
            """
            from psyclone.core import AccessType, Signature, VariablesAccessMap
            from psyclone.psyir.frontend.fortran import FortranReader
            from psyclone.psyir.nodes import Loop
            from psyclone.psyir.tools import DependencyTools, CallTreeUtils, ReadWriteInfo
            from psyclone.psyir.tools import DTCode

            def trans(psyir):
                for loop in psyir.walk(Loop):
                    if DependencyTools().can_loop_be_parallelised(loop):
                        assert isinstance(loop.reference_accesses(), VariablesAccessMap)
            """
        )
    )
    tree: FileContainer = tree_on_bench(TEXT)
    read_recipe(recipe).run_on_file(tree)
    recipe.write_text(
        "from psyclone.psyir.tools import DefinitionUseChain\ndef trans(psyir): pass\n"
    )
    with pytest.raises(CompileError, match="DefinitionUseChain"):
        read_recipe(recipe).run_on_file(tree)
