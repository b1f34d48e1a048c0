"""The code blocks of the README, the tutorial, the guide and the reference run, links are valid,
and generated parts are up to date.

The words after the language of a fenced `python` or `console` block define how it is tested: `run`
executes it, and `show` only displays it. `needs=PROGRAM` skips a block if the program is missing;
the page is then reported as skipped after its other blocks have run. With `file=NAME`, a block of
any language is written to that file. A page runs in its own directory, which contains a copy of
`examples/` and, for reading, `external/`; its blocks run in order.

In a `console` block, lines that begin with `$ ` are commands, followed by their output, in which
`...` matches anything. A command without output below it must succeed and print nothing. Outputs
are generated: `--update-golden` writes them.
"""

from __future__ import annotations

import doctest
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from libraries import GOCEAN_OF_EXAMPLE, LFRIC_OF_EXAMPLES, Library, copy_library

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = [
    ROOT / "README.md",
    *sorted(
        page
        for folder in ("tutorial", "guide", "reference")
        for page in DOCS.glob(f"{folder}/**/*.md")
    ),
]
LINKED = [
    *sorted(DOCS.rglob("*.md")),
    *sorted(ROOT.glob("*.md")),
    *sorted((ROOT / "examples").rglob("*.md")),
]
BASIN = "examples/gocean/shallow_water"
LIBRARIES = {
    "examples/lfric/advection/run --ranks 2": (
        "examples/lfric/advection/build/library",
        LFRIC_OF_EXAMPLES,
    ),
    f"{BASIN}/run serial": (f"{BASIN}/serial/serial", GOCEAN_OF_EXAMPLE["serial", "none"]),
    f"{BASIN}/run device": (f"{BASIN}/device/serial", GOCEAN_OF_EXAMPLE["serial", "none"]),
}
"""Commands of pages, and the library that each builds: it finds it built, as a second call does."""
TIMEOUT = 300

