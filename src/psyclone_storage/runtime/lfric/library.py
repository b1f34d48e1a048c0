"""Python interface to the Fortran library that creates meshes and function spaces.

`external/lfric_infrastructure` is compiled when it is first needed. It has no communication of its
own. It requests numbers from other ranks by a callback to `Ranks`. Its objects are identified by
handles, and its data are visible as arrays that share its memory.
"""

from __future__ import annotations

import ctypes
import platform
import threading
import weakref
from collections import deque
from collections.abc import Callable, Mapping
from functools import cache, partial
from operator import index
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from psyclone_storage.base.compilers import (
    FORTRAN_VARIABLE,
    NoCompilerError,
    compiler_options,
    find_fortran_compiler,
    why_not_found,
)
from psyclone_storage.base.package_files import shared_file
from psyclone_storage.runtime.compiling import compile_library, identity_of, library_key, load_kept
from psyclone_storage.runtime.ranks import Ranks

Array = np.ndarray[Any, Any]
T = TypeVar("T")

_SOURCES = "external/lfric_infrastructure"
_LISTED = "c_interface/files.txt"
_OPTIONS = ("-O1", "-ffp-contract=off", "-fPIC", "-shared", "-w")
_ROOM_OF_MESSAGE = 256
_ROOM_OF_LIST = 64


class _ListEntry(ctypes.Structure):
    """Number or array in a list returned by the library."""

    _fields_ = (
        ("name", ctypes.c_char * 48),
        ("address", ctypes.c_void_p),
        ("extents", ctypes.c_int64 * 4),
        ("dimensions", ctypes.c_int),
        ("holds", ctypes.c_int),
    )


_ELEMENTS: Mapping[int, Any] = {
    1: np.dtype(np.int32),
    2: np.dtype(np.int64),
    3: np.dtype(np.float64),
}
_NUMBER = 0

_int, _handle, _double = ctypes.c_int, ctypes.c_int64, ctypes.c_double
_Ints, _Doubles = ctypes.POINTER(_int), ctypes.POINTER(_double)
_Entries, _Handle = ctypes.POINTER(_ListEntry), ctypes.POINTER(_handle)
_Swap = ctypes.CFUNCTYPE(
    _int,
    ctypes.c_void_p,
    ctypes.POINTER(ctypes.c_int32),
    ctypes.POINTER(ctypes.c_int32),
    ctypes.POINTER(ctypes.c_void_p),
)
_TYPES: Mapping[str, tuple[Any, ...]] = {
    "use_ranks": (_int, _int, _Swap),
    "free": (_handle,),
    "count_objects": (),
    "new_plane": (_Ints, _Doubles, _Ints, _int, _int, _int, _Handle, ctypes.c_char_p),
    "new_sphere": (_int, _int, _int, _int, _Handle, ctypes.c_char_p),
    "new_mesh": (_handle, _int, _double, _double, _int, _Doubles, _Ints, _Handle, ctypes.c_char_p),
    "describe_mesh": (_handle, _Entries, _int),
    "describe_kinds": (_Entries, _int),
    "describe_map": (_handle, _handle, _Entries, ctypes.c_char_p),
    "space_named": (ctypes.c_char_p, _int),
    "new_space": (_handle, _int, _Ints, _int, _int, _Handle, ctypes.c_char_p),
    "describe_space": (_handle, _Entries, _int),
    "describe_stencil": (_handle, _int, _int, _Entries, ctypes.c_char_p),
    "describe_routing": (_handle, _int, _Entries, ctypes.c_char_p),
    "new_columns": (_handle, _handle, _int, _Ints, _handle, _handle, _Handle, ctypes.c_char_p),
    "describe_columns": (_handle, _Entries, _int),
    "evaluate_basis": (_handle, _int, _int, ctypes.c_void_p, ctypes.c_void_p),
    "dof_coordinates": (_handle, ctypes.c_void_p),
    "quadrature_xyoz": (_int, _Ints, *(ctypes.c_void_p,) * 4),
    "quadrature_face": (_int, _Ints, _int, _int, ctypes.c_void_p, ctypes.c_void_p),
    "quadrature_edge": (_int, _int, _int, _int, ctypes.c_void_p, ctypes.c_void_p),
}
"""The functions of the library, without the prefix of their names, and their parameter types."""
_RESULTS: Mapping[str, Any] = {"use_ranks": None, "count_objects": ctypes.c_int64}


class HeldObject:
    """Object of the library, which is freed when its last reference in Python is deleted."""

    __slots__ = ("__weakref__", "number")

    def __init__(self, library: InfrastructureLibrary, number: int) -> None:
        self.number = number
        free = weakref.finalize(self, library.free, number)
        free.atexit = False  # the end of the process frees it


