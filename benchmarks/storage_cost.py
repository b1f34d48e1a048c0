"""What storages cost a run on the host: programs with them beside plain ones, in one run.

    python benchmarks/storage_cost.py                      LFRic's matrix-vector product
    python benchmarks/storage_cost.py --nemolite2d PATH    and a step of NEMOLite2D

PATH is as for `nemolite2d.py`; the product is that of `generated.py`. Each is made for plain
fields, for fields with storages and for a registry of storages, without steps, with `auto` and with
kernels copied into their layer. The programs run in turn, each round begins with another one, on
one processor, ahead of other programs if that is allowed. It is processor time that is compared:
the least of all runs, and the middle one of each program. Instructions are counted by valgrind, if
it is installed: those of the first call, in which storages are made, and those of a later one.

The exit status is 1 if least and middle of a program are both over 1 % above the plain one's. Where
the middle run of one of the two is itself over 1 % above its least, other programs disturb more
than is asked about: then both have to be above by more than that, or instructions of a later call
by over 1 %. The last column says what is judged by.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from generated import (
    COUNTED_FLAGS,
    FLAGS,
    Api,
    Case,
    Timing,
    Variant,
    build_all,
    call,
    check_values,
    count,
    folder_of,
    generate,
    in_parallel,
    lfric,
    nemolite2d,
    note,
)

MOST_LOST = 1.01
PLAIN, TARGETS = "plain", ("storage", "registry")
STEPS = {"no steps": None, "`auto`": "auto", "copied": "inline-kernel-module"}
VARIANTS = tuple(
    Variant(f"{name}, {target}", steps=steps, target=None if target == PLAIN else target)
    for name, steps in STEPS.items()
    for target in (PLAIN, *TARGETS)
)
COUNTED_CELLS = 48
LATER_CALLS = 2


@dataclass
class Cost(Timing):
    """What the runs of a program took; `instructions` are those of a later call than the first."""

    first: dict[str, float] = field(default_factory=dict)


def main() -> int:
    """Measure all sizes; return the exit status."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--nemolite2d", type=Path, help="the folder nemolite2d of PSycloneBench")
    parser.add_argument("--sizes", type=int, nargs="+", default=[256, 512], help="points each way")
    parser.add_argument("--cells", type=int, default=256, help="cells of LFRic's mesh each way")
    parser.add_argument("--layers", type=int, default=4, help="layers of LFRic's mesh")
    parser.add_argument("--rounds", type=int, default=15, help="runs of each program")
    given = parser.parse_args()
    lost = False
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name)
        apis = [product(given.cells, given.layers)]
        if given.nemolite2d:
            apis += [
                step_of_nemolite2d(given.nemolite2d, size, scratch / f"step{size}")
                for size in given.sizes
            ]
        for api in apis:
            timings = measured(api, scratch / api.name, given.rounds)
            print("\n".join(table(api, timings)), flush=True)
            lost = lost or any(is_lost(*pair) for pair in pairs(api, timings))
    return 1 if lost else 0


def product(cells: int, layers: int) -> Api:
    """Return LFRic's matrix-vector product."""
    api = lfric(cells, layers)
    return replace(
        api,
        cases=api.cases[:1],
        small=(str(COUNTED_CELLS), str(layers), "1"),
        points=COUNTED_CELLS**2 * layers,
        variants=VARIANTS,
    )


