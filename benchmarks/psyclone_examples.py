"""Which of PSyclone's own examples go through when the commands are swapped in their Makefiles.

    python benchmarks/psyclone_examples.py path/to/PSyclone

copies the examples, runs `make -k transform` in each folder of the LFRic and GOcean ones, and in
that of the stubs, with our commands under PSyclone's names, and prints what each call came to.
Nothing is compiled. Left out, and listed with the reason, are calls for what this tool does not do,
OpenCL, extraction of regions, checks at run time, and Fortran without an API, and those on Fortran
that is wrong.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

LEFT_OUT = (
    ("OpenCL", re.compile(r"opencl|ocl_|/ocl|_ocl", re.IGNORECASE)),
    ("extraction", re.compile(r"extract", re.IGNORECASE)),
    (
        "checks at run time",
        re.compile(r"read.?only|value.?range|verify|nan|checksum", re.IGNORECASE),
    ),
)
GENERIC = "Fortran without an API"
WRONG = {
    "helmholtz_solver_alg_mod.x90": "wrong: 'tau_t' is declared nowhere, under 'implicit none'",
    "advective_inc_alg_mod.x90": "wrong: 'chi_stencil_extent' is declared nowhere, under"
    " 'implicit none'",
}
"""Algorithms that no compiler takes, neither as they are nor as they are rewritten."""
WRAPPER = """#!/bin/sh
{command} "$@" > "{notes}/$$.txt" 2>&1
status=$?
cat "{notes}/$$.txt"
words=$(echo "$@" | tr '\\n\\t' '  ')
printf '%s\\t%s\\t%s\\t%s\\n' "$status" "$$" "$PWD" "$words" >> "{notes}/calls"
exit $status
"""


def main(argv: Sequence[str]) -> int:
    """Run the examples, print what came of them and return 1 if a call failed that should not."""
    parser = argparse.ArgumentParser(description="Swap the commands in PSyclone's examples.")
    parser.add_argument("psyclone", type=Path)
    args = parser.parse_args(argv)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        notes, tools = folder / "notes", folder / "tools"
        notes.mkdir()
        tools.mkdir()
        for word, module in (("psyclone", COMMAND), ("psyclone-kern", KERNELS)):
            _wrap(tools / word, module, notes)
        for part in ("examples", "external", "config", "lib", "tutorial"):
            shutil.copytree(args.psyclone / part, folder / "tree" / part, symlinks=True)
        environment = {**os.environ, "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}"}
        examples = folder / "tree/examples"
        for place in (
            *sorted(examples.glob("lfric/eg*")),
            examples / "lfric/scripts",
            *sorted(examples.glob("gocean/eg*")),
            examples / "stub_generation",
        ):
            words = ["make", "-k", "-s", "-C", str(place), "transform"]
            subprocess.run(words, env=environment, capture_output=True, check=False)
        return _told(notes, examples)


COMMAND, KERNELS = "psyclone_storage.cli.main", "psyclone_storage.cli.kern"


def _wrap(path: Path, module: str, notes: Path) -> None:
    command = shlex.join(
        [sys.executable, "-c", f"import sys; from {module} import main; sys.exit(main())"]
    )
    path.write_text(WRAPPER.format(command=command, notes=notes), encoding="utf-8")
    path.chmod(0o755)


def _told(notes: Path, examples: Path) -> int:
    counts = {"went through": 0, "failed": 0, "left out": 0}
    for line in (notes / "calls").read_text(encoding="utf-8").splitlines():
        status, number, place, words = line.split("\t")
        where = Path(place).resolve().relative_to(examples.resolve())
        called = words.replace(str(examples.parent), "")
        reason = "" if status == "0" else _why_left_out(called, where)
        kind = "went through" if status == "0" else "left out" if reason else "failed"
        counts[kind] += 1
        if kind == "went through":
            continue
        said = (notes / f"{number}.txt").read_text(encoding="utf-8").splitlines()
        first = next((text for text in said if re.match(r"error|usage", text)), "".join(said[:1]))
        print(f"{kind}: {where}: {called}\n    {reason or first}")
    print(", ".join(f"{count} {kind}" for kind, count in counts.items()))
    return 1 if counts["failed"] else 0


def _why_left_out(called: str, where: Path) -> str:
    if wrong := WRONG.get(called.rsplit(maxsplit=1)[-1]):
        return wrong
    named = f"{where} {called}"
    for reason, pattern in LEFT_OUT:
        if pattern.search(named):
            return reason
    api = "-api" in called or "--psykal-dsl" in called or where.name == "stub_generation"
    return "" if api else GENERIC


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
