"""What is built once."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from building import built_once, fingerprint


def test_the_first_builds_and_the_others_wait(tmp_path: Path) -> None:
    builds: list[Path] = []

    def build(folder: Path) -> None:
        assert not any(folder.iterdir())
        (folder / "product").write_text("ready", encoding="utf-8")
        builds.append(folder)

    def use(_: int) -> str:
        return (built_once(tmp_path / "made", build) / "product").read_text(encoding="utf-8")

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(use, range(8))) == ["ready"] * 8
    assert builds == [tmp_path / "made"]


def test_a_build_that_failed_is_tried_again(tmp_path: Path) -> None:
    def fail(folder: Path) -> None:
        (folder / "half").touch()
        raise RuntimeError

    with pytest.raises(RuntimeError):
        built_once(tmp_path / "made", fail)
    made = built_once(tmp_path / "made", lambda folder: (folder / "product").touch())
    assert [path.name for path in made.iterdir()] == ["product"]


def test_a_fingerprint_follows_names_contents_and_words(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    source = tmp_path / "deep" / "a.f90"
    source.write_text("end", encoding="utf-8")
    names = [fingerprint(tmp_path, "*.f90", *words) for words in (["-O0"], ["-O0"], [])]
    source.write_text("END", encoding="utf-8")
    names.append(fingerprint(tmp_path, "*.f90", "-O0"))
    source.rename(source.with_name("b.f90"))
    names.append(fingerprint(tmp_path, "*.f90", "-O0"))
    assert names[0] == names[1]
    assert len(set(names)) == 4
