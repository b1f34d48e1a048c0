"""Tools for a single kernel: a stub of its subroutine, a caller, and a consistency check."""

from __future__ import annotations

from pathlib import Path

from psyclone_storage.analysis.bodies.metadata import check_against_metadata
from psyclone_storage.base.diagnostic import CompileError, Diagnostic, Severity
from psyclone_storage.base.names import listed
from psyclone_storage.config.settings import Api, Settings
from psyclone_storage.ir.keys import key_of
from psyclone_storage.ir.parsed import ParsedKernel
from psyclone_storage.languages.fortran.parse.module_symbols import check_exported
from psyclone_storage.languages.fortran.print.printer import InlinedProcedures
from psyclone_storage.languages.sources.files import read_source
from psyclone_storage.targets.apis import api_parts, target_of
from psyclone_storage.targets.spec import Language, find_kernel_types
from psyclone_storage.tools.kernel_driver import lower_caller
from psyclone_storage.tools.kernel_stub import lower_stub


def generate_stub(path: Path, type_name: str | None, api: Api, settings: Settings) -> str:
    """Return a module with an empty subroutine for the kernel in `path`, which is one of `api`.

    Raises:
        CompileError: the file or its metadata are wrong, or it contains several kernels and
            `type_name` is not given.
    """
    parts, language = api_parts(api), target_of(api).language
    kernel = parts.interpret(_kernel_in(path, type_name, language), settings)
    stub = lower_stub(kernel, parts.dummies(kernel), parts.kinds_module)
    return language.emit_unit(stub, InlinedProcedures())


def generate_caller(path: Path, type_name: str | None, api: Api, settings: Settings) -> str:
    """Return an algorithm that invokes the kernel in `path`, which is one of `api`.

    Raises:
        CompileError: as for `generate_stub`; or `L001`, the API is not supported.
    """
    parts, language = api_parts(api), target_of(api).language
    if parts.passed is None:
        text = f"'-gen alg' is for kernels of LFRic, not of {api.value}."
        hint = "What a kernel for grids is passed is what its metadata list: write the invoke."
        raise CompileError(Diagnostic("L001", text, hint=hint))
    kernel = parts.interpret(_kernel_in(path, type_name, language), settings)
    caller = lower_caller(kernel, parts.passed(kernel), parts.kinds_module)
    return language.emit_unit(caller, InlinedProcedures())


def check_kernel_file(
    path: Path, type_name: str | None, api: Api, settings: Settings
) -> tuple[Diagnostic, ...]:
    """Return the differences between the kernels' subroutines in `path` and their metadata.

    If the arguments are correct, the statements are also checked. With `type_name`, only that
    kernel is checked. A file without kernels has no errors.
    """
    parts, source = api_parts(api), read_source(path)
    language = target_of(api, suffix=path.suffix).language
    problems: list[Diagnostic] = list(language.check_syntax(source, ()))
    for name in language.kernel_types(source) if type_name is None else (type_name,):
        try:
            parsed = language.read_kernel(source, name)
            kernel = parts.interpret(parsed, settings)
            if key_of(path.suffix) != ".py":
                problems += check_exported(source, parsed.module, parsed.procedure, parsed.span)
            for implementation in parsed.implementations:
                routine = language.read_routine(source, implementation)
                found = () if routine is None else parts.check_kernel(kernel, routine)
                problems += found
                if all(problem.severity is not Severity.ERROR for problem in found):
                    code = language.read_code(source, implementation, parts.dummies(kernel))
                    problems += check_against_metadata(kernel, code, parts.dummies(kernel))
        except CompileError as error:
            problems += error.problems
    return tuple(problems)


def _kernel_in(path: Path, type_name: str | None, language: Language) -> ParsedKernel:
    source = read_source(path)
    if type_name is not None:
        return language.read_kernel(source, type_name, needs_code=False)
    names = find_kernel_types(language, source)
    if len(names) != 1:
        found = f"several kernel types: {listed(names, 'and')}" if names else "no kernel type"
        raise CompileError(
            Diagnostic(
                "L006",
                f"'{path}' holds {found}.",
                file=str(path),
                hint="Name the one that is meant with '--type NAME'." if names else "",
            )
        )
    return language.read_kernel(source, names[0], needs_code=False)
