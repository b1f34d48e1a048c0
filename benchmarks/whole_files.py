"""Read every Fortran file below some folders whole, change it, and say what is not understood.

    python benchmarks/whole_files.py FOLDER... [--edits 3] [--every 1] [--preprocess="-DNAME ..."]
        [--compile "gfortran -fsyntax-only -fopenmp"] [--provable]

For each file: its tree, with its names linked, is printed without a change and has to be the file,
byte for byte. Then one statement at a time, chosen at random, is exchanged for another, and the
text has to differ there alone; and it is put under a condition, which has to add two lines and
change none. The text after each of these is read again and has to be the tree that was meant.

A pair of directives is inserted around every counted loop at once, whether its iterations are
provably independent or not and whether it shares lines with other statements or not. Read again,
each pair has to enclose its loop, and the text without these lines has to be the file: a line that
was split is compared without blanks. With `--compile`, a file that the command accepts has to be
accepted with its directives, too.

With `--provable`, `omp parallel do` is applied to each loop alone whose iterations are provably
independent, with the modules in the folders. Only the lines of the directive may be new, and a line
that was split is compared without blanks.

At the end stand the share of executable statements that are opaque, and what they are. The exit
status is 1 if any of this failed.
"""

from __future__ import annotations

import argparse
import random
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from psyclone_storage.base.source import SourceText
from psyclone_storage.ir.directive import Directive, RegionOptions
from psyclone_storage.ir.expr import Name
from psyclone_storage.ir.rewrite import rewritten, walk_lines
from psyclone_storage.ir.routine import Routine, SourceFile
from psyclone_storage.ir.unit import (
    Blank,
    Branch,
    Call,
    Comment,
    Conditional,
    Continue,
    DirectiveLine,
    Do,
    Format,
    If,
    Label,
    Line,
    Opaque,
)
from psyclone_storage.languages.fortran.parse.linked_files import link_file
from psyclone_storage.languages.fortran.parse.statements import scan
from psyclone_storage.languages.fortran.parse.syntax_tree import read_file
from psyclone_storage.languages.fortran.print.edit_script import emit_changed, node_extent
from psyclone_storage.languages.sources.kernel_search import index_directories
from psyclone_storage.languages.sources.module_finder import ModuleFinder
from psyclone_storage.transform.file_bench import FileBench
from psyclone_storage.transform.file_blocks import AddDirective

_WORD = re.compile(r"\w+|.")
_NOT_EXECUTABLE = Blank | Comment | DirectiveLine | Label | Format | Conditional
_NEW = Call(Name("exchanged"))
_TEXT = "call exchanged()"
_BEGIN, _END = "omp critical (around_{})", "omp end critical (around_{})"
_INSERTED = re.compile(r"[ \t]*!\$omp (?:end )?critical \(around_\d+\)\r?")
_PARALLEL_DO = re.compile(r"[ \t]*[!c]\$omp\b.*", re.DOTALL | re.IGNORECASE)
_COUNTED = re.compile(r"(?:\w+\s*:\s*)?do\s*(?:\d+\s*,?\s*)?[a-z]\w*\s*=", re.IGNORECASE)
_JOINTS = re.compile(r"[\s;&]+")
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
    loops: int = 0
    enclosed: int = 0
    sharing: int = 0
    rewritten: int = 0
    provable: int = 0
    refused: int = 0
    compiled: int = 0
    slowest: tuple[float, str] = (0.0, "")
    seconds: float = 0.0


def _read(source: SourceText) -> SourceFile:
    """Return all of a file with the names in it linked, those of other files unresolved."""
    return link_file(read_file(source), _NO_MODULES)


def main() -> int:
    """Check the files of the command line; return the exit status."""
    options = _options()
    tally = Tally()
    index = index_directories(tuple(options.folders), by_content=True)
    for folder in options.folders:
        found = sorted(path for path in folder.rglob("*.[fF]90") if path.is_file())
        for path in found[:: options.every]:
            _check(path, options, tally)
            if options.provable:
                share_each(_source(path, options), ModuleFinder(index), tally)
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
    parser.add_argument("--compile", default="", help="command that has to accept what it did")
    parser.add_argument(
        "--provable", action="store_true", help="share each independent loop, one at a time"
    )
    return parser.parse_args()


def _source(path: Path, options: argparse.Namespace) -> SourceText:
    text = path.read_bytes().decode("utf-8", errors="surrogateescape")
    if options.preprocess is not None:
        text = _preprocessed(path, options.preprocess.split()) or text
    return SourceText(str(path), text)


def _check(path: Path, options: argparse.Namespace, tally: Tally) -> None:
    source = _source(path, options)
    text = source.text
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
    _direct(tree, path, options.compile.split(), tally)


