"""Signals that wait until the end of a block."""

from __future__ import annotations

import signal

import pytest

from psyclone_storage.base.stopping import HeldSignals


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
