"""A file with changes: each changes its own statement in the text, and nothing else."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from psyclone_storage.base.source import SourceText
from psyclone_storage.ir.directive import NO_OPTIONS, Directive
from psyclone_storage.ir.expr import Name
from psyclone_storage.ir.rewrite import everywhere, rewritten, substituted
from psyclone_storage.ir.routine import (
    DeclarationStatement,
    Routine,
    SourceFile,
)
from psyclone_storage.ir.types import Intrinsic, ScalarType
from psyclone_storage.ir.unit import (
    Assign,
    Blank,
    Branch,
    Call,
    Comment,
    Declare,
    DirectiveBlock,
    DirectiveLine,
    Do,
    Forall,
    If,
    Label,
    Line,
    Return,
    While,
)
from psyclone_storage.languages.fortran.parse.fixed_form import fixed_source
from psyclone_storage.languages.fortran.parse.syntax_tree import read_file
from psyclone_storage.languages.fortran.print.edit_script import emit_changed

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
        ("  a=1; b=2\n", (DirectiveLine("omp barrier"),), "  a=1\n  !$omp barrier\n"),
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


def under_a_condition(line: Line) -> tuple[Line, ...]:
    return (If((Branch(Name("y"), (line,)),)),) if isinstance(line, Do) else (line,)


@pytest.mark.parametrize(
    ("body", "after"),
    [
        (
            "  DO i=1,n ! c\n\n    b =2 ! d\n  ENDDO\n  c=3\n",
            "  if (y) then\n  DO i=1,n ! c\n\n    b =2 ! d\n  ENDDO\n  end if\n  c=3\n",
        ),
        (
            "  do i=1,n\n    b =2\n  enddo ! c\n",
            "  if (y) then\n  do i=1,n\n    b =2\n  enddo ! c\n  end if\n",
        ),
        (
            "  do i=1,n\r\n    b =2\r\n  enddo\r\n",
            "  if (y) then\r\n  do i=1,n\r\n    b =2\r\n  enddo\r\n  end if\r\n",
        ),
        (
            "  a=1; do i=1,n; b =2; enddo; c=3\n",
            "  a=1; if (y) then\n    do i=1,n; b =2; enddo\n  end if; c=3\n",
        ),
        ("  do i=1,n; enddo; ! c\n", "  if (y) then\n  do i=1,n; enddo; ! c\n  end if\n"),
    ],
)
def test_what_is_put_under_a_condition_is_as_it_was(body: str, after: str) -> None:
    assert edited(body, under_a_condition) == after


def under_directives(*counters: str) -> Change:
    """Return the change that puts directives around the loops with these counters."""

    def change(line: Line) -> tuple[Line, ...]:
        if not isinstance(line, Do) or line.variable.key not in counters:
            return (line,)
        return (DirectiveLine("omp simd"), line, DirectiveLine("omp end simd"))

    return change


@pytest.mark.parametrize(
    ("body", "after"),
    [
        (
            "  do j=1,n ; do i=1,n\n   a=1\n  enddo ; enddo ! j\n",
            (
                "  do j=1,n ;\n  !$omp simd\n  do i=1,n\n   a=1\n  enddo ;\n  !$omp end simd\n"
                "  enddo ! j\n"
            ),
        ),
        (
            "  do i=1,n; a=1; enddo; ! i\n  b=2\n",
            "  !$omp simd\n  do i=1,n; a=1; enddo; ! i\n  !$omp end simd\n  b=2\n",
        ),
        (
            "  s='a;!b'; do i=1,n; enddo ;; c=3",
            "  s='a;!b';\n  !$omp simd\n  do i=1,n; enddo ;;\n  !$omp end simd\n  c=3",
        ),
        (
            "  a=1; & ! why\n ! more\n  & do i=1,n\n  enddo &\n  ; c=3\n",
            "  a=1 ! why\n ! more\n !$omp simd\n   do i=1,n\n  enddo\n  !$omp end simd\n   c=3\n",
        ),
        (
            "  if (x) then; do i=1,n; enddo; else ; do i=1,m; enddo; endif\n",
            (
                "  if (x) then;\n  !$omp simd\n  do i=1,n; enddo;\n  !$omp end simd\n  else ;\n"
                "  !$omp simd\n  do i=1,m; enddo;\n  !$omp end simd\n  endif\n"
            ),
        ),
        (
            "  do j=1,n ! j\n  do i=1,n\n  enddo\n  enddo\n",
            "  do j=1,n ! j\n  !$omp simd\n  do i=1,n\n  enddo\n  !$omp end simd\n  enddo\n",
        ),
        ("7 do i=1,n\n  enddo\n", "7 continue\n!$omp simd\n  do i=1,n\n  enddo\n!$omp end simd\n"),
        (
            "#ifdef A\n  do i=1,n\r\n  enddo\r\n#endif\n",
            "#ifdef A\n  !$omp simd\r\n  do i=1,n\r\n  enddo\r\n  !$omp end simd\r\n#endif\n",
        ),
        (
            "  do 5 i=1,n\n  if (x) a=1\n5 continue ! i\n",
            "  !$omp simd\n  do 5 i=1,n\n  if (x) a=1\n5 continue ! i\n  !$omp end simd\n",
        ),
        # Two loops that end with one statement get an end each.
        (
            "  do 5 j=1,n\n  do 5 i=1,n\n5 a=1\n",
            "  do j = 1, n\n    !$omp simd\n  do 5 i=1,n\n5 a=1\n    !$omp end simd\n  end do\n",
        ),
    ],
)
def test_directives_have_lines_of_their_own(body: str, after: str) -> None:
    before = read(f"subroutine s\n{body}\nend subroutine\n")
    change = under_directives("i")
    changed = before.changed(lambda unit: replace(unit, body=rewritten(unit.body, change)))
    assert emit_changed(before, changed) == f"subroutine s\n{after}\nend subroutine\n"


def test_a_loop_that_ends_with_a_label_keeps_what_is_added_inside() -> None:
    def change(line: Line) -> tuple[Line, ...]:
        return (replace(line, body=(*line.body, NEW)),) if isinstance(line, Do) else (line,)

    body = "  do 5 i=1,n\n  if (x) go to 5\n  a  =1\n5 continue\n"
    after = "  do 5 i=1,n\n  if (x) go to 5\n  a  =1\n  call new()\n5 continue\n"
    assert edited(body, change) == after
    body = "  do 5 i=1,n\n  a  =1\n5 end do\n"
    after = "  do 5 i=1,n\n  a  =1\n  call new()\n5 end do\n"
    assert edited(body, change) == after
    body = "  do 5 i=1,n\n5 a  =1\n"
    after = "  do i = 1, n\n    a  =1\n    call new()\n  end do\n"
    assert edited(body, change) == after


def test_the_head_of_a_loop_that_ends_with_a_label_is_exchanged() -> None:
    def change(line: Line) -> tuple[Line, ...]:
        return (replace(line, stop=Name("m")),) if isinstance(line, Do) else (line,)

    body = "  do 5 i=1,n\n5 a  =1\n"
    assert edited(body, change) == "  do i = 1, m\n    a  =1\n  end do\n"


def test_a_forall_on_one_line_becomes_a_block_for_more_statements() -> None:
    def change(line: Line) -> tuple[Line, ...]:
        return (
            (replace(line, body=(*line.body, *line.body)),) if isinstance(line, Forall) else (line,)
        )

    body = "  forall (i=1:n) a(i)  =1\n"
    after = "  forall (i = 1:n)\n    a(i)  =1\n    a(i)  =1\n  end forall\n"
    assert edited(body, change) == after


def test_units_on_one_line_get_lines_of_their_own() -> None:
    declared = DeclarationStatement((Declare("k", ScalarType(Intrinsic.INTEGER)),))
    before = read("module m; contains; subroutine s; end subroutine; end module\n")

    def change(unit: Routine) -> Routine:
        if unit.name == "m":
            return replace(unit, specification=(declared,))
        return replace(unit, specification=(declared,), body=(NEW, DirectiveLine("omp barrier")))

    assert emit_changed(before, before.changed(change)) == (
        "module m;\n  integer :: k\n  contains; subroutine s;\n  integer :: k\n \n  call new()\n"
        "  !$omp barrier\n  end subroutine; end module\n"
    )


def test_what_is_put_under_a_directive_is_as_it_was() -> None:
    def change(line: Line) -> tuple[Line, ...]:
        if not isinstance(line, Do):
            return (line,)
        return (DirectiveBlock(Directive.OMP_PARALLEL_DO, NO_OPTIONS, (line,), ("i",)),)

    before = read("program p\n  a =1\n  do i=1,n\n    b(i)  =2\n  enddo; c=3\nend\n")
    after = before.changed(lambda unit: replace(unit, body=rewritten(unit.body, change)))
    assert emit_changed(before, after) == (
        "program p\n  a =1\n  !$omp parallel do default(shared), private(i)\n"
        "  do i=1,n\n    b(i)  =2\n  enddo\n  !$omp end parallel do\n  c=3\nend\n"
    )


def test_neighbours_stay_as_they_are_where_one_between_them_goes() -> None:
    def change(line: Line) -> tuple[Line, ...]:
        if not isinstance(line, Do):
            return (line,)
        first, _, *rest = line.body
        return (While(Name("y"), body=(first, *rest, NEW)),)

    body = "  do i=1,n\n    a  =1\n    b  =2\n    c  =3 ! c\n\n    d  =4\n  enddo\n"
    assert edited(body, change) == (
        "  do while (y)\n    a  =1\n    c  =3 ! c\n\n    d  =4\n    call new()\n  end do\n"
    )


def test_what_comes_out_of_a_construct_is_as_it_was() -> None:
    def change(line: Line) -> tuple[Line, ...]:
        return line.body if isinstance(line, Do) else (line,)

    body = "  a=1\n  do i=1,n\n    b  =2 ! b\n    c  =3\n  enddo\n"
    assert edited(body, change) == "  a=1\n    b  =2 ! b\n    c  =3\n"


def test_statements_of_two_procedures_are_not_neighbours() -> None:
    before = read("module m\ncontains\nsubroutine s\n  a  =1\n  b  =2\nend subroutine\n"
                  "subroutine t\n  c  =3\n  d  =4\nend subroutine\nend\n")  # fmt: skip
    bodies = {unit.name: unit.body for unit in before.every_unit()}
    mixed = While(Name("y"), body=(bodies["s"][0], bodies["t"][1]))
    after = before.changed(lambda unit: replace(unit, body=(mixed,)) if unit.name == "t" else unit)
    assert "  do while (y)\n  a  =1\n  d  =4\n  end do\nend" in emit_changed(before, after)


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

    def change(unit: Routine) -> Routine:
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

    def change(unit: Routine) -> Routine:
        kept = [item for item in unit.contained if getattr(item, "name", "") != "a"]
        if unit.name != "m":
            return unit
        inner = Routine("c", opening="subroutine c", body=(NEW,))
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


# ---------------------------------------------------------------------------- labels of loops

LABELLED = """  do 10 i = 1, n ! rows
  do 10 j = 1, n
    if (x(j) > 0)  go to 10
    a(j)  =  1
