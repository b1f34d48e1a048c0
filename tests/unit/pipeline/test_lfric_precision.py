"""Reals of four bytes in programs of LFRic: in fields, operators, scalars, sums and kernels."""

# ruff: noqa: F403, F405

from __future__ import annotations

import gc
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from properties.python_columns import codes_of
from psyclone_storage import storage
from psyclone_storage.base.compilers import find_c_compiler, find_fortran_compiler
from psyclone_storage.base.diagnostic import CompileError
from psyclone_storage.base.source import SourceText
from psyclone_storage.config.load import load_settings
from psyclone_storage.config.locate import search_context
from psyclone_storage.infrastructures.lfric import SIZES
from psyclone_storage.lfric import *
from psyclone_storage.pipeline.compile import Build, make_compiler
from psyclone_storage.pipeline.request import CompileRequest
from psyclone_storage.runtime.lfric import Field, Mesh, Operator, dtype_of
from psyclone_storage.runtime.lfric.library import infrastructure
from psyclone_storage.runtime.ranks import SingleRank

pytestmark = pytest.mark.skipif(
    find_fortran_compiler() is None or find_c_compiler() is None, reason="no compilers"
)
SHARE = 0.7


def pick(y, m, k):
    """Return elements of two precisions: one is never taken."""
    if y[0, k] > 1.0e3:
        return y[0, k]
    return m[0, 0, k]


@kernel(operates_on=CELL_COLUMN)
def mix(
    x: field[GH_READWRITE, W3],
    y: field[GH_READ, W3],
    m: operator[GH_READ, W3, W3],
    a: scalar[GH_REAL, GH_READ],
):
    """Compute by all that gives a real, with numbers that are written out."""
    total = 0.0 * (x[0, 0] + y[0, 0] + m[0, 0, 0])
    for k in layers():
        total += pick(y, m, k)
        x[0, k] += np.float64(SHARE) * y[0, k] + np.float64(k) * m[0, 0, k] * 0.1
        x[0, k] += (1 if y[0, k] > 0.5 else 3) * m[0, 0, k] * 0.1 * (1.0 + m[0, 0, k])
        total += 0.1 * x[0, k] * y[0, k] + m[0, 0, k]
        n = k + 1
        x[0, k] = np.maximum(a, 0.25) * x[0, k] + np.sqrt(y[0, k]) / n * SHARE + abs(x[0, k]) ** 2
        if x[0, k] > 0.7:
            x[0, k] = min(x[0, k], y[0, k]) - np.float64(y[0, k]) * (0.3 + n)
        x[0, k] += total + a * m[0, 0, k] + (x[0, k] if n > 2 else 0.5)


@kernel(operates_on=CELL_COLUMN)
def whole(x: field[GH_READWRITE, W3], y: field[GH_READ, W3]):
    for k in layers():
        x[0, k] = (math.floor(3.0 * x[0, k]) + 1) * y[0, k]


@kernel(operates_on=CELL_COLUMN)
def own(x: field[GH_READWRITE, W3]):
    sums = np.zeros(1)
    first = 0.1
    for k in layers():
        sums[0] += 0.1 * x[0, k]
    x[0, 0] = sums[0] + first


@kernel(operates_on=CELL_COLUMN)
def plain(x: field[GH_READWRITE, W3], y: field[GH_READ, W3]):
    for k in layers():
        x[0, k] += y[0, k]


@kernel(operates_on=CELL_COLUMN)
def of_python(x: field[GH_READWRITE, W3], y: field[GH_READ, W3]):
    """Compute with numbers of Python, which have 8 bytes until they meet others."""
    most = 0.0
    sums = 0.0
    wide = np.zeros(2)
    narrow = np.zeros(2, dtype=np.float32)
    for k in layers():
        wide[0] = x[0, k]
        narrow[1] += float(y[0, k]) * 0.1 / 3.0
        most = max(most, y[0, k])
        share = math.sqrt(x[0, k]) * 0.1
        x[0, k] = share * math.exp(float(x[0, k]) * float(y[0, k])) + 0.3 * wide[0]
        sums += 0.1 * y[0, k] + narrow[1]
    x[0, 0] += sums * 0.5
    x[0, 0] -= most if most > 0.5 else 0.1


