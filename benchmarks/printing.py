"""How many kernels have a form in C, whether it computes the same bits, and why others have none.

    python benchmarks/printing.py FOLDER...              every kernel below the folders
    python benchmarks/printing.py --only NAME FOLDER...  one subroutine
    python benchmarks/printing.py --refused FOLDER...    name every refusal and its place

Files that are preprocessed where they are built must have been, as no branch is chosen here.
Modules are looked for below the folders, too. Each kernel is compiled by gfortran and by gcc, with
-O2 and without contraction, and run in both languages on the same random input.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "support"))

from printed_bodies import GOOD, Bodies, Printed, Refused, checked

_BATCH = 16


def main() -> int:
    """Print, compile and run every kernel below the folders that are given."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--only", default="", help="the one subroutine to look at")
    parser.add_argument("--keep", type=Path, help="where to leave what is compiled")
    parser.add_argument("--refused", action="store_true", help="name every refusal")
    parser.add_argument("--pattern", default="*mod*.[fF]90", help="the files of kernels")
    parser.add_argument("folders", nargs="+", type=Path)
    given = parser.parse_args()
    bodies, begun = Bodies(given.folders), time.perf_counter()
    printed: list[Printed] = []
    refused: list[Refused] = []
    for number, (source, name) in enumerate(bodies.kernels(given.pattern)):
        if given.only in {"", name}:
            found = bodies.printed(source, name, f"k{number}")
            if isinstance(found, Printed):
                printed.append(found)
            else:
                refused.append(found)
    print(f"{len(printed)} of {len(printed) + len(refused)} kernels have a form in C"
          f" ({time.perf_counter() - begun:.1f} s)", flush=True)  # fmt: skip
    _print_refusals(refused, everyone=given.refused)
    with tempfile.TemporaryDirectory() as scratch:
        ends = check(printed, given.keep or Path(scratch))
    print(dict(ends))
    return 0 if set(ends) <= GOOD else 1


def check(printed: list[Printed], folder: Path) -> Counter[str]:
    """Compile and run kernels; return how many ended how, and print those that differ."""
    ends: Counter[str] = Counter()
    for start in range(0, len(printed), _BATCH):
        for kernel, answer in checked(printed[start : start + _BATCH], folder):
            end = answer.partition(":")[0] or "equal"
            ends[end] += 1
            if end not in GOOD:
                print(f"{kernel.name} ({Path(kernel.source.name).name}): {answer}", flush=True)
    return ends


def _print_refusals(refused: list[Refused], *, everyone: bool) -> None:
    reasons: Counter[str] = Counter()
    for item in refused:
        reasons.update({_without_names(problem.message.partition(": ")[2])
                        for problem in item.error.problems})  # fmt: skip
        for problem in item.error.problems if everyone else ():
            span = problem.span
            place = f"{Path(span.source.name).name}:{span.line}:{span.column}" if span else ""
            print(f"  {place} {problem.message}")
    for reason, count in reasons.most_common(40):
        print(f"{count:5}  {reason}")


def _without_names(reason: str) -> str:
    """Return a reason as it is for others, too; that of what is called is the innermost one."""
    innermost = reason.rpartition("is not printed, as ")[2].partition(" (line ")[0]
    return re.sub(r"'[^']*'", "'...'", innermost).rstrip(".")


if __name__ == "__main__":
    sys.exit(main())
