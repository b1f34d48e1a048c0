"""Carry the configuration and the Fortran runtime inside the wheel.

Metadata lives in `pyproject.toml`. The default configuration and the Fortran sources are kept
once, at the top level of the checkout. A wheel has no top level, so this hook copies them to
`psyclone_storage/share/` while it is built; `psyclone_storage.config.locate` finds either place.
An editable install reads the checkout itself, and nothing is copied.
"""

from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

ROOT = Path(__file__).parent
SHARED = ("config", "external")
NOT_SHARED = {".o", ".mod", ".smod", ".a", ".so", ".x"}


class BuildWithSharedFiles(build_py):
    """Add the top-level data folders to what `build_py` puts into the wheel."""

    def run(self) -> None:
        """Build the Python modules, then copy the shared files beside them."""
        super().run()
        if self.editable_mode:
            return
        for source, target in self._shared_files().items():
            Path(target).parent.mkdir(parents=True, exist_ok=True)
            self.copy_file(source, target)

    def get_outputs(self, include_bytecode: bool = True) -> list[str]:
        """List every file that the build writes, the shared ones included."""
        outputs: list[str] = super().get_outputs(include_bytecode)
        return outputs if self.editable_mode else [*outputs, *self._shared_files().values()]

    def _shared_files(self) -> dict[str, str]:
        share = Path(self.build_lib) / "psyclone_storage" / "share"
        return {
            str(path): str(share / path.relative_to(ROOT))
            for folder in SHARED
            for path in sorted((ROOT / folder).rglob("*"))
            if path.is_file()
            and path.suffix not in NOT_SHARED
            and "build" not in path.relative_to(ROOT).parts
        }


setup(cmdclass={"build_py": BuildWithSharedFiles})
