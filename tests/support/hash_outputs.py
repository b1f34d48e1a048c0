"""Hash every output of the commands, so that a refactoring can be shown to change none of them.

    python tests/support/hash_outputs.py [--record] [--keep DIR] [--only TEXT]
    python tests/support/hash_outputs.py --trees DIR ... --api lfric --hashes DIR [-s SCRIPT]

Without options it compares all outputs with tests/output_hashes/*.csv and exits with status 1 on a
difference. `--record` writes these tables, `--keep` also writes all outputs below a folder (to diff
two source trees), `--trees` takes algorithms and kernels of other trees.

Each row of a table is an input file, each column a variant of the command. A cell is the hash of
the exit status, both streams and every file that the command writes. `renamed.csv` lists public
identifiers that were renamed since the tables were recorded: in new outputs, each new name counts
as the old one.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import multiprocessing
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from command import Outcome, run_command

TESTS = Path(__file__).resolve().parents[1]
CORPUS = TESTS / "corpus"
TABLES = TESTS / "output_hashes"
RENAMED = TABLES / "renamed.csv"

# In PSyclone's vocabulary, because that is what production scripts of LFRic use.
SCRIPT = """
from psyclone.domain.lfric import LFRicConstants
from psyclone.domain.lfric.transformations import LFRicColourTrans
from psyclone.psyGen import InvokeSchedule
from psyclone.transformations import (
    LFRicOMPParallelLoopTrans, LFRicRedundantComputationTrans, TransformationError)


def attempt(transformation, loop, **options):
    try:
        transformation.apply(loop, options)
    except TransformationError as error:
        print(error)


def trans(psyir):
    discontinuous = LFRicConstants().VALID_DISCONTINUOUS_NAMES
    for schedule in psyir.walk(InvokeSchedule):
        for loop in schedule.loops():
            if loop.iteration_space == "dof":
                attempt(LFRicRedundantComputationTrans(), loop, depth=1)
        for loop in schedule.loops():
            if loop.iteration_space.endswith("cell_column"):
                if loop.field_space.orig_name not in discontinuous:
                    attempt(LFRicColourTrans(), loop)
        for loop in schedule.loops():
            if loop.loop_type not in ("colours", "null"):
                attempt(LFRicOMPParallelLoopTrans(), loop)
"""

INSPECTED = "--schedule --schedule-json schedules.json --dag dag.gv --explain --diagnostics json"
GENERATED = f"{INSPECTED} -oalg alg -opsy psy -okern ."
RECIPES = {
    "plain": "",
    "auto": "--apply auto",
    "openacc": "--apply openacc",
    "script": "-s script.py",
}
TARGETS = {"lfric": "lfric storage registry", "gocean": "dl_esm_inf storage registry",
           "python": "c cuda numpy"}  # fmt: skip
TOOLS = {
    "stub": "-gen stub",
    "algorithm": "-gen alg",
    "c": "-gen c",
    "c-loops": "-gen c-loops",
    "cuda": "-gen cuda",
    "python": "-gen python",
    "check": "-check",
    "device": "-device",
}


@dataclass(frozen=True)
class Kind:
    """Inputs of one table: the files, the folder of their kernels, the command line by column."""

    name: str
    files: tuple[Path, ...]
    kernels: tuple[Path, ...]
    variants: Mapping[str, str]


def main(words: Sequence[str]) -> int:
    """Record the tables or compare with them; return 1 if an output differs."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--record", action="store_true", help="write the tables")
    parser.add_argument("--keep", type=Path, help="write all outputs below this folder")
    parser.add_argument("--only", default="", help="the inputs whose name contains this text")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--trees", type=Path, nargs="+", help="trees with *.x90 files and kernels")
    parser.add_argument("--api", choices=("lfric", "gocean"), default="lfric", help="of --trees")
    parser.add_argument("--hashes", type=Path, default=TABLES, help="the folder of the tables")
    parser.add_argument("-s", "--script", type=Path, help="in place of the built-in script")
    args = parser.parse_args(words)
    script = args.script.read_text(encoding="utf-8") if args.script else SCRIPT
    kinds = of_trees(args.trees, args.api) if args.trees else of_corpora()
    different = compared = 0
    with multiprocessing.get_context("spawn").Pool(args.jobs) as pool:
        for kind in kinds:
            chosen = [file for file in kind.files if args.only in file.name]
            work = partial(hashes_of, kind, script=script, keep=args.keep)
            rows = dict(pool.imap_unordered(work, chosen, chunksize=1))
            table = args.hashes / f"{kind.name}.csv"
            if args.record:
                write_table(table, tuple(kind.variants), rows)
            else:
                before = read_table(table)
                different += print_differences(kind.name, before, rows)
                lost = () if args.only else sorted({*before} - {*rows})
                different += len(lost)
                for row in lost:
                    print(f"{kind.name}: {row} is recorded, but no input")
            compared += len(rows)
            print(f"{kind.name}: {len(rows)} inputs x {len(kind.variants)} variants", flush=True)
    if not compared:
        parser.error(f"no input has a name with '{args.only}'")
    print(f"{different} outputs differ" if different else "no output differs")
    return int(bool(different))


