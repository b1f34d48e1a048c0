"""Which variables of modules become arguments of a kernel, and which do not."""

from __future__ import annotations

from pathlib import Path

import pytest

from psyclone_storage.base.diagnostic import CompileError
from psyclone_storage.config.load import default_settings
from psyclone_storage.pipeline.compile import Build, make_compiler
from psyclone_storage.pipeline.request import CompileRequest

ALGORITHM = """subroutine step(u, v)
  use field_mod, only: r2d_field
  use work_mod, only: work
  use rest_mod, only: rest
  type(r2d_field) :: u, v
  call invoke(work(u), rest(v))
end subroutine
"""
KERNEL = """module {name}_mod
  use argument_mod
  use kernel_mod
  {above}
  implicit none
  type, extends(kernel_type) :: {name}
    type(go_arg) :: meta_args(1) = (/ go_arg(go_readwrite, go_ct, go_pointwise) /)
    integer :: iterates_over = go_internal_pts
    integer :: index_offset = go_offset_ne
  contains
    procedure, nopass :: code => {name}_code
  end type {name}
contains
  subroutine {name}_code(i, j, u)
    {inside}
    integer, intent(in) :: i, j
    real, intent(inout) :: u(:, :)
    {body}
  end subroutine {name}_code
end module {name}_mod
"""
FRAMES = """module argument_mod
end module
module kernel_mod
end module
"""
MODEL = """module model_mod
  use kinds_mod, only: wp => double
  use parts_mod
  implicit none
  real(wp) :: rate
  real(wp), protected :: fixed
  real(wp), allocatable :: table(:)
  real(wp), pointer :: place
  integer, parameter :: most = 3
  real :: sizes(most), numbers(0:3, 2)
  character(len=8) :: title
  real(elsewhere) :: strange
  type(part_type) :: parts
contains
  subroutine bump()
  end subroutine bump
end module model_mod
"""
KINDS = "module kinds_mod\n  integer, parameter :: double = kind(0.0d0)\nend module kinds_mod\n"
PARTS = "module parts_mod\n  integer :: shared\n  logical :: ready\nend module parts_mod\n"
OTHER = {"rest": ("", "", "u(i, j) = 0.0")}


def build(folder: Path, inside: str, body: str, steps: str, above: str = "") -> Build:
    """Return the outcome of `steps` on a kernel with imports `inside` of it, or of its module."""
    texts = {"work": (above, inside, body), **OTHER}
    for name, (its_above, its_inside, its_body) in texts.items():
        text = KERNEL.format(name=name, above=its_above, inside=its_inside, body=its_body)
        (folder / f"{name}_mod.f90").write_text(text, encoding="utf-8")
    frames = FRAMES.split("end module\n")
    files = {
        "alg.f90": ALGORITHM, "model_mod.f90": MODEL, "kinds_mod.f90": KINDS,
        "parts_mod.f90": PARTS, "argument_mod.f90": frames[0] + "end module\n",
        "kernel_mod.f90": frames[1] + "end module\n",
    }  # fmt: skip
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    request = CompileRequest("gocean", False, (folder,), steps=steps)
    return make_compiler(default_settings(), request).compile_algorithm(folder / "alg.f90")


PASS = "imports-to-arguments{call=work@loop1}"


def passed(folder: Path, inside: str, body: str, above: str = "") -> tuple[str, list[str]]:
    """Return what is passed besides the field, and the lines of the kernel's own declarations."""
    made = build(folder, inside, body, PASS, above)
    call = next(line for line in made.psy_text.splitlines() if "call work_0_code" in line)
    (kernel,) = made.kernels
    lines = [line.strip() for line in kernel.text.splitlines()]
    first = next(at for at, line in enumerate(lines) if line.startswith("subroutine"))
    rest = call.partition("%data, ")[2].rstrip(")")
    return rest, lines[first + 1 : lines.index("integer, intent(in) :: i, j")]


