"""Kernels for columns of cells in Python: their typed code, and what is refused in them."""

from __future__ import annotations

import pytest

from psyclone_storage.base.diagnostic import CompileError
from psyclone_storage.base.source import SourceText
from psyclone_storage.config.load import load_settings
from psyclone_storage.config.locate import search_context
from psyclone_storage.ir.kernel import Kernel
from psyclone_storage.ir.routine import Routine
from psyclone_storage.languages.fortran.parse import metadata as fortran
from psyclone_storage.languages.fortran.print.kernel import emit_code
from psyclone_storage.languages.python.parse.body import read_python_body
from psyclone_storage.languages.python.parse.metadata import read_python_kernel
from psyclone_storage.targets.dialects import LFRIC_WORDS
from psyclone_storage.targets.lfric import LFRIC, interpret_lfric

SETTINGS = load_settings("", "", search_context({}))
HEAD = "from psyclone_storage.lfric import *\n\n\n"
PROJECT = f"""{HEAD}\
@kernel(
    operates_on=CELL_COLUMN,
    meta_funcs=[func_type(W0, GH_BASIS), func_type(W2, GH_DIFF_BASIS)],
    gh_shape=GH_QUADRATURE_XYOZ,
)
def project_type(
    new: field[GH_WRITE, W3],
    wind: field[GH_READ, W2, STENCIL(CROSS)],
    both: field[GH_INC, W0],
    mass: operator[GH_READ, W3, W2],
    chi: field[3, GH_READ, W0],
    step: scalar[GH_REAL, GH_READ],
    count: scalar[GH_INTEGER, GH_READ],
):
"""
IN_FORTRAN = """\
module project_mod
  type, extends(kernel_type) :: project_type
    type(arg_type) :: meta_args(7) = (/ &
      arg_type(gh_field, gh_real, gh_write, w3), &
      arg_type(gh_field, gh_real, gh_read, w2, stencil(cross)), &
      arg_type(gh_field, gh_real, gh_inc, w0), &
      arg_type(gh_operator, gh_real, gh_read, w3, w2), &
      arg_type(gh_field*3, gh_real, gh_read, w0), &
      arg_type(gh_scalar, gh_real, gh_read), &
      arg_type(gh_scalar, gh_integer, gh_read) /)
    type(func_type) :: meta_funcs(2) = (/ func_type(w0, gh_basis), func_type(w2, gh_diff_basis) /)
    integer :: gh_shape = gh_quadrature_xyoz
    integer :: operates_on = cell_column
  contains
    procedure, nopass :: project_code
  end type
contains
  subroutine project_code()
  end subroutine
end module
"""


def kernel_of(text: str, name: str) -> Kernel:
    parsed = read_python_kernel(LFRIC_WORDS, SourceText("project_mod.py", text), name)
    return interpret_lfric(parsed, SETTINGS)


def code_of(body: str, head: str = PROJECT, name: str = "project_type") -> Routine:
    text = head + "".join(f"    {line}\n" for line in body.splitlines())
    source = SourceText("project_mod.py", text)
    parsed = read_python_kernel(LFRIC_WORDS, source, name)
    return read_python_body(
        LFRIC_WORDS, source, parsed.procedure, LFRIC.dummies(kernel_of(text, name))
    )


def statements(body: str, **more: str) -> list[str]:
    """Return the statements of a body, as Fortran has them."""
    lines = [line.strip().replace("_r_def", "") for line in emit_code(code_of(body, **more))]
    start = max(at for at, line in enumerate(lines) if "::" in line) + 1
    text = " ".join(lines[start:-1]).replace("& ", "")
    return text.replace(" end do", "").replace(" do ", "|do ").split("|")


def refusals(body: str, **more: str) -> list[tuple[str, str]]:
    """Return the code of each problem and the text at its place."""
    with pytest.raises(CompileError) as caught:
        code_of(body, **more)
    return [(one.code, one.span.text if one.span else "") for one in caught.value.problems]


