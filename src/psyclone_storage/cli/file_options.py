"""Options for plain Fortran files, and detection of such files."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from pathlib import Path

from psyclone_storage.base.diagnostic import Diagnostic
from psyclone_storage.base.records import dataclass
from psyclone_storage.base.regex import regex

_PLAIN = (".f90", ".f95", ".f03", ".f08", ".xu90", ".f", ".for", ".ftn", ".fpp", ".f77")
PROMISES = (
    "component-pointers-distinct",
    "unknown-components-are-data",
    "unwritten-elements-unused",
)
"""The choices of `--assume`: the values of `ir.facts.ASSUMPTIONS`."""
# By flag: the name of the option in parsed arguments, and what to do instead.
_OF_ALGORITHMS = {
    "--check": ("check", "Leave it out: every step is checked."),
    "--compile": ("compile", "Compile the output with the Fortran compiler."),
    "--dag": ("dag", "Use '--explain' or '--loops-json'."),
    "--dyndep": ("dyndep", "Use '--depfile'."),
    "--gather-kernels": ("gather_kernels", "Leave it out."),
    "--kernel-list": ("kernel_list", "Leave it out."),
    "--schedule": ("schedule", "Use '--explain' or '--loops-json'."),
    "--schedule-json": ("schedule_json", "Use '--loops-json'."),
    "--target": ("target", "Use a recipe for OpenMP or OpenACC."),
    "-oalg": ("oalg", "Use '-o FILE'."),
    "-okern": ("okern", "Leave it out."),
    "-opsy": ("opsy", "Use '-o FILE'."),
}
_OF_FILES = {
    "--assume": "assume",
    "--contracts": "contracts",
    "--device-data": "device_data",
    "--device-storages": "device_storages",
    "--link-check": "link_check",
    "--loops-json": "loops_json",
    "--require-applied": "require_applied",
    "--strip-directives": "strip_directives",
    "--transfers-json": "transfers_json",
}
_INVOKE = regex(r"\binvoke\b", re.IGNORECASE)
_CALL = regex(r"^[ \t]*call[ \t]+invoke[ \t]*\(", re.IGNORECASE | re.MULTILINE)


@dataclass(frozen=True, slots=True)
class FileOptions:
    """Options for plain Fortran files.

    - `stripped`: the families of directives that are removed.

    - `assumed`: the names of assumed facts.

    - `must_apply`: a file that no step changes is an error.

    - `loops`: the output file of the table of loops.

    - `device_data`: the root of the call tree whose device data are planned.

    - `device_storages`: transfers are calls of storages instead of directives.

    - `transfers`: the output file of the table of transfers.

    - `contracts`: the folder of contracts, with which a file is planned alone.

    - `link_check`: the contracts of all files are checked, and nothing is transformed.
    """

    stripped: tuple[str, ...] = ()
    assumed: tuple[str, ...] = ()
    must_apply: bool = False
    loops: str | None = None
    device_data: str = ""
    transfers: Path | None = None
    contracts: Path | None = None
    link_check: bool = False
    device_storages: bool = False


def add_file_options(parser: argparse.ArgumentParser) -> None:
    """Add the options to a parser."""
    group = parser.add_argument_group("files without an API (plain Fortran)")
    group.add_argument(
        "-o", type=Path, metavar="FILE",
        help="write the transformed file to FILE; all text that no step changed is preserved",
    )  # fmt: skip
    group.add_argument(
        "--strip-directives", action="append", choices=("omp", "acc"),
        help="remove the author's OpenMP or OpenACC directives first; may be repeated",
    )  # fmt: skip
    group.add_argument(
        "--assume", action="append", choices=PROMISES,
        help="promise for all files that pointer components with different names do not alias, "
        "that components of unknown types, if followed by parentheses, are arrays, or that no "
        "statement reads elements that a device region, which writes others, leaves as they are; "
        "may be repeated",
    )  # fmt: skip
    group.add_argument(
        "--require-applied",
        action="store_true",
        help="report a file that no step changes as an error",
    )
    group.add_argument(
        "--loops-json", nargs="?", const="-", metavar="FILE",
        help="write for each loop whether its iterations are independent, its clauses and reasons "
        "as JSON",
    )  # fmt: skip
    group.add_argument(
        "--device-data", default="", metavar="PROCEDURE",
        help="keep the arrays of device regions on the device throughout PROCEDURE and the "
        "procedures of the given files that it calls: insert the transfers that are necessary",
    )  # fmt: skip
    group.add_argument(
        "--device-storages", action="store_true",
        help="with '--device-data', insert calls of the Fortran storage library instead of data "
        "directives: storages find arrays by their addresses and know which copies are valid",
    )  # fmt: skip
    group.add_argument(
        "--transfers-json", type=Path, metavar="FILE",
        help="write the transfers of '--device-data' with their reasons as JSON",
    )  # fmt: skip
    group.add_argument(
        "--contracts", type=Path, metavar="DIR",
        help="plan the device data of one file: read the contracts of procedures in other files "
        "from DIR instead of their sources, and write those of this file to DIR",
    )  # fmt: skip
    group.add_argument(
        "--link-check", action="store_true",
        help="check that the contracts of all files of a program, outputs of '--contracts', are "
        "met; nothing is transformed",
    )  # fmt: skip


def file_options(given: argparse.Namespace) -> FileOptions:
    """Return the values of the options."""
    return FileOptions(
        tuple(given.strip_directives or ()),
        tuple(given.assume or ()),
        given.require_applied,
        given.loops_json,
        given.device_data,
        given.transfers_json,
        given.contracts,
        given.link_check,
        given.device_storages,
    )


def check_file_options(given: argparse.Namespace, *, without_api: bool) -> Iterator[Diagnostic]:
    """Yield an error for each option that is only for the other kind of files.

    `without_api` is whether the files are plain Fortran.
    """
    if given.api or given.oalg or given.opsy:
        for flag, name in _OF_FILES.items():
            if getattr(given, name):
                message = f"'{flag}' is for files without an API."
                yield Diagnostic("L002", message, hint="Leave it out, or '-api' and its outputs.")
    elif without_api:
        yield from map(_is_algorithm, filter(is_algorithm, given.files))
        for flag, (name, hint) in _OF_ALGORITHMS.items():
            if getattr(given, name):
                message = f"'{flag}' is for algorithms, not for files without an API."
                yield Diagnostic("L002", message, hint=hint)
        if "kernels" in (given.profile or ()):
            message = "'-p kernels' is for algorithms, not for files without an API."
            yield Diagnostic("L002", message, hint="Use '-p routines', or 'ProfileTrans'.")


def _is_algorithm(file: Path) -> Diagnostic:
    message = f"'{file}' is an algorithm, but an option is for files without an API."
    hint = "Use '-oalg' and '-opsy' or '--output-dir' instead of '-o', and no options for files."
    return Diagnostic("L002", message, file=str(file), hint=hint)


def is_algorithm(file: Path) -> bool:
    """Return whether a file is Python, or by its suffix and text an algorithm with an invoke."""
    if file.suffix.lower() != ".x90" or not file.is_file():
        return file.suffix.lower() == ".py"
    return bool(_CALL.search(file.read_bytes().decode("latin-1")))


def is_plain(file: Path) -> bool:
    """Return whether a file is Fortran and contains no invoke, judging by its text."""
    if file.suffix.lower() not in _PLAIN or not file.is_file():
        return False
    return not _INVOKE.search(file.read_bytes().decode("latin-1"))


def contradictory_contracts(
    given: FileOptions, number: int, output: Path | None, writes: bool
) -> Iterator[tuple[str, str]]:
    """Yield messages and hints for contradictory options about contracts of `number` files."""
    if given.contracts is not None and not (given.device_data and output):
        hint = "Add '--device-data PROCEDURE -o FILE'."
        yield "'--contracts' needs '--device-data' and '-o'.", hint
    if given.contracts is not None and number > 1:
        hint = "Use one command per file, or leave out '--contracts' to plan all files together."
        yield "'--contracts' plans one file, but several files are given.", hint
    if given.device_storages and (given.contracts is not None or not given.device_data):
        hint = "Add '--device-data PROCEDURE', and give all files of the call tree."
        yield "'--device-storages' needs '--device-data' without '--contracts'.", hint
    if given.link_check and (writes or given != FileOptions(link_check=True)):
        yield "'--link-check' transforms nothing.", "Give only the files of the program."
