"""Requirements on the data of an invoke, which the runtime checks.

Compiled code assumes correct metadata: arguments of a kernel on one space share a dofmap, and all
are on one mesh unless metadata define otherwise. The runtime checks this when a routine first
receives the data.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping

from psyclone_storage.infrastructures.lfric import spaces_meant
from psyclone_storage.ir.kernel import ArgKind, KernelArg
from psyclone_storage.ir.walk import kernel_calls
from psyclone_storage.lowering.infrastructure import LoweringContext
from psyclone_storage.targets.lfric_python import abi
from psyclone_storage.targets.lfric_python.min_dofs import least_dofs

_WORDS = {
    ArgKind.FIELD: "field",
    ArgKind.OPERATOR: "operator",
    ArgKind.COLUMNWISE_OPERATOR: "columnwise_operator",
}
OperatorSide = tuple[str, str]
"""The name of a datum, and which of its spaces is meant: '' for a field's."""


class _Groups:
    """Groups of equal objects, numbered from 1 in order of appearance (union-find)."""

    def __init__(self) -> None:
        self._above: dict[Hashable, Hashable] = {}

    def join(self, one: Hashable, other: Hashable) -> None:
        """Merge the groups of two objects."""
        first, second = self._top(one), self._top(other)
        if first != second:
            self._above[second] = first

    def numbers(self, members: Iterator[Hashable]) -> dict[Hashable, int]:
        """Return the group number of each member."""
        tops: dict[Hashable, int] = {}
        return {one: tops.setdefault(self._top(one), len(tops) + 1) for one in members}

    def _top(self, one: Hashable) -> Hashable:
        while one in self._above:
            one = self._above[one]
        return one


def argument_contracts(context: LoweringContext) -> Mapping[str, str]:
    """Return the requirements on each field and operator of an invoke, by name."""
    spaces, meshes = _Groups(), _Groups()
    args: dict[str, list[KernelArg]] = {}
    for name, arg, number in _arguments(context):
        args.setdefault(name, []).append(arg)
        of_call = number if context.several_meshes else 0
        meshes.join(("mesh", of_call, arg.mesh), name)
        for side, space in _sides(arg):
            spaces.join(("call", number, space, arg.mesh, arg.numbering), (name, side))
            if not context.several_meshes and not space.startswith("any_"):
                spaces.join(("invoke", space), (name, side))
    by_space = spaces.numbers(
        (name, side) for name, found in args.items() for side, _ in _sides(found[0])
    )
    by_mesh = meshes.numbers(iter(args))
    least = _least_dofs(context)
    return {
        name: " ".join((*_words(found, name, by_mesh, by_space), *least.get(name, ())))
        for name, found in args.items()
    }


def _least_dofs(context: LoweringContext) -> Mapping[str, list[str]]:
    """Return the minimum numbers of dofs per cell, as requirements by datum name."""
    needed: dict[OperatorSide, int] = {}
    for call in kernel_calls(context.schedule):
        for position, side, number in least_dofs(call):
            key = context.datum(call, position).name, side
            needed[key] = max(number, needed.get(key, 1))
    words: dict[str, list[str]] = {}
    for (name, side), number in needed.items():
        if number > 1:
            words.setdefault(name, []).append(f"{abi.DOFS_OF[side]}={number}")
    return words


def _arguments(context: LoweringContext) -> Iterator[tuple[str, KernelArg, int]]:
    """Yield each passed datum with its metadata description and the number of the call."""
    for number, call in enumerate(kernel_calls(context.schedule), 1):
        for position, arg in enumerate(call.kernel.args):
            if not arg.kind.is_scalar:
                yield context.datum(call, position).name, arg, number


def _sides(arg: KernelArg) -> tuple[OperatorSide, ...]:
    if arg.kind.is_operator:
        return ("to", arg.space), ("from", arg.space_from)
    return (("", arg.space),)


def _words(
    args: list[KernelArg],
    name: str,
    by_mesh: Mapping[Hashable, int],
    by_space: Mapping[Hashable, int],
) -> Iterator[str]:
    first = args[0]
    yield _WORDS[first.kind]
    yield f"{'surface' if any(arg.layers for arg in args) else 'mesh'}={by_mesh[name]}"
    for at, (side, _) in enumerate(_sides(first)):
        allowed = [spaces_meant(_sides(arg)[at][1]) for arg in args]
        told = [set(names) for names in allowed if names]
        names = sorted(set.intersection(*told)) if told else []
        contradiction = ":" if told else ""
        yield f"{abi.SPACE_OF[side]}={by_space[name, side]}{contradiction}{','.join(names)}"
    for word, stated in (
        (abi.LAYERS, [arg.layers for arg in args]),
        (abi.NDATA, [arg.data_per_dof for arg in args]),
    ):
        for number in sorted({text for text in stated if text.isdecimal()}):
            yield f"{word}={number}"
