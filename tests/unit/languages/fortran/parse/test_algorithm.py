"""Algorithms: invokes in every form and place, the scopes around them, and what is wrong."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from psyclone_storage.base.codes import CODES
from psyclone_storage.base.diagnostic import CompileError, Diagnostic
from psyclone_storage.base.source import SourceText
from psyclone_storage.ir.expr import spell
from psyclone_storage.ir.parsed import (
    Declaration,
    ParsedAlgorithm,
    ParsedInvoke,
    Scope,
    ScopeKind,
)
from psyclone_storage.ir.types import DerivedType, Intrinsic, ScalarType
from psyclone_storage.languages.fortran.parse.algorithm import read_algorithm


def read(text: str) -> ParsedAlgorithm:
    return read_algorithm(SourceText("alg.x90", text))


def in_program(statement: str, declarations: str = "") -> ParsedAlgorithm:
    return read(f"program a\n{declarations}\n{statement}\nend program a\n")


def invoke(statement: str) -> ParsedInvoke:
    (only,) = in_program(statement).invokes
    return only


def problems(text: str) -> tuple[Diagnostic, ...]:
    with pytest.raises(CompileError) as caught:
        read(text)
    return caught.value.problems


def declared(declarations: str) -> dict[str, Declaration]:
    scope = in_program("", declarations).unit
    return {each.name: each for each in scope.declarations}


# ---------------------------------------------------------------------------- invokes


@pytest.mark.parametrize(
    ("statement", "calls"),
    [
        ("call invoke(k(a))", [("k", ["a"])]),
        ("CALL  Invoke ( K ( a ) )", [("K", ["a"])]),
        ("call invoke(setval_c(f, 0.0_r_def), k_type(f, g))",
         [("setval_c", ["f", "0.0_r_def"]), ("k_type", ["f", "g"])]),
        ("call invoke(k(self%field, state(i)%f(j), f(1)))",
         [("k", ["self%field", "state(i)%f(j)", "f(1)"])]),
        ("call invoke(k(f, 2*depth, x_direction))", [("k", ["f", "2 * depth", "x_direction"])]),
        ("call invoke(k(-1.0_r_def, a%get('x, y')))", [("k", ["-1.0_r_def", "a%get('x, y')"])]),
        ("call invoke(k())", [("k", [])]),
        ("call invoke( & ! first\n  k(a, & ! second\n ! third\n\n  b) &\n)", [("k", ["a", "b"])]),
        ("call invo&\n  &ke(k(a))", [("k", ["a"])]),
        ("if (x) call invoke(k(a))", [("k", ["a"])]),
        ("if (f(')') > (1)) call invoke(k(a))", [("k", ["a"])]),
        ("10 call invoke(k(a))", [("k", ["a"])]),
        ("x = 1; call invoke(k(a)); y = 2", [("k", ["a"])]),
    ],
)  # fmt: skip
def test_calls_of_an_invoke(statement: str, calls: list[tuple[str, list[str]]]) -> None:
    found = invoke(statement)
    assert [(call.name, [spell(arg.expr) for arg in call.args]) for call in found.calls] == calls
    assert found.label is None


@pytest.mark.parametrize(
    "statement",
    ["call invoked(k(a))", "call invoke%run(k(a))", "print *, 'call invoke(k(a))'",
     "! call invoke(k(a))", "invoke = 3", "call log('if (x) call invoke(k(a))')"],
)  # fmt: skip
def test_what_is_no_invoke(statement: str) -> None:
    assert in_program(statement).invokes == ()


@pytest.mark.parametrize(
    ("statement", "codes"),
    [
        ("call invok(k(a))", ["P016"]),
        ("if (f(')') > 1) call invok(k(a))", ["P016"]),
        ("print *, 'call invok(k(a))'", []),
        ("write(unit, '(a)') 'call invoke(nothing) is only text'", []),
        ("call log('if (x) call invok(k(a))')", []),
    ],
)
def test_only_a_call_resembles_an_invoke(statement: str, codes: list[str]) -> None:
    assert [one.code for one in in_program(statement).warnings] == codes


@pytest.mark.parametrize("literal", ["'step'", '"step"', "' step '"])
def test_label_of_an_invoke(literal: str) -> None:
    found = invoke(f"call invoke(k(a), Name = {literal})")
    assert found.label == "step"
    assert found.label_span is not None
    assert found.label_span.text == literal


def test_places_are_those_of_the_file() -> None:
    found = invoke("if (x) call invoke( & ! c\n   kern_type(a, &\n    b(1, 2) + c), name='n') ! d")
    assert found.span.text.startswith("call invoke( & ! c")
    assert found.span.text.endswith("name='n')")
    (call,) = found.calls
    assert call.name_span.text == "kern_type"
    assert call.span.text == "kern_type(a, &\n    b(1, 2) + c)"
    assert [arg.span.text for arg in call.args] == ["a", "b(1, 2) + c"]
    assert (call.args[1].span.line, call.args[1].span.column) == (5, 5)


# ---------------------------------------------------------------------------- scopes

EVERYWHERE = """
module m
  use outer_mod
