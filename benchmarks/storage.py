"""Measure what the storage runtime costs, beside NumPy, xarray and GT4Py in the same process.

    python benchmarks/storage.py
    PSYCLONE_STORAGE_CORE=python python benchmarks/storage.py

Each line gives our time, that of the peer, and ours as a multiple of it; a goal is shown with its
verdict. All is CPU time. The peers are used as their manuals say: GT4Py's stencil is compiled and
called once before, with arguments that it validates. A peer that is not installed is left out, and
the line says so. The exit status is 0 whatever the times are: they depend on the machine.
"""

import importlib
import subprocess
import sys
import threading
import time
import timeit
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "support"))

import numpy as np

import cupy_stand_in
from psyclone_storage import storage as gt
from psyclone_storage.storage.core.buffer import CoherentBuffer
from psyclone_storage.storage.core.locks import AccessMode
from psyclone_storage.storage.core.native import COMPILED
from psyclone_storage.storage.memory.queues import finish_all

SHAPE = (16, 16, 8)
REPEATS = 7
ROUNDS = 100
WORKING_SET = 1 << 28
UNGUARDED = gt.Emulation(strict=False)
"""Without the poison that strict emulation writes into stale replicas, which no device does."""


def best(work: Callable[[], Any] | str, seconds: float = 0.001, **names: Any) -> float:
    """Return the least CPU seconds that `work` takes, in the best of many short rounds.

    A text is a statement over `names`, which is timed without the call of a function.
    """
    timer = timeit.Timer(work, timer=time.process_time, globals=names)
    count = 50
    while (spent := timer.timeit(count)) < seconds:
        count = max(2 * count, int(count * seconds / max(spent, 1e-7)))
    return min(timer.repeat(ROUNDS, count)) / count


def line(name: str, ours: float, peer: tuple[str, float | None], goal: float | None = None) -> None:
    """Print one comparison; `goal` is the most microseconds that ours may take."""
    label, theirs = peer
    verdict = "" if goal is None else f"   goal {goal:g} us: {met(ours * 1e6 <= goal)}"
    if theirs is None:
        print(f"{name:<44}{ours * 1e6:10.3f} us   {label} is not installed{verdict}")
        return
    beside = f"{theirs * 1e6:10.3f} us {ours / theirs:8.2f} x {label}"
    print(f"{name:<44}{ours * 1e6:10.3f} us{beside}{verdict}")


def met(yes: bool) -> str:
    """Return the verdict on a goal."""
    return "met" if yes else "MISSED"


def optional(name: str) -> Any:
    """Return a module, None if it is not installed."""
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def measure_creation() -> None:
    """Compare `empty`, which allocates, with that of NumPy and of GT4Py."""
    peer = optional("gt4py.storage")
    bare = best("np.empty(S)", np=np, S=SHAPE)
    line("empty", best("gt.empty(S)", gt=gt, S=SHAPE), ("np.empty", bare), 0.6)
    ours = best('gt.empty(S, device="gpu")', gt=gt, S=SHAPE)
    line("empty, with a device", ours, ("2 np.empty", 2 * bare), 5.0)
    theirs = peer and best(lambda: peer.empty(SHAPE, np.float64, backend="numpy"))
    line("empty", best("gt.empty(S)", gt=gt, S=SHAPE), ("gt4py.storage.empty", theirs))
    ours = best(lambda: gt.empty(SHAPE, defaults="gtmc", aligned_index=(1, 1, 0)))
    theirs = peer and best(
        lambda: peer.empty(SHAPE, np.float64, backend="gt:cpu_ifirst", aligned_index=(1, 1, 0))
    )
    line("empty, aligned, layout of a back end", ours, ("gt4py.storage.empty", theirs))
    line("zeros", best(lambda: gt.zeros(SHAPE)), ("np.zeros", best(lambda: np.zeros(SHAPE))))


