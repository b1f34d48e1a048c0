"""LFRic's kernels as NumPy: loops that are done at once, those that are not, and refusals."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

from psyclone_storage.base.diagnostic import CompileError
from psyclone_storage.base.source import SourceText
from psyclone_storage.config.load import load_settings
from psyclone_storage.config.locate import surroundings
from psyclone_storage.driver.compile import make_compiler
from psyclone_storage.driver.request import CompileRequest
from psyclone_storage.runtime.computing import (
    added,
    greater,
    greatest,
    least,
    lesser,
    of_library,
    scalar,
    whole_power,
)
from psyclone_storage.runtime.lfric import ExactSum

HEAD = """
import math
import numpy as np
from psyclone_storage.lfric import *

SHARE = 0.5


@kernel(operates_on=CELL_COLUMN)
def work(x: field[GH_READWRITE, {space}], y: field[GH_READ, W3], n: scalar[GH_INTEGER, GH_READ]):
"""
ALGORITHM = """
from work_mod import work
from psyclone_storage.lfric import *
def run(x, y, n):
    invoke(work(x, y, n))
"""


def printed(tmp_path: Any, body: str, space: str = "W3") -> list[str]:
    """Return the statements of a kernel as NumPy."""
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    (tmp_path / "work_mod.py").write_text(HEAD.format(space=space) + lines)
    asked = CompileRequest("lfric", directories=(tmp_path,), suffix=".py", target="numpy")
    compiler = make_compiler(load_settings("", "", surroundings({})), asked)
    text = compiler.compile_text(SourceText("alg.py", ALGORITHM)).psy_text
    _, _, kernel = text.partition("def work_code(")
    return [line[4:] for line in kernel.partition("):\n")[2].rstrip().splitlines()]


@pytest.mark.parametrize(
    ("body", "wanted"),
    [
        (
            "for k in layers():\n    for d in dofs(W3):\n        x[d, k] += SHARE * y[d, k]",
            ["from work_mod import SHARE", "k = np.arange(nlayers)", "for d in range(ndf_w3):",
             "    x[map_w3[d] + k - 1] += SHARE * y[map_w3[d] + k - 1]"],
        ),
        (
            "x[0, 0] = y[0, 0]\nfor k in range(1, len(layers())):\n    x[0, k] = x[0, k - 1]",
            ["x[map_w3[0] - 1] = y[map_w3[0] - 1]", "for k in range(nlayers - 1):",
             "    x[map_w3[0] + k] = x[map_w3[0] + k - 1]"],
        ),
        (
            "total = 0.0\nfor k in layers():\n    total += y[0, k]\nx[0, 0] = total",
            ["total = 0.0", "k = np.arange(nlayers)", "total = added(total, y[map_w3[0] + k - 1])",
             "x[map_w3[0] - 1] = total"],
        ),
        (
            "for k in layers():\n    last = y[0, k]\n    x[0, k] = last\nx[0, 0] = last",
            ["for k in range(nlayers):", "    last = y[map_w3[0] + k - 1]",
             "    x[map_w3[0] + k - 1] = last", "x[map_w3[0] - 1] = last"],
        ),
        (
            "for k in layers():\n    if y[0, k] > 0:\n        x[0, k] = 1.0",
            ["for k in range(nlayers):", "    if y[map_w3[0] + k - 1] > 0:",
             "        x[map_w3[0] + k - 1] = 1.0"],
        ),
        (
            "for k in layers():\n    x[0, k] = y[0, k + 1] if k < n else 0.0",
            ["for k in range(nlayers):",
             "    x[map_w3[0] + k - 1] = (y[map_w3[0] + k] if k < n else 0.0)"],
        ),
        (
            "for k in layers():\n    x[0, k] = y[0, k]\n    x[n, k] = 1.0 + x[0, k]",
            ["k = np.arange(nlayers)", "x[map_w3[0] + k - 1] = y[map_w3[0] + k - 1]",
             "x[map_w3[n] + k - 1] = 1.0 + x[map_w3[0] + k - 1]"],
        ),
    ],
)  # fmt: skip
def test_loops(body: str, wanted: list[str], tmp_path: Any) -> None:
    if "last" in body:
        body = f"last = 0.0\n{body}"
        wanted = ["last = 0.0", *wanted]
    assert printed(tmp_path, body) == wanted


def test_levels_of_a_space_may_share_dofs(tmp_path: Any) -> None:
    body = "for k in layers():\n    for d in dofs(Wtheta):\n        x[d, k] += y[0, k]"
    assert printed(tmp_path, body, "Wtheta")[0] == "for k in range(nlayers):"
    body = "for d in dofs(Wtheta):\n    for k in layers():\n        x[d, k] += y[0, k]"
    assert printed(tmp_path, body, "Wtheta")[1].strip() == "k = np.arange(nlayers)"


def test_what_has_no_form_is_refused_by_name_and_line(tmp_path: Any) -> None:
    body = (
        "for k in layers():\n    x[0, k] = y[0, k] ** k\nfor k in layers():\n    x[0, k] = 2.0 ** k"
    )
    with pytest.raises(CompileError) as caught:
        printed(tmp_path, body)
    assert {one.code for one in caught.value.problems} == {"G010"}
    first = HEAD.count("\n") + 1
    places = [one.span.source.line_of(one.span.start) for one in caught.value.problems if one.span]
    assert places == [first + 1, first + 3]
    assert "'work_code' cannot be printed for NumPy" in caught.value.problems[0].message


# ---------------------------------------------------------------------------- at run time


def test_sums_and_extremes_are_those_of_loops() -> None:
    random = np.random.default_rng(3)
    for _ in range(20):
        values = random.standard_normal(50) * 10.0 ** random.integers(-9, 9, 50)
        total = 0.0
        for one in values.tolist():
            total += one
        assert added(0.0, values).hex() == total.hex()
    assert np.signbit(added(0.0, np.array([-0.0]))) == np.signbit(0.0 + -0.0)
    assert added(0.0, np.zeros(0)) == 0.0
    for values in ([np.nan, 2.0, 1.0], [0.0, -0.0, 0.0], [np.nan], [], [-0.0, 0.0, np.nan]):
        for start in (9.0, -9.0, 0.0, -0.0, np.nan):
            low = high = start
            for one in values:
                low, high = min(low, one), max(high, one)
            assert float(least(start, np.array(values))).hex() == low.hex()
            assert float(greatest(start, np.array(values))).hex() == high.hex()
    pairs = list(itertools.product([np.nan, -0.0, 0.0, 1.0], repeat=2))
    for first, second in [*pairs, *((np.array([a]), np.array([b])) for a, b in pairs)]:
        a, b = float(np.ravel(first)[0]), float(np.ravel(second)[0])
        assert float(np.ravel(lesser(first, second))[0]).hex() == min(a, b).hex()
        assert float(np.ravel(greater(first, second))[0]).hex() == max(a, b).hex()


def test_functions_and_powers_are_those_of_libraries() -> None:
    values = np.linspace(0.1, 30.0, 200)
    assert of_library("exp", values).tolist() == [math.exp(one) for one in values.tolist()]
    assert of_library("pow", values, 0.3)[7] == math.pow(values[7], 0.3)
    assert of_library("log", 0.0) == -np.inf
    assert whole_power(np.float64(2.0), -3) == 0.125
    with np.errstate(all="ignore"):
        assert whole_power(np.float64(0.0), -1) == np.inf


def test_scalars_are_numbers_of_their_types() -> None:
    with np.errstate(all="ignore"):
        assert 1.0 / scalar(-0.0, "float") == -np.inf
    with pytest.raises(TypeError):
        scalar("1", "float")
    with pytest.raises(TypeError):
        scalar(1.5, "int")


def test_exact_sums_take_arrays() -> None:
    total = ExactSum()
    total.add(np.array([1e300, 1.0, -1e300, 5e-324]))
    total.add(np.array([-5e-324, 2.0**-60]))
    total.add(np.array([-4.0]))
    assert total.total_of_rank() == -3.0 + 2.0**-60
    total.add(np.array([np.inf]))
    assert total.total_of_rank() == np.inf
