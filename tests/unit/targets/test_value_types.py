"""Fields of 32-bit reals and of integers: targets compute what Python does, with NumPy's rules."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from psyclone_storage.base.diagnostic import CompileError
from psyclone_storage.gocean import configure
from psyclone_storage.runtime.gocean import Field, Grid, Points
from psyclone_storage.storage.core.device import DeviceKind, use_device

POINTS = (7, 5)
HEAD = """\
import math
import numpy as np
from psyclone_storage.gocean import *

WEIGHTS = (0.25, 0.5, 0.25)


def smaller(a, b):
    return a if a < b else b


@kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_ANY)
def work(
    new: field[GO_READWRITE, GO_CT, GO_FLOAT32],
    short: field[GO_READ, GO_CT, GO_STENCIL("111,111,111"), GO_FLOAT32],
    wide: field[GO_READWRITE, GO_CT],
    number: field[GO_READWRITE, GO_CT, GO_INT32],
    near: field[GO_READ, GO_CT, GO_STENCIL("111,111,111"), GO_INT32],
    rate: scalar[GO_READ, GO_R_SCALAR],
    step: scalar[GO_READ, GO_I_SCALAR],
):
"""
KERNELS = {
    "filter_of_reals": """
total = np.float32(0.0)
for j in range(-1, 2):
    for i in range(-1, 2):
        total += WEIGHTS[i + 1] * WEIGHTS[j + 1] * short[i, j]
new[0, 0] = total
""",
    "filter_of_integers": """
total = 0
for j in range(-1, 2):
    for i in range(-1, 2):
        if near[i, j] > step:
            total += (i + 2) * near[i, j] // 3
number[0, 0] += total % 7
""",
    "scalars_take_the_kind": "new[0, 0] = short[0, 0] * rate + 0.1",
    "functions_of_tuples_are_doubles": (
        "new[0, 0] = 0.1 * short[0, 0] * np.sum((0.5, 2.2)) + short[1, 0] * np.max((0.1, 0.7))"
    ),
    "doubles_stay": "wide[0, 0] = wide[0, 0] * short[0, 0] + short[1, 0] * short[0, 0]",
    "integers_make_doubles": "wide[0, 0] = near[0, 0] * short[0, 0] + near[0, 0] / 3",
    "python_integers_do_not": "new[0, 0] = step * short[0, 0] + 3 * short[0, 1] / 7",
    "rounded": "new[0, 0] = np.float32(wide[0, 0]) * np.float32(0.1) + short[0, 0]",
    "rounded_and_wide": "wide[0, 0] = np.float32(wide[0, 0]) * wide[0, 0]",
    "wide_of_short": "wide[0, 0] = np.float64(short[0, 0]) * short[0, 0]",
    "python_of_short": "new[0, 0] = float(short[0, 0]) * 0.1 * short[1, 0]",
    "python_of_wide": "wide[0, 0] = float(np.sqrt(2.0)) + np.float32(step)",
    "python_of_integers": "new[0, 0] = float(np.int32(3)) * short[0, 0] * 0.1 * float(near[0, 0])",
    "maximum_of_numbers": "wide[0, 0] = np.maximum(-np.float32(0.3), 0.3)",
    "truncated": "number[0, 0] = int(3.7 * short[0, 0]) - int(wide[0, 0])",
    "integers_of_numpy": "wide[0, 0] = np.int32(2.5 * short[0, 0]) * short[1, 0] + wide[0, 0]",
    "floor_and_ceil": "number[0, 0] = math.floor(short[0, 0]) + math.ceil(wide[0, 0])",
    "division": "number[0, 0] = near[0, 0] // 4 + near[1, 0] % -3\nwide[0, 0] = near[0, 0] / 4",
    "bits": "number[0, 0] = (near[0, 0] & 5) ^ (near[1, 0] << 2) | (near[0, 1] >> 1)",
    "comparison": "new[0, 0] = 1.0 if short[0, 0] > 0.1 else short[1, 0]",
    "helper": "new[0, 0] = smaller(short[0, 0], short[1, 0]) * 0.3",
    "roots": "new[0, 0] = np.sqrt(abs(short[0, 0])) + np.float32(rate)",
    "minimum": "new[0, 0] = np.minimum(short[0, 0], short[0, 1]) - max(short[0, 0], short[1, 1])",
    "local_array": """
around = [short[1, 0], short[-1, 0], short[0, 1]]
new[0, 0] = around[0] * around[1] + around[2]
""",
    "list_of_python": """
weights = [0.1, 0.7]
weights[0] = 0.3
for k in range(2):
    new[0, 0] += weights[k] * short[k, 0]
""",
    "array_of_numpy": """
weights = np.array([0.1, 0.7])
around = np.array([short[0, 0], short[1, 0]])
wide[0, 0] = weights[0] * short[0, 0] + weights[1]
new[0, 0] = around[0] * around[1] + 0.1
""",
    "array_of_zeros": """
sums = np.zeros(2)
sums[0] += 0.1
wide[0, 0] = sums[0] * short[0, 0]
halves = np.full(2, 0.5, dtype=np.float32)
halves[1] = short[1, 0]
new[0, 0] = halves[0] * 0.1 + halves[1] * short[0, 0]
""",
    "run_time_table": "new[0, 0] = WEIGHTS[near[0, 0] % 3] * short[0, 0] + short[1, 0] * 0.1",
    "branches": """
x = short[0, 0]
if near[0, 0] > 0:
    x = short[1, 0] * rate