contains
  subroutine s(f)
    call invoke(k(f))
  contains
    recursive function g(x) result(y)
      call invoke(k(x))
    end function
  end subroutine s
  pure real(kind=r_def) function h()
    block
      integer :: i
      call invoke(k(i))
    end block
  end function h
  module subroutine t()
    call invoke(k(f))
  endsubroutine
end module m
submodule (m:n) sub
contains
  module procedure p
    named: associate(u => self%u(1))
      call invoke(k(u))
    end associate named
  end procedure p
end submodule sub
subroutine alone
  call invoke(k(f))
end
"""


def test_scopes_around_invokes() -> None:
    algorithm = read(EVERYWHERE)
    around = [
        [(scope.kind.value, scope.name) for scope in found.scopes] for found in algorithm.invokes
    ]
    module, submodule = ("module", "m"), ("submodule", "sub")
    assert around == [
        [("subroutine", "s"), module],
        [("function", "g"), ("subroutine", "s"), module],
        [("block", ""), ("function", "h"), module],
        [("subroutine", "t"), module],
        [("associate", ""), ("procedure", "p"), submodule],
        [("subroutine", "alone")],
    ]
    assert algorithm.unit.name == "m"


def test_associations_and_block_declarations() -> None:
    algorithm = read(EVERYWHERE)
    block, associate = algorithm.invokes[2].scopes[0], algorithm.invokes[4].scopes[0]
    assert [each.name for each in block.declarations] == ["i"]
    (association,) = associate.associations
    assert (association.name, spell(association.expr)) == ("u", "self%u(1)")


def test_result_type_in_the_head_is_a_declaration() -> None:
    (function,) = (scope for scope in read(EVERYWHERE).scopes if scope.name == "h")
    (result,) = function.declarations
    assert (result.name, result.type) == ("h", ScalarType(Intrinsic.REAL, "r_def"))


def test_unit_without_invoke_is_fine() -> None:
    algorithm = read("module m\nend module m\n")
    assert (algorithm.unit.name, algorithm.invokes) == ("m", ())


def test_unit_is_the_one_with_invokes() -> None:
    text = "module m\nend module m\nprogram p\ncall invoke(k(a))\nend program\n"
    assert read(text).unit.kind is ScopeKind.PROGRAM


def test_interface_and_type_declare_nothing_in_the_scope() -> None:
    text = """
  interface
    subroutine s(x)
      integer :: x
    end subroutine s
  end interface
  type :: t
    type(field_type) :: u
  contains
    procedure :: run
  end type t
  integer :: n
