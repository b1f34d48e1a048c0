"""Offload check: kernels that a device can execute, with the required steps or reasons.

A kernel is checked independently of algorithms: its metadata, its subroutines and the modules that
they use. Steps are those of `--apply`.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from pathlib import Path

from psyclone_storage.base.diagnostic import CompileError, Diagnostic
from psyclone_storage.base.records import dataclass, replace
from psyclone_storage.config.settings import Api, Settings
from psyclone_storage.ir.directive import AccRoutineDirective, DeviceLevel
from psyclone_storage.ir.kernel import Kernel
from psyclone_storage.ir.rewrite import names_in
from psyclone_storage.ir.routine import Routine
from psyclone_storage.ir.unit import Declare, DirectiveLine
from psyclone_storage.languages.fortran.print.kernel import kernel_names, numbered_names
from psyclone_storage.languages.sources.files import read_source
from psyclone_storage.targets.apis import api_parts, target_of
from psyclone_storage.targets.spec import Language, find_kernel_types
from psyclone_storage.tools.device_modules import DeviceModules, Needs
from psyclone_storage.transform.device import check_kernel_on_device
from psyclone_storage.transform.kernel.imports import (
    check_variables_as_arguments,
    check_variables_as_inputs,
    with_imports_passed,
)
from psyclone_storage.transform.kernel.routine import check_device_routine, names_on_device

_ROUTINE = DirectiveLine(meaning=AccRoutineDirective(DeviceLevel.SEQ))


@dataclass(frozen=True, slots=True)
class KernelOnDevice:
    """Result for a kernel type: the `steps` required for a device, or the `reasons` against it.

    - `codes`: its subroutines after these steps; () if no steps suffice.

    - `needs`: module procedures and variables that it requires on the device.
    """

    name: str
    path: Path
    steps: tuple[str, ...]
    reasons: tuple[Diagnostic, ...]
    kernel: Kernel | None = None
    codes: tuple[Routine, ...] = ()
    needs: Needs = Needs()

    @property
    def runs_there(self) -> bool:
        """True if a device can execute the kernel."""
        return bool(self.codes)

    @property
    def sized_at_run_time(self) -> tuple[str, ...]:
        """Local arrays with lengths given by arguments, which each call must allocate.

        Compilers allocate them on the device heap, which is slow and may be too small.
        """
        return tuple(
            dict.fromkeys(
                item.name
                for code in self.codes
                for item in code.declarations
                if isinstance(item, Declare) and item.key not in code.dummy_keys
                if any(names_in(extent) & {*code.dummy_keys} for extent in item.shape)
            )
        )

    def text(self, language: Language) -> str:
        """Return the module of the kernel for a device, with new names."""
        assert self.kernel is not None
        old = kernel_names(self.kernel)
        return language.emit_kernel(self.codes, old, numbered_names(old, 0))


def judge_kernels(
    path: Path, type_name: str | None, api: Api, settings: Settings, modules: DeviceModules
) -> Iterator[KernelOnDevice]:
    """Yield the result for each kernel in the file at `path`, or for the named kernel.

    Raises:
        CompileError: the file cannot be read, or has no kernel of that name.
    """
    parts, source = api_parts(api), read_source(path)
    language = target_of(api, suffix=path.suffix).language
    try:
        names = find_kernel_types(language, source) if type_name is None else (type_name,)
    except CompileError as error:
        yield KernelOnDevice(path.stem, path, (), error.problems)
        return
    for name in names:
        try:
            parsed = language.read_kernel(source, name)
            kernel = parts.interpret(parsed, settings)
            dummies = parts.dummies(kernel)
            codes = tuple(
                language.resolve(language.read_code(source, one, dummies), modules.finder, dummies)
                for one in parsed.implementations
            )
        except CompileError as error:
            yield KernelOnDevice(name, path, (), error.problems)
            continue
        yield _judged(name, path, kernel, codes, modules)


def _judged(
    name: str, path: Path, kernel: Kernel, codes: tuple[Routine, ...], modules: DeviceModules
) -> KernelOnDevice:
    """Try the steps, fewest first, and then also with modules annotated for devices.

    Annotated modules first provide only procedures. They provide variables only if these cannot
    become arguments.
    """
    for_host = tuple(check_kernel_on_device(kernel))
    found, needs = _by_steps(codes), Needs()
    left = []
    for variables in (False, True):
        if found.reasons and not for_host:
            judged = [modules.judge(code, variables=variables) for code in codes]
            found = _by_steps(tuple(code for code, _ in judged))
            own = (reason for _, one in judged for reason in one.reasons)
            found = replace(found, reasons=tuple(dict.fromkeys((*found.reasons, *own))))
            needs = reduce(Needs.with_all, (one.needs for _, one in judged))
            left.append(found)
    if found.reasons and left:
        # What could be an argument, were it not for the rest, is no reason.
        found = min(reversed(left), key=lambda one: len(one.reasons))
    if reasons := tuple(dict.fromkeys((*for_host, *found.reasons))):
        return KernelOnDevice(name, path, (), reasons)
    ready = tuple(
        code.with_specification(directives=(*code.directives, _ROUTINE)) for code in found.codes
    )
    return KernelOnDevice(name, path, found.steps, (), kernel, ready, needs)


@dataclass(frozen=True, slots=True)
class _Tried:
    """Steps, the subroutines after them, and reasons why a device cannot execute these."""

    steps: tuple[str, ...]
    codes: tuple[Routine, ...]
    reasons: tuple[Diagnostic, ...]


def _by_steps(codes: tuple[Routine, ...]) -> _Tried:
    """Return the subroutines after the fewest steps that make a device execute them."""
    reasons = [one for code in codes for one in check_device_routine(code, names_on_device(code))]
    steps: tuple[str, ...] = ("acc-routine",)
    imports = [code for code in codes if code.module.variables or code.module.unresolved]
    if reasons and len(codes) == 1 and imports:
        (code,) = imports
        others = [one for one in reasons if not one.remedies]
        reasons = [
            *others,
            *check_variables_as_arguments(code),
            *(() if others else check_variables_as_inputs(code)),
        ]
        if not reasons:
            passed = with_imports_passed(code)
            codes, steps = (passed,), ("imports-to-arguments", *steps)
            reasons = [*check_device_routine(passed, names_on_device(passed))]
    return _Tried(steps, codes, tuple(reasons))
