"""What an algorithm declares about an actual argument, seen from where it stands."""

from __future__ import annotations

import pytest

from psyclone_storage.base.source import SourceText
from psyclone_storage.domain.lfric.declared import declared
from psyclone_storage.frontend.fortran.algorithm import read_algorithm
from psyclone_storage.frontend.fortran.reader import read_expression
from psyclone_storage.ir.types import DerivedType

TEXT = """
module m
  use field_mod, only: field_type
  type state_type
    type(field_type) :: u, tracers(3)
  end type
contains
  subroutine step(self, u)
    class(state_type) :: self
    type(other_type) :: u
    associate (tracer => self%tracers, u => self%u)
      associate (one => tracer(1), self => u)
        call invoke(k(one))
      end associate
    end associate
  end subroutine
end module
"""
FIELD = DerivedType("field_type", "field_mod")


@pytest.mark.parametrize(
    ("text", "depth", "type_", "rank"),
    [
        ("u", 2, DerivedType("other_type"), 0),
        ("self%u", 2, FIELD, 0),
        ("self%tracers(2)", 2, FIELD, 0),
        ("U", 1, FIELD, 0),
        ("tracer", 1, FIELD, 1),
        ("tracer(2)", 0, FIELD, 0),
        ("one", 0, FIELD, 0),
        ("self", 0, FIELD, 0),
    ],
)
def test_type_and_rank(text: str, depth: int, type_: DerivedType, rank: int) -> None:
    algorithm = read_algorithm(SourceText("alg.x90", TEXT))
    scopes = algorithm.invokes[0].scopes[depth:]
    found = declared(read_expression(text), scopes, algorithm)
    assert found is not None
    assert (found.type, found.rank) == (type_, rank)


@pytest.mark.parametrize("text", ["nothing", "one%x", "f(1)", "1.0"])
def test_what_is_not_declared(text: str) -> None:
    algorithm = read_algorithm(SourceText("alg.x90", TEXT))
    assert declared(read_expression(text), algorithm.invokes[0].scopes[:1], algorithm) is None
