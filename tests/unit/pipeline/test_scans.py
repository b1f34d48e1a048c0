"""Each file is scanned once in a compilation, whatever is read from it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from psyclone_storage.base.source import SourceText
from psyclone_storage.cli.main import main
from psyclone_storage.languages.fortran.parse import statements
from psyclone_storage.languages.fortran.parse.statements import SourceStatement, scan

DEMO = Path(__file__).parents[3] / "examples" / "lfric" / "demo"


@pytest.fixture
def scanned(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    counts: Counter[str] = Counter()

    class Counting(statements._Scanner):
        def __init__(self, source: SourceText) -> None:
            counts[Path(source.name).name] += 1
            super().__init__(source)

    monkeypatch.setattr(statements, "_Scanner", Counting)
    return counts


@pytest.mark.parametrize(
    "steps",
    ["", "auto", "acc-routine; inline-kernel-module", "kernel-constants{number_of_layers=3}"],
)
def test_each_file_is_scanned_once(steps: str, scanned: Counter[str], tmp_path: Path) -> None:
    words = [str(DEMO / "gravity_wave_alg_mod.x90"), "-d", str(DEMO / "kernels"), "--apply", steps,
             "-oalg", str(tmp_path / "a.f90"), "-opsy", str(tmp_path / "p.f90"),
             "-okern", str(tmp_path)]  # fmt: skip
    assert main(words) == 0
    assert len(scanned) > 6
    assert set(scanned.values()) == {1}


def test_readers_share_what_was_found(scanned: Counter[str]) -> None:
    source = SourceText("k.f90", "".join(f"a{number} = {number}\n" for number in range(500)))
    first = scan(source)
    assert next(first).text == "a0 = 0"

    def read(statements: Iterator[SourceStatement]) -> list[str]:
        return [statement.text for statement in statements]

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(read, [scan(source) for _ in range(8)]))
    assert found == [[f"a{number} = {number}" for number in range(500)]] * 8
    assert len(read(first)) == 499
    assert scanned["k.f90"] == 1


def test_equal_texts_are_two_files(scanned: Counter[str]) -> None:
    one, other = (SourceText("k.f90", "a = 1\n") for _ in range(2))
    assert next(scan(one)).source is one
    assert next(scan(other)).source is other
    assert scanned["k.f90"] == 2
