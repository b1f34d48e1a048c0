"""`invoke`: an algorithm's statement that calls kernels.

A program that was compiled ahead of time has no such statement. In other programs an invoke is
compiled on its first call, which imports the compiler.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable
from functools import partial, update_wrapper
from numbers import Number
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any, NamedTuple

from psyclone_storage.base.compilers import NoCompilerError
from psyclone_storage.base.results import Result
from psyclone_storage.base.uncaught import HaloWidthError, UserError, hide_package_frames
from psyclone_storage.embedded.kernel import (
    BuiltIn,
    FortranKernel,
    PythonKernel,
    RequestedCall,
)
from psyclone_storage.jit.native import quick_invoke

if TYPE_CHECKING:
    from psyclone_storage.jit.deferred import DeferredInvokes
    from psyclone_storage.jit.session import JitSession

GRIDS, COLUMNS = "gocean", "lfric"
"""The APIs that programs in Python are written for."""


CHECK_RANKS = "PSYCLONE_STORAGE_CHECK_RANKS"
"""The variable that lets ranks compare their collective calls."""


class _Runner(NamedTuple):
    """The functions that find, run and recover invokes of one API, and their options.

    `table` contains the calls that `find` finds; None if `find` does more. `pending` is the queue
    of deferred invokes, or None.
    """

    find: Callable[..., Any]
    run: Callable[..., None]
    recover: Callable[..., None]
    options: Any
    table: dict[Any, Any] | None
    pending: Any = None


class RunningProgram:
    """The options and the session of the invokes of a program; the compiler is imported late."""

    __slots__ = ("_deferred", "_session", "defers", "options", "runners")

    def __init__(self) -> None:
        self.options: dict[str, Any] = {}
        """Keywords of `configure`."""
        self.runners: dict[str, _Runner] = {}
        """The runners by API, for the present options."""
        self.defers = False
        """Whether invokes for grids are deferred."""
        self._deferred: list[DeferredInvokes] = []
        self._session: dict[str, JitSession] = {}

    @property
    def session(self) -> JitSession:
        """The session, which the first thread that requests it creates."""
        if not self._session:
            from psyclone_storage.jit.session import JitSession  # noqa: PLC0415

            self._session.setdefault("", JitSession())
        return self._session[""]

    def start(self, api: str) -> _Runner:
        """Return the runner of an API, which is made at its first invoke."""
        from psyclone_storage.jit.call_cache import make_call_finder  # noqa: PLC0415
        from psyclone_storage.jit.invokes import recover, run_invoke  # noqa: PLC0415

        # If another thread configures meanwhile, this table is no longer in use.
        runners, session = self.runners, self.session
        table: dict[Any, Any] | None = session.calls
        pending = None
        find = make_call_finder(session)
        run: Callable[..., None] = partial(run_invoke, session)
        recovers: Callable[..., None] = partial(recover, session)
        if os.environ.get(CHECK_RANKS, "0") not in ("", "0"):
            find, table = with_comparison(find), None
        elif self.defers and api == GRIDS:
            from psyclone_storage.jit.deferred import DeferredInvokes  # noqa: PLC0415

            self._deferred = self._deferred or [DeferredInvokes(session, find)]
            queue = self._deferred[0]
            find, run, recovers, table = queue.find, queue.run, queue.recover, queue.known
            pending = queue.pending
        options = session.options(api=api, **self.options)
        runners[api] = _Runner(find, run, recovers, options, table, pending)
        return runners[api]

    def configure(self, options: dict[str, Any], *, defer: bool = False) -> None:
        """Compile later invokes with other options, after pending ones have run."""
        self.complete()
        self.options, self.defers = options, defer
        self.runners = {}

    def complete(self) -> None:
        """Run the pending invokes."""
        for deferred in self._deferred:
            deferred.complete("the program calls complete_invokes or configure")

    def remove_pending(self) -> None:
        """Remove the pending invokes."""
        for deferred in self._deferred:
            deferred.discard()


def with_comparison(find: Callable[..., Any]) -> Callable[..., Any]:
    """Return `find`, after all ranks of the fields have compared the invoke and its numbers."""

    def compared(frame: Any, options: Any, name: str, calls: tuple[RequestedCall, ...]) -> Any:
        values = [value for call in calls for value in getattr(call, "args", ())]
        for value in values:
            owner = getattr(value, "grid", None) or getattr(value, "mesh", None)
            compare = getattr(getattr(owner, "ranks", None), "compare", None)
            if compare is not None:
                kernels = ", ".join(getattr(call.kernel, "name", "?") for call in calls)
                compare(f"the invoke '{name}' of {kernels}" if name else f"an invoke of {kernels}",
                        _numbers_in(calls))  # fmt: skip
                break
        return find(frame, options, name, calls)

    return compared


def _numbers_in(calls: Iterable[RequestedCall]) -> str:
    """Return the numbers that calls read, without results that the calls compute."""
    texts, computed = [], set()
    for call in calls:
        for at, one in enumerate(getattr(call, "args", ())):
            if isinstance(one, Result) and at == 0 and isinstance(call.kernel, BuiltIn):
                computed.add(id(one))
            elif isinstance(one, (Number, Result)) and id(one) not in computed:
                texts.append(repr(one))
    return ", ".join(texts)


def make_invoke(api: str, program: RunningProgram, title: str) -> Callable[..., None]:
    """Return the function that runs the invokes of an API in a program.

    `title` is its name in this module, to which copies and pickles refer.
    """

    def run_calls(*calls: RequestedCall, name: str = "") -> None:
        """Run kernels in order, with the halo exchanges and transfers that they need.

        Raises:
            TypeError: an argument is not a kernel call, or a kernel has wrong arguments.
            ValueError: `name` cannot be the name of an invoke, or there are no calls.
            CompileError: a kernel or a call has an error; the notes show where.
        """
        runner = program.runners.get(api) or program.start(api)
        find, run, _, options, *_ = runner
        try:
            frame = sys._getframe(1)  # noqa: SLF001  # pylint: disable=protected-access
        except ValueError:
            # No caller frame: invoked as a thread target or from atexit.
            frame = sys._getframe()  # noqa: SLF001  # pylint: disable=protected-access
        try:
            found = find(frame, options, name, calls)
            if found is None:
                _check(calls, name)
                run(calls, name, frame, options)
                return
        except Exception as error:
            _show_without_own_lines(_named(error, calls))
            raise
        entry, data = found
        try:
            entry.compiled.routine(*data)
        except Exception as error:  # noqa: BLE001  # pylint: disable=broad-exception-caught
            _recover(runner, error, calls, name, frame)

    run_calls.__name__ = run_calls.__qualname__ = title
    quick = quick_invoke(run_calls, _recover, program, api)
    return quick if quick is run_calls else update_wrapper(quick, run_calls)


def _recover(
    runner: _Runner,
    error: Exception,
    calls: tuple[RequestedCall, ...],
    name: str,
    frame: FrameType,
) -> None:
    """Run an invoke whose routine has raised an error in another form, or raise the error."""
    try:
        runner.recover(error, (calls, name, frame, runner.options))
    except Exception as raised:
        _show_without_own_lines(_named(raised, calls))
        raise


def _named(error: Exception, calls: tuple[RequestedCall, ...]) -> Exception:
    """Return an error; if a halo is too narrow, with the kernel and the stencil."""
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
                made = HaloWidthError(
                    f"The kernel '{call.kernel.name}' reads '{name}' with the stencil {stencil}, "
                    f"up to {reach} points away, but the halo of the grid is {halo} wide: write "
                    f"Grid(..., halo={reach})."
                )
                for note in getattr(error, "__notes__", ()):
                    made.add_note(note)
                return made
    return error


def _show_without_own_lines(error: Exception) -> None:
    """Raise a user's error again without the stack frames of this package.

    A missing C compiler is a user's error. All other errors keep their stack.
    """
    from psyclone_storage.base.diagnostic import CompileError  # noqa: PLC0415

    if isinstance(error, (CompileError, NoCompilerError, UserError)):
        hide_package_frames()
        raise error.with_traceback(None) from None


def _check(calls: tuple[RequestedCall, ...], name: str) -> None:
    if not calls:
        raise ValueError("This invoke calls nothing.")
    for call in calls:
        if isinstance(call, PythonKernel | FortranKernel | BuiltIn):
            raise TypeError(
                f"An invoke takes calls of kernels: write '{call.name}(...)' instead of"
                f" '{call.name}'."
            )
        if not isinstance(call, RequestedCall):
            raise TypeError(f"An invoke takes calls of kernels, not a {type(call).__name__}.")
    if not _may_name(name):
        raise ValueError(f"'{name}' cannot name an invoke: it has to be a name.")


def _may_name(name: object) -> bool:
    """Return whether a value is a text that can name an invoke, or is empty."""
    if not isinstance(name, str):
        return False
    return not name or (name.isascii() and name.isidentifier() and name[0].isalpha())


def configure(  # noqa: PLR0913 - the options of the command
    *,
    script: str | Path | None = None,
    config: str | Path | None = None,
    config_opts: str = "",
    distributed: bool | None = None,
    target: str = "",
    directories: Iterable[str | Path] = (),
    profile: str | Iterable[str] = (),
    defer: bool = False,
    explain: bool = False,
) -> None:
    """Set the options of later invokes: those of the command.

    `script` is a recipe with a function `trans`, `config` a settings file, and `config_opts` has
    single settings as `KEY=VALUE`. `distributed` chooses whether halos are exchanged. `target` is
    `c`; `cuda`, for fields of a grid or a mesh on a device; or `numpy`, which compiles nothing.
    Fortran kernels and modules are searched for below `directories`, as with the option `-d`.
    `profile` is `invokes`, `kernels` or both: a table is printed at the end of the program. The
    settings decide the rest. With `defer`, consecutive invokes for grids are merged until a value
    is needed. With `explain`, the first rank prints the reasons for the exchanges and transfers of
    each invoke when it is compiled, as the option `--explain` of the command, to standard error.

    Raises:
        ValueError: `profile` contains another word.
        NotADirectoryError: one of `directories` is not a folder.
    """
    given = [directories] if isinstance(directories, (str, Path)) else directories
    folders = tuple(str(Path(one).resolve()) for one in given)
    for folder in folders:
        if not Path(folder).is_dir():
            raise NotADirectoryError(f"'{folder}', one of the 'directories', is not a folder.")
    regions = (profile,) if isinstance(profile, str) else tuple(profile)
    if unknown := set(regions) - {"", "invokes", "kernels"}:
        raise ValueError(f"'profile' is 'invokes' or 'kernels', not {sorted(unknown)}.")
    PROGRAM.configure(
        {
            "script": "" if script is None else str(Path(script).resolve()),
            "config": "" if config is None else str(config),
            "config_opts": config_opts,
            "distributed": distributed,
            "target": target,
            "directories": folders,
            "profile": tuple(sorted(set(regions) - {""})),
            "explain": bool(explain),
        },
        defer=defer,
    )


def complete_invokes(*, discard: bool = False) -> None:
    """Run the invokes that `configure(defer=True)` has deferred. Collective on several ranks.

    With `discard`, these invokes are removed instead, and fields and results keep their values.
    This is for invokes that cannot run any more, such as those of a kernel that calls a function
    of which there is another definition now.

    Raises:
        DeferredInvokeError: a number that a kernel uses has changed since the invoke.
    """
    if discard:
        PROGRAM.remove_pending()
    else:
        PROGRAM.complete()


PROGRAM = RunningProgram()
"""The running program."""
invoke = make_invoke(GRIDS, PROGRAM, "invoke")
invoke_columns = make_invoke(COLUMNS, PROGRAM, "invoke_columns")
"""`invoke` for kernels of columns of cells, and built-ins."""
