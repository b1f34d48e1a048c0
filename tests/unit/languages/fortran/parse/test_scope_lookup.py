"""Names in invokes, linked with what their file declares, seen from where they stand."""

from __future__ import annotations

import pytest

from psyclone_storage.base.source import SourceText
from psyclone_storage.domains.declared import Declared, declared
from psyclone_storage.domains.lfric.structures import STRUCTURES
from psyclone_storage.ir.expr import (
    CallFunction,
    Element,
    Expr,
    Index,
    Name,
    Origin,
    Section,
    Sort,
    Unresolved,
    walk,
)
from psyclone_storage.ir.types import DerivedType, Intrinsic, ScalarType
from psyclone_storage.languages.fortran.parse.algorithm import read_algorithm
from psyclone_storage.languages.fortran.parse.routine import read_routine
from psyclone_storage.languages.fortran.parse.scope_lookup import link_algorithm

TEXT = """
module m
  use field_mod, only: field_type
  use parts_mod, only: part => whole_part, state => state_type
  use field_mod, only: field_vector_type
  real :: host
  type state_type
    type(field_type) :: u, tracers(3)
  end type
  type other_type
    integer :: number
  end type
contains
  subroutine step(self, u, many, hidden)
    use late_mod, only: host
    class(state_type) :: self
    type(other_type) :: u
    type(far_type) :: far
    type(field_vector_type) :: bundle
    type(field_type) :: many(4)
    integer :: at, all_of_them(2)
    associate (tracer => self%tracers, u => self%u, two => self%tracers(1:2))
      associate (one => tracer(1), self => u, sum => at + 1)
        call invoke(k({}))
      end associate
    end associate
  end subroutine
end module
"""
FIELD = DerivedType("field_type", "field_mod")


def linked(text: str, depth: int = 0) -> Expr:
    """Return an argument, `depth` scopes outside of the innermost one."""
    before = TEXT
    if depth:
        word = "associate (tracer" if depth == 2 else "associate (one"
        before = TEXT.replace("call invoke(k({}))", "").replace(
            word, f"call invoke(k({{}}))\n{word}"
        )
    source = SourceText("alg.x90", before.format(text))
    algorithm = link_algorithm(read_algorithm(source), STRUCTURES)
    return algorithm.invokes[0].calls[0].args[0].expr


def known(text: str, depth: int = 0) -> Declared:
    found = declared(linked(text, depth))
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("text", "depth", "type_", "rank"),
    [
        ("u", 2, DerivedType("other_type", "m"), 0),
        ("self%u", 2, FIELD, 0),
        ("self%tracers(2)", 2, FIELD, 0),
        ("U", 1, FIELD, 0),
        ("tracer", 1, FIELD, 1),
        ("tracer(2)", 0, FIELD, 0),
        ("two", 0, FIELD, 1),
        ("one", 0, FIELD, 0),
        ("self", 0, FIELD, 0),
        ("sum", 0, ScalarType(Intrinsic.INTEGER), 0),
        ("many(2:3)", 0, FIELD, 1),
        ("many(at)", 0, FIELD, 0),
        ("bundle%vector", 0, DerivedType("field_type"), 1),
        ("bundle%vector(at)", 0, DerivedType("field_type"), 0),
        ("far%tracers(1)", 0, FIELD, 0),
        ("unknown%number", 0, ScalarType(Intrinsic.INTEGER), 0),
    ],
)
def test_type_and_rank(text: str, depth: int, type_: DerivedType, rank: int) -> None:
    found = known(text, depth)
    assert (found.type, found.rank) == (type_, rank)


@pytest.mark.parametrize(
    "text", ["nothing", "one%x", "f(1)", "1.0", "host", "part", "hidden", "many(1, 2)", "at(1)"]
)
def test_what_is_not_declared(text: str) -> None:
    assert declared(linked(text)) is None


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("many", "many"),
        ("many(2)", "many"),
        ("tracer(1)", "tracers"),
        ("two", "tracers"),
        ("self", "u"),
    ],
)
def test_the_place_is_that_of_the_declaration(text: str, place: str) -> None:
    (related,) = known(text).places
    assert related.span.text.lower().startswith(place)


