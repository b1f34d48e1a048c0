"""Compilation of an invoke in a running program, with the stages that compile a file.

Schedules are the same as for a file. In addition, identical arguments are known, and get one name.
The compiler may use a literal in the text of the program, or the fact that a variable is passed
twice. At run time the arguments may differ, for example if a function makes the call with its own
arguments. The compiled invoke is therefore valid only for numbers that agree with the text. For
other numbers, each one is passed with its own name.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from numbers import Integral, Real
from pathlib import Path
from typing import Any

from psyclone_storage.base.diagnostic import CompileError
from psyclone_storage.base.names import NameTable
from psyclone_storage.base.records import dataclass, field, replace
from psyclone_storage.base.render import render_text
from psyclone_storage.base.results import Result
from psyclone_storage.base.source import SourceText
from psyclone_storage.base.uncaught import blamed, level_of_user
from psyclone_storage.config.load import settings_of
from psyclone_storage.infrastructures.lfric import OBJECT_TYPES, SINGLE
from psyclone_storage.ir import expr as ex
from psyclone_storage.ir.kernel import ArgKind, Kernel
from psyclone_storage.ir.keys import key_of
from psyclone_storage.ir.parsed import (
    ParsedAlgorithm,
    ParsedArgument,
    ParsedCall,
    ParsedInvoke,
    ParsedKernel,
    Scope,
    ScopeKind,
)
from psyclone_storage.ir.schedule import Datum
from psyclone_storage.ir.types import DataType, DerivedType, Intrinsic, ScalarType
from psyclone_storage.jit.disk_cache import JitInvoke
from psyclone_storage.jit.session import JitSession
from psyclone_storage.jit.types import (
    ArgumentKind,
    CompiledInvoke,
    JitOptions,
    LiveCall,
    LiveKernel,
    are_identical,
    argument_kind,
    load_routine,
    read_settings_files,
)
from psyclone_storage.languages.python.parse.api_words import Dialect
from psyclone_storage.languages.python.parse.closure import CallLocation, Resolved
from psyclone_storage.languages.python.parse.invokes import constant_of
from psyclone_storage.languages.python.parse.live_source import calls_at, live_kernel_source
from psyclone_storage.languages.python.parse.metadata import read_python_kernel
from psyclone_storage.languages.sources.files import read_source
from psyclone_storage.pipeline.compile import Compiler, make_compiler
from psyclone_storage.pipeline.kernel_naming import LocalNumbering
from psyclone_storage.pipeline.kernels import CalledKernels
from psyclone_storage.pipeline.request import CompileRequest
from psyclone_storage.targets.dialects import GOCEAN_WORDS, LFRIC_WORDS

_DIALECTS = {"gocean": GOCEAN_WORDS, "lfric": LFRIC_WORDS}


# ---------------------------------------------------------------------------- compiling


@contextmanager
def _noted() -> Iterator[None]:
    """Add a note with the rendered diagnostics to a `CompileError` raised in this context."""
    try:
        yield
    except CompileError as error:
        error.add_note(render_text(error.problems))
        raise


@_noted()
def compile_invoke(session: JitSession, invoke: JitInvoke, *, apart: bool) -> CompiledInvoke:
    """Compile an invoke; if `apart` is true, each number is passed with its own name.

    The caller has read the text of the call site, and also uses it for the cache key.

    Raises:
        CompileError: all errors in the kernels and the calls, with a note that shows their
            locations.

    Warns:
        UserWarning: the diagnostics of the compilation that are warnings.
    """
    calls, label, site, options = invoke
    compiler = session.once(_make_compiler, session, options)
    kernels = [_kernel(session, call.kernel, compiler, options.api) for call in calls]
    text = _parsed_calls(site, calls, _DIALECTS[options.api])
    names = _ArgumentNames(apart)
    named = _named(calls, [_parameters_of(one, compiler) for one in kernels], text, names)
    if options.profile:
        label = _label_of_lines(label, site)
    algorithm = _algorithm(text[0], tuple(call for _, call in named), label)
    called = {key_of(name): one for (name, _), one in zip(named, kernels, strict=True)}
    build = compiler.compile_parsed(algorithm, CalledKernels(called), (), LocalNumbering())
    (made,) = build.program.invokes
    if build.warnings:
        warnings.warn(render_text(build.warnings), stacklevel=level_of_user())
    return CompiledInvoke(
        load_routine(build.program.name, made.name, build.psy_text, build.beside),
        _order(named, made.schedule.data),
        build,
        site.code,
        tuple(names.constants),
        tuple(names.equal),
    )


def _order(named: list[tuple[str, ParsedCall]], data: Iterable[Datum]) -> tuple[int, ...]:
    """Return the positions of a routine's data among all arguments."""
    texts = [ex.canonical(argument.expr) for _, call in named for argument in call.args]
    return tuple(texts.index(ex.canonical(datum.actual)) for datum in data)


