"""LFRic's kernels as NumPy: loops that are done at once, those that are not, and refusals."""

from __future__ import annotations

import ast
import inspect
import itertools
import math
import re
import sys
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from psyclone_storage.base.diagnostic import CompileError
from psyclone_storage.base.source import SourceText
from psyclone_storage.config.load import load_settings
from psyclone_storage.config.locate import search_context
from psyclone_storage.pipeline.compile import make_compiler
from psyclone_storage.pipeline.request import CompileRequest
from psyclone_storage.runtime.computing import (
    added,
    greater,
    greatest,
    least,
    lesser,
    module_value,
    of_library,
    scalar,
    whole_power,
)
from psyclone_storage.runtime.lfric import ExactSum
from psyclone_storage.targets.numpy.column_expressions import ValueWriter
from psyclone_storage.targets.numpy.expressions import UnsupportedError

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
    _, _, kernel = module_of(tmp_path, HEAD.format(space=space) + lines).partition("def work_code(")
    return [line[4:] for line in kernel.partition("):\n")[2].rstrip().splitlines()]


def compiled(tmp_path: Any, algorithm: str) -> str:
    """Return an algorithm with its kernels as a module of NumPy."""
    asked = CompileRequest("lfric", directories=(tmp_path,), suffix=".py", target="numpy")
    compiler = make_compiler(load_settings("", "", search_context({})), asked)
    return compiler.compile_text(SourceText("alg.py", algorithm)).psy_text


def module_of(tmp_path: Any, kernel: str, algorithm: str = ALGORITHM) -> str:
    """Return an algorithm with one kernel, whose text is given, as a module of NumPy."""
    (tmp_path / "work_mod.py").write_text(kernel)
    return compiled(tmp_path, algorithm)


def computed(text: str, n: int) -> tuple[list[float], list[float]]:
    """Return what a kernel leaves in `x` and `y`, with six levels and one dof on each."""
    module: dict[str, Any] = {}
    exec(text, module)
    x, y = np.ones(6), np.array([0.5, -1.5, 2.25, 3.0, -4.0, 0.75])
    with np.errstate(all="ignore"):
        module["work_code"](6, x, y, n, 1, 6, np.array([1], dtype=np.int32))
    return x.tolist(), y.tolist()