class _Window:
    """Array of the library, which is kept while a view of it exists."""

    __slots__ = ("__array_interface__", "owner")

    def __init__(self, entry: _ListEntry, owner: HeldObject) -> None:
        dtype = _ELEMENTS[entry.holds]
        shape = tuple(entry.extents[: entry.dimensions])
        strides = [dtype.itemsize]
        for extent in shape[:-1]:
            strides.append(strides[-1] * extent)
        self.owner = owner
        self.__array_interface__ = {
            "shape": shape,
            "strides": tuple(strides),
            "typestr": dtype.str,
            "data": (entry.address, True),
            "version": 3,
        }


def _seen(entry: _ListEntry, owner: HeldObject) -> Array:
    """Return a read-only array that shares the memory of the library."""
    if entry.address is None:
        shape = tuple(entry.extents[: entry.dimensions])
        nothing: Array = np.empty(shape, _ELEMENTS[entry.holds], order="F")
        nothing.flags.writeable = False
        return nothing
    found: Array = np.asarray(_Window(entry, owner))
    return found


def numbers_of(values: Any, kind: Any = _int) -> Any:
    """Return numbers as a C array."""
    return (kind * len(values))(*(map(_whole, values) if kind is _int else values))


def _whole(value: Any) -> int:
    """Return an integer unchanged after a check of its range, which C does not do.

    Raises:
        ValueError: the integer has more than 32 bits.
        TypeError: `value` is not an integer.
    """
    found = index(value)
    if not -(2**31) <= found < 2**31:
        raise ValueError(f"{found} is more than numbers of 32 bits can count.")
    return found


class InfrastructureLibrary:
    """Functions of the library, called by one thread at a time."""

    def __init__(self, loaded: ctypes.CDLL) -> None:
        self._lock = threading.RLock()
        self._under_way = False
        self._unneeded: deque[int] = deque()
        self._functions: dict[str, Any] = {}
        for name, types in _TYPES.items():
            function = loaded[f"lfric_{name}"]
            function.argtypes, function.restype = types, _RESULTS.get(name, _int)
            self._functions[name] = function

    def call(self, name: str, *arguments: Any) -> int:
        """Call a function and return its result.

        Raises:
            ValueError: a number has more bits than the function takes.
            TypeError: an argument is not a number.
        """
        types = _TYPES[name]
        passed = [
            _whole(one) if kind is _int else one for one, kind in zip(arguments, types, strict=True)
        ]
        with self._lock:
            self._under_way = True
            try:
                found: int = self._functions[name](*passed)
            except ctypes.ArgumentError as error:
                raise TypeError(f"What a mesh or a space is made of has a type: {error}") from error
            finally:
                self._under_way = False
        self._free_unneeded()
        return found

    def ask(self, name: str, *arguments: Any) -> None:
        """Call a function that validates arguments.

        Raises:
            ValueError: the function reports a problem.
        """
        message = ctypes.create_string_buffer(_ROOM_OF_MESSAGE)
        if self.call(name, *arguments, message):
            words = message.value.decode()
            raise ValueError(f"{words[:1].upper()}{words[1:]}.")

    def new(self, name: str, ranks: Ranks, *arguments: Any) -> HeldObject:
        """Call a function that creates an object, on one of several ranks.

        Raises:
            ValueError: the object cannot be created.
        """
        number = _handle()
        with self._as_rank_of(ranks):
            self.ask(name, *arguments, ctypes.byref(number))
        return HeldObject(self, number.value)

    def free(self, number: int) -> None:
        """Free the object of a handle, immediately or after the call in progress.

        Garbage collection may happen at any time, even while Fortran code requests numbers of other
        ranks from Python.
        """
        self._unneeded.append(number)
        self._free_unneeded()

    def _free_unneeded(self) -> None:
        """Free unreferenced objects; during a call, the calling thread does so afterwards."""
        # If another thread has the lock, that thread frees the objects.
        # pylint: disable-next=consider-using-with
        while self._unneeded and self._lock.acquire(blocking=False):
            try:
                if self._under_way:
                    return
                self._functions["free"](self._unneeded.popleft())
            finally:
                self._lock.release()

    def listed(self, name: str, held: HeldObject) -> dict[str, Any]:
        """Return the values that the library lists for an object, by name."""
        entries = (_ListEntry * _ROOM_OF_LIST)()
        count = self.call(name, held.number, entries, _ROOM_OF_LIST)
        return self._read(entries[:count], held)

    def kinds(self) -> dict[str, int]:
        """Return the number of bits of each kind by name, negative for integers."""
        entries = (_ListEntry * _ROOM_OF_LIST)()
        count = self.call("describe_kinds", entries, _ROOM_OF_LIST)
        return {entry.name.decode(): int(entry.extents[0]) for entry in entries[:count]}

    def shown(
        self, name: str, held: HeldObject, count: int, *arguments: Any, ranks: Ranks | None = None
    ) -> dict[str, Any]:
        """Return the `count` arrays that a function of the library lists, by name.

        With `ranks`, the call is collective.

        Raises:
            ValueError: the library lists no arrays.
        """
        entries = (_ListEntry * count)()
        if ranks is None:
            self.ask(name, held.number, *arguments, entries)
        else:
            with self._as_rank_of(ranks):
                self.ask(name, held.number, *arguments, entries)
        return self._read(entries, held)

    def _read(self, entries: Any, owner: HeldObject) -> dict[str, Any]:
        return {
            entry.name.decode(): int(entry.extents[0])
            if entry.holds == _NUMBER
            else _seen(entry, owner)
            for entry in entries
        }

    def _as_rank_of(self, ranks: Ranks) -> _RankOfCaller:
        return _RankOfCaller(self._lock, self._functions["use_ranks"], ranks)


