"""Indices of layers, local arrays and tables: Python's element or an `IndexError`."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from command import run_words
from psyclone_storage.base.source import SourceText, Span
from psyclone_storage.gocean import (
    GO_CT,
    GO_GRID_MASK_T,
    GO_I_SCALAR,
    GO_INT32,
    GO_INTERNAL_PTS,
    GO_LAYERS,
    GO_OFFSET_ANY,
    GO_READ,
    GO_READWRITE,
    complete_invokes,
    configure,
    field,
    grid_property,
    invoke,
    kernel,
    layers,
    scalar,
)
from psyclone_storage.languages.c.bounds import CheckedPlace
from psyclone_storage.runtime.gocean import Field, Grid
from psyclone_storage.storage.core.device import DeviceKind, use_device
from psyclone_storage.storage.core.errors import PoisonedDataError

POINTS, LAYERS = (3, 2), 5
TABLE = (2.0, 3.0, 5.0)
FAR = (10**9, -(10**9), 2**31 - 1, -(2**31))


@kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_ANY)
def under_condition(
    new: field[GO_READWRITE, GO_CT, GO_LAYERS],
    old: field[GO_READ, GO_CT, GO_LAYERS],
    depth: field[GO_READ, GO_CT, GO_INT32],
    n: scalar[GO_READ, GO_I_SCALAR],
):
    for k in layers():
        if depth[0, 0] > 3:
            new[0, 0, k] = old[0, 0, k + n]


@kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_ANY)
def written(
    new: field[GO_READWRITE, GO_CT, GO_LAYERS],
    old: field[GO_READ, GO_CT, GO_LAYERS],
    depth: field[GO_READ, GO_CT, GO_INT32],
    n: scalar[GO_READ, GO_I_SCALAR],
):
    if depth[0, 0] > 3:
        new[0, 0, n] = old[0, 0, 0]


@kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_ANY)
def from_data(
    new: field[GO_READWRITE, GO_CT, GO_LAYERS],
    old: field[GO_READ, GO_CT, GO_LAYERS],
    depth: field[GO_READ, GO_CT, GO_INT32],
    n: scalar[GO_READ, GO_I_SCALAR],
):
    bottom = depth[0, 0]
    for k in range(bottom):
        new[0, 0, k] = 2.0 * old[0, 0, k]
    new[0, 0, 0] += old[0, 0, bottom] if bottom > n else 0.5


@kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_ANY)
def masked(
    new: field[GO_READWRITE, GO_CT, GO_LAYERS],
    old: field[GO_READ, GO_CT, GO_LAYERS],
    depth: field[GO_READ, GO_CT, GO_INT32],
    n: scalar[GO_READ, GO_I_SCALAR],
    mask: grid_property[GO_GRID_MASK_T],
):
    if mask[0, 0] == 1 and old[0, 0, depth[0, 0]] > 0.0:
        new[0, 0, 0] = old[0, 0, depth[0, 0] - n]


def moved(values: Any, out: Any, k: Any, by: Any) -> Any:
    """Move a value by some layers."""
    out[0, 0, k] += values[0, 0, k + by]


@kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_ANY)
def by_function(
    new: field[GO_READWRITE, GO_CT, GO_LAYERS],
    old: field[GO_READ, GO_CT, GO_LAYERS],
    depth: field[GO_READ, GO_CT, GO_INT32],
    n: scalar[GO_READ, GO_I_SCALAR],
):
    for k in reversed(layers()):
        if k < depth[0, 0]:
            moved(old, new, k, n)


@kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_ANY)
def recurrence(
    new: field[GO_READWRITE, GO_CT, GO_LAYERS],
    old: field[GO_READ, GO_CT, GO_LAYERS],
    depth: field[GO_READ, GO_CT, GO_INT32],
    n: scalar[GO_READ, GO_I_SCALAR],
):
    new[0, 0, 0] = old[0, 0, 0] / (1.0 + old[0, 0, 1])
    for k in range(1, len(layers())):
        new[0, 0, k] = old[0, 0, k] / (1.0 + new[0, 0, k - 1])
        if depth[0, 0] > 3 or k * n > 2000:
            new[0, 0, k] += new[0, 0, k - n] / old[0, 0, k * n]


@kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_ANY)
def local_arrays(
    new: field[GO_READWRITE, GO_CT, GO_LAYERS],
    old: field[GO_READ, GO_CT, GO_LAYERS],
    depth: field[GO_READ, GO_CT, GO_INT32],
    n: scalar[GO_READ, GO_I_SCALAR],
):
    a = np.zeros((2, 3))
    if depth[0, 0] > 1:
        a[1, n] = old[0, 0, 0]
    new[0, 0, 0] = a[1, 2] + (TABLE[depth[0, 0] - n] if depth[0, 0] > 3 else 0.0)


@kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_ANY)
def overflowing(
    new: field[GO_READWRITE, GO_CT, GO_LAYERS],
    old: field[GO_READ, GO_CT, GO_LAYERS],
    depth: field[GO_READ, GO_CT, GO_INT32],
    n: scalar[GO_READ, GO_I_SCALAR],
):
    a = np.zeros(4)
    a[depth[0, 0]] = 2.0
    a[min(abs(n), 3)] = 1.0
    new[0, 0, 0] = a[min((n % 100000) * (n % 99999), 3)] + TABLE[(n * n) % 3] + old[0, 0, 0]


@kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_ANY)
def eager(
    new: field[GO_READWRITE, GO_CT, GO_LAYERS],
    old: field[GO_READ, GO_CT, GO_LAYERS],
    depth: field[GO_READ, GO_CT, GO_INT32],
    n: scalar[GO_READ, GO_I_SCALAR],
):
    if (depth[0, 0] < 3) & (TABLE[depth[0, 0]] > 2.5) | (n == 1):
        new[0, 0, 0] = np.where(n < 5, old[0, 0, n], 0.5)
    if (depth[0, 0] > 3) | (TABLE[depth[0, 0]] > 2.5):
        new[0, 0, 1] = 2.0


@kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_ANY)
def lazy(
    new: field[GO_READWRITE, GO_CT, GO_LAYERS],
    old: field[GO_READ, GO_CT, GO_LAYERS],
    depth: field[GO_READ, GO_CT, GO_INT32],
    n: scalar[GO_READ, GO_I_SCALAR],
):
    if (-3 <= depth[0, 0] < 3 and TABLE[depth[0, 0]] > 2.5) or n == 1:
        new[0, 0, 0] = old[0, 0, n] if n < 5 else 0.5


@kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_ANY)
def counted(
    new: field[GO_READWRITE, GO_CT, GO_LAYERS],
    old: field[GO_READ, GO_CT, GO_LAYERS],  # noqa: ARG001
    depth: field[GO_READ, GO_CT, GO_INT32],  # noqa: ARG001
    n: scalar[GO_READ, GO_I_SCALAR],
):
    new[0, 0, 0] = 0.0
    for k in range(n):
        if k > 4:
            break
        new[0, 0, 0] += 13.0
    for k in range(3, n, -1):
        if k < -3:
            break
        new[0, 0, 0] += k


KERNELS = (
    under_condition,
    written,
    from_data,
    masked,
    by_function,
    recurrence,
    local_arrays,
    eager,
    lazy,
)


@pytest.fixture(params=["c", "cuda", "numpy"], autouse=True)
def target(request: pytest.FixtureRequest) -> Iterator[str]:
    """Return the target for which invokes are compiled."""
    use_device(DeviceKind.EMULATED)
    configure(target=request.param)
    yield request.param
    use_device(DeviceKind.AUTO)
    configure()


def grid_for(target: str) -> Grid:
    mask = np.ones(POINTS, int)
    mask[0] = 0
    on = "gpu" if target == "cuda" else None
    return Grid(POINTS, boundaries="closed", mask=mask, device=on)


def fields(target: str, depths: Any) -> tuple[Field, Field, Field]:
    """Return fields with different values at all points."""
    grid = grid_for(target)
    values = 1.0 + np.arange(30.0).reshape(*POINTS, LAYERS)
    depth = Field(grid, dtype=np.int32)
    depth[...] = depths
    return (
        Field(grid, layers=LAYERS, values=-values),
        Field(grid, layers=LAYERS, values=values),
        depth,
    )


def expected(requested: Any, depths: Any, n: int) -> Any:
    """Return what the kernel's function computes at each point, or the error that it raises."""
    new = -1.0 - np.arange(30.0).reshape(*POINTS, LAYERS)
    for at in np.ndindex(*POINTS):
        given = {"mask": 0 if at[0] == 0 else 1} if requested is masked else {}
        old = -new_of(at)
        try:
            new[at] = requested.at(new=new[at], old=old, depth=int(depths[at]), n=n, **given)
        except IndexError as error:
            return error
    return new


