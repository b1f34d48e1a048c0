"""Statements of whole programs: each kind is understood, knows its place, and is printed back."""

from __future__ import annotations

import pytest

from psyclone_storage.base.source import SourceText
from psyclone_storage.ir.rewrite import place_of_line, walk_lines
from psyclone_storage.ir.unit import (
    Assign,
    Associate,
    Call,
    Comment,
    Conditional,
    Critical,
    Cycle,
    Do,
    DoConcurrent,
    Exit,
    Forall,
    Format,
    Goto,
    If,
    Include,
    InputOutput,
    Label,
    Line,
    Nullify,
    Opaque,
    Return,
    ScopedBlock,
    Select,
    Stop,
    Where,
    While,
)
from psyclone_storage.languages.fortran.parse.constructs import read_whole_lines
from psyclone_storage.languages.fortran.parse.statements import scan
from psyclone_storage.languages.fortran.parse.trivia import elements
from psyclone_storage.languages.fortran.print.printer import emit_lines


def lines_of(text: str) -> tuple[Line, ...]:
    source = SourceText("x.f90", text)
    return read_whole_lines(tuple(elements(list(scan(source)), source.whole())))


UNDERSTOOD = [
    ("return", Return),
    ("if (x) return", If),
    ("exit outer", Exit),
    ("CYCLE", Cycle),
    ("go to 10", Goto),
    ("goto (10, 20), n", Goto),
    ("stop", Stop),
    ("error stop 'text', quiet=.true.", Stop),
    ("nullify(p, x%q)", Nullify),
    ("include 'a.inc'", Include),
    ("do while (a > 1); a = a - 1; enddo", While),
    ("do\nexit\nend do", While),
    ("outer: do i = 1, n\n  do\n    cycle outer\n  end do\nend do outer", Do),
    ("do, i = 1, 3\na = i\nend do", Do),
    ("do concurrent (integer :: i = 1:n, j = 1:m:2, i /= j) local(t)\na = 1\nend do", DoConcurrent),
    ("do 10 i = 1, n\ndo 10 j = 1, n\nif (b) goto 10\n10 a(i, j) = 0", Do),
    ("do 10, while (a > 1)\na = a - 1\n10 continue", While),
    (
        "select case (f(x))\n! why\ncase (1, 3:4, 7:)\na = 1\ncase (:0)\ncase default\nendselect",
        Select,
    ),
    ("s: SELECT CASE (c)\nCASE ('a', ':') s\na = 1\nEND SELECT s", Select),
    (
        "select type (t => s%p)\ntype is (real(wp))\na = 1\nclass is (u)\nclass default\nendselect",
        Select,
    ),
    ("select rank (x)\nrank (1)\na = 1\nrank (*)\nrank default\nendselect", Select),
    ("where (a > 0) a = b", Where),
    ("where (a > 0)\na = 1\nelse where (a < 0)\na = 2\nelsewhere\na = 3\nendwhere", Where),
    ("forall (i = 1:n, a(i) > 0) b(i) = 1", Forall),
    ("forall (i = 1:n)\nb(i) = 1\nend forall", Forall),
    ("associate (b => a(1), c => x%y)\nb = c\nend associate", Associate),
    ("own: block\nuse m, only: z\nreal :: t\nt = z\nend block own", ScopedBlock),
    ("critical\na = 1\nend critical", Critical),
    ("write (unit=6, fmt=*, iostat=i) a, (b(i), i = 1, n), 'if (x) then'", InputOutput),
    ("print '(a)', b", InputOutput),
    ("read *, a", InputOutput),
    ("read (5, nml=run)", InputOutput),
    ("open(newunit=u, file='x')", InputOutput),
    ("inquire(iolength=n) a, b", InputOutput),
    ("rewind 5", InputOutput),
    ("end file (u)", InputOutput),
    ("10 format (1x, i3, 'a;b')", Format),
    ("#ifdef X\na = 1\n#elif Y\ndo i = 1, 2\nend do\n#else\n#endif", Conditional),
    ("n: if (x) then\n exit n\nelse if (y) then n\n a = 1\nelse n\n a = 2\nend if n", If),
]  # fmt: skip


@pytest.mark.parametrize(("text", "kind"), UNDERSTOOD)
def test_a_statement_is_understood_and_is_the_same_when_read_again(text: str, kind: type) -> None:
    lines = lines_of(text)
    (line,) = lines
    assert isinstance(line, kind)
    assert not any(isinstance(inner, Opaque) for inner in walk_lines(lines))
    assert lines_of("\n".join(emit_lines(lines, 0)) + "\n") == lines


@pytest.mark.parametrize(("text", "kind"), UNDERSTOOD)
def test_a_statement_knows_its_place(text: str, kind: type) -> None:
    assert kind
    (line,) = lines_of(f"before = 1\n  {text}\nafter = 1\n")[1:-1]
    place = place_of_line(line)
    assert place is not None
    assert text.startswith(place.text.split("\n")[0]) or place.text in text
    for inner in walk_lines((line,)):
        assert place_of_line(inner) is not None


