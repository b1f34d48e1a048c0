"""The command `psyclone-storage-fc`: a Fortran compiler that transforms its sources first.

It takes the words of the compiler that `PSYCLONE_COMPILER` names. Each source is preprocessed by
that compiler with the same flags, transformed by `psyclone-storage` with the options in
`PSYCLONE_OPTS`, and compiled. The exit status is that of the compiler. A build system can name
`psyclone-storage-fc` as its compiler.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from psyclone_storage.base.diagnostic import CompileError, Diagnostic
from psyclone_storage.base.records import dataclass
from psyclone_storage.base.regex import regex
from psyclone_storage.cli.garbage_collector import last_collection, rare_collections
from psyclone_storage.cli.main import main as transform_files
from psyclone_storage.cli.main_guard import run_guarded
from psyclone_storage.cli.style import read_style
from psyclone_storage.cli.write import Output, write_together

COMPILER = "PSYCLONE_COMPILER"
OPTIONS = "PSYCLONE_OPTS"
EXCLUDED = "PSYCLONEFC_EXCLUDE_FILES"
ON_ERROR = "PSYCLONEFC_ON_ERROR"
"""`stop`, or `original`: compile the author's file if its transformation fails."""

_NAME = "psyclone-storage-fc"
_SUFFIXES = frozenset({".f90", ".f95", ".f03", ".f08", ".f", ".for", ".ftn", ".fpp"})
_PREPROCESSED = frozenset({".F90", ".F95", ".F03", ".F08", ".F", ".FOR", ".FTN", ".fpp", ".FPP"})
_FIXED = frozenset({".f", ".for", ".ftn", ".fpp"})
_CALLS_PREPROCESSOR = frozenset({"-cpp", "-fpp", "-Mpreprocess", "-eZ", "-eF", "-qpreprocess"})
_OTHER_ACTIONS = frozenset({"-E", "-EP", "-P", "-M", "-MM", "--version", "-v", "-###", "--help"})
_WITH_VALUE = frozenset({"-o", "-I", "-J", "-module", "-x", "-L", "-l", "-D", "-U", "-MF", "-MT"})
_LINE_MARKER = regex(r"#(?: |line )\s*\d+[^\n]*\n?")


@dataclass(frozen=True, slots=True)
class CompilerCall:
    """The words of a call of the compiler, read: `others` are those that name no source."""

    words: tuple[str, ...]
    sources: tuple[Path, ...]
    others: tuple[str, ...]
    folders: tuple[str, ...]
    output: Path | None
    is_object: bool

    @property
    def transforms(self) -> bool:
        """Return whether the call compiles a source."""
        return bool(self.sources) and not _OTHER_ACTIONS & set(self.words)

    def preprocesses(self, source: Path) -> bool:
        """Return whether the compiler would preprocess a source."""
        return source.suffix in _PREPROCESSED or bool(_CALLS_PREPROCESSOR & set(self.others))


def command() -> int:
    """Run `psyclone-storage-fc` on the words of the process, which ends with it."""
    with last_collection():
        return main(sys.argv[1:], os.environ)


def main(words: Sequence[str], environment: Mapping[str, str]) -> int:
    """Compile as `words` request, and return the exit status of the compiler, 1 on our errors."""
    status = 0

    def run() -> tuple[Diagnostic, ...]:
        nonlocal status
        status = _Wrapper(read_compiler_words(words), environment).run()
        return ()

    with rare_collections():
        return run_guarded(run, read_style([])) or status


def read_compiler_words(words: Sequence[str]) -> CompilerCall:
    """Return the words of a compiler's command line by their meanings."""
    sources: list[Path] = []
    others: list[str] = []
    folders: list[str] = []
    output: Path | None = None
    at = 0
    while at < len(words):
        word = words[at]
        value = words[at + 1] if word in _WITH_VALUE and at + 1 < len(words) else None
        at += 1 if value is None else 2
        if word == "-o" and value is not None:
            output = Path(value)
        elif not word.startswith("-") and Path(word).suffix.lower() in _SUFFIXES:
            sources.append(Path(word))
        else:
            others += [word] if value is None else [word, value]
            if word in ("-I", "-J", "-module") and value is not None:
                folders.append(value)
            elif word.startswith(("-I", "-J")) and len(word) > 2:
                folders.append(word[2:])
    return CompilerCall(
        tuple(words), tuple(sources), tuple(others), tuple(folders), output, "-c" in words
    )


