"""Which way through branches is taken by itself, and when none is."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from psyclone_storage.cli.main import main

CASE = Path(__file__).parents[3] / "cases" / "gocean" / "branches"
IN_PLACE = "inline-point-call; fuse; "
LONG = "a(i, j) = " + " + ".join(["b(i, j) * b(i, j)"] * 10)
Applied = Callable[..., str]

KERNEL = """module work_mod
  use argument_mod
  use grid_mod, only: go_offset_ne
  use kernel_mod
  use kind_params_mod, only: go_wp
  use other_mod, only: rnd, unknown
  implicit none
  type, extends(kernel_type) :: work
    type(go_arg) :: meta_args(2) = (/ go_arg(GO_READWRITE, GO_CT, GO_POINTWISE), &
        go_arg(GO_READ, GO_CT, GO_POINTWISE) /)
    integer :: iterates_over = GO_INTERNAL_PTS
    integer :: index_offset = GO_OFFSET_NE
  contains
    procedure, nopass :: code => work_code
  end type work
contains
  subroutine work_code(i, j, a, b)
    integer, intent(in) :: i, j
    real(go_wp), intent(inout) :: a(:, :)
    real(go_wp), intent(in) :: b(:, :)
    real(go_wp) :: t, w(2)
    integer :: k
    integer, parameter :: sp = 4
    BODY
  end subroutine work_code
end module work_mod
"""
ALGORITHM = """program sea
  use work_mod, only: work
  use field_mod, only: r2d_field
  implicit none
  type(r2d_field) :: x, y, z
  call invoke(CALLS)
end program sea
"""


@pytest.fixture
def applied(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Applied:
    """Return what applies steps to kernels of a body and returns what is said, or the layer."""

    def run(
        body: str,
        calls: str = "work(x, y)",
        steps: str = IN_PLACE + "unswitch",
        kind: str = "go_wp",
    ) -> str:
        kernel = KERNEL.replace("BODY", body.replace("\n", "\n    "))
        kernel = kernel.replace("only: go_wp", f"only: {kind}")
        kernel = kernel.replace("real(go_wp)", f"real({kind.split(maxsplit=1)[0]})")
        (tmp_path / "work_mod.f90").write_text(kernel, encoding="utf-8")
        (tmp_path / "alg.x90").write_text(ALGORITHM.replace("CALLS", calls), encoding="utf-8")
        layer, algorithm = tmp_path / "psy.f90", tmp_path / "alg.f90"
        words = ["-api", "gocean", "-nodm", "-d", str(tmp_path), "--apply", steps, "--explain"]
        files = ["-opsy", str(layer), "-oalg", str(algorithm), str(tmp_path / "alg.x90")]
        status = main([*words, *files])
        said = capsys.readouterr()
        return said.out + said.err + (layer.read_text(encoding="utf-8") if status == 0 else "")

    return run


def between(text: str, start: str, stop: str) -> list[str]:
    """Return the lines of `text` from one to another, without their indentation."""
    lines = [line.strip() for line in text.splitlines()]
    first = lines.index(start)
    return lines[first : lines.index(stop, first) + 1]


def test_the_branch_with_most_work_is_taken(applied: Applied) -> None:
    body = f"if (b(i, j) > 0.0) then\na(i, j) = 1.0\nelse if (b(i, j) < -1.0) then\n{LONG}\nend if"
    lines = between(applied(body), "if (i > first) then", "else")
    assert lines[1:3] == ["next = i", "do i = first, next - 1"]
    assert lines[-3:-1] == ["end do", "first = next"]
    assert not any("if" in line for line in lines[1:-1])
    assert lines[3].startswith("x%data(i, j) = y%data(i, j) * y%data(i, j) +")


def test_conditions_are_asked_in_their_order(applied: Applied) -> None:
    body = f"if (i < 3) then\na(i, j) = 1.0\nelse if (b(i, j) < 0.0) then\n{LONG}\nend if"
    lines = between(applied(body), "do i = first, last", "end do")
    assert lines == [
        "do i = first, last",
        "if (i < 3) then",
        "exit",
        "end if",
        "if (.not. (y%data(i, j) < 0.0)) then",
        "exit",
        "end if",
        "end do",
    ]


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (LONG, "it has no branches"),
        ("if (b(i, j) > 0.0) a(i, j) = b(i, j) + 1.0", "has 1 operations for a point"),
        (f"if (a(i, j) > 0.0) then\n{LONG}\nend if", "depends on 'a', which it computes"),
        (f"t = b(i, j)\nif (t > 0.0) then\n{LONG}\nend if", "depends on 't', which it computes"),
        (f"if (exp(b(i, j)) > 1.0) then\n{LONG}\nend if", "would decide which way is taken"),
        (f"if (b(i, j) > 0.0) then\nt = b(i, j)\n{LONG} + exp(t)\nend if", "depends on 't'"),
        (f"if (b(i, j) > 0.0) then\ndo k = 1, 2\nw(k) = 1.0\nend do\n{LONG}\nend if", "'do k"),
        (f"if (rnd(i + 1) > 0.0) then\n{LONG}\nend if", "depends on 'rnd', which is not known"),
        (
            f"if (b(i, j) > 0.0) then\n{LONG} + exp(rnd(i + 1))\nend if",
            "depends on 'rnd', which is",
        ),
        (f"if (b(i, j) > 0.0) then\n{LONG} + exp(real(b(i, j), sp))\nend if", "is unknown"),
    ],
)
def test_ways_that_cannot_be_taken_by_themselves(applied: Applied, body: str, why: str) -> None:
    said = applied(body)
    assert "T091" in said
    assert why in said
    assert "i_strip" not in said


def test_a_module_whose_source_is_missing_is_named(applied: Applied) -> None:
    said = applied(f"if (b(i, j) > 0.0) then\n{LONG} + exp(unknown * b(i, j))\nend if")
    assert "T097" in said
    assert "i_strip" not in said


def test_powers_are_lifted_as_functions_are(applied: Applied) -> None:
    said = applied(f"if (b(i, j) > 0.0) then\n{LONG} + b(i, j)**0.3_go_wp + b(i, j)**2\nend if")
    lifted = between(said, "!GCC$ novector", "end do")
    assert lifted[2] == "power_of_strip(i - i_strip + 1) = y%data(i, j) ** 0.3_go_wp"
    assert said.count("y%data(i, j) ** 2") == 2


def test_kinds_by_other_names_are_those_of_the_layer(applied: Applied) -> None:
    said = applied(f"if (b(i, j) > 0.0) then\n{LONG} + exp(b(i, j))\nend if", kind="wp => go_wp")
    assert "real(kind=go_wp) :: exp_of_strip(32)" in said


@pytest.mark.parametrize(
    ("calls", "strips"),
    [
        ("work(x, y), work(z, y)", True),
        ("work(x, y), work(y, z)", False),
        ("work(y, z), work(x, y)", False),
    ],
)
def test_nothing_in_the_loop_may_change_a_condition(
    applied: Applied, calls: str, strips: bool
) -> None:
    """Fused by a user's word, or after the step: who prints the layer asks again."""
    body = f"if (b(i, j) > 0.0) then\n{LONG}\nend if"
    for steps in (IN_PLACE + "unswitch", "inline-point-call; unswitch; fuse"):
        said = applied(body, calls, steps)
        assert said.count("do j = ") == 1
        assert ("do i_strip" in said) is strips


