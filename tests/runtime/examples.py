"""Runs the scripts of the examples, as their users do."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from runtime.programs import command

EXAMPLES = Path(__file__).parents[2] / "examples"
TIMES_BUILT = 2
PASS_ON = '''\
#!{python}
"""Passes the words of a script on to PSyclone, in the form that PSyclone knows."""
import os
import sys

from psyclone.generator import main

words = sys.argv[1:]
if "--schedule" in words:
    sys.exit()
algorithm = next(word for word in words if word.endswith(".x90"))
if "--output-dir" in words:
    place = words.index("--output-dir")
    stem = os.path.join(words[place + 1], algorithm.removesuffix(".x90"))
    words[place : place + 2] = ["-oalg", stem + ".f90", "-opsy", stem + "_psy.f90"]
place = words.index("--apply")
assert words[place + 1] == "", "a step of ours"
del words[place : place + 2]
if "-api" not in words:
    words = ["-api", "lfric", *words]
main(["-l", "output", *words])
'''


def run_example(script: Path, tools: Path, *words: str, **variables: str) -> str:
    """Run a script with the command `psyclone-storage` that is in `tools`.

    Return what it prints.
    """
    settings = {"PATH": path_to(tools), **variables}
    environment = ["env", *(f"{name}={value}" for name, value in settings.items())]
    return command([*environment, str(script), *words], tools)


class BuiltExample:
    """An LFRic example that its script builds; then its program alone runs on other ranks.

    The script makes the same program again, whatever the number of ranks: it does so for the
    number that it comes to second, too, in the folder that is then used.
    """

    def __init__(self, script: Path, tools: Path, build: Path, variables: dict[str, str]) -> None:
        self.script = script
        self.tools = tools
        self.build = build
        self.variables = variables
        self.times_built = 0

    def __call__(self, ranks: int) -> str:
        """Run on so many ranks and return what is printed; files of before are gone."""
        for old in self.build.glob("*_[0-9][0-9][0-9].*"):
            old.unlink()
        if self.times_built < TIMES_BUILT:
            self.times_built += 1
            return run_example(self.script, self.tools, str(ranks), **self.variables)
        (program,) = (path for path in self.build.iterdir() if path.is_file() and is_program(path))
        settings = ["env", *(f"{name}={value}" for name, value in self.variables.items())]
        words = ["mpirun", "--oversubscribe", "-n", str(ranks), str(program)]
        return command([*settings, *words], self.build)


def path_to(*folders: Path) -> str:
    """Return where a shell looks for commands, in these folders first."""
    return os.pathsep.join([*map(str, folders), os.environ["PATH"]])


def is_program(path: Path) -> bool:
    return os.access(path, os.X_OK)


def pass_on_to_psyclone(folder: Path) -> None:
    """Make a command `psyclone-storage` in `folder` that is PSyclone."""
    program = folder / "psyclone-storage"
    program.write_text(PASS_ON.format(python=sys.executable), encoding="utf-8")
    program.chmod(0o755)