def _algorithm(source: SourceText, calls: tuple[ParsedCall, ...], label: str) -> ParsedAlgorithm:
    invoke = ParsedInvoke(calls, label or None, None, (_scope(source),), source.whole())
    return ParsedAlgorithm(source, _scope(source), (_scope(source),), (invoke,))


def _label_of_lines(label: str, site: CallLocation) -> str:
    """Return a label with the line of an invoke that has none, or the lines of merged invokes.

    Lines of other files than the first one follow the name of their file.
    """
    places = dict.fromkeys((one.code.co_filename, one.position[0]) for one in site.parts or (site,))
    if label and len(places) == 1:
        return label
    file, words = site.code.co_filename, ["line" if len(places) == 1 else "lines"]
    for other, line in places:
        if other != file:
            words += ["of", Path(other).stem]
            file = other
        words.append(str(line))
    made = "_".join([label, *words] if label else words)
    return "".join(one if one.isascii() and one.isalnum() else "_" for one in made)


def _parsed_calls(
    site: CallLocation, calls: Sequence[LiveCall], dialect: Dialect
) -> tuple[SourceText, tuple[ParsedCall, ...]]:
    """Return the text of a program and its parsed calls; no calls if they are not in the text."""
    written = [calls_at(dialect, one) for one in site.parts or (site,)]
    known = [one for one in written if one is not None]
    if len(known) == len(written) and len({source.name for source, _ in known}) == 1:
        parsed = tuple(call for _, own in known for call in own)
        if [len(one.args) for one in parsed] == [len(call.args) for call in calls]:
            return known[0][0], parsed
    return SourceText(site.code.co_filename, ""), ()


def _make_compiler(session: JitSession, options: JitOptions) -> Compiler:
    settings = settings_of(session.once(read_settings_files, options), options.config_opts)
    request = CompileRequest(
        api=options.api,
        distributed=options.distributed,
        script=Path(options.script) if options.script else None,
        suffix=".py",
        target=options.target,
        directories=tuple(map(Path, options.directories)),
        profile=options.profile,
    )
    return make_compiler(settings, request)


def _parse(function: Callable[..., Any], api: str, resolved: Resolved | None) -> ParsedKernel:
    """Return the metadata of a kernel; `resolved` contains the functions that it calls."""
    dialect = _DIALECTS[api]
    source = live_kernel_source(dialect, function.__name__, resolved)
    (main, *_) = resolved or ()
    parsed = read_python_kernel(dialect, source, main.text.name)
    return replace(parsed, module=main.text.module)