new[0, 0] = x * x - x
""",
    "powers": "new[0, 0] = short[0, 0] ** 2 - 0.1 * short[1, 0]",
    "negated": "new[0, 0] = -short[0, 0] + 0.7\nnumber[0, 0] = -near[0, 0]",
    "where": "new[0, 0] = np.where(near[0, 0] > 0, short[0, 0], short[1, 0]) * 0.1",
}
REFUSED = {
    "list_of_several_kinds": (
        "x = [short[0, 0], 0.1]\nnew[0, 0] = x[0]",
        "is computed with 4 bytes or with 8",
    ),
    "list_that_changes": (
        "x = [0.1, 0.2]\nx[0] = short[0, 0]\nnew[0, 0] = x[0] * 0.1",
        "is computed with 4 bytes or with 8",
    ),
    "real_into_integer": ("number[0, 0] = short[0, 0]", "'number' holds"),
    "of_either_kind": (
        "x = short[0, 0] if near[0, 0] > 0 else 0.1\nwide[0, 0] = x * wide[0, 0]",
        "is computed with 4 bytes or with 8",
    ),
    "written_in_short": ("short[0, 0] = 1.0", "is only read"),
}


def loaded(name: str, body: str, folder: Path) -> ModuleType:
    lines = "".join(f"    {line}\n" for line in body.strip().splitlines())
    (folder / f"typed_{name}.py").write_text(HEAD + lines, encoding="utf-8")
    sys.path.insert(0, str(folder))
    sys.modules.pop(f"typed_{name}", None)
    importlib.invalidate_caches()
    try:
        return importlib.import_module(f"typed_{name}")
    finally:
        sys.path.remove(str(folder))


def given() -> dict[str, Any]:
    rng = np.random.default_rng(11)
    return {
        "new": rng.normal(size=POINTS).astype(np.float32),
        "short": rng.normal(size=POINTS).astype(np.float32),
        "wide": rng.normal(size=POINTS),
        "number": rng.integers(-9, 9, POINTS).astype(np.int32),
        "near": rng.integers(-9, 9, POINTS).astype(np.int32),
    }


def by_python(module: ModuleType) -> dict[str, Any]:
    values = given()
    found = {name: values[name].copy() for name in ("new", "wide", "number")}
    for i, j in np.ndindex(*POINTS):
        passed = {
            name: lambda x, y, of=of, i=i, j=j: of[(i + x) % POINTS[0], (j + y) % POINTS[1]]
            for name, of in values.items()
        }
        for name, value in module.work.at(**passed, rate=0.3, step=2).items():
            found[name][i, j] = value
    return found


def by_target(module: ModuleType, target: str) -> dict[str, Any]:
    grid = Grid(POINTS, periodic=(True, True), device="gpu" if target == "cuda" else None)
    fields = {
        name: Field(grid, Points.T, name, values=one, dtype=one.dtype)
        for name, one in given().items()
    }
    configure(target=target)
    try:
        call = "invoke(work(new, short, wide, number, near, rate, step))"
        exec(call, {**vars(module), **fields, "rate": 0.3, "step": 2})
    finally:
        configure()
    return {name: fields[name].gather() for name in ("new", "wide", "number")}


@pytest.mark.parametrize("name", KERNELS)
def test_targets_compute_what_python_does(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PSYCLONE_STORAGE_CFLAGS", "-O1")
    use_device(DeviceKind.EMULATED)
    module = loaded(name, KERNELS[name], tmp_path)
    wanted = by_python(module)
    for target in ("c", "numpy", "cuda"):
        for field, values in by_target(module, target).items():
            np.testing.assert_array_equal(values, wanted[field], f"{target}: {field}")


@pytest.mark.parametrize("name", REFUSED)
def test_other_kernels_are_refused(name: str, tmp_path: Path) -> None:
    body, message = REFUSED[name]
    with pytest.raises(CompileError) as caught:
        by_target(loaded(name, body, tmp_path), "c")
    assert message in caught.value.problems[0].message


def test_a_field_of_another_type_is_refused(tmp_path: Path) -> None:
    module = loaded("types", KERNELS["division"], tmp_path)
    grid = Grid(POINTS)
    short = Field(grid, label="short")
    others = (Field(grid, dtype=one) for one in (np.float32, np.float64, np.int32, np.int32))
    first, *rest = others
    with pytest.raises(TypeError, match="'short' has values of the type float64, but what is"):
        exec(
            "invoke(work(first, short, *rest, 0.3, 2))",
            {**vars(module), "first": first, "short": short, "rest": rest},
        )


def test_operations_of_fields() -> None:
    grid = Grid(POINTS, periodic=(True, True))
    values = given()
    short = Field(grid, values=values["short"], dtype=np.float32)
    number = Field(grid, values=values["near"], dtype=np.int32)
    exact = values["short"].astype(np.float64)
    assert short.sum(reproducible=True) == pytest.approx(exact.sum(), rel=1e-15)
    assert short.sum() == pytest.approx(exact.sum(), rel=1e-12)
    assert short.dot(short) == pytest.approx((exact * exact).sum(), rel=1e-12)
    assert number.sum() == number.sum(reproducible=True) == values["near"].sum()
    assert number.mean() == values["near"].sum() / 35
    assert (number.min(), number.max()) == (values["near"].min(), values["near"].max())
    short.fill(0.1)
    assert short[0, 0] == np.float32(0.1)
    number.fill(3)
    number[0, :] = 4
    assert number.sum() == 3 * 30 + 4 * 5
    with pytest.raises(TypeError, match="has values of int32"):
        number.fill(0.5)
