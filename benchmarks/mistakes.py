"""What a message says about a mistake: this compiler beside PSyclone, on mistakes that people make.

    python benchmarks/mistakes.py [--second] [NAME ...]

Each case of `mistakes/cases.toml` is one edit of the algorithm, the kernels or the script in
`mistakes/project`, and has the place of the mistake. `--second` takes the cases of
`mistakes/second.toml`, some of which edit projects of GOcean or Python. A case scores one point for
the place, which is file, line and column, and one for the fix, both in one message.

For both compilers the table tells whether the message names the file, the line and the column, and
whether it has a fix: for ours, that is a word that the hint must have; for PSyclone any phrase of
advice counts, so that the comparison errs in its favour. `none` means that the command ended
without a message, and with status 0. PSyclone is run in a process of its own for each case, which
has imported it already.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent / "mistakes"
FIRST, SECOND = "cases.toml", "second.toml"
PROJECTS = {
    "project": "-api lfric -d kernels -oalg alg.f90 -opsy psy.f90 step_alg_mod.x90",
    "gocean": "-api gocean -d kernels -oalg alg.f90 -opsy psy.f90 decay_alg.x90",
    "python": "-api gocean -d kernels -oalg alg.py -opsy psy.py decay_alg.py",
}
"""The folders that are edited, and the command line for each."""
MARK = "¦"
Case = Mapping[str, Any]
ADVICE = re.compile(
    r"expect|should|must|one of|did you mean|available|supported|are:|instead|use the|check|try ",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Mistake:
    """A mistake in a copy of the project: its place, and what a message has to advise."""

    name: str
    file: str
    line: int
    column: int
    cures: tuple[str, ...]
    words: tuple[str, ...]


@dataclass(frozen=True)
class Verdict:
    """What a message names of a mistake, and the message."""

    file: bool = False
    line: bool = False
    column: bool = False
    cure: bool = False
    text: str = ""
    silent: bool = False

    @property
    def is_whole(self) -> bool:
        """Whether nothing is missing."""
        return self.file and self.line and self.column and self.cure

    @property
    def score(self) -> int:
        """One point for the place, and one for the cure."""
        return self.column + self.cure

    def __str__(self) -> str:
        if self.silent:
            return "none"
        told = {"file": self.file, "line": self.line, "column": self.column, "cure": self.cure}
        return " ".join(name if told[name] else "-" * len(name) for name in told)


def cases(file: str = FIRST) -> Mapping[str, Case]:
    """Return all cases of a file by name."""
    return tomllib.loads((HERE / file).read_text(encoding="utf-8"))


def make(folder: Path, name: str, case: Case) -> Mistake:
    """Copy the project to `folder`, make the mistake in it, and return where it is.

    Raises:
        ValueError: the edit, or the place, is not in the file, or is there twice.
    """
    project = case.get("project", "project")
    shutil.copytree(HERE / project, folder, dirs_exist_ok=True)
    file = folder / case["file"]
    marked = file.read_text(encoding="utf-8")
    for old, new in ((case["old"], case["new"]), *case.get("more", ())):
        if marked.count(old) != 1:
            raise ValueError(f"'{name}' edits what is not in {case['file']} exactly once.")
        marked = marked.replace(old, new)
    edited = marked.replace(MARK, "")
    wanted = case.get("place", "")
    start, offset = (edited.find(wanted.replace(MARK, "")), 0) if wanted else (marked.find(MARK), 0)
    offset = max(wanted.find(MARK), 0)
    if start < 0:
        raise ValueError(f"'{name}' has a place that is not there.")
    place = start + offset
    line = edited.count("\n", 0, place) + 1
    file.write_text(edited, encoding="utf-8")
    words = (*PROJECTS[project].split(), *(("-s", "optimise.py") if case.get("script") else ()))
    column = place - (edited.rfind("\n", 0, place) + 1) + 1
    cures = case["cure"] if isinstance(case["cure"], list) else [case["cure"]]
    return Mistake(name, case["file"], line, column, tuple(cures), words)


def ours(folder: Path, mistake: Mistake) -> Verdict:
    """Return what our message names."""
    done = subprocess.run(
        [sys.executable, "-m", "psyclone_storage", *mistake.words, "--diagnostics", "json"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    problems = json.loads(done.stderr)
    return judged(problems, mistake) if problems else Verdict(silent=True)


def judged(problems: list[Mapping[str, Any]], mistake: Mistake) -> Verdict:
    """Return what the best of our messages names of a mistake."""

    def verdict(one: Mapping[str, Any]) -> Verdict:
        places = [one, *one.get("related", ())]
        files = [place for place in places if place.get("file") == mistake.file]
        lines = [place for place in files if place.get("line") == mistake.line]
        columns = [place for place in lines if place.get("column") == mistake.column]
        text = f"{one['message']} {one['hint']} @{places[0].get('line')}:{places[0].get('column')}"
        cure = any(one_cure in one["hint"] for one_cure in mistake.cures)
        return Verdict(bool(files), bool(lines), bool(columns), cure, text)

    found = [verdict(one) for one in problems]
    return max(found, key=lambda item: (item.score, item.file + item.line))


def peers(folder: Path, mistake: Mistake) -> Verdict:
    """Return what PSyclone's message names, or that it says nothing."""
    out = folder / "peer.txt"
    context = multiprocessing.get_context("fork")
    process = context.Process(target=_run_peer, args=(folder, mistake, out))
    process.start()
    process.join(120)
    text = out.read_text(encoding="utf-8") if out.exists() else ""
    if process.exitcode == 0:
        return Verdict(silent=True, text=text)
    file = Path(mistake.file).name in text or Path(mistake.file).stem in text
    line = bool(re.search(rf"(?:line |:|^|\D){mistake.line}(?:\D|$)", _numbers(text)))
    column = bool(re.search(rf"column {mistake.column}\b|:{mistake.line}:{mistake.column}\b", text))
    return Verdict(file, line, column, bool(ADVICE.search(text)), text)


