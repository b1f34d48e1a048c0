"""The HTML report: its content, and its behaviour in a browser."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import tomllib
from html.parser import HTMLParser
from pathlib import Path

import pytest

from command import Outcome, run_command
from conftest import browser
from psyclone_storage.coherence.dataflow_diagram import MARKS
from psyclone_storage.tools.page import SYMBOLS

ROOT = Path(__file__).parents[1]
DEMO = ROOT / "examples" / "lfric" / "demo"
WORDS = ["demo/gravity_wave_alg_mod.x90", "-d", "demo/kernels", "--report", "out.html"]


def report(folder: Path, *words: str) -> tuple[Outcome, str]:
    """Make the page of the demo with more words; return what was said, and the page."""
    if not (folder / "demo").exists():
        shutil.copytree(DEMO, folder / "demo", ignore=shutil.ignore_patterns("build"))
    done = run_command([*WORDS, *words], folder)
    return done, (folder / "out.html").read_text(encoding="utf-8") if done.status == 0 else ""


class _Reader(HTMLParser):
    """Collects ids, and whatever a page would fetch; complains of tags that are not closed."""

    def __init__(self) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.fetched: list[str] = []
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.ids += [given["id"] or ""] if "id" in given else []
        links = [given.get("src"), given.get("href")]
        self.fetched += [link for link in links if link and not link.startswith("#")]
        if tag not in ("meta", "input", "link", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def read(page: str) -> _Reader:
    reader = _Reader()
    reader.feed(page)
    assert reader.open == []
    return reader


def test_it_has_every_invoke_and_needs_nothing_from_elsewhere(tmp_path: Path) -> None:
    done, page = report(tmp_path)
    assert (done.out, done.err) == ("", "")
    reader = read(page)
    assert reader.fetched == []
    assert len(reader.ids) == len(set(reader.ids))
    for name in ("invoke_tendencies", "invoke_advance", "invoke_2", "invoke_energy"):
        assert f"i0-{name}" in reader.ids
    assert "subroutine invoke_tendencies(" in page
    assert "setval_c(self%tendency(1), 0.0_r_def)" in page
    assert "pressure_gradient_kernel_type (pressure_gradient_kernel_type@loop2) reads it" in page
    assert "what came before the invoke left it stale" in page


def test_steps_of_the_command_line_are_shown_with_what_they_changed(tmp_path: Path) -> None:
    _, page = report(tmp_path, "--apply", "auto")
    applied = re.findall(r'<details class="applied"><summary><code>(.*?)</code>', page)
    refused = re.findall(r'<details class="refused"><summary><code>(.*?)</code>', page)
    assert "colour{loop=loop2 tiling=true for_threads=true}" in applied
    assert "fuse{first=loop1 second=loop2 same_space=false in_order=false tested=false}" in refused
    assert "+      omp-parallel" in page.replace("+    ", "+      ")
    assert "S007: " in page


def test_steps_of_a_script_are_shown_refused_and_undone_ones_too(tmp_path: Path) -> None:
    (tmp_path / "s.py").write_text(
        "from psyclone_storage.base.diagnostic import CompileError\n"
        "from psyclone_storage.transform.colour import ColourLoop\n"
        "def trans(psy):\n"
        "    bench = psy.invokes.invoke_list[0]._session.bench\n"
        "    bench.apply(ColourLoop('loop2'))\n"
        "    bench.undo()\n"
        "    try:\n        bench.apply(ColourLoop('loop3'))\n"
        "    except CompileError:\n        pass\n"
    )
    done, page = report(tmp_path, "-s", "s.py")
    assert done.status == 0, done.err
    found = re.findall(r'<details class="(\w+)"><summary><code>(\w+)', page)
    assert found == [("applied", "colour"), ("undone", "colour"), ("refused", "colour")]


def test_what_an_author_wrote_is_no_html(tmp_path: Path) -> None:
    report(tmp_path)
    file = tmp_path / "demo" / "gravity_wave_alg_mod.x90"
    text = file.read_text(encoding="utf-8")
    assert "setval_c(self%tendency(1), 0.0_r_def)," in text
    odd = "setval_c(self%tendency(1), 0.0_r_def), & ! <script>alert(1)</script> & \"'\n"
    file.write_text(re.sub(r"setval_c\(self%tendency\(1\), 0.0_r_def\),.*\n", odd, text, count=1))
    done, page = report(tmp_path)
    assert done.status == 0, done.err
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    read(page)


def test_two_files_make_one_page(tmp_path: Path) -> None:
    report(tmp_path)
    shutil.copy(tmp_path / WORDS[0], tmp_path / "other.x90")
    done, page = report(tmp_path, "other.x90", "-j", "2")
    assert done.status == 0, done.err
    ids = read(page).ids
    assert len(ids) == len(set(ids))
    assert {"i0-invoke_advance", "i1-invoke_advance"} <= set(ids)


def test_nothing_is_written_where_something_is_wrong(tmp_path: Path) -> None:
    done, _ = report(tmp_path, "--apply", "nonsense")
    assert done.status == 1
    assert not (tmp_path / "out.html").exists()


def test_a_plain_installation_includes_the_template_engine() -> None:
    text = (Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8")
    project = tomllib.loads(text)["project"]
    assert [name for name in project["dependencies"] if name.startswith("jinja2")]
    assert "report" not in project["optional-dependencies"]


def test_without_the_template_engine_it_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    done, _ = report(tmp_path)
    assert done.status == 1
    assert done.err.startswith("error[L017]: '--report' needs Jinja2")


def test_the_legend_explains_every_symbol(tmp_path: Path) -> None:
    """Of the marks of all accesses, and of all cells of pages with threads and devices."""
    explained = {mark for mark, _ in SYMBOLS}
    assert set(MARKS.values()) <= explained
    for words in ([], ["--apply", "auto"], ["--apply", "openacc; acc-update"]):
        _, page = report(tmp_path, *words)
        legend = page.partition('id="symbols"')[2].partition("</section>")[0]
        assert all(f"<dt>{mark}</dt>" in legend for mark in explained)
        cells = re.findall(r'<td class="\w*" title="[^"]*">(.*?)</td>', page)
        assert cells
        assert {
            mark for mark in cells if mark not in explained and mark not in joined(explained)
        } == set()


def joined(marks: set[str]) -> set[str]:
    """Return the marks of data that a call accesses by two arguments."""
    return {first + second for first in marks for second in marks}


# ---------------------------------------------------------------------------- in a browser

CONTRAST = """
const part = (colour) => colour.match(/[0-9.]+/g).map(Number);
const light = (colour) => part(colour).slice(0, 3).map((value) => value / 255)
  .map((c) => c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
  .reduce((sum, value, i) => sum + value * [0.2126, 0.7152, 0.0722][i], 0);
const ground = (element) => {
  for (let at = element; at; at = at.parentElement) {
    const colour = getComputedStyle(at).backgroundColor;
    if (part(colour).length === 3 || part(colour)[3] > 0) return colour;
  }
  return "rgb(255, 255, 255)";
};
said.ground = light(ground(document.body));
said.contrast = Math.min(...[...document.querySelectorAll("body *")]
  .filter((element) => element.textContent.trim() && element.tagName !== "SCRIPT")
  .map((element) => {
    const both = [light(getComputedStyle(element).color), light(ground(element))];
    both.sort((a, b) => a - b);
    return (both[1] + 0.05) / (both[0] + 0.05);
  }));
"""
SCRIPT = """
<script>
const said = {};
const rows = document.querySelectorAll(".picture tbody tr");
const press = (key) => document.activeElement.dispatchEvent(
  new KeyboardEvent("keydown", {key: key, bubbles: true, cancelable: true}));
const here = () => [...rows].indexOf(document.activeElement);
rows[0].focus();
said.rows = rows[0].parentElement.rows.length;
const keys = ["ArrowDown", "ArrowDown", "ArrowUp", "End", "Home", "ArrowUp"];
said.places = keys.map((key) => { press(key); return here(); });
said.about = rows[0].closest("section").querySelector(".about").textContent;
said.stops = [...rows[0].parentElement.rows].filter((row) => row.tabIndex === 0).length;
said.sums = document.getElementById("sums").textContent;
document.getElementById("ranks").value = 1;
document.getElementById("ranks").dispatchEvent(new Event("input"));
said.alone = document.getElementById("sums").textContent;
CONTRASTsaid.loaded = performance.now();
document.body.replaceChildren(JSON.stringify(said));
</script>
""".replace("CONTRAST", CONTRAST)


LOOPS = """
<script>
const said = {};
const rows = [...document.querySelectorAll(".loops tbody tr")];
const choice = document.getElementById("show");
said.counts = [...choice.options].map((option) => {
  choice.value = option.value;
  choice.dispatchEvent(new Event("change"));
  return [rows.filter((row) => row.offsetParent !== null).length,
          document.getElementById("shown").textContent];
});
choice.value = "tr";
choice.dispatchEvent(new Event("change"));
said.cells = rows.map((row) => [...row.cells].map((cell) => cell.innerText.trim()));
said.fits = document.documentElement.scrollWidth <= window.innerWidth;
said.label = choice.labels[0].textContent.trim().slice(0, 4);
CONTRASTdocument.body.replaceChildren(JSON.stringify(said));
</script>
""".replace("CONTRAST", CONTRAST)

COMPARISON = """
<script>
const said = {};
said.fits = document.documentElement.scrollWidth <= window.innerWidth;
said.costs = [...document.querySelectorAll(".costs")].map((table) => table.scrollWidth);
said.label = document.getElementById("other").labels[0].textContent.trim().slice(0, 15);
compareWith("<p>no report</p>");
said.refused = document.getElementById("compared").textContent;
compareWith(OTHER);
const place = document.getElementById("compared");
const texts = (elements) => [...elements].map((one) => one.textContent);
said.rows = [...place.querySelectorAll("tbody tr")].map((row) => texts(row.cells));
said.lines = texts(place.querySelectorAll("details pre"));
said.open = [...place.querySelectorAll("details")].map((one) => one.open);
said.still = document.documentElement.scrollWidth <= window.innerWidth;
document.body.replaceChildren(JSON.stringify(said));
</script>
"""


def looked_at(
    page: str, folder: Path, *, dark: bool = False, script: str = SCRIPT, width: int = 1280
) -> dict:
    """Return what a script finds out in a browser."""
    file = folder / "looked_at.html"
    file.write_text(page.replace("</body>", f"{script}</body>"), encoding="utf-8")
    scheme = f"--blink-settings=preferredColorScheme={int(not dark)}"
    words = [browser() or "", "--headless", "--no-sandbox", "--disable-gpu", scheme,
             f"--window-size={width},900", "--dump-dom"]  # fmt: skip
    done = subprocess.run(
        [*words, f"--user-data-dir={folder / 'profile'}", file.as_uri()],
        capture_output=True, text=True, timeout=300, check=True,
    )  # fmt: skip
    body = re.search(r"<body>(.*)</body>", done.stdout, re.DOTALL)
    assert body, done.stdout[:500]
    return json.loads(body[1].replace("&amp;", "&").replace("&lt;", "<").replace("&gt;", ">"))


@pytest.mark.browser
@pytest.mark.parametrize("dark", [False, True])
def test_it_is_legible_and_goes_by_keys(tmp_path: Path, dark: bool) -> None:
    _, page = report(tmp_path, "--apply", "auto")
    said = looked_at(page, tmp_path, dark=dark)
    last = said["rows"] - 1
    assert said["places"] == [1, 2, 1, last, 0, 0]
    assert said["stops"] == 1
    assert "start self_pressure to level 1" in said["about"]
    assert "invoke_tendencies33" in said["sums"]
    assert re.search(r"invoke_tendencies330invoke_advance", said["alone"])
    assert (said["ground"] < 0.1) is dark
    assert said["contrast"] >= 4.5


@pytest.mark.browser
def test_250_built_ins_in_one_invoke_are_shown(tmp_path: Path) -> None:
    calls = ", &\n".join(f"setval_c(f{number}, 0.0_r_def)" for number in range(250))
    names = ", &\n".join(f"f{number}" for number in range(250))
    (tmp_path / "many.x90").write_text(
        "module many_mod\nuse constants_mod, only: r_def\nuse field_mod, only: field_type\n"
        f"contains\nsubroutine many({names})\ntype(field_type) :: {names}\n"
        f"call invoke({calls})\nend subroutine\nend module\n"
    )
    done = run_command(["many.x90", "-api", "lfric", "--report", "out.html"], tmp_path)
    assert done.status == 0, done.err
    page = (tmp_path / "out.html").read_text(encoding="utf-8")
    assert len(page) < 1_500_000
    said = looked_at(page, tmp_path)
    assert said["rows"] >= 750
    assert said["places"][3] == said["rows"] - 1
    assert said["loaded"] < 30_000


@pytest.mark.browser
def test_two_reports_are_compared_and_fit_500_pixels(tmp_path: Path) -> None:
    _, plain = report(tmp_path)
    _, changed = report(tmp_path, "--apply", "openmp-parallel-do")
    other = json.dumps(plain).replace("</", "<\\/")
    said = looked_at(changed, tmp_path, script=COMPARISON.replace("OTHER", other), width=500)
    assert said["fits"]
    assert said["still"]
    assert max(said["costs"]) <= 500
    assert said["label"] == "Choose a report"
    assert said["refused"] == "The file is not a report of this version of psyclone-storage."
    names = [row[0] for row in said["rows"]]
    assert names == ["invoke_tendencies", "invoke_advance", "invoke_2", "invoke_energy"]
    assert said["rows"][0][1:3] == ["3", "3"]
    assert said["rows"][0][3] == said["rows"][0][4] != "0"
    assert re.search(r"^\+ *omp-parallel-do\(loop1\): ", said["lines"][0], re.MULTILINE)
    same = looked_at(
        changed,
        tmp_path,
        script=COMPARISON.replace("OTHER", json.dumps(changed).replace("</", "<\\/")),
    )
    assert not any(same["open"])
    assert all(line.startswith("  ") for text in same["lines"] for line in text.splitlines())


# ---------------------------------------------------------------------------- loops of files

NESTS = """subroutine nests(a, b, map, n)
  integer, intent(in) :: n, map(n)
  real, intent(inout) :: a(n, n), b(n)
  integer :: i, j
  do j = 1, n  ! <script>alert(1)</script>
    do i = 2, n
      a(i, j) = a(i, j) + a(i - 1, j)
    end do
  end do
  !$omp parallel do
  do i = 1, n
    b(map(i)) = 2 - b(map(i))
  end do
  do i = 1, n
    read(*, *) b(i)
  end do
end subroutine nests
"""


def loops_page(folder: Path) -> tuple[Outcome, str]:
    """Return the page on the loops of a file and of a file with one loop."""
    (folder / "nests.f90").write_text(NESTS)
    (folder / "one.f90").write_text(
        "subroutine one(c)\n  real :: c(9)\n  integer :: k\n  do k = 1, 9\n    c(k) = 1\n"
        "  end do\nend subroutine one\n"
    )
    words = ["--apply", "auto{work=1}", "--strip-directives", "omp", "--output-dir", "out"]
    done = run_command([*words, "nests.f90", "one.f90", "--report", "out.html"], folder)
    return done, (folder / "out.html").read_text(encoding="utf-8") if done.status == 0 else ""


def test_the_loops_of_files_are_a_table(tmp_path: Path) -> None:
    done, page = loops_page(tmp_path)
    assert (done.status, done.out, done.err) == (0, "", "")
    reader = read(page)
    assert reader.fetched == []
    assert reader.ids == ["show", "shown", "f0", "f1"]
    assert page.count('<th scope="row">') == 5
    assert "alert" not in page


def test_a_page_alone_needs_no_output(tmp_path: Path) -> None:
    (tmp_path / "nests.f90").write_text(NESTS)
    done = run_command(["nests.f90", "--report", "out.html"], tmp_path)
    assert (done.status, done.out, set(done.written)) == (0, "", {"out.html"})


@pytest.mark.browser
@pytest.mark.parametrize("dark", [False, True])
def test_the_table_of_loops_can_be_filtered(tmp_path: Path, dark: bool) -> None:
    _, page = loops_page(tmp_path)
    said = looked_at(page, tmp_path, dark=dark, script=LOOPS, width=500)
    assert said["contrast"] >= 4.5
    assert said["fits"]
    assert said["label"] == "Show"
    assert [count for count, _ in said["counts"]] == [5, 3, 0, 2, 1]
    assert said["counts"][3][1] == "2 of 5 loops"
    first, second, third, fourth, fifth = said["cells"]
    assert first[:4] == ["5", "nests.loop1", "j", "independent"]
    assert first[4].split("\n") == ["omp do", "private(i)"]
    assert second[:4] == ["6", "nests.loop2", "i", "carried"]
    assert second[5].split("\n") == [
        "a(i, j) is written in line 7",
        "a(i - 1, j) is read in line 7",
    ]
    assert second[6].startswith("line 7: T062: ")
    assert third[3] == "independent"
    assert third[7].startswith("needed: ")
    assert fourth[3] != "independent"
    assert fifth[:3] == ["4", "one.loop1", "k"]
