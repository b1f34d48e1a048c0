"""Names with their symbols, and what steps leave of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from kernel_bodies import NO_MODULES, code_of, kernel_module
from psyclone_storage.base.source import SourceText
from psyclone_storage.ir.expr import (
    CallFunction,
    Element,
    Expr,
    Extents,
    Index,
    Member,
    Name,
    Origin,
    Section,
    Sort,
    Symbol,
    Unresolved,
    intrinsic,
    intrinsic_called,
    spell,
    walk,
)
from psyclone_storage.ir.linking import linked
from psyclone_storage.ir.rewrite import expressions_of, walk_lines
from psyclone_storage.ir.routine import DeclarationStatement, Routine
from psyclone_storage.ir.types import Intrinsic, ScalarType
from psyclone_storage.ir.unit import Assign, Declare
from psyclone_storage.languages.fortran.parse.body import read_code
from psyclone_storage.languages.fortran.parse.resolve import resolve_code
from psyclone_storage.languages.sources.kernel_search import index_directories
from psyclone_storage.languages.sources.module_finder import ModuleFinder
from psyclone_storage.passes.loops import jam_loops, strip_mine_loop, tile_loops
from psyclone_storage.passes.scalarise import scalarise_assignments
from psyclone_storage.transform.kernel.arrays import with_ranges
from psyclone_storage.transform.kernel.intrinsics import FUNCTIONS, written_out
from psyclone_storage.transform.kernel.pass_bounds import with_bounds_inside

DUMMIES = "n, m, a, b"
DECLARED = """integer, intent(in) :: n, m
real(r_def), intent(inout) :: a(n, 4), b(n)
real(r_def) :: t
integer :: i, j
real(r_def), allocatable :: work(:)"""
BODY = """allocate(work(n))
do j = 1, 4
do i = 1, n
a(i, j) = max(b(i), t) + lost(i) * sum(b(1:n))
end do
end do
b = 2 * a(:, 1)
t = sum(b)"""


def parts(code: Routine) -> Iterator[Expr]:
    for line in walk_lines(code.body):
        for expr in expressions_of(line):
            yield from walk(expr)
    for item in code.declarations:
        if isinstance(item, Declare):
            for expr in item.shape:
                yield from walk(expr)


def unlinked(code: Routine) -> list[str]:
    """Return what does not carry what is known of it, but for what loops count with."""
    wrong: list[str] = []
    for part in parts(code):
        if isinstance(part, Name) and part.symbol is not None:
            wrong += [] if part.symbol == code.symbol(part.text) else [spell(part)]
        elif isinstance(part, Index) and part.__class__ is Index:
            wrong.append(spell(part))
    counted = {getattr(line, "variable", "") for line in walk_lines(code.body)}
    bare = {part.text for part in parts(code) if isinstance(part, Name) and part.symbol is None}
    return wrong + sorted(bare - counted)


def small() -> Routine:
    return code_of(BODY, DECLARED, DUMMIES)


def test_each_name_carries_its_symbol_and_each_bracket_says_what_it_is() -> None:
    code = small()
    assert unlinked(code) == []
    kinds = {spell(part): type(part) for part in parts(code) if isinstance(part, Index)}
    assert kinds == {
        "work(n)": Extents,
        "a(i, j)": Element,
        "max(b(i), t)": CallFunction,
        "b(i)": Element,
        "lost(i)": Unresolved,
        "sum(b(1:n))": CallFunction,
        "b(1:n)": Section,
        "a(:, 1)": Section,
        "sum(b)": CallFunction,
    }
    (lost,) = {part.symbol.origin for part in parts(code)
               if isinstance(part, Name) and part.symbol and part.key == "lost"}  # fmt: skip
    assert lost is Origin.UNRESOLVED
    shape = next(part for part in parts(code) if isinstance(part, Name) and part.key == "a").symbol
    assert shape is not None
    assert [extent.symbol and extent.symbol.origin for extent in shape.shape[:1]] == [Origin.DUMMY]


def test_a_name_is_one_node_wherever_it_stands() -> None:
    code = small()
    nodes = {id(part) for part in parts(code) if isinstance(part, Name) and part.text == "b"}
    bodies = {id(part) for line in walk_lines(code.body) for expr in expressions_of(line)
              for part in walk(expr) if isinstance(part, Name) and part.text == "b"}  # fmt: skip
    assert len(bodies) == 1
    assert nodes == bodies


def test_knowledge_takes_no_part_in_equality() -> None:
    code = read_code(SourceText("small_mod.f90", kernel_module(BODY, DECLARED, DUMMIES)),
                     "small_code")  # fmt: skip
    assert resolve_code(code, NO_MODULES).body == code.body
    known = Name("a", Symbol("a", "a", Origin.LOCAL, Sort.VARIABLE))
    assert known == Name("a")
    assert hash(known) == hash(Name("a"))
    assert Name("a") != Name("b", known.symbol)


STEPS: dict[str, Callable[[Routine], Routine]] = {
    "loops": scalarise_assignments,
    "ranges": with_ranges,
    "functions": lambda code: written_out(code, frozenset(FUNCTIONS))[0],
    "chunks": lambda code: strip_mine_loop(code, 1, 2),
    "tiles": lambda code: tile_loops(code, 1, 2, 3),
    "jam": lambda code: jam_loops(code, 1, 2),
    "bounds": with_bounds_inside,
}


@pytest.mark.parametrize("step", STEPS.values(), ids=STEPS)
def test_what_a_step_makes_is_linked_again(step: Callable[[Routine], Routine]) -> None:
    before = code_of(BODY.replace(" + lost(i)", " + b(i)"), DECLARED, DUMMIES)
    made = step(before)
    after = linked(made)
    assert made.body != before.body
    assert unlinked(after) == []
    assert after == made


def test_a_step_leaves_names_that_nobody_has_looked_up_yet() -> None:
    assert "res_sum" in unlinked(STEPS["functions"](small()))


def test_a_declaration_that_changes_changes_what_its_name_stands_for() -> None:
    code = small()
    longer = tuple(
        replace(item, shape=(*item.shape, Name("m")))
        if isinstance(item, Declare) and item.name == "b" else item
        for item in code.declarations
    )  # fmt: skip
    after = linked(code.with_specification(declarations=longer))
    assert unlinked(after) == []
    kinds = {
        type(part) for part in parts(after) if isinstance(part, Index) and spell(part) == "b(i)"
    }
    assert kinds == {Unresolved}


def test_what_does_not_change_is_the_same_node() -> None:
    code = small()
    again = linked(code)
    assigned = [line for line in walk_lines(code.body) if isinstance(line, Assign)]
    others = [line for line in walk_lines(again.body) if isinstance(line, Assign)]
    assert assigned == others
    assert [line.value.__class__ for line in assigned] == [line.value.__class__ for line in others]


def test_a_component_carries_its_symbol(tmp_path: Path) -> None:
    (tmp_path / "box_mod.f90").write_text(
        "module box_mod\n type box\n  real :: values(3)\n end type\nend module\n", encoding="utf-8"
    )
    finder = ModuleFinder(index_directories((tmp_path,)))
    text = kernel_module("t = Thing%Values(2) + thing%nothing", "type(box) :: thing\nreal :: t")
    text = text.replace("implicit none", "use box_mod\nimplicit none", 1)
    code = resolve_code(read_code(SourceText("small_mod.f90", text), "small_code"), finder)
    found = {part.key: part.symbol for part in parts(code) if isinstance(part, Member)}
    values = found["values"]
    assert values is not None
    assert (values.type, values.rank) == (ScalarType(Intrinsic.REAL), 1)
    assert found["nothing"] is None
    assert {type(part) for part in parts(code) if isinstance(part, Index)} == {Element}


def test_functions_of_the_language_are_told_from_others_of_their_names() -> None:
    assert intrinsic_called(intrinsic("max", Name("a"))) == "max"
    assert intrinsic_called(CallFunction(Name("max"), (Name("a"),))) is None
    own = code_of("t = max(b(1), t)", DECLARED + "\nreal(r_def), external :: max", DUMMIES)
    value = expressions_of(own.body[0])[1]
    assert isinstance(value, CallFunction)
    assert intrinsic_called(value) is None


def test_statements_of_a_former_version_are_not_linked_again() -> None:
    """New statements get symbols; those of the former version are the same objects."""
    text = kernel_module(BODY, DECLARED, DUMMIES)
    code = read_code(SourceText("small_mod.f90", text), "small_code")
    former = resolve_code(code, NO_MODULES)
    first = former.body[0]
    new = Assign(Name("a"), Name("b"))
    found = linked(replace(former, body=(*former.body, new)), former=former)
    assert found.body[0] is first
    assert found.specification is former.specification
    last = found.body[-1]
    assert isinstance(last, Assign)
    assert last == new
    again = linked(replace(former, body=(*former.body, new)))
    assert isinstance(again.body[-1], Assign)
    assert [part.symbol for part in (last.target, last.value)] == [
        part.symbol for part in (again.body[-1].target, again.body[-1].value)
    ]


def test_a_new_declaration_gives_former_statements_its_symbol() -> None:
    """Statements of the former version are linked again only if they contain the new name."""
    code = small()
    kinds = []
    for name in ("other", "lost"):
        item = Declare(name, ScalarType(Intrinsic.REAL), (), (Name("n"),))
        new = (*code.specification, DeclarationStatement((item,)))
        version = linked(replace(code, specification=new), former=code)
        assert unlinked(version) == []
        kinds.append({type(part) for part in parts(version)
                      if isinstance(part, Index) and spell(part.base) == "lost"})  # fmt: skip
    assert kinds == [{Unresolved}, {Element}]