def measure_elements() -> None:
    """Compare slices with slices, and elements with elements, of NumPy and xarray."""
    array, xarray = np.zeros(SHAPE), optional("xarray")
    host, both = gt.zeros(SHAPE), gt.zeros(SHAPE, device="gpu")
    both[...] = 0.0
    both[0, 0, 0]
    cut, pick = "x[1:-1, 1:-1, :]", "x[1, 2, 3]"
    sliced, picked = best(cut, x=array), best(pick, x=array)
    line("slice", best(cut, x=host), ("ndarray", sliced), 0.5)
    line("slice, with a device", best(cut, x=both), ("ndarray", sliced), 0.6)
    wrapped = [] if xarray is None else [xarray.DataArray(array, dims=("I", "J", "K"))]
    theirs = best(cut, x=wrapped[0]) if wrapped else None
    line("slice", best(cut, x=host), ("DataArray", theirs))
    line("element", best(pick, x=host), ("ndarray", picked))
    line("element, with a device", best(pick, x=both), ("ndarray", picked), 0.5)


def measure_access() -> None:
    """Compare checked accesses with taking a lock, the least that any check needs."""
    both, lock = gt.zeros(SHAPE, device="gpu"), threading.Lock()
    both.synchronize()
    buffer = both.buffer
    buffer.make_valid()
    bare = best("with lock: pass", lock=lock)
    ours = best("buffer.acquire().release()", buffer=buffer)
    line("acquire and release for reading", ours, ("a lock", bare), 0.12)
    block = "with both.access(mode=mode): pass"
    line("access in a block", best(block, both=both, mode=AccessMode.RDWR), ("a lock", bare))
    array = np.zeros(SHAPE)
    line(
        "__gt_data_interface__, repeated",
        best("both.__gt_data_interface__", both=both),
        ("ndarray.__array_interface__", best("array.__array_interface__", array=array)),
    )


def measure_binding() -> None:
    """Compare binding with what GT4Py spends on a call that it validates, as binding does.

    The name of the argument that is written equals a key, and is another object.
    """
    goals = {(2, ""): 0.3, (5, ""): 0.5, (2, "gpu"): 0.5, (5, "gpu"): 0.9}
    for count in (2, 5):
        names = [2 * letter for letter in "abcde"[:count]]
        written = (2 * names[-1][0],)
        theirs = _gt4py_overhead(names)
        for device in ("", "gpu"):
            keywords: Any = {"device": device} if device else {}
            fields = {name: gt.zeros(SHAPE, **keywords) for name in names}
            known = {"gt": gt, "f": fields, "d": device or None, "w": written}
            block = gt.bound(fields, device=device or None, writes=written)
            with block:
                pass
            ours = best("with gt.bound(f, device=d, writes=w): pass", **known)
            again = best("with block: pass", block=block)
            place = "emulated device" if device else "host"
            peer = ("gt4py's validated call", theirs)
            line(f"bind {count} arguments, {place}", ours, peer, goals[count, device])
            line(f"bind {count} arguments again, {place}", again, peer, 0.15)


def _gt4py_overhead(names: list[str]) -> float | None:
    """Return what a call costs beyond the computation; compare arguments that are storages."""
    gtscript = optional("gt4py.cartesian.gtscript")
    if gtscript is None:
        return None
    stencil = gtscript.stencil(backend="numpy", definition=_definition(len(names), gtscript))
    arrays = [np.zeros(SHAPE) for _ in names]
    ours = [gt.zeros(SHAPE) for _ in names]
    stencil(*arrays)
    stencil(*ours)
    usual = best(lambda: stencil(*arrays))
    line(
        f"GT4Py's call with {len(names)} storages", best(lambda: stencil(*ours)), ("arrays", usual)
    )
    return usual - _computation(arrays)


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


def measure_gpu() -> None:
    """Compare what the code for GPUs costs with `np.empty(8)`, over the stand-in for CuPy.

    Its streams and events are Python code: a call for the current stream takes 0.7 `np.empty(8)`.
    """
    peer = ("np.empty(8)", best("np.empty(8)", np=np))
    with cupy_stand_in.installed(1):
        gt.use_device("cuda")
        fields = {2 * letter: gt.zeros(SHAPE, device="gpu") for letter in "abcde"}
        for count in (2, 5):
            names = tuple(fields)[:count]
            some = {name: fields[name] for name in names}
            known = {"gt": gt, "f": some, "w": ("".join(names[-1]),)}
            ours = best("with gt.bound(f, device='gpu', writes=w): pass", **known)
            line(f"bind {count} arguments, GPU", ours, peer)
        field, small = fields["aa"], gt.zeros((64,), device="gpu")
        line("access in a block, GPU", best("with f.access('gpu'): pass", f=field), peer)

        def both_sides() -> None:
            for device in (None, "gpu"):
                with small.access(device, "rw"):
                    pass

        line("host block, then GPU block, 512 B", best(both_sides), peer)
    gt.use_device("emulated", UNGUARDED)


