"""Count how data move through the compiler: files entered, functions, calls, moves between files.

    python benchmarks/moves.py              the demo of examples/lfric with the recipe `auto`
    python benchmarks/moves.py WORD ...     any command line of psyclone-storage

Runs the command in this process under `sys.setprofile`. Resuming a generator counts as a call;
executing the body of a module or class does not.
"""

from __future__ import annotations

import contextlib
import inspect
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from types import FrameType

import psyclone_storage
from psyclone_storage.cli.main import main as command

PACKAGE = str(Path(psyclone_storage.__file__).parent) + "/"
DEMO = Path(__file__).resolve().parents[1] / "examples/lfric/demo"


def main(words: Sequence[str]) -> int:
    """Print the counts, and the ten functions that are called most often."""
    with tempfile.TemporaryDirectory() as folder:
        calls, moves = counted(words or demo(Path(folder)))
    files = {file for file, _ in calls}
    print(
        f"files {len(files)}, functions {len(calls)}, calls {calls.total()}, "
        f"moves between files {moves}"
    )
    for (file, function), number in calls.most_common(10):
        print(f"{number:8} {file}: {function}")
    return 0


def demo(folder: Path) -> list[str]:
    """Return the command line that compiles the demo into `folder`."""
    inputs = [str(DEMO / "gravity_wave_alg_mod.x90"), "-d", str(DEMO / "kernels")]
    outputs = ["-oalg", str(folder / "alg.f90"), "-opsy", str(folder / "psy.f90")]
    return [*inputs, "--apply", "auto", "--no-cache", *outputs]


def counted(words: Sequence[str]) -> tuple[Counter[tuple[str, str]], int]:
    """Return the calls of each function by file and name, and the moves between files."""
    calls: Counter[tuple[str, str]] = Counter()
    moves, last = 0, ""

    def profile(frame: FrameType, event: str, _: object) -> None:
        nonlocal moves, last
        code = frame.f_code
        is_function = code.co_flags & inspect.CO_OPTIMIZED
        if event != "call" or not is_function or not code.co_filename.startswith(PACKAGE):
            return
        calls[code.co_filename.removeprefix(PACKAGE), code.co_qualname] += 1
        if code.co_filename != last:
            moves, last = moves + 1, code.co_filename

    sys.setprofile(profile)
    try:
        with contextlib.suppress(SystemExit):
            command(words)
    finally:
        sys.setprofile(None)
    return calls, moves


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
