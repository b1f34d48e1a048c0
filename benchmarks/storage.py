"""Measure what the storage runtime costs, beside NumPy, xarray and GT4Py in the same process.

    python benchmarks/storage.py

Each line gives our time, that of the peer, and their ratio; a goal is shown with its verdict. The
peers are used as their manuals say: GT4Py's stencil is compiled and called once before, arguments
are valid and its own storages. A peer that is not installed is left out, and the line says so. The
exit status is 0 whatever the times are: they depend on the machine.
"""

import importlib
import subprocess
import sys
import time
import timeit
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))

import numpy as np

from psyclone_storage import storage as gt
from psyclone_storage.storage.core.buffer import Buffer
from psyclone_storage.storage.core.locks import AccessMode

SHAPE = (16, 16, 8)
REPEATS = 7
WORKING_SET = 1 << 28
UNGUARDED = gt.Emulation(strict=False)
"""Without the poison that strict emulation writes into stale replicas, which no device does."""


def best(work: Callable[[], Any], seconds: float = 0.05) -> float:
    """Return the least seconds that one call of `work` takes, over some repeats."""
    timer = timeit.Timer(work)
    count = max(1, int(seconds / max(timer.timeit(3) / 3, 1e-9)))
    return min(timer.repeat(REPEATS, count)) / count


def line(name: str, ours: float, peer: tuple[str, float | None], goal: float | None = None) -> None:
    """Print one comparison; `goal` is the least ratio of the peer's time to ours."""
    label, theirs = peer
    if theirs is None:
        print(f"{name:<44}{ours * 1e6:10.2f} us   {label} is not installed")
        return
    ratio = theirs / ours
    verdict = "" if goal is None else f"   goal {goal:g}: {'met' if ratio >= goal else 'MISSED'}"
    print(f"{name:<44}{ours * 1e6:10.2f} us{theirs * 1e6:10.2f} us {ratio:8.2f} x {label}{verdict}")


def optional(name: str) -> Any:
    """Return a module, None if it is not installed."""
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def measure_creation() -> None:
    """Compare `empty`, which allocates, with that of NumPy and of GT4Py."""
    peer = optional("gt4py.storage")
    ours = best(lambda: gt.empty(SHAPE))
    line("empty", ours, ("np.empty", best(lambda: np.empty(SHAPE))))
    theirs = peer and best(lambda: peer.empty(SHAPE, np.float64, backend="numpy"))
    line("empty", ours, ("gt4py.storage.empty", theirs), 20.0)
    ours = best(lambda: gt.empty(SHAPE, defaults="gtmc", aligned_index=(1, 1, 0)))
    theirs = peer and best(
        lambda: peer.empty(SHAPE, np.float64, backend="gt:cpu_ifirst", aligned_index=(1, 1, 0))
    )
    line("empty, aligned, layout of a back end", ours, ("gt4py.storage.empty", theirs), 20.0)
    line("zeros", best(lambda: gt.zeros(SHAPE)), ("np.zeros", best(lambda: np.zeros(SHAPE))))


def measure_elements() -> None:
    """Compare elements and slices with those of NumPy and xarray."""
    array, xarray = np.zeros(SHAPE), optional("xarray")
    host, both = gt.zeros(SHAPE), gt.zeros(SHAPE, device="gpu")
    both[...] = 0.0
    sliced = best(lambda: array[1:-1, 1:-1, :])
    line("slice", best(lambda: host[1:-1, 1:-1, :]), ("ndarray", sliced), 1 / 3)
    line("slice, with a device", best(lambda: both[1:-1, 1:-1, :]), ("ndarray", sliced), 1 / 3)
    if xarray is not None:
        wrapped = xarray.DataArray(array, dims=("I", "J", "K"))
        theirs: float | None = best(lambda: wrapped[1:-1, 1:-1, :])
    else:
        theirs = None
    line("slice", best(lambda: host[1:-1, 1:-1, :]), ("DataArray", theirs))
    line("element", best(lambda: host[1, 2, 3]), ("ndarray", best(lambda: array[1, 2, 3])))
    line("element, checked access", best(lambda: both[1, 2, 3]), ("ndarray", sliced))