def new_of(at: tuple[int, ...]) -> Any:
    return (-1.0 - np.arange(30.0).reshape(*POINTS, LAYERS))[at]


def computed(requested: Any, target: str, depths: Any, n: int) -> Any:
    """Return what an invoke computes, or the error that it raises."""
    new, old, depth = fields(target, depths)
    try:
        invoke(requested(new, old, depth, n), name=f"{requested.function.__name__}_invoke")
        found = new.values
    except (IndexError, PoisonedDataError) as error:
        return error
    return found


DEPTHS = {
    "shallow": np.full(POINTS, 1),
    "one point deep": np.array([[1, 1], [1, 4], [1, 1]]),
    "one point too deep": np.array([[1, 2], [1, 3], [9, 1]]),
    "negative": np.array([[1, 2], [-2, 3], [-5, 4]]),
    "far": np.array([[1, 2], [2, 3], [10**9, 4]]),
    "farthest": np.array([[1, 2], [-(2**31), 3], [2**31 - 1, 4]]),
    "land alone": np.array([[99, 2], [2, 3], [0, 4]]),
}


@pytest.mark.parametrize("requested", KERNELS, ids=lambda one: one.function.__name__)
def test_targets_read_what_python_reads_or_raise_as_it_does(requested: Any, target: str) -> None:
    raised = 0
    for name, depths in DEPTHS.items():
        for n in (0, 1, -1, 2, -5, 5, -6, *FAR):
            if name in {"far", "farthest"} and requested is from_data:
                continue  # loops over 10**9 iterations and more
            if abs(n) > 10**6 and (requested is recurrence or name == "farthest"):
                continue  # products and differences that do not fit into 32 bits
            wanted = expected(requested, depths, n)
            found = computed(requested, target, depths, n)
            if isinstance(wanted, IndexError):
                raised += 1
                assert isinstance(found, IndexError | PoisonedDataError), (name, n, found)
                assert "out of bounds" in str(found)
            else:
                assert not isinstance(found, Exception), (name, n, found)
                np.testing.assert_array_equal(found, wanted, err_msg=f"{name}, {n}")
    assert raised > 5


