"""How long compiling takes, and how much memory: this tool and PSyclone, in one run.

    python benchmarks/compile_time.py            all cases, both tools
    python benchmarks/compile_time.py --profile  where this tool spends its own time
    python benchmarks/compile_time.py --growth   how time and memory grow with the program
    python benchmarks/compile_time.py --growth --instructions
                                                 the same, by instructions that valgrind counts
    python benchmarks/compile_time.py --trees path/to/lfric_core path/to/lfric_apps
                                                 all of LFRic in one call, anew and kept

Both tools run as whole processes on the same files with the same options, in turn, several times;
the CPU time (user and system) of the fastest run counts, because nothing makes a program faster
than it is. PSyclone takes one file per process, so that a hundred files are a hundred of its
processes. The algorithms are those of `tests/corpus/lfric`, and one that is made here. Nothing
is kept from run to run, but where that is what is measured.
"""

from __future__ import annotations

import argparse
import contextlib
import cProfile
import io
import math
import os
import pstats
import re
import shutil
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from psyclone_storage.cli.main import main as command

ROOT = Path(__file__).resolve().parents[1]
CORPUS = ROOT / "tests" / "corpus" / "lfric"
KERNELS = CORPUS / "kernels"
GOCEAN = ROOT / "tests" / "corpus" / "gocean"
SMALL = CORPUS / "named_invoke.x90"
RUNS = 3

# What is asked of this tool: case -> the least number of times that it is to be faster.
GOALS = {"--version": 4, "small algorithm": 3, "250 built-ins": 20, "100 files": 20}
MEMORY_GOAL = 100
EXPONENT_GOAL = 1.1


@dataclass(frozen=True)
class Cost:
    """CPU seconds and peak memory in MB of one or several processes, or 10^9 instructions."""

    seconds: float
    megabytes: float
    instructions: float = 0.0


