"""Where the kernels that steps have changed go: to files of their own, or into the PSy layer."""

from __future__ import annotations

from collections.abc import Iterator

from psyclone_storage.backend.fortran.kernel import base_name, names_of, numbered_names
from psyclone_storage.backend.fortran.printer import InlinedProcedures
from psyclone_storage.base.names import NameTable
from psyclone_storage.base.records import replace
from psyclone_storage.base.source import SourceText
from psyclone_storage.ir.code import KernelCode
from psyclone_storage.ir.schedule import Invoke, KernelCall, Program
from psyclone_storage.ir.walk import kernel_calls, replaced
from psyclone_storage.pipeline.numbering import KernelNumbering, KernelText, NumberedProgram
from psyclone_storage.targets.spec import Language


def place_kernels(
    program: Program, numbering: KernelNumbering, language: Language
) -> NumberedProgram:
    """Return `program` with every changed kernel under the names that it gets.

    Each call has a file of its own for its kernel; those in the PSy layer share a
    procedure if they are equal.

    Raises:
        CompileError: a number cannot be claimed.
    """
    placing = _Placing(program, numbering, language)
    invokes = tuple(map(placing.invoke, program.invokes))
    codes = [replace(code, name=name) for code, name in placing.inlined.items()]
    inlined = InlinedProcedures(
        tuple(
            tuple(language.emit_interface(name, specifics))
            for specifics, name in placing.interfaces.items()
        ),
        tuple(tuple(language.emit_code(code)) for code in codes),
        tuple(codes),
    )
    heads = tuple(head for code in codes for head in _heads(code, language))
    return NumberedProgram(
        replace(program, invokes=invokes), tuple(placing.kernels), inlined, heads
    )


def _heads(code: KernelCode, language: Language) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the names and dummies of a subroutine and of those inside of it, in their order."""
    yield code.key, code.dummies
    if code.internal is not None:
        yield from language.heads(SourceText(code.name, code.internal.text)).items()


class _Placing:
    """The names given so far in one program."""

    def __init__(self, program: Program, numbering: KernelNumbering, language: Language) -> None:
        calls = [call for item in program.invokes for call in kernel_calls(item.schedule)]
        data = [datum.name for item in program.invokes for datum in item.schedule.data]
        routines = [item.name for item in program.invokes]
        kernels = [call.kernel.procedure for call in calls if not call.codes]
        self._names = NameTable([program.name, *data, *routines, *kernels])
        self._module = program.name
        self._shelf = numbering
        self._language = language
        self.inlined: dict[KernelCode, str] = {}
        self.interfaces: dict[tuple[str, ...], str] = {}
        self.kernels: list[KernelText] = []

    def invoke(self, invoke: Invoke) -> Invoke:
        """Return `invoke` with each call naming what it calls."""
        schedule = invoke.schedule
        for call in kernel_calls(schedule):
            if call.codes:
                schedule = replaced(schedule, call.uid, self._call(call))
        return replace(invoke, schedule=schedule)

    def _call(self, call: KernelCall) -> KernelCall:
        if call.codes[0].in_place:
            return call
        if call.codes[0].inlined:
            name = self._inlined(call)
            return replace(call, kernel=replace(call.kernel, module=self._module, procedure=name))
        old = names_of(call.kernel)

        def kernel_text(number: int) -> KernelText:
            new = numbered_names(old, number)
            text = self._language.emit_kernel(call.codes, old, new)
            return KernelText(new.module, text, call.codes[0].module.place.source)

        number = self._shelf.allocate(base_name(old.module), kernel_text)
        self.kernels.append(kernel_text(number))
        new = numbered_names(old, number)
        kernel = replace(call.kernel, module=new.module, procedure=new.procedure)
        return replace(call, kernel=kernel)

    def _inlined(self, call: KernelCall) -> str:
        """Return what to call of the PSy layer: a subroutine, or an interface over several."""
        for code in call.codes:
            if code not in self.inlined:
                self.inlined[code] = self._names.fresh(code.name)
        names = tuple(self.inlined[code] for code in call.codes)
        if len(names) == 1:
            return names[0]
        if names not in self.interfaces:
            self.interfaces[names] = self._names.fresh(call.kernel.procedure)
        return self.interfaces[names]