def of_corpora() -> tuple[Kind, ...]:
    """Return what the repository contains: algorithms of both APIs, Python programs, kernels."""
    lfric, gocean = CORPUS / "lfric", CORPUS / "gocean"
    python = gocean / "python"
    return (
        _algorithms("lfric", lfric.glob("*.x90"), (lfric / "kernels",)),
        _algorithms("gocean", gocean.glob("*.x90"), (gocean / "kernels",)),
        Kind("python", tuple(sorted(python.glob("*.py"))), (python / "kernels",), _variants(
            "gocean", "python", ("plain", "auto"))),
        Kind("translated", tuple(sorted(lfric.glob("*.x90"))), (lfric / "kernels",), {
            "python": "psyclone-storage-kern -gen python -o alg.py"}),
        *(
            Kind(f"{folder.name}-kernels", tuple(sorted(folder.glob("kernels/*.f90"))), (), {
                name: f"psyclone-storage-kern -api {folder.name} {tool} --diagnostics json"
                for name, tool in TOOLS.items()})
            for folder in (lfric, gocean)
        ),
    )  # fmt: skip


def of_trees(trees: Sequence[Path], api: str) -> tuple[Kind, ...]:
    """Return the algorithms below `trees`, whose kernels are anywhere below them."""
    files = (file for tree in trees for file in tree.resolve().rglob("*.x90"))
    return (_algorithms(f"{api}-trees", files, tuple(tree.resolve() for tree in trees)),)


def _algorithms(api: str, files: Iterable[Path], kernels: tuple[Path, ...]) -> Kind:
    name = api.partition("-")[0]
    recipes = tuple(RECIPES) if name == "lfric" else ("plain", "auto", "openacc")
    return Kind(api, tuple(sorted(files)), kernels, _variants(name, name, recipes))


def _variants(api: str, targets: str, recipes: Sequence[str]) -> dict[str, str]:
    return {
        f"{recipe}/{target}": f"-api {api} --target {target} {RECIPES[recipe]} {GENERATED}"
        for recipe in recipes
        for target in TARGETS[targets].split()
    }


def hashes_of(
    kind: Kind, file: Path, *, script: str, keep: Path | None
) -> tuple[str, dict[str, str]]:
    """Return the name of an input, and the hash of all outputs by variant."""
    os.environ["PSYCLONE_STORAGE_CACHE"] = ""
    name = file.relative_to(CORPUS).as_posix() if file.is_relative_to(CORPUS) else file.as_posix()
    renamed = _renamed(RENAMED)
    found = {}
    for variant, words in kind.variants.items():
        with tempfile.TemporaryDirectory() as scratch:
            folder = Path(scratch).resolve() / "work"
            done = _run(kind, file, words, folder, script)
            text = renamed(_text_of(done).replace(str(folder), "."))
        found[variant] = hashlib.sha256(text.encode()).hexdigest()[:12]
        if keep:
            path = keep / kind.name / variant / f"{name.lstrip('/')}.txt"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    return name, found


def _run(kind: Kind, file: Path, words: str, folder: Path, script: str) -> Outcome:
    """Run the command on a copy of `file` in `folder`, next to links to its kernels."""
    folder.mkdir(parents=True)
    searched = []
    for number, kernels in enumerate(kind.kernels):
        (folder / f"kernels{number}").symlink_to(kernels, target_is_directory=True)
        searched += ["-d", f"kernels{number}"]
    shutil.copy(file, folder)
    (folder / "script.py").write_text(script, encoding="utf-8")
    return run_command([*words.split(), *searched, file.name], folder)


def _text_of(done: Outcome) -> str:
    parts = {"status": str(done.status), "stdout": done.out, "stderr": done.err, **done.written}
    return "\n".join(f"==> {name}\n{text}" for name, text in sorted(parts.items()))


def _renamed(path: Path) -> Callable[[str], str]:
    """Return a function that replaces each new name of the map by the old one."""
    with path.open(encoding="utf-8", newline="") as rows:
        old = {row["new"]: row["old"] for row in csv.DictReader(rows)}
    if not old:
        return str
    pattern = re.compile(rf"\b({'|'.join(map(re.escape, sorted(old, key=len, reverse=True)))})\b")
    return lambda text: pattern.sub(lambda match: old[match[0]], text)


def write_table(path: Path, columns: Sequence[str], rows: Mapping[str, Mapping[str, str]]) -> None:
    """Write one row for each input, sorted by name."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, ("input", *columns), lineterminator="\n")
        writer.writeheader()
        writer.writerows({"input": name, **rows[name]} for name in sorted(rows))


def read_table(path: Path) -> dict[str, dict[str, str]]:
    """Return the hashes by variant of each input, or nothing if there is no table."""
    if not path.is_file():
        return {}
    with path.open(encoding="utf-8", newline="") as file:
        return {row.pop("input"): row for row in csv.DictReader(file)}


def print_differences(
    name: str, before: Mapping[str, Mapping[str, str]], now: Mapping[str, Mapping[str, str]]
) -> int:
    """Print each output that is not as recorded; return their number."""
    different = [
        (row, variant)
        for row in sorted(now)
        for variant in now[row]
        if now[row][variant] != before.get(row, {}).get(variant)
    ]
    for row, variant in different:
        print(f"{name}: {variant} of {row} {'differs' if row in before else 'is not recorded'}")
    return len(different)


if __name__ == "__main__":
    sys.path.insert(0, str(TESTS.parent / "src"))
    sys.exit(main(sys.argv[1:]))