def test_metadata_are_those_of_fortran() -> None:
    parsed = fortran.read_kernel(SourceText("project_mod.f90", IN_FORTRAN), "project_type")
    assert kernel_of(PROJECT + "    return\n", "project_type") == interpret_lfric(parsed, SETTINGS)


def test_loops_and_elements_are_those_of_fortran() -> None:
    body = "for k in layers():\n    for df in dofs(W3):\n        new[df, k] = 0.5 * step"
    assert statements(body) == [
        "do k = 0, nlayers - 1", "do df = 1, ndf_w3 new(map_w3(df) + k) = 0.5 * step",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("element", "fortran"),
    [
        ("wind[0, 0]", "wind(map_w2(1))"),
        ("wind[n, k + 1]", "wind(map_w2(n + 1) + k + 1)"),
        ("wind[n - 1, k]", "wind(map_w2(n) + k)"),
        ("wind[0, k, n]", "wind(field_2_stencil_map(1, n + 1) + k)"),
        ("mass[0, n, k]", "mass((cell - 1) * nlayers + k + 1, 1, n + 1)"),
        ("chi[2, 0, k]", "chi_3(map_w0(1) + k)"),
        ("basis(W0)[0, n, 1, 2]", "basis_w0_qr_xyoz(1, n + 1, 2, 3)"),
        ("diff_basis(W2)[0, 0, 0, 0]", "diff_basis_w2_qr_xyoz(1, 1, 1, 1)"),
        ("weights_xy()[n] * weights_z()[0]",
         "weights_xy_qr_xyoz(n + 1) * weights_z_qr_xyoz(1)"),
        ("float(len(layers()))", "real(nlayers, r_def)"),
        ("float(len(dofs(W2)) + len(neighbours(wind)))",
         "real(ndf_w2 + field_2_stencil_size, r_def)"),
    ],
)  # fmt: skip
def test_what_elements_mean(element: str, fortran: str) -> None:
    found = statements(f"n = count\nk = 2\nnew[0, 0] = {element}")
    assert found[0].rpartition(" = ")[2] == fortran


def test_counters_of_dofs_have_their_value_in_python() -> None:
    found = statements("for df in dofs(W3):\n    new[df - 1 + 1, 0] = float(2 * df)")
    assert found == ["do df = 1, ndf_w3 new(map_w3(df)) = real(2 * (df - 1), r_def)"]


def test_loops_backwards_and_over_points() -> None:
    found = statements(
        "for k in reversed(layers()):\n    for q in points_xy():\n        new[0, k] = 1.0"
    )
    inner = "do q = 1, np_xy_qr_xyoz new(map_w3(1) + k) = 1.0"
    assert found[:2] == ["do k = nlayers - 1, 0, -1", inner]


def test_what_is_written_may_be_read_behind_it() -> None:
    assert statements("new[0, 0] = 1.0\nnew[0, 0] += step")
    assert refusals("new[0, 0] += step") == [("M206", "new[0, 0]")]
    assert statements("n = 1\nnew[n, 0] = 1.0\nn = 2\nnew[n, 0] += step")
    looped = "for k in layers():\n    a = new[0, k]\n    new[0, k] = a"
    assert refusals(looped) == [("M206", "new[0, k]")]
    assert refusals("if step > 0.0:\n    a = new[0, 1]\nelse:\n    new[0, 1] = 1.0")


