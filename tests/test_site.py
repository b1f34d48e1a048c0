"""The generated pages of the site: diagnostics, Python API reference, changes."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

from psyclone_storage.base.codes import CODES
from psyclone_storage.base.hints import CURES
from psyclone_storage.scripting import __all__ as words_of_scripts

ROOT = Path(__file__).parents[1]
BUILD = ROOT / "docs" / "site" / "build.py"


@pytest.fixture(scope="module")
def site() -> ModuleType:
    spec = importlib.util.spec_from_file_location("site_build", BUILD)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules["site_build"] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def source(site: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of all pages."""
    folder = tmp_path_factory.mktemp("site")
    site.lay_out(folder)
    return folder


def test_every_code_has_a_page_with_cause_cure_and_example(site: ModuleType) -> None:
    pages = site.diagnostic_pages()
    assert set(pages) == {f"diagnostics/{code}.md" for code in CODES} | {"diagnostics/index.md"}
    for code in CODES:
        text = pages[f"diagnostics/{code}.md"]
        assert f"## Cause\n\n{CODES[code]}\n" in text
        cure = text.partition("## Solution")[2].partition("## Example")[0].strip()
        assert cure, code
        assert code not in CURES or CURES[code] in cure
        example = text.partition("## Example")[2]
        shown = f"[{code}]: " in example
        assert shown or not list((ROOT / "tests" / "errors").glob(f"{code}_*")), code
        assert example.strip()


def test_a_page_shows_the_mistake_and_the_command(site: ModuleType) -> None:
    text = site.diagnostic_page("M010")
    assert "\n### Inc on discontinuous\n" in text
    assert "gh_inc" in text.lower()
    assert "$ psyclone-storage alg.x90" in text


def test_every_page_of_the_documentation_is_there(source: Path) -> None:
    docs = ROOT / "docs"
    written = {
        page.relative_to(docs)
        for folder in ("tutorial", "guide", "reference", "design")
        for page in (docs / folder).glob("*.md")
    }
    laid = {page.relative_to(source) for page in source.rglob("*.md")}
    assert written <= laid
    contents = (source / "index.md").read_text(encoding="utf-8")
    entries = set(re.findall(r"^([\w/.-]+/[\w.-]+)$", contents, re.MULTILINE))
    codes = {f"diagnostics/{code}" for code in CODES}
    names = {page.with_suffix("").as_posix() for page in laid}
    assert names - codes - entries == {"index"}


def test_the_list_of_codes_leads_to_their_pages(source: Path) -> None:
    text = (source / "reference" / "diagnostics.md").read_text(encoding="utf-8")
    line = re.compile(r"^\*\*\[(\w+)\]\(\.\./diagnostics/\1\.md\)\*\*$", re.MULTILINE)
    assert set(line.findall(text)) == set(CODES)


def test_links_that_lead_out_become_names(source: Path) -> None:
    text = (source / "reference" / "settings.md").read_text(encoding="utf-8")
    assert "(../../" not in text
    assert "(`config/psyclone.cfg`)" in text


def test_the_change_log_contains_the_fragments(
    site: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, source: Path
) -> None:
    log = "# Changelog\n\n[Notes](docs/changes/README.md)\n\n<!-- notes -->\n\n"
    old = "## 0.3.0 (unreleased)\n\n### Added\n\n#### Tools\n\n- Old.\n\n## 0.2.0 (2026)\n"
    changes = tmp_path / "docs" / "changes"
    changes.mkdir(parents=True)
    (tmp_path / "CHANGELOG.md").write_text(log + old, encoding="utf-8")
    monkeypatch.setattr(site, "CHANGELOG", tmp_path / "CHANGELOG.md")
    monkeypatch.setattr(site, "DOCS", tmp_path / "docs")
    assert site.change_pages()["changes/changelog.md"].endswith(old)
    (changes / "two-lines.added.md").write_text("New,\nin two lines.\n", encoding="utf-8")
    (changes / "b.fixed.md").write_text("Mended.\n", encoding="utf-8")
    text = site.change_pages()["changes/changelog.md"]
    assert "[Notes](../changes/README.md)" in text
    assert text.partition("<!-- notes -->\n\n")[2] == (
        "## 0.3.0 (unreleased)\n\n### Added\n\n- New, in two lines.\n\n#### Tools\n\n- Old.\n\n"
        "### Fixed\n\n- Mended.\n\n## 0.2.0 (2026)\n"
    )
    (tmp_path / "CHANGELOG.md").write_text(log + "## 0.2.0 (2026)\n", encoding="utf-8")
    text = site.change_pages()["changes/changelog.md"]
    assert "## Unreleased\n\n### Added\n\n- New" in text
    assert text.endswith("- Mended.\n\n## 0.2.0 (2026)\n")
    index = (source / "index.md").read_text(encoding="utf-8")
    assert "[Changes](changes/changelog.md)" in index
    assert "](../changes/changelog.md)" in (source / "changes" / "README.md").read_text("utf-8")


def test_the_site_is_built_and_can_be_searched(tmp_path: Path, site: ModuleType) -> None:
    """All of it, without a warning; a few pages where a machine has no time for all."""
    pytest.importorskip("sphinx")
    pytest.importorskip("furo")
    pytest.importorskip("myst_parser")
    folder = tmp_path / "source"
    site.lay_out(folder)
    for page in folder.rglob("*.md"):
        kept = page.parent.name in ("python", "diagnostics") and page.stem in (
            "scripting", "index", "T035", "M010"
        )  # fmt: skip
        if not kept and page != folder / "index.md":
            page.unlink()
    codes = "[T035](T035.md) [M010](M010.md)"
    (folder / "diagnostics" / "index.md").write_text(f"# Codes\n\n{codes}\n", encoding="utf-8")
    toc = "```{toctree}\n:hidden:\n\ndiagnostics/index\npython/scripting\n```\n"
    (folder / "index.md").write_text(f"# Site\n\n{toc}", encoding="utf-8")
    assert site.make_html(folder, tmp_path / "html") == 0
    index = (tmp_path / "html" / "searchindex.js").read_text(encoding="utf-8")
    assert "unpinexchange" in index.lower()
    assert '"diagnostics/T035"' in index
    shown = (tmp_path / "html" / "python" / "scripting.html").read_text(encoding="utf-8")
    missing = [
        word for word in words_of_scripts
        if word not in ("Construct",) and f">{word}<" not in shown
    ]  # fmt: skip
    assert missing == []
    (folder / "diagnostics" / "index.md").write_text("# Codes\n\n[no](no.md)\n", encoding="utf-8")
    assert site.make_html(folder, tmp_path / "html") != 0
