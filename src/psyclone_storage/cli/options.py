"""Options of `psyclone-storage`: names, help, and a frozen record of their values.

PSyclone's options have the same names and meaning, so that a build system can use either command.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path

from psyclone_storage import __version__
from psyclone_storage.base.diagnostic import CompileError, Diagnostic, Severity
from psyclone_storage.base.names import listed, module_word
from psyclone_storage.base.package_files import shared_file
from psyclone_storage.base.reading import resolved
from psyclone_storage.base.records import dataclass, replace
from psyclone_storage.cli.clear_cache import ClearCache
from psyclone_storage.cli.examples import UnpackExamples
from psyclone_storage.cli.file_options import (
    FileOptions,
    add_file_options,
    check_file_options,
    contradictory_contracts,
    file_options,
    is_plain,
)
from psyclone_storage.cli.output_clashes import overwrites_input, written_twice
from psyclone_storage.cli.parser import Formatter, Parser
from psyclone_storage.cli.psyclone_options import (
    add_psyclone_options,
    check_psyclone_options,
    settings_for,
)
from psyclone_storage.cli.schemas import SCHEMAS, PrintSchema
from psyclone_storage.cli.style import add_style
from psyclone_storage.config.settings import API_NAMES

_DESCRIPTION = """\
Compile LFRic and GOcean algorithms in Fortran or Python: generate the parallel (PSy) layer with
loops, halo exchanges and reductions from the algorithm and the metadata of its kernels. Transform
Fortran files without an API: insert directives or apply other steps, and keep all other text."""

_EXAMPLES = """\
examples:
  psyclone-storage alg.x90 -d kernels -oalg alg.f90 -opsy alg_psy.f90
  psyclone-storage alg.x90 -d kernels --schedule --explain    what would be done, and why
  psyclone-storage source/*.x90 -d kernels --output-dir build -j 4 --depfile build/psy.d
  psyclone-storage alg.x90 -d kernels -oalg alg.f90 -opsy psy.f90 --compile
  psyclone-storage alg.x90 -d kernels --apply auto --schedule     threads, and what they share
  psyclone-storage alg.x90 -d kernels --apply openacc --output-dir build -okern build
  psyclone-storage alg.x90 -d kernels --output-dir build -s optimise.py --script-kwargs 'depth=2'
"""

_PSYCLONE = "3.3.1"
_GRAINS = {"invokes": "invokes", "routines": "invokes", "kernels": "kernels"}
_SOURCES = (".f90", ".f03", ".f08", ".x90", ".py")


@dataclass(frozen=True, slots=True)
class BuildFiles:
    """Output files for a build system; `dyndep` also contains the name of a target."""

    depfile: Path | None = None
    stamp: Path | None = None
    gathered_kernels: Path | None = None
    kernel_list: Path | None = None
    dyndep: tuple[Path, str] | None = None

    @property
    def paths(self) -> tuple[Path, ...]:
        """Paths of the requested files."""
        dyndep = self.dyndep[0] if self.dyndep else None
        files = (self.depfile, self.stamp, self.gathered_kernels, self.kernel_list, dyndep)
        return tuple(filter(None, files))


@dataclass(frozen=True)
class CommandOptions:
    """Options of one call of the command.

    - `api`, `distributed`: None if the settings decide.

    - `schedule_json`, `dag`: None if not requested, `-` for standard output.

    - `profile`: `invokes`, `kernels` or both.

    - `strict`: warnings are errors.

    - `second_reader`: fparser2 also reads the files.

    - `fixed_form`: the form of all files, None if their suffixes decide.

    - `remarks`: warnings about the options themselves.
    """

    files: tuple[Path, ...]
    api: str | None
    algorithm_output: Path | None
    psy_output: Path | None
    kernel_output: Path | None
    kernel_renaming: str
    output_dir: Path | None
    directories: tuple[Path, ...]
    includes: tuple[Path, ...]
    script: Path | None
    keywords: tuple[tuple[str, object], ...]
    steps: str
    profile: tuple[str, ...]
    line_length: str
    distributed: bool | None
    config: str
    config_opts: str
    jobs: int
    build_files: BuildFiles
    schedule: bool
    schedule_json: str | None
    dag: str | None
    explain: bool
    compile: bool
    compiler: str
    compiler_flags: str
    colour: str
    strict: bool = False
    cached: bool = True
    checks: bool = False
    remarks: tuple[Diagnostic, ...] = ()
    target: str = ""
    verbose: bool = False
    page: Path | None = None
    output: Path | None = None
    file_options: FileOptions = FileOptions()
    second_reader: bool = False
    fixed_form: bool | None = None

    @cached_property
    def without_api(self) -> bool:
        """True if the files are plain Fortran, by an option or because they have no invoke."""
        if self.output is not None or self.file_options != FileOptions():
            return True
        psykal = (self.api, self.algorithm_output, self.psy_output, self.target, self.compile)
        reports = (self.schedule, self.schedule_json, self.dag)
        of_builds = set(self.build_files.paths) - {self.build_files.depfile}
        asked = (*psykal, *reports, self.directories and not self.explain, self.checks, of_builds)
        return bool(self.files) and not any(asked) and all(map(is_plain, self.files))

    @property
    def reports(self) -> bool:
        """True if a report replaces the generated code on standard output."""
        printed = self.schedule or self.explain or "-" in (self.schedule_json, self.dag)
        return printed or self.page is not None

    @property
    def writes(self) -> bool:
        """True if generated code is written to files."""
        return any((self.algorithm_output, self.psy_output, self.output_dir, self.output))


def read_options(words: Sequence[str]) -> CommandOptions:
    """Return the options on a command line.

    Raises:
        CompileError: `L001`, the arguments are invalid; `L002`, two of them contradict each other.
        SystemExit: help or the version was requested and printed.
    """
    words = ["--version"] if list(words) == ["-v"] else words
    given = _build_parser().read(_with_flags_joined(words))
    options = CommandOptions(
        files=tuple(given.files),
        api=given.api,
        algorithm_output=given.oalg,
        psy_output=given.opsy,
        kernel_output=given.okern,
        kernel_renaming=given.kernel_renaming,
        output_dir=given.output_dir,
        directories=tuple(given.directory or ()),
        includes=tuple(given.include or ()),
        script=given.script,
        keywords=_keywords(given.script_kwargs),
        steps="; ".join(given.steps or ()),
        profile=tuple(_GRAINS[word] for word in given.profile or ()),
        line_length=given.limit,
        distributed=given.distributed,
        config=given.config,
        config_opts=" ".join(filter(None, (given.config_opts, settings_for(given)))),
        jobs=given.jobs,
        build_files=BuildFiles(
            given.depfile,
            given.stamp,
            given.gather_kernels,
            given.kernel_list,
            (Path(given.dyndep[0]), given.dyndep[1]) if given.dyndep else None,
        ),
        schedule=given.schedule,
        schedule_json=given.schedule_json,
        dag=given.dag,
        explain=given.explain,
        compile=given.compile,
        compiler=given.f90,
        compiler_flags=given.f90flags,
        colour=given.colour,
        strict=given.warnings == "error",
        cached=given.cached,
        checks=given.check,
        target=given.target,
        verbose=given.verbose,
        page=given.report,
        output=given.o,
        file_options=file_options(given),
        second_reader=given.frontend == "fparser2",
        fixed_form=given.fixed_form if given.fixed_form or given.free_form else None,
    )
    checks = check_psyclone_options, check_file_options
    said = tuple(one for check in checks for one in check(given, without_api=options.without_api))
    if any(item.severity is Severity.ERROR for item in said):
        raise CompileError(*said)
    options = replace(options, remarks=said)
    _check(options, given.diagnostics)
    return options


def algorithm_path(file: Path, options: CommandOptions) -> Path | None:
    """Return the output path for the transformed algorithm, or None for standard output."""
    if options.output_dir is not None:
        return options.output_dir / f"{file.stem}{_suffix(file)}"
    return options.output if options.without_api else options.algorithm_output


def psy_path(file: Path, options: CommandOptions) -> Path | None:
    """Return the output path for the PSy layer of `file`, or None for standard output."""
    if options.without_api:
        return None
    if options.output_dir is not None:
        suffix = _suffix(file)
        stem = module_word(file.stem) if suffix == ".py" else file.stem
        return options.output_dir / f"{stem}_psy{suffix}"
    return options.psy_output


def _suffix(file: Path) -> str:
    """Return the suffix of the files generated from an algorithm."""
    return ".py" if file.suffix.lower() == ".py" else ".f90"


def kernel_folder(options: CommandOptions) -> Path | None:
    """Return the folder of changed kernels, or None if only reports are requested."""
    if options.kernel_output is None and options.reports and not options.writes:
        return None
    return options.kernel_output or options.output_dir or Path()


# ------------------------------------------------------------------ contradictions


def _check(options: CommandOptions, form: str) -> None:
    given = (options.file_options, len(options.files), options.output, options.writes)
    said = [*_contradictions(options), *contradictory_contracts(*given), *_mixtures(options)]
    if options.verbose and form in ("json", "sarif"):
        what = f"What '--verbose' says would be mixed with '--diagnostics {form}'."
        said.append((what, "Leave out the one or the other."))
    problems = [Diagnostic("L002", message, hint=hint) for message, hint in said]
    problems += _clashes(options)
    if problems:
        raise CompileError(*problems)


def _contradictions(options: CommandOptions) -> Iterator[tuple[str, str]]:
    """Yield messages and hints for contradictory options."""
    one_each = options.algorithm_output or options.psy_output
    if options.jobs < 1:
        yield f"'-j' takes a number of processes, not {options.jobs}.", "Give at least 1."
    if len(options.files) > 1 and one_each:
        yield (
            "'-oalg' and '-opsy' name one file each, but several algorithms are given.",
            "Use '--output-dir DIR': it holds '<name>.f90' and '<name>_psy.f90' of each.",
        )
    if len(options.files) > 1 and options.output:
        hint = "Use '--output-dir DIR': it holds '<name>.f90' of each."
        yield "'-o' names one file, but several files are given.", hint
    if options.output and (one_each or options.api):
        yield "'-o' is for files without an API.", "Leave out '-api', '-oalg' and '-opsy'."
    if options.output_dir and options.output:
        yield "'--output-dir' cannot be used with '-o'.", "Leave out the one or the other."
    if options.output_dir and one_each:
        yield (
            "'--output-dir' cannot be used with '-oalg' or '-opsy'.",
            "Leave out the one or the others.",
        )
    if options.keywords and not options.script:
        yield "'--script-kwargs' is for a script, but there is none.", "Add '-s FILE'."
    if options.build_files.depfile and not options.writes:
        yield (
            "'--depfile' needs files to write a rule for.",
            "Add '-oalg' and '-opsy', or '--output-dir'.",
        )


def _clashes(options: CommandOptions) -> Iterator[Diagnostic]:
    """Yield diagnostics for files that would be written twice, or would overwrite an input."""
    read = {resolved(path) for path in (*options.files, *filter(None, (options.script,)))}
    seen: set[Path] = set()
    for path in _outputs(options):
        if path.exists() and not path.is_file() and not path.is_dir():
            continue
        if resolved(path) in read:
            yield overwrites_input(path)
        elif resolved(path) in seen:
            yield written_twice(path)
        seen.add(resolved(path))
    for path in _reports(options):
        if path.suffix.lower() in _SOURCES and path.is_file() and resolved(path) not in read:
            message = f"'{path}' is a source file, no place for a report."
            yield Diagnostic("L002", message, hint="Name another output.")


def _outputs(options: CommandOptions) -> Iterator[Path]:
    """Yield the paths of all output files."""
    files = options.files if options.output_dir else options.files[:1]
    for file in files:
        yield from filter(None, (algorithm_path(file, options), psy_path(file, options)))
    yield from _reports(options)
    yield from options.build_files.paths


def _reports(options: CommandOptions) -> Iterator[Path]:
    names = (options.schedule_json, options.dag)
    yield from (Path(name) for name in names if name and name != "-")
    if options.page:
        yield options.page


def _mixtures(options: CommandOptions) -> Iterator[tuple[str, str]]:
    """Yield messages and hints if a machine-readable report would be mixed with another one."""
    if "-" not in (options.schedule_json, options.dag):
        return
    printed = {
        "--schedule": options.schedule,
        "--explain": options.explain,
        "--schedule-json": options.schedule_json == "-",
        "--dag": options.dag == "-",
    }
    names = [name for name, is_printed in printed.items() if is_printed]
    if len(names) > 1:
        yield (
            f"{listed(names, 'and')} would be mixed on standard output.",
            "Name a file for all but one, such as '--schedule-json schedule.json'.",
        )


# ------------------------------------------------------------------ the words


def _with_flags_joined(words: Sequence[str]) -> list[str]:
    """Return `words` with `--f90flags` and its value joined.

    The value starts with a dash and would otherwise be taken for an option.
    """
    joined: list[str] = []
    for word in words:
        if joined and joined[-1] == "--f90flags" and "--" not in joined:
            joined[-1] = f"--f90flags={word}"
        else:
            joined.append(word)
    return joined


def _keywords(text: str) -> tuple[tuple[str, object], ...]:
    """Return the names and values of keyword arguments in Python syntax: `depth=2, all=True`.

    Raises:
        CompileError: `L001`, the syntax is invalid, or a value is not a constant.
    """
    if not text:
        return ()
    import ast  # noqa: PLC0415

    try:
        call = ast.parse(f"dict({text})", mode="eval").body
        given = call.keywords if isinstance(call, ast.Call) and not call.args else None
        values = {one.arg: ast.literal_eval(one.value) for one in given or ()}
    except (SyntaxError, ValueError):
        given = None
    if given is None or None in values:
        message = f"'--script-kwargs' takes 'name=value, ...', not '{text}'."
        raise CompileError(Diagnostic("L001", message))
    return tuple((name, value) for name, value in values.items() if name)


def _build_parser() -> Parser:
    parser = Parser(
        prog="psyclone-storage",
        description=_DESCRIPTION,
        epilog=_EXAMPLES,
        formatter_class=Formatter,
        allow_abbrev=False,
    )
    parser.add_argument("files", nargs="+", type=Path, metavar="ALGORITHM", help="algorithm files")
    # Fab calls the command 'psyclone' and expects these words, followed by a number.
    version = f"psyclone-storage version: {__version__} (for PSyclone version: {_PSYCLONE})"
    parser.add_argument("--version", action="version", version=version)
    parser.add_argument(
        "--schema", action=PrintSchema, choices=SCHEMAS,
        help="print the JSON Schema of what '--contracts' (contracts, and links for the records of "
        "outputs), '--diagnostics json', '--loops-json', '--schedule-json' or '--transfers-json' "
        "writes",
    )  # fmt: skip
    parser.add_argument(
        "--examples", action=UnpackExamples, metavar="DIR",
        help="write the examples, and the Fortran that they link to, to folders in DIR",
    )  # fmt: skip
    parser.add_argument(
        "--clear-cache", action=ClearCache, nargs=0,
        help="remove all cached translations, invokes, libraries and interfaces",
    )  # fmt: skip
    _add_domain(parser)
    add_file_options(parser)
    _add_output(parser)
    _add_build_files(parser)
    _add_inspection(parser)
    _add_compilation(parser)
    add_psyclone_options(parser)
    return parser


def _add_domain(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("input and settings")
    apis = tuple(API_NAMES)
    group.add_argument(
        "-api", "--psykal-dsl", dest="api", choices=apis, metavar="API",
        help="the domain: lfric (formerly dynamo0.3) or gocean (gocean1.0); default: DEFAULTAPI in "
        "the settings",
    )  # fmt: skip
    group.add_argument(
        "-d", "--directory", action="append", type=Path, metavar="DIR",
        help="search DIR and its subfolders for kernels; may be repeated. Default: the folder of "
        "the algorithm, in which a file has priority over files with that name in subfolders",
    )  # fmt: skip
    group.add_argument(
        "-I", "--include", action="append", type=Path, metavar="DIR",
        help="search DIR for include files and modules (source or compiled); may be repeated",
    )  # fmt: skip
    group.add_argument(
        "-c", "--config", default="", metavar="FILE", help="the settings file to use"
    )
    group.add_argument(
        "--config-opts", default="", metavar="'KEY=VALUE ...'",
        help="settings that replace those of the file, such as COMPUTE_ANNEXED_DOFS=true",
    )  # fmt: skip
    memory = group.add_mutually_exclusive_group()
    memory.add_argument(
        "-dm", "--dist_mem", dest="distributed", action="store_true", default=None,
        help="generate code for distributed memory (MPI)",
    )  # fmt: skip
    memory.add_argument(
        "-nodm", "--no_dist_mem", dest="distributed", action="store_false", default=None,
        help="generate code for a single memory",
    )  # fmt: skip
    group.add_argument(
        "-s", "--script", type=Path, metavar="FILE", help="a Python script with a function 'trans'"
    )
    group.add_argument(
        "--script-kwargs", default="", metavar="'NAME=VALUE, ...'",
        help="keyword arguments of the script function 'trans', in Python syntax",
    )  # fmt: skip
    group.add_argument(
        "--apply", dest="steps", action="append", metavar="'STEP; ...'",
        help="apply transformations, such as 'colour; openmp-parallel-do{schedule=dynamic}', or a "
        "recipe ('auto' or 'openacc') to every loop for which they are legal; '--explain' lists "
        "the refusals; may be repeated",
    )  # fmt: skip
    group.add_argument(
        "-p", "--profile", action="append", choices=tuple(_GRAINS),
        help="insert profiling calls around each invoke, or each routine of a file without an API "
        "('routines' is a synonym of 'invokes'), or the loops of each kernel; may be repeated",
    )  # fmt: skip
    group.add_argument(
        "-l", "--limit", choices=("off", "all", "output"), default="off",
        help="limit lines to 132 columns: 'output' wraps longer lines of the algorithm, 'all' also "
        "rejects them in the input (default: off; generated code never has longer lines)",
    )  # fmt: skip


def _add_output(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group(
        "output (standard output if no file is named; folders are made as needed)"
    )
    group.add_argument(
        "--target", default="", metavar="NAME",
        help="the infrastructure or language of the generated code. Fortran: the API's own "
        "infrastructure (lfric or dl_esm_inf, the default); storage, whose fields manage their "
        "device copies; or registry, a table that manages the device copies of the API's own "
        "fields. Python: c (default), cuda for fields on a device, or numpy, which needs no "
        "compiler",
    )  # fmt: skip
    group.add_argument("-oalg", type=Path, metavar="FILE", help="the transformed algorithm")
    group.add_argument("-opsy", type=Path, metavar="FILE", help="the generated PSy layer")
    group.add_argument(
        "-okern",
        type=Path,
        metavar="DIR",
        help="write transformed kernels to DIR (default: the current folder)",
    )
    group.add_argument(
        "--kernel-renaming",
        choices=("multiple", "single", "layer"),
        default="multiple",
        help="the names of transformed kernels: 'multiple' (default) numbers a copy for each call;"
        " 'single' writes one copy, which all calls share and must transform in the same way;"
        " 'layer' numbers copies within each PSy layer, whatever files the folder contains",
    )
    group.add_argument(
        "--output-dir", type=Path, metavar="DIR",
        help="write '<name>.f90' and '<name>_psy.f90' for each algorithm to DIR",
    )  # fmt: skip
    group.add_argument(
        "-j", "--jobs", type=int, default=1, metavar="N", help="process N files in parallel"
    )
    group.add_argument(
        "--no-cache", dest="cached", action="store_false",
        help="neither read nor write the cache of translations (in $PSYCLONE_STORAGE_CACHE or "
        "~/.cache)",
    )  # fmt: skip


def _add_build_files(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("for build systems")
    group.add_argument(
        "--depfile", type=Path, metavar="FILE",
        help="write all files that were read as dependencies for Make or Ninja",
    )  # fmt: skip
    group.add_argument(
        "--stamp", type=Path, metavar="FILE",
        help="touch FILE after a successful run. FILE is then the target in '--depfile', because "
        "an output keeps its timestamp if its text does not change",
    )  # fmt: skip
    group.add_argument(
        "--gather-kernels", type=Path, metavar="FILE",
        help="also write all transformed kernels to FILE, one after the other",
    )  # fmt: skip
    group.add_argument(
        "--kernel-list", type=Path, metavar="FILE",
        help="write the paths of the transformed kernels, one per line, or as a definition of the "
        "Make variable CHANGED_KERNELS if FILE ends in '.mk'",
    )  # fmt: skip
    group.add_argument(
        "--dyndep", nargs=2, metavar=("FILE", "TARGET"),
        help="write a dyndep file for Ninja: TARGET depends on the transformed kernels",
    )  # fmt: skip
    for tool in ("CMake", "Make"):
        name = tool.lower()
        group.add_argument(
            f"--{name}-dir", action="version", version=str(shared_file(f"config/{name}")),
            help=f"print the folder of the files that {tool} includes",
        )  # fmt: skip


def _add_inspection(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("inspection")
    group.add_argument(
        "-v", "--verbose", action="store_true",
        help="print to standard error the origin of each setting and the file of each kernel; "
        "'-v' alone prints the version",
    )  # fmt: skip
    group.add_argument("--schedule", action="store_true", help="print each invoke's schedule")
    group.add_argument(
        "--schedule-json", nargs="?", const="-", metavar="FILE", help="write the schedules as JSON"
    )
    group.add_argument(
        "--dag", nargs="?", const="-", metavar="FILE", help="write the dependences for Graphviz"
    )
    group.add_argument(
        "--report", type=Path, metavar="FILE",
        help="write an HTML page with a diagram of each invoke, reasons, steps, costs and code; "
        "for files without an API, with a table of all loops",
    )  # fmt: skip
    group.add_argument(
        "--explain", action="store_true",
        help="print the reason for each halo exchange, each run-time test, and each refusal of a "
        "step of '--apply'",
    )  # fmt: skip
    group.add_argument(
        "--check", action="store_true",
        help="simulate each final schedule, with all data of unknown state stale, and report reads "
        "of stale data",
    )  # fmt: skip
    add_style(group)


def _add_compilation(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("compilation")
    group.add_argument(
        "--compile", action="store_true",
        help="compile the generated code and its kernels against interfaces of the API; for a "
             "Python algorithm, compile the library that its PSy layer loads, and cache it",
    )  # fmt: skip
    group.add_argument("--f90", default="gfortran", metavar="COMPILER", help="default: gfortran")
    group.add_argument(
        "--f90flags", default="", metavar="'FLAGS'", help="further flags, such as '-O2 -Wall'"
    )
