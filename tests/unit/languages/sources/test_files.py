"""Reading files: characters and bytes that must survive."""

from __future__ import annotations

from pathlib import Path

import pytest

from psyclone_storage.base.diagnostic import CompileError
from psyclone_storage.base.source import SourceText
from psyclone_storage.languages.sources.files import ENCODING, ERRORS, read_source


@pytest.mark.parametrize("data", [b"a\r\nb\n\tc", "é€".encode(), b"\xe9 latin", b""])
def test_bytes_survive(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "alg.x90"
    path.write_bytes(data)
    source = read_source(path)
    assert source.name == str(path)
    assert source.text.encode(ENCODING, ERRORS) == data


def test_file_that_cannot_be_read(tmp_path: Path) -> None:
    place = SourceText("alg.x90", "k_type").whole()
    for path in (tmp_path / "nowhere.x90", tmp_path):
        with pytest.raises(CompileError) as caught:
            read_source(path, wanted_by=place)
        (problem,) = caught.value.problems
        assert (problem.code, problem.span) == ("P001", place)
        assert str(path) in problem.message


def test_a_byte_order_mark_is_not_part_of_the_text(tmp_path: Path) -> None:
    """CPython and gfortran also ignore it."""
    for name, text in (("a.f90", "program a\nend program a\n"), ("b.py", "x = 1\r\n")):
        (tmp_path / name).write_text(text, encoding="utf-8-sig", newline="")
        assert read_source(tmp_path / name).text == text