"""
    assert list(declared(text)) == ["n"]


# ---------------------------------------------------------------------------- specification


@pytest.mark.parametrize(
    ("statement", "module", "only", "renames"),
    [
        ("use m", "m", None, []),
        ("use m, only: a, B", "m", [("a", "a"), ("B", "B")], []),
        ("use m, only : a => b", "m", [("a", "b")], []),
        ("use m, only:", "m", [], []),
        ("use m, a => b", "m", None, [("a", "b")]),
        ("use, intrinsic :: iso_c_binding, only: c_int", "iso_c_binding", [("c_int", "c_int")], []),
        ("use :: m", "m", None, []),
        ("use m, only: operator(+), assignment(=)", "m",
         [("operator(+)", "operator(+)"), ("assignment(=)", "assignment(=)")], []),
        ("use m, only: a, & ! c\n  b", "m", [("a", "a"), ("b", "b")], []),
    ],
)  # fmt: skip
def test_uses(
    statement: str,
    module: str,
    only: list[tuple[str, str]] | None,
    renames: list[tuple[str, str]],
) -> None:
    (use,) = in_program("", statement).unit.uses
    assert use.module == module
    found = None if use.only is None else [(name.local, name.original) for name in use.only]
    assert found == only
    assert [(name.local, name.original) for name in use.renames] == renames


@pytest.mark.parametrize(
    ("statement", "name", "type_", "shape"),
    [
        ("real(r_def) :: x", "x", ScalarType(Intrinsic.REAL, "r_def"), []),
        ("real*8 x", "x", ScalarType(Intrinsic.REAL, "8"), []),
        ("double precision x(3)", "x", ScalarType(Intrinsic.REAL, "kind(0.0d0)"), ["3"]),
        ("character(len=*), intent(in) :: x", "x", ScalarType(Intrinsic.CHARACTER), []),
        ("character*8 x", "x", ScalarType(Intrinsic.CHARACTER), []),
        ("logical, dimension(:,:), pointer :: x", "x", ScalarType(Intrinsic.LOGICAL), [":", ":"]),
        ("real, dimension(3) :: y, x(n)", "x", ScalarType(Intrinsic.REAL), ["n"]),
        ("type(Field_Type), pointer :: x(:) => null()", "x", DerivedType("field_type"), [":"]),
        ("class(t), target, contiguous :: x", "x", DerivedType("t"), []),
        ("integer, parameter :: x = 3, y = 4", "x", ScalarType(Intrinsic.INTEGER), []),
        ("integer function_space, x", "x", ScalarType(Intrinsic.INTEGER), []),
    ],
)  # fmt: skip
def test_declarations(statement: str, name: str, type_: object, shape: list[str]) -> None:
    found = declared(statement)[name]
    assert found.type == type_
    assert [spell(part) for part in found.shape] == shape
    assert found.span.text == name


def test_intent_attributes_and_value_of_declarations() -> None:
    found = declared("real, intent( in out ), optional :: x\ninteger, parameter :: n = 3")
    assert found["x"].intent == "inout"
    assert found["x"].attributes == ("intent(inout)", "optional")
    assert found["n"].value is not None
    assert spell(found["n"].value) == "3"


@pytest.mark.parametrize(
    "statement", ["real = 3", "type = t(1)", "call real(x)", "integer_x = 1", "class is (t)"]
)
def test_what_declares_nothing(statement: str) -> None:
    assert declared(statement) == {}


def test_types_are_named_as_in_their_modules() -> None:
    text = """
module m
  use field_mod, only: ft => field_type
  use mesh_mod
  type t
    type(ft) :: u
  end type
contains
  subroutine s(a, b, c)
    type(ft) :: a
    class(t) :: b
    type(mesh_type) :: c
  end subroutine
end module
"""
    algorithm = read(text)
    types = [each.type for each in algorithm.scopes[1].declarations]
    field = DerivedType("field_type", "field_mod")
    assert types == [field, DerivedType("t", "m"), DerivedType("mesh_type")]
    (structure,) = algorithm.types
    assert [(each.name, each.type) for each in structure.components] == [("u", field)]


def test_structures_inherit_within_the_file() -> None:
    text = "type, extends(b) :: c\nreal :: z\nend type\ntype :: b\nreal :: y\nend type\n"
    found = {each.name: each.components for each in in_program("", text).types}
    assert [each.name for each in found["c"]] == ["y", "z"]


@pytest.mark.parametrize(
    ("text", "before", "indent"),
    [
        ("module m\n  use a\n  use b ! c\n  implicit none\nend module\n", "  implicit none", 2),
        ("module m\n   implicit none\nend module\n", "   implicit none", 3),
        ("module m ! c\nend module\n", "end module", 2),
        ("module m\n  use a, &\n ! c\n only: b\n\nend module\n", "\nend module", 2),
        ("module m\n  use a\n#ifdef X\n  use b\n#endif\nend module\n", "#ifdef X", 2),
        ("#ifdef X\nmodule m\n  use a\n integer :: i\nend module\n#endif", " integer", 2),
        ("module m; use a; integer :: i\nend module\n", "; integer :: i", 0),
        ("module m\r\n  use a\r\n  save\r\nend module\r\n", "  save", 2),
    ],
)
def test_where_a_use_statement_can_be_added(text: str, before: str, indent: int) -> None:
    unit = read(text).unit
    assert text[unit.end_of_uses :].startswith(before)
    if indent:
        assert unit.indent == indent


def test_both_branches_of_a_conditional_are_read() -> None:
    text = """
module m
contains
#ifdef X
subroutine s(a, b)
#else
subroutine s(a)
#endif
  call invoke(k(a))
end subroutine s
subroutine t
  call invoke(k(a))