def measure_transfers() -> None:
    """Compare whole transfers, marking and counting included, with `np.copyto`.

    Each goes round over enough fields that none is in a cache when its turn comes, as in a model.
    The device is at rest, with all that it was asked for to make the fields. `queued` is the same
    where it never is: copies go through its queues and are looked at by the detector of races; the
    time is that of asking, and of the copying, which is done at some time.
    """
    for nbytes in (1 << 16, 1 << 20, 1 << 23, 1 << 26):
        count = max(2, WORKING_SET // (2 * nbytes))
        fields = fields_on_both_sides(nbytes, count)
        pairs = [(np.zeros(nbytes // 8), np.ones(nbytes // 8)) for _ in range(count)]
        copied = mean_over(pairs, lambda _: None, lambda pair: np.copyto(*pair))
        there = mean_over(
            fields, lambda field: field.set_host_modified(), lambda field: field.host_to_device()
        )
        back = mean_over(
            fields, lambda field: field.set_device_modified(), lambda field: field.device_to_host()
        )
        label = f"{nbytes >> 20} MiB" if nbytes >> 20 else f"{nbytes >> 10} KiB"
        most = copied / (0.8 if nbytes < 1 << 20 else 0.95) * 1e6
        line(f"host to device, {label}", there, ("np.copyto", copied), round(most, 1))
        line(f"device to host, {label}", back, ("np.copyto", copied), round(most, 1))
        if nbytes <= 1 << 20:
            gt.use_device("emulated", gt.Emulation(strict=False, order="late"))
            queued = mean_over(
                fields_on_both_sides(nbytes, count),
                lambda field: field.set_host_modified(),
                lambda field: field.host_to_device(),
            )
            line(f"host to device, {label}, queued", queued, ("np.copyto", copied))
            gt.use_device("emulated", UNGUARDED)


def fields_on_both_sides(nbytes: int, count: int) -> list[Any]:
    """Return fields with memory and values on either side, of which nothing is under way."""
    fields = [gt.ones((nbytes // 8,), device="gpu") for _ in range(count)]
    for field in fields:
        field.host_to_device()
        field.set_device_modified()
        field.device_to_host()
    finish_all()
    return fields


def mean_over(
    things: list[Any], prepare: Callable[[Any], Any], work: Callable[[Any], Any]
) -> float:
    """Return the mean seconds of `work`, in the best of some rounds; `prepare` is not timed."""
    rounds = []
    for _ in range(REPEATS):
        for thing in things:
            prepare(thing)
        start = time.process_time()
        for thing in things:
            work(thing)
        rounds.append((time.process_time() - start) / len(things))
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
    buffer = CoherentBuffer(1 << 20)
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
    """Show what `import psyclone_storage.storage` adds to that of NumPy.

    NumPy's linear algebra starts threads that look for work, and their time would count.
    """
    program = (
        "import numpy, time; start = time.process_time(); import psyclone_storage.storage; "
        "print(time.process_time() - start)"
    )
    source = str(Path(__file__).resolve().parents[1] / "src")
    times = [
        float(
            subprocess.run(
                [sys.executable, "-c", program],
                capture_output=True,
                text=True,
                check=True,
                env={"PYTHONPATH": source, "OPENBLAS_NUM_THREADS": "1"},
            ).stdout
        )
        for _ in range(REPEATS)
    ]
    seconds = min(times)
    print(f"{'import':<44}{seconds * 1e3:10.1f} ms   goal 30 ms: {met(seconds <= 0.03)}")


def main() -> None:
    """Measure everything, on the emulated device."""
    gt.use_device("emulated", UNGUARDED)
    warnings.simplefilter("ignore")
    core = "compiled" if COMPILED else "in Python"
    print(f"The core is {core}; CPU time, the least of many rounds.")
    print(f"{'':<44}{'ours':>13}{'peer':>13}{'ratio':>9}")
    measure_creation()
    measure_elements()
    measure_access()
    measure_binding()
    measure_gpu()
    measure_transfers()
    measure_ping_pong()
    measure_overlap()
    measure_import()


if __name__ == "__main__":
    main()
