"""Reads what the LFRic programs of the run tests answer: the values of fields, from all ranks.

`lfric/world_mod.f90` says in which form they are written.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]
Answers = Mapping[str, Values]
"""The values of each field in the order of the ids of its dofs over all ranks; of a scalar, the
value, in an array without dimensions."""

NAME = 160
WORD = 8
SCALAR = -1
POISON = -1000003.0
"""What integers are that should not be used, where reals are NaN."""


def merge_answers(ranks: Iterable[bytes]) -> Answers:
    """Return the answers of all ranks; every dof must have been written by exactly one rank.

    Every rank reports the same names, those of fields of which it owns no dof, too.
    """
    scalars: dict[str, Values] = {}
    sizes: dict[str, int] = {}
    parts: dict[str, list[tuple[NDArray[np.int64], Values]]] = defaultdict(list)
    reported: list[set[str]] = []
    for written in ranks:
        found = list(records(written))
        reported.append({name for name, *_ in found})
        for name, size, ids, values in found:
            if size == SCALAR:
                value = scalars.setdefault(name, values.reshape(()))
                assert value.tobytes() == values.tobytes(), f"ranks differ: {name}"
            else:
                assert sizes.setdefault(name, size) == size, name
                parts[name].append((ids, values))
    assert scalars or parts, "there is no answer"
    odd = set[str]().union(*reported) - set.intersection(*reported)
    assert not odd, f"not all ranks report: {sorted(odd)}"
    assert not scalars.keys() & parts.keys()
    return scalars | {name: in_order(name, some, sizes[name]) for name, some in parts.items()}


def in_order(name: str, parts: list[tuple[NDArray[np.int64], Values]], size: int) -> Values:
    """Return the values of a field in the order of their ids, of which there is each once."""
    ids, values = (np.concatenate(pieces) for pieces in zip(*parts, strict=True))
    counted = np.bincount(ids, minlength=size)
    assert counted.max(initial=0) <= 1, f"two ranks own a dof of {name}"
    assert len(counted) == size == len(ids), f"some dofs are owned by no rank: {name}"
    merged = np.empty(size)
    merged[ids] = values
    return merged


def records(written: bytes) -> Iterator[tuple[str, int, NDArray[np.int64], Values]]:
    """Yield name, number of dofs over all ranks, ids and values; all NaNs have the same bits."""
    at = 0
    while at < len(written):
        name = written[at : at + NAME].decode().rstrip()
        size, here = np.frombuffer(written, np.int64, 2, at + NAME).tolist()
        at += NAME + 2 * WORD
        ids = np.frombuffer(written, np.int64, 0 if size == SCALAR else here, at)
        at += ids.nbytes
        values = np.frombuffer(written, np.float64, here, at).copy()
        at += values.nbytes
        values[np.isnan(values)] = np.nan
        yield name, size, ids, values
    assert at == len(written), "the last record is cut off"


def part_of(answers: Answers, algorithm: str) -> Answers:
    """Return the answers of one algorithm, on all meshes."""
    chosen = {name: values for name, values in answers.items() if name.split("/")[1] == algorithm}
    assert chosen
    return chosen


def differing(expected: Answers, computed: Answers) -> list[str]:
    """Return the names of the answers that differ in a bit of a value."""
    assert computed.keys() == expected.keys()
    assert all(computed[name].shape == values.shape for name, values in expected.items())
    return sorted(
        name for name, values in expected.items() if computed[name].tobytes() != values.tobytes()
    )


def invalid(answers: Answers) -> list[str]:
    """Return the names of the answers with a value that is no number, or untouched poison."""
    return sorted(
        name
        for name, values in answers.items()
        if not np.isfinite(values).all() or (values == POISON).any()
    )
