"""Where the kernels that steps have changed go: to files of their own, or into the PSy layer.

Two compilations may run at once and change the same kernel. So a number, and with it the
names of a changed kernel, are claimed from a shelf, which the command line ties to a folder.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Protocol

from psyclone_storage.backend.fortran.kernel import (
    base_name,
    emit_code,
    emit_kernel_module,
    numbered_names,
)
from psyclone_storage.base.names import NameTable
from psyclone_storage.ir.code import KernelCode
from psyclone_storage.ir.schedule import Invoke, KernelCall, Program
from psyclone_storage.ir.walk import kernel_calls, replaced


@dataclass(frozen=True, slots=True)
class KernelText:
    """A changed kernel: the name of its module and the text of the file for it."""

    module: str
    text: str

    @property
    def suffix(self) -> str:
        """What the name of the file ends in, which tells whether to preprocess it."""
        return ".F90" if "\n#" in f"\n{self.text}" else ".f90"


class Shelf(Protocol):
    """Gives numbers to changed kernels."""

    def claim(self, base: str, kernel: Callable[[int], KernelText]) -> int:
        """Return a number for `kernel`, which gives its text under each number.

        `base` is the name of its module without a number. No other text gets the same number.

        Raises:
            CompileError: the number is taken by another text, or cannot be claimed.
        """


@dataclass(slots=True)
class Counting:
    """A shelf that knows of this compilation alone: the numbers of a name count from 0."""

    _next: dict[str, int] = field(default_factory=dict)

    def claim(self, base: str, kernel: Callable[[int], KernelText]) -> int:
        """Return the next number of `base`."""
        number = self._next.get(base.lower(), 0)
        self._next[base.lower()] = number + 1
        return number


@dataclass(frozen=True, slots=True)
class Placed:
    """A program whose calls name the changed kernels.

    `kernels` go to files, `procedures` are the lines of those that go into the PSy layer, with
    their names and dummy arguments in `heads`.
    """

    program: Program
    kernels: tuple[KernelText, ...] = ()
    procedures: tuple[tuple[str, ...], ...] = ()
    heads: tuple[tuple[str, tuple[str, ...]], ...] = ()


def place_kernels(program: Program, shelf: Shelf) -> Placed:
    """Return `program` with every changed kernel under the names that it gets.

    Each call has a file of its own for its kernel; those in the PSy layer share a
    procedure if they are equal.

    Raises:
        CompileError: a number cannot be claimed.
    """
    if not any(call.code for item in program.invokes for call in kernel_calls(item.schedule)):
        return Placed(program)
    placing = _Placing(program, shelf)
    invokes = tuple(map(placing.invoke, program.invokes))
    inlined = [replace(code, name=name) for code, name in placing.inlined.items()]
    return Placed(
        replace(program, invokes=invokes),
        tuple(placing.kernels),
        tuple(tuple(emit_code(code)) for code in inlined),
        tuple((code.name.lower(), code.dummies) for code in inlined),
    )


class _Placing:
    """The names given so far in one program."""

    def __init__(self, program: Program, shelf: Shelf) -> None:
        calls = [call for item in program.invokes for call in kernel_calls(item.schedule)]
        data = [datum.name for item in program.invokes for datum in item.schedule.data]
        routines = [item.name for item in program.invokes]
        kernels = [call.kernel.procedure for call in calls if call.code is None]
        self._names = NameTable([program.name, *data, *routines, *kernels])
        self._module = program.name
        self._shelf = shelf
        self.inlined: dict[KernelCode, str] = {}
        self.kernels: list[KernelText] = []

    def invoke(self, invoke: Invoke) -> Invoke:
        """Return `invoke` with each call naming what it calls."""
        schedule = invoke.schedule
        for call in kernel_calls(schedule):
            if call.code is not None:
                schedule = replaced(schedule, call.uid, self._call(call, call.code))
        return replace(invoke, schedule=schedule)

    def _call(self, call: KernelCall, code: KernelCode) -> KernelCall:
        if code.in_place:
            return call
        if code.inlined:
            if code not in self.inlined:
                self.inlined[code] = self._names.fresh(code.name)
            kernel = replace(call.kernel, module=self._module, procedure=self.inlined[code])
            return replace(call, kernel=kernel)

        def kernel_text(number: int) -> KernelText:
            names = numbered_names(code, call.kernel.name, number)
            return KernelText(names.module, emit_kernel_module(code, call.kernel.name, names))

        number = self._shelf.claim(base_name(code.module.name), kernel_text)
        self.kernels.append(kernel_text(number))
        names = numbered_names(code, call.kernel.name, number)
        kernel = replace(call.kernel, module=names.module, procedure=names.procedure)
        return replace(call, kernel=kernel)