@pytest.mark.parametrize(
    ("body", "code", "place"),
    [
        ("wind[0, 0] = 1.0", "M204", "wind[0, 0]"),
        ("new[0] = 1.0", "P051", "new[0]"),
        ("new[0, 0, 0] = 1.0", "P051", "new[0, 0, 0]"),
        ("new[0, 0] = chi[0, 0]", "P051", "chi[0, 0]"),
        ("new[0, 0] = chi[3, 0, 0]", "P051", "chi[3, 0, 0]"),
        ("new[0, 0] = chi[count, 0, 0]", "P051", "chi[count, 0, 0]"),
        ("new[0, -1] = 1.0", "P051", "-1"),
        ("new[0, 0.5] = 1.0", "P054", "0.5"),
        ("new[0, 0] = wind", "P051", "wind"),
        ("new[0, 0] = step[0]", "P051", "step"),
        ("new[0, 0] = mass[0, 0]", "P051", "mass[0, 0]"),
        ("new[0, 0] = basis(W2)[0, 0, 0, 0]", "P051", "basis(W2)"),
        ("new[0, 0] = basis(W0)[0, 0]", "P051", "basis(W0)[0, 0]"),
        ("for k in layers():\n    k = 3", "P051", "k"),
        ("for df in dofs(W1):\n    new[df, 0] = 1.0", "P051", "dofs(W1)"),
        ("for df in neighbours(new):\n    new[0, 0] = 1.0", "P051", "neighbours(new)"),
        ("new[0, 0] = missing", "P053", "missing"),
        ("new[0, 0] = step > 0.0", "P054", "new[0, 0]"),
    ],
)  # fmt: skip
def test_refusals(body: str, code: str, place: str) -> None:
    assert refusals(body) == [(code, place)]


def test_all_problems_are_told_at_once() -> None:
    assert len(refusals("wind[0, 0] = 1.0\nnew[0] = 1.0\nnew[0, 0] = missing")) == 3


DOFS = f"""{HEAD}\
@kernel(operates_on=DOF)
def scale_type(y: field[GH_READWRITE, W3], x: field[2, GH_READ, W3], a: scalar[GH_REAL, GH_READ]):
"""
DOMAIN_HEAD = f"""{HEAD}\
@kernel(operates_on=DOMAIN)
def fill_type(y: field[GH_READWRITE, W3]):
"""
GRIDS = f"""{HEAD}\
@kernel(operates_on=CELL_COLUMN)
def restrict_type(
    coarse: field[GH_WRITE, ANY_DISCONTINUOUS_SPACE_1, GH_COARSE],
    fine: field[GH_READ, ANY_DISCONTINUOUS_SPACE_2, GH_FINE],
):
"""


def test_a_field_is_no_number_in_kernels_for_dofs() -> None:
    head = DOFS.replace("@kernel(operates_on=DOF)", "def double(v):\n    return 2.0 * v\n\n\n"
                        "@kernel(operates_on=DOF)")  # fmt: skip
    assert refusals("y[0] = double(y)", head=head, name="scale_type") == [("P051", "v")]
    assert refusals("y[0] = y * 2.0", head=DOFS, name="scale_type") == [("P051", "y")]
    found = statements("y[0] = double(y[0])", head=head, name="scale_type")
    assert found == ["double_v = y y = (2.0 * double_v)"]


def test_kernels_for_dofs_domains_and_two_meshes() -> None:
    assert statements("y[0] = a * x[1, 0]", head=DOFS, name="scale_type") == ["y = a * x_2"]
    found = statements(
        "for cell in cells():\n    y[0, 1, cell] = 2.0", head=DOMAIN_HEAD, name="fill_type"
    )
    assert found == ["do cell = 1, ncell_2d_no_halos y(map_w3(1, cell) + 1) = 2.0"]
    found = statements(
        "coarse[0, 0] = 0.0\nfor i in fine_cells_x():\n    coarse[0, 0] += fine[0, 0, i, 0]",
        head=GRIDS,
        name="restrict_type",
    )
    assert found[1].endswith("+ fine(map_any_discontinuous_space_2(1, cell_map(i, 1)))"), found


ARRAYS = """
import numpy as np


@kernel(operates_on=CELL_COLUMN)
def gather(new: field[GH_WRITE, W3], old: field[GH_READ, W3], n: scalar[GH_INTEGER, GH_READ]):
"""


