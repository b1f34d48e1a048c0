"""Tests that the compiled core and its pure-Python fallback differ only in speed."""

from __future__ import annotations

import gc
import os
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from psyclone_storage import storage as gt
from psyclone_storage.storage.core.native import COMPILED
from psyclone_storage.storage.core.spaces import memory_space

ROOT = Path(__file__).parents[4]
MOVES = Path(__file__).with_name("core_moves.py")
NAMES = "from psyclone_storage.storage.core import native; print(native.COMPILED)"
CHOICES = ("auto", "", "python", pytest.param("compiled", marks=pytest.mark.compiled))


def started(core: str, *words: str) -> subprocess.CompletedProcess[str]:
    """Return the process of a Python program that uses the given core; time out if it hangs."""
    return subprocess.run(
        [sys.executable, "-W", "ignore", *words],
        env={**os.environ, "PSYCLONE_STORAGE_CORE": core, "PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )


@pytest.mark.compiled
def test_random_moves_have_equal_outcomes() -> None:
    python, compiled = (started(core, str(MOVES), "0", "60") for core in ("python", "compiled"))
    assert python.stderr == compiled.stderr == ""
    lines = python.stdout.splitlines()
    assert len(lines) == 60 * 61
    for line, other in zip(lines, compiled.stdout.splitlines(), strict=True):
        assert line == other


@pytest.mark.parametrize("core", CHOICES)
def test_the_environment_chooses(core: str) -> None:
    run = started(core, "-c", NAMES)
    assert run.returncode == 0
    expected = {"python": "False", "compiled": "True"}.get(core)
    assert expected is None or run.stdout.strip() == expected


def test_any_other_choice_is_refused() -> None:
    run = started("fortran", "-c", NAMES)
    assert 'PSYCLONE_STORAGE_CORE is "fortran", but it must be one of auto, compiled' in run.stderr


def test_a_core_that_is_not_there_can_be_demanded_in_vain() -> None:
    hidden = "import sys; sys.modules['psyclone_storage.storage.core._compiled'] = None; "
    run = started("compiled", "-c", hidden + NAMES)
    assert "there is no compiled core that fits: install the package with a C comp" in run.stderr
    assert started("auto", "-c", hidden + NAMES).stdout.strip() == "False"


def test_a_core_of_another_edition_is_passed_over() -> None:
    name = "psyclone_storage.storage.core._compiled"
    other = f"import sys, types; sys.modules[{name!r}] = types.SimpleNamespace(EDITION=0); "
    assert started("auto", "-c", other + NAMES).stdout.strip() == "False"


THREADS = """
import sys, threading
from psyclone_storage import storage as gt
from psyclone_storage.storage.core.locks import AccessMode
sys.setswitchinterval(1e-5)
gt.use_device("emulated", gt.Emulation(strict=False))
fields = {name: gt.zeros((4,), device="gpu") for name in "abc"}
shared = gt.bound(dict(fields), writes=("a",))
counts = {name: 0 for name in fields}

def work(number):
    names = "abc"[number % 3:] + "abc"[:number % 3]
    mine = gt.bound({name: fields[name] for name in names}, writes=tuple(names[:2]))
    for turn in range(400):
        with mine:
            for name in names[:2]:
                seen = counts[name]
                fields["c"].shape
                counts[name] = seen + 1
        with fields[names[0]].buffer.acquire(None, AccessMode.READ_WRITE):
            seen = counts[names[0]]
            counts[names[0]] = seen + 1
        fields[names[2]][1:3], fields[names[2]][1]
        try:
            with shared:
                pass
        except Exception as error:
            assert "until the block ends" in str(error) or "not possible" in str(error), error

threads = [threading.Thread(target=work, args=(number,), daemon=True) for number in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
expected = {name: 400 * sum((name in ("abc"[n % 3:] + "abc"[:n % 3])[:2])
            + (name == ("abc"[n % 3:] + "abc"[:n % 3])[0]) for n in range(8)) for name in "abc"}
assert counts == expected, (counts, expected)
"""

FORKED = """
import os
from psyclone_storage import storage as gt
gt.use_device("emulated", gt.Emulation(strict=False))
field = gt.zeros((4,), device="gpu")
block = gt.bound({"x": field}, writes=("x",))
for _ in range(3):
    with block: pass
child = os.fork()
for _ in range(3):
    with block as arrays: arrays["x"][0] += 1
    field.buffer.acquire().release()
assert field[0] == 3.0 and field.buffer.table.holders == []
if child:
    assert os.waitpid(child, 0)[1] == 0
print("ended")
"""


@pytest.mark.parametrize("core", ["python", pytest.param("compiled", marks=pytest.mark.compiled)])
def test_threads_lose_nothing(core: str) -> None:
    # A block that several threads enter at once may raise an error, but stays consistent.
    run = started(core, "-c", THREADS)
    assert run.returncode == 0, run.stderr


@pytest.mark.parametrize("core", ["python", pytest.param("compiled", marks=pytest.mark.compiled)])
def test_a_forked_child_goes_on(core: str) -> None:
    run = started(core, "-c", FORKED)
    assert run.stdout.split() == ["ended", "ended"], run.stderr


def _moves() -> dict[str, Callable[[], object]]:
    gt.use_device("emulated", gt.Emulation(strict=False))
    fields = {name: gt.zeros((6, 5), device="gpu") for name in "abc"}
    field, block = fields["a"], gt.bound(fields, device="gpu", writes=("c",))

    def bind() -> None:
        with gt.bound(fields, device="gpu", writes=("c",)) as arrays:
            arrays["a"].sum()

    def bind_again() -> None:
        with block:
            pass

    def fail() -> None:
        with pytest.raises(ZeroDivisionError), gt.bound(fields):
            raise ZeroDivisionError
        with pytest.raises(IndexError):
            field[9, 9]

    def use() -> None:
        field.buffer.acquire("gpu").release()
        field[1:3, ::2][0], field[1, 2], field[...], field.data_ro.sum()
        gt.empty((4, 4), device="gpu")

    return {"bind": bind, "bind again": bind_again, "fail": fail, "use": use}


@pytest.mark.parametrize("name", ["bind", "bind again", "fail", "use"])
def test_memory_is_flat(name: str) -> None:
    move = _moves()[name]
    for _ in range(300):
        move()
    gc.collect()
    objects, none = len(gc.get_objects()), sys.getrefcount(None)
    pages = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(5000):
        move()
    gc.collect()
    # Up to a thousand weak references to destroyed buffers may still exist.
    assert len(gc.get_objects()) - objects < 2500
    # Since Python 3.12, None is immortal and its references are not counted.
    assert sys.version_info >= (3, 12) or abs(sys.getrefcount(None) - none) < 100
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - pages < 2000


def test_the_core_is_what_buffers_and_storages_are_made_of() -> None:
    made = gt.zeros((3,), device="gpu")
    ours, other = ("_compiled", "fallback") if COMPILED else ("fallback", "_compiled")
    buffer = made.buffer
    pieces = (buffer.replicas.at(memory_space("host")).allocation, made._backing._pin)
    for thing in (made, buffer, buffer.table, buffer.acquire(), made._backing, *pieces):
        modules = {kind.__module__.rpartition(".")[2] for kind in type(thing).__mro__}
        assert ours in modules
        assert other not in modules
