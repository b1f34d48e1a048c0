"""The test machinery: a missing tool causes a visible skip, and a failure if it is required."""

from __future__ import annotations

import ctypes
import gc
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

import conftest
from golden import compare_folder
from mpi_waiting import PRELOADED

pytest_plugins = ["pytester"]

SUITE = """
import pytest

@pytest.mark.fortran
def test_compiles():
    pass

@pytest.mark.fortran
def test_skips_itself():
    pytest.skip("for a reason")

def test_plain():
    pass
"""


@pytest.fixture
def suite(pytester: pytest.Pytester) -> pytest.Pytester:
    pytester.makeconftest((Path(__file__).parent / "conftest.py").read_text(encoding="utf-8"))
    pytester.makeini("[pytest]\nmarkers =\n    fortran: needs a compiler\n")
    pytester.makepyfile(SUITE)
    return pytester


def test_without_compile_the_fortran_tests_are_skipped(suite: pytest.Pytester) -> None:
    suite.runpytest().assert_outcomes(passed=1, skipped=2)


def test_a_missing_compiler_is_a_skip(suite: pytest.Pytester) -> None:
    result = suite.runpytest("--compile", "--f90", "no-such-compiler", "-rs")
    result.assert_outcomes(passed=1, skipped=2)
    result.stdout.fnmatch_lines(["*'no-such-compiler' is not installed*"])


def test_a_present_compiler_runs_the_tests(suite: pytest.Pytester) -> None:
    suite.runpytest("--compile", "--f90", "sh").assert_outcomes(passed=2, skipped=1)


def test_a_required_marker_turns_skips_into_failures(suite: pytest.Pytester) -> None:
    result = suite.runpytest("--compile", "--f90", "no-such-compiler", "--require", "fortran")
    result.assert_outcomes(passed=1, errors=2)
    result = suite.runpytest("--compile", "--f90", "sh", "--require", "fortran")
    result.assert_outcomes(passed=2, failed=1)
    assert result.ret != 0


def test_an_unknown_marker_cannot_be_required(suite: pytest.Pytester) -> None:
    assert suite.runpytest("--require", "fortan").ret == pytest.ExitCode.USAGE_ERROR


BUSY = """
import subprocess
import sys

import pytest

WORK = "sum(range(12_000_000))"

@pytest.fixture
def child():
    subprocess.run([sys.executable, "-c", WORK], check=True)

def test_waits(): pass
def test_of_children(child): pass
def test_of_its_own(): eval(WORK)
"""


@pytest.mark.parametrize("workers", [(), ("-n", "1")], ids=["alone", "with a worker"])
def test_those_that_take_the_most_processor_time_are_listed(
    pytester: pytest.Pytester, workers: tuple[str, ...]
) -> None:
    pytester.makeconftest((Path(__file__).parent / "conftest.py").read_text(encoding="utf-8"))
    pytester.makepyfile(test_busy=BUSY, test_idle="def test_idle(): pass\n")
    result = pytester.runpytest("--cpu-times", "2", *workers)
    start = next(at for at, line in enumerate(result.outlines) if "processor seconds" in line)
    listed = [line.split()[1] for line in result.outlines[start:] if line[:9].strip()[:1].isdigit()]
    assert listed[:2] == ["test_busy.py", "test_idle.py"]
    assert set(listed[2:4]) == {"test_busy.py::test_of_children", "test_busy.py::test_of_its_own"}


def test_a_folder_must_hold_exactly_what_was_emitted(tmp_path: Path) -> None:
    emitted = {"psy.f90": "end\n", "kernels/k.f90": "end\n"}
    with pytest.raises(AssertionError):
        compare_folder(emitted, tmp_path / "expected", update=False)
    compare_folder(emitted, tmp_path / "expected", update=True)
    compare_folder(emitted, tmp_path / "expected", update=False)
    with pytest.raises(AssertionError):
        compare_folder({"psy.f90": "end\n"}, tmp_path / "expected", update=False)
    compare_folder({"psy.f90": "end\n"}, tmp_path / "expected", update=True)
    assert not (tmp_path / "expected" / "kernels").exists()


ORDERED = """
def test_of_{name}():
    pass
"""