def refusal(body: list[str]) -> tuple[str, str]:
    """Return the code of what is wrong with a body, and what its message says."""
    text = SourceText(
        "gather.py", HEAD.rstrip() + "\n" + ARRAYS + "\n".join(f"    {line}" for line in body)
    )
    parsed = read_python_kernel(LFRIC_WORDS, text, "gather")
    with pytest.raises(CompileError) as caught:
        read_python_body(
            LFRIC_WORDS, text, parsed.procedure, LFRIC.dummies(LFRIC.interpret(parsed, SETTINGS))
        )
    (problem,) = caught.value.problems
    assert problem.span is not None
    assert problem.hint or problem.code == "P054"
    return problem.code, problem.message


@pytest.mark.parametrize(
    ("body", "code", "said"),
    [
        (["a = np.zeros(-1)"], "P054", "no extent that is known"),
        (["a = np.zeros(2.0)"], "P054", "no extent that is known"),
        (["m = n", "a = np.zeros(m)"], "P054", "no extent that is known"),
        (["for k in layers():", "    a = np.zeros(k)"], "P054", "no extent that is known"),
        (["a = np.zeros(())"], "P051", "one to 7 dimensions"),
        (["a = np.zeros()"], "P051", "no extents"),
        (["a = np.zeros(3, dtype=np.float32)"], "P051", "of single precision"),
        (["a = np.zeros(3, dtype=np.int64)"], "P051", "is no argument for arrays"),
        (["a = np.zeros(3, order='F')"], "P051", "is no argument for arrays"),
        (["new[0, 0] = np.zeros(3)"], "P051", "cannot be an array"),
        (["old = np.zeros(3)"], "P051", "cannot be an array"),
        (["a = 1.0", "a = np.zeros(3)"], "P054", "other extents"),
        (["a = np.zeros(3)", "a = np.zeros(4)"], "P054", "other extents"),
        (["a = np.zeros(3)", "a = 1.0"], "P054", "is given a number"),
        (["a = np.zeros(3)", "new[0, 0] = a"], "P051", "whole arrays"),
        (["a = np.zeros(3)", "b = a"], "P051", "whole arrays"),
        (["a = np.zeros(3)", "new[0, 0] = a[3]"], "P051", "behind the last"),
        (["a = np.zeros(3)", "new[0, 0] = a[-1]"], "P051", "is negative"),
        (["a = np.zeros(3)", "new[0, 0] = a[0, 0]"], "P051", "1 dimensions"),
        (["a = np.zeros(3)", "new[0, 0] = a[0:2]"], "P051", "Slices here are not supported"),
        (["a = np.zeros(3, dtype=int)", "a[0] = 1.5"], "P054", "is given a real number"),
        (["if n > 1:", "    a = np.zeros(3)", "new[0, 0] = a[0]"], "P053", "may have no value"),
    ],
)  # fmt: skip
def test_arrays_that_a_kernel_cannot_have(body: list[str], code: str, said: str) -> None:
    found, message = refusal(body)
    assert found == code
    assert said in message


def test_a_number_that_is_passed_may_stand_where_nothing_comes_to() -> None:
    head = (
        "def below(x, a, k):\n"
        "    if k > 0:\n        return x[0, k - 1] + a[k - 3]\n"
        "    return a[k + 9] if k < -9 else x[0, k]\n\n\n"
    )
    found = statements(
        "a = np.zeros(2)\nnew[0, 0] = below(wind, a, 0)",
        head=f"import numpy as np\n{PROJECT.replace(HEAD, HEAD + head)}",
    )
    assert "wind(map_w2(1) - 1) + a(modulo(0 - 3, 2) + 1)" in found[0]
    with pytest.raises(CompileError) as caught:
        code_of("a = np.zeros(2)\na[0 - 1] = 0.0\na[1 + 1] = 1.0", f"import numpy as np\n{PROJECT}")
    assert [one.span.text for one in caught.value.problems if one.span] == ["0 - 1", "1 + 1"]


