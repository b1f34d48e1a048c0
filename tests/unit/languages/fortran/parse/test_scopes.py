"""The tree of scopes of a file: their nesting, their places, and what they specify."""

from __future__ import annotations

from textwrap import dedent

from psyclone_storage.base.source import SourceText
from psyclone_storage.ir.parsed import ScopeKind
from psyclone_storage.languages.fortran.parse.scope_reader import read_scopes
from psyclone_storage.languages.fortran.parse.scopes import FileScopes, ScopeNode

FILE = """\
module outer
  use kinds, only: r_def
  implicit none
  interface operator(+)
    module procedure add
  end interface
  interface both
    procedure :: first
    pure function second(x) result(y)
      real, intent(in) :: x
      real :: y
    end function second
  end interface both
  type, extends(base) :: item
    real :: value
  contains
    procedure :: go => first
  end type item
contains
  real(r_def) pure function first(x) bind(c)
    real(r_def), intent(in) :: x
    first = x
  contains
    subroutine inner()
      call other()
    end subroutine
  end function first
  module recursive subroutine last(a, b)
    integer :: a, b
    block
      integer :: c
      c = a
    end block
  end subroutine last
end module outer
subroutine alone
end
"""


def scopes_of(text: str) -> FileScopes:
    return read_scopes(SourceText("small.f90", dedent(text)))


def tree(scope: ScopeNode) -> tuple[str, list[object]]:
    return scope.name or scope.kind.value, [tree(child) for child in scope.children]


def test_scopes_are_nested_as_in_the_text() -> None:
    file = scopes_of(FILE)
    roots = [tree(scope) for scope in file.scopes if scope.parent is None]
    assert roots == [
        ("outer", [("first", [("inner", [])]), ("last", [("block", [])])]),
        ("alone", []),
    ]
    assert [scope.name for scope in file.modules] == ["outer"]
    assert [scope.name for scope in file.modules[0].procedures] == ["first", "last"]
    assert file.problems == []


def test_each_scope_has_the_text_and_the_statements_between_its_ends() -> None:
    file = scopes_of(FILE)
    inner = next(scope for scope in file.scopes if scope.name == "inner")
    assert inner.place.text == "subroutine inner()\n      call other()\n    end subroutine"
    texts = [statement.text for statement in inner.statements]
    assert texts == ["subroutine inner()", "call other()", "end subroutine"]
    assert [scope.name for scope in inner.outwards()] == ["inner", "first", "outer"]
    at = file.source.text.index("call other")
    assert file.modules[0].innermost(at) is inner


def test_statements_that_specify_nothing_are_listed_with_their_scope() -> None:
    found = [
        (statement.text, scope.name if scope else None)
        for statement, scope in scopes_of(FILE).others
        if "=" in statement.text or "call" in statement.text
    ]
    assert found == [("first = x", "first"), ("call other()", "inner"), ("c = a", "")]


def test_a_head_has_its_words_and_the_type_of_its_result() -> None:
    first, last = scopes_of(FILE).modules[0].procedures
    assert first.head is not None
    assert last.head is not None
    assert (first.head.prefix, first.head.suffix) == ("real(r_def) pure", "bind(c)")
    assert first.head.is_pure
    assert not last.head.is_pure
    assert last.head.words == {"module", "recursive"}
    assert last.dummies == ("a", "b")
    result = first.head.read_result()
    assert result is not None
    assert (result.name, result.type) == ("first", first.parsed.declarations[1].type)


def test_an_interface_block_has_its_own_statements_and_opens_no_scope() -> None:
    module = scopes_of(FILE).modules[0]
    plus, both = module.generics
    assert (plus.name, plus.names) == ("", ("add",))
    assert (both.name, both.names) == ("both", ("first", "second"))
    text = module.opening.source.text
    assert text[both.opening.offset(0) : both.stop].endswith("end interface both")
    assert [statement.text for statement in plus.statements] == ["module procedure add"]
    assert list(module.interface_blocks()) == [plus, both]


def test_a_type_has_its_components_and_bindings() -> None:
    (item,) = scopes_of(FILE).modules[0].definitions
    assert (item.structure.name, item.parent, item.procedures) == ("item", "base", {"go"})
    assert [statement.text for statement in item.components] == ["real :: value"]
    assert [statement.text for statement in item.bindings] == ["procedure :: go => first"]


def test_a_component_that_cannot_be_read_hides_no_other() -> None:
    file = scopes_of(
        """\
        module m
          type :: t
            real :: broken(3
            integer :: kept
          contains
            procedure :: go
          end type t
        end module m
        """
    )
    (found,) = file.modules[0].definitions
    assert [item.name for item in found.structure.components] == ["kept"]
    assert found.procedures == {"go"}
    assert [problem.code for problem in file.problems] == ["P008"]


def test_a_function_whose_type_cannot_be_read_is_a_scope() -> None:
    file = scopes_of(
        """\
        module m
        contains
          real(kind=) function f(x)
            f = x
          end function f
          subroutine s()
          end subroutine s
        end module m
        """
    )
    assert [scope.name for scope in file.modules[0].procedures] == ["f", "s"]
    assert [problem.code for problem in file.problems] == ["P008"]


def test_an_end_closes_the_constructs_in_it() -> None:
    file = scopes_of("subroutine s\nblock\nx = 1\nend subroutine s\nsubroutine t\nend\n")
    assert [scope.parent for scope in file.scopes if scope.kind is ScopeKind.SUBROUTINE] == [
        None,
        None,
    ]
    assert [problem.code for problem in file.problems] == ["P005"]


def test_branches_of_a_conditional_are_all_read() -> None:
    file = scopes_of(
        "module m\ncontains\n#ifdef A\nsubroutine s(a)\n#else\nsubroutine s(a, b)\n#endif\n"
        "end subroutine s\nend module m\n"
    )
    assert [(scope.name, scope.dummies) for scope in file.scopes[1:]] == [
        ("s", ("a",)),
        ("s", ("a", "b")),
    ]
    assert file.problems == []


def test_a_file_is_read_once() -> None:
    source = SourceText("small.f90", FILE)
    assert read_scopes(source) is read_scopes(source)
    module = read_scopes(source).modules[0]
    assert module.parsed is module.parsed


def test_attributes_of_cuda_fortran_open_a_procedure() -> None:
    file = scopes_of("module m\ncontains\nattributes(device) subroutine s()\nend subroutine\nend\n")
    assert [scope.name for scope in file.modules[0].procedures] == ["s"]
