"""`invoke`: the calls of kernels that belong together, as a statement of an algorithm.

In a program that was compiled ahead there is none left. In all others it is compiled when it is
reached for the first time; that is when the compiler is imported.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import Any

from psyclone_storage.base.compilers import NoCompilerError
from psyclone_storage.base.uncaught import HaloWidthError, UserError, hide_package_frames
from psyclone_storage.embedded.kernel import PythonKernel, RequestedCall

_CHOSEN: dict[str, Any] = {}


GRIDS, COLUMNS = "gocean", "lfric"
"""The APIs that programs in Python are written for."""


def _invoke_for(api: str) -> Callable[..., None]:
    """Return the function that does the invokes of an API."""

    def invoke(*calls: RequestedCall, name: str = "") -> None:  # pylint: disable=redefined-outer-name
        """Do what kernels are called for, in order: exchanges, transfers and loops.

        Raises:
            TypeError: something is no call of a kernel, or a kernel is passed what it does not
                take.
            ValueError: `name` cannot be the name of an invoke, or nothing is called.
            CompileError: a kernel or a call is wrong; what and where is in the notes.
        """
        find, run, recover, asked = _runner(api)
        try:
            frame = sys._getframe(1)  # noqa: SLF001  # pylint: disable=protected-access
        except ValueError:
            # A thread begins with it, or the end of the program: it stands nowhere.
            frame = sys._getframe()  # noqa: SLF001  # pylint: disable=protected-access
        try:
            found = find(frame, asked, name, calls)
            if found is None:
                _check(calls, name)
                run(calls, name, frame, asked)
                return
            known, taken = found
            try:
                known.compiled.routine(*taken)
            except Exception as error:  # noqa: BLE001  # pylint: disable=broad-exception-caught
                recover(error, (calls, name, frame, asked))
        except Exception as error:
            _show_without_own_lines(_named(error, calls))
            raise

    return invoke


def _named(error: Exception, calls: tuple[RequestedCall, ...]) -> Exception:
    """Return an error of a halo that is too narrow with the kernel and the stencil."""
    if not isinstance(error, HaloWidthError):
        return error
    for call in calls:
        if not isinstance(call.kernel, PythonKernel):
            continue
        for name, stencil, value in call.kernel.stencils(call.args):
            digits = (int(digit) for digit in str(stencil.items[0]) if digit.isdigit())
            reach = max(digits, default=0)
            halo = getattr(getattr(value, "grid", None), "halo", reach)
            if reach > halo:
                return HaloWidthError(
                    f"The kernel '{call.kernel.name}' reads '{name}' with the stencil {stencil}, "
                    f"up to {reach} points away, but the halo of the grid is {halo} wide: write "
                    f"Grid(..., halo={reach})."
                )
    return error


def _show_without_own_lines(error: Exception) -> None:
    """Raise a user's error again without the stack of the compiler.

    A compiler that is not found is the user's to install or name. Of all other errors each line
    counts.
    """
    from psyclone_storage.base.diagnostic import CompileError  # noqa: PLC0415

    if isinstance(error, (CompileError, NoCompilerError, UserError)):
        hide_package_frames()
        raise error.with_traceback(None) from None


def _check(calls: tuple[RequestedCall, ...], name: str) -> None:
    if not calls:
        raise ValueError("This invoke calls nothing.")
    for call in calls:
        if not isinstance(call, RequestedCall):
            raise TypeError(f"An invoke takes calls of kernels, not a {type(call).__name__}.")
    if not _may_name(name):
        raise ValueError(f"'{name}' cannot name an invoke: it has to be a name.")


def _may_name(name: str) -> bool:
    """Return whether an invoke may have a name; an empty one is none."""
    return not name or (name.isascii() and name.isidentifier() and name[0].isalpha())


@cache
def _runner(
    api: str,
) -> tuple[Callable[..., Any], Callable[..., None], Callable[..., None], Any]:
    """Return what finds and runs invokes, what recovers from errors, and what is asked for."""
    from psyclone_storage.jit.call_cache import finder  # noqa: PLC0415
    from psyclone_storage.jit.invokes import recover, run_invoke  # noqa: PLC0415
    from psyclone_storage.jit.types import asked_for  # noqa: PLC0415

    return finder(), run_invoke, recover, asked_for(api=api, **_CHOSEN)


def configure(  # noqa: PLR0913 - the options of the command
    *,
    script: str | Path | None = None,
    config: str | Path | None = None,
    config_opts: str = "",
    distributed: bool | None = None,
    target: str = "",
    directories: Iterable[str | Path] = (),
) -> None:
    """Choose what invokes are compiled with, from now on: as the options of the command.

    `script` is a recipe with a function `trans`, `config` a settings file, `config_opts` are single
    settings as `KEY=VALUE`; without `distributed` no halo is exchanged. `target` is what computes:
    `c`; `cuda`, for fields of a grid or a mesh on a device; or `numpy`, which compiles
    nothing. Kernels and modules in Fortran are searched for below `directories`, as with the option
    `-d`. What is not given is chosen by the settings.

    Raises:
        NotADirectoryError: one of `directories` is no folder.
    """
    given = [directories] if isinstance(directories, (str, Path)) else directories
    folders = tuple(str(Path(one).resolve()) for one in given)
    for folder in folders:
        if not Path(folder).is_dir():
            raise NotADirectoryError(f"'{folder}', one of the 'directories', is not a folder.")
    _CHOSEN.clear()
    _CHOSEN.update(
        script="" if script is None else str(Path(script).resolve()),
        config="" if config is None else str(config),
        config_opts=config_opts,
        distributed=distributed,
        target=target,
        directories=folders,
    )
    _runner.cache_clear()


invoke = _invoke_for(GRIDS)
invoke_columns = _invoke_for(COLUMNS)
"""`invoke` for kernels of columns of cells, and built-ins."""
