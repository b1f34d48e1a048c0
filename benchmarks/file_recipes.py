"""Run recipes over all Fortran files of folders; count directives, refused files and CPU time.

    python benchmarks/file_recipes.py RECIPE FOLDER... [-I FOLDER]... [--set NAME=VALUE,VALUE,...]
        [--every 1] [--first 0] [--only NAME]... [--write FOLDER] [--compile "gfortran ..."]
    python benchmarks/file_recipes.py RECIPE FOLDER... --peer "psyclone -l output" --every 40

RECIPE is a script, or a folder of scripts as LFRic has them: the script of a file is at the path of
the file, or is the `local.py` of its folder or the `global.py`. Each value of the environment
variable NAME is a mode, which a process of its own runs. No file has a time limit.

For each mode: the files that are accepted, each refused file with its reason, the number of
directives that the output has more than the input, and the median and the largest CPU time of a
file, start-up excluded. Lines of the input that the output does not contain are counted by their
first words; the exit status is 1 if one of them has no statement, or if a file is refused. With
`--compile`, an output has to compile if its input does.

With `--peer`, this tool and another command transform the same files one after the other, each in
new processes. The ratio of their CPU times and the numbers of loops with a directive are printed;
`--write` keeps the outputs of both, those of the command in the folder `peer`.
"""

from __future__ import annotations

import argparse
import os
import re
import resource
import shlex
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass, field, replace
from io import StringIO
from pathlib import Path
from statistics import median

from psyclone_storage.base.diagnostic import CompileError
from psyclone_storage.config.load import settings_of
from psyclone_storage.config.locate import read_settings_texts, search_context
from psyclone_storage.pipeline.files import FileRequest, FileTransformer
from psyclone_storage.pipeline.inputs import find_inputs
from psyclone_storage.pipeline.request import CompileRequest

THIS = (sys.executable, "-m", "psyclone_storage")
_DIRECTIVE = re.compile(r"^[ \t]*!\$(omp|acc)[ \t]+((?!end\b)[a-z][a-z \t]*)", re.IGNORECASE)
_CLAUSES = re.compile(r"\b(?:if|async|private|present|copy\w*|default|collapse|schedule)\b.*")
_SHARING = re.compile(r"\b(?:do|loop)\b")
_WORD = re.compile(r"\s*(?:\d+\s+)?(\w+|!|#|&|\S)")


@dataclass
class Tally:
    """What one mode did with all files; times are CPU seconds."""

    accepted: int = 0
    refused: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    times: list[tuple[float, Path]] = field(default_factory=list)
    directives: Counter[str] = field(default_factory=Counter)
    removed: Counter[str] = field(default_factory=Counter)
    compiled: int = 0


def main(argv: Sequence[str]) -> int:
    """Transform all files in each mode; return 1 if a file was refused or changed too much."""
    args = _parser().parse_args(argv)
    name, _, values = args.set.partition("=")
    if not values:
        return _one_mode(args)
    status = 0
    for value in values.split(","):
        print(f"{name}={value}", flush=True)
        words = [*argv, "--set", name]
        environment = {**os.environ, name: value}
        status |= subprocess.run([sys.executable, __file__, *words], env=environment,
                                 check=False).returncode  # fmt: skip
    return status


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("recipe", type=Path)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("-I", dest="includes", action="append", default=[], type=Path)
    parser.add_argument("--set", default="", help="a variable and its values, one for each mode")
    parser.add_argument("--every", type=int, default=1, help="take each n-th file")
    parser.add_argument("--first", type=int, default=0, help="number of the first file")
    parser.add_argument("--only", action="append", default=[], help="base name without suffix")
    parser.add_argument("--strip", action="append", default=[], choices=("omp", "acc"))
    parser.add_argument("--write", type=Path, help="folder for the outputs")
    parser.add_argument("--compile", default="", help="command that has to accept the outputs")
    parser.add_argument("--peer", default="", help="command to compare the CPU time with")
    return parser


