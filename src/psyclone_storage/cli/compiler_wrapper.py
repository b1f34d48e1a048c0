"""The command `psyclone-storage-fc`: a Fortran compiler that transforms its sources first.

It takes the words of the compiler that `PSYCLONE_COMPILER` names. Each source is preprocessed by
that compiler with the same flags, transformed by `psyclone-storage` with the options in
`PSYCLONE_OPTS`, and compiled. The exit status is that of the compiler. A build system can name
`psyclone-storage-fc` as its compiler.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import chain, count
from pathlib import Path

from psyclone_storage.base.compilers import run_compiler
from psyclone_storage.base.diagnostic import CompileError, Diagnostic
from psyclone_storage.base.records import dataclass
from psyclone_storage.base.regex import regex
from psyclone_storage.cli.main import main as transform_files
from psyclone_storage.cli.main_guard import run_guarded
from psyclone_storage.cli.process import last_command, rare_collections
from psyclone_storage.cli.style import read_style
from psyclone_storage.cli.write import Output, write_together
from psyclone_storage.languages.fortran.parse.fixed_form import depends_on_length, is_fixed_form

COMPILER = "PSYCLONE_COMPILER"
OPTIONS = "PSYCLONE_OPTS"
EXCLUDED = "PSYCLONEFC_EXCLUDE_FILES"
ON_ERROR = "PSYCLONEFC_ON_ERROR"
"""`stop`, or `original`: compile the author's file if its transformation fails."""
VARIABLES = {
    COMPILER: "the compiler, with options if necessary",
    OPTIONS: "options of 'psyclone-storage' for each source",
    EXCLUDED: "base names, separated by commas, of sources that are compiled without a "
    "transformation",
    ON_ERROR: "'stop' (default), or 'original' to compile the author's file if its transformation "
    "fails",
}
"""The environment variables with their descriptions in the manual page."""

NAME = "psyclone-storage-fc"
_SUFFIXES = frozenset({".f90", ".f95", ".f03", ".f08", ".f", ".for", ".ftn", ".fpp"})
_PREPROCESSED = frozenset({".F90", ".F95", ".F03", ".F08", ".F", ".FOR", ".FTN", ".fpp", ".FPP"})
_FORMS = {
    **dict.fromkeys(("-ffixed-form", "-ffixed", "-fixed", "-Mfixed", "-FI", "-nofree"), True),
    **dict.fromkeys(("-ffree-form", "-ffree", "-free", "-Mfree", "-Mfreeform", "-FR"), False),
    "-nofixed": False,
}
"""Flags of compilers for the form of all sources: whether it is fixed form."""
_CALLS_PREPROCESSOR = frozenset({"-cpp", "-fpp", "-Mpreprocess", "-eZ", "-eF", "-qpreprocess"})
_OTHER_ACTIONS = frozenset({"-E", "-EP", "-P", "-M", "-MM", "--version", "-v", "-###", "--help"})
_WITH_VALUE = frozenset(
    {"-o", "-I", "-J", "-module", "-x", "-L", "-l", "-D", "-U", "-MF", "-MT", "-MQ"}
)
_PRODUCTS = {"-S": ".s", "-c": ".o"}
_LINE_MARKER = regex(r"^#(?:line)?[ \t]+\d+[^\n]*\n?", re.MULTILINE)
_DEPENDENCIES = regex(r"-M(?:D|MD|P|G|[FTQ].*)$")
_NOT_OUTPUTS = ("-openmp", "-openacc", "-opt", "-offload")
_LANGUAGE = regex(r"(?:^| )(-x ?f(?:77|95)\S*)")
_LENGTH = regex(r"-f(fixed|free)-line-length[-=](none|\d+)$")
_EXTENSION = regex(r"-extend-source(?:[:=]?\d+)?$|-Mextend$|-(?:80|132)$|-N\d*$")
_FIXED_LENGTH = 72
_FREE_LENGTH = 132


@dataclass(frozen=True, slots=True)
class CompilerCall:
    """The words of a call of the compiler, read.

    - `dependencies`: the words for a dependency rule, which the preprocessor writes.

    - `others`: the other words that name no source.

    - `product`: the suffix of the file that the compiler makes of each source, empty if it links.
    """

    words: tuple[str, ...]
    sources: tuple[Path, ...]
    dependencies: tuple[str, ...]
    others: tuple[str, ...]
    folders: tuple[str, ...]
    output: Path | None
    product: str

    @property
    def is_other(self) -> bool:
        """Return whether the call neither compiles nor links."""
        return not _OTHER_ACTIONS.isdisjoint(self.words)