def _kernel(session: JitSession, live: LiveKernel, compiler: Compiler, api: str) -> Kernel:
    file: Any = getattr(live, "file", None)
    function: Any = getattr(live, "function", None)
    if function is None and file is None:
        found = compiler.api.builtin(live.name)
        if found is None:
            raise TypeError(f"'{live.name}' is no kernel, and no built-in.")
        return found
    if file is None:
        resolved = session.functions.try_to_resolve(function, _DIALECTS[api].module)
        parsed = session.once(_parse, function, api, resolved)
    else:
        if not file.is_file():
            file = next(iter(compiler.kernels.index.candidates(file.stem)), file)
        parsed = compiler.target.language.read_kernel(read_source(file), live.name)
    return compiler.api.interpret(parsed, compiler.settings)


def _scope(source: SourceText) -> Scope:
    name = Path(source.name).stem
    module = name if name.isidentifier() else "program"
    return Scope(ScopeKind.MODULE, module, (), (), 0, 0, source.whole())


# ---------------------------------------------------------------------------- names


@dataclass(frozen=True, slots=True)
class _Parameters:
    """Arguments that a kernel requires, by position.

    - `numbers`: whether an argument is a number, not an object.

    - `several`: the length of a sequence of objects.

    - `types`: the declared types, None if unknown.

    - `ranks`: the numbers of dimensions, 1 for a sequence.

    - `conditions`, `integers`: whether a number is Boolean or an integer.
    """

    kernel: Kernel
    numbers: tuple[bool, ...]
    several: tuple[int, ...]
    types: tuple[DataType | None, ...]
    ranks: tuple[int, ...]
    conditions: tuple[bool, ...] = ()
    integers: tuple[bool, ...] = ()

    def is_result(self, at: int) -> bool:
        """Return whether a built-in writes the number at a position."""
        args = self.kernel.args
        return self.numbers[at] and len(args) == len(self.numbers) and args[at].access.writes

    def is_exact(self, at: int) -> bool:
        """Return whether a position requires an integer or a Boolean."""
        return any(which and which[at] for which in (self.conditions, self.integers))


def _parameters_of(kernel: Kernel, compiler: Compiler) -> _Parameters:
    """Return the arguments that a kernel requires."""
    if compiler.api.passed is None:
        args = [arg for arg in kernel.args if arg.kind is not ArgKind.GRID_PROPERTY]
        numbers = tuple(arg.kind is not ArgKind.FIELD for arg in args)
        integers = tuple(arg.intrinsic is Intrinsic.INTEGER for arg in args)
        return _Parameters(
            kernel, numbers, (1,) * len(args), (None,) * len(args), (), integers=integers
        )
    items = compiler.api.passed(kernel)
    numbers = tuple(isinstance(item.type, ScalarType) and not item.shape for item in items)
    conditions = tuple(
        isinstance(item.type, ScalarType) and item.type.intrinsic is Intrinsic.LOGICAL
        for item in items
    )
    lengths = (ex.integer_value(item.shape[0]) if item.shape else 1 for item in items)
    several = tuple(length or 1 for length in lengths)
    ranks = tuple(
        len(item.shape) if isinstance(item.type, ScalarType) else int(length > 1)
        for item, length in zip(items, several, strict=True)
    )
    types = tuple(item.type for item in items)
    integers = tuple(
        is_number and isinstance(type_, ScalarType) and type_.intrinsic is Intrinsic.INTEGER
        for is_number, type_ in zip(numbers, types, strict=True)
    )
    return _Parameters(kernel, numbers, several, types, ranks, conditions, integers)