def test_a_loop_that_still_calls_has_no_strips(applied: Applied) -> None:
    body = f"if (b(i, j) > 0.0) then\n{LONG}\nend if"
    steps = "fuse; inline-point-call{call=work@loop1}; unswitch"
    said = applied(body, "work(x, y), work(z, y)", steps)
    assert "also calls 'work'" in said
    assert "i_strip" not in said


@pytest.mark.parametrize(
    ("steps", "code"),
    [
        ("inline-point-call; unswitch{call=work@loop1 size=1}", "T057"),
        ("inline-point-call; unswitch{call=work@loop1 size=5000}", "T057"),
        ("inline-point-call; unswitch{call=work@loop1}; unswitch{call=work@loop1}", "T082"),
        ("inline-point-call; swap-loops; unswitch{call=work@loop1}", "T091"),
        ("unswitch{call=work@loop1}", "T091"),
        ("inline-point-call; acc-kernels{first=loop1}; unswitch{call=work@loop1}", "T091"),
        ("inline-point-call; unswitch; kernel-swap{call=work@loop1}", "T064"),
    ],
)
def test_when_it_is_refused(applied: Applied, steps: str, code: str) -> None:
    body = f"if (b(i, j) > 0.0) then\n{LONG}\nend if"
    assert f"error[{code}" in applied(body, steps=steps)


def test_devices_keep_branches(applied: Applied) -> None:
    body = f"if (b(i, j) > 0.0) then\n{LONG}\nend if"
    said = applied(body, steps="inline-point-call; unswitch; acc-kernels{first=loop1}")
    assert "i_strip" not in said
    assert "if (y%data(i, j) > 0.0)" in said
