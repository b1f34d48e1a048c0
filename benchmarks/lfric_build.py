"""Which algorithms of lfric_atm go through when the command is swapped in LFRic's own make rules.

    python benchmarks/lfric_build.py path/to/lfric_core path/to/lfric_apps [--script minimum]

extracts the sources of lfric_atm with LFRic's `extract.mk` and generates its PSy layers with
`psyclone_psykal.mk`, as its Makefile does, with the optimisation scripts as they are. The two trees
must belong together, as those tagged 2025.12.1 do. The command `psyclone` that the rules call is
ours; nothing of them is changed, nothing is compiled. Prints each algorithm that failed, with the
first line of what was said about it, and how many went through.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

SOURCES = (
    *("core/infrastructure", "core/components/driver", "core/components/science"),
    *("core/components/inventory", "core/components/lfric-xios", "apps/science/shared"),
    *("apps/interfaces/socrates_interface", "apps/interfaces/jules_interface"),
    *("apps/interfaces/physics_schemes_interface", "apps/interfaces/coupled_interface"),
    *("apps/science/physics_schemes", "apps/science/gungho", "apps/applications/lfric_atm"),
)
"""The folders that lfric_atm is made of, in the order in which its Makefile takes them."""

WRAPPER = """#!/bin/sh
algorithm=$(for word; do :; done; echo "$word")
{command} "$@" 2> "{notes}/$(basename "$algorithm").txt"
status=$?
echo "$status $(basename "$algorithm")" >> "{notes}/status"
exit $status
"""


def main(argv: Sequence[str]) -> int:
    """Build, print what failed and return 1 if anything did."""
    parser = argparse.ArgumentParser(description="Swap the command in LFRic's make rules.")
    parser.add_argument("core", type=Path)
    parser.add_argument("apps", type=Path)
    parser.add_argument("--script", default="minimum", help="a folder of lfric_atm/optimisation")
    parser.add_argument("--jobs", type=int, default=2)
    args = parser.parse_args(argv)
    with tempfile.TemporaryDirectory() as folder:
        return _built(Path(folder), args.core.resolve(), args.apps.resolve(), args)


def _built(folder: Path, core: Path, apps: Path, args: argparse.Namespace) -> int:
    notes = folder / "notes"
    notes.mkdir()
    environment = _environment(folder, core, apps, notes)
    for place in SOURCES:
        root, _, rest = place.partition("/")
        source = (core if root == "core" else apps) / rest / "source"
        if source.is_dir():
            _make("extract.mk", source, environment, args.jobs)
    scripts = apps / "applications/lfric_atm/optimisation" / args.script
    environment["OPTIMISATION_PATH"] = str(scripts)
    for place in SOURCES:
        root, _, rest = place.partition("/")
        source = (core if root == "core" else apps) / rest / "source"
        if any(source.rglob("*.[xX]90")):
            _make("psyclone/psyclone_psykal.mk", source, environment, args.jobs)
    return _told(notes)


def _environment(folder: Path, core: Path, apps: Path, notes: Path) -> dict[str, str]:
    """Return what LFRic's make files are told, and a `psyclone` first in the path."""
    tools = folder / "tools"
    tools.mkdir()
    command = shlex.join([sys.executable, "-m", "psyclone_storage"])
    wrapper = tools / "psyclone"
    wrapper.write_text(WRAPPER.format(command=command, notes=notes), encoding="utf-8")
    wrapper.chmod(0o755)
    return {
        **os.environ,
        "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}",
        "CORE_ROOT_DIR": str(core),
        "APPS_ROOT_DIR": str(apps),
        "LFRIC_BUILD": str(core / "infrastructure/build"),
        "WORKING_DIR": str(folder / "work"),
        "PROJECT_DIR": str(apps / "applications/lfric_atm"),
        "PROJECT_NAME": "lfric_atm",
        "FORTRAN_COMPILER": "gfortran",
        "FC": "mpif90",
        "FPP": "cpp -traditional-cpp",
        "FPPFLAGS": "-P",
        "LDMPI": "mpif90",
        "PRE_PROCESS_MACROS": _macros(apps),
    }


def _macros(apps: Path) -> str:
    """Return what lfric_atm defines for the preprocessor."""
    text = (apps / "applications/lfric_atm/build/project.mk").read_text(encoding="utf-8")
    return " ".join(re.findall(r"PRE_PROCESS_MACROS *\+?= *(.*)", text))


def _make(rules: str, source: Path, environment: dict[str, str], jobs: int) -> None:
    """Run one of LFRic's make files on a folder; what fails is told by the command's wrapper."""
    path = Path(environment["LFRIC_BUILD"]) / rules
    words = ["make", "-k", "-s", f"-j{jobs}", "-f", str(path), f"SOURCE_DIR={source}"]
    if "OPTIMISATION_PATH" in environment:
        words.append(f"OPTIMISATION_PATH={environment['OPTIMISATION_PATH']}")
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
    unknown = [line for line in done.stderr.splitlines() if "No rule" in line or "Stop." in line]
    for line in unknown:
        print(f"{source}: {line}")


def _told(notes: Path) -> int:
    status = notes / "status"
    lines = status.read_text(encoding="utf-8").splitlines() if status.exists() else []
    failed = sorted(line.partition(" ")[2] for line in lines if not line.startswith("0 "))
    for name in failed:
        said = (notes / f"{name}.txt").read_text(encoding="utf-8").splitlines()
        first = next((line for line in said if line.startswith("error")), "no error was told")
        print(f"{name}: {first}")
    print(f"{len(lines) - len(failed)} of {len(lines)} algorithms went through")
    return 1 if failed or not lines else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
