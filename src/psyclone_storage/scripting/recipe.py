"""Execution of a transformation script in isolation.

The script is loaded as a separate module. The search path, the working directory and the modules
imported from its folder are restored afterwards. Any error in the script becomes a diagnostic at a
line of the script.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import chdir, contextmanager, nullcontext
from functools import partial
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from types import FrameType, MappingProxyType, ModuleType
from typing import Any

from psyclone_storage.base.diagnostic import (
    CompileError,
    Diagnostic,
    InternalError,
    Related,
    Severity,
)
from psyclone_storage.base.names import did_you_mean
from psyclone_storage.base.reading import read_text_input
from psyclone_storage.base.records import dataclass, field, replace
from psyclone_storage.base.source import SourceText
from psyclone_storage.ir.rules import KernelSource, Rules
from psyclone_storage.ir.schedule import Program
from psyclone_storage.scripting.algorithm import Algorithm
from psyclone_storage.scripting.calls import ScriptCalls, own_source, script_calls
from psyclone_storage.scripting.containers import Psy
from psyclone_storage.scripting.context import ScriptContext
from psyclone_storage.scripting.psyclone_modules import OwnLoader, PSycloneFinder, psyclone_alias
from psyclone_storage.scripting.psyclone_names import MODULES, MODULES_FOR_FILES, Words, modules_for
from psyclone_storage.scripting.psyir.containers import FileContainer
from psyclone_storage.scripting.psyir.loops import Loop
from psyclone_storage.scripting.reads import Reads, is_users_file


@dataclass(frozen=True, slots=True)
class Recipe:
    """Readable script, with its text for messages and the files that it has read."""

    path: Path
    source: SourceText
    reads: Reads = field(default_factory=Reads)

    def run(
        self,
        program: Program,
        rules: Rules,
        source: KernelSource | None = None,
        context: ScriptContext | None = None,
    ) -> Program:
        """Load the script, call its `trans` on a view of `program`, and return the result.

        `source` provides the code of kernels, and `context` provides other services for the script.
        If the script has a function `trans_alg`, it is then called with a view of the algorithm.
        `FILES_TO_SKIP` is ignored, because in PSyclone it applies only to files without invokes.

        Raises:
            CompileError: `T001`, the script has no function `trans`; `T002`, it failed; or the
                reasons against a step that it did not catch.
        """
        modules = modules_for(context) if context else MODULES
        keywords = context.keywords if context else {}
        with self._loaded(modules) as (module, alias):
            function = self._function(module)
            self._check_call(function, "psy", keywords)
            psy = Psy(program, rules, source, psyclone=alias.used, context=context)
            self._guarded(lambda: function(psy, **keywords))
            of_algorithm = getattr(module, "trans_alg", None)
            if callable(of_algorithm):
                self._guarded(partial(of_algorithm, Algorithm(program)))
        return psy.program

    def run_on_file(
        self,
        tree: FileContainer,
        keywords: Mapping[str, object] = MappingProxyType({}),
        *,
        is_watched: bool = True,
    ) -> bool:
        """Load the script and call its `trans` on the tree of a file without an API.

        Return whether `trans` was called. It is not called for files in the script's
        `FILES_TO_SKIP`. `RESOLVE_IMPORTS` has no effect, because imports are always resolved. If
        the script is not watched, `reads` stays empty.

        Raises:
            CompileError: `T001`, the script has no function `trans`; `T002`, it failed; or the
                reasons against a transformation that it did not catch.
        """
        with self._loaded(MODULES_FOR_FILES, is_watched=is_watched) as (module, _):
            function = self._function(module)
            if tree.name in getattr(module, "FILES_TO_SKIP", ()):
                return False
            self._check_call(function, "psyir", keywords)
            try:
                self._guarded(partial(function, tree, **keywords))
            finally:
                Loop.set_loop_type_inference_rules(None)
        return True

    @contextmanager
    def _loaded(
        self, modules: Mapping[str, Words], *, is_watched: bool = True
    ) -> Iterator[tuple[ModuleType, PSycloneFinder]]:
        """Load the script in isolation, with `modules` importable as `psyclone`."""
        module = self._new_module()
        with (
            _isolated(self.path, module),
            self.reads.watched() if is_watched else nullcontext(),
            psyclone_alias(modules) as alias,
        ):
            self._guarded(lambda: _execute(module))
            yield module, alias

    def _new_module(self) -> ModuleType:
        """Return an empty module for the script, with an unused name."""
        name = self.path.stem
        while name in sys.modules:
            name += "_"
        spec = spec_from_loader(name, _Loader(self.path, self.source.text))
        if spec is None:
            raise InternalError(f"No module can be made for the script '{self.path}'.")
        return module_from_spec(spec)

    def _function(self, module: ModuleType) -> Callable[..., Any]:
        function = getattr(module, "trans", None)
        if callable(function):
            return function  # type: ignore[no-any-return]
        found = re.finditer(r"^def[ \t]+(\w+)", self.source.text, re.MULTILINE)
        near = next((one for one in found if did_you_mean("trans", [one[1]])), None)
        place = None if near is None else self.source.span(near.start(), near.end())
        hint = f"Rename the function '{near[1]}' to 'trans'." if near else ""
        raise CompileError(
            Diagnostic(
                "T001",
                f"The script '{self.path}' has no function 'trans'.",
                place,
                hint=hint or "Define 'def trans(psy): ...' in it.",
                file=str(self.path),
            )
        )

    def _check_call(
        self, function: Callable[..., Any], tree: str, keywords: Mapping[str, object]
    ) -> None:
        """Raise `CompileError` `T002` if `trans` does not accept the arguments that it gets."""
        try:
            inspect.signature(function).bind(tree, **keywords)
        except ValueError:  # A function without a signature
            return
        except TypeError as error:
            named = "".join(f", {name}" for name in keywords)
            message = f"'trans' cannot be called with '{tree}{named}': {error}."
            hint = f"Write 'def trans({tree}{named}):'."
            place, code = None, getattr(function, "__code__", None)
            if code is not None and code.co_filename == str(self.path):
                start = self.source.start_of_line(code.co_firstlineno)
                head = self.source.line(code.co_firstlineno)
                place = self.source.span(start, start + len(head))
            raise CompileError(
                Diagnostic("T002", message, place, hint=hint, file=str(self.path))
            ) from error

    def _guarded(self, action: Callable[[], object]) -> None:
        try:
            action()
        except CompileError as error:
            raise CompileError(*(self._placed(item, error) for item in error.problems)) from error
        except BrokenPipeError:
            raise
        except SyntaxError as error:
            raise self._not_python(error) from error
        except SystemExit as error:
            raise self._ended(error) from error
        except Exception as error:
            what, guess = _parted(f"{type(error).__name__}: {_message(error)}")
            calls = script_calls(error, self.source)
            hint = guess or _nearest_name(error) or _missing_module(error) or _class_alone(error)
            raise self._failure(what, calls, hint, _trace(error)) from error

    def _placed(self, problem: Diagnostic, error: CompileError) -> Diagnostic:
        """Return `problem` with the calls in the script that led to it.

        Without a location, it is located at the innermost call.
        """
        calls = script_calls(error, self.source)
        problem = replace(problem, trace=problem.trace or _trace(error))
        if problem.span is None:
            related = (*problem.related, *calls.callers)
            return replace(problem, span=calls.place, file=str(self.path), related=related)
        if calls.place is None or problem.span.source is self.source:
            return problem
        asked = (Related(calls.place, "asked for here"), *calls.callers)
        return replace(problem, related=(*problem.related, *asked))

    def _not_python(self, error: SyntaxError) -> CompileError:
        what = f"{type(error).__name__}: {error.msg}"
        calls = script_calls(error, self.source)
        name = error.filename or ""
        source = self.source if name == str(self.path) else own_source(name)
        if source is not None and error.lineno and source.has_line(error.lineno):
            start = source.start_of_line(error.lineno) + max(0, (error.offset or 1) - 1)
            calls = ScriptCalls((*calls.spans, source.span(start, start + 1)))
        else:
            what += f" (line {error.lineno} of '{name or 'another text'}')"
        return self._failure(what, calls, trace=_trace(error))

    def _ended(self, error: SystemExit) -> CompileError:
        """Return the error or warning for a call of `sys.exit` in the script.

        An exit code other than 0 is an error. Otherwise nothing is written, as in PSyclone.
        """
        calls = script_calls(error, self.source)
        if error.code not in (None, 0):
            hint = "A script ends by returning from 'trans'."
            return self._failure("a call of 'sys.exit'", calls, hint)
        message = "The script ends the compilation here: nothing is written."
        return CompileError(
            Diagnostic(
                "T019",
                message,
                calls.place,
                related=calls.callers,
                file=str(self.path),
                severity=Severity.WARNING,
            )
        )

    def _failure(
        self, what: str, calls: ScriptCalls, hint: str = "", trace: str = ""
    ) -> CompileError:
        ends_itself = what.endswith((".", "?"))
        message = f"The script failed with {what}{'' if ends_itself else '.'}"
        return CompileError(
            Diagnostic(
                "T002",
                message,
                calls.place,
                hint=hint,
                related=calls.callers,
                file=str(self.path),
                trace=trace,
            )
        )


def read_recipe(path: Path) -> Recipe:
    """Return the script at `path`, which is not executed yet.

    Raises:
        CompileError: `T001`, the file does not exist or is not a text file.
    """
    try:
        text = read_text_input(path)
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        problem = f"The script '{path}' cannot be read: {reason}."
        raise CompileError(Diagnostic("T001", problem, file=str(path))) from error
    return Recipe(path, SourceText(str(path), text))


class _Loader(OwnLoader):
    """Loader of a script text from memory, without a bytecode file."""

    def __init__(self, path: Path, text: str) -> None:
        self._path = path
        self._text = text

    def get_filename(self, fullname: str) -> str:
        return str(self._path)

    def get_source(self, fullname: str) -> str:
        return self._text

    def exec_module(self, module: ModuleType) -> None:
        code = compile(self._text, str(self._path), "exec", dont_inherit=True)
        exec(code, vars(module))  # noqa: S102  # pylint: disable=exec-used


def _execute(module: ModuleType) -> None:
    if module.__spec__ is not None and module.__spec__.loader is not None:
        module.__spec__.loader.exec_module(module)


def _trace(error: BaseException) -> str:
    import traceback  # noqa: PLC0415 (only for errors)

    return "".join(traceback.format_exception(error))


def _message(error: Exception) -> str:
    """Return the message of `error` on one line, without the quotes of a `KeyError`."""
    is_key = isinstance(error, KeyError) and len(error.args) == 1
    text = error.args[0] if is_key and isinstance(error.args[0], str) else str(error)
    return " ".join(text.split()) or "no message"


def _parted(text: str) -> tuple[str, str]:
    """Split a message into its text and the suggestion at its end."""
    message, guess, rest = text.partition(" Did you mean ")
    return message, f"{guess.strip()} {rest}" if guess else ""


def _nearest_name(error: Exception) -> str:
    """Return a suggestion for a misspelt attribute or variable name, or ''."""
    if isinstance(error, AttributeError) and error.name:
        return did_you_mean(error.name, [name for name in dir(error.obj) if name[:1] != "_"])
    if isinstance(error, NameError) and error.name:
        frame = _innermost_frame(error)
        return did_you_mean(error.name, {**frame.f_builtins, **frame.f_globals, **frame.f_locals})
    return ""


def _class_alone(error: Exception) -> str:
    """Return how to call a method of an object, if the line calls it on the class."""
    if not isinstance(error, TypeError) or "missing 1 required positional" not in str(error):
        return ""
    frame = _innermost_frame(error)
    place = inspect.getframeinfo(frame)
    known = {**frame.f_globals, **frame.f_locals}
    for name, method in re.findall(r"(\w+)\.(\w+)\(", "".join(place.code_context or ())):
        if isinstance(known.get(name), type):
            return f"Make an object of the class: '{name}().{method}(...)'."
    return ""


def _innermost_frame(error: Exception) -> FrameType:
    """Return the frame in which an error was raised."""
    trace = error.__traceback__
    assert trace is not None
    while trace.tb_next is not None:
        trace = trace.tb_next
    return trace.tb_frame


def _missing_module(error: Exception) -> str:
    """Return a hint on Python's search path for a missing module, or ''."""
    if not isinstance(error, ModuleNotFoundError) or not error.name or "." in error.name:
        return ""
    return (
        f"Add the folder that contains '{error.name}' to the environment variable PYTHONPATH,"
        " or put the module into the folder of the script."
    )


@contextmanager
def _isolated(path: Path, module: ModuleType) -> Iterator[None]:
    """Let a script import modules from its folder, and unload them afterwards.

    No bytecode is written. Python would consider it valid if a file changes within a second without
    changing its size, and a build would use outdated code.
    """
    search, before, silent = list(sys.path), set(sys.modules), sys.dont_write_bytecode
    folder = path.resolve().parent
    sys.path.insert(0, str(folder))
    sys.dont_write_bytecode = True
    sys.modules[module.__name__] = module
    try:
        with chdir("."):
            yield
    finally:
        sys.path[:] = search
        sys.dont_write_bytecode = silent
        for name in set(sys.modules) - before:
            file = getattr(sys.modules[name], "__file__", None)
            if file and (Path(file).resolve().is_relative_to(folder) or is_users_file(file)):
                del sys.modules[name]
