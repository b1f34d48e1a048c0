"""How seldom unreachable objects are searched for, and how an early SIGINT ends a command."""

from __future__ import annotations

import gc
import signal
import subprocess
import sys
from collections.abc import Iterator

import pytest

from psyclone_storage.cli.process import rare_collections


@pytest.fixture
def often() -> Iterator[int]:
    """Search for unreachable objects often in a test; return how often."""
    before = gc.get_threshold()
    gc.set_threshold(1234)
    yield 1234
    gc.set_threshold(*before)


def test_a_process_that_goes_on_searches_as_often_as_before(often: int) -> None:
    frozen = gc.get_freeze_count()
    with pytest.raises(KeyError) as failed, rare_collections():
        raise KeyError(gc.get_threshold()[0])
    assert failed.value.args[0] > often
    assert (gc.get_threshold()[0], gc.get_freeze_count()) == (often, frozen)


@pytest.mark.parametrize("module", ["main", "kern"])
@pytest.mark.parametrize("called", ["command", "main"])
def test_only_a_command_of_its_own_leaves_its_objects_out_of_the_last_search(
    module: str, called: str
) -> None:
    program = f"""
import gc, sys
from psyclone_storage.cli import {module}
sys.argv = ["psyclone-storage", "--version"]
before = gc.get_threshold()
try:
    {module}.{called}()
except SystemExit:
    pass
if "{called}" == "command":
    sys.exit(gc.get_freeze_count() == 0)
sys.exit(gc.get_freeze_count() > 0 or gc.get_threshold() != before)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=False)
    assert done.returncode == 0, done.stderr


INTERRUPTED = """
import builtins, os, signal, sys
from psyclone_storage.cli import {module}

usual = builtins.__import__

def interrupt(name, *rest):
    if name == "psyclone_storage.cli.main_guard":
        os.kill(os.getpid(), signal.SIGINT)
    return usual(name, *rest)

builtins.__import__ = interrupt
# A shell that starts the tests in the background ignores SIGINT, and its children inherit this.
signal.signal(signal.SIGINT, signal.default_int_handler)
sys.argv = ["psyclone-storage", "--version"]
sys.exit({module}.command())
"""


@pytest.mark.parametrize("module", ["main", "kern"])
def test_an_interrupt_before_signals_are_handled_shows_no_stack_trace(module: str) -> None:
    program = INTERRUPTED.format(module=module)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=False)
    assert done.returncode == -signal.SIGINT
    assert done.stdout + done.stderr == b""


def test_an_ignored_interrupt_stays_ignored() -> None:
    program = (
        "import signal; from psyclone_storage.cli.process import last_command\n"
        "signal.signal(signal.SIGINT, signal.SIG_IGN)\n"
        "with last_command(): signal.raise_signal(signal.SIGINT)\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
