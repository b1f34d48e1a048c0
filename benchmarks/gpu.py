"""Run every test and benchmark of the project that needs a GPU, and write what came out.

    python benchmarks/gpu.py [--output docs/design/gpu.md] [--points N] [--cells N] [--layers N]

The report names the device, the versions of what was used, what the tests said, the figures, and
which of the bars of `gpu_kernels.py` are met by what Python computes: answers, transfers,
bandwidth, launches, exchanges. The sizes are of that. All of it ends in less than ten minutes: what
would last longer is stopped, and the report says so. Without a GPU that CuPy can use nothing is run
and nothing is written, and the exit status is 2. It is 1 if a test failed, a bar was missed, or
something was stopped; the report is written then, too.
"""

import argparse
import importlib
import importlib.util
import platform
import subprocess
import sys
import time
import timeit
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))

import gpu_kernels
import numpy as np

from psyclone_storage import storage as gt
from psyclone_storage.storage.core.buffer import BufferOptions, CoherentBuffer
from psyclone_storage.storage.core.hints import Hints
from psyclone_storage.storage.core.locks import AccessMode

ROOT = Path(__file__).resolve().parents[1]
REPORT = ROOT / "docs" / "design" / "gpu.md"
TOTAL, FOR_TESTS = 570.0, 360.0
"""Seconds: for everything, and for the tests alone."""
SIZES = {"64 KiB": 1 << 16, "1 MiB": 1 << 20, "64 MiB": 1 << 26, "256 MiB": 1 << 28}
NO_GPU = 2


@dataclass(frozen=True)
class Figure:
    """One line of the report: what was measured, ours, what it is beside, and the unit."""

    name: str
    ours: float
    peer: str
    theirs: float
    unit: str

    def line(self) -> str:
        """Return the row of a table."""
        ratio = self.ours / self.theirs if self.theirs else float("nan")
        beside = f"{self.theirs:.3g} ({self.peer})"
        return f"| {self.name} | {self.ours:.3g} | {beside} | {ratio:.2f} | {self.unit} |"


@dataclass(frozen=True)
class Outcome:
    """What the tests said, and whether all is well."""

    summary: str
    good: bool


