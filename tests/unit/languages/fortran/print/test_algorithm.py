"""The rewritten algorithm: what is replaced, what is added, and that nothing else changes."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from psyclone_storage.base.source import SourceText
from psyclone_storage.ir.schedule import Datum, Invoke, Program, Schedule
from psyclone_storage.ir.types import Intrinsic, ScalarType
from psyclone_storage.languages.fortran.parse.algorithm import read_algorithm
from psyclone_storage.languages.fortran.parse.statements import scan
from psyclone_storage.languages.fortran.print.algorithm import emit_algorithm

MODULE = "a_psy"


def program_of(text: str, module: str = MODULE) -> Program:
    """Return a program in which each invoke passes all its arguments on, in their order."""
    algorithm = read_algorithm(SourceText("alg.x90", text))
    invokes = []
    for number, parsed in enumerate(algorithm.invokes):
        exprs = [arg.expr for call in parsed.calls for arg in call.args]
        data = tuple(
            Datum(f"d{place}", expr, ScalarType(Intrinsic.REAL)) for place, expr in enumerate(exprs)
        )
        name = f"invoke_{parsed.label or number}"
        invokes.append(Invoke(Schedule(name, data, (), True, True), parsed))
    return Program(module, algorithm, tuple(invokes))


def emitted(text: str) -> str:
    return emit_algorithm(program_of(text))


def in_program(statement: str) -> str:
    return f"program a\n  use f_mod\n{statement}\nend program a\n"


def rewritten(statement: str) -> str:
    """Return what becomes of one statement of a program."""
    before, after = "program a\n  use f_mod\n  use a_psy, only: invoke_0\n", "\nend program a\n"
    text = emitted(in_program(statement))
    assert text.startswith(before)
    assert text.endswith(after)
    return text[len(before) : -len(after)]


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("  call invoke(k(f, g))", "  call invoke_0(f, g)"),
        ("  call invoke(k())", "  call invoke_0()"),
        ("\tCALL INVOKE ( k(self%f,s(i)%g) ) ! why", "\tcall invoke_0(self%f, s(i)%g) ! why"),
        ("10 call invoke(k(f))", "10 call invoke_0(f)"),
        ("if (f(')')) call invoke(k(f))", "if (f(')')) call invoke_0(f)"),
        ("x = 1; call invoke(k(f)); y = 2", "x = 1; call invoke_0(f); y = 2"),
        ("  call invoke( & ! first\n   k(f), & ! second\n\n   j(g) ) ! last",
         "  call invoke_0(f, g) ! last"),
        ("if (x) &\n   & call invoke(k(f))", "if (x) &\n   & call invoke_0(f)"),
        ("call invoke(k(f, a+b*c, [1,2]))", "call invoke_0(f, a + b * c, [1, 2])"),
    ],
)  # fmt: skip
def test_call_replaces_invoke(statement: str, expected: str) -> None:
    assert rewritten(statement) == expected


def test_named_invokes_and_two_units() -> None:
    text = """! before
module m
  use b_mod, only: &
    c ! comment

  implicit none
contains
  subroutine s
    call invoke(k(f), name='one')
    call invoke(k(g))
  end subroutine s
end module m
subroutine t()
    call invoke(k(f))
end subroutine t"""
    assert (
        emitted(text)
        == """! before
module m
  use b_mod, only: &
    c ! comment
  use a_psy, only: invoke_one, invoke_1

  implicit none
contains
  subroutine s
    call invoke_one(f)
    call invoke_1(g)
  end subroutine s
end module m
subroutine t()
    use a_psy, only: invoke_2
    call invoke_2(f)
