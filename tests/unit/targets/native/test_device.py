"""Loops as kernels of CUDA: which points have threads of their own, and what a launch is passed."""

from __future__ import annotations

import ast
import ctypes
import re
from typing import Any, NamedTuple

import numpy as np
import pytest

from properties.python_kernels import SETTINGS
from psyclone_storage.base.source import SourceText
from psyclone_storage.pipeline.compile import Build, make_compiler
from psyclone_storage.pipeline.request import CompileRequest
from psyclone_storage.runtime import device as device_module
from psyclone_storage.runtime.binding import BoundRun, BoundStorages
from psyclone_storage.runtime.device import OfTables
from psyclone_storage.runtime.gocean import DeviceLibrary, Field, Grid
from psyclone_storage.runtime.gocean.device import KernelLaunch
from psyclone_storage.runtime.lfric.device import ColumnLaunch, LaunchWords
from psyclone_storage.storage.core.device import DeviceKind
from unit.targets.native.test_loops import ALGORITHM, KERNELS

FOLLOWING = """
from psyclone_storage.gocean import *


@kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_NE)
def follow(new: field[GO_READWRITE, GO_CT, GO_STENCIL("000,110,000")]):
    new[0, 0] = new[0, 0] + new[-1, 0]
"""


def built(steps: str = "", text: str = ALGORITHM, folder: Any = KERNELS) -> Build:
    """Return what is made of an algorithm for a device."""
    asked = CompileRequest(
        "gocean", distributed=False, directories=(folder,), steps=steps, suffix=".py",
        target="cuda",
    )  # fmt: skip
    return make_compiler(SETTINGS, asked).compile_text(SourceText("alg.py", text))


def cuda_of(build: Build) -> str:
    ((suffix, text),) = build.beside
    assert suffix == ".cu"
    return text


def test_each_nest_is_a_kernel_with_a_thread_for_each_point() -> None:
    text = cuda_of(built())
    assert text.count("PSY_KERNEL void invoke_0_") == 3
    assert text.count("blockIdx.x * blockDim.x + threadIdx.x") == 3
    assert "one thread" not in text
    assert "static __device__ void smooth_code(" in text


def test_threads_of_the_host_are_left_out() -> None:
    assert "#pragma" not in cuda_of(built("openmp-parallel-do"))
    assert cuda_of(built("openmp-parallel-do")).count("blockIdx.x * blockDim.x") == 3


@pytest.mark.parametrize("steps", ["tile-loops{rows=4 columns=16}"])
def test_nests_of_other_forms_run_in_one_thread(steps: str) -> None:
    text = cuda_of(built(steps))
    assert text.count("one thread does all of it") == 3
    assert "PSY_LAUNCH_LINE(1," in text


def test_points_that_see_each_others_changes_run_in_order(tmp_path: Any) -> None:
    (tmp_path / "follow_mod.py").write_text(FOLLOWING)
    text = (
        "from psyclone_storage.gocean import invoke\nfrom follow_mod import follow\n"
        "def run(a):\n    invoke(follow(a))\n"
    )
    assert "one thread does all of it" in cuda_of(built(text=text, folder=tmp_path))


def test_tiles_of_columns_are_for_threads_of_a_host(tmp_path: Any) -> None:
    """The stencil says more than the kernel does, so that each point has a thread."""
    stays = FOLLOWING.replace("000,110,000", "000,010,010").replace("new[-1, 0]", "1.0")
    (tmp_path / "follow_mod.py").write_text(stays)
    text = (
        "from psyclone_storage.gocean import invoke\nfrom follow_mod import follow\n"
        "def run(a):\n    invoke(follow(a))\n"
    )
    made = cuda_of(built("auto", text, tmp_path))
    plain = cuda_of(built(text=text, folder=tmp_path))
    assert "one thread" not in made
    assert computed(made) == computed(plain)
    assert "i = i_first + column;" in made


def computed(text: str) -> str:
    """Return what each thread of the first kernel does."""
    return text.partition("_loops(")[2].partition("{")[2].partition("#ifdef")[0]


def test_a_launch_is_passed_what_the_kernel_declares() -> None:
    build = built()
    text = cuda_of(build)
    described = re.findall(r'\("(invoke_0_\d)", "(\w*)", (.*)\),$', build.psy_text, re.MULTILINE)
    assert len(described) == 3
    for name, types, rest in described:
        blocks, block, passed = launched(types, *ast.literal_eval(rest))
        assert (blocks, block) == ((2, 3), (32, 4))
        head = re.search(rf"void {name}_points\((.*?)\)", text, re.DOTALL)
        assert head is not None
        declared = [item.split() for item in head[1].split(",")]
        kinds = [np.uint64 if "*restrict" in words else NUMBERS[words[-2]] for words in declared]
        assert [type(one) for one in passed] == kinds


