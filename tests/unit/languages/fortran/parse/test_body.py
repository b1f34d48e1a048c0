"""Bodies of kernels: what is understood, what is kept as written, what is printed back."""

from dataclasses import replace
from pathlib import Path

import pytest

from psyclone_storage.base.diagnostic import CompileError
from psyclone_storage.base.source import SourceText
from psyclone_storage.ir.directive import AccRoutineDirective, DeviceLevel
from psyclone_storage.ir.expr import Index, Keyword, Name, Parenthesised, spell
from psyclone_storage.ir.routine import Routine
from psyclone_storage.ir.types import Intrinsic, ScalarType
from psyclone_storage.ir.unit import (
    Allocate,
    Assign,
    Blank,
    Call,
    Comment,
    Continue,
    Declare,
    DirectiveLine,
    Do,
    If,
    Imported,
    InputOutput,
    Label,
    Line,
    Opaque,
    PointerAssign,
    Return,
    Use,
)
from psyclone_storage.languages.fortran.parse.body import read_code
from psyclone_storage.languages.fortran.parse.metadata import kernel_types, read_kernel
from psyclone_storage.languages.fortran.parse.spec_statements import read_declarations
from psyclone_storage.languages.fortran.parse.statements import scan
from psyclone_storage.languages.fortran.print.kernel import emit_code
from psyclone_storage.languages.fortran.print.printer import emit_lines

ROOT = Path(__file__).parents[5]


def code_of(body: str, specification: str = "", head: str = "subroutine work(a, n)") -> Routine:
    text = (
        f"module work_mod\ncontains\n{head}\n{specification}\n{body}\nend subroutine\nend module\n"
    )
    return read_code(SourceText("work_mod.f90", text), "work")


def lines_of(body: str) -> list[Line]:
    return [line for line in code_of(body).body if not isinstance(line, Blank)]


def line_of(body: str) -> Line:
    (line,) = lines_of(body)
    return line


def printed_again(code: Routine) -> Routine:
    place = code.module.routine
    source = place.source.text
    text = source[: place.start] + "\n".join(emit_code(code)).lstrip() + source[place.stop :]
    return read_code(SourceText("again.f90", text), code.name)


class TestStatements:
    def test_an_assignment(self):
        line = line_of("a(i, 1:n) = b%c(i)%d + 2.0_r_def * (x - 1)")
        assert isinstance(line, Assign)
        assert spell(line.target) == "a(i, 1:n)"
        assert spell(line.value) == "b%c(i)%d + 2.0_r_def * (x - 1)"

    def test_a_string_with_an_equals_sign_does_not_make_an_assignment(self):
        assert isinstance(line_of("write(*, *) 'a = b'"), InputOutput)

    def test_a_pointer_assignment(self):
        assert isinstance(line_of("p(1:) => a"), PointerAssign)

    @pytest.mark.parametrize("text", ["call f(a, n=3)", "call x%f()", "call f"])
    def test_a_call(self, text):
        assert isinstance(line_of(text), Call)

    def test_a_copy_of_an_argument_stays_a_copy(self):
        line = line_of("call f((a), n, key=(b(1)))")
        assert isinstance(line, Call)
        kinds = [type(part.value if isinstance(part, Keyword) else part) for part in line.args]
        assert kinds == [Parenthesised, Name, Parenthesised]
        assert spell(Index(line.procedure, line.args)) == "f((a), n, key=(b(1)))"

    def test_brackets_around_an_operation_may_go(self):
        line = line_of("a(1) = max((b + c), 1.0)")
        assert isinstance(line, Assign)
        assert spell(line.value) == "max(b + c, 1.0)"

    def test_memory(self):
        line = line_of("allocate(x(n), y(0:n, 2), stat=err)")
        assert isinstance(line, Allocate)
        assert [spell(item) for item in line.arrays] == ["x(n)", "y(0:n, 2)", "stat=err"]

    def test_an_allocation_with_a_type(self):
        line = line_of("allocate(real :: x(n))")
        assert line == Allocate((Index(Name("x"), (Name("n"),)),), "real")

    @pytest.mark.parametrize("text", ["a = [character(3) :: 'x']", "a = b .plus. c"])
    def test_what_no_expression_can_say_is_kept_as_written(self, text):
        line = line_of(text)
        assert isinstance(line, Opaque)
        assert line.text == text

    @pytest.mark.parametrize(
        "text",
        ["[real(wp) :: n, 2]", "[logical ::]", "[integer(4) :: (i, i = 1, n)]", "iand(n, b'0101')"],
    )
    def test_constructors_with_types_and_bits_are_understood(self, text):
        line = line_of(f"a = {text}")
        assert isinstance(line, Assign)
        assert spell(line.value) == text.replace("::]", ":: ]")

    def test_complex_constants_substrings_and_implied_loops_are_understood(self):
        for value in ("(1.0, -2.0)", "[(i, i * i, i = 1, n, 2)]", "s(1)(2:3)"):
            line = line_of(f"a = {value}")
            assert isinstance(line, Assign)
            assert spell(line.value) == value

    def test_names_of_an_opaque_statement_leave_strings_and_operators_out(self):
        line = line_of("entry 'text', X.and.y, 1.0_r_def, 1.e5")
        assert isinstance(line, Opaque)
        assert line.names == {"entry", "x", "y", "r_def"}

    def test_a_labelled_statement_keeps_its_label(self):
        assert lines_of("10 continue") == [Label("10"), Continue()]


