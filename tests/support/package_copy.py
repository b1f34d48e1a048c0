"""A copy of the package to which a test adds an extension, and counts the files that it enters."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).parents[2]


class PackageCopy:
    """A copy of the package, and what is changed of it."""

    def __init__(self, folder: Path) -> None:
        self.package = folder / "src" / "psyclone_storage"
        shutil.copytree(
            ROOT / "src" / "psyclone_storage",
            self.package,
            ignore=shutil.ignore_patterns("__pycache__", "storage", "runtime"),
        )
        for linked in ("storage", "runtime"):
            (self.package / linked).symlink_to(ROOT / "src" / "psyclone_storage" / linked)
        shutil.copytree(ROOT / "config", folder / "config")
        (folder / "external").mkdir()
        for infrastructure in ("gocean_infrastructure", "lfric_infrastructure"):
            linked_to = ROOT / "external" / infrastructure
            (folder / "external" / infrastructure).symlink_to(linked_to)
        self.folders: set[str] = set()
        self.outside: set[str] = set()

    def write(self, folder: str, files: Mapping[str, str]) -> None:
        """Write a folder of the new target or API."""
        self.folders.add(folder)
        (self.package / folder).mkdir()
        for name, text in {"__init__.py": '"""New."""\n', **files}.items():
            (self.package / folder / name).write_text(text.lstrip(), encoding="utf-8")

    def add(self, file: str, text: str) -> None:
        """Write a file outside of such folders."""
        self.outside.add(file)
        (self.package / file).write_text(text.lstrip(), encoding="utf-8")

    def add_own(self, file: str, text: str) -> None:
        """Write a file of the extension itself in a folder of the product."""
        path = self.package / file
        assert not path.exists()
        path.write_text(text.lstrip(), encoding="utf-8")

    def put(self, file: str, behind: str, row: str, imports: str) -> None:
        """Put a row into a table, and its imports after the first import of the package."""
        self.outside.add(file)
        path = self.package / file
        text = path.read_text(encoding="utf-8")
        assert text.count(behind) == 1
        text = text.replace(behind, behind + row)
        first = text.index("from psyclone_storage")
        path.write_text(text[:first] + imports + text[first:], encoding="utf-8")

    def compile(self, request: str, algorithm: Path) -> str:
        """Return the PSy layer that the copy makes of `algorithm`, in a process of its own."""
        code = (
            "from pathlib import Path\n"
            "from psyclone_storage.config.load import default_settings\n"
            "from psyclone_storage.pipeline.compile import make_compiler\n"
            "from psyclone_storage.pipeline.request import CompileRequest\n"
            f"made = make_compiler(default_settings(), {request})\n"
            f"print(made.compile_algorithm(Path({str(algorithm)!r})).psy_text)\n"
        )
        return self.run(code)

    def run(self, code: str, *words: str, folder: Path | None = None) -> str:
        """Run Python code with the copy; return its output."""
        done = subprocess.run(
            [sys.executable, "-c", code, *words],
            env={**os.environ, "PYTHONPATH": str(self.package.parent)},
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr + done.stdout
        return done.stdout

    def compile_python(self, program: str, folder: Path, *options: str) -> dict[str, str]:
        """Compile a GOcean program with the command; return the generated files by suffix."""
        folder.mkdir()
        (folder / "waves.py").write_text(program, encoding="utf-8")
        words = ("-api", "gocean", "waves.py", "-oalg", "alg.py", "-opsy", "waves_psy.py", *options)
        main = "import sys\nfrom psyclone_storage.cli.main import main\nsys.exit(main())\n"
        self.run(main, *words, folder=folder)
        return {path.suffix: path.read_text(encoding="utf-8") for path in folder.glob("waves_psy*")}
