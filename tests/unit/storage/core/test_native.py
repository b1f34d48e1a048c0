"""Tests of single objects of the compiled core."""

from __future__ import annotations

from typing import Any

import pytest

from psyclone_storage.storage.core import native


@pytest.mark.skipif(not native.COMPILED, reason="the objects of the compiled core")
@pytest.mark.parametrize(
    ("kind", "method", "given"),
    [
        ("Blocks", "lease", (8,)),
        ("Blocks", "piece", (None, 8)),
        ("Replica", "beside_in", (None, 8, 64, "")),
    ],
)
def test_objects_that_were_not_initialised_refuse(
    kind: str, method: str, given: tuple[Any, ...]
) -> None:
    core = pytest.importorskip("psyclone_storage.storage.core._compiled")
    made = getattr(core, kind).__new__(getattr(core, kind))
    with pytest.raises(TypeError, match="not initialised"):
        getattr(made, method)(*given)


@pytest.mark.skipif(not native.COMPILED, reason="the objects of the compiled core")
def test_a_gate_gets_its_lock_when_it_is_first_used() -> None:
    core = pytest.importorskip("psyclone_storage.storage.core._compiled")
    gate = core.Gate()
    assert not gate.locked()
    with gate:
        assert gate.locked()
        assert not gate.acquire(blocking=False)
    gate.acquire()
    gate._at_fork_reinit()
    assert not gate.locked()
    with pytest.raises(RuntimeError, match="unlocked"):
        core.Gate().release()
