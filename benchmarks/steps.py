"""Whether a step makes generated code slower: every step on every case, in one run.

    python benchmarks/steps.py                     one thread, processor time
    python benchmarks/steps.py --threads 2         by the clock

The cases are those of `generated.py`. There is a program for each step alone, wherever it may be
applied; one for `auto`, and one for `auto` without each of its steps; and one for the default with
a loop for each built-in. All of them run in turn, many times, and the least time of a call counts.
Beside it stands by how much the middle run took longer, and the time without any step by this one.

The exit status is 1 if the default, or `auto`, takes over 5 % longer than it does without one of
the things it does, or `auto` over 5 % longer than a step alone. Such a pair runs once more by
itself before, three times as often, for other programs disturb a clock. Steps that need a user's
word, on the order of elements or on sums, are shown and not counted against `auto`.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from generated import (
    FLAGS,
    Api,
    Timing,
    Variant,
    build_all,
    check_values,
    folder_of,
    generate,
    gocean,
    in_parallel,
    lfric,
    note,
    run,
)

from psyclone_storage.transform.catalogue import RECIPES

MOST_LOST = 1.05
ROUNDS = 7
AGAIN = 3
"""How many times as many rounds a pair gets in which one is too slow."""

ALONE = (
    "fuse",
    "colour",
    "colour{tiling=true}",
    "inline-call",
    "inline-point-call",
    "inline-summing-call",
    "inline-kernel-module",
    "inline-point-kernel",
    "kernel-fuse",
    "kernel-jam",
    "kernel-chunk",
    "kernel-tile",
    "hoist",
    "hoist-bounds",
    "bounds-inside",
    "swap-loops{for_threads=true}",
    "tile-loops",
    "chunk-loop",
    "openmp-simd",
    "outline",
    "inline-point-call; outline",
    "openmp-parallel-do",
    "openmp-do; openmp-parallel",
)
WITH_A_WORD = ("kernel-constants{element_order=0}", "kernel-swap{sums=true}")
TOGETHER = "openmp-do; openmp-parallel"
"""Steps of which neither is finished without the other."""

Programs = Mapping[Variant, Path]
Timings = dict[Variant, Timing]


def main() -> int:
    """Measure both APIs; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--cells", type=int, default=96, help="cells of LFRic's mesh each way")
    parser.add_argument("--layers", type=int, default=40, help="layers of LFRic's mesh")
    parser.add_argument("--points", type=int, default=1000, help="points of GOcean's grid each way")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="runs of each program")
    given = parser.parse_args()
    lost: list[str] = []
    with tempfile.TemporaryDirectory() as scratch:
        for api in (lfric(given.cells, given.layers), gocean(given.points)):
            lost += measure(api, Path(scratch) / api.name, given.threads, given.rounds)
    print("\n".join(["", *lost]) if lost else "\nNothing makes code slower.")
    return 1 if lost else 0


def measure(api: Api, scratch: Path, threads: int, rounds: int) -> list[str]:
    """Print what the programs of `api` take, and return in what the default or `auto` loses."""
    default = Variant("no steps", threads)
    apart = Variant("a loop for each built-in", threads, options="FUSE_BUILT_INS=false")
    auto = Variant("`auto`", threads, steps="auto")
    without = [
        Variant(f"`auto` without {part}", threads, steps=steps)
        for part, steps in recipes_without("auto")
    ]
    alone = [Variant(steps, threads, steps=steps) for steps in ALONE]
    said = [Variant(f"{steps} (a user's word)", threads, steps=steps) for steps in WITH_A_WORD]
    variants = [default, apart, auto, *without, *alone, *said]
    programs = built(api, scratch, variants)
    timings = timed(api, programs, rounds)
    check_values(timings)
    pairs = [(default, apart), *((auto, other) for other in (default, *without, *alone))]
    print("\n".join(table(api, timings, default)), flush=True)
    return [
        line
        for case in api.cases
        for pair in pairs
        for line in losses(api, case.name, {one: programs[one] for one in pair}, timings, rounds)
    ]


def recipes_without(name: str) -> Iterator[tuple[str, str]]:
    """Yield each step of a recipe, with the recipe without it."""
    parts = [part.strip() for part in RECIPES[name].replace(TOGETHER, "*").split(";")]
    for at, part in enumerate(parts):
        steps = "; ".join(parts[:at] + parts[at + 1 :]).replace("*", TOGETHER)
        yield part.replace("*", TOGETHER), steps


def built(api: Api, scratch: Path, variants: list[Variant]) -> dict[Variant, Path]:
    """Return the programs; those whose layers are the same text share one."""
    in_parallel(lambda variant: generate(api, variant, folder_of(variant, scratch)), variants)
    texts: dict[tuple[str, ...], Variant] = {}
    like: dict[Variant, Variant] = {}
    for variant in variants:
        written = sorted(folder_of(variant, scratch).glob("*.f90"))
        like[variant] = texts.setdefault(tuple(path.read_text() for path in written), variant)
    programs = build_all(api, scratch, FLAGS, texts.values())
    return {variant: programs[one] for variant, one in like.items()}


def timed(api: Api, programs: Programs, rounds: int) -> Timings:
    """Return what the programs take, which run in turn."""
    by_program: dict[Path, Timing] = {path: Timing() for path in programs.values()}
    first = {path: variant for variant, path in reversed([*programs.items()])}
    for _ in range(rounds):
        for path, timing in by_program.items():
            note(timing, first[path], run(path, api.arguments, first[path].threads))
    return {variant: by_program[path] for variant, path in programs.items()}


def losses(api: Api, case: str, programs: Programs, timings: Timings, rounds: int) -> Iterator[str]:
    """Yield what the first of two programs loses to the second, if it does so again by itself."""
    pair = tuple(programs)
    if not is_slower(case, timings, pair):
        return
    again = timed(api, programs, AGAIN * rounds)
    if is_slower(case, again, pair):
        times = ", ".join(f"{again[one].least(case):.3g} ms" for one in pair)
        yield f"{case}: '{pair[0].name}' is slower than '{pair[1].name}': {times}."


def is_slower(case: str, timings: Timings, pair: Sequence[Variant]) -> bool:
    """Return whether the first of a pair takes longer than the second, by more than may be."""
    slow, quick = pair
    return timings[slow].least(case) > MOST_LOST * timings[quick].least(case)


def table(api: Api, timings: Timings, default: Variant) -> Iterator[str]:
    """Yield the lines of a table: for each variant the time of each case, and what it gains."""
    yield f"\n{api.name}, {' x '.join(api.arguments[:-1])}, threads: {default.threads}\n"
    names = [case.name for case in api.cases]
    yield f"| code | {' | '.join(f'{name}, ms | spread | speed' for name in names)} |"
    yield "|---|" + "--:|--:|--:|" * len(names)
    for variant, timing in timings.items():
        cells = [
            f"{timing.least(name):.3g} | {timing.spread(name):.0%}"
            f" | {timings[default].least(name) / timing.least(name):.2f}"
            for name in names
        ]
        yield f"| {variant.name} | {' | '.join(cells)} |"


if __name__ == "__main__":
    sys.exit(main())