@dataclass(slots=True)
class _ArgumentNames:
    """Names of arguments: one for each object, and one for equal numbers with equal text.

    - `apart`: each number has its own name.

    - `owners`: by canonical name, the position and value of a number; None for an object.

    - `constants`: numbers that are compiled in, by position.

    - `equal`: pairs of positions with one name.

    - `parts`: objects in a sequence that is also an argument: the sequence, the index in it, and
      its name.
    """

    apart: bool
    objects: dict[int, ex.Expr] = field(default_factory=dict)
    owners: dict[str, tuple[int, Any] | None] = field(default_factory=dict)
    constants: list[tuple[int, Any]] = field(default_factory=list)
    equal: list[tuple[int, int]] = field(default_factory=list)
    parts: dict[int, tuple[Any, int, ex.Expr]] = field(default_factory=dict)

    def of_object(self, value: Any, written: ex.Expr) -> ex.Expr:
        """Return the name of an object: `written`, unless another object has that name.

        An item of a sequence that is also an argument is an element of that sequence.
        """
        if id(value) in self.parts:
            several, number, called = self.parts[id(value)]
            return ex.Element(self.of_object(several, called), (ex.whole(number),))
        if id(value) not in self.objects:
            expr = self.objects[id(value)] = self._fresh(written)
            self.owners[ex.canonical(expr)] = None
        return self.objects[id(value)]

    def of_number(self, value: Any, position: int, written: ex.Expr | None, own: str) -> ex.Expr:
        """Return the literal in the text if the number has that value, else a unique name."""
        if written is not None and not self.apart:
            if ex.is_constant(written):
                if are_identical(constant_of(written), value):
                    self.constants.append((position, value))
                    return written
            elif (text := ex.canonical(written)) not in self.owners:
                self.owners[text] = position, value
                return written
            elif (owner := self.owners[text]) is not None and are_identical(owner[1], value):
                self.equal.append((owner[0], position))
                return written
        expr = self._fresh(ex.Name(own))
        self.owners[ex.canonical(expr)] = position, value
        return expr

    def _fresh(self, expr: ex.Expr) -> ex.Expr:
        """Return `expr`, or a similar name if it is already used."""
        if ex.canonical(expr) not in self.owners and not ex.is_constant(expr):
            return expr
        base = "".join(one if one.isalnum() else "_" for one in ex.canonical(expr))
        named = base if base[:1].isalpha() else f"field_{base}"
        return ex.Name(NameTable(self.owners).fresh(named))


def _named(
    calls: Sequence[LiveCall],
    kernels: Sequence[_Parameters],
    text: tuple[SourceText, tuple[ParsedCall, ...]],
    names: _ArgumentNames,
) -> list[tuple[str, ParsedCall]]:
    """Return each call as in the text, or with new names.

    Two different kernels with the same name get different names.
    """
    (source, parsed), position = text, 0
    names.parts.update(_parts(calls, kernels, parsed))
    kernel_names: dict[object, str] = {}
    found: list[tuple[str, ParsedCall]] = []
    for number, (call, passed) in enumerate(zip(calls, kernels, strict=True)):
        if len(call.args) != len(passed.numbers):
            raise TypeError(
                f"The kernel '{passed.kernel.name}' takes {len(passed.numbers)} arguments, "
                f"but is given {len(call.args)}."
            )
        name = kernel_names.get(call.kernel)
        if name is None:
            name = kernel_names[call.kernel] = _kernel_name(passed, kernel_names)
        one = parsed[number] if parsed else None
        span = one.span if one else source.whole()
        args = tuple(
            ParsedArgument(
                _typed(
                    _expr(value, (at, position + at, _own(passed, number, at)), one, passed, names),
                    _type_of(value, passed.types[at]),
                    passed.ranks[at] if passed.ranks else 0,
                ),
                one.args[at].span if one else span,
            )
            for at, value in enumerate(call.args)
        )
        found.append((name, ParsedCall(name, span, args, span)))
        position += len(args)
    return found


def _kernel_name(passed: _Parameters, taken: Mapping[object, str]) -> str:
    """Return the name of a kernel, or a similar name if another kernel has it."""
    return NameTable(taken.values()).fresh(passed.kernel.name)


def _own(passed: _Parameters, number: int, at: int) -> str:
    """Return a name for an argument that has none in the text."""
    return f"{passed.kernel.name}_{number + 1}_{at + 1}"


