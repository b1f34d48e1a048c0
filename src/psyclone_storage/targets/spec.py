"""Records that describe an API, a language and a target."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple, Protocol

from psyclone_storage.base.diagnostic import Diagnostic, raise_if_any
from psyclone_storage.base.records import dataclass, field
from psyclone_storage.base.regex import regex
from psyclone_storage.base.source import SourceText, Span
from psyclone_storage.config.settings import Settings
from psyclone_storage.domains.build import Domain
from psyclone_storage.domains.imports import USE
from psyclone_storage.ir.expr import Symbol
from psyclone_storage.ir.interface import Dummy
from psyclone_storage.ir.kernel import Access, Kernel
from psyclone_storage.ir.parsed import KernelPlace, ParsedAlgorithm, ParsedKernel, ParsedRoutine
from psyclone_storage.ir.routine import Routine
from psyclone_storage.ir.rules import Rules
from psyclone_storage.ir.schedule import Program
from psyclone_storage.ir.unit import Declare, Unit, Use
from psyclone_storage.languages.fortran.parse.state import StateInText
from psyclone_storage.languages.fortran.print.kernel import KernelNames
from psyclone_storage.languages.fortran.print.printer import InlinedProcedures
from psyclone_storage.languages.sources.module_finder import ModuleFinder
from psyclone_storage.lowering.infrastructure import Infrastructure


class ReadsKernel(Protocol):
    """The reader of the metadata of one kernel type of a file."""

    def __call__(
        self,
        source: SourceText,
        type_name: str,
        *,
        needs_code: bool = True,
        wanted_by: Span | None = None,
    ) -> ParsedKernel:
        """Return the kernel `type_name`; if `needs_code`, its subroutines must be present."""


class LinksAlgorithm(Protocol):
    """Resolves the names in arguments of invokes."""

    def __call__(
        self,
        algorithm: ParsedAlgorithm,
        structures: Mapping[str, Symbol],
        imported: Callable[[Iterable[Use], str], Symbol | None] = ...,
        complete_type: Callable[[str, str, str], Symbol | None] = ...,
        /,
    ) -> ParsedAlgorithm:
        """Return the algorithm with symbols.

        `imported` returns constants imported by `use`, `complete_type` a type of another module
        that certainly lacks a component or has it.
        """


class ReadsCode(Protocol):
    """Reads a complete subroutine, whose arguments match the metadata."""

    def __call__(
        self,
        source: SourceText,
        name: str,
        dummies: tuple[Dummy, ...],
        beside: Callable[[str, SourceText], tuple[SourceText, ...]] = ...,
        /,
    ) -> Routine:
        """Return the routine; `beside` returns the files that may define an imported module."""


FollowsImports = Callable[
    [KernelPlace, bool, Callable[[str, SourceText], tuple[SourceText, ...]]], KernelPlace | None
]
"""Takes a module with a name, and whether it is imported as a whole, and a search of modules."""
NativeTexts = tuple[str, tuple[tuple[str, str], ...]]
"""A module, and files with code for it, each as the ending of its name and its text."""


@dataclass(frozen=True, slots=True)
class Language:
    """The reader and the printer of a language.

    Reading: `read_algorithm` returns an algorithm; `read_kernel` and `kernel_types` return
    metadata; `read_routine` returns the interface and `read_code` all of a subroutine. `resolve`
    links the names of a subroutine, `link_algorithm` those in invokes. `state` finds saved state in
    the text of a procedure, `check_syntax` returns syntax errors. `heads` returns the subroutines
    of generated text with their arguments. Files have one of `suffixes`; an algorithm imports the
    module `words`, if any.

    Printing: `emit_unit` prints a module with already printed procedures, `emit_algorithm` an
    algorithm with replaced invokes, `emit_kernel` a module of changed subroutines under new names,
    `emit_code` one of them, and `emit_interface` a generic name. `within_limit` breaks long lines,
    `without_indentation` removes leading blanks. `import_form` is the format of an import.

    `follow_imports` returns the definition of a kernel that a module may import from others; None
    if only the module that defines a kernel provides it.

    With `prints_kernels` the generated module, or the files of `emit_native`, contain all kernel
    code.
    """

    name: str
    read_algorithm: Callable[[SourceText], ParsedAlgorithm]
    link_algorithm: LinksAlgorithm
    read_kernel: ReadsKernel
    kernel_types: Callable[[SourceText], tuple[str, ...]]
    read_routine: Callable[[SourceText, str], ParsedRoutine | None]
    read_code: ReadsCode
    resolve: Callable[[Routine, ModuleFinder, tuple[Dummy, ...]], Routine]
    state: Callable[[SourceText, str, str], StateInText]
    check_syntax: Callable[[SourceText, tuple[str, ...]], tuple[Diagnostic, ...]]
    emit_unit: Callable[[Unit, InlinedProcedures], str]
    emit_algorithm: Callable[[Program], str]
    emit_kernel: Callable[[tuple[Routine, ...], KernelNames, KernelNames], str]
    emit_code: Callable[[Routine], list[str]]
    emit_interface: Callable[[str, Iterable[str]], list[str]]
    within_limit: Callable[[str], str]
    without_indentation: Callable[[str], str]
    heads: Callable[[SourceText], dict[str, tuple[str, ...]]]
    suffixes: tuple[str, ...] = ()
    words: str = ""
    prints_kernels: bool = False
    emit_native: Callable[[Unit, InlinedProcedures], NativeTexts] | None = None
    import_form: str = USE
    follow_imports: FollowsImports | None = None


_KERNEL_TYPE = regex(r"\bkernel_type\b", re.IGNORECASE)


def find_kernel_types(language: Language, source: SourceText) -> tuple[str, ...]:
    """Return the names of the kernel types in `source`.

    Raises:
        CompileError: no type is found, although `source` mentions one and has syntax errors, such
            as an unclosed construct that hides it.
    """
    names = language.kernel_types(source)
    if not names and _KERNEL_TYPE.search(source.text):
        raise_if_any(language.check_syntax(source, ()))
    return names


def _as_they_are(settings: Settings) -> Settings:
    return settings


def _refuses_nothing(_program: Program, _rules: Rules) -> tuple[Diagnostic, ...]:
    return ()


class AskedExtension(NamedTuple):
    """An extension of this project's infrastructures: a name in a module, and who requires it.

    `instead` is the advice for other infrastructures. If these lack the module, `mark` identifies
    them: a module that all infrastructures have, and a name that only ours has there. `without`
    are the settings for an infrastructure that lacks the extension, None if there are none.
    """

    by: str
    module: str
    name: str
    instead: str = "Leave it out"
    mark: tuple[str, str] | None = None
    without: Settings | None = None


OTHERS_FIELDS = "Choose '--target registry', which is for fields that have no storages"
"""Advice for the fields of LFRic and dl_esm_inf themselves."""


def _nothing_more(_settings: Settings) -> tuple[AskedExtension, ...]:
    return ()


@dataclass(frozen=True, slots=True)
class Target:
    """A compilation target: a host language and the infrastructure that it calls.

    `adapted` returns the settings with features enabled that the infrastructure always has. `asks`
    returns the infrastructure extensions that the original settings require. `refuses` returns
    errors for unsupported parts of a final program.
    """

    language: Language
    infrastructure: Callable[[Settings], Infrastructure]
    adapted: Callable[[Settings], Settings] = _as_they_are
    asks: Callable[[Settings], tuple[AskedExtension, ...]] = _nothing_more
    refuses: Callable[[Program, Rules], tuple[Diagnostic, ...]] = _refuses_nothing


@dataclass(frozen=True, slots=True)
class ScheduleDefaults:
    """Schedule defaults from the settings of an API.

    `annexed_clean`: loops over dofs compute annexed dofs. `fuses_built_ins`: adjacent built-ins are
    fused. `exact_sums`: reals are summed without rounding. `fills_before_increment`: halos are
    initialised before a loop increments them.
    """

    annexed_clean: bool = False
    fuses_built_ins: bool = False
    exact_sums: bool = False
    fills_before_increment: bool = True


@dataclass(frozen=True, slots=True)
class ApiParts:
    """The functions and tables of an API for the stages of a compilation.

    - `builtins`: names of the built-ins, perhaps for programs in Python alone. `builtin`: returns
      the kernel with a name.
    - `infrastructure`: folder below `external` with the interfaces for compilation.
    - `dummies`: returns the dummy arguments of a kernel; their kinds are in `kinds_module`.
    - `check_kernel`: compares a subroutine with its metadata.
    - `checks_syntax`: the syntax of the whole kernel file is checked.
    - `structures`: derived types of the infrastructure whose components an algorithm passes.
    - `passed`: returns the declarations that an algorithm needs to call a kernel; None if unknown.
    """

    domain: Callable[[Settings], Domain]
    interpret: Callable[[ParsedKernel, Settings], Kernel]
    choices: Callable[[Settings], ScheduleDefaults]
    builtins: tuple[str, ...]
    builtin: Callable[[str], Kernel | None]
    infrastructure: str
    dummies: Callable[[Kernel], tuple[Dummy, ...]]
    check_kernel: Callable[[Kernel, ParsedRoutine], tuple[Diagnostic, ...]]
    kinds_module: str
    checks_syntax: bool = False
    builtins_in_python: bool = False
    structures: Mapping[str, Symbol] = field(default_factory=dict)
    passed: Callable[[Kernel], tuple[Declare, ...]] | None = None


# The words of settings files for accesses; `sum` is that of 2019 for a reduction.
_ACCESSES = {access.value: access for access in Access} | {"sum": Access.REDUCTION}


def access_words(mapping: Mapping[str, str]) -> Mapping[str, Access]:
    """Return the access for each metadata word of the settings."""
    return {word: _ACCESSES[meaning] for word, meaning in mapping.items()}


TargetRow = Target | Callable[[], Target]
"""A target, or a function that imports one with Python as host language."""
ApiRow = tuple[ApiParts, Target]
"""An API and what is generated for it, which need not be in a table."""
