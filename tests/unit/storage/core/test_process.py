"""Tests of fields when a process forks, and when it ends."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import threading
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from psyclone_storage.storage.core import forking

FORK = """
import os, signal
import numpy as np
from psyclone_storage.storage.core.buffer import BufferOptions, CoherentBuffer
from psyclone_storage.storage.core.device import Emulation, use_device

use_device("emulated", Emulation(latency=%r))
buffer = CoherentBuffer(8, "f8", BufferOptions(init=3.0))
buffer.make_valid("host")
buffer.prefetch("gpu").result(60)
buffer.touch("host")
%s
child = os.fork()
if not child:
    signal.alarm(60)
    moved = buffer.prefetch("gpu")
    error = moved.exception(60)
    assert buffer.is_valid("gpu") or error is not None
    buffer.prefetch("gpu").result(60)
    with buffer.acquire("gpu") as token:
        assert token.kernel_array.tolist() == [3.0] * 8
    os._exit(7)
_, status = os.waitpid(child, 0)
assert os.waitstatus_to_exitcode(status) == 7, status
buffer.prefetch("gpu").result(60)
print("both went on")
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
@pytest.mark.parametrize(("latency", "before"), [(0.0, ""), (0.3, 'buffer.prefetch("gpu")')])
def test_a_child_has_prefetches_of_its_own(latency: float, before: str) -> None:
    assert run(FORK % (latency, before)) == "both went on"


AMID = """
import gc, os, signal, sys, threading, time
import numpy as np
import psyclone_storage.storage as gt
from psyclone_storage.storage.core import fallback, futures, lifetime, locks, spaces, stats
from psyclone_storage.storage.core.buffer import BufferOptions, CoherentBuffer
from psyclone_storage.storage.core.device import Emulation, use_device
from psyclone_storage.storage.core.errors import PoisonedDataError, StorageError
from psyclone_storage.storage.core.locks import AccessMode, Policy
from psyclone_storage.storage.accessors import DeviceAccessor
from psyclone_storage.storage.gdp import shared_buffer
from psyclone_storage.storage.memory import registry

READ, RDWR = AccessMode.READ, AccessMode.READ_WRITE
use_device("emulated", Emulation(latency=%(latency)r))
buffer = CoherentBuffer(8, "f8", BufferOptions(init=3.0))
buffer.make_valid("host")
begun, go_on = threading.Event(), threading.Event()

def other():
%(other)s

thread = threading.Thread(target=other, daemon=True)
thread.start()
assert begun.wait(60)
time.sleep(%(pause)r)
child = os.fork()
if not child:
    signal.alarm(60)
%(child)s
    os._exit(7)
_, status = os.waitpid(child, 0)
go_on.set()
thread.join(60)
assert not thread.is_alive()
assert os.waitstatus_to_exitcode(status) == 7, status
with buffer.acquire("host", RDWR, Policy.WAIT) as token:
    assert token.array.tolist() in ([3.0] * 8, [4.0] * 8)
print("both went on")
"""

IN_THE_MIDDLE_OF = """
    with %s:
        begun.set()
        time.sleep(%s)
"""

USES_ALL = """
    with buffer.acquire("gpu", RDWR, Policy.WAIT) as token:
        token.kernel_array[...] += 1.0
    moved = buffer.prefetch("host")
    moved.result(60)
    assert gt.zeros((3,), device="gpu")[1] == 0.0
    buffer.acquire("uvm").release()
    with buffer.acquire("host") as token:
        assert token.array.tolist() == [4.0] * 8
"""


def amid(other: str, child: str, latency: float = 0.0, pause: float = 0.0) -> str:
    """Fork while another thread executes `other`, and return the output."""
    parts = {"other": other, "child": child, "latency": latency, "pause": pause}
    return run(AMID % parts)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
@pytest.mark.parametrize(
    ("lock", "seconds"),
    [
        ("buffer.table.lock", 0.3),
        ("buffer.table.lock", 1.5),
        ("stats._LOCK", 0.3),
        ("futures._LOCK", 1.5),
        ("locks.WAITS._lock", 0.3),
        ("lifetime.DROPPED._lock", 0.3),
        ("spaces._LOCK", 0.3),
        ("registry._LOCK", 0.3),
        ("shared_buffer.FIRST_USE", 0.3),
        ("fallback._LEAF", 0.3),
    ],
)
def test_a_child_does_not_wait_for_locks_of_threads_that_it_has_not(
    lock: str, seconds: float
) -> None:
    """Locks that another thread holds for long are created again in the child."""
    held = IN_THE_MIDDLE_OF % (lock, seconds)
    assert amid(held, USES_ALL) == "both went on"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
