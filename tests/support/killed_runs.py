"""Runs that signals end at random moments: no process, no temporary file and no torn output.

The runs are batches of the command, builds, and Python programs that compile their invokes. As a
program:

    python tests/support/killed_runs.py 200 [--only NAME] [--seed 1]

It prints a line for each kind of run: the number of runs that a signal ended, and the problems. A
limit on a time depends on a complete run of the same kind at the present load of the machine.

Each trial starts a run from no outputs or from complete older ones, and sends a signal to its first
process or to all of its processes. After that

- all processes of the run end within seconds;

- each output is absent, complete and old, or complete and new; a new PSy layer has new kernels, and
  a new algorithm has a new PSy layer;

- the command prints no stack trace, and its status is 128 plus the signal or that of the signal;

- the same run succeeds, gives the expected outputs byte for byte, and removes all temporary files.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import NamedTuple

from psyclone_storage.base.digest import SEAL_LENGTH, seal_of
from psyclone_storage.base.package_files import shared_file

TESTS = Path(__file__).resolve().parents[1]
BUILD = TESTS / "builds" / "project"
SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
PATIENCE = 10.0  # seconds that are added to each limit
ENDING = 3  # complete runs, in the time of which the processes of a killed run end
RUNNING = 20  # complete runs, in the time of which a run ends
MARK = "PSYCLONE_STORAGE_KILLED_RUN"
OLD, NEW = "1005.0_r_def", "1006.0_r_def"
RECORD = re.compile(r"\.user-[0-9a-f]{16}$|/\.ninja_(?:log|deps)$")
ANSWER = re.compile(r"the sum is [\d.]+")
TRACE = re.compile(r'Traceback|File "[^"]*psyclone_storage')
NO_RUNPY = "Could not import runpy module"
COMPILER = '#!/bin/sh\necho run >> "$COMPILER_LOG"\nexec {} "$@"\n'
MODEL = """\
from psyclone_storage.gocean import *
from psyclone_storage.runtime.gocean import Field, Grid

@kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_ANY)
def double(new: field[GO_WRITE, GO_CT], old: field[GO_READ, GO_CT]):
    new[0, 0] = 2.0 * old[0, 0]

@kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_ANY)
def spread(new: field[GO_WRITE, GO_CT],
           old: field[GO_READ, GO_CT, GO_STENCIL("010,111,010")]):
    new[0, 0] = 0.25 * (old[-1, 0] + old[1, 0] + old[0, -1] + old[0, 1])

