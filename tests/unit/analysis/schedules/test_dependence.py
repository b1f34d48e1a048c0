"""Which statements depend on which, and what the graph of it looks like."""

from __future__ import annotations

from psyclone_storage.analysis.schedules.dependence import (
    DependenceKind,
    backward,
    dag_dot,
    data_uses,
    dependences,
    edges,
    forward,
)
from psyclone_storage.analysis.schedules.order import check_move
from psyclone_storage.ir.kernel import Access
from psyclone_storage.transform.halos import with_halos
from unit.analysis.small import RULES, cells, dofs, draw, field, scalar, schedule


def pairs(found: object) -> set[tuple[str, str, DependenceKind]]:
    return {(edge.earlier, edge.later, edge.kind) for edge in found}  # type: ignore[attr-defined]


def test_a_reader_depends_on_the_writer_before_it() -> None:
    planned = schedule(
        dofs("b write any_space_1", "a read any_space_1"), dofs("c write w0", "b read w0")
    )
    assert pairs(edges(planned)) == {("loop1", "loop2", DependenceKind.FLOW)}
    assert forward(planned, "loop1") == backward(planned, "loop2") == edges(planned)


def test_reads_do_not_depend_on_each_other() -> None:
    planned = schedule(dofs("b write w3", "a read w3"), dofs("c write w3", "a read w3"))
    assert edges(planned) == ()


def test_a_write_hides_what_comes_before_it() -> None:
    write, read = dofs("a write w3"), dofs("b write w3", "a read w3")
    planned = schedule(write, read, write, read)
    assert pairs(edges(planned)) == {
        ("loop1", "loop2", DependenceKind.FLOW),
        ("loop1", "loop3", DependenceKind.OUTPUT),
        ("loop2", "loop3", DependenceKind.ANTI),
        ("loop3", "loop4", DependenceKind.FLOW),
        ("loop2", "loop4", DependenceKind.OUTPUT),
    }


def test_components_of_a_vector_are_independent() -> None:
    planned = schedule(
        dofs(field("u write w3", component=1)),
        dofs(field("u write w3", component=2)),
        cells("a write w3", "u read w3"),
        vectors={"u": 2},
    )
    assert {(edge.earlier, edge.later, edge.components) for edge in edges(planned)} == {
        ("loop1", "loop3", frozenset({1})),
        ("loop2", "loop3", frozenset({2})),
    }


def test_exchanges_of_different_components_are_not_ordered() -> None:
    bare = schedule(cells("a write w3", "u read w3 stencil 1"), vectors={"u": 2})
    planned = with_halos(bare, RULES)
    first, second = planned.body[:2]
    assert (first.uid, second.uid) == ("halo(u[1])@loop1", "halo(u[2])@loop1")
    assert dependences(planned, first, second) == ()
    kinds = {edge.kind for edge in dependences(planned, first, planned.body[2])}
    assert kinds == {DependenceKind.FLOW}


def test_a_reduction_orders_its_loop_its_sum_and_its_readers() -> None:
    bare = schedule(
        dofs(scalar("s"), "x read w3"), dofs("y write w3", scalar("s", "read")), annexed=True
    )
    planned = with_halos(bare, RULES)
    assert {
        ("loop1", "reduce(s)@loop1", DependenceKind.OUTPUT),
        ("reduce(s)@loop1", "loop2", DependenceKind.FLOW),
    } <= (pairs(edges(planned)))


def test_random_numbers_are_taken_in_order() -> None:
    made = schedule(draw("u"), cells("v write w3"), draw("w"), draw("x"))
    found = {(edge.earlier, edge.later) for edge in edges(made)}
    assert found == {("loop1", "loop3"), ("loop3", "loop4")}
    (edge, *_) = dependences(made, made.body[0], made.body[2])
    assert edge.datum == "random numbers"
    assert not dependences(made, made.body[0], made.body[1])
    assert [reason.code for reason in check_move(made, "loop3", "loop1")] == ["S004"] * 3
    assert not check_move(made, "loop2", "loop4", after=True)


def test_an_exchange_reads_and_writes_its_component() -> None:
    planned = with_halos(schedule(cells("a write w3", "u read w3 stencil 1")), RULES)
    (use,) = data_uses(planned, planned.body[0])
    assert (use.access, use.components, use.exchange) == (Access.READWRITE, frozenset({1}), True)


def test_the_graph_shows_every_statement_and_one_arrow_for_a_pair() -> None:
    planned = with_halos(
        schedule(dofs("u readwrite w3"), cells("a write w3", "u read w3 stencil 1")), RULES
    )
    text = dag_dot(planned)
    assert '"loop1" [shape=box, label="loop1\\nk1_type"];' in text
    assert '"halo(u)@loop2" [shape=ellipse, label="halo(u)@loop2"];' in text
    assert '"halo(u)@loop2" -> "loop2" [label="u", color="#1b7837"];' in text
    assert text.count('"loop1" -> "halo(u)@loop2"') == 1
    assert "write after read: dashed red" in text
    assert text.count("{") == text.count("}") == 1
