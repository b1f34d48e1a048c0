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
  real(r_def), parameter :: modc = 2.0_r_def, rough = sqrt(2.0_r_def)
  real(r_def) :: modv
  type :: state_type
    type(field_type) :: u(3), v(0:3)
    type(field_type), allocatable :: w(:)
  end type
contains
  subroutine go(f, g, q, n, state, r, c, total)
    type(field_type), intent(inout) :: f, g, q(4), r(0:2)
    type(state_type), intent(inout) :: state
    real(r_def), intent(in) :: c(0:3)
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
        ("call invoke(setval_c(f, real(n, r_def)), setval_c(g, modc))",
         ["value = float(n)", "invoke(", "    setval_c(f, value),", "    setval_c(g, 2.0),", ")"]),
        ("call invoke(setval_c(q(n/2), 0.0_r_def), setval_X(f, q(n/2)))",
         ["value = q[int(n / 2) - 1]", "invoke(", "    setval_c(value, 0.0),",
          "    setval_X(f, value),", ")"]),
        ("call invoke(setval_c(f, rough))",
         ["value = math.sqrt(2.0)", "invoke(setval_c(f, value))"]),
        ("call invoke(setval_X(state%u(2), f))", ["invoke(setval_X(state.u[1], f))"]),
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
        ("call invoke(setval_c(r(0), 0.0_r_def))", "'r' begins at 0, not at 1"),
        ("call invoke(setval_c(f, c(0)))", "'c' begins at 0, not at 1"),
        ("t = c(1)\ncall invoke(setval_c(f, t))", "'c' begins at 0, not at 1"),
        ("call invoke(setval_X(state%v(2), f))", "'v' begins at 0, not at 1"),
        ("call invoke(setval_X(state%w(2), f))", "'w' is allocatable"),
        ("call invoke(setval_X(state%x(2), f))", "not known where 'state%x' begins"),
        ("call invoke(setval_c(f, modv))", "'modv' is declared elsewhere"),
        ("t = modv\ncall invoke(setval_c(f, t))", "'modv' is declared elsewhere"),
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


def of_file(text: str, folder: Path) -> str:
    """Return a file of algorithms in Python, or what is said of it; kernels are in two modules."""
    for name in ("one", "two"):
        kernel = f"  type, extends(kernel_type) :: k_type\n  end type\n  integer :: only_{name}"
        module = f"module {name}_mod\n  use kernel_mod, only: kernel_type\n{kernel}\nend module\n"
        (folder / f"{name}_mod.f90").write_text(module)
    (folder / "alg_mod.x90").write_text(f"module alg_mod\n{text}\nend module alg_mod\n")
    words = ["psyclone-storage-kern", "-api", "lfric", "-gen", "python", "alg_mod.x90", "-d", "."]
    done = run_command([*words, "-o", "alg_mod.py"], folder)
    return done.written.get("alg_mod.py", "") or done.err


def procedure(name: str, uses: str, called: str, more: str = "") -> str:
    """Return a procedure with an invoke."""
    passed = "type(field_type), intent(in) :: a"
    return f"subroutine {name}(a)\n{uses}\n{passed}\n{more}\ncall invoke({called})\nend subroutine"


FIELD = "use constants_mod, only: r_def\nuse field_mod, only: field_type\n"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (f"{FIELD}contains\n" + procedure("p", "use one_mod, only: k_type", "k_type(a)") + "\n"
         + procedure("q", "use two_mod, only: k_type", "k_type(a)"),
         "'k_type' is 'one_mod.k_type' for one procedure, and 'two_mod.k_type' for another"),
        (f"{FIELD}contains\n" + procedure("p", "use one_mod, only: q => k_type", "q(a)") + "\n"
         + procedure("q", "use two_mod, only: k_type", "k_type(a)"), "and a procedure of the file"),
        (f"{FIELD}contains\n" + procedure("p", "", "setval_c(a, 1.0_r_def)", "integer :: setval_c"),
         "'setval_c' is a built-in, and something else"),
        ((f"{FIELD}contains\nreal(r_def) function p(a)\ntype(field_type), intent(in) :: a\n"
          "call invoke(sum_X(p, a))\nend function"), "that its result 'p' is a number"),
        (f"{FIELD}contains\n" + procedure("p", "", "setval_c(a, 1e308_r_def*1e308_r_def)"),
         "'1e+308 * 1e+308' is nothing that a kernel can be passed"),
    ],
)  # fmt: skip
def test_names_that_python_has_once(text: str, why: str, tmp_path: Path) -> None:
    said = of_file(text, tmp_path)
    assert said.startswith("error[G006]")
    assert why in said
    assert "--> alg_mod.x90:" in said


@pytest.mark.parametrize("own", ["use one_mod", "use one_mod, only: k_type"])
def test_what_a_procedure_imports_hides_what_its_module_does(own: str, tmp_path: Path) -> None:
    text = f"{FIELD}use two_mod, only: k_type\ncontains\n" + procedure("p", own, "k_type(a)")
    assert "from one_mod import k_type\n" in of_file(text, tmp_path)


def test_a_kernel_with_a_name_of_python_is_renamed(tmp_path: Path) -> None:
    uses = "use one_mod, only: float => k_type"
    text = f"{FIELD}contains\n" + procedure("p", uses, "float(a)")
    assert "from one_mod import k_type as float_\n" in of_file(text, tmp_path)


def test_a_function_returns_its_result(tmp_path: Path) -> None:
    head = "function p(a) result(s)\ntype(field_type), intent(in) :: a\nreal(r_def) :: s\n"
    body = "call invoke(sum_X(s, a))\nif (s > 2.0_r_def) return\ns = s + 1\nend function"
    ends = ["    if s > 2.0:", "        return s", "    s = s + 1", "    return s"]
    made = of_file(f"{FIELD}contains\n{head}{body}", tmp_path)
    assert made.splitlines()[-len(ends) :] == ends
