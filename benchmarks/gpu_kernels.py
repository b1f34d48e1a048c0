"""Judge what Python computes on a GPU: answers, transfers, bandwidth, launches and exchanges.

    python benchmarks/gpu_kernels.py                              on a GPU
    python benchmarks/gpu_kernels.py --emulated --points 16 ...   everything but the numbers

Kernels for points of a grid and LFRic's matrix-vector product are generated as CUDA and computed on
the device; the bits have to be those of C on the host. A figure with a bar has to meet it, or the
exit status is 1: bandwidth beside that of a copy on the device, of the bytes that have to move at
least; time that one kernel more takes in an invoke; transfers of a time loop; how much of an
exchange between two ranks is hidden behind the interior (`gpu_exchange.py`). On an emulated device
the times mean nothing and are not judged, all else is. Without a device the exit status is 2.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))

import numpy as np
from product import product

from psyclone_storage.gocean import (
    GO_CT,
    GO_INTERNAL_PTS,
    GO_OFFSET_NE,
    GO_READ,
    GO_STENCIL,
    GO_WRITE,
    configure,
    field,
    invoke,
    kernel,
)
from psyclone_storage.runtime.gocean import Field, Grid
from psyclone_storage.runtime.lfric import Field as DofField
from psyclone_storage.runtime.lfric import Mesh, Operator
from psyclone_storage.runtime.ranks import SingleRank
from psyclone_storage.storage import DeviceKind, use_device
from psyclone_storage.storage.core.spaces import device_space
from psyclone_storage.storage.core.stats import GLOBAL_STATS, Direction
from psyclone_storage.storage.memory.registry import memory_of, resolved_device

HERE = Path(__file__).resolve().parent
NO_GPU = 2
POINTS_BAR, PRODUCT_BAR, LAUNCH_BAR, HIDDEN_BAR = 0.9, 0.8, 5.0, 0.9
"""Shares of a copy's bandwidth, microseconds, and a share of what can be hidden."""
SMALL, MANY = 8, 13
AS_ON_HOST = 512
"""Points along each side where the host computes all steps, too."""
FOR_EXCHANGES = 150.0
"""Seconds that two ranks have."""
COLOURS = 'def trans(psy):\n    for schedule in psy.children:\n        schedule.apply("colour")\n'


@dataclass(frozen=True)
class Sizes:
    """How much is computed: points and cells along each side, layers, and runs of each timing."""

    points: int = 8192
    cells: int = 256
    layers: int = 40
    repeats: int = 200


@dataclass(frozen=True)
class Judgement:
    """A figure and the bar that it has to meet, None for one that is shown alone.

    It has to be `at_most` that much, or else at least. What is `timed` counts on a GPU alone.
    """

    name: str
    value: float
    unit: str
    bar: float | None = None
    at_most: bool = False
    timed: bool = True

    def good(self, *, on_gpu: bool) -> bool:
        """Return whether the bar is met, or nothing is asked. A value that is NaN meets none."""
        if self.bar is None or (self.timed and not on_gpu):
            return True
        return self.value <= self.bar if self.at_most else self.value >= self.bar

    def line(self, *, on_gpu: bool) -> str:
        """Return the row of a table."""
        bar = "" if self.bar is None else f"{'<=' if self.at_most else '>='} {self.bar:g}"
        judged = bool(bar) and (on_gpu or not self.timed)
        verdict = ("met" if self.good(on_gpu=on_gpu) else "MISSED") if judged else "not judged"
        return f"| {self.name} | {self.value:.4g} | {self.unit} | {bar} | {verdict} |"


# -- what is computed ------------------------------------------------------------------------------


@kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_NE)
def combine(new: field[GO_WRITE, GO_CT], one: field[GO_READ, GO_CT], other: field[GO_READ, GO_CT]):
    """Add two values, of which one counts half."""
    new[0, 0] = one[0, 0] + 0.5 * other[0, 0]


@kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_NE)
def smooth(new: field[GO_WRITE, GO_CT], old: field[GO_READ, GO_CT, GO_STENCIL("010,111,010")]):
    """Mix a value with those around it."""
    new[0, 0] = 0.5 * old[0, 0] + 0.125 * (old[-1, 0] + old[1, 0] + old[0, -1] + old[0, 1])