def measure_access() -> None:
    """Show what checked accesses cost; there is no peer for them in Python."""
    both = gt.zeros(SHAPE, device="gpu")
    both.synchronize()
    buffer = both.buffer
    buffer.make_valid()

    def managed() -> None:
        with both.access(mode=AccessMode.RDWR):
            pass

    nothing = best(lambda: None)
    line(
        "acquire and release for reading",
        best(lambda: buffer.acquire().release()),
        ("no-op", nothing),
    )
    line("context-managed access", best(managed), ("no-op", nothing))
    array = np.zeros(SHAPE)
    line(
        "__gt_data_interface__, repeated",
        best(lambda: both.__gt_data_interface__),
        ("ndarray.__array_interface__", best(lambda: array.__array_interface__)),
    )


def measure_binding() -> None:
    """Compare binding with what GT4Py spends on a stencil call beyond the computation."""
    for count in (2, 5):
        names = "abcde"[:count]
        theirs = _gt4py_overhead(names)
        for place, keywords in (("host", {}), ("emulated device", {"device": "gpu"})):
            fields = {name: gt.zeros(SHAPE, **keywords) for name in names}
            device = keywords.get("device")

            def call(fields: Any = fields, device: Any = device, out: str = names[-1]) -> None:
                with gt.bound(fields, device=device, writes=(out,)):
                    pass

            call()
            goal = 5.0 if count == 5 else None
            line(
                f"bind {count} arguments, {place}", best(call), ("gt4py stencil call", theirs), goal
            )


def _gt4py_overhead(names: str) -> float | None:
    gtscript = optional("gt4py.cartesian.gtscript")
    if gtscript is None:
        return None
    storage = optional("gt4py.storage")
    stencil = gtscript.stencil(backend="numpy", definition=_definition(len(names), gtscript))
    fields = [storage.zeros(SHAPE, np.float64, backend="numpy") for _ in names]
    stencil(*fields)
    frozen = stencil.freeze(origin=dict.fromkeys(stencil.field_info, (0, 0, 0)), domain=SHAPE)
    by_name = dict(zip(stencil.field_info, fields, strict=True))
    frozen(**by_name)
    computed = _computation(fields)
    usual = best(lambda: stencil(*fields)) - computed
    bare = best(lambda: frozen(**by_name)) - computed
    print(f"    (gt4py, {len(names)} arguments: {usual * 1e6:.1f} us, frozen {bare * 1e6:.1f} us)")
    return usual


def _computation(fields: list[Any]) -> float:
    *inputs, out = fields

    def compute() -> None:
        out[...] = sum(inputs[1:], start=inputs[0])

    return best(compute)


def _definition(count: int, gtscript: Any) -> Any:
    """Return the assignment of the sum of all others to the last, as GT4Py wants it written.

    GT4Py evaluates the annotations, so that this file cannot postpone them.
    """
    Field, PARALLEL = gtscript.Field, gtscript.PARALLEL  # noqa: N806
    computation, interval = gtscript.computation, gtscript.interval

    def copied(a: Field[np.float64], b: Field[np.float64]):
        with computation(PARALLEL), interval(...):
            b = a  # noqa: F841

    def added(
        a: Field[np.float64],
        b: Field[np.float64],
        c: Field[np.float64],
        d: Field[np.float64],
        e: Field[np.float64],
    ):
        with computation(PARALLEL), interval(...):
            e = a + b + c + d  # noqa: F841

    return copied if count == 2 else added


