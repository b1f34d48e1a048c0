"""Execution of the command `psyclone-storage-kern`."""

from __future__ import annotations

import os

from psyclone_storage.base.diagnostic import CompileError, Diagnostic
from psyclone_storage.base.package_files import shared_file
from psyclone_storage.cli.device_report import report_devices
from psyclone_storage.cli.kern_options import KernelOptions
from psyclone_storage.cli.main_guard import failure
from psyclone_storage.cli.write import Output, write_together
from psyclone_storage.config.load import load_settings
from psyclone_storage.config.locate import search_context
from psyclone_storage.config.settings import API_NAMES, Api, Settings
from psyclone_storage.targets.apis import api_parts
from psyclone_storage.tools.c_code import CForm, KernelRequest, generate_c
from psyclone_storage.tools.stubs import check_kernel_file, generate_caller, generate_stub
from psyclone_storage.tools.translate import generate_python


def run_tool(options: KernelOptions) -> tuple[Diagnostic, ...]:
    """Write the requested output, or check every file; return all diagnostics.

    Raises:
        CompileError: an error in the settings, or in the kernel for which a text is generated.
    """
    settings = load_settings(options.config, options.config_opts, search_context(os.environ))
    api = API_NAMES[options.api] if options.api else settings.stub_api
    if options.device:
        return (*settings.warnings, *report_devices(options, api, settings))
    if not options.check:
        text = _generated(options, api, settings)
        if options.output is None:
            print(text, end="")
        else:
            write_together((Output(options.output, text),))
        return settings.warnings
    problems = list(settings.warnings)
    for file in options.files:
        try:
            problems += check_kernel_file(file, options.type_name, api, settings)
        except CompileError as error:
            problems += error.problems
        except Exception as error:  # noqa: BLE001  # pylint: disable=broad-exception-caught
            problems.append(failure(error, file))
    return tuple(problems)


def _generated(options: KernelOptions, api: Api, settings: Settings) -> str:
    """Return the text to be generated for one kernel file."""
    file = options.files[0]
    if options.generate == "stub":
        return generate_stub(file, options.type_name, api, settings)
    if options.generate == "alg":
        return generate_caller(file, options.type_name, api, settings)
    shipped = shared_file(f"external/{api_parts(api).infrastructure}")
    folders = options.directories or (file.parent,)
    wanted = KernelRequest(options.type_name, folders, shipped)
    if options.generate == "python":
        return generate_python(file, api, settings, wanted)
    return generate_c(file, api, settings, CForm(options.generate), wanted)
