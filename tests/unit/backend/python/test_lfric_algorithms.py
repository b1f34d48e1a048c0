"""Algorithms of LFRic in Python: numbers that invokes find, indices, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from command import run_command

HEAD = """\
module alg_mod
  use constants_mod, only: r_def, i_def
  use field_mod, only: field_type
  implicit none
contains
  subroutine go(f, g, q, n, total)
    type(field_type), intent(inout) :: f, g, q(4)
    integer(i_def), intent(in) :: n
    real(r_def), intent(inout) :: total
    type(field_type) :: own
    real(r_def) :: s, t
    integer(i_def) :: i
"""
TAIL = "\n  end subroutine go\nend module alg_mod\n"


def translated(body: str, folder: Path) -> str:
    """Return the statements of an algorithm in Python, or what is said of it."""
    (folder / "alg_mod.x90").write_text(f"{HEAD}{body}{TAIL}")
    words = ["psyclone-storage-kern", "-api", "lfric", "-gen", "python", "alg_mod.x90"]
    done = run_command([*words, "-o", "alg_mod.py"], folder)
    text = done.written.get("alg_mod.py", "")
    return text.partition("total):\n")[2] if text else done.err


@pytest.mark.parametrize(
    ("body", "wanted"),
    [
        (
            "call invoke(sum_X(s, f))\nt = sqrt(s) / 2",
            ["s = Result()", "invoke(sum_X(s, f))", "s = s.value", "t = math.sqrt(s) / 2"],
        ),
        (
            "s = 2.0_r_def\ncall invoke(inc_a_times_X(s, g), sum_X(s, f))",
            ["s = 2.0", "s = Result(s)", "invoke(", "    inc_a_times_X(s, g),", "    sum_X(s, f),",
             ")", "s = s.value"],
        ),
        ("call invoke(sum_X(total, f))\nt = total + 1", ["invoke(sum_X(total, f))",
                                                         "t = total.value + 1"]),
        ("do i = 1, n\ncall invoke(setval_c(q(i), 0.0_r_def))\nend do",
         ["for i in range(1, n + 1):", "    invoke(setval_c(q[i - 1], 0.0))"]),
        ("call invoke(setval_X(q(n+1), q(1)))", ["invoke(setval_X(q[n], q[0]))"]),
        ("select case (n)\ncase (1, 3)\nt = 1\ncase default\nt = 2\nend select",
         ["if n == 1 or n == 3:", "    t = 1.0", "else:", "    t = 2.0"]),
    ],
)  # fmt: skip
def test_statements(body: str, wanted: list[str], tmp_path: Path) -> None:
    if "invoke" not in body:
        body += "\ncall invoke(setval_c(f, t))"
        wanted = [*wanted, "invoke(setval_c(f, t))"]
    assert translated(body, tmp_path).splitlines() == [f"    {line}" for line in wanted]


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("call invoke(setval_c(own, 0.0_r_def))", "it is not known what 'own' is made of"),
        ("call invoke(sum_X(s, f), setval_c(g, 2.0_r_def*s))", "is computed from a number"),
        ("call invoke(sum_X(total, f), setval_c(g, -total))", "is computed from a number"),
        ("call f%initialise()\ncall invoke(setval_c(f, 0.0_r_def))", "what 'f%initialise' does"),
        ("call invoke(no_kernel_type(f))", "which module has the kernel 'no_kernel_type'"),
        ("call invoke(setval_c(q(n/2), 0.0_r_def), setval_c(f, s))\ns = own%x", "'own%x' is"),
    ],
)
def test_what_is_not_certain_is_refused(body: str, why: str, tmp_path: Path) -> None:
    said = translated(body, tmp_path)
    assert "error[G006]: 'go' has no form in Python: " in said
    assert why in said
    assert "--> alg_mod.x90:" in said