NUMBERS = {"int64_t": np.int64, "double": np.float64, "int32_t": np.int32}


def launched(types: str, arrays: Any, counts: Any, reals: Any, alone: bool) -> tuple[Any, ...]:
    """Return what a kernel is launched with, on arrays of 40 x 9 points."""
    found: list[tuple[Any, ...]] = []
    tables = (arrays, counts, reals)
    launch = KernelLaunch(lambda *given: found.append(given), types, tables, alone)
    launch([7] * 9, [0.5] * 9, [40, 9, *range(30)], *([1] * len(types)))
    return found[0]


@pytest.mark.parametrize(
    ("given", "error"),
    [((1.0, 2.7), TypeError), ((None, 2), TypeError), (("3", 2), TypeError),
     ((1.0, 2**40), OverflowError)],
)  # fmt: skip
def test_a_gpu_is_given_numbers_of_the_types_of_the_kernel(
    given: tuple[Any, ...], error: type[Exception]
) -> None:
    found: list[Any] = []
    for launch in (
        KernelLaunch(lambda *passed: found.append(passed), "di", ((), (), ()), True),
        ColumnLaunch(lambda *passed: found.append(passed), "di", LaunchWords((), (), -1, -1, "")),
    ):
        known = BoundStorages((), Layer((launch,)))
        known.numbers = [], []
        known.free.append(BoundRun(AtOnce(), (launch,)))
        run = known.free.pop()
        run.known, run.home = known, known.free
        with run:
            with pytest.raises(error):
                run(0, *given)
            assert found == []
            run(0, 1, np.int64(2))
        assert found.pop()[-1][-2:] == (1.0, 2)
        assert known.free == [run]


class Layer(NamedTuple):
    """A layer for a device, whose functions use no arrays."""

    functions: tuple[Any, ...]
    device: str = "gpu"
    written: tuple[int, ...] = ()
    places: tuple[None, ...] = (None,)


class AtOnce:
    """What binds no data, and starts work at once."""

    def __enter__(self) -> dict[str, Any]:
        return {}

    def __exit__(self, *_: object) -> None:
        return None

    def uses(self) -> tuple[()]:
        return ()

    def start(self, work: Any, _uses: Any) -> None:
        work()


def test_a_gpu_is_given_the_text_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    class Module:
        def __init__(self, text: str) -> None:
            self.text = text

        def get_function(self, name: str) -> str:
            return name

    made: list[Module] = []
    monkeypatch.setattr(device_module, "resolved_device", lambda: DeviceKind.CUDA)
    monkeypatch.setattr(
        device_module, "raw_module", lambda text: made.append(Module(text)) or made[0]
    )
    library = DeviceLibrary({"__c__": "what was generated"})
    for name in ("one", "two"):
        assert isinstance(library.function(name, "d", (0,), (0, 1), (), False), KernelLaunch)
    assert [module.text for module in made] == ["what was generated"]


def test_fields_of_the_host_are_refused() -> None:
    names: dict[str, Any] = {"__c__": cuda_of(built())}
    exec(compile(built().psy_text, "<psy>", "exec"), names)
    grid = Grid((5, 4), halo=2)
    with pytest.raises(ValueError, match="make its grid with device='gpu'"):
        names["invoke_0"](Field(grid), Field(grid), 0.5, Field(grid))


def test_what_a_launch_is_passed_is_made_once_for_tables_that_stay() -> None:
    made: list[Any] = []
    tables = [ctypes.c_void_p * 2, ctypes.c_double * 1, ctypes.c_int64 * 3]
    first, second = ([one() for one in tables] for _ in range(2))
    kept = OfTables(lambda *given: made.append(given) or len(made))
    assert [kept(*of) for of in (first, second, first, second)] == [1, 2, 1, 2]
    # The same addresses with other numbers, and more tables than are kept.
    assert kept(first[0], first[1], second[2]) == 3
    assert kept(*first) == 4
    for _ in range(40):
        kept(*(one() for one in tables))
    assert kept(*first) == 45


def test_a_launch_with_other_tables_is_passed_what_is_in_them() -> None:
    found: list[Any] = []
    launch = KernelLaunch(lambda *given: found.append(given), "d", ((0, 1), (2,), (0,)), False)
    for at, extent in ((1, 40), (2, 80), (1, 40)):
        launch([at, 7], [at / 2.0], [extent, 9, at], 1.5)
    assert found[0] == ((2, 3), (32, 4), (1, 7, 1, 0.5, 1.5)) == found[2]
    assert found[1] == ((3, 3), (32, 4), (2, 7, 2, 1.0, 1.5))
    with pytest.raises(ValueError, match="shorter"):
        launch([1, 7], [0.5], [40, 9, 1])
