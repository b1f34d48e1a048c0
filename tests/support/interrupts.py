"""Interrupts (Ctrl-C) at chosen places of the storage runtime, or at random times.

`traced` raises `KeyboardInterrupt` from a trace function where CPython handles signals: after
calls, at the begin of functions and at the end of loop iterations. `signalled` sends a signal.
"""

from __future__ import annotations

import contextlib
import dis
import gc
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import psyclone_storage.storage as gt

CHECKED = {"CALL", "CALL_FUNCTION_EX", "JUMP_BACKWARD", "RESUME"}
SOURCES = (str(Path(gt.__file__).parent), str(threading.__file__), str(contextlib.__file__))


class Places(NamedTuple):
    """The offsets in a code object at which CPython handles signals.

    An exception at an offset of `plain` has the handler of the check just before. A check at the
    end of a call of `calls` has the handler of the call, not that of the next instruction: the
    exception has to come out of the call, after its work is done.
    """

    plain: frozenset[int]
    calls: frozenset[int]


_PLACES: dict[Any, Places] = {}


def places_of(code: Any) -> Places:
    """Return where CPython handles signals."""
    if code not in _PLACES:
        steps = list(dis.get_instructions(code))
        table = dis._parse_exception_table(code)  # type: ignore[attr-defined]

        def handler(offset: int) -> Any:
            return next((e.target for e in table if e.start <= offset < e.end), None)

        checked = [pair for pair in pairwise(steps) if pair[0].opname in CHECKED]
        same = {one.offset: handler(one.offset) == handler(two.offset) for one, two in checked}
        _PLACES[code] = Places(
            frozenset(two.offset for one, two in checked if same[one.offset]),
            frozenset(
                one.offset
                for one, _ in checked
                if not same[one.offset] and one.opname.startswith("CALL")
            ),
        )
    return _PLACES[code]


class Tracer:
    """Raise at place number `at` of what is traced; count the places."""

    def __init__(self, at: int) -> None:
        self.at = at
        self.count = 0
        self.came = False

    def __call__(self, frame: Any, _: str, __: Any) -> Any:
        if not frame.f_code.co_filename.startswith(SOURCES):
            return None
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        places = places_of(frame.f_code)

        def local(frame: Any, event: str, _: Any) -> Any:
            step = frame.f_lasti
            is_place = step in places.plain or step in places.calls
            if event == "opcode" and is_place and self.count < self.at:
                self.count += 1
                if self.count == self.at:
                    sys.settrace(None)
                    if step in places.plain:
                        self.came = True
                        raise KeyboardInterrupt
                    sys.setprofile(self._at_end_of(frame, step))
            return local

        return local

    def _at_end_of(self, caller: Any, step: int) -> Callable[[Any, str, Any], None]:
        """Return a profile function that raises when a call has done its work."""

        calls_c = False

        def raise_at_end(frame: Any, event: str, _: Any) -> None:
            nonlocal calls_c
            calls_c = calls_c or (event == "c_call" and frame is caller)
            end = ("c_return", caller) if calls_c else ("return", caller)
            if (event, frame if calls_c else frame.f_back) == end and caller.f_lasti == step:
                sys.setprofile(None)
                self.came = True
                raise KeyboardInterrupt

        return raise_at_end


ARMED: list[bool] = [False]
"""Whether a signal of the timer is to raise: it may arrive late in another thread."""


def raise_if_armed(*_: object) -> None:
    """Handle the signal of the timer as Ctrl-C is handled."""
    if ARMED[0]:
        ARMED[0] = False
        raise KeyboardInterrupt


LAST_PLACE: list[str] = []
"""Where the last interrupt came: its innermost frames."""


def note_place(error: BaseException) -> None:
    """Note where an interrupt came."""
    frames = traceback.extract_tb(error.__traceback__)[-5:]
    LAST_PLACE[:] = [f"{Path(one.filename).name}:{one.lineno} {one.name}" for one in frames]


def traced(work: Callable[[], object], at: int) -> tuple[bool, int]:
    """Do `work` with an interrupt at a place; say whether it came, and how many places it has."""
    tracer = Tracer(at)
    before = sys.gettrace()
    sys.settrace(tracer)
    try:
        work()
    except (KeyboardInterrupt, RuntimeError) as error:
        # Locks of the standard library make an error of some interrupts.
        note_place(error)
        return True, tracer.count
    finally:
        sys.settrace(before)
        sys.setprofile(None)
    return tracer.came, tracer.count


def signalled(work: Callable[[], object], seconds: float) -> bool:
    """Do `work` with a signal after some time; say whether it came before the end."""
    try:
        try:
            ARMED[0] = True
            signal.setitimer(signal.ITIMER_REAL, seconds)
            work()
        finally:
            ARMED[0] = False
            signal.setitimer(signal.ITIMER_REAL, 0.0)
    except (KeyboardInterrupt, RuntimeError) as error:
        note_place(error)
        return True
    return False


@contextlib.contextmanager
def interrupts_of_a_timer() -> Iterator[None]:
    """Let an interval timer interrupt as Ctrl-C does, with a handler in Python."""
    before = signal.signal(signal.SIGALRM, raise_if_armed)
    try:
        yield
    finally:
        signal.signal(signal.SIGALRM, before)
        gc.collect()
