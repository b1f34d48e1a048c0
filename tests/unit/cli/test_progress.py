"""A bar on a terminal, and nothing elsewhere."""

from __future__ import annotations

import contextlib
import io
import os
import pty
from collections.abc import Callable

from psyclone_storage.cli.progress import Progress


def shown_on_terminal(total: int, action: Callable[[Progress], None]) -> str:
    """Return what a bar writes to a terminal while `action` uses it."""
    reading, writing = pty.openpty()
    with os.fdopen(writing, "w") as terminal, Progress(total, terminal) as progress:
        action(progress)
    parts = []
    # Once the other side is closed, reading gives what is left and then fails.
    with contextlib.suppress(OSError):
        while part := os.read(reading, 10_000):
            parts.append(part)
    os.close(reading)
    return b"".join(parts).decode()


def test_it_fills_and_disappears() -> None:
    def two(progress: Progress) -> None:
        progress.advance("one.x90")
        progress.advance("two.x90")

    text = shown_on_terminal(2, two)
    assert f"[{'#' * 15}{'.' * 15}] 1/2 one.x90" in text
    assert f"[{'#' * 30}] 2/2 two.x90" in text
    assert text.endswith("\r\033[K")


def test_it_disappears_before_the_end_too() -> None:
    text = shown_on_terminal(3, lambda progress: progress.advance("one.x90"))
    assert text.endswith("\r\033[K")


def test_it_stays_on_one_line() -> None:
    text = shown_on_terminal(2, lambda progress: progress.advance("n" * 500))
    assert all(len(part) < 90 for part in text.split("\r"))


def test_one_step_needs_no_bar() -> None:
    assert shown_on_terminal(1, lambda progress: progress.advance("one.x90")) == ""


def test_nothing_is_shown_where_nobody_looks() -> None:
    stream = io.StringIO()
    with Progress(5, stream) as progress:
        progress.advance("one.x90")
    assert stream.getvalue() == ""
