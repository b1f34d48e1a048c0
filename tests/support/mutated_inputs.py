"""Random changes of the words of inputs: never a stack trace, a hang or an internal error.

The inputs are algorithms, kernels, Python programs, scripts, settings, recipes and command lines of
the folders in `cases` and `errors`, and files without an API. As a program:

    python tests/support/mutated_inputs.py 200000 --seed 1 [--keep DIR] [--only 'without an API']

It prints a table of the results, and each class of defects once with the number of the input that
shows it; `--first NUMBER` repeats that input. A child process runs the inputs, with a limit on its
memory and on the time of each input. Another one takes its place after a number of inputs, or after
a crash.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import NamedTuple

from command import NOT_INPUT, run_words
from mutated_texts import WORDS, mutated
from psyclone_storage.base import fingerprint
from psyclone_storage.base.cache import Cache
from psyclone_storage.cli import results as cached_results
from psyclone_storage.transform.catalogue import STEPS

TESTS = Path(__file__).resolve().parents[1]
LIMIT = 60.0  # seconds, within which every input is finished
MEMORY = 4 << 30  # bytes of the address space of the process
CHUNK = 4000  # inputs of one process
SUFFIXES = {
    ".x90": "algorithm",
    ".f90": "kernel",
    ".F90": "kernel",
    ".py": "Python",
    ".cfg": "settings",
}
WORDS_OF_FORTRAN = [
    *"( ) (/ /) [ ] , : :: ; % = => + - * / // ** & ! ' \" . .and. .not. 0 1 1.0e400".split(),
    *"module subroutine end contains use only type extends procedure call invoke if do".split(),
    *"gh_field gh_real gh_read gh_write gh_inc w3 any_space_1 stencil cross cell_column".split(),
    *(
        "name",
        "3_i_def",
        "real(r_def)",
        "\n",
        "&\n",
        "\t",
        "é",
        "\0",
        "\x1b",
        "a%b%c",
        "class default",
        "#if X\n",
    ),
]
WORDS_OF_FILES = [
    *WORDS_OF_FORTRAN,
    *"interface function result integer allocatable pointer target where forall select".split(),
    *"case while cycle exit return stop goto block associate concurrent intent optional".split(),
    *"10 continue include data save common equivalence namelist implicit !$omp !$acc &".split(),
    *"else elseif endif enddo entry allocate write(*,*) print*, max sum size(a,1) a(:) i j".split(),
]
WORDS_OF_SETTINGS = [*"[ ] = # % ; : true false 0 -1 lfric gocean 8 [API] yes".split(), "\n", "é"]
WORDS_OF_SCRIPTS = [one for one in WORDS if one not in {"while", "9999999999", "1e400"}]
WORDS_OF_RECIPES = [
    *STEPS,
    *"{ } ; = , 0 1 -1 99 true false loop=1 loop=loop1 size=4 kernel=1 depth=2 invoke=0".split(),
    *"routine=a first= last= collapse=2 schedule=dynamic sums=true auto openacc '' \" é".split(),
]
WORDS_OF_COMMANDS = [
    *"-api lfric gocean -d kernels alg.x90 -oalg -opsy -okern -s -l all -dm -nodm -I -c -v".split(),
    *"--output-dir out --schedule --explain --schedule-json --dag - -- --apply colour".split(),
    *"--config-opts --diagnostics json text --colour always --warnings error --target c".split(),
    *"--loops-json --keep-comments -o out.f90 --stamp --kernel-list k.mk --dyndep d.dd".split(),
    *(
        "--check",
        "--depfile",
        "d.d",
        "--profile",
        "invokes",
        "--traceback",
        "--no-cache",
        "--report",
        "",
        "é",
    ),
    *("openmp-parallel-do; inline", "x=1", "--script-kwargs", "--help", "none.x90", "a b", "-1"),
]
POOLS = {
    "algorithm": WORDS_OF_FORTRAN,
    "kernel": WORDS_OF_FORTRAN,
    "file": WORDS_OF_FILES,
    "Python": WORDS,
    "script": WORDS_OF_SCRIPTS,
    "settings": WORDS_OF_SETTINGS,
}
RARE = ("settings", "Python")
"""Kinds of few projects, of which there are more mutations than their share."""
KINDS = {*POOLS, "command line", "recipe"}
SLOW = {"--compile", "-j", "--f90", "--report"}
"""Options that start other processes, or whose output is large."""

COMMANDS_FOR_FILES = (
    "--apply auto -o out.f90 {}",
    "--explain {}",
    "--loops-json - {}",
    "--apply 'openmp-parallel-do{{loop=1}}' -o out.f90 {}",
    "--apply 'kernel-swap{{loop=1}}; openmp-parallel-do' -o out.f90 {}",
    "--apply 'acc-parallel; acc-loop' --explain -o out.f90 {}",
    "--apply 'inline-procedures; arrays-to-loops; auto' -o out.f90 {}",
    "-s optimise.py -o out.f90 {}",
)
SCRIPT_FOR_FILES = """\
from psyclone.psyir.nodes import Assignment, Call, Loop, Reference, Routine
from psyclone.psyir.transformations import ArrayAssignment2LoopsTrans, HoistTrans
from psyclone.transformations import OMPParallelLoopTrans, TransformationError