FENCE = re.compile(r"^```(?P<info>[^\n`]*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"`[^`\n]*`")
LINK = re.compile(r"\[[^\]]*\]\((?P<target>[^)\s]+)\)")
HEADING = re.compile(r"^#+ (?P<title>.+)$", re.MULTILINE)


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, the words behind it, its text and its line in the page."""

    language: str
    words: tuple[str, ...]
    text: str
    line: int

    @property
    def file(self) -> str:
        """The name behind `file=`, or an empty text."""
        return next((word[5:] for word in self.words if word.startswith("file=")), "")

    @property
    def lacking(self) -> list[str]:
        """The programs behind `needs=` that are not there."""
        needed = [word[6:] for word in self.words if word.startswith("needs=")]
        return [program for program in needed if shutil.which(program) is None]


@dataclass(frozen=True)
class Run:
    """A command of a block: its expected and its actual output, and its exit status.

    Of a Python block only the exit status counts, so it expects no particular output (None).
    """

    command: str
    expected: str | None
    printed: str
    status: int

    @property
    def is_right(self) -> bool:
        """Whether the command printed the expected output, and succeeded if that is nothing."""
        if self.expected is None:
            return self.status == 0
        if not self.expected.strip():
            return self.status == 0 and not self.printed.strip()
        flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
        return doctest.OutputChecker().check_output(self.expected, self.printed, flags)

    @property
    def rewritten(self) -> str:
        """The output for the page; a command that should print nothing still fails if it fails."""
        expected = self.expected or ""
        is_failure = not expected.strip() and self.status != 0
        is_kept = is_failure or ("..." in expected and self.is_right)
        return expected if is_kept else self.printed


def blocks_of(text: str) -> list[Block]:
    return [block_of(fence) for fence in FENCE.finditer(text)]


def block_of(fence: re.Match[str]) -> Block:
    language, *words = fence["info"].split() or [""]
    line = fence.string.count("\n", 0, fence.start()) + 1
    return Block(language, tuple(words), fence["text"], line)


def undecided(blocks: list[Block]) -> list[int]:
    """Return the lines of the blocks of code that neither run nor say that they do not."""
    return [
        block.line
        for block in blocks
        if block.language in {"python", "console"}
        and not block.file
        and not {"run", "show"} & set(block.words)
    ]


def make_folder(directory: Path) -> None:
    """Make the directory of a page: with a copy of the examples, and what they link with."""
    builds = shutil.ignore_patterns("build")
    shutil.copytree(ROOT / "examples", directory / "examples", ignore=builds)
    (directory / "external").symlink_to(ROOT / "external")


def put_libraries(text: str, directory: Path, built: Callable[[Library], Path]) -> None:
    """Put the libraries of examples that a page runs to where their scripts build them."""
    commands = "".join(block.text for block in blocks_of(text) if not block.lacking)
    for command, (place, library) in LIBRARIES.items():
        if f"{command} " in commands:
            copy_library(built(library), directory / place)


def run_page(text: str, directory: Path) -> None:
    """Run the blocks of a page in `directory`; an `AssertionError` names the line that fails."""
    for block in blocks_of(text):
        for run in run_block(block, directory):
            assert run.is_right, f"line {block.line}: {run.command}\n{run.printed}"


def rewrite_page(text: str, directory: Path) -> str:
    """Run the blocks of a page in `directory`; return it with what the commands print now."""

    def rewritten(fence: re.Match[str]) -> str:
        block = block_of(fence)
        runs = run_block(block, directory)
        if block.language != "console" or not runs:
            return fence[0]
        texts = (f"$ {run.command}\n{run.rewritten}" for run in runs)
        return f"```{fence['info']}\n{''.join(texts)}```"

    return FENCE.sub(rewritten, text)


def run_block(block: Block, directory: Path) -> list[Run]:
    """Do in `directory` what a block asks for: write its file, or run it."""
    directory.mkdir(parents=True, exist_ok=True)
    if block.lacking:
        return []
    if block.file:
        (directory / block.file).parent.mkdir(parents=True, exist_ok=True)
        (directory / block.file).write_text(block.text, encoding="utf-8")
    elif "run" in block.words and block.language == "python":
        return [run_command([sys.executable, "-c", block.text], None, directory)]
    elif "run" in block.words and block.language == "console":
        return [
            run_command(["bash", "-ec", command], output, directory)
            for command, output in commands_of(block.text)
        ]
    return []


def commands_of(text: str) -> list[tuple[str, str]]:
    """Return each command behind `$ ` with the output that is written below it."""
    first, *parts = re.split(r"^\$ ", text, flags=re.MULTILINE)
    assert not first.strip(), f"a console block starts with '$ ', not {first!r}"
    commands = []
    for part in parts:
        command, _, output = part.partition("\n")
        while command.endswith("\\"):
            more, _, output = output.partition("\n")
            command = f"{command}\n{more}"
        commands.append((command, output))
    return commands


def run_command(command: list[str], expected: str | None, directory: Path) -> Run:
    done = subprocess.run(
        command,
        cwd=directory,
        env=without_make(os.environ) | environment(directory),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=TIMEOUT,
        check=False,
    )
    return Run(command[-1], expected, done.stdout, done.returncode)


def without_make(variables: Mapping[str, str]) -> dict[str, str]:
    """Return `variables` as a shell has them that was not started by Make."""
    own = ("MAKEFLAGS", "MAKELEVEL", "MAKEOVERRIDES", "MFLAGS")
    return {name: value for name, value in variables.items() if name not in own}


def environment(directory: Path) -> dict[str, str]:
    """Return variables under which the checkout's own commands and settings are found first."""
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    programs = directory / ".programs"
    programs.mkdir(exist_ok=True)
    for name, target in scripts["scripts"].items():
        module, function = target.split(":")
        program = programs / name
        program.write_text(
            f"#!{sys.executable}\nimport sys\nfrom {module} import {function}\n"
            f"sys.exit({function}())\n",
            encoding="utf-8",
        )
        program.chmod(0o755)
    path = [str(programs), str(Path(sys.executable).parent), os.environ["PATH"]]
    return {
        "PATH": os.pathsep.join(path),
        "PYTHONPATH": str(ROOT / "src"),
        "PSYCLONE_CONFIG": str(ROOT / "config" / "psyclone.cfg"),
    }


def links_of(page: Path) -> Iterator[tuple[str, Path, str]]:
    """Yield each relative link of `page`: its text, the file it leads to, and the heading there."""
    prose = CODE.sub("", FENCE.sub("", page.read_text(encoding="utf-8")))
    for link in LINK.finditer(prose):
        name, _, anchor = link["target"].partition("#")
        if not re.match(r"[a-z]+:", name):
            yield link["target"], (page.parent / name).resolve() if name else page, anchor


def broken_links(page: Path) -> list[str]:
    """Return the relative links of `page` to files or headings that do not exist."""
    return [
        text
        for text, target, anchor in links_of(page)
        if not target.exists() or (anchor and anchor not in anchors_of(target))
    ]


def reached_from(page: Path) -> set[Path]:
    """Return `page` and all pages that links lead to from there, directly or not."""
    reached, waiting = set(), [page]
    while waiting:
        page = waiting.pop()
        if page not in reached:
            reached.add(page)
            targets = (target for _, target, _ in links_of(page))
            waiting += [target for target in targets if target.suffix == ".md" and target.exists()]
    return reached


def anchors_of(page: Path) -> set[str]:
    """Return the anchors that a forge gives to the headings of a page."""
    titles = [match["title"] for match in HEADING.finditer(page.read_text(encoding="utf-8"))]
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def build_docs(root: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run the script that writes the generated parts of the documentation below `root`."""
    command = [sys.executable, str(root / "docs" / "build.py"), *words]
    path = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    return subprocess.run(command, env=path, capture_output=True, text=True, check=False)


def test_generated_parts_are_up_to_date() -> None:
    done = build_docs(ROOT, "--check")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_part_that_is_out_of_date_is_named_and_rewritten(tmp_path: Path) -> None:
    caches = shutil.ignore_patterns("__pycache__", ".*_cache", "build")
    for folder in ("config", "docs", "examples", "src", "tests"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=caches)
    shutil.copy2(ROOT / "CHANGELOG.md", tmp_path)
    build_docs(tmp_path)
    page = tmp_path / "docs" / "reference" / "built-ins.md"
    text = page.read_text(encoding="utf-8")
    page.write_text(text.replace("X = X + Y", "X = X - Y"), encoding="utf-8")
    done = build_docs(tmp_path, "--check")
    assert done.returncode == 1
    assert done.stdout.startswith("docs/reference/built-ins.md is out of date")
    build_docs(tmp_path)
    assert page.read_text(encoding="utf-8") == text


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_page_runs(
    page: Path,
    tmp_path: Path,
    pytestconfig: pytest.Config,
    built: Callable[[Library], Path],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if not pytestconfig.getoption("--matrix"):
        monkeypatch.setenv("PSYCLONE_STORAGE_CFLAGS", "-O1")
    text = page.read_text(encoding="utf-8")
    assert undecided(blocks_of(text)) == []
    make_folder(tmp_path / "page")
    if pytestconfig.getoption("--update-golden"):
        text = rewrite_page(text, tmp_path / "page")
        page.write_text(text, encoding="utf-8")
        shutil.rmtree(tmp_path / "page")
        make_folder(tmp_path / "page")
    put_libraries(text, tmp_path / "page", built)
    run_page(text, tmp_path / "page")
    if lacking := {program for block in blocks_of(text) for program in block.lacking}:
        reason = f"ran, but for what needs {', '.join(sorted(lacking))}"
        assert not pytestconfig.getoption("--require"), reason
        pytest.skip(reason)


@pytest.mark.parametrize("page", LINKED, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(page: Path) -> None:
    assert broken_links(page) == []


def test_libraries_are_those_of_commands_of_pages() -> None:
    commands = "".join(block.text for page in PAGES for block in blocks_of(page.read_text("utf-8")))
    assert all(f"{command} " in commands for command in LIBRARIES)


def test_every_page_can_be_reached() -> None:
    pages = {page.resolve() for page in LINKED}
    apart = {*DOCS.glob("changes/*.*.md")}
    assert pages - reached_from(ROOT / "README.md") - apart == set()


def test_a_page_is_reached_through_others(tmp_path: Path) -> None:
    first, second, third, apart = (tmp_path / f"{number}.md" for number in range(4))
    first.write_text("[a](1.md) [b](https://x.org) [c](no.md)\n")
    second.write_text("[a](2.md#one) [b](0.md)\n")
    third.write_text("# One\n")
    apart.write_text("")
    assert reached_from(first) == {first, second, third}


def test_blocks_run_in_order_in_one_directory(tmp_path: Path) -> None:
    run_page(
        "```text file=in/a.txt\nhello\n```\n"
        "```python run\nopen('b.txt', 'w').write(open('in/a.txt').read() * 2)\n```\n"
        "```console run\n$ cat b.txt\nhello\nhel...\n$ test -f b.txt \\\n  && true\n```\n",
        tmp_path,
    )


@pytest.mark.parametrize(
    "block",
    [
        "```python run\nassert False\n```\n",
        "```console run\n$ false\n```\n",
        "```console run\n$ echo one\ntwo\n```\n",
        "```console run\n$ echo one\n```\n",
        "```console run\n$ true\n$ echo one\n\n$ true\n```\n",
        "```console run\nno prompt\n```\n",
    ],
)
def test_a_block_can_fail(block: str, tmp_path: Path) -> None:
    with pytest.raises(AssertionError):
        run_page(block, tmp_path)


def test_outputs_are_rewritten_where_they_are_wrong(tmp_path: Path) -> None:
    commands = ("echo one\ntwo", "cat no-file", "echo four\nf...", "echo five", "true")
    results = ("echo one\none", "cat no-file", "echo four\nf...", "echo five\nfive", "true")
    text, expected = (
        "```console run\n" + "".join(f"$ {one}\n" for one in blocks) + "```\nmore\n"
        for blocks in (commands, results)
    )
    assert rewrite_page(text, tmp_path) == expected


def test_a_block_that_is_only_shown_does_not_run(tmp_path: Path) -> None:
    run_page("```python show\nassert False\n```\n```console show\n$ false\n```\n", tmp_path)


def test_a_block_is_left_out_where_its_program_is_missing(tmp_path: Path) -> None:
    here, nowhere = (f"```console run needs={name}\n$ false\n```\n" for name in ("sh", "no-such"))
    run_page(nowhere, tmp_path)
    assert [block.lacking for block in blocks_of(here + nowhere)] == [[], ["no-such"]]
    with pytest.raises(AssertionError):
        run_page(here, tmp_path)


def test_a_block_must_say_whether_it_runs() -> None:
    text = "```python\n```\n```console\n```\n```fortran\n```\n```python file=x\n```\n"
    assert undecided(blocks_of(text)) == [1, 3]


def test_a_broken_link_is_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "# One, two\n[a](page.md) [b](#one-two) [c](https://x.org) [d](no.md) [e](#three)\n"
        "```text\n[f](no.md)\n```\n`x[g](no.md)` [`h`](no.md)\n"
    )
    assert broken_links(page) == ["no.md", "#three", "no.md"]
