"""Work grows in proportion to the program: the tests count calls of Python functions."""

from __future__ import annotations

import sys
from collections.abc import Callable
from cProfile import Profile
from pathlib import Path
from types import CodeType

import pytest

import psyclone_storage
from command import run_command

sys.path.append(str(Path(__file__).resolve().parents[2] / "benchmarks"))

from compile_time import Series, exponent

from psyclone_storage.ir.facts import Fact, FactKind
from support.file_benches import share, subroutine_bench

PACKAGE = str(Path(psyclone_storage.__file__).parent)

# Whether the size counts invokes, the size, the most work of twice the size, options, and the
# number of pairs of fields.
CASES: dict[str, tuple[bool, int, float, tuple[str, ...], int | None]] = {
    "invokes": (True, 30, 2.4, (), None),
    "calls": (False, 30, 2.4, (), None),
    "auto": (False, 12, 3.4, ("--apply", "auto"), None),
    "few fields": (False, 60, 2.4, (), 2),
    "few fields, auto": (False, 24, 3.4, ("--apply", "auto"), 2),
}

LARGER = {("built-ins", "auto"): (48, 2.2)}
"""The sizes and the most work of programs whose loops have more fields than 12 calls do."""


def calls_during(action: Callable[[], object]) -> int:
    """Return how many Python functions of the package `action` calls."""
    profile = Profile(builtins=False)
    profile.runcall(action)
    return sum(
        entry.callcount
        for entry in profile.getstats()
        if isinstance(entry.code, CodeType) and entry.code.co_filename.startswith(PACKAGE)
    )


@pytest.mark.parametrize("grown", CASES)
@pytest.mark.parametrize("kind", ["LFRic", "built-ins", "GOcean", "Python"])
def test_twice_the_program_takes_about_twice_the_work(
    kind: str, grown: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PSYCLONE_STORAGE_CACHE", "")
    of_invokes, size, most, options, pairs = CASES[grown]
    size, most = LARGER.get((kind, grown), (size, most))
    series = Series(grown, kind, of_invokes, (), options, pairs)

    def compile_size(size: int) -> None:
        folder = tmp_path / str(size)
        folder.mkdir(exist_ok=True)
        compile_program(series.command(size, folder)[3:], folder)

    def work(size: int) -> int:
        return calls_during(lambda: compile_size(size))

    # The first program also generates methods and tables that all need.
    compile_size(2 * size)
    fixed, once, twice = work(1), work(size), work(2 * size)
    assert twice - fixed < most * (once - fixed), (fixed, once, twice)


def compile_program(words: list[str], folder: Path) -> None:
    done = run_command(words, folder)
    assert done.status == 0, done.err


def test_the_exponent_of_a_power_is_found() -> None:
    sizes = (10, 20, 40)
    assert exponent([(size, 3.0 * size**1.5) for size in sizes]) == pytest.approx(1.5)


def test_promises_about_some_loops_cost_nothing_at_others() -> None:
    """Recipes of LFRic make 170 promises about each of 400 loops."""

    def work(loops: int) -> int:
        names = [f"a{number}" for number in range(40)]
        text = "\n".join(
            f"do i = 1, n\n  a{number % 40}(i) = 1.0\nend do" for number in range(loops)
        )
        bench = subroutine_bench(text, f"integer :: i\nreal :: {'(n), '.join(names)}(n)")

        def shared() -> None:
            for loop in bench.loops("work"):
                bench.assume(*(Fact(FactKind.IGNORED, one, "work", loop.uid) for one in names))
                share(bench, loop.uid)

        return calls_during(shared)

    once, twice = work(20), work(40)
    assert twice < 2.6 * once, (once, twice)
