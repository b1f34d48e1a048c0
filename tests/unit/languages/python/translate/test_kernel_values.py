"""Kernels in Python compute what the kernels in Fortran compute that they were made of."""

from __future__ import annotations

import itertools
import re
import subprocess
from pathlib import Path

import pytest

from python_kernels import loaded, module_text, run_in_python, value_of

AROUND = {
    (i, j): float(10 * i + j + 50) for i, j in itertools.product((-1, 0, 1), repeat=2)
}  # fmt: skip
OPERANDS = {"whole": "n", "written": "3", "negative": "(-m)", "double": "x(i,j)",
            "constant": "0.7_go_wp", "single": "0.1", "quotient": "n / m"}  # fmt: skip
OPERATORS = {
    "minus": "{0} - {1}", "times": "{0} * {1}", "over": "{0} / {1}", "power": "{0}**{1}",
    "less": "merge(1, 2, {0} < {1})", "sum_over": "({0} + n) / {1}",
}  # fmt: skip


REALS = ("double", "constant", "single")


def expressions() -> dict[str, str]:
    """Return an expression for each pair of operands and each operator."""
    found = {}
    for (first, one), (second, other) in itertools.product(OPERANDS.items(), repeat=2):
        for word, form in OPERATORS.items():
            if word == "power" and first == "negative" and second in REALS:
                continue
            found[f"{first}_{word}_{second}"] = form.format(one, other)
    return found


def body(expression: str) -> str:
    return f"    integer :: n, m\n    n = 7\n    m = 2\n    y(i,j) = {expression}"


def of_fortran(texts: dict[str, str], folder: Path) -> dict[str, float]:
    """Return the values that a compiler of Fortran gives expressions."""
    lines = ["program values", "integer, parameter :: go_wp = 8", "integer :: n, m, i, j",
             "real(go_wp) :: x(1,1), y", "n = 7; m = 2; i = 1; j = 1; x = 2.5_go_wp"]  # fmt: skip
    for name, text in texts.items():
        lines += [f"y = {text}", f"print '(a,1x,es25.17)', '{name}', y"]
    (folder / "values.f90").write_text("\n".join([*lines, "end program values\n"]))
    command = ["gfortran", "-O0", "values.f90", "-o", "values"]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    done = subprocess.run("./values", cwd=folder, check=True, capture_output=True, text=True)
    return {name: float(value) for name, value in map(str.split, done.stdout.splitlines())}


@pytest.mark.fortran
@pytest.mark.parametrize("first", OPERANDS)
def test_each_operator_between_each_pair_of_types(first: str, tmp_path: Path) -> None:
    texts = {name: text for name, text in expressions().items() if name.startswith(f"{first}_")}
    said = run_in_python(module_text({name: body(text) for name, text in texts.items()}), tmp_path)
    refused = set(re.findall(r"The kernel '(\w+)_code' has no form", said))
    assert {name for name in refused if "single" not in name and "power" not in name} == set()
    kept = {name: text for name, text in texts.items() if name not in refused}
    assert len(kept) > 10
    module = loaded(module_text({name: body(text) for name, text in kept.items()}), tmp_path)
    wanted = of_fortran(kept, tmp_path)
    found = {name: float(getattr(module, name).at(0.0, 2.5)) for name in kept}
    wrong = {name: (kept[name], found[name], wanted[name])
             for name in kept if not close(name, found[name], wanted[name])}  # fmt: skip
    assert wrong == {}


def close(name: str, found: float, wanted: float) -> bool:
    """Return whether two values are equal; powers are rounded as each library rounds them."""
    return abs(found - wanted) <= 1e-15 * abs(wanted) if "power" in name else found == wanted


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("1 / x(i,j)", 0.25),
        ("7 / x(i,j) / 2", 0.875),
        ("2 / 3.0_go_wp / 4", 2 / 3.0 / 4),
        ("7 / 2 * x(i,j)", 12.0),
        ("(-7) / 2 + x(i,j)", 1.0),
        ("2**3 / x(i,j)", 2.0),
    ],
)
def test_whole_numbers_are_divided_as_reals_where_one_is_real(
    text: str, wanted: float, tmp_path: Path
) -> None:
    assert value_of(f"    y(i,j) = {text}", tmp_path) == wanted


@pytest.mark.parametrize(
    "body",
    [
        "    y(i,j) = x(i,i) + x(j,j)",
        "    y(i,j) = x(i+1,i+1)",
        "    y(i,j) = x(j,i)",
        "    y(j,j) = x(i,j)",
        "    y(i,i) = x(i,j)",
        "    y(i,j) = sum(x(j-1:j+1, i:i))",
        "    y(i,j) = sum(x(i-1:j+1, j:j))",
        (
            "    integer :: ii, n\n    ii = i\n    do n = 1, 5\n      y(i,j) = x(ii,ii)\n"
            "      ii = i + 1\n    end do"
        ),
        (
            "    integer :: ii, n\n    ii = 3\n    do n = 1, 2\n      y(i,j) = ii * x(i,j)\n"
            "      if (n == 1) ii = i\n    end do"
        ),
    ],
)
def test_an_index_counts_along_its_own_axis(body: str, tmp_path: Path) -> None:
    said = run_in_python(module_text({"small": body}), tmp_path)
    assert said.startswith("error[G006]")
    assert "hint: " in said


