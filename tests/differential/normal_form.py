"""The normal form of a PSy layer: what its routines do, whatever they call their variables.

Owns the records that `psy_reader` builds and `comparison` compares. Every piece of text in them is
canonical: lower case, without blanks, and with each name replaced by what it was assigned from,
down to the algorithm's own actual arguments. A loop's index is written `@`.
"""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Exchange:
    """A halo exchange of one field, or of one component, to a depth.

    Attributes:
        guarded: it runs only when the field says that its halo is dirty to that depth.
    """

    field: str
    depth: str
    guarded: bool


@dataclass(frozen=True, slots=True)
class Flag:
    """A change of a field's halo flags: dirty when `depth` is empty, else clean to `depth`."""

    field: str
    depth: str = ""


@dataclass(frozen=True, slots=True)
class KernelCall:
    """A call of a kernel with its canonical actual arguments."""

    kernel: str
    arguments: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Update:
    """An assignment to a dof or to a reduction variable in a dof loop."""

    target: str
    value: str


@dataclass(frozen=True, slots=True)
class Loop:
    """A loop over cells or dofs, and what it does in each turn."""

    start: str
    stop: str
    body: tuple[KernelCall | Update, ...]


@dataclass(frozen=True, slots=True)
class Start:
    """The value that a reduction variable starts from."""

    variable: str
    value: str


@dataclass(frozen=True, slots=True)
class Reduction:
    """A global reduction of a variable: `sum`, `min` or `max`."""

    variable: str
    operation: str


Event = Exchange | Flag | KernelCall | Loop | Start | Reduction


@dataclass(frozen=True, slots=True)
class Routine:
    """One invoke's routine.

    Attributes:
        arguments: the algorithm's actual argument -> the type with which the routine declares it.
        events: what the routine does after its set-up, in order.
    """

    name: str
    arguments: dict[str, str] = field(default_factory=dict)
    events: tuple[Event, ...] = ()