@pytest.mark.parametrize(
    ("inside", "body", "actual", "declared"),
    [
        ("use model_mod, only: rate", "u(i, j) = rate", "rate",
         ["use kinds_mod, only: double", "real(kind=double), intent(in) :: rate"]),
        ("use model_mod, only: r => rate, most", "r = r + most", "rate",
         ["use model_mod, only: most", "use kinds_mod, only: double",
          "real(kind=double), intent(inout) :: r"]),
        ("use model_mod, only: numbers, most", "u(i, j) = numbers(most, 1)", "numbers",
         ["use model_mod, only: most", "real, intent(in) :: numbers(0:3, 2)"]),
        ("use model_mod, only: ready", "if (ready) u(i, j) = 0.0", "ready",
         ["logical, intent(in) :: ready"]),
        ("use model_mod", "shared = shared + i", "shared",
         ["use model_mod", "integer, intent(inout) :: shared"]),
        ("use model_mod, only: rate", "where (u > rate) u = 0.0", "rate",
         ["use kinds_mod, only: double", "real(kind=double), intent(in) :: rate"]),
        ("use model_mod, only: rate", "associate (r => rate)\nr = 1\nend associate", "rate",
         ["use kinds_mod, only: double", "real(kind=double), intent(inout) :: rate"]),
    ],
)  # fmt: skip
def test_what_is_used_is_passed(
    inside: str, body: str, actual: str, declared: list[str], tmp_path: Path
) -> None:
    assert passed(tmp_path, inside, body) == (actual, declared)


def test_what_the_module_of_a_kernel_imports_is_hidden_by_the_argument(tmp_path: Path) -> None:
    above = "use model_mod, only: rate; use kinds_mod, only: double"
    assert passed(tmp_path, "", "u(i, j) = rate", above) == (
        "rate",
        ["", "real(kind=double), intent(in) :: rate"],
    )


@pytest.mark.parametrize(
    ("inside", "body", "code", "message"),
    [
        (
            "use model_mod, only: table",
            "u(i, j) = table(1)",
            "T069",
            "'table' is declared as 'allocatable'",
        ),
        (
            "use model_mod, only: place",
            "u(i, j) = place",
            "T069",
            "'place' is declared as 'pointer'",
        ),
        ("use model_mod, only: parts", "u(i, j) = parts%a", "T069", "a derived type, 'part_type'"),
        ("use model_mod, only: sizes", "u(i, j) = sizes(1)", "T069", "The extents of 'sizes'"),
        (
            "use model_mod, only: title",
            "if (title == ' ') return",
            "T069",
            "'title' is declared as 'len=8'",
        ),
        ("use model_mod, only: fixed", "fixed = u(i, j)", "T069", "'fixed' is protected"),
        ("use absent_mod, only: x", "u(i, j) = x", "T069", "It is not known what 'x' is"),
        ("use absent_mod", "u(i, j) = x", "T069", "It is not known what 'x' is"),
        ("use model_mod, only: rate, bump", "call bump()\nu(i, j) = rate", "T069", "calls 'bump'"),
        ("use model_mod, only: most", "u(i, j) = most", "T067", "uses no variable"),
    ],
)
def test_what_cannot_be_passed(
    inside: str, body: str, code: str, message: str, tmp_path: Path
) -> None:
    with pytest.raises(CompileError) as caught:
        build(tmp_path, inside, body, PASS)
    assert [problem.code for problem in caught.value.problems] == [code]
    assert message in caught.value.problems[0].message


CHANGES = ("use model_mod, only: shared", "shared = shared + 1")
"""The imports and the body of a kernel that changes a variable."""


@pytest.mark.parametrize(
    ("steps", "code"),
    [
        (f"{PASS}; openmp-parallel-do{{loop=loop1}}", "S010"),
        (f"openmp-parallel-do{{loop=loop1}}; {PASS}", "S015"),
        (f"openmp-parallel-do{{loop=loop1 force=true}}; {PASS}", "T069"),
        (f"{PASS}; swap-loops{{loop=loop1}}", "S014"),
        (f"{PASS}; {PASS}", "T067"),
    ],
)
def test_points_that_change_a_variable_stay_in_order(steps: str, code: str, tmp_path: Path) -> None:
    with pytest.raises(CompileError) as caught:
        build(tmp_path, *CHANGES, steps)
    assert [problem.code for problem in caught.value.problems] == [code]


def test_arrays_of_modules_stay_off_devices(tmp_path: Path) -> None:
    imports = ("use model_mod, only: numbers", "u(i, j) = numbers(1, 1)")
    steps = f"{PASS}; acc-loop{{loop=loop1}}; acc-parallel{{first=loop1 last=loop1}}"
    with pytest.raises(CompileError) as caught:
        build(tmp_path, *imports, steps)
    assert "T087" in [problem.code for problem in caught.value.problems]


def test_a_variable_that_is_passed_hides_a_function_of_the_language(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(globals(), "MODEL", MODEL.replace("rate", "abs"))
    monkeypatch.setitem(OTHER, "rest", ("", "", "u(i, j) = abs(u(i, j))"))
    steps = f"{PASS}; inline-call{{call=rest@loop2}}"
    with pytest.raises(CompileError, match="'abs' in it is not the 'abs' that is passed"):
        build(tmp_path, "use model_mod, only: abs", "u(i, j) = abs", steps)
