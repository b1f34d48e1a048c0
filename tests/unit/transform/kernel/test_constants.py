"""Sizes that become constants of a kernel."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from psyclone_storage.config.load import default_settings
from psyclone_storage.gocean import (
    GO_CT,
    GO_INTERNAL_PTS,
    GO_LAYERS,
    GO_OFFSET_ANY,
    GO_READ,
    GO_READWRITE,
    configure,
    field,
    invoke,
    kernel,
    layers,
)
from psyclone_storage.ir.interface import Dummy, Role
from psyclone_storage.ir.types import Intrinsic, ScalarType
from psyclone_storage.pipeline.compile import make_compiler
from psyclone_storage.pipeline.request import CompileRequest
from psyclone_storage.runtime.gocean import Field, Grid
from psyclone_storage.transform.kernel.constants import SetKernelConstants
from psyclone_storage.transform.workbench import Workbench
from unit.analysis.small import cells
from unit.transform.benches import refused
from unit.transform.kernel.kernel_benches import bench, printed
from unit.transform.test_one_level import built

INTEGER = ScalarType(Intrinsic.INTEGER, "i_def")
SPACES = ("w0", "w1", "w2", "w2broken", "w2trace", "w2h", "w2v", "w3", "wtheta", "any_space_1")


def dummy(role: Role, name: str, space: str = "") -> Dummy:
    return Dummy(role, name, INTEGER, space=space)


DUMMIES = (
    dummy(Role.NLAYERS, "nlayers"),
    *(dummy(Role.NDF, f"ndf_{space}", space) for space in SPACES),
    dummy(Role.UNDF, "undf_w3", "w3"),
    dummy(Role.NPOINTS_XY, "np_xy"),
    dummy(Role.NPOINTS_Z, "np_z"),
)
NAMES = ("nlayers", *(f"n_{space}" for space in SPACES), "undf", "np_xy", "np_z")
TEXT = f"""module work_mod
contains
subroutine work_code({", ".join(NAMES)})
integer(i_def), intent(in) :: {", ".join(NAMES)}
end subroutine
end module
"""


def work_on(text: str = TEXT) -> Workbench:
    return bench(text, replace(cells("u inc w0"), dummies=DUMMIES))


def constants(step: SetKernelConstants) -> dict[str, int]:
    """Return the constants that `step` declares, and look that each argument is still passed."""
    lines = printed(work_on(), step)
    start = "integer(kind=i_def), parameter :: "
    found = [line.removeprefix(start).split(" = ") for line in lines if line.startswith(start)]
    values = {name: int(value) for name, value in found}
    head = " ".join(lines).replace("&", "").partition(")")[0].partition("(")[2]
    passed = head.replace(" ", "").split(",")
    assert passed == [f"{name}_dummy" if name in values else name for name in NAMES]
    return values


def test_the_number_of_layers() -> None:
    assert constants(SetKernelConstants("call1", number_of_layers=70)) == {"nlayers": 70}


# Counted on a cube and on one that is divided once more, by hand.
@pytest.mark.parametrize(
    ("order", "dofs"),
    [
        (0, {"w0": 8, "w1": 12, "w2": 6, "w2broken": 6, "w2trace": 6, "w2h": 4, "w2v": 2,
             "w3": 1, "wtheta": 2}),
        (1, {"w0": 27, "w1": 54, "w2": 36, "w2broken": 36, "w2trace": 24, "w2h": 24, "w2v": 12,
             "w3": 8, "wtheta": 12}),
    ],
)  # fmt: skip
def test_the_dofs_of_a_cell(order: int, dofs: dict[str, int]) -> None:
    values = constants(SetKernelConstants("call1", element_order=order))
    assert values == {f"n_{space}": number for space, number in dofs.items()}


def test_the_orders_may_differ() -> None:
    values = constants(SetKernelConstants("call1", element_order_h=1, element_order_v=0))
    assert (values["n_w3"], values["n_w2v"], values["n_w2h"], values["n_w0"]) == (4, 8, 12, 18)
    assert values["n_w2"] == values["n_w2h"] + values["n_w2v"]


def test_quadrature_points_follow_from_the_orders() -> None:
    step = SetKernelConstants("call1", element_order_h=1, element_order_v=0, quadrature=True)
    values = constants(step)
    assert (values["np_xy"], values["np_z"]) == (16, 3)


@pytest.mark.parametrize(
    "step",
    [
        SetKernelConstants("call1"),
        SetKernelConstants("call1", number_of_layers=0),
        SetKernelConstants("call1", element_order=0, element_order_h=0),
        SetKernelConstants("call1", element_order_h=1),
        SetKernelConstants("call1", element_order=-2),
        SetKernelConstants("call1", number_of_layers=3, quadrature=True),
    ],
)
def test_sizes_that_cannot_be(step: SetKernelConstants) -> None:
    assert set(refused(work_on(), step)) == {"T057"}


def test_a_kernel_without_such_arguments() -> None:
    work = bench(TEXT, cells("u inc w0"))
    assert refused(work, SetKernelConstants("call1", number_of_layers=3)) == ["T058"]


def test_a_size_whose_declaration_is_not_understood() -> None:
    text = TEXT.replace("integer(i_def), intent(in) ::", "integer(i_def) nlayers; integer ")
    text = text.replace("integer(i_def) nlayers;", "#ifdef X\ninteger :: nlayers\n#endif\n")
    text = text.replace("integer  nlayers,", "integer ::")
    assert refused(work_on(text), SetKernelConstants("call1", number_of_layers=3)) == ["T058"]


def test_a_name_that_is_taken_is_not_given_again() -> None:
    text = TEXT.replace("end subroutine", "nlayers_dummy = 1\nend subroutine", 1)
    lines = printed(work_on(text), SetKernelConstants("call1", number_of_layers=3))
    assert lines[0].startswith("subroutine work_code(nlayers_dummy_1, ")


@pytest.mark.parametrize("constant", ["element_order=0", "number_of_layers=40"])
def test_constants_do_not_prevent_inlining(tmp_path: Path, constant: str) -> None:
    text, said = built(tmp_path, f"kernel-constants{{{constant}}}; inline-call")
    assert "call multiply" not in text, said
    value = {"element_order=0": "ndf = 1", "number_of_layers=40": "nlayers = 40"}[constant]
    assert f"parameter :: {value}" in text


def test_constants_do_not_prevent_sums_in_registers() -> None:
    kernels = Path(__file__).parents[4] / "benchmarks" / "fortran" / "lfric"
    request = CompileRequest(
        "lfric", False, (kernels / "kernels",), steps="kernel-constants{element_order=0}; auto"
    )
    build = make_compiler(default_settings(), request).compile_algorithm(
        kernels / "bench_alg_mod.x90"
    )
    assert not re.search("call (blur|multiply)", build.psy_text)
    assert "do column = 1, ndf - 5, 6" in build.psy_text
    assert "x_stencil_sizes(cell) == 9_i_def" in build.psy_text


def test_other_extents_still_prevent_it(tmp_path: Path) -> None:
    steps = "kernel-constants{element_order=0}; inline-call"
    text, said = built(tmp_path, steps, matrix="matrix(ncell_3d, 2, ndf)")
    assert "call multiply_0_code(" in text
    assert "another shape than what is passed" in said


@kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_ANY)
def layered(new: field[GO_READWRITE, GO_CT, GO_LAYERS], old: field[GO_READ, GO_CT, GO_LAYERS]):
    """Use the number of layers in a loop and as a value."""
    for k in layers():
        new[0, 0, k] = 2.0 * old[0, 0, k] + k
    new[0, 0, 0] += len(layers())


@pytest.mark.parametrize("target", ["c", "numpy"])
def test_the_layers_of_grids_become_constants_of_each_target(target: str, tmp_path: Path) -> None:
    script = tmp_path / "constants.py"
    script.write_text(
        "def trans(psy):\n    for schedule in psy.children:\n"
        "        schedule.apply('kernel-constants{number_of_layers=5}')\n    return psy\n"
    )
    grid = Grid((3, 2), periodic=(True, True))
    new, old = (Field(grid, values=np.ones((3, 2, 5)), layers=5) for _ in range(2))
    configure(target=target, script=script)
    try:
        invoke(layered(new, old))
    finally:
        configure()
    np.testing.assert_array_equal(new.values[1, 1], [7.0, 3.0, 4.0, 5.0, 6.0])
