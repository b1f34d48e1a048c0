"""Fixtures of the tests of compiled libraries."""

from __future__ import annotations

from pathlib import Path

import pytest

from psyclone_storage.runtime import compiling


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an empty folder in which libraries are kept."""
    monkeypatch.setenv(compiling.LIBRARIES_VARIABLE, str(tmp_path / "kept"))
    return tmp_path / "kept"


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """Return the calls of compilers that are made."""
    calls: list[list[str]] = []
    run = compiling.run_compiler

    def noting(command: list[str], temporary: Path) -> object:
        calls.append(command)
        return run(command, temporary)

    monkeypatch.setattr(compiling, "run_compiler", noting)
    return calls
