"""`parallel_for`, `parallel_reduce` and their policies, independent of the layouts of views.

A functor is any callable. It is called once for each index, in the calling thread, before the
operation returns; each call takes a microsecond or more. A functor marked with `KOKKOS_LAMBDA`
promises, like device code, to compute only with its indices and with elements of views. It is
called once for many indices, at the speed of NumPy on the host and of CuPy on a GPU.

    @KOKKOS_LAMBDA
    def body(i, j):
        c[i, j] = a(i) * b(j)

    parallel_for("product", MDRangePolicy[Rank[2]]((0, 0), (n, m)), body)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from enum import Enum
from itertools import product
from math import prod
from operator import index as to_index
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np

from psyclone_storage.base.records import dataclass
from psyclone_storage.storage.core.buffer import CoherentBuffer
from psyclone_storage.storage.core.errors import ViewTypeError
from psyclone_storage.storage.core.spaces import MemorySpace
from psyclone_storage.storage.kokkos.reducers import Joining, Reducer, Reduction, Sum
from psyclone_storage.storage.kokkos.vectorized_functor import THREAD, RunningFunctor, Together
from psyclone_storage.storage.kokkos.view import View
from psyclone_storage.storage.kokkos.view_spaces import DefaultExecutionSpace, ExecutionSpace
from psyclone_storage.storage.memory.registry import host_memory, memory_of

MANY = 1 << 18
"""The largest number of indices in one call of a marked functor; limits temporary memory."""

Bounds: TypeAlias = "tuple[range, ...]"


# The members, and some names below, are those of Kokkos.
# pylint: disable=invalid-name


class Iterate(Enum):
    """The choice of the index that varies fastest."""

    Default = "default"
    Left = "left"
    Right = "right"


class RankChoice(NamedTuple):
    """The number of indices, and the order in which they vary."""

    rank: int
    outer: Iterate = Iterate.Default
    inner: Iterate = Iterate.Default


class _Ranks(type):
    """The metaclass that makes `Rank[2]` and `Rank[2, Iterate.Left]` arguments of policies."""

    def __getitem__(cls, arguments: Any) -> RankChoice:
        return RankChoice(*(arguments if isinstance(arguments, tuple) else (arguments,)))

    def __call__(cls, *arguments: Any) -> Any:
        written = ", ".join(str(one) for one in arguments)
        raise ViewTypeError(f"Rank is a type with arguments: write Rank[{written}], not Rank(...).")


class IterationRank(metaclass=_Ranks):
    """The number of indices of a policy, and their order: `Rank[2, Iterate.Left]`."""


Rank = IterationRank


@dataclass(frozen=True, slots=True)
class IterationPolicy:
    """An index range and an execution space; create one with `RangePolicy` or `MDRangePolicy`."""

    execution: ExecutionSpace
    bounds: Bounds
    order: Iterate = Iterate.Default

    @property
    def size(self) -> int:
        """Return the number of indices."""
        return prod(map(len, self.bounds))

    def points(self) -> Iterator[tuple[int, ...]]:
        """Return an iterator over the indices in the order of the policy."""
        if self.order is Iterate.Left:
            return (point[::-1] for point in product(*self.bounds[::-1]))
        return product(*self.bounds)

    def parts(self, most: int) -> Iterator[Bounds]:
        """Yield sub-ranges along the first dimension, with at most `most` indices each.

        A sub-range contains at least one index of the first dimension.
        """
        first, *others = self.bounds
        step = max(1, most // max(1, prod(map(len, others))))
        for start in range(0, len(first), step):
            yield (first[start : start + step], *others)


class _RangeType(NamedTuple):
    execution: ExecutionSpace | None

    def __call__(self, *arguments: Any) -> IterationPolicy:
        """Create a policy from an optional execution space, the first index and the end index."""
        execution, rest = _executing(self.execution, arguments)
        if len(rest) != 2:
            raise ViewTypeError(f"A RangePolicy takes the begin and the end, not {rest}.")
        return IterationPolicy(execution, (range(to_index(rest[0]), to_index(rest[1])),))


class _RangePolicies(type):
    """The metaclass that makes `RangePolicy[Cuda]` and `RangePolicy` callable."""

    def __getitem__(cls, execution: ExecutionSpace) -> _RangeType:
        return _RangeType(execution)

    def __call__(cls, *arguments: Any) -> Any:
        return _RangeType(None)(*arguments)


class RangePolicy(metaclass=_RangePolicies):
    """A one-dimensional range that excludes its end: `RangePolicy(begin, end)`.

    `RangePolicy[Cuda](begin, end)` and `RangePolicy(Cuda, begin, end)` specify the execution space.
    """


class _BoxType(NamedTuple):
    execution: ExecutionSpace | None
    choice: RankChoice | None

    def __call__(self, *arguments: Any) -> IterationPolicy:
        """Create a policy from an optional execution space, the first indices and the end indices.

        A third sequence, the tile sizes, is ignored.
        """
        execution, rest = _executing(self.execution, arguments)
        if len(rest) not in (2, 3) or not all(isinstance(part, Sequence) for part in rest):
            raise ViewTypeError(f"An MDRangePolicy takes the begins and the ends, not {rest}.")
        begins, ends = (tuple(map(to_index, part)) for part in rest[:2])
        rank = len(begins) if self.choice is None else self.choice.rank
        if not rank == len(begins) == len(ends):
            raise ViewTypeError(f"An MDRangePolicy of rank {rank} got {begins} and {ends}.")
        order = Iterate.Default if self.choice is None else self.choice.outer
        return IterationPolicy(execution, tuple(map(range, begins, ends)), order)


class _BoxPolicies(type):
    """The metaclass that makes `MDRangePolicy[Cuda, Rank[2]]` and `MDRangePolicy` callable."""

    def __getitem__(cls, arguments: Any) -> _BoxType:
        # A `RankChoice` is itself a tuple.
        given = (arguments,) if isinstance(arguments, RankChoice) else arguments
        given = given if isinstance(given, tuple) else (given,)
        executions = [one for one in given if isinstance(one, ExecutionSpace)]
        choices = [one for one in given if isinstance(one, RankChoice)]
        if len(executions) + len(choices) != len(given) or len(choices) > 1:
            raise ViewTypeError(f"MDRangePolicy[...] takes an execution space and Rank[n]: {given}")
        return _BoxType(next(iter(executions), None), next(iter(choices), None))

    def __call__(cls, *arguments: Any) -> Any:
        return _BoxType(None, None)(*arguments)


class MDRangePolicy(metaclass=_BoxPolicies):
    """A multi-dimensional range: `MDRangePolicy[Rank[2]]((0, 0), (n, m))`."""


class Functor(Protocol):
    """The callable of a parallel operation: takes the indices, and the accumulator if any."""

    def __call__(self, *arguments: Any) -> Any:
        """Execute the operation for one index."""


@dataclass(frozen=True, slots=True)
class MarkedFunctor:
    """A functor marked with `KOKKOS_LAMBDA`, which can be called for many indices at once."""

    function: Callable[..., Any]

    def __call__(self, *arguments: Any) -> Any:
        """Call the function."""
        return self.function(*arguments)


def KOKKOS_LAMBDA(functor: Callable[..., Any]) -> MarkedFunctor:  # noqa: N802
    """Mark a functor that uses only its indices and elements of views.

    A call may pass objects that represent many indices, and may be repeated. A side effect, such as
    printing or appending to a list, may then happen once instead of once per index, or once too
    often. A functor that tests a condition on an index, or otherwise needs a single number, runs
    once for each index.
    """
    return MarkedFunctor(functor)


def parallel_for(*arguments: Any) -> None:
    """Call a functor for each index: `parallel_for("label", policy, functor)`.

    The policy may be an integer n, for the indices 0 to n-1. The label is optional. An exception in
    the functor propagates; the writes of earlier calls remain.
    """
    given = _given(arguments, 2)
    _run(given, given.functor, ())


def parallel_reduce(*arguments: Any) -> Any:
    """Reduce the contributions of a functor.

    Call it as `parallel_reduce("label", policy, functor, *reducers)`. The functor is called with
    the indices and one accumulator for each reducer; the default is one `Sum`. It contributes with
    `update += a(i)`, as in C++, or `update.join(a(i))`. Returns the result, or a tuple with one
    result for each reducer. A reducer with a view of rank 0 also writes its result to that view.
    """
    given = _given(arguments, None)
    reducers = [_reducer(one) for one in given.rest] or [Sum()]
    updates = tuple(Reduction(reducer) for reducer in reducers)
    _run(given, given.functor, updates)
    results = tuple(update.value for update in updates)
    for reducer, result in zip(reducers, results, strict=True):
        if reducer.result is not None:
            reducer.result.put(result)
    return results[0] if len(results) == 1 else results


class _ParallelCall(NamedTuple):
    label: str
    policy: IterationPolicy
    functor: Functor
    rest: tuple[Any, ...]


def _given(arguments: tuple[Any, ...], most: int | None) -> _ParallelCall:
    label = arguments[0] if arguments and isinstance(arguments[0], str) else ""
    rest = arguments[1:] if arguments and isinstance(arguments[0], str) else arguments
    if len(rest) < 2 or (most is not None and len(rest) > most) or not callable(rest[1]):
        raise ViewTypeError(
            f"A parallel operation takes a label, which may be left out, a policy or a number of "
            f"indices, and a functor, not {arguments}."
        )
    policy = rest[0] if isinstance(rest[0], IterationPolicy) else _RangeType(None)(0, rest[0])
    return _ParallelCall(label, policy, rest[1], rest[2:])


def _run(given: _ParallelCall, functor: Functor, updates: tuple[Reduction, ...]) -> None:
    policy = given.policy
    if not policy.size:
        return
    context = policy.execution.context
    space = context.space
    with context, memory_of(space).bound(), THREAD.runs_at(space) as running:
        if not isinstance(functor, MarkedFunctor):
            _one_by_one(policy, functor, updates)
            return
        parts = policy.parts(MANY)
        for part in parts:
            if not _many_at_once(running, part, functor, updates):
                _one_by_one(IterationPolicy(policy.execution, part, policy.order), functor, updates)
                break
        for part in parts:
            _one_by_one(IterationPolicy(policy.execution, part, policy.order), functor, updates)


def _one_by_one(policy: IterationPolicy, functor: Functor, updates: tuple[Reduction, ...]) -> None:
    for point in policy.points():
        functor(*point, *updates)


def _many_at_once(
    running: RunningFunctor, bounds: Bounds, functor: Functor, updates: tuple[Reduction, ...]
) -> bool:
    """Call a functor for many indices; return False, without side effects, if unsupported."""
    shape = tuple(map(len, bounds))
    before = [update.value for update in updates]
    held = _numbers_at(running.space, bounds)
    indices = [Together(numbers) for _, numbers in held]
    try:
        with running.together(shape):
            for update in updates:
                update.shape = shape
            functor(*indices, *updates)
    except Exception:  # noqa: BLE001  # pylint: disable=broad-exception-caught
        # The fallback, one index at a time, either succeeds or raises the error for its index.
        for update, value in zip(updates, before, strict=True):
            update.shape = None
            update.value = value
        return False
    for update in updates:
        update.shape = None
    return True


def _numbers_at(space: MemorySpace, bounds: Bounds) -> list[tuple[CoherentBuffer, Any]]:
    """Return for each dimension the indices as an array in `space`, with its buffer."""
    found = []
    for axis, one in enumerate(bounds):
        shape = tuple(len(one) if other == axis else 1 for other in range(len(bounds)))
        numbers = np.arange(one.start, one.stop)
        buffer = CoherentBuffer(numbers.size, numbers.dtype)
        buffer.adopt(host_memory().adopt(numbers)[0])
        with buffer.acquire(space) as access:
            array = access.kernel_view(access.window(numbers.dtype, shape))
        found.append((buffer, array))
    return found


def _reducer(given: Any) -> Reducer:
    if isinstance(given, View):
        return Sum(given)
    if isinstance(given, Joining):
        return given()
    if not isinstance(given, Reducer):
        raise ViewTypeError(f"A reduction takes reducers such as Max(), or views, not {given!r}.")
    return given


def _executing(
    named: ExecutionSpace | None, arguments: tuple[Any, ...]
) -> tuple[ExecutionSpace, tuple[Any, ...]]:
    if arguments and isinstance(arguments[0], ExecutionSpace):
        return arguments[0], arguments[1:]
    return named or DefaultExecutionSpace(), arguments
