"""LFRic's loops as kernels of CUDA: which threads there are, and what a launch is passed."""

from __future__ import annotations

import ast
import ctypes
import re
from typing import Any

import numpy as np
import pytest

from nvrtc import check_cuda
from psyclone_storage.base.diagnostic import CompileError
from psyclone_storage.base.source import SourceText
from psyclone_storage.config.load import load_settings
from psyclone_storage.config.locate import search_context
from psyclone_storage.pipeline.compile import Build, make_compiler
from psyclone_storage.pipeline.request import CompileRequest
from psyclone_storage.runtime import native as native_module
from psyclone_storage.runtime.lfric import ExactSum
from psyclone_storage.runtime.lfric import device as device_module
from psyclone_storage.runtime.lfric.device import ColumnLaunch, LaunchWords
from psyclone_storage.runtime.lfric.summing import LENGTH
from psyclone_storage.runtime.native import ScalarArray
from psyclone_storage.targets.native.thread_mapping import MOST_SUMMING
from unit.targets.native.test_device import built as built_for_points
from unit.targets.native.test_device import cuda_of

KERNELS = """
import numpy as np
from psyclone_storage.lfric import *


@kernel(operates_on=CELL_COLUMN)
def push(wind: field[GH_INC, W2], pressure: field[GH_READ, W3], rate: scalar[GH_REAL, GH_READ]):
    for k in layers():
        wind[0, k] += rate * pressure[0, k]


@kernel(operates_on=CELL_COLUMN)
def flow(pressure: field[GH_READWRITE, W3], wind: field[GH_READ, W2]):
    for k in layers():
        pressure[0, k] += wind[0, k]


@kernel(operates_on=CELL_COLUMN)
def turn(pressure: field[GH_READWRITE, W3]):
    own = np.zeros(len(layers()))
    for k in layers():
        own[k] = pressure[0, k]
    for k in layers():
        pressure[0, k] = own[0]


share = 0.5


@kernel(operates_on=CELL_COLUMN)
def damp(pressure: field[GH_READWRITE, W3]):
    own = np.zeros(len(layers()))
    for k in layers():
        own[k] = share * pressure[0, k]
    for k in layers():
        pressure[0, k] = own[0]


@kernel(operates_on=DOMAIN)
def count(pressure: field[GH_READWRITE, W3]):
    for cell in cells():
        pressure[0, 0, cell] = 1.0
"""
HEAD = """
from columns_mod import count, damp, flow, push, turn
from psyclone_storage.lfric import *
def run(wind, pressure, other, rate, total, least):
    invoke({})
"""


def built(tmp_path: Any, calls: str, steps: str = "", settings: str = "") -> Build:
    """Return what is made of an algorithm for a device."""
    (tmp_path / "columns_mod.py").write_text(KERNELS)
    asked = CompileRequest(
        "lfric", directories=(tmp_path,), steps=steps, suffix=".py",
        target="cuda",
    )  # fmt: skip
    loaded = load_settings("", settings, search_context({}))
    text = HEAD.format(calls)
    return make_compiler(loaded, asked).compile_text(SourceText("alg.py", text))


def launches(build: Build) -> list[tuple[str, LaunchWords]]:
    """Return the types of the scalars of each kernel, and how it is launched."""
    described = re.findall(r'\("(invoke_0\w*)", "(\w*)", "\w?", (.*)\),$', build.psy_text, re.M)
    return [(types, LaunchWords(*ast.literal_eval(rest))) for _, types, rest in described]


def test_columns_and_dofs_have_threads_of_their_own(tmp_path: Any) -> None:
    build = built(tmp_path, "flow(pressure, wind), setval_c(wind, 0.0)")
    (_, first), (_, second) = launches(build)
    assert first.threads >= 0
    assert second.threads >= 0
    assert first.colours == second.colours == -1
    assert "one thread" not in cuda_of(build)


