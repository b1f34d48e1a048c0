"""Signals that wait until the end of a block."""

from __future__ import annotations

import signal

import pytest

from psyclone_storage.base.stopping import HeldSignals
from psyclone_storage.jit import native


def test_held_signals_arrive_at_the_end_and_all_handlers_return() -> None:
    """Both handlers raise an exception, and one signal arrives twice."""
    heard: list[int] = []

    def handle(number: int, _: object) -> None:
        heard.append(number)
        raise RuntimeError(number)

    numbers = (signal.SIGUSR1, signal.SIGALRM)
    before = {one: signal.signal(one, handle) for one in numbers}

    def receive() -> None:
        with HeldSignals():
            for number in (*numbers, signal.SIGUSR1):
                signal.raise_signal(number)
            assert heard == []

    try:
        with pytest.raises(RuntimeError):
            receive()
        assert sorted(heard) == sorted(numbers)
        assert [signal.getsignal(one) for one in numbers] == [handle, handle]
    finally:
        for one, former in before.items():
            signal.signal(one, former)


def test_held_signals_without_a_handler_keep_their_effect() -> None:
    before = signal.getsignal(signal.SIGUSR2)
    with HeldSignals():
        assert signal.getsignal(signal.SIGUSR2) is before


def test_a_handler_that_the_block_sets_stays() -> None:
    former = signal.signal(signal.SIGUSR1, lambda *_: None)
    try:
        with HeldSignals():
            signal.signal(signal.SIGUSR1, signal.SIG_IGN)
        assert signal.getsignal(signal.SIGUSR1) == signal.SIG_IGN
    finally:
        signal.signal(signal.SIGUSR1, former)


def test_signals_arrive_in_a_released_part() -> None:
    """The rest of the block is left, and the handler is back."""

    def handle(*_: object) -> None:
        raise RuntimeError

    steps: list[str] = []

    def run() -> None:
        with HeldSignals():
            with HeldSignals.released():
                signal.raise_signal(signal.SIGUSR1)
                steps.append("after the signal")
            steps.append("after the part")

    former = signal.signal(signal.SIGUSR1, handle)
    try:
        with pytest.raises(RuntimeError):
            run()
        assert signal.getsignal(signal.SIGUSR1) is handle
        assert steps == []
    finally:
        signal.signal(signal.SIGUSR1, former)


@pytest.mark.skipif(not native.COMPILED, reason="the C extension")
@pytest.mark.parametrize("restarts", [False, True])
def test_the_restart_of_system_calls_is_kept(restarts: bool) -> None:
    number = signal.SIGUSR1
    former = signal.signal(number, lambda *_: None)
    signal.siginterrupt(number, not restarts)
    try:
        with HeldSignals(native.restarts_calls):
            assert native.restarts_calls(number) is restarts
        assert native.restarts_calls(number) is restarts
    finally:
        signal.signal(number, former)