def _preprocessed(path: Path, options: list[str]) -> str:
    command = ["cpp", "-P", "-traditional-cpp", "-undef", *options, str(path)]
    done = subprocess.run(command, capture_output=True, check=False)
    return done.stdout.decode("utf-8", errors="surrogateescape")


def _is_other(found: SourceFile, meant: SourceFile) -> bool:
    """Return whether two trees differ, but for the places in their modules."""
    module = next(iter(meant.every_unit())).module
    first, second = (
        one.changed(lambda unit: replace(unit, module=module)) for one in (found, meant)
    )
    return first != second


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
            if not isinstance(line, _NOT_EXECUTABLE) and node_extent(line) is not None:
                yield line


def _exchange(tree: SourceFile, chosen: Line) -> str:
    """Return what is wrong with the text in which `chosen` is another statement, or nothing."""
    changed = _with_exchange(tree, chosen, _NEW)
    text, place = tree.source.text, node_extent(chosen)
    assert place is not None
    new = emit_changed(tree, changed)
    where = f"line {tree.source.line_of(place.start)}"
    if new != text[: place.start] + _TEXT + text[place.stop :]:
        return f"{where}: more than one statement has changed"
    if _is_other(_read(SourceText(tree.source.name, new)), changed):
        return f"{where}: the changed text is read as something else"
    return ""


def _enclose(tree: SourceFile, chosen: Line) -> str:
    """Return what is wrong with the text in which `chosen` is under a condition, or nothing.

    A statement that shares its lines with others, or continues one, is not looked at.
    """
    text, place = tree.source.text, node_extent(chosen)
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
    if _is_other(_read(SourceText(tree.source.name, new)), changed):
        return f"{where}: what is under a condition is read as something else"
    return ""


# ---------------------------------------------------------------------------- directives


def _direct(tree: SourceFile, path: Path, compiler: list[str], tally: Tally) -> None:
    """Insert directives around all loops of a file, and note what is wrong with the text."""
    loops = counted_loops(tree)
    tally.loops += sum(1 for one in scan(tree.source) if _COUNTED.match(one.text))
    tally.enclosed += len(loops)
    tally.sharing += sum(1 for loop in loops if shares_lines(tree, loop))
    tally.rewritten += has_shared_ends(loops)
    if not loops:
        return
    changed = with_directives(tree, loops)
    text = emit_changed(tree, changed)
    problems = difference(tree, changed, text)
    if compiler and _is_accepted(compiler, path.suffix, tree.source.text):
        tally.compiled += 1
        if not _is_accepted(compiler, path.suffix, text):
            problems = (*problems, "the compiler does not accept the directives")
    tally.problems += [f"{path}: {problem}" for problem in problems]


def counted_loops(tree: SourceFile) -> list[Do]:
    """Return the counted loops of a file in the order of their text."""
    lines = (line for unit in tree.every_unit() for line in walk_lines(unit.body))
    return [line for line in lines if isinstance(line, Do)]


def has_shared_ends(loops: list[Do]) -> bool:
    """Return whether two loops end with the same labelled statement, and must be rewritten."""
    ends = [loop.extent.stop for loop in loops if loop.extent is not None]
    return len(set(ends)) < len(ends)


def shares_lines(tree: SourceFile, loop: Do) -> bool:
    """Return whether other statements are on the first or the last line of a loop."""
    text, place = tree.source.text, loop.extent
    assert place is not None
    head = text.rfind("\n", 0, place.start) + 1
    end = text.find("\n", place.stop)
    rest = text[place.stop : len(text) if end < 0 else end].partition("!")[0]
    return bool(text[head : place.start].strip() or rest.strip())


def with_directives(tree: SourceFile, loops: list[Do]) -> SourceFile:
    """Return a file with a pair of directives of their own around each of some loops."""
    numbers = {loop.extent and (loop.extent.start, loop.extent.stop): at
               for at, loop in enumerate(loops)}  # fmt: skip

    def change(line: Line) -> tuple[Line, ...]:
        place = line.extent if isinstance(line, Do) else None
        at = None if place is None else numbers.get((place.start, place.stop))
        if at is None:
            return (line,)
        return (DirectiveLine(_BEGIN.format(at)), line, DirectiveLine(_END.format(at)))

    return tree.changed(lambda unit: replace(unit, body=rewritten(unit.body, change)))


def difference(tree: SourceFile, changed: SourceFile, text: str) -> tuple[str, ...]:
    """Return what is wrong with `text`, which is to be `tree` with the directives of `changed`."""
    found: list[str] = []
    if _plain(_read(SourceText(tree.source.name, text))) != _plain(changed):
        found.append("directives are not read around their loops, or something else has changed")
    if not has_shared_ends(counted_loops(tree)) and (
        line := _first_changed(tree.source.text, text)
    ):
        found.append(f"line {line} is changed by directives")
    return tuple(found)


