"""The generated pages of the site: diagnostics, Python API reference, changes."""

from __future__ import annotations

import html
import importlib.util
import json
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from conftest import browser
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


def test_every_code_has_a_page_with_summary_cure_and_example(site: ModuleType) -> None:
    pages = site.diagnostic_pages()
    assert set(pages) == {f"diagnostics/{code}.md" for code in CODES} | {"diagnostics/index.md"}
    for code in CODES:
        text = pages[f"diagnostics/{code}.md"]
        assert f"\n# {code}: {CODES[code].rstrip('.')}\n" in text
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
    listed = [
        name
        for block in re.findall(
            r"^```\{toctree\}\n(?::[^\n]*\n)*\n(.*?)\n```$", contents, re.M | re.S
        )
        for name in block.split("\n")
    ]
    entries = set(listed)
    assert len(listed) == len(entries)
    codes = {f"diagnostics/{code}" for code in CODES}
    names = {page.with_suffix("").as_posix() for page in laid}
    assert names - codes - entries == {"index"}


def test_the_list_of_codes_leads_to_their_pages(source: Path) -> None:
    text = (source / "reference" / "diagnostics.md").read_text(encoding="utf-8")
    line = re.compile(r"^\*\*\[(\w+)\]\(\.\./diagnostics/\1\.md\)\*\*$", re.MULTILINE)
    assert set(line.findall(text)) == set(CODES)


def test_the_landing_page_has_three_entries_of_four_links_each() -> None:
    text = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    _, *entries = re.split(r"^## ", text, flags=re.MULTILINE)
    assert [len(re.findall(r"^- \[", entry, re.MULTILINE)) for entry in entries] == [4, 4, 4]
    assert "](design/" not in text


def test_groups_of_the_sidebar_are_those_of_the_list_of_pages(source: Path) -> None:
    captions = re.findall(r"^:caption: (.+)$", (source / "index.md").read_text("utf-8"), re.M)
    groups = re.findall(r"^## (.+)$", (ROOT / "docs" / "contents.md").read_text("utf-8"), re.M)
    assert [caption for caption in captions if caption in groups] == groups
    assert [*captions[-4:]] == ["Diagnostics", "Python API", "Design", "Changes"]


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
    assert "[Change log](changes/changelog.md)" in index
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


CHECKED = """
<script>
window.addEventListener("load", async () => {{
  const blocks = [...document.querySelectorAll("pre")];
  const wide = blocks.filter((pre) => pre.scrollWidth > pre.clientWidth);
  const copied = [];
  Object.defineProperty(navigator, "clipboard", {{
    value: {{writeText: async (text) => {{ copied.push(text); }}}},
  }});
  for (const button of document.querySelectorAll("button.copy")) button.click();
  const tabs = [...document.querySelectorAll("[role=tab]")];
  const panels = [...document.querySelectorAll("[role=tabpanel]")];
  const shown = () => panels.map((panel) => !panel.hidden);
  const before = shown();
  tabs[0].dispatchEvent(new KeyboardEvent("keydown", {{key: "ArrowRight", bubbles: true}}));
  const result = {{
    wide: wide.length, page: document.documentElement.scrollWidth <= window.innerWidth,
    copied, labels: tabs.map((tab) => tab.textContent), before, after: shown(),
    focus: tabs.indexOf(document.activeElement),
  }};
  const place = document.createElement("div");
  place.id = "result";
  place.textContent = JSON.stringify(result);
  document.body.append(place);
}});
</script>
"""
TABBED = """# Page

<!-- tabs -->

**Fortran**

```fortran
x = 1 ! {long}
```

**Python**

```python
x = 1
```

<!-- end tabs -->

```console
$ first \\
    --more
output
$ second
```
"""


@pytest.mark.browser
@pytest.mark.parametrize("width", [390, 1280])
def test_blocks_fit_and_can_be_copied_and_tabs_follow_the_keyboard(
    width: int, tmp_path: Path, site: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("furo")
    pytest.importorskip("myst_parser")
    docs = tmp_path / "docs"
    docs.mkdir()
    page = docs / "index.md"
    page.write_text(TABBED.format(long="long " * 60), encoding="utf-8")
    monkeypatch.setattr(site, "DOCS", docs)
    (tmp_path / "source").mkdir()
    (tmp_path / "source" / "index.md").write_text(site.inside(page), encoding="utf-8")
    assert site.make_html(tmp_path / "source", tmp_path / "html") == 0
    built = tmp_path / "html" / "index.html"
    text = built.read_text(encoding="utf-8")
    assert "psyclone-storage contributors" in text
    assert "_sources/index.md" in text
    built.write_text(text.replace("</body>", CHECKED.format() + "</body>"), encoding="utf-8")
    chromium = browser()
    assert chromium
    command = [chromium, "--headless", "--no-sandbox", "--disable-gpu",
               "--virtual-time-budget=4000", "--allow-file-access-from-files",
               f"--window-size={width},900", "--dump-dom", built.as_uri()]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    found = re.search(r'<div id="result">(.*?)</div>', done.stdout)
    assert found, done.stderr
    result = json.loads(html.unescape(found[1]))
    assert result["wide"] == 0
    assert result["page"]
    assert result["labels"] == ["Fortran", "Python"]
    assert (result["before"], result["after"]) == ([True, False], [False, True])
    assert result["focus"] == 1
    assert result["copied"][1:] == ["x = 1", "first \\\n    --more\nsecond"]
