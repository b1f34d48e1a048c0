"""Compile every algorithm of LFRic, and count the files that are refused by diagnostic code.

    python benchmarks/lfric_algorithms.py path/to/lfric_core path/to/lfric_apps
    python benchmarks/lfric_algorithms.py CORE APPS --source OTHER/src --apply auto --apply openacc

The two trees must belong together. Each run compiles all `.x90` files of both trees in one
command, once without a recipe and once for each `--apply`. `--source` adds the sources of another
version: each file that it accepts and this version refuses is printed, and the exit status is 1.
Codes are counted once for each place. Generated code is discarded.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

THIS = Path(__file__).resolve().parents[1] / "src"


def main(argv: Sequence[str]) -> int:
    """Print the counts of each run; return 1 if a file is refused that another version accepts."""
    parser = argparse.ArgumentParser(description="Compile all algorithms of LFRic.")
    parser.add_argument("trees", nargs=2, type=Path, metavar="TREE", help="lfric_core, lfric_apps")
    parser.add_argument("--source", action="append", default=[], type=Path)
    parser.add_argument("--apply", action="append", default=[], metavar="STEPS")
    parser.add_argument("--jobs", type=int, default=1)
    args = parser.parse_args(argv)
    trees = [tree.resolve() for tree in args.trees]
    files = sorted(path for tree in trees for path in tree.rglob("*.[xX]90"))
    worse = 0
    for steps in ("", *args.apply):
        found = {source: Run(args.jobs, trees, source.resolve(), steps).compiled(files)
                 for source in (*args.source, THIS)}  # fmt: skip
        for source, outcome in found.items():
            codes = ", ".join(f"{code} {count}" for code, count in sorted(outcome.codes.items()))
            taken = f"{len(outcome.accepted)} of {len(files)} accepted"
            print(f"{steps or 'no recipe'}, {source}: {taken}; {codes}", flush=True)
        for source in args.source:
            for path in sorted(found[source].accepted - found[THIS].accepted):
                print(f"  accepted by {source} alone: {path}", flush=True)
                worse += 1
    return 1 if worse else 0


@dataclass
class Outcome:
    """The accepted files, and how often each diagnostic code was reported."""

    accepted: set[Path] = field(default_factory=set)
    codes: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True)
class Run:
    """One version of the compiler with one recipe, over all algorithms of two trees."""

    jobs: int
    trees: Sequence[Path]
    source: Path
    steps: str

    def compiled(self, files: Sequence[Path]) -> Outcome:
        """Compile `files` and return what was accepted."""
        found = Outcome()
        reported: set[tuple[object, ...]] = set()
        with tempfile.TemporaryDirectory() as folder:
            for number, group in enumerate(_without_namesakes(files)):
                place = Path(folder, str(number))
                place.mkdir()
                for item in self._diagnostics(group, place):
                    reported.add(
                        tuple(item.get(key) for key in ("code", "file", "line", "message"))
                    )
                found.accepted |= {path for path in group if (place / f"{path.stem}.f90").exists()}
        found.codes.update(str(item[0]) for item in reported)
        return found

    def _diagnostics(self, files: Sequence[Path], place: Path) -> list[dict[str, object]]:
        folders = [word for tree in self.trees for word in ("-d", str(tree))]
        words = [sys.executable, "-m", "psyclone_storage", "-api", "lfric", *folders]
        words += ["--diagnostics", "json", "--output-dir", str(place), "-j", str(self.jobs)]
        words += [*(("--apply", self.steps) if self.steps else ()), "--no-cache", *map(str, files)]
        environment = {**os.environ, "PYTHONPATH": str(self.source)}
        done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
        start = done.stderr.find("[\n")
        return list(json.loads(done.stderr[start:])) if start >= 0 else []


def _without_namesakes(files: Sequence[Path]) -> list[list[Path]]:
    """Return `files` in groups without two of one name, as the outputs share a folder."""
    groups: list[dict[str, Path]] = []
    for path in files:
        group = next((one for one in groups if path.stem not in one), None)
        if group is None:
            groups.append(group := {})
        group[path.stem] = path
    return [list(group.values()) for group in groups]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