end subroutine t"""
    )


@pytest.mark.parametrize(
    ("use", "added"),
    [
        ("use A_PSY, only: Invoke_0", None),
        ("use a_psy", None),
        ("use a_psy, only: other", "use a_psy, only: invoke_0"),
    ],
)
def test_routine_that_is_imported_already(use: str, added: str | None) -> None:
    text = f"program a\n  {use}\n  call invoke(k(f))\nend program a\n"
    lines = emitted(text).splitlines()
    assert lines[:2] == ["program a", f"  {use}"]
    assert lines[2:-2] == ([f"  {added}"] if added else [])


def test_use_behind_others_on_one_line() -> None:
    text = "program a; use b; call invoke(k(f)); end program a\n"
    assert emitted(text) == (
        "program a; use b; use a_psy, only: invoke_0; call invoke_0(f); end program a\n"
    )


def test_use_stands_outside_of_conditionals() -> None:
    text = (
        "module m\n  use a\n#ifdef X\n  use b\n#endif\ncontains\nsubroutine s\ncall invoke(k(f))\n"
    )
    text += "end subroutine\nend module\n"
    assert "  use a\n  use a_psy, only: invoke_0\n#ifdef X\n" in emitted(text)


def test_text_without_invokes_is_untouched() -> None:
    text = "module m ! \xe9\r\nend module m"
    assert emitted(text) == text


# ---------------------------------------------------------------------------- long lines


def bare(text: str) -> list[str]:
    """Return the statements of a text without any blanks."""
    return ["".join(each.text.split()) for each in scan(SourceText("a.f90", text))]


@pytest.mark.parametrize("indent", [0, 10, 40, 90, 125])
@pytest.mark.parametrize("length", [1, 30, 63])
@pytest.mark.parametrize("number", [1, 3, 40])
@pytest.mark.parametrize("behind", ["", "; call other(" + "x" * 60 + ")", " ! " + "c" * 150])
def test_no_line_is_too_long(indent: int, length: int, number: int, behind: str) -> None:
    names = ",".join(f"f{'_' * (length - 1)}{place}" for place in range(number))
    start = "if (" + "y" * max(1, indent - 6) + ") "
    statement = f"{start}call invoke( &\nk({names}) &\n){behind}"
    text = emitted(in_program(statement))
    for line in text.splitlines():
        assert len(line.partition("!")[0]) <= 132
    expected = bare(
        f"{start} & \n call invoke_0( &\n {names.replace(',', ', &' + chr(10))}){behind}"
    )
    assert bare(text)[3 : 3 + len(expected)] == expected


def test_word_longer_than_a_line_is_continued() -> None:
    long = "'" + "it''s & " * 40 + "'"
    half = len(long) // 2
    text = emitted(in_program(f"call invoke(k({long[:half]}&\n&{long[half:]}))"))
    assert all(len(line) <= 132 for line in text.splitlines())
    calls = [each.text for each in scan(SourceText("a.f90", text)) if "call" in each.text]
    assert [re.sub(r"\(\s+", "(", call) for call in calls] == [f"call invoke_0({long})"]


def test_many_routines_are_imported_over_several_lines() -> None:
    calls = "\n".join(f"call invoke(k(f), name='{'n' * 40}{number}')" for number in range(9))
    text = emitted(in_program(calls))
    assert all(len(line) <= 100 for line in text.splitlines())
    use = next(each for each in bare(text) if each.startswith("usea_psy"))
    assert use.count(f"invoke_{'n' * 40}") == 9


# ---------------------------------------------------------------------------- property

_JOIN = st.sampled_from(["", " ", " &\n  ", "&\n\n ! between\n    & ", " & ! c'\n", "\t"])
_BEHIND = st.sampled_from(["", " ! it's behind", "; x = 1", " "])
_BEFORE = st.sampled_from(["", "  ", "\t", "10 ", "if (l) ", "x = ';'; ", "if (l) &\n  "])
_FILLER = st.sampled_from(
    ["x = 1", "! call invoke(k(a))", "", "\tx = 'it''s &\n  & so'", "#ifdef X", "#endif", "!$omp x",
     "print *, \"call invoke(k(f))\"", "  x = & ! c\n\n   2;; y = 3  "]
)  # fmt: skip


@st.composite
def _invokes(draw: st.DrawFn) -> str:
    words = ["call invoke(", "k(", "f", ",", "s%g(1)", ")", ",", "j(", "h", ")", ")"]
    return draw(_BEFORE) + draw(_JOIN).join(words) + draw(_BEHIND)


@settings(max_examples=150)
@given(
    lines=st.lists(st.one_of(_invokes(), _FILLER), max_size=8),
    uses=st.lists(
        st.sampled_from(["  use b_mod", "", " ! c", "#ifdef X\nuse c\n#endif"]), max_size=3
    ),
    newline=st.sampled_from(["\n", "\r\n"]),
    last=st.sampled_from(["", "\n", "\n! the end"]),
)
def test_every_other_character_is_kept(
    lines: list[str], uses: list[str], newline: str, last: str
) -> None:
    """The text is the original once calls are taken for invokes and the new `use` is left out."""
    text = "\n".join(["program a ! c", *uses, *lines, "end program a"]) + last
    text = text.replace("\n", newline)
    program = program_of(text)
    result = emit_algorithm(program)
    if program.invokes:
        result, count = re.subn(
            r"[ \t]*use a_psy, only: (?:[^\r\n]*&\r?\n)*[^\r\n]*\r?\n", "", result
        )
        assert count == 1
    pattern, done = "", 0
    for number, invoke in enumerate(program.invokes):
        span = invoke.parsed.span
        pattern += re.escape(text[done : span.start])
        pattern += rf"(?:&\r?\n *)?call invoke_{number}\(f,\s*(?:&\s*)?s%g\(1\),\s*(?:&\s*)?h\)"
        done = span.stop
    assert re.fullmatch(pattern + re.escape(text[done:]), result)