class _Wrapper:
    """One call: its words, and what the environment requests."""

    def __init__(self, call: CompilerCall, environment: Mapping[str, str]) -> None:
        self._call = call
        self._compiler = tuple(shlex.split(environment.get(COMPILER, "")))
        self._options = tuple(shlex.split(environment.get(OPTIONS, "")))
        self._excluded = frozenset(filter(None, environment.get(EXCLUDED, "").split(",")))
        self._on_error = environment.get(ON_ERROR, "stop")

    def run(self) -> int:
        """Transform and compile the sources; return the compiler's exit status.

        Raises:
            CompileError: the environment is wrong, or a source cannot be preprocessed or written.
        """
        self._check()
        call = self._call
        if not call.transforms:
            return self._compile(call.words)
        made: dict[Path, Path] = {}
        for source in call.sources:
            if source.name in self._excluded:
                continue
            target = self._transformed(source)
            if target is None:
                return 1
            made[source] = target
        return self._compile_each(made) if call.is_object else self._compile(self._words(made))

    def _check(self) -> None:
        if not self._compiler:
            message = f"The environment variable '{COMPILER}' names no compiler."
            hint = f"Set it to the Fortran compiler, such as '{COMPILER}=gfortran'."
            raise CompileError(Diagnostic("L001", message, hint=hint))
        if Path(self._compiler[0]).name == _NAME:
            message = f"The environment variable '{COMPILER}' names '{_NAME}' itself."
            raise CompileError(Diagnostic("L001", message))
        if shutil.which(self._compiler[0]) is None:
            message = f"The Fortran compiler '{self._compiler[0]}' is not found."
            hint = f"Install it, or set '{COMPILER}' to another one."
            raise CompileError(Diagnostic("L010", message, hint=hint))
        if self._on_error not in ("stop", "original"):
            message = f"'{ON_ERROR}' is 'stop' or 'original', not '{self._on_error}'."
            raise CompileError(Diagnostic("L001", message))

    # ------------------------------------------------------------------------ transformation

    def _transformed(self, source: Path) -> Path | None:
        """Return the transformed form of a source, itself if that failed, None to stop."""
        suffix = ".f" if source.suffix.lower() in _FIXED else ".f90"
        target = self._folder() / f"{source.stem}.psycloned{suffix}"
        given = source
        if self._call.preprocesses(source):
            given = target.with_name(f"{source.stem}.preprocessed{suffix}")
            write_together([Output(given, self._preprocessed(source))])
        folders = dict.fromkeys((*self._call.folders, str(source.parent), "."))
        known = (word for one in folders if Path(one).is_dir() for word in ("-I", one))
        words = [*self._options, *known, "-o", str(target), str(given)]
        if not transform_files(words):
            if given is not source:
                given.unlink(missing_ok=True)
            return target
        return source if self._on_error == "original" else None

    def _preprocessed(self, source: Path) -> str:
        """Return the text of a source after the compiler's preprocessor.

        Raises:
            CompileError: `L011`, the preprocessor rejects the source.
        """
        words = [*self._compiler, *self._without_action(), "-E", str(source)]
        done = subprocess.run(words, capture_output=True, check=False)
        sys.stderr.write(os.fsdecode(done.stderr))
        if done.returncode:
            message = f"The preprocessor of '{self._compiler[0]}' rejects '{source}'."
            raise CompileError(Diagnostic("L011", message, file=str(source)))
        text = done.stdout.decode("utf-8", errors="surrogateescape")
        return _LINE_MARKER.sub("", text)

    def _without_action(self) -> Iterator[str]:
        return (word for word in self._call.others if word not in ("-c", "-S"))

    def _folder(self) -> Path:
        output = self._call.output
        return Path() if output is None else output.parent

    # ------------------------------------------------------------------------ compilation

    def _compile_each(self, made: Mapping[Path, Path]) -> int:
        """Compile each source to the object that the compiler would write."""
        for source in self._call.sources:
            output = self._call.output or Path(f"{source.stem}.o")
            status = self._compile([*self._words(made, only=source), "-o", str(output)])
            if status:
                return status
        return 0

    def _words(self, made: Mapping[Path, Path], only: Path | None = None) -> list[str]:
        """Return the words of a call that compiles transformed sources, all or `only` one.

        Files that a source includes are searched for next to it, as the compiler does.
        """
        call = self._call
        given = call.sources if only is None else (only,)
        sources = [made.get(source, source) for source in given]
        is_ready = all(made.get(source, source) != source for source in given)
        others = [word for word in call.others if not (is_ready and word in _CALLS_PREPROCESSOR)]
        words = [*others, *(f"-I{one.parent}" for one in given)]
        output = [] if call.output is None or only is not None else ["-o", str(call.output)]
        return [*words, *output, *map(str, sources)]

    def _compile(self, words: Sequence[str]) -> int:
        sys.stdout.flush()
        return subprocess.run([*self._compiler, *words], check=False).returncode
