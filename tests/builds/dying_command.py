"""The command `psyclone-storage`, which may die at a chosen moment of writing its outputs."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

from psyclone_storage.cli.main import main


def dying(usual: object, state: list[int]) -> object:
    def replace(path: Path, target: Path) -> Path:
        if state[0] == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        state[0] -= 1
        return usual(path, target)  # type: ignore[operator]

    return replace


def die_after(left: int) -> None:
    """Let this process die when it has given so many files their names, if it is not below 0."""
    if left >= 0:
        Path.replace = dying(Path.replace, [left])  # type: ignore[assignment,method-assign]


if __name__ == "__main__":
    die_after(int(os.environ.get("DIES_AFTER", "-1")))
    sys.exit(main())