@pytest.mark.parametrize(
    "text",
    [
        "if (x) 10, 20, 30",
        "call f(x, *10)",
        "entry again(x)",
        "assign 10 to n",
        "do i = 1, 2, 3, 4\na = 1\nend do",
        "do j = 1, 2\na = 1\nend if",
    ],
)
def test_what_is_not_understood_is_kept_where_it_is(text: str) -> None:
    first, kept, *_ = lines_of(f"before = 1\n{text}\n")
    assert isinstance(first, Assign)
    assert isinstance(kept, Opaque)
    assert kept.text.startswith(text.split("\n", maxsplit=1)[0])


def test_statements_of_words_may_be_names() -> None:
    lines = lines_of(
        "return = 1\nstop(1) = 2\nend = 3\nelse = 4\nwhere(1) = 5\ndo = 6\n"
        "case(1) = 7\nif(1) = 8\nprint = 9"
    )
    assert [type(line) for line in lines] == [Assign] * 9


def test_the_end_of_a_loop_may_have_its_label() -> None:
    (loop,) = lines_of("do 10 i = 1, n\na(i) = 0\n10 end do")
    assert list(emit_lines((loop,), 2)) == [
        "  do i = 1, n", "    a(i) = 0", "  end do"
    ]  # fmt: skip


def test_a_jump_to_the_end_of_the_innermost_loop_is_a_cycle() -> None:
    (loop,) = lines_of("do 10 i = 1, n\nif (b) then\ngo to 10\nend if\na = 1\n10 continue")
    assert [type(line) for line in walk_lines((loop,))] == [Do, If, Cycle, Assign]
    assert isinstance(loop, Do)
    assert loop.label is not None
    assert loop.label.text == "10"


@pytest.mark.parametrize(
    "body",
    [
        "if (b) go to 10\n10 a(i) = 0",
        "do j = 1, n\nif (b) go to 10\nend do\n10 continue",
        "go to (20, 10), j\n20 a = 1\n10 continue",
        "if (b) 20, 10, 20\n20 a = 1\n10 continue",
        "read (5, *, err=10) a\n10 continue",
        "call s(a, *10)\n10 continue",
        "assign 10 to j\n10 continue",
        "include 'jumps.inc'\n10 continue",
        '#include "jumps.inc"\n10 continue',
    ],
)
def test_a_label_with_other_jumps_stays(body: str) -> None:
    lines = lines_of(f"do 10 i = 1, n\n{body}")
    loop = lines[0]
    assert isinstance(loop, Do)
    assert loop.label is None
    assert any(isinstance(line, Label) and line.number == "10" for line in walk_lines(lines))


def test_a_number_is_no_jump_and_zeros_in_a_label_have_no_meaning() -> None:
    outer, following = lines_of("do 10 i = 1, n\ncall s(a, 10)\n0010 a = 1\nb = 2")
    assert isinstance(outer, Do)
    assert outer.label is not None
    assert [type(line) for line in outer.body] == [Call, Assign]
    assert isinstance(following, Assign)


def test_labels_of_loops_and_of_other_statements() -> None:
    lines = lines_of("do 10 i = 1, 2\n20 a = 1\n10 continue\n10 b = 1")
    loop, label, after = lines
    assert isinstance(loop, Do)
    assert [line.number for line in loop.body if isinstance(line, Label)] == ["20"]
    assert isinstance(label, Label)
    assert isinstance(after, Assign)


def test_a_conditional_that_cuts_through_a_loop_is_opaque_with_that_loop() -> None:
    text = "a = 1\n#ifdef X\ndo i = 1, 2\n#endif\nb = 1\n#ifdef X\nend do\n#endif\nc = 1"
    first, cut, last = lines_of(text)
    assert isinstance(first, Assign)
    assert isinstance(cut, Opaque)
    assert cut.text == text[6:-6]
    assert isinstance(last, Assign)


def test_a_loop_of_which_a_conditional_has_the_end_is_opaque() -> None:
    text = "a = 1\ndo i = 1, 2\n#ifdef X\nb = 1\nend do\n#else\nend do\n#endif\nc = 1"
    assert [type(line) for line in lines_of(text)] == [Assign, Opaque, Assign]


def test_comments_stay_in_their_order_but_for_those_inside_of_a_statement() -> None:
    lines = lines_of("! one\na = 1 ! two\nb = & ! inside\n  2\n! three\n")
    texts = [line.text if isinstance(line, Comment) else "" for line in lines]
    assert texts == [" one", "", " two", "", " three"]


def test_a_statement_that_a_preprocessor_line_cuts_is_opaque() -> None:
    lines = lines_of("a = 1 + &\n#ifdef X\n 2\n#else\n 3\n#endif\nb = 1")
    assert isinstance(lines[0], Opaque)
    assert isinstance(lines[-1], Assign)
