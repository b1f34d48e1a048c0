"""Compilation stages with PSyclone's names: `parse`, `KernelTypeFactory`, `PSyFactory`.

A Python program uses these to read an algorithm, to inspect or transform its schedules, and to
print the result. A script can import them from PSyclone's modules. They call the stages of
`pipeline.compile`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from psyclone_storage.base.diagnostic import CompileError, Diagnostic
from psyclone_storage.base.names import did_you_mean, listed
from psyclone_storage.base.records import dataclass, replace
from psyclone_storage.base.source import SourceText
from psyclone_storage.config.load import default_settings
from psyclone_storage.config.settings import API_NAMES, Api, Settings
from psyclone_storage.ir.expr import Literal, Name, spell
from psyclone_storage.ir.kernel import Kernel, KernelArg
from psyclone_storage.ir.parsed import ParsedAlgorithm, ParsedArgument, ParsedCall, ParsedInvoke
from psyclone_storage.languages.sources.files import read_source
from psyclone_storage.languages.sources.kernel_search import SourceIndex
from psyclone_storage.pipeline.compile import Compiler, make_compiler
from psyclone_storage.pipeline.kernels import CalledKernels, find_kernels
from psyclone_storage.pipeline.line_lengths import read_checked
from psyclone_storage.pipeline.request import CompileRequest, LineLimit, for_file
from psyclone_storage.scripting.arguments import FieldSpace
from psyclone_storage.scripting.containers import Psy
from psyclone_storage.scripting.context import ScriptContext
from psyclone_storage.scripting.settings import Compilation
from psyclone_storage.targets.apis import api_parts, target_of
from psyclone_storage.targets.spec import ApiParts, ApiRow, find_kernel_types

# ---------------------------------------------------------------------------- kernels


class Descriptor:
    """Argument of a kernel as described by its metadata."""

    __slots__ = ("described", "metadata_index")

    def __init__(self, described: KernelArg, metadata_index: int) -> None:
        self.described = described
        """The record of the compiler."""
        self.metadata_index = metadata_index
        """The number of its entry, from 0."""

    @property
    def access(self) -> str:
        """Access: `read`, `write`, `readwrite`, `inc`, `readinc` or `reduction`."""
        return self.described.access.value

    @property
    def argument_type(self) -> str:
        """Kind of the argument, such as `field`, `operator` or `scalar`."""
        return self.described.kind.value

    @property
    def function_space(self) -> FieldSpace | None:
        """Function space or grid-point type; None for other arguments."""
        return FieldSpace(self.described.space) if self.described.space else None

    @property
    def vector_size(self) -> int:
        """Number of components of a field vector; 1 for other arguments."""
        return self.described.vector

    @property
    def stencil(self) -> str | None:
        """Stencil shape, or None."""
        shape = self.described.stencil
        return None if shape is None else str(shape.value)

    @property
    def mesh(self) -> str | None:
        """Mesh of an argument in an inter-grid kernel: `coarse`, `fine`, or None."""
        return self.described.mesh.value if self.described.mesh else None


class KernelType:
    """Interpreted metadata of a kernel."""

    __slots__ = ("kernel",)

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        """The record of the compiler."""

    @property
    def name(self) -> str:
        """Name of the kernel type."""
        return self.kernel.name

    @property
    def iterates_over(self) -> str:
        """Iteration space: `cell_column`, `dof`, `domain`, or a set of grid points."""
        points = self.kernel.points
        return points.name if points else self.kernel.iteration.value

    @property
    def procedure(self) -> str:
        """Name of the subroutine, or of the generic interface."""
        return self.kernel.procedure

    @property
    def nargs(self) -> int:
        """Number of arguments in the metadata."""
        return len(self.kernel.args)

    @property
    def arg_descriptors(self) -> list[Descriptor]:
        """Arguments, in order."""
        return [Descriptor(arg, number) for number, arg in enumerate(self.kernel.args)]


class KernelTypeFactory:
    """Reader of kernel metadata for one API, given by any of its names."""

    settings: Settings | None = None
    """The settings of whoever asks, those of the package by default."""
    targets: Mapping[Api, str] = {}
    """What is generated for an API, where it is not what the settings choose."""

    def __init__(self, api: str | ApiRow = "") -> None:
        settings = self.settings or default_settings()
        if isinstance(api, tuple):
            self._parts, self._target = api
        else:
            name = _api_of(api, settings)
            chosen = self.targets.get(name, "")
            self._parts = api_parts(name)
            self._target = target_of(name, chosen, movement=settings.data_movement)
        self._settings = self._target.adapted(settings)

    def create(self, parse_tree: Path | SourceText | str, name: str | None = None) -> KernelType:
        """Return the kernel `name` in a file or text; without a name, the only kernel.

        Raises:
            CompileError: the kernel does not exist, it is not the only one, or its metadata are
                wrong.
        """
        language = self._target.language
        source = _source(parse_tree)
        if name is None:
            names = find_kernel_types(language, source)
            if len(names) != 1:
                message = f"'{source.name}' holds {len(names)} kernels, and none is named."
                hint = f"Choose from {listed(names, 'and')}." if names else ""
                raise CompileError(Diagnostic("L006", message, hint=hint, file=source.name))
            name = names[0]
        parsed = language.read_kernel(source, name, needs_code=False)
        return KernelType(self._parts.interpret(parsed, self._settings))


def _source(given: Path | SourceText | str) -> SourceText:
    if isinstance(given, SourceText):
        return given
    if isinstance(given, Path) or "\n" not in given:
        return read_source(Path(given))
    return SourceText("a kernel", given)


# ---------------------------------------------------------------------------- algorithms


class ActualArgument:
    """Argument of a kernel call in an algorithm."""

    __slots__ = ("_parsed",)

    def __init__(self, parsed: ParsedArgument) -> None:
        self._parsed = parsed

    @property
    def text(self) -> str:
        """Argument as Fortran text."""
        return spell(self._parsed.expr)

    @property
    def form(self) -> str:
        """Form of the argument: `literal`, `variable`, or `indexed_variable` for all others."""
        match self._parsed.expr:
            case Literal():
                return "literal"
            case Name():
                return "variable"
        return "indexed_variable"

    def is_literal(self) -> bool:
        """Return whether the argument is a literal."""
        return self.form == "literal"


class CallInfo:
    """Call of a kernel or built-in in an invoke."""

    __slots__ = ("_parsed", "ktype")

    def __init__(self, parsed: ParsedCall, kernel: Kernel) -> None:
        self._parsed = parsed
        self.ktype = KernelType(kernel)
        """What its metadata say."""

    @property
    def name(self) -> str:
        """Name used in the algorithm."""
        return self._parsed.name

    @property
    def module_name(self) -> str:
        """Module of the kernel; '' for a built-in."""
        return self.ktype.kernel.module

    @property
    def type(self) -> str:
        """Kind of the call in PSyclone's spelling: `kernelCall` or `BuiltInCall`."""
        return "BuiltInCall" if self.ktype.kernel.is_builtin else "kernelCall"

    @property
    def args(self) -> list[ActualArgument]:
        """Arguments as written."""
        return [ActualArgument(one) for one in self._parsed.args]