@pytest.mark.parametrize("space", ["host", "gpu"])
def test_a_child_does_not_wait_for_accesses_of_threads_that_it_has_not(space: str) -> None:
    held = f"""
    with buffer.acquire("{space}", READ, Policy.WAIT):
        begun.set()
        go_on.wait(60)
"""
    assert amid(held, USES_ALL) == "both went on"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_what_another_thread_was_writing_is_unusable_in_the_child() -> None:
    held = """
    with buffer.acquire("gpu", RDWR, Policy.WAIT) as token:
        begun.set()
        go_on.wait(60)
"""
    child = """
    try:
        buffer.acquire("host", READ, Policy.WAIT)
    except PoisonedDataError as error:
        assert "forked" in str(error)
    else:
        os._exit(1)
    with buffer.acquire("host", AccessMode.WRITE_ONLY) as token:
        token.array[...] = 9.0
    assert not buffer.table.holders
"""
    assert amid(held, child) == "both went on"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_child_has_nobody_in_line() -> None:
    held = """
    with buffer.acquire("host", READ, Policy.WAIT):
        third.start()
        while not buffer.table.queue:
            time.sleep(0.001)
        begun.set()
        go_on.wait(60)

third = threading.Thread(target=lambda: buffer.acquire("gpu", RDWR, Policy.WAIT).release())
"""
    assert amid(held, "\n    assert not buffer.table.queue" + USES_ALL) == "both went on"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_child_brings_anew_what_another_thread_was_bringing() -> None:
    held = """
    begun.set()
    buffer.make_valid("gpu")
"""
    assert amid(held, USES_ALL, latency=0.4, pause=0.1) == "both went on"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_child_ends_accesses_that_were_dropped_before() -> None:
    child = """
    with buffer.acquire("host", RDWR, Policy.WAIT):
        pass
"""
    before = """
    with lifetime.DROPPED._lock:
        accessor = DeviceAccessor(buffer, "host", const=True)
        accessor.open().result(60)
        with buffer.table.lock:
            del accessor
            gc.collect()
        begun.set()
        time.sleep(0.2)
"""
    assert amid(before, child) == "both went on"


@pytest.mark.spec("GDP-52")
@pytest.mark.parametrize("ends", ["", "raise SystemExit(0)", "storages = None"])
def test_borrowed_memory_is_written_back_at_exit(tmp_path: Path, ends: str) -> None:
    name = tmp_path / "field.npy"
    np.save(name, np.zeros(4))
    run(
        f"""
import numpy as np
import psyclone_storage.storage as gt
gt.use_device("emulated")
storages = [gt.as_storage(np.load({str(name)!r}, mmap_mode="r+"), device="gpu")]
with storages[0].access("gpu", "rw") as array:
    array[...] += 5.0
{ends}
"""
    )
    assert np.load(name).tolist() == [5.0] * 4


def test_finalizers_that_run_last_get_messages_with_types() -> None:
    said = run(
        """
import psyclone_storage.storage as gt
class Last:
    def __init__(self):
        self.field = gt.zeros((4,), label="m")
        self.access = self.field.access(None, "r")
    def __del__(self, say=print):
        try:
            say(self.field.describe(), self.field.buffer.acquire("host").describe(), sep="; ")
        except Exception as error:
            say(repr(error))
last = Last()
"""
    )
    assert ' "m" of shape (4,) (' in said
    assert '; A read access to "m" (4 x ' in said


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
@pytest.mark.spec("GDP-52")
def test_a_child_leaves_borrowed_memory_to_its_parent(tmp_path: Path) -> None:
    name = tmp_path / "field.npy"
    np.save(name, np.zeros(4))
    run(
        f"""
import os, sys
import numpy as np
import psyclone_storage.storage as gt
gt.use_device("emulated")
storage = gt.as_storage(np.load({str(name)!r}, mmap_mode="r+"), device="gpu")
with storage.access("gpu", "rw") as array:
    array[...] = 5.0
ready, go = os.pipe()
child = os.fork()
if not child:
    os.read(ready, 1)
    sys.exit(0)
with storage.access("gpu", "rw") as array:
    array[...] = 9.0
storage.synchronize()
os.write(go, b"!")
_, status = os.waitpid(child, 0)
assert os.waitstatus_to_exitcode(status) == 0, status
"""
    )
    assert np.load(name).tolist() == [9.0] * 4


def test_values_that_cannot_come_home_are_said_to_be_lost() -> None:
    said = run(
        """
import warnings
import numpy as np
import psyclone_storage.storage as gt
gt.use_device("emulated")
warnings.simplefilter("always")
warnings.showwarning = lambda message, *_: print(message)
storage = gt.as_storage(np.zeros(4), device="gpu", label="mine")
storage.host_to_device()
held = storage.buffer.acquire("gpu", gt.RDWR)
""",
        status=120,
    )
    assert said.startswith('The values of "mine" were not written back')


