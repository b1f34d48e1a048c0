"""Invokes that can be deferred: their records, and the numbers that their kernels read.

A kernel must read the numbers that it would have read when its invoke was called. The numbers in
its text are compiled in, so that they must not have changed when the invoke runs.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, chain
from numbers import Number
from types import CodeType, FrameType, ModuleType
from typing import Any, NamedTuple, TypeAlias

from psyclone_storage.base.records import dataclass
from psyclone_storage.base.results import Result
from psyclone_storage.base.uncaught import UserError
from psyclone_storage.jit.types import (
    ArgumentKind,
    JitOptions,
    LiveCall,
    LiveKernel,
    are_identical,
    argument_kind,
)
from psyclone_storage.languages.python.parse.closure import (
    ClosureSnapshot,
    MergedSites,
    global_names_in,
    place_of_call,
    text_of_table,
)

MOST = 32
"""The number of invokes that are merged at most."""
_SMALLEST, _LARGEST = -(2**31), 2**31 - 1


class DeferredInvokeError(UserError, RuntimeError):
    """A number that a pending invoke uses has changed."""


class NotDeferrableError(Exception):
    """An invoke runs at once, because an argument may be an error."""


class Numbers(NamedTuple):
    """Numbers that a kernel reads: the lookups of its text, and variables of modules."""

    kernel: LiveKernel
    snapshot: ClosureSnapshot
    variables: tuple[tuple[Mapping[str, Any], str], ...]

    def values(self) -> list[Any]:
        """Return the values of the variables now."""
        return [owner.get(name) for owner, name in self.variables]


@dataclass(frozen=True, slots=True, eq=False)
class DeferrableInvoke:
    """An invoke that can be deferred, without the values of its arguments.

    - `calls`: for each call its type, its kernel, and the positions of its first argument and of
      that after its last one.
    - `numbers`: those of its kernels. `varying`: the ones that read variables of modules.
    - `waiting`: the positions of the arguments that refer to the queue while the invoke is pending.
    - `integers`: the positions of Python integers.
    - `on_grid`: the position of the first field.
    - `number`: that of the call site `place`, which is compared faster.
    """

    calls: tuple[tuple[type, LiveKernel, int, int], ...]
    label: str
    site: tuple[CodeType, int]
    place: tuple[int, int]
    options: JitOptions
    numbers: tuple[Numbers, ...]
    varying: tuple[Numbers, ...]
    waiting: tuple[int, ...]
    integers: tuple[int, ...]
    on_grid: int
    number: int


_made: Callable[..., Any] = tuple.__new__
"""Makes a named tuple without Python code."""


PendingInvoke: TypeAlias = tuple[DeferrableInvoke, tuple[Any, ...], tuple[list[Any], ...]]
"""A pending invoke: it, its arguments, and the variables that its kernels read."""


def read_variables(varying: Iterable[Numbers]) -> tuple[list[Any], ...]:
    """Return the values of variables now.

    Raises:
        NotDeferrableError: one is an integer of more than 32 bits.
    """
    found = tuple([one.values() for one in varying])
    if not all(map(is_short, chain.from_iterable(found))):
        raise NotDeferrableError
    return found


def is_short(value: Any) -> bool:
    """Return whether a value is not an integer, or one that kernels support, of 32 bits."""
    return not isinstance(value, int) or _SMALLEST <= value <= _LARGEST


def count_mergeable(pending: Sequence[PendingInvoke]) -> int:
    """Return the number of the first pending invokes that can be merged."""
    counts = range(1, len(pending) + 1)
    return max(count for count in counts if are_mergeable(pending[:count]))


def are_mergeable(pending: Sequence[PendingInvoke]) -> bool:
    """Return whether pending invokes have different sites and one grid, and are not too many.

    Their kernels must read the same values under a name.
    """
    sites = {invoke.number for invoke, _, _ in pending}
    grids = {id(values[invoke.on_grid].grid) for invoke, values, _ in pending}
    return len(sites) == len(pending) <= MOST and len(grids) == 1 and _read_the_same(pending)


def _read_the_same(pending: Iterable[PendingInvoke]) -> bool:
    """Return whether all lookups of the kernels of pending invokes have found one value each."""
    found: dict[tuple[Any, Any], Any] = {}
    all_numbers = {id(one): one for invoke, _, _ in pending for one in invoke.numbers}
    for numbers in all_numbers.values():
        known = numbers.snapshot
        for getter, owner, value in zip(known.getters, known.owners, known.values, strict=True):
            key = getter, owner if isinstance(owner, str) else id(owner)
            first = found.setdefault(key, value)
            if first is not value and not _are_equal(first, value):
                return False
    return True


def _are_equal(first: Any, second: Any) -> bool:
    """Return whether a kernel that was compiled for a value may read another one instead."""
    if first is second:
        return True
    if isinstance(first, Number):
        return are_identical(first, second)
    is_table = isinstance(first, tuple | list) or hasattr(first, "dtype")
    if not is_table or type(first) is not type(second):
        return False
    text = text_of_table(first)
    return bool(text) and text == text_of_table(second)


def live_calls(pending: Iterable[PendingInvoke], values: Sequence[Any]) -> tuple[LiveCall, ...]:
    """Return the calls of pending invokes with their arguments, which follow each other."""
    calls, start = [], 0
    for invoke, _, _ in pending:
        for kind, kernel, first, last in invoke.calls:
            calls.append(_made(kind, (kernel, (*values[start + first : start + last],))))
        start += invoke.calls[-1][-1]
    return tuple(calls)


def computes_result(call: LiveCall) -> bool:
    """Return whether a call of a built-in computes the `Result` that is its first argument."""
    first = call.args[0] if call.args else None
    return isinstance(first, Result) and not hasattr(call.kernel, "function")


def results_read(pending: Iterable[PendingInvoke]) -> tuple[int, ...]:
    """Return the positions of results that invokes read before they compute them."""
    values = [*chain.from_iterable([values for _, values, _ in pending])]
    found, computed, start = [], set(), 0
    for call in live_calls(pending, values):
        for at, value in enumerate(call.args, start):
            if at == start and computes_result(call):
                computed.add(id(value))
            elif isinstance(value, Result) and id(value) not in computed:
                found.append(at)
        start += len(call.args)
    return tuple(found)


def invoke_of(
    calls: Sequence[LiveCall],
    label: str,
    where: tuple[FrameType, int],
    options: JitOptions,
    numbers: tuple[Numbers, ...],
) -> DeferrableInvoke:
    """Return an invoke; `where` is its call site and the number of the site."""
    frame, number = where
    values = [*chain.from_iterable([call.args for call in calls])]
    ends = [*accumulate([len(call.args) for call in calls], initial=0)]
    return DeferrableInvoke(
        tuple([
            (type(call), call.kernel, start, stop)
            for call, start, stop in zip(calls, ends, ends[1:], strict=False)
        ]),
        label,
        (frame.f_code, frame.f_lasti),
        (id(frame.f_code), frame.f_lasti),
        options,
        numbers,
        tuple([one for one in numbers if one.variables]),
        tuple([at for at, value in enumerate(values) if hasattr(value, "waiting")]),
        tuple([at for at, value in enumerate(values) if isinstance(value, int)]),
        next(at for at, value in enumerate(values) if hasattr(value, "grid")),
        number,
    )  # fmt: skip


def check_numbers(
    all_numbers: Iterable[tuple[int, Numbers]], pending: Sequence[PendingInvoke]
) -> None:
    """Check that no number that a kernel reads has changed since its invoke.

    `all_numbers` are those of all kernels, with the positions of invokes for messages.

    Raises:
        DeferredInvokeError: a number has changed.
    """
    for invoke, _, before in pending:
        for numbers, values in zip(invoke.varying, before, strict=True):
            now = numbers.values()
            for (_, name), first, last in zip(numbers.variables, values, now, strict=True):
                if not _are_equal(first, last):
                    raise _changed(name, numbers, [(invoke, (), ())])
    for at, numbers in all_numbers:
        changed = _changed_name(numbers.snapshot)
        if changed is not None:
            raise _changed(changed, numbers, pending[at : at + 1])


def _changed_name(snapshot: ClosureSnapshot) -> str | None:
    """Return the name of a value that has changed, which may be empty; None if none has."""
    if snapshot.is_current():
        return None
    lookups = zip(snapshot.getters, snapshot.owners, snapshot.values, strict=True)
    for getter, owner, before in lookups:
        if not _are_equal(before, getter(owner)):
            if isinstance(owner, str):
                return owner
            named = zip(snapshot.owners, snapshot.values, strict=True)
            return next((at for at, one in named if one is owner and isinstance(at, str)), "")
    return None


def _changed(name: str, numbers: Numbers, pending: Sequence[PendingInvoke]) -> DeferredInvokeError:
    what = f"'{name}'" if name else "A value"
    return DeferredInvokeError(
        f"{what}, which the kernel '{numbers.kernel.name}' uses, has changed since the deferred "
        f"invoke {listed_places(pending)}, which is still pending: set it back and call "
        f"complete_invokes(), or give the pending invokes up with complete_invokes(discard=True). "
        f"Then call complete_invokes() before each change, or pass it as a scalar argument."
    )


def variables_in(function: Any, text: str) -> Iterator[tuple[Mapping[str, Any], str]]:
    """Yield the numbers of modules that a function reads: their owners and names.

    `text` is the text of the function, in which a name may also be that of a local variable.
    """
    values: Mapping[str, Any] = getattr(function, "__globals__", {})
    known = global_names_in(function.__code__)
    for match in re.finditer(r"\b([^\W\d]\w*)((?:\.[^\W\d]\w*)*)", text):
        owner, name = values, match[1]
        if name not in known:
            continue
        for part in match[2].split(".")[1:]:
            module = owner.get(name)
            if not isinstance(module, ModuleType):
                break
            owner, name = vars(module), part
        if isinstance(owner.get(name), Number):
            yield owner, name


def grid_of(calls: Sequence[LiveCall]) -> Any:
    """Return the grid of the fields of calls; None if the invoke cannot be deferred."""
    grid = None
    for call in calls:
        for value in call.args:
            own = getattr(value, "grid", None)
            if own is not None and hasattr(value, "waiting"):
                if grid is not None and own is not grid:
                    return None
                grid = own
            elif not hasattr(value, "waiting") and not _is_deferrable(value):
                return None
    return grid


def _is_deferrable(value: Any) -> bool:
    """Return whether an argument that is not a field is a number that kernels may support."""
    is_number = argument_kind(value.__class__) is ArgumentKind.NUMBER
    return is_number and not isinstance(value, str | complex) and is_short(value)


def listed_places(pending: Iterable[PendingInvoke]) -> str:
    """Return the places of pending invokes for a message."""
    return ", ".join(f"at {place_text(one)}" for one, _, _ in pending)


def place_text(one: DeferrableInvoke) -> str:
    """Return the file and the line of an invoke."""
    return place_of_call(MergedSites((one.site,)))