@pytest.fixture(params=["c", "cuda", "numpy"])
def mesh(request: pytest.FixtureRequest) -> Iterator[Mesh]:
    storage.use_device("emulated")
    configure(target=request.param)
    yield Mesh.planar((4, 3), layers=3, device="gpu" if request.param == "cuda" else None)
    configure()
    storage.use_device("auto")


def numbers(mesh: Mesh, seed: int) -> Any:
    return np.random.default_rng(seed).random(mesh.space("W3").ndof_global) + 0.1


def columns(one: Field) -> Any:
    """Return the values of each column, of which `W3` has one a cell."""
    return np.array(one.values).reshape(-1, 3)


def test_kinds_have_the_bytes_of_the_library() -> None:
    known = infrastructure(SingleRank()).kinds()
    assert {name: abs(bits) // 8 for name, bits in known.items() if name in SIZES} == {
        name: size for name, size in SIZES.items() if name in known
    }
    assert {"r_solver", "r_tran", "r_bl", "r_def"} <= known.keys()


@pytest.mark.parametrize("kinds", ["ffff", "dddd", "fdfd", "dffd", "dfdf", "fddf"])
def test_kernels_compute_in_the_precision_of_their_data(mesh: Mesh, kinds: str) -> None:
    """What C computes is what NumPy computes of arrays of these types, bit for bit."""
    space = mesh.space("W3")
    types = [np.dtype(one) for one in kinds]
    x, y = (Field(space, name, values=numbers(mesh, at), dtype=types[at])
            for at, name in enumerate("xy"))  # fmt: skip
    m = Operator(space, space, "m", dtype=types[2])
    m.storage[...] = numbers(mesh, 3).reshape(m.storage.shape)
    a = types[3].type(0.3)
    before = columns(x), columns(y), np.array(m.storage.data_ro).reshape(-1, 3)
    wanted = np.array([
        mix.at(np.array([u]), np.array([v]), w.reshape(1, 1, 3), a)[0]
        for u, v, w in zip(*before, strict=True)
    ])  # fmt: skip
    invoke(mix(x, y, m, a))
    assert columns(x).dtype == types[0] == wanted.dtype
    np.testing.assert_array_equal(columns(x), wanted)


def test_whole_numbers_have_room_where_reals_have_four_bytes(mesh: Mesh) -> None:
    space = mesh.space("W3")
    x = Field(space, "x", values=7.6e8, dtype="r_solver")
    y = Field(space, "y", values=0.1, dtype="r_solver")
    big = math.floor(float(np.float32(3.0) * np.float32(7.6e8))) + 1
    invoke(whole(x, y))
    np.testing.assert_array_equal(x.values, np.float32(big) * np.float32(0.1))


def test_own_numbers_have_the_precision_of_the_kernel(mesh: Mesh) -> None:
    x = Field(mesh.space("W3"), "x", values=numbers(mesh, 1), dtype="r_solver")
    wanted = np.array([own.at(np.array([u]))[0] for u in columns(x)])
    invoke(own(x))
    np.testing.assert_array_equal(columns(x), wanted)


def test_numbers_of_python_have_eight_bytes_until_they_meet_others(mesh: Mesh) -> None:
    space = mesh.space("W3")
    x, y = (Field(space, name, values=numbers(mesh, at), dtype="r_solver")
            for at, name in enumerate("xy"))  # fmt: skip
    wanted = np.array([
        of_python.at(np.array([u]), np.array([v]))[0]
        for u, v in zip(columns(x), columns(y), strict=True)
    ])  # fmt: skip
    invoke(of_python(x, y))
    np.testing.assert_array_equal(columns(x), wanted)


