"""Random programs whose statements share lines in all the ways that Fortran allows."""

from __future__ import annotations

import random

_SIMPLE = (
    "x(i) = x(i) + 1", "s = 'a;b!c'", "s = 'it''s ; \"! no'", "y = a + & ! why\n     & b",
    "s = 'ab&\n  &cd'", "if (c) z = 1", "if (c) &\n    z = 2", "call f(x, 1)", "where (m) v = 0",
    "forall (k = 1:n) w(k) = 0", "continue",
)  # fmt: skip
_SEPARATORS = ("\n", "\n", "\n", " ; ", ";", "; ;", ";  & ! joined\n ", "; &\n   & ", ";&\n\n&",
               " &\n ; ", "; & ! joined\n  ! between\n  &")  # fmt: skip
_LINE_ENDS = ("\n", "\n", " ! note; do i = 1, 2\n", "; ! note\n", "\n\n", "\n! note & \n", "\n\n\n",
              "\n#define A\n", "\n!$ y = 1\n", "\n!$omp barrier\n", " \t\n")  # fmt: skip


class Program:
    """A program made of random numbers; its `text`."""

    def __init__(self, seed: int) -> None:
        self._rng = random.Random(seed)
        self._labels = 10
        self._parts: list[str] = []
        self._run = ""
        newline = self._rng.choice(("\n", "\n", "\r\n"))
        self._add(self._rng.choice(("program p", "subroutine p")))
        if self._rng.random() < 0.5:
            self._add("integer :: i")
        self._block(3, self._rng.randint(1, 5))
        self._parts.append("end")
        end = self._rng.choice(("\n", "", " ! end"))
        self.text = ("".join(self._parts).lstrip(" ;&\n") + end).replace("\n", newline)

    def _add(self, statement: str) -> None:
        """Add a statement and what separates it from the next one."""
        if statement:
            ends = _SEPARATORS if self._rng.random() < 0.6 else _LINE_ENDS
            self._parts += [statement, self._rng.choice(ends)]

    def _block(self, depth: int, count: int) -> None:
        for _ in range(count):
            self._statement(depth)

    def _label(self) -> str:
        self._labels += 10
        return str(self._labels)

    def _statement(self, depth: int) -> None:
        rng = self._rng
        label = f"{self._label()} " if rng.random() < 0.1 else ""
        if depth == 0 or rng.random() < 0.3:
            self._add(label + rng.choice(_SIMPLE))
            return
        kinds = (self._loop, self._loop, self._loop, self._labelled, self._choice, self._select,
                 self._while, self._conditional)  # fmt: skip
        rng.choice(kinds)(depth - 1, label)

    def _loop(self, depth: int, label: str) -> None:
        rng = self._rng
        name = rng.choice(("", "", "", f"outer{depth}"))
        head = f"{name}: do i = 1, n" if name else rng.choice(("do i = 1, n", "DO  J=1,N"))
        self._add(label + head.replace(", n", rng.choice((", n", ", &\n  n"))))
        self._block(depth, rng.randint(0, 3))
        self._add(f"end do {name}".rstrip() if name else rng.choice(("end do", "enddo", "END DO")))

    def _labelled(self, depth: int, label: str) -> None:
        """Add loops that end with a labelled statement, or with one that all of them share."""
        rng = self._rng
        own = self._label()
        count = rng.choice((1, 1, 1, 2, 3))
        for at in range(count):
            self._add(f"{'' if at else label}do {own} k{at} = 1, n")
            self._block(min(depth, 1), rng.randint(0, 2))
        ends = ("continue", "x(i) = 0", "if (c) x(i) = 0")
        self._add(f"{own} {rng.choice(ends) if count > 1 else rng.choice((*ends, 'end do'))}")

    def _choice(self, depth: int, label: str) -> None:
        rng = self._rng
        self._add(f"{label}if (c) then")
        self._block(depth, rng.randint(0, 2))
        for word in rng.choice(((), ("else",), ("else if (d) then",), ("elseif (d) then", "else"))):
            self._add(word)
            self._block(depth, rng.randint(0, 2))
        self._add(rng.choice(("end if", "endif")))

    def _select(self, depth: int, label: str) -> None:
        self._add(f"{label}select case (n)")
        for word in ("case (1)", "case (2:3)", "case default")[: self._rng.randint(0, 3)]:
            self._add(word)
            self._block(depth, self._rng.randint(0, 2))
        self._add("end select")

    def _while(self, depth: int, label: str) -> None:
        self._add(f"{label}do while (c)")
        self._block(depth, self._rng.randint(0, 2))
        self._add("end do")

    def _conditional(self, depth: int, label: str) -> None:
        """Add statements between lines of the preprocessor, which are lines of their own."""
        self._parts.append(f"{label}continue\n#ifdef A\n")
        self._block(depth, self._rng.randint(1, 2))
        other = self._rng.random() < 0.5
        self._parts.append("y = 1\n#else\n" if other else "y = 1\n#endif\n")
        if other:
            self._block(depth, self._rng.randint(1, 2))
            self._parts.append("y = 2\n#endif\n")
