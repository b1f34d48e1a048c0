"""Tests of GPU tasks: registering inputs, choosing a place, and the three events of a task."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

from psyclone_storage.storage.accessors import (
    AccessDeadlockError,
    AccessMode,
    Buffer,
    DeviceAccessor,
    GpuTask,
    Hints,
    HostAccessor,
    PoisonedDataError,
    TaskState,
    memory_space,
)
from psyclone_storage.storage.core.acquire import PendingAccesses
from psyclone_storage.storage.core.device import use_device
from psyclone_storage.storage.core.errors import DeviceUnavailableError, StorageError
from psyclone_storage.storage.core.stats import Direction
from psyclone_storage.storage.hmemo import Context, HArray
from psyclone_storage.storage.memory.registry import device_count
from storage_threads import PATIENCE, Worker, wait_for_queue

HOST, GPU = "node:0", "node:0:device:0"


def values(buffer: Any) -> list[float]:
    found: list[float] = HostAccessor(buffer, const=True)[...].tolist()
    return found


def double(x: Any, y: Any) -> None:
    y[...] = 2 * x


def fail(*_: Any) -> None:
    raise ArithmeticError("no convergence")


def to_device(buffer: Buffer) -> int:
    return buffer.stats.of(Direction.HOST_TO_DEVICE).nbytes


@pytest.fixture
def x() -> Buffer:
    return Buffer(np.arange(8.0), label="x")


@pytest.fixture
def y() -> Buffer:
    return Buffer(8, label="y")


# -- registering -------------------------------------------------------------------------------


@pytest.mark.spec("ACC-29", "ACC-30", "ACC-31", "ACC-32")
def test_a_task_reads_all_of_an_input_and_writes_one_with_an_empty_stencil(
    x: Buffer, y: Buffer
) -> None:
    task = GpuTask("double")
    assert (task.name, task.state) == ("double", TaskState.NEW)
    assert task.register(x).register(y, ()) is task
    assert task.run(double) is None
    assert values(y) == [2.0 * i for i in range(8)]
    assert (to_device(x), to_device(y)) == (64, 0)


@pytest.mark.spec("ACC-30")
def test_a_stencil_limits_the_copy(x: Buffer, y: Buffer) -> None:
    def work(patch: Any, out: Any) -> None:
        out[...] = patch[3] + patch[7]

    GpuTask("two").register(x, [3, 7]).register(y, ()).run(work)
    assert values(y) == [10.0] * 8
    assert to_device(x) == 16
    assert not x.is_valid(GPU)


@pytest.mark.spec("ACC-30", "ACC-33")
def test_what_is_at_the_device_already_is_not_copied_again(x: Buffer, y: Buffer) -> None:
    with DeviceAccessor(x) as accessor:
        accessor.array[...] = 3.0
    x.stats.reset()
    task = GpuTask("two").register(x, slice(2, 4)).register(y, ())
    task.run(lambda patch, out: out.__setitem__(..., patch.array.sum()))
    assert x.stats.count == 0
    assert values(y) == [6.0] * 8


@pytest.mark.spec("ACC-30")
@pytest.mark.parametrize("mode", ["rw", "read-write", "write", AccessMode.READ_WRITE])
def test_an_input_may_be_read_and_written(x: Buffer, mode: Any) -> None:
    GpuTask("increment").register(x, None, mode).run(lambda array: array.__iadd__(1))
    assert values(x) == [i + 1.0 for i in range(8)]


@pytest.mark.spec("ACC-30")
def test_a_stencil_never_loses_what_it_leaves_out(x: Buffer) -> None:
    task = GpuTask("first").register(x, slice(0, 2), "rw")
    task.run(lambda array: array.__setitem__(slice(0, 2), -1.0))
    assert values(x) == [-1.0, -1.0, *range(2, 8)]


def test_one_buffer_registered_twice_is_one_access(x: Buffer) -> None:
    task = GpuTask("shift").register(x).register(x, ())
    task.run(lambda old, new: new.__setitem__(slice(1, None), old[:-1].copy()))
    assert values(x) == [0.0, *range(7)]
    reading = GpuTask("look").register(x, [0]).register(x, [5]).register(x)
    seen = reading.run(lambda a, b, c: [float(a[0]), float(b[5]), float(c[7])])
    assert seen == [0.0, 4.0, 6.0]


def test_other_faces_may_be_inputs(y: Buffer) -> None:
    array = HArray(8, 4.0)
    GpuTask("double").register(array).register(y, ()).run(double)
    assert values(y) == [8.0] * 8


@pytest.mark.parametrize(
    ("stencil", "mode", "complaint"),
    [
        ((), "read", "reads nothing"),
        ([1], "write-only", "says what is read"),
        (None, "append", '"append" is none of'),
    ],
)
def test_what_cannot_be_registered(x: Buffer, stencil: Any, mode: str, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        GpuTask("wrong").register(x, stencil, mode)
    with pytest.raises(TypeError, match="no buffer"):
        GpuTask("wrong").register([1.0])


# -- the final set-up --------------------------------------------------------------------------


@pytest.mark.spec("ACC-33")
def test_the_task_goes_where_the_fewest_bytes_have_to_move(
    x: Buffer, y: Buffer, second: str
) -> None:
    assert GpuTask("at home").register(x).setup().spaces == (memory_space(GPU),)
    with DeviceAccessor(x, second, mode=AccessMode.WRITE_ONLY) as accessor:
        accessor.array[...] = 1.0
    task = GpuTask("follow").register(x).register(y, ()).setup()
    assert {space.tag for space in task.spaces} == {second}
    assert task.space.tag == second
    task.run(double)
    assert (to_device(x), y.memory_chunks()[0].tag) == (0, second)
    larger = Buffer(np.ones(100))
    larger.prefetch(GPU).result(PATIENCE)
    assert GpuTask("larger").register(x).register(larger).setup().space.tag == GPU
    assert GpuTask("part").register(x).register(larger, [5]).setup().space.tag == second


@pytest.mark.spec("ACC-33", "ACC-6", "ACC-7")
def test_wishes_decide_among_equals(x: Buffer, second: str) -> None:
    x.set_access_via(second)
    assert GpuTask("via").register(x).setup().space.tag == second
    out = Buffer(8, hints=Hints(preferred=(memory_space(second),)))
    assert GpuTask("out").register(out, ()).setup().space.tag == second


@pytest.mark.spec("ACC-34")
def test_the_user_may_choose(x: Buffer, y: Buffer, second: str) -> None:
    for where in (second, memory_space(second), Context.getContextPtr(Context.CUDA, 1)):
        task = GpuTask("there").register(x).register(y, ()).setup(where)
        assert {space.tag for space in task.spaces} == {second}
    task.run(double)
    assert y.memory_chunks()[0].tag == second
    on_host = GpuTask("host").register(x).register(y, ()).setup("host")
    on_host.run(double)
    assert y.memory_chunks()[0].tag == HOST


@pytest.mark.spec("ACC-34", "ACC-8")
def test_each_input_may_have_a_space_that_the_device_reaches(x: Buffer, y: Buffer) -> None:
    task = GpuTask("mixed").register(x).register(y, ()).setup(["node:0:uvm", GPU])
    assert (task.spaces[0].tag, task.space.tag) == ("node:0:uvm", GPU)
    task.run(double)
    assert values(y) == [2.0 * i for i in range(8)]
    assert not x.is_valid(GPU)
    with pytest.raises(ValueError, match="cannot use memory at node:0"):
        task.setup(["host", GPU])
    with pytest.raises(ValueError, match="1 spaces were given for 2 inputs"):
        task.setup([GPU])


@pytest.mark.spec("ACC-35")
def test_set_up_makes_the_maps(x: Buffer, y: Buffer) -> None:
    task = GpuTask("maps").register(x, [6, 1]).register(y, ())
    mapping = task.setup().mapping(x)
    assert mapping is not None
    assert [mapping.local(i) for i in (1, 6)] == [0, 1]
    assert task.mapping(y) is None
    with pytest.raises(StorageError, match="no such input"):
        task.mapping(Buffer(1))


def test_without_a_device_the_error_says_what_to_do(x: Buffer) -> None:
    use_device("auto")
    if device_count():
        pytest.skip("this machine has a GPU")
    with pytest.raises(DeviceUnavailableError, match="PSYCLONE_STORAGE_DEVICE"):
        GpuTask("nowhere").register(x).setup()


# -- the run -----------------------------------------------------------------------------------


@pytest.mark.spec("ACC-36", "ACC-37", "ACC-38")
def test_the_events_of_a_run(x: Buffer, y: Buffer) -> None:
    task = GpuTask("steps").register(x).register(y, ())
    prepared = task.prepare()
    prepared.result(PATIENCE)
    assert task.state is TaskState.PREPARED
    assert [claim.mode for claim in x.table.holders] == [AccessMode.READ]
    assert [claim.mode for claim in y.table.holders] == [AccessMode.WRITE_ONLY]
    assert task.execute(lambda a, b: (double(a, b), "done")[1]) == "done"
    assert len(x.table.holders) == len(y.table.holders) == 1
    task.finalize().result(PATIENCE)
    assert x.table.holders == y.table.holders == []
    assert y.memory_chunks()[0].tag == GPU
    assert task.state is TaskState.SET_UP
    task.run(lambda a, b: b.__setitem__(..., a))
    assert values(y) == list(range(8))


@pytest.mark.spec("ACC-36", "ACC-20")
def test_prepare_asks_for_all_inputs_at_once(x: Buffer, y: Buffer) -> None:
    other = Worker()
    holder = DeviceAccessor(x)
    other(lambda: holder.open().result(PATIENCE))
    task = GpuTask("waits").register(x).register(y, ())
    prepared = task.prepare()
    assert not prepared.done()
    assert len(x.table.queue or ()) == len(y.table.queue or ()) == 1
    other(lambda: holder.array.__setitem__(..., 5.0))
    other(lambda: holder.close().result(PATIENCE))
    prepared.result(PATIENCE)
    task.execute(double)
    task.finalize()
    assert values(y) == [10.0] * 8


@pytest.mark.spec("ACC-36")
def test_a_task_that_could_never_start_is_refused_and_leaves_no_trace(x: Buffer, y: Buffer) -> None:
    with HostAccessor(x).held():
        task = GpuTask("stuck").register(x).register(y, None, "rw")
        with pytest.raises(AccessDeadlockError):
            task.run(double)
        waiting = GpuTask("stuck too").register(x)
        with pytest.raises(AccessDeadlockError):
            waiting.prepare().result(PATIENCE)
        waiting.finalize().result(PATIENCE)
    assert x.table.holders == y.table.holders == []
    assert not x.table.queue
    assert values(x) == list(range(8))


@pytest.mark.spec("ACC-40", "ACC-38")
@pytest.mark.parametrize("steps", [True, False])
def test_a_failed_kernel_is_finalised_and_poisons_what_it_wrote(
    x: Buffer, y: Buffer, steps: bool
) -> None:
    task = GpuTask("fails").register(x).register(y, None, "rw")
    if steps:
        task.prepare()
        with pytest.raises(ArithmeticError, match="no convergence"):
            task.execute(fail)
        task.finalize().result(PATIENCE)
    else:
        with pytest.raises(ArithmeticError, match="no convergence"):
            task.run(fail)
    assert x.table.holders == y.table.holders == []
    assert values(x) == list(range(8))
    with pytest.raises(PoisonedDataError, match="no convergence"):
        values(y)
    with pytest.raises(PoisonedDataError):
        GpuTask("after").register(y).run(len)
    GpuTask("mends").register(x).register(y, ()).run(double)
    assert values(y) == [2.0 * i for i in range(8)]


@pytest.mark.spec("ACC-40")
def test_what_a_task_never_wrote_is_no_value(x: Buffer, y: Buffer) -> None:
    task = GpuTask("given up").register(x, None, "rw").register(y, ())
    task.prepare()
    task.finalize().result(PATIENCE)
    assert values(x) == list(range(8))
    with pytest.raises(PoisonedDataError, match="unexecuted"):
        values(y)


def test_events_out_of_order(x: Buffer) -> None:
    task = GpuTask("order")
    with pytest.raises(StorageError, match="no input"):
        task.setup()
    task.register(x)
    for event in (task.execute, task.finalize, lambda: task.space):
        with pytest.raises(StorageError, match="it is new"):
            event()
    task.prepare()
    for event in (task.prepare, task.setup, lambda: task.register(x)):
        with pytest.raises(StorageError, match="it is prepared"):
            event()
    with pytest.raises(StorageError, match="nothing to execute"):
        task.execute()
    task.finalize()


@pytest.mark.spec("ACC-13", "ACC-37", "ACC-38")
def test_a_submitted_task_runs_beside_the_host(x: Buffer, y: Buffer) -> None:
    gate = threading.Event()

    def slow(a: Any, b: Any) -> str:
        gate.wait(PATIENCE)
        double(a, b)
        return "done"

    running = GpuTask("slow", slow).register(x).register(y, ()).submit()
    assert values(x) == list(range(8))
    reader = Worker().start(values, y)
    wait_for_queue(y)
    assert not running.done()
    gate.set()
    assert reader.result(PATIENCE) == [2.0 * i for i in range(8)]
    assert running.result(PATIENCE) == "done"


@pytest.mark.spec("ACC-40")
def test_a_submitted_task_that_fails_says_so_in_its_future(x: Buffer, y: Buffer) -> None:
    running = GpuTask("fails").register(x).register(y, ()).submit(fail)
    assert isinstance(running.exception(PATIENCE), ArithmeticError)
    with pytest.raises(PoisonedDataError):
        values(y)


@pytest.mark.spec("ACC-16", "ACC-3")
def test_a_patch_keeps_writers_away_while_the_task_runs(x: Buffer, y: Buffer) -> None:
    task = GpuTask("reads").register(x, [1]).register(y, ())
    task.prepare().result(PATIENCE)
    writer = Worker().start(lambda: HostAccessor(x).__setitem__(1, 9.0))
    wait_for_queue(x)
    task.execute(lambda patch, out: out.__setitem__(..., patch[1]))
    task.finalize()
    writer.result(PATIENCE)
    assert (values(y), values(x)[1]) == ([1.0] * 8, 9.0)


@pytest.mark.spec("ACC-37")
def test_the_kernel_gets_the_shape_of_the_buffer_and_cannot_write_what_it_reads(
    device: str,
) -> None:
    grid = Buffer(np.ones((2, 3, 4)))
    assert GpuTask("shape").register(grid).run(lambda array: array.shape) == (2, 3, 4)
    if device == "emulated":
        for stencil in (None, slice(0, 1)):
            with pytest.raises(ValueError, match="read-only"):
                GpuTask("writes").register(grid, stencil).run(
                    lambda given: getattr(given, "array", given).__setitem__(..., 0.0)
                )
    assert values(grid) == np.ones((2, 3, 4)).tolist()


def test_a_submitted_task_whose_thread_is_gone_breaks_its_promise() -> None:
    buffer, inside, go_on = Buffer(3, init=1.0), threading.Event(), threading.Event()
    task = GpuTask("slow")
    task.register(buffer, mode=AccessMode.READ)
    assert task.fail_elsewhere() is None

    def wait(_: Any) -> None:
        inside.set()
        go_on.wait(PATIENCE)

    future = task.submit(wait)
    assert inside.wait(PATIENCE)
    task.fail_elsewhere()
    go_on.set()
    with pytest.raises(StorageError, match='the task "slow" ran: submit it again'):
        future.result(PATIENCE)


def test_a_task_that_is_interrupted_as_it_asks_can_be_run_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    buffer = Buffer(3, init=1.0)
    task = GpuTask("again")
    task.register(buffer, mode=AccessMode.READ_WRITE)
    with monkeypatch.context() as patched:
        patched.setattr(PendingAccesses, "begin", _interrupted)
        with pytest.raises(KeyboardInterrupt):
            task.run(double)
    assert task.state is TaskState.SET_UP
    assert repr(task) == '<GpuTask "again" set up, 1 inputs>'
    task.run(lambda x: x.__setitem__(..., 2.0))
    assert values(buffer) == [2.0] * 3


def _interrupted(_: Any) -> None:
    raise KeyboardInterrupt