class InvokeInfo:
    """Invoke of an algorithm."""

    __slots__ = ("_called", "_parsed")

    def __init__(self, parsed: ParsedInvoke, called: CalledKernels) -> None:
        self._parsed = parsed
        self._called = called

    @property
    def name(self) -> str | None:
        """Label in the algorithm, or None."""
        return self._parsed.label

    @property
    def kcalls(self) -> list[CallInfo]:
        """Calls, in order."""
        return [CallInfo(one, self._called.by_name[one.key]) for one in self._parsed.calls]


@dataclass(frozen=True, slots=True)
class FileInfo:
    """Invokes of an algorithm with the called kernels: the input of `PSyFactory`."""

    api: Api
    compiler: Compiler
    algorithm: ParsedAlgorithm
    called: CalledKernels

    @property
    def name(self) -> str:
        """Name of the program unit."""
        return self.algorithm.unit.name

    @property
    def calls(self) -> list[InvokeInfo]:
        """Invokes, in order."""
        return [InvokeInfo(one, self.called) for one in self.algorithm.invokes]


def parse(
    alg_filename: str | Path,
    api: str | ApiRow = "",
    *,
    kernel_paths: Sequence[str | Path] = (),
    settings: Settings | None = None,
    target: str = "",
    **others: object,
) -> tuple[ParsedAlgorithm, FileInfo]:
    """Read an algorithm and the metadata of the kernels that it calls.

    Kernels are searched in the directory trees `kernel_paths`, or by default in the folder of the
    algorithm. `target` has the meaning of '--target'. Without it, the settings decide. Three other
    PSyclone arguments are supported: `kernel_path` is one folder, `line_length` rejects long lines,
    and `invoke_name` can only be `invoke`.

    Raises:
        CompileError: all errors in the algorithm, its imports, and the kernels.
    """
    path = Path(alg_filename)
    single, limit = _others(others)
    folders = tuple(map(Path, (*kernel_paths, *single))) or (path.parent,)
    settings = settings or default_settings()
    name, row = ("", api) if isinstance(api, tuple) else (api, None)
    _api_of(name, settings)
    request = CompileRequest(name or None, directories=folders, line_limit=limit, target=target)
    request = for_file(request, path)
    made = make_compiler(settings, request, row=row)
    algorithm, called = _read_algorithm(made, path)
    return algorithm, FileInfo(_api_of(request.api or "", settings), made, algorithm, called)


def _read_algorithm(made: Compiler, path: Path) -> tuple[ParsedAlgorithm, CalledKernels]:
    """Return the algorithm at `path`, and the kernels that it calls.

    Raises:
        CompileError: all errors in the algorithm, its imports, and the kernels.
    """
    source = read_checked(made.kernels.index, path, made.kernels.line_limit)
    algorithm = made.kernels.read_algorithm(source)
    called = find_kernels(algorithm, made.kernels)
    if called.problems:
        raise CompileError(*called.problems)
    return algorithm, called