def command() -> int:
    """Run `psyclone-storage-fc` on the words of the process, which ends with it."""
    with last_command():
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
    dependencies: list[str] = []
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
        elif word.startswith("-o") and len(word) > 2 and not word.startswith(_NOT_OUTPUTS):
            output = Path(word[2:])
        elif _DEPENDENCIES.match(word):
            dependencies += [word] if value is None else [word, value]
        elif not word.startswith("-") and Path(word).suffix.lower() in _SUFFIXES:
            sources.append(Path(word))
        else:
            others += [word] if value is None else [word, value]
            if word in ("-I", "-J", "-module") and value is not None:
                folders.append(value)
            elif word.startswith(("-I", "-J")) and len(word) > 2:
                folders.append(word[2:])
    product = next((suffix for word, suffix in _PRODUCTS.items() if word in words), "")
    return CompilerCall(
        tuple(words),
        tuple(sources),
        tuple(dependencies),
        tuple(others),
        tuple(folders),
        output,
        product,
    )


def _words_of(variable: str, environment: Mapping[str, str]) -> tuple[str, ...]:
    """Return the words of an environment variable.

    Raises:
        CompileError: `L001`, a quotation in it has no end.
    """
    try:
        return tuple(shlex.split(environment.get(variable, "")))
    except ValueError as error:
        message = f"A quotation in the environment variable '{variable}' has no end."
        raise CompileError(Diagnostic("L001", message)) from error


