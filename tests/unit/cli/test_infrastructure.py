"""The compiled interfaces of an infrastructure are kept for as long as their sources stay."""

from __future__ import annotations

from pathlib import Path

import pytest

from psyclone_storage.cli import infrastructure

FILES = {
    "one_mod.f90": "module one_mod\n  include 'below/words.inc'\nend module one_mod\n",
    "below/words.inc": 'integer :: a\nINCLUDE "more.inc"\n',
    "below/more.inc": "integer :: b\n",
    "below/other.inc": "integer :: c\n",
}


@pytest.fixture
def sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    monkeypatch.setattr(infrastructure, "_version", lambda compiler: compiler)
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return [tmp_path / "one_mod.f90"]


def named(sources: list[Path]) -> str:
    return infrastructure._fingerprint(sources, "f90")


@pytest.mark.parametrize("changed", ["one_mod.f90", "below/words.inc", "below/more.inc"])
def test_what_is_compiled_or_included_makes_the_name(sources: list[Path], changed: str) -> None:
    before = named(sources)
    path = sources[0].parent / changed
    path.write_text(FILES[changed] + "! changed\n", encoding="utf-8")
    assert named(sources) != before


def test_what_nobody_includes_does_not(sources: list[Path]) -> None:
    before = named(sources)
    (sources[0].parent / "below" / "other.inc").write_text("", encoding="utf-8")
    assert named(sources) == before
