"""Printed statements of whole programs compute the same as the original statements.

The original text and the printed statements are both compiled and called, and so are kernels before
and after their early returns have become branches.
"""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import pytest

from kernel_bodies import code_of, compare, samples, text_of
from psyclone_storage.base.source import SourceText
from psyclone_storage.ir.rewrite import walk_lines
from psyclone_storage.ir.routine import Routine
from psyclone_storage.ir.unit import Opaque, Return
from psyclone_storage.languages.fortran.parse.constructs import read_whole_lines
from psyclone_storage.languages.fortran.parse.statements import scan
from psyclone_storage.languages.fortran.parse.trivia import elements
from psyclone_storage.passes.structured_returns import without_returns

pytestmark = pytest.mark.fortran

DECLARATIONS = """integer, intent(in) :: n
real(r_def), intent(inout), target :: y(n)
integer :: i, j, k
character(len=20) :: text
real(r_def), pointer :: p(:)"""

BODIES = {
    "named loops": """rows: do i = 1, n
  do j = 1, n
    if (j > i) cycle rows
    if (y(j) > 1.5_r_def) exit rows
    y(j) = y(j) + 0.1_r_def
  end do
end do rows""",
    "labels": """do 10 i = 1, n
do 10 j = 1, i
if (y(j) < 0) goto 10
y(j) = y(j) - 0.25_r_def
10 y(i) = y(i) + 0.5_r_def
k = 0
20 continue
k = k + 1; if (k < 3) go to 20
y(1) = k
do 30 i = 1, n
  y(i) = 2 * y(i)
30 end do""",
    "choices": """do i = 1, n
  pick: select case (mod(i, 5) - 1) ! by remainder
  ! the first
  case (0, 2:3)
    y(i) = 1
    if (y(n) > 0) exit pick
    y(i) = 2
  case (:-1) pick
    y(i) = 3
  case default
    y(i) = 4
  end select pick
end do
goto (40, 50), n - 3
y(1) = 9
40 y(2) = 8
50 y(3) = 7""",
    "loops without a counter": """k = 0
do while (k < 10)
  k = k + 3
  if (k == 6) cycle
  y(1) = y(1) + k
enddo
do
  k = k - 1
  if (k < 0) exit
end do
y(2) = k""",
    "masks": """where (y > 0) y = -y
where (y < -1)
  y = 1
elsewhere (y < -0.5_r_def)
  y = 2
else where
  y = 3
end where
forall (i = 1:n:2, y(i) > 1) y(i) = y(n) + i
forall (i = 2:n)
  y(i) = y(i - 1) + 1
  y(i) = 2 * y(i)
end forall
do concurrent (i = 1:n, y(i) > 2)
  y(i) = y(i) / 2
end do""",
    "files": """write (text, '(i4, 2(1x, f6.2))') n, (real(i, r_def) / 4, i = 1, 2)
read (text, *) k, y(1), y(2)
write (text, 60) k + 1
60 format (i6, 'a;b!')
read (unit=text(1:6), fmt='(i6)', iostat=j) k
y(3) = k + j""",
    "pointers and scopes": """nullify(p)
if (.not. associated(p)) p => y(2:)
p(1) = 5
associate (first => y(1), rest => p)
  first = rest(1) + 1
end associate
own: block
  real(r_def) :: t
  t = y(1); y(2) = t
  if (t > 0) exit own
  y(2) = 0
end block own""",
    "an early return": """if (y(1) > 100) return
y(1) = 1
if (y(2) > 0) then
  y(2) = 2
  return
end if
y(3) = 3""",
}


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_statements_are_printed_as_what_they_are(body: str, tmp_path: Path) -> None:
    source = SourceText("x.f90", body + "\n")
    lines = read_whole_lines(tuple(elements(list(scan(source)), source.whole())))
    assert not any(isinstance(line, Opaque) for line in walk_lines(lines))
    code = code_of("", DECLARATIONS, "n, y")
    written = replace(code, body=(Opaque(body, frozenset()),))
    compare(tmp_path, written, lambda _: replace(code, body=lines), samples({"y": (5,)}, n=5))


def with_choices(code: Routine) -> Routine:
    changed = replace(code, body=without_returns(code.body))
    assert not any(isinstance(line, Return) for line in walk_lines(changed.body))
    return changed


def some_statements(chosen: random.Random, depth: int) -> list[str]:
    """Return statements in which at most one way leads on behind each choice that returns."""
    found = [f"y({chosen.randint(1, 5)}) = y({chosen.randint(1, 5)}) + {chosen.randint(1, 9)}"]
    for _ in range(chosen.randint(0, 3) if depth else 0):
        condition = f"y({chosen.randint(1, 5)}) > {chosen.randint(-2, 4)}"
        inner = some_statements(chosen, depth - 1)
        match chosen.randint(0, 3):
            case 0:
                found.append(f"if ({condition}) return")
            case 1:
                found += [f"if ({condition}) then", *inner, "return", "end if"]
            case 2:
                found += [f"if ({condition}) then", "return", "else", *inner, "end if"]
            case 3:
                found += [f"if ({condition}) then", f"y(1) = {depth}", "end if"]
        found.append(f"y({chosen.randint(1, 5)}) = y({chosen.randint(1, 5)}) - 1.5_r_def")
    return found


@pytest.mark.parametrize("seed", range(6))
def test_early_returns_become_choices(seed: int, tmp_path: Path) -> None:
    chosen = random.Random(seed)
    statements = some_statements(chosen, 3)
    body = "\n".join((*statements, "if (y(1) > 0) return", "y(5) = 0.5_r_def"))
    code = code_of(body, DECLARATIONS, "n, y")
    changed = compare(tmp_path, code, with_choices, samples({"y": (5,)}, 20, n=5))
    assert "return" not in text_of(changed)
