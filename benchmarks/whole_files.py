"""Read every Fortran file below some folders whole, change it, and say what is not understood.

    python benchmarks/whole_files.py FOLDER... [--edits 3] [--every 1] [--preprocess="-DNAME ..."]

For each file: its tree, with its names linked, is printed without a change and has to be the file,
byte for byte. Then one statement at a time, chosen at random, is exchanged for another, and the
text has to differ there alone; and it is put under a condition, which has to add two lines and
change none. The text after each of these is read again and has to be the tree that was meant. At
the end stand the share of executable statements that are opaque, and what they are. The exit status
is 1 if any of this failed.
"""

from __future__ import annotations

import argparse
import random
import re
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from psyclone_storage.backend.fortran.edited import emit_changed, extent_of
from psyclone_storage.base.source import SourceText
from psyclone_storage.frontend.finder import ModuleFinder
from psyclone_storage.frontend.fortran.linked_files import link_file
from psyclone_storage.frontend.fortran.program_units import read_file
from psyclone_storage.frontend.fortran.statements import scan
from psyclone_storage.frontend.search import index_directories
from psyclone_storage.ir.expr import Name
from psyclone_storage.ir.program_units import ProgramUnit, SourceFile
from psyclone_storage.ir.rewrite import rewritten, walk_lines
from psyclone_storage.ir.unit import (
    Blank,
    Branch,
    Call,
    Comment,
    Conditional,
    DirectiveLine,
    Format,
    If,
    Label,
    Line,
    Opaque,
)

_WORD = re.compile(r"\w+|.")
_NOT_EXECUTABLE = Blank | Comment | DirectiveLine | Label | Format | Conditional
_NEW = Call(Name("exchanged"))
_TEXT = "call exchanged()"
_NO_MODULES = ModuleFinder(index_directories(()))


@dataclass(slots=True)
class Tally:
    """What was found in all files."""

    files: int = 0
    lines: int = 0
    statements: int = 0
    opaque: Counter[str] = field(default_factory=Counter)
    examples: dict[str, str] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    edits: int = 0
    slowest: tuple[float, str] = (0.0, "")
    seconds: float = 0.0


def _read(source: SourceText) -> SourceFile:
    """Return all of a file with the names in it linked, those of other files unresolved."""
    return link_file(read_file(source), _NO_MODULES)


def main() -> int:
    """Check the files of the command line; return the exit status."""
    options = _options()
    tally = Tally()
    for folder in options.folders:
        found = sorted(path for path in folder.rglob("*.[fF]90") if path.is_file())
        for path in found[:: options.every]:
            _check(path, options, tally)
    _report(tally)
    return 1 if tally.problems else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--edits", type=int, default=3, help="exchanges to try in each file")
    parser.add_argument("--every", type=int, default=1, help="look at each n-th file alone")
    parser.add_argument(
        "--preprocess", nargs="?", const="", help="run 'cpp -P' first, with these options"
    )
    return parser.parse_args()


def _check(path: Path, options: argparse.Namespace, tally: Tally) -> None:
    text = path.read_bytes().decode("utf-8", errors="surrogateescape")
    if options.preprocess is not None:
        text = _preprocessed(path, options.preprocess.split()) or text
    source = SourceText(str(path), text)
    started = time.perf_counter()
    try:
        tree = _read(source)
    except Exception as failure:  # noqa: BLE001
        tally.problems.append(f"{path}: {type(failure).__name__}: {failure}")
        return
    taken = time.perf_counter() - started
    tally.files += 1
    tally.lines += text.count("\n")
    tally.seconds += taken
    tally.slowest = max(tally.slowest, (taken, str(path)))
    _count(tree, str(path), tally)
    if emit_changed(tree, tree) != text or emit_changed(tree, _copied(tree)) != text:
        tally.problems.append(f"{path}: printed otherwise, though nothing was changed")
    chosen = random.Random(str(path))
    candidates = list(_actions(tree))
    for line in chosen.sample(candidates, min(options.edits, len(candidates))):
        tally.edits += 1
        for problem in filter(None, (_exchange(tree, line), _enclose(tree, line))):
            tally.problems.append(f"{path}: {problem}")


def _preprocessed(path: Path, options: list[str]) -> str:
    command = ["cpp", "-P", "-traditional-cpp", "-undef", *options, str(path)]
    done = subprocess.run(command, capture_output=True, check=False)
    return done.stdout.decode("utf-8", errors="surrogateescape")


