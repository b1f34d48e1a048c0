"""Loops with kernels in them as C: tiles, threads, what is passed, and what is not printed."""

from __future__ import annotations

from pathlib import Path

import pytest

from properties.python_kernels import SETTINGS
from psyclone_storage.base.source import SourceText
from psyclone_storage.infrastructures.profiling import PYTHON_PROFILER
from psyclone_storage.pipeline.compile import Build, make_compiler
from psyclone_storage.pipeline.request import CompileRequest

KERNELS = Path(__file__).parents[3] / "corpus" / "gocean" / "python" / "kernels"
ALGORITHM = """\
from psyclone_storage.gocean import invoke
from decay_mod import decay
from smooth_mod import smooth
from advect_west_mod import advect_west

def run(double, old, rate, nx):
    invoke(smooth(double, old), decay(old, 2.0 * rate), advect_west(nx, old, 0.5))
"""


def built(steps: str = "", text: str = ALGORITHM, **more: object) -> Build:
    """Return what is made of an algorithm."""
    asked = CompileRequest(
        "gocean", distributed=False, directories=(KERNELS,), steps=steps, suffix=".py",
        target="c", **more,  # type: ignore[arg-type]
    )  # fmt: skip
    return make_compiler(SETTINGS, asked).compile_text(SourceText("alg.py", text))


def c_of(build: Build) -> str:
    ((suffix, text),) = build.beside
    assert suffix == ".c"
    return text


def test_names_that_mean_something_in_c_are_others_there() -> None:
    build = built()
    assert "def invoke_0(" in build.psy_text
    text = c_of(build)
    assert "double *restrict double_data" in text
    assert "double *restrict nx_data" in text
    assert "const int64_t nx_1, const int64_t ny" in text


def test_constants_stand_in_c_and_all_else_is_passed() -> None:
    build = built()
    assert "run(0, arg_2_0_go_wp_rate)" in build.psy_text
    assert "nx_1, ny, 0.5);" in " ".join(c_of(build).split())


def test_each_loop_has_the_points_that_its_kernel_looks_at() -> None:
    checks = [line.strip() for line in built().psy_text.splitlines() if "check_within(" in line]
    assert len(checks) == 3
    assert "i_first_2 - 2" in checks[-1]


@pytest.mark.parametrize(
    ("steps", "wanted"),
    [
        ("openmp-parallel-do", ["#pragma omp parallel for schedule(static)"]),
        ("openmp-parallel-do{schedule=dynamic,4}", ["parallel for schedule(dynamic, 4)"]),
        (
            "openmp-do; openmp-parallel",
            ["#pragma omp parallel private(j, i)\n    {", "#pragma omp for"],
        ),
        (
            "openmp-taskloop; openmp-single; openmp-parallel",
            ["#pragma omp single", "#pragma omp taskloop"],
        ),
        (
            "tile-loops{rows=4 columns=16}",
            ["j_tile += 4", "i_tile += 16", "psy_min_i4(j_tile + 3, j_last)"],
        ),
        ("acc-routine; acc-kernels", ["for (j = j_first;"]),
    ],
)
def test_steps(steps: str, wanted: list[str]) -> None:
    text = c_of(built(steps))
    for part in wanted:
        assert part in text
    assert "acc" not in text.partition("_loops")[2]


def test_what_a_step_put_in_the_place_of_a_call_is_called() -> None:
    assert c_of(built("inline-point-kernel")) == c_of(built())


def test_a_profiled_invoke_starts_and_stops_the_profiler_of_python() -> None:
    text = built(profile=("invokes",)).psy_text
    assert text.count(f"{PYTHON_PROFILER}.start(") == text.count(f"{PYTHON_PROFILER}.stop(") == 1
    assert PYTHON_PROFILER not in built().psy_text


def test_an_algorithm_without_invokes_needs_no_library() -> None:
    build = built(text="x = 1\n")
    assert "CompiledLibrary" not in build.psy_text
