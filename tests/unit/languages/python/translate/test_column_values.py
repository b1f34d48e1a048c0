"""Kernels for columns in Python compute what the Fortran computes that they were made of."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from column_kernels import in_python, loaded, module_text

LAYERS, DOFS = 3, 4


def values(body: str, folder: Path) -> np.ndarray:
    """Return what a kernel writes: `y` is 0, `x` counts, `m` and `idx` are small."""
    x = [np.arange(12.0).reshape(DOFS, LAYERS) + 100.0 * part for part in (1, 2)]
    m = 0.5 + np.arange(12.0).reshape(1, DOFS, LAYERS)
    idx = np.array([[2, 1, 0]])
    return loaded(body, folder).small_type.at(np.zeros((1, LAYERS)), x, m, idx, 0.25)[0]


X1, X2 = (np.arange(12.0).reshape(DOFS, LAYERS) + 100.0 * part for part in (1, 2))
M = 0.5 + np.arange(12.0).reshape(DOFS, LAYERS)


@pytest.mark.parametrize(
    ("body", "wanted"),
    [
        ("integer :: k\ndo k = 0, nlayers-1\n y(map_w3(1)+k) = x_1(map_w0(2)+k) * a\nend do",
         X1[1] * 0.25),
        ("integer :: k\ndo k = 1, nlayers\n y(k - 1 + map_w3(1)) = x_2(k + map_w0(4) - 1)\nend do",
         X2[3]),
        ("integer :: k\ndo k = nlayers-1, 0, -1\n y(map_w3(1)+k) = k\nend do", [0.0, 1.0, 2.0]),
        ("integer :: k, ij\nij = map_w3(1)\ndo k = 0, nlayers-1\n y(ij+k) = idx(ij+k)\nend do",
         [2.0, 1.0, 0.0]),
        (("integer :: k, ik, df\ndo k = 0, nlayers-1\n ik = (cell-1)*nlayers + k + 1\n"
          "do df = 1, ndf_w0\n y(map_w3(1)+k) = y(map_w3(1)+k) + m(ik,1,df)*df\nend do\nend do"),
         np.array([1, 2, 3, 4]) @ M),
        (("integer :: k\ndo k = 0, nlayers-1\n y(map_w3(1)+k) = &\n"
          " dot_product(m(1 + nlayers*(cell-1) + k, 1, :), x_1(map_w0(:)+k))\nend do"),
         (M * X1).sum(0)),
        ("y(map_w3(1):map_w3(1)+nlayers-1) = x_1(map_w0(3):map_w0(3)+nlayers-1) + a",
         X1[2] + 0.25),
        (("integer :: k\nreal(r_def) :: b(0:nlayers), c(3, ndf_w0)\nb = a\nc(2, :) = 3\n"
          "do k = 0, nlayers-1\n b(k+1) = b(k) + c(2, ndf_w0) + c(1, 1)\n"
          " y(map_w3(1)+k) = b(k+1)\nend do"), [3.25, 6.25, 9.25]),
        (("integer :: k\nreal(r_def) :: v(3)\nlogical :: is_low(nlayers)\ninteger :: n(nlayers)\n"
          "v = (/ 1.0_r_def, 2.0_r_def, a /)\nis_low = .false.\nn(:) = 7\nis_low(2) = .true.\n"
          "do k = 0, nlayers-1\n if (is_low(k+1)) n(k+1) = 1\n y(map_w3(1)+k) = v(k+1)*n(k+1)\n"
          "end do"), [7.0, 2.0, 1.75]),
        (("integer :: k\nreal(r_def) :: t(2,2), u(2)\nt(1,:) = (/ 1.0_r_def, 2.0_r_def /)\n"
          "t(2,:) = 3.0_r_def\nu = matmul(t, t(:,1)) * 2.0_r_def\n"
          "do k = 0, nlayers-1\n y(map_w3(1)+k) = sum(t) + u(1) + 100*u(2)\nend do"),
         [9.0 + 14.0 + 2400.0] * 3),
        (("integer :: k, n\nn = 2\ndo k = 0, nlayers-1\n n = n - 1\n"
          " y(map_w3(1)+k) = x_1(map_w0(1) + max(n, 0))\nend do"), X1[0, [1, 0, 0]]),
        (("integer :: k, n, ij\nij = map_w3(1)\ndo k = 0, nlayers-1\n n = idx(ij + k)\n"
          " y(ij + k) = n + x_1(map_w0(1) + n)\nend do"), X1[0, [2, 1, 0]] + [2, 1, 0]),
        (("integer :: k\nreal(r_def) :: x(2), t(ndf_w0/2)\nx = a\nt = a\ndo k = 0, nlayers-1\n"
          " y(map_w3(1)+k) = x(1) + x_1(map_w0(1)+k) + t(2)\nend do"), X1[0] + 0.5),
        (("integer :: k\ninteger, parameter :: at(3) = (/ 3, 1, 2 /), off(0:2) = [-1, 0, 1]\n"
          "real(r_def), parameter :: part(3) = [0.5_r_def, 2.0_r_def, -1.0_r_def]\n"
          "do k = 0, nlayers-1\n"
          " y(map_w3(1)+k) = x_1(map_w0(at(k+1))) * part(at(k+1)) + off(k)\nend do"),
         [X1[2, 0] * -1.0 - 1.0, X1[0, 0] * 0.5, X1[1, 0] * 2.0 + 1.0]),
        ("y(map_w3(1)) = sum(x_1(map_w0(1):map_w0(1)+1)) / ndf_w0\ny(map_w3(1)+1) = nlayers/2",
         [201.0 / 4, 1.0, 0.0]),
        # What is read where it is written is computed first, whatever the order of elements.
        (("real(r_def) :: b(0:3), c(3)\nb(0) = 2*a\nb(1:3) = b(0:2) + a\nc = 1\nc(1) = 4\n"
          "c = c / c(1)\ny(map_w3(1):map_w3(1)+2) = b(1:3) + c\n"
          "y(map_w3(1)+1:map_w3(1)+2) = y(map_w3(1):map_w3(1)+1)"), [1.75, 1.75, 0.5]),
        (("integer :: n\nreal(r_def) :: b(nlayers), t(2,2)\nb = 3\nb(nlayers+1:) = b(nlayers:)\n"
          "b(2:nlayers-2) = b(1:nlayers-3) * 9\nt(:,1) = 1\nt(:,2) = 2\n"
          "t(1,1) = 5\nt = transpose(t)\nt = matmul(t, t)\n"
          "y(map_w3(1)) = t(1,2)\ny(map_w3(1)+1) = t(2,1) + 100*t(1,1)\ny(map_w3(1)+2) = sum(b)"),
         [7.0, 2714.0, 9.0]),
        (("integer :: n(-1:1), k\nreal(r_def) :: v(nlayers)\nn = [5, -3, 4]\n"
          "v = (/ a, 2.0_r_def, 3.0_r_def /)\nif (minval(n) == -3) then\n"
          "y(map_w3(1)) = maxval(abs(n)) + 10*size(n) + (minval(n(1:0)) - 2147483640)\n"
          "y(map_w3(1)+1) = dot_product(v, m((cell-1)*nlayers + 1, 1, 1:3)) + v(3)\nend if\n"
          "if (maxval(n(2:1)) < -2147483647) y(map_w3(1)+2) = 1"),
         [42.0, 0.125 + 7.0 + 19.5 + 3.0, 1.0]),
        (("integer :: k, ik\ninteger :: at(2,0:2) = reshape((/ 1, 2, 3, 4, 1, 2 /), (/ 2, 3 /))\n"
          "do k = 0, nlayers-1\nik = cell*nlayers + k + 1 - nlayers\n"
          "y(map_w3(1)+k) = m(ik, 1, at(2, k)) + size(at, 2) + size(at)\nend do"),
         M[[1, 3, 1], [0, 1, 2]] + 9.0),
        # A product within a sum is computed element by element.
        (("real(r_def) :: t(2,2), u(2)\nt(:,1) = (/ 1.0_r_def, 2.0_r_def /)\n"
          "t(:,2) = (/ 3.0_r_def, 5.0_r_def /)\nu = (/ a, 2.0_r_def /)\n"
          "y(map_w3(1)) = dot_product(matmul(t, u), matmul(t, u)) / 2.0_r_def\n"
          "y(map_w3(1)+1) = sum(matmul(t, t))"), [(6.25**2 + 10.5**2) / 2.0, 68.0, 0.0]),
        # What is no number is passed over, what is more than all numbers is not.
        (("real(r_def) :: b(4), far\nfar = huge(far)*10\nb = far - far\nb(2) = a\nb(3) = -7\n"
          "y(map_w3(1)) = minval(b) + maxval(b) + minval(b(3:)) / 2\nb(:3) = far\n"
          "if (minval(b) > huge(a)) y(map_w3(1)+1) = 1\n"
          "if (minval(b(1:0)) == huge(a)) y(map_w3(1)+1) = y(map_w3(1)+1) + 2\n"
          "if (maxval(-b) < -huge(a)) y(map_w3(1)+1) = y(map_w3(1)+1) + 4\n"
          "if (maxval(b(2:1)) == -huge(a)) y(map_w3(1)+1) = y(map_w3(1)+1) + 8\n"
          "if (minval(b(4:)) /= maxval(b(4:))) y(map_w3(1)+2) = 1"), [-10.25, 15.0, 1.0]),
        # Of two nearest numbers the one that is farther from zero; never the sum rounded.
        (("integer :: n\nn = nint(-2*a) + 10*nint(10*a, i_def)\ny(map_w3(1)) = n\n"
          "y(map_w3(1)+1) = nint(0.5_r_def - epsilon(a)/4)\n"
          "n = nint(-2.49_r_def) + 7*nint(0.5)\ny(map_w3(1)+2) = n"), [29.0, 0.0, 5.0]),
        (("y(map_w3(1)) = 3_8\ny(map_w3(1)+1) = a * (-280_8) + int(7_8) / 2\n"
          "if (2147483647_8 > a) y(map_w3(1)+2) = max(3_8, 4_8)"),
         [3.0, -67.0, 4.0]),
        # A value is asked for that Fortran gives in another turn of the loop.
        (("integer :: k\nreal(r_def) :: below\ndo k = 0, nlayers-1\n"
          "if (k > 0) y(map_w3(1)+k) = below\nbelow = x_1(map_w0(1)+k)\nend do"),
         [0.0, *X1[0, :2]]),
        (("integer :: low, high\nlow = map_w3(1)\nhigh = low + nlayers - 1\n"
          "y(low:high) = x_1(map_w0(2):map_w0(2)+nlayers-1) + a"), X1[1] + 0.25),
    ],
)  # fmt: skip
def test_values(body: str, wanted: object, tmp_path: Path) -> None:
    np.testing.assert_array_equal(values(body, tmp_path), wanted)


REFUSED = [
    (
        "real(r_def) :: t(2,2), u(2)\nt = a\nu = a\nu = matmul(t, matmul(t, u))\ny(map_w3(1)) = 1",
        "used as a whole",
    ),
    (
        "real(r_def) :: t(2,2), u(2)\nt = a\nu = matmul(t(1,:), t)\ny(map_w3(1)) = u(1)",
        "used as a whole",
    ),
    ("real(r_def) :: t(2,2), u(2)\nt = a\nu = t\ny(map_w3(1)) = u(1)", "used as a whole"),
    (
        "real(r_def) :: t(2,2), u(2)\nt = a\nu = matmul(t, t)\ny(map_w3(1)) = u(1)",
        "used as a whole",
    ),
    (
        "real(r_def) :: t(2,2), u(2)\nt = a\nu = matmul(transpose(t), t(1,:))\ny(map_w3(1)) = u(1)",
        "which terms of a transposed matrix are added first is the compiler's choice",
    ),
    ("y(map_w3(1)) = 2147483648_8", "no number of a kernel"),
    ("y(map_w3(1)) = 3_8 - 4_8", "integers of 8 bytes"),
    ("y(map_w3(1)) = mod(7_8, 4_8)", "no such"),
    ("y(map_w3(1)) = a**3_8", "integers of 8 bytes"),
    ("y(map_w3(1)) = nlayers + 1_8", "integers of several sizes"),
    ("y(map_w3(1)) = nint(nlayers)", "no real number"),
    ("y(map_w3(1)) = 3 + 10*nint(10*a)", "more bits than real numbers and whole ones have"),
    ("y(map_w0(1)) = 1.0", "which dof of which layer"),
    ("y(1) = 1.0", "which dof of which layer"),
    ("y(map_w3()) = 1.0", "which dof of which layer"),
    ("y(map_w3(1)) = cell", "Python hides"),
    ("y(map_w3(1)) = map_w3(1)", "kernels in Python do not know"),
    ("y(map_w3(1)) = undf_w0", "Python hides"),
    ("y(map_w3(1)) = m(1, 1, 1)", "which layer of the cell's matrix"),
    ("y(map_w3(1)) = m(cell*nlayers, 1, 1)", "which layer of the cell's matrix"),
    ("integer :: k, ij\nk = 0\nij = map_w3(1) + k\nk = 1\ny(ij) = 1.0", "tells where"),
    (
        "integer :: ij\nij = map_w3(1)\nif (a > 0) ij = map_w3(1) + 1\ny(ij) = 1.0",
        "tells where",
    ),
    (
        "integer :: ij, k\nij = map_w3(1)\ndo k = 1, 2\ny(ij) = 1.0\nij = ij + 1\nend do",
        "tells where",
    ),
    (
        (
            "integer :: ij, k\nij = 3\ndo k = 0, nlayers-1\ny(map_w3(1)+k) = ij\n"
            "ij = map_w3(1)+k\nend do"
        ),
        "tells where",
    ),
    (
        (
            "integer :: ij, n, k\nn = 3\ndo k = 0, nlayers-1\ny(map_w3(1)+k) = n\n"
            "if (k == 1) n = ij\nij = map_w3(1)\nend do"
        ),
        "tells where",
    ),
    ("integer :: n(2), ij\nn(1) = 0\nij = map_w3(1) + n(1)\nn(1) = 1\ny(ij) = 1.0", "tells where"),
    (
        (
            "real(r_def) :: b(3)\ninteger :: n\nn = idx(map_w3(1))\nb = a\n"
            "b(2:n) = b(1:n-1)\ny(map_w3(1)) = b(3)"
        ),
        "other elements of 'b' are read where it is written, and it is not known",
    ),
    (
        (
            "real(r_def) :: t(2,2), u(2)\nt = a\nu = a\nu = matmul(transpose(t), u)\n"
            "y(map_w3(1)) = u(1)"
        ),
        "the compiler's choice",
    ),
    (
        ("integer :: n(2) = [1, 2]\nn(1) = n(1) + 1\ny(map_w3(1)) = n(1)"),
        "kernels in Python do not know",
    ),
    (
        "integer :: n(2, 2) = reshape([1, 2], [2, 2], [0])\ny(map_w3(1)) = n(1, 1)",
        "kernels in Python do not know",
    ),
    ("real(r_def) :: b(3)\nb = a\nb = b(3:1:-1)\ny(map_w3(1)) = b(3)", "a section has a step"),
    (
        (
            "real(r_def) :: b(4)\nb = a\nif (nlayers < 4 .and. sum(b(1:nlayers)) > a) b(1) = 2\n"
            "y(map_w3(1)) = b(1)"
        ),
        "only if what stands before",
    ),
    ("real(r_def), save :: b(3)\nb(1) = a\ny(map_w3(1)) = b(1)", "kernels in Python do not know"),
    ("real(r_def), allocatable :: b(:)\nallocate(b(3))\ny(map_w3(1)) = b(1)", "no words"),
    ("real :: b(3)\nb(1) = 1.0\ny(map_w3(1)) = b(1)", "real of 4 bytes"),
    ("integer :: k\ndo k = 1, 3\nif (a > k) exit\nend do\ny(map_w3(1)) = k", "may have no value"),
    ("x_1(map_w0(1)) = a", "is only read"),
    (
        "integer, parameter :: n(2) = [1, 3]\nreal(r_def) :: b(n(2))\nb = a\ny(map_w3(1)) = n(1)",
        "kernels in Python do not know",
    ),
    (
        "integer :: k\ninteger, parameter :: n(2) = [(k, k = 1, 2)]\ny(map_w3(1)) = n(int(a))",
        "G006",
    ),
]


@pytest.mark.parametrize(("body", "why"), REFUSED)
def test_what_is_not_certain_is_refused_at_its_line(body: str, why: str, tmp_path: Path) -> None:
    said = in_python(module_text(body), tmp_path)
    assert said.startswith("error[G006]")
    assert why in said
    assert "--> small_mod.f90:" in said
    assert "hint: " in said


@pytest.mark.parametrize(
    ("declared", "instead", "used", "why"),
    [
        ("y(undf_w3)", "y(0:undf_w3-1)", "y(map_w3(1)+k-1) = a", "'y' begins at 0, not at 1"),
        ("map_w3(ndf_w3)", "map_w3(0:ndf_w3-1)", "y(map_w3(0)+k) = a", "'map_w3' begins at 0"),
        ("map_w3(ndf_w3)", "map_w3(cell:)", "y(map_w3(1)+k) = a", "'map_w3' begins at cell"),
        ("m(ncell_3d, ndf_w3, ", "m(ncell_3d, 2:ndf_w3+1, ",
         "y(map_w3(1)+k) = m((cell-1)*nlayers+k+1, 2, 1)", "'m' begins at 2, not at 1"),
        ("real(r_def), intent(inout) :: y(undf_w3)", "real(r_def), pointer, intent(in) :: y(:)",
         "y(map_w3(1)+k) = a", "'y' is pointer"),
    ],
)  # fmt: skip
def test_arguments_begin_at_one(
    declared: str, instead: str, used: str, why: str, tmp_path: Path
) -> None:
    body = f"integer :: k\ndo k = 0, nlayers-1\n{used}\nend do"
    said = in_python(module_text(body).replace(declared, instead), tmp_path)
    assert said.startswith("error[G006]")
    assert why in said


def test_metadata_that_do_not_describe_the_arguments(tmp_path: Path) -> None:
    text = module_text("y(map_w3(1)) = a").replace("m, idx, a, &", "m, idx, &")
    said = in_python(text, tmp_path)
    assert "takes 14 arguments, and its metadata ask for 15" in said


def test_what_is_written_reads_like_a_kernel(tmp_path: Path) -> None:
    body = "integer :: k, df\ndo k = 0, nlayers-1\ndo df = 1, ndf_w3\n"
    body += "y(map_w3(df)+k) = df + x_2(map_w0(df)+k)\nend do\nend do"
    made = in_python(module_text(body), tmp_path)
    head = [
        "@kernel(operates_on=CELL_COLUMN)",
        "def small_type(",
        "    y: field[GH_READWRITE, W3],",
        "    x: field[2, GH_READ, W0],",
        "    m: operator[GH_READ, W3, W0],",
        "    idx: field[GH_INTEGER, GH_READ, W3],",
        "    a: scalar[GH_READ],",
        "):",
    ]
    lines = ["    for k in layers():", "        for df in dofs(W3):"]
    lines.append("            y[df, k] = df + 1 + x[1, df, k]")
    assert "\n".join([*head, *lines]) in made
