"""Drawing of graphs with Graphviz if it is installed."""

from __future__ import annotations

import sys
from pathlib import Path

from psyclone_storage.base.diagnostic import CompileError, Diagnostic

_TEXT = ("dot", "gv")


def draw(text: str, file_name: str, file_format: str) -> None:
    """Draw a graph, given as Graphviz text, to the file `<file_name>.<file_format>`.

    Without Graphviz, the text is written to `<file_name>.dot`, with a message on standard error.

    Raises:
        CompileError: `T002`, Graphviz cannot draw in this format.
    """
    if file_format in _TEXT:
        Path(f"{file_name}.{file_format}").write_text(text, encoding="utf-8")
        return
    import shutil  # noqa: PLC0415
    import subprocess  # noqa: PLC0415 (few scripts draw graphs)

    program = shutil.which("dot")
    if program is None:
        Path(f"{file_name}.dot").write_text(text, encoding="utf-8")
        note = f"Graphviz is not installed: '{file_name}.dot' holds the graph as text."
        sys.stderr.write(f"{note}\n")
        return
    command = [program, f"-T{file_format}", "-o", f"{file_name}.{file_format}"]
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    if done.returncode:
        message = f"Graphviz cannot draw '{file_name}.{file_format}'."
        raise CompileError(Diagnostic("T002", message, hint=done.stderr.strip()))
