"""Deferred functors: record operations symbolically, then execute them in batch on the device.

A functor that only computes (`KOKKOS_LAMBDA`) is called on submission, with objects that represent
many numbers (`Together`), as everywhere. Here these objects have no numbers yet: operations on them
become a list of steps, which enters the queue of the device as one work item. Values known to host
code (constants, indices) are captured on submission, as a functor of C++ is copied on submission.
Steps that need a number at once, such as a condition, are rejected: the caller has nothing to undo,
and executes the functor immediately. An index that is read from a view and is out of bounds for
another is also detected later: the target of the write becomes invalid.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from math import prod
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from psyclone_storage.storage.core.acquire import acquire_all
from psyclone_storage.storage.core.errors import ViewIndexError
from psyclone_storage.storage.core.locks import AccessMode
from psyclone_storage.storage.core.spaces import MemorySpace
from psyclone_storage.storage.core.token import AccessToken
from psyclone_storage.storage.core.values import as_stored, casts_quietly
from psyclone_storage.storage.kokkos.reducers import Reduction
from psyclone_storage.storage.kokkos.view_kernel import (
    THREAD,
    ElementPlaces,
    FunctorMemory,
    NotTogetherError,
    RunningFunctor,
    Together,
    as_index,
    bare,
    check_fit,
    check_number,
)

_READ, _WRITE, _BOTH = AccessMode.READ, AccessMode.WRITE_ONLY, AccessMode.READ_WRITE
FEW = 1 << 12
"""The number of indices that queued work may always hold."""
_PLAIN = (bool, int, float, complex)
Numbers = list[Any]
"""The results of the previous steps, one entry for each."""


class LaterNumbers(NDArrayOperatorsMixin):
    """Numbers that a step of a list makes, one for each index or one for all.

    `sample` is one of their type, which says nothing about the values.
    """

    __slots__ = ("_steps", "number", "sample", "shape")
    library = np
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, steps: WrittenSteps, sample: Any, shape: tuple[int, ...]) -> None:
        """Represent the result of the last of `steps`."""
        self._steps = steps
        self.number = len(steps.works) - 1
        self.sample = sample
        self.shape = shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """Return the type of the numbers."""
        return np.asarray(self.sample).dtype

    def astype(self, dtype: Any, *, copy: bool) -> LaterNumbers:
        """Record a conversion of the immutable numbers to another type."""
        assert not copy
        wanted = np.dtype(dtype)
        return self if self.dtype == wanted else self._steps.compute(_CASTS[wanted], (self,))

    def __array_ufunc__(self, function: Any, method: str, *inputs: Any, **words: Any) -> Any:
        """Write the operation down."""
        if method != "__call__" or words or function.nout != 1 or function.signature is not None:
            raise NotTogetherError(f"{function.__name__}.{method} is not written down.")
        return self._steps.compute(function, inputs)

    def __array_function__(self, function: Any, _: Any, inputs: Any, words: Any) -> Any:
        """Write the choice between numbers down."""
        if function is not np.where or words or len(inputs) != 3:
            raise NotTogetherError(f"{function.__name__} is not written down.")
        return self._steps.compute(np.where, inputs)


class WrittenSteps:
    """The recorded steps of a functor, and the memory that it uses."""

    def __init__(self) -> None:
        """Start with nothing."""
        self.works: list[Callable[[Numbers], Any]] = []
        self._known: dict[tuple[Any, ...], LaterNumbers] = {}
        self.used: dict[int, tuple[FunctorMemory, AccessMode]] = {}

    def compute(self, function: Callable[..., Any], inputs: Sequence[Any]) -> LaterNumbers:
        """Write down a function of numbers, for each index; what is known already is that."""
        given = tuple(map(_kept, inputs))
        key = (function, *map(_name_of, given))
        known = self._known.get(key)
        if known is not None:
            return known
        with np.errstate(all="ignore"):
            sample = function(*map(_sample_of, given))
        shape = np.broadcast_shapes(*map(_shape_of, given))

        def work(made: Numbers) -> Any:
            return function(*(_found(made, one) for one in given))

        made = self._known[key] = self.write(work, sample, shape)
        return made

    def write(
        self, work: Callable[[Numbers], Any], sample: Any = None, shape: tuple[int, ...] = ()
    ) -> LaterNumbers:
        """Add a step; return what it makes."""
        self.works.append(work)
        return LaterNumbers(self, sample, shape)

    def use(self, memory: FunctorMemory, mode: AccessMode) -> Any:
        """Record a use of memory; return the array that a step works on.

        What begins with writing all of it does not read what was there.
        """
        _, before = self.used.get(id(memory), (memory, mode))
        if before is _READ and mode.writes:
            before = _BOTH
        self.used[id(memory)] = (memory, before)
        return memory.elements

    def launch(self, count: int, *, wait: bool) -> Numbers | None:
        """Submit the steps to the device; if the call waits for them, return their results.

        The call also waits if `count`, the number of indices, is large compared to the memory: the
        steps hold the indices, which the queue does not track. All memory is acquired together.
        Raises the exceptions of an access, without submitting anything.
        """
        tokens: list[AccessToken] = [
            memory.buffer.token(memory.space, mode) for memory, mode in self.used.values()
        ]
        acquire_all(tokens)
        try:
            held = (memory for memory, _ in self.used.values())
            pairs = zip(tokens, held, strict=True)
            uses = tuple(use for token, one in pairs for use in token.uses_of(one.elements))
            work, device = partial(_done, tuple(self.works)), tokens[0].memory
            wait = wait or (count > FEW and count * 8 > sum(one.stop - one.start for one in uses))
            made: Numbers | None = device.start_and_wait(work, uses) if wait else None
            if not wait:
                device.start(work, uses)
        except BaseException as error:
            for token in tokens:
                token.give_back(error)
            raise
        for token in tokens:
            token.release()
        return made


class WritingFunctor(RunningFunctor):
    """The state while the steps of a functor are recorded."""

    __slots__ = ("steps",)

    def __init__(self, space: MemorySpace, shape: tuple[int, ...]) -> None:
        """Write down what is done at `space` for indices of a shape."""
        super().__init__(space)
        self.shape = shape
        self.steps = WrittenSteps()

    def position(self, layout: ElementPlaces, start: int, indices: tuple[Any, ...]) -> Together:
        """Return the positions of many elements; check indices read from views later."""
        is_known = not any(isinstance(bare(one), LaterNumbers) for one in indices)
        if is_known or layout.strides is None:
            return super().position(layout, start, indices)
        numbers = list(map(as_index, indices))
        for number, extent in zip(numbers, layout.extents, strict=True):
            check = partial(_check_inside, number, extent)
            if isinstance(number, LaterNumbers):
                self.steps.write(check)
            else:
                check([])
        return Together(start + layout.offset(numbers))

    def load(self, memory: FunctorMemory, position: Any) -> Any:
        """Write down that elements are read."""
        place = self._place_of(memory, position)
        array = self.steps.use(memory, _READ).held
        sample = array.dtype.type(1)
        read = self.steps.write(lambda made: array[_found(made, place)], sample, _shape_of(place))
        return Together(read)

    def store(self, memory: FunctorMemory, position: Any, value: Any) -> None:
        """Write down that elements are set."""
        place = self._place_of(memory, position)
        mode = _WRITE if _is_all(place, memory.elements.size) else _BOTH
        array, given = self._target(memory, mode, value, _shape_of(place))
        self.steps.write(lambda made: array.__setitem__(_found(made, place), _found(made, given)))

    def combine(self, memory: FunctorMemory, function: Any, position: Any, operand: Any) -> None:
        """Write down that elements are combined with others, for one index after the other."""
        shape = self.shape
        assert shape is not None
        place = self._place_of(memory, position)
        array, given = self._target(memory, _BOTH, operand, shape)
        combined = getattr(np, function.__name__)

        def work(made: Numbers) -> None:
            both = (np.broadcast_to(_found(made, one), shape) for one in (place, given))
            combined.at(array, *both)

        self.steps.write(work)

    def _target(
        self, memory: FunctorMemory, mode: AccessMode, value: Any, shape: tuple[int, ...]
    ) -> tuple[Any, Any]:
        """Return the array that is written, and the value in a form that it takes for sure."""
        check_number(value)
        array, given = self.steps.use(memory, mode).held, _kept(bare(value))
        if not isinstance(given, LaterNumbers):
            given = as_stored(given, array.dtype)
        elif given.dtype != array.dtype and not casts_quietly(given.dtype, array.dtype):
            raise NotTogetherError("Not all numbers may fit.")
        check_fit(_shape_of(given), shape)
        return array, given

    def _place_of(self, memory: FunctorMemory, position: Any) -> Any:
        if memory.space is not self.space or memory.buffer.dtype.kind not in "biufc":
            raise NotTogetherError("Such memory is used at once.")
        return bare(position)


def do_later(
    space: MemorySpace,
    bounds: Sequence[range],
    functor: Callable[..., Any],
    updates: Sequence[Reduction],
) -> bool:
    """Submit a functor to the device at `space`; return False, without side effects, on refusal.

    The call waits for reductions. Raises the exceptions of an access and, with reductions, those of
    the work.
    """
    shape = tuple(map(len, bounds))
    writing = WritingFunctor(space, shape)
    indices = [Together(_along(axis, bounds)) for axis in range(len(bounds))]
    try:
        with THREAD.runs_as(writing):
            for update in updates:
                update.shape, update.given = shape, []
            functor(*indices, *updates)
        joined = [_write_joined(writing.steps, update, shape) for update in updates]
    except Exception:  # noqa: BLE001  # pylint: disable=broad-exception-caught
        return False
    finally:
        for update in updates:
            update.shape = update.given = None
    count = prod(shape)
    made = writing.steps.launch(count, wait=bool(updates)) if writing.steps.used else None
    for update, parts in zip(updates, joined, strict=True):
        for part in parts:
            update.take(_found(made or [], part))
    return True


def _write_joined(steps: WrittenSteps, update: Reduction, shape: tuple[int, ...]) -> list[Any]:
    """Return what contributions come to, in their order: numbers, or those of a step."""

    def join(one: Any, made: Numbers) -> Any:
        return update.joined(_found(made, one), shape)

    return [
        steps.write(partial(join, one)) if isinstance(one, LaterNumbers) else join(one, [])
        for one in update.given or ()
    ]


def _along(axis: int, bounds: Sequence[range]) -> np.ndarray[Any, Any]:
    """Return the indices of one dimension, which vary along their axis."""
    one = bounds[axis]
    extents = [len(one) if other == axis else 1 for other in range(len(bounds))]
    return np.arange(one.start, one.stop).reshape(extents)


def _done(works: Sequence[Callable[[Numbers], Any]]) -> Numbers:
    """Do the steps; return what they made."""
    made: Numbers = []
    for work in works:
        made.append(work(made))
    return made


def _check_inside(number: Any, extent: int, made: Numbers) -> None:
    """Raise `ViewIndexError` if one of many indices is outside."""
    found = np.asarray(_found(made, number))
    outside = found[(found < 0) | (found >= extent)]
    if outside.size:
        raise ViewIndexError(f"An index is {outside[0]}, of a dimension of {extent} elements.")


def _found(made: Numbers, one: Any) -> Any:
    return made[one.number] if isinstance(one, LaterNumbers) else one


def _name_of(one: Any) -> tuple[Any, ...]:
    """Return a key that identifies an input of a step, as long as the step is cached."""
    if isinstance(one, LaterNumbers):
        return LaterNumbers, one.number
    if isinstance(one, np.ndarray):
        return (id(one),)
    # How many digits are printed of a number of NumPy is a matter of its options.
    return type(one), one.tobytes() if isinstance(one, np.generic) else repr(one)


def _kept(value: Any) -> Any:
    """Return an immutable value; convert an array of dimension 0 to its number.

    Raises `NotTogetherError` for an object that is neither a number nor numbers.
    """
    if isinstance(value, np.ndarray) and not value.ndim:
        value = value[()]
    is_known = isinstance(value, (np.ndarray, np.generic)) and value.dtype.kind in "biufc"
    if not (is_known or isinstance(value, LaterNumbers) or type(value) in _PLAIN):
        raise NotTogetherError(f"{type(value).__name__} may be changed before it is used.")
    return value


def _is_all(place: Any, size: int) -> bool:
    """Return whether the known positions cover all elements."""
    if isinstance(place, LaterNumbers) or np.size(place) < size:
        return False
    found = np.bincount(np.ravel(place), minlength=size)
    return found.size == size and bool(found.all())


def _as_int64(numbers: Any) -> Any:
    return np.asarray(numbers, np.int64)


_CASTS = {np.dtype(np.int64): _as_int64}
"""Recorded conversions; each is one function, so that equal steps are recognised."""


def _sample_of(value: Any) -> Any:
    if isinstance(value, LaterNumbers):
        return value.sample
    return value.dtype.type(1) if isinstance(value, np.ndarray) else value


def _shape_of(value: Any) -> tuple[int, ...]:
    return value.shape if isinstance(value, LaterNumbers) else np.shape(value)
