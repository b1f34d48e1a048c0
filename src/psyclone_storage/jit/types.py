"""Records of run-time compilation: kernels, calls, options, and compiled invokes."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from enum import Enum, auto
from functools import cache
from pathlib import Path
from types import CodeType
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from psyclone_storage.base.records import dataclass
from psyclone_storage.config.locate import read_settings_texts, search_context

if TYPE_CHECKING:
    from psyclone_storage.pipeline.compile import Build

_SCALARS = (bool, int, float, complex, str)


class ArgumentKind(Enum):
    """Form of an argument: a number, one object, or a sequence of objects."""

    NUMBER = auto()
    OBJECT = auto()
    SEQUENCE = auto()


class LiveKernel(Protocol):
    """Kernel object of a running program, with a Python `function` or a Fortran `file`."""

    @property
    def name(self) -> str:
        """Name of the kernel."""


@runtime_checkable
class LiveCall(Protocol):
    """Kernel with the arguments of one call."""

    @property
    def kernel(self) -> LiveKernel:
        """Called kernel."""

    @property
    def args(self) -> tuple[Any, ...]:
        """Arguments of the call."""


@dataclass(frozen=True, slots=True, eq=False)
class JitOptions:
    """Options of run-time compilation.

    - `script`: a transformation script.

    - `config`, `config_opts`: a settings file, and single settings.

    - `distributed`: whether MPI is used; None if the settings decide.

    - `target`: '' for the default target.

    - `api`: the API of the kernels.

    - `directories`: directory trees with Fortran kernels and modules.

    - `profile`: `invokes`, `kernels` or both: the regions that a profiler measures.

    - `explain`: whether the first rank prints the reasons for each compiled invoke.

    Options are compared by identity: `JitSession.options`.
    """

    script: str = ""
    config: str = ""
    config_opts: str = ""
    distributed: bool | None = None
    target: str = ""
    api: str = "gocean"
    directories: tuple[str, ...] = ()
    profile: tuple[str, ...] = ()
    explain: bool = False


@dataclass(frozen=True, slots=True)
class CompiledInvoke:
    """Compiled invoke.

    - `order`: the positions of its data among all arguments.

    - `build`: the result of compilation; None if it comes from the disk cache.

    - `code`: the code that contains the call.

    - `constants`: numbers compiled into the routine, by position.

    - `equal`: pairs of positions that are one argument of the routine.
    """

    routine: Callable[..., None]
    order: tuple[int, ...]
    build: Build | None
    code: CodeType
    constants: tuple[tuple[int, Any], ...] = ()
    equal: tuple[tuple[int, int], ...] = ()

    def fits(self, values: Sequence[Any]) -> bool:
        """Return whether arguments have the compiled-in constants and the equal numbers."""
        for at, value in self.constants:
            if not are_identical(values[at], value):
                return False
        for first, second in self.equal:  # noqa: SIM110  (a loop costs less than all())
            if not are_identical(values[first], values[second]):
                return False
        return True


def read_settings_files(options: JitOptions) -> dict[Path, str]:
    """Return the texts of the settings files.

    Raises:
        CompileError: `C001`, a file does not exist or is not text.
    """
    return read_settings_texts(options.config, search_context(os.environ))


@cache
def argument_kind(type_: type) -> ArgumentKind:
    """Return the form of arguments of a type; a string counts as a number and is rejected later."""
    if issubclass(type_, _SCALARS):
        return ArgumentKind.NUMBER
    # A class such as an enumeration may have a length that its members lack.
    own = {
        name for base in type_.__mro__ for name in ("__len__", "__getitem__") if name in vars(base)
    }
    return (
        ArgumentKind.SEQUENCE
        if len(own) > 1 and not hasattr(type_, "dtype")
        else ArgumentKind.OBJECT
    )


def are_identical(first: Any, second: Any) -> bool:
    """Return whether two numbers have the same type and value, including the sign of zero."""
    if first is second:
        return True
    if type(first) is not type(second) or first != second:
        return False
    return bool(first) or repr(first) == repr(second)


def load_routine(
    module: str, name: str, text: str, other_texts: Iterable[tuple[str, str]]
) -> Callable[..., None]:
    """Return the routine `name` of a generated module; `other_texts` contains its C code."""
    names: dict[str, Any] = {
        "__name__": module,
        "__file__": f"{name}.py",
        "__c__": next((other for _, other in other_texts), ""),
    }
    exec(compile(text, f"<{name}>", "exec"), names)  # noqa: S102  # pylint: disable=exec-used
    routine: Callable[..., None] = names[name]
    return routine