def main(arguments: list[str]) -> int:
    """Run everything; return the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--output", type=Path, default=REPORT, help="the report to write")
    gpu_kernels.add_sizes(parser)
    options = parser.parse_args(arguments)
    if not has_gpu():
        print(
            f"No GPU: CuPy is not installed, or sees no device. Nothing was run, and "
            f"{options.output} is as it was. `make test` covers the stand-in for CuPy.",
            file=sys.stderr,
        )
        return NO_GPU
    started = time.monotonic()
    outcome = run_tests(FOR_TESTS)
    print(outcome.summary)
    gt.use_device("cuda")
    until = started + TOTAL
    found = list(_while_time_lasts(figures(), Figure.line, until))
    judged = list(_while_time_lasts(judgements(options), judged_line, until))
    complete = time.monotonic() <= until
    text = report(facts(), outcome, (found, judged), complete=complete)
    options.output.write_text(text, encoding="utf-8")
    print(f"{options.output} is written, after {time.monotonic() - started:.0f} s.")
    missed = [one.name for one in judged if not one.good(on_gpu=True)]
    if missed:
        print(f"Missed: {', '.join(missed)}.")
    return 0 if outcome.good and complete and not missed else 1


T = TypeVar("T")


def _while_time_lasts(found: Iterable[T], line: Callable[[T], str], until: float) -> Iterator[T]:
    """Print and yield what is found, until the time is up."""
    for one in found:
        print(line(one), flush=True)
        yield one
        if time.monotonic() > until:
            return


def judgements(options: argparse.Namespace) -> Iterator[gpu_kernels.Judgement]:
    """Judge what Python computes on the device."""
    return gpu_kernels.judgements(gpu_kernels.sizes_of(options))


def judged_line(one: gpu_kernels.Judgement) -> str:
    """Return a row of the table of bars."""
    return one.line(on_gpu=True)


def has_gpu() -> bool:
    """Ask CuPy, in another process, whether it sees a device."""
    if not importlib.util.find_spec("cupy"):
        return False
    question = "import cupy; raise SystemExit(not cupy.cuda.runtime.getDeviceCount())"
    asked = subprocess.run([sys.executable, "-c", question], capture_output=True, check=False)
    return asked.returncode == 0


def run_tests(seconds: float) -> Outcome:
    """Run the tests that are marked `gpu`; those for two devices are skipped where there is one."""
    command = [sys.executable, "-m", "pytest", "-q", "-m", "gpu", "tests/unit"]
    try:
        ran = subprocess.run(
            command, cwd=ROOT, capture_output=True, text=True, timeout=seconds, check=False
        )
    except subprocess.TimeoutExpired:
        return Outcome(f"stopped after {seconds:.0f} s", good=False)
    lines = [line for line in ran.stdout.splitlines() if line.strip()]
    failed = [line for line in lines if line.startswith(("FAILED", "ERROR"))]
    summary = lines[-1].strip("= ") if lines else f"pytest ended with {ran.returncode}"
    return Outcome("; ".join([summary, *failed[:20]]), good=ran.returncode == 0)


def facts() -> dict[str, str]:
    """Return what the figures depend on."""
    runtime = importlib.import_module("cupy").cuda.runtime
    properties = runtime.getDeviceProperties(0)
    commit = subprocess.run(
        ["git", "describe", "--always", "--dirty"], cwd=ROOT, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    return {
        "device": f"{properties['name'].decode()}, {properties['totalGlobalMem'] >> 30} GiB",
        "devices": str(runtime.getDeviceCount()),
        "CUDA": f"runtime {runtime.runtimeGetVersion()}, driver {runtime.driverGetVersion()}",
        "CuPy": importlib.import_module("cupy").__version__,
        "NumPy": np.__version__,
        "Python": platform.python_version(),
        "commit": commit.stdout.strip() or "unknown",
        "date": time.strftime("%Y-%m-%d", time.gmtime()),
    }


def report(
    about: dict[str, str],
    outcome: Outcome,
    measured: tuple[list[Figure], list[gpu_kernels.Judgement]],
    *,
    complete: bool,
) -> str:
    """Return the text of the report."""
    found, judged = measured
    versions = "\n".join(f"| {name} | {value} |" for name, value in about.items())
    rows = "\n".join(figure.line() for figure in found)
    bars = "\n".join(map(judged_line, judged))
    cut = "" if complete else "\nThe time was up before all was measured.\n"
    return (
        "# On a GPU\n\n`make gpu` wrote this page. Ours is this runtime, beside it what the same "
        "work costs with CuPy\nalone, best of several runs; the ratio is ours to theirs.\n\n"
        f"| what | version |\n|---|---|\n{versions}\n\n"
        f"Tests that need a GPU: {outcome.summary}.\n{cut}\n"
        f"| figure | ours | beside | ratio | unit |\n|---|--:|--:|--:|---|\n{rows}\n\n"
        "What Python computes by generated kernels, and the bars that it has to meet:\n\n"
        f"| figure | found | unit | bar | verdict |\n|---|--:|---|--:|---|\n{bars}\n"
    )


# -- figures ---------------------------------------------------------------------------------------


def figures() -> Iterator[Figure]:
    """Measure one after the other."""
    yield from transfers()
    yield from calls()


def transfers() -> Iterator[Figure]:
    """Measure copies in both directions, from pageable and page-locked memory."""
    for name, nbytes in SIZES.items():
        for kind, hints in (("pageable", Hints()), ("page-locked", Hints(pinned=True))):
            yield from both_ways(f"{kind}, {name}", nbytes, hints)


def both_ways(name: str, nbytes: int, hints: Hints) -> Iterator[Figure]:
    """Measure one size and kind of host memory in both directions."""
    buffer = CoherentBuffer(nbytes // 8, "f8", BufferOptions(init=0.0, hints=hints))
    host = np.zeros(nbytes // 8)
    device = importlib.import_module("cupy").asarray(host)
    buffer.touch("host")
    peer = "CuPy, pageable"
    ours = gbytes(nbytes, best(lambda: move(buffer, "host", "gpu"), synchronize))
    theirs = gbytes(nbytes, best(lambda: device.set(host), synchronize))
    yield Figure(f"to the device, {name}", ours, peer, theirs, "GB/s")
    ours = gbytes(nbytes, best(lambda: move(buffer, "gpu", "host"), synchronize))
    theirs = gbytes(nbytes, best(lambda: device.get(out=host), synchronize))
    yield Figure(f"to the host, {name}", ours, peer, theirs, "GB/s")


def calls() -> Iterator[Figure]:
    """Measure what a call pays for coherence when everything is where it should be."""
    cupy = importlib.import_module("cupy")
    array = cupy.zeros((16, 16, 8))
    kernel = 1e6 * best(lambda: array.fill(1.0), synchronize)
    storages = {f"f{number}": gt.zeros((16, 16, 8), device="gpu") for number in range(5)}
    for storage in storages.values():
        storage[...] = array
    buffer = storages["f0"].buffer

    def use() -> None:
        buffer.acquire("gpu", AccessMode.READ_WRITE).release()

    yield Figure("acquire and release", 1e6 * best(use), "launch of a kernel", kernel, "us")
    for count in (2, 5):
        some = {name: storages[name] for name in list(storages)[:count]}

        def bind(some: dict[str, Any] = some) -> None:
            with gt.bound(some, device="gpu", writes=["f0"]):
                pass

        yield Figure(
            f"bind {count} arguments", 1e6 * best(bind), "launch of a kernel", kernel, "us"
        )
    storage = storages["f0"]
    ours, theirs = best(lambda: storage[1, 1, 1]), best(lambda: float(array[1, 1, 1]))
    yield Figure("read an element", 1e6 * ours, "CuPy", 1e6 * theirs, "us")
    ours = 1e6 * best(lambda: gt.empty((16, 16, 8), device="gpu").to_cupy())
    yield Figure("empty", ours, "CuPy", 1e6 * best(lambda: cupy.empty((16, 16, 8))), "us")


def move(buffer: CoherentBuffer, source: str, target: str) -> None:
    """Copy all values from one side to the other."""
    buffer.touch(source)
    buffer.make_valid(target)


def best(work: Callable[[], Any], after: Callable[[], Any] | None = None) -> float:
    """Return the least seconds of one call, with what has to be waited for after a run of them."""
    work()
    count = max(1, int(0.02 / max(timeit.timeit(work, number=1), 1e-7)))

    def run() -> None:
        for _ in range(count):
            work()
        if after is not None:
            after()

    return min(timeit.repeat(run, repeat=5, number=1)) / count


def synchronize() -> None:
    """Wait for the device."""
    importlib.import_module("cupy").cuda.Device().synchronize()


def gbytes(nbytes: int, seconds: float) -> float:
    """Return the rate in 10^9 bytes per second."""
    return nbytes / seconds / 1e9


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
