"""A call in a separate process returns a result or reports its failure."""

from __future__ import annotations

import os

from forked_calls import in_child


def test_calls_answer_or_say_how_they_have_failed() -> None:
    assert in_child(os.strerror, 2) == os.strerror(2)
    assert in_child(os.strerror).startswith("failed: TypeError(")
    assert in_child(os.abort) == "failed: signal 6"
    assert in_child(os._exit, 3) == "failed: signal 768"
    assert in_child(os.strerror, 1) == os.strerror(1)
