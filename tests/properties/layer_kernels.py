"""Random kernels with loops over layers whose statements have conditions on the layer.

Some scalars pass values from layer to layer. Conditions compare the layer with numbers of layers,
constants and scalars, also of extreme values; they are nested, repeated, negated and combined with
conditions on values.
"""

from __future__ import annotations

import random

HEAD = """\
from psyclone_storage.gocean import *


@kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_ANY)
def column(
    new: field[GO_READWRITE, GO_CT, GO_LAYERS],
    old: field[GO_READ, GO_CT, GO_STENCIL("000,111,000"), GO_LAYERS],
    way: scalar[GO_READ, GO_I_SCALAR],
    other: scalar[GO_READ, GO_I_SCALAR],
):
    top = len(layers()) - 1
    end = top
    sum1 = 0.5
    sum2 = -0.25
"""
LOOPS = (
    "layers()", "layers()", "layers()", "reversed(layers())", "reversed(layers())",
    "reversed(layers())", "range(1, len(layers()))", "range(len(layers()) - 1, 0, -1)",
    "range(1, top)", "range(top - 1, -1, -1)", "range(2, len(layers()))", "range(top + 1)",
)  # fmt: skip
BOUNDS = (
    "0",
    "1",
    "top",
    "top - 1",
    "top",
    "len(layers())",
    "way",
    "other",
    "end",
    "3",
    "30",
    "32",
)
COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")


class LayerKernelWriter:
    """A writer of one kernel; equal seeds have equal kernels."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._known: list[str] = []
        self._is_wild = self._random.random() < 0.2

    def kernel(self) -> str:
        """Return the text of a module with the kernel `column`."""
        lines = [HEAD]
        for _ in range(self._random.choice((1, 1, 2))):
            self._known = []
            lines.append(f"    for k in {self._random.choice(LOOPS)}:\n")
            lines += self._loaded(8)
            count = self._random.randint(3, 7)
            where = self._random.randrange(count)
            for at in range(count):
                lines += self._sum(8) if at == where else []
                lines += self._statement(8, 3)
            lines.append(f"        new[0, 0, k] = {self._value()}\n")
        lines.append("    new[0, 0, 0] += sum1 - sum2\n")
        return "".join(lines)

    def _loaded(self, indent: int) -> list[str]:
        found = []
        for name, element in (("here", "old[0, 0, k]"), ("east", "old[1, 0, k]")):
            found.append(f"{' ' * indent}{name} = {element}\n")
            self._known.append(name)
        for name in ("share", "part"):
            found.append(f"{' ' * indent}{name} = (east - here) / (1.5 + here * here)\n")
            self._known.append(name)
        return found

    def _value(self) -> str:
        choose = self._random.choice
        first, second = (choose([*self._known, "sum1", "sum2"]) for _ in range(2))
        return choose((
            f"{first} + {second}", f"0.5 * {first} - {second}", self._quotient(first, second),
            f"max({first}, 0.25) * 0.5 + {second}", f"{first} * 0.125", f"{first} - old[-1, 0, k]",
        ))  # fmt: skip

    def _quotient(self, first: str, second: str) -> str:
        """Return a quotient, which columns compute together, or mostly a product."""
        return f"{first} / (2.0 + {second})" if self._is_wild else f"{first} * {second}"

    def _condition(self) -> str:
        choose = self._random.choice
        plain = f"k {choose(COMPARISONS)} {choose(BOUNDS)}"
        turned = f"{choose(BOUNDS)} {choose(COMPARISONS)} k"
        value = f"{choose(['here', 'old[0, 0, k]', 'way', 'sum1'])} > {choose(['0', '1'])}"
        return choose((
            plain, plain, plain, plain, turned, turned, f"not {plain}", f"{plain} and {turned}",
            f"{plain} or {turned}", f"{plain} and {value}", f"{value} and {turned}",
            f"not ({plain} or {turned})", f"{plain} or {value}", value, "k % 2 == 0",
            f"0 < k < {choose(BOUNDS)}", f"k + 1 < {choose(BOUNDS)}",
        ))  # fmt: skip

    def _statement(self, indent: int, depth: int) -> list[str]:
        """Return the lines of a statement."""
        space, choose = " " * indent, self._random.choice
        kind = self._random.random()
        if kind < 0.4 and depth:
            return self._choice(indent, depth)
        if kind < 0.48 and self._is_wild:
            return self._sum(indent)
        if kind < 0.68:
            return [f"{space}new[0, 0, k] = new[0, 0, k] * 0.5 + {self._value()}\n"]
        if kind < 0.7 and self._is_wild:
            return [f"{space}end = end - 1\n"]
        if kind < 0.8 and indent == 8:
            name = f"value{len(self._known)}"
            lines = [f"{space}{name} = {self._value()}\n"]
            self._known.append(name)
            return lines
        name = choose(self._known[3:])
        return [f"{space}{name} = {self._value()}\n"]

    def _sum(self, indent: int) -> list[str]:
        """Return the statements that pass values to the next layer."""
        space, choose = " " * indent, self._random.choice
        added = choose(self._known[: None if self._is_wild else 3])
        first = f"{space}sum1 = sum1 * 0.5 + {added}\n"
        second = choose((
            f"{space}sum2 = sum1\n", f"{space}sum2 += share\n", f"{space}sum2 -= sum1 * here\n",
            f"{space}if {self._condition()}:\n{space}    sum2 += share\n",
        ))  # fmt: skip
        return choose(([first], [first, second], [second, first]))

    def _choice(self, indent: int, depth: int) -> list[str]:
        space = " " * indent
        lines = [f"{space}if {self._condition()}:\n"]
        inside = lambda: [  # noqa: E731 - the lines of one branch
            line
            for _ in range(self._random.randint(1, 2))
            for line in self._near(indent + 4, depth)
        ]
        lines += inside()
        if self._random.random() < 0.3:
            lines += [f"{space}elif {self._condition()}:\n", *inside()]
        if self._random.random() < 0.4:
            lines += [f"{space}else:\n", *inside()]
        return lines

    def _near(self, indent: int, depth: int) -> list[str]:
        """Return a statement that may read the layers around under conditions of its own."""
        space, choose = " " * indent, self._random.choice
        if self._random.random() < 0.3:
            name = choose(self._known[3:])
            if self._random.random() < 0.5:
                above = (
                    f"{space}if k < top:\n{space}    {name} += old[0, 0, k + 1] * {self._value()}\n"
                )
                return [above]
            return [f"{space}if k > 0:\n{space}    {name} -= old[0, 0, k - 1] * {self._value()}\n"]
        return self._statement(indent, depth - 1)