# ---------------------------------------------------------------------------- provable loops


def share_each(source: SourceText, finder: ModuleFinder, tally: Tally) -> None:
    """Share each provable loop of a file alone, and note what else has changed."""
    options = RegionOptions(sums=True)
    try:
        bench = FileBench(link_file(read_file(source), finder.within(source)))
        bench.derive()
        for key in bench.routines:
            for loop in bench.loops(key):
                if not bench.verdict(key, loop.uid).is_independent:
                    continue
                step = AddDirective(
                    key, loop.uid, directive=Directive.OMP_PARALLEL_DO, options=options
                )
                if bench.check(step):
                    tally.refused += 1
                    continue
                tally.provable += 1
                bench.apply(step)
                text = emit_changed(*bench.changed_file())
                bench.undo()
                if line := other_change(source.text, text):
                    where = f"{key}, {loop.uid}"
                    tally.problems.append(f"{source.name}: line {line} changed by sharing {where}")
    except Exception as failure:  # noqa: BLE001
        tally.problems.append(f"{source.name}: {type(failure).__name__}: {failure}")


def other_change(before: str, after: str) -> int:
    """Return the first line that differs by more than `omp parallel do` around it, 0 if none.

    The result is -1 if the directive is missing, or lines follow the last one. Other statements in
    the lines of the loop get lines of their own.
    """
    new = after.splitlines(keepends=True)
    at = directives = 0
    for number, line in enumerate(before.splitlines(keepends=True), 1):
        text = ""
        while text != line and (not text or _unjoined(text) != _unjoined(line)):
            if at == len(new) or not _unjoined(line).startswith(_unjoined(text)):
                return number
            if new[at] != line and _PARALLEL_DO.fullmatch(new[at]):
                directives += 1
            else:
                text += new[at]
            at += 1
    rest = [line for line in new[at:] if not _PARALLEL_DO.fullmatch(line)]
    return -1 if rest or directives + len(new) - at < 2 else 0


def _plain(tree: SourceFile) -> SourceFile:
    """Return a file without comments, whose order with directives is free, and labelled places.

    The surroundings of units are left out, because they contain places in the text.
    """
    nowhere = Routine("").module

    def change(line: Line) -> tuple[Line, ...]:
        if isinstance(line, DirectiveLine):
            return (DirectiveLine(line.text),)
        return () if isinstance(line, Comment | Blank | Continue) else (line,)

    return tree.changed(
        lambda unit: replace(unit, body=rewritten(unit.body, change), module=nowhere)
    )


def _first_changed(before: str, after: str) -> int:
    """Return the first line of `before` that `after` changes more than by a split, 0 if none."""
    rest: list[tuple[str, bool]] = []
    split = False
    for line in after.split("\n"):
        if _INSERTED.fullmatch(line):
            split = True
        else:
            rest.append((line, split))
            split = False
    at = 0
    for number, line in enumerate(before.split("\n"), 1):
        found = rest[at][0] if at < len(rest) else ""
        at += 1
        while found != line and _unjoined(found) != _unjoined(line):
            if at == len(rest) or not rest[at][1]:
                return number
            found = found.rstrip().removesuffix(" continue") + rest[at][0]
            at += 1
    return 0 if at >= len(rest) or not "".join(line for line, _ in rest[at:]).strip() else -1


def _unjoined(line: str) -> str:
    return _JOINTS.sub("", line)


def _is_accepted(compiler: list[str], suffix: str, text: str) -> bool:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"text{suffix}"
        path.write_bytes(text.encode("utf-8", errors="surrogateescape"))
        done = subprocess.run([*compiler, path.name], cwd=folder, capture_output=True, check=False)
    return done.returncode == 0


# ---------------------------------------------------------------------------- statements


def _with_exchange(tree: SourceFile, chosen: Line, new: Line) -> SourceFile:
    """Return the file with `new` in the place of `chosen`, which is that very statement."""
    place = node_extent(chosen)

    def change(line: Line) -> tuple[Line, ...]:
        same = type(line) is type(chosen) and node_extent(line) == place
        return (new if same else line,)

    def change_unit(unit: Routine) -> Routine:
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
    print(f"{tally.enclosed} of {tally.loops} counted loops enclosed in directives,")
    print(f"{tally.sharing} of which share lines with others; {tally.rewritten} files have loops")
    print(f"that end with one statement; {tally.compiled} files compiled with and without")
    print(f"{tally.provable} provable loops shared, one at a time; {tally.refused} refused")
    print(f"{opaque} of {tally.statements} executable statements are opaque: {share:.2f} %")
    for kind, count in tally.opaque.most_common(40):
        print(f"  {count:6} {kind:20} {tally.examples[kind]}")
    for problem in tally.problems:
        print(f"problem: {problem}", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