@pytest.mark.parametrize(
    ("said", "place"),
    [
        ("max(x[0, k], 0.1) * 0.3", "max(x[0, k], 0.1) * 0.3"),
        ("math.sqrt(max(x[0, k], 0.1))", "math.sqrt(max(x[0, k], 0.1))"),
        ("np.sqrt(max(x[0, k], 0.5))", "np.sqrt(max(x[0, k], 0.5))"),
        ("(x[0, k] if n[0, k] > 1 else 0.1) + SHARE", None),
        ("(y[0, k] if n[0, k] > 1 else 0.1) * x[0, k]", None),
        ("min(x[0, k], y[0, k]) * 0.1", "min(x[0, k], y[0, k]) * 0.1"),
        ("float(max(x[0, k], SHARE))", "float(max(x[0, k], SHARE))"),
        ("(n[0, k] if x[0, k] > 0.1 else 1) * x[0, k]", None),
        ("math.trunc(x[0, k])", "math.trunc(x[0, k])"),
    ],
)
def test_what_has_four_bytes_or_eight_by_its_values_is_refused(
    said: str, place: str | None
) -> None:
    text = AS_IT_HAPPENS.replace("...", said)
    with pytest.raises(CompileError) as caught:
        codes_of(text, frozenset({"x"}))
    (problem,) = caught.value.problems
    assert problem.code == "P054"
    assert problem.span is not None
    assert problem.span.text == (said if place is None else place)
    assert codes_of(text)


AS_IT_HAPPENS = """\
import math
import numpy as np
from psyclone_storage.lfric import *
SHARE = 0.7


@kernel(operates_on=CELL_COLUMN)
def work(x: field[GH_READWRITE, W3], y: field[GH_READ, W3], n: field[GH_INTEGER, GH_READ, W3]):
    for k in layers():
        x[0, k] = ...
"""


def test_sums_have_the_precision_of_their_result(
    mesh: Mesh, request: pytest.FixtureRequest
) -> None:
    space = mesh.space("W3")
    x = Field(space, "x", values=numbers(mesh, 1), dtype="r_solver")
    y = Field(space, "y", values=0.0)
    single, double = Result(dtype="r_solver"), Result()
    for _ in range(2):
        invoke(
            real_to_real_X(y, x), sum_X(single, x), sum_X(double, x), inc_a_times_X(0.1, x),
            real_to_real_X(x, y)
        )  # fmt: skip
    values = np.array(x.values)
    found = np.float32(0.0)
    for one in values:
        found += one
    assert type(single.value) is np.float32
    assert single.value == found
    assert double.value == sum(values.astype(float)) != found
    np.testing.assert_array_equal(y.values, values.astype(float))
    asked = request.node.callspec.params["mesh"]
    configure(config_opts="EXACT_SUMS=true", target=asked)
    invoke(sum_X(single, x))
    assert single.value == np.float32(math.fsum(values.tolist()))


def test_one_place_takes_data_of_either_precision(mesh: Mesh) -> None:
    """What an invoke is known by holds the types of values, also where objects come and go."""
    space = mesh.space("W3")
    for round_ in range(6):
        kind = ("r_def", "r_solver")[round_ % 2]
        x, y = (Field(space, name, values=0.1, dtype=kind) for name in "xy")
        invoke(plain(x, y))
        one = dtype_of(kind).type(0.1)
        np.testing.assert_array_equal(x.values, one + one)
        del x, y
        gc.collect()


# ---------------------------------------------------------------------------- ahead


def built(text: str, target: str = "", folder: Path | None = None) -> Build:
    """Return what an algorithm becomes, with the corpus' kernels or its own, in a folder."""
    kernels = folder or Path(__file__).parents[2] / "corpus" / "lfric" / "kernels"
    settings = load_settings("", "", search_context({}))
    request = CompileRequest(api="lfric", suffix=".py", directories=(kernels,), target=target)
    path = (folder or Path()) / "alg.py"
    source = SourceText(str(path), f"from psyclone_storage.lfric import *\n{text}")
    if folder is not None:
        path.write_text(source.text)
    return make_compiler(settings, request).compile_text(source)


def routine(build: Build) -> Callable[..., None]:
    names: dict[str, Any] = {"__name__": "made", "__file__": "made.py"}
    names["__c__"] = build.beside[0][1] if build.beside else ""
    exec(compile(build.psy_text, "made.py", "exec"), names)
    made: Callable[..., None] = names[build.program.invokes[0].name]
    return made


STEP = """
def step(p: r_solver_field_type, q, b: r_solver):
    invoke(real_to_real_X(p, q), inc_a_times_X(b, p), name="step")
"""