end subroutine t
end module m
"""
    found = read(text).invokes
    assert [each.scopes[0].name for each in found] == ["s", "t"]
    assert {each.scopes[-1].name for each in found} == {"m"}


# ---------------------------------------------------------------------------- problems


@pytest.mark.parametrize(
    ("statement", "code", "place"),
    [
        ("call invoke()", "P020", "call invoke()"),
        ("call invoke", "P020", "call invoke"),
        ("call invoke(name='a')", "P020", "call invoke(name='a')"),
        ("call invoke(k)", "P021", "k"),
        ("call invoke(k(a)(1))", "P021", "k(a)(1)"),
        ("call invoke(a%k(b))", "P021", "a%k(b)"),
        ("call invoke(k(a), , k(b))", "P021", ","),
        ("call invoke(k(a), name='a', name='b')", "P022", "'b'"),
        ("call invoke(k(a), name=b)", "P023", "b"),
        ("call invoke(k(a), name='a'//'b')", "P023", "'a'//'b'"),
        ("call invoke(k(a), name='1a')", "P024", "'1a'"),
        ("call invoke(k(a), name='')", "P024", "''"),
        (f"call invoke(k(a), name='{'x' * 60}')", "P024", f"'{'x' * 60}'"),
        ("call invoke(k(a), nome='a')", "P027", "nome"),
        ("call invoke(k(a, b=c))", "P028", "b=c"),
        ("call invoke(k(a, b +))", "P029", "b +"),
        ("call invoke(k(a,))", "P029", ")"),
        ("call invoke(k(a)", "P007", "("),
        ("call invoke(k(a)))", "P007", ")"),
        ("call invoke(k('a))", "P011", "'"),
        ("integer, dimension(+) :: i", "P008", "+"),
        ("real(r_def +) :: x", "P008", "real(r_def +)"),
        ("use m, only: a, 1b", "P009", "1b"),
    ],
)
def test_problem_is_reported_at_its_place(statement: str, code: str, place: str) -> None:
    (problem,) = problems(f"program a\n{statement}\nend program a\n")
    assert problem.code == code
    assert problem.span is not None
    assert problem.span.text == place


def test_preprocessor_line_inside_an_invoke_is_refused() -> None:
    text = "program a\ncall invoke(k(a), &\n#ifdef X\n k(b), &\n#endif\n k(c))\nend program\n"
    assert [problem.code for problem in problems(text)] == ["P010"]


def test_all_problems_are_reported_in_order() -> None:
    text = "program a\ncall invoke(1x, k(a +, b))\ncall invoke()\nreal(+) :: x\nend program a\n"
    found = problems(text)
    assert [problem.code for problem in found] == ["P021", "P029", "P020", "P008"]


@pytest.mark.parametrize(
    ("first", "second", "code"),
    [("a", "A", "P025"), ("a", "invoke_a", "P025"), ("taken", "b", "P026")],
)
def test_names_of_invokes_must_differ(first: str, second: str, code: str) -> None:
    text = (
        "subroutine invoke_taken\n"
        f"call invoke(k(a), name='{first}')\ncall invoke(k(a), name='{second}')\nend subroutine\n"
    )
    (problem,) = problems(text)
    assert problem.code == code
    assert len(problem.related) == 1


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "P002"),
        (" \n\t\n", "P002"),
        ("x = 1\n", "P003"),
        ("just some prose, nothing else\n", "P003"),
        ("\x7fELF\0\0", "P001"),
        ("module m\nend module\ncall invoke(k(a))\n", "P003"),
        ("C     A comment line\n      PROGRAM A\n      CALL INVOKE(K(A),\n     &  K(B))\n", "P004"),
        ("      program a\n      call invoke(k(a),\n     1  k(b))\n      end\n", "P004"),
        ("module m\n", "P005"),
        ("module m\ncontains\nsubroutine s\nend module m\n", "P005"),
        ("module m\ninterface\nend module m\n", "P005"),
        ("end subroutine\nmodule m\nend module\n", "P006"),
    ],
)
def test_files_that_cannot_be_read(text: str, code: str) -> None:
    assert code in {problem.code for problem in problems(text)}


def test_scopes_have_their_place() -> None:
    scope: Scope = read(
        "module m\ncontains\nsubroutine s\nx = 1\nend subroutine s ! c\nend\n"
    ).scopes[1]
    assert scope.span.text == "subroutine s\nx = 1\nend subroutine s"


@settings(max_examples=200)
@given(
    place=st.integers(0, len(EVERYWHERE)),
    removed=st.integers(0, 12),
    inserted=st.text("()[],;&'\"!%=:*+\n#.a1 ", max_size=3),
)
def test_broken_text_is_the_users_problem(place: int, removed: int, inserted: str) -> None:
    """Whatever is wrong with a file, nothing but a diagnostic comes out of reading it."""
    text = EVERYWHERE[:place] + inserted + EVERYWHERE[place + removed :]
    found: tuple[Diagnostic, ...] = ()
    invokes: tuple[ParsedInvoke, ...] = ()
    try:
        invokes = read(text).invokes
    except CompileError as error:
        found = error.problems
    assert {problem.code for problem in found} <= set(CODES)
    assert all(invoke.span.text.startswith("c") for invoke in invokes)