def main() -> None:
    """Print a table of both tools, or a profile of this one."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--profile", action="store_true", help="where our own time goes")
    parser.add_argument("--growth", action="store_true", help="exponents of time over size")
    parser.add_argument(
        "--instructions", action="store_true", help="count instructions for --growth"
    )
    parser.add_argument("--runs", type=int, default=RUNS, help="runs of each case")
    parser.add_argument("--trees", nargs="+", type=Path, help="checkouts of LFRic")
    given = parser.parse_args()
    if given.instructions and not (given.growth and shutil.which("valgrind")):
        parser.error("--instructions needs --growth and the program valgrind: install valgrind.")
    with tempfile.TemporaryDirectory() as scratch:
        if given.profile:
            print_profile(Path(scratch))
        elif given.growth:
            print_growth(Path(scratch), given.runs, given.instructions)
        elif given.trees:
            print_trees(Path(scratch), given.trees, given.runs)
        else:
            print_table(Path(scratch), given.runs)


def print_table(scratch: Path, runs: int) -> None:
    """Run every case with both tools and print CPU time, peak memory and their ratios."""
    print(f"{'case':<18}{'ours':>16}{'PSyclone':>18}{'ratio':>8}{'goal':>7}{'memory':>18}")
    for case, ours, theirs in cases(scratch):
        mine = measured(ours, runs)
        peer = measured(theirs, runs)
        ratio = peer.seconds / mine.seconds
        print(
            f"{case:<18}{mine.seconds:>14.3f} s{peer.seconds:>16.3f} s{ratio:>8.1f}"
            f"{GOALS[case]:>7}{mine.megabytes:>10.0f} / {peer.megabytes:>3.0f} MB"
        )
    print(f"\nCPU seconds, the least of {runs} runs; peak memory ours / PSyclone's "
          f"(goal for one file: below {MEMORY_GOAL} MB).")  # fmt: skip


def print_trees(scratch: Path, trees: Sequence[Path], runs: int) -> None:
    """Print what all algorithms below `trees` cost in one call: anew, kept, and one of them.

    Those that are written for the preprocessor go through `cpp` first, without definitions. What
    cannot be compiled is tried in every call.
    """
    folders = [word for tree in trees for word in ("-d", str(tree))]
    files = list(gathered(trees, scratch / "algorithms"))
    common = ["-api", "lfric", *folders, "--output-dir", str(scratch / "out")]
    together = [*ours(), *map(str, files), *common]

    def show(case: str, words: list[str], kept: str, times: int) -> None:
        folder = str(scratch / kept) if kept else ""
        cost = measured([words], times, folder, may_fail=True)
        print(f"{case:<24}{cost.seconds:>8.3f} s{cost.megabytes:>8.0f} MB", flush=True)

    show("anew", together, "", runs)
    show("anew, to be kept", together, "kept", 1)
    show("kept", together, "kept", runs)
    made = [file for file in files if (scratch / "out" / f"{file.stem}_psy.f90").exists()]
    one = [*ours(), str(max(made, key=lambda file: file.stat().st_size)), *common]
    show("the longest file anew", one, "", runs)
    show("the longest file kept", one, "kept", runs)
    print(f"\n{len(files)} algorithms; CPU seconds, the least of {runs} runs.")


def gathered(trees: Sequence[Path], folder: Path) -> Iterator[Path]:
    """Yield the algorithms below `trees`, copied or preprocessed into `folder`, by new names."""
    folder.mkdir()
    for tree in trees:
        for path in sorted(tree.rglob("*.[xX]90")):
            made = folder / f"{path.stem}.x90"
            while made.exists():
                made = made.with_stem(f"{made.stem}_b")
            if path.suffix == ".x90":
                shutil.copy(path, made)
            else:
                words = ["cpp", "-traditional-cpp", "-P", str(path), str(made)]
                subprocess.run(words, check=True, capture_output=True)
            yield made


Commands = Sequence[Sequence[str]]


def cases(scratch: Path) -> Iterator[tuple[str, Commands, Commands]]:
    """Yield each case: its name, our commands and PSyclone's."""
    yield "--version", [[*ours(), "--version"]], [[*peer(), "--version"]]
    many = scratch / "many_builtins.x90"
    many.write_text(many_builtins(250), encoding="utf-8")
    for case, file in (("small algorithm", SMALL), ("250 built-ins", many)):
        yield case, [compile_one(ours(), file, scratch)], [compile_one(peer(), file, scratch)]
    files = accepted_by_both()[:100]
    out = ["--output-dir", str(scratch / "out")]
    together = [*ours(), "-api", "lfric", *map(str, files), "-d", str(KERNELS), *out]
    yield "100 files", [together], [compile_one(peer(), file, scratch) for file in files]


def ours() -> list[str]:
    """Return the command of this tool."""
    return [sys.executable, "-m", "psyclone_storage"]


def peer() -> list[str]:
    """Return the command of PSyclone, from the same environment."""
    return [str(Path(sys.executable).parent / "psyclone")]


def compile_one(tool: list[str], file: Path, scratch: Path) -> list[str]:
    """Return the command that compiles one file; both tools take the same options."""
    outputs = ["-oalg", str(scratch / "alg.f90"), "-opsy", str(scratch / "psy.f90")]
    return [*tool, "-api", "lfric", str(file), "-d", str(KERNELS), *outputs]


def accepted_by_both() -> list[Path]:
    """Return the algorithms of the corpus that PSyclone accepts too, with its default settings."""
    refused = ROOT / "tests" / "differential" / "expectations.toml"
    text = refused.read_text(encoding="utf-8")
    return [file for file in sorted(CORPUS.glob("*.x90")) if file.stem not in text]


