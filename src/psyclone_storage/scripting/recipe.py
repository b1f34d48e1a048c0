"""Run a transformation script in isolation.

The script is a module of its own, outside `sys.modules`; what it adds to the search path and the
modules that it imports from beside itself are gone afterwards. Whatever goes wrong in it is a
diagnostic at the line of the script, never a stack trace.
"""

from __future__ import annotations

import importlib.util
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from psyclone_storage.base.diagnostic import CompileError, Diagnostic
from psyclone_storage.base.names import did_you_mean
from psyclone_storage.base.source import SourceText, Span
from psyclone_storage.ir.schedule import Program
from psyclone_storage.scripting.views import Psy


@dataclass(frozen=True, slots=True)
class Recipe:
    """A script that was found to be readable, and its text for messages."""

    path: Path
    source: SourceText

    def run(self, program: Program) -> Program:
        """Load the script, call its `trans` on a view of `program`, and return the program.

        Raises:
            CompileError: `T001`, the script has no function `trans`; `T002`, it failed.
        """
        with _beside(self.path):
            module = self._load()
            function = self._function(module)
            self._guarded(lambda: function(Psy(program)))
        return program

    def _load(self) -> ModuleType:
        spec = importlib.util.spec_from_file_location(self.path.stem, self.path)
        if spec is None or spec.loader is None:
            raise CompileError(
                Diagnostic(
                    "T001",
                    f"'{self.path}' is not a Python file.",
                    hint="A script's name ends in '.py'.",
                    file=str(self.path),
                )
            )
        module = importlib.util.module_from_spec(spec)
        self._guarded(lambda: spec.loader.exec_module(module) if spec.loader else None)
        return module

    def _function(self, module: ModuleType) -> Callable[[Psy], Any]:
        function = getattr(module, "trans", None)
        if callable(function):
            return function  # type: ignore[no-any-return]
        known = [name for name, value in vars(module).items() if callable(value)]
        raise CompileError(
            Diagnostic(
                "T001",
                f"The script '{self.path}' has no function 'trans'.",
                hint=did_you_mean("trans", known) or "Define 'def trans(psy): ...' in it.",
                file=str(self.path),
            )
        )

    def _guarded(self, action: Callable[[], object]) -> None:
        """Do `action`; whatever it raises becomes a diagnostic at the line of the script."""
        try:
            action()
        except CompileError:
            raise
        except SyntaxError as error:
            at_home = error.filename == str(self.path)
            line = error.lineno if at_home else None
            raise self._failure(f"SyntaxError: {error.msg}", line) from error
        except (Exception, SystemExit) as error:
            text = " ".join(str(error).split()) or "no message"
            raise self._failure(f"{type(error).__name__}: {text}", self._line(error)) from error

    def _line(self, error: BaseException) -> int | None:
        """Return the last line of the script that was running when `error` was raised."""
        frames = traceback.extract_tb(error.__traceback__)
        lines = [frame.lineno for frame in frames if frame.filename == str(self.path)]
        return lines[-1] if lines else None

    def _failure(self, what: str, line: int | None) -> CompileError:
        span = self._span(line) if line else None
        message = f"The script failed with {what.rstrip('.')}."
        return CompileError(Diagnostic("T002", message, span, file=str(self.path)))

    def _span(self, line: int) -> Span:
        start = self.source.start_of_line(line)
        text = self.source.line(line)
        return self.source.span(start + len(text) - len(text.lstrip()), start + len(text.rstrip()))


def read_recipe(path: Path) -> Recipe:
    """Return the script at `path`, which is run later.

    Raises:
        CompileError: `T001`, there is no such file or it is not text.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        problem = Diagnostic("T001", f"The script '{path}' cannot be read: {reason}.")
        raise CompileError(problem) from error
    return Recipe(path, SourceText(str(path), text))


@contextmanager
def _beside(path: Path) -> Iterator[None]:
    """Let a script import what lies beside it, and forget all that it imported from there."""
    search, before = list(sys.path), set(sys.modules)
    folder = path.resolve().parent
    sys.path.insert(0, str(folder))
    try:
        yield
    finally:
        sys.path[:] = search
        for name in set(sys.modules) - before:
            file = getattr(sys.modules[name], "__file__", None)
            if file and Path(file).resolve().is_relative_to(folder):
                del sys.modules[name]