def _parts(
    calls: Sequence[LiveCall],
    kernels: Sequence[_Parameters],
    parsed: tuple[ParsedCall, ...],
) -> Iterator[tuple[int, tuple[Any, int, ex.Expr]]]:
    """Yield the items of sequences by `id()`: the sequence, the index from 1, and its name."""
    for number, (call, passed) in enumerate(zip(calls, kernels, strict=True)):
        for at, (value, several) in enumerate(zip(call.args, passed.several, strict=False)):
            if several > 1 and argument_kind(value.__class__) is ArgumentKind.SEQUENCE:
                written = parsed[number].args[at].expr if parsed else None
                called = _called(value, written, _own(passed, number, at))
                for place, one in enumerate(value, 1):
                    yield id(one), (value, place, called)


def _called(value: Any, written: ex.Expr | None, own: str) -> ex.Expr:
    """Return the name of an object or of a sequence of objects for a column kernel.

    Items of a sequence and values of expressions get new names.
    """
    if written is None or isinstance(written, ex.Index | ex.Verbatim):
        return _own_name(value, own)
    return written


def _expr(value: Any, *about: Any) -> ex.Expr:
    """Return the name of an argument; an error refers to it."""
    try:
        return _checked_expr(value, *about)
    except TypeError as error:
        raise blamed(error, value) from None


def _checked_expr(
    value: Any,
    about: tuple[int, int, str],
    text: ParsedCall | None,
    passed: _Parameters,
    names: _ArgumentNames,
) -> ex.Expr:
    """Return the name of an argument.

    `about` contains its positions in the call and among all arguments, and a unique name.
    """
    kernel, (at, position, own) = passed.kernel, about
    is_number = passed.numbers[at]
    written = None if text is None else text.args[at].expr
    if isinstance(written, ex.Verbatim):
        written = None
    if not is_number:
        if isinstance(passed.types[at], ScalarType):
            _check_array(value, kernel)
        else:
            _check_object(value, kernel, passed.several[at])
    elif passed.is_result(at) and not isinstance(value, Result):
        raise TypeError(
            f"The kernel '{kernel.name}' puts a number into its argument {at + 1}, which has to be "
            f"a Result(), not {value!r}: its 'value' is the number, behind the invoke."
        )
    elif isinstance(value, Result) and not passed.is_result(at) and passed.is_exact(at):
        raise TypeError(
            f"The kernel '{kernel.name}' takes no real number as its argument {at + 1}, and is "
            f"given {value!r}: pass 'int(...)' or 'bool(...)' of its 'value'."
        )
    if not is_number or isinstance(value, Result):
        if kernel.points is None:
            return names.of_object(value, _called(value, written, own))
        return names.of_object(value, written or _own_name(value, own))
    condition = bool(passed.conditions) and passed.conditions[at]
    if isinstance(value, bool) is not condition or not isinstance(value, Real):
        if condition:
            raise TypeError(f"The kernel '{kernel.name}' takes True or False, not {value!r}.")
        message = f"The kernel '{kernel.name}' takes a number, not {_said(value)}."
        raise TypeError(message)
    _check_number(value, passed, at)
    return names.of_number(value, position, written, own)


def _check_number(value: Any, passed: _Parameters, at: int) -> None:
    """Check that argument `at` has a type of numbers for which Python computes the same.

    Raises:
        TypeError: it has another type.
    """
    kernel = passed.kernel
    if passed.integers and passed.integers[at] and not isinstance(value, Integral):
        raise TypeError(
            f"The kernel '{kernel.name}' takes an integer, not {value!r}, as its argument "
            f"{at + 1}: say which is meant, as in int(...)."
        )
    if isinstance(value, Integral) and not _is_usual(getattr(value, "dtype", None)):
        raise TypeError(
            f"{value!r} has other bits than integers of kernels, with which Python would go "
            f"on to compute: '{kernel.name}' takes 32 bits and a sign, so give it 'int(...)' of it."
        )
    if kernel.points is not None and not _is_double(getattr(value, "dtype", None)):
        raise TypeError(
            f"The kernel '{kernel.name}' takes reals of 64 bits, not {value!r}: pass 'float(...)' "
            f"of it. Python would compute its expressions with other bits."
        )