class _Wrapper:
    """One call: its words, and what the environment requests."""

    def __init__(self, call: CompilerCall, environment: Mapping[str, str]) -> None:
        self._call = call
        self._compiler = _words_of(COMPILER, environment)
        self._flags = (*self._compiler[1:], *call.others)
        self._options = _words_of(OPTIONS, environment)
        self._excluded = frozenset(filter(None, environment.get(EXCLUDED, "").split(",")))
        self._on_error = environment.get(ON_ERROR, "stop")

    def run(self) -> int:
        """Transform and compile the sources; return the compiler's exit status.

        Raises:
            CompileError: the environment is wrong, or a source cannot be preprocessed or written.
        """
        self._check()
        call = self._call
        if call.is_other:
            return self._compile(call.words)
        if self._fails(self._check_words):
            return self._compile(call.words) if self._on_error == "original" else 1
        if not call.sources:
            return self._compile(call.words)
        made: dict[Path, Path] = {}
        for source in dict.fromkeys(call.sources):
            if source.name in self._excluded:
                continue
            target = self._transformed(source, self._target(source, frozenset(made.values())))
            if target is None:
                return 1
            made[source] = target
        return self._compile_each(made) if call.product else self._compile(self._words(made))

    def _check(self) -> None:
        if not self._compiler:
            message = f"The environment variable '{COMPILER}' names no compiler."
            hint = f"Set it to the Fortran compiler, such as '{COMPILER}=gfortran'."
            raise CompileError(Diagnostic("L001", message, hint=hint))
        if Path(self._compiler[0]).name == NAME:
            message = f"The environment variable '{COMPILER}' names '{NAME}' itself."
            raise CompileError(Diagnostic("L001", message))
        if shutil.which(self._compiler[0]) is None:
            message = f"The Fortran compiler '{self._compiler[0]}' is not found."
            hint = f"Install it, or set '{COMPILER}' to another one."
            raise CompileError(Diagnostic("L010", message, hint=hint))
        if self._on_error not in ("stop", "original"):
            message = f"'{ON_ERROR}' is 'stop' or 'original', not '{self._on_error}'."
            raise CompileError(Diagnostic("L001", message))

    def _check_words(self) -> None:
        """Check that the words have the meaning here that they have for the compiler.

        Raises:
            CompileError: `L001`, they cannot be honoured.
        """
        call = self._call
        language = _LANGUAGE.search(" ".join(self._flags))
        if language:
            message = f"'{language[1]}' is not supported: the language of a source is its suffix's."
            hint = f"Rename the source, such as to a name in '.f90', or call '{self._compiler[0]}'."
            raise CompileError(Diagnostic("L001", message, hint=hint))
        if call.product and call.output is not None and len(call.sources) > 1:
            message = f"'-o {call.output}' names one output for {len(call.sources)} sources."
            raise CompileError(Diagnostic("L001", message, hint="Compile one source in each call."))

    def _fails(self, check: Callable[[], None]) -> bool:
        """Return whether a check fails, after its diagnostics are printed."""

        def run() -> tuple[Diagnostic, ...]:
            check()
            return ()

        return bool(run_guarded(run, read_style([])))

    # ------------------------------------------------------------------------ transformation

    def _target(self, source: Path, used: Collection[Path]) -> Path:
        """Return the file for the transformed form of a source, none of those `used`."""
        output = self._call.output
        suffix = ".f" if self._is_fixed(source) else ".f90"
        folder = Path() if output is None else output.parent
        stem = output.stem if output is not None and self._call.product else source.stem
        names = chain([stem], (f"{stem}-{number}" for number in count(2)))
        paths = (folder / f"{name}.psycloned{suffix}" for name in names)
        return next(path for path in paths if path not in used)

    def _transformed(self, source: Path, target: Path) -> Path | None:
        """Return `target`, the transformed form of a source; itself if that failed; None to stop.

        The file that is transformed is a copy if the compiler reads something else than the text
        of the source in the form of its suffix.
        """
        given = source
        if self._preprocesses(source):
            given = target.with_name(target.name.replace(".psycloned.", ".preprocessed."))
            write_together([Output(given, self._preprocessed(source))])
        elif self._is_fixed(source) != is_fixed_form(source.name) and source.is_file():
            given = target.with_name(target.name.replace(".psycloned.", ".copied."))
            write_together([Output(given, _text_of(source))])
        folders = dict.fromkeys((*self._call.folders, str(source.parent), "."))
        known = (word for one in folders if Path(one).is_dir() for word in ("-I", one))
        words = [*self._options, *known, "-o", str(target), str(given)]
        is_wrong = self._fails(lambda: self._check_length(source, given)) or transform_files(words)
        keeps = self._on_error == "original"
        if given is not source and (keeps or not is_wrong):
            given.unlink(missing_ok=True)
        if not is_wrong:
            return target
        return source if keeps else None

    def _preprocesses(self, source: Path) -> bool:
        """Return whether the compiler would preprocess a source."""
        if "-nocpp" in self._flags:
            return False
        return source.suffix in _PREPROCESSED or bool(_CALLS_PREPROCESSOR & set(self._flags))

    def _is_fixed(self, source: Path) -> bool:
        """Return whether the compiler reads a source in fixed form."""
        forms = [_FORMS[word] for word in self._flags if word in _FORMS]
        return forms[-1] if forms else is_fixed_form(source.name)

    def _check_length(self, source: Path, given: Path) -> None:
        """Check that the lines of a source end where the compiler lets them end.

        Raises:
            CompileError: `L001`, a flag gives lines another length, and this changes a statement.
        """
        if not given.is_file():
            return
        is_fixed = self._is_fixed(source)
        usual = _FIXED_LENGTH if is_fixed else _FREE_LENGTH
        flag, length = self._length(is_fixed)
        if flag is None or length == usual:
            return
        text = _text_of(given)
        if length is not None and length < usual:
            message = f"'{flag}' is not supported: generated lines have up to {usual} columns."
        elif is_fixed and depends_on_length(text):
            message = f"'{flag}' changes statements of '{source}': only 72 columns are read."
        elif not is_fixed and length is not None and _longest_line(text) > length:
            message = f"'{flag}' cuts lines of '{source}', which are read as a whole."
        else:
            return
        hint = f"Change the lines or the flag, or name the file in '{EXCLUDED}'."
        raise CompileError(Diagnostic("L001", message, hint=hint, file=str(source)))

    def _length(self, is_fixed: bool) -> tuple[str | None, int | None]:
        """Return the last flag for the length of lines and the length, None if it is unlimited."""
        flag: str | None = None
        length: int | None = None
        for word in self._flags:
            found = _LENGTH.match(word)
            if found and found[1] == ("fixed" if is_fixed else "free"):
                flag, length = word, None if found[2] == "none" else int(found[2]) or None
            elif is_fixed and _EXTENSION.match(word):
                flag, length = word, None
        return flag, length

    def _preprocessed(self, source: Path) -> str:
        """Return the text of a source after the compiler's preprocessor.

        Raises:
            CompileError: `L011`, the preprocessor rejects the source.
        """
        others = (word for word in self._call.others if word not in _PRODUCTS)
        words = [*self._compiler, *others, *self._dependencies(source), "-E", str(source)]
        done = run_compiler(words, errors="surrogateescape")
        sys.stderr.write(done.stderr)
        if done.returncode:
            message = f"The preprocessor of '{self._compiler[0]}' rejects '{source}'."
            raise CompileError(Diagnostic("L011", message, file=str(source)))
        return _LINE_MARKER.sub("", done.stdout)

    def _dependencies(self, source: Path) -> Iterator[str]:
        """Yield the words for the dependency rule, with the names that compilation would give."""
        given = self._call.dependencies
        output = self._call.output or Path(f"{source.stem}.o")
        yield from given
        if given and not any(word.startswith("-MF") for word in given):
            yield from ("-MF", str(output.with_suffix(".d")))
        if given and not any(word.startswith(("-MT", "-MQ")) for word in given):
            yield from ("-MT", str(output))

    # ------------------------------------------------------------------------ compilation

    def _compile_each(self, made: Mapping[Path, Path]) -> int:
        """Compile each source to the object that the compiler would write."""
        for source in self._call.sources:
            output = self._call.output or Path(f"{source.stem}{self._call.product}")
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
        is_known = is_ready and any(map(self._preprocesses, given))
        dependencies = () if is_known else call.dependencies
        words = [*others, *dependencies, *(f"-I{one.parent}" for one in given)]
        output = [] if call.output is None or only is not None else ["-o", str(call.output)]
        return [*words, *output, *map(str, sources)]

    def _compile(self, words: Sequence[str]) -> int:
        sys.stdout.flush()
        return run_compiler([*self._compiler, *words], captured=False).returncode


def _text_of(file: Path) -> str:
    return file.read_bytes().decode("utf-8", errors="surrogateescape")


def _longest_line(text: str) -> int:
    return max(len(line.rstrip()) for line in text.split("\n"))
