"""The Fortran of statements of whole programs: jumps, choices, files, masks, labels."""

from __future__ import annotations

import pytest

from psyclone_storage.ir.expr import (
    Binary,
    ImpliedDo,
    Index,
    Keyword,
    Literal,
    Name,
    Range,
    Star,
)
from psyclone_storage.ir.operators import Operator
from psyclone_storage.ir.rewrite import everywhere, names_of_line, substituted, unnamed, walk_lines
from psyclone_storage.ir.types import Intrinsic
from psyclone_storage.ir.unit import (
    Allocate,
    Assign,
    Associate,
    Branch,
    Case,
    Comment,
    Conditional,
    ConditionalBranch,
    Continue,
    Control,
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
    Return,
    ScopedBlock,
    Select,
    Stop,
    Where,
    While,
)
from psyclone_storage.languages.fortran.print.printer import emit_lines

ONE, TWO = (Literal(text, Intrinsic.INTEGER) for text in "12")
A, B, AT, N = map(Name, "abin")
SET = Assign(A, B)
SOME = Binary(Operator.GREATER, A, B)

PRINTED: list[tuple[tuple[Line, ...], str]] = [
    ((Return(),), "return"),
    ((Return(ONE),), "return 1"),
    ((Exit(), Cycle("rows")), "exit\ncycle rows"),
    ((Stop(), Stop(ONE, error=True), Stop(ONE, quiet=A)), "stop\nerror stop 1\nstop 1, quiet=a"),
    ((Goto(("10",)), Goto(("10", "20"), AT)), "go to 10\ngo to (10, 20), i"),
    ((Label("10"), SET), "10 a = b"),
    ((Label("10"), Label("20"), Continue()), "10 continue\n20 continue"),
    ((Label("10"),), "10 continue"),
    ((Label("10"), Comment("why")), "10 continue\n! why"),
    ((Nullify((A, B)),), "nullify(a, b)"),
    ((Allocate((Index(A, (N,)),), "real(wp)"),), "allocate(real(wp) :: a(n))"),
    ((Include("'x.inc'"),), "include 'x.inc'"),
    ((Format("10", "(i3, a)"),), "10 format(i3, a)"),
    ((While(SOME, (SET,)),), "do while (a > b)\n  a = b\nend do"),
    ((While(None, (Exit("outer"),), name="outer"),), "outer: do\n  exit outer\nend do outer"),
    ((Do(Name("i"), ONE, N, (SET,), name="rows"),), "rows: do i = 1, n\n  a = b\nend do rows"),
    (
        (DoConcurrent((Control(Name("i"), ONE, N, TWO),), (SET,), SOME, "integer", "local(a)"),),
        "do concurrent (integer :: i = 1:n:2, a > b) local(a)\n  a = b\nend do",
    ),
    (
        (Forall((Control(Name("i"), ONE, N),), (SET,)),),
        "forall (i = 1:n)\n  a = b\nend forall",
    ),
    (
        (Where((Branch(SOME, (SET,)), Branch(B, ())), (SET,)),),
        "where (a > b)\n  a = b\nelsewhere (b)\nelsewhere\n  a = b\nend where",
    ),
    (
        (Select(AT, (Case((ONE, Range(TWO, N)), (SET,)), Case((), ())), name="pick"),),
        "pick: select case (i)\ncase (1, 2:n)\n  a = b\ncase default\nend select pick",
    ),
    (
        (
            Select(
                A,
                (Case((Name("t"),), (SET,), "class is"), Case((), (SET,), "class")),
                "type",
                Name("x"),
            ),
        ),
        "select type (x => a)\nclass is (t)\n  a = b\nclass default\n  a = b\nend select",
    ),
    (
        (Associate(((Name("x"), Index(A, (AT,))), (Name("y"), B)), (SET,)),),
        "associate (x => a(i), y => b)\n  a = b\nend associate",
    ),
    ((Critical((SET,)),), "critical\n  a = b\nend critical"),
    ((ScopedBlock((), (), (SET,), name="own"),), "own: block\n  a = b\nend block own"),
    (
        (InputOutput("write", (Star(), Keyword("fmt", Star())), (A, B)),),
        "write(*, fmt=*) a, b",
    ),
    ((InputOutput("print", (Star(),), (A,)),), "print *, a"),
    ((InputOutput("close", (N,)),), "close(n)"),
    (
        (InputOutput("read", (N, Star()), (ImpliedDo((Index(A, (AT,)),), Name("i"), ONE, N),)),),
        "read(n, *) (a(i), i = 1, n)",
    ),
    (
        (Conditional((ConditionalBranch("#ifdef X", (SET,)), ConditionalBranch("#else", ()))),),
        "#ifdef X\na = b\n#else\n#endif",
    ),
    ((If((Branch(SOME, (Return(),)),), name="q"),), "q: if (a > b) then\n  return\nend if q"),
]


@pytest.mark.parametrize(("lines", "text"), PRINTED)
def test_a_statement_has_its_text(lines: tuple[Line, ...], text: str) -> None:
    assert "\n".join(emit_lines(lines, 0)) == text


@pytest.mark.parametrize("lines", [lines for lines, _ in PRINTED])
def test_names_are_exchanged_in_all_statements(lines: tuple[Line, ...]) -> None:
    changed = everywhere(lines, lambda expr: substituted(expr, {"a": Name("other")}))
    before = "\n".join(emit_lines(lines, 0))
    words = before.replace("(a", "(other").replace(" a ", " other ").replace("\na ", "\nother ")
    after = "\n".join(emit_lines(changed, 0))
    assert ("other" in after) == any("a" in names_of_line(line) for line in walk_lines(lines))
    assert len(after.split("\n")) == len(words.split("\n"))


def test_a_label_stands_in_front_of_what_follows_it() -> None:
    assert list(emit_lines((Label("7"), SET), 4)) == ["7   a = b"]


def test_a_copy_of_a_construct_has_no_name() -> None:
    loop = While(None, (), name="outer")
    assert unnamed(loop) == While(None, ())
    assert unnamed(SET) is SET
