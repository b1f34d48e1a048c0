"""How many halo exchanges the algorithms of LFRic need, and what they touch that was never filled.

    python benchmarks/lfric_exchanges.py path/to/lfric_core path/to/lfric_apps

compiles every algorithm below the folders, with annexed dofs off and on, no script and no built-ins
fused, and counts the exchanges of all invokes, and the fields that are filled without one. Each
component of a field vector counts. Algorithms
that are written for the preprocessor (`.X90`) go through `cpp` first, without definitions. What
cannot be compiled is counted, too, so that nobody takes a part of the tree for all of it.

Every schedule is then executed by the adversary of the halo analysis, with each number of levels
that flags may call clean at entry and nothing else filled. It counts the calls that add to a dof
that nothing has filled, with `FILL_BEFORE_INCREMENT` on and off.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from psyclone_storage.base.diagnostic import CompileError
from psyclone_storage.coherence.check_halos import check_halos
from psyclone_storage.coherence.scenarios import HaloScenario, extent_names
from psyclone_storage.config.load import load_settings
from psyclone_storage.config.locate import search_context
from psyclone_storage.ir.rules import Rules
from psyclone_storage.ir.schedule import FillHalo, HaloExchange, Phase, Schedule
from psyclone_storage.ir.walk import sequential_statements, statements
from psyclone_storage.pipeline.compile import Compiler, make_compiler
from psyclone_storage.pipeline.request import CompileRequest

LEVELS = 5
COLUMNS = ("files", "refused", "invokes", "exchanges", "guarded", "fills", "never filled")


def main() -> None:
    """Print a row for each convention on annexed dofs and each kind of elision."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("folders", nargs="+", type=Path, help="checkouts of LFRic")
    folders = parser.parse_args().folders
    if missing := [str(folder) for folder in folders if not folder.is_dir()]:
        sys.exit(f"There is no folder {', '.join(missing)}.")
    print(f"{'annexed dofs':14}{'fill first':12}" + "".join(f"{name:>15}" for name in COLUMNS))
    with tempfile.TemporaryDirectory() as scratch:
        files = tuple(algorithms(folders, Path(scratch)))
        for annexed in (False, True):
            for fills in (True, False):
                counted = count(files, compiler_for(folders, annexed=annexed, fills=fills))
                words = f"{'on' if annexed else 'off':14}{'yes' if fills else 'no':12}"
                print(words + "".join(f"{counted[name]:15}" for name in COLUMNS), flush=True)


def algorithms(folders: Sequence[Path], scratch: Path) -> Iterator[Path]:
    """Yield every algorithm below `folders`, preprocessed into `scratch` where that is needed."""
    for number, folder in enumerate(folders):
        for path in sorted(folder.rglob("*.[xX]90")):
            if path.suffix == ".x90":
                yield path
                continue
            if shutil.which("cpp") is None:
                sys.exit(f"There is no cpp, which {path.name} needs.")
            written = scratch / str(number) / path.relative_to(folder).with_suffix(".x90")
            written.parent.mkdir(parents=True, exist_ok=True)
            words = ["cpp", "-traditional-cpp", "-P", str(path), str(written)]
            subprocess.run(words, check=True, capture_output=True)
            yield written


def compiler_for(folders: Sequence[Path], *, annexed: bool, fills: bool) -> Compiler:
    """Return what compiles algorithms with the kernels below `folders`."""
    keys = {
        "COMPUTE_ANNEXED_DOFS": annexed,
        "FILL_BEFORE_INCREMENT": fills,
        "FUSE_BUILT_INS": False,
    }
    overrides = " ".join(f"{key}={str(value).lower()}" for key, value in keys.items())
    settings = load_settings("", overrides, search_context({}))
    request = CompileRequest(api="lfric", distributed=True, directories=tuple(folders))
    return make_compiler(settings, request)


def count(files: Sequence[Path], compiler: Compiler) -> Counter[str]:
    """Return what is counted of all invokes in `files`."""
    counted: Counter[str] = Counter()
    for file in files:
        try:
            build = compiler.compile_algorithm(file)
        except CompileError:
            counted["refused"] += 1
            continue
        counted["files"] += 1
        for invoke in build.program.invokes:
            counted["invokes"] += 1
            counted.update(counts_of(invoke.schedule, build.rules))
    return counted


def counts_of(schedule: Schedule, rules: Rules) -> Counter[str]:
    """Return what is counted of one invoke."""
    exchanges = [
        item
        for item in sequential_statements(schedule)
        if isinstance(item, HaloExchange) and item.phase is not Phase.FINISH
    ]
    return Counter(
        {
            "exchanges": len(exchanges),
            "guarded": sum(item.guarded for item in exchanges),
            "fills": sum(isinstance(item, FillHalo) for item in statements(schedule)),
            "never filled": len(unfilled(schedule, rules)),
        }
    )


def unfilled(schedule: Schedule, rules: Rules) -> set[tuple[str, str]]:
    """Return each call that adds to what was never filled, and the field, in any state at entry."""
    asked = replace(schedule, fills=True)
    names = [datum.name for datum in schedule.data]
    shared = frozenset(names) - rules.without_annexed(schedule)
    extents = dict.fromkeys(extent_names(schedule), 1)
    return {
        (found.uid, found.part.datum)
        for flags in range(LEVELS + 1)
        for world in [
            HaloScenario(LEVELS, extents, shared, flags, schedule.annexed_clean, filled=False)
        ]
        for found in check_halos(asked, world)
        if "nothing has ever filled" in found.message
    }


if __name__ == "__main__":
    main()
