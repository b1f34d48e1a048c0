"""Bounds checks while a program runs: by BOUNDS_CHECKS, on the host and on an emulated device."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from psyclone_storage import gocean, storage
from psyclone_storage.base.compilers import find_c_compiler, find_fortran_compiler
from psyclone_storage.base.diagnostic import CompileError
from psyclone_storage.lfric import (
    CELL_COLUMN,
    GH_INTEGER,
    GH_READ,
    GH_WRITE,
    W3,
    configure,
    field,
    invoke,
    kernel,
    layers,
    scalar,
)  # fmt: skip
from psyclone_storage.runtime import gocean as grids
from psyclone_storage.runtime.lfric import Field, Mesh
from psyclone_storage.runtime.native import CompiledLibrary, checked
from psyclone_storage.storage.core.errors import PoisonedDataError
from psyclone_storage.storage.core.forking import FORKS

pytestmark = pytest.mark.skipif(
    find_c_compiler() is None or find_fortran_compiler() is None, reason="no compilers"
)


@kernel(operates_on=CELL_COLUMN)
def shift(new: field[GH_WRITE, W3], old: field[GH_READ, W3], n: scalar[GH_INTEGER, GH_READ]):
    """Read `n` layers above."""
    for k in layers():
        new[0, k] = old[0, k + n]


@kernel(operates_on=CELL_COLUMN)
def pick(new: field[GH_WRITE, W3], old: field[GH_READ, W3], n: scalar[GH_INTEGER, GH_READ]):
    """Read a dof, and change an array of the kernel."""
    for k in layers():
        a = np.zeros((2, 3))
        a[1, n] = old[0, k]
        new[0, k] = a[1, n] + old[n - 1, k] + old[int(old[0, k]) - 1, k]


@kernel(operates_on=CELL_COLUMN)
def scatter(new: field[GH_WRITE, W3], old: field[GH_READ, W3], n: scalar[GH_INTEGER, GH_READ]):
    """Write `n` layers above."""
    for k in layers():
        new[0, k + n] = old[0, k]


@gocean.kernel(iterates_over=gocean.GO_INTERNAL_PTS, index_offset=gocean.GO_OFFSET_NE)
def east(
    new: gocean.field[gocean.GO_WRITE, gocean.GO_CT],
    old: gocean.field[gocean.GO_READ, gocean.GO_CT, gocean.GO_STENCIL("000", "011", "000")],
):
    new[0, 0] = old[1, 0]


@gocean.kernel(iterates_over=gocean.GO_INTERNAL_PTS, index_offset=gocean.GO_OFFSET_NE)
def far_east(
    new: gocean.field[gocean.GO_WRITE, gocean.GO_CT],
    old: gocean.field[gocean.GO_READ, gocean.GO_CT, gocean.GO_STENCIL("000", "013", "000")],
):
    new[0, 0] = old[3, 0]


@pytest.fixture(params=["c", "cuda"], autouse=True)
def target(request: pytest.FixtureRequest) -> Iterator[str]:
    """Return the target for which invokes are compiled, with bounds checks."""
    wanted: str = request.param
    storage.use_device("emulated")
    configure(target=wanted, config_opts="BOUNDS_CHECKS=true")
    gocean.configure(target=wanted, config_opts="BOUNDS_CHECKS=true")
    yield wanted
    storage.use_device("auto")
    configure()
    gocean.configure()


def fields(target: str) -> tuple[Field, Field]:
    mesh = Mesh.planar((3, 3), layers=4, device="gpu" if target == "cuda" else None)
    return Field(mesh.space("W3")), Field(mesh.space("W3"), values=1.0)


def run(requested: Any, new: Field, old: Field, n: int) -> None:
    """Run a kernel, and wait for it."""
    invoke(requested(new, old, n))
    new.sum()


@pytest.mark.parametrize(
    ("requested", "n", "line", "array", "index"),
    [
        (shift, 1, "new[0, k] = old[0, k + n]", "'old'", 36),
        (shift, -1, "new[0, k] = old[0, k + n]", "'old'", -1),
        (shift, 2**30, "new[0, k] = old[0, k + n]", "'old'", 2**30),
        (scatter, 1, "new[0, k + n] = old[0, k]", "'new'", 36),
        (scatter, -1, "new[0, k + n] = old[0, k]", "'new'", -1),
        (pick, 3, "a[1, n] = old[0, k]", "dimension 2 of 'a'", 3),
        (pick, -4, "a[1, n] = old[0, k]", "dimension 2 of 'a'", -1),
        (pick, -1, "new[0, k] = a[1, n] + old[n - 1, k]", "'map_w3'", -2),
        (pick, 2, "new[0, k] = a[1, n] + old[n - 1, k]", "'map_w3'", 1),
        (pick, 0, "new[0, k] = a[1, n] + old[n - 1, k]", "'map_w3'", -1),
    ],
)
def test_an_index_out_of_bounds_is_reported(  # noqa: PLR0913, PLR0917
    target: str, requested: Any, n: int, line: str, array: str, index: int
) -> None:
    new, old = fields(target)
    with pytest.raises(IndexError) as caught:
        run(requested, new, old, n)
    message = str(caught.value)
    assert message.startswith(f"kernel '{requested.function.__name__}', {__file__} line ")
    number = int(message.partition(" line ")[2].partition(":")[0])
    assert line in Path(__file__).read_text(encoding="utf-8").splitlines()[number - 1]
    assert f"{line}" in message
    assert f"{array}: index {index} is out of bounds" in message


def test_the_next_invoke_is_checked_anew(target: str) -> None:
    for n in (1, 0, 1):
        new, old = fields(target)
        if n:
            with pytest.raises(IndexError):
                run(shift, new, old, n)
        else:
            invoke(shift(new, old, n))
            assert new.sum() == 36.0


class Library:
    """A library with bounds checks, whose record of an index all threads share."""

    def __init__(self) -> None:
        self.found: bytes | None = None
        self.runs = threading.Event()
        self.went_on = threading.Event()

        def psy_outside() -> bytes | None:
            found, self.found = self.found, None
            return found

        self.psy_outside = psy_outside

    def work(self, index: int) -> None:
        if index:
            self.found = b"index %d is out of bounds" % index
            self.runs.set()
            self.went_on.wait(0.3)


def test_a_thread_gets_only_errors_of_its_own_call() -> None:
    library: Any = Library()
    call = checked(library.work, library, threading.RLock())
    errors: list[IndexError] = []

    def call_outside() -> None:
        try:
            call(7)
        except IndexError as error:
            errors.append(error)

    thread = threading.Thread(target=call_outside)
    thread.start()
    library.runs.wait()
    call(0)
    library.went_on.set()
    thread.join()
    assert [str(error) for error in errors] == ["index 7 is out of bounds"]


def test_an_interrupt_before_the_check_leaves_no_error_for_the_next_call() -> None:
    library: Any = Library()
    library.went_on.set()

    def work_and_interrupt(index: int) -> None:
        library.work(index)
        raise KeyboardInterrupt

    lock = threading.RLock()
    with pytest.raises(KeyboardInterrupt):
        checked(work_and_interrupt, library, lock)(7)
    checked(library.work, library, lock)(0)


@pytest.mark.parametrize("inner", [0, 8])
@pytest.mark.parametrize("outer", [0, 7])
def test_a_call_that_interrupts_another_one_leaves_its_error(outer: int, inner: int) -> None:
    """A signal handler or finalizer runs in the thread that has the lock."""
    library: Any = Library()
    library.went_on.set()
    errors = []
    lock = threading.RLock()
    call = checked(library.work, library, lock)

    def work_and_call(index: int) -> None:
        library.work(index)
        try:
            call(inner)
        except IndexError as error:
            errors.append(str(error))

    try:
        checked(work_and_call, library, lock)(outer)
    except IndexError as error:
        errors.append(str(error))
    assert errors == [f"index {index} is out of bounds" for index in (inner, outer) if index]


def test_the_lock_of_a_library_is_reentrant_without_a_deadlock(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    guarded: list[Any] = []
    monkeypatch.setattr(FORKS, "guard", lambda lock, _rank: guarded.append(lock) or lock)
    CompiledLibrary({})
    (lock,) = guarded
    with lock, lock:
        pass


def test_threads_that_call_one_kernel_get_their_own_errors(target: str) -> None:
    found: dict[int, int] = {0: 0, 1: 0}

    def repeat(n: int) -> None:
        new, old = fields(target)
        for _ in range(40):
            try:
                run(shift, new, old, n)
            except IndexError:
                found[n] += 1
                new, old = fields(target)

    threads = [threading.Thread(target=repeat, args=(n,)) for n in found]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {0: 0, 1: 40}


def test_checks_change_no_values_of_grids(target: str) -> None:
    grid = grids.Grid((4, 3), device="gpu" if target == "cuda" else None)
    values = np.arange(12.0).reshape(4, 3)
    new, old = grids.Field(grid), grids.Field(grid, values=values)
    gocean.invoke(east(new, old), name="to_the_east")
    assert new.values[:3].tolist() == values[1:].tolist()


def test_an_index_outside_of_a_grid_is_reported(
    target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the checks of the halo before the loop, the check of each element reports it."""
    monkeypatch.setattr(grids, "check_within", lambda *_: None)
    monkeypatch.setattr(grids.Field, "exchange", lambda *_: None)
    grid = grids.Grid((4, 3), device="gpu" if target == "cuda" else None)
    new, old = grids.Field(grid), grids.Field(grid, values=1.0)

    def run_and_read() -> None:
        gocean.invoke(far_east(new, old), name="to_the_far_east")
        _ = new.values

    with pytest.raises((IndexError, PoisonedDataError)) as caught:
        run_and_read()
    message = str(caught.value.__cause__ or caught.value)
    assert message.startswith(f"kernel 'far_east', {__file__} line ")
    assert (
        f"new[0, 0] = old[3, 0]: dimension 1 of 'old': index {grid.shape[0]} is out of" in message
    )


def test_numpy_has_no_bounds_checks(target: str) -> None:
    configure(target="numpy", config_opts="BOUNDS_CHECKS=true")
    with pytest.raises(CompileError, match="G010: The target 'numpy' has no bounds checks"):
        invoke(shift(*fields("c"), 0))
    assert target