def combined(new: Field, one: Field, other: Field) -> None:
    """Do a kernel whose points stand alone."""
    invoke(combine(new, one, other), name="combined")


def smoothed(new: Field, old: Field) -> None:
    """Do a kernel that looks at neighbours."""
    invoke(smooth(new, old), name="smoothed")


def stepped(new: Field, middle: Field, old: Field) -> None:
    """Do a step of two kernels, and back."""
    invoke(combine(middle, new, old), smooth(new, middle), smooth(old, new), name="stepped")


def once(f: list[Field]) -> None:
    """Do one kernel."""
    invoke(combine(f[0], f[1], f[2]), name="once")


def often(f: list[Field]) -> None:
    """Do 13 kernels, each with fields of its own to write."""
    invoke(
        combine(f[0], f[13], f[14]), combine(f[1], f[13], f[14]), combine(f[2], f[13], f[14]),
        combine(f[3], f[13], f[14]), combine(f[4], f[13], f[14]), combine(f[5], f[13], f[14]),
        combine(f[6], f[13], f[14]), combine(f[7], f[13], f[14]), combine(f[8], f[13], f[14]),
        combine(f[9], f[13], f[14]), combine(f[10], f[13], f[14]), combine(f[11], f[13], f[14]),
        combine(f[12], f[13], f[14]), name="often",
    )  # fmt: skip


def fields_on(device: str | None, points: int, count: int, parts: int = 0) -> list[Field]:
    """Return fields with random values, the same for any device.

    With `parts`, each rank has a grid of its own that is as large as one of so many parts.
    """
    shape = points, points // max(parts, 1)
    grid = Grid(shape, boundaries="open", device=device, ranks=SingleRank() if parts else None)
    random = np.random.default_rng(1)
    return [Field(grid, values=random.random(shape)) for _ in range(count)]


# -- figures ---------------------------------------------------------------------------------------


def judgements(sizes: Sizes) -> Iterator[Judgement]:
    """Yield all figures; the device is chosen. A part that fails is a bar that is missed."""
    copied = copy_rate(8 * sizes.points**2, sizes.repeats)
    yield Judgement("copy on the device", copied, "GB/s")
    for part in (of_points, of_product, of_launches, of_transfers, of_exchanges):
        try:
            yield from part(sizes, copied)
        except Exception as error:  # noqa: BLE001 - the others are judged, too
            traceback.print_exc()
            said = " ".join(str(error).split())[:200]
            yield failed(f"{part.__name__}: {type(error).__name__}: {said}")


def failed(name: str) -> Judgement:
    """Return a bar that is missed, as there is nothing to be judged."""
    return Judgement(name, float("nan"), "", 1.0, timed=False)


def of_points(sizes: Sizes, copied: float) -> Iterator[Judgement]:
    """Judge a kernel whose points stand alone; one that looks at neighbours is shown."""
    kinds = (("point kernel", combined, 3, POINTS_BAR), ("stencil of 5 points", smoothed, 2, None))
    for name, work, count, bar in kinds:
        found: dict[str, Any] = {}
        for target, device in (("c", None), ("cuda", "gpu")):
            configure(distributed=False, target=target)
            fields = fields_on(device, sizes.points, count)
            call = partial(work, *fields)
            call()
            found[target] = np.array(fields[0].values)
        yield same(f"{name}: bits of C", found["c"], found["cuda"])
        rate = 8e-9 * count * sizes.points**2 / seconds_of(call, sizes.repeats)
        yield Judgement(f"{name}: bandwidth", rate, "GB/s")
        yield Judgement(f"{name}: of a copy's", rate / copied, "share", bar)