@pytest.mark.parametrize("n", [1, 46341, -(2**31), 2**31 - 1, 65536 * 3 + 2])
def test_indices_that_overflow_stay_within_arrays(n: int, target: str) -> None:
    found = computed(overflowing, target, DEPTHS["shallow"], n)
    if isinstance(found, Exception):
        assert n != 1
        assert "out of bounds" in str(found)
        return
    old = 1.0 + LAYERS * np.arange(6.0).reshape(POINTS)
    sums = {one + other for one in (0.0, 1.0, 2.0) for other in TABLE}
    assert set((found[:, :, 0] - old).ravel()) <= sums
    if n == 1:
        np.testing.assert_array_equal(found, expected(overflowing, DEPTHS["shallow"], n))


@pytest.mark.parametrize("n", [46341, -(2**31), 65536 * 3 + 2])
def test_bounds_checks_hold_for_indices_that_overflow(n: int, target: str) -> None:
    if target == "numpy":
        pytest.skip("has no bounds checks to choose")
    configure(target=target, config_opts="BOUNDS_CHECKS=true")
    test_indices_that_overflow_stay_within_arrays(n, target)


def test_an_error_names_kernel_place_argument_and_index(target: str) -> None:
    error = computed(under_condition, target, DEPTHS["one point deep"], 10**9)
    error = error.__cause__ or error
    (line,) = (
        number
        for number, text in enumerate(Path(__file__).read_text().splitlines(), 1)
        if text.endswith(f"{' ' * 12}new[0, 0, k] = old[0, 0, k + n]")
    )
    assert str(error) == (
        f"kernel 'under_condition', {__file__} line {line}: new[0, 0, k] = old[0, 0, k + n]: "
        f"'old': index {10**9} is out of bounds, as the length is {LAYERS}."
    )