def _one_mode(args: argparse.Namespace) -> int:
    pairs = list(_pairs(args))
    if args.peer:
        return _compared(args, pairs)
    transform = _Transform(args)
    tally = Tally()
    for path, recipe in pairs:
        _run(transform, path, recipe, args, tally)
    _report(tally, len(pairs))
    return 1 if tally.refused or tally.problems else 0


def _pairs(args: argparse.Namespace) -> Iterator[tuple[Path, Path]]:
    """Yield the chosen files, each with its recipe; files without a recipe are left out."""
    found: list[tuple[Path, Path]] = []
    for folder in args.folders:
        for path in sorted(one for one in folder.rglob("*.[fF]90") if one.is_file()):
            recipe = _recipe_of(path.relative_to(folder), args.recipe)
            if recipe is not None and (not args.only or path.stem in args.only):
                found.append((path, recipe))
    yield from found[args.first :: args.every]


def _includes(args: argparse.Namespace) -> list[Path]:
    """Return the folders of `-I`, by default all that contain Fortran files."""
    found = (one for folder in args.folders for one in folder.rglob("*.[fF]90"))
    return args.includes or sorted({one.parent for one in found})


def _recipe_of(path: Path, recipe: Path) -> Path | None:
    if recipe.is_file():
        return recipe
    own = recipe / path.with_suffix(".py")
    choices = (own, own.parent / "local.py", recipe / "global.py")
    return next((one for one in choices if one.is_file()), None)


class _Transform:
    """Transforms files; those with one recipe share the modules that were read."""

    def __init__(self, args: argparse.Namespace) -> None:
        texts = read_settings_texts("", search_context(os.environ))
        self._settings = settings_of(texts, "")
        includes = tuple(_includes(args))
        self._request = CompileRequest(directories=includes, includes=includes)
        self._stripped = tuple(args.strip)
        self._known: dict[Path, FileTransformer] = {}

    def text(self, path: Path, recipe: Path) -> str:
        """Return the file at `path` after its recipe; what the recipe prints is discarded."""
        with redirect_stdout(StringIO()):
            if recipe not in self._known:
                request = FileRequest(script=recipe, stripped=self._stripped)
                inputs = find_inputs(self._settings, self._request, by_content=True)
                inputs = replace(inputs, deep=True)
                self._known[recipe] = FileTransformer(self._settings, request, inputs)
            return self._known[recipe].transform(path).text


def _run(
    transform: _Transform, path: Path, recipe: Path, args: argparse.Namespace, tally: Tally
) -> None:
    started = time.process_time()
    try:
        made = transform.text(path, recipe)
    except CompileError as error:
        first = error.problems[0]
        line = 0 if first.span is None else first.span.line
        tally.refused.append(f"{path}:{line}: {first.code}: {first.message}")
        return
    except Exception as error:  # noqa: BLE001
        tally.refused.append(f"{path}: defect, {type(error).__name__}: {error}")
        return
    finally:
        tally.times.append((time.process_time() - started, path))
        print(f"  {tally.times[-1][0]:7.2f} s {path}", file=sys.stderr, flush=True)
    tally.accepted += 1
    before = path.read_bytes().decode("utf-8", errors="surrogateescape")
    tally.directives += _directives(made)
    tally.directives.subtract(_directives(before))
    gone = _lines(before, args.strip) - _lines(made, ())
    words = Counter[str]()
    for line, number in gone.items():
        found = _WORD.match(line)
        words[found[1].lower() if found else ""] += number
    tally.removed += words
    if lost := [line for line in gone if line.startswith(("!", "#"))]:
        tally.problems.append(f"{path}: this line is lost: {lost[0]}")
    if args.write:
        target = args.write / path.name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(made.encode("utf-8", errors="surrogateescape"))
    if args.compile and _is_accepted(args.compile, path, before):
        tally.compiled += 1
        if not _is_accepted(args.compile, path, made):
            tally.problems.append(f"{path}: the compiler does not accept the output")


def _directives(text: str) -> Counter[str]:
    found = (_DIRECTIVE.match(line) for line in text.split("\n"))
    return Counter(
        f"{one[1].lower()} {_CLAUSES.sub('', one[2].lower()).strip()}" for one in found if one
    )


