"""Report of `psyclone-storage-kern -device`: kernels for a device, and reasons for others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from functools import reduce
from pathlib import Path

from psyclone_storage.base.diagnostic import CompileError, Diagnostic
from psyclone_storage.base.names import listed
from psyclone_storage.base.package_files import shared_file
from psyclone_storage.cli.kern_options import KernelOptions
from psyclone_storage.cli.main_guard import failure
from psyclone_storage.cli.write import Output, write_together
from psyclone_storage.config.settings import Api, Settings
from psyclone_storage.targets.apis import api_parts
from psyclone_storage.tools.c_code import KernelRequest, make_finder
from psyclone_storage.tools.device_modules import DeviceModules, Needs
from psyclone_storage.tools.offload_check import KernelOnDevice, judge_kernels

_LENGTHS = (
    "Each call needs memory for {names}, of a length that comes as an argument: where"
    " 'kernel-constants' knows it, apply that before."
)
_FORTRAN = frozenset({".f90", ".x90"})


def report_devices(options: KernelOptions, api: Api, settings: Settings) -> tuple[Diagnostic, ...]:
    """Print a line and the reasons for each kernel, and the totals; return diagnostics."""
    folders = options.directories or tuple(
        dict.fromkeys(one if one.is_dir() else one.parent for one in options.files)
    )
    shipped = shared_file(f"external/{api_parts(api).infrastructure}")
    finder = make_finder(KernelRequest(options.type_name, folders, shipped), settings)
    modules = DeviceModules(finder)
    problems: list[Diagnostic] = []
    found: list[KernelOnDevice] = []
    for file in _files(options.files):
        try:
            found += judge_kernels(file, options.type_name, api, settings, modules)
        except CompileError as error:
            problems += error.problems
        except Exception as error:  # noqa: BLE001  # pylint: disable=broad-exception-caught
            problems.append(failure(error, file))
    if problems and not found:
        return tuple(problems)
    text = "".join(f"{line}\n" for line in _lines(found))
    outputs = [*_module_files(options.device_modules, modules, found)]
    if options.output is not None:
        outputs.append(Output(options.output, text))
    write_together(outputs)
    if options.output is None:
        print(text, end="")
    return tuple(problems)


def _module_files(
    folder: Path | None, modules: DeviceModules, found: list[KernelOnDevice]
) -> Iterator[Output]:
    """Yield the files of the modules that kernels require on a device.

    Files with equal names are written to separate folders.

    Raises:
        CompileError: `L003`, an output would overwrite its own source file.
    """
    needs = reduce(Needs.with_all, (kernel.needs for kernel in found), Needs())
    texts = [] if folder is None else list(modules.texts(needs))
    names = Counter(path.name for path, _ in texts)
    for path, text in texts:
        assert folder is not None
        place = folder / (path.name if names[path.name] == 1 else f"{path.parent.name}/{path.name}")
        if place.resolve() == path.resolve():
            message = f"'{place}' cannot be written: it is the module that is to be changed."
            hint = "Give '-device-modules' a folder of its own."
            raise CompileError(Diagnostic("L003", message, file=str(path), hint=hint))
        yield Output(place, text)


def _files(given: Iterable[Path]) -> Iterator[Path]:
    """Yield the given files, and the Fortran files in given directory trees, in order."""
    for one in given:
        if one.is_dir():
            yield from (
                path
                for path in sorted(one.rglob("*"))
                if path.suffix.lower() in _FORTRAN and path.is_file()
            )
        else:
            yield one


def _lines(found: list[KernelOnDevice]) -> Iterator[str]:
    for kernel in found:
        if kernel.runs_there:
            needed = kernel.needs.modules
            also = f", with {listed(needed, 'and')} for devices" if needed else ""
            yield f"{kernel.path}: {kernel.name} runs on a device, by {_asked(kernel.steps)}{also}"
            if names := kernel.sized_at_run_time:
                yield f"    {_LENGTHS.format(names=listed(names, 'and'))}"
            continue
        yield f"{kernel.path}: {kernel.name} stays on the host"
        for line in dict.fromkeys(map(_said, kernel.reasons)):
            yield f"    {line}"
    there = [kernel for kernel in found if kernel.runs_there]
    yield f"{len(there)} of {len(found)} kernels can run on a device"
    for steps, count in Counter(kernel.steps for kernel in there).most_common():
        yield f"{count:>6} by {_asked(steps)}"
    if wanting := [kernel for kernel in there if kernel.needs.modules]:
        modules = {name for kernel in wanting for name in kernel.needs.modules}
        yield f"{len(wanting):>6} of these need modules for devices, {len(modules)} in all"
    yield from _sized(there)


def _said(reason: Diagnostic) -> str:
    """Return the location, the text and the hint of a reason."""
    span = reason.span
    place = f"{span.source.name}:{span.line}" if span is not None else reason.file
    return " ".join(part for part in (f"{place}:" if place else "", reason.message, reason.hint)
                    if part)  # fmt: skip


def _sized(found: list[KernelOnDevice]) -> Iterator[str]:
    if sized := [kernel for kernel in found if kernel.sized_at_run_time]:
        yield f"{len(sized):>6} of these need memory for local arrays in each call"


def _asked(steps: tuple[str, ...]) -> str:
    return f"'{'; '.join(steps)}'"
