"""What a translation depends on: at least all that the compiler reads and looks for."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from psyclone_storage.base.diagnostic import CompileError
from psyclone_storage.base.package_files import shared_file
from psyclone_storage.base.source import SourceText
from psyclone_storage.config.load import default_settings
from psyclone_storage.languages.sources.kernel_search import SourceIndex, index_directories
from psyclone_storage.pipeline.compile import make_compiler
from psyclone_storage.pipeline.inputs import Inputs, find_inputs
from psyclone_storage.pipeline.request import CompileRequest

CORPUS = Path(__file__).parents[2] / "corpus"
SHIPPED = shared_file("external")
STEPS = ("", "auto", "inline-kernel-module", "kernel-constants{number_of_layers=20}", "openacc")


@pytest.mark.parametrize("steps", STEPS)
@pytest.mark.parametrize("api", ["lfric", "gocean"])
def test_whatever_is_looked_at_counts(
    api: str, steps: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = CORPUS / api
    settings = default_settings()
    request = CompileRequest(api=api, directories=(folder / "kernels",), steps=steps)
    asked: set[str] = set()
    read: set[Path] = set()
    usual = SourceIndex.candidates, SourceIndex.read

    def candidates(self: SourceIndex, module: str) -> tuple[Path, ...]:
        asked.add(module.lower())
        return usual[0](self, module)

    def reading(self: SourceIndex, path: Path) -> SourceText:
        read.add(path)
        return usual[1](self, path)

    files = sorted(folder.glob("*.x90"))
    for file in files if not steps else files[::4]:
        inputs = find_inputs(settings, request)
        modules = set(inputs.modules(file))
        texts = {path for name in modules for path in inputs.index.candidates(name)}
        with monkeypatch.context() as patch:
            patch.setattr(SourceIndex, "candidates", candidates)
            patch.setattr(SourceIndex, "read", reading)
            try:
                make_compiler(settings, request).compile_algorithm(file)
            except CompileError:
                continue
            finally:
                missed = asked.intersection(inputs.index.files) - modules
                # Files that come with the package change only with its version.
                others = {path for path in read - texts - {file} if SHIPPED not in path.parents}
                asked.clear()
                read.clear()
        assert missed == set()
        assert others == set()


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """Return a folder with an algorithm that uses `a_mod`, which uses `b_mod`."""
    (tmp_path / "alg.x90").write_text("program alg\n  use a_mod, only: a\nend program alg\n")
    (tmp_path / "kernels").mkdir()
    (tmp_path / "kernels" / "a_mod.f90").write_text("module a_mod\n  use b_mod\nend module\n")
    (tmp_path / "kernels" / "b_mod.f90").write_text("module b_mod\nend module\n")
    (tmp_path / "kernels" / "other_mod.f90").write_text("module other_mod\nend module\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path)
        yield tmp_path


def digest(*, deep: bool = False, beside: bool = False) -> str | None:
    index = index_directories((Path("kernels"),))
    return Inputs(index, deep=deep, beside=beside).digest(Path("alg.x90"))


def test_only_steps_depend_on_what_kernels_use(folder: Path) -> None:
    plain, deep = digest(), digest(deep=True)
    assert plain != deep
    (folder / "kernels" / "b_mod.f90").write_text("module b_mod\n integer :: i\nend module\n")
    assert digest() == plain
    assert digest(deep=True) not in {deep, None}
    (folder / "kernels" / "other_mod.f90").write_text("module other_mod\n!\nend module\n")
    assert digest() == plain


def test_folders_of_include_files_count_for_steps(folder: Path) -> None:
    (folder / "kernels" / "b_mod.f90").write_text("module b_mod\n use far_mod\nend module\n")
    (folder / "near").mkdir()

    def found(*, deep: bool = True) -> str | None:
        folders = (Path("near"),)
        index = index_directories((Path("kernels"),), folders)
        return Inputs(index, folders, deep=deep).digest(Path("alg.x90"))

    shallow, seen = found(deep=False), [found()]
    for name, text in (
        ("far_mod.f90", "module far_mod\n include 'far.h'\nend module\n"),
        ("far.h", "use last_mod\n"),
        ("far.h", "use last_mod\nreal :: a\n"),
        ("last_mod.F90", "module last_mod\nend module\n"),
        ("last_mod.F90", "module last_mod\nreal :: b\nend module\n"),
    ):
        (folder / "near" / name).write_text(text)
        seen.append(found())
    assert len({*seen}) == 6
    assert None not in seen
    assert found(deep=False) == shallow


def test_a_file_that_appears_or_goes_counts(folder: Path) -> None:
    seen = {digest()}
    (folder / "kernels" / "inner").mkdir()
    assert digest() in seen
    second = folder / "kernels" / "inner" / "A_mod.F90"
    second.write_text("module a_mod\nend module\n")
    seen.add(digest())
    second.rename(folder / "kernels" / "A_mod.F90")
    seen.add(digest())
    (folder / "kernels" / "a_mod.f90").unlink()
    seen.add(digest())
    assert len(seen) == 4


def test_a_link_to_the_same_file_is_another_answer(folder: Path) -> None:
    (folder / "kernels" / "z").mkdir()
    link = folder / "kernels" / "z" / "a_mod.f90"
    link.write_text((folder / "kernels" / "a_mod.f90").read_text())
    copied = digest()
    link.unlink()
    link.symlink_to(folder / "kernels" / "a_mod.f90")
    assert digest() != copied


def test_where_the_algorithm_is_may_count(folder: Path) -> None:
    (folder / "kernels" / "z").mkdir()
    Path("kernels", "alg.x90").write_text(Path("alg.x90").read_text())
    index = index_directories((Path("kernels"),))
    one = Inputs(index, beside=True).digest(Path("kernels/alg.x90"))
    Path("kernels", "a_mod.f90").rename(folder / "a_mod.f90")
    Path("kernels", "a_mod.f90").symlink_to(folder / "a_mod.f90")
    index = index_directories((Path("kernels"),))
    assert Inputs(index, beside=True).digest(Path("kernels/alg.x90")) != one


def test_what_cannot_be_read_has_no_digest(folder: Path) -> None:
    (folder / "alg.x90").unlink()
    assert digest() is None
    (folder / "alg.x90").write_text("  use a_mod\n")
    (folder / "kernels" / "a_mod.f90").unlink()
    (folder / "kernels" / "a_mod.f90").symlink_to(folder / "nowhere.f90")
    assert digest() is None


@pytest.mark.parametrize(
    "text",
    [
        "use a_mod",
        "USE, NON_INTRINSIC :: A_MOD, only: x",
        "x = 1; use a_mod",
        "use &\n  ! a comment in use\n  & a_mod",
        "use a&  ! and\n\n  ! more\n&_mod",
        "us&\n&e a_mod",
        "use ::a_mod",
        "use\ta_mod",
        "use a_mod\u00e9",
        "! in use\nuse a_mod",
        "use &\n#ifdef X\n a_mod",
        "submodule (a_mod) b",
        "submodule ( a_mod : c ) b",
    ],
)
def test_every_form_of_use_is_seen(text: str, folder: Path) -> None:
    (folder / "alg.x90").write_text("  use start_mod\n")
    (folder / "kernels" / "start_mod.f90").write_text(f"module start_mod\n{text}\nend module\n")
    index = index_directories((Path("kernels"),))
    modules = Inputs(index, deep=True).modules(Path("alg.x90"))
    assert "a_mod" in modules
    (folder / "alg.x90").write_text(f"{text}\n")
    assert "a_mod" in Inputs(index_directories((Path("kernels"),))).modules(Path("alg.x90"))
