"""Inputs of the command with some of their words changed: never a stack trace, a hang or a defect.

What is mutated are algorithms, kernels, programs in Python, scripts, settings and command lines, of
the folders in `cases` and `errors`. A long campaign:
`MUTATED_INPUTS=20000 pytest -n 0 tests/properties/test_mutated_inputs.py`.
"""

from __future__ import annotations

import json
import os
import random
import shlex
import shutil
import signal
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

import pytest

from command import NOT_INPUT, Outcome, run_command
from mutated_texts import WORDS, mutated

TESTS = Path(__file__).parents[1]
COUNT = int(os.environ.get("MUTATED_INPUTS", "240"))
SEED = int(os.environ.get("MUTATED_INPUTS_SEED", "0"))
LIMIT = 60.0  # seconds, within which every input is finished
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
WORDS_OF_SETTINGS = [*"[ ] = # % ; : true false 0 -1 lfric gocean 8 [API] yes".split(), "\n", "é"]
WORDS_OF_SCRIPTS = [one for one in WORDS if one not in {"while", "9999999999", "1e400"}]
WORDS_OF_COMMANDS = [
    *"-api lfric gocean -d kernels alg.x90 -oalg -opsy -okern -s -l all -dm -nodm -I -c -v".split(),
    *"--output-dir out --schedule --explain --schedule-json --dag - -- --apply colour".split(),
    *"--config-opts --diagnostics json text --colour always --warnings error --target c".split(),
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
    "Python": WORDS_OF_SCRIPTS,
    "settings": WORDS_OF_SETTINGS,
}


class HangError(BaseException):
    """An input was not finished within the limit."""


@dataclass(frozen=True)
class Seed:
    """A folder with inputs, and the command line for it."""

    folder: Path
    kernels: Path | None
    words: tuple[str, ...]


def folders() -> Iterator[Seed]:
    """Yield the folders of cases and errors."""
    for case in sorted((TESTS / "cases").glob("*/*")):
        api = case.parent.name
        kernels = None if (case / "kernels").is_dir() else TESTS / "corpus" / api / "kernels"
        default = f"-api {api} -d kernels -oalg alg.f90 -opsy psy.f90 alg.x90"
        yield Seed(case, kernels, words_of(case, default))
    for case in sorted((TESTS / "errors").iterdir()):
        words = words_of(case, "-api lfric -d kernels alg.x90")
        if not {"--compile", "-j", "--f90", "--report"}.intersection(words):
            yield Seed(case, None, words)


def words_of(case: Path, default: str) -> tuple[str, ...]:
    file = case / "options"
    return tuple(shlex.split(file.read_text(encoding="utf-8") if file.is_file() else default))


SEEDS = [one for one in folders() if one.folder.is_dir()]
RIGHT = [one for one in SEEDS if one.folder.parents[1].name == "cases"]


def copied(one: Seed, scratch: Path) -> Path:
    """Return a copy of a folder with its kernels."""
    work = scratch / "work"
    shutil.rmtree(work, ignore_errors=True)
    shutil.copytree(one.folder, work, ignore=shutil.ignore_patterns(*NOT_INPUT))
    if one.kernels:
        shutil.copytree(one.kernels, work / "kernels")
    return work


def with_mutation(chance: random.Random, one: Seed, work: Path) -> tuple[str, list[str]]:
    """Mutate one input in `work`; return its kind, and the words of the command line."""
    words = list(one.words)
    files = [file for file in sorted(work.rglob("*")) if file.suffix in SUFFIXES and file.is_file()]
    used = [file for file in files if "kernels" not in file.parts or is_called(file, work)]
    if not used or chance.random() < 0.25:
        for _ in range(chance.randint(1, 3)):
            at = chance.randrange(len(words) + 1)
            words[at : at + chance.randint(0, 1)] = [chance.choice(WORDS_OF_COMMANDS)]
        return "command line", words
    file = chance.choice(used)
    kind = SUFFIXES[file.suffix]
    text = file.read_bytes().decode("utf-8", "surrogateescape")
    changed = mutated(chance, text, POOLS[kind]) if text.strip() else chance.choice(POOLS[kind])
    if chance.random() < 0.2:
        changed = changed[: chance.randrange(len(changed) + 1)]
    file.write_bytes(changed.encode("utf-8", "surrogatepass"))
    return kind, words


def is_called(file: Path, work: Path) -> bool:
    """Return whether an algorithm names the module of a kernel."""
    texts = (path.read_bytes() for path in (*work.glob("*.x90"), *work.glob("*.py")))
    return any(file.stem.encode() in text for text in texts)


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Raise `HangError` if the block is not finished in time."""

    def stop(_: int, __: FrameType | None) -> None:
        raise HangError

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def check(done: Outcome, words: list[str]) -> None:
    """Check what a command has printed, and its status."""
    assert done.status in (0, 1)
    if "--traceback" not in words:
        assert "Traceback" not in done.err
    assert "I001" not in done.err
    assert "\x1b" not in done.err or "always" in " ".join(words)
    if done.err.startswith("["):
        json.loads(done.err)


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timer")
def test_no_mutation_makes_a_trace_a_hang_or_a_defect(tmp_path: Path) -> None:
    found = Counter[tuple[str, int]]()
    for number in range(COUNT):
        chance = random.Random(f"{SEED} {number}")
        one = chance.choice(chance.choice((SEEDS, RIGHT)))
        work = copied(one, tmp_path)
        kind, words = with_mutation(chance, one, work)
        try:
            with limited(LIMIT):
                done = run_command(words, work)
            check(done, words)
        except BaseException as error:
            error.add_note(f"{SEED} {number}: {kind} of {one.folder.name}: {shlex.join(words)}")
            raise
        found[kind, done.status] += 1
    assert {kind for kind, _ in found} == {"command line", *POOLS} or COUNT < 200
    assert sum(count for (_, status), count in found.items() if status == 0) > COUNT // 20
    assert sum(count for (_, status), count in found.items() if status == 1) > COUNT // 4