def test_extents_of_what_is_associated_as_a_whole_are_kept() -> None:
    assert known("tracer").symbol.shape == known("self%tracers", 2).symbol.shape
    assert known("two").symbol.shape != known("tracer").symbol.shape


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("many(at)", Element),
        ("many(1:2)", Section),
        ("many(all_of_them)", Section),
        ("bundle%vector(1)", Element),
        ("abs(at)", CallFunction),
        ("step(1)", CallFunction),
        ("nothing(1)", Unresolved),
        ("part(1)", Unresolved),
        ("many(1, 2)", Unresolved),
    ],
)
def test_brackets_are_told_apart(text: str, kind: type[Index]) -> None:
    assert type(linked(text)) is kind


@pytest.mark.parametrize(
    ("text", "origin", "module"),
    [
        ("host", Origin.IMPORTED, "late_mod"),
        ("PART", Origin.IMPORTED, "parts_mod"),
        ("many", Origin.LOCAL, ""),
        ("nothing", Origin.UNRESOLVED, ""),
        ("step", Origin.HOST, ""),
        ("sin", Origin.INTRINSIC, ""),
    ],
)
def test_origins(text: str, origin: Origin, module: str) -> None:
    expr = linked(text)
    assert isinstance(expr, Name)
    assert expr.symbol is not None
    assert (expr.symbol.origin, expr.symbol.module) == (origin, module)


def test_every_name_has_a_symbol() -> None:
    expr = linked("self%tracers(at + nothing(part, sin(1.0)))")
    assert all(part.symbol is not None for part in walk(expr) if isinstance(part, Name))


def test_what_a_name_is_imported_as() -> None:
    expr = linked("state")
    assert isinstance(expr, Name)
    assert expr.symbol is not None
    assert (expr.symbol.name, expr.symbol.sort) == ("state_type", Sort.UNKNOWN)


def test_extents_of_dummy_arguments_are_linked() -> None:
    text = (
        "module m\ncontains\nsubroutine work(n, sizes, x)\n"
        "integer, intent(in) :: n, sizes(2)\nreal, intent(inout) :: x(n, sizes(1), lost(1))\n"
        "end subroutine work\nend module m\n"
    )
    routine = read_routine(SourceText("m.f90", text), "work")
    first, second, third = routine.declarations[-1].shape
    assert isinstance(first, Name)
    assert first.symbol is not None
    assert first.symbol.type == ScalarType(Intrinsic.INTEGER)
    assert type(second) is Element
    assert type(third) is Unresolved


MODULES = """
module near_mod
  type state_type
    type(field_type) :: f
  end type
  type :: sized_type(k, n)
    integer, kind :: k = 8
    integer, len :: n
    real(k) :: values(n)
  end type
  type, extends(sized_type) :: grown_type(m)
    integer, len :: m
    type(sized_type(k, m)) :: inner
  end type
end module
module m
  type state_type
    real :: f
  end type
  type, extends(state_type) :: child_type
  end type
contains
  subroutine step(own, child, grown)
    use near_mod, only: near => state_type, grown_type
    use far_mod, only: far_type => state_type
    type(state_type) :: own
    type(child_type) :: child
    type(near) :: other
    type(far_type) :: far
    type(grown_type(8, 2, n=*)) :: grown
    call invoke(k({}))
  end subroutine
end module
"""


@pytest.mark.parametrize(
    ("text", "type_"),
    [
        ("own%f", ScalarType(Intrinsic.REAL)),
        ("child%f", ScalarType(Intrinsic.REAL)),
        ("other%f", DerivedType("field_type")),
        ("far%f", None),
        ("grown%values", ScalarType(Intrinsic.REAL, "k")),
        ("grown%inner%n", ScalarType(Intrinsic.INTEGER)),
    ],
)
def test_types_of_one_name_and_types_with_parameters(text: str, type_: DerivedType | None) -> None:
    """Each module may define a type of its own by one name."""
    source = SourceText("alg.x90", MODULES.format(text))
    algorithm = link_algorithm(read_algorithm(source), {})
    found = declared(algorithm.invokes[0].calls[0].args[0].expr)
    assert (found.type if found else None) == type_