def trans(psyir):
    for routine in psyir.walk(Routine):
        print("routine", routine.name)
        for assignment in routine.walk(Assignment):
            try:
                ArrayAssignment2LoopsTrans().apply(assignment)
            except TransformationError as error:
                print(error)
        for loop in routine.walk(Loop, stop_type=Loop):
            names = [one.name for one in loop.walk(Reference)]
            print(loop.variable.name, len(names), loop.walk(Call))
            try:
                OMPParallelLoopTrans().apply(loop)
            except TransformationError as error:
                print(error)
"""
SMALL_FILE = """\
module sweep_mod
  implicit none
  integer, parameter :: wp = kind(1.0d0)
contains
  subroutine sweep(a, b, c, n, kind)
    integer, intent(in) :: n, kind
    real(wp), intent(inout) :: a(n, n), b(0:n, n), c(:)
    real(wp) :: flux, total
    integer :: i, j
    total = 0.0_wp
    c(:) = a(1, :) + 2.0 * b(1, 1:n)
    !$omp parallel do reduction(+:total) private(flux)
    columns: do j = 1, n   ! columns
      do i = 2, n ; flux = a(i, j) - a(i-1, j)
        if (flux > 1.e-3) cycle columns
        b(i, j) = max(b(i, j), flux) * scaled(c(i))
        total = total + b(i, j)
      end do
    end do columns
    select case (kind)
    case (1:3) ; where (c > 0.0) c = sqrt(c)
    case default ; call report('kind', kind, fatal=.false.)
    end select
  end subroutine sweep
  pure function scaled(x) result(y)
    real(wp), intent(in) :: x
    real(wp) :: y
    y = 2 * x
  end function scaled