def many_builtins(number: int) -> str:
    """Return an algorithm of one invoke with `number` built-ins on as many fields."""
    fields = [f"f{index}" for index in range(number)]
    declared = "\n".join(f"  type(field_type) :: {name}" for name in fields)
    calls = ", &\n    ".join(
        f"setval_c({name}, {index}.0_r_def)" if index % 2 else f"inc_a_times_X(2.0_r_def, {name})"
        for index, name in enumerate(fields)
    )
    return (
        "program many_builtins\n  use constants_mod, only: r_def\n"
        f"  use field_mod, only: field_type\n  implicit none\n{declared}\n"
        f"  call invoke( &\n    {calls} )\nend program many_builtins\n"
    )


# ------------------------------------------------------------------ growth


@dataclass(frozen=True)
class Series:
    """Programs of several sizes: `sizes` invokes of three calls, or calls of one invoke.

    A program has as many `pairs` of fields as it needs for different data in each three calls, or
    the given number.
    """

    name: str
    kind: str
    of_invokes: bool
    sizes: Sequence[int]
    options: tuple[str, ...] = ()
    pairs: int | None = None

    def text(self, size: int) -> str:
        """Return the program of a size; size 1 has one invoke of three calls."""
        invokes, calls = (size, 3) if self.of_invokes or size == 1 else (1, size)
        return TEXTS[self.kind](invokes, calls, self.pairs or -(-calls // 3) + 1)

    def command(self, size: int, folder: Path) -> list[str]:
        """Write the program of a size and return the command that compiles it."""
        suffix, api, kernels = {
            "LFRic": (".x90", "lfric", KERNELS),
            "built-ins": (".x90", "lfric", KERNELS),
            "GOcean": (".x90", "gocean", GOCEAN / "kernels"),
            "Python": (".py", "gocean", GOCEAN / "python" / "kernels"),
        }[self.kind]
        file = folder / f"growth_mod{suffix}"
        file.write_text(self.text(size), encoding="utf-8")
        out = ["-d", str(kernels), "--output-dir", str(folder / "out")]
        return [*ours(), "-api", api, str(file), *out, *self.options]


def all_series() -> Iterator[Series]:
    """Yield the series of each front end: invokes, calls of one invoke, and calls with `auto`."""
    many, some = (200, 400, 800, 1600), (50, 100, 200, 400)
    for kind in TEXTS:
        yield Series("invokes of 3 calls", kind, True, many)
        yield Series("calls in one invoke", kind, False, many)
        yield Series("calls, auto", kind, False, some, ("--apply", "auto"))
        yield Series("calls, few fields", kind, False, many, (), FEW)


def print_growth(scratch: Path, runs: int, by_instructions: bool) -> None:
    """Print the cost of each series, and the exponent that fits its times or instructions."""
    for series in all_series():
        costs = counted(series, scratch) if by_instructions else interleaved(series, scratch, runs)
        points = []
        for size in series.sizes:
            cost, start = costs[size], costs[1]
            amount, fixed = (
                (cost.instructions, start.instructions)
                if by_instructions
                else (cost.seconds, start.seconds)
            )
            points.append((size, amount - fixed))
            unit = "G" if by_instructions else f"s{cost.megabytes:>7.0f} MB"
            print(f"{series.kind:<10}{series.name:<21}{size:>6}{amount:>9.2f} {unit}", flush=True)
        print(f"{series.kind:<10}{series.name:<21}{'':>6}{exponent(points):>9.2f}"
              f"   (goal: at most {EXPONENT_GOAL})", flush=True)  # fmt: skip
    what = "10^9 instructions" if by_instructions else f"CPU seconds, the least of {runs} runs"
    print(f"\n{what}; the exponent is fitted by least squares, after the cost of a program with"
          " three calls is subtracted.")  # fmt: skip


def counted(series: Series, scratch: Path) -> dict[int, Cost]:
    """Return the cost of each size with the instructions that valgrind counts.

    The count does not depend on the load of the machine. Size 1 is the start-up, which first runs
    without valgrind, so that all modules are compiled.
    """
    log, found = scratch / "valgrind.log", {}
    words = ["valgrind", "--tool=cachegrind", "--cache-sim=no", f"--log-file={log}"]
    measured([series.command(1, scratch)], 1)
    for size in (1, *series.sizes):
        command = [*words, "--cachegrind-out-file=/dev/null", *series.command(size, scratch)]
        cost = measured([command], 1)
        number = re.search(r"I\s+refs:\s+([\d,]+)", log.read_text(encoding="utf-8"))
        assert number is not None
        found[size] = replace(cost, instructions=int(number[1].replace(",", "")) / 1e9)
    return found


def interleaved(series: Series, scratch: Path, runs: int) -> dict[int, Cost]:
    """Return the least cost of each size; all sizes run in turn, so that each meets the same load.

    Size 1 is the start-up.
    """
    found: dict[int, Cost] = {}
    for _ in range(runs):
        for size in (1, *series.sizes):
            cost = measured([series.command(size, scratch)], 1)
            found[size] = min(cost, found.get(size, cost), key=lambda cost: cost.seconds)
    return found


def exponent(points: Sequence[tuple[int, float]]) -> float:
    """Return the slope of the line that fits the logarithms of sizes and times best."""
    logs = [(math.log(size), math.log(max(seconds, 1e-3))) for size, seconds in points]
    middle = [sum(values) / len(logs) for values in zip(*logs, strict=True)]
    above = sum((x - middle[0]) * (y - middle[1]) for x, y in logs)
    return above / sum((x - middle[0]) ** 2 for x, _ in logs)


def lfric_text(invokes: int, calls: int, pairs: int) -> str:
    """Return an LFRic algorithm: set a field, add to its nodes, smooth the next one's cells."""
    fields = [f"{name}{at}" for at in range(pairs) for name in ("node", "cell")]
    listed = [
        call
        for one in range(calls)
        for at, following in [(one % pairs, (one + 1) % pairs)]
        for call in (
            f"setval_c(node{at}, 0.0_r_def)",
            f"nodal_pressure_kernel_type(node{at}, cell{at})",
            f"smooth_x_kernel_type(cell{at}, cell{following}, 1)",
        )
    ]
    uses = (
        "constants_mod, only: r_def",
        "field_mod, only: field_type",
        "nodal_pressure_kernel_mod, only: nodal_pressure_kernel_type",
        "smooth_x_kernel_mod, only: smooth_x_kernel_type",
    )
    return fortran_text(uses, "field_type", fields, [listed[:calls]] * invokes)


def builtins_text(invokes: int, calls: int, pairs: int) -> str:
    """Return an LFRic algorithm of built-ins that share a loop as long as they use few fields."""
    fields = [f"field{at}" for at in range(pairs + 1)]
    listed = [
        f"inc_X_plus_bY({fields[at % pairs]}, 2.0_r_def, {fields[at % pairs + 1]})"
        for at in range(calls)
    ]
    uses = ("constants_mod, only: r_def", "field_mod, only: field_type")
    return fortran_text(uses, "field_type", fields, [listed] * invokes)


def gocean_text(invokes: int, calls: int, pairs: int) -> str:
    """Return a GOcean algorithm: copy a field, smooth it, and hand it to the next pair."""
    fields, listed = grid_calls(calls, pairs)
    uses = (
        "field_mod, only: r2d_field",
        "copy_height_mod, only: copy_height",
        "smooth_mod, only: smooth",
    )
    return fortran_text(uses, "r2d_field", fields, [listed] * invokes)


def python_text(invokes: int, calls: int, pairs: int) -> str:
    """Return the same as `gocean_text`, in Python."""
    fields, listed = grid_calls(calls, pairs)
    invoke = "".join(f"        {call},\n" for call in listed)
    return (
        "from copy_height_mod import copy_height\nfrom smooth_mod import smooth\n\n"
        "from psyclone_storage.gocean import *\n\n\n"
        f"def growth({', '.join(fields)}):\n" + f"    invoke(\n{invoke}    )\n" * invokes
    )


def grid_calls(calls: int, pairs: int) -> tuple[list[str], list[str]]:
    """Return the fields and calls of the programs on a grid."""
    fields = [f"{name}{at}" for at in range(pairs) for name in ("old", "new")]
    listed = [
        call
        for one in range(calls)
        for at, following in [(one % pairs, (one + 1) % pairs)]
        for call in (
            f"copy_height(old{at}, new{at})",
            f"smooth(new{at}, old{at})",
            f"copy_height(new{at}, old{following})",
        )
    ]
    return fields, listed[:calls]


def fortran_text(
    uses: Sequence[str], kind: str, fields: Sequence[str], invokes: Sequence[Sequence[str]]
) -> str:
    """Return a module with one subroutine, which has the invokes."""
    imports = "".join(f"  use {use}\n" for use in uses)
    declared = "".join(f"    type({kind}), intent(inout) :: {name}\n" for name in fields)
    called = "".join(
        "    call invoke( &\n      " + ", &\n      ".join(calls) + ")\n" for calls in invokes
    )
    return (
        f"module growth_mod\n{imports}  implicit none\ncontains\n"
        "  subroutine growth( &\n      " + ", &\n      ".join(fields) + f")\n{declared}{called}"
        "  end subroutine growth\nend module growth_mod\n"
    )


TEXTS = {
    "LFRic": lfric_text,
    "built-ins": builtins_text,
    "GOcean": gocean_text,
    "Python": python_text,
}
FEW = 2
"""The number of pairs of fields of programs with few fields."""


# ------------------------------------------------------------------ processes


def measured(commands: Commands, runs: int, kept: str = "", *, may_fail: bool = False) -> Cost:
    """Return the least CPU time of running all `commands`, and the most memory of any.

    `kept` is the folder of kept translations; without a name there is none.
    """
    if len(commands) > 1:
        runs = 1
    totals = []
    for _ in range(runs):
        costs = [run(command, kept, may_fail) for command in commands]
        seconds = sum(cost.seconds for cost in costs)
        totals.append(Cost(seconds, max(cost.megabytes for cost in costs)))
    return min(totals, key=lambda cost: cost.seconds)


def run(command: Sequence[str], kept: str, may_fail: bool) -> Cost:
    """Run one process and return what it cost; stop everything if it fails and may not."""
    # Equal hashes in all runs make counts of instructions repeatable.
    environment = {**os.environ, "PSYCLONE_STORAGE_CACHE": kept, "PYTHONHASHSEED": "0"}
    # Otherwise each process compiles the modules of the package again.
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    process = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=environment
    )
    assert process.stderr is not None
    errors = process.stderr.read().decode()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode and not may_fail:
        sys.exit(f"{' '.join(command)} failed:\n{errors}")
    return Cost(usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def print_profile(scratch: Path) -> None:
    """Compile the corpus in this process and print the time that each room of ours takes."""
    words = [*map(str, accepted_by_both()), "-d", str(KERNELS), "--output-dir", str(scratch)]
    words.append("--no-cache")
    profile = cProfile.Profile()
    with contextlib.redirect_stdout(io.StringIO()), profile:
        command(words)
    rooms: dict[str, float] = defaultdict(float)
    for (file, _, _), (_, _, own, _, _) in pstats.Stats(profile).stats.items():  # type: ignore[attr-defined]
        rooms[room_of(file)] += own
    total = sum(rooms.values())
    print(f"{len(accepted_by_both())} algorithms, {total:.2f} s under the profiler")
    for room, seconds in sorted(rooms.items(), key=lambda item: -item[1]):
        print(f"{room:<28}{seconds:>8.2f} s{100 * seconds / total:>7.1f} %")


def room_of(file: str) -> str:
    """Return the room of ours that a file belongs to, or what else it is."""
    parts = Path(file).parts
    if "psyclone_storage" in parts:
        return "/".join(parts[parts.index("psyclone_storage") + 1 :][:2]).removesuffix(".py")
    return "Python's library"


if __name__ == "__main__":
    main()
