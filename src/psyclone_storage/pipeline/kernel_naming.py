"""Names of changed kernels, in separate files or in the PSy layer.

Two compilations may run at the same time and change the same kernel. Therefore a numbering, which
the command line creates for an output folder, allocates the number in the name of a changed kernel.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Protocol

from psyclone_storage.base.names import NameTable
from psyclone_storage.base.records import dataclass, field, replace
from psyclone_storage.base.source import SourceText
from psyclone_storage.ir.keys import FromModule, key_of
from psyclone_storage.ir.routine import Routine
from psyclone_storage.ir.schedule import Invoke, KernelCall, Program
from psyclone_storage.ir.walk import kernel_calls, replaced
from psyclone_storage.languages.fortran.print.kernel import base_name, kernel_names, numbered_names
from psyclone_storage.languages.fortran.print.printer import InlinedProcedures
from psyclone_storage.targets.spec import Language


@dataclass(frozen=True, slots=True)
class KernelText(FromModule):
    """Changed kernel: the name of its module, the new text of the file, and the original."""

    module: str
    text: str
    original: SourceText

    @property
    def suffix(self) -> str:
        """Suffix of the file, which determines whether it is preprocessed."""
        return ".F90" if "\n#" in f"\n{self.text}" else ".f90"


class KernelNumbering(Protocol):
    """Interface for numbering changed kernels."""

    def allocate(self, base: str, kernel: Callable[[int], KernelText]) -> int:
        """Return a number for `kernel`, a function from a number to the resulting text.

        `base` is the name of the module without a number. No other text gets the same number.

        Raises:
            CompileError: the number is used by another text, or cannot be allocated.
        """


@dataclass(slots=True)
class LocalNumbering:
    """Numbering within one compilation: the numbers for a name start at 0."""

    _next: dict[str, int] = field(default_factory=dict)

    def allocate(self, base: str, kernel: Callable[[int], KernelText]) -> int:
        """Return the next number of `base`."""
        number = self._next.get(key_of(base), 0)
        self._next[key_of(base)] = number + 1
        return number


@dataclass(frozen=True, slots=True)
class NumberedProgram:
    """Program with the names of changed kernels in its calls.

    - `kernels`: the kernels for separate files.

    - `inlined`: the kernels for the PSy layer.

    - `heads`: the dummy arguments of the subroutines in the PSy layer, by name.
    """

    program: Program
    kernels: tuple[KernelText, ...] = ()
    inlined: InlinedProcedures = field(default_factory=InlinedProcedures)
    heads: tuple[tuple[str, tuple[str, ...]], ...] = ()


def name_kernels(
    program: Program, numbering: KernelNumbering, language: Language
) -> NumberedProgram:
    """Return `program` with new names for the kernels changed by steps.

    Each call has a separate file for its kernel. Equal kernels in the PSy layer become one
    procedure.

    Raises:
        CompileError: a number cannot be allocated.
    """
    if not any(call.codes for item in program.invokes for call in kernel_calls(item.schedule)):
        return NumberedProgram(program)
    names = _KernelNames(program, numbering, language)
    invokes = tuple(map(names.invoke, program.invokes))
    codes = [replace(code, name=name) for code, name in names.inlined.items()]
    inlined = InlinedProcedures(
        tuple(
            tuple(language.emit_interface(name, specifics))
            for specifics, name in names.interfaces.items()
        ),
        tuple(tuple(language.emit_code(code)) for code in codes),
        tuple(codes),
    )
    heads = tuple(head for code in codes for head in _heads(code, language))
    return NumberedProgram(replace(program, invokes=invokes), tuple(names.kernels), inlined, heads)


def _heads(code: Routine, language: Language) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the names and arguments of a subroutine and of its internal procedures."""
    yield code.key, code.dummies
    if code.internal is not None:
        yield from language.heads(SourceText(code.name, code.internal.text)).items()


class _KernelNames:
    """Names of changed kernels in one program."""

    def __init__(self, program: Program, numbering: KernelNumbering, language: Language) -> None:
        calls = [call for item in program.invokes for call in kernel_calls(item.schedule)]
        data = [datum.name for item in program.invokes for datum in item.schedule.data]
        routines = [item.name for item in program.invokes]
        kernels = [call.kernel.procedure for call in calls if not call.codes]
        self._names = NameTable([program.name, *data, *routines, *kernels])
        self._module = program.name
        self._numbering = numbering
        self._language = language
        self.inlined: dict[Routine, str] = {}
        self.interfaces: dict[tuple[str, ...], str] = {}
        self.kernels: list[KernelText] = []

    def invoke(self, invoke: Invoke) -> Invoke:
        """Return `invoke` with the new names in its calls."""
        schedule = invoke.schedule
        for call in kernel_calls(schedule):
            if call.codes:
                schedule = replaced(schedule, call.uid, self._call(call))
        return replace(invoke, schedule=schedule)

    def _call(self, call: KernelCall) -> KernelCall:
        if call.codes[0].kernel_use.in_place:
            return call
        if call.codes[0].kernel_use.inlined:
            name = self._inlined(call)
            return replace(call, kernel=replace(call.kernel, module=self._module, procedure=name))
        old = kernel_names(call.kernel)

        def kernel_text(number: int) -> KernelText:
            new = numbered_names(old, number)
            text = self._language.emit_kernel(call.codes, old, new)
            return KernelText(new.module, text, call.codes[0].module.place.source)

        number = self._numbering.allocate(base_name(old.module), kernel_text)
        self.kernels.append(kernel_text(number))
        new = numbered_names(old, number)
        kernel = replace(call.kernel, module=new.module, procedure=new.procedure)
        return replace(call, kernel=kernel)

    def _inlined(self, call: KernelCall) -> str:
        """Return the name of a subroutine in the PSy layer, or of an interface for several."""
        for code in call.codes:
            if code not in self.inlined:
                self.inlined[code] = self._names.fresh(code.name)
        names = tuple(self.inlined[code] for code in call.codes)
        if len(names) == 1:
            return names[0]
        if names not in self.interfaces:
            self.interfaces[names] = self._names.fresh(call.kernel.procedure)
        return self.interfaces[names]