def test_workers_begin_with_what_takes_longest(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = (Path(__file__).parent / "conftest.py").read_text(encoding="utf-8")
    pytester.makeconftest(text)
    names = ("alone", *conftest.LONGEST, "unit/test_short.py")
    for number, name in enumerate(sorted(names)):
        file = pytester.path / (f"{name}test_{number}.py" if name.endswith("/") else name)
        if file.suffix == ".py":
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(ORDERED.format(name=number))

    def order() -> list[str]:
        lines = pytester.runpytest("--collect-only", "-q", "--import-mode=importlib").outlines
        return [line.partition("::")[0] for line in lines if "::" in line]

    monkeypatch.delenv("PYTEST_XDIST_WORKER", raising=False)
    usual = order()
    monkeypatch.setenv("PYTEST_XDIST_WORKER", "gw0")
    given = order()
    assert given != usual
    assert sorted(given) == sorted(usual)
    ranks = [
        next((at for at, start in enumerate(conftest.LONGEST) if name.startswith(start)), 99)
        for name in given
    ]
    assert ranks == sorted(ranks)
    assert given[-1] == "unit/test_short.py"


def test_what_takes_longest_is_there() -> None:
    assert all((conftest.TESTS / name).exists() for name in conftest.LONGEST)


def test_no_search_for_garbage_looks_at_the_tests_themselves() -> None:
    assert gc.get_threshold()[0] == conftest.OBJECTS_BETWEEN_COLLECTIONS
    assert gc.get_freeze_count() > 50_000


@pytest.mark.mpi
def test_what_begins_mpi_starts_programs_as_before() -> None:
    pytest.importorskip("mpi4py")
    program = """if 1:
        import os, subprocess
        import mpi_waiting
        from mpi4py import MPI

        started = lambda: set(subprocess.check_output(["env", "-0"]).split(b"\\0")) - {b""}
        own = {name + b"=" + value for name, value in os.environb.items()}
        assert started() > own
        mpi_waiting.forget_begun_mpi()
        assert started() == own
    """
    subprocess.run([sys.executable, "-c", program], cwd=conftest.TESTS / "support", check=True)


@pytest.mark.mpi
def test_ranks_that_wait_sleep() -> None:
    """They find, of all that a test starts only they, the library that lets them."""
    assert "LD_PRELOAD" not in os.environ
    if PRELOADED not in os.environ:
        pytest.skip("pytest keeps nothing, or there is no C compiler")
    # A line that is written in two parts may have another rank's between them.
    asks = "import os; os.write(1, (os.environ['LD_PRELOAD'] + os.linesep).encode())"
    words = ["mpirun", "--oversubscribe", "-n", "2", sys.executable, "-c", asks]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    (library,) = set(done.stdout.split())
    sched_yield = ctypes.CDLL(library).sched_yield
    start, busy = time.monotonic(), time.thread_time()
    for _ in range(400):
        sched_yield()
    passed = time.monotonic() - start
    assert passed > 0.02
    assert time.thread_time() - busy < passed / 2


@pytest.mark.mpi
def test_ranks_unload_no_library(tmp_path: Path) -> None:
    """A handler of an event may run after MPI_Finalize has closed its component of Open MPI."""
    if PRELOADED not in os.environ:
        pytest.skip("pytest keeps nothing, or there is no C compiler")
    (tmp_path / "late.c").write_text("int late(void) { return 7; }\n")
    subprocess.run(["cc", "-shared", "-fPIC", "late.c", "-o", "late.so"], cwd=tmp_path, check=True)
    program = """if 1:
        import ctypes, os
        late = ctypes.CDLL("./late.so")
        ctypes.CDLL(None).dlclose(ctypes.c_void_p(late._handle))
        print(late.late())
    """
    library = os.environ[PRELOADED].partition("=")[2]
    answers = [
        subprocess.run(
            [sys.executable, "-c", program], env=os.environ | {"LD_PRELOAD": preloaded},
            cwd=tmp_path, capture_output=True, check=False,
        ).stdout
        for preloaded in (library, "")
    ]  # fmt: skip
    assert answers == [b"7\n", b""]