class TestConstructs:
    def test_a_loop_with_a_step(self):
        loop = line_of("do k = n, 1, -2\n a(k) = 0.0\nenddo")
        assert isinstance(loop, Do)
        assert (loop.variable.text, spell(loop.start), spell(loop.stop)) == ("k", "n", "1")
        assert loop.step is not None
        assert spell(loop.step) == "-2"
        assert [type(line) for line in loop.body] == [Assign]

    def test_a_choice(self):
        choice = line_of(
            "if (n > 1) then\n a = 1\nelseif (n == 1) then\n a = 2\nelse\n a = 3\nendif"
        )
        assert isinstance(choice, If)
        assert [spell(branch.condition) for branch in choice.branches] == ["n > 1", "n == 1"]
        assert len(choice.otherwise) == 1

    def test_an_if_without_then(self):
        choice = line_of("if (n > 1) return")
        assert isinstance(choice, If)
        assert choice.branches[0].body == (Return(),)

    @pytest.mark.parametrize(
        "text",
        [
            "associate (b => a(1))\n  b = 1\nend associate",
            "block\n  real :: b\n  b = 1\nend block",
            "select type (a)\ntype is (real)\n  x = 1\nend select",
        ],
    )
    def test_constructs_that_give_names_a_meaning_are_kept_whole_in_a_kernel(self, text):
        line = line_of(text)
        assert isinstance(line, Opaque)
        assert line.text == text

    def test_what_the_preprocessor_chooses_is_kept_whole(self):
        text = "#ifdef X\n  a = 1\n#else\n  a = 2\n#endif"
        first, chosen, last = lines_of(f"b = 1\n{text}\nb = 2")
        assert isinstance(first, Assign)
        assert chosen == Opaque(text, frozenset({"a"}))
        assert isinstance(last, Assign)

    def test_nothing_is_understood_where_the_preprocessor_cuts_a_loop(self):
        body = "#ifdef X\ndo i = 1, n\n#else\ndo i = 1, 2\n#endif\na(i) = 1\nend do"
        assert isinstance(line_of(body), Opaque)

    def test_a_line_of_the_preprocessor_is_printed_in_the_first_column(self):
        code = code_of("if (n > 1) then\n#ifdef X\n  a = 1\n#endif\nend if")
        assert "#ifdef X" in emit_code(code)


