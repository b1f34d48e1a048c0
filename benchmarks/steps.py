"""Whether a step makes generated code slower: every step on every case, in one run.

    python benchmarks/steps.py                     one thread, processor time
    python benchmarks/steps.py --threads 2         by the clock
    python benchmarks/steps.py --recipe 'colour'   these steps are judged as if they were `auto`
    python benchmarks/steps.py --nemolite2d PATH   on NEMOLite2D, too, from PSycloneBench

The cases are those of `generated.py`. There is a program for each step alone, wherever it may be
applied; one for `auto`, and one for `auto` without each of its steps; and one for the default with
a loop for each built-in. All of them run in turn, many times, and the least time of a call counts.
Beside it stands by how much the middle run took longer, and the time without any step by this one.

The exit status is 1 if the default, or `auto`, takes over 5 % longer than it does without one of
the things it does, or `auto` over 5 % longer than a step alone. Such a pair runs once more by
itself before, three times as often, for other programs disturb a clock. Steps that need a user's
word, on the order of elements or on sums, are shown and not counted against `auto`.

To see it fail, give it a recipe with a step that is known to lose: `--recipe 'colour'` for LFRic's
product on one thread, `--recipe 'inline-point-call; tile-loops'` for GOcean.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
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
    nemolite2d,
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
    "inline-calling-kernel",
    "kernel-fuse",
    "kernel-jam",
    "kernel-chunk",
    "kernel-tile",
    "hoist",
    "hoist-bounds",
    "bounds-inside",
    "swap-loops{for_threads=true}",
    "tile-columns",
    "tile-loops",
    "chunk-loop",
    "openmp-simd",
    "outline",
    "inline-point-call; outline",
    "inline-point-call; unswitch; outline",
    "openmp-parallel-do",
    "openmp-do; openmp-parallel",
)
WITH_A_WORD = ("kernel-constants{element_order=0}", "kernel-swap{sums=true}")
TOGETHER = "openmp-do; openmp-parallel"
"""Steps of which neither is finished without the other."""

Programs = Mapping[Variant, Path]
Timings = Mapping[Variant, Timing]
Pair = tuple[Variant, Variant]


def main() -> int:
    """Measure both APIs; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--cells", type=int, default=96, help="cells of LFRic's mesh each way")
    parser.add_argument("--layers", type=int, default=40, help="layers of LFRic's mesh")
    parser.add_argument("--points", type=int, default=1000, help="points of GOcean's grid each way")
    parser.add_argument("--nemolite2d", type=Path, help="the folder nemolite2d of PSycloneBench")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="runs of each program")
    parser.add_argument("--recipe", default="auto", help="steps that are judged, or their name")
    parser.add_argument("--api", choices=["lfric", "gocean"], help="the cases of one API alone")
    given = parser.parse_args()
    lost: list[str] = []
    with tempfile.TemporaryDirectory() as scratch:
        apis = [lfric(given.cells, given.layers), gocean(given.points)]
        if given.nemolite2d:
            apis.append(nemolite2d(given.nemolite2d, given.points, Path(scratch) / "algorithm"))
        for number, api in enumerate(apis):
            if given.api in (None, api.name):
                folder = Path(scratch) / str(number)
                lost += measure(api, folder, given.recipe, (given.threads, given.rounds))
    return status(lost)


def status(lost: Sequence[str]) -> int:
    """Print what makes code slower, and return the exit status: 1 if there is any."""
    print("\n".join(["", *lost]) if lost else "\nNothing makes code slower.")
    return 1 if lost else 0


def measure(api: Api, scratch: Path, recipe: str, runs: tuple[int, int]) -> list[str]:
    """Print what the programs of `api` take, and return in what the default or `recipe` loses.

    `runs` are the threads and the rounds.
    """
    threads = runs[0]
    default = Variant("no steps", threads)
    apart = Variant("a loop for each built-in", threads, options="FUSE_BUILT_INS=false")
    auto = Variant(f"`{recipe}`", threads, steps=recipe)
    without = [
        Variant(f"`{recipe}` without {part}", threads, steps=steps)
        for part, steps in recipes_without(recipe)
    ]
    alone = [Variant(steps, threads, steps=steps) for steps in ALONE]
    said = [Variant(f"{steps} (a user's word)", threads, steps=steps) for steps in WITH_A_WORD]
    programs = built(api, scratch, [default, apart, auto, *without, *alone, *said])
    timings = timed(api, programs, runs[1])
    check_values(timings)
    pairs = [(default, apart), *((auto, other) for other in (default, *without, *alone))]
    print("\n".join(table(api, timings, default)), flush=True)

    def again(pair: Pair) -> Timings:
        return timed(api, {one: programs[one] for one in pair}, AGAIN * runs[1])

    names = [case.name for case in api.cases]
    return list(losses(names, different(pairs, programs), timings, again))


def different(pairs: Sequence[Pair], programs: Programs) -> list[Pair]:
    """Return the pairs of which no two are the same two programs; the first of those that are."""
    first = {(programs[one], programs[two]): (one, two) for one, two in reversed(pairs)}
    return [pair for pair in pairs if pair in first.values()]


def recipes_without(recipe: str) -> Iterator[tuple[str, str | None]]:
    """Yield each step of a recipe, with the recipe without it; None where no step is left."""
    text = RECIPES.get(recipe, recipe)
    parts = [part.strip() for part in text.replace(TOGETHER, "*").split(";")]
    for at, part in enumerate(parts):
        steps = "; ".join(parts[:at] + parts[at + 1 :]).replace("*", TOGETHER)
        yield part.replace("*", TOGETHER), steps or None


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
            threads = first[path].threads
            note(timing, run(path, api.arguments, threads), by_clock=threads > 1)
    return {variant: by_program[path] for variant, path in programs.items()}


def losses(
    cases: Iterable[str],
    pairs: Collection[Pair],
    timings: Timings,
    again: Callable[[Pair], Timings],
) -> Iterator[str]:
    """Yield in which cases the first of a pair loses to the second.

    It counts if it does so `again`, when the two run by themselves.
    """
    for case in cases:
        for pair in pairs:
            if is_slower(case, timings, pair) and is_slower(case, found := again(pair), pair):
                times = ", ".join(f"{found[one].least(case):.3g} ms" for one in pair)
                yield f"{case}: '{pair[0].name}' is slower than '{pair[1].name}': {times}."


def is_slower(case: str, timings: Timings, pair: Pair) -> bool:
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