def test_values_that_are_lost_before_the_end_are_told_then() -> None:
    said = run(
        """
import warnings
import numpy as np
import psyclone_storage.storage as gt
gt.use_device("emulated")
storage = gt.as_storage(np.zeros(4), device="gpu", label="mine")
storage.host_to_device()
held = storage.buffer.acquire("gpu", gt.RDWR)
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    del storage
print(len(told))
held.release()
"""
    )
    assert said == "1"


def run(program: str, status: int = 0) -> str:
    """Execute a program in a new process, and return its output."""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == status, done.stderr
    return done.stdout.strip()


TASK = """
import os, signal, threading, time
import psyclone_storage.storage as gt
from psyclone_storage.storage.accessors import Buffer, GpuTask
from psyclone_storage.storage.core.errors import StorageError
from psyclone_storage.storage.core.locks import AccessMode, Policy

gt.use_device("emulated")
buffer = Buffer((4,), init=3.0)
waits, goes_on = threading.Event(), threading.Event()

def kernel(x):
    %(kernel)s

def child():
    signal.alarm(60)
    %(child)s
    os._exit(7)

def forked():
    pid = os.fork()
    if not pid:
        child()
    goes_on.set()
    return pid

task = GpuTask("slow").register(buffer, mode="rw")
queued = GpuTask("queued").register(buffer, mode="rw")
%(run)s
assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 7
with buffer.acquire("host", AccessMode.READ_WRITE, Policy.WAIT) as token:
    assert token.array.tolist()[0] in (4.0, 5.0)
print("both went on")
"""

WAITS = "waits.set(); goes_on.wait(60); x += 1"
"""A kernel that runs until its process has forked."""
GOES_ON = """
    for promise in promises:
        try:
            promise.result(60)
        except StorageError as error:
            assert "forked while the task" in str(error)
        else:
            raise AssertionError("there was nobody to keep it")
    with buffer.acquire("host", AccessMode.WRITE_ONLY, Policy.WAIT) as token:
        token.array[...] = 1.0
    assert GpuTask("again").register(buffer).run(lambda x: x.tolist()) == [1.0] * 4
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
@pytest.mark.parametrize(
    "start",
    [
        "promises = [task.submit(kernel)]",
        "promises = [task.submit(kernel), queued.submit(kernel)]",
        "promises = []; threading.Thread(target=task.run, args=(kernel,)).start()",
    ],
)
def test_a_child_is_rid_of_the_tasks_of_other_threads(start: str) -> None:
    run_ = f"{start}; waits.wait(60); pid = forked()"
    program = TASK % {"kernel": WAITS, "child": GOES_ON, "run": run_}
    assert run(program) == "both went on"


IN_THE_KERNEL = "global pid; x += 1; pid = os.fork(); pid or signal.alarm(60)"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
@pytest.mark.parametrize("call", ["task.run(kernel)", "task.submit(kernel).result(60)"])
def test_a_kernel_that_forks_ends_in_both_processes(call: str) -> None:
    run_ = f"""
parent = os.getpid()
threading.Thread(target=lambda: ({call}, waits.set())).start()
waits.wait(60)
"""
    at_end = """
    assert GpuTask("again").register(buffer).run(lambda x: x.tolist()) == [4.0] * 4
    os._exit(7)
"""
    kernel = f"{IN_THE_KERNEL}; pid or buffers_end()"
    program = TASK % {"kernel": kernel, "child": "", "run": run_}
    ends = f"""
def buffers_end():
    def later():
        while buffer.table.holders:
            time.sleep(0.01)
{at_end.replace("    ", "        ")}
    threading.Thread(target=later).start()
"""
    program = program.replace("def kernel(x):", f"{ends}\ndef kernel(x):")
    assert run(program) == "both went on"


HELD = """
import psyclone_storage.storage as gt
from psyclone_storage.storage.accessors import Buffer, DeviceAccessor
import builtins

gt.use_device("emulated")
accessor = DeviceAccessor(Buffer((4,)), "gpu")
accessor.open().result()
builtins.keep = accessor
print("done")
"""


modules_at_the_end = pytest.mark.skipif(
    bool(sysconfig.get_config_var("Py_GIL_DISABLED")),
    reason="modules are emptied before the last finalizers run",
)


@modules_at_the_end
def test_an_accessor_that_is_open_at_the_end_says_nothing_strange() -> None:
    ended = subprocess.run(
        [sys.executable, "-W", "default", "-c", HELD], capture_output=True, text=True, check=True
    )
    assert ended.stdout == "done\n"
    assert "ImportError" not in ended.stderr
    assert "Exception ignored" not in ended.stderr


QUEUED = """
import os, sys
import numpy as np
import psyclone_storage.storage as gt