def step_of_nemolite2d(path: Path, points: int, scratch: Path) -> Api:
    """Return a step of NEMOLite2D, whose algorithm is written to `scratch`."""
    return replace(
        nemolite2d(path, points, scratch),
        arguments=(str(points), str(max(6, 20 * 256**2 // points**2))),
        small=(str(points), "1"),
        points=points**2,
        variants=VARIANTS,
    )


# ---------------------------------------------------------------------------- running


def measured(api: Api, scratch: Path, rounds: int) -> dict[Variant, Cost]:
    """Return what the programs take; stop if they compute different things."""
    in_parallel(lambda one: generate(api, one, folder_of(one, scratch)), api.variants)
    programs = build_all(api, scratch, FLAGS, api.variants)
    first = pinned()
    timings = {variant: Cost() for variant in programs}
    order = list(programs)
    for at in range(rounds):
        for variant in (*order[at % len(order) :], *order[: at % len(order)]):
            words = [*first, str(programs[variant]), *api.arguments]
            said = call(words, programs[variant].parent)
            note(timings[variant], said, by_clock=False)
    check_values(timings)
    if shutil.which("valgrind") and os.uname().machine == "x86_64":
        counted = build_all(api, scratch, COUNTED_FLAGS, api.variants)
        for case in api.cases:
            for variant, program in counted.items():
                first, later = counts(program, api, case)
                timings[variant].first[case.name] = first
                timings[variant].instructions[case.name] = later
    return timings


def counts(program: Path, api: Api, case: Case) -> tuple[float, float]:
    """Return the instructions of the first call, and of a later one, for each point."""
    *size, _ = api.small
    first = count(program, (*size, "1"), case.routine)
    later = count(program, (*size, str(1 + LATER_CALLS)), case.routine) - first
    return first / api.points, later / LATER_CALLS / api.points


def pinned() -> list[str]:
    """Return the words before a command that keep it on one processor, and ahead of others."""
    words = [["chrt", "-f", "10"], ["taskset", "-c", str((os.cpu_count() or 1) - 1)]]
    return [word for some in words if may_run(some) for word in some]


def may_run(words: list[str]) -> bool:
    """Return whether a command may be run behind some words."""
    if not shutil.which(words[0]):
        return False
    return subprocess.run([*words, "true"], capture_output=True, check=False).returncode == 0


# ---------------------------------------------------------------------------- printing


Pair = tuple[Case, Cost, Cost]


def pairs(api: Api, timings: Mapping[Variant, Cost]) -> Iterator[Pair]:
    """Yield, for each case and each program with storages, what it and the plain one take."""
    plain = {one.steps: timing for one, timing in timings.items() if one.target is None}
    for case in api.cases:
        for variant, timing in timings.items():
            if variant.target is not None:
                yield case, timing, plain[variant.steps]


def is_lost(case: Case, timing: Cost, plain: Cost) -> bool:
    """Return whether a program takes more than the plain one, by more than may be."""
    least = timing.least(case.name) / plain.least(case.name)
    longer = min(least, middle(case, timing) / middle(case, plain))
    if is_quiet(case, timing, plain):
        return longer > MOST_LOST
    if longer > noise(case, timing, plain):
        return True
    counted = timing.instructions.get(case.name)
    return counted is not None and counted > MOST_LOST * plain.instructions[case.name]


def is_quiet(case: Case, timing: Cost, plain: Cost) -> bool:
    """Return whether runs of one program differ by less than what is asked about."""
    return noise(case, timing, plain) <= MOST_LOST


def noise(case: Case, timing: Cost, plain: Cost) -> float:
    """Return what the middle run takes beside the least, of the program where that is more."""
    return 1 + max(timing.spread(case.name), plain.spread(case.name))


def judged_by(case: Case, timing: Cost, plain: Cost) -> str:
    """Return by what it is found whether a program takes too long."""
    if is_quiet(case, timing, plain):
        return "clock"
    beyond = f"clock beyond {more(noise(case, timing, plain), 1.0)}"
    return f"instructions, {beyond}" if case.name in timing.instructions else beyond


def middle(case: Case, timing: Timing) -> float:
    """Return the time of the middle run."""
    return statistics.median(timing.milliseconds[case.name])


def table(api: Api, timings: Mapping[Variant, Cost]) -> Iterator[str]:
    """Yield the lines of a table: a row for each case and program, beside the plain one."""
    yield f"\n{api.name}, {' x '.join(api.arguments[:-1])}\n"
    yield (
        "| case | code | least, ms | middle, ms | first call | later | least | middle"
        " | first call | later | judged by |"
    )
    yield "|---|---|--:|--:|--:|--:|--:|--:|--:|--:|---|"
    plain = {one.steps: timing for one, timing in timings.items() if one.target is None}
    for case in api.cases:
        for variant, timing in timings.items():
            cells = [*numbers(case, timing), *beside(case, timing, plain[variant.steps])]
            yield f"| {case.name} | {variant.name} | {' | '.join(cells)} |"


def numbers(case: Case, timing: Cost) -> Iterator[str]:
    """Yield what a program takes: times, and instructions for each point if they are counted."""
    yield f"{timing.least(case.name):.4g}"
    yield f"{middle(case, timing):.4g}"
    for counted in (timing.first, timing.instructions):
        yield f"{counted[case.name]:.2f}" if case.name in counted else ""


def beside(case: Case, timing: Cost, plain: Cost) -> Iterator[str]:
    """Yield by how much each of these numbers is above the plain program's, and the judge."""
    if timing is plain:
        yield from [""] * 5
        return
    yield more(timing.least(case.name), plain.least(case.name))
    yield more(middle(case, timing), middle(case, plain))
    for mine, other in ((timing.first, plain.first), (timing.instructions, plain.instructions)):
        yield more(mine[case.name], other[case.name]) if case.name in mine else ""
    yield judged_by(case, timing, plain)


def more(mine: float, other: float) -> str:
    """Return by how much a number is above another one."""
    return f"{100 * (mine / other - 1):+.2f}%"


if __name__ == "__main__":
    sys.exit(main())
