"""Translation of Fortran kernels and algorithms to Python."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

from psyclone_storage.base.diagnostic import CompileError, Diagnostic, raise_if_any
from psyclone_storage.base.records import dataclass, replace
from psyclone_storage.base.source import SourceText, Span
from psyclone_storage.config.settings import Api, Settings
from psyclone_storage.ir.expr import Sort, Symbol
from psyclone_storage.ir.interface import Dummy
from psyclone_storage.ir.keys import key_of
from psyclone_storage.ir.parsed import ParsedKernel
from psyclone_storage.ir.routine import ModuleContext
from psyclone_storage.languages.fortran.parse.metadata import read_kernel
from psyclone_storage.languages.fortran.parse.syntax_tree import read_file
from psyclone_storage.languages.python.parse import body as python_body
from psyclone_storage.languages.python.parse import metadata as python_metadata
from psyclone_storage.languages.python.parse.algorithm import (
    read_python_algorithm,
)
from psyclone_storage.languages.python.parse.api_words import Dialect
from psyclone_storage.languages.python.translate.algorithm import (
    AlgorithmContext,
    Surrounding,
    has_invokes,
    translate_algorithm,
)
from psyclone_storage.languages.python.translate.data_declarations import (
    ColumnData,
    DataForm,
    GridData,
)
from psyclone_storage.languages.python.translate.double_precision import of_double_precision
from psyclone_storage.languages.python.translate.gocean_kernels import GridKernels
from psyclone_storage.languages.python.translate.lfric_kernels import ColumnKernels
from psyclone_storage.languages.python.translate.module_writer import PythonText, emit_kernels
from psyclone_storage.languages.python.translate.protocols import KernelForm, TranslatedKernel
from psyclone_storage.languages.python.translate.values import NoPythonError
from psyclone_storage.languages.sources.files import read_source
from psyclone_storage.languages.sources.module_finder import ModuleFinder
from psyclone_storage.targets.apis import api_parts
from psyclone_storage.targets.c_printer import CPrinter
from psyclone_storage.targets.dialects import GOCEAN_WORDS, LFRIC_WORDS
from psyclone_storage.targets.fortran import FORTRAN
from psyclone_storage.targets.spec import find_kernel_types
from psyclone_storage.tools.c_code import KernelRequest, make_finder


@dataclass(frozen=True, slots=True)
class _Words:
    """Python support of one API: the names for parsing, and the forms of kernels and data."""

    dialect: Dialect
    form: KernelForm
    data: Callable[[], DataForm]


_WORDS = {
    Api.GOCEAN: _Words(GOCEAN_WORDS, GridKernels(), GridData),
    Api.LFRIC: _Words(LFRIC_WORDS, ColumnKernels(), ColumnData),
}


def generate_python(path: Path, api: Api, settings: Settings, wanted: KernelRequest) -> str:
    """Return the kernels or algorithms in `path` translated to Python.

    Modules are searched as for C. The result is parsed again to check it.

    Raises:
        CompileError: the file contains no kernel and no invoke; G006, a construct has no Python
            equivalent with the same results.
    """
    source, finder, words = read_source(path), make_finder(wanted, settings), _WORDS[api]
    known = find_kernel_types(FORTRAN, source)
    if not known:
        return _algorithm(source, path, (finder, words), wanted.type_name)
    printer = CPrinter(finder)
    kernels = []
    for name in known if wanted.type_name is None else (wanted.type_name,):
        parsed = read_kernel(source, name)
        dummies = api_parts(api).dummies(api_parts(api).interpret(parsed, settings))
        kernels.append(_translated(parsed, printer, source, dummies))
    return _written(kernels, path, printer.around, (api, settings))


def _written(
    kernels: list[TranslatedKernel], path: Path, around: ModuleContext, of: tuple[Api, Settings]
) -> str:
    """Return kernels as Python text, in which each local variable has a value before it is read."""
    words = _WORDS[of[0]]
    while True:
        made = emit_kernels(kernels, around, words.form, f"Translated from {path.name}.")
        refusals = list(_read_back(made, path, (of[0], words.dialect), of[1]))
        if (more := _begun(kernels, refusals)) == kernels:
            raise_if_any(list(_told(made, refusals)))
            return made.text
        kernels = more


def _translated(
    parsed: ParsedKernel, printer: CPrinter, source: SourceText, dummies: tuple[Dummy, ...]
) -> TranslatedKernel:
    """Return a kernel with its subroutine; if there are several, the double-precision one.

    Raises:
        CompileError: G006, no subroutine or several have this precision.
    """
    codes = [printer.read(source, name) for name in parsed.implementations]
    if len(codes) == 1:
        return TranslatedKernel(parsed, codes[0], dummies)
    try:
        code = of_double_precision(codes, dummies, printer.around)
    except NoPythonError as error:
        message = f"The kernel '{parsed.name}' has no form in Python: {error.reason}."
        hint = "Write a kernel with one subroutine, of real numbers of 8 bytes."
        raise CompileError(Diagnostic("G006", message, parsed.span, hint=hint)) from None
    return TranslatedKernel(replace(parsed, implementations=(code.name,)), code, dummies)


def _algorithm(
    source: SourceText, path: Path, by: tuple[ModuleFinder, _Words], name: str | None
) -> str:
    """Return the procedures of a file that contain invokes as Python, or the one called `name`."""
    FORTRAN.read_algorithm(source)
    finder, words = by
    file = read_file(source)
    units = tuple(
        unit for unit in file.every_unit()
        if has_invokes(unit) and name in (None, unit.name, key_of(unit.name))
    )  # fmt: skip
    if not units:
        message = f"'{path}' holds no kernel type and no invoke."
        raise CompileError(Diagnostic("L006", message, file=str(path)))
    context = AlgorithmContext(
        partial(_home_of, finder), partial(_seen, finder, source), words.data
    )
    made = translate_algorithm(file, units, context, f"Translated from {path.name}.")
    text = SourceText(path.with_suffix(".py").name, made.text)
    try:
        read_python_algorithm(words.dialect, text)
    except CompileError as error:
        raise CompileError(*_in_fortran(made, error, "The algorithm")) from None
    return made.text


def _seen(
    finder: ModuleFinder, source: SourceText, around: tuple[Surrounding, ...]
) -> ModuleContext:
    """Return the names visible in a procedure: those of the units `around` it and of modules."""
    printer = CPrinter(finder)
    printer.know(source)
    known = printer.around

    def own(name: str) -> Symbol | None:
        doubt: Symbol | None = None
        for one in around:
            found = finder.imported(one.uses, name)
            if one.module and (found is None or not found.is_resolved):
                found = known.symbol(key_of(one.module), name) or found
            is_named = any(item.key == name for use in one.uses for item in use.names)
            if found is not None and (found.is_resolved or is_named):
                return found
            doubt = doubt or found
        return doubt

    def symbol(module: str, name: str) -> Symbol | None:
        return known.symbol(module, name) if module.isidentifier() else own(name)

    return ModuleContext(symbol, known.procedures)


def _home_of(
    finder: ModuleFinder, name: str, around: tuple[Surrounding, ...]
) -> tuple[str, str] | None:
    """Return the module that exports a kernel, and the kernel's name there.

    Imports of a procedure hide the imports of enclosing units.
    """
    for one in around:
        for use in one.uses:
            for item in use.names:
                if item.key == name:
                    return use.module_key, item.original_key
        for use in one.uses:
            found = finder.offered(use.module, name) if use.whole else None
            if found is not None and found.sort is Sort.TYPE:
                return use.module_key, name
    return None


@dataclass(frozen=True, slots=True)
class _Refusal:
    """Error in a translated kernel, with the names of the Python text."""

    kernel: str
    error: CompileError


def _read_back(
    made: PythonText, path: Path, of: tuple[Api, Dialect], settings: Settings
) -> Iterator[_Refusal]:
    """Yield the errors found when translated kernels are parsed."""
    api, dialect = of
    source = SourceText(path.with_suffix(".py").name, made.text)
    for name in python_metadata.python_kernel_names(dialect, source):
        try:
            parsed = python_metadata.read_python_kernel(dialect, source, name)
            kernel = api_parts(api).interpret(parsed, settings)
            dummies = api_parts(api).dummies(kernel)
            python_body.read_python_body(dialect, source, parsed.procedure, dummies)
        except CompileError as error:
            yield _Refusal(name, error)


def _told(made: PythonText, refusals: Sequence[_Refusal]) -> Iterator[Diagnostic]:
    for one in refusals:
        yield from _in_fortran(made, one.error, f"The kernel '{one.kernel}'")


def _begun(
    kernels: Sequence[TranslatedKernel], refusals: Sequence[_Refusal]
) -> list[TranslatedKernel]:
    """Return kernels with the local variables that need an initial value, as found by errors."""
    named: dict[str, frozenset[str]] = {}
    for one in refusals:
        named[one.kernel] = frozenset(
            problem.span.text for problem in one.error.problems
            if problem.code == "P053" and problem.span is not None
        )  # fmt: skip
    return [replace(one, begun=one.begun | named.get(key_of(one.parsed.name), frozenset()))
            for one in kernels]  # fmt: skip


def _in_fortran(made: PythonText, error: CompileError, what: str) -> Iterator[Diagnostic]:
    """Yield the errors in a translated text, with Fortran locations."""
    # A name that is read twice in one statement is one thing that is wrong with it.
    found = {}
    for problem in error.problems:
        message = f"{what} has no form in Python: {problem.message}"
        place = _origin(made, problem)
        found[message, place] = Diagnostic("G006", message, place, hint=problem.hint)
    yield from found.values()


def _origin(made: PythonText, problem: Diagnostic) -> Span | None:
    """Return the Fortran location of an error in Python text, or the last location before it."""
    if problem.span is None:
        return None
    line = problem.span.source.line_of(problem.span.start)
    before = [place for place in made.places[:line] if place is not None]
    return before[-1] if before else None