def test_functions_see_words_and_arrays_by_their_own_names() -> None:
    head = (
        "import psyclone_storage.lfric as api\n"
        "from psyclone_storage.lfric import dofs as each\n"
        "LEAST = 2\n\n\n"
        "def filled(out, value):\n"
        "    for row in each(W3):\n"
        "        for k in api.layers():\n            out[row, k] = value\n\n\n"
        "def sum_of(v, part, k):\n"
        "    total = 0.0\n"
        "    for df in each(W0):\n        total += v[0, df, k] * basis(W0)[0, df, part, 0]\n"
        "    return total\n\n\n"
        "def near(x, k):\n"
        "    work = np.zeros(len(neighbours(x)) + LEAST)\n"
        "    for s in neighbours(x):\n        work[s] = x[0, k, s]\n"
        "    put_first(work, 1)\n"
        "    return work[0]\n\n\n"
        "def put_first(a, n):\n    a[0] = a[n] + LEAST\n\n\n"
    )
    body = "filled(new, step)\nfor d in dofs(W3):\n"
    body += "    new[d, 0] = sum_of(chi, d, d + 1) + near(wind, 0)"
    found = statements(body, head=f"import numpy as np\n{PROJECT.replace(HEAD, HEAD + head)}")
    assert found[:3] == [
        "do filled_row = 1, ndf_w3",
        "do filled_k = 0, nlayers - 1 new(map_w3(filled_row) + filled_k) = step",
        "do d = 1, ndf_w3 sum_of_total = 0.0",
    ]
    assert found[3].split(" ", 5)[5] == (
        "sum_of_total = sum_of_total + chi_1(map_w0(sum_of_df) + d - 1 + 1)"
        " * basis_w0_qr_xyoz(1, sum_of_df, d, 1) sum_of_value = sum_of_total near_work = 0.0"
    )
    assert found[4].split(" ", 5)[5] == (
        "near_work(modulo(near_s - 1, field_2_stencil_size + LEAST) + 1) ="
        " wind(field_2_stencil_map(1, near_s))"
        " near_work(modulo(0, field_2_stencil_size + LEAST) + 1) ="
        " near_work(modulo(1, field_2_stencil_size + LEAST) + 1) + LEAST"
        " near_value = near_work(modulo(0, field_2_stencil_size + LEAST) + 1)"
        " new(map_w3(d)) = sum_of_value + near_value"
    )


# ---------------------------------------------------------------------------- indices out of range