def test_sums_of_sections(tmp_path: Path) -> None:
    text = "    y(i,j) = sum(x(i-1:i+1, j:j+1)) + 100 * sum(x(i, j-1:j))"
    columns = sum(AROUND[i, j] for i in (-1, 0, 1) for j in (0, 1))
    assert value_of(text, tmp_path, AROUND) == columns + 100 * (AROUND[0, -1] + AROUND[0, 0])


@pytest.mark.parametrize(("x", "wanted"), [(4.0, 3.0), (-4.0, 6.0)])
def test_bounds_of_loops_are_whole_expressions(x: float, wanted: float, tmp_path: Path) -> None:
    text = """\
    integer :: n
    y(i,j) = 0.0_go_wp
    do n = 1, merge(2, 3, x(i,j) > 0.0_go_wp)
      y(i,j) = y(i,j) + n
    end do"""
    assert value_of(text, tmp_path, x) == wanted


def test_loops_down_to_a_choice(tmp_path: Path) -> None:
    text = """\
    integer :: n
    y(i,j) = 0.0_go_wp
    do n = 4, merge(2, 3, x(i,j) > 0.0_go_wp), -1
      y(i,j) = y(i,j) + n
    end do"""
    assert value_of(text, tmp_path) == 9.0


@pytest.mark.parametrize("bounds", ["0:,0:", "1:,0:", "-1:,:", "0:9,0:9", "first:,:"])
def test_arrays_begin_at_one(bounds: str, tmp_path: Path) -> None:
    text = module_text({"small": "    y(i,j) = x(i,j)"}, bounds=bounds)
    text = text.replace("implicit none", "implicit none\n  integer, parameter :: first = 0")
    said = run_in_python(text, tmp_path)
    assert said.startswith("error[G006]")
    assert "not at 1" in said


@pytest.mark.parametrize("bounds", ["1:,1:", "1:,:", "first:,:"])
def test_a_lower_bound_of_one_is_said_or_not(bounds: str, tmp_path: Path) -> None:
    text = module_text({"small": "    y(i,j) = x(i,j)"}, bounds=bounds)
    text = text.replace("implicit none", "implicit none\n  integer, parameter :: first = 1")
    assert loaded(text, tmp_path).small.at(0.0, 5.0) == 5.0


def test_words_of_python_are_names_of_their_own(tmp_path: Path) -> None:
    text = """\
    integer :: lambda, lambda_
    lambda = 3
    lambda_ = 4
    y(i,j) = x(i,j) + lambda + 10 * lambda_"""
    assert value_of(text, tmp_path) == 47.0


def test_a_constant_keeps_its_name_beside_a_word_of_python(tmp_path: Path) -> None:
    one = "    integer :: lambda\n    lambda = 3\n    y(i,j) = x(i,j) + lambda + 10 * lambda_"
    text = module_text({"small": one, "other": "    y(i,j) = x(i,j) + lambda_"})
    text = text.replace("implicit none", "implicit none\n  integer, parameter :: lambda_ = 4")
    module = loaded(text, tmp_path)
    assert module.small.at(0.0, 4.0) == 47.0
    assert module.other.at(0.0, 4.0) == 8.0


def test_a_local_begins_with_a_value_where_a_way_gives_it_none(tmp_path: Path) -> None:
    text = "    integer :: n\n    logical :: is\n    real(go_wp) :: r\n"
    text += "    if (x(i,j) > 0.0_go_wp) then\n    n = 1\n"
    text += "    r = 2.0_go_wp\n    is = .true.\n    end if\n"
    text += "    if (is) y(i,j) = n + n * n + r"
    assert value_of(text, tmp_path, 3.0) == 4.0
    said = run_in_python(module_text({"small": text}), tmp_path)
    assert "    n = 0\n    is_ = False\n    r = 0.0\n    if x[0, 0] > 0.0:" in said


def test_a_number_that_is_read_from_a_field_is_a_variable(tmp_path: Path) -> None:
    text = """\
    integer :: n, jp
    jp = j + 1
    n = x(i,jp)
    y(i,j) = n * n + max(n, 2)"""
    assert value_of(text, tmp_path, 3.0) == 12.0


def test_limits_of_numbers_are_written_out(tmp_path: Path) -> None:
    text = "    y(i,j) = epsilon(1.0_go_wp) * 2.0_go_wp**52 + tiny(x(i,j)) / huge(x(i,j))"
    assert value_of(text, tmp_path, 3.0) == 1.0
