"""The choice between the compiled core and its twin."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from psyclone_storage.storage.core import native
from psyclone_storage.storage.core.words import EDITION


@pytest.mark.parametrize(
    ("wanted", "edition", "answer"),
    [
        ("auto", EDITION, True),
        ("", EDITION, True),
        ("auto", EDITION - 1, False),
        ("auto", None, False),
        ("python", EDITION, False),
        ("compiled", EDITION, True),
        ("compiled", EDITION - 1, ImportError),
        ("compiled", None, ImportError),
        ("both", EDITION, ValueError),
    ],
)
def test_a_core_serves_where_it_is_wanted_and_fits(
    monkeypatch: pytest.MonkeyPatch, wanted: str, edition: int | None, answer: Any
) -> None:
    def imported(_: str) -> Any:
        if edition is None:
            raise ImportError
        return SimpleNamespace(EDITION=edition)

    monkeypatch.setattr(native, "import_module", imported)
    monkeypatch.setattr(native.sysconfig, "get_config_var", lambda _: None)
    monkeypatch.setenv(native.VARIABLE, wanted)
    if isinstance(answer, bool):
        assert native._is_compiled() is answer
    else:
        with pytest.raises(answer, match=native.VARIABLE):
            native._is_compiled()


def test_without_a_lock_of_the_interpreter_the_twin_serves(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(native, "import_module", lambda _: SimpleNamespace(EDITION=EDITION))
    monkeypatch.setattr(native.sysconfig, "get_config_var", lambda _: 1)
    monkeypatch.setenv(native.VARIABLE, "auto")
    assert not native._is_compiled()


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