def _copied(tree: SourceFile) -> SourceFile:
    """Return an equal tree of which no unit is the same object."""
    return tree.changed(replace)


def _count(tree: SourceFile, name: str, tally: Tally) -> None:
    for unit in tree.every_unit():
        for line in walk_lines(unit.body):
            if isinstance(line, Opaque):
                inside = list(scan(SourceText("", line.text)))
                tally.statements += len(inside)
                found = _WORD.match(inside[0].text) if inside else None
                kind = found.group().lower() if found else ""
                tally.opaque[kind] += len(inside)
                place = line.place
                where = "" if place is None else f"{name}:{place.source.line_of(place.start)}"
                tally.examples.setdefault(kind, f"{where}: {line.text[:100]!r}")
            elif not isinstance(line, _NOT_EXECUTABLE):
                tally.statements += 1


def _actions(tree: SourceFile) -> Iterator[Line]:
    for unit in tree.every_unit():
        for line in walk_lines(unit.body):
            if not isinstance(line, _NOT_EXECUTABLE) and extent_of(line) is not None:
                yield line


def _exchange(tree: SourceFile, chosen: Line) -> str:
    """Return what is wrong with the text in which `chosen` is another statement, or nothing."""
    changed = _with_exchange(tree, chosen, _NEW)
    text, place = tree.source.text, extent_of(chosen)
    assert place is not None
    new = emit_changed(tree, changed)
    where = f"line {tree.source.line_of(place.start)}"
    if new != text[: place.start] + _TEXT + text[place.stop :]:
        return f"{where}: more than one statement has changed"
    if _read(SourceText(tree.source.name, new)) != changed:
        return f"{where}: the changed text is read as something else"
    return ""


def _enclose(tree: SourceFile, chosen: Line) -> str:
    """Return what is wrong with the text in which `chosen` is under a condition, or nothing.

    A statement that shares its lines with others, or continues one, is not looked at.
    """
    text, place = tree.source.text, extent_of(chosen)
    assert place is not None
    head = text.rfind("\n", 0, place.start) + 1
    end = text.find("\n", place.stop)
    end = len(text) if end < 0 else end
    shares = text[head : place.start].strip() or text[place.stop : end].strip()
    if shares or text[:head].rstrip().endswith("&"):
        return ""
    changed = _with_exchange(tree, chosen, If((Branch(Name("exchanged"), (chosen,)),)))
    new = emit_changed(tree, changed)
    where = f"line {tree.source.line_of(place.start)}"
    newline = "\r\n" if "\r\n" in text else "\n"
    blanks = " " * (place.start - head)
    lines = (f"{blanks}if (exchanged) then", text[head : place.stop], f"{blanks}end if")
    if new != text[:head] + newline.join(lines) + text[place.stop :]:
        return f"{where}: a condition around it has changed more than it added"
    if _read(SourceText(tree.source.name, new)) != changed:
        return f"{where}: what is under a condition is read as something else"
    return ""


def _with_exchange(tree: SourceFile, chosen: Line, new: Line) -> SourceFile:
    """Return the file with `new` in the place of `chosen`, which is that very statement."""
    place = extent_of(chosen)

    def change(line: Line) -> tuple[Line, ...]:
        same = type(line) is type(chosen) and extent_of(line) == place
        return (new if same else line,)

    def change_unit(unit: ProgramUnit) -> ProgramUnit:
        if not any(line is chosen for line in walk_lines(unit.body)):
            return unit
        return replace(unit, body=rewritten(unit.body, change))

    return tree.changed(change_unit)


def _report(tally: Tally) -> None:
    opaque = sum(tally.opaque.values())
    share = 100.0 * opaque / max(tally.statements, 1)
    print(f"{tally.files} files of {tally.lines} lines, {tally.seconds:.1f} s to read them,")
    print(f"the slowest {tally.slowest[0]:.2f} s ({tally.slowest[1]})")
    print(f"{tally.edits} statements exchanged, one at a time; {len(tally.problems)} problems")
    print(f"{opaque} of {tally.statements} executable statements are opaque: {share:.2f} %")
    for kind, count in tally.opaque.most_common(40):
        print(f"  {count:6} {kind:20} {tally.examples[kind]}")
    for problem in tally.problems:
        print(f"problem: {problem}", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