class TestBetween:
    def test_comments_and_directives_stay(self):
        lines = lines_of("!> why\n!$omp parallel do &\n!$omp private(x)\ndo i = 1, n\nend do")
        assert lines[:2] == [
            Comment("> why", as_written=True),
            DirectiveLine("omp parallel do private(x)"),
        ]

    def test_a_comment_behind_a_statement_comes_before_it(self):
        lines = lines_of("a = 1 ! one\nb = 2")
        assert [type(line) for line in lines] == [Comment, Assign, Assign]

    def test_a_comment_inside_a_statement_comes_before_it(self):
        lines = lines_of("a = 1 + & ! one\n  ! two\n  2")
        assert lines[:2] == [Comment(" one", as_written=True), Comment(" two", as_written=True)]
        assert isinstance(lines[2], Assign)

    def test_a_statement_behind_a_sentinel_is_not_a_comment(self):
        assert line_of("!$ n = omp_get_num_threads()") == Opaque(
            "!$ n = omp_get_num_threads()", frozenset({"n", "omp_get_num_threads"})
        )


class TestSpecification:
    def test_declarations(self):
        code = code_of("", "real(kind=r_def), dimension(n), intent( in out ) :: a\ninteger n, m(2)")
        assert code.declared("A") == Declare(
            "a", ScalarType(Intrinsic.REAL, "r_def"), ("intent(inout)",), (Name("n"),)
        )
        assert code.declared("m") is not None

    def test_imports(self):
        code = code_of("", "use, intrinsic :: iso_c_binding, only: c => c_int\nuse x_mod")
        assert code.uses == (
            Use("iso_c_binding", (Imported("c", "c_int"),), intrinsic=True),
            Use("x_mod", (), whole=True),
        )

    @pytest.mark.parametrize(
        "text",
        [
            "character(len=n) :: word",
            "real, pointer :: p(:) => null()",
            "interface\n  subroutine f()\n  end subroutine\nend interface",
            "type :: local_type\n  integer :: i\nend type local_type",
            "external f",
        ],
    )
    def test_what_a_declaration_cannot_hold_is_kept_as_written(self, text):
        code = code_of("a = 1", text)
        kept = [item for item in code.declarations if isinstance(item, Opaque)]
        assert [item.text for item in kept] == [text]

    def test_a_directive_about_the_routine_is_no_statement(self):
        code = code_of("a = 1", "real :: a\n!$acc routine seq")
        assert code.directives == (
            DirectiveLine("acc routine seq", AccRoutineDirective(DeviceLevel.SEQ)),
        )

    def test_comments_before_the_first_statement_belong_to_it(self):
        code = code_of("! first\na = 1", "real :: a")
        assert not any(isinstance(item, Comment) for item in code.declarations)
        assert any(isinstance(item, Comment) for item in code.body)

    def test_the_head(self):
        code = code_of("", head="pure recursive subroutine work(a) bind(c)")
        assert (code.prefix, code.suffix, code.dummies) == ("pure recursive", "bind(c)", ("a",))

    def test_internal_procedures(self):
        inner = "subroutine f()\n  n = 1\nend subroutine f"
        code = code_of(f"call f()\ncontains\n{inner}")
        assert code.internal is not None
        assert code.internal.text == inner

    def test_statement_functions(self):
        code = code_of("! Twice.\nf(x) = 2 * x\ny(1) = f(1.0)\nf(x) = 3", "real :: f, x, y(3)")
        assert [item.text for item in code.declarations if isinstance(item, Opaque)] == [
            "f(x) = 2 * x"
        ]
        assert [type(line) for line in code.body] == [Assign, Assign]

    def test_elements_of_an_array_that_gets_its_shape_later_are_no_statement_functions(self):
        code = code_of("y(1) = 1.0", "real :: y\ndimension :: y(3)")
        assert [type(line) for line in code.body] == [Assign]