end module sweep_mod
"""


class HangError(BaseException):
    """An input was not finished within the limit."""


class Project(NamedTuple):
    """Input files by name, a folder whose kernels they use, and a command line."""

    name: str
    files: dict[str, bytes]
    words: tuple[str, ...]


class Result(NamedTuple):
    """An input and what became of it; `defect` is the class of the defect that it shows, if any."""

    number: int
    kind: str
    status: int
    defect: str
    description: str


def projects() -> Iterator[Project]:
    """Yield the folders of cases and errors, and files without an API."""
    for case in sorted((TESTS / "cases").glob("*/*")):
        api = case.parent.name
        files = _contents(case)
        if not (case / "kernels").is_dir():
            kernels = _contents(TESTS / "corpus" / api / "kernels")
            files |= _called(files, {f"kernels/{name}": text for name, text in kernels.items()})
        yield Project(case.name, files, _words_of(case, f"-api {api} {DEFAULT_WORDS}"))
    for case in sorted((TESTS / "errors").iterdir()):
        words = _words_of(case, "-api lfric -d kernels alg.x90")
        if case.is_dir() and not SLOW.intersection(words):
            yield Project(case.name, _contents(case), words)
    sources = {"sweep_mod.f90": SMALL_FILE.encode()}
    for api in ("lfric", "gocean"):
        sources |= _contents(TESTS / "corpus" / api / "kernels")
    for at, (name, text) in enumerate(sorted(sources.items())):
        for number in range(len(COMMANDS_FOR_FILES) if name == "sweep_mod.f90" else 1):
            words = COMMANDS_FOR_FILES[(at + number) % len(COMMANDS_FOR_FILES)].format(name)
            files = {name: text, "optimise.py": SCRIPT_FOR_FILES.encode()}
            yield Project(f"{name} without an API", files, tuple(shlex.split(words)))


DEFAULT_WORDS = "-d kernels -oalg alg.f90 -opsy psy.f90 alg.x90"


def _words_of(case: Path, default: str) -> tuple[str, ...]:
    file = case / "options"
    return tuple(shlex.split(file.read_text(encoding="utf-8") if file.is_file() else default))


def _contents(folder: Path) -> dict[str, bytes]:
    return {
        file.relative_to(folder).as_posix(): file.read_bytes()
        for file in sorted(folder.rglob("*"))
        if file.is_file() and file.relative_to(folder).parts[0] not in NOT_INPUT
    }


def _called(files: dict[str, bytes], kernels: dict[str, bytes]) -> dict[str, bytes]:
    """Return the kernels whose modules a file names, and those that these use."""
    found: dict[str, bytes] = {}
    waiting = [text.lower() for text in files.values()]
    while waiting:
        text = waiting.pop()
        for name, kernel in kernels.items():
            if name not in found and Path(name).stem.lower().encode() in text:
                found[name] = kernel
                waiting.append(kernel.lower())
    return found


def with_mutation(
    chance: random.Random, one: Project, only: str = ""
) -> tuple[str, dict[str, bytes], list[str]]:
    """Return the kind of a mutation, the files that it changes, and the words of the command.

    `only` is the kind of the changed file, if not empty.
    """
    words = list(one.words)
    used = [name for name, kind in kinds_of(one).items() if only in ("", kind)]
    kind = 1.0 if only else chance.random()
    if "--apply" in words and kind < 0.2:
        at = words.index("--apply") + 1
        words[at] = mutated(chance, words[at], WORDS_OF_RECIPES)
        return "recipe", {}, words
    if not used or kind < 0.35:
        for _ in range(chance.randint(1, 3)):
            at = chance.randrange(len(words) + 1)
            words[at : at + chance.randint(0, 1)] = [chance.choice(WORDS_OF_COMMANDS)]
        return "command line", {}, words
    name = chance.choice(used)
    text = one.files[name].decode("utf-8", "surrogateescape")
    pool = kinds_of(one)[name]
    changed = mutated(chance, text, POOLS[pool]) if text.strip() else chance.choice(POOLS[pool])
    if chance.random() < 0.2:
        changed = changed[: chance.randrange(len(changed) + 1)]
    return pool, {name: changed.encode("utf-8", "surrogatepass")}, words


def kinds_of(one: Project) -> dict[str, str]:
    """Return the kinds of the files of a project that may be changed."""
    return {name: _kind_of(one, name) for name in one.files if Path(name).suffix in SUFFIXES}


def _kind_of(one: Project, name: str) -> str:
    kind = SUFFIXES[Path(name).suffix]
    if kind == "Python" and b"def trans" in one.files[name]:
        return "script"
    if kind == "kernel" and "-api" not in one.words and "--psykal-dsl" not in one.words:
        return "file"
    return kind


@dataclass
class Workspace:
    """A folder that has the files of one project, and is put right before each input."""

    scratch: Path
    work: Path = field(init=False)
    _times: dict[str, dict[str, int]] = field(default_factory=dict[str, dict[str, int]])

    def prepare(self, one: Project, changed: dict[str, bytes]) -> Path:
        """Return a folder with the files of a project, of which some are `changed`."""
        self.work = self.scratch / re.sub(r"\W", "_", f"{one.name} {' '.join(one.words)}")[:100]
        times = self._times.setdefault(self.work.name, {})
        for path in self.work.rglob("*") if self.work.exists() else ():
            name = path.relative_to(self.work).as_posix()
            if (path.is_symlink() or not path.is_dir()) and name not in one.files:
                path.unlink()
        for name, text in one.files.items():
            path = self.work / name
            known = path.is_file() and path.stat().st_mtime_ns == times.get(name)
            if not known or name in changed:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(changed.get(name, text))
                times[name] = 0 if name in changed else path.stat().st_mtime_ns
        return self.work


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Raise `HangError` if the block is not finished in time.

    Time during which the process waits for a processor does not count.
    """
    begin = time.monotonic() - waited_for_processor()

    def stop(_: int, __: FrameType | None) -> None:
        if time.monotonic() - waited_for_processor() - begin > seconds:
            raise HangError

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds, 1.0)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def waited_for_processor() -> float:
    """Return the seconds during which this process was ready, but other ones ran instead."""
    file = Path("/proc/self/schedstat")
    return int(file.read_text(encoding="ascii").split()[1]) / 1e9 if file.is_file() else 0.0


class Campaign:
    """Inputs by number: a number and a seed always make the same input."""

    def __init__(self, seed: int, scratch: Path, only: str = "") -> None:
        """Begin with a seed, and a folder for the inputs; names of projects contain `only`."""
        self.seed = seed
        self._space = Workspace(scratch)
        self._all = [one for one in projects() if only in one.name]
        self._right = [one for one in self._all if _is_right(one)]
        self._rare = {
            kind: [one for one in self._all if kind in kinds_of(one).values()] for kind in RARE
        }

    def made(self, number: int) -> tuple[Project, str, dict[str, bytes], list[str]]:
        """Return the input with a number: its project, kind, changed files and command line."""
        chance = random.Random(f"{self.seed} {number}")
        kind = chance.choice(RARE) if chance.random() < 0.2 else ""
        one = chance.choice(self._rare.get(kind) or chance.choice((self._all, self._right)))
        return (one, *with_mutation(chance, one, kind if kind in kinds_of(one).values() else ""))

    def run(self, number: int) -> Result:
        """Run the command on the input with a number."""
        one, kind, changed, words = self.made(number)
        work = self._space.prepare(one, changed)
        try:
            with limited(LIMIT):
                status, out, err = run_words(words, work)
            defect = defect_of(status, out, err, words)
        except HangError:
            status, defect = -1, "hang"
        except BaseException as error:  # noqa: BLE001
            status, defect = -1, f"{type(error).__name__} leaves the command: {error}"
        where = f"{kind} of {one.name}: {' '.join(changed)} {shlex.join(words)}"
        return Result(number, kind, status, defect, where)


