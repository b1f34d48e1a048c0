"""The comparison of all outputs with recorded hashes fails if it compares nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from hash_outputs import main


def test_a_name_of_no_input_is_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--jobs", "1", "--only", "no input has this name"])
    assert "no input has a name with" in capsys.readouterr().err


def test_an_input_that_is_gone_is_a_difference(tmp_path: Path) -> None:
    (tmp_path / "lost").mkdir()
    (tmp_path / "lost" / "alg.x90").write_text("program p\nend program p\n")
    words = ["--jobs", "1", "--trees", str(tmp_path / "lost"), "--hashes", str(tmp_path)]
    assert main([*words, "--record"]) == 0
    assert main(words) == 0
    (tmp_path / "lost" / "alg.x90").rename(tmp_path / "lost" / "other.x90")
    (table,) = tmp_path.glob("*.csv")
    recorded = table.read_text()
    assert main([*words, "--record"]) == 0
    table.write_text(table.read_text() + recorded.partition("\n")[2])
    assert main(words) == 1
