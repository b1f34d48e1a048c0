"""The choice between the compiled core and the pure-Python fallback."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from psyclone_storage.base import extension as cores

EDITION = 8


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

    monkeypatch.setattr(cores, "import_module", imported)
    monkeypatch.setattr(cores, "FREE_THREADED", False)
    monkeypatch.setenv(cores.VARIABLE, wanted)
    if isinstance(answer, bool):
        assert cores.is_compiled("a.core", EDITION) is answer
    else:
        with pytest.raises(answer, match=cores.VARIABLE):
            cores.is_compiled("a.core", EDITION)


def test_without_a_lock_of_the_interpreter_the_twin_serves(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cores, "import_module", lambda _: SimpleNamespace(EDITION=EDITION))
    monkeypatch.setattr(cores, "FREE_THREADED", True)
    monkeypatch.setenv(cores.VARIABLE, "auto")
    assert not cores.is_compiled("a.core", EDITION)
