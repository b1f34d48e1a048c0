"""Algorithms in Python compute the numbers of the Fortran, or are refused."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType

import pytest

from command import run_command
from python_kernels import module_text, run_in_python

HEAD = """\
module alg
  use kind_params_mod, only: go_wp
  use field_mod, only: r2d_field
  use grid_mod, only: grid_type
  use params, only: nstep
  use small_mod, only: kk
  implicit none
contains
  subroutine go(f, g, n)
    type(r2d_field), intent(inout) :: f
    type(grid_type), intent(in) :: g
    integer, intent(in) :: n
    real :: r
    real(go_wp) :: x, near(3)
    integer(8) :: long
    integer :: i, k
    logical :: is_done
"""
TAIL = """\
    call invoke(kk(f, x))
  end subroutine go
end module alg
"""


def translated(body: str, folder: Path) -> tuple[str, str]:
    """Return an algorithm in Python, and what is said of it."""
    (folder / "alg.f90").write_text(f"{HEAD}{body}\n{TAIL}")
    words = ["psyclone-storage-kern", "-api", "gocean", "-gen", "python", "alg.f90"]
    done = run_command([*words, "-o", "alg.py"], folder)
    return done.written.get("alg.py", ""), done.err


def passed(body: str, folder: Path, monkeypatch: pytest.MonkeyPatch, n: int = 7) -> float:
    """Return the number that an algorithm passes to its kernel."""
    text, said = translated(body, folder)
    assert said == ""
    found: list[float] = []
    kernels, words = ModuleType("small_mod"), ModuleType("psyclone_storage.gocean")
    kernels.kk = lambda _field, x: x  # type: ignore[attr-defined]
    words.invoke = found.append  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "small_mod", kernels)
    monkeypatch.setitem(sys.modules, "psyclone_storage.gocean", words)
    names: dict[str, object] = {}
    exec(compile(text, "alg.py", "exec"), names)
    names["go"](None, None, n)  # type: ignore[operator]
    (value,) = found
    assert isinstance(value, float)
    return value


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("    r = 0.1_go_wp\n    x = 1.0_go_wp", "'r' is a real of 4 bytes"),
        ("    x = r", "'r' is a real of 4 bytes"),
        ("    call invoke(kk(f, r))", "'r' is of single precision"),
        ("    x = r / 3", "'r' is a real of 4 bytes"),
        ("    x = 0.1 * n", "single precision"),
        ("    x = 0.1 + (-n)", "single precision"),
        ("    x = g%nx / 2", "the type of 'g%nx' is not known"),
        ("    x = -g%nx", "the type of 'g%nx' is not known"),
        ("    x = nstep / 2", "what 'nstep' stands for was not found"),
        ("    x = nstep", "what 'nstep' stands for was not found"),
        ("    x = long", "'long' is a integer of 8 bytes"),
        ("    x = 2**n", "a power of integers"),
        ("    x = near(2)", "the value of 'near(2)' is not known"),
        ("    x = bessel_j0(2.0_go_wp)", "is not known to Python's kernels"),
        ("    x = sqrt(g%dx)", "the type of 'g%dx' is not known"),
        ("    x = mine(2)", "what 'mine' stands for was not found"),
        ("    x = 3_8 + n", "integers of several sizes"),
        ("    x = n == 7", "is of another type"),
        ("    if (g%nx == 1) x = 1.0_go_wp", "not known"),
        ("    do while (g%more)\n    end do", "the type of 'g%more' is not known"),
        ("    do i = 1, g%nx\n    end do", "the type of 'g%nx' is not known"),
        ("    do i = 1, x\n    end do", "is not an integer"),
        ("    do while (n)\n    end do", "is no condition"),
        ("    do n = 1, 2\n    end do", "no integer of its own"),
        ("    do r = 1, 2\n    end do", "no integer of its own"),
        ("    do i = 1, n\n    end do\n    x = i", "behind the loop"),
        ("    do i = 1, n\n      do k = 1, n\n      end do\n    end do\n    x = k", "behind"),
        (("    if (n > 1) then\n      do i = 1, n\n      end do\n    else\n      i = 1\n"
         "    end if\n    x = i"), "behind"),
        ("    i = 1\n    do k = 1, n\n      x = i\n      do i = 1, 3\n      end do\n    end do",
         "behind"),
        (("    i = 1\n    is_done = .false.\n    do while (.not. is_done)\n      do i = 1, 3\n"
         "      end do\n      is_done = .true.\n      if (n > 3) cycle\n      i = 0\n    end do\n"
         "    x = i"), "behind"),
        ("    do i = 1, 2\n    end do\n    call invoke(kk(f, i))", "behind"),
    ],
)  # fmt: skip
def test_what_is_not_certain_is_refused(body: str, why: str, tmp_path: Path) -> None:
    _, said = translated(body, tmp_path)
    assert said.startswith("error[G006]: 'go' has no form in Python: ")
    assert why in said
    assert "--> alg.f90:" in said
    assert "hint: " in said


@pytest.mark.parametrize(
    ("body", "wanted"),
    [
        ("    x = n", 7.0),
        ("    x = 0.1 * 2.0_go_wp", 0.10000000149011612 * 2.0),
        ("    x = 0.1", 0.10000000149011612),
        ("    x = (0.1 + 0.2) * 2.0_go_wp", 0.30000001192092896 * 2.0),
        ("    x = 0.1 * 3.0 / 7.0 - 1.0", -0.9571428298950195),
        ("    x = n / 2.0_go_wp - 1", 2.5),
        ("    x = 2**3 + 0.5_go_wp", 8.5),
        ("    x = n / 2", 3.0),
        ("    x = 2**(-1)", 0.0),
        ("    x = (-n) / 2", -3.0),
        ("    x = (n + 1) / 2 * 1.0_go_wp", 4.0),
        ("    k = 1.7_go_wp\n    x = k", 1.0),
        ("    x = 4.0_go_wp**0.5_go_wp", 2.0),
        ("    x = sqrt(2.0_go_wp) + mod(n, 4) + modulo(-n, 4)", 2.0**0.5 + 3.0 + 1.0),
        ("    x = sign(3.0_go_wp, real(-n, go_wp)) + max(n, 9) + real(0.1d0)",
         -3.0 + 9.0 + 0.10000000149011612),
        ("    k = 2\n    x = -k * (n - 3)", -8.0),
        ("    x = 0.0_go_wp\n    do i = n, 5, -1\n      x = x + i\n    end do", 18.0),
        ("    x = 0.0_go_wp\n    do i = 1, 2\n    end do\n    i = 4\n    x = i + x", 4.0),
        (("    x = 1.0_go_wp\n    do i = 1, 2\n      do k = 1, i\n        x = x + k\n      end do\n"
         "    end do\n    do k = 1, 2\n      x = x * k\n    end do"), 10.0),
        ("    is_done = n > 3 .and. .not. n == 8\n    x = 1.0_go_wp\n    if (is_done) x = 2", 2.0),
    ],
)  # fmt: skip
def test_what_is_certain_is_computed(
    body: str, wanted: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert passed(body, tmp_path, monkeypatch) == wanted


def test_two_names_never_become_one(tmp_path: Path) -> None:
    _, said = translated("    integer :: lambda, lambda_\n    x = 1.0_go_wp", tmp_path)
    assert "'lambda' and 'lambda_' would be one name" in said


def test_metadata_that_do_not_describe_the_arguments(tmp_path: Path) -> None:
    text = module_text({"small": "    y(i,j) = x(i,j)"}).replace("(i, j, y, x)", "(i, j, y)")
    said = run_in_python(text, tmp_path)
    assert said.startswith("error[G006]: The kernel 'small' takes 1 argument behind its point, ")
    assert "hint: " in said


@pytest.mark.parametrize("is_imported", [True, False])
def test_a_function_of_the_author_is_not_taken_for_one_of_the_language(
    is_imported: bool, tmp_path: Path
) -> None:
    head = HEAD.replace("only: nstep", "only: nstep, sqrt") if is_imported else HEAD
    own = "" if is_imported else "  function sqrt(x)\n    real(go_wp) :: sqrt, x\n  end function\n"
    text = f"{head}    x = sqrt(4.0_go_wp)\n{TAIL}".replace("end module", f"{own}end module")
    (tmp_path / "alg.f90").write_text(text)
    done = run_command(["psyclone-storage-kern", "-api", "gocean", "-gen", "python", "alg.f90"],
                       tmp_path)  # fmt: skip
    assert "'sqrt(4.0_go_wp)' is a function of an author's" in done.err
