"""Runs the scripts of the examples, as their users do."""

from __future__ import annotations

import os
from pathlib import Path

from runtime.programs import command

EXAMPLES = Path(__file__).parents[2] / "examples"


def run_example(script: Path, tools: Path, *words: str, **variables: str) -> str:
    """Run a script with the command of this source tree, which is in `tools`.

    Return what it prints.
    """
    settings = {"PATH": f"{tools}:{os.environ['PATH']}", **variables}
    environment = ["env", *(f"{name}={value}" for name, value in settings.items())]
    return command([*environment, str(script), *words], tools)
