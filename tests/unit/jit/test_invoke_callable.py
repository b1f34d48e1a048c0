"""The callable `invoke`: references, pickles, interpreters, and long chains of deferred invokes."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
import weakref
from collections.abc import Callable
from importlib.util import find_spec

import pytest

from psyclone_storage.gocean import invoke
from psyclone_storage.jit import native
from psyclone_storage.lfric import invoke as invoke_columns

_CHAIN = """
import gc, sys
from types import SimpleNamespace
from typing import NamedTuple
from psyclone_storage.jit._compiled import CachedCall, Pending, deferral, quick_invoke

class Call(NamedTuple):
    kernel: object
    args: tuple

root, table, options = {}, {}, object()
pending = Pending(root)
program = SimpleNamespace(runners={"api": (None, None, None, options, table, pending)})
sites = []

def run(*_):
    frame = sys._getframe(1)
    assert not sites
    sites.append((id(frame.f_code), frame.f_lasti))

quick = quick_invoke(run, None, program, "api")
for number in range(200_001):
    kernel, request = object(), object()
    root[request] = root
    call = Call(kernel, ())
    add = deferral(pending, request, ((), ()), None, list, None, None)
    about = options, "", (call,), (), (), (), (), None, ((), (), ())
    for code, at in sites:
        table[code] = {at: ((CachedCall(*about), SimpleNamespace(routine=add)),)}
    quick(call)
assert len(pending.records) == 200_000
before = len(gc.get_objects())
del pending, add, program, quick
table.clear()
gc.collect()
assert before - len(gc.get_objects()) >= 200_000
print("released")
"""
_INTERPRETERS = """
import _xxsubinterpreters as interpreters
import sys
import psyclone_storage.runtime.gocean
made = interpreters.create(isolated=False)
try:
    interpreters.run_string(made, f"import sys; sys.path[:] = {sys.path}\\n"
        "from psyclone_storage.runtime.gocean import Field, Grid\\nField(Grid((4, 4)))")
except interpreters.RunFailedError as error:
    print("refused:", error)
"""


@pytest.mark.parametrize("one", [invoke, invoke_columns])
def test_an_invoke_has_references_copies_and_pickles(one: Callable[..., None]) -> None:
    assert weakref.ref(one)() is one
    assert copy.deepcopy(one) is one
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        assert pickle.loads(pickle.dumps(one, protocol)) is one


def test_a_weak_reference_to_an_invoke_that_is_gone_is_dead() -> None:
    made = native.quick_invoke(lambda *_: None, lambda *_: None, None, "gocean")
    reference = weakref.ref(made)
    del made
    assert reference() is None


def output_of(program: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.skipif(not native.COMPILED, reason="the C extension")
def test_a_long_chain_of_deferred_invokes_is_released() -> None:
    assert output_of(_CHAIN) == "released\n"


@pytest.mark.skipif(find_spec("_xxsubinterpreters") is None, reason="before Python 3.13")
def test_a_second_interpreter_is_refused() -> None:
    """NumPy refuses it, before an object of this package exists."""
    assert "cannot load module more than once per process" in output_of(_INTERPRETERS)