def of_product(sizes: Sizes, copied: float) -> Iterator[Judgement]:
    """Judge LFRic's product: each matrix and value moves once, those that are added to twice."""
    found: dict[str, Any] = {}
    with recipe(COLOURS) as script:
        for target, device in (("c", None), ("cuda", "gpu")):
            configure(distributed=False, target=target, script=script)
            mesh = Mesh.planar((sizes.cells, sizes.cells), layers=sizes.layers, device=device)
            space, random = mesh.space("W2"), np.random.default_rng(1)
            y, x, matrix = DofField(space, "y"), DofField(space, "x"), Operator(space, space, "m")
            for one in (x, matrix):
                one.storage[...] = random.random(one.storage.shape)
            call = partial(product, y, x, matrix)
            call()
            found[target] = np.array(y.storage.data_ro)
        yield same("LFRic's product: bits of C", found["c"], found["cuda"])
        nbytes = 8 * (matrix.storage.size + 4 * x.storage.size)
        rate = 1e-9 * nbytes / seconds_of(call, sizes.repeats)
    yield Judgement("LFRic's product: bandwidth", rate, "GB/s")
    yield Judgement("LFRic's product: of a copy's", rate / copied, "share", PRODUCT_BAR)


def of_launches(sizes: Sizes, _: float) -> Iterator[Judgement]:
    """Judge what one kernel more takes, where there is hardly anything to compute."""
    configure(distributed=False, target="cuda")
    fields = fields_on("gpu", SMALL, MANY + 2)
    calls = 5 * sizes.repeats
    alone, all_of_them = (1e6 * seconds_of(partial(one, fields), calls) for one in (once, often))
    yield Judgement("an invoke of one kernel", alone, "us")
    taken = (all_of_them - alone) / (MANY - 1)
    yield Judgement("a kernel more", taken, "us", LAUNCH_BAR, at_most=True)


def of_transfers(sizes: Sizes, _: float) -> Iterator[Judgement]:
    """Judge what a time loop moves: each field there in the first step, what is output back.

    What comes back are the bits of C.
    """
    configure(distributed=False, target="cuda")
    points = min(sizes.points, AS_ON_HOST)
    fields, wanted = fields_on("gpu", points, 3), fields_on(None, points, 3)
    with transfers() as moved:
        for what, there, back in (("the first step", 3, 0), ("all others", 0, 0)):
            for _ in range(sizes.repeats if there == 0 else 1):
                stepped(*fields)
            yield from counted(what, moved, there, back)
        for one in fields[:2]:
            _ = one.values
        yield from counted("an output of two fields", moved, 0, 2)
        stepped(*fields)
        yield from counted("a step behind it", moved, 0, 0)
    configure(distributed=False, target="c")
    for _ in range(sizes.repeats + 2):
        stepped(*wanted)
    values = [np.array([one.values for one in of]) for of in (wanted, fields)]
    yield same("steps: bits of C", *values)


def counted(what: str, moved: Counter[Direction], there: int, back: int) -> Iterator[Judgement]:
    """Judge how many transfers there were since they were last asked for."""
    for way, most in ((Direction.HOST_TO_DEVICE, there), (Direction.DEVICE_TO_HOST, back)):
        name = f"{what}: {way.value}"
        yield Judgement(name, moved[way], "transfers", most, at_most=True, timed=False)
    moved.clear()


def of_exchanges(sizes: Sizes, _: float) -> Iterator[Judgement]:
    """Judge how much of an exchange between two ranks, which share the device, is hidden.

    At best a step takes as long as the longer of the exchange and the loops.
    """
    lacking = [name for name, there in (("mpirun", shutil.which("mpirun")),
                                        ("mpi4py", importlib.util.find_spec("mpi4py")))
               if not there]  # fmt: skip
    if lacking:
        yield failed(f"exchange: {' and '.join(lacking)} is not installed")
        return
    kind = resolved_device()
    words = ["--points", str(sizes.points), "--repeats", str(sizes.repeats)]
    allowed = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    chosen = {"PSYCLONE_STORAGE_DEVICE": "" if kind is None else kind.value}
    program = [sys.executable, str(HERE / "gpu_exchange.py"), *words]
    done = subprocess.run(
        ["mpirun", "--oversubscribe", "--bind-to", "none", "-n", "2", *program],
        env={**os.environ, **allowed, **chosen}, capture_output=True, text=True, check=False,
        timeout=FOR_EXCHANGES,
    )  # fmt: skip
    if done.returncode != 0:
        raise RuntimeError(f"two ranks ended with {done.returncode}: {done.stderr[-2000:]}")
    found = json.loads(done.stdout.splitlines()[-1])
    yield same("exchange: bits of C, and hidden", found["sums"][0], found["sums"][1:])
    names = ("loops", "exchange", "one after the other", "hidden")
    for name in names:
        yield Judgement(f"exchange: {name}", 1e6 * found[name], "us")
    share = hidden_share(*(found[name] for name in names))
    yield Judgement("exchange: hidden of what can be", share, "share", HIDDEN_BAR)