def test_an_error_names_the_table(target: str) -> None:
    error = computed(local_arrays, target, DEPTHS["one point deep"], 0)
    error = error.__cause__ or error
    assert "'TABLE': index 4 is out of bounds, as the length is 3." in str(error)


def test_integers_of_numpy_have_the_values_of_python(target: str) -> None:
    wanted = expected(under_condition, DEPTHS["one point deep"], -1)
    found = computed(under_condition, target, DEPTHS["one point deep"], np.int64(-1))
    np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("n", [2**31, -(2**31) - 1, np.int64(2**40)])
def test_scalars_of_more_than_32_bits_are_errors(n: int, target: str) -> None:
    if target == "numpy":
        pytest.skip("computes with the integers of Python")
    new, old, depth = fields(target, DEPTHS["shallow"])
    with pytest.raises(OverflowError, match=f"32-bit integers.* given {n}"):
        invoke(local_arrays(new, old, depth, n))
    assert new.sum() == new_of(...).sum()


@pytest.mark.parametrize("n", [-(2**31), -(2**31) + 1, 2, 2**31 - 1])
def test_ranges_end_at_the_extreme_integers(n: int, target: str) -> None:
    new, old, depth = fields(target, DEPTHS["shallow"])
    invoke(counted(new, old, depth, n))
    wanted = new_of(...)
    wanted[:, :, 0] = 13.0 * max(min(n, 5), 0) + sum(range(3, max(n, -4), -1))
    np.testing.assert_array_equal(new.values, wanted)


def test_an_error_leaves_no_partial_values_and_the_next_call_is_right(target: str) -> None:
    new, old, depth = fields(target, DEPTHS["one point deep"])
    with pytest.raises((IndexError, PoisonedDataError)):
        _ = invoke(under_condition(new, old, depth, 1)), new.values
    with pytest.raises(PoisonedDataError):
        _ = new.values
    assert old.values[0, 0, 0] == 1.0
    assert isinstance(computed(under_condition, target, DEPTHS["one point deep"], 0), np.ndarray)


def test_deferred_invokes_raise_when_they_are_completed(target: str) -> None:
    configure(target=target, defer=True)
    new, old, depth = fields(target, DEPTHS["one point deep"])
    invoke(under_condition(new, old, depth, 10**9))
    invoke(written(new, old, depth, 0))
    with pytest.raises((IndexError, PoisonedDataError), match="out of bounds"):
        _ = complete_invokes(), new.values


def test_threads_get_their_own_errors(target: str) -> None:
    found: dict[int, list[Any]] = {0: [], 10**9: []}

    def repeat(n: int) -> None:
        for _ in range(10):
            found[n].append(computed(under_condition, target, DEPTHS["one point deep"], n))

    threads = [threading.Thread(target=repeat, args=(n,)) for n in found]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [type(one) for one in found[0]] == [np.ndarray] * 10
    assert all("out of bounds" in str(one) for one in found[10**9])


