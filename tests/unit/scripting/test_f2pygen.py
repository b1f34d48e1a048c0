"""Builders of Fortran: what they print, and where pieces go."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from psyclone_storage.base.diagnostic import CompileError
from psyclone_storage.scripting import f2pygen as build

SEED = """\
module testmodule
  implicit none
contains
  subroutine testsubroutine()
    type(field_type) :: ufld
    character(len=10) :: my_char
    integer :: my_int
  end subroutine testsubroutine
end module testmodule
"""


def test_the_example_of_the_seed() -> None:
    """The order is the seed's, in which a new declaration goes before the others."""
    module = build.ModuleGen(name="testmodule")
    sub = build.SubroutineGen(module, name="testsubroutine")
    module.add(sub)
    sub.add(build.DeclGen(sub, datatype="integer", entity_decls=["my_int"]))
    sub.add(build.CharDeclGen(sub, length="10", entity_decls=["my_char"]))
    sub.add(build.TypeDeclGen(sub, datatype="field_type", entity_decls=["ufld"]))
    assert str(module.root) == SEED


def routine() -> build.SubroutineGen:
    return build.SubroutineGen(build.ModuleGen("m"), "s", ["n"])


def lines(piece: build.Piece) -> list[str]:
    return [line.strip() for line in str(piece).splitlines()]


def test_pieces_go_where_they_belong() -> None:
    sub = routine()
    sub.add(build.CallGen(sub, "work", ["a", "b(1)"]))
    sub.add(build.DeclGen(sub, "real", ["a"], kind="wp", dimension="n", allocatable=True))
    sub.add(build.DeclGen(sub, "integer", ["n"], intent="in"))
    sub.add(build.UseGen(sub, "kinds", only=True, funcnames=["wp"]))
    sub.add(build.UseGen(sub, "kinds", only=True, funcnames=["wp"]))
    sub.add(build.UseGen(sub, "tools"))
    assert lines(sub) == [
        "subroutine s(n)",
        "use kinds, only: wp",
        "use tools",
        "integer, intent(in) :: n",
        "real(kind=wp), dimension(n), allocatable :: a",
        "call work(a, b(1))",
        "end subroutine s",
    ]


def test_a_position_says_otherwise() -> None:
    sub = routine()
    first, second = build.CallGen(sub, "first"), build.CallGen(sub, "second")
    sub.add(second)
    sub.add(first, position=["before", second.root])
    sub.add(build.CommentGen(sub, " head"), position=["first"])
    sub.add(build.CommentGen(sub, " middle"), position=["after", first])
    sub.add(build.CommentGen(sub, " foot"), position=["append"])
    sub.add(build.CommentGen(sub, " third"), position=["insert", 2])
    assert lines(sub)[1:-1] == [
        "! head", "call first()", "! third", "! middle", "call second()", "! foot",
    ]  # fmt: skip


def test_statements_of_every_kind() -> None:
    sub = routine()
    sub.add(build.AllocateGen(sub, ["a(n)", "b(n)"]))
    sub.add(build.AssignGen(sub, "p", "a", pointer=True))
    choice = build.IfThenGen(sub, "n > 0")
    sub.add(choice)
    choice.add(build.AssignGen(choice, "a", "0.0"))
    sub.add(build.DirectiveGen(sub, "omp", "begin", "parallel do", "default(shared)"))
    loop = build.DoGen(sub, "i", "1", "n", "2")
    sub.add(loop)
    loop.add(build.CallGen(loop, "work", ["i"]))
    sub.add(build.DirectiveGen(sub, "omp", "end", "parallel do"))
    sub.add(build.DeallocateGen(sub, "a"))
    assert lines(sub)[1:-1] == [
        "allocate(a(n), b(n))",
        "p => a",
        "if (n > 0) then",
        "a = 0.0",
        "end if",
        "!$omp parallel do default(shared)",
        "do i = 1, n, 2",
        "call work(i)",
        "end do",
        "!$omp end parallel do",
        "deallocate(a)",
    ]


def test_a_nest_of_loops_is_found_with_its_directive() -> None:
    sub = routine()
    before = build.AssignGen(sub, "x", "0")
    directive = build.DirectiveGen(sub, "omp", "begin", "do")
    outer = build.DoGen(sub, "j", "1", "n")
    inner = build.DoGen(outer, "i", "1", "n")
    call = build.CallGen(inner, "work")
    for piece in (before, directive, outer):
        sub.add(piece)
    outer.add(inner)
    inner.add(call)
    assert call.start_parent_loop() is inner.start_parent_loop() is directive
    assert sub.previous_loop() is outer
    sub.add(build.CommentGen(sub, "x"), position=["before", call.start_parent_loop()])
    assert lines(sub)[2:4] == ["! x", "!$omp do"]
    with pytest.raises(CompileError, match="no loop around"):
        before.start_parent_loop()


def test_values_and_attributes_of_declarations() -> None:
    sub = routine()
    sub.add(build.DeclGen(sub, "logical", ["on"], save=True, initial_values=[".true."]))
    sub.add(build.TypeDeclGen(sub, "field", ["f"], is_class=True, pointer=True, target=False))
    assert lines(sub)[1:-1] == ["class(field), pointer :: f", "logical, save :: on = .true."]
    assert sub.last_declaration() is sub.children[1]


@pytest.mark.parametrize(
    "wrong",
    [
        lambda sub: build.DeclGen(sub, "number", ["a"]),
        lambda sub: build.DeclGen(sub, "real", []),
        lambda sub: build.DeclGen(sub, "real", ["a"], colour="red"),
        lambda sub: build.DeclGen(sub, "real", ["a", "b"], initial_values=["1.0"]),
        lambda sub: build.DeclGen(sub, "real", ["a"], pointer=True, allocatable=True),
        lambda sub: build.DirectiveGen(sub, "omp", "middle", "do"),
        lambda sub: sub.add(build.CommentGen(sub, "x"), position=["near", sub]),
        lambda sub: sub.previous_loop(),
        lambda sub: sub.last_declaration(),
    ],
)
def test_what_makes_no_fortran_is_refused(wrong: Callable[[build.SubroutineGen], object]) -> None:
    with pytest.raises(CompileError) as caught:
        wrong(routine())
    assert [problem.code for problem in caught.value.problems] == ["T015"]
