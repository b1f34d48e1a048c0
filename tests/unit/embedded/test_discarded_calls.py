"""A call of a kernel whose value is discarded is a warning at the line of the call."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable

import pytest

from psyclone_storage import lfric
from psyclone_storage.embedded.kernel import FortranKernel, RequestedCall, fortran_kernel
from psyclone_storage.gocean import (
    GO_CT,
    GO_INTERNAL_PTS,
    GO_OFFSET_ANY,
    GO_READ,
    GO_WRITE,
    field,
    kernel,
)


@kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_ANY)
def copy(new: field[GO_WRITE, GO_CT], old: field[GO_READ, GO_CT]):
    new[0, 0] = old[0, 0]


FORTRAN: FortranKernel = fortran_kernel("copy_mod.f90", "copy_type")


def statement() -> None:
    copy(1, 2)


def in_handler() -> None:
    try:
        int("no number")
    except ValueError:
        copy(1, 2)


def of_fortran() -> None:
    FORTRAN(1, 2)


def of_builtin() -> None:
    lfric.setval_c(1, 2)


def in_comprehension() -> None:
    [copy(1, 2) for _ in range(3)]  # pylint: disable=expression-not-assigned


def in_set() -> None:
    {copy(1, one) for _ in range(3) for one in (2, 3) if one}  # pylint: disable=expression-not-assigned


def in_tuples_of_comprehension() -> None:
    [(one, copy(1, one)) for one in (2, 3)]  # pylint: disable=expression-not-assigned


def in_nested_comprehension() -> None:
    [[copy(1, one) for one in (2, 3)] for _ in range(3)]  # pylint: disable=expression-not-assigned


def in_list_after_others() -> None:
    [*range(3), copy(1, 2)]  # pylint: disable=expression-not-assigned


def in_comprehension_of_loop() -> None:
    for _ in range(2):
        [copy(1, one) for one in (2, 3)]  # pylint: disable=expression-not-assigned


def in_tuple() -> None:
    1, copy(1, 2)  # pylint: disable=expression-not-assigned


@pytest.mark.parametrize(
    "discards",
    [
        statement,
        in_handler,
        of_fortran,
        of_builtin,
        in_comprehension,
        in_set,
        in_tuples_of_comprehension,
        in_nested_comprehension,
        in_list_after_others,
        in_comprehension_of_loop,
        in_tuple,
    ],
)
def test_a_discarded_call_is_a_warning_at_its_line(discards: Callable[[], None]) -> None:
    with pytest.warns(RuntimeWarning, match=r"has no effect.*write invoke\(") as found:
        discards()
    last = max(line for *_, line in discards.__code__.co_lines() if line)
    assert [(one.filename, one.lineno) for one in found] == [(__file__, last)]


def in_loop() -> None:
    for _ in range(5):
        copy(1, 2)


def test_a_loop_warns_once() -> None:
    with pytest.warns(RuntimeWarning) as found:
        in_loop()
    assert len(found) == 1


def listed() -> list[RequestedCall]:
    return [copy(1, 2) for _ in range(2)]


def stored() -> int:
    calls = [copy(1, 2) for _ in range(2)]
    more = (copy(1, 2), [copy(one, 2) for one in (1, 2)])
    str([copy(1, 2) for _ in range(2)])
    return len(calls) + len(more)


def appended() -> list[RequestedCall]:
    calls: list[RequestedCall] = []
    calls.append(copy(1, 2))
    return calls


def mapped() -> list[RequestedCall]:
    calls: list[RequestedCall] = []
    calls.extend(map(copy, (1, 2), (3, 4)))
    return calls


def conditional() -> RequestedCall | None:
    return copy(1, 2) if sys.argv else None


def dropped_by_an_exception() -> None:
    try:
        str((copy(1, 2), 1 // 0))
    except ZeroDivisionError:
        return


def evaluated() -> RequestedCall:
    made: RequestedCall = eval("copy(1, 2)")  # pylint: disable=eval-used
    return made


def interactive() -> None:
    exec(compile("copy(1, 2)", "<cell>", "single"), {"copy": copy})  # pylint: disable=exec-used


def invoke(*calls: RequestedCall) -> int:
    return len(calls)


def stored_before_break() -> int:
    calls: list[RequestedCall] = []
    for one in (1, 2):
        calls = [copy(one, 2)]
        break
    return invoke(*calls)


def stored_in_tuple_before_break() -> int:
    calls: tuple[RequestedCall, ...] = ()
    for one in (1, 2):
        calls = (copy(one, 2),)
        break
    return invoke(*calls)


def comprehension_stored_before_break() -> int:
    calls: list[RequestedCall] = []
    for _ in range(2):
        calls = [copy(one, 2) for one in (1, 2)]
        break
    return invoke(*calls)


def appended_by_comprehension() -> int:
    held: list[tuple[int, RequestedCall]] = []
    [held.append((one, copy(one, 2))) for one in (1, 2)]  # type: ignore[func-returns-value]  # pylint: disable=expression-not-assigned
    return invoke(*[call for _, call in held])


def extended_by_comprehension() -> int:
    held: list[RequestedCall] = []
    [held.extend([copy(one, 2)]) for one in (1, 2)]  # type: ignore[func-returns-value]  # pylint: disable=expression-not-assigned
    return invoke(*held)


def lists_appended_by_comprehension() -> int:
    held: list[list[RequestedCall]] = []
    [held.append([copy(one, 2) for one in (1, 2)]) for _ in range(2)]  # type: ignore[func-returns-value]  # pylint: disable=expression-not-assigned
    return invoke(*held[0], *held[1])


def invoked_by_comprehension() -> None:
    [invoke(*[copy(one, 1), copy(one, 2)]) for one in (1, 2)]  # pylint: disable=expression-not-assigned


def appended_to_default() -> int:
    held: dict[str, list[tuple[str, RequestedCall]]] = {}
    [held.setdefault("x", []).append((str(one), copy(one, 2))) for one in (1, 2)]  # type: ignore[func-returns-value]  # pylint: disable=expression-not-assigned
    return invoke(*[call for _, call in held["x"]])


def named_in_comprehension() -> int:
    made: RequestedCall | None = None
    [(made := copy(one, 2)) for one in (1, 2)]  # pylint: disable=expression-not-assigned
    return invoke(made) if made else 0


def interactive_comprehension() -> None:
    text = "[copy(1, 2) for _ in range(2)]"
    exec(compile(text, "<cell>", "single"), {"copy": copy})  # pylint: disable=exec-used


def refused() -> None:
    with pytest.raises(TypeError):
        copy(1)


@pytest.mark.parametrize(
    "uses",
    [
        listed,
        stored,
        appended,
        mapped,
        conditional,
        dropped_by_an_exception,
        evaluated,
        interactive,
        interactive_comprehension,
        stored_before_break,
        stored_in_tuple_before_break,
        comprehension_stored_before_break,
        appended_by_comprehension,
        extended_by_comprehension,
        lists_appended_by_comprehension,
        invoked_by_comprehension,
        appended_to_default,
        named_in_comprehension,
        refused,
    ],
)
def test_a_used_call_does_not_warn(uses: Callable[[], object]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        uses()


def two_in_loop() -> None:
    for one in (lfric.setval_c, lfric.setval_X) * 2:
        one(1, 2)


def test_each_kernel_that_one_statement_calls_is_checked() -> None:
    with pytest.warns(RuntimeWarning, match="has no effect") as found:
        two_in_loop()
    assert [str(item.message).split("'")[1] for item in found] == ["setval_c", "setval_X"]