class _RankOfCaller:
    """Context in which the library is one of several ranks and can exchange numbers with them."""

    def __init__(self, lock: Any, use_ranks: Any, ranks: Ranks) -> None:
        self._lock, self._use_ranks, self._ranks = lock, use_ranks, ranks
        self._failure: BaseException | None = None
        self._kept: Any = None
        self._callback = _Swap(self._swap)

    def __enter__(self) -> None:
        """Wait for other threads, and set the ranks of the library."""
        self._lock.acquire()
        self._use_ranks(self._ranks.rank, self._ranks.size, self._callback)

    def __exit__(self, *error: object) -> None:
        """Release other threads; raise an error that occurred in the communication."""
        self._lock.release()
        if self._failure is not None:
            raise self._failure

    def _swap(self, ids: Any, counts: Any, received_counts: Any, received: Any) -> int:
        """Exchange numbers between ranks.

        Exceptions are stored, because Fortran cannot raise them.
        """
        try:
            sizes = counts[: self._ranks.size]
            ends = np.cumsum(sizes)
            total = int(ends[-1])
            sent = np.empty(0, np.int64)
            if total:
                sent = np.ctypeslib.as_array((ctypes.c_int64 * total).from_address(ids))
            parts = self._ranks.swapped(np.split(sent, ends[:-1]))
            self._kept = np.concatenate(parts)
            for rank, part in enumerate(parts):
                received_counts[rank] = len(part)
            received[0] = self._kept.ctypes.data
        except BaseException as error:  # noqa: BLE001  # pylint: disable=broad-exception-caught
            self._failure = error
            return 1
        return 0


def agreed(ranks: Ranks, work: Callable[[], T]) -> T:
    """Execute `work` on all ranks; if it fails on one rank, raise an error on all ranks.

    Raises:
        ValueError: it fails on another rank; on this rank, the original exception is raised.
    """
    failure: Exception | None = None
    try:
        made = work()
    except Exception as error:  # noqa: BLE001  # pylint: disable=broad-exception-caught
        failure = error
    told = ranks.gathered(None if failure is None else str(failure) or type(failure).__name__)
    if failure is not None:
        raise failure
    for rank, words in enumerate(told):
        if words is not None:
            raise ValueError(f"On rank {rank}: {words}")
    return made


def infrastructure(ranks: Ranks) -> InfrastructureLibrary:
    """Return the library; if it must be compiled, the first rank compiles it.

    Raises:
        NoCompilerError: the library must be compiled, but cannot be.
    """
    if ranks.size > 1 and ranks.rank > 0:
        ranks.wait_for_all()
        return _library()
    try:
        return _library()
    finally:
        if ranks.size > 1:
            ranks.wait_for_all()


@cache
def _library() -> InfrastructureLibrary:
    root = shared_file(_SOURCES)
    sources = [root / name for name in (root / _LISTED).read_text(encoding="utf-8").split()]
    texts = [path.read_text(encoding="utf-8") for path in (*sources, *_included(root))]
    options = " ".join((*compiler_options(FORTRAN_VARIABLE), *_OPTIONS))
    digest, last = (
        library_key(platform.machine(), compiler, options, *texts)
        for compiler in (identity_of(find_fortran_compiler()), "")
    )
    build = partial(_build, sources)
    return InfrastructureLibrary(load_kept(digest, build, one_builds=True, last=last))


def _included(root: Path) -> list[Path]:
    return sorted(root.parent.glob("storage/*.inc"))


def _build(sources: list[Path], folder: Path, made: Path) -> None:
    compiler = find_fortran_compiler()
    if compiler is None:
        raise NoCompilerError(
            "There is no Fortran compiler for the meshes and function spaces of LFRic: "
            f"{why_not_found(FORTRAN_VARIABLE)}. Install gfortran, or name a compiler that accepts "
            f"its options in the variable {FORTRAN_VARIABLE}. MPI is not needed for that."
        )
    files = map(str, sources)
    command = [
        str(compiler),
        *compiler_options(FORTRAN_VARIABLE),
        *_OPTIONS,
        f"-J{folder}",
        *files,
        "-o",
        str(made),
    ]
    compile_library(command, made, "LFRic's infrastructure")