class TestModule:
    TEXT = """module work_mod
  use kinds_mod, only: r_def
  implicit none
  private
  real, parameter :: half = 0.5
  type :: work_type
  contains
    procedure, nopass :: code => work
  end type
  interface apply
    module procedure work
  end interface
contains
  subroutine work()
  end subroutine work
  function helper() result(x)
    real :: x
    x = half
  end function helper
end module work_mod
"""

    def test_what_the_module_offers(self):
        module = read_code(SourceText("work_mod.f90", self.TEXT), "work").module
        assert module.name == "work_mod"
        assert module.uses == (Use("kinds_mod", (Imported("r_def", "r_def"),)),)
        declared = [item.name for item in module.declarations if isinstance(item, Declare)]
        assert declared == ["half"]
        assert [procedure.name for procedure in module.procedures] == ["work", "helper"]
        assert module.generics == {"apply"}
        assert module.routine.text.startswith("subroutine work()")
        assert module.routine.text.endswith("end subroutine work")

    def test_a_subroutine_that_is_not_there(self):
        with pytest.raises(CompileError, match="P048"):
            read_code(SourceText("work_mod.f90", self.TEXT), "wrok")


KERNELS = sorted(
    {*ROOT.glob("examples/**/*.f90"), *ROOT.glob("tests/corpus/*/kernels/*_mod.f90")},
    key=lambda path: path.as_posix(),
)


def codes_in(path: Path) -> list[Routine]:
    source = SourceText(path.name, path.read_text(encoding="utf-8"))
    kernels = (read_kernel(source, name) for name in kernel_types(source))
    return [read_code(source, name) for kernel in kernels for name in kernel.implementations]


def test_what_is_printed_is_what_was_read():
    codes = [code for path in KERNELS for code in codes_in(path)]
    assert len(codes) > 50
    for code in codes:
        assert replace(printed_again(code), module=code.module) == code


BRACKETS = """\
a(1) = (a(1) + a(2)) + a(3)
a(2) = (a(1) * a(2)) + ((a(3) - 1.0) - a(4))
a(3) = a(1) + (a(2) + a(3)) - (a(1) / a(2))
do i = (n + 1) - 1, n
  a((i + 1) - 1) = 2.0 ** (1.0 + a(i))
end do
if ((a(1) + a(2)) + a(3) > 0.0) then
  call other((a(1) + a(2)) - 1.0, n)
end if
"""


def test_brackets_that_tell_the_order_of_a_computation_are_kept() -> None:
    code = code_of(BRACKETS, "integer :: n, i\nreal :: a(n)")
    text = "\n".join(line.strip() for line in emit_lines(code.body, 0))
    assert text.strip() == "\n".join(line.strip() for line in BRACKETS.splitlines())


def test_a_length_of_the_entity_itself_counts() -> None:
    statement = next(scan(SourceText("a.f90", "character(len=3) :: a*8, b")))
    found = [(item.name, item.attributes) for item in read_declarations(statement)]
    assert found == [("a", ("len=8",)), ("b", ("len=3",))]


def test_a_file_is_read_once_for_all_of_its_kernels() -> None:
    text = "module two_mod\ncontains\n" + "".join(
        f"subroutine {name}(a)\n  real :: a\n  a = 1.0\nend subroutine {name}\n" for name in "pq"
    )
    source = SourceText("two_mod.f90", text + "end module two_mod\n")
    first, second = (read_code(source, name).module for name in "pq")
    assert first.procedures is second.procedures
    places = (source.text[module.routine.start : module.routine.stop] for module in (first, second))
    assert [place.split("(")[0] for place in places] == ["subroutine p", "subroutine q"]
    assert first.symbols is not second.symbols
    again = SourceText(source.name, text.replace("a = 1.0", "a = 2.0") + "end module two_mod\n")
    assert "2.0" in "\n".join(emit_lines(read_code(again, "p").body, 0))
