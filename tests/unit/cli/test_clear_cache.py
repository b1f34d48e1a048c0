"""`--clear-cache` removes everything that this tool has cached, and nothing else."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from command import run_command
from psyclone_storage.base.cache import Cache
from psyclone_storage.base.digest import seal_of
from psyclone_storage.base.trusted import write_owned

KEY = f"a{1:063x}"
LIBRARY = f"{2:064x}.so"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the default cache folder, which does not exist yet."""
    for name in ("PSYCLONE_STORAGE_CACHE", "PSYCLONE_STORAGE_LIBRARIES"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "cache").mkdir(0o700)
    return tmp_path / "cache" / "psyclone-storage"


def fill(results: Path, libraries: Path) -> list[Path]:
    """Write an entry and a library; return both files."""
    Cache(results).keep(KEY, b"generated text")
    libraries.mkdir(0o700, parents=True, exist_ok=True)
    library = b"\x7fELF code"
    write_owned(libraries / LIBRARY, library + seal_of(LIBRARY, library))
    return [results / "a" / KEY, libraries / LIBRARY]


def clear(beside: Path) -> tuple[int, str, str]:
    """Run the command in a folder next to the one of caches."""
    (beside / "work").mkdir()
    done = run_command(["--clear-cache"], beside / "work")
    return done.status, done.out, done.err


def test_without_a_cache_nothing_happens(home: Path, tmp_path: Path) -> None:
    status, out, err = clear(tmp_path)
    assert (status, err, home.exists()) == (0, "", False)
    assert f"{home / 'results'}: removed 0 translations and invokes (0.0 MB)\n" in out


def test_all_three_caches_are_removed(home: Path, tmp_path: Path) -> None:
    files = fill(home / "results", home / "libraries")
    interfaces = home / f"lfric-{3:016x}"
    interfaces.mkdir(0o700)
    for name in ("field_mod.mod", "field_mod.o"):
        write_owned(interfaces / name, b"compiled" * 100_000)
    status, out, err = clear(tmp_path)
    assert (status, err) == (0, "")
    assert "removed 1 translations" in out
    assert "removed 1 libraries" in out
    assert "removed 2 compiled interface files (1.6 MB)" in out
    assert not [file for file in files if file.exists()]
    assert not home.exists()


def test_a_real_translation_is_made_anew_after_it(home: Path, project: Path) -> None:
    words = ["-api", "lfric", "-d", "kernels", "--output-dir", "out", "alg.x90"]
    first = run_command(words, project)
    entries = list((home / "results").glob("?/" + "?" * 64))
    assert entries
    clear(project.parent)
    assert not home.exists()
    again = run_command(words, project)
    assert (first.status, first.out, first.err) == (again.status, again.out, again.err)
    assert {file.name for file in (home / "results").rglob("?" * 64)} >= {
        entry.name for entry in entries
    }


def test_damaged_files_are_removed_from_the_default_folder(home: Path, tmp_path: Path) -> None:
    files = fill(home / "results", home / "libraries")
    for file in files:
        file.write_bytes(file.read_bytes()[:-4])
    clear(tmp_path)
    assert not [file for file in files if file.exists()]


def test_files_of_others_stay(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In folders that the user has chosen, next to files with every kind of similar name."""
    chosen = tmp_path / "chosen"
    monkeypatch.setenv("PSYCLONE_STORAGE_CACHE", str(chosen))
    monkeypatch.setenv("PSYCLONE_STORAGE_LIBRARIES", str(chosen))
    ours = fill(chosen, chosen)
    (chosen / "b").mkdir()
    (tmp_path / "elsewhere" / "c").mkdir(parents=True)
    target = tmp_path / "elsewhere" / "c" / f"c{5:063x}"
    Cache(tmp_path / "elsewhere").keep(target.name, b"entry of another cache")
    (chosen / "c").symlink_to(tmp_path / "elsewhere" / "c")
    (chosen / "a" / f"a{9:063x}").symlink_to(ours[0])
    others = [
        target,
        chosen / "notes.txt",
        chosen / "a" / "notes.txt",
        chosen / "a" / f"a{4:063x}",
        chosen / "a" / f"b{4:063x}",
        chosen / "b" / f"b{4:062x}",
        chosen / f"a{4:063x}",
        chosen / f"{6:064x}.so",
        chosen / f"lib{6:064x}.so",
        chosen / f"lfric-{3:016x}",
        home / "results" / "a" / KEY,
        home / "mine-2024" / "field_mod.mod",
        home / f"lfric-{3:016x}" / "notes.txt",
    ]
    for other in others:
        other.parent.mkdir(0o700, parents=True, exist_ok=True)
        if not other.exists():
            other.write_bytes(b"not ours")
    status, out, err = clear(tmp_path)
    assert (status, err) == (0, "")
    assert out.count("removed 1 ") == 2
    assert not [file for file in ours if file.exists()]
    assert [other for other in others if not other.exists()] == []
    assert (chosen / "c").is_symlink()
    assert (chosen / "a" / f"a{9:063x}").is_symlink()


def test_a_cache_that_is_turned_off_is_left_out(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    entry, library = fill(home / "results", home / "libraries")
    monkeypatch.setenv("PSYCLONE_STORAGE_CACHE", "")
    _, out, _ = clear(tmp_path)
    assert "translations" not in out
    assert entry.exists()
    assert not library.exists()


def test_a_folder_that_others_can_write_is_reported(home: Path, tmp_path: Path) -> None:
    entry, library = fill(home / "results", home / "libraries")
    (home / "results").chmod(0o777)
    status, out, err = clear(tmp_path)
    assert status == 0
    assert "warning[L018]: Cached files are ignored: other users may write to" in err
    assert entry.exists()
    assert not library.exists()
    assert "removed 0 translations" in out


def test_what_cannot_be_removed_is_an_error(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    entry, library = fill(home / "results", home / "libraries")
    unlink = Path.unlink

    def refuse(path: Path, missing_ok: bool = False) -> None:
        if path == entry:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
        unlink(path, missing_ok)

    monkeypatch.setattr(Path, "unlink", refuse)
    status, _, err = clear(tmp_path)
    assert status == 1
    assert f"error[L003]: '{entry}' cannot be removed: Permission denied." in err
    assert entry.exists()
    assert not library.exists()