def test_a_field_with_fewer_layers_is_checked_only_where_it_is_read(target: str) -> None:
    """Whether a field has enough layers is known at run time, point by point."""
    grid = grid_for(target)
    new, depth = Field(grid, layers=LAYERS), Field(grid, dtype=np.int32)
    few = Field(grid, layers=LAYERS - 2, values=1.0)
    depth[...] = 1
    invoke(under_condition(new, few, depth, 0))
    assert new.sum() == 0.0
    depth[...] = 4
    with pytest.raises((IndexError, PoisonedDataError), match="index 3 is out of bounds"):
        _ = invoke(under_condition(new, few, depth, 0)), new.values


PROVEN = [
    "for k in layers(old):\n    if k > 0:\n        new[0, 0, 0] += old[0, 0, k - 1]",
    (
        "new[0, 0, 0] = old[0, 0, 0]\nfor k in range(1, len(layers()) - 1):\n"
        "    new[0, 0, k] = old[0, 0, k - 1] + old[0, 0, k + 1]"
    ),
    (
        "top = len(layers(old)) - 1\nfor k in range(top + 1):\n"
        "    new[0, 0, 0] += old[0, 0, min(k + 1, top)] + old[0, 0, max(k - 2, 0)]"
    ),
    "for k in layers(old):\n    new[0, 0, 0] += old[0, 0, k - 1] if k >= 1 else old[0, 0, k]",
    (
        "for k in layers(old):\n    if k == 0 or k + 1 >= len(layers(old)):\n        continue\n"
        "    new[0, 0, 0] += old[0, 0, k + 1] - old[0, 0, k - 1]"
    ),
    "if 0 <= n and n < len(layers(old)):\n    new[0, 0, 0] = old[0, 0, n]",
    "if 0 <= n and n < len(layers(old)) - 1:\n    new[0, 0, 0] = old[0, 0, n + 1]",
    "b = depth[0, 0]\nif b >= 0 and b < len(layers(old)):\n    new[0, 0, 0] = old[0, 0, b]",
    (
        "for k in reversed(layers()):\n    new[0, 0, k] = old[0, 0, k]\n"
        "    if depth[0, 0] > 3 and k < len(layers()) - 1:\n"
        "        new[0, 0, k] += new[0, 0, k + 1]"
    ),
    "a = np.zeros(4)\nfor k in layers():\n    a[k % 4] = old[0, 0, k]\nnew[0, 0, 0] = a[3]",
    "a = np.zeros(4)\na[n & 3] = 2.0\nnew[0, 0, 0] = a[n % 4]",
    "new[0, 0, 0] = TABLE[min(max(n, -1), 1) + 1] + TABLE[min(max(depth[0, 0], 0), 2)]",
    "m = int(old[0, 0, 0])\nif m >= 0 and m < len(layers()):\n    new[0, 0, m] = 2.0",
]
"""Statements whose indices are certainly in range."""
OVERFLOWING = (
    "min(abs(n), 2)",
    "min(-min(n, 0), 2)",
    "min((n % 2000000000) + (n % 1999999999), 2)",
    "min((n % 100000) * (n % 99999), 2)",
    "(n * n) % 3",
    "abs(n) % 3",
    "(n + n) % 3",
)
"""Indices that would be in range if integers had more than 32 bits."""
FAR_AWAY = " + 16777216" * 128
DOUBLED = (
    "for k in layers(old):\n    x0 = k + 16777216\n    y0 = k + 16777216\n"
    + "".join(f"    x{i + 1} = x{i} + y{i}\n    y{i + 1} = x{i} + y{i}\n" for i in range(6))
    + "    x7 = x6 + y6\n    if x6 >= 0 and y6 >= 0:\n"
    "        new[0, 0, 0] += old[0, 0, min(x7, len(layers(old)) - 1)]"
)
NOT_PROVEN = [
    "new[0, 0, 0] = old[0, 0, 1] if depth[0, 0] > 0 else 0.0",
    "if 0 <= n and n + 1 < len(layers(old)):\n    new[0, 0, 0] = old[0, 0, n + 1]",  # overflow
    "m = n + 1\nif 0 <= n and m < len(layers(old)):\n    new[0, 0, 0] = old[0, 0, n]",
    "if 0 <= n and n < len(layers(old)):\n    m = n\n    m *= 3\n    new[0, 0, 0] = old[0, 0, m]",
    (
        "b = n\nif b >= 0 and b < len(layers(old)):\n    for k in range(3):\n"
        "        new[0, 0, 0] += old[0, 0, b]\n        b = b + 1"
    ),
    "if n >= 0 or n < len(layers(old)):\n    new[0, 0, 0] = old[0, 0, n]",
    "if not (n < 0 and n >= len(layers(old))):\n    new[0, 0, 0] = old[0, 0, n]",
    (
        "if 0 <= depth[0, 0] and depth[0, 0] < len(layers(old)) and n > 0:\n    pass\n"
        "else:\n    new[0, 0, 0] = old[0, 0, depth[0, 0]]"
    ),
    "x = 1.0 * n\nif 0.5 <= x and x < len(layers(old)):\n    new[0, 0, 0] = old[0, 0, int(x)]",
    "if depth[0, 0] > 3:\n    for k in layers(new):\n        new[0, 0, k] = old[0, 0, k]",
    "for k in range(0, n):\n    if k < len(layers(old)):\n        new[0, 0, 0] += old[0, 0, k - n]",
    "k = 0\nwhile k < 3:\n    k += 1\n    new[0, 0, 0] += old[0, 0, k]",
    *(f"new[0, 0, 0] = TABLE[{index}]" for index in OVERFLOWING),
    *(f"a = np.zeros(3)\na[{index}] = 2.0\nnew[0, 0, 0] = a[0]" for index in OVERFLOWING),
    "m = n * n\nif m >= 0 and m < 3:\n    new[0, 0, 0] = TABLE[m]",
    "new[0, 0, 0] = TABLE[min(max(n * n, 0), 2)]",
    f"for k in layers(old):\n    new[0, 0, 0] = old[0, 0, min(k{FAR_AWAY}, len(layers(old)) - 1)]",
    "for k in range(1, 3):\n    new[0, 0, 0] = TABLE[min(k * k * 1073741824, 2)]",
    DOUBLED,
]
HEAD = """\
import numpy as np
from psyclone_storage.gocean import *

TABLE = (2.0, 3.0, 5.0)


@kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_ANY)
def work(
    new: field[GO_READWRITE, GO_CT, GO_LAYERS],
    old: field[GO_READ, GO_CT, GO_LAYERS],
    depth: field[GO_READ, GO_CT, GO_INT32],
    n: scalar[GO_READ, GO_I_SCALAR],
):
"""


