"""A file with changes: each changes its own statement in the text, and nothing else."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from psyclone_storage.backend.fortran.edited import emit_changed
from psyclone_storage.base.source import SourceText
from psyclone_storage.frontend.fortran.program_units import read_file
from psyclone_storage.ir.expr import Name
from psyclone_storage.ir.program_units import (
    DeclarationStatement,
    ProgramUnit,
    SourceFile,
    UnitKind,
)
from psyclone_storage.ir.rewrite import everywhere, rewritten, substituted
from psyclone_storage.ir.types import Intrinsic, ScalarType
from psyclone_storage.ir.unit import (
    Assign,
    Blank,
    Call,
    Comment,
    Declare,
    DirectiveLine,
    Do,
    If,
    Label,
    Line,
    Return,
)

NEW = Call(Name("new"))

Change = Callable[[Line], tuple[Line, ...]]


def read(text: str) -> SourceFile:
    return read_file(SourceText("x.f90", text))


def edited(body: str, change: Change) -> str:
    """Return `body` as it is with each statement as `change` makes it."""
    before = read(f"subroutine s\n{body}end subroutine\n")
    after = before.changed(lambda unit: replace(unit, body=rewritten(unit.body, change)))
    text = emit_changed(before, after)
    assert read(text) == after or any(isinstance(x, Comment | Label) for x in _lines(after))
    return text.removeprefix("subroutine s\n").removesuffix("end subroutine\n")


def _lines(file: SourceFile) -> list[Line]:
    found: list[Line] = []
    for unit in file.every_unit():
        rewritten(unit.body, lambda line: (found.append(line), (line,))[1])
    return found


def to(*new: Line, target: str = "b") -> Change:
    """Return the change of the assignment to `target` to other statements."""

    def change(line: Line) -> tuple[Line, ...]:
        return new if isinstance(line, Assign) and line.target == Name(target) else (line,)

    return change


@pytest.mark.parametrize(
    ("body", "new", "after"),
    [
        ("  a=1\n  b =  2 ! why\n  c=3\n", (NEW,), "  a=1\n  call new() ! why\n  c=3\n"),
        ("  a=1; b=2; c=3\n", (NEW,), "  a=1; call new(); c=3\n"),
        ("  a=1\n  b=2\n  c=3\n", (), "  a=1\n  c=3\n"),
        ("  a=1; b=2; c=3\n", (), "  a=1; c=3\n"),
        ("  b=2; c=3\n", (), "  c=3\n"),
        ("  if (x) b=2 ! c\n", (NEW,), "  if (x) call new() ! c\n"),
        ("10 b=2\n", (NEW,), "10 call new()\n"),
        ("10 b=2\n", (), "10 continue\n"),
        ("  b = 1 + & ! c\n   2\n  c=3\n", (NEW,), "  call new()\n  c=3\n"),
        ("  b=2\r\n  c=3\r\n", (NEW,), "  call new()\r\n  c=3\r\n"),
        (
            "  DO i=1,n\n    b=2\n  ENDDO\n",
            (NEW, Return()),
            "  DO i=1,n\n    call new()\n    return\n  ENDDO\n",
        ),
        ("  b=2; c=3\n", (Comment("x"), NEW), "  ! x\n  call new(); c=3\n"),
        ("  b=2\r\n  c=3\r\n", (NEW, NEW), "  call new()\r\n  call new()\r\n  c=3\r\n"),
        ("  a=1; b=2\n", (DirectiveLine("omp barrier"),), "  a=1; \n  !$omp barrier\n"),
    ],
)
def test_a_statement_is_exchanged_in_its_place(
    body: str, new: tuple[Line, ...], after: str
) -> None:
    assert edited(body, to(*new)) == after


def test_statements_are_added_in_front_and_behind() -> None:
    def change(line: Line) -> tuple[Line, ...]:
        return (NEW, line, Return()) if isinstance(line, Assign) else (line,)

    assert edited("  b=2  ! c\n", change) == "  call new()\n  b=2  ! c\n  return\n"
    assert edited("  b=2\n\n", change) == "  call new()\n  b=2\n  return\n\n"


def test_a_head_is_exchanged_alone() -> None:
    def change(line: Line) -> tuple[Line, ...]:
        if isinstance(line, Do):
            return (replace(line, stop=Name("m")),)
        if isinstance(line, If):
            first, *rest = line.branches
            return (replace(line, branches=(first, replace(rest[0], condition=Name("m")))),)
        return (line,)

    body = "  do i=1,n ! c\n    a  =  1\n  enddo\n"
    assert edited(body, change) == "  do i = 1, m ! c\n    a  =  1\n  enddo\n"
    body = "  if(x)then\n   a  = 1\n  elseif(y)then\n  b =   2\n  endif\n"
    assert (
        edited(body, change) == "  if(x)then\n   a  = 1\n  else if (m) then\n  b =   2\n  endif\n"
    )


def test_names_are_exchanged_in_the_statements_that_have_them() -> None:
    before = read("program p\n  a =1\n  b =a\n  c =2\nend\n")
    after = before.changed(
        lambda unit: replace(
            unit, body=everywhere(unit.body, lambda e: substituted(e, {"a": Name("z")}))
        )
    )
    assert emit_changed(before, after) == "program p\n  z = 1\n  b = z\n  c =2\nend\n"


def test_a_declaration_is_exchanged_and_one_is_added() -> None:
    integer = ScalarType(Intrinsic.INTEGER)
    added = DeclarationStatement((Declare("k", integer),))

    def change(unit: ProgramUnit) -> ProgramUnit:
        first = unit.specification[0]
        assert isinstance(first, DeclarationStatement)
        new = replace(first, declares=(*first.declares, Declare("j", integer)))
        return replace(unit, specification=(new, *unit.specification[1:], added))

    before = read("program p\n  integer i ! c\n  real  x\n  x =1\nend\n")
    assert emit_changed(before, before.changed(change)) == (
        "program p\n  integer :: i, j ! c\n  real  x\n  integer :: k\n  x =1\nend\n"
    )


def test_statements_are_put_into_an_empty_unit() -> None:
    before = read("program p\nend\n")
    after = before.changed(lambda unit: replace(unit, body=(NEW,)))
    assert emit_changed(before, after) == "program p\n  call new()\nend\n"


def test_a_procedure_is_added_and_another_goes() -> None:
    first, second = ("  subroutine a\n  end subroutine\n", "  subroutine b\n  end subroutine\n")
    before = read(f"module m\ncontains\n{first}\n{second}end\n")

    def change(unit: ProgramUnit) -> ProgramUnit:
        kept = [item for item in unit.contained if getattr(item, "name", "") != "a"]
        if unit.name != "m":
            return unit
        inner = ProgramUnit(UnitKind.SUBROUTINE, "c", "subroutine c", body=(NEW,))
        return replace(unit, contained=(*kept, inner))

    assert emit_changed(before, before.changed(change)) == (
        "module m\ncontains\n\n  subroutine b\n  end subroutine\n  subroutine c\n    call new()\n"
        "  end subroutine c\nend\n"
    )


@pytest.mark.parametrize("text", ["", "\n", "! c", "program p\r\nend", "x = 1\nend\n\n\n", "\tend"])
def test_what_is_not_changed_is_the_same_text(text: str) -> None:
    file = read(text)
    assert emit_changed(file, file) == text
    assert emit_changed(file, file.changed(replace)) == text


def test_an_empty_line_is_added() -> None:
    assert edited("  b=2\n", to(Blank(), NEW)) == "\n  call new()\n"