@pytest.mark.parametrize(
    ("body", "wanted"),
    [
        (
            "for k in layers():\n    for d in dofs(W3):\n        x[d, k] += SHARE * y[d, k]",
            ["[SHARE] = _variables_of_work_code()", "k = np.arange(nlayers)",
             "for d in range(ndf_w3):",
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


def test_a_power_with_a_variable_is_that_of_the_library(tmp_path: Any) -> None:
    body = "for k in layers():\n    x[0, k] = y[0, k] ** k"
    assert 'of_library("pow", ' in "\n".join(printed(tmp_path, body))


def test_what_has_no_form_is_refused_by_name_and_line(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise UnsupportedError("it has no form")

    monkeypatch.setattr(ValueWriter, "_power", refuse)
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


@pytest.mark.parametrize(
    "word", ["held", "scalar", "range", "slice", "int", "min", "added", "np", "work_code", "alpha"]
)
def test_arguments_of_an_algorithm_leave_words_to_the_module(word: str, tmp_path: Any) -> None:
    body = "    for k in layers():\n        x[0, k] = max(y[0, k], 0.5) + n\n"
    calls = ALGORITHM.replace("work(x, y, n)", "work(x, y, n), inc_a_times_X(0.5, x)")
    for name in "xn":
        text = module_of(
            tmp_path, HEAD.format(space="W3") + body, re.sub(rf"\b{name}\b", word, calls)
        )
        (routine, _) = [one for one in ast.parse(text).body if isinstance(one, ast.FunctionDef)]
        given = [one.arg for one in routine.args.args]
        assert (word in given) is (word == "alpha")
        assert [one.removesuffix("_1") for one in given].count(word) == 1
        parts = list(ast.walk(routine))
        called = {one.func.id for one in parts
                  if isinstance(one, ast.Call) and isinstance(one.func, ast.Name)}  # fmt: skip
        assert {"held", "work_code"} <= called
        assert called.isdisjoint(given)
        here = {
            one.id for one in parts if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)
        }
        used = {one.id for one in parts if isinstance(one, ast.Name)}
        assert used <= {*given, *here, *called, "np"}


@pytest.mark.parametrize("word", ["power", "added", "least", "lesser", "quotient", "of_library"])
def test_constants_of_a_kernel_leave_words_to_the_module(
    word: str, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = (
        f"    {word}_ = 1.0\n    {word}__ = 10.0\n"
        f"    x[0, 0] = {word} * min(y[0, 0], 9.0) ** 3 + {word}_ + {word}__ + n // 2\n"
    )
    head = HEAD.format(space="W3")
    text = module_of(tmp_path, re.sub(r"\bx\b", word, head + "    x[0, 0] = y[0, 0] ** 3\n"))
    assert f"{word}_[map_w3[0] - 1] = power(y[" in text
    text = module_of(tmp_path, head.replace("SHARE = ", f"{word} = ") + body)
    there = ModuleType("work_mod")
    setattr(there, word, 0.5)
    monkeypatch.setitem(sys.modules, "work_mod", there)
    made: dict[str, Any] = {}
    exec(text, made)
    x, order = np.zeros(1), inspect.signature(made["work_code"]).parameters
    given = {"x": x, "y": np.array([2.0]), "n": 4, "map_w3": np.array([1])}
    made["work_code"](*(given.get(name, 1) for name in order))
    assert x[0] == 0.5 * 8.0 + 11.0 + 2.0


# ---------------------------------------------------------------------------- what is computed

INF = math.inf
IN_PYTHON = [
    # A value that the text lets differ from turn to turn, and that is one number.
    ("t = 0.0\nfor k in layers():\n    t += y[0, k] if n > 5 else 1.0\nx[0, 0] = t", 2, [6.0]),
    (("t = 0.0\nfor k in layers():\n    if n > 5:\n        s = y[0, k]\n    else:\n"
      "        s = 1.0\n    t += s\nx[0, 0] = t"), 2, [6.0]),
    (("t = 0.0\nfor k in layers():\n    s = 1.0\n    for d in range(n, 1):\n        s += y[0, k]\n"
     "    t += s\nx[0, 0] = t"), 2, [6.0]),
    ("t = 0.0\nfor k in layers():\n    t += y[0, k] ** (n - 2)\nx[0, 0] = t", 2, [6.0]),
    ("t = 9.0\nfor k in range(n, 1):\n    t = min(t, y[0, k] if n > 5 else 1.0)\nx[0, 0] = t", 2,
     [9.0]),
    # A quotient that is taken away.
    ("for k in range(5 - n // 2, 6):\n    x[0, k] = 7.0", 3, [1.0, 1.0, 1.0, 1.0, 7.0, 7.0]),
    ("x[0, 3 - n // 2] = 7.0", 3, [1.0, 1.0, 7.0]),
    ("x[0, len(layers()) // 4] = 7.0", 0, [1.0, 7.0]),
    # Numbers of Python that are 0.
    ("x[0, 0] = 1.0 / (n - 2)\nx[0, 1] = -1 / (n - 2)", 2, [INF, -INF]),
    ("for k in range(3):\n    if y[0, k] > 0:\n        x[0, k] = 1.0 / k", 0, [INF, 1.0, 0.5]),
    ("z = n - 2.0\nx[0, 0] = 1.0 / z\nx[0, 1] = z ** -1", 2, [INF, INF]),
    ("x[0, 0] = 1.0 / (y[0, 0] if n > 5 else 0.0)", 2, [INF]),
    ("z = 1.0 if n > 5 else 0.0\nfor k in layers():\n    x[0, k] = (1.0 / z) * y[0, k]", 2,
     [INF, -INF, INF, INF, -INF, INF]),
    ("for k in range(3):\n    s = y[0, k] if n > 5 else 0.0\n    x[0, k] = n / s", 2, [INF] * 3),
]  # fmt: skip


@pytest.mark.parametrize(("body", "n", "wanted"), IN_PYTHON)
def test_kernels_in_python(body: str, n: int, wanted: list[float], tmp_path: Any) -> None:
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    (tmp_path / "work_mod.py").write_text(HEAD.format(space="W3") + lines)
    x, _ = computed(compiled(tmp_path, ALGORITHM), n)
    assert x == wanted + [1.0] * (6 - len(wanted))


IN_FORTRAN = """
module work_mod
  use argument_mod, only: arg_type, cell_column, gh_field, gh_integer, gh_readwrite, gh_real, &
                          gh_scalar, gh_read
  use fs_continuity_mod, only: w3
  use constants_mod, only: i_def, r_def
  use kernel_mod, only: kernel_type
  implicit none
  type, extends(kernel_type) :: work_type
    type(arg_type) :: meta_args(3) = [arg_type(gh_field, gh_real, gh_readwrite, w3), &
                                      arg_type(gh_field, gh_real, gh_readwrite, w3), &
                                      arg_type(gh_scalar, gh_integer, gh_read)]
    integer :: operates_on = cell_column
  contains
    procedure, nopass :: work_code
  end type
contains
  subroutine work_code(nlayers, x, y, n, ndf, undf, map)
    integer(i_def), intent(in) :: nlayers, n, ndf, undf, map(ndf)
    real(r_def), intent(inout) :: x(undf), y(undf)
    integer(i_def), parameter :: p = 7.9_r_def
    real(r_def), parameter :: q = 7, w(2) = [1, 3]
    integer(i_def) :: k, j, m(6)
    real(r_def) :: t
{lines}
  end subroutine
end module
"""
Y = [0.5, -1.5, 2.25, 3.0, -4.0, 0.75]
STATEMENTS = [
    # A local keeps what an element was.
    ("do k = 1, nlayers\nt = x(k)\nx(k) = y(k)\ny(k) = t\nend do", Y, [1.0] * 6),
    ("do k = 1, nlayers\nt = real(x(k), r_def)\nx(k) = y(k)\ny(k) = t\nend do", Y, [1.0] * 6),
    ("do k = 1, nlayers\nt = merge(x(k), y(k), n > 1)\nx(k) = y(k)\ny(k) = t\nend do", Y,
     [1.0] * 6),
    # Fractions are cut off in each turn, of each element, and of constants.
    ("j = 0\ndo k = 1, nlayers\nj = j + y(k)\nend do\nx(1) = j", [0.0] + [1.0] * 5, Y),
    ("m(:) = y(1:6)*3.0_r_def\nx(1:6) = m\nm = int(y(1:6))\nx(1) = m(2)",
     [-1.0, -4.0, 6.0, 9.0, -12.0, 2.0], Y),
    ("x(1) = p*0.5_r_def\nx(2) = q/4\nx(3) = w(2)/2", [3.5, 1.75, 1.5] + [1.0] * 3, Y),
    # Two kinds of one type.
    ("x(1) = nlayers/4", [1.0] * 6, Y),
    ("x(nlayers/4 + 1) = 7.0_r_def*(nlayers/4)", [1.0, 7.0, 1.0, 1.0, 1.0, 1.0], Y),
    ("do k = 1, nlayers\nx(k) = (k - 4)/2\nend do", [-1.0, -1.0, 0.0, 0.0, 0.0, 1.0], Y),
    ("do k = 1, nlayers\nx(k) = y((k + 1)/2)\nend do", [0.5, 0.5, -1.5, -1.5, 2.25, 2.25], Y),
    ("if (nlayers/4 == 1) x(1) = 7.0_r_def", [7.0] + [1.0] * 5, Y),
    ("j = y(3)*3.0\nx(1) = j", [6.0] + [1.0] * 5, Y),
    ("do k = 1, nlayers\nj = y(k)*3.0\nx(k) = j\nend do", [1.0, -4.0, 6.0, 9.0, -12.0, 2.0], Y),
]  # fmt: skip


@pytest.mark.parametrize(("body", "x", "y"), STATEMENTS)
def test_kernels_in_fortran(body: str, x: list[float], y: list[float], tmp_path: Any) -> None:
    (tmp_path / "work_mod.f90").write_text(IN_FORTRAN.replace("{lines}", body))
    algorithm = (
        "from psyclone_storage.lfric import *\n"
        'work = fortran_kernel("work_mod.f90", "work_type")\n'
        "def run(x, y, n):\n    invoke(work(x, y, n))\n"
    )
    assert computed(compiled(tmp_path, algorithm), 2) == (x, y)


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


def test_variables_are_numbers_of_their_types() -> None:
    assert module_value("a", 2, "int") == module_value("a", [2], "int", 0) == 2
    for value, kind, index in (
        (2, "int", (0,)), (2.5, "float", (0,)), (np.int8(2), "int", ()), (2.0, "int", ()),
    ):  # fmt: skip
        with pytest.raises(TypeError):
            module_value("a", value, kind, *index)
    with pytest.raises(OverflowError):
        module_value("a", 2**31, "int")


def test_exact_sums_take_arrays() -> None:
    total = ExactSum()
    total.add(np.array([1e300, 1.0, -1e300, 5e-324]))
    total.add(np.array([-5e-324, 2.0**-60]))
    total.add(np.array([-4.0]))
    assert total.total_of_rank() == -3.0 + 2.0**-60
    total.add(np.array([np.inf]))
    assert total.total_of_rank() == np.inf