EACH_LAYER = "for k in layers():\n    "
EACH_DOF = "for df in dofs(W3):\n    "
OUT_OF_RANGE = [
    (EACH_LAYER + "new[0, k] = wind[0, k - 1]", "k - 1"),
    (EACH_LAYER + "new[0, k - 2] = 1.0", "k - 2"),
    (EACH_LAYER + "new[0, k] = wind[k - 1, 0]", "k - 1"),
    ("for k in reversed(layers()):\n    new[0, k - 1] = 1.0", "k - 1"),
    (EACH_LAYER + "new[0, k] = mass[0, 0, k + 1]", "k + 1"),
    (EACH_LAYER + "new[0, k] = wind[0, k, k - 1]", "k - 1"),
    (EACH_DOF + "new[df + 1, 0] = 1.0", "df + 1"),
    (EACH_DOF + "new[df - 1, 0] = 1.0", "df - 1"),
    (EACH_DOF + "new[len(dofs(W3)) - df, 0] = 1.0", "len(dofs(W3)) - df"),
    (EACH_DOF + "new[df, 0] = mass[df + 2, 0, 0]", "df + 2"),
    ("for e in dofs(W2):\n    new[0, 0] = mass[0, e + 1, 0]", "e + 1"),
    ("for e in dofs(W2):\n    new[0, 0] = diff_basis(W2)[0, e + 1, 0, 0]", "e + 1"),
    ("for q in points_xy():\n    new[0, 0] = weights_xy()[q + 1]", "q + 1"),
    ("for s in neighbours(wind):\n    new[0, 0] = wind[0, 0, s + 1]", "s + 1"),
    ("new[len(dofs(W3)), 0] = 1.0", "len(dofs(W3))"),
    ("new[0, 0] = basis(W0)[1, 0, 0, 0]", "1"),
    ("for i in range(3):\n    new[0, 2 - 2 * i] = 1.0", "2 - 2 * i"),
    ("a = np.zeros(3)\nfor i in range(4):\n    a[i] = 1.0\nnew[0, 0] = a[0]", "i"),
    ("a = np.zeros(5)\nfor i in range(0, 6, 2):\n    a[i + 1] = 1.0\nnew[0, 0] = a[0]", "i + 1"),
    ("a = np.zeros(len(layers()))\nfor k in layers():\n    a[k + 1] = step", "k + 1"),
    ("a = np.zeros((3, 3))\nfor i in range(3):\n    for j in range(3):\n        a[0, i + j] = 1.0",
     "i + j"),
]  # fmt: skip
IN_RANGE = [
    EACH_LAYER + "if k > 0:\n        new[0, k] = wind[0, k - 1]",
    EACH_LAYER + "if k > 0:\n        pass\n    else:\n        new[0, k] = wind[0, k - 1]",
    EACH_LAYER + "new[0, k] = wind[0, k - 1] if k > 0 else 0.0",
    EACH_LAYER + "new[0, k] = np.where(k > 0, wind[0, k - 1], 0.0)",
    EACH_LAYER + "if k > 0 and wind[0, k - 1] > 0.0:\n        new[0, k] = 1.0",
    EACH_LAYER + "if k == 0:\n        continue\n    new[0, k] = wind[0, k - 1]",
    "for k in reversed(layers()):\n    if k == 0:\n        break\n    new[0, k] = wind[0, k - 1]",
    "if step > 0.0:\n    return\nfor k in layers():\n    new[0, k] = wind[0, k - 1]",
    "for k in range(1, len(layers())):\n    new[0, k] = wind[0, k - 1]",
    "for k in range(count):\n    new[0, k] = wind[0, k - 1]",
    EACH_LAYER + "new[0, k] = wind[0, k + 1]",
    EACH_LAYER + "new[0, k] = wind[0, k + count]",
    EACH_LAYER + "n = k - 1\n    new[0, k] = wind[0, n + 1]",
    EACH_DOF + "new[len(dofs(W3)) - 1 - df, 0] = mass[df, 0, 0]",
    "for s in neighbours(wind):\n    new[0, 0] = wind[0, 0, s]",
    "a = np.zeros(6)\nfor i in range(0, 6, 2):\n    a[i + 1] = 1.0\nnew[0, 0] = a[0]",
    "a = np.zeros(len(layers()) + 1)\nfor k in layers():\n    a[k + 1] = step\nnew[0, 0] = a[0]",
    "a = np.zeros(3)\nfor i in range(len(layers())):\n    a[i] = 1.0\nnew[0, 0] = a[0]",
]
WITH_NUMPY = PROJECT.replace(HEAD, f"import numpy as np\n{HEAD}")


@pytest.mark.parametrize(("body", "place"), OUT_OF_RANGE)
def test_an_index_that_is_certainly_out_of_range_is_refused(body: str, place: str) -> None:
    assert refusals(body, head=WITH_NUMPY) == [("P051", place)]


@pytest.mark.parametrize("body", IN_RANGE)
def test_an_index_that_may_be_in_range_is_accepted(body: str) -> None:
    assert statements(body, head=WITH_NUMPY)


def test_a_message_says_how_an_index_is_out_of_range() -> None:
    with pytest.raises(CompileError) as caught:
        code_of("a = np.zeros((3, 3))\nfor i in range(3):\n    a[0, i + 2] = wind[0, i - 2]",
                head=WITH_NUMPY)  # fmt: skip
    assert [one.message for one in caught.value.problems] == [
        "'i - 2' is out of range: its lowest value is -2; indices start at 0.",
        "'i + 2' is out of range: it exceeds the length 3 by 1.",
    ]
