"""Results of the files of one call, written together: either all outputs, or none.

Data of all files are combined here: changed kernels, reports, and dependencies.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

from psyclone_storage.base.diagnostic import Diagnostic, raise_if_any
from psyclone_storage.base.reading import resolved
from psyclone_storage.base.records import dataclass, field
from psyclone_storage.cli.depfile import depfile_text, dyndep_text, kernel_list_text
from psyclone_storage.cli.kernel_folder import remove_old
from psyclone_storage.cli.kernel_locks import owner_name, release_claims
from psyclone_storage.cli.kernel_users import confirm
from psyclone_storage.cli.options import CommandOptions, kernel_folder, psy_path
from psyclone_storage.cli.output_clashes import overwrites_input
from psyclone_storage.cli.report import Reports, gathered_reports
from psyclone_storage.cli.results import Translation
from psyclone_storage.cli.write import Output, differs, is_stream, write_together
from psyclone_storage.config.locate import (
    find_settings_file,
    search_context,
    shipped_settings_file,
)

_NO_KERNELS = "! No step has changed a kernel.\n"


@dataclass(frozen=True, slots=True)
class FileResult:
    """Result of one algorithm file.

    - `printed`: the output of its script.

    - `texts`: generated texts for standard output, with headings.

    - `outputs`: generated texts for files.

    - `kernels`: changed kernels for files.

    - `records`: files that record the users of shared kernels.

    - `owner`: the name of the PSy layer in the kernel folder.

    - `sources`: the files for a dependency rule.

    - `translation`: the result to be cached for other calls.
    """

    problems: tuple[Diagnostic, ...]
    printed: str = ""
    texts: tuple[tuple[str, str], ...] = ()
    reports: Reports = field(default_factory=Reports)
    outputs: tuple[Output, ...] = ()
    kernels: tuple[Output, ...] = ()
    records: tuple[Output, ...] = ()
    owner: str = ""
    sources: tuple[Path, ...] = ()
    translation: Translation | None = None

    @property
    def targets(self) -> tuple[Path, ...]:
        """Generated files, except kernels, whose names are not known in advance."""
        return tuple(output.path for output in self.outputs)

    @property
    def files(self) -> tuple[Output, ...]:
        """All files to be written."""
        return (*self.outputs, *self.kernels, *self.records)


def layer_file(file: Path, options: CommandOptions) -> Path:
    """Return the file that identifies the outputs of `file`: the PSy layer if it is a file."""
    layer = psy_path(file, options)
    return file if layer is None or is_stream(layer) else layer


def owner_in_folder(file: Path, options: CommandOptions) -> str:
    """Return the name of the PSy layer of `file` in the folder of changed kernels."""
    return owner_name(layer_file(file, options), kernel_folder(options) or Path())


def agreeing(done: FileResult, earlier: list[FileResult]) -> FileResult:
    """Return `done`, with a diagnostic if a shared kernel differs from an `earlier` file's."""
    known = {
        output.path: output.text for other in earlier for output in other.kernels if output.shared
    }
    problems = [
        differs(output.path)
        for output in done.kernels
        if output.shared and known.get(output.path, output.text) != output.text
    ]
    return FileResult((*done.problems, *problems), done.printed) if problems else done


def release_all(options: CommandOptions) -> None:
    """Release the claims on names of changed kernels."""
    folder = kernel_folder(options)
    if folder is not None:
        release_claims(folder, owners_in_folder(options))


def owners_in_folder(options: CommandOptions) -> frozenset[str]:
    """Return the names of all PSy layers in the folder of changed kernels."""
    return frozenset(owner_in_folder(file, options) for file in options.files)


def write_all(options: CommandOptions, finished: list[FileResult]) -> None:
    """Write all outputs to files and standard output; if this fails, change no file.

    Raises:
        CompileError: an output cannot be written, or would overwrite an input.
    """
    reports = tuple(_gathered(options, finished))
    outputs = [output for done in finished for output in done.files]
    if any(done.sources for done in finished):
        outputs += [Output(path, text) for path, text in reports if path is not None]
    read = {resolved(source) for done in finished for source in done.sources}
    raise_if_any([overwrites_input(one.path) for one in outputs if resolved(one.path) in read])

    def show() -> None:
        for heading, text in (text for done in finished for text in done.texts):
            print(f"{heading}:\n{text}")
        for path, text in reports:
            if path is None:
                print(text, end="")
        sys.stdout.flush()

    write_together(outputs, show)
    confirm(kernel for done in finished for kernel in done.kernels)
    _remove_old(options, finished)
    stamp = options.build_files.stamp
    if stamp is not None and all(done.sources for done in finished):
        stamp.parent.mkdir(parents=True, exist_ok=True)
        stamp.touch()


def _remove_old(options: CommandOptions, finished: list[FileResult]) -> None:
    """Remove changed kernels of earlier calls that are no longer needed."""
    folder = kernel_folder(options)
    if folder is not None:
        done = [one for one in finished if one.sources]
        owners = frozenset(one.owner for one in done if one.owner)
        written = (file.path for one in done for file in (*one.kernels, *one.records))
        remove_old(folder, owners, written)


def _gathered(
    options: CommandOptions, finished: list[FileResult]
) -> Iterator[tuple[Path | None, str]]:
    """Yield the reports on all files and the dependencies, each with its output file or None."""
    yield from gathered_reports([done.reports for done in finished], options)
    wanted = options.build_files
    if wanted.depfile is not None:
        chosen = find_settings_file(options.config, search_context(os.environ))
        common = () if chosen == shipped_settings_file() else (chosen,)
        stamp = (wanted.stamp,) if wanted.stamp else ()
        rules = [
            (stamp or done.targets, (*done.sources, *common)) for done in finished if done.targets
        ]
        yield wanted.depfile, depfile_text(wanted.depfile, rules)
    kernels = {one.path: one.text for done in finished for one in done.kernels}
    if wanted.kernel_list is not None:
        yield wanted.kernel_list, kernel_list_text(wanted.kernel_list, kernels)
    if wanted.gathered_kernels is not None:
        yield wanted.gathered_kernels, "\n".join(kernels.values()) or _NO_KERNELS
    if wanted.dyndep is not None:
        path, target = wanted.dyndep
        yield path, dyndep_text(path, target, kernels)
