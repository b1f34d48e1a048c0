"""Options, markers, and the folders that are test cases.

Owns the rules of when a test is skipped, and how a folder of input becomes a test.
"""

from __future__ import annotations

import gc
import importlib.util
import os
import re
import runpy
import shlex
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Callable, Generator, Iterator
from functools import cache
from itertools import count
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

import pairwise
from building import shared_folder
from cpu_times import CpuTimes
from golden import Compare, compare_folder
from libraries import EXTERNAL, Library, find_library
from mpi_waiting import forget_begun_mpi, settings_of_ranks
from runtime.kept_compiler import kept_compilers
from served_commands import served

TESTS = Path(__file__).parent
# No test depends on how busy the machine is.
settings.register_profile(
    "any-machine", deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("any-machine")

# The folders and files whose tests take longest, those that take more first: workers that are
# given whole files in this order are ready at the same time. Others follow, the shortest last.
# Before all come those that fork many times, or look for garbage in each test, which costs
# several times as much in a worker that has grown. Clocks of the detector of races have a place for
# each queue that there ever was: those who make most queues come behind those who wait most often.
LONGEST = (
    "unit/cli/test_kernel_folder.py",
    "unit/base/test_cache.py",
    "unit/storage/gdp/",
    "unit/storage/hmemo/",
    "unit/storage/kokkos/",
    "properties/test_storage_faces.py",
    "unit/storage/",
    "runtime/test_lfric_storage.py",
    "builds/",
    "runtime/test_generated_mutations.py",
    "runtime/test_mutations.py",
    "runtime/test_joint_exchanges.py",
    "runtime/test_examples.py",
    "runtime/test_generated.py",
    "runtime/test_exact_sums.py",
    "runtime/test_generated_storage.py",
    "runtime/test_gocean_storage.py",
    "runtime/test_gocean_ranks.py",
    "runtime/",
    "compile/",
    "properties/",
    "test_docs.py",
    "test_packaging.py",
    "differential/",
    "unit/pipeline/test_steps_on_python.py",
    "unit/pipeline/test_called_effects.py",
)

# Few of the objects of a test are in cycles, and those of all tests' names and parameters, half a
# million, stay to the end: to look at them again and again took a tenth of the time of many tests.
OBJECTS_BETWEEN_COLLECTIONS = 100_000

# Each test compiles anew, but those that are about what is kept.
os.environ["PSYCLONE_STORAGE_CACHE"] = ""

NUMBERS = count(1)
"""The numbers of the folders of tests."""

TOOL_MARKERS = ("fortran", "mpi", "gpu", "browser", "builds", "compiled", "differential")


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("psyclone-storage")
    group.addoption(
        "--update-golden", action="store_true", help="rewrite the expected output of the cases"
    )
    group.addoption(
        "--compile", action="store_true", help="run the tests that compile generated Fortran"
    )
    group.addoption("--f90", default="gfortran", help="the Fortran compiler (default: %(default)s)")
    group.addoption("--f90flags", default="", help="more options for the Fortran compiler")
    group.addoption(
        "--require",
        default="",
        metavar="MARKERS",
        help="fail, instead of skipping, tests with these markers (such as fortran,mpi)",
    )
    group.addoption(
        "--schedules",
        type=int,
        default=0,
        metavar="N",
        help="let the adversary of storages try N random schedules, more than in any run",
    )
    group.addoption(
        "--alias-programs",
        type=int,
        default=0,
        metavar="N",
        help="run N random programs of each API whose fields have several names at run time",
    )
    group.addoption(
        "--alias-seed", type=int, default=0, metavar="N", help="the seed of the first of them"
    )
    group.addoption(
        "--matrix",
        action="store_true",
        help="run programs for storages in all ways, not in those alone that any run tries",
    )
    group.addoption(
        "--campaign",
        type=int,
        default=1,
        metavar="N",
        help="try N times as many random programs in Python",
    )
    group.addoption(
        "--cpu-times",
        type=int,
        default=0,
        metavar="N",
        help="list the N files and the N tests that take the most processor time",
    )


def pytest_configure(config: pytest.Config) -> None:
    # Whatever a test generates is what the adversaries have no word against.
    os.environ.setdefault("PSYCLONE_STORAGE_CHECK", "1")
    runpy.run_path(str(EXTERNAL / "variants.py"))["refresh_variants"](EXTERNAL)
    pairwise.IS_COMPLETE = config.getoption("--matrix")
    keep_bytecode(config)
    keep_libraries(config)
    let_ranks_sleep(config)
    # A tenth of the time of the Fortran compiler is spent on small pages.
    os.environ.setdefault("GLIBC_TUNABLES", "glibc.malloc.hugetlb=1")
    # A fifth of the time of a command that imports NumPy is spent on threads of OpenBLAS.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    gc.set_threshold(OBJECTS_BETWEEN_COLLECTIONS)
    if most := config.getoption("--cpu-times"):
        config.pluginmanager.register(CpuTimes(most))
    unknown = required_markers(config) - set(TOOL_MARKERS)
    if unknown:
        raise pytest.UsageError(f"--require knows {', '.join(TOOL_MARKERS)}, not {unknown}")


def keep_bytecode(config: pytest.Config) -> None:
    """Let workers, and commands that tests start, find compiled what was compiled before.

    Where Python is told to write nothing, as in many containers, each would compile the package
    and the tests anew.
    """
    kept = config.pluginmanager.has_plugin("cacheprovider") and config.cache
    if kept and os.environ.pop("PYTHONDONTWRITEBYTECODE", ""):
        os.environ["PYTHONPYCACHEPREFIX"] = sys.pycache_prefix = str(kept.mkdir("bytecode"))
        sys.dont_write_bytecode = False


def keep_libraries(config: pytest.Config) -> None:
    """Keep what generated C is compiled to with what pytest keeps, not with what the user does."""
    kept = config.pluginmanager.has_plugin("cacheprovider") and config.cache
    if kept:
        os.environ.setdefault("PSYCLONE_STORAGE_LIBRARIES", str(kept.mkdir("libraries")))


def let_ranks_sleep(config: pytest.Config) -> None:
    """Set MPI for all that tests start, but for what the user has set."""
    kept = config.pluginmanager.has_plugin("cacheprovider") and config.cache
    for name, value in settings_of_ranks(kept.mkdir("libraries") if kept else None).items():
        os.environ.setdefault(name, value)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Let workers begin with what takes longest; one process alone keeps the usual order.

    Tests that only `--matrix` runs are deselected without it, as are tests of a GPU without one.
    """
    absent = set() if config.getoption("--matrix") else {"matrix"}
    absent |= {"gpu"} if lacks_gpu(config) else set()
    selected: list[pytest.Item] = []
    deselected: list[pytest.Item] = []
    for item in items:
        is_absent = any(item.get_closest_marker(name) for name in absent)
        (deselected if is_absent else selected).append(item)
    if deselected:
        config.hook.pytest_deselected(items=deselected)
        items[:] = selected
    if "PYTEST_XDIST_WORKER" in os.environ:
        items.sort(key=lambda item: length_rank(item.path))


def lacks_gpu(config: pytest.Config) -> bool:
    """Return whether tests that need a GPU are deselected because there is none."""
    is_requested = "gpu" in config.option.markexpr or "gpu" in required_markers(config)
    return not is_requested and not has_gpu()


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Report in one line that tests of a GPU were deselected."""
    if lacks_gpu(config):
        terminalreporter.line("Tests that need a GPU are deselected: no CuPy with a GPU.")


def pytest_collection_finish() -> None:
    """Let no search for garbage look at what has been collected, which stays."""
    gc.freeze()


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """Exclude objects that the tests of a file leave, such as caches, from garbage collection.

    A test that collects garbage otherwise needs seconds in a worker that has run many files.
    """
    if nextitem is None or nextitem.path != item.path:
        gc.collect()
        gc.freeze()


def length_rank(path: Path) -> int:
    """Return the place of a test file among those that take longest."""
    name = path.relative_to(TESTS).as_posix() if path.is_relative_to(TESTS) else path.name
    ranks = (rank for rank, start in enumerate(LONGEST) if name.startswith(start))
    return next(ranks, len(LONGEST))


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip a test whose tools are missing; `pytest_runtest_makereport` decides what that means."""
    forget_begun_mpi()
    for marker in TOOL_MARKERS:
        reason = item.get_closest_marker(marker) and missing(marker, item.config)
        if reason:
            pytest.skip(reason)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Turn the skip of a test with a required marker into a failure."""
    report = yield
    required = [mark for mark in required_markers(item.config) if item.get_closest_marker(mark)]
    if report.skipped and required and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"required by --require {','.join(required)}, but {report.longreprtext}"
    return report


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Give `case` and `error_case` every folder of its kind."""
    for fixture, pattern in (("case", "cases/*/*"), ("error_case", "errors/*")):
        if fixture in metafunc.fixturenames:
            folders = sorted(path for path in TESTS.glob(pattern) if path.is_dir())
            names = [path.relative_to(TESTS / pattern.split("/", 1)[0]) for path in folders]
            metafunc.parametrize(fixture, folders, ids=[name.as_posix() for name in names])


@pytest.fixture
def tmp_path(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a new folder. Pytest's own fixture reads the names of all folders for each test."""
    name = re.sub(r"\W", "_", request.node.name)[:30]
    return tmp_path_factory.mktemp(f"{name}_{next(NUMBERS)}", numbered=False)


@pytest.fixture
def golden(case: Path, pytestconfig: pytest.Config) -> Compare:
    """Return a function that compares {file name: text} with `expected/` of the case.

    With `--update-golden` it rewrites that folder first.
    """
    return lambda emitted: compare_folder(
        emitted, case / "expected", update=pytestconfig.getoption("--update-golden")
    )


@pytest.fixture(scope="session")
def f90(pytestconfig: pytest.Config) -> tuple[str, ...]:
    """Return the Fortran compiler and its options, as the first words of a command."""
    flags = shlex.split(pytestconfig.getoption("--f90flags"))
    return pytestconfig.getoption("--f90"), *flags


@pytest.fixture(scope="session")
def compilers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Return a folder with compilers that keep what they compile, for scripts and makefiles."""
    folder = tmp_path_factory.mktemp("compilers")
    with kept_compilers(folder, shared_folder(tmp_path_factory) / "objects"):
        yield folder


@pytest.fixture(scope="session")
def built(
    f90: tuple[str, ...],
    pytestconfig: pytest.Config,
    tmp_path_factory: pytest.TempPathFactory,
    request: pytest.FixtureRequest,
) -> Callable[[Library], Path]:
    """Return what gives the folder of a compiled library, built by the first of all who ask.

    It stays in pytest's cache, where later runs of the tests find it.
    """
    cached = pytestconfig.pluginmanager.has_plugin("cacheprovider") and pytestconfig.cache
    kept = cached.mkdir("libraries") if cached else shared_folder(tmp_path_factory) / "libraries"

    def compilers() -> Path:
        folder: Path = request.getfixturevalue("compilers")
        return folder

    return cache(lambda library: find_library(library, f90, kept, compilers))


@pytest.fixture(scope="session")
def tools(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Return a folder with the command `psyclone-storage` of this source tree."""
    folder = tmp_path_factory.mktemp("bin")
    with served("served_compiler:answer", forks=True) as command:
        command.write(folder / "psyclone-storage")
        yield folder


def required_markers(config: pytest.Config) -> set[str]:
    return {word.strip() for word in config.getoption("--require").split(",") if word.strip()}


def missing(marker: str, config: pytest.Config) -> str:
    """Return why tests with `marker` cannot run here, or an empty text."""
    compiler = config.getoption("--f90")
    match marker:
        case "fortran" if not config.getoption("--compile"):
            return "compiles Fortran: give --compile"
        case "fortran" if not shutil.which(compiler):
            return f"the Fortran compiler '{compiler}' is not installed"
        case "fortran" if not shutil.which("make"):
            return "make is not installed"
        case "mpi":
            lacking = [tool for tool in ("mpif90", "mpirun") if not shutil.which(tool)]
            return f"{' and '.join(lacking)} not installed" if lacking else ""
        case "gpu" if not has_gpu():
            return "no CuPy with a GPU"
        case "browser" if browser() is None:
            return (
                "PAGES ARE NOT TESTED: there is no Chromium (on Debian: apt-get install chromium)"
            )
        case "compiled" if sysconfig.get_config_var("Py_GIL_DISABLED"):
            return "free-threaded Python uses the fallback of the compiled core"
        case "compiled" if not importlib.util.find_spec("psyclone_storage.storage.core._compiled"):
            return "the core of the storage runtime is not compiled: see docs/guide/installing.md"
        case "differential" if not importlib.util.find_spec("psyclone"):
            return "PSyclone is not installed"
    return ""


def browser() -> str | None:
    """Return the path of Chromium or Chrome, None if there is none."""
    names = ("chromium", "chromium-browser", "google-chrome")
    return next(filter(None, map(shutil.which, names)), None)


@cache
def has_gpu() -> bool:
    """Ask CuPy, in another process, whether it sees a device."""
    if not importlib.util.find_spec("cupy"):
        return False
    question = "import cupy; raise SystemExit(not cupy.cuda.runtime.getDeviceCount())"
    asked = subprocess.run([sys.executable, "-c", question], capture_output=True, check=False)
    return asked.returncode == 0