def test_what_is_annotated_is_checked_where_it_is_passed() -> None:
    step = routine(built(STEP))
    space = Mesh.planar((3, 3), layers=2).space("W3")
    p, q = Field(space, "pressure", dtype="r_solver"), Field(space, "other", values=0.3)
    step(p, q, 0.1)
    np.testing.assert_array_equal(p.values, np.float32(0.1) * np.float32(0.3))
    wrong = Field(space, "wrong")
    with pytest.raises(TypeError) as caught:
        step(wrong, q, 0.1)
    for word in ("'wrong'", "'p'", "float64", "float32", "r_solver_field_type"):
        assert word in str(caught.value)
    with pytest.raises(TypeError, match=r"for 'q'.* type float32.* computes with float64"):
        step(p, p.__class__(space, dtype="r_tran"), 0.1)
    assert not np.any(wrong.values)


def test_numpy_computes_with_the_bytes_that_are_said() -> None:
    single = routine(built(STEP, "numpy"))
    double = routine(
        built(STEP.replace(": r_solver_field_type", "").replace(": r_solver", ""), "numpy")
    )
    space = Mesh.planar((3, 3), layers=2).space("W3")
    short, other = Field(space, dtype="r_solver"), Field(space, values=0.3)
    single(short, other, 0.1)
    np.testing.assert_array_equal(short.values, np.float32(0.1) * np.float32(0.3))
    with pytest.raises(TypeError, match=r"for 'p'.* float32.* computes with float64"):
        double(short, other, 0.1)


CALL = "invoke(real_to_real_X(x, y))"


@pytest.mark.parametrize(
    ("text", "types"),
    [
        ("def step(x: r_solver_field_type, y):\n    invoke(real_to_real_X(x, y))", "f4 f8"),
        ("x: r_tran_field_type = make()\ninvoke(real_to_real_X(x, y))", "f4 f8"),
        ("x: r_tran_field_type = make()\ndef f(x):\n    invoke(real_to_real_X(x, y))", "f8 f8"),
        ("x: r_tran_field_type\ndef f():\n    x = g()\n    invoke(real_to_real_X(x, y))", "f8 f8"),
        ("def f(y: r_solver_field_type):\n    def g(x):\n        invoke(real_to_real_X(x, y))",
         "f8 f4"),
        ("def f(x: r_solver_field_type):\n    for x in y:\n        invoke(real_to_real_X(x, y))",
         "f4 f8"),
        ("def f(x: r_solver_field_type[2], y):\n    invoke(real_to_real_X(x[1], y))", "f4 f8"),
        ("def f(x: float, y: 'field', *z: int):\n    invoke(real_to_real_X(x, y))", "f8 f8"),
        ("import psyclone_storage.lfric as m\ndef f(y: m.r_tran_field_type):\n " + CALL, "f8 f4"),
        ("f = lambda x, y: x\ndef g(x: r_bl_field_type, y: field_real32_type):\n    " + CALL,
         "f8 f4"),
    ],
)  # fmt: skip
def test_annotations_are_those_of_the_names_that_are_seen(text: str, types: str) -> None:
    assert f'"{types}"' in built(text).psy_text


def test_what_is_annotated_as_something_else_is_refused() -> None:
    with pytest.raises(CompileError) as caught:
        built("def f(x: r_solver_operator_type, a: r_def[:], n: i_def):\n"
              "    invoke(setval_c(x, a), setval_c(y, z[n]))")  # fmt: skip
    found = sorted((one.code, one.span.text) for one in caught.value.problems if one.span)
    assert found == [("S105", "x"), ("S106", "a")]


KERNEL = "from scale_tracer_kernel_mod import scale_tracer_kernel_type\n"


def test_the_subroutine_for_the_data_is_taken() -> None:
    call = "    invoke(scale_tracer_kernel_type(x, a))"
    for said, word in (("", "double"), (": r_solver_field_type", "float")):
        scalar_ = ": r_solver" if said else ""
        (_, c), *_ = built(f"{KERNEL}def f(x{said}, a{scalar_}):\n{call}").beside
        assert f"{word} *restrict" in c
    constant = call.replace("(x, a)", "(x, 0.1)")
    (_, c), *_ = built(f"{KERNEL}def f(x: r_tran_field_type):\n{constant}").beside
    assert "0.1f" in c
    with pytest.raises(CompileError) as caught:
        built(f"{KERNEL}def f(x: r_solver_field_type, a):\n{call}")
    (problem,) = caught.value.problems
    assert problem.code == "G010"
    assert "takes reals of 32 bits and reals of 64 bits" in problem.message
