"""Compile the core of the storage runtime, and carry what is not Python inside the wheel.

The core, and the fast path of invokes, need a C compiler and the headers of Python. Where
either is missing the build prints a message and continues: fallbacks in Python serve then. One
build is for all versions from 3.11 on (the stable ABI); free-threaded Python uses the fallbacks.

Metadata lives in `pyproject.toml`. Configuration, examples and the Fortran sources are kept
once, at the top level of the checkout. A wheel has no top level, so this hook copies them to
`psyclone_storage/share/` while it is built; `psyclone_storage.config.locate` finds either place.
An editable install reads the checkout itself, and nothing is copied. Any build first writes the
Fortran files that follow from templates; a wheel contains them instead of the templates.
"""

import runpy
import sysconfig
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.command.build_py import build_py

ROOT = Path(__file__).parent
SHARED = ("config", "examples", "external")
NOT_SHARED = {".o", ".mod", ".smod", ".a", ".so", ".x", ".t90"}
NOT_IN_WHEEL = ("external/variants.*", "external/.gitignore")


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
            and not any(map(path.match, NOT_IN_WHEEL))
            and not {"build", "__pycache__"}.intersection(path.relative_to(ROOT).parts)
        }


class BuildIfPossible(build_ext):
    """Compile what can be compiled, and say what is missing without it."""

    def build_extension(self, ext: Extension) -> None:
        """Compile; an extension is optional."""
        try:
            super().build_extension(ext)
        except Exception as error:  # noqa: BLE001  # pylint: disable=broad-exception-caught
            self.warn(
                f"{ext.name} could not be compiled ({error}): the package works without it, but "
                f"it is slower. It needs a C compiler and the headers of Python."
            )


CORE = "src/psyclone_storage/storage/core/_compiled"
JIT = "src/psyclone_storage/jit/_compiled"
EXTENSIONS = [
    Extension(
        "psyclone_storage.storage.core._compiled",
        [f"{CORE}.c"],
        depends=[
            f"{CORE}_{part}.h"
            for part in "replica ledger moves faces queued block ways pages".split()
        ],
        py_limited_api=True,
        optional=True,
    ),
    Extension(
        "psyclone_storage.jit._compiled",
        [f"{JIT}.c"],
        depends=[f"{JIT}_{part}.h" for part in "deferred invoke".split()],
        py_limited_api=True,
        optional=True,
    ),
]

runpy.run_path(str(ROOT / "external" / "variants.py"), run_name="__main__")
setup(
    cmdclass={"build_py": BuildWithSharedFiles, "build_ext": BuildIfPossible},
    ext_modules=[] if sysconfig.get_config_var("Py_GIL_DISABLED") else EXTENSIONS,
    options={"bdist_wheel": {"py_limited_api": "cp311"}},
)