def test_colours_follow_each_other(tmp_path: Any) -> None:
    build = built(tmp_path, "push(wind, pressure, rate)", "colour")
    types, words = launches(build)[-1]
    assert types == "d"
    assert words.colours >= 0
    text = cuda_of(build)
    assert f"for (int32_t colour = 1; colour <= counts[{words.colours}]; ++colour)" in text
    assert "int(last_halo_cells_of_colours.max(initial=0))" in build.psy_text


def test_threads_of_the_host_are_left_out(tmp_path: Any) -> None:
    build = built(tmp_path, "push(wind, pressure, rate)", "colour; openmp-parallel-do")
    assert "#pragma" not in cuda_of(build)
    assert launches(build)[-1][1].threads >= 0


def test_columns_that_share_what_they_change_are_refused_by_name(tmp_path: Any) -> None:
    with pytest.raises(CompileError, match="G005") as caught:
        built(tmp_path, "push(wind, pressure, rate), push(other, pressure, 0.5)")
    first, second = caught.value.problems
    assert "'push' changes 'wind'" in first.message
    assert "'push' changes 'other'" in second.message
    assert "--apply colour" in first.hint
    assert first.span is not None


def test_sums_and_domains_have_one_thread(tmp_path: Any) -> None:
    calls = "sum_X(total, pressure), minval_X(least, pressure), count(pressure)"
    build = built(tmp_path, calls)
    *sums, domain = launches(build)
    assert "".join(words.results for _, words in sums) == "dd"
    assert all(words.threads == -1 for _, words in (*sums, domain))
    text = cuda_of(build)
    assert "#pragma" not in text


def test_numbers_that_are_reduced_begin_in_their_own_kernel(tmp_path: Any) -> None:
    text = cuda_of(built(tmp_path, "sum_X(total, pressure), flow(pressure, wind)"))
    (first,) = re.findall(r"void invoke_0_1_loops\(.*?\n}", text, re.DOTALL)
    assert "total = 0.0;" in first
    assert "for (df = 1;" in first
    assert "*total_found = total;" in first


def test_halos_that_are_filled_have_threads(tmp_path: Any) -> None:
    build = built(tmp_path, "push(wind, pressure, rate)", "colour")
    assert "adds to these dofs of wind" in cuda_of(build)
    assert [words.threads >= 0 for _, words in launches(build)] == [True, True]
    assert "one thread" not in cuda_of(build)


def test_lengths_that_are_not_known_are_refused(tmp_path: Any) -> None:
    with pytest.raises(CompileError, match="the length of 'own'") as caught:
        built(tmp_path, "turn(pressure)")
    (problem,) = caught.value.problems
    assert "kernel-constants" in problem.hint
    build = built(tmp_path, "turn(pressure)", "kernel-constants{number_of_layers=4}")
    assert "double own[4];" in cuda_of(build)


def test_what_is_refused_for_its_length_may_read_a_variable_of_its_module(tmp_path: Any) -> None:
    with pytest.raises(CompileError, match="the length of 'own'"):
        built(tmp_path, "damp(pressure)")
    build = built(tmp_path, "damp(pressure)", "kernel-constants{number_of_layers=4}")
    assert "double own[4];" in cuda_of(build)
    assert "from columns_mod import share" in build.psy_text


def test_pseudo_random_numbers_are_refused(tmp_path: Any) -> None:
    with pytest.raises(CompileError, match="no pseudo-random numbers"):
        built(tmp_path, "setval_random(pressure)")


