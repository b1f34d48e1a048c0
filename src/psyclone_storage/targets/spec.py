"""Records of an API, of a language and of a target."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple, Protocol

from psyclone_storage.backend.fortran.kernel import KernelNames
from psyclone_storage.backend.fortran.printer import InlinedProcedures
from psyclone_storage.backend.infrastructure import Infrastructure
from psyclone_storage.base.diagnostic import Diagnostic
from psyclone_storage.base.records import dataclass, field
from psyclone_storage.base.source import SourceText, Span
from psyclone_storage.config.settings import Settings
from psyclone_storage.domain.build import Domain
from psyclone_storage.domain.imports import USE
from psyclone_storage.frontend.finder import ModuleFinder
from psyclone_storage.frontend.fortran.state import StateInText
from psyclone_storage.ir.code import KernelCode
from psyclone_storage.ir.expr import Symbol
from psyclone_storage.ir.interface import Dummy
from psyclone_storage.ir.kernel import Access, Kernel
from psyclone_storage.ir.parsed import ParsedAlgorithm, ParsedKernel, ParsedRoutine
from psyclone_storage.ir.rules import Rules
from psyclone_storage.ir.schedule import Program
from psyclone_storage.ir.unit import Declare, Unit, Use


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
        """Return the kernel `type_name`, whose subroutines must be there if it `needs_code`."""


class LinksAlgorithm(Protocol):
    """Looks up the names in arguments of invokes."""

    def __call__(
        self,
        algorithm: ParsedAlgorithm,
        structures: Mapping[str, Symbol],
        imported: Callable[[Iterable[Use], str], Symbol | None] = ...,
        /,
    ) -> ParsedAlgorithm:
        """Return the algorithm; `imported` has the constants that `use` statements give names."""


class ReadsCode(Protocol):
    """Reads all of a subroutine, whose arguments are what metadata say of them."""

    def __call__(
        self,
        source: SourceText,
        name: str,
        dummies: tuple[Dummy, ...],
        beside: Callable[[str, SourceText], tuple[SourceText, ...]] = ...,
        /,
    ) -> KernelCode:
        """Return the code; `beside` has the files that may be a module which a file imports."""


@dataclass(frozen=True, slots=True)
class Language:
    """How files of one language are read, and printed.

    `read_algorithm`, `read_kernel` and `kernel_types`, `read_routine` and `read_code` give an
    algorithm, the metadata of kernels, the head and all of a subroutine, whose names `resolve`
    looks up where modules are found; `link_algorithm` looks up those in invokes, where some derived
    types are known anyway and imported constants may be. `state` tells from the text of a procedure
    whether it may change what outlives its calls, `check_syntax` what of a file is none of the
    language. `emit_unit` prints a module, with procedures that are printed already,
    `emit_algorithm` an algorithm with its invokes replaced, `emit_kernel` a module of changed
    subroutines under new names, `emit_code` one of them, and `emit_interface` a name for several.
    `within_limit` breaks long lines, `without_indentation` leaves out the blanks before them.
    `heads` are the subroutines of a text and their arguments, by which what was printed is read
    back. `read_code` is told what metadata say of the arguments, and may be told where files are
    that a file imports. Files of the language end in one of `suffixes`; an algorithm imports the
    module `words`, where a language has one for an API. One that `prints_kernels` has the code of
    all kernels in the module that calls them, or in what `emit_beside` prints to stand beside it:
    what each name ends in, and a text. `import_form` is how it imports a name, `{}`.
    """

    name: str
    read_algorithm: Callable[[SourceText], ParsedAlgorithm]
    link_algorithm: LinksAlgorithm
    read_kernel: ReadsKernel
    kernel_types: Callable[[SourceText], tuple[str, ...]]
    read_routine: Callable[[SourceText, str], ParsedRoutine | None]
    read_code: ReadsCode
    resolve: Callable[[KernelCode, ModuleFinder, tuple[Dummy, ...]], KernelCode]
    state: Callable[[SourceText, str, str], StateInText]
    check_syntax: Callable[[SourceText, tuple[str, ...]], tuple[Diagnostic, ...]]
    emit_unit: Callable[[Unit, InlinedProcedures], str]
    emit_algorithm: Callable[[Program], str]
    emit_kernel: Callable[[tuple[KernelCode, ...], KernelNames, KernelNames], str]
    emit_code: Callable[[KernelCode], list[str]]
    emit_interface: Callable[[str, Iterable[str]], list[str]]
    within_limit: Callable[[str], str]
    without_indentation: Callable[[str], str]
    heads: Callable[[SourceText], dict[str, tuple[str, ...]]]
    suffixes: tuple[str, ...] = ()
    words: str = ""
    prints_kernels: bool = False
    emit_beside: Callable[[Unit, InlinedProcedures], tuple[tuple[str, str], ...]] | None = None
    import_form: str = USE


def _as_they_are(settings: Settings) -> Settings:
    return settings


def _refuses_nothing(_program: Program, _rules: Rules) -> tuple[Diagnostic, ...]:
    return ()


class AskedExtension(NamedTuple):
    """What only infrastructures of this project have: a name in a module, and who asks for it.

    `instead` says what to do with others. A module that others lack is missed by a `mark`: a
    module that all of them have, and a name that only ours has there.
    """

    by: str
    module: str
    name: str
    instead: str = "Leave it out"
    mark: tuple[str, str] | None = None


OTHERS_FIELDS = "Choose '--target registry', which is for fields that have no storages"
"""What to do with the fields of LFRic and dl_esm_inf themselves."""


def _nothing_more(_settings: Settings) -> tuple[AskedExtension, ...]:
    return ()


@dataclass(frozen=True, slots=True)
class Target:
    """What is generated: a language, and the infrastructure that it calls.

    `adapted` gives the settings as they are for it: what an infrastructure always has, no user need
    choose. `asks` tells which extensions of an infrastructure the settings as they were ask for.
    `refuses` says what of a program that is ready has no form for it.
    """

    language: Language
    infrastructure: Callable[[Settings], Infrastructure]
    adapted: Callable[[Settings], Settings] = _as_they_are
    asks: Callable[[Settings], tuple[AskedExtension, ...]] = _nothing_more
    refuses: Callable[[Program, Rules], tuple[Diagnostic, ...]] = _refuses_nothing


@dataclass(frozen=True, slots=True)
class ScheduleDefaults:
    """What the settings of an API choose for its schedules.

    Loops over dofs compute annexed ones if they are `annexed_clean`; neighbouring built-ins
    share loops if it `fuses_built_ins`; with `exact_sums` reals are summed without rounding.
    What a loop adds to is filled before if it `fills_before_increment`.
    """

    annexed_clean: bool = False
    fuses_built_ins: bool = False
    exact_sums: bool = False
    fills_before_increment: bool = True


@dataclass(frozen=True, slots=True)
class ApiParts:
    """What the stages of a compilation need to know of an API.

    `builtins` are the names of the built-ins, `builtin` gives the kernel behind one.
    `infrastructure` is the folder, below `external`, of the interfaces to compile against.
    `dummies` are those of a kernel's subroutine, whose kinds are in `kinds_module`; `check_kernel`
    compares a written subroutine with them. With `checks_syntax` the whole file of a kernel is
    looked at for what is no Fortran: kernels for grids are short. `structures` are derived types
    of the infrastructure, by name, whose components an algorithm passes. `passed` is what an
    algorithm declares to call a kernel, None where that is not known.
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
    structures: Mapping[str, Symbol] = field(default_factory=dict)
    passed: Callable[[Kernel], tuple[Declare, ...]] | None = None


# The words of settings files for accesses; `sum` is that of 2019 for a reduction.
_ACCESSES = {access.value: access for access in Access} | {"sum": Access.REDUCTION}


def access_words(mapping: Mapping[str, str]) -> Mapping[str, Access]:
    """Return the access of each metadata word of the settings."""
    return {word: _ACCESSES[meaning] for word, meaning in mapping.items()}


TargetRow = Target | Callable[[], Target]
"""A target, or a function that imports one with Python as host language."""
ApiRow = tuple[ApiParts, Target]
"""An API and what is generated for it, which need not be in a table."""