10 continue
"""


def _under_directive(line: Line) -> tuple[Line, ...]:
    return (DirectiveBlock(Directive.OMP_PARALLEL_DO, NO_OPTIONS, (line,)),)


def test_a_directive_around_a_loop_leaves_its_label() -> None:
    text = edited(LABELLED, lambda line: _under_directive(line) if _counts(line, "i") else (line,))
    assert "".join(line for line in text.splitlines(True) if "!$omp" not in line) == LABELLED
    assert text.splitlines()[0].strip().startswith("!$omp parallel do")
    assert text.splitlines()[-1].strip() == "!$omp end parallel do"


def test_a_directive_within_a_loop_that_ends_with_another_one_removes_the_label() -> None:
    text = edited(LABELLED, lambda line: _under_directive(line) if _counts(line, "j") else (line,))
    words = [" ".join(line.split()) for line in text.splitlines()]
    assert words[:2] == ["do i = 1, n", "! rows"]
    assert words[2].startswith("!$omp parallel do")
    assert words[3:] == [" ".join(line.split()) for line in LABELLED.splitlines()[1:]] + [
        "!$omp end parallel do", "end do"
    ]  # fmt: skip


def test_a_loop_that_is_moved_keeps_its_label() -> None:
    text = edited(LABELLED, lambda line: (NEW, line, NEW) if _counts(line, "i") else (line,))
    assert LABELLED in text


def test_a_loop_that_is_copied_has_its_label_in_no_copy() -> None:
    text = edited(
        LABELLED,
        lambda line: (
            (If((Branch(Name("c"), (line,)),), (line,)),) if _counts(line, "i") else (line,)
        ),
    )
    assert "10" not in text
    assert "go" not in text
    assert text.count("cycle") == 2
    assert text.count("end do") == 4


@pytest.mark.parametrize(
    "new", [(), (Comment(" nothing", as_written=True),)], ids=["removed", "comment"]
)
def test_a_label_needs_a_statement(new: tuple[Line, ...]) -> None:
    text = edited(
        "  do 10 i = 1, n\n  b = 1\n10 a = 1\n",
        lambda line: new if isinstance(line, Assign) and line.target == Name("a") else (line,),
    )
    assert text.splitlines()[0].strip() == "do i = 1, n"
    assert text.splitlines()[-1].strip() == "end do"
    assert "10" not in text


def test_a_label_of_two_loops_stays_if_no_loop_needs_it() -> None:
    """The inner loop becomes one statement."""
    text = edited(
        "  do 10 i = 1, n\n  do 10 j = 1, n\n    a = 1\n10 continue\n",
        lambda line: line.body if _counts(line, "j") else (line,),
    )
    assert [line.strip() for line in text.splitlines()] == ["do i = 1, n", "a = 1", "end do"]


def test_a_copied_loop_in_fixed_form_has_statements_from_column_7_on() -> None:
    loop = "      do 20 i = 1, n\n        b = 1\n   20 continue ! end\n"
    before = read_file(fixed_source(SourceText("x.f", f"      subroutine s\n{loop}      end\n")))

    def change(line: Line) -> tuple[Line, ...]:
        return (line, line) if isinstance(line, Do) else (line,)

    after = before.changed(lambda unit: replace(unit, body=rewritten(unit.body, change)))
    text = emit_changed(before, after)
    copied = "      do i = 1, n\n        b = 1\n      end do\n"
    assert text == f"      subroutine s\n{loop}{copied}      end\n"


def test_a_comment_does_not_take_the_label_behind_it_along() -> None:
    text = edited(
        "  do 50 i = 1, n\n  do 50 j = 1, n\n  do 60 k = 1, n\n60 x = 1 ! note\n50 a = 1\n",
        lambda line: _under_directive(line) if isinstance(line, Do) else (line,),
    )
    assert "50" not in text
    assert "a = 1" in text
    assert "! note" in text


def test_a_loop_has_no_label_in_another_routine() -> None:
    before = read(
        f"subroutine s\n{LABELLED}end subroutine\nsubroutine t\n  c = 1\nend subroutine\n"
    )
    loop = before.units[0].body[0]

    def change(unit: Routine) -> Routine:
        return replace(unit, body=(*unit.body, loop)) if unit.name == "t" else unit

    first, second = emit_changed(before, before.changed(change)).split("subroutine t\n")
    assert LABELLED in first
    assert "10" not in second
    assert "cycle" in second


def _counts(line: Line, variable: str) -> bool:
    return isinstance(line, Do) and line.variable.text == variable
