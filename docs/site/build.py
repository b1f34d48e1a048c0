"""Build the documentation site: generate the source pages and run Sphinx.

    python docs/site/build.py [FOLDER]

The site contains the pages of `docs/` without change. In addition, the script generates one page
for each diagnostic code, from the table of codes, the hints and the folders of `tests/errors`, and
a Python API reference from docstrings. Warnings of Sphinx, such as broken links, are errors. The
generated files are not part of the repository.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator
from importlib import import_module
from pathlib import Path

from psyclone_storage.base.codes import CODES
from psyclone_storage.base.hints import CURES

HERE = Path(__file__).resolve().parent
DOCS = HERE.parent
ROOT = DOCS.parent
sys.path.append(str(DOCS))

from changelog import with_fragments  # noqa: E402 (next to docs/build.py, which uses it, too)

ERRORS = ROOT / "tests" / "errors"

MODULES = {
    "Scripts": ("psyclone_storage.scripting", "Views of a program, and steps that change it."),
    "Transformations under PSyclone's names": (
        "psyclone_storage.scripting.transformations.base",
        "Their common base class; the reference contains the table of names.",
    ),
    "Reading, building and printing": (
        "psyclone_storage.tools.factories",
        "`parse`, `KernelTypeFactory` and `PSyFactory`.",
    ),
    "Generating Fortran": ("psyclone_storage.scripting.f2pygen", "The classes of f2pygen."),
    "Kernels and algorithms in Python": (
        "psyclone_storage.gocean",
        "The metadata keywords of GOcean.",
    ),
    "Storages": ("psyclone_storage.storage", "Fields with host and device copies."),
    "Views in the style of Kokkos": (
        "psyclone_storage.storage.kokkos",
        "Types, mirrors and policies.",
    ),
    "Heterogeneous arrays in the style of HMemo": (
        "psyclone_storage.storage.hmemo",
        "Contexts and accesses.",
    ),
    "Accessors and tasks": ("psyclone_storage.storage.accessors", "Buffers, accessors and tasks."),
    "Grids": ("psyclone_storage.runtime", "Grids and fields that are distributed over ranks."),
}
"""The modules of the Python API reference, by the title of their page."""

EXAMPLES = 3
MAX_LINES = 60
SHOWN = (".x90", ".f90", ".py", ".cfg")
FRAGMENT = re.compile(r"\.(added|changed|fixed|removed)\.md$")
LINK = re.compile(r"(?<!!)\[(?P<text>[^\]]*)\]\((?P<target>[^)\s]+)\)")
CHANGELOG = ROOT / "CHANGELOG.md"
ALL_CODES = DOCS / "reference" / "diagnostics.md"
CODE = re.compile(r"^### ([A-Z]\d{3})$", re.MULTILINE)
ORPHAN = "---\norphan: true\n---\n\n"
"""The marker of a page that is in no table of contents: readers find it by a list or by search."""
TABS = {"<!-- tabs -->": '<div class="tabs">', "<!-- end tabs -->": "</div>"}
"""Marks around blocks that are alternatives, each after a paragraph with its label."""
PLACE = re.compile(r"^  --> ([^:\n]+)", re.MULTILINE)
HINT = re.compile(r"^  hint: (.+)$", re.MULTILINE)


def main(words: list[str]) -> int:
    """Generate the source pages and run Sphinx; return its exit status."""
    target = Path(words[0]) if words else ROOT / "build" / "site"
    source = target / "source"
    shutil.rmtree(source, ignore_errors=True)
    lay_out(source)
    status = make_html(source, target / "html")
    if status == 0:
        sys.stdout.write(f"{target / 'html' / 'index.html'}\n")
    return status


def make_html(source: Path, html: Path) -> int:
    """Run Sphinx on the pages below `source`; return its exit status."""
    words = ["-W", "--keep-going", "-q", "-j", "2", "-c", str(HERE), str(source), str(html)]
    return subprocess.run([sys.executable, "-m", "sphinx", *words], check=False).returncode


def lay_out(source: Path) -> None:
    """Write all pages below `source`."""
    for page in sorted(DOCS.rglob("*")):
        place = source / page.relative_to(DOCS)
        place.parent.mkdir(parents=True, exist_ok=True)
        if page.suffix == ".svg":
            shutil.copy2(page, place)
        elif page.suffix == ".md" and not FRAGMENT.search(page.name):
            place.write_text(inside(page), encoding="utf-8")
    for name, text in {**diagnostic_pages(), **module_pages(), **change_pages()}.items():
        place = source / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")
    index = source / "index.md"
    index.write_text(index.read_text(encoding="utf-8") + contents(source), encoding="utf-8")


def inside(page: Path) -> str:
    """Return the text of a page without the targets of links that lead out of the documentation."""

    def led(link: re.Match[str]) -> str:
        target = (page.parent / link["target"].partition("#")[0]).resolve()
        if target == CHANGELOG:
            return f"[{link['text']}]({'../' if page.parent != DOCS else ''}changes/changelog.md)"
        if ":" in link["target"] or target.is_relative_to(DOCS):
            return link[0]
        return f"{link['text']} (`{target.relative_to(ROOT)}`)"

    text = LINK.sub(led, page.read_text(encoding="utf-8"))
    for mark, element in TABS.items():
        text = text.replace(mark, element)
    # Every page includes a table of contents with all headings: 250 of them would slow all pages.
    return CODE.sub(r"**[\1](../diagnostics/\1.md)**", text) if page == ALL_CODES else text


def change_pages() -> dict[str, str]:
    """Return the change log with the fragments since its last entry."""
    text = with_fragments(CHANGELOG.read_text(encoding="utf-8"), DOCS / "changes")
    return {"changes/changelog.md": text.replace("](docs/", "](../")}


def contents(source: Path) -> str:
    """Return the table of contents: the groups of the page "All pages", and generated pages."""
    text = (source / "contents.md").read_text(encoding="utf-8")
    _, *parts = re.split(r"^## (.+)$", text, flags=re.MULTILINE)
    groups = {
        title: re.findall(r"^- \[[^\]]*\]\(([\w./-]+)\.md", body, re.MULTILINE)
        for title, body in zip(parts[::2], parts[1::2], strict=True)
    }
    first, *others = groups
    modules = sorted(page.stem for page in (source / "python").glob("*.md"))
    ordered = {
        first: ["contents", *groups[first]],
        **{title: groups[title] for title in others},
        "Diagnostics": ["diagnostics/index"],
        "Python API": [f"python/{name}" for name in modules],
    }
    ordered |= {title: ordered.pop(title) for title in ("Design", "Changes")}
    head = "\n```{toctree}\n:hidden:\n:caption: "
    return "".join(
        "\n".join((head + title, "", *entries, "```", "")) for title, entries in ordered.items()
    )


# ---------------------------------------------------------------------------- diagnostics


def diagnostic_pages() -> dict[str, str]:
    """Return the page of each code, and a list of them, by their paths."""
    pages = {f"diagnostics/{code}.md": diagnostic_page(code) for code in CODES}
    rows = (f"- [{code}]({code}.md): {CODES[code]}" for code in sorted(CODES))
    head = "# All codes\n\nThe page of each code contains the solution and an example.\n\n"
    return {**pages, "diagnostics/index.md": head + "\n".join(rows) + "\n"}


def diagnostic_page(code: str) -> str:
    """Return the page of a code: its summary as the title, the solution, and examples."""
    folders = sorted(ERRORS.glob(f"{code}_*"))
    messages = {folder: message_of(folder, code) for folder in folders}
    hints = dict.fromkeys(
        hint for text in messages.values() for hint in HINT.findall(text) if hint != CURES.get(code)
    )
    cures = [CURES[code]] if code in CURES else []
    # 250 pages would hide the others in the table of contents: codes are found by list or search.
    lines = [
        f"{ORPHAN}# {code}: {CODES[code].rstrip('.')}",
        "",
        "## Solution",
        "",
    ]
    lines += [f"{cure}\n" for cure in cures]
    if hints:
        lines += ["Hints of the messages below:" if cures else "Hint of the message:", ""]
        lines += [f"- {hint}" for hint in list(hints)[:6]]
    lines += ["", "## Example", ""]
    if not folders:
        lines += [_without_example(code), ""]
    for folder in folders[:EXAMPLES]:
        lines += _example(folder, messages[folder])
    return "\n".join(lines) + "\n"


def _without_example(code: str) -> str:
    if code == "I001" or code.startswith("V"):
        return "Only a compiler defect causes this error, so there is no example."
    return "It depends on the machine or on a Python script, so there is no example."


def message_of(folder: Path, code: str) -> str:
    """Return the first message with `code` that a folder of the corpus expects."""
    text = (folder / "expected.txt").read_text(encoding="utf-8")
    for message in re.split(r"\n\n(?=error\[|warning\[)", text.rstrip()):
        if f"[{code}]" in message.partition("\n")[0]:
            return message
    raise SystemExit(f"{folder} does not show {code}.")


def _example(folder: Path, message: str) -> Iterator[str]:
    options = folder / "options"
    words = options.read_text(encoding="utf-8").strip() if options.is_file() else "alg.x90"
    command = words if words.startswith("psyclone") else f"psyclone-storage {words}"
    yield from (f"### {folder.name.partition('_')[2].replace('_', ' ').capitalize()}", "")
    for name in dict.fromkeys((*PLACE.findall(message), "alg.x90", "alg.py")):
        file = folder / name
        if file.suffix in SHOWN and file.is_file():
            text = file.read_bytes().decode("utf-8", "replace").rstrip()
            if text and text.count("\n") < MAX_LINES:
                yield from (f"`{name}`:", "", *_fenced(text), "")
                break
    yield from _fenced(f"$ {command}\n{message}")
    yield ""


def _fenced(text: str) -> Iterable[str]:
    """Return `text` as a block without highlighting, because erroneous code cannot be parsed."""
    fence = "````" if "```" in text else "```"
    return (f"{fence}text", text, fence)


# ---------------------------------------------------------------------------- Python


def module_pages() -> dict[str, str]:
    """Return a page for each module that programs and scripts import, by their paths."""
    pages = {}
    shown: set[int] = set()
    for title, (name, text) in MODULES.items():
        module = import_module(name)
        exported = getattr(module, "__all__", ())
        options = [":members:", *([":imported-members:"] if exported else [])]
        again = []
        for word in exported:
            known = id(getattr(module, word))
            again += [word] if known in shown else []
            shown.add(known)
        if again:
            options.append(f":exclude-members: {', '.join(again)}")
        more = f" Also here: {', '.join(f'`{word}`' for word in again)}." if again else ""
        directive = "\n".join((f".. automodule:: {name}", *(f"   {one}" for one in options)))
        page = f"# {title}\n\n{text}{more}\n\n```{{eval-rst}}\n{directive}\n```\n"
        pages[f"python/{name.rpartition('.')[2]}.md"] = page
    return pages


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
