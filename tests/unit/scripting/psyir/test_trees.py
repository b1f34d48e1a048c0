"""The tree of a file: its shape, edits of it, and the text that they give."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from psyclone_storage.base.source import SourceText
from psyclone_storage.ir import unit as un
from psyclone_storage.ir.rewrite import with_each_block
from psyclone_storage.languages.fortran.parse.syntax_tree import read_file
from psyclone_storage.scripting.errors import GenerationError, TransformationError
from psyclone_storage.scripting.psyir.calls import Call, IntrinsicCall
from psyclone_storage.scripting.psyir.choices import IfBlock, WhereLoop
from psyclone_storage.scripting.psyir.containers import Container, FileContainer, Routine
from psyclone_storage.scripting.psyir.data import DataNode, Literal
from psyclone_storage.scripting.psyir.datatypes import (
    INTEGER_TYPE,
    REAL_TYPE,
    ArrayType,
    ScalarType,
)
from psyclone_storage.scripting.psyir.expressions import (
    ArrayReference,
    BinaryOperation,
    Member,
    Range,
    Reference,
    Signature,
    StructureReference,
)
from psyclone_storage.scripting.psyir.live import LiveNode
from psyclone_storage.scripting.psyir.loops import Loop, WhileLoop
from psyclone_storage.scripting.psyir.statements import (
    Assignment,
    CodeBlock,
    Return,
    Schedule,
    Statement,
    UnknownDirective,
)
from psyclone_storage.scripting.psyir.symbols import (
    ContainerSymbol,
    DataSymbol,
    ImportInterface,
    RoutineSymbol,
)
from unit.scripting.psyir.trees import COLUMNS, body_of, printed, routine_of, tree_of

# ---------------------------------------------------------------------------- bytes


def test_a_tree_that_was_looked_at_prints_every_byte() -> None:
    tree = tree_of(COLUMNS)
    assert len(tree.walk(LiveNode)) > 150
    assert tree.frozen() is tree._file
    assert printed(tree) == COLUMNS


def test_a_tree_that_is_rebuilt_from_its_nodes_prints_every_byte() -> None:
    tree = tree_of(COLUMNS)
    for node in tree.walk(LiveNode):
        if not node.is_implicit and not node.ancestor(WhereLoop, include_self=True):
            node.forget()
    assert tree.frozen() is not tree._file
    assert printed(tree) == COLUMNS


# ---------------------------------------------------------------------------- shape


def test_statements_have_the_classes_of_psyclone() -> None:
    advance, twice = tree_of(COLUMNS).walk(Routine)
    kinds = [type(node).__name__ for node in advance.children]
    assert kinds == [
        "Assignment", "Loop", "IfBlock", "IfBlock", "IfBlock", "WhereLoop", "Assignment",
        "WhileLoop", "IntrinsicCall", "CodeBlock", "Loop", "Return",
    ]  # fmt: skip
    assert twice.name == "twice"
    assert twice.return_symbol is twice.symbol_table.lookup("y")
    assert isinstance(advance.parent, Container)
    assert isinstance(advance.root, FileContainer)
    assert advance.root.name == "columns_mod.f90"


def test_neighbouring_text_is_one_block() -> None:
    routine = routine_of("write(*, *) n\n! note\nprint *, n\na(1) = 1\nstop\n")
    blocks = routine.walk(CodeBlock)
    assert [block.position for block in blocks] == [0, 2]
    assert blocks[0].get_symbol_names() == ["n"]


def test_branches_nest_as_if_blocks() -> None:
    first = tree_of(COLUMNS).walk(IfBlock)[0]
    assert first.condition.debug_string() == "mode == 1"
    assert first.else_body is not None
    (second,) = first.else_body.children
    assert isinstance(second, IfBlock)
    assert second.annotations == ["was_elseif"]
    assert second.else_body is not None
    assert [type(node) for node in second.else_body] == [Assignment, Assignment]


def test_cases_nest_as_if_blocks_with_the_default_last() -> None:
    select = tree_of(COLUMNS).walk(Routine)[0].children[4]
    assert select.annotations == ["was_case"]
    assert select.condition.debug_string() == "mode == 1"
    (second,) = select.else_body.children
    assert second.condition.debug_string() == "mode == 2 .or. mode >= 4 .and. mode <= 6"
    assert [node.debug_string() for node in second.else_body] == ["b(1) = 0\n", "b(2) = 4\n"]


def test_a_where_is_a_loop_around_an_if_block() -> None:
    (loop,) = tree_of(COLUMNS).walk(WhereLoop)
    assert loop.variable.name == "widx1"
    assert loop.stop_expr.debug_string() == "ubound(b, 1)"
    (choice,) = loop.loop_body.children
    assert choice.annotations == ["was_where"]
    with pytest.raises(TransformationError, match="one statement for all elements"):
        loop.loop_body.children.clear() or loop.root.frozen()


def test_expressions_are_nodes() -> None:
    routine = tree_of(COLUMNS).walk(Routine)[0]
    total = routine.walk(Assignment)[2]
    assert isinstance(total.lhs, ArrayReference)
    assert isinstance(total.rhs, BinaryOperation)
    assert total.rhs.operator is BinaryOperation.Operator.ADD
    call, part = total.rhs.children
    assert isinstance(call, IntrinsicCall)
    assert call.intrinsic is IntrinsicCall.Intrinsic.SUM
    assert isinstance(part, StructureReference)
    assert part.get_signature_and_indices()[0] == Signature("grid", "height")
    assert [member.name for member in part.walk(Member)] == ["height"]
    (section,) = call.walk(Range)
    assert section.start.debug_string() == "lbound(a, 1)"
    assert total.lhs.is_write
    assert part.is_read


def test_calls_have_names_arguments_and_keywords() -> None:
    call = tree_of(COLUMNS).walk(Call, stop_type=Loop)[-1]
    (call,) = [one for one in tree_of(COLUMNS).walk(Call) if one.routine.name == "report"]
    assert [type(item) for item in call.arguments] == [Literal, Reference, Literal]
    assert call.argument_names == [None, None, "fatal"]
    assert [item.value for item in call.arguments[::2]] == ["mode", "false"]


def test_a_name_that_is_not_found_with_brackets_is_a_call_where_it_is_read() -> None:
    routine = routine_of("x(1) = y(2)\n")
    assert isinstance(routine.children[0].lhs, ArrayReference)
    assert isinstance(routine.children[0].rhs, Call)


def test_walks_find_nodes_in_the_order_of_the_text() -> None:
    routine = tree_of(COLUMNS).walk(Routine)[0]
    assert [loop.variable.name for loop in routine.walk(Loop)] == ["j", "i", "widx1", "i"]
    assert len(routine.walk(Loop, stop_type=Loop)) == 3
    assert routine.walk(WhileLoop)[0].condition.debug_string() == "k < 4"
    nodes = routine.root.walk(LiveNode)
    assert [nodes[number].abs_position for number in (3, 40, 99)] == [3, 40, 99]


def test_nodes_are_one_only_if_they_are_the_same_object() -> None:
    routine = routine_of("a(1) = 1\na(1) = 1\n")
    first, second = routine.children
    assert first is not second
    assert second.position == 1
    assert routine.children.index(second) == 1
    assert first.lhs == second.lhs


def test_ancestors_may_be_limited() -> None:
    inner = tree_of(COLUMNS).walk(Loop)[1]
    outer = inner.ancestor(Loop)
    assert outer is not None
    assert outer.variable.name == "j"
    assert inner.ancestor(Loop, limit=inner.parent) is None
    assert inner.ancestor(Routine, shared_with=outer) is outer.parent
    assert outer.ancestor(Loop, include_self=True) is outer


def test_loop_types_follow_the_rules_until_they_are_cleared() -> None:
    Loop.set_loop_type_inference_rules({"rows": {"variable": "J"}})
    loops = tree_of(COLUMNS).walk(Loop)
    assert [loop.loop_type for loop in loops] == ["rows", None, None, None]
    Loop.set_loop_type_inference_rules(None)
    assert loops[0].loop_type is None
    with pytest.raises(TransformationError, match="no key but 'variable'"):
        Loop.set_loop_type_inference_rules({"rows": {"name": "j"}})


# ---------------------------------------------------------------------------- edits


def test_a_detached_statement_takes_its_comments_along() -> None:
    routine = routine_of("! first\na(1) = 1 ! one\na(2) = 2\n")
    statement = routine.children[0].detach()
    assert statement.parent is None
    assert body_of(routine) == "! first\na(2) = 2\n"
    routine.addchild(statement)
    assert body_of(routine) == "a(2) = 2\n! first\na(1) = 1 ! one\n"


def test_a_loop_is_dissolved_while_its_statements_stay_as_written() -> None:
    text = "do j = 1, n\n   a(j) = 1   ! one\n   b(j) = 2\n   ! end\nend do\n"
    routine = routine_of(f"! before\n{text}")
    loop = routine.children[0]
    for statement in reversed(loop.loop_body.children):
        loop.parent.addchild(statement.detach(), loop.position + 1)
    loop.detach()
    found = sorted(map(str.strip, body_of(routine).splitlines()))
    assert found == ["! before", "! end", "a(j) = 1   ! one", "b(j) = 2"]


def test_statements_and_expressions_can_be_made() -> None:
    routine = routine_of("a(1) = 1\n")
    table = routine.symbol_table
    i, n, b = (table.lookup(name) for name in "inb")
    one = Literal("1", INTEGER_TYPE)
    value = BinaryOperation.create(
        BinaryOperation.Operator.MUL,
        BinaryOperation.create(BinaryOperation.Operator.ADD, Reference(i), one),
        Literal("0.5", REAL_TYPE),
    )
    assign = Assignment.create(ArrayReference.create(b, [Reference(i)]), value)
    call = Call.create(
        RoutineSymbol("note"), [("text", Literal("it's", ScalarType.character_type()))]
    )
    choice = IfBlock.create(
        BinaryOperation.create(BinaryOperation.Operator.GT, Reference(i), one.copy()), [call]
    )
    loop = Loop.create(i, one.copy(), Reference(n), one.copy(), [assign, choice])
    routine.children.insert(0, UnknownDirective(" IVDEP", "DIR"))
    routine.children.insert(1, loop)
    assert body_of(routine) == (
        "!DIR$ IVDEP\n"
        "do i = 1, n\n"
        "  b(i) = (i + 1) * 0.5\n"
        "  if (i > 1) then\n"
        '    call note(text="it\'s")\n'
        "  end if\n"
        "end do\n"
        "a(1) = 1\n"
    )


def test_an_expression_is_replaced_where_it_is() -> None:
    routine = routine_of("a(1) = b(1) + b(2)   ! sum\na(2) = n\n")
    for reference in routine.walk(ArrayReference):
        if reference.name == "b":
            reference.indices[0].replace_with(Reference(routine.symbol_table.lookup("i")))
    assert body_of(routine) == "a(1) = b(i) + b(i)   ! sum\na(2) = n\n"


def test_a_keyword_stays_with_its_argument() -> None:
    routine = routine_of("call report(n, fatal=i)\n")
    call = routine.children[0]
    call.arguments[1].replace_with(Literal("true", ScalarType.boolean_type()))
    assert body_of(routine) == "call report(n, fatal=.true.)\n"


def test_a_symbol_is_exchanged() -> None:
    routine = routine_of("a(1) = 1\n")
    routine.children[0].lhs.symbol = routine.symbol_table.lookup("b")
    assert body_of(routine) == "b(1) = 1\n"


def test_bounds_of_a_section_that_are_not_edited_stay_away() -> None:
    routine = routine_of("a(:) = b(:)\n")
    routine.children[0].lhs.indices[0].start = Literal("2", INTEGER_TYPE)
    assert body_of(routine) == "a(2:) = b(:)\n"


def test_cases_keep_the_form_of_the_author_when_a_body_is_edited() -> None:
    text = "select case (n)\ncase default\n  a(1) = 1\n! two\ncase (2)\n  a(2) = 2\nend select\n"
    routine = routine_of(text)
    select = routine.children[0]
    select.else_body.addchild(select.if_body.children[0].copy(), 0)
    edited = text.replace("  a(1) = 1\n", "  a(2) = 2\n  a(1) = 1\n")
    assert body_of(routine) == edited


def test_cases_become_an_if_when_a_condition_is_edited() -> None:
    routine = routine_of(
        "select case (n)\ncase (2)\n  a(2) = 2\ncase (3:)\n  a(3) = 3\nend select\n"
    )
    routine.children[0].condition.children[1].replace_with(Literal("5", INTEGER_TYPE))
    assert body_of(routine) == (
        "if (n == 5) then\n  a(2) = 2\nelse if (n >= 3) then\n  a(3) = 3\nend if\n"
    )


def test_a_function_in_a_selector_is_not_called_more_often() -> None:
    routine = routine_of("select case (f(n))\ncase (2)\n  a(2) = 2\nend select\n")
    routine.children[0].condition.children[1].replace_with(Literal("5", INTEGER_TYPE))
    with pytest.raises(TransformationError, match="once for each test"):
        routine.root.frozen()


def test_new_symbols_are_declared_and_imported() -> None:
    tree = tree_of(COLUMNS)
    routine = tree.walk(Routine)[1]
    table = routine.symbol_table
    omp = table.find_or_create("omp_lib", symbol_type=ContainerSymbol)
    threads = table.find_or_create(
        "omp_get_max_threads", symbol_type=RoutineSymbol, interface=ImportInterface(omp)
    )
    x = table.lookup("x")
    flags = table.new_symbol(
        "flags", symbol_type=DataSymbol, datatype=ArrayType(INTEGER_TYPE, [Reference(x), 3])
    )
    assert table.find_or_create_tag("flags", "flags").name == "flags_1"
    routine.addchild(Assignment.create(Reference(flags), Call.create(threads)))
    expected = COLUMNS.replace(
        "result(y)\n", "result(y)\n    use omp_lib, only: omp_get_max_threads\n"
    ).replace(
        "    real :: y\n    y = 2 * x\n",
        "    real :: y\n    integer :: flags(x, 3)\n    y = 2 * x\n"
        "    flags = omp_get_max_threads()\n",
    )
    assert printed(tree) == expected


def test_there_is_one_symbol_for_a_name() -> None:
    advance, twice = tree_of(COLUMNS).walk(Routine)
    table = advance.symbol_table
    assert table.lookup("A") is advance.walk(ArrayReference)[0].symbol
    assert table.lookup("levels") is twice.symbol_table.lookup("levels")
    assert table.lookup("rows").interface.container_symbol.name == "kinds_mod"
    assert table.lookup("a").is_array
    assert table.lookup("a").is_argument
    assert [one.name for one in table.argument_list][:2] == ["n", "m"]
    assert "levels" not in table
    with pytest.raises(KeyError, match="Could not find 'nowhere'"):
        table.lookup("nowhere")
    assert table.lookup("nowhere", otherwise=None) is None


def test_a_promise_is_recorded_with_its_line() -> None:
    routine = routine_of("call helper(n)\n")
    symbol = routine.children[0].routine.symbol
    assert routine.children[0].is_pure is None
    symbol.is_pure = True
    assert routine.children[0].is_pure
    assert [one.name for one in routine.symbol_table.promises()] == ["helper"]
    assert symbol.promised_at.startswith("test_trees.py:")


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (lambda r: r.children[0].children.append(Reference(DataSymbol("x"))), "cannot be child 2"),
        (lambda r: r.children[0].children.insert(0, Return()), "cannot be child 0"),
        (lambda r: r.children.append(r.children[0]), "has a parent already"),
        (lambda r: r.children.append(Literal("1", INTEGER_TYPE)), "cannot be child 2"),
        (lambda r: r.children[1].loop_body.addchild(r.detached(r.children[1])), "own ancestor"),
        (lambda r: r.children[1].replace_with(r.children[0]), "has a parent already"),
        (lambda _: Literal("maybe", ScalarType.boolean_type()), "not a logical constant"),
        (lambda r: r.root.children.pop(), "cannot be removed"),
    ],
)
def test_edits_that_make_no_program_are_refused(
    edit: Callable[[Routine], object], message: str
) -> None:
    routine = routine_of("a(1) = 1\ndo i = 1, n\n  a(i) = 2\nend do\n")
    routine.detached = lambda node: node.detach()  # type: ignore[attr-defined]
    with pytest.raises((GenerationError, TransformationError), match=message):
        edit(routine)


# ---------------------------------------------------------------------------- random edits


def _statements(tree: FileContainer) -> list[Statement]:
    return [
        node
        for node in tree.walk(Statement)
        if isinstance(node.parent, Schedule) and not node.ancestor(WhereLoop)
    ]


def _blocks(tree: FileContainer) -> list[Schedule]:
    return [node for node in tree.walk(Schedule) if not node.ancestor(WhereLoop)]


def _edit(  # noqa: C901
    tree: FileContainer, chosen: random.Random
) -> None:
    """Edit one place of a tree."""
    node = chosen.choice(_statements(tree))
    match chosen.randrange(7):
        case 0:
            if len(node.siblings) > 1:
                node.detach()
        case 1:
            block = chosen.choice(_blocks(tree))
            if not block.is_same(node) and not block.is_descendant_of(node):
                node.detach()
                block.addchild(node, chosen.randrange(len(block) + 1))
        case 2:
            block = chosen.choice(_blocks(tree))
            block.addchild(node.copy(), chosen.randrange(len(block) + 1))
        case 3:
            values = [part for part in node.walk(Reference) if type(part) is Reference]
            if values and isinstance(node, Assignment):
                part = chosen.choice(values)
                if part.is_read and part.keyword is None and not isinstance(part.parent, Call):
                    part.replace_with(Literal(str(chosen.randrange(9)), INTEGER_TYPE))
        case 4:
            block = chosen.choice(_blocks(tree))
            name = DataSymbol(f"x{chosen.randrange(9)}")
            value = node_of_number(chosen)
            block.addchild(
                Assignment.create(Reference(name), value), chosen.randrange(len(block) + 1)
            )
        case 5:
            inner = node.copy()
            node.replace_with(IfBlock.create(node_of_number(chosen), [inner]))
        case 6:
            if isinstance(node, Loop) and not isinstance(node, WhereLoop):
                node.stop_expr = node_of_number(chosen)
            elif isinstance(node, IfBlock):
                node.append_preceding_comment("edited")


def node_of_number(chosen: random.Random) -> DataNode:
    return Literal(str(chosen.randrange(99)), INTEGER_TYPE)


def _bare(lines: tuple[un.Line, ...]) -> tuple[un.Line, ...]:
    """Return statements without remarks, which have no order of their own."""
    kept = [line for line in lines if not isinstance(line, un.Comment | un.Blank | un.Continue)]
    return tuple(with_each_block(line, _bare) for line in kept)


@pytest.mark.parametrize("seed", range(50))
def test_random_edits_are_printed_so_that_they_are_read_again(seed: int) -> None:
    chosen = random.Random(seed)
    tree = tree_of(COLUMNS)
    for _ in range(20):
        _edit(tree, chosen)
        frozen = tree.frozen()
        again = read_file(SourceText("again.f90", printed(tree)))
        for one, other in zip(frozen.every_unit(), again.every_unit(), strict=True):
            assert _bare(one.body) == _bare(other.body)


COMMENTED = """subroutine work(a, n)
  integer, intent(in) :: n
  real, intent(inout) :: a(n)
  integer :: i
  ! about the first loop
  do i = 1, n
    a(i) = 1
  end do
  ! about the second loop
  do i = 1, n ! counts
    a(i) = 2
  end do
  ! at the end
end subroutine work
"""


@pytest.mark.parametrize("number", [0, 1])
def test_comments_before_a_detached_loop_stay(number: int) -> None:
    """They move with a statement that is attached elsewhere."""
    tree = tree_of(COMMENTED)
    loop = tree.walk(Loop)[number]
    parent = loop.parent
    loop.detach()
    text = printed(tree)
    assert [text.count(f"! {words}") for words in ("about the first", "about the second")] == [1, 1]
    assert text.index("about the second") < text.index("at the end")
    assert text.count("do i") == 1
    parent.addchild(loop, index=0)
    again = printed(tree)
    words = ("about the first", "about the second", "at the end")
    assert [again.count(one) for one in words] == [1, 1, 1]
    first = words[number]
    assert again.index(first) < again.index(f"a(i) = {number + 1}") < again.index(words[1 - number])