grid = Grid((16, 16))
old, new = Field(grid, values=1.0), Field(grid)
invoke(double(new, old))
invoke(double(old, new), spread(new, old))
invoke(spread(old, new), spread(new, old))
print(f"the sum is {new.sum()}", flush=True)
"""


class TornError(AssertionError):
    """A killed run left something that it must not leave."""


@dataclass
class Run:
    """A folder, the words of a run there, and how its outputs are recognised.

    - `outputs`: patterns of the files whose contents are compared.

    - `command`: whether the first process is the command of this package.
    """

    name: str
    folder: Path
    words: list[str]
    outputs: tuple[str, ...]
    environment: dict[str, str] = field(default_factory=dict)
    command: bool = True
    change: Callable[[Run], None] | None = None
    check: Callable[[Run], None] = lambda _: None
    wall: float = 0.0
    old: dict[str, bytes] = field(default_factory=dict)
    new: dict[str, bytes] = field(default_factory=dict)
    said: str = ""

    @property
    def work(self) -> Path:
        """The folder in which the run takes place."""
        return self.folder / "work"

    @property
    def scratch(self) -> Path:
        """The folder of temporary files."""
        return self.folder / "scratch"

    def start(self) -> subprocess.Popen[bytes]:
        """Start the run in a session of its own."""
        paths = [str(TESTS.parent / "src"), str(self.work / "tools")]
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join(paths),
            "PATH": f"{self.folder / 'bin'}{os.pathsep}{os.environ['PATH']}",
            "TMPDIR": str(self.scratch),
            "XDG_CACHE_HOME": str(self.work / "cache"),
            "COMPILER_LOG": str(self.folder / "log"),
            "BUILD_LOG": str(self.folder / "log"),
            MARK: str(self.folder),
            **self.environment,
        }
        environment.pop("PSYCLONE_STORAGE_CACHE", None)
        environment.pop("PSYCLONE_STORAGE_LIBRARIES", None)
        environment.pop("MAKEFLAGS", None)
        return subprocess.Popen(
            ["env", "--default-signal=HUP,INT", *self.words],
            cwd=self.work,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )

    def prepare(self) -> None:
        """Make the two states in which a run starts, and record what it writes."""
        (self.scratch).mkdir()
        self._save("none")
        self.old = self._complete()
        self._save("old")
        if self.change:
            self.change(self)
            self._save("old")
            self.reset("none")
            self.change(self)
            self._save("none")
        else:
            self.reset("none")
        begin = time.monotonic()
        self.new = self._complete()
        self.wall = time.monotonic() - begin

    def _complete(self) -> dict[str, bytes]:
        status, out, err = finished(self, self.start())
        self.said = out
        if status or (err and self.command):
            raise TornError(f"{self.name} ends with {status}: {out}{err}")
        return self.written()

    def _save(self, state: str) -> None:
        kept = self.folder / state
        shutil.rmtree(kept, ignore_errors=True)
        shutil.copytree(self.work, kept, symlinks=True)

    def reset(self, state: str) -> None:
        """Put a folder back into a state; its path and all times are the same again."""
        shutil.rmtree(self.work)
        shutil.copytree(self.folder / state, self.work, symlinks=True)

    def written(self) -> dict[str, bytes]:
        """Return the contents of all outputs by their names."""
        return {
            str(path.relative_to(self.work)): path.read_bytes()
            for pattern in self.outputs
            for path in self.work.glob(pattern)
            if path.is_file() and not path.name.startswith(".")
        }

    def temporaries(self) -> list[str]:
        """Return the names of all temporary files and locks."""
        hidden = (*self.work.rglob(".*"), *self.work.rglob("*.lock"), *self.scratch.iterdir())
        names = (str(path.relative_to(self.folder)) for path in hidden)
        return sorted(name for name in names if not RECORD.search(name))


def finished(run: Run, process: subprocess.Popen[bytes]) -> tuple[int, str, str]:
    """Return the status and the output of a process when no process holds its pipes.

    Raises:
        TornError: the run hangs; all its processes have been killed.
    """
    begin = time.monotonic()
    while True:
        try:
            out, err = process.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            if is_late(run, begin, RUNNING):
                left = _processes(run)
                for number in left:
                    os.kill(number, signal.SIGKILL)
                process.communicate()
                raise TornError(f"{run.name} hangs: {list(left.values())}") from None
        else:
            return process.returncode, out.decode(), err.decode()


def left_after(run: Run) -> list[str]:
    """Return the commands of the processes of a run that have not ended after some seconds."""
    begin = time.monotonic()
    while (found := _processes(run)) and not is_late(run, begin, ENDING):
        time.sleep(0.01)
    return list(found.values())


def is_late(run: Run, begin: float, runs: int) -> bool:
    """Return whether the time since `begin` is longer than that of complete `runs`.

    The last run was perhaps faster because fewer other processes used the machine. Therefore a
    complete run takes place now, in another folder, before the answer is True.
    """
    passed = time.monotonic() - begin - PATIENCE
    return passed > runs * run.wall and passed > runs * seconds_of(run.name)


def seconds_of(name: str) -> float:
    """Return the wall time in seconds of a complete run of a kind, in a new folder."""
    with tempfile.TemporaryDirectory(prefix=f"reference-{name}-") as folder:
        run = RUNS[name](Path(folder))
        run.scratch.mkdir()
        begin = time.monotonic()
        run.start().communicate()
        return time.monotonic() - begin


def _processes(run: Run) -> dict[int, str]:
    """Return the commands of the processes of a run by their numbers."""
    mark = f"{MARK}={run.folder}\0".encode()
    found: dict[int, str] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if mark in (folder / "environ").read_bytes():
                words = (folder / "cmdline").read_text(encoding="utf-8")
                found[int(folder.name)] = words.replace("\0", " ")
        except OSError:
            continue
    return found


# ---------------------------------------------------------------------------- the runs


class Sources(NamedTuple):
    """A case of an API, its kernels, and words of the algorithm with what replaces them.

    `number` is in the names of its modules, `change` in those of routines.
    """

    case: str
    kernels: tuple[str, ...]
    number: tuple[str, str]
    change: tuple[str, str]
    algorithms: int


LFRIC = Sources(
    "lfric/increment_then_stencil",
    ("wind_tendency_kernel_mod.f90", "wind_to_cell_kernel_mod.f90"),
    ("halo_increment", "halo{}_increment"),
    ("_then_stencil", "_and_stencil"),
    4,
)
GOCEAN = Sources(
    "gocean/fluxes_and_divergence",
    ("diverge_mod.f90", "flux_u_mod.f90", "flux_v_mod.f90"),
    ("continuity", "continuity{}"),
    ("time_step", "step"),
    2,
)


def batch(
    folder: Path,
    name: str = "batch",
    renaming: str = "multiple",
    compiler: str = "./compiler",
    sources: Sources = LFRIC,
) -> Run:
    """Return a batch with `-j 2` that transforms, renames and compiles kernels."""
    work, api = folder / "work", sources.case.partition("/")[0]
    case = TESTS / "cases" / sources.case
    shutil.copytree(case, work, ignore=shutil.ignore_patterns("expected*", "options"))
    text = (work / "alg.x90").read_text(encoding="utf-8")
    (work / "alg.x90").unlink()
    files = [work / f"alg{number}.x90" for number in range(sources.algorithms)]
    old, new = sources.number
    for number, file in enumerate(files):
        file.write_text(text.replace(old, new.format(number)), encoding="utf-8")
    _copy_kernels(work, api, sources.kernels)
    _write(work / "compiler", "#!/bin/sh\nsleep 0.02\n")
    words = (
        f"-api {api} -d kernels --output-dir out -okern changed --apply acc-routine -j 2"
        f" --kernel-renaming {renaming} --depfile out/batch.d --report out/report.html"
        f" --stamp out/stamp --compile --f90 {compiler}"
    )
    command = [sys.executable, "-m", "psyclone_storage", *words.split()]

    def change(_: Run) -> None:
        for file in (*files, *(work / "kernels").iterdir()):
            old = file.read_text(encoding="utf-8")
            new = old.replace("implicit none", "implicit none ! new")
            file.write_text(new.replace(*sources.change), encoding="utf-8")

    outputs = ("out/*", "changed/*")
    return Run(name, folder, [*command, *(one.name for one in files)], outputs, change=change)


def compiled_batch(folder: Path) -> Run:
    """Return a batch that compiles kernels, interfaces and an infrastructure with a real compiler.

    The infrastructure of GOcean has 14 files, that of LFRic about 100.
    """
    return batch(folder, "compile", compiler="gfortran", sources=GOCEAN)


def single_batch(folder: Path) -> Run:
    """Return a batch in which all algorithms share transformed kernels."""
    return batch(folder, "single", "single")


def make_build(folder: Path) -> Run:
    """Return a build by Make."""
    return _build(folder, "make", ["make", "-j2"], "out")


def cmake_build(folder: Path) -> Run:
    """Return a build of the generated files by CMake and Ninja."""
    targets = (f"psy/{name}_alg_mod.f90" for name in ("first", "second"))
    command = ["cmake", "--build", "build", "-j2", "--target", *targets]
    run = _build(folder, "cmake", command, "build/psy")
    words = ["cmake", "-G", "Ninja", "-B", "build"]
    words.append(f"-Dpsyclone_storage_DIR={shared_file('config/cmake')}")
    words.append(f"-DCMAKE_PROGRAM_PATH={folder / 'bin'}")
    done = subprocess.run(words, cwd=run.work, capture_output=True, text=True, check=False)
    if done.returncode:
        raise TornError(done.stdout + done.stderr)
    return run


def _build(folder: Path, name: str, words: list[str], out: str) -> Run:
    work = folder / "work"
    shutil.copytree(BUILD, work)
    _copy_kernels(work, "lfric", LFRIC.kernels)
    script = f'#!/bin/sh\nexec {sys.executable} -m psyclone_storage "$@"\n'
    _write(folder / "bin" / "psyclone-storage", script)

    def change(run: Run) -> None:
        for file in (run.work / "source").iterdir():
            old = file.read_text(encoding="utf-8")
            file.write_text(old.replace("1005.0_r_def", "1006.0_r_def"), encoding="utf-8")
        for file in (run.work / "kernels").iterdir():
            old = file.read_text(encoding="utf-8")
            file.write_text(old.replace("implicit none", "implicit none ! new"), encoding="utf-8")

    outputs = tuple(f"{out}/{one}" for one in ("*.f90", "*.F90", "*.d", "**/*_kernel_*_mod.f90"))
    return Run(name, folder, words, outputs, command=False, change=change)


def model(folder: Path) -> Run:
    """Return a Python program that compiles its invokes with an empty cache."""
    return _model(folder, "model", [sys.executable, "model.py"])


def model_on_ranks(folder: Path) -> Run:
    """Return a Python program on two ranks with an empty cache."""
    words = "mpirun --oversubscribe --allow-run-as-root --bind-to none -n 2"
    return _model(folder, "ranks", [*words.split(), sys.executable, "model.py"])


def _model(folder: Path, name: str, words: list[str]) -> Run:
    _write(folder / "work" / "model.py", MODEL)
    _write(folder / "bin" / "cc", COMPILER.format(shutil.which("gcc")))
    (folder / "mpi").mkdir()

    def change(run: Run) -> None:
        _write(run.work / "model.py", MODEL.replace("0.25", "0.125"))

    variables = {"CC": str(folder / "bin" / "cc"), "OMPI_MCA_orte_tmpdir_base": f"{folder}/mpi"}
    return Run(name, folder, words, (), variables, False, change, _check_libraries)


def _check_libraries(run: Run) -> None:
    """Check that every library in the cache is complete."""
    for path in run.work.glob("cache/psyclone-storage/libraries/*.so"):
        data = path.read_bytes()
        if data[-SEAL_LENGTH:] != seal_of(path.name, data[:-SEAL_LENGTH]):
            raise TornError(f"{path.name} is torn")


def _copy_kernels(work: Path, api: str, kernels: Iterable[str]) -> None:
    (work / "kernels").mkdir()
    for name in kernels:
        shutil.copy(TESTS / "corpus" / api / "kernels" / name, work / "kernels")


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    path.chmod(0o755)


RUNS: dict[str, Callable[[Path], Run]] = {
    "batch": batch,
    "single": single_batch,
    "compile": compiled_batch,
    "make": make_build,
    "cmake": cmake_build,
    "model": model,
    "ranks": model_on_ranks,
}


# ---------------------------------------------------------------------------- trials


@dataclass(frozen=True)
class Trial:
    """A moment, a signal, and the state in which the run starts."""

    number: int
    state: str
    moment: float
    signal: signal.Signals
    to_all: bool

    def __str__(self) -> str:
        receiver = "all processes" if self.to_all else "the first process"
        return (f"trial {self.number}: {self.signal.name} to {receiver} at {self.moment:.3f} s, "
                f"from {self.state}")  # fmt: skip


def trial_of(seed: int, number: int, wall: float) -> Trial:
    """Return a trial; a seed and a number always give the same one, relative to `wall`."""
    chance = random.Random(f"{seed} {number}")
    return Trial(
        number,
        chance.choice(("none", "old")),
        chance.uniform(0.0, 1.05 * wall),
        SIGNALS[number % len(SIGNALS)],
        chance.random() < 0.5,
    )


def killed(run: Run, trial: Trial) -> bool:
    """Kill a run, check what is left, and run it again; return whether the signal came in time.

    Raises:
        TornError: something is left that must not be left.
    """
    run.reset(trial.state)
    with run.start() as process:
        time.sleep(trial.moment)
        if trial.to_all:
            os.killpg(process.pid, trial.signal)
        else:
            process.send_signal(trial.signal)
        status, out, err = finished(run, process)
    problems = [f"process left: {one}" for one in left_after(run)]
    problems += _problems_of(run, trial, status, err)
    try:
        run.check(run)
        problems += torn(run)
        again, out, err = finished(run, run.start())
        if again or (err and run.command):
            problems.append(f"the next run ends with {again}: {out}{err}")
        problems += [f"differs after the next run: {name}" for name in _differences(run)]
        if sorted(ANSWER.findall(out)) != sorted(ANSWER.findall(run.said)):
            problems.append(f"the next run prints {out}")
        problems += [f"left after the next run: {name}" for name in run.temporaries()]
        run.check(run)
    except TornError as error:
        problems.append(str(error))
    if problems:
        for one in run.scratch.iterdir():
            shutil.rmtree(one) if one.is_dir() else one.unlink()
        raise TornError(f"{run.name}, {trial}, status {status}\n  " + "\n  ".join(problems))
    return status != 0


def _problems_of(run: Run, trial: Trial, status: int, err: str) -> list[str]:
    problems = []
    if "I001" in err:
        problems.append(f"internal error: {err}")
    if not run.command:
        return problems
    if TRACE.search(err) and "psyclone_storage" in err:
        problems.append(f"stack trace: {err}")
    # Python itself ends with 1 if SIGINT arrives while it imports what runs a module.
    interrupted_early = trial.signal == signal.SIGINT and err.startswith(NO_RUNPY)
    if status not in (0, -trial.signal, 128 + trial.signal) and not interrupted_early:
        problems.append(f"status {status}: {err}")
    if trial.signal != signal.SIGKILL:
        problems += [f"left: {name}" for name in run.temporaries()]
    return problems


def torn(run: Run) -> Iterator[str]:
    """Yield the outputs that are incomplete, or newer than an output on which they depend."""
    written = run.written()
    for name, data in written.items():
        if data not in (run.old.get(name), run.new.get(name)):
            yield f"torn: {name}"
    changed = {name for name, data in run.new.items() if data != run.old.get(name)}
    fresh = {name for name in changed if written.get(name) == run.new[name]}
    for name in fresh & {one for one in changed if one.endswith("_psy.f90")}:
        called = re.findall(rb"use (\w+_\d+_mod)", run.new[name])
        for kernel in {f"{one.decode()}.f90" for one in called}:
            if not any(one.endswith(f"/{kernel}") for one in fresh):
                yield f"{name} is new without {kernel}"
    for name in fresh:
        layer = name.replace(".f90", "_psy.f90")
        if layer in changed and layer not in fresh:
            yield f"{name} is new without {layer}"


def _differences(run: Run) -> set[str]:
    written = run.written()
    return {name for name in (*written, *run.new) if written.get(name) != run.new.get(name)}


def campaign(name: str, folder: Path, seed: int, numbers: Iterable[int]) -> Iterator[str | Trial]:
    """Yield the trials of a run that ended in time, and the texts of problems."""
    run = RUNS[name](folder)
    run.prepare()
    for number in numbers:
        trial = trial_of(seed, number, run.wall)
        try:
            is_in_time = killed(run, trial)
            # The load of the machine changes; five of six signals come before the run ends.
            run.wall *= 1.02 if is_in_time else 0.9
            if is_in_time:
                yield trial
        except TornError as error:
            yield str(error)


def main() -> int:
    """Run the campaign; return 1 if a killed run left something."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("count", type=int, help="number of runs of each kind that end")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, metavar="NUMBER")
    parser.add_argument("--only", choices=RUNS, action="append", metavar="NAME")
    given = parser.parse_args()
    failed = 0
    for name in given.only or RUNS:
        ended, problems, begin = Counter[str](), 0, time.monotonic()
        with tempfile.TemporaryDirectory(prefix=f"killed-{name}-") as folder:
            for result in campaign(name, Path(folder), given.seed, count(given.first)):
                if isinstance(result, Trial):
                    ended[result.signal.name] += 1
                else:
                    problems += 1
                    print(result, flush=True)
                if ended.total() + problems >= given.count:
                    break
        failed += problems
        signals = ", ".join(f"{number} by {one}" for one, number in sorted(ended.items()))
        wall = time.monotonic() - begin
        print(f"{name:<8} {ended.total()} runs ended ({signals}); "
              f"{problems} problems; {wall:.0f} s", flush=True)  # fmt: skip
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
