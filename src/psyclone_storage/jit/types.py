"""What a program that runs asks for: calls of kernels, and what an invoke of them becomes."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from enum import Enum, auto
from functools import cache
from pathlib import Path
from types import CodeType
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from psyclone_storage.base.records import dataclass
from psyclone_storage.config.locate import read_settings_texts, surroundings

if TYPE_CHECKING:
    from psyclone_storage.pipeline.compile import Build

_NUMBERS = (bool, int, float, complex, str)


class PassedAs(Enum):
    """How a program passes something: by value, as one object, or as several together."""

    NUMBER = auto()
    OBJECT = auto()
    SEVERAL = auto()


class TracedKernel(Protocol):
    """A kernel as a program has it: a `function` that describes it, or a `file` of Fortran."""

    @property
    def name(self) -> str:
        """The name of the kernel."""


@runtime_checkable
class TracedCall(Protocol):
    """A kernel with what it is called for."""

    @property
    def kernel(self) -> TracedKernel:
        """The kernel."""

    @property
    def args(self) -> tuple[Any, ...]:
        """The arguments."""


@dataclass(frozen=True, slots=True, eq=False)
class TracingRequest:
    """What a program asks for: a script, a settings file, single settings, ranks or not.

    `target` names what is generated, empty for what is by default; `api` is that of the kernels.
    Kernels and modules in Fortran are searched for below `directories`.
    """

    script: str = ""
    config: str = ""
    config_opts: str = ""
    distributed: bool | None = None
    target: str = ""
    api: str = "gocean"
    directories: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Compiled:
    """An invoke that can be run: `order` are the positions of its data among all arguments.

    `code` is the one in which it stands. It has the numbers of `written` in it, by position, and of
    those at the positions in `equal` it takes the first for both. What was found without compiling
    has no `build`.
    """

    routine: Callable[..., None]
    order: tuple[int, ...]
    build: Build | None
    code: CodeType
    written: tuple[tuple[int, Any], ...] = ()
    equal: tuple[tuple[int, int], ...] = ()

    def holds(self, values: Sequence[Any]) -> bool:
        """Return whether numbers are what was written, or one, where they were when it was made."""
        for at, value in self.written:
            if not is_same(values[at], value):
                return False
        for first, second in self.equal:  # noqa: SIM110  (a loop costs less than all())
            if not is_same(values[first], values[second]):
                return False
        return True


@cache
def asked_for(**keywords: Any) -> TracingRequest:
    """Return what is asked for by keyword: one object for what is the same."""
    return TracingRequest(**keywords)


@cache
def settings_texts(asked: TracingRequest) -> dict[Path, str]:
    """Return the texts of the settings files: those of the first invoke that asks for the same.

    Raises:
        CompileError: `C001`, for a file that does not exist or is not text.
    """
    return read_settings_texts(asked.config, surroundings(os.environ))


@cache
def passed_as(kind: type) -> PassedAs:
    """Return how what is of a type is passed; a text counts as a number, and is refused as one."""
    if issubclass(kind, _NUMBERS):
        return PassedAs.NUMBER
    is_sequence = hasattr(kind, "__len__") and hasattr(kind, "__getitem__")
    return PassedAs.SEVERAL if is_sequence and not hasattr(kind, "dtype") else PassedAs.OBJECT


def is_same(first: Any, second: Any) -> bool:
    """Return whether two numbers are of one type and value, the sign of a zero included."""
    if first is second:
        return True
    if type(first) is not type(second) or first != second:
        return False
    return bool(first) or repr(first) == repr(second)


def loaded_routine(
    module: str, name: str, text: str, beside: Iterable[tuple[str, str]]
) -> Callable[..., None]:
    """Return the routine `name` of a generated module, with what belongs beside its text."""
    names: dict[str, Any] = {
        "__name__": module,
        "__file__": f"{name}.py",
        "__c__": next((other for _, other in beside), ""),
    }
    exec(compile(text, f"<{name}>", "exec"), names)  # noqa: S102  # pylint: disable=exec-used
    routine: Callable[..., None] = names[name]
    return routine
