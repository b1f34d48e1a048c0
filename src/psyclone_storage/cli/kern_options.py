"""Options of `psyclone-storage-kern`, and a frozen record of their values."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from psyclone_storage import __version__
from psyclone_storage.base.records import dataclass
from psyclone_storage.cli.parser import Formatter, Parser
from psyclone_storage.cli.style import add_style
from psyclone_storage.config.settings import API_NAMES

_DESCRIPTION = """\
Work on kernels alone: write a subroutine's declaration from the metadata, check that one that
is written takes what the metadata says it is passed, say which can run on a device and what keeps
the others off, or print it as a function of C."""

_EXAMPLES = """\
examples:
  psyclone-storage-kern -gen stub kernel_mod.f90 -o stub.f90
  psyclone-storage-kern -gen alg kernel_mod.f90 -o kernel_alg_mod.x90
  psyclone-storage-kern -check kernels/*_mod.f90
  psyclone-storage-kern -api gocean -check kernels/*_mod.f90
  psyclone-storage-kern -device -d infrastructure -d science science
  psyclone-storage-kern -device -device-modules for_device -d infrastructure -d science science
  psyclone-storage-kern -gen c -d src kernel_mod.f90 -o kernel.c
"""


@dataclass(frozen=True, slots=True)
class KernelOptions:
    """Options of one call: check all `files`, or `generate` a text from one of them.

    - `api`: None if the settings decide.

    - `device`: report which kernels in `files`, which may be folders, a device can execute.

    - `device_modules`: the output folder for modules annotated for the device.

    - `directories`: directory trees in which modules are searched.
    """

    files: tuple[Path, ...]
    api: str | None
    check: bool
    device: bool
    device_modules: Path | None
    generate: str
    directories: tuple[Path, ...]
    type_name: str | None
    output: Path | None
    config: str
    config_opts: str


def read_kernel_options(words: Sequence[str]) -> KernelOptions:
    """Return the options on a command line.

    Raises:
        CompileError: `L001`, the arguments are invalid.
        SystemExit: help or the version was requested and printed.
    """
    parser = _build_parser()
    given = parser.read(words)
    if given.device_modules is not None and (given.check or given.gen is not None):
        parser.error("-device-modules is for -device alone")
    given.gen = given.gen or "stub"
    if not (given.check or given.device or given.device_modules) and len(given.files) > 1:
        what = {"stub": "a stub", "alg": "an algorithm", "python": "Python"}.get(
            given.gen, "C or CUDA"
        )
        parser.error(f"{what} is generated for one file at a time")
    return KernelOptions(
        tuple(given.files),
        given.api,
        given.check,
        given.device or given.device_modules is not None,
        given.device_modules,
        given.gen,
        tuple(given.directories),
        given.type,
        given.output,
        given.config,
        given.config_opts,
    )


def _build_parser() -> Parser:
    parser = Parser(
        prog="psyclone-storage-kern",
        description=_DESCRIPTION,
        epilog=_EXAMPLES,
        formatter_class=Formatter,
        allow_abbrev=False,
    )
    parser.add_argument("files", nargs="+", type=Path, metavar="KERNEL", help="kernel files")
    version = f"psyclone-storage-kern version: {__version__}"
    parser.add_argument("-v", "--version", action="version", version=version)
    task = parser.add_mutually_exclusive_group()
    task.add_argument(
        "-gen", choices=("stub", "alg", "c", "c-loops", "cuda", "python"), default=None,
        help="what to generate: 'stub', a stub of the subroutine (default); 'alg', an algorithm"
        " that calls the kernel; 'c', the subroutine in C; for kernels on grids 'c-loops', the C"
        " function with loops over points, or 'cuda'; 'python', the file's kernels and algorithms",
    )  # fmt: skip
    task.add_argument(
        "-check", action="store_true", help="compare each kernel's subroutine with its metadata"
    )
    task.add_argument(
        "-device", action="store_true", help="list the kernels in files and folders that OpenACC"
        " can run on a device, the steps that this needs, and the reasons against the others",
    )  # fmt: skip
    parser.add_argument(
        "-device-modules", type=Path, metavar="DIR",
        help="with -device: write copies of the modules that kernels use to DIR, with OpenACC"
        " directives for the procedures and variables that kernels need; compile the copies"
        " instead of the originals, and pass DIR with -d before the folders of the originals",
    )  # fmt: skip
    parser.add_argument(
        "--type", metavar="NAME", help="the kernel type, if the file defines several"
    )
    parser.add_argument(
        "-d", "--directory", action="append", default=[], dest="directories", type=Path,
        metavar="DIR",
        help="with -gen c, -gen python or -device: search DIR and its subfolders for the modules"
        " that a kernel uses (default: the kernel's folder); may be repeated",
    )  # fmt: skip
    parser.add_argument("-o", dest="output", type=Path, metavar="FILE", help="write to FILE")
    parser.add_argument(
        "-api", choices=tuple(API_NAMES), metavar="API",
        help="the domain: lfric or gocean; default: DEFAULTSTUBAPI in the settings",
    )  # fmt: skip
    parser.add_argument(
        "-l", "--limit", choices=("off", "all", "output"), default="off",
        help="accepted for compatibility with PSyclone; lines never exceed 132 columns",
    )  # fmt: skip
    parser.add_argument(
        "-I", "--include", action="append", type=Path, metavar="DIR",
        help="accepted for compatibility with PSyclone; include files are not needed",
    )  # fmt: skip
    parser.add_argument("-c", "--config", default="", metavar="FILE", help="the settings file")
    parser.add_argument("--config-opts", default="", metavar="'KEY=VALUE ...'", help="settings")
    add_style(parser)
    return parser