def test_exact_sums_are_digits_that_a_launch_adds_to_those_of_the_host(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    build = built(tmp_path, "sum_X(total, pressure)", settings="EXACT_SUMS=true")
    check_cuda(cuda_of(build))
    ((types, words),) = launches(build)
    assert (types, words.results) == ("l", "x")
    assert words.threads >= 0, "dofs are shared by threads"
    total, digits = ExactSum(), np.zeros(LENGTH, np.int64)
    total.add(np.array([0.5]))
    digits[:2] = 3, -1
    asked: list[int] = []

    class Room:
        data = type("Data", (), {"ptr": 4096})

        def get(self) -> np.ndarray[Any, Any]:
            return digits.view(np.uint64)

    monkeypatch.setattr(
        device_module, "room_for_numbers", lambda count: asked.append(count) or Room()
    )
    ColumnLaunch(lambda *_: None, types, words)([0] * 9, [], [1] * 20, total.address)
    assert asked == [LENGTH]
    expected = ExactSum()
    expected.add(np.array([0.5, 3 * 5e-324, -(2.0**32) * 5e-324]))
    assert total.total_of_rank() == expected.total_of_rank()


@pytest.mark.parametrize(
    "calls", ["sum_X(total, pressure)", "setval_c(wind, 0.0), sum_X(total, wind)"]
)
def test_threads_have_digits_of_their_own_which_they_give_at_once(
    calls: str, tmp_path: Any
) -> None:
    build = built(tmp_path, calls, settings="EXACT_SUMS=true")
    text = cuda_of(build)
    check_cuda(text)
    assert f"int64_t digits[{LENGTH}] = {{0}};" in text
    assert "psy_give_digits(total_exact, digits);" in text
    assert f", {MOST_SUMMING})" in build.psy_text
    assert "one thread" not in text


@pytest.mark.parametrize("exact", [True, False])
def test_what_is_reduced_to_in_order_has_one_thread(exact: bool, tmp_path: Any) -> None:
    """A sum that is rounded each time depends on the order; so does which zero is the least."""
    calls = "sum_X(total, pressure), minval_X(least, pressure)"
    build = built(tmp_path, calls, settings=f"EXACT_SUMS={exact}")
    shared = {words.results: words.threads >= 0 for _, words in launches(build)}
    assert shared == {"xd" if exact else "dd": False}


def test_data_of_later_kernels_come_beside_earlier_ones(tmp_path: Any) -> None:
    text = built(tmp_path, "flow(pressure, wind), flow(other, wind)").psy_text
    lines = [line.strip() for line in text.splitlines()]
    (late,) = [line for line in lines if line.startswith("# other: ")]
    assert "on its way from the beginning, waited for by flow" in late
    assert sum("on its way" in line for line in lines) == 1


@pytest.mark.parametrize(
    ("calls", "steps"),
    [
        ("flow(pressure, wind), setval_c(wind, 0.0)", ""),
        ("push(wind, pressure, rate), push(other, pressure, 0.5)", "colour"),
        ("push(wind, pressure, rate)", "colour{tiling=true}"),
        ("sum_X(total, pressure), minval_X(least, pressure), count(pressure)", ""),
        ("turn(pressure)", "kernel-constants{number_of_layers=4}"),
    ],
)
def test_texts_are_cuda(calls: str, steps: str, tmp_path: Any) -> None:
    check_cuda(cuda_of(built(tmp_path, calls, steps)))


def test_kernels_for_points_are_cuda() -> None:
    check_cuda(cuda_of(built_for_points()))


# ---------------------------------------------------------------------------- launches

NUMBERS = {"int64_t": np.int64, "double": np.float64, "int32_t": np.int32}


def test_a_launch_is_passed_what_the_kernel_declares(tmp_path: Any) -> None:
    build = built(tmp_path, "push(wind, pressure, rate), flow(pressure, wind)", "colour")
    text = cuda_of(build)
    counts = list(range(100, 150))
    for number, (types, words) in enumerate(launches(build), 1):
        found: list[tuple[Any, ...]] = []
        counts[words.colours if number == 1 else 0] = 3
        launch = ColumnLaunch(lambda *given, to=found: to.append(given), types, words)
        launch([7] * 20, [], counts, *([1] * len(types)))
        assert len(found) == (3 if number == 1 else 1)
        threads = counts[words.threads]
        assert found[0][:2] == ((-(-threads // 128),), (128,))
        head = re.search(rf"void invoke_0_{number}_points\((.*?)\)", text, re.DOTALL)
        assert head is not None
        declared = [item.split() for item in head[1].split(",")]
        kinds = [np.uint64 if "*restrict" in words_ else NUMBERS[words_[-2]] for words_ in declared]
        for _, _, passed in found:
            assert [type(one) for one in passed] == kinds
    names = [item[-1] for item in declared]
    assert "threads" in names


def test_what_is_reduced_to_is_brought(monkeypatch: pytest.MonkeyPatch) -> None:
    class Room:
        def __init__(self, count: int) -> None:
            self.values = np.zeros(count)
            self.data = self
            self.ptr = 4096

        def get(self) -> np.ndarray[Any, Any]:
            return self.values

    rooms: list[Room] = []
    monkeypatch.setattr(
        device_module, "room_for_numbers", lambda count: rooms.append(Room(count)) or rooms[-1]
    )

    def kernel(_blocks: Any, _size: Any, passed: Any) -> None:
        assert passed[-2:] == (4096, 4104)
        rooms[-1].values[0] = 2.5
        rooms[-1].values.view(np.int32)[2] = 7

    launch = ColumnLaunch(kernel, "dll", LaunchWords((0,), (), -1, -1, "di"))
    total, many, beside = ctypes.c_double(), (ctypes.c_int32 * 2)(1, 2), ctypes.addressof
    launch([8], [], [], 0.5, beside(total), beside(many))
    assert (total.value, *many) == (2.5, 7, 2)
    assert launch.restype is not None


def test_no_threads_are_not_launched() -> None:
    found: list[Any] = []
    words = LaunchWords((), (), 0, -1, "")
    launch = ColumnLaunch(lambda *given: found.append(given), "", words)
    launch([], [], [0])
    assert found == []
    launch([], [], [1])
    assert len(found) == 1


def test_arrays_and_reals_of_four_bytes_are_passed(monkeypatch: pytest.MonkeyPatch) -> None:
    there = np.array([[1.5, 2.5]], order="F")
    monkeypatch.setattr(native_module, "copied_to_device", lambda values: there + 0 * values)
    found: list[Any] = []
    launch = ColumnLaunch(
        lambda *given: found.append(given), "aif", LaunchWords((), (), -1, -1, "")
    )
    launch([], [], [], ScalarArray(np.zeros((1, 2), order="F")), 3, 0.1)
    (_, _, (address, whole, real)) = found[0]
    assert [type(one) for one in (address, whole, real)] == [np.uint64, np.int32, np.float32]
    assert real == np.float32(0.1)
    assert address != there.ctypes.data


SINGLES = """
@kernel(operates_on=CELL_COLUMN)
def look(pressure: field[GH_WRITE, W3], table: scalar_array[GH_REAL, GH_READ, 2],
         rate: scalar[GH_REAL, GH_READ]):
    for k in layers():
        pressure[0, k] = rate * table[k, 0] + np.sqrt(pressure[0, k])
"""


def test_texts_with_reals_of_four_bytes_are_cuda(tmp_path: Any) -> None:
    said = "p: r_solver_field_type, t: r_solver[:, :], r: r_solver, total: r_solver, q"
    text = f"""
from kernels import look
from psyclone_storage.lfric import *
def f({said}):
    invoke(look(p, t, r), sum_X(total, p), real_to_real_X(q, p), inc_a_times_X(r, q))
"""
    (tmp_path / "kernels.py").write_text(
        "import numpy as np\nfrom psyclone_storage.lfric import *\n"
        + SINGLES.replace("GH_WRITE, W3", "GH_READWRITE, W3")
    )
    settings = load_settings("", "", search_context({}))
    request = CompileRequest(api="lfric", suffix=".py", target="cuda", directories=(tmp_path,))
    build = make_compiler(settings, request).compile_text(SourceText("alg.py", text))
    assert "const float *restrict t" in cuda_of(build)
    check_cuda(cuda_of(build))
