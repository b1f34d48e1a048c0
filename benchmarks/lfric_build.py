"""Which algorithms LFRic's own make rules translate if they call this command instead of PSyclone.

    python benchmarks/lfric_build.py CORE APPS
    python benchmarks/lfric_build.py CORE APPS --application lfric_atm --script meto-ex1a uoe-dial3
    python benchmarks/lfric_build.py CORE APPS --one-process

CORE is a checkout of lfric_core, APPS one of lfric_apps that belongs to it, as those tagged
2025.12.1 do. For each application and script, the sources are extracted with LFRic's `extract.mk`
and PSy layers are generated with `psyclone_psykal.mk`, as the application's Makefile does, with its
optimisation scripts unchanged; nothing is compiled. Prints each algorithm that failed, with the
first line of its error, and how many succeeded, for each combination that exists.

With `--one-process`, the make rules only record their command lines, and one process then runs all
of them. It reads each kernel once, so that it needs a fraction of the time.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from psyclone_storage.cli.main import main as translate

CORE = ("core/infrastructure", "core/components/driver", "core/components/science",
        "core/components/inventory")  # fmt: skip
GUNGHO = (*CORE, "core/components/lfric-xios", "apps/science/gungho")
SOURCES = {
    "lfric_atm": (
        *(*CORE, "core/components/lfric-xios", "apps/science/shared"),
        *("apps/interfaces/socrates_interface", "apps/interfaces/jules_interface"),
        *("apps/interfaces/physics_schemes_interface", "apps/interfaces/coupled_interface"),
        *("apps/science/physics_schemes", "apps/science/gungho"),
    ),
    "gravity_wave": GUNGHO,
    "shallow_water": GUNGHO,
    "transport": GUNGHO,
    "solver": (*CORE, "apps/science/gungho"),
    "linear_model": (*GUNGHO, "apps/science/linear"),
}
"""The folders that an application needs, without its own, in the order of its Makefile."""
SCRIPTS = ("minimum", "meto-ex1a", "uoe-dial3")

WRAPPER = """#!/bin/sh
algorithm=$(for word; do :; done; echo "$word")
{command} "$@" 2> "{notes}/$(basename "$algorithm").txt"
status=$?
echo "$status $(basename "$algorithm")" >> "{notes}/status"
exit $status
"""
RECORDER = """#!/bin/sh
printf '%s\\0' "$@" "" >> "{notes}/commands"
"""


def main(argv: Sequence[str]) -> int:
    """Build, print what failed and return 1 if anything did."""
    parser = argparse.ArgumentParser(description="Swap the command in LFRic's make rules.")
    parser.add_argument("core", type=Path)
    parser.add_argument("apps", type=Path)
    parser.add_argument("--application", nargs="+", choices=SOURCES, default=list(SOURCES))
    parser.add_argument(
        "--script", nargs="+", default=SCRIPTS, help="folders in the application's 'optimisation'"
    )
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--one-process", action="store_true", help="run all calls in one process")
    parser.add_argument("--replay", type=Path, help=argparse.SUPPRESS)
    args = parser.parse_args(argv)
    if args.replay:
        return _replay(args.replay)
    core, apps = args.core.resolve(), args.apps.resolve()
    is_good = True
    for application in args.application:
        for script in args.script:
            scripts = apps / "applications" / application / "optimisation" / script
            if not scripts.is_dir():
                print(f"{application}, {script}: no such script")
                continue
            with tempfile.TemporaryDirectory() as folder:
                wrapper = RECORDER if args.one_process else WRAPPER
                environment = _environment(Path(folder), wrapper, core, apps, application)
                _build(environment, _sources(core, apps, application), scripts, args.jobs)
                if args.one_process:
                    _run_recorded(Path(folder) / "notes", environment)
                is_good &= _report(Path(folder), f"{application}, {script}")
    return 0 if is_good else 1


def _sources(core: Path, apps: Path, application: str) -> list[Path]:
    """Return the source folders of `application` that exist."""
    folders = []
    for place in (*SOURCES[application], f"apps/applications/{application}"):
        root, _, rest = place.partition("/")
        folders.append((core if root == "core" else apps) / rest / "source")
    return [folder for folder in folders if folder.is_dir()]


def _build(environment: dict[str, str], sources: list[Path], scripts: Path, jobs: int) -> None:
    for source in sources:
        _make("extract.mk", source, environment, jobs)
    environment["OPTIMISATION_PATH"] = str(scripts)
    for source in sources:
        if any(source.rglob("*.[xX]90")):
            _make("psyclone/psyclone_psykal.mk", source, environment, jobs)


def _run_recorded(notes: Path, environment: dict[str, str]) -> None:
    """Run the recorded command lines in one process, with the Python path of the make rules."""
    path = str(Path(environment["LFRIC_BUILD"]) / "psyclone")
    checkouts = [environment["CORE_ROOT_DIR"], environment["APPS_ROOT_DIR"]]
    words = [sys.executable, __file__, *checkouts, "--replay", str(notes)]
    environment = {**environment, "PYTHONPATH": path}
    subprocess.run(words, env=environment, stdout=subprocess.DEVNULL, check=False)


def _replay(notes: Path) -> int:
    """Run the recorded command lines here, and write what the wrapper of the command writes."""
    text = (notes / "commands").read_text(encoding="utf-8")
    with (notes / "status").open("w", encoding="utf-8") as status:
        for line in text.split("\0\0")[:-1]:
            words = line.split("\0")
            name = Path(words[-1]).name
            with (
                (notes / f"{name}.txt").open("w", encoding="utf-8") as printed,
                contextlib.redirect_stderr(printed),
            ):
                result = translate(words)
            print(result, name, file=status, flush=True)
    return 0


def _environment(
    folder: Path, wrapper: str, core: Path, apps: Path, application: str
) -> dict[str, str]:
    """Return the variables of LFRic's make files, with our `psyclone` first in the path."""
    tools, notes = folder / "tools", folder / "notes"
    tools.mkdir()
    notes.mkdir()
    command = shlex.join([sys.executable, "-m", "psyclone_storage"])
    program = tools / "psyclone"
    program.write_text(wrapper.format(command=command, notes=notes), encoding="utf-8")
    program.chmod(0o755)
    return {
        **os.environ,
        # Without bytecode, each call would compile all modules of the compiler: half of its time.
        "PYTHONDONTWRITEBYTECODE": "",
        "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}",
        "CORE_ROOT_DIR": str(core),
        "APPS_ROOT_DIR": str(apps),
        "LFRIC_BUILD": str(core / "infrastructure/build"),
        "WORKING_DIR": str(folder / "work"),
        "PROJECT_DIR": str(apps / "applications" / application),
        "PROJECT_NAME": application,
        "FORTRAN_COMPILER": "gfortran",
        "FC": "mpif90",
        "FPP": "cpp -traditional-cpp",
        "FPPFLAGS": "-P",
        "LDMPI": "mpif90",
        "PRE_PROCESS_MACROS": _macros(apps / "applications" / application),
    }


def _macros(application: Path) -> str:
    """Return the macros that an application defines for the preprocessor."""
    rules = application / "build" / "project.mk"
    text = rules.read_text(encoding="utf-8") if rules.exists() else ""
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


def _report(folder: Path, title: str) -> bool:
    """Print what failed and how many succeeded; return whether all did, and there were some."""
    notes = folder / "notes"
    status = notes / "status"
    lines = status.read_text(encoding="utf-8").splitlines() if status.exists() else []
    failed = sorted(line.partition(" ")[2] for line in lines if not line.startswith("0 "))
    for name in failed:
        printed = (notes / f"{name}.txt").read_text(encoding="utf-8").splitlines()
        first = next((line for line in printed if line.startswith("error")), "no error message")
        print(f"{title}: {name}: {first}")
    print(f"{title}: {len(lines) - len(failed)} of {len(lines)} algorithms succeeded", flush=True)
    return bool(lines) and not failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
