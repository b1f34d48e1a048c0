"""Kernels in Python with columnwise operators and stencils of operators: their typed code."""

from __future__ import annotations

import pytest

from properties.python_columns import codes_of
from psyclone_storage.base.diagnostic import CompileError
from unit.languages.python.parse.test_columns import HEAD, refusals, statements

ASSEMBLY = f"""{HEAD}\
@kernel(operates_on=CELL_COLUMN)
def assemble_type(
    m: columnwise_operator[GH_READWRITE, W3, WTHETA],
    local: operator[GH_READ, W3, WTHETA],
    n: scalar[GH_INTEGER, GH_READ],
):
"""
APPLY = f"""{HEAD}\
@kernel(operates_on=CELL_COLUMN)
def apply_type(
    y: field[GH_WRITE, ANY_DISCONTINUOUS_SPACE_1],
    x: field[GH_READ, ANY_DISCONTINUOUS_SPACE_2],
    m: columnwise_operator[GH_READ, ANY_DISCONTINUOUS_SPACE_1, ANY_DISCONTINUOUS_SPACE_2],
):
"""
AROUND = f"""{HEAD}\
@kernel(operates_on=CELL_COLUMN)
def around_type(
    y: field[GH_WRITE, W3],
    near: operator[GH_READ, W3, W2, STENCIL(CROSS)],
    apart: operator[GH_READ, W3, W3, STENCIL(CROSS2D)],
    own: operator[GH_READ, W3, W3],
):
"""


@pytest.mark.parametrize(
    ("body", "fortran"),
    [
        ("m[0, n] = local[0, 0, 0]", "m(1, n + 1, cell) = local((cell - 1) * nlayers + 1, 1, 1)"),
        ("m[n - 1, 0] += 1.0", "m(n, 1, cell) = real(m(n, 1, cell), r_def) + 1.0"),
        ("for i in rows(m):\n    m[0, i] = 2.0",
         "do i = 1, cma_op_1_nrow m(1, i, cell) = 2.0"),
        ("for j in reversed(columns(m)):\n    m[j, 0] = 2.0",
         "do j = cma_op_1_ncol, 1, -1 m(j, 1, cell) = 2.0"),
        ("for b in bands(m):\n    m[b, 0] = float(len(bands(m)))",
         "do b = 1, cma_op_1_bandwidth m(b, 1, cell) = real(cma_op_1_bandwidth, r_def)"),
        ("m[0, banded_dofs(W3)[0, n] + 1] = 1.0",
         "m(1, cbanded_map_w3(1, n + 1) + 1, cell) = 1.0"),
        ("m[0, 0] = float(band_alpha(m) * banded_dofs(WTHETA)[1, 2] - band_gamma_p(m))",
         "real((cma_op_1_alpha * (cbanded_map_wtheta(2, 3) - 1)) - cma_op_1_gamma_p, r_def)"),
        ("m[0, 0] = float(band_beta(m) + band_gamma_m())",
         "m(1, 1, cell) = real(cma_op_1_beta + cma_op_1_gamma_m, r_def)"),
    ],
)  # fmt: skip
def test_matrices_of_columns_are_assembled(body: str, fortran: str) -> None:
    assert statements(body, head=ASSEMBLY, name="assemble_type")[-1].endswith(fortran)


def test_matrices_of_columns_are_applied() -> None:
    space = "ANY_DISCONTINUOUS_SPACE"
    body = (
        f"for i in rows(m):\n    y[0, column_dofs({space}_1)[i]] = m[0, i] * "
        f"x[0, column_dofs({space}_2)[len(columns(m)) - 1]]"
    )
    found = statements(body, head=APPLY, name="apply_type")[-1]
    assert found.endswith(
        "do i = 1, cma_op_3_nrow y(map_any_discontinuous_space_1(1) + "
        "cma_indirection_map_any_discontinuous_space_1(i) - 1) = real(m(1, i, cell), r_def) * "
        "x(map_any_discontinuous_space_2(1) + "
        "cma_indirection_map_any_discontinuous_space_2(cma_op_3_ncol) - 1)"
    )


