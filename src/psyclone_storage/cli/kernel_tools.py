"""Do what `psyclone-storage-kern` was asked for."""

from __future__ import annotations

import os

from psyclone_storage.base.diagnostic import CompileError, Diagnostic
from psyclone_storage.cli.guard import failure
from psyclone_storage.cli.kern_options import KernelOptions
from psyclone_storage.cli.write import Output, write_together
from psyclone_storage.config.load import load_settings
from psyclone_storage.config.locate import surroundings
from psyclone_storage.config.settings import API_NAMES
from psyclone_storage.driver.kernel_tools import check_kernel_file, generate_stub


def run_tool(options: KernelOptions) -> tuple[Diagnostic, ...]:
    """Write the stub, or check every file; return all problems.

    Raises:
        CompileError: the settings are wrong, or the one kernel to write a stub for is.
    """
    settings = load_settings(options.config, options.config_opts, surroundings(os.environ))
    api = API_NAMES[options.api] if options.api else settings.stub_api
    if not options.check:
        text = generate_stub(options.files[0], options.type_name, api, settings)
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
