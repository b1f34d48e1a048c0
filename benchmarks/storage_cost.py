"""What storages cost a run on the host: programs with them beside plain ones, in one run.

    python benchmarks/storage_cost.py                      LFRic's matrix-vector product
    python benchmarks/storage_cost.py --nemolite2d PATH    and a step of NEMOLite2D

PATH is as for `nemolite2d.py`; the product is that of `generated.py`. Each is made for plain
fields, for fields with storages and for a registry of storages, without steps, with `auto` and with
kernels copied into their layer. The programs run in turn, each round begins with another one, on
one processor, ahead of other programs if that is allowed. It is processor time that is compared:
the least of all runs, and the middle one of each program. `instructions` are those of one call, as
valgrind counts them, if it is installed.

The exit status is 1 if least and middle are both over 1 % above the plain program's.
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
from dataclasses import replace
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


def main() -> int:
    """Measure all sizes; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
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


def measured(api: Api, scratch: Path, rounds: int) -> dict[Variant, Timing]:
    """Return what the programs take; stop if they compute different things."""
    in_parallel(lambda one: generate(api, one, folder_of(one, scratch)), api.variants)
    programs = build_all(api, scratch, FLAGS, api.variants)
    first = pinned()
    timings = {variant: Timing() for variant in programs}
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
                number = count(program, api.small, case.routine) / api.points
                timings[variant].instructions[case.name] = number
    return timings


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


Pair = tuple[Case, Timing, Timing]


def pairs(api: Api, timings: Mapping[Variant, Timing]) -> Iterator[Pair]:
    """Yield, for each case and each program with storages, what it and the plain one take."""
    plain = {one.steps: timing for one, timing in timings.items() if one.target is None}
    for case in api.cases:
        for variant, timing in timings.items():
            if variant.target is not None:
                yield case, timing, plain[variant.steps]


def is_lost(case: Case, timing: Timing, plain: Timing) -> bool:
    """Return whether a program takes longer than the plain one, by more than may be."""
    least = timing.least(case.name) / plain.least(case.name)
    return min(least, middle(case, timing) / middle(case, plain)) > MOST_LOST


def middle(case: Case, timing: Timing) -> float:
    """Return the time of the middle run."""
    return statistics.median(timing.milliseconds[case.name])


def table(api: Api, timings: Mapping[Variant, Timing]) -> Iterator[str]:
    """Yield the lines of a table: a row for each case and program, beside the plain one."""
    yield f"\n{api.name}, {' x '.join(api.arguments[:-1])}\n"
    yield "| case | code | least, ms | middle, ms | instructions | least | middle | instructions |"
    yield "|---|---|--:|--:|--:|--:|--:|--:|"
    plain = {one.steps: timing for one, timing in timings.items() if one.target is None}
    for case in api.cases:
        for variant, timing in timings.items():
            beside = plain[variant.steps]
            counted = timing.instructions.get(case.name)
            cells = [f"{timing.least(case.name):.4g}", f"{middle(case, timing):.4g}"]
            cells.append("" if counted is None else f"{counted:.2f}")
            if timing is not beside:
                cells.append(more(timing.least(case.name), beside.least(case.name)))
                cells.append(more(middle(case, timing), middle(case, beside)))
                cells.append(
                    "" if counted is None else more(counted, beside.instructions[case.name])
                )
            else:
                cells += ["", "", ""]
            yield f"| {case.name} | {variant.name} | {' | '.join(cells)} |"


def more(mine: float, other: float) -> str:
    """Return by how much a number is above another one."""
    return f"{100 * (mine / other - 1):+.2f}%"


if __name__ == "__main__":
    sys.exit(main())