def hidden_share(loops: float, exchange: float, plain: float, hidden: float) -> float:
    """Return what share is hidden of what can be; all where a step takes no longer than at best."""
    best = max(loops, exchange)
    return 1.0 if hidden <= best else (plain - hidden) / (plain - best) if plain > best else 0.0


def same(name: str, wanted: Any, found: Any) -> Judgement:
    """Judge whether values are equal to the bit: 1 if they are. All of those found may be one."""
    equal = bool(np.all(np.asarray(wanted) == np.asarray(found)))
    return Judgement(name, float(equal), "bits", 1.0, timed=False)


# -- tools -----------------------------------------------------------------------------------------


def on_gpu() -> bool:
    """Return whether the device is a GPU, and times mean something."""
    return resolved_device() is DeviceKind.CUDA


def wait() -> None:
    """Wait for all that the device was asked for."""
    if on_gpu():
        importlib.import_module("cupy").cuda.Device().synchronize()
    else:
        memory_of(device_space()).finish()


def seconds_of(call: Callable[[], object], count: int) -> float:
    """Return the least seconds of one call, of three runs of `count`, with the wait for the end."""
    least = float("inf")
    for _ in range(2):
        call()
    for _ in range(3):
        wait()
        begin = time.perf_counter()
        for _ in range(count):
            call()
        wait()
        least = min(least, (time.perf_counter() - begin) / count)
    return least


def copy_rate(nbytes: int, count: int) -> float:
    """Return how many 10^9 bytes a second a copy on the device reads and writes, by CuPy alone.

    On a machine without a GPU it is NumPy's, so that there is something to divide by.
    """
    arrays = importlib.import_module("cupy") if on_gpu() else np
    source = arrays.zeros(nbytes // 8)
    target = arrays.empty_like(source)

    def copy() -> None:
        target[...] = source

    return 2e-9 * nbytes / seconds_of(copy, count)


@contextmanager
def recipe(text: str) -> Iterator[Path]:
    """Write a recipe, for the block."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "recipe.py"
        file.write_text(text, encoding="utf-8")
        yield file


@contextmanager
def transfers() -> Iterator[Counter[Direction]]:
    """Count the transfers in the block, by their directions."""
    found: Counter[Direction] = Counter()

    def count(event: Any) -> None:
        found[event.direction] += 1

    forget = GLOBAL_STATS.add_callback(count)
    try:
        yield found
    finally:
        forget()


def add_sizes(parser: argparse.ArgumentParser) -> None:
    """Let a command take sizes."""
    default = Sizes()
    parser.add_argument("--points", type=int, default=default.points, help="along each side")
    parser.add_argument("--cells", type=int, default=default.cells, help="along each side")
    parser.add_argument("--layers", type=int, default=default.layers)
    parser.add_argument("--repeats", type=int, default=default.repeats, help="of what is timed")


def sizes_of(given: argparse.Namespace) -> Sizes:
    """Return the sizes that a command was given."""
    return Sizes(given.points, given.cells, given.layers, given.repeats)


def main(arguments: list[str]) -> int:
    """Compute, print and judge; return the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    add_sizes(parser)
    parser.add_argument("--emulated", action="store_true", help="judge all but the times")
    given = parser.parse_args(arguments)
    use_device("emulated" if given.emulated else "auto")
    if resolved_device() is None:
        print("No GPU: CuPy is not installed, or sees no device. See --emulated.", file=sys.stderr)
        return NO_GPU
    missed = []
    for one in judgements(sizes_of(given)):
        print(one.line(on_gpu=on_gpu()), flush=True)
        if not one.good(on_gpu=on_gpu()):
            missed.append(one.name)
    print(f"Missed: {', '.join(missed)}." if missed else "No bar was missed.")
    return 1 if missed else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