def measure_transfers() -> None:
    """Compare whole transfers, marking and counting included, with `np.copyto`.

    Each goes round over enough fields that none is in a cache when its turn comes, as in a model.
    """
    for nbytes in (1 << 20, 1 << 23, 1 << 26):
        count = max(2, WORKING_SET // (2 * nbytes))
        fields = [gt.ones((nbytes // 8,), device="gpu") for _ in range(count)]
        pairs = [(np.zeros(nbytes // 8), np.ones(nbytes // 8)) for _ in range(count)]
        for field in fields:
            field.host_to_device()
            field.device_to_host()
        copied = mean_over(pairs, lambda _: None, lambda pair: np.copyto(*pair))
        there = mean_over(
            fields, lambda field: field.set_host_modified(), lambda field: field.host_to_device()
        )
        back = mean_over(
            fields, lambda field: field.set_device_modified(), lambda field: field.device_to_host()
        )
        label = f"{nbytes >> 20} MiB"
        line(f"host to device, {label}", there, ("np.copyto", copied), 0.9)
        line(f"device to host, {label}", back, ("np.copyto", copied), 0.9)


def mean_over(
    things: list[Any], prepare: Callable[[Any], Any], work: Callable[[Any], Any]
) -> float:
    """Return the mean seconds of `work`, in the best of some rounds; `prepare` is not timed."""
    rounds = []
    for _ in range(REPEATS):
        for thing in things:
            prepare(thing)
        start = time.perf_counter()
        for thing in things:
            work(thing)
        rounds.append((time.perf_counter() - start) / len(things))
    return min(rounds)


def measure_ping_pong() -> None:
    """Show what it costs to work on both sides in turn."""
    small = gt.zeros(SHAPE, device="gpu")

    def ping_pong() -> None:
        small.set_host_modified()
        small.host_to_device()
        small.set_device_modified()
        small.device_to_host()

    array, other = np.zeros(SHAPE), np.zeros(SHAPE)

    def copy_twice() -> None:
        np.copyto(other, array)
        np.copyto(array, other)

    line("ping-pong, 16 KiB", best(ping_pong), ("2 np.copyto", best(copy_twice)))


def measure_overlap() -> None:
    """Show which part of a transfer hides behind a computation on the host.

    The transfer is a copy by the emulated bus and the time that the bus is set to need besides;
    the computation is NumPy's. Each is timed alone, then both together.
    """
    gt.use_device("emulated", gt.Emulation(latency=0.05))
    buffer = Buffer(1 << 20)
    values = np.linspace(0.0, 1.0, 1 << 20)

    def compute() -> None:
        for _ in range(6):
            np.sin(values)

    def transfer(work: Callable[[], None]) -> None:
        buffer.touch()
        future = buffer.prefetch("gpu")
        work()
        future.result()

    alone = once(compute), once(lambda: transfer(lambda: None))
    together = once(lambda: transfer(compute))
    hidden = (sum(alone) - together) / min(alone)
    gt.use_device("emulated", UNGUARDED)
    print(
        f"{'prefetch overlap':<44}{hidden:10.1%}   goal 90%: {'met' if hidden >= 0.9 else 'MISSED'}"
    )


def once(call: Callable[[], None]) -> float:
    """Return the least wall seconds of five calls."""
    times = []
    for _ in range(5):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times)


def measure_import() -> None:
    """Show what `import psyclone_storage.storage` adds to that of NumPy."""
    program = (
        "import numpy, time; start = time.perf_counter(); import psyclone_storage.storage; "
        "print(time.perf_counter() - start)"
    )
    source = str(Path(__file__).resolve().parents[1] / "src")
    times = [
        float(
            subprocess.run(
                [sys.executable, "-c", program],
                capture_output=True,
                text=True,
                check=True,
                env={"PYTHONPATH": source},
            ).stdout
        )
        for _ in range(REPEATS)
    ]
    seconds = min(times)
    verdict = "met" if seconds <= 0.06 else "MISSED"
    print(f"{'import':<44}{seconds * 1e3:10.1f} ms   goal 60 ms: {verdict}")


def main() -> None:
    """Measure everything, on the emulated device."""
    gt.use_device("emulated", UNGUARDED)
    warnings.simplefilter("ignore")
    print(f"{'':<44}{'ours':>13}{'peer':>13}{'ratio':>11}")
    measure_creation()
    measure_elements()
    measure_access()
    measure_binding()
    measure_transfers()
    measure_ping_pong()
    measure_overlap()
    measure_import()


if __name__ == "__main__":
    main()