def _lines(text: str, stripped: Sequence[str]) -> Counter[str]:
    """Return how often each line occurs, without blanks around it and stripped directives."""
    lines = (line.strip() for line in text.split("\n"))
    heads = tuple(f"!${one}" for one in stripped)
    return Counter(line for line in lines if line and not line.lower().startswith(heads or "\0"))


def _is_accepted(command: str, path: Path, text: str) -> bool:
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / path.name
        copy.write_bytes(text.encode("utf-8", errors="surrogateescape"))
        words = [*shlex.split(command), str(copy)]
        return subprocess.run(words, cwd=folder, capture_output=True, check=False).returncode == 0


def _report(tally: Tally, number: int) -> None:
    times = sorted(tally.times, reverse=True)
    middle = median(taken for taken, _ in times) if times else 0.0
    loops = _loops(tally.directives)
    print(f"{tally.accepted} of {number} files accepted, {loops} loops with a directive")
    print(f"CPU time: {sum(taken for taken, _ in times):.1f} s, median {middle:.3f} s; slowest:")
    for taken, path in times[:8]:
        print(f"  {taken:7.2f} s {path}")
    print("directives that were added:")
    for kind, count in tally.directives.most_common():
        if count:
            print(f"  {count:6} {kind}")
    print("lines of inputs that outputs do not contain, by first word:")
    print("  " + ", ".join(f"{word} {count}" for word, count in tally.removed.most_common(30)))
    if tally.compiled:
        print(f"{tally.compiled} inputs compile")
    for text in (*tally.refused, *tally.problems):
        print(f"problem: {text}")
    sys.stdout.flush()


# ---------------------------------------------------------------------------- a peer


def _compared(args: argparse.Namespace, pairs: Sequence[tuple[Path, Path]]) -> int:
    """Print the CPU time of this tool and of the peer for each file; return the exit status."""
    own_total = peer_total = 0.0
    own_loops = peer_loops = failed = 0
    includes = [word for one in _includes(args) for word in ("-I", str(one))]
    strip = [word for one in args.strip for word in ("--strip-directives", one)]
    with tempfile.TemporaryDirectory() as folder:
        # The first file is transformed twice: the first processes compile modules to bytecode.
        for number, (path, recipe) in enumerate((*pairs[:1], *pairs)):
            words = ["-s", str(recipe), *includes, str(path), "-o"]
            target = args.write or Path(folder)
            outputs = target / path.name, target / "peer" / path.name
            for one in outputs:
                one.parent.mkdir(parents=True, exist_ok=True)
            own, status = _taken([*THIS, "--no-cache", *strip, *words, str(outputs[0])])
            peer, refused = _taken([*shlex.split(args.peer), *words, str(outputs[1])])
            if number == 0:
                continue
            loops = [_loops_of_output(one) for one in outputs]
            failed += status != 0
            own_total += own
            peer_total += peer
            own_loops += loops[0]
            peer_loops += loops[1]
            note = " (peer failed)" if refused else ""
            print(f"  {own:7.2f} s, peer {peer:7.2f} s, {own / peer:.3f}; loops {loops[0]}, peer"
                  f" {loops[1]}: {path}{note}", flush=True)  # fmt: skip
    print(f"CPU time of {len(pairs)} files: {own_total:.1f} s, peer {peer_total:.1f} s, ratio"
          f" {own_total / max(peer_total, 1e-9):.3f}; loops with a directive {own_loops}, peer"
          f" {peer_loops}; {failed} refused")  # fmt: skip
    return 1 if failed else 0


def _loops_of_output(path: Path) -> int:
    """Return the number of loops with a directive in an output; a refused file has none."""
    if not path.is_file():
        return 0
    return _loops(_directives(path.read_bytes().decode("utf-8", errors="surrogateescape")))


def _loops(directives: Counter[str]) -> int:
    return sum(count for kind, count in directives.items() if _SHARING.search(kind))


def _taken(words: Sequence[str]) -> tuple[float, int]:
    """Run a command and return its CPU seconds and its exit status."""
    environment = {**os.environ}
    # Otherwise each process compiles the modules of the package again.
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(words, capture_output=True, env=environment, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    taken = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return taken, done.returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