def _is_right(one: Project) -> bool:
    """Return whether a project compiles as it is, so that a mutation passes more stages."""
    return not (TESTS / "errors" / one.name).is_dir()


def defect_of(status: int, out: str, err: str, words: Sequence[str]) -> str:
    """Return the class of the defect that a command shows, or nothing."""
    if found := re.search(r"I001\W+(.*)", err):
        return re.sub(r"'[^']*'|\d+(?=\b.*:)", "_", found[1]) if "Error at" not in err else found[1]
    if "Traceback" in err and "--traceback" not in words:
        return f"traceback: {err.splitlines()[-1]}"
    if status not in (0, 1):
        return f"exit status {status}"
    if "\x1b" in err and "always" not in " ".join(words):
        return "escape character in a message"
    if err.startswith("[") and "json" in words:
        try:
            json.loads(err)
        except ValueError:
            return "diagnostics that are not JSON"
    return "" if status == 0 or err or out else "no message"


# ---------------------------------------------------------------------------- as a program


def _run_here(seed: int, first: int, last: int, only: str) -> None:
    """Run inputs, and print a line of JSON for each."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    with tempfile.TemporaryDirectory(prefix="mutated-", dir=_fast_folder()) as scratch:
        # The status of 800 source files for each input would be a quarter of the time.
        digest = fingerprint.tool_digest(Cache(Path(scratch) / "digest"))
        cached_results.tool_digest = lambda _: digest
        campaign = Campaign(seed, Path(scratch), only)
        for number in range(first, last):
            print(json.dumps(campaign.run(number)), flush=True)


def _fast_folder() -> str | None:
    return "/dev/shm" if Path("/dev/shm").is_dir() else None


def results(seed: int, first: int, last: int, only: str = "") -> Iterator[Result]:
    """Run inputs in child processes, and yield their results."""
    number = first
    while number < last:
        words = [sys.executable, __file__, "--here", "--seed", str(seed), "--first", str(number)]
        words += ["--only", only]
        until = min(number + CHUNK, last)
        with subprocess.Popen([*words, str(until - number)], stdout=subprocess.PIPE) as child:
            assert child.stdout
            for line in child.stdout:
                result = Result(*json.loads(line))
                number = result.number + 1
                yield result
        if number < until:
            yield Result(number, "unknown", -1, f"crash with status {child.returncode}", "")
            number += 1


def _keep(folder: Path, seed: int, number: int, only: str) -> None:
    """Write the files and the command line of an input."""
    with tempfile.TemporaryDirectory() as scratch:
        one, _, changed, words = Campaign(seed, Path(scratch), only).made(number)
        shutil.copytree(
            Workspace(Path(scratch)).prepare(one, changed),
            folder / str(number),
            dirs_exist_ok=True,
        )
    (folder / str(number) / "options").write_text(shlex.join(words) + "\n", encoding="utf-8")


def main() -> int:
    """Run the campaign; return 1 if an input shows a defect."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("count", type=int, nargs="?", default=1, help="number of inputs")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, metavar="NUMBER")
    parser.add_argument("--only", default="", metavar="TEXT", help="projects with TEXT in the name")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="write inputs with defects here")
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.here:
        _run_here(given.seed, given.first, given.first + given.count, given.only)
        return 0
    begin = time.monotonic()
    counts, defects = Counter[tuple[str, int]](), Counter[str]()
    for result in results(given.seed, given.first, given.first + given.count, given.only):
        counts[result.kind, result.status] += 1
        if result.defect:
            if result.defect not in defects:
                print(f"{result.number}: {result.defect}\n    {result.description}", flush=True)
                if given.keep:
                    _keep(given.keep, given.seed, result.number, given.only)
            defects[result.defect] += 1
    for kind in sorted({kind for kind, _ in counts}):
        right, wrong = counts[kind, 0], counts[kind, 1]
        total = sum(count for (one, _), count in counts.items() if one == kind)
        print(f"{kind:<14} {total:>7} inputs: {right:>7} accepted, {wrong:>7} refused")
    print(f"{counts.total()} inputs in {time.monotonic() - begin:.0f} s;", end=" ")
    print(f"{len(defects)} classes of defects in {defects.total()} inputs")
    for defect, count in defects.items():
        print(f"{count:>6} {defect}")
    return bool(defects)


if __name__ == "__main__":
    sys.exit(main())