@pytest.mark.parametrize(
    ("statements", "checks"),
    [*((one, False) for one in PROVEN), *((one, True) for one in NOT_PROVEN)],
)
def test_only_indices_that_are_not_proven_are_checked(
    statements: str, *, checks: bool, tmp_path: Path, target: str
) -> None:
    if target == "cuda":
        pytest.skip("prints kernels as target c does")
    body = "".join(f"    {line}\n" for line in statements.splitlines())
    model = "\n\ndef model(new, old, depth, n):\n    invoke(work(new, old, depth, n))\n"
    (tmp_path / "model.py").write_text(HEAD + body + model)
    words = ["-api", "gocean", "--target", target, "model.py", "-opsy", "psy.py", "-oalg", "alg.py"]
    status, output, errors = run_words(words, tmp_path)
    assert status == 0, output + errors
    text = (tmp_path / ("psy.c" if target == "c" else "psy.py")).read_text()
    word = "psy_index(" if target == "c" else "checked_index("
    assert (word in text) is checks


def test_a_place_without_text_has_no_statement_in_its_message() -> None:
    place = CheckedPlace("bottom_code", Span(SourceText("model.py", ""), 0, 0), "old")
    assert [*place.texts(1)] == ["kernel 'bottom', model.py line 1: 'old'"]