def _type_of(value: Any, usual: DataType | None) -> DataType | None:
    """Return the type of an argument, or None for the default type."""
    if isinstance(value, Result):
        return ScalarType(Intrinsic.REAL, value.dtype) if value.dtype else None
    one = (
        value[0]
        if argument_kind(value.__class__) is ArgumentKind.SEQUENCE and len(value)
        else value
    )
    if usual is None or str(getattr(one, "dtype", "")) != _SINGLE:
        return None
    if isinstance(usual, ScalarType):
        return ScalarType(Intrinsic.REAL, SINGLE.kind)
    known = OBJECT_TYPES[usual.name]
    same = (one for one in OBJECT_TYPES.values() if (one.kind, one.data) == (known.kind, SINGLE))
    return next((DerivedType(one.name) for one in same), None)


_SINGLE = "float32"


def _typed(expr: ex.Expr, type_: DataType | None, rank: int) -> ex.Expr:
    """Return the name of an argument with its type."""
    if type_ is None:
        return expr
    match expr:
        case ex.Element(base, (item,)):
            return ex.Element(_typed(base, type_, 1), (item,))
        case ex.Name(text) | ex.Member(_, text):
            shape = (ex.Range(),) * rank
            symbol = ex.Symbol(key_of(text), text, ex.Origin.LOCAL, ex.Sort.VARIABLE, type_, shape)
            return replace(expr, symbol=symbol)
    return expr


def _own_name(value: Any, otherwise: str) -> ex.Expr:
    label = "".join(one if one.isalnum() else "_" for one in getattr(value, "label", ""))
    usable = label.isascii() and label[:1].isalpha()
    return ex.Name(label if usable else otherwise)


def _is_usual(dtype: Any) -> bool:
    """Return whether an integer is a Python int, or a signed one of at least 32 bits."""
    return dtype is None or (getattr(dtype, "kind", "") == "i" and dtype.itemsize >= _INTEGER_BYTES)


_INTEGER_BYTES, _REAL_BYTES = 4, 8


def _is_double(dtype: Any) -> bool:
    """Return whether a number is not a NumPy real, or is one of 64 bits."""
    return getattr(dtype, "kind", "") != "f" or dtype.itemsize == _REAL_BYTES


def _said(value: Any) -> str:
    """Return the description of a value of a wrong type for messages."""
    if isinstance(value, LiveCall) and hasattr(value.kernel, "name"):
        return f"a call of '{value.kernel.name}'"
    describe = getattr(value, "describe", None)
    return str(describe()) if callable(describe) else f"a {type(value).__name__}"


def _check_array(value: Any, kernel: Kernel) -> None:
    """Raise `TypeError` if the argument for an array of numbers has no `dtype` or no `shape`."""
    if not hasattr(value, "dtype") or not hasattr(value, "shape"):
        raise TypeError(f"The kernel '{kernel.name}' takes an array of NumPy, not {_said(value)}.")


def _check_object(value: Any, kernel: Kernel, several: int) -> None:
    """Raise `TypeError` if an argument is not a run-time object, or not a sequence of objects.

    The run-time library checks the exact type.
    """
    if isinstance(value, str | bytes | Real | LiveCall):
        message = f"The kernel '{kernel.name}' takes a field, not {_said(value)}."
        raise TypeError(message)
    if several > 1 and (not hasattr(value, "__len__") or len(value) != several):
        message = f"The kernel '{kernel.name}' takes a vector of {several} fields."
        raise TypeError(message)
    if kernel.points is not None and not (hasattr(value, "grid") and hasattr(value, "storage")):
        message = f"The kernel '{kernel.name}' takes a field, not {_said(value)}."
        raise TypeError(message)