def _numbers(text: str) -> str:
    """Return what of a message may name a line."""
    return " ".join(re.findall(r"(?:line|lines|at|:)\s*\d+", text))


def _run_peer(folder: Path, mistake: Mistake, out: Path) -> None:
    os.chdir(folder)
    with out.open("w", encoding="utf-8") as stream:
        os.dup2(stream.fileno(), 1)
        os.dup2(stream.fileno(), 2)
        from psyclone.generator import main as generate  # noqa: PLC0415

        generate(list(mistake.words))


def rows(names: list[str], file: str) -> Iterator[tuple[str, Verdict, Verdict]]:
    """Yield each case of a file with both verdicts."""
    import psyclone.generator  # noqa: F401, PLC0415

    known = cases(file)
    for name in names or known:
        with tempfile.TemporaryDirectory() as folder:
            mistake = make(Path(folder), name, known[name])
            yield name, ours(Path(folder), mistake), peers(Path(folder), mistake)


def main(words: list[str]) -> int:
    """Print the table; return 1 if one of our messages lacks something."""
    names = [one for one in words if one != "--second"]
    counts, points = [0, 0, 0], [0, 0]
    print(f"{'mistake':<38} {'ours':<24} PSyclone")
    for name, our, their in rows(names, SECOND if "--second" in words else FIRST):
        counts = [counts[0] + 1, counts[1] + our.is_whole, counts[2] + their.is_whole]
        points = [points[0] + our.score, points[1] + their.score]
        print(f"{name.replace('_', ' '):<38} {our!s:<24} {their}", flush=True)
        if names or not our.is_whole:
            print(f"    {our.text}")
        if names:
            print(f"    {their.text}")
    print(f"{counts[0]} mistakes; all four named: ours {counts[1]}, PSyclone {counts[2]}")
    print(f"points for place and fix, of {2 * counts[0]}: ours {points[0]}, PSyclone {points[1]}")
    return counts[0] != counts[1]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
