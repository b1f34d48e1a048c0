"""What `psyclone-storage-kern -device` says: which kernels a device can run, and why not others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from psyclone_storage.base.diagnostic import CompileError, Diagnostic
from psyclone_storage.base.names import listed
from psyclone_storage.base.shipped import shared_file
from psyclone_storage.cli.guard import failure
from psyclone_storage.cli.kern_options import KernelOptions
from psyclone_storage.cli.write import Output, write_together
from psyclone_storage.config.settings import Api, Settings
from psyclone_storage.driver.apis import parts_of
from psyclone_storage.driver.c_code import KernelRequest, make_finder
from psyclone_storage.driver.on_device import KernelOnDevice, judge_kernels

_LENGTHS = (
    "Each call needs memory for {names}, of a length that comes as an argument: where"
    " 'kernel-constants' knows it, apply that before."
)
_FORTRAN = frozenset({".f90", ".x90"})


def report_devices(options: KernelOptions, api: Api, settings: Settings) -> tuple[Diagnostic, ...]:
    """Print a line for each kernel, its reasons below, and how many there are; return problems."""
    folders = options.directories or tuple(
        dict.fromkeys(one if one.is_dir() else one.parent for one in options.files)
    )
    shipped = shared_file(f"external/{parts_of(api).infrastructure}")
    finder = make_finder(KernelRequest(options.type_name, folders, shipped), settings)
    problems: list[Diagnostic] = []
    found: list[KernelOnDevice] = []
    for file in _files(options.files):
        try:
            found += judge_kernels(file, options.type_name, api, settings, finder)
        except CompileError as error:
            problems += error.problems
        except Exception as error:  # noqa: BLE001  # pylint: disable=broad-exception-caught
            problems.append(failure(error, file))
    if problems and not found:
        return tuple(problems)
    text = "".join(f"{line}\n" for line in _lines(found))
    if options.output is None:
        print(text, end="")
    else:
        write_together((Output(options.output, text),))
    return tuple(problems)


def _files(given: Iterable[Path]) -> Iterator[Path]:
    """Yield the files that are given, and the Fortran files in and below folders, in order."""
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
            yield f"{kernel.path}: {kernel.name} runs on a device, by {_asked(kernel.steps)}"
            if names := kernel.sized_at_run_time:
                yield f"    {_LENGTHS.format(names=listed(names, 'and'))}"
            continue
        yield f"{kernel.path}: {kernel.name} stays on the host"
        for message in dict.fromkeys(reason.message for reason in kernel.reasons):
            yield f"    {message}"
    there = [kernel for kernel in found if kernel.runs_there]
    yield f"{len(there)} of {len(found)} kernels can run on a device"
    for steps, count in Counter(kernel.steps for kernel in there).most_common():
        yield f"{count:>6} by {_asked(steps)}"
    yield from _sized(there)


def _sized(found: list[KernelOnDevice]) -> Iterator[str]:
    if sized := [kernel for kernel in found if kernel.sized_at_run_time]:
        yield f"{len(sized):>6} of these need memory for local arrays in each call"


def _asked(steps: tuple[str, ...]) -> str:
    return f"'{'; '.join(steps)}'"
