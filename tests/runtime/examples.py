"""Runs the scripts of the examples, as their users do."""

from __future__ import annotations

import os
from pathlib import Path

from runtime.programs import command

EXAMPLES = Path(__file__).parents[2] / "examples"
TIMES_BUILT = 2


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
            words = ["--ranks", str(ranks), str(self.build)]
            return run_example(self.script, self.tools, *words, **self.variables)
        (program,) = (path for path in self.build.iterdir() if path.is_file() and is_program(path))
        settings = ["env", *(f"{name}={value}" for name, value in self.variables.items())]
        words = ["mpirun", "--oversubscribe", "-n", str(ranks), str(program)]
        return command([*settings, *words], self.build)


def path_to(*folders: Path) -> str:
    """Return where a shell looks for commands, in these folders first."""
    return os.pathsep.join([*map(str, folders), os.environ["PATH"]])


def is_program(path: Path) -> bool:
    return os.access(path, os.X_OK)