gt.use_device("emulated", gt.Emulation(order="late"))
borrowed = np.zeros(1 << 16)
field = gt.as_storage(borrowed, device="gpu", label="borrowed")
own = gt.zeros((1 << 16,), device="gpu", label="own")
for storage, value in ((field, 2.0), (own, 3.0)):
    with storage.buffer.acquire("gpu", gt.WRONLY) as token:
        token.array[...] = value
with own.buffer.acquire("host", gt.RDWR) as token:
    token.array[...] += 1.0
own.make_valid("gpu")
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_child_has_pages_of_its_own_and_what_was_queued() -> None:
    program = f"""{QUEUED}
child = os.fork()
if not child:
    assert own[5] == 4.0
    with own.access(None, "rw") as values:
        values[...] = 9.0
    with own.buffer.acquire("gpu", gt.RDWR) as token:
        array = token.array
        array += 1.0
    assert own[5] == 10.0
    os._exit(7)
_, status = os.waitpid(child, 0)
assert os.waitstatus_to_exitcode(status) == 7, status
with own.buffer.acquire("gpu", gt.RDONLY) as token:
    assert token.array.sum().item() == 4.0 * (1 << 16)
assert own[5] == 4.0
"""
    assert run(program) == ""


def test_what_is_queued_at_the_end_is_done_where_somebody_sees_it(tmp_path: Path) -> None:
    path = tmp_path / "values"
    np.zeros(8).tofile(path)
    program = f"""{QUEUED}
mapped = np.memmap({str(path)!r}, "f8", "r+")
kept = gt.as_storage(mapped, device="gpu")
with kept.buffer.acquire("gpu", gt.WRONLY) as token:
    token.array[...] = 5.0
"""
    assert run(program) == ""
    assert np.fromfile(path).tolist() == [5.0] * 8


def test_locks_that_are_gone_leave_nothing_behind() -> None:
    forks = forking.Forks()
    kept = forks.guard(threading.RLock(), forking.Rank.LEAF)
    for _ in range(10):
        forks.guard(threading.RLock(), forking.Rank.LEAF)
    assert len(forks._locks) == 1
    assert forks._all_locks() == [kept]


AT_THE_END = """
import sys, threading
from psyclone_storage import storage as gt
from psyclone_storage.storage.core.locks import AccessMode, Policy
from psyclone_storage.storage.memory.stream import Stream

gt.use_device("emulated")
buffer = gt.ones((4,), device="gpu", label="x").buffer
tokens, held, stream = [], threading.Event(), Stream("of the test")

# What a thread that is left still runs must not keep this module alive.
apart = {"rest": threading.Event().wait}
exec("def hold(acquire, how, done):\\n kept = acquire(*how)\\n done()\\n rest()", apart)
write = ("host", AccessMode.READ_WRITE)

class Reader:
    def __init__(self):
        self.known = buffer, stream, sys, Policy.WAIT

    def __del__(self):
        buffer, stream, sys, policy = self.known
        assert sys.is_finalizing()
        try:
            buffer.acquire("gpu", policy=policy).release()
            print("read")
        except BaseException as error:
            print(type(error).__name__)
        for step in (stream.run, stream.submit):
            step(print, "done")
        stream.synchronize()

def nobody(): pass

def this_thread(): tokens.append(buffer.acquire(*write))

def another():
    given = (buffer.acquire, write, held.set)
    threading.Thread(target=apart["hold"], args=given, daemon=True).start()
    held.wait()

def worker(): buffer.prefetch("gpu")

%s()
stream.submit(print, "begun").result()
reader = Reader()
"""


@modules_at_the_end
@pytest.mark.parametrize(
    ("who", "says"),
    [
        ("nobody", "read"),
        ("this_thread", "AccessDeadlockError"),
        ("another", "AccessDeadlockError"),
    ],
)
def test_a_finalizer_at_the_end_waits_for_nobody(who: str, says: str) -> None:
    assert run(AT_THE_END % who).split() == ["begun", says, *["done"] * 2]


@modules_at_the_end
def test_a_finalizer_at_the_end_does_not_wait_for_a_worker_that_is_gone() -> None:
    """A copy that the worker had started is either complete or reported as a deadlock."""
    said = run(AT_THE_END % "worker").split()
    assert said[1] in ("read", "AccessDeadlockError")
    assert said[2:] == ["done"] * 2


def test_handlers_that_are_last_run_after_those_that_come_later() -> None:
    forks, ran = forking.Forks(), []
    for name, last in (("a", True), ("b", False), ("c", True), ("d", False)):
        step = partial(ran.append, name)
        forks.add(forking.ForkHandlers(step, step, step, last))
    for run in (forks.before, forks.in_parent, forks.in_child):
        ran.clear()
        run()
        assert ran == ["b", "d", "a", "c"]