SPACE = "ANY_DISCONTINUOUS_SPACE"
COARSE = f"coarse: field[GH_READ, {SPACE}_1, GH_COARSE]"
FINE = f"fine: field[GH_READ, {SPACE}_2, GH_FINE]"


@pytest.mark.parametrize(
    ("args", "refused"),
    [
        ([f"m: columnwise_operator[GH_READ, {SPACE}_1, {SPACE}_2]",
          COARSE.replace("READ", "WRITE"), FINE], ["M035 columnwise_operator"]),
        (["m: columnwise_operator[GH_WRITE, W3, W3]", "own: operator[GH_READ, W3, W3]", COARSE,
          FINE], ["M035 columnwise_operator", "M035 operator"]),
        (["m: columnwise_operator[GH_WRITE, W3, W3]", "other: columnwise_operator[GH_READ, W3, W3]",
          COARSE], ["M033 field", "M034 field", "M035 columnwise_operator",
                    "M035 columnwise_operator"]),
    ],
)  # fmt: skip
def test_matrices_of_columns_are_of_one_mesh(args: list[str], refused: list[str]) -> None:
    text = "".join(f"    {one},\n" for one in args)
    head = f"{HEAD}@kernel(operates_on=CELL_COLUMN)\ndef work_type(\n{text}):\n    pass\n"
    with pytest.raises(CompileError) as caught:
        codes_of(head)
    found = [(one.code, one.span.text) for one in caught.value.problems if one.span]
    assert sorted(f"{code} {place.partition('[')[0]}" for code, place in found) == refused


@pytest.mark.parametrize(
    ("element", "fortran"),
    [
        ("near[0, 1, 2]", "near((cell - 1) * nlayers + 2 + 1, 1, 2)"),
        ("near[0, 1, 2, 3]", "near((op_2_stencil_cells(4) - 1) * nlayers + 2 + 1, 1, 2)"),
        ("apart[0, 0, 2, 3, 1]", "apart((op_3_stencil_cells(4, 2) - 1) * nlayers + 2 + 1, 1, 1)"),
        ("float(len(neighbours(near)))", "real(op_2_stencil_size, r_def)"),
        ("float(len(neighbours(apart, 3)))", "real(op_3_stencil_size(4), r_def)"),
    ],
)
def test_operators_are_looked_at_around_a_cell(element: str, fortran: str) -> None:
    found = statements(f"y[0, 0] = {element}", head=AROUND, name="around_type")
    assert found[-1].rpartition(" = ")[2] == fortran


@pytest.mark.parametrize(
    ("body", "place", "head"),
    [
        ("m[0, 0, 0] = 1.0", "m[0, 0, 0]", ASSEMBLY),
        ("m[0] = 1.0", "m[0]", ASSEMBLY),
        ("m[0, 0] = float(band_alpha(local))", "band_alpha(local)", ASSEMBLY),
        ("m[0, 0] = float(column_dofs(W3)[0])", "column_dofs(W3)", ASSEMBLY),
        ("m[0, 0] = float(banded_dofs()[0, 0])", "banded_dofs()", ASSEMBLY),
        ("m[0, 0] = float(banded_dofs(W3)[0])", "banded_dofs(W3)[0]", ASSEMBLY),
        ("for i in layers():\n    y[0, i] = 1.0", "layers()", APPLY),
        ("y[0, 0] = near[0, 0, 0, 0, 0]", "near[0, 0, 0, 0, 0]", AROUND),
        ("y[0, 0] = apart[0, 0, 0, 0]", "apart[0, 0, 0, 0]", AROUND),
        ("y[0, 0] = own[0, 0, 0, 0]", "own[0, 0, 0, 0]", AROUND),
        ("for s in neighbours(own):\n    y[0, 0] = 1.0", "neighbours(own)", AROUND),
    ],
)
def test_what_is_no_element_of_a_matrix(body: str, place: str, head: str) -> None:
    name = head.partition("def ")[2].partition("(")[0]
    assert refusals(body, head=head, name=name) == [("P051", place)]
