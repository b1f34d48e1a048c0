"""`GpuTask`: one kernel with its inputs, from their registration to their release.

    task = GpuTask("smooth").register(u, (slice(0, 100),)).register(v, ())
    task.run(smooth)

A task does not inspect the computation of its kernel. Its inputs perform all transfers.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Sequence
from enum import Enum
from typing import Any, Self, TypeAlias

from psyclone_storage.storage.accessors.accessor_buffer import buffer_of
from psyclone_storage.storage.accessors.stencil import Stencil, read_stencil
from psyclone_storage.storage.accessors.task_inputs import (
    Input,
    InputPlace,
    Registration,
    plan_inputs,
)
from psyclone_storage.storage.core.acquire import PendingAccesses
from psyclone_storage.storage.core.context import Context
from psyclone_storage.storage.core.device import default_device_id
from psyclone_storage.storage.core.errors import StorageError
from psyclone_storage.storage.core.forking import FORKS, ForkHandlers, nothing
from psyclone_storage.storage.core.futures import Future
from psyclone_storage.storage.core.locks import AccessMode, mode_of
from psyclone_storage.storage.core.spaces import (
    MemorySpace,
    SpaceKind,
    SpaceLike,
    device_space,
    memory_space,
)
from psyclone_storage.storage.core.token import AccessRequest, AccessToken
from psyclone_storage.storage.memory.registry import device_count, memory_of

Where: TypeAlias = "Context | SpaceLike"


class TaskState(Enum):
    """The state of a task: the last event that it has passed."""

    NEW = "new"
    SET_UP = "set up"
    PREPARED = "prepared"
    EXECUTED = "executed"


class GpuTask:
    """A kernel that runs on a device with registered inputs.

    Call `register` for each input, then `setup`, `prepare`, `execute` and `finalize`. `run`
    executes the last three, and `submit` does so without waiting. A finalised task may be run
    again. `thread` is the identifier of the thread that executes a submitted task.
    """

    def __init__(self, name: str, work: Callable[..., Any] | None = None) -> None:
        """Create a task; `work` is the default kernel of `run` and `submit`."""
        self.name = name
        self.state = TaskState.NEW
        self._work = work
        self._registrations: list[Registration] = []
        self._places: list[InputPlace] = []
        self._inputs: list[Input] = []
        self._opening: PendingAccesses | None = None
        self._failure: BaseException | None = None
        self._promise: Future[Any] | None = None
        self.thread: int | None = None

    @property
    def spaces(self) -> tuple[MemorySpace, ...]:
        """Return the memory space of each input, in the order of registration."""
        return tuple(place.space for place in self._places)

    @property
    def space(self) -> MemorySpace:
        """Return the space in which the kernel runs; raise `StorageError` before `setup`."""
        self._check("asked where it runs", TaskState.SET_UP, TaskState.PREPARED, TaskState.EXECUTED)
        return self._places[0].executing

    # -- before the run --------------------------------------------------------------------------

    def register(self, x: Any, stencil: Any = None, mode: AccessMode | str | None = None) -> Self:
        """Add an input: a buffer or another facade of one; return the task (ACC-30).

        `stencil` selects the elements to read (`read_stencil` lists the forms): None is all
        elements; `()` is empty and makes the input write-only. Otherwise `mode` defaults to read.
        For a read-only input, the stencil limits the copy, and the kernel receives a `Patch`. An
        input that is also written is copied completely, because the elements outside the stencil
        would be lost otherwise. Raises `ValueError` if stencil and mode contradict each other.
        """
        self._check("given an input", TaskState.NEW, TaskState.SET_UP)
        buffer, shape = buffer_of(x)
        selected = read_stencil(stencil, shape)
        chosen = _mode_of(mode, selected)
        if chosen is not AccessMode.READ:
            selected = None
        self._registrations.append(Registration(x, buffer, shape, selected, chosen))
        self.state = TaskState.NEW
        return self

    def setup(self, spaces: Where | Sequence[Where] = None) -> Self:
        """Choose the space of the task and of each input; return the task.

        Without `spaces`, the task runs on the device that requires the smallest transfers (ACC-33),
        with a preference for the default device. One space or context overrides the choice
        (ACC-34); a sequence does so for each input. Inputs in other spaces, such as `node:0:uvm`,
        must be accessible from the executing device. Raises `ValueError` for spaces that do not
        fit, `DeviceUnavailableError` without a device.
        """
        self._check("set up", TaskState.NEW, TaskState.SET_UP)
        if not self._registrations:
            raise StorageError(f'The task "{self.name}" has no input: register one.')
        self._places = _place(self._registrations, spaces)
        self.state = TaskState.SET_UP
        return self

    def mapping(self, x: Any) -> Stencil | None:
        """Return the stencil of input `x`, which maps global to local indices (ACC-35).

        Return None if `x` is read completely.
        """
        found = [r.stencil for r in self._registrations if r.face is x]
        if not found:
            raise StorageError(f'The task "{self.name}" has no such input: {x!r}.')
        return found[0]

    # -- the run ---------------------------------------------------------------------------------

    def prepare(self) -> Future[None]:
        """Request access to all inputs; the future resolves when they are ready (ACC-36).

        Raises `StorageError` if the task is already prepared.
        """
        return self._prepare(AccessRequest())

    def execute(self, work: Callable[..., Any] | None = None) -> Any:
        """Wait for the inputs, run `work` on the device, and return its result (ACC-37).

        `work` receives one argument for each input, in the order of registration: an array in the
        form that device kernels take, or the `Patch` of a stencil. Raises the errors of `work` and
        of the accesses, or `StorageError` if the task is not prepared.
        """
        self._check("executed", TaskState.PREPARED)
        kernel = work or self._work
        if kernel is None:
            raise StorageError(f'The task "{self.name}" has nothing to execute: give a function.')
        try:
            assert self._opening is not None
            self._opening.ready.result()
            self.state = TaskState.EXECUTED
            pairs = zip(self._inputs, self._registrations, strict=True)
            arguments = [used.argument(registration) for used, registration in pairs]
            return memory_of(self.space).run(kernel, *arguments)
        except BaseException as error:
            self._failure = error
            raise

    def finalize(self) -> Future[None]:
        """Release all inputs, whether or not the kernel failed (ACC-38, ACC-40).

        Data that a failed kernel could write are poisoned, and so are write-only data if the kernel
        did not run. The future resolves when the values have arrived in the spaces that the hints
        request.
        """
        self._check("finalised", TaskState.PREPARED, TaskState.EXECUTED)
        opening, failure = self._opening, self._failure
        assert opening is not None
        text = "The task that was to write the data was finalised unexecuted."
        executed = self.state is TaskState.EXECUTED

        def failure_of(token: AccessToken) -> BaseException | None:
            if executed:
                return failure
            return StorageError(text) if token.mode is AccessMode.WRITE_ONLY else None

        self._inputs, self._opening, self._failure = [], None, None
        self.state = TaskState.SET_UP
        try:
            return opening.close(failure_of, StorageError(text))
        except BaseException as interrupt:
            opening.close(failure_of, interrupt)
            raise

    def run(self, work: Callable[..., Any] | None = None) -> Any:
        """Prepare, execute and finalise; return the result of the kernel, or raise its error."""
        self._check("prepared", TaskState.NEW, TaskState.SET_UP)
        return self._finish(work, self.prepare)

    def submit(self, work: Callable[..., Any] | None = None) -> Future[Any]:
        """Execute `run` in a background thread; request the inputs before returning."""
        self.thread = None
        self._prepare(AccessRequest(owner=self, in_flight=True))
        assert self._opening is not None
        future: Future[Any] = Future(self._opening.ready.begin_wait)
        self._promise = future
        _SUBMITTED.add(self)

        def serve() -> None:
            self.thread = threading.get_ident()
            try:
                result = self._finish(work)
            except BaseException as error:  # noqa: BLE001  # pylint: disable=broad-exception-caught
                future.set_exception(error)
            else:
                future.set_result(result)

        thread = threading.Thread(target=serve, name=self.name, daemon=True)
        try:
            thread.start()
        except BaseException:
            if not thread.is_alive():
                self.finalize()
            raise
        return future

    def fail_elsewhere(self) -> None:
        """After a fork, fail the future of a task that no thread of the child process executes."""
        promise = self._promise
        if promise is None or promise.done() or self.thread == threading.get_ident():
            return
        text = f'The process was forked while the task "{self.name}" ran: submit it again.'
        promise.set_exception(StorageError(text))

    # -- private ---------------------------------------------------------------------------------

    def _prepare(self, request: AccessRequest) -> Future[None]:
        self._check("prepared", TaskState.NEW, TaskState.SET_UP)
        if self.state is TaskState.NEW:
            self.setup()
        self._inputs = plan_inputs(self._registrations, self._places)
        used = dict.fromkeys(self._inputs)
        opening = PendingAccesses([token for one in used for token in one.ask(request)])
        self._opening = opening  # first, so that the access can be ended once it has begun
        self.state = TaskState.PREPARED
        try:
            opening.begin()
        except BaseException as interrupt:
            opening.abandon(interrupt)
            self._opening = None
            self.state = TaskState.SET_UP
            raise
        return opening.ready

    def _finish(
        self, work: Callable[..., Any] | None, before: Callable[[], object] | None = None
    ) -> Any:
        """Execute and finalise; an interrupt at any point releases all inputs."""
        try:
            try:
                if before is not None:
                    before()
                return self.execute(work)
            finally:
                if self._opening is not None:
                    self.finalize()
        except BaseException:
            if self._opening is not None:
                self.finalize()
            raise

    def _check(self, what: str, *allowed: TaskState) -> None:
        if self.state not in allowed:
            raise StorageError(
                f'The task "{self.name}" cannot be {what}: it is {self.state.value}, and must be '
                f"{' or '.join(state.value for state in allowed)}."
            )

    def __repr__(self) -> str:
        return f'<GpuTask "{self.name}" {self.state.value}, {len(self._registrations)} inputs>'


def _mode_of(mode: AccessMode | str | None, stencil: Stencil | None) -> AccessMode:
    empty = stencil is not None and stencil.size == 0
    if mode is None:
        return AccessMode.WRITE_ONLY if empty else AccessMode.READ
    chosen = mode_of(mode)
    if empty and chosen is AccessMode.READ:
        raise ValueError("An empty stencil reads nothing: an input with it is written.")
    if stencil is not None and not empty and chosen is AccessMode.WRITE_ONLY:
        raise ValueError("A stencil says what is read, but the mode is write-only.")
    return AccessMode.WRITE_ONLY if empty else chosen


def _place(
    registrations: Sequence[Registration], spaces: Where | Sequence[Where]
) -> list[InputPlace]:
    if spaces is None:
        best = _cheapest(registrations)
        return [InputPlace(best, best) for _ in registrations]
    if isinstance(spaces, (str, MemorySpace, Context)):
        one = _space_of(spaces)
        return [InputPlace(one, one) for _ in registrations]
    wanted = [_space_of(space) for space in spaces]
    if len(wanted) != len(registrations):
        raise ValueError(f"{len(wanted)} spaces were given for {len(registrations)} inputs.")
    devices = [space for space in wanted if space.kind is SpaceKind.DEVICE]
    executing = devices[0] if devices else device_space()
    places = [InputPlace(space, executing) for space in wanted]
    for place in places:
        if not place.reachable:
            raise ValueError(f"A task at {executing.tag} cannot use memory at {place.space.tag}.")
    return places


def _cheapest(registrations: Sequence[Registration]) -> MemorySpace:
    """Return the device that requires the smallest transfers; break ties by hints and default."""
    default = device_space()
    memory_of(default)
    others = [device_space(n) for n in range(device_count()) if n != default_device_id()]

    def burden(space: MemorySpace) -> tuple[int, int]:
        hints = [registration.buffer.hints for registration in registrations]
        wishes = sum(space in (*hint.preferred, hint.access_via) for hint in hints)
        return sum(registration.cost_at(space) for registration in registrations), -wishes

    return min([default, *others], key=burden)


def _space_of(where: Where) -> MemorySpace:
    return where.space if isinstance(where, Context) else memory_space(where)


_SUBMITTED: weakref.WeakSet[GpuTask] = weakref.WeakSet()


def _fail_lost() -> None:
    """Fail the futures of all tasks that no thread of a child process executes."""
    for task in tuple(_SUBMITTED):
        task.fail_elsewhere()


FORKS.add(ForkHandlers(nothing, nothing, _fail_lost, last=True))