def _others(given: Mapping[str, object]) -> tuple[tuple[str, ...], LineLimit]:
    """Return the folder and the line limit given by PSyclone's arguments.

    Raises:
        CompileError: `T015`, there is no such argument, or invokes should have another name.
    """
    known = ("kernel_path", "line_length", "invoke_name", "inf_name", "distributed_memory")
    for name in given:
        if name not in known:
            message = f"'parse' takes no '{name}'."
            raise CompileError(Diagnostic("T015", message, hint=did_you_mean(name, known)))
    word = given.get("invoke_name", "invoke")
    if word != "invoke":
        message = f"Invokes cannot be called '{word}' here."
        raise CompileError(Diagnostic("T015", message, hint="Write 'call invoke(...)'."))
    single = str(given.get("kernel_path") or "")
    limit = LineLimit.ALL if given.get("line_length") else LineLimit.OFF
    return (single,) if single else (), limit


# ---------------------------------------------------------------------------- the PSy layer


class PSyFactory:
    """Builder of schedules for a parsed algorithm, with or without distributed memory.

    If `distributed_memory` equals None, the settings decide.
    """

    def __init__(self, api: str | ApiRow = "", distributed_memory: bool | None = None) -> None:
        self._api = api
        self._distributed = distributed_memory

    def create(self, invoke_info: FileInfo) -> Psy:
        """Return the PSy layer: its `invokes` are script views, and `gen` is its text.

        Raises:
            CompileError: all inconsistencies, or the algorithm was parsed for another API.
        """
        compiler = invoke_info.compiler
        if self._api and self._parts(compiler.settings) is not compiler.api:
            message = f"'{invoke_info.name}' was parsed for another API than '{self._api}'."
            raise CompileError(Diagnostic("T015", message, hint="Give 'parse' the same one."))
        if self._distributed is not None:
            compiler = replace(compiler, distributed=self._distributed)
        program, rules = compiler.planned(invoke_info.algorithm, invoke_info.called)
        told = Compilation(compiler.settings, invoke_info.api, compiler.distributed)
        context = ScriptContext(told, compiler.text_of)
        return Psy(program, rules, compiler.kernels, psyclone=True, context=context)

    def _parts(self, settings: Settings) -> ApiParts:
        return (
            self._api[0]
            if isinstance(self._api, tuple)
            else api_parts(_api_of(self._api, settings))
        )


def _api_of(api: str, settings: Settings) -> Api:
    """Return the API by any of its names; without a name, the API of the settings.

    Raises:
        CompileError: `T015`, there is no API of this name.
    """
    if api and api not in API_NAMES:
        hint = did_you_mean(api, API_NAMES) or f"There are {listed(API_NAMES, 'and')}."
        raise CompileError(Diagnostic("T015", f"There is no API '{api}'.", hint=hint))
    return API_NAMES[api] if api else settings.api


# ---------------------------------------------------------------------------- scripts


def make_scripted_compiler(
    settings: Settings, request: CompileRequest, index: SourceIndex | None = None
) -> Compiler:
    """Return a compiler like `make_compiler`, whose scripts can import the names of this module.

    Raises:
        CompileError: a directory or the script is missing, or a step does not exist.
    """
    made = make_compiler(settings, request, index)
    if made.requested is None:
        return made
    context = made.requested.context
    api = API_NAMES[request.api] if request.api else settings.api
    here = replace(settings, api=api, distributed_memory=made.distributed)
    words = _script_words(here, request.target)
    return replace(made, requested=replace(made.requested, context=replace(context, words=words)))


def _script_words(settings: Settings, target: str) -> Mapping[str, Mapping[str, object]]:
    """Return the additional names in PSyclone's modules for scripts with these `settings`.

    `target` is the target of their API. Other APIs use their own.
    """
    targets = {settings.api: target}

    def parse_here(alg_filename: str | Path, api: str = "", **words: object) -> object:
        words = {"target": targets.get(_api_of(api, settings), ""), **words}
        return parse(alg_filename, api, settings=settings, **words)  # type: ignore[arg-type]

    of_kernels = {
        "Descriptor": Descriptor,
        "KernelType": KernelType,
        "KernelTypeFactory": type(
            "KernelTypeFactory",
            (KernelTypeFactory,),
            {"settings": settings, "targets": targets, "__doc__": KernelTypeFactory.__doc__},
        ),
    }
    of_algorithms = {"Arg": ActualArgument, "InvokeCall": InvokeInfo, "parse": parse_here}
    return {
        "psyclone.parse": {**of_kernels, **of_algorithms},
        "psyclone.parse.algorithm": of_algorithms,
        "psyclone.parse.kernel": of_kernels,
        "psyclone.psyGen": {"PSyFactory": PSyFactory},
    }
