"""Trial compilation of generated code with a Fortran compiler.

The PSy layer and the algorithm are compiled together with the kernels, and with the modules in the
kernel folders that these use. Interfaces of the infrastructure are shipped with this package.
Nothing is linked, and only the compiled infrastructure in the user's cache remains. The C code of a
Python algorithm becomes a library in the cache, which the program will load.
"""

from __future__ import annotations

import shlex
import shutil
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from psyclone_storage.base.cache_folders import LIBRARIES_VARIABLE
from psyclone_storage.base.compilers import NoCompilerError, find_c_compiler
from psyclone_storage.base.diagnostic import CompileError, Diagnostic, Severity
from psyclone_storage.base.records import dataclass
from psyclone_storage.base.stopping import deferred, ending
from psyclone_storage.base.temporaries import new_folder
from psyclone_storage.cli.infrastructure import (
    CompiledModules,
    compiler_message,
    find_infrastructure,
    run_in_english,
)
from psyclone_storage.cli.options import CommandOptions
from psyclone_storage.pipeline.compile import Build, Compiler
from psyclone_storage.tools.compile_order import (
    compiled_modules,
    missing_modules,
    modules_defined_in,
    order_of_use,
)

_LIBRARIES = {"profile_psy_data_mod": "profile"}


def try_to_compile(
    file: Path, build: Build, compiler: Compiler, options: CommandOptions
) -> tuple[Diagnostic, ...]:
    """Compile the code generated from `file` and return the errors of the compiler.

    A missing module is reported once, and files that need it are not compiled.
    """
    if file.suffix.lower() == ".py":
        return tuple(_build_libraries(file, build))
    with deferred():
        scratch = new_folder(Path(tempfile.gettempdir()), "compile")
        with ending(partial(shutil.rmtree, scratch, ignore_errors=True)):
            return _tried_in(scratch, file, build, compiler, options)


def _build_libraries(file: Path, build: Build) -> Iterator[Diagnostic]:
    """Build the libraries that the PSy layer of a Python algorithm loads; yield the errors."""
    from psyclone_storage.runtime import compiling  # noqa: PLC0415

    for suffix, text in build.beside:
        if suffix != ".c":
            continue
        try:
            compiling.load_library(text)
        except NoCompilerError as error:
            code = "L011" if find_c_compiler() else "L010"
            yield Diagnostic(code, str(error), file=str(file), hint="See the variable CC.")
            continue
        if reason := compiling.why_not_kept(text):
            message = f"The compiled library cannot be cached: {reason}."
            hint = f"Set {LIBRARIES_VARIABLE} to a folder that only you can write to."
            yield Diagnostic("L003", message, file=str(file), hint=hint)


def _tried_in(
    place: Path, file: Path, build: Build, compiler: Compiler, options: CommandOptions
) -> tuple[Diagnostic, ...]:
    names = (compiler.api.infrastructure, *_libraries(build))
    try:
        interfaces = tuple(find_infrastructure(one, options.compiler, place) for one in names)
    except CompileError as error:
        return error.problems
    warnings = dict.fromkeys(one for item in interfaces for one in item.warnings)
    trial = _TrialCompilation(place, interfaces, options)
    return (*warnings, *trial.run(file, build, compiler))


@dataclass(frozen=True, slots=True)
class _TrialCompilation:
    """One trial compilation in its own folder."""

    scratch: Path
    interfaces: tuple[CompiledModules, ...]
    options: CommandOptions

    def run(self, file: Path, build: Build, compiler: Compiler) -> Iterator[Diagnostic]:
        """Compile the kernels, the PSy layer and the algorithm, as far as possible."""
        provided = set(compiled_modules(self.options.includes))
        provided.update(*(known.modules for known in self.interfaces))
        order = order_of_use(build.kernel_files, compiler.kernels.index, provided)
        if order.missing:
            yield from (_missing(name, user) for name, user in order.missing.items())
            return
        changed = [self._keep(f"{item.module}{item.suffix}", item.text) for item in build.kernels]
        psy = self._keep(f"{file.stem}_psy.f90", build.psy_text)
        for source in (*order.files, *changed, psy):
            problem = self._compile(source)
            if problem is not None and (source is psy or problem.severity is Severity.ERROR):
                yield problem
            if problem is not None and problem.severity is Severity.ERROR:
                return
        known = {*provided, *modules_defined_in(order.files), build.program.name}
        # Modules that only the algorithm uses are compiled after the PSy layer.
        wanted = missing_modules(build.algorithm_text, known)
        found = [path for name in wanted for path in compiler.kernels.index.candidates(name)[:1]]
        others = order_of_use(found, compiler.kernels.index, known)
        known.update(modules_defined_in(others.files))
        missing = {*missing_modules(build.algorithm_text, known), *others.missing}
        if missing:
            yield _not_tried(file, tuple(sorted(missing)))
            return
        for source in others.files:
            problem = self._compile(source)
            if problem is not None and problem.severity is Severity.ERROR:
                yield problem
                return
        algorithm = self._keep(f"{file.stem}.f90", build.algorithm_text)
        if problem := self._compile(algorithm):
            yield problem

    def _keep(self, name: str, text: str) -> Path:
        path = self.scratch / name
        path.write_text(text, encoding="utf-8", errors="surrogateescape")
        return path

    def _compile(self, source: Path) -> Diagnostic | None:
        folders = [*(known.directory for known in self.interfaces), *self.options.includes]
        command = [
            self.options.compiler,
            *shlex.split(self.options.compiler_flags),
            *(f"-I{folder}" for folder in folders),
            f"-J{self.scratch}",
            "-c",
            str(source),
            "-o",
            str(self.scratch / f"{source.stem}.o"),
        ]
        done = run_in_english(command, self.scratch)
        file = self._shown(str(source))
        if done.returncode:
            complaint = self._shown(compiler_message(done))
            message = f"The Fortran compiler rejects '{source.name}':\n{complaint}"
            return Diagnostic("L011", message, file=file)
        if output := self._shown(done.stderr.strip()):
            message = f"The Fortran compiler warns about '{source.name}':\n{output}"
            return Diagnostic("L012", message, file=file, severity=Severity.WARNING)
        return None

    def _shown(self, text: str) -> str:
        """Return `text` with temporary file names replaced by the user's file names."""
        return text.replace(f"{self.scratch}/", "")


def _libraries(build: Build) -> tuple[str, ...]:
    """Return the folders in `external` of the libraries that the generated code uses."""
    used = {
        module
        for text in (build.psy_text, build.algorithm_text)
        for module in missing_modules(text, ())
    }
    return tuple(folder for module, folder in _LIBRARIES.items() if module in used)


def _missing(name: str, user: Path) -> Diagnostic:
    return Diagnostic(
        "L013",
        f"The module '{name}' is not found, so that '{user}' cannot be compiled.",
        file=str(user),
        hint="Name the folder of its source with '-d', or of its compiled module with '-I'.",
    )


def _not_tried(file: Path, missing: tuple[str, ...]) -> Diagnostic:
    names = ", ".join(f"'{name}'" for name in missing)
    return Diagnostic(
        "L014",
        f"The algorithm of '{file}' was not compiled; it uses modules that are not found: {names}.",
        file=str(file),
        hint="The PSy layer and its kernels were compiled.",
        severity=Severity.WARNING,
    )
